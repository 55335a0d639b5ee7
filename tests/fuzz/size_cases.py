"""Operations of a child process on files that are larger than they look."""

import ir_graded

QRELS = {"1": {"a": 1}, "2": {"b": 1}}


def as_qrels(path):
    """Read whole, like qrels."""
    ir_graded.read_qrels(path)


def as_run(path):
    """Read whole."""
    ir_graded.read_run(path)


def as_named_run(path):
    """Read whole, without reading the first line before."""
    ir_graded.read_run(path, format="trec")


def scored(path):
    """Read in pieces."""
    ir_graded.evaluate(["Q"], QRELS, path)


def as_matrix(path):
    """Read like tables on the command line."""
    from ir_graded.cli.sources import read_matrices

    read_matrices((str(path),))


def as_submission(path):
    """Read as an XML submission with its articles in the folder beside it."""
    from ir_graded.passages import read_submission

    read_submission(path, path.parent)


def imported():
    """Load the modules that the others need, so that their memory does not count."""
    import lxml.etree
    import pandas as pd
    import polars as pl

    import ir_graded.cli.sources
    import ir_graded.passages.submissions

    assert lxml.etree
    assert pd
    assert pl.DataFrame({"x": ["a"]}).lazy().collect().height
    ir_graded.evaluate(["Q"], QRELS, QRELS)


READERS = [as_qrels, as_run, as_named_run, scored]
