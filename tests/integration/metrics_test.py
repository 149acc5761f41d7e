"""Metrics of a real daemon, and the dashboard and alerts that are made of them, as promtool judges them."""

import json
import os
import re
import shutil
import subprocess
import urllib.request

import pytest

from local import ENDLESS, Live
from waiting import wait_until

SAMPLE = re.compile(r"^([a-z_]+)(?:\{(.*)\})? (\S+)$")


@pytest.fixture(scope="module")
def promtool():
    if shutil.which("promtool") is None:
        pytest.skip("needs promtool (Debian package prometheus)")

    def check(*words, text=None):
        done = subprocess.run(["promtool", *map(str, words)], input=text, capture_output=True, text=True, check=False, timeout=120)
        return done.returncode, done.stdout + done.stderr
    return check


# Takes longer than 10 s: a daemon trains, ends and forecasts jobs of every state.
@pytest.fixture(scope="module")
def metrics(program, tmp_path_factory):
    """Of a daemon with a shadow, and jobs that train, wait, fit nowhere, finished, failed and were cancelled."""
    counter = program.parent / "examples" / "elastic_counter"
    if not os.access(counter, os.X_OK):
        pytest.skip(f"not built: {counter}")
    live = Live(program, counter, tmp_path_factory.mktemp("metrics"), cluster="2x4:v100")
    try:
        (live.spool / "fails.toml").write_text('[[job]]\nname = "fails"\ncommand = ["false"]\nresize = "restart"\n')
        live.submit("finishes", steps=3)
        live.submit("dropped", steps=ENDLESS, high=1)
        live.submit("trains", steps=ENDLESS)
        live.submit("never", types="k80")
        live.serve("--metrics", "tcp:127.0.0.1:0", "--shadow", "index", "--forecast-every", "0.5")
        address = wait_until(lambda: re.search(r"metrics at tcp:(\S+)\n", live.log()), "the address")[1]
        live.training("dropped")
        live.say("cancel", "dropped")
        for name in ("finishes", "dropped", "fails"):
            live.over(name)
        live.training("trains")
        live.say("pause")
        live.submit("waits")
        wait_until(lambda: live.job("waits"), "a job that waits")

        def read():
            text = urllib.request.urlopen(f"http://{address}/metrics", timeout=120).read().decode()
            states = all(f'allot_jobs{{state="{state}"}} 1\n' in text for state in ("training", "waiting"))
            return states and "allot_job_end_seconds{" in text and text
        yield wait_until(read, "a forecast, a job that trains at its size, and one that waits")
    finally:
        live.end()


def samples(text):
    """[(name, labels, value)]; fails where a line is not one."""
    found = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = SAMPLE.match(line).groups()
        found.append((name, dict(re.findall(r'([a-z]+)="((?:[^"\\]|\\.)*)"', labels or "")), float(value)))
    return found


def families(text):
    """{name: type}"""
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))


def family_of(name, types):
    """A histogram's samples have names of their own."""
    base = re.sub(r"_(bucket|sum|count)$", "", name)
    return base if types.get(base) == "histogram" else name


def documented(root):
    """{name: (type, labels)} of the table in docs/metrics.md."""
    text = (root / "docs" / "metrics.md").read_text()
    rows = re.findall(r"^\| (`(?:allot|process)_[^|]+) \|\s*(\w*)\s*\|([^|]*)\| ", text, re.MULTILINE)
    return {name: (kind, set(re.findall(r"`(\w+)`", labels))) for names, kind, labels in rows for name in re.findall(r"`(\w+)`", names)}


def test_promtool_has_nothing_to_say(metrics, promtool):
    assert promtool("check", "metrics", text=metrics) == (0, "")


def test_each_metric_has_its_help_and_type_once_and_before_its_values(metrics):
    seen, current = set(), None
    for line in metrics.splitlines():
        if line.startswith("# HELP "):
            _, _, current, help_text = line.split(" ", 3)
            assert current not in seen and help_text, line
            seen.add(current)
        elif line.startswith("# TYPE "):
            assert line.split()[2] == current, line
        else:
            assert family_of(SAMPLE.match(line)[1], families(metrics)) == current, line


def test_types_and_names_agree(metrics):
    for name, kind in families(metrics).items():
        assert name.endswith("_total") == (kind == "counter"), name
        assert kind in ("counter", "gauge", "histogram"), name


