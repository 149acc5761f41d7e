"""Jobs and workers on a real Kubernetes control plane: the runtime's suite, and `allot serve` in charge, whatever dies.

The control plane is built once, by `./dev kubernetes`; without it these tests are skipped.
"""

import base64
import json
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

import control_plane as kubernetes
from allot_on_kubernetes import JOBS, PODS, Serve, clear, container, job_of, pods_of
from cluster import free_ports
from kube import ApiError
from waiting import text_of, wait_until
from worker_session import WorkerSession, new_nonce

LONG = ("--steps", "1000000", "--pace-ms", "20")


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
    """The suite that every runtime passes (tests/unit/live/runtimes), on this control plane, with the daemon's own rights."""
    suite = program.parent / "tests" / "live_runtimes_test"
    done = subprocess.run([suite, "--gtest_filter=*kubernetes_live*", "--gtest_brief=1"], capture_output=True, text=True,
                          check=False, env={**os.environ, "ALLOT_TEST_KUBERNETES": str(plane.folder)}, timeout=1800)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "PASSED" in done.stdout and "SKIPPED" not in done.stdout, done.stdout[-5000:]


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


def test_the_daemon_changes_the_size_of_those_jobs_only_that_ask_for_it(plane):
    user, allot = plane.api("user"), plane.api("allot")
    user.post(JOBS, job_of("mine", ["true"]))
    user.post(JOBS, job_of("sized", ["true"], {"resize": "parallelism"}, managed=False, suspend=True))
    with pytest.raises(ApiError, match="allot changes Jobs with annotation allot.dev/resize parallelism only"):
        allot.patch(f"{JOBS}/mine", {"spec": {"suspend": True}})
    allot.patch(f"{JOBS}/sized", {"spec": {"parallelism": 2}})
    with pytest.raises(ApiError, match="GPUs are given by allot"):
        user.post(JOBS, job_of("begun", ["true"], {"resize": "parallelism"}, managed=False))
    clear(plane)


# ---- allot serve ----

@pytest.fixture
def serve(program, plane, tmp_path):
    one = Serve(program, plane, tmp_path / "daemon").start()
    yield one
    one.end()
    clear(plane)


@pytest.fixture
def submit(plane, program, tmp_path):
    """submit("a", {"max": 4}, "--steps", 500): an elastic job of a user's."""
    train = program.parent / "examples" / "elastic_counter"
    if not train.exists():
        pytest.skip("not built: examples/elastic_counter")

    def run(name, annotations, *arguments):
        home = tmp_path / name
        home.mkdir()
        plane.api("user").post(JOBS, job_of(name, [train, *arguments], annotations,
                                            env=[{"name": "ALLOT_RUN_DIR", "value": str(home)}]))
    return run


def conditions(plane, name):
    return {c["type"]: c.get("message", "") for c in plane.api().get(f"{JOBS}/{name}")["status"].get("conditions", [])
            if c["status"] == "True"}


def test_jobs_train_make_room_for_each_other_and_are_complete(plane, serve, submit):
    submit("wide", {"min": 1, "max": 8, "types": "v100"}, *LONG)
    first = serve.training("wide", gpus=8)
    submit("late", {"min": 2, "max": 4, "types": "v100"}, "--steps", "400", "--pace-ms", "20")
    serve.training("late", gpus=2)
    assert serve.training("wide", behind=first["step"])["held"] < 8
    wait_until(lambda: "Complete" in conditions(plane, "late"), lambda: f"its end: {serve.log()[-3000:]}")
    status = plane.api().get(f"{JOBS}/late")["status"]
    assert status["completionTime"] >= status["startTime"] and not status.get("active")
    serve.training("wide", gpus=8)


def events_of(plane, name):
    events = plane.api().get("/api/v1/namespaces/default/events")["items"]
    return [event["message"] for event in events if event["involvedObject"].get("name") == name]


