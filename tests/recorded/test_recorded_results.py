"""The results of the package equal the recorded ones, and the comparison notices changes."""

import numpy as np
import pytest
from recorded import recorded_results as cases

HELP = "If the change is intended, `python tests/recorded/recorded_results.py` stores the new results."
EXPECTED = cases.expected()


@pytest.mark.parametrize(
    "section", [pytest.param(one, marks=[pytest.mark.slow] * (one != "unjudged")) for one in cases.SECTIONS]
)
def test_results_equal_the_recorded_ones(section):
    now = cases.recorded(section)
    before = {key: line for key, line in EXPECTED.items() if key[0] == section}
    changes = [
        f"{key}: {line} -> {now.get(key)}"
        for key, line in before.items()
        if key not in now or not cases.equal(now[key], line)
    ]
    assert before
    assert not changes, "\n".join([f"{len(changes)} results changed", *changes[:20], HELP])


VALUES = np.random.default_rng(0).random(1000)


@pytest.mark.parametrize(
    ("result", "is_equal"),
    [
        (np.nextafter(VALUES, 2), True),
        (VALUES + 1e-9 * (np.arange(1000) == 7), False),
        (VALUES[[1, 0, *range(2, 1000)]], False),
        (np.append(VALUES[1:], np.nan), False),
        ({"a": VALUES}, False),
    ],
)
def test_sums_notice_changes_and_tolerate_rounding(monkeypatch, result, is_equal):
    def recorded(value):
        monkeypatch.setitem(cases.SECTIONS, "one", lambda: [("result", "", value)])
        return cases.recorded("one")

    now, before = recorded(result), recorded(VALUES)
    assert all(key in now and cases.equal(now[key], line) for key, line in before.items()) == is_equal
