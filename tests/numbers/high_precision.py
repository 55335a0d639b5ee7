"""Every measure of ranked lists in decimal arithmetic of 60 digits: the values that errors in ulps refer to.

Counts, gains, ideal lists and preferred ranks come from the plain reference, as exact fractions. Values that
the reference rounds to floats (probabilities, ratios, sums) are computed here in decimals.
"""

from __future__ import annotations

import math
from collections import Counter
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction

from reference import ranked
from reference.ranked import Topic, exact

CONTEXT = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)


def decimal(value):
    """Return an int, a float or a fraction as a decimal, rounded at the 60th digit."""
    if isinstance(value, Fraction):
        return Decimal(value.numerator) / Decimal(value.denominator)
    return +Decimal(value)


# ------------------------------------------------------------------------------------------ stop and utility


def blended_ratio(topic, n, beta):
    if beta == math.inf:
        if topic.ideal_cg(n) == 0:
            return decimal(topic.count(n)) / n
        return decimal(topic.cg(n)) / decimal(topic.ideal_cg(n))
    beta = decimal(beta)
    return (topic.count(n) + beta * decimal(topic.cg(n))) / (n + beta * decimal(topic.ideal_cg(n)))


def relevant_ranks(topic):
    return [n for n in topic.ranks() if topic.is_relevant(n)]


def uniform(topic):
    return {n: 1 / decimal(topic.best()) for n in relevant_ranks(topic)}


def rank_biased(topic):
    gamma, terms = decimal(topic.params["gamma"]), topic.best()
    total = decimal(terms) if gamma == 1 else (1 - gamma**terms) / (1 - gamma)
    return {n: gamma ** (topic.count(n) - 1) / total for n in relevant_ranks(topic)}


def graded_uniform(topic):
    weights = sorted((topic.weight_of_level(level) for level in topic.relevant), reverse=True)
    total = decimal(sum(weights[: topic.best()]))
    if total == 0:
        return {}
    return {n: decimal(topic.weight_of_level(topic.level[n])) / total for n in relevant_ranks(topic)}


def first(topic):
    return {n: Decimal(1) for n in relevant_ranks(topic)[:1]}


def preferred(topic):
    rank = ranked.preferred_rank(topic)
    return {} if rank is None else {rank: Decimal(1)}


def up_to_preferred(topic):
    rank = ranked.preferred_rank(topic)
    if rank is None:
        return {}
    return {n: 1 / decimal(topic.count(rank)) for n in relevant_ranks(topic) if n <= rank}


def cascade(gains, gmax):
    """Return dsat(n-1) g(n)/(gmax+1) by rank, for the gains at ranks."""
    probabilities, dsat = {}, Decimal(1)
    for n, gain in gains.items():
        probabilities[n] = dsat * decimal(gain / (gmax + 1))
        dsat *= decimal((gmax + 1 - gain) / (gmax + 1))
    return probabilities


def err(topic):
    return cascade({n: topic.g(n) for n in relevant_ranks(topic)}, ranked.largest_gain(topic))


STOPS = {
    "u": uniform,
    "rb": rank_biased,
    "gu": graded_uniform,
    "first": first,
    "preferred": preferred,
    "up_to_preferred": up_to_preferred,
    "err": err,
}


# ------------------------------------------------------------------------------------------ graded measures


def reciprocal_rank(topic, n):  # noqa: ARG001  # like the other
    return 1 / decimal(n)


def inverse_effort(topic, n):
    return decimal(topic.params["p"]) ** n


def utility(stop, beta=None, of=None):
    """Return the sum over ranks of stop times a utility, by default the blended ratio."""

    def total(topic):
        weight = topic.params["beta"] if beta is None else beta
        return sum(
            p * (of(topic, n) if of else blended_ratio(topic, n, weight))
            for n, p in STOPS[stop](topic).items()
        )

    return total


def over_ideal(score, worth=None):
    """Return a score that norm='ideal' divides by that of the ideal list."""

    def of(topic):
        found = score(topic)
        if topic.params["norm"] != "ideal":
            return found
        ideal = score(topic.ideal_list(worth and worth(topic)))
        return found / ideal if ideal else Decimal(0)

    return of


def ncu(topic):
    stop = topic.params["stop"]
    of = {"br": None, "rr": reciprocal_rank, "ie": inverse_effort}[topic.params["utility"]]
    worth = {"gu": topic.weight_of_level, "preferred": float, "up_to_preferred": float}.get(stop)
    return over_ideal(utility(stop, of=of), lambda _: worth)(topic)


def weighted_gain(weight):
    """Return the sum of gains with a weight for each rank."""

    def of(topic):
        return sum(weight(topic, n) * decimal(topic.g(n)) for n in relevant_ranks(topic))

    return of


