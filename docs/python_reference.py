#!/usr/bin/env python3
"""Writes docs/python-api.md from the docstrings of python/allot; with --check says whether it is up to date.

The files are parsed, not imported: the page needs neither torch nor the extension module.
"""

import argparse
import ast
import copy
import inspect
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "allot"
PAGE = ROOT / "docs" / "python-api.md"
INTERNAL = {"episode_state", "forward", "onnx_export", "options", "own_random", "registration", "render", "spaces", "torch_network"}  # modules that users do not import
HEAD = """# Reference of the Python package

Every public name with the first paragraph of its docstring; `help(allot.NAME)` shows all of it, with types, arguments and
errors. Made by `docs/python_reference.py`. [python.md](python.md) explains how to use the package.
"""


def public(name):
    return not name.startswith("_") or name == "__call__"


def signature(node, method):
    """`name(a, *, b=1)`; of a class the arguments of its __init__."""
    if isinstance(node, ast.ClassDef):
        init = next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
        return f"{node.name}({arguments(init, True)})" if init else node.name
    return f"{node.name}({arguments(node, method)})"


def arguments(node, method):
    """Without types, and without the self of a method."""
    plain = copy.deepcopy(node.args)
    for argument in [*plain.args, *plain.kwonlyargs, plain.vararg, plain.kwarg]:
        if argument:
            argument.annotation = None
    text = ast.unparse(plain)
    return text.partition(", ")[2] if method else text


def is_property(node):
    return any(isinstance(one, ast.Name) and one.id == "property" for one in node.decorator_list)


def entries(path):
    """(heading level, heading, docstring) of what a module defines for its users, and the faults: what has no docstring."""
    tree = ast.parse(path.read_text())
    module = ".".join(["allot", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")
    yield 2, module, ast.get_docstring(tree)
    for node in tree.body:
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef)) or not public(node.name):
            continue
        yield 3, signature(node, False), ast.get_docstring(node)
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and public(member.name):
                    name = member.name if is_property(member) else signature(member, True)
                    yield 4, f"{node.name}.{name}", ast.get_docstring(member)


def first_paragraph(text):
    return " ".join(inspect.cleandoc(text).split("\n\n")[0].split())


def page():
    parts = [HEAD]
    files = [path for path in sorted(PACKAGE.rglob("*.py"))
             if not path.stem.startswith("_") and path.stem not in INTERNAL or path.stem == "__init__"]
    for path in files:
        before = 0
        for level, heading, text in entries(path):
            if level < 4 and text is None:
                sys.exit(f"{path.relative_to(ROOT)}: {heading} needs a docstring")
            if text is None:
                continue
            mark = {2: f"\n## `{heading}`\n\n", 3: f"\n**`{heading}`**: ", 4: f"- `{heading}`: "}[level]
            parts.append(("\n" if (before, level) == (3, 4) else "") + f"{mark}{first_paragraph(text)}\n")
            before = level
    return "".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 where the page is not up to date")
    check = parser.parse_args().check
    text = page()
    if not check:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        sys.exit("docs/python-api.md is not up to date: run docs/python_reference.py")


if __name__ == "__main__":
    main()
