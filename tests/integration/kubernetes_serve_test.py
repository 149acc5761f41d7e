"""`allot serve --runtime kubernetes` and the commands beside it, on the fake API server of the unit tests."""

import json
import os
import socket
import ssl
import subprocess
import threading

import pytest

from fake_kubernetes import FakeKubernetes
from shares import POLICIES, expect_even, fewest_gpus, spec
from waiting import json_of, wait_until


@pytest.fixture
def cluster(program, root, tmp_path):
    counter = program.parent / "examples" / "elastic_counter"
    for needed in (counter, program.parent / "tests" / "fake_kubernetes"):
        if not os.access(needed, os.X_OK):
            pytest.skip(f"not built: {needed}")
    one = FakeKubernetes(program, counter, root, tmp_path)
    yield one
    one.close()


def writes(cluster):
    return [line for line in cluster.ask("requests") if not line.startswith("GET ")]


def test_jobs_are_called_what_their_users_call_them(cluster):
    cluster.submit("wide", min=8, max=8)
    cluster.serve()
    cluster.until_said("training", "status")
    cluster.submit("late", space="other", min=8, max=8)
    assert "team/wide" not in cluster.until_said("other/late", "queue")
    assert "team/wide" in cluster.say("top")
    cluster.until_said("team/wide", "status", "--eta")
    row = next(row for row in cluster.status()["jobs"] if row["name"] == "team/wide")
    assert row["job"].startswith("team.wide."), "the id stays beside it"

    assert "did you mean 'team/wide'" in cluster.say("cancel", "team/wid", exit=1)
    cluster.say("cancel", "team/wide")
    wait_until(lambda: cluster.conditions("wide").get("Failed") == "AllotCancelled", lambda: f"its end: {cluster.log()}")
    cluster.until_said("training", "status")


def test_a_pause_holds_decisions_until_it_ends(cluster):
    cluster.submit("a", max=2)
    cluster.serve()
    cluster.until_said("training", "status")
    cluster.say("pause")
    cluster.until_said("PAUSED", "status")
    cluster.submit("b", max=2)
    cluster.until_said("team/b", "queue")
    assert not [pod for pod in cluster.objects("pods") if pod["metadata"]["name"].startswith("b-")]
    cluster.say("resume")
    wait_until(lambda: [pod for pod in cluster.objects("pods") if pod["metadata"]["name"].startswith("b-")],
               lambda: f"its pods: {cluster.log()}")


def test_a_node_that_advertises_fewer_gpus_keeps_what_runs_and_gets_nothing_new(cluster):
    def pods():
        return sorted(pod["metadata"]["name"] for pod in cluster.objects("pods"))

    def advertise(gpus):
        cluster.ask("update", kind="nodes", name="n1", patch={"status": {"allocatable": {"nvidia.com/gpu": str(gpus)}}})

    for name in "abcd":
        cluster.submit(name, types="v100")
    cluster.serve()
    wait_until(lambda: cluster.say("status", exit=None).count("training") == 4, cluster.log)
    before = pods()
    for gpus in (3, 0):
        advertise(gpus)
        cluster.submit(f"with-{gpus}", types="v100")
        cluster.until_said(f"team/with-{gpus}", "queue")
    assert pods() == before and cluster.say("status").count("training") == 4
    advertise(4)
    cluster.say("cancel", "team/a")
    wait_until(lambda: any(name.startswith("with-3-") for name in pods()), lambda: f"its pod: {cluster.log()[-3000:]}")


def test_a_dry_run_with_a_shadow_writes_nothing(cluster):
    cluster.submit("a", max=4)
    cluster.submit("odd", min=4, max=2)
    cluster.serve("--dry-run", "--shadow", "fifo")
    wait_until(lambda: "would give" in cluster.log(), cluster.log)
    cluster.state = cluster.state / "dry-run"
    cluster.until_said("shadow fifo", "status")
    assert "team/odd: annotations: 'allot.dev/min' must be at most 'allot.dev/max'" in cluster.say("status")
    cluster.end()
    assert writes(cluster) == []


