"""Options that several commands share, and options that follow from the function of a command."""

from __future__ import annotations

import inspect
import io
import math
import os
import re
import signal
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial, reduce
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from ir_measures.measures import Measure

from ir_graded._utils.atomic_files import check_writable, write_whole
from ir_graded._utils.text_tables import FORMATS
from ir_graded.errors import CoverageWarning, short_repr
from ir_graded.evaluation.evaluate import BEYOND, OF_ROWS, ORDERS, evaluate
from ir_graded.evaluation.scores import Scores
from ir_graded.io.paths import is_file, run_files, standard_input
from ir_graded.io.run_names import runs_of_arguments
from ir_graded.io.sources import named_runs, opened, with_query_ids as given_query_ids
from ir_graded.io.text import line_text, read_text
from ir_graded.measures.params import RANKS
from ir_graded.measures.parsing import read_measures
from ir_graded.meta.options import OPTIONS, Number

from .output import WIDE


def _end_waits_on_interrupt(_context: click.Context, _option: click.Parameter, paths: Any) -> Any:
    """Let Ctrl-C end a wait for a pipe, as Python does by default.

    Importing Polars makes the system resume an interrupted wait, so that Python notices Ctrl-C only at its
    end: https://github.com/pola-rs/polars/issues/21739. The setting applies to the whole process, so it is
    changed only on the command line. Files are read in pieces, which have no long wait.
    """
    names = [paths] if isinstance(paths, str) else list(paths or [])
    found = [str(standard_input(name)) for name in names]
    if any(opened("run", name).is_read_once for name in found) and hasattr(signal, "siginterrupt"):
        import polars  # noqa: F401  # a later import would undo the next line

        signal.siginterrupt(signal.SIGINT, True)
    return found[0] if isinstance(paths, str) else paths


#: Whether runs are named by their tags, the file of ``--query-ids``, and the paths of RUNs.
_BY_TAG, _QUERY_IDS, _PATHS = "ir_graded.by_tag", "ir_graded.query_ids", "ir_graded.paths"


def _name_by(context: click.Context, _option: click.Parameter, names: str) -> None:
    context.meta[_BY_TAG] = names == "tag"


def _keep_query_ids(context: click.Context, _option: click.Parameter, path: str | None) -> None:
    context.meta[_QUERY_IDS] = path


def _named(context: click.Context, argument: click.Parameter, given: tuple[str, ...]) -> Any:
    """Return paths of runs, or their paths by name."""
    found = runs_of_arguments(given, context.meta[_BY_TAG])
    _end_waits_on_interrupt(context, argument, [*found.values()] if isinstance(found, dict) else found)
    return found


def _runs(context: click.Context, argument: click.Parameter, given: tuple[str, ...]) -> Any:
    """Return paths of runs, or runs by name; with ``--query-ids`` they are read."""
    context.meta[_PATHS] = found = _named(context, argument, given)
    return with_query_ids(found) if found else found


def one_path(context: click.Context, argument: click.Parameter, given: str) -> Any:
    """Return the path of a run or the name of another as given, or the path of one run by name."""
    found = _named(context, argument, (given,))
    return found if isinstance(found, dict) and found != {given: given} else given


def one_run(context: click.Context, argument: click.Parameter, given: str | None) -> Any:
    """Return the path of a run as given, or one run by name; with ``--query-ids`` it is read."""
    return None if given is None else with_query_ids(one_path(context, argument, given))


