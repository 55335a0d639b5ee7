"""Where skips are forbidden, a skipped test fails unless its reason is listed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
TESTS = """
import pytest

@pytest.fixture
def java():
    pytest.skip({reason!r})

def test_passes():
    pass

def test_skips_in_a_fixture(java):
    pass

@pytest.mark.skipif(True, reason={reason!r})
def test_skips_by_a_mark():
    pass

def test_skips_itself():
    pytest.skip({reason!r})

@pytest.mark.xfail(reason="another matter", strict=True)
def test_fails_as_expected():
    assert False
"""
MODULE = """
import pytest
pytest.importorskip("no_such_module", reason={reason!r})
"""


def outcomes(folder, reason, **variables):
    """Run skipping tests and return the last line that pytest prints, and its exit code."""
    shutil.copy(CONFTEST, folder)
    (folder / "test_some.py").write_text(TESTS.format(reason=reason))
    (folder / "test_module.py").write_text(MODULE.format(reason=reason))
    env = {name: value for name, value in os.environ.items() if name != "IR_GRADED_NO_SKIPS"} | variables
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", folder]
    command += ["--continue-on-collection-errors", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)  # noqa: S603
    return done.stdout.splitlines()[-1].rpartition(" in ")[0], done.returncode


@pytest.mark.parametrize("reason", ["Spark needs Java", "not listed: PySpark is not installed"])
def test_an_unlisted_skip_fails_if_skips_are_forbidden(tmp_path, reason):
    found = outcomes(tmp_path, reason, IR_GRADED_NO_SKIPS="1")
    assert found == ("1 failed, 1 passed, 1 xfailed, 3 errors", 1)


def test_a_listed_skip_is_accepted(tmp_path):
    found = outcomes(tmp_path, "PySpark is not installed: pip", IR_GRADED_NO_SKIPS="1")
    assert found == ("1 passed, 4 skipped, 1 xfailed", 0)


def test_without_the_setting_every_test_may_be_skipped(tmp_path):
    assert outcomes(tmp_path, "Spark needs Java") == ("1 passed, 4 skipped, 1 xfailed", 0)
