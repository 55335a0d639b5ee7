"""A better document higher up never lowers the score: the properties 'swap' and 'exchange'."""

from itertools import pairwise

import pytest
from contracts import contract_cases as cases
from hypothesis import given, strategies as st

pytestmark = pytest.mark.slow


def changed(docs, high, low, better):
    """The ranking after ``better``, from ``low`` or not retrieved, has changed places with rank ``high``."""
    other = list(docs)
    if low < len(docs):
        other[low] = docs[high]
    other[high] = better
    return other


def swaps(measure, levels, docs):
    """The rankings in which a better document changes places with the one just above it."""
    for high, (worse, better) in enumerate(pairwise(docs)):
        if cases.is_better(measure, levels.get(better), levels.get(worse)):
            yield changed(docs, high, high + 1, better)


def exchanges(measure, levels, docs):
    """The rankings in which a better document from further below, or not retrieved, takes another's place."""
    missing = [doc for doc in levels if doc not in docs]
    for high, worse in enumerate(docs):
        if not cases.is_seen(measure, levels.get(worse)):
            # Nobody can take its place.
            continue
        for low, better in [*enumerate(docs[high + 1 :], high + 1), *((len(docs), doc) for doc in missing)]:
            if cases.is_better(measure, levels.get(better), levels.get(worse)):
                yield changed(docs, high, low, better)


def assert_none_is_lower(measure, one, changes):
    """No change of a ranking scores below it; each is a topic of its own in one call."""
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
@cases.examples(12)
@given(data=st.data())
def test_a_better_document_never_harms_one_rank_up(subject, data):
    assert_none_is_lower(data.draw(cases.measures(subject)), data.draw(cases.collections(subject)), swaps)


@cases.each([subject for subject in cases.having("exchange") if "swap" not in cases.lacks(subject)])
@cases.examples(12)
@given(data=st.data())
def test_a_better_document_never_harms_further_up(subject, data):
    assert_none_is_lower(data.draw(cases.measures(subject)), data.draw(cases.collections(subject)), exchanges)
