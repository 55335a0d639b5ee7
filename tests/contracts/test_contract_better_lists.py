"""Ranking a better document higher never lowers the score: the properties 'swap' and 'exchange'."""

from itertools import pairwise

import pytest
from contracts import contract_cases as cases
from hypothesis import given, strategies as st

pytestmark = [pytest.mark.slow, cases.BOTH_COLUMNS]


def changed(docs, high, low, better):
    """Return the ranking with ``better``, from ``low`` or not retrieved, exchanged with rank ``high``."""
    other = list(docs)
    if low < len(docs):
        other[low] = docs[high]
    other[high] = better
    return other


def swaps(measure, levels, docs):
    """Yield the rankings in which a better document changes places with the one just above it."""
    for high, (worse, better) in enumerate(pairwise(docs)):
        if cases.is_better(measure, levels.get(better), levels.get(worse)):
            yield changed(docs, high, high + 1, better)


def exchanges(measure, levels, docs):
    """Yield rankings in which a better document from further below, or not retrieved, takes a higher rank."""
    missing = [doc for doc in levels if doc not in docs]
    for high, worse in enumerate(docs):
        if not cases.is_seen(measure, levels.get(worse)):
            # A document without a rank in the evaluated list cannot be replaced.
            continue
        for low, better in [*enumerate(docs[high + 1 :], high + 1), *((len(docs), doc) for doc in missing)]:
            if cases.is_better(measure, levels.get(better), levels.get(worse)):
                yield changed(docs, high, low, better)


def assert_none_is_lower(measure, one, changes):
    """Check that no change of a ranking lowers the score; each ranking is a separate topic of one call."""
    variants = {
        f"{topic}/{number}": docs
        for topic, levels in one.qrels.items()
        for ranking in [one.rankings.get(topic, [])]
        for number, docs in enumerate([ranking, *changes(measure, levels, ranking)])
    }
    all_qrels = {name: one.qrels[name.partition("/")[0]] for name in variants}
    found = cases.scores(measure, all_qrels, cases.retrieved(variants))
    for name, score in found.items():
        before = found[f"{name.partition('/')[0]}/0"]
        assert score >= before - cases.ROUNDING, (measure, all_qrels[name], variants[name])


@cases.each(cases.having("swap"))
@cases.examples(8)
@given(data=st.data())
def test_moving_a_better_document_up_one_rank_never_lowers_the_score(subject, data):
    assert_none_is_lower(
        data.draw(cases.measures(subject, "swap")), data.draw(cases.collections(subject)), swaps
    )


@cases.each([subject for subject in cases.having("exchange") if "swap" not in cases.lacks(subject)])
@cases.examples(8)
@given(data=st.data())
def test_moving_a_better_document_up_many_ranks_never_lowers_the_score(subject, data):
    assert_none_is_lower(
        data.draw(cases.measures(subject, "exchange")), data.draw(cases.collections(subject)), exchanges
    )
