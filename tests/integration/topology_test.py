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


def test_what_if_shows_what_placement_alone_would_change(allot, trace, tmp_path):
    done = allot("whatif", "-w", trace, "--cluster", "4x8", "--topology", LEVELS, "--more-nodes", "0", "--policies", "sjf", "--json",
                 "-o", tmp_path / "page.html")
    scenes = {scene["title"]: scene["avg_jct_s"] for scene in json.loads(done.stdout)["scenes"]}
    assert scenes["now (easy)"] == (4000 + 1500) / 2
    assert scenes["kept-together"] == (4000 + 1000) / 2


def test_what_is_assumed_of_communication_is_told(allot, trace):
    trace.write_text(trace.read_text().replace("gang,1,16,1000,0.5", "gang,1,16,1000,0"))
    done = allot("compare", "-w", trace, *CLUSTER, "--topology", LEVELS, "--comm-share", "0.5", "--json")
    assert "--comm-share 0.5 is assumed for 2 of 2 jobs" in done.stderr
    packed, tree = (policy["runs"][0]["avg_jct_s"] for policy in json.loads(done.stdout)["policies"])
    assert tree < packed


def test_more_nodes_have_no_place_in_a_file(allot, trace, tmp_path):
    file = tmp_path / "topology.conf"
    file.write_text("SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[2-3]\nSwitchName=top Switches=a,b\n")
    done = allot("whatif", "-w", trace, "--cluster", "4x8", "--topology", file, "--more-nodes", "2", "-o", tmp_path / "page.html",
                 exit=2)
    assert "more nodes have no place in the file" in done.stderr and "--more-nodes 2" in done.stderr


def test_a_share_of_communication_without_places_is_refused(allot, trace):
    done = allot("compare", "-w", trace, *CLUSTER, "--comm-share", "0.5", exit=2)
    assert "--comm-share needs --topology or --slowness, got 0.5" in done.stderr
