"""CONTRIBUTING.md lists the rooms of the import contracts, and names files that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = sorted(set(re.findall(r"`([\w./]+\.(?:py|rst))`", TEXT)))


def test_the_map_has_the_floors_of_the_contract():
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = re.findall(r'"(.+)"', re.search(r"^layers = \[(.*?)^\]", settings, re.DOTALL | re.MULTILINE)[1])
    floors = re.findall(r"^\| \d+ \| ([^|]+) \|", TEXT, re.MULTILINE)
    shown = [set(re.findall(r"`(\w+)`", floor)) for floor in floors]
    assert shown == [set(layer.split(" | ")) for layer in layers]


@pytest.mark.parametrize("name", FILES)
def test_named_files_exist(name):
    found = [
        path
        for room in ("benchmarks", "docs", "ir_graded", "notebooks", "tests")
        for path in (ROOT / room).rglob(Path(name).name)
    ]
    assert any(path.as_posix().endswith(f"/{name}") for path in found)
