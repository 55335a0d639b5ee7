"""What holds of every measure on any input, unless its class says otherwise and why.

The tests try each property on random input for all that is registered. Where one does not hold, the class
declares it (``LACKS``), and a counterexample in its docstring, which the tests run, shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

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


class Declared:
    """The part of a measure that says what holds of it."""

    #: The lowest and the highest score of a topic.
    RANGE: ClassVar[tuple[float, float]] = (0.0, 1.0)
    #: Those of ``PROPERTIES`` that the measure lacks, each with the reason.
    LACKS: ClassVar[Mapping[str, str]] = {}

    @property
    def lacks(self) -> Mapping[str, str]:
        """What the measure lacks with these parameters; ``LACKS`` where they make no difference."""
        return self.LACKS


def check_declared(name: str, lacks: Mapping[str, str]) -> None:
    """Raise ValueError where a measure declares to lack what is no property."""
    unknown = sorted(lacks.keys() - PROPERTIES.keys())
    if unknown:
        known = ", ".join(PROPERTIES)
        raise ValueError(f"{name}: LACKS names {unknown[0]!r}, but the properties are {known}")
