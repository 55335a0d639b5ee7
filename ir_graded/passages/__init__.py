"""Passages of articles and chunks: XML submissions, runs of other libraries, checks, and views of one topic.

``strip`` (an article) and ``findings`` (a topic) take ranks from the matching and unions of spans from the
core. Only ``submissions`` reads XML. Measures of passages are in ``measures``.
"""

from .checks import check_submission
from .chunks import chunk_table, run_of_chunks
from .citations import citations
from .findings import Findings
from .omega import precision_omega
from .strip import Strip, show
from .submissions import read_submission
from .units import to_characters

__all__ = [
    "Findings",
    "Strip",
    "check_submission",
    "chunk_table",
    "citations",
    "precision_omega",
    "read_submission",
    "run_of_chunks",
    "show",
    "to_characters",
]
