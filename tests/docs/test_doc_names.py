"""Names of other programs and of papers are accepted, or the error leads to a measure of the same value."""

import ast
import re

import pytest
from doc_blocks import DOCS, rows

import ir_graded
from ir_graded.analyses.trec_eval import Options, measures_of, ranked_lists
from ir_graded.measures.parsing import LACKING, MEANT, TREC_ONLY, read_measures

PAGE = DOCS / "migration.rst"
#: Tables, with the columns of the other names and of the measures here.
TABLES = [("ntcireval-measures", 0, 2), ("ntcireval-measures", 1, 2), ("ntcireval-intents", 0, 1)]
TABLES += [(f"{program}-measures", 0, 1) for program in ("trec-eval", "inex-eval", "trecgen", "answer")]
#: Names that are measures with other values here.
HOMONYMS = {
    *("AP@k", "Q@k", "nDCG@k", "GAP@k", "NCUrb,P@k", "NCUrb,BR@k", "NCUrb,IE@k"),
    *("RBP", "RBP@k", "ERR", "ERR@k"),
}
#: Symbols of the papers, and names in the notations of programs, with measures of the same value.
SYMBOLS = """
P-measure > P-measure | O-measure > O-measure | Q-measure > Q | R-measure > R-measure | P+ > P+ | AveP > AP
RR > RR | MRR > RR | MAP > AP | P@1 > P@1 | NCP_u > AP | NCP_1 > RR | RBP > RBP | nCG@3 > nCG@3 | BR@3 > BR@3
NCU > NCU | NCU_u > Q | NCU_rb > NCU(stop='rb') | NCU_gu > NCU(stop='gu') | NCU_gu@3 > NCU@3
NCP_gu > NCUgu,P | NCU_{u,β=0} > AP | NCU_{gu,β=1} > NCU | NCU_gu,β=0 > NCUgu,P | ncugu,p@9 > NCUgu,P@9
NCU_{rb,β=10000}@5 > NCU(stop='rb',beta=10000)@5
NCU_gu(rel=2)@3 > NCU(rel=2)@3 | AgP > MAgP | MAgP > MAgP | gP@10 > gP@10 | gR[10] > gR@10
map@100-l2 > AP(rel=2)@100 | mrr-l2 > RR(rel=2) | rbp.95 > RBP(p=0.95,rel=1) | P-IA@10 > P_IA@10
PPlusMeasure@0010 > P+@10 | QMeasure@0002 > Q(norm='cutoff')@2 | alpha-nDCG@5 > alpha_nDCG@5
"""
QRELS = "1 0 a 3\n1 0 b 1\n1 0 c 2\n1 0 u 2\n1 0 n 0\n2 0 z 0\n2 0 y 1\n"
RUN = "".join(f"{'12'[at > 4]} Q0 {doc} 1 {9 - at} r\n" for at, doc in enumerate("bxancyz"))
#: Measures of trec_eval 10 with other values than those of that name in ir-measures.
OTHERWISE = {"rbp", "iprec_at_recall"}


def led_to(name):
    """Return the measures that a name is, or that the error suggests for it; the error without any."""
    try:
        return read_measures(name.replace("@k", "@2"))
    except ir_graded.GradedError as error:
        hint = re.search(r"Did you mean (.*)\? Run ", str(error))
        return read_measures(ast.literal_eval(hint[1])) if hint else str(error)


def are_equal(measures, others):
    """Tell whether measures have the same scores."""
    qrels, run = {"1": {"a": 2, "b": 1, "c": 3}}, {"1": {"b": 3.0, "x": 2.5, "a": 2.0}}
    try:
        one, other = (ir_graded.evaluate(each, qrels, run).values for each in (measures, others))
    except ir_graded.GradedError:
        return False
    return one.shape == other.shape and one == pytest.approx(other)


