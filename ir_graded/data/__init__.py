"""Sample data shipped with the package: real runs and qrels, with their source in ``SOURCE.txt``.

Only data whose licence permits redistribution may be added.
"""
