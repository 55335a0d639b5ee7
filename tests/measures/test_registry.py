"""Requirements on every registered measure: names, descriptions, documentation, described parameters."""

import inspect
import re

import ir_measures
import pytest
from hypothesis import strategies as st
from measures import measure_cases as cases
from reference import ranked

import ir_graded
from ir_graded.evaluation import provider
from ir_graded.measures import REGISTRY, GradedMeasure, base, params
from ir_graded.measures.classic import CLASSICS
from ir_graded.measures.classic.base import register as register_classic

MEASURES = {measure.NAME: REGISTRY[measure.NAME] for measure in REGISTRY.values()}
EACH = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)


def test_the_registry_is_not_empty():
    assert len(MEASURES) >= 14


@EACH
def test_measure_has_a_description(measure):
    for text in (measure.NAME, measure.PRETTY_NAME, measure.SHORT_DESC, measure.SOURCE):
        assert isinstance(text, str)
        assert text == text.strip() != ""
    assert measure.SHORT_DESC.endswith(".")
    assert re.search(r"\b(19|20)\d\d\b", measure.SOURCE), "the source names a year"


@EACH
def test_measure_has_its_own_texts(measure):
    own = vars(type(measure))
    assert {"NAME", "PRETTY_NAME", "SHORT_DESC", "SOURCE", "__doc__"} <= set(own)


@EACH
def test_documentation_has_formula_parameters_source_and_example(measure):
    text = inspect.cleandoc(type(measure).__doc__)  # Python 3.13 removes the indentation
    assert re.search(r"``[^`]+=[^`]+``", text), "a formula"
    assert re.search(r"\bParameters: ", text)
    assert re.search(r"^Source: .*\b", text, re.MULTILINE)
    assert re.search(r"\((\w|[ -])+,? ?(19|20)\d\d\)", text.partition("Source:")[2]), "where and when"
    assert re.search(r"^Example:\n +>>> ", text, re.MULTILINE)
    assert re.match(r"[A-Z][^\n]+\.\n\n", text), "one line that sums up"


@EACH
def test_documentation_names_every_parameter(measure):
    listed = type(measure).__doc__.partition("Parameters:")[2].partition("Source:")[0]
    assert all(re.search(rf"\b{name}\b", listed) for name in measure.SUPPORTED_PARAMS)


@EACH
def test_parameters_have_descriptions(measure):
    for name, param in measure.SUPPORTED_PARAMS.items():
        assert isinstance(param, params.Param)
        assert isinstance(param, ir_measures.ParamInfo)
        assert name.isidentifier()
        assert param.desc.strip()
        assert param.expected.strip()
        assert isinstance(param.dtype, type)


@EACH
def test_defaults_are_canonical_and_valid(measure):
    for param in measure.SUPPORTED_PARAMS.values():
        if param.default is not params.NOT_PROVIDED:
            assert param.canonical(param.default) == param.default
            assert param.validate(param.default)
            assert not param.required


@EACH
def test_printed_name_reads_back(measure):
    assert str(measure) == measure.__name__ == measure.NAME
    for read in (ir_measures.parse_measure(measure.NAME), *ir_measures.parse_trec_measure(measure.NAME)):
        assert read == measure
        assert read.params == measure.params == {}


@EACH
def test_measure_is_exported(measure):
    exported = [name for name in ir_graded.__all__ if vars(ir_graded).get(name) is measure]
    assert len(exported) == 1
    assert exported[0].isidentifier()
    assert REGISTRY[exported[0]] is measure


@EACH
def test_measure_is_known_to_ir_measures(measure):
    assert isinstance(measure, GradedMeasure)
    assert isinstance(measure, ir_measures.Measure)
    assert ir_measures.measures.registry[measure.NAME] is measure