def lead_elsewhere(names, heres):
    """Return the names that lead elsewhere than to the measure at their place; one name may lead to all."""
    expected = [led_to(here) for here in heres]
    if len(names) == 1:
        expected = [[measure for measures in expected for measure in measures]]
    if len(heres) == 1:
        expected *= len(names)
    found = map(led_to, names)
    pairs = zip(names, found, expected, strict=True)
    return {name for name, one, other in pairs if one != other and not are_equal(one, other)}


def quoted(cell):
    """Return the names of measures in a cell; ``-f`` is an option."""
    return [name for name in re.findall("``(.+?)``", cell) if not name.startswith("-")]


@pytest.mark.parametrize(("table", "theirs", "here"), TABLES)
def test_names_in_the_tables_lead_to_the_measures_beside_them(table, theirs, here):
    cells = [(row[theirs], row[here]) for row in rows(PAGE, table)]
    # A name behind that of a program has its meaning in that program only; functions are not measures.
    cells = [pair for pair in cells if "``: ``" not in pair[0] and not re.match("``[a-z]+_[a-z]", pair[1])]
    pairs = [(names, quoted(measures)) for cell, measures in cells if (names := quoted(cell))]
    elsewhere = {name for names, measures in pairs for name in lead_elsewhere(names, measures)}
    expected = {name for names, _ in pairs for name in names if name in HOMONYMS}
    assert elsewhere == (expected | {"MAgP"} if table.startswith("inex") else expected)
    assert pairs


def test_names_with_other_values_here_are_listed():
    text = PAGE.read_text(encoding="utf-8")
    listed = re.search(r"here they are measures with other values: (.*?)\n\n", text, re.DOTALL)[1]
    assert {*quoted(listed)} == HOMONYMS


@pytest.mark.parametrize("name", [name for row in rows(PAGE, "ntcireval-without") for name in quoted(row[0])])
def test_a_measure_without_a_counterpart_gets_no_suggestion(name):
    assert isinstance(led_to(name), str) or name == "Recall"


def test_symbols_of_papers_lead_to_measures_with_the_same_values():
    symbols = [pair.split(" > ") for pair in SYMBOLS.replace("|", "\n").strip().split("\n")]
    assert [name for name, here in symbols if lead_elsewhere([name.strip()], [here.strip()])] == []


def test_other_names_lead_to_the_measures_in_their_table():
    meant = {name: here + "@k" * name.endswith("@k") for name, here in {**TREC_ONLY, **MEANT}.items()}
    assert [name for name, here in meant.items() if lead_elsewhere([name], [here])] == []
    for name, instead in LACKING.items():
        assert f"'. {instead}. Run" in led_to(name)


def test_names_of_trec_eval_lead_to_measures_with_its_values(tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text(QRELS)
    run.write_text(RUN)
    (lists,) = ranked_lists(str(qrels), [str(run)], Options())
    names = [(one, re.sub(r"_[0-9.]+$", "", one.name)) for one in measures_of(["all_trec"])]
    measures = [one for one, name in names if name not in {*LACKING, *OTHERWISE}]
    assert len(measures) > 50
    found = ir_graded.evaluate([led_to(one.name)[0] for one in measures], qrels, run)
    theirs = {str(led_to(one.name)[0]): one.overall(lists, one.of_topics(lists)) for one in measures}
    assert dict(zip(found.names, found.mean().to_numpy()[0], strict=True)) == pytest.approx(theirs)


@pytest.mark.parametrize(
    ("given", "meant", "dropped"),
    [
        ("bpref@3", "Bpref", "@3"),
        ("art_f1@5", "SetF", "@5"),
        ("art_prec@5", "SetP", "@5"),
        ("nDGC@ten", "nDCG", "@ten"),
    ],
)
def test_a_hint_says_what_the_measure_does_not_take(given, meant, dropped):
    assert led_to(given) == (
        f"Unknown measure '{given}'. Did you mean '{meant}'? It does not take '{dropped}'. "
        "Run `ir_graded measures` for the full list."
    )
