"""Names of topics and documents, and the order of rows and of dicts, do not change scores."""

import random

import pytest
from contracts import contract_cases as cases
from hypothesis import given, strategies as st
from measures import measure_cases

from ir_graded.evaluation.provider import PROVIDER

pytestmark = [pytest.mark.slow, cases.BOTH_COLUMNS]


def renamed(dicts, topics, docs):
    """Return qrels or a run with other names."""
    return {topics[t]: {docs[doc]: value for doc, value in of_topic.items()} for t, of_topic in dicts.items()}


def mapped(names, order, prefix):
    """Return a mapping of names to the same names in another order, with a prefix."""
    return {n: prefix + other for n, other in zip(names, measure_cases.shuffled(names, order), strict=True)}


NAMES = st.tuples(st.integers(0, 1000), st.sampled_from(["", "0", "x ", "é"]))
TOPICS = [*cases.TOPICS, "other"]


@cases.each(cases.ALL)
@cases.examples(4)
@given(data=st.data(), of_topics=NAMES, of_docs=NAMES)
def test_renaming_without_ties_changes_no_score(subject, data, of_topics, of_docs):
    """Without ties only: ids order documents with equal scores."""
    measure, one = data.draw(cases.measures(subject)), data.draw(cases.collections(subject))
    qrels, run = one.qrels, cases.retrieved(one.rankings)
    topics, docs = mapped(TOPICS, *of_topics), mapped(measure_cases.DOC_IDS, *of_docs)
    found = cases.scores(measure, *(renamed(dicts, topics, docs) for dicts in (qrels, run)))
    expected = cases.scores(measure, qrels, run)
    measure_cases.assert_same_scores(found, {topics[topic]: score for topic, score in expected.items()})


@cases.each(cases.ALL)
@cases.examples(4)
@given(data=st.data(), prefix=st.sampled_from(["0", "x ", "é"]))
def test_a_prefix_changes_no_score_even_with_ties(subject, data, prefix):
    """A prefix keeps the order of the ids."""
    measure, one = data.draw(cases.measures(subject)), data.draw(cases.collections(subject))
    qrels, run = one.qrels, one.run
    topics, docs = mapped_in_order(TOPICS, prefix), mapped_in_order(measure_cases.DOC_IDS, prefix)
    found = cases.scores(measure, *(renamed(dicts, topics, docs) for dicts in (qrels, run)))
    expected = cases.scores(measure, qrels, run)
    assert found == {topics[topic]: score for topic, score in expected.items()}


def mapped_in_order(names, prefix):
    return {name: prefix + name for name in names}


def in_disorder(dicts, order):
    """Return the dicts with their keys in another order."""
    source = random.Random(order)  # noqa: S311
    return {
        topic: dict(source.sample(list(of_topic.items()), len(of_topic)))
        for topic, of_topic in source.sample(list(dicts.items()), len(dicts))
    }


@cases.each(cases.ALL)
@cases.examples(4)
@given(data=st.data(), orders=st.tuples(measure_cases.ORDERS, measure_cases.ORDERS))
def test_the_order_of_rows_and_keys_changes_no_score(subject, data, orders):
    measure, one = data.draw(cases.measures(subject)), data.draw(cases.collections(subject))
    qrels, run = one.qrels, one.run
    expected = cases.scores(measure, qrels, run)
    assert cases.scores(measure, in_disorder(qrels, orders[0]), in_disorder(run, orders[1])) == expected
    if cases.needs_tables(measure):
        tables = cases.passage_tables(qrels, run)
    else:
        tables = measure_cases.qrels_frame(qrels), measure_cases.run_frame(measure_cases.run_rows(run))
    shuffled = [table.sample(frac=1, random_state=order) for table, order in zip(tables, orders, strict=True)]
    found = {metric.query_id: metric.value for metric in PROVIDER.iter_calc([measure], *shuffled)}
    assert found == expected
