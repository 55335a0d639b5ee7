"""View for character measures: the rows of a run that hold highlighted text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .counted import CountedDocuments
from .judged_run import JudgedRun
from .levels import Highlights, Levels
from .passage_rows import Found, PassageRows
from .segments import Floats, Ints, cumulative_sum, whole_total
from .spans import Spans


class PassageView(CountedDocuments):
    """The rows that hold highlighted text, in the order of the ranking of rows.

    Attributes:
        all: all rows of the run that are kept.
        at: place of each row among those of ``rows`` in :class:`Found`.
        found: highlighted characters in each row that are not in a better row.
        each: all highlighted characters in each row.
    """

    kind = "rows with highlighted text"
    countable = False

    def __init__(self, levels: Levels, found: Found, cutoff: int | None) -> None:
        rows = found.rows
        at = np.flatnonzero(found.each > 0)
        document = rows.spans.article[at]
        hits = JudgedRun(
            rows.topic[at], rows.rank[at], levels.level_index[document], document, found.lengths.sizes
        )
        super().__init__(levels, hits, np.ones(at.size, dtype=np.bool_), hits.rank, cutoff)
        self.all = found
        self.at: Ints = at[self._rows]
        at = self.at
        self.found: Ints = found.first[at]
        self.each: Ints = found.each[at]
        self.rows: PassageRows = replace(rows, topic=rows.topic[at], rank=rows.rank[at], spans=rows.spans[at])

    @property
    def R(self) -> Ints:
        """Number of highlighted characters of each topic, shape ``(topics,)``."""
        return self.all.total

    @property
    def found_down_to(self) -> Ints:
        """Highlighted characters down to each row, each counted once."""
        return cumulative_sum(self.found.astype(np.float64), self.start).astype(np.int64)

    @property
    def precision(self) -> Floats:
        """Highlighted characters found down to each row, as a share of all characters in these rows."""
        return np.asarray(self.found_down_to / self.all.lengths.down_to(self.n, self.topic))

    @property
    def total_found(self) -> Ints:
        """Highlighted characters found down to the cutoff, each counted once, shape ``(topics,)``."""
        return self.sum_by_topic(self.found.astype(np.float64)).astype(np.int64)

    def retrieved_characters(self, *, once: bool) -> Ints:
        """Return the characters in the rows of each topic down to the cutoff; ``once`` ignores repeats."""
        lengths = self.all.lengths.first(self.cutoff)
        if not once:
            return lengths
        rows = self.all.rows
        repeated = self.all.repeated
        if self.cutoff is not None:
            repeated = np.where(rows.rank <= self.cutoff, repeated, 0)
        return lengths - whole_total(repeated, rows.topic, self.levels.topics)


def found_text(levels: Levels, hits: JudgedRun, rel: float, *, official: bool = False) -> Found:
    """Find the text that spans of level >= ``rel`` highlight in the rows of a run.

    With ``official``, only spans that have aspects count, if aspects are known.
    """
    highlights = levels.highlights or Highlights(Spans.empty(), np.zeros(0))
    rows = hits.rows or PassageRows.concat([])
    wanted = highlights.official(rel) if official else highlights.level >= rel
    highlighted = levels.kept(("highlighted", rel, official), highlights.spans[wanted].union)
    return Found.of(rows, highlighted, levels.topic, levels.topics)
