"""Validation experiments: samples are drawn from complete judgments, and the page has bias and coverage."""

import numpy as np
import pytest
from collections_data import needs_shared_data
from helpers import rows_of_docs

from benchmarks import estimates_coverage as coverage

#: Bias, root mean squared error, tau and coverage of earlier simulations with another program.
EXPECTED = {
    ("uniform, 10%", "AP"): (-0.009, 0.029, 0.894, 0.85),
    ("A: 1/2, 1/10, 1/20", "AP"): (-0.002, 0.015, 0.938, 0.91),
    ("A: 1/2, 1/10, 1/20", "Q"): (-0.002, 0.014, 0.942, 0.90),
    ("B: all, 1/5, 1/10", "AP"): (-0.001, 0.010, 0.957, 0.93),
    ("B: all, 1/5, 1/10", "Q"): (-0.001, 0.009, 0.958, 0.93),
    ("B: all, 1/5, 1/10", "nDCG@10"): (0.001, 0.021, 0.903, 0.93),
}
DIFFERENCES = {
    "uniform, 10%": {"AP": 0.91, "Q": 0.90, "nDCG@10": 0.95},
    "A: 1/2, 1/10, 1/20": {"AP": 0.94, "Q": 0.94, "nDCG@10": 0.95},
    "B: all, 1/5, 1/10": {"AP": 0.94, "Q": 0.94, "nDCG@10": 0.94},
}
AS_COMPLETE = {
    ("uniform, 10%", "AP"): (-0.218, 0.806),
    ("A: 1/2, 1/10, 1/20", "AP"): (-0.113, 0.901),
    ("A: 1/2, 1/10, 1/20", "Q"): (-0.091, 0.920),
    ("B: all, 1/5, 1/10", "AP"): (-0.010, 0.894),
    ("B: all, 1/5, 1/10", "Q"): (0.005, 0.910),
    ("B: all, 1/5, 1/10", "nDCG@10"): (-0.063, 0.864),
}


def rows_of_page():
    return {(row["design"], row["measure"]): row for row in rows_of_docs("trust/estimates.csv")}


def test_the_page_has_all_designs_and_measures():
    assert list(rows_of_page()) == [(design, m) for design in coverage.DESIGNS for m in coverage.MEASURES]


def test_the_page_agrees_with_the_expected_figures():
    page = rows_of_page()
    for case, expected in EXPECTED.items():
        found = [float(page[case][name]) for name in ("bias", "rmse", "tau", "coverage")]
        # One topic has nine relevant documents. Uniform samples have none of them in 40% of the cases.
        most = (0.012, 0.006, 0.015, 0.08) if case[0].startswith("uniform") else (0.004, 0.002, 0.01, 0.03)
        assert (np.abs(np.subtract(found, expected)) <= most).all(), (case, found)
    for case, expected in AS_COMPLETE.items():
        found = [float(page[case][f"as complete: {name}"]) for name in ("bias", "tau")]
        assert (np.abs(np.subtract(found, expected)) <= (0.003, 0.015)).all(), (case, found)
    for design, of_measures in DIFFERENCES.items():
        for measure, expected in of_measures.items():
            found = float(page[design, measure]["coverage of differences"])
            assert abs(found - expected) <= 0.04, (design, measure, found)


@pytest.mark.release
@needs_shared_data
@pytest.mark.parametrize("design", coverage.DESIGNS)
def test_a_simulation_has_the_bias_and_coverage_of_the_page(design):
    labels, found, error = coverage.figures(design, repetitions=8, seed=1)
    page = rows_of_page()
    for at, measure in enumerate(coverage.MEASURES):
        row = page[design, measure]
        assert round(labels) == int(row["judged"])
        # Both simulations have errors.
        for place, name, rounding in (
            (0, "bias", 0.001),
            (3, "coverage", 0.05),
            (4, "coverage of differences", 0.05),
        ):
            off = abs(found[at, place] - float(row[name]))
            assert off <= 5 * error[at, place] + rounding, (measure, name, off)
