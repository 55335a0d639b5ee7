"""Comparison of measures: each cell of the table equals the result of its method."""

import numpy as np
import pandas as pd
import pytest

from ir_graded import meta

OPTIONS = {"n_resamples": 40, "memory_mib": 1}
METHODS_OPTIONS = {"alpha": 0.3, "test": "randomisation"}


@pytest.fixture(scope="module")
def matrices():
    rng = np.random.default_rng(4)
    steps = np.linspace(0, 0.3, 5)
    return {name: pd.DataFrame(np.round(steps + rng.random((8, 5)), 3)) for name in ("weak", "fine", "twin")}


@pytest.fixture
def compared(matrices):
    return meta.compare_measures(matrices, fuzziness=0.035, rng=3, **OPTIONS, **METHODS_OPTIONS)


def seeds():
    """Return one seed per method, drawn from the seed of the comparison."""
    return [int(seed) for seed in np.random.default_rng(3).integers(0, 2**62, 3)]


def test_the_columns_have_their_order(compared):
    table = compared.to_frame()
    assert list(table) == [
        *("power", "required_difference", "minority_rate", "proportion_of_ties", "sensitivity"),
        *("swap_difference", "kendall", "kendall_variant", "tau_ap", "tau_ap_variant"),
    ]
    assert table.index.name == "measure"


def test_every_cell_equals_the_result_of_its_method(compared, matrices):
    table = compared.to_frame()
    for_power, for_stability, for_swap = seeds()
    for name, matrix in matrices.items():
        power = meta.discriminative_power(matrix, rng=for_power, **METHODS_OPTIONS, **OPTIONS)
        stable = meta.stability(matrix, fuzziness=[0.035], rng=for_stability, **OPTIONS)
        swap = meta.swap(matrix, rng=for_swap, **OPTIONS)
        expected = [
            power.power, power.required_difference, stable.minority_rate[0], stable.proportion_of_ties[0],
            swap.sensitivity, swap.required_difference,
        ]  # fmt: skip
        np.testing.assert_array_equal(table.loc[name].tolist()[:6], expected)
    correlations = meta.rank_correlations(matrices, reference="weak").to_frame()
    pd.testing.assert_frame_equal(table[list(correlations)].loc[list(matrices)], correlations)


def test_the_results_of_the_methods_are_kept(compared, matrices):
    assert list(compared.power) == list(compared.stability) == list(compared.swap) == list(matrices)
    assert {one.n_resamples for one in (*compared.stability.values(), *compared.swap.values())} == {40}
    assert {(one.n_resamples, one.alpha, one.test) for one in compared.power.values()} == {
        (40, 0.3, "randomisation")
    }
    assert compared.fuzziness == 0.035
    hundredths = [0.01, 0.02, 0.03, 0.035, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1]
    assert compared.stability["weak"].fuzziness.tolist() == hundredths


@pytest.mark.slow
def test_the_most_discriminative_measure_comes_first_and_ties_keep_their_order():
    rng = np.random.default_rng(0)
    clear = np.linspace(0, 1, 4) + rng.random((9, 4)) / 50
    noisy = rng.random((9, 4))
    given = {**{f"noisy {n:02}": noisy for n in range(20, 0, -1)}, "clear": clear}
    table = meta.compare_measures(given, n_resamples=20).to_frame()
    assert table.index.tolist() == ["clear", *list(given)[:-1]]
    assert table.loc["clear", "power"] == 1


def test_the_reference_is_the_first_measure_or_the_one_named(matrices):
    assert meta.compare_measures(matrices, n_resamples=20).correlations.reference == "weak"
    assert meta.compare_measures(matrices, n_resamples=20, reference="twin").correlations.reference == "twin"
