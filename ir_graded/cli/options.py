"""Options that several commands share."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import click
import ir_measures
from ir_measures.measures import Measure

from ir_graded.errors import GradedError, short_repr
from ir_graded.evaluation.evaluate import PROVIDERS
from ir_graded.io.paths import standard_input
from ir_graded.measures.params import TIES
from ir_graded.measures.parsing import read_measures

from .output import FORMATS


def _end_waits_on_interrupt(
    _context: click.Context, _option: click.Parameter, path: str | None
) -> str | None:
    """Let Ctrl-C end a wait for a pipe or for threads, as Python has it.

    Importing Polars makes the system resume a wait that a signal interrupts, so that Python notices Ctrl-C at
    its end only: https://github.com/pola-rs/polars/issues/21739. Programs that use the package as a library
    decide on this themselves.
    """
    if path and hasattr(signal, "siginterrupt"):
        import polars  # noqa: F401  # it would undo the next line later

        signal.siginterrupt(signal.SIGINT, True)
    return None if path is None else str(standard_input(path))


qrels = click.argument("qrels", callback=_end_waits_on_interrupt)
optional_qrels = click.argument("qrels", required=False, callback=_end_waits_on_interrupt)
measures = click.option(
    "-m",
    "--measures",
    multiple=True,
    required=True,
    metavar="MEASURES",
    help="Measures, separated by blanks: \"P-measure@1000 NCU(stop='gu', beta=0) nDCG@10\". May repeat.",
)
optional_measures = click.option(
    "-m", "--measures", multiple=True, metavar="MEASURES", help="Measures, separated by blanks. May repeat."
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


def _silence(_context: click.Context, _option: click.Parameter, quiet: bool) -> None:
    # main() restores the filters.
    if quiet:
        warnings.simplefilter("ignore")


quiet = click.option(
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=_silence,
    help="Print no warnings, such as on topics that runs lack.",
)
#: Replicates: a hundred times as many as change a printed digit, and what memory may hold.
resamples = click.option(
    "-B",
    "--resamples",
    type=click.IntRange(1, 10_000_000),
    default=1000,
    show_default=True,
    help="Replicates.",
)
provider = click.option(
    "--provider",
    type=click.Choice(list(PROVIDERS)),
    default="auto",
    show_default=True,
    help="Who computes ir-measures' own measures: this package where it can, or ir-measures.",
)


intents = click.option(
    "--intents",
    metavar="FILE",
    help="Probabilities of the intents in QRELS: lines of topic, intent, probability and perhaps inf or nav.",
)
lengths = click.option(
    "--lengths", type=click.Path(), help="Document lengths: CSV or Parquet with doc_id and length."
)
ties = click.option(
    "--ties",
    type=click.Choice(TIES.words),
    default=TIES.default,
    show_default=True,
    help="Order of documents with equal scores; expected is the mean over all orders.",
)

groups = click.option(
    "--groups",
    multiple=True,
    metavar="NAME=FILE",
    help="For GF and GFR: the shares of groups NAME in each document, lines of topic, document and a number "
    "for each group. May repeat.",
)


def judgments(qrels: str, intents: str | None, groups: Iterable[str]) -> Any:
    """Return qrels with the files of ``--intents`` and ``--groups``.

    Raises UsageError where a file of groups has no name, or a name has two.
    """
    judged: Any = qrels
    files: dict[str, str] = {}
    for text in groups:
        name, _, file = text.partition("=")
        if not name or not file or name in files:
            raise click.UsageError(f"--groups {short_repr(text)} must be NAME=FILE, with each NAME once")
        files[name] = file
    if files:
        from ir_graded.io.groups import with_groups

        judged = with_groups(qrels, files)
    if intents is not None:
        from ir_graded.io.intents import add_intents

        judged = add_intents(judged, intents)
    return judged


#: Characters that are compared with the names of measures.
_LONGEST_NAME = 60


def read(texts: Iterable[str]) -> list[Measure]:
    """Measures from options: split at blanks outside brackets. Raises UsageError for what names none."""
    return [measure for text in texts for name in _split(text) for measure in _read(name)]


def _read(name: str) -> list[Measure]:
    try:
        return read_measures(name)
    except GradedError:
        raise
    except (NameError, ValueError) as error:
        plain = name.partition("@")[0].partition("(")[0]
        near = get_close_matches(plain[:_LONGEST_NAME], ir_measures.measures.registry, 1, 0.6)
        hint = f"did you mean {near[0]}? " if near else ""
        raise click.UsageError(
            f"{short_repr(name)} is no measure ({error}); {hint}`ir_graded measures` lists this package's"
        ) from None


def _split(text: str) -> list[str]:
    names, begin, depth = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character.isspace() and depth <= 0:
            names.append(text[begin:at])
            begin = at + 1
    return [name for name in [*names, text[begin:]] if name]
