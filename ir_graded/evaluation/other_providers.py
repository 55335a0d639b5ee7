"""The measures that ir-measures' other providers compute: what they are given, and what they are spared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from ir_measures.measures import Measure, ParamInfo

from ir_graded.core.segments import Floats
from ir_graded.errors import InputError, ParameterError, short_repr
from ir_graded.io.table import Table, describe_document
from ir_graded.matching.judgments import Judgments

from . import pipeline, upstream_inputs as upstream
from .composition import needs_subtopics

_HIGHEST = 1 << 20  # level that the other providers are asked about
#: Values of parameters that measures of ir-measures require, for messages.
_EXAMPLES: dict[str, float] = {"cutoff": 10, "max_rel": 2, "recall": 0.5}


class OtherEvaluator:
    """Scores of one run after another by measures that other providers compute, for the topics of the qrels.

    They see ids as text and whole levels as ints.

    Args:
        measures: measures of ir-measures, at least one.
        judgments: the prepared qrels.

    Raises:
        InputError: a level is no whole number or too large, or a measure needs qrels by subtopic.
        ParameterError: a measure has parameters that it cannot have.
    """

    def __init__(self, measures: list[Measure], judgments: Judgments) -> None:
        for measure in measures:
            check_parameters(measure)
        _check_whole_levels(measures, judgments)
        for measure in filter(needs_subtopics, measures):
            raise InputError(f"{measure} needs qrels by subtopic, which evaluate lacks: use ir_measures.calc")
        self.measures = measures
        self.judgments = judgments
        with self._saying_whose():
            self._evaluator = pipeline.evaluator(measures, upstream.qrels_dicts(judgments))

    @property
    def lowest_rel(self) -> float:
        """The lowest level that counts as relevant; where no ``rel`` says, all above 0 do."""
        rels = [measure["rel"] for measure in self.measures if "rel" in measure.SUPPORTED_PARAMS]
        given = [float(rel) for rel in rels if isinstance(rel, (int, float))]
        return min(given) if len(given) == len(self.measures) else float(np.nextafter(0.0, 1.0))

    def scores_of(self, run: Mapping[Any, Any] | Table) -> dict[Measure, Floats]:
        """A score a topic for each measure; a topic that the run lacks has the measure's default."""
        topics = self.judgments.number
        scores = {measure: np.full(len(topics), measure.DEFAULT, dtype=float) for measure in self.measures}
        with self._saying_whose():
            for metric in self._evaluator.iter_calc(upstream.run_dicts(self.judgments, run)):
                # A provider may yield topics that only the run has.
                if metric.query_id in topics:
                    scores[metric.measure][topics[metric.query_id]] = metric.value
        return scores

    @contextmanager
    def _saying_whose(self) -> Iterator[None]:
        """What the providers' own code trips over as ParameterError; what they say to users as it is."""
        try:
            yield
        except (ValueError, OSError, ImportError, RuntimeError):
            raise
        except Exception as error:
            names = ", ".join(map(str, self.measures))
            raise ParameterError(
                f"ir-measures' providers cannot compute one of {names}: {type(error).__name__}: {error}"
            ) from error


def check_parameters(measure: Measure) -> None:
    """Raise ParameterError where a measure of ir-measures has parameters that it cannot have."""
    for name, value in measure.params.items():
        # pytrec_eval ends the process where a cutoff is 0.
        if not _fits_a_provider(value, measure.SUPPORTED_PARAMS[name]) or (name == "cutoff" and value == 0):
            raise ParameterError(f"{measure.NAME}: {name}={short_repr(value)} is no value that it takes")
    params = measure.SUPPORTED_PARAMS.items()
    missing = [name for name, param in params if param.required and name not in measure.params]
    if missing:
        example = measure(**{name: _EXAMPLES.get(name, 1) for name in missing})
        raise ParameterError(f"{measure} needs a {' and a '.join(missing)}: for example {example}")
    for name, param in params:
        if name in measure.params and not param.validate(measure.params[name]):
            raise ParameterError(
                f"{measure.NAME}: {name}={short_repr(measure.params[name])} is not what it takes "
                f"({param.desc})"
            )


def _fits_a_provider(value: object, param: ParamInfo) -> bool:
    """Whether whole numbers, in dicts too, are within 64 bits, and truth values stand where one is wanted."""
    if isinstance(value, Mapping):
        return all(_fits_a_provider(part, param) for pair in value.items() for part in pair)
    if isinstance(value, bool):
        return param.dtype is bool
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def _check_whole_levels(measures: list[Measure], judgments: Judgments) -> None:
    """Raise InputError where a level is no whole number, or one to which pytrec_eval makes a huge table."""
    levels = judgments.levels
    refused = (levels.values != np.floor(levels.values)) | (np.abs(levels.values) > _HIGHEST)
    if refused[levels.level_index].any():
        row = int(np.flatnonzero(refused[levels.level_index])[0])
        where = describe_document(judgments.names[levels.topic[row]], judgments.doc_ids[row])
        names = ", ".join(map(str, measures))
        level = levels.values[levels.level_index[row]]
        only = f"levels to {_HIGHEST}" if abs(level) > _HIGHEST else "whole levels"
        raise InputError(f"qrels: {where} has level {level:g}: {names} take {only} only")
