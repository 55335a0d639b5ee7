"""General tools: threads, progress bars, optional libraries, late imports, atomic files, base of results."""
