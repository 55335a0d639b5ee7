"""Minima of means, with and without a baseline, beside exact fractions."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import ir_graded
from ir_graded.errors import InputError, ParameterError
from ir_graded.meta import differences, minima

RUNS = ("old", "new", "other")


def exact_mean(values, weights):
    """Mean of decimals as a fraction."""
    total = sum(Fraction(str(v)) * Fraction(str(weight)) for v, weight in zip(values, weights, strict=True))
    return total / sum(map(Fraction, map(str, weights)))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("weighted", [False, True])
def test_verdicts_are_those_of_exact_means(seed, weighted):
    """Scores, weights and minima are short decimals, so that many means are exactly their minimum."""
    rng = np.random.default_rng(seed)
    topics = int(rng.integers(20, 40))
    scores = {name: rng.integers(0, 11, (topics, 3)).round(0) / 10 for name in ("Q", "AP")}
    weights = (rng.integers(0, 4, topics) + (np.arange(topics) < 4)).tolist() if weighted else [1] * topics
    given = {str(topic): weight for topic, weight in enumerate(weights)} if weighted else None
    frames = {name: pd.DataFrame(values, columns=RUNS) for name, values in scores.items()}
    means = {name: [exact_mean(column, weights) for column in values.T] for name, values in scores.items()}
    lowest = {"Q": means["Q"][1], "AP": means["AP"][2] + Fraction(1, 10**6)}
    minimum = {name: float(value) for name, value in lowest.items()}
    expected = {
        (name, run): mean < lowest[name]
        for name in means
        for run, mean in zip(RUNS, means[name], strict=True)
    }
    assert not expected["Q", "new"]
    alone = minima(frames, minimum, weights=given)
    found = dict(zip(zip(alone.measure, alone.run, strict=True), alone.verdict, strict=True))
    assert found == {
        one: "below minimum" if below else "not below minimum" for one, below in expected.items()
    }
    assert alone.passed == (not any(expected.values()))
    options = {"weights": given, "n_resamples": 200, "alternative": "less", "family": "all"}
    with np.errstate(all="raise"):
        tested = differences(frames, "old", minimum=minimum, **options)
        without = differences(frames, "old", **options)
    for row, plain in zip(tested.to_frame().to_dict("records"), without.verdict, strict=True):
        below = expected[row["measure"], row["run"]]
        wanted = {True: "worse and below minimum" if plain == "worse" else "below minimum", False: plain}[
            below
        ]
        assert row["verdict"] == wanted
    assert tested.passed == (
        not any({*tested.verdict} & {"worse", "below minimum", "worse and below minimum"})
    )


def test_compare_runs_takes_minima_by_any_name_of_a_measure():
    qrels = {str(topic): {"a": 1} for topic in range(8)}
    old, new = ({t: {"x": 2.0, "a": score + 3 * (t == "1")} for t in qrels} for score in (1.0, 3.0))
    for name in ("RR", "recip_rank", ir_graded.evaluate("RR", qrels, old).measures[0]):
        runs = {"new": new, "same": old}
        found = ir_graded.compare_runs(["RR", "P@1"], qrels, old, runs, minimum={name: 0.6})
        assert found.verdict == ("better", "below minimum", "better", "equivalent")
        assert not found.passed
        assert found.minimum[:2].tolist() == [0.6, 0.6]
        assert np.isnan(found.minimum[2:]).all()
    assert ir_graded.compare_runs("RR", qrels, old, {"new": new}, minimum={"RR": 1}).passed


@pytest.mark.parametrize(
    ("minimum", "words"),
    [
        ({"AP": 0.5}, "the minimum of AP needs scores by AP; the measures are Q"),
        ({"Q": np.nan}, "the minimum of Q must be a finite number: nan"),
        ({"Q": "0.5"}, "must be a finite number: '0.5'"),
        ({"Q": True}, "must be a finite number: True"),
        ({}, "must be a mapping from measures to lowest means"),
        (0.5, "minimum=0.5 must be a mapping"),
    ],
)
def test_wrong_minima_are_rejected(minimum, words):
    scores = {"Q": pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.2, 0.1, 0.3]})}
    with pytest.raises(ParameterError, match=words):
        minima(scores, minimum)
    with pytest.raises(ParameterError, match=words):
        differences(scores, "a", minimum=minimum, test="t")


def test_minima_of_one_measure_by_two_names_and_of_all_pairs_are_rejected():
    qrels = {str(topic): {"a": 1} for topic in range(3)}
    scores = ir_graded.evaluate("RR", qrels, {"a": {topic: {"a": 1.0} for topic in qrels}})
    with pytest.raises(ParameterError, match="the minimum of recip_rank is given twice"):
        minima(scores, {"RR": 0.5, "recip_rank": 0.6})
    pairs = {"Q": pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.2, 0.1, 0.3]})}
    with pytest.raises(ParameterError, match=r"minimum needs a baseline; without one, use meta\.minima"):
        differences(pairs, minimum={"Q": 0.5}, test="t")


def test_minima_reject_weights_that_topics_lack():
    scores = {"Q": pd.DataFrame({"a": [0.1, 0.2, 0.3]})}
    with pytest.raises(InputError, match="weights: topics need a finite number"):
        minima(scores, {"Q": 0.1}, weights={"0": 1, "1": 1})
    with pytest.warns(ir_graded.CoverageWarning, match="effective number of topics is 2"):
        found = minima(scores, {"Q": 0.25}, weights={"0": 0, "1": 1, "2": 1})
    assert (found.passed, found.topics.tolist(), found.mean.tolist()) == (True, [2], [0.25])
    assert found.notes[0].startswith("Weights: the effective number")
