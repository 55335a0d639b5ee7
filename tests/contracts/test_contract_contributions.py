"""The contributions of the documents of a topic sum to its score."""

import math
from collections import Counter

import numpy as np
import pytest
from contracts import contract_cases as cases
from hypothesis import given, strategies as st

import ir_graded
from ir_graded.analyses.explain import _COLUMNS
from ir_graded.core.views import Views
from ir_graded.evaluation.provider import GradedEvaluator, wanted_columns
from ir_graded.matching.match import prepare_qrels
from ir_graded.measures import GradedMeasure
from ir_graded.measures.base import COMMON, Contributions
from ir_graded.measures.classic import scorer_of

pytestmark = cases.BOTH_COLUMNS

#: Counts that are not sums over judged documents retrieved.
WITHOUT = {"NumQ", "NumRel", "NumRet"}

#: Measures whose parameters are listed, not drawn.
LISTED = cases.WITH_COLUMNS | cases.OF_ROWS

#: Columns of an explanation whose product is the contribution, from the first that fits to the last.
FACTORS = (
    *(("probability", "stop", "utility"), ("stop", "utility"), ("gain", "weight", "discount")),
    *(("gain", "weight"), ("gain", "discount"), ("weight", "utility"), ("weight",), ("F",)),
)
#: Divisors in the words of explanations; without words, columns show it.
DIVISORS = {
    *("", "L", "min(k, R)", "(beta R + retrieved) / (beta + 1)", "retrieved * R / found", "points of recall"),
    *("rows that find text and spans never chosen", "RBO of the ideal list with itself"),
    *("the weights of all depths", "the weights of all ranks", "the cutoff", "the documents looked at"),
    *("the articles with relevance", "the aspects of the topic", "the characters retrieved"),
    *("the characters retrieved or highlighted", "the documents retrieved", "the highlighted characters"),
    *("the gain of all highlighted characters", "the highlighted characters times L"),
    *("the relevant documents of the topic", "the relevant documents that a set of this size can hold"),
    "the relevant documents seen * the others seen (at least 1)",
    *("the estimated number of relevant documents", "the intents with a relevant document"),
    "the weighted mean of characters retrieved and highlighted",
    "the weighted mean of the relevant documents and the cutoff",
    "the intents with a relevant document times the highest sum of an intent",
    *(f"the {of} of the listed nuggets; rank 0 is not covered" for of in ("weight", "weight times L")),
    *(f"{of} of the ideal list" for of in ("DCG", "ERR", "EBR", "iRBU", "gRBP", "the sum")),
    "the estimated DCG of the ideal list",
}
#: Measures whose contributions are sums over more than one column, as are those of a base measure.
OTHER_SUMS = {"P+Q#", "gR", "NuggetR", "U"}


def explained(measure, qrels, run):
    """Return the contributions of documents, their columns, the views, and the scores by topic."""
    scorer = scorer_of(measure)
    if cases.needs_tables(measure):
        qrels, run = cases.passage_tables(qrels, run)
    evaluator = GradedEvaluator({measure: scorer}, prepare_qrels(qrels, wanted_columns([measure])))
    views: Views = scorer.in_order(evaluator.views(evaluator.match(run)))
    return scorer.contributions(views), scorer.columns(views), views, scorer.score(views).tolist()


def by_topic(found, values):
    """Return the values of documents by topic."""
    parts = {}
    for topic, value in zip(found.view.topic.tolist(), values.tolist(), strict=True):
        parts.setdefault(topic, []).append(value)
    return parts


@pytest.mark.every
@cases.each([subject for subject in cases.ALL if subject.NAME not in WITHOUT])
@cases.examples(6)
@given(data=st.data())
def test_contributions_sum_to_the_score_and_columns_show_their_factors(subject, data):
    assert_sums(data.draw(cases.measures(subject)), data.draw(cases.collections(subject)))


@pytest.mark.every
@pytest.mark.parametrize("name", LISTED)
def test_contributions_of_all_listed_parameters_sum_to_the_score(name):
    one = next(one for one in cases.COLLECTIONS if one.scale == "graded")
    for measure in LISTED[name]:
        assert_sums(measure, one)


def assert_sums(measure, one):
    """Contributions sum to the scores, and columns have the factors."""
    found, columns, views, scores = explained(measure, one.qrels, one.run)
    parts = by_topic(found, found.value)
    for topic, score in enumerate(scores):
        total = cases.of_contributions(measure, parts.get(topic, []))
        assert total == pytest.approx(score, rel=1e-14, abs=cases.ROUNDING), (measure, topic)
    assert_columns(measure, found, columns)
    if "cg" in columns and not cases.needs_tables(measure):
        assert_gains(measure, found, columns, views)


def assert_columns(measure, found, columns):
    """The columns have known names, and some of them are the factors of the contributions."""
    known = {*_COLUMNS, "ideal_rank", "relevance", "similarity_SIZE", "a_1", "a_2", "share"}
    assert columns.keys() <= known
    ideal = f"{measure.NAME.removeprefix('n')} of the ideal list"
    assert found.norm_name in ({*DIVISORS, ideal} if found.norm is not None else {""})
    assert {values.shape for values in columns.values()} <= {found.value.shape}
    factors = next((names for names in FACTORS if columns.keys() >= {*names}), ())
    if factors and measure.NAME not in OTHER_SUMS and "measure" not in measure.SUPPORTED_PARAMS:
        product = math.prod(columns[name] for name in factors)
        term = np.ones(product.shape) if found.term is None else found.term
        assert any(np.allclose(product, each, rtol=0, atol=cases.ROUNDING) for each in (term, found.value))


def assert_gains(measure, found, columns, views):
    """Gains are those of the levels, and are summed up over the list and over the ideal list."""
    view, C, levels = found.view, {}, views.levels
    relevant = [level for level in levels.values.tolist() if cases.is_relevant(measure, level)]
    gains = {level: cases.gain(measure, level) for level in relevant}
    every = levels.values[levels.level_index]
    beta = math.inf if "beta" not in measure.SUPPORTED_PARAMS else measure["beta"]
    for at, (topic, n, level) in enumerate(zip(view.topic, view.n, view.level, strict=True)):
        C.setdefault(topic, []).append(gains[level])
        ideal = sorted(gains[one] for one in every[levels.topic == topic].tolist() if one in gains)[::-1]
        cg, cg_star = math.fsum(C[topic]), math.fsum(ideal[:n])
        assert columns["gain"][at] == gains[level]
        assert (columns["cg"][at], columns["cg_star"][at]) == pytest.approx((cg, cg_star), rel=1e-12)
        if "BR" in columns and 0 < beta < math.inf:
            ratio = (len(C[topic]) + beta * cg) / (n + beta * cg_star)
            assert columns["BR"][at] == pytest.approx(ratio, rel=1e-12)


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
