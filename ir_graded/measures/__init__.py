"""The measures, one module per family. ``NAMES`` maps every name to its measure.

Measures work on the views of ``core``. They know nothing of files, tables or statistics.
"""

from importlib import import_module

from .base import (
    ANSWERS as ANSWERS,
    NAMES as NAMES,
    PROPERTIES as PROPERTIES,
    REGISTRY as REGISTRY,
    GradedMeasure,
)

#: The modules with measures, in the order of their lists; measures that take other measures come last.
FAMILIES = (
    *("one_list", "answers", "cascade", "gap", "intents", "ncu"),
    *("nuggets", "passages", "sampled", "geometric", "groups"),
)

__all__ = ["GradedMeasure"]
for _family in (import_module(f".{name}", __name__) for name in FAMILIES):
    globals().update({name: getattr(_family, name) for name in _family.__all__})
    __all__ += _family.__all__
