"""Medians of calls in turn; time and peak memory of whole processes.

pyperf, pytest-benchmark and asv measure one call after the other (asv takes turns between processes only). On
a busy machine, a ratio needs both calls in each round. If each workload has a separate process, pyperf
measures it: ``meta_power.py``, ``passages.py``.
"""

from __future__ import annotations

import gc
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SPAWNED = Path(__file__).with_name("spawned.py")


@dataclass(frozen=True)
class Figure:
    """The cost of a call.

    Attributes:
        processors: time summed over all processors.
        processors: time of all processors together.
        peak: peak memory in MiB, if the call was a separate process.
    """

    seconds: float
    processors: float
    peak: float | None = None

    def times(self, factor: float) -> Figure:
        """Return the cost of the work done so many times."""
        return Figure(self.seconds * factor, self.processors * factor, self.peak)


def timed(call: Callable[[], object]) -> Figure:
    """Time a call in this process; a call that measures itself returns its cost."""
    begin, used = time.perf_counter(), time.process_time()
    result = call()
    figure = Figure(time.perf_counter() - begin, time.process_time() - used)
    return result if isinstance(result, Figure) else figure


def in_turn(repeat: int, calls: Mapping[str, Callable[[], object]]) -> dict[str, Figure]:
    """Return the median of each call; calls take turns, and the first round does not count."""
    figures: dict[str, list[Figure]] = {name: [] for name in calls}
    for round_number in range(repeat + 1):
        for name, call in calls.items():
            gc.collect()
            figure = timed(call)
            if round_number:
                figures[name].append(figure)
    return {name: _median(found) for name, found in figures.items()}


def _median(figures: Sequence[Figure]) -> Figure:
    peaks = [figure.peak for figure in figures if figure.peak is not None]
    return Figure(
        statistics.median(figure.seconds for figure in figures),
        statistics.median(figure.processors for figure in figures),
        statistics.median(peaks) if peaks else None,
    )


def peak_mib(benchmark: Any) -> float:
    """Return the peak memory of the process in which pyperf ran a benchmark."""
    return float(benchmark.get_metadata()["mem_max_rss"]) / (1 << 20)


def process(*commands: Sequence[str]) -> Figure:
    """Run commands one after the other, each a whole process: the sum of their times, the highest peak."""
    with tempfile.NamedTemporaryFile() as output:
        figures = [_spawned(command, output.name) for command in commands]
    return Figure(
        sum(figure.seconds for figure in figures),
        sum(figure.processors for figure in figures),
        max(figure.peak or 0 for figure in figures),
    )


def output_of(command: Sequence[str]) -> str:
    """Return the output of a command."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _spawned(command: Sequence[str], output: str) -> Figure:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(_SPAWNED), output, *command], check=True, stdout=subprocess.PIPE
    )
    status, *numbers = json.loads(done.stdout)
    if status:
        raise RuntimeError(f"{Path(command[0]).name} {command[1]} ended with status {status}")
    return Figure(*numbers)
