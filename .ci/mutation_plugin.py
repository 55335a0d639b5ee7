"""Loaded by pytest for mutation testing: a few quick tests of many kinds, no search for small examples."""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter
from functools import _lru_cache_wrapper
from threading import RLock

import pytest
from hypothesis import HealthCheck, Phase, settings
from mutmut.mutation import trampoline
from tqdm import tqdm

from ir_graded._utils.threads import check_fork
from ir_graded.errors import GradedError

#: A mutant meets at most so many tests, and at most so many examples of each.
TESTS = int(os.environ.get("MUTATION_TESTS", "60"))
EXAMPLES = int(os.environ.get("MUTATION_EXAMPLES", "5"))

#: A mutant has so many seconds, and this is what mutmut takes for a timeout.
SECONDS = int(os.environ.get("MUTATION_SECONDS", "40"))
TIMED_OUT = 36
#: What mutmut calls suspicious: neither killed nor survived.
UNFIT = 35
#: Where hypothesis keeps what a test says with ``@settings``.
SETTINGS = "_hypothesis_internal_use_settings"

# Its frames count as those of the package, so that warnings come from the line of the caller.
vars(trampoline)["__name__"] = "ir_graded.trampoline"

settings.register_profile(
    "mutation",
    database=None,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A module's own tests go first, then those of its package, then all files in turn.

    Of every test, the first parameters go first.
    """
    package, _, module = os.environ.get("MUTANT_UNDER_TEST", "").partition(".x")[0].rpartition(".")
    package = package.rpartition(".")[2]
    seen, of_file = Counter(), Counter()
    order = {}
    for item in items:
        own = item.path.stem.startswith(f"test_{module}")
        near = package.startswith(item.path.parent.name)  # those of reporting lie in tests/report
        drawn = hasattr(item.function, "hypothesis")
        order[item] = (not own, not near, seen[item.function], of_file[item.path], drawn)
        of_file[item.path] += not seen[item.function]
        seen[item.function] += 1
    items.sort(key=order.__getitem__)
    if os.environ.get("MUTANT_UNDER_TEST") not in ("stats", "list_all_tests"):
        del items[TESTS:]
    for function in seen:
        if hasattr(function, "hypothesis"):
            own = getattr(function, SETTINGS) or settings()
            setattr(function, SETTINGS, settings(own, max_examples=min(EXAMPLES, own.max_examples)))


def pytest_sessionstart() -> None:
    """Forget what was computed before the fork, and end a mutant that hangs.

    mutmut itself may signal another process that has its number by then.
    """
    settings.load_profile("mutation")  # not before: the tests have loaded their own
    for cached in [found for found in gc.get_objects() if isinstance(found, _lru_cache_wrapper)]:
        if str(getattr(cached, "__module__", "")).startswith("ir_graded"):
            cached.cache_clear()
    if "__mutmut_" in os.environ.get("MUTANT_UNDER_TEST", ""):
        try:
            check_fork()
        except GradedError:  # every test of a table would fail, whatever the mutant
            os._exit(UNFIT)
        # The one that all processes share stays taken where a mutant ended in the middle.
        tqdm.set_lock(RLock())
        for number in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(number, lambda *_: os._exit(TIMED_OUT))
        # Of the processor: that the machine has other work does not count. But a mutant may wait for ever.
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(5 * SECONDS)


def pytest_collection_finish() -> None:
    """Keep the garbage collector away from loaded objects: processes of mutants then share them unchanged."""
    gc.collect()
    gc.freeze()
