"""The same measures on Spark: qrels and runs as Spark DataFrames, scored where they lie.

Spark distributes, sorts and repeats; each partition's topics go through the functions that score them on one
machine. The extra ``spark`` brings PySpark.
"""

from .evaluation import evaluate, mean
from .files import read_qrels, read_runs

__all__ = ["evaluate", "mean", "read_qrels", "read_runs"]
