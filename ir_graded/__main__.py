"""``python -m ir_graded`` is the command ``ir_graded``."""

from .cli import main

if __name__ == "__main__":
    main()
