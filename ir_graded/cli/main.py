"""The command group. Errors are one line on stderr with exit code 2; warnings are one line.

If the reader of a pipe has closed it, the exit code is 1 without a message, as usual in click.
"""

from __future__ import annotations

import gc
import io
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from ir_graded._utils.version import __version__
from ir_graded.errors import CoverageWarning, GradedError, printable

_FUNCTIONS = {
    "use ir_graded.score_intervals to": "use --unjudged intervals to",
    "use ir_graded.score_bounds for": "use --unjudged bounds for",
    "ir_graded.evaluate computes": "`ir_graded evaluate` computes",
    "as evaluate and read_run do with duplicates='first'": "as `ir_graded evaluate --duplicates first` does",
}


def for_shell(message: str, command: click.Command) -> str:
    """Return a message with options of a command in place of parameters, and commands in place of functions.

    Example:
        >>> report = commands.commands["report"]
        >>> for_shell("depth=5 needs n_samples >= 1, for example n_samples=100", report)
        '--depth 5 needs --n-samples >= 1, for example --n-samples 100'
    """
    for function, instead in _FUNCTIONS.items():
        message = message.replace(function, instead)
    given = [one for one in command.params if isinstance(one, click.Option) and one.expose_value]
    flags = {str(one.name): max(one.opts, key=len) for one in given if one.type is not click.BOOL}

    def option(found: re.Match[str]) -> str:
        name, value = found.groups()
        if value:
            return f"{flags[name]} {value if ' ' in value else value.strip(chr(39))}"
        return flags[name] if "_" in name else found[0]

    # After a colon or "as in" a parameter is one of a measure. Alone, names without _ are English words.
    parameter = rf"(?:^|(?<=\s))(?<!: )(?<!as in )({'|'.join(flags)})(?:=('[^']*'|[^\s,;:]+)|\b)"
    return re.sub(parameter, option, message) if flags else message


#: Exception of click for a group without arguments; before 8.2 click prints the help itself.
_NO_ARGUMENTS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())

#: New objects after which Python looks for unused ones.
_OBJECTS = 100_000
#: Exit code of shells for an interrupted command.
_INTERRUPTED = 130


#: The commands that answer each question, the usual one first, and their modules. A command may answer
#: another question with an option.
QUESTIONS = {
    "How good are my runs?": {
        "evaluate": "evaluate",
        "report": "report",
        "answers": "compare",
        "trec_eval": "trec_eval",
        "demo": "evaluate",
    },
    "Which run is better?": {
        "compare": "compare",
        "ranks": "statistics",
        "significance": "statistics",
        "across": "statistics",
        "history": "statistics",
    },
    "Why do scores differ?": {"explain": "explain", "rbo": "collection"},
    "What do missing or other judgments change?": {
        "evaluate --unjudged": "evaluate",
        "evaluate --estimates": "evaluate",
        "judgments": "collection",
    },
    "What should be judged next, and how much?": {"pool": "collection", "plan": "statistics"},
    "Which measure should I use?": {"measures": "measures", "meta": "statistics"},
    "Are my files and saved scores right?": {
        "statistics": "collection",
        "passages": "explain",
        "verify": "explain",
    },
}
#: The module of each command.
_COMMANDS = {
    name: module for group in QUESTIONS.values() for name, module in group.items() if " " not in name
}


def summary(entry: str, module: str) -> str:
    """Return the first line of the docstring of a command, or the first clause on its option.

    The module may not have been imported.
    """
    name, _, option = entry.partition(" ")
    source = Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
    if option:
        text = source.partition(f'"{option}"')[2].partition('help="')[2].replace('"\n    "', "")
        return re.split("[.:]", text, maxsplit=1)[0] + "."
    return source.partition(f"\ndef {name}(")[2].split('"""', 2)[1].partition("\n")[0]


class _Commands(Mapping[str, click.Command]):
    """The commands by name, each imported on access."""

    def __getitem__(self, name: str) -> click.Command:
        command: click.Command = getattr(import_module(f".{_COMMANDS[name]}", __package__), name)
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(_COMMANDS)

    def __len__(self) -> int:
        return len(_COMMANDS)


