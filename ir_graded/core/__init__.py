"""Arrays of numbers, NumPy only: segments and spans, ranks, judged documents retrieved, and views of them.

It imports only the errors and NumPy; files, frames, measures and ir-measures stay outside.
"""
