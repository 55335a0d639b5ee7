from .agreement import Agreement, agreement
from .collections import AcrossCollections, across_collections
from .conclusions import Conclusions, conclusions
from .correlation import (
    RankCorrelations,
    kendall_tau,
    kendall_tau_b,
    rank_correlations,
    tau_ap,
    tau_ap_a,
    tau_ap_b,
)
from .differences import Differences, differences
from .history import History, history
from .intervals import ConfidenceIntervals, PredictionPowered, confidence_intervals, prediction_powered
from .matrix import drop_identical, one_per_team, top
from .minima import Minima, minima
from .ranks import Ranks, ranks
from .sample_size import (
    Design,
    EffectSizes,
    ScoreVariance,
    TopicSetSize,
    effect_sizes,
    minimum_detectable_difference,
    power,
    score_variance,
    topic_set_size,
)
from .significance import DiscriminativePower, SignificanceMatrix, discriminative_power, significance
from .stability import MeasureComparison, Stability, Swap, compare_measures, stability, swap

__all__ = [
    "AcrossCollections",
    "Agreement",
    "Conclusions",
    "ConfidenceIntervals",
    "Design",
    "Differences",
    "DiscriminativePower",
    "EffectSizes",
    "History",
    "MeasureComparison",
    "Minima",
    "PredictionPowered",
    "RankCorrelations",
    "Ranks",
    "ScoreVariance",
    "SignificanceMatrix",
    "Stability",
    "Swap",
    "TopicSetSize",
    "across_collections",
    "agreement",
    "compare_measures",
    "conclusions",
    "confidence_intervals",
    "differences",
    "discriminative_power",
    "drop_identical",
    "effect_sizes",
    "history",
    "kendall_tau",
    "kendall_tau_b",
    "minima",
    "minimum_detectable_difference",
    "one_per_team",
    "power",
    "prediction_powered",
    "rank_correlations",
    "ranks",
    "score_variance",
    "significance",
    "stability",
    "swap",
    "tau_ap",
    "tau_ap_a",
    "tau_ap_b",
    "top",
    "topic_set_size",
]
