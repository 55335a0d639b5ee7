"""Shared by the tests of measures: qrels, runs and parameters drawn for every registered measure."""

from __future__ import annotations

import math
import random
from functools import cache, singledispatch
from itertools import product

import ir_measures
import numpy as np
import pandas as pd
from hypothesis import settings, strategies as st
from reference import ranked

from ir_graded import ParameterError
from ir_graded.core.facets import SPAN, STRATUM_OR_ITERATION
from ir_graded.measures import REGISTRY
from ir_graded.measures.params import Choice, Flag, LevelTable, Number, Param, Whole

#: Measures over passages take other qrels, and are tested separately.
PASSAGE_MEASURES = {measure.NAME for measure in REGISTRY.values() if SPAN in measure.NEEDS}


def needs_columns(measure) -> bool:
    """Return whether a measure needs further columns of the qrels, or a base measure."""
    needed = {name for name, param in measure.SUPPORTED_PARAMS.items() if param.required}
    return bool(needed - {"cutoff"} or measure.further_columns)


#: Measures of intents, classes and groups take other qrels, and are tested separately.
COLUMN_MEASURES = {measure.NAME for measure in REGISTRY.values() if needs_columns(measure)}

#: Measures of sampled judgments count documents that were not judged, and are tested separately.
SAMPLED_MEASURES = {measure.NAME for measure in REGISTRY.values() if STRATUM_OR_ITERATION in measure.USES}

#: Every measure of ranked lists by its printed name, without parameters.
MEASURES = {
    measure.NAME: REGISTRY[measure.NAME]
    for measure in REGISTRY.values()
    if measure.NAME not in PASSAGE_MEASURES | COLUMN_MEASURES | SAMPLED_MEASURES
}

#: Parameters that make a variant of a measure, which keeps its value when others are drawn.
KINDS = ("stop", "utility", "penalty")


def together(measure, params):
    """Return the parameters that fit the measure and the parameters before them; kinds come first."""
    kept = {}
    for name in sorted(params, key=lambda name: name not in KINDS):
        try:
            measure(**kept, **{name: params[name]})
        except ParameterError:
            continue
        kept[name] = params[name]
    return kept


def fixed(measure):
    """Return the parameters that make a variant; its kinds are always included."""
    return {kind: measure[kind] for kind in KINDS if kind in measure.SUPPORTED_PARAMS} | measure.params


def _variants(measure):
    """Return the measure with every choice of its kinds, also divided by the ideal list if possible."""
    supported = measure.SUPPORTED_PARAMS
    kinds = [kind for kind in KINDS if kind in supported]
    norms = ["all", *({"ideal"} & set(getattr(supported.get("norm"), "words", ())))]
    for values in product(*(supported[kind].words for kind in kinds), norms):
        params = dict(zip([*kinds, *(["norm"] if "norm" in supported else [])], values, strict=False))
        if together(measure, params) == params:
            yield measure(**params)


#: The measures and, after each, its variants by other kinds, with norm='all' and 'ideal'.
VARIANTS = list(
    dict.fromkeys([*MEASURES.values(), *(one for measure in MEASURES.values() for one in _variants(measure))])
)

DOC_IDS = [*(f"d{n}" for n in range(1, 15)), "D1", "d", "é", "文", "𝄞"]
SCALES = {
    "binary": (0, 1),
    "graded": (-2, -1, 0, 1, 2, 3),
    "doubling": (0, 2, 4, 8, 16),
    "soft": (-0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 2.75),
    "mixed": (-1, 0, 0.5, 1, 2, 16),
}
WHOLE_SCALES = ("binary", "graded", "doubling")
HIGHEST_LEVEL = max(map(max, SCALES.values()))

# Equal scores, signed zeros, and scores that only float32 makes equal: near 1, below and above its range.
SCORES = (
    *(-math.inf, -1e300, -1e39, -2.5, -1e-46, -0.0, 0.0, 1e-46, 0.1, 0.1 + 1e-12),
    *(1, 1.0 + 1e-9, 1.0 + 2e-9, 2, 2.5, 3, 4, 1e39, 1e300, math.inf),
)
#: Filter of the warning about scores that only float32 makes equal, beside measures of pytrec_eval.
CLOSE_SCORES = "ignore:The run has scores that are equal as float32:ir_graded.CoverageWarning"
#: Most examples without --examples.
MOST_EXAMPLES = 40
WEIGHTS = (0, 1e-9, 0.1, 1 / 3, 0.5, 1, 1.5, 2, 3, math.pi, 7, 10, 99.9)
TABLE_LEVELS = (1, 2, 3, 0.5, 16, 1.5, 0, 4, 2.75, 8, 20, -1, 0.25)
NUMBERS = (0, 1e-6, 1e-3, 0.25, 0.5, 0.7, 0.95, 0.99, 1, 1.5, 2, 3, 4, 8, 1e6, math.inf)


