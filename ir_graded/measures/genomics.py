"""Measures of TREC Genomics over ranked passages: PassageAP, Passage2AP and AspectAP."""

from __future__ import annotations

import numpy as np

from ir_graded.core import segments
from ir_graded.core.levels import Aspects, Highlights
from ir_graded.core.passage_view import PassageView
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.spans import Spans
from ir_graded.core.views import Views
from ir_graded.errors import InputError

from .base import register
from .characters import CharacterMeasure
from .contributions import Contributions
from .params import REL

#: Characters whose summands are in memory at a time, and the largest number that is summed at all.
_BLOCK, _MOST = 1 << 20, 1 << 32


class GenomicsMeasure(CharacterMeasure):
    """A measure of TREC Genomics; if aspects are known, highlighted spans without aspects do not count."""

    SUPPORTED_PARAMS = {"rel": REL}

    @property
    def optional_columns(self) -> tuple[str, ...]:
        return ("aspects",)

    def passages(self, views: Views) -> PassageView:
        return views.passages(self["rel"], None, official=True)

    def gold(self, views: Views) -> tuple[Highlights, Ints]:
        """Return the highlighted spans, and the numbers of those that count."""
        highlights = views.levels.highlights or Highlights(Spans.empty(), np.zeros(0))
        return highlights, np.flatnonzero(highlights.official(self["rel"]))

    def chosen(self, views: Views) -> Ints:
        """Return for each row the first span, in the order of the qrels, with which it shares a character."""
        highlights, counts = self.gold(views)
        rows = self.passages(views).rows.spans
        row, span = rows.meeting(highlights.spans[counts])
        first = np.full(rows.article.size, counts.size, dtype=np.int64)
        np.minimum.at(first, row, span)
        return np.asarray(counts[first])


class _PassageAP(GenomicsMeasure):
    """Average precision of passages, PASSAGE MAP of TREC Genomics 2006 and 2007.

    ``PassageAP = sum over rows that find text of num/den / (rows that find text + spans never chosen)``. Each
    row chooses the first highlighted span, in the order of the qrels, with which it shares a character. num
    is the number of characters shared so far, den the sum of the lengths of all rows so far. A row over two
    spans finds only the first, and text that is found twice counts twice, as in the official program.
    In [0, 1].

    Parameters: rel.

    Source: Hersh, Cohen, Ruslen and Roberts, "TREC 2007 Genomics Track Overview" (TREC 2007).

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": "a", "start": [0, 20], "length": [30, 40]}
        >>> qrels = pd.DataFrame({"relevance": 1, **gold})
        >>> run = pd.DataFrame({"query_id": ["1"], "doc_id": "a", "score": 1, "start": 10, "length": 40})
        >>> ir_measures.calc_aggregate([ir_graded.PassageAP], qrels, run)
        {PassageAP: 0.25}

    Lacks swap:
        >>> measure, two = ir_graded.PassageAP, {"query_id": "1", "doc_id": ["a", "b"]}
        >>> qrels = pd.DataFrame({**two, "relevance": [2, 1], "start": 0, "length": 10})
        >>> run = pd.DataFrame({**two, "score": [1, 2], "start": [5, 0], "length": [100, 10]})
        >>> changed = run.assign(score=[2, 1])
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.568181..., 0.093181...]
    """

    NAME = "PassageAP"
    PRETTY_NAME = "Passage Average Precision"
    SHORT_DESC = "TREC Genomics' PASSAGE MAP: precision of the characters at each row that finds text."
    SOURCE = "Hersh et al. 2007"
    NEEDS_QRELS_ORDER = True

    def contributions(self, views: Views) -> Contributions:
        view, chosen = self.passages(views), self.chosen(views)
        highlights, counts = self.gold(views)
        rows, spans = view.rows.spans, highlights.spans
        shared = np.minimum(rows.stop, spans.stop[chosen]) - np.maximum(rows.start, spans.start[chosen])
        found = segments.cumulative_sum(shared.astype(np.float64), view.start)
        # Duplicate spans count once.
        every = spans[counts]
        distinct = np.unique(np.stack((every.article, every.start, every.stop)), axis=1)
        of_topic = segments.count(views.levels.topic[distinct[0]], views.levels.topics)
        one = spans[chosen]
        used = np.unique(np.stack((one.article, one.start, one.stop)), axis=1)
        never = of_topic - segments.count(views.levels.topic[used[0]], views.levels.topics)
        norm = segments.count(view.topic, views.levels.topics) + never
        term = found / view.all.lengths.down_to(view.n, view.topic)
        return Contributions(
            view, term, norm.astype(np.float64), "rows that find text and spans never chosen"
        )


