"""Convert chunks of other libraries, recognised by their attributes, to runs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace
from functools import cache
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ir_graded.core.passages import Spans
from ir_graded.core.segments import Floats, count, whole_total
from ir_graded.core.views import Views
from ir_graded.errors import CoverageWarning, InputError, format_ids, short_repr
from ir_graded.io.records import Node, indexed_span
from ir_graded.io.sources import passage_table, qrels_frame
from ir_graded.io.table import column_names, from_columns
from ir_graded.io.values import as_text
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import match_run, prepare_qrels
from ir_graded.measures.base import safe_divide
from ir_graded.measures.passages import CharP, CharR

if TYPE_CHECKING:
    import pandas as pd


#: The text of each document, as str or in bytes of UTF-8, by doc_id.
Texts: TypeAlias = Mapping[str, str | bytes] | Callable[[str], str | bytes]
_TYPES = {"doc_id": "str", "start": "int64", "length": "int64"}


def to_characters(table: pd.DataFrame, texts: Texts) -> pd.DataFrame:
    """Convert spans that count bytes of UTF-8 to spans that count characters (Unicode code points).

    Args:
        table: qrels or a run with doc_id, start and length.
        texts: the text of each document, str or bytes of UTF-8: a mapping from doc_id or a function of it.

    Raises:
        InputError: a span ends inside a character or after its text, or a text or a column is missing.

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
    _check_columns("table", table)
    start = table["start"].to_numpy(dtype=np.int64, copy=True)
    stop = start + table["length"].to_numpy(dtype=np.int64)
    for doc_id, rows in table.groupby("doc_id", sort=False).indices.items():
        text = text_of(texts, str(doc_id), str, bytes)
        text = text.encode() if isinstance(text, str) else text
        # Bytes 10xxxxxx continue a character.
        begins = np.append((np.frombuffer(text, dtype=np.uint8) & 0xC0) != 0x80, True)  # noqa: PLR2004
        number = np.cumsum(begins) - 1
        for ends, word in ((start, "begins"), (stop, "ends")):
            places = ends[rows]
            inside = (places >= 0) & (places < number.size)
            known = np.where(inside, places, 0)
            found, wrong = number[known], ~(inside & begins[known])
            if wrong.any():
                at = int(np.argmax(wrong))
                span = ":".join(str(table[name].iloc[rows[at]]) for name in ("start", "length"))
                where = "inside a character" if inside[at] else f"after the text of {len(text)} bytes"
                raise InputError(f"row {rows[at]}, document {str(doc_id)!r}: the span {span} {word} {where}")
            ends[rows] = found
    return table.assign(start=start, length=stop - start)


def text_of(texts: Any, doc_id: str, *kinds: type[Any]) -> Any:
    """Return the text of a document. Raises InputError if it is missing or of another kind."""
    try:
        text = texts(doc_id) if callable(texts) else texts[doc_id]
    except KeyError:
        raise InputError(f"texts lack document {doc_id!r}") from None
    except TypeError:
        if callable(texts):
            raise
        raise InputError(
            f"texts are {short_repr(texts)}; they must be a mapping from doc_id to text, or a function of a "
            "doc_id"
        ) from None
    if not isinstance(text, kinds):
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise InputError(f"texts: document {doc_id!r} is {short_repr(text)}; it must be a {expected}")
    return text


def _check_columns(name: str, table: Any) -> None:
    """Raise InputError for a table without the columns doc_id, start and length."""
    present = column_names(table)
    if missing := [column for column in _TYPES if column not in present]:
        raise InputError(f"{name}: expected a table with {', '.join(_TYPES)}; it lacks {', '.join(missing)}")


#: Metadata key that holds the name of the document, or a function from a chunk to that name.
DocumentName: TypeAlias = str | Callable[[Any], object] | None


