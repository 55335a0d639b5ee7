"""The code blocks of the documentation, as they appear in the pages."""

from __future__ import annotations

import os
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PT_DOCS = ROOT / "ir_graded" / "pt_docs" / "index.rst"
#: Pages written by hand; the build generates the others.
BY_HAND = (DOCS / "measures" / "index.rst", DOCS / "measures" / "classics.rst", DOCS / "api" / "index.rst")
PAGES = (
    *sorted({*DOCS.glob("*.rst"), *DOCS.glob("guide/*.rst"), *DOCS.glob("trust/*.rst"), *BY_HAND}),
    PT_DOCS,
)


@dataclass(frozen=True)
class Block:
    """A directive: its name, the text after the two colons, its options and its lines without indentation."""

    directive: str
    argument: str
    options: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def text(self):
        return "\n".join(self.lines)


def blocks(page):
    """Return all directives of a page that begin at its left edge, in order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for at, line in enumerate(lines):
        if line.startswith(".. ") and "::" in line:
            name, _, argument = line[3:].partition("::")
            yield _block(name, argument.strip(), lines[at + 1 :])


def _block(name, argument, following):
    body = []
    for line in following:
        if line.strip() and not line.startswith("   "):
            break
        body.append(line[3:])
    options = []
    while body and body[0].startswith(":"):
        options.append(body.pop(0))
    while body and not body[-1]:
        body.pop()
    return Block(name, argument, tuple(options), tuple(body[1:] if body and not body[0] else body))


def session(block):
    """Return the commands of a console block, each with the lines below it."""
    found = []
    for line in block.lines:
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def told(lines):
    """Return lines without trailing blanks, and without empty lines at the end."""
    return "\n".join(line.rstrip() for line in lines).strip("\n").split("\n")


def environment():
    """Return the environment of a shell in which the project is installed."""
    scripts = os.pathsep.join([sysconfig.get_path("scripts"), str(Path(sys.executable).parent)])
    return {**os.environ, "PATH": scripts + os.pathsep + os.environ["PATH"], "COLUMNS": "80"}


def rows(page, name):
    """Return the cells of the rows of the list-table with that ``:name:``, without its header."""
    table = next(block for block in blocks(page) if f":name: {name}" in block.options)
    found = []
    for line in table.lines:
        if line.startswith("* - "):
            found.append([line[4:]])
        elif line.startswith("  -"):
            found[-1].append(line[4:])
    return found[1:]
