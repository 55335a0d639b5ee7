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
    return ir_graded.explain(measure, qrels, run, "1").to_frame()["contribution"].tolist()


def test_the_published_example_with_one_document_per_level():
    assert contributions("P-measure", SYSTEM_X) == pytest.approx([0, 6 / 7])
    assert contributions("P-measure", SYSTEM_Y) == pytest.approx([4 / 7])
    assert contributions("O-measure", SYSTEM_X) == pytest.approx([1 / 2, 0])
    assert contributions("O-measure", SYSTEM_Y) == pytest.approx([4 / 7])
    # BR of the inverse list is 2/4, 5/7 and 1, each with probability 1/3.
    assert contributions("P+", INVERSE) == pytest.approx([1 / 6, 5 / 21, 1 / 3])
    found = ir_graded.explain("P-measure", QRELS, SYSTEM_X, "1")
    assert found.to_frame().to_dict("list") == {
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
    assert found.to_frame()["rank"].tolist() == [2, 5, 8, 12, 15]
    assert found.to_frame()["contribution"].sum() == pytest.approx(score, abs=5e-5)
    assert str(found).splitlines()[-1].split() == ["score", f"{score:.4f}"]
    if "beta" not in measure:
        expected = [0.5000, 0.3889, 0.4400, 0.4194, 0.4706]
        assert found.to_frame()["BR"].tolist() == pytest.approx(expected, abs=5e-5)


def test_the_text_ends_in_the_score_and_repeats_no_column():
    lines = str(ir_graded.explain("NCU(stops={1:5})@9", *long_list(), "1")).splitlines()
    assert lines[:3] == [
        "NCU(stops={1:5})@9, topic 1",
        "Relevant documents retrieved: 5 of 10, in a ranking of 20.",
        "Below rank 9, where they do not count: 2.",
    ]
    assert lines[4].split() == ["rank", "doc_id", "level", "C", "cg", "cg*", "BR", "stop", "contribution"]
    assert len(lines) == 10
    assert lines[-1].split()[0] == "score"
    with_gains = str(ir_graded.explain("Q(gains={3:10})", *long_list(), "1")).splitlines()
    assert "gain" in with_gains[3].split()


def test_the_number_of_digits_can_be_chosen():
    found = ir_graded.explain("Q", QRELS, SYSTEM_X, "1")
    assert found.text(2).split()[-1] == f"{found.score:.2f}"
    assert found.text(-1).split()[-1] == repr(found.score)


def test_a_condensed_list_has_both_ranks():
    run = {"1": {"x": 9.0, "N": 8.0, "y": 7.0, "S": 6.0, "z": 5.0, "A": 4.0}}
    found = ir_graded.explain("Q(judged_only=True)@2", QRELS, run, "1")
    assert found.to_frame()[["rank", "rank_in_run"]].to_numpy().tolist() == [[2, 4]]
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
    assert found.notes[-1] == f"The sum is divided by {ideal:g}, DCG of the ideal list."
    product = found.to_frame()["gain"] * found.to_frame()["discount"] / ideal
    assert product.tolist() == pytest.approx(found.to_frame()["contribution"].tolist())
    assert "divided" not in str(ir_graded.explain("AP", QRELS, SYSTEM_X, "1"))
    nothing = ir_graded.explain("nERR(gains={1:0,2:0,3:0})", QRELS, SYSTEM_X, "1")
    assert nothing.score == 0
    assert nothing.notes[-1] == "The sum is divided by 0, ERR of the ideal list: it scores 0."


def test_articles_are_explained_with_f_and_gp():
    whole = {"query_id": "1", "start": 0, "length": 10}
    qrels = pd.DataFrame({"doc_id": ["a", "b"], "relevance": 1, **whole})
    run = pd.DataFrame({"doc_id": ["x", "a", "b"], "score": [3, 2, 1], **whole, "start": [0, 5, 0]})
    found = ir_graded.explain("MAgP@2", qrels, run, "1")
    row = {"rank": 2, "doc_id": "a", "level": 1.0, "C": 1, "F": 0.5, "gP": 0.25}
    rows = found.to_frame().to_dict("records")
    assert rows == [{**row, "stop": 0.5, "utility": 0.25, "contribution": 0.125}]
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
        "none": ("The qrels have no relevant documents for the topic: it scores 0.",),
        "absent": ("The run has no document for the topic: it scores 0. Relevant documents: 1.",),
        "missed": (
            "Relevant documents retrieved: 0 of 1, in a ranking of 1.",
            "Without any to count, the topic scores 0.",
        ),
    }
    for topic, expected in notes.items():
        found = ir_graded.explain(measure, qrels, run, topic)
        assert found.notes == expected
        assert (found.score, len(found.to_frame())) == (0, 0)
        assert str(found).splitlines()[-1].split() == ["score", "0.0000"]


def test_judged_lists_the_judged_documents_retrieved():
    found = ir_graded.explain("Judged@2", QRELS, SYSTEM_Y, "1")
    assert found.to_frame()["doc_id"].tolist() == ["N", "S"]
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
        assert found.to_frame()["doc_id"].tolist() == ["B", "S"]
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
