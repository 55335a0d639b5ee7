"""Python in a separate process, for behaviour that depends on the order of imports."""

import os
import subprocess
import sys
import textwrap


def python(code, *arguments, options=("-W", "error"), **environment):
    """Run code in a new interpreter and return its stdout. Raise AssertionError if it fails."""
    done = subprocess.run(  # noqa: S603  (the code is a literal of the tests)
        [sys.executable, *options, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        # ir_measures keeps measures in sets, so their order depends on the hashes of strings.
        env=os.environ | {"PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8"} | environment,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return done.stdout
