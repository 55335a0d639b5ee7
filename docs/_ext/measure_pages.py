"""Writes a page for each registered measure. Nothing here depends on a particular measure."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ir_measures
import pandas as pd
from notes import DOIS, NOTES, Note

import ir_graded
from ir_graded.core.facets import SPAN
from ir_graded.measures import PROPERTIES, REGISTRY, GradedMeasure
from ir_graded.measures.classic import CLASSICS
from ir_graded.measures.params import NOT_PROVIDED, Param, format_value

#: The worked example of Sakai and Robertson (2008): 10 relevant documents of the levels 3, 2, 1 (S, A, B).
LEVELS = {"S1": 3, "S2": 3, "S3": 3, "A1": 2, "A2": 2, "A3": 2, "B1": 1, "B2": 1, "B3": 1, "B4": 1}
DEPTH = 15


def _run(found: dict[int, str]) -> dict[str, dict[str, float]]:
    """A run of one topic that retrieves these documents at these ranks, and others without judgment."""
    return {"1": {found.get(rank, f"x{rank:02}"): float(-rank) for rank in range(1, DEPTH + 1)}}


#: Qrels and run of each example, by the label of the place that describes it.
EXAMPLES: dict[str, tuple[Any, Any]] = {
    "example": ({"1": LEVELS}, _run({2: "S1", 5: "A1", 8: "S2", 12: "B1", 15: "A2"})),
    "second-run": ({"1": LEVELS}, _run({2: "B1", 5: "A1", 8: "A2", 12: "S1", 15: "S2"})),
    "column-example": (
        pd.DataFrame(
            {
                "query_id": "1",
                "doc_id": ["a", "b", "c", "d"],
                "relevance": [2, 1, 2, 0],
                "equivalence_class": ["x", "x", "y", None],
                "SIZE": [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]],
            }
        ),
        {"1": {"b": 4.0, "a": 3.0, "d": 2.0, "c": 1.0}},
    ),
    "intent-example": (
        pd.DataFrame(
            [
                ("a", 2, "one"),
                ("a", 1, "two"),
                ("b", 2, "two"),
                ("c", 1, "one"),
                ("c", 1, "three"),
                ("d", 2, "three"),
                ("n", 0, "one"),
            ],
            columns=["doc_id", "relevance", "iteration"],
        ).assign(
            query_id="1",
            probability=lambda rows: rows["iteration"].map({"one": 0.5, "two": 0.3, "three": 0.2}),
            intent_type=lambda rows: rows["iteration"].map({"one": "nav", "two": "inf", "three": "nav"}),
        ),
        {"1": {"b": 5.0, "n": 4.0, "c": 3.0, "x": 2.0, "a": 1.0}},
    ),
    "passage-example": (
        pd.DataFrame(
            {
                "query_id": "1",
                "doc_id": ["a", "a", "b", "c"],
                "relevance": 1,
                "start": [0, 100, 40, 0],
                "length": [30, 50, 60, 20],
                "aspects": ["A", "B", "B", "C"],
            }
        ),
        pd.DataFrame(
            {
                "query_id": "1",
                "doc_id": ["a", "x", "b"],
                "score": [3.0, 2.0, 1.0],
                "start": [20, 0, 40],
                "length": [100, 80, 60],
            }
        ),
    ),
}
_NAMES = {
    "example": "the example",
    "second-run": "the second run of the example",
    "passage-example": "the example with passages",
    "column-example": "the example with classes and groups",
    "intent-example": "the example with intents",
}

_SYMBOLS = {
    False: "The symbols are those of :ref:`terms`.",
    True: "The symbols are those of :ref:`passage-terms`.",
}


@dataclass(frozen=True)
class Picture:
    """A drawing of a page, drawn on request."""

    name: str
    draw: Callable[[], Any]


@dataclass(frozen=True)
class Page:
    """A page: its text and its drawings."""

    text: str
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True)
class Docstring:
    """The parts of the docstring of a measure; ``lacks`` has the counterexamples by property."""

    summary: str
    body: tuple[str, ...]
    parameters: str
    source: str
    example: str
    lacks: dict[str, str]


def measures() -> dict[str, GradedMeasure]:
    """Return every measure once, by its printed name; aliases with parameters are left out."""
    plain = {measure.NAME: measure for measure in REGISTRY.values() if not measure.params}
    return {name: plain[name] for name in sorted(plain, key=str.lower)}


def slug(name: str) -> str:
    """Return a name that can be part of an address: p-plus-q-sharp for P+Q#."""
    words = name.replace("+", "-plus-").replace("#", "-sharp")
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def pages() -> dict[str, Page]:
    """Return the page of each measure by its slug.

    Raises:
        LookupError: a registered measure has no entry in ``notes``, or an entry has no measure.
    """
    registered = measures()
    without, unknown = sorted(registered.keys() - NOTES.keys()), sorted(NOTES.keys() - registered.keys())
    if without or unknown:
        raise LookupError(f"docs/_ext/notes.py has no entry for {without}, and there is no measure {unknown}")
    return {slug(name): _page(measure, NOTES[name]) for name, measure in registered.items()}


