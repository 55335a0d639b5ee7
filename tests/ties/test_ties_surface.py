"""The parameter ties: identities, forms of input, strings, errors and passages."""

import copy
import pickle
import re
from functools import partial

import ir_measures
import numpy as np
import pandas as pd
import pytest
from classics import classic_cases
from helpers import run_command
from ir_measures import Judged, NumRet, SetP, infAP, nDCG
from reference import ties as reference
from reference.tie_cases import IDS, VARIANTS, rng_of
from ties.tie_scores import HOW, measure_of, random_collection, run_of, scores, supported_parameters

import ir_graded
from ir_graded import MAgP, ParameterError, Q, gP, gR
from ir_graded.core.judged_run import Matched, TieGroups
from ir_graded.io import table
from ir_graded.matching.match import match_run, prepare_qrels
from ir_graded.matching.tables import match_ranked
from ir_graded.measures import REGISTRY
from ir_graded.measures.base import StopUtility
from ir_graded.measures.classic import CLASSICS
from ir_graded.measures.classic.ties import with_ties

QRELS = {"1": {"a": 2, "b": 1, "c": 0}, "2": {"a": 1}}
RUN = {"1": {"a": 1.0, "b": 1.0, "c": 1.0, "x": 1.0}, "2": {"y": 3.0, "a": 2.0}}


# ------------------------------------------------------------------------------------------ identities


@pytest.mark.parametrize("variant", VARIANTS)
def test_without_ties_all_four_orders_give_equal_bits(variant):
    rng = rng_of(f"no ties {variant}")
    for _ in range(10):
        qrels, groups = random_collection(rng, 10)
        alone = {topic: [[doc_id] for group in found for doc_id in group] for topic, found in groups.items()}
        name, params = supported_parameters(rng, variant)
        measures = [measure_of(name, params, how) for how in ("doc_id", *HOW)]
        found = scores(measures, qrels, run_of(alone))
        assert all(values == found[measures[0]] for values in found.values())


# ------------------------------------------------------------------------------------ forms of input


@pytest.mark.slow
def test_every_form_of_a_run_has_equal_tie_groups():
    rng = rng_of("forms")
    for _ in range(20):
        qrels, groups = random_collection(rng, 5)
        run = run_of(groups)
        rows = [(topic, doc, score) for topic, of in run.items() for doc, score in of.items()]
        rng.shuffle(rows)
        frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
        judgments = prepare_qrels(qrels)
        found = [match_run(judgments, given) for given in (run, frame, frame.sort_values("query_id"))]
        for one in found[1:]:
            assert (one.ties is None) is (found[0].ties is None)
            if one.ties is not None:
                assert one.ties.first.tolist() == found[0].ties.first.tolist()
                assert one.ties.tied.tolist() == found[0].ties.tied.tolist()


def test_a_part_of_a_run_without_ties_joins_parts_with_ties():
    def part(rank, ties):
        nothing = np.zeros(0, dtype=np.int64)
        return Matched(np.zeros(2, dtype=np.int64), np.array(rank), ties, False, False, nothing, nothing)

    tied = TieGroups(np.array([1, 1]), np.array([2, 2]))
    found = Matched.concat([part([3, 5], None), part([1, 2], tied)]).ties
    assert found.first.tolist() == [3, 5, 1, 1]
    assert found.tied.tolist() == [1, 1, 2, 2]
    assert Matched.concat([part([3, 5], None), part([1, 2], None)]).ties is None


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_tie_groups_continue_from_table_to_table(size):
    scores_given = [5.0, 4.0, 4.0, 4.0, 4.0, 3.0, 2.0, 2.0, 1.0]
    documents = [f"d{9 - place}" for place in range(9)]
    qrels = {"1": dict.fromkeys(documents[::2], 1)}
    frame = pd.DataFrame({"query_id": "1", "doc_id": documents, "score": scores_given})
    judgments = prepare_qrels(qrels)
    tables = [
        table.from_frame("run", frame.iloc[begin : begin + size].reset_index(drop=True), str)
        for begin in range(0, 9, size)
    ]
    whole, in_tables = match_run(judgments, frame), match_ranked(judgments, iter(tables), 1.0)
    assert in_tables.rank.tolist() == whole.rank.tolist()
    assert in_tables.ties.first.tolist() == whole.ties.first.tolist()
    assert in_tables.ties.tied.tolist() == whole.ties.tied.tolist()


def test_a_tie_continues_over_batches_of_which_some_are_empty():
    scores_given = pd.Series([3.0, 2.0, 2.0, 2.0, 1.0, 1.0])
    frame = pd.DataFrame({"query_id": "1", "doc_id": [*"fedcba"], "score": scores_given})
    batches = [frame.iloc[begin:end] for begin, end in ((0, 2), (2, 3), (3, 3), (3, 5), (5, 6), (6, 6))]
    tables = [table.from_frame("run", batch.reset_index(drop=True), str) for batch in batches]
    judgments = prepare_qrels({"1": dict.fromkeys("edba", 1)})
    found = match_ranked(judgments, iter(tables), 1.0).ties
    # Ranks 2 to 4 have the score 2, ranks 5 and 6 the score 1.
    assert found.first.tolist() == [2, 2, 5, 5]
    assert found.tied.tolist() == [3, 3, 2, 2]


