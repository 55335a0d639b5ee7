"""Conversion of figures to reproducible SVG text."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

from . import style

if TYPE_CHECKING:
    from .style import Figure


def svg(figure: Figure) -> str:
    """Return the figure as SVG with letters as shapes, so that it looks the same without any font.

    Characters that matplotlib's default font lacks are drawn as boxes.

    Raises:
        GradedError: matplotlib is not installed.
    """
    text = io.StringIO()
    # A fixed salt and no date make the file reproducible.
    options = {"svg.hashsalt": "ir_graded", "svg.fonttype": "path"}
    with style.matplotlib().rc_context(options), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()
