"""Files that the package writes: the old or the new file remains, whatever happens during the write."""

import ast
import signal
import sys
import textwrap
import time
from pathlib import Path

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from faults.fault_cases import (
    PATIENCE,
    QRELS,
    RUNS,
    called,
    command,
    ended,
    hidden_files,
    needs_posix,
    public_folder,
    started,
    without_privileges,
    write_collection,
)
from helpers import assert_command_fails, run_command

import ir_graded
from ir_graded.cli.sources import write_figures

pytestmark = pytest.mark.slow

REPORT = command("report", "qrels.txt", "one.run", "two.run", "-m", "Q AP", "--html", "page.html")
OLD = "the old page"


@pytest.fixture
def folder(tmp_path):
    write_collection(tmp_path)
    (tmp_path / "page.html").write_text(OLD)
    return tmp_path


def stays(folder):
    assert (folder / "page.html").read_text() == OLD
    assert hidden_files(folder) == []


def python(code, folder, *arguments):
    return started([sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], folder)


# ------------------------------------------------------------------------------------ wrong files


WRITING = {"evaluate": "--save", "report": "--html"}


@pytest.mark.parametrize("name", WRITING)
@pytest.mark.parametrize(
    ("given", "target"),
    [
        ("one.run", "qrels.txt"),
        ("one.run", "weights.txt"),
        ("one.run", "./one.run"),
        ("name=one.run", "one.run"),
        ("runs", "runs/one.run"),
    ],
)
def test_a_file_that_is_read_is_not_overwritten(folder, capsys, monkeypatch, name, given, target):
    monkeypatch.chdir(folder)
    Path("weights.txt").write_text("1 1\n2 1\n")
    Path("runs").mkdir(exist_ok=True)
    Path("runs/one.run").write_bytes(Path("one.run").read_bytes())
    before = Path(target).read_bytes()
    words = ("qrels.txt", given, "two.run", "-m", "Q", "--weights", "weights.txt", WRITING[name], target)
    found = run_command(capsys, name, *words)
    assert_command_fails(found, f"{target} is a file that the command reads; give another name to write")
    assert Path(target).read_bytes() == before


def test_scores_in_a_folder_of_runs_are_overwritten(folder, capsys, monkeypatch):
    """They are not read as a run."""
    monkeypatch.chdir(folder)
    Path("runs").mkdir(exist_ok=True)
    Path("runs/one.run").write_bytes(Path("one.run").read_bytes())
    for _ in range(2):
        assert (
            run_command(capsys, "evaluate", "qrels.txt", "runs", "-m", "Q", "--save", "runs/s.json")[0] == 0
        )


@pytest.mark.parametrize("name", WRITING)
def test_a_dash_is_not_a_file_to_write(folder, capsys, monkeypatch, name):
    monkeypatch.chdir(folder)
    found = run_command(capsys, name, "qrels.txt", "one.run", "-m", "Q", WRITING[name], "-")
    assert_command_fails(found, "- is not the name of a file to write")
    assert not Path("-").exists()


# ------------------------------------------------------------------------------------ no space


@needs_posix
def test_a_report_too_large_for_the_disk_keeps_the_old_file(folder):
    resource = pytest.importorskip("resource")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    code, out, err = called(REPORT, folder, preexec_fn=limit)
    assert (code, out, err) == (2, "", f"ir_graded: {folder / 'page.html'}: File too large\n")
    stays(folder)


@needs_posix
def test_a_read_only_folder_is_reported_before_any_work():
    wrong = [
        ["report", "no-qrels", "no-run", "-m", "Q", "--html", "page.html"],
        ["meta", "no-qrels", "no-run", "-m", "Q", "--plot", "."],
    ]
    with public_folder() as place:
        code, out, err = without_privileges(wrong, place, 0o555)
    assert (code, out) == (0, "2\n2\n"), err
    assert err.splitlines() == [
        f"ir_graded: {place}: the folder is not writable",
        "ir_graded: Invalid value for --plot: the folder . is not writable",
    ]


# ------------------------------------------------------------------------------ in the middle


@needs_posix
def test_an_interrupt_while_writing_keeps_the_old_file(folder):
    code = """
        import os, signal
        from ir_graded.cli import run
        signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
        os.fsync = lambda _: signal.raise_signal(signal.SIGINT)
        run()
    """
    assert ended(python(code, folder, *REPORT[3:]))[:2] == (130, "")
    stays(folder)


