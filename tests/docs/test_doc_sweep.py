"""Commands and pages work without optional libraries, or say which one to install; each in a new process."""

import os
import re

import pytest
import sweep
from doc_blocks import DOCS, PT_DOCS, ROOT

from ir_graded._utils.later import EXTRAS

#: Libraries that a plain installation may lack, and that tests have.
OPTIONAL = sorted({*EXTRAS, "pyarrow", "pyspark", "pyterrier"})
GUIDE = [page.relative_to(ROOT).as_posix() for page in (*sorted(DOCS.glob("guide/*.rst")), PT_DOCS)]
EXAMPLES = [
    (kind, name)
    for kind, (_, names) in sweep.KINDS.items()
    for name in names
    if kind != "console" and name not in GUIDE
]
#: Extras that another one installs.
INCLUDED = {"report": {"meta", "plot"}}


@pytest.fixture
def hide(tmp_path, monkeypatch):
    """Return a function that hides libraries from the processes of examples."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))

    def write(libraries):
        # Python imports this module first, also in the processes of the example.
        code = f"import sys; sys.modules.update(dict.fromkeys({sorted(libraries)}))"
        (tmp_path / "sitecustomize.py").write_text(code, encoding="utf-8")

    return write


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), EXAMPLES)
def test_examples_work_without_optional_libraries_or_name_one(kind, name, hide):
    hide(OPTIONAL)
    libraries, error = sweep.sweep(kind, name)
    assert not error
    assert {*libraries.split()} <= {*OPTIONAL} - {"pyarrow"}


def included(extras):
    """Return the extras that these install besides themselves."""
    return set().union(*(INCLUDED.get(extra, ()) for extra in extras))


def required(name, hide, extras=frozenset()):
    """Return the extras that the examples of a page require, without those that another one installs."""
    installed = extras | included(extras)
    hide(library for library in OPTIONAL if EXTRAS.get(library, library) not in installed)
    found = [sweep.sweep(kind, name) for kind in ("python", "console") if name in sweep.KINDS[kind][1]]
    assert not any(error for _, error in found), found
    # An example that lacks a library hides what the examples below it lack.
    lacking = {EXTRAS.get(one, one) for libraries, _ in found for one in libraries.split()}
    return required(name, hide, extras | lacking) if lacking - extras else extras - included(extras)


def sentences(extras):
    """Return the sentences of a page that name the extras of its examples."""
    *first, last = [f"``{extra}``" for extra in sorted(extras)] or [""]
    words = f"extras {', '.join(first)} and {last}" if first else f"extra {last}"
    install = f"``pip install 'ir-graded[{','.join(sorted(extras))}]'``"
    return [f"The examples need the {words}: {install}."] if extras else []


@pytest.mark.slow
@pytest.mark.parametrize("name", GUIDE)
def test_a_page_of_the_guide_names_the_extras_of_its_examples_at_its_top(name, hide):
    if name == PT_DOCS.relative_to(ROOT).as_posix():
        pytest.importorskip("pyterrier")
    text = (ROOT / name).read_text(encoding="utf-8")
    top, *rest = re.split(r"\n(?:-{4,}|\.\. [\w-]+::)", text)
    stated = re.compile(r"The\s+examples\s+need\s+the\s+extras?\b.*?'``\.", re.DOTALL)
    assert [" ".join(found.split()) for found in stated.findall(top)] == sentences(required(name, hide))
    assert not any(map(stated.search, rest))
