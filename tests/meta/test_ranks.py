"""``meta.ranks``: confidence sets for ranks and the runs tied for first."""

import itertools
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from ir_graded import meta
from ir_graded.errors import CoverageWarning, InputError, ParameterError
from ir_graded.meta import max_t
from tests.meta.test_differences import SCORES
from tests.reference import differences as reference


def test_ranks_of_the_worked_example():
    found = meta.ranks({"Q": SCORES}).to_frame().set_index("run").loc[list("bxyz")]
    assert (found["p_first"] * 256).tolist() == [2, 255, 23, 1]
    assert list(zip(found["rank_low"], found["rank_high"], strict=True)) == [(2, 4), (1, 2), (1, 4), (2, 4)]
    assert found.index[found["tied_first"]].tolist() == ["x", "y"]
    assert found["rank"].tolist() == [3, 1, 2, 4]


def test_the_mean_of_a_run_that_was_chosen_among_tied_ones_is_noted():
    found = meta.ranks({"Q": SCORES})
    assert found.notes == (
        "2 of 4 runs are tied for first. The mean of 'x' is the best of them, so it is probably worse on "
        "other topics.",
    )
    alone = meta.ranks({"Q": SCORES.assign(x=SCORES["x"] + 0.5)})
    assert alone.tied_first.tolist() == [True, False, False, False]
    assert alone.notes == ()


@pytest.mark.slow
@pytest.mark.parametrize("simultaneous", [True, False])
def test_ranks_equal_brute_force(simultaneous):
    rng = np.random.default_rng(1)
    for _ in range(15):
        topics, runs = int(rng.integers(5, 8)), int(rng.integers(2, 5))
        scores = rng.integers(0, 8, (topics, runs)) / 10 + 0.3 * np.arange(runs)
        columns = scores.T.tolist()
        pairs = list(itertools.combinations(range(runs), 2))
        z = [[round(a - b, 12) for a, b in zip(columns[i], columns[j], strict=True)] for i, j in pairs]
        better = np.zeros((runs, runs), dtype=bool)  # row is significantly better than column
        families = (
            [range(len(pairs))]
            if simultaneous
            else [[at for at, pair in enumerate(pairs) if run in pair] for run in range(runs)]
        )
        low, high = np.ones(runs, dtype=int), np.full(runs, runs)
        for run in range(runs):
            family = list(families[0 if simultaneous else run])
            p = reference.max_t([z[at] for at in family], [1] * topics, "two-sided")
            for at, of_pair in zip(family, p, strict=True):
                if run in pairs[at] and of_pair < 0.1:
                    ahead = pairs[at][0] if sum(z[at]) > 0 else pairs[at][1]
                    better[ahead, run] = True
                    low[run] += ahead != run
                    high[run] -= ahead == run
        found = meta.ranks({"Q": scores}, simultaneous=simultaneous, alpha=0.1).to_frame().set_index("run")
        found = found.loc[range(runs)]
        assert found["rank_low"].tolist() == low.tolist()
        assert found["rank_high"].tolist() == high.tolist()
        expected = [reference.p_first(columns, run) for run in range(runs)]
        np.testing.assert_allclose(found["p_first"], expected, rtol=1e-12)


def test_identical_runs_share_a_rank():
    found = meta.ranks({"Q": SCORES.assign(twin=SCORES["x"])}).to_frame().set_index("run")
    assert found.loc["twin"].drop("mean").tolist() == found.loc["x"].drop("mean").tolist()
    assert found.loc["y", "rank"] == 3


def test_bootstrap_ranks_follow_from_its_tests_of_all_pairs():
    rng = np.random.default_rng(3)
    scores = {
        "Q": pd.DataFrame(rng.random((30, 5)) + np.array([0, 0.1, 0.2, 0.4, 0.4]), columns=list("abcde"))
    }
    options = {"test": "bootstrap", "n_resamples": 999, "rng": 4}
    found, tests = meta.ranks(scores, **options), meta.differences(scores, **options)
    pairs = tests.to_frame()[tests.significant]
    winner = np.where(pairs["difference"] > 0, pairs["run"], pairs["baseline"]).tolist()
    loser = np.where(pairs["difference"] > 0, pairs["baseline"], pairs["run"]).tolist()
    assert 0 < len(pairs) < 10
    assert found.rank_low.tolist() == [1 + loser.count(run) for run in found.run]
    assert found.rank_high.tolist() == [5 - winner.count(run) for run in found.run]
    assert (found.test, found.n_resamples) == ("bootstrap", 999)


def test_bootstrap_p_first_of_two_runs_is_the_one_sided_p():
    scores = {
        "Q": pd.DataFrame(np.random.default_rng(5).random((25, 2)) + np.array([0, 0.1]), columns=["a", "b"])
    }
    options = {"test": "bootstrap", "n_resamples": 999, "rng": 6}
    p_first = dict(
        zip(*(getattr(meta.ranks(scores, **options), name) for name in ("run", "p_first")), strict=True)
    )
    for run in "ab":
        assert p_first[run] == meta.differences(scores, run, alternative="greater", **options).p[0]


