"""``ir_graded.evaluate``: several runs of any form by measures of all kinds."""

import sys

import helpers
import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from ir_measures import AP, RR, Judged, NumQ, NumRel, NumRet, P, nDCG
from packed import gzipped

import ir_graded
from ecosystem import forms
from ir_graded import InputError, NoSharedTopicsError, ParameterError, Q, evaluate
from ir_graded.measures.classic import check_computable

#: The runs lack topics on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")

QRELS = {"1": {"a": 2, "b": 1}, "2": {"c": 1}}
RUN = {"1": {"b": 3.0, "x": 2.0, "a": 1.0}, "3": {"c": 1.0}}
OTHER = {"1": {"a": 2.0, "y": 1.0}, "2": {"z": 3.0, "c": 2.0}}

TABLE_QRELS, TABLE_RUN = forms.dicts("qrels", forms.QRELS), forms.dicts("run", forms.RUN)
ALL = forms.measures_of_registry()
THEIRS = [AP, nDCG @ 10, P @ 5, Judged @ 10, RR @ 10, RR, NumRet, NumRel, NumQ]


def as_dict(scores, run):
    """Return values by printed measure and topic (as text) of one run."""
    at = scores.runs.index(run)
    return {
        (name, str(topic)): scores.values[position, at, number]
        for position, name in enumerate(scores.names)
        for number, topic in enumerate(scores.query_ids)
    }


def same(scores, expected):
    """Check equality up to the last digits of sums, whose order of addition may differ."""
    return scores == pytest.approx(expected, rel=1e-14, abs=0)


# ------------------------------------------------------------------------------------------- measures


def test_scores_equal_ir_measures_topic_by_topic():
    expected, _ = forms.results(ALL + THEIRS, TABLE_QRELS, TABLE_RUN)
    scores = evaluate(ALL + THEIRS, TABLE_QRELS, TABLE_RUN)
    assert same(as_dict(scores, "run"), expected)
    assert scores.values.shape == (len(ALL + THEIRS), 1, len(TABLE_QRELS))
    assert scores.measures == tuple(ALL + THEIRS)


def test_aggregates_equal_ir_measures():
    expected = ir_measures.calc_aggregate(ALL + THEIRS, TABLE_QRELS, TABLE_RUN)
    means = evaluate(ALL + THEIRS, TABLE_QRELS, TABLE_RUN).mean().loc["run"]
    assert means.to_dict() == {str(m): pytest.approx(value, abs=1e-12) for m, value in expected.items()}
    # Counts are summed: 13 documents for the five topics of the qrels, and one for a topic without qrels.
    assert means["NumRet"] == 13
    assert means["NumQ"] == 4
    for measure in ALL:
        assert means[str(measure)] == expected[measure]


def test_measures_of_all_kinds_keep_the_given_order():
    scores = evaluate([nDCG @ 10, "P-measure@1000", "map", Q(beta=0), "P_5,10", "NumRet", "AP"], QRELS, RUN)
    assert scores.names == ["nDCG@10", "P-measure@1000", "AP", "Q(beta=0)", "P@5", "P@10", "NumRet"]
    assert (scores.values[3] == scores.values[2]).all()
    assert scores.mean().loc["run", "NumRet"] == 3


@pytest.mark.parametrize("measures", ["Q", Q, ["Q"], (Q,), {"Q"}, iter(["Q"])])
def test_one_measure_is_accepted(measures):
    scores = evaluate(measures, QRELS, RUN)
    assert scores.names == ["Q"]
    assert scores.values.ravel() == pytest.approx([0.75, 0], abs=1e-12)


def test_unknown_and_unsupported_measures_are_rejected():
    with pytest.raises(NameError, match="NoSuch"):
        evaluate(["Q", "NoSuch"], QRELS, RUN)
    with pytest.raises(ir_graded.MeasureSyntaxError, match="P-measure@@"):
        evaluate("P-measure@@", QRELS, RUN)
    with pytest.raises(ir_graded.ParameterError, match="nCG"):
        evaluate("nCG", QRELS, RUN)
    with pytest.raises(ValueError, match="neither a measure"):
        evaluate(["Q", 3], QRELS, RUN)


