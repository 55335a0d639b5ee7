"""Explanations of tied documents."""

import numpy as np
import pytest
from reference.test_every_measure import FAMILIES, drawn, in_an_order, of_lists
from reference.tie_cases import rng_of
from ties.tie_scores import random_collection, run_of, scores

import ir_graded

#: FirstRank adds the next rank, and the others are not sums over ranks.
LACKING = {"FirstRank", "GM", "NumQ", "NumRel", "NumRet"}

QRELS = {"1": {"a": 2, "b": 1, "c": 0, "d": -1, "e": 1}}
RUN = {"1": {"e": 2.0, "a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0, "x": 1.0, "y": 0.0}}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize("subject", [one for one in FAMILIES[of_lists] if one.NAME not in LACKING], ids=str)
def test_contributions_of_tie_groups_sum_to_the_score(subject):
    rng = rng_of(f"explained {subject}")
    for _ in range(3):
        qrels, groups = random_collection(rng, 4)
        measure, _ = in_an_order(rng, drawn(rng, subject, "residual"), subject.NAME)
        run = run_of(groups)
        of_topic = scores([measure], qrels, run)[measure]
        for topic in qrels:
            found = ir_graded.explain(measure, qrels, run, topic)
            assert found.score == of_topic[topic]
            assert found.columns["contribution"].sum() == pytest.approx(found.score, rel=0, abs=1e-12)


def test_orders_without_a_relevant_document_add_the_next_rank_to_no_tie_group():
    """FirstRank of two orders: the relevant document is first (1), or below the cutoff (1 + 1)."""
    run = {"1": {"a": 1.0, "x": 1.0}}
    found = ir_graded.explain("FirstRank(ties='expected')@1", {"1": {"a": 1}}, run, "1")
    assert (found.score, found.columns["contribution"].tolist()) == (1.5, [0.5])


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_a_tie_group_is_one_row_with_its_counts():
    found = ir_graded.explain("AP(ties='expected')", QRELS, RUN, "1")
    columns = {name: values.tolist() for name, values in found.columns.items()}
    contribution = columns.pop("contribution")
    assert columns == {
        "rank": [1, 2],
        "last_rank": [1, 6],
        "doc_id": ["e", "b, a"],
        "documents": [1, 5],
        "relevant": [1, 2],
        "not_relevant": [0, 1],
        "unjudged": [0, 2],
    }
    assert sum(contribution) == pytest.approx(found.score)
    text = str(found)
    assert "Documents with equal scores are one row" in text
    assert "to rank" in text


def test_documents_are_in_the_order_given_by_ties():
    for how, order in (("optimistic", ["e", "a", "b"]), ("pessimistic", ["e", "b", "a"])):
        found = ir_graded.explain(f"AP(ties='{how}')", QRELS, RUN, "1")
        assert found.columns["doc_id"].tolist() == order
    assert found.columns["rank"].tolist() == [1, 5, 6]


def test_a_topic_without_ties_is_explained_by_documents():
    run = {"1": {"a": 3.0, "b": 2.0}, "2": {"a": 1.0, "b": 1.0}}
    found = ir_graded.explain("AP(ties='expected')", {"1": {"a": 1}, "2": {"a": 1}}, run, "1")
    assert "documents" not in found.columns
    assert np.isclose(found.score, 1)
