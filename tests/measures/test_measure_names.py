"""Names that no measure has: the error says which measure was probably meant."""

import re

import ir_measures
import pytest

import ir_graded
from ir_graded.measures.parsing import read_measure, read_measures

QRELS = {"1": {"a": 2}}
RUN = {"1": {"x": 2.0, "a": 1.0}}


#: Names that do not exist, and those that were meant.
MEANT = """
P-mesure > P-measure | p-measure > P-measure | p-measure@1000 > P-measure@1000 | q > Q | Qq > Q
map@10 > AP@10 | ndcg@10 > nDCG@10 | mrr > RR | recall@100 > R@100 | b-prefs > B-pref | mrr_10 > RR@10
hit_rate@10 > Success@10 | alpha_ndcg@10 > alpha_nDCG@10 | d-ndcg@10 > D-nDCG@10 | D#Q@10 > D#-Q@10
ncugu,p > NCUgu,P | HR@10 > Success@10 | nDGC(dcg='exp-log2')@10 > nDCG(dcg='exp-log2')@10
hits@5 > Success@5 | precision@10 > P@10 | mrr@10 > RR@10 | top_k_accuracy@5 > Success@5
recip_rank@10 > RR@10 | recall_at_10 > R@10 | ndcg_cut@10 > nDCG@10 | f1 > SetF | ndcg_at_10 > nDCG@10
F-measure > SetF | average_precision > AP | R-precision > Rprec | P-IA@10 > P_IA@10 | qmesure > Q
MRR10 > RR@10 | NDCG10 > nDCG@10 | nERR20 > nERR@20 | gP10 > gP@10 | map@10(rel=2) > AP(rel=2)@10
nRBP.95 > gRBP(norm='ideal',p=0.95) | gRBP.5 > gRBP(p=0.5) | gm_recip_rank > GM(measure='recip_rank')
"""


@pytest.mark.parametrize(
    ("given", "meant"), [("Q'", "Q(judged_only=True)"), ("RR'@10", "RR(judged_only=True)@10")]
)
def test_a_prime_means_the_condensed_list(given, meant):
    with pytest.raises(NameError, match=rf"Did you mean {re.escape(repr(meant))}\?"):
        read_measures(given)


def test_pyterrier_gets_the_suggestion_too():
    with pytest.raises(ValueError, match=r"^unkonwn measure Prec@10\. Did you mean 'P@10'\?$"):
        ir_measures.parse_trec_measure("Prec@10")


@pytest.mark.slow
def test_an_unknown_name_suggests_the_measure_that_was_meant():
    for given, meant in re.findall(r"(\S+) > (\S+)", MEANT):
        for measures in (given, ["AP", given], f"AP {given}"):
            with pytest.raises(NameError) as caught:
                ir_graded.evaluate(measures, QRELS, RUN)
            assert isinstance(caught.value, ir_graded.UnknownMeasureError)
            assert isinstance(caught.value, ValueError)
            assert str(caught.value).startswith(f"Unknown measure {given!r}. Did you mean {meant!r}? Run")
        assert read_measures(meant)


def test_a_name_that_is_near_no_measure_gets_no_suggestion():
    with pytest.raises(NameError, match=r"^Unknown measure 'xyzzy'\. Run `ir_graded measures` for the full"):
        ir_graded.evaluate("xyzzy", QRELS, RUN)


@pytest.mark.parametrize("name", ["faithfulness", "Faithfulness@3", "hallucination", "groundedness_at_5"])
def test_a_measure_that_only_other_programs_have_says_what_is_similar(name):
    expected = f"^Unknown measure '{name}'. Other programs let a language model judge it; CitationP .*. Run `"
    with pytest.raises(NameError, match=expected):
        ir_graded.evaluate(["AP", name], QRELS, RUN)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (
            "context precision@5",
            "'context_precision@5'. AP@k of judged chunks is similar, but divides by all",
        ),
        ("hit  rate@5", "'hit_rate@5'. Did you mean 'Success@5'?"),
        ("AP hit", "'hit'. Did you mean 'Success'?"),
        ("Q context", "'context'. Run"),
    ],
)
def test_a_name_of_two_words_is_not_read_as_two_measures(text, answer):
    with pytest.raises(NameError, match=f"^Unknown measure {re.escape(answer)}"):
        ir_graded.evaluate(text, QRELS, RUN)


