"""View of one topic or article of a run: its highlighted and its retrieved text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from ir_graded.core.article_view import f_score
from ir_graded.core.segments import Ints
from ir_graded.core.spans import Spans
from ir_graded.errors import InputError, ParameterError, format_ids, printable, short_repr
from ir_graded.io.ids import as_text
from ir_graded.io.sources import passage_table
from ir_graded.io.table import Table
from ir_graded.matching.match import prepare_qrels
from ir_graded.matching.tables import match_table
from ir_graded.measures.params import CUTOFF, REL, Param
from ir_graded.measures.relevant_in_context import F_BETA

from .findings import Findings, Texts, findings_of

if TYPE_CHECKING:
    import polars as pl

    from ir_graded.plots.style import Axes, Figure

#: Spans of one article as (start, stop), ascending and not touching each other.
Merged: TypeAlias = tuple[tuple[int, int], ...]

_LONGEST_ID = 32  # characters in a title


@dataclass(frozen=True)
class Strip:
    """Text of one article of a topic that is highlighted, retrieved, or both.

    A notebook shows it as a picture; ``print`` gives the numbers. Positions are those of the data:
    characters in INEX, bytes in TREC Genomics.

    Attributes:
        query_id: the topic.
        doc_id: the article.
        rank: rank of the article in the run; None if the run does not retrieve it.
        highlighted: union of the spans of relevant level, as ``(start, stop)`` with ``stop`` excluded.
        retrieved: union of the spans that the run retrieved.
        overlap: intersection of the two.
        extent: one past the last position in the qrels or the run; the article may be longer.
        P: share of the retrieved text that is highlighted; 0 if none is retrieved.
        R: share of the highlighted text that is retrieved; 0 if none is highlighted.
        F: their weighted harmonic mean, as in MAgP.
        beta: weight of recall against precision in F.

    Example:
        >>> from ir_graded.passages import Strip
        >>> print(Strip("1", "a", 3, ((0, 30),), ((20, 60),), ((20, 30),), 60, P=0.25, R=1 / 3, F=2 / 7))
        topic 1, article a, rank 3: P 0.2500, R 0.3333, F 0.2857 (highlighted 30, overlap 10, retrieved 40)
    """

    query_id: str
    doc_id: str
    rank: int | None
    highlighted: Merged
    retrieved: Merged
    overlap: Merged
    extent: int
    P: float
    R: float
    F: float
    beta: float = 1

    def __str__(self) -> str:
        sizes = ", ".join(
            f"{name} {sum(stop - start for start, stop in spans)}" for name, spans in self._lanes().items()
        )
        return f"{self._subject()}: {self._scores(4)} ({sizes})"

    def _subject(self, longest: int | None = None) -> str:
        topic, article = (printable(name, longest) for name in (self.query_id, self.doc_id))
        place = "not retrieved" if self.rank is None else f"rank {self.rank}"
        return f"topic {topic}, article {article}, {place}"

    def _scores(self, digits: int) -> str:
        weighted = "" if self.beta == 1 else f"(beta={self.beta:g})"
        return f"P {self.P:.{digits}f}, R {self.R:.{digits}f}, F{weighted} {self.F:.{digits}f}"

    def _title(self) -> tuple[str, str]:
        return self._subject(_LONGEST_ID), self._scores(3)

    def _lanes(self) -> dict[str, Merged]:
        """Return the lanes from top to bottom, with the overlap between the other two."""
        return {"highlighted": self.highlighted, "overlap": self.overlap, "retrieved": self.retrieved}

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the strip with matplotlib: a lane each for highlighted text, both, and retrieved text.

        Every span is at least as wide as a thin line, even in a long article.

        Args:
            ax: where to draw; by default a new figure. ``pyplot`` does not know the new figure, so it need
                not be closed.

        Returns:
            The figure, for example for ``savefig``.

        Raises:
            GradedError: matplotlib is not installed.

        Example:
            >>> from ir_graded.passages import Strip
            >>> strip = Strip("1", "a", 3, ((0, 30),), ((20, 60),), ((20, 30),), 60, P=0.25, R=1 / 3, F=2 / 7)
            >>> figure = strip.plot()
            >>> figure.axes[0].get_xlabel()
            'position in the article'
        """
        from ir_graded.plots import strip

        return strip.draw(self._lanes(), self.extent, self._title(), ax)

    def _repr_html_(self) -> str:
        from ir_graded.plots import strip

        return strip.html(self._lanes(), self.extent, self._title(), str(self))


@overload
def show(
    qrels: Any, run: Any, query_id: object, doc_id: object, *, rel: float = 1, beta: float = 1
) -> Strip: ...


@overload
def show(
    qrels: Any,
    run: Any,
    query_id: object,
    *,
    rel: float = 1,
    beta: float = 1,
    cutoff: int | None = None,
    texts: Texts | None = None,
) -> Findings: ...


