"""``pyterrier.Experiment`` beside ``evaluate``, for every measure. No test here needs Java."""

import pandas as pd
import pyterrier as pt
import pytest
from contracts import contract_cases as cases
from ir_measures.measures.base import SumAgg
from scipy import stats
from spark.spark_cases import complete

import ir_graded
from ir_graded import ParameterError, Q, Scores
from ir_graded.core.facets import STRATUM_OR_ITERATION
from ir_graded.measures.classic import scorer_of
from ir_graded.meta.matrix import is_geometric

pytestmark = [
    cases.BOTH_COLUMNS,
    pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning"),
    pytest.mark.filterwarnings("ignore:Precision loss occurred in moment calculation:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:invalid value encountered in scalar divide:RuntimeWarning"),
]

COLLECTION = next(one for one in cases.COLLECTIONS if one.scale == "graded")
TO_PYTERRIER = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
#: Names by which PyTerrier knows sums.
SUMS = {"NumQ", "NumRel", "NumRet"}


def with_parameters(subject):
    """Return a measure with the parameters that it needs, and a scale where batches would have their own."""
    chosen = cases.WITH_COLUMNS | cases.OF_ROWS
    measure = chosen[subject.NAME][0] if subject.NAME in chosen else complete(subject)
    needs_scale = scorer_of(measure).infers_scale and "max_rel" in measure.SUPPORTED_PARAMS
    return measure(max_rel=3) if needs_scale else measure


def tables(measure):
    """Return qrels and two runs as tables with the columns that a measure needs."""
    runs = [COLLECTION.run, cases.retrieved(COLLECTION.rankings)]
    if STRATUM_OR_ITERATION in scorer_of(measure).USES:
        return cases.measure_cases.qrels_frame(COLLECTION.qrels), [
            cases.measure_cases.run_frame(cases.measure_cases.run_rows(run)) for run in runs
        ]
    (qrels, first), (_, second) = (cases.passage_tables(COLLECTION.qrels, run) for run in runs)
    return qrels, [first, second]


class Beside:
    """The scores of ``evaluate``, and experiments on the same qrels, runs and measures."""

    def __init__(self, measure):
        self.measure, self.measures = measure, list(dict.fromkeys([Q, measure]))
        qrels, runs = tables(measure)
        self.scores = ir_graded.evaluate(self.measures, qrels, dict(zip("ab", runs, strict=True)))
        self.topics = pd.DataFrame({"qid": self.scores.query_ids, "query": "words"})
        self.qrels = qrels.rename(columns=TO_PYTERRIER)
        runs = [run.rename(columns=TO_PYTERRIER) for run in runs]
        runs = [run.assign(rank=run.groupby("qid").cumcount()) for run in runs]
        self.systems = [pt.Transformer.from_df(run) for run in runs]

    def experiment(self, **options):
        asked = {"names": ["a", "b"], "validate": "ignore"} | options
        return pt.Experiment(self.systems, self.topics, self.qrels, self.measures, **asked)

    def assert_values(self, table):
        """Check the scores of the topics, and the aggregates that ``Scores`` makes of them."""
        found = Scores.from_frame(table).select(topics=self.scores.query_ids)
        assert found.names == self.scores.names
        assert found.values == pytest.approx(self.scores.values, rel=1e-12, abs=1e-15)
        pd.testing.assert_frame_equal(found.mean(), self.scores.mean(), check_exact=False, rtol=1e-12)

    def assert_means(self, table):
        means = self.scores.mean().loc[["a", "b"]]
        if isinstance(self.measure.aggregator(), SumAgg) and str(self.measure) not in SUMS:
            means[str(self.measure)] /= len(self.scores.query_ids)
        for name in self.scores.names:
            assert table[name].tolist() == pytest.approx(means[name].tolist(), rel=1e-12, abs=1e-15)


def scored(subject):
    """Return a measure with its parameters, and its scores and experiments."""
    return Beside(with_parameters(subject))


@cases.each(cases.ALL)
def test_scores_of_topics_equal_those_of_evaluate(subject):
    beside = scored(subject)
    beside.assert_values(beside.experiment(perquery=True))


@pytest.mark.slow
@cases.each(cases.ALL)
def test_means_tests_and_batches_equal_those_of_evaluate(subject):
    beside = scored(subject)
    for options in ({"batch_size": 5}, {"plan": "tree", "verbose": False}):
        if not (options.get("batch_size") and scorer_of(beside.measure).infers_scale):
            beside.assert_values(beside.experiment(perquery=True, **options))
    every = [{}, {"perquery": "both"}, {"baseline": 0}, {"batch_size": 5}, {"plan": "tree", "verbose": False}]
    if is_geometric(beside.measure):
        for options in every:
            with pytest.raises(ParameterError, match="is not the arithmetic mean of the topics"):
                beside.experiment(**options)
        return
    for options in every:
        if options.get("batch_size") and scorer_of(beside.measure).infers_scale:
            continue
        found = beside.experiment(**options)
        if "perquery" in options:
            beside.assert_values(found.perquery)
            found = found.averages
        beside.assert_means(found)
        if "baseline" in options:
            for name, (a, b) in zip(beside.scores.names, beside.scores.values, strict=True):
                assert (found[f"{name} +"][1], found[f"{name} -"][1]) == ((b > a).sum(), (b < a).sum())
                p = stats.ttest_rel(b, a).pvalue
                assert found[f"{name} p-value"][1] == pytest.approx(p, rel=1e-9, nan_ok=True)
