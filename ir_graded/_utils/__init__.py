"""General tools: threads, progress bars, optional libraries, atomic files and the base of results.

The guard of pytrec_eval, which only one thread may enter at a time, is also here.
"""
