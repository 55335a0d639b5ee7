"""Libraries that only some parts need."""

import sys

import pytest

from ir_graded._utils.extras import extra
from ir_graded.errors import GradedError


def test_a_library_that_is_there():
    assert extra("os.path", "any") is sys.modules["os.path"]


def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(
        GradedError, match=r"this feature requires scipy: install it with pip install 'ir-graded\[meta\]'"
    ):
        extra("scipy.stats", "meta")
