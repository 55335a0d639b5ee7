"""The registry of sections, and the recorder that a section passes its results to."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property, singledispatch
from hashlib import sha256
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

import ir_graded
from tests.collections_data import ROOT

from .recording import Item

# Texts longer than this are recorded as digests, one for each block.
_MOST_TEXTS = 5_000
_BLOCK = 1_000
#: Suffix of the name for the types of a frame's columns.
_TYPES = " types"


@dataclass(frozen=True)
class Section:
    """A part of the recording.

    Attributes:
        name: the name by which it is selected.
        about: its content, in a few words.
        record: the function that records it.
        needs: a folder of the shared data, or '' if the section needs none.
        quick: whether the quick subset includes it.
    """

    name: str
    about: str
    record: Callable[[Recorder], None]
    needs: str
    quick: bool

    @property
    def lacking(self) -> str:
        """The reason why the section cannot be recorded here; '' if it can."""
        folder = ROOT / self.needs
        return "" if not self.needs or folder.is_dir() else f"needs {folder}"

    def run(self, take: Callable[[Item], None], *, quick: bool = False) -> None:
        """Record the section: call ``take`` with each item."""
        with tempfile.TemporaryDirectory() as folder:
            self.record(Recorder(self.name, take, Path(folder), quick))


#: All sections by name, in the order in which they are recorded.
SECTIONS: dict[str, Section] = {}


def section(
    name: str, about: str, *, needs: str = "", quick: bool = False
) -> Callable[[Callable[[Recorder], None]], Callable[[Recorder], None]]:
    """Add a function to SECTIONS."""

    def enter(record: Callable[[Recorder], None]) -> Callable[[Recorder], None]:
        SECTIONS[name] = Section(name, about, record, needs, quick)
        return record

    return enter


class Recorder:
    """Pass the results of one section on as items.

    Args:
        section: its name.
        take: called with each item.
        folder: an empty folder for files; recorded texts call it FOLDER.
        quick: whether to record the quick subset only.
    """

    def __init__(self, section: str, take: Callable[[Item], None], folder: Path, quick: bool) -> None:
        self.section = section
        self.folder = folder
        self.quick = quick
        self._take = take

    def values(self, what: str, where: str, values: Any, labels: Iterable[str] = ()) -> None:
        """Record numbers or texts, each with a label."""
        self._take(Item(self.section, what, where, values, tuple(labels)))

    def result(self, what: str, where: str, result: Any) -> None:
        """Record a result of any kind: frames, arrays, mappings, dataclasses, numbers, texts."""
        for name, values, labels in _parts(result, ""):
            # Types of columns depend on the version of pandas, but the quick subset must fit all versions.
            if not (self.quick and name.endswith(_TYPES)):
                self.values(what + name, where, *_in_blocks(values, labels))

    def text(self, what: str, where: str, text: str) -> None:
        """Record a text line by line."""
        self.values(what, where, self._plain(text).splitlines())

    def message(self, what: str, where: str, text: str) -> None:
        """Record a text that may change intentionally."""
        self._take(Item(self.section, what, where, self._plain(text).splitlines(), loose=True))

    @contextmanager
    def errors(self, what: str, where: str) -> Iterator[None]:
        """Record an error that is raised inside as a message: its type and text."""
        try:
            yield
        except Exception as error:
            self.message(what, where, f"{type(error).__name__}: {error}")

    def scores(self, where: str, scores: ir_graded.Scores) -> None:
        """Record the scores by each measure with their means, and the order of the runs."""
        labels = tuple(f"{run}, {_text(topic)}" for run in scores.runs for topic in scores.query_ids)
        labels += tuple(f"{run}, mean" for run in scores.runs)
        means = scores.mean()
        by_run = means.loc[list(scores.runs)].to_numpy()
        for at, (name, values) in enumerate(zip(scores.names, scores.values, strict=True)):
            self.values(name, where, np.append(values, by_run[:, at]), labels)
        if len(scores.runs) > 1:
            self.values(f"order by {scores.names[0]}", where, list(means.index))

    def evaluate(
        self, where: str, measures: Iterable[Any], qrels: Any, runs: Any, **options: Any
    ) -> ir_graded.Scores | None:
        """Record the scores of runs; measures that fail are recorded individually as messages."""
        parts = list(self._evaluated(list(measures), qrels, runs, **options))
        for names, found in parts:
            if isinstance(found, str):
                self.message(names, where, found)
            elif len(parts) == 1:
                self.scores(where, found)
            else:  # as if each measure were evaluated alone
                for measure, values in zip(found.measures, found.values, strict=True):
                    alone = replace(found, measures=(measure,), values=values[np.newaxis])
                    self.scores(where, alone)
        [(_, found), *others] = parts
        return None if others or isinstance(found, str) else found

    def _evaluated(
        self, measures: list[Any], qrels: Any, runs: Any, **options: Any
    ) -> Iterator[tuple[str, ir_graded.Scores | str]]:
        """Yield names of measures with their scores or the error of one, from few calls."""
        names = ", ".join(map(str, measures))
        try:
            yield names, ir_graded.evaluate(measures, qrels, runs, progress=False, **options)
        except Exception as error:
            if len(measures) <= 1:
                yield names, f"{type(error).__name__}: {error}"
                return
            half = len(measures) // 2
            yield from self._evaluated(measures[:half], qrels, runs, **options)
            yield from self._evaluated(measures[half:], qrels, runs, **options)

    def metrics(self, where: str, metrics: Iterable[ir_measures.util.Metric]) -> None:
        """Record the results of ir_measures, sorted, because their order varies."""
        found: dict[str, dict[str, float]] = {}
        for metric in metrics:
            found.setdefault(str(metric.measure), {})[_text(metric.query_id)] = metric.value
        for measure, scores in sorted(found.items()):
            topics = sorted(scores)
            self.values(measure, where, np.array([scores[topic] for topic in topics], float), topics)

    def _plain(self, text: str) -> str:
        return text.replace(str(self.folder), "FOLDER")


#: Name inside the result, values, and a label for each value.
_Parts = Iterator[tuple[str, Any, tuple[str, ...]]]


@singledispatch
def _parts(value: Any, name: str) -> _Parts:
    """Yield the arrays and texts of a result, each with its name inside the result and its labels."""
    if _is_number(value):
        yield name, np.array([value]), ()
    elif is_dataclass(value):
        kept = (key for key, one in vars(type(value)).items() if isinstance(one, cached_property))
        for attribute in (*(one.name for one in fields(value)), *kept):
            if not attribute.startswith("_"):
                yield from _parts(getattr(value, attribute), f"{name}.{attribute}")
        if hasattr(value, "to_frame"):
            yield from _parts(value.to_frame(), f"{name}.to_frame()")
    else:
        yield name, _text(value).splitlines(), ()


@_parts.register(pd.DataFrame)
def _(value: pd.DataFrame, name: str) -> _Parts:
    yield f"{name} columns", list(map(_text, value.columns)), ()
    yield name + _TYPES, list(map(str, value.dtypes)), ()
    for column in value.columns:
        yield from _parts(value[column], f"{name}[{_text(column)}]")


@_parts.register(pd.Series)
def _(value: pd.Series, name: str) -> _Parts:
    is_numbered = isinstance(value.index, pd.RangeIndex)
    yield name, _array(value.to_numpy()), () if is_numbered else tuple(map(_text, value.index))


@_parts.register(np.ndarray)
def _(value: np.ndarray, name: str) -> _Parts:
    yield name, _array(value.reshape(-1)), ()


@_parts.register(Mapping)
def _(value: Mapping[Any, Any], name: str) -> _Parts:
    if value and all(map(_is_number, value.values())):
        yield name, np.array(list(value.values())), tuple(map(_text, value))
        return
    for key, one in value.items():
        yield from _parts(one, f"{name}[{_text(key)}]")


@_parts.register(tuple)
@_parts.register(list)
def _(value: Sequence[Any], name: str) -> _Parts:
    yield name, _array(np.array(value) if value and all(map(_is_number, value)) else value), ()


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, np.generic)) and not isinstance(value, (str, np.str_))


def _array(values: Any) -> Any:
    """Return numbers unchanged, anything else as texts."""
    is_numeric = isinstance(values, np.ndarray) and values.dtype.kind in "biuf"
    return values if is_numeric else [_text(value) for value in values]


def _text(value: Any) -> str:
    """Return text unchanged, anything else with its type: 1 is not '1'."""
    if isinstance(value, (str, ir_measures.measures.Measure)):
        return str(value)
    if isinstance(value, tuple):
        return ", ".join(map(_text, value))
    return f"{type(value).__name__} {value}"


def _in_blocks(values: Any, labels: tuple[str, ...]) -> tuple[Any, tuple[str, ...]]:
    """Return long texts as a digest per block of rows, anything else unchanged."""
    if isinstance(values, np.ndarray) or len(values) <= _MOST_TEXTS:
        return values, labels
    starts = range(0, len(values), _BLOCK)
    digests = [sha256(repr(values[start : start + _BLOCK]).encode()).hexdigest()[:16] for start in starts]
    return digests, tuple(f"digest of rows {start} to {start + _BLOCK - 1}" for start in starts)
