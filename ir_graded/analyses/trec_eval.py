"""Measures of trec_eval 10 by its names and parameters, for the command ``trec_eval``.

Values equal those of trec_eval in the last bit: scores are compared in double precision, and sums are added
in the order of ranks and of topics, not exactly as elsewhere in this package.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl

from ir_graded import errors
from ir_graded._utils.threads import in_threads, processors
from ir_graded.core import segments
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.levels import Overrides
from ir_graded.core.segments import Bools, Floats, Ints, pair_key
from ir_graded.core.struct import Keeps
from ir_graded.io.files import read_as_trec_eval
from ir_graded.io.lines import number_of
from ir_graded.io.table import first_rows
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.qrels import from_table
from ir_graded.matching.tables import match_table

#: Level of documents that are not in the qrels.
_UNJUDGED = -np.inf
#: Smallest value of a topic in geometric means, and the constant of infAP.
_SMALLEST = _EPSILON = 0.00001
#: A rank below the end of every list, and the highest rank in the name of a measure.
_END, _HIGHEST = 2**31, 2**63 - 1


@dataclass(frozen=True)
class Options:
    """Options of trec_eval.

    Attributes:
        rel: lowest relevant level (-l).
        complete: whether all topics of the qrels count (-c).
        judged_only: whether documents without a level >= 0 are dropped (-J).
        depth: number of ranks of each list (-M).
        documents: number of documents in the collection (-N), for ``utility``.
    """

    rel: int = 1
    complete: bool = False
    judged_only: bool = False
    depth: int = _END
    documents: int = 0


class Sums:
    """Running sums of the values of documents of each topic, added in sequence.

    Attributes:
        topic, n: topic and rank of each document, ordered by topic and rank.
        each: sum down to each document.
    """

    def __init__(self, topics: int, topic: Ints, n: Ints, values: Floats) -> None:
        self.topics, self.topic, self.n = topics, topic, n
        self._start = segments.starts(topic, topics)
        # Rounding differs in sums that do not begin at the first document of a topic.
        self.each: Floats = np.concatenate([np.cumsum(part) for part in np.split(values, self._start[1:])])

    def at(self, n: Any = _END, topic: Ints | None = None) -> Floats:
        """Return the sums down to ranks of some topics; of all topics without ``topic``."""
        topic = np.arange(self.topics, dtype=np.int64) if topic is None else topic
        ranks = np.minimum(n, _END).astype(np.int64)
        last = np.searchsorted(pair_key(self.topic, self.n), pair_key(topic, ranks), side="right")
        return np.where(last > self._start[topic], np.append(0.0, self.each)[last], 0.0)


class Lists(Keeps):
    """The documents that a run retrieved for all topics of the qrels; topics are in bytewise order.

    A topic that the run lacks has one unjudged document.

    Attributes:
        names: ids of the topics.
        levels: levels of the judged documents, by topic.
        options: relevance level, depth and other options of the command.
        tag: tag of the run, which ``runid`` prints.
        absent: whether the run lacks each topic, shape ``(topics,)``.
        topic, n, level: topic, rank and level of each document, ordered by topic and rank.
        nonrelevant: whether each document has a level >= 0 that is not relevant.
        hit: positions of the relevant documents in these arrays.
        hits: running number of the relevant documents.
        precision: running sum of the precision at the relevant documents.
        best: highest precision from each relevant document on.
        ret, found, R: number of retrieved, relevant retrieved and relevant documents, shape ``(topics,)``.
    """

    def __init__(self, judgments: Judgments, run: JudgedRun, tag: str, options: Options) -> None:
        self._kept = {}
        self.names, self.levels, self.options, self.tag = judgments.names, judgments.levels, options, tag
        self.absent: Bools = run.n_retrieved == 0
        length = np.minimum(np.maximum(run.n_retrieved, 1), options.depth)
        self.topic: Ints = np.repeat(np.arange(length.size, dtype=np.int64), length)
        self.level: Floats = np.full(self.topic.size, _UNJUDGED)
        run = run[run.rank <= length[run.topic]]
        place = (np.cumsum(length) - length)[run.topic] + run.rank - 1
        self.level[place] = self.levels.values[run.level_index]
        if options.judged_only:
            self.topic, self.level = self.topic[self.level >= 0], self.level[self.level >= 0]
        self.n: Ints = segments.ordinals(segments.starts(self.topic, length.size)[self.topic])
        self.nonrelevant: Bools = (self.level >= 0) & (self.level < options.rel)
        self.hit: Ints = np.flatnonzero(self.level >= options.rel)
        self.hits = self.sums(self.hit, np.ones(self.hit.size))
        precision = self.hits.each / self.hits.n
        self.precision = self.sums(self.hit, precision)
        self.best = segments.maximum_from(precision, self.hits.topic)
        self.ret, self.found, self.R = self.count(self.n > 0), self.hits.at(), self.judged(options.rel)

    def sums(self, rows: Ints, values: Floats) -> Sums:
        """Return the running sums of the values of some documents."""
        return Sums(len(self.names), self.topic[rows], self.n[rows], values)

    def total(self, rows: Ints, values: Floats) -> Floats:
        """Return the sums of the values of some documents of each topic."""
        return self.sums(rows, values).at()

    def count(self, rows: Bools | Ints) -> Floats:
        """Return the number of some of the documents of each topic."""
        return segments.count(self.topic[rows], len(self.names)).astype(np.float64)

    def judged(self, lowest: float, below: float = np.inf) -> Floats:
        """Return the number of judged documents of each topic with a level in ``[lowest, below)``."""
        levels = self.levels.values[self.levels.level_index]
        wanted = (levels >= lowest) & (levels < below)
        return segments.count(self.levels.topic[wanted], len(self.names)).astype(np.float64)

    def above(self, rows: Bools) -> Ints:
        """Return how many of some documents of its topic are above each relevant document."""
        before = np.append(0, np.cumsum(rows, dtype=np.int64))
        return np.asarray(before[self.hit] - before[self.hit - self.hits.n + 1])

    def gains(self, gains: Overrides) -> tuple[Ints, Floats]:
        """Return the positions of the documents with a level >= 0, and their gains."""
        rows = np.flatnonzero(self.level >= 0)
        return rows, self.levels.table(gains)[np.searchsorted(self.levels.values, self.level[rows])]

    def gained(self, gains: Overrides = ()) -> Gained:
        """Return the discounted gains; the gain of a level is in ``gains``, or else the level."""
        return self.kept(gains, lambda: Gained(self, gains))

    def lines(self, measures: Sequence[Measure], by_topic: bool, summary: bool) -> list[str]:
        """Return the lines of the output: all measures for each topic, then over all topics."""
        counted = np.flatnonzero(~self.absent | self.options.complete)
        topics = [self.names[number] for number in counted.tolist()]
        of_topics, overall = [], []
        for measure in measures:
            values, form = measure.of_topics(self)[counted], f"{measure.name:<22}\t%s\t{measure.form}"
            if by_topic and measure.by_topic:
                of_topics.append([form % pair for pair in zip(topics, values.tolist(), strict=True)])
            if summary and measure.overall is not None:
                overall.append(form % ("all", measure.overall(self, values)))
        return [line for topic in zip(*of_topics, strict=True) for line in topic] + overall


class Gained:
    """Gains of the documents of a run, and the ideal list of the positive gains of each topic.

    Attributes:
        row, gain: positions of the documents whose gain is not 0, and their gains.
        ideal: gains of the ideal lists.
        size: length of each ideal list, shape ``(topics,)``.
        dcg, idcg: running sums of the discounted gains of these documents, and of the ideal lists.
    """

    def __init__(self, lists: Lists, gains: Overrides) -> None:
        row, gain = lists.gains(gains)
        self.row, self.gain = row[gain != 0], gain[gain != 0]
        self.dcg = lists.sums(self.row, self.gain / _log2(lists.n[self.row] + 1))
        every = lists.levels.ideal(0.0, lists.levels.table(gains))
        self.ideal, topic = every.weight[every.weight > 0], every.topic[every.weight > 0]
        self.size = segments.count(topic, every.R.size)
        n = segments.ordinals(segments.starts(topic, every.R.size)[topic])
        self.idcg = Sums(every.R.size, topic, n, self.ideal / _log2(n + 1))

    def ndcg(self, rank: float = _END) -> Floats:
        """Return nDCG of each topic."""
        return _ratio(self.dcg.at(rank), self.idcg.at(rank))


def _each(function: Callable[[float], float], values: Floats) -> Floats:
    """Apply a function of C to each value; those of NumPy may differ in the last bit."""
    return np.array([function(value) for value in values.tolist()], dtype=np.float64)


def _log2(values: Ints) -> Floats:
    """Return the logarithms of small whole numbers."""
    return np.asarray(_each(math.log2, np.arange(1.0, values.max(initial=0) + 1))[values - 1])


def _ratio(part: Any, whole: Any) -> Floats:
    """Return part / whole; 0 where the whole is 0."""
    return np.asarray(np.divide(part, whole, out=np.zeros(part.shape), where=np.asarray(whole) != 0))


def _sum(values: Floats) -> float:
    return float(np.cumsum(np.append(0.0, values))[-1])


# -------------------------------------------------------------------------------------------- formulas
# Each takes the lists of a run and one parameter, and returns a value for each topic.


def _bpref(run: Lists, _: None) -> Floats:
    R, judged = run.R[run.hits.topic], run.judged(0, run.options.rel)[run.hits.topic]
    kept = 1.0 - _ratio(np.minimum(run.above(run.nonrelevant), R), np.minimum(judged, R))
    return _ratio(run.total(run.hit, kept), run.R)


def _recip_rank(run: Lists, _: None) -> Floats:
    first = run.hits.each == 1
    return run.total(run.hit[first], 1.0 / run.hits.n[first])


def _inf_ap(run: Lists, _: None) -> Floats:
    n, r, s = run.hits.n - 1.0, run.hits.each - 1.0, run.above(run.nonrelevant)
    u = run.above((run.level < 0) & (run.level > _UNJUDGED))
    rate = (r + _EPSILON) / (r + s + 2 * _EPSILON)
    terms = 1.0 / (n + 1.0) + n / (n + 1.0) * _ratio(r + s + u, n) * rate
    return _ratio(run.total(run.hit, terms), run.R)


def _interpolated(run: Lists, recall: float) -> Floats:
    """Return the highest precision from the hit on at which a recall is reached."""
    wanted = recall * run.R
    halves_up = np.floor(wanted) + (wanted - np.floor(wanted) >= 0.5)  # noqa: PLR2004
    least = np.maximum(halves_up, 1)
    hit = np.where(least <= run.found, np.cumsum(run.found) - run.found + least, 0)
    return np.append(0.0, run.best)[hit.astype(np.int64)]


def _mean_interpolated(run: Lists, recalls: Sequence[float]) -> Floats:
    values = [_interpolated(run, recall) for recall in reversed(recalls)]
    return np.asarray(np.cumsum(values, axis=0)[-1] / len(recalls))


def _relevance_string(run: Lists, numbers: Sequence[float]) -> Any:
    signs = {_UNJUDGED: "-"} | {float(level): str(level) for level in range(10)}
    texts = [""] * len(run.names)
    seen = run.n <= numbers[0]
    for topic, level in zip(run.topic[seen].tolist(), run.level[seen].tolist(), strict=True):
        texts[topic] += signs.get(level, "." if level < 0 else ">")
    return np.array([f"'{text}'" for text in texts], dtype=object)


def _r_precision(run: Lists, multiple: float) -> Floats:
    rank = np.floor(multiple * run.R + 0.9)
    return _ratio(run.hits.at(rank), rank)


def _utility(run: Lists, numbers: Sequence[float]) -> Floats:
    a, b, c, d = numbers
    rest = run.options.documents + run.found - run.ret - run.R
    return a * run.found + b * (run.ret - run.found) + c * (run.R - run.found) + d * rest


def _bin_g(run: Lists, _: None) -> Floats:
    discounts = _each(math.log2, 2 + run.hits.n - run.hits.each)
    return _ratio(run.total(run.hit, 1.0 / discounts), run.R)


def _g(run: Lists, gains: Overrides) -> Floats:
    of = run.gained(gains)
    n, topic, ideal = of.dcg.n, of.dcg.topic, of.idcg
    costs = Sums(ideal.topics, ideal.topic, ideal.n, np.maximum(of.ideal, 1.0))
    cost = costs.at(n, topic) + np.maximum(n - of.size[topic], 0)
    terms = of.gain / _each(math.log2, 2 + cost - run.sums(of.row, of.gain).each)
    return _ratio(run.total(of.row, terms), Sums(ideal.topics, ideal.topic, ideal.n, of.ideal).at())


def _ndcg_rel(run: Lists, gains: Overrides) -> Floats:
    of = run.gained(gains)
    rows, ndcg = of.row[of.gain > 0], of.dcg.each / of.idcg.at(of.dcg.n, of.dcg.topic)
    left = _ratio((of.size - run.count(rows)) * of.dcg.at(), of.idcg.at())
    return _ratio(np.maximum(run.total(rows, ndcg[of.gain > 0]) + left, 0.0), of.size)


def _r_ndcg(run: Lists, gains: Overrides) -> Floats:
    of, topics = run.gained(gains), len(run.names)
    topic, n = of.idcg.topic, of.idcg.n
    last = n == of.size[topic]
    last[:-1] |= of.ideal[1:] != of.ideal[:-1]
    topic, n, beyond = topic[last], n[last], (of.size > 0) & (run.ret > of.size + 1)
    total = np.bincount(topic, weights=of.dcg.at(n, topic) / of.idcg.each[last], minlength=topics)
    points = segments.count(topic, topics) + beyond
    return np.where(run.R > 0, _ratio(total + np.where(beyond, of.ndcg(), 0.0), points), 0.0)


def _rbp(run: Lists, given: tuple[Overrides, float]) -> Floats:
    named, p = dict(given[0]), given[1]
    highest = np.full(len(run.names), -1.0)
    np.maximum.at(highest, run.levels.topic, run.levels.values[run.levels.level_index])
    for level in sorted(named, reverse=True):
        highest[highest == level] -= 1  # the highest level that is its own gain
    low, high = min(0.0, 0.0, *named.values()), np.maximum(highest, max(0.0, 0.0, *named.values()))
    width = np.where((low < 0) | (high > 1), high - low, 1.0)
    judged, gain = run.gains(given[0])
    terms = (gain - low) / width[run.topic[judged]] * _powers(run, p)[run.n[judged] - 1]
    return (1.0 - p) * run.total(judged, terms)


def _rbp_residual(run: Lists, given: tuple[Overrides, float]) -> Floats:
    unjudged, powers, p = np.flatnonzero(run.level < 0), _powers(run, given[1]), given[1]
    residual = powers[run.ret.astype(np.int64)] + (1 - p) * run.total(unjudged, powers[run.n[unjudged] - 1])
    return np.where(run.count(unjudged) > 0, residual, 0.0)


def _powers(run: Lists, p: float) -> Floats:
    """Return p^0, p^1 ... down to the end of the longest list, multiplied in sequence."""
    return np.cumprod(np.append(1.0, np.full(int(run.ret.max(initial=0)), p)))


def _set_f(run: Lists, numbers: Sequence[float]) -> Floats:
    x, precision, recall = numbers[0], _ratio(run.found, run.ret), _ratio(run.found, run.R)
    return _ratio((x + 1.0) * precision * recall, x * precision + recall)


def _yaap(run: Lists, _: None) -> Floats:
    total = run.precision.at()
    return _each(math.log, (1.0 + total) / (1.0 + run.R - total))


def _log(values: Floats) -> Floats:
    return _each(math.log, np.maximum(values, _SMALLEST))


# ------------------------------------------------------------------------------------------ parameters
# Each takes a text, and returns the end of the name of each value with its parameter, or raises ValueError.

Given = list[tuple[str, Any]]


def _floats(text: str) -> list[float]:
    numbers = [number_of(one) for one in text.split(",")]
    if not all(map(math.isfinite, numbers)):
        raise ValueError
    return numbers


def _none(text: str) -> Given:
    if text:
        raise ValueError
    return [("", None)]


def _numbers(text: str, count: int = 0) -> Given:
    numbers = _floats(text)
    if count not in {0, len(numbers)}:
        raise ValueError
    return [("", numbers)]


def _rank(text: str) -> int:
    """Return a rank as trec_eval reads it: the digits at the beginning of a number, so 1e3 is 1."""
    digits = re.match(r"\s*([+-]?[0-9]+)", text)
    return min(int(digits[1]), _HIGHEST) if digits else 0


def _cutoffs(text: str, kind: Callable[[str], float], lowest: int, form: str) -> Given:
    _floats(text)  # raises ValueError
    cutoffs = sorted({kind(one) for one in text.split(",")})
    if cutoffs[0] < lowest or len(cutoffs) <= text.count(","):
        raise ValueError
    return [(form % cutoff, cutoff) for cutoff in cutoffs]


def _gains(text: str, other: str = "") -> Given:
    pairs = [one.partition("=") for one in text.split(",") if text]
    named = {name: _floats(value)[0] for name, _, value in pairs}
    levels = [name for name in named if name != other]
    # Python also reads 1_0 and blanks around a number.
    if not all(re.fullmatch("[+-]?[0-9]+", name) for name in levels):
        raise ValueError
    gains = {float(name): named[name] for name in levels}
    if min(gains, default=0) < 0 or len(gains) + (other in named) < len(pairs):
        raise ValueError
    overrides = tuple(sorted(gains.items()))
    return [("", (overrides, named.get(other, 0.9)) if other else overrides)]


# ------------------------------------------------------------------------------------------------ table


@dataclass(frozen=True)
class Measure:
    """A measure, or in :data:`MEASURES` measures that differ in a parameter.

    Attributes:
        name: name that ``-m`` takes.
        values: function of the lists and a parameter that returns the value of each topic.
        parameters: function that reads the text of the parameters after the name.
        default: text of the default parameters.
        overall: takes the values of the topics that count; returns that over all topics. None without any.
        by_topic: whether the values of topics are printed.
        form: format of a value.
        parameter: value given to ``values``, such as a cutoff; None for a measure without one.
    """

    name: str
    values: Callable[[Lists, Any], Any]
    parameters: Callable[[str], Given] = _none
    default: str = ""
    overall: Callable[[Lists, Any], Any] | None = lambda _, values: _sum(values) / values.size
    by_topic: bool = True
    form: str = "%6.4f"
    parameter: Any = None

    def of_topics(self, lists: Lists) -> Any:
        """Return the value of each topic of the qrels, shape ``(topics,)``."""
        values = self.values(lists, self.parameter)
        # With parameters, all but unj have another name, under which trec_eval does not correct them.
        name = "unj" if self.name.startswith("unj_") else self.name
        return np.where(lists.absent, _IF_ABSENT[name], values) if name in _IF_ABSENT else values


def _all_relevant(run: Lists, values: Floats) -> float:
    # trec_eval counts levels > 0 here, whatever the lowest relevant level is.
    return _sum(run.judged(1) if run.options.complete else values)


_count = partial(Measure, overall=lambda _, values: _sum(values), form="%d")
_geometric = partial(Measure, overall=lambda _, values: math.exp(_sum(values) / values.size), by_topic=False)
_ranks = partial(_cutoffs, kind=_rank, lowest=1, form="_%d")
_shares = partial(_cutoffs, kind=float, lowest=0, form="_%.2f")
_persistence = partial(_gains, other="p")
_DEPTHS: Final = (_ranks, "5,10,15,20,30,100,200,500,1000")
_RECALLS: Final = "0,.1,.2,.3,.4,.5,.6,.7,.8,.9,1"

#: All measures in the order of trec_eval.
MEASURES: Final = (
    Measure("runid", lambda run, _: run.ret, overall=lambda run, _: run.tag, by_topic=False, form="%s"),
    _count("num_q", lambda run, _: run.ret**0, by_topic=False),
    _count("num_ret", lambda run, _: run.ret),
    _count("num_rel", lambda run, _: run.R, overall=_all_relevant),
    _count("num_rel_ret", lambda run, _: run.found),
    Measure("map", lambda run, _: _ratio(run.precision.at(), run.R)),
    _geometric("gm_map", lambda run, _: _log(_ratio(run.precision.at(), run.R))),
    Measure("Rprec", lambda run, _: _ratio(run.hits.at(run.R), run.R)),
    Measure("bpref", _bpref),
    Measure("recip_rank", _recip_rank),
    Measure("iprec_at_recall", _interpolated, _shares, _RECALLS),
    Measure("P", lambda run, k: run.hits.at(k) / k, *_DEPTHS),
    Measure("relstring", _relevance_string, partial(_numbers, count=1), "10", overall=None, form="%s"),
    Measure("recall", lambda run, k: _ratio(run.hits.at(k), run.R), *_DEPTHS),
    Measure("infAP", _inf_ap),
    _geometric("gm_bpref", lambda run, _: _log(_bpref(run, None))),
    Measure("Rprec_mult", _r_precision, _shares, ".2,.4,.6,.8,1,1.2,1.4,1.6,1.8,2"),
    Measure("utility", _utility, partial(_numbers, count=4), "1,-1,0,0"),
    Measure("11pt_avg", _mean_interpolated, _numbers, _RECALLS),
    Measure("binG", _bin_g),
    Measure("G", _g, _gains),
    Measure("dcg", lambda run, gains: run.gained(gains).dcg.at(), _gains),
    Measure("ideal_dcg", lambda run, gains: run.gained(gains).idcg.at(), _gains),
    Measure("ndcg", lambda run, gains: run.gained(gains).ndcg(), _gains),
    Measure("ndcg_rel", _ndcg_rel, _gains),
    Measure("Rndcg", _r_ndcg, _gains),
    Measure("ndcg_cut", lambda run, k: run.gained().ndcg(k), *_DEPTHS),
    Measure("map_cut", lambda run, k: _ratio(run.precision.at(k), run.R), *_DEPTHS),
    Measure("relative_P", lambda run, k: _ratio(run.hits.at(k), np.minimum(k, run.R)), *_DEPTHS),
    Measure("success", lambda run, k: 1.0 * (run.hits.at(k) > 0), _ranks, "1,5,10"),
    Measure("set_P", lambda run, _: _ratio(run.found, run.ret)),
    Measure("set_relative_P", lambda run, _: _ratio(run.found, np.minimum(run.ret, run.R))),
    Measure("set_recall", lambda run, _: _ratio(run.found, run.R)),
    Measure("set_map", lambda run, _: _ratio(run.found * run.found, run.ret * run.R)),
    Measure("set_F", _set_f, partial(_numbers, count=1), "1"),
    _count("num_nonrel_judged_ret", lambda run, _: run.count(run.nonrelevant)),
    Measure("yaap", _yaap),
    Measure("rbp", _rbp, _persistence),
    Measure("rbp_resid", _rbp_residual, _persistence),
    Measure("unj", lambda run, k: run.count((run.level < 0) & (run.n <= k)) / k, _ranks, "5,10,20"),
)
_NAMES: Final = [measure.name for measure in MEASURES]
#: Names of several measures.
GROUPS: Final = {
    "official": _NAMES[: _NAMES.index("P") + 1],
    "all_trec": [name for name in _NAMES if name not in {"dcg", "ideal_dcg", "yaap"}],
    "set": [*_NAMES[:5], "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F"],
}
#: Values of a topic that the run lacks, for which the formulas would score its one document.
_IF_ABSENT: Final[dict[str, Any]] = {"num_ret": 0, "unj": 0, "utility": 0, "rbp_resid": 0, "relstring": "''"}


def measures_of(texts: Iterable[str]) -> list[Measure]:
    """Return the measures with names such as ``P``, ``P.5,10`` and ``official``, in the order of trec_eval.

    If a name has parameters several times, the first ones count, as in trec_eval.

    Raises:
        UnknownMeasureError: there is no such measure.
        ParameterError: its parameters are invalid.
    """
    typed: dict[str, str] = {}
    for text in texts:
        name, _, given = text.partition(".")
        if name not in [*_NAMES, *GROUPS] or text == f"{name}.":
            hint = errors.did_you_mean(name, [*_NAMES, *GROUPS])
            raise errors.UnknownMeasureError(f"trec_eval has no measure {text!r}{hint and '; '}{hint}")
        typed |= {one: typed.get(one) or given for one in GROUPS.get(name, [name])}
    found: list[Measure] = []
    for one in (one for one in MEASURES if one.name in typed):
        given = typed[one.name]
        try:
            pairs = one.parameters(given or one.default)
        except (ValueError, OverflowError):
            expected = "none" if one.parameters is _none else one.default or "1=3.5,2=9"
            problem = f"{one.name}: cannot read the parameters {given!r}; expected {expected}"
            raise errors.ParameterError(problem) from None
        typed_end = f"_{given}" if given else ""
        found += [replace(one, name=one.name + (end or typed_end), parameter=value) for end, value in pairs]
    return found


def ranked_lists(qrels: str, runs: Iterable[str], options: Options) -> Iterator[Lists]:
    """Yield the lists of each run, ranked by score in double precision.

    Args:
        qrels: TREC file with whole levels.
        runs: TREC files.
        options: options of trec_eval.

    Raises:
        FileFormatError: a line cannot be read.
        InputError: a level is not a whole number, or a document of a topic appears twice.
        NoSharedTopicsError: a run has none of the topics of the qrels.

    Warns:
        CoverageWarning: a run lacks topics, and only the others count.
    """
    table, _ = read_as_trec_eval("qrels", qrels)
    first = first_rows(pl.DataFrame({"topic": table.query_id, "doc": table.doc_id}))
    for row in np.flatnonzero(table.value % 1)[:1].tolist():
        raise errors.InputError(f"{table.in_kind(row)}: the level must be whole; see `ir_graded evaluate`")
    for row in np.flatnonzero(first != np.arange(first.size))[:1].tolist():
        raise errors.InputError(f"{table.in_kind(row)}: the document appears twice; keep one of the lines")
    judgments = from_table(table[table.query_id.arg_sort().to_numpy().astype(np.int64)])
    for path, table, tag in in_threads(lambda run: (run, *read_as_trec_eval("run", run)), runs, processors()):
        lists = Lists(judgments, match_table(judgments, table, -np.inf), tag, options)
        absent = [lists.names[number] for number in np.flatnonzero(lists.absent).tolist()]
        if len(absent) == len(lists.names):
            raise errors.NoSharedTopicsError(f"{path} and {qrels} share no topic")
        if absent and not options.complete:
            lacks = f"{path} lacks {len(absent)} of {len(lists.names)} topics: {errors.format_ids(absent)}"
            warnings.warn(f"{lacks}; they count only with -c", errors.CoverageWarning, stacklevel=2)
        yield lists
