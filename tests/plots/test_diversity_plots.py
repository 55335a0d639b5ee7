"""Plots of covered intents and of shares of groups: lines and bars match the explanation."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from helpers import covid_sample
from plots.plot_cases import assert_within

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


import ir_graded  # noqa: E402
from ir_graded import plots  # noqa: E402
from ir_graded.errors import InputError  # noqa: E402

ROWS = [("a", 2, "price"), ("a", 1, "safety"), ("b", 1, "price"), ("c", 1, "range"), ("d", 2, "charge")]
QRELS = pd.DataFrame(
    [("q", *row) for row in ROWS] + [("r", "a", 1, "x")],
    columns=["query_id", "doc_id", "relevance", "iteration"],
)
RUNS = {
    "first": {"q": {"b": 9.0, "x": 8.0, "a": 7.0, "y": 6.0, "c": 5.0, "z": 4.0}},
    "second": {"q": {"x": 9.0, "a": 8.0, "b": 7.0, "c": 6.0, "d": 5.0}},
}
GROUPED = pd.DataFrame(
    {
        "query_id": "q",
        "doc_id": ["a", "b", "c"],
        "relevance": [2, 0, 1],
        "SIZE": [(1.0, 0.0), (0.0, 1.0), (1.0, 0.0)],
    }
)
GF = ir_graded.GF(groups="SIZE", divergence="NMD", target=[0.7, 0.3])


def covered(run="first", measure="I-rec", qrels=QRELS, topic="q"):
    return ir_graded.explain(measure, qrels, {run: RUNS.get(run, {topic: {"n": 1.0}})}, topic)


def shown(run="first", measure=GF, **runs):
    return ir_graded.explain(measure, GROUPED, {run: {**RUNS, **runs}[run]}, "q")


def steps(line):
    return list(zip(line.get_xdata().tolist(), line.get_ydata().tolist(), strict=True))


def heights(ax):
    return [[bar.get_height() for bar in bars] for bars in ax.containers]


@pytest.mark.slow
def test_coverage_rises_at_the_rank_of_each_new_intent_and_names_it():
    figure = plots.coverage(covered())
    (ax,) = figure.axes
    (line,) = ax.get_lines()
    assert steps(line) == [(1, 0), (1, 0.25), (3, 0.5), (5, 0.75), (6, 0.75)]
    assert line.get_drawstyle() == "steps-post"
    assert [(text.get_text(), text.xy[0]) for text in ax.texts] == [("price", 1), ("safety", 3), ("range", 5)]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rank", "share of intents covered")
    assert ax.get_title() == "I-rec, topic q"
    assert not figure.legends
    assert_within(figure)


def test_coverage_at_each_rank_equals_intent_recall():
    (line,) = plots.coverage(covered("second")).axes[0].get_lines()
    x, y = np.array(line.get_xdata()), np.array(line.get_ydata())
    for cutoff in range(1, 6):
        score = ir_graded.evaluate(f"I-rec@{cutoff}", QRELS[:5], {"second": RUNS["second"]}).values.item()
        assert y[x <= cutoff][-1] == pytest.approx(score)


def test_coverage_ends_at_the_cutoff():
    (line,) = plots.coverage(covered(measure="I-rec@4")).axes[0].get_lines()
    assert steps(line)[-1] == (4, 0.5)


def test_intents_of_one_document_are_named_together():
    qrels = QRELS[QRELS["doc_id"] == "a"]
    (ax,) = plots.coverage(covered("second", qrels=qrels)).axes
    assert steps(ax.get_lines()[0]) == [(1, 0), (2, 1), (5, 1)]
    assert sorted(ax.texts[0].get_text().split(", ")) == ["price", "safety"]


def test_coverage_of_several_runs_has_one_line_per_run():
    figure = plots.coverage([covered(), covered("second")])
    (ax,) = figure.axes
    assert [line.get_label() for line in ax.get_lines()] == ["first", "second"]
    assert not ax.texts
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["first", "second"]


def test_coverage_of_a_run_that_covers_nothing_is_zero():
    (line,) = plots.coverage(covered("none")).axes[0].get_lines()
    assert {height for _, height in steps(line)} == {0}


@pytest.mark.slow
def test_groups_show_the_target_and_the_shares_that_gf_compares():
    found = shown()
    figure = plots.groups(found, names=["small", "large"])
    (ax,) = figure.axes
    last = [found.columns[name][-1] for name in ("a_1", "a_2")]
    assert heights(ax) == [[0.7, 0.3], last]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["small", "large"]
    assert ax.get_title() == "SIZE, topic q"
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["target", "first, ranks 1 to 5"]
    assert_within(figure)


def test_groups_of_several_runs_have_bars_that_do_not_overlap():
    (ax,) = plots.groups([shown(), shown("second")]).axes
    assert len(heights(ax)) == 3
    bars = sorted((bar.get_x(), bar.get_width()) for one in ax.containers for bar in one)
    assert all(x + width <= other + 1e-12 for (x, width), (other, _) in pairwise(bars))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2"]


def test_groups_without_a_relevant_document_are_shared_equally():
    figure = plots.groups(shown("none", none={"q": {"n": 1.0}}))
    assert heights(figure.axes[0])[1] == [0.5, 0.5]
    assert figure.legends[0].get_texts()[1].get_text() == "none, no relevant document"


def test_the_error_names_the_expected_input():
    with pytest.raises(InputError, match="no explanation"):
        plots.coverage([])
    with pytest.raises(InputError, match=r"of I-rec, found one of P\+Q"):
        plots.coverage(covered(measure="P+Q"))
    with pytest.raises(InputError, match="of GF, found one of I-rec"):
        plots.groups(covered())
    with pytest.raises(InputError, match="one topic, found q, r"):
        plots.coverage([covered(), covered("other", topic="r")])
    with pytest.raises(InputError, match="expected 2 names for the groups of 'SIZE', found 3"):
        plots.groups(shown(), names="abc")
    qrels = GROUPED.rename(columns={"SIZE": "ORIGIN"})
    other = ir_graded.explain("GF(groups='ORIGIN')", qrels, {"first": RUNS["first"]}, "q")
    with pytest.raises(InputError, match="'SIZE', \\['ORIGIN'\\]"):
        plots.groups([shown(), other])


CUTOFFS = ["I-rec@5", "I-rec@1", "Q@5", "I-rec@2"]


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_cutoffs_are_means_of_each_run_in_order():
    scores = ir_graded.evaluate(CUTOFFS, QRELS, RUNS)
    figure = plots.cutoffs(scores)
    (ax,) = figure.axes
    assert [line.get_label() for line in ax.get_lines()] == ["first", "second"]
    for line in ax.get_lines():
        means = scores.mean().loc[line.get_label()]
        assert steps(line) == [(k, means[f"I-rec@{k}"]) for k in (1, 2, 5)]
    assert ax.get_ylabel() == "mean I-rec@k"
    assert len(plots.cutoffs(scores, "Q").axes[0].get_lines()[0].get_xdata()) == 1
    with pytest.raises(InputError, match="no cutoffs of AP, only I-rec@5"):
        plots.cutoffs(scores, "AP")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_cutoffs_may_be_budgets():
    qrels = QRELS.assign(start=0, length=10)
    runs = {
        name: pd.DataFrame({"query_id": "q", "doc_id": [*run["q"]], "score": [*run["q"].values()]})
        for name, run in RUNS.items()
    }
    runs = {name: run.assign(start=0, length=10, tokens=3) for name, run in runs.items()}
    names = [f"NuggetR(budget={budget},rel=2)" for budget in (30, 10, 20)]
    scores = ir_graded.evaluate([*names, "NuggetR(rel=2)@2", "CharR(budget=7,unit='tokens')"], qrels, runs)
    (ax,) = plots.cutoffs(scores).axes
    for line in ax.get_lines():
        means = scores.mean().loc[line.get_label()]
        assert steps(line) == [(b, means[f"NuggetR(budget={b},rel=2)"]) for b in (10, 20, 30)]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("budget in characters", "mean NuggetR(rel=2)")
    (ax,) = plots.cutoffs(scores, "NuggetR(rel=2)").axes
    assert (ax.get_xlabel(), len(steps(ax.get_lines()[0]))) == ("cutoff k", 1)
    (ax,) = plots.cutoffs(scores, "CharR(budget=9,unit='tokens')").axes
    assert (ax.get_xlabel(), len(ax.get_lines())) == ("budget in tokens", 2)
    with pytest.raises(InputError, match="no cutoffs of CharR, only"):
        plots.cutoffs(scores, "CharR")


def test_cutoffs_may_have_intervals():
    covid = covid_sample()
    runs = {name: covid.runs[name] for name in ("bm25_baseline", "KU_run1", "poznan_run1")}
    scores = ir_graded.evaluate("nDCG@5 nDCG@1", covid.qrels, runs)
    intervals = ir_graded.meta.confidence_intervals(scores)
    figure = plots.cutoffs(scores, intervals=intervals)
    (ax,) = figure.axes
    found = [bars.get_segments() for bars in ax.collections]
    for run, bars in zip(scores.runs, found, strict=True):
        at = intervals.runs.index(run)
        for bar, k in zip(bars, (1, 5), strict=True):
            row = intervals.measures.index(f"nDCG@{k}")
            assert bar.ravel().tolist() == [k, intervals.low[row, at], k, intervals.high[row, at]]
    # Three entries that do not fit in a row are one below the other.
    assert figure.legends[0]._ncols == 1
    other = ir_graded.meta.confidence_intervals(scores["nDCG@5"])
    with pytest.raises(InputError, match="expected those of the scores, with nDCG@1, nDCG@5 of"):
        plots.cutoffs(scores, intervals=other)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_names_with_dollars_and_of_any_length_are_drawn():
    name = "$x" * 40
    qrels = pd.concat([QRELS[3:4].assign(iteration=intent) for intent in (name, name[1:])])
    explanation = ir_graded.explain("I-rec", qrels, {name: RUNS["first"]}, "q")
    assert_within(plots.coverage(explanation))
    assert_within(plots.coverage([explanation, explanation]))
