"""Imports on first use: names of packages, objects that stand for others, and optional libraries."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, TypeVar

from ir_graded.errors import GradedError

_LOAD = "_load"


class LazyPackage(ModuleType):
    """A package that imports a name on first access, and lists its public names only.

    It is a class, because a function ``__getattr__`` of the package could not keep the modules that Python
    sets in their package from hiding functions of the same name, as in ``meta.differences``.
    """

    #: The module of each name.
    _LAZY: dict[str, str]
    __all__: list[str]

    def __getattr__(self, name: str) -> Any:
        if name not in self._LAZY:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        module = import_module(f".{self._LAZY[name] or name}", self.__name__)
        value = getattr(module, name) if self._LAZY[name] else module
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # An import sets each module in its package, also one with the name of its function.
        is_hiding = isinstance(value, ModuleType) and self._LAZY.get(name)
        super().__setattr__(name, getattr(value, name) if is_hiding else value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__all__, *(name for name in vars(self) if name.startswith("__"))})


def import_lazily(package: str, more: dict[str, str] | None = None) -> list[str]:
    """Let a package import the names in its stub, and ``more``, on first access; return these names."""
    module = sys.modules[package]
    stub = Path(str(module.__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
    names = {
        name.name: statement.module or ""
        for statement in ast.parse(stub).body
        if isinstance(statement, ast.ImportFrom)
        for name in statement.names
        if name.name not in {"*", "__version__"}
    }
    module._LAZY = names | (more or {})  # type: ignore[attr-defined]  # noqa: SLF001
    module.__class__ = LazyPackage
    return sorted(module._LAZY)  # noqa: SLF001


class Later:
    """An object that becomes another one on first use: ``load`` imports its module and returns it.

    The registry of ir_measures, which PyTerrier copies, needs all measures when the package is imported, and
    importing their modules would take most of that time. Callers may keep an object of the registry, so the
    stand-in must be the measure afterwards: with its class, its attributes, its pickle and its identity. A
    proxy would have none of them; a stand-in that changes its ``__class__`` has all.
    """

    #: Attributes that do not count as a use.
    KNOWN: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, load: Callable[[], object]) -> None:
        object.__setattr__(self, _LOAD, load)

    def __getattribute__(self, name: str) -> Any:
        get = object.__getattribute__
        if name in get(self, "KNOWN"):
            return get(self, name)
        # Another thread may have loaded it since this call began.
        if (load := get(self, "__dict__").get(_LOAD)) is not None:
            become(self, load())
        return getattr(self, name)


def become(stand_in: object, other: object) -> None:
    """Give a stand-in the class and attributes of an object, which it may have already."""
    if type(stand_in) is not type(other):
        attributes = object.__getattribute__(stand_in, "__dict__")
        attributes.update(vars(other))
        object.__setattr__(stand_in, "__class__", type(other))
        attributes.pop(_LOAD, None)


Made = TypeVar("Made")


def in_place(stand_in: object, made: Made) -> Made:
    """Return ``made``, as the object that has stood for it if there is one."""
    if not isinstance(stand_in, Later):
        return made
    become(stand_in, made)
    return stand_in  # type: ignore[return-value]  # now of that class


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
