"""--topology: places in the network slow jobs down, and the placement stage `tree` knows them."""

import json

import pytest

CLUSTER = ["--cluster", "4x8", "--policies", "fifo:placement=packed,fifo:placement=tree"]
LEVELS = "leaf=2:factor=5:uplink=2,all:factor=10"


@pytest.fixture(name="trace")
def _trace(tmp_path):
    """A job on one node, then a gang of two nodes that communicates half of the time."""
    path = tmp_path / "jobs.csv"
    path.write_text("job_id,submit_s,gpus,duration_s,comm_share\nsmall,0,8,4000,0\ngang,1,16,1000,0.5\n")
    return path


def test_the_tree_keeps_a_gang_in_one_leaf(allot, trace):
    done = allot("compare", "-w", trace, *CLUSTER, "--topology", LEVELS, "--json")
    packed, tree = (policy["runs"][0]["avg_jct_s"] for policy in json.loads(done.stdout)["policies"])
    assert tree == (4000 + 1000) / 2
    assert packed == (4000 + 1500) / 2, "across leaves half of the iteration takes twice as long"


def test_without_a_topology_places_are_alike(allot, trace):
    done = allot("compare", "-w", trace, *CLUSTER, "--json")
    packed, tree = (policy["runs"][0]["avg_jct_s"] for policy in json.loads(done.stdout)["policies"])
    assert packed == tree == (4000 + 1000) / 2


def test_a_topology_that_no_job_feels_is_told(allot, trace):
    trace.write_text(trace.read_text().replace("gang,1,16,1000,0.5", "gang,1,16,1000,0"))
    done = allot("compare", "-w", trace, *CLUSTER, "--topology", LEVELS)
    assert f"no job of '{trace}' has a comm_share" in done.stderr


@pytest.mark.parametrize("switches, rule", [
    ("SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[1-3]\n", "'n1' is in 'a' of 'leaf' (FILE:1) and in 'b' (FILE:2)"),
    ("SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n2\n", "it names 3 (n0, n1, n2), the cluster has 4"),
])
def test_a_file_of_another_cluster_is_refused(allot, trace, tmp_path, switches, rule):
    file = tmp_path / "topology.conf"
    file.write_text(switches + "SwitchName=top Switches=a,b\n")
    done = allot("compare", "-w", trace, *CLUSTER, "--topology", file, exit=3)
    assert rule.replace("FILE", str(file)) in done.stderr
