"""Helpers of several test folders: tables in many forms, the command line, error messages."""

import csv
import warnings
from functools import cache
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ir_graded
from ir_graded import GradedError, InputError
from ir_graded.cli import main
from ir_graded.errors import CoverageWarning

#: Name of the column with the level of a judgment or the score of a retrieved document.
VALUE = {"qrels": "relevance", "run": "score"}

# ---------------------------------------------------------------------------------------------- tables
# A row is (topic, document, level or score), followed by (start, length) for passages.


def names(kind, *, spans=False):
    """Return the names of the columns, in the order of the values of a row."""
    return ["query_id", "doc_id", VALUE[kind], *(["start", "length"] if spans else [])]


def rows_of(nested):
    """Return the rows of a dict of dicts."""
    return [(topic, doc, value) for topic, docs in nested.items() for doc, value in docs.items()]


def columns(kind, rows):
    """Dict of columns."""
    spans = bool(rows) and len(rows[0]) > len(names(kind))
    return {name: [row[at] for row in rows] for at, name in enumerate(names(kind, spans=spans))}


def quietly(call, *arguments, about=CoverageWarning, **options):
    """Return the result of a call that may warn of what it leaves out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", about)
        return call(*arguments, **options)


def dicts(rows):
    """Dict of dicts."""
    nested = {}
    for topic, doc, value in rows:
        nested.setdefault(topic, {})[doc] = value
    return nested


def frame(kind, rows, dtype=None):
    """Pandas frame."""
    return pd.DataFrame(columns(kind, rows), dtype=dtype)


def frame_in_disorder(table):
    """Return the rows in a pandas frame with further columns and an index neither sorted nor unique."""
    table = table[table.columns[::-1]].copy()  # pandas 2 warns of changes to a part of a frame
    table.insert(1, "rank", -1)
    table["text"] = [["any", "object"]] * len(table)
    return table.set_axis(pd.Index([5, 5, 3] * len(table))[: len(table)])


def polars_of_objects(kind, rows):
    """Polars frame whose columns hold Python objects."""
    return pl.DataFrame({name: pl.Series(of, dtype=pl.Object) for name, of in columns(kind, rows).items()})


def arrow(kind, rows):
    """Arrow table."""
    return pa.table(columns(kind, rows))


def arrow_in_chunks(kind, rows, size=3):
    """Arrow table in chunks of a few rows."""
    return pa.concat_tables([arrow(kind, rows[at : at + size]) for at in range(0, len(rows) or 1, size)])


def trec_lines(kind, rows):
    """Text of a TREC file."""
    line = {"qrels": "{} 0 {} {}\n", "run": "{} Q0 {} 0 {} tag\n"}[kind]
    return "".join(line.format(*row) for row in rows)


#: Forms of a pandas frame that keep the names of its columns; the path is that of a file to write.
TABLES = {
    "pandas": lambda table, _: table,
    "polars": lambda table, _: pl.from_pandas(table),
    "arrow": lambda table, _: pa.Table.from_pandas(table, preserve_index=False),
    "records": lambda table, _: table.to_dict("records"),
    "tuples": lambda table, _: [*table.itertuples(index=False, name="Row")],
    "iterator": lambda table, _: table.itertuples(index=False, name="Row"),
    "parquet": lambda table, path: table.to_parquet(path) or path,
    "csv": lambda table, path: table.to_csv(path, index=False) or path,
    "tsv": lambda table, path: table.to_csv(path, sep="\t", index=False) or path,
    "JSON Lines": lambda table, path: table.to_json(path, orient="records", lines=True) or path,
}
WITHOUT_TUPLES = {name: make for name, make in TABLES.items() if name not in ("tuples", "iterator")}


@cache
def covid_sample():
    """Return the bundled sample, read once; tests must not change it."""
    return ir_graded.sample()


def rows_of_docs(path):
    """Return the rows of a CSV table of the documentation, as dicts."""
    with (Path(__file__).parents[1] / "docs" / path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# ---------------------------------------------------------------------------------------------- errors


def error_message(error, call, *arguments, **options):
    """Return the message of an error of this package that a call raises."""
    with pytest.raises(error) as caught:
        call(*arguments, **options)
    assert isinstance(caught.value, GradedError)
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


def assert_rejected(calls, qrels, run, *parts, error=InputError):
    """Check that every call raises ``error`` with all parts; each gets new copies of qrels and run."""
    for call in calls:
        message = error_message(error, call, qrels(), run())
        for part in parts:
            assert str(part) in message, (call.__name__, part, message)


# ---------------------------------------------------------------------------------------- command line


def run_command(capsys, *arguments):
    """Return exit code, stdout and stderr of the command line."""
    with pytest.raises(SystemExit) as stopped:
        main([*map(str, arguments)])
    printed = capsys.readouterr()
    return stopped.value.code, printed.out, printed.err


def assert_command_fails(result, *parts):
    """Check for exit code 2, an empty stdout, and one line on stderr with all parts; return that line."""
    code, out, err = result
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "Traceback" not in err
    for part in parts:
        assert part in err
    return err.removeprefix("ir_graded: ").rstrip("\n")
