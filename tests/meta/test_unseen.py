"""Rare failures: what no topic shows, where few topics differ, and conclusions of too few topics."""

import json
import math
import os
import xml.etree.ElementTree as ET
from functools import partial

import ir_measures
import numpy as np
import pandas as pd
import pytest
from helpers import quietly, run_command

import ir_graded
from ir_graded.errors import CoverageWarning, InputError
from ir_graded.evaluation.scores import Scores
from ir_graded.meta import differences

ALPHA = 0.05


def scored(columns, lowest=0.0):
    """Scores of runs by a measure with a known range."""
    frame = pd.DataFrame(columns, [f"t{at}" for at in range(len(next(iter(columns.values()))))])
    rows = frame.rename_axis("query_id").reset_index().melt("query_id", var_name="run")
    return Scores.from_frame(rows.assign(measure="judge"), ranges={"judge": (lowest, 1)})


quiet = partial(quietly, differences)


@pytest.mark.parametrize(("differing", "lowest"), [(0, 0), (1, 0), (7, 0), (7, -1), (8, 0)])
def test_unseen_is_the_loss_of_failures_that_no_topic_shows(differing, lowest):
    base = [0.8] * 30
    run = [0.7] * differing + [0.8] * (30 - differing)
    found = quiet(scored({"base": base, "run": run}, lowest), "base", tolerance=0.05)
    q = 1 - ALPHA ** (1 / 30)
    expected = math.nan if differing == 8 else q * (0.8 - lowest) + 0.1 * differing / 30
    assert found.unseen[0] == pytest.approx(expected, nan_ok=True)
    assert found.unseen_exceeds.tolist() == [differing < 8]
    assert any("may be unseen" in note for note in found.notes) == (differing < 8)


def test_gains_hide_failures_but_do_not_offset_them():
    base, run = [0.5] * 40, [0.9] * 6 + [0.5] * 34
    found = differences(scored({"base": base, "run": run}), "base", tolerance=0.01)
    assert found.unseen[0] == pytest.approx((1 - ALPHA ** (1 / 40)) * 0.5)
    assert found.verdict == ("better",)
    assert found.unseen_exceeds.all()


def test_without_a_range_or_a_tolerance_nothing_is_said():
    columns = {"base": [0.8] * 30, "run": [0.8] * 30}
    found = differences({"Q": pd.DataFrame(columns)}, "base", tolerance=0.01)
    assert np.isnan(found.unseen).all()
    assert not found.unseen_exceeds.any()
    found = differences(scored(columns), "base")
    assert found.unseen[0] > 0
    assert not found.unseen_exceeds.any()
    assert found.notes == ()


@pytest.mark.parametrize("lost", [0, 0.3])
def test_the_number_of_topics_that_is_named_shows_the_tolerance(lost):
    def found(topics):
        run = [1 - lost] + [1.0] * (topics - 1)
        return quiet(scored({"base": [1.0] * topics, "run": run}), "base", tolerance=0.05, test="t")

    note = next(one for one in found(40).notes if "unseen" in one)
    enough = int(note.split("; ")[1].split()[0])
    loss = 0.05 - lost / 40
    assert (1 - ALPHA ** (1 / enough)) <= loss < (1 - ALPHA ** (1 / (enough - 1)))
    if not lost:
        assert found(enough).unseen[0] <= 0.05 < found(enough - 1).unseen[0]


