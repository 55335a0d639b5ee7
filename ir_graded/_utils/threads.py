"""Work in threads, with ordered results and a bounded queue."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_threads(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Yield the results of ``work`` in the order of the items; few items are read ahead.

    An error of ``work`` or of the items is raised in place of its result, after running work has finished. An
    interrupt does not wait for running work.
    """
    items = iter(items)
    first = list(islice(items, 2))
    if threads <= 1 or len(first) <= 1:
        yield from map(work, chain(first, items))
        return
    pool = ThreadPoolExecutor(threads)
    waiting: deque[Future[Result]] = deque()
    interrupted = False
    try:
        for item in chain(first, items):
            waiting.append(pool.submit(work, item))
            # Queue some results, so that the threads have work while the caller uses one.
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except KeyboardInterrupt:
        interrupted = True
        raise
    finally:
        pool.shutdown(wait=not interrupted, cancel_futures=True)
