"""Evaluation with measures of other providers of ir-measures together with those of this package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
from ir_measures.measures import Measure
from ir_measures.providers import Evaluator, FallbackProvider, PytrecEvalProvider
from ir_measures.util import Metric

from ir_graded._utils.pytrec_eval_guard import RelevanceEvaluator
from ir_graded.core import segments
from ir_graded.core.facets import INTENT, Facet
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.segments import Bools, Floats
from ir_graded.errors import InputError, ParameterError, short_repr
from ir_graded.io.sources import table_of
from ir_graded.io.values import as_text, describe_document, text_ids
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import prepare_qrels
from ir_graded.measures import GradedMeasure
from ir_graded.measures.base import Scorer
from ir_graded.measures.classic import Classic, check_computable, scorer_of
from ir_graded.measures.params import TIES

from .coverage import ABOVE_0
from .provider import (
    GradedEvaluator,
    clause_on_cutoffs,
    native_scorers,
    needs_passages,
    needs_subtopics,
    wanted_columns,
    warn_of_parts,
    warn_of_spans,
)

if TYPE_CHECKING:
    from ir_graded.io.table import Table

_HIGHEST = 1 << 20  # highest level that is passed to other providers
#: Examples of parameters that measures of ir-measures require, for messages.
_EXAMPLES: dict[str, float] = {"cutoff": 10, "max_rel": 2, "recall": 0.5}


class MixedEvaluator(Evaluator):
    """Evaluator of measures of this package and of others. It is thread-safe and can be pickled."""

    def __init__(self, measures: list[Measure], graded: GradedEvaluator) -> None:
        super().__init__(measures, graded.judgments.query_ids)
        self.graded = graded
        graded.cutoffs = clause_on_cutoffs(measures)
        self.others = [measure for measure in measures if measure not in graded.scorers]
        dicts: Any = qrels_dicts(graded.judgments) if self.others else {}
        by_intent = dicts
        if any(map(needs_subtopics, self.others)) and graded.judgments.levels.intents is not None:
            by_intent = _qrels_by_intent(graded.judgments)
        self.evaluators = [
            pipeline_evaluator(group, by_intent if needs_subtopics(group[0]) else dicts)
            for group in _groups_of_calls(self.others)
        ]

    def __reduce__(self) -> tuple[Any, ...]:
        # The evaluators of other providers cannot be pickled and are created again.
        return type(self), (self.measures, self.graded)

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        if not isinstance(run, Mapping):
            run = table_of("run", run)
        metrics: dict[Measure, list[Metric]] = {measure: [] for measure in self.measures}
        query_ids = self.graded.judgments.query_ids
        for metric in self.graded.iter_calc(run):
            metrics[metric.measure].append(metric)
        for number, metric in self._of_others(run):
            metrics[metric.measure].append(Metric(query_ids[number], metric.measure, metric.value))
        yield from chain.from_iterable(metrics.values())

    def _of_others(self, run: Mapping[Any, Any] | Table) -> Iterator[tuple[int, Metric]]:
        """Yield the metrics of the other providers, each with the number of its topic."""
        judgments = self.graded.judgments
        dicts = run_dicts(judgments, run)
        for evaluator in self.evaluators:
            for metric in evaluator.iter_calc(dicts):
                number = judgments.number.get(as_text(metric.query_id))
                # A provider may yield topics that only the run has.
                if number is not None:
                    yield number, metric

    def scores_of(self, judged_run: JudgedRun, run: Any) -> dict[Measure, Floats]:
        """Return the score of each measure for each topic, from a match and its run (a dict or a table)."""
        scores = self.graded.scores_of(judged_run)
        if self.others:
            topics = len(self.graded.judgments.names)
            scores |= {measure: np.full(topics, measure.DEFAULT, dtype=float) for measure in self.others}
            with wrap_provider_errors(self.others):
                for number, metric in self._of_others(run):
                    scores[metric.measure][number] = metric.value
        return scores


def compose(measures: list[Measure], qrels: Any) -> Evaluator:
    """Return an evaluator for measures of this package and others, with results in their order."""
    judgments = prepare_qrels(qrels, needed_with_others(measures))
    negative = (judgments.levels.values < 0)[judgments.levels.level_index].any()
    scorers = {
        measure: scorer
        for measure, scorer in native_scorers(measures).items()
        if isinstance(measure, GradedMeasure) or (negative and _counts_negative(scorer))
    }
    graded = GradedEvaluator(scorers, judgments)
    warn_of_parts(scorers, judgments, qrels)
    return graded if len(scorers) == len(measures) else MixedEvaluator(measures, graded)


def mix(measures: list[Measure], graded: GradedEvaluator) -> MixedEvaluator:
    """Return the evaluator for ``evaluate``, after checks of qrels that other providers do not perform."""
    others = [measure for measure in measures if measure not in graded.scorers]
    if others:
        _check_levels(others, graded.judgments)
    over_subtopics = [measure for measure in others if needs_subtopics(measure)]
    if over_subtopics and graded.judgments.levels.intents is None:
        raise InputError(INTENT.refusal(over_subtopics[0], "qrels"))
    # The evaluator of the measures of this package warns of its own.
    if not any(INTENT in scorer.needs for scorer in graded.scorers.values()):
        warn_of_spans(over_subtopics, graded.judgments)
    with wrap_provider_errors(others):
        return MixedEvaluator(measures, graded)


def needed_with_others(measures: list[Measure]) -> list[Facet]:
    """Return further columns of qrels that measures need, including measures of other providers."""
    return [*wanted_columns(measures), *([INTENT] if any(map(needs_subtopics, measures)) else [])]


def _qrels_by_intent(judgments: Judgments) -> list[ir_measures.Qrel]:
    """Return the judgments as rows of ir-measures, one per document and intent."""
    intents = judgments.levels.by_intent
    level = intents.levels.values[intents.levels.level_index]
    columns = (intents.topic[intents.levels.topic], intents.document, level, intents.levels.topic)
    names, doc_ids, intent_names = judgments.names, judgments.doc_ids, judgments.intent_names
    return [
        ir_measures.Qrel(names[topic], doc_ids[document], int(of_row), intent_names[intent])
        for topic, document, of_row, intent in zip(*(column.tolist() for column in columns), strict=True)
    ]


def lowest_rel(measure: Measure) -> float:
    """Return the lowest relevant level of a measure; without ``rel``, all levels above 0 are relevant."""
    if (scorer := scorer_of(measure)) is not None:
        return scorer.lowest_rel
    rel = measure["rel"] if "rel" in measure.SUPPORTED_PARAMS else None
    return float(rel) if isinstance(rel, (int, float)) else ABOVE_0


def _groups_of_calls(measures: Iterable[Measure]) -> list[list[Measure]]:
    """Return measures in groups, one for each call of ir-measures, so that they cannot affect each other."""
    # In one call, pyndeval gives 0 for all parameters but the first, and pytrec_eval merges equal decimals.
    groups: dict[tuple[object, ...], list[Measure]] = {}
    shared: Counter[tuple[object, ...]] = Counter()
    for measure in measures:
        known = measure.SUPPORTED_PARAMS
        options = {
            name: value
            for name, value in measure.params.items()
            if name not in {"cutoff", "recall"} and (name not in known or value != known[name].default)
        }
        key: tuple[object, ...] = (needs_subtopics(measure), repr(sorted(options.items())))
        recall = measure.params.get("recall")
        if isinstance(recall, float):
            rounded = (*key, measure.NAME, f"{recall:.2f}")
            shared[rounded] += 1
            key += (shared[rounded],)
        groups.setdefault(key, []).append(measure)
    return list(groups.values())


@contextmanager
def wrap_provider_errors(measures: list[Measure]) -> Iterator[None]:
    """Convert internal errors of providers to ParameterError; errors for users are not changed."""
    try:
        yield
    except (ValueError, OSError, ImportError, RuntimeError):
        raise
    except Exception as error:
        names = ", ".join(map(str, measures))
        raise ParameterError(
            f"the providers of ir-measures cannot compute one of {names}: {type(error).__name__}: {error}"
        ) from error


def check_measures(measures: list[Measure], scorers: Mapping[Measure, Scorer]) -> list[Measure]:
    """Return the measures without a scorer. Raises ParameterError for none, or for a wrong parameter."""
    if not measures:
        raise ParameterError("no measure given: for example ['P-measure', 'Q', 'nDCG@10']")
    others = [measure for measure in measures if measure not in scorers]
    for measure in others:
        check_parameters(measure)
    for scorer in scorers.values():
        scorer.validate_params()
    return others


def scorers_here(measures: Iterable[Measure], purpose: str, refused: str = "") -> dict[Measure, Scorer]:
    """Return the scorers of measures for a function that takes no measures of other providers.

    ``refused`` is what else it does not take: 'passages', further 'columns', 'ties'. Raises ParameterError.
    """
    measures = list(measures)
    scorers = native_scorers(measures)
    if others := check_measures(measures, scorers):
        names = ", ".join(map(str, others))
        raise ParameterError(f"{names}: {purpose} needs measures that ir_graded computes itself")
    for measure, scorer in scorers.items():
        needed = ["passages"] if "passages" in refused and needs_passages(measure) else []
        needed += [f"the column {name}" for name in scorer.further_columns if "columns" in refused]
        if needed:
            raise ParameterError(
                f"{measure} needs {' and '.join(needed)}, which {purpose} does not use; "
                "use ir_graded.evaluate"
            )
        if "ties" in refused and scorer.ties != TIES.default:
            raise ParameterError(
                f"{measure}: {purpose} orders documents with equal scores by doc_id; "
                "remove the parameter ties"
            )
    return scorers


def check_parameters(measure: Measure) -> None:
    """Raise ParameterError if a measure of ir-measures lacks a parameter or has an invalid one."""
    check_computable(measure)
    params = measure.SUPPORTED_PARAMS
    missing = [name for name, param in params.items() if param.required and name not in measure.params]
    if "cutoff" in params.keys() - measure.params.keys() and needs_subtopics(measure):
        # pyndeval has none of these measures without a cutoff, but ir-measures does not require one.
        missing.append("cutoff")
    if missing:
        example = measure(**{name: _EXAMPLES.get(name, 1) for name in missing})
        raise ParameterError(f"{measure} needs a {' and a '.join(missing)}: for example {example}")
    for name, value in measure.params.items():
        param = params[name]
        # pytrec_eval ends the process if a cutoff is 0.
        if not param.validate(value) or (name == "cutoff" and value not in range(1, 2**63)):
            right = f"of type {param.dtype.__name__}: {param.desc}"
            if isinstance(param.choices, list):
                right = " or ".join(map(repr, param.choices))
            elif name == "cutoff":
                right = "a whole number >= 1 that fits 64 bits"
            raise ParameterError(f"{measure.NAME}: {name}={short_repr(value)} must be {right}")


def _check_levels(measures: list[Measure], judgments: Judgments) -> None:
    """Raise InputError for a level that pytrec_eval cannot take: no whole number, too large, or negative."""
    level = judgments.levels.values[judgments.levels.level_index]

    def first(refused: Bools) -> str:
        row = int(np.flatnonzero(refused)[0])
        where = describe_document(judgments.names[judgments.levels.topic[row]], judgments.doc_ids[row])
        return f"qrels: {where} has level {level[row]:g}"

    large = np.abs(level) > _HIGHEST
    refused = (level != np.floor(level)) | large
    if refused.any():
        take = "takes" if len(measures) == 1 else "take"
        only = f"levels to {_HIGHEST}" if large[refused][0] else "whole levels"
        here = [str(measure) for measure in measures if scorer_of(measure) is not None]
        way_out = f"; provider='auto' supports any levels for {', '.join(here)}" if here else ""
        raise InputError(f"{first(refused)}, but {', '.join(map(str, measures))} {take} {only} only{way_out}")
    affected = [measure for measure in measures if _counts_negative(scorer_of(measure))]
    if affected and (level < 0).any():
        raise InputError(
            f"{first(level < 0)}, which {affected[0]} counts as pooled and not judged, but pytrec_eval "
            f"cannot be given it safely; provider='auto' computes {affected[0]}"
        )


def _counts_negative(scorer: Scorer | None) -> bool:
    """Return whether negative levels have a meaning for a measure of ir-measures."""
    return isinstance(scorer, Classic) and scorer.COUNTS_NEGATIVE


class GuardedPytrecEvalProvider(PytrecEvalProvider):
    """Provider of the measures of pytrec_eval for ir-measures, with thread-safe evaluators."""

    def initialize(self) -> None:
        super().initialize()
        # Not the module of the guard, because an evaluator may outlive the names of a module at exit.
        self.pytrec_eval = SimpleNamespace(RelevanceEvaluator=RelevanceEvaluator)


_GUARDED = GuardedPytrecEvalProvider()


def pipeline_evaluator(measures: Iterable[Measure], qrels: Any) -> Evaluator:
    """Return an ``ir_measures.evaluator``, whose providers ``ir_measures.DefaultPipeline`` chooses."""
    providers = ir_measures.DefaultPipeline.providers
    guarded = [_GUARDED if type(provider) is PytrecEvalProvider else provider for provider in providers]
    return FallbackProvider(guarded).evaluator(measures, qrels)


def qrels_dicts(judgments: Judgments) -> dict[str, dict[str, Any]]:
    """Return prepared qrels as a dict of dicts; levels that are not whole numbers stay floats."""
    level_of = [int(level) if level.is_integer() else level for level in judgments.levels.values.tolist()]
    levels = [level_of[index] for index in judgments.levels.level_index.tolist()]
    topic = judgments.levels.topic
    bounds = [*segments.starts(topic, len(judgments.names)).tolist(), topic.size]
    return {
        name: dict(zip(judgments.doc_ids[begin:end], levels[begin:end], strict=True))
        for name, (begin, end) in zip(judgments.names, pairwise(bounds), strict=True)
    }


def run_dicts(judgments: Judgments, run: Mapping[Any, Any] | Table) -> dict[str, dict[str, float]]:
    """Return topics of a run as pytrec_eval needs them: a dict of dicts, ids as text, scores as floats."""
    if isinstance(run, Mapping):
        dicts: dict[str, dict[str, float]] = {}
        for topic, given in list(run.items()):
            if (name := as_text(topic)) in judgments.number:
                docs = dict(given)  # a copy that no other thread changes
                doc_ids = text_ids(list(docs), "doc_id", f"run: topic {name!r}")
                dicts[name] = dict(zip(doc_ids, map(float, docs.values()), strict=True))
        return dicts
    import polars as pl

    from ir_graded.matching.articles import one_row_an_article

    known = run.query_id.is_in(judgments.names).fill_null(value=False).arg_true().to_numpy()
    run = one_row_an_article(run[known.astype(np.int64)])
    rows = pl.DataFrame({"topic": run.query_id, "doc_id": run.doc_id, "score": run.value})
    topics = rows.group_by("topic", maintain_order=True).agg("doc_id", "score")
    return {topic: dict(zip(doc_ids, scores, strict=True)) for topic, doc_ids, scores in topics.iter_rows()}
