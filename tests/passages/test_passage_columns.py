"""The contribution of each article, and the symbols beside it, for two articles worked out by hand."""

import numpy as np
import pytest
from passages.passage_cases import frame, one_topic

from ir_graded import MAgP, gP, gR
from ir_graded.core.views import Cut, Views, f_score
from ir_graded.matching.match import match_run, prepare_qrels

QRELS = frame("qrels", one_topic([("a", 1, "0:10"), ("b", 1, "0:20"), ("c", 1, "0:5")]))
#: Article a is retrieved whole, b to one half: F = 1 at rank 1 and 2/3 at rank 3.
RUN = frame("run", one_topic([("a", 3.0, "0:10"), ("x", 2.0, "0:10"), ("b", 1.0, "0:10")]))
F = [1, 2 / 3]
GP = [1, (1 + 2 / 3) / 3]


def views():
    judgments = prepare_qrels(QRELS)
    return Views(judgments.levels, match_run(judgments, RUN))


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (MAgP, {"F": F, "gP": GP, "stop": [1 / 3, 1 / 3], "utility": GP}),
        (gP @ 3, {"F": F, "gP": GP}),
        (gR @ 3, {"F": F, "gP": GP}),
        (gP(beta=0) @ 3, {"F": [1, 1], "gP": [1, 2 / 3]}),
    ],
    ids=str,
)
def test_columns_equal_values_by_hand(measure, expected):
    found = {name: values.tolist() for name, values in measure.columns(views()).items()}
    assert found == {name: pytest.approx(values, abs=1e-15) for name, values in expected.items()}


@pytest.mark.parametrize(
    ("measure", "norm", "norm_name", "added"),
    [
        (MAgP, 3, "", [1 / 3, GP[1] / 3]),
        (gP @ 4, 4, "the cutoff", [1 / 4, 1 / 6]),
        (gR @ 4, 3, "the articles with relevance", [1 / 3, 1 / 3]),
    ],
    ids=str,
)
def test_contributions_equal_values_by_hand(measure, norm, norm_name, added):
    found = measure.contributions(views())
    assert (found.norm.tolist(), found.norm_name) == ([norm], norm_name)
    assert found.value.tolist() == pytest.approx(added, abs=1e-15)
    assert found.total().tolist() == pytest.approx([sum(added)], abs=1e-15)


def test_articles_have_names_ranks_and_levels():
    whole, cut = MAgP.contributions(views()).view, (gR @ 2).contributions(views()).view
    assert (whole.kind, whole.cutoff, whole.rank_in_run) == ("articles with relevance", None, None)
    assert (whole.n.tolist(), whole.R.tolist()) == ([1, 3], [3])
    assert (cut.cutoff, cut.n.tolist(), cut.R.tolist()) == (2, [1], [3])
    assert cut.retrieved.tolist() == whole.retrieved.tolist() == [2]


def test_retrieved_articles_count_if_one_position_is_highlighted():
    judged = [("one", 1, "3:1"), ("none", 0, "0:10"), ("far", 1, "0:10"), ("missed", 1, "0:10")]
    judgments = prepare_qrels(frame("qrels", one_topic(judged)))
    found = [("none", 3.0, "0:10"), ("one", 2.0, "0:10"), ("far", 1.0, "20:10")]
    view = Views(judgments.levels, match_run(judgments, frame("run", one_topic(found)))).articles(1, 1, None)
    assert (view.R.tolist(), view.retrieved.tolist(), view.n.tolist()) == ([3], [2], [2, 3])
    assert view.F.tolist() == [2 * 1 / (1 + 10), 0]


def test_rounding_does_not_raise_f_above_1():
    size = np.arange(1, 2000)
    for beta in (0.3, 0.7, 1, 3):
        F = f_score(size, size, size, beta)
        assert F.max() == 1
        assert F.min() >= 1 - 2**-52
    assert ((0.09 + 1) * size / (0.09 * size + size)).max() > 1  # otherwise the bound would not be needed


def test_articles_are_counted_by_topic():
    rows = [(topic, doc, 1, 0, 5) for topic in "12" for doc in "abc"]
    judgments = prepare_qrels(frame("qrels", rows))
    ranked = [(topic, doc, -float(place), 0, 5) for topic in "12" for place, doc in enumerate("xcab")]
    view = Views(judgments.levels, match_run(judgments, frame("run", ranked))).articles(1, 1, 3)
    assert view.topic.tolist() == [0, 0, 1, 1]
    assert view.C.tolist() == [1, 2, 1, 2]
    assert view.n.tolist() == [2, 3, 2, 3]
    assert view.start.tolist() == [0, 0, 2, 2]
    assert view.sum_by_topic(view.F).tolist() == [2, 2]


def test_views_of_articles_and_of_documents_have_the_same_attributes():
    every = views()
    documents, articles = every[Cut(judged_only=True, cutoff=2)], every.articles(1, 1, 2)
    for name in ("topic", "n", "start", "C", "R", "document", "retrieved"):
        assert (getattr(documents, name).dtype, getattr(articles, name).dtype) == (np.int64, np.int64), name
    assert (documents.cutoff, articles.cutoff) == (2, 2)
    assert documents.rank_in_run.size == documents.n.size
    assert articles.rank_in_run is None
