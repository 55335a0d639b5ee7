"""Weights and slices of topics."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from ir_graded.core.segments import Bools, Floats, Ints, exact_sum
from ir_graded.errors import MOST_IDS, CoverageWarning, InputError, format_ids, printable
from ir_graded.io.slices import read_slices, read_weights

#: The slice of all topics.
ALL_TOPICS = "all"
#: With fewer effective topics, few topics have most of the weight, and nothing covers.
_FEW_EFFECTIVE = 10


def means_over_topics(values: Floats, weights: Floats) -> Floats:
    """Return means over the last axis, which do not depend on the order of the topics."""
    if (weights == weights[0]).all():
        return np.asarray(exact_sum(values) / len(weights))
    return np.asarray(exact_sum(values * weights) / weights.sum())


def weights_of(topics: tuple[Hashable, ...], weights: Any) -> Floats:
    """Return the weight of each topic, 1 without weights. Raises InputError for a missing or wrong one."""
    if weights is None:
        return np.ones(len(topics))
    given = read_weights(weights)
    found = np.full(len(topics), np.nan)
    for at, topic in enumerate(topics):
        weight = given.get(str(topic))
        if isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool):
            found[at] = weight
    wrong = [topic for topic, fits in zip(topics, (found >= 0) & (found < math.inf), strict=True) if not fits]
    if wrong:
        place = f"{printable(os.fspath(weights))}: " if isinstance(weights, (str, os.PathLike)) else ""
        raise InputError(
            f"{place}weights: topics need a finite number >= 0, and {format_ids(wrong[:MOST_IDS])} "
            f"({len(wrong)} in total) have none"
        )
    if np.count_nonzero(found) < 2:  # noqa: PLR2004
        raise InputError(f"weights: {np.count_nonzero(found)} topics have a weight above 0; a test needs 2")
    return found


def topics_by_slice(topics: tuple[Hashable, ...], slices: Any) -> dict[str, Ints]:
    """Return the indices of all topics and of each slice. Raises InputError if a slice is too small."""
    parts = {ALL_TOPICS: np.arange(len(topics), dtype=np.int64)}
    for of_topic in read_slices(slices):
        member = [of_topic.get(str(topic)) for topic in topics]
        unknown = [*of_topic.keys() - {str(topic) for topic in topics}]
        without = [topic for topic, part in zip(topics, member, strict=True) if part is None]
        # Slices may be of more topics or of fewer, but not both: then ids differ.
        if unknown and without:
            raise InputError(
                f"slices: no scored topic is named {format_ids(sorted(unknown))}, and {format_ids(without)} "
                f"({len(without)} in total) have no slice; are the ids equal?"
            )
        for name in dict.fromkeys(part for part in member if part is not None) or of_topic.values():
            if name in parts:
                raise InputError(
                    f"slices: a slice is named {name!r}, which is the name of all topics or of another: "
                    "rename it"
                )
            parts[name] = np.array([at for at, part in enumerate(member) if part == name], dtype=np.int64)
            if parts[name].size < 2:  # noqa: PLR2004
                raise InputError(
                    f"slices: {name!r} has {parts[name].size} of the scored topics; a test needs 2"
                )
    return parts


def of_kept(parts: dict[str, Ints], kept: Bools) -> dict[str, Ints]:
    """Return slices of the topics with a weight above 0. Raises InputError if one has fewer than two."""
    place = np.cumsum(kept) - 1
    found = {name: place[part[kept[part]]] for name, part in parts.items()}
    for name, part in found.items():
        if part.size < 2:  # noqa: PLR2004
            raise InputError(f"slices: {part.size} topics of {name!r} have a weight above 0; a test needs 2")
    return found


def notes_on_weights(parts: Mapping[str, Ints], weights: Floats) -> tuple[str, ...]:
    """Return a sentence, also as a warning, if few topics have most of the weight."""
    few = []
    for name, part in parts.items():
        effective = weights[part].sum() ** 2 / (weights[part] ** 2).sum()
        if effective < _FEW_EFFECTIVE:
            few.append(f"{effective:.1f} ({'all topics' if name == ALL_TOPICS else f'slice {name!r}'})")
    if not few:
        return ()
    note = (
        f"weights: the effective number of topics is {', '.join(few)}, below {_FEW_EFFECTIVE}, because few "
        "topics have most of the weight; intervals, tests and verdicts are unreliable"
    )
    warnings.warn(note, CoverageWarning, stacklevel=4)
    return (f"{note[0].upper()}{note[1:]}.",)
