"""A user's program passes mypy --strict, and mistakes in it are found."""

import subprocess
import sys
from pathlib import Path

import pytest

import ir_graded

pytest.importorskip("mypy")

CONSUMER = Path(__file__).with_name("consumer.py")


def checked(folder, text):
    """Run mypy on a program outside the checkout and its settings, and return its output."""
    program = folder / "program.py"
    program.write_text(text, encoding="utf-8")
    command = [
        sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={folder}", program.name,
    ]  # fmt: skip
    return subprocess.run(  # noqa: S603  # mypy
        command, cwd=folder, capture_output=True, text=True, check=False
    )


def test_a_typed_program_passes_and_its_mistakes_are_found(tmp_path):
    # The file marks its mistakes; if mypy missed one, it would report an unneeded mark.
    done = checked(tmp_path, CONSUMER.read_text(encoding="utf-8"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_declares_its_types():
    assert Path(ir_graded.__file__).with_name("py.typed").is_file()
