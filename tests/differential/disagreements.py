"""Known disagreements with other programs, each keyed by its words on the documentation page.

A case is a function that returns both values, ours first; a value is a number, or a description of the
outcome.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import ir_measures
from differential.oracle_cases import not_installed

import ir_graded

#: The name of a package on PyPI, by the name that is imported.
PACKAGES = {"cwl": "cwl-eval", "ranx": "ranx", "sklearn": "scikit-learn", "trectools": "trectools"}


class Case(NamedTuple):
    """A disagreement.

    Attributes:
        values: returns our value and the other value.
        missing: what must be installed to compute it, or None.
    """

    values: Callable[[], tuple[Any, Any]]
    missing: str | None


class Cases(dict[str, Case]):
    """Cases by their words; calling it with the words registers the function that returns the values."""

    def __call__(self, words: str, needs: str | None = None, missing: str | None = None) -> Callable:
        """Return a decorator; ``needs`` is a module of :data:`PACKAGES`, ``missing`` names other software."""

        def register(function: Callable) -> Callable:
            assert words not in self
            self[words] = Case(function, not_installed(needs, PACKAGES[needs]) if needs else missing)
            return function

        return register


def ours(measure, qrels, run) -> float | str:
    """Return the package's score of the only topic, or the name of the error."""

    def score() -> float:
        return ir_graded.evaluate(measure, qrels, run).values.item()

    return happens(score)


def by(provider, measure, qrels, run, beside=()) -> float | str:
    """Return the score of topic 1 by a provider of ir-measures, or the name of the error."""

    def score() -> float:
        metrics = ir_measures.providers.registry[provider].iter_calc([*beside, measure], qrels, run)
        return next(
            float(found.value) for found in metrics if found.measure == measure and found.query_id == "1"
        )

    return happens(score)


def in_pytrec_eval(qrels, run, measures=("recip_rank",)) -> str:
    """Score topics one by one with pytrec_eval's RR in a process; return its output, or that it crashes."""
    code = (
        "import pytrec_eval\n"
        f"for topic, docs in {qrels!a}.items():\n"
        f"    evaluator = pytrec_eval.RelevanceEvaluator({{topic: docs}}, {set(measures)})\n"
        f"    print(evaluator.evaluate({{topic: {run!a}[topic]}})[topic]['recip_rank'])\n"
    )
    done = subprocess.run(  # noqa: S603  (the code is a literal of the tests)
        [sys.executable, "-c", code], check=False, capture_output=True, text=True
    )
    return done.stdout if done.returncode in (0, 1) else "the process crashes"


def happens(call: Callable[[], Any]) -> Any:
    """Return the result of a call, or the name of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except Exception as error:  # other programs raise errors of any type
            return type(error).__name__
