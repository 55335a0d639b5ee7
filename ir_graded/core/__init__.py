"""Arrays of numbers, NumPy only: segments and spans, ranks, judged documents retrieved, and views of them.

No room below this one but the errors; nothing here knows a file, a frame, a measure or ir-measures.
"""
