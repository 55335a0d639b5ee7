"""The score of a topic depends on the levels of other topics exactly if the measure says so."""

import pytest
from contracts import contract_cases as cases
from contracts.test_contract_parameters import beside
from hypothesis import given, strategies as st

import ir_graded
from ir_graded.evaluation.provider import GradedEvaluator, wanted_columns
from ir_graded.matching.match import prepare_qrels
from ir_graded.measures.classic import scorer_of

pytestmark = cases.BOTH_COLUMNS


def scores(measure, qrels, run):
    """Return the score of each topic, without the warnings of calls of ir_measures."""
    evaluator = GradedEvaluator(
        {measure: scorer_of(measure)}, prepare_qrels(qrels, wanted_columns([measure]))
    )
    scores = evaluator.scores_of(evaluator.match(run))[measure]
    return dict(zip(evaluator.judgments.names, scores.tolist(), strict=True))


def parts(measure, one):
    """Yield the topics of a collection with their qrels, and the run."""
    if not cases.needs_tables(measure):
        yield one.qrels, one.run
        yield from (({topic: levels}, one.run) for topic, levels in one.qrels.items())
        return
    qrels, run = cases.passage_tables(one.qrels, one.run)
    yield qrels, run
    yield from ((rows, run) for _, rows in qrels.groupby("query_id", sort=False))


@cases.each(cases.ALL)
@cases.examples(4)
@given(data=st.data())
def test_a_topic_scores_the_same_alone_unless_the_scale_is_inferred(subject, data):
    measure, one = data.draw(cases.measures(subject)), data.draw(cases.collections(subject))
    (qrels, run), *alone = parts(measure, one)
    together = scores(measure, qrels, run)
    if scorer_of(measure).infers_scale:
        return
    for rows, of_run in alone:
        for topic, score in scores(measure, rows, of_run).items():
            assert score == pytest.approx(together[topic], rel=1e-14, abs=cases.ROUNDING), (measure, topic)


TABLES = [
    (one, name)
    for one in {one.NAME: one for one in reversed(cases.ALL)}.values()
    for name in sorted({"gains", "stops", "weights"} & one.SUPPORTED_PARAMS.keys())
]


@pytest.mark.every
@pytest.mark.parametrize(("measure", "name"), TABLES, ids=str)
def test_a_level_that_is_not_named_and_has_a_smaller_value_is_doubted(measure, name):
    qrels = {"1": {"a": 1, "b": 2, "c": 3, "d": 2}}
    if cases.needs_tables(measure):
        qrels = cases.qrels_table(qrels)
    levels = prepare_qrels(qrels, wanted_columns([measure])).levels
    more = beside(measure, name, {1: 9})
    made = measure(**more, **{name: {1: 9, 3: 10}})
    assert scorer_of(made).doubt(levels) == (
        f"{made}: {name} lacks level 2 of the qrels, so its value is 2, less than the 9 of level 1. "
        "Name level 2, too."
    )
    for table in ({}, {1: 9, 2: 9, 3: 9}, {1: 9, 2: 11, 3: 12}, {3: 4}):
        assert scorer_of(measure(**more, **{name: table})).doubt(levels) == ""


@pytest.mark.parametrize("measure", [ir_graded.NuggetR, ir_graded.U(L=100, of="nuggets")], ids=str)
def test_topics_without_weight_are_doubted(measure):
    for topics, words in (("1", "1 topic has"), ("12", "2 topics have")):
        qrels = cases.qrels_table({topic: {"a": 2, "b": 1} for topic in topics})
        for importance in ("vital", {9: 1}):
            made = measure(importance=importance)
            levels = prepare_qrels(qrels, wanted_columns([made])).levels
            nothing = f"{made}: {words} no nugget with a weight above 0 and thus the score 0"
            assert scorer_of(made).doubt(levels) == ("" if importance == "vital" else nothing)
        assert scorer_of(measure(importance={1: 1})).doubt(levels) == ""


@pytest.mark.parametrize(
    "measure",
    [
        "gRBP", "gRBP(residual=True)", "EBR", "nEBR", "iRBU", "niRBU", "nERR", "NCU(stop='err')", "R-pref",
        "NCU(stop='err',utility='rr')", "nERR(gains={1:2})", "EC(measure='nERR')",
        ir_graded.GF(groups="SIZE"), ir_graded.GFR(groups={"SIZE": "JSD"}, measure="Q"),
    ],
    ids=str,
)  # fmt: skip
def test_measures_that_infer_their_scale_say_so(measure):
    (measure,) = ir_graded.measures.parsing.read_measures(measure)
    assert scorer_of(measure).infers_scale
    found = {}
    for highest in (2, 3):
        qrels = {"1": {"a": 2, "b": 1, "c": 0}, "2": {"a": highest}}
        tables = cases.passage_tables(qrels, {"1": {"c": 3.0, "b": 2.0, "a": 1.0}, "2": {"a": 1.0}})
        found[highest] = scores(measure, *(table.drop(columns=["start", "length"]) for table in tables))["1"]
    assert found[2] != found[3]
