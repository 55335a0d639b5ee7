"""Shared by the tests of numbers: collections, parameters at the limits of their ranges, errors in ulps."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from itertools import combinations

from classics.classic_cases import OF_DOCUMENTS as CLASSICS
from measures import measure_cases
from reference import ranked

from ir_graded.evaluation.provider import PROVIDER
from ir_graded.measures.params import Choice, Flag, LevelTable, Number, Whole

#: Every measure of ranked lists by name; a measure with a stop appears with each stop.
VARIANTS = {str(measure): measure for measure in measure_cases.VARIANTS}

#: The classics with their required parameters, and with values that matter for rounding.
CLASSIC_VARIANTS = {
    name: [classic.MEASURE(**params) for params in chosen]
    for name, classic in CLASSICS.items()
    for chosen in [
        {
            "AP": [{}, {"cutoff": 10}, {"cutoff": 2**31 - 1}, {"rel": 2}],
            "nDCG": [{}, {"cutoff": 10}, {"cutoff": 10, "dcg": "exp-log2"}],
            "ERR": [{"cutoff": 10}, {"cutoff": 2**31 - 1}],
            "RBP": [{"p": p, "rel": 1} for p in (0.0, 1e-300, 0.5, 0.95, 1 - 2**-53, 1.0)],
            "SetF": [{"beta": beta} for beta in (0.0, 1e-4, 0.3, 1.0, 9e15)],
            "SetP": [{}, {"relative": True}],
            "Judged": [{"cutoff": 10}, {"cutoff": 2**31 - 1}],
            "NumRet": [{}, {"rel": 2}],
            **{
                name: [{"max_rel": most, "cutoff": k} for most in (3, 1000) for k in (10, 5000)]
                for name in ("SDCG", "BPM", "NERR8", "NERR9")
            },
            **{
                name: [{"max_rel": 3}, {"max_rel": 1000}, {"max_rel": 3, "T": 7.5}]
                for name in ("INSQ", "INST", "NERR11")
            },
            "NERR10": [{"p": p, "max_rel": 3} for p in (0.0, 0.5, 0.9, 1.0)],
            "IPrec": [{"recall": recall} for recall in (0.0, 0.1, 1 / 3, 1.0)],
            "Compat": [{}, {"normalize": False}, *({"p": p} for p in (0.1, 0.5, 0.999, 1 - 2**-53))],
            "Accuracy": [{}, {"cutoff": 10}],
            **{name: [{"cutoff": 10}, {"cutoff": 2**31 - 1}] for name in ("P", "R", "Success")},
        }.get(name, [{}])
    ]
}

CLASSICS_WITH_CUTOFF = [
    CLASSICS[name].MEASURE for name in ("AP", "RR", "P", "R", "Success", "nDCG", "Judged")
]

# --------------------------------------------------------------------------------------------- parameters

_ORDINARY = (0.1, 1 / 3, 0.5, 0.7, 0.95, 0.999, 1, 1.5, 7, math.inf)
_ENDS = (0, 5e-324, 1e-308, 1e-300, 1e-16, 1 - 2**-53, 1 + 2**-52, 1e12, 1e16, 1e100, math.inf)
_TABLES = ({1: 0.1, 2: 0.7, 3: 3.3}, {1: 0, 2: 3, 3: 10}, {0.7: 1 / 3, 2.75: 0.3})
_TABLES_OF_ENDS = (
    dict.fromkeys((1, 2, 3), 1e100),
    dict.fromkeys((1, 2, 3), 1e-100),
    {1: 1e-100, 2: 1, 3: 1e100},
    {1: 1e100, 2: 1e-100, 3: 0},
    {1: 0, 2: 0, 3: 0},
)


#: Ordinary values of each kind of parameter, and those at the ends of its range. A new kind needs an entry.
_VALUES = {
    Whole: lambda _, ends: (1, 2**53 - 1) if ends else (1, 3, 10, 1000),
    Flag: lambda _, ends: () if ends else (True,),
    Choice: lambda param, ends: () if ends else tuple(word for word in param.words if word != "ideal"),
    LevelTable: lambda _, ends: _TABLES_OF_ENDS if ends else _TABLES,
    Number: lambda param, ends: filter(param.validate, _ENDS if ends else _ORDINARY),
}


def values(param, ends):
    """Return the values of a parameter."""
    return next(of(param, ends) for kind, of in _VALUES.items() if isinstance(param, kind))


def parameters(measure, highest, ends=False):
    """Yield a measure with parameters: none, each value of each alone, and pairs at the range limits."""
    kind = measure_cases.fixed(measure)
    offered = [
        [{name: value} for value in values(param, ends) if measure_cases.together(measure, {name: value})]
        for name, param in measure.SUPPORTED_PARAMS.items()
        if name not in kind
    ]
    chosen = [{}] + [one for some in offered for one in some]
    if ends:
        chosen += [{**a, **b} for some, others in combinations(offered, 2) for a in some for b in others]
    for params in chosen:
        if measure_cases.needs_cutoff(measure, params):
            params.setdefault("cutoff", 10)
        made = measure(**kind, **params)
        if made.highest_level >= highest:
            yield made


def of_long_rankings(measure):
    """Yield a measure with the parameters that decide how fast lower ranks lose weight."""
    cutoff = {"cutoff": 10**6} if measure_cases.needs_cutoff(measure, {}) else {}
    offered = {"max_rel": 1000} if "max_rel" in measure.SUPPORTED_PARAMS else {}
    fading = measure_cases.together(measure, offered)
    scales = [{"max_rel": highest} for highest in (1000, 1e6)] if fading else []
    for params in [{}, *scales]:
        yield measure(**cutoff, **measure_cases.fixed(measure), **params)


# -------------------------------------------------------------------------------------------- collections


def topic(seed, scale, retrieved, judged):
    """Return a random topic: the levels of its documents, and a ranking that includes unjudged documents."""
    rng = random.Random(seed)  # noqa: S311
    docs = [f"d{n}" for n in range(max(retrieved, judged) * 3 // 2)]
    levels = {doc: rng.choice(scale) for doc in rng.sample(docs, judged)}
    return levels, rng.sample(docs, retrieved)


def collection(scales, topics, retrieved, judged):
    """Return several topics on each scale: qrels and rankings."""
    made = {
        f"{at}-{number}": topic(100 * at + number, scale, retrieved, judged)
        for at, scale in enumerate(scales)
        for number in range(topics)
    }
    return {name: levels for name, (levels, _) in made.items()}, {
        name: docs for name, (_, docs) in made.items()
    }


WHOLE, SOFT = (-1, 0, 1, 2, 3), (0, 0.1, 0.7, 1, 1 / 3 + 1, 2.75, 3)
ORDINARY = collection([WHOLE, SOFT], topics=8, retrieved=60, judged=40)
#: Topics with all levels, or with one alone, because topics must not affect each other.
ENDS = collection([WHOLE, (0, 1), (2,), (3,), (0.7, 2.75)], topics=1, retrieved=12, judged=12)
_RUNS_OF_LEVELS = [
    (1, 2, 3),
    (1e-100, 1, 1e100),
    (1e99, 1e100),
    (1e-100, 2e-100),
    (2.0**62, 2.0**62 + 2**10),
]
LEVELS_AT_ENDS = collection(_RUNS_OF_LEVELS, topics=2, retrieved=12, judged=12)
LARGEST_LEVEL = 1e100
#: Topics with many relevant documents.
LONG = collection([(0, 1, 2, 3), (0, 0.1, 0.7, 1, 1 / 3 + 1, 2.75)], topics=1, retrieved=3000, judged=2700)


def joined(*collections):
    """Return several collections as one, with new names for their topics."""
    qrels, rankings = {}, {}
    for number, (some, some_rankings) in enumerate(collections):
        qrels |= {f"{number}-{name}": levels for name, levels in some.items()}
        rankings |= {f"{number}-{name}": docs for name, docs in some_rankings.items()}
    return qrels, rankings


def of_every_kind(**common):
    """Return every measure of documents, with the common parameters that it takes, and the classics."""
    measures = []
    for measure in VARIANTS.values():
        taken = measure_cases.together(measure, common)
        cutoff = {"cutoff": 20} if measure_cases.needs_cutoff(measure, {}) else {}
        measures.append(measure(**{**cutoff, **taken}))
    by_name = [one for some in CLASSIC_VARIANTS.values() for one in some]
    return measures + [one for one in by_name if not str(one).startswith(("ERR", "nDCG(dcg"))]


def run_of(rankings):
    """Return rankings as a run."""
    return {
        name: {doc: float(len(docs) - rank) for rank, doc in enumerate(docs)}
        for name, docs in rankings.items()
    }


# -------------------------------------------------------------------------------------------------- errors


def ulps(score, expected):
    """Return the difference of a score from the decimal, in ulps of the nearest double."""
    if not math.isfinite(score):
        return math.inf
    return float(abs(Decimal(score) - expected) / Decimal(math.ulp(float(expected))))


def scores(measures, qrels, rankings):
    """Return the scores of the package by measure and topic."""
    found = {}
    for metric in PROVIDER.evaluator(list(measures), qrels).iter_calc(run_of(rankings)):
        found.setdefault(metric.measure, {})[metric.query_id] = metric.value
    return found


def errors(measures, qrels, rankings):
    """Yield errors by topic of measures: (ulps, measure, topic, score, expected score)."""
    all_levels = {level for docs in qrels.values() for level in docs.values()}
    for measure, by_topic in scores(dict.fromkeys(measures), qrels, rankings).items():
        for name, score in by_topic.items():
            topic = qrels[name], rankings[name], max(all_levels), all_levels
            expected = ranked.score(measure.NAME, measure.params, *topic, number=Decimal)
            yield ulps(score, expected), str(measure), name, score, float(expected)


def largest(errors):
    """Return the largest of some errors."""
    return max(errors, default=(0.0, "", "", 0.0, 0.0))
