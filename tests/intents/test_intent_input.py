"""Qrels with intents: every form of input, its errors, and other measures in one call."""

import warnings

import ir_measures
import pandas as pd
import polars as pl
import pytest
from helpers import TABLES
from intents.intent_cases import EXAMPLE_A
from intents.test_intent_measures import known_of, random_topics, rows_of, run_of
from packed import gzipped

import ir_graded
from ir_graded import CoverageWarning, InputError, ParameterError, evaluate
from ir_graded.cli.main import main

TOPICS = {"t": EXAMPLE_A}
RUN = run_of(TOPICS)
VALUE = 0.748117236025
MEASURE = "D#-Q@10"


def frame(**columns):
    """Return the qrels of example a, with some columns changed."""
    return rows_of(TOPICS).assign(**columns)


def value(qrels, measure=MEASURE, **options):
    return evaluate(measure, qrels, RUN, **options).values.item()


def plain():
    """Return qrels without probabilities and types."""
    return frame()[["query_id", "doc_id", "relevance", "iteration"]]


def text(*names, level="{}"):
    rows = plain().assign(level=[level.format(level_) for level_ in plain()["relevance"]])
    return "\n".join(" ".join(map(str, row)) for row in rows[list(names)].itertuples(index=False)) + "\n"


# --------------------------------------------------------------------------------------------- forms


@pytest.mark.parametrize("form", TABLES)
def test_columns_of_qrels_provide_probabilities_and_types(form, tmp_path):
    qrels = TABLES[form](frame(), tmp_path / "qrels")
    assert value(qrels, "DIN#-Q@10") == pytest.approx(0.732492236025, abs=1e-11)


def file_of(pack=bytes, level="{}"):
    """A form that is a file without a header."""

    def make(_, path):
        path.write_bytes(pack(text("query_id", "iteration", "doc_id", "level", level=level).encode()))
        return path

    return make


FORMS = TABLES | {
    "subtopic_id": lambda rows, _: rows.rename(columns={"iteration": "subtopic_id"}),
    "trec": file_of(),
    "ntcir": file_of(level="L{}"),
    "gzip": file_of(gzipped),
}


@pytest.mark.parametrize("form", FORMS)
def test_probabilities_are_added_to_qrels_of_every_form(form, tmp_path):
    known = known_of(TOPICS)

    def make():
        return FORMS[form](plain(), tmp_path / "qrels")

    assert value(make(), intents=known) == pytest.approx(VALUE, abs=1e-11)
    found = ir_graded.with_intents(make(), known)
    assert value(found) == value(make(), intents=known)
    (calculated,) = ir_measures.calc_aggregate([ir_measures.parse_measure(MEASURE)], found, RUN).values()
    assert calculated == value(found)


@pytest.mark.parametrize("form", ["dict", "frame", "polars", "file"])
def test_every_form_of_probabilities_is_read(form, tmp_path):
    known = known_of(TOPICS)
    known["not in the qrels"] = {"1": (7.0, "inf")}
    rows = [(topic, i, p, kind) for topic, of in known.items() for i, (p, kind) in of.items()]
    table = pd.DataFrame(rows, columns=["query_id", "iteration", "probability", "intent_type"])
    path = tmp_path / "intents.txt"
    path.write_text("\n".join(f"{t.replace(' ', '_')}\t{i}  {p} {kind}" for t, i, p, kind in rows) + "\n\n")
    given = {"dict": known, "frame": table, "polars": pl.from_pandas(table), "file": path}[form]
    assert value(plain(), intents=given) == pytest.approx(VALUE, abs=1e-11)
    assert value(plain(), "DIN-Q@10", intents=given) == pytest.approx(0.464984472050, abs=1e-11)


def test_the_command_line_takes_intents(tmp_path, capsys):
    (tmp_path / "qrels").write_text(text("query_id", "iteration", "doc_id", "level"))
    lines = [f"t {i} {p} {kind}" for i, (p, kind) in known_of(TOPICS)["t"].items()]
    (tmp_path / "intents").write_text("\n".join(lines))
    (tmp_path / "run").write_text("".join(f"t Q0 {doc} 1 {score} r\n" for doc, score in RUN["t"].items()))
    files = [str(tmp_path / name) for name in ("qrels", "run")]
    intents = str(tmp_path / "intents")
    with pytest.raises(SystemExit):
        main(["evaluate", *files, "-m", "D#-Q@10 I-rec@1", "--intents", intents, "-o", "csv"])
    assert capsys.readouterr().out.splitlines()[1] == "run,0.7481,0.3333"


