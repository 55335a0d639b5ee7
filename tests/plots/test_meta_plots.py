"""Plots of the meta-evaluation: drawn from given numbers alone, labelled, with legends outside the axes."""

import io
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from ir_graded.analyses.overlap import rbo_matrix  # noqa: E402
from ir_graded.errors import GradedError, InputError  # noqa: E402
from ir_graded.meta.correlation import rank_correlations  # noqa: E402
from ir_graded.plots import meta as plots, style  # noqa: E402

NAMES = ("Q", "AP", "nDCG@20", "ERR@20", "RR", "P-measure", "O-measure", "NCU(gu,p)", "iRBU(p=0.99)")
RATES = np.linspace(0.4, 0.0, 21)


def curves(at):
    return SimpleNamespace(curve=np.linspace(1, 0, 50) ** (1 + at), alpha=0.05)


def stabilities(at):
    return SimpleNamespace(
        minority_rate=np.linspace(0.1, 0.05, 10) + at / 100, proportion_of_ties=np.linspace(0, 0.2, 10)
    )


def swaps(at):
    observations = np.full(21, 10)
    observations[3] = 0
    return SimpleNamespace(
        lower=np.arange(21) / 100, observations=observations, rate=RATES, max_rate=0.05 + at / 99
    )


def results(make, count):
    return {name: make(at) for at, name in enumerate(NAMES[:count])}


LINES = {plots.asl_curve: curves, plots.stability_curves: stabilities, plots.swap_curves: swaps}
EACH = pytest.mark.parametrize(("draw", "make"), LINES.items(), ids=lambda one: one.__name__)


def lines_of(ax):
    return [line for line in ax.get_lines() if not line.get_label().startswith("_")]


def correlations(count, tied=False):
    names = NAMES[:count]
    taus = np.full((count, count), 0.5) + np.eye(count) / 2
    return {"taus": pd.DataFrame(taus, index=names, columns=names), "tied": tied}


def significance(count):
    names = [f"s{at}" for at in range(count)]
    asl = np.where(np.triu(np.ones((count, count)), 1) > 0, 0.01, 0.99)
    frame = pd.DataFrame(asl, index=names, columns=names)
    return frame < 0.05, frame


def assert_legend_outside(figure, legends):
    figure.draw_without_rendering()
    (legend,) = legends
    box = legend.get_window_extent()
    for ax in figure.axes:
        within = legend in ax.get_children()
        assert not box.overlaps(ax.get_window_extent() if within else ax.get_tightbbox())
    assert figure.bbox.x0 - 1 <= box.x0
    assert box.x1 <= figure.bbox.x1 + 1
    assert figure.bbox.y0 - 1 <= box.y0


@pytest.mark.slow
@EACH
@pytest.mark.parametrize("count", [1, 3, 9])
@pytest.mark.parametrize("width", [3.3, 7.0])
def test_each_measure_has_a_labelled_line_and_the_legend_is_outside(draw, make, count, width):
    figure = draw(results(make, count))
    assert isinstance(figure, Figure)
    assert figure.get_figwidth() == style.COLUMN_WIDTH
    figure.set_size_inches(width, figure.get_figheight())
    (ax,) = figure.axes
    assert [line.get_label() for line in lines_of(ax)] == list(NAMES[:count])
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    assert_legend_outside(figure, figure.legends)
    assert ax.get_window_extent().height > 1.2 * figure.dpi, "room for the picture itself"


@EACH
def test_lines_differ_with_and_without_colour(draw, make):
    lines = lines_of(draw(results(make, 9)).axes[0])
    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) > 1
    assert len({(line._unscaled_dash_pattern, line.get_marker()) for line in lines}) == 9
    assert len({line.get_marker() for line in lines}) == 9
    assert {to_hex(line.get_color()).upper() for line in lines} <= set(style.COLOURS)


@pytest.mark.slow
@EACH
def test_plots_use_the_given_axes(draw, make):
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
    try:
        assert draw(results(make, 3), ax=left) is figure
        assert len(lines_of(left)) == 3
        assert not right.get_lines()
        assert_legend_outside(figure, [left.get_legend()])
    finally:
        plt.close(figure)


