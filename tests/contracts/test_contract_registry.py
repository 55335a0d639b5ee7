"""Requirements on every registered measure: names, descriptions, documentation, described parameters."""

import inspect
import re
from importlib.resources import files

import ir_measures
import pytest

import ir_graded
from ir_graded._utils.publications import with_citations
from ir_graded.evaluation import provider
from ir_graded.measures import FAMILIES, NAMES, REGISTRY, GradedMeasure, base
from ir_graded.measures.base import sections
from ir_graded.measures.classic import CLASSICS
from ir_graded.measures.classic.base import register as register_classic

FOUND_ALWAYS = ["Summary", "Definition", "Use it", "Users", "Source"]
MEASURES = {measure.NAME: REGISTRY[measure.NAME] for measure in REGISTRY.values()}


def test_type_checkers_know_the_measures_of_each_family():
    stub = files(ir_graded).joinpath("__init__.pyi").read_text(encoding="utf-8")
    assert [name for name in FAMILIES if f"from .measures.{name} import *" not in stub] == []


def test_measures_have_their_own_names_and_descriptions():
    assert len(MEASURES) >= 14
    for name, measure in MEASURES.items():
        assert {"NAME", "PRETTY_NAME", "__doc__"} <= set(vars(type(measure)))
        for text in (measure.NAME, measure.PRETTY_NAME, measure.SHORT_DESC, measure.SOURCE):
            assert isinstance(text, str)
            assert text == text.strip() != ""
        assert measure.SHORT_DESC.endswith(".")
        assert re.search(r"\b(19|20)\d\d\b", measure.SOURCE), f"the source of {name} names a year"
        assert str(measure) == measure.__name__ == name


def test_documentation_has_formula_source_and_example():
    for name, measure in MEASURES.items():
        text = inspect.cleandoc(type(measure).__doc__)  # Python 3.13 removes the indentation
        assert re.search(r"``[^`]+=[^`]+``", text), f"the formula of {name}"
        assert re.search(r"^Source: .*\b", text, re.MULTILINE), name
        source = with_citations(text.partition("Source:")[2])
        # Books are printed without a publisher.
        assert re.search(r"\((?:[\w\s-]+,?\s)?(19|20)\d\d\)", source), f"when {name} was published"
        assert re.search(r"^Example:\n +>>> ", text, re.MULTILINE), name
        assert re.match(r"[A-Z][^\n]+\.\n\n", text), f"one line that sums up {name}"


def test_a_docstring_is_read_by_sections():
    found = sections(type(ir_graded.B_pref))
    assert found["Summary"] == ir_graded.B_pref.SHORT_DESC
    assert found["Definition"].startswith("``B-pref = 1/R * sum")
    assert found["Use it"].startswith("Use it to compare with studies of bpref.")
    assert found["Formula"].count("\n") == 3
    assert found["Lacks exchange"].startswith(">>> measure, qrels = ")
    assert "Parameters" not in found
    assert sections(type("Undocumented", (), {})) == dict.fromkeys(FOUND_ALWAYS, "")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("[sakai2004new], estimated.", "Sakai 2004"),
        ("[debeer2006rpref];\n[sakai2007alternatives]", "De Beer and Moens 2006; Sakai 2007"),
        ("[agrawal2009diversifying], after [zhai2003beyond].", "Agrawal et al. 2009"),
        ('Me, "Mine"\n(2026).', 'Me, "Mine" (2026).'),
        ("", ""),
    ],
)
def test_sources_are_cited_by_authors_and_year(source, expected):
    measure = type("_Mine", (GradedMeasure,), {"NAME": "Mine", "__doc__": f"Mine.\n\nSource: {source}"})()
    assert expected == measure.SOURCE


def test_the_provider_lists_every_measure():
    for measure in MEASURES.values():
        assert measure in provider.PROVIDER.SUPPORTED_MEASURES
        examples = {"cutoff": 10, "recall": 0.1, "measure": "Q"}
        examples["groups"] = {"A": "JSD"} if measure.NAME == "GFR" else "A"
        needed = [name for name, param in measure.SUPPORTED_PARAMS.items() if param.required]
        assert provider.PROVIDER.supports(measure(**{name: examples[name] for name in needed}))


def test_exported_measures_are_registered():
    exported = [getattr(ir_graded, name) for name in ir_graded.__all__]
    measures = [measure for measure in exported if isinstance(measure, GradedMeasure)]
    registered = {measure.NAME: NAMES[measure.NAME] for measure in NAMES.values()}
    assert {*map(id, measures)} == {*map(id, registered.values())}


def test_measures_of_one_letter_have_a_longer_name_in_python_too():
    assert ir_graded.Q_measure is ir_graded.Q
    assert ir_graded.O_measure is ir_graded.O
    assert len(ir_graded.__all__) == len({*ir_graded.__all__})


def test_a_classic_computes_a_measure_of_ir_measures(monkeypatch):
    """A class that declares the measure of ir-measures has its name and parameters."""
    monkeypatch.setitem(CLASSICS, "SetAP", CLASSICS["SetR"])  # replaced below, and removed afterwards

    @register_classic(ir_measures.SetAP)
    class Toy(CLASSICS["SetR"]):
        """Recall under the name of SetAP."""

    qrels, run = {"1": {"a": 1, "b": 1}}, {"1": {"a": 1.0}}
    assert ir_graded.evaluate("SetAP(rel=1)", qrels, run).values.item() == 0.5
    assert Toy.MEASURE is ir_measures.SetAP


def test_measures_and_classics_are_scorers():
    assert all(isinstance(measure, base.Scorer) for measure in REGISTRY.values())
    assert all(issubclass(classic, base.Scorer) for classic in CLASSICS.values())
