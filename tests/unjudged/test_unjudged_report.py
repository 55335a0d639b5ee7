"""The report with intervals from unjudged documents next to those from the choice of topics."""

import re

import pytest
from helpers import covid_sample, run_command

import ir_graded

MEASURES = ["nDCG@10", "NumRet(rel=1)"]


def page_of(tmp_path, **options):
    covid = covid_sample()
    runs = dict(list(covid.runs.items())[:3])
    path = tmp_path / "report.html"
    ir_graded.report(MEASURES, covid.qrels, runs, path, **options)
    return path.read_text(encoding="utf-8"), covid.qrels, runs


@pytest.mark.slow
def test_both_intervals_are_shown_separately(tmp_path):
    pytest.importorskip("jinja2")
    page, qrels, runs = page_of(tmp_path, n_samples=30, depth=10, rng=2)
    found = ir_graded.score_intervals(MEASURES, qrels, runs, n_samples=30, depth=10, rng=2)
    scores = ir_graded.evaluate(MEASURES, qrels, runs)
    topics = ir_graded.meta.confidence_intervals(scores)
    section = page[page.index('id="doubts-caption"') :]
    for at, name in enumerate(runs):
        row = section[section.index(name) :]
        row = row[: row.index("</tr>")]
        ends = [float(end) for pair in re.findall(r"\[([\d.]+), ([\d.]+)\]", row) for end in pair]
        unjudged = found.overall[1:, :, at] / [1, 30]  # a report gives means of counts
        expected = [
            end
            for measure in range(2)
            for end in (topics.low[measure, at], topics.high[measure, at], *unjudged[:, measure])
        ]
        assert ends == pytest.approx(expected, abs=5.1e-4)
        assert f"{100 * found.imputed[at]:.1f}%" in row
        assert (" *</th>" in row) == (found.imputed[at] > 0.2)
    assert "n_samples=30, depth=10" in page


@pytest.mark.slow
def test_without_samples_nothing_is_imputed(tmp_path):
    pytest.importorskip("jinja2")
    page, *_ = page_of(tmp_path)
    assert "doubts-caption" not in page


def test_the_command_takes_samples_and_depth(tmp_path, capsys):
    pytest.importorskip("jinja2")
    qrels, run, page = tmp_path / "q", tmp_path / "r", tmp_path / "page.html"
    qrels.write_text("".join(f"{t} 0 d{n} {n % 4}\n" for t in range(30) for n in range(0, 20, 2)))
    run.write_text("".join(f"{t} Q0 d{n} {n} {20 - n} r\n" for t in range(30) for n in range(1, 20)))
    call = ["report", qrels, run, "-m", "Q", "--n-samples", "20", "--depth", "5", "--html", page]
    code, _, err = run_command(capsys, *call)
    assert (code, err.count("\n")) == (0, 1)
    assert err.startswith("ir_graded: wrote 1 run, 30 topics")
    text = page.read_text(encoding="utf-8")
    assert "--n-samples 20 --depth 5" in text
    assert "doubts-caption" in text


def test_depth_without_samples_is_rejected(tmp_path):
    pytest.importorskip("jinja2")
    with pytest.raises(ir_graded.ParameterError, match=r"depth=5 needs n_samples >= 1"):
        page_of(tmp_path, depth=5)


def test_qrels_with_relevant_documents_alone_leave_the_intervals_out(tmp_path, capsys):
    pytest.importorskip("jinja2")
    qrels, run, page = tmp_path / "q", tmp_path / "r", tmp_path / "page.html"
    qrels.write_text("".join(f"{t} 0 d{n} 1\n" for t in range(30) for n in (0, 2)))
    run.write_text("".join(f"{t} Q0 d{n} {n} {20 - n} r\n" for t in range(30) for n in range(9)))
    reason = "the qrels have no judged non-relevant document (level 0), so the share of relevant documents"
    call = ["report", qrels, run, "-m", "P@5", "--n-samples", "20", "--html", page]
    code, _, err = run_command(capsys, *call)
    assert (code, err.count("\n")) == (0, 2)
    assert reason in err
    text = page.read_text(encoding="utf-8")
    assert f"Intervals from unjudged documents are left out: {reason}" in text
    assert "doubts-caption" not in text
    code, _, err = run_command(capsys, "evaluate", qrels, run, "-m", "P@5", "--unjudged", "intervals")
    assert (code, err.count("\n")) == (2, 1)
    assert reason in err
    assert "or use --unjudged bounds for measures" in err
