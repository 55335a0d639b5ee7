"""Plots of finished results. They compute nothing, and matplotlib is imported when the first is drawn.

Functions take arrays, labels and titles, or anything with the attributes that ``drawable`` lists: results
import plots, never the other way round. No other package imports matplotlib.
"""

from .diversity import coverage, groups
from .profile import profile
from .scores import cutoffs, differences, leaderboard, unjudged
from .stopping import stop_curve

__all__ = [
    "coverage",
    "cutoffs",
    "differences",
    "groups",
    "leaderboard",
    "profile",
    "stop_curve",
    "unjudged",
]
