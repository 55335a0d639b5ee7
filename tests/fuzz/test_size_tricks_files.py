"""Long and wide lines, sparse files, deep XML and repeated Parquet values are rejected early."""

import pytest

from fuzz.size_cases import READERS, as_run, as_submission, scored

#: MiB that a call may use.
MEMORY = 320


def error_within_limits(child, reader, path, memory=MEMORY):
    """Return the message of the error that a file raises, within the memory limit."""
    outcome, taken = child.call(reader, path)
    assert outcome is not None
    assert outcome[0] in ("FileFormatError", "InputError"), outcome
    assert len(outcome[1]) < 5_000
    assert taken < memory
    return outcome[1]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("field", [b"a ", b"1:2\t", b"aaaaaaaaa"])
def test_a_line_of_a_million_columns_or_one_long_column_is_rejected(child, tmp_path, reader, field):
    path = tmp_path / "run"
    for begin in (b"", b"1 Q0 a 1 1 t\n"):
        path.write_bytes(begin + field * 1_000_000)
        assert "is longer than 1 MiB" in error_within_limits(child, reader, path)
        path.write_bytes(begin + field * 100_000)
        assert str(path) in error_within_limits(child, reader, path)


@pytest.mark.parametrize("reader", [as_run, scored])
@pytest.mark.parametrize("white", [b"\n", b"\t \r\n"])
def test_a_million_blank_lines_are_skipped(child, tmp_path, reader, white):
    path = tmp_path / "run"
    # Pieces are cut after 8 MiB, so the blank lines are where the next topic is searched.
    path.write_bytes(b"1 Q0 a 1 1 t\n" + b"\n" * (8 << 20) + white * 1_000_000 + b"2 Q0 b 1 1 t")
    outcome, memory = child.call(reader, path)
    assert outcome is None
    assert memory < MEMORY


SUBMISSION = """<inex-submission><topic topic-id="1"><result><file>a</file><path>{}</path></result></topic>
</inex-submission>"""
ARTICLES = {
    "deep": "<p>" * 1_000_000,
    "wide": "<article>" + "<p/>" * 300_000 + "</article>",
    "attributes": "<article " + " ".join(f"a{number}=''" for number in range(100_000)) + "/>",
    "long name": f"<{'a' * 20_000_000}/>",
    "references": "<article>" + "&#65;" * 1_000_000 + "</article>",
}


@pytest.mark.parametrize("article", ARTICLES)
def test_oversized_articles_are_rejected(child, tmp_path, article):
    pytest.importorskip("lxml")
    (tmp_path / "run.xml").write_text(SUBMISSION.format("/article[1]"))
    (tmp_path / "a.xml").write_text(ARTICLES[article])
    outcome, memory = child.call(as_submission, tmp_path / "run.xml")
    assert outcome is None or outcome[0] == "FileFormatError", outcome
    assert memory < MEMORY


def test_a_path_of_a_million_steps_is_rejected(child, tmp_path):
    pytest.importorskip("lxml")
    path = tmp_path / "run.xml"
    path.write_text(SUBMISSION.format("/a" * 1_000_000))
    (tmp_path / "a.xml").write_text("<a/>")
    assert "at most 256 steps" in error_within_limits(child, as_submission, path)


def test_a_path_of_the_maximal_depth_is_read(child, tmp_path):
    pytest.importorskip("lxml")
    (tmp_path / "run.xml").write_text(SUBMISSION.format("/a" * 250))
    (tmp_path / "a.xml").write_text("<a>" * 250 + "x" + "</a>" * 250)
    assert child.call(as_submission, tmp_path / "run.xml")[0] is None


@pytest.mark.parametrize("column", ["query_id", "doc_id", "score"])
def test_parquet_with_nested_columns_is_rejected_before_they_are_read(child, tmp_path, column):
    pq = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    size = 50_000_000
    lists = pa.ListArray.from_arrays(pa.array([0, size], pa.int32()), pa.nulls(size, pa.int8()))
    for nested in (lists, pa.StructArray.from_arrays([lists], ["inner"])):
        table = {"query_id": ["1"], "doc_id": ["a"], "score": [1.0], column: nested}
        pq.write_table(pa.table(table), tmp_path / "run")
        message = error_within_limits(child, as_run, tmp_path / "run", memory=40)
        assert f"run: the column {column} has the type " in message
        assert message.endswith(", expected text or numbers")
