"""Shared by the tests of Spark: measures, a random collection, and its scores on one machine."""

import warnings

import numpy as np
from classics.classic_cases import is_computed
from measures import measure_cases

import ir_graded
from ir_graded.measures import REGISTRY
from ir_graded.measures.classic import CLASSICS, scorer_of


def every_measure(*, passages=False):
    """Return all measures of this package for qrels of documents, and those for passages on request."""
    wanted = {*measure_cases.MEASURES, *(measure_cases.PASSAGE_MEASURES if passages else ())}
    ours = {id(one): one for one in REGISTRY.values() if one.NAME in wanted}.values()
    return [
        one
        for one in map(complete, ours)
        if not scorer_of(one).further_columns and not scorer_of(one).NEEDS_QRELS_ORDER
    ]


def every_classic():
    """Return all classics for qrels of documents, with as few parameters as they need."""
    return [complete(kind.MEASURE) for kind in CLASSICS.values() if not kind.NEEDS]


def complete(measure):
    """Return a measure with as few further parameters as it needs."""
    kind = type(measure)
    some = [{}, {"cutoff": 10}, {"rel": 1}, {"rel": 1, "cutoff": 10}, {"recall": 0.1}]
    some += [{"max_rel": 3}, {"max_rel": 3, "cutoff": 10}]
    takes = [params for params in some if params.keys() <= measure.SUPPORTED_PARAMS.keys()]
    return next(one for params in takes if is_computed(one := kind(**{**measure.params, **params})))


def collection(seed, topics=23, runs=3, depth=50):
    """Return qrels and runs as rows; topics may be missing on either side; scores tie."""
    rng = np.random.default_rng(seed)
    names = [f"t{number}" for number in range(topics + 3)]
    qrels = [
        (topic, f"d{doc}", int(rng.integers(-1, 4)))
        for topic in names[:topics]
        for doc in rng.choice(90, 25, replace=False)
    ]
    rows = [
        (f"run{run}", topic, f"d{doc}", float(rng.integers(0, 12) * (1 + 1e-9 * rng.integers(0, 2))))
        for run in range(runs)
        for topic in names[run:]
        for doc in rng.choice(90, int(rng.integers(1, depth)), replace=False)
    ]
    return qrels, [rows[at] for at in rng.permutation(len(rows))]


def on_one_machine(measures, qrels, rows, **options):
    runs = {}
    for run, topic, doc, score in rows:
        runs.setdefault(run, {}).setdefault(topic, {})[doc] = score
    judged = {}
    for topic, doc, level in qrels:
        judged.setdefault(topic, {})[doc] = level
    with warnings.catch_warnings():
        # Here runs lack topics on purpose.
        warnings.simplefilter("ignore", ir_graded.CoverageWarning)
        return ir_graded.evaluate(measures, judged, dict(sorted(runs.items())), **options)


def expected_table(scores):
    return {
        (run, topic, str(measure)): scores.values[m, r, t]
        for m, measure in enumerate(scores.measures)
        for r, run in enumerate(scores.runs)
        for t, topic in enumerate(scores.query_ids)
    }


def same(found, expected):
    assert found.keys() == expected.keys()
    assert max(abs(found[key] - expected[key]) for key in expected) <= 1e-12
