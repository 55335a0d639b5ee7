"""``evaluate``: measures of all kinds, qrels of any form, several runs, one table of scores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
from ir_measures.measures import Measure, ParamInfo

from .classics import Scorer
from .composition import needs_subtopics
from .errors import InputError, NoSharedTopicsError, ParameterError, shown
from .grammar import read_measures
from .inputs import upstream
from .inputs.datasets import is_dataset
from .inputs.ids import as_text
from .inputs.judgments import Judgments
from .inputs.sources import is_file, is_place, judgments_of, table_of
from .inputs.table import describe_document
from .measures import GradedMeasure
from .parallel import Result, in_threads, processors
from .progress import hidden
from .provider import GradedEvaluator, own
from .scores import Scores
from .segments import Floats

_COMPRESSED = {".gz", ".zst", ".xz"}
_HIGHEST = 1 << 20  # level that the other providers are asked about
_SHOWN = 3  # ids of each side in an error


def _graded_only(measures: list[Measure]) -> dict[Measure, Scorer]:
    return {measure: measure for measure in measures if isinstance(measure, GradedMeasure)}


#: Which of the measures are scored here, by the choice of ``provider``; all others go to ir-measures.
PROVIDERS: dict[str, Callable[[list[Measure]], dict[Measure, Scorer]]] = {
    "auto": own,
    "upstream": _graded_only,
}


def evaluate(
    measures: Iterable[str | Measure] | str | Measure,
    qrels: Any,
    runs: Any,
    *,
    progress: bool | None = None,
    provider: str = "auto",
) -> Scores:
    """Score runs by measures of this package and of ir-measures.

    AP, RR, nDCG, P, R, Rprec, Success, Bpref, RBP, ERR, Judged, NumRet, NumRel, NumQ, SetP, SetR and SetF
    are computed here, in the same pass, with the values of ir-measures' providers. They take levels that are
    no whole numbers as they are; the other providers of ir-measures refuse such.

    Args:
        measures: measure objects and strings, mixed: ``["P-measure@1000", nDCG@10, "map"]``.
        qrels: a dict of dicts, a pandas or Polars frame or Arrow table (query_id, doc_id, relevance), an
            iterable of named tuples, a path to a file (TREC or NTCIR, compressed or not), or a dataset of
            ir_datasets or its id.
        runs: one run in any of these forms (score in place of relevance; of a dataset its scoreddocs),
            a list of paths, or a mapping from names to runs. A path gives its file name as the run's; that of
            a folder stands for the files in it.
        progress: whether to show a progress bar over several runs; by default on a terminal only.
        provider: 'auto', or 'upstream' to leave ir-measures' own measures to its other providers.

    Returns:
        The scores of all runs on all topics of the qrels; a topic that a run lacks scores 0.

    Raises:
        NoSharedTopicsError: the qrels are empty, or a run has none of their topics.
        InputError: something in the qrels or in a run cannot be scored; the message says where.
        ValueError: a measure cannot be read or is not supported, or ``provider`` is neither word.
        NameError: a measure's name is unknown.

    Example:
        >>> import ir_graded
        >>> scores = ir_graded.evaluate(["Q", "AP"], {"1": {"a": 2}}, {"1": {"x": 2.0, "a": 1.0}})
        >>> scores.mean()
                Q   AP
        run
        run  0.75  0.5
    """
    if provider not in PROVIDERS:
        raise ParameterError(f"provider={provider!r} must be {' or '.join(map(repr, PROVIDERS))}")
    order = read_measures(measures)
    if not order:
        raise ParameterError("no measure given: for example ['P-measure', 'Q', 'nDCG@10']")
    judgments = judgments_of(qrels)
    if not judgments.names:
        raise NoSharedTopicsError("the qrels are empty: there is no topic to evaluate")
    scorers = PROVIDERS[provider](order)
    graded = GradedEvaluator(scorers, judgments)
    other = _other_evaluator([measure for measure in order if measure not in scorers], judgments)
    named = named_runs(runs)
    values = np.zeros((len(order), len(named), len(judgments.names)))
    # Several runs at the same time make better use of the processors than the parts of one; but ir-measures'
    # other providers do not promise to take two at a time.
    at_once = 1 if len(named) == 1 or other is not None else processors()

    def scores_of(item: tuple[str, Any]) -> dict[Measure, Floats]:
        name, run = item
        try:
            return _scores(graded, other, name, run, threads=1 if at_once > 1 else processors())
        except InputError as error:
            if len(named) == 1 or is_place(run):
                raise
            raise type(error)(f"run {name!r}: {error}") from error

    scored = in_threads(scores_of, named.items(), at_once)
    for at, scores in enumerate(_with_progress(scored, len(named), progress)):
        for position, measure in enumerate(order):
            values[position, at] = scores[measure]
    return Scores(tuple(named), tuple(order), tuple(judgments.query_ids), values)


def _other_evaluator(measures: list[Measure], judgments: Judgments) -> Any:
    """The other providers' evaluator, which sees the qrels with ids as text and whole levels as ints."""
    if not measures:
        return None
    for measure in measures:
        check_parameters(measure)
    _check_whole_levels(measures, judgments)
    for measure in filter(needs_subtopics, measures):
        raise InputError(f"{measure} needs qrels by subtopic, which evaluate lacks: use ir_measures.calc")
    with _saying_whose(measures):
        return ir_measures.evaluator(measures, upstream.qrels_dicts(judgments))


