"""``RankingMetric`` has the values of ``evaluate``, whatever the batches and processes are."""

import os
import pickle
import sys
import warnings

import numpy as np
import pytest

import ir_graded
from ecosystem.processes import python
from ecosystem.test_arrays import OnGPU
from ir_graded import CoverageWarning, GradedError, InputError, ParameterError, RankingMetric, torchmetrics

MEASURES = ["nDCG@10", "Q", "AP(rel=2)", "nERR@10", "RR", "Rprec(judged_only=True)", "NumRet", "Bpref"]
ORDERS = [None, "expected", "optimistic", "pessimistic", "position"]


def documents(seed, topics=9):
    """Return scores with ties, levels (-1: unjudged), topics, and whether the ranking has the document."""
    rng = np.random.default_rng(seed)
    topic = rng.permuted(np.repeat(np.arange(topics) * 5 - 10, rng.integers(3, 30, topics)))
    level = rng.choice([-1, -1, 0, 0, 0, 1, 2, 3], topic.size)
    retrieved = (rng.random(topic.size) < 0.8) | (level < 0)
    return rng.choice([0.1, 0.25, 0.5, 2.0, -3.0], topic.size), level, topic, retrieved


def evaluated(scores, level, topic, retrieved, ties, measures=MEASURES):
    """Evaluate dicts whose ids rank tied documents by position."""
    qrels, run = {}, {}
    for at, one in enumerate(topic.tolist()):
        if level[at] >= 0:
            qrels.setdefault(one, {})[f"d{999 - at:03}"] = int(level[at])
        if retrieved[at]:
            run.setdefault(one, {})[f"d{999 - at:03}"] = float(scores[at])
    order = {None: "expected", "position": "doc_id"}.get(ties, ties)
    return ir_graded.evaluate(measures, qrels, run, ties=order).aggregates[0].tolist()


def parts(given, number, seed=0):
    """Return the documents in a number of batches of different sizes, in their order."""
    ends = np.sort(np.random.default_rng(seed).integers(0, given[0].size, number - 1))
    return zip(*(np.split(values, ends) for values in given), strict=True)


def updated(metric, batches):
    for scores, level, topic, retrieved in batches:
        metric.update(scores, level, topic, retrieved=retrieved)
    return metric


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize("ties", ORDERS)
@pytest.mark.parametrize("seed", range(4))
def test_values_are_those_of_evaluate_over_batches_and_processes(seed, ties):
    given = documents(seed)
    measures = (
        [one for one in MEASURES if one != "Bpref"] if ties in ("optimistic", "pessimistic") else MEASURES
    )
    expected = evaluated(*given, ties, measures)
    metric = updated(RankingMetric(measures, ties=ties), parts(given, 5, seed))
    assert [*metric.compute().values()] == expected
    assert len({*expected}) > 5
    metrics = [updated(RankingMetric(measures, ties=ties), [batch]) for batch in parts(given, 4, seed)]
    first, *others = pickle.loads(pickle.dumps(metrics))  # noqa: S301  # made above
    assert [*first.merge_state(others).compute().values()] == expected


def test_names_and_kinds_of_values():
    batch = [0.3, 0.2, 0.9], [2, 0, 1], [7, 7, 7]
    of_one, of_list, named = RankingMetric("nDCG@10"), RankingMetric(["nDCG@10"]), RankingMetric("P_1,2")
    for metric in (of_one, of_list, named):
        metric.update(*batch)
    assert of_one.compute() == pytest.approx(0.8597, abs=1e-4)
    assert of_list.compute() == {"nDCG@10": of_one.compute()}
    assert named.compute() == {"P@1": 1, "P@2": 1}
    scores = of_list.scores("epoch 3")
    assert (scores.runs, scores.query_ids, scores.values.shape) == (("epoch 3",), (7,), (1, 1, 1))
    assert of_list.scores().runs == ("run",)


