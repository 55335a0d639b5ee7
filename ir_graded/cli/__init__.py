"""The command line: ``ir_graded evaluate | explain | report | meta | measures | demo``.

Each command has a module, which reads options and prints tables. Only this room imports click and handles
signals and streams; the computations are functions of other rooms.
"""

from .main import main, run

__all__ = ["main", "run"]
