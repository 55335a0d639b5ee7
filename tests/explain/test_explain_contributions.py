"""The contributions of documents sum to the score of evaluate, for every measure with every parameter."""

import math

import ir_measures
import numpy as np
import pytest
from chunks import chunk_cases
from classics import classic_cases
from contracts.contract_cases import COLLECTIONS, WITH_COLUMNS, passage_tables
from hypothesis import assume, given, strategies as st
from measures import measure_cases as cases
from passages import passage_cases

import ir_graded
from ir_graded import AspectAP
from ir_graded.core.segments import total
from ir_graded.core.views import Views
from ir_graded.errors import NoSharedTopicsError, ParameterError
from ir_graded.matching.judgments import from_dicts
from ir_graded.matching.match import match_run
from ir_graded.measures import REGISTRY
from ir_graded.measures.classic import scorer_of

WITHOUT = {"NumQ", "NumRel"}


def assert_explained(measure, qrels, run, query_id, expected):
    found = ir_graded.explain(measure, qrels, run, query_id)
    assert found.score == expected
    assert abs(math.fsum(found.to_frame()["contribution"]) - expected) <= 1e-12
    assert (found.to_frame()["contribution"] >= 0).all()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("measure", cases.VARIANTS, ids=str)
@cases.examples(12)
@given(data=st.data(), qrels=cases.qrels(), run=cases.runs())
def test_contributions_sum_to_the_score(measure, data, qrels, run):
    assume(any(topic in qrels for topic in run))
    chosen = measure(**data.draw(cases.parameters(measure)))
    for topic, expected in cases.scores(chosen, qrels, run).items():
        try:
            found = assert_explained(chosen, qrels, run, topic, expected)
        except NoSharedTopicsError:
            assert not any(run.get(name) for name in qrels)
            continue
        assert_columns_agree(chosen, found)


def assert_columns_agree(measure, found):
    """The columns contain the factors of the contributions."""
    frame = found.to_frame()
    assert (frame["C"] == np.arange(1, len(frame) + 1)).all()
    assert (frame["rank"] >= frame["C"]).all()
    if "stop" in frame and not getattr(measure, "over_ideal", False):
        assert np.allclose(frame["stop"] * frame["utility"], frame["contribution"], rtol=0, atol=1e-15)
    if "BR" in frame:
        assert frame["BR"].between(0, 1 + 1e-12).all()
    if "cg" in frame:
        assert np.allclose(frame["gain"].cumsum(), frame["cg"])
        assert (frame["cg"] <= frame["cg_star"] * (1 + 1e-12)).all()


@pytest.mark.parametrize("name", sorted(classic_cases.OF_DOCUMENTS))
@pytest.mark.parametrize("seed", range(3))
def test_contributions_to_classics_sum_to_the_score(name, seed):
    """All parameters, on whole arrays."""
    levels = [-1, 0, 1, 2, 4] if seed % 2 else [-2, 0, 1, 3]
    qrels, run = classic_cases.collection(seed, levels, ties=seed == 1)
    judgments = from_dicts(qrels)
    views = Views(judgments.levels, match_run(judgments, run))
    measures = classic_cases.supported(name)
    highest = 0.0
    for measure in measures:
        scorer = scorer_of(measure)
        if name in WITHOUT or (name == "NumRet" and "rel" not in measure.params):
            with pytest.raises(ParameterError, match=name):
                scorer.contributions(views)
            continue
        found, scores = scorer.contributions(views), scorer.score(views)
        sums = total(found.value, found.view.topic, len(judgments.names))
        assert np.abs(sums - scores).max() <= 1e-12, measure
        assert (found.view.document.size, found.view.n.size) == (found.value.size,) * 2
        for values in scorer.columns(views).values():
            assert values.shape == found.value.shape
        highest = max(highest, scores.max())
    assert (highest > 0) != (name in WITHOUT)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize(
    "measure",
    [
        "AP", "AP(rel=2)@5", "AP(judged_only=True)", "RR@10", "P@5", "R@5", "Rprec", "Success@3", "Bpref",
        "infAP",
        "nDCG", "nDCG@5", "nDCG(dcg='exp-log2')@10", "nDCG(gains={1: 0, 2: 7, 0: 1})", "ERR@10",
        ir_measures.nDCG(gains={0: -1, 1: 5}, judged_only=True), "RBP(p=0.8,rel=1)", "Judged@10", "Judged",
        "NumRet(rel=1)", "SetP", "SetP(relative=True)", "SetP(judged_only=True)", "SetR", "SetF(beta=0.5)",
        "SetAP", "SetAP(judged_only=True)", "IPrec@0.3", "Accuracy", "Accuracy@5", "Compat",
        "Compat(normalize=False)", "SDCG(max_rel=3)@10", "INSQ(max_rel=3)", "INST(max_rel=3)",
        "BPM(max_rel=3)@10", "NERR8(max_rel=3)@10", "NERR9(max_rel=3)@10", "NERR10(max_rel=3)",
        "NERR11(max_rel=3)",
    ],
    ids=str,
)  # fmt: skip
def test_classics_are_explained_for_every_topic(measure):
    qrels, run = classic_cases.collection(4, [-1, 0, 1, 2, 4], ties=True)
    expected = ir_graded.evaluate(measure, qrels, run).matrix(measure)["run"]
    for topic, score in expected.items():
        found = assert_explained(measure, qrels, run, topic, score)
        for row in found.to_frame().itertuples():
            assert row.level == qrels[topic][row.doc_id]
            above = {doc for doc, value in run[topic].items() if value > run[topic][row.doc_id]}
            shown = row.rank_in_run if hasattr(row, "rank_in_run") else row.rank
            ties = sum(value == run[topic][row.doc_id] for value in run[topic].values())
            assert len(above) < shown <= len(above) + ties


