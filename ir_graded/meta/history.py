"""Means over releases of a system, and which releases are not comparable."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_graded._utils.later import extra
from ir_graded._utils.results import Result
from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import CoverageWarning, GradedError, InputError, format_ids, short_repr

from .matrix import DECIMALS, FEWEST, ScoreMatrix, matrices_by_measure
from .max_t import mean_and_error
from .options import means_over_topics, statistic, weights_of

if TYPE_CHECKING:
    from ir_graded.plots.style import Axes, Figure


@dataclass(frozen=True, eq=False, repr=False)
class History(Result):
    """Means of runs over releases, the result of :func:`history`.

    The attributes are columns, with a value for each release, measure and run.

    Attributes:
        release: name of the release.
        measure: printed name of the measure.
        run: name of the run.
        topics: number of topics.
        mean: mean over the topics.
        change: difference from the previous release; NaN if there is none that is comparable.
        low: lower end of Student's interval of the change.
        high: upper end of that interval.
        part: number of the part of the history, from 1; only releases of one part are comparable.
        alpha: the intervals have the confidence 1 - alpha.
        notes: sentences on what differs between releases.
    """

    release: tuple[str, ...]
    measure: tuple[str, ...]
    run: tuple[Hashable, ...]
    topics: Ints
    mean: Floats
    change: Floats
    low: Floats
    high: Floats
    part: Ints
    alpha: float
    notes: tuple[str, ...] = ()

    COLUMNS: ClassVar = ("release", "measure", "run", "topics", "mean", "change", "low", "high", "part")

    def plot(self, measure: Any = None, ax: Axes | None = None) -> Figure:
        """Plot the means by a measure, by default the first; lines end where releases are not comparable."""
        from ir_graded.plots.scores import history as draw

        return draw(self, measure, ax)


@statistic()
def history(scores: Mapping[str, Any], *, alpha: float = 0.05, weights: Any = None) -> History:
    """Follow means over releases, and find releases that are not comparable with those before.

    Two releases in a row are comparable if they have equal topics, and equal hashes of the qrels and options
    in their signatures. A run is followed by its name; if each release has one run, by its only run. Changes
    are those of two releases; many of them are compared, and no p-value is corrected for this: use
    ``differences`` before a decision.

    Args:
        scores: scores of each release, oldest first: results of ``ir_graded.evaluate``, or mappings from
            measures to score matrices.
        alpha: the intervals of changes have the confidence 1 - alpha.
        weights: weights of the topics of all releases, as in ``differences``.

    Raises:
        InputError: there are fewer than two releases, a score is not finite, or a topic has no weight or a
            wrong one.
        ParameterError: ``alpha`` is out of its range, or all measures are geometric means.

    Warns:
        CoverageWarning: topics, qrels, options, measures or runs differ, or it is not known if qrels do.

    Example:
        >>> import pandas as pd
        >>> releases = {"v1": [0.2, 0.4, 0.3], "v2": [0.4, 0.4, 0.4], "v3": [0.5, 0.6, 0.4]}
        >>> given = {name: {"Q": pd.DataFrame({"bm25": column})} for name, column in releases.items()}
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", CoverageWarning)  # the qrels are not known
        ...     found = history(given)
        >>> found.to_frame()[["release", "mean", "change", "low", "high", "part"]].round(3)
          release  mean  change    low   high  part
        0      v1   0.3     NaN    NaN    NaN     1
        1      v2   0.4     0.1 -0.148  0.348     1
        2      v3   0.5     0.1 -0.148  0.348     1
    """
    if not isinstance(scores, Mapping) or len(scores) < FEWEST:
        found = f"{len(scores)} releases" if isinstance(scores, Mapping) else short_repr(scores)
        raise InputError(f"expected a mapping from two or more releases to their scores, found {found}")
    releases = [_Release.of(str(name), of_release, weights) for name, of_release in scores.items()]
    alone = all(len(one.runs) == 1 for one in releases)
    rows: list[tuple[Any, ...]] = []
    notes, part = [], 1
    for at, now in enumerate(releases):
        before = releases[at - 1] if at else None
        if before is not None:
            breaks, others = [*now.breaks(before)], [*now.gaps(before, alone)]
            part += bool(breaks)
            pair = f"{before.name!r} and {now.name!r}"
            notes += [f"{pair} are not comparable: {'; '.join(breaks)}"] if breaks else []
            notes += [f"{pair}: {'; '.join(others)}"] if others else []
            before = None if breaks else before
        rows += [(*row, part) for row in now.rows(before, alone, alpha)]
    for note in notes:
        warnings.warn(note, CoverageWarning, stacklevel=3)
    names = History.COLUMNS
    columns: dict[str, Any] = dict(zip(names, zip(*rows, strict=True), strict=True))
    columns |= {name: np.array(columns[name]) for name in names[3:]}
    return History(**columns, alpha=float(alpha), notes=tuple(notes))


@dataclass(frozen=True)
class _Release:
    """Scores of a release and their signature, if they have one."""

    name: str
    matrices: Mapping[str, ScoreMatrix]
    signature: Any
    weights: Floats

    @classmethod
    def of(cls, name: str, scores: Any, weights: Any) -> _Release:
        try:
            matrices = matrices_by_measure(scores, 1)
            of_topic = weights_of(next(iter(matrices.values())).topics, weights)
            return cls(name, matrices, getattr(scores, "signature", None), of_topic)
        except GradedError as error:
            raise type(error)(f"release {name!r}: {error}") from None

    @property
    def runs(self) -> tuple[Hashable, ...]:
        return next(iter(self.matrices.values())).runs

    @property
    def topics(self) -> list[str]:
        return [*map(str, next(iter(self.matrices.values())).topics)]

    def rows(self, before: _Release | None, alone: bool, alpha: float) -> Iterator[tuple[Any, ...]]:
        """Yield a row for each measure and run, with the change from a comparable release."""
        topics = np.count_nonzero(self.weights)
        for measure, matrix in self.matrices.items():
            old = None if before is None else before.matrices.get(measure)
            means = means_over_topics(matrix.values.T, self.weights).round(DECIMALS).tolist()
            for column, (run, mean) in enumerate(zip(matrix.runs, means, strict=True)):
                change: list[Any] = [np.nan] * 3
                if old is not None and (alone or run in old.runs):
                    at = {str(topic): row for row, topic in enumerate(old.topics)}
                    rows = [at[str(topic)] for topic in matrix.topics]
                    values = old.values[rows, 0 if alone else old.runs.index(run)]
                    differences = (matrix.values[:, column] - values).round(DECIMALS)
                    mean_change = float(means_over_topics(differences, self.weights))
                    # Student's interval.
                    _, (se,), effective = mean_and_error(differences[np.newaxis], self.weights)
                    width = float(-extra("scipy.special").stdtrit(effective - 1, alpha / 2) * se)
                    change = [mean_change, mean_change - width, mean_change + width]
                yield self.name, measure, run, topics, mean, *change

    def breaks(self, before: _Release) -> Iterator[str]:
        """Yield what makes means of two releases incomparable."""
        if {*self.topics} != {*before.topics}:
            yield _only("topics", before.topics, self.topics)
        mine, theirs = self.signature, before.signature
        if mine and theirs and mine.qrels and theirs.qrels and mine.qrels != theirs.qrels:
            yield f"the qrels differ, by their hashes {theirs.qrels} and {mine.qrels}"
        if mine and theirs and mine.options and theirs.options:
            for option in sorted({*mine.options} | {*theirs.options}):
                old, new = theirs.options.get(option), mine.options.get(option)
                if old != new:
                    yield f"the option {option} is {old} and {new}"

    def gaps(self, before: _Release, alone: bool) -> Iterator[str]:
        """Yield what else differs, or is not known."""
        if {*self.matrices} != {*before.matrices}:
            yield _only("measures", [*before.matrices], [*self.matrices])
        if not alone and {*self.runs} != {*before.runs}:
            yield _only("runs", [*before.runs], [*self.runs])
        unknown = [repr(one.name) for one in (before, self) if not getattr(one.signature, "qrels", None)]
        if unknown:
            lack = f"{' and '.join(unknown)} {'has' if len(unknown) == 1 else 'have'}"
            yield f"it is not known if the qrels differ, because {lack} no hash of them"
        versions: list[Any] = [getattr(one.signature, "versions", None) for one in (before, self)]
        if all(versions) and versions[0] != versions[1]:
            numbers = [", ".join(f"{name} {number}" for name, number in one.items()) for one in versions]
            yield f"they were computed by {' and by '.join(numbers)}"


def _only(kind: str, before: list[Any], now: list[Any]) -> str:
    """Return which names only one of two releases has."""
    parts = [
        f"{len(names)} only in the {which} ({format_ids(names)})"
        for which, own, others in (("first", before, now), ("second", now, before))
        if (names := [name for name in own if name not in {*others}])
    ]
    return f"the {kind} differ: {', '.join(parts)}"
