"""Extreme scores, levels, cutoffs, starts and lengths give equal results in every form, or are rejected."""

from __future__ import annotations

import math

import helpers
import number_cases as cases
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from ir_measures import Qrel, ScoredDoc
from reference import ranked

import ir_graded
from ir_graded import InputError, ParameterError


def rows(values):
    """Return one topic with these levels or scores of documents a, b, c ..."""
    return [("1", chr(ord("a") + at), value) for at, value in enumerate(values)]


def frame(kind, values, dtype=None):
    table = helpers.frame(kind, rows(values), "object")
    return table.assign(
        **{helpers.VALUE[kind]: values if dtype is None else pd.Series(list(values), dtype=dtype)}
    )


def table(kind, values):
    return helpers.columns(kind, rows(values))


def dicts(kind, values, folder=None):  # noqa: ARG001
    return helpers.dicts(rows(values))


def tuples(kind, values, folder=None):  # noqa: ARG001
    return [{"qrels": Qrel, "run": ScoredDoc}[kind](*row) for row in rows(values)]


def file(kind, values, folder):
    path = folder / f"{kind}.txt"
    path.write_text(helpers.trec_lines(kind, rows(values)))
    return path


def parquet(kind, values, folder):
    pl.DataFrame(table(kind, values)).write_parquet(folder / f"{kind}.parquet")
    return folder / f"{kind}.parquet"


ANY_SIZE = {
    "dicts": dicts,
    "tuples": tuples,
    "file": file,
    "pandas of objects": lambda kind, values, _: frame(kind, values, "object"),
}
OF_64_BITS = {
    "pandas": lambda kind, values, _: frame(kind, values),
    "polars": lambda kind, values, _: pl.DataFrame(table(kind, values)),
    "arrow": lambda kind, values, _: pa.table(table(kind, values)),
    "parquet": parquet,
}
OF_INTS = {
    "pandas Int64": lambda kind, values, _: frame(kind, values, "Int64"),
    "pandas Arrow int64": lambda kind, values, _: frame(kind, values, "int64[pyarrow]"),
}
FORMS = ANY_SIZE | OF_64_BITS | OF_INTS


def forms_for(values):
    whole = all(isinstance(value, int) for value in values)
    fit = not whole or max(map(abs, values)) < 2**63
    return [*ANY_SIZE, *(OF_64_BITS if fit else ()), *(OF_INTS if fit and whole else ())]