def _page(measure: GradedMeasure, note: Note) -> Page:
    name = measure.NAME
    doc = docstring(type(measure))
    explained = [
        ir_graded.explain(text.replace("{name}", name), *EXAMPLES[note.example], "1") for text in note.drawn
    ]
    pictures = [Picture(f"{slug(name)}-{number}", found.plot) for number, found in enumerate(explained)]
    parts = [
        f".. _measure-{slug(name)}:",
        _heading(name if name == measure.PRETTY_NAME else f"{name}: {measure.PRETTY_NAME}", "="),
        measure.SHORT_DESC,
        _heading("Definition"),
        *(f".. math::\n\n   {line}" for line in note.latex),
        *doc.body,
        _SYMBOLS[SPAN in measure.NEEDS],
        _heading("When to use it"),
        note.when,
        _heading("Worked example"),
        *_drawings(explained, pictures, note.example),
        _heading("Parameters"),
        _parameters(measure),
        _aliases(measure),
        _heading("Use it in Python"),
        doc.example,
        _heading("Properties"),
        *_properties(measure, doc),
        _heading("Source"),
        source(doc.source),
    ]
    return Page("\n\n".join(part for part in parts if part) + "\n", tuple(pictures))


def source(text: str) -> str:
    """Return the source of a measure with a link behind the title of each paper whose DOI is known."""
    for title, doi in DOIS.items():
        text = text.replace(f'"{title}"', f'"{title}" (`doi:{doi} <https://doi.org/{doi}>`__)')
    return text


def _heading(text: str, line: str = "-") -> str:
    return f"{text}\n{line * len(text)}"


def _drawings(explained: Iterable[Any], pictures: Iterable[Picture], example: str) -> Iterator[str]:
    for found, picture in zip(explained, pictures, strict=True):
        yield (
            f".. figure:: /_drawings/{picture.name}.svg\n"
            f"   :alt: {found.measure} on the example, rank by rank; the table below holds the numbers.\n\n"
            f"   ``{found.measure}`` of :ref:`{_NAMES[example]} <{example}>` is {found.score:.4f}."
        )
        yield ".. code-block:: text\n\n" + _indented(str(found))


def _indented(text: str) -> str:
    return "\n".join(f"   {line}".rstrip() for line in text.splitlines())


def _parameters(measure: GradedMeasure) -> str:
    rows = [
        (f"``{name}``", _default(param), param.desc, param.expected)
        for name, param in measure.SUPPORTED_PARAMS.items()
    ]
    return table(("parameter", "default", "meaning", "values"), rows, (16, 12, 42, 30))


