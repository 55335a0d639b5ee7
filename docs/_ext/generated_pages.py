"""Writes the generated pages and drawings into the source folder before Sphinx reads it.

Files whose content has not changed are not written again, so that a second build reads nothing twice.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import api_pages
import command_pages
import figures
import measure_pages
from sphinx.application import Sphinx

#: Hand-written pages in these folders.
BY_HAND = {"measures/index.rst", "measures/classics.rst", "api/index.rst"}


def write(folder: Path) -> None:
    """Write all generated pages below the source folder, and remove outdated ones."""
    of_measures = measure_pages.pages()
    texts = {f"measures/{name}.rst": page.text for name, page in of_measures.items()}
    texts |= {f"api/{name}.rst": text for name, text in api_pages.pages().items()}
    texts["commands.rst"] = command_pages.page()
    texts |= {"measures/table.inc": measure_pages.index(), "measures/classics.inc": measure_pages.classics()}
    texts |= {"measures/names.inc": measure_pages.other_names()}
    for place in (*folder.glob("measures/*.rst"), *folder.glob("api/*.rst")):
        if place.relative_to(folder).as_posix() not in texts.keys() | BY_HAND:
            place.unlink()
    for name, text in texts.items():
        place = folder / name
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")
    for page in of_measures.values():
        for picture in page.pictures:
            figures.save(picture.draw(), folder / figures.FOLDER / f"{picture.name}.svg")


def _signature(_app: Sphinx, what: str, _name: str, documented: Any, *_: Any) -> tuple[str, str] | None:
    """Return no signature for results: only the package calls their constructors."""
    return ("", "") if what == "class" and dataclasses.is_dataclass(documented) else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages once the configuration is known."""
    app.connect("autodoc-process-signature", _signature)
    app.connect("builder-inited", lambda app: write(Path(app.srcdir)))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
