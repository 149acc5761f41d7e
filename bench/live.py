#!/usr/bin/env python3
"""How long a resize takes on a real Slurm: grow, shrink, and the pause of the workers that stay.

    bench/live.py [--build build/release] [--tries 15] [--out bench/results/live.json]

Starts a throw-away cluster (tests/live/cluster.py), submits one elastic job, and has it grow by a
worker and shrink again. Then an ordinary job that is resized by a restart: from the order to stop
until its script runs on the GPUs of another node, saving in between. And the first again with
a program that does not link libtorch, which takes half a second and more to start. Programs in PyTorch
do both: elastic ones, and restarts of a real torchrun until its processes have met and read the
checkpoint. Then, on a second cluster with GPUs of two types, jobs go from one type to the other and
back, in both ways. Last, time to a validation loss with a batch that the daemon chooses and with a
fixed one (bench/live_batch.py, which also runs by itself).
Needs what tests/integration/slurm_test.py needs.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "live"))
import cluster as slurm  # noqa: E402
import live_batch  # noqa: E402
from probe import Probe  # noqa: E402
from pythons import has_torch  # noqa: E402
from waiting import wait_until  # noqa: E402

USER = "nobody" if os.getuid() == 0 else None


def summary(seconds):
    ordered = sorted(seconds)
    return {"median": round(statistics.median(ordered), 4), "least": round(ordered[0], 4),
            "most": round(ordered[-1], 4), "tries": len(ordered)}


SAVES_AND_ENDS = """#!/bin/bash
trap 'echo saved >>log; exit 1' TERM
echo "started on $SLURMD_NODENAME" >>log
sleep 6000 & wait
"""


def torchrun(python, module="torch.distributed.run"):
    """The job script of docs/torch.md, but for a port of its own, as all nodes are this machine."""
    port, = slurm.free_ports(1)
    # Debian's torchrun 1.13 stumbles over the default of --redirects and --tee on Python 3.11.
    return (f"#!/bin/bash\nexport OMP_NUM_THREADS=1 PYTHONPATH='{ROOT}/python'\n"
            "srun --nodes=$SLURM_NNODES --ntasks-per-node=1 --gres=gpu:$SLURM_GPUS_ON_NODE "
            f"'{python}' -m {module} --nnodes=$SLURM_NNODES --nproc_per_node=2 --rdzv_id=$SLURM_JOB_ID "
            f"--rdzv_backend=c10d --rdzv_endpoint=$(hostname):{port} --redirects=1 --tee=1 "
            f"'{ROOT}/examples/torchrun.py' --steps 100000000 --pace-ms 5 >>log 2>&1\n")


def measure_restart(cluster, probe, home, tries, script=SAVES_AND_ENDS, nodes=("n1", "n4"), types=""):
    """Seconds from a node to another and back, of a job that Slurm requeues in between, until it is there: a bash script runs, or
    PyTorch's processes have met and read the checkpoint."""
    home.mkdir()
    home.chmod(0o1777)
    (home / "train.sh").write_text(script)
    number = int(cluster.client("sbatch", "--parsable", "--gres=gpu:2",
                                f"--comment=allot max=4 gpus=2 resize=restart{types}", "train.sh", user=USER, cwd=home))
    job, log, seconds, began = probe.job(number), home / "log", [], None

    def lines():
        return log.read_text().splitlines() if log.exists() else []

    for turn, place in enumerate([(nodes[0], 0x3), (nodes[1], 0xf)] * (tries // 2 + 1)):
        node, gpus = place
        wait_until(lambda: probe.ask("start", job, f"{job}.{turn} {node} {gpus:x}")["ok"] or probe.look() and False,
                   "it to be placed")
        wait_until(lambda: sum("started" in line or "world=" in line for line in lines()) == turn + 1, "its script to run")
        if began is not None:
            seconds.append(time.monotonic() - began)
        probe.until(f"{job}.{turn}", "ready")
        time.sleep(1)
        began = time.monotonic()
        probe.do("stop", f"{job}.{turn}", "save")
        wait_until(lambda: f"{job}.{turn}" not in probe.look()["workers"], "it to be requeued")
    assert script != SAVES_AND_ENDS or lines().count("saved") == len(seconds) + 1
    return seconds


def endless(build, program):
    return f'"{build}/allot-elastic" run -- "{build}/examples/{program}" --steps 100000000 --pace-ms 5'


def endless_torch(build, python):
    """The same with a program in PyTorch."""
    return f'export OMP_NUM_THREADS=1 PYTHONPATH="{ROOT}/python" ALLOT_ELASTIC_LIBRARY="{build}/liballot_elastic.so"\n' \
           f'"{build}/allot-elastic" run -- "{python}" "{ROOT}/examples/mlp_torch.py" --steps 100000000 --pace-ms 5'


def measure_resizes(cluster, probe, home, command, tries):
    """Of a job that grows by a worker and shrinks again: seconds of each, and what its first two workers printed."""
    home.mkdir()
    home.chmod(0o1777)
    (home / "train.sh").write_text(f"#!/bin/bash\n{command}\n")
    number = int(cluster.client("sbatch", "--parsable", "--comment=allot max=8", "train.sh", user=USER, cwd=home))
    job, epoch = probe.job(number), 0
    grow, freed, resumed, load = [], [], [], []
    members = probe.start(job, ("n1", 1), ("n3", 1))
    probe.regroup(job, epoch, members)
    for _ in range(tries):
        load.append(os.getloadavg()[0])
        time.sleep(1)  # between two resizes
        begin = time.monotonic()
        new, = probe.start(job, ("n2", 1))
        epoch += 1
        probe.regroup(job, epoch, [*members, new])
        grow.append(time.monotonic() - begin)

        time.sleep(1)
        begin = time.monotonic()
        epoch += 1
        probe.do("announce", job, epoch, *members)
        wait_until(lambda: probe.progress(job)["epoch"] == epoch, "the shrunken group")
        resumed.append(time.monotonic() - begin)
        wait_until(lambda: cluster.gpus_in_use()["n2"] == 0, "the GPU to be free")
        freed.append(time.monotonic() - begin)
    cluster.client("scancel", str(number))
    for member in members:
        probe.do("stop", member, "kill")
    wait_until(lambda: probe.look() and not any(cluster.gpus_in_use().values()), "its GPUs to be free")
    text = "".join((home / f"slurm-{number}.{member.rsplit('.', 1)[1]}.out").read_text() for member in members)
    return {"grow_seconds": summary(grow), "shrink_trains_seconds": summary(resumed),
            "shrink_gpu_free_seconds": summary(freed), "load_average": summary(load)}, text


# Debian's PyTorch, and pip's in the tests' environment.
PYTHONS = {"debian": "/usr/bin/python3", "pip": str(ROOT / "build" / "venv" / "bin" / "python")}


def measure_torchrun(cluster, probe, home, python, tries):
    """Restarts of a real torchrun: as it is, and with processes that are forked from it (allot_elastic.torchrun)."""
    home.mkdir()
    home.chmod(0o1777)
    modules = {"torchrun_restart_seconds": "torch.distributed.run", "forked_torchrun_restart_seconds": "allot_elastic.torchrun"}
    found = {name: summary(measure_restart(cluster, probe, home / module, tries, torchrun(python, module)))
             for name, module in modules.items()}
    version = subprocess.run([python, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True, check=True)
    return found | {"torch": version.stdout.strip()}


def measure_pytorch(cluster, probe, build, home, python, tries):
    """Of programs in PyTorch: hot resizes, and those by a restart of a real torchrun."""
    home.mkdir()
    home.chmod(0o1777)
    hot, _ = measure_resizes(cluster, probe, home / "hot", endless_torch(build, python), tries)
    return hot | measure_torchrun(cluster, probe, home / "torchrun", python, tries)


TWO_TYPES = (("a1", 16, "a100", 4), ("v1", 16, "v100", 4))


def measure_moves(cluster, probe, build, home, tries):
    """Seconds from one type to the other, of an elastic job that trains meanwhile: a worker starts there, both share an
    epoch in which the state is handed over, and the one before leaves."""
    home.mkdir()
    home.chmod(0o1777)
    (home / "train.sh").write_text(f'#!/bin/bash\n"{build}/allot-elastic" run -- "{build}/examples/elastic_counter" '
                                   '--steps 100000000 --pace-ms 5\n')
    number = int(cluster.client("sbatch", "--parsable", "--comment=allot max=4 types=a100|v100", "train.sh", user=USER,
                                cwd=home))
    job, epoch, seconds = probe.job(number), 0, []
    member, = probe.start(job, ("a1", 1))
    probe.regroup(job, epoch, [member])
    for turn in range(tries):
        time.sleep(1)
        begin = time.monotonic()
        other, = probe.start(job, (("v1", "a1")[turn % 2], 1))
        probe.regroup(job, epoch + 1, [member, other])
        probe.regroup(job, epoch + 2, [other])
        seconds.append(time.monotonic() - begin)
        probe.until(member, "ended")
        epoch, member = epoch + 2, other
        asked = [record["TresPerNode"] for record in cluster.jobs().values()
                 if record["JobName"] == f"w{other.rsplit('.', 1)[1]}-of-{number}"]
        assert asked == [f"gres:gpu:{('v100', 'a100')[turn % 2]}:1"], asked
    cluster.client("scancel", str(number))
    probe.do("stop", member, "kill")
    wait_until(lambda: probe.look() and not any(cluster.gpus_in_use().values()), "its GPUs to be free")
    return seconds


def measure_types(folder, build, tools, tries):
    with slurm.Cluster(folder / "types", nodes=TWO_TYPES) as cluster:
        probe = Probe(cluster, tools, folder / "types-state")
        moves = measure_moves(cluster, probe, build, folder / "moves", tries)
        restarts = measure_restart(cluster, probe, folder / "type-restarts", tries, nodes=("a1", "v1"), types=" types=a100|v100")
        probe.kill()
    return {"move_seconds": summary(moves), "restart_seconds": summary(restarts),
            "load_average": {"median": os.getloadavg()[0]}}


def measure(folder, build, tries, repeats):
    tools = {"probe": build / "tests" / "runtime_probe", "launcher": build / "allot-elastic"}
    with slurm.Cluster(folder / "cluster") as cluster:
        probe = Probe(cluster, tools, folder / "state")
        results, text = measure_resizes(cluster, probe, folder / "mlp", endless(build, "elastic_mlp"), tries)
        # The first time a worker joins it had nothing to pause.
        pauses = [float(pause) / 1000 for pause in re.findall(r"step=[1-9]\d* pause_ms=([0-9.]+)", text)]
        results["pause_seconds"] = summary(pauses)
        results["restart_seconds"] = summary(measure_restart(cluster, probe, folder / "restarts", tries))
        bare, _ = measure_resizes(cluster, probe, folder / "counter", endless(build, "elastic_counter"), tries)
        results["without_libtorch"] = bare
        if pythons := {name: python for name, python in PYTHONS.items() if has_torch(python)}:
            results["pytorch"] = {name: measure_pytorch(cluster, probe, build, folder / name, python, tries)
                                  for name, python in pythons.items()}
        results["slurm"] = cluster.client("scontrol", "--version").strip()
        probe.kill()
    results["two_gpu_types"] = measure_types(folder, build, tools, tries)
    results["batch"] = live_batch.measure(folder, build, repeats)
    return results | {"cores": os.cpu_count()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--tries", type=int, default=15)
    parser.add_argument("--repeats", type=int, default=5, help="times to a validation loss")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if slurm.missing():
        sys.exit(slurm.missing())
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        results = measure(Path(folder), options.build.resolve(), options.tries, options.repeats)
    text = json.dumps(results, indent=2)
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
