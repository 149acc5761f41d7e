"""Jobs and workers on a real Kubernetes control plane: the runtime's suite, and `allot serve` in charge, whatever dies.

The control plane is built once, by `./dev kubernetes`; without it these tests are skipped.
"""

import json
import os
import signal
import subprocess

import pytest

import control_plane as kubernetes
from cluster import free_ports
from kube import ApiError
from waiting import text_of, wait_until

JOBS = "/apis/batch/v1/namespaces/default/jobs"
PODS = "/api/v1/namespaces/default/pods"
LONG = ("--steps", "1000000", "--pace-ms", "4")


@pytest.fixture(scope="module")
def plane(program):
    if kubernetes.missing():
        pytest.skip(kubernetes.missing())
    listed = json.loads(subprocess.run([program, "list", "--json"], capture_output=True, text=True, check=True).stdout)
    if "kubernetes" not in [runtime["id"] for runtime in listed.get("runtimes", [])]:
        pytest.skip("built without libcurl, yaml-cpp or OpenSSL")
    with kubernetes.throw_away() as one:
        yield one


def test_the_runtime_conforms(plane, program):
    """The suite that every runtime passes (tests/unit/live_runtimes), on this control plane, with the daemon's own rights."""
    suite = program.parent / "tests" / "live_runtimes_test"
    done = subprocess.run([suite, "--gtest_filter=*kubernetes_live*", "--gtest_brief=1"], capture_output=True, text=True,
                          check=False, env={**os.environ, "ALLOT_TEST_KUBERNETES": str(plane.folder)}, timeout=1800)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "PASSED" in done.stdout and "SKIPPED" not in done.stdout, done.stdout[-5000:]


def container(command, gpus=1, **more):
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    return {"name": "w", "image": "none", "command": list(map(str, command)), "resources": {"limits": limits}, **more}


def job_of(name, command, annotations=None, managed=True, **more):
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": [container(command, **more)]}}}
    if managed:
        spec["managedBy"] = "allot.dev/scheduler"
    notes = {f"allot.dev/{key}": str(value) for key, value in (annotations or {}).items()}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "annotations": notes}, "spec": spec}


# ---- admission: GPUs come from allot alone ----

@pytest.mark.parametrize("what, path, body", [
    ("a pod", PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "past"},
                     "spec": {"containers": [container(["sleep", "1"])]}}),
    ("a Job of the built-in controller", JOBS, job_of("past", ["sleep", "1"], managed=False)),
])
def test_what_goes_past_allot_is_refused(plane, what, path, body):
    with pytest.raises(ApiError) as refused:
        plane.api("user").post(path, body)
    assert "GPUs are given by allot" in str(refused.value), what


def test_what_needs_no_gpu_and_what_names_allot_is_let_in(plane):
    user = plane.api("user")
    user.post(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "plain"},
                     "spec": {"containers": [container(["true"], gpus=0)]}}, dryRun="All")
    user.post(JOBS, job_of("mine", ["true"]), dryRun="All")


def test_the_daemon_has_no_more_rights_than_it_needs(plane):
    allot = plane.api("allot")
    for path in ("/api/v1/secrets", "/api/v1/namespaces/default/configmaps"):
        with pytest.raises(ApiError, match="403"):
            allot.get(path)
    with pytest.raises(ApiError, match="403"):
        allot.delete(f"{JOBS}/any")
    with pytest.raises(ApiError, match="403"):
        allot.patch(f"{JOBS}/any", {"spec": {"suspend": True}})


# ---- allot serve ----

class Serve:
    """A daemon on the control plane, with a state folder of its own."""

    def __init__(self, program, plane, folder, **parameters):
        self.program, self.plane, self.folder, self.state = program, plane, folder, folder / "state"
        folder.mkdir(parents=True, exist_ok=True)
        given = {"kubeconfig": plane.kubeconfig("allot"), "timeout": 4, **parameters}
        self.runtime = "kubernetes:" + ",".join(f"{key}={value}" for key, value in given.items())
        self.process = None

    def start(self):
        with (self.folder / "serve.log").open("a") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--runtime", self.runtime, "--policy", "drf", "--state", self.state,
                 "--interval", "0.5", "--poll", "0.1", "--worker-timeout", "45"], stdout=log, stderr=log)
        return self

    def end(self, signum=signal.SIGKILL):
        self.process.send_signal(signum)
        self.process.wait(60)

    def log(self):
        return text_of(self.folder / "serve.log")

    def status(self):
        done = subprocess.run([self.program, "status", "--json", "--state", self.state], capture_output=True, text=True,
                              check=False, timeout=120)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def training(self, name, gpus=1, behind=0):
        """Waits until the job trains on at least so many GPUs, behind a step; its row."""
        def there():
            rows = (self.status() or {"jobs": []})["jobs"]
            return next((row for row in rows if f".{name}." in row["job"] and row["stage"] == "training"
                         and row["held"] >= gpus and row["step"] > behind), None)
        return wait_until(there, lambda: f"{name} to train on {gpus}: {self.status()}\n{self.log()[-3000:]}")


@pytest.fixture
def serve(program, plane, tmp_path):
    one = Serve(program, plane, tmp_path / "daemon").start()
    yield one
    one.end()
    clear(plane)


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


