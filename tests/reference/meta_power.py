"""Reference for discriminative power and significance matrices: one pair, one replicate, one topic at a time.

Written from the definitions alone. Scores count as the decimal numbers that they print as, and all further
arithmetic is exact, so that no tolerance is needed: .3 - .2 equals .2 - .1.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf


def exact(values):
    """Return topics x systems floats as exact numbers."""
    return [[Fraction(repr(float(score))) for score in row] for row in values]


def differences(values, first, second):
    return [row[first] - row[second] for row in values]


def signed_square_t(values):
    """Return t * |t| of a list of exact numbers; 0 or infinite if all are equal."""
    n = len(values)
    mean = sum(values) / n
    if all(value == values[0] for value in values):
        return 0 if mean == 0 else (inf if mean > 0 else -inf)
    variance = sum((value - mean) ** 2 for value in values) / (n - 1)
    return abs(mean) * mean / (variance / n)


def replicates(z, counts):
    """(t * |t|, mean) of every replicate of the shifted differences; counts[topic][replicate]."""
    mean = sum(z) / len(z)
    w = [value - mean for value in z]
    found = []
    for column in range(len(counts[0])):
        drawn = []
        for topic, value in enumerate(w):
            drawn += [value] * int(counts[topic][column])
        found.append((signed_square_t(drawn), sum(drawn) / len(drawn)))
    return found


def two_sided_asl(z, counts):
    t = abs(signed_square_t(z))
    found = replicates(z, counts)
    return sum(abs(one) >= t for one, _ in found) / len(found)


def one_sided_asl(z, counts):
    t = signed_square_t(z)
    found = replicates(z, counts)
    return sum(one >= t for one, _ in found) / len(found)


def required_difference(z, counts, alpha):
    found = sorted(((abs(one), abs(mean)) for one, mean in replicates(z, counts)), reverse=True)
    return float(found[max(1, round(len(found) * alpha)) - 1][1])


def randomisation_asl(z, signs):
    """Use signs[topic][replicate] of +1 and -1."""
    size, many, count = abs(sum(z)), len(signs[0]), 0
    for column in range(many):
        count += abs(sum(value * int(signs[topic][column]) for topic, value in enumerate(z))) >= size
    return (count + 1) / (many + 1)


def tukey_asl(values, first, second, permuted):
    """Use ``permuted``: exact matrices with permuted rows, one per replicate."""
    n = len(values)
    size = abs(sum(differences(values, first, second))) / n
    count = 0
    for matrix in permuted:
        means = [sum(column) / n for column in zip(*matrix, strict=True)]
        count += max(means) - min(means) >= size
    return count / len(permuted)


def smallest_sure_difference(sizes, significant):
    """Return the smallest size from which on every pair was significant; None if there is none."""
    sure = [
        size
        for size in sizes
        if all(flag for other, flag in zip(sizes, significant, strict=True) if other >= size)
    ]
    return min(sure) if sure else None
