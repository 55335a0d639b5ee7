"""Fail if the package has become slower in comparison with peers: small workloads, for CI.

    python benchmarks/guard.py              # exits with 1 if a call has become 1.3 times as slow
    python benchmarks/guard.py --record     # writes guard.json: on another machine, with other libraries
    python benchmarks/guard.py --slow 1.5   # makes our calls slower, to test this check: all must be missed
    python benchmarks/guard.py --only Spark # the comparisons with this word in their names
    python benchmarks/guard.py --base main  # measures what misses its limit with this commit, too

Our call and the call of a peer take turns, and each turn gives a ratio of their costs. A pair passes if the
median ratio is at most 1.3 times that of ``guard.json``. Turns end when those on one side of the limit lead
by five, so a pair near its limit takes more turns. ``guard.json`` holds the largest of the ratios of three
machines, since the peers' share differs by up to 1.9 times between processors. On yet another machine, a pair
beyond its limit also passes if its ratio is at most 1.15 times that of the code of an earlier commit.

The cost is processor time, in this process and its children: on a busy machine, the elapsed time of a call
says little. A call that waits longer or uses fewer threads is therefore not noticed.
"""

from __future__ import annotations

import os

# Before the libraries are loaded: their idle threads take processor time.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}

import argparse
import ctypes
import gc
import json
import math
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import peers
import spark_peer
from workloads import Collection, Store, passages, score_matrix

import ir_graded
from ir_graded._utils.threads import processors
from ir_graded.meta.significance import discriminative_power
from ir_graded.reporting import report

ROOT = Path(__file__).parents[1]
RECORDED = Path(__file__).with_name("guard.json")
LIMIT = 1.3
#: The same, beside an earlier commit on the same machine.
LIMIT_BESIDE = 1.15
#: The turns end with such a lead of one side, or after so many.
LEAD, MOST_TURNS = 5, 35
#: Of one recorded ratio; each process has its own.
PROCESSES, TURNS = 3, 7
#: Measured where PySpark and Java are.
SPARK = "Spark: evaluate and mean beside a plain job on equal tables"
#: A turn repeats a call until it takes so many seconds.
SECONDS = 0.2

Call = Callable[[], object]


def processor_seconds() -> float:
    """Return the processor time of this process and its ended children."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def keep_freed_memory() -> None:
    """Keep freed memory in this process; glibc else returns it by rules that depend on earlier calls.

    The cost of a call would depend on the pairs measured before: fresh memory has to be cleared.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(-3, 32 << 20)  # M_MMAP_THRESHOLD, its maximum
        set_option(-1, (1 << 31) - 1)  # M_TRIM_THRESHOLD


@dataclass(frozen=True)
class Pair:
    """A call of the package and the call of a peer that it is compared with.

    Attributes:
        name: the name of the comparison.
        ours: our call; it computes ten measures where there are measures.
        peer: the peer's call.
        clock: the processor time so far.
    """

    name: str
    ours: Call
    peer: Call
    clock: Callable[[], float] = processor_seconds

    def slower(self, factor: float) -> Pair:
        """Return the pair with our call made so many times as slow."""

        def ours() -> None:
            begin = self.clock()
            self.ours()
            end = time.process_time() + (factor - 1) * (self.clock() - begin)
            while time.process_time() < end:
                pass

        return replace(self, ours=ours)

    def ratios(self) -> Iterator[float]:
        """Yield the ratio of our cost to the peer's, turn by turn."""
        calls = self.ours, self.peer
        for call in calls:
            call()  # the first one reads files and fills caches
        gc.collect()
        gc.freeze()  # collections in the calls would visit the data of all pairs
        times = [math.ceil(SECONDS / max(self._cost(call), 1e-4)) for call in calls]
        while True:
            ours, peer = (self._cost(call, n) / n for call, n in zip(calls, times, strict=True))
            yield ours / peer

    def _cost(self, call: Call, times: int = 1) -> float:
        gc.collect()
        begin = self.clock()
        for _ in range(times):
            call()
        return self.clock() - begin

    def passes(self, recorded: float) -> bool:
        """Return whether the median ratio is within the limit, and print it."""
        limit, found, lead = LIMIT * recorded, list[float](), 0
        for ratio in self.ratios():
            found.append(ratio)
            lead += 1 if ratio <= limit else -1
            if abs(lead) == LEAD or len(found) == MOST_TURNS:
                break
        median = statistics.median(found)
        print(
            f"{self.name}: {median:.4g}, {median / recorded:.2f} of the recorded {recorded:.4g}, "
            f"{len(found)} turns{'' if median <= limit else ': MISSED'}",
            flush=True,
        )
        return median <= limit


