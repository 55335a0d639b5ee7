"""The content of an explanation: worked examples, notes, forms of input, errors."""

import ir_measures
import numpy as np
import pandas as pd
import pytest

import ir_graded
from ir_graded.errors import FileFormatError, InputError, NoSharedTopicsError, ParameterError

# Example a of the measures' worked examples: levels S=3, A=2, B=1, one document of each.
QRELS = {"1": {"S": 3, "A": 2, "B": 1, "N": 0}}
SYSTEM_X = {"1": {"B": 9.0, "S": 8.0}}
SYSTEM_Y = {"1": {"N": 9.0, "S": 8.0}}
INVERSE = {"1": {"B": 9.0, "A": 8.0, "S": 7.0}}


def contributions(measure, run, qrels=QRELS):
    return ir_graded.explain(measure, qrels, run, "1").columns["contribution"].tolist()


def test_the_published_example_with_one_document_per_level():
    assert contributions("P-measure", SYSTEM_X) == pytest.approx([0, 6 / 7])
    assert contributions("P-measure", SYSTEM_Y) == pytest.approx([4 / 7])
    assert contributions("O-measure", SYSTEM_X) == pytest.approx([1 / 2, 0])
    assert contributions("O-measure", SYSTEM_Y) == pytest.approx([4 / 7])
    # BR of the inverse list is 2/4, 5/7 and 1, each with probability 1/3.
    assert contributions("P+", INVERSE) == pytest.approx([1 / 6, 5 / 21, 1 / 3])
    found = ir_graded.explain("P-measure", QRELS, SYSTEM_X, "1")
    counted = pd.DataFrame(found.columns)
    assert counted.to_dict("list") == {
        "rank": [1, 2],
        "doc_id": ["B", "S"],
        "level": [1.0, 3.0],
        "gain": [1.0, 3.0],
        "C": [1, 2],
        "cg": [1.0, 4.0],
        "cg_star": [3.0, 5.0],
        "BR": [2 / 4, 6 / 7],
        "stop": [0.0, 1.0],
        "utility": [2 / 4, 6 / 7],
        "contribution": [0.0, 6 / 7],
    }
    assert (found.run, str(found.measure), found.query_id, found.score) == ("run", "P-measure", "1", 6 / 7)
    assert (found.relevant, found.retrieved, found.below) == (3, 2, 0)


def long_list():
    """Example b: R(S)=3, R(A)=3, R(B)=4; S at 2, A at 5, S at 8, B at 12, A at 15."""
    levels = {"s1": 3, "s2": 3, "s3": 3, "a1": 2, "a2": 2, "a3": 2, "b1": 1, "b2": 1, "b3": 1, "b4": 1}
    places = {2: "s1", 5: "a1", 8: "s2", 12: "b1", 15: "a2"}
    return {"1": levels}, {"1": {places.get(n, f"x{n}"): 100.0 - n for n in range(1, 21)}}


@pytest.mark.parametrize(
    ("measure", "score"),
    [
        ("Q(beta=0)", 0.1942),
        ("Q", 0.2219),
        ("NCU(stop='rb',gamma=0.7,beta=0)", 0.3575),
        ("NCU(stop='rb',gamma=0.7)", 0.3842),
        ("NCU(stop='gu',beta=0)", 0.2329),
        ("NCU(stop='gu')", 0.2610),
    ],
)
def test_the_published_example_of_stop_probabilities(measure, score):
    found = ir_graded.explain(measure, *long_list(), "1")
    assert found.columns["rank"].tolist() == [2, 5, 8, 12, 15]
    assert found.to_frame()["contribution"].sum() == pytest.approx(score, abs=5e-5)
    assert str(found).splitlines()[-1].split() == ["score", f"{score:.4f}"]
    if "beta" not in measure:
        expected = [0.5000, 0.3889, 0.4400, 0.4194, 0.4706]
        assert found.columns["BR"].tolist() == pytest.approx(expected, abs=5e-5)


