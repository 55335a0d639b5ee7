"""Published tables, recomputed on real collections: counts and correlations as the documentation has them."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from collections_data import ROOT, needs_shared_data

import ir_graded
from ir_graded import meta

PROJECT = Path(__file__).parents[2]
SCRIPT = PROJECT / "benchmarks" / "papers_tables.py"
PRINTED = PROJECT / "docs" / "trust" / "papers"
pytestmark = [
    needs_shared_data,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning"),
    pytest.mark.skipif(
        not SCRIPT.is_file(), reason="needs the benchmarks, which a source distribution lacks"
    ),
]
#: Significant pairs out of 120, by gains and stop distribution, for gamma from 1 to .5 or for the three
#: betas.
PAIRS = {
    ("1:2:3", "rb"): [92, 81, 65, 58, 93, 83, 62, 52, 87, 72, 63, 51],
    ("1:2:3", "gu"): [89, 90, 87],
    ("1:5:10", "rb"): [90, 78, 60, 42, 82, 67, 53, 38],
    ("1:5:10", "gu"): [84, 86, 81],
}


#: On TREC-COVID round 5 with the gains 1:2, by stop distribution, beta and gamma: tau and tau_AP with AP,
#: power and required difference of one run per team, and power of the 50 best runs by AP.
COVID = {
    ("rb", 0, 1): (1, 1, 0.868, 0.058, 0.678),
    ("rb", 1, 1): (0.969, 0.958, 0.873, 0.051, 0.676),
    ("gu", 0, None): (0.990, 0.980, 0.870, 0.058, 0.685),
    ("gu", 1, None): (0.965, 0.946, 0.868, 0.057, 0.684),
    ("rb", 10000, 1): (0.901, 0.858, 0.876, 0.057, 0.685),
    ("rb", 0, 0.9): (0.818, 0.727, 0.815, 0.111, 0.527),
    ("rb", 0, 0.7): (0.759, 0.658, 0.717, 0.161, 0.314),
    ("rb", 0, 0.5): (0.727, 0.632, 0.635, 0.135, 0.202),
    ("rb", 1, 0.9): (0.814, 0.725, 0.828, 0.110, 0.556),
    ("rb", 1, 0.7): (0.756, 0.663, 0.738, 0.133, 0.418),
    ("rb", 1, 0.5): (0.732, 0.651, 0.685, 0.141, 0.327),
}
#: Required difference and sensitivity by the swap method, on the 50 best runs by AP.
SWAP = {
    "Q": (0.03, 0.628),
    "AP": (0.03, 0.618),
    "nDCG@20": (0.05, 0.472),
    "O-measure": (0.09, 0.130),
    "P-measure": (0.09, 0.100),
    "RR": (0.09, 0.067),
}


@pytest.fixture(scope="module")
def script():
    import sys

    sys.path.insert(0, str(SCRIPT.parent))
    try:
        return runpy.run_path(str(SCRIPT))
    finally:
        sys.path.remove(str(SCRIPT.parent))


@pytest.fixture(scope="module")
def tables(script):
    return script["robust"](ROOT / "robust2003")


@pytest.fixture(scope="module")
def covid(script):
    return script["covid"](ROOT / "trec-covid")


def test_collection_statistics_match_the_paper(tables):
    counts = tables["robust_collection"]
    assert (counts["mean"].round(1) == counts["paper mean"]).all()
    assert counts.loc["N", ["min", "max"]].tolist() == [292, 2050]
    assert counts.loc["R", ["min", "max"]].tolist() == [4, 115]
    assert counts.loc["level 2", "topics"] == 43


def test_grid_matches_the_documentation_and_is_close_to_the_paper(tables):
    grid = tables["robust_grid"].reset_index()
    for (gains, stop), pairs in PAIRS.items():
        assert grid[(grid["gains"] == gains) & (grid["stop"] == stop)]["pairs"].tolist() == pairs
    assert grid["difference deviation"].abs().max() < 0.025
    assert (grid["difference deviation"].abs() < 0.01 + 1e-9).sum() >= 15
    assert grid["tau deviation"].abs().max() < 0.0945
    for name, related in (("pairs", 0.96), ("tau", 0.98)):
        assert np.corrcoef(grid[f"{name} paper"], grid[name])[0, 1] == pytest.approx(related, abs=0.005)


@pytest.mark.release
def test_grid_of_trec_covid_matches_the_documentation(covid):
    grid = covid["covid_grid_1_2"].set_index(["stop", "beta", "gamma"])
    columns = [
        *("kendall", "tau_ap", "power, one run a team", "difference, one run a team"),
        "power, top 50 by AP",
    ]
    for (stop, beta, gamma), printed in COVID.items():
        row = grid.loc[(stop, beta, np.nan if gamma is None else gamma), columns]
        assert row.to_numpy(dtype=float) == pytest.approx(printed, abs=0.00051), (stop, beta, gamma)


def test_rank_bias_lowers_power_and_agreement_with_ap(covid):
    for grid in (covid["covid_grid_1_2"], covid["covid_grid_1_10"]):
        for _, rows in grid[grid["stop"] == "rb"].groupby("beta"):
            for column in ("kendall", "tau_ap", "power, one run a team", "power, top 50 by AP"):
                assert rows.sort_values("gamma")[column].is_monotonic_increasing


def test_swap_method_orders_measures_as_the_documentation_says(covid):
    found = covid["covid_swap"]
    for name, (difference, sensitivity) in SWAP.items():
        assert found.loc[name, "difference"] == pytest.approx(difference)
        assert found.loc[name, "sensitivity"] == pytest.approx(sensitivity, abs=0.00051)


@pytest.mark.release
def test_variants_of_tau_ap_differ_where_only_the_estimate_has_ties(script):
    """Two of the runs are identical. Without one of them, AP has no ties and RR has some."""
    folder = ROOT / "trec-covid"
    runs = script["covid_runs"](folder / "round5.judged.tsv.xz")
    scores = ir_graded.evaluate(["AP", "RR"], folder / "qrels" / "qrels.covid-round5.txt.gz", runs)
    kept, dropped = meta.drop_identical(scores)
    assert len(dropped) == 1
    row = meta.rank_correlations(kept, "AP").to_frame().loc["RR"]
    assert row["tau_ap_variant"] == "tau_ap_a"
    assert row["tau_ap"] == pytest.approx(0.563440, abs=6e-7)
    means = [kept[name].mean().round(12) for name in ("AP", "RR")]
    assert meta.tau_ap_b(*means) == pytest.approx(0.576344, abs=6e-7)


@pytest.mark.parametrize("part", ["tables", "covid"])
def test_documentation_shows_the_output_of_the_script(part, request):
    for name, table in request.getfixturevalue(part).items():
        printed = pd.read_csv(PRINTED / f"{name}.csv")
        computed = table.round(4).reset_index()
        numbers = computed.select_dtypes("number").columns
        assert printed[numbers].to_numpy() == pytest.approx(
            computed[numbers].to_numpy(), abs=1e-6, nan_ok=True
        )
