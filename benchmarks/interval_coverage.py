"""Simulate how often intervals by imputed judgments contain the true scores.

``python benchmarks/interval_coverage.py`` condenses the runs of several collections to judged
documents, so that the true scores are known, hides judgments, and counts how many 95% intervals of topics
and of means contain the true score. It prints the figures with their standard errors over the repetitions.
``--page docs/guide`` writes them into the page there, collection by collection. Names of collections choose
some of them; all but ``sample`` need the collections in ``../shared/data``. ``teams`` hides the judgments
of one team at a time.
"""

import argparse
import csv
import random
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ir_graded
from tests.collections_data import ROOT, ranked_runs

MEASURES = ["nDCG@10", "P@10", "nERR@10", "AP@100", "Q@100"]
DEPTH = 100
#: The largest number of runs in a repetition.
MOST_RUNS = 12
#: Share of the judgments hidden at random; depth of the pool of half of the runs.
SHARE, POOL = 0.3, 10
#: In TREC-COVID round 1, the pool contains the first seven documents of a run of each team.
POOLED = 7
TABLES = {"coverage.csv": (2, "{0:.2f} / {2:.2f}"), "coverage_errors.csv": (4, "{0:+.3f} / {2:+.3f}")}


def qrels_of(rows):
    """Return the judged levels by topic and document; documents with a level below 0 count as unjudged."""
    qrels = defaultdict(dict)
    for row in rows.itertuples():
        if row.relevance >= 0:
            qrels[row.query_id][row.doc_id] = row.relevance
    return dict(qrels)


def condensed(run, qrels):
    """Return a run as a dict with judged documents only."""
    kept = defaultdict(dict)
    columns = (run[name].to_list() for name in ("query_id", "doc_id", "score"))
    for topic, doc_id, score in zip(*columns, strict=True):
        if doc_id in qrels.get(topic, {}):
            kept[topic][doc_id] = score
    return dict(kept)


def sample():
    covid = ir_graded.sample()
    return covid.qrels, covid.runs


def covid1():
    qrels = ROOT / "trec-covid/qrels/qrels.covid-round1.txt.gz"
    return ir_graded.read_qrels(qrels), ranked_runs("round1.ranked1000.tsv.xz")


def covid5():
    files = sorted((ROOT / "trec-covid/round5.raw").iterdir())
    qrels = ir_graded.read_qrels(ROOT / "trec-covid/qrels/qrels.covid-round5.txt.gz")
    return qrels, {file.stem: ir_graded.read_run(file) for file in files}


def robust():
    qrels = ir_graded.read_qrels(ROOT / "robust2003/qrels.robust03.txt.gz")
    files = [file for folder in ("runs", "more-runs") for file in (ROOT / "robust2003" / folder).iterdir()]
    graded = qrels[qrels["query_id"].astype(int) > 600]  # the other topics have no levels above 1
    return graded, {file.stem: ir_graded.read_run(file) for file in sorted(files)}


def web():
    qrels = ir_graded.read_qrels(ROOT / "web2012/qrels.web.151-200.txt.gz")
    return qrels, {"indri": ir_graded.read_run(ROOT / "web2012/indri-ql-catb-filtered.run.gz")}


COLLECTIONS = {
    "sample": ("bundled sample", sample),
    "covid1": ("TREC-COVID round 1", covid1),
    "covid5": ("TREC-COVID round 5", covid5),
    "robust": ("Robust 2003", robust),
    "web": ("Web 2012, one run", web),
}


def collection(name):
    """Return the qrels and the condensed runs of a collection."""
    rows, runs = COLLECTIONS[name][1]()
    qrels = qrels_of(rows)
    return qrels, {run: condensed(frame, qrels) for run, frame in runs.items()}


def ranked(docs):
    """Return the documents of a topic in the order of trec_eval."""
    return sorted(docs, key=lambda doc: (np.float32(docs[doc]), doc), reverse=True)


def hidden_at_random(qrels, runs, rng):
    """Return the qrels without a random share of the judgments, and the runs to evaluate: all."""
    known = {t: {d: level for d, level in docs.items() if rng.random() >= SHARE} for t, docs in qrels.items()}
    return known, list(runs)