def test_the_text_ends_in_the_score_and_repeats_no_column():
    lines = str(ir_graded.explain("NCU(stops={1:5})@9", *long_list(), "1")).splitlines()
    assert lines[:3] == [
        "NCU(stops={1:5})@9, topic 1",
        "Relevant documents retrieved: 5 of 10, in a ranking of 20.",
        "Below rank 9, where they do not count: 2.",
    ]
    assert lines[6].split() == ["rank", "doc_id", "level", "C", "cg", "cg*", "BR", "stop", "contribution"]
    assert len(lines) == 20
    assert max(map(len, lines)) <= 80
    assert lines[-1].split()[0] == "score"
    with_gains = str(ir_graded.explain("Q(gains={3:10})", *long_list(), "1")).splitlines()
    assert "gain" in with_gains[5].split()


def test_the_number_of_digits_can_be_chosen():
    found = ir_graded.explain("Q", QRELS, SYSTEM_X, "1")
    assert found.text(2).split()[-1] == f"{found.score:.2f}"
    assert found.text(-1).split()[-1] == repr(found.score)


def test_a_condensed_list_has_both_ranks():
    run = {"1": {"x": 9.0, "N": 8.0, "y": 7.0, "S": 6.0, "z": 5.0, "A": 4.0}}
    found = ir_graded.explain("Q(judged_only=True)@2", QRELS, run, "1")
    rows = [["N", 1, 2, "not relevant"], ["S", 2, 4, "counted"], ["A", 3, 6, "missed"]]
    frame = found.to_frame()
    assert frame[["doc_id", "rank", "rank_in_run", "state"]][:3].to_numpy().tolist() == rows
    assert frame["rank_in_run"].isna().tolist() == [False, False, False, True]
    assert found.below == 1
    assert "condensed list" in str(found)
    assert "rank_in_run" not in ir_graded.explain("Q", QRELS, run, "1").to_frame()


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_max_rel_comes_from_all_qrels():
    """One topic is explained, but the scale is that of all topics."""
    qrels = {**QRELS, "2": {"Z": 9}}
    for measure in ("EBR", "nERR", "iRBU", "NCU(stop='err')"):
        expected = ir_graded.evaluate(measure, qrels, SYSTEM_X).values[0, 0, 0]
        assert ir_graded.explain(measure, qrels, SYSTEM_X, "1").score == expected
        assert expected != ir_graded.explain(measure, QRELS, SYSTEM_X, "1").score


def test_sums_that_are_divided_again_are_explained():
    found = ir_graded.explain("nDCG@10", QRELS, SYSTEM_X, "1")
    ideal = 3 + 2 / np.log2(3) + 1 / 2
    assert f"The sum is divided by {ideal:g}, DCG of the ideal list." in found.notes
    product = found.columns["gain"] * found.columns["discount"] / ideal
    assert product == pytest.approx(found.columns["contribution"])
    assert "divided" not in str(ir_graded.explain("AP", QRELS, SYSTEM_X, "1"))
    nothing = ir_graded.explain("nERR(gains={1:0,2:0,3:0})", QRELS, SYSTEM_X, "1")
    assert nothing.score == 0
    assert "The sum is divided by 0, ERR of the ideal list: it scores 0." in nothing.notes


def test_articles_are_explained_with_f_and_gp():
    whole = {"query_id": "1", "start": 0, "length": 10}
    qrels = pd.DataFrame({"doc_id": ["a", "b"], "relevance": 1, **whole})
    run = pd.DataFrame({"doc_id": ["x", "a", "b"], "score": [3, 2, 1], **whole, "start": [0, 5, 0]})
    found = ir_graded.explain("MAgP@2", qrels, run, "1")
    row = {"rank": 2, "doc_id": "a", "level": 1.0, "C": 1, "F": 0.5, "gP": 0.25}
    rows = pd.DataFrame(found.columns).to_dict("records")
    assert rows == [{**row, "stop": 0.5, "utility": 0.25, "contribution": 0.125}]
    states = found.to_frame()[["rank", "doc_id", "state"]].to_numpy().tolist()
    assert states == [[1, "x", "unjudged"], [2, "a", "counted"], [3, "b", "missed"]]
    assert found.notes[0] == "Articles with relevance retrieved: 2 of 2, in a ranking of 3."
    assert found.below == 1
    assert "utility" not in str(found)