@pytest.fixture
def submit(plane, program, tmp_path):
    """submit("a", {"max": 4}, "--steps", 500): an elastic job of a user's."""
    train = program.parent / "examples" / "elastic_mlp"
    if not train.exists():
        pytest.skip("not built: examples/elastic_mlp (needs libtorch)")

    def run(name, annotations, *arguments):
        home = tmp_path / name
        home.mkdir()
        plane.api("user").post(JOBS, job_of(name, [train, *arguments], annotations,
                                            env=[{"name": "ALLOT_RUN_DIR", "value": str(home)},
                                                 {"name": "OMP_NUM_THREADS", "value": "1"}]))
    return run


def conditions(plane, name):
    return {c["type"]: c.get("message", "") for c in plane.api().get(f"{JOBS}/{name}")["status"].get("conditions", [])
            if c["status"] == "True"}


def pods_of(plane, name):
    pods = plane.api().get(PODS, labelSelector=f"allot.dev/job={name}")["items"]
    return [pod for pod in pods if pod["status"]["phase"] not in ("Succeeded", "Failed")
            and not pod["metadata"].get("deletionTimestamp")]


def test_jobs_train_make_room_for_each_other_and_are_complete(plane, serve, submit):
    submit("wide", {"min": 1, "max": 20}, *LONG)
    first = serve.training("wide", gpus=20)
    submit("late", {"min": 2, "max": 4}, "--steps", "60", "--pace-ms", "4")
    serve.training("late", gpus=2)
    assert serve.training("wide", behind=first["step"])["held"] < 20
    wait_until(lambda: "Complete" in conditions(plane, "late"), lambda: f"its end: {serve.log()[-3000:]}")
    status = plane.api().get(f"{JOBS}/late")["status"]
    assert status["completionTime"] >= status["startTime"] and not status.get("active")
    serve.training("wide", gpus=20)


def test_a_job_that_is_not_understood_is_told_so(plane, serve, submit):
    submit("odd", {"min": 4, "max": 2}, *LONG)

    def told():
        events = plane.api().get("/api/v1/namespaces/default/events")["items"]
        return [e["message"] for e in events if e["involvedObject"]["name"] == "odd"]
    wait_until(told, lambda: f"an event: {serve.log()[-3000:]}")
    assert told() == ["annotations: 'allot.dev/min' must be at most 'allot.dev/max', got 4 and 2"]


def test_a_worker_that_is_killed_is_replaced(plane, serve, submit):
    submit("a", {"min": 2, "max": 2}, *LONG)
    before = serve.training("a", gpus=2)
    pod = pods_of(plane, "a")[0]
    state = plane.folder / "node" / pod["spec"]["nodeName"] / pod["metadata"]["uid"] / "state"
    os.killpg(json.loads(state.read_text())["pid"], signal.SIGKILL)
    wait_until(lambda: pod["metadata"]["name"] not in [p["metadata"]["name"] for p in pods_of(plane, "a")], "its end")
    serve.training("a", gpus=2, behind=before["step"])


def test_the_api_server_is_killed_and_jobs_train_on(plane, serve, submit):
    submit("a", {"min": 1, "max": 4}, *LONG)
    before = serve.training("a", gpus=4)
    plane.kill("apiserver")
    wait_until(lambda: "no answer from" in serve.log(), "the daemon to notice")
    serve.training("a", gpus=4, behind=before["step"])
    plane.start_part("apiserver")
    plane.until(plane.answers, "the API server")
    submit("b", {"min": 1, "max": 20}, *LONG)
    serve.training("b")
    assert len(pods_of(plane, "a")) + len(pods_of(plane, "b")) <= 20


def test_the_daemon_is_killed_and_goes_on(plane, serve, submit):
    submit("a", {"min": 1, "max": 4}, *LONG)
    before = serve.training("a", gpus=4)
    workers = {pod["metadata"]["name"] for pod in pods_of(plane, "a")}
    serve.end()
    serve.start()
    serve.training("a", gpus=4, behind=before["step"])
    assert {pod["metadata"]["name"] for pod in pods_of(plane, "a")} == workers, "none was started anew"


def test_the_other_daemon_takes_over(plane, program, submit, tmp_path):
    key = tmp_path / "key"
    key.write_text("0123456789abcdef0123456789abcdef\n")
    listen = f"tcp:127.0.0.1:{free_ports(1)[0]}"
    shared = {"lease": "allot/allot", "key": key, "listen": listen}  # one address, as a Service has it
    first = Serve(program, plane, tmp_path / "first", **shared).start()
    second = Serve(program, plane, tmp_path / "second", **shared)
    try:
        submit("a", {"min": 1, "max": 4}, *LONG)
        before = first.training("a", gpus=4)
        workers = {pod["metadata"]["name"] for pod in pods_of(plane, "a")}
        second.start()
        wait_until(lambda: "waits for the lease" in second.log(), lambda: f"a standby: {second.log()}")
        assert second.status() is None
        first.end()
        second.training("a", gpus=4, behind=before["step"])
        assert {pod["metadata"]["name"] for pod in pods_of(plane, "a")} == workers, "no worker twice, none anew"
        submit("b", {"min": 4, "max": 20}, *LONG)  # resizes go on behind the epochs of the first one
        second.training("b", gpus=4)
        second.training("a")
    finally:
        for one in (first, second):
            if one.process is not None and one.process.poll() is None:
                one.end()
        clear(plane)
