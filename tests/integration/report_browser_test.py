"""The report in a real browser, headless Chromium: what the page's own code does, and what narrow windows and paper show."""

import csv
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")

# Notes errors of the page's code, which runs after it.
WATCH = "<script>window.faults = []; addEventListener('error', (e) => faults.push(e.message));</script>"


@pytest.fixture(scope="module")
def results(program, tmp_path_factory):
    out = tmp_path_factory.mktemp("compared") / "runs"
    subprocess.run([program, "compare", "--load", "1.0", "--to", "2017-11-05", "--policies", "fifo,srtf,index", "--workloads", "2",
                    "--out", out, "--quiet"], check=True)
    return out


@pytest.fixture(scope="module")
def page(program, results):
    subprocess.run([program, "report", results, "-o", results / "report.html", "--quiet"], check=True)
    return (results / "report.html").read_text()


OPEN = "document.querySelectorAll('details').forEach((d) => { d.open = true; });"


def browse(tmp_path, page, script, width=1400, *options, opened=True):
    """What `script` (an expression of JavaScript) is in the page, once it is shown, with its folded parts open. A window is never
    narrower than 500 pixels, so that the page stands in a frame of this width."""
    told = f"<script>document.title = JSON.stringify([window.faults, (() => {{ {OPEN if opened else ''} {script} }})()]);</script></body>"
    (tmp_path / "page.html").write_text(page.replace("<body>", "<body>" + WATCH).replace("</body>", told))
    file = tmp_path / "frame.html"
    file.write_text(f"""<body style="margin: 0"><iframe src="page.html" style="border: 0; width: {width}px; height: 2000px"
        onload="document.title = this.contentDocument.title"></iframe></body>""")
    done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
                           "--allow-file-access-from-files", f"--window-size={width + 20},2100", *options, "--dump-dom",
                           file.as_uri()], capture_output=True, text=True, timeout=120)
    title = re.search(r"<title>(.*?)</title>", done.stdout, re.DOTALL)
    assert title, done.stderr
    faults, answer = json.loads(title[1].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
    assert faults == []
    return answer


POINT = """
  const plot = document.querySelector('[data-figure="evaluation-0-FIGURE"]');
  const drawing = [...plot.querySelectorAll("svg.figure")].find((s) => s.getClientRects().length);
  const [l, t, r, b] = drawing.querySelector(".panel").dataset.area.split(" ").map(Number);
  const box = drawing.getBoundingClientRect();
  const scale = box.width / drawing.viewBox.baseVal.width;
  const at = (share) => ({clientX: box.left + (l + (r - l) * share) * scale, clientY: box.top + (t + b) / 2 * scale, bubbles: true});
"""


@needs_browser
def test_the_pointer_reads_values(tmp_path, page):
    tip = browse(tmp_path, page, POINT.replace("FIGURE", "cdf") + """
      plot.dispatchEvent(new PointerEvent("pointermove", at(0.95)));
      return [document.getElementById("tip").hidden, document.getElementById("tip").textContent];""")
    assert tip[0] is False
    assert all(policy in tip[1] for policy in ("fifo", "srtf", "index")) and tip[1].count(" %") == 3


@needs_browser
def test_a_policy_can_be_switched_off(tmp_path, page):
    states = browse(tmp_path, page, """
      const button = document.querySelector('[data-toggle="srtf"]');
      const hidden = () => [...document.querySelectorAll('.figure [data-name="srtf"]')].every((p) => !p.getClientRects().length);
      button.click();
      const off = hidden();
      button.click();
      return [off, hidden(), button.getAttribute("aria-pressed")];""")
    assert states == [True, False, "true"]


@needs_browser
def test_workloads_are_chosen_together(tmp_path, page):
    shown = browse(tmp_path, page, """
      const select = document.querySelector('select[data-choose="Workload"]');
      select.selectedIndex = 1;
      select.onchange();
      return ["queue", "queue-2", "gpus", "gpus-2"].map((name) =>
        document.querySelector(`[data-figure="evaluation-0-${name}"]`).getClientRects().length > 0);""")
    assert shown == [False, True, False, True]


@needs_browser
def test_time_can_be_zoomed(tmp_path, page):
    low, high, ticks, back = browse(tmp_path, page, POINT.replace("FIGURE", "queue") + """
      plot.dispatchEvent(new PointerEvent("pointerdown", at(0.25)));
      plot.dispatchEvent(new PointerEvent("pointerup", at(0.5)));
      const panel = drawing.querySelector(".panel");
      const [, whole0, whole1] = panel.dataset.x.split(" ").map(Number);
      const [, low, high] = panel.dataset.zoomed.split(" ").map(Number);
      const ticks = panel.querySelectorAll(".ticks text").length;
      plot.closest("figure").querySelector('[data-zoom="0"]').click();
      const back = panel.dataset.zoomed.split(" ").map(Number);
      return [low / whole1, high / whole1, ticks, back[1] === whole0 && back[2] === whole1];""")
    assert (round(low, 2), round(high, 2)) == (0.25, 0.5)
    assert ticks >= 3 and back


@needs_browser
@pytest.mark.parametrize("width", [1400, 800, 390])
def test_nothing_is_wider_than_the_window(tmp_path, page, width):
    wide, cut = browse(tmp_path, page, """
      const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
      const box = (e) => e.getBoundingClientRect();
      const cut = [...document.querySelectorAll(".figure text")].filter((t) => t.getClientRects().length &&
        (box(t).right > box(t.closest("svg.figure")).right + 3 || box(t).left < box(t.closest("svg.figure")).left - 3));
      return [wide, cut.map((t) => t.textContent)];""", width)
    assert wide <= 0
    assert cut == []


@needs_browser
def test_paper_has_all_columns(tmp_path, page):
    """A4 at 96 dpi, less Chromium's margins of 1 cm, is 718 pixels wide; rules of print are taken by name."""
    styled = page.replace("@media print", "@media all")
    table, room, tools = browse(tmp_path, styled, """
      const table = document.querySelector("section table");
      return [table.scrollWidth, document.querySelector("main").clientWidth,
              [...document.querySelectorAll(".tools, .policies")].filter((t) => t.getClientRects().length).length];""", 718)
    assert table <= room
    assert tools == 0


@needs_browser
def test_jobs_over_time_say_what_they_hold(tmp_path, page):
    """The pointer follows the first row of the Gantt chart, from left to right, on the policy that is chosen."""
    told = browse(tmp_path, page, """
      const figure = document.querySelector('[data-figure^="evaluation-0-gantt"]').closest("figure");
      const select = figure.querySelector("select");
      select.selectedIndex = [...select.options].findIndex((o) => o.text === "fifo");
      select.onchange();
      const plot = figure.querySelector(".choice:not([hidden]) .plot");
      const drawing = [...plot.querySelectorAll("svg.figure")].find((s) => s.getClientRects().length);
      const [l, t, r, b] = drawing.querySelector(".panel").dataset.area.split(" ").map(Number);
      const box = drawing.getBoundingClientRect();
      const scale = box.width / drawing.viewBox.baseVal.width;
      const told = new Set();
      for (let x = l; x < r; x += 2) {
        plot.dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + x * scale, clientY: box.top + (t + 5) * scale, bubbles: true}));
        if (!document.getElementById("tip").hidden) told.add(document.getElementById("tip").textContent);
      }
      const heat = document.querySelector('[data-figure^="evaluation-0-heat"]').closest("figure");
      return [[...told], plot.parentNode.querySelector("figcaption").textContent, heat.querySelector("select").selectedOptions[0].text];""")
    assert any("GPU" in text and "node" in text for text in told[0]), told
    assert told[1].startswith("fifo: ") and told[2] == "fifo"


NINE = ["index:basis=remaining,alpha=0.4,beta=0.3,kappa=0.35,gamma=1.25", "fifo", "las", "srtf", "drf", "optimus", "sjf",
        "srtf:sizing=hull", "las:sizing=hull"]


@pytest.fixture(scope="module")
def nine(program, tmp_path_factory):
    """A page of nine policies, one of a long name as the reference."""
    folder = tmp_path_factory.mktemp("nine")
    (folder / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s,model\n" + "".join(
        f"{i},{600 * i},{1 + i % 4},{900 + 400 * (i % 7)},resnet18:16\n" for i in range(60)))
    subprocess.run([program, "compare", "-w", "jobs.csv", "-c", "2x4", "--load", "0.5", "--span", "4h", "--workloads", "2",
                    "--policies", ",".join(NINE), "--out", "runs", "--quiet"], check=True, cwd=folder)
    subprocess.run([program, "report", "runs", "-o", "page.html", "--quiet"], check=True, cwd=folder)
    return (folder / "page.html").read_text()


