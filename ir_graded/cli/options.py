"""Options that several commands share, and options of statistics, derived from their functions."""

from __future__ import annotations

import inspect
import math
import re
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
from ir_graded.meta.options import OPTIONS, Number

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


def of(function: Callable[..., Any], *without: str) -> Callable[[Any], Any]:
    """Return a decorator that adds the options of a statistic to a command.

    Each parameter whose values ``meta.options`` knows becomes an option of the same name; ``rng`` is
    ``--seed``. Types, defaults and help come from the declaration, the signature and the docstring.
    """
    helps = _described(function.__doc__ or "")
    choices: dict[str, Any] = getattr(function, "choices", {})
    made = []
    for name, parameter in inspect.signature(function).parameters.items():
        kind = _type(name, choices.get(name), parameter.default)
        if kind is None or name in without:
            continue
        required = parameter.default is parameter.empty
        default = None if required else parameter.default
        flag = f"--{name}/--un{name}" if kind is bool else _FLAGS.get(name, f"--{name.replace('_', '-')}")
        settings = {"type": kind, "default": default, "required": required, "help": helps.get(name)}
        settings |= {"show_default": default is not None}
        made.append(click.option(flag, *_SHORT.get(name, ()), name, **settings))

    def add(command: Any) -> Any:
        for option in reversed(made):
            command = option(command)
        return command

    return add


_FLAGS = {"rng": "--seed"}
_SHORT = {"n_resamples": ("-B",)}
#: Parameters in units of a measure.
_IN_UNITS = {"difference", "tolerance"}
#: More replicates would not change printed digits, and may not fit into memory.
_MOST_REPLICATES = 10_000_000


def _type(name: str, choices: Iterable[str] | None, default: Any) -> Any:
    """Return the type of an option, None for parameters that become none."""
    if choices is not None:
        return click.Choice([*choices])
    if isinstance(default, bool):
        return bool
    if name == "rng":
        return click.IntRange(0)
    number = OPTIONS.get(name)
    if not isinstance(number, Number) or name == "memory_mib":
        return None
    if number.whole:
        most = _MOST_REPLICATES if name == "n_resamples" else number.high
        return click.IntRange(int(number.low), None if math.isinf(most) else int(most))
    kind = InUnits if name in _IN_UNITS else click.FloatRange
    ends: dict[str, Any] = {
        "min": number.low,
        "min_open": number.low_open,
        "max": number.high,
        "max_open": number.high_open,
    }
    known = {name: end for name, end in ends.items() if not math.isinf(ends[name[:3]])}
    return kind(**known) if known else click.FLOAT


def _described(docstring: str) -> dict[str, str]:
    """Return the first sentence on each parameter of a docstring, as the help of an option."""
    section = inspect.cleandoc(docstring).replace("\nAttributes:\n", "\nArgs:\n")
    section = section.partition("\nArgs:\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^    (\w+): (.*(?:\n     .*)*)", section, re.MULTILINE)
    first = {name: " ".join(text.split()).partition(". ")[0].removesuffix(".") for name, text in entries}
    described = {name: f"{text[:1].upper()}{text[1:]}.".replace("``", "") for name, text in first.items()}
    return described | {"rng": "Seed of all random numbers."}
