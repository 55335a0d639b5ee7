"""The names of the measures, which ir-measures gets before a module of them is imported."""

from __future__ import annotations

from functools import partial
from importlib import import_module
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


# A line per measure: the constants of the package with slashes between them, and the names. Measures without
# a constant share a line: a colon after their prefix, if they have one, and the rest of the name of each.
# generated: names  # noqa: ERA001
NAMES = """
NuggetScore NuggetScore
CitationP CitationP
CitationR CitationR
: all_score strict_all_score vital_score strict_vital_score weighted_score strict_weighted_score
Q/Q_measure Q Q-measure Q_measure
AWP AWP
O/O_measure O-measure O_measure O
P_measure P-measure P_measure
P_plus P+ P_plus P-plus Pplus
R_measure R-measure R_measure
R_WP R-WP R_WP
nCG nCG
BR BR
RelP RelP
EBR EBR
: nEBR
iRBU iRBU
: niRBU
nERR nERR
gRBP gRBP
nDCG_JK nDCG-JK nDCG_JK
GAP GAP
B_pref B-pref B_pref
R_pref R-pref R_pref
: bpref_R bpref_N bpref_relative rpref_N rpref_relative rpref_relative2
NCU NCU
: NCUgu,P NCUgu,BR NCUrb,P NCUrb,BR NCUgu,IE NCUrb,IE
I_rec I-rec I_rec Irec
D D
D_sharp D# D_sharp Dsharp
DIN DIN
DIN_sharp DIN# DIN_sharp DINsharp
IA IA
IA_sharp IA# IA_sharp IAsharp
P_plus_Q P+Q P_plus_Q PplusQ
P_plus_Q_sharp P+Q# P_plus_Q_sharp PplusQsharp
D-: Q nDCG MSnDCG RBP ERR O-measure P-measure P+ nERR EBR iRBU AWP
D#-: Q nDCG MSnDCG RBP ERR O-measure P-measure P+ nERR EBR iRBU AWP
DIN-: Q nDCG MSnDCG RBP ERR O-measure P-measure P+ nERR EBR iRBU AWP
DIN#-: Q nDCG MSnDCG RBP ERR O-measure P-measure P+ nERR EBR iRBU AWP
IA-: Q nDCG MSnDCG RBP ERR O-measure P-measure P+ nERR EBR iRBU AWP
IA#-: Q nDCG MSnDCG RBP ERR O-measure P-measure P+ nERR EBR iRBU AWP
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
: GMAP
GF GF
GFR GFR
EC EC
EC-: Q nDCG MSnDCG RBP ERR O-measure P-measure P+ nERR EBR iRBU AWP AP P RR Success
"""
# end of generated

#: The constants of the measures, and the measures by every name, as stand-ins until they are imported.
CONSTANTS: list[str] = []
MEASURES: dict[str, Measure] = {}
for _head, *_names in map(str.split, NAMES.strip().split("\n")):
    _is_prefix = _head.endswith(":")
    CONSTANTS += [] if _is_prefix else _head.split("/")
    for _same in ([_head[:-1] + name] for name in _names) if _is_prefix else [_names]:
        MEASURES |= dict.fromkeys(_same, LaterMeasure(partial(_measure, _same[0])))

PROVIDER = LaterProvider(lambda: import_module(f"{_PACKAGE}.evaluation.provider").PROVIDER)
