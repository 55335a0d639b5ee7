"""Reference for the ranked-list measures: slow, plain, one formula after the other.

Written from the formulas alone and sharing no code with the package, so that the two can be compared.
Cumulative gains, blended ratios and normalisations are exact (``Fraction``); only the probabilities and the
final sums are floats, added with ``math.fsum``.

Notation, for one topic: ``C(n)`` counts the relevant documents down to rank n, ``cg(n)`` is their cumulative
gain, ``cg*(n)`` that of the ideal list, ``R`` the number of relevant documents in the qrels.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction

DEFAULTS = {
    "cutoff": None,
    "norm": "all",
    "beta": 1,
    "gamma": 0.95,
    "stop": "gu",
    "gains": {},
    "stops": {},
    "rel": 1,
    "judged_only": False,
    "max_rel": None,
    "p": 0.99,
    "weights": {},
    "residual": False,
    "ties": "doc_id",
}
#: Defaults of single measures that differ from these.
OWN_DEFAULTS = {"gRBP": {"p": 0.95}}


def default(measure: str, name: str) -> object:
    """Default of a parameter of a measure, given its printed name."""
    return OWN_DEFAULTS.get(measure, {}).get(name, DEFAULTS[name])


# ---------------------------------------------------------------------------------------------- ranking


def as_float32(value: float) -> float:
    """Round to single precision; what is too large for it becomes infinite."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def ranking(scores: dict[str, float], float32: bool = True) -> list[str]:
    """Order the documents of one topic.

    Args:
        scores: score of each retrieved document.
        float32: whether scores are compared in single precision.

    Returns:
        The document ids by score descending, ties by id (as a string) descending.
    """

    def key(doc_id: str) -> tuple[float, str]:
        value = scores[doc_id]
        return (as_float32(value) if float32 else float(value)), str(doc_id)

    return sorted(scores, key=key, reverse=True)


# ------------------------------------------------------------------------------------- one topic, one run


def exact(value: float) -> Fraction:
    """The number as an exact fraction, whatever its type."""
    return Fraction(int(value)) if value == int(value) else Fraction(float(value))


class Topic:
    """What the formulas need of one topic and its ranking.

    Attributes:
        params: every parameter, those not given at their default.
        last: the last rank looked at (the length of the ranking, or the cutoff if that is smaller).
        level: level at rank n, or None where the document is not relevant; ``level[0]`` is not used.
        relevant: levels of all relevant documents of the qrels, in ideal order (gain descending).
        R: number of relevant documents in the qrels.
        all_levels: levels that occur in all of the qrels.
        max_rel: the highest level there can be.
    """

    def __init__(
        self,
        params: dict,
        levels: dict[str, float],
        ranked: list[str],
        highest_level: float,
        all_levels: set[float],
    ) -> None:
        """Prepare one topic; the arguments are those of ``score``."""
        self.params = {**DEFAULTS, **params}
        self.all_levels = all_levels
        self.max_rel = highest_level
        if self.params["max_rel"] is not None:
            self.max_rel = self.params["max_rel"]
            if any(level > self.max_rel for level in [*all_levels, *levels.values()]):
                raise ValueError(f"a level of the qrels is above max_rel={self.max_rel}")
        if self.params["norm"] == "cutoff" and self.params["cutoff"] is None:
            raise ValueError("norm='cutoff' needs a cutoff")

        if self.params["judged_only"]:
            ranked = [doc_id for doc_id in ranked if doc_id in levels and levels[doc_id] >= 0]
        if self.params["cutoff"] is not None:
            ranked = ranked[: self.params["cutoff"]]
        self.last = len(ranked)

        self.level = [None]
        for doc_id in ranked:
            is_relevant = doc_id in levels and levels[doc_id] >= self.params["rel"]
            self.level.append(levels[doc_id] if is_relevant else None)

        self.relevant = [level for level in levels.values() if level >= self.params["rel"]]
        self.relevant.sort(key=self.gain_of_level, reverse=True)
        self.R = len(self.relevant)

        self._count = [0]
        self._cg = [Fraction(0)]
        for n in range(1, self.last + 1):
            self._count.append(self._count[n - 1] + self.is_relevant(n))
            self._cg.append(self._cg[n - 1] + self.g(n))
        self._ideal_cg = [Fraction(0)]
        for level in self.relevant:
            self._ideal_cg.append(self._ideal_cg[-1] + self.gain_of_level(level))

    def ranks(self) -> range:
        """The ranks looked at: 1, 2, ..."""
        return range(1, self.last + 1)

    def gain_of_level(self, level: float) -> Fraction:
        """Gain of a relevant level: the override, or the level itself."""
        return exact(self.params["gains"].get(level, level))

    def weight_of_level(self, level: float) -> Fraction:
        """Stop weight of a relevant level: the override, or its gain."""
        stops = self.params["stops"]
        return exact(stops[level]) if level in stops else self.gain_of_level(level)

    def is_relevant(self, n: int) -> int:
        """I(n), which is 1 if the document at rank n is relevant, else 0."""
        return 0 if self.level[n] is None else 1

    def g(self, n: int) -> Fraction:
        """Gain of the document at rank n, 0 if it is not relevant."""
        return Fraction(0) if self.level[n] is None else self.gain_of_level(self.level[n])

    def count(self, n: int) -> int:
        """C(n), the number of relevant documents at ranks 1..n; beyond the last rank its last value."""
        return self._count[min(n, self.last)]

    def cg(self, n: int) -> Fraction:
        """Cumulative gain down to rank n; beyond the last rank its last value."""
        return self._cg[min(n, self.last)]

    def ideal_cg(self, n: int) -> Fraction:
        """Cumulative gain cg*(n) of the ideal list, constant after rank R."""
        return self._ideal_cg[min(n, self.R)]

    def best(self) -> int:
        """How many relevant documents the normalisation counts: R, or min(R, k) with norm='cutoff'."""
        return min(self.R, self.params["cutoff"]) if self.params["norm"] == "cutoff" else self.R


