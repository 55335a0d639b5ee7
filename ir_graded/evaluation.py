"""``evaluate``: measures of all kinds, qrels of any form, several runs, one table of scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from .classics import Scorer
from .errors import InputError, NoSharedTopicsError, ParameterError, shown
from .grammar import read_measures
from .inputs.named_runs import check_shared_topics, named_runs
from .inputs.sources import is_place, judgments_of, table_of, to_read_again
from .measures import GradedMeasure
from .other_providers import OtherEvaluator
from .parallel import Result, in_threads, processors
from .progress import hidden
from .provider import GradedEvaluator, own
from .scores import Scores
from .segments import Floats


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
        raise ParameterError(f"provider={shown(provider)} must be {' or '.join(map(repr, PROVIDERS))}")
    order = read_measures(measures)
    if not order:
        raise ParameterError("no measure given: for example ['P-measure', 'Q', 'nDCG@10']")
    judgments = judgments_of(qrels)
    if not judgments.names:
        raise NoSharedTopicsError("the qrels are empty: there is no topic to evaluate")
    scorers = PROVIDERS[provider](order)
    graded = GradedEvaluator(scorers, judgments)
    left = [measure for measure in order if measure not in scorers]
    other = OtherEvaluator(left, judgments) if left else None
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


def _scores(
    graded: GradedEvaluator, other: OtherEvaluator | None, name: str, run: Any, threads: int
) -> dict[Measure, Floats]:
    """Scores of one run by all measures."""
    run = to_read_again("run", run)
    # A file that nobody else asks for need not be held as a whole.
    if other is not None and not isinstance(run, Mapping):
        run = table_of("run", run)
    hits = graded.hits(run, threads)
    if not hits.n_retrieved.any():
        check_shared_topics(graded.judgments, name, run)
    scored = graded.scores_of(hits)
    return scored if other is None else scored | other.scores_of(run)


def _with_progress(scored: Iterable[Result], runs: int, progress: bool | None) -> Iterable[Result]:
    """What comes for each run, with a progress bar where there are several and someone to see it."""
    if runs <= 1 or progress is False:
        return scored
    from tqdm import tqdm

    bar: Iterable[Result] = tqdm(
        scored, total=runs, desc="evaluating", unit="run", leave=False, disable=hidden(progress)
    )
    return bar
