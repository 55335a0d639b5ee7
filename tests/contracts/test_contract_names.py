"""Every name is read, with parameters and cutoffs; errors on other names lead to measures that exist."""

import re

import ir_measures
import pytest
from contracts.test_contract_parameters import described

import ir_graded
from ir_graded import ParameterError
from ir_graded.errors import short_repr
from ir_graded.measures import NAMES, REGISTRY, GradedMeasure, base
from ir_graded.measures.base import SHORT_FOR
from ir_graded.measures.classic import CLASSICS
from ir_graded.measures.parsing import LACKING, MEANT, TREC_ONLY, read_measure, read_measures

THEIRS = {name: one for name, one in ir_measures.measures.registry.items() if name not in NAMES}
EVERY = {**THEIRS, **NAMES}
#: Names of trec_eval.
TREC = {"bpref", "infap", "map", "ndcg", "recall", "recip_rank", "success"}
UNREADABLE = {
    "(": "was never closed", "@": "invalid syntax", "@@10": "invalid syntax", "@10@20": "unexpected",
    "(1)": "args must be named", "(beta)": "args must be named", "(**{'x': 1})": "args must be named",
    "(x=y)": "values must be numbers, or text in quotes", "(x=-'1')": "values must not be negative",
    "(x=1,x=2)": "'x' is given twice", "(x={1:2,1:3})": "1 is given twice", "()#": "'#' is not part of a",
    "(x={**y})": "values must be str", "(x=1+1)": "values must be str", "()()": "unexpected expression",
    "(x={(1,2):3})": "keys must be numbers or text",
    "(x=" + 300 * "(": "too",
}  # fmt: skip


def at(name):
    """Return a cutoff, or another value behind @, that a measure takes; None if it takes none."""
    measure = EVERY[name]
    if measure.AT_PARAM not in measure.SUPPORTED_PARAMS:
        return None
    return 0.5 if measure.AT_PARAM == "recall" else 7


@pytest.mark.parametrize("read", [ir_measures.parse_measure, read_measure])
def test_every_name_is_read_alone_and_with_parameters(read):
    for name, measure in EVERY.items():
        known = measure.AT_PARAM
        texts = {f"{name}{blank}": measure for blank in ("", "()", " ()" if name in NAMES else "")}
        if (value := at(name)) is not None:
            given = measure(**{known: value})
            texts |= {f"{name}@{value}": given, f"{name} @ {value}": given, f"{name}({known}={value})": given}
        if "rel" in measure.SUPPORTED_PARAMS:
            texts[f"{name}(rel=2)"] = measure(rel=2)
        for text, expected in texts.items():
            found = read(text)
            assert (found, found.params, type(found)) == (expected, expected.params, type(expected)), text
            if name in NAMES:
                assert ir_measures.parse_trec_measure(text) == [expected]


def test_one_string_names_many_measures():
    computed = [name for name in EVERY if EVERY[name].SUPPORTED_PARAMS or name == "NumQ"]
    together = [EVERY[name] for name in computed]
    assert read_measures(" ".join(computed)) == [*dict.fromkeys(together)]
    assert read_measures("\n\t".join(computed), repeats=True) == together
    assert read_measures(["AP Q", ir_measures.RR, "Q P_5,10"]) == read_measures(
        ["AP", "Q", "RR", "P@5", "P@10"]
    )
    for separator in (",", ", ", ";"):
        message = "separate measures by blanks, for example 'Q nDCG"
        with pytest.raises(ir_graded.MeasureSyntaxError, match=message):
            read_measures(separator.join(["Q@3", "nDCG(dcg='log2')@5", "AP"]))


def test_names_in_other_cases_are_suggested():
    for name, measure in EVERY.items():
        for other in {name.lower(), name.replace("_", "-")} - EVERY.keys() - TREC:
            for text in (other, f"{other}@5"):
                with pytest.raises(ir_graded.UnknownMeasureError) as caught:
                    read_measures(text)
                said = re.match(
                    r"Unknown measure '.*'\. Did you mean ['\"](.*)['\"]\? Run|.* not take", str(caught.value)
                )
                assert said, text
                is_elsewhere = {other.casefold(), f"{other}@k".casefold()} & MEANT.keys()
                assert not said[1] or is_elsewhere or type(read_measure(said[1])) is type(measure)


