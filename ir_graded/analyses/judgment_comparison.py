"""``compare_judgments`` and ``combine_judgments``: agreement of several judges, and one set from all."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from ir_measures.measures import Measure

from ir_graded._utils.results import Result
from ir_graded.core.facets import INCLUSION, STRATUM
from ir_graded.core.passages import Spans
from ir_graded.core.segments import Bools, Floats, Ints, whole_total
from ir_graded.errors import (
    InputError,
    NoSharedTopicsError,
    ParameterError,
    check_choice,
    format_ids,
    short_repr,
    warn_caller,
)
from ir_graded.evaluation.coverage import LOWEST_JUDGED
from ir_graded.evaluation.evaluate import Request
from ir_graded.evaluation.provider import scorers_here
from ir_graded.io.assignments import is_assignments, nugget_assignments
from ir_graded.io.lengths import end_check, read_lengths
from ir_graded.io.sources import Source, named_runs
from ir_graded.matching.match import prepare_qrels
from ir_graded.measures.base import safe_divide
from ir_graded.measures.parsing import read_measures
from ir_graded.meta.agreement import MEASUREMENTS, Agreement, agreement, with_intervals
from ir_graded.meta.matrix import as_finite, matrices_by_measure, number_of
from ir_graded.meta.options import Seed, generator, statistic
from ir_graded.meta.paired_tests import TESTS_OF_PAIRS as TESTS
from ir_graded.meta.significance import Conclusions, conclude

from .answers import score_answers

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from ir_graded.io.table import Table
    from ir_graded.plots.style import Figure

_PAIRS = ("all", "shared")
_HOW, _TIED = ("majority", "mean", "median", "sample"), ("lower", "higher", "mean")

_COEFFICIENTS = ("F", "IoU", "pooled_F", "pooled_IoU", "kappa")


@dataclass(frozen=True, eq=False, repr=False)
class SpanAgreement(Result):
    """Agreement of the highlighted text of sets of judgments with that of the reference.

    Attributes:
        sets: names of the other sets.
        coefficients: ``F`` and ``IoU``, means over the topics with text in one of the sets; ``pooled_F`` and
            ``pooled_IoU``, over the characters of all topics; with lengths, Cohen's ``kappa`` over the
            characters of the documents in both sets.
        topics: names of all topics.
        confidence: confidence level of the bootstrap intervals, such as 0.95.
        value: coefficients, shape ``(sets, coefficients)``.
        low: lower ends of the bootstrap intervals over topics, with the same shape.
        high: upper ends.
        undefined: number of replicates in which the coefficient is undefined.
    """

    sets: tuple[str, ...]
    coefficients: tuple[str, ...]
    topics: tuple[str, ...]
    confidence: float
    _by_topic: list[Floats]
    value: Floats
    low: Floats
    high: Floats
    undefined: Ints

    ROWS: ClassVar = {"judgments": "sets", "coefficient": "coefficients"}
    COLUMNS = ("value", "low", "high", "undefined")

    def by_topic(self, comparison: int = 0) -> pd.DataFrame:
        """Return F and IoU of each topic, NaN for a topic that is not in both sets or has no text."""
        import pandas as pd

        index = pd.Index(self.topics, name="query_id")
        return pd.DataFrame(self._by_topic[comparison], index, [*_COEFFICIENTS[:2]])


@dataclass(frozen=True, eq=False, repr=False)
class JudgmentComparison(Result):
    """Agreement of sets of judgments, and their conclusions about the same runs.

    Attributes:
        agreement: coverage, confusion matrices and coefficients of the reference with each other set.
        conclusions: conclusions by the name of each other set; empty without runs.
        spans: agreement of the highlighted text, if the judgments have passages.
    """

    agreement: Agreement
    conclusions: dict[str, Conclusions]
    spans: SpanAgreement | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return conclusions, a row per other set and measure. Raises InputError without runs."""
        import pandas as pd

        if not self.conclusions:
            raise InputError("no runs were given, so there are no conclusions; use .agreement.to_frame()")
        frames = {name: found.to_frame() for name, found in self.conclusions.items()}
        return pd.concat(frames, names=["judgments"])

    def _printed(self) -> pd.DataFrame:
        return self.to_frame() if self.conclusions else (self.spans or self.agreement).to_frame()

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
    lengths: Any = None,
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
    0, or as not judged in a sample with strata. With runs, every pair of runs is tested under the reference
    and under each other set (``ir_graded.meta.conclusions``).

    Of judgments with passages, the highlighted text is compared, too: with the characters A and B of level >=
    ``rel`` of a topic that is in both sets, ``F = 2 |A and B| / (|A| + |B|)`` and ``IoU = |A and B| / |A or
    B|``. A topic without such text in either set is left out.

    Assignments of nuggets to answers are compared in the same way: support, partial_support and not_support
    are the levels 2, 1 and 0 of a nugget in the answer of a run to a topic, and measures such as
    ``NuggetScore`` rank the runs.

    Args:
        a: the reference: qrels in any form of ``evaluate``, or assignments in a form of ``read_assignments``.
        b: other qrels, a mapping from names to several qrels, or other assignments of one judge: a mapping
            of these names runs.
        measures: measures that this package computes; None for agreement only.
        runs: runs in any form of ``evaluate``; required with measures, except for assignments.
        pairs: ``'all'`` scores runs on all judgments of each set; ``'shared'`` on those that the reference
            and the other set both have, which shows a change of labels without a change of coverage.
        maps: mapping from levels to new levels, by the name of a set. Sets have the names of a mapping or of
            their files, else ``'a'`` and ``'b'``.
        lengths: length of each document, in a form of ``evaluate``, for Cohen's kappa over the characters of
            the documents in both sets, if the judgments have passages.
        measurement: of Krippendorff's alpha, see ``ir_graded.meta.agreement``.
        rel: smallest relevant level of the overlap and of highlighted text.
        test: a test of ``ir_graded.meta.discriminative_power``.
        alpha: its significance level.
        top_k: number of best runs whose overlap is computed.
        confidence: confidence level of the coefficients.
        n_resamples: number of replicates of both.
        rng: a seed or a generator.

    Raises:
        InputError: judgments or runs cannot be read, no pair is in several sets, a level is missing in
            ``maps``, only some of the sets have passages, a passage ends after its document, or fewer than
            two topics or runs can be compared.
        ParameterError: an option is out of range, this package does not compute a measure, or ``lengths`` are
            given for judgments without passages.

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
    options: dict[str, Any] = {"test": test, "alpha": alpha, "n_resamples": n_resamples, "rng": rng}
    of_labels: dict[str, Any] = {"measurement": measurement, "rel": rel, "confidence": confidence}
    of_labels |= {"n_resamples": n_resamples, "rng": rng, "reference": 0}
    kinds = [is_assignments(one) for one in (a, b)]
    if all(kinds) and runs is maps is lengths is None:
        return _compare_assignments(a, b, measures, pairs, top_k, of_labels, options)
    if any(kinds):
        raise InputError(
            "assignments of nuggets are compared with assignments, and without runs, maps and lengths; "
            f"{'both a and b are' if all(kinds) else 'only a is' if kinds[0] else 'only b is'} such input"
        )
    if (runs is None) != (measures is None):
        raise ParameterError("give both runs and measures, or neither")
    read = [] if measures is None else read_measures(measures)
    if read:
        scorers_here(read, "compare_judgments", "strata")
    union = _Union.of(_named_sets(a, b), {} if maps is None else maps)
    if lengths is not None and not union.tables:
        raise ParameterError("lengths are given, but the judgments have no passages (start and length)")
    refused = "" if union.tables else "passages columns"
    wanted = [] if measures is None else [*scorers_here(read, "compare_judgments", refused)]
    found = agreement(
        np.maximum(union.labels, 0.0),
        topics=[union.names[number] for number in union.topic.tolist()],
        **of_labels,
    )
    found = replace(found, sets=tuple(union.sets))
    spans = None
    if union.tables:
        spans = union.spans(lengths, rel, confidence, int(n_resamples), generator(rng))
    concluded = {} if runs is None else _conclusions(union, pairs, runs, wanted, top_k, options)
    return JudgmentComparison(found, concluded, spans)


