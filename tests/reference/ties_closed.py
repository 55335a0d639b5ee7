"""Reference for expected scores with ties in closed form, measure by measure and one topic at a time.

Written from the formulas alone, without code of the package. ``ties`` scores every order instead;
both must agree. Numbers are exact (``Fraction``) except probabilities and discounts; large groups need
floats throughout, with ``number=float``.

Notation, for one topic: a relevant document has the value v = 1 + beta g, and D(r) = r + beta cg*(r), so that
BR(r) is the sum of the values down to rank r over D(r). For beta = inf, v = g and D = cg*; where all gains
are 0, v = 1 and D = r.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from reference import classics, ranked
from reference.tie_algorithms import (
    Number,
    Places,
    Step,
    cascade,
    first_at,
    linear,
    out,
    preferred,
    up_to_preferred,
)
from reference.ties import Groups, Levels

Denominator = Callable[[int], Number]

# -------------------------------------------------------------------------------------------------- one topic


@dataclass(frozen=True)
class Group:
    """A tie group as evaluated by a measure.

    Attributes:
        t: number of ranks above the group.
        n: number of documents in the group.
        q: the number of its ranks that the measure evaluates.
        relevant: level of each relevant document of the group.
        judged: number of documents of the group with a level, whatever it is.
        others: number of documents of the group with a level from 0 to below rel.
        above: levels of the relevant documents in the groups above.
        others_above: number of ``others`` in the groups above.
    """

    t: int
    n: int
    q: int
    relevant: list[float]
    judged: int
    others: int
    above: list[float]
    others_above: int

    def at_or_above(self, level: float) -> Group:
        """Return the group with only documents of that level or a higher one as relevant."""
        relevant = [one for one in self.relevant if one >= level]
        above = [one for one in self.above if one >= level]
        return Group(self.t, self.n, self.q, relevant, self.judged, self.others, above, self.others_above)


def groups_seen(params: dict, levels: Levels, groups: Groups) -> list[Group]:
    """Return the tie groups with a document that the measure evaluates."""
    cutoff = math.inf if params["cutoff"] is None else params["cutoff"]
    seen, t, above, others_above = [], 0, [], 0
    for documents in groups:
        if params["judged_only"]:
            documents = [doc_id for doc_id in documents if levels.get(doc_id, -1) >= 0]  # noqa: PLW2901
        held = [levels[doc_id] for doc_id in documents if doc_id in levels]
        relevant = [level for level in held if level >= params["rel"]]
        others = sum(0 <= level < params["rel"] for level in held)
        n = len(documents)
        q = int(min(n, max(0, cutoff - t)))
        if q > 0:
            seen.append(Group(t, n, q, relevant, len(held), others, above, others_above))
        t, above, others_above = t + n, above + relevant, others_above + others
    return seen


class Tied:
    """A topic with its tie groups, and the quantities that do not depend on their order.

    Attributes:
        topic: the topic without a ranking: parameters, R, gains, stop weights and the ideal list.
        groups: the tie groups that the measure evaluates.
        levels: level of each document in the qrels.
        params: every parameter, including defaults.
        number: the arithmetic, ``Fraction`` or ``float``.
        one: the number 1 in it.
    """

    def __init__(self, topic: ranked.Topic, levels: Levels, groups: Groups, number: type) -> None:
        """Prepare one topic."""
        self.topic = topic
        self.levels = levels
        self.params = topic.params
        self.groups = groups_seen(self.params, levels, groups)
        self.number = number
        self.one = number(1)

    def gain(self, level: float) -> Number:
        """Gain of a relevant level."""
        return self.number(self.topic.gain_of_level(level))

    def blend(self, beta: float) -> tuple[Callable[[float], Number], Denominator]:
        """Return the value v of a level, and the denominator D of a rank."""
        of_count, of_gain = self.one, 0 * self.one
        if beta == math.inf and self.topic.ideal_cg(1) > 0:
            of_count, of_gain = of_gain, of_count
        elif beta != math.inf:
            of_gain = self.number(ranked.exact(beta))

        def value(level: float) -> Number:
            return of_count + of_gain * self.gain(level)

        def denominator(r: int) -> Number:
            return of_count * r + of_gain * self.number(self.topic.ideal_cg(r))

        return value, denominator

    def places(self, group: Group, value: Callable[[float], Number], D: Denominator) -> Places:
        """Return the ranks of a group, below documents of these values."""
        return Places(group.t, group.n, group.q, sum(map(value, group.above)), D, self.one)

    def gmax(self) -> Number:
        """Return the largest gain on the scale."""
        return self.number(ranked.largest_gain(self.topic))


# --------------------------------------------------------------------------------------------------- measures


def weighted(tied: Tied, beta: float, weight: Callable[[float], Number], norm: Number) -> float:
    """A, divided: sum over relevant ranks of weight(level) * BR / norm."""
    value, D = tied.blend(beta)
    if norm == 0:
        return 0.0
    terms = []
    for group in tied.groups:
        documents = [(weight(level), value(level)) for level in group.relevant]
        terms.append(linear(tied.places(group, value, D), documents))
    return math.fsum(map(float, terms)) / float(norm)


def uniform(tied: Tied, beta: float) -> float:
    """Q, AWP, NCU u: each relevant document weighs 1/R, or 1/min(R, k)."""
    return weighted(tied, beta, lambda _: tied.one, tied.number(tied.topic.best()))


def graded_uniform(tied: Tied, beta: float) -> float:
    """NCU gu: each relevant document weighs by its level."""
    weights = sorted(map(tied.topic.weight_of_level, tied.topic.relevant), reverse=True)
    norm = tied.number(sum(weights[: tied.topic.best()]))
    return weighted(tied, beta, lambda level: tied.number(tied.topic.weight_of_level(level)), norm)


def rank_biased(tied: Tied, beta: float) -> float:
    """NCU rb: the i-th relevant document weighs gamma^(i-1)."""
    gamma = tied.params["gamma"]
    norm = math.fsum(gamma**i for i in range(tied.topic.best()))
    return cascaded(tied, beta, lambda _: (1.0, gamma)) / norm


def satisfied(tied: Tied) -> Callable[[float], tuple[Number, Number]]:
    """Return s and x of a level in the cascade: it satisfies with probability g/(gmax+1)."""
    gmax = tied.gmax()
    return lambda level: (tied.gain(level) / (gmax + 1), 1 - tied.gain(level) / (gmax + 1))


def expected_blended_ratio(tied: Tied, beta: float) -> float:
    """EBR, NCU err."""
    return cascaded(tied, beta, satisfied(tied))


def cascaded(tied: Tied, beta: float, stop: Callable[[float], tuple[Number, Number]]) -> float:
    """B with BR: sum over relevant ranks of (product of x above) * s * BR."""
    value, D = tied.blend(beta)
    terms = []
    for group in tied.groups:
        at = tied.places(group, value, D)
        X = math.prod((stop(level)[1] for level in group.above), start=tied.one)
        documents = [(*stop(level), value(level)) for level in group.relevant]
        means = cascade(at.n, at.q, documents, tied.one)
        terms += [X * (at.V * means.d[j] + means.l[j]) / D(at.t + j) for j in range(1, at.q + 1)]
    return math.fsum(map(float, terms))


def discounted_cascade(
    groups: Iterable[Group],
    stop: Callable[[float], tuple[Number, Number]],
    utility: Callable[[int], Number],
    one: Number,
) -> float:
    """B without BR: sum over relevant ranks of (product of x above) * s * utility of the rank."""
    terms = []
    for group in groups:
        X = math.prod((stop(level)[1] for level in group.above), start=one)
        means = cascade(group.n, group.q, [(*stop(level), one) for level in group.relevant], one)
        terms += [X * means.d[j] * utility(group.t + j) for j in range(1, group.q + 1)]
    return math.fsum(map(float, terms))


def intentwise_rank_biased_utility(tied: Tied) -> float:
    """iRBU."""
    return discounted_cascade(tied.groups, satisfied(tied), lambda r: tied.params["p"] ** r, tied.one)


def graded_rank_biased_precision(tied: Tied) -> float:
    """gRBP: the group's mean gain at each of its ranks."""
    gmax, p = tied.gmax(), tied.params["p"]
    if gmax == 0:
        return 0.0
    return per_rank(
        tied.groups,
        lambda group: sum(map(tied.gain, group.relevant)) / gmax,
        lambda r: (1 - p) * p ** (r - 1),
    )


