"""Documents with equal keys are told apart by their ids, because keys are hashes and may collide."""

import numpy as np
import pandas as pd
import pytest

import ir_graded
from ir_graded.analyses.score_intervals import imputation
from ir_graded.core.texts import Texts
from ir_graded.errors import InputError
from ir_graded.matching import judgments, lookup, plain, qrels, tables

MEASURES = ["Q", "P-measure", "nERR@5", "AP", "nDCG@5", "Judged@10", "Bpref"]

KEYS = {
    "one key for all": lambda topic, doc: 0,  # noqa: ARG005
    "the largest key for all": lambda topic, doc: 2**64 - 1,  # noqa: ARG005
    "one key a topic": lambda topic, doc: topic,  # noqa: ARG005
    "one key a document": lambda topic, doc: len(doc),  # noqa: ARG005
    "two keys a topic": lambda topic, doc: 2 * topic + ord(doc[-1]) % 2,
    # No two judged documents share a key, but all others have the key of the first.
    "a judged document's key for all unjudged": lambda topic, doc: (
        100 * topic + (int(doc[1:]) if doc[0] == "d" else 0)
    ),
    # No two retrieved documents share a key, but u0 has that of d9, which is not retrieved.
    "a judged document's key for one unjudged": lambda topic, doc: (
        100 * topic + int(doc[1:]) + (0 if doc[0] == "d" else 9)
    ),
}


MODULES = (judgments, lookup, plain, qrels, tables)


@pytest.fixture(params=KEYS)
def keys(request, monkeypatch):
    """Give documents such keys instead of hashes."""
    key = KEYS[request.param]

    def document_keys(topic, doc_id):
        doc_ids = doc_id.texts(slice(None)) if isinstance(doc_id, Texts) else doc_id.to_list()
        pairs = zip(topic.tolist(), doc_ids, strict=True)
        return np.array([key(*pair) for pair in pairs], dtype=np.uint64)

    for module in MODULES:
        monkeypatch.setattr(module, "document_keys", document_keys)


def collection():
    """Return judged documents d0, d1, ... and others u0, u1, ...; each topic has its own levels and order."""
    rng = np.random.default_rng(5)
    qrels, run = [], []
    for topic in ("1", "2", "3"):
        judged = [f"d{number}" for number in range(12)]
        qrels += [
            (topic, doc, int(level)) for doc, level in zip(judged, rng.integers(-1, 4, 12), strict=True)
        ]
        found = rng.permutation([*judged[:9], *(f"u{number}" for number in range(9))]).tolist()
        run += [(topic, doc, float(score)) for doc, score in zip(found, rng.integers(0, 12, 18), strict=True)]
    return (
        pd.DataFrame(qrels, columns=["query_id", "doc_id", "relevance"]),
        pd.DataFrame(run, columns=["query_id", "doc_id", "score"]),
    )


def dicts(frame):
    return {topic: dict(rows.iloc[:, 1:].values.tolist()) for topic, rows in frame.groupby("query_id")}


@pytest.fixture(scope="module")
def expected():
    """Return scores of dicts of dicts, which are looked up without keys."""
    return ir_graded.evaluate(MEASURES, *map(dicts, collection())).values


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("form", ["frame", "file", "scattered file"])
def test_documents_with_equal_keys_are_scored_separately(expected, form, tmp_path):
    qrels, run = collection()
    if form != "frame":
        if form == "scattered file":
            run = run.sample(frac=1, random_state=1)
        lines = [f"{topic} Q0 {doc} 1 {score} t\n" for topic, doc, score in run.values.tolist()]
        (tmp_path / "run.txt").write_text("".join(lines))
        run = tmp_path / "run.txt"
    found = ir_graded.evaluate(MEASURES, qrels, run).values
    assert len({tuple(topic) for topic in found[:, 0].T.tolist()}) == 3
    np.testing.assert_array_equal(found, expected)


@pytest.mark.usefixtures("keys")
def test_a_duplicate_among_documents_with_its_key_is_rejected():
    qrels, run = collection()
    for number in (0, 20, 40):
        again = pd.concat([run, run.iloc[[number]]], ignore_index=True)
        doc = run["doc_id"][number]
        message = rf"document '{doc}' appears twice, at row {number} and at row 54"
        with pytest.raises(InputError, match=message):
            ir_graded.evaluate("Q", qrels, again)


@pytest.mark.usefixtures("keys")
def test_conflicting_judgments_among_documents_with_their_key_are_rejected(expected):
    qrels, run = collection()
    again = pd.concat([qrels, qrels.iloc[[3, 20]]], ignore_index=True)
    np.testing.assert_array_equal(ir_graded.evaluate(MEASURES, again, run).values, expected)
    again.loc[len(again) - 1, "relevance"] = 9
    message = r"topic '2', document 'd8' has level .* at row 20 and level 9 at row 37"
    with pytest.raises(InputError, match=message):
        ir_graded.evaluate("Q", again, run)


@pytest.mark.usefixtures("keys")
def test_passages_of_articles_with_equal_keys_are_scored_separately():
    qrels, run = (frame.assign(start=frame.index % 5, length=10) for frame in collection())
    found = ir_graded.evaluate(["MAgP", "gP@5", "Q"], qrels, run).values
    with pytest.MonkeyPatch.context() as patch:
        for module in MODULES:
            patch.setattr(module, "document_keys", HASHED)
        np.testing.assert_array_equal(found, ir_graded.evaluate(["MAgP", "gP@5", "Q"], qrels, run).values)


@pytest.mark.usefixtures("keys")
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")  # of few judgments
def test_unjudged_documents_with_equal_keys_get_levels_of_their_own(monkeypatch):
    monkeypatch.setattr(imputation, "FEWEST", 1)
    qrels, run = collection()
    runs = {str(seed): run.sample(30, random_state=seed) for seed in range(6)}

    def ends():
        found = ir_graded.score_intervals(["nDCG@10", "AP"], qrels, runs, n_samples=20, depth=10)
        return np.stack([found.low, found.high])

    low, high = got = ends()
    assert (low < high).any()
    with pytest.MonkeyPatch.context() as patch:
        for module in MODULES:
            patch.setattr(module, "document_keys", HASHED)
        np.testing.assert_array_equal(got, ends())


HASHED = lookup.document_keys


def test_repeated_keys_are_told_from_keys_that_share_a_half():
    key = np.array([7 << 32 | 1, 7 << 32 | 2, 5, 7 << 32 | 1, 3 << 32 | 5, 5, 5], dtype=np.uint64)
    assert lookup.repeated(key).tolist() == [5, 5, 7 << 32 | 1]
    assert lookup.repeated(key[:3]).tolist() == []
    assert lookup.repeated(key[:0]).tolist() == []
