"""Qrels and runs of any form become tables: files, frames, named tuples and datasets.

Formats, compressions and table libraries are known here only; nothing is ranked or scored.
"""
