"""Passages that cannot be scored raise an error that names the place and the fix; nothing is dropped."""

import math
import re
from collections import namedtuple
from functools import partial

import helpers
import ir_measures
import pandas as pd
import polars as pl
import pytest
from ecosystem import forms
from helpers import assert_rejected
from ir_measures import AP, nDCG
from passages import passage_cases as cases

import ir_graded
from ir_graded import InputError, MAgP, Q, gP

ROWS = {
    "qrels": [("1", "a", 1, 0, 10), ("1", "b", 2, 5, 20), ("2", "c", 1, 0, 3), ("1", "a", 1, 50, 10)],
    "run": [("1", "b", 3.0, 0, 10), ("1", "x", 2.0, 5, 5), ("2", "c", 1.0, 0, 3), ("1", "b", 1.0, 9, 9)],
}


def by_calc(qrels, run):
    return ir_measures.calc([MAgP, gP @ 10], qrels, run)


def by_a_mixed_call(qrels, run):
    return ir_measures.calc_aggregate(["MAgP", "Q", nDCG @ 10, AP], qrels, run)


def by_an_evaluator(qrels, run):
    return ir_measures.evaluator([MAgP], qrels).calc_aggregate(run)


def by_evaluate(qrels, run):
    return ir_graded.evaluate(["MAgP", AP], qrels, {"run": run})


CALLS = [by_calc, by_a_mixed_call, by_an_evaluator, by_evaluate]

Row = {kind: namedtuple(f"{kind.title()}Row", cases.names(kind)) for kind in ROWS}


def polars(kind, rows):
    return pl.DataFrame(helpers.columns(kind, rows), strict=False)


def tuples(kind, rows):
    return [Row[kind](*row) for row in rows]


def generator(kind, rows):
    return (Row[kind](*row) for row in rows)


#: Tables with one type per column, and tables with any Python object.
TYPED = {"pandas": cases.frame, "polars": polars, "arrow": helpers.arrow}
ANYTHING = {
    "pandas of objects": partial(helpers.frame, dtype=object),
    "polars of objects": helpers.polars_of_objects,
    "tuples": tuples,
    "generator": generator,
}
FORMS = TYPED | ANYTHING
KINDS = pytest.mark.parametrize("kind", ROWS)
BOTH_COLUMNS = pytest.mark.parametrize("column", ["start", "length"])


def assert_side_rejected(kind, make, *parts, calls=CALLS):
    """Check that every way to score raises InputError with all parts; both sides are new each time."""
    sides = {side: partial(cases.frame, side, rows) for side, rows in ROWS.items()} | {kind: make}
    assert_rejected(calls, sides["qrels"], sides["run"], kind, *parts)


def with_value(kind, row, column, value):
    """Return the rows with one value replaced."""
    rows = [list(one) for one in ROWS[kind]]
    rows[row][cases.names(kind).index(column)] = value
    return rows


def place(form, row):
    return f"item {row}" if form in ("tuples", "generator") else f"row {row}"


# --------------------------------------------------------------------------------------- wrong numbers

#: In each table, a row in the middle and one that is not the first of its article.
WRONG_ROWS = {"qrels": [(1, "b"), (3, "a")], "run": [(1, "x"), (3, "b")]}
NUMBERS = {
    "negative": (-1, "is -1"),
    "far below": (-(2**40), "is -1.09951e+12"),
    "NaN": (math.nan, "is missing"),
    "fraction": (2.5, "is 2.5"),
    "small fraction": (1e-9, "is 1e-09"),
    "infinite": (math.inf, "is inf"),
    "huge": (2**48 + 1, "is 281474976710657"),
    "beyond 53 bits": (2**60, "is 1.15292e+18"),
    "beyond 64 bits as a float": (1e30, "is 1e+30"),
}
#: Objects that only some forms can hold.
OBJECTS = {
    **{str(missing): (missing, "is missing") for missing in (None, pd.NA, pd.NaT)},
    "text": ("12", "'12' is a string; convert the column to numbers"),
    **{repr(value): (value, "is not a number") for value in ("", "0:10", b"5", [3], {})},
    **{f"{value:.0e}": (value, "") for value in (2**63, 2**100)},
    **{f"{sign}10^400": (int(f"{sign}1{'0' * 400}"), "") for sign in "+-"},
}
WRONG = [(form, *case) for form in FORMS for case in NUMBERS.items()]
WRONG += [(form, *case) for form in ANYTHING for case in OBJECTS.items()]


def assert_each_place_rejected(form, value, *parts):
    """Check a wrong start or length in qrels or run; ``parts`` may name the column as '{column}'."""
    for kind, wrong_rows in WRONG_ROWS.items():
        for column in ("start", "length"):
            for row, doc_id in wrong_rows:
                rows = with_value(kind, row, column, value)
                where = [f"{kind}: topic '1', document '{doc_id}'", place(form, row)]
                named = [part.format(column=column) for part in parts]
                assert_side_rejected(
                    kind, lambda k=kind, rows=rows: FORMS[form](k, rows), *where, *named, calls=CALLS[:1]
                )


