"""Empty runs and qrels score as in ir_measures, with and without the columns of passages."""

import ir_measures
import pandas as pd
import pytest
from ir_measures import AP

QRELS = pd.DataFrame({"query_id": ["1"], "doc_id": ["a"], "relevance": [1], "start": [0], "length": [9]})
RUN = pd.DataFrame({"query_id": ["1"], "doc_id": ["a"], "score": [1.0], "start": [0], "length": [9]})
MEASURES = ["MAgP", "gP@3", "gR@3"]


@pytest.mark.parametrize("measures", [MEASURES, [*MEASURES, AP]], ids=["ours", "mixed"])
@pytest.mark.parametrize(
    "make",
    [
        list, lambda: iter([]), dict, lambda: {"1": {}},
        lambda: pd.DataFrame(columns=["query_id", "doc_id", "score"]), lambda: RUN.iloc[:0],
    ],
)  # fmt: skip
def test_an_empty_run_scores_zero(make, measures):
    assert set(ir_measures.calc_aggregate(measures, QRELS, make()).values()) == {0.0}


@pytest.mark.parametrize("qrels", [[], {}, QRELS.iloc[:0]], ids=["list", "dict", "frame"])
def test_empty_qrels_have_no_topics(qrels):
    assert list(ir_measures.iter_calc(MEASURES, qrels, RUN)) == []
