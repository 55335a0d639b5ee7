"""Ranks from scores: every algorithm compared with a plain sort."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

import ir_graded
from ir_graded.core import ranking
from ir_graded.core.ranking import Groups, Hits, Rows, ranks
from ir_graded.core.texts import Names


def ints(*values):
    return np.array(values, dtype=np.int64)


def names_at(doc_ids):
    """Return the function that returns some of the names."""
    return lambda at: Names.of([doc_ids[row] for row in at.tolist()])


def rows_of(topic, score, doc_ids, *, grouped=True):
    """Return the rows, one group per topic or one group per row, so that topics may come back."""
    begin = [row for row in range(len(topic)) if not (grouped and row and topic[row] == topic[row - 1])]
    groups = Groups(ints(*(topic[row] for row in begin)), ints(*begin, len(topic)))
    return Rows(np.array(score, dtype=np.float64), groups, names_at(doc_ids))


def chosen(rows, doc_ids, at, *, known=True):
    """Return some of the rows as hits, with or without their row numbers."""
    names = [doc_ids[row] for row in at]
    row = ints(*at)
    return Hits(rows.score[row], rows.groups.topic[row], names_at(names), row if known else None)


WAYS = list(product([True, False], [True, False], [0, 1 << 60], [(0, 1), (2, 1), (32, 1 << 18)]))


def ranks_by_all_ways(topic, score, doc_ids, at):
    """Yield the ranks of each algorithm: few or many hits, known rows or not, groups, sizes of ties."""
    for grouped, known, few, (few_tied, compared) in WAYS:
        rows = rows_of(topic, score, doc_ids, grouped=grouped)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ranking, "_FEW_HITS", few)
            patch.setattr(ranking, "_FEW_TIED", few_tied)
            patch.setattr(ranking, "_COMPARED", compared)
            found = ranks(rows, chosen(rows, doc_ids, at, known=known))
        assert found.rank.dtype == np.int64
        yield found


def plain_ranks(topic, score, doc_ids, at):
    """Return ranks by descending score, then descending doc_id, found by comparing all documents."""
    return [
        1
        + sum(
            topic[other] == topic[row] and (score[other], doc_ids[other]) > (score[row], doc_ids[row])
            for other in range(len(topic))
        )
        for row in at
    ]


NAMES = st.one_of(st.text(max_size=20), st.text(alphabet="aé\0\n\ud800\U0001f600", max_size=30))
PREFIXES = st.sampled_from(["", "d", "clueweb12-0000tw-", "http://" + 70 * "a"])


@st.composite
def runs(draw):
    """Draw topics in any order of their numbers, with scores that often tie; and some of the rows."""
    numbers = draw(st.permutations(range(6)))
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=6))
    topic = [number for number, size in zip(numbers, sizes, strict=False) for _ in range(size)]
    values = st.sampled_from([-2.0, -0.0, 0.0, 0.25, 1.0, 1 + 1e-9, 1 - 1e-9, 2.0**53, 1e300, 1e301, -1e300])
    score = draw(st.lists(values, min_size=len(topic), max_size=len(topic)))
    endings = st.one_of(NAMES, st.integers(0, 200).map(str))
    names = st.builds(str.__add__, PREFIXES, endings)
    doc_ids = draw(st.lists(names, min_size=len(topic), max_size=len(topic), unique=True))
    at = draw(st.lists(st.integers(0, len(topic) - 1), unique=True))
    if draw(st.booleans()):
        order = sorted(range(len(topic)), key=lambda row: (topic.index(topic[row]), -score[row]))
        score = [score[row] for row in order]
    return topic, score, doc_ids, at


def single(value):
    with np.errstate(over="ignore"):
        return float(np.float32(value))


@example(run=([0, 0], [2.0**64, 2.0**64], ["a", "b"], [0]))
@example(run=([0, 0], [2.0**65, 2.0**65], ["a", "b"], [0]))
@given(run=runs())
def test_ranks_ties_and_notes_on_precision_equal_those_of_a_plain_sort(run):
    topic, score, doc_ids, at = run
    expected = plain_ranks(topic, score, doc_ids, at)
    rest = {row: [score[other] for other in range(len(topic)) if topic[other] == topic[row]] for row in at}
    first = [1 + sum(other > score[row] for other in rest[row]) for row in at]
    tied = [rest[row].count(score[row]) for row in at]
    close = any(single(o) == single(score[row]) and o != score[row] for row in at for o in rest[row])
    large = any(size > 1 and 2**53 <= abs(score[row]) <= 2**64 for row, size in zip(at, tied, strict=True))
    for found in ranks_by_all_ways(topic, score, doc_ids, at):
        assert found.rank.tolist() == expected
        assert (found.ties is not None) == any(size > 1 for size in tied)
        assert (found.tie_groups.first.tolist(), found.tie_groups.tied.tolist()) == (first, tied)
        assert (found.is_close, found.is_large) == (close, large)


@pytest.mark.parametrize(
    ("topic", "score", "at"),
    [
        ([1] * 4 + [0] * 4, [4, 3, 2, 1, 9, 8, 7, 6], range(8)),  # each topic in descending order: bisection
        # Three hits of four rows in each topic need 3 * 4 * 2 comparisons, three per row.
        ([1] * 4 + [0] * 4, [4, 3, 2, 5, 9, 8, 7, 6], [0, 1, 2, 4, 5, 6]),  # few comparisons
        ([1] * 4 + [0] * 4, [4, 3, 2, 5, 9, 8, 7, 6], [0, 1, 2, 3, 4, 5, 6]),  # many: rows are sorted
        ([0, 0, 1, 1, 2, 2], [2, 1, 5, 4, 9, 9], range(6)),  # scores rise where another topic begins
        ([0, 0, 1, 1, 2, 2], [1, 2, 5, 4, 9, 9], range(6)),  # they rise in the first topic
        ([0, 0, 1, 1, 2, 2], [2, 1, 5, 4, 8, 9], range(6)),  # or in the last one
    ],
)
def test_all_algorithms_give_the_right_ranks(topic, score, at):
    names = [f"d{row}" for row in range(len(topic))]
    for found in ranks_by_all_ways(topic, score, names, at):
        assert found.rank.tolist() == plain_ranks(topic, score, names, at)


def test_no_hits_have_no_ranks():
    rows = rows_of([0], [1.0], ["a"])
    found = ranks(rows, chosen(rows, ["a"], []))
    assert found.ties is None
    assert found.rank.shape == (0,)
    assert found.rank.dtype == np.int64


def test_doc_ids_are_read_only_if_rows_tie():
    asked = []

    def doc_ids(at):
        asked.append(at.tolist())
        return Names.of([f"d{row}" for row in at.tolist()])

    score = np.array([3.0, 2.0, 2.0, 1.0, 5.0, 4.0])
    rows = Rows(score, Groups(ints(0, 1), ints(0, 4, 6)), doc_ids)
    hits = Hits(score[[0, 4]], ints(0, 1), pytest.fail)
    assert ranks(rows, hits).rank.tolist() == [1, 1]
    assert asked == []
    for row in (None, ints(2, 4)):
        hits = Hits(score[[2, 4]], ints(0, 1), names_at(["d2", "d4"]), row)
        assert ranks(rows, hits).rank.tolist() == [2, 1]
        assert asked.pop() == [1, 2]
        assert asked == []


def test_signed_zeros_tie_and_infinite_scores_are_first_and_last():
    names = list("abcde")
    for found in ranks_by_all_ways([0] * 5, [0.0, -0.0, np.inf, -np.inf, -1e-30], names, range(5)):
        assert found.rank.tolist() == [3, 2, 1, 5, 4]


def test_topics_of_a_single_row_are_ranked_among_others():
    names = list("abc")
    for found in ranks_by_all_ways([2, 0, 1], [1.0, 1.0, 1.0], names, [2, 0, 1]):
        assert found.rank.tolist() == [1, 1, 1]


@example(["12345678", "12345678a", "12345678", "1234567", "12345678\0", "123456789abcdefg"])
@example(["12345678a", "12345678"])
@given(st.lists(st.builds(str.__add__, PREFIXES, NAMES), max_size=40))
def test_names_are_numbered_in_python_order(names):
    distinct = sorted(set(names))
    numbers = [distinct.index(name) for name in names]
    assert Names.of(names).order_numbers().tolist() == numbers
    columns = Names.of(names).columns()
    keys = [tuple(column[row] for column in columns) for row in range(len(names))]
    assert [sorted(set(keys)).index(key) for key in keys] == numbers
    joined = Names.of(names[:3]) + Names.of(names[3:])
    assert joined.order_numbers().tolist() == numbers


@pytest.mark.parametrize("topics", [1, 1 << 40])
def test_keys_are_sorted_with_or_without_rows_in_their_bits(topics):
    rng = np.random.default_rng(1)
    key = rng.integers(0, topics << 20, 1000).astype(np.uint64)
    found, order = ranking._sorted(key)
    assert found.tolist() == sorted(key.tolist())
    assert key[order].tolist() == found.tolist()
    assert sorted(order.tolist()) == [*range(1000)]


# ------------------------------------------------------------------------------------------- groups


def test_groups_know_the_positions_of_their_topics():
    groups = Groups(ints(2, 0, 5), ints(0, 3, 4, 6))
    assert groups.topic.tolist() == [2, 2, 2, 0, 5, 5]
    assert groups.distinct
    assert groups.lengths(7).tolist() == [1, 0, 3, 0, 0, 2, 0]
    assert groups.lengths(7).dtype == np.int64
    assert [found.tolist() for found in groups.spans(ints(5, 2, 5))] == [[4, 0, 4], [6, 3, 6]]


def test_a_part_of_the_groups_counts_its_own_rows():
    groups = Groups(ints(2, 0, 5), ints(0, 3, 4, 6))
    for first, stop, number, begin in (
        (1, 3, [0, 5], [0, 1, 3]),
        (0, 2, [2, 0], [0, 3, 4]),
        (1, 2, [0], [0, 1]),
    ):
        part = groups.part(first, stop)
        assert (part.number.tolist(), part.begin.tolist()) == (number, begin)


def test_a_topic_that_comes_back_is_not_distinct_and_its_lengths_are_added():
    groups = Groups(ints(2, 0, 2), ints(0, 3, 4, 6))
    assert not groups.distinct
    assert groups.lengths(3).tolist() == [1, 0, 5]
    assert not Groups(ints(2, 2), ints(0, 3, 4)).distinct
    assert Groups(ints(2), ints(0, 3)).distinct


# ---------------------------------------------------------------------------------------- precision


def test_scores_are_compared_as_doubles_as_in_trec_eval_and_not_as_in_pytrec_eval():
    import pytrec_eval

    qrels, run = {"1": {"a": 1}}, {"1": {"a": 1.00000001, "b": 1.0, "c": 0.5}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)["1"]["recip_rank"]
    assert theirs == 0.5  # it ranks b first, since the two tie as float32
    assert ir_graded.evaluate("RR", qrels, run).values.item() == 1.0


@given(st.lists(st.sampled_from([0.0, -0.0, 0.1, 0.1 + 1e-12, 1.0, 1e300, 1e301, -1e300]), max_size=9))
def test_codes_descend_with_the_scores_and_are_equal_for_equal_ones(scores):
    for dtype in (np.float32, np.float64):
        given_scores = np.array(scores).clip(-1e30, 1e30).astype(dtype)
        distinct = sorted({*given_scores.tolist()}, reverse=True)
        codes = ranking.descending_codes(given_scores).tolist()
        assert [sorted({*codes}).index(c) for c in codes] == [*map(distinct.index, given_scores.tolist())]


GROUPS = st.tuples(st.integers(0, 3), st.integers(1, 4), st.sampled_from([0.0, 1.0]), st.integers(0, 9))


@given(st.lists(GROUPS, max_size=6))
def test_scores_are_flat_if_no_topic_has_two(parts):
    """Groups of topics, which may come back: number, length, score, and the row of another score, if any."""
    topic = [number for number, length, _, _ in parts for _ in range(length)]
    score = [value + (row == other) for _, length, value, other in parts for row in range(length)]
    begin = np.cumsum([0, *(length for _, length, _, _ in parts)])
    groups = Groups(ints(*(number for number, *_ in parts)), begin)
    of = {number: {one for at, one in zip(topic, score, strict=True) if at == number} for number in topic}
    expected = all(len(scores) == 1 for scores in of.values())
    assert ranking.is_flat(np.array(score, dtype=np.float64), groups) == expected
