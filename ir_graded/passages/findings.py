"""View of one topic of a run: retrieved text of each highlighted span, and rows that found nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import NamedTuple, TypeAlias

import numpy as np

from ir_graded.core.article_view import f_score
from ir_graded.core.segments import Ints
from ir_graded.core.spans import Spans
from ir_graded.errors import InputError, printable, short_repr
from ir_graded.io.table import Table
from ir_graded.matching.articles import articles_of
from ir_graded.matching.match import prepare_qrels
from ir_graded.matching.row_ranks import order_rows
from ir_graded.matching.tables import groups_of

from .units import text_of

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

    A notebook shows it as HTML that suits light and dark themes; ``print`` gives it as text. Positions are
    those of the data, with ``stop`` excluded.

    Attributes:
        query_id: the topic.
        rows: number of rows considered.
        highlighted: the spans of relevant level, sorted by doc_id and start: named tuples of doc_id, start,
            stop, found (the union of the text found), pieces (rank, start and stop in each row) and text.
        in_vain: the rows without highlighted text, sorted by rank: named tuples of rank, doc_id, start, stop
            and text.
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
        lines += ["", self._vain_title()]
        lines += [f"  {_rank(row)}: {_place(row)}" for row in self.in_vain[:_SHOWN]]
        return "\n".join(lines + self._more())

    def __repr__(self) -> str:
        return str(self)

    def _title(self) -> str:
        weighted = "" if self.beta == 1 else f"(beta={self.beta:g})"
        return (
            f"topic {printable(self.query_id)}, {self.rows:,} rows: "
            f"CharP {self.P:.4f}, CharR {self.R:.4f}, CharF{weighted} {self.F:.4f}"
        )

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


def findings_of(
    judged: Table, ranked: Table, rel: float, beta: float, cutoff: int | None, texts: Texts | None
) -> Findings:
    """Return the findings of one topic; both tables hold only this topic and have been checked."""
    topic = str(judged.query_id[0])
    names = sorted({*judged.doc_id, *ranked.doc_id})
    number = {doc_id: at for at, doc_id in enumerate(names)}
    gold, rows = _spans(judged, number), _spans(ranked, number)[_order(topic, ranked)[:cutoff]]
    gold = gold[(judged.value >= rel) & (gold.stop > gold.start)]
    gold = Spans(*np.unique(np.stack([gold.article, gold.start, gold.stop]), axis=1))
    span, row = gold.meeting(rows)
    order = np.lexsort((row, span))
    span, row = span[order], row[order]
    parts = Spans(
        span, np.maximum(gold.start[span], rows.start[row]), np.minimum(gold.stop[span], rows.stop[row])
    )
    pieces: list[list[Piece]] = [[] for _ in gold.start]
    for at, *piece in zip(*(each.tolist() for each in (span, row + 1, parts.start, parts.stop)), strict=True):
        pieces[at].append(Piece(*piece))
    found: list[list[tuple[int, int]]] = [[] for _ in gold.start]
    for at, start, stop in _triples(parts.union()):
        found[at].append((start, stop))
    vain = np.setdiff1d(np.arange(rows.start.size, dtype=np.int64), row)
    highlighted = gold.union().union_length(len(names)).sum(keepdims=True)
    of_both = gold.union().intersection(rows.union()).union_length(len(names)).sum(keepdims=True)
    retrieved = (rows.stop - rows.start).sum(keepdims=True)
    precision, recall, weighted = (
        float(f_score(of_both, retrieved, highlighted, weight)[0]) for weight in (0, np.inf, beta)
    )
    return Findings(
        query_id=topic,
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
        P=precision,
        R=recall,
        F=weighted,
        beta=beta,
    )  # fmt: skip


def _spans(table: Table, number: Mapping[str, int]) -> Spans:
    if table.passage is None:
        return Spans.empty()
    return table.passage.spans(np.array([number[doc_id] for doc_id in table.doc_id], dtype=np.int64))


def _order(topic: str, ranked: Table) -> Ints:
    """Return the rows in the order of their ranks."""
    groups = groups_of(prepare_qrels({topic: {}}), ranked.query_id)
    articles = articles_of(ranked, groups.topic)
    assert articles is not None  # noqa: S101  # for the type checker
    return order_rows(ranked, groups, articles)[0]


def _triples(spans: Spans) -> Iterator[tuple[int, int, int]]:
    return zip(spans.article.tolist(), spans.start.tolist(), spans.stop.tolist(), strict=True)


def _text(texts: Texts | None, doc_id: str, start: int, stop: int) -> str | None:
    if texts is None:
        return None
    text = text_of(texts, doc_id)
    if not isinstance(text, str):
        raise InputError(f"texts: document {doc_id!r} is {short_repr(text)}; it must be a str")
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


def _excerpt(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT].rstrip()} …"
