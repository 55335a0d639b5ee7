"""Fixtures of all input tests."""

import pytest


@pytest.fixture
def write(tmp_path):
    def written(content, name="run.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written