@pytest.mark.parametrize("measure", ["alpha_nDCG@10", "ERR_IA@10", "NRBP", "AP_IA", "StRecall@10", "P_IA@5"])
def test_diversity_measures_need_intents(measure):
    with pytest.raises(InputError, match=rf"^{measure} needs intents, but the qrels have no column"):
        evaluate(["Q", measure], QRELS, RUN)


def test_a_level_above_the_named_scale_is_rejected():
    message = r"topic '1', document 'a' has level 2, above 1, the highest level of the measure"
    with pytest.raises(InputError, match=message):
        evaluate(["nERR(max_rel=1)@10"], QRELS, RUN)


# ----------------------------------------------------------------------------------------------- runs


INTS = ["pandas int64", "pandas Int64", "pandas int64[pyarrow]", "polars UInt16"]


@pytest.mark.parametrize("form", [*(f"{name} numbers" for name in INTS), "arrow of int"])
def test_topics_keep_their_ids_as_ints(form):
    make = forms.TYPES[form].make
    scores = evaluate(["Q", AP], *(make(kind, rows) for kind, rows in forms.ROWS.items()))
    assert scores.query_ids == (101, 102, 103, 104, 105)
    assert list(scores.matrix("Q").index) == [101, 102, 103, 104, 105]


def test_runs_of_several_forms_in_one_mapping_are_scored(tmp_path):
    runs = {
        "dicts": TABLE_RUN,
        "frame": forms.pandas()("run", forms.RUN),
        "file": forms.path("run", forms.RUN, tmp_path),
        "tuples": forms.generator("run", forms.RUN),
    }
    scores = evaluate(["Q", AP], TABLE_QRELS, runs)
    assert scores.runs == tuple(runs)
    for name in runs:
        assert as_dict(scores, name) == as_dict(scores, "dicts")


def test_a_list_of_runs_is_numbered():
    scores = evaluate("Q", QRELS, [RUN, OTHER])
    assert scores.runs == ("run 1", "run 2")
    for at, run in enumerate((RUN, OTHER)):
        assert (scores.values[:, at] == evaluate("Q", QRELS, run).values[:, 0]).all()


def write(place, rows):
    place.parent.mkdir(parents=True, exist_ok=True)
    content = helpers.trec_lines("run", rows).encode()
    place.write_bytes(gzipped(content) if place.suffix == ".gz" else content)
    return place


ROWS = [("1", "b", 3.0), ("1", "x", 2.0), ("1", "a", 1.0)]


def test_a_path_names_its_run(tmp_path):
    for name, expected in [("bm25.res.gz", "bm25.res"), ("run", "run"), ("a.b.txt", "a.b.txt")]:
        place = write(tmp_path / name, ROWS)
        for runs in (place, str(place), [place], (str(place),)):
            scores = evaluate("Q", QRELS, runs)
            assert scores.runs == (expected,)
            assert scores.values.ravel() == pytest.approx([0.75, 0], abs=1e-12)


def test_a_list_of_paths_is_named_by_files(tmp_path):
    places = [write(tmp_path / n, ROWS[:count]) for count, n in [(1, "b.txt"), (3, "a.txt.gz"), (2, "c")]]
    scores = evaluate(["Q", "NumRet"], QRELS, [places[0], str(places[1]), places[2]])
    assert scores.runs == ("b.txt", "a.txt", "c")
    assert scores.values[1].sum(axis=1).tolist() == [1, 3, 2]