# ------------------------------------------------------------------------------------- in one call


def test_measures_of_documents_take_the_highest_level():
    qrels = [ir_measures.Qrel("t", "a", 1, "2"), ir_measures.Qrel("t", "a", 2, "1")]
    qrels += [ir_measures.Qrel("t", "b", 1, "1"), ir_measures.Qrel("t", "c", 1, "3")]
    run = {"t": {"x": 3.0, "b": 2.0, "a": 1.0}}
    for measures in (["nDCG@10", "D-Q@10"], ["nDCG@10", "SetAP", "D-Q@10"]):
        found = evaluate(measures, qrels, run)
        assert f"{found.values[0].item():.4f}" == "0.5209"
    # ir-measures' own nDCG also gets one row per document.
    theirs, ours = ir_measures.nDCG @ 10, ir_graded.D(measure="Q") @ 10
    calculated = ir_measures.calc_aggregate([theirs, ours], qrels, run)
    assert f"{calculated[ir_measures.nDCG @ 10]:.4f}" == "0.5209"
    alone = evaluate(
        "Q@10", [ir_measures.Qrel("t", doc, level) for doc, level in (("a", 2), ("b", 1), ("c", 1))], run
    )
    assert evaluate(["Q@10", "D-Q@10"], qrels, run).values[0].item() == alone.values.item()


def test_several_levels_of_a_document_without_measures_over_intents_warn():
    with pytest.warns(UserWarning, match=r"1 document has different levels .* topic 't', document 'a'"):
        value(plain(), "Q@10")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value(plain(), ["Q@10", MEASURE][1])
        evaluate(["Q@10", MEASURE], plain(), RUN)
        ir_graded.unjudged(plain(), RUN)


def test_upstream_measures_by_subtopic_get_the_intents():
    pytest.importorskip("pyndeval", reason="pyndeval is not installed")
    topics = random_topics(8)
    qrels = rows_of(topics)[["query_id", "doc_id", "relevance", "iteration"]]
    qrels["relevance"] = qrels["relevance"].clip(lower=0)
    tuples = [ir_measures.Qrel(r.query_id, r.doc_id, r.relevance, r.iteration) for r in qrels.itertuples()]
    # pyndeval confuses several values of rel in one call.
    names = ["alpha_nDCG@10", "ERR_IA@10", "StRecall@5"]
    measures = [ir_measures.parse_measure(name) for name in names]
    found = evaluate([*names, "I-rec@5", "nDCG@10"], qrels, run_of(topics))
    for at, measure in enumerate(measures):
        for metric in ir_measures.iter_calc([measure], tuples, run_of(topics)):
            topic = found.query_ids.index(metric.query_id)
            assert found.values[at, 0, topic] == pytest.approx(metric.value, abs=1e-12)
    assert found.values[2].tolist() == found.values[3].tolist()
    pair = evaluate(["StRecall(rel=2)@5", "I-rec(rel=2)@5"], qrels, run_of(topics))
    assert pair.values[0].tolist() == pair.values[1].tolist()
    together = ir_measures.calc_aggregate([*measures, ir_graded.I_rec @ 5], qrels, run_of(topics))
    assert together[measures[2]] == pytest.approx(together[ir_graded.I_rec @ 5], abs=1e-12)


def test_measures_over_intents_declare_their_column():
    provider = ir_graded.evaluation.provider.PROVIDER
    assert provider.qrel_inputs([ir_graded.D(measure="Q")]) == [
        "query_id",
        "doc_id",
        "relevance",
        "iteration",
    ]
    assert provider.run_inputs([ir_graded.D(measure="Q")]) == ["query_id", "doc_id", "score"]


