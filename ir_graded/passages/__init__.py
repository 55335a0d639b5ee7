"""Passages of articles: submissions in XML, and a look at one article of a run.

``strip`` asks the matching for ranks and the core for unions of spans, and hands its spans to ``plots``; only
``submissions`` reads XML. Measures of passages belong in ``measures``.
"""

from .strip import Strip, show
from .submissions import read_submission

__all__ = ["Strip", "read_submission", "show"]
