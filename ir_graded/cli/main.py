"""The command group, and errors as one line on stderr with exit code 2."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import click

from .. import __version__
from .demo import demo
from .evaluate import evaluate
from .explain import explain
from .measures import measures
from .meta import meta
from .report import report


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="ir_graded")
def commands() -> None:
    """Evaluate ranked retrieval runs when relevance has grades."""


for command in (evaluate, explain, meta, measures, demo, report):
    commands.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 when all went well, 2 with one line on stderr when not."""
    try:
        code = commands.main(arguments, prog_name="ir_graded", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(0)
    except click.ClickException as error:
        _fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted", 130)
    except BrokenPipeError:
        # Whoever read the output has left; Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (ValueError, NameError, RuntimeError) as error:
        # RuntimeError: ir_datasets could not download.
        _fail(str(error))
    else:
        sys.exit(code or 0)


def run() -> None:
    """The shell's command: :func:`main` in a process that ends with it.

    Taking down the interpreter and the libraries' threads would take a tenth of a second for nothing.
    """
    try:
        main()
    except SystemExit as end:
        # What could not be written has been said.
        with suppress(OSError):
            sys.stdout.flush()
        with suppress(OSError):
            sys.stderr.flush()
        # As Python itself has it: nothing means 0, and anything that is no number 1.
        os._exit(end.code if isinstance(end.code, int) else int(end.code is not None))


def _fail(message: str, code: int = 2) -> None:
    click.echo(f"ir_graded: {' '.join(message.split())}", err=True)
    sys.exit(code)
