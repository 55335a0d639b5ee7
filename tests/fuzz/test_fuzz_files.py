"""Files of lines, compressed or not, whole or in pieces, are read, or rejected with the place."""

import lzma
import re

import pytest
import zstandard
from hypothesis import given, strategies as st
from packed import gzipped

import ir_graded
from fuzz.fuzz_cases import error_or_none, fuzz, spoilt
from ir_graded.io import text as file_text
from ir_graded.io.formats import FORMATS
from ir_graded.matching import tables as table_runs

#: Lines of each format.
LINES = {
    "TREC run": [b"1 Q0 a 1 3.5 t", b"1 Q0 b 2 2 t", b"2 Q0 a 1 -1e3 t"],
    "INEX run": [b"1 Q0 a 1 3.5 t 0 20", b"1 Q0 a 2 2 t 40 7"],
    "Genomics run": [b"1 17 1 3.5 0 20 t", b"1 18 2 2.5 9 1 t"],
    "TREC qrels": [b"1 0 a 2", b"1 0 b 0", b"2 0 a -1"],
    "NTCIR qrels": [b"1 a L2", b"1 b L0"],
    "INEX qrels": [b"1 Q0 a 30 99 0 0:20 40:10", b"1 Q0 b 0 9"],
    "Genomics qrels": [b"1\t17\t0\t20\tx|y", b"1\t18\t4\t2\t"],
}
TOKENS = [
    *b"\0 \xff \xed\xa0\x80 \xc2\xa0 \xe2\x80\xa8 \xef\xbb\xbf \x1f\x8b \x28\xb5\x2f\xfd x\x9c PAR1".split(
        b" "
    ),
    *b'" # , nan inf -0 1e400 1_0 9999999999999999999999999 0x1 L :'.split(b" "),
    *(b"\n", b"\r", b"\r\n", b"\t", b"\v", b"\x1c", b"\x85", b" ", b"  ", b"\n\n", b"9" * 5000),
    b"\n1 Q0 c 3 1 t\n",
]
COMPRESSIONS = {
    "plain": bytes,
    "gzip": gzipped,
    "xz": lambda data: lzma.compress(data, preset=0),
    "zstandard": zstandard.ZstdCompressor().compress,
}
QRELS = {"1": {"a": 1, "17": 2}, "2": {"a": 1}}

texts = spoilt(
    st.sampled_from(sorted(LINES)).flatmap(
        lambda name: st.lists(st.sampled_from(LINES[name]), max_size=6).map(b"\n".join)
    ),
    TOKENS,
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "file"


def in_pieces(path):
    """Return the scores of a file that is read a few bytes at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_runs, "_PIECE", 5)
        patch.setattr(table_runs, "_FRAME", 2)
        patch.setattr(file_text, "READ", 7)
        return ir_graded.evaluate(["Q", "NumRet"], QRELS, path)


def check(path, data, target, format=None):
    """Check that the file is read as qrels and as a run, or rejected, and that tiny pieces agree."""
    path.write_bytes(data)
    place = rf"{re.escape(str(path))}\b|^run '{path.name}' and the qrels|^unknown format '{format}'"
    error_or_none(target, ir_graded.read_qrels, path, format=format, place=place)
    whole = error_or_none(target, ir_graded.read_run, path, format=format, place=place)
    pieces = error_or_none(target, in_pieces, path, place=place)
    if format is None and whole:
        # Values in a topic without qrels are not checked, but they are parsed.
        assert pieces, data


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@fuzz(250)
@given(
    data=texts | st.binary(max_size=60),
    format=st.sampled_from([None, None, *sorted({one.name for one in FORMATS})]),
)
def test_random_lines_are_read_or_rejected(path, data, format):
    check(path, data, "files of lines", format)


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@fuzz(150)
@given(text=texts, compression=st.sampled_from(sorted(COMPRESSIONS)), data=st.data())
def test_compressed_files_are_read_or_rejected(path, text, compression, data):
    compressed = COMPRESSIONS[compression](text)
    spoiling = spoilt(st.just(compressed), [b"\0", b"\xff", compressed[:6], compressed])
    check(path, data.draw(st.just(compressed) | spoiling), "compressed files")