# ------------------------------------------------------------------------------------- the parameter


@pytest.mark.parametrize(
    "name", ["Q(ties='expected')@10", "nDCG(ties='expected')@10", "P(rel=2,ties='optimistic')@5"]
)
def test_names_print_and_read_back(name):
    measure = ir_measures.parse_measure(name)
    assert str(measure) == name
    for other in (copy.deepcopy(measure), pickle.loads(pickle.dumps(measure))):  # noqa: S301
        assert other == measure
        assert str(other) == name
        assert type(other) is type(measure)


def test_the_default_counts_as_unset():
    assert Q(ties="doc_id") == Q
    assert str(Q(ties="doc_id") @ 10) == "Q@10"
    assert ir_measures.parse_measure("nDCG(ties='doc_id')@10") == nDCG @ 10


@pytest.mark.parametrize("name", CLASSICS)
def test_no_other_provider_supports_a_classic_with_ties(name):
    if not CLASSICS[name].RANKED:
        return
    measure = with_ties(classic_cases.supported(name)[0], CLASSICS[name].ORDERS.words[-1])
    supporting = [p.NAME for p in ir_measures.DefaultPipeline.providers if p.supports(measure)]
    assert supporting == ["ir_graded"]


def test_infap_has_no_exact_mean_over_orders():
    """b (level 1) ties with u (pooled, not judged) at ranks 2 and 3, below a (level 1)."""
    qrels, run = {"1": {"a": 1, "b": 1, "u": -1}}, {"1": {"a": 2.0, "b": 1.0, "u": 1.0}}
    e = 0.00001
    share = (1 + e) / (1 + 2 * e)
    found = ir_graded.evaluate(["infAP(ties='optimistic')", "infAP(ties='pessimistic')", infAP], qrels, run)
    at_2, at_3 = 1 / 2 + 1 / 2 * share, 1 / 3 + 2 / 3 * share
    expected = [(1 + at_2) / 2, (1 + at_3) / 2, (1 + at_3) / 2]
    assert found.values.ravel().tolist() == pytest.approx(expected, abs=1e-15)
    message = "^infAP has no exact mean .* ties must be 'doc_id', 'optimistic' or 'pessimistic'$"
    for call in (
        lambda: ir_graded.evaluate("infAP(ties='expected')", qrels, run),
        lambda: ir_graded.evaluate(["Q", "infAP"], qrels, run, ties="expected"),
        lambda: ir_graded.score_arrays("infAP", [[1, 0]], [[1.0, 1.0]], ties="expected"),
    ):
        with pytest.raises(ParameterError, match=message):
            call()


def test_evaluate_applies_ties_to_all_measures_that_depend_on_order():
    found = ir_graded.evaluate(
        ["Q", "nDCG@2", "Q(ties='optimistic')", "SetP", "NumRet"], QRELS, RUN, ties="expected"
    )
    assert found.names == [
        "Q(ties='expected')", "nDCG(ties='expected')@2", "Q(ties='optimistic')", "SetP", "NumRet",
    ]  # fmt: skip
    separate = ir_graded.evaluate(found.names, QRELS, RUN)
    assert found.values.tolist() == separate.values.tolist()


def test_the_warning_of_runs_with_one_score_names_ids_only_if_they_matter():
    flat = {"1": dict.fromkeys("abx", 1.0), "2": {"a": 1.0}}
    with pytest.warns(ir_graded.CoverageWarning, match=r"the same score, so it gives no ranking\.$"):
        ir_graded.evaluate("Q", QRELS, flat, ties="expected")
    for measures in (["Q(ties='expected')", "AP"], "Q"):
        message = r"the same score, so only their ids determine the ranks\.$"
        with pytest.warns(ir_graded.CoverageWarning, match=message):
            ir_graded.evaluate(measures, QRELS, flat)


def test_a_missing_parameter_of_a_base_measure_is_named_with_ties_too():
    measure = ir_graded.D(measure="nDCG(dcg='exp-log2')")
    message = r"needs a cutoff because its base measure does: for example .*@10$"
    with pytest.raises(ParameterError, match=message):
        ir_graded.evaluate(measure, QRELS, RUN, ties="expected")


@pytest.mark.parametrize("ask", [partial(ir_graded.evaluate, ties="expected"), ir_graded.ties])
def test_rbp_without_rel_is_an_error_that_suggests_grbp(ask):
    with pytest.raises(ParameterError, match=re.escape("use gRBP(p=0.8)")):
        ask("RBP(p=0.8)", QRELS, RUN)


