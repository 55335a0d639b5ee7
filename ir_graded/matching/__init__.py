"""Matching of qrels and runs: find the judged documents that a run retrieved, with their ranks.

Input are tables and dicts from ``io``; results are arrays of ``core``. Nothing here depends on measures.
"""
