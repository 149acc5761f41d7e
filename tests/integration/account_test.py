"""allot account: GPU hours by user and account, from the journal of a daemon and from sacct."""

import csv
import gzip
import io
import json
import subprocess

import pytest

SACCT = ("JobID|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|AllocTRES\n"
         "1|ann|vision|gpu|COMPLETED|2026-10-01T00:00:00|2026-10-01T01:00:00|2026-10-01T03:00:00|7200|gres/gpu=4\n"
         "2|bob|vision|gpu|FAILED|2026-10-01T00:00:00|2026-10-01T02:00:00|2026-10-01T03:00:00|3600|gres/gpu=2\n"
         "3|ann|speech|gpu|RUNNING|2026-10-01T00:00:00|2026-10-01T03:00:00|Unknown|1800|gres/gpu=1\n"
         "4|ann|speech|gpu|PENDING|2026-10-01T00:00:00|Unknown|Unknown|0|gres/gpu=1\n")


@pytest.fixture
def hours(allot):
    """hours(*words) are the GPU hours by account and user."""

    def of(*words):
        said = json.loads(allot("account", *words, "--json").stdout)
        assert said["gpu_hours"] == pytest.approx(sum(row["gpu_hours"] for row in said["rows"]))
        return {(row["account"], row["user"]): row["gpu_hours"] for row in said["rows"]}

    return of


def test_an_export_of_sacct_is_summed_by_account_not_by_partition(hours, allot, tmp_path):
    (tmp_path / "sacct.txt").write_text(SACCT)
    assert hours("sacct.txt") == pytest.approx({("vision", "ann"): 8, ("vision", "bob"): 2, ("speech", "ann"): 0.5})
    rows = list(csv.DictReader(io.StringIO(allot("account", "sacct.txt", "--csv").stdout)))
    assert rows[0] == {"account": "vision", "user": "ann", "jobs": "1", "gpu_hours": "8"}
    table = allot("account", "sacct.txt").stdout
    assert [line.split()[:2] for line in table.splitlines()[-4:-1]] == [["vision", "ann"], ["vision", "bob"], ["speech", "ann"]]


def test_a_window_counts_what_lies_in_it(hours, tmp_path):
    (tmp_path / "sacct.txt").write_text(SACCT)
    assert hours("sacct.txt", "--from", "2026-10-01 02:30:00", "--to", "2026-10-01 03:15:00") == pytest.approx(
        {("vision", "ann"): 2, ("vision", "bob"): 1, ("speech", "ann"): 0.25})


def record(at, what, **more):
    return json.dumps({"at": at, "what": what, **more}) + "\n"


def job(at, name, user, **more):
    return record(at, "job", job=name, user=user, name=name, submit=at, submit_unix=1_790_000_000 + at, deadline=None, gpus=4,
                  min_gpus=1, max_gpus=4, gpu_types="", resize="hot", model="", total_work=None, time_limit=None, priority=0,
                  comment="", **more)


def serve(at=0):
    return record(at, "serve", origin=1_790_000_000.0, pid=1, runtime="local", policy="fifo")


def used(at, name, gpu_hours):
    return record(at, "account", job=name, step=0, work=0, gpu_seconds=3600 * gpu_hours, seconds=at)


def over(at, name, gpu_hours):
    return record(at, "over", job=name, state="finished", reason="", step=0, work=0, gpu_seconds=3600 * gpu_hours, run_time=None)


def test_a_journal_is_summed_by_what_jobs_had(hours, tmp_path):
    """Elastic jobs have not always what they asked for; "b" still runs; a name is used again."""
    (tmp_path / "journal.jsonl").write_text(
        serve() + job(0, "a", "ann", account="vision") + job(0, "b", "bob") + used(3600, "a", 2) + used(3600, "b", 1)
        + over(7200, "a", 5) + job(8000, "a", "bob") + over(9000, "a", 0.5) + used(9000, "b", 1.5))
    assert hours("journal.jsonl") == pytest.approx({("vision", "ann"): 5, ("bob", "bob"): 2})
    assert hours("journal.jsonl", "--to", "1h") == pytest.approx({("vision", "ann"): 2, ("bob", "bob"): 1})
    assert hours("journal.jsonl", "--from", "90m", "--to", "2026-09-21 16:13:20") == pytest.approx(
        {("vision", "ann"): 1.5, ("bob", "bob"): 0.5 * 1800 / 5400}), "hours are spread over the time between records"


def test_the_archive_of_a_journal_counts_too_and_once(hours, allot, tmp_path):
    group = {"workers": [], "epoch": 0, "members": [], "next_number": 1, "restarting": False, "failures": 0, "refusals": 0,
             "refusal": "", "refused_since": 0, "step_at_failure": 0, "not_before": 0}
    kept = record(7300, "kept", job="b", configuration="", shares=[], changes=1, waiting_since=0, gpu_seconds=3600, seconds=3600,
                  first_start=0, preemptions=0, restarts=0, moves=0, failures=0, fit=[], group=group)
    with gzip.open(tmp_path / "journal.past.jsonl.gz", "wt") as archive:
        archive.write(serve() + job(0, "a", "ann") + job(0, "b", "bob") + over(3600, "a", 4) + used(3600, "b", 1))
    (tmp_path / "journal.jsonl").write_text(
        serve(7300) + record(7300, "renewed", archived=0) + job(0, "b", "bob") + kept + used(9000, "b", 2))
    assert hours("journal.jsonl") == pytest.approx({("ann", "ann"): 4, ("bob", "bob"): 2})
    (tmp_path / "journal.past.jsonl.gz").unlink()
    assert hours("journal.jsonl") == pytest.approx({("bob", "bob"): 2})
    assert "no journal.past.jsonl.gz beside the journal" in allot("account", "journal.jsonl").stderr


def test_the_journal_of_a_daemon_is_found(live, hours):
    live.submit("a", steps=30, low=1, high=1)
    live.serve("--until-idle")
    live.over("a")
    (gpu_hours,) = hours("--state", live.state).values()
    assert gpu_hours == pytest.approx(live.over("a")["gpu_seconds"] / 3600) and gpu_hours > 0


@pytest.mark.parametrize("words, said", [
    (["sacct.txt", "--from", "2d", "--to", "1d"], "--from must lie before --to, got 2d and 1d"),
    (["sacct.txt", "--csv", "--json"], "two formats"),
    (["sacct.txt", "--state", "x"], "one source"),
    (["journal.jsonl"], "journal.jsonl:2: "),
    (["--state", "none"], "none/journal.jsonl"),
])
def test_what_cannot_be_is_named(program, tmp_path, words, said):
    (tmp_path / "sacct.txt").write_text(SACCT)
    (tmp_path / "journal.jsonl").write_text(serve() + "not a record\n")
    done = subprocess.run([program, "account", *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode in (2, 3) and said in done.stderr and done.stdout == "", done
