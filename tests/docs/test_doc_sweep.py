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


#: The sentence of a page that names the extras of its examples.
STATED = re.compile(r"The examples need the extras? (``.*?): ``pip install 'ir-graded\[([\w,]+)\]'``\.")


def stated(name):
    """Return the extras that a page names at its top, before the first heading and the first directive."""
    text = (ROOT / name).read_text(encoding="utf-8")
    top, *rest = (" ".join(part.split()) for part in re.split(r"\n(?:-{4,}|\.\. [\w-]+::)", text))
    assert not any(map(STATED.search, rest))
    found = STATED.search(top)
    assert found is None or re.findall(r"``(\w+)``", found[1]) == sorted(found[2].split(","))
    return set() if found is None else {*found[2].split(",")}


def lacking(name, hide, hidden):
    """Return the extras that the examples of a page lack without some libraries."""
    hide(hidden)
    found = [sweep.sweep(kind, name) for kind in ("python", "console") if name in sweep.KINDS[kind][1]]
    assert not any(error for _, error in found), found
    return {EXTRAS.get(library, library) for libraries, _ in found for library in libraries.split()}


@pytest.mark.slow
@pytest.mark.parametrize("name", GUIDE)
def test_a_page_of_the_guide_works_with_the_extras_at_its_top(name, hide):
    if name == PT_DOCS.relative_to(ROOT).as_posix():
        pytest.importorskip("pyterrier")
    extras = stated(name)
    installed = extras.union(*(INCLUDED.get(extra, ()) for extra in extras))
    hidden = [library for library in OPTIONAL if EXTRAS.get(library, library) not in installed]
    assert lacking(name, hide, hidden) == set()


@pytest.mark.nightly
@pytest.mark.parametrize("name", GUIDE)
def test_a_page_of_the_guide_needs_each_extra_at_its_top(name, hide):
    if name == PT_DOCS.relative_to(ROOT).as_posix():
        pytest.importorskip("pyterrier")
    for extra in stated(name):
        hidden = [library for library in OPTIONAL if EXTRAS.get(library, library) == extra]
        assert lacking(name, hide, hidden) == {extra}