@EACH
def test_empty_results_are_rejected(draw, make):
    assert make
    with pytest.raises(InputError, match="no result"):
        draw({})


def test_the_drawn_numbers_equal_the_results():
    (line,) = lines_of(plots.asl_curve({"Q": curves(0)}).axes[0])
    np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 51))
    np.testing.assert_array_equal(line.get_ydata(), curves(0).curve)
    (line,) = lines_of(plots.stability_curves({"Q": stabilities(0)}).axes[0])
    np.testing.assert_array_equal(line.get_xdata(), stabilities(0).proportion_of_ties)
    np.testing.assert_array_equal(line.get_ydata(), stabilities(0).minority_rate)
    (line,) = lines_of(plots.swap_curves({"Q": swaps(0)}).axes[0])
    np.testing.assert_array_equal(line.get_xdata(), np.delete(np.arange(21) / 100, 3))
    np.testing.assert_array_equal(line.get_ydata(), np.delete(RATES, 3))


@pytest.mark.parametrize(("draw", "make"), [(plots.asl_curve, curves), (plots.swap_curves, swaps)])
def test_the_threshold_is_drawn_once(draw, make):
    ax = draw({"Q": make(0), "AP": make(0)}).axes[0]
    heights = [line.get_ydata()[0] for line in ax.get_lines() if line.get_label().startswith("_")]
    assert heights == [0.05]


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 9, 60])
def test_significance_matrix_draws_one_cell_per_pair(count):
    figure = plots.significance_matrix(*significance(count))
    (ax,) = figure.axes
    (image,) = ax.get_images()
    np.testing.assert_array_equal(image.get_array(), significance(count)[0])
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    assert_legend_outside(figure, figure.legends)
    assert len(ax.texts) == (count * (count - 1) if count <= 10 else 0)
    assert len(ax.get_xticks()) <= 24
    assert ax.get_yticklabels()[0].get_text() == "s0"


def test_significance_matrix_does_not_change_the_levels():
    significant, asl = significance(4)
    plots.significance_matrix(significant, asl)
    pd.testing.assert_frame_equal(asl, significance(4)[1])


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3, 9, 30])
def test_tau_heat_map_draws_the_correlations(count):
    figure = plots.tau_heat_map(**correlations(min(count, 9)))
    figure.savefig(io.BytesIO())
    ax, bar = figure.axes
    np.testing.assert_array_equal(ax.get_images()[0].get_array(), correlations(min(count, 9))["taus"])
    assert [label.get_text() for label in ax.get_xticklabels()] == list(NAMES[:count])
    assert bar.get_ylabel() == "Kendall's tau"
    assert {text.get_text() for text in ax.texts} <= {"1", ".50"}
    assert not bar.get_window_extent().overlaps(ax.get_window_extent())


def test_tau_heat_map_names_the_variant_of_tau():
    assert plots.tau_heat_map(**correlations(3, tied=True)).axes[1].get_ylabel() == "Kendall's tau-b"


def test_overlap_heat_map_draws_the_means():
    runs = {name: {"1": dict(zip("abcd", scores, strict=True))} for name, scores in RUNS.items()}
    found = rbo_matrix(runs, p=0.8, score="min")
    figure = found.plot()
    ax, bar = figure.axes
    np.testing.assert_array_equal(ax.get_images()[0].get_array(), found.overlap)
    assert [label.get_text() for label in ax.get_yticklabels()] == [*RUNS]
    assert bar.get_ylabel() == "mean RBO (min, p=0.8)"
    assert len(ax.texts) == 9


RUNS = {"bm25": (4.0, 3.0, 2.0, 1.0), "dense": (3.0, 3.0, 2.0, 1.0), "random": (1.0, 2.0, 3.0, 4.0)}


@pytest.mark.slow
def test_comparison_has_four_panels_and_one_legend():
    figure = plots.comparison(
        results(curves, 9), results(stabilities, 9), results(swaps, 9), **correlations(9)
    )
    assert len(figure.axes) == 5  # and the colour bar
    assert all(ax.get_legend() is None for ax in figure.axes)
    assert_legend_outside(figure, figure.legends)