@contextmanager
def _saying_whose(measures: Iterable[Measure]) -> Iterator[None]:
    """What the other providers' own code trips over as ParameterError; what they say to users as it is."""
    try:
        yield
    except (ValueError, OSError, ImportError, RuntimeError):
        raise
    except Exception as error:
        names = ", ".join(map(str, measures))
        raise ParameterError(
            f"ir-measures' providers cannot compute one of {names}: {type(error).__name__}: {error}"
        ) from error


def check_parameters(measure: Measure) -> None:
    """Raise ParameterError where a measure of ir-measures has parameters that it cannot have."""
    for name, value in measure.params.items():
        # pytrec_eval ends the process where a cutoff is 0.
        if not _fits_a_provider(value, measure.SUPPORTED_PARAMS[name]) or (name == "cutoff" and value == 0):
            raise ParameterError(f"{measure.NAME}: {name}={shown(value)} is no value that it takes")
    for name, param in measure.SUPPORTED_PARAMS.items():
        if param.required and name not in measure.params:
            raise ParameterError(f"{measure} needs a {name}: for example {measure.NAME}@10")
        if name in measure.params and not param.validate(measure.params[name]):
            raise ParameterError(
                f"{measure.NAME}: {name}={shown(measure.params[name])} is not what it takes ({param.desc})"
            )


def _fits_a_provider(value: object, param: ParamInfo) -> bool:
    """Whether whole numbers, in dicts too, are within 64 bits, and truth values stand where one is wanted."""
    if isinstance(value, Mapping):
        return all(_fits_a_provider(part, param) for pair in value.items() for part in pair)
    if isinstance(value, bool):
        return param.dtype is bool
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def _check_whole_levels(measures: list[Measure], judgments: Judgments) -> None:
    """Raise InputError where a level is no whole number, or one to which pytrec_eval makes a huge table."""
    levels = judgments.levels
    refused = (levels.values != np.floor(levels.values)) | (np.abs(levels.values) > _HIGHEST)
    if refused[levels.grade].any():
        row = int(np.flatnonzero(refused[levels.grade])[0])
        where = describe_document(judgments.names[levels.topic[row]], judgments.doc_ids[row])
        names = ", ".join(map(str, measures))
        level = levels.values[levels.grade[row]]
        only = f"levels to {_HIGHEST}" if abs(level) > _HIGHEST else "whole levels"
        raise InputError(f"qrels: {where} has level {level:g}: {names} take {only} only")


def _scores(graded: GradedEvaluator, other: Any, name: str, run: Any, threads: int) -> dict[Measure, Floats]:
    """Scores of one run by all measures."""
    judgments = graded.judgments
    # A file that nobody else asks for need not be held as a whole.
    if not isinstance(run, Mapping) and not (other is None and is_file(run)):
        run = table_of("run", run)
    hits = graded.hits(run, threads)
    if not hits.n_retrieved.any():
        check_shared_topics(judgments, name, run if isinstance(run, Mapping) else table_of("run", run))
    scored = graded.scores_of(hits)
    if other is not None:
        scored |= {
            measure: np.full(len(judgments.names), measure.DEFAULT, dtype=float) for measure in other.measures
        }
        with _saying_whose(other.measures):
            for metric in other.iter_calc(upstream.run_dicts(judgments, run)):
                # A provider may yield topics that only the run has.
                if metric.query_id in judgments.number:
                    scored[metric.measure][judgments.number[metric.query_id]] = metric.value
    return scored


