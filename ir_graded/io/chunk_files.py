"""Read files of chunk benchmarks; errors name the place in the JSON document."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, NamedTuple

from ir_graded.errors import InputError, short_repr


class ChunkRow(NamedTuple):
    """A span of a document, and its place in the file."""

    query_id: str
    doc_id: str
    value: float
    start: int
    length: int
    place: str


@dataclass(frozen=True)
class Node:
    """A value in a nested structure of dicts and lists.

    Attributes:
        value: the value.
        place: the path to it, such as ``tests[3].snippets[0].span``.
    """

    value: Any
    place: str = ""

    def __getitem__(self, key: str) -> Node:
        if not isinstance(self.value, Mapping):
            raise self.error(f"is {short_repr(self.value)}; expected an object with {key!r}")
        if key not in self.value:
            raise self.error(f"has no {key!r}")
        return Node(self.value[key], f"{self.place}.{key}".lstrip("."))

    def __contains__(self, key: str) -> bool:
        return isinstance(self.value, Mapping) and key in self.value

    def __iter__(self) -> Iterator[Node]:
        if isinstance(self.value, (str, bytes)) or not isinstance(self.value, Sequence):
            raise self.error(f"is {short_repr(self.value)}; expected a list")
        return (Node(value, f"{self.place}[{at}]") for at, value in enumerate(self.value))

    def text(self) -> str:
        """Return the value as an id."""
        if not isinstance(self.value, str):
            raise self.error(f"is {short_repr(self.value)}; expected text")
        return self.value

    def whole(self) -> int:
        """Return the value as a position."""
        try:
            if isinstance(self.value, bool):
                raise TypeError
            number = index(self.value)
        except TypeError:
            raise self.error(f"is {short_repr(self.value)}; expected a whole number") from None
        if number < 0:
            raise self.error(f"is {short_repr(number)}; it must not be negative")
        return number

    def error(self, problem: str) -> InputError:
        """Return an error about the value that names its place."""
        return InputError(f"{self.place or 'the document'} {problem}")


def span_between(first: Node, last: Node, whole: Node) -> tuple[int, int]:
    """Return start and length of a span from its ends."""
    start, stop = first.whole(), last.whole()
    if stop < start:
        raise whole.error(f"ends at {stop}, before its start {start}")
    return start, stop - start


def indexed_span(node: Node) -> tuple[int, int]:
    """Return start and length of the span between ``start_index`` and ``end_index``."""
    return span_between(node["start_index"], node["end_index"], node)


def _snippet(node: Node) -> tuple[str, int, int]:
    """Return document, start and length of a snippet of LegalBench-RAG."""
    span = node["span"]
    ends = list(span)
    if len(ends) != 2:  # noqa: PLR2004  # start and end
        raise span.error(f"is {short_repr(span.value)}; expected [start, end]")
    return node["file_path"].text(), *span_between(ends[0], ends[1], span)


def _loaded(data: bytes, place: str = "") -> Node:
    try:
        return Node(json.loads(data), place)
    except RecursionError:
        raise InputError("the JSON is too deeply nested") from None
    except ValueError as error:
        raise InputError(f"not a document in JSON: {error}") from None


def legalbench_qrels(data: bytes) -> Iterator[ChunkRow]:
    """Yield the snippets of the tests in a benchmark of LegalBench-RAG, or in its results."""
    document = _loaded(data)
    if "qa_result_list" in document:
        tests = [result["qa_gt"] for result in document["qa_result_list"]]
    else:
        tests = list(document["tests"])
    for number, test in enumerate(tests):
        snippets = list(test["snippets"])
        for snippet in snippets:
            doc_id, start, length = _snippet(snippet)
            yield ChunkRow(str(number), doc_id, 1.0, start, length, snippet.place)
        if not snippets:
            # A row at level 0 keeps the topic, which scores 0, in means.
            yield ChunkRow(str(number), "", 0.0, 0, 0, test.place)


def legalbench_run(data: bytes) -> Iterator[ChunkRow]:
    """Yield the snippets retrieved in results of LegalBench-RAG; their order is the ranking."""
    for number, result in enumerate(_loaded(data)["qa_result_list"]):
        for rank, snippet in enumerate(result["retrieved_snippets"], 1):
            doc_id, start, length = _snippet(snippet)
            yield ChunkRow(str(number), doc_id, -float(rank), start, length, snippet.place)


_QUESTIONS = ("question", "references", "corpus_id")


def chroma_qrels(data: bytes) -> Iterator[ChunkRow]:
    """Yield the references of the questions of Chroma's chunking evaluation, from ``questions_df.csv``."""
    import polars as pl

    try:
        table = pl.read_csv(io.BytesIO(data), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"not a CSV file: {error}") from None
    missing = [name for name in _QUESTIONS if name not in table.columns]
    if missing:
        raise InputError(
            f"the CSV file has no column {', '.join(missing)}; it has {', '.join(table.columns)}"
        )
    for number, (references, corpus) in enumerate(table.select(_QUESTIONS[1:]).iter_rows()):
        place = f"question {number}: references"
        doc_id = Node(corpus, f"question {number}: corpus_id").text()
        found = list(_loaded((references or "").encode(), place))
        for reference in found:
            yield ChunkRow(str(number), doc_id, 1.0, *indexed_span(reference), reference.place)
        if not found:
            yield ChunkRow(str(number), doc_id, 0.0, 0, 0, place)


@dataclass(frozen=True)
class DocumentFormat:
    """A format that is read as a whole, and only if the caller names it.

    Attributes:
        name: value of ``format=``.
        kind: "run" or "qrels".
        rows: function that yields the rows of a file, or raises InputError.
        keys: keys of JSON documents in this format, of which each document has at least one.
    """

    name: str
    kind: str
    rows: Callable[[bytes], Iterator[ChunkRow]]
    keys: frozenset[str] = frozenset()


DOCUMENTS = (
    DocumentFormat("legalbench", "qrels", legalbench_qrels, frozenset({"tests", "qa_result_list"})),
    DocumentFormat("legalbench", "run", legalbench_run, frozenset({"qa_result_list"})),
    DocumentFormat("chroma", "qrels", chroma_qrels),
)