@EACH
def test_provider_lists_the_measure(measure):
    assert measure in provider.PROVIDER.SUPPORTED_MEASURES
    examples = {
        "cutoff": 10,
        "recall": 0.1,
        "measure": "Q",
        "groups": {"A": "JSD"} if measure.NAME == "GFR" else "A",
    }
    needed = [name for name, param in measure.SUPPORTED_PARAMS.items() if param.required]
    assert provider.PROVIDER.supports(measure(**{name: examples[name] for name in needed}))


@pytest.mark.parametrize("name", REGISTRY)
def test_every_name_means_the_same_in_ir_measures(name):
    assert ir_measures.measures.registry[name] == REGISTRY[name]
    assert ir_measures.parse_measure(name) == REGISTRY[name]


def test_exported_measures_are_registered():
    exported = [vars(ir_graded).get(name) for name in ir_graded.__all__]
    measures = [measure for measure in exported if isinstance(measure, GradedMeasure)]
    assert {id(measure) for measure in measures} == {id(measure) for measure in MEASURES.values()}


def test_exported_names_exist():
    assert len(set(ir_graded.__all__)) == len(ir_graded.__all__)
    for name in ir_graded.__all__:
        assert hasattr(ir_graded, name)
        assert name in dir(ir_graded)


@pytest.mark.parametrize("measure", cases.MEASURES.values(), ids=cases.MEASURES)
def test_measure_has_a_reference_and_strategies(measure):
    assert measure.NAME in ranked.MEASURES
    for name, param in measure.SUPPORTED_PARAMS.items():
        assert name in ranked.DEFAULTS
        assert isinstance(cases.values(param), st.SearchStrategy)


def test_a_name_is_registered_once():
    with pytest.raises(ValueError, match="'Q' is taken by Q"):
        base.add_names(ir_graded.O, "Q")
    assert REGISTRY["Q"] == ir_graded.Q


@pytest.mark.parametrize("name", ["INST", "MAP", "nDCG"])
def test_a_name_of_ir_measures_is_rejected(name):
    """Strings with the parameters of ir-measures' measure could no longer be read."""
    toy = type("Toy", (type(ir_graded.Q),), {"NAME": name})()
    for measure, aliases in ((toy, ()), (ir_graded.Q, ("NewQ", name))):
        with pytest.raises(
            ValueError, match=f"'{name}' is taken by a measure of ir-measures: choose another"
        ):
            base.register(measure, *aliases)
    assert {name, "NewQ"}.isdisjoint(REGISTRY)
    assert str(ir_measures.parse_measure("INST(max_rel=2)")) == "INST(max_rel=2)"


def test_a_classic_computes_a_measure_of_ir_measures(monkeypatch):
    """A class that declares the measure of ir-measures has its name and parameters."""
    monkeypatch.setitem(CLASSICS, "SetAP", CLASSICS["SetR"])  # replaced below, and removed afterwards

    @register_classic(ir_measures.SetAP)
    class Toy(CLASSICS["SetR"]):
        """Recall under the name of SetAP."""

    qrels, run = {"1": {"a": 1, "b": 1}}, {"1": {"a": 1.0}}
    assert ir_graded.evaluate("SetAP(rel=1)", qrels, run).values.item() == 0.5
    assert Toy.MEASURE is ir_measures.SetAP


def test_registering_again_changes_nothing():
    before = dict(ir_measures.measures.registry), list(ir_measures.DefaultPipeline.providers)
    evaluator, parse = ir_measures.DefaultPipeline._evaluator, ir_measures.parse_measure
    ir_graded.plugin.register()
    assert (dict(ir_measures.measures.registry), list(ir_measures.DefaultPipeline.providers)) == before
    assert ir_measures.DefaultPipeline._evaluator == evaluator
    assert ir_measures.parse_measure is parse


def test_measures_and_classics_are_scorers():
    assert all(isinstance(measure, base.Scorer) for measure in REGISTRY.values())
    assert all(issubclass(classic, base.Scorer) for classic in CLASSICS.values())