@pytest.mark.parametrize("name", ["Q", "P+", "O-measure", "EBR", "nERR", "GAP", "nCG@20", "AP", "nDCG"])
def test_ties_among_irrelevant_documents_change_nothing(name):
    """This holds even if another measure of the call counts these documents."""
    rng = rng_of(f"others {name}")
    qrels = {str(topic): {doc: rng.choice((0, 1, 2, 3)) for doc in IDS[:40]} for topic in range(200)}
    run = {}
    for topic, levels in qrels.items():
        order = rng.sample([*levels], len(levels))
        run[topic] = {doc: -1e3 if levels[doc] == 0 else -float(at) for at, doc in enumerate(order)}
    found = ir_graded.evaluate([name, with_ties(ir_measures.parse_measure(name), "expected")], qrels, run)
    both = ir_graded.evaluate([*found.measures, Judged(ties="expected")], qrels, run)
    assert found.values[0].tolist() == found.values[1].tolist()
    assert both.values[:2].tolist() == found.values.tolist()


@pytest.mark.parametrize("name", ["Q(ties='x')", "nDCG(ties='x')@10", "P(ties=1)@5"])
def test_unknown_values_of_ties_are_rejected(name):
    with pytest.raises(ParameterError, match=re.escape("one of 'doc_id', 'expected', 'optimistic'")):
        ir_graded.evaluate(name, QRELS, RUN)


def test_a_classic_that_is_not_computed_here_rejects_ties():
    for name, message in (
        ("nDCG(dcg='exp-log2',judged_only=True,ties='expected')@5", "nDCG takes .* only cutoff"),
        ("AP(rel=0,ties='expected')", "AP: rel=0 must be a finite number > 0"),
    ):
        with pytest.raises(ParameterError, match=message):
            ir_graded.evaluate(name, QRELS, RUN)


def test_the_command_line_takes_ties(tmp_path, capsys):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("1 0 a 1\n")
    run.write_text("1 Q0 a 1 1.0 x\n1 Q0 b 2 1.0 x\n")
    options = ("-m", "P@1", "--ties", "expected", "--quiet")
    code, printed, _ = run_command(capsys, "evaluate", qrels, run, *options)
    assert code == 0
    assert "P(ties='expected')@1" in printed
    assert "0.5" in printed


# --------------------------------------------------------------------------------------------- passages


@pytest.mark.slow
def test_passage_scores_equal_those_over_all_orders():
    rng = rng_of("passages of the engine")
    for _ in range(12):
        qrels, run = [], []
        for topic in map(str, range(10)):
            for article in IDS[:6]:
                if rng.random() < 0.7:
                    qrels.append(
                        (topic, article, rng.choice((0, 1, 2)), rng.randint(0, 5), rng.randint(1, 9))
                    )
                if rng.random() < 0.7:
                    rows = [(rng.choice((1.0, 2.0, 3.0)), rng.randint(0, 5), rng.randint(1, 9))]
                    rows += [(rng.choice((1.0, 2.0)), 20, 3)] if rng.random() < 0.3 else []
                    run += [(topic, article, *row) for row in rows]
        frames = [
            pd.DataFrame(rows, columns=["query_id", "doc_id", name, "start", "length"])
            for name, rows in (("relevance", qrels), ("score", run))
        ]
        params = {"beta": rng.choice((0, 0.5, 1, 2)), "rel": rng.choice((1, 2))}
        measures = (MAgP, MAgP @ 2, gP @ 2, gP @ 4, gR @ 1, gR @ 3)
        made = {measure(**params, ties=how): how for measure in measures for how in HOW}
        found = {measure: {} for measure in made}
        for metric in ir_measures.iter_calc([*made], *frames):
            found[metric.measure][metric.query_id] = metric.value
        for measure, how in made.items():
            cutoff = {"cutoff": measure.params["cutoff"]} if "cutoff" in measure.params else {}
            expected = reference.evaluate_passages(measure.NAME, {**params, **cutoff}, how, qrels, run)
            assert found[measure] == pytest.approx(expected, rel=0, abs=1e-12), (measure, qrels, run)


# ------------------------------------------------------------------------------------------- other edges


def test_an_own_measure_without_expected_scores_rejects_them():
    class Own(ir_graded.GradedMeasure):
        NAME = "Own"

    own = Own(ties="expected")
    assert own.ties == "expected"
    with pytest.raises(ParameterError, match="has no expected score"):
        scores([own], QRELS, RUN)
    with pytest.raises(ParameterError, match="Own has no expected score"):
        with_ties(Own(), "expected")
    assert with_ties(Own(), "optimistic").ties == "optimistic"


def test_an_own_stop_and_utility_need_their_means():
    class Stop(StopUtility):
        NAME = "Stop"

    class Both(Stop):
        mean_stop = mean_utility = StopUtility.utility

    assert not Stop().has_expected_score
    assert Both().has_expected_score
    for name in ("mean_stop", "mean_utility"):
        half = type("Half", (Stop,), {name: StopUtility.utility})
        assert not half().has_expected_score
    whole = type("Whole", (Stop,), {"expected_contributions": StopUtility.utility})
    assert whole().has_expected_score


def test_judged_shares_are_means_over_orders():
    found = ir_graded.evaluate(Judged @ 2, QRELS, RUN, ties="expected")
    assert found.values.tolist() == [[[0.75, 0.5]]]
    assert {NumRet, SetP}.isdisjoint(map(str, REGISTRY))
