"""View of one topic of a run: retrieved text of each highlighted span, and rows that found nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np

from ir_graded.core.passages import Spans
from ir_graded.core.segments import Ints
from ir_graded.core.views import f_score
from ir_graded.errors import InputError, ParameterError, format_ids, printable, short_repr
from ir_graded.io.sources import passage_table
from ir_graded.io.table import Table
from ir_graded.io.values import as_text
from ir_graded.matching.match import prepare_qrels
from ir_graded.matching.tables import match_table
from ir_graded.measures.params import CUTOFF, F_BETA, REL, Param

from .chunks import text_of
from .submissions import rows_by_rank

if TYPE_CHECKING:
    import polars as pl

    from ir_graded.plots.style import Axes, Figure


#: The text of each document in characters, by doc_id.
Texts: TypeAlias = Mapping[str, str] | Callable[[str], str]

_SHOWN = 20  # rows that found nothing
_EXCERPT = 120  # characters of the text of such a row
_ROWS = "display:grid;grid-template-columns:auto 1fr auto;gap:2px 10px;align-items:center;white-space:nowrap"
#: Half transparent, so that it suits light and dark pages. The letters keep the colour of the page.
_MARK = '<mark style="background:rgba(230,159,0,.35);color:inherit;text-decoration:underline">'


class Piece(NamedTuple):
    """Text of a highlighted span that the row at a rank holds, from ``start`` up to ``stop``."""

    rank: int
    start: int
    stop: int


class HighlightedSpan(NamedTuple):
    """A highlighted span: found parts as ``(start, stop)``, the rows that found them, text if known."""

    doc_id: str
    start: int
    stop: int
    found: tuple[tuple[int, int], ...]
    pieces: tuple[Piece, ...]
    text: str | None = None


class RetrievedRow(NamedTuple):
    """A row of a run, with its text if known."""

    rank: int
    doc_id: str
    start: int
    stop: int
    text: str | None = None


@dataclass(frozen=True)
class Findings:
    """Text of each highlighted span of a topic found at each rank, and rows that found none.

    A notebook shows it as HTML, and ``print`` as text. Positions are those of the data, ``stop`` is excluded.

    Attributes:
        query_id: id of the topic.
        rows: number of rows considered.
        highlighted: the spans of relevant level, sorted by doc_id and start: named tuples of doc_id, start,
            stop, found (the union of the text found), pieces (rank, start and stop in each row) and text.
        in_vain: the rows without highlighted text by rank: named tuples of rank, doc_id, start, stop, text.
        found: number of characters found, each counted once.
        P: character precision of the rows, as in CharP.
        R: character recall, as in CharR.
        F: their weighted harmonic mean, as in CharF.
        beta: weight of recall against precision in F.
    """

    query_id: str
    rows: int
    highlighted: tuple[HighlightedSpan, ...]
    in_vain: tuple[RetrievedRow, ...]
    found: int
    P: float
    R: float
    F: float
    beta: float = 1

    def __str__(self) -> str:
        lines = [self._title()]
        for span in self.highlighted:
            lines += ["", _headline(span), *(f"  {_rank(piece)}: {_range(piece)}" for piece in span.pieces)]
        rows = (f"  {_rank(row)}: {_place(row)}" for row in self.in_vain[:_SHOWN])
        return "\n".join([*lines, "", self._vain_title(), *rows, *self._more()])

    __repr__ = __str__

    def _title(self) -> str:
        return f"topic {printable(self.query_id)}, {self.rows:,} rows: {_shown_scores(self, 'Char')}"

    def _vain_title(self) -> str:
        return f"retrieved in vain: {len(self.in_vain):,} of {self.rows:,} rows"

    def _more(self) -> list[str]:
        more = len(self.in_vain) - _SHOWN
        return [f"  and {more:,} more"] if more > 0 else []

    def _repr_html_(self) -> str:
        return "".join(self._html())

    def _html(self) -> Iterator[str]:
        yield '<div style="max-width:50em;margin-bottom:1em;line-height:1.45;overflow-wrap:anywhere">'
        yield f"<p><strong>{escape(self._title())}</strong></p>"
        for span in self.highlighted:
            yield f'<p style="margin:1em 0 .3em">{escape(_headline(span))}</p>'
            if span.text is not None:
                yield f'<p style="margin:.3em 0;white-space:pre-wrap">{_marked(span, span.text)}</p>'
            yield f'<div style="{_ROWS}">'
            yield from (_lane(span, piece) for piece in span.pieces)
            yield "</div>"
        yield f'<p style="margin:1em 0 .3em">{self._vain_title()}</p>'
        yield '<ul style="margin:0;padding-left:1.2em">'
        for row in self.in_vain[:_SHOWN]:
            text = "" if row.text is None else f": <em>{escape(_excerpt(row.text))}</em>"
            yield f"<li>{_rank(row)}: {escape(_place(row))}{text}</li>"
        yield from (f"<li>{more.strip()}</li>" for more in self._more())
        yield "</ul></div>"


def _findings(
    judged: Table, ranked: Table, rel: float, beta: float, cutoff: int | None, texts: Texts | None
) -> Findings:
    """Return the findings of one topic; both tables hold only this topic."""
    names = sorted({*judged.doc_id, *ranked.doc_id})
    number = {doc_id: at for at, doc_id in enumerate(names)}
    gold, rows = _spans(judged, number), _spans(ranked, number)[rows_by_rank(ranked)[0][:cutoff]]
    gold = gold[(judged.value >= rel) & (gold.stop > gold.start)]
    gold = Spans(*np.unique(np.stack([gold.article, gold.start, gold.stop]), axis=1))
    span, row = gold.meeting(rows)
    order = np.lexsort((row, span))
    span, row = span[order], row[order]
    parts = Spans(
        span, np.maximum(gold.start[span], rows.start[row]), np.minimum(gold.stop[span], rows.stop[row])
    )
    pieces: dict[int, list[Piece]] = defaultdict(list)
    for rank, (at, start, stop) in zip((row + 1).tolist(), _triples(parts), strict=True):
        pieces[at].append(Piece(rank, start, stop))
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for at, start, stop in _triples(parts.union()):
        found[at].append((start, stop))
    vain = np.setdiff1d(np.arange(rows.start.size, dtype=np.int64), row)
    highlighted = gold.union()
    of_both = _size(highlighted.intersection(rows.union()))
    return Findings(
        query_id=str(judged.query_id[0]),
        rows=rows.start.size,
        highlighted=tuple(
            HighlightedSpan(
                names[article], start, stop, tuple(found[at]), tuple(pieces[at]),
                _text(texts, names[article], start, stop),
            )
            for at, (article, start, stop) in enumerate(_triples(gold))
        ),
        in_vain=tuple(
            RetrievedRow(rank, names[article], start, stop, _text(texts, names[article], start, stop))
            for rank, (article, start, stop) in zip((vain + 1).tolist(), _triples(rows[vain]), strict=True)
        ),
        found=int(of_both[0]),
        **_scores(of_both, _size(rows), _size(highlighted), beta),
        beta=beta,
    )  # fmt: skip


def _spans(table: Table, number: Mapping[str, int]) -> Spans:
    """Return the spans of the rows, with the numbers of their documents."""
    if table.passage is None:
        return Spans.empty()
    return table.passage.spans(np.array([number[doc_id] for doc_id in table.doc_id], dtype=np.int64))


def _size(spans: Spans) -> Ints:
    """Return the sum of the lengths, shape ``(1,)``."""
    return np.asarray((spans.stop - spans.start).sum(keepdims=True))


def _scores(overlap: Ints, retrieved: Ints, highlighted: Ints, beta: float) -> dict[str, float]:
    betas = {"P": 0.0, "R": np.inf, "F": beta}
    return {name: float(f_score(overlap, retrieved, highlighted, one)[0]) for name, one in betas.items()}


def _triples(spans: Spans) -> Iterator[tuple[int, int, int]]:
    return zip(spans.article.tolist(), spans.start.tolist(), spans.stop.tolist(), strict=True)


def _text(texts: Texts | None, doc_id: str, start: int, stop: int) -> str | None:
    if texts is None:
        return None
    text: str = text_of(texts, doc_id, str)
    if stop > len(text):
        raise InputError(
            f"document {doc_id!r}: the span {start}:{stop - start} ends after the text of {len(text)} "
            "characters"
        )
    return text[start:stop]


def _headline(span: HighlightedSpan) -> str:
    size = sum(stop - start for start, stop in span.found)
    return f"{_place(span)}: {size:,} of {span.stop - span.start:,} characters found"


def _place(span: HighlightedSpan | RetrievedRow) -> str:
    return f"{printable(span.doc_id)}, {_range(span)}"


def _range(span: HighlightedSpan | RetrievedRow | Piece) -> str:
    return f"{span.start:,} to {span.stop:,}"


def _rank(row: RetrievedRow | Piece) -> str:
    return f"rank {row.rank:,}"


def _lane(span: HighlightedSpan, piece: Piece) -> str:
    """Return a row of the grid: rank, place of the piece in the span, and its positions."""
    left, width = (
        100 * length / (span.stop - span.start)
        for length in (piece.start - span.start, piece.stop - piece.start)
    )
    return (
        f'<span>{_rank(piece)}</span><span style="background:rgba(128,128,128,.25);height:.8em">'
        f'<span style="display:block;margin-left:min({left:.2f}%,100% - 2px);width:{width:.2f}%;'
        f'min-width:2px;height:100%;background:#0072B2"></span></span><span>{_range(piece)}</span>'
    )


def _marked(span: HighlightedSpan, text: str) -> str:
    """Return the text of a span with its found parts marked by colour and underline."""
    parts, end = [], 0
    for start, stop in ((start - span.start, stop - span.start) for start, stop in span.found):
        parts.append(f"{escape(text[end:start])}{_MARK}{escape(text[start:stop])}</mark>")
        end = stop
    return "".join([*parts, escape(text[end:])])


def _shown_scores(of: Findings | Strip, prefix: str = "", digits: int = 4) -> str:
    scores = {"P": of.P, "R": of.R, "F" if of.beta == 1 else f"F(beta={of.beta:g})": of.F}
    return ", ".join(f"{prefix}{name} {score:.{digits}f}" for name, score in scores.items())


def _excerpt(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT].rstrip()} …"


#: Spans of one article as (start, stop), ascending and not touching each other.
Merged: TypeAlias = tuple[tuple[int, int], ...]

_LONGEST_ID = 32  # characters in a title


@dataclass(frozen=True)
class Strip:
    """Text of one article of a topic that is highlighted, retrieved, or both.

    A notebook shows it as a picture, ``print`` as numbers. Positions are those of the data: characters in
    INEX, bytes in TREC Genomics.

    Attributes:
        query_id: id of the topic.
        doc_id: id of the article.
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
        return f"{self._subject()}: {_shown_scores(self)} ({sizes})"

    def _subject(self, longest: int | None = None) -> str:
        topic, article = (printable(name, longest) for name in (self.query_id, self.doc_id))
        place = "not retrieved" if self.rank is None else f"rank {self.rank}"
        return f"topic {topic}, article {article}, {place}"

    def _title(self) -> tuple[str, str]:
        return self._subject(_LONGEST_ID), _shown_scores(self, digits=3)

    def _lanes(self) -> dict[str, Merged]:
        """Return the lanes from top to bottom, with the overlap between the other two."""
        return {"highlighted": self.highlighted, "overlap": self.overlap, "retrieved": self.retrieved}

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw a lane each for highlighted text, both, and retrieved text into ``ax`` or a new figure.

        Every span is at least as wide as a thin line. ``pyplot`` does not know a new figure, so it need not
        be closed.
        """
        from ir_graded.plots import topics as strip

        return strip.draw(self._lanes(), self.extent, self._title(), ax)

    def _repr_html_(self) -> str:
        from ir_graded.plots import topics as strip

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

    Args:
        qrels: qrels with passages in any form.
        run: a run with passages in any form.
        query_id: a topic of the qrels.
        doc_id: an article of the qrels or the run for this topic.
        rel: lowest relevant level: spans of lower levels highlight nothing.
        beta: weight of recall against precision in F; inf is recall alone.
        cutoff: number of rows to consider, by default all; only without ``doc_id``.
        texts: the text of each document, shown with the spans: a mapping from doc_id or a function of it;
            only without ``doc_id``.

    Returns:
        :class:`Findings` of a topic: the ranks at which each highlighted span was retrieved, and the rows
        that hold none. With ``doc_id``, the :class:`Strip` of an article: the text that is highlighted,
        retrieved, or both.

    Raises:
        InputError: an unknown topic or article, no passages, or a text that is missing or ends too early.
        ParameterError: an option is out of its range, or cutoff or texts is given with ``doc_id``.

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
    judged.check_values()
    ranked.check_values()
    if doc_id is None:
        return _findings(judged, ranked, rel, beta, cutoff, texts)
    return _strip(judged, ranked, topic, as_text(doc_id), rel, beta)


def _strip(judged: Table, ranked: Table, topic: str, article: str, rel: float, beta: float) -> Strip:
    known = list(dict.fromkeys([*judged.doc_id, *ranked.doc_id]))
    if article not in known:
        raise InputError(
            f"topic {topic!r} has no article {article!r}; qrels and run have {format_ids(known)}"
        )
    rank = match_table(prepare_qrels({topic: {article: 1}}), ranked, lowest=1).rank
    judged = _rows_with(judged, judged.doc_id, article)
    in_qrels, in_run = (
        _spans(table, {article: 0}) for table in (judged, _rows_with(ranked, ranked.doc_id, article))
    )
    highlighted, retrieved = in_qrels[judged.value >= rel].union(), in_run.union()
    overlap = highlighted.intersection(retrieved)
    return Strip(
        query_id=topic,
        doc_id=article,
        rank=int(rank[0]) if rank.size else None,
        highlighted=_pairs(highlighted),
        retrieved=_pairs(retrieved),
        overlap=_pairs(overlap),
        extent=int(Spans.concat([in_qrels, in_run]).stop.max(initial=0)),
        **_scores(_size(overlap), _size(retrieved), _size(highlighted), beta),
        beta=beta,
    )


def _validated(name: str, value: Any, param: Param) -> float:
    try:
        number: float = param.canonical(value)
    except ValueError:
        raise ParameterError(f"show: {name}={short_repr(value)} must be {param.expected}") from None
    return number


def _rows_with(table: Table, column: pl.Series, value: str) -> Table:
    return table[(column == value).arg_true().to_numpy().astype(np.int64)]


def _pairs(spans: Spans) -> Merged:
    return tuple(zip(spans.start.tolist(), spans.stop.tolist(), strict=True))
