"""Writes the reference of the command line from the commands and their help."""

import inspect
import re
from collections.abc import Iterator
from itertools import chain

import click

from ir_graded.cli.main import QUESTIONS, commands, summary

_TOP = """\
Commands and options
====================

This page lists each command with its options, as ``ir_graded COMMAND --help`` prints them. Square brackets
contain the default of an option and the numbers that it accepts. Commands are listed by the question that
they answer; begin with the first one of a section. See :doc:`/guide/command_line` for examples."""


def page() -> str:
    """Return the text of the page."""
    return "\n\n".join([_TOP, *chain.from_iterable(map(_answers, QUESTIONS))]) + "\n"


def _answers(question: str) -> Iterator[str]:
    """Yield a question and the commands that answer it."""
    yield f"{question}\n{'-' * len(question)}"
    for entry, module in QUESTIONS[question].items():
        if " " in entry:
            yield f":option:`ir_graded {entry}`: {_plain(summary(entry, module))}"
        else:
            yield from _section(entry, commands.commands[entry])


def _section(name: str, command: click.Command) -> Iterator[str]:
    """Yield the usage, help and options of a command, or of each command of a group."""
    context = click.Context(command, info_name=f"ir_graded {name}")
    usage = " ".join([f"ir_graded {name}", *command.collect_usage_pieces(context)])
    yield f".. _command-{name.replace(' ', '-')}:\n\n{name}\n{'~' * len(name)}\n\n``{usage}``"
    yield f"{_plain(inspect.cleandoc(command.help or ''))}\n\n.. program:: ir_graded {name}"
    for option in command.params:
        if isinstance(option, click.Option) and (record := option.get_help_record(context)):
            yield f".. option:: {record[0]}\n\n   {_plain(record[1])}"
    for member, one in command.commands.items() if isinstance(command, click.Group) else ():
        yield from _section(f"{name} {member}", one)


def _plain(text: str) -> str:
    """Return a text without markup, except that words in backticks are literals."""
    parts = enumerate(text.split("`"))
    return "".join(f"``{part}``" if at % 2 else re.sub(r"[*_|\\]", r"\\\g<0>", part) for at, part in parts)
