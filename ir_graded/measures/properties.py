"""Properties that every measure has on any input, unless its class declares that it lacks one.

The tests check each property of each registered measure on random input. A class that lacks one names it in
``LACKS`` with the reason, and its docstring shows a counterexample, which the tests run.
"""

from __future__ import annotations

from collections.abc import Mapping

#: The properties by name, in words. A document is better than another where its level is higher and no
#: parameter (gains, stops, weights) gives it less.
PROPERTIES: dict[str, str] = {
    "nothing": "A topic of which the run retrieved nothing relevant scores 0.",
    "ideal": "The ideal list (all relevant documents by gain, nothing else) scores the highest value there "
    "is, without a cutoff, and at any cutoff where the measure needs one.",
    "swap": "A better document that changes places with the one just above it never lowers the score.",
    "exchange": "A better document that changes places with any one above it never lowers the score; nor "
    "does one that was not retrieved and takes the place of another.",
    "truncation": "With cutoff k the score is that of the measure without a cutoff on the run cut at rank k.",
}


def check_lacks(name: str, lacks: Mapping[str, str]) -> None:
    """Raise ValueError where ``LACKS`` names something that is not a property."""
    unknown = sorted(lacks.keys() - PROPERTIES.keys())
    if unknown:
        known = ", ".join(PROPERTIES)
        raise ValueError(f"{name}: LACKS names {unknown[0]!r}, but the properties are {known}")
