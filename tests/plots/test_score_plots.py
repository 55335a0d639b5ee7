"""Plots of scores: every run, topic and rank at its value, labelled, inside the figure."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from plots.plot_cases import assert_within

from ir_graded import Scores, evaluate, meta

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib.figure import Figure  # noqa: E402

from ir_graded.errors import InputError  # noqa: E402
from ir_graded.plots import scores as plots, style  # noqa: E402
from ir_graded.plots.style import svg  # noqa: E402

#: The runs lack topics on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")


def scores_of(topics=8, runs=("a", "b")):
    rng = np.random.default_rng(1)
    measures = tuple(evaluate(["Q", "NCU(stop='rb', gamma=0.7)"], {"1": {"a": 1}}, {"1": {}}).measures)
    values = rng.random((2, len(runs), topics))
    return Scores(tuple(runs), measures, tuple(f"t{at}" for at in range(topics)), values)


def intervals(runs=5):
    mean = np.linspace(0.2, 0.8, runs)[np.newaxis]
    names = tuple(f"run {at}" for at in range(runs))
    ends = {"low": mean - 0.1, "high": mean + 0.05, "confidence": 0.9}
    return SimpleNamespace(
        measures=("Q",), runs=names, mean=mean, **ends, best_first=lambda at: [*np.argsort(-mean[at])]
    )


def differences_of(runs, **options):
    """Differences of a number of runs, whose means fall, from the first one."""
    values = (
        0.5 + 0.02 * np.random.default_rng(0).standard_normal((30, runs + 1)) - 0.01 * np.arange(runs + 1)
    )
    frame = pd.DataFrame(values, columns=[f"run ${at}" for at in range(runs + 1)])
    return meta.differences({"Q": frame, "AP": frame}, **{"baseline": "run $0", "n_resamples": 999} | options)


def shares(runs, depths=(5, 10, 100)):
    share = np.tile(np.linspace(0.1, 0.9, len(depths)), (runs, 1)) * np.linspace(1, 0.5, runs)[:, None]
    return SimpleNamespace(
        runs=tuple(f"run {at}" for at in range(runs)),
        depths=depths,
        share=share,
        by_rank=np.full((runs, 100), 0.5),
    )


def test_differences_are_sorted_and_coloured():
    scores = scores_of()
    figure = plots.differences(scores, "Q", "a", "b")
    assert isinstance(figure, Figure)
    (ax,) = figure.axes
    expected = (scores.matrix("Q")["a"] - scores.matrix("Q")["b"]).sort_values(ascending=False)
    better, worse = ([bar.get_height() for bar in bars] for bars in ax.containers)
    assert np.add(better, worse).tolist() == pytest.approx(expected.tolist())
    assert [tick.get_text() for tick in ax.get_xticklabels()] == expected.index.tolist()
    assert len({bars.patches[0].get_facecolor() for bars in ax.containers}) == 2
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    wins = int((expected > 0).sum())
    assert f"a better ({wins} topic{'s' * (wins != 1)})" in labels
    assert f"b better ({8 - wins} topics)" in labels
    assert any(line.get_ydata()[0] == pytest.approx(expected.mean()) for line in ax.get_lines())


@pytest.mark.slow
@pytest.mark.parametrize("topics", [2, 30, 50, 51, 400])
def test_differences_of_few_and_many_topics_are_drawn(topics):
    scores = scores_of(topics)
    figure = plots.differences(scores, "NCU(stop='rb', gamma=0.7)", "a", "b")
    assert_within(figure)
    (ax,) = figure.axes
    assert bool(ax.containers) == (topics <= 50)
    names = (scores.matrix(scores.names[1]) @ [1, -1]).sort_values().index
    expected = {*names} if topics <= 30 else {names[0], names[-1]}
    assert {text.get_text() for text in [*ax.texts, *ax.get_xticklabels()]} == expected
    assert len(svg(figure)) < 300_000


@pytest.mark.slow
def test_differences_of_long_unusual_names_are_drawn():
    names = ("$x$ " + "very long name " * 5, "b\nc")
    assert_within(plots.differences(scores_of(runs=names), "Q", *names))


def test_unknown_names_are_rejected():
    with pytest.raises(InputError, match="unknown run 'c'; the runs are 'a', 'b'"):
        plots.differences(scores_of(), "Q", "a", "c")
    with pytest.raises(InputError, match="AP was not evaluated"):
        plots.differences(scores_of(), "AP", "a", "b")


def test_leaderboard_draws_means_and_intervals_best_first():
    found = intervals()
    figure = plots.leaderboard(found)
    (ax,) = figure.axes
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [f"run {at}" for at in (4, 3, 2, 1, 0)]
    (points,) = ax.get_lines()
    assert points.get_xdata().tolist() == found.mean[0, ::-1].tolist()
    (ends,) = ax.collections
    for row, (left, right) in enumerate(ends.get_segments()):
        assert left[0] == pytest.approx(found.low[0, 4 - row])
        assert right[0] == pytest.approx(found.high[0, 4 - row])
        assert left[1] == right[1] == row
    bottom, top = ax.get_ylim()
    assert bottom > top, "the best run is on top"
    assert "90% interval" in ax.get_xlabel()
    assert "Q" in ax.get_xlabel()


def test_differences_from_a_baseline_show_intervals_verdicts_and_the_tolerance():
    slices = {at: "one" if at % 2 else "two" for at in range(30)}
    found = differences_of(6, alternative="less", minimum={"Q": 0.46}, slices=slices, tolerance=0.01)
    for part in ("all", "one"):
        rows = found.to_frame().query("measure == 'Q' and slice == @part")
        rows = rows.sort_values("difference", ascending=False)
        (ax,) = found.plot("Q", part).axes
        lines = {line.get_label(): line for line in ax.get_lines()}
        assert {*rows["verdict"]} < {*lines}
        for verdict, of_verdict in rows.reset_index().groupby("verdict"):
            assert lines[verdict].get_xdata().tolist() == of_verdict["difference"].tolist()
            assert lines[verdict].get_ydata().tolist() == of_verdict.index.tolist()
        drawn = sorted(end[0] for bars in ax.collections for bar in bars.get_segments() for end in bar)
        assert drawn == sorted([*rows["low"], *rows["high"]])
        places = [line.get_xdata()[0] for line in ax.get_lines()[-3:]]
        assert places == [0, -0.01, 0.01]
        assert ax.get_xlabel() == "Q, 90% interval\ndifference from run \\$0"
    with pytest.raises(InputError, match="slice='three' must be one of 'all', 'two', 'one'"):
        found.plot(slice="three")
    with pytest.raises(InputError, match="measure='RR' must be one of 'Q', 'AP'"):
        found.plot("RR")


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "options"), [(1, {}), (20, {}), (126, {}), (12, {"baseline": None})])
def test_the_largest_differences_are_drawn(runs, options):
    found = differences_of(runs, **options)
    figure = found.plot("AP")
    assert_within(figure)
    (ax,) = figure.axes
    count = len(found.run) // 2
    drawn = [value for line in ax.get_lines()[:-1] for value in line.get_xdata()]
    assert len(drawn) == min(count, 50)
    assert min(map(abs, drawn)) >= sorted(map(abs, found.difference[count:]))[-len(drawn)]
    assert ax.get_ylabel() == (f"the largest 50 of {count} differences" if count > 50 else "")
    assert all(label.get_text().startswith("run \\$") for label in ax.get_yticklabels())


@pytest.mark.slow
@pytest.mark.parametrize("runs", [1, 20, 50, 51, 200])
def test_leaderboard_of_few_and_many_runs_is_drawn(runs):
    figure = plots.leaderboard(intervals(runs))
    assert_within(figure)
    (ax,) = figure.axes
    assert len(ax.get_yticks()) == min(runs, 50)
    assert ax.get_ylabel() == (f"the best 50 of {runs} runs" if runs > 50 else "")
    assert figure.get_figwidth() == style.COLUMN_WIDTH


def test_leaderboard_of_another_measure_is_rejected():
    with pytest.raises(InputError, match="measure='AP' must be one of 'Q'"):
        plots.leaderboard(intervals(), "AP")


@pytest.mark.slow
@pytest.mark.parametrize("runs", [2, 5, 6])
def test_unjudged_of_few_runs_has_a_panel_for_each(runs):
    found = shares(runs, depths=(100, 5, 10))
    figure = plots.unjudged(found)
    assert_within(figure)
    panels = figure.axes
    assert [ax.get_title() for ax in panels] == list(found.runs)
    for ax, of_run in zip(panels, found.share, strict=True):
        (line,) = ax.get_lines()
        assert line.get_xdata().tolist() == [5, 10, 100]
        assert line.get_ydata().tolist() == of_run[[1, 2, 0]].tolist()
        assert len(ax.collections) == 1, "the area of the shares at each rank"
        assert ax.get_xscale() == "log"
    labelled = [any(tick.label1.get_visible() for tick in ax.xaxis.get_major_ticks()) for ax in panels]
    assert labelled[-2:] == [True, True]


def test_unjudged_of_one_run_is_a_line_above_an_area():
    found = shares(1)
    figure = plots.unjudged(found)
    assert_within(figure)
    (ax,) = figure.axes
    assert [line.get_label() for line in ax.get_lines()] == ["run 0"]
    assert len(ax.collections) == 1


def test_unjudged_in_the_callers_axes_is_a_line_for_each_run():
    ax = Figure().subplots()
    plots.unjudged(shares(3), ax=ax)
    assert [line.get_label() for line in ax.get_lines()] == ["run 0", "run 1", "run 2"]
    assert not ax.collections


@pytest.mark.slow
@pytest.mark.parametrize("runs", [7, 60])
def test_unjudged_of_many_runs_is_drawn_as_a_table(runs):
    found = shares(runs)
    figure = plots.unjudged(found)
    assert_within(figure)
    (ax,) = figure.axes
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert names[0] == f"run {runs - 1}", "fewest unjudged first"
    assert len(names) == min(runs, 50)
    assert ax.texts[0].get_text() == "5"


@pytest.mark.slow
def test_unjudged_of_a_run_without_documents_is_drawn():
    found = shares(7)
    found.share[3] = np.nan
    assert_within(plots.unjudged(found))


@pytest.mark.slow
def test_svg_is_reproducible_and_needs_no_network():
    first, second = (svg(plots.leaderboard(intervals())) for _ in range(2))
    assert first == second
    assert "<text" not in first
    assert "<image" not in first
    assert "date" not in first
