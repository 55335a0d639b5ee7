"""Qrels and runs of every form give equal numbers, to the last bit, and are not modified."""

import copy
import math
from fractions import Fraction
from functools import partial

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from ir_measures import AP, RR, Judged, NumRet, P, nDCG
from ir_measures.providers import Evaluator, registry
from ir_measures.util import Metric
from reference import ranked

import ir_graded
from ecosystem import forms
from ecosystem.processes import python
from ir_graded.evaluation.provider import MetricWithResidual
from ir_graded.measures.parsing import parse

ALL = forms.measures_of_registry()
# Three providers of ir-measures: pytrec_eval, judged, msmarco.
THEIRS = [AP, nDCG @ 10, P @ 5, Judged @ 10, RR @ 10]
SOME = [ir_graded.Q, ir_graded.P_measure @ 1000, ir_graded.NCU(stop="rb"), ir_graded.nERR @ 3, ir_graded.GAP]

TABLES = [("qrels", forms.QRELS), ("run", forms.RUN)]
TEXT = forms.UPSTREAM | forms.OURS
DTYPES = ["int64", "int8", "Int64", "float64", "Float64", "object", pd.ArrowDtype(pa.int64())]
ITERATORS = {"generator", "itertuples"}
AT_A_PLACE = {
    "path", "name of a file", "compressed file", "dataset", "dataset id", "CSV", "TSV of BEIR", "JSON",
}  # fmt: skip
INTS = forms.UPSTREAM_INTS | forms.OUR_INTS


@pytest.fixture(scope="module")
def expected():
    """Return the values of a dict of dicts by each measure of the package."""
    return forms.results(ALL, forms.dicts("qrels", forms.QRELS), forms.dicts("run", forms.RUN))


@pytest.fixture(scope="module")
def expected_mixed():
    """Return the values of a dict of dicts by topic, in one call with measures of ir-measures."""
    return forms.results(SOME + THEIRS, forms.dicts("qrels", forms.QRELS), forms.dicts("run", forms.RUN))[0]


def test_the_data_tell_measures_apart(expected):
    values, means = expected
    assert len(means) == len(set(map(str, ALL)))
    assert len({round(mean, 9) for mean in means.values()}) > len(means) / 2
    assert {topic for _, topic in values} == {"101", "102", "103", "104", "105"}
    assert values["Q", "105"] == values["Q", "103"] == 0
    assert 0 < values["Q", "101"] < 1


@pytest.mark.parametrize("name", ["Q", "P-measure", "P+", "NCU(stop='rb')", "nERR@3", "GAP", "AWP@3"])
def test_dicts_give_the_values_of_the_formulas(expected, name):
    measure = parse(name)
    qrels, run = forms.dicts("qrels", forms.QRELS), forms.dicts("run", forms.RUN)
    plain = ranked.evaluate(measure.NAME, dict(measure.params), qrels, run)
    assert plain.keys() == qrels.keys()
    for topic, value in plain.items():
        assert expected[0][str(measure), topic] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_integer_scores_give_equal_results(dtype):
    rows = [(topic, doc, int(score * 4)) for topic, doc, score in forms.RUN]
    qrels = forms.dicts("qrels", forms.QRELS)
    plain, run = forms.dicts("run", rows), forms.pandas(values=dtype)("run", rows)
    assert forms.results(ALL, qrels, run) == forms.results(ALL, qrels, plain)
    assert mixed(qrels, run) == mixed(qrels, plain)


def mixed(qrels, run):
    return forms.results(SOME + THEIRS, qrels, run)[0]


@pytest.mark.slow
@pytest.mark.parametrize("form", TEXT)
def test_qrels_and_runs_of_any_form_give_equal_scores(expected, expected_mixed, form, tmp_path):
    def made():
        return [TEXT[form](kind, rows, tmp_path) for kind, rows in TABLES]

    plain = [forms.dicts(kind, rows) for kind, rows in TABLES]
    for calculated, values in ((partial(forms.results, ALL), expected), (mixed, expected_mixed)):
        assert calculated(*made()) == values
        assert calculated(made()[0], plain[1]) == values
        assert calculated(plain[0], made()[1]) == values


