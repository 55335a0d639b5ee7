"""Algorithms for expected scores with ties, for one tie group at a time: sums, cascades and first documents.

Written from the formulas alone, without code of the package. ``ties_closed`` combines them into scores.

A tie group has the ranks t+1 .. t+n in uniformly random order. A relevant document has a value v, and V is
the sum of the values above the group. Numbers may be ``Fraction`` or ``float``; results have the same type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Number = Any


@dataclass(frozen=True)
class Places:
    """The ranks of a tie group.

    Attributes:
        t: number of ranks above the group.
        n: number of documents in the group.
        q: the number of its ranks that the measure evaluates.
        V: sum of the values of the relevant documents above the group.
        D: the divisor of the sum of the values down to a rank.
        one: the number 1 in the chosen arithmetic.
    """

    t: int
    n: int
    q: int
    V: Number
    D: Callable[[int], Number]
    one: Number


# --------------------------------------------------------------------------------- A: sums over documents


def linear(at: Places, documents: Iterable[tuple[Number, Number]]) -> Number:
    """Expected sum over relevant documents, given as (w, v), of w * (sum of v down to it) / D(its rank)."""
    documents = list(documents)
    sum_w = sum(w for w, _ in documents)
    sum_v = sum(v for _, v in documents)
    sum_wv = sum(w * v for w, v in documents)
    total = 0 * at.one
    for j in range(1, at.q + 1):
        own = (sum_w * at.V + sum_wv) / at.n
        others = (j - 1) * (sum_w * sum_v - sum_wv) / (at.n * (at.n - 1)) if at.n > 1 else 0
        total += (own + others) / at.D(at.t + j)
    return total


# ------------------------------------------------------------- B: products over the documents above


@dataclass(frozen=True)
class Cascade:
    """Means over all orders of a group, at its positions j = 0 .. q; position 0 is above the group.

    Attributes:
        e: product of x over the relevant documents at positions 1 .. j.
        d: product of x over those at positions 1 .. j-1, times s of the document at position j.
        k: mean of e's product times the sum of v over the relevant documents at positions 1 .. j.
        l: mean of d's product times that sum.
    """

    e: list[Number]
    d: list[Number]
    k: list[Number]
    l: list[Number]


def cascade(n: int, q: int, documents: list[tuple[Number, Number, Number]], one: Number) -> Cascade:
    """Insert the relevant documents of a group, given as (s, x, v), one by one among the others."""
    N = n - len(documents)
    now = Cascade(
        [one if j <= N else 0 * one for j in range(q + 1)], *([0 * one] * (q + 1) for _ in range(3))
    )
    for s, x, v in documents:
        e, d, k, l = [one], [0 * one], [0 * one], [0 * one]
        for j in range(1, q + 1):
            below = max(N + 1 - j, 0)  # of the N + 1 gaps for the document, so many are below place j
            e.append((below * now.e[j] + j * x * now.e[j - 1]) / (N + 1))
            k.append((below * now.k[j] + j * x * (now.k[j - 1] + v * now.e[j - 1])) / (N + 1))
            at_j, above_j = s * now.e[j - 1], (j - 1) * x * now.d[j - 1]
            d.append((at_j + above_j + below * now.d[j]) / (N + 1))
            at_j = s * (now.k[j - 1] + v * now.e[j - 1])
            above_j = (j - 1) * x * (now.l[j - 1] + v * now.d[j - 1])
            l.append((at_j + above_j + below * now.l[j]) / (N + 1))
        now = Cascade(e, d, k, l)
        N += 1
    return now


# -------------------------------------------------------------------------- C: the first of some documents


def first_at(n: int, h: int, q: int, one: Number) -> list[Number]:
    """Return the probabilities that the first of h marked documents among n is at position 1, 2, .. q."""
    probabilities, f = [], one * h / n
    for j in range(1, q + 1):
        probabilities.append(f)
        f = f * (n - j - h + 1) / (n - j) if j < n else 0 * one
    return probabilities


def out(n: int, q: int, h: int, one: Number) -> Number:
    """Return the probability that none of h marked documents among n is at positions 1 .. q."""
    probability = one
    for i in range(h):
        probability = probability * max(n - q - i, 0) / (n - i)
    return probability


# -------------------------------------------------- 1.4 and 1.5: the first of the best documents


@dataclass(frozen=True)
class Step:
    """A level of a group that may be the highest retrieved: it is above all levels of the groups above.

    Attributes:
        higher: number of documents of the group that have a higher level.
        v: value of a document of the level.
        h: number of documents of the level.
        lower: values of the relevant documents of the group that have a lower level.
    """

    higher: int
    v: Number
    h: int
    lower: list[Number]


def preferred(at: Places, steps: Iterable[Step]) -> Number:
    """Expected (sum of v down to the preferred rank) / D, where that rank is in the group (section 1.4)."""
    total = 0 * at.one
    for step in steps:
        # The documents of higher levels are below the cutoff; the others are left.
        left = at.n - step.higher
        reached = 0 * at.one
        for j, f in enumerate(first_at(left, step.h, min(at.q, left), at.one), start=1):
            above = (j - 1) * sum(step.lower) / (left - step.h) if left > step.h else 0
            reached += f * (at.V + step.v + above) / at.D(at.t + j)
        total += out(at.n, at.q, step.higher, at.one) * reached
    return total


def up_to_preferred(at: Places, steps: Iterable[Step], C: int, A: Number) -> Number:
    """Expected mean of (sum of v) / D down to the preferred rank, if that is in the group (section 1.5).

    Args:
        at: the ranks of the group.
        steps: its levels that may be the highest retrieved.
        C: number of relevant documents above the group.
        A: expected sum of (sum of v) / D over them.
    """
    total, zero = 0 * at.one, 0 * at.one
    for step in steps:
        left, b = at.n - step.higher, len(step.lower)
        m = step.h + b
        lower = sum(step.lower) / b if b else zero
        precede = first_at(m, step.h, b + 1, at.one)  # probability that i lower ones precede the first
        # P[i]: i relevant documents so far; F[i]: P[i] times the sum of (sum of v) / D over them.
        P, F = [at.one] + [zero] * b, [zero] * (b + 1)
        reached = zero
        for j in range(1, min(at.q, left) + 1):
            D = at.D(at.t + j)
            next_P, next_F = [zero] * (b + 1), [zero] * (b + 1)
            for i in range(b + 1):
                rho = at.one * (m - i) / (left - j + 1)
                best = (at.V + i * lower + step.v) / D
                reached += precede[i] / (C + 1 + i) * rho * (F[i] + P[i] * (A + best))
                next_P[i] += (1 - rho) * P[i]
                next_F[i] += (1 - rho) * F[i]
                if i < b:
                    next_P[i + 1] += rho * P[i]
                    next_F[i + 1] += rho * (F[i] + P[i] * (at.V + (i + 1) * lower) / D)
            P, F = next_P, next_F
        total += out(at.n, at.q, step.higher, at.one) * reached
    return total