def pairs(folder: Path) -> Iterator[Pair]:
    """Yield the comparisons."""
    few = Collection.of(300, 1_000, (1, 2), 1, seed=1)
    many = Collection.of(100, 1_000, (1_200, 1_200), 70, seed=2)
    store = Store(folder, 1)
    qrels, path = store.files("few", few)
    submitted_qrels, submitted = store.submissions(6, topics=30)
    yield Pair(
        "start: --version beside imports of NumPy and Polars",
        lambda: _run("-m", "ir_graded", "--version"),
        lambda: _run("-c", "import numpy, polars"),
    )
    yield Pair(
        "whole process: evaluate beside ir_measures on a file of 30,000 lines",
        lambda: _run(*peers.ir_graded_command(submitted_qrels, submitted[1])[1:]),
        lambda: _run(*peers.ir_measures_command(submitted_qrels, submitted[1])[1:]),
    )
    few_run, many_run, arrow, scores = few.dicts(), many.dicts(), few.pandas(), score_matrix(50, 40)
    objects = arrow.astype({"query_id": object, "doc_id": object})
    some = Collection.of(30, 1_000, (1_200, 1_200), 70, seed=2)
    intents, some_run = some.by_intent(5), some.dicts()
    highlighted, rows = passages(20)
    few_ours, many_ours = peers.ir_graded_evaluator(few.qrels), peers.ir_graded_evaluator(many.qrels)
    inst = peers.ir_graded_evaluator(
        many.qrels, ["INST(max_rel=3)", "BPM(max_rel=3)@100", "NERR8(max_rel=3)@100", "Compat"]
    )
    other_run = few.shuffled(0.5)[1]
    few_peer, many_peer = peers.pytrec_eval_dicts(few.qrels), peers.pytrec_eval_dicts(many.qrels)
    yield Pair(
        "six runs as submitted to a track, beside pytrec_eval on one",
        lambda: ir_graded.evaluate(peers.TEN, submitted_qrels, submitted, progress=False),
        peers.pytrec_eval_files(submitted_qrels, submitted[:1]),
    )
    for ties in (0.05, 0.5):
        yield _shuffled(many, ties)
    yield _tied(few, 0.05, "few")
    yield _tied(many, 0.5, "many")
    yield Pair(
        "intervals of 20 samples beside one evaluation",
        lambda: ir_graded.score_intervals(peers.UNJUDGED, submitted_qrels, submitted[0], n_samples=20),
        lambda: ir_graded.evaluate(peers.UNJUDGED, submitted_qrels, submitted[0]),
    )
    yield Pair(
        "compare: a baseline with two runs, beside their evaluation by pytrec_eval",
        lambda: ir_graded.compare_runs(peers.TEN, submitted_qrels, submitted[0], submitted[1:3]),
        peers.pytrec_eval_files(submitted_qrels, submitted[:3]),
    )
    yield Pair(
        "report: two runs, beside pictures by matplotlib alone",
        lambda: report(["nDCG@10"], submitted_qrels, submitted[:2], folder / "report.html"),
        lambda: peers.matplotlib_pictures(2),
    )
    yield Pair(
        "dict of dicts, few judged, beside pytrec_eval",
        lambda: few_ours.calc_aggregate(few_run),
        lambda: few_peer(few_run),
    )
    yield Pair(
        "dict of dicts, many judged, beside pytrec_eval",
        lambda: many_ours.calc_aggregate(many_run),
        lambda: many_peer(many_run),
    )
    yield Pair(
        "D#-nDCG@10 beside nDCG@10, five intents",
        lambda: ir_graded.evaluate("D#-nDCG@10", intents, some_run),
        lambda: ir_graded.evaluate("nDCG@10", intents, some_run),
    )
    yield Pair(
        "alpha_nDCG@20, ERR_IA@20 and NRBP beside nDCG@10, five intents",
        lambda: ir_graded.evaluate("alpha_nDCG@20 ERR_IA@20 NRBP", intents, some_run),
        lambda: ir_graded.evaluate("nDCG@10", intents, some_run),
    )
    yield Pair(
        "INST, BPM, NERR8 and Compat beside pytrec_eval, many judged",
        lambda: inst.calc_aggregate(many_run),
        lambda: many_peer(many_run),
    )
    yield Pair(
        "rank-biased overlap of two runs beside evaluations of both",
        lambda: ir_graded.rbo(few_run, other_run),
        lambda: [few_ours.calc_aggregate(run) for run in (few_run, other_run)],
    )
    yield Pair(
        "four measures of characters beside MAgP",
        lambda: ir_graded.evaluate(["CharP@10", "CharR@10", "IoU@10", "AiP"], highlighted, rows),
        lambda: ir_graded.evaluate("MAgP(beta=0.25)", highlighted, rows),
    )
    yield Pair(
        "file beside Polars reading three columns",
        lambda: ir_graded.evaluate(peers.TEN, qrels, path),
        lambda: peers.polars_three_columns(path),
    )
    yield Pair(
        "DataFrame with Arrow strings beside Polars reading a file of it",
        lambda: few_ours.calc_aggregate(arrow),
        lambda: peers.polars_three_columns(path),
    )
    yield Pair(
        "DataFrame with object columns beside Polars reading a file of it",
        lambda: few_ours.calc_aggregate(objects),
        lambda: peers.polars_three_columns(path),
    )
    yield Pair(
        "discriminative power of 40 systems beside a loop over the pairs",
        lambda: discriminative_power(scores),
        lambda: peers.pair_by_pair(scores),
    )


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)


