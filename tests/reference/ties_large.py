"""Reference for expected scores with large tie groups, in closed form, one topic at a time.

Written from the formulas alone, without code of the package. ``ties`` scores every order of a small group
instead; both must agree. These are the measures for which the package has several algorithms.

A tie group has the ranks t+1 .. t+n in uniformly random order, of which the measure evaluates q. A relevant
document has the value v = 1 + beta g, and D(r) = r + beta cg*(r), so that BR(r) is the sum of the values down
to rank r over D(r); V is the sum of the values above the group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reference import ranked
from reference.ties import Groups, Levels


@dataclass(frozen=True)
class Group:
    """A tie group with a document that the measure evaluates.

    Attributes:
        t: number of ranks above the group.
        n: number of documents in the group.
        q: the number of its ranks that the measure evaluates.
        relevant: level of each relevant document of the group.
        above: levels of the relevant documents in the groups above.
    """

    t: int
    n: int
    q: int
    relevant: list[float]
    above: list[float]


class Tied:
    """A topic with its tie groups, and the quantities that do not depend on their order."""

    def __init__(self, topic: ranked.Topic, groups: Groups) -> None:
        """Prepare a topic without a ranking."""
        self.topic, self.params, self.groups = topic, topic.params, []
        beta, t, above = self.params["beta"], 0, []
        self.value = {level: 1 + beta * self.gain(level) for level in topic.levels.values()}
        self.D = [r + beta * float(topic.ideal_cg(r)) for r in range(sum(map(len, groups)) + 1)]
        for group in groups:
            documents = topic.of_order(group).evaluated()
            found = [topic.levels.get(doc_id, -math.inf) for doc_id in documents]
            relevant = [level for level in found if level >= self.params["rel"]]
            cutoff = math.inf if self.params["cutoff"] is None else self.params["cutoff"]
            q = min(len(documents), max(0, cutoff - t))
            self.groups += [Group(t, len(documents), q, relevant, above)] if q else []
            t, above = t + len(documents), above + relevant

    def gain(self, level: float) -> float:
        """Gain of a level."""
        return float(self.topic.gain_of_level(level))

    def values(self, levels: list[float]) -> list[float]:
        """Values of relevant documents."""
        return [self.value[level] for level in levels]


# ------------------------------------------------------------------------------------------------- cascades

#: Of a level: the stop s, and the factor x of the documents below.
Stop = Callable[[float], tuple[float, float]]


def cascade(group: Group, documents: list[tuple[float, float, float]]) -> tuple[list[float], list[float]]:
    """Insert the relevant documents of a group, given as (s, x, v), one by one among the others.

    Returns:
        The means d and l over all orders, by position j = 0 .. q; position 0 is above the group. d: of the
        product of x over the relevant documents at positions 1 .. j-1, times s of the document at position j.
        l: of that times the sum of v over the relevant documents at positions 1 .. j.
    """
    q, N = group.q, group.n - len(documents)
    # e, k: means of the product of x over positions 1 .. j, and of that times the sum of v.
    e, (d, k, l) = [float(j <= N) for j in range(q + 1)], ([0.0] * (q + 1) for _ in range(3))
    for s, x, v in documents:
        next_e, next_d, next_k, next_l = [1.0], [0.0], [0.0], [0.0]
        for j in range(1, q + 1):
            below = max(N + 1 - j, 0)  # of the N + 1 gaps for the document, so many are below place j
            next_e.append((below * e[j] + j * x * e[j - 1]) / (N + 1))
            next_k.append((below * k[j] + j * x * (k[j - 1] + v * e[j - 1])) / (N + 1))
            next_d.append((s * e[j - 1] + (j - 1) * x * d[j - 1] + below * d[j]) / (N + 1))
            at_j = s * (k[j - 1] + v * e[j - 1])
            next_l.append((at_j + (j - 1) * x * (l[j - 1] + v * d[j - 1]) + below * l[j]) / (N + 1))
        e, d, k, l = next_e, next_d, next_k, next_l
        N += 1
    return d, l


def cascaded(tied: Tied, stop: Stop, utility: Callable[[int], float] | None = None) -> float:
    """Sum over relevant ranks of (product of x above) * s * utility of the rank, by default BR."""
    terms = []
    for group in tied.groups:
        X, V = math.prod(stop(level)[1] for level in group.above), sum(tied.values(group.above))
        d, l = cascade(group, [(*stop(level), tied.value[level]) for level in group.relevant])
        for j in range(1, group.q + 1):
            r = group.t + j
            terms.append(X * d[j] * utility(r) if utility else X * (V * d[j] + l[j]) / tied.D[r])
    return math.fsum(terms)


def rank_biased(tied: Tied) -> float:
    """NCU rb: the i-th relevant document weighs gamma^(i-1)."""
    gamma = tied.params["gamma"]
    return cascaded(tied, lambda _: (1.0, gamma)) / math.fsum(gamma**i for i in range(tied.topic.best()))


def satisfied(tied: Tied) -> Stop:
    """Return s and x of a level in the cascade: it satisfies with probability g/(gmax+1)."""
    gmax = float(ranked.largest_gain(tied.topic))
    return lambda level: (tied.gain(level) / (gmax + 1), 1 - tied.gain(level) / (gmax + 1))


def normalised_err(tied: Tied) -> float:
    """nERR: ERR over that of the ideal list."""
    ideal = float(ranked.CLASSICS["ERR"](tied.topic.ideal_list()))
    return cascaded(tied, satisfied(tied), lambda r: 1 / r) / ideal if ideal else 0.0


# -------------------------------------------------------------------------------------------------------- P+


def first_at(n: int, h: int, q: int) -> Iterator[float]:
    """Yield the probabilities that the first of h marked documents among n is at position 1, 2, .. q."""
    f = h / n
    for j in range(1, q + 1):
        yield f
        f = f * (n - j - h + 1) / (n - j) if j < n else 0.0


def out(n: int, q: int, h: int) -> float:
    """Return the probability that none of h marked documents among n is at positions 1 .. q."""
    return math.prod(max(n - q - i, 0) / (n - i) for i in range(h))


def sum_of_ratios(tied: Tied, group: Group) -> float:
    """Expected sum of BR over the evaluated relevant documents of a group."""
    values, n = tied.values(group.relevant), group.n
    V, total, m = sum(tied.values(group.above)), sum(values), len(values)
    others = total * (m - 1) / (n * (n - 1)) if n > 1 else 0.0
    own = (m * V + total) / n
    return math.fsum((own + (j - 1) * others) / tied.D[group.t + j] for j in range(1, group.q + 1))


def mean_in_group(tied: Tied, group: Group, level: float, A: float) -> float:
    """Expected mean of BR down to the preferred rank, if that is in the group and has this level.

    Args:
        tied: the topic.
        group: the group.
        level: a level of the group that is above all levels of the groups above.
        A: expected sum of BR over the relevant documents above the group.
    """
    higher = sum(one > level for one in group.relevant)  # these are below the cutoff
    values, h = tied.values([one for one in group.relevant if one < level]), group.relevant.count(level)
    V, C, left, b = sum(tied.values(group.above)), len(group.above), group.n - higher, len(values)
    m, lower = h + b, sum(values) / b if b else 0.0
    precede = list(first_at(m, h, b + 1))  # probability that i lower ones precede the first
    # P[i]: i relevant documents so far; F[i]: P[i] times the sum of BR over them.
    P, F = [1.0] + [0.0] * b, [0.0] * (b + 1)
    reached = 0.0
    for j in range(1, min(group.q, left) + 1):
        D = tied.D[group.t + j]
        next_P, next_F = [0.0] * (b + 1), [0.0] * (b + 1)
        for i in range(b + 1):
            rho = (m - i) / (left - j + 1)
            best = (V + i * lower + tied.value[level]) / D
            reached += precede[i] / (C + 1 + i) * rho * (F[i] + P[i] * (A + best))
            next_P[i] += (1 - rho) * P[i]
            next_F[i] += (1 - rho) * F[i]
            if i < b:
                next_P[i + 1] += rho * P[i]
                next_F[i + 1] += rho * (F[i] + P[i] * (V + (i + 1) * lower) / D)
        P, F = next_P, next_F
    return out(group.n, group.q, higher) * reached


def down_to_preferred(tied: Tied) -> float:
    """P+, group by group."""
    E = A = 0.0
    for group in tied.groups:
        best = max(group.above, default=-math.inf)
        higher = [level for level in group.relevant if level > best]
        E *= out(group.n, group.q, len(higher))  # the preferred rank stays above the group
        E += math.fsum(mean_in_group(tied, group, level, A) for level in set(higher))
        A += sum_of_ratios(tied, group)
    return E


MEASURES: dict[str, Callable[[Tied], float]] = {
    "P+": down_to_preferred,
    "NCU rb": rank_biased,
    "EBR": lambda tied: cascaded(tied, satisfied(tied)),
    "iRBU": lambda tied: cascaded(tied, satisfied(tied), lambda r: tied.params["p"] ** r),
    "nERR": normalised_err,
}


def expected(
    name: str, params: dict, levels: Levels, groups: Groups, highest_level: float, all_levels: set[float]
) -> float:
    """Expected score of one topic; the arguments are those of ``ties.score``, with beta below infinity."""
    topic = ranked.topic_of(name, params, levels, [], highest_level, all_levels)
    variant = f"NCU {params['stop']}" if name == "NCU" else name
    return MEASURES[variant](Tied(topic, groups)) if topic.R else 0.0
