"""The command line: ``ir_graded evaluate | explain | report | meta | measures | demo``.

Options in, printed tables out: one module a command. Only this room imports click and handles signals and
streams; what a command computes is a function of another room.
"""

from .main import main, run

__all__ = ["main", "run"]
