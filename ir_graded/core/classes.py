"""Equivalence classes: views in which each class of documents counts once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .levels import Levels
from .segments import Ints
from .views import Views


def by_class(views: Views, classes: Ints, rel: float) -> Views:
    """Return views of a run in which each class counts once: its first relevant document, at its level.

    Later documents of the class get level 0 and keep their rank, also in a condensed list. In the ideal list
    the class has its highest level.

    Args:
        views: the views of the run.
        classes: the class of each judged document; the documents of a class are of one topic.
        rel: the lowest relevant level.
    """
    levels = views.levels.kept("one of each class", lambda: _best_of_each(views.levels, classes))
    level_index = np.searchsorted(levels.values, views.levels.values)[views.hits.level_index].astype(np.int64)
    relevant = np.flatnonzero(levels.values[level_index] >= rel)
    _, first = np.unique(classes[views.hits.document[relevant]], return_index=True)
    level_index[np.delete(relevant, first)] = np.searchsorted(levels.values, 0.0)
    return Views(levels, replace(views.hits, level_index=level_index))


def _best_of_each(levels: Levels, classes: Ints) -> Levels:
    """Return levels in which the best document of each class keeps its level; the others have at most 0."""
    values = np.union1d(levels.values, [0.0])
    level_index = np.searchsorted(values, levels.values)[levels.level_index].astype(np.int64)
    order = np.lexsort((-level_index, classes))
    _, best = np.unique(classes[order], return_index=True)
    others = np.ones(order.size, dtype=np.bool_)
    others[order[best]] = False
    zero = np.searchsorted(values, 0.0)
    np.minimum(level_index, zero, out=level_index, where=others)
    return Levels(levels.topics, levels.topic, level_index, values)
