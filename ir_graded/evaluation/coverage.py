"""How qrels and runs fit together: topics that runs lack, judged documents, scores that rank nothing."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.threads import in_threads, processors
from ir_graded.core.judged_run import JudgedRun
from ir_graded.errors import MOST_IDS, CoverageWarning, GradedError
from ir_graded.io.sources import ensure_rereadable
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import MatchedRun, match_run, prepare_qrels

from .unjudged import LOWEST_JUDGED, mean_of_known, unjudged_share

if TYPE_CHECKING:
    import pandas as pd

#: Depths of the shares of judged documents: the first ten, and all.
_DEPTHS = np.array([10, np.iinfo(np.int64).max], dtype=np.int64)

#: The smallest number above 0: as the lowest relevant level, it makes all levels above 0 relevant.
_LEAST = float(np.nextafter(0.0, 1.0))
_UNJUDGED = "holds no judged document"
_ONE_SCORE = "gives all documents of a topic one score, so"
_TIED = f"{_ONE_SCORE} their ids alone decide the ranks"
_TIED_WITHOUT_IDS = f"{_ONE_SCORE} it ranks nothing"

#: Share of judged documents among the first ten and among all that a run retrieved; NaN if not known.
Shares = tuple[float, float]
_NOT_KNOWN: Shares = (np.nan, np.nan)


def judged_shares(judged_run: JudgedRun) -> Shares:
    """Mean shares of judged documents over the topics with something retrieved, for a run with all judged."""
    at_10, all_retrieved = (1 - mean_of_known(unjudged_share(judged_run, _DEPTHS))).tolist()
    return at_10, all_retrieved


@dataclass(frozen=True)
class RunCoverage:
    """How one run fits the qrels.

    Attributes:
        retrieved: number of topics of the qrels for which it has documents.
        first_missing: name of the first topic for which it has none; None if there is no such topic.
        unknown: number of its topics that the qrels lack.
        nothing_judged: whether it is known that none of its documents is judged.
        is_tie: whether some topic has several documents, and all documents of each topic have one score.
        shares: shares of its judged documents; None if they have to be counted first.
        fingerprint: where shares have to be counted, a hash of the documents found.
    """

    retrieved: int
    first_missing: str | None
    unknown: int
    nothing_judged: bool
    is_tie: bool
    shares: Shares | None
    fingerprint: int | None

    @classmethod
    def of(cls, judgments: Judgments, matched: MatchedRun) -> RunCoverage:
        """The coverage of a matched run."""
        found, names = matched.judged, judgments.names
        retrieved = int(np.count_nonzero(found.n_retrieved))
        judged = _all_judged(judgments, matched)
        return cls(
            retrieved,
            None if retrieved == len(names) else names[int(found.n_retrieved.argmin())],
            found.n_unknown,
            judged is not None and not judged.topic.size and retrieved > 0,
            found.is_flat and int(found.n_retrieved.max(initial=0)) > 1,
            None if judged is None else judged_shares(judged),
            _fingerprint(judgments, found) if judged is None else None,
        )


def _all_judged(judgments: Judgments, matched: MatchedRun) -> JudgedRun | None:
    """All judged documents of a run, where they are known without searching it once more."""
    judged_from, found_from = judgments.levels.values.searchsorted([LOWEST_JUDGED, matched.lowest])
    if judged_from >= found_from:
        return matched.judged.from_level(judgments.levels, LOWEST_JUDGED)
    if not matched.judged.topic.size and np.isfinite(matched.lowest):
        # Nothing relevant: whether anything is judged is worth a second look.
        return match_run(judgments, matched.run, LOWEST_JUDGED, processors())
    return None


def _fingerprint(judgments: Judgments, found: JudgedRun) -> int:
    """A number that another run, or other qrels, hardly give."""
    arrays = (judgments.levels.values, found.n_retrieved, found.document, found.rank)
    return hash((judgments.levels.topic.size, *(array.tobytes() for array in arrays)))


def count_again(
    qrels: Any, runs: Sequence[Any], scored: Sequence[RunCoverage], lowest: float
) -> list[Shares]:
    """Shares of judged documents of runs that have been scored; NaN if qrels or run have changed since.

    Args:
        qrels: the qrels as given, or prepared where they came only once.
        runs: the runs as given.
        scored: their coverage.
        lowest: the level from which on documents were looked for.
    """
    try:
        judgments = qrels if isinstance(qrels, Judgments) else prepare_qrels(qrels)
    except (GradedError, OSError):
        return known_shares(scored)

    def count(of: tuple[Any, RunCoverage]) -> Shares:
        run, coverage = of
        if coverage.shares is not None:
            return coverage.shares
        try:
            judged = match_run(judgments, ensure_rereadable("run", run), LOWEST_JUDGED)
        except (GradedError, OSError):
            return _NOT_KNOWN
        found = judged.from_level(judgments.levels, lowest)
        return judged_shares(judged) if _fingerprint(judgments, found) == coverage.fingerprint else _NOT_KNOWN

    return list(in_threads(count, zip(runs, scored, strict=True), processors()))


def known_shares(scored: Iterable[RunCoverage]) -> list[Shares]:
    """Shares of judged documents as far as they have been counted; NaN elsewhere."""
    return [_NOT_KNOWN if run.shares is None else run.shares for run in scored]


@dataclass(eq=False)
class Coverage:
    """How several runs fit the qrels. Pickles and copies hold the shares that have been counted by then.

    Attributes:
        names: names of the runs.
        runs: the coverage of each.
        topics: number of topics of the qrels.
        rel: the lowest level that any of the measures takes for relevant; inf where none asks.
        has_relevant: whether a document of the qrels has that level or a higher one.
        count: counts the shares of judged documents; kept no longer than needed.
        by_id: whether some measure ranks documents with equal scores by their ids.
    """

    names: tuple[str, ...]
    runs: tuple[RunCoverage, ...]
    topics: int
    rel: float
    has_relevant: bool
    count: Callable[[], list[Shares]] | None
    by_id: bool = True

    def __post_init__(self) -> None:
        self._shares = known_shares(self.runs)
        if not any(run.shares is None for run in self.runs):
            self.count = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"count": None}

    def shares(self) -> list[Shares]:
        """Shares of judged documents of each run, counted when first asked for."""
        if self.count is not None:
            self._shares = self.count()
            self.count = None
        return self._shares

    def to_frame(self) -> pd.DataFrame:
        """A row per run; ``Scores.coverage`` describes the columns."""
        import pandas as pd

        at_10, all_retrieved = zip(*self.shares(), strict=True) if self.names else ((), ())
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
        words = _TIED if self.by_id else _TIED_WITHOUT_IDS
        tied = dict.fromkeys([name for name, run in of.items() if run.is_tie], words)
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
            warnings.warn(" ".join(notes), CoverageWarning, stacklevel=levels_to_caller())


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


def levels_to_caller() -> int:
    """Levels of the stack from the function that asks up to the one that called the package."""
    root = f"{Path(__file__).parents[1]}{os.sep}"  # frames name files as text
    frame = inspect.currentframe()
    frame, level = frame and frame.f_back, 1
    while frame is not None and frame.f_code.co_filename.startswith(root):
        frame, level = frame.f_back, level + 1
    return level
