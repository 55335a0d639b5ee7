"""Compare discriminative power with a loop over the pairs in NumPy: times, ratio and peak memory.

    pip install --group benchmarks
    python benchmarks/meta_power.py [--values 5]

The workloads are 129 systems x 50 topics beside the loop, and 500 systems x 250 topics (124,750 pairs) alone,
both with 1,000 replicates. pyperf runs each in a separate process, and ratios compare medians. Memory is the
growth of the peak beyond that of a process that computes a tiny matrix.
"""

from __future__ import annotations

import pyperf
from peers import pair_by_pair
from timing import peak_mib
from workloads import score_matrix

from ir_graded.meta.significance import discriminative_power


def main() -> None:
    runner = pyperf.Runner(processes=1, warmups=1, values=5, loops=1)
    small = score_matrix(50, 129)
    tiny = runner.bench_func("3 systems x 5 topics", discriminative_power, score_matrix(5, 3))
    ours = runner.bench_func("129 systems x 50 topics", discriminative_power, small)
    loop = runner.bench_func("129 systems x 50 topics, pair by pair", pair_by_pair, small)
    large = runner.bench_func("500 systems x 250 topics", discriminative_power, score_matrix(250, 500))
    if not runner.args.worker:
        print(f"The loop over the pairs takes {loop.median() / ours.median():.1f} times as long.")
        print(f"Medians: {ours.median() * 1000:.1f} ms, {large.median():.2f} s")
        print(f"Memory of 500 systems x 250 topics: {peak_mib(large) - peak_mib(tiny):.0f} MiB")
        print(f"Power: {discriminative_power(small).power:.4f}, pair by pair {pair_by_pair(small):.4f}")


if __name__ == "__main__":
    main()
