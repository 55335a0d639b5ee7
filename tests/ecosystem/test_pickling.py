"""Objects of ir-measures can be pickled, copied and inspected after the import, as before it."""

import copy
import inspect
import pickle
import subprocess
import sys

import ir_measures
import pytest
from ir_measures import AP

from ecosystem.processes import python
from ir_graded import Q
from ir_graded.evaluation.provider import PROVIDER

QRELS = {"1": {"a": 2, "b": 1}, "2": {"c": 1}}
RUN = {"1": {"x": 2.0, "a": 1.0}, "2": {"c": 1.0}}
FUNCTIONS = ("calc", "calc_aggregate", "iter_calc", "evaluator", "run_inputs", "qrel_inputs")
PARSERS = ("parse_measure", "parse_trec_measure")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_the_pipeline_pickle_and_copy(name):
    # Other providers cannot be pickled once they were used.
    pipeline = copy.copy(ir_measures.DefaultPipeline)
    pipeline.providers = [PROVIDER]
    function = getattr(pipeline, name)
    for made in (pickle.loads(pickle.dumps(function)), copy.deepcopy(function)):  # noqa: S301  (made here)
        assert made.__name__ == name
        found = made.__self__.calc_aggregate(["Q", "AP"], QRELS, RUN)
        assert found == {Q: pytest.approx(0.65, abs=1e-12), AP: 0.625}
        assert [one.NAME for one in made.__self__.providers] == ["ir_graded"]


@pytest.mark.parametrize("module", [ir_measures, ir_measures.util])
@pytest.mark.parametrize("name", PARSERS)
def test_functions_that_read_measures_pickle_and_can_be_inspected(name, module):
    function = getattr(module, name)
    assert pickle.loads(pickle.dumps(function)) is function  # noqa: S301  (made here)
    assert copy.deepcopy(function) is function
    # Their signature and documentation are those of ir-measures.
    assert inspect.signature(function) == inspect.signature(function.__wrapped__)
    assert (function.__name__, function.__doc__) == (name, function.__wrapped__.__doc__)


@pytest.mark.slow
def test_a_provider_that_has_not_been_used_pickles_and_copies():
    for made in ("pickle.loads(pickle.dumps(one))", "copy.deepcopy(one)", "copy.copy(one)"):
        output = python(
            f"""
            import copy, pickle
            import ir_graded, ir_measures
            one = ir_measures.providers.registry["ir_graded"]
            print({made}.calc_aggregate([ir_graded.Q], {QRELS}, {RUN}))
            """
        )
        assert output == "{Q: 0.65}\n"


SCRIPT = """
import sys
from functools import partial
from multiprocessing import get_context

{first}
import ir_measures
from ir_measures import AP

qrels, run = {qrels}, {run}

def listed(call, run):
    return list(call(run))

if __name__ == "__main__":
    measures = {measures}
    with get_context(sys.argv[1]).Pool(1) as pool:
        print(pool.map(partial(ir_measures.calc_aggregate, measures, qrels), [run]))
        print(pool.map(partial(ir_measures.calc, measures, qrels), [run]))
        print(pool.map(partial(listed, partial(ir_measures.iter_calc, measures, qrels)), [run]))
        evaluator = {evaluator}
        print(evaluator.calc_aggregate(run))
    print(ir_measures.calc_aggregate(measures, qrels, run))
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("measures", ["[AP]", "['Q', AP]"])
@pytest.mark.parametrize("first", ["import ir_graded", "import pyterrier"])
def test_processes_call_functions_of_ir_measures(method, measures, first, tmp_path):
    """Evaluators of ir-measures cannot be pickled, those of this package can."""
    if method == "fork" and sys.platform == "win32":
        pytest.skip("there is no fork")
    made = "ir_measures.evaluator(measures, qrels)"
    if "Q" in measures:
        made = "pool.map(partial(ir_measures.evaluator, measures), [qrels])[0]"
    script = tmp_path / "script.py"
    script.write_text(
        SCRIPT.format(first=first, qrels=QRELS, run=RUN, measures=measures, evaluator=made), encoding="utf-8"
    )
    done = subprocess.run(  # noqa: S603  (the script is a literal of the tests)
        [sys.executable, script, method], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    aggregate, results, metrics, of_evaluator, here = done.stdout.splitlines()
    assert aggregate == f"[{here}]"
    assert of_evaluator == here
    assert here == ("{Q: 0.65, AP: 0.625}" if "Q" in measures else "{AP: 0.625}")
    assert results.count("Metric(") == metrics.count("Metric(") == 2 * len(here.split(","))