def test_assessment_rounds_instead_of_intents_warn():
    qrels = [ir_measures.Qrel("t", doc, 1, number) for doc, number in (("a", "0.5"), ("b", "1"))]
    for given in (qrels, [qrel._replace(iteration="0") for qrel in qrels]):
        with pytest.warns(UserWarning, match="no document of the qrels has two intents") as caught:
            value(given, "D-Q@10")
        assert [one.filename for one in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value(qrels, "D-Q@10", intents={"t": {"0.5": 0.5, "1": 0.5}})


def test_a_blank_intent_in_a_file_is_rejected(tmp_path):
    path = tmp_path / "qrels.csv"
    path.write_text("query_id,iteration,doc_id,relevance\nev,x,p1,1\nev,,p2,1\n", encoding="utf-8")
    for options in ({}, {"intents": {"ev": {"x": 1.0}}}):
        with pytest.raises(InputError, match=r"topic 'ev', document 'p2' \(.*line 3\): no iteration$"):
            value(path, "I-rec", **options)


@pytest.mark.slow
def test_spans_beside_measures_over_intents_warn_once():
    spans = {"iteration": ["x", "y"], "start": [0, 50], "length": 10}
    qrels = pd.DataFrame({"query_id": "t", "doc_id": "a", "relevance": 1, **spans})
    run = pd.DataFrame({"query_id": "t", "doc_id": "a", "score": [2.0, 1.0], "start": [0, 10], "length": 10})
    words = "^{} counts documents: it ignores the spans .* use NuggetR"
    with pytest.warns(CoverageWarning, match=words.format("I-rec@3")) as caught:
        scores = evaluate(["CharR@3", "I-rec@3", "D-nDCG@3"], qrels, run)
    assert [one.filename for one in caught] == [__file__]
    assert scores.mean().iloc[0].tolist() == [0.5, 1.0, 1.0]
    tables = qrels, run.merge(qrels[["query_id", "iteration"]])
    by_intent = [table.assign(query_id="t#" + table["iteration"]) for table in tables]
    assert evaluate("CharR", *by_intent).values.tolist() == [[[1.0, 0.0]]]
    evaluate("CharR", qrels, run)
    for measures in (["StRecall@3", "CharR"], ["StRecall@3", "I-rec@3"]):
        with pytest.warns(CoverageWarning, match=words.format("StRecall@3")) as caught:
            evaluate(measures, qrels, run)
        assert [one.filename for one in caught] == [__file__]


# ------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"iteration": None}, "topic 't', document 'a' (row 0): no iteration"),
        ({"iteration": ""}, "topic 't', document 'a' (row 0): no iteration"),
        ({"iteration": ["1"] * 4 + [" "] * 5}, "(row 4): no iteration"),
        ({"probability": -0.5}, "document 'a' (row 0), intent '1': the probability is -0.5"),
        ({"probability": float("inf")}, "intent '1': the probability is inf"),
        ({"probability": "much"}, "document 'a' (row 0), intent '1': the probability 'much' is not a number"),
        ({"probability": 0.0}, "the probabilities of topic 't' sum to 0;"),
        (
            {"probability": 0.5},
            "the probabilities of topic 't' sum to 1.5; the sum must be above 0 and at most 1.001",
        ),
        (
            {"probability": float("nan")},
            "document 'a' is relevant to intent '1', which has no probability; "
            "topic 't' has probabilities for none",
        ),
        ({"intent_type": "navigational"}, "intent '1': the intent_type is 'navigational'; it must be 'inf'"),
        (
            {"intent_type": ["nav", "inf", *["inf"] * 7]},
            "intent '1': the intent_type is 'inf', but 'nav' at row 0",
        ),
        (
            {"probability": [0.5, 0.4, 0.5, *[0.3] * 3, *[0.2] * 3]},
            "intent '1': the probability is 0.4, but 0.5 at row 0",
        ),
    ],
)
def test_invalid_columns_are_rejected(columns, problem):
    with pytest.raises(InputError) as caught:
        value(frame(**columns))
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("intents", "problem"),
    [
        (
            {"t": {"1": 0.5, "2": 0.3}},
            "document 'c' is relevant to intent '3', which has no probability; "
            "topic 't' has probabilities for '1', '2'",
        ),
        ({"u": {"1": 1}}, "topic 't' of the qrels has no probabilities"),
        (
            {"t": {"1": 0.6, "2": 0.3, "3": 0.2}},
            "sum to 1.1; the sum must be above 0 and at most 1.001: 0.6, 0.3, 0.2",
        ),
        ({"t": {"1": 0, "2": 0, "3": 0}}, "sum to 0;"),
        ({"t": {"1": -1}}, "topic 't', intent '1': the probability is -1"),
        ({"t": {"1": float("nan")}}, "intent '1': the probability is missing"),
        ({"t": {"1": "x"}}, "intent '1': the probability 'x' is not a number"),
        (
            {"t": {"1": (1, "n")}},
            "the intent_type is 'n'; it must be 'inf' (informational) or 'nav' (navigational)",
        ),
        ({"t": 5}, "topic 't': expected a dict by intent, found 5"),
        (5, "intents: cannot read 5; give a dict of dicts by topic and intent"),
        ({"t": {None: 1}}, "topic 't': intent: an id is missing"),
        ({"t": {1: 0.3, "1": 0.3}}, "intents: topic 't': intent: 1 and '1' are the same as text"),
        ({1: {"a": 1}, "1": {"b": 1}}, "intents: topic: 1 and '1' are the same as text"),
        ({"t": {"1": ()}}, "topic 't', intent '1': () must be a probability, or a pair of"),
        ({"t": {"1": [1, "nav", 2]}}, "intent '1': [1, 'nav', 2] must be a probability, or a pair of"),
        (
            pd.DataFrame([["t", "1", 0.5, 0.5]], columns=["query_id", "iteration", *["probability"] * 2]),
            "intents: the table has several columns named probability",
        ),
        (pd.DataFrame({"query_id": ["t"]}), "has no column iteration, probability"),
    ],
)
def test_invalid_probabilities_are_rejected(intents, problem):
    with pytest.raises(InputError) as caught:
        value(plain(), intents=intents)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("t 1\n", "line 1: expected a line topic intent probability [inf|nav]: 't 1'"),
        ("t 1 x\n", "line 1: expected a line topic intent probability [inf|nav]: 't 1 x'"),
        ("\nt 1 1 other\n", "line 2): the intent_type is 'other'"),
        ("t 1 .5\nt 1 .4\n", "line 2) is (0.4, 'inf'), but (0.5, 'inf') at "),
    ],
)
def test_files_of_probabilities_are_checked_line_by_line(tmp_path, lines, problem):
    (tmp_path / "intents").write_text(lines)
    with pytest.raises(InputError) as caught:
        value(plain(), intents=tmp_path / "intents")
    assert problem in str(caught.value)
    assert "intents" in str(caught.value)


