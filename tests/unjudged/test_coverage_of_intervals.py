"""The validation experiment: judgments of one team are hidden, and intervals should cover the true scores.

Lists of TREC-COVID round 1 are condensed to judged documents, so that the true scores are known. The pool
of the round contains the first seven documents of the contributing run of each team.
"""

import csv
from collections import defaultdict

import numpy as np
import pytest
from collections_data import ROOT, needs_shared_data, ranked_runs

import ir_graded

MEASURES = ["nDCG@10", "P@10", "nERR@10", "AP@100", "Q@100"]
POOLED = 7


def qrels_of(path):
    qrels = defaultdict(dict)
    for row in ir_graded.read_qrels(path).itertuples():
        qrels[row.query_id][row.doc_id] = row.relevance
    return dict(qrels)


def first_runs():
    """Return the run of each team that contributed judgments, best first."""
    with (ROOT / "trec-covid/leaderboards/round1.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return {row["team"]: row["run"] for row in reversed(rows) if row["contributed judgments"] == "yes"}


def hidden(qrels, own, others):
    """Return the qrels without the documents that only the first ranks of one run contributed."""
    return {
        topic: {d: level for d, level in levels.items() if d not in own[topic] or d in others[topic]}
        for topic, levels in qrels.items()
    }


def experiment(step, n_samples=150):
    """Yield per team the true scores, and the intervals without its judgments; ``step`` 1 takes all teams."""
    qrels = qrels_of(ROOT / "trec-covid/qrels/qrels.covid-round1.txt.gz")
    runs = ranked_runs("round1.ranked1000.tsv.xz")
    judged = {name: condensed(runs[name], qrels) for name in first_runs().values() if name in runs}
    tops = {name: {t: set(list(docs)[:POOLED]) for t, docs in run.items()} for name, run in judged.items()}
    for name in list(judged)[::step]:
        own = {topic: tops[name].get(topic, set()) for topic in qrels}
        rest = [top for other, top in tops.items() if other != name]
        others = {topic: set().union(*(top.get(topic, set()) for top in rest)) for topic in qrels}
        known = hidden(qrels, own, others)
        truth = ir_graded.evaluate(MEASURES, qrels, {name: judged[name]})
        found = ir_graded.score_intervals(MEASURES, known, judged, n_samples=n_samples)
        yield truth, found, found.scores.runs.index(name)


def condensed(run, qrels):
    """Return a run as a dict with judged documents only."""
    kept = defaultdict(dict)
    for topic, doc_id, score in run.itertuples(index=False):
        if doc_id in qrels.get(topic, {}):
            kept[topic][doc_id] = score
    return dict(kept)


@pytest.mark.slow
@needs_shared_data
def test_intervals_cover_the_scores_with_hidden_judgments():
    inside, means, bias, zero = [], [], [], []
    for truth, found, run in experiment(6):
        true = truth.values[:, 0]
        low, high = found.low[:, run], found.high[:, run]
        uncertain = high > low
        held = (low - 1e-12 <= true) & (true <= high + 1e-12)
        inside.append([held[at][uncertain[at]] for at in range(len(MEASURES))])
        mean = truth.aggregates[0]
        means.append((found.overall[1, :, run] <= mean) & (mean <= found.overall[2, :, run]))
        bias.append(found.overall[0, :, run] - mean)
        zero.append(found.scores.aggregates[run] - mean)
    coverage = [np.concatenate([one[at] for one in inside]).mean() for at in range(len(MEASURES))]
    assert min(coverage[:3]) >= 0.93
    assert np.mean(means) >= 0.8
    assert (np.abs(np.mean(bias, axis=0)) < np.abs(np.mean(zero, axis=0)))[:3].all()
