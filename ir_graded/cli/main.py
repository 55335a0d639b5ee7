"""The command group; errors are one line on stderr with exit code 2, warnings one line.

Where nobody reads on (a closed pipe) the exit code is 1, without a word, as click has it.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from ir_graded._version import __version__
from ir_graded.errors import CoverageWarning, GradedError, printable

from .compare import compare
from .demo import demo
from .evaluate import evaluate
from .explain import explain
from .judgments import judgments
from .measures import measures
from .meta import meta
from .passages import passages
from .plan import plan
from .report import report
from .significance import significance
from .statistics import statistics
from .wording import for_shell

#: What click raises where a group is called without arguments; before 8.2 it prints the help itself.
_NO_ARGUMENTS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())

#: Exit code of shells for what an interrupt ended.
_INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="ir_graded")
def commands() -> None:
    """Evaluate ranked retrieval runs when relevance has grades."""


for command in (
    *(evaluate, compare, explain, meta, significance, plan, judgments, statistics),
    *(measures, passages, demo, report),
):
    commands.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 when all went well, 2 with one line on stderr when not.

    ``compare`` also exits with 1.
    """
    if sys.stdout is None:
        _fail("standard output is closed: redirect it to /dev/null where it is not wanted")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", CoverageWarning)
            warnings.showwarning = _show_warning
            code = _called(arguments)
        sys.stdout.flush()
    except click.ClickException as error:
        _fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted", _INTERRUPTED)
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except MemoryError as error:
        _fail(f"there is too little memory for this ({error})")
    except GradedError as error:
        _fail(for_shell(str(error)))
    except (ValueError, NameError, RuntimeError) as error:
        # RuntimeError: ir_datasets could not download.
        _fail(str(error))
    else:
        sys.exit(code or 0)


def _called(arguments: list[str] | None) -> Any:
    try:
        return commands.main(arguments, prog_name="ir_graded", standalone_mode=False)
    except _NO_ARGUMENTS as error:
        click.echo(error.format_message())
        return 0


def run() -> None:
    """The shell's command: :func:`main` in a process that ends with it.

    Taking down the interpreter and the libraries' threads would take a tenth of a second for nothing.
    """
    _prepare_streams()
    try:
        main()
    except (SystemExit, KeyboardInterrupt) as end:
        for stream in (sys.stdout, sys.stderr):
            # What could not be written has been said; a stream that was closed at start is None.
            with suppress(OSError, AttributeError):
                stream.flush()
        # A second interrupt may arise anywhere.
        code = end.code if isinstance(end, SystemExit) else _INTERRUPTED
        # As Python itself has it: nothing means 0, and anything that is no number 1.
        os._exit(code if isinstance(code, int) else int(code is not None))


def _prepare_streams() -> None:
    """Make standard output and standard error fit to be written to."""
    out = sys.stdout
    if isinstance(getattr(out, "buffer", None), io.RawIOBase):
        # Unbuffered (PYTHONUNBUFFERED): what the disk took a part of would pass for written.
        sys.stdout = open(  # noqa: SIM115  # by its number, and open to the end
            out.fileno(), "w", encoding=out.encoding, errors=out.errors, closefd=False
        )
    if sys.stderr is None:
        # Closed: messages are thrown away, and no file that is opened later takes its place.
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # likewise


def _fail(message: str, code: int = 2) -> None:
    _say(message)
    sys.exit(code)


def _show_warning(message: Warning | str, *_where: Any, **_more: Any) -> None:
    """In place of Python's own, which names a line of this package's code and shows it."""
    _say(f"warning: {for_shell(str(message))}")


def _say(message: str) -> None:
    """One line on stderr, of which the terminal shows every character."""
    # The exit code tells it where nobody can be told.
    with suppress(OSError):
        click.echo(f"ir_graded: {printable(' '.join(message.split()))}", err=True)
