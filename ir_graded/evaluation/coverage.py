"""Coverage of runs by qrels: missing topics, judged documents, and scores that give no ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures import Measure

from ir_graded._utils.threads import in_threads, processors
from ir_graded.core import segments
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import MOST_IDS, GradedError, format_ids, warn_caller
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import MatchedRun, match_run
from ir_graded.measures.base import Scorer
from ir_graded.measures.classic.ties import takes_ranks

if TYPE_CHECKING:
    import pandas as pd

#: Documents with this level or a higher one count as judged; a negative level marks an unjudged document.
LOWEST_JUDGED = 0.0


def unjudged_share(judged_run: JudgedRun, depths: Ints) -> Floats:
    """Return unjudged shares of documents, shape ``(depths, topics)``; NaN without documents."""
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
    return ratio(np.where(known, values, 0.0).sum(axis=-1), known.sum(axis=-1))


#: Note on a run with ``is_large``.
HAS_LARGE_TIES = (
    "has documents with equal scores above 2**53, where doubles no longer represent every whole number, so "
    "that scores that differ in the source may be equal: subtract a constant from all scores before they "
    "become doubles"
)
#: Depths of the shares of judged documents: ten, and all.
_DEPTHS = np.array([10, np.iinfo(np.int64).max], dtype=np.int64)

#: Share of judged documents among the first ten and among all that a run retrieved; NaN if not known.
Shares = tuple[float, float]


def judged_shares(judged_run: JudgedRun) -> Shares:
    """Return mean shares of judged documents over topics with retrieved documents."""
    at_10, all_retrieved = (1 - mean_of_known(unjudged_share(judged_run, _DEPTHS))).tolist()
    return at_10, all_retrieved


@dataclass(frozen=True)
class RunCoverage:
    """Coverage of one run by the qrels."""

    #: Numbers of topics with documents, and of topics that are not in the qrels.
    retrieved: int
    unknown: int
    #: The first topic that the run lacks, if there is one.
    first_missing: str | None
    #: Clause with documents of a topic, if it is known that no document of the run is judged.
    nothing_judged: str
    #: Whether some topic has several documents, and all documents of each topic have the same score.
    is_tie: bool
    #: Parts of the sentence of ``note_on_ranks``.
    on_ranks: tuple[str, ...]
    #: None if they have to be counted first.
    shares: Shares | None
    #: Whether the positions of documents rank those with equal scores.
    by_position: bool = False
    #: Whether the ids of judged documents rank those with equal scores, since there are no positions.
    by_doc_id: bool = False
    #: Number of topics that the run has without a document, and the first of them.
    empty: int = 0
    first_empty: str | None = None
    #: Whether some documents tie by whole numbers of 64 bits that doubles do not all represent.
    is_large: bool = False
    #: Clause on the rows that were left out because they repeat a document.
    repeated: str = ""

    @classmethod
    def of(
        cls, judgments: Judgments, matched: MatchedRun, by_default: Mapping[Measure, Scorer] | None = None
    ) -> RunCoverage:
        """Return the coverage of a matched run; ``by_default`` as in :func:`note_on_ranks`."""
        found, names = matched.judged, judgments.names
        retrieved = int(np.count_nonzero(found.n_retrieved))
        is_empty = matched.has_no_document(names)
        lacks = (found.n_retrieved == 0) & ~is_empty
        missing, first_empty = (names[int(of.argmax())] if of.any() else None for of in (lacks, is_empty))
        judged = _all_judged(judgments, matched)
        shares = None if judged is None else judged_shares(judged)
        examples = _examples_if_none(judgments, matched, judged)
        is_tie = found.is_flat and int(found.n_retrieved.max(initial=0)) > 1
        note = note_on_ranks(judgments, found, by_default or {})
        ties, by_position = found.ties, found.by_position
        by_doc_id = not by_position and ties is not None and bool((ties.tied > 1).any())
        counts = (retrieved, found.n_unknown, missing)
        empty = (int(np.count_nonzero(is_empty)), first_empty)
        more: dict[str, Any] = {"is_large": found.is_large, "repeated": matched.run.repeated}
        return cls(*counts, examples, is_tie, note, shares, by_position, by_doc_id, *empty, **more)


def note_on_ranks(
    judgments: Judgments, found: JudgedRun, by_default: Mapping[Measure, Scorer]
) -> tuple[str, ...]:
    """Return a sentence on a document that counts at another rank than that of its first row.

    ``by_default`` has the measures for which ``ranks`` is not set. The sentence is in two parts, with the
    name of the run between them; there are none without such a document.
    """
    if found.row is None or not (moved := np.flatnonzero(found.rank != found.row)).size:
        return ()
    level, rank = judgments.levels.values[found.level_index[moved]], found.rank[moved]
    counted = {
        str(measure): moved[(level >= scorer.lowest_rel) & (rank <= (scorer.cut.cutoff or np.inf))]
        for measure, scorer in by_default.items()
        if takes_ranks(measure)
    }
    names = [name for name, rows in counted.items() if rows.size]
    if not names:
        return ()
    at = min(int(rows[0]) for rows in counted.values() if rows.size)
    shown = ", ".join(names[:MOST_IDS]) + (" ..." if len(names) > MOST_IDS else "")
    return (
        f"{shown} rank{'s' if len(names) == 1 else ''} documents, but in ",
        f"topic {judgments.names[found.topic[at]]!r}, rank {found.rank[at]} is row {found.row[at]}; "
        "set ranks='rows' or ranks='documents'.",
    )


def _all_judged(judgments: Judgments, matched: MatchedRun) -> JudgedRun | None:
    """Return all judged documents of a run if they are known without searching it again, else None."""
    judged_from, found_from = judgments.levels.values.searchsorted([LOWEST_JUDGED, matched.lowest])
    if judged_from >= found_from:
        return matched.judged.from_level(judgments.levels, LOWEST_JUDGED)
    if not matched.judged.topic.size and np.isfinite(matched.lowest):
        # Without relevant documents, search again for judged ones.
        return match_run(judgments, matched.run, LOWEST_JUDGED, processors())
    return None


def nothing_judged(judgments: Judgments, matched: MatchedRun) -> str:
    """Return a clause with documents of a topic if it is known that no document of the run is judged."""
    return _examples_if_none(judgments, matched, _all_judged(judgments, matched))


def _examples_if_none(judgments: Judgments, matched: MatchedRun, judged: JudgedRun | None) -> str:
    """Return a clause with documents of the first topic that a run without judged documents shares."""
    if judged is None or judged.topic.size or not matched.judged.n_retrieved.any():
        return ""
    topic = int(np.flatnonzero(matched.judged.n_retrieved)[0])
    name, table = judgments.names[topic], matched.run.table(judgments.number)
    found = table.doc_id.filter(table.query_id == name).to_list()
    known = [judgments.doc_ids[at] for at in np.flatnonzero(judgments.levels.topic == topic).tolist()]
    return (
        f"for topic {name!r} it retrieved {format_ids(found)}, and the qrels have "
        f"{format_ids(known) or 'no document'}"
    )


@dataclass(eq=False)
class Coverage:
    """Coverage of several runs by the qrels. Pickles and copies have the shares counted so far."""

    names: tuple[str, ...]
    runs: tuple[RunCoverage, ...]
    topics: int
    #: The qrels and the runs, until the shares of judged documents have been counted.
    sources: tuple[Judgments, Sequence[Any]] | None = None
    notes_on_qrels: Sequence[str] = ()
    #: Whether some measure ranks documents with equal scores by id.
    by_id: bool = True
    #: Topics of the qrels that are left out, since none of their documents is relevant.
    left_out: tuple[str, ...] = ()
    #: Whether the caller chose the order of documents with equal scores by rows.
    by_rows: bool = False

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
        return [(np.nan, np.nan) if shares is None else shares for shares in self._shares]

    def select(self, runs: Sequence[int]) -> Coverage:
        """Return the coverage of some runs, given by number."""
        return replace(
            self,
            names=tuple(self.names[at] for at in runs),
            runs=tuple(replace(self.runs[at], shares=self._shares[at]) for at in runs),
            sources=self.sources and (self.sources[0], [self.sources[1][at] for at in runs]),
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row per run; ``Scores.coverage`` describes the columns."""
        import pandas as pd

        topics = np.array([(run.retrieved, run.unknown) for run in self.runs], dtype=np.int64)
        at_10, all_retrieved = zip(*self.shares(), strict=True)
        return pd.DataFrame(
            {
                "run": pd.Series(self.names, dtype=object),
                "topics_retrieved": topics[:, 0],
                "topics_missing": self.topics - topics[:, 0],
                "unknown_topics": topics[:, 1],
                "judged_at_10": at_10,
                "judged_share": all_retrieved,
            }
        )

    def notes(self) -> Iterator[str]:
        """Yield sentences on everything that limits the meaning of the scores."""
        if self.left_out:
            left = len(self.left_out)
            has, are = ("has", "is") if left == 1 else ("have", "are")
            yield (
                f"{left} of the {self.topics + left} topics of the qrels {has} no document with a level "
                f"above 0 and {are} left out (the first is {self.left_out[0]!r})."
            )
        yield from self.notes_on_qrels
        of = dict(zip(self.names, self.runs, strict=True))
        notes = (f"run {name!r}, ".join(run.on_ranks) for name, run in of.items() if run.on_ranks)
        yield from islice(notes, 1)
        by_position = "has documents with equal scores, which are ranked by their given positions, not by id"
        of_default = self.by_id and not self.by_rows
        clauses: tuple[tuple[str, str, Callable[[RunCoverage], str]], ...] = (
            ("lacks topics", "lack topics", self._lack),
            ("is empty", "are empty", lambda run: "" if run.retrieved else "is empty and scores 0"),
            (
                "has no judged document",
                "have no judged document",
                lambda run: run.nothing_judged and f"has no judged document ({run.nothing_judged})",
            ),
            ("gives equal scores", "give equal scores", self._tie),
            ("repeats documents", "repeat documents", lambda run: run.repeated),
            ("has such ties", "have such ties", lambda run: HAS_LARGE_TIES if run.is_large else ""),
            (
                "ranks equal scores by position",
                "rank equal scores by position",
                lambda run: by_position if of_default and run.by_position and not run.is_tie else "",
            ),
        )
        for one, several, clause in clauses:
            said = {name: words for name, run in of.items() if (words := clause(run))}
            yield from of_runs(said, one, several)
        if self.by_id and self.has_mixed_ties:
            one = next(name for name, run in of.items() if run.by_position)
            other = next(name for name, run in of.items() if run.by_doc_id)
            yield (
                f"Runs differ in the order of documents with equal scores: {one!r} has them by "
                f"position, {other!r} by id, so part of their difference may be due to this order. Give "
                "positions for all runs, or set ties='expected'."
            )

    @property
    def has_ties(self) -> bool:
        """Whether documents of some run have equal scores."""
        return any(run.by_position or run.by_doc_id for run in self.runs)

    @property
    def depends_on_rows(self) -> bool:
        """Whether scores depend on the ids or positions of documents with equal scores."""
        return self.by_id and self.has_ties

    @property
    def has_mixed_ties(self) -> bool:
        """Whether some runs rank equal scores by position, and others by id."""
        return any(run.by_position for run in self.runs) and any(run.by_doc_id for run in self.runs)

    def _tie(self, run: RunCoverage) -> str:
        if not run.is_tie:
            return ""
        effect = f"only their {'given positions' if run.by_position else 'ids'} determine the ranks"
        effect = effect if self.by_id else "it gives no ranking"
        return f"gives all documents of a topic the same score, so {effect}"

    def _lack(self, run: RunCoverage) -> str:
        if not 0 < run.retrieved < self.topics:
            return ""
        topics = f"{self.topics} topics {'that are left' if self.left_out else 'of the qrels'}"
        parts = [
            f"{words} {number} of the {topics} (the first is {first!r})"
            for words, number, first in (
                ("lacks", self.topics - run.retrieved - run.empty, run.first_missing),
                ("has no document for", run.empty, run.first_empty),
            )
            if number
        ]
        lack = f"{' and '.join(parts)} and scores 0 on them"
        if not run.unknown:
            return lack
        others = (
            f"{'is' if run.unknown == 1 else 'are'} not {'among them' if self.left_out else 'in the qrels'}"
        )
        return f"{lack}; {run.unknown} of its topics {others}"

    def warn(self) -> None:
        """Issue one CoverageWarning with all notes, at the line that called the package."""
        if text := " ".join(self.notes()):
            warn_caller(text)


