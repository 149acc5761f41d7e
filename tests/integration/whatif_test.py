"""allot whatif, and the exports that it begins with."""

import json
import re
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

EXPORTS = Path(__file__).parents[1] / "data" / "exports"
MONTH = str(EXPORTS / "sacct-month.txt")
NODES = str(EXPORTS / "sinfo.txt")


@pytest.fixture(scope="module")
def answer(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whatif")
    done = subprocess.run([program, "whatif", "--workload", MONTH, "--cluster", NODES, "--policies", "fifo,las",
                           "--more-nodes", "2", "--json", "-o", folder / "page.html", "--keep", folder / "runs"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout), done.stderr, folder


def scene(answer, title):
    return next(s for s in answer[0]["scenes"] if s["title"] == title)


def test_the_scenes_are_the_record_the_present_others_and_more_nodes(answer):
    kinds = [s["kind"] for s in answer[0]["scenes"]]
    assert kinds[:4] == ["recorded", "present", "policy", "policy"] and set(kinds[4:]) == {"nodes"}
    assert answer[0]["cluster"] == "3x4x64x502:a100,2x4x40x375:v100"
    assert answer[0]["length_estimates"] == "user"


def test_the_record_is_what_the_file_says(answer):
    rows = [line.split("|") for line in Path(MONTH).read_text().splitlines()]
    at = rows[0].index
    waits = [(datetime.fromisoformat(r[at("Start")]) - datetime.fromisoformat(r[at("Submit")])).total_seconds()
             for r in rows[1:] if "gres/gpu" in r[at("AllocTRES")]]
    assert scene(answer, "recorded")["avg_wait_s"] == pytest.approx(sum(waits) / len(waits))
    assert scene(answer, "recorded")["max_wait_s"] == max(waits)


def test_fifo_with_backfill_is_near_to_the_record_that_it_made(answer):
    fifo = scene(answer, "fifo")["avg_wait_s"]
    assert fifo == pytest.approx(scene(answer, "recorded")["avg_wait_s"], rel=0.2)


def test_more_nodes_let_jobs_wait_less(answer):
    more = scene(answer, "easy, 2 more nodes")
    assert more["avg_wait_s"] < scene(answer, "now (easy)")["avg_wait_s"]
    assert more["cluster"].endswith(",2x4x64x502:a100")


def test_users_and_partitions_make_up_all_jobs(answer):
    for groups in (answer[0]["users"], answer[0]["partitions"]):
        assert sum(group["jobs"] for group in groups) == answer[0]["jobs"] == 250
        for group in groups:
            assert len(group["avg_wait_s"]) == len(answer[0]["scenes"])
        mean = sum(group["jobs"] * group["avg_wait_s"][0] for group in groups) / 250
        assert mean == pytest.approx(scene(answer, "recorded")["avg_wait_s"])
    assert {group["name"] for group in answer[0]["partitions"]} == {"a100", "v100"}


def test_what_was_left_out_is_told(answer):
    assert "67 of 317 records" in answer[1] and "no GPU requested" in answer[1]
    assert "a node where nothing can start: drain" in answer[1]
    assert answer[0]["read"]["dropped"][0]["rows"] == 67
    assert any("Elastic jobs are not shown" in note for note in answer[0]["notes"])


def test_the_page_has_the_findings_and_the_tables(answer):
    page = (answer[2] / "page.html").read_text()
    for part in ("What if: sacct-month.txt</h1>", "What would change", "How long each user waits", "Jobs waited",
                 "allot whatif --workload"):
        assert part in page, part
    for world in ("present", "more-nodes"):
        assert (answer[2] / "runs" / world / "evaluation.json").is_file()


def test_elastic_jobs_are_said_to_be_drawn(allot, tmp_path):
    done = allot("whatif", "--workload", MONTH, "--cluster", "5x4", "--policies", "fifo", "--more-nodes", "0",
                 "--elastic", "--json", "-o", str(tmp_path / "p.html"))
    found = json.loads(done.stdout)
    assert [s["kind"] for s in found["scenes"]][:2] == ["recorded", "present"]
    assert "elastic" in {s["kind"] for s in found["scenes"]}
    assert any("drawn at random" in note for note in found["notes"])


def test_elastic_jobs_without_speeds_on_their_types_are_left_out_with_advice(allot, tmp_path):
    words = ["whatif", "--workload", MONTH, "--cluster", NODES, "--policies", "fifo", "--more-nodes", "0", "--elastic",
             "--json", "-o", str(tmp_path / "p.html")]
    found = json.loads(allot(*words).stdout)
    assert [s["kind"] for s in found["scenes"]] == ["recorded", "present", "policy"]
    assert any("the catalogue knows" in note and "--catalogue power-laws" in note for note in found["notes"])
    found = json.loads(allot(*words, "--catalogue", "power-laws").stdout)
    assert "elastic" in {s["kind"] for s in found["scenes"]}


def test_a_trace_without_starts_has_no_record(allot, tmp_path):
    trace = tmp_path / "t.csv"
    trace.write_text("job_id,submit_s,gpus,duration_s\na,0,1,600\nb,1,1,600\n")
    done = allot("whatif", "--workload", str(trace), "--cluster", "1x1", "-o", str(tmp_path / "p.html"))
    assert "recorded" not in done.stdout.split("note:")[0]
    assert "does not tell when jobs started" in done.stdout
    assert "no time limits" in done.stdout


@pytest.mark.parametrize("words, said", [
    (["--more-nodes", "0x8"], ["number of nodes", "0x8"]),
    (["--more-nodes=-3"], ["--more-nodes", "-3"]),
    (["--present", "slurm"], ["unknown policy 'slurm'"]),
    (["--present", "fifo,easy"], ["--present must be one policy", "got 2", "fifo,easy"]),
    (["--workloads", "3"], ["unknown option '--workloads'"]),
    (["-o", ""], ["must not be empty"]),
    (["-o", "."], ["the result is a file", "'.' is a folder"]),
    (["--from", "2026-02-30"], ["that exist", "2026-02-30"]),
    (["no cluster"], ["whatif needs --cluster", "sinfo -N -o", "kubectl get nodes"]),
])
def test_faults_are_told(allot, tmp_path, words, said):
    cluster = [] if "no cluster" in words else ["--cluster", NODES]
    words = [word for word in words if word != "no cluster"]
    out = [] if "-o" in words else ["-o", str(tmp_path / "p.html")]
    done = allot("whatif", "--workload", MONTH, *cluster, *words, *out, exit=2)
    for part in said:
        assert part in done.stderr


def test_nodes_that_no_job_accepts_are_told(allot, tmp_path):
    words = ["whatif", "--workload", MONTH, "--cluster", NODES, "--policies", "fifo", "--more-nodes", "2x8:b300",
             "--catalogue", "power-laws", "-o", str(tmp_path / "p.html")]
    assert "No job accepts GPUs of type 'b300'" in allot(*words).stdout


def test_estimates_that_are_asked_for_do_not_hide_time_limits(allot, tmp_path):
    done = allot("whatif", "--workload", MONTH, "--cluster", NODES, "--policies", "fifo", "--more-nodes", "0",
                 "--length-estimates", "true", "-o", str(tmp_path / "p.html"))
    assert "no time limits" not in done.stdout


def test_inspect_names_the_command_for_missing_columns(allot, tmp_path):
    trace = tmp_path / "sacct.txt"
    trace.write_text("JobID|State|Submit|ElapsedRaw|AllocTRES\n1|COMPLETED|2026-03-01T10:00:00|60|gres/gpu=3\n")
    said = allot("trace", "inspect", str(trace)).stdout
    assert "no column Start" in said and "sacct --allusers --allocations --parsable2" in said
    assert said.splitlines()[0].split()[1] == "sacct.txt"


def test_the_commands_of_the_page_work(allot, root, tmp_path):
    """Those of docs/your-trace.md for Slurm and Kubernetes, on exports of ours under the names that it uses."""
    for name, export in [("sacct.txt", "sacct-month.txt"), ("sinfo.txt", "sinfo.txt"), ("jobs.json", "kubernetes.json"),
                         ("nodes.json", "nodes.json")]:
        (tmp_path / name).write_bytes((EXPORTS / export).read_bytes())
    page = (root / "docs" / "your-trace.md").read_text()
    commands = [line.split()[1:] for part in re.findall(r"^## (?:Slurm|Kubernetes)\n(.*?)(?=^## )", page, re.DOTALL | re.MULTILINE)
                for line in part.splitlines() if line.startswith("allot ")]
    assert len(commands) == 3
    for command in commands:
        allot(*command)


def test_jobs_that_the_nodes_of_today_have_no_room_for_are_counted(allot, tmp_path):
    nodes = "\n".join(Path(NODES).read_text().splitlines()[:2]) + "\n"  # one node is left
    (tmp_path / "sinfo.txt").write_text(nodes)
    done = allot("whatif", "--workload", MONTH, "--cluster", str(tmp_path / "sinfo.txt"), "--policies", "fifo", "--more-nodes", "0",
                 "-o", str(tmp_path / "page.html"))
    assert "--oversized drop" in done.stderr
