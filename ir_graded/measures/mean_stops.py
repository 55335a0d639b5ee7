"""Stop distributions in the mean over all orders of tied documents: the counterparts of ``stopping``.

Each function returns, for each tie group, the mean of the sum of stop * utility over its documents.
"""

from __future__ import annotations

import numpy as np

from ir_graded.core.segments import Floats
from ir_graded.core.tie_means import TiedDocuments, Utility
from ir_graded.core.views import View

from . import stopping


def weighted(tied: TiedDocuments[View], weight: Floats, utility: Utility) -> Floats:
    """Each document weighs the same wherever it is (uniform and graded-uniform stops)."""
    return tied.in_groups(weight * tied.linear(utility))


def rank_biased(tied: TiedDocuments[View], gamma: float, norm: str, utility: Utility) -> Floats:
    """Each further document weighs gamma times the one before."""
    series = stopping.geometric_sum(tied.view, gamma, norm)
    return tied.cascade(1.0 / series, np.full_like(series, gamma), utility)


def first(tied: TiedDocuments[View], utility: Utility) -> Floats:
    """All stop at the first document."""
    return tied.first(utility)


def preferred(tied: TiedDocuments[View], utility: Utility) -> Floats:
    """All stop at the preferred rank."""
    return tied.preferred(tied.view.level_index, utility)


def up_to_preferred(tied: TiedDocuments[View], utility: Utility) -> Floats:
    """Users stop at any document down to the preferred rank alike."""
    return tied.up_to_preferred(tied.view.level_index, utility)
