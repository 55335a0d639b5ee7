"""Scores with ties compared with a reference that scores every order of the tied documents."""

import pytest
from reference.tie_cases import FURTHER, VARIANTS, rng_of
from ties.tie_scores import (
    HOW,
    measure_of,
    random_collection,
    reference_scores,
    run_of,
    scores,
    supported_parameters,
)

#: Random collections for each measure, and topics of each.
COLLECTIONS, TOPICS = 10, 20


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
