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

#: Options by the parameters they set, which messages name.
_OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for name in (
        *("alpha", "baseline", "confidence", "correction", "depth", "difference", "model", "n_resamples"),
        *("n_samples", "power", "ranks", "strata", "test", "ties", "tolerance", "top_k"),
    )
} | {"rng": "--seed"}
#: A parameter with its value, or one whose name is not an English word. After a colon it is one of a measure.
_PARAMETER = re.compile(
    rf"(?:^|(?<=\s))(?<!: )(?:({'|'.join(_OPTIONS)})=('[^']*'|[^\s,;:]+)|(n_resamples|n_samples|top_k)\b)"
)
_FUNCTIONS = {
    "use ir_graded.score_intervals to": "use --unjudged intervals to",
    "use ir_graded.score_bounds for": "use --unjudged bounds for",
    "ir_graded.evaluate computes": "`ir_graded evaluate` computes",
}


def for_shell(message: str) -> str:
    """Return a message with options in place of parameters, and commands in place of functions.

    Example:
        >>> for_shell("depth=5 needs n_samples >= 1, for example n_samples=100")
        '--depth 5 needs --n-samples >= 1, for example --n-samples 100'
    """
    for function, command in _FUNCTIONS.items():
        message = message.replace(function, command)

    def option(found: re.Match[str]) -> str:
        name, value, bare = found.groups()
        return _OPTIONS[bare] if bare else f"{_OPTIONS[name]} {value.strip(chr(39))}"

    return _PARAMETER.sub(option, message)


#: Exception of click for a group without arguments; before 8.2 click prints the help itself.
_NO_ARGUMENTS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())

#: New objects after which Python looks for unused ones.
_OBJECTS = 100_000
#: Exit code of shells for an interrupted command.
_INTERRUPTED = 130


#: The module and the summary of each command.
_COMMANDS = {
    "evaluate": ("evaluate", "Score RUNs against QRELS, best first."),
    "verify": ("explain", "Recompute the scores in FILE, and say what differs."),
    "answers": (
        "compare",
        "Score answers by the nuggets that they support, and by their citations, best first.",
    ),
    "compare": ("compare", "Find RUNs that are worse than BASELINE."),
    "ranks": ("statistics", "Print confidence sets for the ranks of RUNs, and which are tied for first."),
    "across": (
        "statistics",
        "Compare runs with a baseline on several collections, and combine the differences.",
    ),
    "history": ("statistics", "Follow the means of runs over releases, from the files in FOLDER."),
    "rbo": ("collection", "Compare RUNs by rank-biased overlap (RBO)."),
    "explain": ("explain", "Explain the score of a topic: how much each relevant document adds."),
    "meta": (
        "statistics",
        "Compare measures: discriminative power, stability, swap method, rank correlation.",
    ),
    "significance": (
        "statistics",
        "Test all pairs of runs by the first measure with the paired bootstrap, and print a row per pair.",
    ),
    "plan": (
        "statistics",
        "Compute how many topics detect a difference of means, given the variance of some scores.",
    ),
    "judgments": (
        "collection",
        "Compare the judgments of QRELS with those of B, and the conclusions on RUNs from both.",
    ),
    "statistics": (
        "collection",
        "Print how many documents per topic of QRELS are judged and relevant, and the depths of RUNs.",
    ),
    "pool": (
        "collection",
        "List the documents of RUNs to judge: the pool down to a depth, or a stratified sample of it.",
    ),
    "measures": ("measures", "List all measures with parameters, defaults, meaning and source."),
    "passages": ("explain", "Check runs with passages."),
    "demo": (
        "evaluate",
        "Evaluate real runs (TREC-COVID round 1) that come with the package, without network access.",
    ),
    "report": ("report", "Write an HTML report on RUNs: leaderboard, topics, figures."),
    "trec_eval": ("trec_eval", "Print what trec_eval 10 prints, for each RUN."),
}


class _Commands(Mapping[str, click.Command]):
    """The commands by name, each imported on access."""

    def __getitem__(self, name: str) -> click.Command:
        command: click.Command = getattr(import_module(f".{_COMMANDS[name][0]}", __package__), name)
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(_COMMANDS)

    def __len__(self) -> int:
        return len(_COMMANDS)


class _Group(click.Group):
    """The command group, whose help imports no command."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the names and summaries of the commands."""
        limit = formatter.width - 6 - max(map(len, _COMMANDS))
        shown = [click.Command(name, help=text) for name, (_, text) in sorted(_COMMANDS.items())]
        with formatter.section("Commands"):
            formatter.write_dl([(str(one.name), one.get_short_help_str(limit)) for one in shown])


# click only reads the mapping.
@click.group(
    cls=_Group,
    commands=_Commands(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="ir_graded")
def commands() -> None:
    """Evaluate ranked retrieval runs when relevance has grades."""


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
        _fail(for_shell(str(error)))
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
    if any(_COMMANDS.get(argument, ("",))[0] in {"evaluate", "explain"} for argument in sys.argv[1:2]):
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
    _say(f"warning: {for_shell(str(message))}")


def _say(message: str) -> None:
    """Print one line on stderr with unprintable characters escaped."""
    # If stderr cannot be written to, only the exit code reports the error.
    with suppress(OSError):
        click.echo(f"ir_graded: {printable(' '.join(message.split()))}", err=True)
