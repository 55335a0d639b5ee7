"""Reference for the measures of ranked lists: slow, plain, in decimals of 60 digits.

Written from the formulas alone, without code of the package, so that the two can be compared. All numbers
are exact (``int``, ``Decimal`` of a double, ``Fraction``) or rounded at the 60th digit; only a score is
rounded to a float, or returned as a decimal to count the digits of the package.

Notation, for one topic: ``C(n)`` counts the relevant documents down to rank n, ``cg(n)`` is their cumulative
gain, ``cg*(n)`` that of the ideal list, ``R`` the number of relevant documents in the qrels, ``N`` that of
the documents judged not relevant (level from 0 to below ``rel``).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate

DIGITS = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)

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
    "ranks": "documents",
    "utility": "br",
    "b": 2,
    "penalty": "R",
    "dcg": "log2",
    "relative": False,
    "T": 1,
    "min_rel": 0,
    "normalize": True,
    "depth": None,
    "recall": None,
}
#: Below every level.
LARGEST = 1e101
#: Relevance in nDCG and ERR: any level above 0.
ABOVE_0 = math.nextafter(0, 1)
#: Defaults of single measures that differ from these.
OWN_DEFAULTS = {
    "gRBP": {"p": 0.95},
    "R-pref": {"penalty": "N"},
    "DCG": {"rel": ABOVE_0},
    "nDCG": {"rel": ABOVE_0},
    "ERR": {"rel": ABOVE_0, "dcg": "exp-log2"},
    "RBP": {"p": 0.8},
    "NERR10": {"p": 0.9},
    "Compat": {"p": 0.95, "rel": ABOVE_0},
    "NumRet": {"rel": math.inf},  # any retrieved document counts
}

Levels = dict[str, float]


def default(measure: str, name: str) -> object:
    """Default of a parameter of a measure, given its printed name."""
    return defaults(measure)[name]


def defaults(measure: str) -> dict:
    """Default of every parameter of a measure, given its printed name."""
    return {**DEFAULTS, **OWN_DEFAULTS.get(measure, {})}


# ---------------------------------------------------------------------------------------------- ranking


def ranking(scores: dict[str, float]) -> list[str]:
    """Order the documents of one topic.

    Args:
        scores: score of each retrieved document.

    Returns:
        The document ids by score descending, ties by id (as a string) descending.
    """

    def key(doc_id: str) -> tuple[float, str]:
        return float(scores[doc_id]), str(doc_id)

    return sorted(scores, key=key, reverse=True)


# ---------------------------------------------------------------------------------------------- numbers


@cache
def exact(value: float) -> Decimal:
    """Return the number as an exact decimal, whatever its type."""
    return Decimal(int(value)) if value == int(value) else Decimal(float(value))


def decimal(fraction: Fraction) -> Decimal:
    """Return a fraction as a decimal, rounded at the last digit."""
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def quotient(above: Decimal, below: Decimal) -> Decimal:
    """Return above / below, 0 if below is 0."""
    return above / below if below else 0 * above


def power(base: Decimal, exponent: int) -> Decimal:
    """Return a power; 0^0 is 1."""
    return base**exponent if exponent else Decimal(1)


@cache
def log(n: float) -> Decimal:
    """Return the natural logarithm."""
    return exact(n).ln(DIGITS)


# ------------------------------------------------------------------------------------- one topic, one run


class Topic:
    """The quantities of one topic and its ranking that the formulas need.

    Attributes:
        params: every parameter, including defaults.
        levels: level of each document in the qrels; empty for given lists.
        retrieved: the documents in ranked order, whatever the cutoff; empty for given lists.
        last: the last evaluated rank (the length of the ranking, or the cutoff if that is smaller).
        level: level at rank n, or None if the document is not relevant; ``level[0]`` is not used.
        relevant: levels of all relevant documents of the qrels, in ideal order (gain descending).
        R: number of relevant documents in the qrels.
        all_levels: levels that occur in all of the qrels.
        max_rel: the highest possible level.
        gmax: the largest possible gain, or None if the levels decide it.
    """

    gmax: Decimal | None = None

    def __init__(
        self,
        params: dict,
        levels: Levels,
        retrieved: list[str],
        highest_level: float,
        all_levels: Iterable[float],
    ) -> None:
        """Prepare one topic; the arguments are those of ``score``."""
        self.params = {**DEFAULTS, **params}
        self.levels = levels
        self.all_levels = set(all_levels)
        self.max_rel = highest_level
        if self.params["max_rel"] is not None:
            self.max_rel = self.params["max_rel"]
            if any(level > self.max_rel for level in [*self.all_levels, *levels.values()]):
                raise ValueError(f"a level of the qrels is above max_rel={self.max_rel}")
        self._prepare([level for level in levels.values() if level >= self.params["rel"]])
        self._rank(retrieved)

    @classmethod
    def of_lists(
        cls, params: dict, at_rank: list[float | None], relevant: list[float], gmax: Decimal
    ) -> Topic:
        """Return a topic with a given list and ideal list, each by levels.

        Args:
            params: the parameters; rel, judged_only and max_rel have been applied already.
            at_rank: level at each rank of the whole list, None if the document is not relevant.
            relevant: levels of the documents of the ideal list, which may differ from those of the list.
            gmax: the largest possible gain.
        """
        topic = cls.__new__(cls)
        topic.params, topic.levels, topic.retrieved = {**DEFAULTS, **params}, {}, []
        topic.all_levels, topic.max_rel, topic.gmax = set(relevant), max(relevant, default=0), gmax
        topic._prepare(relevant)
        topic._arrange(at_rank)
        return topic

    def of_order(self, retrieved: list[str]) -> Topic:
        """Return the topic with another ranking."""
        topic = self._copy()
        topic._rank(retrieved)
        return topic

    def ideal_list(self, worth: Callable[[float], float] | None = None) -> Topic:
        """Return the topic whose list is the ideal list, by gain or by another value, with this cutoff."""
        topic = self._copy()
        topic._arrange(sorted(self.relevant, key=worth, reverse=True) if worth else self.relevant)
        return topic

    def _copy(self) -> Topic:
        topic = self.__class__.__new__(self.__class__)
        topic.__dict__.update(self.__dict__)
        return topic

    def _prepare(self, relevant: list[float]) -> None:
        """Set the attributes that do not depend on the ranking."""
        if self.params["norm"] == "cutoff" and self.params["cutoff"] is None:
            raise ValueError("norm='cutoff' needs a cutoff")
        self.relevant = sorted(relevant, key=self.gain_of_level, reverse=True)
        self.R = len(relevant)
        self._ideal_cg = list(accumulate(map(self.gain_of_level, self.relevant), initial=Decimal(0)))

    def _rank(self, retrieved: list[str]) -> None:
        """Set the list to that of a ranking."""
        self.retrieved = retrieved
        rel = self.params["rel"]
        found = (self.levels.get(doc_id, -math.inf) for doc_id in self.evaluated())
        self._arrange([level if level >= rel else None for level in found])

    def evaluated(self) -> list[str]:
        """Return the documents of the ranking, with judged_only those of level >= 0."""
        if not self.params["judged_only"]:
            return self.retrieved
        return [doc_id for doc_id in self.retrieved if self.levels.get(doc_id, -1) >= 0]

    def _arrange(self, at_rank: list[float | None]) -> None:
        """Set the list down to the cutoff."""
        self.level = [None, *at_rank[: self.params["cutoff"]]]
        self.last = len(self.level) - 1
        gain = {level: self.gain_of_level(level) for level in {*self.level[1:]} - {None}}
        self._g = [gain.get(level, Decimal(0)) for level in self.level]
        self._cg = list(accumulate(self._g))
        self._count = list(accumulate(level is not None for level in self.level))

    def ranks(self) -> range:
        """The evaluated ranks: 1, 2, ..."""
        return range(1, self.last + 1)

    def relevant_ranks(self) -> list[int]:
        """The evaluated ranks with a relevant document."""
        return [n for n in self.ranks() if self.level[n] is not None]

    def gain_of_level(self, level: float) -> Decimal:
        """Gain of a relevant level: the override, or the level itself; with exp-log2, 2^gain - 1."""
        gain = exact(self.params["gains"].get(level, level))
        return gain if self.params["dcg"] == "log2" else exponential(gain)

    def weight_of_level(self, level: float) -> Decimal:
        """Stop weight of a relevant level: the override, or its gain."""
        stops = self.params["stops"]
        return exact(stops[level]) if level in stops else self.gain_of_level(level)

    def is_relevant(self, n: int) -> int:
        """I(n), which is 1 if the document at rank n is relevant, else 0."""
        return 0 if self.level[n] is None else 1

    def g(self, n: int) -> Decimal:
        """Gain of the document at rank n, 0 if it is not relevant."""
        return self._g[n]

    def count(self, n: int) -> int:
        """C(n), the number of relevant documents at ranks 1..n; beyond the last rank its last value."""
        return self._count[min(n, self.last)]

    def cg(self, n: int) -> Decimal:
        """Cumulative gain down to rank n; beyond the last rank its last value."""
        return self._cg[min(n, self.last)]

    def ideal_cg(self, n: int) -> Decimal:
        """Cumulative gain cg*(n) of the ideal list, constant after rank R."""
        return self._ideal_cg[min(n, self.R)]

    def best(self) -> int:
        """The number of relevant documents in the normalisation: R, or min(R, k) with norm='cutoff'."""
        return min(self.R, self.params["cutoff"]) if self.params["norm"] == "cutoff" else self.R

    @cached_property
    def N(self) -> int:
        """The number of documents judged not relevant."""
        return sum(0 <= level < self.params["rel"] for level in self.levels.values())


@cache
def exponential(gain: Decimal) -> Decimal:
    """2^gain - 1."""
    return DIGITS.subtract(DIGITS.power(Decimal(2), gain), 1)


# ------------------------------------------------------------------------------------------------ utility


def blended_ratio(topic: Topic, n: int, beta: float) -> Decimal:
    """BR(n) = (C(n) + beta * cg(n)) / (n + beta * cg*(n)); with beta=inf nCG(n), C(n)/n where cg*(n) = 0."""
    if beta == math.inf:
        ideal = topic.ideal_cg(n)
        return topic.cg(n) / ideal if ideal else Decimal(topic.count(n)) / n
    beta = exact(beta)
    return (topic.count(n) + beta * topic.cg(n)) / (n + beta * topic.ideal_cg(n))


UTILITIES = {
    "br": lambda topic, n: blended_ratio(topic, n, topic.params["beta"]),
    "rr": lambda topic, n: 1 / Decimal(n),  # noqa: ARG005  # as the others
    "ie": lambda topic, n: exact(topic.params["p"]) ** n,
}


# ------------------------------------------------------------- stop: p(n) for the ranks where it is above 0


def stop_uniform(topic: Topic) -> dict[int, Decimal]:
    """1/R at each relevant document."""
    return dict.fromkeys(topic.relevant_ranks(), 1 / Decimal(topic.best()))


def geometric_sum(base: Decimal, terms: int) -> Decimal:
    """1 + base + base^2 + ..., of so many terms."""
    return Decimal(terms) if base == 1 else (1 - base**terms) / (1 - base)


def stop_rank_biased(topic: Topic) -> dict[int, Decimal]:
    """gamma^(C(n)-1) / sum_{i=1..R} gamma^(i-1) at each relevant document."""
    gamma = exact(topic.params["gamma"])
    total = geometric_sum(gamma, topic.best())
    return {n: power(gamma, topic.count(n) - 1) / total for n in topic.relevant_ranks()}


def stop_graded_uniform(topic: Topic) -> dict[int, Decimal]:
    """The weight of the document's level over the sum of the weights of all relevant documents."""
    weights = sorted(map(topic.weight_of_level, topic.relevant), reverse=True)
    total = sum(weights[: topic.best()])
    return {n: quotient(topic.weight_of_level(topic.level[n]), total) for n in topic.relevant_ranks()}


