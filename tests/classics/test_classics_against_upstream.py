"""Every classic equals ir-measures' own providers for every combination of parameters."""

import ir_measures
import pytest
from classics import classic_cases as cases
from ir_measures import NumQ, NumRel, NumRet

import ir_graded
from ir_graded.evaluation.provider import PROVIDER
from ir_graded.measures.classic import CLASSICS, scorer_of

#: The levels that occur; gdeval takes none above 4.
LEVELS, GDEVAL_LEVELS = [-2, -1, 0, 0, 1, 1, 2, 3, 5], [-2, -1, 0, 0, 1, 2, 3, 4]

each_classic = pytest.mark.parametrize("name", CLASSICS)


def tolerance(measure):
    # gdeval prints five digits.
    return 0.5e-5 + 1e-9 if cases.is_by_gdeval(measure) else 1e-12


def collections_for(measure, seeds):
    for seed in seeds:
        levels = GDEVAL_LEVELS if cases.is_by_gdeval(measure) else LEVELS
        if measure.NAME == "infAP":
            levels = [max(level, -1) for level in levels]  # pytrec_eval takes -1 only
        yield cases.collection(seed, levels, ties=not cases.ties_otherwise(measure))


def assert_equal_to_the_provider(name, measures, seeds):
    assert measures
    seen = set()
    for measure in measures:
        for qrels, run in collections_for(measure, seeds):
            expected = cases.upstream(measure, qrels, run)
            found = {m.query_id: m.value for m in PROVIDER.evaluator([measure], qrels).iter_calc(run)}
            # MS MARCO's script leaves out topics without a judged document.
            assert found == {
                topic: pytest.approx(expected.get(topic, 0.0), abs=tolerance(measure)) for topic in qrels
            }, measure.params
            seen |= set(found.values())
    assert len(seen) >= 2 or name == "NumQ"


@pytest.mark.slow
@pytest.mark.parametrize("name", cases.OF_DOCUMENTS)
def test_equal_to_the_provider_of_ir_measures(name):
    measures = cases.supported(name)
    if any(map(cases.is_by_gdeval, measures)) and not ir_measures.gdeval.is_available():
        pytest.skip("gdeval runs perl")
    assert_equal_to_the_provider(name, measures, range(2))


@pytest.mark.release
@pytest.mark.parametrize("name", [name for name in cases.OF_DOCUMENTS if name != "ERR"])
def test_further_collections_equal_the_provider_of_ir_measures(name):
    # Starting perl for gdeval is slow; ERR is always by gdeval.
    measures = [measure for measure in cases.supported(name) if not cases.is_by_gdeval(measure)]
    assert_equal_to_the_provider(name, measures, range(2, 6))


@each_classic
def test_supported_combinations_are_those_of_ir_measures(name):
    """Compare the supported combinations of parameters, even if a provider is not installed."""
    for measure in cases.variants(name):
        try:
            # ranx comes last and computes only measures that no other provider supports.
            providers = [p for p in cases.UPSTREAM.providers if p.NAME != "ranx" and p.supports(measure)]
        except AssertionError:
            providers = []  # a parameter is missing
        # ir-measures does not say that a measure of pyndeval needs a cutoff.
        complete = set(CLASSICS[name].REQUIRED) <= measure.params.keys()
        assert (scorer_of(measure) is not None) == (bool(providers) and complete), measure.params


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("P", {"cutoff": 0}), ("AP", {"cutoff": -1}), ("nDCG", {"cutoff": True}), ("R", {"cutoff": 2**63}),
        ("P", {"rel": 0, "cutoff": 5}), ("AP", {"rel": -1}), ("RR", {"rel": True}), ("Bpref", {"rel": 0}),
        ("AP", {"rel": "1.5"}), ("AP", {"rel": float("nan")}), ("AP", {"k": 3}),
        ("P", {"cutoff": 2.5}), ("P", {}), ("P", {"cutoff": "5"}),
        ("nDCG", {"gains": {1: 0.5}}), ("nDCG", {"gains": {"1": 5}}), ("nDCG", {"gains": {1: True}}),
        ("nDCG", {"gains": 3}), ("nDCG", {"dcg": "ln"}), ("nDCG", {"gains": {1: 2**53}}),
        ("NumRel", {"rel": 2}), ("NumRet", {"rel": 0}), ("ERR", {}), ("ERR", {"cutoff": 0}),
        ("RBP", {"rel": 1, "p": 1.5}), ("RBP", {"rel": 1, "p": -0.5}), ("RBP", {"rel": 1, "p": float("nan")}),
        ("RBP", {"rel": 0}), ("SetF", {"beta": 1e-5}), ("SetF", {"beta": -0.5}), ("SetF", {"beta": 1e16}),
        ("SetF", {"beta": float("nan")}), ("SetF", {"beta": 2}), ("Judged", {"cutoff": 0}),
    ],
)  # fmt: skip
def test_measures_that_ir_measures_does_not_define_are_not_computed(name, params):
    measure = type(CLASSICS[name].MEASURE)(**params)
    assert scorer_of(measure) is None
    assert not PROVIDER.supports(measure)


def test_a_foreign_measure_with_the_name_of_a_classic_is_not_computed():
    other = ir_measures.define(lambda qrels, run: [], name="AP")  # noqa: ARG005
    assert scorer_of(other) is None
    assert scorer_of(ir_graded.Q) is ir_graded.Q


# ------------------------------------------------------------------------------------------- evaluate


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_topics_missing_from_the_run_are_left_out_of_means():
    qrels, run = {"1": {"a": 1, "b": 1}, "2": {"a": 1}, "3": {}}, {"1": {"x": 1.0}, "3": {"x": 1.0}}
    scores = ir_graded.evaluate([NumQ, NumRel, NumRet], qrels, run)
    assert scores.values[:, 0].tolist() == [[1, 0, 0], [2, 0, 0], [1, 0, 0]]
    assert scores.mean().loc["run"].tolist() == [1, 2, 1]


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_tied_documents_have_one_order_in_all_classics():
    """MS MARCO's script and the provider of Judged would put a before b; trec_eval puts b first."""
    qrels, run = {"1": {"a": 1}}, {"1": {"a": 1.0, "b": 1.0}}
    scores = ir_graded.evaluate(["RR", "RR@10", "AP", "Judged@1", "ERR@2"], qrels, run)
    assert scores.values.ravel().tolist() == [0.5, 0.5, 0.5, 0.0, 1 / 32]
