"""``without_relevant='leave out'``: scores as for qrels without the topics that have no level above 0."""

from html import unescape

import helpers
import pytest
from differential.disagreements import CASES
from helpers import dicts, quietly, trec_lines

import ir_graded
from ecosystem import forms
from ir_graded import evaluate
from ir_graded.errors import CoverageWarning, NoSharedTopicsError, ParameterError

MEASURES = "Q AP nDCG@2 RR(rel=3) NumRet"
#: With a topic of level 0 only, and one of negative levels.
QRELS = [*forms.QRELS[:5], ("106", "4", -1), *forms.QRELS[5:]]
LEFT_OUT = ["106", "103"]
OTHERS = [row for row in QRELS if row[0] not in LEFT_OUT]
RUNS = {
    "x": dicts(forms.RUN),
    "y": {topic: {"9": 2.0, "1": 1.0} for topic in ("101", "102", "103", "104", "105")},
}
COUNTED = "2 of the 6 topics of the qrels have no document with a level above 0 and are left out"
FORMS = {name: form for name, form in forms.ALL.items() if "qrels" in form.kinds}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_scores_as_without_these_topics(form, tmp_path):
    held = FORMS[form].holds("qrels", QRELS)
    relevant = {topic for topic, _, level in held if level > 0}
    expected = quietly(evaluate, MEASURES, dicts([row for row in held if row[0] in relevant]), RUNS)
    qrels = FORMS[form].make("qrels", held, tmp_path)
    with pytest.warns(
        CoverageWarning, match=r"topics? of the qrels ha(s|ve) no document with a level above 0"
    ):
        found = evaluate(MEASURES, qrels, RUNS, without_relevant="leave out")
    at = [[*map(forms.text, found.query_ids)].index(topic) for topic in expected.query_ids]
    assert found.values[:, :, at].tolist() == expected.values.tolist()
    assert len(found.query_ids) == len(at)


def test_topics_are_left_out_for_all_measures_alike_and_counted():
    with pytest.warns(CoverageWarning, match=rf"{COUNTED} \(the first is '106'\)") as said:
        found = evaluate(MEASURES, dicts(QRELS), RUNS, without_relevant="leave out")
    assert len(said) == 1
    # Topic 102 has no document of level 3, but one above 0.
    assert found.query_ids == ("101", "102", "104", "105")
    assert "Run 'x' lacks 1 of the 4 topics that are left (the first is '105')" in str(said[0].message)
    assert "2 of its topics are not among them" in str(said[0].message)
    assert found.coverage["unknown_topics"].tolist() == [2, 1]
    usual = quietly(evaluate, MEASURES, dicts(QRELS), RUNS)
    assert (found.mean()["Q"] * 4 / 6).tolist() == pytest.approx(usual.mean()["Q"].tolist())


def test_nothing_changes_where_every_topic_has_a_relevant_document():
    qrels, run = {"1": {"a": 2}, "2": {"b": 1, "c": 0}}, {"1": {"a": 1.0}, "2": {"c": 1.0}}
    found = evaluate("Q AP", qrels, run, without_relevant="leave out")
    assert found.values.tolist() == evaluate("Q AP", qrels, run).values.tolist()
    assert not found.coverage_notes


def test_qrels_without_relevant_documents_are_rejected():
    message = (
        r"^no document of the qrels has a level above 0, so without_relevant='leave out' leaves no topic$"
    )
    with pytest.raises(NoSharedTopicsError, match=message):
        evaluate("Q", {"1": {"a": 0}}, {"1": {"a": 1.0}}, without_relevant="leave out")
    with pytest.raises(NoSharedTopicsError, match="the qrels are empty"):
        evaluate("Q", {}, {"1": {"a": 1.0}}, without_relevant="leave out")
    with pytest.raises(ParameterError, match=r"^without_relevant=0 must be one of 'zero', 'leave out'$"):
        evaluate("Q", dicts(QRELS), RUNS, without_relevant=0)


def test_the_mean_is_that_of_gdeval():
    case = CASES["gdeval: mean where a topic has no relevant document"]
    found = quietly(evaluate, "ERR@20", case.qrels, case.run, without_relevant="leave out")
    assert found.mean().to_numpy().tolist() == [[0.0625]]  # which it prints