def stop_first(topic: Topic) -> dict[int, Decimal]:
    """1 at the first relevant document."""
    return dict.fromkeys(topic.relevant_ranks()[:1], Decimal(1))


def preferred_rank(topic: Topic) -> int:
    """Return the first rank with the highest retrieved level; 0 if nothing relevant is retrieved."""
    return max(topic.relevant_ranks(), key=lambda n: (topic.level[n], -n), default=0)


def stop_preferred(topic: Topic) -> dict[int, Decimal]:
    """1 at the preferred rank."""
    preferred = preferred_rank(topic)
    return {preferred: Decimal(1)} if preferred else {}


def stop_up_to_preferred(topic: Topic) -> dict[int, Decimal]:
    """1/C(rp) at each relevant document down to the preferred rank rp."""
    preferred = preferred_rank(topic)
    return {n: 1 / Decimal(topic.count(preferred)) for n in topic.relevant_ranks() if n <= preferred}


def largest_gain(topic: Topic) -> Decimal:
    """Largest gain of a level from rel to max_rel.

    The levels are those that occur in the qrels, those named in gains, and max_rel itself. A gain equal to
    its level does not count as naming the level.
    """
    if topic.gmax is not None:
        return topic.gmax
    named = [level for level, gain in topic.params["gains"].items() if gain != level]
    candidates = [topic.max_rel, *topic.all_levels, *named]
    in_range = [level for level in candidates if topic.params["rel"] <= level <= topic.max_rel]
    return max(map(topic.gain_of_level, in_range), default=Decimal(0))


