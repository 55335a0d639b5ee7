"""Options that several commands share."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import click
from ir_measures.measures import Measure

from ir_graded.errors import short_repr
from ir_graded.evaluation.evaluate import PROVIDERS
from ir_graded.io.text import standard_input
from ir_graded.measures.params import TIES
from ir_graded.measures.parsing import read_measures

from .output import FORMATS


def _end_waits_on_interrupt(
    _context: click.Context, _option: click.Parameter, path: str | None
) -> str | None:
    """Let Ctrl-C end a wait for a pipe or for threads, as Python does by default.

    Importing Polars makes the system resume an interrupted wait, so that Python notices Ctrl-C only at its
    end: https://github.com/pola-rs/polars/issues/21739. The setting applies to the whole process, so it is
    changed only on the command line.
    """
    if path and hasattr(signal, "siginterrupt"):
        import polars  # noqa: F401  # a later import would undo the next line

        signal.siginterrupt(signal.SIGINT, True)
    return None if path is None else str(standard_input(path))


class InUnits(click.FloatRange):
    """A number in units of a measure."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number. Raises BadParameter that names the units, for example for 5%."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            message = f"{error.message.rstrip('.')}; give it in units of the measure, for example 0.005"
            self.fail(message, param, ctx)


qrels = click.argument("qrels", callback=_end_waits_on_interrupt)
optional_qrels = click.argument("qrels", required=False, callback=_end_waits_on_interrupt)
measures = click.option(
    "-m",
    "--measures",
    multiple=True,
    required=True,
    metavar="MEASURES",
    help="Measures separated by blanks: \"P-measure@1000 NCU(stop='gu', beta=0) nDCG@10\". Repeatable.",
)
optional_measures = click.option(
    "-m", "--measures", multiple=True, metavar="MEASURES", help="Measures separated by blanks. Repeatable."
)
by_topic = click.option(
    "-q", "--by-topic", is_flag=True, help="Print each topic, then the means as topic 'all'."
)
output = click.option(
    "-o",
    "--output",
    type=click.Choice(list(FORMATS)),
    default="table",
    show_default=True,
    help="Output format.",
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
    help="Do not print warnings, such as those on topics that runs lack.",
)
provider = click.option(
    "--provider",
    type=click.Choice(list(PROVIDERS)),
    default="auto",
    show_default=True,
    help="Provider of the measures of ir-measures: this package where possible, or ir-measures.",
)


intents = click.option(
    "--intents",
    metavar="FILE",
    help="Probabilities of intents in QRELS: lines of topic, intent, probability and optionally inf or nav.",
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
    help="For GF and GFR: shares of the groups of attribute NAME in each document; lines of topic, document "
    "and a number per group. Repeatable.",
)


def judgments(qrels: str, intents: str | None, groups: Iterable[str]) -> Any:
    """Return qrels with the files of ``--intents`` and ``--groups``.

    Raises UsageError if a file of groups has no name, or if two files have the same name.
    """
    judged: Any = qrels
    files: dict[str, str] = {}
    for text in groups:
        name, _, file = text.partition("=")
        if not name or not file or name in files:
            raise click.UsageError(f"--groups {short_repr(text)} must be NAME=FILE, each NAME once")
        files[name] = file
    if files:
        from ir_graded.io.sources import with_groups

        judged = with_groups(qrels, files)
    if intents is not None:
        from ir_graded.io.sources import add_intents

        judged = add_intents(judged, intents)
    return judged


def read(texts: Iterable[str]) -> list[Measure]:
    """Return the measures in options."""
    return read_measures(texts)


def resamples(default: int = 1000) -> Callable[[Any], Any]:
    """Return the option for the number of replicates."""
    # More replicates than the limit would not change printed digits, and may not fit into memory.
    return click.option(
        "-B",
        "--resamples",
        type=click.IntRange(1, 10_000_000),
        default=default,
        show_default=True,
        help="Number of replicates.",
    )
