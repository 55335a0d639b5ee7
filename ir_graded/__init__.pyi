# mypy does not follow a star import of a module to its own star imports, so the families are named here.
from . import meta as meta, passages as passages, plots as plots
from ._utils.version import __version__ as __version__
from .analyses.answers import score_answers as score_answers
from .analyses.arrays import RankingMetric as RankingMetric, score_arrays as score_arrays
from .analyses.estimates import (
    EstimateDifference as EstimateDifference,
    ScoreEstimates as ScoreEstimates,
    score_estimates as score_estimates,
)
from .analyses.explain import (
    Explanation as Explanation,
    RankingComparison as RankingComparison,
    compare_rankings as compare_rankings,
    explain as explain,
)
from .analyses.judgment_comparison import (
    JudgmentComparison as JudgmentComparison,
    combine_judgments as combine_judgments,
    compare_judgments as compare_judgments,
)
from .analyses.overlap import RunOverlaps as RunOverlaps, rbo as rbo, rbo_matrix as rbo_matrix
from .analyses.pools import (
    CollectionStatistics as CollectionStatistics,
    collection_statistics as collection_statistics,
    pool as pool,
)
from .analyses.score_intervals import (
    IntervalDifferences as IntervalDifferences,
    ScoreIntervals as ScoreIntervals,
    score_intervals as score_intervals,
)
from .analyses.unjudged import (
    ScoreBounds as ScoreBounds,
    Unjudged as Unjudged,
    score_bounds as score_bounds,
    ties as ties,
    unjudged as unjudged,
)
from .analyses.verification import Verification as Verification, verify as verify
from .data import sample as sample
from .errors import *
from .evaluation.evaluate import evaluate as evaluate, evaluate_collections as evaluate_collections
from .evaluation.run_comparison import compare_runs as compare_runs
from .evaluation.scores import Scores as Scores
from .evaluation.signature import Signature as Signature
from .io.annotations import (
    with_groups as with_groups,
    with_intents as with_intents,
    with_nuggets as with_nuggets,
)
from .io.assignments import read_assignments as read_assignments
from .io.sources import (
    level_definitions as level_definitions,
    read_qrels as read_qrels,
    read_run as read_run,
)
from .measures.answers import *
from .measures.base import *
from .measures.cascade import *
from .measures.gap import *
from .measures.geometric import *
from .measures.groups import *
from .measures.intents import *
from .measures.ncu import *
from .measures.nuggets import *
from .measures.one_list import *
from .measures.passages import *
from .measures.sampled import *
from .reporting import report as report
