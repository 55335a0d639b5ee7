"""The program trec_eval: the environment variable TREC_EVAL names it. It prints four decimals.

trec_eval 10 compares scores as 64-bit numbers and pytrec_eval 0.5.11 compares them as 32-bit numbers.
So no two scores of a topic are close here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from differential.oracle_cases import Collection, Compared, Oracle, draw
from differential.oracle_pytrec_eval import dotted, pairs

import ir_graded

PROGRAM = os.environ.get("TREC_EVAL", "")


def written(folder: Path, collection: Collection):
    """Write the collection as two files."""
    qrels = [
        f"{topic} 0 {doc} {level}" for topic, docs in collection.qrels.items() for doc, level in docs.items()
    ]
    run = [f"{t} Q0 {doc} 0 {score!r} x" for t, docs in collection.run.items() for doc, score in docs.items()]
    paths = folder / "qrels", folder / "run"
    for path, lines in zip(paths, (qrels, run), strict=True):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths


def evaluated(paths, names, *options):
    """Return values by measure and topic. Without ``-c``, trec_eval 10 exits if a run lacks a topic."""
    asked = [part for name in sorted(names) for part in ("-m", name)]
    done = subprocess.run(  # noqa: S603  # the program that the user named
        [PROGRAM, "-q", "-c", *options, *asked, *map(str, paths)], capture_output=True, text=True, check=True
    )
    found = {}
    for line in done.stdout.splitlines():
        name, topic, value = line.split()
        found.setdefault(name, {})[topic] = float(value)
    return found


def score(name, qrels, run, *, complete=True) -> float | str:
    """Return the only value of a measure as printed for all topics, or the exit code of the program."""
    with tempfile.TemporaryDirectory() as folder:
        paths = written(Path(folder), Collection(qrels, run))
        command = [PROGRAM, *(["-c"] if complete else []), "-m", name, *map(str, paths)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return float(done.stdout.split()[-1]) if done.returncode == 0 else f"exit code {done.returncode}"


def has_perl() -> bool:
    """Return whether gdeval can run."""
    return shutil.which("perl") is not None


def compare_on(rng, collection: Collection):
    """Compare all measures of the pytrec_eval oracle, with files read by both programs; topics and means."""
    rel, condensed, k = (rng.choice(values) for values in ([1, 1, 2, 4], [False, False, True], [1, 2, 5, 30]))
    asked = pairs(int(rel), bool(condensed), int(k), collection.levels)
    names = {name: dotted(name, int(k)) for name in asked.values()}
    # With -c, it counts the relevant documents of topics that the run lacks.
    asked = {measure: name for measure, name in asked.items() if name != "num_rel"}
    with tempfile.TemporaryDirectory() as folder:
        paths = written(Path(folder), collection)
        found = evaluated(
            paths, {names[name] for name in asked.values()}, "-l", str(rel), *["-J"] * bool(condensed)
        )
        ours = ir_graded.evaluate(list(asked), *paths)
    means = ours.mean().iloc[0].tolist()
    for (measure, name), mean, values in zip(asked.items(), means, ours.values[:, 0].tolist(), strict=True):
        by_topic = dict(zip(ours.query_ids, values, strict=True))
        yield Compared(str(measure), by_topic | {"all": mean}, found[name])


def compare(rng):
    """A random collection."""
    yield from compare_on(rng, draw(rng, topics=20))


def _missing() -> str | None:
    return None if Path(PROGRAM).is_file() else "the variable TREC_EVAL names no program"


ORACLE = Oracle("trec_eval", compare, tolerance=0.5e-4 + 1e-9, missing=_missing(), compare_on=compare_on)
