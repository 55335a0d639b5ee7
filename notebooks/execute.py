"""Execute the notebooks from top to bottom, each in a copy of this folder.

    python notebooks/execute.py            # write the outputs into the notebooks
    python notebooks/execute.py --check    # change nothing; fail if an output differs from the stored one
    python notebooks/execute.py 3 chunk    # only some, by path, number or a part of their name

The command fails on an error, a warning (anything on stderr), an output with a
folder of this machine, or after two minutes. The check compares text; of images, only the presence is
compared.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from ir_graded._utils.atomic_files import check_writable, write_whole

HERE = Path(__file__).parent
LIMIT = 120  # seconds per notebook
_PICTURE = "(picture)"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class NotebookError(Exception):
    """Raised with the problem of a notebook."""


def executed(path: Path) -> NotebookNode:
    """Return the notebook with new outputs.

    Raises:
        NotebookError: a cell raises, warns or names a folder of this machine, or execution takes too long.
    """
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "notebooks"
        shutil.copytree(HERE, place, ignore=shutil.ignore_patterns("__pycache__", "output", ".*"))
        start = time.monotonic()
        client = NotebookClient(
            notebook,
            timeout=LIMIT,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": str(place)}},
        )
        try:
            client.execute()
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            raise NotebookError(_COLOURS.sub("", str(error))) from error
        if time.monotonic() - start > LIMIT:
            raise NotebookError(f"took more than {LIMIT} seconds")
        local = [folder, str(Path.home()), str(HERE.resolve().parent), sys.prefix]
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    _check_outputs(notebook, local)
    return notebook


def _check_outputs(notebook: NotebookNode, local: list[str]) -> None:
    for number, cell in enumerate(_code(notebook), 1):
        for output in cell.outputs:
            text = str(output.get("text") or {**output.get("data", {}), "image/png": ""})
            if output.get("name") == "stderr":
                raise NotebookError(f"code cell {number} warns:\n{text}")
            for place in local:
                if len(place) > 1 and place in text:
                    raise NotebookError(f"code cell {number} names the folder {place}:\n{text}")


def _code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _text_of(cell: NotebookNode) -> str:
    """Return the text of a cell's output without layout: the width of columns may vary."""
    shown = []
    for output in cell.outputs:
        if output.output_type == "stream":
            shown.append(output.text)
            continue
        data = output.get("data", {})
        # The text of an image is its size in inches, which depends on the fonts.
        shown.append(_PICTURE if "image/png" in data else data.get("text/plain", ""))
    return "\n".join(" ".join(line.split()) for text in shown for line in text.rstrip().splitlines())


def compare(kept: NotebookNode, found: NotebookNode) -> None:
    """Raise NotebookError if the text outputs of two executions differ."""
    for number, (old, new) in enumerate(zip(_code(kept), _code(found), strict=True), 1):
        lines = [_text_of(cell).splitlines() for cell in (old, new)]
        if lines[0] != lines[1]:
            difference = "\n".join(difflib.unified_diff(*lines, "kept", "found", lineterm=""))
            raise NotebookError(f"code cell {number} shows something else than is kept:\n{difference}")


def notebook(text: str) -> Path:
    """Return the notebook with a path, a number or a part of its name. Raises ArgumentTypeError for others."""
    if Path(text).is_file():
        return Path(text)
    part = f"{int(text)}_" if text.isdecimal() else text
    every = sorted(HERE.glob("*.ipynb"))
    found = [path for path in every if part in path.name]
    if len(found) != 1:
        names = ", ".join(path.name for path in found or every)
        raise argparse.ArgumentTypeError(f"{text!r} must mean one notebook; there are {names}")
    return found[0]


def main() -> int:
    """Execute the notebooks on the command line; return the number of notebooks that failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=notebook, default=sorted(HERE.glob("*.ipynb")))
    parser.add_argument("--check", action="store_true", help="compare with the outputs kept, write nothing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # Ignore settings of this machine, and print errors without colours.
        os.environ |= {"IPYTHONDIR": folder, "NO_COLOR": "1"}
        return sum(not _done(path, check=options.check) for path in options.notebooks)


def _done(path: Path, *, check: bool) -> bool:
    try:
        notebook = executed(path)
        if check:
            compare(nbformat.read(path, as_version=4), notebook)
        else:
            write_whole(check_writable(path), f"{nbformat.writes(notebook).rstrip()}\n".encode())
    except NotebookError as error:
        print(f"{path.name}: FAILED\n{error}\n")
        return False
    print(f"{path.name}: {'as kept' if check else 'written'}")
    return True


if __name__ == "__main__":
    sys.exit(main())
