"""Reference for unjudged documents: graded RBP with its residual, exact bounds, and imputed judgments.

Written from the definitions alone, without code of the package, so that the two can be compared. A
document is *unjudged* if it has no level or one below 0. A *completion* is the qrels with levels for
unjudged documents.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from reference import classics, ranked, ties

Levels = dict[str, float]


def is_judged(levels: Levels, doc_id: str) -> bool:
    """Return whether a document has a level of at least 0."""
    return levels.get(doc_id, -1) >= 0


def completions(
    levels: Levels, documents: Iterable[str], choices: Collection[float]
) -> Iterator[tuple[dict[str, float], Levels]]:
    """Yield every way to give the documents a level: the levels, and the completed qrels of the topic."""
    documents = list(documents)
    for labels in product(choices, repeat=len(documents)):
        given = dict(zip(documents, labels, strict=True))
        yield given, {**levels, **given}


# ---------------------------------------------------------------------------------------------- graded RBP

GRBP_DEFAULTS = {"p": 0.95, "cutoff": None, "judged_only": False}


def graded_rbp(
    params: dict, levels: Levels, order: list[str], highest_level: float, all_levels: set[float] | None = None
) -> float:
    """gRBP: (1-p) * sum over ranks n of g(n)/gmax * p^(n-1); gmax is the largest gain of the scale."""
    return ranked.score("gRBP", params, levels, order, highest_level, all_levels)


def residual(params: dict, levels: Levels, order: list[str]) -> float:
    """Residual of gRBP: (1-p) * sum of p^(n-1) over the evaluated ranks n without a judged document."""
    params = {**GRBP_DEFAULTS, **params}
    seen = classics.seen(params, levels, order)
    unjudged = (
        params["p"] ** (n - 1) for n, doc_id in enumerate(seen, start=1) if not is_judged(levels, doc_id)
    )
    return (1 - params["p"]) * math.fsum(unjudged) + below(params, len(seen))


def below(params: dict, last: int) -> float:
    """Share of a residual that is below the last document: p^last, or p^last - p^k with a cutoff k."""
    p, cutoff = params["p"], params["cutoff"]
    return p**last if cutoff is None else p ** min(last, cutoff) - p**cutoff


# ------------------------------------------------------------------------------------------- exact bounds


def score_of_order(
    name: str,
    params: dict,
    levels: Levels,
    order: list[str],
    highest_level: float,
    all_levels: set[float] | None = None,
) -> float:
    """Return the score of one order by any measure that has bounds."""
    if name == "gRBP":
        return graded_rbp(params, levels, order, highest_level, all_levels)
    if name in ("NumRet", "SetP"):
        found = sum(levels.get(doc_id, -1) >= params["rel"] for doc_id in order)
        return float(found) if name == "NumRet" else found / max(len(order), 1)
    return ties.score_of_order(name, params, levels, order, highest_level, all_levels)


def levels_of_scale(name: str, params: dict, known: set[float], highest_level: float) -> set[float]:
    """Return the levels that a document may have: the known ones and all whole levels up to max_rel."""
    if name == "ERR":
        return {4}
    if name in ("gRBP", "iRBU"):
        highest = params.get("max_rel", highest_level)
        every = {*known, *params.get("gains", {}), highest, *range(int(highest) + 1)}
        return {level for level in every if params.get("rel", 1) <= level <= highest} or {0}
    return {params.get("rel", 1)}  # the others use relevant and other documents, not gains


#: Measures that rise with every gain and use neither R nor an ideal list.
WITH_BOUNDS = ("gRBP", "RBP", "ERR", "iRBU", "P", "Success", "RR", "NumRet", "SetP")


def bounds(
    name: str,
    params: dict,
    levels: Levels,
    order: list[str],
    highest_level: float,
    all_levels: set[float] | None = None,
) -> tuple[float, float]:
    """Return the smallest and the largest score of any completion.

    Unjudged documents have either no gain or the largest one. Ranks below the end of the list stay empty,
    except for gRBP and RBP, which a longer list may fill.

    Args:
        name: one of ``WITH_BOUNDS``.
        params: the parameters given.
        levels: level of each document in the qrels of this topic.
        order: the retrieved documents in ranked order.
        highest_level: highest level in all of the qrels, the default of max_rel.
        all_levels: the levels that occur in all of the qrels; those of this topic if not given.

    Raises:
        ValueError: if the measure has no such bounds, or uses judged documents only.
    """
    if name not in WITH_BOUNDS or params.get("relative"):
        raise ValueError(f"{name} {params} has no exact bounds")
    if params.get("judged_only"):
        raise ValueError("a completion judges every document, so judged_only leaves none out")

    def score(completed: Levels) -> float:
        return score_of_order(name, params, completed, order, highest_level, all_levels)

    known = all_levels or {*levels.values(), highest_level}

    def filled_with(level: float) -> float:
        filled = {**levels, **{doc_id: level for doc_id in order if not is_judged(levels, doc_id)}}
        has_gain = params.get("gains", {}).get(level, level) > 0
        value = score_of_order(name, params, filled, order, highest_level, known | {level})
        return value + (tail(name, params, len(order)) if has_gain else 0)

    uppers = map(filled_with, levels_of_scale(name, params, known, highest_level))
    return score(levels), max(uppers)


def tail(name: str, params: dict, retrieved: int) -> float:
    """Return the score that relevant documents at all ranks below the end of the list would add."""
    if name == "gRBP":
        return below({**GRBP_DEFAULTS, **params}, retrieved)
    if name == "RBP":
        return math.fsum(classics.rbp_weights(params["p"])[retrieved:])
    return 0.0


def bounds_by_enumeration(
    name: str,
    params: dict,
    levels: Levels,
    order: list[str],
    scale: Collection[float],
    all_levels: set[float] | None = None,
) -> tuple[float, float]:
    """Return the smallest and the largest score over every completion with levels of the scale."""
    unjudged = [doc_id for doc_id in order if not is_judged(levels, doc_id)]
    scores = [
        score_of_order(name, params, completed, order, max(scale), all_levels)
        for _, completed in completions(levels, unjudged, scale)
    ]
    return min(scores), max(scores)


# ---------------------------------------------------------------------------------------------- imputation

#: The last fused rank of each bin.
BIN_ENDS = (5, 10, 20, 50, 100, 200, 500, math.inf)
#: Weight a of the pooled shares, in documents.
POOLED = 5
#: Fewest judged documents that a bin needs for levels of its unjudged ones.
FEWEST = 50
#: Standard deviation of both shifts of the log odds.
SPREAD = 0.7
#: Constant added to the ranks in the fusion.
FUSION = 60

Qrels = dict[str, Levels]
Rankings = dict[str, list[str]]  # the documents of each topic in ranked order
Counts = dict[str, list[dict[float, int]]]
Shares = dict[float, float]


def fused(rankings: list[list[str]]) -> list[str]:
    """Return the documents of a topic by the sum over the runs of 1 / (60 + rank) descending, ties by id."""
    weight: dict[str, Fraction] = {}
    for ranking in rankings:
        for rank, doc_id in enumerate(ranking, start=1):
            weight[doc_id] = weight.get(doc_id, Fraction(0)) + Fraction(1, FUSION + rank)
    return sorted(weight, key=lambda doc_id: (weight[doc_id], doc_id), reverse=True)


def bins(rankings: list[list[str]]) -> dict[str, int]:
    """Return the bin of each document that a run retrieved for one topic, by its position in the fusion."""
    return {
        doc_id: next(b for b, end in enumerate(BIN_ENDS) if place <= end)
        for place, doc_id in enumerate(fused(rankings), start=1)
    }


def scale_of(qrels: Qrels) -> list[float]:
    """Return the levels of at least 0 that occur in the qrels, ascending."""
    return sorted({level for levels in qrels.values() for level in levels.values() if level >= 0})


def counts(qrels: Qrels, runs: list[Rankings]) -> Counts:
    """Return c[t][b][l]: retrieved documents of topic t in bin b with the judged level l."""
    found: Counts = {}
    for topic, levels in qrels.items():
        found[topic] = [dict.fromkeys(scale_of(qrels), 0) for _ in BIN_ENDS]
        for doc_id, b in bins([run.get(topic, []) for run in runs]).items():
            if is_judged(levels, doc_id):
                found[topic][b][levels[doc_id]] += 1
    return found


def priors(c: Counts, pooled: float = POOLED, fewest: int = FEWEST) -> dict[str, list[Shares | None]]:
    """Return alpha[t][b][l]: parameters of the shares of the levels; None for a bin with too few documents.

    pi, the shares of the levels over all topics and bins, smooths those of a bin, pi_b; these smooth those of
    the bin of a topic.
    """
    scale = list(next(iter(c.values()))[0]) if c else []
    of_bin = [
        {level: sum(by_bin[b][level] for by_bin in c.values()) for level in scale}
        for b in range(len(BIN_ENDS))
    ]
    of_level = {level: sum(one[level] for one in of_bin) for level in scale}
    total = sum(of_level.values())
    alpha: dict[str, list[Shares | None]] = {}
    for topic, by_bin in c.items():
        alpha[topic] = []
        for b, in_bin in enumerate(of_bin):
            n_b = sum(in_bin.values())
            if n_b < fewest or not total:
                alpha[topic].append(None)
                continue
            pi_b = {
                level: (in_bin[level] + pooled * of_level[level] / total) / (n_b + pooled) for level in scale
            }
            alpha[topic].append({level: by_bin[b][level] + pooled * pi_b[level] for level in scale})
    return alpha


def shifted(shares: Shares, shift: float) -> Shares:
    """Return shares of levels whose odds are multiplied by exp(shift) for each level above 0."""
    weights = {level: share * (math.exp(shift) if level > 0 else 1) for level, share in shares.items()}
    total = math.fsum(weights.values())
    return {level: weight / total for level, weight in weights.items()}


def label(shares: Shares, uniform: float) -> float:
    """Return the first level, ascending, at which the cumulative share is above a number in [0, 1)."""
    cumulative, chosen = 0.0, None
    for level in sorted(level for level, share in shares.items() if share > 0):
        cumulative, chosen = cumulative + shares[level], level
        if uniform < cumulative:
            break
    return chosen


class Draws:
    """Random numbers that depend on the seed and on their purpose, not on the order of the calls."""

    def __init__(self, seed: int, spread: float = SPREAD) -> None:
        """Draw from a seed."""
        self.seed = seed
        self.spread = spread

    def _stream(self, *purpose: object) -> random.Random:
        return random.Random(repr((self.seed, *purpose)))  # noqa: S311

    def delta(self, sample: int) -> float:
        """Return the shift of the log odds of all topics of a sample."""
        return self._stream("delta", sample).gauss(0, self.spread)

    def epsilon(self, sample: int, topic: str) -> float:
        """Return the shift of the log odds of one topic of a sample."""
        return self._stream("epsilon", sample, topic).gauss(0, self.spread)

    def shares(self, sample: int, topic: str, b: int, alpha: Shares) -> Shares:
        """Return shares of levels from a Dirichlet distribution: gamma variables over their sum."""
        stream = self._stream("shares", sample, topic, b)
        gammas = {level: stream.gammavariate(a, 1) if a > 0 else 0.0 for level, a in alpha.items()}
        total = math.fsum(gammas.values())
        return {level: gamma / total for level, gamma in gammas.items()}

    def uniform(self, sample: int, topic: str, doc_id: str) -> float:
        """Return a number in [0, 1) for a document."""
        return self._stream("uniform", sample, topic, doc_id).random()


def to_impute(
    qrels: Qrels, runs: list[Rankings], depth: int, alpha: dict[str, list[Shares | None]]
) -> dict[str, dict[str, int]]:
    """Return the bin of each document that gets a level: unjudged, within depth of a run, in a used bin."""
    found: dict[str, dict[str, int]] = {}
    for topic, levels in qrels.items():
        rankings = [run.get(topic, []) for run in runs]
        within = {doc_id for ranking in rankings for doc_id in ranking[:depth]}
        found[topic] = {
            doc_id: b
            for doc_id, b in bins(rankings).items()
            if doc_id in within and not is_judged(levels, doc_id) and alpha[topic][b] is not None
        }
    return found


def completed_qrels(
    qrels: Qrels, runs: list[Rankings], depth: int, samples: int, draws: Draws, fewest: int = FEWEST
) -> list[Qrels]:
    """Return samples of the qrels with a level for each document that gets one, equal for all runs.

    Args:
        qrels: level by topic and document.
        runs: of each run, the documents of each topic in ranked order.
        depth: documents within that rank of a run get a level.
        samples: number of samples.
        draws: the random numbers.
        fewest: the fewest judged documents that a bin needs for levels of its unjudged ones.
    """
    alpha = priors(counts(qrels, runs), fewest=fewest)
    documents = to_impute(qrels, runs, depth, alpha)
    return [
        {
            topic: {**levels, **given_levels(alpha[topic], documents[topic], sample, topic, draws)}
            for topic, levels in qrels.items()
        }
        for sample in range(samples)
    ]


def given_levels(
    alpha: list[Shares | None], documents: dict[str, int], sample: int, topic: str, draws: Draws
) -> Levels:
    """Return the levels that documents of one topic get in one sample."""
    shift = draws.delta(sample) + draws.epsilon(sample, topic)
    shares = {
        b: shifted(draws.shares(sample, topic, b, alpha[b]), shift) for b in sorted(set(documents.values()))
    }
    return {doc_id: label(shares[b], draws.uniform(sample, topic, doc_id)) for doc_id, b in documents.items()}


def quantile(values: Iterable[float], q: float) -> float:
    """Return the quantile with linear interpolation between the two nearest values."""
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


@dataclass(frozen=True)
class Interval:
    """Return the mean of scores, and the quantiles that leave out (1 - confidence) / 2 on each side."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: list[float], confidence: float) -> Interval:
        """Return the interval of the scores of all samples."""
        out = (1 - confidence) / 2
        mean = math.fsum(values) / len(values)
        return cls(mean, quantile(values, out), quantile(values, 1 - out))


