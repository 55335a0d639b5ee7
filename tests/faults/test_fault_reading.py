"""Files that cannot be read, vanish, or are truncated raise an error that names them; nothing is scored."""

import bz2
import lzma
import os
import re
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import zstandard
from faults.fault_cases import (
    QRELS,
    RUNS,
    needs_posix,
    public_folder,
    run_text,
    shell,
    without_privileges,
    write_collection,
)
from helpers import assert_command_fails, run_command
from packed import gzipped

import ir_graded
from ir_graded.errors import FileFormatError, InputError, NoSharedTopicsError
from ir_graded.evaluation import evaluate as evaluation
from ir_graded.io import parquet, plain, text as file_text
from ir_graded.matching import plain as plain_runs, tables as table_runs


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_collection(tmp_path)
    return tmp_path


@pytest.fixture
def error_of(capsys):
    """Return the one line on stderr of a call of the command line."""
    return lambda *arguments: assert_command_fails(run_command(capsys, *arguments))


@pytest.fixture(params=["plain", "complete"])
def between_pieces(request, monkeypatch):
    """Call a function between the small pieces of a run, which a reader reads in one thread."""
    monkeypatch.setattr(table_runs, "_PIECE", 1)
    monkeypatch.setattr(plain, "_PIECES", {"run": 1, "qrels": 1 << 20})
    monkeypatch.setattr(plain, "processors", lambda: 1)
    monkeypatch.setattr("ir_graded.matching.match.processors", lambda: 1)
    if request.param == "complete":
        monkeypatch.setattr(plain, "_rows", lambda *_given, **_options: None)
    module = plain_runs if request.param == "plain" else table_runs
    found = module._match_rows

    def call(function):
        def match_rows(*arguments):
            function()
            return found(*arguments)

        monkeypatch.setattr(module, "_match_rows", match_rows)

    return call


# ------------------------------------------------------------------------------- cannot be read

FAILING = Path("/proc/self/mem")  # opens, even for root, but its first bytes cannot be read


@pytest.mark.skipif(not FAILING.exists(), reason="needs /proc/self/mem")
@pytest.mark.usefixtures("folder")
def test_a_failed_read_names_the_file(error_of):
    expected = f"{FAILING}: Input/output error"
    assert error_of("evaluate", "qrels.txt", str(FAILING), "-m", "Q") == expected
    assert error_of("evaluate", str(FAILING), "one.run", "-m", "Q") == expected
    assert error_of("evaluate", "qrels.txt", "one.run", str(FAILING), "-m", "Q") == expected
    assert error_of("explain", "Q", "qrels.txt", str(FAILING), "1") == expected
    pytest.importorskip("scipy")
    assert error_of("meta", "--matrix", str(FAILING)) == expected
    assert error_of(
        "meta", "qrels.txt", "one.run", "two.run", "-m", "Q", "--one-run-per-team", str(FAILING)
    ) == (expected)


def test_a_folder_instead_of_a_file_is_rejected(folder, error_of):
    (folder / "wrong").mkdir()
    error = error_of("evaluate", "wrong", "one.run", "-m", "Q")
    assert error.startswith("wrong is a folder without qrels/test.tsv, which folders of BEIR have; give")
    assert error_of("evaluate", "qrels.txt", "wrong", "-m", "Q") == "the folder wrong has no files of runs"
    (folder / "wrong" / "inner").mkdir()
    assert error_of("evaluate", "qrels.txt", "wrong", "-m", "Q") == "the folder wrong has no files of runs"


@needs_posix
@pytest.mark.parametrize("name", ["pipe", "pipe.json"])
def test_a_pipe_in_a_folder_is_rejected(folder, error_of, name):
    """Reading it would wait for a writer."""
    (folder / "runs").mkdir()
    pipe = folder / "runs" / name
    os.mkfifo(pipe)
    problem = f"runs/{name}: is not a regular file; remove it from the folder, or give it by its path"
    assert error_of("evaluate", "qrels.txt", "runs", "-m", "Q") == problem
    if pipe.suffix:
        assert error_of("history", "runs") == problem
        with pytest.raises(InputError, match="is not a regular file"):
            ir_graded.Scores.from_mteb("runs", "nDCG@10")
    (folder / "beir" / "qrels").mkdir(parents=True)
    os.mkfifo(folder / "beir" / "qrels" / "test.tsv")
    assert "beir/qrels/test.tsv: is not a regular file" in error_of("evaluate", "beir", "one.run", "-m", "Q")


@pytest.mark.slow
@needs_posix
def test_unreadable_files_and_folders_are_rejected():
    with public_folder() as place:
        write_collection(place)
        (place / "runs").mkdir()
        for name in ("one.run", "runs"):
            (place / name).chmod(0)
        calls = [["evaluate", "qrels.txt", name, "-m", "Q"] for name in ("one.run", "runs")]
        code, out, err = without_privileges(calls, place)
        (place / "runs").chmod(0o755)
    assert (code, out) == (0, "2\n2\n"), err
    assert err.splitlines() == [f"ir_graded: {name}: Permission denied" for name in ("one.run", "runs")]


