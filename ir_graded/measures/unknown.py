"""Error for an unknown measure, with a suggestion of the intended one."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches

import ir_measures
from ir_measures.measures import Measure

from ir_graded.errors import UnknownMeasureError, short_repr

from .base import REGISTRY

#: Number of characters of a name that are compared with names of measures.
_LONGEST_NAME = 60
#: The name in a measure string, and the parameters and cutoff after it.
_NAME = re.compile(r"\s*([^@(\[{\s]*)(.*)", re.DOTALL)


def unknown_measure(text: str, can_be_read: Callable[[str], bool]) -> UnknownMeasureError:
    """Return the error for a string that does not name a measure.

    Args:
        text: the string.
        can_be_read: tells whether a string names a measure.
    """
    return UnknownMeasureError(
        f"Unknown measure {short_repr(text)}. {_hint(*_parts(text), can_be_read)}"
        "Run `ir_graded measures` for the full list."
    )


def is_nearly_known(text: str) -> bool:
    """Tell whether a measure string begins with the name of a measure, in any case."""
    return _parts(text)[0].casefold() in _known_names()


def _parts(text: str) -> tuple[str, str]:
    """Return the name in a measure string, truncated if it is long, and the rest of the string."""
    found = _NAME.match(text)
    return (found[1][:_LONGEST_NAME], found[2]) if found else (text[:_LONGEST_NAME], "")


def _hint(name: str, rest: str, can_be_read: Callable[[str], bool]) -> str:
    known = _known_names()
    outer, _, base = name.partition("-")
    measure = known.get(outer.casefold())
    composed = [other for other in REGISTRY if other.startswith(f"{measure}-")]
    if base.casefold() in known and composed and name.casefold() not in known:
        return f"{measure} has short names for these: {', '.join(composed)}. "
    near = get_close_matches(name.casefold(), known, 1, 0.6)
    if not near:
        return ""
    meant = known[near[0]]
    return f"Did you mean {short_repr(meant + rest if can_be_read(meant + rest) else meant)}? "


def _known_names() -> dict[str, str]:
    """Return the canonical name of each measure by its names in lower case."""
    measures: dict[str, Measure] = {**ir_measures.measures.registry, **REGISTRY}
    return {name.casefold(): name if measure.params else measure.NAME for name, measure in measures.items()}
