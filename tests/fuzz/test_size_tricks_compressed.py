"""Small compressed files that expand to large ones are rejected, with little memory and after few bytes."""

import bz2
import lzma
import zlib

import pytest
from packed import gzipped

import ir_graded
from fuzz.size_cases import READERS, as_matrix, as_qrels, as_run, scored
from ir_graded.errors import FileFormatError
from ir_graded.io import text as decompression

#: MiB that a call may use. A file rejected at 64 MiB is held once or twice before.
MEMORY = 320
_BLOCK = 1 << 17


def gzip_bomb(text):
    """A quarter of a GiB in one member, from repeated flushed blocks."""
    packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    head = packer.compress(text * ((1 << 20) // len(text))) + packer.flush(zlib.Z_FULL_FLUSH)
    more = packer.compress(text * ((1 << 20) // len(text))) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + more * 256


def xz_bomb(text):
    """80 MiB in some 20 KiB."""
    return lzma.compress(text * ((80 << 20) // len(text)), preset=0)


def bzip2_bomb(text):
    """80 MiB in a few KiB."""
    return bz2.compress(text * ((80 << 20) // len(text)), compresslevel=1)


def zstandard_bomb(text):
    """8 GiB in 256 KiB: the text once, then its last byte repeated."""
    begin = text * (_BLOCK // len(text))
    raw = (len(begin) << 3).to_bytes(3, "little") + begin
    repeated = ((_BLOCK << 3) | 2).to_bytes(3, "little") + text[-1:]
    return b"\x28\xb5\x2f\xfd\x00\x58" + raw + repeated * (1 << 16)


BOMBS = {"gzip": gzip_bomb, "bzip2": bzip2_bomb, "xz": xz_bomb, "zstandard": zstandard_bomb}
TEXTS = {"zeros": b"\0", "blank lines": b"\n", "run lines": b"1 Q0 a 1 1 t\n"}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", BOMBS)
def test_decompression_bombs_are_rejected(child, tmp_path, kind, text):
    path = tmp_path / "run"
    path.write_bytes(BOMBS[kind](TEXTS[text]))
    for reader in (as_qrels, as_matrix, scored) if text == "zeros" else (as_run, scored):
        outcome, memory = child.call(reader, path)
        assert outcome is not None, reader.__name__
        assert outcome[0] == "FileFormatError", (reader.__name__, outcome)
        assert "expand to more than 200 times" in outcome[1] or "is longer than 1 MiB" in outcome[1]
        assert memory < MEMORY, reader.__name__


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", BOMBS)
def test_decompression_stops_soon_after_the_limit(kind, text):
    """The last step may exceed 64 MiB; the whole would be 80 MiB, 256 MiB or 8 GiB."""
    data, given = BOMBS[kind](TEXTS[text]), []
    steps = decompression.decompressed(iter([data]), decompression.codec_of(data, "run"), "run")
    with pytest.raises(FileFormatError, match="expand to more than 200 times"):
        given.extend(map(len, steps))
    assert sum(given) <= 64 << 20


def test_the_limit_is_the_larger_of_two_bounds(monkeypatch, tmp_path):
    """The bounds are a number of bytes and a multiple of the compressed size; they are not added."""
    text = b"1 Q0 a 1 1 t\n" * 10_000
    path = tmp_path / "run.gz"
    path.write_bytes(gzipped(text))
    times = len(text) * 3 // 4 // path.stat().st_size
    monkeypatch.setattr(decompression, "_RATIO", times)
    monkeypatch.setattr(decompression, "_EXPANDED", len(text) // 2)
    with pytest.raises(ir_graded.FileFormatError, match=f"expand to more than {times} times their size"):
        ir_graded.read_run(path)
    for name, bound in (("_EXPANDED", len(text)), ("_RATIO", 2 * times)):
        with monkeypatch.context() as patch:
            patch.setattr(decompression, name, bound)
            assert len(ir_graded.read_run(path)) == 10_000


@pytest.mark.parametrize("padding", [b" ", b"\n", b"\0 ", b" \0", b"\0\0x"])
def test_only_null_bytes_pad_a_gzip_file(tmp_path, padding):
    path = tmp_path / "run.gz"
    packed = gzipped(b"1 Q0 a 1 1 t\n")
    path.write_bytes(packed + b"\0" * 512)
    assert len(ir_graded.read_run(path)) == 1
    path.write_bytes(packed + padding)
    for call in (ir_graded.read_run, lambda path: ir_graded.evaluate("Q", {"1": {"a": 1}}, path)):
        with pytest.raises(ir_graded.FileFormatError, match=r"run\.gz: (corrupt|truncated) gzip data"):
            call(path)


def test_a_file_of_many_members_is_rejected(child, tmp_path):
    path = tmp_path / "run.gz"
    member = gzipped(b"1 Q0 a 1 1 t\n" * 80_000)
    path.write_bytes(member * 1000)
    for reader in READERS:
        outcome, memory = child.call(reader, path)
        assert outcome[0] == "FileFormatError"
        assert memory < MEMORY


def test_xz_that_needs_much_memory_is_rejected(child, tmp_path):
    path = tmp_path / "run.xz"
    packed = bytearray(lzma.compress(b"1 Q0 a 1 1 t\n", preset=0))
    # The block header, after the stream header, ends in the dictionary size, nulls and a CRC.
    packed[16] = 40
    packed[20:24] = zlib.crc32(packed[12:20]).to_bytes(4, "little")
    path.write_bytes(packed)
    outcome, memory = child.call(as_run, path)
    assert outcome == (
        "FileFormatError",
        f"{path}: too much memory is needed for the xz data (Memory usage limit exceeded)",
    )
    assert memory < MEMORY


@pytest.mark.parametrize("kind", ["gzip", "xz"])
def test_a_small_file_that_compresses_well_is_read(child, tmp_path, kind):
    pack = {"gzip": gzipped, "xz": lzma.compress}[kind]
    path = tmp_path / "run"
    path.write_bytes(pack(b"1 Q0 a 1 1 t\n" + b"\n" * (1 << 23)))
    for reader in (as_run, scored):
        assert child.call(reader, path)[0] is None