class _Passage2AP(GenomicsMeasure):
    """Average precision of characters, PASSAGE2 MAP of TREC Genomics 2007.

    ``Passage2AP = 1/N * sum over highlighted characters found of n/d``: characters are counted one by one,
    row by row. A highlighted character counts in n and d when it is first found and is ignored later. Any
    other character counts in d each time. N is the number of highlighted characters. In [0, 1].

    Parameters: rel.

    Source: Hersh, Cohen, Ruslen and Roberts, "TREC 2007 Genomics Track Overview" (TREC 2007).

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": ["1"], "doc_id": "a", "start": 10, "length": 4}
        >>> qrels = pd.DataFrame({"relevance": 1, **gold})
        >>> run = pd.DataFrame({"score": 1, **gold, "length": 2})
        >>> ir_measures.calc_aggregate([ir_graded.Passage2AP], qrels, run)
        {Passage2AP: 0.5}

    Lacks swap:
        >>> measure, two = ir_graded.Passage2AP, {"query_id": "1", "doc_id": ["a", "b"]}
        >>> qrels = pd.DataFrame({**two, "relevance": [2, 1], "start": 0, "length": 10})
        >>> run = pd.DataFrame({**two, "score": [1, 2], "start": [5, 0], "length": [100, 10]})
        >>> changed = run.assign(score=[2, 1])
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.75, 0.299428...]
    """

    NAME = "Passage2AP"
    PRETTY_NAME = "Passage2 Average Precision"
    SHORT_DESC = "TREC Genomics' PASSAGE2 MAP: average precision over characters."
    SOURCE = "Hersh et al. 2007"

    def contributions(self, views: Views) -> Contributions:
        view = self.passages(views)
        found = view.all
        row, size, found_in_row, others_in_row = found.cuts.new_gold()
        begin = segments.starts(found.rows.topic, views.levels.topics)[found.rows.topic]
        found_above = segments.cumulative_sum_before(found.first.astype(np.float64), begin).astype(np.int64)
        gold_to = segments.cumulative_sum(found.each.astype(np.float64), begin).astype(np.int64)
        length = found.rows.spans.stop - found.rows.spans.start
        # Characters of better rows that are not highlighted, counted each time.
        down_to = found.lengths.down_to(found.rows.rank, found.rows.topic)
        others_above = down_to - length - (gold_to - found.each)
        n, others = found_above[row] + found_in_row, others_above[row] + others_in_row
        terms = np.zeros(found.rows.topic.size)
        np.add.at(terms, row, _sums(n, others, size))
        return Contributions(view, terms[view.at], view.R.astype(np.float64), "the highlighted characters")


