"""Sections of a measure's docstring, from which its page, its help and the lists of measures are made."""

from __future__ import annotations

import inspect
import re
from textwrap import dedent

#: First words of the sections; those that end with a colon are not part of the text.
_SECTION = re.compile(r"(Formula|Parameters|Drawn|Source|Example|Lacks \w+):\s|Use it\b|Users\b")
#: A cited paper: authors, "title" (venue and year).
_CITED = re.compile(r'([^".;:]+), "[^"]+" \([^()]*?(\d{4})\)')


def sections(kind: type) -> dict[str, str]:
    """Return the sections of a docstring by name; 'Definition' has all paragraphs without one.

    A counterexample for an entry of ``LACKS`` may be in the docstring of a base class.
    """
    found = _own_sections(kind)
    lacks = {f"Lacks {name}" for name in getattr(kind, "LACKS", ())}
    for base in kind.__mro__[1:] if lacks - found.keys() else ():
        found = {name: text for name, text in _own_sections(base).items() if name in lacks} | found
    return found


def _own_sections(kind: type) -> dict[str, str]:
    found = {"Summary": "", "Definition": "", "Use it": "", "Users": "", "Source": ""}
    summary, *blocks = inspect.cleandoc(kind.__doc__ or "").split("\n\n")
    found["Summary"] = " ".join(summary.split())
    for block in (block for block in blocks if not block.startswith(".. ")):
        head = _SECTION.match(block)
        if head is None:
            found["Definition"] = f"{found['Definition']}\n\n{block}".strip()
        else:
            found[head[1] or head[0]] = dedent(block[head.end() :] if head[1] else block).strip()
    return found


def cited(source: str) -> str:
    """Return authors and years of the papers in a source, without those that it follows ("after ...")."""
    papers = []
    for authors, year in _CITED.findall(" ".join(source.split()).partition(" after ")[0]):
        several = re.split(r", | and ", authors.strip())
        papers.append(f"{authors.strip() if len(several) < 3 else f'{several[0]} et al.'} {year}")  # noqa: PLR2004
    return "; ".join(papers)