def stop_err(topic: Topic) -> dict[int, Decimal]:
    """dsat(n-1) * g(n)/(gmax+1), where dsat(0) = 1 and dsat(n) = dsat(n-1) * (1 - g(n)/(gmax+1))."""
    gmax, dsat, stops = largest_gain(topic), Decimal(1), {}
    for n in topic.relevant_ranks():
        stops[n] = dsat * topic.g(n) / (gmax + 1)
        dsat *= (1 + (gmax - topic.g(n))) / (gmax + 1)
    return stops


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

Measure = Callable[[Topic], Decimal]


def utility(stop: str, of: Callable[[Topic, int], Decimal]) -> Measure:
    """Sum over ranks n of stop(n) * utility(n)."""
    return lambda topic: sum((p * of(topic, n) for n, p in STOPS[stop](topic).items()), Decimal(0))


def blended(stop: str, beta: float | None = None) -> Measure:
    """Sum over ranks n of stop(n) * BR(n), with a given beta or that of the parameters."""
    return utility(stop, lambda t, n: blended_ratio(t, n, t.params["beta"] if beta is None else beta))


def over_ideal(
    topic: Topic, score: Measure, worth: Callable[[float], float] | None = None, always: bool = False
) -> Decimal:
    """The score; with norm='ideal' or always, over that of the ideal list at this cutoff, 0 if that is 0."""
    if topic.params["norm"] != "ideal" and not always:
        return score(topic)
    return quotient(score(topic), score(topic.ideal_list(worth)))