@pytest.mark.parametrize("dtype", DTYPES)
def test_levels_of_any_dtype_give_equal_scores(expected, expected_mixed, dtype):
    qrels, run = forms.pandas(values=dtype)("qrels", forms.QRELS), forms.dicts("run", forms.RUN)
    assert forms.results(ALL, qrels, run) == expected
    assert mixed(qrels, run) == expected_mixed


def int_ids(form):
    qrels, run = (form(kind, forms.with_int_ids(rows)) for kind, rows in TABLES)
    yield qrels, run
    qrels, run = (form(kind, forms.with_int_ids(rows)) for kind, rows in TABLES)
    yield qrels, forms.dicts("run", forms.RUN)
    yield forms.dicts("qrels", forms.QRELS), run


@pytest.mark.slow
@pytest.mark.parametrize("form", INTS)
def test_int_ids_match(expected, expected_mixed, form):
    for qrels, run in int_ids(INTS[form]):
        assert forms.results(ALL, qrels, run) == expected
    for qrels, run in int_ids(INTS[form]):
        assert mixed(qrels, run) == expected_mixed


@pytest.mark.parametrize("form", INTS)
def test_metrics_of_a_mixed_call_carry_the_int_ids_of_the_qrels(form):
    # ir-measures itself computes RR@10 and Judged@10 for ids that are ints.
    qrels = INTS[form]("qrels", forms.with_int_ids(forms.QRELS))
    run = INTS[form]("run", forms.with_int_ids(forms.RUN))
    metrics = list(ir_measures.iter_calc(["Q", RR @ 10, Judged @ 10], qrels, run))
    topics = {101, 102, 103, 104, 105}
    assert {(str(metric.measure), metric.query_id) for metric in metrics} == {
        (name, topic) for name in ("Q", "RR@10", "Judged@10") for topic in topics
    }
    assert len(metrics) == 3 * len(topics)
    values = {(str(metric.measure), metric.query_id): metric.value for metric in metrics}
    assert values["RR@10", 102] == 1
    assert values["Judged@10", 104] == 1


class Plain:
    """A row with the right fields that is not a named tuple."""

    def __init__(self, query_id, doc_id, value):
        self.query_id, self.doc_id, self.score, self.relevance = query_id, doc_id, value, value


def test_rows_that_are_not_tuples_are_never_scored_in_part(expected_mixed):
    """ir-measures reads named tuples only: in a mixed call, both sides get the rows, or neither."""
    qrels, run = forms.dicts("qrels", forms.QRELS), [Plain(*row) for row in forms.RUN]
    try:
        seen = mixed(qrels, run)
    except ValueError:
        return
    assert seen == expected_mixed


# --------------------------------------------------------------------------------------------- levels


def floats(rows):
    return [(topic, doc, float(level)) for topic, doc, level in rows]


@pytest.mark.parametrize("form", [name for name in TEXT if "dataset" not in name])
def test_whole_levels_may_be_floats(expected, expected_mixed, form, tmp_path):
    run = forms.dicts("run", forms.RUN)
    assert forms.results(ALL, TEXT[form]("qrels", floats(forms.QRELS), tmp_path), run) == expected
    assert mixed(TEXT[form]("qrels", floats(forms.QRELS), tmp_path), run) == expected_mixed


@pytest.mark.parametrize("number", [np.float64, np.float32, np.int64, np.uint8, Fraction])
def test_levels_may_be_any_number(number):
    rows = [(topic, doc, level) for topic, doc, level in forms.QRELS if level >= 0]
    numbers = [(topic, doc, number(level)) for topic, doc, level in rows]
    run = forms.dicts("run", forms.RUN)
    for form in (forms.dicts, forms.tuples, forms.pandas(values="object")):
        assert mixed(form("qrels", numbers), run) == mixed(forms.dicts("qrels", rows), run)


FRACTIONAL = [(topic, doc, level + 0.5 if level > 1 else level) for topic, doc, level in forms.QRELS]


