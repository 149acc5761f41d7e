"""`allot advise` on Kueue's objects in a real control plane, as the service account of deploy/kueue-advice.yaml.

Kueue itself is not there: its kinds are, and the test orders Workloads as Kueue documents it. Without a control plane
(`./dev kubernetes`) these tests are skipped.
"""

import json
import subprocess

import pytest

import control_plane as kubernetes

GROUP = "kueue.x-k8s.io"
BOOST = f"{GROUP}/priority-boost"
KINDS = (("clusterqueues", "ClusterQueue", "Cluster"), ("localqueues", "LocalQueue", "Namespaced"),
         ("workloads", "Workload", "Namespaced"))
TEAMS = ("ann", "bob")


def definition(plural, kind, scope):
    """What Kueue installs, but for the schema."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{GROUP}",
                         "annotations": {"api-approved.kubernetes.io": "unapproved, a test"}},
            "spec": {"group": GROUP, "scope": scope, "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
                     "versions": [{"name": "v1beta2", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}


class Kueue:
    """Two teams with a LocalQueue each, and a ClusterQueue of 8 GPUs."""

    def __init__(self, program, plane):
        self.program, self.plane, self.api = program, plane, plane.api()
        rights = (plane_rights := (kubernetes.DEPLOY.parent / "kueue-advice.yaml").read_text()).replace("[list, patch]", "[list]")
        for text in plane_rights.split("\n---\n") + rights.replace("allot-advice", "reader").split("\n---\n"):
            plane.apply(text)
        for plural, kind, scope in KINDS:
            self.api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(plural, kind, scope))
        plane.until(lambda: self.there(), "Kueue's kinds")
        for team in TEAMS:
            self.api.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": team}})
            self.make("localqueues", "LocalQueue", {"name": "main", "namespace": team}, {"clusterQueue": "gpus"})
        self.make("clusterqueues", "ClusterQueue", {"name": "gpus"}, {
            "resourceGroups": [{"coveredResources": ["nvidia.com/gpu"], "flavors": [
                {"name": "a100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "8"}]}]}]})

    def there(self):
        try:
            return all(self.api.get(f"/apis/{GROUP}/v1beta2/{plural}") for plural, *_ in KINDS)
        except kubernetes.ApiError:
            return False

    def make(self, plural, kind, metadata, spec):
        space = f"namespaces/{metadata['namespace']}/" if "namespace" in metadata else ""
        self.api.post(f"/apis/{GROUP}/v1beta2/{space}{plural}",
                      {"apiVersion": f"{GROUP}/v1beta2", "kind": kind, "metadata": metadata, "spec": spec})

    def submit(self, team, name, hours, **annotations):
        container = {"name": "c", "resources": {"requests": {"nvidia.com/gpu": "8"}}}
        self.make("workloads", "Workload",
                  {"name": name, "namespace": team, "annotations": {key: str(value) for key, value in annotations.items()}},
                  {"queueName": "main", "maximumExecutionTimeSeconds": 3600 * hours,
                   "podSets": [{"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}]})

    def workloads(self):
        return self.api.get(f"/apis/{GROUP}/v1beta2/workloads")["items"]

    def boosts(self):
        return {one["metadata"]["name"]: one["metadata"].get("annotations", {}).get(BOOST) for one in self.workloads()}

    def order(self):
        """As Kueue admits them."""
        boosts = self.boosts()
        return [one["metadata"]["name"] for one in sorted(
            self.workloads(), key=lambda one: (-int(boosts[one["metadata"]["name"]] or 0),
                                               one["metadata"]["creationTimestamp"], one["metadata"]["uid"]))]

    def clear(self):
        for one in self.workloads():
            self.api.delete(f"/apis/{GROUP}/v1beta2/namespaces/{one['metadata']['namespace']}/workloads/{one['metadata']['name']}")

    def kubeconfig(self, account):
        """Of a service account, by its token."""
        file = self.plane.folder / f"{account}-token.kubeconfig"
        if not file.exists():
            token = self.api.post(f"/api/v1/namespaces/allot/serviceaccounts/{account}/token",
                                  {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
            config = json.loads(self.plane.kubeconfig().read_text())
            config["users"][0]["user"] = {"token": token["status"]["token"]}
            file.write_text(json.dumps(config))
        return file

    def say(self, command, *words, account="allot-advice", code=0):
        runtime = f"kubernetes:kubeconfig={self.kubeconfig(account)}"
        done = subprocess.run([self.program, command, "--runtime", runtime, *words], capture_output=True, text=True,
                              check=False, timeout=120)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout) if "--json" in words else done.stdout + done.stderr


@pytest.fixture(scope="module", name="kueue")
def kueue_kinds(program):
    if kubernetes.missing():
        pytest.skip(kubernetes.missing())
    listed = json.loads(subprocess.run([program, "list", "--json"], capture_output=True, text=True, check=True).stdout)
    if "kubernetes" not in [runtime["id"] for runtime in listed.get("runtimes", [])]:
        pytest.skip("built without libcurl, yaml-cpp or OpenSSL")
    with kubernetes.throw_away() as plane:
        none = subprocess.run([program, "advise", "--once", "--runtime", f"kubernetes:kubeconfig={plane.kubeconfig()}"],
                              capture_output=True, text=True, check=False, timeout=120)
        assert "Kueue is not installed" in none.stderr
        yield Kueue(program, plane)


@pytest.fixture(name="queue")
def queue_of_teams(kueue):
    """Eight Workloads that each take all GPUs, of each team the longest first."""
    for number in range(8):
        kueue.submit(TEAMS[number % 2], f"w{number}", hours=8 - number)
    yield kueue
    kueue.clear()


def test_each_team_has_its_short_workloads_first_and_its_turns_as_before(queue, tmp_path):
    before = queue.order()
    team = {f"w{number}": number % 2 for number in range(8)}
    dry = queue.say("advise", "--once", "--json", "--state", tmp_path / "state")
    assert dry["changes"] and not any(queue.boosts().values())
    told = queue.say("advise", "--once", "--write", "--json", "--state", tmp_path / "state")
    assert told["written"] == len(told["changes"]) == len(dry["changes"])
    after = queue.order()
    assert [team[name] for name in after] == [team[name] for name in before]
    for of_team in range(2):
        names = [name for name in after if team[name] == of_team]
        assert names == sorted(names, reverse=True)
    assert told["queues"][0]["estimate"]["advised_wait"] < told["queues"][0]["estimate"]["own_wait"]
    assert queue.say("advise", "--once", "--write", "--json", "--state", tmp_path / "state")["changes"] == []
    queue.say("advise", "--undo", "--state", tmp_path / "state")
    assert not any(queue.boosts().values())


def test_a_boost_of_somebody_else_stays(queue, tmp_path):
    queue.submit("ann", "own", hours=1, **{BOOST: 7})
    told = queue.say("advise", "--once", "--write", "--json", "--state", tmp_path / "state")
    assert told["queues"][0]["left_alone"] == {"has a Nice of its own": 1}
    queue.say("advise", "--undo", "--state", tmp_path / "state")
    assert {name: boost for name, boost in queue.boosts().items() if boost} == {"own": "7"}


def test_who_may_only_read_gets_dry_runs_and_the_cure(queue, tmp_path):
    text = queue.say("advise", "--once", "--state", tmp_path / "state", account="reader")
    assert "dry run" in text and f"annotate --overwrite workloads.{GROUP}" in text
    refused = queue.say("advise", "--once", "--write", "--state", tmp_path / "state", account="reader", code=1)
    assert "patch kueue.x-k8s.io/workloads" in refused and "deploy/kueue-advice.yaml" in refused
    assert not any(queue.boosts().values())


def test_doctor_says_what_it_may(kueue):
    assert "it may list queues and annotate Workloads" in kueue.say("doctor", "--only", "kueue")
    assert "dry runs only" in kueue.say("doctor", "--only", "kueue", account="reader")