class InUnits(click.FloatRange):
    """A number in units of a measure."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number. Raises BadParameter that names the units, for example for 5%."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            message = f"{error.message.rstrip('.')}; give it in units of the measure, for example 0.005"
            self.fail(message, param, ctx)


def _silence(_context: click.Context, _option: click.Parameter, quiet: bool) -> None:
    # main() restores the filters.
    if quiet:
        warnings.simplefilter("ignore")


def _widen(context: click.Context, _option: click.Parameter, wide: bool) -> None:
    context.meta[WIDE] = wide


def stacked(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator that adds several options to a command, in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


_FLAGS = {"rng": "--seed"}
_SHORT = {"n_resamples": ("-B",)}
#: Words of options of functions that are not statistics.
_WORDS: dict[str, Collection[str]] = {"ties": ORDERS, "ranks": RANKS.words, "beyond": BEYOND}
_WORDS |= {name: OF_ROWS[name] for name in ("duplicates", "without_relevant")}
#: Parameters in units of a measure.
_IN_UNITS = {"difference", "tolerance"}
#: More replicates would not change printed digits, and may not fit into memory.
_MOST = {"n_resamples": 10_000_000, "n_samples": 1_000_000, "depth": math.inf}


def of(
    function: Callable[..., Any], *without: str, only: Collection[str] | None = None
) -> Callable[[Any], Any]:
    """Return a decorator that adds the options of a function to a command.

    Each parameter whose values ``meta.options`` knows becomes an option of the same name; ``rng`` is
    ``--seed``. Types, defaults and help come from the declaration, the signature and the docstring.
    """
    helps = _described(function.__doc__ or "")
    words = _WORDS | getattr(function, "choices", {})
    made = []
    for name, parameter in inspect.signature(function).parameters.items():
        required = parameter.default is parameter.empty
        default = None if required else parameter.default
        kind = _type(name, words.get(name), default)
        if kind is None or name in without or (only is not None and name not in only):
            continue
        flag = f"--{name}/--un{name}" if default is True else _FLAGS.get(name, f"--{name.replace('_', '-')}")
        settings = {"type": kind, "default": default, "required": required, "help": helps.get(name)}
        settings |= {"is_flag": kind is bool or None}
        settings |= {"show_default": default is not None}
        made.append(click.option(flag, *_SHORT.get(name, ()), name, **settings))
    return stacked(*made)


def _type(name: str, words: Iterable[str] | None, default: Any) -> Any:
    """Return the type of an option, None for parameters that become none."""
    if words is not None:
        return click.Choice([*words])
    if isinstance(default, bool):
        return bool
    if name == "rng":
        return click.IntRange(0)
    number = OPTIONS.get(name)
    if not isinstance(number, Number) or name == "memory_mib":
        return None
    ends: dict[str, Any] = {}
    if math.isfinite(low := number.low if default is None else min(number.low, default)):
        ends |= {"min": low, "min_open": number.low_open}
    if math.isfinite(high := _MOST.get(name, number.high)):
        ends |= {"max": high, "max_open": number.high_open}
    if not ends:
        return click.FLOAT
    return (click.IntRange if number.whole else InUnits if name in _IN_UNITS else click.FloatRange)(**ends)


def _described(docstring: str) -> dict[str, str]:
    """Return the first sentence on each parameter of a docstring, as the help of an option."""
    section = inspect.cleandoc(docstring).replace("\nAttributes:\n", "\nArgs:\n")
    section = section.partition("\nArgs:\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^    (\w+): (.*(?:\n     .*)*)", section, re.MULTILINE)
    first = {name: " ".join(text.split()).partition(". ")[0].removesuffix(".") for name, text in entries}
    described = {name: f"{text[:1].upper()}{text[1:]}.".replace("``", "") for name, text in first.items()}
    return described | {"rng": "Seed of all random numbers."}


_measures = partial(click.option, "-m", "--measures", multiple=True, metavar="MEASURES")
_EXAMPLE = "\"P-measure@1000 NCU(stop='gu', beta=0) nDCG@10\""

qrels = click.argument("qrels", callback=_end_waits_on_interrupt)
optional_qrels = click.argument("qrels", required=False, callback=_end_waits_on_interrupt)
names = click.option(
    "--names",
    type=click.Choice(["file", "tag"]),
    default="file",
    show_default=True,
    expose_value=False,
    is_eager=True,
    callback=_name_by,
    help="Name runs by their files or by their tags, the last column. NAME=FILE in place of a RUN names it.",
)
query_ids = click.option(
    "--query-ids",
    type=click.Path(),
    expose_value=False,
    is_eager=True,
    callback=_keep_query_ids,
    help="For responses of a search engine in a list, as those of _msearch: the topic of each, one a line, "
    "in this order. RUNs in other formats name their topics themselves.",
)
#: Options on how RUNs are named and read.
_of_runs = stacked(names, query_ids)
_argument = partial(click.argument, "runs", nargs=-1)
runs = stacked(_argument(required=True, metavar="RUN...", callback=_runs), _of_runs)
optional_runs = stacked(_argument(metavar="[RUN...]", callback=_runs), _of_runs)
#: Runs that the command reads, by :func:`with_query_ids`, once it knows their names.
optional_paths = stacked(_argument(metavar="[RUN...]", callback=_named), _of_runs)
#: An argument of one run.
run = stacked(click.argument("run", callback=one_run), _of_runs)
measures = _measures(required=True, help=f"Measures separated by blanks: {_EXAMPLE}. Repeatable.")
optional_measures = _measures(help="Measures separated by blanks. Repeatable.")
ties = of(evaluate, only=["ties", "ranks"])
lengths = click.option(
    "--lengths", type=click.Path(), help="Document lengths: CSV or Parquet with doc_id and length."
)
intents = click.option(
    "--intents",
    metavar="FILE",
    help="Probabilities of intents in QRELS: lines of topic, intent, probability and optionally inf or nav.",
)
nuggets = click.option(
    "--nuggets",
    metavar="FILE",
    help="Nuggets with their importance, for NuggetR and U: JSON Lines of nuggetizer, or CSV or Parquet with "
    "query_id, nugget and importance.",
)
groups = click.option(
    "--groups",
    multiple=True,
    metavar="NAME=FILE",
    help="For GF and GFR: shares of the groups of attribute NAME in each document; lines of topic, document "
    "and a number per group. Repeatable.",
)
#: Files that add columns to QRELS.
of_qrels = stacked(intents, nuggets, groups)
#: How runs are scored.
scored = stacked(of(evaluate), lengths, of_qrels)
weights = click.option(
    "--weights",
    metavar="FILE",
    help="Weights of topics, such as their traffic. FILE: lines of topic and weight, or CSV or TSV with a "
    "header and a column weight.",
)
slices = click.option(
    "--slices",
    metavar="FILE",
    help="Also test each slice of topics separately. FILE: lines of topic and slice, separated by blanks, or "
    "by tabs or commas if topics hold blanks.",
)
clusters = click.option(
    "--clusters",
    metavar="FILE",
    help="Clusters of topics that belong together, such as variants of a query. FILE: lines of topic and "
    "cluster, or CSV or TSV with a header.",
)


class Written(click.Path):
    """A file that a command writes."""


save = click.option("--save", type=Written(), help="JSON file to write all scores to, for other commands.")
by_topic = click.option(
    "-q", "--by-topic", is_flag=True, help="Print each topic, then the means as topic 'all'."
)
places = click.option(
    "-p",
    "--places",
    type=click.IntRange(-1, 17),
    default=4,
    show_default=True,
    help="Decimal places; -1 for all digits.",
)
_at_once = partial(click.option, is_flag=True, expose_value=False, is_eager=True)
wide = _at_once(
    "--wide", callback=_widen, help="With -o table: do not fit tables into the width of the terminal."
)
quiet = _at_once(
    "--quiet", callback=_silence, help="Do not print warnings, such as those on topics that runs lack."
)


def output(formats: Iterable[str], text: str = "Output format.") -> Callable[[Any], Any]:
    """Return the option of the format of what a command prints, by default a table."""
    choice = click.Choice([*formats])
    return click.option("-o", "--output", type=choice, default="table", show_default=True, help=text)


#: Options of all commands that print tables, and of those with tables of few columns.
table = stacked(output(FORMATS), places, wide, quiet)
narrow_table = stacked(output(FORMATS), places, quiet)


def runs_as_typed() -> list[str]:
    """Return the RUNs of the command, and the option that tells how to read them, as words of the shell."""
    found = click.get_current_context().meta
    paths, query_ids = found[_PATHS], found[_QUERY_IDS]
    words = paths if isinstance(paths, list) else [f"{name}={path}" for name, path in paths.items()]
    return [*words, *([] if query_ids is None else ["--query-ids", query_ids])]


def named_files(texts: Iterable[str], option: str = "") -> dict[str, str]:
    """Return files by their names, of texts NAME=FILE. Raises UsageError for another one."""
    files: dict[str, str] = {}
    for text in texts:
        name, _, file = text.partition("=")
        if not name or not file or name in files:
            raise click.UsageError(f"{option}{short_repr(text)} must be NAME=FILE, each NAME once")
        files[name] = file
    return files


def judgments(qrels: str, intents: str | None, nuggets: str | None, groups: Iterable[str]) -> Any:
    """Return qrels with the files of ``--intents``, ``--nuggets`` and ``--groups``."""
    files = named_files(groups, "--groups ")
    if not files and intents is None and nuggets is None:
        return qrels
    from ir_graded.io.annotations import add_intents, add_nuggets, with_groups

    judged = opened("qrels", with_groups(qrels, files) if files else qrels).table()
    judged = judged if intents is None else add_intents(judged, intents)
    if nuggets is None:
        return judged
    judged, note = add_nuggets(judged, nuggets)
    if note:
        warnings.warn(note, CoverageWarning, stacklevel=2)
    return judged


def has_query_ids() -> bool:
    """Return whether the command has ``--query-ids``."""
    return click.get_current_context().meta.get(_QUERY_IDS) is not None


def with_query_ids(runs: Any) -> Any:
    """Return runs, those of responses with the topics in the file of ``--query-ids``."""
    path = click.get_current_context().meta.get(_QUERY_IDS)
    if path is None:
        return runs
    lines = (line_text(raw, at, path) for at, raw in enumerate(io.BytesIO(read_text(path)), 1))
    ids = [line.strip() for line in lines if line.strip()]
    named = named_runs(runs)
    found = given_query_ids(named, ids)
    if found == named:
        raise click.UsageError("--query-ids needs a RUN with responses of a search engine (JSON)")
    return found


def read(texts: Iterable[str]) -> list[Measure]:
    """Return the measures in options."""
    return read_measures(texts)


def check_written() -> None:
    """Raise an error, before any work, if a file to write cannot be written, or is one that is read."""
    context = click.get_current_context()
    params: dict[bool, list[Any]] = {True: [], False: [context.meta.get(one) for one in (_PATHS, _QUERY_IDS)]}
    for param in context.command.params:
        params[isinstance(param.type, Written)].append(context.params.get(str(param.name)))
    read = {Path(os.path.realpath(file)) for value in params[False] for file in _files(value)}
    for path in filter(None, params[True]):
        if check_writable(path) in read:
            raise click.UsageError(f"{path} is a file that the command reads; give another name to write")


def _files(value: Any) -> Iterator[str]:
    """Yield the files that the value of an option may name."""
    if isinstance(value, (list, tuple, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _files(one)
    elif isinstance(value, str) and value:
        for name in (value, value.partition("=")[2]):  # NAME=FILE
            if is_file(name):
                yield name
                yield from map(str, run_files(name) if Path(name).is_dir() else ())


def save_scores(scores: Scores, path: str | None) -> None:
    """Write scores to the file of ``--save``."""
    if path is not None:
        write_whole(check_writable(path), scores.to_json().encode())


def given(*names: str) -> list[str]:
    """Return the options, among those that set some parameters, that the user has given."""
    context = click.get_current_context()
    params = [param for param in context.command.params if param.name in names]
    typed = ParameterSource.COMMANDLINE
    return [param.opts[0] for param in params if context.get_parameter_source(str(param.name)) is typed]