def test_files_of_equal_names_are_named_by_their_paths(tmp_path):
    places = [
        write(tmp_path / name, ROWS) for name in ("one/run.txt", "two/run.txt", "three/run.txt.gz", "own.txt")
    ]
    scores = evaluate("Q", QRELS, places)
    assert scores.runs == (*map(str, places[:3]), "own.txt")
    with pytest.raises(InputError, match=r"run\.txt.*twice"):
        evaluate("Q", QRELS, [places[0], places[1], str(places[0])])


def test_names_of_runs_are_text():
    assert evaluate("Q", QRELS, {1: RUN, 2: OTHER}).runs == ("1", "2")
    with pytest.raises(InputError, match="1"):
        evaluate("Q", QRELS, {1: RUN, "1": OTHER})


def test_a_run_without_topics_may_be_at_any_position():
    expected = evaluate(["Q", AP], QRELS, OTHER).values[:, 0]
    for empty in ({}, [], {"1": {}}, pd.DataFrame(columns=["query_id", "doc_id", "score"])):
        for names in (("empty", "other"), ("other", "empty")):
            runs = {name: {"empty": empty, "other": OTHER}[name] for name in names}
            scores = evaluate(["Q", AP], QRELS, runs)
            assert scores.runs == names
            assert (scores.values[:, names.index("other")] == expected).all()
            assert not scores.values[:, names.index("empty")].any()


def test_runs_do_not_affect_each_other():
    runs = {"a": RUN, "b": OTHER, "again": RUN}
    scores = evaluate([*ALL, AP], QRELS, runs)
    assert (scores.values[:, 0] == scores.values[:, 2]).all()
    assert (scores.values[:, 1] == evaluate([*ALL, AP], QRELS, OTHER).values[:, 0]).all()
    assert (scores.values[:, 0] != scores.values[:, 1]).any()


def test_topics_are_those_of_the_qrels_in_their_order():
    """Topics that the run lacks score 0; topics that only the run has are left out."""
    qrels = {"b": {"x": 1}, "a": {"x": 1}, "c": {"x": 0}}
    scores = evaluate(["Q", AP, NumRet], qrels, {"a": {"x": 1.0}, "z": {"x": 1.0}, "c": {"x": 1.0}})
    assert scores.query_ids == ("b", "a", "c")
    assert scores.values[:, 0].tolist() == [[0, 1, 0], [0, 1, 0], [0, 1, 1]]
    assert scores.mean().loc["run"].to_dict() == {
        "Q": pytest.approx(1 / 3),
        "AP": pytest.approx(1 / 3),
        "NumRet": 2,
    }


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (ir_measures.P, "P needs a cutoff: for example P@10"),
        (ir_measures.SDCG @ 10, "SDCG@10 needs a max_rel: for example SDCG(max_rel=2)@10"),
        (ir_measures.SDCG, "SDCG needs a cutoff and a max_rel: for example SDCG(max_rel=2)@10"),
        (ir_measures.INSQ, "INSQ needs a max_rel: for example INSQ(max_rel=2)"),
        (ir_measures.IPrec, "IPrec needs a recall: for example IPrec@0.5"),
    ],
    ids=str,
)
def test_the_error_for_a_missing_parameter_shows_an_example(measure, message):
    with pytest.raises(ParameterError) as caught:
        evaluate(measure, QRELS, RUN)
    assert str(caught.value) == message
    check_computable(ir_measures.parse_measure(message.rpartition(" ")[2]))


def test_an_unknown_word_is_rejected():
    with pytest.raises(ParameterError, match=r"^beyond=<int of too many digits> must be 'keep' or"):
        evaluate("Q", QRELS, RUN, beyond=10**5000)


# ------------------------------------------------------------------------------------- no shared topics

MANY = {f"q{number}": {"a": 1} for number in (5, 3, 4, 1, 2)}


