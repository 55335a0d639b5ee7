"""``ir_graded measures``: what there is to choose from."""

from __future__ import annotations

from collections.abc import Iterator

import click

from ir_graded.measures import REGISTRY, GradedMeasure
from ir_graded.measures.params import NOT_PROVIDED, Param, format_value

from .output import show


@click.command()
def measures() -> None:
    """List all measures with parameters, defaults, meaning and source."""
    show("\n\n".join("\n".join(_describe(measure)) for measure in listed()))
    show("\nWrite NAME, NAME@10 or NAME(parameter=value, ...)@10; all measures of ir-measures go along.")


def listed() -> list[GradedMeasure]:
    """Every measure once, by name."""
    plain = {measure.NAME: measure for measure in REGISTRY.values() if not measure.params}
    return [plain[name] for name in sorted(plain, key=str.lower)]


def _describe(measure: GradedMeasure) -> Iterator[str]:
    title = measure.NAME if measure.PRETTY_NAME == measure.NAME else f"{measure.NAME}  {measure.PRETTY_NAME}"
    yield f"{title} ({measure.SOURCE})"
    yield f"    {measure.SHORT_DESC}"
    for name, param in measure.SUPPORTED_PARAMS.items():
        yield f"      {_with_default(name, param):<18} {param.desc}: {param.expected}"
    for alias, target in REGISTRY.items():
        if target.NAME == measure.NAME and alias != measure.NAME:
            yield f"      also {alias}" + (
                f", short for {target!r}" if target.params or alias.startswith("NCU") else ""
            )


def _with_default(name: str, param: Param) -> str:
    if param.required:
        return f"{name} (needed)"
    return name if param.default is NOT_PROVIDED else f"{name}={format_value(param.default)}"
