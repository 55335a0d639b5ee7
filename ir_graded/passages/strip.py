"""Passages of articles: submissions in XML, and a look at one article of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ir_graded.core import ranking, segments
from ir_graded.core.article_view import f_score
from ir_graded.core.segments import Ints
from ir_graded.core.spans import Spans
from ir_graded.errors import InputError, ParameterError, listed, printable, shown
from ir_graded.io.ids import as_text
from ir_graded.io.sources import table_of
from ir_graded.io.table import VALUE_COLUMNS, Table
from ir_graded.matching.articles import articles_of
from ir_graded.matching.precision import comparable
from ir_graded.measures.params import REL, Param
from ir_graded.measures.relevant_in_context import F_BETA

from . import inex_xml

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Strip", "read_submission", "show"]

#: Spans of one article in ascending order, none touching the next: (start, stop).
Merged: TypeAlias = tuple[tuple[int, int], ...]

_LONGEST_ID = 32  # characters in a title


@dataclass(frozen=True)
class Strip:
    """One article of a topic: which of its text is highlighted, which retrieved, and which is both.

    A notebook shows it as a picture; ``print`` gives the numbers. Positions are those of the data:
    characters at INEX, bytes in TREC Genomics.

    Attributes:
        query_id: the topic.
        doc_id: the article.
        rank: rank of the article in the run, None where the run does not retrieve it.
        highlighted: union of the spans of relevant level, as ``(start, stop)`` with ``stop`` excluded.
        retrieved: union of the spans that the run retrieved.
        overlap: what is in both.
        extent: one past the last position that the qrels or the run name; the article may be longer.
        P: the share of the retrieved text that is highlighted; 0 where none is retrieved.
        R: the share of the highlighted text that is retrieved; 0 where none is highlighted.
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
        sizes = ", ".join(f"{name} {_size(spans)}" for name, spans in self._lanes().items())
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
        """The lanes from top to bottom: the overlap lies between what overlaps."""
        return {"highlighted": self.highlighted, "overlap": self.overlap, "retrieved": self.retrieved}

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the strip with matplotlib: a lane each for what is highlighted, both and retrieved.

        Every span is drawn at least as wide as a thin line, however long the article is.

        Args:
            ax: where to draw; by default a new figure, which belongs to the caller alone (``pyplot``
                does not know it, so nothing has to be closed).

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


def read_submission(path: str | os.PathLike[str], articles: inex_xml.Articles) -> pd.DataFrame:
    """An INEX XML submission as a run with passages.

    Each result names an element of an article, such as ``/article[1]/body[1]/p[3]`` (a step without
    position means the first; the last step may be ``text()[1]``). It becomes the span of the element's
    text within the text of the article: all that stands between the tags, without comments and
    processing instructions, counted in characters. The order of the results is the ranking; ``<rank>``
    and ``<rsv>`` are not looked at.

    Reading it needs lxml: ``pip install 'ir-graded[xml]'``. Entities are never expanded, and nothing
    but the files themselves is opened: a file that uses or declares an entity is an error.

    Args:
        path: the submission.
        articles: a directory that holds each article as ``<file>.xml``, or a callable that gives the
            bytes or the path of an article by its ``<file>``. Each article is asked for once.

    Returns:
        A row per result with query_id, doc_id (text), score (minus the position within the topic),
        start and length (int64), in the order of the file.

    Raises:
        FileFormatError: the submission cannot be read, or an article that it names, or a path matches
            nothing; the message says where.
        InputError: ``articles`` is neither a directory nor callable, or lxml is not installed.
        OSError: the submission cannot be opened.

    Example:
        >>> import pathlib, tempfile
        >>> from ir_graded import passages
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "run.xml")
        >>> size = path.write_text(
        ...     '<inex-submission><topic topic-id="289"><result><file>12</file>'
        ...     "<path>/article[1]/p[2]</path></result></topic></inex-submission>"
        ... )
        >>> articles = {"12": b"<article><p>Some text.</p><p>More.</p></article>"}
        >>> passages.read_submission(path, articles.__getitem__)
          query_id doc_id  score  start  length
        0      289     12   -1.0     10       5
        >>> folder.cleanup()
    """
    import pandas as pd

    rows = inex_xml.read_submission(path, articles)
    frame = pd.DataFrame(rows, columns=list(inex_xml.PassageRow._fields))
    types = {"query_id": "str", "doc_id": "str", "score": "float64", "start": "int64", "length": "int64"}
    return frame.astype(types)


