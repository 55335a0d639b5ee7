"""Passages of articles: submissions in XML, and a look at one article of a run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from . import ranking, segments
from .article_view import f_score
from .errors import GradedError, InputError, ParameterError
from .inputs import inex_xml
from .inputs.articles import articles_of
from .inputs.sources import table_of
from .inputs.table import VALUE_COLUMNS, Table
from .measures.params import REL, Param
from .measures.relevant_in_context import F_BETA
from .segments import Ints
from .spans import Spans

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Strip", "read_submission", "show"]

#: Spans of one article in ascending order, none touching the next: (start, stop).
Merged: TypeAlias = tuple[tuple[int, int], ...]

_AXIS = "position in the article"
_NAMED = 3  # ids in an error
_LONGEST_ID = 32  # characters in a title
_THINNEST = 0.5  # points: what even a span of one character gets


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
        topic, article = (_printable(name, longest) for name in (self.query_id, self.doc_id))
        place = "not retrieved" if self.rank is None else f"rank {self.rank}"
        return f"topic {topic}, article {article}, {place}"

    def _scores(self, digits: int) -> str:
        weighted = "" if self.beta == 1 else f"(beta={self.beta:g})"
        return f"P {self.P:.{digits}f}, R {self.R:.{digits}f}, F{weighted} {self.F:.{digits}f}"

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
        try:
            from matplotlib.figure import Figure
            from matplotlib.ticker import MaxNLocator, StrMethodFormatter
        except ImportError as error:
            raise GradedError("plots need matplotlib: pip install 'ir-graded[plot]'") from error
        if ax is None:
            ax = Figure(figsize=(7, 1.7), layout="constrained").subplots()
        end = max(self.extent, 1)
        for y, (name, spans) in enumerate(self._lanes().items()):
            look = _LOOKS[name]
            ax.broken_barh([(0, end)], (y - 0.4, 0.8), facecolor="0.95")
            ax.broken_barh(
                [(start, stop - start) for start, stop in spans],
                (y - 0.4, 0.8),
                facecolor=look.fill,
                edgecolor=look.dark,
                hatch=look.hatch,
                linewidth=_THINNEST,
                clip_on=False,
            )
        ax.set_yticks(range(len(_LOOKS)), list(_LOOKS))
        ax.set_ylim(len(_LOOKS) - 0.4, -0.6)
        ax.set_xlim(0, end)
        room = ax.get_window_extent().width / ax.figure.dpi * 72
        ticks = MaxNLocator(_ticks_in(room, end), steps=[1, 2, 2.5, 5, 10], integer=True)
        ax.xaxis.set_major_locator(ticks)
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        ax.tick_params(labelsize="small")
        ax.tick_params(axis="y", length=0)
        ax.spines[["left", "top", "right"]].set_visible(False)
        ax.set_xlabel(_AXIS, fontsize="small")
        title = f"{self._subject(_LONGEST_ID)}\n{self._scores(3)}"
        # Ids are no formulas, whatever they hold.
        ax.set_title(title.replace("$", r"\$"), fontsize="small", usetex=False, wrap=True)
        return ax.figure.figure

    def _repr_html_(self) -> str:
        """The strip as an SVG image that stands by itself; pointing at a span says where it lies."""
        end = max(self.extent, 1)
        left, wide, high = 90, 600, 18  # of the lanes
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(str(self))}" '
            f'viewBox="0 0 720 150" style="width:100%;max-width:720px;background:#fff" '
            f'font-family="sans-serif" font-size="12" fill="#222">',
            f'<text x="8" y="16">{escape(self._subject(_LONGEST_ID))}</text>',
            f'<text x="8" y="33">{self._scores(3)}</text>',
        ]
        for row, (name, spans) in enumerate(self._lanes().items()):
            y = 44 + row * (high + 4)
            parts.append(f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{name}</text>')
            parts.append(f'<rect x="{left}" y="{y}" width="{wide}" height="{high}" fill="#eee"/>')
            for start, stop in spans:
                width = max((stop - start) / end * wide, 1)
                parts.append(
                    f'<rect x="{left + start / end * wide:.2f}" y="{y}" width="{width:.2f}" height="{high}" '
                    f'fill="{_LOOKS[name].dark}"><title>{start:,} to {stop:,}</title></rect>'
                )
        step = _step(end, _ticks_in(wide, end))
        for tick in range(0, end + 1, step):
            x = f"{left + tick / end * wide:.2f}"
            parts.append(f'<path d="M{x} 110v4" stroke="#222"/>')
            parts.append(f'<text x="{x}" y="126" text-anchor="middle">{tick:,}</text>')
        parts.append(f'<text x="{left + wide / 2}" y="143" text-anchor="middle">{_AXIS}</text></svg>')
        return "".join(parts)


@dataclass(frozen=True)
class _Look:
    """How a lane is drawn. The colours are those of Okabe and Ito, which the colour-blind tell apart."""

    fill: str
    dark: str
    hatch: str | None = None


_LOOKS = {
    "highlighted": _Look("#E69F00", "#E69F00"),
    "overlap": _Look("#000000", "#000000"),
    "retrieved": _Look("#56B4E9", "#0072B2", "////"),
}


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
    topic, article = str(query_id), str(doc_id)
    judged, ranked = _with_passages("qrels", qrels), _with_passages("run", run)
    if topic not in judged.query_id:
        raise InputError(f"the qrels have no topic {topic!r}; they have {_some(judged.query_id)}")
    judged, ranked = _where(judged, judged.query_id, topic), _where(ranked, ranked.query_id, topic)
    known = [*judged.doc_id, *ranked.doc_id]
    if article not in known:
        raise InputError(f"topic {topic!r} has no article {article!r}; qrels and run have {_some(known)}")
    judged.check_values()
    ranked.check_values()
    highlights = _where(judged, judged.doc_id, article)
    retrieved = _spans(_where(ranked, ranked.doc_id, article))
    highlighted = _spans(highlights)[highlights.value >= rel]
    # Counted as the measures count.
    of_highlighted = highlighted.covered(1)
    of_retrieved = retrieved.covered(1)
    of_overlap = of_highlighted + of_retrieved - highlighted.joined(retrieved).covered(1)
    return Strip(
        query_id=topic,
        doc_id=article,
        rank=_rank(ranked, article),
        highlighted=_merged(highlighted),
        retrieved=_merged(retrieved),
        overlap=_common(_merged(highlighted), _merged(retrieved)),
        extent=int(_spans(highlights).joined(retrieved).stop.max(initial=0)),
        P=_ratio(of_overlap, of_retrieved),
        R=_ratio(of_overlap, of_highlighted),
        # Rounding may carry a perfect article an ulp beyond 1.
        F=min(float(f_score(of_overlap, of_retrieved, of_highlighted, beta)[0]), 1.0),
        beta=beta,
    )


def _canonical(name: str, value: Any, param: Param) -> float:
    try:
        number: float = param.canonical(value)
    except ValueError as error:
        raise ParameterError(f"show: {name}={value!r} must be {param.expected} ({error})") from None
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


def _some(ids: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(ids))
    return ", ".join(map(repr, distinct[:_NAMED])) + (" ..." if len(distinct) > _NAMED else "")


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
    score = ranking.comparable(table.value)

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


def _ticks_in(room: float, end: int) -> int:
    """How many intervals with labels up to ``end`` go into so many points."""
    return max(1, min(6, int(room / (5 * len(f"{end:,}") + 10))))


def _step(end: int, most: int) -> int:
    """The smallest of 1, 2, 5, 10, 20, ... of which at most so many go up to ``end``."""
    power = 1
    while True:
        for step in (power, 2 * power, 5 * power):
            if end <= step * most:
                return step
        power *= 10


def _printable(text: str, longest: int | None = None) -> str:
    """Text in one line: what cannot be seen is written as in Python, what is too long loses its middle."""
    shown = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    if longest is None or len(shown) <= longest:
        return shown
    return f"{shown[: longest // 2 - 1]}…{shown[-longest // 2 :]}"
