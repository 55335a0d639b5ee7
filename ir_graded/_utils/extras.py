"""Imports of optional libraries, with an error that names the extra to install."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from ir_graded.errors import GradedError

#: The extra that installs each optional library.
EXTRAS = {
    "jinja2": "report",
    "lxml": "xml",
    "markupsafe": "report",
    "matplotlib": "plot",
    "scipy": "meta",
    "threadpoolctl": "meta",
}


def extra(module: str) -> Any:
    """Import a module of an optional library. Raises GradedError with the extra if it is not installed."""
    library = module.partition(".")[0]
    name = EXTRAS[library]
    try:
        return import_module(module)
    except ImportError:
        raise GradedError(f"this feature requires {library}: {install_hint(name)}") from None


def install_hint(name: str) -> str:
    """Return the command that installs an extra, from where the package itself was installed (PEP 610)."""
    # Slow to import.
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        # A package from a registry has no such file.
        origin = json.loads(distribution("ir-graded").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        origin = {"url": Path(__file__).parents[2].as_uri()}
    source = origin.get("url", "")
    if "vcs_info" in origin:
        source = f"{origin['vcs_info']['vcs']}+{source}@{origin['vcs_info']['commit_id']}"
    return f"pip install 'ir-graded[{name}]{source and ' @ '}{source}'"
