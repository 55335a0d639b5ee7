"""Nuggets in the rows of a run: how much of the text of each nugget is read, and after how much text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import segments
from .judged_run import CountedDocuments, JudgedRun
from .levels import Levels
from .passages import Budget, Cuts, PassageRows, RetrievedLengths, Spans
from .segments import Bools, Ints
from .struct import Struct, light_dataclass

#: Rank and position of what is never read.
NEVER = int(np.iinfo(np.int64).max)


@light_dataclass(frozen=True, eq=False)
class Pieces(Struct):
    """Pieces of gold spans that are read, in the order of reading; text is read where it first appears.

    Attributes:
        span: the gold span of each piece, ascending.
        row: the row that holds it.
        rank: the rank of this row.
        above: number of characters in the rows before the piece.
        size: its length.
    """

    span: Ints
    row: Ints
    rank: Ints
    above: Ints
    size: Ints

    @classmethod
    def of(cls, rows: PassageRows, gold: Spans, topics: int) -> Pieces:
        """Find gold spans in rows that are in order; each span is looked for as if it were the only one."""
        row, span = rows.spans.meeting(gold)
        order = np.lexsort((row, span))
        row, span = row[order], span[order]
        start = np.maximum(rows.spans.start[row], gold.start[span])
        stop = np.minimum(rows.spans.stop[row], gold.stop[span])
        pair, size, offset = Cuts(Spans(span, start, stop), Spans.empty()).first_held()
        row, span, start = row[pair], span[pair], start[pair]
        above = RetrievedLengths(rows, topics).down_to(rows.rank[row] - 1, rows.topic[row])
        above += start - rows.spans.start[row] + offset
        found = cls(span, row, rows.rank[row], above, size)
        return found[np.lexsort((above, found.rank, span))]


class NuggetText:
    """The text of the nuggets that a run holds, within a budget.

    A unit is a gold row of level >= ``rel``, or with ``parts`` the union of the gold rows of a nugget. If the
    qrels have no spans, each document is one character.

    Attributes:
        n_retrieved: number of rows that are read, shape ``(topics,)``.
        nugget: nugget of each unit.
        length: its number of characters, above 0.
        gold: its gold span; with ``parts``, the first one.
        level: the level of this span; NaN with ``parts``.
    """

    def __init__(
        self, levels: Levels, hits: JudgedRun, rel: float, *, parts: bool, budget: Budget | None
    ) -> None:
        gold, self.nugget, self.level = _gold(levels, rel)
        rows, self.n_retrieved = _rows(levels, hits, budget)
        unit = np.arange(self.nugget.size, dtype=np.int64)
        if parts and levels.highlights is not None:
            key = self.nugget * levels.topic.size + gold.article
            gold = Spans(key, gold.start, gold.stop).union()
            nugget, article = np.divmod(gold.article, max(levels.topic.size, 1))
            gold = replace(gold, article=article)
            self.nugget, unit = np.unique(nugget, return_inverse=True)
            unit = unit.astype(np.int64)
            self.level = np.full(self.nugget.size, np.nan)
        size = gold.stop - gold.start
        self.length: Ints = np.zeros(self.nugget.size, dtype=np.int64)
        np.add.at(self.length, unit, size)
        self.gold = gold[np.unique(unit, return_index=True)[1]]
        pieces = Pieces.of(rows, gold, levels.topics)
        pieces = replace(pieces, span=unit[pieces.span])
        self._pieces = pieces[np.lexsort((pieces.above, pieces.rank, pieces.span))] if parts else pieces

    def found(self, cutoff: int | None) -> Ints:
        """Return the number of characters of each unit in the first ``cutoff`` rows (None: all)."""
        pieces = self._pieces
        some = slice(None) if cutoff is None else pieces.rank <= cutoff
        found = np.zeros(self.nugget.size, dtype=np.int64)
        np.add.at(found, pieces.span[some], pieces.size[some])
        return found

    def reached(self, need: Ints) -> tuple[Ints, Ints]:
        """Return rank and position in the text read at which ``need`` characters of each unit are read."""
        pieces = self._pieces
        start = segments.starts(pieces.span, self.nugget.size)[pieces.span]
        found = segments.cumulative_sum(pieces.size.astype(np.float64), start).astype(np.int64)
        missing = need[pieces.span] - (found - pieces.size)
        last = np.flatnonzero((missing > 0) & (missing <= pieces.size))
        rank, position = np.full((2, self.nugget.size), NEVER)
        rank[pieces.span[last]] = pieces.rank[last]
        position[pieces.span[last]] = (pieces.above + missing)[last]
        return rank, position


def _gold(levels: Levels, rel: float) -> tuple[Spans, Ints, segments.Floats]:
    """Return the gold rows of level >= ``rel``, with nugget and level of each."""
    highlights = levels.highlights
    if highlights is not None and highlights.intent is not None:
        spans = highlights.spans
        some = np.flatnonzero((highlights.level >= rel) & (spans.stop > spans.start))
        return spans[some], highlights.intent[some], highlights.level[some]
    intents = levels.by_intent
    level = intents.levels.values[intents.levels.level_index]
    some = np.flatnonzero(level >= rel)
    return _single(intents.document[some]), intents.levels.topic[some], level[some]


def _rows(levels: Levels, hits: JudgedRun, budget: Budget | None) -> tuple[PassageRows, Ints]:
    """Return the rows that are read, and their number of each topic."""
    if hits.rows is None:
        spans = _single(hits.document)
        return replace(PassageRows.empty(), topic=hits.topic, rank=hits.rank, spans=spans), hits.n_retrieved
    rows = hits.rows.ordered().within(budget)
    sizes = RetrievedLengths(rows, levels.topics).sizes
    return rows if levels.highlights is not None else replace(rows, spans=_single(rows.spans.article)), sizes


def _single(article: Ints) -> Spans:
    """Return the first character of articles."""
    return Spans(article, np.zeros_like(article), np.ones_like(article))


class NuggetView(CountedDocuments):
    """The listed nuggets, by topic and by the rank at which each is covered; the others follow with rank 0.

    Attributes:
        order: number of each nugget among the intents.
        unit: the unit of each nugget, -1 for a nugget without any.
    """

    kind = "listed nuggets"
    verb = ""
    countable = False

    def __init__(self, levels: Levels, text: NuggetText, unit: Ints, rank: Ints) -> None:
        """``unit`` and ``rank`` are those of each nugget: its best unit, and where it is covered."""
        topic = levels.by_intent.topic
        self.order: Ints = np.lexsort((rank, topic)).astype(np.int64)
        self.unit: Ints = unit[self.order]
        shown = np.where(rank == NEVER, 0, rank)[self.order]
        document = np.where(self.unit >= 0, np.append(text.gold.article, -1)[self.unit], -1)
        run = JudgedRun(topic[self.order], shown, np.zeros_like(shown), document, text.n_retrieved)
        counts: Bools = np.ones(shown.size, dtype=np.bool_)
        super().__init__(levels, run, counts, shown, None)
        #: Number of listed nuggets of each topic, shape ``(topics,)``.
        self.R = segments.count(topic, levels.topics)
        self.C = segments.cumulative_sum((shown > 0).astype(np.float64), self.start).astype(np.int64)