def test_a_dangling_link_is_rejected(folder, error_of):
    (folder / "link.run").symlink_to(folder / "nowhere")
    assert error_of("evaluate", "qrels.txt", "link.run", "-m", "Q") == "link.run: No such file or directory"


# ------------------------------------------------------------------------------------- vanishes


def test_a_run_that_vanishes_after_the_folder_was_listed_is_reported(folder, monkeypatch):
    (folder / "runs").mkdir()
    for name in RUNS:
        (folder / name).rename(folder / "runs" / name)
    listed = evaluation.named_runs

    def vanishing(runs):
        found = listed(runs)
        assert list(found) == sorted(RUNS)
        (folder / "runs" / "two.run").unlink()
        return found

    monkeypatch.setattr(evaluation, "named_runs", vanishing)
    with pytest.raises((InputError, OSError), match=r"runs/two\.run"):
        ir_graded.evaluate("Q", "qrels.txt", "runs")


def test_a_run_that_vanishes_between_its_pieces_is_reported(folder, between_pieces):
    between_pieces(lambda: (folder / "one.run").unlink(missing_ok=True))
    with pytest.raises(FileNotFoundError, match=r"one\.run"):
        ir_graded.evaluate("Q", "qrels.txt", "one.run")


@pytest.mark.parametrize("change", ["replaced", "longer", "shorter", "touched"])
def test_a_run_that_changes_between_its_pieces_is_rejected(folder, between_pieces, change):
    """Half of a run must not be scored with half of another."""
    path = folder / "one.run"
    changes = {
        "replaced": lambda: (folder / "two.run").replace(path) if (folder / "two.run").exists() else None,
        "longer": lambda: path.write_text(run_text(RUNS["one.run"]) + "4 Q0 a 1 1 t\n"),
        "shorter": lambda: path.write_text(run_text(RUNS["one.run"])[:-15]),
        "touched": lambda: os.utime(path, ns=(0, 0)),
    }
    between_pieces(changes[change])
    with pytest.raises(FileFormatError, match=r"one\.run: (was changed|became shorter) while it was read"):
        ir_graded.evaluate("Q", "qrels.txt", "one.run")