def ncu(topic: Topic) -> Decimal:
    """NCU with the stop, utility and beta given."""
    stop, of = topic.params["stop"], topic.params["utility"]
    if topic.params["norm"] == "ideal" and of == "br" and stop != "err":
        raise ValueError(f"NCU with stop={stop!r} and utility='br' takes no norm='ideal'")
    # If the gain does not affect the utility, the ideal list is that of the stop.
    worths = {"gu": topic.weight_of_level, "preferred": float, "up_to_preferred": float}
    return over_ideal(topic, utility(stop, UTILITIES[of]), worths.get(stop))


def required_cutoff(topic: Topic) -> int:
    """Return the cutoff of a measure that needs one."""
    if topic.params["cutoff"] is None:
        raise ValueError("this measure needs a cutoff")
    return topic.params["cutoff"]


def weighted_gain(weight: Callable[[int], Decimal]) -> Measure:
    """Sum of g(n) * weight(n)."""
    return lambda topic: sum((topic.g(n) * weight(n) for n in topic.relevant_ranks()), Decimal(0))


def graded_rbp(topic: Topic) -> Decimal:
    """gRBP: (1-p)/gmax * sum of g(n) * p^(n-1), or with norm='ideal' that sum over the ideal list's."""
    p = exact(topic.params["p"])
    total = over_ideal(topic, weighted_gain(lambda n: power(p, n - 1)))
    return total if topic.params["norm"] == "ideal" else (1 - p) * quotient(total, largest_gain(topic))


def ndcg(topic: Topic) -> Decimal:
    """nDCG: sum of g(n)/log2(n+1), over that of the ideal list."""
    return over_ideal(topic, weighted_gain(lambda n: log(2) / log(n + 1)), always=True)


def dcg(topic: Topic) -> Decimal:
    """DCG: sum of g(n)/log2(n+1); with exp-log2, g is 2^level - 1."""
    return weighted_gain(lambda n: log(2) / log(n + 1))(topic)


def f_measure(topic: Topic) -> Decimal:
    """F: (1 + beta^2) P R / (beta^2 P + R) with P = C(k)/k and recall R = C(k)/R."""
    found, beta = Decimal(topic.count(required_cutoff(topic))), topic.params["beta"]
    precision, recall = found / required_cutoff(topic), found / topic.R
    if beta == math.inf:
        return recall
    square = exact(beta) ** 2
    return quotient((1 + square) * precision * recall, square * precision + recall)


def first_rank(topic: Topic) -> Decimal:
    """FirstRank: the rank of the first relevant document, k + 1 without one among the first k."""
    return Decimal(min(topic.relevant_ranks(), default=required_cutoff(topic) + 1))


def ndcg_jk(topic: Topic) -> Decimal:
    """nDCG-JK: as nDCG, with D(n) = 1 for n <= b, else log_b(n)."""
    b = topic.params["b"]
    return over_ideal(topic, weighted_gain(lambda n: Decimal(1) if n <= b else log(b) / log(n)), always=True)


