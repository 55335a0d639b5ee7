"""``meta.across_collections``: the mean of collections, random effects and a forest plot."""

import numpy as np
import pandas as pd
import pytest
from collections_data import ROOT, needs_shared_data
from scipy import stats

from ir_graded import meta
from ir_graded.errors import CoverageWarning, InputError, ParameterError
from ir_graded.meta.collections import RANDOM, RandomEffects

#: Differences of two systems with intervals, as Ranger prints them (section 6.5 of the specification).
EFFECTS_7 = ROOT / "conclusions" / "effects7.csv"
EFFECTS_6 = ROOT / "conclusions" / "effects6.csv"
pytestmark = pytest.mark.filterwarnings("ignore:. collections are too few")


def with_moments(mean, sd, n):
    """Return n differences with this mean and standard deviation."""
    z = np.linspace(-1, 1, n)
    return mean + sd * (z - z.mean()) / z.std(ddof=1)


def of_moments(table):
    """Return scores of two runs on each collection with the differences of a table."""
    return {
        row.collection: {
            "nDCG@10": pd.DataFrame(
                {"old": 0.5, "new": 0.5 + with_moments(row.difference, row.sd, row.topics)},
                index=range(row.topics),
            )
        }
        for row in table.itertuples()
    }


@pytest.mark.parametrize(
    ("y", "v", "expected"),
    [
        # metafor 3.8, rma(yi, vi, method="REML", test="knha") without max(1, .): .011658, .037531
        ([0.02, 0.03, 0.025], [0.0004, 0.0005, 0.0006], (-0.030197, 0.079386))
    ],
)
def test_standard_error_is_not_below_that_of_equal_effects(y, v, expected):
    pooled = RandomEffects.of(np.array(y), np.array(v), "reml")
    width = 4.302652729911275 * pooled.se
    assert (pooled.mu - width, pooled.mu + width) == pytest.approx(expected, abs=1e-6)
    assert pooled.tau2 == 0


def test_random_effects_of_moments_equal_the_formulas():
    y, v = np.array([-0.13, -0.03, 0.16, 0.3]), np.array([0.01, 0.01, 0.001, 0.001])
    q = sum((a - np.average(y, weights=1 / v)) ** 2 / b for a, b in zip(y, v, strict=True))
    tau2 = (q - 3) / (sum(1 / v) - sum(1 / v**2) / sum(1 / v))
    mu = np.average(y, weights=1 / (v + tau2))
    of_knapp_hartung = sum((y - mu) ** 2 / (v + tau2)) / 3
    assert of_knapp_hartung > 1
    pooled = RandomEffects.of(y, v, "dl")
    assert (pooled.q, pooled.tau2, pooled.mu) == pytest.approx((q, tau2, mu), rel=1e-12)
    assert pooled.se == pytest.approx(np.sqrt(of_knapp_hartung / sum(1 / (v + tau2))), rel=1e-12)


@needs_shared_data
def test_random_effects_of_seven_collections():
    from scipy.special import ndtri

    table = pd.read_csv(EFFECTS_7)
    y, v = (
        table["difference"].to_numpy(),
        (((table["high"] - table["low"]) / (2 * ndtri(0.975))) ** 2).to_numpy(),
    )
    reml, dl = (RandomEffects.of(y, v, method) for method in ("reml", "dl"))
    t = 2.4469118511449692  # quantile .975 of Student's t with 6 degrees of freedom
    assert reml.q == pytest.approx(130.769845907, abs=1e-9)
    assert (dl.mu, dl.tau2) == pytest.approx((0.045924744376, 0.000991382195), abs=1e-12)
    assert (dl.mu - t * dl.se, dl.mu + t * dl.se) == pytest.approx(
        (-0.006070984238, 0.097920472990), abs=1e-12
    )
    assert (reml.mu, reml.tau2) == pytest.approx((0.051957363449, 0.003123534471), abs=1e-12)
    assert (reml.mu - t * reml.se, reml.mu + t * reml.se) == pytest.approx(
        (-0.005734967631, 0.109649694529), abs=1e-12
    )


