"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Iterable

import click

from .output import FORMATS

measures = click.option(
    "-m",
    "--measures",
    multiple=True,
    required=True,
    metavar="MEASURES",
    help="Measures, separated by blanks: \"P-measure@1000 NCU(stop='gu', beta=0) nDCG@10\". May repeat.",
)
by_topic = click.option(
    "-q", "--by-topic", is_flag=True, help="Print every topic, then the means as topic 'all'."
)
output = click.option(
    "-o", "--output", type=click.Choice(list(FORMATS)), default="table", show_default=True, help="Format."
)
places = click.option(
    "-p",
    "--places",
    type=click.IntRange(-1, 17),
    default=4,
    show_default=True,
    help="Decimal places; -1 for all digits.",
)


def split_measures(texts: Iterable[str]) -> list[str]:
    """Measure strings from options: split at blanks outside brackets."""
    return [name for text in texts for name in _split(text)]


def _split(text: str) -> list[str]:
    names, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character.isspace() and depth <= 0:
            names.append("")
        else:
            names[-1] += character
    return [name for name in names if name]
