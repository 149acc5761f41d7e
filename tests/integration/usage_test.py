"""What users get wrong, and what they are told: mistyped words, options that do not fit, files that are not there."""

import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from waiting import interrupted

ONE_JOB = "job_id,submit_s,gpus,duration_s\na,0,1,600\n"


def refused(allot, *words, exit=2):
    done = allot(*words, exit=exit)
    assert done.stdout == "" and done.stderr.startswith("allot: "), done.stdout + done.stderr
    assert "internal error" not in done.stderr
    return done.stderr


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text(ONE_JOB)
    return path


# ---- words ----


@pytest.mark.parametrize("words, said", [
    (["compar", "--load", "1.0"], ["unknown command 'compar'", "did you mean 'compare'?"]),
    (["trace", "inspekt", "--bogus"], ["unknown command 'inspekt'", "did you mean 'inspect'?"]),
    (["compare", "--policy", "fifo"], ["unknown option '--policy'", "did you mean '--policies'?"]),
    (["simulate", "--policy", "LAS"], ["unknown policy 'LAS'", "did you mean 'las'?"]),
])
def test_mistyped_words_are_told_by_what_was_meant(allot, words, said):
    stderr = refused(allot, *words)
    for part in said:
        assert part in stderr


@pytest.mark.parametrize("bench", ["live", "live-policies", "chaos", "kubernetes"])
def test_live_benches_say_where_they_can_run(allot, tmp_path, bench):
    said = refused(allot, "bench", bench, "--source", str(tmp_path))
    assert f"{tmp_path}/bench/" in said and "--source" in said


def test_known_options_are_listed_once(allot):
    stderr = refused(allot, "--zzzzzz")
    assert stderr.count("--quiet") == 1


