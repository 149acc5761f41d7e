#!/usr/bin/env python3
"""Builds the documentation site: the pages of docs/, the README, and a page for each command.

    python docs/site/build.py --program build/release/allot

Pages are gathered in build/site-pages, then mkdocs writes build/site and ends with an error for a link that leads nowhere
or a page that no section of mkdocs.yml names. Links to files that are not part of the site become their paths.
"""

import argparse
import os
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "build" / "site-pages"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def site_path(path):
    """Where a file of the repository is on the site; None where it is not."""
    if path == "README.md":
        return "index.md"
    inside = path.startswith("docs/") and not path.startswith("docs/site/")
    return path[len("docs/"):] if inside and (ROOT / path).is_file() and not path.endswith(".py") else None


def relinked(text, source):
    """Links of one page, from where it lies in the repository to where it is on the site."""
    here = posixpath.dirname(site_path(source))

    def link(match):
        mark, label, target = match.groups()
        if "://" in target or target.startswith(("#", "mailto:")):
            return match[0]
        file, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), file))
        if not (ROOT / path).exists():
            sys.exit(f"{source}: link to '{target}', which is not there")
        on_site = site_path(path)
        if on_site is None:
            return f"`{path}`" if label.strip("`") == path else f"{label} (`{path}`)"
        relative = posixpath.relpath(on_site, here or ".")
        return f"{mark}[{label}]({relative}{'#' + anchor if anchor else ''})"

    parts = re.split(r"(^```.*?^```\s*$)", text, flags=re.M | re.S)  # code stays as it is
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def gather():
    shutil.rmtree(PAGES, ignore_errors=True)
    files = ["README.md", *(str(p.relative_to(ROOT)) for p in sorted((ROOT / "docs").rglob("*")))]
    for file in files:
        if (ROOT / file).is_dir() or site_path(file) is None:
            continue
        goal = PAGES / site_path(file)
        goal.parent.mkdir(parents=True, exist_ok=True)
        if file.endswith(".md"):
            goal.write_text(relinked((ROOT / file).read_text(), file))
        elif file.endswith((".svg", ".png", ".gif", ".csv")):
            shutil.copy(ROOT / file, goal)
    shutil.copy(ROOT / "docs/site/iframe-worker.js", PAGES)


def help_of(program, words):
    done = subprocess.run([program, *words, "--help-all"], capture_output=True, text=True, check=True)
    return done.stdout


def commands_below(program, words):
    """Each command that can be typed, with its help: of those that only gather others, these."""
    text = help_of(program, words)
    below = re.search(r"^Subcommands:\n(.*?)(^\S|\Z)", text, flags=re.M | re.S)
    if below is None:
        yield words, text
        return
    for name in re.findall(r"^  ([a-z][\w-]*)", below[1], flags=re.M):
        yield from commands_below(program, [*words, name])


def table_of(lines):
    """Options as a table. Each begins at two spaces; its meaning follows after two or more, or in the next line."""
    rows = []
    for line in lines:
        option = re.match(r"  (\S.*?)(?:  +(.*))?$", line)
        if option:
            rows.append([option[1], option[2] or ""])
        elif rows:
            rows[-1][1] = f"{rows[-1][1]} {line.strip()}".strip()
    cells = [(name, meaning.replace("|", "\\|").replace("<", "&lt;")) for name, meaning in rows if name != "-h,--help"]
    return "".join(f"| `{name}` | {meaning} |\n" for name, meaning in cells)


def command_page(words, text):
    """A help text as a page: its options as tables, the rest as it stands."""
    summary, usage, *blocks = re.split(r"\n(?=\S)", text.strip())
    page = f"# allot {' '.join(words)}\n\n{summary[:1].upper()}{summary[1:].strip()}.\n\n```text\n{usage.strip()}\n```\n"
    for block in blocks:
        title, *lines = block.split("\n")
        of_options = title == "Positionals:" or any(line.startswith("  -") for line in lines)
        rows = table_of(lines) if of_options else ""
        page += f"\n**{title.rstrip(':')}**\n\n| | |\n|---|---|\n{rows}" if rows else f"\n```text\n{block.rstrip()}\n```\n"
    return page


def write_commands(program):
    folder = PAGES / "commands"
    folder.mkdir()
    for words, text in commands_below(program, []):
        (folder / f"{'-'.join(words)}.md").write_text(command_page(words, text))


def expanded(nav):
    """The sections with `FOLDER/*` replaced by the pages of that folder."""
    entries = []
    for entry in nav:
        if isinstance(entry, dict):
            ((title, below),) = entry.items()
            entries.append({title: expanded(below)})
        elif entry.endswith("/*"):
            pages = sorted(str(p.relative_to(PAGES)) for p in (PAGES / entry[:-2]).glob("*.md"))
            entries.append({{"adr": "Decisions", "formats": "Files"}.get(entry[:-2], entry[:-2].capitalize()): pages})
        else:
            entries.append(entry)
    return entries


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/allot"), help="the allot whose help is shown")
    program = os.path.abspath(parser.parse_args().program)
    gather()
    write_commands(program)
    config = yaml.safe_load((ROOT / "docs/site/mkdocs.yml").read_text())
    config["nav"] = expanded(config["nav"])
    config["docs_dir"], config["site_dir"] = str(PAGES), str(ROOT / "build" / "site")
    written = ROOT / "build" / "site.yml"
    written.write_text(yaml.safe_dump(config, sort_keys=False))
    # Not --quiet: warnings that are not shown are not counted either.
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "-f", written], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("".join(line + "\n" for line in done.stderr.splitlines() if not line.startswith("INFO")))


if __name__ == "__main__":
    main()