def test_scores_join_final_ones_of_equal_ties_or_without_tied_documents():
    def of_metric(tied):
        metric = RankingMetric(["nDCG@10", "RR"])
        metric.update([0.9, 0.9 if tied else 0.8, 0.1], [2, 0, 1], [7, 7, 7])
        return metric.scores("epoch 3")

    def final(ties, tied):
        run = {"7": {"a": 2.0, "b": 2.0 if tied else 1.0, "c": 0.5}}
        return ir_graded.evaluate(
            ["nDCG@10", "RR"], {"7": {"a": 2, "b": 0, "c": 1}}, {"final": run}, ties=ties
        )

    for tied in (True, False):
        joined = ir_graded.Scores.concat([of_metric(True), final("expected", tied)])
        assert joined.names == ["nDCG(ties='expected')@10", "RR(ties='expected')"]
    for parts in ([of_metric(False), final("doc_id", True)], [final("doc_id", True), of_metric(False)]):
        joined = ir_graded.Scores.concat(parts)
        assert joined.names == ["nDCG@10", "RR"]
        assert {*joined.runs} == {"epoch 3", "final"}
    for order in (1, -1):
        joined = ir_graded.Scores.concat([of_metric(True), final("doc_id", False)][::order])
        assert joined.names == of_metric(True).names
        with pytest.raises(
            InputError, match=r"evaluated with the same ties, as in evaluate\(\.\.\., ties='exp"
        ):
            ir_graded.Scores.concat([of_metric(True), final("doc_id", True)][::order])


def test_a_call_returns_the_value_of_the_batch_and_keeps_it():
    metric = RankingMetric("RR")
    assert metric([3.0, 2.0], [0, 1], indexes=[1, 1]) == 0.5
    assert metric([3.0, 2.0], [1, 0], indexes=[2, 2]) == 1
    assert metric.compute() == metric.compute() == 0.75
    metric.reset()
    with pytest.raises(InputError, match="there is no judged document: call update"):
        metric.compute()


def test_rows_are_topics_and_padding_is_left_out():
    scores, level = [[0.3, 0.2, np.nan], [0.8, 0.9, 0.7]], [[0, 2, np.nan], [1, 0, 0]]
    metric = RankingMetric(["RR", "NumRet"])
    metric.update(scores, level, [4, 5], mask=[[1, 1, 0], [1, 1, 1]])
    assert metric.compute() == {"RR": 0.5, "NumRet": 5}
    metric.update([[0.1, 0.1]], [[0, 0]], [[4, 6]])
    assert metric.compute() == {"RR": pytest.approx(1 / 3), "NumRet": 7}


def test_callers_may_reuse_their_arrays():
    given = np.array([3.0, 2.0], dtype=np.float32), np.array([0.0, 1.0]), np.array([1, 1])
    metric = RankingMetric("RR")
    metric.update(*given)
    for values in given:
        values[:] = values[::-1].copy()
    assert metric.compute() == 0.5


def test_topics_without_relevant_documents_score_0_and_those_without_judged_ones_are_left_out():
    metric = RankingMetric(["RR", "RR(judged_only=True)"])
    metric.update([3.0, 2.0, 1.0], [-1, 0, 1], [1, 1, 1])
    metric.update([3.0, 2.0], [0, 0], [2, 2])
    metric.update([3.0], [-1], [3])
    assert metric.compute() == {"RR": (1 / 3 + 0) / 2, "RR(judged_only=True)": (1 / 2 + 0) / 2}


def test_a_measure_without_a_mean_over_orders_is_ranked_by_position_with_a_warning():
    metric = RankingMetric("infAP")
    metric.update([1.0, 1.0, 0.0], [1, 0, 0], [1, 1, 1])
    with pytest.warns(CoverageWarning, match="they are ranked by position. Set ties='position' to accept"):
        assert metric.compute() == 1


def test_arrays_of_other_devices_are_copied_once():
    class Counted(OnGPU):
        copies = 0

        def cpu(self):
            Counted.copies += 1
            return self.values

    metric = RankingMetric("RR")
    metric.update(*(Counted(np.array(values), "gpu:1") for values in ([3.0, 2.0], [0, 1], [1, 1])))
    assert (metric.compute(), metric.compute(), Counted.copies) == (0.5, 0.5, 3)


