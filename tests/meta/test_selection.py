"""Selections of systems: the best, one per team, without copies."""

import numpy as np
import pandas as pd
import pytest
from helpers import covid_sample

import ir_graded
from ir_graded.errors import InputError, ParameterError
from ir_graded.meta import compare_measures, drop_identical, one_per_team, top

AP = pd.DataFrame({"d": [0.1, 0.5], "b": [0.4, 0.4], "a": [0.4, 0.4], "c": [0.6, 0.6]})


def test_best_systems_come_first_and_ties_are_sorted_by_name():
    found = top({"AP": AP, "Q": AP.iloc[:, ::-1]}, 2, by="AP")
    assert list(found["AP"]) == list(found["Q"]) == ["c", "a"]
    assert found["AP"]["c"].tolist() == [0.6, 0.6]
    assert list(top({"AP": AP}, 99, by="AP")["AP"]) == ["c", "a", "b", "d"]


def test_means_that_differ_only_by_rounding_are_sorted_by_name():
    scores = pd.DataFrame({"b": [0.1 + 0.2, 0.1], "a": [0.3, 0.1], "c": [0.0, 0.1]})
    assert list(top({"AP": scores}, 2, by="AP")["AP"]) == ["a", "b"]


@pytest.mark.slow
def test_compare_takes_a_selection_of_the_sample():
    covid = covid_sample()
    scores = ir_graded.evaluate(["AP", "RR"], covid.qrels, covid.runs)
    best = top(scores, 5, by=ir_graded.evaluate("AP", covid.qrels, covid.runs).measures[0])
    assert list(best["RR"]) == scores.matrix("AP").mean().sort_values(ascending=False).index[:5].tolist()
    left, dropped = drop_identical(best)
    assert dropped == {}
    assert compare_measures(left, n_resamples=20).to_frame().index.tolist() != []


def test_one_system_per_team_is_drawn_as_in_earlier_versions():
    names = [f"{team}{number}" for team in "ABC" for number in range(4)]
    scores = {"AP": pd.DataFrame(np.random.default_rng(0).random((3, 12)), columns=names)}
    teams = {name: name[0] for name in names}
    for seed in range(5):
        # The draws of earlier versions of the command line.
        rng = np.random.default_rng(seed)
        expected = [str(rng.choice([name for name in names if name[0] == team])) for team in "ABC"]
        assert list(one_per_team(scores, teams, seed)["AP"]) == expected


def test_copies_that_agree_in_all_measures_are_dropped_and_named():
    scores = {"AP": AP.assign(e=AP["d"]), "Q": AP.assign(b=0.2, e=AP["d"])}
    left, dropped = drop_identical(scores)
    assert dropped == {"e": "d"}
    assert list(left["Q"]) == ["d", "b", "a", "c"]
    assert drop_identical({"AP": AP})[1] == {"a": "b"}


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: top({"AP": AP}, 2, by="Q"), InputError, "measure Q is not among the measures AP"),
        (lambda: top({"AP": AP}, 1, by="AP"), ParameterError, "top_n=1 must be a whole number >= 2"),
        (lambda: one_per_team({"AP": AP}, {"a": "A"}), InputError, "run 'b' has no team"),
        (
            lambda: one_per_team({"AP": AP}, dict.fromkeys("abcd", "A")),
            InputError,
            "at least 2 systems are needed",
        ),
        (lambda: one_per_team({"AP": AP}, dict.fromkeys("abcd", "A"), rng=-1), ParameterError, "rng=-1"),
        (lambda: one_per_team({"AP": AP}, None), InputError, "teams: expected a mapping"),
        (lambda: drop_identical({"AP": AP[["a", "b"]]}), InputError, "AP: systems kept: at least 2 systems"),
    ],
)
def test_errors_say_what_is_wrong(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_selected_tables_have_the_topics_as_index_named_topic():
    topics = pd.Index([("x", 1), ("x", 2)], name="topic", tupleize_cols=False)
    scores = {"AP": AP.set_axis(topics)}
    for found in (
        top(scores, 2, by="AP"),
        one_per_team(scores, dict(zip("abcd", "ABCD", strict=True))),
        drop_identical(scores)[0],
    ):
        pd.testing.assert_index_equal(found["AP"].index, topics, exact=True)
        assert found["AP"].columns.name is None
