"""``CoverageWarning`` and ``Scores.coverage``: how well runs match the qrels."""

import copy
import pickle
from functools import partial

import helpers
import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import trec_lines

from ecosystem.forms import dicts, generator, pandas, path
from ir_graded import CoverageWarning, InputError, Scores, evaluate, unjudged

TOPICS = [str(number) for number in range(1, 31)]
QRELS = {topic: {"a": 2, "b": 1, "c": 0, "d": -1} for topic in TOPICS}
FULL = {topic: {"a": 4.0, "x": 3.0, "c": 2.0, "d": 1.0} for topic in TOPICS}
COUNTS = ["topics_retrieved", "topics_missing", "unknown_topics"]


def some(run, *topics):
    return {topic: run[topic] for topic in topics}


def shifted(run, by):
    return {str(int(topic) + by): docs for topic, docs in run.items()}


def message_of(*arguments, **options):
    """Return the text of the one CoverageWarning of a call."""
    with pytest.warns(CoverageWarning) as caught:
        evaluate(*arguments, **options)
    assert len(caught) == 1
    return str(caught[0].message)


quietly = partial(helpers.quietly, evaluate)


# ---------------------------------------------------------------------------------- the warning


def test_a_run_with_all_topics_does_not_warn():
    evaluate(["Q", "AP"], QRELS, FULL)


def test_a_truncated_run_is_named_with_its_missing_topics():
    message = message_of("Q", QRELS, {"full": FULL, "cut": some(FULL, *TOPICS[:5])})
    assert (
        message == "Run 'cut' lacks 25 of the 30 topics of the qrels (the first is '6') and scores 0 on them."
    )


def test_unknown_topics_are_counted():
    message = message_of("Q", QRELS, shifted(FULL, 25))
    assert message == (
        "Run 'run' lacks 25 of the 30 topics of the qrels (the first is '1') and scores 0 on them; "
        "25 of its topics are not in the qrels."
    )


def test_topics_missing_from_the_qrels_alone_do_not_warn():
    scores = evaluate("Q", QRELS, FULL | {"99": {"a": 1.0}, "98": {"a": 1.0}})
    assert scores.coverage[COUNTS].to_numpy().tolist() == [[30, 0, 2]]


def test_the_first_missing_topic_follows_the_order_of_the_qrels():
    qrels = {topic: QRELS[topic] for topic in ("7", "3", "5")}
    assert "2 of the 3 topics of the qrels (the first is '7')" in message_of("Q", qrels, some(FULL, "3"))
    assert "1 of the 3 topics of the qrels (the first is '5')" in message_of("Q", qrels, some(FULL, "3", "7"))


def test_an_empty_run_is_named():
    assert message_of("Q", QRELS, {"full": FULL, "e": {}}) == "Run 'e' is empty and scores 0."
    assert message_of("Q", QRELS, {topic: {} for topic in TOPICS}) == "Run 'run' is empty and scores 0."


def test_a_run_without_a_judged_document_is_named():
    strange = {topic: {"x": 2.0, "y": 1.0} for topic in TOPICS}
    message = message_of("Q", QRELS, {"u": strange})
    assert message.startswith("Run 'u' has no judged document (for topic '1' it retrieved 'x', 'y'")
    unlooked = {topic: {"d": 2.0, "y": 1.0} for topic in TOPICS}
    assert "Run 'u' has no judged document (for" in message_of("Judged@10", QRELS, {"u": unlooked})


@pytest.mark.parametrize("form", [dicts, pandas(), path])
def test_ids_that_never_match_are_shown_on_both_sides(form, tmp_path):
    qrels = {"2": {"WT01-1": 1}, "1": {f"WT02-{number}": 1 for number in range(5)}}
    rows = [("9", "a", 1.0), *(("1", f"wt02-{number}", -float(number)) for number in range(5))]
    message = message_of("Q", qrels, form("run", rows, tmp_path))
    assert message.endswith(
        "has no judged document (for topic '1' it retrieved 'wt02-0', 'wt02-1', 'wt02-2' ..., and the qrels "
        "have 'WT02-0', 'WT02-1', 'WT02-2' ...)."
    )


def test_an_empty_dict_is_not_a_run():
    with pytest.raises(InputError, match=r"^the dict of the runs is empty; give a run"):
        evaluate("Q", QRELS, {})
    message = r"no document, only empty dicts for 'new', 'old'; .* all runs are empty"
    with pytest.raises(InputError, match=message):
        evaluate("Q", QRELS, {"old": {}, "new": {}})


