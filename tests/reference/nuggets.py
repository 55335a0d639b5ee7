"""Reference for NuggetR, U and budgets: slow, plain, sets of character positions, exact (``Fraction``).

Written from the formulas alone, without code of the package, so that the two can be compared.

The formulas take one topic: gold rows ``(doc_id, level, start, length, nugget)``, rows of a run in rank order
``(doc_id, start, length)``, the cost of each row, and the weight of each listed nugget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from reference.chunks import Passage, ratio, union

Gold = tuple[str, float, int, int, str]


def kept(
    rows: Sequence[Passage], costs: Sequence[int], cutoff: int | None, budget: int | None, fit: str = "cut"
) -> list[Passage]:
    """Return the rows that are read: the first k, and of these what fits in the budget."""
    rows, found, before = rows[:cutoff], [], 0
    for (doc_id, start, length), cost in zip(rows, costs, strict=False):
        if budget is None or before + cost <= budget:
            found.append((doc_id, start, length))
            before += cost
            continue
        part = length * (budget - before) // cost if fit == "cut" else 0
        return [*found, (doc_id, start, part)] if part else found
    return found


def shares(
    gold: Sequence[Gold], rows: Sequence[Passage], nugget: str, rel: float, spans: str
) -> list[Fraction]:
    """Return the share of each gold row of a nugget that the rows hold, or that of all parts."""
    parts = [union([(doc_id, start, length)]) for doc_id, level, start, length, one in gold
             if one == nugget and level >= rel and length]  # fmt: skip
    if spans == "all" and parts:
        parts = [set().union(*parts)]
    return [Fraction(len(part & union(rows)), len(part)) for part in parts]


def nugget_r(
    gold: Sequence[Gold],
    weights: Mapping[str, Fraction],
    rows: Sequence[Passage],
    threshold: float | str = "0.8",
    spans: str = "any",
    partial: bool = False,
    rel: float = 1,
) -> float:
    """NuggetR of the rows that are read: the weighted share of the listed nuggets that they support."""
    total = Fraction(0)
    for nugget, weight in weights.items():
        share = max(shares(gold, rows, nugget, rel, spans), default=Fraction(0))
        total += weight * (share if partial else share >= Fraction(str(threshold)))
    return float(ratio(total, sum(weights.values())))


def decay(p: int, length: int) -> Fraction:
    """D(p) = max(0, 1 - p/L)."""
    return max(Fraction(0), 1 - Fraction(p) / Fraction(length))


def u_rows(
    gold: Sequence[Gold], rows: Sequence[Passage], length: int, gains: Mapping, rel: float = 1
) -> float:
    """U: the sum over rows of the gain of their highest level times D(end of the row)."""
    end, total = 0, Fraction(0)
    for row in rows:
        end += row[2]
        levels = [level for doc_id, level, start, size, _ in gold
                  if level >= rel and union([row]) & union([(doc_id, start, size)])]  # fmt: skip
        if levels:
            total += Fraction(gains.get(max(levels), max(levels))) * decay(end, length)
    return float(total)


def u_characters(gold: Sequence[Gold], rows: Sequence[Passage], length: int, rel: float = 1) -> float:
    """U: the sum of D(p) over gold characters first read as the p-th character / gold characters."""
    wanted = union((doc_id, start, size) for doc_id, level, start, size, _ in gold if level >= rel)
    read, p, total = set(), 0, Fraction(0)
    for doc_id, start, size in rows:
        for place in range(start, start + size):
            p += 1
            if (doc_id, place) in wanted - read:
                total += decay(p, length)
                read.add((doc_id, place))
    return float(ratio(total, len(wanted)))


def u_nuggets(
    gold: Sequence[Gold],
    weights: Mapping[str, Fraction],
    rows: Sequence[Passage],
    length: int,
    threshold: float | str = "0.8",
    spans: str = "any",
    rel: float = 1,
) -> float:
    """U: the weighted mean of D(p) of the nuggets, p being the smallest budget that covers each."""
    total, missing = Fraction(0), dict(weights)
    for budget in range(1, 1 + sum(size for *_, size in rows)):
        read = kept(rows, [size for *_, size in rows], None, budget)
        for nugget in list(missing):
            best = max(shares(gold, read, nugget, rel, spans), default=Fraction(0))
            if best >= Fraction(str(threshold)):
                total += missing.pop(nugget) * decay(budget, length)
    return float(ratio(total, sum(weights.values())))