def check_shared_topics(judgments: Judgments, name: str, run: Any) -> None:
    """Raise NoSharedTopicsError where the run has topics, but none of the qrels'."""
    topics = (
        [as_text(topic) for topic in run]
        if isinstance(run, Mapping)
        else run.query_id.unique().drop_nulls().to_list()
    )
    if topics and judgments.number.keys().isdisjoint(topics):
        raise NoSharedTopicsError(
            f"run {name!r} and the qrels share no topic: "
            f"the run has {_some(topics)}, the qrels have {_some(judgments.names)}"
        )


def _some(ids: list[str]) -> str:
    return ", ".join(map(repr, sorted(ids)[:_SHOWN])) + (" ..." if len(ids) > _SHOWN else "")


def named_runs(runs: Any) -> dict[str, Any]:
    """Runs by name, from one run, a path, a list of paths or runs, or a mapping from names."""
    if isinstance(runs, Mapping):
        return _by_name(runs) if _names_runs(runs) else {"run": runs}
    if is_place(runs):
        return _by_path([runs])
    if isinstance(runs, (list, tuple)) and runs and not hasattr(runs, "_fields"):
        if all(is_place(run) for run in runs):
            return _by_path(runs)
        if not any(hasattr(run, "_fields") for run in runs):
            return {f"run {number}": run for number, run in enumerate(runs, start=1)}
    return {"run": runs}


def _names_runs(runs: Mapping[Any, Any]) -> bool:
    """Whether a mapping goes from names to runs, rather than being one run (topic -> doc_id -> score)."""
    return any(map(_is_run, runs.values()))


def _is_run(value: Any) -> bool:
    """Whether a value can only be a run: not a topic's dict, nor a number where such a dict should be."""
    if isinstance(value, Mapping):
        # One tells: the topics of a run all hold documents, or its documents scores.
        return isinstance(next(iter(value.values()), None), Mapping)
    return (
        is_place(value) or is_dataset(value) or hasattr(value, "__iter__") or hasattr(type(value), "columns")
    )


def _by_name(runs: Mapping[Any, Any]) -> dict[str, Any]:
    try:
        named = {str(name): run for name, run in runs.items()}
    except ValueError:
        raise InputError("a run is named by an int of too many digits: give its name as text") from None
    if len(named) < len(runs):
        names = list(map(str, runs))
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two runs have the same name as text: {twice!r}")
    return named


def _by_path(paths: Iterable[str | os.PathLike[str]]) -> dict[str, Any]:
    """Runs by file name, without the ending of a compression; by path where file names repeat."""
    given = [os.fspath(file) for path in paths for file in _files(path)]
    names = [Path(path).stem if Path(path).suffix in _COMPRESSED else Path(path).name for path in given]
    unique = [name if names.count(name) == 1 else path for name, path in zip(names, given, strict=True)]
    if len(set(unique)) < len(unique):
        twice = next(name for name in unique if unique.count(name) > 1)
        raise InputError(f"the run {twice} is given twice")
    return dict(zip(unique, given, strict=True))


def _files(path: str | os.PathLike[str]) -> list[str | os.PathLike[str]]:
    """The files of a folder, sorted by name and without hidden ones; anything else is itself."""
    if not os.fspath(path):
        raise InputError("the path of a run is empty")
    if not Path(path).is_dir():
        return [path]
    files = [file for file in sorted(Path(path).iterdir()) if not file.is_dir() and file.name[0] != "."]
    if not files:
        raise InputError(f"the folder {os.fspath(path)} holds no file")
    return [*files]


def _with_progress(scored: Iterable[Result], runs: int, progress: bool | None) -> Iterable[Result]:
    """What comes for each run, with a progress bar where there are several and someone to see it."""
    if runs <= 1 or progress is False:
        return scored
    from tqdm import tqdm

    bar: Iterable[Result] = tqdm(
        scored, total=runs, desc="evaluating", unit="run", leave=False, disable=hidden(progress)
    )
    return bar
