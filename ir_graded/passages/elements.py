"""Locations of elements in an article, such as ``/article[1]/p[2]``, and their spans of text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeAlias

#: A location: names with their positions, from the document element down; the last may be text().
Steps: TypeAlias = tuple[tuple[str, int], ...]

_TEXT = "text()"
#: Highest number of steps of a path; libxml2 does not read deeper articles.
MAX_STEPS = 256
_NAME = r"""(?![0-9.-])[^\s/\[\]()@*'"|=<>+,$!:]+"""
_STEP = re.compile(rf"/(text\(\)|{_NAME}(?::{_NAME})?)(?:\[([1-9][0-9]{{0,8}})\])?")


def parse_location(path: str) -> Steps:
    """Return the steps of a path; none if it is not a plain path from the document element down."""
    steps: list[tuple[str, int]] = []
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None or (steps and steps[-1][0] == _TEXT) or len(steps) > MAX_STEPS:
            return ()
        steps.append((step[1], int(step[2] or 1)))
        at = step.end()
    return tuple(steps)


def spans_of(etree: Any, root: Any, wanted: Iterable[Steps]) -> dict[Steps, tuple[int, int]]:
    """Return first position and length of the text of elements and text nodes, in one walk.

    Args:
        etree: the module of lxml.
        root: the document element, without references to entities.
        wanted: the locations to find.

    Returns:
        The spans of the locations that exist, and of all elements above them. Text is everything between the
        tags except comments and processing instructions. Positions count characters.
    """
    walk = _Walk(etree, wanted)
    walk.element(root, (), Counter())
    return walk.found


class _Walk:
    """Walk over the tree of an article, counting text and recording the spans of some locations."""

    def __init__(self, etree: Any, wanted: Iterable[Steps]) -> None:
        self.tostring = etree.tostring
        self.wanted = {steps[:n] for steps in wanted for n in range(1, len(steps) + 1)}
        self.found: dict[Steps, tuple[int, int]] = {}
        self.position = 0

    def element(self, element: Any, above: Steps, counts: Counter[str]) -> None:
        """Walk over an element. ``above`` is its parent, ``counts`` the children of the parent so far."""
        start = self.position
        here = self._step(above, qualified_name(element), counts)
        if here in self.wanted:
            inside: Counter[str] = Counter()
            self._text(element.text, here, inside)
            for child in element:
                # The tags of comments and processing instructions are functions.
                if isinstance(child.tag, str):
                    self.element(child, here, inside)
                self._text(child.tail, here, inside)
            self.found[here] = (start, self.position - start)
        else:
            # No location inside is wanted, so take the text of the element at once, which is fastest.
            self.position += len(self.tostring(element, method="text", encoding="unicode", with_tail=False))

    def _text(self, text: str | None, above: Steps, counts: Counter[str]) -> None:
        """Pass over a text node."""
        if text:
            here = self._step(above, _TEXT, counts)
            if here in self.wanted:
                self.found[here] = (self.position, len(text))
            self.position += len(text)

    @staticmethod
    def _step(above: Steps, name: str, counts: Counter[str]) -> Steps:
        counts[name] += 1
        return (*above, (name, counts[name]))


def qualified_name(element: Any) -> str:
    """Return the name of an element with its prefix, as in the article."""
    name: str = element.tag.rpartition("}")[2]
    return f"{element.prefix}:{name}" if element.prefix else name
