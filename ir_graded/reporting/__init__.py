"""A report on runs: one HTML page that needs nothing else."""

from .page import report, write_report

__all__ = ["report", "write_report"]
