"""No file of lines, compressed or not, gives another error than those promised, whole or in pieces."""

from __future__ import annotations

import lzma

import pytest
import zstandard
from hypothesis import given, strategies as st
from packed import gzipped

import ir_graded
from fuzz.fuzz_cases import fuzz, refused, spoilt
from ir_graded.inputs import content, table_runs

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
    *(
        b"\0",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xc2\xa0",
        b"\xe2\x80\xa8",
        b"\xef\xbb\xbf",
        b"\x1f\x8b",
        b"\x28\xb5\x2f\xfd",
    ),
    *(
        b"x\x9c",
        b"PAR1",
        b"\n",
        b"\r",
        b"\r\n",
        b"\t",
        b"\v",
        b"\x1c",
        b"\x85",
        b" ",
        b"  ",
        b"\n\n",
        b'"',
        b"#",
        b",",
    ),
    *(
        b"nan",
        b"inf",
        b"-0",
        b"1e400",
        b"1_0",
        b"9" * 25,
        b"9" * 5000,
        b"0x1",
        b"L",
        b"-1:5",
        b":",
        b"\n1 Q0 c 3 1 t\n",
    ),
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


def check(path, data, target, format=None):
    """The file is read as qrels and as a run, or refused; to score it in tiny pieces goes likewise."""
    path.write_bytes(data)
    refused(target, ir_graded.read_qrels, path, format=format)
    frames = []
    whole = refused(target, lambda: frames.append(ir_graded.read_run(path, format=format)))
    scores = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_runs, "_PIECE", 5)
        patch.setattr(table_runs, "_FRAME", 2)
        patch.setattr(content, "READ", 7)
        pieces = refused(target, lambda: scores.append(ir_graded.evaluate(["Q"], QRELS, path)))
    if format is None and whole:
        # What stands in a topic without qrels is not looked at, but it is read.
        assert pieces, data


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@fuzz(250)
@given(
    data=texts | st.binary(max_size=60),
    format=st.sampled_from([None, None, "trec", "ntcir", "inex", "genomics"]),
)
def test_lines_are_read_or_refused(path, data, format):
    check(path, data, "files of lines", format)


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@fuzz(150)
@given(text=texts, compression=st.sampled_from(sorted(COMPRESSIONS)), data=st.data())
def test_compressed_files_are_read_or_refused(path, text, compression, data):
    compressed = COMPRESSIONS[compression](text)
    spoiling = spoilt(st.just(compressed), [b"\0", b"\xff", compressed[:6], compressed])
    check(path, data.draw(st.just(compressed) | spoiling), "compressed files")