@pytest.mark.parametrize("form", ["dicts", "pandas", "polars", "tuples", "path"])
@pytest.mark.parametrize("measures", [["Q"], [AP], ["Q", AP]], ids=["ours", "theirs", "mixed"])
def test_runs_without_shared_topics_are_rejected(form, measures, tmp_path):
    rows = [(topic, "a", 1) for topic in MANY]
    run = forms.FORMS[form].make("run", [(f"r{topic}", doc, 1.0) for topic, doc, _ in rows], tmp_path)
    with pytest.raises(NoSharedTopicsError) as caught:
        evaluate(measures, forms.FORMS[form].make("qrels", rows, tmp_path), {"mine": run})
    message = str(caught.value)
    assert "'mine'" in message
    assert sum(f"'rq{number}'" in message for number in range(6)) == 3
    assert sum(f"'q{number}'" in message for number in range(6)) == 3
    assert isinstance(caught.value, ValueError)


def test_one_run_without_shared_topics_is_rejected():
    with pytest.raises(NoSharedTopicsError, match=r"'wrong'.* has '9', the qrels have '1', '2'$"):
        evaluate("Q", QRELS, {"right": RUN, "wrong": {"9": {"a": 1.0}}})


@pytest.mark.parametrize("qrels", [{}, [], pd.DataFrame(columns=["query_id", "doc_id", "relevance"])])
def test_empty_qrels_are_rejected(qrels):
    for run in (RUN, {}):
        with pytest.raises(NoSharedTopicsError, match="empty"):
            evaluate(["Q", AP], qrels, run)


@pytest.mark.parametrize("form", ["tuples", "pandas", "polars", "arrow", "path"])
def test_an_empty_run_scores_zero(form, tmp_path):
    scores = evaluate([*ALL, AP, NumRet], QRELS, forms.FORMS[form].make("run", [], tmp_path))
    ranks = [name.startswith("FirstRank") for name in scores.names]
    assert not scores.values[~np.array(ranks)].any()
    assert (scores.values[ranks] > 1).all()
    assert scores.values.shape[2] == 2


def read_before():
    """Return a generator of ir-measures and a reader of Arrow batches, both exhausted."""
    run = ir_measures.read_trec_run("1 Q0 a 1 3.0 t\n")
    batches = forms.arrow("run", [("1", "a", 3.0)]).to_reader()
    for consumed in (run, batches):
        assert evaluate("Q", QRELS, consumed).values.any()
    return [run, batches, iter([])]


@pytest.mark.parametrize("number", range(3))
def test_an_exhausted_iterator_is_rejected(number):
    run = read_before()[number]
    message = rf"run: the {type(run).__name__} has no rows; was it read before\?.* give a list"
    for call in (
        lambda: evaluate("Q", QRELS, run),
        lambda: evaluate([AP], QRELS, run),
        lambda: ir_graded.explain("Q", QRELS, run, "1"),
        lambda: ir_graded.unjudged(QRELS, run),
    ):
        with pytest.raises(InputError, match=message):
            call()


def test_an_iterator_passed_twice_is_named_in_the_error():
    run = forms.generator("run", forms.RUN)
    with pytest.raises(InputError, match=r"^run 'second': the generator has no rows"):
        evaluate("Q", TABLE_QRELS, {"first": run, "second": run})


def test_exhausted_qrels_are_rejected():
    qrels = ir_measures.read_trec_qrels("1 0 a 1\n")
    evaluate("Q", qrels, RUN)
    with pytest.raises(InputError, match="qrels"):
        evaluate("Q", qrels, RUN)


# --------------------------------------------------------------------------------------------- progress


@pytest.mark.parametrize("progress", [None, False])
def test_the_progress_bar_is_off_without_a_terminal(capsys, progress):
    evaluate(["Q", AP], QRELS, {"a": RUN, "b": OTHER, "c": RUN}, progress=progress)
    assert capsys.readouterr() == ("", "")


