"""``python -m ir_graded`` is the command ``ir_graded``."""

from .cli import run

if __name__ == "__main__":
    run()