#: Scores of documents a, b, ...; scores that are equal in single precision tie.
SCORES = [
    (2**53, 2**53 + 1),
    (2**53 + 1, 2**53, 2**53 + 2),
    (2**62 + 1, 2**62, -(2**62)),
    (2**70 + 1, 2**70),
    (1e308, -1e308, 1.7e308, 1e307),
    (-5e-324, 0.0, 5e-324, -0.0),
    (0.0, -0.0),
    (-0.0, 0.0),
    (1e-45, 1e-46, 2e-45),
    (3.4028235677973366e38, 3.4e38, math.inf, -math.inf),
    (0.1, 0.1 + 2**-56, 0.30000000000000004, 0.3),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize("values", SCORES, ids=str)
def test_scores_rank_equally_in_every_form(values, tmp_path):
    order = ranked.ranking(dicts("run", [float(value) for value in values])["1"])
    for doc in order:
        qrels = {"1": {doc: 1}}
        for form in forms_for(values):
            found = ir_graded.evaluate(
                ["RR", "Q(beta=0)"], qrels, FORMS[form]("run", values, tmp_path)
            ).values
            assert found.ravel().tolist() == [1 / (1 + order.index(doc))] * 2, (form, doc)


LEVELS = [(2**53, 2**53 + 1), (2**62, 2**62 + 1, 1), (2**62, 2**61), (1e100, 1e-100), (2**70, 2**69, 3)]


@pytest.mark.slow
@pytest.mark.parametrize("values", LEVELS, ids=str)
def test_levels_score_equally_in_every_form(values, tmp_path):
    run = dicts("run", [1.0, 3.0, 2.0][: len(values)])
    measures = [m @ 10 if "cutoff" in m.SUPPORTED_PARAMS else m for m in cases.VARIANTS.values()]
    expected = ir_graded.evaluate(measures, dicts("qrels", [float(value) for value in values]), run).values
    assert np.isfinite(expected).all()
    for form in forms_for(values):
        found = ir_graded.evaluate(measures, FORMS[form]("qrels", values, tmp_path), run).values
        assert np.array_equal(found, expected), form


def test_levels_that_are_equal_as_doubles_are_one():
    qrels = dicts("qrels", (2**53, 2**53 + 1))
    assert ir_graded.evaluate("P-measure", qrels, {"1": {"a": 2.0, "b": 1.0}}).values.item() == 1


@pytest.mark.filterwarnings("ignore::UserWarning")  # on intents
@pytest.mark.parametrize("measure", ["Q", "AP", "nDCG@10", "gP@10", "I-rec@10", "D-Q@10"])
def test_a_level_above_the_limit_is_rejected(measure):
    qrels = pd.DataFrame({"query_id": ["1", "2"], "doc_id": ["a", "b"], "relevance": [1e100, 1.1e100]})
    qrels = qrels.assign(iteration="i", start=0, length=5)
    run = qrels.drop(columns=["relevance", "iteration"]).assign(score=1.0)
    if measure != "gP@10":
        qrels, run = qrels.drop(columns=["start", "length"]), run.drop(columns=["start", "length"])
    assert np.isfinite(ir_graded.evaluate(measure, qrels[:1], run).values).all()
    with pytest.raises(
        InputError, match=r"topic '2', document 'b' has level 1.1e\+100, above 1e\+100, the highest"
    ):
        ir_graded.evaluate(measure, qrels, run)


@pytest.mark.parametrize("kind", ["qrels", "run"])
def test_a_number_beyond_doubles_is_rejected(kind):
    given = {"qrels": {"1": {"a": 1}}, "run": {"1": {"a": 1.0}}} | {kind: {"1": {"a": 10**400}}}
    with pytest.raises(InputError, match="'a'"):
        ir_graded.evaluate("Q", given["qrels"], given["run"])


# ------------------------------------------------------------------------------------------------ cutoffs


@pytest.mark.parametrize("cutoff", [2**31 - 1, 2**31, 2**32 + 1, 2**53 - 1, 2**63 - 1])
@pytest.mark.parametrize("measure", cases.CLASSICS_WITH_CUTOFF, ids=str)
def test_large_cutoffs_of_classics_are_computed(measure, cutoff):
    qrels, run = {"1": {"a": 1, "b": 0, "c": 2}}, {"1": {"x": 4.0, "a": 3.0, "b": 2.0}}
    expected = (
        1 / cutoff if measure.NAME == "P" else ir_graded.evaluate(measure @ 1000, qrels, run).values.item()
    )
    assert ir_graded.evaluate(measure @ cutoff, qrels, run).values.item() == pytest.approx(
        expected, rel=1e-15, abs=0
    )


@pytest.mark.parametrize("cutoff", [2**64, 10**30], ids=str)
@pytest.mark.parametrize("measure", cases.CLASSICS_WITH_CUTOFF, ids=str)
def test_cutoffs_that_no_provider_reads_are_rejected(measure, cutoff):
    with pytest.raises(ParameterError, match="cutoff"):
        ir_graded.evaluate(measure @ cutoff, {"1": {"a": 1}}, {"1": {"a": 1.0}})


# ----------------------------------------------------------------------------------------------- passages


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_sums_of_lengths_do_not_overflow():
    """2^15 articles of 2^49 positions each exceed 64 bits."""
    articles = 2**15
    docs = [f"d{n}" for n in range(articles)]
    qrels = pd.DataFrame({"query_id": "1", "doc_id": docs * 2, "relevance": 1, "length": 2**48})
    qrels["start"] = np.repeat([0, 2**48], articles)
    run = qrels.iloc[: articles // 2].drop(columns="relevance").assign(score=1.0)
    scores = ir_graded.evaluate([ir_graded.gP @ articles, ir_graded.MAgP], qrels, run)
    assert scores.values.ravel().tolist() == [pytest.approx(1 / 3, rel=1e-15)] * 2
