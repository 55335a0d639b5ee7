"""Commands and pages work without optional libraries, or say which one to install; each in a new process."""

import os

import pytest
import sweep

from ir_graded._utils.later import EXTRAS

#: Libraries that a plain installation may lack, and that tests have.
OPTIONAL = sorted({*EXTRAS, "pyarrow", "pyspark", "pyterrier"})
EXAMPLES = [(kind, name) for kind, (_, names) in sweep.KINDS.items() for name in names if kind != "console"]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), EXAMPLES)
def test_examples_work_without_optional_libraries_or_name_one(kind, name, tmp_path, monkeypatch):
    # Python imports this module first, also in the processes of the example.
    code = f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL}))"
    (tmp_path / "sitecustomize.py").write_text(code, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    libraries, error = sweep.sweep(kind, name)
    assert not error
    assert {*libraries.split()} <= {*OPTIONAL} - {"pyarrow"}
