"""``plot`` of confidence intervals: the leaderboard by the requested measure, in the given axes."""

import numpy as np
import pandas as pd
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402

from ir_graded import meta  # noqa: E402

SCORES = {
    name: pd.DataFrame(np.random.default_rng(seed).random((5, 3)), columns=["a", "b", "c"])
    for seed, name in enumerate(["Q", "AP"])
}


@pytest.mark.parametrize(("asked", "drawn"), [((), "Q"), (("Q",), "Q"), (("AP",), "AP")])
def test_the_requested_measure_is_drawn_in_the_given_axes(asked, drawn):
    intervals = meta.confidence_intervals(SCORES, n_resamples=20)
    figure, axes = plt.subplots(1, 2)
    try:
        assert intervals.plot(*asked, ax=axes[1]) is figure
        assert not axes[0].has_data()
        assert axes[1].has_data()
        means = SCORES[drawn].mean().sort_values(ascending=False)
        labels = [text.get_text() for text in axes[1].get_yticklabels()]
        assert sorted(labels) == sorted(means.index)
        assert drawn in axes[1].get_xlabel() + axes[1].get_title()
    finally:
        plt.close(figure)
