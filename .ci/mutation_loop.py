"""Loaded by pytest for a sample of mutants: a process collects the tests once; each mutant is a fork of it.

The tests first run without a mutant, and note which functions they call. Then each mutant meets the tests
that call its function, in the order of the plugin, until one fails or its time is over.
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

import pytest
from mutmut.configuration import config
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state
from mutmut.utils.format_utils import mangled_name_from_mutant_name

from ir_graded._utils.threads import check_fork

WORKERS = int(os.environ.get("MUTATION_WORKERS", "2"))
SURVIVED, KILLED, NO_TESTS = 0, 1, 33
#: Seconds of the processor for one test, of which some need 40 without a mutant, and for all tests of
#: a mutant, which then has survived.
OF_TEST, OF_MUTANT = 120, 30
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
    called, broken = defaultdict(list), []
    config()  # read here, because tests leave the folder of pyproject.toml
    set_mutant_under_test("stats")
    for item, following in zip(items, [*items[1:], None], strict=True):
        state()._stats.clear()  # noqa: SLF001
        if failed(item, following):
            broken.append(item.nodeid)
        else:
            for function in state()._stats:  # noqa: SLF001
                called[function].append(item.nodeid)
    place.write_text(json.dumps([called, broken]), encoding="utf-8")


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


def test_mutant(name: str, items: list[pytest.Item]) -> int:
    """Run the tests of a mutant until one fails, and note it."""
    set_mutant_under_test(name)
    import mutation_plugin  # loaded by pytest before

    mutation_plugin.pytest_sessionstart()
    chosen = [*items]
    mutation_plugin.pytest_collection_modifyitems(chosen)
    code, killer = (SURVIVED, None) if items else (NO_TESTS, None)
    for item, following in zip(chosen, [*chosen[1:], None], strict=False):  # there may be none
        signal.setitimer(signal.ITIMER_PROF, OF_TEST)
        signal.alarm(10 * OF_TEST)  # a test may wait for ever
        if failed(item, following):
            code, killer = KILLED, item.nodeid
            break
        if time.process_time() > OF_MUTANT:
            break
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
        called, broken = defaultdict(list), []
        for part in parts:
            more, bad = json.loads(part.read_text())
            broken += bad
            for function, tests in more.items():
                called[function] += tests
        CALLS.write_text(json.dumps([called, broken]), encoding="utf-8")
    called, broken = json.loads(CALLS.read_text())
    print(f"{len(items)} tests; without a mutant, these fail: {broken}", file=sys.__stderr__, flush=True)
    by_id = {item.nodeid: item for item in items}
    done = set()
    if FOUND.exists():
        done = {json.loads(line)[0] for line in FOUND.read_text().splitlines()}
    # In random order, so that what an interrupted run has tested is a sample, too.
    names = sorted(mutants.keys() - done, key=lambda name: crc32(name.encode()))

    def work(name: str) -> int:
        tests = called.get(mangled_name_from_mutant_name(name), ())
        return test_mutant(name, [by_id[test] for test in tests if test in by_id])

    codes = dict(zip(names, in_forks(names, work), strict=True))
    for place in set(mutants.values()):
        kept = json.loads(place.read_text())
        kept["exit_code_by_key"] |= {name: codes[name] for name in kept["exit_code_by_key"] if name in codes}
        place.write_text(json.dumps(kept))
    return True