@pytest.mark.parametrize("docs", [None, pd.NA])
def test_a_missing_value_is_not_an_empty_dict(docs):
    with pytest.raises(InputError, match=r"^run 'run' and the qrels share no topic: the run has '99', "):
        evaluate("Q", QRELS, {"99": docs})
    message = message_of("Q", QRELS, shifted(FULL, 25) | {"99": docs})
    assert message.endswith("; 26 of its topics are not in the qrels.")


@pytest.mark.parametrize("measures", ["Q", "Bpref", "AP(rel=2)", "Judged@10", "NumRet", ["NumRet", "AP"]])
def test_a_run_with_one_judged_document_is_not_named(measures):
    strange = {topic: {"x": 2.0, "y": 1.0} for topic in TOPICS}
    evaluate(measures, QRELS, {"u": strange | {"30": {"x": 2.0, "c": 1.0}}})


@pytest.mark.parametrize("measures", ["NumRet", ["NumQ", "NumRet"]])
def test_measures_that_ignore_judgments_do_not_warn_of_unjudged_runs(measures):
    evaluate(measures, QRELS, {"u": {topic: {"x": 2.0, "y": 1.0} for topic in TOPICS}})


def test_a_run_whose_scores_are_all_equal_is_named():
    flat = {topic: dict.fromkeys(docs, float(topic)) for topic, docs in FULL.items()}
    message = message_of("Q", QRELS, {"full": FULL, "t": flat})
    assert (
        message
        == "Run 't' gives all documents of a topic the same score, so only their ids determine the ranks."
    )


def test_scores_that_are_equal_as_float32_only_do_not_count_as_equal():
    evaluate("Q", QRELS, {topic: {"a": 1.0, "x": 1.00000001} for topic in TOPICS})


def test_ties_of_whole_numbers_that_doubles_cannot_tell_apart_are_named():
    run = {topic: {"a": 2**60 + 1, "x": 2**60, "y": 1} for topic in TOPICS}
    assert "Run 'clock' has documents with equal scores above 2**53" in message_of("Q", QRELS, {"clock": run})
    evaluate("Q", QRELS, {topic: {"a": 2**60, "x": 2**59, "y": 1} for topic in TOPICS})


@pytest.mark.parametrize("rows", [1, 1000])
def test_one_different_score_prevents_the_warning(rows, monkeypatch):
    monkeypatch.setattr("ir_graded.matching.dicts._BATCH_ROWS", rows)
    flat = {topic: dict.fromkeys(docs, 1.0) for topic, docs in FULL.items()}
    evaluate("Q", QRELS, flat | {"17": FULL["17"]})


def test_topics_of_one_document_do_not_count_as_ties():
    evaluate("Q", QRELS, {topic: {"a": 1.0} for topic in TOPICS})


@pytest.mark.parametrize(
    ("measures", "levels"),
    [
        ("Q(rel=3)", {"of 3 or more": "Q(rel=3)"}),
        (["Q(rel=4)", "AP(rel=3)"], {"of 4 or more": "Q(rel=4)", "of 3 or more": "AP(rel=3)"}),
        (["nERR(rel=5)@10", "Judged@10", "NumRet", "NumQ"], {"of 5 or more": "nERR(rel=5)@10"}),
    ],
)
def test_qrels_without_a_relevant_document_are_named(measures, levels):
    message = message_of(measures, QRELS, FULL)
    assert message == " ".join(
        [
            *(
                f"No document of the qrels has a level {level}, so nothing is relevant for {named}."
                for level, named in levels.items()
            ),
            "The highest level is 2: set rel to at most this, as in rel=2.",
        ]
    )


def test_measures_for_which_nothing_is_relevant_are_named():
    message = message_of(["Q", "nDCG@10", "AP", "R(rel=2)@5"], {"1": {"a": 0.5}}, {"1": {"a": 1.0}})
    assert message == (
        "No document of the qrels has a level of 1 or more, so nothing is relevant for Q, AP. "
        "No document of the qrels has a level of 2 or more, so nothing is relevant for R(rel=2)@5. "
        "The highest level is 0.5: set rel to at most this, as in rel=0.5."
    )


def test_no_advice_on_rel_where_all_levels_are_0():
    assert message_of("Q", {"1": {"a": 0}}, {"1": {"a": 1.0}}).endswith("so nothing is relevant for Q.")