@pytest.mark.parametrize(("form", "name", "wrong"), WRONG, ids=map(" ".join, (one[:2] for one in WRONG)))
def test_a_start_or_length_that_is_not_a_position_is_rejected(form, name, wrong):
    value, problem = wrong
    further = ["whole number"] if name in NUMBERS else []
    assert_each_place_rejected(form, value, "{column}", problem, *further)


@KINDS
@BOTH_COLUMNS
def test_every_way_to_score_rejects_wrong_numbers(kind, column):
    for value in (-1, 2.5, math.nan):
        rows = with_value(kind, 3, column, value)
        assert_side_rejected(
            kind, lambda rows=rows: cases.frame(kind, rows), f"{kind}: topic '1'", "row 3", f"{column} is"
        )


@BOTH_COLUMNS
@KINDS
def test_a_null_in_a_typed_column_is_rejected(column, kind):
    rows = with_value(kind, 1, column, None)
    nullable = cases.frame(kind, ROWS[kind]).astype({column: "Int64"})
    nullable.loc[1, column] = pd.NA
    for table in (polars(kind, rows), helpers.arrow(kind, rows), nullable, cases.frame(kind, rows)):
        parts = ["topic '1'", "row 1", f"{column} is missing"]
        assert_side_rejected(kind, lambda table=table: table, *parts, calls=CALLS[:2])


@KINDS
def test_columns_of_text_are_rejected(kind):
    texts = cases.frame(kind, ROWS[kind]).astype({"start": "str"})
    assert_side_rejected(
        kind, lambda: texts, "topic '1'", "row 0", "start", "'0' is a string; convert the column to numbers"
    )
    assert_side_rejected(
        kind, lambda: pl.DataFrame(texts), "row 0", "start", "'0' is a string; convert the column to numbers"
    )


def test_the_largest_positions_are_accepted():
    """Positions up to the limit are exact: nothing is rounded or overflows."""
    qrels = [("1", "a", 1, 2**48, 2**48), ("1", "b", 1, 2**48 - 1, 1)]
    run = [("1", "a", 2.0, 2**48 + 0, 2**47), ("1", "b", 1.0, 2**48 - 1, 1)]
    assert cases.score(MAgP(beta=0), qrels, run) == 1
    assert cases.score(gP(beta=math.inf) @ 1, qrels, run) == 0.5


@pytest.mark.parametrize("measures", [["Q"], [Q, AP], ["MAgP"]], ids=str)
@BOTH_COLUMNS
def test_measures_of_documents_reject_wrong_passages(column, measures):
    """Wrong passages are an error for every measure."""
    run = cases.frame("run", with_value("run", 1, column, -5))
    with pytest.raises(InputError, match=rf"topic '1', document 'x'.*{column} is -5"):
        ir_measures.calc(measures, cases.frame("qrels", ROWS["qrels"]), run)


# ------------------------------------------------------------------------------------- missing columns


def without(table, *names):
    return table.drop(columns=list(names)) if isinstance(table, pd.DataFrame) else table.drop(list(names))


def documents(kind):
    """Return the rows of a table without passages."""
    return [*cases.one_row_an_article(kind, ROWS[kind]).itertuples(index=False, name=None)]


def one_field(kind, column):
    """Return tuples that lack the other column."""
    at = cases.names(kind).index(column)
    row = namedtuple("OneField", [name for name in cases.names(kind) if name != column])
    return [row(*values[:at], *values[at + 1 :]) for values in ROWS[kind][:3]]


WITHOUT = {
    **{
        f"{form} without {','.join(missing)}": lambda kind, _, form=form, missing=missing: without(
            TYPED[form](kind, ROWS[kind][:3]), *missing
        )
        for form in TYPED
        for missing in (("start",), ("length",), ("start", "length"))
    },
    "documents": lambda kind, _: cases.one_row_an_article(kind, ROWS[kind]),
    **{
        form: lambda kind, folder, form=form: forms.FORMS[form].make(kind, documents(kind), folder)
        for form in ("tuples", "generator", "dicts", "path", "name of a file")
    },
}
#: Several rows of an article are not duplicates if one column is there: the other is missing.
PARTLY = {
    **{
        f"rows with {column} alone": lambda kind, _, column=column: without(
            cases.frame(kind, ROWS[kind]), *{"start", "length"} - {column}
        )
        for column in ("start", "length")
    },
    **{
        f"tuples with {column} alone": lambda kind, _, column=column: one_field(kind, column)
        for column in ("start", "length")
    },
    **{
        f"tuple {at} without both": lambda kind, _, at=at: [
            *tuples(kind, ROWS[kind][:at]),
            *forms.tuples(kind, [("1", "z", 1)]),
            *tuples(kind, ROWS[kind][at + 1 :]),
        ]
        for at in (0, 1, 3)
    },
    "tuples of two kinds": lambda kind, _: [*tuples(kind, ROWS[kind]), *one_field(kind, "length")],
}


