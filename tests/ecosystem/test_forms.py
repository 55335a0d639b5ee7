"""Qrels and runs of every form give the result of dicts of dicts in each public function, to the last bit."""

import copy
import math
import re
from contextlib import suppress
from fractions import Fraction
from functools import cache
from itertools import product, starmap
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import rows_of, run_command
from hypothesis import given, strategies as st
from ir_measures import AP, RR, Judged, NumRet, P, nDCG
from ir_measures.providers import Evaluator, registry
from ir_measures.util import Metric
from reference import ranked

import ir_graded
from ecosystem import forms
from ecosystem.processes import python
from ir_graded import compare_judgments, evaluate_collections, score_intervals
from ir_graded.evaluation.provider import MetricWithResidual
from ir_graded.measures.parsing import parse

# Topic 105 is missing on purpose, and some forms say that they are ranked by position.
pytestmark = pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")

MEASURES = forms.measures_of_registry()
# Three providers of ir-measures: pytrec_eval, judged, msmarco.
THEIRS = [AP, nDCG @ 10, P @ 5, Judged @ 10, RR @ 10]
SOME = [ir_graded.Q, ir_graded.P_measure @ 1000, ir_graded.NCU(stop="rb"), ir_graded.nERR @ 3, ir_graded.GAP]
QRELS, RUN = forms.dicts("qrels", forms.QRELS), forms.dicts("run", forms.RUN)
OTHER = {topic: {doc: float(level) for doc, level in docs.items()} for topic, docs in QRELS.items()}


# ------------------------------------------------------------------------------------------ the table


def cells(table):
    """Return the cells of a frame, or of a result that has one, by row in any order, ids as text."""
    frame = table if isinstance(table, pd.DataFrame) else table.to_frame()
    frame = frame if isinstance(frame.index, pd.RangeIndex) else frame.reset_index()
    return sorted(tuple(map(forms.text, row)) for row in frame.itertuples(index=False, name=None))


def page(qrels, run):
    """Return the lines of a report, without the call and the signature."""
    ir_graded.report(["Q", "AP"], qrels, {"run": run, "other": OTHER}, "page.html")
    lines = Path("page.html").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not re.search("ir_graded|application/zlib", line)]


@cache
def saved():
    return ir_graded.evaluate(["Q", "AP"], QRELS, {"run": RUN})


def evaluated(qrels, run):
    """Return scores, coverage and order of runs, one of which is given twice, and the scores of one run."""
    scores = ir_graded.evaluate(["Q", "nERR@3", AP], qrels, {"other": OTHER, "run": run})
    return scores.runs, cells(scores), cells(scores.coverage)


_provider = registry["ir_graded"]
#: Functions that take qrels and a run, and what they return in a form that can be compared.
FUNCTIONS = {
    "evaluate": evaluated,
    "calc": lambda q, r: forms.results(SOME, q, r),
    "mixed calc": lambda q, r: forms.results(SOME + THEIRS, q, r),
    "provider": lambda q, r: sorted(
        (str(m), v, forms.text(t)) for t, m, v in _provider.iter_calc(SOME, q, r)
    ),
    "order": lambda q, r: [*map(forms.text, ir_graded.evaluate("Q", q, r).query_ids)],
    "evaluator": lambda q, r: str(ir_measures.evaluator(["Q", AP], q).calc_aggregate(r)),
    "signature": lambda q, r: str(ir_graded.evaluate("Q", q, {"run": r}).signature),
    "evaluate_collections": lambda q, r: cells(evaluate_collections("Q", {"a": (q, {"run": r})})["a"]),
    "explain": lambda q, r: cells(ir_graded.explain("Q", q, r, "101")),
    "explain against": lambda q, r: cells(ir_graded.explain("Q", q, OTHER, "101", against={"b": r})),
    "compare_rankings": lambda q, r: cells(ir_graded.compare_rankings("Q", q, {"a": r}, {"b": OTHER}, "101")),
    "compare_runs": lambda q, r: cells(ir_graded.compare_runs("Q", q, {"b": OTHER}, {"a": r})),
    "ties": lambda q, r: cells(ir_graded.ties(["Q", "AP"], q, {"run": r})),
    "unjudged": lambda q, r: cells(ir_graded.unjudged(q, {"run": r})),
    "score_bounds": lambda q, r: cells(ir_graded.score_bounds("gRBP(max_rel=3)", q, {"run": r})),
    "score_intervals": lambda q, r: cells(score_intervals("AP", q, {"run": r}, n_samples=9, depth=5)),
    "collection_statistics": lambda q, r: cells(ir_graded.collection_statistics(q, {"run": r})),
    "compare_judgments": lambda q, r: cells(
        compare_judgments({"a": q}, {"b": QRELS}, "Q", {"a": r, "b": OTHER}, n_resamples=99).agreement
    ),
    "combine_judgments": lambda q, _: cells(ir_graded.combine_judgments({"a": q, "b": QRELS})),
    "pool": lambda _, r: cells(ir_graded.pool({"a": r, "b": OTHER}, 2)),
    "pool of unjudged": lambda q, r: cells(ir_graded.pool({"a": r, "b": OTHER}, 2, judged=q)),
    "rbo": lambda _, r: cells(ir_graded.rbo(r, RUN)),
    "rbo_matrix": lambda _, r: cells(ir_graded.rbo_matrix({"a": r, "b": RUN})),
    "report": page,
    "verify": lambda q, r: cells(ir_graded.verify(saved(), q, {"run": r})),
    "read_qrels": lambda q, _: cells(ir_graded.read_qrels(q)),
    "read_run": lambda _, r: cells(ir_graded.read_run(r)),
    "every measure": lambda q, r: forms.results(MEASURES, q, r),
}
#: Functions for each form in every run of the tests; some of the others follow in turn.
ALWAYS = ["evaluate", "read_qrels", "read_run"]


