"""Short names that users give policies: NAME=SPEC, in tables, files, sweeps and what-if."""

import json
import re

TRACE = "job_id,submit_s,gpus,duration_s\na,0,1,600\nb,30,2,500\nc,60,4,300\n"
LONG = "index:basis=remaining,alpha=0.4,beta=0.1,gamma=1.25"


def test_names_stand_in_tables_folders_and_results(allot, tmp_path):
    (tmp_path / "t.csv").write_text(TRACE)
    done = allot("compare", "t.csv", "--cluster", "1x4", "--policies", f"fifo,tuned rule={LONG},brief=srtf", "--out", "o",
                 "--reference", "brief")
    for name in ("tuned rule", "brief", "fifo"):
        assert re.search(rf"^\W*{name} {{2,}}", done.stdout, re.M), done.stdout
    assert f"tuned rule: {LONG}" in done.stdout
    assert "brief / policy" in done.stdout
    assert (tmp_path / "o" / "tuned-rule" / "jobs.csv").is_file() and (tmp_path / "o" / "brief").is_dir()
    policies = json.loads((tmp_path / "o" / "evaluation.json").read_text())["policies"]
    assert [(p["id"], p.get("spec")) for p in policies] == [("fifo", None), ("tuned rule", LONG), ("brief", "srtf")]
    allot("report", "o", "--out", "o.html")
    assert "tuned rule" in (tmp_path / "o.html").read_text()
    plotted = allot("plot", "o", "--figure", "gantt", "-o", "svg").stdout
    assert "gantt-tuned-rule.svg" in plotted and "gantt-brief.svg" in plotted


def test_long_specs_are_short_in_tables(allot, tmp_path):
    (tmp_path / "t.csv").write_text(TRACE)
    done = allot("compare", "t.csv", "--cluster", "1x4", "--policies", f"fifo,{LONG}", "--out", "o")
    assert f"index:\u2026: {LONG}" in done.stdout
    assert json.loads((tmp_path / "o" / "evaluation.json").read_text())["policies"][1]["id"] == LONG


def test_names_must_differ(allot, tmp_path):
    (tmp_path / "t.csv").write_text(TRACE)
    for policies, told in [("a=fifo,a=srtf", "'a' is named twice"), ("srtf=fifo", "another policy"),
                           ("a b=fifo,a-b=srtf", "share the folder"), ("=fifo", "NAME=SPEC")]:
        assert told in allot("compare", "t.csv", "--cluster", "1x4", "--policies", policies, exit=2).stderr


def test_sweeps_and_what_if_take_names(allot, tmp_path):
    (tmp_path / "t.csv").write_text(TRACE)
    done = allot("sweep", "-w", "t.csv", "--clusters", "1x4", "--policies", "fifo,brief=srtf")
    assert "brief" in done.stdout and "brief=srtf" not in done.stdout
    found = json.loads(allot("whatif", "t.csv", "--cluster", "1x4", "--policies", "brief=srtf", "--json").stdout)
    scene = next(s for s in found["scenes"] if s["kind"] == "policy")
    assert (scene["title"], scene["policy"]) == ("brief", "srtf")
    assert "a=fifo" not in allot("simulate", "t.csv", "--cluster", "1x4", "--policy", "a=fifo").stdout