def test_metrics_of_other_measures_are_not_merged():
    metric = updated(RankingMetric(["RR"]), parts(documents(0), 1))
    before = len(metric.parts)
    with pytest.raises(InputError, match=r"compute RR.* and RR.*same measures and ties"):
        metric.merge_state([RankingMetric(["RR"]), RankingMetric(["RR"], ties="position")])
    assert len(metric.parts) == before


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"target": [0, 1, 1]}, r"indexes has shape \(2,\); it must have the shape of target, \(3,\)"),
        ({"preds": [1.0]}, r"preds has shape \(1,\); it must have the shape of target, \(2,\)"),
        ({"mask": [True]}, r"mask has shape \(1,\); it must have the shape of target"),
        ({"retrieved": [0.5, 1]}, "retrieved holds float64; it must hold True and False"),
        ({"preds": [1.0, np.nan]}, r"preds\[1\] is not a number \(NaN\)"),
        ({"target": [1.0, np.nan]}, r"target\[1\] is nan; a level must be a finite number, and"),
        ({"target": [-np.inf, 1.0]}, r"target\[0\] is -inf; a level must be a finite number, and"),
        ({"target": ["1", "0"]}, "target holds <U1"),
        ({"indexes": [1.0, 1.5]}, "indexes holds float64; it must hold whole numbers"),
    ],
)
def test_bad_batches_are_errors_that_name_the_argument(changed, message):
    metric = RankingMetric("RR")
    with pytest.raises(InputError, match=f"^{message}"):
        metric.update(**{"preds": [2.0, 1.0], "target": [0, 1], "indexes": [1, 1], **changed})
    assert len(metric.parts) == 1


def test_orders_that_need_ids_are_errors():
    with pytest.raises(ParameterError, match="ties='doc_id' must be one of 'position'"):
        RankingMetric("RR", ties="doc_id")


@pytest.mark.slow
def test_scores_of_lists_load_no_torch():
    output = python(
        """
        import sys
        import ir_graded
        metric = ir_graded.RankingMetric("RR")
        print(metric([2.0, 1.0], [0, 1], indexes=[1, 1]), {"torch", "torchmetrics"} & {*sys.modules})
        """
    )
    assert output == "0.5 set()\n"


@pytest.mark.parametrize("empty", [[], np.zeros(0), np.zeros((0, 3))])
def test_an_empty_batch_adds_nothing(empty):
    metric = RankingMetric("RR")
    metric.update([0.5, 0.4], [0, 1], [0, 0])
    metric.update(empty, empty, [])
    assert metric.compute() == 0.5


# ---------------------------------------------------------------------------------------- torchmetrics


def test_torchmetrics_is_named_if_it_is_missing(monkeypatch):
    monkeypatch.setattr(torchmetrics, "Metric", object)
    with pytest.raises(GradedError, match="requires torchmetrics: pip install torchmetrics"):
        torchmetrics.GradedRankingMetric("RR")


@pytest.fixture(name="library")
def of_torchmetrics():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("torchmetrics", reason="torchmetrics is not installed")


def tensors(given):
    import torch

    return [torch.from_numpy(np.asarray(values)) for values in given]


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning", "ignore:The ``compute`` method")
@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("ties", [None, "position"])
def test_values_in_torchmetrics_are_those_of_evaluate(ties):
    import torch

    given = documents(3)
    expected = evaluated(*given, ties)
    metric, *others = [torchmetrics.GradedRankingMetric(MEASURES, ties=ties) for _ in range(3)]
    for one, batch in zip((metric, metric, *others), parts(given, 4), strict=True):
        scores, level, topic, retrieved = tensors(batch)
        one.update(scores, level, topic, retrieved=retrieved)
    for one in others:
        metric.merge_state(pickle.loads(pickle.dumps(one)))  # noqa: S301  # made above
    found = metric.compute()
    # torchmetrics puts what it merges first, and no score but that by position depends on the order.
    if ties is None:
        assert [one.item() for one in found.values()] == expected
    assert {one.dtype for one in found.values()} == {torch.float64}
    metric.reset()
    with pytest.raises(InputError, match="there is no judged document"):
        metric.compute()


