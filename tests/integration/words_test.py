"""One word, one meaning: no page, help text or clean folder of source code has a phrase that docs/words.md forbids."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "checkpoints/README.md", "traces/README.md")),
         *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "formats").glob("*.md"))]
# Folders whose comments, log lines and errors are clean. Add a folder when it is; none may be taken away.
CLEAN = ["agents", "deploy", "envs", "examples", "models", "python", "src/auth", "src/bench", "src/cli", "src/clients",
         "src/core", "src/elastic", "src/episode_log", "src/experiment", "src/features", "src/fidelity", "src/length_model",
         "src/live/daemon", "src/live/health", "src/live/runtimes", "src/live/screens", "src/live/state", "src/live/status",
         "src/live/workers", "src/metrics", "src/perf", "src/plugin", "src/record", "src/report", "src/sched", "src/solve",
         "src/stages", "src/sweep", "src/table", "src/wait_forecast", "src/workload"]
SOURCES = (".h", ".cc", ".py", ".json", ".yaml", ".lua")


def forbidden():
    """The phrases of the third column of the table in docs/words.md."""
    table = (ROOT / "docs" / "words.md").read_text().partition("## One word, one meaning")[2]
    return [phrase for row in re.findall(r"^\| .* \| .* \| (.*) \|$", table, re.MULTILINE) for phrase in re.findall(r"`([^`]+)`", row)]


PHRASES = re.compile(r"\b(?:" + "|".join(r"[\s/]+".join(map(re.escape, phrase.split())) for phrase in forbidden()) + r")\b", re.IGNORECASE)


def faults(name, text):
    return [f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {' '.join(match[0].split())!r}" for match in PHRASES.finditer(text)]


def without_code(page):
    """The prose of a page, with as many lines: no blocks of code, no code in backticks, and no list of forbidden words."""
    page = page.partition("## One word, one meaning")[0]
    for code in (r"^```.*?^```", r"^    .*$", r"`[^`\n]*`", r"\]\([^)]*\)"):
        page = re.sub(code, lambda match: "\n" * match[0].count("\n"), page, flags=re.MULTILINE | re.DOTALL if "```" in code else re.MULTILINE)
    return page


def test_the_list_is_read():
    assert len(forbidden()) > 30 and "jobs by count" in forbidden()
    assert faults("x", "These jobs\n  by count are dear.") and not faults("x", "The nearest counted jobs are expensive.")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_has_no_forbidden_word(page):
    assert not faults(page.relative_to(ROOT), without_code(page.read_text()))


@pytest.mark.parametrize("folder", CLEAN)
def test_a_clean_folder_stays_clean(folder):
    files = [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in SOURCES]
    assert files
    found = [fault for path in files for fault in faults(path.relative_to(ROOT), path.read_text())]
    assert not found, "\n" + "\n".join(found)


def commands_below(program, words=()):
    """(words, help text) of each command."""
    done = subprocess.run([program, *words, "--help-all"], capture_output=True, text=True, check=True)
    yield words, done.stdout
    block = re.search(r"^Subcommands:\n(.*?)(^\S|\Z)", done.stdout, re.MULTILINE | re.DOTALL)
    for name in re.findall(r"^  ([a-z][\w-]*)", block[1], re.MULTILINE) if block else []:
        yield from commands_below(program, (*words, name))


def test_help_has_no_forbidden_word(program):
    found = [fault for words, text in commands_below(program) for fault in faults(" ".join(("allot", *words)), text)]
    assert not found, "\n" + "\n".join(found)


def test_lists_have_no_forbidden_word(program):
    listed = subprocess.run([program, "list"], capture_output=True, text=True, check=True).stdout
    assert not faults("allot list", listed)
