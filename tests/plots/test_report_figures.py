"""The figures of a report: one file per figure, with names for any file system."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from helpers import assert_command_fails, run_command

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")
matplotlib.use("Agg")

import ir_graded  # noqa: E402
from ir_graded.plots.scores import report_figures  # noqa: E402

QRELS = {"1": {"a": 2, "b": 1}, "2": {"a": 1}, "3": {"c": 1}}
RUNS = {
    "first": {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 1.0}, "3": {"c": 1.0}},
    "second": {"1": {"b": 2.0, "x": 1.0}, "2": {"x": 2.0, "a": 1.0}, "3": {"x": 2.0, "c": 1.0}},
}
MEASURES = ["Q", "NCU(stop='rb',gamma=0.7)@20"]
NAMES = ["Q", "NCU_gamma=0_7_stop=_rb_@20"]


def test_each_measure_has_a_leaderboard_and_differences():
    scores = ir_graded.evaluate(MEASURES, QRELS, RUNS)
    intervals = ir_graded.meta.confidence_intervals(scores, n_resamples=20, rng=0)
    more = {"unjudged": ir_graded.unjudged(QRELS, RUNS), "ranks": None}
    figures = report_figures(scores, intervals, [("first", "second"), None], more)
    assert [*figures] == ["leaderboard-Q", "differences-Q", f"leaderboard-{NAMES[1]}", "unjudged"]
    (axes,) = figures["leaderboard-Q"].axes
    assert axes.get_xlabel().startswith("Q")
    assert [text.get_text() for text in axes.get_yticklabels()] == ["first", "second"]


def test_names_that_differ_in_signs_only_stay_apart():
    scores = ir_graded.evaluate(["Q", "AP"], QRELS, RUNS)
    intervals = ir_graded.meta.confidence_intervals(scores, n_resamples=20, rng=0)
    intervals = replace(intervals, measures=("a(b)", "a[b]"))
    figures = report_figures(scores, intervals, [None, None], {})
    assert [*figures] == ["leaderboard-a_b", "leaderboard-a_b-1"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{topic} 0 {doc} {level}\n" for topic, docs in QRELS.items() for doc, level in docs.items())
    )
    for name, run in RUNS.items():
        lines = [f"{t} Q0 {doc} 1 {score} t\n" for t, docs in run.items() for doc, score in docs.items()]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


REPORT = ["report", "qrels.txt", "first.run", "second.run", "-m", MEASURES[0], "-m", MEASURES[1]]


@pytest.mark.slow
def test_the_command_writes_pdf_and_svg(files, capsys):
    given = [*REPORT, "--html", "page.html"]
    assert run_command(capsys, *given, "--figures", "new/figures")[:2] == (0, "page.html\n")
    expected = [
        "ranks",
        "unjudged",
        *(f"{kind}-{name}" for kind in ("leaderboard", "differences") for name in NAMES),
    ]
    found = {path.name: path for path in (files / "new" / "figures").iterdir()}
    assert sorted(found) == sorted(f"{name}.{ending}" for name in expected for ending in ("pdf", "svg"))
    for name, path in found.items():
        if name.endswith("pdf"):
            assert path.read_bytes().startswith(b"%PDF")
        else:
            assert ET.parse(path).getroot().tag.endswith("svg")  # noqa: S314  # our own file
    page = (files / "page.html").read_text()
    assert "--figures new/figures" in page
    run_command(capsys, *given)
    assert (files / "page.html").read_text() == page.replace(" --figures new/figures", "")


def test_a_folder_that_is_a_file_is_rejected_before_any_work(files, capsys):
    error = assert_command_fails(run_command(capsys, *REPORT, "--html", "p.html", "--figures", "qrels.txt"))
    assert "--figures" in error
    assert "qrels.txt is a file" in error
    assert not (files / "p.html").exists()
    assert_command_fails(run_command(capsys, *REPORT, "--html", "no/p.html", "--figures", "figures"))
    assert not (files / "figures").exists()
