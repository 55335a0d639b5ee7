"""``compare_judgments``: agreement of sets of judgments, and of the conclusions about runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures import Measure

from ir_graded._utils.results import Result
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.levels import Levels
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.errors import InputError, NoSharedTopicsError, ParameterError, short_repr
from ir_graded.io.sources import named_runs
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import MatchedRun, prepare_qrels
from ir_graded.measures.parsing import read_measures
from ir_graded.meta.agreement import MEASUREMENTS, Agreement, agreement
from ir_graded.meta.conclusions import Conclusions, conclude
from ir_graded.meta.matrix import ScoreMatrix, as_finite, number_of
from ir_graded.meta.options import Seed, statistic
from ir_graded.meta.paired_tests import TESTS_OF_PAIRS as TESTS

from .coverage import Coverage, RunCoverage
from .evaluate import Request
from .provider import GradedEvaluator, native_scorers, scorers_here

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Figure

_PAIRS = ("all", "shared")


@dataclass(frozen=True, eq=False, repr=False)
class JudgmentComparison(Result):
    """Agreement of sets of judgments, and their conclusions about the same runs.

    Attributes:
        agreement: coverage, confusion matrices and coefficients of the reference with each other set.
        conclusions: conclusions by the name of each other set; empty without runs.
    """

    agreement: Agreement
    conclusions: dict[str, Conclusions]

    def to_frame(self) -> pd.DataFrame:
        """Return conclusions, a row per other set and measure. Raises InputError without runs."""
        import pandas as pd

        if not self.conclusions:
            raise InputError("no runs were given, so there are no conclusions; use .agreement.to_frame()")
        frames = {name: found.to_frame() for name, found in self.conclusions.items()}
        return pd.concat(frames, names=["judgments"])

    def _printed(self) -> pd.DataFrame:
        return self.to_frame() if self.conclusions else self.agreement.to_frame()

    def plot(self, judgments: str | None = None) -> Figure:
        """Plot means of the runs under the reference and another set, by default the first other set.

        Without runs, plot the confusion matrix of both sets.
        """
        others = [str(self.agreement.sets[two]) for _, two in self.agreement.pairs]
        at = 0 if judgments is None else number_of(judgments, others, "judgments")
        return self.conclusions[others[at]].plot() if self.conclusions else self.agreement.plot(at)


@statistic(pairs=_PAIRS, measurement=MEASUREMENTS, test=TESTS)
def compare_judgments(  # noqa: PLR0913  # options, all by keyword
    a: Any,
    b: Any,
    measures: Iterable[str | Measure] | str | Measure | None = None,
    runs: Any = None,
    *,
    pairs: str = "all",
    maps: Mapping[str, Mapping[float, float]] | None = None,
    measurement: str = "ordinal",
    rel: float = 1,
    test: str = "bootstrap",
    alpha: float = 0.05,
    top_k: int = 10,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    rng: Seed = 0,
) -> JudgmentComparison:
    """Compare judgments of the same topics, and the conclusions about runs that follow from them.

    Agreement is computed on the pairs of a topic and a document that both sets judge; levels below 0 count as
    0. With runs, every pair of runs is tested under the reference and under each other set
    (``ir_graded.meta.conclusions``).

    Args:
        a: the reference: qrels in any form of ``evaluate``.
        b: other qrels, or a mapping from names to several qrels.
        measures: measures that this package computes; None for agreement only.
        runs: runs in any form of ``evaluate``; required with measures.
        pairs: ``'all'`` scores runs on all judgments of each set; ``'shared'`` on those that the reference
            and the other set both have, which shows a change of labels without a change of coverage.
        maps: mapping from levels to new levels, by the name of a set. Sets have the names of a mapping or of
            their files, else ``'a'`` and ``'b'``.
        measurement: of Krippendorff's alpha, see ``ir_graded.meta.agreement``.
        rel: smallest relevant level of the overlap.
        test: a test of ``ir_graded.meta.discriminative_power``.
        alpha: its significance level.
        top_k: number of best runs whose overlap is computed.
        confidence: confidence level of the coefficients.
        n_resamples: number of replicates of both.
        rng: a seed or a generator.

    Raises:
        InputError: judgments or runs cannot be read, no pair is in several sets, a level is missing in
            ``maps``, judgments have passages, or fewer than two topics or runs can be compared.
        ParameterError: an option is out of range, or this package does not compute a measure.

    Example:
        >>> import ir_graded
        >>> human = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"d": 1, "e": 0}}
        >>> model = {"1": {"a": 2, "b": 1, "c": 1}, "2": {"d": 1, "e": 0}}
        >>> found = ir_graded.compare_judgments(human, model)
        >>> found.agreement.confusion()
        b    0.0  1.0  2.0
        a
        0.0    1    1    0
        1.0    0    2    0
        2.0    0    0    1
    """
    if (runs is None) != (measures is None):
        raise ParameterError("give both runs and measures, or neither")
    read = [] if measures is None else read_measures(measures)
    wanted = [] if measures is None else [*scorers_here(read, "compare_judgments", "passages columns")]
    union = _Union.of(_named_sets(a, b), {} if maps is None else maps)
    reference, *others = union.sets
    found = agreement(
        np.maximum(union.labels, 0.0),
        topics=[union.names[number] for number in union.topic.tolist()],
        reference=0,
        measurement=measurement,
        rel=rel,
        confidence=confidence,
        n_resamples=n_resamples,
        rng=rng,
    )
    found = replace(found, sets=tuple(union.sets))
    if runs is None:
        return JudgmentComparison(found, {})
    options = {"test": test, "alpha": alpha, "n_resamples": n_resamples, "rng": rng}
    # Sets of judgments to score with: each as a whole, or its intersection with the reference.
    jobs = {name: ((reference, reference), (name, name)) for name in others}
    if pairs == "shared":
        jobs = {name: ((reference, name), (name, reference)) for name in others}
    scores = _scores(union, {job for both in jobs.values() for job in both}, runs, wanted)
    known: dict[_Job, dict[Any, Any]] = {a: {} for a, _ in jobs.values()}
    concluded = {
        name: conclude(scores[a], scores[b], top_k, known[a], options) for name, (a, b) in jobs.items()
    }
    return JudgmentComparison(found, concluded)


def _named_sets(a: Any, b: Any) -> dict[str, Any]:
    """Return the sets of judgments by name, the reference first."""
    (name, reference), *more = named_runs(a).items()
    if more:
        raise InputError("the reference must be one set of judgments; give several other sets as b")
    others = named_runs(b)
    others = {"b": others["run"]} if list(others) == ["run"] else others
    name = "a" if name == "run" or name in others else name
    while name in others:
        name += " (reference)"
    return {name: reference, **others}


@dataclass(frozen=True, eq=False)
class _Union:
    """All pairs of a topic and a document that any set judges."""

    #: Names of the sets with their topics.
    sets: dict[str, list[str]]
    #: Names of all topics.
    names: list[str]
    #: Topic of each pair, ascending.
    topic: Ints
    doc_ids: list[str]
    #: Level of each pair in each set, NaN if it has none; shape ``(pairs, sets)``.
    labels: Floats

    @classmethod
    def of(cls, sets: dict[str, Any], maps: Mapping[str, Mapping[float, float]]) -> _Union:
        """Collect the judgments of all sets. Raises InputError if two share nothing."""
        import polars as pl

        if not isinstance(maps, Mapping) or not all(isinstance(one, Mapping) for one in maps.values()):
            raise ParameterError(
                f"maps={short_repr(maps)} must be a dict from the name of a set to a dict from level to "
                "level: for example {'b': {0: 0, 1: 2}}"
            )
        for name in maps:
            number_of(name, list(sets), "maps")
        prepared = {name: prepare_qrels(qrels) for name, qrels in sets.items()}
        if spans := [name for name, one in prepared.items() if one.levels.highlights is not None]:
            raise InputError(f"{spans[0]!r} has passages; only judgments of documents can be compared")
        names = list(dict.fromkeys(topic for one in prepared.values() for topic in one.names))
        number = {topic: at for at, topic in enumerate(names)}
        parts = []
        for at, (name, one) in enumerate(prepared.items()):
            topic = np.array([number[topic] for topic in one.names], dtype=np.int64)[one.levels.topic]
            doc_id, label = pl.Series(one.doc_ids, dtype=pl.String), _mapped(name, one, maps.get(name))
            part = pl.DataFrame({"topic": topic, "doc_id": doc_id, "label": label})
            parts.append(part.with_columns(set=pl.lit(at)))
        rows = pl.concat(parts)
        keys = rows.select("topic", "doc_id").unique(maintain_order=True).sort("topic", maintain_order=True)
        placed = rows.join(keys.with_row_index("row"), on=["topic", "doc_id"])
        labels = np.full((keys.height, len(sets)), np.nan)
        labels[placed["row"].to_numpy(), placed["set"].to_numpy()] = placed["label"].to_numpy()
        topics = {name: one.names for name, one in prepared.items()}
        found = cls(topics, names, keys["topic"].to_numpy().copy(), keys["doc_id"].to_list(), labels)
        found._require_shared()
        return found

    def _require_shared(self) -> None:
        """Raise NoSharedTopicsError if the reference and another set have no judged pair in common."""
        known = ~np.isnan(self.labels)
        reference, *others = self.sets
        for at, name in enumerate(others, 1):
            if not (known[:, 0] & known[:, at]).any():
                shown = (self._first(set_, known[:, place]) for set_, place in ((reference, 0), (name, at)))
                raise NoSharedTopicsError(
                    f"{reference!r} and {name!r} judge no pair of a topic and a document in common: "
                    f"{' and '.join(shown)}"
                )

    def _first(self, name: str, known: Bools) -> str:
        if not known.any():
            return f"{name!r} is empty"
        row = int(known.argmax())
        return f"{name!r} has topic {self.names[self.topic[row]]!r}, document {self.doc_ids[row]!r}"


def _mapped(name: str, judgments: Judgments, levels: Mapping[float, float] | None) -> Floats:
    """Return the level of each document after mapping. Raises InputError if one has none."""
    values = judgments.levels.values
    if levels is not None:
        missing = [value for value in values.tolist() if value not in levels]
        if missing:
            raise InputError(f"maps: {name!r} has the level {missing[0]:g}, which is missing in its map")
        mapped = np.fromiter((levels[value] for value in values.tolist()), dtype=object, count=values.size)
        values = as_finite(mapped, lambda at: f"maps: {name!r}: the level for {values[at]:g}")
    return values[judgments.levels.level_index]


class _Scorer:
    """Scores runs, matched with the union, by the pairs of the union that have a label and a topic."""

    def __init__(self, union: _Union, topics: set[str], labels: Floats, measures: list[Measure]) -> None:
        self.topics = np.flatnonzero([name in topics for name in union.names])
        known = np.isin(union.topic, self.topics) & ~np.isnan(labels)
        levels = Levels.of(len(union.names), union.topic[known], labels[known])
        judgments = Judgments(list(union.names), union.names, levels, [])
        self._evaluator = GradedEvaluator(native_scorers(measures), judgments)
        self._document = np.where(known, np.cumsum(known) - 1, -1)

    def scores(self, run: JudgedRun) -> list[Floats]:
        """Return the scores of a run by each measure."""
        document = self._document[run.document]
        level_index = self._evaluator.judgments.levels.level_index[document]
        own = replace(run, document=document, level_index=level_index)[document >= 0]
        return [values[self.topics] for values in self._evaluator.scores_of(own).values()]


#: A set of judgments, and the set to whose pairs it is limited.
_Job = tuple[str, str]


def _scores(
    union: _Union, jobs: set[_Job], runs: Any, measures: list[Measure]
) -> dict[_Job, dict[str, ScoreMatrix]]:
    """Return the score matrices of each job; the runs are read and matched once."""
    column = dict(zip(union.sets, union.labels.T, strict=True))
    scorers = {}
    for name, limit in jobs:
        labels = np.where(np.isnan(column[limit]), np.nan, column[name])
        topics = {*union.sets[name]} & {*union.sets[limit]}
        scorers[name, limit] = _Scorer(union, topics, labels, measures)
    levels = Levels.of(len(union.names), union.topic, np.zeros(len(union.topic)))
    request = Request(None, Judgments(list(union.names), union.names, levels, union.doc_ids), runs)

    def work(matched: MatchedRun) -> tuple[RunCoverage, list[list[Floats]]]:
        scores = [scorer.scores(matched.judged) for scorer in scorers.values()]
        return RunCoverage.of(request.judgments, matched), scores

    coverage, scored = zip(*request.match(work, -np.inf), strict=True)
    names = tuple(request.runs)
    Coverage(names, coverage, len(union.names)).warn()
    matrices: dict[_Job, dict[str, ScoreMatrix]] = {job: {} for job in scorers}
    for at, (job, scorer) in enumerate(scorers.items()):
        query_ids = tuple(union.names[number] for number in scorer.topics)
        for place, name in enumerate(map(str, measures)):
            values = np.stack([of_run[at][place] for of_run in scored], axis=1)
            matrices[job][name] = ScoreMatrix.checked(values, query_ids, names, name)
    return matrices
