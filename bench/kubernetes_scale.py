"""What many Jobs cost the daemon: bench/kubernetes.py --measure scale.

1,000 Jobs on 100 nodes of 8 GPUs (kubernetes_nodes.py) on a real control plane: 800 jobs train with a GPU each, 200 wait. When
all 800 do, the daemon is watched for 90 s with the interval and the polls that it has by default. Under drf nothing then comes
or goes. Under index, which knows no length of these jobs, those that waited take the place of those that trained at every
decision: each minute some 800 workers end and as many begin.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import control_plane as kubernetes
from allot_on_kubernetes import JOBS, Serve, job_of
from waiting import cpu_seconds

JOB_COUNT, NODE_COUNT, GPUS = 1000, 100, 8
WATCHED = 90  # seconds


def resident_mb(process):
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0


def submit_all(plane):
    admin = plane.api()

    def submit(number):
        admin.post(JOBS, job_of(f"j{number:04d}", ["none"], {"min": 1, "max": 4, "model": "resnet50"}))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(submit, range(JOB_COUNT)))


def training(serve):
    status = serve.status()
    return sum(job["stage"] == "training" for job in status["jobs"]) if status else 0


def watched(serve):
    """Of the daemon alone."""
    time.sleep(15)  # what was said at the start has been answered
    decisions, begin, used = [], time.monotonic(), cpu_seconds(serve.process)
    while time.monotonic() - begin < WATCHED:
        time.sleep(9)
        decisions.append(serve.status()["decision_us"] / 1000)
    share = (cpu_seconds(serve.process) - used) / (time.monotonic() - begin)
    return {"decision_ms": {"median": round(statistics.median(decisions), 2), "most": round(max(decisions), 2)},
            "cpu_share_of_a_core": round(share, 4), "resident_mb": round(resident_mb(serve.process), 1)}


def measure(build):
    """By policy."""
    return {policy: measure_policy(build, policy) for policy in ("drf", "index")}


def measure_policy(build, policy):
    with tempfile.TemporaryDirectory() as folder, kubernetes.throw_away(nodes=()) as plane:
        nodes = subprocess.Popen([sys.executable, Path(__file__).with_name("kubernetes_nodes.py"), plane.kubeconfig(),
                                  str(NODE_COUNT), str(GPUS)], stdout=subprocess.PIPE, text=True)
        serve = Serve(build / "allot", plane, Path(folder) / "daemon", worker_timeout=45)
        serve.policy, serve.times = policy, []
        try:
            nodes.stdout.readline()
            serve.start()
            submit_all(plane)
            begin = time.monotonic()
            while training(serve) < NODE_COUNT * GPUS:
                assert time.monotonic() - begin < 600, f"{training(serve)} train: {serve.log()[-3000:]}"
                time.sleep(2)
            return {"jobs": JOB_COUNT, "nodes": NODE_COUNT, "workers": NODE_COUNT * GPUS,
                    "until_all_train_seconds": round(time.monotonic() - begin, 1), **watched(serve)}
        finally:
            serve.end()
            nodes.kill()
            nodes.wait()
