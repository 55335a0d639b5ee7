"""The sections: importing this package adds all sections to the registry, in their order."""

from . import scores as scores  # isort: skip
from . import passages as passages  # isort: skip
from . import explanations as explanations  # isort: skip
from . import statistics as statistics  # isort: skip
from . import reading as reading  # isort: skip
from . import printing as printing  # isort: skip
from ..recorder import SECTIONS as SECTIONS  # isort: skip