def _sums(n: Ints, others: Ints, size: Ints) -> Floats:
    """Return the sum of (n + i) / (n + i + others) over i = 1 .. size for each element.

    A closed form would lose digits.
    """
    if int(size.sum()) > _MOST:
        raise InputError(
            f"Passage2AP sums over characters one by one; {int(size.sum())} of them are too many"
        )
    # Long elements are split to bound the memory.
    parts = -(-size // _BLOCK)
    owner = np.repeat(np.arange(size.size, dtype=np.int64), parts)
    offset = (segments.ordinals(np.repeat(np.cumsum(parts) - parts, parts)) - 1) * _BLOCK
    length = np.minimum(size[owner] - offset, _BLOCK)
    part_sums = np.zeros(owner.size)
    ends = np.cumsum(length)
    bounds = np.searchsorted(ends, np.arange(0, int(length.sum()) + _BLOCK, _BLOCK), side="right")
    bounds[0], bounds[-1] = 0, owner.size
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        some = np.arange(first, last)
        if some.size:
            element = np.repeat(some, length[some])
            begin = np.cumsum(length[some]) - length[some]
            i = np.arange(1, element.size + 1) - np.repeat(begin, length[some])
            so_far = (n[owner] + offset)[element] + i
            part_sums[some] = np.add.reduceat(so_far / (so_far + others[owner][element]), begin)
    return segments.total(part_sums, owner, size.size)


class _AspectAP(GenomicsMeasure):
    """Average precision of aspects, ASPECT MAP of TREC Genomics 2006 and 2007.

    ``AspectAP = 1/aspects of the topic * sum over rows with new aspects of new * n/d``. Each row has the
    aspects of the first highlighted span, in the order of the qrels, with which it shares a character. Rows
    with new aspects count in n and d, rows without such a span in d, and rows with only old aspects in
    neither. The qrels need a column aspects, with ``|`` between aspects. In [0, 1].

    Parameters: rel.

    Source: Hersh, Cohen, Ruslen and Roberts, "TREC 2007 Genomics Track Overview" (TREC 2007).

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": ["a", "b"], "start": 0, "length": 9}
        >>> qrels = pd.DataFrame({"relevance": 1, **gold, "aspects": ["X|Y", "Y|Z"]})
        >>> run = pd.DataFrame({"score": [2, 1], **gold})
        >>> ir_measures.calc_aggregate([ir_graded.AspectAP], qrels, run)
        {AspectAP: 1.0}

    Lacks swap:
        >>> measure, two = ir_graded.AspectAP, {"query_id": "1", "doc_id": ["a", "b"], "start": 0}
        >>> aspects = {"aspects": ["X", "X|Y"]}
        >>> qrels = pd.DataFrame({**two, "relevance": [2, 1], "length": 10, **aspects})
        >>> run = pd.DataFrame({**two, "score": [1, 2], "start": [50, 0], "length": 10})
        >>> changed = run.assign(score=[2, 1])
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [1.0, 0.5]
    """

    NAME = "AspectAP"
    PRETTY_NAME = "Aspect Average Precision"
    SHORT_DESC = "TREC Genomics' ASPECT MAP: average precision over the rows with new aspects."
    SOURCE = "Hersh et al. 2007"
    NEEDS_QRELS_ORDER = True

    @property
    def qrel_columns(self) -> tuple[str, ...]:
        return ("aspects",)

    def contributions(self, views: Views) -> Contributions:
        view, chosen = self.passages(views), self.chosen(views)
        highlights, counts = self.gold(views)
        nothing = np.zeros(0, dtype=np.int64)
        aspects = highlights.aspects or Aspects(nothing > 0, nothing, nothing)
        begin = np.searchsorted(aspects.span, chosen)
        size = np.searchsorted(aspects.span, chosen, side="right") - begin
        row = np.repeat(np.arange(chosen.size, dtype=np.int64), size)
        at = np.arange(row.size, dtype=np.int64) + np.repeat(begin - (np.cumsum(size) - size), size)
        # Rows are sorted by topic and rank, so an aspect is new at its first row.
        first = np.unique(aspects.aspect[at], return_index=True)[1]
        new = segments.count(row[first], chosen.size)
        brings = (new > 0).astype(np.float64)
        n = segments.cumulative_sum(brings, view.start)
        d = view.n - segments.cumulative_sum(1.0 - brings, view.start)
        counted = np.isin(aspects.span, counts)
        one = np.unique(aspects.aspect[counted], return_index=True)[1]
        topic = views.levels.topic[highlights.spans.article[aspects.span[counted][one]]]
        of_topic = segments.count(topic, views.levels.topics)
        return Contributions(view, new * n / d, of_topic.astype(np.float64), "the aspects of the topic")


PassageAP = _PassageAP()
register(PassageAP)
Passage2AP = _Passage2AP()
register(Passage2AP)
AspectAP = _AspectAP()
register(AspectAP)