def test_training_without_its_program_says_what_is_missing(program, tmp_path):
    alone = shutil.copy(program, tmp_path)
    done = subprocess.run([alone, "train", "--out", "q"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "allot-torch" in done.stderr and "libtorch" in done.stderr


def test_only_the_first_help_says_where_to_start(allot):
    assert "Start with" in allot("--help").stdout
    help_text = allot("compare", "--help").stdout
    assert "Start with" not in help_text and "Excludes:" not in help_text and "Exit codes" in help_text


# ---- values ----


@pytest.mark.parametrize("options, said", [
    (["--from", "1000"], ["--from must not lie after the last submission of 'trace'", "got 1000"]),
    (["--to", "10", "--from", "20"], ["--to must lie after --from, got 10 and 20"]),
    (["--jobs", "5"], ["--jobs 5", "law:NAME", "trace.csv"]),
    (["--tail", "nan"], ["--tail nan", "law:NAME", "trace.csv"]),
    (["--speedup", "inf"], ["--speedup", "inf"]),
    (["--speedup", "nan"], ["--speedup", "nan"]),
    (["--policies", "las:queues=-1"], ["'queues'", "got -1"]),
    (["--policies", "index:alpha=1,alpha=2"], ["'index'", "'alpha' twice", "1 and 2"]),
    (["--config", "a", "--config", "b"], ["--config"]),
])
def test_values_that_are_refused(allot, trace, options, said):
    stderr = refused(allot, "compare", "--workload", trace, "--cluster", "2x4", *options)
    for part in said:
        assert part in stderr


def test_calendar_windows_are_refused_by_the_option_that_was_typed(allot):
    late = refused(allot, "compare", "--from", "2019-01-01")
    assert "--from must not lie after" in late and "at 2017-" in late and "got 2019-01-01" in late
    early = refused(allot, "compare", "--to", "2017-10-01")
    assert "--to must lie after the first submission" in early and "--from" not in early


@pytest.mark.parametrize("options, said", [
    (["pretrain", "--log", "x", "--out", "y", "--learning-rate", "-1"], "--learning-rate"),
    (["train", "--out", "y", "--stop-after", "-5"], "--stop-after"),
    (["train", "--out", "y", "--batch", "0"], "--batch"),
])
def test_training_options_are_refused_by_name(allot, training, options, said):
    assert said in refused(allot, *options)


# ---- loads ----


def test_every_load_is_run(allot):
    loads = ["compare", "--policies", "fifo", "--cluster", "4x8", "--span", "1d", "--load", "0.2,0.4", "--json", "--quiet"]
    for seed in ("0", "7"):
        found = json.loads(allot(*loads, "--workloads", "2", "--seed", seed).stdout)["workloads"]
        assert [w["name"].split("-load")[1].split("-")[0] for w in found] == ["0.2", "0.4"]


@pytest.mark.parametrize("words", [["simulate", "--load", "0.1", "0.5"], ["compare", "--load", "0.1,0.5"]])
def test_more_loads_than_workloads_are_refused(allot, words):
    stderr = refused(allot, *words)
    assert "2 values of --load (0.1,0.5)" in stderr and "--workloads must be at least 2, got 1" in stderr


# ---- files ----


@pytest.mark.parametrize("change, said", [
    (lambda state: state.update(run_times="x"), "'run_times' must be lists of numbers"),
    (lambda state: state.update(run_times=[]), "size classes, got 0"),
])
def test_a_checkpoint_of_another_shape_is_named(allot, root, tmp_path, change, said):
    folder = tmp_path / "checkpoint"
    shutil.copytree(root / "tests" / "golden" / "checkpoint", folder)
    whole = json.loads((folder / "state.json").read_text())
    change(whole["state"])
    text = json.dumps(whole)
    (folder / "state.json").write_text(text)
    sign(folder, "state.json", text.encode())
    stderr = refused(allot, "simulate", "--policy", f"learned:checkpoint={folder}", exit=3)
    assert str(folder) in stderr and said in stderr


def sign(folder, name, data):
    """The manifest holds for a file that was changed."""
    checksum = 0xCBF29CE484222325
    for byte in data:
        checksum = (checksum ^ byte) * 0x100000001B3 % 2**64
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name] = {"bytes": len(data), "checksum": f"fnv1a64:{checksum:016x}"}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_job_file_that_is_not_there_is_named(allot, tmp_path):
    stderr = allot("serve", "--runtime", f"local:jobs={tmp_path}/nope.toml", "--state", tmp_path / "s", exit=3).stderr
    assert "nope.toml" in stderr and "internal error" not in stderr


def test_generated_workload_is_told_in_json(allot):
    told = json.loads(allot("trace", "generate", "philly", "--jobs", "50", "-o", "x.csv", "--json").stdout)
    assert told == {"jobs": 50, "out": "x.csv"}


def test_policies_of_a_sweep_file_may_be_one_text(allot, tmp_path):
    (tmp_path / "s.toml").write_text('policies = "fifo,las:queues=1|2,service=seconds"\n')
    listed = allot("sweep", "s.toml", "--list").stdout
    assert "policy fifo\n" in listed and "policy las:queues=1|2,service=seconds\n" in listed


def test_the_list_of_a_sweep_is_of_cells_that_can_run(allot):
    assert "did you mean 'fifo'?" in refused(allot, "sweep", "--policies", "fifoo", "--list")


# ---- interrupts ----


def test_interrupted_replay(program, tmp_path):
    subprocess.run([program, "simulate", "--load", "1.0", "--policy", "optimus", "--log", tmp_path], check=True,
                   capture_output=True)

    def start():
        return subprocess.Popen([program, "replay", tmp_path / "cluster" / "optimus-v0"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def reads(process):
        try:
            return any(os.readlink(file.path).endswith("main_data.hdf5") for file in os.scandir(f"/proc/{process.pid}/fd"))
        except OSError:  # one was closed meanwhile
            return False

    assert interrupted(start, reads) == (130, "allot: interrupted\n")


# ---- what documents show ----


def typed_commands(text):
    """Lines of code blocks that begin with the program, after '$ ' where there are prompts; and `allot ...` in prose."""
    text = text.replace("\\\n", " ")
    parts = text.split("```")
    prose, blocks = "\n".join(parts[::2]), "\n".join(parts[1::2])
    indented = re.findall(r"^    (allot .*)$", prose, re.MULTILINE)
    fenced = re.findall(r"^(?:\$ )?(?:build/release/)?(allot .*)$", blocks, re.MULTILINE)
    return indented + fenced + re.findall(r"`(allot [^`]*)`", prose)


def documented_commands(root):
    """(file, words) of every whole command that README and docs/ show; those with '...' or '[' are patterns."""
    for path in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]:
        for line in typed_commands(path.read_text()):
            if "..." in line or "[" in line:
                continue
            words = shlex.split(line, comments=True)[1:]
            if words and not {"--help", "--version"} & set(words):
                yield path.name, words


# Takes longer than 10 s: the program is started for each command of the documents, up to ten times.
def test_commands_of_the_documents_are_understood(program, root, tmp_path):
    def says(words):
        done = subprocess.run([program, *words, "--not-an-option"], cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.stderr.strip()

    commands = list(documented_commands(root))
    assert len(commands) > 40 and {"README.md", "tour.md", "learning.md", "live.md"} <= {name for name, _ in commands}
    help_text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    for name, words in commands:
        trains = words[0] in ("train", "pretrain")
        if trains and "\n  train " not in help_text:
            continue  # built without training
        said = says(words)
        for _ in range(9):  # prose leaves out what is plain
            missing = re.search(r"(?:-\w,)?(--)?(\S+) is required", said)
            if missing is None:
                break
            words = [*words, f"--{missing[2]}=1" if missing[1] else "1"]
            said = says(words)
        assert "unknown option '--not-an-option'" in said, f"{name}: allot {shlex.join(words)}: {said}"


def slug(heading):
    """The anchor that GitHub gives a heading."""
    kept = re.sub(r"[^\w\- ]", "", heading.replace("`", "").strip().lower())
    return kept.replace(" ", "-")


def test_links_of_the_documents_lead_somewhere(root):
    pages = [root / "README.md", root / "CONTRIBUTING.md", root / "checkpoints" / "README.md", root / "traces" / "README.md",
             *sorted((root / "docs").glob("*.md")), *sorted((root / "docs" / "formats").glob("*.md"))]
    dead = []
    for page in pages:
        prose = "".join(page.read_text().split("```")[::2])
        for target in re.findall(r"\]\(([^)\s]+)\)", prose):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            path = (page.parent / name).resolve() if name else page
            if not path.exists():
                dead.append(f"{page.relative_to(root)}: {target}")
            elif anchor and anchor not in {slug(h) for h in re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)}:
                dead.append(f"{page.relative_to(root)}: no heading for {target}")
    assert not dead, "\n" + "\n".join(dead)


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named_before_the_work(program, trace):
    drop = ["setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as name:  # which others may enter, unlike pytest's
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "closed").mkdir(mode=0o555)
        (folder / "file").touch()
        shutil.copy(trace, folder / "trace.csv")
        for out, why in [(folder / "closed" / "a" / "b", "Permission denied"), (folder / "file" / "x", "is not a folder")]:
            words = [program, "compare", "-w", folder / "trace.csv", "-c", "1x4", "-p", "fifo", "--out", out]
            done = subprocess.run([*drop, *map(str, words)], capture_output=True, text=True, check=False)
            assert done.returncode == 1 and why in done.stderr and f"cannot write '{out}'" in done.stderr, done.stderr
            assert "simulating" not in done.stderr
