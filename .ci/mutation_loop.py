"""Loaded by pytest for a sample of mutants: a process collects the tests once; each mutant is a fork of it.

The tests first run without a mutant, and note which functions they call. Then each mutant meets the tests
that call its function, until one fails: in the order of the plugin, those of its folders and of all measures,
which are the most likely to notice it; other tests; and the first ones again with all their random examples.
Each of these three parts has a time of its own, which ends before the tests only if many call the function.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections import defaultdict
from pathlib import Path
from zlib import crc32

import mutation_plugin
import pytest
from mutmut.configuration import config
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state
from mutmut.utils.format_utils import mangled_name_from_mutant_name

from ir_graded._utils.threads import check_fork

WORKERS = int(os.environ.get("MUTATION_WORKERS", "2"))
SURVIVED, KILLED, NO_TESTS = 0, 1, 33
#: Seconds of the processor for one test, of which some need 40 without a mutant.
OF_TEST = 120
#: Seconds for tests in the folders of a module and of all measures, for other tests, and for the first ones
#: with all their random examples. A mutant that they do not notice has survived.
OF_NEAR, OF_FAR, OF_EXAMPLES = 90, 30, 30
CALLS, FOUND = Path("calls.json"), Path("found.jsonl")


class Reports:
    """Plugin that notes whether a test failed."""

    failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed


REPORTS = Reports()


def failed(item: pytest.Item, following: pytest.Item | None) -> bool:
    """Run one test, with its filters of warnings."""
    REPORTS.failed = False
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    return REPORTS.failed


def note_calls(items: list[pytest.Item], place: Path) -> None:
    """Run tests without a mutant, and write which functions each of those that pass calls."""
    called, broken, seconds = defaultdict(list), [], {}
    config()  # read here, because tests leave the folder of pyproject.toml
    set_mutant_under_test("stats")
    for item, following in zip(items, [*items[1:], None], strict=True):
        state()._stats.clear()  # noqa: SLF001
        mutation_plugin.clear_caches()  # a test calls also what an earlier one has had computed
        start = time.process_time()
        if failed(item, following):
            broken.append(item.nodeid)
        else:
            for function in state()._stats:  # noqa: SLF001
                called[function].append(item.nodeid)
        seconds[item.nodeid] = round(time.process_time() - start, 3)
    place.write_text(json.dumps([called, broken, seconds]), encoding="utf-8")


def in_forks(tasks: list, work) -> list[int]:  # noqa: ANN001
    """Do each task in a fork, two at a time, and return their exit codes."""
    codes, running = {}, {}
    for number, task in enumerate([*tasks, *[None] * WORKERS]):
        while len(running) >= WORKERS or (task is None and running):
            child, status = os.wait()
            codes[running.pop(child)] = os.waitstatus_to_exitcode(status)
        if task is not None:
            child = os.fork()
            if not child:
                code = 2
                try:
                    code = work(task) or 0
                finally:
                    os._exit(code)
            running[child] = number
    return [codes[number] for number in range(len(tasks))]


def first_failed(items: list[pytest.Item], seconds: int) -> str | None:
    """Run tests until one fails, and return its name, or until they have had their time."""
    end = time.process_time() + seconds
    for item, following in zip(items, [*items[1:], None], strict=False):  # there may be none
        signal.setitimer(signal.ITIMER_PROF, OF_TEST)
        signal.alarm(10 * OF_TEST)  # a test may wait for ever
        if failed(item, following):
            return item.nodeid
        if time.process_time() > end:
            break
    return None


def test_mutant(name: str, items: list[pytest.Item]) -> int:
    """Run the tests of a mutant until one fails, and note it."""
    set_mutant_under_test(name)
    mutation_plugin.pytest_sessionstart()
    chosen = [*items]
    mutation_plugin.pytest_collection_modifyitems(chosen)
    near = [item for item in chosen if item.near]
    far = [item for item in chosen if not item.near]
    killer = first_failed(near, OF_NEAR) or first_failed(far, OF_FAR)
    if killer is None:
        drawn = [item for item in near if hasattr(item.function, "hypothesis")]
        mutation_plugin.limit_examples({item.function for item in drawn}, sys.maxsize)
        killer = first_failed(drawn, OF_EXAMPLES)
    code = KILLED if killer else SURVIVED if items else NO_TESTS
    with FOUND.open("a", encoding="utf-8") as file:
        file.write(json.dumps([name, code, killer, len(items), round(time.process_time(), 1)]) + "\n")
    return code


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Note what the tests call, unless that is known, and test all mutants."""
    session.config.pluginmanager.register(REPORTS)
    items = sorted(session.items, key=lambda item: (str(item.path), item.location[1] or 0))
    mutants = {}
    for place in sorted(Path("ir_graded").rglob("*.meta")):
        mutants |= dict.fromkeys(json.loads(place.read_text())["exit_code_by_key"], place)
    if not CALLS.exists():
        if in_forks([0], lambda _: check_fork()) != [0]:
            raise pytest.UsageError("collecting the tests started threads of Polars, which forks would await")
        parts = [Path(f"calls{number}.json") for number in range(WORKERS)]
        share = -(-len(items) // WORKERS)
        in_forks(
            [*range(WORKERS)],
            lambda number: note_calls(items[number * share : (number + 1) * share], parts[number]),
        )
        called, broken, seconds = defaultdict(list), [], {}
        for part in parts:
            more, bad, times = json.loads(part.read_text())
            broken += bad
            seconds |= times
            for function, tests in more.items():
                called[function] += tests
        CALLS.write_text(json.dumps([called, broken, seconds]), encoding="utf-8")
    called, broken, seconds = json.loads(CALLS.read_text())
    print(f"{len(items)} tests; without a mutant, these fail: {broken}", file=sys.__stderr__, flush=True)
    mutation_plugin.SECONDS_OF.update(seconds)
    by_id = {item.nodeid: item for item in items}
    done = {}
    if FOUND.exists():
        done = {name: code for name, code, *_ in map(json.loads, FOUND.read_text().splitlines())}
    # In random order, so that what an interrupted run has tested is a sample, too.
    names = sorted(mutants.keys() - done, key=lambda name: crc32(name.encode()))

    def work(name: str) -> int:
        tests = called.get(mangled_name_from_mutant_name(name), ())
        return test_mutant(name, [by_id[test] for test in tests if test in by_id])

    codes = done | dict(zip(names, in_forks(names, work), strict=True))
    for place in set(mutants.values()):
        kept = json.loads(place.read_text())
        kept["exit_code_by_key"] |= {name: codes[name] for name in kept["exit_code_by_key"] if name in codes}
        place.write_text(json.dumps(kept))
    return True