@pytest.mark.parametrize(
    "qrels", [{"t": {"a": 1}}, frame()[:3].drop(columns="iteration")], ids=["dict", "frame"]
)
def test_qrels_without_intents_are_rejected(qrels):
    message = r"^D\(measure='Q'\)@10 needs intents, but the qrels have no column iteration: "
    with pytest.raises(InputError, match=message):
        value(qrels, "D(measure='Q')@10")
    with pytest.raises(InputError, match=r"^intents are given, but the qrels have no column iteration: "):
        value(qrels, intents={"t": {"1": 1}})
    with pytest.raises(InputError, match=r"^StRecall@5 needs intents"):
        value(qrels, "StRecall@5")


def test_a_topic_may_have_only_rows_of_unlisted_intents():
    unlisted = ir_measures.Qrel("u", "n", 0, "0")
    qrels = [ir_measures.Qrel("t", "b", 1, "1"), unlisted]
    known = {"t": {"1": 1}, "u": {"1": 0.5, "2": 0.5}}
    for given, options in ((qrels, {"intents": known}), (ir_graded.with_intents(qrels, known), {})):
        found = evaluate([MEASURE, "IA-nDCG@10"], given, {"t": {"b": 1.0}, "u": {"n": 1.0}}, **options)
        assert found.values[:, 0].tolist() == [[1, 0], [1, 0]]


