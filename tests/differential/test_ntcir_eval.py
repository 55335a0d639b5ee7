"""Compare the plain references, and the package, with the program ntcir_eval."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from differential import compare, oracle_ntcir_eval as program
from differential.oracle_ntcir_eval import Settings
from intents import test_intent_measures as cases
from intents.intent_cases import IntentTopic

from ir_graded.core.facets import INTENT
from ir_graded.evaluation.provider import GradedEvaluator
from ir_graded.io.annotations import add_intents
from ir_graded.matching.match import prepare_qrels

needs_program = pytest.mark.skipif(bool(program.ORACLE.missing), reason=program.ORACLE.missing or "")


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
