"""Reference for group fairness, GF and GFR: slow, plain, one function per formula.

Written from the formulas alone, without code of the package, so that the two can be compared.
Achieved distributions, NMD and OD are exact (``Fraction``).

Notation, for one topic and one attribute set: ``m(d)`` is the membership vector of a document, ``a(n)`` the
mean of m over ranks 1..n, ``t`` the target distribution, ``u`` the uniform one.
"""

from __future__ import annotations

import math
from fractions import Fraction

from reference import ranked

DEFAULTS = {"cutoff": None, "gains": {}, "rel": 1, "max_rel": None, "measure": ("iRBU", {})}

Distribution = list[Fraction]


# -------------------------------------------------------------------------------------------- distributions


def exactly(numbers: list[float]) -> Distribution:
    """Numbers as exact fractions."""
    return [Fraction(number) for number in numbers]


def uniform(groups: int) -> Distribution:
    """u: the same probability for each group."""
    return [Fraction(1, groups)] * groups


def achieved(vectors: list[Distribution]) -> Distribution:
    """a(n): mean of the vectors at ranks 1..n."""
    return [sum(column) / len(vectors) for column in zip(*vectors, strict=True)]


# --------------------------------------------------------------------------------------------- divergences


def kullback_leibler(a: Distribution, h: Distribution) -> float:
    """KL(a || h) = sum of a_i log2(a_i / h_i), terms with a_i = 0 left out."""
    return math.fsum(float(x) * math.log2(x / y) for x, y in zip(a, h, strict=True) if x > 0)


def jensen_shannon(a: Distribution, t: Distribution) -> float:
    """JSD = (KL(a || h) + KL(t || h))/2 with h = (a + t)/2."""
    h = [(x + y) / 2 for x, y in zip(a, t, strict=True)]
    return (kullback_leibler(a, h) + kullback_leibler(t, h)) / 2


def normalised_match_distance(a: Distribution, t: Distribution) -> float:
    """NMD = sum over i of abs(A_i - T_i) / (n_G - 1), A and T cumulative."""
    distances = [abs(sum(a[: i + 1]) - sum(t[: i + 1])) for i in range(len(a))]
    return float(sum(distances) / (len(a) - 1))


def root_normalised_order_aware(a: Distribution, t: Distribution) -> float:
    """RNOD = sqrt(OD/(n_G - 1)).

    OD is the mean over the groups i with t_i > 0 of the sum over j of abs(i - j) (a_j - t_j)^2.
    """
    groups = range(len(a))
    targeted = [i for i in groups if t[i] > 0]
    sums = [sum(abs(i - j) * (a[j] - t[j]) ** 2 for j in groups) for i in targeted]
    return math.sqrt(sum(sums) / len(targeted) / (len(a) - 1))


DIVERGENCES = {"JSD": jensen_shannon, "NMD": normalised_match_distance, "RNOD": root_normalised_order_aware}


# ------------------------------------------------------------------------------------------------- measures


def group_fairness(
    topic: ranked.Topic,
    retrieved: list[str],
    membership: dict[str, list[float]],
    target: list[float],
    divergence: str,
) -> float:
    """GF = sum over ranks n of decay(n) * (1 - DIV(a(n), t)), decay(n) = dsat(n-1) g(n)/(gmax+1).

    Args:
        topic: the ranked list, from which decay comes.
        retrieved: its documents.
        membership: vector of each document; u for missing ones.
        target: t.
        divergence: 'JSD', 'NMD' or 'RNOD'.
    """
    t, u = exactly(target), uniform(len(target))
    vectors = [exactly(membership[doc_id]) if doc_id in membership else u for doc_id in retrieved]
    decay = ranked.stop_err(topic)
    return math.fsum(
        float(p) * (1 - DIVERGENCES[divergence](achieved(vectors[:n]), t)) for n, p in decay.items()
    )


def gf(
    params: dict,
    levels: dict[str, float],
    retrieved: list[str],
    membership: dict[str, list[float]],
    groups: int,
    highest_level: float,
    all_levels: set[float] | None = None,
) -> float:
    """GF of one topic; 0.0 without a relevant document.

    Args:
        params: divergence, and target, gains, rel, max_rel and cutoff where they are not the default.
        levels: level of each document in the qrels of this topic.
        retrieved: the retrieved documents in ranked order.
        membership: vector of each document that has one.
        groups: number of groups of the attribute set.
        highest_level: highest level in all of the qrels, the default of max_rel.
        all_levels: the levels that occur in all of the qrels; those of this topic if not given.
    """
    own = {name: params[name] for name in ("gains", "rel", "max_rel", "cutoff") if name in params}
    topic = ranked.Topic(own, levels, retrieved, highest_level, all_levels or set(levels.values()))
    target = params.get("target") or uniform(groups)
    return group_fairness(topic, retrieved, membership, target, params["divergence"])


def gfr(
    params: dict,
    levels: dict[str, float],
    retrieved: list[str],
    memberships: dict[str, dict[str, list[float]]],
    groups: dict[str, int],
    highest_level: float,
    all_levels: set[float] | None = None,
) -> float:
    """GFR = (M + sum of GF over the attribute sets) / (1 + their number).

    Args:
        params: ``groups``, the divergence by attribute set; ``measure``, the pair of M's name and parameters
            (default iRBU); ``targets`` by attribute set; gains, rel, max_rel and cutoff of GF and M.
        levels: as of ``gf``.
        retrieved: as of ``gf``.
        memberships: membership by attribute set.
        groups: number of groups by attribute set.
        highest_level: as of ``gf``.
        all_levels: as of ``gf``.
    """
    params = {**DEFAULTS, **params}
    shared = {name: params[name] for name in ("gains", "rel", "max_rel", "cutoff")}
    name, own = params["measure"]
    values = [ranked.score(name, {**shared, **own}, levels, retrieved, highest_level, all_levels)]
    for attribute, divergence in params["groups"].items():
        of_set = {**shared, "divergence": divergence, "target": params.get("targets", {}).get(attribute)}
        values.append(
            gf(
                of_set,
                levels,
                retrieved,
                memberships[attribute],
                groups[attribute],
                highest_level,
                all_levels,
            )
        )
    return math.fsum(values) / len(values)
