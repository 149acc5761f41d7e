"""`allot serve` and its jobs on a control plane (control_plane.py), for tests and bench/kubernetes.py."""

import json
import signal
import subprocess

from kube import ApiError
from waiting import text_of, wait_until

JOBS = "/apis/batch/v1/namespaces/default/jobs"
PODS = "/api/v1/namespaces/default/pods"


def container(command, gpus=1, **more):
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    return {"name": "w", "image": "none", "command": list(map(str, command)), "resources": {"limits": limits}, **more}


def job_of(name, command, annotations=None, managed=True, suspend=False, **more):
    spec = {"suspend": suspend,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container(command, **more)]}}}
    if managed:
        spec["managedBy"] = "allot.dev/scheduler"
    notes = {f"allot.dev/{key}": str(value) for key, value in (annotations or {}).items()}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "annotations": notes}, "spec": spec}


class Serve:
    """A daemon on the control plane, with a state folder of its own."""

    def __init__(self, program, plane, folder, worker_timeout=45, **parameters):
        self.program, self.plane, self.folder, self.state = program, plane, folder, folder / "state"
        self.worker_timeout, self.policy, self.times = worker_timeout, "drf", ["--interval", "0.5", "--poll", "0.1"]
        folder.mkdir(parents=True, exist_ok=True)
        given = {"kubeconfig": plane.kubeconfig("allot"), "timeout": 4, **parameters}
        self.runtime = "kubernetes:" + ",".join(f"{key}={value}" for key, value in given.items())
        self.process = None

    def start(self):
        with (self.folder / "serve.log").open("a") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--runtime", self.runtime, "--policy", self.policy, "--state",
                 self.state, *self.times, "--worker-timeout", str(self.worker_timeout)], stdout=log, stderr=log)
        return self

    def end(self, signum=signal.SIGKILL):
        self.process.send_signal(signum)
        self.process.wait(60)

    def log(self):
        return text_of(self.folder / "serve.log")

    def status(self):
        done = subprocess.run([self.program, "status", "--json", "--state", self.state], capture_output=True, text=True,
                              check=False, timeout=120)
        told = json.loads(done.stdout) if done.returncode == 0 else {"standby": None}
        return None if "standby" in told else told

    def training(self, name, gpus=1, behind=0):
        """Waits until the job trains on at least so many GPUs, behind a step; its row."""
        def there():
            rows = (self.status() or {"jobs": []})["jobs"]
            return next((row for row in rows if f".{name}." in row["job"] and row["stage"] == "training"
                         and row["held"] >= gpus and row["step"] > behind), None)
        return wait_until(there, lambda: f"{name} to train on {gpus}: {self.status()}\n{self.log()[-3000:]}")


def clear(plane):
    """No Job and no pod is left."""
    admin = plane.api()
    for job in admin.get(JOBS)["items"]:
        admin.delete(f"{JOBS}/{job['metadata']['name']}", {"propagationPolicy": "Background", "gracePeriodSeconds": 0})
    for pod in admin.get(PODS)["items"]:
        try:
            admin.delete(f"{PODS}/{pod['metadata']['name']}", {"gracePeriodSeconds": 1})
        except ApiError:
            pass  # it is gone
    wait_until(lambda: not admin.get(PODS)["items"], "the end of all pods")


def pods_of(plane, name):
    pods = plane.api().get(PODS, labelSelector=f"allot.dev/job={name}")["items"]
    return [pod for pod in pods if pod["status"]["phase"] not in ("Succeeded", "Failed")
            and not pod["metadata"].get("deletionTimestamp")]
