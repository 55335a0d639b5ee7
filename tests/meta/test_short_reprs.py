"""Results are printed in short, and cannot be modified."""

import numpy as np
import pandas as pd
import pytest

import ir_graded
from ir_graded import meta, passages
from ir_graded._utils.results import short

pytestmark = pytest.mark.filterwarnings("ignore:Differences of model='bins':ir_graded.CoverageWarning")
RNG = np.random.default_rng(3)
MATRIX = RNG.random((40, 6))
QRELS = {f"t{topic}": {f"d{doc}": doc % 3 for doc in range(12)} for topic in range(12)}
OTHERS = {topic: {doc: (level + 1) % 3 for doc, level in docs.items()} for topic, docs in QRELS.items()}
RUNS = {
    name: {
        topic: {doc: float(score) for doc, score in zip(docs, RNG.random(20), strict=False)}
        for topic, docs in QRELS.items()
    }
    for name in ("one", "two", "three")
}
SPANS = pd.DataFrame({"query_id": ["1"], "doc_id": "a", "relevance": 1, "start": 0, "length": 5})
SAMPLED = [(topic, doc, level, 0.5) for topic, docs in QRELS.items() for doc, level in docs.items()]
SAMPLED = pd.DataFrame(SAMPLED, columns=["query_id", "doc_id", "relevance", "iprob"])


def intervals():
    return ir_graded.score_intervals("nDCG@10", QRELS, RUNS, n_samples=5)


RESULTS = {
    "ScoreBounds": lambda: ir_graded.score_bounds("gRBP P@5", QRELS, RUNS),
    "ScoreIntervals": intervals,
    "IntervalDifferences": lambda: intervals().differences(),
    "ScoreEstimates": lambda: ir_graded.score_estimates("AP", SAMPLED, RUNS),
    "EstimateDifference": lambda: ir_graded.score_estimates("AP", SAMPLED, RUNS).difference("one", "two"),
    "Unjudged": lambda: ir_graded.unjudged(QRELS, RUNS),
    "JudgmentComparison": lambda: ir_graded.compare_judgments(QRELS, OTHERS, "Q AP", RUNS, n_resamples=9),
    "Agreement": lambda: ir_graded.compare_judgments(QRELS, OTHERS, n_resamples=9).agreement,
    "SpanAgreement": lambda: ir_graded.compare_judgments(SPANS, SPANS, n_resamples=9).spans,
    "Quotes": lambda: passages.find_quotes({"a": "x\ny"}, [{"query_id": "1", "quote": "x y"}]),
    "MeasureComparison": lambda: meta.compare_measures({"a": MATRIX, "b": MATRIX**2}, n_resamples=20),
    "DiscriminativePower": lambda: meta.discriminative_power(MATRIX, n_resamples=20),
    "SignificanceMatrix": lambda: meta.significance(MATRIX, n_resamples=20),
    "Stability": lambda: meta.stability(MATRIX, n_resamples=20),
    "Swap": lambda: meta.swap(MATRIX, n_resamples=20),
    "RankCorrelations": lambda: meta.rank_correlations({"a": MATRIX, "b": MATRIX**2}, reference="a"),
    "Ranks": lambda: meta.ranks({"a": MATRIX}, n_resamples=1000),
    "ConfidenceIntervals": lambda: meta.confidence_intervals({"a": MATRIX}, n_resamples=9),
    "Differences": lambda: ir_graded.compare_runs("Q AP", QRELS, "one", RUNS, test="t"),
    "EffectSizes": lambda: meta.effect_sizes(MATRIX),
    "ScoreVariance": lambda: meta.score_variance(MATRIX),
    "TopicSetSize": lambda: meta.topic_set_size(MATRIX, 0.1),
    "CollectionStatistics": lambda: ir_graded.collection_statistics(QRELS, RUNS),
    "RunOverlaps": lambda: ir_graded.rbo_matrix(RUNS),
}


@pytest.fixture(params=RESULTS)
def result(request):
    found = RESULTS[request.param]()
    assert type(found).__name__ == request.param
    return found


def test_a_result_prints_in_a_line(result):
    text = repr(result)
    assert text.startswith(f"{type(result).__name__}(")
    assert "\n" not in text
    assert "array(" not in text
    assert len(text) < 700


def test_a_printed_result_is_a_table_of_a_few_lines(result):
    text = str(result)
    assert text.startswith(f"{type(result).__name__}(")
    assert 2 <= text.count("\n") <= 40
    assert max(map(len, text.splitlines())) < 130
    assert "<table" in result._repr_html_()


# Quotes holds tables that users save.
@pytest.mark.parametrize("result", sorted(RESULTS.keys() - {"Quotes"}), indirect=True)
def test_a_result_cannot_be_modified_and_its_tables_are_copies(result):
    for name, value in vars(result).items():
        if isinstance(value, (np.ndarray, pd.Series, pd.DataFrame)):
            places, first = getattr(value, "iloc", value), (0,) * value.ndim
            with pytest.raises(ValueError, match="read-only"):
                places[first] = places[first]
        with pytest.raises(AttributeError):
            setattr(result, name, value)
    table = result.to_frame()
    column = table.columns.get_loc(table.select_dtypes("number").columns[0])
    table.iloc[0, column] = 999
    assert result.to_frame().iloc[0, column] != 999


def test_values_are_shown_by_their_size_where_they_are_long():
    assert short(np.zeros((3, 1000))) == "<array 3 x 1000>"
    assert short(np.array([1.0, 2.0])) == "[1.0, 2.0]"
    assert short(0.05) == "0.05"
    assert short(("a", "b")) == "('a', 'b')"
    assert short(tuple(range(100))) == "<tuple of 100>"
