"""Convert chunks of other libraries to runs: dicts, documents of LangChain and nodes of LlamaIndex.

The libraries are not imported: objects are recognised by their attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

from ir_graded.errors import InputError, short_repr
from ir_graded.io.chunk_files import Node, indexed_span
from ir_graded.io.ids import as_text

if TYPE_CHECKING:
    import pandas as pd

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
