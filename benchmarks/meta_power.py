"""Discriminative power beside a per-pair numpy loop: times, ratio and peak memory of one run.

    python benchmarks/meta_power.py [--repeat 5]

Workloads: 129 systems x 50 topics beside the loop, and 500 systems x 250 topics (124,750 pairs) alone,
both with 1,000 replicates. Every figure is the median of the repetitions, peers in turn after an
uncounted first round; memory is the growth of a fresh process's peak.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np

from ir_graded.meta.discriminative import discriminative_power

REPLICATES = 1000
_KIB_A_UNIT = 1 / 1024 if sys.platform == "darwin" else 1


def collection(topics: int, systems: int) -> np.ndarray:
    """Scores in [0, 1]: topics differ more than systems do."""
    rng = np.random.default_rng(1)
    scores = rng.normal(0.4, 0.25, (topics, 1)) + rng.normal(0, 0.1, (topics, systems))
    return np.clip(scores + rng.normal(0, 0.03, systems), 0, 1)


def pair_by_pair(scores: np.ndarray) -> float:
    """The studentised bootstrap, one pair at a time."""
    topics, systems = scores.shape
    drawn = np.random.default_rng(0).integers(0, topics, (REPLICATES, topics))
    significant = 0
    for i in range(systems):
        for j in range(i + 1, systems):
            z = scores[:, i] - scores[:, j]
            t = z.mean() / (z.std(ddof=1) / np.sqrt(topics))
            w = (z - z.mean())[drawn]
            replicates = w.mean(axis=1) / (w.std(axis=1, ddof=1) / np.sqrt(topics))
            significant += np.mean(np.abs(replicates) >= np.abs(t)) < 0.05  # noqa: PLR2004  # alpha
    return significant / (systems * (systems - 1) / 2)


def in_turn(repeat: int, **calls: Callable[[], object]) -> dict[str, tuple[float, float]]:
    """Median seconds of each call, and of the processors' time that it took."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for round_number in range(repeat + 1):
        for name, call in calls.items():
            begin, used = time.perf_counter(), time.process_time()
            call()
            if round_number:
                times[name].append((time.perf_counter() - begin, time.process_time() - used))
    return {
        name: (statistics.median(wall for wall, _ in values), statistics.median(cpu for _, cpu in values))
        for name, values in times.items()
    }


def report(title: str, times: dict[str, tuple[float, float]]) -> None:
    """A line per peer with its ratios to ours."""
    wall, cpu = times["ir_graded"]
    print(f"{title}\n  {'':<14} {'elapsed':>10}  ratio   {'processors':>10}  ratio")
    for name, (seconds, used) in times.items():
        print(f"  {name:<14} {seconds:8.3f} s {seconds / wall:6.1f}   {used:8.3f} s {used / cpu:6.1f}")


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB_A_UNIT / 1024


def memory() -> None:
    """Peak memory of the large workload beyond that of a process which has computed a tiny one."""
    scores = collection(250, 500)
    discriminative_power(scores[:5, :3], n_resamples=10)
    begin = peak_mib()
    discriminative_power(scores, n_resamples=REPLICATES)
    print(f"{peak_mib() - begin:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        memory()
        return
    print(f"Python {platform.python_version()}, numpy {version('numpy')}, {os.cpu_count()} processors")
    # First: a process starts with the peak of the one that starts it.
    peak = subprocess.run(
        [sys.executable, __file__, "--memory"], check=True, capture_output=True, text=True
    ).stdout.strip()
    small, large = collection(50, 129), collection(250, 500)
    ours, loop = discriminative_power(small).power, pair_by_pair(small)
    print(f"power: {ours:.4f}, pair by pair {loop:.4f}")
    beside = in_turn(
        options.repeat,
        ir_graded=lambda: discriminative_power(small, n_resamples=REPLICATES),
        pair_by_pair=lambda: pair_by_pair(small),
    )
    report("129 systems x 50 topics", beside)
    alone = in_turn(options.repeat, ir_graded=lambda: discriminative_power(large, n_resamples=REPLICATES))
    report("500 systems x 250 topics", alone)
    print(f"  peak memory beyond the start: {peak} MiB")


if __name__ == "__main__":
    main()
