"""The benchmarks run at a tiny scale, and their checks pass."""

import importlib
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
if not BENCHMARKS.is_dir():  # a source distribution does not have them
    pytest.skip("the benchmarks are not here", allow_module_level=True)

pytest.importorskip("pyNTCIREVAL")

SECTIONS = [
    "## Start",
    "## Files: 14 topics x 1,000 documents",
    "## DataFrames: 14 topics x 1,000 documents",
    "## Dicts of dicts: 14 topics x 1,000 documents, MS MARCO-like",
    "## Dicts of dicts: 2 topics x 1,000 documents, Robust-like",
    "## Arrays: 20 rows x 1,000 documents; nDCG, AP, RR, Rprec, P@10",
    "## Ties: 14 topics x 1,000 documents, few judged",
    "## Ties: 2 topics x 1,000 documents, many judged",
    "## Intents: 14 topics x 1,000 documents, 20 judged a topic, 5 intents",
    "## Quotes: 790",
    "## Many runs",
    "## Unjudged documents",
    "## Nuggets and budgets: 2 topics x 20 chunks",
    "## One large file",
    "## Growth",
]


def program(name, *arguments):
    command = [sys.executable, str(BENCHMARKS / name), *map(str, arguments)]
    env = {name: value for name, value in os.environ.items() if name != "TREC_EVAL"}
    return subprocess.run(  # noqa: S603  # the project's own program
        command, capture_output=True, text=True, check=False, env=env
    )


def printed_by(*arguments):
    done = program("beside_peers.py", "--repeat", 1, "--scale", 0.002, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def checks(report):
    return [line for line in report.splitlines() if line.startswith("- Check: ")]


@pytest.mark.release
def test_all_sections_print_and_all_checks_pass(tmp_path):
    report = printed_by("--output", tmp_path / "report.md", "--folder", tmp_path / "data", "--large")
    for title in SECTIONS:
        assert f"\n{title}" in report
    assert checks(report)
    assert all(line.endswith(": yes") for line in checks(report))
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == report
    assert str(tmp_path) not in report
    assert str(Path.home()) not in report
    assert str(BENCHMARKS) not in report


@pytest.fixture
def qrels(tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_text("1 0 a 2\n1 0 b 0\n2 0 a 1\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["runs", "judged.tsv.xz"])
def test_real_runs_are_read_from_a_folder_and_from_judged_documents(tmp_path, qrels, name):
    source = tmp_path / name
    if name == "runs":
        source.mkdir()
        for run in "xyz":
            (source / run).write_text(f"1 Q0 {run} 1 3 t\n1 Q0 a 2 2 t\n2 Q0 b 1 1 t\n", encoding="utf-8")
    else:
        with lzma.open(source, "wt", encoding="utf-8") as file:
            file.write("1\tx\t2:a 5:b\n2\tx\t1:a\n1\ty\t1:b\n2\tz\t\n1\tz\t3:a\n")
    report = printed_by("--only", "runs", "--runs", source, "--qrels", qrels)
    assert "### 3 of 3 runs" in report
    assert checks(report) == ["- Check: ir_measures' scores of these runs are ours: yes"]


def test_an_unknown_section_is_rejected():
    done = program("beside_peers.py", "--only", "dicts,frame")
    assert done.returncode == 2
    assert "unknown section 'frame'" in done.stderr


@pytest.fixture
def guard(monkeypatch):
    """The module, without the variables that it sets for its own process."""
    for name in ("OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"):
        monkeypatch.setenv(name, os.environ.get(name, "1"))
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("guard")


def pair_of(guard, costs):
    """Return a pair whose calls of the package have these costs in turn, and the peer's a cost of 1."""
    now, each = [0.0], iter(costs)

    def spend(seconds):
        now[0] += seconds

    return guard.Pair("a pair", lambda: spend(next(each)), lambda: spend(1.0), lambda: now[0])


@pytest.mark.parametrize(("cost", "passes"), [(2.0, True), (2.59, True), (2.61, False), (3.0, False)])
def test_the_limit_of_the_guard_is_above_the_recorded_ratio(guard, cost, passes):
    costs = iter([cost] * 7)  # two before the turns, and five turns
    assert pair_of(guard, costs).passes(2.0) is passes
    assert not [*costs]


@pytest.mark.parametrize("passes", [True, False])
def test_the_guard_goes_on_where_turns_disagree_and_takes_the_median(guard, passes, capsys):
    usual, other = (2.0, 3.0) if passes else (3.0, 2.0)
    costs = [usual, usual, *[other, usual] * 4, *[usual] * 5]
    assert pair_of(guard, costs).passes(2.0) is passes
    assert f"a pair: {usual:g}, {usual / 2:.2f} of the recorded 2, 13 turns" in capsys.readouterr().out


@pytest.mark.parametrize(("now", "passes"), [(1.1, True), (1.2, False)])
def test_the_guard_passes_a_ratio_that_an_earlier_commit_has_on_this_machine(guard, monkeypatch, now, passes):
    found = {guard.__file__: {"a pair": now}}
    monkeypatch.setattr(guard, "medians", lambda path, *_: found.get(str(path), {"a pair": 1.0}))
    assert guard.as_fast_as("HEAD", "a pair") is passes
    assert not guard.as_fast_as("HEAD", "a pair", slow=2.0)
    monkeypatch.setattr(guard, "ratio_of", lambda *_: float("nan"))  # the commit does not measure it
    assert not guard.as_fast_as("HEAD", "a pair")


def test_the_guard_ends_where_turns_always_disagree(guard):
    assert not pair_of(guard, [3.0, 3.0, *[3.0, 2.0] * 17, 3.0]).passes(2.0)


@pytest.mark.release
@pytest.mark.parametrize(("slow", "status"), [(1.0, 0), (3.0, 1)])
def test_the_guard_notices_a_slower_call(slow, status):
    # The ratios of machines differ by more than 1.5 times.
    done = program("guard.py", "--only", "discriminative", "--slow", slow)
    assert done.returncode == status, done.stdout + done.stderr


def test_the_guard_rejects_a_word_in_no_name():
    done = program("guard.py", "--only", "unknown")
    assert done.returncode == 2
    assert "no comparison was measured with --only 'unknown'" in done.stderr
