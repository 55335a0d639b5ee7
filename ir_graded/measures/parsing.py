"""Measure strings: ``NAME(k=v, ...)@cutoff``.

ir-measures' own names are read as ir-measures reads them, to the same objects and the same errors. The
exceptions are strings of which ir-measures silently drops a part: a parameter, cutoff or key that is given
twice, and everything after a ``#``. They raise a ValueError.
This package's names may hold ``-``, ``+`` and ``,``, and its values may be negative numbers, ``inf``,
lists and dicts, so that every printed measure reads back.
"""

from __future__ import annotations

import ast
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from functools import wraps
from typing import Any, TypeAlias

import ir_measures
from ir_measures.measures import Measure

from ir_graded.errors import GradedError, MeasureSyntaxError, ParameterError, cut, short_repr

from . import REGISTRY

# ir-measures' wording; what parsed or failed before parses or fails the same.
_UPSTREAM_ERROR = "problem parsing measure {}; must be in format Measure(k1=v1, k2=v2)@c"

# Bits of a whole number: Python reads more in hexadecimal, and then cannot print the measure.
_LONGEST_INT = 2_000


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
        _, pairs, at = _read(f"_{text.strip()[len(name) :]}", _graded_value)
        if any(key is None for key, _ in pairs):
            raise ValueError("args must be named")
        args = _once([*pairs, *_cutoff(measure, at)])
    except ValueError as error:
        raise MeasureSyntaxError(
            f"cannot read {short_repr(text)}: {error}; write {name}, {name}@10 or {name}(name=value, ...)@10"
        ) from None
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
        name, pairs, at = _read(text, _upstream_value)
        if name not in ir_measures.measures.registry:
            raise NameError(f"measure not found: {cut(name)}")
        measure = ir_measures.measures.registry[name]
        args = _once([*pairs, *_cutoff(measure, at)])
    except ValueError as error:
        raise ValueError(_UPSTREAM_ERROR.format(error)) from None
    return measure(**args)


def _cutoff(measure: Measure, at: Any) -> _Pairs:
    """Return the value after the @ as a named parameter."""
    return [] if at is None else [(measure.AT_PARAM, at)]


#: Text in quotes, which may contain #.
_QUOTED = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)

#: Names and values in their order.
_Pairs: TypeAlias = list[tuple[Any, Any]]


def _read(text: str, value: Callable[[ast.expr], Any]) -> tuple[str, _Pairs, Any]:
    """Name, arguments and what stands behind the @ of a measure string. Raises ValueError with the reason."""
    if "#" in _QUOTED.sub("", text):
        # Python would drop the rest of the line as a comment.
        raise ValueError("'#' is not part of a measure's name, and in a value it must be in quotes")
    try:
        return _parts(ast.parse(text).body, value)
    except SyntaxError as error:
        raise ValueError(str(error)) from None
    except (RecursionError, MemoryError):
        raise ValueError("too deeply nested") from None


def _parts(statements: list[ast.stmt], value: Callable[[ast.expr], Any]) -> tuple[str, _Pairs, Any]:
    """The same of what was parsed."""
    if len(statements) != 1:
        raise ValueError("multiple expressions")
    statement = statements[0]
    if not isinstance(statement, ast.Expr):
        raise ValueError("not an expression")
    node, at, args = statement.value, None, []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        at, node = value(node.right), node.left
    if isinstance(node, ast.Call):
        if node.args:
            raise ValueError("args must be named")
        args = [(keyword.arg, value(keyword.value)) for keyword in node.keywords]
        node = node.func
    if not isinstance(node, ast.Name):
        raise ValueError("unexpected expression")
    return node.id, args, at


def _upstream_value(node: ast.expr) -> Any:
    """A value as ir-measures reads it: a number, text, True, False, None, or a dict of such."""
    if isinstance(node, ast.Constant) and not isinstance(node.value, (bytes, type(...))):
        return node.value
    if isinstance(node, ast.Dict):
        return _once([(_upstream_value(k), _upstream_value(v)) for k, v in _entries(node)])
    raise ValueError("values must be str, float, int, bool, etc.")


