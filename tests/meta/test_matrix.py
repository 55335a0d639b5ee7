"""Score matrices that every method accepts and rejects."""

import math
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ir_graded import meta
from ir_graded.errors import InputError, ParameterError
from ir_graded.meta.matrix import ScoreMatrix

SCORES = pd.DataFrame(
    {"a": [0.1, 0.5, 0.3], "b": [0.2, 0.4, 0.6], "c": [0.3, 0.1, 0.2]}, index=["1", "2", "3"]
)


def compared(scores, **options):
    return meta.compare_measures({"one": scores, "two": scores}, **options)


METHODS = {
    "power": meta.discriminative_power,
    "tukey": partial(meta.discriminative_power, test="tukey_hsd"),
    "significance": meta.significance,
    "stability": meta.stability,
    "swap": meta.swap,
    "compare": compared,
}
EACH = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.array([[1 + 2j, 2], [3, 4]]), "complex128"),
        (pd.DataFrame({name: pd.to_datetime(["2020", "2021"]) for name in "ab"}), "datetime"),
        (np.array([[1, 2], [3, 4]], dtype="m8[s]"), "timedelta"),
        (np.ma.array([[1.0, 2], [3, 4]], mask=[[0, 1], [0, 0]]), "topic 0, system 1: the score is nan"),
        (pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [2, 3]}), "topic 1, system 'a'.*<NA>"),
        (pd.DataFrame({"a": [0.1, "10%"], "b": [2, 3]}, index=["x", "y"]), "topic 'y', system 'a'.*is '10%'"),
        (pd.DataFrame({"a": [0.1, [3]], "b": [2, 3]}), r"topic 1, system 'a'.*is \[3\]"),
        ([[10**5000, 2], [3, 1]], "topic 0, system 0: the score is <int of too many digits>"),
        ([[10**200, 2], [3, 1]], r"is 10+, expected a finite number up to 1e\+130"),
        ([[3, 1e308], [3, 1]], r"topic 0, system 1: the score is 1e\+308"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", ""]), "system 2 of 2 has no name"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "b"], index=[" ", "x"]), "topic 1 of 2 has no name"),
    ],
)
def test_invalid_score_matrices_are_rejected(wrong, message):
    for method in METHODS.values():
        with pytest.raises(InputError, match=message):
            method(wrong, n_resamples=20)


@pytest.mark.parametrize("first", [None, "topic", "Query_ID", "qid", "Unnamed: 0"])
def test_tables_keep_their_names(first):
    columns = {} if first is None else {first: ["x", "y", "z"]}
    columns |= {name: SCORES[name].tolist() for name in SCORES}
    topics = (0, 1, 2) if first is None else ("x", "y", "z")
    for table in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        matrix = ScoreMatrix.of(table)
        assert matrix.runs == ("a", "b", "c")
        assert matrix.topics == topics
        np.testing.assert_array_equal(matrix.values, SCORES)


FORMS = pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, pa.table])
NAMED = {name: SCORES[name].tolist() for name in SCORES}


@FORMS
@pytest.mark.parametrize(
    ("name", "ids"), [("num", [7, 301, 302]), ("topic", ["q1", "q2", "q3"]), ("qid", [1, 2, 3])]
)
def test_a_topic_column_may_be_at_any_position(form, name, ids):
    matrix = ScoreMatrix.of(form({"a": NAMED["a"], name: ids, "b": NAMED["b"], "c": NAMED["c"]}))
    assert (matrix.runs, matrix.topics) == (("a", "b", "c"), tuple(ids))
    np.testing.assert_array_equal(matrix.values, SCORES)


@FORMS
def test_a_column_that_looks_like_topics_is_not_a_system(form):
    for columns in (NAMED | {"id": [301, 302, 303]}, {"id": [3, 1, 2]} | NAMED):
        message = r"the column 'id' counts as a system but looks like topics.*the index"
        with pytest.raises(InputError, match=message):
            ScoreMatrix.of(form(columns))
    with pytest.raises(InputError, match="the columns 'topic' and 'num' may both hold the topics"):
        ScoreMatrix.of(form(NAMED | {"topic": [1, 2, 3], "num": [4, 5, 6]}))
    with pytest.raises(InputError, match="the column 'query' is named like topics but holds scores"):
        ScoreMatrix.of(form(NAMED | {"query": [0.5, 0.25, 1.0]}))


