"""Imports on first use: of the names of packages, and of the measures and their provider.

The names of the measures are stored here, so that ir-measures has them before a module of them is imported.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, TypeVar

from ir_measures.measures import Measure
from ir_measures.providers import Provider

_PACKAGE = __name__.partition(".")[0]
_LOAD = "_load"


class LazyPackage(ModuleType):
    """A package that imports a name on first access."""

    #: The module of each name.
    _LAZY: dict[str, str]

    def __getattr__(self, name: str) -> Any:
        if name not in self._LAZY:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        module = import_module(f".{self._LAZY[name] or name}", self.__name__)
        value = getattr(module, name) if self._LAZY[name] else module
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # An import sets each module in its package, also one with the name of its function.
        is_hiding = isinstance(value, ModuleType) and self._LAZY.get(name)
        super().__setattr__(name, getattr(value, name) if is_hiding else value)

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *self._LAZY})


def import_lazily(package: str, more: dict[str, str] | None = None) -> list[str]:
    """Let a package import the names in its stub, and ``more``, on first access; return these names."""
    module = sys.modules[package]
    stub = Path(str(module.__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
    names = {
        name.name: statement.module or ""
        for statement in ast.parse(stub).body
        if isinstance(statement, ast.ImportFrom)
        for name in statement.names
        if name.name not in {"*", "__version__"}
    }
    module._LAZY = names | (more or {})  # type: ignore[attr-defined]  # noqa: SLF001
    module.__class__ = LazyPackage
    return sorted(module._LAZY)  # noqa: SLF001


class Later:
    """An object that becomes another one on first use: ``load`` imports its module and returns it."""

    #: Attributes that do not count as a use.
    KNOWN: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, load: Callable[[], object]) -> None:
        object.__setattr__(self, _LOAD, load)

    def __getattribute__(self, name: str) -> Any:
        get = object.__getattribute__
        if name in get(self, "KNOWN"):
            return get(self, name)
        # Another thread may have loaded it since this call began.
        if (load := get(self, "__dict__").get(_LOAD)) is not None:
            become(self, load())
        return getattr(self, name)


def become(stand_in: object, other: object) -> None:
    """Give a stand-in the class and attributes of an object, which it may have already."""
    if type(stand_in) is not type(other):
        attributes = object.__getattribute__(stand_in, "__dict__")
        attributes.update(vars(other))
        object.__setattr__(stand_in, "__class__", type(other))
        attributes.pop(_LOAD, None)


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


Made = TypeVar("Made")


def in_place(stand_in: object, made: Made) -> Made:
    """Return ``made``, as the object that has stood for it if there is one."""
    if not isinstance(stand_in, Later):
        return made
    become(stand_in, made)
    return stand_in  # type: ignore[return-value]  # now of that class


def _measure(name: str) -> object:
    return import_module(f"{_PACKAGE}.measures").NAMES[name]


# A line per measure: the constant of the package, or ``-``, and the names.
# generated: names  # noqa: ERA001
NAMES = """
NuggetScore NuggetScore
CitationP CitationP
CitationR CitationR
- all_score
- strict_all_score
- vital_score
- strict_vital_score
- weighted_score
- strict_weighted_score
Q Q Q-measure Q_measure
AWP AWP
O O-measure O_measure O
P_measure P-measure P_measure
P_plus P+ P_plus P-plus Pplus
R_measure R-measure R_measure
R_WP R-WP R_WP
nCG nCG
BR BR
RelP RelP
EBR EBR
- nEBR
iRBU iRBU
- niRBU
nERR nERR
gRBP gRBP
nDCG_JK nDCG-JK nDCG_JK
GAP GAP
B_pref B-pref B_pref bpref_R
R_pref R-pref R_pref rpref_N
- bpref_N
- bpref_relative
- rpref_relative
- rpref_relative2
NCU NCU
- NCUgu,P
- NCUgu,BR
- NCUrb,P
- NCUrb,BR
- NCUgu,IE
- NCUrb,IE
I_rec I-rec I_rec Irec
D D
D_sharp D# D_sharp Dsharp
DIN DIN
DIN_sharp DIN# DIN_sharp DINsharp
IA IA
IA_sharp IA# IA_sharp IAsharp
P_plus_Q P+Q P_plus_Q PplusQ
P_plus_Q_sharp P+Q# P_plus_Q_sharp PplusQsharp
- D-Q
- D-nDCG
- D-MSnDCG
- D-RBP
- D-ERR
- D-O-measure
- D-P-measure
- D-P+
- D-nERR
- D-EBR
- D-iRBU
- D-AWP
- D#-Q
- D#-nDCG
- D#-MSnDCG
- D#-RBP
- D#-ERR
- D#-O-measure
- D#-P-measure
- D#-P+
- D#-nERR
- D#-EBR
- D#-iRBU
- D#-AWP
- DIN-Q
- DIN-nDCG
- DIN-MSnDCG
- DIN-RBP
- DIN-ERR
- DIN-O-measure
- DIN-P-measure
- DIN-P+
- DIN-nERR
- DIN-EBR
- DIN-iRBU
- DIN-AWP
- DIN#-Q
- DIN#-nDCG
- DIN#-MSnDCG
- DIN#-RBP
- DIN#-ERR
- DIN#-O-measure
- DIN#-P-measure
- DIN#-P+
- DIN#-nERR
- DIN#-EBR
- DIN#-iRBU
- DIN#-AWP
- IA-Q
- IA-nDCG
- IA-MSnDCG
- IA-RBP
- IA-ERR
- IA-O-measure
- IA-P-measure
- IA-P+
- IA-nERR
- IA-EBR
- IA-iRBU
- IA-AWP
- IA#-Q
- IA#-nDCG
- IA#-MSnDCG
- IA#-RBP
- IA#-ERR
- IA#-O-measure
- IA#-P-measure
- IA#-P+
- IA#-nERR
- IA#-EBR
- IA#-iRBU
- IA#-AWP
MAgP MAgP AgP
gP gP
gR gR
CharP CharP
CharR CharR
CharF CharF
IoU IoU
iP iP
AiP AiP MAiP
PassageAP PassageAP
Passage2AP Passage2AP
AspectAP AspectAP
NuggetR NuggetR
U U
xinfAP xinfAP
infQ infQ
infNDCG infNDCG
GM GM
- GMAP
GF GF
GFR GFR
EC EC
- EC-Q
- EC-nDCG
- EC-MSnDCG
- EC-RBP
- EC-ERR
- EC-O-measure
- EC-P-measure
- EC-P+
- EC-nERR
- EC-EBR
- EC-iRBU
- EC-AWP
- EC-AP
- EC-P
- EC-RR
- EC-Success
"""
# end of generated

#: The constants of the measures, and the measures by every name, as stand-ins until they are imported.
CONSTANTS: list[str] = []
MEASURES: dict[str, Measure] = {}
for _constant, *_names in map(str.split, NAMES.strip().splitlines()):
    CONSTANTS += [_constant] * (_constant != "-")
    MEASURES |= dict.fromkeys(_names, LaterMeasure(partial(_measure, _names[0])))

PROVIDER = LaterProvider(lambda: import_module(f"{_PACKAGE}.evaluation.provider").PROVIDER)
