"""Coverage of runs by qrels: missing topics, judged documents, and scores that give no ranking."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.results import ShortRepr, read_only
from ir_graded._utils.threads import in_threads, processors
from ir_graded.core import segments
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import MOST_IDS, CoverageWarning, GradedError, ParameterError, format_ids, short_repr
from ir_graded.io.sources import ensure_rereadable, named_runs, table_of
from ir_graded.io.table import as_text
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import MatchedRun, match_run, match_runs, prepare_qrels
from ir_graded.measures.base import Scorer

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Axes, Figure


DEPTHS = (5, 10, 20, 50, 100, 1000)
#: Documents with this level or a higher one count as judged; a negative level marks an unjudged document.
LOWEST_JUDGED = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Unjudged(ShortRepr):
    """Shares of unjudged documents of several runs.

    Attributes:
        runs: names of the runs, in the given order.
        depths: the depths, in the given order.
        query_ids: the topics, in the order of the qrels.
        topic_share: unjudged share of the documents that a run retrieved down to a depth, shape
            ``(runs, depths, topics)``; NaN if the run retrieved nothing for the topic.
        by_rank: share of topics whose document at rank 1, 2, ... is unjudged, among topics with a document at
            that rank; shape ``(runs, ranks)`` down to the largest depth or the longest run, NaN below the end
            of a run.
    """

    runs: tuple[str, ...]
    depths: tuple[int, ...]
    query_ids: tuple[Any, ...]
    topic_share: Floats
    by_rank: Floats

    @property
    def share(self) -> Floats:
        """Mean of ``topic_share`` over the topics with retrieved documents, shape ``(runs, depths)``."""
        return mean_of_known(self.topic_share)

    def to_frame(self) -> pd.DataFrame:
        """Return the mean share of unjudged documents: a row per run, a column per depth."""
        import pandas as pd

        columns = pd.Index(self.depths, name="depth")
        return pd.DataFrame(self.share, index=pd.Index(self.runs, name="run"), columns=columns)

    def rank_frame(self) -> pd.DataFrame:
        """Return the share of topics whose document is unjudged: a row per run, a column per rank."""
        import pandas as pd

        columns = pd.RangeIndex(1, self.by_rank.shape[1] + 1, name="rank")
        return pd.DataFrame(self.by_rank.copy(), index=pd.Index(self.runs, name="run"), columns=columns)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Plot the shares over the ranks into ``ax`` or a new figure."""
        from ir_graded.plots.scores import unjudged as draw

        return draw(self, ax)


def unjudged(qrels: Any, runs: Any, *, depths: Iterable[int] = DEPTHS) -> Unjudged:
    """Compute the share of unjudged documents among the retrieved, down to each depth and at each rank.

    If j of the n documents that a run retrieved for a topic down to the depth are judged, the share of the
    topic is ``1 - j / n``. Documents with a level >= 0 in the qrels of the topic are judged, as for
    ``judged_only``: TREC uses negative levels for documents that were not assessed. Judged@k of ir-measures
    counts these as judged; without negative levels the share of a topic is ``1 - Judged@k``. Topics for which
    a run retrieved nothing are left out of its means (Judged counts them as 0).

    Args:
        qrels: qrels in any form of ``evaluate``.
        runs: one or several runs in any form of ``evaluate``.
        depths: distinct ranks down to which shares are computed.

    Returns:
        Shares in [0, 1]; runs with passages are evaluated article by article.

    Raises:
        NoSharedTopicsError: the qrels are empty, or a run and the qrels have no topic in common.
        InputError: the qrels or a run cannot be scored.
        ParameterError: ``depths`` is empty, or has duplicates or values that are not whole numbers >= 1.

    Source:
        Judged: MacAvaney, OpenNIR (WSDM 2020); condensed lists: Sakai, "Alternatives to Bpref" (SIGIR 2007).

    Example:
        >>> qrels = {"1": {"a": 1, "b": 0, "c": -1}}
        >>> run = {"1": {"a": 5.0, "x": 4.0, "c": 3.0, "b": 2.0}}
        >>> found = unjudged(qrels, run, depths=[1, 2, 4])
        >>> found.to_frame()
        depth    1    2    4
        run
        run    0.0  0.5  0.5
        >>> found.by_rank
        array([[0., 1., 1., 0.]])
    """
    wanted = _checked(depths)
    judgments = prepare_qrels(qrels)
    judgments.require_topics("look at")
    named = named_runs(runs)
    shares = match_runs(judgments, named, LOWEST_JUDGED, lambda run: unjudged_shares(judgments, run, wanted))
    return collect(judgments, named, wanted, shares)


#: Shares of one run: of each topic down to each depth, and of all topics at each rank.
RunShares = tuple[Floats, Floats]


def collect(judgments: Judgments, runs: Iterable[str], depths: Ints, shares: Iterable[RunShares]) -> Unjudged:
    """Collect the shares of several runs, given their names."""
    topic_share, by_rank = zip(*shares, strict=True)
    ranks = max(at_rank.size for at_rank in by_rank)
    padded = [np.append(at_rank, np.full(ranks - at_rank.size, np.nan)) for at_rank in by_rank]
    return Unjudged(
        tuple(runs),
        tuple(depths.tolist()),
        tuple(judgments.query_ids),
        read_only(np.array(topic_share)),
        read_only(np.array(padded)),
    )


def _checked(depths: Any) -> Ints:
    given = list(depths) if isinstance(depths, Iterable) and not isinstance(depths, str) else [None]
    whole = [
        isinstance(one, (int, np.integer)) and not isinstance(one, bool) and 1 <= one < 2**63 for one in given
    ]
    if not given or not all(whole) or len(set(given)) < len(given):
        raise ParameterError(
            f"depths={short_repr(depths)} must be one or more whole numbers >= 1 and < 2**63, each once"
        )
    return np.array(given, dtype=np.int64)


