"""Meta-evaluation: statistics that compare measures and systems, from matrices of scores.

Scores are a topics x systems matrix of one measure (a DataFrame or what numpy takes); where measures are
compared, what ``ir_graded.evaluate`` gives, or a mapping from measures to matrices. The topics of a DataFrame
are its index, or its column named topic, query_id, qid, num or the like.
"""

from .baseline import BaselineTests, against_baseline
from .comparison import Comparison, compare
from .correlation import (
    RankCorrelations,
    kendall_tau,
    kendall_tau_b,
    rank_correlations,
    tau_ap,
    tau_ap_a,
    tau_ap_b,
)
from .discriminative import DiscriminativePower, discriminative_power
from .intervals import ConfidenceIntervals, confidence_intervals
from .significance import SignificanceMatrix, significance
from .stability import Stability, stability
from .swap import Swap, swap

__all__ = [
    "BaselineTests",
    "Comparison",
    "ConfidenceIntervals",
    "DiscriminativePower",
    "RankCorrelations",
    "SignificanceMatrix",
    "Stability",
    "Swap",
    "against_baseline",
    "compare",
    "confidence_intervals",
    "discriminative_power",
    "kendall_tau",
    "kendall_tau_b",
    "rank_correlations",
    "significance",
    "stability",
    "swap",
    "tau_ap",
    "tau_ap_a",
    "tau_ap_b",
]