def gap(topic: Topic) -> Decimal:
    """GAP: sum_j w_j * R_{>=j} * AP_j / sum_j w_j * R_{>=j}.

    The thresholds j are 1..highest level if all levels are whole, else the distinct levels >= 1; w_j = j
    unless given. Thresholds between two levels have equal R_{>=j} and AP_j, so their weights are added.
    R_{>=j} * AP_j is the sum, over the ranks of documents of level >= j, of the share of such documents at
    that rank and above.
    """
    whole = all(level == math.floor(level) for level in topic.levels.values())
    named = {Fraction(exact(j)): Fraction(exact(w)) for j, w in topic.params["weights"].items()}
    score, total, below = Decimal(0), Decimal(0), Fraction(0)
    for level in sorted(set(topic.relevant)):
        j = Fraction(exact(level))
        weight = named.get(j, j)
        if whole:
            weight = (j * (j + 1) - below * (below + 1)) / 2  # the sum of below + 1, ..., j
            weight += sum(w - i for i, w in named.items() if below < i <= j and i.denominator == 1)
        below = j
        at_or_above = [n for n in topic.relevant_ranks() if topic.level[n] >= level]
        score += decimal(weight) * sum(Decimal(i) / n for i, n in enumerate(at_or_above, 1))
        total += decimal(weight) * sum(one >= level for one in topic.relevant[: topic.best()])
    return quotient(score, total)


# ---------------------------------------------------------------------- preferences over a condensed list


def preference(topic: Topic, penalty: Callable[[int, Fraction], Fraction], graded: bool = False) -> Decimal:
    """Sum over the relevant ranks n of g(n) * (1 - penalty(n, pen(n))), over cg*(R); 0 where that is 0.

    pen(n) = sum over the ranks m < n with g(m) < g(n) of (g(n) - g(m))/g(n). If not graded, each gain is 1,
    so that pen(n) is the number of documents not relevant above n, and cg*(R) is R.
    """
    score, above = Decimal(0), Counter()
    for n in topic.ranks():
        g = topic.g(n) if graded else topic.is_relevant(n)
        if g:
            pen = sum((less(lower, g) * many for lower, many in above.items() if lower < g), Fraction(0))
            score += g * decimal(1 - penalty(n, pen))
        above[g] += 1
    return quotient(score, topic.ideal_cg(topic.R) if graded else Decimal(topic.R))


@cache
def less(lower: Decimal, g: Decimal) -> Fraction:
    """Return by how much a gain is lower than another, as a share of that."""
    return 1 - Fraction(lower) / Fraction(g)


def penalty_relative(n: int, pen: Fraction) -> Fraction:
    """Penalty pen/(n-1); rank 1 adds nothing."""
    return pen / (n - 1) if n > 1 else Fraction(1)


def bpref(topic: Topic) -> Decimal:
    """Bpref: penalty min(R, c)/min(R, N)."""
    return preference(topic, lambda _, c: quotient(min(topic.R, c), Fraction(min(topic.R, topic.N))))


def rpref_n(topic: Topic) -> Decimal:
    """rpref_N: penalty pen/(R + N - cg*(R)/gmax)."""
    best, gmax = Fraction(topic.ideal_cg(topic.R)), Fraction(largest_gain(topic))
    below = topic.R + topic.N - quotient(best, gmax)
    return preference(topic, lambda _, pen: quotient(pen, below), graded=True)


PREFERENCES: dict[str, Measure] = {
    "bpref": bpref,
    "bpref_R": lambda topic: preference(topic, lambda _, c: Fraction(min(topic.R, c), topic.R)),
    "bpref_N": lambda topic: preference(topic, lambda _, c: quotient(c, Fraction(topic.N))),
    "bpref_relative": lambda topic: preference(topic, penalty_relative),
    "rpref_N": rpref_n,
    "rpref_relative": lambda topic: preference(topic, penalty_relative, graded=True),
    "rpref_relative2": lambda topic: preference(topic, lambda n, pen: pen / n, graded=True),
}
#: Measures that use the condensed list.
CONDENSED = {"Bpref", "B-pref", "R-pref", *PREFERENCES}


# --------------------------------------------------------------------------- classics of other definitions

#: RBP equals that of cwl_eval, which evaluates this number of ranks.
RBP_RANKS = 1000


def rbp(topic: Topic) -> Decimal:
    """RBP: sum of p^(n-1) over the relevant ranks, over its sum down to rank 1,000."""
    p = exact(topic.params["p"])
    found = sum((power(p, n - 1) for n in topic.relevant_ranks() if n <= RBP_RANKS), Decimal(0))
    return found / geometric_sum(p, RBP_RANKS)