@pytest.mark.smoke
@needs_posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_a_kill_while_writing_keeps_the_old_file(folder, name):
    """A killed process cannot clean up: it leaves a temporary file, whose name begins with a dot."""
    code = """
        import os, signal, sys
        from pathlib import Path
        from ir_graded._utils.atomic_files import write_whole
        os.fsync = lambda _: signal.raise_signal(getattr(signal, sys.argv[1]))
        write_whole(Path("page.html"), b"the new page")
    """
    assert ended(python(code, folder, name))[0] == -getattr(signal, name)
    assert (folder / "page.html").read_text() == OLD
    (left,) = hidden_files(folder)
    assert left.startswith(".page.html.")


def test_a_figure_that_cannot_be_drawn_keeps_the_old_files(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    from ir_graded.plots.meta import asl_curve, stability_curves, swap_curves

    scores = ir_graded.evaluate(["Q", "AP", "RR"], QRELS, RUNS)
    comparison = ir_graded.meta.compare_measures({n: scores.matrix(n) for n in scores.names}, n_resamples=20)
    figures = {
        "curves": asl_curve(comparison.power),
        "stability": stability_curves(comparison.stability),
        "swap": swap_curves(comparison.swap),
        "tau": comparison.correlations.plot(),
    }
    write_figures(figures, tmp_path)
    old = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(old) == 8
    saved, drawn = Figure.savefig, []

    def failing(self, *arguments, **options):
        drawn.append(self)
        if len(drawn) == 6:
            raise ValueError("this font has no such glyph")
        saved(self, *arguments, **(options | {"dpi": 50}))

    monkeypatch.setattr(Figure, "savefig", failing)
    with pytest.raises(ValueError, match="no such glyph"):
        write_figures(figures, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == old


# ------------------------------------------------------------------------- at the same time


def test_processes_that_write_one_file_leave_a_whole_file(tmp_path):
    """A reader always finds a whole file of one writer; they write until all have been read."""
    place, stop = tmp_path / "page.html", tmp_path / "stop"
    code = """
        import sys
        from pathlib import Path
        from ir_graded._utils.atomic_files import write_whole
        place, stop, letter = sys.argv[1:]
        while not Path(stop).exists():
            write_whole(Path(place), letter.encode() * 300_000)
    """
    writers = [python(code, tmp_path, place, stop, letter) for letter in "abc"]
    seen, limit = set(), time.monotonic() + PATIENCE
    while len(seen) < len(writers) and time.monotonic() < limit:
        if place.exists():
            text = place.read_bytes()
            assert text == text[:1] * 300_000
            seen.add(text[:1])
    stop.touch()
    assert [ended(writer)[0] for writer in writers] == [0, 0, 0]
    assert seen == {b"a", b"b", b"c"}
    assert hidden_files(tmp_path) == []


# ----------------------------------------------------------------------------- one module writes


WRITERS = {"write_text", "write_bytes", "write_csv", "to_csv", "to_html", "write", "savefig"}


def writes(path):
    """Return the lines of a module that may write a file directly."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        modes = {value.value for value in ast.walk(node) if isinstance(value, ast.Constant)}
        if name in WRITERS or (name == "open" and modes & {"w", "wb", "x", "xb", "a", "ab", "w+"}):
            yield node.lineno, ast.unparse(node)


def test_only_atomic_files_writes_files():
    """Exceptions are streams in memory, standard output, and a log of training that grows by lines."""
    package = Path(ir_graded.__file__).parent
    found = {
        f"{path.relative_to(package).as_posix()}: {call}"
        for path in package.rglob("*.py")
        for _, call in writes(path)
        if path.name != "atomic_files.py"
    }
    allowed = {
        "cli/main.py: Path(os.devnull).open('w', encoding='utf-8')",
        "cli/main.py: open(out.fileno(), 'w', encoding=out.encoding, errors=out.errors, closefd=False)",
        "sentence_transformers.py: path.open('ab')",
        "sentence_transformers.py: line.write_csv(file, include_header=not file.tell())",
        "cli/sources.py: figure.savefig(content, format=ending, bbox_inches='tight', dpi=200)",
        "measures/parsing.py: sys.stderr.write(f'skipped {without}: measures not yet supported\\n')",
        "plots/style.py: figure.savefig(text, format='svg', metadata={'Date': None, 'Creator': None})",
    }
    texts = {
        "_utils/results.py: self._printed().to_html(**_SHOWN)",
        "cli/main.py: formatter.write(f'\\n{question}\\n')",
        "evaluation/scores.py: means.head(_MOST_RUNS).to_html(float_format=f'{{:.{DIGITS}f}}'.format)",
    }
    assert texts <= found
    found -= texts | {call for call in found if "FORMATS[" in call}  # their writers return text
    assert found == allowed
    assert len(list(writes(package / "_utils" / "atomic_files.py"))) == 2
