"""Every code block of the documentation runs: shell blocks here, Python blocks in Sphinx's doctest run."""

from __future__ import annotations

import re
import shutil

import pytest
import sweep
from doc_blocks import DOCS, PAGES, PT_DOCS, ROOT, Block, blocks

#: First words of lines that a block may contain without being run: they need a network or other
#: tools.
NOT_RUN = {"python3 -m venv .venv", ". .venv/bin/activate"}
NOT_RUN_BEGIN = (
    *("spark-submit ", "pip install ", "ir_graded evaluate msmarco-passage/", "trec_eval "),
    # Files of TREC-COVID round 5 that do not ship; tests/collections compares the figures.
    "ir_graded evaluate qrels.covid-round5.txt ",
    # Proofs take minutes; CI runs them.
    *("python -m pytest ", "python tests/", "python benchmarks/", "nox ", "git diff "),
)


# Those of the guide run in test_doc_sweep.py.
@pytest.mark.parametrize("page", [page for page in sweep.CONSOLE if not page.startswith("docs/guide/")])
def test_commands_print_the_output_on_the_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(shutil.copytree(DOCS / "files", tmp_path / "files"))
    assert sweep.run_console(page) == set()


def test_blocks_have_a_directive_an_argument_options_and_lines(tmp_path):
    page = tmp_path / "page.rst"
    code = ".. code-block:: sh\n   :class: not-run\n\n   pip\n     list\n\n"
    page.write_text(f"{code}.. testcode::\n\n   a\n\n   b\n\nText\n", encoding="utf-8")
    assert [*blocks(page)] == [
        Block("code-block", "sh", (":class: not-run",), ("pip", "  list")),
        Block("testcode", "", (), ("a", "", "b")),
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_is_run_or_exempt(page):
    """Code belongs in blocks that are run; a block that cannot be run is marked and has exempt commands."""
    for block in blocks(page):
        if block.directive in {"code-block", "code", "sourcecode"}:
            if page == PT_DOCS and block.argument in {"python", "text"}:
                continue
            run_elsewhere = {"spark", "recipes", "training", "batches", "arrays", "findings", "nightly"}
            if page.stem in run_elsewhere and block.argument == "python":
                continue  # tests/spark, test_doc_recipes.py, test_doc_nightly.py; test_doc_migration.py
            assert block.argument in {"console", "sh"}, f"{page.name}: {block.argument} blocks are not run"
            if block.argument == "sh":
                assert ":class: not-run" in block.options
                for line in block.lines:
                    assert line in NOT_RUN or line.startswith(NOT_RUN_BEGIN), f"{page.name}: {line}"
    lines = page.read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if line.endswith("::") and not line.startswith((".. ", "   .. "))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_test_file_program_and_session_on_a_page_exists(page):
    text = page.read_text(encoding="utf-8")
    paths = re.findall(r"(?<![\w./])(?:tests|benchmarks|notebooks|\.ci|ir_graded)/[\w./]*\w", text)
    shipped = (path for path in paths if (ROOT / path.split("/")[0]).exists())  # an sdist lacks benchmarks
    missing = {path for path in shipped if not (ROOT / path).exists()}
    named = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    missing |= {*re.findall(r"(?<![\w/])test_\w+\.py", text)} - named
    if (ROOT / "noxfile.py").exists():
        known = re.findall(
            r"^def (\w+)\(session", (ROOT / "noxfile.py").read_text(encoding="utf-8"), re.MULTILINE
        )
        used = {name for words in re.findall(r"nox -s ((?:[a-z][\w.-]* ?)+)", text) for name in words.split()}
        missing |= {name for name in used if name.partition("-")[0] not in known}
    assert not missing
