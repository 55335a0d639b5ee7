"""Shared by the tests of plots."""


def assert_within(figure):
    """Check that nothing is drawn outside the figure, where saving would cut it off."""
    figure.draw_without_rendering()
    for ax in figure.axes:
        box = ax.get_tightbbox()
        assert box.x0 >= figure.bbox.x0 - 1
        assert box.x1 <= figure.bbox.x1 + 1
        assert box.y0 >= figure.bbox.y0 - 1
        assert box.y1 <= figure.bbox.y1 + 1
