"""Precision omega: the quality of a chunking, without retrieval."""

from __future__ import annotations

import warnings
from collections.abc import Container
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.core.levels import Highlights
from ir_graded.core.segments import count, whole_total
from ir_graded.core.spans import Spans
from ir_graded.errors import CoverageWarning, InputError, format_ids
from ir_graded.io.sources import no_passages
from ir_graded.io.table import Table, from_columns
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import prepare_qrels
from ir_graded.measures.stopping import safe_divide

from .units import check_columns

if TYPE_CHECKING:
    import pandas as pd


def precision_omega(qrels: Any, chunks: Any, *, rel: float = 1, touching: bool = False) -> pd.DataFrame:
    """Compute the IoU of retrieving every chunk that contains gold text, per topic.

    ``precision_omega = characters both in T and highlighted / characters in T or highlighted``, where T are
    the chunks that share a character with a highlighted span; 0 if T is empty. Retrieving fewer chunks can
    give a higher IoU if a chunk contains little gold text.

    Args:
        qrels: qrels with passages in any form.
        chunks: a table of all chunks, with doc_id, start and length.
        rel: lowest relevant level.
        touching: whether T also contains chunks that only touch a span, as in Chroma's evaluation.

    Returns:
        A row per topic of the qrels: query_id and precision_omega. With ``touching`` also chunks, the number
        of chunks in T.

    Raises:
        InputError: the qrels hold no passages, or the chunks lack a column or hold an invalid position.

    Warns:
        CoverageWarning: a topic has no highlighted text, or a document with highlighted text has no chunk;
            both lower the values. Once per call.

    Source:
        Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (Chroma, 2024).

    Example:
        >>> import pandas as pd
        >>> from ir_graded import passages
        >>> gold = pd.DataFrame({"query_id": ["1"], "doc_id": "x", "relevance": 1, "start": 0, "length": 40})
        >>> chunks = pd.DataFrame({"doc_id": "x", "start": [0, 30, 60], "length": 30})
        >>> passages.precision_omega(gold, chunks)
          query_id  precision_omega
        0        1         0.666667
    """
    import pandas as pd

    judgments = prepare_qrels(qrels)
    levels = judgments.levels
    if judgments.names and levels.highlights is None:
        raise InputError(no_passages("precision_omega", "qrels", judgments.hint))
    highlights = levels.highlights or Highlights(Spans.empty(), np.zeros(0))
    gold = highlights.spans[highlights.level >= rel]
    table = _chunk_table(chunks)
    code = {
        doc_id: number for number, doc_id in enumerate(table.doc_id.unique(maintain_order=True).to_list())
    }
    _warn(judgments, gold, code, rel)
    document = np.array([code.get(doc_id, -1) for doc_id in judgments.doc_ids], dtype=np.int64)
    of_chunk = np.array([code[doc_id] for doc_id in table.doc_id.to_list()], dtype=np.int64)
    assert table.passage is not None  # noqa: S101  # for the type checker
    cut = table.passage.spans(of_chunk)
    span, chunk = Spans(document[gold.article], gold.start, gold.stop).meeting(cut, touching=touching)
    pairs = np.unique(np.stack([gold.article[span], chunk]), axis=1)
    chosen = Spans(pairs[0], cut.start[pairs[1]], cut.stop[pairs[1]])
    articles = levels.topic.size
    of_gold, of_chosen = gold.union_length(articles), chosen.union_length(articles)
    of_either = gold.concat(chosen).union_length(articles)
    both, either = (
        whole_total(size, levels.topic, levels.topics).astype(np.float64)
        for size in (of_gold + of_chosen - of_either, of_either)
    )
    found: dict[str, Any] = {
        "query_id": judgments.query_ids,
        "precision_omega": safe_divide(both, either),
    }
    if touching:
        found["chunks"] = count(levels.topic[pairs[0]], levels.topics)
    return pd.DataFrame(found)


def _warn(judgments: Judgments, gold: Spans, chunked: Container[str], rel: float) -> None:
    """Issue a CoverageWarning about topics without gold text and about gold documents without chunks."""
    numbers = np.unique(gold.article[gold.stop > gold.start]).tolist()
    unchunked = dict.fromkeys(
        doc_id for number in numbers if (doc_id := judgments.doc_ids[number]) not in chunked
    )
    notes = [judgments.note_on_text(rel)]
    if unchunked:
        documents = "1 document has" if len(unchunked) == 1 else f"{len(unchunked)} documents have"
        notes.append(
            f"{documents} highlighted text but no chunk: {format_ids([*unchunked])}; check that the doc_ids "
            "of the chunks are those of the qrels."
        )
    if text := " ".join(filter(None, notes)):
        warnings.warn(text, CoverageWarning, stacklevel=3)


def _chunk_table(chunks: Any) -> Table:
    check_columns("chunks", chunks)
    doc_id, start, length = (chunks[name] for name in ("doc_id", "start", "length"))
    size = len(doc_id)
    return from_columns(
        *("chunks", [""] * size, doc_id, [0.0] * size, lambda row: f"row {row}", (start, length))
    )
