"""Passages of articles: submissions in XML, and a look at one article of a run."""

from .strip import Strip, show
from .submissions import read_submission

__all__ = ["Strip", "read_submission", "show"]