@pytest.mark.slow
@cases.examples(60)
@given(
    chosen=passage_cases.parameters(),
    qrels=passage_cases.qrels(min_size=4),
    run=passage_cases.runs(min_size=4),
)
def test_contributions_of_articles_sum_to_the_score(chosen, qrels, run):
    name, params = chosen
    measure = passage_cases.MEASURES[name](**params)
    tables = passage_cases.frame("qrels", qrels), passage_cases.frame("run", run)
    for metric in ir_measures.iter_calc([measure], *tables):
        try:
            found = assert_explained(measure, *tables, metric.query_id, metric.value)
        except NoSharedTopicsError:
            return
        if name == "MAgP":
            product = found.to_frame()["stop"] * found.to_frame()["utility"]
            assert np.allclose(product, found.to_frame()["contribution"], rtol=0, atol=1e-15)


@pytest.mark.slow
@cases.examples(4)
@given(
    qrels=passage_cases.qrels(topics=("1", "2"), min_size=4),
    run=passage_cases.runs(topics=("1", "2"), min_size=4),
)
def test_contributions_of_rows_sum_to_the_score(qrels, run):
    tables = passage_cases.frame("qrels", qrels), passage_cases.frame("run", run)
    for metric in ir_measures.iter_calc(chunk_cases.OVERLAPPING, *tables):
        try:
            found = assert_explained(metric.measure, *tables, metric.query_id, metric.value)
        except NoSharedTopicsError:
            return
        frame = found.to_frame()
        assert (frame["found"].cumsum() <= found.relevant).all()
        assert not frame.duplicated(["rank"]).any()


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_COLUMNS)
def test_contributions_to_measures_of_further_columns_sum_to_the_score(name):
    one = COLLECTIONS[7]
    qrels, run = (table.drop(columns=["start", "length"]) for table in passage_tables(one.qrels, one.run))
    qrels = qrels[qrels["query_id"].isin(["1", "2", "5"])]
    # The parameters of base measures are tested in tests/intents.
    for metric in ir_measures.iter_calc(WITH_COLUMNS[name][::5], qrels, run):
        assert_explained(metric.measure, qrels, run, metric.query_id, metric.value)


@pytest.mark.slow
def test_contributions_to_aspects_sum_to_the_score():
    one = COLLECTIONS[7]
    tables = passage_tables(one.qrels, one.run)
    for metric in ir_measures.iter_calc([AspectAP], *tables):
        assert_explained(AspectAP, *tables, metric.query_id, metric.value)


def test_every_measure_is_covered_by_these_tests():
    tried = {measure.NAME for measure in cases.VARIANTS} | set(passage_cases.MEASURES) | set(WITH_COLUMNS)
    tried |= {measure.NAME for measure in [*chunk_cases.VARIANTS, AspectAP]} | {"U"}  # in tests/nuggets
    tried |= cases.SAMPLED_MEASURES  # in tests/sampled
    assert {measure.NAME for measure in REGISTRY.values()} == tried
