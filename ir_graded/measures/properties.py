"""Properties that every measure has on any input, unless its class declares that it lacks one.

The tests check each property of each registered measure on random input. A class that lacks a property lists
it in ``LACKS`` with the reason, and its docstring shows a counterexample, which the tests run.
"""

from __future__ import annotations

from collections.abc import Mapping

#: The properties by name. A document is better than another if its level is higher and no parameter (gains,
#: stops, weights) gives it a lower value.
PROPERTIES: dict[str, str] = {
    "nothing": "A topic for which the run retrieved nothing relevant scores 0.",
    "ideal": "The ideal list (all relevant documents by gain, nothing else) has the highest possible score "
    "without a cutoff, or at any cutoff if the measure needs one.",
    "swap": "Swapping a better document with the one just above it never lowers the score.",
    "exchange": "Swapping a better document with any document above it never lowers the score; nor does "
    "replacing a document by a better one that was not retrieved.",
    "truncation": "The score at cutoff k equals the score without a cutoff on the run cut at rank k.",
}


def check_lacks(name: str, lacks: Mapping[str, str]) -> None:
    """Raise ValueError if ``LACKS`` has a key that is not a property."""
    unknown = sorted(lacks.keys() - PROPERTIES.keys())
    if unknown:
        known = ", ".join(PROPERTIES)
        raise ValueError(f"{name}: unknown property {unknown[0]!r} in LACKS; the properties are {known}")
