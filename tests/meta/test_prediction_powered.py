"""Prediction-powered intervals: worked values, a plain reference, coverage by simulation, wrong input."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reference import prediction_powered as plain
from scipy import stats

from ir_graded.errors import InputError, ParameterError
from ir_graded.meta import prediction_powered

WEB = Path(__file__).parents[2] / "notebooks/data/urbano"
FEW = pytest.mark.filterwarnings("ignore:only .* topics have human labels")
Y = [0.2, 0.5, 0.4, 0.9, 0.7, 0.1, 0.6, 0.3]
f = [0.3, 0.6, 0.4, 0.8, 0.9, 0.2, 0.5, 0.5]
F = [0.1, 0.4, 0.8, 0.6, 0.7, 0.9, 0.3, 0.5, 0.2, 0.6, 0.8, 0.4]


def matrix(*systems):
    return {"Q": np.array(systems).T}


def row_of(human, model, more, **options):
    return prediction_powered(matrix(human), matrix([*model, *more]), **options).to_frame().iloc[0]


@FEW
@pytest.mark.parametrize(
    ("options", "ends"),
    [
        ({"quantile": "normal"}, (0.33359777, 0.59140223)),
        ({}, (0.29939830, 0.62560170)),
        ({"power_tuning": 1, "quantile": "normal"}, (0.30544045, 0.61955955)),
        ({"power_tuning": 0}, (0.23934348, 0.68565652)),
    ],
)
def test_worked_intervals_have_their_values(options, ends):
    row = row_of(Y, f, F, **options)
    assert row[["low", "high"]].tolist() == pytest.approx(ends, abs=6e-9)
    if "power_tuning" not in options:
        assert row[["tuning", "estimate"]].tolist() == pytest.approx([0.51611617, 0.4625], abs=6e-9)
    assert row[["n_labelled", "n_unlabelled"]].tolist() == [8, 12]
    student = stats.t.interval(0.95, 7, np.mean(Y), stats.sem(Y))
    if not options:
        assert row[["human_low", "human_high"]].tolist() == pytest.approx(student)
    if options.get("power_tuning") == 0:
        assert row[["low", "high"]].tolist() == pytest.approx(student)
        assert row["equivalent_topics"] == pytest.approx(8)


@FEW
@pytest.mark.parametrize("quantile", ["t", "normal"])
def test_random_scores_have_the_intervals_of_the_plain_reference(quantile):
    rng = np.random.default_rng(1)
    for sign in (-1, 1):
        human = rng.random((9, 3))
        labelled = np.clip(0.5 + sign * 0.5 * human + 0.2 * rng.random((9, 3)), 0, 1)
        more = rng.random((30, 3))
        found = prediction_powered(
            {"Q": human}, {"Q": np.vstack([labelled, more])}, confidence=0.9, quantile=quantile
        )
        against = prediction_powered(
            {"Q": human}, {"Q": np.vstack([labelled, more])}, baseline=1, quantile=quantile
        )
        assert against.runs == (0, 2)
        for system in range(3):
            expected = plain.prediction_powered(
                *(scores[:, system].tolist() for scores in (human, labelled, more)),
                level=0.9,
                quantile=quantile,
            )
            row = found.to_frame().iloc[system]
            for name in (
                "estimate",
                "low",
                "high",
                "tuning",
                "human",
                "human_low",
                "llm",
                "equivalent_topics",
            ):
                assert row[name] == pytest.approx(getattr(expected, name)), name
        z = [(scores[:, 2] - scores[:, 1]).tolist() for scores in (human, labelled, more)]
        expected = plain.prediction_powered(*z, quantile=quantile)
        row = against.to_frame().iloc[1]
        assert row[["estimate", "low", "high"]].tolist() == pytest.approx(
            [expected.estimate, expected.low, expected.high]
        )


@FEW
def test_a_given_weight_has_the_interval_of_welch():
    """The difference of mean(F) and mean(f - Y), two independent samples, plus the mean of Y."""
    row = row_of(Y, f, F[:6], power_tuning=1)
    welch = stats.ttest_ind(F[:6], np.subtract(f, Y), equal_var=False).confidence_interval(0.95)
    assert row[["low", "high"]].tolist() == pytest.approx([welch.low, welch.high])
    student = stats.t.interval(0.95, 7, np.mean(Y), stats.sem(Y))
    assert row[["human_low", "human_high"]].tolist() == pytest.approx(student)


@FEW
@pytest.mark.parametrize("quantile", ["t", "normal"])
def test_a_given_weight_needs_five_other_topics(quantile):
    message = r"^power_tuning=0\.5 needs at least 5 topics without human labels, found 4: add topics"
    with pytest.raises(InputError, match=message):
        row_of(Y, f, F[:4], power_tuning=0.5, quantile=quantile)
    assert row_of(Y, f, F[:5], power_tuning=0.5, quantile=quantile)["n_unlabelled"] == 5
    for options in ({}, {"power_tuning": 0}):
        assert row_of(Y, f, F[:1], quantile=quantile, **options)["n_unlabelled"] == 1


@pytest.mark.parametrize("more", [5, 10, 50])
@pytest.mark.parametrize("weight", [0.5, 1])
def test_intervals_of_a_given_weight_and_few_other_topics_cover_the_mean(more, weight):
    y, model, mean = lenient_scores(np.random.default_rng(4), 50 + more)
    found = prediction_powered({"Q": y[:50]}, {"Q": model}, power_tuning=weight)
    covered = (found.low <= mean) & (found.high >= mean)
    assert 0.92 <= covered.mean() <= 0.965


@FEW
def test_a_constant_or_negatively_correlated_model_is_ignored():
    assert row_of(Y, [0.1] * 8, [0.1] * 5)["tuning"] == 0
    assert row_of(Y, [1 - value for value in Y], F)["tuning"] == 0
    assert not math.isnan(row_of([0.5] * 8, f, F)["low"])
    beside = prediction_powered(matrix(Y, Y), matrix([0.5] * 20, [*f, *F])).to_frame()
    assert beside["tuning"].tolist() == pytest.approx([0, 0.51611617], abs=6e-9)


def test_topics_are_aligned_by_name():
    rng = np.random.default_rng(2)
    names = [f"t{at}" for at in range(40)]
    model = pd.DataFrame(rng.random((40, 2)), index=names, columns=["a", "b"])
    human = pd.DataFrame(rng.random((20, 2)), index=names[:20], columns=["a", "b"])
    straight = prediction_powered({"Q": human, "AP": 1 - human}, {"Q": model, "AP": 1 - model}).to_frame()
    shuffled = model.sample(frac=1, random_state=3)[["b", "a"]]
    again = prediction_powered({"Q": human, "AP": 1 - human}, {"AP": 1 - shuffled, "Q": shuffled}).to_frame()
    pd.testing.assert_frame_equal(straight, again)


@pytest.mark.slow
def test_intervals_have_the_nominal_coverage():
    rng = np.random.default_rng(4)
    truth = rng.beta(2, 3, (350, 2000))
    model = np.clip(0.15 + 0.85 * truth + 0.08 * rng.standard_normal(truth.shape), 0, 1)
    found = prediction_powered({"Q": truth[:50]}, {"Q": model})
    covered = (found.low <= 0.4) & (found.high >= 0.4)
    assert 0.935 <= covered.mean() <= 0.965
    assert (found.high - found.low).mean() < 0.6 * (found.human_high - found.human_low).mean()
    noise = prediction_powered({"Q": truth[:50]}, {"Q": rng.random(truth.shape)})
    covered = (noise.low <= 0.4) & (noise.high >= 0.4)
    assert 0.935 <= covered.mean() <= 0.965


def lenient_scores(rng, topics):
    """Return scores, those of a lenient model, and the true mean."""
    y = rng.beta(2, 3, (topics, 2000))
    return y, np.clip(0.15 + 0.85 * y + 0.08 * rng.standard_normal(y.shape), 0, 1), 0.4


def shrunken_differences(rng, topics):
    """Return differences of two systems and those of a model that shrinks them and favours one system."""
    y = 0.03 + 0.12 * rng.standard_normal((topics, 2000))
    return y, 0.7 * y + 0.03 + 0.08 * rng.standard_normal(y.shape), 0.03


def resampled_topics(rng, topics):
    """Return AP differences of run pairs on drawn topics of TREC Web 2013, with nDCG@20 as the model."""
    ap, ndcg = (pd.read_csv(WEB / f"web2013_{name}.csv").to_numpy() for name in ("ap", "ndcg20"))
    a = rng.integers(0, ap.shape[1], 4000)
    b = (a + rng.integers(1, ap.shape[1], 4000)) % ap.shape[1]
    drawn = rng.integers(0, len(ap), (topics, 4000))
    return ap[drawn, a] - ap[drawn, b], ndcg[drawn, a] - ndcg[drawn, b], (ap[:, a] - ap[:, b]).mean(axis=0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:only 10 topics")
@pytest.mark.parametrize(
    ("draw", "n", "more", "human", "normal", "student"),
    [
        (lenient_scores, 10, 200, (0.942, 0.280), 0.881, (0.929, 0.138)),
        (lenient_scores, 30, 300, (0.948, 0.149), 0.923, (0.940, 0.077)),
        (lenient_scores, 50, 300, (0.949, 0.114), 0.937, (0.948, 0.063)),
        (shrunken_differences, 10, 200, (0.950, 0.168), 0.880, (0.934, 0.119)),
        (shrunken_differences, 30, 300, (0.946, 0.090), 0.924, (0.944, 0.065)),
        (shrunken_differences, 50, 300, (0.939, 0.069), 0.932, (0.941, 0.051)),
        (resampled_topics, 20, 100, (0.944, 0.092), 0.909, (0.931, 0.070)),
        (resampled_topics, 50, 200, (0.946, 0.057), 0.934, (0.943, 0.043)),
    ],
)
def test_simulated_coverage_is_near_the_nominal_one(draw, n, more, human, normal, student):
    """Coverage of the nominal 95% interval and its width; the standard error of the coverage is .005."""
    y, model, truth = draw(np.random.default_rng(0), n + more)
    found = {q: prediction_powered({"Q": y[:n]}, {"Q": model}, quantile=q) for q in ("t", "normal")}

    def of(low, high):
        return ((low <= truth) & (truth <= high)).mean(), (high - low).mean()

    coverage, width = of(found["t"].human_low, found["t"].human_high)
    assert (coverage, width) == (pytest.approx(human[0], abs=0.015), pytest.approx(human[1], abs=0.003))
    coverage, width = of(found["t"].low, found["t"].high)
    assert (coverage, width) == (pytest.approx(student[0], abs=0.015), pytest.approx(student[1], abs=0.003))
    assert abs(coverage - 0.95) <= (0.015 if n >= 30 else 0.025)
    assert of(found["normal"].low, found["normal"].high)[0] == pytest.approx(normal, abs=0.02)


def test_few_labelled_topics_cause_a_warning():
    with pytest.warns(UserWarning, match="only 8 topics have human labels"):
        row_of(Y, f, F)


TEN = pd.DataFrame(np.random.default_rng(0).random((30, 2)), columns=["a", "b"])


@pytest.mark.parametrize(
    ("human", "llm", "options", "error", "words"),
    [
        (TEN.iloc[:1], TEN, {}, InputError, "at least 2 topics are needed, found 1"),
        (TEN, TEN, {}, InputError, "all topics have human labels"),
        (TEN.rename(index={3: "x"}), TEN, {}, InputError, "topic 'x' has human labels but no scores"),
        (TEN.iloc[:25][["a"]], TEN, {}, InputError, "Q by the model: systems differ"),
        (TEN.iloc[:25], TEN, {"baseline": "c"}, ParameterError, "baseline='c' must be one of 'a', 'b'"),
    ],
)
def test_errors_say_what_is_wrong(human, llm, options, error, words):
    with pytest.raises(error, match=words):
        prediction_powered({"Q": human}, {"Q": llm}, **options)


def test_baseline_needs_another_system():
    with pytest.raises(InputError, match="at least 2 systems are needed, found 1"):
        prediction_powered(matrix(Y), matrix([*f, *F]), baseline=0)


def test_measures_must_be_the_same_on_both_sides():
    with pytest.raises(InputError, match="measures differ: Q by humans, AP by the model"):
        prediction_powered({"Q": TEN.iloc[:25]}, {"AP": TEN})