def given_as(form, kinds, rows, folder):
    """Return qrels and run of a form as far as it can be these, and equal dicts."""
    held = {kind: form.holds(kind, rows[kind]) if kind in kinds else rows[kind] for kind in rows}
    plain = {kind: forms.dicts(kind, held[kind]) for kind in rows}
    return {**plain, **{kind: form.make(kind, held[kind], folder) for kind in kinds}}, plain


def expected(name, plain, known={}):  # noqa: B006  (kept for the next form)
    """Return the result of a function for dicts; functions that read a source take frames instead."""
    key = name, repr(plain)
    if key not in known:
        given = plain
        if name.startswith("read_"):
            given = {kind: forms.pandas()(kind, rows_of(table)) for kind, table in plain.items()}
        known[key] = FUNCTIONS[name](*given.values())
    return known[key]


def check(form, names, folder, rows=forms.ROWS, whole=True):
    """Check the results of functions for a form; of ``evaluate`` for it on either side, or also on both."""
    for name in names:
        alone = [(kind,) for kind in form.kinds] if name == "evaluate" else []
        for kinds in {*alone, *([form.kinds] if whole or not alone else [])}:
            if name in form.unlike or (name.startswith("read_") and name.removeprefix("read_") not in kinds):
                continue
            made, plain = given_as(form, kinds, rows, folder)
            assert FUNCTIONS[name](*made.values()) == expected(name, plain), (name, kinds)


def at_night(names):
    """Mark the types of columns as slow."""
    return [pytest.param(name, marks=pytest.mark.slow if name in forms.TYPES else ()) for name in names]


