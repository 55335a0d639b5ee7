"""The measures, one small module per measure or group; ``REGISTRY`` holds them by every name."""

from .at_rank import BR, R_WP, R_measure, nCG
from .base import REGISTRY, GradedMeasure
from .err import EBR, iRBU, nERR
from .gap import GAP
from .ncu import NCU
from .one_document import O, P_measure, P_plus
from .q import AWP, Q

__all__ = [
    "AWP",
    "BR",
    "EBR",
    "GAP",
    "NCU",
    "REGISTRY",
    "R_WP",
    "GradedMeasure",
    "O",
    "P_measure",
    "P_plus",
    "Q",
    "R_measure",
    "iRBU",
    "nCG",
    "nERR",
]  # fmt: skip
