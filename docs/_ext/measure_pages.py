"""Writes a page for each registered measure. Nothing here depends on a particular measure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import ir_measures
import pandas as pd

import ir_graded
from ir_graded._utils.publications import with_citations
from ir_graded.core.facets import SPAN
from ir_graded.measures import ANSWERS, GM, NAMES, PROPERTIES, GradedMeasure
from ir_graded.measures.base import sections
from ir_graded.measures.classic import CLASSICS
from ir_graded.measures.params import NOT_PROVIDED, Param, format_value
from ir_graded.measures.parsing import LACKING, MEANT, TREC_ONLY

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

#: Definitions that a page adds if its formulas use the symbol and do not define it.
DEFINITIONS = {
    r"\mathrm{BR}(": r"\mathrm{BR}(n) = \frac{C(n) + \beta\, \mathrm{cg}(n)}{n + \beta\, \mathrm{cg}^{*}(n)}",
    "s(n)": r"s(n) = \frac{g(n)}{g_{\max} + 1}",
    r"\mathrm{dsat}(": r"\mathrm{dsat}(n) = \prod_{i \le n} \left(1 - s(i)\right)",
    "F(a": r"F(a) = \frac{(1 + \beta^{2})\, P(a)\, R(a)}{\beta^{2} P(a) + R(a)}",
    r"\mathrm{GG}": r"\mathrm{GG}(d) = \sum_{i} P(i)\, g_{i}(d)",
    r"\text{I-rec}": r"\text{I-rec@}k = \frac{|\bigcup_{n \le k} I(d_{n})|}{|I|}",
    r"\mathrm{iP@}": r"\mathrm{iP@}x = \max \{ P[r] : R[r] \ge x \}",
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


def measures() -> dict[str, GradedMeasure]:
    """Return every measure once, by its printed name; aliases with parameters are left out."""
    plain = {measure.NAME: measure for measure in NAMES.values() if not measure.params}
    return {name: plain[name] for name in sorted(plain, key=str.lower)}


def slug(name: str) -> str:
    """Return a name that can be part of an address: p-plus-q-sharp for P+Q#."""
    words = name.replace("+", "-plus-").replace("#", "-sharp")
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def pages() -> dict[str, Page]:
    """Return the page of each measure by its slug.

    Raises:
        LookupError: the docstring of a measure lacks a section.
    """
    return {slug(name): page_of(measure) for name, measure in measures().items()}


def page_of(measure: GradedMeasure) -> Page:
    """Return the page of a measure."""
    name, doc = measure.NAME, documented(type(measure))
    # Answers have no ranking that could be drawn, and the properties are those of rankings.
    of_answers = name in ANSWERS
    example, drawn = ("", []) if of_answers else _drawn(measure, doc.get("Drawn", ""))
    explained = [ir_graded.explain(text, *EXAMPLES[example], "1") for text in drawn]
    pictures = [Picture(f"{slug(name)}-{number}", found.plot) for number, found in enumerate(explained)]
    parts = [
        f".. _measure-{slug(name)}:",
        _heading(name if name == measure.PRETTY_NAME else f"{name}: {measure.PRETTY_NAME}", "="),
        measure.SHORT_DESC,
        _heading("Definition"),
        *(f".. math::\n\n   {line}" for line in _formulas(doc["Formula"])),
        doc["Definition"],
        "" if of_answers else _SYMBOLS[SPAN in measure.NEEDS],
        _heading("When to use it"),
        _linked(doc["Use it"], name),
        "" if of_answers else _heading("Worked example"),
        *_drawings(explained, pictures, example),
        _heading("Parameters"),
        _parameters(measure),
        _aliases(measure),
        _heading("Use it in Python"),
        doc["Example"],
        "" if of_answers else _heading("Properties"),
        *([] if of_answers else _properties(measure, doc)),
        _heading("Source"),
        _with_links(with_citations(doc["Source"])),
    ]
    return Page("\n\n".join(part for part in parts if part) + "\n", tuple(pictures))


def _with_links(source: str) -> str:
    """Return a source with a link for each DOI."""
    return re.sub(r"doi:(\S+?)(?=[,;.]?(\s|$))", r"`doi:\1 <https://doi.org/\1>`__", source)


def documented(kind: type) -> dict[str, str]:
    """Return the sections of a docstring. Raises LookupError if one that every page has is missing."""
    found = sections(kind)
    missing = [
        name for name in ("Definition", "Formula", "Use it", "Source", "Example") if not found.get(name)
    ]
    if missing:
        raise LookupError(f"the docstring of {kind.__name__} has no {', '.join(missing)}")
    return found


def _formulas(text: str) -> list[str]:
    """Return the formulas of a docstring, one a line, and the definitions of the symbols that they use."""
    own = re.sub(r"\n +", " ", text).split("\n")
    defined = [line.partition(" = ")[0] for line in own]
    used = [*own]
    for symbol, definition in DEFINITIONS.items():
        if symbol in " ".join(used) and not any(symbol in name for name in defined):
            used.append(definition)
    return used


