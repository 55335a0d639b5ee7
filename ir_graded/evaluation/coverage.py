"""Coverage of runs by qrels: missing topics, judged documents, and scores that give no ranking."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.threads import in_threads, processors
from ir_graded.core import segments
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import MOST_IDS, CoverageWarning, GradedError, format_ids
from ir_graded.io.sources import table_of
from ir_graded.io.values import as_text
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import MatchedRun, match_run
from ir_graded.measures.base import Scorer

if TYPE_CHECKING:
    import pandas as pd

#: Documents with this level or a higher one count as judged; a negative level marks an unjudged document.
LOWEST_JUDGED = 0.0


def unjudged_share(judged_run: JudgedRun, depths: Ints) -> Floats:
    """Return the unjudged share of the documents of each topic down to each depth; NaN without documents.

    Returns:
        Shape ``(depths, topics)``.
    """
    topics = judged_run.n_retrieved.size
    judged = np.array(
        [segments.count(judged_run.topic[judged_run.rank <= depth], topics) for depth in depths]
    )
    retrieved = np.minimum(judged_run.n_retrieved, depths[:, np.newaxis])
    return ratio(retrieved - judged, retrieved)


def ratio(part: Any, whole: Any) -> Floats:
    """Return part / whole; NaN if the whole is 0."""
    nothing = np.full(np.shape(whole), np.nan)
    return np.asarray(np.divide(part, whole, out=nothing, where=np.asarray(whole) > 0))


def mean_of_known(values: Floats) -> Floats:
    """Return the mean over the last axis, ignoring NaN."""
    known = ~np.isnan(values)
    return ratio(segments.exact_sum(np.where(known, values, 0.0)), known.sum(axis=-1))


#: Depths of the shares of judged documents: ten, and all.
_DEPTHS = np.array([10, np.iinfo(np.int64).max], dtype=np.int64)

#: The smallest number above 0: as the lowest relevant level, it makes all levels above 0 relevant.
_LEAST = float(np.nextafter(0.0, 1.0))
_UNJUDGED = "has no judged document"
_ONE_SCORE = "gives all documents of a topic the same score, so"
_TIED = f"{_ONE_SCORE} only their ids determine the ranks"
_TIED_WITHOUT_IDS = f"{_ONE_SCORE} it gives no ranking"

#: Share of judged documents among the first ten and among all that a run retrieved; NaN if not known.
Shares = tuple[float, float]
_NOT_KNOWN: Shares = (np.nan, np.nan)


def judged_shares(judged_run: JudgedRun) -> Shares:
    """Return mean shares of judged documents over topics with retrieved documents."""
    at_10, all_retrieved = (1 - mean_of_known(unjudged_share(judged_run, _DEPTHS))).tolist()
    return at_10, all_retrieved


@dataclass(frozen=True)
class RunCoverage:
    """Coverage of one run by the qrels.

    Attributes:
        retrieved: number of topics of the qrels for which the run has documents.
        first_missing: name of the first topic without documents; None if there is no such topic.
        unknown: number of topics of the run that are not in the qrels.
        nothing_judged: documents of a topic in the run and in the qrels, as a clause, if it is known that no
            document of the run is judged; else empty.
        is_tie: whether some topic has several documents, and all documents of each topic have the same score.
        repeated: description of a topic with several passages of a document; empty without any, or if no
            measure ranks passages.
        shares: shares of judged documents; None if they have to be counted first.
    """

    retrieved: int
    first_missing: str | None
    unknown: int
    nothing_judged: str
    is_tie: bool
    repeated: str
    shares: Shares | None

    @classmethod
    def of(cls, judgments: Judgments, matched: MatchedRun) -> RunCoverage:
        """Return the coverage of a matched run."""
        found, names = matched.judged, judgments.names
        retrieved = int(np.count_nonzero(found.n_retrieved))
        judged = _all_judged(judgments, matched)
        return cls(
            retrieved,
            None if retrieved == len(names) else names[int(found.n_retrieved.argmin())],
            found.n_unknown,
            _examples(judgments, matched)
            if judged is not None and not judged.topic.size and retrieved
            else "",
            found.is_flat and int(found.n_retrieved.max(initial=0)) > 1,
            repeated_documents(judgments, found),
            None if judged is None else judged_shares(judged),
        )


def repeated_documents(judgments: Judgments, found: JudgedRun) -> str:
    """Return a description of a topic with several passages of a document; empty without any."""
    if found.rows is None:
        return ""
    topics, passages = found.rows.topics, found.rows.sizes
    several = np.flatnonzero(passages > found.n_retrieved[topics])
    if not several.size:
        return ""
    at = several[0]
    documents = int(found.n_retrieved[topics[at]])
    of = "1 document" if documents == 1 else f"{documents} documents"
    return f"topic {judgments.names[topics[at]]!r} has {passages[at]} passages of {of}"


def _all_judged(judgments: Judgments, matched: MatchedRun) -> JudgedRun | None:
    """Return all judged documents of a run if they are known without searching it again, else None."""
    judged_from, found_from = judgments.levels.values.searchsorted([LOWEST_JUDGED, matched.lowest])
    if judged_from >= found_from:
        return matched.judged.from_level(judgments.levels, LOWEST_JUDGED)
    if not matched.judged.topic.size and np.isfinite(matched.lowest):
        # Without relevant documents, search again for judged ones.
        return match_run(judgments, matched.run, LOWEST_JUDGED, processors())
    return None


def _examples(judgments: Judgments, matched: MatchedRun) -> str:
    """Return a clause with documents of the first topic that the run and the qrels share."""
    topic = int(np.flatnonzero(matched.judged.n_retrieved)[0])
    name, run = judgments.names[topic], matched.run
    if isinstance(run, Mapping):
        found = next([*map(str, docs)] for query_id, docs in list(run.items()) if as_text(query_id) == name)
    else:
        table = table_of("run", run)
        found = table.doc_id.filter(table.query_id == name).to_list()
    judged = [judgments.doc_ids[at] for at in np.flatnonzero(judgments.levels.topic == topic).tolist()]
    return (
        f"for topic {name!r} it retrieved {format_ids(found)}, and the qrels have "
        f"{format_ids(judged) or 'no document'}"
    )


@dataclass(eq=False)
class Coverage:
    """Coverage of several runs by the qrels. Pickles and copies have the shares counted so far.

    Attributes:
        names: names of the runs.
        runs: the coverage of each.
        topics: number of topics of the qrels.
        rel: lowest level that is relevant for any of the measures; inf if relevance has no effect.
        has_relevant: whether a document of the qrels has that level or a higher one.
        sources: the qrels and the runs, until the shares of judged documents have been counted.
        by_id: whether some measure ranks documents with equal scores by id.
        without_relevant: lowest relevant level -> the measures for which no document is relevant.
        note_on_text: sentence on topics without highlighted text, if a measure needs passages.
        cutoffs: clause on measures whose cutoffs count documents and others whose cutoffs count passages.
    """

    names: tuple[str, ...]
    runs: tuple[RunCoverage, ...]
    topics: int
    rel: float
    has_relevant: bool
    sources: tuple[Judgments, Sequence[Any]] | None = None
    by_id: bool = True
    without_relevant: Mapping[float, Sequence[str]] = field(default_factory=dict)
    note_on_text: str = ""
    cutoffs: str = ""

    def __post_init__(self) -> None:
        self._shares = [run.shares for run in self.runs]
        if None not in self._shares:
            self.sources = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"sources": None}

    def shares(self) -> list[Shares]:
        """Return the shares of judged documents of each run, counted on first access; NaN if not known."""
        if self.sources is not None:
            (judgments, runs), self.sources = self.sources, None

            def count(of: tuple[Any, Shares | None]) -> Shares | None:
                run, known = of
                try:
                    return known or judged_shares(match_run(judgments, run, LOWEST_JUDGED))
                except (GradedError, OSError):
                    return None

            self._shares = list(in_threads(count, zip(runs, self._shares, strict=True), processors()))
        return [_NOT_KNOWN if shares is None else shares for shares in self._shares]

    def to_frame(self) -> pd.DataFrame:
        """Return a row per run; ``Scores.coverage`` describes the columns."""
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
        """Return sentences on everything that limits the meaning of the scores."""
        return list(self._notes())

    def _notes(self) -> Iterator[str]:
        if not self.has_relevant:
            yield f"No document of the qrels has a level {_from(self.rel)}, so nothing is relevant."
        else:
            yield from notes_without_relevant(self.without_relevant)
        if self.note_on_text:
            yield self.note_on_text
        of = dict(zip(self.names, self.runs, strict=True))
        repeating = next((name for name, run in of.items() if run.repeated), None)
        if self.cutoffs and repeating is not None:
            yield f"{self.cutoffs}; in run {repeating!r}, {of[repeating].repeated}."
        lacking = {name: self._lack(run) for name, run in of.items() if 0 < run.retrieved < self.topics}
        yield from _of_runs(lacking, "lacks topics", "lack topics")
        empty = [name for name, run in of.items() if not run.retrieved]
        yield from _of_runs(dict.fromkeys(empty, "is empty and scores 0"), "is empty", "are empty")
        unjudged = {
            name: f"{_UNJUDGED} ({run.nothing_judged})" for name, run in of.items() if run.nothing_judged
        }
        yield from _of_runs(unjudged, "has no judged document", "have no judged document")
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
        if notes := self.notes():
            warn_caller(" ".join(notes))


def measures_without_relevant(scorers: Mapping[Any, Scorer], highest: float) -> dict[float, list[str]]:
    """Return the measures whose lowest relevant level is above the highest one, by that level."""
    found: dict[float, list[str]] = {}
    for measure, scorer in scorers.items():
        if highest < scorer.lowest_rel < np.inf:
            found.setdefault(scorer.lowest_rel, []).append(str(measure))
    return found


def notes_without_relevant(
    without_relevant: Mapping[float, Sequence[str]], source: str = "the qrels"
) -> Iterator[str]:
    """Yield a sentence for each lowest relevant level that no document of a source has."""
    for rel, names in without_relevant.items():
        measures = ", ".join(names)
        yield f"No document of {source} has a level {_from(rel)}, so nothing is relevant for {measures}."


def _from(rel: float) -> str:
    return f"of {rel:g} or more" if rel > _LEAST else "above 0"


def _of_runs(said: dict[str, str], one: str, several: str) -> Iterator[str]:
    """Yield a sentence about each of the first runs, given by name, and one with the number of others."""
    yield from (f"Run {name!r} {words}." for name, words in islice(said.items(), MOST_IDS))
    more = len(said) - MOST_IDS
    if more > 0:
        yield f"{more} more run{'s' if more > 1 else ''} {several if more > 1 else one}."


def caller(*through: str) -> tuple[str, int]:
    """Return the first package on the stack beside this and some others, and its distance from here."""
    frame, name, level = inspect.currentframe(), "ir_graded", 0
    while frame is not None and name in {"ir_graded", *through}:
        frame, level = frame.f_back, level + 1
        name = "" if frame is None else str(frame.f_globals.get("__name__")).partition(".")[0]
    return name, level


def warn_caller(text: str, category: type[Warning] = CoverageWarning) -> None:
    """Issue a warning at the line that called the package."""
    warnings.warn(text, category, stacklevel=caller()[1])
