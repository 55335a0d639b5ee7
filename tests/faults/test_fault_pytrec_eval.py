"""The guard around pytrec_eval: threads, forks, and inputs that make it crash or hang.

Code that may end a process runs in a separate process.
"""

import pytest
from ecosystem.processes import python
from faults.fault_cases import FORKED, PATIENCE, needs_fork

pytestmark = pytest.mark.slow


def in_process(code, options=("-W", "error"), patience=PATIENCE):
    """Run Python code in a process that is killed if it does not end, even inside C code."""
    watch = f"import faulthandler; faulthandler.dump_traceback_later({patience}, exit=True)\n"
    return python(watch + code, options=options)


# -------------------------------------------------------------------------------------- threads

SHARED = """
import gc, random, sys, threading
import ir_measures, ir_graded
from ir_measures import AP, nDCG

random.seed(7)
topics, docs = range(40), range(60)
qrels = {str(topic): {f"d{doc}": random.randrange(4) for doc in docs} for topic in topics}
runs = [
    {str(topic): {f"d{doc}": random.random() for doc in random.sample(range(120), 60)} for topic in topics}
    for _ in range(6)
]
evaluator = ir_measures.evaluator([ir_graded.Q, nDCG @ 10, AP], qrels)
right = [evaluator.calc_aggregate(run) for run in runs]

wrong = []

def score():
    for number in list(range(len(runs))) * 17:
        if evaluator.calc_aggregate(runs[number]) != right[number]:
            wrong.append(number)

gc.callbacks.append(lambda phase, info: None)
gc.set_threshold(50, 5, 5)
sys.setswitchinterval(1e-5)
threads = [threading.Thread(target=score) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(wrong)
"""


def test_threads_share_a_mixed_evaluator_while_the_garbage_collector_runs_python():
    """Without the lock, the process crashes with corrupted memory after about a second."""
    assert in_process(SHARED, patience=300) == "[]\n"


def test_an_evaluator_alive_at_interpreter_exit_is_silent():
    code = """
    import threading
    import ir_measures, ir_graded
    threading.kept = evaluator = ir_measures.evaluator(["Q", "nDCG"], {"1": {"a": 1}})
    print(evaluator.calc_aggregate({"1": {"a": 1.0}})[ir_measures.nDCG])
    """
    assert python(code) == "1.0\n"


# ---------------------------------------------------------------------------------------- forks

FORKED_EVALUATION = """
import os, select, threading, time
import ir_measures, ir_graded.evaluation.upstream
from ir_graded._utils.pytrec_eval_guard import RelevanceEvaluator

evaluator = ir_graded.evaluation.upstream.pipeline_evaluator([ir_measures.nDCG], {"1": {"a": 2, "b": 1}})
run = {"1": {"x": 2.0, "b": 1.0}}
right = evaluator.calc_aggregate(run)

def say(end):
    os.write(end, f"{evaluator.calc_aggregate(run) == right} {RelevanceEvaluator.inside} {left}".encode())

def forked():
    \"\"\"What a child says, or that it waits without end.\"\"\"
    read, write = os.pipe()
    child = os.fork()
    if not child:
        threading.Thread(target=say, args=(write,)).start()  # it has no part in its parent's locks
        time.sleep(30)
        os._exit(1)
    said = os.read(read, 1000).decode() if select.select([read], [], [], 20)[0] else "waits"
    os.kill(child, 9)
    os.waitpid(child, 0)
    return said

left = []

def work():
    while not left:
        evaluator.calc_aggregate(run)

threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
print({forked() for _ in range(20)})
left.append("left")
for thread in threads:
    thread.join()
"""


@needs_fork
def test_a_child_evaluates_while_threads_of_its_parent_do():
    assert in_process(FORKED_EVALUATION, options=FORKED) == "{'True False []'}\n"


# --------------------------------------------------------------------------------------- levels

