"""``ir_graded evaluate --unjudged``: columns, options, and calls that are rejected."""

import json

import pytest
from helpers import assert_command_fails, run_command

import ir_graded

MEASURES = ["-m", "P@3 gRBP(p=0.8)@10"]


@pytest.fixture
def files(tmp_path):
    qrels, run = tmp_path / "qrels.txt", tmp_path / "some.run"
    qrels.write_text("".join(f"{t} 0 d{n} {n % 4}\n" for t in range(30) for n in range(0, 20, 2)))
    run.write_text("".join(f"{t} Q0 d{n} {n} {20 - n} r\n" for t in range(30) for n in range(1, 20)))
    return str(qrels), str(run)


@pytest.fixture
def rows(capsys, files):
    def call(*options):
        given = (*files, *MEASURES, "-o", "jsonl", "-p", "-1", *options)
        code, out, err = run_command(capsys, "evaluate", *given)
        assert (code, err) == (0, "")
        found = map(json.loads, out.splitlines())
        return {(row["run"], row.get("query_id"), row["measure"]): row["value"] for row in found}

    return call


def test_bounds_are_a_column_beside_each_score(rows, files):
    found = ir_graded.score_bounds(["P@3", "gRBP(p=0.8)@10"], *files)
    got = rows("--unjudged", "bounds")
    assert [name for _, _, name in got] == ["P@3", "P@3 upper", "gRBP(p=0.8)@10", "gRBP(p=0.8)@10 upper"]
    assert list(got.values()) == [
        value for name in ("P@3", "gRBP(p=0.8)@10") for value in found.mean()[name].to_numpy()[0, :2].tolist()
    ]


def test_bounds_of_topics_are_those_of_their_run(rows, files, tmp_path):
    few = tmp_path / "few.run"
    few.write_text("".join(f"{t} Q0 d{n} {n} {20 - n} r\n" for t in range(30) for n in range(8, 20)))
    found = ir_graded.score_bounds(["P@3", "gRBP(p=0.8)@10"], files[0], [files[1], str(few)])
    got = rows(str(few), "--unjudged", "bounds", "--by-topic")
    for number, run in enumerate(found.scores.runs):
        assert got[run, "7", "P@3"] == found.scores.values[0, number, 7]
        assert got[run, "7", "P@3 upper"] == found.upper[0, number, 7]


def test_intervals_are_columns_beside_each_score(rows, files):
    found = ir_graded.score_intervals(["P@3", "gRBP(p=0.8)@10"], *files, n_samples=40, rng=3, depth=5)
    got = rows("--unjudged", "intervals", "--n-samples", "40", "--seed", "3", "--depth", "5", "--by-topic")
    ends = [name for _, topic, name in got if topic == "all"]
    assert ends[:4] == ["P@3", "P@3 mean", "P@3 low", "P@3 high"]
    means = [value for (_, topic, _), value in got.items() if topic == "all"]
    assert means == found.mean().to_numpy()[0].tolist()
    assert got["some.run", "7", "P@3 high"] == found.high[0, 0, 7]
    assert got["some.run", "7", "P@3"] == found.zero[0, 0, 7]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--unjudged", "guess"], "guess"),
        (["--depth", "5"], "--depth needs --unjudged intervals"),
        (["--n-samples", "5"], "--n-samples needs --unjudged intervals"),
        (["--unjudged", "bounds", "--seed", "5"], "--seed needs --unjudged intervals"),
        (["--unjudged", "bounds", "-m", "Q"], "--unjudged intervals"),
        (["--unjudged", "intervals", "-m", "Q"], "depth"),
    ],
)
def test_wrong_calls_are_errors_of_one_line(capsys, files, options, words):
    assert_command_fails(run_command(capsys, "evaluate", *files, *MEASURES, *options), words)
