"""How qrels and runs fit together: topics that runs lack, judged documents, scores that rank nothing."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.core import segments
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import MOST_IDS, CoverageWarning

if TYPE_CHECKING:
    import pandas as pd

#: Judged is what has a level from here on: levels below 0 say that nobody looked.
LOWEST_JUDGED = 0.0
#: Depths of the shares of judged documents: the first ten, and all.
_DEPTHS = np.array([10, np.iinfo(np.int64).max], dtype=np.int64)

#: The least number above 0: as lowest relevant level it stands for all above 0.
_LEAST = float(np.nextafter(0.0, 1.0))
_UNJUDGED = "holds no judged document"
_TIED = "gives all documents of a topic one score, so their ids alone decide the ranks"

#: Share of judged documents among the first ten and among all that a run retrieved; NaN where not known.
Shares = tuple[float, float]
_NOT_KNOWN: Shares = (np.nan, np.nan)


def unjudged_share(judged_run: JudgedRun, depths: Ints) -> Floats:
    """Of the documents of each topic down to each depth, the share that is not judged.

    Args:
        judged_run: the judged documents that a run retrieved.
        depths: the depths, each at least 1.

    Returns:
        Shape ``(depths, topics)``; NaN where the run retrieved nothing for the topic.
    """
    topics = judged_run.n_retrieved.size
    judged = np.array(
        [segments.count(judged_run.topic[judged_run.rank <= depth], topics) for depth in depths]
    )
    retrieved = np.minimum(judged_run.n_retrieved, depths[:, np.newaxis])
    return ratio(retrieved - judged, retrieved)


def ratio(part: Any, whole: Any) -> Floats:
    """Part of whole; NaN where the whole is 0."""
    nothing = np.full(np.shape(whole), np.nan)
    return np.asarray(np.divide(part, whole, out=nothing, where=np.asarray(whole) > 0))


def mean_of_known(values: Floats) -> Floats:
    """Mean over the last axis of what is not NaN."""
    known = ~np.isnan(values)
    return ratio(segments.exact_sum(np.where(known, values, 0.0)), known.sum(axis=-1))


def judged_shares(judged_run: JudgedRun) -> Shares:
    """Mean shares of judged documents over the topics with something retrieved, for a run with all judged."""
    at_10, all_retrieved = (1 - mean_of_known(unjudged_share(judged_run, _DEPTHS))).tolist()
    return at_10, all_retrieved


@dataclass(frozen=True)
class RunCoverage:
    """How one run fits the qrels.

    Attributes:
        retrieved: number of topics of the qrels for which it has documents.
        first_missing: name of the first topic for which it has none; None where there is no such topic.
        unknown: number of its topics that the qrels lack.
        nothing_judged: whether it is known that none of its documents is judged.
        is_tie: whether some topic has several documents, and all documents of each topic have one score.
    """

    retrieved: int
    first_missing: str | None
    unknown: int
    nothing_judged: bool
    is_tie: bool

    @classmethod
    def of(cls, judged_run: JudgedRun, names: list[str], nothing_judged: bool) -> RunCoverage:
        """The coverage of a run on topics with these names."""
        retrieved = int(np.count_nonzero(judged_run.n_retrieved))
        missing = None if retrieved == len(names) else names[int(judged_run.n_retrieved.argmin())]
        is_tie = judged_run.is_flat and int(judged_run.n_retrieved.max(initial=0)) > 1
        return cls(retrieved, missing, judged_run.n_unknown, nothing_judged and retrieved > 0, is_tie)


class Judged:
    """Shares of judged documents of several runs, counted when first asked for.

    Pickles and copies hold what has been counted by then; the rest is NaN there.

    Args:
        shares: the shares of each run; None where they have not been counted.
        count: counts those of the runs with these numbers; it is kept no longer than needed.
    """

    def __init__(
        self, shares: list[Shares | None], count: Callable[[list[int]], list[Shares | None]] | None
    ) -> None:
        self._shares = shares
        self._count = count if None in shares else None

    def __getstate__(self) -> dict[str, Any]:
        return {"_shares": self._shares, "_count": None}

    def shares(self) -> list[Shares]:
        """The shares of each run."""
        count, self._count = self._count, None
        if count is not None:
            wanted = [number for number, shares in enumerate(self._shares) if shares is None]
            for number, shares in zip(wanted, count(wanted), strict=True):
                self._shares[number] = shares
        return [_NOT_KNOWN if shares is None else shares for shares in self._shares]


@dataclass(frozen=True, eq=False)
class Coverage:
    """How several runs fit the qrels.

    Attributes:
        names: names of the runs.
        runs: the coverage of each.
        topics: number of topics of the qrels.
        rel: the lowest level that any of the measures takes for relevant; inf where none asks.
        has_relevant: whether a document of the qrels has that level or a higher one.
        judged: shares of judged documents.
    """

    names: tuple[str, ...]
    runs: tuple[RunCoverage, ...]
    topics: int
    rel: float
    has_relevant: bool
    judged: Judged

    def to_frame(self) -> pd.DataFrame:
        """A row per run; ``Scores.coverage`` describes the columns."""
        import pandas as pd

        at_10, all_retrieved = zip(*self.judged.shares(), strict=True) if self.names else ((), ())
        return pd.DataFrame(
            {
                "run": pd.Series(self.names, dtype=object),
                "topics_retrieved": np.array([run.retrieved for run in self.runs], dtype=np.int64),
                "topics_missing": np.array(
                    [self.topics - run.retrieved for run in self.runs], dtype=np.int64
                ),
                "unknown_topics": np.array([run.unknown for run in self.runs], dtype=np.int64),
                "judged_at_10": np.array(at_10, dtype=np.float64),
                "judged_share": np.array(all_retrieved, dtype=np.float64),
            }
        )

    def notes(self) -> list[str]:
        """Sentences on all that makes the scores say less than they seem to."""
        return list(self._notes())

    def _notes(self) -> Iterator[str]:
        if not self.has_relevant:
            levels = f"of {self.rel:g} or more" if self.rel > _LEAST else "above 0"
            yield f"No document of the qrels has a level {levels}, so nothing is relevant."
        of = dict(zip(self.names, self.runs, strict=True))
        lacking = {name: self._lack(run) for name, run in of.items() if 0 < run.retrieved < self.topics}
        yield from _of_runs(lacking, "lacks topics", "lack topics")
        empty = [name for name, run in of.items() if not run.retrieved]
        yield from _of_runs(dict.fromkeys(empty, "is empty and scores 0"), "is empty", "are empty")
        unjudged = dict.fromkeys([name for name, run in of.items() if run.nothing_judged], _UNJUDGED)
        yield from _of_runs(unjudged, "holds no judged document", "hold no judged document")
        tied = dict.fromkeys([name for name, run in of.items() if run.is_tie], _TIED)
        yield from _of_runs(tied, "gives equal scores", "give equal scores")

    def _lack(self, run: RunCoverage) -> str:
        lack = (
            f"lacks {self.topics - run.retrieved} of the {self.topics} topics of the qrels "
            f"(the first is {run.first_missing!r}) and scores 0 on them"
        )
        if not run.unknown:
            return lack
        return f"{lack}; {run.unknown} of its topics {'is' if run.unknown == 1 else 'are'} not in the qrels"

    def warn(self) -> None:
        """Issue one CoverageWarning with all notes, at the line that called the package."""
        notes = self.notes()
        if notes:
            warnings.warn(" ".join(notes), CoverageWarning, stacklevel=_levels_to_caller())


def _of_runs(said: dict[str, str], one: str, several: str) -> Iterator[str]:
    """A sentence on each of the first runs, and one on how many more there are.

    Args:
        said: by name what is said of a run.
        one: what is said of one more.
        several: what is said of several more.
    """
    yield from (f"Run {name!r} {words}." for name, words in islice(said.items(), MOST_IDS))
    more = len(said) - MOST_IDS
    if more > 0:
        yield f"{more} more run{'s' if more > 1 else ''} {several if more > 1 else one}."


def _levels_to_caller() -> int:
    """Levels of the stack from the function that asks up to the one that called the package."""
    root = os.path.dirname(__file__) + os.sep  # noqa: PTH120  # frames name files as text
    frame = inspect.currentframe()
    frame, level = frame and frame.f_back, 1
    while frame is not None and frame.f_code.co_filename.startswith(root):
        frame, level = frame.f_back, level + 1
    return level