# ------------------------------------------------------------------------------------------------ utility


def blended_ratio(topic: Topic, n: int, beta: float) -> float:
    """BR(n) = (C(n) + beta * cg(n)) / (n + beta * cg*(n)); with beta=inf it is nCG(n)."""
    if beta == math.inf:
        return cumulative_gain_ratio(topic, n)
    beta = exact(beta)
    return float((topic.count(n) + beta * topic.cg(n)) / (n + beta * topic.ideal_cg(n)))


def cumulative_gain_ratio(topic: Topic, n: int) -> float:
    """nCG(n) = cg(n) / cg*(n), and C(n) / n where cg*(n) = 0."""
    if topic.ideal_cg(n) == 0:
        return topic.count(n) / n
    return float(topic.cg(n) / topic.ideal_cg(n))


# -------------------------------------------------------------------- stop: p(n) for the ranks looked at


def stop_uniform(topic: Topic) -> dict[int, float]:
    """1/R at each relevant document."""
    return {n: topic.is_relevant(n) / topic.best() for n in topic.ranks()}


def stop_rank_biased(topic: Topic) -> dict[int, float]:
    """gamma^(C(n)-1) / sum_{i=1..R} gamma^(i-1) at each relevant document."""
    gamma = topic.params["gamma"]
    total = math.fsum(gamma ** (i - 1) for i in range(1, topic.best() + 1))
    return {n: gamma ** (topic.count(n) - 1) / total if topic.is_relevant(n) else 0.0 for n in topic.ranks()}


def stop_graded_uniform(topic: Topic) -> dict[int, float]:
    """The weight of the document's level over the sum of the weights of all relevant documents."""
    weights = sorted((topic.weight_of_level(level) for level in topic.relevant), reverse=True)
    total = sum(weights[: topic.best()])
    if total == 0:
        return dict.fromkeys(topic.ranks(), 0.0)
    return {
        n: float(topic.weight_of_level(topic.level[n]) / total) if topic.is_relevant(n) else 0.0
        for n in topic.ranks()
    }


def stop_first(topic: Topic) -> dict[int, float]:
    """1 at the first relevant document."""
    return {n: 1.0 if topic.is_relevant(n) and topic.count(n) == 1 else 0.0 for n in topic.ranks()}


def preferred_rank(topic: Topic) -> int | None:
    """The first rank among those of the highest level retrieved; None if nothing relevant is retrieved."""
    preferred = None
    for n in topic.ranks():
        if topic.is_relevant(n) and (preferred is None or topic.level[n] > topic.level[preferred]):
            preferred = n
    return preferred


def stop_preferred(topic: Topic) -> dict[int, float]:
    """1 at the preferred rank."""
    preferred = preferred_rank(topic)
    return {n: 1.0 if n == preferred else 0.0 for n in topic.ranks()}


def stop_up_to_preferred(topic: Topic) -> dict[int, float]:
    """1/C(rp) at each relevant document down to the preferred rank rp."""
    preferred = preferred_rank(topic)
    if preferred is None:
        return dict.fromkeys(topic.ranks(), 0.0)
    return {
        n: topic.is_relevant(n) / topic.count(preferred) if n <= preferred else 0.0 for n in topic.ranks()
    }


