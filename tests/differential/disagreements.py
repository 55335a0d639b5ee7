"""Known disagreements with other programs, each under the words that stand for it on the page of the docs.

A case is a function that gives both values, ours first; a value is a number, or what happens in words.
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

#: What a package is called by those who install it, by the name that is imported.
PACKAGES = {
    "cwl": "cwl-eval",
    "ranx": "ranx",
    "sklearn": "scikit-learn",
    "trectools": "trectools",
}


class Case(NamedTuple):
    """A disagreement.

    Attributes:
        values: gives our value and the other's.
        missing: what must be installed for it, or None.
    """

    values: Callable[[], tuple[Any, Any]]
    missing: str | None


class Cases(dict[str, Case]):
    """Cases by their words; called with the words, it registers the function that gives the values."""

    def __call__(self, words: str, needs: str | None = None, missing: str | None = None) -> Callable:
        """A decorator; ``needs`` is a module of :data:`PACKAGES`, ``missing`` says what else is lacking."""

        def register(function: Callable) -> Callable:
            assert words not in self
            self[words] = Case(function, not_installed(needs, PACKAGES[needs]) if needs else missing)
            return function

        return register


def ours(measure, qrels, run) -> float | str:
    """The package's score of the only topic, or the error's name."""

    def score() -> float:
        return ir_graded.evaluate(measure, qrels, run).values.item()

    return happens(score)


def by(provider, measure, qrels, run, beside=()) -> float | str:
    """The score of topic 1 by a provider of ir-measures, or the error's name."""

    def score() -> float:
        metrics = ir_measures.providers.registry[provider].iter_calc([*beside, measure], qrels, run)
        return next(
            float(found.value) for found in metrics if found.measure == measure and found.query_id == "1"
        )

    return happens(score)


def in_pytrec_eval(qrels, run, measures=("recip_rank",)) -> str:
    """What a process prints that scores topic after topic by pytrec_eval's RR, or that it crashes."""
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
    """What a call gives, or the name of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except Exception as error:  # whatever others raise
            return type(error).__name__