def run_of_chunks(
    results: Mapping[Any, Iterable[Any]] | Iterable[Iterable[Any]],
    doc_id: DocumentName = None,
    *,
    tokens: Callable[[str], int] | None = None,
) -> pd.DataFrame:
    """Make a run from the ranked chunks that were retrieved for each question.

    Each chunk is one of the following, or a pair of one of them and a score, which is ignored:

    - a dict with start_index, end_index and the document: the metadata of Chroma's chunking evaluation;
    - a dict with start, length and the document, such as the ``_source`` of a hit of a search engine;
    - a document of LangChain: page_content, and metadata with start_index and the document. Create the
      splitter with ``add_start_index=True``;
    - a node of LlamaIndex, with or without a score: start_char_idx, end_char_idx and ref_doc_id.

    Args:
        results: the chunks by query_id, or a list of lists, whose query_ids are the positions from ``"0"``.
        doc_id: the key of the dict or of the metadata that names the document, or a function that takes a
            chunk and returns the name. By default ``'corpus_id'`` or ``'doc_id'`` for dicts, ``'source'`` for
            documents of LangChain and ref_doc_id for nodes.
        tokens: a function that counts the tokens of a text; adds the column tokens with those of the chunk
            (page_content of a document, text of a node; text, content or page_content of a dict), for
            measures with ``unit='tokens'``.

    Returns:
        A row per chunk with query_id, doc_id, score (minus the rank), start and length, in characters.

    Raises:
        InputError: a query has no list of chunks, or a chunk no valid position or no document; with
            ``tokens``, a chunk has no text, or its number of tokens is not a whole number >= 0.

    Example:
        >>> from ir_graded import passages
        >>> passages.run_of_chunks([[{"corpus_id": "a.md", "start_index": 10, "end_index": 30}], []])
          query_id doc_id  score  start  length
        0        0   a.md   -1.0     10      20
    """
    import pandas as pd

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
    nodes = [
        (query_id, -float(rank), Node(chunk, f"query {query_id!r}, chunk {rank - 1}"))
        for query_id, chunks in lists.items()
        for rank, chunk in enumerate(chunks, 1)
    ]
    rows = [(query_id, score, *_span(node, doc_id)) for query_id, score, node in nodes]
    frame = pd.DataFrame(rows, columns=["query_id", "score", *_TYPES])
    types = {"query_id": "str", "score": "float64", **_TYPES}
    frame = frame.astype(types)[["query_id", "doc_id", "score", "start", "length"]]
    if tokens is not None:
        frame["tokens"] = np.array(
            [_tokens(tokens, _text(node), node.place) for *_, node in nodes], dtype=np.int64
        )
    return frame


def with_tokens(run: Any, texts: Texts, count: Callable[[str], int], name: str = "tokens") -> pd.DataFrame:
    """Add a column with the number of tokens in the text of each row to a run with passages.

    Measures with a budget in tokens need it: ``CharR(budget=2000,unit='tokens')``.

    Args:
        run: a run with passages in any form.
        texts: the text of each document, as str: a mapping from doc_id or a function of it.
        count: a function that counts the tokens of a text, such as ``lambda text: len(encode(text))``; it is
            called once for each different text.
        name: name of the column.

    Returns:
        A copy of the run as a frame with its further columns and the new one.

    Raises:
        InputError: a text is missing, a passage ends behind its text, or a number of tokens is not a whole
            number >= 0.
        ValueError: the run has a column of this name.

    Example:
        >>> import pandas as pd
        >>> from ir_graded import passages
        >>> run = pd.DataFrame({"query_id": ["1"], "doc_id": "a", "score": 1.0, "start": 0, "length": 10})
        >>> passages.with_tokens(run, {"a": "Pay within 14 days."}, lambda text: len(text.split()))
          query_id doc_id  score  start  length  tokens
        0        1      a    1.0      0      10       2
    """
    table = passage_table("with_tokens", "run", run)
    assert table.passage is not None  # noqa: S101  # for the type checker
    text_by_id, counted = cache(lambda doc_id: text_of(texts, doc_id, str)), cache(count)
    found = []
    spans = zip(table.doc_id, table.passage.start.astype(int), table.passage.length.astype(int), strict=True)
    for row, (doc_id, start, length) in enumerate(spans):
        text = text_by_id(doc_id)
        if start + length > len(text):
            raise InputError(
                f"{table.in_kind(row)}: the passage {start}:{length} ends after the text of {len(text)} "
                "characters"
            )
        found.append(_tokens(counted, text[start : start + length], table.in_kind(row)))
    frame = qrels_frame(run if hasattr(run, "iloc") else table)
    frame.insert(len(frame.columns), name, np.array(found, dtype=np.int64))
    return frame


def _tokens(count: Callable[[str], int], text: str, place: str) -> int:
    """Return the number of tokens in a text. Raises InputError if it is not a whole number >= 0."""
    return Node(count(text), f"{place}: the number of tokens").whole()


