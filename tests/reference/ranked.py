"""Reference for the ranked-list measures: slow, plain, one function per formula.

Written from the formulas alone, without code of the package, so that the two can be compared.
Cumulative gains, blended ratios and normalisations are exact (``Fraction``); only the probabilities and the
final sums are floats, added with ``math.fsum``.

Notation, for one topic: ``C(n)`` counts the relevant documents down to rank n, ``cg(n)`` is their cumulative
gain, ``cg*(n)`` that of the ideal list, ``R`` the number of relevant documents in the qrels.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
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
    "utility": "br",
    "b": 2,
    "penalty": "R",
}
#: Defaults of single measures that differ from these.
OWN_DEFAULTS = {"gRBP": {"p": 0.95}, "R-pref": {"penalty": "N"}}


def default(measure: str, name: str) -> object:
    """Default of a parameter of a measure, given its printed name."""
    return defaults(measure)[name]


def defaults(measure: str) -> dict:
    """Default of every parameter of a measure, given its printed name."""
    return {**DEFAULTS, **OWN_DEFAULTS.get(measure, {})}


# ---------------------------------------------------------------------------------------------- ranking


def as_float32(value: float) -> float:
    """Round to single precision; numbers beyond its range become infinite."""
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
    """Return the number as an exact fraction, whatever its type."""
    return Fraction(int(value)) if value == int(value) else Fraction(float(value))


class Topic:
    """The quantities of one topic and its ranking that the formulas need.

    Attributes:
        params: every parameter, including defaults.
        last: the last evaluated rank (the length of the ranking, or the cutoff if that is smaller).
        level: level at rank n, or None if the document is not relevant; ``level[0]`` is not used.
        relevant: levels of all relevant documents of the qrels, in ideal order (gain descending).
        R: number of relevant documents in the qrels.
        all_levels: levels that occur in all of the qrels.
        max_rel: the highest possible level.
        gmax: the largest possible gain, or None if the levels decide it.
    """

    gmax: Fraction | None = None

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
        if self.params["judged_only"]:
            ranked = [doc_id for doc_id in ranked if doc_id in levels and levels[doc_id] >= 0]
        if self.params["cutoff"] is not None:
            ranked = ranked[: self.params["cutoff"]]
        is_relevant = {doc_id: level >= self.params["rel"] for doc_id, level in levels.items()}
        self._arrange(
            [levels[doc_id] if is_relevant.get(doc_id) else None for doc_id in ranked],
            [level for doc_id, level in levels.items() if is_relevant[doc_id]],
        )

    @classmethod
    def of_lists(
        cls, params: dict, at_rank: list[float | None], relevant: list[float], gmax: Fraction
    ) -> Topic:
        """Return a topic with a given list and ideal list, each by levels.

        Args:
            params: the parameters; rel, judged_only and max_rel have been applied already.
            at_rank: level at each rank of the whole list, None if the document is not relevant.
            relevant: levels of the documents of the ideal list, which may differ from those of the list.
            gmax: the largest possible gain.
        """
        topic = cls.__new__(cls)
        topic.params = {**DEFAULTS, **params}
        topic.all_levels, topic.max_rel, topic.gmax = set(relevant), max(relevant, default=0), gmax
        topic._arrange(at_rank[: topic.params["cutoff"]], relevant)
        return topic

    def ideal_list(self, worth: Callable[[float], float] | None = None) -> Topic:
        """Return the topic whose list is the ideal list, by gain or by another value, with this cutoff."""
        best_first = sorted(self.relevant, key=worth or self.gain_of_level, reverse=True)
        return Topic.of_lists(self.params, best_first, self.relevant, largest_gain(self))

    def _arrange(self, at_rank: list[float | None], relevant: list[float]) -> None:
        """Set the attributes derived from the levels at the evaluated ranks and those of the ideal list."""
        if self.params["norm"] == "cutoff" and self.params["cutoff"] is None:
            raise ValueError("norm='cutoff' needs a cutoff")
        self.last = len(at_rank)
        self.level = [None, *at_rank]
        self.relevant = sorted(relevant, key=self.gain_of_level, reverse=True)
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
        """The evaluated ranks: 1, 2, ..."""
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
        """The number of relevant documents in the normalisation: R, or min(R, k) with norm='cutoff'."""
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


def reciprocal_rank(topic: Topic, n: int, beta: float) -> float:  # noqa: ARG001  # as the others
    """1/n."""
    return 1 / n


def inverse_effort(topic: Topic, n: int, beta: float) -> float:  # noqa: ARG001  # as the others
    """p^n."""
    return topic.params["p"] ** n


# -------------------------------------------------------------------- stop: p(n) for the evaluated ranks


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
    """Return the first rank with the highest retrieved level; None if nothing relevant is retrieved."""
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

    The levels are those that occur in the qrels, those named in gains, and max_rel itself. A gain equal to
    its level does not count as naming the level.
    """
    if topic.gmax is not None:
        return topic.gmax
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


UTILITIES = {"br": blended_ratio, "rr": reciprocal_rank, "ie": inverse_effort}

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


