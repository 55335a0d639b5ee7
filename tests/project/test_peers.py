"""The comparisons with other programs find errors, and write the golden files."""

import json
import sys

import pytest
from differential import disagreements
from differential.test_golden_values import PROGRAMS

from benchmarks.agreement import compare, disagreements as others
from ir_graded.measures.classic.precision import ReciprocalRank

pytestmark = pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning", "ignore:.*above max_rel")


def test_a_wrong_measure_is_detected(monkeypatch, capsys):
    right = ReciprocalRank.score
    monkeypatch.setattr(ReciprocalRank, "score", lambda self, views: right(self, views) * (1 + 1e-11))
    monkeypatch.setattr(sys, "argv", ["compare.py", "--seed", "7", "--oracle", "pytrec_eval"])
    assert compare.main() == 1
    assert "above 1e-12: ('RR" in capsys.readouterr().out
    monkeypatch.undo()
    monkeypatch.setattr(sys, "argv", ["compare.py", "--cases", "300", "--oracle", "pytrec_eval"])
    assert compare.main() == 0


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [({"1": 0.5}, {"1": 0.5, "2": 0.5}), ({"1": float("nan"), "2": 0.5}, {"1": 0.0, "2": 0.5})],
)
def test_missing_values_are_differences(ours, theirs):
    tally = compare.Tally()
    tally.add({"M": ours}, {"M": theirs})
    assert (tally.cases, tally.largest) == (2, float("inf"))


def test_the_golden_file_is_the_one_that_the_command_writes(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["compare.py", "--golden", str(tmp_path), "--oracle", "pyNTCIREVAL"])
    assert compare.main() == 0
    written = json.loads((tmp_path / "pyNTCIREVAL.json").read_text(encoding="utf-8"))
    stored = PROGRAMS["pyNTCIREVAL"]
    assert [case["input"] for case in written["cases"]] == [case["input"] for case in stored["cases"]]
    for case, kept in zip(written["cases"], stored["cases"], strict=True):
        assert case["scores"] == {name: pytest.approx(values) for name, values in kept["scores"].items()}


def test_every_disagreement_is_computed_on_both_sides():
    assert [*others.THERE] == [*disagreements.CASES]