@pytest.mark.parametrize("name, annotations, more, rule", [
    ("order", {"min": 4, "max": 2}, {}, "annotations: 'allot.dev/min' must be at most 'allot.dev/max', got 4 and 2"),
    ("word", {"min": "some"}, {}, "'allot.dev/min' must be"),
    ("key", {"mni": 1}, {}, "unknown key 'allot.dev/mni' (did you mean 'min'?)"),
    ("bare", {"min": 1}, {"gpus": 0}, "template: exactly one container must ask for GPUs (limits: nvidia.com/gpu), got 0"),
    ("pair", {"min": 2}, {"gpus": 2}, "must ask for 1 nvidia.com/gpu, got 2"),
])
def test_a_job_that_is_not_understood_is_told_so(plane, serve, submit, name, annotations, more, rule):
    plane.api("user").post(JOBS, job_of(name, ["true"], annotations, **more))
    wait_until(lambda: events_of(plane, name), lambda: f"an event: {serve.log()[-3000:]}")
    assert rule in events_of(plane, name)[0] and len(events_of(plane, name)) == 1
    submit("a", {"min": 1, "max": 1}, *LONG)
    serve.training("a")


def test_a_quota_that_is_exceeded_is_told_and_tried_again(plane, serve, submit):
    quotas = "/api/v1/namespaces/default/resourcequotas"
    plane.api().post(quotas, {"metadata": {"name": "gpus"}, "spec": {"hard": {"requests.nvidia.com/gpu": "1"}}})
    wait_until(lambda: plane.api().get(f"{quotas}/gpus")["status"].get("hard"), "the quota")
    try:
        submit("a", {"min": 2, "max": 2}, *LONG)
        wait_until(lambda: any("exceeded quota" in text for text in events_of(plane, "a")),
                   lambda: f"an event: {serve.log()[-3000:]}")
        assert not pods_of(plane, "a"), "all or none"
    finally:
        plane.api().delete(f"{quotas}/gpus")
    serve.training("a", gpus=2)


def test_an_image_that_is_nowhere_fails_the_job(plane, serve, submit):
    body = job_of("a", ["true"], {"min": 1, "max": 1})
    body["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.invalid/none"
    plane.api("user").post(JOBS, body)
    submit("b", {"min": 1, "max": 1}, *LONG)
    serve.training("b")
    wait_until(lambda: "Failed" in conditions(plane, "a"),
               lambda: f"its end: {serve.status()}\n{pods_of(plane, 'a')}\n{serve.log()[-3000:]}", 300)
    assert "failed 6 times in a row" in conditions(plane, "a")["Failed"]
    assert "ImagePullBackOff" in serve.log() and "registry.invalid/none" in serve.log()


def say_as_worker(environment, token, identity):
    """What the daemon says to one who knows the job's token and joins as the worker of `environment`; None: it is cut."""
    names = {"job": environment["ALLOT_JOB_ID"], "worker": environment["ALLOT_WORKER_ID"]}
    host, port = environment["ALLOT_DAEMON"].removeprefix("tcp:").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection, connection.makefile() as lines:
        nonce = new_nonce()
        connection.sendall((json.dumps({"say": "hello", **names, "nonce": nonce}) + "\n").encode())
        challenge = lines.readline()
        session = WorkerSession("worker", token, *names.values(), nonce, json.loads(challenge)["nonce"])
        session.open(challenge)
        connection.sendall(session.sign({"say": "join", **names, "epoch": -1, "step": 0, **identity}))
        line = lines.readline()
        return session.open(line) if line else None


def test_who_knows_the_token_of_a_job_is_not_one_of_its_workers(plane, serve, submit):
    submit("a", {"min": 2, "max": 2}, *LONG)
    serve.training("a", gpus=2)
    admin = plane.api()
    first, second = sorted(pods_of(plane, "a"), key=lambda pod: pod["metadata"]["name"])
    variables = {one["name"]: one for one in first["spec"]["containers"][0]["env"]}
    secret = admin.get(f"/api/v1/namespaces/default/secrets/{variables['ALLOT_TOKEN']['valueFrom']['secretKeyRef']['name']}")
    token = base64.b64decode(secret["data"]["token"]).decode()
    environment = {name: one.get("value", "") for name, one in variables.items()}

    assert say_as_worker(environment, token, {"identity": admin.identity_of(second)}) is None, "another worker's pod"
    account = {"spec": {"expirationSeconds": 3600}}  # not bound to a pod, and for the API itself
    other = admin.post("/api/v1/namespaces/default/serviceaccounts/default/token", account)["status"]["token"]
    assert say_as_worker(environment, token, {"identity": other}) is None, "a token for the API server"
    assert say_as_worker(environment, token, {})["say"] == "refused", "none"
    assert "its token must be of the pod with uid" in serve.log(), serve.log()[-3000:]
    serve.training("a", gpus=2)
    assert say_as_worker(environment, token, {"identity": admin.identity_of(first)})["say"] == "welcome"


BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"


def test_rights_that_are_revoked_are_named_and_the_daemon_goes_on(plane, serve, submit):
    submit("a", {"min": 1, "max": 1}, *LONG)
    before = serve.training("a")
    binding = plane.api().get(f"{BINDINGS}/allot")
    plane.api().delete(f"{BINDINGS}/allot")
    try:
        submit("b", {"min": 1, "max": 1}, *LONG)
        wait_until(lambda: "forbidden" in serve.log(), lambda: f"what is refused: {serve.log()[-3000:]}")
        before = serve.training("a", behind=before["step"])
    finally:
        plane.api().post(BINDINGS, {**binding, "metadata": {"name": "allot"}})
    serve.training("b")
    serve.training("a", behind=before["step"])


def kubeconfig_with(plane, file, **changes):
    """The daemon's, with another CA or user."""
    made = json.loads(plane.kubeconfig("allot").read_text())
    made["clusters"][0]["cluster"].update(changes.get("cluster", {}))
    made["users"][0]["user"] = changes.get("user", made["users"][0]["user"])
    file.write_text(json.dumps(made))
    return file


def test_a_wrong_ca_is_named_and_the_daemon_goes_on(plane, program, tmp_path):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                    tmp_path / "key", "-subj", "/CN=another", "-out", tmp_path / "ca"], check=True, capture_output=True)
    config = kubeconfig_with(plane, tmp_path / "config", cluster={"certificate-authority": str(tmp_path / "ca")})
    serve = Serve(program, plane, tmp_path / "daemon", kubeconfig=config).start()
    try:
        wait_until(lambda: "certificate" in serve.log(), lambda: f"the reason: {serve.log()}")
        wait_until(serve.status, "its status")
    finally:
        serve.end()