def largest_gain(topic: Topic) -> Fraction:
    """Largest gain of a level from rel to max_rel.

    The levels are those that occur in the qrels, those named in gains, and max_rel itself; that the gain of
    a level is the level says nothing, and names none.
    """
    named = [level for level, gain in topic.params["gains"].items() if gain != level]
    candidates = [topic.max_rel, *topic.all_levels, *named]
    in_range = [level for level in candidates if topic.params["rel"] <= level <= topic.max_rel]
    return max((topic.gain_of_level(level) for level in in_range), default=Fraction(0))


def err_probabilities(gains: list[Fraction], gmax: Fraction) -> list[float]:
    """dsat(n-1) * g(n)/(gmax+1) for a list of gains by rank.

    dsat(0) = 1 and dsat(n) = dsat(n-1) * (1 - g(n)/(gmax+1)).
    """
    probabilities = []
    dsat = 1.0
    for gain in gains:
        satisfied = gain / (gmax + 1)
        probabilities.append(dsat * float(satisfied))
        dsat *= float(1 - satisfied)
    return probabilities


def stop_err(topic: Topic) -> dict[int, float]:
    """dsat(n-1) * g(n)/(gmax+1)."""
    probabilities = err_probabilities([topic.g(n) for n in topic.ranks()], largest_gain(topic))
    return dict(zip(topic.ranks(), probabilities, strict=True))


STOPS = {
    "u": stop_uniform,
    "rb": stop_rank_biased,
    "gu": stop_graded_uniform,
    "first": stop_first,
    "preferred": stop_preferred,
    "up_to_preferred": stop_up_to_preferred,
    "err": stop_err,
}


# ----------------------------------------------------------------------------------------------- measures


def normalised_cumulative_utility(topic: Topic, stop: str, beta: float) -> float:
    """Sum over ranks n of stop(n) * BR(n)."""
    p = STOPS[stop](topic)
    return math.fsum(p[n] * blended_ratio(topic, n, beta) for n in topic.ranks() if p[n] != 0)


def q_measure(topic: Topic) -> float:
    """Q: (1/R) * sum of I(n) * BR(n)."""
    return normalised_cumulative_utility(topic, "u", topic.params["beta"])


def o_measure(topic: Topic) -> float:
    """O-measure: BR at the first relevant document."""
    return normalised_cumulative_utility(topic, "first", topic.params["beta"])


def p_measure(topic: Topic) -> float:
    """P-measure: BR at the preferred rank."""
    return normalised_cumulative_utility(topic, "preferred", topic.params["beta"])


def p_plus(topic: Topic) -> float:
    """P+: mean of BR over the relevant documents down to the preferred rank."""
    return normalised_cumulative_utility(topic, "up_to_preferred", topic.params["beta"])


def ncu(topic: Topic) -> float:
    """NCU with the stop and beta given."""
    return normalised_cumulative_utility(topic, topic.params["stop"], topic.params["beta"])


def awp(topic: Topic) -> float:
    """AWP (average weighted precision): (1/R) * sum of I(n) * nCG(n)."""
    return normalised_cumulative_utility(topic, "u", math.inf)


def r_measure(topic: Topic) -> float:
    """R-measure: BR(R)."""
    return blended_ratio(topic, topic.R, topic.params["beta"])


def r_wp(topic: Topic) -> float:
    """R-WP (R-weighted precision): nCG(R)."""
    return cumulative_gain_ratio(topic, topic.R)


def required_cutoff(topic: Topic) -> int:
    """The cutoff of a measure that needs one."""
    if topic.params["cutoff"] is None:
        raise ValueError("this measure needs a cutoff")
    return topic.params["cutoff"]


def ncg(topic: Topic) -> float:
    """nCG@k: nCG(k)."""
    return cumulative_gain_ratio(topic, required_cutoff(topic))


def br(topic: Topic) -> float:
    """BR@k: BR(k)."""
    return blended_ratio(topic, required_cutoff(topic), topic.params["beta"])


def ebr(topic: Topic) -> float:
    """EBR (expected blended ratio): sum of dsat(n-1) * g(n)/(gmax+1) * BR(n)."""
    return normalised_cumulative_utility(topic, "err", topic.params["beta"])


def irbu(topic: Topic) -> float:
    """iRBU: sum of p^n * dsat(n-1) * g(n)/(gmax+1)."""
    stop = stop_err(topic)
    return math.fsum(topic.params["p"] ** n * stop[n] for n in topic.ranks())


def graded_rank_biased_precision(topic: Topic) -> float:
    """gRBP: (1-p) * sum of g(n)/gmax * p^(n-1)."""
    gmax, p = largest_gain(topic), topic.params["p"]
    if gmax == 0:
        return 0.0
    return (1 - p) * math.fsum(float(topic.g(n) / gmax) * p ** (n - 1) for n in topic.ranks())


