"""The command line: ``ir_graded evaluate | measures | demo``."""

from .main import main

__all__ = ["main"]
