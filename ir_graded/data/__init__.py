"""The sample that is shipped with the package: real runs and qrels with their source in ``SOURCE.txt``.

Only data whose licence permits it is added here, and the module that reads it.
"""
