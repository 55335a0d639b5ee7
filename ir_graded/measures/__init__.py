"""The measures, one module per family. ``NAMES`` maps every name to its measure.

Measures work on the views of ``core``. They know nothing of files, tables or statistics.
"""

from . import one_list

# isort: split
# Lists of measures begin with Q.
from . import answers, cascade, gap, intents, ncu, nuggets, passages, sampled
from .answers import *
from .base import (
    ANSWERS as ANSWERS,
    NAMES as NAMES,
    PROPERTIES as PROPERTIES,
    REGISTRY as REGISTRY,
    GradedMeasure,
)
from .cascade import *
from .gap import *
from .intents import *
from .ncu import *
from .nuggets import *
from .one_list import *
from .passages import *
from .sampled import *

# isort: split
# Measures that take other measures are imported after these.
from . import geometric, groups
from .geometric import *
from .groups import *

__all__ = ["GradedMeasure"]
__all__ += answers.__all__
__all__ += cascade.__all__
__all__ += gap.__all__
__all__ += geometric.__all__
__all__ += groups.__all__
__all__ += intents.__all__
__all__ += ncu.__all__
__all__ += nuggets.__all__
__all__ += one_list.__all__
__all__ += passages.__all__
__all__ += sampled.__all__
