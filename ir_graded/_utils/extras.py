"""Imports of optional libraries, with an error that names the extra to install."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ir_graded.errors import GradedError

#: The name of the package in registries.
_DISTRIBUTION = "ir-graded"


def extra(module: str, name: str) -> Any:
    """Import a module of an optional library. Raises GradedError with the extra if it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        raise GradedError(f"this feature requires {library}: {install_hint(name)}") from None


def install_hint(name: str) -> str:
    """Return the command that installs an extra, from where the package itself was installed.

    A package that came from a folder or an address keeps it in ``direct_url.json`` (PEP 610); a package from
    a registry has no such file.
    """
    # Slow to import.
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        origin = json.loads(distribution(_DISTRIBUTION).read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        origin = {"url": Path(__file__).parents[2].as_uri(), "dir_info": {}}
    url = origin.get("url")
    if url is None:
        return f"pip install '{_DISTRIBUTION}[{name}]'"
    if "dir_info" in origin:
        return f"pip install '.[{name}]' in {url2pathname(urlsplit(url).path)}"
    version_control = origin.get("vcs_info")
    address = f"{version_control['vcs']}+{url}@{version_control['commit_id']}" if version_control else url
    return f"pip install '{_DISTRIBUTION}[{name}] @ {address}'"
