"""Damaged Parquet files are read, or rejected by name; none crashes or hangs the process."""

from __future__ import annotations

import io
from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from fuzz.fuzz_cases import COUNTS, LONGEST, fuzz, spoilt
from fuzz.size_cases import as_qrels, as_run, scored
from ir_graded.errors import FileFormatError
from ir_graded.io.parquet import column_sizes

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def written(**options):
    table = pa.table(
        {
            "query_id": ["1"] * 5 + ["2"] * 5,
            "doc_id": [f"d{number}" for number in range(10)],
            "score": [number / 7 for number in range(10)],
            "relevance": [number % 3 for number in range(10)],
        }
    )
    with io.BytesIO() as file:
        pq.write_table(table, file, **options)
        return file.getvalue()


FILES = [
    written(compression="none", use_dictionary=False),
    written(compression="none", row_group_size=3),
    written(compression="zstd", data_page_version="2.0"),
    written(compression="gzip", write_statistics=False),
    written(compression="snappy", use_dictionary=["query_id"]),
]
TOKENS = [
    b"\0",
    b"\xff",
    b"\x80\x80\x80\x80\x08",
    b"\x15\x00",
    b"\x16\xfe\xff\xff\xff\x0f",
    b"PAR1",
    b"\x7f" * 4,
]


@st.composite
def files(draw):
    """Draw a changed file; most changes are in the footer, which holds positions and sizes."""
    whole = draw(st.sampled_from(FILES))
    begin = draw(st.sampled_from([4, len(whole) - 900, len(whole) - 300, len(whole) - 8]))
    return whole[:begin] + draw(spoilt(st.just(whole[begin:]), TOKENS))


@pytest.mark.parametrize("data", FILES, ids=range(len(FILES)))
def test_valid_files_are_read(child, tmp_path, data):
    (tmp_path / "right.parquet").write_bytes(data)
    for reader in (as_qrels, as_run, scored):
        assert child.call(reader, tmp_path / "right.parquet")[0] is None


@pytest.mark.parametrize("data", FILES, ids=range(len(FILES)))
def test_sizes_of_columns_equal_pyarrow(tmp_path, data):
    path = tmp_path / "right.parquet"
    path.write_bytes(data)
    groups = [
        pq.ParquetFile(path).metadata.row_group(number)
        for number in range(pq.ParquetFile(path).num_row_groups)
    ]
    columns = [group.column(number) for group in groups for number in range(group.num_columns)]
    expected = Counter()
    for column in columns:
        expected[column.path_in_schema] += column.total_uncompressed_size
    assert column_sizes(path) == expected


@given(changed=st.lists(st.tuples(st.integers(4, 2000), st.integers(0, 255)), min_size=1, max_size=8))
def test_sizes_of_columns_in_a_damaged_footer_are_numbers_or_an_error(tmp_path_factory, changed):
    data = bytearray(FILES[1])
    for back, byte in changed:
        data[-min(back, len(data))] = byte
    path = tmp_path_factory.getbasetemp() / "footer.parquet"
    path.write_bytes(data)
    with suppress(FileFormatError):
        assert all(isinstance(size, int) for size in column_sizes(path).values())


@fuzz(100)
@given(data=files())
def test_damaged_files_are_read_or_rejected(child, tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "spoilt.parquet"
    path.write_bytes(data)
    for reader in (as_qrels, as_run, scored):
        COUNTS["Parquet files"] += 1
        outcome, memory = child.call(reader, path)
        if outcome is not None:
            assert outcome[0] in ("FileFormatError", "InputError", "NoSharedTopicsError"), outcome
            assert str(path) in outcome[1] or outcome[1].startswith("run 'spoilt.parquet' and the qrels"), (
                outcome
            )
            assert len(outcome[1]) < LONGEST
        assert memory < 500
