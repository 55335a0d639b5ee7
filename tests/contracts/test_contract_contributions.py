"""The contributions of the documents of a topic sum to its score."""

import math
from collections import Counter

import pytest
from contracts import contract_cases as cases
from hypothesis import given, strategies as st

import ir_graded
from ir_graded.core.views import Views
from ir_graded.evaluation.provider import GradedEvaluator, wanted_columns
from ir_graded.matching.match import prepare_qrels
from ir_graded.measures import GradedMeasure
from ir_graded.measures.base import COMMON, Contributions
from ir_graded.measures.classic import scorer_of

pytestmark = cases.BOTH_COLUMNS

#: Counts that are not sums over judged documents retrieved.
WITHOUT = {"NumQ", "NumRel", "NumRet"}


def contributions(measure, qrels, run):
    """Return the contributions of all documents by topic, and the scores by topic."""
    scorer = scorer_of(measure)
    if cases.needs_tables(measure):
        qrels, run = cases.passage_tables(qrels, run)
    evaluator = GradedEvaluator({measure: scorer}, prepare_qrels(qrels, wanted_columns([measure])))
    judged = evaluator.match(run)
    views: Views = evaluator.views(judged)
    found = scorer.contributions(scorer.in_order(views))
    parts = {}
    for topic, value in zip(found.view.topic.tolist(), found.value.tolist(), strict=True):
        parts.setdefault(topic, []).append(value)
    return parts, scorer.score(scorer.in_order(views)).tolist()


@cases.each([subject for subject in cases.ALL if subject.NAME not in WITHOUT])
@cases.examples(8)
@given(data=st.data())
def test_contributions_sum_to_the_score(subject, data):
    measure, one = data.draw(cases.measures(subject)), data.draw(cases.collections(subject))
    parts, scores = contributions(measure, one.qrels, one.run)
    for topic, score in enumerate(scores):
        found = max(math.fsum(parts.get(topic, [])), scorer_of(measure).RANGE[0])
        assert found == pytest.approx(score, abs=cases.ROUNDING), (measure, topic)


class _Sum(GradedMeasure):
    """The sum of the levels retrieved. In [0, 20]."""

    NAME = "Sum"
    SUPPORTED_PARAMS = COMMON
    RANGE = (0.0, 20.0)

    def contributions(self, views):
        view = views[self.cut]
        return Contributions(view, view.level)


def test_a_score_above_1_is_not_cut_off():
    """A range that ends above 1 was ignored: the score was 1.0 beside contributions of 2.0."""
    qrels, run = {"1": {"a": 2, "b": 1}, "2": {"a": 30}}, {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 1.0}}
    assert ir_graded.evaluate(_Sum(), qrels, run).values.ravel().tolist() == [3.0, 20.0]
    found = ir_graded.explain(_Sum(), qrels, run, "1")
    assert (found.score, Counter(found.columns["contribution"])) == (3.0, Counter([2.0, 1.0]))