@statistic(how=None, ties=None)
def combine_judgments(
    judgments: Any, how: str = "majority", *, ties: str = "lower", min_judges: int = 1, rng: Seed = 0
) -> pd.DataFrame:
    """Combine the judgments of several judges into one set of qrels.

    Each pair of a topic and a document gets one level from the judges who judged it; a judge who did not, or
    who gave a level below 0, has no vote. Mean and median may give levels between those of the scale: they
    are gains as they are, a level is relevant if it is at least ``rel``, and measures that need whole levels
    reject them.

    Args:
        judgments: a mapping from names of judges to qrels in any form of ``evaluate``, or a list of these.
        how: 'majority', the most frequent level; 'mean'; 'median'; or 'sample', the level of one of the
            judges of the document, drawn at random.
        ties: if several levels are the most frequent, or two are in the middle: 'lower' or 'higher' is the
            lowest or the highest of them, 'mean' their mean.
        min_judges: pairs with fewer judges are left out, and so are unjudged; at least 1.
        rng: a seed or a generator, for 'sample'. Successive calls with one generator are further draws.

    Returns:
        The columns query_id, doc_id and relevance, sorted by topic and document; whole levels are integers.

    Raises:
        InputError: there is only one set, judgments cannot be read, are a sample with inclusion
            probabilities or strata, have passages or several levels for a document (intents), or no pair has
            enough judges.
        ParameterError: an option is out of range.

    Example:
        >>> import ir_graded
        >>> judges = [{"1": {"a": 2, "b": 0}}, {"1": {"a": 2, "b": 1}}, {"1": {"a": 0}}]
        >>> ir_graded.combine_judgments(judges)
          query_id doc_id  relevance
        0        1      a          2
        1        1      b          0
        >>> ir_graded.combine_judgments(judges, "mean", min_judges=2)["relevance"].round(3).tolist()
        [1.333, 0.5]
    """
    import pandas as pd
    import polars as pl

    check_choice("how", how, _HOW)
    check_choice("ties", ties, _TIED)
    draws = generator(rng)
    if not isinstance(min_judges, (int, np.integer)) or isinstance(min_judges, bool) or min_judges < 1:
        raise ParameterError(f"min_judges={short_repr(min_judges)} must be a whole number >= 1")
    sets = named_runs(judgments, "qrels")
    if len(sets) < 2:  # noqa: PLR2004
        raise InputError(
            "expected several sets of judgments: a dict from names of judges to qrels, or a list"
        )
    rows = pl.concat([_levels_of_judge(name, one) for name, one in sets.items()])
    pair = ["query_id", "doc_id"]
    rows = rows.filter(pl.len().over(pair) >= min_judges)
    if not rows.height:
        raise InputError(f"no pair of a topic and a document has min_judges={min_judges} judges")
    level = pl.col("relevance")
    if how == "majority":
        votes = rows.group_by(*pair, "relevance").len()
        rows = votes.filter(pl.col("len") == pl.col("len").max().over(pair))
    elif how == "median":
        # The level in the middle, or both.
        place, last = level.rank("ordinal").over(pair) - 1, pl.len().over(pair) - 1
        rows = rows.filter(place.is_between(last // 2, (last + 1) // 2))
    elif how == "sample":
        rows = rows.sort(*pair, "relevance")
        number = rows.group_by(pair, maintain_order=True).len()["len"].to_numpy().astype(np.int64)
        rows = rows[np.cumsum(number) - number + draws.integers(number)]
    of_tied = {"lower": level.min(), "higher": level.max(), "mean": level.mean()}
    combined = rows.group_by(pair).agg(level.mean() if how == "mean" else of_tied[ties]).sort(pair)
    found = pd.DataFrame(combined.to_dict(as_series=False))
    whole = (found["relevance"] % 1 == 0).all()
    return found.astype({"query_id": str, "doc_id": str, "relevance": np.int64 if whole else np.float64})


def _levels_of_judge(name: str, qrels: Source) -> pl.DataFrame:
    """Return a row for each judged document of a judge. Raises InputError for other than levels."""
    import polars as pl

    if is_assignments(qrels.given):
        raise InputError(f"judge {name!r} holds assignments of nuggets; combine_judgments takes qrels")
    try:
        table = qrels.table()
        prepared = prepare_qrels(table)
    except InputError as error:
        raise type(error)(f"judge {name!r}: {str(error).removeprefix('qrels: ')}") from error
    of_spans = prepared.levels.highlights is not None
    of_sample = table.has(INCLUSION) or table.has(STRATUM)
    if of_spans or of_sample or prepared.note:
        found = "passages" if of_spans else "a sample" if of_sample else "several levels for a document"
        raise InputError(
            f"judge {name!r} has {found}; combine_judgments takes one level per topic and document"
        )
    levels = prepared.levels
    columns = {
        "query_id": pl.Series(prepared.names, dtype=pl.String)[levels.topic],
        "doc_id": pl.Series(prepared.doc_ids, dtype=pl.String),
        "relevance": levels.values[levels.level_index],
    }
    return pl.DataFrame(columns).filter(pl.col("relevance") >= 0)


def _compare_assignments(
    a: Any, b: Any, measures: Any, pairs: str, top_k: int, of_labels: dict[str, Any], options: dict[str, Any]
) -> JudgmentComparison:
    """Compare assignments of nuggets to answers: support as levels 2, 1, 0, and conclusions by scores."""
    keys = ["run", "query_id", "nugget"]
    found_a, found_b = nugget_assignments(a), nugget_assignments(b)
    first, second = found_a.to_frame(), found_b.to_frame()
    labels = first.merge(second, on=keys, how="outer", suffixes=(" a", " b"))
    columns = 2 * labels[["assignment a", "assignment b"]].set_axis(["a", "b"], axis=1)
    shared = labels.loc[columns.notna().all(axis=1), keys]
    if not len(shared):
        known = (format_ids(sorted({*one["run"]})) for one in (first, second))
        hint = "; a mapping names runs, so compare one judge in a call" if isinstance(b, Mapping) else ""
        raise NoSharedTopicsError(
            "the assignments share no nugget of a run and a topic; the runs of a and b: "
            f"{'; '.join(known)}{hint}"
        )
    found = agreement(columns, topics=labels["query_id"].tolist(), **{**of_labels, "reference": "a"})
    if measures is None:
        for note in dict.fromkeys(found_a.notes + found_b.notes):
            warn_caller(note)
        return JudgmentComparison(found, {})
    sources = (first.merge(shared), second.merge(shared)) if pairs == "shared" else (a, b)
    of_a, of_b = (matrices_by_measure(score_answers(measures, one)) for one in sources)
    return JudgmentComparison(found, {"b": conclude(of_a, of_b, top_k, {}, options)})


def _named_sets(a: Any, b: Any) -> dict[str, Source]:
    """Return the sets of judgments by name, the reference first."""
    (name, reference), *more = named_runs(a, "qrels").items()
    if more:
        raise InputError("the reference must be one set of judgments; give several other sets as b")
    others = named_runs(b, "qrels")
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
    #: The sets, if they have passages.
    tables: dict[str, Table]

    @classmethod
    def of(cls, sets: dict[str, Source], maps: Mapping[str, Mapping[float, float]]) -> _Union:
        """Collect the judgments of all sets. Raises InputError if two share nothing."""
        import polars as pl

        _check_maps(sets, maps)
        sets = {name: one.kept(whole=True) for name, one in sets.items()}
        tables = {name: table for name, one in sets.items() if (table := one.table()).passage is not None}
        if 0 < len(tables) < len(sets):
            without = next(name for name in sets if name not in tables)
            raise InputError(
                f"{next(iter(tables))!r} has passages, but {without!r} has none; give start and length in "
                "all sets of judgments, or in none"
            )
        for name, table in tables.items():
            tables[name] = replace(table, value=_mapped(name, table.value, maps.get(name)))
        prepared = {name: prepare_qrels(tables.get(name, qrels), (STRATUM,)) for name, qrels in sets.items()}
        names = list(dict.fromkeys(topic for one in prepared.values() for topic in one.names))
        number = {topic: at for at, topic in enumerate(names)}
        parts = []
        for at, (name, one) in enumerate(prepared.items()):
            topic = np.array([number[topic] for topic in one.names], dtype=np.int64)[one.levels.topic]
            label = one.levels.values[one.levels.level_index]
            label = label if tables else _mapped(name, label, maps.get(name))
            part = {"topic": topic, "doc_id": pl.Series(one.doc_ids, dtype=pl.String), "label": label}
            # In a sample, documents of the pool that were not judged have levels below 0.
            judged = (label >= LOWEST_JUDGED) | (STRATUM.name not in one.levels.further)
            parts.append(pl.DataFrame(part).filter(judged).with_columns(set=pl.lit(at)))
        rows = pl.concat(parts)
        keys = rows.select("topic", "doc_id").unique(maintain_order=True).sort("topic", maintain_order=True)
        placed = rows.join(keys.with_row_index("row"), on=["topic", "doc_id"])
        labels = np.full((keys.height, len(sets)), np.nan)
        labels[placed["row"].to_numpy(), placed["set"].to_numpy()] = placed["label"].to_numpy()
        topics = {name: one.names for name, one in prepared.items()}
        found = cls(topics, names, keys["topic"].to_numpy().copy(), keys["doc_id"].to_list(), labels, tables)
        known = ~np.isnan(labels)
        reference, *others = sets
        for at, name in enumerate(others, 1):
            if not (known[:, 0] & known[:, at]).any():
                shown = (found._first(set_, known[:, place]) for set_, place in ((reference, 0), (name, at)))
                raise NoSharedTopicsError(
                    f"{reference!r} and {name!r} judge no pair of a topic and a document in common: "
                    f"{' and '.join(shown)}"
                )
        return found

    def spans(
        self, lengths: Any, rel: float, confidence: float, n_resamples: int, rng: np.random.Generator
    ) -> SpanAgreement:
        """Return the agreement of the highlighted text of the reference with that of each other set.

        Raises InputError if the length of a document is missing or too short.
        """
        size, topics, marked = len(self.doc_ids), len(self.names), []
        pairs = zip([self.names[topic] for topic in self.topic], self.doc_ids, strict=True)
        number = {pair: row for row, pair in enumerate(pairs)}
        for table in self.tables.values():
            assert table.passage is not None  # noqa: S101  # for the type checker
            if lengths is not None:
                end_check(lengths, "raise")(table[np.flatnonzero(table.passage.length)])
            article = [number[pair] for pair in zip(table.query_id, table.doc_id, strict=True)]
            marked.append(table.passage.spans(np.array(article, dtype=np.int64))[table.value >= rel])
        first, *others = [one.union_length(size) for one in marked]
        known = ~np.isnan(self.labels)
        of_doc = {} if lengths is None else read_lengths(lengths)
        # Documents without a span, which stand for topics without text, may lack a length.
        length = np.array([of_doc.get(doc_id, 0) for doc_id in self.doc_ids], dtype=np.int64)

        def total(values: Any) -> Floats:
            return whole_total(values, self.topic, topics).astype(np.float64)

        # Counts of characters of the reference and each other set, shape ``(topics, 10)``.
        sums = []
        for at, other in enumerate(others, 1):
            of_pair = first, other, first + other - Spans.concat([marked[0], marked[at]]).union_length(size)
            in_both = (total(known[:, 0]) > 0) & (total(known[:, at]) > 0)
            a, b, both = (total(one) * in_both for one in of_pair)
            used = a + b > 0
            ratios = (safe_divide(2 * both, a + b), safe_divide(both, a + b - both))
            shared = known[:, 0] & known[:, at]
            pooled = (total(one * shared) for one in (length, *of_pair))
            sums.append(np.stack([used, *ratios, a, b, both, *pooled], axis=1).astype(np.float64))
        names = _COEFFICIENTS[: -1 if lengths is None else None]
        values = with_intervals(sums, _coefficients, confidence, n_resamples, rng)
        columns: Any = zip(SpanAgreement.COLUMNS, (one[:, : len(names)] for one in values), strict=True)
        by_topic = [_coefficients(one)[:, :2] for one in sums]
        compared = tuple(self.sets)[1:]
        return SpanAgreement(compared, names, tuple(self.names), confidence, by_topic, **dict(columns))

    def limited(self, name: str, limit: str) -> Any:
        """Return qrels of the pairs of a set that another set judges, too, on topics of both."""
        labels, others = (self.labels[:, [*self.sets].index(one)] for one in (name, limit))
        rows = np.flatnonzero(~np.isnan(labels + others)).tolist()
        pairs = [(self.names[self.topic[row]], self.doc_ids[row]) for row in rows]
        if name in self.tables:
            table, kept = self.tables[name], {*pairs}
            of_row = enumerate(zip(table.query_id, table.doc_id, strict=True))
            return table[np.array([row for row, pair in of_row if pair in kept], dtype=np.int64)]
        both = {*self.sets[name]} & {*self.sets[limit]}
        qrels: dict[str, dict[str, float]] = {topic: {} for topic in self.names if topic in both}
        for (topic, doc_id), row in zip(pairs, rows, strict=True):
            qrels[topic][doc_id] = labels[row]
        return qrels

    def _first(self, name: str, known: Bools) -> str:
        if not known.any():
            return f"{name!r} is empty"
        row = int(known.argmax())
        return f"{name!r} has topic {self.names[self.topic[row]]!r}, document {self.doc_ids[row]!r}"


def _coefficients(sums: Floats) -> Floats:
    """Return the coefficients of spans from sums over topics, shape ``(..., coefficients)``."""
    used, f, iou, a, b, both, length, one, two, shared = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = (one * two + (length - one) * (length - two)) / length
        kappa = (length - one - two + 2 * shared - expected) / (length - expected)
        found = (f / used, iou / used, 2 * both / (a + b), both / (a + b - both), kappa)
    return np.stack(found, axis=-1)


def _check_maps(sets: Mapping[str, Any], maps: Any) -> None:
    if not isinstance(maps, Mapping) or not all(isinstance(one, Mapping) for one in maps.values()):
        raise ParameterError(
            f"maps={short_repr(maps)} must be a dict from the name of a set to a dict from level to "
            "level: for example {'b': {0: 0, 1: 2}}"
        )
    for name in maps:
        number_of(name, list(sets), "maps")


def _mapped(name: str, labels: Floats, levels: Mapping[float, float] | None) -> Floats:
    """Return levels after mapping. Raises InputError if one has none."""
    values, of_label = np.unique(labels, return_inverse=True)
    if levels is not None:
        missing = [value for value in values.tolist() if value not in levels]
        if missing:
            raise InputError(f"maps: {name!r} has the level {missing[0]:g}, which is missing in its map")
        mapped = np.fromiter((levels[value] for value in values.tolist()), dtype=object, count=values.size)
        values = as_finite(mapped, lambda at: f"maps: {name!r}: the level for {values[at]:g}")
    return values[of_label]


def _conclusions(
    union: _Union, pairs: str, runs: Any, measures: list[Measure], top_k: int, options: dict[str, Any]
) -> dict[str, Conclusions]:
    """Return the conclusions about the runs under the reference and each other set."""
    reference, *others = union.sets
    # Sets of judgments to score with: each as a whole, or its pairs that the other one judges, too.
    whole = pairs == "all"
    jobs = {
        one: ((reference, reference if whole else one), (one, one if whole else reference)) for one in others
    }
    runs = {name: run.kept() for name, run in named_runs(runs).items()}
    scores = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for job in dict.fromkeys(chain.from_iterable(jobs.values())):
            request = Request(measures, union.limited(*job))
            request.take(runs)
            scores[job] = matrices_by_measure(request.scores()[0])
    # The sets often give the same warnings.
    for text, category in dict.fromkeys((str(one.message), one.category) for one in caught):
        warn_caller(text, category)
    known: dict[Any, dict[Any, Any]] = {a: {} for a, _ in jobs.values()}
    return {name: conclude(scores[a], scores[b], top_k, known[a], options) for name, (a, b) in jobs.items()}
