"""The stored notebooks. `python notebooks/execute.py --check` executes them."""

import argparse
import json
import re
import runpy
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest

PROJECT = Path(__file__).parents[2]
FOLDER = PROJECT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
# Paths of a machine, in any output; web addresses do not match.
PLACES = re.compile(
    r"(?<![\w./:])/(?:home|root|tmp|usr|var|work|opt|Users|private|content)/|[A-Z]:\\\\|file://"
)
LARGEST = 1_000_000  # bytes
MOST_CELLS = 15

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells(path, kind):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def source(cell):
    return "".join(cell["source"])


def outputs(path):
    return [output for cell in cells(path, "code") for output in cell["outputs"]]


@every_notebook
def test_the_first_cell_has_a_title_and_the_learning_goals(path):
    first = source(cells(path, "markdown")[0])
    assert first.startswith("# ")
    assert re.search(r"You will learn\n\n- ", first)


@every_notebook
def test_the_last_heading_introduces_the_findings(path):
    headings = re.findall(r"^#+ .*", "\n".join(map(source, cells(path, "markdown"))), flags=re.MULTILINE)
    assert headings[-1] == "## Findings"


@every_notebook
def test_the_last_cell_links_the_next_pages_of_the_guide(path):
    *others, last = cells(path, "markdown")
    assert re.search(r"^\*\*Next step:\*\* .*\(\.\./docs/guide/\w+\.rst\)", source(last), flags=re.MULTILINE)
    for cell in (*others, last):
        for target in re.findall(r"\]\((?!https?://)([^)#]*)\)", source(cell)):
            assert (FOLDER / target).is_file(), target


@every_notebook
def test_a_notebook_is_short(path):
    assert len(cells(path, "markdown")) + len(cells(path, "code")) <= MOST_CELLS


@every_notebook
def test_imports_are_in_the_first_code_cell_only(path):
    imports, *others = map(source, cells(path, "code"))
    assert re.search(r"^import ir_graded$", imports, flags=re.MULTILINE)
    for cell in others:
        assert not re.search(r"^\s*(import|from \S+ import) ", cell, flags=re.MULTILINE), cell


@every_notebook
def test_cells_are_executed_once_from_top_to_bottom(path):
    counts = [cell["execution_count"] for cell in cells(path, "code")]
    assert counts == list(range(1, len(counts) + 1))
    for cell in cells(path, "code"):
        for output in cell["outputs"]:
            assert output.get("execution_count", cell["execution_count"]) == cell["execution_count"]


@every_notebook
def test_outputs_contain_no_errors_and_no_warnings(path):
    kinds = {output["output_type"] for output in outputs(path)}
    assert kinds <= {"stream", "execute_result", "display_data"}
    assert not [output for output in outputs(path) if output.get("name") == "stderr"]
    assert sum("image/png" in output.get("data", {}) for output in outputs(path)) >= 2
    assert path.stat().st_size < LARGEST


@every_notebook
def test_outputs_contain_no_path_and_no_memory_address(path):
    for output in outputs(path):
        texts = [output.get("text", []), *output.get("data", {}).values()]
        for lines in texts:
            text = "".join(lines)
            if not text.startswith("iVBOR"):  # an image
                assert not PLACES.search(text), text
                assert not re.search(r" at 0x[0-9a-f]+", text), text


@every_notebook
def test_metadata_contains_nothing_of_the_machine(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert all(cell["metadata"] == {} for cell in notebook["cells"])
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])


def test_shipped_data_comes_with_its_licence():
    for folder in (FOLDER / "data").iterdir():
        assert {"SOURCE.txt", "LICENSE-DATA", "CITE.bib"} <= {file.name for file in folder.iterdir()}


def test_the_readme_links_every_notebook():
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in NOTEBOOKS] == re.findall(r"\(notebooks/([\w.]+\.ipynb)\)", readme)


def test_a_notebook_is_found_by_path_number_or_part_of_its_name(monkeypatch):
    for module in ("nbformat", "nbclient", "nbclient.exceptions"):
        monkeypatch.setitem(sys.modules, module, MagicMock())
    find = runpy.run_path(str(FOLDER / "execute.py"))["notebook"]
    for path in NOTEBOOKS:
        number, _, name = path.stem.partition("_")
        assert {*map(find, (str(path), path.name, path.stem, name, number, f"0{number}"))} == {path}
    for text in ("", "_", "99", "none"):
        with pytest.raises(argparse.ArgumentTypeError, match=r"must mean one notebook; there are .*\.ipynb"):
            find(text)
