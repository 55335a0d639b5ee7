"""Evaluation of runs: ``evaluate``, ``explain``, ``unjudged`` and the provider for ir-measures.

Code that needs qrels, runs and measures belongs here; statistics of scores belong in ``meta``.
"""
