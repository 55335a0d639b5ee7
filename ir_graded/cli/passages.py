"""``ir_graded passages``: check runs with passages."""

from __future__ import annotations

import click

from . import options
from .output import show

_TASKS = ("focused", "relevant-in-context", "best-in-context")


@click.group()
def passages() -> None:
    """Check runs with passages."""


@passages.command()
@click.argument("run", type=click.Path())
@click.option("--task", type=click.Choice(_TASKS), required=True, help="Task whose rules apply.")
@options.lengths
def check(run: str, task: str, lengths: str | None) -> int:
    """List rows of RUN that break the rules of a task. The exit code is 1 if there are any."""
    from ir_graded.passages import check_submission

    found = check_submission(run, task, lengths)
    if len(found):
        show(found.to_string(index=False))
    return int(len(found) > 0)