@needs_browser
@pytest.mark.parametrize("width", [1400, 390])
def test_the_main_table_fits_its_column(tmp_path, nine, width):
    table, room, shown = browse(tmp_path, nine, """
      const table = document.querySelector("table.main");
      const shown = [...table.querySelectorAll("tbody tr")].map((row) => [...row.children].filter((cell) => {
        const box = cell.getBoundingClientRect();
        return box.width > 20 && box.right <= document.documentElement.clientWidth + 1 && cell.innerText.trim();
      }).length);
      return [table.scrollWidth, table.parentNode.clientWidth, shown];""", width)
    assert table <= room
    assert shown == [10 if width == 1400 else 3] * 9, "a name and its numbers"


@needs_browser
@pytest.mark.parametrize("scheme", [[], ["--force-dark-mode"]])
def test_nine_policies_have_nine_colours(tmp_path, nine, scheme):
    colours = browse(tmp_path, nine, """
      return [...document.querySelectorAll("table.main .swatch")].map((s) => getComputedStyle(s).backgroundColor);""", 1400, *scheme)
    values = [tuple(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours]
    assert len(values) == 9
    nearest = min(sum(abs(a - b) for a, b in zip(one, other)) for i, one in enumerate(values) for other in values[:i])
    assert nearest >= 50, "tell them apart at a glance"


@needs_browser
def test_the_page_begins_with_what_matters(tmp_path, nine):
    """Headline, table, three pictures; the rest is folded. The reference comes first in every figure."""
    open_figures, firsts, order = browse(tmp_path, nine, """
      const seen = (e) => e.getClientRects().length > 0;
      const figures = [...document.querySelectorAll("figure")];
      const folded = figures.filter((f) => f.closest("details:not([open])"));
      const firsts = [...document.querySelectorAll("select[data-choose=Policy]")].map((s) => s.options[0].text);
      const order = [".finding", "table.main", "figure", "details.behind", "#repeat"].map((s) => document.querySelector(s)).map(
        (e, i, all) => i === 0 || Boolean(all[i - 1].compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING));
      return [figures.length - folded.length, firsts, order];""", opened=False)
    assert open_figures == 3
    assert firsts == ["index:…"] * 2, "NINE[0], shortened"
    assert all(order)


@needs_browser
def test_a_narrow_ratio_axis_can_be_read(tmp_path, nine):
    ticks = browse(tmp_path, nine, """
      const plot = document.querySelector('[data-figure="evaluation-0-ratios"]');
      const drawing = [...plot.querySelectorAll("svg.figure")].find((s) => s.getClientRects().length);
      return [...drawing.querySelectorAll(".ticks text")].map((t) => t.textContent);""", 390)
    assert len(ticks) >= 2 and len(set(ticks)) == len(ticks)


def spans(run):
    """(job, from, to, GPUs) of allocations.csv, as docs/formats/results.md has it."""
    with open(run / "jobs.csv", newline="") as file:
        jobs = {row["job_id"]: row for row in csv.DictReader(file)}
    held = {}
    with open(run / "allocations.csv", newline="") as file:
        for row in csv.DictReader(file):
            time, gpus = float(row["time_s"]), int(row["gpus"])
            assert gpus == sum(int(part.split(":")[1]) for part in row["nodes"].split())
            held.setdefault(row["job_id"], []).append((time, gpus))
    for job, changes in held.items():
        ends = [time for time, _ in changes[1:]] + [float(jobs[job]["finish_s"])]
        for (begin, gpus), end in zip(changes, ends):
            yield job, begin, end, gpus


@pytest.mark.parametrize("world", [[], ["--node-events", "events.csv"]])
def test_allocations_add_up_to_what_jobs_held(allot, tmp_path, world):
    (tmp_path / "events.csv").write_text("time_s,node,event\n100000,3,down\n140000,3,up\n250000,0,down\n300000,0,up\n")
    allot("compare", "--load", "1.0", "--to", "2017-11-05", "--policies", "fifo,las,index", *world, "--out", "runs")
    for policy in ("fifo", "las", "index"):
        run = tmp_path / "runs" / policy
        held = {}
        for job, begin, end, gpus in spans(run):
            held[job] = held.get(job, 0) + (end - begin) * gpus
        with open(run / "jobs.csv", newline="") as file:
            for row in csv.DictReader(file):
                assert held.get(row["job_id"], 0) == pytest.approx(float(row["gpu_seconds"]), rel=1e-6, abs=1e-3), row["job_id"]


def test_results_say_how_to_repeat_them(allot, tmp_path):
    (tmp_path / "mine.csv").write_text("job_id,submit_s,gpus,duration_s\na,0,4,7200\nb,60,1,600\n")
    allot("compare", "--workload", "mine.csv", "--cluster", "2x4", "--policies", "fifo,srtf", "--out", "runs")
    origin = json.loads((tmp_path / "runs" / "origin.json").read_text())
    assert origin["world"]["restart_cost_s"] == 30 and origin["version"]
    allot("report", "runs", "-o", "page.html")
    page = (tmp_path / "page.html").read_text()
    repeat = page[page.index("How to repeat this"):]
    for part in (origin["version"], origin["inputs"]["mine.csv"], "runs/origin.json"):
        assert part in repeat, part
    commands = re.search(r"<pre>(.*?)</pre>", repeat, re.DOTALL)[1].splitlines()
    assert [command.split()[:2] for command in commands] == [["allot", "compare"], ["allot", "report"]]
    allot(*commands[0].split()[1:])  # as pasted
    assert json.loads((tmp_path / "runs" / "origin.json").read_text()) == origin


def test_files_for_papers_are_svg_and_csv(allot, results, tmp_path):
    told = json.loads(allot("plot", results, "-o", tmp_path / "figures", "--figure", "cdf", "--figure", "queue", "--json").stdout)
    assert [path.rsplit("/", 1)[1] for path in told["figures"]] == ["cdf.svg", "queue.svg", "queue-2.svg"]
    gantt = json.loads(allot("plot", results, "-o", tmp_path / "figures", "--figure", "gantt", "--json").stdout)["figures"]
    assert [path.rsplit("/", 1)[1] for path in gantt] == ["gantt-fifo.svg", "gantt-index.svg", "gantt-srtf.svg"]
    for path in told["figures"]:
        root = ElementTree.parse(path).getroot()
        assert root.tag.endswith("svg") and root.get("width") == "3.300in"
    assert (tmp_path / "figures" / "cdf.csv").read_text().startswith("panel,series,jct_s,share_of_jobs\n")
    wrong = allot("plot", results, "-o", tmp_path, "--figure", "cfd", exit=2)
    assert "did you mean 'cdf'?" in wrong.stderr