@pytest.mark.parametrize(
    "measure", ["Q", "P@5", "nDCG", "R-measure", "RBP(p=0.5,rel=1)", "SetF", "Success@2"]
)
def test_topics_without_contributions_have_notes(measure):
    qrels = {**QRELS, "none": {"N": 0}, "absent": {"A": 1}, "missed": {"A": 1}}
    run = {**SYSTEM_X, "none": {"N": 1.0}, "missed": {"x": 1.0}}
    notes = {
        "none": (
            "The qrels have no relevant documents for the topic: it scores 0.",
            "Down to rank 1, none counts: 1 not relevant, 0 unjudged.",
        ),
        "absent": (
            "The run has no document for the topic: it scores 0. Relevant documents: 1.",
            "Missed: 1, in the last rows, with a rank if the run has them.",
        ),
        "missed": (
            "Relevant documents retrieved: 0 of 1, in a ranking of 1.",
            "Without any to count, the topic scores 0.",
            "Down to rank 1, none counts: 0 not relevant, 1 unjudged.",
            "Missed: 1, in the last rows, with a rank if the run has them.",
        ),
    }
    rows = {"none": [["N", 1, "not relevant"]], "absent": [["A", None, "missed"]]}
    rows["missed"] = [["x", 1, "unjudged"], *rows["absent"]]
    for topic, expected in notes.items():
        found = ir_graded.explain(measure, qrels, run, topic)
        assert found.notes == expected
        frame = found.to_frame()[["doc_id", "rank", "state"]]
        assert frame.astype(object).where(frame.notna(), None).to_numpy().tolist() == rows[topic]
        assert (found.score, frame["state"].eq("counted").sum()) == (0, 0)
        assert str(found).splitlines()[-1].split() == ["score", "0.0000"]


def test_judged_lists_the_judged_documents_retrieved():
    found = ir_graded.explain("Judged@2", QRELS, SYSTEM_Y, "1")
    assert found.columns["doc_id"].tolist() == ["N", "S"]
    assert found.notes[0].startswith("Judged documents retrieved: 2 of 4")


def forms(tmp_path):
    qrels = [("1", doc, level) for doc, level in QRELS["1"].items()]
    run = [("1", doc, score) for doc, score in SYSTEM_X["1"].items()]
    yield [QRELS, SYSTEM_X, "1"]
    yield [{1: QRELS["1"]}, {1: SYSTEM_X["1"]}, 1]
    frames = (
        pd.DataFrame(qrels, columns=["query_id", "doc_id", "relevance"]),
        pd.DataFrame(run, columns=["query_id", "doc_id", "score"]),
    )
    yield [*frames, "1"]
    yield [
        iter([ir_measures.Qrel(*row) for row in qrels]),
        iter([ir_measures.ScoredDoc(*row) for row in run]),
        "1",
    ]
    (tmp_path / "qrels").write_text("".join(f"{t} 0 {d} {level}\n" for t, d, level in qrels))
    (tmp_path / "x.run").write_text("".join(f"{t} Q0 {d} 1 {score} tag\n" for t, d, score in run))
    yield [tmp_path / "qrels", str(tmp_path / "x.run"), "1"]
    yield [frames[0], {"named": SYSTEM_X}, "1"]


def test_all_forms_of_qrels_and_runs_are_explained(tmp_path):
    names = []
    for form in forms(tmp_path):
        found = ir_graded.explain(ir_graded.P_measure @ 10, *form)
        assert found.score == 6 / 7
        assert found.to_frame()["doc_id"].tolist() == ["B", "S", "A"]
        names.append(found.run)
    assert names == ["run", "run", "run", "run", "x.run", "named"]
    assert str(found).startswith("P-measure@10, topic 1, run named\n")


