"""Numbers of tests that the pages name are those that there are."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_trust_counts_the_tests_of_faults():
    page = (ROOT / "docs" / "trust" / "index.rst").read_text(encoding="utf-8")
    [(folder, said)] = re.findall(r"``python -m pytest (tests/faults)``: (\d+) tests", page)
    collected = subprocess.run(  # noqa: S603  # the folder is named above
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"\n{said} tests collected" in collected.stdout