def normalised_cumulative_utility(
    topic: Topic, stop: str, beta: float, utility: Callable[[Topic, int, float], float] = blended_ratio
) -> float:
    """Sum over ranks n of stop(n) * utility(n)."""
    p = STOPS[stop](topic)
    return math.fsum(p[n] * utility(topic, n, beta) for n in topic.ranks() if p[n] != 0)


def over_ideal(
    topic: Topic, score: Callable[[Topic], float], worth: Callable[[float], float] | None = None
) -> float:
    """The score; with norm='ideal', over that of the ideal list at the same cutoff, 0 if that is 0."""
    if topic.params["norm"] != "ideal":
        return score(topic)
    ideal = score(topic.ideal_list(worth))
    return score(topic) / ideal if ideal else 0.0


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
    """NCU with the stop, utility and beta given."""
    stop, utility = topic.params["stop"], topic.params["utility"]
    if topic.params["norm"] == "ideal" and utility == "br" and stop != "err":
        raise ValueError(f"NCU with stop={stop!r} and utility='br' takes no norm='ideal'")
    # If the gain does not affect the utility, the ideal list is that of the stop.
    worths = {"gu": topic.weight_of_level, "preferred": float, "up_to_preferred": float}
    return over_ideal(
        topic,
        lambda one: normalised_cumulative_utility(one, stop, one.params["beta"], UTILITIES[utility]),
        worths.get(stop),
    )


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
    """Return the cutoff of a measure that needs one."""
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
    return over_ideal(topic, lambda one: normalised_cumulative_utility(one, "err", one.params["beta"]))


def irbu(topic: Topic) -> float:
    """iRBU: sum of p^n * dsat(n-1) * g(n)/(gmax+1)."""
    return over_ideal(topic, lambda one: normalised_cumulative_utility(one, "err", 0, inverse_effort))


def expected_reciprocal_rank(topic: Topic) -> float:
    """ERR: sum of (1/n) * dsat(n-1) * g(n)/(gmax+1)."""
    return normalised_cumulative_utility(topic, "err", 0, reciprocal_rank)


def nerr(topic: Topic) -> float:
    """nERR@k: ERR@k over the ERR@k of the ideal list."""
    ideal = expected_reciprocal_rank(topic.ideal_list())
    return expected_reciprocal_rank(topic) / ideal if ideal else 0.0


def weighted_gain(topic: Topic, weight: Callable[[int], float], unit: Fraction) -> float:
    """Sum of g(n)/unit * weight(n); 0 where the unit is 0."""
    return math.fsum(float(topic.g(n) / unit) * weight(n) for n in topic.ranks()) if unit else 0.0


def best_gain(topic: Topic) -> Fraction:
    """The largest gain of the topic."""
    return max(map(topic.gain_of_level, topic.relevant))


def graded_rbp(topic: Topic) -> float:
    """gRBP: (1-p)/gmax * sum of g(n) * p^(n-1), or with norm='ideal' that sum over the ideal list's."""
    p = topic.params["p"]
    unit = best_gain(topic) if topic.params["norm"] == "ideal" else largest_gain(topic)
    return over_ideal(topic, lambda one: (1 - p) * weighted_gain(one, lambda n: p ** (n - 1), unit))


def discounted_gain(topic: Topic, discount: Callable[[int], float]) -> float:
    """DCG: sum of g(n)/D(n), over the same sum of the ideal list; 0 where that is 0."""
    unit = best_gain(topic)
    dcg, ideal = (weighted_gain(one, lambda n: 1 / discount(n), unit) for one in (topic, topic.ideal_list()))
    return dcg / ideal if ideal else 0.0


def ndcg(topic: Topic) -> float:
    """nDCG with D(n) = log2(n + 1)."""
    return discounted_gain(topic, lambda n: math.log2(n + 1))


def ndcg_jk(topic: Topic) -> float:
    """nDCG-JK: D(n) = 1 for n <= b, else log_b(n)."""
    b = topic.params["b"]
    return discounted_gain(topic, lambda n: 1.0 if n <= b else math.log(n) / math.log(b))


def precision(topic: Topic) -> float:
    """P@k: C(k)/k."""
    return topic.count(required_cutoff(topic)) / required_cutoff(topic)


def success(topic: Topic) -> float:
    """Success@k, Hit@k: 1 if C(k) > 0."""
    return float(topic.count(required_cutoff(topic)) > 0)


# ---------------------------------------------------------------------- preferences over a condensed list
# N is the number of documents judged not relevant, c(n) = n - C(n) those of them above a relevant rank n.


def preference(topic: Topic, penalty: Callable[[int], Fraction]) -> float:
    """1/R * sum over the relevant ranks n of 1 - penalty(n)."""
    return float(sum(1 - penalty(n) for n in topic.ranks() if topic.is_relevant(n)) / Fraction(topic.R))


def quotient(above: Fraction | int, below: Fraction | int) -> Fraction:
    """Return above / below, 0 if below is 0."""
    return Fraction(above) / Fraction(below) if below else Fraction(0)


