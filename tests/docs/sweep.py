"""Run each command and the code of each page in a new process, with the libraries that are installed.

    python tests/docs/sweep.py

Code may fail because a library of an extra is missing, if the error says how to install it, or if the page
itself imports that library. The code below it on the page may lack its names.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # where pytest finds modules of tests

from cli.command_cases import ARGUMENTS, arguments, write_files
from doc_blocks import DOCS, PAGES, PT_DOCS, ROOT, Block, blocks, environment, session, told

import ir_graded
from ir_graded._utils.later import EXTRAS

_FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
_REQUIRES = re.compile(
    r"^(?:ir_graded: )?this feature requires (\w+): pip install 'ir-graded\[\w+\].*'$", re.MULTILINE
)


def _is_python(page: Path, block: Block) -> bool:
    of_pyterrier = page == PT_DOCS and block.argument == "python"
    return block.directive in {"testcode", "drawing"} or of_pyterrier


def _is_output(page: Path, block: Block) -> bool:
    return block.directive == "testoutput" or (page == PT_DOCS and block.argument == "text")


def _is_console(_: Path, block: Block) -> bool:
    return block.argument == "console"


def _pages(holds: Callable[[Path, Block], bool]) -> dict[str, Path]:
    found = [page for page in PAGES if any(holds(page, block) for block in blocks(page))]
    return {page.relative_to(ROOT).as_posix(): page for page in found}


PYTHON, CONSOLE = _pages(_is_python), _pages(_is_console)


def _missing(message: str) -> str:
    """Return the library that is missing, if a message says so and how to install it, else ''."""
    found = _REQUIRES.search(message)
    return found[1] if found is not None and find_spec(found[1]) is None else ""


def _missing_for(error: Exception) -> str:
    """Return the library of an extra that an example lacks; '' if it fails for another reason."""
    if isinstance(error, ir_graded.GradedError):
        return _missing(str(error))
    library = str(getattr(error, "name", "")).partition(".")[0]
    package = str(Path(ir_graded.__file__).parent)
    own = any(frame.filename.startswith(package) for frame in traceback.extract_tb(error.__traceback__))
    is_of_page = isinstance(error, ModuleNotFoundError) and not own
    return library if is_of_page and library in {*EXTRAS, "pyterrier"} else ""


def run_python(name: str) -> set[str]:
    """Run the Python blocks of a page in this process, and return the missing libraries."""
    page = PYTHON[name]
    names: dict[str, object] = {"__name__": "__main__"}
    lacking: set[str] = set()
    printed: str | None = None
    for block in blocks(page):
        if _is_python(page, block):
            printed, out = None, io.StringIO()
            try:
                with contextlib.redirect_stdout(out):
                    exec(compile(block.text, page.name, "exec"), names)  # noqa: S102  # the project's own pages
                printed = out.getvalue()
            except Exception as error:
                if library := _missing_for(error):
                    lacking.add(library)
                elif not (lacking and isinstance(error, NameError)):
                    raise
        elif _is_output(page, block) and printed is not None:
            example = doctest.Example(block.text, block.text + "\n")
            if not doctest.OutputChecker().check_output(example.want, printed, _FLAGS):
                raise AssertionError(doctest.OutputChecker().output_difference(example, printed, _FLAGS))
    return lacking


def run_console(name: str) -> set[str]:
    """Run the console blocks of a page, down to one that lacks a library or program, and return it."""
    for block in filter(partial(_is_console, CONSOLE[name]), blocks(CONSOLE[name])):
        for command, expected in session(block):
            if shutil.which(program := command.split()[0], path=environment()["PATH"]) is None:
                return {program}
            done = _bash(command)
            if told(done.stdout.splitlines()) != told(expected):
                if library := _missing(done.stdout):
                    return {library}
                raise AssertionError(f"{command}\n{done.stdout}")
    return set()


def run_command(name: str) -> set[str]:
    """Run a command with its usual arguments, and return the missing library."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        done = _bash(line := f"ir_graded {name} {arguments(name)}", folder)
    if done.returncode not in {0, 1} or "Traceback" in done.stdout:
        if library := _missing(done.stdout):
            return {library}
        raise AssertionError(f"{line}\n{done.stdout}")
    return set()


def _bash(command: str, folder: str = ".") -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  # the project's own pages and commands
        [shutil.which("bash") or "bash", "-c", command],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


#: How the examples of each kind run, each by its name in a new process.
KINDS: dict[str, tuple[Callable[[str], set[str]], Collection[str]]] = {
    "command": (run_command, ARGUMENTS),
    "console": (run_console, CONSOLE),
    "python": (run_python, PYTHON),
}


def sweep(kind: str, name: str) -> tuple[str, str]:
    """Run an example in a new process; return the missing libraries and the error, each '' without one."""
    with tempfile.TemporaryDirectory() as folder:
        files = shutil.copytree(DOCS / "files", Path(folder, "files"))
        done = subprocess.run(  # noqa: S603  # this program
            [sys.executable, __file__, kind, name], cwd=files, capture_output=True, text=True, check=False
        )
    return (done.stdout.strip(), "") if done.returncode == 0 else ("", done.stderr)


def main(arguments: list[str]) -> None:
    """Run all examples, print a line for each, and exit with 1 if one fails; or run one in this process."""
    if arguments:
        kind, name = arguments
        print(*sorted(KINDS[kind][0](name)))  # noqa: T201
        return
    examples = [(kind, name) for kind, (_, names) in KINDS.items() for name in names]
    failed = False
    with ThreadPoolExecutor(2) as threads:
        found = threads.map(lambda example: sweep(*example), examples)
        for (kind, name), (libraries, error) in zip(examples, found, strict=True):
            failed |= bool(error)
            result = f"fails\n{error}" if error else f"requires {libraries}" if libraries else "passes"
            print(f"{kind} {name}: {result}", flush=True)  # noqa: T201
    raise SystemExit(failed)


if __name__ == "__main__":
    main(sys.argv[1:])
