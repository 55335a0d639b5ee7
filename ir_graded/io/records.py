"""Read JSON of records, of search engines and of chunking benchmarks."""

from __future__ import annotations

import io
import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import index
from typing import Any, NamedTuple

from ir_graded.core.facets import is_record
from ir_graded.core.struct import light_dataclass
from ir_graded.errors import CoverageWarning, FileFormatError, InputError, short_repr

from .values import as_text

#: Orders of documents with equal scores by the rows of a run: by their ranks, and as they are.
ROW_ORDERS = ("rank", "given")


class Options(NamedTuple):
    """How a source is read.

    Attributes:
        path: the file that an object was read from as JSON; empty for an object of the caller.
        format: name of the format of a file; None to recognise it.
        query_ids: topics of responses or lists that do not name theirs.
        duplicates: which row of a repeated document counts, 'first' or 'best'; 'raise' raises InputError.
        ignore_identical_ids: whether a run is read without documents whose id is that of their topic.
        ties: one of ``ROW_ORDERS`` for a run whose documents with equal scores are in this order; else empty.
    """

    path: str = ""
    format: str | None = None
    query_ids: Sequence[Any] | None = None
    duplicates: str = "raise"
    ignore_identical_ids: bool = False
    ties: str = ""

    def at(self, place: str) -> str:
        """Return a place with the path of the file."""
        return ", ".join(filter(None, (self.path, place)))

    def item(self, row: int) -> str:
        """Return the place of an item of a list."""
        return self.at(f"item {row}")

    def error(self, kind: str, problem: object) -> InputError:
        """Return the error about an object or the content of a file."""
        return FileFormatError(f"{self.path}: {problem}") if self.path else InputError(f"{kind}: {problem}")


class ChunkRow(NamedTuple):
    """A span of a document, and its place in the file."""

    query_id: str
    doc_id: str
    value: float
    start: int
    length: int
    place: str


@light_dataclass(frozen=True, eq=False)
class Node:
    """A value in nested dicts and lists, and its path, such as ``tests[3].snippets[0].span``."""

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
    except (pl.exceptions.PolarsError, OSError) as error:  # it may take the text for compressed data
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


class NuggetRow(NamedTuple):
    """A nugget and how far a document supports it, and its place in the file."""

    query_id: str
    doc_id: str
    value: float
    iteration: str
    importance: str
    place: str


#: Levels of the labels of nuggetizer.
_SUPPORT = {"support": 2.0, "partial_support": 1.0, "not_support": 0.0}


def nuggetizer_qrels(data: bytes) -> Iterator[NuggetRow]:
    """Yield the nuggets of each document in the output of nuggetizer for retrieval, a document a line."""
    lines: dict[tuple[str, str], int] = {}
    importances: dict[tuple[str, str], tuple[str, str]] = {}
    others: list[str] = []
    for line, raw in enumerate(io.BytesIO(data), 1):
        if raw.isspace():
            continue
        try:
            record = _loaded(raw.rstrip())
            topic, doc_id = (as_text(record[key].value) for key in ("qid", "docid"))
            if (other := lines.setdefault((topic, doc_id), line)) != line:
                raise InputError(f"topic {topic!r}, document {doc_id!r} appears twice, first at line {other}")
            nuggets = [*record["nuggets"]]
            names = distinct_names([nugget["text"].text() for nugget in nuggets])
            for name, nugget in zip(names, nuggets, strict=True):
                importance, label = (nugget[key].text().strip() for key in ("importance", "assignment"))
                place = f"line {line}: {nugget.place}"
                given, first = importances.setdefault((topic, name), (importance, place))
                if given.casefold() != importance.casefold():
                    raise nugget.error(f"has the importance {importance!r}, but {given!r} at {first}")
                if label.casefold() not in _SUPPORT:
                    others.append(f"{label!r} ({place})")
                level = _SUPPORT.get(label.casefold(), 0.0)
                yield NuggetRow(topic, doc_id, level, name, importance, place)
        except InputError as error:
            raise InputError(f"line {line}: {error}") from None
    if others:
        text = f"{len(others)} assignments are other than {', '.join(_SUPPORT)}, the first {others[0]}"
        warnings.warn(f"{text}; they count as not_support.", CoverageWarning, stacklevel=2)


def distinct_names(texts: list[str]) -> list[str]:
    """Return texts with a number behind each that is not the first: ``text #2``, ``text #3``.

    Raises InputError if this is the text of another nugget.
    """
    taken = set(texts)
    if len(taken) == len(texts):
        return texts
    times: Counter[str] = Counter()
    found = []
    for text in texts:
        times[text] += 1
        name = text if times[text] == 1 else f"{text} #{times[text]}"
        if name != text and name in taken:
            raise InputError(
                f"nugget {short_repr(text)} is repeated, and another nugget has the name of its repetition, "
                f"{short_repr(name)}"
            )
        found.append(name)
    return found


@light_dataclass(frozen=True, eq=False)
class DocumentFormat:
    """A format that is read as a whole, and only if the caller names it.

    Attributes:
        name: value of ``format=``.
        kind: "run" or "qrels".
        rows: function that yields the rows of a file, or raises InputError.
        keys: keys of JSON documents in this format, of which each document has at least one.
        row: type of the rows.
    """

    name: str
    kind: str
    rows: Callable[[bytes], Iterator[ChunkRow | NuggetRow]]
    keys: frozenset[str] = frozenset()
    row: type[ChunkRow | NuggetRow] = ChunkRow


DOCUMENTS = (
    DocumentFormat("legalbench", "qrels", legalbench_qrels, frozenset({"tests", "qa_result_list"})),
    DocumentFormat("legalbench", "run", legalbench_run, frozenset({"qa_result_list"})),
    DocumentFormat("chroma", "qrels", chroma_qrels),
    DocumentFormat("nuggetizer", "qrels", nuggetizer_qrels, frozenset({"candidate_text"}), NuggetRow),
)


def read_json(data: bytes, path: str) -> Any:
    """Return the value of JSON; of JSON Lines, a list. Raises FileFormatError if it cannot be read."""
    try:
        try:
            content = json.loads(data, object_pairs_hook=_object)
        except json.JSONDecodeError as error:
            if not error.msg.startswith("Extra data"):
                raise
            return [*_json_lines(data)]
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path}: looks like JSON but cannot be read: {error}") from None
    # JSON Lines with one record; in the columns of a frame, all values are nested.
    is_line = is_record(content) and not all(isinstance(value, (Mapping, list)) for value in content.values())
    return [content] if is_line else content


def _json_lines(data: bytes) -> Iterator[Any]:
    """Yield the values of JSON Lines. Raises ValueError that names the line."""
    decoder = json.JSONDecoder(object_pairs_hook=_object)  # json.loads would create one per line
    for line, raw in enumerate(io.BytesIO(data), 1):
        try:
            if raw.strip():
                yield decoder.decode(raw.rstrip().decode())
        except json.JSONDecodeError as error:
            raise ValueError(f"line {line}, column {error.colno}: {error.msg}") from None
        except ValueError as error:
            raise ValueError(f"line {line}: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON. Raises ValueError for a repeated key, of which json would keep the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise ValueError(f"the key {short_repr(twice)} appears twice in an object")
    return found
