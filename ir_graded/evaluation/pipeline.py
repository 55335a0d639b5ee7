"""ir-measures' default pipeline as this package calls it: pytrec_eval behind its guard, all else as it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ir_measures
from ir_measures.measures import Measure
from ir_measures.providers import Evaluator, FallbackProvider, PytrecEvalProvider

from ir_graded._utils import pytrec_eval_guard as guarded_pytrec_eval


class GuardedPytrecEvalProvider(PytrecEvalProvider):
    """ir-measures' provider of pytrec_eval's measures, whose evaluators threads may share."""

    def initialize(self) -> None:
        super().initialize()
        self.pytrec_eval = guarded_pytrec_eval


_GUARDED = GuardedPytrecEvalProvider()


def evaluator(measures: Iterable[Measure], qrels: Any) -> Evaluator:
    """``ir_measures.evaluator`` for measures that ir-measures' providers compute.

    Each measure goes to the provider that ``ir_measures.DefaultPipeline`` chooses for it at this moment.

    Raises:
        ValueError: a measure that no provider supports.
        InputError: qrels that pytrec_eval cannot take.
    """
    providers = ir_measures.DefaultPipeline.providers
    guarded = [_GUARDED if type(provider) is PytrecEvalProvider else provider for provider in providers]
    return FallbackProvider(guarded).evaluator(measures, qrels)