#: The smallest number above 0: as the lowest relevant level, it makes all levels above 0 relevant.
ABOVE_0 = float(np.nextafter(0.0, 1.0))


def notes_without_relevant(
    lowest_rels: Mapping[Measure, float], highest: float, source: str = "the qrels"
) -> list[str]:
    """Return sentences on the lowest relevant levels of measures that are above the highest level."""
    without: dict[float, list[str]] = {}
    for measure, rel in lowest_rels.items():
        if highest < rel < np.inf:
            without.setdefault(rel, []).append(str(measure))
    notes = [
        f"No document of {source} has a level {f'of {rel:g} or more' if rel > ABOVE_0 else 'above 0'}, "
        f"so nothing is relevant for {', '.join(names)}."
        for rel, names in without.items()
    ]
    if notes and highest > 0:  # as levels from clicks
        level = repr(float(highest)).removesuffix(".0")
        notes.append(f"The highest level is {level}: set rel to at most this, as in rel={level}.")
    return notes


def of_runs(said: dict[str, str], one: str, several: str) -> Iterator[str]:
    """Yield a sentence about each of the first runs, given by name, and one with the number of others."""
    yield from (f"Run {name!r} {words}." for name, words in islice(said.items(), MOST_IDS))
    more = len(said) - MOST_IDS
    if more > 0:
        yield f"{more} more run{'s' if more > 1 else ''} {several if more > 1 else one}."