def test_topics_in_the_index_leave_all_columns_to_systems():
    for index in (pd.Index(["x", "y", "z"]), pd.Index([7, 8, 9], name="query_id")):
        table = pd.DataFrame(NAMED | {"query": [0.5, 0.25, 1.0], "id": [3, 1, 2]}, index=index)
        matrix = ScoreMatrix.of(table)
        assert matrix.runs == ("a", "b", "c", "query", "id")
        assert matrix.topics == tuple(index)
        with pytest.raises(InputError, match="the column 'num' counts as a system but looks like topics"):
            ScoreMatrix.of(table.rename(columns={"id": "num"}))


def test_filtered_or_sorted_rows_keep_their_topic_column():
    table = pd.DataFrame({"topic": [4, 5, 6, 7], "a": [0.1, 0.2, 0.3, 0.4], "b": [0.4, 0.3, 0.2, 0.2]})
    matrix = ScoreMatrix.of(table[table["a"] > 0.15].sort_values("a", ascending=False))
    assert (matrix.runs, matrix.topics) == (("a", "b"), (5, 6, 7))


def test_topics_without_a_score_are_named():
    matrix = pd.DataFrame({"a": [0.1, np.nan, 0.3], "b": [0.2, 0.1, np.nan]}, ["t1", "t2", "t3"])
    rows = matrix.rename_axis("qid").reset_index().melt("qid", var_name="name").assign(measure="Q")
    for scores in (matrix, matrix.astype(object), rows):
        words = "the score is nan, .*; topics without a score \\(2 of 3\\): 't2', 't3'; leave them"
        with pytest.raises(InputError, match=words):
            meta.stability(scores)


@pytest.mark.slow
@pytest.mark.parametrize(
    "topics", [[*map(str, range(1, 31))], sorted(f"2024-{at**3}" for at in range(1, 31)), [*range(30)]]
)
def test_the_order_of_topics_changes_no_statistic(topics):
    in_order = pd.DataFrame(np.random.default_rng(1).random((30, 4)), topics, list("abcd"))
    assert ScoreMatrix.of(in_order).topics == tuple(topics)
    shuffled = in_order.sample(frac=1, random_state=1)
    for statistic, given in [
        (meta.discriminative_power, {"test": "bootstrap", "n_resamples": 100}),
        (meta.discriminative_power, {"test": "tukey_hsd", "n_resamples": 100}),
        (meta.stability, {"n_resamples": 50}),
        (meta.swap, {"resample": "disjoint", "n_resamples": 50}),
        (meta.significance, {"n_resamples": 100}),
        (lambda scores, **options: meta.differences({"Q": scores}, "a", **options), {"n_resamples": 2000}),
        (lambda scores: meta.ranks({"Q": scores}), {}),
        (lambda scores: meta.confidence_intervals({"Q": scores}), {}),
    ]:
        found, other = (statistic(scores, **given).to_frame() for scores in (in_order, shuffled))
        pd.testing.assert_frame_equal(found, other, check_exact=True)


def test_two_measures_of_one_name_are_rejected():
    with pytest.raises(InputError, match="measure '1' appears twice"):
        meta.compare_measures({1: SCORES, "1": SCORES}, n_resamples=20)
    with pytest.raises(InputError, match="measure '1' appears twice"):
        meta.rank_correlations({1: SCORES, "1": SCORES}, reference="1")


@pytest.mark.parametrize("fuzziness", [(0.5, 0.01), [], [0.1], np.array([0.1])])
def test_a_comparison_rejects_several_fuzziness_values(fuzziness):
    with pytest.raises(ParameterError, match=r"^fuzziness=.* must be a number"):
        compared(SCORES, fuzziness=fuzziness)


@EACH
def test_unbounded_memory_changes_nothing(method):
    free = method(SCORES, n_resamples=20, memory_mib=math.inf).to_frame()
    pd.testing.assert_frame_equal(free, method(SCORES, n_resamples=20).to_frame(), check_exact=True)
