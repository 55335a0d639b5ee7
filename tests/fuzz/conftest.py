"""A process of its own for what may hang, end it or take its memory."""

from __future__ import annotations

import pytest

from fuzz.child_process import Child
from fuzz.size_cases import imported


@pytest.fixture(scope="module")
def child():
    one = Child()
    assert one.call(imported)[0] is None
    yield one
    one.close()