def show(  # noqa: PLR0913  # keyword options
    qrels: Any,
    run: Any,
    query_id: object,
    doc_id: object = None,
    *,
    rel: float = 1,
    beta: float = 1,
    cutoff: int | None = None,
    texts: Texts | None = None,
) -> Strip | Findings:
    """Show the highlighted text of a topic, or of one article of it, that a run retrieved.

    Without ``doc_id``: the ranks at which parts of each highlighted span were retrieved, and the rows that
    were retrieved in vain because they hold no highlighted text. With ``doc_id``: a strip of the text of one
    article that marks highlighted text, retrieved text, and text that is both.

    Args:
        qrels: qrels with passages: a table, named tuples or a file with query_id, doc_id, relevance, start
            and length.
        run: a run with passages: a table, named tuples or a file with query_id, doc_id, score, start and
            length.
        query_id: a topic of the qrels.
        doc_id: an article of the qrels or the run for this topic.
        rel: lowest relevant level: spans of lower levels highlight nothing.
        beta: weight of recall against precision in F; inf is recall alone.
        cutoff: number of rows to consider, by default all; only without ``doc_id``.
        texts: the text of each document, to be shown with the spans: a mapping from doc_id or a function of
            it; only without ``doc_id``.

    Returns:
        :class:`Findings` of a topic or the :class:`Strip` of an article. Notebooks display both, and
        ``print`` gives the numbers. A strip has a method ``plot()``.

    Raises:
        InputError: the topic or the article is unknown, qrels or run hold no passages, or a text is missing
            or ends before its span.
        ParameterError: rel, beta or cutoff is out of its range, or cutoff or texts is given with
            ``doc_id``.

    Example:
        >>> import pandas as pd
        >>> from ir_graded import passages
        >>> qrels = pd.DataFrame(
        ...     {"query_id": "1", "doc_id": "a", "relevance": 1, "start": [0, 100], "length": [30, 50]}
        ... )
        >>> run = pd.DataFrame(
        ...     {"query_id": "1", "doc_id": ["a", "b"], "score": [2.0, 1.0], "start": 20, "length": 100}
        ... )
        >>> print(passages.show(qrels, run, "1"))
        topic 1, 2 rows: CharP 0.1500, CharR 0.3750, CharF 0.2143
        <BLANKLINE>
        a, 0 to 30: 10 of 30 characters found
          rank 1: 20 to 30
        <BLANKLINE>
        a, 100 to 150: 20 of 50 characters found
          rank 1: 100 to 120
        <BLANKLINE>
        retrieved in vain: 1 of 2 rows
          rank 2: b, 20 to 120
        >>> strip = passages.show(qrels, run, "1", "a")
        >>> print(strip)
        topic 1, article a, rank 1: P 0.3000, R 0.3750, F 0.3333 (highlighted 80, overlap 30, retrieved 100)
        >>> strip.overlap
        ((20, 30), (100, 120))
    """
    rel, beta = _validated("rel", rel, REL), _validated("beta", beta, F_BETA)
    cutoff = None if cutoff is None else int(_validated("cutoff", cutoff, CUTOFF))
    if doc_id is not None and (cutoff, texts) != (None, None):
        raise ParameterError(
            "show: cutoff and texts apply to a whole topic; leave out either doc_id or these two"
        )
    topic = as_text(query_id)
    judged, ranked = passage_table("show", "qrels", qrels), passage_table("show", "run", run)
    if topic not in judged.query_id:
        topics = list(dict.fromkeys(judged.query_id))
        raise InputError(f"the qrels have no topic {topic!r}; they have {format_ids(topics)}")
    judged, ranked = _rows_with(judged, judged.query_id, topic), _rows_with(ranked, ranked.query_id, topic)
    if doc_id is None:
        judged.check_values()
        ranked.check_values()
        return findings_of(judged, ranked, rel, beta, cutoff, texts)
    return _strip(judged, ranked, topic, as_text(doc_id), rel, beta)


def _strip(judged: Table, ranked: Table, topic: str, article: str, rel: float, beta: float) -> Strip:
    known = list(dict.fromkeys([*judged.doc_id, *ranked.doc_id]))
    if article not in known:
        raise InputError(
            f"topic {topic!r} has no article {article!r}; qrels and run have {format_ids(known)}"
        )
    judged.check_values()
    ranked.check_values()
    rank = match_table(prepare_qrels({topic: {article: 1}}), ranked, lowest=1).rank
    judged = _rows_with(judged, judged.doc_id, article)
    in_qrels, in_run = _spans(judged), _spans(_rows_with(ranked, ranked.doc_id, article))
    highlighted, retrieved = in_qrels[judged.value >= rel].union(), in_run.union()
    overlap = highlighted.intersection(retrieved)
    of_overlap, of_retrieved, of_highlighted = (
        part.union_length(1) for part in (overlap, retrieved, highlighted)
    )
    return Strip(
        query_id=topic,
        doc_id=article,
        rank=int(rank[0]) if rank.size else None,
        highlighted=_pairs(highlighted),
        retrieved=_pairs(retrieved),
        overlap=_pairs(overlap),
        extent=int(in_qrels.concat(in_run).stop.max(initial=0)),
        P=_safe_divide(of_overlap, of_retrieved),
        R=_safe_divide(of_overlap, of_highlighted),
        F=float(f_score(of_overlap, of_retrieved, of_highlighted, beta)[0]),
        beta=beta,
    )


def _validated(name: str, value: Any, param: Param) -> float:
    try:
        number: float = param.canonical(value)
    except ValueError:
        raise ParameterError(f"show: {name}={short_repr(value)} must be {param.expected}") from None
    return number


def _rows_with(table: Table, column: pl.Series, value: str) -> Table:
    return table.filter((column == value).arg_true().to_numpy().astype(np.int64))


def _spans(table: Table) -> Spans:
    """Return the spans of the rows of one article."""
    if table.passage is None:
        return Spans.empty()
    return table.passage.spans(np.zeros(len(table), dtype=np.int64))


def _pairs(spans: Spans) -> Merged:
    return tuple(zip(spans.start.tolist(), spans.stop.tolist(), strict=True))


def _safe_divide(part: Ints, whole: Ints) -> float:
    return float(part[0] / whole[0]) if whole[0] else 0.0
