"""``evaluate``: measures of all kinds, qrels of any form, several runs, one table of scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_graded._utils.progress import hidden
from ir_graded._utils.threads import Result, in_threads, processors
from ir_graded.core.hits import Hits, Levels
from ir_graded.core.segments import Floats
from ir_graded.errors import GradedError, InputError, NoSharedTopicsError, ParameterError, shown
from ir_graded.io.named_runs import named_runs
from ir_graded.io.sources import ensure_rereadable, is_path_or_dataset_id, is_read_once, table_of
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import check_shared_topics, hits_of, judgments_of
from ir_graded.measures import GradedMeasure
from ir_graded.measures.classic import Scorer
from ir_graded.measures.parsing import read_measures

from .coverage import LOWEST_JUDGED, Coverage, Judged, RunCoverage, Shares, judged_shares
from .other_providers import OtherEvaluator
from .provider import GradedEvaluator, own
from .scores import Scores


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

    Warns:
        CoverageWarning: a run lacks topics of the qrels, is empty, holds no judged document or gives all
            documents of a topic one score, or nothing in the qrels is relevant; once per call.
            ``Scores.coverage`` has the counts.

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
    evaluation = _Evaluation(order, judgments, provider)
    named = named_runs(runs)
    values = np.zeros((len(order), len(named), len(judgments.names)))
    # Several runs at the same time make better use of the processors than the parts of one; but ir-measures'
    # other providers do not promise to take two at a time.
    at_once = 1 if len(named) == 1 or evaluation.other is not None else processors()

    def scored_of(item: tuple[str, Any]) -> _Scored:
        name, run = item
        try:
            return evaluation.scored(name, run, threads=1 if at_once > 1 else processors())
        except InputError as error:
            if len(named) == 1 or is_path_or_dataset_id(run):
                raise
            raise type(error)(f"run {name!r}: {error}") from error

    found = []
    for at, scored in enumerate(
        _with_progress(in_threads(scored_of, named.items(), at_once), len(named), progress)
    ):
        for position, measure in enumerate(order):
            values[position, at] = scored.values[measure]
        found.append(scored)
    recount = _Recount(
        judgments if is_read_once(qrels) else qrels,
        [*named.values()],
        evaluation.lowest,
        [one.mark for one in found],
    )
    coverage = Coverage(
        tuple(named),
        tuple(one.coverage for one in found),
        len(judgments.names),
        evaluation.rel,
        evaluation.has_relevant,
        Judged([one.shares for one in found], recount),
    )
    coverage.warn()
    return Scores(tuple(named), tuple(order), tuple(judgments.query_ids), values, coverage)


@dataclass(frozen=True, eq=False)
class _Scored:
    """One run, scored.

    Attributes:
        values: a score a topic for each measure.
        coverage: how the run fits the qrels.
        shares: shares of judged documents, where they are known without more ado.
        mark: tells the hits of the run from those of another.
    """

    values: dict[Measure, Floats]
    coverage: RunCoverage
    shares: Shares | None
    mark: int


class _Evaluation:
    """Scores runs by measures of all kinds.

    Attributes:
        other: ir-measures' other providers; None where they have nothing to do.
        rel: the lowest level that any of the measures takes for relevant; inf where none asks.
        lowest: the lowest level whose documents are looked for in runs.
        has_relevant: whether a document of the qrels is relevant to any of the measures that ask.
    """

    def __init__(self, measures: list[Measure], judgments: Judgments, provider: str) -> None:
        scorers = PROVIDERS[provider](measures)
        self.judgments = judgments
        self.graded = GradedEvaluator(scorers, judgments)
        left = [measure for measure in measures if measure not in scorers]
        self.other = OtherEvaluator(left, judgments) if left else None
        rels = [scorer.lowest_rel for scorer in scorers.values()]
        if self.other is not None:
            rels.append(self.other.lowest_rel)
        self.rel = min(rels)
        self.lowest = min(self.rel, self.graded.lowest)
        levels = judgments.levels.values
        self.has_relevant = np.isinf(self.rel) or bool(levels.size and levels[-1] >= self.rel)
        from_, below = levels.searchsorted([LOWEST_JUDGED, self.lowest]).tolist()
        self._finds_judged = from_ >= below

    def scored(self, name: str, given: Any, threads: int) -> _Scored:
        """Scores of one run by all measures, and what there is to say of it."""
        run = ensure_rereadable("run", given)
        # A file that nobody else asks for need not be held as a whole.
        if self.other is not None and not isinstance(run, Mapping):
            run = table_of("run", run)
        # What comes only once cannot be asked for its judged documents later.
        finds_judged = self._finds_judged or is_read_once(given)
        hits = self.graded.hits(
            run, threads, min(self.lowest, LOWEST_JUDGED) if finds_judged else self.lowest
        )
        if not hits.n_retrieved.any():
            check_shared_topics(self.judgments, name, run)
        values = self.graded.scores_of(hits)
        if self.other is not None:
            values |= self.other.scores_of(run)
        judged = None
        if finds_judged:
            judged = hits.from_level(self.judgments.levels, LOWEST_JUDGED)
        elif not hits.topic.size and np.isfinite(self.lowest):
            # Nothing relevant: whether anything is judged is worth a second look.
            judged = hits_of(self.judgments, run, LOWEST_JUDGED, threads)
        return _Scored(
            values,
            RunCoverage.of(hits, self.judgments.names, judged is not None and not judged.topic.size),
            None if judged is None else judged_shares(judged),
            _mark(self.judgments.levels, hits),
        )


class _Recount:
    """Looks for all judged documents of runs that have been scored.

    Args:
        qrels: the qrels as given, or prepared where they came only once.
        runs: the runs as given.
        lowest: the lowest level whose documents were looked for.
        marks: the marks of the hits that were found.
    """

    def __init__(self, qrels: Any, runs: list[Any], lowest: float, marks: list[int]) -> None:
        self._qrels = qrels
        self._runs = runs
        self._lowest = lowest
        self._marks = marks

    def __call__(self, numbers: list[int]) -> list[Shares | None]:
        """The shares of the runs with these numbers; None where qrels or run are no longer what they were."""
        try:
            judgments = self._qrels if isinstance(self._qrels, Judgments) else judgments_of(self._qrels)
        except (GradedError, OSError):
            return [None for _ in numbers]
        return list(in_threads(partial(self._shares, judgments), numbers, processors()))

    def _shares(self, judgments: Judgments, number: int) -> Shares | None:
        try:
            hits = hits_of(judgments, ensure_rereadable("run", self._runs[number]), LOWEST_JUDGED)
        except (GradedError, OSError):
            return None
        before = hits.from_level(judgments.levels, self._lowest)
        return judged_shares(hits) if _mark(judgments.levels, before) == self._marks[number] else None


def _mark(levels: Levels, hits: Hits) -> int:
    """A number that hits of another run, or on other qrels, hardly share."""
    arrays = (levels.values, hits.n_retrieved, hits.document, hits.rank)
    return hash((levels.topic.size, *(array.tobytes() for array in arrays)))


def _with_progress(scored: Iterable[Result], runs: int, progress: bool | None) -> Iterable[Result]:
    """What comes for each run, with a progress bar where there are several and someone to see it."""
    if runs <= 1 or progress is False:
        return scored
    from tqdm import tqdm

    bar: Iterable[Result] = tqdm(
        scored, total=runs, desc="evaluating", unit="run", leave=False, disable=hidden(progress)
    )
    return bar
