"""The names of the measures, which ir-measures gets before a module of them is imported."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from ir_measures.measures import Measure
from ir_measures.providers import Provider

from .later import Later

_PACKAGE = __name__.partition(".")[0]


class LaterMeasure(Later, Measure):
    """A measure that is known by name."""

    # Python looks up special methods in the class; the attribute, past that, is that of the measure.
    def __repr__(self) -> str:
        return str(self.__repr__())

    def __call__(self, **params: Any) -> Measure:
        return self.__call__(**params)

    def __matmul__(self, at: Any) -> Measure:
        return self.__matmul__(at)

    def __getitem__(self, name: str) -> Any:
        return self.__getitem__(name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce_ex__(protocol)


class LaterProvider(Later, Provider):
    """The provider before it is used."""

    NAME = "ir_graded"
    KNOWN = frozenset({"NAME"})


def _measure(name: str) -> object:
    return import_module(f"{_PACKAGE}.measures").NAMES[name]


#: The constants of the measures, and the measures by every name, as stand-ins until they are imported.
CONSTANTS: list[str] = []
MEASURES: dict[str, Measure] = {}
_lines = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").split("\n")
for _head, *_names in (line.split() for line in _lines if line and not line.startswith("#")):
    _is_prefix = _head.endswith(":")
    CONSTANTS += [] if _is_prefix else _head.split("/")
    for _same in ([_head[:-1] + name] for name in _names) if _is_prefix else [_names]:
        MEASURES |= dict.fromkeys(_same, LaterMeasure(partial(_measure, _same[0])))

PROVIDER = LaterProvider(lambda: import_module(f"{_PACKAGE}.evaluation.provider").PROVIDER)
