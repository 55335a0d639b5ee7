"""``ignore_identical_ids``: runs score as those without the documents whose id is that of their topic.

BEIR (``EvaluateRetrieval.evaluate``) and MTEB remove them from the results only, not from the qrels.
"""

import json
import math
from html import unescape

import helpers
import pytest
from helpers import dicts, quietly, trec_lines

import ir_graded
from ecosystem import forms
from ir_graded import evaluate
from ir_graded.errors import CoverageWarning, ParameterError

MEASURES = "Q AP nDCG@2 RR"
QRELS = dicts(forms.QRELS)
#: Topics whose own document is first, tied, last, and the only one; also one without qrels.
ROWS = [
    ("101", "101", 9.0), ("101", "50", 8.0), ("101", "9", 7.0), ("101", "2", 1.0), ("102", "10", 3.0),
    ("102", "102", 3.0), ("102", "9", 2.0), ("103", "103", 1.0), ("104", "1", 4.0), ("104", "104", 0.5),
    ("999", "999", 1.0),
]  # fmt: skip
OTHERS = [row for row in ROWS if row[0] != row[1]]
FORMS = {name: form for name, form in forms.ALL.items() if "run" in form.kinds}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_scores_as_without_these_documents(form, tmp_path):
    held = FORMS[form].holds("run", ROWS)
    expected = quietly(evaluate, MEASURES, QRELS, dicts([row for row in held if row[0] != row[1]]))
    run, again = (FORMS[form].make("run", held, tmp_path) for _ in range(2))
    found = quietly(evaluate, MEASURES, QRELS, run, ignore_identical_ids=True)
    assert found.values.tolist() == expected.values.tolist()
    usual = quietly(evaluate, MEASURES, QRELS, again)
    assert usual.values.tolist() != expected.values.tolist()


def beir(qrels, results, k):
    """Return the means that BEIR prints for a cutoff: to five places, over the topics of the results."""
    kept = {topic: {doc: one for doc, one in docs.items() if doc != topic} for topic, docs in results.items()}
    rows = []
    for topic, docs in kept.items():
        levels = [qrels[topic].get(doc, 0) for doc in sorted(docs, key=lambda doc: -docs[doc])[:k]]
        hits = [int(level > 0) for level in levels]
        relevant = sum(level > 0 for level in qrels[topic].values())
        dcg, best = (
            sum(level / math.log2(rank) for rank, level in enumerate(one[:k], 2))
            for one in (levels, sorted(qrels[topic].values(), reverse=True))
        )
        precisions = [sum(hits[:rank]) / rank for rank in range(1, len(hits) + 1) if hits[rank - 1]]
        rows.append((dcg / best, sum(precisions) / relevant, sum(hits) / relevant, sum(hits) / k))
    return [round(sum(column) / len(rows), 5) for column in zip(*rows, strict=True)]


def test_files_of_beir_and_mteb_have_the_figures_of_beir(tmp_path):
    """Arguments are queries and documents, as in ArguAna; argument a4 is also judged relevant to itself."""
    qrels = {"a1": {"a2": 1}, "a2": {"a1": 1, "a3": 2}, "a3": {"a5": 1}, "a4": {"a4": 1, "a5": 1}}
    # Each argument is the best match of itself, then of its neighbours.
    places = {f"a{number}": number for number in range(1, 7)}
    results = {
        topic: {doc: 1 / (1 + abs(at - places[topic] - 0.1)) for doc, at in places.items()} for topic in qrels
    }
    assert [max(docs, key=docs.get) for docs in results.values()] == [*qrels]
    (tmp_path / "qrels").mkdir()
    lines = [f"{topic}\t{doc}\t{level}\n" for topic, docs in qrels.items() for doc, level in docs.items()]
    (tmp_path / "qrels" / "test.tsv").write_text("".join(["query-id\tcorpus-id\tscore\n", *lines]))
    rows = [(topic, doc, score) for topic, docs in results.items() for doc, score in docs.items()]
    (tmp_path / "a.run.trec").write_text(trec_lines("run", rows))
    predictions = {"mteb_model_meta": {"model_name": "org/model"}, "default": {"test": results}}
    (tmp_path / "a_predictions.json").write_text(json.dumps(predictions))
    for k in (1, 2, 3):
        runs = [tmp_path / "a.run.trec", tmp_path / "a_predictions.json"]
        measures = [f"nDCG@{k}", f"AP@{k}", f"R@{k}", f"P@{k}"]
        found = quietly(evaluate, measures, tmp_path, runs, ignore_identical_ids=True)
        assert found.mean().round(5).to_numpy().tolist() == [beir(qrels, results, k)] * 2
    assert beir(qrels, results, 3) == [0.77829, 0.70833, 0.875, 0.41667]


