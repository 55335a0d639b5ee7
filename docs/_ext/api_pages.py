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
    "ir_graded.torchmetrics",
)


@dataclass(frozen=True)
class Task:
    """A page of the reference.

    Attributes:
        title: its heading.
        summary: a sentence with links to the guide, as reStructuredText.
        modules: the modules whose objects it documents, with all in them that no other page names.
    """

    title: str
    summary: str
    modules: tuple[str, ...]


#: The pages by the name of their file, in the order of the table of contents.
TASKS: dict[str, Task] = {
    "evaluate": Task(
        "Evaluate runs",
        "Score runs, and read qrels and runs from files. See :doc:`/guide/start`.",
        ("evaluation.evaluate", "evaluation.scores", "io", "evaluation", "analyses", "data"),
    ),
    "explain": Task(
        "Explain scores and write reports",
        "Show where a score comes from. See :doc:`/guide/looking_closer` and :doc:`/guide/two_rankings`.",
        ("analyses.explain", "reporting"),
    ),
    "unjudged": Task(
        "Handle ties and unjudged documents",
        "Show how much a score depends on ties and unjudged documents, and choose documents to judge. See "
        ":doc:`/guide/ties` and :doc:`/guide/unjudged`.",
        (
            *("evaluation.coverage", "analyses.unjudged"),
            *("analyses.score_intervals", "analyses.pools"),
        ),
    ),
    "compare": Task(
        "Compare runs and test significance",
        "Test whether runs differ, and plan how many topics a test needs. See :doc:`/guide/compare` and "
        ":doc:`/guide/sample_size`.",
        (
            "evaluation.run_comparison",
            "analyses.overlap",
            "meta.differences",
            "meta.ranks",
            "meta.collections",
            "meta.significance",
            "meta.intervals",
            "meta.sample_size",
        ),
    ),
    "judgments": Task(
        "Prepare and compare judgments",
        "Add intents and groups to qrels, and compare sets of judgments. See :doc:`/guide/intents`, "
        ":doc:`/guide/fairness` and :doc:`/guide/labels`.",
        ("io.annotations", "analyses.judgment_comparison", "meta.agreement"),
    ),
    "passages": Task(
        "Evaluate passages and chunks",
        "Convert, check and show passages. ``ir_graded.evaluate`` scores them. See :doc:`/guide/chunks` and "
        ":doc:`/guide/passages`.",
        ("passages",),
    ),
    "plots": Task(
        "Draw plots",
        "Each function returns a matplotlib figure. Results also have a method ``plot``. See "
        ":doc:`/guide/figures`.",
        ("plots",),
    ),
    "sentence_transformers": Task(
        "Evaluate during training",
        "Score a model of sentence-transformers, or batches, while a model is trained. See "
        ":doc:`/guide/training`, :doc:`/guide/batches` and :doc:`/guide/arrays`.",
        ("sentence_transformers", "torchmetrics", "analyses.arrays"),
    ),
    "spark": Task(
        "Evaluate on Spark",
        "Score Spark DataFrames. See :doc:`/spark`.",
        ("spark",),
    ),
    "meta": Task(
        "Compare measures",
        "Find out which measure tells systems apart. See :doc:`/guide/which_measure`.",
        ("meta",),
    ),
    "measures": Task(
        "Measures and their base class",
        "Define measures in Python. See :doc:`/guide/own_measure`.",
        ("measures",),
    ),
    "errors": Task(
        "Errors and warnings",
        "All errors derive from ``GradedError``, which is a ``ValueError``. See :doc:`/guide/errors`.",
        ("errors",),
    ),
}


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    return {name: "\n\n".join(_parts(name, task)) + "\n" for name, task in TASKS.items()}


def names(task: Task) -> list[str]:
    """Return the public names of a page in the order of its modules and of the source."""
    places = {}
    for name, value in public().items():
        if not isinstance(value, GradedMeasure | ModuleType) and (part := _part(value)) in task.modules:
            defined = [*vars(import_module(value.__module__))]
            places[name] = (task.modules.index(part), value.__module__, defined.index(value.__name__))
    return sorted(places, key=places.__getitem__)


def _part(value: Any) -> str:
    """Return the longest of the modules in TASKS that holds an object. Raises LookupError without one."""
    module = value.__module__.partition(".")[2]
    known = {part for task in TASKS.values() for part in task.modules if f"{module}.".startswith(f"{part}.")}
    if not known:
        raise LookupError(f"TASKS in docs/_ext/api_pages.py has no page for ir_graded.{module}")
    return max(known, key=len)


def public() -> dict[str, Any]:
    """Return all public objects by their full names."""
    modules = {module: import_module(module) for module in MODULES}
    return {
        f"{at}.{name}": getattr(module, name) for at, module in modules.items() for name in module.__all__
    }


def _parts(page: str, task: Task) -> Iterator[str]:
    values, listed = public(), names(task)
    functions = [name for name in listed if inspect.isfunction(values[name])]
    classes = [name for name in listed if inspect.isclass(values[name])]
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
    modules = dict.fromkeys(name.rpartition(".")[0] for name in listed)
    yield ".. testsetup::\n\n" + "\n".join(f"   from {module} import *" for module in modules)


def _class(name: str, value: type) -> str:
    if issubclass(value, BaseException):
        return f".. autoexception:: {name}\n   :show-inheritance:"
    return f".. autoclass:: {name}\n   :members:"


def _measure(name: str, measure: GradedMeasure) -> str:
    return f"* ``{name}``: :ref:`{measure.PRETTY_NAME} <measure-{slug(measure.NAME)}>`"