def _text(given: Node) -> str:
    """Return the text of a chunk."""
    chunk = _chunk(given)
    for key in ("page_content", "text", "content"):
        text = chunk.get(key) if isinstance(chunk, Mapping) else getattr(chunk, key, None)
        if isinstance(text, str):
            return text
    raise given.error(
        "has no text whose tokens could be counted: add it to the dict as 'text', or make the run without "
        "tokens and call passages.with_tokens(run, texts, count)"
    )


def chunk_table(chunks: Iterable[Any], doc_id: DocumentName = None) -> pd.DataFrame:
    """Make a table of all chunks for ``precision_omega``: doc_id, start and length, in characters.

    Args:
        chunks: dicts, documents or nodes, as for :func:`run_of_chunks`.
        doc_id: as for :func:`run_of_chunks`.

    Raises:
        InputError: a chunk has no valid position or no document.

    Example:
        >>> from ir_graded import passages
        >>> passages.chunk_table([{"corpus_id": "a.md", "start_index": 10, "end_index": 30}])
          doc_id  start  length
        0   a.md     10      20
    """
    import pandas as pd

    if not _is_list_of_chunks(chunks):
        raise InputError(f"expected a list of chunks, found {short_repr(chunks)}")
    rows = [_span(Node(chunk, f"chunk {at}"), doc_id) for at, chunk in enumerate(chunks)]
    return pd.DataFrame(rows, columns=list(_TYPES)).astype(_TYPES)


def _is_list_of_chunks(given: Any) -> bool:
    """Return whether a value can be a list of chunks; a chunk or a chunk with its score is not one."""
    single = isinstance(given, (str, bytes, Mapping))
    single |= any(hasattr(given, name) for name in ("page_content", "start_char_idx", "node"))
    single |= isinstance(given, tuple) and any(isinstance(part, Real) for part in given)
    return isinstance(given, Iterable) and not single


def _chunk(given: Node) -> Any:
    """Return a chunk without its score."""
    chunk = given.value
    if isinstance(chunk, tuple) and len(chunk) == 2:  # noqa: PLR2004
        chunk = chunk[0]
    return getattr(chunk, "node", chunk)


def _span(given: Node, name: DocumentName) -> tuple[str, int, int]:
    """Return document, start and length of a chunk."""
    chunk = _chunk(given)
    if isinstance(chunk, Mapping):
        metadata = Node(chunk, given.place)
        own = "doc_id" if "doc_id" in chunk and "corpus_id" not in chunk else "corpus_id"
        if "start_index" in chunk or "end_index" in chunk:
            start, length = indexed_span(metadata)
        elif "start" in chunk and "length" in chunk:
            start, length = metadata["start"].whole(), metadata["length"].whole()
        else:
            keys = ", ".join(map(short_repr, chunk)) or "none"
            raise metadata.error(
                f"needs start_index and end_index, or start and length; the keys found are {keys}"
            )
    elif hasattr(chunk, "page_content"):
        metadata, own = Node(chunk.metadata, f"{given.place}: metadata"), "source"
        at = metadata["start_index"]
        if at.value == -1:
            raise at.error("is -1: the splitter did not find the chunk in its text")
        start, length = at.whole(), len(chunk.page_content)
    elif hasattr(chunk, "start_char_idx"):
        ends = {"start_index": chunk.start_char_idx, "end_index": chunk.end_char_idx}
        if None in ends.values():
            raise given.error("is a node without start_char_idx or end_char_idx")
        start, length = indexed_span(Node(ends, given.place))
        metadata, own = Node({"ref_doc_id": chunk.ref_doc_id, **chunk.metadata}, given.place), "ref_doc_id"
    else:
        raise given.error(
            f"is {short_repr(chunk)}; it must be a dict with start_index and end_index, or start and "
            "length, a document with page_content and metadata, or a node with start_char_idx and "
            "end_char_idx"
        )
    key = own if name is None else name
    if not callable(key) and key not in metadata:
        keys = ", ".join(map(short_repr, metadata.value)) or "none"
        raise metadata.error(f"has no {key!r}; name the key by doc_id=; the keys found are {keys}")
    found = key(chunk) if callable(key) else metadata[key].value
    try:
        return as_text(found), start, length
    except InputError as error:
        raise given.error(f"names no document: {error}") from None


