"""Compare the plain references, and the package, with the program ntcir_eval."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from differential import compare, oracle_ntcir_eval as program
from differential.oracle_ntcir_eval import Settings
from intents import test_intents_against_reference as cases
from intents.intent_cases import IntentTopic
from reference import intents

from ir_graded.core.facets import INTENT
from ir_graded.evaluation.provider import GradedEvaluator
from ir_graded.io.sources import add_intents
from ir_graded.matching.match import prepare_qrels

needs_program = pytest.mark.skipif(bool(program.ORACLE.missing), reason=program.ORACLE.missing or "")

#: Values printed in NTCIREVAL's documents, whose scripts evaluate the first ten documents.
TOY_COLUMNS = {
    "I-rec": ("I-rec", {}),
    "D-Q": ("D", {"measure": ("Q", {"norm": "cutoff"})}),
    "D-nDCG": ("D", {"measure": ("nDCG", {})}),
    "D-RBP": ("D", {"measure": ("gRBP", {})}),
    "D-EBR": ("D", {"measure": ("EBR", {})}),
    "D-iRBU": ("D", {"measure": ("iRBU", {})}),
    "D#-Q": ("D#", {"measure": ("Q", {"norm": "cutoff"})}),
    "D#-nDCG": ("D#", {"measure": ("nDCG", {})}),
    "DIN-Q": ("DIN", {"measure": ("Q", {"norm": "cutoff"})}),
    "DIN-nDCG": ("DIN", {"measure": ("nDCG", {})}),
    "IA-Q": ("IA", {"measure": ("Q", {"norm": "cutoff"})}),
    "IA-nDCG": ("IA", {"measure": ("nDCG", {})}),
    "P+Q": ("P+Q", {}),
}
TOY_VALUES = {
    "0001": (
        *(0.6667, 0.1263, 0.2085, 0.0687, 0.2114, 0.5113, 0.3965, 0.4376),
        *(0.0627, 0.1117, 0.0514, 0.1107, 0.1057),
    ),
    "0002": (
        *(0.5000, 0.0471, 0.0946, 0.0238, 0.0277, 0.0577, 0.2735, 0.2973),
        *(0.0471, 0.0946, 0.0048, 0.0116, 0.0333),
    ),
    "0003": (
        *(0.3333, 0.3370, 0.4710, 0.1450, 0.7062, 0.7845, 0.3351, 0.4021),
        *(0.0917, 0.1894, 0.2095, 0.3128, 0.5714),
    ),
}


def assert_equal(pairs):
    """Check that there is at least one pair, and that both values of each are equal."""
    found = list(pairs)
    assert found
    for name, ours, theirs in found:
        assert ours == pytest.approx(theirs, abs=1e-12), name


@needs_program
def test_references_equal_the_program_on_500_random_topics():
    rng, tally = np.random.default_rng(18), compare.Tally()
    for _ in range(500):
        tally.add(program.compare(rng))
    assert tally.cases > 50_000
    assert tally.largest <= 1e-12, tally.worst


class ByThePackage:
    """Replace the reference's score by the package's, except for nDCG with fractional gains."""

    def __init__(self):
        self.reference, self.topic, self.judgments, self.count = program.scored, None, None, 0

    def __call__(self, topic, name, cutoff, **params):
        base = params.get("measure")
        if base is not None and not takes_gains(*base):
            return self.reference(topic, name, cutoff, **params)
        if topic is not self.topic:
            known = {"t": {i: (p, "nav" if i in topic.nav else "inf") for i, p in topic.P.items()}}
            table = add_intents(cases.rows_of({"t": topic}), known)
            self.topic, self.judgments = topic, prepare_qrels(table, [INTENT])
        given = {key: value for key, value in params.items() if key != "measure"}
        measure = cases.ours(name, cutoff, base, **given)
        self.count += 1
        return GradedEvaluator({measure: measure}, self.judgments).calc_aggregate(cases.run_of({"t": topic}))[
            measure
        ]


def takes_gains(name, params):
    """Return whether the package takes the gains of a base measure."""
    return name != "nDCG" or all(float(gain).is_integer() for gain in params.get("gains", {}).values())


@needs_program
@pytest.mark.slow
def test_package_equals_the_program_on_500_random_topics(monkeypatch):
    ours = ByThePackage()
    monkeypatch.setattr(program, "scored", ours)
    rng = np.random.default_rng(81)
    kinds = (program.of_global_gains, program.of_types, program.of_each_intent, program.of_intents)
    for _ in range(500):
        _, topic, settings = program.drawn(rng)
        with tempfile.TemporaryDirectory() as folder:
            for name, found, theirs in (
                pair for kind in kinds for pair in kind(Path(folder), settings, topic)
            ):
                assert found == pytest.approx(theirs, abs=1e-12), (name, topic, settings)
    assert ours.count > 5_000


@needs_program
@pytest.mark.parametrize("topic", TOY_VALUES)
def test_toy_topics_match_the_values_of_the_documents(topic):
    for (name, params), printed in zip(TOY_COLUMNS.values(), TOY_VALUES[topic], strict=True):
        for scored in (program.scored, ByThePackage()):
            found = scored(program.toy_topics()[topic], name, 10, **params)
            assert found == pytest.approx(printed, abs=0.5e-4 + 1e-9), name


@needs_program
@pytest.mark.parametrize("truncated", [False, True])
@pytest.mark.parametrize("condensed", [False, True])
@pytest.mark.parametrize("topic", TOY_VALUES)
def test_toy_topics_with_intents_equal_the_program(topic, condensed, truncated, tmp_path):
    settings = Settings(condensed=condensed, truncated=truncated)
    toy = program.toy_topics()[topic]
    for kind in (
        program.of_global_gains,
        program.of_types,
        program.of_each_intent,
        program.of_intents,
        program.of_levels,
    ):
        assert_equal(kind(tmp_path, settings, toy))


@needs_program
@pytest.mark.parametrize("run", ["toyrun1", "toyrun2"])
@pytest.mark.parametrize("k", [3, 20, 100])
def test_toy_topics_with_groups_equal_the_program(run, k, tmp_path):
    settings = Settings(k=k, gains={2: 3})
    seen = []
    for attribute, topic, membership, target in program.toy_groups(run):
        assert_equal(program.of_groups(tmp_path, settings, topic, membership, target))
        seen.append(attribute)
    assert len(seen) == 6


@needs_program
@pytest.mark.parametrize("topic", ["0001", "0002"])
def test_toy_topics_with_classes_equal_the_program(topic, tmp_path):
    assert_equal(program.of_classes(tmp_path, Settings(gains={}), *program.toy_classes(topic)))


@needs_program
def test_toy_sample_of_one_list_equals_the_program(tmp_path):
    levels = {doc: int(level[1:]) for doc, level in program.fields("sample.rel")}
    retrieved = [doc for (doc,) in program.fields("sample.res")]
    topic = IntentTopic({"": levels}, retrieved, {}, set())
    assert_equal(program.of_levels(tmp_path, Settings(), topic))
    assert_equal(program.of_levels(tmp_path, Settings(condensed=True), topic))


@needs_program
def test_levels_as_gains_equal_the_program(tmp_path):
    rng = np.random.default_rng(2)
    levels = {f"d{n}": float(level) for n, level in enumerate(rng.random(30) * 3) if level}
    topic = IntentTopic({"1": levels}, rng.permutation(sorted(levels)).tolist(), {"1": 1.0}, set())
    assert_equal(program.of_global_gains(tmp_path, Settings(rel=1e-9), topic))


# ---------------------------------------------------------------------------------------- without the program


def test_printed_values_are_read():
    lines = [["#", "syslen=4"], ["#intent_num=3"], ["RR=", "0.5"], ["Q@0010=", ".25"], ["I-rec@n=", "1"]]
    assert program.printed(lines) == {"RR": 0.5, "Q@10": 0.25, "I-rec@n": 1}


def test_a_missing_program_is_named_in_the_reason(monkeypatch):
    monkeypatch.setattr(program, "PROGRAM", "")
    assert program.missing() == "the variable NTCIR_EVAL names no program"


def test_a_program_that_prints_few_digits_is_not_compared(monkeypatch, tmp_path):
    few = tmp_path / "few"
    few.write_text("#!/bin/sh\necho a 0.3333\n")
    few.chmod(0o755)
    monkeypatch.setattr(program, "PROGRAM", str(few))
    assert program.missing() == "the program that NTCIR_EVAL names prints fewer than 17 digits"


def test_random_topics_cover_the_cases_to_compare():
    rng = np.random.default_rng(1)
    drawn = [program.drawn(rng) for _ in range(200)]
    topics = [topic for _, topic, _ in drawn]
    assert any(not topic.retrieved for topic in topics)
    assert any(0 in topic.P.values() for topic in topics)
    assert any(sum(topic.P.values()) < 0.9 for topic in topics)
    assert {len(topic.P) for topic in topics} == {1, 2, 3, 4, 5, 6}
    assert any(0 < len(topic.nav) < len(topic.P) for topic in topics)
    levels = [intents.document_levels(topic.levels) for topic in topics]
    assert {level for of_topic in levels for level in of_topic.values()} == {0, 1, 2, 3, 4}
    settings = [settings for _, _, settings in drawn]
    assert {one.condensed for one in settings} == {one.truncated for one in settings} == {False, True}
