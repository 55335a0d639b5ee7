"""Parameters in words, and publications: every measure, test and correction has an entry of sources.bib."""

import re
import subprocess
import sys
from itertools import chain

import ir_measures
import pytest

import ir_graded
from ir_graded._utils.publications import bibtex, cited_keys, publications, short_citations, with_citations
from ir_graded.measures import NAMES
from ir_graded.measures.base import sections
from ir_graded.measures.classic import CLASSICS
from ir_graded.measures.classic.ties import TIED_CLASSICS
from ir_graded.measures.descriptions import citations, settings_of
from ir_graded.measures.parsing import read_measures
from ir_graded.meta.paired_tests import CORRECTIONS, TESTS

#: Text by the class, or by the test or correction, that cites it.
SOURCES = {
    **{kind: sections(kind)["Source"] for kind in {*map(type, NAMES.values()), *CLASSICS.values()}},
    **{kind: sections(kind)["Source"] for kind in TIED_CLASSICS.values()},
    **{name: one.source for name, one in TESTS.items()},
    **{name: one.source for name, one in CORRECTIONS.items() if name != "none"},
}
#: Without measures that other tests and examples register.
OURS = {
    one: text
    for one, text in SOURCES.items()
    if getattr(one, "__module__", "ir_graded").startswith("ir_graded")
}
ALL = "relevant from level 1, tied documents by doc id"


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("Q", f"beta 1, gains = levels, {ALL}"),
        ("Q(beta=inf)@10", f"beta inf, gains = levels, cutoff 10, {ALL}"),
        ("Q(rel=2)", "beta 1, gains = levels, relevant from level 2, tied documents by doc id"),
        ("nERR(gains={2:5},max_rel=3)", f"gains = levels except {{2:5}}, max_rel 3, {ALL}"),
        ("EBR", f"gains = levels, beta 1, {ALL}, highest level from the qrels"),
        ("NCU", f"beta 1, gains = levels, {ALL}"),
        ("NCU(stop='rb')", f"stop='rb', beta 1, gains = levels, gamma 0.95, {ALL}"),
        ("GM(measure='AP')", ALL),
        ("nDCG(dcg='exp-log2')@5", "gains = 2^level - 1, cutoff 5, tied documents by doc id"),
        ("AP(ties='expected')", "relevant from level 1, mean over all orders of tied documents"),
        ("RR(ranks='rows')", "relevant from level 1, ranks='rows'"),
    ],
)
def test_parameters_are_named_also_at_their_defaults(measure, expected):
    assert settings_of([(measure, *read_measures(measure))]) == f"{measure}: {expected}."


def test_shared_parameters_are_named_once():
    measures = [("AP", ir_measures.AP), ("Q", ir_graded.Q)]
    assert settings_of(measures) == f"Q: beta 1, gains = levels; all measures: {ALL}."
    assert settings_of([("NumRet", ir_measures.NumRet)]) == ""


def test_every_source_is_an_entry_and_every_entry_is_a_source():
    assert [one for one, text in OURS.items() if not cited_keys(text)] == []
    unknown = [
        key for text in OURS.values() for key in re.findall(r"\[(.*?)\]", text) if key not in publications()
    ]
    assert unknown == []
    assert {*chain.from_iterable(map(cited_keys, OURS.values()))} == {*publications()}


#: Fields that BibTeX requires beside author, title and year.
REQUIRED = {
    "article": {"journal"}, "book": {"publisher"}, "incollection": {"booktitle", "publisher"},
    "inproceedings": {"booktitle"}, "misc": set(), "techreport": {"institution"},
}  # fmt: skip


def test_the_entries_are_bibtex():
    text = bibtex(publications())
    fields = re.compile(r"  ([a-z]+) = (\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})(?:,\n|\n\})")
    seen = 0
    for found in re.finditer(r"@([a-z]+)\{([a-z]+)(\d{4})([a-z]+),\n", text):
        kind, author, year, _ = found.groups()
        values, at = {}, found.end()
        while field := fields.match(text, at):
            values[field[1]], at = field[2][1:-1], field.end()
        assert text[at - 2 : at] == "\n}"
        assert {"author", "title", "year"} | REQUIRED[kind] <= values.keys()
        assert values["year"] == year
        assert values["title"][0] + values["title"][-1] == "{}"  # styles keep its capitals
        family = values["author"].split(" and ")[0].partition(",")[0]
        assert re.sub(r"[^a-z]", "", family.lower()) == author
        assert text.isascii()
        seen += 1
    assert seen == len(publications()) == text.count("@")


def test_citations_are_derived_from_the_entries():
    text = "[jarvelin2002cumulated]; [thakur2025support] after [robertson2010extending] and [1]."
    assert short_citations(text) == "Järvelin and Kekäläinen 2002; Thakur et al. 2025"
    assert with_citations(text) == (
        'Järvelin and Kekäläinen, "Cumulated Gain-Based Evaluation of IR Techniques" (ACM Transactions on '
        'Information Systems, 2002), doi:10.1145/582415.582418; Thakur et al., "Support Evaluation for the '
        'TREC 2024 RAG Track" (arXiv, 2025), doi:10.48550/arXiv.2504.15205 after Robertson, Kanoulas and '
        'Yilmaz, "Extending Average Precision to Graded Relevance Judgments" (SIGIR 2010), '
        "doi:10.1145/1835449.1835550 and [1]."
    )


def keys(text):
    return re.findall(r"@\w+\{(\w+),", text)


@pytest.mark.parametrize(
    ("measures", "expected"),
    [
        ("Q Q@10", ["sakai2004new"]),
        ("D-Q", ["sakai2004new", "sakai2011evaluating"]),
        ("AP(ties='expected')", ["harman1992evaluation", "mcsherry2008computing"]),
        ("AP", ["harman1992evaluation"]),
    ],
)
def test_measures_cite_their_own_sources_and_those_of_their_base(measures, expected):
    assert keys(citations(read_measures(measures))) == expected


def test_scores_cite_measures_tests_and_corrections():
    length = ir_measures.define_byquery(lambda _, run: float(len(run)), name="Length@5")
    scores = ir_graded.evaluate(["Q", length], {"1": {"a": 1}}, {"1": {"a": 1.0}})
    assert keys(scores.citations()) == ["sakai2004new"]
    assert scores.citations().endswith("% No known publication: Length at 5")
    assert keys(scores.citations(test="t")) == ["holm1979simple", "sakai2004new", "student1908probable"]
    assert keys(scores.citations(test="t", correction="none")) == ["sakai2004new", "student1908probable"]
    assert keys(scores["Q"].citations(test="tukey_hsd")) == ["carterette2012multiple", "sakai2004new"]
    for wrong in ({"test": "z"}, {"test": "t", "correction": "z"}, {"correction": "holm"}):
        with pytest.raises(ir_graded.ParameterError):
            scores.citations(**wrong)


@pytest.mark.slow
def test_the_entries_are_read_only_when_they_are_needed():
    code = (
        "import sys, ir_graded, ir_graded.cli.main; "
        "print([name for name in sys.modules if name.endswith(('publications', 'descriptions'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[]"
