"""GAP if every document has a different level, as predicted labels have: the work stays small."""

import numpy as np
import pytest
from measure_cases import assert_same_scores, reference_scores, scores

import ir_graded
from ir_graded import GAP
from ir_graded.core import segments


def collection(levels, seed, judged=100):
    """Three topics: with many levels, with three, and with half as many."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for topic, distinct in (("1", judged), ("2", 3), ("3", judged // 2)):
        drawn = {
            "whole": lambda n=distinct: (rng.permutation(judged) % n).tolist(),
            "soft": lambda n=distinct: (1 + rng.permutation(judged) % n / 8 - 0.25).tolist(),
            "whole and far": lambda n=distinct: (rng.permutation(judged) % n * 3 - 1).tolist(),
        }[levels]()
        qrels[topic] = {f"d{number}": level for number, level in enumerate(drawn)}
        found = rng.permutation(2 * judged)[: int(rng.integers(judged, 2 * judged))]
        run[topic] = {f"d{doc}": float(s) for doc, s in zip(found, rng.random(found.size), strict=True)}
    return qrels, run


@pytest.mark.parametrize("levels", ["whole", "soft", "whole and far"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"cutoff": 40},
        {"judged_only": True},
        {"norm": "cutoff", "cutoff": 25},
        {"weights": {1: 0, 2: 7.5, 90: 1000}},
    ],
    ids=str,
)
def test_many_levels_give_the_value_of_the_formula(levels, params):
    qrels, run = collection(levels, seed=len(params))
    assert_same_scores(scores(GAP(**params), qrels, run), reference_scores(GAP, params, qrels, run))


@pytest.mark.parametrize("levels", ["whole", "soft"])
def test_a_topic_of_few_levels_keeps_its_score_beside_others(levels):
    qrels, run = collection(levels, 7)
    for measure in (GAP, GAP @ 40, GAP(judged_only=True)):
        alone = scores(measure, {"2": qrels["2"]}, {"2": run["2"]})["2"]
        assert scores(measure, qrels, run)["2"] == alone


def test_contributions_of_many_levels_sum_to_the_score():
    qrels, run = collection("soft", 3)
    for topic in qrels:
        found = ir_graded.explain("GAP", qrels, run, topic)
        assert found.columns["contribution"].sum() == pytest.approx(found.score, abs=1e-12)


def test_the_work_does_not_grow_with_the_number_of_levels(monkeypatch):
    """The number of passes over the documents grows with its logarithm, not with the number of levels."""
    passes = []
    starts = segments.starts

    def counting(segment, count):
        passes.append(segment.size)
        return starts(segment, count)

    monkeypatch.setattr(segments, "starts", counting)
    counts = []
    for documents in (500, 4000):
        rng = np.random.default_rng(1)
        qrels = {"1": {f"d{number}": 1 + float(level) for number, level in enumerate(rng.random(documents))}}
        run = {"1": {f"d{number}": float(score) for number, score in enumerate(rng.random(documents))}}
        passes.clear()
        ir_graded.evaluate("GAP", qrels, run)
        counts.append(len(passes))
    assert counts[1] <= counts[0] + 4
    assert max(counts) < 40
