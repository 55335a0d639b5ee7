"""The picture of two rankings: squares by level, hatches, lines between equal documents, bars."""

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib.colors import to_hex  # noqa: E402

import ir_graded  # noqa: E402
from ir_graded.plots.topics import level_colours  # noqa: E402

QRELS = {"1": {"s": 2, "a": 1, "n": 0}}
FIRST, SECOND = {"1": {"n": 5.0, "s": 4.0}}, {"1": {"s": 3.0, "x": 2.0, "a": 1.0}}


def compared(depth=20):
    return ir_graded.compare_rankings(["Q", "AP"], QRELS, {"$one": FIRST}, SECOND, "1", depth)


def boxes(axes):
    return [
        (box.get_x() + box.get_width() / 2, round(box.get_y() + box.get_height() / 2), box)
        for box in axes.patches
    ]


def test_squares_show_levels_and_bars_contributions():
    figure = compared().plot()
    (axes,) = figure.axes
    squares = {
        (x > 0, rank): (to_hex(box.get_facecolor()), bool(box.get_hatch()))
        for x, rank, box in boxes(axes)
        if 0.7 < abs(x) < 1
    }
    colours = level_colours([0.0, 1.0, 2.0])
    assert squares == {
        (False, 1): (colours[0.0], False),
        (False, 2): (colours[2.0], False),
        (True, 1): (colours[2.0], False),
        (True, 2): ("#ffffff", True),
        (True, 3): (colours[1.0], False),
    }
    bars = sorted(box.get_width() for x, _, box in boxes(axes) if abs(x) > 1 and box.get_width())
    assert bars == pytest.approx([-0.6, 5 / 6, 1.0])
    (line,) = axes.get_lines()
    assert line.get_ydata().tolist() == [2, 1]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "level 0",
        "level 1",
        "level 2",
        "unjudged",
    ]
    assert axes.get_xlabel() == "contribution to Q"
    figure.draw_without_rendering()  # a dollar sign is not read as a formula


def test_another_measure_can_be_chosen():
    assert compared().plot(measure=1).axes[0].get_xlabel() == "contribution to AP"


def test_a_rank_below_the_depth_is_a_number():
    (axes,) = compared(depth=1).plot().axes
    assert not axes.get_lines()
    assert "2" in [text.get_text() for text in axes.texts]


@pytest.mark.slow
def test_empty_lists_and_unjudged_documents_are_drawn():
    for first, second in (({"2": {"x": 1.0}}, {"2": {"x": 1.0}}), ({"1": {"x": 1.0}}, {"1": {"y": 1.0}})):
        qrels = QRELS | {"2": {"z": 1}}
        ir_graded.compare_rankings("NumQ", qrels, first, second, "1").plot().draw_without_rendering()


def test_colours_get_darker_with_the_level():
    for count in (1, 2, 3, 5):
        shades = [sum(bytes.fromhex(one[1:])) for one in level_colours([*range(count)]).values()]
        assert shades == sorted(shades, reverse=True)
        assert len(set(shades)) == count
