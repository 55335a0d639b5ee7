"""Reference for discriminative power and significance matrices: one pair, one replicate, one topic at a time.

Written from the definitions alone. Scores count as the decimal numbers that they print as, and all further
arithmetic is exact, so that no tolerance is needed: .3 - .2 equals .2 - .1.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, lcm


def exact(values):
    """Return topics x systems floats as exact numbers."""
    return [[Fraction(repr(float(score))) for score in row] for row in values]


def differences(values, first, second):
    return [row[first] - row[second] for row in values]


def whole(values):
    """Return exact numbers as ints, with the factor by which they were multiplied; ints are fast."""
    factor = lcm(*(value.denominator for value in values))
    return [int(value * factor) for value in values], factor


def signed_square_t(values):
    """Return t * |t| of a list of exact numbers, which no factor changes; 0 or infinite if all are equal."""
    values, _ = whole(values)
    n, total = len(values), sum(values)
    if all(value == values[0] for value in values):
        return 0 if total == 0 else (inf if total > 0 else -inf)
    # n^2 (n - 1) times the variance, from the deviations of n times the values.
    spread = sum((n * value - total) ** 2 for value in values)
    return Fraction(abs(total) * total * n * (n - 1), spread)


def replicates(z, counts):
    """(t * |t|, mean) of every replicate of the shifted differences; counts[topic][replicate]."""
    mean = sum(z) / len(z)
    w, factor = whole([value - mean for value in z])
    found = []
    for column in range(len(counts[0])):
        drawn = []
        for topic, value in enumerate(w):
            drawn += [value] * int(counts[topic][column])
        found.append((signed_square_t(drawn), Fraction(sum(drawn), len(drawn) * factor)))
    return found


def two_sided_asl(z, counts, found=None):
    t = abs(signed_square_t(z))
    found = replicates(z, counts) if found is None else found
    return sum(abs(one) >= t for one, _ in found) / len(found)


def one_sided_asl(z, counts):
    t = signed_square_t(z)
    found = replicates(z, counts)
    return sum(one >= t for one, _ in found) / len(found)


def required_difference(found, alpha):
    """Use ``found``, the replicates of a pair."""
    found = sorted(((abs(one), abs(mean)) for one, mean in found), reverse=True)
    return float(found[max(1, round(len(found) * alpha)) - 1][1])


def randomisation_asl(z, signs):
    """Use signs[topic][replicate] of +1 and -1."""
    size, many, count = abs(sum(z)), len(signs[0]), 0
    for column in range(many):
        count += abs(sum(value * int(signs[topic][column]) for topic, value in enumerate(z))) >= size
    return (count + 1) / (many + 1)


def largest_differences(permuted):
    """Return the largest difference of sums of each exact matrix with permuted rows."""
    found = []
    for matrix in permuted:
        sums = [sum(column) for column in zip(*matrix, strict=True)]
        found.append(max(sums) - min(sums))
    return found


def tukey_asl(values, first, second, largest):
    """Use ``largest``, the largest difference of sums of each replicate."""
    size = abs(sum(differences(values, first, second)))
    return sum(one >= size for one in largest) / len(largest)


def smallest_sure_difference(sizes, significant):
    """Return the smallest size from which on every pair was significant; None if there is none."""
    sure = [
        size
        for size in sizes
        if all(flag for other, flag in zip(sizes, significant, strict=True) if other >= size)
    ]
    return min(sure) if sure else None