def _linked(text: str, name: str) -> str:
    """Return text with links to the pages of the other measures and of the guide that it names."""

    def link(found: re.Match[str]) -> str:
        known = found[1] in measures() and found[1] != name
        return f":ref:`{found[1]} <measure-{slug(found[1])}>`" if known else found[0]

    return re.sub(r"docs/([\w/-]+)\.rst", r":doc:`/\1`", re.sub(r"``([^`]+)``", link, text))


def _drawn(measure: GradedMeasure, drawn: str) -> tuple[str, list[str]]:
    """Return the name of the example, and the measures that the page draws."""
    if drawn == "second run.":
        return "second-run", [measure.NAME]
    names = drawn.split() or [_example(measure)]
    columns = ir_measures.parse_measure(names[0]).further_columns
    if SPAN in measure.NEEDS:
        return "passage-example", names
    if not columns:
        return "example", names
    return "intent-example" if "iteration" in columns else "column-example", names


def _example(measure: GradedMeasure) -> str:
    """Return the measure with parameters that fit the small examples."""
    params = measure.SUPPORTED_PARAMS
    if "measure" in params:
        return f"{measure.NAME}-nDCG@10"
    if "cutoff" in params and (measure.NEEDS_ROWS or params["cutoff"].required):
        return f"{measure.NAME}@{3 if SPAN in measure.NEEDS else 5}"
    return measure.NAME


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


def _properties(measure: GradedMeasure, doc: dict[str, str]) -> Iterator[str]:
    low, high = measure.RANGE
    yield f"Scores lie in [{low:g}, {high:g}]."
    cutoff = measure.SUPPORTED_PARAMS.get("cutoff")
    for name, words in PROPERTIES.items():
        if name in measure.lacks:
            yield f"**Does not hold** ({name}): {words} Here {measure.lacks[name]}:"
            yield doc[f"Lacks {name}"]
        elif name == "exchange" and "swap" in measure.lacks:
            yield f"**Does not hold** ({name}): {words} It fails because *swap* fails."
        elif name == "truncation" and (cutoff is None or cutoff.required):
            takes = "takes no cutoff" if cutoff is None else "requires a cutoff"
            yield f"Does not apply ({name}): {words} The measure {takes}."
        else:
            yield f"**Holds** ({name}): {words}"


def _default(param: Param) -> str:
    if param.required:
        return "required"
    return "unset" if param.default is NOT_PROVIDED else f"``{format_value(param.default)}``"


def _aliases(measure: GradedMeasure) -> str:
    names = {name: target for name, target in NAMES.items() if target.NAME == measure.NAME != name}
    told = [f"``{name}``" + (f" (``{target!r}``)" if target.params else "") for name, target in names.items()]
    return f"Other names in measure strings: {', '.join(told)}." if told else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], widths: Sequence[int]) -> str:
    """Return a list-table in reStructuredText; cells are one line each."""
    lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {' '.join(map(str, widths))}", ""]
    for row in [head, *rows]:
        lines += [f"   {' ' if place else '*'} - {' '.join(cell.split())}" for place, cell in enumerate(row)]
    return "\n".join(line.rstrip() for line in lines)


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
        doc = sections(CLASSICS[name])
        definition = f"{doc['Summary']} {doc['Definition']}"
        rows.append((f"``{name}``", definition, doc.get("Parameters", "none"), _theirs(name)))
    head = ("measure", "definition", "parameters", "same values as")
    return table(head, rows, (10, 46, 28, 16)) + "\n"


def other_names() -> str:
    """Return the table of names in other programs; entries of the index let a search find them."""
    here: dict[str, str] = {
        name: str(measure)
        for name, measure in {**ir_measures.measures.registry, **NAMES}.items()
        if name.casefold() != measure.NAME.casefold() and measure.NAME in {*CLASSICS, GM.NAME}
    }
    here |= TREC_ONLY | MEANT
    entries = [*here, *LACKING, *(f"{name.removesuffix('@k')}@10" for name in here)]
    entries += [name.replace("_", " ") for name in entries]
    index = [".. index::", *(f"   ! single: {entry}" for entry in dict.fromkeys(map(str.lower, entries)))]
    cells = {
        name: f"``{measure}{'@k' * name.endswith('@k')}``"
        for name, measure in sorted(here.items(), key=itemgetter(1))
    }
    cells |= {name: f"not here. {instead}" for name, instead in LACKING.items()}
    groups = groupby(cells, key=cells.__getitem__)
    rows = [(", ".join(f"``{name}``" for name in names), cell) for cell, names in groups]
    return "\n".join([*index, "", table(("other name", "here"), rows, (45, 55)), ""])


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
