"""The stop distributions of measures, as in the first figure of Sakai and Robertson (2008)."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from ir_graded import NCU, Q
from ir_graded.errors import ParameterError
from ir_graded.plots import stop_curve


def lines(figure):
    return {line.get_label(): line.get_ydata().tolist() for line in figure.axes[0].get_lines()}


def test_rank_biased_distributions_have_the_printed_values():
    found = [*lines(stop_curve([NCU(stop="rb", gamma=gamma) for gamma in (0.7, 0.5, 0.9)])).values()]
    assert found[0][:3] == pytest.approx([0.308721, 0.216104, 0.151273], abs=6e-7)
    assert found[0][-1] == pytest.approx(0.012458, abs=6e-7)
    assert 1 / found[0][0] == pytest.approx(3.239175, abs=6e-7)
    assert [found[1][0], found[2][0]] == pytest.approx([0.500489, 0.153534], abs=6e-7)
    [uniform] = lines(stop_curve(NCU(stop="u"))).values()
    assert uniform == pytest.approx([0.1] * 10)


def test_the_number_of_relevant_documents_can_be_chosen():
    for number in (4, np.int64(4)):
        [curve] = lines(stop_curve([NCU(stop="u")], n_relevant=number)).values()
        assert curve == [0.25] * 4


@pytest.mark.parametrize(
    ("measures", "n_relevant", "words"),
    [
        (["NCU"], 10, "'NCU' has no stop distribution"),
        ([NCU(stop="u") @ 5], 10, "has no stop distribution over the list"),
        ([Q], True, "n_relevant=True must be a whole number >= 1"),
        ([Q], 0, "n_relevant=0 must be a whole number >= 1"),
    ],
)
def test_errors_say_what_is_wrong(measures, n_relevant, words):
    with pytest.raises(ParameterError, match=words):
        stop_curve(measures, n_relevant)
