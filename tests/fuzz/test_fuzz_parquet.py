"""Damaged Parquet files are read, or rejected by name; none crashes or hangs the process."""

import io

import pytest
from hypothesis import given, strategies as st

from fuzz.fuzz_cases import COUNTS, LONGEST, fuzz, spoilt
from fuzz.size_cases import as_qrels, as_run, scored

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
TOKENS = b"\0 \xff \x80\x80\x80\x80\x08 \x15\x00 \x16\xfe\xff\xff\xff\x0f PAR1 \x7f\x7f\x7f\x7f".split()


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
