"""Sphinx configuration; ``python -m sphinx -W -b html docs docs/_build/html`` builds the pages."""

from __future__ import annotations

import doctest
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
# The sandbox folder of examples and drawings is a copy of this one.
os.environ["IR_GRADED_DOCS_FILES"] = str(HERE / "files")

from docutils import nodes  # noqa: E402
from sphinx.application import Sphinx  # noqa: E402

import ir_graded  # noqa: E402

project = "ir_graded"
author = "the authors of ir_graded"
release = version = ir_graded.__version__

# Pages of other projects are linked by their addresses: intersphinx would fetch their lists at every build,
# and the build needs no network.
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "mathml",
    "drawings",
    "generated_pages",
]
exclude_patterns = ["_build", "_ext", "files"]
# Copy the commands of a console block without prompts and output; what programs print has no button.
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_copy_empty_lines = False
_COPIED = ("highlight-console", "highlight-sh", "highlight-python", "doctest")
copybutton_selector = ", ".join(f"div.{name} pre" for name in _COPIED)
smartquotes = False  # quotes in texts are those of code

html_theme = "furo"
html_title = f"ir_graded {version}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_attr_annotations = False
napoleon_custom_sections = ["Source"]

doctest_test_doctest_blocks = "default"
# Conditions of `skipif` see these names, too.
doctest_global_setup = "import examples; _folder = examples.Folder()"
doctest_global_cleanup = "_folder.leave()"
# As in the project's other doctests; unlike Sphinx's own default, messages of errors count.
doctest_default_flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def _unlink_measures(_app: object, doctree: nodes.document) -> None:
    """Turn ``nDCG@10`` in plain text, which docutils takes for an email address, back into text."""
    for link in list(doctree.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.replace_self(nodes.Text(link.astext()))


def setup(app: Sphinx) -> None:
    """Connect the functions above."""
    app.connect("doctree-read", _unlink_measures)
