"""Orders of judging: each reveals all documents once, and the page has all collections and orders."""

import random

import numpy as np
import pytest
from helpers import rows_of_docs

from benchmarks import judging_orders as orders


def test_the_page_has_all_collections_and_orders():
    rows = [tuple(row.values())[:3] for row in rows_of_docs("trust/judging_orders.csv")]
    of_each = [("pool", scoring) for scoring in orders.SCORINGS]
    of_each += [(policy, "runs") for policy in orders.POLICIES if policy != "pool"]
    assert rows == [(title, *one) for title, _ in orders.COLLECTIONS.values() for one in of_each]


@pytest.mark.release
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize("policy", orders.POLICIES)
def test_each_order_reveals_all_documents_once(policy):
    hidden = orders.Hidden("sample")
    reveal, _ = orders.POLICIES[policy]
    numbers = [1000, 3000, len(hidden.documents)]
    found = []
    for number in reveal(hidden, random.Random(1), numbers, "AP"):  # noqa: S311
        assert len(hidden.known) == number
        found.append(set(hidden.known))
    assert found[0] < found[1] < found[2] == set(hidden.documents)
    # The truth has also relevant documents that no run retrieved.
    assert orders.means(hidden, "zero") == pytest.approx(hidden.truth, abs=0.01)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_pool_order_needs_the_labels_of_the_page():
    first = rows_of_docs("trust/judging_orders.csv")[0]
    found = orders.labels_needed("sample", "pool", ("zero",))
    assert {m: found["zero", m] for m in orders.MEASURES} == {m: int(first[m]) for m in orders.MEASURES}


def test_move_to_front_stays_with_a_run_that_finds_relevant_documents():
    hidden = orders.Hidden.__new__(orders.Hidden)
    hidden.qrels = {"1": {"a": 1, "b": 1, "c": 0, "x": 0, "y": 0}}
    hidden.runs = {
        "good": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}},
        "poor": {"1": {"x": 3.0, "y": 2.0, "a": 1.0}},
    }
    found = {tuple(d for _, d in orders.move_to_front(hidden, random.Random(seed))) for seed in range(9)}  # noqa: S311
    assert found == {("a", "b", "c", "x", "y"), ("x", "a", "b", "c", "y")}


def test_variance_is_that_of_the_weights_over_runs():
    hidden = orders.Hidden.__new__(orders.Hidden)
    hidden.runs = dict.fromkeys("abc")
    hidden.rank = {"a": {("1", "d"): 1}, "b": {("1", "d"): 2}, "c": {}}
    worth = orders.variance(hidden, "AP")(("1", "d"), 0.5)
    assert worth == pytest.approx(0.25 * np.var([1, 0.5, 0]))
