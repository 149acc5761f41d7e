#!/usr/bin/env python3
"""The pause of workers that stay, and their memory, while newcomers get a large training state.

    bench/live_state.py [--build build/release] [--tries 9] [--megabytes 1,200,1000] [--out FILE]

examples/mlp.cc with so much state beside its network (--more-state-mb), as processes of this machine under a daemon of the
tests' own (tests/live/daemon.py): a worker trains alone, a second one joins, and leaves again. The pause is from the end of
the last step before to the beginning of the first one after, as the worker that stays prints it. Memory is the most that it had
beyond what it had before, in multiples of the state. Beside it, how long as many bytes take over TCP with nothing else. `allot bench live --measure state` runs this.
"""

import argparse
import json
import os
import re
import socket
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "live"))
from daemon import Daemon  # noqa: E402
from waiting import wait_until  # noqa: E402


def memory_mb(pid, what):
    """VmRSS, what it has; VmHWM, the most that it has had."""
    return int(re.search(rf"{what}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def summary(values):
    return {"median": round(statistics.median(values), 4), "least": round(min(values), 4), "most": round(max(values), 4),
            "tries": len(values)}


def measure_one(build, megabytes, tries):
    with tempfile.TemporaryDirectory() as folder, Daemon(Path(folder), [build / "examples" / "elastic_mlp"], {}) as daemon:
        arguments = ("--steps", 10**8, "--pace-ms", 5, "--save-seconds", 10**6, "--more-state-mb", megabytes)
        daemon.start("w0", arguments=arguments)
        daemon.regroup("w0")
        pid, extra, own = daemon.processes["w0"].pid, [], []
        for turn in range(tries):
            step = daemon.step("w0")
            wait_until(lambda: daemon.step("w0") > step + 5, "training alone")
            newcomer = f"n{turn}"
            Path(f"/proc/{pid}/clear_refs").write_text("5")  # VmHWM counts anew
            before = memory_mb(pid, "VmRSS")
            daemon.start(newcomer, arguments=arguments)
            daemon.regroup("w0", newcomer)
            extra.append((memory_mb(pid, "VmHWM") - before) / megabytes)
            own.append(memory_mb(daemon.processes[newcomer].pid, "VmHWM"))
            daemon.regroup("w0")
            daemon.processes[newcomer].wait(60)
        said = re.findall(r"joined rank=0 world=(\d+) step=[1-9]\d* pause_ms=([0-9.]+)", daemon.output("w0"))
    pauses = {world: [float(pause) / 1000 for of, pause in said if of == world] for world in ("1", "2")}
    return {"grow_pause_seconds": summary(pauses["2"]), "shrink_pause_seconds": summary(pauses["1"]),
            "more_memory_than_state": summary(extra), "newcomer_most_mb": summary(own)}


def bare(megabytes):
    """Seconds of so many bytes over TCP from one process of this machine to another: the floor."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        sent = bytearray(b"1" * (megabytes << 20))
        sender = os.fork()
        if not sender:
            socket.create_connection(server.getsockname()).sendall(sent)
            os._exit(0)
        place = memoryview(bytearray(b"2" * len(sent)))
        connection, _ = server.accept()
        begin, got = time.monotonic(), 0
        with connection:
            while got < len(place):
                got += connection.recv_into(place[got:])
        took = time.monotonic() - begin
        os.waitpid(sender, 0)
    return took


def measure(build, sizes, tries):
    return {"state_mb": {str(size): measure_one(build, size, tries) | {"bare_tcp_seconds": summary([bare(size) for _ in range(tries)])}
                         for size in sizes}, "cores": os.cpu_count(),
            "load_average": round(os.getloadavg()[0], 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--tries", type=int, default=9)
    parser.add_argument("--megabytes", type=lambda text: [int(size) for size in text.split(",")], default=[1, 200, 1000])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = json.dumps(measure(options.build.resolve(), options.megabytes, options.tries), indent=2)
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
