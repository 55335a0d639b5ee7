"""Every measure keeps its value when ir-measures' measures and this package's are computed together."""

import ir_measures
import numpy as np
import pandas as pd
import pytest
from classics import classic_cases
from contracts import contract_cases as cases
from ir_measures.measures import Measure

import ir_graded
from ir_graded.measures import GradedMeasure

pytestmark = cases.BOTH_COLUMNS

#: Parameters that a measure of ir-measures may need.
NEEDED = ({}, {"cutoff": 5}, {"rel": 1}, {"max_rel": 3}, {"max_rel": 3, "cutoff": 5}, {"recall": 0.5})


INSTALLED = [provider for provider in classic_cases.UPSTREAM.providers if provider.is_available()]


def as_provided(measure):
    """Return the measure with parameters that an installed provider of ir-measures supports, or None."""
    for params in NEEDED:
        if params.keys() <= measure.SUPPORTED_PARAMS.keys():
            made = type(measure)(**params)
            if any(provides(provider, made) for provider in INSTALLED):
                return made
    return None


def provides(provider, measure):
    """Return whether a provider computes a measure that has all required parameters."""
    if provider.NAME == "pyndeval" and "cutoff" in measure.SUPPORTED_PARAMS.keys() - measure.params.keys():
        return False  # it fails without a cutoff
    try:
        return provider.supports(measure)
    except AssertionError:
        return False


UPSTREAM = {
    measure.NAME: as_provided(measure)
    for measure in ir_measures.measures.registry.values()
    if isinstance(measure, Measure) and not isinstance(measure, GradedMeasure)
}
PROVIDED = [measure for measure in UPSTREAM.values() if measure is not None]
OURS = [
    measure @ (0.5 if measure.AT_PARAM == "recall" else 5) if not cases.is_computed(measure) else measure
    for measure in cases.OWN
    if measure not in cases.SAMPLED
]
#: The run lacks the last topic.
TOPICS = ("1", "2", "3", "4")
EACH = pytest.mark.parametrize("measure", PROVIDED, ids=str)


@pytest.fixture(scope="module")
def tables():
    """Return qrels and a run as tables with all columns that any measure needs: subtopics and passages."""
    random = np.random.default_rng(8)
    qrels, run = [], []
    for topic in TOPICS:
        docs = [f"d{n}" for n in random.permutation(30)]
        qrels += [(topic, doc, int(random.integers(0, 4)), "0", 0, 100) for doc in docs[:15]]
        found = random.permutation(docs)[:20] if topic != TOPICS[-1] else []
        run += [(topic, doc, 20.0 - n, 0, 10 + 4 * n) for n, doc in enumerate(found)]
    names = ["query_id", "doc_id"]
    return (
        cases.with_columns(
            pd.DataFrame(qrels, columns=[*names, "relevance", "iteration", "start", "length"])
        ),
        pd.DataFrame(run, columns=[*names, "score", "start", "length"]),
    )


@pytest.fixture(scope="module")
def alone(tables):
    """Return scores of each measure in a separate call; those of ir-measures by its own providers."""
    documents = [table.drop(columns=["start", "length"]) for table in tables]
    found = {measure: by_topic(ir_measures.iter_calc([measure], *tables)) for measure in OURS}
    for measure in PROVIDED:
        found[measure] = by_topic(classic_cases.UPSTREAM.iter_calc([measure], *documents))
    # Alone, ir-measures' Accuracy leaves topics out; beside any other measure, they are filled in.
    missing = {measure: dict.fromkeys(TOPICS, measure.DEFAULT) for measure in found}
    return {measure: missing[measure] | values[measure] for measure, values in found.items()}


def by_topic(metrics):
    found = {}
    for metric in metrics:
        of_measure = found.setdefault(metric.measure, {})
        assert metric.query_id not in of_measure
        of_measure[metric.query_id] = metric.value
    return found


def test_measures_without_a_provider_belong_to_missing_libraries():
    lacking = {
        measure.NAME
        for provider in classic_cases.UPSTREAM.providers
        if not provider.is_available()
        for measure in provider.SUPPORTED_MEASURES
    }
    assert {name for name, measure in UPSTREAM.items() if measure is None} <= lacking
    assert len(PROVIDED) > 15


def test_all_measures_in_one_call_keep_their_values(tables, alone):
    for measures in ([*OURS, *PROVIDED], [*PROVIDED, *OURS][::-1]):
        together = by_topic(ir_measures.iter_calc(measures, *tables))
        assert list(together) == measures
        for measure, values in together.items():
            assert values == pytest.approx(alone[measure], abs=tolerance(measure)), measure


@EACH
def test_each_measure_keeps_its_value_beside_all_of_this_package(measure, tables, alone):
    together = by_topic(ir_measures.iter_calc([OURS[0], measure, *OURS[1:]], *tables))
    assert together.keys() == {measure, *OURS}
    for one, values in together.items():
        assert values == pytest.approx(alone[one], abs=tolerance(one)), one


def tolerance(measure):
    # gdeval prints five digits; 0 for measures of this package, which nothing beside them may change.
    return 0 if measure in OURS else 1e-5 if classic_cases.is_by_gdeval(measure) else cases.ROUNDING


def test_means_are_the_means_over_topics(tables, alone):
    means = ir_measures.calc_aggregate([*OURS, *PROVIDED], *tables)
    for measure, mean in means.items():
        aggregator = measure.aggregator()
        for value in alone[measure].values():
            aggregator.add(value)
        assert mean == pytest.approx(aggregator.result(), abs=max(tolerance(measure), cases.ROUNDING))


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_evaluate_gives_the_scores_of_ir_measures(tables, alone):
    scores = ir_graded.evaluate([*OURS, *PROVIDED], *tables)
    for measure, by_query in alone.items():
        assert scores.matrix(str(measure))["run"].to_dict() == pytest.approx(by_query, abs=tolerance(measure))
