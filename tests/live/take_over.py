#!/usr/bin/env python3
"""How long a standby takes over for, on a throw-away Slurm (cluster.py): for docs/deploy.md.

    take_over.py PROGRAM [TIMES]     PROGRAM: build/release/allot

From the end of the daemon in charge, by SIGKILL and by SIGSTOP, until the standby is in charge, and until the job is known
to train under it; how many workers were started anew.
"""

import signal
import sys
import tempfile
import time
from pathlib import Path

import cluster as slurm
from allot_on_slurm import Serve
from waiting import wait_until


def take_over(program, cluster, folder, signum):
    addresses = "|".join(f"127.0.0.1:{port}" for port in slurm.free_ports(2))
    both = []
    for name in ("leader", "standby"):
        own = folder / f"{folder.name}-{name}"  # by which jobs' folders are called
        own.mkdir(parents=True)
        both.append(Serve(program, cluster, own, runtime=f"slurm:address={addresses}"))
    leader, standby = both
    leader.start()
    number = leader.submit("allot min=4 max=4", "--steps", 1000000, "--pace-ms", 4)
    job = leader.training(number, 4)
    workers = leader.workers(number)
    standby.launch("--standby")
    wait_until(lambda: "waiting for the lease" in standby.log(), "it to stand by")
    begin = time.monotonic()
    leader.process.send_signal(signum)
    wait_until(lambda: "acquired lease" in standby.log(), "it to be in charge")
    in_charge = time.monotonic() - begin
    standby.training(number, 4, behind=job["step"], epoch=job["epoch"] + 1)
    trains = time.monotonic() - begin
    anew = len(set(standby.workers(number)) - set(workers))
    for one in both:
        one.kill()
    cluster.clear()
    print(f"{signum.name}: in charge after {in_charge:.1f} s, the job trains after {trains:.1f} s, {anew} workers anew", flush=True)


def main():
    program, times = Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with slurm.throw_away() as cluster, tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        for turn in range(times):
            for signum in (signal.SIGKILL, signal.SIGSTOP):
                take_over(program, cluster, Path(name) / f"{turn}-{signum.name}", signum)


if __name__ == "__main__":
    main()
