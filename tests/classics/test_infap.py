"""infAP against its reference on random topics, with documents of the pool that were not judged."""

import random

import pytest
from ir_measures import infAP
from reference import ranked
from ties import tie_scores

import ir_graded
from ir_graded.measures.classic.ties import with_ties

LEVELS = [-2, -1, -1, -0.5, 0, 0, 0.5, 1, 2, 3]


def collection(rng):
    """Return qrels and a run, in which many documents tie."""
    qrels, run = {}, {}
    for topic in "123":
        judged = rng.sample(range(30), rng.randrange(1, 25))
        qrels[topic] = {f"d{doc:02}": rng.choice(LEVELS) for doc in judged}
        retrieved = rng.sample(range(40), rng.randrange(1, 35))
        run[topic] = {f"d{doc:02}": float(rng.randrange(12)) for doc in retrieved}
    return qrels, run


def ranking(how, levels, scores):
    """Return the documents in order, tied ones by id or by level; unjudged documents have the lowest."""
    by_id = sorted(scores, reverse=True)
    if how != "doc_id":
        worth = sorted(by_id, key=lambda doc: levels.get(doc, -100), reverse=how == "optimistic")
        by_id = worth
    return sorted(by_id, key=scores.get, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["doc_id", "optimistic", "pessimistic"])
@pytest.mark.parametrize("rel", [1, 2])
def test_infap_equals_the_reference(how, rel):
    rng = random.Random(7)  # noqa: S311
    measure = with_ties(infAP(rel=rel), how)
    seen = set()
    for _ in range(150):
        qrels, run = collection(rng)
        for topic, found in tie_scores.scores([measure], qrels, run)[measure].items():
            order = ranking(how, qrels[topic], run[topic])
            expected = ranked.score("infAP", {"rel": rel}, qrels[topic], order)
            assert found == pytest.approx(expected, abs=1e-14)
            seen.add(found)
    assert len(seen) > 200


def test_an_explanation_multiplies_the_share_of_a_document_with_its_expected_precision():
    qrels = {"1": {"a": 1, "b": 0, "c": 1, "d": 0, "e": -1}}
    found = ir_graded.explain(infAP, qrels, {"1": {"x": 5.0, "a": 4.0, "e": 3.0, "c": 2.0, "d": 1.0}}, "1")
    frame = found.to_frame()
    assert frame["stop"].tolist() == [0.5, 0.5]
    assert (frame["stop"] * frame["utility"]).tolist() == frame["contribution"].tolist()
    assert frame["contribution"].sum() == pytest.approx(found.score, abs=1e-15)
