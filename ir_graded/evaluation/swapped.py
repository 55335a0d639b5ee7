"""Notice qrels and a run in dicts that were given in the wrong order."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import islice
from typing import Any

import numpy as np

from ir_graded.errors import CoverageWarning

from .coverage import levels_to_caller

#: Documents of a topic that are looked at.
_MOST_DOCUMENTS = 1000
#: Highest level of usual scales.
_HIGHEST_LEVEL = 10


def warn_if_swapped(qrels: Any, run: Any) -> None:
    """Issue a CoverageWarning where dicts of qrels and of a run look swapped.

    The scores of a run are seldom small whole numbers, and levels are seldom fractions that all differ. Both
    together, in the first topic, are taken for a sign. Other forms than dicts name their columns.
    """
    levels, scores = _values_of_first_topic(qrels), _values_of_first_topic(run)
    if (
        len(set(levels)) == len(levels) > 1
        and all(isinstance(level, (float, np.floating)) for level in levels)
        and not any(level.is_integer() for level in map(float, levels))
        and scores
        and all(type(score) is int or isinstance(score, np.integer) for score in scores)
        and all(0 <= score <= _HIGHEST_LEVEL for score in scores)
    ):
        warnings.warn(
            "These look like a run and qrels: all levels are fractions, and all scores are small whole "
            "numbers. Are the arguments swapped? The qrels come before the run.",
            CoverageWarning,
            stacklevel=levels_to_caller(),
        )


def _values_of_first_topic(source: Any) -> list[Any]:
    """Return the first values of the first topic of a dict of dicts; none of any other form."""
    documents = next(iter(source.values()), None) if isinstance(source, dict) else None
    return list(islice(documents.values(), _MOST_DOCUMENTS)) if isinstance(documents, Mapping) else []
