"""Tools that know nothing of retrieval: threads, progress, optional libraries, files written whole.

And the guard around pytrec_eval, which only one thread may enter at a time.
"""
