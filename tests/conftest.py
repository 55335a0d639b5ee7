"""Settings of all tests: no time limit for examples, markers by folder, and the tests that may be skipped.

With ``IR_GRADED_NO_SKIPS`` set, as in CI, a skipped test fails unless its reason is in ``MAY_BE_SKIPPED``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

#: Patterns of skip reasons, and why each is accepted.
MAY_BE_SKIPPED = {
    r"PySpark is not installed": "CI runs these tests again once it is installed",
    r"Spark Connect needs more": "CI runs these tests again once PySpark is installed",
    r"(cwl-eval|krippendorff|pyndeval|ranx|scikit-learn|trectools) is not installed": (
        "CI runs these tests again once it is installed"
    ),
    r"(haystack|jax|llama-index|mteb|sentence-transformers|torch) is not installed": "`nox -s adapters`",
    r"(irrCAC|ppi-python) is not installed": "they need older versions of NumPy or much else",
    r"pdflatex is not installed": "LaTeX is not in any package index",
    r"the variable TREC_EVAL names no program": "trec_eval is not in any package index",
    r"the variable NTCIR_EVAL names no program": "NTCIREVAL is not in any package index",
    r"nothing is forbidden to this user": "CI runs as root; tests/faults reads such a file as another user",
}

#: Every test of these folders gets the marker. Modules and tests elsewhere set it themselves.
MARKERS = {"docs": "project", "fuzz": "fuzz", "notebooks": "project", "project": "project"}

# A busy machine may be slow to run or to draw an example.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by markers
def pytest_collection_modifyitems(items):
    tests = Path(__file__).parent
    for item in items:
        if item.path.parent.parent == tests and (marker := MARKERS.get(item.path.parent.name)):
            item.add_marker(marker)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return _checked((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return _checked((yield))


def _checked(report):
    """Return the report of a test or a file, changed to failed if its skip is not allowed."""
    if "IR_GRADED_NO_SKIPS" in os.environ and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[-1].removeprefix("Skipped: ")
        if not any(re.match(begin, reason) for begin in MAY_BE_SKIPPED):
            report.outcome = "failed"
            report.longrepr = f"Skipped, and tests/conftest.py does not list the reason: {reason}"
    return report