def bpref(topic: Topic, N: int) -> float:
    """bpref: penalty min(R, c)/min(R, N)."""
    return preference(topic, lambda n: quotient(min(topic.R, n - topic.count(n)), min(topic.R, N)))


def bpref_r(topic: Topic, N: int) -> float:  # noqa: ARG001  # as the others
    """bpref_R: penalty min(R, c)/R."""
    return preference(topic, lambda n: Fraction(min(topic.R, n - topic.count(n)), topic.R))


def bpref_n(topic: Topic, N: int) -> float:
    """bpref_N: penalty c/N."""
    return preference(topic, lambda n: quotient(n - topic.count(n), N))


def bpref_relative(topic: Topic, N: int) -> float:  # noqa: ARG001  # as the others
    """bpref_relative: penalty c/(n-1); rank 1 adds nothing."""
    return preference(topic, lambda n: Fraction(n - topic.count(n), n - 1) if n > 1 else Fraction(1))


def graded_preference(topic: Topic, penalty: Callable[[int, Fraction], Fraction]) -> float:
    """1/cg*(R) * sum of g(n) * (1 - penalty(n, pen(n))), 0 where cg*(R) is 0.

    pen(n) = sum over the ranks m < n with g(m) < g(n) of (g(n) - g(m))/g(n).
    """
    terms = []
    for n in topic.ranks():
        g = topic.g(n)
        pen = sum((quotient(g - topic.g(m), g) for m in range(1, n) if topic.g(m) < g), Fraction(0))
        terms.append(g * (1 - penalty(n, pen)))
    return float(quotient(sum(terms), topic.ideal_cg(topic.R)))


def rpref_n(topic: Topic, N: int) -> float:
    """rpref_N: penalty pen/(R + N - cg*(R)/gmax)."""
    gmax = largest_gain(topic)
    below = topic.R + N - quotient(topic.ideal_cg(topic.R), gmax)
    return graded_preference(topic, lambda _, pen: quotient(pen, below))


def rpref_relative(topic: Topic, N: int) -> float:  # noqa: ARG001  # as the others
    """rpref_relative: penalty pen/(n-1); rank 1 adds nothing."""
    return graded_preference(topic, lambda n, pen: pen / (n - 1) if n > 1 else Fraction(1))


def rpref_relative2(topic: Topic, N: int) -> float:  # noqa: ARG001  # as the others
    """rpref_relative2: penalty pen/n."""
    return graded_preference(topic, lambda n, pen: pen / n)


def gap_thresholds(levels: dict[str, float]) -> list[float]:
    """Thresholds j of GAP: 1..highest level if all levels are whole, else the distinct levels >= 1."""
    if all(level == math.floor(level) for level in levels.values()):
        return list(range(1, int(max(levels.values())) + 1))
    return sorted({level for level in levels.values() if level >= 1})


def gap(topic: Topic, levels: dict[str, float]) -> float:
    """GAP: sum_j w_j * R_{>=j} * AP_j / sum_j w_j * R_{>=j}.

    R_{>=j} * AP_j is the sum, over the ranks of documents of level >= j, of the share of such
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
    "gRBP": graded_rbp,
    "nDCG-JK": ndcg_jk,
    "nDCG": ndcg,
    "AP": lambda topic: normalised_cumulative_utility(topic, "u", 0),
    "RR": lambda topic: normalised_cumulative_utility(topic, "first", 0),
    "P": precision,
    "Success": success,
}

#: Preferences between judged documents use the condensed list.
PREFERENCES = {
    "bpref": bpref,
    "bpref_R": bpref_r,
    "bpref_N": bpref_n,
    "bpref_relative": bpref_relative,
    "rpref_N": rpref_n,
    "rpref_relative": rpref_relative,
    "rpref_relative2": rpref_relative2,
}

#: Measures that need all levels of the topic.
WHOLE_TOPIC = ("GAP", "B-pref", "R-pref")


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
    if name not in {*MEASURES, *PREFERENCES, *WHOLE_TOPIC}:
        raise ValueError(f"unknown measure {name!r}")
    if all_levels is None:
        all_levels = {*levels.values(), highest_level}
    params = {**defaults(name), **params}
    if name in ("B-pref", "R-pref"):
        name = f"{name.lower().replace('-', '')}_{params['penalty']}"
    if name in PREFERENCES:
        params["judged_only"] = True
    topic = Topic(params, levels, ranked, highest_level, all_levels)
    if topic.R == 0:
        return 0.0
    if name == "GAP":
        return gap(topic, levels)
    if name in PREFERENCES:
        N = sum(1 for level in levels.values() if 0 <= level < params["rel"])
        return PREFERENCES[name](topic, N)
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
        The score of each topic of the qrels; 0.0 for one missing from the run.
    """
    all_levels = {level for levels in qrels.values() for level in levels.values()}
    highest_level = max(all_levels, default=0)
    return {
        topic_id: score(
            name, params, levels, ranking(run.get(topic_id, {}), float32), highest_level, all_levels
        )
        for topic_id, levels in qrels.items()
    }
