"""Validation experiments: few judgments in pool order tell runs apart as documented."""

import numpy as np
import pytest
from collections_data import needs_shared_data
from helpers import rows_of_docs

from benchmarks import few_judgments as few


def test_the_page_has_all_collections():
    expected = [
        (title, str(number), measure)
        for title, labels, *_ in few.COLLECTIONS.values()
        for number in labels
        for measure in few.MEASURES
    ]
    rows = rows_of_docs("trust/run_model.csv")
    assert [(row["collection"], row["labels"], row["measure"]) for row in rows] == expected


def test_the_page_has_all_stops():
    expected = [
        (few.COLLECTIONS[name][0], str(batch), measure)
        for name in few.COLLECTIONS
        for batch in few.STOPS[name][1]
        for measure in few.MEASURES
    ]
    rows = rows_of_docs("trust/stopping.csv")
    assert [(row["collection"], row["labels per look"], row["measure"]) for row in rows] == expected


def test_pairs_stop_at_the_first_look_where_one_or_all_of_a_set_are_settled():
    signs = np.array([[0, 0, 0, 0], [0, -1, 0, 0], [1, 1, 0, 0], [-1, -1, 0, 1]])
    sets = signs[:, [[0, 1], [2, 3]]]
    assert few.at_stop(sets, np.any).tolist() == [[0, -1], [0, 1]]
    assert few.at_stop(sets, np.all).tolist() == [[1, 1], [0, 0]]


@pytest.mark.slow
def test_looks_avoid_most_of_the_wrong_signs_at_the_first_settled_look(monkeypatch):
    monkeypatch.setattr(few, "MEASURES", ["AP"])
    monkeypatch.setattr(few, "SAMPLES", 40)
    qrels, runs = few.COLLECTIONS["sample"][-1]()
    (((plain,), (planned,)),) = next(few.stops(qrels, runs, (200,), 1))
    share, of_planned = (dict(zip(few.STOPPING, figures, strict=True)) for figures in (plain, planned))
    assert share["one look"] < 0.025 < share["each pair"]
    assert share["later looks"] > 0.08
    assert of_planned["each pair"] < 0.02
    assert of_planned["later looks"] < 0.05
    assert of_planned["close pairs"] < 0.7 * share["close pairs"]
    assert of_planned["labels"] < 1.6 * share["labels"]


def test_pool_order_goes_by_best_rank():
    runs = {"a": {"1": {"x": 3.0, "y": 2.0, "z": 1.0}}, "b": {"1": {"y": 5.0, "w": 4.0}, "2": {"v": 1.0}}}
    order = few.in_pool_order(runs, few.random.Random(1))
    assert set(order[:3]) == {("1", "x"), ("1", "y"), ("2", "v")}
    assert order[3:] == [("1", "w"), ("1", "z")]


@pytest.mark.release
def test_the_bundled_sample_has_the_figures_of_the_page():
    title, labels, _, _, read = few.COLLECTIONS["sample"]
    found = np.array(list(few.simulated(*read(), labels, 3))).mean(axis=0)
    rows = [row for row in rows_of_docs("trust/run_model.csv") if row["collection"] == title]
    documented = [[float(row[name]) for name in few.FIGURES] for row in rows]
    assert found.swapaxes(1, 2).reshape(-1, 4) == pytest.approx(np.array(documented), abs=0.06)


@pytest.mark.release
@needs_shared_data
def test_1000_judgments_of_126_runs_settle_most_pairs_rightly():
    _, _, _, _, read = few.COLLECTIONS["covid5"]
    qrels, runs = read()
    ((covered, settled, wrong, _),) = next(iter(few.simulated(qrels, runs, (1000,), 1)))
    assert (covered >= 0.88).all()
    assert (settled >= 0.75).all()
    assert (wrong <= 0.005).all()
    ((of_bins, _, wrong_of_bins, _),) = next(iter(few.simulated(qrels, runs, (1000,), 1, model="bins")))
    assert (of_bins < covered - 0.3).all()
    assert (wrong_of_bins > 10 * wrong).all()