def _properties(measure: GradedMeasure, doc: Docstring) -> Iterator[str]:
    low, high = measure.RANGE
    yield f"Scores lie in [{low:g}, {high:g}]."
    cutoff = measure.SUPPORTED_PARAMS.get("cutoff")
    for name, words in PROPERTIES.items():
        if name in measure.lacks:
            yield f"**Does not hold** ({name}): {words} Here {measure.lacks[name]}:"
            yield doc.lacks[name]
        elif name == "exchange" and "swap" in measure.lacks:
            yield f"**Does not hold** ({name}): {words} It fails because *swap* fails."
        elif name == "truncation" and (cutoff is None or cutoff.required):
            yield f"Does not apply ({name}): {words} The measure requires a cutoff."
        else:
            yield f"**Holds** ({name}): {words}"


def _default(param: Param) -> str:
    if param.required:
        return "required"
    return "unset" if param.default is NOT_PROVIDED else f"``{format_value(param.default)}``"


def _aliases(measure: GradedMeasure) -> str:
    names = {name: target for name, target in REGISTRY.items() if target.NAME == measure.NAME != name}
    told = [f"``{name}``" + (f" (``{target!r}``)" if target.params else "") for name, target in names.items()]
    return f"Other names in measure strings: {', '.join(told)}." if told else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], widths: Sequence[int]) -> str:
    """Return a list-table in reStructuredText; cells are one line each."""
    lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {' '.join(map(str, widths))}", ""]
    for row in [head, *rows]:
        lines += [f"   {' ' if place else '*'} - {' '.join(cell.split())}" for place, cell in enumerate(row)]
    return "\n".join(lines)


def docstring(kind: type) -> Docstring:
    """Return the parts of a class's docstring. Raises LookupError if it has no example or no source."""
    summary, *blocks = (inspect.getdoc(kind) or "").split("\n\n")
    found = {"Parameters": "", "Source": "", "Example": ""}
    body, lacks = [], {}
    for block in blocks:
        name, _, rest = block.partition(":")
        if name.startswith("Lacks "):
            lacks[name.removeprefix("Lacks ")] = inspect.cleandoc(rest)
        elif name == "Example":
            found[name] = inspect.cleandoc(rest)
        elif name in found:
            found[name] = " ".join(rest.split())
        else:
            body.append(block)
    for name in ("Source", "Example"):
        if not found[name]:
            raise LookupError(f"the docstring of {kind.__name__} has no {name}")
    return Docstring(summary, tuple(body), found["Parameters"], found["Source"], found["Example"], lacks)


def index() -> str:
    """Return the table of all measures with links to their pages."""
    rows = [
        (f":ref:`{name} <measure-{slug(name)}>`", measure.SHORT_DESC, measure.SOURCE)
        for name, measure in measures().items()
    ]
    listed = [f"   {name} <{slug(name)}>" for name in measures()]
    toctree = "\n".join([".. toctree::", "   :hidden:", "", *listed])
    return f"{table(('measure', 'definition', 'source'), rows, (14, 60, 26))}\n\n{toctree}\n"


def classics() -> str:
    """Return the table of ir-measures' own measures that this package computes."""
    rows = []
    for name in sorted(CLASSICS, key=str.lower):
        doc = docstring(CLASSICS[name])
        definition = " ".join([doc.summary, *doc.body])
        rows.append((f"``{name}``", definition, doc.parameters or "none", _theirs(name)))
    head = ("measure", "definition", "parameters", "same values as")
    return table(head, rows, (10, 46, 28, 16)) + "\n"


def _theirs(name: str) -> str:
    """Return the providers of ir-measures that have a measure, in the order in which it asks them."""
    providers = [
        provider.NAME
        for provider in ir_measures.DefaultPipeline.providers
        # trectools and ranx are asked last or never, and rank ties otherwise.
        if provider.NAME not in {"ir_graded", "ranx", "trectools"}
        and any(name == measure.NAME for measure in getattr(provider, "SUPPORTED_MEASURES", []))
    ]
    return ", ".join(providers)