def test_names_of_other_programs_lead_to_measures_or_say_what_is_similar():
    assert {*MEANT, *LACKING}.isdisjoint(EVERY)
    for name, here in MEANT.items():
        meant, given = (f"{here}@3", name.replace("@k", "@3")) if name.endswith("@k") else (here, name)
        assert read_measure(meant)
        if name not in TREC:
            with pytest.raises(ir_graded.UnknownMeasureError) as caught:
                read_measures(given)
            expected = f"Unknown measure {given!r}. Did you mean {meant!r}? Run `ir_graded measures` for the"
            assert str(caught.value) == f"{expected} full list."
    for name, instead in LACKING.items():
        for text in (name, name.upper(), f"{name}@5"):
            with pytest.raises(ir_graded.UnknownMeasureError) as caught:
                read_measures(text)
            assert str(caught.value).startswith(
                f"Unknown measure {text!r}. {instead}. Run `ir_graded measures`"
            )
    for name, here in TREC_ONLY.items():
        assert read_measure(name) == read_measure(here)


def test_a_base_without_a_short_name_lists_those_that_exist():
    for outer in ("D", "D#", "DIN", "DIN#", "IA", "IA#", "EC"):
        names = [name for name in NAMES if name.startswith(f"{outer}-")]
        for other, said in (("Judged", True), ("unknown", False)):
            with pytest.raises(ir_graded.UnknownMeasureError) as caught:
                read_measures(f"{outer}-{other}")
            words = f"{outer} has short names for these: {', '.join(names)}. Run `ir_graded"
            assert (words in str(caught.value)) is said
    for text in ("Q-Judged", "AP-Q"):
        with pytest.raises(ir_graded.UnknownMeasureError) as caught:
            read_measures(text)
        assert "short names" not in str(caught.value)


def test_text_that_cannot_be_read_says_why():
    readers = (ir_measures.parse_measure, ir_measures.parse_trec_measure, read_measures)
    for at, (name, measure) in enumerate(NAMES.items()):
        read = readers[at % len(readers)]
        for behind, problem in UNREADABLE.items():
            with pytest.raises(ir_graded.MeasureSyntaxError) as caught:
                read(name + behind)
            assert str(caught.value).startswith(f"cannot read {short_repr(name + behind)}: ")
            assert problem in str(caught.value), (name, behind)
            end = f"; write {name}, {name}@10 or {name}(name=value, ...)@10"
            assert name != measure.NAME or str(caught.value).endswith(end)


def test_short_names_reject_other_values_of_their_parameters():
    for name, params in SHORT_FOR.items():
        measure = NAMES[name]
        for key, value in params.items():
            assert read_measure(f"{name}({key}={value!r})") == measure
            others = [
                one
                for one in described(measure.SUPPORTED_PARAMS[key])[1]
                if type(one) is type(value) and measure[key] != one
            ]
            for other in others:
                try:
                    made = type(measure)(**{**params, key: other})
                except ParameterError:
                    continue
                if made == measure:
                    continue
                with pytest.raises(ParameterError) as caught:
                    read_measure(f"{name}({key}={other!r})")
                assert (
                    str(caught.value)
                    == f"{name} has {key}={value!r}, not {short_repr(other)}: write {made!r}"
                )


def test_a_new_measure_has_its_name_and_aliases_until_they_are_taken():
    kind = type("New", (type(REGISTRY["Q"]),), {"NAME": "N-e+w#"})
    before = {**REGISTRY}
    try:
        made = base.register(kind(), "Newer")
        base.add_short_name(kind(), "N-2", beta=2)
        assert {name: one for name, one in REGISTRY.items() if name not in before} == {
            **dict.fromkeys(["N-e+w#", "N_e_plus_w_sharp", "Newer"], made),
            "N-2": made(beta=2),
        }
        assert read_measure("N-e+w#(beta=2)@3") == made(beta=2, cutoff=3)
        with pytest.raises(ParameterError, match=re.escape("N-2 has beta=2, not 3: write N-e+w#(beta=3)")):
            read_measure("N-2(beta=3)")
        assert base.register(kind(), "Newer") == made
        for other, name in ((REGISTRY["O-measure"], "N-2"), (made(beta=3), "Newer")):
            message = f"the name '{name}' is taken by {re.escape(repr(REGISTRY[name]))}"
            with pytest.raises(ValueError, match=message):
                base.add_names(other, name)
        for name in ("nDCG", "MAP"):
            words = f"the name '{name}' is taken by a measure of ir-measures: choose"
            with pytest.raises(ValueError, match=words):
                base.register(type("Taken", (kind,), {"NAME": name})())
    finally:
        for name in REGISTRY.keys() - before.keys():
            del REGISTRY[name]
        SHORT_FOR.pop("N-2", None)
    assert before == {**REGISTRY}
    assert all(isinstance(measure, GradedMeasure) for measure in NAMES.values())
    assert {name for name in CLASSICS if name in NAMES} == set()
