"""What each article adds, and the symbols beside it, on two articles worked out by hand."""

import pytest
from passages.passage_cases import frame, one_topic

from ir_graded import MAgP, gP, gR
from ir_graded.inputs.sources import hits_of, judgments_of
from ir_graded.views import Views

QRELS = frame("qrels", one_topic([("a", 1, "0:10"), ("b", 1, "0:20"), ("c", 1, "0:5")]))
#: Article a is found whole, of b half: F = 1 at rank 1 and 2/3 at rank 3.
RUN = frame("run", one_topic([("a", 3.0, "0:10"), ("x", 2.0, "0:10"), ("b", 1.0, "0:10")]))
F = [1, 2 / 3]
GP = [1, (1 + 2 / 3) / 3]


def views():
    judgments = judgments_of(QRELS)
    return Views(judgments.levels, hits_of(judgments, RUN))


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
def test_columns_by_hand(measure, expected):
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
def test_what_each_article_adds(measure, norm, norm_name, added):
    found = measure.contributions(views())
    assert (found.norm.tolist(), found.norm_name) == ([norm], norm_name)
    assert found.value.tolist() == pytest.approx(added, abs=1e-15)
    assert found.total().tolist() == pytest.approx([sum(added)], abs=1e-15)


def test_what_the_articles_are():
    whole, cut = MAgP.contributions(views()), (gR @ 2).contributions(views())
    assert (whole.kind, whole.cutoff, whole.rank_in_run) == ("articles with relevance", None, None)
    assert (whole.rank.tolist(), whole.relevant.tolist()) == ([1, 3], [3])
    assert (cut.cutoff, cut.rank.tolist(), cut.relevant.tolist()) == (2, [1], [3])
    assert cut.view.retrieved.tolist() == whole.view.retrieved.tolist() == [2]
