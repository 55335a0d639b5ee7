"""Scores: measures meet qrels and runs. ``evaluate``, ``explain``, ``unjudged`` and ir-measures' provider.

What needs qrels, runs and measures at once stands here; statistics of scores are in ``meta``.
"""
