"""Meta-evaluation: statistics that compare measures and systems, from matrices of scores.

Scores are a topics x systems matrix of one measure (a DataFrame or array-like) or, to compare measures, the
result of ``ir_graded.evaluate`` or a mapping from measures to matrices. A table with a row per score, such as
that of ``pyterrier.Experiment(..., perquery=True)``, is also possible. The topics of a matrix in a DataFrame
are its index, or its column named topic, query_id, qid, num or similar.
"""

from ir_graded._utils.later import import_lazily

__all__ = [*import_lazily(__name__)]
