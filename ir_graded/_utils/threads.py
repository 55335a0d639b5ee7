"""Work in threads, with ordered results and a bounded queue."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from ir_graded.errors import GradedError

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
    _keep_freed_memory()
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


#: Bytes: larger than most arrays of a thread, small beside the memory of a process.
_BLOCK = 31 << 20


@cache
def _keep_freed_memory() -> None:
    """Let glibc keep the freed memory of threads for their next arrays.

    By default it returns memory to the system, and clears fresh memory for the next array, until a block as
    large as these arrays has been freed. The block here is never filled, so it costs no memory.
    """
    import numpy as np

    np.empty(_BLOCK, dtype=np.uint8)


_THREADS = Path("/proc/self/task")
#: This process and its ancestors that had threads of Polars when they forked.
_forked_with_threads: set[int] = set()


def check_fork() -> None:
    """Raise GradedError if the threads of Polars are in a process from which this one was forked."""
    if _forked_with_threads - {os.getpid()}:
        raise GradedError(
            "this process was forked after Polars had started its threads, which a fork leaves behind: only "
            "dicts of dicts can be scored here; start processes with multiprocessing.get_context('spawn') or "
            "'forkserver'"
        )


def _before_fork() -> None:
    if "polars" in sys.modules and (not _THREADS.exists() or any(map(_is_of_pool, _THREADS.glob("*/comm")))):
        _forked_with_threads.add(os.getpid())


def _is_of_pool(name: Path) -> bool:
    with suppress(OSError):  # the thread may have ended
        return name.read_bytes() == b"polars-0\n"  # importing Polars starts others, which no work waits for
    return False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)


def shows_progress(progress: bool | None) -> bool:
    """Return whether a bar will be shown: with None on a terminal only."""
    if progress is None and sys.stderr is not None:
        return sys.stderr.isatty()
    return bool(progress)


def progress_bar(items: Iterable[Any] | None = None, *, progress: bool | None, **options: Any) -> Any:
    """Return a tqdm bar over ``items`` that disappears when it is done."""
    from tqdm import tqdm

    # With None, tqdm shows a bar on a terminal only.
    disable = None if progress is None else not progress
    return tqdm(items, disable=True if sys.stderr is None else disable, leave=False, **options)
