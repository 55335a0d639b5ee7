"""Figures of the pages, stored as SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

#: Folder of the figures, below the source folder; git ignores it.
FOLDER = "_drawings"


def save(figure: Any, path: Path) -> None:
    """Write a figure as SVG without a background; the same figure gives the same file."""
    import matplotlib as mpl

    path.parent.mkdir(exist_ok=True, parents=True)
    with mpl.rc_context({"svg.hashsalt": "ir_graded"}):
        figure.savefig(path, bbox_inches="tight", transparent=True, metadata={"Date": None})
