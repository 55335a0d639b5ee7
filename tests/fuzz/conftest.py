"""A separate process for calls that may hang, crash or exhaust memory."""

import os
from pathlib import Path

import pytest

from fuzz.child_process import Child
from fuzz.fuzz_cases import COUNTS, EFFORT
from fuzz.size_cases import imported


@pytest.fixture(scope="module")
def child():
    one = Child()
    assert one.call(imported)[0] is None
    yield one
    one.close()


def pytest_terminal_summary(terminalreporter, exitstatus):
    """Print the number of calls, and write them for the documentation page if all tests passed."""
    if EFFORT > 1 and COUNTS:
        for target, number in [*sorted(COUNTS.items()), ("calls in all", COUNTS.total())]:
            terminalreporter.write_line(f"{number:>10,} {target}")
        if "IR_GRADED_PAGE" in os.environ and exitstatus == pytest.ExitCode.OK:
            text = f".. |fuzz calls| replace:: {COUNTS.total():,}\n"
            Path(os.environ["IR_GRADED_PAGE"], "fuzz.txt").write_text(text, encoding="utf-8")