def test_a_shadow_beside_the_policy_in_charge_adds_no_request(cluster):
    cluster.submit("a", min=2, max=2)
    cluster.serve("--shadow", "fifo")
    cluster.until_said("agrees on", "status")
    cluster.until_said("training", "status")
    pods = [line for line in writes(cluster) if line.startswith("POST") and line.endswith("/pods")]
    assert len(pods) == 2


def test_a_run_is_a_workload_by_its_journal_and_by_its_objects(cluster, allot):
    cluster.submit("a", steps=500, min=1, max=4, gpus=1)
    cluster.submit("b", steps=400, min=2, max=2)
    cluster.serve()
    for name in "ab":
        wait_until(lambda name=name: "Complete" in cluster.conditions(name), lambda: f"its end: {cluster.log()[-3000:]}")
    cluster.end()
    export = cluster.folder / "jobs.json"
    objects = [{**item, "apiVersion": "v1", "kind": kind}
               for kinds, kind in (("jobs", "Job"), ("pods", "Pod")) for item in cluster.objects(kinds)]
    export.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": objects}))
    journal = cluster.state / "journal.jsonl"
    for workload in (journal, export):
        table = allot("compare", "--workload", workload, "--cluster", "2x4", "--policies", "fifo,srtf").stdout
        assert "fifo" in table and "srtf" in table
    rows = allot("trace", "convert", "--workload", export).stdout.splitlines()
    head = rows[0].split(",")
    jobs = {row.split(",")[head.index("job_id")]: dict(zip(head, row.split(","), strict=True)) for row in rows[1:]}
    assert set(jobs) == {"team/a", "team/b"}
    assert (jobs["team/a"]["min_gpus"], jobs["team/a"]["max_gpus"]) == ("1", "4")


@pytest.mark.parametrize("policy", POLICIES)
def test_two_namespaces_train_on_even_shares(cluster, root, policy):
    """On the eight GPUs of one type, newer jobs of another namespace leave a running job its half."""
    def training():
        return next((job for job in cluster.status()["jobs"] if job["name"] == "vision/alice" and job["stage"] == "training"
                     and job["held"] >= 4), None)

    cluster.submit("alice", space="vision", max=8, types="k80")
    for job in range(4):
        cluster.submit(f"eve{job}", space="games", max=1, types="k80")
    cluster.serve(policy=spec(policy, root))
    alice = wait_until(training, lambda: f"alice to train: {cluster.log()[-3000:]}")["job"]
    before = len(json_of(cluster.state / "journal.jsonl"))
    for job in range(4, 8):
        cluster.submit(f"eve{job}", space="games", max=1, types="k80")
    expect_even(cluster, lambda job: job["user"], ["vision", "games"])
    assert fewest_gpus(cluster.state, alice, before) >= 4, cluster.log()[-3000:]


@pytest.fixture
def strange_server(tmp_path):
    """Its address, by TLS, and the certificate of an authority that is not its own."""
    for name in ("server", "other"):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", tmp_path / f"{name}.key", "-out", tmp_path / f"{name}.crt", "-days", "2", "-subj",
                        "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")
    listener = socket.create_server(("127.0.0.1", 0))

    def answer():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            try:
                context.wrap_socket(connection, server_side=True).close()
            except OSError:
                connection.close()  # the other side does not trust us

    threading.Thread(target=answer, daemon=True).start()
    yield f"https://127.0.0.1:{listener.getsockname()[1]}", tmp_path / "other.crt"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def test_a_server_of_another_authority_is_named_and_the_daemon_goes_on(cluster, strange_server):
    address, authority = strange_server
    config = json.loads(cluster.kubeconfig.read_text())
    config["clusters"][0]["cluster"] = {"server": address, "certificate-authority": str(authority)}
    cluster.kubeconfig.write_text(json.dumps(config))
    cluster.serve()
    said = cluster.until_said("nothing is changed until the cluster can be asked again", "status")
    assert f"no answer from {address}" in said and "certificate" in said
    assert "certificate" in cluster.log() and cluster.daemon.poll() is None
