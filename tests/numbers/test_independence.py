"""A topic has one score to the last bit: alone, among others, in pieces, in any order, on any threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import helpers
import number_cases as cases
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from ir_graded.evaluation.provider import PROVIDER
from ir_graded.matching import dicts as dict_runs, tables as table_runs

#: All scales in one collection: whole and fractional gains, one document per topic and hundreds.
QRELS, RANKINGS = cases.joined(
    cases.ORDINARY,
    cases.collection([(1,), (0, 1e-100, 2e-100), (1e100, 1e99)], topics=2, retrieved=3, judged=3),
    cases.collection([(0, 1, 2, 3), (0.3, 1.7)], topics=1, retrieved=700, judged=600),
)
#: The scale is given; by default, it ends at the highest level of all topics.
MEASURES = cases.of_every_kind(max_rel=1e100)


def rows():
    return helpers.columns("run", helpers.rows_of(cases.run_of(RANKINGS)))


def scores(qrels, run):
    """Return the score by measure and topic, as bits."""
    evaluator = PROVIDER.evaluator(MEASURES, qrels)
    return {(str(m.measure), m.query_id): float(m.value).hex() for m in evaluator.iter_calc(run)}


@pytest.fixture(scope="module")
def expected():
    found = scores(QRELS, cases.run_of(RANKINGS))
    assert len(found) == len(QRELS) * len(MEASURES)
    assert len(set(found.values())) > len(found) / 4
    return found


@pytest.mark.slow
def test_a_topic_scores_the_same_alone_and_among_others(expected):
    run = cases.run_of(RANKINGS)
    for topic, levels in QRELS.items():
        alone = scores({topic: levels}, run)
        assert alone == {key: value for key, value in expected.items() if key[1] == topic}


def in_chunks(table):
    """A Polars frame of chunks of seven rows."""
    frame = pl.DataFrame(table)
    return pl.concat([frame[at : at + 7] for at in range(0, frame.height, 7)], rechunk=False)


FORMS = {
    "polars in chunks": lambda table, _: in_chunks(table),
    "arrow in chunks": lambda table, _: pa.Table.from_batches(pa.table(table).to_batches(max_chunksize=5)),
    "rows in disorder": lambda table, _: pl.DataFrame(table).sample(fraction=1, shuffle=True, seed=3),
}


def parquet(table, folder):
    path = folder / "run.parquet"
    pa.parquet.write_table(pa.table(table), path, row_group_size=11)
    return path


def lines(table, folder):
    path = folder / "run.txt"
    path.write_text(helpers.trec_lines("run", zip(*table.values(), strict=True)))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("form", [*FORMS.values(), parquet, lines], ids=[*FORMS, "parquet", "lines"])
def test_pieces_and_threads_change_no_bit(expected, form, tmp_path, monkeypatch):
    run = form(rows(), tmp_path)
    assert scores(QRELS, run) == expected
    monkeypatch.setattr(table_runs, "_ROWS", 50)
    monkeypatch.setattr(table_runs, "_PIECE", 500)
    monkeypatch.setattr(table_runs, "_FRAME", 100)
    for threads in (1, 2, 5):
        monkeypatch.setattr("ir_graded.evaluation.provider.processors", lambda threads=threads: threads)
        assert scores(QRELS, run) == expected


def test_pieces_of_dicts_give_equal_bits(expected, monkeypatch):
    monkeypatch.setattr(dict_runs, "_BATCH_ROWS", 10)
    assert scores(QRELS, cases.run_of(RANKINGS)) == expected


PRINTS = """
import sys
sys.path[:0] = {path!r}
import polars
assert not {one!r} or polars.thread_pool_size() == 1
import pathlib, test_independence as cases
run = cases.lines(cases.rows(), pathlib.Path({folder!r}))
print(*sorted(cases.scores(cases.QRELS, run).items()), sep="\\n")
"""


@pytest.mark.slow
def test_any_number_of_polars_threads_gives_equal_bits(expected, tmp_path):
    names = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    path = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    found = []
    for threads in ("1", "5"):
        code = PRINTS.format(path=path, folder=str(tmp_path), one=threads == "1")
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", code],
            env={**os.environ, **dict.fromkeys(names, threads)},
            capture_output=True,
            check=True,
            text=True,
        )
        found.append(done.stdout.splitlines())
    assert found[0] == found[1] == list(map(str, sorted(expected.items())))