def _graded_value(node: ast.expr) -> Any:
    """A value of this package's measures: the same, and signed numbers, inf, and lists."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        number = _graded_value(node.operand)
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            return -number if isinstance(node.op, ast.USub) else number
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        if node.value.bit_length() > _LONGEST_INT:
            raise ValueError("a whole number has too many digits")
        return node.value
    if isinstance(node, ast.Name) and node.id == "inf":
        return math.inf
    if isinstance(node, ast.Dict):
        if any(isinstance(key, (ast.Dict, ast.List, ast.Tuple)) for key, _ in _entries(node)):
            raise ValueError("keys must be numbers or text")
        return _once([(_graded_value(k), _graded_value(v)) for k, v in _entries(node)])
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_graded_value(element) for element in node.elts]
    return _upstream_value(node)


def _once(pairs: _Pairs) -> dict[Any, Any]:
    """A dict of names and values. Raises ValueError where a name stands twice (which value would count?)."""
    values = dict(pairs)
    if len(values) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"{short_repr(twice)} is given twice")
    return values


def _entries(node: ast.Dict) -> list[tuple[ast.expr, ast.expr]]:
    """Keys and values of a dict display; ``**other`` has no key and is no value."""
    if None in node.keys:
        raise ValueError("values must be str, float, int, bool, etc.")
    return [(key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None]


#: A whole name of trec_eval, with or without arguments: ir-measures reads ``P_5x`` as P@5.
_TREC_NAME = re.compile(
    r"[A-Za-z0-9]+(?:_[A-Za-z]+)*(?:[._]([0-9]+(?:\.[0-9]+)?(?:,[0-9]+(?:\.[0-9]+)?)*))?", re.ASCII
)

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
        names = cut(", ".join(map(str, found)))
        raise ValueError(
            f"{short_repr(measure)} names {len(found)} measures ({names}): parse_trec_measure reads them all"
        )
    return found[0]


@wraps(_original_parse_trec)
def parse_trec_measure(measure: str) -> list[Measure]:
    """``ir_measures.parse_trec_measure``, which reads trec_eval's names first and then measure strings."""
    try:
        return _original_parse_trec(measure)
    except ValueError as error:
        try:
            return [parse(measure)]
        except GradedError:
            raise
        except (NameError, ValueError):
            pass
        if (said := str(error)) != cut(said):
            raise ValueError(cut(said)) from None
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
        found += _read_usable(item) if isinstance(item, str) else _read_measure(item)
    try:
        return list(dict.fromkeys(found))
    except ValueError as error:
        # A measure of ir-measures is compared by its text, and Python writes no int of thousands of digits.
        raise ParameterError(
            f"a measure of ir-measures has a parameter that cannot be printed: {error}"
        ) from None


def _read_usable(text: str) -> list[Measure]:
    """The measures of a string, also where ir-measures reads it to another error or to what it cannot use."""
    try:
        return [_with_known_parameters(measure) for measure in _read_measure(text)]
    except TypeError as error:
        raise ValueError(_UPSTREAM_ERROR.format(error)) from None


def _with_known_parameters(measure: Measure) -> Measure:
    """The measure, unless it is one of ir-measures with a parameter that it does not take."""
    unknown = measure.params.keys() - measure.SUPPORTED_PARAMS.keys()
    if unknown:
        takes = ", ".join(measure.SUPPORTED_PARAMS)
        raise ParameterError(
            f"{measure.NAME} takes no parameter {short_repr(min(unknown))}; it takes {takes}"
        )
    return measure


def _read_measure(item: str | Measure) -> list[Measure]:
    if isinstance(item, Measure):
        return [item]
    if not isinstance(item, str):
        raise ValueError(f"{short_repr(item)} is neither a measure nor a string that names one")
    try:
        return [parse(item)]
    except GradedError:
        # A name of ours was there and what followed was wrong: no other grammar has a say.
        raise
    except (NameError, ValueError):
        if (name := _TREC_NAME.fullmatch(item)) is None:
            raise
        try:
            # It prints which measures of a family it skips: that is no result.
            with redirect_stdout(sys.stderr):
                return _original_parse_trec(item)
        except ValueError:
            if "." in (name[1] or ""):
                raise MeasureSyntaxError(
                    f"cannot read {short_repr(item)}: {cut(name[1])} are no whole numbers; "
                    "write P_10 or P_5,10"
                ) from None
        raise
