"""On Spark, every measure of the registry gives exactly the values of one machine."""

import warnings

import numpy as np
import pandas as pd
import pytest
from contracts import contract_cases
from contracts.contract_cases import ALL, OF_ROWS, WITH_COLUMNS

import ir_graded
from ir_graded.core.facets import STRATUM_OR_ITERATION
from ir_graded.errors import ParameterError
from ir_graded.measures.classic import scorer_of
from spark.spark_cases import complete, expected_table

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.slow]

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'ir-graded[spark]'")
from ir_graded.spark import evaluate  # noqa: E402

COLUMNS = {**WITH_COLUMNS, **OF_ROWS}
TOKENS = [ir_graded.CharP(budget=40, unit="tokens"), ir_graded.NuggetR(budget=60, unit="tokens", fit="drop")]
#: Every measure of the registry; those with columns with several parameters.
MEASURES = list(dict.fromkeys([*(m for one in ALL for m in COLUMNS.get(one.NAME, [complete(one)])), *TOKENS]))
IN_ORDER = [measure for measure in MEASURES if scorer_of(measure).NEEDS_QRELS_ORDER]


def kind_of(measure):
    """Return which qrels a measure takes."""
    if STRATUM_OR_ITERATION in scorer_of(measure).USES:
        return "strata"
    return "columns" if scorer_of(measure).needs else "documents"


def tables(kind):
    """Return qrels and three runs with all columns that the measures of a kind need; scores tie."""
    several = [one for one in contract_cases.COLLECTIONS if one.scale == "graded"][:3]
    rng = np.random.default_rng(7)
    found = [contract_cases.passage_tables(several[0].qrels, one.run) for one in several]
    qrels, runs = found[0][0], {f"run{at}": run for at, (_, run) in enumerate(found)}
    if kind == "columns":
        # Many intents with probabilities whose sum depends on the order of rounding.
        parts = [qrels.assign(iteration=f"{n} " + qrels["iteration"]).sample(frac=0.7, random_state=n)
                 for n in range(4)]  # fmt: skip
        qrels = pd.concat([qrels, *parts], ignore_index=True)
        intents = pd.Index(qrels["iteration"].unique())
        shares = pd.Series(rng.dirichlet(np.ones(len(intents))) * 0.99, intents)
        qrels["probability"] = qrels["iteration"].map(shares)
        qrels["importance"] = qrels["importance"].replace(2, "okay")  # a column of Spark has one type
        runs = {name: run.assign(tokens=rng.integers(1, 30, len(run))) for name, run in runs.items()}
        return qrels, runs
    ids = ["query_id", "doc_id"]
    runs = {n: run[[*ids, "score"]].assign(position=rng.permutation(len(run))) for n, run in runs.items()}
    qrels = qrels[[*ids, "relevance"]].drop_duplicates(ids)
    if kind == "strata":
        qrels["stratum"] = rng.choice(["a", "b", "c"], len(qrels))
    return qrels, runs


@pytest.fixture(scope="module")
def scored(spark, tmp_path_factory):
    """Return the scores by measure, then by run and topic: on Spark, and on one machine."""
    found, expected = {True: {}, False: {}}, {}
    for kind in ("documents", "columns", "strata"):
        measures = [m for m in MEASURES if kind_of(m) == kind and m not in IN_ORDER]
        qrels, runs = tables(kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            add(expected, expected_table(ir_graded.evaluate(measures, qrels, runs)).items())
        folder = tmp_path_factory.mktemp(kind)
        qrels.sample(frac=1, random_state=3).to_parquet(folder / "qrels.parquet")
        pd.concat([run.assign(run=name) for name, run in runs.items()]).to_parquet(folder / "run.parquet")
        given = [folder / f"{name}.parquet" for name in ("qrels", "run")]
        for broadcast in (True, False):
            scores = evaluate(measures, *given, spark=spark, broadcast=broadcast, longest_topic=9)
            rows = scores.collect()
            add(found[broadcast], (((row.run, row.query_id, row.measure), row.value) for row in rows))
    return found, expected


def add(by_measure, scores):
    """Add scores by run, topic and measure to those of each measure."""
    for (run, topic, measure), value in scores:
        of_measure = by_measure.setdefault(measure, {})
        assert (run, topic) not in of_measure
        of_measure[run, topic] = value


@pytest.mark.parametrize("broadcast", [True, False])
@pytest.mark.parametrize("measure", [m for m in MEASURES if m not in IN_ORDER], ids=str)
def test_every_measure_equals_that_of_one_machine(scored, measure, broadcast):
    found, expected = (one[str(measure)] for one in (scored[0][broadcast], scored[1]))
    assert len(expected) == 3 * len(contract_cases.TOPICS)
    assert found == expected


@pytest.mark.parametrize("measure", IN_ORDER, ids=str)
def test_measures_of_the_order_of_the_qrels_are_rejected(measure):
    with pytest.raises(ParameterError, match="depends on the order of the rows of the qrels"):
        evaluate(measure, None, None)
