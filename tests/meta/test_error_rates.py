"""Simulated error rates, coverage and decisions are those of the specification, sections 7.2 and 7.4."""

import math

import pytest
from collections_data import needs_shared_data

from benchmarks import error_rates

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore:weights. the effective number", "ignore:the randomisation test cannot"
    ),
]
REPETITIONS = 300


def margin(share, repetitions, of_expected=2000):
    """Three standard errors of the difference of two simulated shares."""
    return 3 * math.sqrt(share * (1 - share) * (1 / repetitions + 1 / of_expected))


@pytest.mark.parametrize(
    "at",
    [
        pytest.param(at, id=f"{topics} topics", marks=[pytest.mark.release] if at else [])
        for at, topics in enumerate(error_rates.TOPICS)
    ],
)
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=[needs_shared_data] if row[0] == "means" else [], id=" ".join(row))
        for row in error_rates.EXPECTED
    ],
)
def test_error_rates_are_those_of_the_specification(row, at):
    found = error_rates.rates(*row, error_rates.TOPICS[at], REPETITIONS)
    for (rate, _), expected in zip(found, error_rates.EXPECTED[row][at], strict=True):
        assert rate == pytest.approx(expected, abs=margin(max(expected, 0.02), REPETITIONS))


#: Probability of any false claim about all pairs by the tests randomisation, t and bootstrap.
OF_ALL_PAIRS = {
    ("real means", 20): (0.007, 0, 0),
    ("real means", 50): (0, 0, 0),
    ("groups of five equal, exchanged", 20): (0.04, 0.01, 0),
    ("groups of five equal, exchanged", 50): (0.05, 0.03, 0.01),
    ("all equal, exchanged", 20): (0.155, 0.065, 0.003),
    ("all equal, exchanged", 50): (0.12, 0.06, 0.035),
    ("all equal, shifted", 20): (0.39, 0.285, 0.075),
    ("all equal, shifted", 50): (0.185, 0.12, 0.075),
}


@needs_shared_data
@pytest.mark.parametrize(("null", "topics"), OF_ALL_PAIRS)
def test_claims_about_all_pairs_are_as_often_false_as_specified(null, topics):
    for test, expected in zip(error_rates.PAIR_TESTS, OF_ALL_PAIRS[null, topics], strict=False):
        rate, power = error_rates.all_pairs(null, test, topics, 25)
        assert rate == pytest.approx(expected, abs=margin(max(expected, 0.02), 25, 300)), test
        assert (power > 0) == ("all" not in null)


@needs_shared_data
@pytest.mark.parametrize(
    ("measure", "topics", "single", "together"),
    [("AP", 10, 0.950, 0.940), ("AP", 50, 0.948, 0.972), ("RR", 10, 0.848, 0.529), ("RR", 50, 0.937, 0.880)],
)
def test_intervals_hold_the_true_difference_as_often_as_specified(measure, topics, single, together):
    found = error_rates.interval_coverage(measure, topics, 400)
    # The 19 differences of a family are correlated.
    assert found[0] == pytest.approx(single, abs=margin(single, 400))
    assert found[1] == pytest.approx(together, abs=margin(together, 400))


def test_weighted_intervals_hold_the_true_difference():
    # The specification gives .958 for its scores.
    assert error_rates.weighted_coverage(1, False, 1000) == pytest.approx(0.945, abs=0.03)


@needs_shared_data
def test_gate_decides_as_often_as_specified():
    lost = error_rates.gate(20, 0.05, 500)
    assert lost["worse"] == pytest.approx(0.29, abs=margin(0.29, 500))
    assert lost["passes"] < 0.03
    assert error_rates.gate(200, 0.05, 300)["worse"] > 0.85
    # A run that loses exactly the tolerance passes with probability alpha.
    assert error_rates.gate(100, 0.02, 500)["passes"] == pytest.approx(0.05, abs=margin(0.05, 500))
    assert error_rates.gate(200, 0, 300)["passes"] == pytest.approx(0.39, abs=margin(0.39, 300))


@needs_shared_data
@pytest.mark.filterwarnings("ignore:.*it is not known if the qrels differ")
def test_small_losses_are_found_against_a_fixed_release_and_by_a_history():
    previous, fixed, history = error_rates.alarms(10 * (0.01,), 0.06, 200, 0.05, 0.02, 25)
    assert previous == pytest.approx(0.11, abs=margin(0.11, 25))
    assert (fixed, history) == (1, 1)


@needs_shared_data
@pytest.mark.filterwarnings("ignore:.*it is not known if the qrels differ")
def test_a_history_of_equal_commits_has_few_false_alarms():
    previous, _, history = error_rates.alarms(20 * (0,), 0.12, 50, 0.05, 0, 40)
    assert previous == pytest.approx(0.56, abs=margin(0.56, 40))
    assert history == pytest.approx(0.08, abs=margin(0.08, 40))


@needs_shared_data
def test_the_mean_of_the_best_run_is_too_high():
    for measure, excess, error in (("RR", 0.024, 0.0018), ("AP", 0.0046, 0.0025)):
        assert error_rates.best_of(measure, 19, 20, 150)[0] == pytest.approx(excess, abs=3 * error)


@needs_shared_data
@pytest.mark.filterwarnings("ignore:3 collections are too few")
@pytest.mark.parametrize(("k", "share"), [(3, 0.924), (10, 0.944)])
def test_intervals_hold_the_effect_of_a_further_collection_as_often_as_documented(k, share):
    assert error_rates.prediction(k, 3, 500) == pytest.approx(share, abs=margin(share, 500))


@needs_shared_data
@pytest.mark.filterwarnings("ignore:only 10 topics have human labels")
def test_intervals_from_model_labels_hold_means_as_often_as_documented():
    means, differences = error_rates.powered("ap", "ndcg20", 10, 200, 200)
    assert means == pytest.approx(0.90, abs=0.03)
    assert differences == pytest.approx(0.928, abs=0.03)
