"""Fail if the package has become slow compared with a peer: ratios of small workloads, for CI.

    python benchmarks/guard.py

The peers take turns in one process. The ratio of the medians is compared with its limit, which is about half
of the usual ratio. A machine is busy at times, so a limit counts as missed only if every attempt misses it.
The script then exits with 1.
"""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import peers
from timing import in_turn
from workloads import Collection, Store, passages, score_matrix

import ir_graded
from ir_graded._utils.threads import processors
from ir_graded.meta.discriminative import discriminative_power

ROUNDS, ATTEMPTS = 5, 4


@dataclass(frozen=True)
class Pair:
    """A call of the package and the call of a peer that it is compared with.

    Attributes:
        name: the name of the comparison.
        usual: the usual ratio of the peer's time to ours.
        limit: the smallest ratio that passes.
        ours: our call; it computes ten measures where there are measures.
        peer: the peer's call.
    """

    name: str
    usual: float
    limit: float
    ours: Callable[[], object]
    peer: Callable[[], object]

    def ratio(self) -> float:
        """Return the ratio of the peer's time to ours, from the medians of rounds in turn."""
        figures = in_turn(ROUNDS, {"ours": self.ours, "peer": self.peer})
        return figures["peer"].seconds / figures["ours"].seconds

    def passes(self) -> bool:
        """Return whether an attempt reaches the limit, and print the result of each attempt."""
        for attempt in range(1, ATTEMPTS + 1):
            ratio = self.ratio()
            said = f"{self.name}: ratio {ratio:.3g} (usually {self.usual}, limit {self.limit:.3g})"
            if ratio >= self.limit:
                print(said, flush=True)
                return True
            print(f"{said}: MISSED, attempt {attempt} of {ATTEMPTS}", flush=True)
        return False


def pairs(folder: Path) -> list[Pair]:
    """Return the comparisons with their limits."""
    few = Collection.of(1_000, 1_000, (1, 2), 1, seed=1)
    many = Collection.of(60, 1_000, (1_200, 1_200), 70, seed=2)
    store = Store(folder, 1)
    qrels, path = store.files("few", few)
    submitted_qrels, submitted = store.submissions(10)
    few_run, many_run, arrow, scores = few.dicts(), many.dicts(), few.pandas(), score_matrix(50, 60)
    objects = arrow.astype({"query_id": object, "doc_id": object})
    intents = many.by_intent(5)
    highlighted, rows = passages(40)
    few_ours, many_ours = peers.ir_graded_evaluator(few.qrels), peers.ir_graded_evaluator(many.qrels)
    few_peer, many_peer = peers.pytrec_eval_dicts(few.qrels), peers.pytrec_eval_dicts(many.qrels)
    return [
        Pair(
            "ten runs as submitted to a track, beside pytrec_eval",
            4.0,
            2.0,
            lambda: ir_graded.evaluate(peers.TEN, submitted_qrels, submitted, progress=False),
            peers.pytrec_eval_files(submitted_qrels, submitted),
        ),
        *(_shuffled(many, ties, usual) for ties, usual in ((0.05, 2.8), (0.5, 2.1))),
        _tied(few, 0.05, "few", usual=1.0, limit=1 / 1.5),  # at most 1.5 times as slow
        _tied(many, 0.5, "many", usual=0.7, limit=0.35),
        Pair(
            f"intervals of {peers.SAMPLES} samples, three runs, beside one evaluation",
            0.015,
            0.0075,
            lambda: ir_graded.score_intervals(
                peers.UNJUDGED, submitted_qrels, submitted[:3], n_samples=peers.SAMPLES
            ),
            lambda: ir_graded.evaluate(peers.UNJUDGED, submitted_qrels, submitted[:3], progress=False),
        ),
        Pair(
            "dict of dicts, few judged, beside pytrec_eval",
            12.0,
            6.0,
            lambda: few_ours.calc_aggregate(few_run),
            lambda: few_peer(few_run),
        ),
        Pair(
            "dict of dicts, many judged, beside pytrec_eval",
            4.0,
            2.0,
            lambda: many_ours.calc_aggregate(many_run),
            lambda: many_peer(many_run),
        ),
        Pair(
            "D#-nDCG@10 beside nDCG@10, five intents",
            0.7,
            1 / 3,  # at most 3 times as slow
            lambda: ir_graded.evaluate("D#-nDCG@10", intents, many_run),
            lambda: ir_graded.evaluate("nDCG@10", intents, many_run),
        ),
        Pair(
            "four measures of characters beside MAgP",
            0.65,
            0.25,
            lambda: ir_graded.evaluate(["CharP@10", "CharR@10", "IoU@10", "AiP"], highlighted, rows),
            lambda: ir_graded.evaluate("MAgP(beta=0.25)", highlighted, rows),
        ),
        Pair(
            "file beside Polars reading three columns",
            0.5,
            0.25,
            lambda: ir_graded.evaluate(peers.TEN, qrels, path),
            lambda: peers.polars_three_columns(path),
        ),
        Pair(
            "DataFrame with Arrow strings beside Polars reading a file of it",
            1.7,
            0.8,
            lambda: few_ours.calc_aggregate(arrow),
            lambda: peers.polars_three_columns(path),
        ),
        Pair(
            "DataFrame with object columns beside Polars reading a file of it",
            0.8,
            0.4,
            lambda: few_ours.calc_aggregate(objects),
            lambda: peers.polars_three_columns(path),
        ),
        Pair(
            "discriminative power of 60 systems beside a loop over the pairs",
            18.0,
            9.0,
            lambda: discriminative_power(scores),
            lambda: peers.pair_by_pair(scores),
        ),
    ]


def _shuffled(collection: Collection, ties: float, usual: float) -> Pair:
    qrels, run = collection.shuffled(ties)
    ours, peer = peers.ir_graded_evaluator(qrels), peers.pytrec_eval_dicts(qrels)
    return Pair(
        f"dict of dicts in random order, {ties:.0%} tied, beside pytrec_eval",
        usual,
        usual / 2,
        lambda: ours.calc_aggregate(run),
        lambda: peer(run),
    )


def _tied(collection: Collection, ties: float, judged: str, usual: float, limit: float) -> Pair:
    """Compare means over the orders of tied documents with the order by id."""
    qrels, run = collection.shuffled(ties)
    ours, by_id = peers.ir_graded_evaluator(qrels, peers.expected()), peers.ir_graded_evaluator(qrels)
    return Pair(
        f"expected scores, {judged} judged, {ties:.0%} tied, beside scores by doc_id",
        usual,
        limit,
        lambda: ours.calc_aggregate(run),
        lambda: by_id.calc_aggregate(run),
    )


def main() -> int:
    print(f"Python {platform.python_version()}, {processors()} processors")
    with tempfile.TemporaryDirectory() as folder:
        missed = [pair.name for pair in pairs(Path(folder)) if not pair.passes()]
    for name in missed:
        print(f"Slower than allowed: {name}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