def examples(count):
    """Run the same examples every time: as many as --examples says, else at most ``count``."""
    most = settings.default.max_examples
    return settings(max_examples=most if most > MOST_EXAMPLES else min(count, most), derandomize=True)


# ------------------------------------------------------------------------------------------ qrels and runs


# For each topic, the position of each document's level on the scale, modulo its length; above 42: unjudged.
PLACES = st.lists(st.lists(st.integers(0, 55), min_size=4, max_size=14), min_size=1, max_size=3)
JUDGED = range(42)


def qrels(scales=tuple(SCALES)):
    """Draw qrels of one to three topics on one scale."""
    return st.tuples(st.sampled_from(scales), PLACES).map(_qrels)


def _qrels(drawn):
    scale = SCALES[drawn[0]]
    qrels = {}
    for topic, places in zip(("1", "10", "2"), drawn[1], strict=False):
        # The first document is always judged.
        judged = [(DOC_IDS[0], places[0])]
        judged += [
            (doc, place) for doc, place in zip(DOC_IDS[1:], places[1:], strict=False) if place in JUDGED
        ]
        qrels[topic] = {doc_id: scale[place % len(scale)] for doc_id, place in judged}
    return qrels


def qrels_for_pytrec_eval():
    """Draw qrels that pytrec_eval reads: whole levels, and in each topic one above -2 (else it may crash)."""
    return qrels(WHOLE_SCALES).filter(lambda drawn: all(max(docs.values()) > -2 for docs in drawn.values()))


# For each topic, the score of each document, or None if it was not retrieved; and an order of documents.
OF_TOPIC = st.lists(st.sampled_from((None, *SCORES)), min_size=6, max_size=len(DOC_IDS))
SCORE_LISTS = st.lists(st.one_of(OF_TOPIC, OF_TOPIC, st.just([])), min_size=1, max_size=4)
ORDERS = st.integers(0, 1000)


def runs(min_docs=0):
    """Draw runs with shared and other topics, and with judged and unjudged documents in any order."""
    return st.tuples(SCORE_LISTS, ORDERS).map(lambda drawn: _run(*drawn, min_docs))


def runs_for_pytrec_eval(min_docs=0):
    """Draw runs whose scores pytrec_eval, which compares them as float32, ranks as this package does."""
    return runs(min_docs).map(as_float32)


def as_float32(run):
    """Return a run with its scores rounded to float32."""
    with np.errstate(over="ignore", under="ignore"):
        return {t: {doc: float(np.float32(one)) for doc, one in docs.items()} for t, docs in run.items()}


def _run(score_lists, order, min_docs):
    doc_ids = shuffled(DOC_IDS, order)
    run = {}
    for topic, scores in zip(("1", "10", "other", "2"), score_lists, strict=False):
        retrieved = {doc: score for doc, score in zip(doc_ids, scores, strict=False) if score is not None}
        if len(retrieved) >= min_docs:
            run[topic] = retrieved
    return run


def shuffled(items, order):
    """Return the items in another order, one for each number ``order``."""
    return random.Random(order).sample(items, len(items))  # noqa: S311


def qrels_frame(qrels):
    """Return qrels as a table, with rows in the order of the dicts."""
    rows = [(topic, doc, level) for topic, docs in qrels.items() for doc, level in docs.items()]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])


def run_rows(run):
    """Return a run as a list of rows."""
    return [(topic, doc, score) for topic, docs in run.items() for doc, score in docs.items()]


def run_frame(rows):
    """Return the rows of a run as a table."""
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])


def runs_twice(min_docs=0):
    """Return a run as a dict of dicts, and as a table with its rows shuffled."""
    return st.tuples(runs(min_docs), ORDERS).map(
        lambda drawn: (drawn[0], run_frame(shuffled(run_rows(drawn[0]), drawn[1])))
    )


