"""The command line: ``ir_graded evaluate | explain | report | meta | measures | demo``."""

from .main import main, run

__all__ = ["main", "run"]
