"""Divergence of distributions over groups from a target distribution, in [0, 1]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ir_graded.core.segments import Floats

# Arguments: distributions ``a``, shape (distributions, groups), and the target ``t``, shape (groups,).


def jensen_shannon(a: Floats, t: Floats) -> Floats:
    """Return JSD = (KL(a || h) + KL(t || h))/2 with h = (a + t)/2 and log base 2 (Lin 1991)."""
    h = (a + t) / 2.0
    return (_kullback_leibler(a, h) + _kullback_leibler(np.broadcast_to(t, a.shape), h)) / 2.0


def _kullback_leibler(a: Floats, h: Floats) -> Floats:
    """Return KL(a || h) = sum of a_i log2(a_i / h_i), without the terms with a_i = 0."""
    some = a > 0
    ratio = np.divide(a, h, out=np.ones_like(h), where=some)
    return np.asarray((a * np.log2(ratio)).sum(axis=-1))


def normalised_match_distance(a: Floats, t: Floats) -> Floats:
    """Return NMD = sum over i of abs(A_i - T_i) / (groups - 1), with cumulative A and T."""
    distance = np.abs(np.cumsum(a, axis=-1) - np.cumsum(t)).sum(axis=-1)
    return np.asarray(distance / (t.size - 1))


def root_normalised_order_aware(a: Floats, t: Floats) -> Floats:
    """Return RNOD = sqrt(OD / (groups - 1)).

    OD is the mean over the groups i with t_i > 0 of the sum over j of abs(i - j) (a_j - t_j)^2.
    """
    groups = np.arange(t.size)
    weight = np.abs(groups[t > 0][:, None] - groups).mean(axis=0)
    return np.asarray(np.sqrt((a - t) ** 2 @ weight / (t.size - 1)))


#: The divergences by name.
DIVERGENCES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "JSD": jensen_shannon,
    "NMD": normalised_match_distance,
    "RNOD": root_normalised_order_aware,
}
