"""Measures on Spark: qrels and runs are Spark DataFrames, scored on the workers.

Spark distributes and sorts the rows. The topics of each partition are scored by the functions that score them
on one machine. Install with ``pip install 'ir-graded[spark]'``.
"""

from .evaluation import evaluate, mean
from .files import read_qrels, read_runs

__all__ = ["evaluate", "mean", "read_qrels", "read_runs"]