def inferred_average_precision(topic: Topic) -> Decimal:
    """infAP: 1/R * sum over relevant ranks n of 1/n + P/n * (r + e) / (r + s + 2e), with e = 0.00001.

    Above n, r documents are relevant and s are judged not relevant. P documents are of the pool: these, and
    those of a negative level.
    """
    e, total, pool, judged = exact(0.00001), Decimal(0), 0, 0
    for n, doc_id in enumerate(topic.retrieved, 1):
        if topic.is_relevant(n):
            total += 1 / Decimal(n) + Decimal(pool) / n * (topic.count(n) - 1 + e) / (judged + 2 * e)
        pool += doc_id in topic.levels
        judged += topic.levels.get(doc_id, -1) >= 0
    return total / topic.R


def judged(topic: Topic) -> Decimal:
    """Judged@k: share of documents with a level, whatever it is, among the first min(k, retrieved)."""
    looked_at = topic.retrieved[: topic.params["cutoff"]]
    return quotient(Decimal(sum(doc_id in topic.levels for doc_id in looked_at)), len(looked_at))


def retrieved(topic: Topic) -> Decimal:
    """NumRet: number of relevant retrieved documents, or of all without rel."""
    return Decimal(len(topic.retrieved) if topic.params["rel"] == math.inf else topic.count(topic.last))


def set_precision(topic: Topic) -> Decimal:
    """SetP: C over the number of retrieved documents; relative: over its minimum with R."""
    size = len(topic.evaluated())
    return quotient(Decimal(topic.count(size)), min(size, topic.R) if topic.params["relative"] else size)


def set_f(topic: Topic) -> Decimal:
    """SetF: (1 + beta) P R / (beta P + R)."""
    beta, size = exact(topic.params["beta"]), len(topic.evaluated())
    return quotient((beta + 1) * topic.count(size), beta * topic.R + size)


def set_average_precision(topic: Topic) -> Decimal:
    """SetAP: C^2 / (retrieved * R)."""
    size = len(topic.evaluated())
    return quotient(Decimal(topic.count(size) ** 2), size * topic.R)


def interpolated_precision(topic: Topic) -> Decimal:
    """IPrec: highest C(n)/n at relevant ranks with C(n) >= floor(recall * R + 0.9), at least 1."""
    least = max(math.floor(topic.params["recall"] * topic.R + 0.9), 1)
    found = (Decimal(topic.count(n)) / n for n in topic.relevant_ranks() if topic.count(n) >= least)
    return max(found, default=Decimal(0))


def accuracy(topic: Topic) -> Decimal:
    """Accuracy: mean over the relevant documents of the share of the others that are below them."""
    relevant = set(topic.relevant_ranks())
    others, pairs = 0, 0
    for n in reversed(topic.ranks()):  # others counts those below rank n
        if n in relevant:
            pairs += others
        else:
            others += 1
    if not relevant or not others:
        return Decimal(bool(relevant))
    return Decimal(pairs) / (others * len(relevant))


def compatibility(topic: Topic) -> Decimal:
    """Compat: sum over depths d of p^(d-1)/d * overlap of run and ideal list, over its highest value."""
    p, depth, run = exact(topic.params["p"]), topic.params["depth"], topic.retrieved
    place = {doc_id: n for n, doc_id in enumerate(run)}
    ideal = [doc_id for doc_id, level in topic.levels.items() if level > 0]
    ideal.sort(key=lambda doc_id: (-topic.levels[doc_id], place.get(doc_id, math.inf)))
    seen, wanted, overlap = set(), set(), 0
    found, best, total, weight = Decimal(0), Decimal(0), Decimal(0), Decimal(1)
    for d in range(1, (max(len(run), len(ideal)) if depth is None else depth) + 1):
        for docs, added, other in ((run, seen, wanted), (ideal, wanted, seen)):
            if d <= len(docs):
                added.add(docs[d - 1])
                overlap += docs[d - 1] in other
        found += weight * overlap / d
        best += weight * len(wanted) / d
        total += weight
        weight *= p
    return quotient(found, best if topic.params["normalize"] else total)


# -------------------------------------------------------------------------------------------------- C/W/L

#: Ranks without a cutoff, as in cwl_eval.
CWL_RANKS = 1000
Weights = Callable[[list[Decimal], dict], Iterable[Decimal]]


