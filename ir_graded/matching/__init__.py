"""Qrels and a run become the judged documents that the run retrieved, with their ranks.

Tables and dicts come from ``io``; the results are arrays of ``core``. No measure is known here.
"""