@pytest.mark.parametrize("form", [name for name in TEXT if "dataset" not in name])
def test_fractional_levels_are_scored_by_this_package(form, tmp_path):
    run = forms.dicts("run", forms.RUN)
    expected = forms.results(ALL, forms.dicts("qrels", FRACTIONAL), run)
    assert expected != forms.results(ALL, forms.dicts("qrels", forms.QRELS), run)
    assert forms.results(ALL, TEXT[form]("qrels", FRACTIONAL, tmp_path), run) == expected


def test_fractional_levels_are_used_unchanged_and_can_be_keys_of_gains():
    qrels, run = {"1": {"a": 1.5, "b": 0.5}}, {"1": {"x": 3.0, "a": 2.0, "b": 1.0}}
    by_name = ir_measures.calc_aggregate(["Q", "Q(rel=0.5)", "Q(gains={1.5:3})"], qrels, run)
    values = {str(measure): value for measure, value in by_name.items()}
    assert values["Q"] == pytest.approx((1 + 1.5) / (2 + 1.5), abs=1e-12)
    assert values["Q(rel=0.5)"] == pytest.approx((2.5 / 4 + 4 / 5) / 2, abs=1e-12)
    assert values["Q(gains={1.5:3})"] == pytest.approx((1 + 3) / (2 + 3), abs=1e-12)


@pytest.mark.slow
def test_levels_below_minus_one_are_scored_in_a_mixed_call():
    """TREC qrels contain -2; pytrec_eval 0.5.11 ends the process if a topic has no other level."""
    output = python(
        """
        import ir_graded, ir_measures
        qrels, run = {"1": {"a": -2, "c": -3}, "2": {"b": 3}}, {"1": {"a": 1.0}, "2": {"x": 2.0, "b": 1.0}}
        measures = ["Q", "AP", "nDCG@10", "Judged@10"]
        print(ir_measures.calc_aggregate(measures, qrels, run)[ir_measures.AP])
        print(ir_graded.evaluate(measures, qrels, run).values[:, 0, 0].tolist())
        """
    )
    assert output.splitlines() == ["0.25", "[0.0, 0.0, 0.0, 1.0]"]


# ------------------------------------------------------------------------------- the caller's objects


def snapshot(table):
    """Return an object that stays equal while the table is unchanged, dtypes and index included."""
    if isinstance(table, pd.DataFrame):
        return (
            table.copy(deep=True),
            table.dtypes.to_dict(),
            [list(map(repr, column)) for _, column in table.items()],
        )
    if isinstance(table, pl.DataFrame):
        return table.schema, table.rows()
    if isinstance(table, pa.Table):
        return table.schema, table.to_pylist(), [table[name].num_chunks for name in table.column_names]
    return copy.deepcopy(table), repr(table)


def same(before, after):
    if isinstance(before[0], pd.DataFrame):
        pd.testing.assert_frame_equal(before[0], after[0])
    else:
        assert before[0] == after[0]
    assert before[1:] == after[1:]


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize("measures", [["Q", "nERR@3"], ["Q", AP, RR @ 10]], ids=["ours", "mixed"])
@pytest.mark.parametrize("form", [name for name in TEXT if name not in ITERATORS | AT_A_PLACE])
def test_the_input_objects_are_not_modified(form, measures):
    # Whole levels as floats must be converted for other providers.
    qrels, run = TEXT[form]("qrels", floats(forms.QRELS)), TEXT[form]("run", forms.RUN)
    before = snapshot(qrels), snapshot(run)
    evaluator = ir_measures.evaluator(measures, qrels)
    first = evaluator.calc(run)
    assert evaluator.calc(run) == first
    ir_graded.evaluate(measures, qrels, run)
    same(before[0], snapshot(qrels))
    same(before[1], snapshot(run))


class Once:
    """An iterator that counts the items taken from it."""

    def __init__(self, rows):
        self.rows, self.taken = iter(rows), 0

    def __iter__(self):
        return self

    def __next__(self):
        row = next(self.rows)
        self.taken += 1
        return row


