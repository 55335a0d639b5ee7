"""Reference for agreement of two or more sets of judgments: slow, plain, exact fractions.

Written from the formulas alone, without code of the package, so that the two can be compared.
Judgments are ``{topic: {document: level}}``. A matrix of counts is a list of rows over the levels of a scale,
with those of the first set in the rows. NaN is written as ``nan``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import nan

KINDS = ["identity", "linear", "quadratic"]
Judgments = Mapping[str, Mapping[str, float]]
Counts = list[list[int]]


# ------------------------------------------------------------------------------------------- pairs and levels


def scale_of(*sets: Judgments) -> list[float]:
    """Return the levels of all pairs of all sets, ascending."""
    return sorted({level for one in sets for docs in one.values() for level in docs.values()})


def confusion(a: Mapping[str, float], b: Mapping[str, float], scale: Sequence[float]) -> Counts:
    """Return the documents of a topic in both sets, counted by level in a (row) and in b (column)."""
    counts = [[0] * len(scale) for _ in scale]
    for doc in a.keys() & b.keys():
        counts[scale.index(a[doc])][scale.index(b[doc])] += 1
    return counts


def total(matrices: Sequence[Sequence[Sequence]], weights: Sequence[int] | None = None) -> list[list]:
    """Return the weighted sum of matrices."""
    weights = [1] * len(matrices) if weights is None else weights
    size = range(len(matrices[0]))
    return [
        [sum(int(w) * one[i][j] for w, one in zip(weights, matrices, strict=True)) for j in size]
        for i in size
    ]


def confusions(a: Judgments, b: Judgments, scale: Sequence[float]) -> dict[str, Counts]:
    """Yield the matrix of each topic that both sets have."""
    return {topic: confusion(a[topic], b[topic], scale) for topic in a if topic in b}


# ------------------------------------------------------------------------------------- agreement with weights


def weight(kind: str, scale: Sequence[float], i: int, j: int) -> Fraction:
    """Return w_ij by the values of the levels: identity, linear or quadratic."""
    if kind == "identity":
        return Fraction(int(i == j))
    distance = abs(Fraction(scale[i]) - Fraction(scale[j])) / (Fraction(scale[-1]) - Fraction(scale[0]))
    return 1 - (distance if kind == "linear" else distance**2)


def weighted_sum(kind: str, scale: Sequence[float], share: Callable[[int, int], Fraction]) -> Fraction:
    """Return the sum of w_ij times a share."""
    size = range(len(scale))
    return sum((weight(kind, scale, i, j) * share(i, j) for i in size for j in size), Fraction(0))


def margins(counts: Sequence[Sequence]) -> tuple[list[Fraction], list[Fraction]]:
    """p_i. and p_.i."""
    n = Fraction(sum(map(sum, counts)))
    return [sum(row) / n for row in counts], [sum(column) / n for column in zip(*counts, strict=True)]


def chance_corrected(observed: Fraction, expected: Fraction) -> float:
    """(po - pe) / (1 - pe), NaN where pe = 1."""
    return nan if expected == 1 else float((observed - expected) / (1 - expected))


def observed_agreement(counts: Counts, scale: Sequence[float], kind: str = "identity") -> Fraction | float:
    """po = sum w_ij p_ij; NaN without a pair; 1.0, as a float, with one level."""
    n = sum(map(sum, counts))
    if n == 0 or len(scale) < 2:
        return 1.0 if n else nan
    return weighted_sum(kind, scale, lambda i, j: Fraction(counts[i][j], n))


def kappa(counts: Counts, scale: Sequence[float], kind: str = "identity") -> float:
    """Cohen's kappa, pe = sum w_ij p_i. p_.j."""
    observed = observed_agreement(counts, scale, kind)
    if not isinstance(observed, Fraction):
        return observed
    rows, columns = margins(counts)
    return chance_corrected(observed, weighted_sum(kind, scale, lambda i, j: rows[i] * columns[j]))


