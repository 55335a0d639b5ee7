"""Passages of articles and chunks: XML submissions, runs of other libraries, checks, and views of a topic."""

from .chunks import chunk_table, citations, precision_omega, run_of_chunks, to_characters, with_tokens
from .findings import Findings, Strip, show
from .quotes import Quotes, find_quotes
from .submissions import check_submission, read_submission

__all__ = [
    "Findings",
    "Quotes",
    "Strip",
    "check_submission",
    "chunk_table",
    "citations",
    "find_quotes",
    "precision_omega",
    "read_submission",
    "run_of_chunks",
    "show",
    "to_characters",
    "with_tokens",
]
