"""`allot serve --topology` on a Slurm of two leaves: a gang lies in one, and small jobs make room for it."""

import pytest

import cluster as slurm
from allot_on_slurm import LONG, Serve, why_not
from waiting import json_of, wait_until

NODES = tuple((f"n{number}", 16, "v100", 2) for number in range(1, 5))
LEAVES = {"n1": "west", "n2": "west", "n3": "east", "n4": "east"}
CONF = "SwitchName=west Nodes=n[1-2]\nSwitchName=east Nodes=n[3-5]\nSwitchName=core Switches=west,east\n"


@pytest.fixture(scope="module")
def cluster(program):
    if why_not(program):
        pytest.skip(why_not(program))
    with slurm.throw_away(nodes=NODES, settings={"TopologyPlugin": "topology/tree"}, files={"topology.conf": CONF}) as one:
        yield one


@pytest.fixture
def serve(program, cluster, tmp_path):
    one = Serve(program, cluster, tmp_path)
    one.policy = "index:placement=tree"
    one.start("--topology", cluster.folder / "topology.conf", "--restart-cost", "0.2")
    yield one
    one.kill()
    cluster.clear()


def given(serve, number):
    """The nodes of each allocation that the job was given, as the journal tells it."""
    return [[node for node, _ in record["shares"]] for record in json_of(serve.state / "journal.jsonl")
            if record["what"] == "give" and record["job"].startswith(f"{number}-")]


def test_a_gang_gets_one_leaf_after_a_small_job_has_moved(serve):
    small = []
    for _ in range(5):
        small.append(serve.submit("allot min=1 max=1", *LONG))
        serve.training(small[-1])
    for number in (small[0], small[2]):  # what is left: one GPU each on n1, n2 and n3, and n4
        assert serve.say("cancel", serve.job(number)["job"]).returncode == 0
    stay = [small[1], small[3], small[4]]
    for number in stay:
        serve.training(number, behind=100)
    wait_until(lambda: all(serve.job(number) is None or serve.job(number)["held"] == 0 for number in (small[0], small[2])),
               "two GPUs to be free")
    gang = serve.submit("allot min=4 max=4 comm_share=0.4", *LONG)
    job = serve.training(gang, 4)
    assert len({LEAVES[node] for node in job["nodes"]}) == 1, (job["nodes"], serve.log()[-3000:])
    moved = [number for number in stay if len(given(serve, number)) == 2]
    assert len(moved) == 1, f"one small job moves, and no more: {[given(serve, number) for number in stay]}"
    assert serve.training(moved[0])["nodes"].keys() <= LEAVES.keys() - job["nodes"].keys()