def unjudged_shares(judgments: Judgments, matched: MatchedRun, depths: Ints) -> RunShares:
    """Return the shares of unjudged documents of a run that was matched down to the lowest judged level."""
    judged = matched.judged.from_level(judgments.levels, LOWEST_JUDGED)
    topics = judged.n_retrieved.size
    deepest = int(np.minimum(judged.n_retrieved, depths.max()).max(initial=0))
    at_rank = np.bincount(judged.rank[judged.rank <= deepest], minlength=deepest + 1)[1:]
    ends = np.bincount(np.minimum(judged.n_retrieved, deepest), minlength=deepest + 1)
    reaching = topics - np.cumsum(ends)[:-1]
    return unjudged_share(judged, depths), ratio(reaching - at_rank, reaching)


def unjudged_share(judged_run: JudgedRun, depths: Ints) -> Floats:
    """Return the unjudged share of the documents of each topic down to each depth.

    Args:
        judged_run: the judged documents that a run retrieved.
        depths: the depths, each at least 1.

    Returns:
        Shape ``(depths, topics)``; NaN if the run retrieved nothing for the topic.
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
        fingerprint: hash of the documents found, if shares have to be counted.
    """

    retrieved: int
    first_missing: str | None
    unknown: int
    nothing_judged: str
    is_tie: bool
    repeated: str
    shares: Shares | None
    fingerprint: int | None

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
            _fingerprint(judgments, found) if judged is None else None,
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


def _fingerprint(judgments: Judgments, found: JudgedRun) -> int:
    """Return a hash that is very unlikely to be equal for another run or other qrels."""
    arrays = (judgments.levels.values, found.n_retrieved, found.document, found.rank)
    return hash((judgments.levels.topic.size, *(array.tobytes() for array in arrays)))


def count_again(
    qrels: Any, runs: Sequence[Any], scored: Sequence[RunCoverage], lowest: float
) -> list[Shares]:
    """Return shares of judged documents of scored runs; NaN if qrels or run have changed since.

    Args:
        qrels: the qrels as given, or prepared if they could be read only once.
        runs: the runs as given.
        scored: their coverage.
        lowest: lowest level of the documents that were looked for.
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
    """Return the shares of judged documents that have been counted; NaN for others."""
    return [_NOT_KNOWN if run.shares is None else run.shares for run in scored]


@dataclass(eq=False)
class Coverage:
    """Coverage of several runs by the qrels. Pickles and copies have the shares counted so far.

    Attributes:
        names: names of the runs.
        runs: the coverage of each.
        topics: number of topics of the qrels.
        rel: lowest level that is relevant for any of the measures; inf if relevance has no effect.
        has_relevant: whether a document of the qrels has that level or a higher one.
        count: function that counts the shares of judged documents; dropped after use.
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
    count: Callable[[], list[Shares]] | None
    by_id: bool = True
    without_relevant: Mapping[float, Sequence[str]] = field(default_factory=dict)
    note_on_text: str = ""
    cutoffs: str = ""

    def __post_init__(self) -> None:
        self._shares = known_shares(self.runs)
        if not any(run.shares is None for run in self.runs):
            self.count = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"count": None}

    def shares(self) -> list[Shares]:
        """Return the shares of judged documents of each run, counted on first access."""
        if self.count is not None:
            self._shares = self.count()
            self.count = None
        return self._shares

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
        notes = self.notes()
        if notes:
            warnings.warn(" ".join(notes), CoverageWarning, stacklevel=levels_to_caller())


def measures_without_relevant(scorers: Mapping[Any, Scorer], highest: float) -> dict[float, list[str]]:
    """Return the measures for which no level is relevant, by their lowest relevant level.

    Args:
        scorers: the measures with their scorers.
        highest: the highest level.
    """
    found: dict[float, list[str]] = {}
    for measure, scorer in scorers.items():
        if highest < scorer.lowest_rel < np.inf:
            found.setdefault(scorer.lowest_rel, []).append(str(measure))
    return found


def notes_without_relevant(
    without_relevant: Mapping[float, Sequence[str]], source: str = "the qrels"
) -> Iterator[str]:
    """Yield a sentence for each lowest relevant level that no document has.

    Args:
        without_relevant: lowest relevant level -> the measures for which no document is relevant.
        source: where the levels are.
    """
    for rel, names in without_relevant.items():
        measures = ", ".join(names)
        yield f"No document of {source} has a level {_from(rel)}, so nothing is relevant for {measures}."


def _from(rel: float) -> str:
    return f"of {rel:g} or more" if rel > _LEAST else "above 0"


def _of_runs(said: dict[str, str], one: str, several: str) -> Iterator[str]:
    """Yield a sentence about each of the first runs, and one with the number of further runs.

    Args:
        said: predicate by name of the run.
        one: predicate for one further run.
        several: predicate for several further runs.
    """
    yield from (f"Run {name!r} {words}." for name, words in islice(said.items(), MOST_IDS))
    more = len(said) - MOST_IDS
    if more > 0:
        yield f"{more} more run{'s' if more > 1 else ''} {several if more > 1 else one}."


def levels_to_caller() -> int:
    """Return the number of stack levels from the calling function to the caller of the package."""
    root = f"{Path(__file__).parents[1]}{os.sep}"  # frames name files as text
    frame = inspect.currentframe()
    frame, level = frame and frame.f_back, 1
    while frame is not None and frame.f_code.co_filename.startswith(root):
        frame, level = frame.f_back, level + 1
    return level