@needs_shared_data
def test_six_collections_of_the_worked_example():
    table = pd.read_csv(EFFECTS_6)
    found = meta.across_collections(of_moments(table), "old", n_resamples=1000)
    rows = found.to_frame().set_index("collection")
    mean, random = rows.loc["mean of collections"], rows.loc["random effects"]
    assert tuple(mean[["difference", "se", "low", "high"]]) == pytest.approx(
        (0.063408432556, 0.007845294907, 0.047786690132, 0.079030174978), abs=1e-10
    )
    assert tuple(random[["difference", "low", "high", "p"]]) == pytest.approx(
        (0.056933697012, -0.014944294099, 0.128811688122, 0.097347971961), abs=1e-10
    )
    summary = found.summary.iloc[0]
    assert (summary["tau2"], summary["predict_low"], summary["predict_high"]) == pytest.approx(
        (0.003904715060, -0.119044645415, 0.232912039439), abs=1e-10
    )
    assert rows["gz"].iloc[0] == pytest.approx(0.614289871346, abs=1e-10)
    gz = meta.across_collections(of_moments(table), "old", effect="gz", n_resamples=1000).to_frame()
    assert tuple(gz.iloc[-1][["gz", "low", "high"]]) == pytest.approx(
        (0.319891469750, 0.002547189188, 0.637235750312), abs=1e-10
    )


def test_intervals_of_random_effects_have_one_degree_of_freedom_less_than_collections():
    found = random_collections()
    rows = found.to_frame()
    collections, random, summary = rows[:3], rows.iloc[-1], found.summary.iloc[0]
    pooled = RandomEffects.of(
        collections["difference"].to_numpy(), collections["se"].to_numpy() ** 2, found.method
    )
    of_mean = stats.t(2, pooled.mu, pooled.se)
    of_next = stats.t(2, pooled.mu, np.hypot(pooled.se, np.sqrt(pooled.tau2)))
    assert rows["difference"].iloc[-2] == pytest.approx(collections["difference"].mean(), rel=1e-14)
    assert (random["low"], random["high"]) == pytest.approx(of_mean.interval(0.95))
    assert (summary["tau2"], summary["q"]) == (pooled.tau2, pooled.q)
    assert (summary["predict_low"], summary["predict_high"]) == pytest.approx(of_next.interval(0.95))
    assert random["p"] == pytest.approx(2 * stats.t.sf(abs(pooled.mu) / pooled.se, 2))
    assert summary["q_p"] == pytest.approx(stats.chi2(2).sf(pooled.q))


def test_weights_of_collections_sum_to_one():
    found = random_collections().to_frame()
    weights = found["weight"][:-2]
    assert weights.sum() == pytest.approx(1)


def random_collections(**options):
    """Return the result for three small collections with equal topic names."""
    rng, scores = np.random.default_rng(3), {}
    for at, name in enumerate(("one", "two", "three")):
        base = rng.random(6 + at)
        scores[name] = {"Q": pd.DataFrame({"old": base, "new": base + rng.normal(0.1, 0.1, len(base))})}
    return meta.across_collections(scores, "old", **options)


def test_rows_of_collections_are_those_of_differences():
    rng, scores = np.random.default_rng(4), {}
    for name, topics in (("one", 6), ("two", 7)):
        scores[name] = {"Q": pd.DataFrame(rng.random((topics, 3)), columns=["old", "x", "y"])}
    found = meta.across_collections(scores, "old").to_frame().set_index(["collection", "run"])
    for name, of_collection in scores.items():
        alone = meta.differences(of_collection, "old").to_frame().set_index("run")
        for column in ("difference", "low", "high", "p", "mean", "baseline_mean"):
            np.testing.assert_allclose(found.loc[name, column], alone.loc[["x", "y"], column], rtol=1e-12)
    together = {"Q": pd.concat([scores["one"]["Q"], scores["two"]["Q"]], ignore_index=True)}
    slices = ["one"] * 6 + ["two"] * 7
    joined = meta.differences(together, "old", slices=dict(enumerate(slices))).to_frame()
    in_collections = joined[joined["slice"] != "all"]
    np.testing.assert_allclose(
        found.loc[["one", "two"], "p"].to_numpy(), in_collections["p"].to_numpy(), rtol=1e-12
    )


