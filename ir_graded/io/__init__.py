"""Reading of qrels and runs of any form as tables: files, frames, named tuples and datasets.

Only this package depends on file formats, compressions and table libraries. Nothing is ranked or scored here.
"""
