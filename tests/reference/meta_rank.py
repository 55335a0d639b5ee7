"""Reference for stability, swap method and rank correlations: slow, plain, exact fractions.

Written from the formulas alone, without code of the package. Scores are decimals, taken as the
fractions that they print as; topic sets are given as counts (topics x replicates).
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from reference.meta_power import exact


def means(scores, counts) -> list[Fraction]:
    """Return the mean of each system over the drawn topics, by the counts of each."""
    drawn = sum(int(count) for count in counts)
    systems = range(len(scores[0]))
    return [sum(row[s] * int(c) for row, c in zip(scores, counts, strict=True)) / drawn for s in systems]


def stability(scores, counts, fuzziness) -> list[tuple[float, float]]:
    """Return minority rate and proportion of ties for each fuzziness value."""
    scores = exact(scores)
    replicates = [means(scores, column) for column in zip(*counts, strict=True)]
    result = []
    for f in fuzziness:
        minority = ties = total = 0
        for x, y in itertools.combinations(range(len(scores[0])), 2):
            equal = x_better = y_better = 0
            for mean in replicates:
                margin = Fraction(repr(float(f))) * max(mean[x], mean[y])
                if abs(mean[x] - mean[y]) < margin or mean[x] == mean[y]:
                    equal += 1
                elif mean[x] > mean[y]:
                    x_better += 1
                else:
                    y_better += 1
            minority += min(x_better, y_better)
            ties += equal
            total += equal + x_better + y_better
        result.append((minority / total, ties / total))
    return result


def swap(scores, counts, again, max_rate):
    """Return observations and swaps of the 21 bins, the required difference and the sensitivity."""
    scores = exact(scores)
    observations, swaps = [0] * 21, [0] * 21
    for one, two in zip(zip(*counts, strict=True), zip(*again, strict=True), strict=True):
        first, second = means(scores, one), means(scores, two)
        for x, y in itertools.combinations(range(len(scores[0])), 2):
            d = round(round(first[x], 12) - round(first[y], 12), 12)
            other = round(round(second[x], 12) - round(second[y], 12), 12)
            at = min(20, math.floor(abs(d) * 100))
            observations[at] += 1
            swaps[at] += d * other < 0
    for start in range(21):
        held = [at for at in range(start, 21) if observations[at]]
        if observations[start] and all(swaps[at] / observations[at] <= max_rate for at in held):
            return observations, swaps, start / 100, sum(observations[start:]) / sum(observations)
    return observations, swaps, math.nan, 0.0


def kendall_tau(a, b) -> float:
    """Tau-a."""
    pairs = list(itertools.combinations(range(len(a)), 2))
    balance = 0
    for i, j in pairs:
        product = (a[i] - a[j]) * (b[i] - b[j])
        balance += (product > 0) - (product < 0)
    return balance / len(pairs)


def tau_ap_of_order(reference, order) -> Fraction:
    """AP correlation of systems in the order of the estimate, best first."""
    total = Fraction(0)
    for i in range(2, len(order) + 1):
        system = order[i - 1]
        agreeing = sum(reference[above] > reference[system] for above in order[: i - 1])
        total += Fraction(agreeing, i - 1)
    return 2 * total / (len(order) - 1) - 1


def orders(estimate):
    """Yield all orders of the systems, best first, in which only tied systems change places."""
    groups = [
        [system for system, score in enumerate(estimate) if score == value]
        for value in sorted(set(estimate), reverse=True)
    ]
    for parts in itertools.product(*map(itertools.permutations, groups)):
        yield [system for part in parts for system in part]


def tau_ap_a(reference, estimate) -> float:
    """Return the mean over all orders of the estimate's tied groups."""
    values = [tau_ap_of_order(reference, order) for order in orders(estimate)]
    return float(sum(values) / len(values))


def tau_ap_b(a, b) -> float:
    """Return the mean over the two directions."""

    def direction(estimate) -> Fraction:
        total, systems = Fraction(0), 0
        for i, score in enumerate(estimate):
            rank = 1 + sum(other > score for other in estimate)
            if rank > 1:
                agreeing = sum(a[j] > a[i] and b[j] > b[i] for j in range(len(a)))
                total += Fraction(agreeing, rank - 1)
                systems += 1
        return 2 * total / systems - 1

    return float((direction(a) + direction(b)) / 2)
