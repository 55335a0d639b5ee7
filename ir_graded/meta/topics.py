"""Samples of topics: their weights, slices and clusters, and what these tell about the conclusions."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ir_graded.core.segments import Bools, Floats, Ints, exact_sum
from ir_graded.errors import MOST_IDS, CoverageWarning, InputError, format_ids, printable, short_repr
from ir_graded.io.slices import read_clusters, read_slices, read_weights

from .matrix import FEWEST

#: The slice of all topics.
ALL_TOPICS = "all"
#: Number of decimals of means of clusters: a topic alone keeps its value, and equal sums remain equal.
UNIT_DECIMALS = 15
#: With fewer effective topics, few topics have most of the weight, and nothing covers.
_FEW_EFFECTIVE = 10
#: With fewer, weights that are related to the differences make tests find too much.
_SOME_EFFECTIVE = 40
#: Weights outside are mistakes, and their squares would overflow or vanish.
_LIGHTEST, _HEAVIEST = 1e-20, 1e20
#: An id of a topic in a cluster, such as 31_2: a prefix with a digit, a separator and the rest.
_ID = re.compile(r"(.*\d.*)[_.-][^_.-]*")
#: Fewest prefixes that look like clusters, and fewest topics of one on average.
_PREFIXES, _TOPICS_A_PREFIX = 8, 2


def means_over_topics(values: Floats, weights: Floats) -> Floats:
    """Return means over the last axis, which do not depend on the order of the topics."""
    if (weights == weights[0]).all():
        return np.asarray(exact_sum(values) / len(weights))
    return np.asarray(exact_sum(values * weights) / weights.sum())


@dataclass(frozen=True)
class Sample:
    """The topics with a weight above 0: their weights, slices and clusters.

    A *unit* is what is drawn independently of others: a cluster, with the weighted mean of its topics and the
    sum of their weights, or a topic if there are no clusters. Means of units are the means of the topics.

    Attributes:
        kept: whether each of the given topics has a weight above 0.
        weights: weights of the kept topics.
        parts: numbers of the kept topics of all topics and of each slice.
        cluster: number of the cluster of each kept topic; None without clusters.
        notes: sentences on what limits conclusions from these topics.
        too_few: the one among them on parts where very few units have most of the weight, or ''.
    """

    kept: Bools
    weights: Floats
    parts: dict[str, Ints]
    cluster: Ints | None
    notes: tuple[str, ...] = ()
    too_few: str = ""

    @classmethod
    def of(
        cls, topics: Sequence[Hashable], weights: Any = None, slices: Any = None, clusters: Any = None
    ) -> Sample:
        """Return a sample from the options of statistics.

        Raises:
            InputError: a topic has no weight or cluster, or a wrong one, or there are fewer than two topics
                with a weight, or fewer than two clusters, in total or in a slice.
        """
        of_topic = weights_of(topics, weights)
        kept = of_topic > 0
        parts = _of_kept(topics_by_slice(topics, slices), kept)
        cluster = None
        if clusters is not None:
            _, cluster = np.unique(_clusters_of(topics, clusters)[kept], return_inverse=True)
            for name, part in parts.items():
                if np.ptp(cluster[part]) == 0:
                    where = "all topics" if name == ALL_TOPICS else f"the topics of slice {name!r}"
                    raise InputError(f"clusters: {where} are in one cluster; a test needs 2")
        found = cls(kept, of_topic[kept], parts, cluster)
        few, some = _notes_on_weights(found, weights)
        notes = (*_notes_on_clusters(topics, found), few, some)
        return replace(found, notes=tuple(filter(None, notes)), too_few=few)

    def warn(self) -> None:
        """Warn if few units have most of the weight."""
        if self.too_few:
            text = f"{self.too_few[0].lower()}{self.too_few[1:]}".rstrip(".")
            warnings.warn(text, CoverageWarning, stacklevel=4)

    @property
    def size(self) -> int:
        """Number of units."""
        return self.weights.size if self.cluster is None else int(self.cluster.max()) + 1

    @property
    def unit(self) -> str:
        """What a unit is called."""
        return "topic" if self.cluster is None else "cluster"

    def units(self, values: Floats, part: str = ALL_TOPICS) -> tuple[Ints, Floats, Floats]:
        """Return the numbers of the units of a slice, their values, and their weights.

        ``values`` are of the kept topics, on the last axis; so are those of the units.
        """
        topics = self.parts[part]
        values, weights = values[..., topics], self.weights[topics]
        if self.cluster is None:
            return topics, values, weights
        order = np.argsort(self.cluster[topics], kind="stable")
        units, start = np.unique(self.cluster[topics][order], return_index=True)
        of_units = np.add.reduceat(weights[order], start)
        means = np.add.reduceat((values * weights)[..., order], start, axis=-1) / of_units
        return units, means.round(UNIT_DECIMALS), of_units

    def effective(self, part: str = ALL_TOPICS) -> float:
        """Return the number of equally weighted units with the same standard error (Kish)."""
        _, _, weights = self.units(self.weights, part)
        return float(weights.sum() ** 2 / (weights**2).sum())


def weights_of(topics: Sequence[Hashable], weights: Any) -> Floats:
    """Return the weight of each topic, 1 without weights. Raises InputError for a missing or wrong one."""
    if weights is None:
        return np.ones(len(topics))
    given = read_weights(weights)
    found = np.full(len(topics), np.nan)
    for at, topic in enumerate(topics):
        weight = given.get(str(topic))
        if isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool):
            found[at] = weight
    place = _place(weights, "weights")
    wrong = [topic for topic, fits in zip(topics, (found >= 0) & (found < math.inf), strict=True) if not fits]
    if wrong:
        raise InputError(
            f"{place}: topics need a finite number >= 0, and {format_ids(wrong[:MOST_IDS])} "
            f"({len(wrong)} in total) have none"
        )
    extreme = (found > 0) & ~((found >= _LIGHTEST) & (found <= _HEAVIEST))
    if extreme.any():
        at = int(np.argmax(extreme))
        raise InputError(
            f"{place}: the weight of topic {topics[at]!r} is {found[at]:g}; weights above 0 must be from "
            f"{_LIGHTEST:g} to {_HEAVIEST:g}: divide all by the same number, or give 0"
        )
    if np.count_nonzero(found) < FEWEST:
        raise InputError(f"{place}: {np.count_nonzero(found)} topics have a weight above 0; a test needs 2")
    return found


def _place(source: Any, kind: str) -> str:
    """Return the beginning of a message on values of topics."""
    return f"{printable(os.fspath(source))}: {kind}" if isinstance(source, (str, os.PathLike)) else kind


def _clusters_of(topics: Sequence[Hashable], clusters: Any) -> Ints:
    """Return the number of the cluster of each topic. Raises InputError for a topic without one."""
    of_topic = read_clusters(clusters)
    names = [of_topic.get(str(topic)) for topic in topics]
    without = [topic for topic, name in zip(topics, names, strict=True) if name is None]
    if without:
        raise InputError(
            f"{_place(clusters, 'clusters')}: {format_ids(without)} ({len(without)} of the {len(topics)} "
            "scored topics) have no cluster; a topic that belongs to no other has a cluster of its own"
        )
    number = {name: at for at, name in enumerate(dict.fromkeys(names))}
    return np.array([number[name] for name in names], dtype=np.int64)


def topics_by_slice(topics: Sequence[Hashable], slices: Any, fewest: int = FEWEST) -> dict[str, Ints]:
    """Return the indices of all topics and of each slice. Raises InputError if one has too few."""
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
            if parts[name].size < fewest:
                raise InputError(
                    f"slices: {name!r} has {parts[name].size} of the scored topics, and needs {fewest}"
                )
    return parts


def _of_kept(parts: dict[str, Ints], kept: Bools) -> dict[str, Ints]:
    """Return slices of the topics with a weight above 0. Raises InputError if one has fewer than two."""
    place = np.cumsum(kept) - 1
    found = {name: place[part[kept[part]]] for name, part in parts.items()}
    for name, part in found.items():
        if part.size < FEWEST:
            raise InputError(f"slices: {part.size} topics of {name!r} have a weight above 0; a test needs 2")
    return found


def _notes_on_clusters(topics: Sequence[Hashable], sample: Sample) -> Iterator[str]:
    """Yield a sentence on the clusters, or on ids that look clustered where none are given."""
    if sample.cluster is not None:
        number, clusters = sample.weights.size, sample.size
        yield f"Tests and intervals take the {number:,} topics as {clusters:,} independent clusters."
        return
    found = Counter(match[1] for match in map(_ID.fullmatch, map(str, topics)) if match)
    number, prefixes = found.total(), len(found)
    if prefixes >= _PREFIXES and number >= _TOPICS_A_PREFIX * prefixes:
        prefix, of_prefix = found.most_common(1)[0]
        yield (
            f"The ids of {number:,} topics have {prefixes:,} prefixes, such as {short_repr(prefix)} of "
            f"{of_prefix:,}. If these are variants of a query or turns of a session, they are not "
            "independent, and conclusions are less certain than they seem: give their clusters."
        )


def _notes_on_weights(sample: Sample, weights: Any) -> tuple[str, str]:
    """Return sentences on parts where very few, and where few, units have most of the weight, or ''."""
    kind = "Clusters" if weights is None else "Weights"
    effective = {name: sample.effective(name) for name in sample.parts}
    unequal = {name for name in sample.parts if np.ptp(sample.units(sample.weights, name)[2])}

    def listed(lowest: float, end: float, names: Collection[str]) -> str:
        found = [
            f"{effective[name]:.1f} ({'all topics' if name == ALL_TOPICS else f'slice {name!r}'})"
            for name in sample.parts
            if name in names and lowest <= effective[name] < end
        ]
        return f"{kind}: the effective number of {sample.unit}s is {', '.join(found)}" if found else ""

    few = listed(0, _FEW_EFFECTIVE, unequal if weights is None else sample.parts)
    some = "" if weights is None else listed(_FEW_EFFECTIVE, _SOME_EFFECTIVE, unequal)
    return (
        few
        and f"{few}, below {_FEW_EFFECTIVE}, because few {sample.unit}s have most of the weight; intervals, "
        "tests and verdicts are unreliable.",
        some and f"{some}; where weights are related to the differences, tests find too many.",
    )
