"""A measure lacks every property that it declares to lack: the counterexamples in the docstrings show it."""

import pytest
from contracts import contract_cases as cases, counterexamples

from ir_graded.core.facets import SPAN
from ir_graded.measures import PROPERTIES, REGISTRY, GradedMeasure, base
from ir_graded.measures.classic import CLASSICS, base as classics_base, scorer_of

pytestmark = cases.BOTH_COLUMNS

CLASSES = list(dict.fromkeys(map(cases.declared, cases.ALL)))


@pytest.fixture(scope="module")
def known():
    """Return all counterexamples of all docstrings."""
    return [found for kind in CLASSES for found in counterexamples.recorded(kind).values()]


def test_the_docstring_has_a_counterexample_for_every_declared_lack():
    for declared in CLASSES:
        assert set(cases.blocks(declared)) == set(declared.LACKS) <= set(PROPERTIES), declared
        for reason in declared.LACKS.values():
            assert reason == reason.strip().rstrip(".")
            assert len(reason.split()) > 3


@pytest.mark.slow
def test_counterexamples_use_their_measure_and_violate_the_property():
    for declared in CLASSES:
        for lacks, example in counterexamples.recorded(declared).items():
            assert cases.declared(example.measure) is declared
            assert lacks in cases.lacks(example.measure)
            example.assert_shows_what_it_says()
            assert example.is_violated_by(example.measure)


@cases.each(cases.OWN)
def test_each_variant_lacks_its_declared_properties(subject, known):
    """NCU with the stop of another measure lacks what that measure lacks, on that measure's example."""
    for lacks in cases.lacks(subject):
        assert lacks in PROPERTIES
        alike = [found for found in known if found.lacks == lacks and needs(found.measure) == needs(subject)]
        tried = [subject]
        if "cutoff" in subject.SUPPORTED_PARAMS:
            tried += [subject @ rank for rank in {f.measure["cutoff"] for f in alike if is_cut(f.measure)}]
        else:
            tried += [found.measure for found in alike if found.measure.NAME == subject.NAME]
        computed = [measure for measure in tried if cases.is_computed(measure)]
        if scorer_of(subject).NEEDS_WHOLE_LEVELS:
            alike = [
                found
                for found in alike
                if all(x % 1 == 0 for x in counterexamples.levels_of(found.qrels).values())
            ]
        assert any(found.is_violated_by(measure) for found in alike for measure in computed), lacks


def needs(measure):
    """Return the columns of qrels, beside levels, that a measure needs."""
    scorer = scorer_of(measure)
    return SPAN in scorer.needs, set(scorer.further_columns)


def is_cut(measure):
    return "cutoff" in measure.params


def test_an_unknown_property_is_rejected():
    class _Wrong(GradedMeasure):
        NAME, LACKS = "Wrong", {"beauty": "none"}

    with pytest.raises(
        ValueError, match=r"Wrong: unknown property 'beauty' in LACKS; the properties are nothing, ideal"
    ):
        base.register(_Wrong())
    assert "Wrong" not in REGISTRY
    kind = type("Wrong", (CLASSICS["AP"],), {"LACKS": {"beauty": "none"}})
    with pytest.raises(ValueError, match="AP: unknown property 'beauty' in LACKS"):
        classics_base.register(CLASSICS["AP"].MEASURE)(kind)
    assert CLASSICS["AP"] is not kind