def test_a_token_that_is_not_valid_is_named_and_read_again(plane, program, submit, tmp_path):
    accounts = "/api/v1/namespaces/allot/serviceaccounts"
    plane.api().post(accounts, {"metadata": {"name": "allot"}})
    token = tmp_path / "token"
    token.write_text("expired")
    config = kubeconfig_with(plane, tmp_path / "config", user={"tokenFile": str(token)})
    serve = Serve(program, plane, tmp_path / "daemon", kubeconfig=config).start()
    try:
        wait_until(lambda: "401" in serve.log() or "Unauthorized" in serve.log(), lambda: f"the reason: {serve.log()}")
        made = plane.api().post(f"{accounts}/allot/token", {"apiVersion": "authentication.k8s.io/v1",
                                                            "kind": "TokenRequest", "spec": {}})
        token.write_text(made["status"]["token"])
        submit("a", {"min": 1, "max": 1}, *LONG)
        serve.training("a")
    finally:
        serve.end()
        clear(plane)
        plane.api().delete(f"{accounts}/allot")


def test_a_worker_that_is_killed_is_replaced(plane, serve, submit):
    submit("a", {"min": 2, "max": 2}, *LONG)
    before = serve.training("a", gpus=2)
    pod = pods_of(plane, "a")[0]
    state = plane.folder / "node" / pod["spec"]["nodeName"] / pod["metadata"]["uid"] / "state"
    os.killpg(json.loads(state.read_text())["pid"], signal.SIGKILL)
    wait_until(lambda: pod["metadata"]["name"] not in [p["metadata"]["name"] for p in pods_of(plane, "a")], "its end")
    serve.training("a", gpus=2, behind=before["step"])


