"""Pages whose output is that of their commands: the checker of pages_test.py, and what rewrites the pages.

    python3 tests/integration/pages.py --program build/release/allot [--update] [PAGE...]

In a block ``` of a page each line "$ COMMAND" (a trailing backslash continues it) is run, in one folder for the page. The lines after
it are what it prints, shortened: each must begin a printed line, blanks aside. Numbers are compared to the
digit. Where a trained policy is in play, which another processor trains to other numbers, they may differ by TOLERANCE. A block after
the comment <!-- varies --> is run and not compared, one after <!-- unchecked --> is not run.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 0.1
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")
UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
TIME = re.compile(r"(\d+)([dh]) (\d\d)([hm])|(\d+)m (\d\d)s|(\d+\.\d) s")
TRAINED = re.compile(r"allot (pretrain|train|learn|gate)\b|--checkpoint\b|learned:checkpoint")


@dataclass
class Command:
    text: str  # as one line
    trained: bool
    lines: list = field(default_factory=list)  # (number of the page's line, text)


def commands_of(page):
    """The commands of a page's blocks, in order, with what it shows of their output."""
    found, inside, varies, unchecked, current = [], False, False, False, None
    lines = page.splitlines()
    number = 0
    while number < len(lines):
        line = lines[number]
        if line.startswith("<!--"):
            varies, unchecked = "varies" in line, "unchecked" in line
        elif line.startswith("```"):
            inside, current = not inside, None
            if not inside:
                varies = unchecked = False
        elif inside and not unchecked and line.startswith("$ "):
            text = line[2:]
            while text.endswith("\\") or text.count("'") % 2:
                number += 1
                text = (text[:-1].rstrip() + " " + lines[number].lstrip() if text.endswith("\\")
                        else text + "\n" + lines[number])
            current = Command(text, bool(TRAINED.search(text)))
            found.append(current)
        elif current is not None and line.strip() and not varies:
            current.lines.append((number, line))
        number += 1
    return found


def seconds(match):
    if match[1]:
        return str(int(match[1]) * UNITS[match[2]] + int(match[3]) * UNITS[match[4]])
    return str(int(match[5]) * 60 + int(match[6])) if match[5] else match[7]


def parts(line):
    """The words of a line and its numbers; times in seconds."""
    line = TIME.sub(seconds, " ".join(line.split()))
    return NUMBER.split(line), [float(text.replace(",", "").rstrip(".")) for text in NUMBER.findall(line)]


def equal(shown, printed, about):
    """Whether what a page shows begins this printed line, to the digit or about so."""
    if not about:
        return " ".join(printed.split()).startswith(" ".join(shown.split()))
    words, numbers = parts(shown)
    own_words, own_numbers = parts(printed)
    count = len(numbers)
    if words[:count] != own_words[:count] or not own_words[count:] or not own_words[count].startswith(words[count]):
        return False
    return all(abs(a - b) <= TOLERANCE * max(abs(a), abs(b), 1e-9) for a, b in zip(numbers, own_numbers))


def run(command, folder, environment):
    done = subprocess.run(["bash", "-c", command.text], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 4):  # 4: a check says no, which a page may show
        raise SystemExit(f"$ {command.text}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.splitlines() + done.stderr.splitlines()


def faults_of(command, printed):
    """The shown lines that the command did not print."""
    left, faults = list(printed), []
    for number, shown in command.lines:
        same = next((line for line in left if equal(shown, line, command.trained)), None)
        if same is None:
            faults.append((number, shown))
        else:
            left.remove(same)
    return faults


def renewed(command, printed):
    """The shown lines with the numbers that were printed, where their words are: {number of the page's line: text}."""
    header = next((text for _, text in command.lines if text.split()[:1] == ["policy"]), None)
    rule = next((i for i, line in enumerate(printed) if set(line.strip()) == {"─"}), None)
    if header and rule:
        last = header.split()[-1]
        width = printed[rule - 1].index(last) + len(last)
        table = [line[:width].rstrip() for line in [printed[rule - 1], *printed[rule + 1:]]]
        rows = table[:len(command.lines)]
        return dict(zip((number for number, _ in command.lines), rows))
    texts = {}
    for number, shown in command.lines:
        words = parts(shown)[0][0].strip()
        same = next((line for line in printed if parts(line)[0][0].strip() == words), None)
        if same is None:
            continue  # a sentence that only a person can put right
        last = list(re.finditer(r"\S+", same))[:len(shown.split())][-1]
        texts[number] = same[:last.end()]
    return texts


def environment_of(program):
    """With `allot` on the PATH, and Python's package."""
    folder = Path(program).resolve().parent
    package = folder / "python"
    return os.environ | {"PATH": f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}",
                         "PYTHONPATH": os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH")]))}


def check(page, program, update=False):
    """Runs a page's commands. The faults as texts; after `update` those that it could not mend."""
    path = ROOT / page
    lines = path.read_text(encoding="utf-8").splitlines()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tests").symlink_to(ROOT / "tests")
        for command in commands_of(path.read_text(encoding="utf-8")):
            if command.text.startswith("cat "):  # a page gives the file
                content = "".join(f"{text}\n" for _, text in command.lines)
                (Path(folder) / command.text[4:]).write_text(content, encoding="utf-8")
                continue
            printed = run(command, folder, environment_of(program))
            if update and faults_of(command, printed):
                for number, text in renewed(command, printed).items():
                    lines[number] = text
                command.lines = [(number, lines[number]) for number, _ in command.lines]
            found = faults_of(command, printed)
            faults += [f"{page}:{number + 1}: not printed by $ {command.text}\n  {shown}" for number, shown in found]
            if found:
                faults.append("it printed\n" + "\n".join(printed[-40:]))
    if update:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+", help="README.md, docs/tour.md, ...")
    parser.add_argument("--program", default=ROOT / "build" / "release" / "allot")
    parser.add_argument("--update", action="store_true", help="write what is printed into the pages")
    options = parser.parse_args()
    faults = [fault for page in options.pages for fault in check(page, options.program, options.update)]
    print("\n".join(faults) or "every line is printed by its command")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