@dataclass(frozen=True)
class RunIntervals:
    """Intervals of the scores of one run.

    Attributes:
        topics: interval of each topic.
        over_topics: interval of the mean over the topics.
        zero: score of each topic with unjudged documents as not relevant.
    """

    topics: dict[str, Interval]
    over_topics: Interval
    zero: dict[str, float]


def score_intervals(
    qrels: Qrels,
    run: Rankings,
    samples: list[Qrels],
    score_of: Callable[[Levels, list[str]], float],
    confidence: float = 0.95,
) -> RunIntervals:
    """Intervals of the scores of one run.

    Args:
        qrels: level by topic and document.
        run: the documents of each topic in ranked order.
        samples: the completed qrels, shared by all runs.
        score_of: score of a ranking by the levels of its topic.
        confidence: share of the samples that an interval contains.
    """
    scores = {topic: [score_of(one[topic], run.get(topic, [])) for one in samples] for topic in qrels}
    means = [math.fsum(of_sample) / len(qrels) for of_sample in zip(*scores.values(), strict=True)]
    return RunIntervals(
        {topic: Interval.of(values, confidence) for topic, values in scores.items()},
        Interval.of(means, confidence),
        {topic: score_of(levels, run.get(topic, [])) for topic, levels in qrels.items()},
    )


def imputed(qrels: Qrels, run: Rankings, depth: int, sample: Qrels) -> float:
    """Return the share of a run's documents down to a depth that got a level."""
    looked_at = [(topic, doc_id) for topic in qrels for doc_id in run.get(topic, [])[:depth]]
    given = [
        is_judged(sample[topic], doc_id) and not is_judged(qrels[topic], doc_id)
        for topic, doc_id in looked_at
    ]
    return sum(given) / len(given) if given else 0.0


def growth_of_R(qrels: Qrels, samples: list[Qrels], rel: float = 1) -> float:
    """Return the mean number of added relevant documents over the samples, as a share of the judged ones."""

    def relevant(one: Qrels) -> int:
        return sum(level >= rel for levels in one.values() for level in levels.values())

    judged = relevant(qrels)
    return math.fsum(relevant(one) - judged for one in samples) / len(samples) / judged if judged else 0.0