def test_random_effects_of_the_runs_are_corrected_by_holm():
    rng, scores = np.random.default_rng(5), {}
    for name in ("one", "two", "three", "four"):
        base = rng.random(12)
        gains = {run: base + rng.normal(gain, 0.1, 12) for run, gain in (("x", 0.1), ("y", 0.2), ("z", 0.05))}
        scores[name] = {measure: pd.DataFrame({"old": base, **gains}) for measure in ("Q", "AP")}
    table = meta.across_collections(scores, "old").to_frame()
    for _, of_measure in table[table["collection"] == RANDOM].groupby("measure"):
        p, corrected = of_measure["p"].to_numpy(), of_measure["p_corrected"].to_numpy()
        small, middle, large = np.sort(p)
        expected = np.array([3 * small, max(3 * small, 2 * middle), max(3 * small, 2 * middle, large)])
        np.testing.assert_allclose(corrected[np.argsort(p)], expected.clip(max=1), rtol=1e-12)
        assert (expected < 1).all()


@pytest.mark.parametrize("seed", range(5, 9))
def test_mean_of_collections_is_tested_with_equal_weight_of_collections(seed):
    from tests.reference import differences as reference

    rng = np.random.default_rng(seed)
    z = [rng.integers(-3, 5, n) / 10 for n in (3, 7)]
    scores = {str(len(one)): {"Q": np.stack([0 * one + 0.5, one + 0.5], axis=1)} for one in z}
    found = meta.across_collections(scores, 0).to_frame()
    weights = [1 / len(one) for one in z for _ in one]
    p = reference.single_p(np.concatenate(z).tolist(), weights, "two-sided")
    assert found["p"].iloc[2] == pytest.approx(p, rel=1e-12)


def test_missing_run_is_named():
    scores = {"one": {"Q": np.random.default_rng(0).random((5, 2))}}
    with pytest.raises(InputError, match="collection 'one': run 5 is missing"):
        meta.across_collections(
            scores | {"two": {"Q": pd.DataFrame({0: [0.1, 0.2, 0.3], 5: [0.2, 0.2, 0.4]})}}, 0
        )


def test_one_collection_is_rejected():
    with pytest.raises(InputError, match="two or more collections"):
        meta.across_collections({"one": {"Q": np.random.default_rng(0).random((5, 2))}}, 0)


def test_equal_differences_are_rejected():
    scores = {"a": {"Q": np.random.default_rng(0).random((5, 2))}, "b": {"Q": np.array([[0.1, 0.2]] * 4)}}
    with pytest.raises(InputError, match="collection 'b': 1 differs from 0 by Q by the same value"):
        meta.across_collections(scores, 0)


def test_unknown_baseline_is_rejected():
    rng = np.random.default_rng(0)
    scores = {name: {"Q": pd.DataFrame(rng.random((5, 2)), columns=["old", "new"])} for name in "ab"}
    with pytest.raises(ParameterError, match="baseline='older'"):
        meta.across_collections(scores, "older")


@pytest.mark.filterwarnings("default")
def test_few_collections_warn():
    with pytest.warns(CoverageWarning, match="3 collections are too few"):
        random_collections()


def test_forest_plot_has_a_row_per_collection():
    axes = pytest.importorskip("matplotlib.figure").Figure().subplots()
    assert random_collections().plot(ax=axes) is axes.figure
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["one", "two", "three", "mean of collections", "random effects"]
    with pytest.raises(InputError, match="run='x' must be one of 'new'"):
        random_collections().plot(run="x")


def test_standardised_effects_are_those_of_effect_sizes():
    scores = {name: np.random.default_rng(len(name)).random((9, 2)) for name in ("one", "three")}
    found = meta.across_collections({name: {"Q": one} for name, one in scores.items()}, 0, effect="gz")
    rows = found.to_frame().set_index("collection")
    for name, one in scores.items():
        gz = meta.effect_sizes(one[:, ::-1]).gz[0]
        assert tuple(rows.loc[name, ["gz", "se"]]) == pytest.approx((gz, np.sqrt(1 / 9 + gz**2 / 18)))