LENGTH = ir_measures.define_byquery(lambda _, run: float(len(run)), name="Length")


@pytest.mark.parametrize(
    ("error", "match", "measure", "query_id"),
    [
        (InputError, "no topic '11'.*they have '1'", "Q", "11"),
        (InputError, "no topic 'zz'.*they have '1'", "Q", "zz"),
        (ParameterError, "NumQ", "NumQ", "1"),
        (ParameterError, "NumRel", "NumRel", "1"),
        (ParameterError, r"NumRet\(rel=1\)", "NumRet", "1"),
        (ParameterError, "Length: explain needs measures that ir_graded computes", LENGTH, "1"),
        (ParameterError, "nCG needs a cutoff", "nCG", "1"),
        (ParameterError, "P needs a cutoff", ir_measures.P, "1"),
        (ParameterError, r"\['Q', 'AP'\] names 2 measures", ["Q", "AP"], "1"),
        (ParameterError, "measure", 10**5000, "1"),
        (InputError, "^<int of too many digits> is not an id", "Q", 10**5000),
        (ParameterError, "names [0-9]+ measures", "recall", "1"),
        (NameError, "nothing", "nothing", "1"),
    ],
    ids=range(13),
)
def test_input_that_cannot_be_explained_is_rejected(error, match, measure, query_id):
    with pytest.raises(error, match=match):
        ir_graded.explain(measure, QRELS, SYSTEM_X, query_id)


def test_wrong_qrels_and_runs_are_rejected(tmp_path):
    with pytest.raises(NoSharedTopicsError, match="empty"):
        ir_graded.explain("Q", {}, SYSTEM_X, "1")
    with pytest.raises(NoSharedTopicsError, match="share no topic"):
        ir_graded.explain("Q", QRELS, {"2": {"S": 1.0}}, "1")
    with pytest.raises(InputError, match=r"one run.*given 2: x, y"):
        ir_graded.explain("Q", QRELS, {"x": SYSTEM_X, "y": SYSTEM_Y}, "1")
    with pytest.raises(InputError, match="needs passages"):
        ir_graded.explain("MAgP", QRELS, SYSTEM_X, "1")
    (tmp_path / "x.run").write_text("1 Q0\n")
    with pytest.raises(FileFormatError):
        ir_graded.explain("Q", QRELS, tmp_path / "x.run", "1")


def others(measure, qrels, run):
    """Return documents that do not count, with level, rank and state."""
    frame = ir_graded.explain(measure, qrels, run, "1").to_frame()
    frame = frame[frame["state"] != "counted"][["doc_id", "level", "rank", "state"]]
    return [tuple(row) for row in frame.astype(object).where(frame.notna(), None).to_numpy()]


def test_missed_and_wrong_documents_are_listed():
    qrels = {"1": {"S": 3, "A": 2, "B": 1, "C": 1, "N": 0, "-": -1}}
    run = {"1": {"N": 9.0, "x": 8.0, "-": 7.0, "B": 6.0, "y": 5.0, "A": 4.0}}
    above = [("N", 0.0, 1, "not relevant"), ("x", None, 2, "unjudged"), ("-", None, 3, "unjudged")]
    missed = [("S", 3.0, None, "missed"), ("A", 2.0, 6, "missed")]
    assert others("nDCG@4", qrels, run) == [*above, *missed, ("C", 1.0, None, "missed")]
    assert others("AP(rel=2)@4", qrels, run) == [*above, ("B", 1.0, 4, "not relevant"), *missed]
    found = ir_graded.explain("AP(rel=2)@4", qrels, run, "1")
    assert (found.above, found.missed) == (4, 2)
    assert "Down to rank 4, none counts: 2 not relevant, 2 unjudged." in found.notes


def test_types_of_columns_do_not_depend_on_the_documents():
    qrels = {"1": {"a": 1, "b": 0}}
    runs = [{"a": 1.0}, {"x": 2.0, "a": 1.0}, {"b": 1.0}, {"x": 1.0}, {}]
    types = [
        ir_graded.explain("Q", qrels, {"1": run, "2": {"a": 1.0}}, "1").to_frame().dtypes for run in runs
    ]
    names = ["rank", "level", "C", "BR", "stop", "contribution"]
    assert [of_run[names].astype(str).tolist() for of_run in types] == [
        ["Int64", "float64", "Int64", *["float64"] * 3]
    ] * len(runs)


