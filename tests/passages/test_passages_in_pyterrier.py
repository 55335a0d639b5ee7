"""PyTerrier experiments over frames with the columns start and length. No test here needs Java."""

import pandas as pd
import pyterrier as pt
import pytest
from ir_measures import AP, nDCG
from passages.passage_cases import by_document, frame, one_row_an_article
from reference import passages

import ir_graded
from ir_graded import MAgP, Q, gP, gR

TOPICS = pd.DataFrame({"qid": ["1", "2", "3"], "query": ["one", "two", "three"]})
QRELS = [
    ("1", "a", 1, 0, 30), ("1", "b", 1, 0, 5), ("1", "a", 2, 100, 50), ("2", "c", 1, 7, 7),
    ("3", "d", 1, 0, 10), ("3", "e", 0, 0, 0),
]  # fmt: skip
FIRST = [
    ("1", "a", 3.0, 20, 100), ("1", "x", 5.0, 0, 9), ("1", "b", 4.0, 0, 5), ("1", "a", 9.0, 0, 4),
    ("1", "x", 1.0, 9, 9), ("2", "c", 1.0, 0, 14), ("3", "e", 2.0, 0, 10), ("3", "d", 1.0, 5, 10),
]  # fmt: skip
SECOND = [("1", "b", 2.0, 0, 5), ("1", "a", 1.0, 0, 30), ("1", "b", 3.0, 50, 5), ("2", "x", 1.0, 0, 9)]
SECOND += [("3", "x", 1.0, 0, 9)]

MEASURES = ["MAgP", "gP@10", MAgP(beta=0.25) @ 2, gR @ 1, "map", "Q", nDCG @ 10]
COLUMNS = ["MAgP", "gP@10", "MAgP(beta=0.25)@2", "gR@1", "map", "Q", "nDCG@10"]
RENAMED = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}


def pt_frame(kind, rows):
    """Return a table with PyTerrier's column names; a run also has ranks."""
    table = frame(kind, rows).rename(columns=RENAMED)
    return with_ranks(table) if kind == "run" else table


def with_ranks(run):
    return run.assign(rank=run.groupby("qid").cumcount())


def pipelines():
    return [pt.Transformer.from_df(pt_frame("run", rows)) for rows in (FIRST, SECOND)]


def experiment(**options):
    asked = {"eval_metrics": MEASURES, "names": ["first", "second"], "validate": "error"} | options
    systems = asked.pop("retr_systems", None) or pipelines()
    return pt.Experiment(systems, TOPICS, pt_frame("qrels", QRELS), **asked)


@pytest.fixture(scope="module")
def expected():
    """Return values by system, column and topic: passages by the reference, documents from one row each."""
    of_passages = dict(zip(COLUMNS[:4], [MAgP, gP @ 10, *MEASURES[2:4]], strict=True))
    of_documents = dict(zip(COLUMNS[4:], [AP, Q, nDCG @ 10], strict=True))
    found = {}
    for name, rows in (("first", FIRST), ("second", SECOND)):
        for column, measure in of_passages.items():
            by_topic = passages.evaluate(measure.NAME, dict(measure.params), QRELS, rows)
            found |= {(name, column, topic): value for topic, value in by_topic.items()}
        tables = one_row_an_article("qrels", QRELS), one_row_an_article("run", rows)
        for column, measure in of_documents.items():
            found |= {(name, column, metric.query_id): metric.value for metric in measure.iter_calc(*tables)}
    assert len(found) == 2 * 7 * 3
    return found


def assert_means(table, expected):
    assert list(table["name"]) == ["first", "second"]
    for _, row in table.iterrows():
        for column in COLUMNS:
            mean = sum(expected[row["name"], column, topic] for topic in "123") / 3
            assert row[column] == pytest.approx(mean, abs=1e-12), column


def assert_topics(table, expected):
    found = {(row.name, row.measure, row.qid): row.value for row in table.itertuples(index=False)}
    assert found == {key: pytest.approx(value, abs=1e-12) for key, value in expected.items()}


@pytest.mark.slow
def test_measures_with_ranks_of_rows_have_their_own_columns():
    found = experiment(eval_metrics=["RR(ranks='rows')", "Q(ranks='rows')@10"])
    given = frame("qrels", QRELS), {"first": frame("run", FIRST)}
    expected = ir_graded.evaluate(["RR", "Q@10"], *given, ranks="rows").mean().iloc[0]
    assert found.iloc[0][list(expected.index)].tolist() == pytest.approx(expected.tolist(), abs=1e-12)


@pytest.mark.slow
@by_document
@pytest.mark.filterwarnings("ignore:The run has no judged document on the topics of a batch")
@pytest.mark.parametrize("size", [None, 1, 2])
def test_an_experiment_gives_means_and_scores_with_any_batches(size, expected):
    assert_means(experiment(batch_size=size), expected)
    assert_topics(experiment(batch_size=size, perquery=True), expected)


@pytest.mark.parametrize("missing", [["start"], ["length"], ["start", "length"]], ids=",".join)
@pytest.mark.parametrize("measures", [["MAgP"], ["gP@10", "map"], [AP, gR @ 1]], ids=str)
def test_a_pipeline_without_passages_is_rejected(measures, missing):
    documents = pt_frame("run", FIRST).drop_duplicates(["qid", "docno"])
    without = pt.Transformer.from_df(documents.drop(columns=missing))
    options = {"eval_metrics": measures, "retr_systems": [without], "names": ["without"]}
    with pytest.raises(ValueError, match="|".join(missing)):
        experiment(**options)
    with pytest.warns(UserWarning, match="|".join(missing)), pytest.raises(ir_graded.InputError):
        experiment(**options | {"validate": "warn"})
    with pytest.raises(ir_graded.InputError, match=r"run.*start.*length"):
        experiment(**options | {"validate": "ignore"})


def test_a_pipeline_without_passages_is_accepted_for_documents(expected):
    rows = one_row_an_article("run", FIRST).rename(columns=RENAMED)
    without = [pt.Transformer.from_df(with_ranks(rows))]
    found = experiment(eval_metrics=["map", "Q"], retr_systems=without, names=["without"])
    for column in ("map", "Q"):
        mean = sum(expected["first", column, topic] for topic in "123") / 3
        assert found[column][0] == pytest.approx(mean, abs=1e-12)


def test_qrels_without_passages_are_rejected():
    qrels = one_row_an_article("qrels", QRELS).rename(columns=RENAMED)
    with pytest.raises(ir_graded.InputError, match=r"qrels.*start.*length"):
        pt.Experiment(pipelines(), TOPICS, qrels, eval_metrics=["MAgP"], validate="error")