def normalised_err(tied: Tied) -> float:
    """nERR: ERR over that of the ideal list."""
    ideal = ranked.expected_reciprocal_rank(tied.topic.ideal_list())
    if ideal == 0:
        return 0.0
    return discounted_cascade(tied.groups, satisfied(tied), lambda r: Fraction(1, r), tied.one) / ideal


def first(tied: Tied, beta: float) -> float:
    """O-measure, NCU first: C in the first group with a relevant document."""
    value, D = tied.blend(beta)
    for group in tied.groups:
        if group.relevant:
            mean = sum(map(value, group.relevant)) / len(group.relevant)
            probabilities = first_at(group.n, len(group.relevant), group.q, tied.one)
            return math.fsum(float(f * mean / D(group.t + j)) for j, f in enumerate(probabilities, start=1))
    return 0.0


def steps_of(group: Group, value: Callable[[float], Number]) -> list[Step]:
    """Return the levels of a group that are above all levels of the groups above, highest first."""
    best = max(group.above, default=-math.inf)
    return [
        Step(
            higher=sum(one > level for one in group.relevant),
            v=value(level),
            h=group.relevant.count(level),
            lower=[value(one) for one in group.relevant if one < level],
        )
        for level in sorted(set(group.relevant), reverse=True)
        if level > best
    ]


