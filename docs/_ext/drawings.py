"""The directive ``drawing`` shows code whose last expression is a matplotlib Figure, and the figure.

The code continues the ``testcode`` blocks above it on the page, and the doctest builder runs it like one of
them. With the option ``hidden`` only the figure is shown. An object that notebooks show as HTML may take the
place of the figure.
"""

from __future__ import annotations

import ast
import contextlib
import io
import warnings
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from examples import Folder
from figures import FOLDER, save
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Drawing(SphinxDirective):
    """``.. drawing:: name`` with the options ``alt`` (the picture in words), ``width`` and ``hidden``."""

    has_content = True
    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {
        "alt": directives.unchanged_required,
        "hidden": directives.flag,
        "width": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        code = "\n".join(self.content)
        block = nodes.literal_block(
            code, code, testnodetype="testcode", groups=["default"], language="python", classes=["testcode"]
        )
        self.set_source_info(block)
        above = [
            node.astext()
            for node in self.state.document.findall(nodes.literal_block)
            if node.get("testnodetype") == "testcode" and "skipif" not in node
        ]
        figure = _last_value([*above, code])
        if not hasattr(figure, "savefig"):
            return [block, nodes.raw("", figure._repr_html_(), format="html")]
        save(figure, Path(self.env.srcdir, FOLDER, f"{self.arguments[0]}.svg"))
        image = nodes.image(
            uri=f"/{FOLDER}/{self.arguments[0]}.svg", alt=self.options["alt"], classes=["drawing"]
        )
        if "width" in self.options:
            image["width"] = self.options["width"]
        return [image] if "hidden" in self.options else [block, image]


def _last_value(blocks: list[str]) -> Any:
    """Run the blocks one after the other; the value of the last expression."""
    names: dict[str, Any] = {"__name__": "__main__"}
    *statements, last = ast.parse("\n".join(blocks)).body
    if not isinstance(last, ast.Expr):
        raise TypeError(f"the last line of a drawing must be its figure: {ast.unparse(last)}")
    silent = contextlib.redirect_stdout(io.StringIO())
    with Folder(), silent, warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(ast.Module(statements, []), "drawing", "exec"), names)  # noqa: S102  # the docs' own code
        return eval(compile(ast.Expression(last.value), "drawing", "eval"), names)  # noqa: S307


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("drawing", Drawing)
    # Examples change the working folder: one page at a time.
    return {"parallel_read_safe": False, "parallel_write_safe": True}
