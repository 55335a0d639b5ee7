"""Strings that ir_measures reads keep their meaning; those of this package are read on every Python."""

import contextlib
import io
import json
import re
import subprocess
import sys

import ir_measures
import pytest

import ir_graded
from ir_graded import NCU, P_plus, Q
from ir_graded.measures import parsing as grammar


def listed(text):
    """Split the strings at the bars."""
    return [string.strip() for string in text.split("|")]


MEASURE_STRINGS = listed("""
    nDCG | nDCG@10 | nDCG @ 10 | nDCG@10.0 | NDCG@10 | AP | MAP | AP(rel=2) | AP(rel=2)@100 |
    AP(rel=2, judged_only=True) | P@5 | P@1000 | P(cutoff=5) | P(rel=2)@10 | R@10 | R | Recall@5 | RR |
    MRR@10 | RR(rel=2)@10 | Rprec | Bpref | BPref(rel=2) | infAP | IPrec@0.1 | IPrec(recall=0.5) |
    Judged@10 | Success@1 | SetF(beta=0.5) | SetP | NumRet | NumRel | NumQ | RBP(p=0.8) |
    RBP(p=.8,rel=1)@5 | ERR@20 | ERR_IA@20 | alpha_nDCG@20 | AP@9 | nDCG(dcg='exp-log2')@5 |
    nDCG(dcg="log2") | nDCG(gains={0: 0, 1: 5})@10 | nDCG(gains={}) | Compat(p=0.8) |
    nDCG(judged_only=False) | AP(rel=None) | BPM(min_rel=1)@10 | INST(T=1) | nERR_IA@10 | NERR8@10 |
    Accuracy@1 | P_IA(rel=1)@5 | nDCG(cutoff=5)@10 | nope | nope@10 | nDCG@ | nDCG@10@20 | @10 | 10 | 'AP' |
    AP() | AP(2) | AP(rel=2 | AP) | AP(rel=-1) | AP(rel=[1]) | AP(rel=(1,)) | AP(rel=x) | AP(rel=1+1) |
    AP(rel=b'1') | AP(rel=...) | AP; RR | AP RR | AP.x | AP[1] | x = AP | import os | AP @ x | AP @ -1 |
    AP(**{'rel': 2}) | map | ndcg | AP(gains={**x}) | AP(gains={1: {2: 3}}) | AP(gains={{}: 1}) | P + 3 |
    P-3 | AP(rel=1, rel=2) | lambda: 1 | R.WP | R -WP2 | Q2 | OO | nCG2@10 | GAPx | AP( | é | nDCG@1e1 |
    nDCG@'10' | 0nDCG | P(rel=1j)@5
""")
MEASURE_STRINGS += ["", " ", " nDCG@10", "nDCG\n@10", "nDCG\0@10", "AP(rel=" + 300 * "("]
TREC_STRINGS = listed("""
    map | map_cut | map_cut_5 | map_cut.5,10 | P | P_5 | P.5,10 | ndcg | ndcg_cut_10 | ndcg_cut.5,10 |
    recip_rank | recall_1000 | Rprec | bpref | infAP | success_1 | set_F | set_F.0.5 | iprec_at_recall |
    iprec_at_recall_0.10 | num_ret | num_q | set_P | official | set | all_trec | P_5_x | P_0 | Rndcg |
    gm_map | 11pt_avg | relstring | map_x | nope | map@10 | P_ | recip_rank_5 | runid | utility | P_-5 |
    map.cut | P.5, | Rprec_mult | nope@10 | nope(x=1) | 1 | é
""")
TREC_STRINGS += [""]

_WITHOUT_THE_PACKAGE = """
import contextlib, json, sys
import ir_measures
def described(measure):
    kind = type(measure)
    return [kind.__module__, kind.__qualname__, repr(measure.params)]
def outcome(read, text):
    try:
        with contextlib.redirect_stdout(sys.stderr):
            found = read(text)
    except Exception as error:
        return [type(error).__name__, str(error)]
    return [described(m) for m in (found if isinstance(found, list) else [found])]
measure_strings, trec_strings = json.load(sys.stdin)
assert "ir_graded" not in sys.modules
json.dump([
    [outcome(ir_measures.parse_measure, text) for text in measure_strings],
    [outcome(ir_measures.parse_trec_measure, text) for text in trec_strings],
], sys.stdout)
"""

