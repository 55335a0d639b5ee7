"""A run file read in pieces gives the result of the whole file, for any spacing, compression and order."""

import os
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st
from packed import gzipped

import ir_graded
from ir_graded.errors import FileFormatError, InputError
from ir_graded.io import text as file_text
from ir_graded.io.files import run_pieces
from ir_graded.matching import tables as table_runs
from ir_graded.matching.match import match_run, prepare_qrels

from .file_cases import COMPRESSIONS, SPACINGS, frame_of

PACKED = [COMPRESSIONS[name] for name in ("none", "gzip", "gzip, members", "zstandard", "xz")]
SPACED = {
    **{
        name: lambda data, spaced=SPACINGS[name]: spaced(data.decode().splitlines())
        for name in (
            *("single blanks", "tabs", "CRLF", "aligned", "leading", "blank lines everywhere"),
            *("comments", "no last newline"),
        )
    },
    "blanks between tabs": lambda data: data.replace(b" ", b"\t").replace(b"tag", b"a tag\t"),
    "byte-order mark": lambda data: b"\xef\xbb\xbf" + data,
}
FIELDS = ("topic", "rank", "level_index", "document", "n_retrieved", "n_unknown")


def collection(seed, topics=40, depth=60, scattered=False):
    """Return qrels, and the lines of a run that ranks some of their documents."""
    rng = np.random.default_rng(seed)
    names = [f"t{number}" for number in rng.permutation(topics + 5)]
    qrels = {
        name: {f"d{doc}": int(rng.integers(0, 4)) for doc in rng.choice(200, 30, replace=False)}
        for name in names[:topics]
    }
    lines = []
    for name in names[3:]:  # three topics are not in the run, five not in the qrels
        docs = rng.choice(200, int(rng.integers(1, depth)), replace=False)
        lines += [f"{name} Q0 d{doc} 0 {rng.integers(0, 20)} tag" for doc in docs]
    if scattered:
        lines = [lines[at] for at in rng.permutation(len(lines))]
    return qrels, ("\n".join(lines) + "\n").encode()


def same(found, expected):
    for name in FIELDS:
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


def whole(judgments, path, lowest=1.0):
    return match_run(judgments, ir_graded.read_run(path), lowest)


@pytest.mark.parametrize(
    "size",
    [
        1000,
        *(pytest.param(size, marks=pytest.mark.slow) for size in (1, 1 << 23)),
        *(pytest.param(size, marks=pytest.mark.release) for size in (100, 5000)),
    ],
)
@pytest.mark.parametrize("spacing", SPACED)
def test_pieces_give_the_hits_of_the_whole(write, monkeypatch, spacing, size):
    qrels, data = collection(size)
    judgments = prepare_qrels(qrels)
    expected = whole(judgments, write(data))
    assert expected.rank.size > 50
    monkeypatch.setattr(table_runs, "_PIECE", size)
    monkeypatch.setattr(file_text, "_LOOK", 64)
    monkeypatch.setattr(file_text, "READ", 512)
    for compress, threads in zip(PACKED, (1, 3, 3, 1, 3), strict=True):
        path = write(compress(SPACED[spacing](data)))
        same(match_run(judgments, path, 1.0, threads), expected)


@pytest.mark.parametrize("spacing", ["single blanks", "comments"])
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_a_piece_contains_whole_topics(write, monkeypatch, compression, spacing):
    _, data = collection(1)
    monkeypatch.setattr(file_text, "_LOOK", 16)
    monkeypatch.setattr(file_text, "READ", 100)
    path = write(COMPRESSIONS[compression](SPACED[spacing](data)))
    tables = [frame_of(load()) for load in run_pieces(path, 500, 500)]
    assert len(tables) > 20
    topics = [topic for table in tables for topic in table["query_id"].unique().to_list()]
    assert len(topics) == len(set(topics))
    assert sum(table.height for table in tables) == data.count(b"\n")
    assert all(len(load()) < 500 + 60 * 40 for load in file_text.text_pieces(str(path), 500))


def test_a_topic_that_is_a_prefix_of_another_is_separate(write):
    lines = "".join(f"{topic} Q0 d{n} 0 {n} t\n" for topic in ("1", "11", "1a") for n in range(9))
    pieces = list(run_pieces(write(lines.encode()), 1, 1))
    assert [frame_of(load())["query_id"].unique().to_list() for load in pieces] == [["1"], ["11"], ["1a"]]


