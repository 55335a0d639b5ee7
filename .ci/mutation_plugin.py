"""Loaded by pytest for mutation testing: a few quick tests of many kinds, no search for small examples."""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterable
from functools import _lru_cache_wrapper
from pathlib import Path
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
#: The settings of tests with random examples.
OWN: dict[Callable, settings] = {}
#: Folders of tests that most measures meet.
OF_ALL_MEASURES = ("contracts", "reference")
#: Seconds of the processor that each test takes without a mutant, where that is known.
SECONDS_OF: dict[str, float] = {}
#: The functions of the package that keep results, as soon as all tests are loaded.
CACHES: list[_lru_cache_wrapper] = []
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


def files_of(mutant: str) -> list[Path]:
    """Return the tests of the module of a mutant."""
    import where  # beside the tests, where pytest finds it only after it has loaded this

    module = mutant.partition(".x")[0].split(".")[1:]
    return where.places_of(where.PACKAGE.joinpath(*module).with_suffix(".py")) if module else []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A module's own tests go first, then those of their folders and of all measures, then all files in turn.

    Of every test, the first parameters go first, and of those the quickest, so that many have a turn.
    """
    own = files_of(os.environ.get("MUTANT_UNDER_TEST", ""))
    near = {*(file.parent.name for file in own), *OF_ALL_MEASURES}
    seen, of_file = Counter(), Counter()
    order = {}
    for item in items:
        item.near = item.path.parent.name in near
        drawn = hasattr(item.function, "hypothesis")
        places = (item.path not in own, not item.near, seen[item.function])
        order[item] = (*places, SECONDS_OF.get(item.nodeid, 0), of_file[item.path], drawn)
        of_file[item.path] += not seen[item.function]
        seen[item.function] += 1
    items.sort(key=order.__getitem__)
    if os.environ.get("MUTANT_UNDER_TEST") not in ("stats", "list_all_tests"):
        del items[TESTS:]
    limit_examples(seen, EXAMPLES)


def limit_examples(functions: Iterable[Callable], most: int) -> None:
    """Let tests with random examples run at most so many of them."""
    for function in functions:
        if hasattr(function, "hypothesis"):
            own = OWN.setdefault(function, getattr(function, SETTINGS) or settings())
            setattr(function, SETTINGS, settings(own, max_examples=min(most, own.max_examples)))


def clear_caches() -> None:
    """Forget what the package has computed, also before its objects were frozen."""
    for cached in CACHES or package_caches():
        cached.cache_clear()


def package_caches() -> list[_lru_cache_wrapper]:
    """Return the functions of the package that keep results."""
    found = [one for one in gc.get_objects() if isinstance(one, _lru_cache_wrapper)]
    return [one for one in found if str(getattr(one, "__module__", "")).startswith("ir_graded")]


def pytest_sessionstart() -> None:
    """Forget what was computed before the fork, and end a mutant that hangs.

    mutmut itself may signal another process that has its number by then.
    """
    settings.load_profile("mutation")  # not before: the tests have loaded their own
    clear_caches()
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
    CACHES.extend(package_caches())  # frozen objects are not found
    gc.collect()
    gc.freeze()
