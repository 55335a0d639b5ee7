"""Options that several commands share."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterable
from typing import Any

import click
from ir_measures.measures import Measure

from ir_graded.errors import short_repr
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


def read(texts: Iterable[str]) -> list[Measure]:
    """Return the measures in options."""
    return read_measures(texts)
