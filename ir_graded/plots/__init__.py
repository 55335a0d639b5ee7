"""Plots of finished results. They compute nothing and import matplotlib when the first plot is drawn.

Functions take arrays, labels and titles, or any object with the attributes listed in ``style``. They raise
GradedError without matplotlib, and ParameterError if ``ax`` is not a matplotlib Axes. Results import plots,
never the reverse. No other package imports matplotlib.
"""

from .scores import cutoffs, differences, leaderboard, profile, stop_curve, unjudged
from .topics import coverage, groups

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
