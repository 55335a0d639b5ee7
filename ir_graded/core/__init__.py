"""Array code that the measures build on: segments, spans, ranks, judged documents retrieved, and views.

This package imports NumPy and the errors only. It knows nothing of files, data frames or ir-measures.
"""