def grbp(topic):
    p, gmax = decimal(topic.params["p"]), ranked.largest_gain(topic)
    total = over_ideal(weighted_gain(lambda _, n: p ** (n - 1)))(topic)
    if topic.params["norm"] == "ideal":
        return total
    return (1 - p) * total / decimal(gmax) if gmax else Decimal(0)


def original_discount(topic, n):
    b = decimal(topic.params["b"])
    return Decimal(1) if n <= b else b.ln() / decimal(n).ln()


def preference(topic, graded, N):
    """Return R-pref, or B-pref, in which all gains are 1."""
    R, penalty = topic.R, topic.params["penalty"]
    gains = {n: topic.g(n) if graded else Fraction(1) for n in relevant_ranks(topic)}
    total = topic.ideal_cg(R) if graded else Fraction(R)
    most = R + N - total / (ranked.largest_gain(topic) or 1) if graded else Fraction(N)
    score, above = Decimal(0), Counter()
    for n, gain in gains.items():
        above[Fraction(0)] = n - 1 - sum(count for g, count in above.items() if g)
        pen = sum(((gain - g) / gain * count for g, count in above.items() if g < gain), Fraction(0))
        above[gain] += 1
        x = {
            "R": Fraction(min(R, n - topic.count(n)), R),
            "N": pen / most if most else Fraction(0),
            "relative": pen / (n - 1) if n > 1 else Fraction(1),
            "relative2": pen / n,
        }[penalty]
        score += decimal(gain * (1 - x))
    return score / decimal(total) if total else Decimal(0)


def weight_of_thresholds(topic, judged):
    """Return the sum of w_j over the thresholds j that each level passes; w_j = j unless given."""
    named = {exact(j): exact(w) for j, w in topic.params["weights"].items()}
    levels = sorted(set(topic.relevant))
    if any(level != math.floor(level) for level in judged):
        passed = [[exact(j) for j in levels if j <= level] for level in levels]
        sums = [sum(named.get(j, j) for j in some) for some in passed]
        return dict(zip(levels, sums, strict=True))
    whole = {j: w for j, w in named.items() if j >= 1 and j.denominator == 1}
    highest = {level: exact(level) for level in levels}
    return {
        level: L * (L + 1) / 2 + sum(w - j for j, w in whole.items() if j <= L)
        for level, L in highest.items()
    }


def gap(topic, judged):
    """Return sum_j w_j R_{>=j} AP_j / sum_j w_j R_{>=j}, with thresholds between two levels combined."""
    up_to = weight_of_thresholds(topic, judged)
    total = sum(up_to[level] for level in topic.relevant[: topic.best()])
    if total == 0:
        return Decimal(0)
    score, before = Decimal(0), Fraction(0)
    for level, weight in up_to.items():
        count = 0
        average = Decimal(0)
        for n in relevant_ranks(topic):
            if topic.level[n] >= level:
                count += 1
                average += decimal(count) / n
        score += decimal(weight - before) * average
        before = weight
    return score / decimal(total)


def divided(topic):
    """Return the topic with norm='ideal', which nERR and nDCG-JK always have."""
    topic.params["norm"] = "ideal"
    return topic


GRADED = {
    "Q": utility("u"),
    "O-measure": utility("first"),
    "P-measure": utility("preferred"),
    "P+": utility("up_to_preferred"),
    "NCU": ncu,
    "AWP": utility("u", math.inf),
    "R-measure": lambda topic: blended_ratio(topic, topic.R, topic.params["beta"]),
    "R-WP": lambda topic: blended_ratio(topic, topic.R, math.inf),
    "nCG": lambda topic: blended_ratio(topic, topic.params["cutoff"], math.inf),
    "BR": lambda topic: blended_ratio(topic, topic.params["cutoff"], topic.params["beta"]),
    "EBR": over_ideal(utility("err")),
    "iRBU": over_ideal(utility("err", of=inverse_effort)),
    "nERR": lambda topic: over_ideal(utility("err", of=reciprocal_rank))(divided(topic)),
    "gRBP": grbp,
    "nDCG-JK": lambda topic: over_ideal(weighted_gain(original_discount))(divided(topic)),
}


def graded(name, params, levels, retrieved, all_levels):
    """Return the score of a topic by a measure of this package, as a decimal.

    Args:
        name: printed name of the measure, without parameters.
        params: the parameters that differ from their defaults.
        levels: level of each judged document.
        retrieved: the documents in ranked order.
        all_levels: all levels in the qrels.
    """
    with localcontext(CONTEXT):
        params = {**ranked.defaults(name), **params}
        if name in {"B-pref", "R-pref"}:
            params["judged_only"] = True
        topic = Topic(params, levels, retrieved, max(all_levels), set(all_levels))
        if topic.R == 0:
            return Decimal(0)
        if name in {"B-pref", "R-pref"}:
            N = sum(0 <= level < params["rel"] for level in levels.values())
            return preference(topic, name == "R-pref", N)
        return gap(topic, levels.values()) if name == "GAP" else GRADED[name](topic)
