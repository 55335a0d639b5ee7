"""Qrels and runs of any form become tables: files, frames, named tuples and datasets.

What knows a format, a compression or a library of tables stands here; nothing is ranked or scored.
"""
