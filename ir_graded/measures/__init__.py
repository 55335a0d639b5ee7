"""The measures, one module per family. ``REGISTRY`` maps every name to its measure.

Measures work on the views of ``core``. They know nothing of files, tables or statistics.
"""

from .at_rank import BR, R_WP, R_measure, nCG
from .base import REGISTRY, GradedMeasure
from .cascade import EBR, iRBU, nERR
from .characters import AiP, CharF, CharP, CharR, IoU, iP
from .gap import GAP
from .genomics import AspectAP, Passage2AP, PassageAP
from .intents import DIN, IA, D, D_sharp, DIN_sharp, I_rec, IA_sharp, P_plus_Q, P_plus_Q_sharp
from .ncu import NCU
from .preferences import B_pref, R_pref
from .preferred_rank import O, P_measure, P_plus
from .properties import PROPERTIES
from .q import AWP, Q
from .rank_biased import gRBP, nDCG_JK
from .relevant_in_context import MAgP, gP, gR

# isort: split
# Measures that take other measures are imported after these.
from .classes import EC
from .groups import GF, GFR

__all__ = [
    "AWP",
    "BR",
    "DIN",
    "EBR",
    "EC",
    "GAP",
    "GF",
    "GFR",
    "IA",
    "NCU",
    "PROPERTIES",
    "REGISTRY",
    "R_WP",
    "AiP",
    "AspectAP",
    "B_pref",
    "CharF",
    "CharP",
    "CharR",
    "D",
    "DIN_sharp",
    "D_sharp",
    "GradedMeasure",
    "IA_sharp",
    "I_rec",
    "IoU",
    "MAgP",
    "O",
    "P_measure",
    "P_plus",
    "P_plus_Q",
    "P_plus_Q_sharp",
    "Passage2AP",
    "PassageAP",
    "Q",
    "R_measure",
    "R_pref",
    "gP",
    "gR",
    "gRBP",
    "iP",
    "iRBU",
    "nCG",
    "nDCG_JK",
    "nERR",
]  # fmt: skip
