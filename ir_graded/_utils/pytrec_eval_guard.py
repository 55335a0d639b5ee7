"""The one way into pytrec_eval: one thread at a time, and nothing that makes it crash.

pytrec_eval 0.5.11 keeps its intermediate results in C variables that all its evaluators share. It holds
Python's lock, but where it creates Python objects the garbage collector may run Python code (a callback of
``gc``, a finaliser). Another thread may then enter and free the memory that the first one uses. Some levels
and ids make it read beyond its memory. Whatever in this package enters pytrec_eval therefore goes through
:class:`RelevanceEvaluator`, which replaces the class of the same name in ir-measures' provider.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from ir_graded.errors import GradedError, InputError, short_repr

Result = TypeVar("Result")

#: In front of each topic: pytrec_eval takes a topic called 'no_query' for one that it has in its cache.
_TOPIC = "topic "
#: A document for topics without any other; no file can name it, for it holds blanks.
_NO_DOCUMENT = "no document"


class Gate:
    """Lets one thread in at a time.

    The lock is re-entrant: a thread that comes again (from a finaliser, a gc callback or a signal handler)
    passes it and gets an error, where an ordinary lock would make it wait for itself. ``with`` takes and
    releases it in C code, so that an interrupt cannot leave it locked.

    Attributes:
        inside: whether a thread is inside; read and written by the thread that has the lock.
        discarded: evaluators that nobody uses any more, each in the list that holds it.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.inside = False
        self.discarded: list[list[Any]] = []

    def alone(self, work: Callable[[], Result]) -> Result:
        """The result of ``work``, which must be complete when it returns: no iterator.

        Raises:
            GradedError: this thread is inside already.
        """
        with self._lock:
            if self.inside:
                raise GradedError(
                    "this thread is already inside pytrec_eval, which cannot be entered twice: do not "
                    "evaluate in a finaliser, a gc callback or a signal handler that may run meanwhile"
                )
            self.inside = True
            try:
                self._destroy_discarded()
                return work()
            finally:
                self.inside = False

    def discard(self, held: list[Any]) -> None:
        """Destroy the evaluator in a list: now if nobody is inside, otherwise before the next one enters.

        Finalisers call this, so it neither waits nor fails.
        """
        self.discarded.append(held)
        if self._lock.acquire(blocking=False):
            try:
                if not self.inside:
                    self.alone(lambda: None)
            finally:
                self._lock.release()

    def _destroy_discarded(self) -> None:
        while self.discarded:
            # The list holds the only reference, so that the evaluator ends here.
            self.discarded.pop().clear()

    def before_fork(self) -> None:
        """Wait until nobody is inside: the child inherits pytrec_eval's variables, which must be at rest."""
        self._lock.acquire()

    def in_parent(self) -> None:
        """Let others in again."""
        self._lock.release()

    def in_child(self) -> None:
        """Start with a new lock: threads that wait for the old one do not exist here."""
        self._lock = threading.RLock()


GATE = Gate()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=GATE.before_fork, after_in_parent=GATE.in_parent, after_in_child=GATE.in_child)


class RelevanceEvaluator:
    """pytrec_eval's evaluator of the same name, which threads may share.

    Rows with a level below 0 are left out: in a topic without any other they make pytrec_eval read
    uninitialised memory. Such a topic scores as one that has no relevant document.

    Args:
        qrels: topic to doc_id to level.
        measures: trec_eval's names of measures.
        options: as pytrec_eval takes them: ``relevance_level``, ``judged_docs_only_flag``.

    Raises:
        InputError: a level is not a whole number, or an id is not text that C code can read.
        GradedError: this thread is inside pytrec_eval already.

    Example:
        >>> evaluator = RelevanceEvaluator({"1": {"a": 1, "b": -2}, "2": {"a": -2}}, {"map", "num_ret"})
        >>> evaluator.evaluate({"1": {"a": 1.0, "b": 2.0}, "2": {"a": 1.0}})
        {'1': {'num_ret': 2.0, 'map': 0.5}, '2': {'num_ret': 1.0, 'map': 0.0}}
    """

    def __init__(
        self, qrels: Mapping[str, Mapping[str, Any]], measures: Iterable[str], **options: Any
    ) -> None:
        self._held: list[Any] = []  # before anything that may fail: the finaliser looks at it
        import pytrec_eval

        rows = _named("qrels", {topic: _rows(topic, docs) for topic, docs in qrels.items()})

        def make() -> None:
            self._held.append(pytrec_eval.RelevanceEvaluator(rows, measures, **options))

        GATE.alone(make)

    def evaluate(self, run: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Value of each measure for each topic of the run that the qrels have.

        Args:
            run: topic to doc_id to score.

        Raises:
            InputError: an id is not text that C code can read.
            GradedError: this thread is inside pytrec_eval already.
        """
        rows = _named("run", run)
        found: dict[str, dict[str, float]] = GATE.alone(lambda: self._held[0].evaluate(rows))
        return {topic.removeprefix(_TOPIC): values for topic, values in found.items()}

    def __del__(self) -> None:
        GATE.discard(self._held)


def _rows(topic: str, docs: Mapping[str, Any]) -> Mapping[str, int]:
    """The rows of a topic that pytrec_eval is given. Raises InputError where it cannot take a level."""
    # pytrec_eval's own error about a level that is not an int frees the dict twice.
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
    """Qrels or a run with pytrec_eval's names of topics. Raises InputError where it cannot read an id."""
    _check_text(kind, "query_id", table)
    for docs in table.values():
        _check_text(kind, "doc_id", docs)
    return {_TOPIC + topic: docs for topic, docs in table.items()}


def _check_text(kind: str, name: str, ids: Iterable[str]) -> None:
    """Raise InputError where C code cannot read an id."""
    if not _is_readable("".join(ids)):
        wrong = next(text for text in ids if not _is_readable(text))
        raise InputError(
            f"{kind}: pytrec_eval cannot read the {name} {short_repr(wrong)}: it holds a NUL character, "
            "or a surrogate that UTF-8 cannot encode"
        )


def _is_readable(text: str) -> bool:
    """Whether text is UTF-8 in C. Otherwise pytrec_eval would read it to the first NUL, or crash."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