def kept(tied: Tied, group: Group) -> Number:
    """Return the probability that no document within the cutoff has a level above all groups above."""
    best = max(group.above, default=-math.inf)
    return out(group.n, group.q, sum(level > best for level in group.relevant), tied.one)


def at_preferred(tied: Tied, beta: float) -> float:
    """P-measure, NCU preferred: 1.4 group by group."""
    value, D = tied.blend(beta)
    E = 0 * tied.one
    for group in tied.groups:
        new = preferred(tied.places(group, value, D), steps_of(group, value))
        E = new + kept(tied, group) * E
    return float(E)


def down_to_preferred(tied: Tied, beta: float) -> float:
    """P+, NCU up_to_preferred: 1.5 group by group."""
    value, D = tied.blend(beta)
    E = A = 0 * tied.one
    for group in tied.groups:
        at = tied.places(group, value, D)
        new = up_to_preferred(at, steps_of(group, value), len(group.above), A)
        E = new + kept(tied, group) * E
        A += linear(at, [(tied.one, value(level)) for level in group.relevant])
    return float(E)


def at_rank(tied: Tied, beta: float, k: int) -> float:
    """R-measure, R-WP, nCG, BR: the expected value of BR(k); within the cutoff for its numerator."""
    value, D = tied.blend(beta)
    above = 0
    for group in tied.groups:
        q = min(group.q, max(0, k - group.t))
        above += q * sum(map(value, group.relevant)) / group.n
    return float(above / D(k))


def graded_average_precision(tied: Tied) -> float:
    """GAP: A for each threshold, with beta = 0 and the documents of that level or above as relevant."""
    weights = tied.params["weights"]
    thresholds = {j: tied.number(ranked.exact(weights.get(j, j))) for j in ranked.gap_thresholds(tied.levels)}
    ideal = tied.topic.relevant[: tied.topic.best()]
    norm = sum(w * sum(level >= j for level in ideal) for j, w in thresholds.items())
    if norm == 0:
        return 0.0
    terms = []
    for j, w in thresholds.items():
        for group in (group.at_or_above(j) for group in tied.groups):
            at = tied.places(group, lambda _: tied.one, lambda r: r)
            terms.append(w / norm * linear(at, [(tied.one, tied.one)] * len(group.relevant)))
    return math.fsum(map(float, terms))


def per_rank(
    groups: Sequence[Group], amount: Callable[[Group], Number], weight: Callable[[int], Number]
) -> float:
    """Sum over ranks of the group's mean amount at that rank times the weight of the rank."""
    return math.fsum(
        float(amount(group) / group.n * weight(group.t + j))
        for group in groups
        for j in range(1, group.q + 1)
    )