def test_a_file_of_blank_lines_is_one_piece_without_rows(write):
    (load,) = run_pieces(write(b"\n \n\n" * 20), 8, 8)
    assert len(load()) == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_scattered_topics_are_read_as_a_whole(write, monkeypatch, threads):
    qrels, data = collection(2, scattered=True)
    judgments = prepare_qrels(qrels)
    path = write(data)
    expected = whole(judgments, path)
    monkeypatch.setattr(table_runs, "_PIECE", 1000)
    same(match_run(judgments, path, 1.0, threads), expected)
    monkeypatch.setattr(table_runs, "_LARGE", 1000)
    with pytest.warns(UserWarning, match=r"topic 't\d+' appears in several places.*sort it by topic"):
        match_run(judgments, path, 1.0, threads)


@pytest.mark.slow
@pytest.mark.parametrize("compression", ["none", "xz"])
@pytest.mark.parametrize("spacing", ["single blanks", "blank lines everywhere", "CRLF"])
def test_errors_name_the_line_in_the_whole_file(write, monkeypatch, spacing, compression):
    qrels, data = collection(3)
    monkeypatch.setattr(table_runs, "_PIECE", 300)
    judgments = prepare_qrels(qrels)
    lines = data.splitlines(keepends=True)
    for at in (0, 7, len(lines) // 2, len(lines) - 1):
        wrong = [*lines[:at], lines[at].replace(b" 0 ", b" "), *lines[at + 1 :]]
        text = SPACED[spacing](b"".join(wrong))
        line = next(n for n, one in enumerate(text.split(b"\n"), 1) if len(one.split()) == 5)
        with pytest.raises(FileFormatError, match=rf"run\.txt, line {line}: expected .*6 fields"):
            match_run(judgments, write(COMPRESSIONS[compression](text)), 1.0, 3)
    at = max(n for n, one in enumerate(lines) if one.split()[0].decode() in qrels)
    text = SPACED[spacing](b"".join([*lines[: at + 1], lines[at], *lines[at + 1 :]]))
    places = [n for n, one in enumerate(text.split(b"\n"), 1) if one.strip() == lines[at].strip()]
    with pytest.raises(InputError, match=rf"twice, at .*line {places[0]} and at .*line {places[1]};"):
        match_run(judgments, write(COMPRESSIONS[compression](text)), 1.0, 3)


def test_files_without_lines_and_pipes_are_scored(write, tmp_path, monkeypatch):
    judgments = prepare_qrels({"t1": {"d1": 1}})
    for data in (b"", b"\n \n", b"\xef\xbb\xbf", gzipped(b"")):
        hits = match_run(judgments, write(data), 1.0, 2)
        assert hits.rank.size == 0
        assert hits.n_retrieved.tolist() == [0]
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    scattered = b"t1 Q0 d2 1 3 t\nt2 Q0 d1 1 1 t\nt1 Q0 d1 1 1 t\n"
    writer = threading.Thread(target=pipe.write_bytes, args=(scattered,))
    writer.start()
    monkeypatch.setattr(table_runs, "_PIECE", 1)
    assert match_run(judgments, pipe, 1.0, 2).rank.tolist() == [2]
    writer.join()


@given(data=st.text("12 \n\tQd.#", max_size=80).map(str.encode), size=st.integers(1, 30))
def test_pieces_contain_every_line_once(tmp_path_factory, data, size):
    folder = tmp_path_factory.mktemp("pieces")
    (folder / "file").write_bytes(data)
    (folder / "file.gz").write_bytes(gzipped(data))
    for look in (1, 5, 100):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(file_text, "_LOOK", look)
            patch.setattr(file_text, "READ", 7)
            for path in folder.iterdir():
                assert b"".join(load() for load in file_text.text_pieces(str(path), size)) == data


@pytest.mark.parametrize("topics", [1, 5])
def test_each_byte_of_a_compressed_run_is_handled_a_few_times(write, monkeypatch, topics):
    """Even for a long topic, its earlier bytes must not be joined again with every block."""
    looked = []
    found = file_text._next_topic

    def counting(text, at):
        looked.append(len(text))
        return found(text, at)

    monkeypatch.setattr(file_text, "_next_topic", counting)
    monkeypatch.setattr(file_text, "READ", 512)
    rows = [(f"t{number * topics // 20000}", f"d{number}") for number in range(20_000)]
    data = "".join(f"{topic} Q0 {doc} 1 {-number} t\n" for number, (topic, doc) in enumerate(rows)).encode()
    path = str(write(gzipped(data)))
    assert b"".join(load() for load in file_text.text_pieces(path, 1000)) == data
    assert len(looked) > 20
    assert sum(looked) < 3 * len(data)


def pieces(path, text):
    """Return the lengths of the pieces in which a run is read."""
    path.write_bytes(text)
    return [len(load()) for load in file_text.text_pieces(str(path), 1)]


@pytest.mark.parametrize("white", [b"\n", b"\r\n", b" \n", b"\v\n"])
def test_blank_lines_after_a_topic_are_read_quickly(tmp_path, white):
    # Each was compared with every line before it: 60 KB took half a minute.
    text = b"1 Q0 a 1 1 t\n" * 3 + white * 300_000
    other = b"2 Q0 a 1 1 t\n"
    assert pieces(tmp_path / "one", text) == [len(text)]
    assert pieces(tmp_path / "two", text + other) == [len(text), len(other)]


def test_topics_with_a_long_common_prefix_stay_in_one_piece(tmp_path):
    long, other = b"x" * 100_000, b"2 Q0 a 1 1 t\n"
    lines = [long + end + b" Q0 a 1 1 t\n" for end in (b"1", b"1", b"2")]
    size = len(lines[0])
    assert pieces(tmp_path / "one", b"".join(lines)) == [3 * size]
    assert pieces(tmp_path / "two", b"".join([*lines, other])) == [3 * size, len(other)]
    assert pieces(tmp_path / "short", b"".join(line[-200:] for line in lines)) == [400, 200]


# ----------------------------------------------------------------------------------------- Parquet


def split_frame(data):
    fields = [line.split() for line in data.decode().splitlines()]
    return pl.DataFrame(
        {
            "rank": [0] * len(fields),
            "score": [float(one[4]) for one in fields],
            "query_id": [one[0] for one in fields],
            "doc_id": [one[2] for one in fields],
        }
    )


@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize("rows", [1, 10, 100, 1 << 20])
def test_parquet_gives_the_hits_of_the_lines(write, tmp_path, monkeypatch, rows, scattered):
    qrels, data = collection(5, scattered=scattered)
    judgments = prepare_qrels(qrels)
    expected = whole(judgments, write(data))
    path = tmp_path / "run[1].parquet"
    split_frame(data).write_parquet(path, row_group_size=50)
    monkeypatch.setattr(table_runs, "_FRAME", rows)
    same(match_run(judgments, path, 1.0, 2), expected)
    same(whole(judgments, path), expected)


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_parquet_qrels_are_read(tmp_path):
    qrels, data = collection(6)
    rows = [(topic, doc, level) for topic, docs in qrels.items() for doc, level in docs.items()]
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "relevance"], orient="row")
    frame.write_parquet(tmp_path / "qrels.parquet")
    split_frame(data).write_parquet(tmp_path / "run.parquet")
    found = ir_graded.evaluate(["Q", "AP"], tmp_path / "qrels.parquet", tmp_path / "run.parquet")
    expected = ir_graded.evaluate(["Q", "AP"], qrels, split_frame(data))
    assert np.array_equal(found.values, expected.values)
    assert len(ir_graded.read_run(tmp_path / "run.parquet")) == data.count(b"\n")


