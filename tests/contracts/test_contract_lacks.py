"""The docstring has a counterexample for every property that a measure declares to lack; doctests run it."""

import doctest
import re

import pytest
from contracts import contract_cases as cases

from ir_graded.measures import PROPERTIES, REGISTRY, GradedMeasure, base
from ir_graded.measures.base import sections
from ir_graded.measures.classic import CLASSICS, base as classics_base


def shows(lacks, code, highest):
    """Return whether the last results of an example are those of a measure that lacks the property."""
    *_, before, last = ["", *(one.want.strip() for one in doctest.DocTestParser().get_examples(code))]
    if last == "True":
        return " < " in code.splitlines()[-2]
    found = [
        float(number) for number in re.findall(r"(?:(?<=[\[( ])|^)[0-9][0-9.e-]*?(?=\.{3}|[\]}),]|$)", last)
    ]
    if lacks == "truncation" and len(found) == 1:
        return last != before
    if lacks in {"swap", "exchange", "truncation"}:
        return found[0] > found[1]
    return found[0] > 0 if lacks == "nothing" else found[0] < highest


def test_the_docstring_shows_every_declared_lack():
    for declared in dict.fromkeys(map(cases.declared, cases.ALL)):
        found = {name: code for name, code in sections(declared).items() if name.startswith("Lacks ")}
        assert {*found} == {f"Lacks {name}" for name in declared.LACKS}, declared
        assert declared.LACKS.keys() <= PROPERTIES.keys()
        for lacks, reason in declared.LACKS.items():
            assert reason == reason.strip().rstrip(".")
            assert len(reason.split()) > 3
            assert shows(lacks, found[f"Lacks {lacks}"], declared.RANGE[1]), (declared, lacks)


def test_an_unknown_property_is_rejected():
    class _Wrong(GradedMeasure):
        NAME, LACKS = "Wrong", {"beauty": "none"}

    message = r"Wrong: unknown property 'beauty' in LACKS; the properties are nothing, ideal"
    with pytest.raises(ValueError, match=message):
        base.register(_Wrong())
    assert "Wrong" not in REGISTRY
    kind = type("Wrong", (CLASSICS["AP"],), {"LACKS": {"beauty": "none"}})
    with pytest.raises(ValueError, match="AP: unknown property 'beauty' in LACKS"):
        classics_base.register(CLASSICS["AP"].MEASURE)(kind)
    assert CLASSICS["AP"] is not kind
