"""Convert chunks of other libraries to runs: dicts, documents of LangChain and nodes of LlamaIndex.

The libraries are not imported: objects are recognised by their attributes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from ir_graded.core.facets import SPAN
from ir_graded.core.levels import Highlights
from ir_graded.core.passages import Spans
from ir_graded.core.segments import Bools, Ints, count, whole_total
from ir_graded.core.views import Views
from ir_graded.errors import CoverageWarning, InputError, format_ids, short_repr
from ir_graded.io.records import Node, indexed_span
from ir_graded.io.sources import passage_table
from ir_graded.io.table import Table, column_names, from_columns, is_frame
from ir_graded.io.values import as_text
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import match_run, prepare_qrels
from ir_graded.measures import CharP, CharR
from ir_graded.measures.stopping import safe_divide

if TYPE_CHECKING:
    import pandas as pd


Text = TypeVar("Text")
#: The text of each document, as str or in bytes of UTF-8, by doc_id.
Texts: TypeAlias = Mapping[str, str | bytes] | Callable[[str], str | bytes]
_COLUMNS = ("doc_id", "start", "length")


def to_characters(table: pd.DataFrame, texts: Texts) -> pd.DataFrame:
    """Convert spans that count bytes of UTF-8 to spans that count characters (Unicode code points).

    Args:
        table: qrels or a run with doc_id, start and length.
        texts: the text of each document, as str or in bytes of UTF-8: a mapping from doc_id or a function of
            it.

    Returns:
        The table with start and length in characters.

    Raises:
        InputError: a span begins or ends inside a character or after the end of its text, a text is missing,
            or the table lacks a column.

    Example:
        >>> import pandas as pd
        >>> from ir_graded import passages
        >>> spans = pd.DataFrame({"doc_id": ["a"], "start": [3], "length": [2]})
        >>> passages.to_characters(spans, {"a": "für".encode()})
        Traceback (most recent call last):
        ir_graded.errors.InputError: row 0, document 'a': the span 3:2 ends after the text of 4 bytes
        >>> passages.to_characters(spans.assign(length=1), {"a": "für".encode()})
          doc_id  start  length
        0      a      2       1
    """
    if not hasattr(table, "groupby"):
        raise InputError(f"table is a {type(table).__name__}; it must be a pandas DataFrame")
    check_columns("table", table)
    start = table["start"].to_numpy(dtype=np.int64)
    stop = start + table["length"].to_numpy(dtype=np.int64)
    new_start, new_stop = np.zeros_like(start), np.zeros_like(stop)
    for key, found in table.groupby("doc_id", sort=False).indices.items():
        doc_id, rows = str(key), np.asarray(found, dtype=np.int64)
        data = np.frombuffer(_bytes_of(texts, doc_id), dtype=np.uint8)
        # Bytes 10xxxxxx continue a character.
        begins = np.append((data & 0xC0) != 0x80, True)  # noqa: PLR2004
        number = np.concatenate(([0], np.cumsum(begins[:-1])))
        for new, place, word in ((new_start, start, "begins"), (new_stop, stop, "ends")):
            _check(rows, doc_id, start, stop, place, begins, word)
            new[rows] = number[place[rows]]
    return table.assign(start=new_start, length=new_stop - new_start)


def text_of(texts: Mapping[str, Text] | Callable[[str], Text], doc_id: str) -> Text:
    """Return the text of a document. Raises InputError if it is missing."""
    try:
        return texts(doc_id) if callable(texts) else texts[doc_id]
    except KeyError:
        raise InputError(f"texts lack document {doc_id!r}") from None
    except TypeError:
        if callable(texts):
            raise
        raise InputError(
            f"texts are {short_repr(texts)}; they must be a mapping from doc_id to text, or a function of a "
            "doc_id"
        ) from None


def check_columns(name: str, table: Any) -> None:
    """Raise InputError for a table without the columns doc_id, start and length."""
    present = column_names(table) if is_frame(table) else ()
    missing = [column for column in _COLUMNS if column not in present]
    if missing:
        raise InputError(
            f"{name}: expected a table with {', '.join(_COLUMNS)}; it lacks {', '.join(missing)}"
        )


def _bytes_of(texts: Texts, doc_id: str) -> bytes:
    """Return the text of a document in bytes of UTF-8."""
    text = text_of(texts, doc_id)
    if isinstance(text, str):
        return text.encode()
    if isinstance(text, bytes):
        return text
    raise InputError(f"texts: document {doc_id!r} is {short_repr(text)}; it must be a str or bytes")


def _check(  # parts of the message
    rows: Ints, doc_id: object, start: Ints, stop: Ints, place: Ints, begins: Bools, word: str
) -> None:
    """Raise InputError if a position is not between two characters."""
    inside = (place[rows] >= 0) & (place[rows] < begins.size)
    wrong = ~inside
    wrong[inside] = ~begins[place[rows][inside]]
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        row = int(rows[at])
        where = "inside a character" if inside[at] else f"after the text of {begins.size - 1} bytes"
        span = f"{start[row]}:{stop[row] - start[row]}"
        raise InputError(f"row {row}, document {doc_id!r}: the span {span} {word} {where}")


#: Metadata key that holds the name of the document, or a function from a chunk to that name.
DocumentName: TypeAlias = str | Callable[[Any], object] | None


def run_of_chunks(
    results: Mapping[Any, Iterable[Any]] | Iterable[Iterable[Any]], doc_id: DocumentName = None
) -> pd.DataFrame:
    """Make a run from the ranked chunks that were retrieved for each question.

    Each chunk is one of the following, or a pair of one of them and a score, which is ignored:

    - a dict with start_index, end_index and the document: the metadata of Chroma's chunking evaluation;
    - a document of LangChain: page_content, and metadata with start_index and the document. Create the
      splitter with ``add_start_index=True``;
    - a node of LlamaIndex, with or without a score: start_char_idx, end_char_idx and ref_doc_id.

    Args:
        results: the chunks by query_id, or a list of lists in the order of the questions. The query_ids of a
            list are its positions, from ``"0"``.
        doc_id: the key of the dict or of the metadata that names the document, or a function that takes a
            chunk and returns the name. By default ``'corpus_id'`` for dicts, ``'source'`` for documents of
            LangChain and ref_doc_id for nodes.

    Returns:
        A row per chunk with query_id, doc_id, score (minus the rank), start and length, in characters.

    Raises:
        InputError: a query has no list of chunks, or a chunk lacks its position or its document, or the
            position is invalid.

    Example:
        >>> from ir_graded import passages
        >>> passages.run_of_chunks([[{"corpus_id": "a.md", "start_index": 10, "end_index": 30}], []])
          query_id doc_id  score  start  length
        0        0   a.md   -1.0     10      20
    """
    if isinstance(results, Mapping):
        lists = {as_text(query_id): chunks for query_id, chunks in results.items()}
    elif not _is_list_of_chunks(results):
        raise InputError(f"expected {{query_id: list of chunks}}, found {short_repr(results)}")
    else:
        lists = {str(number): chunks for number, chunks in enumerate(results)}
    for query_id, chunks in lists.items():
        if not _is_list_of_chunks(chunks):
            hint = "" if isinstance(results, Mapping) else "; this looks like one list of chunks"
            raise InputError(
                f"expected {{query_id: list of chunks}}{hint}: for query {query_id!r}, {short_repr(chunks)} "
                "is given in place of a list"
            )
    rows = [
        (query_id, -float(rank), *_span(Node(chunk, f"query {query_id!r}, chunk {rank - 1}"), doc_id))
        for query_id, chunks in lists.items()
        for rank, chunk in enumerate(chunks, 1)
    ]
    frame = _frame(rows, ["query_id", "score", "doc_id", "start", "length"])
    return frame[["query_id", "doc_id", "score", "start", "length"]]


def chunk_table(chunks: Iterable[Any], doc_id: DocumentName = None) -> pd.DataFrame:
    """Make a table of all chunks of a corpus for ``precision_omega``.

    Args:
        chunks: dicts, documents or nodes, as :func:`run_of_chunks` takes them.
        doc_id: as for :func:`run_of_chunks`.

    Returns:
        A row per chunk with doc_id, start and length, in characters.

    Raises:
        InputError: a chunk lacks its position or its document, or the position is invalid.

    Example:
        >>> from ir_graded import passages
        >>> passages.chunk_table([{"corpus_id": "a.md", "start_index": 10, "end_index": 30}])
          doc_id  start  length
        0   a.md     10      20
    """
    if not _is_list_of_chunks(chunks):
        raise InputError(f"expected a list of chunks, found {short_repr(chunks)}")
    rows = [_span(Node(chunk, f"chunk {at}"), doc_id) for at, chunk in enumerate(chunks)]
    return _frame(rows, ["doc_id", "start", "length"])


def _is_list_of_chunks(given: Any) -> bool:
    """Return whether a value can be a list of chunks; a chunk or a chunk with its score is not one."""
    if isinstance(given, tuple) and any(isinstance(part, Real) for part in given):
        return False
    return (
        isinstance(given, Iterable)
        and not isinstance(given, (str, bytes, Mapping))
        and not any(hasattr(given, name) for name in ("page_content", "start_char_idx", "node"))
    )


def _frame(rows: list[Any], names: list[str]) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(rows, columns=names)
    whole = dict.fromkeys(("start", "length"), "int64")
    text = {name: "str" for name in ("query_id", "doc_id") if name in names}
    scores = {"score": "float64"} if "score" in names else {}
    return frame.astype({**whole, **text, **scores})


def _span(given: Node, name: DocumentName) -> tuple[str, int, int]:
    """Return document, start and length of a chunk."""
    chunk = given.value
    if isinstance(chunk, tuple) and len(chunk) == 2:  # noqa: PLR2004  # with its score
        chunk = chunk[0]
    chunk = getattr(chunk, "node", chunk)
    if isinstance(chunk, Mapping):
        metadata, own = Node(chunk, given.place), "corpus_id"
        start, length = indexed_span(metadata)
    elif hasattr(chunk, "page_content"):
        metadata, own = Node(chunk.metadata, f"{given.place}: metadata"), "source"
        at = metadata["start_index"]
        if at.value == -1:
            raise at.error("is -1: the splitter did not find the chunk in its text")
        start, length = at.whole(), len(chunk.page_content)
    elif hasattr(chunk, "start_char_idx"):
        ends = {"start": chunk.start_char_idx, "end": chunk.end_char_idx}
        if None in ends.values():
            raise given.error("is a node without start_char_idx or end_char_idx")
        start, length = indexed_span(Node({f"{end}_index": at for end, at in ends.items()}, given.place))
        metadata, own = Node({"ref_doc_id": chunk.ref_doc_id, **chunk.metadata}, given.place), "ref_doc_id"
    else:
        raise given.error(
            f"is {short_repr(chunk)}; it must be a dict with start_index and end_index, a document with "
            "page_content and metadata, or a node with start_char_idx and end_char_idx"
        )
    found = name(chunk) if callable(name) else metadata[own if name is None else name].value
    try:
        return as_text(found), start, length
    except InputError as error:
        raise given.error(f"names no document: {error}") from None


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
        raise InputError(SPAN.refusal("precision_omega", "qrels", judgments.hint))
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
    of_either = Spans.concat([gold, chosen]).union_length(articles)
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
        *("chunks", ([""] * size, doc_id, [0.0] * size), lambda row: f"row {row}", (start, length))
    )


def citations(qrels: Any, run: Any, separator: str = "#") -> pd.DataFrame:
    """Compute precision and recall of the citations in generated answers.

    A topic is a sentence, ``answer#sentence``. The run holds the spans that the sentence cites, in any order,
    and the qrels hold the spans that support it. Precision is the mean of ``CharP(overlap='once')`` over the
    sentences with a citation. Recall is the mean of CharR over the sentences with supporting text. This
    package defines these two means; they do not come from a paper.

    Args:
        qrels: supporting spans: qrels with passages.
        run: cited spans: a run with passages.
        separator: text between answer and sentence in a query_id; its last occurrence counts.

    Returns:
        A row per answer: answer, precision, recall, and the numbers of sentences in the two means, cited and
        supported. Precision or recall is 0 if its number of sentences is 0.

    Raises:
        InputError: an id has no separator, or qrels or run hold no passages.

    Example:
        >>> import pandas as pd
        >>> from ir_graded import passages
        >>> span = {"doc_id": "x", "start": 0, "length": 40}
        >>> qrels = pd.DataFrame({"query_id": ["a#1", "a#2"], "relevance": 1, **span})
        >>> run = pd.DataFrame({"query_id": ["a#1"], "score": 1.0, **span, "length": 50})
        >>> passages.citations(qrels, run)
          answer  precision  recall  cited  supported
        0      a        0.8     0.5      1          2
    """
    import pandas as pd

    judged = passage_table("citations", "qrels", qrels)
    cited_rows = passage_table("citations", "run", run)
    judgments = replace(prepare_qrels(judged), ranks_rows=True)
    views = Views(judgments.levels, match_run(judgments, cited_rows))
    precision, recall = (measure.score(views) for measure in (CharP(overlap="once"), CharR))
    supported = views.passages(1, None).R > 0
    cited = set(cited_rows.query_id.unique().to_list())
    found: dict[str, list[float]] = {}
    for number, name in enumerate(judgments.names):
        sums = found.setdefault(_answer(name, separator), [0.0, 0.0, 0, 0])
        if name in cited:
            sums[0] += precision[number]
            sums[2] += 1
        if supported[number]:
            sums[1] += recall[number]
            sums[3] += 1
    for name in sorted(cited - set(judgments.names)):
        found.setdefault(_answer(name, separator), [0.0, 0.0, 0, 0])[2] += 1
    table = np.array(list(found.values())).reshape(len(found), 4)
    counts = table[:, 2:].astype(np.int64)
    means = table[:, :2] / np.maximum(counts, 1)
    return pd.DataFrame(
        {
            "answer": pd.Series(list(found), dtype="str"),
            "precision": means[:, 0],
            "recall": means[:, 1],
            "cited": counts[:, 0],
            "supported": counts[:, 1],
        }
    )


def _answer(query_id: str, separator: str) -> str:
    answer, there, _ = query_id.rpartition(separator)
    if not there:
        raise InputError(f"topic {query_id!r} has no {separator!r} between an answer and a sentence")
    return answer