@pytest.mark.filterwarnings("ignore")  # those of the library
@pytest.mark.usefixtures("library")
def test_it_takes_the_place_of_metrics_of_torchmetrics():
    import torch
    from torchmetrics.retrieval import RetrievalMAP, RetrievalNormalizedDCG

    torch.manual_seed(0)
    preds, target, indexes = torch.rand(200), torch.randint(0, 4, (200,)), torch.randint(0, 9, (200,))
    binary = (target > 1).long()
    pairs = [
        (RetrievalNormalizedDCG(), torchmetrics.GradedRankingMetric("nDCG"), target),
        (RetrievalMAP(), torchmetrics.GradedRankingMetric("AP"), binary),
    ]
    for theirs, ours, levels in pairs:
        first = slice(0, 90), slice(90, 200)
        for part in first:
            one = theirs(preds[part], levels[part], indexes=indexes[part])
            other = ours(preds[part], levels[part], indexes=indexes[part])
            torch.testing.assert_close(other.float(), one.float())
        torch.testing.assert_close(ours.compute().float(), theirs.compute().float())


@pytest.mark.filterwarnings("ignore")  # those of the library
def test_a_collection_takes_metrics_with_one_and_several_measures(library):
    import torch

    made = {"a": torchmetrics.GradedRankingMetric("RR"), "b": torchmetrics.GradedRankingMetric(["Q", "AP"])}
    collection = library.MetricCollection(made, prefix="val_")
    rows = torch.tensor([[0.9, 0.5, 0.1], [0.3, 0.2, 0.1]]), torch.tensor([[0, 1, 9], [1, 0, 0]])
    collection.update(*rows, indexes=torch.tensor([1, 2]), mask=torch.tensor([[1, 1, 0], [1, 1, 1]]))
    found = {name: value.item() for name, value in collection.compute().items()}
    expected = ir_graded.evaluate(
        ["RR", "Q", "AP"],
        {"1": {"b": 1, "a": 0}, "2": {"a": 1}},
        {"1": {"a": 0.9, "b": 0.5}, "2": {"a": 0.3, "b": 0.2, "c": 0.1}},
    ).aggregates[0]
    assert found == dict(zip(["val_a", "val_Q", "val_AP"], expected.tolist(), strict=True))


@pytest.mark.usefixtures("library")
def test_shapes_are_checked_when_a_batch_is_given():
    import torch

    metric = torchmetrics.GradedRankingMetric("RR")
    with pytest.raises(InputError, match=r"preds has shape \(3,\); it must have the shape of target, \(2,\)"):
        metric.update(torch.rand(3), torch.tensor([0, 1]), torch.tensor([1, 1]))
    metric.update(torch.tensor([1.0, torch.nan]), torch.tensor([0, 1]), torch.tensor([1, 1]))
    with pytest.raises(InputError, match=r"preds\[1\] is not a number"):
        metric.compute()


@pytest.mark.usefixtures("library")
def test_tensors_that_change_after_update_do_not_change_the_value():
    import torch

    metric = torchmetrics.GradedRankingMetric("RR")
    given = torch.tensor([0.9, 0.5]), torch.tensor([0.0, 1.0], dtype=torch.float64), torch.tensor([1, 1])
    metric.update(*given)
    for one, further in zip(given, ([0, 1], [1, 0], [1, 2]), strict=True):
        one.copy_(torch.tensor(further))
    assert metric.compute().item() == 0.5