@pytest.mark.parametrize("measures", [SOME, SOME + THEIRS], ids=["ours", "mixed"])
def test_an_iterator_is_consumed_once(measures):
    qrels, run = Once(forms.tuples("qrels", forms.QRELS)), Once(forms.tuples("run", forms.RUN))
    assert (
        forms.results(measures, qrels, run)[0]
        == forms.results(measures, forms.dicts("qrels", forms.QRELS), forms.dicts("run", forms.RUN))[0]
    )
    assert (qrels.taken, run.taken) == (len(forms.QRELS), len(forms.RUN))


@pytest.mark.parametrize("measures", [SOME, SOME + THEIRS], ids=["ours", "mixed"])
def test_an_evaluator_made_from_a_generator_scores_many_runs(measures):
    evaluator = ir_measures.evaluator(measures, forms.generator("qrels", forms.QRELS))
    first = evaluator.calc(forms.generator("run", forms.RUN))
    assert evaluator.calc(forms.generator("run", forms.RUN)) == first
    assert first.per_query


def test_calc_returns_the_metrics_one_by_one_and_the_aggregates_of_ir_measures():
    qrels, run = forms.dicts("qrels", forms.QRELS), forms.dicts("run", forms.RUN)
    for measure in (*SOME, *THEIRS, NumRet, ir_graded.gRBP(max_rel=3, residual=True) @ 5):
        evaluator = registry["ir_graded"].evaluator([measure], qrels)
        found, expected = evaluator.calc(run), Evaluator.calc(evaluator, run)
        assert (found.aggregated, list(found.per_query)) == (expected.aggregated, list(expected.per_query))
        assert [*map(type, found.per_query)] == [*map(type, expected.per_query)]
        with_residual = Metric if "residual" not in str(measure) else MetricWithResidual
        assert {*map(type, found.per_query)} == {with_residual}


# ---------------------------------------------------------------------------------- random qrels, runs

IDS = st.sampled_from(["1", "10", "2", "A", "a", "é", "z-9", "𝄞", "_"])
SCORES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 1.00000001, 2.5, -3.0, 1e300, -1e300, math.inf, -math.inf]),
    st.floats(allow_nan=False, width=64),
)


def tables(values):
    return st.dictionaries(st.tuples(IDS, IDS), values, max_size=25).map(
        lambda table: [(topic, doc, value) for (topic, doc), value in table.items()]
    )


@pytest.mark.slow
@given(qrels=tables(st.integers(-2, 4)), run=tables(SCORES))
def test_all_forms_agree_on_random_tables(qrels, run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("random")
    expected = forms.results(SOME, forms.dicts("qrels", qrels), forms.dicts("run", run))
    for form in ("tuples", "generator", "pandas in disorder", "arrow in chunks", "path"):
        made = (TEXT[form](kind, rows, folder) for kind, rows in (("qrels", qrels), ("run", run)))
        values, means = forms.results(SOME, *made)
        assert values == expected[0], form
        # Compare as text, so that NaN (the mean over no topics) equals NaN.
        assert repr(means) == repr(expected[1]), form


@pytest.mark.filterwarnings("ignore:The run has scores that are equal as float32:ir_graded.CoverageWarning")
@given(qrels=tables(st.integers(-1, 4)), run=tables(SCORES))
def test_q_without_gain_is_average_precision_on_random_tables(qrels, run):
    # No level is below -1: pytrec_eval 0.5.11 may end the process if a topic has no other level.
    qrels, run = forms.dicts("qrels", qrels), forms.dicts("run", run)
    values = forms.results(["Q(beta=0)", "Q(beta=0)@3", "O(beta=0)", AP, AP @ 3, RR], qrels, run)[0]
    for topic in qrels:
        assert values["Q(beta=0)", topic] == pytest.approx(values["AP", topic], abs=1e-12)
        assert values["Q(beta=0)@3", topic] == pytest.approx(values["AP@3", topic], abs=1e-12)
        assert values["O-measure(beta=0)", topic] == pytest.approx(values["RR", topic], abs=1e-12)