def test_only_the_best_of_many_missed_documents_are_listed():
    qrels = {"1": {f"d{number:04}": 1 + (number % 500 == 7) for number in range(2000)}}
    found = ir_graded.explain("nDCG@20", qrels, {"1": {f"x{number}": 1.0 for number in range(30)}}, "1")
    frame = found.to_frame()
    best = ["d0007", "d0507", "d1007", "d1507", *(f"d000{number}" for number in range(6))]
    assert frame["doc_id"][frame["state"] == "missed"].tolist() == best
    assert (found.missed, found.above, len(frame)) == (2000, 20, 20)
    assert [len(line) <= 80 for line in str(found).splitlines()] == [True] * 30
    assert found.notes[2:] == (
        "Down to rank 20, none counts: 0 not relevant, 20 unjudged.",
        "The first 10 of these are listed.",
        "Missed: 2000, the best 10 in the last rows, with a rank if the run has them.",
    )


@pytest.mark.parametrize(
    ("ties", "above"),
    [
        ("doc_id", [("n", 0.0, 1, "not relevant"), ("z", None, 2, "unjudged")]),
        ("optimistic", [("n", 0.0, 1, "not relevant")]),
        (
            "pessimistic",
            [("n", 0.0, 1, "not relevant"), ("z", None, 2, "unjudged"), ("b", None, 3, "unjudged")],
        ),
        ("expected", [("n", 0.0, 1, "not relevant")]),
    ],
)
def test_documents_above_depend_on_the_order_of_ties(ties, above):
    run = {"1": {"n": 2.0, "z": 1.0, "g": 1.0, "b": 1.0}}
    assert others(f"AP(ties='{ties}')", {"1": {"g": 1, "n": 0}}, run) == above


def test_rows_above_the_first_relevant_text_are_listed():
    whole = {"query_id": "1", "relevance": 1, "length": 10}
    qrels = pd.DataFrame({"doc_id": ["a", "b", "c"], "start": 0, **whole})
    rows = [("x", 5, 0), ("a", 4, 20), ("x", 3, 10), ("a", 2, 0), ("b", 1, 40)]
    run = pd.DataFrame(rows, columns=["doc_id", "score", "start"]).assign(query_id="1", length=5)
    above = [("x", None, 1, "unjudged"), ("a", 1.0, 2, "not relevant"), ("x", None, 3, "unjudged")]
    assert others("CharR", qrels, run) == [*above, ("b", 1.0, 5, "missed"), ("c", 1.0, None, "missed")]
    articles = [("x", None, 1, "unjudged"), ("c", 1.0, None, "missed")]
    assert others("gP@3", qrels, run) == articles
    assert others("AP(ranks='rows')", qrels, run) == articles


def test_articles_above_are_in_the_order_of_their_text():
    rows = [("a", 1, 0, 10), ("n", 2, 0, 0)]  # n has the higher level, but no text
    qrels = pd.DataFrame(rows, columns=["doc_id", "relevance", "start", "length"]).assign(query_id="1")
    run = pd.DataFrame({"doc_id": ["a", "n"], "score": 1.0, "start": 0, "length": 5, "query_id": "1"})
    assert others("MAgP(ties='pessimistic')", qrels, run) == [("n", 2.0, 1, "not relevant")]


def test_a_class_is_missed_only_as_a_whole():
    rows = [("a", 1, "one"), ("b", 2, "one"), ("c", 1, "two"), ("d", 1, "two")]
    qrels = pd.DataFrame(rows, columns=["doc_id", "relevance", "equivalence_class"]).assign(query_id="1")
    assert others("EC-Q", qrels, {"1": {"a": 2.0}}) == [("c", 1.0, None, "missed")]
