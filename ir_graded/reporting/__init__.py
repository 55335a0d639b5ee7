"""HTML report on runs, as one self-contained page.

``contents`` collects the results, ``figures`` draws the pictures, and ``page`` writes the page. Scores come
from ``evaluation`` and statistics from ``meta``; nothing is computed only here.
"""

from .page import report, write_report

__all__ = ["report", "write_report"]
