"""Concurrent evaluations, in threads and in processes of any kind: equal scores, and no deadlock."""

import random
from concurrent.futures import ThreadPoolExecutor

import helpers
import numpy as np
import pytest
from ecosystem.processes import python
from faults.fault_cases import FORKED, needs_fork, run_text
from helpers import rows_of, trec_lines

import ir_graded

pytestmark = pytest.mark.slow

MEASURES = ["Q", "P-measure", "NCU(stop='rb')", "nERR@10", "nDCG@10", "AP"]
TOPICS, DOCS = 40, 60


def collection():
    rng = random.Random(7)  # noqa: S311
    qrels = {str(topic): {f"d{doc}": rng.randrange(4) for doc in range(DOCS)} for topic in range(TOPICS)}
    runs = {
        f"run{number}": {
            str(topic): {f"d{doc}": rng.random() for doc in rng.sample(range(2 * DOCS), DOCS)}
            for topic in range(TOPICS)
        }
        for number in range(6)
    }
    return qrels, runs


QRELS, RUNS = collection()


def frame(run):
    return helpers.frame("run", rows_of(run))


@pytest.fixture
def files(tmp_path):
    (tmp_path / "runs").mkdir()
    for name, run in RUNS.items():
        (tmp_path / "runs" / name).write_text(run_text(run))
    (tmp_path / "qrels.txt").write_text(trec_lines("qrels", rows_of(QRELS)))
    return tmp_path


def scored(folder):
    """Work for a worker process; pickle needs it at module level."""
    return ir_graded.evaluate(MEASURES, folder / "qrels.txt", folder / "runs").values


# -------------------------------------------------------------------------------------- threads


def test_concurrent_evaluations_equal_sequential_ones(files):
    """All forms run at the same time, and each evaluation starts further threads."""
    frames = {name: frame(run) for name, run in RUNS.items()}
    right = ir_graded.evaluate(MEASURES, QRELS, RUNS).values

    def one(number):
        if number % 3 == 0:
            return scored(files)
        return ir_graded.evaluate(MEASURES, QRELS, RUNS if number % 3 == 1 else frames).values

    with ThreadPoolExecutor(6) as pool:
        for found in pool.map(one, range(12)):
            np.testing.assert_array_equal(found, right)


# ------------------------------------------------------------------------------------ processes


FORKING = """
    import os, select, sys
    import pandas as pd, ir_graded

    qrels, run = {"1": {"a": 2, "b": 1}, "2": {"c": 1}}, {"1": {"x": 2.0, "b": 1.0}, "2": {"c": 1.0}}
    rows = [(topic, doc, score) for topic, docs in run.items() for doc, score in docs.items()]
    forms = {"dict": run, "file": "one.run"}
    forms["frame"] = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    os.chdir(sys.argv[1])
    # Small files need no Polars if they are ASCII.
    with open("one.run", "w", encoding="utf-8") as file:
        file.writelines(f"{topic} Q0 {doc} 1 {score} \\xe4\\n" for topic, doc, score in rows)

    def evaluated(form):
        return ir_graded.evaluate(["Q", "AP"], qrels, forms[form]).values.tolist()

    def forked(form):
        \"\"\"What a child says, or that it waits without end.\"\"\"
        read, write = os.pipe()
        child = os.fork()
        if not child:
            try:
                said = evaluated(form) == right
            except ValueError as error:
                said = str(error).split(" which")[0]
            os.write(write, str(said).encode())
            os._exit(0)
        said = os.read(read, 1000).decode() if select.select([read], [], [], 120)[0] else "waits"
        os.kill(child, 9)
        os.waitpid(child, 0)
        return said

    right = evaluated("dict")
"""


@needs_fork
def test_forks_after_the_import_score_all_forms(tmp_path):
    code = FORKING + '    print(*map(forked, ["dict", "frame", "file"]))'
    assert python(code, tmp_path, options=FORKED) == "True True True\n"


@needs_fork
@pytest.mark.parametrize("first", ["frame", "file"])
def test_forks_after_the_first_use_score_dicts_and_reject_the_rest(tmp_path, first):
    """Without the check, they would wait forever for threads that do not exist in the fork."""
    code = (
        FORKING
        + f"""
    assert evaluated({first!r}) == right
    for form in forms:
        print(forked(form))
    assert evaluated("frame") == evaluated("file") == right  # who forked goes on
    """
    )
    refusal = "this process was forked after Polars had started its threads,"
    assert python(code, tmp_path, options=FORKED).splitlines() == ["True", refusal, refusal]


@needs_fork
def test_scores_of_dicts_in_a_fork_have_the_signature_of_the_parent(tmp_path):
    code = (
        FORKING
        + """
    import multiprocessing
    def signature(form):
        return ir_graded.evaluate("Q", qrels, forms[form]).signature.short
    expected = signature("dict")  # Polars starts its threads
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print(pool.apply(signature, ["dict"]) == expected, "unknown" in expected)
    """
    )
    assert python(code, tmp_path, options=FORKED) == "True False\n"


@needs_fork
def test_the_error_reaches_the_caller_of_a_pool_of_forks(tmp_path):
    code = (
        FORKING
        + """
    import multiprocessing
    evaluated("file")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(*pool.map(evaluated, ["dict"] * 3))
        try:
            pool.map(evaluated, ["file"] * 3)
        except ir_graded.GradedError as error:
            print(error)
    """
    )
    scores, error = python(code, tmp_path, options=FORKED).splitlines()
    assert scores == " ".join(3 * [str([[[0.2, 1.0]], [[0.25, 1.0]]])])
    assert "multiprocessing.get_context('spawn') or 'forkserver'" in error
