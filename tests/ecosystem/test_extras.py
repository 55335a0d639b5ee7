"""Optional libraries, which only some features need."""

import json
import re
import sys
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from types import SimpleNamespace

import pytest

from ir_graded._utils.later import EXTRAS, extra, install_hint
from ir_graded.errors import GradedError


def test_an_installed_library_is_imported():
    assert extra("scipy.stats") is sys.modules["scipy.stats"]


@pytest.mark.parametrize(("library", "name"), EXTRAS.items())
def test_a_missing_library_is_named_with_its_extra(monkeypatch, library, name):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(GradedError) as error:
        extra(library)
    assert str(error.value) == f"this feature requires {library}: {install_hint(name)}"


@pytest.mark.parametrize(("library", "name"), EXTRAS.items())
def test_the_extra_requires_the_library(library, name):
    required = library.replace("markupsafe", "jinja2")  # which requires it
    assert any(re.match(rf"{required}\b.*extra == .{name}\b", line) for line in requires("ir-graded"))


@pytest.mark.parametrize(
    ("origin", "hint"),
    [
        (None, "pip install 'ir-graded[meta]'"),
        (
            {"url": "file:///home/me/ir%20graded", "dir_info": {"editable": True}},
            "pip install 'ir-graded[meta] @ file:///home/me/ir%20graded'",
        ),
        (
            {"url": "https://host.org/ir_graded.git", "vcs_info": {"vcs": "git", "commit_id": "1f2e"}},
            "pip install 'ir-graded[meta] @ git+https://host.org/ir_graded.git@1f2e'",
        ),
        (
            {"url": "https://host.org/ir_graded-0.1.0-py3-none-any.whl", "archive_info": {}},
            "pip install 'ir-graded[meta] @ https://host.org/ir_graded-0.1.0-py3-none-any.whl'",
        ),
    ],
)
def test_the_hint_installs_from_where_the_package_came(monkeypatch, origin, hint):
    text = None if origin is None else json.dumps(origin)
    installed = SimpleNamespace(read_text=lambda name: text if name == "direct_url.json" else None)
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: installed)
    assert install_hint("meta") == hint


def test_a_package_that_is_not_installed_is_a_checkout(monkeypatch):
    def not_installed(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", not_installed)
    assert install_hint("xml") == f"pip install 'ir-graded[xml] @ {Path(__file__).parents[2].as_uri()}'"
