"""Print the public API as text: names, signatures, measures with their parameters, and the command line.

``python tests/project/public_api.py`` writes it to public_api.txt in this folder; with ``--print``, it is
printed instead.
"""

import functools
import inspect
import sys
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import click
from ir_measures.measures import ParamInfo

from ir_graded.cli.main import commands
from ir_graded.measures import NAMES as READ, GradedMeasure

STORED = Path(__file__).with_name("public_api.txt")
COMMAND = "python tests/project/public_api.py"
HEADER = f"""\
# The public API, one name a line. A line that changes or goes away is a change for users: see
# docs/trust/stability.rst. Written by `{COMMAND}`.
"""

#: What is public here is ``__all__``; dataclasses in it are results, which users do not make.
MODULES = (
    "ir_graded", "ir_graded.meta", "ir_graded.passages", "ir_graded.plots", "ir_graded.sentence_transformers",
    "ir_graded.spark", "ir_graded.torchmetrics",
)  # fmt: skip
#: What the guide teaches beyond them: what sample() gives, own measures, pictures of the meta-evaluation.
NAMES = {
    "ir_graded.data": ("Sample",),
    "ir_graded.measures": ("PROPERTIES",),
    "ir_graded.measures.base": ("COMMON", "Contributions", "StopUtility", "register", "uniform"),
    "ir_graded.measures.params": ("BETA", "GAINS", "Number"),
    "ir_graded.plots.meta": ("asl_curve", "stability_curves", "swap_curves"),
    "ir_graded.plugin": ("register",),
}
_UNSET = ParamInfo().default


class _Bare(str):
    """Text that ``inspect`` puts into a signature without quotes."""

    __slots__ = ()

    def __repr__(self):
        return str(self)


def names_of(module):
    return tuple(import_module(module).__all__) if module in MODULES else NAMES[module]


def listing():
    """Return the whole list as text."""
    parts = [HEADER]
    for module in sorted({*MODULES, *NAMES}):
        loaded = import_module(module)
        lines = [line for name in sorted(names_of(module)) for line in _lines(name, getattr(loaded, name))]
        parts.append(_section(module, lines))
    read = [f"{name} -> {measure!r}" for name, measure in sorted(READ.items())]
    parts.append(_section("names in measure strings", read))
    context = click.Context(commands, **commands.context_settings)
    parts.append(_section("command line", list(_command("ir_graded", commands, context))))
    return "\n".join(parts)


def _section(title, lines):
    return f"[{title}]\n" + "".join(f"{line}\n" for line in lines)


def _lines(name, value):
    if isinstance(value, ModuleType):
        yield f"module {name}"
    elif isinstance(value, GradedMeasure):
        yield f"measure {name} = {value!r}"
        yield from _parameters(name, value.SUPPORTED_PARAMS)
    elif inspect.isclass(value):
        yield from _class_lines(name, value)
    elif isinstance(value, dict):
        yield f"dict {name}"
        described = all(isinstance(param, ParamInfo) for param in value.values())
        yield from _parameters(name, value) if described else (f"    {name}[{key!r}]" for key in value)
    elif isinstance(value, ParamInfo):
        yield f"parameter {name}: {_parameter(value)}"
    elif callable(value):
        yield f"def {name}{_signature(value)}"
    else:
        raise TypeError(f"nobody said how to list {name} = {value!r}")


def _parameters(name, params):
    for key, param in sorted(params.items()):
        yield f"    {name}.{key}: {_parameter(param)}"


def _parameter(param):
    default = "" if param.default is _UNSET else f" = {param.default!r}"
    return f"{param.expected}{default}{', required' if param.required else ''}"


def _class_lines(name, cls):
    public = {each for module in {*MODULES, *NAMES} for each in names_of(module)}
    ours = [base for base in cls.__mro__[1:] if base.__module__.partition(".")[0] == "ir_graded"]
    known = [base for base in ours if base.__name__ in public]
    hidden = [base for base in ours if not any(issubclass(other, base) for other in known)]
    # A library that need not be installed does not change the list.
    shown_bases = [base for base in cls.__bases__ if not base.__module__.startswith("torchmetrics")]
    bases = ", ".join(base.__name__ for base in shown_bases if base not in {object, *hidden})
    if issubclass(cls, BaseException):
        yield f"exception {name}({bases})"
        return
    yield f"class {name}{f'({bases})' if bases else ''}"
    shown = {field.name: field.type for field in fields(cls)} if is_dataclass(cls) else {}
    result = is_dataclass(cls) and not cls.__module__.startswith("ir_graded.measures.")
    if "__init__" in vars(cls) and not result:
        yield f"    {name}{_signature(cls).removesuffix(' -> None')}"
    yield from (f"    {name}.{key}: {kind}" for key, kind in shown.items() if not key.startswith("_"))
    for key in sorted(set().union(vars(cls), *map(vars, hidden)) - shown.keys()):
        if not key.startswith("_"):
            yield f"    {_member(name, key, inspect.getattr_static(cls, key))}"


def _member(name, key, value):
    if isinstance(value, property):
        return f"property {name}.{key} -> {value.fget.__annotations__['return']}"
    if isinstance(value, functools.cached_property):
        return f"property {name}.{key} -> {value.func.__annotations__['return']}"
    if isinstance(value, (classmethod, staticmethod)):
        return f"{type(value).__name__} {name}.{key}{_signature(value.__func__)}"
    return f"def {name}.{key}{_signature(value)}" if inspect.isfunction(value) else f"attribute {name}.{key}"


def _signature(value):
    """Return the signature on one line, equal on every Python: annotations without quotes, no addresses."""
    found = inspect.signature(value)
    parameters = [
        parameter.replace(annotation=_bare(parameter.annotation), default=_default(parameter.default))
        for parameter in found.parameters.values()
    ]
    return str(found.replace(parameters=parameters, return_annotation=_bare(found.return_annotation)))


def _bare(annotation):
    return _Bare(annotation) if isinstance(annotation, str) else annotation


def _default(value):
    return _Bare(f"<{type(value).__name__}>") if " at 0x" in repr(value) else value


def _command(path, command, context):
    yield path
    for parameter in command.get_params(context):
        yield f"    {_option(parameter)}"
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield from _command(f"{path} {name}", inner, click.Context(inner, parent=context))


def _option(parameter):
    """Return an argument or option with its type; the texts of --help are not part of the API."""
    if isinstance(parameter, click.Argument):
        words = [parameter.name.upper() + "..." * (parameter.nargs == -1)]
    else:
        words = ["/".join(sorted(parameter.opts, key=len))]
        words += [] if parameter.is_flag else [_values(parameter.type)]
        words += [f"= {parameter.default}"] * (type(parameter.default) in {str, int, float})
        words += ["(may repeat)"] * parameter.multiple
    return " ".join(words + ["(required)"] * parameter.required)


def _values(kind):
    if isinstance(kind, click.Choice):
        return "{" + "|".join(kind.choices) + "}"
    if isinstance(kind, (click.IntRange, click.FloatRange)):
        low, high = ("" if end is None else f"{end:g}" for end in (kind.min, kind.max))
        return f"{kind.name.split()[0]} {low}..{high}"
    return str(kind.name)


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(listing())
    else:
        STORED.write_text(listing(), encoding="utf-8")