def number_relevant(group: Group) -> Fraction:
    """Number of relevant documents of the group."""
    return Fraction(len(group.relevant))


def average_precision(tied: Tied) -> float:
    """AP: Q with beta = 0."""
    return uniform(tied, 0)


def precision(tied: Tied) -> float:
    """P."""
    return per_rank(tied.groups, number_relevant, lambda _: Fraction(1, tied.params["cutoff"]))


def recall(tied: Tied) -> float:
    """R."""
    return per_rank(tied.groups, number_relevant, lambda _: Fraction(1, tied.topic.R))


def r_precision(tied: Tied) -> float:
    """Rprec: the ranks down to R."""
    R = tied.topic.R
    return per_rank(tied.groups, number_relevant, lambda r: Fraction(r <= R, R))


def success(tied: Tied) -> float:
    """Success: probability that a relevant document of the first group with any is within the cutoff."""
    for group in tied.groups:
        if group.relevant:
            return float(1 - out(group.n, group.q, len(group.relevant), Fraction(1)))
    return 0.0


def judged(tied: Tied) -> float:
    """Judged: over the number of evaluated ranks."""
    looked_at = sum(group.q for group in tied.groups)
    if not looked_at:
        return 0.0
    return per_rank(tied.groups, lambda group: Fraction(group.judged), lambda _: Fraction(1, looked_at))


def bpref(tied: Tied) -> float:
    """Bpref: the mean of min(N(n), R) over a document's places among z others, 0 .. z of which are above."""
    R = tied.topic.R
    others = sum(0 <= level < tied.params["rel"] for level in tied.levels.values())
    total = Fraction(0)
    for group in tied.groups:
        z, above = group.others, group.others_above
        k = min(max(R - above, 0), z + 1)
        mean = Fraction(2 * k * above + k * (k - 1) + 2 * (z + 1 - k) * R, 2 * (z + 1))
        total += len(group.relevant) * (1 - (mean / min(others, R) if others else 0))
    return float(total / R)


def ndcg(tied: Tied) -> float:
    """nDCG: the group's mean gain at each of its ranks; ``gains`` has replaced the levels already."""
    params = tied.params

    def gain(group: Group) -> float:
        return math.fsum(float(classics.gain(params, level)) for level in group.relevant)

    gains = [classics.gain(params, level) for level in tied.levels.values()]
    ideal = classics.discounted(sorted(gains, reverse=True)[: params["cutoff"]])
    return per_rank(tied.groups, gain, lambda r: 1 / math.log2(r + 1)) / ideal if ideal else 0.0


def err(tied: Tied) -> float:
    """ERR."""

    def stop(level: float) -> tuple[float, float]:
        return classics.satisfaction(level), 1 - classics.satisfaction(level)

    return discounted_cascade(tied.groups, stop, lambda r: 1 / r, 1.0)


def rbp(tied: Tied) -> float:
    """RBP, which evaluates 1,000 ranks."""
    weights = classics.rbp_weights(tied.params["p"])
    return per_rank(tied.groups, number_relevant, lambda r: weights[r - 1])


def generalised_average_precision(groups: Sequence[Group], numrel: int, number: type) -> float:
    """MAgP: A with w = 1, v = F and D(r) = r; the levels of the groups are F of articles with relevance."""
    terms = []
    for group in groups:
        documents = [(number(1), number(F)) for F in group.relevant]
        at = Places(group.t, group.n, group.q, sum(map(number, group.above)), lambda r: r, number(1))
        terms.append(linear(at, documents))
    return math.fsum(map(float, terms)) / numrel