def _shuffled(collection: Collection, ties: float) -> Pair:
    qrels, run = collection.shuffled(ties)
    ours, peer = peers.ir_graded_evaluator(qrels), peers.pytrec_eval_dicts(qrels)
    return Pair(
        f"dict of dicts in random order, {ties:.0%} tied, beside pytrec_eval",
        lambda: ours.calc_aggregate(run),
        lambda: peer(run),
    )


def _tied(collection: Collection, ties: float, judged: str) -> Pair:
    """Compare means over the orders of tied documents with the order by id."""
    qrels, run = collection.shuffled(ties)
    ours, by_id = peers.ir_graded_evaluator(qrels, peers.expected()), peers.ir_graded_evaluator(qrels)
    return Pair(
        f"expected scores, {judged} judged, {ties:.0%} tied, beside scores by doc_id",
        lambda: ours.calc_aggregate(run),
        lambda: by_id.calc_aggregate(run),
    )


def measured(only: str, folder: Path) -> Iterator[Pair]:
    """Yield the comparisons with a word in their names; Spark's only where Spark is."""
    yield from (pair for pair in pairs(folder) if only in pair.name)
    if only not in SPARK:
        return
    if reason := spark_peer.missing():
        print(f"{SPARK}: skipped, because {reason}", flush=True)
        return
    with spark_peer.spark_calls(folder) as (ours, peer):
        yield Pair(SPARK, ours, peer, spark_peer.seconds_of_family)


def ratio_of(commit: str, name: str) -> float:
    """Return the ratio of a pair in a commit on this machine; NaN if the commit does not measure it."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        guard = Path(folder, "benchmarks", "guard.py")
        found = medians(guard, name, os.environ | {"PYTHONPATH": folder})
    return found.get(name, math.nan)


def as_fast_as(commit: str, name: str, slow: float = 1.0) -> bool:
    """Return whether the ratio of a pair is about that of a commit, both measured now, and print them."""
    before, now = ratio_of(commit, name), slow * medians(Path(__file__), name)[name]
    print(f"{name}: {now:.4g} beside {before:.4g} at {commit}, {now / before:.2f} of it", flush=True)
    return now <= LIMIT_BESIDE * before


def medians(guard: Path, only: str, environment: Mapping[str, str] = os.environ) -> dict[str, float]:
    """Return the ratio of each pair, measured in a process of its own."""
    command = [sys.executable, str(guard), "--medians", "--only", only]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    ratios: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return ratios


def record(only: str) -> None:
    """Write the median of the ratios of several processes for each pair."""
    found: dict[str, list[float]] = {}
    for _ in range(PROCESSES):
        for name, ratio in medians(Path(__file__), only).items():
            found.setdefault(name, []).append(ratio)
    ratios = json.loads(RECORDED.read_text(encoding="utf-8")) if only else {}
    for name, several in found.items():
        ratios[name] = float(f"{statistics.median(several):.4g}")
        print(
            f"{name}: {ratios[name]:.4g}, in {PROCESSES} processes {min(several):.4g} to {max(several):.4g}"
        )
    RECORDED.write_text(json.dumps(ratios, indent=2) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write guard.json")
    parser.add_argument("--slow", type=float, default=1.0, help="make our calls so many times as slow")
    parser.add_argument("--only", default="", help="comparisons with this word in their names")
    parser.add_argument("--base", default="", metavar="COMMIT", help="measure what is missed there, too")
    parser.add_argument("--medians", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.record:
        record(options.only)
        return 0
    keep_freed_memory()
    with tempfile.TemporaryDirectory() as name:
        # Processes find compiled modules, as those of users do, even where writing them is forbidden.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(name, "compiled"))
        chosen = (pair.slower(options.slow) for pair in measured(options.only, Path(name)))
        if options.medians:
            print(json.dumps({pair.name: statistics.median(islice(pair.ratios(), TURNS)) for pair in chosen}))
            return 0
        print(f"Python {platform.python_version()}, {processors()} processors", flush=True)
        recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
        passed = {pair.name: pair.passes(recorded[pair.name]) for pair in chosen}
    if not passed:
        parser.error(f"no comparison was measured with --only {options.only!r}")
    missed = [name for name, holds in passed.items() if not holds]
    if options.base:
        missed = [name for name in missed if not as_fast_as(options.base, name, options.slow)]
    for name in missed:
        print(f"Slower than allowed: {name}")
    print(f"{len(missed)} of {len(passed)} comparisons missed")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
