"""Compare a few hundred values with every installed oracle; ``compare.py`` compares any number."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import pytest
from collections_data import ROOT, needs_shared_data
from differential import compare, oracle_pytrec_eval
from differential.oracle_cases import Compared, Oracle, draw, real

from ir_graded.measures.classic.precision import ReciprocalRank

pytestmark = pytest.mark.slow

by_name = pytest.mark.parametrize("oracle", compare.ORACLES, ids=lambda oracle: oracle.name)


def skip_where_missing(oracle):
    if oracle.missing:
        pytest.skip(oracle.missing)


@by_name
@pytest.mark.filterwarnings("ignore")  # warnings of other programs
def test_random_collections_agree_with_every_oracle(oracle):
    skip_where_missing(oracle)
    tally = compare.run(oracle, cases=300, seed=7)
    assert tally.cases >= 300
    assert tally.largest <= oracle.tolerance, tally.worst


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize(
    "oracle", [oracle for oracle in compare.ORACLES if oracle.compare_on], ids=lambda oracle: oracle.name
)
def test_real_runs_agree_with_every_oracle(oracle):
    skip_where_missing(oracle)
    tally = compare.run(oracle, cases=300, seed=7, data="sample")
    assert tally.cases >= 300
    assert tally.largest <= oracle.tolerance, tally.worst


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@needs_shared_data
def test_runs_as_submitted_agree_with_every_oracle():
    assert (ROOT / "robust2003").is_dir()
    tally = compare.run(oracle_pytrec_eval.ORACLE, cases=10_000, seed=7, data="robust2003")
    assert tally.cases >= 10_000
    assert tally.largest <= 1e-12, tally.worst


# ------------------------------------------------------------------------------------- the comparison itself


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_a_wrong_measure_is_detected(monkeypatch):
    right = ReciprocalRank.score
    monkeypatch.setattr(ReciprocalRank, "score", lambda self, views: right(self, views) * (1 + 1e-11))
    tally = compare.run(oracle_pytrec_eval.ORACLE, cases=2000, seed=7)
    assert tally.largest > 1e-12
    assert tally.worst[0].startswith("RR")


@dataclass
class Constant:
    """An oracle with constant values."""

    ours: dict
    theirs: dict

    def __call__(self, _):
        yield Compared("M(a=1)@5", self.ours, self.theirs)
        yield Compared("M", {"1": 0.0}, {"1": 0.0})


@pytest.mark.parametrize(
    ("ours", "theirs", "largest"),
    [
        ({"1": 0.5, "2": 0.25}, {"1": 0.5, "2": 0.5}, 0.25),
        ({"1": 0.5}, {"1": 0.5, "2": 0.5}, np.inf),
        ({"1": 0.5, "2": 0.5}, {"1": 0.5}, np.inf),
        ({"1": float("nan"), "2": 0.5}, {"1": 0.0, "2": 0.5}, np.inf),
    ],
)
def test_differences_are_counted(ours, theirs, largest):
    tally = compare.run(Oracle("constant", Constant(ours, theirs)), cases=1, seed=1)
    assert tally.largest == largest
    assert tally.cases == len(ours | theirs) + 1
    assert tally.measures == {"M(a=1)@5", "M"}
    assert tally.kinds == {"M"}


def test_the_command_prints_a_line_for_each_oracle(monkeypatch, capsys):
    oracles = (
        Oracle("good", Constant({"1": 0.5}, {"1": 0.5})),
        Oracle("bad", Constant({"1": 0.5}, {"1": 0.75})),
        Oracle("absent", Constant({}, {}), missing="absent is not installed"),
    )
    monkeypatch.setattr(compare, "ORACLES", oracles)
    monkeypatch.setattr(sys, "argv", ["compare.py", "--cases", "10"])
    assert compare.main() == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[1].split() == ["good", "1", "2", "10", "0.0e+00"]
    assert printed[2].split() == ["bad", "1", "2", "10", "2.5e-01"]
    assert "M(a=1)@5" in printed[3]
    assert printed[4].split(maxsplit=1) == ["absent", "absent is not installed"]
    assert printed[5].split() == ["all", "20"]
    monkeypatch.setattr(sys, "argv", ["compare.py", "--cases", "10", "--oracle", "good"])
    assert compare.main() == 0


def test_a_seed_always_draws_the_same_collection():
    drawn = [draw(np.random.default_rng(seed), near=True) for seed in (3, 3, 4)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_random_collections_cover_the_cases_to_compare():
    drawn = [draw(np.random.default_rng(seed), near=True) for seed in range(40)]
    scores = [list(docs.values()) for collection in drawn for docs in collection.run.values()]
    levels = [list(docs.values()) for collection in drawn for docs in collection.qrels.values()]
    assert any(len(set(one)) < len(one) for one in scores)
    assert any(0 < b - a < 1e-7 for one in scores for a, b in zip(one, sorted(one)[1:], strict=False))
    assert any(max(one) < 1 for one in levels)
    assert {level for one in levels for level in one} >= {-2, -1, 0, 1, 2, 3, 16}
    assert {collection.as_tables for collection in drawn} == {False, True}
    without_ties = [draw(np.random.default_rng(seed), ties=False) for seed in range(20)]
    assert all(len(set(docs.values())) == len(docs) for one in without_ties for docs in one.run.values())


def test_the_sample_is_a_real_collection():
    collections = list(real("sample"))
    assert len(collections) == 20
    assert all(collection.shared for collection in collections)
