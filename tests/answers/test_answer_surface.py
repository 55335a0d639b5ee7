"""What else works on answers: statistics, tables, JSON, report, command line; and what refuses them."""

import json
import re
from pathlib import Path

import ir_measures
import pytest
from answers.answer_cases import SIX, answer, supported, topic, written
from helpers import assert_command_fails, run_command

import ir_graded
from ir_graded import ParameterError, Scores, meta, score_answers
from ir_graded.measures import ANSWERS, REGISTRY

QRELS, RUN = {"1": {"a": 1}}, {"1": {"a": 1.0}}


def answers_of(run, credits_):
    labels = {0: "not_support", 1: "partial_support", 2: "support"}
    return [
        answer(f"a vital {labels[one // 3]}, b okay {labels[one % 3]}", f"t{at}", run)
        for at, one in enumerate(credits_)
    ]


GOOD, POOR = answers_of("good", [8, 7, 6, 8] * 4), answers_of("poor", [0, 4, 6, 1] * 4)


@pytest.fixture
def scores():
    return score_answers(["strict_vital_score", "all_score"], [*GOOD, *POOR])


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "good.jsonl", GOOD)
    written(tmp_path / "poor.jsonl.gz", POOR)
    written(tmp_path / "nuggets.jsonl", [topic("a vital, b okay, c okay", f"t{at}") for at in range(16)])
    written(tmp_path / "support.jsonl", [supported("a FS | ", f"t{at}", "good") for at in range(16)])


def test_names_are_read_and_printed():
    assert list(map(str, (ANSWERS[name] for name in SIX[:2]))) == [
        "NuggetScore(importance='vital',strict=True)",
        "NuggetScore(importance='vital')",
    ]
    for name in (*SIX, "NuggetScore(importance={2: 1, 1: 0.25})", "CitationP(several='mean')", "CitationR"):
        measure = ir_measures.parse_measure(name)
        assert ir_measures.parse_measure(str(measure)) == measure
    assert str(ir_graded.NuggetScore(importance={2: 1, 1: 0.25})) == "NuggetScore(importance={1:0.25,2:1})"
    assert REGISTRY.keys().isdisjoint(ANSWERS)


@pytest.mark.parametrize(
    "name", ["NuggetScore", "strict_vital_score", "CitationP", "CitationR(several='mean')"]
)
@pytest.mark.parametrize(
    "call",
    [
        lambda measure: ir_graded.evaluate(measure, QRELS, RUN),
        lambda measure: ir_measures.calc_aggregate([measure], QRELS, RUN),
        lambda measure: ir_measures.evaluator([ir_measures.parse_measure(measure), ir_measures.nDCG], QRELS),
        lambda measure: ir_measures.parse_measure(measure).calc_aggregate(QRELS, RUN),
        lambda measure: ir_graded.explain(measure, QRELS, RUN, "1"),
        lambda measure: ir_graded.score_bounds(measure, QRELS, RUN),
        lambda measure: ir_graded.score_intervals(measure, QRELS, RUN),
        lambda measure: ir_graded.compare_runs(measure, QRELS, RUN, {"other": RUN}),
        lambda measure: ir_graded.score_arrays(measure, [[1]], [[1.0]]),
        lambda measure: ir_graded.ties(measure, QRELS, RUN),
        lambda measure: ir_graded.report(measure, QRELS, RUN, "report.html"),
    ],
)
def test_functions_of_rankings_refuse_measures_of_answers(name, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match=r"scores answers, not rankings: use ir_graded\.score_answers"):
        call(name)


def test_statistics_tables_and_json(scores):
    intervals = meta.confidence_intervals(scores, n_resamples=100)
    assert intervals.mean == pytest.approx(scores.aggregates.T)
    found = meta.differences(scores, "poor")
    assert found.to_frame()["significant"].all()
    assert set(meta.differences(scores, "good", alternative="less").verdict) == {"worse"}
    assert meta.ranks(scores).to_frame()["rank"].tolist() == [1, 2]
    assert meta.significance(scores.matrix("all_score")) is not None
    assert meta.topic_set_size(scores.matrix("strict_vital_score"), 0.1).n_topics > 0
    assert r"\textbf{" in scores.to_latex(baseline="poor")
    again = Scores.from_json(scores.to_json())
    assert again.measures == scores.measures
    assert (again.values == scores.values).all()
    assert scores.position("vital_score(strict=True)") == 0


@pytest.mark.slow
def test_the_report_has_no_part_that_needs_qrels(scores, tmp_path):
    path = tmp_path / "r.html"
    ir_graded.report(scores, path=path, baseline="poor", title="Answers")
    page = path.read_text(encoding="utf-8")
    page = page[page.index("<body>") : page.index("<script")]
    for words in (
        "Answers",
        "Leaderboard",
        "significantly better",
        "All 16 topics;",
        "ir_graded.report(scores, path=&#39;report.html&#39;",
    ):
        assert words in page
    for words in ("Unjudged", "unjudged", "RBO", "Ties", "of the qrels"):
        assert words not in page
    with pytest.raises(ParameterError, match="rng"):
        ir_graded.report(scores, path=path, rng=None)


def test_the_report_shows_what_limits_the_scores(tmp_path):
    with pytest.warns(ir_graded.CoverageWarning):
        scores = score_answers("NuggetScore", [*GOOD, *POOR[1:]])
    ir_graded.report(scores, path=tmp_path / "r.html")
    assert "lacks 1 of the 16 topics in the assignments" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("files")
