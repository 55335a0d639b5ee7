"""What is checked before Spark is needed: paths, measures and options."""

from pathlib import Path

import pytest

from ir_graded.errors import InputError, ParameterError
from ir_graded.spark import evaluate, mean, read_qrels, read_runs
from ir_graded.spark.files import as_paths, names_of_files


def test_paths_are_text_or_a_list_of_these():
    assert as_paths("a/b.txt") == ["a/b.txt"]
    assert as_paths(Path("a.txt")) == ["a.txt"]
    assert as_paths(["a.txt", Path("b.txt")]) == ["a.txt", "b.txt"]
    assert as_paths(("a.txt",)) == ["a.txt"]
    for wrong in (None, 5, [], (), ["a.txt", 5], {"a": "a.txt"}, b"a.txt"):
        assert as_paths(wrong) is None


def test_characters_of_patterns_are_escaped_in_names_of_files_only(tmp_path):
    for name in ("a[1].txt", "b{2}?*.txt", "c\\d.txt"):
        path = tmp_path / name
        assert as_paths(path) == [str(path)]
        path.write_text("")
    assert as_paths(tmp_path / "a[1].txt") == [f"{tmp_path}/a\\[1\\].txt"]
    assert as_paths(tmp_path / "b{2}?*.txt") == [f"{tmp_path}/b\\{{2\\}}\\?\\*.txt"]
    assert as_paths(tmp_path / "c\\d.txt") == [f"{tmp_path}/c\\\\d.txt"]
    assert as_paths(tmp_path / "a*.txt") == [f"{tmp_path}/a*.txt"]


def test_frames_and_folders_of_parquet_name_no_files():
    for source in ({}, None, "runs.parquet", ["a.parquet", "b.parquet/"]):
        assert names_of_files(source, None) == set()


def test_readers_need_a_session_first():
    for kind, read in (("qrels", read_qrels), ("run", read_runs)):
        message = f"^{kind}: expected a Spark session, then the path, found 'a.txt'$"
        with pytest.raises(InputError, match=message):
            read("a.txt", "session")


class Session:
    """A session that reads nothing."""

    read = None


@pytest.mark.parametrize("path", [5, [], ["a.txt", 5]])
def test_readers_reject_what_is_not_a_path(path):
    with pytest.raises(InputError, match=r"^run: .* is neither a path nor a list of paths$"):
        read_runs(Session(), path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"longest_topic": 0}, r"longest_topic=0 must be a whole number from 1 to 4611686018427387904"),
        ({"longest_topic": (1 << 62) + 1}, "longest_topic=4611686018427387905 must be"),
        ({"longest_topic": 1.0}, r"longest_topic=1\.0 must be"),
        ({"longest_topic": True}, "longest_topic=True must be"),
        ({"broadcast": 1}, "broadcast=1 must be True, False or None"),
        ({"measures": "PassageAP"}, "PassageAP depends on the order of the rows of the qrels"),
        ({"measures": "NumRel(rel=2)"}, "NumRel takes rel"),
    ],
)
def test_options_are_checked_before_the_rows(options, message):
    with pytest.raises(ParameterError, match=message):
        evaluate(**{"measures": "Q", "qrels": {}, "runs": {}} | options)


@pytest.mark.parametrize(("longest", "broadcast"), [(1, True), (1 << 62, False), (5, None)])
def test_rows_that_are_no_frame_are_rejected_by_their_type(longest, broadcast):
    with pytest.raises(InputError, match=r"^qrels: expected a Spark DataFrame or a path, found dict$"):
        evaluate("Q", {}, {}, longest_topic=longest, broadcast=broadcast)


@pytest.mark.parametrize(
    "columns", [(), ("run", "value"), ("run", "measure", "query_id"), ("run", "measure", "value")]
)
def test_means_need_a_frame_of_scores(columns):
    frame = type("Frame", (), {"columns": columns})()
    with pytest.raises(InputError, match=r"^scores: expected the Spark DataFrame from evaluate"):
        mean(frame)


class Frame:
    """A frame with columns and files, but without Spark."""

    isStreaming = False  # as in Spark
    mapInArrow = None

    def __init__(self, *columns, files=()):
        self.columns, self.files = [*columns], files

    def inputFiles(self):
        return self.files


class Reader:
    """A session that gives the same frame for each path."""

    def __init__(self, frame):
        self.read, self.frame = self, frame

    def text(self, *_, **__):
        return self.frame

    def parquet(self, *_):
        return self.frame


def test_runs_are_named_after_files_without_suffixes_of_compression():
    files = ["file:/a/one.txt.gz", "file:/a/two%20b.run", "three.zst", "file:/a/d.bz2"]
    assert names_of_files("a", Reader(Frame(files=files))) == {"one.txt", "two b.run", "three", "d"}


@pytest.mark.parametrize("suffix", [".xz", ".zip", ".7z"])
def test_files_that_spark_cannot_read_are_named(suffix):
    with pytest.raises(InputError, match=f"^qrels: a{suffix}: Spark cannot read this compression; use gzip"):
        read_qrels(Reader(Frame(files=["b.gz", f"a{suffix}"])), "a")


def test_runs_of_parquet_have_names_of_their_own():
    files = ["x/one.parquet/part-1", "y/one.parquet"]
    message = r"^run: x/one\.parquet and y/one\.parquet would both be the run 'one'"
    with pytest.raises(InputError, match=message):
        read_runs(Reader(Frame(files=files)), "*.parquet")
    named = Frame("run", files=files)
    assert read_runs(Reader(named), "*.parquet/") is named


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (("query_id", "relevance"), "the DataFrame has no column doc_id; it has query_id, relevance$"),
        (("x",), "the DataFrame has no column query_id, doc_id, relevance; it has x$"),
        (("Query_ID",), "for Spark, Query_ID is the same as query_id; keep one, named query_id$"),
        (("doc_id", "DOC_ID"), "for Spark, doc_id, DOC_ID is the same as doc_id; keep one, named doc_id$"),
    ],
)
def test_columns_of_frames_are_checked_by_name(columns, message):
    with pytest.raises(InputError, match=f"^qrels: {message}"):
        evaluate("Q", Frame(*columns), {})


def test_streams_are_rejected():
    stream = Frame()
    stream.isStreaming = True
    with pytest.raises(InputError, match=r"^qrels: a stream cannot be evaluated; write it to a table"):
        evaluate("Q", stream, {})
