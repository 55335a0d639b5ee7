"""Attributes that the public plots read from the results of other packages, as protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy.typing as npt

from ir_graded.core.segments import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd


class AslCurve(Protocol):
    """Achieved significance levels of all pairs of systems, sorted descending."""

    @property
    def curve(self) -> Floats: ...
    @property
    def alpha(self) -> float: ...


class StabilityCurve(Protocol):
    """A point per fuzziness value."""

    @property
    def minority_rate(self) -> Floats: ...
    @property
    def proportion_of_ties(self) -> Floats: ...


class SwapCurve(Protocol):
    """Swap rates of bins of differences."""

    @property
    def lower(self) -> Floats: ...
    @property
    def observations(self) -> Ints: ...
    @property
    def rate(self) -> Floats: ...
    @property
    def max_rate(self) -> float: ...


class SizeCurve(Protocol):
    """Number of topics by the difference that they detect."""

    @property
    def present(self) -> int | None: ...
    def curve(self) -> tuple[Floats, Floats]: ...


class ScoreTables(Protocol):
    """Scores of runs by several measures."""

    @property
    def names(self) -> list[str]: ...
    def position(self, measure: Any, /) -> int: ...
    def matrix(self, measure: Any, /) -> pd.DataFrame: ...


class MeanIntervals(Protocol):
    """Means of systems with the ends of their intervals, each of shape ``(measures, systems)``."""

    @property
    def measures(self) -> Sequence[str]: ...
    @property
    def systems(self) -> Sequence[object]: ...
    @property
    def mean(self) -> Floats: ...
    @property
    def low(self) -> Floats: ...
    @property
    def high(self) -> Floats: ...
    @property
    def level(self) -> float: ...


class UnjudgedShares(Protocol):
    """Shares of unjudged documents, of shapes ``(runs, depths)`` and ``(runs, ranks)``."""

    @property
    def runs(self) -> Sequence[str]: ...
    @property
    def depths(self) -> Sequence[int]: ...
    @property
    def share(self) -> Floats: ...
    @property
    def by_rank(self) -> Floats: ...


class TopicProfile(Protocol):
    """Columns with a value per relevant document that a run retrieved for one topic."""

    @property
    def measure(self) -> object: ...
    @property
    def query_id(self) -> object: ...
    @property
    def columns(self) -> Mapping[str, npt.NDArray[Any]]: ...


class TopicOfRun(TopicProfile, Protocol):
    """A topic profile with its run; the measure has ``NAME``, parameters, and for GF ``target``."""

    @property
    def measure(self) -> Any: ...
    @property
    def run(self) -> str: ...
    @property
    def retrieved(self) -> int: ...