AWKWARD = ("x" * 60, "Ω" * 60, r"$\foo$", "on two\nlines", "NCU(stop='gu',beta=0)@1000", r"a\$b$c$")


def awkward(make):
    return {name: make(at) for at, name in enumerate(AWKWARD)}


@pytest.mark.slow
@EACH
def test_long_names_and_names_with_dollars_fit_into_a_legend(draw, make):
    figure = draw(awkward(make))
    figure.savefig(io.BytesIO())
    assert_legend_outside(figure, figure.legends)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(set(names)) == len(AWKWARD)
    assert max(map(len, names)) <= 36
    assert names[2:5] == [r"\$\foo\$", "on two lines", AWKWARD[4]]


@pytest.mark.slow
def test_long_names_and_names_with_dollars_fit_beside_cells():
    taus = np.full((6, 6), 0.5) + np.eye(6) / 2
    frame = pd.DataFrame(taus, index=AWKWARD, columns=AWKWARD)
    for figure in (plots.significance_matrix(frame > 0.9, frame), plots.tau_heat_map(frame, tied=False)):
        figure.savefig(io.BytesIO())
        ax = figure.axes[0]
        assert ax.get_window_extent().width > 1.2 * figure.dpi, "room for the picture itself"
        for text in (*ax.get_xticklabels(), *ax.get_yticklabels(), ax.xaxis.label, ax.yaxis.label):
            if not text.get_text():
                continue
            box = text.get_window_extent()
            assert box.x0 >= -1
            assert box.y0 >= -1
            assert box.x1 <= figure.bbox.x1 + 1
            assert box.y1 <= figure.bbox.y1 + 1


@pytest.mark.parametrize("shown", [r"$\foo$", "a$b", r"a\$b$c$", "$x$ and $y$", "plain"])
def test_dollars_are_drawn_literally(shown):
    text = matplotlib.text.Text(text=style.label(shown))
    assert text._preprocess_math(text.get_text()) == (shown, False)


@pytest.mark.slow
def test_many_long_names_leave_room_in_a_comparison():
    names = [f"measure number {at} (beta=1,gains={{1:2}})" for at in range(25)]
    frame = pd.DataFrame(np.eye(25), index=names, columns=names)
    figure = plots.comparison(
        *({name: make(at) for at, name in enumerate(names)} for make in (curves, stabilities, swaps)),
        taus=frame,
        tied=False,
    )
    figure.savefig(io.BytesIO())
    assert_legend_outside(figure, figure.legends)
    for ax in figure.axes[:4]:
        assert ax.get_window_extent().height > 1.3 * figure.dpi
        assert ax.get_window_extent().width > 1.3 * figure.dpi


@pytest.mark.parametrize(("last", "label"), [(0.1, "Kendall's tau"), (0.2, "Kendall's tau-b")])
def test_the_colour_bar_names_tau_b_where_systems_tie(last, label):
    found = rank_correlations({"Q": [[0.3, 0.2, 0.1]] * 2, "AP": [[0.3, 0.2, last]] * 2}, reference="Q")
    assert found.plot().axes[1].get_ylabel() == label


@pytest.mark.slow
def test_no_figure_stays_open_and_no_setting_changes():
    before = dict(matplotlib.rcParams)
    for _ in range(25):
        plots.stability_curves(results(stabilities, 2))
    assert plt.get_fignums() == []
    assert dict(matplotlib.rcParams) == before


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(GradedError, match=r"requires matplotlib: pip install .*\[plot\]"):
        plots.stability_curves(results(stabilities, 2))


@pytest.mark.slow
def test_importing_does_not_import_matplotlib():
    code = (
        "import sys, ir_graded.plots.meta, ir_graded.plots.style, ir_graded.meta.stability, "
        "ir_graded.meta.stability, ir_graded.meta.correlation; "
        "print([m for m in ('matplotlib', 'scipy.stats') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[]"
