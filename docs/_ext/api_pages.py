"""Writes the API reference: a page per task, with an entry for each name in an ``__all__``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from measure_pages import slug

from ir_graded.measures import GradedMeasure

#: The modules with public names.
MODULES = (
    "ir_graded",
    "ir_graded.meta",
    "ir_graded.passages",
    "ir_graded.plots",
    "ir_graded.sentence_transformers",
    "ir_graded.spark",
)


@dataclass(frozen=True)
class Task:
    """A page of the reference.

    Attributes:
        title: its heading.
        summary: a sentence with links to the guide, as reStructuredText.
        names: the public names that it documents, functions before classes.
    """

    title: str
    summary: str
    names: tuple[str, ...]


def _of(module: str, names: str) -> tuple[str, ...]:
    return tuple(f"{module}.{name}" for name in names.split())


#: The pages by the name of their file, in the order of the table of contents.
TASKS: dict[str, Task] = {
    "evaluate": Task(
        "Evaluate runs",
        "Score runs, and read qrels and runs from files. See :doc:`/guide/start`.",
        _of(
            "ir_graded",
            "evaluate score_arrays read_qrels read_run level_definitions collection_statistics sample "
            "Scores CollectionStatistics",
        ),
    ),
    "explain": Task(
        "Explain scores and write reports",
        "Show where a score comes from. See :doc:`/guide/looking_closer`.",
        _of("ir_graded", "explain report Explanation"),
    ),
    "unjudged": Task(
        "Handle ties and unjudged documents",
        "Show how much a score depends on ties and unjudged documents. See :doc:`/guide/ties-and-unjudged`.",
        _of("ir_graded", "ties unjudged score_bounds score_intervals ScoreBounds ScoreIntervals Unjudged"),
    ),
    "compare": Task(
        "Compare runs and test significance",
        "Test whether runs differ, and plan how many topics a test needs. See :doc:`/guide/regressions` and "
        ":doc:`/meta`.",
        (
            "ir_graded.compare_runs",
            *_of(
                "ir_graded.meta",
                "regressions against_baseline significance confidence_intervals effect_sizes topic_set_size "
                "power minimum_detectable_difference score_variance Regressions BaselineTests "
                "SignificanceMatrix ConfidenceIntervals EffectSizes Design TopicSetSize ScoreVariance",
            ),
        ),
    ),
    "judgments": Task(
        "Prepare and compare judgments",
        "Add intents and groups to qrels, and compare sets of judgments. See :doc:`/guide/intents` and "
        ":doc:`/meta`.",
        (
            *_of("ir_graded", "with_intents with_groups compare_judgments"),
            *_of("ir_graded.meta", "agreement conclusions prediction_powered"),
            "ir_graded.JudgmentComparison",
            *_of("ir_graded.meta", "Agreement Conclusions PredictionPowered"),
        ),
    ),
    "passages": Task(
        "Evaluate passages and chunks",
        "Convert, check and show passages. ``ir_graded.evaluate`` scores them. See :doc:`/guide/chunks`.",
        _of(
            "ir_graded.passages",
            "show chunk_table run_of_chunks to_characters citations precision_omega read_submission "
            "check_submission Findings Strip",
        ),
    ),
    "plots": Task(
        "Draw plots",
        "Each function returns a matplotlib figure. Results also have a method ``plot``.",
        _of("ir_graded.plots", "leaderboard differences cutoffs profile stop_curve coverage groups unjudged"),
    ),
    "sentence_transformers": Task(
        "Evaluate during training",
        "Score a model of sentence-transformers while it is trained. See :doc:`/guide/recipes`.",
        ("ir_graded.sentence_transformers.GradedRetrievalEvaluator",),
    ),
    "spark": Task(
        "Evaluate on Spark",
        "Score Spark DataFrames. See :doc:`/spark`.",
        _of("ir_graded.spark", "evaluate mean read_qrels read_runs"),
    ),
    "meta": Task(
        "Compare measures",
        "Find out which measure tells systems apart. See :doc:`/meta`.",
        _of(
            "ir_graded.meta",
            "compare_measures discriminative_power stability swap rank_correlations kendall_tau "
            "kendall_tau_b tau_ap tau_ap_a tau_ap_b top one_per_team drop_identical MeasureComparison "
            "DiscriminativePower Stability Swap RankCorrelations",
        ),
    ),
    "measures": Task(
        "Measures and their base class",
        "Define measures in Python. See :doc:`/guide/own_measure`.",
        ("ir_graded.GradedMeasure",),
    ),
    "errors": Task(
        "Errors and warnings",
        "All errors derive from ``GradedError``, which is a ``ValueError``. See :doc:`/guide/errors`.",
        _of(
            "ir_graded",
            "GradedError InputError FileFormatError NoSharedTopicsError ParameterError MeasureSyntaxError "
            "UnknownMeasureError CoverageWarning SampledJudgmentsWarning",
        ),
    ),
}


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file.

    Raises:
        LookupError: a public name is on no page or on several, or a page has a name that is not public.
    """
    listed = [name for task in TASKS.values() for name in task.names]
    expected = {name for name, value in public().items() if not isinstance(value, GradedMeasure | ModuleType)}
    missing, unknown = sorted(expected - {*listed}), sorted({*listed} - expected)
    repeated = sorted({name for name in listed if listed.count(name) > 1})
    if missing or unknown or repeated:
        raise LookupError(
            f"TASKS in docs/_ext/api_pages.py: missing {missing}, not public {unknown}, repeated {repeated}"
        )
    return {name: "\n\n".join(_parts(name, task)) + "\n" for name, task in TASKS.items()}


def public() -> dict[str, Any]:
    """Return all public objects by their full names."""
    modules = {module: import_module(module) for module in MODULES}
    return {
        f"{at}.{name}": getattr(module, name) for at, module in modules.items() for name in module.__all__
    }


def _parts(page: str, task: Task) -> Iterator[str]:
    values = public()
    functions = [name for name in task.names if inspect.isfunction(values[name])]
    classes = [name for name in task.names if inspect.isclass(values[name])]
    yield f"{task.title}\n{'=' * len(task.title)}"
    yield task.summary
    yield from (f".. autofunction:: {name}" for name in functions)
    if functions and classes:
        yield "Results\n-------"
    yield from (_class(name, values[name]) for name in classes)
    if page == "measures":
        yield "The measures below are instances. Each has a page with its formula and parameters."
        yield "\n".join(
            _measure(name, value) for name, value in values.items() if isinstance(value, GradedMeasure)
        )
    # The examples of a docstring may use the names of its module.
    modules = dict.fromkeys(name.rpartition(".")[0] for name in task.names)
    yield ".. testsetup::\n\n" + "\n".join(f"   from {module} import *" for module in modules)


def _class(name: str, value: type) -> str:
    if issubclass(value, BaseException):
        return f".. autoexception:: {name}\n   :show-inheritance:"
    return f".. autoclass:: {name}\n   :members:"


def _measure(name: str, measure: GradedMeasure) -> str:
    return f"* ``{name}``: :ref:`{measure.PRETTY_NAME} <measure-{slug(measure.NAME)}>`"
