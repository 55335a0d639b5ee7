"""``evaluate``: score several runs by measures of all kinds with qrels of any form."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_graded._utils.threads import Result, progress_bar
from ir_graded.core.segments import Floats
from ir_graded.errors import CoverageWarning, ParameterError, short_repr
from ir_graded.io.annotations import BEYOND, check_ends, read_lengths
from ir_graded.io.sources import add_intents, is_read_once, named_runs, passage_table, table_of
from ir_graded.matching.match import MatchedRun, match_runs, prepare_qrels
from ir_graded.measures import GradedMeasure
from ir_graded.measures.base import Scorer
from ir_graded.measures.classic import check_computable
from ir_graded.measures.classic.ties import check_ties, with_ties
from ir_graded.measures.params import TIES
from ir_graded.measures.parsing import read_measures

from .coverage import Coverage, RunCoverage, count_again, levels_to_caller, measures_without_relevant
from .provider import GradedEvaluator, native_scorers
from .scores import Scores
from .upstream import check_measures, lowest_rel, mix, needed_with_others

#: Documents of a topic that are looked at.
_MOST_DOCUMENTS = 1000
#: Highest level of usual scales.
_HIGHEST_LEVEL = 10


def warn_if_swapped(qrels: Any, run: Any) -> None:
    """Issue a CoverageWarning where dicts of qrels and of a run look swapped.

    The scores of a run are seldom small whole numbers, and levels are seldom fractions that all differ. Both
    together, in the first topic, are taken for a sign. Other forms than dicts name their columns.
    """
    levels, scores = _values_of_first_topic(qrels), _values_of_first_topic(run)
    if (
        len(set(levels)) == len(levels) > 1
        and all(isinstance(level, (float, np.floating)) for level in levels)
        and not any(level.is_integer() for level in map(float, levels))
        and scores
        and all(type(score) is int or isinstance(score, np.integer) for score in scores)
        and all(0 <= score <= _HIGHEST_LEVEL for score in scores)
    ):
        warnings.warn(
            "These look like a run and qrels: all levels are fractions, and all scores are small whole "
            "numbers. Are the arguments swapped? The qrels come before the run.",
            CoverageWarning,
            stacklevel=levels_to_caller(),
        )


def _values_of_first_topic(source: Any) -> list[Any]:
    """Return the first values of the first topic of a dict of dicts; none of any other form."""
    documents = next(iter(source.values()), None) if isinstance(source, dict) else None
    return list(islice(documents.values(), _MOST_DOCUMENTS)) if isinstance(documents, Mapping) else []


def _graded_only(measures: list[Measure]) -> dict[Measure, Scorer]:
    return {measure: measure for measure in measures if isinstance(measure, GradedMeasure)}


#: Function that selects the measures that ir_graded computes, by ``provider``; ir-measures gets all others.
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

    AP, RR, nDCG, P, R, Rprec, Success, Bpref, infAP, RBP, ERR, Judged, NumRet, NumRel, NumQ, SetP, SetR and
    SetF are computed in the same pass, with the same values as ir-measures' providers. Levels that are not
    whole numbers are supported; the other providers of ir-measures reject them.

    Args:
        measures: measure objects and strings, mixed: ``["P-measure@1000", nDCG@10, "map"]``.
        qrels: a dict of dicts, a pandas or Polars frame or Arrow table (query_id, doc_id, relevance), an
            iterable of named tuples, a path to a file (TREC or NTCIR, compressed or not), or a dataset of
            ir_datasets or its id.
        runs: one run in any of these forms (score instead of relevance; scoreddocs of a dataset), a list of
            paths, or a mapping from names to runs. A run from a path is named after its file; a folder gives
            one run per file.
        progress: whether to show a progress bar over several runs; by default on a terminal only.
        provider: 'auto', or 'upstream' to leave ir-measures' own measures to its other providers.
        ties: order of documents with equal scores: 'doc_id', descending, as in trec_eval; 'expected', the
            mean over all orders; 'optimistic' or 'pessimistic', by level descending or ascending. It applies
            to all measures that depend on the order and do not set ``ties`` themselves.
        intents: probabilities and types of the intents in the qrels, in a form of ``with_intents``.
        lengths: length of each document, for runs with passages, in a form of ``passages.check_submission``.
        beyond: 'keep' keeps passages that end behind their document, which lowers precision or recall;
            'raise' raises InputError for them, in the qrels and in the runs. Only with ``lengths``.

    Returns:
        The scores of all runs on all topics of the qrels; a topic that a run lacks scores 0.

    Raises:
        NoSharedTopicsError: the qrels are empty, or a run and the qrels have no topic in common.
        InputError: the qrels or a run cannot be scored; the message gives the place.
        ParameterError: ``provider``, ``ties`` or ``beyond`` is not a valid word, ``ties`` is given for a
            measure that other providers compute, or ``beyond`` is given without ``lengths``.
        ValueError: a measure cannot be read or is not supported.
        NameError: the name of a measure is unknown.

    Warns:
        CoverageWarning: a run lacks topics of the qrels, is empty, has no judged document or gives all
            documents of a topic the same score, nothing in the qrels is relevant, a topic has no highlighted
            text for measures of passages, or a run has several passages of a document and some cutoffs count
            documents, others passages; once per call.
            ``Scores.coverage`` has the counts.
        SampledJudgmentsWarning: judgments have an inclusion probability (column ``iprob``) below 1; the
            measures score the sample as if it were complete.

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
    wanted = in_order(read_measures(measures), provider, ties)
    check_measures(wanted, PROVIDERS[provider](wanted))
    judged = qrels if intents is None else add_intents(qrels, intents)
    ends = None if lengths is None else read_lengths(lengths)
    if ends is not None and beyond == "raise" and not isinstance(judged, Mapping):
        judged = table_of("qrels", judged)
        if judged.passage is not None:
            judged.check_ids()
            # Empty spans name no text: a topic without gold has one without a document.
            check_ends(judged[np.flatnonzero(judged.passage.length)], ends, beyond)
    evaluation = Evaluation(wanted, judged, provider)
    named = named_runs(runs)
    warn_if_swapped(qrels, next(iter(named.values()), None))

    def score(matched: MatchedRun) -> ScoredRun:
        if ends is not None:
            check_ends(passage_table("a table of lengths", "run", matched.run), ends, beyond)
        return evaluation.score(matched)

    scored = evaluation.match(named, evaluation.lowest, score)
    return evaluation.scores(named, with_progress(scored, len(named), progress))


def in_order(measures: list[Measure], provider: str, ties: str) -> list[Measure]:
    """Return the measures with tied documents in the given order."""
    if ties == TIES.default:
        return measures
    check_ties(ties)
    here = PROVIDERS[provider](measures)
    others = [measure for measure in measures if measure not in here]
    for measure in others:
        check_computable(measure)
    if others:
        raise ParameterError(
            f"ties={ties!r} requires measures that ir_graded computes, but {', '.join(map(str, others))} "
            f"{'is' if len(others) == 1 else 'are'} left to ir-measures' providers, which order by doc_id"
        )
    for scorer in here.values():
        scorer.validate_params()  # so that a missing parameter is named before its effect on ties
    named = {measure for measure in measures if here[measure].ties != TIES.default}
    tied = (measure if measure in named else with_ties(measure, ties) for measure in measures)
    return list(dict.fromkeys(tied))


#: Result for one run: a score per topic for each measure, and its coverage.
ScoredRun = tuple[dict[Measure, Floats], RunCoverage]


class Evaluation:
    """Scores runs by measures of all kinds.

    Args:
        measures: the measures.
        qrels: the qrels in any form.
        provider: one of ``PROVIDERS``.

    Attributes:
        judgments: the prepared qrels.
        lowest: lowest level of the documents that the measures need from runs.
        rel: lowest level that is relevant for any of the measures; inf if relevance has no effect.
    """

    def __init__(self, measures: list[Measure], qrels: Any, provider: str = "auto") -> None:
        if not measures:
            raise ParameterError("no measure given: for example ['P-measure', 'Q', 'nDCG@10']")
        scorers = PROVIDERS[provider](measures)
        check_measures(measures, scorers)
        self.measures = measures
        self.judgments = prepare_qrels(qrels, needed_with_others(measures))
        self.judgments.require_topics("evaluate")
        # Documents may be counted again later.
        self._qrels = self.judgments if is_read_once(qrels) else qrels
        graded = GradedEvaluator(scorers, self.judgments)
        self.judgments = graded.judgments
        self._evaluator = mix(measures, graded)
        others = self._evaluator.others
        orders = {scorer.ties for scorer in graded.scorers.values()}
        self._by_id = bool(others) or TIES.default in orders
        rels = [scorer.lowest_rel for scorer in graded.scorers.values()]
        self.rel = min([*rels, lowest_rel(others)] if others else rels)
        self.lowest = min(self.rel, graded.lowest)

    def scorers(self, purpose: str) -> list[Scorer]:
        """Return the scorer of each measure.

        Args:
            purpose: name of the calling function, for messages.

        Raises:
            ParameterError: a measure is left to other providers, needs passages, or has ``ties``.
        """
        graded = self._evaluator.graded
        tied = [measure for measure, scorer in graded.scorers.items() if scorer.ties != TIES.default]
        if tied:
            raise ParameterError(
                f"{', '.join(map(str, tied))}: {purpose} orders documents with equal scores by doc_id; "
                "remove the parameter ties"
            )
        further = [measure for measure, scorer in graded.scorers.items() if scorer.further_columns]
        without = [*self._evaluator.others, *graded.passage_measures, *further]
        if without:
            names = ", ".join(map(str, without))
            raise ParameterError(f"{names}: {purpose} needs measures of documents that this package computes")
        return list(graded.scorers.values())

    def match(
        self, runs: dict[str, Any], lowest: float, work: Callable[[MatchedRun], Result]
    ) -> Iterator[Result]:
        """Match runs down to a level, and yield the result of ``work`` for each."""
        # Other providers of ir-measures may not support concurrent runs.
        return match_runs(self.judgments, runs, lowest, work, whole=bool(self._evaluator.others))

    def score(self, matched: MatchedRun) -> ScoredRun:
        """Score one run by all measures."""
        scores = self._evaluator.scores_of(matched.judged, matched.run)
        return scores, RunCoverage.of(self.judgments, matched)

    def scores(self, runs: dict[str, Any], scored: Iterable[ScoredRun]) -> Scores:
        """Collect the scores of all runs, and warn if runs and qrels do not match well."""
        values = np.zeros((len(self.measures), len(runs), len(self.judgments.names)))
        found = []
        for at, (of_measures, run) in enumerate(scored):
            for position, measure in enumerate(self.measures):
                values[position, at] = of_measures[measure]
            found.append(run)
        levels = self.judgments.levels.values
        highest = float(levels[-1]) if levels.size else 0.0
        graded = self._evaluator.graded
        of_text = [graded.scorers[measure].lowest_rel for measure in graded.passage_measures]
        # If no level is relevant, no topic has relevant text.
        note_on_text = (
            self.judgments.note_on_text(min(of_text)) if min(of_text, default=np.inf) <= highest else ""
        )
        coverage = Coverage(
            tuple(runs),
            tuple(found),
            len(self.judgments.names),
            self.rel,
            bool(np.isinf(self.rel) or (levels.size and highest >= self.rel)),
            partial(count_again, self._qrels, [*runs.values()], found, self.lowest),
            self._by_id,
            measures_without_relevant(graded.scorers, highest),
            note_on_text,
            graded.cutoffs,
        )
        coverage.warn()
        return Scores(tuple(runs), tuple(self.measures), tuple(self.judgments.query_ids), values, coverage)


def with_progress(scored: Iterable[Result], runs: int, progress: bool | None) -> Iterable[Result]:
    """Show a progress bar over the runs if there are several and standard error is a terminal."""
    if runs <= 1 or progress is False:
        return scored
    bar: Iterable[Result] = progress_bar(scored, total=runs, desc="evaluating", unit="run", progress=progress)
    return bar