def test_the_table_of_docs_is_what_the_daemon_serves(metrics, root):
    types, table = families(metrics), documented(root)
    assert set(types) == set(table)
    for name, (kind, labels) in table.items():
        assert kind in ("", types[name]), name
        served = {label for sample, given, _ in samples(metrics) if family_of(sample, types) == name for label in given} - {"le"}
        assert served in (labels, set()), name


def test_jobs_are_counted_where_they_are(metrics):
    values = {(name, tuple(labels.values())): value for name, labels, value in samples(metrics)}
    by_state = {labels[0]: value for (name, labels), value in values.items() if name == "allot_jobs"}
    assert {state for state, jobs in by_state.items() if jobs} == {"training", "waiting", "fits nowhere"}, by_state
    for result in ("finished", "failed", "cancelled"):
        assert values["allot_jobs_ended_total", (result,)] == 1, result
    assert values["allot_gpus_up", ("v100",)] == 8
    assert 1 <= values["allot_gpus_allocated", ("v100",)] <= 4
    assert values["allot_paused", ()] == 1 and values["allot_cluster_up", ()] == 1
    assert values["process_resident_memory_bytes", ()] > 1e6 and values["process_open_fds", ()] > 3


def test_histograms_are_cumulative(metrics):
    found = samples(metrics)
    for name in ("allot_decision_seconds", "allot_resize_seconds"):
        buckets = [value for sample, _, value in found if sample == f"{name}_bucket"]
        count = next(value for sample, _, value in found if sample == f"{name}_count")
        assert buckets == sorted(buckets) and buckets[-1] == count > 0, name


# ---- what is made of them ----


def expressions(root):
    """Of the dashboard and of the alerts."""
    board = json.loads((root / "deploy" / "grafana" / "allot.json").read_text())
    shown = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    rules = (root / "deploy" / "prometheus" / "allot.rules.yaml").read_text()
    alerts = re.findall(r"^        expr: (.+(?:\n          .+)*)", rules, re.MULTILINE)
    assert len(shown) > 20 and len(alerts) == rules.count("- alert:")
    return shown, alerts


def test_dashboard_and_alerts_use_metrics_and_labels_that_are_there(metrics, root):
    types = families(metrics)
    values = {}  # of labels
    for name, labels, _ in samples(metrics):
        for label, value in labels.items():
            values.setdefault((family_of(name, types), label), set()).add(value)
    shown, alerts = expressions(root)
    for expr in (*shown, *alerts):
        used = re.findall(r"\b((?:allot|process)_\w+)(?:\{([^}]*)\})?", expr)
        assert used or 'up{job="allot"}' in expr, expr
        for name, selected in used:
            base = family_of(name, types)
            assert base in types, f"{name} in {expr}"
            for label, value in re.findall(r'(\w+)="([^"]*)"', selected):
                assert label == "job" or value in values[base, label], f"{label}={value} of {name} in {expr}"


def test_grafana_can_import_the_dashboard(root):
    board = json.loads((root / "deploy" / "grafana" / "allot.json").read_text())
    assert board["id"] is None and board["uid"] and board["title"] and board["schemaVersion"] >= 36
    variables = {one["name"]: one["type"] for one in board["templating"]["list"]}
    assert variables == {"datasource": "datasource", "instance": "query"}
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))
    taken = set()
    for panel in board["panels"]:
        assert panel["title"] and panel["type"] in ("stat", "timeseries")
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        assert [target["refId"] for target in panel["targets"]] == list("ABCDEFG")[:len(panel["targets"])]
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert at["x"] + at["w"] <= 24 and not cells & taken, f"{panel['title']} lies on another"
        taken |= cells


def test_every_query_of_the_dashboard_is_promql(root, promtool, tmp_path):
    shown, _ = expressions(root)
    rules = [{"record": f"shown:{i}", "expr": expr.replace("$__rate_interval", "5m").replace("$instance", ".*")}
             for i, expr in enumerate(shown)]
    file = tmp_path / "rules.yaml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    code, said = promtool("check", "rules", file)
    assert code == 0, said


def test_alerts_come_when_they_should(root, promtool):
    folder = root / "deploy" / "prometheus"
    for words in (("check", "rules", folder / "allot.rules.yaml"), ("test", "rules", folder / "allot.rules.test.yaml")):
        code, said = promtool(*words)
        assert code == 0, said