ALTERNATING = """
import warnings

from ir_graded import CoverageWarning, evaluate

warnings.simplefilter("ignore", CoverageWarning)

for _ in range(5):
    for n in range(1, 61):
        docs = [f"d{j}" for j in range(n)]
        first = {"1": {doc: 1 + j % 4 for j, doc in enumerate(docs)}}
        evaluate("nDCG", first, {"1": {"d0": 1.0}}, provider="upstream")
        second = evaluate("nDCG", {"1": {"d1": -1}}, {"1": dict.fromkeys(docs, 1.0)}, provider="upstream")
        assert second.values.item() == 0
print("done")
"""


def test_topics_whose_levels_are_all_negative_score_0():
    """pytrec_eval reads uninitialised memory: nearly always, it loops forever."""
    assert in_process(ALTERNATING) == "done\n"


FRACTIONS = """
import ir_measures, ir_graded

for qrels, measures in (
    ({"1": {"a": 1.5}}, ["Q", "nDCG"]),
    ({"1": {"a": 1}}, ["Q", ir_measures.nDCG(gains={1: 0.5})]),
):
    for _ in range(20):
        try:
            ir_measures.evaluator(measures, qrels)
        except ir_graded.InputError as error:
            message = str(error)
    print(message)
"""


def test_fractional_levels_do_not_reach_pytrec_eval():
    """Its error about them releases the qrels once too often."""
    assert in_process(FRACTIONS).splitlines() == [
        "qrels: topic '1', document 'a' has level 1.5: pytrec_eval takes whole levels only; "
        "ir_graded.evaluate computes nDCG, AP and others from any levels",
        "qrels: topic '1', document 'a' has level 0.5: pytrec_eval takes whole levels only; "
        "ir_graded.evaluate computes nDCG, AP and others from any levels",
    ]


# ------------------------------------------------------------------------------------------ ids


@pytest.mark.parametrize("topic", ["no_query", "no query"])
def test_a_topic_may_be_named_no_query(topic):
    """pytrec_eval would use its previous result for that topic, and loop forever."""
    code = f"""
from ir_graded import evaluate

qrels = {{{topic!r}: {{"a": 1, "b": 0}}, "2": {{"a": 1}}}}
run = {{{topic!r}: {{"b": 2.0, "a": 1.0}}, "2": {{"c": 1.0}}}}
print(*(evaluate("AP", qrels, run, provider=provider).values.tolist() for provider in ("auto", "upstream")))
"""
    assert in_process(code) == "[[[0.5, 0.0]]] [[[0.5, 0.0]]]\n"


UNREADABLE = """
import ir_measures
from ir_graded import InputError, evaluate

def by_evaluate(qrels, run):
    evaluate("AP", qrels, run, provider="upstream")

def by_a_mixed_call(qrels, run):
    ir_measures.calc_aggregate(["Q", "AP"], qrels, run)

for text in ("\\ud800", "a\\0b"):
    for qrels, run in (
        ({"1": {text: 1}}, {"1": {"a": 1.0}}),
        ({text: {"a": 1}}, {text: {"a": 1.0}}),
        ({"1": {"a": 1}}, {"1": {text: 1.0}}),
    ):
        for call in by_evaluate, by_a_mixed_call:
            try:
                call(qrels, run)
            except InputError as error:
                print(str(error).partition(": it holds")[0])
"""


def test_ids_that_c_cannot_read_are_rejected():
    """pytrec_eval crashes if UTF-8 cannot encode an id, and reads others up to their first NUL."""
    assert in_process(UNREADABLE).splitlines() == [
        f"{where} {text}"
        for text in (r"'\ud800'", r"'a\x00b'")
        for where in (
            "qrels: pytrec_eval cannot read the doc_id",
            "qrels: pytrec_eval cannot read the query_id",
            "run: pytrec_eval cannot read the doc_id",
        )
        for _ in range(2)
    ]