def test_bootstrap_does_not_exclude_a_run_that_differs_on_few_topics():
    scores = np.random.default_rng(7).random((30, 3)) / 2
    scores[:, 1] = scores[:, 0]
    scores[:5, 1] -= 0.3
    scores[:, 2] += 0.6
    found = meta.ranks({"Q": scores}, test="bootstrap", n_resamples=999).to_frame().set_index("run")
    assert found.loc[[0, 1], ["rank_low", "rank_high"]].to_numpy().tolist() == [[2, 3], [2, 3]]
    assert found["tied_first"].tolist() == [True, False, False]
    found = meta.ranks({"Q": scores[:, :2]}, test="bootstrap", n_resamples=999)
    assert found.p_first.tolist() == [1, 1]


def test_random_signs_are_close_to_all_sign_patterns():
    rng = np.random.default_rng(2)
    scores = {"Q": rng.random((15, 4)) + np.array([0, 0.1, 0.2, 0.3])}
    exact, random = (meta.ranks(scores, n_resamples=n).p_first for n in (100_000, 10_000))
    np.testing.assert_allclose(exact, random, atol=0.03)


def test_measure_is_chosen_by_name():
    scores = {"Q": SCORES, "AP": SCORES[::-1].reset_index(drop=True) / 2}
    assert meta.ranks(scores).measure == "Q"
    assert meta.ranks(scores, "AP").measure == "AP"
    with pytest.raises(InputError, match="measure RR is not among"):
        meta.ranks(scores, "RR")


def test_limits_are_said():
    with pytest.warns(CoverageWarning, match=r"5 topics \(p >= 0\.0625\)"):
        meta.ranks({"Q": SCORES[:5]})
    with pytest.raises(ParameterError, match="use n_resamples=1000"):
        meta.ranks({"Q": np.random.default_rng(0).random((30, 3))}, n_resamples=100, alpha=0.002)


def test_printed_table_and_plot_show_all_runs():
    found = meta.ranks({"Q": pd.concat([SCORES] * 2, ignore_index=True)})
    assert "tied_first" in str(found)
    labels = [label.get_text() for label in found.plot().axes[0].get_yticklabels()]
    assert labels == ["x", "y", "b", "z"]


@pytest.mark.parametrize("alternative", max_t.TAILS)
def test_rows_in_groups_are_counted_as_one_by_one(monkeypatch, alternative):
    rng = np.random.default_rng(8)
    z = rng.normal(0, 1, (40, 20)).round(1)
    z[7], z[8] = z[6], 0
    statistics = max_t.sums_with_signs(z)
    replicates = rng.normal(0, 1, (40, 60)) + rng.normal(0, 1, 60)
    replicates[3, 5], replicates[30, 7], replicates[:, 9] = np.nan, np.inf, statistics.observed
    found = []
    monkeypatch.setattr(max_t, "_GROUP", 7 * 60)
    for long_row in (60, 61):
        monkeypatch.setattr(max_t, "_LONG_ROW", long_row)
        tail = max_t.Tail(statistics, alternative, [np.arange(0, 40, 2), np.arange(1, 33, 2)])
        for exact in (False, True):
            tail.add(replicates, exact)
        found.append([tail.p(exact=False).tolist(), tail.p_corrected(exact=False).tolist()])
    assert found[0] == found[1]
    assert all(len({*p}) > 3 for p in found[0])


@pytest.mark.slow
@pytest.mark.parametrize("test", ["randomisation", "bootstrap"])
def test_statistics_of_many_pairs_fit_into_64_mib(test):
    scores = np.random.default_rng(10).random((50, 70))
    meta.ranks({"Q": scores[:, :3]}, test=test, n_resamples=100)  # imports
    tracemalloc.start()
    meta.ranks({"Q": scores}, test=test, n_resamples=2500)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 32 < peak / 2**20 < 64


@pytest.mark.parametrize("simultaneous", [True, False])
def test_calls_of_numpy_grow_no_faster_than_pairs(monkeypatch, simultaneous):
    monkeypatch.setattr(max_t, "_MOST_STATISTICS", 2**12)  # as if there were 32 times as many runs
    scores = np.random.default_rng(9).random((20, 40))

    def calls(runs):
        events = []
        sys.setprofile(lambda _, event, __: events.append(event))
        try:
            meta.ranks({"Q": scores[:, :runs]}, simultaneous=simultaneous, n_resamples=500)
        finally:
            sys.setprofile(None)
        return len(events)

    calls(10)  # imports
    assert calls(40) < 16 * calls(10)