def gwet(counts: Counts, scale: Sequence[float], kind: str = "identity") -> float:
    """Gwet's AC1 (identity) or AC2, pe = sum w_ij / (q (q-1)) * sum pi_i (1 - pi_i)."""
    observed = observed_agreement(counts, scale, kind)
    if not isinstance(observed, Fraction):
        return observed
    rows, columns = margins(counts)
    q = len(scale)
    pi = [(row + column) / 2 for row, column in zip(rows, columns, strict=True)]
    weights = sum(weight(kind, scale, i, j) for i in range(q) for j in range(q))
    return chance_corrected(observed, weights / (q * (q - 1)) * sum(one * (1 - one) for one in pi))


def overlap(counts: Counts, scale: Sequence[float], rel: float = 1) -> float:
    """Pairs relevant in both / pairs relevant in either; NaN where there is none."""
    both = either = 0
    for i, j in itertools.product(range(len(scale)), repeat=2):
        both += counts[i][j] * (scale[i] >= rel and scale[j] >= rel)
        either += counts[i][j] * (scale[i] >= rel or scale[j] >= rel)
    return both / either if either else nan


# --------------------------------------------------------------------------------------- Krippendorff's alpha


def coincidences_of(counts: Counts) -> list[list[Fraction]]:
    """o = M + M' of two sets."""
    size = range(len(counts))
    return [[Fraction(counts[i][j] + counts[j][i]) for j in size] for i in size]


def coincidences(sets: Sequence[Mapping[str, float]], scale: Sequence[float]) -> list[list[Fraction]]:
    """o of any number of sets of a topic: a pair judged by m >= 2 of them adds its ordered pairs / (m-1)."""
    o = [[Fraction(0)] * len(scale) for _ in scale]
    for doc in dict.fromkeys(doc for one in sets for doc in one):
        levels = [scale.index(one[doc]) for one in sets if doc in one]
        for i, j in itertools.permutations(levels, 2):
            o[i][j] += Fraction(1, len(levels) - 1)
    return o


def squared_distance(
    measurement: str, scale: Sequence[float], n: Sequence[Fraction], i: int, j: int
) -> Fraction:
    """Return d_ij: nominal, ordinal (by the margins n) or interval (by the values)."""
    if measurement == "nominal":
        return Fraction(int(i != j))
    if measurement == "interval":
        return (Fraction(scale[i]) - Fraction(scale[j])) ** 2

    def c(k: int) -> Fraction:
        return sum(n[: k + 1], Fraction(0)) - n[k] / 2

    return (c(i) - c(j)) ** 2


def alpha(o: Sequence[Sequence[Fraction]], scale: Sequence[float], measurement: str = "ordinal") -> float:
    """Return alpha = 1 - Do / De; NaN without a pair or if De = 0; 1 with one level."""
    n = [sum(row) for row in o]
    N = sum(n)
    if N == 0 or len(scale) < 2:
        return 1.0 if N else nan
    observed = expected = Fraction(0)
    for i, j in itertools.product(range(len(scale)), repeat=2):
        d = squared_distance(measurement, scale, n, i, j)
        observed += o[i][j] * d / N
        expected += n[i] * n[j] * d / (N * (N - 1))
    return nan if expected == 0 else float(1 - observed / expected)


# --------------------------------------------------------------------------------------------------- interval


def quantile(values: Sequence[float], p: float) -> float:
    """Interpolate linearly between the two nearest values."""
    ordered = sorted(values)
    place = p * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def interval(
    matrices: Sequence[Counts],
    drawn: Sequence[Sequence[int]],
    coefficient: Callable[[list[list]], float],
    level: float = 0.95,
) -> tuple[float, float, int]:
    """Percentile interval of a coefficient, and the number of replicates without a value.

    Args:
        matrices: one for each topic.
        drawn: the number of times each topic was drawn, topics x replicates.
        coefficient: of a sum of matrices.
        level: confidence level.
    """
    values = [coefficient(total(matrices, counts)) for counts in zip(*drawn, strict=True)]
    known = [value for value in values if not math.isnan(value)]
    tail = (1 - level) / 2
    if not known:
        return nan, nan, len(values)
    return quantile(known, tail), quantile(known, 1 - tail), len(values) - len(known)


# ------------------------------------------------------------------------------------------------ conclusions