def test_soft_levels_are_relevant_to_some_measures():
    soft = {"1": {"a": 0.5, "b": 0.0}}
    run = {"1": {"a": 2.0, "b": 1.0}}
    assert "a level of 1 or more" in message_of(["Q", "AP"], soft, run)
    evaluate(["Q(rel=0.25)", "nDCG"], soft, run)
    evaluate("nDCG", soft, run)
    assert "a level above 0" in message_of("nDCG", {"1": {"a": 0, "b": -1}}, run)
    evaluate("nDCG(gains={0: 1})", {"1": {"a": 0, "b": -1}}, run)


@pytest.mark.parametrize("measures", ["NumRet", ["NumQ", "Judged@10"]])
def test_measures_that_ignore_relevance_do_not_warn_of_missing_relevant_documents(measures):
    evaluate(measures, {"1": {"a": 0}}, {"1": {"a": 2.0, "b": 1.0}})


def test_all_findings_are_in_one_warning():
    flat = {topic: dict.fromkeys(docs, 1.0) for topic, docs in FULL.items()}
    message = message_of("Q(rel=9)", QRELS, {"cut": some(FULL, "1"), "e": {}, "t": flat})
    for part in ("level of 9", "'cut' lacks 29", "'e' is empty", "'t' gives all"):
        assert part in message
    assert "\n" not in message


def test_many_runs_are_named_up_to_three_and_counted():
    runs = {f"r{number}": some(FULL, *TOPICS[number:]) for number in range(1, 8)}
    message = message_of("Q", QRELS, runs)
    assert "'r3' lacks 3 of the 30" in message
    assert "'r4'" not in message
    assert message.endswith(" 4 more runs lack topics.")
    del runs["r5"], runs["r6"], runs["r7"]
    assert message_of("Q", QRELS, runs).endswith(" 1 more run lacks topics.")


def test_the_warning_points_at_the_calling_line():
    with pytest.warns(CoverageWarning) as caught:
        evaluate("Q", QRELS, {"full": FULL, "e": {}})
    assert caught[0].filename == __file__


def test_the_warning_can_be_silenced_and_changes_no_score():
    cut = some(FULL, *TOPICS[:5])
    scores = quietly(["Q", "AP"], QRELS, cut)
    assert scores.mean().loc["run"].tolist() == [
        value * 5 / 30 for value in evaluate(["Q", "AP"], some(QRELS, *TOPICS[:5]), cut).mean().loc["run"]
    ]


def test_calls_of_ir_measures_do_not_warn():
    for run in (some(FULL, "1"), {}, shifted(FULL, 100)):
        ir_measures.calc_aggregate(["Q", ir_measures.AP], QRELS, run)
        list(ir_measures.evaluator(["Q"], QRELS).iter_calc(run))


def test_notes_equal_the_sentences_of_the_warning():
    scores = quietly("Q", QRELS, {"cut": some(FULL, "1"), "e": {}})
    assert len(scores.coverage_notes) == 2
    assert " ".join(scores.coverage_notes) == message_of("Q", QRELS, {"cut": some(FULL, "1"), "e": {}})
    assert evaluate("Q", QRELS, FULL).coverage_notes == ()


# ----------------------------------------------------------------------------------- the counts

ROWS = {
    "qrels": [("1", "a", 2), ("1", "b", 0), ("1", "d", -1), ("2", "c", 1), ("3", "a", 1), ("4", "a", 0)],
    "run": [
        ("9", "a", 9.0), ("1", "a", 4.0), ("1", "x", 3.0), ("1", "b", 2.0), ("1", "d", 1.0), ("8", "a", 2.0),
        ("2", "y", 2.0), ("2", "z", 1.0), ("7", "a", 2.0), ("4", "a", 1.0),
    ],
}  # fmt: skip
EXPECTED = {
    "run": "run",
    "topics_retrieved": 3,
    "topics_missing": 1,
    "unknown_topics": 3,
    "judged_at_10": (2 / 4 + 0 / 2 + 1 / 1) / 3,
    "judged_share": (2 / 4 + 0 / 2 + 1 / 1) / 3,
}


@pytest.mark.parametrize("form", [dicts, pandas(), path])
def test_counts_equal_those_by_hand(form, tmp_path):
    qrels, run = (form(kind, rows, tmp_path) for kind, rows in ROWS.items())
    coverage = quietly(["Q", "AP"], qrels, {"run": run}).coverage
    assert list(coverage.columns) == list(EXPECTED)
    assert coverage.loc[0].to_dict() == pytest.approx(EXPECTED, abs=1e-15)
    assert [coverage[name].dtype for name in COUNTS] == [np.int64] * 3


