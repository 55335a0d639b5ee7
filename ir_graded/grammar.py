"""Measure strings: ``NAME(k=v, ...)@cutoff``.

ir-measures' own names are read as ir-measures reads them, to the same objects and the same errors.
This package's names may hold ``-``, ``+`` and ``,``, and its values may be negative numbers, ``inf``,
lists and dicts, so that every printed measure reads back.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import ir_measures
from ir_measures.measures import Measure

from .errors import GradedError, MeasureSyntaxError, ParameterError
from .measures import REGISTRY

# ir-measures' wording; what parsed or failed before parses or fails the same.
_UPSTREAM_ERROR = "problem parsing measure {}; must be in format Measure(k1=v1, k2=v2)@c"


def parse(text: str) -> Measure:
    """The measure that ``text`` names.

    Raises:
        MeasureSyntaxError: one of this package's names, with something unreadable behind it.
        ParameterError: one of its measures with a parameter that it cannot have.
        ValueError: no measure string.
        NameError: a name that nobody knows.
    """
    name = _graded_name(text)
    if name is None:
        return _parse_upstream(text)
    measure = REGISTRY[name]
    try:
        _, args, at = _read(f"_{text.strip()[len(name) :]}", _graded_value)
    except ValueError as error:
        raise MeasureSyntaxError(
            f"cannot read {text!r}: {error}; write {name}, {name}@10 or {name}(name=value, ...)@10"
        ) from None
    if at is not None:
        args[measure.AT_PARAM] = at
    return measure(**args)


def _graded_name(text: str) -> str | None:
    """The longest of this package's names with which ``text`` begins, if a name ends there."""
    text = text.strip()
    for name in sorted(REGISTRY, key=len, reverse=True):
        if text.startswith(name) and text[len(name) :].lstrip()[:1] in ("", "(", "@"):
            return name
    return None


def _parse_upstream(text: str) -> Measure:
    try:
        name, args, at = _read(text, _upstream_value)
    except ValueError as error:
        raise ValueError(_UPSTREAM_ERROR.format(error)) from None
    if name not in ir_measures.measures.registry:
        raise NameError(f"measure not found: {name}")
    measure = ir_measures.measures.registry[name]
    if at is not None:
        args[measure.AT_PARAM] = at
    return measure(**args)


def _read(text: str, value: Callable[[ast.expr], Any]) -> tuple[str, dict[Any, Any], Any]:
    """Name, arguments and what stands behind the @ of a measure string. Raises ValueError with the reason."""
    try:
        statements = ast.parse(text).body
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(str(error)) from None
    if len(statements) != 1:
        raise ValueError("multiple expressions")
    statement = statements[0]
    if not isinstance(statement, ast.Expr):
        raise ValueError("not an expression")
    node, at, args = statement.value, None, {}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        at, node = value(node.right), node.left
    if isinstance(node, ast.Call):
        if node.args:
            raise ValueError("args must be named")
        args = {keyword.arg: value(keyword.value) for keyword in node.keywords}
        node = node.func
    if not isinstance(node, ast.Name):
        raise ValueError("unexpected expression")
    return node.id, args, at


def _upstream_value(node: ast.expr) -> Any:
    """A value as ir-measures reads it: a number, text, True, False, None, or a dict of such."""
    if isinstance(node, ast.Constant) and not isinstance(node.value, (bytes, type(...))):
        return node.value
    if isinstance(node, ast.Dict):
        return {_upstream_value(k): _upstream_value(v) for k, v in _entries(node)}
    raise ValueError("values must be str, float, int, bool, etc.")


def _graded_value(node: ast.expr) -> Any:
    """A value of this package's measures: the same, and signed numbers, inf, and lists."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        number = _graded_value(node.operand)
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            return -number if isinstance(node.op, ast.USub) else number
    if isinstance(node, ast.Name) and node.id == "inf":
        return math.inf
    if isinstance(node, ast.Dict):
        return {_graded_value(k): _graded_value(v) for k, v in _entries(node)}
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_graded_value(element) for element in node.elts]
    return _upstream_value(node)


def _entries(node: ast.Dict) -> list[tuple[ast.expr, ast.expr]]:
    """Keys and values of a dict display; ``**other`` has no key and is no value."""
    if None in node.keys:
        raise ValueError("values must be str, float, int, bool, etc.")
    return [(key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None]


# The original, also where the plugin has put this module's reader in its place.
_original_parse_trec: Callable[[str], list[Measure]] = getattr(
    ir_measures.util.parse_trec_measure, "__wrapped__", ir_measures.util.parse_trec_measure
)


def parse_measure(measure: str | Measure) -> Measure:
    """``ir_measures.parse_measure`` for the names of all: ir-measures', this package's, then trec_eval's.

    Raises:
        NameError: a name that nobody knows.
        ValueError: a string that cannot be read, or the name of a whole family of measures.
    """
    found = _read_measure(measure)
    if len(found) > 1:
        names = ", ".join(map(str, found))
        raise ValueError(
            f"{measure!r} names {len(found)} measures ({names}): parse_trec_measure reads them all"
        )
    return found[0]


@wraps(_original_parse_trec)
def parse_trec_measure(measure: str) -> list[Measure]:
    """``ir_measures.parse_trec_measure``, which reads trec_eval's names first and then measure strings."""
    try:
        return _original_parse_trec(measure)
    except ValueError:
        try:
            return [parse(measure)]
        except GradedError:
            raise
        except (NameError, ValueError):
            pass
        raise


def read_measures(measures: Iterable[str | Measure] | str | Measure) -> list[Measure]:
    """Measure objects from objects and strings, in their order, each once; trec_eval's families unfold.

    Raises:
        NameError: a name that nobody knows.
        ValueError: a string that cannot be read, or something that is no measure.
    """
    given = [measures] if isinstance(measures, (str, Measure)) else measures
    found: list[Measure] = []
    for item in given:
        measures_of_item = _read_measure(item)
        found += map(_with_known_parameters, measures_of_item) if isinstance(item, str) else measures_of_item
    return list(dict.fromkeys(found))


def _with_known_parameters(measure: Measure) -> Measure:
    """The measure, unless it is one of ir-measures with a parameter that it does not take."""
    unknown = measure.params.keys() - measure.SUPPORTED_PARAMS.keys()
    if unknown:
        takes = ", ".join(measure.SUPPORTED_PARAMS)
        raise ParameterError(f"{measure.NAME} takes no parameter {min(unknown)!r}; it takes {takes}")
    return measure


def _read_measure(item: str | Measure) -> list[Measure]:
    if isinstance(item, Measure):
        return [item]
    if not isinstance(item, str):
        raise ValueError(f"{item!r} is neither a measure nor a string that names one")
    try:
        return [parse(item)]
    except GradedError:
        # A name of ours was there and what followed was wrong: no other grammar has a say.
        raise
    except (NameError, ValueError):
        try:
            return _original_parse_trec(item)
        except ValueError:
            pass
        raise