def test_parquet_errors_name_file_and_row(tmp_path, monkeypatch):
    qrels, data = collection(7)
    judgments = prepare_qrels(qrels)
    frame = split_frame(data)
    monkeypatch.setattr(table_runs, "_FRAME", 50)
    path = tmp_path / "run.parquet"
    frame.drop("score").rename({"rank": "place"}).write_parquet(path)
    with pytest.raises(InputError, match="no column score or rank; it has place, query_id, doc_id"):
        match_run(judgments, path, 1.0, 2)
    at = next(row for row in range(200, 900) if frame["query_id"][row] in qrels)
    missing = frame.with_columns(
        pl.when(pl.int_range(pl.len()) == at).then(None).otherwise(pl.col("score")).alias("score")
    )
    missing.write_parquet(path)
    with pytest.raises(InputError, match=rf"run\.parquet, row {at}\): the score is missing"):
        match_run(judgments, path, 1.0, 2)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(FileFormatError, match=r"run\.parquet: cannot be read as Parquet"):
        match_run(judgments, path, 1.0, 2)


def test_passages_in_parts_have_the_scores_of_the_whole_run(tmp_path, monkeypatch):
    """The last part has the first topic of the qrels, so the rows of all parts are sorted by topic."""
    frame = {"query_id": ["1", "2"], "doc_id": ["a", "b"], "relevance": 1, "start": [0, 5], "length": 10}
    path = tmp_path / "x.run"
    path.write_text(
        "2 Q0 b 1 9 x 0 10\n2 Q0 c 2 8 x 0 10\n1 Q0 d 1 9 x 0 30\n1 Q0 a 2 8 x 0 10\n", encoding="utf-8"
    )
    scores = [ir_graded.evaluate(["CharR@2", "CharP@2"], pd.DataFrame(frame), path)]
    monkeypatch.setattr(table_runs, "_ROWS", 1)
    run = ir_graded.read_run(path)
    scores.append(ir_graded.evaluate(["CharR@2", "CharP@2"], pd.DataFrame(frame), run))
    assert scores[0].values.tolist() == scores[1].values.tolist() == [[[1.0, 0.5]], [[0.25, 0.25]]]
