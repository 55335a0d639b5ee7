"""The code in README.md runs unchanged, and prints the output shown below it."""

import contextlib
import io
import re
from pathlib import Path

import pytest

import ir_graded

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
WITH_OUTPUT = re.findall(r"```python\n((?:(?!```).)*)```\n```text\n(.*?)```", README, flags=re.DOTALL)
ALL_PYTHON = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def test_examples_print_the_output_in_the_readme():
    assert WITH_OUTPUT
    names: dict[str, object] = {}
    for code, expected in WITH_OUTPUT:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), names)  # noqa: S102  # the project's own README
        assert lines(printed.getvalue()) == lines(expected)


@pytest.mark.parametrize("code", ALL_PYTHON)
def test_all_python_blocks_parse(code):
    compile(code, "README.md", "exec")


@pytest.mark.parametrize("name", ["start-command", "test-command"])
def test_the_two_commands_are_marked_for_ci(name):
    assert re.search(rf"<!-- {name} -->\n```sh\n[^\n]+\n```", README)


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 150
    assert max(map(len, README.splitlines())) <= 120


def test_the_citation_is_of_this_version():
    citation = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {ir_graded.__version__}\n" in citation
