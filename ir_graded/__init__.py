"""Graded-relevance measures for the ir-measures ecosystem.

After importing this package, its measures work in ``ir_measures.calc`` and related functions, in
PyTerrier experiments and, by name, wherever a measure string is parsed.

Example:
    >>> import ir_graded, ir_measures
    >>> from ir_measures import nDCG
    >>> qrels, run = {"1": {"a": 2, "b": 1}}, {"1": {"b": 3.0, "x": 2.0, "a": 1.0}}
    >>> results = ir_measures.calc_aggregate(["P-measure@1000", "Q", nDCG@10], qrels, run)
    >>> {str(measure): round(value, 4) for measure, value in results.items()}
    {'P-measure@1000': 0.8333, 'Q': 0.75, 'nDCG@10': 0.7602}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import plugin
from ._version import __version__ as __version__
from .errors import (
    CoverageWarning,
    FileFormatError,
    GradedError,
    InputError,
    MeasureSyntaxError,
    NoSharedTopicsError,
    ParameterError,
    SampledJudgmentsWarning,
    UnknownMeasureError,
)
from .measures import (
    AWP,
    BR,
    DIN,
    EBR,
    EC,
    GAP,
    GF,
    GFR,
    IA,
    NCU,
    R_WP,
    AiP,
    AspectAP,
    B_pref,
    CharF,
    CharP,
    CharR,
    D,
    D_sharp,
    DIN_sharp,
    GradedMeasure,
    I_rec,
    IA_sharp,
    IoU,
    MAgP,
    O,
    P_measure,
    P_plus,
    P_plus_Q,
    P_plus_Q_sharp,
    Passage2AP,
    PassageAP,
    Q,
    R_measure,
    R_pref,
    gP,
    gR,
    gRBP,
    iP,
    iRBU,
    nCG,
    nDCG_JK,
    nERR,
)

if TYPE_CHECKING:
    from . import meta, passages
    from .data.sample import sample
    from .evaluation.arrays import score_arrays
    from .evaluation.collection_statistics import CollectionStatistics, collection_statistics
    from .evaluation.evaluate import evaluate
    from .evaluation.explain import Explanation, explain
    from .evaluation.judgment_comparison import JudgmentComparison, compare_judgments
    from .evaluation.run_comparison import compare_runs
    from .evaluation.score_bounds import ScoreBounds, score_bounds
    from .evaluation.score_intervals import ScoreIntervals, score_intervals
    from .evaluation.scores import Scores
    from .evaluation.ties import ties
    from .evaluation.unjudged import Unjudged, unjudged
    from .io.datasets import level_definitions
    from .io.groups import with_groups
    from .io.intents import with_intents
    from .io.reading import read_qrels, read_run
    from .reporting import report

plugin.register()

# Loaded on first access, so that importing the package is fast.
_LAZY = {
    "CollectionStatistics": "evaluation.collection_statistics",
    "Explanation": "evaluation.explain",
    "JudgmentComparison": "evaluation.judgment_comparison",
    "ScoreBounds": "evaluation.score_bounds",
    "ScoreIntervals": "evaluation.score_intervals",
    "Scores": "evaluation.scores",
    "Unjudged": "evaluation.unjudged",
    "collection_statistics": "evaluation.collection_statistics",
    "compare_judgments": "evaluation.judgment_comparison",
    "compare_runs": "evaluation.run_comparison",
    "evaluate": "evaluation.evaluate",
    "explain": "evaluation.explain",
    "level_definitions": "io.datasets",
    "meta": "",
    "passages": "",
    "read_qrels": "io.reading",
    "read_run": "io.reading",
    "report": "reporting",
    "sample": "data.sample",
    "score_arrays": "evaluation.arrays",
    "score_bounds": "evaluation.score_bounds",
    "score_intervals": "evaluation.score_intervals",
    "ties": "evaluation.ties",
    "unjudged": "evaluation.unjudged",
    "with_groups": "io.groups",
    "with_intents": "io.intents",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f".{_LAZY[name] or name}", __name__)
    value = getattr(module, name) if _LAZY[name] else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


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
    "R_WP",
    "AiP",
    "AspectAP",
    "B_pref",
    "CharF",
    "CharP",
    "CharR",
    "CollectionStatistics",
    "CoverageWarning",
    "D",
    "DIN_sharp",
    "D_sharp",
    "Explanation",
    "FileFormatError",
    "GradedError",
    "GradedMeasure",
    "IA_sharp",
    "I_rec",
    "InputError",
    "IoU",
    "JudgmentComparison",
    "MAgP",
    "MeasureSyntaxError",
    "NoSharedTopicsError",
    "O",
    "P_measure",
    "P_plus",
    "P_plus_Q",
    "P_plus_Q_sharp",
    "ParameterError",
    "Passage2AP",
    "PassageAP",
    "Q",
    "R_measure",
    "R_pref",
    "SampledJudgmentsWarning",
    "ScoreBounds",
    "ScoreIntervals",
    "Scores",
    "Unjudged",
    "UnknownMeasureError",
    "collection_statistics",
    "compare_judgments",
    "compare_runs",
    "evaluate",
    "explain",
    "gP",
    "gR",
    "gRBP",
    "iP",
    "iRBU",
    "level_definitions",
    "meta",
    "nCG",
    "nDCG_JK",
    "nERR",
    "passages",
    "read_qrels",
    "read_run",
    "report",
    "sample",
    "score_arrays",
    "score_bounds",
    "score_intervals",
    "ties",
    "unjudged",
    "with_groups",
    "with_intents",
]  # fmt: skip