def test_workers_leave_a_node_that_is_cordoned(plane, serve, submit):
    submit("a", {"min": 1, "max": 4}, *LONG)
    before = serve.training("a", gpus=4)
    node = pods_of(plane, "a")[0]["spec"]["nodeName"]
    plane.api().patch(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}})
    try:
        wait_until(lambda: node not in {pod["spec"].get("nodeName") for pod in pods_of(plane, "a")},
                   lambda: f"{node} to be left: {serve.log()[-3000:]}")
        serve.training("a", gpus=4, behind=before["step"])
    finally:
        plane.api().patch(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": None}})


def test_a_node_that_is_lost_is_left(plane, serve, submit):
    submit("a", {"min": 2, "max": 4}, *LONG)
    before = serve.training("a", gpus=4)
    node = pods_of(plane, "a")[0]["spec"]["nodeName"]
    plane.kill(f"node-{node}")
    plane.kill_pods(node)
    try:
        wait_until(lambda: (row := serve.training("a", gpus=2, behind=before["step"])) and node not in row["nodes"],
                   lambda: f"{node} to be left: {serve.log()[-3000:]}")
    finally:
        plane.start_node(node)
        plane.until(plane.all_ready, "the node")
    serve.training("a", gpus=4, behind=before["step"])


def test_the_api_server_is_killed_and_jobs_train_on(plane, serve, submit):
    submit("a", {"min": 1, "max": 4}, *LONG)
    before = serve.training("a", gpus=4)
    plane.kill("apiserver")
    wait_until(lambda: "no answer from" in serve.log(), "the daemon to notice")
    serve.training("a", gpus=4, behind=before["step"])
    plane.start_api_server()
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
    key.chmod(0o600)
    listen = f"tcp:127.0.0.1:{free_ports(1)[0]}"
    shared = {"lease": "allot/allot", "key": key, "listen": listen}  # one address, as a Service has it
    first = Serve(program, plane, tmp_path / "first", **shared).start()
    second = Serve(program, plane, tmp_path / "second", **shared)
    try:
        submit("a", {"min": 1, "max": 4}, *LONG)
        before = first.training("a", gpus=4)
        workers = {pod["metadata"]["name"] for pod in pods_of(plane, "a")}
        second.start()
        wait_until(lambda: "waiting for the lease" in second.log(), lambda: f"a standby: {second.log()}")
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


# ---- parallelism ----

def test_torchrun_is_resized_by_parallelism(plane, serve, submit, tmp_path):
    """A torchrun job shares eight GPUs with an elastic one, which then goes."""
    if subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True, check=False).returncode != 0:
        pytest.skip("not installed: python3-torch")
    submit("wide", {"min": 6, "max": 6, "types": "v100"}, *LONG)
    serve.training("wide", gpus=6)
    said = tmp_path / "said"
    said.touch()
    env = {"PET_NNODES": "1:4", "PET_NPROC_PER_NODE": "1", "PET_RDZV_BACKEND": "c10d", "PET_RDZV_ID": "bert",
           "PET_RDZV_ENDPOINT": f"127.0.0.1:{free_ports(1)[0]}", "PET_RDZV_CONF": "last_call_timeout=1,join_timeout=60",
           "PET_MAX_RESTARTS": "100", "PET_MONITOR_INTERVAL": "0.2", "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo",
           "PET_REDIRECTS": "1", "PET_TEE": "1", "CHECKPOINT": str(tmp_path / "checkpoint"), "SAID": str(said)}
    program = Path(kubernetes.__file__).parent / "kubernetes" / "torchrun_step.py"
    job = job_of("bert", ["/usr/bin/python3", "-m", "torch.distributed.run", program],
                 {"resize": "parallelism", "max": 4, "types": "v100"}, managed=False, suspend=True,
                 env=[{"name": key, "value": value} for key, value in env.items()])
    job["spec"] |= {"completionMode": "Indexed", "completions": 4, "backoffLimit": 100,
                    "successPolicy": {"rules": [{"succeededCount": 1}]}}
    template = job["spec"]["template"]
    template["metadata"] = {"labels": {"allot.dev/job": "bert"}}
    template["spec"] |= {"nodeSelector": {"nvidia.com/gpu.product": "v100"}, "terminationGracePeriodSeconds": 3}

    def trains(world, behind):
        """The step that a group of so many begins with, behind a step."""
        found = re.findall(rf"^world={world} step=(\d+)$", text_of(said), re.MULTILINE)
        return next((int(step) for step in found if int(step) > behind), None)

    plane.api("user").post(JOBS, job)
    wait_until(lambda: trains(2, -1) is not None, lambda: f"two: {said.read_text()} {serve.log()[-3000:]}")
    assert serve.training("bert", gpus=2, behind=-1)["held"] == 2
    begin = time.monotonic()
    plane.api().delete(f"{JOBS}/wide", {"propagationPolicy": "Background"})
    wait_until(lambda: trains(4, 0), lambda: f"four: {said.read_text()} {serve.log()[-3000:]}")
    print(f"grown from 2 to 4 in {time.monotonic() - begin:.1f} s")
    serve.training("bert", gpus=4, behind=-1)
    assert plane.api().get(f"{JOBS}/bert")["spec"]["parallelism"] == 4
    Path(env["CHECKPOINT"]).with_suffix(".done").touch()
    wait_until(lambda: "Complete" in conditions(plane, "bert"), lambda: f"its end: {serve.log()[-3000:]}")
