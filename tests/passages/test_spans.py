"""Unions and overlaps of spans compared with sets of positions."""

from itertools import pairwise

import numpy as np
from hypothesis import given, strategies as st

from ir_graded.core.passages import Spans

#: Article, first position and length.
ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 20), st.integers(0, 8)), max_size=8)


def spans_of(rows):
    article, start, length = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Spans(article, start, start + length)


def positions(spans):
    columns = zip(spans.article.tolist(), spans.start.tolist(), spans.stop.tolist(), strict=True)
    return [(article, at) for article, start, stop in columns for at in range(start, stop)]


def assert_is_union(spans, expected):
    assert positions(spans) == sorted(expected)
    assert (spans.start < spans.stop).all()
    ends = zip(spans.article.tolist(), spans.stop.tolist(), strict=True)
    begins = zip(spans.article.tolist(), spans.start.tolist(), strict=True)
    assert all(end < begin for (end, _), (_, begin) in pairwise(zip(ends, begins, strict=True)))


@given(ROWS)
def test_union_covers_each_position_once_and_joins_touching_spans(rows):
    spans = spans_of(rows)
    union = spans.union()
    assert_is_union(union, set(positions(spans)))
    assert union.union_length(3).tolist() == spans.union_length(3).tolist()


@given(ROWS, ROWS)
def test_intersection_of_unions_covers_the_positions_in_both(one, other):
    first, second = spans_of(one), spans_of(other)
    common = first.union().intersection(second.union())
    assert positions(common) == sorted(set(positions(first)) & set(positions(second)))
    assert (common.start < common.stop).all()