def expected_gain(weights: Weights) -> Measure:
    """Sum of g(n) W(n) over sum of W(n), down to the cutoff or rank 1,000; no gain below the run's end."""

    def score(topic: Topic) -> Decimal:
        low, high = topic.params["min_rel"], topic.params["highest"]
        ranks = topic.params["cutoff"] or CWL_RANKS
        gains = [Decimal(0)] * ranks
        for at, doc_id in enumerate(topic.retrieved[:ranks]):
            if doc_id in topic.levels:
                level = min(max(topic.levels[doc_id], 0, low), high)
                gains[at] = (exact(level) - low) / (high - low)
        weight = list(weights(gains, topic.params))
        return sum((g * w for g, w in zip(gains, weight, strict=True)), Decimal(0)) / sum(weight)

    return score


def by_rank(weight: Callable[[int, dict], Decimal]) -> Weights:
    """Weights that depend on the rank and on T alone."""

    @cache
    def of_all(ranks: int, T: float) -> list[Decimal]:
        return [weight(n, {"T": T}) for n in range(1, ranks + 1)]

    return lambda gains, params: of_all(len(gains), params["T"])


def until_satisfied(weight: Callable[[int, dict], Decimal]) -> Weights:
    """Weights times the product of 1 - g over the ranks above."""

    def weights(gains: list[Decimal], params: dict) -> list[Decimal]:
        reached = accumulate((1 - g for g in gains[:-1]), lambda a, b: a * b, initial=Decimal(1))
        return [one * weight(n, params) for n, one in enumerate(reached, 1)]

    return weights


def inverse_square(n: int, params: dict) -> Decimal:
    """1 / (n + 2T - 1)^2."""
    return 1 / (n + 2 * exact(params["T"]) - 1) ** 2


def inst_weights(gains: list[Decimal], params: dict) -> Iterable[Decimal]:
    """W(n+1) = W(n) ((n + 2T - cg(n) - 1) / (n + 2T - cg(n)))^2, W(1) = 1."""
    weight, cg = Decimal(1), Decimal(0)
    for n, g in enumerate(gains, 1):
        yield weight
        cg += g
        missing = n + 2 * exact(params["T"]) - cg
        weight *= ((missing - 1) / missing) ** 2


def bpm_weights(gains: list[Decimal], params: dict) -> Iterable[Decimal]:
    """1 down to the first rank with cg >= T, compared with 12 digits; then 0."""
    digits, cg = Context(prec=12), Decimal(0)
    for g in gains:
        yield Decimal(digits.plus(cg) < digits.plus(exact(params["T"])))
        cg += g


CWL: dict[str, Measure] = {
    "SDCG": expected_gain(by_rank(lambda n, _: log(2) / log(n + 1))),
    "INSQ": expected_gain(by_rank(inverse_square)),
    "INST": expected_gain(inst_weights),
    "BPM": expected_gain(bpm_weights),
    "NERR8": expected_gain(until_satisfied(lambda _, __: Decimal(1))),
    "NERR9": expected_gain(until_satisfied(lambda n, _: 1 / Decimal(n))),
    "NERR10": expected_gain(until_satisfied(lambda n, params: power(exact(params["p"]), n - 1))),
    "NERR11": expected_gain(until_satisfied(inverse_square)),
}

MEASURES: dict[str, Measure] = {
    "Q": blended("u"),
    "O-measure": blended("first"),
    "P-measure": blended("preferred"),
    "P+": blended("up_to_preferred"),
    "NCU": ncu,
    "AWP": blended("u", math.inf),
    "R-measure": lambda topic: blended_ratio(topic, topic.R, topic.params["beta"]),
    "R-WP": lambda topic: blended_ratio(topic, topic.R, math.inf),
    "nCG": lambda topic: blended_ratio(topic, required_cutoff(topic), math.inf),
    "BR": lambda topic: blended_ratio(topic, required_cutoff(topic), topic.params["beta"]),
    "RelP": lambda topic: Decimal(topic.count(required_cutoff(topic))) / min(topic.R, topic.params["cutoff"]),
    "F": f_measure,
    "FirstRank": first_rank,
    "EBR": lambda topic: over_ideal(topic, blended("err")),
    "iRBU": lambda topic: over_ideal(topic, utility("err", UTILITIES["ie"])),
    "nERR": lambda topic: over_ideal(topic, utility("err", UTILITIES["rr"]), always=True),
    "gRBP": graded_rbp,
    "DCG": dcg,
    "nDCG-JK": ndcg_jk,
    "GAP": gap,
    "B-pref": lambda topic: PREFERENCES[f"bpref_{topic.params['penalty']}"](topic),
    "R-pref": lambda topic: PREFERENCES[f"rpref_{topic.params['penalty']}"](topic),
}