def test_the_progress_bar_can_be_switched_on(capsys):
    scores = evaluate("Q", QRELS, {"a": RUN, "b": OTHER}, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "evaluating" in err
    assert scores.runs == ("a", "b")


def test_the_progress_bar_is_on_in_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    evaluate("Q", QRELS, {"a": RUN, "b": OTHER})
    assert "evaluating" in capsys.readouterr().err
    evaluate("Q", QRELS, {"a": RUN, "b": OTHER}, progress=False)
    evaluate("Q", QRELS, RUN)
    assert capsys.readouterr().err == ""


# ---------------------------------------------------------------------------------------- random input

IDS = st.sampled_from(["1", "10", "2", "a", "é"])


def tables(values):
    return st.dictionaries(IDS, st.dictionaries(IDS, values, min_size=1), min_size=1)


@pytest.mark.slow
@given(
    qrels=tables(st.integers(-1, 3)),
    runs=st.lists(tables(st.floats(-5, 5, width=16)), min_size=1, max_size=3),
)
def test_scores_equal_ir_measures_on_random_runs(qrels, runs):
    measures = ["Q", "P+", "GAP", AP, nDCG @ 3, NumRet]
    named = {f"run {number}": run for number, run in enumerate(runs)}
    if any(qrels.keys().isdisjoint(run) for run in runs):
        with pytest.raises(NoSharedTopicsError):
            evaluate(measures, qrels, named)
        return
    scores = evaluate(measures, qrels, named)
    for name, run in named.items():
        assert same(as_dict(scores, name), forms.results(measures, qrels, run)[0])
    assert np.isfinite(scores.values).all()


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("nCG", "nCG needs a cutoff, a whole number >= 1: for example nCG@10"),
        ("P", "P needs a cutoff: for example P@10"),
        ("alpha_DCG", "alpha_DCG needs a cutoff: for example alpha_DCG@10"),
        ("iP", "iP needs a recall"),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda measure, absent: ir_graded.evaluate(["Q", measure], absent, RUN),
        lambda measure, absent: ir_graded.evaluate(measure, absent, RUN),
        lambda measure, absent: ir_graded.evaluate(measure, absent, RUN, intents=absent, lengths=absent),
        lambda measure, absent: ir_graded.explain(measure, absent, RUN, "1"),
        lambda measure, absent: ir_graded.score_bounds(measure, absent, RUN),
        lambda measure, absent: ir_graded.score_intervals(measure, absent, RUN),
        lambda measure, absent: ir_graded.compare_runs(measure, absent, RUN, {"b": RUN}),
        lambda measure, absent: ir_graded.report(measure, absent, {"a": RUN, "b": RUN}, "report.html"),
    ],
)
def test_measures_are_checked_before_qrels_are_read(measure, message, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ir_graded.ParameterError) as caught:
        call(measure, tmp_path / "absent.txt")
    assert message in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda absent: ir_graded.evaluate("ERR", absent, RUN), "ERR needs a cutoff"),
        (lambda absent: ir_graded.ties("nCG", absent, RUN), "nCG.* needs a cutoff"),
        (lambda absent: ir_graded.ties("P", absent, RUN), "P needs a cutoff"),
        (lambda absent: ir_graded.compare_judgments(absent, absent, "nCG", RUN), "nCG needs a cutoff"),
        (
            lambda absent: ir_graded.compare_judgments(absent, absent, "NumRel(rel=2)", RUN),
            r"NumRel\(rel=2\): NumRel takes rel; ir-measures supports rel=1 only",
        ),
    ],
)
def test_measures_that_a_function_does_not_take_are_rejected_before_qrels_are_read(call, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        call(tmp_path / "absent.txt")


def test_many_topics_that_are_not_in_the_qrels_change_nothing():
    topics = [f"t{number}" for number in range(1500)]
    run = pd.DataFrame({"query_id": topics, "doc_id": "a", "score": 1.0})
    scores = ir_graded.evaluate("Q", {topic: {"a": 1, "b": 1} for topic in topics[::2]}, run)
    assert scores.query_ids == tuple(topics[::2])
    assert (scores.values == 0.5).all()