def means(scores: Sequence[Sequence[float]]) -> list[Fraction]:
    """Return the mean of each system; scores are topics x systems, taken as their printed decimals."""
    n = len(scores)
    return [sum(Fraction(repr(float(one))) for one in column) / n for column in zip(*scores, strict=True)]


CLASSES = (
    "active agreement",
    "active disagreement",
    "mixed agreement, a only",
    "mixed agreement, b only",
    "mixed disagreement, a only",
    "mixed disagreement, b only",
    "passive agreement",
    "passive disagreement",
)


def class_of_pair(difference_a: Fraction, difference_b: Fraction, in_a: bool, in_b: bool) -> str:
    """Return the class of a pair of systems: where it is significant, and whether the signs are opposite."""
    sign = "disagreement" if difference_a * difference_b < 0 else "agreement"
    if in_a and in_b:
        return f"active {sign}"
    if in_a or in_b:
        return f"mixed {sign}, {'a' if in_a else 'b'} only"
    return f"passive {sign}"


def conclusions(
    scores_a: Sequence[Sequence[float]],
    scores_b: Sequence[Sequence[float]],
    p_value: Callable[[Sequence[Sequence[float]], int, int], float],
    alpha: float = 0.05,
) -> dict[str, list[tuple[int, int]]]:
    """The pairs of systems of each class.

    Args:
        scores_a: topics x systems.
        scores_b: scores of the same topics and systems by the other judgments.
        p_value: of scores and two systems.
        alpha: a pair is significant if p < alpha.
    """
    means_a, means_b = means(scores_a), means(scores_b)
    found: dict[str, list[tuple[int, int]]] = {name: [] for name in CLASSES}
    for i, j in itertools.combinations(range(len(means_a)), 2):
        in_a, in_b = (p_value(scores, i, j) < alpha for scores in (scores_a, scores_b))
        name = class_of_pair(means_a[i] - means_a[j], means_b[i] - means_b[j], in_a, in_b)
        found[name].append((i, j))
    return found


def precision_and_recall(pairs: Mapping[str, Sequence[tuple[int, int]]]) -> tuple[float, float]:
    """Return active agreement / significant by b, and / significant by a; NaN if the denominator is 0."""
    agreeing = len(pairs["active agreement"])
    active = agreeing + len(pairs["active disagreement"])
    b, a = (
        active + sum(len(found) for name, found in pairs.items() if name.endswith(end))
        for end in ("b only", "a only")
    )
    return (agreeing / b if b else nan), (agreeing / a if a else nan)


def bias(scores_a: Sequence[Sequence[float]], scores_b: Sequence[Sequence[float]]) -> float:
    """Return the mean over systems by b - the mean over systems by a."""
    a, b = means(scores_a), means(scores_b)
    return float(sum(b) / len(b) - sum(a) / len(a))


def ranks(values: Sequence[Fraction]) -> list[int]:
    """Return the rank of each system, 1 = best; equal values share the smaller rank."""
    return [1 + sum(other > value for other in values) for value in values]


def largest_fall(scores_a: Sequence[Sequence[float]], scores_b: Sequence[Sequence[float]]) -> int:
    """Return the largest number of ranks that a system loses from a to b, 0 if none does."""
    pairs = zip(ranks(means(scores_a)), ranks(means(scores_b)), strict=True)
    return max(0, *(b - a for a, b in pairs))


def top(scores: Sequence[Sequence[float]], names: Sequence[str], k: int) -> set[str]:
    """Return the k best systems by the mean, rounded to 12 decimals; ties at the border by name."""
    values = [round(value, 12) for value in means(scores)]
    ordered = sorted(range(len(names)), key=lambda system: (-values[system], names[system]))
    return {names[system] for system in ordered[:k]}


def top_overlap(
    scores_a: Sequence[Sequence[float]], scores_b: Sequence[Sequence[float]], names: Sequence[str], k: int
) -> float:
    """Return the share of the k best systems by a that are among the k best by b."""
    k = min(k, len(names))
    return len(top(scores_a, names, k) & top(scores_b, names, k)) / k
