"""Guard of pytrec_eval: one thread at a time, and no input that makes it crash.

pytrec_eval 0.5.11 keeps its intermediate results in C variables that all its evaluators share. It holds
Python's global lock, but when it creates Python objects the garbage collector may run Python code (a callback
of ``gc``, a finaliser). Another thread may then enter and free the memory that the first one uses. Some
levels and ids make it read beyond its memory.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from ir_graded.errors import GradedError, InputError, short_repr

#: Prefix of each topic, because pytrec_eval misreads a topic named 'no_query' as its cached one.
_TOPIC = "topic "
#: Document for topics without documents; no file can contain it, because it has a blank.
_NO_DOCUMENT = "no document"

#: Re-entrant, so that a thread that enters again gets an error instead of waiting for itself.
_LOCK = threading.RLock()
if hasattr(os, "register_at_fork"):
    # Fork only while no thread is inside, because the child process inherits the variables of pytrec_eval.
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


class RelevanceEvaluator:
    """Thread-safe replacement of pytrec_eval's evaluator of the same name.

    Rows with a level below 0 are left out, because in a topic with only such rows pytrec_eval reads
    uninitialised memory. Such a topic scores like a topic without relevant documents.
    """

    #: Whether a thread is inside pytrec_eval; read and written by the thread that has the lock.
    inside: ClassVar[bool] = False

    def __init__(
        self, qrels: Mapping[str, Mapping[str, Any]], measures: Iterable[str], **options: Any
    ) -> None:
        self._qrels = _named("qrels", {topic: _rows(topic, docs) for topic, docs in qrels.items()})
        self._measures, self._options = list(measures), options

    def evaluate(self, run: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Return the value of each measure for each topic of the run that is in the qrels."""
        import pytrec_eval

        rows = _named("run", run)
        with _LOCK:
            if RelevanceEvaluator.inside:
                raise GradedError(
                    "this thread is already inside pytrec_eval, which cannot be entered twice; do not "
                    "evaluate in a finaliser, a gc callback or a signal handler that may run meanwhile"
                )
            RelevanceEvaluator.inside = True
            try:
                # Created and destroyed while no other thread is inside.
                found = pytrec_eval.RelevanceEvaluator(self._qrels, self._measures, **self._options).evaluate(
                    rows
                )
            finally:
                RelevanceEvaluator.inside = False
        return {topic.removeprefix(_TOPIC): values for topic, values in found.items()}


def _rows(topic: str, docs: Mapping[str, Any]) -> Mapping[str, int]:
    """Return the rows of a topic for pytrec_eval. Raises InputError if it does not support a level."""
    # pytrec_eval's error about a level that is not an int frees the dict twice.
    for doc_id, level in docs.items():
        if not isinstance(level, int):
            raise InputError(
                f"qrels: topic {topic!r}, document {doc_id!r} has level {short_repr(level)}: "
                "pytrec_eval takes whole levels only; "
                "ir_graded.evaluate computes nDCG, AP and others from any levels"
            )
    if not docs or min(docs.values()) >= 0:
        return docs
    return {doc_id: level for doc_id, level in docs.items() if level >= 0} or {_NO_DOCUMENT: 0}


def _named(kind: str, table: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return qrels or a run with topic names for pytrec_eval. Raises InputError if it cannot read an id."""
    for name, ids in (("query_id", table), *(("doc_id", docs) for docs in table.values())):
        if not _is_readable("".join(ids)):
            wrong = next(text for text in ids if not _is_readable(text))
            raise InputError(
                f"{kind}: pytrec_eval cannot read the {name} {short_repr(wrong)}: it holds a NUL character, "
                "or a surrogate that UTF-8 cannot encode"
            )
    return {_TOPIC + topic: docs for topic, docs in table.items()}


def _is_readable(text: str) -> bool:
    """Return whether C code can read text; pytrec_eval would read up to the first NUL, or crash."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