def expected_reciprocal_rank(gains: list[Fraction], gmax: Fraction) -> float:
    """ERR: sum of (1/n) * dsat(n-1) * g(n)/(gmax+1)."""
    probabilities = err_probabilities(gains, gmax)
    return math.fsum(probability / n for n, probability in enumerate(probabilities, start=1))


def nerr(topic: Topic) -> float:
    """nERR@k: ERR@k over the ERR@k of the ideal list."""
    gmax = largest_gain(topic)
    ideal_gains = [topic.gain_of_level(level) for level in topic.relevant]
    if topic.params["cutoff"] is not None:
        ideal_gains = ideal_gains[: topic.params["cutoff"]]
    ideal = expected_reciprocal_rank(ideal_gains, gmax)
    if ideal == 0:
        return 0.0
    return expected_reciprocal_rank([topic.g(n) for n in topic.ranks()], gmax) / ideal


def gap_thresholds(levels: dict[str, float]) -> list[float]:
    """Thresholds j of GAP: 1..highest level where all levels are whole, else the distinct levels >= 1."""
    if all(level == math.floor(level) for level in levels.values()):
        return list(range(1, int(max(levels.values())) + 1))
    return sorted({level for level in levels.values() if level >= 1})


def gap(topic: Topic, levels: dict[str, float]) -> float:
    """GAP: sum_j w_j * R_{>=j} * AP_j / sum_j w_j * R_{>=j}.

    R_{>=j} * AP_j is the sum, over the ranks that hold a document of level >= j, of the share of such
    documents at that rank and above.
    """
    weights = topic.params["weights"]
    w = {j: exact(weights.get(j, j)) for j in gap_thresholds(levels)}
    ideal = topic.relevant[: topic.best()]
    total = sum(w[j] * sum(1 for level in ideal if level >= j) for j in w)
    if total == 0:
        return 0.0
    terms = []
    for j, weight in w.items():
        share = float(weight / total)
        count = 0
        for n in topic.ranks():
            if topic.is_relevant(n) and topic.level[n] >= j:
                count += 1
                terms.append(share * (count / n))
    return math.fsum(terms)


MEASURES = {
    "Q": q_measure,
    "O-measure": o_measure,
    "P-measure": p_measure,
    "P+": p_plus,
    "NCU": ncu,
    "AWP": awp,
    "R-measure": r_measure,
    "R-WP": r_wp,
    "nCG": ncg,
    "BR": br,
    "EBR": ebr,
    "iRBU": irbu,
    "nERR": nerr,
    "gRBP": graded_rank_biased_precision,
}


# --------------------------------------------------------------------------------------------- evaluation


def score(
    name: str,
    params: dict,
    levels: dict[str, float],
    ranked: list[str],
    highest_level: float,
    all_levels: set[float] | None = None,
) -> float:
    """Score one topic.

    Args:
        name: printed name of the measure.
        params: the parameters given; the others have their default.
        levels: level of each document in the qrels of this topic.
        ranked: the retrieved documents in ranked order.
        highest_level: highest level in all of the qrels, the default of max_rel.
        all_levels: the levels that occur in all of the qrels; those of this topic if not given.

    Returns:
        The score, 0.0 for a topic without a relevant document.

    Raises:
        ValueError: if the name is unknown, a cutoff is missing, or a level is above a named max_rel.
    """
    if name not in MEASURES and name != "GAP":
        raise ValueError(f"unknown measure {name!r}")
    if all_levels is None:
        all_levels = {*levels.values(), highest_level}
    topic = Topic({**OWN_DEFAULTS.get(name, {}), **params}, levels, ranked, highest_level, all_levels)
    if topic.R == 0:
        return 0.0
    if name == "GAP":
        return gap(topic, levels)
    return MEASURES[name](topic)


def evaluate(
    name: str,
    params: dict,
    qrels: dict[str, dict[str, float]],
    run: dict[str, dict[str, float]],
    float32: bool = True,
) -> dict[str, float]:
    """Score every topic of the qrels.

    Args:
        name: printed name of the measure.
        params: the parameters given.
        qrels: level by topic and document.
        run: score by topic and document.
        float32: whether scores are compared in single precision.

    Returns:
        The score of each topic of the qrels; 0.0 for one that the run lacks.
    """
    all_levels = {level for levels in qrels.values() for level in levels.values()}
    highest_level = max(all_levels, default=0)
    return {
        topic_id: score(
            name, params, levels, ranking(run.get(topic_id, {}), float32), highest_level, all_levels
        )
        for topic_id, levels in qrels.items()
    }