def test_the_command_prints_means_and_topics(capsys):
    code, out, _ = run_command(
        capsys, "answers", "good.jsonl", "poor.jsonl.gz", "-m", "strict_vital_score all_score", "-o", "tsv"
    )
    assert code == 0
    head, good, poor = (line.split("\t") for line in out.splitlines())
    assert head == ["run", "NuggetScore(importance='vital',strict=True)", "NuggetScore"]
    assert (good, poor) == (["good", "1.0000", "0.8125"], ["poor", "0.2500", "0.3125"])
    _, out, _ = run_command(
        capsys, "answers", "gpt=good.jsonl", "poor=poor.jsonl.gz", "-m", "all_score", "-o", "tsv"
    )
    assert out.splitlines()[1:] == ["gpt\t0.8125", "poor\t0.3125"]
    _, out, _ = run_command(
        capsys, "answers", "good.jsonl", "--nuggets", "nuggets.jsonl", "-m", "NuggetScore", "-q", "-o", "csv"
    )
    assert len(out.splitlines()) == 18
    assert out.splitlines()[-1] == "good,all,0.5417"
    _, out, _ = run_command(
        capsys, "answers", "--citations", "support.jsonl", "-m", "CitationP CitationR", "-o", "jsonl"
    )
    assert [json.loads(line)["value"] for line in out.splitlines()] == [1, 0.5]


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_the_command_is_a_gate_with_a_baseline(capsys):
    given = ("answers", "good.jsonl", "poor.jsonl.gz", "-m", "all_score")
    code, out, _ = run_command(capsys, *given, "--baseline", "good", "--fail-if", "worse", "--test", "t")
    assert code == 1
    assert "1 comparison with good: 1 worse" in out
    assert "judged" not in out
    code, out, _ = run_command(capsys, *given, "--baseline", "poor", "--fail-if", "worse", "-o", "json")
    assert code == 0
    assert json.loads(out)["passed"] is True
    code, out, _ = run_command(capsys, *given, "--baseline", "poor", "-o", "junit")
    assert 'failures="0"' in out


@pytest.mark.usefixtures("files")
def test_a_baseline_that_lacks_many_answers_is_no_gate(capsys):
    Path("one.jsonl").write_text(Path("good.jsonl").read_text().splitlines()[0].replace('"good"', '"one"'))
    given = (
        "answers",
        "one.jsonl",
        "good.jsonl",
        "-m",
        "all_score",
        "--baseline",
        "one",
        "--fail-if",
        "worse",
    )
    code, out, err = run_command(capsys, *given)
    assert (code, out) == (2, "")
    assert "the baseline 'one' lacks answers to 15 of the 16 topics" in err
    most = Path("good.jsonl").read_text().splitlines()[1:]
    Path("one.jsonl").write_text("\n".join(most).replace('"good"', '"one"'))
    assert run_command(capsys, *given)[0] == 0


@pytest.mark.usefixtures("files")
def test_wrong_options_of_the_command(capsys):
    given = ("answers", "good.jsonl", "-m", "all_score")
    assert_command_fails(run_command(capsys, *given, "--fail-if", "worse"), "--fail-if needs --baseline")
    assert_command_fails(run_command(capsys, *given, "--tolerance", "0.1"), "--tolerance needs --baseline")
    assert_command_fails(run_command(capsys, *given, "-o", "junit"), "-o junit")
    assert_command_fails(run_command(capsys, *given, "--baseline", "x", "-q"), "--by-topic")
    assert_command_fails(run_command(capsys, "answers", "-m", "all_score"), "NuggetScore needs assignments")
    two = (*given[:2], "poor.jsonl.gz", *given[2:])
    failed = run_command(capsys, *two, "--baseline", "x")
    assert_command_fails(failed, "--baseline x must be one of 'good', 'poor'")
    assert_command_fails(run_command(capsys, "answers", "none.jsonl", "-m", "all_score"), "none.jsonl")


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_saved_scores_are_read_by_statistics(capsys):
    given = ("answers", "good.jsonl", "poor.jsonl.gz", "-m", "all_score vital_score", "--save", "s.json")
    assert run_command(capsys, *given)[0] == 0
    for command in (
        ["significance"],
        ["meta", "-B", "100"],
        ["ranks", "--by", "vital_score"],
        ["plan", "--difference", "0.1"],
    ):
        code, out, err = run_command(capsys, *command, "--scores", "s.json")
        assert code == 0, err
        assert "good" in out or "NuggetScore" in out
    failed = run_command(capsys, "ranks", "--scores", "good.jsonl")
    assert_command_fails(failed, "good.jsonl", "Scores.to_json")
    assert_command_fails(run_command(capsys, "ranks", "--scores", "s.json", "--matrix", "x"), "--scores FILE")
    one = run_command(capsys, "significance", "--scores", "s.json", "-m", "vital_score")
    assert one == run_command(
        capsys, "significance", "--scores", "s.json", "-m", "NuggetScore(importance='vital')"
    )
    assert_command_fails(run_command(capsys, "ranks", "--scores", "s.json", "-m", "Q"), "Q was not evaluated")
    twice = ("ranks", "--scores", "s.json", "--scores", "s.json")
    assert_command_fails(run_command(capsys, *twice), "give --scores once")


def test_the_list_of_measures_has_those_of_answers(capsys):
    _, out, _ = run_command(capsys, "measures", "strict_vital_score", "CitationR")
    assert "ir_graded answers assignments.jsonl" in out
    assert "ir_graded answers --citations" in out
    assert re.search("strict_vital_score, short for NuggetScore", out)
    assert "NuggetScore  Nugget Score" in run_command(capsys, "measures")[1]
