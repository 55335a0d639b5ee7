"""Locations of elements in an article, such as ``/article[1]/p[2]``, and the spans of text that they name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeAlias

#: A location: names with their positions, from the document element down; the last may be text().
Steps: TypeAlias = tuple[tuple[str, int], ...]

_TEXT = "text()"
#: Steps of a path: libxml2 reads no deeper articles.
MAX_STEPS = 256
_NAME = r"""(?![0-9.-])[^\s/\[\]()@*'"|=<>+,$!:]+"""
_STEP = re.compile(rf"/(text\(\)|{_NAME}(?::{_NAME})?)(?:\[([1-9][0-9]{{0,8}})\])?")


def parse_location(path: str) -> Steps:
    """The steps of a path; none where it is no plain path from the document element down."""
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
    """First position and length of the text of elements and text nodes, in one walk over the article.

    Args:
        etree: the module of lxml.
        root: the document element; it holds no reference to an entity.
        wanted: the locations to look for.

    Returns:
        The spans of those that exist, and of all that lie above them. Text is what stands between the
        tags, without comments and processing instructions; positions are characters.
    """
    walk = _Walk(etree, wanted)
    walk.element(root, (), Counter())
    return walk.found


class _Walk:
    """A walk over an article's tree, which counts its text and notes the spans of some locations."""

    def __init__(self, etree: Any, wanted: Iterable[Steps]) -> None:
        self.tostring = etree.tostring
        self.wanted = {steps[:n] for steps in wanted for n in range(1, len(steps) + 1)}
        self.found: dict[Steps, tuple[int, int]] = {}
        self.position = 0

    def element(self, element: Any, above: Steps, counts: Counter[str]) -> None:
        """Walk over an element whose parent is ``above`` and has the children counted so far."""
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
            # The fastest way to all text of an element, and nothing in it is looked for.
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
    """The name of an element as the article has it, with its prefix."""
    name: str = element.tag.rpartition("}")[2]
    return f"{element.prefix}:{name}" if element.prefix else name
