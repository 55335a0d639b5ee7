"""``evaluate``: measures of all kinds, qrels of any form, several runs, one table of scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_graded._utils.progress import progress_bar
from ir_graded._utils.threads import Result
from ir_graded.core.segments import Floats
from ir_graded.errors import ParameterError, short_repr
from ir_graded.io.intents import add_intents
from ir_graded.io.lengths import BEYOND, check_ends, read_lengths
from ir_graded.io.named_runs import named_runs
from ir_graded.io.sources import is_read_once
from ir_graded.matching.match import MatchedRun, match_runs, prepare_qrels
from ir_graded.measures import GradedMeasure
from ir_graded.measures.base import Scorer
from ir_graded.measures.classic import check_computable
from ir_graded.measures.classic.ties import check_ties, with_ties
from ir_graded.measures.params import TIES
from ir_graded.measures.parsing import read_measures

from .coverage import Coverage, RunCoverage, count_again
from .provider import GradedEvaluator, native_scorers
from .scores import Scores
from .swapped import warn_if_swapped
from .upstream import lowest_rel, mix, needed_with_others


def _graded_only(measures: list[Measure]) -> dict[Measure, Scorer]:
    return {measure: measure for measure in measures if isinstance(measure, GradedMeasure)}


#: Which of the measures are scored here, by the choice of ``provider``; all others go to ir-measures.
PROVIDERS: dict[str, Callable[[list[Measure]], dict[Measure, Scorer]]] = {
    "auto": native_scorers,
    "upstream": _graded_only,
}


def evaluate(  # noqa: PLR0913  # how to score, all by keyword
    measures: Iterable[str | Measure] | str | Measure,
    qrels: Any,
    runs: Any,
    *,
    progress: bool | None = None,
    provider: str = "auto",
    ties: str = "doc_id",
    intents: Any = None,
    lengths: Any = None,
    beyond: str = "keep",
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
        ties: how documents with equal scores are ordered: 'doc_id', descending, as in trec_eval; 'expected',
            the mean over all their orders; 'optimistic' or 'pessimistic', by level descending or ascending.
            For all measures that do not name an order themselves and depend on it.
        intents: probabilities and types of the intents in the qrels, as ``with_intents`` takes them.
        lengths: length of each document, for runs with passages, as ``passages.check_submission`` takes them.
        beyond: 'keep' passages that end behind their document as they are, which lowers precision, or
            'raise' InputError; with ``lengths`` alone.

    Returns:
        The scores of all runs on all topics of the qrels; a topic that a run lacks scores 0.

    Raises:
        NoSharedTopicsError: the qrels are empty, or a run has none of their topics.
        InputError: something in the qrels or in a run cannot be scored; the message says where.
        ParameterError: ``provider``, ``ties`` or ``beyond`` is none of its words, a measure that other
            providers compute is to have ``ties``, or ``beyond`` is given without ``lengths``.
        ValueError: a measure cannot be read or is not supported.
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
        raise ParameterError(f"provider={short_repr(provider)} must be {' or '.join(map(repr, PROVIDERS))}")
    if beyond not in BEYOND:
        raise ParameterError(f"beyond={short_repr(beyond)} must be {' or '.join(map(repr, BEYOND))}")
    if lengths is None and beyond != "keep":
        raise ParameterError(f"beyond={beyond!r} needs lengths")
    judged = qrels if intents is None else add_intents(qrels, intents)
    evaluation = Evaluation(in_order(read_measures(measures), provider, ties), judged, provider)
    named = named_runs(runs)
    warn_if_swapped(qrels, next(iter(named.values()), None))
    ends = None if lengths is None else read_lengths(lengths)

    def score(matched: MatchedRun) -> ScoredRun:
        if ends is not None:
            check_ends(matched.run, ends, beyond)
        return evaluation.score(matched)

    scored = evaluation.match(named, evaluation.lowest, score)
    return evaluation.scores(named, with_progress(scored, len(named), progress))


def in_order(measures: list[Measure], provider: str, ties: str) -> list[Measure]:
    """Return the measures with tied documents in the order that ``evaluate`` was asked for."""
    if ties == TIES.default:
        return measures
    check_ties(ties)
    here = PROVIDERS[provider](measures)
    others = [measure for measure in measures if measure not in here]
    for measure in others:
        check_computable(measure)
    if others:
        raise ParameterError(
            f"ties={ties!r} is for measures that are computed here, and {', '.join(map(str, others))} "
            f"{'is' if len(others) == 1 else 'are'} left to ir-measures' providers, which order by doc_id"
        )
    named = {measure for measure in measures if here[measure].ties != TIES.default}
    tied = (measure if measure in named else with_ties(measure, ties) for measure in measures)
    return list(dict.fromkeys(tied))


#: One run, scored: a score a topic for each measure, and how it fits the qrels.
ScoredRun = tuple[dict[Measure, Floats], RunCoverage]


class Evaluation:
    """Scores runs by measures of all kinds.

    Args:
        measures: the measures.
        qrels: the qrels in any form.
        provider: one of ``PROVIDERS``.

    Attributes:
        judgments: the prepared qrels.
        lowest: the lowest level whose documents the measures look for in runs.
        rel: the lowest level that any of the measures takes for relevant; inf where none asks.
    """

    def __init__(self, measures: list[Measure], qrels: Any, provider: str = "auto") -> None:
        if not measures:
            raise ParameterError("no measure given: for example ['P-measure', 'Q', 'nDCG@10']")
        self.measures = measures
        self.judgments = prepare_qrels(qrels, needed_with_others(measures))
        self.judgments.require_topics("evaluate")
        # Documents may be counted again later.
        self._qrels = self.judgments if is_read_once(qrels) else qrels
        graded = GradedEvaluator(PROVIDERS[provider](measures), self.judgments)
        self.judgments = graded.judgments
        self._evaluator = mix(measures, graded)
        others = self._evaluator.others
        orders = {scorer.ties for scorer in graded.scorers.values()}
        self._by_id = bool(others) or TIES.default in orders
        rels = [scorer.lowest_rel for scorer in graded.scorers.values()]
        self.rel = min([*rels, lowest_rel(others)] if others else rels)
        self.lowest = min(self.rel, graded.lowest)

    def scorers(self, purpose: str) -> list[Scorer]:
        """The scorer of each measure.

        Args:
            purpose: what they are wanted for, for messages.

        Raises:
            ParameterError: a measure is left to other providers, needs passages, or has ``ties``.
        """
        graded = self._evaluator.graded
        tied = [measure for measure, scorer in graded.scorers.items() if scorer.ties != TIES.default]
        if tied:
            raise ParameterError(
                f"{', '.join(map(str, tied))}: {purpose} orders documents with equal scores by doc_id: "
                "leave out ties"
            )
        further = [measure for measure, scorer in graded.scorers.items() if scorer.qrel_columns]
        without = [*self._evaluator.others, *graded.passage_measures, *further]
        if without:
            names = ", ".join(map(str, without))
            raise ParameterError(f"{names}: {purpose} needs measures of documents that this package computes")
        return list(graded.scorers.values())

    def match(
        self, runs: dict[str, Any], lowest: float, work: Callable[[MatchedRun], Result]
    ) -> Iterator[Result]:
        """Match runs down to a level, and yield the result of ``work`` for each."""
        # ir-measures' other providers do not promise to take two runs at a time.
        return match_runs(self.judgments, runs, lowest, work, whole=bool(self._evaluator.others))

    def score(self, matched: MatchedRun) -> ScoredRun:
        """Score one run by all measures."""
        scores = self._evaluator.scores_of(matched.judged, matched.run)
        return scores, RunCoverage.of(self.judgments, matched)

    def scores(self, runs: dict[str, Any], scored: Iterable[ScoredRun]) -> Scores:
        """Collect the scores of all runs, and warn where the runs and the qrels fit badly."""
        values = np.zeros((len(self.measures), len(runs), len(self.judgments.names)))
        found = []
        for at, (of_measures, run) in enumerate(scored):
            for position, measure in enumerate(self.measures):
                values[position, at] = of_measures[measure]
            found.append(run)
        levels = self.judgments.levels.values
        coverage = Coverage(
            tuple(runs),
            tuple(found),
            len(self.judgments.names),
            self.rel,
            np.isinf(self.rel) or bool(levels.size and levels[-1] >= self.rel),
            partial(count_again, self._qrels, [*runs.values()], found, self.lowest),
            self._by_id,
        )
        coverage.warn()
        return Scores(tuple(runs), tuple(self.measures), tuple(self.judgments.query_ids), values, coverage)


def with_progress(scored: Iterable[Result], runs: int, progress: bool | None) -> Iterable[Result]:
    """Show a progress bar over the runs where there are several and someone to see it."""
    if runs <= 1 or progress is False:
        return scored
    bar: Iterable[Result] = progress_bar(scored, total=runs, desc="evaluating", unit="run", progress=progress)
    return bar