needs_old_ast = pytest.mark.skipif(
    sys.version_info >= (3, 14), reason="ir_measures alone reads no parameters there"
)


@pytest.fixture(scope="module")
def alone():
    """Return how ir_measures reads the strings when this package is not imported."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-W", "ignore", "-c", _WITHOUT_THE_PACKAGE],
        input=json.dumps([MEASURE_STRINGS, TREC_STRINGS]),
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    measures, trec = json.loads(done.stdout)
    # Up to Python 3.11.3, this raises another error than SyntaxError, and ir_measures does not name its
    # input.
    bare = ["ValueError", "source code string cannot contain null bytes"]
    told = [bare[0], f"problem parsing measure {bare[1]}; must be in format Measure(k1=v1, k2=v2)@c"]
    measures, trec = ([told if found == bare else found for found in each] for each in (measures, trec))
    return dict(zip(MEASURE_STRINGS, measures, strict=True)), dict(zip(TREC_STRINGS, trec, strict=True))


#: Strings that ir_measures reads by dropping a part, and the problem: here they raise errors.
MISREAD = {
    "AP(rel=1, rel=2)": "'rel' is given twice",
    "AP(rel=1,rel=1)@10": "'rel' is given twice",
    "nDCG(dcg='log2',dcg='exp-log2')@10": "'dcg' is given twice",
    "nDCG(cutoff=5)@10": "'cutoff' is given twice",
    "nDCG(cutoff=10)@10": "'cutoff' is given twice",
    "IPrec(recall=0.5)@0.1": "'recall' is given twice",
    "nDCG(gains={0: 0, 1: 5, 1: 6})": "1 is given twice",
    "nDCG(gains={1: 5, 1.0: 6})": "is given twice",
    "nDCG#@10": "'#'",
    "nDCG #@10": "'#'",
    "nDCG(dcg='log2')#@10": "'#'",
    "AP#x": "'#'",
    "AP#'x'": "'#'",
    "AP(rel=2)@10 # the old one": "'#'",
    "AP(#rel=2\n)": "'#'",
    "nDCG(dcg='a#b')#@10": "'#'",
}
#: In quotes, # is an ordinary character.
MEASURE_STRINGS += [*MISREAD, "nDCG(dcg='#')@5", 'nDCG(dcg="a\'#b")', "nDCG(dcg='''#''')", r"nDCG(dcg='\'#')"]


def described(measure):
    kind = type(measure)
    return [kind.__module__, kind.__qualname__, repr(measure.params)]


def outcome(read, text):
    """Return the result of a function for a string: the measures, or the error."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            found = read(text)
    except Exception as error:
        return [type(error).__name__, str(error)]
    return [described(measure) for measure in (found if isinstance(found, list) else [found])]


AS_IR_MEASURES = [grammar.parse, ir_measures.parse_measure]
READERS = [*AS_IR_MEASURES, lambda text: grammar.read_measures([text])]


@pytest.mark.slow
@needs_old_ast
def test_strings_that_ir_measures_reads_in_part_are_rejected(alone):
    for text, problem in MISREAD.items():
        assert not isinstance(alone[0][text][0], str)  # the name of an error
        for read in AS_IR_MEASURES:
            with pytest.raises(ValueError, match=f"^problem parsing measure .*{re.escape(problem)}"):
                read(text)
        with pytest.raises(ir_graded.GradedError):
            grammar.read_measures([text])
        with pytest.raises(ValueError, match="measure"):
            ir_measures.parse_trec_measure(text)
        with pytest.raises(ir_graded.GradedError):
            ir_measures.calc_aggregate([text, "Q"], {"1": {"a": 1}}, {"1": {"a": 1.0}})