def test_relevant_documents_that_no_run_can_retrieve_are_counted():
    qrels = {"1": {"1": 1, "a": 1}, "2": {"2": 0, "a": 1}, "3": {"3": 2}}
    run = {topic: {"a": 1.0, "b": 0.5} for topic in qrels}
    with pytest.warns(
        CoverageWarning, match=r"relevant in 2 of 3 topics \(the first is '1'\), where it counts"
    ):
        found = evaluate("R@5", qrels, run, ignore_identical_ids=True)
    assert found.values.tolist() == [[[0.5, 1.0, 0.0]]]
    with pytest.warns(CoverageWarning, match=r"in 1 of 3 topics \(the first is '3'\)"):
        evaluate("R(rel=2)@5", qrels, run, ignore_identical_ids=True)


def test_a_topic_with_its_own_document_only_has_no_document():
    with pytest.warns(
        CoverageWarning, match=r"^Run 'run' has no document for 1 of the 2 topics of the qrels"
    ):
        evaluate(
            "RR",
            {"1": {"a": 1}, "2": {"a": 1}},
            {"1": {"a": 1.0}, "2": {"2": 1.0}},
            ignore_identical_ids=True,
        )


def test_repetitions_are_counted_among_the_others():
    rows = [*ROWS, ("101", "101", 1.0), ("101", "50", 1.0)]
    with pytest.warns(CoverageWarning, match=r"rows left out: 1\)"):
        found = evaluate(
            "Q", QRELS, helpers.frame("run", rows), duplicates="first", ignore_identical_ids=True
        )
    assert found.values.tolist() == quietly(evaluate, "Q", QRELS, dicts(OTHERS)).values.tolist()


def test_comparisons_and_reports_take_the_option(tmp_path):
    qrels, best = {topic: QRELS[topic] for topic in ("101", "102", "104")}, {"best": QRELS}
    given = quietly(
        ir_graded.compare_runs, "Q", qrels, best, dicts(ROWS), ignore_identical_ids=True, test="t"
    )
    expected = quietly(ir_graded.compare_runs, "Q", qrels, best, dicts(OTHERS), test="t")
    assert given.to_frame().equals(expected.to_frame())
    page = tmp_path / "page.html"
    quietly(ir_graded.report, "Q", QRELS, dicts(ROWS), page, ignore_identical_ids=True)
    text = unescape(page.read_text())
    assert "ignore_identical_ids=True" in text.partition("ir_graded.report(")[2].partition("</")[0]
    assert "|ignore_identical_ids:yes|" in text
    scores = quietly(evaluate, "Q", QRELS, dicts(OTHERS))
    with pytest.raises(ParameterError, match="a page of Scores takes no ignore_identical_ids"):
        ir_graded.report(scores, path=page, ignore_identical_ids=True)


def test_the_signature_names_the_option_only_where_it_is_on():
    frame = helpers.frame("run", ROWS)
    usual = quietly(evaluate, "Q", QRELS, helpers.frame("run", OTHERS)).signature
    scores = quietly(evaluate, "Q", QRELS, frame, ignore_identical_ids=True)
    assert "ignore_identical_ids" not in usual.options
    assert scores.signature.options == usual.options | {"ignore_identical_ids": True}
    assert scores.signature.runs == usual.runs
    saved = ir_graded.Scores.from_json(scores.to_json())
    assert quietly(ir_graded.verify, saved, QRELS, frame).agrees
    with pytest.raises(ParameterError, match=r"ignore_identical_ids='yes' must be one of False, True"):
        evaluate("Q", QRELS, frame, ignore_identical_ids="yes")


def test_commands_take_the_flag(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, kind, rows in (("qrels", "qrels", forms.QRELS), ("x", "run", ROWS), ("y", "run", OTHERS)):
        (tmp_path / f"{name}.txt").write_text(trec_lines(kind, rows))
    call = ("evaluate", "qrels.txt", "x.txt", "y.txt", "-m", "Q", "-o", "csv", "--quiet")
    _, found, _ = helpers.run_command(capsys, *call, "--ignore-identical-ids")
    assert len({line.partition(",")[2] for line in found.splitlines()[1:]}) == 1
    refused = helpers.run_command(capsys, *call, "--ignore-identical-ids", "--unjudged", "bounds")
    helpers.assert_command_fails(refused, "--unjudged supports only", "--ignore-identical-ids")
    page = ("report", *call[1:3], "-m", "Q", "--html", "page.html", "--quiet", "--ignore-identical-ids")
    assert helpers.run_command(capsys, *page)[0] == 0
    assert " --ignore-identical-ids " in (tmp_path / "page.html").read_text()