def test_weights_and_clusters_count_as_effective_topics():
    scores = scored({"base": [0.8] * 40, "run": [0.8] * 40})
    clusters = {f"t{at}": at // 4 for at in range(40)}
    weights = {f"t{at}": 1 + at % 3 for at in range(40)}
    for options in ({"clusters": clusters}, {"weights": weights}):
        found = quiet(scores, "base", **options)
        assert found.effective_topics[0] < 40
        assert found.unseen[0] == pytest.approx((1 - ALPHA ** (1 / found.effective_topics[0])) * 0.8)


@pytest.mark.parametrize("options", [{"weights": {"t0": 50, "t1": 50}}, {"clusters": {"t0": 1, "t1": 2}}])
def test_below_three_effective_topics_nothing_is_concluded(options):
    ((name, given),) = options.items()
    fill = 0.01 if name == "weights" else 2
    full = {f"t{at}": given.get(f"t{at}", fill) for at in range(20)}
    scores = scored({"base": [0.2] * 20, "up": [0.9] * 20, "same": [0.2] * 20})
    found = quiet(scores, "base", test="t", **{name: full})
    assert found.verdict == ("inconclusive", "inconclusive")
    assert quiet(scores, "base", test="t").verdict == ("better", "equivalent")


@pytest.mark.parametrize("weight", [1e300, 1e-320, 1e21])
def test_weights_that_no_traffic_has_are_refused(weight):
    scores = scored({"base": [0.2] * 20, "up": [0.9] * 20})
    with pytest.raises(InputError, match=r"weights: the weight of topic 't3' is .*from 1e-20 to 1e\+20"):
        differences(scores, weights={**{f"t{at}": 1 for at in range(20)}, "t3": weight})


def test_some_weight_on_few_topics_is_noted_and_much_is_warned_of():
    scores = scored({"base": np.linspace(0.2, 0.4, 40), "run": np.linspace(0.2, 0.5, 40)})
    weights = {f"t{at}": 5 if at < 10 else 1 for at in range(40)}
    found = differences(scores, weights=weights)  # no warning
    assert found.notes[0].startswith("Weights: the effective number of topics is 22.9 (all topics); where")
    assert differences(scores, weights=dict.fromkeys(weights, 3)).notes == ()
    with pytest.warns(CoverageWarning, match="effective number of topics is 4.4 .* below 10"):
        differences(scores, weights=weights | {"t0": 100, "t1": 100, "t2": 100})


def test_a_bound_that_the_interval_does_not_show_is_named():
    rng = np.random.default_rng(3)
    for seed in range(200):
        z = rng.exponential(0.1, 12) - 0.1
        scores = {"Q": pd.DataFrame({"base": 0.5 + 0 * z, "run": 0.5 + z})}
        found = quiet(scores, "base", tolerance=0.05, alternative="less", rng=seed)
        said = [note for note in found.notes if "excludes a loss" in note]
        shown = found.verdict[0] in {"equivalent", "not worse"} and found.low[0] < -0.05
        assert bool(said) == shown
        if shown:
            assert "'run' and 'base': the randomisation test excludes a loss of more than 0.05" in said[0]
            return
    pytest.fail("no such comparison in 200 samples")


def write_run(path, topics, broken=(), extra=False):
    """A run that finds the only relevant document of each topic first, and second where it is broken."""
    lines = []
    for topic in range(topics):
        documents = ["x", "a"] if topic in broken else ["a", "x"]
        documents += ["z"] if extra else []
        lines += [f"{topic} Q0 {doc} {rank} {9 - rank} t\n" for rank, doc in enumerate(documents, 1)]
    path.write_text("".join(lines))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    (tmp_path / "qrels").write_text("".join(f"{topic} 0 a 1\n" for topic in range(200)))
    for topics in (20, 200):
        write_run(tmp_path / f"base{topics}.run", topics)
        write_run(tmp_path / f"equal{topics}.run", topics)
        write_run(tmp_path / f"longer{topics}.run", topics, extra=True)
        write_run(tmp_path / f"one{topics}.run", topics, broken=(3,))
        (tmp_path / f"qrels{topics}").write_text("".join(f"{topic} 0 a 1\n" for topic in range(topics)))
    return tmp_path


GATE = ("-m", "RR", "--tolerance", ".04", "--fail-if", "inconclusive")


@pytest.mark.parametrize(
    ("topics", "run", "options", "status"),
    [
        (20, "equal20", (), 0),  # the same ranking
        (20, "longer20", (), 3),
        (20, "longer20", ("--unseen", "ignore"), 0),
        (200, "longer200", (), 0),
        (20, "one20", (), 3),
        (20, "one20", ("--unseen", "ignore"), 3),  # inconclusive itself
        (200, "one200", (), 0),
    ],
)
def test_a_strict_gate_stops_where_failures_may_be_unseen(capsys, folder, topics, run, options, status):  # noqa: ARG001
    given = ("compare", f"qrels{topics}", f"base{topics}.run", f"{run}.run", *GATE, *options)
    found, out, _ = run_command(capsys, *given)
    assert found == status
    assert ("may be unseen" in out) == (run == "longer20")


def test_rankings_are_compared_down_to_the_cutoff(capsys, folder):  # noqa: ARG001
    status, out, _ = run_command(
        capsys, "compare", "qrels20", "base20.run", "longer20.run", *GATE[2:], "-m", "RR@2 RR@3", "-o", "json"
    )
    rows = json.loads(out)["comparisons"]
    assert [row["unseen"] is None for row in rows] == [True, False]
    assert status == 3


def test_outputs_name_what_is_unseen(capsys, folder):  # noqa: ARG001
    given = ("compare", "qrels20", "base20.run", "longer20.run", "equal20.run", *GATE, "-o")
    comment = run_command(capsys, *given, "markdown")[1]
    assert comment.startswith("**Inconclusive, as failures may be unseen**")
    suite = ET.fromstring(run_command(capsys, *given, "junit")[1])  # noqa: S314  # of this package
    assert [case.attrib["type"] for case in suite.iter("failure")] == ["unseen"]
    assert suite.attrib["failures"] == "1"
    assert " unseen " in run_command(capsys, *given, "table")[1]
    without = ("compare", "qrels20", "base20.run", "longer20.run", "-m", "RR")
    assert "unseen" not in run_command(capsys, *without)[1]
    status, _, said = run_command(capsys, *without, "--unseen", "ignore")
    assert (status, "--unseen needs --fail-if inconclusive" in said) == (2, True)


def test_runs_that_are_read_once_are_compared_too(folder):
    rows = [(str(topic), doc, 9 - at) for topic in range(20) for at, doc in enumerate("ax")]
    base = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    once = iter([ir_measures.ScoredDoc(*row) for row in rows])
    found = ir_graded.compare_runs("RR", os.fspath(folder / "qrels20"), base, {"once": once}, tolerance=0.04)
    assert np.isnan(found.unseen).all()


def test_slices_have_their_own_rankings(folder):
    write_run(folder / "part.run", 20)
    with (folder / "part.run").open("a") as file:
        file.write("3 Q0 z 3 1 t\n")
    slices = {str(topic): "even" if topic % 2 == 0 else "odd" for topic in range(20)}
    found = ir_graded.compare_runs("RR", "qrels20", "base20.run", "part.run", slices=slices, tolerance=0.04)
    assert dict(zip(found.slice, np.isnan(found.unseen), strict=True)) == {
        "all": False,
        "even": True,
        "odd": False,
    }
