"""Scores with ties compared with a reference that scores every order of the tied documents."""

from itertools import chain

import pytest
from reference.tie_cases import ELSEWHERE, FURTHER, VARIANTS, rng_of
from ties.tie_scores import (
    HOW,
    measure_of,
    random_collection,
    reference_scores,
    run_of,
    scores,
    supported_parameters,
)

from ir_graded import ParameterError
from ir_graded.measures import REGISTRY
from ir_graded.measures.classic import CLASSICS
from ir_graded.measures.classic.ties import with_ties

#: Random collections for each measure, and topics of each.
COLLECTIONS, TOPICS = 10, 20


@pytest.mark.slow
@pytest.mark.parametrize("variant", [*VARIANTS, *FURTHER])
def test_scores_equal_those_over_all_orders(variant):
    rng = rng_of(f"engine {variant}")
    positive = 0
    for _ in range(COLLECTIONS):
        qrels, groups = random_collection(rng, TOPICS)
        name, params = supported_parameters(rng, variant)
        measures = {how: measure_of(name, params, how) for how in HOW}
        found = scores(measures.values(), qrels, run_of(groups))
        for how, measure in measures.items():
            expected = reference_scores(name, params, how, qrels, groups)
            assert found[measure] == pytest.approx(expected, rel=0, abs=1e-12), (measure, qrels, groups)
            positive += sum(score > 0 for score in expected.values())
    assert positive > 0.7 * COLLECTIONS * TOPICS


def takes_ties(measure):
    """Whether the score of a measure depends on the order of tied documents, which may be set."""

    def differs(how):
        try:
            return with_ties(measure, how) != measure
        except ParameterError as error:
            return " ties" not in str(error)  # a required parameter is missing

    return any(map(differs, HOW))


def test_every_measure_with_ties_has_cases():
    measures = {measure.NAME: measure for measure in REGISTRY.values()}
    measures |= {name: classic.MEASURE for name, classic in CLASSICS.items()}
    taking = {name for name, measure in measures.items() if takes_ties(measure)}
    here = {name for name, _, _ in {**VARIANTS, **FURTHER}.values()}
    elsewhere = [*chain(*ELSEWHERE.values())]
    assert here.isdisjoint(elsewhere)
    assert taking == here | {*elsewhere}
