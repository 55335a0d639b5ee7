"""Questions about runs and judgments beyond scores: ties, unjudged documents, judges, overlap, explanations.

One module per question, which imports no other of them.
"""
