"""The pages of the API reference, made of ``__all__``: what is public has an entry."""

from __future__ import annotations

import inspect
from importlib import import_module
from types import ModuleType
from typing import Any

from measure_pages import slug

from ir_graded.measures import GradedMeasure

#: The modules that have a page each.
MODULES = (
    "ir_graded",
    "ir_graded.meta",
    "ir_graded.passages",
    "ir_graded.plots",
    "ir_graded.sentence_transformers",
    "ir_graded.spark",
)


def pages() -> dict[str, str]:
    """The page of each module by its name."""
    return {module: _page(module) for module in MODULES}


def public(module: str) -> dict[str, Any]:
    """The public names of a module and what they stand for."""
    loaded = import_module(module)
    return {name: getattr(loaded, name) for name in loaded.__all__}


def _page(module: str) -> str:
    names = public(module)
    elsewhere = {name: link for name, value in names.items() if (link := _link(name, value))}
    summary = (inspect.getdoc(import_module(module)) or "").partition("\n\n")[0]
    parts = [f"{module}\n{'=' * len(module)}", f".. module:: {module}", summary]
    if elsewhere:
        parts.append("Measures and modules have pages of their own: " + ", ".join(elsewhere.values()) + ".")
    parts += [_entry(module, name, value) for name, value in names.items() if name not in elsewhere]
    # The examples of a docstring may use the names that its module has.
    parts.append(f".. testsetup::\n\n   from {module} import *")
    return "\n\n".join(parts) + "\n"


def _link(name: str, value: Any) -> str:
    """A link to what is documented on another page; empty for what is documented here."""
    if isinstance(value, ModuleType):
        return f":doc:`{name} <{value.__name__}>`"
    if isinstance(value, GradedMeasure):
        return f":ref:`{name} <measure-{slug(value.NAME)}>`"
    return ""


def _entry(module: str, name: str, value: Any) -> str:
    if inspect.isclass(value):
        if issubclass(value, BaseException):
            return f".. autoexception:: {module}.{name}\n   :show-inheritance:"
        return f".. autoclass:: {module}.{name}\n   :members:"
    if inspect.isfunction(value):
        return f".. autofunction:: {module}.{name}"
    raise TypeError(f"{module}.{name} is neither class, function, measure nor module: {value!r}")