@pytest.mark.every
@pytest.mark.parametrize("form", forms.FORMS)
def test_functions_take_every_form(form, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    at = [*forms.FORMS].index(form)
    others = [name for name in FUNCTIONS if name not in (*ALWAYS, "every measure")]
    check(forms.FORMS[form], [*ALWAYS, *others[at % 11 :: 11]], tmp_path, whole=False)


@pytest.mark.slow
@pytest.mark.parametrize("form", forms.ALL)
def test_all_functions_take_every_form(form, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = FUNCTIONS if form in forms.FORMS else [*ALWAYS, "mixed calc", "signature", "every measure"]
    check(forms.ALL[form], names, tmp_path)


@pytest.mark.every
@pytest.mark.parametrize("form", forms.TYPES)
def test_columns_of_any_type_are_read(form, tmp_path):
    check(forms.TYPES[form], ["read_qrels", "read_run"], tmp_path)


@pytest.mark.parametrize("ids", forms.IDS, ids=lambda ids: ids.__name__)
@pytest.mark.parametrize("form", forms.OBJECTS)
def test_ids_of_any_type_are_their_text(form, ids, tmp_path):
    check(forms.Form(forms.numbered(ids, forms.FORMS[form].make)), ["evaluate", "mixed calc"], tmp_path)


#: Commands with the words that stand for files.
COMMANDS = [
    "evaluate QRELS run=RUN -m Q -m AP",
    "explain Q QRELS run=RUN 101",
    "statistics QRELS run=RUN",
    "pool run=RUN --depth 2 --judged QRELS --csv",
    "rbo run=RUN other=OTHER",
    "judgments QRELS LEVELS -o csv",
    "compare QRELS other=OTHER run=RUN -m Q",
]


@pytest.mark.every
@pytest.mark.parametrize("form", [name for name, one in forms.FORMS.items() if one.place.startswith(",")])
def test_commands_take_every_file(form, tmp_path, capsys):
    at = [*forms.FORMS].index(form)
    others = {"OTHER": ("run", rows_of(OTHER)), "LEVELS": ("qrels", forms.QRELS)}
    files = {word: forms.path(*given, tmp_path) for word, given in others.items()}
    of_form = forms.FORMS[form]
    command, found = COMMANDS[at % len(COMMANDS)], []
    for make in (of_form.make, forms.path):
        held = {k: of_form.holds(k, rows) if k in of_form.kinds else rows for k, rows in forms.ROWS.items()}
        for kind, rows in held.items():
            files[kind.upper()] = (make if kind in of_form.kinds else forms.path)(kind, rows, tmp_path)
        words = re.sub("QRELS|RUN|OTHER|LEVELS", lambda word: str(files[word[0]]), command).split()
        code, out, err = run_command(capsys, *words)
        assert code == 0, err
        found.append(re.sub(r"qrels-\d+\.\w+", "", out))
    assert found[0] == found[1], command


def test_the_data_tell_measures_apart():
    values, means = forms.results(MEASURES, QRELS, RUN)
    assert len(means) == len(set(map(str, MEASURES)))
    assert len({round(mean, 9) for mean in means.values()}) > len(means) / 2
    assert {topic for _, topic in values} == {"101", "102", "103", "104", "105"}
    assert values["Q", "105"] == values["Q", "103"] == 0
    assert 0 < values["Q", "101"] < 1


@pytest.mark.parametrize("name", ["Q", "P-measure", "P+", "NCU(stop='rb')", "nERR@3", "GAP", "AWP@3"])
def test_dicts_give_the_values_of_the_formulas(name):
    measure = parse(name)
    found = forms.results([measure], QRELS, RUN)[0]
    plain = ranked.evaluate(measure.NAME, dict(measure.params), QRELS, RUN)
    assert plain.keys() == QRELS.keys()
    for topic, value in plain.items():
        assert found[str(measure), topic] == pytest.approx(value, abs=1e-12)


@pytest.mark.every
@pytest.mark.parametrize("form", [name for name in forms.OBJECTS if name != "pandas"])
def test_metrics_of_a_mixed_call_carry_the_int_ids_of_the_qrels(form):
    # ir-measures itself computes RR@10 and Judged@10 for ids that are ints.
    make = forms.numbered(int, forms.FORMS[form].make)
    metrics = list(ir_measures.iter_calc(["Q", RR @ 10, Judged @ 10], *starmap(make, forms.ROWS.items())))
    values = {(str(metric.measure), metric.query_id): metric.value for metric in metrics}
    assert values.keys() == {*product(("Q", "RR@10", "Judged@10"), (101, 102, 103, 104, 105))}
    assert len(metrics) == len(values)
    assert values["RR@10", 102] == values["Judged@10", 104] == 1


class Plain:
    """A row with the right fields that is not a named tuple."""

    def __init__(self, query_id, doc_id, value):
        self.query_id, self.doc_id, self.score, self.relevance = query_id, doc_id, value, value


def test_rows_that_are_not_tuples_are_never_scored_in_part():
    """ir-measures reads named tuples only: in a mixed call, both sides get the rows, or neither."""
    with suppress(ValueError):
        seen = FUNCTIONS["mixed calc"](QRELS, [Plain(*row) for row in forms.RUN])
        assert seen == FUNCTIONS["mixed calc"](QRELS, RUN)


# --------------------------------------------------------------------------------------------- levels

FLOATS = [(topic, doc, float(level)) for topic, doc, level in forms.QRELS]
FRACTIONS = [(topic, doc, level + 0.5 if level > 1 else level) for topic, doc, level in forms.QRELS]


@pytest.mark.slow
@pytest.mark.parametrize("form", forms.ALL)
def test_whole_levels_may_be_floats(form, tmp_path):
    check(forms.ALL[form], ["mixed calc"], tmp_path, forms.ROWS | {"qrels": FLOATS})


@pytest.mark.every
@pytest.mark.parametrize("form", at_night(forms.ALL))
def test_fractional_levels_are_scored_by_this_package(form, tmp_path):
    check(forms.ALL[form], ["calc"], tmp_path, forms.ROWS | {"qrels": FRACTIONS})


@pytest.mark.parametrize("number", [np.float64, np.float32, np.int64, np.uint8, Fraction])
def test_levels_may_be_any_number(number):
    rows = [(topic, doc, level) for topic, doc, level in forms.QRELS if level >= 0]
    numbers = [(topic, doc, number(level)) for topic, doc, level in rows]
    expected = FUNCTIONS["mixed calc"](forms.dicts("qrels", rows), RUN)
    for form in (forms.dicts, forms.tuples, forms.pandas(values="object")):
        assert FUNCTIONS["mixed calc"](form("qrels", numbers), RUN) == expected


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


#: Forms that are objects that can be read again and compared.
KEPT = [n for n, one in forms.ALL.items() if one.cells in ("any", "typed") and "signature" not in one.unlike]


@pytest.mark.every
@pytest.mark.parametrize("form", at_night([name for name in KEPT if name not in ("ranx", "Parquet")]))
def test_the_input_objects_are_not_modified(form, tmp_path):
    # Whole levels as floats must be converted for other providers.
    made, _ = given_as(forms.ALL[form], forms.ALL[form].kinds, forms.ROWS | {"qrels": FLOATS}, tmp_path)
    before = [*map(snapshot, made.values())]
    for measures in (["Q", "nERR@3"], ["Q", AP, RR @ 10]):
        evaluator = ir_measures.evaluator(measures, made["qrels"])
        first = evaluator.calc(made["run"])
        assert evaluator.calc(made["run"]) == first
        ir_graded.evaluate(measures, *made.values())
    for one, table in zip(before, made.values(), strict=True):
        same(one, snapshot(table))


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


@pytest.mark.parametrize("function", ["calc", "mixed calc"])
def test_an_iterator_is_consumed_once(function):
    qrels, run = (Once(forms.tuples(kind, rows)) for kind, rows in forms.ROWS.items())
    assert FUNCTIONS[function](qrels, run) == FUNCTIONS[function](QRELS, RUN)
    assert (qrels.taken, run.taken) == (len(forms.QRELS), len(forms.RUN))


@pytest.mark.parametrize("measures", [SOME, SOME + THEIRS], ids=["ours", "mixed"])
def test_an_evaluator_made_from_a_generator_scores_many_runs(measures):
    evaluator = ir_measures.evaluator(measures, forms.generator("qrels", forms.QRELS))
    first = evaluator.calc(forms.generator("run", forms.RUN))
    assert evaluator.calc(forms.generator("run", forms.RUN)) == first
    assert first.per_query


def test_calc_returns_the_metrics_one_by_one_and_the_aggregates_of_ir_measures():
    qrels, run = QRELS, RUN
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


def random_rows(values):
    return st.dictionaries(st.tuples(IDS, IDS), values, max_size=25).map(
        lambda table: [(topic, doc, value) for (topic, doc), value in table.items()]
    )


@pytest.mark.slow
@given(qrels=random_rows(st.integers(-2, 4)), run=random_rows(SCORES))
def test_all_forms_agree_on_random_tables(qrels, run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("random")
    expected = forms.results(SOME, forms.dicts("qrels", qrels), forms.dicts("run", run))
    for form in ("tuples", "generator", "pandas in disorder", "arrow in chunks", "path"):
        made = (forms.FORMS[form].make(kind, rows, folder) for kind, rows in (("qrels", qrels), ("run", run)))
        values, means = forms.results(SOME, *made)
        assert values == expected[0], form
        # Compare as text, so that NaN (the mean over no topics) equals NaN.
        assert repr(means) == repr(expected[1]), form


@pytest.mark.filterwarnings("ignore:The run has scores that are equal as float32:ir_graded.CoverageWarning")
@given(qrels=random_rows(st.integers(-1, 4)), run=random_rows(SCORES))
def test_q_without_gain_is_average_precision_on_random_tables(qrels, run):
    # No level is below -1: pytrec_eval 0.5.11 may end the process if a topic has no other level.
    qrels, run = forms.dicts("qrels", qrels), forms.dicts("run", run)
    values = forms.results(["Q(beta=0)", "Q(beta=0)@3", "O(beta=0)", AP, AP @ 3, RR], qrels, run)[0]
    for topic in qrels:
        assert values["Q(beta=0)", topic] == pytest.approx(values["AP", topic], abs=1e-12)
        assert values["Q(beta=0)@3", topic] == pytest.approx(values["AP@3", topic], abs=1e-12)
        assert values["O-measure(beta=0)", topic] == pytest.approx(values["RR", topic], abs=1e-12)
