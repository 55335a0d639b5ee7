"""Sums of minima of weights over pairs of a document and the documents above it."""

from __future__ import annotations

import numpy as np

from ir_graded.core import segments
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.tie_means import TiedDocuments
from ir_graded.core.views import View


def sum_of_minima(weight: Floats, topic: Ints, topics: int) -> Floats:
    """Return for each position i the sum of min(w_i, w_j) over all positions j <= i of its topic.

    If w is the total weight of the thresholds that a document passes, this equals the sum over the thresholds
    of document i of their weight times the number of documents down to i that pass them. Blocks are merged
    pairwise, in log2(longest topic) sorts, independent of the number of thresholds.
    """
    total = weight.copy()
    place = segments.ordinals(segments.starts(topic, topics)[topic]) - 1
    size = 1
    while size <= place.max(initial=0):
        # The first half of a block is full if there is a second half.
        block = np.cumsum(place % (2 * size) == 0)
        order = np.lexsort((weight, block))
        start = np.searchsorted(block, block)
        second = (place // size % 2 == 1)[order]
        w = weight[order]
        smaller = segments.cumulative_sum(np.where(second, 0.0, w), start)
        larger = size - segments.cumulative_sum((~second).astype(np.float64), start)
        total[order[second]] += (smaller + w * larger)[second]
        size *= 2
    return total


def minima_in_ties(weight: Floats, tied: TiedDocuments[View]) -> tuple[Floats, Floats]:
    """Return sums of min(w_i, w_j) over all j in tie groups above i, and over all other j in its group."""
    groups = tied.begin.size
    above = sum_of_minima(weight, tied.view.topic, tied.view.levels.topics)
    upper = sum_of_minima(weight, tied.group, groups)
    lower = sum_of_minima(weight[::-1], groups - 1 - tied.group[::-1], groups)[::-1]
    return above - upper, upper + lower - 2 * weight
