"""A report on runs: one HTML page that needs nothing else.

``contents`` collects what the page says, ``figures`` its pictures, ``page`` writes it. Scores come from
``evaluation`` and statistics from ``meta``: nothing is computed here alone.
"""

from .page import report, write_report

__all__ = ["report", "write_report"]