def precision_omega(qrels: Any, chunks: Any, *, rel: float = 1, touching: bool = False) -> pd.DataFrame:
    """Compute the IoU of retrieving every chunk that contains gold text, per topic.

    ``precision_omega = characters both in T and highlighted / characters in T or highlighted``, where T are
    the chunks that share a character with a highlighted span; 0 if T is empty. It can rise if chunks
    with little gold text are left out.

    Args:
        qrels: qrels with passages in any form.
        chunks: a table of all chunks, with doc_id, start and length.
        rel: lowest relevant level.
        touching: whether T also contains chunks that only touch a span, as in Chroma's evaluation.

    Returns:
        A row per topic of the qrels: query_id, precision_omega and, with ``touching``, the number of chunks.

    Raises:
        InputError: the qrels hold no passages, or the chunks lack a column or hold an invalid position.

    Warns:
        CoverageWarning: a topic has no highlighted text, or a document with highlighted text has no chunk.

    Source: Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (Chroma, 2024).

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

    judgments = prepare_qrels(passage_table("precision_omega", "qrels", qrels))
    levels, highlights = judgments.levels, judgments.levels.highlights
    assert highlights is not None  # noqa: S101  # for the type checker
    gold = highlights.spans[highlights.level >= rel]
    _check_columns("chunks", chunks)
    doc_id, *of_spans = (chunks[name] for name in _TYPES)
    size = len(doc_id)
    columns = [""] * size, doc_id, [0.0] * size
    table = from_columns("chunks", columns, lambda row: f"row {row}", of_spans)
    code = {name: number for number, name in enumerate(dict.fromkeys(table.doc_id.to_list()))}
    _warn(judgments, gold, code, rel)
    document = np.array([code.get(name, -1) for name in judgments.doc_ids], dtype=np.int64)
    of_chunk = np.array([code[name] for name in table.doc_id.to_list()], dtype=np.int64)
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
    found: dict[str, Any] = {"query_id": judgments.query_ids, "precision_omega": safe_divide(both, either)}
    if touching:
        found["chunks"] = count(levels.topic[pairs[0]], levels.topics)
    return pd.DataFrame(found)


def _warn(judgments: Judgments, gold: Spans, chunked: Container[str], rel: float) -> None:
    """Issue a CoverageWarning about topics without gold text and about gold documents without chunks."""
    highlighted = np.unique(gold.article[gold.stop > gold.start]).tolist()
    doc_ids = dict.fromkeys(judgments.doc_ids[number] for number in highlighted)
    notes = [judgments.note_on_text(rel)]
    if unchunked := [doc_id for doc_id in doc_ids if doc_id not in chunked]:
        documents = "1 document has" if len(unchunked) == 1 else f"{len(unchunked)} documents have"
        notes.append(
            f"{documents} highlighted text but no chunk: {format_ids(unchunked)}; check that the doc_ids "
            "of the chunks are those of the qrels."
        )
    if text := " ".join(filter(None, notes)):
        warnings.warn(text, CoverageWarning, stacklevel=3)


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
        A row per answer: answer, precision, recall, and the numbers of sentences in these means, cited and
        supported; a mean of no sentences is 0.

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
    cited_ids = set(cited_rows.query_id.to_list())
    unjudged = sorted(cited_ids - set(judgments.names))
    precision, recall, supported = (np.pad(v, (0, len(unjudged))) for v in (precision, recall, supported))
    sentences = [*judgments.names, *unjudged]
    cited = np.array([sentence in cited_ids for sentence in sentences], dtype=np.bool_)
    answers = []
    for sentence in sentences:
        answer, there, _ = sentence.rpartition(separator)
        if not there:
            raise InputError(f"topic {sentence!r} has no {separator!r} between an answer and a sentence")
        answers.append(answer)
    number = {answer: at for at, answer in enumerate(dict.fromkeys(answers))}
    of_answer = np.array([number[answer] for answer in answers], dtype=np.int64)

    def total(values: Any) -> Floats:
        return np.bincount(of_answer, values, len(number)).astype(np.float64)

    return pd.DataFrame(
        {
            "answer": pd.Series(list(number), dtype="str"),
            "precision": total(precision * cited) / np.maximum(total(cited), 1),
            "recall": total(recall * supported) / np.maximum(total(supported), 1),
            "cited": total(cited).astype(np.int64),
            "supported": total(supported).astype(np.int64),
        }
    )
