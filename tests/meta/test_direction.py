"""Scores of which lower ones are better: the conclusions of their negatives."""

import numpy as np
import pandas as pd
import pytest

from ir_graded.errors import InputError, ParameterError
from ir_graded.evaluation.scores import Scores
from ir_graded.meta import confidence_intervals, differences, history, ranks

RNG = np.random.default_rng(5)
LATENCY = pd.DataFrame(np.array([0, 0, 0.1, 0.3]) + RNG.gamma(2, 0.1, (30, 4)).round(6), columns=[*"abcd"])


def scored(table, **options):
    rows = table.rename_axis("query_id").reset_index().melt("query_id", var_name="run")
    rows["query_id"] = rows["query_id"].map("t{:02}".format)
    return Scores.from_frame(
        rows.assign(measure="latency"), ranges={"latency": options.pop("range")}, **options
    )


LOWER = scored(LATENCY, range=(0, 9), lower_is_better=["latency"])
HIGHER = scored(-LATENCY, range=(-9, 0))


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("baseline", ["b", None])
def test_differences_conclude_as_of_negated_scores(alternative, baseline):
    options = {"alternative": alternative, "tolerance": 0.02, "n_resamples": 2000}
    found, expected = (differences(one, baseline, **options) for one in (LOWER, HIGHER))
    same = ["run", "baseline", "p", "p_corrected", "verdict", "wins", "ties", "losses", "minimum_detectable"]
    pd.testing.assert_frame_equal(found.to_frame()[same], expected.to_frame()[same])
    for name in ("mean", "baseline_mean", "difference", "dz"):
        np.testing.assert_allclose(getattr(found, name), -getattr(expected, name))
    np.testing.assert_allclose(found.low, -expected.high)
    np.testing.assert_allclose(found.gain, expected.difference)
    np.testing.assert_allclose(found.unseen, expected.unseen)
    assert {*found.direction} == {-1}


def test_ranks_and_intervals_put_the_lowest_mean_first():
    found, expected = (ranks(one, n_resamples=999) for one in (LOWER, HIGHER))
    columns = ["run", "rank", "rank_low", "rank_high", "p_first", "tied_first"]
    pd.testing.assert_frame_equal(found.to_frame()[columns], expected.to_frame()[columns])
    np.testing.assert_allclose(found.mean, -expected.mean)
    order = LATENCY.mean().sort_values().index
    assert [*found.run] == [*order] == [*confidence_intervals(LOWER).to_frame().index]


@pytest.mark.filterwarnings("ignore:.*it is not known if the qrels differ")
def test_the_best_release_has_the_lowest_mean_and_a_higher_one_is_worse():
    tables = {name: LATENCY[[run]].set_axis(["bm25"], axis=1) for name, run in zip("123", "dab", strict=True)}
    lower = {name: scored(one, range=(0, 9), lower_is_better=["latency"]) for name, one in tables.items()}
    higher = {name: scored(-one, range=(-9, 0)) for name, one in tables.items()}
    found, expected = history(lower), history(higher)
    assert found.best == expected.best == ("", "1", "2")
    np.testing.assert_array_equal(found.worse, expected.worse)
    np.testing.assert_allclose(found.change_best, -expected.change_best)
    for name in ("p_first", "p_best"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name))
    slower = history({"fast": lower["2"], "slow": lower["1"]})
    assert slower.worse.tolist() == [False, True]
    with pytest.raises(InputError, match="release '2': higher scores of latency are better, unlike in"):
        history({"1": lower["1"], "2": scored(tables["2"], range=(0, 9))})


def test_tables_mark_the_better_runs():
    text = LOWER.to_markdown(baseline="b")
    row = {line.split("|")[1].strip(): line for line in text.splitlines() if line.startswith("| ")}
    assert "‡" in row["d"]
    assert "†" not in text.partition("\n\n")[0]
    assert "<sup>" in LOWER.to_markdown(letters=True).splitlines()[2]


def test_a_measure_of_which_lower_scores_are_better_has_no_minimum():
    with pytest.raises(ParameterError, match="latency: lower scores are better"):
        differences(LOWER, "b", minimum={"latency": 0.1})
    # All means are above -1, and all below 0.
    for minimum, reached in ((-1, True), (0, False)):
        found = differences(HIGHER, "b", minimum={"latency": minimum})
        assert [verdict.endswith("below minimum") for verdict in found.verdict] == [not reached] * 3
