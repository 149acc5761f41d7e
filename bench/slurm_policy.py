#!/usr/bin/env python3
"""How near the policy `slurm` is to Slurm: the same jobs on a throw-away Slurm and in simulation, under several configurations.

    bench/slurm_policy.py [--jobs 200] [--only fifo tiers] [--out bench/results/slurm_policy.json]

A Slurm of 20 GPUs runs jobs of four users; one sleeps for a part of its time limit, of which a minute is played as --minute seconds.
Then `allot whatif --present slurm:conf=...` reads what a site has: slurm.conf, the accounting, the nodes, accounts and QOS, and compares
each job's wait with the recorded one. Times of Slurm are whole seconds, and so are all errors. The row `easy` is the default of whatif.
"""

import argparse
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import advise
from advise import ACCOUNTS, NODES, SETTINGS, USERS, accounting, make_jobs, run_jobs, wait_until

INTERVAL = 5  # s, of backfill
NAMES = ",".join(name for name, *_ in NODES)
BACKFILL = {**SETTINGS, "SchedulerParameters":
            f"batch_sched_delay=0,sched_interval=1,bf_interval={INTERVAL},bf_resolution=1,sched_min_interval=100000"}
FIFO = {**{key: value for key, value in BACKFILL.items() if not key.startswith("Priority")}, "PriorityType": "priority/basic"}
URGENT = {**BACKFILL, "PartitionName": f"urgent Nodes={NAMES} PriorityTier=10 State=UP"}
SMALL = {**BACKFILL, "PriorityFavorSmall": "YES", "PriorityFlags": "NO_FAIR_TREE"}
CAPPED = (("add", "qos", "capped"), ("modify", "qos", "capped", "set", "MaxTRESPerUser=gres/gpu=4", "Priority=10"),
          ("modify", "user", "news", "set", "qos=normal,capped"))

SHARES = tuple(("modify", "user", user, "set", f"fairshare={shares}") for user, shares in zip(USERS, (8, 4, 2, 1)))

# name -> settings of slurm.conf, more calls of sacctmgr, more words for sbatch by job.
CONFIGURATIONS = {
    "fifo": (FIFO, (), lambda job: ()),
    "multifactor": (BACKFILL, (), lambda job: ()),
    "small first, classic shares": (SMALL, (), lambda job: ()),
    "tiers": (URGENT, (), lambda job: ("--partition=urgent",) if job[0] == "games" else ()),
    "qos": ({**BACKFILL, "PriorityWeightQOS": 500}, CAPPED, lambda job: ("--qos=capped",) if job[0] == "news" else ())}


def use_shares(cluster):
    """Uses of each user, in the order of USERS, twice as much as of the one before; ends when Slurm has just computed priorities, as it
    does once a minute. Then the simulation, whose minutes are those of the first submission, computes them at the same times."""
    for number, user in enumerate(USERS):
        cluster.client("sbatch", "--partition=main", f"--cpus-per-task={2 ** number}", "--nodes=1", "--output=/dev/null", "--wrap=sleep 5",
                       user=user, cwd="/")
    wait_until(lambda: not cluster.client("squeue", "--noheader"), "the end of the first jobs", seconds=300)
    # A job that cannot start, whose priority grows with its age.
    probe = cluster.client("sbatch", "--parsable", "--partition=elastic", "--output=/dev/null", "--wrap=true", user="games", cwd="/").strip()

    def priority():
        return cluster.client("squeue", "--noheader", "--format=%Q", "--jobs", probe)
    time.sleep(2)
    before = priority()
    wait_until(lambda: priority() != before, "priorities", seconds=120)
    cluster.client("scancel", probe)


def record(name, jobs, options, folder):
    """Plays the jobs; leaves in the folder what a site can export."""
    settings, calls, words = CONFIGURATIONS[name]
    with accounting.throw_away(ACCOUNTS + SHARES + calls, nodes=NODES, settings=settings) as cluster:
        multifactor = settings["PriorityType"] == "priority/multifactor"
        if multifactor:
            use_shares(cluster)
        (folder / "sshare.txt").write_text(cluster.client("sshare", "--all", "--parsable2", "--format=Account,User,RawUsage"))
        run_jobs(cluster, jobs, options.minute, lambda job: ("--cpus-per-gpu=1", *words(job)))

        def ended():
            return cluster.client("sacct", "--allusers", "--allocations", "--noheader", "--format=State").split().count("COMPLETED")
        wait_until(lambda: ended() == len(jobs) + multifactor * len(USERS), "the accounting of all jobs", seconds=120)
        (folder / "sacct.txt").write_text(cluster.client(
            "sacct", "--allusers", "--allocations", "--parsable2", "--format=JobID,JobName,User,Account,QOS,Partition,State,Submit,"
            "Eligible,Start,End,ElapsedRaw,TimelimitRaw,ReqTRES,AllocTRES"))
        (folder / "nodes.txt").write_text(cluster.client("scontrol", "show", "node"))
        (folder / "qos.txt").write_text(cluster.client("sacctmgr", "--parsable2", "show", "qos"))
        cluster.client("sacctmgr", "--immediate", "dump", "throwaway", f"file={folder / 'accounts.cfg'}")
        (folder / "slurm.conf").write_text(cluster.conf.read_text())


