"""The public API equals the stored list, and all names in the documentation are public."""

import difflib
import json
import re
import subprocess
import sys
from pathlib import Path

import public_api
import pytest

import ir_graded

ROOT = Path(__file__).parents[2]
TAUGHT = [ROOT / "README.md", *(ROOT / "docs").glob("*.rst"), *(ROOT / "docs" / "guide").glob("*.rst")]
TAUGHT += (ROOT / "notebooks").glob("*.ipynb")
IMPORT = re.compile(r"^\s*from (ir_graded[.\w]*) import (\([^)]*\)|[^\n#]*)", re.MULTILINE)


@pytest.fixture(scope="module")
def found():
    # A separate process is needed because other tests register measures.
    command = [sys.executable, public_api.__file__, "--print"]
    return subprocess.run(  # noqa: S603  # the project's own program
        command, capture_output=True, text=True, check=True
    ).stdout


def test_the_public_api_equals_the_stored_list(found):
    stored = public_api.STORED.read_text(encoding="utf-8")
    lines = difflib.unified_diff(stored.splitlines(), found.splitlines(), "stored", "found", lineterm="", n=0)
    changes = "\n".join(lines)
    assert not changes, f"if this is meant, {public_api.COMMAND}, and an entry in CHANGELOG.md:\n{changes}"


def test_the_list_contains_every_public_name(found):
    for module in public_api.MODULES:
        section = found.partition(f"[{module}]\n")[2].partition("\n\n")[0]
        listed = re.findall(r"^(?:class|def|exception|measure|module) (\w+)", section, re.MULTILINE)
        assert sorted(listed) == sorted(public_api.names_of(module))


def test_all_names_are_importable_and_listed_by_dir():
    for module in public_api.MODULES:
        names = public_api.names_of(module)
        loaded = sys.modules[module]
        assert len(set(names)) == len(names)
        assert set(names) <= set(dir(loaded))
    assert all(getattr(ir_graded, name) is not None for name in ir_graded.__all__)


def code(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])


@pytest.mark.parametrize("path", sorted(TAUGHT), ids=lambda path: path.name)
def test_documented_names_are_public(path):
    for module, imported in IMPORT.findall(code(path)):
        assert module in {*public_api.MODULES, *public_api.NAMES}, f"{path.name} imports from {module}"
        names = {name.split(" as ")[0].strip() for name in imported.strip("()").split(",")} - {""}
        modules = {name for name in names if f"{module}.{name}" in public_api.MODULES}
        assert names - modules <= set(public_api.names_of(module)), f"{path.name} imports from {module}"
