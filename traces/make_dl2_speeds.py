"""Writes traces/dl2_speeds.csv: the speeds of DL2's eight job types, from the reference data.

python3 traces/make_dl2_speeds.py [REFERENCE] > traces/dl2_speeds.csv

A row is a job type with so many parameter servers; w1..w17 are its speeds (samples of all workers,
in the source's unit) with so many workers. Standard library only.
"""

import csv
import pathlib
import sys

MOST = 17  # a job has at most 16 of each; whoever weighs the next unit looks one further


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/reference") / "dl2/speed"
    types = list(csv.DictReader((folder / "types.csv").open()))
    speeds = {(row["type"], int(row["num_ps"]), int(row["num_workers"])): float(row["speed"])
              for row in csv.DictReader((folder / "interpolated.csv").open())}
    print("model,epoch_size,epochs,worker_gpu_slots,servers," +
          ",".join(f"w{workers}" for workers in range(1, MOST + 1)))
    for kind in types:
        for servers in range(1, MOST + 1):
            rates = [max(0.0, speeds[kind["type"], servers, workers]) for workers in range(1, MOST + 1)]
            print(",".join([kind["model"], kind["epoch_size"], kind["num_epochs_fraction"],
                            kind["worker_gpu"], str(servers), *(f"{rate:.6g}" for rate in rates)]))


if __name__ == "__main__":
    main()