@KINDS
@pytest.mark.parametrize("name", [*WITHOUT, *PARTLY])
def test_input_without_passages_is_rejected(kind, name, tmp_path):
    """The message names the columns, and the forms that can hold them."""
    parts = ["start", "length"]
    if name in WITHOUT:
        parts += ["MAgP", "passages", *cases.names(kind), "named tuples", "file", "dict of dicts"]
    assert_side_rejected(kind, lambda: (WITHOUT | PARTLY)[name](kind, tmp_path), *parts)


@KINDS
def test_measures_of_documents_reject_tuples_of_which_some_lack_passages(kind):
    """The intention is unclear."""
    rows = {side: cases.frame(side, ROWS[side]) for side in ROWS}
    with pytest.raises(InputError, match=r"start.*length"):
        ir_measures.calc(["Q"], **{**rows, kind: PARTLY["tuple 1 without both"](kind, None)})


@pytest.mark.parametrize("measure", ["MAgP", "MAgP(beta=0.25)@5", "gP@10", "gR@5"])
def test_the_message_names_the_measure(measure):
    qrels, run = (cases.frame(kind, ROWS[kind]) for kind in ROWS)
    for sides in ((qrels, {"1": {"a": 1.0}}), ({"1": {"a": 1}}, run)):
        with pytest.raises(InputError) as caught:
            ir_measures.calc(["Q", measure], *sides)
        assert measure in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("column", ["start", "length"])
def test_measures_of_documents_ignore_one_column_alone(column):
    """It may be the length of a document, for example."""
    rows = {kind: cases.one_row_an_article(kind, ROWS[kind]) for kind in ROWS}
    expected = cases.scores([Q, AP], rows["qrels"], rows["run"])
    for value in (7, -1, "any"):
        tables = [table.assign(**{column: value}) for table in rows.values()]
        assert cases.scores([Q, AP], *tables) == expected
        assert cases.scores([Q, AP], *map(pl.DataFrame, tables)) == expected
        assert cases.scores([Q, AP], *(table.itertuples() for table in tables)) == expected


# ------------------------------------------------------------------- ids, scores and levels as for documents


SPANS_BY_OTHER_NAMES = [
    ({"start": [0, 9], "end": 20}, "the table has start, end but not length (length = end - start)"),
    ({"start": [0, 9]}, "the table has start but not length (length = end - start)"),
    ({"Start": [0, 9], "Length": 5}, "the table has Start, Length but not start and length"),
    ({"offset": [0, 9], "length": 5}, "the table has offset, length but not start"),
]


@pytest.mark.parametrize(("spans", "hint"), SPANS_BY_OTHER_NAMES)
def test_spans_by_other_names_are_named_in_errors(spans, hint):
    run = pd.DataFrame({"query_id": "1", "doc_id": "a", "score": [2.0, 1.0], **spans})
    gold = pd.DataFrame({"query_id": "1", "doc_id": "a", "relevance": [2, 1], **spans})
    right = {"start": [0, 9], "length": 5}
    good_run = pd.DataFrame({"query_id": "1", "doc_id": "a", "score": [2.0, 1.0], **right})
    good_gold = pd.DataFrame({"query_id": "1", "doc_id": "a", "relevance": [2, 1], **right})
    match = rf"keep one of the rows.*; {re.escape(hint)}"
    for given in (run, pl.from_pandas(run), run.to_dict("records"), [*run.itertuples(index=False)]):
        with pytest.raises(InputError, match=rf"appears twice.*; {match}"):
            ir_graded.evaluate("CharP", good_gold, given)
    for given in (gold, pl.from_pandas(gold), gold.to_dict("records")):
        with pytest.raises(InputError, match=rf"has level 2 at .*; {match}"):
            ir_graded.evaluate("CharP", given, good_run)
        with pytest.raises(InputError, match=f"needs passages, .*{re.escape(hint)}"):
            ir_graded.evaluate("CharP", given[:1], good_run)
    with pytest.raises(InputError, match=f"show needs passages, .*{re.escape(hint)}"):
        ir_graded.passages.show(good_gold, run, "1")


def test_intents_by_another_name_are_named_in_errors():
    rows = {"query_id": "1", "doc_id": "a", "relevance": [2, 1], "intent": ["x", "y"]}
    problem = "has level 2 at row 0 and level 1 at row 1; .*; the table has intent but not iteration"
    with pytest.raises(InputError, match=problem):
        ir_graded.evaluate("Q", pd.DataFrame(rows), {"1": {"a": 1.0}})
