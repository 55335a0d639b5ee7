"""Scores: measures meet qrels and runs. ``evaluate``, ``explain``, ``unjudged`` and ir-measures' provider.

Code that needs qrels, runs and measures at once belongs here; statistics of scores belong in ``meta``.
"""
