"""Translate messages of Python functions for the command line: ``depth=100`` to ``--depth 100``."""

from __future__ import annotations

import re

#: Options by the parameters they set.
_OPTIONS = {
    **{
        name: f"--{name}"
        for name in ("alpha", "baseline", "depth", "difference", "level", "power", "tolerance")
    },
    **{name: f"--{name}" for name in ("provider", "seed", "test", "ties")},
    "n_resamples": "--resamples",
    "n_samples": "--samples",
    "rng": "--seed",
    "top_k": "--top",
}
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
        '--depth 5 needs --samples >= 1, for example --samples 100'
    """
    for function, command in _FUNCTIONS.items():
        message = message.replace(function, command)

    def option(found: re.Match[str]) -> str:
        name, value, bare = found.groups()
        return _OPTIONS[bare] if bare else f"{_OPTIONS[name]} {value.strip(chr(39))}"

    return _PARAMETER.sub(option, message)