@pytest.mark.parametrize("compress", [bytes, gzipped], ids=["plain", "gzip"])
@pytest.mark.parametrize("change", ["longer", "shorter", "other bytes", "touched", "replaced"])
def test_qrels_that_change_while_they_are_read_are_rejected(tmp_path, monkeypatch, change, compress):
    """Half of the qrels must not be combined with half of others."""
    path = tmp_path / "qrels.txt"
    lines = [f"{topic} 0 {doc} {level}\n" for topic, docs in QRELS.items() for doc, level in docs.items()]
    data = compress("".join(lines).encode())
    path.write_bytes(data)
    other = tmp_path / "other.txt"
    other.write_bytes(data)
    changes = {
        "longer": lambda: path.write_bytes(data + compress(b"1 0 z 3\n")),
        "shorter": lambda: path.write_bytes(data[: len(data) // 2]),
        "other bytes": lambda: path.write_bytes(compress("".join(reversed(lines)).encode())),
        "touched": lambda: os.utime(path, ns=(0, 0)),
        "replaced": lambda: other.replace(path),
    }
    begun = file_text.codec_of

    def changing(*arguments):
        changes[change]()
        return begun(*arguments)

    monkeypatch.setattr(file_text, "codec_of", changing)
    problem = r"qrels\.txt: (was changed while it was read|truncated|corrupt)"
    with pytest.raises(FileFormatError, match=problem):
        ir_graded.evaluate("Q", path, RUNS["one.run"])


def test_a_compressed_run_that_grows_between_its_pieces_is_rejected(tmp_path, monkeypatch, between_pieces):
    path = tmp_path / "run.gz"
    path.write_bytes(gzipped(TEXT))

    def grow():
        with path.open("ab") as file:
            file.write(gzipped(b"21 Q0 d1 1 1 t\n"))

    between_pieces(grow)
    monkeypatch.setattr(file_text, "READ", 64)
    with pytest.raises(FileFormatError, match=r"run\.gz: was changed while it was read"):
        ir_graded.evaluate("Q", JUDGED, path)


def write_parquet(path, sign):
    rows = [(topic, doc, sign * score) for topic, doc, score in ROWS]
    pd.DataFrame(rows, columns=["query_id", "doc_id", "score"]).to_parquet(path)


def test_a_parquet_run_replaced_between_its_pieces_is_rejected(tmp_path):
    run, other = tmp_path / "run.parquet", tmp_path / "other.parquet"
    write_parquet(run, 1)
    write_parquet(other, -1)
    pieces = parquet.read_parquet("run", run, 20)
    assert next(pieces)[0]["score"][0] > 0
    other.replace(run)
    with pytest.raises(FileFormatError, match=r"run\.parquet: was changed while it was read"):
        next(pieces)


# ------------------------------------------------------------------------------------ truncated

ROWS = [(str(topic), f"d{doc}", 9.0 - doc / 8) for topic in range(20) for doc in range(6)]
TEXT = "".join(f"{topic} Q0 {doc} 1 {score} t\n" for topic, doc, score in ROWS).encode()
JUDGED = {str(topic): {"d1": 1, "d3": 2} for topic in range(20)}

COMPRESSIONS = {
    "gzip": gzipped,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": zstandard.ZstdCompressor(write_checksum=True).compress,
}


@pytest.mark.slow
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_truncated_compressed_run_is_never_scored(tmp_path, compression):
    path = tmp_path / "run"
    data = COMPRESSIONS[compression](TEXT)
    for size in [*range(1, len(data), 7), *range(len(data) - 9, len(data))]:
        path.write_bytes(data[:size])
        with pytest.raises(FileFormatError, match="run"):
            ir_graded.evaluate("Q", JUDGED, path)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_changed_byte_of_a_compressed_run_never_changes_scores(tmp_path, compression):
    path = tmp_path / "run"
    data = COMPRESSIONS[compression](TEXT)
    path.write_bytes(data)
    right = ir_graded.evaluate("Q", JUDGED, path).values
    for at in range(0, len(data), 13):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        try:
            found = ir_graded.evaluate("Q", JUDGED, path).values
        except InputError:
            continue
        np.testing.assert_array_equal(found, right)  # such as the time in a header


def test_broken_parquet_raises_an_error_instead_of_a_panic(tmp_path, monkeypatch):
    """Polars panics on unexpected input, and a panic does not derive from Exception."""
    import polars as pl

    path = tmp_path / "run.parquet"
    pd.DataFrame(ROWS, columns=["query_id", "doc_id", "score"]).to_parquet(path)

    def panicking(*_, **__):
        raise pl.exceptions.PanicException("assertion failed: offset + length <= self.length")

    monkeypatch.setattr("ir_graded.io.parquet._number_of_rows", panicking)
    with pytest.raises(FileFormatError, match=r"run\.parquet: cannot be read as Parquet \(assertion failed"):
        ir_graded.evaluate("Q", JUDGED, path)


@needs_posix
def test_a_pipe_that_ends_inside_a_line_is_rejected(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = run_text(RUNS["one.run"]).encode()
    writer = threading.Thread(target=pipe.write_bytes, args=(text[: text.rindex(b"e")],))
    writer.start()
    with pytest.raises(FileFormatError, match="pipe, line 4: expected"):
        ir_graded.evaluate("Q", QRELS, pipe)
    writer.join()


@needs_posix
@pytest.mark.parametrize(
    "call",
    [
        lambda run: ir_graded.evaluate("Q", QRELS, run),
        lambda run: ir_graded.evaluate(["Q", "SetAP"], QRELS, run),
        lambda run: ir_graded.explain("Q", QRELS, run, "1"),
        lambda run: ir_graded.unjudged(QRELS, run),
    ],
    ids=["evaluate", "another provider", "explain", "unjudged"],
)
def test_a_pipe_without_shared_topics_is_read_once(tmp_path, call):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        with pipe.open("wb") as file:  # waits for the reader
            pipe.unlink()  # nobody can open it a second time
            file.write(b"q9 Q0 a 1 2.0 t\n")

    writer = threading.Thread(target=write)
    writer.start()
    with pytest.raises(NoSharedTopicsError, match="the run has 'q9'"):
        call(pipe)
    writer.join()


@pytest.mark.slow
@needs_posix
def test_a_report_reads_a_pipe_once(folder):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    report = "ir_graded report qrels.txt one.run {} -m Q --html page.html"
    page = Path(folder) / "page.html"
    code, out, err = shell(f"cat two.run | {report.format('/dev/stdin')}", folder)
    assert (code, out) == (0, "page.html\n"), err
    cells = re.findall(r"<td[^>]*>[^<]*</td>", page.read_text())
    (Path(folder) / "two.run").rename(Path(folder) / "-")
    code, _, err = shell(report.format("./-"), folder)
    assert code == 0, err
    assert re.findall(r"<td[^>]*>[^<]*</td>", page.read_text()) == cells
    assert cells


@pytest.mark.slow
@needs_posix
def test_standard_input_without_shared_topics_is_reported(folder):
    code, out, err = shell("echo q9 Q0 a 1 2.0 t | ir_graded evaluate qrels.txt /dev/stdin -m Q", folder)
    assert (code, out) == (2, "")
    assert "share no topic" in err
