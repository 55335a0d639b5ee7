"""General tools: threads, progress bars, optional libraries, atomic files and the base of results."""
