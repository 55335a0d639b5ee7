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
        with pytest.raises(
            InputError, match=f"^{kind}: expected a Spark session, then the path, found 'a.txt'$"
        ):
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