CLASSICS: dict[str, Measure] = {
    "nDCG": ndcg,
    "AP": blended("u", 0),
    "RR": blended("first", 0),
    "P": lambda topic: Decimal(topic.count(required_cutoff(topic))) / required_cutoff(topic),
    "R": lambda topic: Decimal(topic.count(required_cutoff(topic))) / topic.R,
    "Rprec": lambda topic: Decimal(topic.count(topic.R)) / topic.R,
    "Success": lambda topic: Decimal(topic.count(required_cutoff(topic)) > 0),
    "Bpref": bpref,
    "infAP": inferred_average_precision,
    "ERR": utility("err", UTILITIES["rr"]),
    "RBP": rbp,
    "Judged": judged,
    "NumRet": retrieved,
    "NumRel": lambda topic: Decimal(topic.R),
    "NumQ": lambda _: Decimal(1),
    "SetP": set_precision,
    "SetR": lambda topic: Decimal(topic.count(topic.last)) / topic.R,
    "SetF": set_f,
    "SetAP": set_average_precision,
    "IPrec": interpolated_precision,
    "Accuracy": accuracy,
    "Compat": compatibility,
    **CWL,
}

#: Measures of any topic; the others are 0 without a relevant document.
OF_ANY_TOPIC = ("Judged", "NumRet", "NumRel", "NumQ", "FirstRank")

FORMULAS = {**MEASURES, **CLASSICS, **PREFERENCES}


# --------------------------------------------------------------------------------------------- evaluation


def topic_of(
    name: str,
    params: dict,
    levels: Levels,
    retrieved: list[str],
    highest_level: float = 0,
    all_levels: Iterable[float] | None = None,
) -> Topic:
    """Return the topic of a measure; the arguments are those of ``score``."""
    params = {**defaults(name), **params}
    if name == "nDCG":  # its gains replace levels before all else
        levels = {doc_id: params["gains"].get(level, level) for doc_id, level in levels.items()}
        params["gains"] = {}
    if name in CONDENSED:
        params["judged_only"] = True
    if name in CWL:  # higher levels count as max_rel; below 0, every judged document has a gain
        params["highest"], params["max_rel"], low = params["max_rel"], None, params["min_rel"]
        params["rel"] = math.nextafter(low, math.inf) if low >= 0 else -LARGEST
    if all_levels is None:
        all_levels = {*levels.values(), highest_level}
    topic = Topic(params, levels, retrieved, highest_level, all_levels)
    if name == "ERR":
        topic.gmax = Decimal(15)
    return topic


def score(
    name: str,
    params: dict,
    levels: Levels,
    retrieved: list[str],
    highest_level: float = 0,
    all_levels: Iterable[float] | None = None,
    number: type = float,
) -> float | Decimal:
    """Score one topic.

    Args:
        name: printed name of the measure, or one of ``PREFERENCES``.
        params: the parameters given; the others have their default.
        levels: level of each document in the qrels of this topic.
        retrieved: the retrieved documents in ranked order.
        highest_level: highest level in all of the qrels, the default of max_rel.
        all_levels: the levels that occur in all of the qrels; those of this topic if not given.
        number: the type of the score, float or Decimal.

    Returns:
        The score, 0 for a topic without a relevant document.

    Raises:
        ValueError: if the name is unknown, a cutoff is missing, or a level is above a named max_rel.
    """
    if name not in FORMULAS:
        raise ValueError(f"unknown measure {name!r}")
    with localcontext(DIGITS):
        topic = topic_of(name, params, levels, retrieved, highest_level, all_levels)
        return number(formula(name, topic))


def formula(name: str, topic: Topic) -> Decimal:
    """Return the score of a prepared topic; see ``OF_ANY_TOPIC``."""
    return FORMULAS[name](topic) if topic.R or name in OF_ANY_TOPIC else Decimal(0)


def evaluate(
    name: str, params: dict, qrels: dict[str, Levels], run: dict[str, dict[str, float]]
) -> dict[str, float]:
    """Score every topic of the qrels.

    Args:
        name: printed name of the measure.
        params: the parameters given.
        qrels: level by topic and document.
        run: score by topic and document.

    Returns:
        The score of each topic of the qrels; 0.0 for one missing from the run.
    """
    all_levels = {level for levels in qrels.values() for level in levels.values()}
    highest_level = max(all_levels, default=0)
    return {
        topic_id: score(name, params, levels, ranking(run.get(topic_id, {})), highest_level, all_levels)
        for topic_id, levels in qrels.items()
    }