def test_a_document_with_two_levels_for_one_intent_is_rejected():
    twice = pd.concat([plain(), plain().iloc[[0]].assign(relevance=1)])
    message = r"topic 't', document 'a', intent '1' has level 2 at row 0 and level 1 at row 9"
    with pytest.raises(InputError, match=message):
        value(twice)
    assert value(pd.concat([frame(), frame().iloc[[0]]])) == pytest.approx(VALUE, abs=1e-11)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: ir_graded.D(measure="AP"), "D: measure='AP' must be one of Q, AWP"),
        (lambda: ir_graded.D(measure="Q@10"), "the outer measure: D(measure='Q')@10"),
        (lambda: ir_graded.D_sharp(measure=ir_graded.Q @ 5), "the outer measure: D#(measure='Q')@5"),
        (lambda: ir_graded.D(measure="Q(beta=-1)"), "Q: beta=-1 must be"),
        (lambda: ir_graded.D(measure="NCU(stops={1:2})"), "has stops, which depend on levels"),
        (lambda: ir_graded.D(measure="gRBP(residual=True)"), "must not have a residual"),
    ],
)
def test_parameters_are_checked_at_construction(make, problem):
    with pytest.raises(ParameterError) as caught:
        make()
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("measure", "problem"),
    [
        ("D", "D needs a measure, one of Q, AWP"),
        (
            "D-Q",
            "needs a cutoff because its base measure does: for example D(measure=\"Q(norm='cutoff')\")@10",
        ),
        ("IA(measure='nCG')", "needs a cutoff"),
        ("D(measure=\"nDCG(dcg='exp-log2')\")", "needs a cutoff"),
    ],
)
def test_incomplete_measures_are_rejected(measure, problem):
    with pytest.raises(ParameterError) as caught:
        value(frame(), measure)
    assert problem in str(caught.value)


# ---------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ("D#-Q@10", "D#(measure=\"Q(norm='cutoff')\")@10"),
        ("D#-Q(gamma=0.3)@10", "D#(gamma=0.3,measure=\"Q(norm='cutoff')\")@10"),
        ("D-MSnDCG@10", "D(measure='nDCG')@10"),
        ("IA#-P+@5", "IA#(measure='P+')@5"),
        ("DIN-RBP", "DIN(measure='gRBP')"),
        ("P+Q#@10", "P+Q#@10"),
        ("P+Q", "P+Q"),
        ("P+@10", "P+@10"),
        ("PplusQsharp(gamma=1)", "P+Q#(gamma=1)"),
        ("Irec@3", "I-rec@3"),
        ("D(measure='Q-measure(beta=1.0)')", "D(measure='Q')"),
        ("D(measure='Q(gains={2:3,3:7})')@7", "D(measure='Q(gains={2:3,3:7})')@7"),
        ("D(measure='NCU(stop=\"rb\")')@10", "D(measure=\"NCU(stop='rb')\")@10"),
    ],
)
def test_names_read_and_print(given, printed):
    read = [ir_measures.parse_measure(given), *ir_measures.parse_trec_measure(given)]
    assert [str(measure) for measure in read] == [printed] * 2
    assert ir_measures.parse_measure(printed) == read[0]


@pytest.mark.parametrize("text", ["nDCG#@10", "Q#@10", "AP#x", "D#Q@10", "P+#@10"])
def test_a_hash_outside_a_name_is_rejected(text):
    with pytest.raises((ValueError, NameError)):
        ir_measures.parse_measure(text)


def test_base_measures_that_are_equal_make_equal_measures():
    one = ir_graded.D(measure=ir_graded.Q(beta=1.0))
    assert one == ir_graded.D(measure="Q-measure") == ir_graded.D(measure="Q")
    assert hash(one) == hash(ir_graded.D(measure="Q"))


def test_bounds_of_unjudged_documents_are_rejected():
    with pytest.raises(ParameterError, match=r"D\(measure='Q'\)@10 needs the column iteration"):
        ir_graded.score_bounds("D(measure='Q')@10", frame(), RUN)


def test_the_error_of_an_unlisted_intent_names_a_misspelled_one():
    qrels = [ir_measures.Qrel("t", "a", 1, "safety"), ir_measures.Qrel("t", "b", 1, "price")]
    listed = {"t": {"sfaety": 0.5, "price": 0.5}}
    with pytest.raises(ir_graded.InputError) as caught:
        evaluate("D(measure='Q')", qrels, {"t": {"a": 1.0}}, intents=listed)
    assert str(caught.value).endswith(
        "intent 'safety', which has no probability; topic 't' has probabilities for 'price', and 'sfaety' "
        "without a document: is one of them misspelled?"
    )
