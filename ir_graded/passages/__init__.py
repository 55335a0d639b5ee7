"""Passages of articles: submissions in XML, and a look at one article of a run."""

from .strip import Strip, read_submission, show

__all__ = ["Strip", "read_submission", "show"]