def test_unknown_topics_of_a_file_in_pieces_are_counted_once(tmp_path, monkeypatch):
    monkeypatch.setattr("ir_graded.matching.tables._PIECE", 64)
    scattered = [("9", f"u{at}", 1.0) for at in range(9)]
    rows = [row for at, row in enumerate(ROWS["run"]) for row in (row, *scattered[at : at + 1])]
    rows.sort(key=lambda row: row[0] == "2")
    place = tmp_path / "a.run"
    place.write_text(trec_lines("run", rows))
    coverage = quietly("Q", dicts("qrels", ROWS["qrels"]), [place]).coverage
    assert coverage[COUNTS].to_numpy().tolist() == [[3, 1, 3]]


def test_ties_across_pieces_of_a_file_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("ir_graded.matching.tables._PIECE", 64)
    place = tmp_path / "a.run"
    flat = [(topic, doc, 2.0) for topic in TOPICS for doc in "abxy"]
    place.write_text(trec_lines("run", flat))
    assert "the same score" in message_of("Q", QRELS, [place])
    place.write_text(trec_lines("run", [*flat[:-1], (*flat[-1][:2], 1.0)]))
    evaluate("Q", QRELS, [place])


@pytest.mark.parametrize("measures", ["AP", "Bpref", "Judged@10", "Q(judged_only=True)", "NumRet"])
@pytest.mark.parametrize("make", [dicts, generator])
def test_judged_shares_equal_unjudged_for_any_measures(measures, make, tmp_path):
    rng = np.random.default_rng(5)
    qrels, rows = {}, []
    for topic in TOPICS[:12]:
        docs = [f"d{number}" for number in rng.permutation(60)]
        qrels[topic] = {doc: int(rng.integers(-1, 3)) for doc in docs[:40]}
        depth = int(rng.integers(0, 40))
        rows += [(topic, doc, float(depth - at)) for at, doc in enumerate(sorted(docs)[:depth])]
    scores = quietly(measures, qrels, {"a": make("run", rows, tmp_path)})
    expected = 1 - unjudged(qrels, {"a": dicts("run", rows)}, depths=[10, 1000]).share[0]
    found = scores.coverage.loc[0, ["judged_at_10", "judged_share"]]
    assert found.tolist() == expected.tolist()
    assert 0 < found.iloc[0] < 1


def test_a_run_without_documents_has_no_shares():
    coverage = quietly("Q", QRELS, {"e": {}, "full": FULL}).coverage
    assert coverage["judged_share"].isna().tolist() == [True, False]
    assert coverage["run"].tolist() == ["e", "full"]


def test_passages_are_counted_by_article():
    qrels = pd.DataFrame({"query_id": ["1", "2"], "doc_id": "a", "relevance": 1, "start": 0, "length": 9})
    rows = {"query_id": "1", "doc_id": ["a", "a", "b"], "score": [3.0, 3.0, 1.0], "start": [0, 5, 0]}
    coverage = quietly(["MAgP", "AP"], qrels, pd.DataFrame({**rows, "length": 4})).coverage
    assert coverage.loc[0, COUNTS].tolist() == [1, 1, 0]
    assert coverage.loc[0, "judged_share"] == 0.5


def test_the_coverage_frame_is_a_copy():
    scores = evaluate("Q", QRELS, FULL)
    frame = scores.coverage
    frame.loc[0, "topics_missing"] = 77
    assert scores.coverage.loc[0, "topics_missing"] == 0


@pytest.mark.parametrize(
    "again",
    [lambda scores: pickle.loads(pickle.dumps(scores)), copy.deepcopy],  # noqa: S301  (made here)
    ids=["pickle", "deepcopy"],
)
def test_copies_keep_the_counts(again):
    runs = {"a": pl.DataFrame({"query_id": TOPICS, "doc_id": "a", "score": 1.0})}
    scores = evaluate("Q", QRELS, runs)
    early = again(scores)
    assert early.coverage[COUNTS].to_numpy().tolist() == [[30, 0, 0]]
    assert np.isnan(early.coverage.loc[0, "judged_share"])
    assert scores.coverage.loc[0, "judged_share"] == 1
    pd.testing.assert_frame_equal(again(scores).coverage, scores.coverage)


def test_constructed_scores_have_no_coverage():
    made = evaluate("Q", QRELS, FULL)
    scores = Scores(made.runs, made.measures, made.query_ids, made.values.copy())
    old = Scores.__new__(Scores)
    old.__setstate__({name: getattr(made, name) for name in ("runs", "measures", "query_ids", "values")})
    for each in (scores, old):
        pd.testing.assert_frame_equal(each.mean(), made.mean())
        assert each.coverage_notes == ()
        with pytest.raises(InputError, match="not computed by evaluate"):
            _ = each.coverage
