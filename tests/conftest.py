"""Settings of all tests: numbers of cases and examples, markers by folder, and the tests that may be skipped.

With ``IR_GRADED_NO_SKIPS`` set, as in CI, a skipped test fails unless its reason is in ``MAY_BE_SKIPPED``.
"""

import gc
import os
import random
import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

#: Patterns of skip reasons, and why each is accepted.
MAY_BE_SKIPPED = {
    r"PySpark is not installed": "CI runs these tests again once it is installed",
    r"Spark Connect needs more": "`nox -s nightly`",
    r"import-linter is not installed": "CI runs these tests again with the tools for developers",
    r"(cwl-eval|pyndeval|ranx) is not installed": "`nox -s nightly`",
    r"(haystack|jax|lightning|llama-index|mteb|sentence-transformers|torch|torchmetrics) is not installed": (
        "`nox -s adapters`"
    ),
    r"torch has no CUDA device": "machines for CI have none",
    r"pdflatex is not installed": "LaTeX is not in any package index",
}

#: Every test of these folders gets the marker. Modules and tests elsewhere set it themselves.
MARKERS = {"docs": "project", "fuzz": "fuzz", "notebooks": "project", "project": "project"}
#: Slow tests of these folders and files are nightly. A few of them, marked `smoke`, run before each merge.
AT_NIGHT = ("faults", "numbers", "report/test_browser.py", "spark")

#: Folders with random levels, which go beyond the scales of measures; tests of the warning are elsewhere.
RANDOM_LEVELS = {"classics", "contracts", "differential", "fuzz", "numbers", "spark"}
ABOVE_THE_SCALE = "ignore:.* the qrels have level .*, above max_rel=:ir_graded.CoverageWarning"
#: Random scores may be equal as float32 only.
CLOSE_SCORES = "ignore:The run has scores that are equal as float32:ir_graded.CoverageWarning"
#: Random topics may have no level >= 0.
NOTHING_JUDGED = "ignore:No document was judged in:ir_graded.CoverageWarning"

#: Cases that are kept of a long table, and the longest table or parameter of which each value is kept.
FEW, TABLE = 4, 16
#: Examples that Hypothesis draws, at most: in a run that leaves out some tests by marker, and in any other.
EXAMPLES = {True: 8, False: 40}


def pytest_addoption(parser):
    parser.addoption("--examples", type=int, help="number of examples that Hypothesis draws, at most")


# Otherwise each process of a test would compile the package again, and each worker would rewrite the tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_configure(config):
    # A busy machine may be slow to run or to draw an example.
    examples = config.option.examples or EXAMPLES["not" in config.option.markexpr.split()]
    checks = [HealthCheck.too_slow]
    settings.register_profile("tests", max_examples=examples, deadline=None, suppress_health_check=checks)
    settings.load_profile("tests")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    # Modules and thousands of tests stay until the end: the garbage collector need not look at them again.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by markers
def pytest_collection_modifyitems(items):
    tests = Path(__file__).parent
    cases = defaultdict(list)
    for item in items:
        if item.path.parent.parent == tests and (marker := MARKERS.get(item.path.parent.name)):
            item.add_marker(marker)
        if item.get_closest_marker("release"):
            item.add_marker("slow")
        if item.path.parent.parent == tests and item.path.parent.name in RANDOM_LEVELS:
            item.add_marker(pytest.mark.filterwarnings(ABOVE_THE_SCALE, CLOSE_SCORES, NOTHING_JUDGED))
        whole = any(map(item.get_closest_marker, ("every", "slow", "fuzz", "project")))
        if hasattr(item, "callspec") and not whole:
            cases[item.path, item.originalname].append(item)
    for several in cases.values():
        for item in _further_cases(several):
            item.add_marker("slow")
            item.add_marker("further")
    for item in items:
        place = item.path.relative_to(tests).as_posix() if item.path.is_relative_to(tests) else ""
        at_night = item.get_closest_marker("slow") and place.startswith(AT_NIGHT)
        if at_night or any(map(item.get_closest_marker, ("fuzz", "further"))):
            item.add_marker("nightly")


def _further_cases(items):
    """Return all but a few cases of a test; the few have as many values of each parameter as possible.

    All cases of a table are kept, unless it is long: they are written by hand, and each tests something else.
    Of several parameters, as many cases are kept as one of them has values.
    """
    columns = defaultdict(set)
    for name, value in set().union(*map(_values, items)):
        columns[name].add(value)
    kept = len(items) if all(map(_is_of_table, items)) else max(map(len, columns.values()))
    kept = kept if kept <= TABLE else FEW
    left = random.Random(0).sample(items, len(items))  # noqa: S311
    seen = set()
    while kept and left:
        best = max(left, key=lambda item: len(_values(item) - seen))
        seen |= _values(best)
        left.remove(best)
        kept -= 1
    return left


def _values(item):
    """Return the parameters of a case with their values; pytest numbers the cases, not the values."""
    return {(name, id(value)) for name, value in item.callspec.params.items()}


def _is_of_table(item):
    """Return whether all parameters of a case are from one table."""
    tables = [*item.iter_markers("parametrize")]
    names = tables[0].args[0] if len(tables) == 1 else ()
    names = names.split(",") if isinstance(names, str) else names
    return item.callspec.params.keys() <= {name.strip() for name in names}


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
