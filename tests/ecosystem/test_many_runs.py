"""Several runs in one call: scored at the same time, with the results of separate calls."""

import threading

import numpy as np
import pytest
from helpers import covid_sample

from ir_graded import evaluate
from ir_graded._utils.threads import in_threads
from ir_graded.errors import FileFormatError, InputError

MEASURES = ["P-measure", "Q@10", "AP", "nDCG@5", "NumRet"]


@pytest.fixture
def folder(tmp_path):
    sample = covid_sample()
    for name, run in list(sample.runs.items())[:4]:
        lines = [f"{row.query_id} Q0 {row.doc_id} 0 {row.score!r} t" for row in run.itertuples()]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / ".hidden").write_text("no run")
    (tmp_path / "more").mkdir()
    return sample.qrels, tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 3])
def test_a_folder_of_runs_scores_like_its_files(folder, monkeypatch, threads):
    monkeypatch.setattr("ir_graded.matching.match.processors", lambda: threads)
    qrels, place = folder
    files = sorted(place.glob("*.txt"))
    scores = evaluate(MEASURES, qrels, place)
    assert scores.runs == tuple(file.name for file in files)
    for number, file in enumerate(files):
        alone = evaluate(MEASURES, qrels, file)
        assert np.array_equal(scores.values[:, number], alone.values[:, 0])


@pytest.mark.slow
def test_frames_in_one_call_score_like_separate_calls():
    sample = covid_sample()
    runs = dict(list(sample.runs.items())[:4])
    both = evaluate(MEASURES, sample.qrels, runs)
    for number, run in enumerate(runs.values()):
        assert np.array_equal(both.values[:, number], evaluate(MEASURES, sample.qrels, run).values[:, 0])


@pytest.mark.slow
def test_the_error_names_the_first_wrong_run(folder):
    qrels, place = folder
    second, third = sorted(place.glob("*.txt"))[1:3]
    third.write_text("1 Q0 d 1 x t\n")
    second.write_text(second.read_text() + "1 Q0 d 1 2\n")
    with pytest.raises(FileFormatError, match=rf"{second.name}, line \d+: expected 6 fields"):
        evaluate(MEASURES, qrels, place)
    runs = {"good": {"1": {"a": 1.0}}, "bad": {"1": {"a": None}}}
    with pytest.raises(InputError, match=r"run 'bad': .*the score is missing"):
        evaluate("Q", {"1": {"a": 1}}, runs)


def test_results_keep_their_order_and_few_are_computed_ahead():
    taken = []

    def items():
        for number in range(50):
            taken.append(number)
            yield number

    started = threading.Barrier(2, timeout=30)

    def work(number):
        if number < 2:
            started.wait()  # passes only if two work at the same time
        return number * number

    results = in_threads(work, items(), 2)
    assert next(results) == 0
    assert len(taken) < 8
    assert list(results) == [number * number for number in range(1, 50)]


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_is_raised_in_order(threads):
    def work(number):
        if number == 5:
            raise ValueError("five")
        return number

    results = in_threads(work, iter(range(100)), threads)
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="five"):
        next(results)
    assert list(in_threads(work, iter(()), threads)) == []