def test_two_measures_may_have_names_that_are_one_elsewhere():
    assert [str(measure) for measure in read_measures("R@5 Precision@5")] == ["R@5", "P@5"]


@pytest.mark.parametrize(("name", "base"), [("gm_map", "AP"), ("GMAP", "AP"), ("gm_bpref", "Bpref")])
def test_geometric_means_are_read_by_the_names_of_trec_eval(name, base):
    assert ir_graded.evaluate(name, QRELS, RUN).measures == (ir_graded.GM(measure=base),)


@pytest.mark.parametrize("blank", ["", " ", "\t\n"])
def test_a_blank_string_names_no_measure(blank):
    for call in (
        lambda: ir_measures.calc([blank], QRELS, RUN),
        lambda: ir_graded.evaluate(["Q", blank], QRELS, RUN),
        lambda: read_measure(blank),
    ):
        with pytest.raises(ir_graded.ParameterError, match=r"^no measure given in '.*': write for example"):
            call()


def test_a_short_name_with_another_base_lists_those_that_exist():
    with pytest.raises(NameError, match="IA has short names for these: IA-Q, IA-nDCG, ") as caught:
        ir_graded.evaluate("IA-AP", QRELS, RUN)
    assert "IA-AWP. Run" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nDCG@ten", "values must be numbers, or text in quotes; write nDCG, nDCG@10 or"),
        ("Q@ten", "values must be numbers, or text in quotes; write Q, Q@10 or"),
        ("NCU(stop=rb)", "values must be numbers, or text in quotes"),
        ("nDCG@-5", "values must not be negative"),
        ("nDCG@0", "cutoff=0 must be a whole number >= 1"),
        ("nDCG@10.5", "cutoff=10.5 must be a whole number >= 1"),
        ("nDCG(dcg='exp2')@10", "dcg='exp2' must be 'log2' or 'exp-log2'"),
        ("AP(3)", "args must be named"),
        ("iP", "iP needs a recall, a finite number >= 0 and <= 1: for example iP@0.5"),
    ],
)
def test_a_known_measure_that_cannot_be_read_says_why(text, problem):
    with pytest.raises(ir_graded.GradedError) as caught:
        ir_graded.evaluate(text, QRELS, RUN)
    assert problem in str(caught.value)


def test_several_measures_in_one_string():
    together = ir_graded.evaluate("Q nDCG(dcg='exp-log2')@10 P_5,10", QRELS, RUN)
    apart = ir_graded.evaluate(["Q", "nDCG(dcg='exp-log2')@10", "P@5", "P@10"], QRELS, RUN)
    assert together.names == apart.names
    assert read_measures(["Q AP", "RR"]) == read_measures(["Q", "AP", "RR"])
    assert read_measures("Q@10 NCU(stop='rb', beta=0)") == read_measures(["Q @10", "NCUrb,P"])
    assert set(ir_graded.score_bounds("gRBP P@3", QRELS, RUN).to_frame()["measure"]) == {"gRBP", "P@3"}


@pytest.mark.parametrize("measures", [None, 3])
def test_something_that_is_not_a_list_of_measures_is_an_error_with_an_example(measures):
    with pytest.raises(ir_graded.ParameterError, match=rf"^measures={measures} must be .* \['P-measure', "):
        ir_graded.evaluate(measures, QRELS, RUN)


def test_scores_are_asked_for_by_one_measure():
    scores = ir_graded.evaluate("Q AP", QRELS, RUN)
    with pytest.raises(NameError, match="Did you mean 'AP'"):
        scores.matrix("ap")
    with pytest.raises(ir_graded.ParameterError, match=r"'Q AP' names 2 measures \(Q, AP\): give one"):
        scores.matrix("Q AP")
    with pytest.raises(ir_graded.ParameterError, match="names 0 measures"):
        read_measure([])