def show(qrels: Any, run: Any, query_id: object, doc_id: object, *, rel: float = 1, beta: float = 1) -> Strip:
    """One article as a strip of its text: what is highlighted, what is retrieved, and what is both.

    Args:
        qrels: qrels with passages: a table or named tuples with query_id, doc_id, relevance, start,
            length, or a file that has them.
        run: a run with passages, likewise, with score in place of relevance.
        query_id: a topic of the qrels.
        doc_id: an article that the qrels or the run have for this topic.
        rel: lowest relevant level: spans of lower levels highlight nothing.
        beta: weight of recall against precision in F; inf is recall alone.

    Returns:
        The spans and numbers, which draw themselves in a notebook, or with ``plot()``.

    Raises:
        InputError: topic or article are unknown, or qrels or run hold no passages.
        ParameterError: rel or beta are out of range.

    Example:
        >>> import pandas as pd
        >>> from ir_graded import passages
        >>> qrels = pd.DataFrame(
        ...     {"query_id": "1", "doc_id": "a", "relevance": 1, "start": [0, 100], "length": [30, 50]}
        ... )
        >>> run = pd.DataFrame({"query_id": "1", "doc_id": "a", "score": [2.0], "start": 20, "length": 100})
        >>> strip = passages.show(qrels, run, "1", "a")
        >>> print(strip)
        topic 1, article a, rank 1: P 0.3000, R 0.3750, F 0.3333 (highlighted 80, overlap 30, retrieved 100)
        >>> strip.overlap
        ((20, 30), (100, 120))
    """
    rel, beta = _canonical("rel", rel, REL), _canonical("beta", beta, F_BETA)
    topic, article = as_text(query_id), as_text(doc_id)
    judged, ranked = _with_passages("qrels", qrels), _with_passages("run", run)
    if topic not in judged.query_id:
        topics = list(dict.fromkeys(judged.query_id))
        raise InputError(f"the qrels have no topic {topic!r}; they have {listed(topics)}")
    judged, ranked = _where(judged, judged.query_id, topic), _where(ranked, ranked.query_id, topic)
    known = list(dict.fromkeys([*judged.doc_id, *ranked.doc_id]))
    if article not in known:
        raise InputError(f"topic {topic!r} has no article {article!r}; qrels and run have {listed(known)}")
    judged.check_values()
    ranked.check_values()
    highlights = _where(judged, judged.doc_id, article)
    retrieved = _spans(_where(ranked, ranked.doc_id, article))
    highlighted = _spans(highlights)[highlights.value >= rel]
    # Counted as the measures count.
    of_highlighted = highlighted.union_length(1)
    of_retrieved = retrieved.union_length(1)
    of_overlap = of_highlighted + of_retrieved - highlighted.concat(retrieved).union_length(1)
    return Strip(
        query_id=topic,
        doc_id=article,
        rank=_rank(ranked, article),
        highlighted=_merged(highlighted),
        retrieved=_merged(retrieved),
        overlap=_common(_merged(highlighted), _merged(retrieved)),
        extent=int(_spans(highlights).concat(retrieved).stop.max(initial=0)),
        P=_ratio(of_overlap, of_retrieved),
        R=_ratio(of_overlap, of_highlighted),
        # Rounding may carry a perfect article an ulp beyond 1.
        F=min(float(f_score(of_overlap, of_retrieved, of_highlighted, beta)[0]), 1.0),
        beta=beta,
    )


def _canonical(name: str, value: Any, param: Param) -> float:
    try:
        number: float = param.canonical(value)
    except ValueError:
        raise ParameterError(f"show: {name}={shown(value)} must be {param.expected}") from None
    return number


def _with_passages(kind: str, source: Any) -> Table:
    """Qrels or a run as a table. Raises InputError where they hold no passages."""
    table = None if isinstance(source, Mapping) else table_of(kind, source)
    if table is None or table.passage is None:
        columns = f"query_id, doc_id, {VALUE_COLUMNS[kind]}, start, length"
        raise InputError(
            f"show needs passages, and the {kind} given hold none: give a table or named tuples with the "
            f"fields {columns}, or a file that has them; a dict of dicts cannot"
        )
    table.check_ids()
    return table


def _where(table: Table, column: pl.Series, value: str) -> Table:
    """The rows of a topic or of an article."""
    return table.filter((column == value).arg_true().to_numpy().astype(np.int64))


def _spans(table: Table) -> Spans:
    """The spans of the rows of one article."""
    passage = table.passage
    if passage is None:  # pragma: no cover
        raise ValueError("no passages")
    return passage.spans(np.zeros(len(table), dtype=np.int64))


def _rank(ranked: Table, article: str) -> int | None:
    """Rank of an article among those that a run has for a topic, found as for the measures."""
    articles = articles_of(ranked, np.zeros(len(ranked), dtype=np.int64))
    if articles is None:  # pragma: no cover
        raise ValueError("no passages")
    table = articles.table
    row = (table.doc_id == article).arg_true().to_numpy().astype(np.int64)
    score = comparable(table.value)

    def rows(at: Ints) -> ranking.Rows:
        return ranking.Rows(
            score[at], np.zeros_like(at), lambda wanted: table.doc_id.gather(at[wanted]).to_list()
        )

    rank = ranking.ranks(rows(np.arange(len(table), dtype=np.int64)), rows(row))
    return int(rank[0]) if rank.size else None


def _ratio(part: Ints, whole: Ints) -> float:
    return float(part[0] / whole[0]) if whole[0] else 0.0


def _merged(spans: Spans) -> Merged:
    """The union of one article's spans."""
    spans = spans[spans.stop > spans.start]
    spans = spans[np.argsort(spans.start)]
    if not spans.start.size:
        return ()
    reached = segments.cumulative_maximum_before(spans.stop, np.zeros_like(spans.start))
    first = np.flatnonzero(np.append(True, spans.start[1:] > reached[1:]))
    stop = np.maximum.reduceat(spans.stop, first)
    return tuple(zip(spans.start[first].tolist(), stop.tolist(), strict=True))


def _common(one: Merged, other: Merged) -> Merged:
    """The overlap of two unions."""
    edges = sorted(edge for start, stop in one + other for edge in ((start, 1), (stop, -1)))
    found = []
    depth = begin = 0
    for position, change in edges:
        if depth == 2:  # noqa: PLR2004  # in both
            found.append((begin, position))
        depth += change
        begin = position
    return tuple(found)


def _size(spans: Merged) -> int:
    return sum(stop - start for start, stop in spans)
