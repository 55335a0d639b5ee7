"""Levels of the qrels and hits of a run, as passed to the measures."""

import numpy as np
import pytest

from ir_graded.core.judged_run import JudgedRun, Matched
from ir_graded.core.levels import Levels
from ir_graded.core.passages import Spans
from ir_graded.core.views import Cut, View


def ints(*values):
    return np.array(values, dtype=np.int64)


def levels_of(levels, scale=()):
    """Return the levels of the documents of topics 0, 1, ...."""
    topic = [number for number, found in enumerate(levels) for _ in found]
    flat = np.array([level for found in levels for level in found], dtype=np.float64)
    return Levels.of(len(levels), ints(*topic), flat, scale=scale)


# ------------------------------------------------------------------------------------------- levels


def test_levels_are_unique_and_ascending():
    levels = levels_of([[2, 0], [], [-1, 2]], scale=[1.5, 2, 7])
    assert levels.topics == 3
    assert levels.topic.tolist() == [0, 0, 2, 2]
    assert levels.values.tolist() == [-1, 0, 1.5, 2, 7]
    assert levels.values[levels.level_index].tolist() == [2, 0, -1, 2]
    assert levels.level_index.dtype == np.int64
    assert levels.values.dtype == np.float64
    assert levels.highlights is None


def test_a_table_has_the_overrides_or_the_level():
    levels = levels_of([[0, 1, 2, 3]])
    assert levels.table(()).tolist() == [0, 1, 2, 3]
    assert levels.table(((1.0, 5.0), (3.0, 9.0))).tolist() == [0, 5, 2, 9]
    assert levels.table(((-1.0, 5.0), (8.0, 9.0))).tolist() == [0, 1, 2, 3]
    assert levels.table(((0.0, 4.0),), np.array([9.0, 8.0, 7.0, 6.0])).tolist() == [4, 8, 7, 6]


def test_a_table_is_a_copy():
    levels = levels_of([[0, 1]])
    other = np.array([5.0, 6.0])
    levels.table(())[0] = 99
    levels.table((), other)[0] = 99
    assert levels.values.tolist() == [0, 1]
    assert other.tolist() == [5, 6]


def test_a_table_of_no_levels_is_empty():
    assert levels_of([[]]).table(((1.0, 5.0),)).size == 0


# -------------------------------------------------------------------------------------- ideal lists


def test_the_ideal_list_has_the_relevant_documents_by_weight():
    levels = levels_of([[1, 3, 0, 2], [], [0], [2, 2, 1]])
    ideal = levels.ideal(1, levels.table(()))
    assert ideal.R.tolist() == [3, 0, 0, 3]
    assert ideal.weight.tolist() == [3, 2, 1, 2, 2, 1]
    assert ideal.topic.tolist() == [0, 0, 0, 3, 3, 3]
    assert ideal.start[[0, 3]].tolist() == [0, 3]
    assert ideal.largest.tolist() == [3, 0, 0, 2]
    assert ideal.cumulative.tolist() == [3, 5, 6, 2, 4, 5]
    assert ideal.first(ints(0, 1, 2, 9, 5, 2), ints(0, 0, 0, 0, 1, 3)).tolist() == [0, 3, 5, 6, 0, 4]


def test_the_lowest_relevant_level_is_relevant():
    levels = levels_of([[1, 2, 3]])
    assert levels.ideal(2, levels.table(())).weight.tolist() == [3, 2]
    assert levels.ideal(2.5, levels.table(())).weight.tolist() == [3]


def test_an_ideal_list_is_cached_by_level_and_table():
    levels = levels_of([[1, 2, 3]])
    one = levels.ideal(1, levels.table(()))
    assert levels.ideal(1, levels.table(())) is one
    assert levels.ideal(2, levels.table(())) is not one
    assert levels.ideal(1, levels.table(((3.0, 7.0),))).weight.tolist() == [7, 2, 1]


# --------------------------------------------------------------------------------------------- hits


def of(levels, document, rank, n_retrieved, retrieved=None):
    topics = ints(*range(len(n_retrieved)))
    part = Matched(
        ints(*document), ints(*rank), None, False, False, topics, ints(*n_retrieved), retrieved=retrieved
    )
    return JudgedRun.of(levels, [part])


def test_hits_are_ordered_by_topic_and_rank():
    levels = levels_of([[2, 0], [1, 3, 5]])
    hits = of(levels, [4, 1, 0, 2], [7, 3, 9, 2], [9, 8])
    assert hits.topic.tolist() == [0, 0, 1, 1]
    assert hits.rank.tolist() == [3, 9, 2, 7]
    assert hits.document.tolist() == [1, 0, 2, 4]
    assert levels.values[hits.level_index].tolist() == [0, 2, 1, 5]
    assert hits.n_retrieved.tolist() == [9, 8]
    assert hits.retrieved is None


def test_parts_of_a_run_are_joined_in_topic_order():
    levels = levels_of([[2, 0], [1, 3], [1]])
    last, first = of(levels, [4], [2], [0, 0, 6]), of(levels, [3, 2, 0], [5, 4, 1], [1, 7, 0])
    joined = JudgedRun.joined(levels, [last, first])
    whole = of(levels, [4, 3, 2, 0], [2, 5, 4, 1], [1, 7, 6])
    for name in ("topic", "rank", "level_index", "document", "n_retrieved"):
        assert getattr(joined, name).tolist() == getattr(whole, name).tolist(), name
    assert joined.retrieved is None


def test_joined_parts_keep_all_spans():
    levels = levels_of([[1], [1]])

    def spans(document, start, stop):
        return Spans(ints(document), ints(start), ints(stop))

    parts = [of(levels, [1], [1], [0, 1], spans(1, 3, 9)), of(levels, [0], [1], [1, 0], spans(0, 4, 5))]
    joined = JudgedRun.joined(levels, parts).retrieved
    assert sorted(zip(joined.start.tolist(), joined.stop.tolist(), strict=True)) == [(3, 9), (4, 5)]


def test_a_single_part_is_the_run_and_none_is_an_empty_one():
    levels = levels_of([[1], [1]])
    one = of(levels, [1], [1], [0, 1])
    assert JudgedRun.joined(levels, [one]).document.tolist() == [1]
    nothing = JudgedRun.joined(levels, [])
    assert nothing.topic.size == nothing.rank.size == nothing.level_index.size == nothing.document.size == 0
    assert nothing.n_retrieved.tolist() == [0, 0]
    assert nothing.n_retrieved.dtype == nothing.rank.dtype == np.int64


@pytest.mark.parametrize(
    ("judged", "expected"),
    [
        ([True] * 5, [1, 2, 1, 2, 3]),
        ([False, True, True, False, True], [0, 1, 1, 1, 2]),
        ([False] * 5, [0] * 5),
    ],
)
def test_the_rank_in_the_condensed_list_counts_judged_documents_only(judged, expected):
    level = [1 if one else -1 for one in judged]
    levels = levels_of([level[:2], [], level[2:]])
    hits = of(levels, range(5), [3, 8, 1, 5, 9], [9, 0, 9])
    assert View(levels, hits, Cut(-np.inf, judged_only=True)).n.tolist() == expected
