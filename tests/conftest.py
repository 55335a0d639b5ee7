"""How all tests run: examples without limits of time, markers of folders, and which tests may be skipped.

Where ``IR_GRADED_NO_SKIPS`` is set, as in CI, a skipped test fails unless ``MAY_BE_SKIPPED`` has the reason.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

#: How reasons begin, and why they are accepted all the same.
MAY_BE_SKIPPED = {
    r"PySpark is not installed": "CI runs these tests again once it is",
    r"Spark Connect needs more": "likewise",
    r"(cwl-eval|krippendorff|pyndeval|ranx|scikit-learn|trectools) is not installed": "likewise",
    r"(haystack|jax|llama-index|mteb|sentence-transformers|torch) is not installed": "`nox -s adapters`",
    r"(irrCAC|ppi-python) is not installed": "they need older versions of NumPy or much else",
    r"pdflatex is not installed": "LaTeX is not in any package index",
    r"the variable TREC_EVAL names no program": "trec_eval is not in any package index",
    r"the variable NTCIR_EVAL names no program": "nor is NTCIREVAL",
    r"nothing is forbidden to this user": "CI runs as root; tests/faults reads such a file as another user",
}

#: Every test of these folders has the marker. Modules and tests elsewhere say so themselves.
MARKERS = {"docs": "project", "fuzz": "fuzz", "notebooks": "project", "project": "project"}

# A loaded machine takes its time for an example, or to draw one.
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
    """The report of a test or a file; failed where it was skipped and must not be."""
    if "IR_GRADED_NO_SKIPS" in os.environ and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[-1].removeprefix("Skipped: ")
        if not any(re.match(begin, reason) for begin in MAY_BE_SKIPPED):
            report.outcome = "failed"
            report.longrepr = f"Skipped, and tests/conftest.py does not list the reason: {reason}"
    return report