MEASURES: dict[str, Callable[[Tied], float]] = {
    "Q": lambda tied: uniform(tied, tied.params["beta"]),
    "O-measure": lambda tied: first(tied, tied.params["beta"]),
    "P-measure": lambda tied: at_preferred(tied, tied.params["beta"]),
    "P+": lambda tied: down_to_preferred(tied, tied.params["beta"]),
    "NCU": lambda tied: STOPS[tied.params["stop"]](tied, tied.params["beta"]),
    "AWP": lambda tied: uniform(tied, math.inf),
    "R-measure": lambda tied: at_rank(tied, tied.params["beta"], tied.topic.R),
    "R-WP": lambda tied: at_rank(tied, math.inf, tied.topic.R),
    "nCG": lambda tied: at_rank(tied, math.inf, tied.params["cutoff"]),
    "BR": lambda tied: at_rank(tied, tied.params["beta"], tied.params["cutoff"]),
    "EBR": lambda tied: expected_blended_ratio(tied, tied.params["beta"]),
    "iRBU": intentwise_rank_biased_utility,
    "nERR": normalised_err,
    "gRBP": graded_rank_biased_precision,
    "GAP": graded_average_precision,
    "AP": average_precision,
    "RR": lambda tied: first(tied, 0),
    "P": precision,
    "R": recall,
    "Rprec": r_precision,
    "Success": success,
    "Bpref": bpref,
    "nDCG": ndcg,
    "ERR": err,
    "RBP": rbp,
    "Judged": judged,
}

STOPS: dict[str, Callable[[Tied, float], float]] = {
    "u": uniform,
    "rb": rank_biased,
    "gu": graded_uniform,
    "first": first,
    "preferred": at_preferred,
    "up_to_preferred": down_to_preferred,
    "err": expected_blended_ratio,
}

#: Relevance in nDCG and ERR: any level above 0.
ABOVE_0 = math.nextafter(0, 1)


def expected(
    name: str,
    params: dict,
    levels: Levels,
    groups: Groups,
    highest_level: float,
    all_levels: set[float] | None = None,
    number: type = Fraction,
) -> float:
    """Expected score of one topic.

    Args:
        name: printed name of the measure, one of ``ranked`` or of ``classics``.
        params: the parameters given; the others have their default.
        levels: level of each document in the qrels of this topic.
        groups: the retrieved documents as tie groups, from the top down.
        highest_level: highest level in all of the qrels, the default of max_rel.
        all_levels: the levels that occur in all of the qrels; those of this topic if not given.
        number: the arithmetic, ``Fraction`` or ``float``.

    Returns:
        The score, 0.0 for a topic without a relevant document.
    """
    if name in classics.MEASURES:
        params = {**classics.DEFAULTS, **params}
        if name in ("nDCG", "ERR"):
            levels = {doc_id: params["gains"].get(level, level) for doc_id, level in levels.items()}
            params |= {"rel": ABOVE_0, "gains": {}}
        if name == "RBP":
            params |= {"cutoff": classics.RBP_RANKS}
    if all_levels is None:
        all_levels = {*levels.values(), highest_level}
    topic = ranked.Topic(params, levels, [], highest_level, all_levels)
    tied = Tied(topic, levels, groups, number)
    if topic.R == 0 and name not in classics.OF_ANY_TOPIC:
        return 0.0
    return MEASURES[name](tied)


def expected_of_passages(
    name: str,
    cutoff: int | None,
    kinds: dict[str, tuple[float, bool]],
    groups: Groups,
    numrel: int,
    number: type = Fraction,
) -> float:
    """Expected score of one topic by MAgP, gP or gR.

    Args:
        name: printed name of the measure.
        cutoff: the cutoff, or None.
        kinds: F of each retrieved article, and whether it has relevance.
        groups: the retrieved articles as tie groups, from the top down.
        numrel: number of articles with relevance in the qrels.
        number: the arithmetic, ``Fraction`` or ``float``.

    Returns:
        The score, 0.0 for a topic without relevance.
    """
    if not numrel:
        return 0.0
    F = {article: F for article, (F, is_relevant) in kinds.items() if is_relevant}
    seen = groups_seen({"cutoff": cutoff, "judged_only": False, "rel": -math.inf}, F, groups)
    if name == "MAgP":
        return generalised_average_precision(seen, numrel, number)
    if name == "gP":
        return per_rank(seen, lambda group: sum(map(number, group.relevant)), lambda _: Fraction(1, cutoff))
    return per_rank(seen, number_relevant, lambda _: Fraction(1, numrel))