@pytest.mark.parametrize("text", ["Q#", "Q#@10", "Q #@10", "nDCG#@10", "E#-nDCG@10", "#", "#Q", "map#"])
def test_characters_outside_names_are_rejected(text):
    for read in (*READERS, ir_measures.parse_trec_measure):
        with pytest.raises(ValueError, match="measure"):
            read(text)


@needs_old_ast
def test_strings_of_ir_measures_keep_their_meaning(alone):
    for text in (text for text in MEASURE_STRINGS if text not in MISREAD):
        before, now = alone[0][text], outcome(ir_measures.parse_measure, text)
        assert outcome(grammar.parse, text) == before, text
        if text in {"map", "ndcg"}:
            assert before[0] == "NameError"
            assert now == outcome(ir_measures.parse_trec_measure, text)
        else:
            assert now == before, text
    for text in TREC_STRINGS:
        now, before = outcome(ir_measures.parse_trec_measure, text), alone[1][text]
        if now != before:  # a suggestion follows
            assert now[0] == before[0] == "ValueError"
            assert now[1].startswith(f"{before[1]}. "), text


def test_a_family_of_trec_eval_is_not_a_single_measure():
    with pytest.raises(ValueError, match=r"P@5, P@10.*parse_trec_measure") as caught:
        ir_measures.parse_measure("map_cut.5,10".replace("map_cut", "P"))
    assert "2 measures" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["P_5x", "ndcg_cut_10abc", "map_cut.10foo", "P_10-20", "P_5.", "P_5:10", "P_1e400", "P_5,", "set_F_0.1x"],
)
def test_a_name_of_trec_eval_is_read_whole_or_rejected(text):
    """ir-measures' reader of these names stops after the number and drops the rest."""
    assert ir_measures.parse_trec_measure(text)
    with pytest.raises((NameError, ValueError), match=r"measure not found|problem parsing measure"):
        ir_measures.parse_measure(text)
    with pytest.raises(ir_graded.GradedError, match=r"(?i)unknown measure|cannot read"):
        grammar.read_measures([text])


@pytest.mark.parametrize("text", ["P_2.1", "ndcg_cut.5,1.5"])
def test_a_cutoff_of_trec_eval_is_a_whole_number(text):
    with pytest.raises(ir_graded.GradedError, match="not whole numbers; write P_10") as caught:
        grammar.read_measures([text])
    assert repr(text) in str(caught.value)


def test_families_have_geometric_means_and_name_skipped_members(capsys):
    official = grammar.read_measures("official")
    assert {ir_measures.AP, ir_graded.GM(measure="AP")} <= {*official}
    assert len(official) == len(ir_measures.util.parse_trec_measure.__wrapped__("official")) + 1
    capsys.readouterr()
    assert {"GM(measure='AP')", "GM(measure='Bpref')"} <= {
        *map(str, grammar.read_measures("official all_trec"))
    }
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("skipped ['11pt_avg', 'G', ")
    assert "gm_" not in printed.err


def test_measure_objects_are_returned_unchanged():
    measure = ir_measures.nDCG @ 10
    assert ir_measures.parse_measure(measure) is measure


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Q", Q),
        (" Q @ 10 ", Q @ 10),
        ("Q(beta=inf)", Q(beta=float("inf"))),
        ("Q(beta=+2)", Q(beta=2)),
        ("Q(beta=2.0, gains={1: 0, 3: 7.5},)@10", Q(beta=2, gains={1: 0, 3: 7.5}) @ 10),
        ("Q(gains={-1: 5, 0.5: 1e-3})", Q(gains={-1: 5, 0.5: 0.001})),
        ('NCU(stop="err", max_rel=-2)', NCU(stop="err", max_rel=-2)),
        ("P+(judged_only=True)@1000", P_plus(judged_only=True) @ 1000),
    ],
)
def test_values_of_our_measures_are_read(text, expected):
    assert ir_measures.parse_measure(text) == expected
    assert ir_measures.parse_trec_measure(text) == [expected]