def compare(folder, options):
    """What `allot whatif` says of the record: the present scheduler as `slurm`, and `easy`."""
    page = what_if(folder / "sacct.txt", folder, options)
    result = {"jobs": page["jobs"]}
    for scene in page["scenes"]:
        result[{"present": "slurm", "policy": "easy"}.get(scene["kind"], scene["kind"])] = {
            key: round(scene[key], 3) for key in ("avg_wait_s", "wait_rank_correlation", "wait_error_s") if scene.get(key) is not None}
    simulated = starts_in(folder / "runs")
    with open(folder / "sacct.txt", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="|"))
    recorded = {row["JobID"]: row["Start"] for row in rows}
    result["slurm"]["start_rank_correlation"] = correlation(recorded, simulated)
    # Times are whole seconds. How much does the simulation differ from itself where each second job ran for one second more?
    for row in rows[::2]:
        row["ElapsedRaw"] = int(row["ElapsedRaw"]) + 1
    with open(folder / "longer.txt", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter="|", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    what_if(folder / "longer.txt", folder, options)
    result["slurm"]["start_rank_correlation_of_itself_with_longer_jobs"] = correlation(starts_in(folder / "runs"), simulated)
    result["notes"] = [note for note in page["notes"] if note.startswith("present, ")]
    return result


def what_if(record_file, folder, options):
    spec = f"slurm:conf={folder}/slurm.conf,accounts={folder}/accounts.cfg,qos={folder}/qos.txt"
    if (folder / "sshare.txt").exists():
        spec += f",usage={folder}/sshare.txt"
    shutil.rmtree(folder / "runs", ignore_errors=True)
    done = subprocess.run(
        [options.program, "whatif", "--workload", record_file, "--cluster", folder / "nodes.txt", "--present", f"present={spec}",
         "--policies", "easy", "--interval", "1", "--more-nodes", "0", "--json", "--quiet", "--keep", folder / "runs", "-o",
         folder / "page.html"], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"allot whatif: {done.stderr}")
    return json.loads(done.stdout)


def starts_in(runs):
    """Job -> when it started under the present scheduler, simulated."""
    (jobs,) = [path for path in runs.rglob("jobs.csv") if "easy" not in str(path.relative_to(runs))]
    with open(jobs, newline="") as file:
        return {row["job_id"]: float(row["first_start_s"]) for row in csv.DictReader(file)}


def correlation(one, other):
    """Spearman's rank correlation of the jobs of the second."""
    return round(statistics.correlation(ranks([one[job] for job in other]), ranks(list(other.values()))), 3)


def ranks(values):
    """Places in order; of equal ones the mean."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=CONFIGURATIONS, default=list(CONFIGURATIONS))
    parser.add_argument("--arrivals", type=float, default=60, help="seconds in which the jobs are submitted")
    parser.add_argument("--minute", type=float, default=0.7, help="seconds that stand for a minute of a time limit")
    parser.add_argument("--program", default=os.environ.get("ALLOT_PROGRAM", advise.ROOT / "build" / "release" / "allot"))
    parser.add_argument("--keep", help="folder for what Slurm said, one below it for each configuration; what is there is not played again")
    parser.add_argument("--out", help="file for the result")
    options = parser.parse_args()
    if accounting.missing():
        sys.exit(accounting.missing())
    jobs = make_jobs(options.jobs, options.seed, options.arrivals, least=4)
    results = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.only:
            folder = Path(options.keep or scratch) / name.replace(",", "").replace(" ", "-")
            if not (folder / "slurm.conf").exists():
                folder.mkdir(parents=True, exist_ok=True)
                record(name, jobs, options, folder)
            results[name] = compare(folder, options)
            print(name, json.dumps(results[name]), flush=True)
    text = json.dumps({"jobs": options.jobs, "seed": options.seed, "backfill_interval_s": INTERVAL, "configurations": results,
                       "load_average": round(os.getloadavg()[0], 1)}, indent=2)
    if options.out:
        Path(options.out).write_text(text + "\n")


if __name__ == "__main__":
    main()