# ---------------------------------------------------------------------------------------------- parameters


@singledispatch
def values(param: Param):
    """Return the values that a parameter may have. A new kind of parameter needs an entry here."""
    raise NotImplementedError(f"no strategy for parameters of type {type(param).__name__}")


@values.register(Whole)
def _(_):
    return st.one_of(st.integers(1, len(DOC_IDS) + 2), st.integers(1, 8), st.just(1000))


@values.register(Flag)
def _(_):
    return st.booleans()


@values.register(Choice)
def _(param):
    # Dividing by the ideal list makes another variant.
    return st.sampled_from([word for word in param.words if word != "ideal"])


@values.register(LevelTable)
def _(_):
    return st.lists(st.sampled_from((None, None, *WEIGHTS)), min_size=1, max_size=len(TABLE_LEVELS)).map(
        _table
    )


def _table(weights):
    named = zip(TABLE_LEVELS, weights, strict=False)
    return {level: weight for level, weight in named if weight is not None}


@values.register(Number)
def _(param):
    listed = numbers_of(param)
    within = [number for number in listed if number <= 10]
    if len(within) < 2:
        return st.sampled_from(listed)
    return st.one_of(st.sampled_from(listed), st.floats(min(within), max(within), allow_subnormal=False))


def numbers_of(param):
    """Return the numbers that a parameter may have."""
    bounds = param.bounds
    if not {"low", "above"} & bounds.keys():
        # Any number is valid, but no level of the qrels may be above it.
        return [HIGHEST_LEVEL, HIGHEST_LEVEL + 0.5, 20, 1000]
    low = bounds["low"] if "low" in bounds else bounds["above"] + 1e-6
    # This is for a level without an upper limit: hardly any document is left above 4.
    high = bounds.get("high", math.inf if param.infinite else 4)
    below = bounds.get("below", math.inf) - 1e-6
    return [number for number in NUMBERS if low <= number <= min(high, below)]


@cache
def parameters(measure, complete=True):
    """Draw parameters that a measure takes together; ``complete``: including all required ones."""
    supported = measure.SUPPORTED_PARAMS
    offered = {
        name: st.one_of(st.just(UNSET), values(param))
        for name, param in supported.items()
        # The tests of ties compare the orders of tied documents, those of passages what ranks count.
        if name not in {*fixed(measure), "rel", "judged_only", "ties", "ranks"}
    }
    # Parameters with the largest effect are drawn less often, or little would be left of the others.
    for name in {"rel", "judged_only"} & set(supported):
        offered[name] = st.one_of(st.just(UNSET), st.just(UNSET), values(supported[name]))
    cutoffs = values(supported["cutoff"]) if "cutoff" in supported else st.none()
    return st.tuples(st.fixed_dictionaries(offered), cutoffs).map(lambda d: _together(measure, *d, complete))


UNSET = object()


def _together(measure, drawn, cutoff, complete):
    params = together(measure, {name: value for name, value in drawn.items() if value is not UNSET})
    params |= fixed(measure)
    if complete and needs_cutoff(measure, params):
        params.setdefault("cutoff", cutoff)
    return params


def needs_cutoff(measure, params):
    """Return whether a measure cannot be computed without a cutoff."""
    cutoff = measure.SUPPORTED_PARAMS.get("cutoff")
    return cutoff is not None and (cutoff.required or params.get("norm") == "cutoff")


# -------------------------------------------------------------------------------------------------- scores


def scores(measure, qrels, run):
    """Return the score of each topic from ir_measures."""
    return scores_of_all([measure], qrels, run)[measure]


def scores_of_all(measures, qrels, run):
    """Return the score of each topic by each measure, all in one call."""
    found = {measure: {} for measure in measures}
    for metric in ir_measures.iter_calc(list(found), qrels, run):
        assert metric.query_id not in found[metric.measure]
        found[metric.measure][metric.query_id] = metric.value
    return found


def reference_scores(measure, params, qrels, run):
    """Return the score of each topic by the plain reference."""
    return ranked.evaluate(measure.NAME, params, qrels, run)


def assert_same_scores(got, expected, tolerance=1e-12):
    """Check for equal topics, and scores equal up to rounding."""
    assert got.keys() == expected.keys()
    for topic, value in expected.items():
        assert abs(got[topic] - value) <= tolerance, (topic, got[topic], value)