def pooled_from_half(qrels, runs, rng):
    """Return the judgments of the first documents of half of the runs, and the other runs."""
    names = rng.sample(list(runs), len(runs) // 2)
    pool = defaultdict(set)
    for name in names:
        for topic, docs in runs[name].items():
            pool[topic].update(ranked(docs)[:POOL])
    known = {t: {d: level for d, level in docs.items() if d in pool[t]} for t, docs in qrels.items()}
    return known, [name for name in runs if name not in names]


DESIGNS = {"30% at random": hidden_at_random, "pool of other runs": pooled_from_half}


def counted(qrels, known, runs, evaluated, n_samples, rng=0):
    """Return per measure the shares of topics and means covered, and errors with and without imputation.

    The last row is the correlation of the errors with imputation and the true means over the runs. The share
    of topics counts scores with an interval of some width only. Both are NaN where they are not defined.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir_graded.CoverageWarning)  # runs without a topic; many added
        truth = ir_graded.evaluate(MEASURES, qrels, {name: runs[name] for name in evaluated})
        found = ir_graded.score_intervals(MEASURES, known, runs, depth=DEPTH, n_samples=n_samples, rng=rng)
    at = [found.scores.runs.index(name) for name in evaluated]
    low, high, true = found.low[:, at], found.high[:, at], truth.values
    uncertain = high > low
    inside = uncertain & (low - 1e-12 <= true) & (true <= high + 1e-12)
    topics = uncertain.sum(axis=(1, 2))
    mean, (middle, lowest, highest) = truth.aggregates.T, found.overall[:, :, at]
    means = (lowest - 1e-12 <= mean) & (mean <= highest + 1e-12)
    zero = found.scores.aggregates[at].T
    with np.errstate(invalid="ignore"):
        covered = inside.sum(axis=(1, 2)) / topics
        errors = middle - mean
        one, other = (values - values.mean(axis=1, keepdims=True) for values in (errors, mean))
        related = (one * other).sum(axis=1) / np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    figures = (covered, means.mean(axis=1), errors.mean(axis=1), (zero - mean).mean(axis=1), related)
    return np.stack(figures)


def simulated(qrels, runs, design, repetitions, n_samples=200):
    """Yield the figures of ``counted`` for random sets of at most 12 runs and random hidden judgments."""
    for seed in range(repetitions):
        rng = random.Random(seed)
        some = {name: runs[name] for name in rng.sample(sorted(runs), min(MOST_RUNS, len(runs)))}
        known, evaluated = DESIGNS[design](qrels, some, rng)
        yield counted(qrels, known, some, evaluated, n_samples, rng=seed)


def first_runs():
    """Return the run of each team that contributed judgments to TREC-COVID round 1, best first."""
    with (ROOT / "trec-covid/leaderboards/round1.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return {row["team"]: row["run"] for row in reversed(rows) if row["contributed judgments"] == "yes"}


def by_team(step=1, n_samples=150):
    """Yield the figures of ``counted`` per team; the judgments that only its run contributed are hidden."""
    qrels, runs = collection("covid1")
    judged = {name: runs[name] for name in first_runs().values() if name in runs}
    tops = {name: {t: set(ranked(docs)[:POOLED]) for t, docs in run.items()} for name, run in judged.items()}
    for name in list(judged)[::step]:
        own, rest = tops[name], [top for other, top in tops.items() if other != name]
        others = {topic: set().union(*(top.get(topic, set()) for top in rest)) for topic in qrels}
        known = {
            t: {d: level for d, level in docs.items() if d not in own.get(t, ()) or d in others[t]}
            for t, docs in qrels.items()
        }
        yield counted(qrels, known, judged, [name], n_samples)


def summary(figures):
    """Return per measure the means of the five figures with their standard errors, shape ``(10, ...)``."""
    found = np.ma.masked_invalid(list(figures))
    error = found.std(axis=0, ddof=1) / np.sqrt(found.count(axis=0))
    return np.ma.stack((found.mean(axis=0), error), axis=1).filled(np.nan).reshape(10, -1)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("collections", nargs="*", choices=[*COLLECTIONS, "teams", "all"], default="all")
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--page", type=Path, help="folder of the page that shows the figures")
    given = parser.parse_args(arguments)
    rows = []
    for name in COLLECTIONS if "all" in given.collections else given.collections:
        if name == "teams":
            show("TREC-COVID round 1", "one team", summary(by_team()))
            continue
        qrels, runs = collection(name)
        for design in DESIGNS if len(runs) > 1 else [next(iter(DESIGNS))]:
            found = summary(simulated(qrels, runs, design, given.repetitions))
            rows.append((COLLECTIONS[name][0], design, found))
            show(*rows[-1])
            if given.page:
                write(given.page, rows)


def show(title, design, found):
    """Print the figures of a collection with their standard errors, a line per measure."""
    print(f"{title}, {design}: covered topics, means; errors imputed, zero; correlation")
    for measure, line in zip(MEASURES, found.T.reshape(-1, 5, 2), strict=True):
        cells = " ".join(f"{mean:+8.3f} ({error:.3f})" for mean, error in line)
        print(f"  {measure:10}{cells}", flush=True)


def write(folder, rows):
    """Write the tables of the page."""
    for at, (name, (end, cell)) in enumerate(TABLES.items()):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(["collection", "judgments hidden", *MEASURES])
            for title, design, found in rows:
                lines.writerow([title, design, *(cell.format(*one) for one in found.T[:, 4 * at : 2 * end])])


if __name__ == "__main__":
    main()