class _Group(click.Group):
    """The command group, whose help imports no command."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands and their summaries by question."""
        widest = max(len(entry) for group in QUESTIONS.values() for entry in group)
        for question, group in QUESTIONS.items():
            formatter.write(f"\n{question}\n")
            with formatter.indentation():
                formatter.write_dl([(entry.ljust(widest), summary(entry, of)) for entry, of in group.items()])


# click only reads the mapping.
@click.group(
    cls=_Group,
    commands=_Commands(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="ir_graded")
def commands() -> None:
    """Evaluate ranked retrieval runs when relevance has grades.

    Under each question, begin with the first command.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with code 0, or with code 2 and one line on stderr after an error.

    ``compare``, ``verify`` and ``passages check`` also exit with 1.
    """
    if sys.stdout is None:
        _fail("standard output is closed: redirect it to /dev/null if you do not need it")
    code = 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", CoverageWarning)
            warnings.showwarning = _show_warning
            code = commands.main(arguments, prog_name="ir_graded", standalone_mode=False)
        sys.stdout.flush()
    except _NO_ARGUMENTS as error:
        click.echo(error.format_message())
    except click.ClickException as error:
        _fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted", _INTERRUPTED)
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except MemoryError as error:
        _fail(f"not enough memory ({error})")
    except GradedError as error:
        name = (sys.argv[1:] if arguments is None else arguments)[0]
        _fail(for_shell(str(error), commands.commands[name]))
    except (ValueError, NameError, RuntimeError) as error:
        # RuntimeError: ir_datasets could not download.
        _fail(str(error))
    sys.exit(code or 0)


def run() -> None:
    """Run :func:`main` as the command of the shell, then end the process.

    The process ends without shutting down the interpreter and threads of libraries, which takes 0.1 s.
    """
    _prepare_streams()
    # Most objects live to the end, so that looking for unused ones would only take time.
    gc.set_threshold(_OBJECTS, 20, 20)
    if any(_COMMANDS.get(argument) in {"evaluate", "explain"} for argument in sys.argv[1:2]):
        # These commands multiply no large matrices, and starting threads of BLAS takes longer than they run.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        main()
    except (SystemExit, KeyboardInterrupt) as end:
        for stream in (sys.stdout, sys.stderr):
            # Errors in writing have been reported. A stream that was closed at start is None.
            with suppress(OSError, AttributeError):
                stream.flush()
        # A second interrupt may arise anywhere.
        code = end.code if isinstance(end, SystemExit) else _INTERRUPTED
        # As in sys.exit: None means 0, and anything that is not a number means 1.
        os._exit(code if isinstance(code, int) else int(code is not None))


def _prepare_streams() -> None:
    """Replace standard output or standard error if it cannot be written to reliably."""
    out = sys.stdout
    if isinstance(getattr(out, "buffer", None), io.RawIOBase):
        # Unbuffered (PYTHONUNBUFFERED): a partial write would not be noticed.
        sys.stdout = open(  # noqa: SIM115  # by its number, and open to the end
            out.fileno(), "w", encoding=out.encoding, errors=out.errors, closefd=False
        )
    if sys.stderr is None:
        # Closed: discard messages, and keep the file number from being reused.
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # open to the end


def _fail(message: str, code: int = 2) -> None:
    _say(message)
    sys.exit(code)


def _show_warning(message: Warning | str, *_where: Any, **_more: Any) -> None:
    """Print a warning in one line, without the line of code that Python would show."""
    context = click.get_current_context(silent=True)
    _say(f"warning: {for_shell(str(message), context.command if context else commands)}")


def _say(message: str) -> None:
    """Print one line on stderr with unprintable characters escaped."""
    # If stderr cannot be written to, only the exit code reports the error.
    with suppress(OSError):
        click.echo(f"ir_graded: {printable(' '.join(message.split()))}", err=True)
