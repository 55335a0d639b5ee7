"""Citations of the sentences of answers, with labels of support: JSON Lines of TREC RAG, and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ir_graded.errors import InputError, short_repr

from .assignments import Part, error_at, parts_of
from .records import Node
from .table import as_strings
from .values import as_text, is_missing

#: Weights of labels in lower case, with blanks between words.
_SUPPORT = {"fs": 1.0, "full support": 1.0, "ps": 0.5, "partial support": 0.5, "ns": 0.0, "no support": 0.0}
_NEEDS = {True: True, False: False, "true": True, "false": False}


class Citations(NamedTuple):
    """Weights of the citations of each sentence that needs one, by (run, topic), and notes for a warning."""

    answers: dict[tuple[str, str], list[list[float]]]
    notes: tuple[str, ...]


class _Row(NamedTuple):
    """A citation of a sentence, or a sentence without one (doc_id None)."""

    answer: tuple[str, str]
    sentence: str
    doc_id: str | None
    support: Any
    needs: Any
    place: str


def read_citations(source: Any) -> Citations:
    """Return the citations in a file, table, list or mapping from names of runs.

    Raises:
        InputError: an unknown label, a document twice in a sentence, or an answer on two lines.
        FileFormatError: a line of a file cannot be read.
    """
    found: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    missing: list[str] = []
    citations = 0
    for part in parts_of("citations", source, "support_eval"):
        rows = _of_table(part) if part.names is not None else _of_objects(part, found)
        for row in rows:
            sentences = found.setdefault(row.answer, {})
            if not _needs_citation(row):
                continue
            cited = sentences.setdefault(row.sentence, {})
            if row.doc_id is None:
                continue
            if row.doc_id in cited:
                raise _error(row, f"document {row.doc_id!r} appears twice")
            citations += 1
            if is_missing(row.support) or row.support == "":
                missing.append(row.place)
            cited[row.doc_id] = _weight(row)
    if not found:
        raise InputError("citations: there is no answer")
    note = (
        f"{len(missing)} of {citations} citations have no label and count 0, the first at {missing[0]}."
        if missing
        else ""
    )
    answers = {key: [[*one.values()] for one in sentences.values()] for key, sentences in found.items()}
    return Citations(answers, (note,) if note else ())


def _error(row: _Row, problem: str) -> InputError:
    run, topic = row.answer
    return error_at(row.place, f"run {run!r}, topic {topic!r}, sentence {row.sentence!r}: {problem}")


def _weight(row: _Row) -> float:
    if is_missing(row.support) or row.support == "":
        return 0.0
    label = re.sub(r"[\s_-]+", " ", row.support.strip().casefold()) if isinstance(row.support, str) else ""
    if label not in _SUPPORT:
        raise _error(row, f"the support is {short_repr(row.support)}; it must be FS, PS or NS")
    return _SUPPORT[label]


def _needs_citation(row: _Row) -> bool:
    given = row.needs.casefold() if isinstance(row.needs, str) else row.needs
    if is_missing(given):
        return True
    if given not in _NEEDS:
        raise _error(row, f"needs_citation is {short_repr(row.needs)}; it must be true or false")
    return _NEEDS[given]


def _of_table(part: Part) -> Iterator[_Row]:
    names = ["query_id", "sentence", "doc_id", "support"]
    names += ["needs_citation"] if "needs_citation" in (part.names or ()) else []
    columns = part.columns("citations", names, runs=True)
    documents = as_strings(columns["doc_id"], "citations: doc_id").to_list()
    needs = columns.get("needs_citation", [True] * len(documents))
    rows = zip(
        columns["run"],
        columns["query_id"],
        columns["sentence"],
        documents,
        columns["support"],
        needs,
        strict=True,
    )
    for at, (run, topic, sentence, doc_id, support, needed) in enumerate(rows):
        yield _Row((run, topic), sentence, doc_id, support, needed, part.place(at))


def _of_objects(part: Part, found: dict[tuple[str, str], dict[str, dict[str, float]]]) -> Iterator[_Row]:
    for place, record in part.objects:
        try:
            node = Node(record)
            topic = as_text(node["topic_id" if "topic_id" in node else "qid"].value)
            answer = part.run_of(record), topic
            sentences = [*node["support_eval"]]
            listed = [_cited(sentence) for sentence in sentences]
        except InputError as error:
            raise error_at(place, error) from None
        if answer in found:
            raise InputError(f"{place}: run {answer[0]!r}, topic {topic!r} appears twice")
        found[answer] = {}
        for at, (sentence, cited) in enumerate(zip(sentences, listed, strict=True)):
            needs = sentence.value.get("needs_citation", True)
            if not cited:
                yield _Row(answer, str(at), None, None, needs, place)
            for doc_id, support in cited:
                yield _Row(answer, str(at), doc_id, support.value, needs, f"{place}: {support.place}")


def _cited(sentence: Node) -> list[tuple[str, Node]]:
    """Return the documents that a sentence cites, with their labels."""
    documents, labels = [*sentence["citations"]], [*sentence["eval_scores"]]
    if len(documents) != len(labels):
        raise sentence.error(f"has {len(documents)} citations and {len(labels)} eval_scores")
    return [(as_text(document.value), label) for document, label in zip(documents, labels, strict=True)]