@pytest.mark.usefixtures("library")
def test_lists_and_arrays_are_accepted():
    import torch

    rows = [[0.9, 0.5, 0.1], [0.3, 0.2, 0.1]], [[0, 1, 9], [1, 0, 0]], [1, 2], [[1, 1, 0], [1, 1, 1]]
    metrics = [torchmetrics.GradedRankingMetric("nDCG") for _ in range(3)]
    for metric, form in zip(metrics, (list, np.array, torch.tensor), strict=True):
        metric.update(*map(form, rows[:3]), mask=form(rows[3]))
        metric.update([], [], [])
    assert len({metric.compute().item() for metric in metrics}) == 1


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("name", ["mask", "retrieved"])
def test_flags_other_than_zero_and_one_are_rejected(name):
    import torch

    metric = torchmetrics.GradedRankingMetric("RR")
    for wrong in ([1, 2], [0.5, 1.0], [-100, 1]):
        with pytest.raises(InputError, match=f"{name} holds other values than True and False, or 1 and 0"):
            metric.update(
                torch.rand(2), torch.tensor([0, 1]), torch.tensor([1, 1]), **{name: torch.tensor(wrong)}
            )


@pytest.mark.usefixtures("library")
def test_wrong_types_are_rejected_when_a_batch_is_given():
    import torch

    metric, flat = torchmetrics.GradedRankingMetric("RR"), torch.tensor([1, 1])
    with pytest.raises(InputError, match=r"indexes holds torch\.float32; it must hold whole numbers"):
        metric.update(torch.rand(2), flat, flat.float())
    with pytest.raises(InputError, match=r"preds holds torch\.complex64"):
        metric.update(torch.rand(2, dtype=torch.complex64), flat, flat)
    with pytest.raises(InputError, match="preds holds <U1; it must hold numbers"):
        metric.update(["a", "b"], flat, flat)
    metric.update(torch.rand(2), torch.tensor([1, 2**60]), flat)
    with pytest.raises(InputError, match=r"target\[1\] is inf; a level must be a finite number"):
        metric.compute()


def distributed_values(batches):
    """The values that two processes compute, of which each has the batches that a dict gives by rank."""
    script = (
        f"BATCHES = {batches!r}"
        + """
import os, socket, warnings
warnings.simplefilter("ignore")
import torch, torch.distributed as distributed, torch.multiprocessing as multiprocessing
from ecosystem.test_metric import documents, tensors
from ir_graded import InputError
from ir_graded.torchmetrics import GradedRankingMetric

def work(rank, port):
    warnings.simplefilter("ignore")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    distributed.init_process_group("gloo", rank=rank, world_size=2)
    scores, level, topic, retrieved = tensors(documents(7, topics=4))
    metric = GradedRankingMetric("Q")
    for start, stop in BATCHES[rank]:
        part = slice(start, stop)
        # Processes need not have the same types.
        metric.update(scores[part].to(torch.float64 if rank else torch.float32), level[part].to(
            torch.int32 if rank else torch.int64), topic[part].int(), retrieved=retrieved[part].int())
    try:
        print(repr(metric.compute().item()), flush=True)
    except InputError as error:
        print("InputError", flush=True)
    distributed.destroy_process_group()

with socket.socket() as found:
    found.bind(("127.0.0.1", 0))
    port = found.getsockname()[1]
multiprocessing.start_processes(work, (port,), nprocs=2, start_method="fork")
"""
    )
    return python(script, PYTHONPATH=os.pathsep.join(sys.path)).split()


@pytest.mark.slow
@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    "batches",
    [
        [[(0, 5), (5, 20)], [(20, None)]],
        [[(0, None)], []],
        [[], [(0, 9), (9, None)]],
        [[(0, None)], [(0, 0)]],
    ],
)
def test_two_processes_have_the_value_of_all_batches(batches):
    (expected,) = evaluated(*documents(7, topics=4), None, ["Q"])
    assert distributed_values(batches) == [repr(expected)] * 2


@pytest.mark.slow
@pytest.mark.usefixtures("library")
def test_two_processes_without_batches_raise_an_error():
    assert distributed_values([[], []]) == ["InputError"] * 2
