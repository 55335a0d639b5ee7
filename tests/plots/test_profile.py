"""The profile of a measure: drawn from the explanation's columns, labelled, and legible in grey."""

import numpy as np
import pandas as pd
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib.colors import to_rgb  # noqa: E402

import ir_graded  # noqa: E402
from ir_graded.plots import profile  # noqa: E402

QRELS = {"1": {"a": 3, "b": 2, "c": 1, "d": 1}}
RUN = {"1": {"c": 9.0, "x": 8.0, "a": 7.0, "b": 6.0}}


def explained(measure, run=None):
    return ir_graded.explain(measure, QRELS, run or RUN, "1")


def bars_of(axes):
    (bars,) = axes.collections
    return [segment[1].tolist() for segment in bars.get_segments()]


@pytest.mark.slow
def test_stops_are_at_the_left_and_utility_at_the_right():
    found = explained("P+@3")
    figure = found.plot()
    left, right = figure.axes
    assert left.get_title() == "P+@3, topic 1"
    labels = left.get_xlabel(), left.get_ylabel(), right.get_ylabel()
    assert labels == ("rank", "stop probability", "utility")
    assert bars_of(left) == [[1, 0.5], [3, 0.5]]
    (line,) = right.get_lines()
    assert line.get_xdata().tolist() == [1, 3]
    assert line.get_ydata().tolist() == found.columns["utility"].tolist()
    assert figure.get_size_inches()[0] == pytest.approx(3.3)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["stop probability", "utility"]
    figure.draw_without_rendering()
    assert not legend.get_window_extent().overlaps(left.get_tightbbox())


def test_bars_and_line_differ_in_grey():
    left, right = explained("Q").plot().axes
    (line,) = right.get_lines()
    (bars,) = left.collections
    bar_grey, line_grey = (
        np.dot((0.299, 0.587, 0.114), to_rgb(one)) for one in (bars.get_color()[0][:3], line.get_color())
    )
    assert abs(bar_grey - line_grey) > 0.05
    assert line.get_linestyle() != "-"
    assert line.get_marker() == "o"


@pytest.mark.parametrize(
    ("measure", "names"),
    [
        ("BR@3", ["contribution", "blended ratio"]),
        ("P@3", ["contribution"]),
        ("AP", ["stop probability", "utility"]),
    ],
)
def test_measures_without_stops_show_contributions(measure, names):
    figure = profile(explained(measure))
    assert [axes.get_ylabel() for axes in figure.axes] == names
    assert figure.axes[0].get_ylim()[0] == 0


@pytest.mark.parametrize("measure", ["alpha_nDCG@5", "IA(measure='Q')"])
def test_contributions_of_several_intents_at_a_rank_are_added(measure):
    rows = {"query_id": "1", "doc_id": [*"aab"], "relevance": 1, "iteration": [*"xyx"]}
    found = ir_graded.explain(measure, pd.DataFrame(rows), {"1": {"a": 2.0, "b": 1.0}}, "1")
    (axes,) = found.plot().axes
    assert axes.get_ylabel() == "contribution"
    bars = bars_of(axes)
    assert [rank for rank, _ in bars] == [1, 2]
    assert sum(height for _, height in bars) == pytest.approx(found.score)


def test_deep_rankings_have_a_logarithmic_axis():
    run = {"1": {**{f"x{n}": 1000.0 - n for n in range(200)}, "a": 2000.0, "b": 1.0}}
    left, _ = explained("Q", run).plot().axes
    assert left.get_xscale() == "log"
    assert [tick for tick in left.get_xticks() if tick <= 200] == [1, 10, 100]
    assert explained("Q").plot().axes[0].get_xscale() == "linear"


@pytest.mark.slow
def test_an_empty_profile_has_a_note():
    figure = explained("Q", {"1": {"x": 1.0}}).plot()
    figure.draw_without_rendering()
    assert figure.axes[0].texts[0].get_text() == "no document counts"


@pytest.mark.slow
def test_long_names_and_names_with_formulas_are_drawn():
    found = ir_graded.explain(
        "NCU(stop='rb',gains={1:1.5,2:2.5,3:3.5},gamma=0.75)", {"$x$": {"a": 3}}, {"$x$": {"a": 1.0}}, "$x$"
    )
    figure = found.plot()
    figure.draw_without_rendering()
    title = figure.axes[0].title
    assert title.get_window_extent().x0 >= 0
    assert title.get_window_extent().x1 <= figure.bbox.width