def test_intents_and_passages_are_left_out_with_their_topics():
    rows = [("1", "a", 1, "x"), ("1", "a", 1, "y"), ("2", "a", 0, "x")]
    names = ["query_id", "doc_id", "relevance", "iteration"]
    qrels = helpers.pd.DataFrame(rows, columns=names)
    run = {topic: {"b": 2.0, "a": 1.0} for topic in "12"}
    found = quietly(evaluate, "I-rec@1 D-nDCG@2", qrels, run, without_relevant="leave out")
    assert found.values.tolist() == evaluate("I-rec@1 D-nDCG@2", qrels[:2], run).values.tolist()
    gold = helpers.frame("qrels", [("1", "a", 1, 0, 5), ("2", "a", 0, 0, 5)])
    spans = helpers.frame("run", [("1", "a", 2.0, 2, 5), ("2", "a", 1.0, 0, 5)])
    found = quietly(evaluate, "CharF", gold, spans, without_relevant="leave out")
    assert found.values.tolist() == quietly(evaluate, "CharF", gold[:1], spans).values.tolist()


def test_comparisons_use_the_topics_that_are_left():
    """Also their weights, slices and shares of judged documents; the baseline need not have the others."""
    further = {
        "test": "t",
        "weights": {topic: 1 + int(topic) % 3 for topic, *_ in QRELS},
        "slices": {topic: "odd" if int(topic) % 2 else "even" for topic, *_ in QRELS},
    }
    runs = {"base": RUNS["y"]}, {"x": RUNS["x"]}
    found = quietly(ir_graded.compare_runs, "Q", dicts(QRELS), *runs, without_relevant="leave out", **further)
    expected = quietly(ir_graded.compare_runs, "Q", dicts(OTHERS), *runs, **further)
    assert found.to_frame().equals(expected.to_frame())
    assert found.topics.tolist() == [4, 2, 2]


def test_captions_signatures_and_reports_name_the_option(tmp_path):
    scores = quietly(evaluate, "Q", dicts(QRELS), RUNS, without_relevant="leave out")
    note = "Topics without a relevant document are left out."
    for text in (
        scores.to_latex(),
        scores.to_markdown(caption="Runs"),
        ir_graded.Scores.from_json(scores.to_json()).to_html(),
    ):
        assert text.count(note) == 1
    usual = quietly(evaluate, "Q", dicts(QRELS), RUNS)
    assert note not in usual.to_latex()
    assert "without_relevant" not in usual.signature.options
    assert scores.signature.options == usual.signature.options | {"without_relevant": "leave out"}
    assert scores.signature.qrels == usual.signature.qrels
    assert quietly(ir_graded.verify, scores, dicts(QRELS), RUNS).agrees
    page = tmp_path / "page.html"
    with pytest.warns(CoverageWarning, match=COUNTED):
        ir_graded.report("Q", dicts(QRELS), RUNS, page, without_relevant="leave out")
    text = unescape(page.read_text())
    assert COUNTED in text
    assert "without_relevant='leave out'" in text.partition("ir_graded.report(")[2].partition("</")[0]


def test_commands_take_the_option(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, kind, rows in (("qrels", "qrels", QRELS), ("few", "qrels", OTHERS), ("x", "run", forms.RUN)):
        (tmp_path / f"{name}.txt").write_text(trec_lines(kind, rows))
    more = ("x.txt", "-m", "Q", "-o", "csv")
    option = ("--without-relevant", "leave out")
    _, found, said = helpers.run_command(capsys, "evaluate", "qrels.txt", *more, *option)
    assert COUNTED in said
    assert found == helpers.run_command(capsys, "evaluate", "few.txt", *more, "--quiet")[1]
    refused = helpers.run_command(capsys, "evaluate", "qrels.txt", *more, *option, "--estimates")
    helpers.assert_command_fails(refused, "--estimates supports only", "--without-relevant")
    (tmp_path / "none.txt").write_text("101 0 9 0\n")
    failed = helpers.run_command(capsys, "evaluate", "none.txt", *more, *option)
    helpers.assert_command_fails(failed, "so --without-relevant 'leave out' leaves no topic")
