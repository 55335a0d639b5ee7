"""Read XML with lxml. Entities are not expanded, and only the given bytes are read."""

from __future__ import annotations

import os
import re
from importlib import import_module
from typing import Any

from ir_graded._utils.extras import install_hint
from ir_graded.errors import FileFormatError, InputError
from ir_graded.io.formats import shortened

_NOT_EXPANDED = (
    "is an entity, and entities are not expanded: replace it by the characters, "
    "or by numbers such as &#233;, and remove the declaration"
)
#: End of the messages of libxml2; for an error inside an entity it is not the place in the file.
_PLACE = re.compile(r"\.?, line [0-9]+, column [0-9]+$")


def import_etree(path: str | os.PathLike[str]) -> Any:
    """Return the module lxml.etree. Raises InputError with the path if lxml is not installed."""
    # Imported by its name: lxml comes without type information.
    try:
        return import_module("lxml.etree")
    except ImportError as error:
        raise InputError(
            f"{os.fspath(path)}: reading XML submissions requires lxml: {install_hint('xml')}"
        ) from error


def parse(etree: Any, data: bytes, where: str) -> Any:
    """Return the document element. Raises FileFormatError for invalid XML and for entities."""
    try:
        root = etree.fromstring(data, _parser(etree))
    except etree.XMLSyntaxError as error:
        problem = _PLACE.sub("", str(error.msg))
        line = _error_line(etree, data, error.lineno)
        raise FileFormatError(f"{where}, line {line}: cannot be read as XML: {problem}") from None
    for entity in root.iter(etree.Entity):
        raise FileFormatError(f"{where}, line {entity.sourceline}: {shortened(entity.text)} {_NOT_EXPANDED}")
    types = root.getroottree().docinfo.internalDTD
    declared = [] if types is None else types.entities()
    if declared:
        line = data.count(b"\n", 0, max(data.find(b"<!ENTITY"), 0)) + 1
        raise FileFormatError(f"{where}, line {line}: {shortened(declared[0].name)} {_NOT_EXPANDED}")
    return root


def _parser(etree: Any) -> Any:
    return etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False
    )


def _error_line(etree: Any, data: bytes, line: int) -> int:
    """Return the line of an error; for an error inside an entity, the line that refers to it."""
    if b"<!ENTITY" not in data:
        return line
    parser = _parser(etree)
    fed = 0
    try:
        for fed, text in enumerate(data.splitlines(keepends=True), 1):  # noqa: B007  # looked at below
            parser.feed(text)
        parser.close()
    except etree.XMLSyntaxError:
        pass
    return max(line, fed)
