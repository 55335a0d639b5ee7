"""``ir_graded measures``: list and explain the measures."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import click
from ir_measures.measures import Measure, ParamInfo

from ir_graded._utils.publications import bibtex, publications, with_citations
from ir_graded._utils.text_tables import wrapped
from ir_graded.measures import NAMES, GradedMeasure
from ir_graded.measures.base import SHORT_FOR, sections
from ir_graded.measures.classic import CLASSICS, EXAMPLES
from ir_graded.measures.descriptions import citations
from ir_graded.measures.params import NOT_PROVIDED, Param, format_value
from ir_graded.measures.parsing import read_measures

from .output import show, width


@click.command()
@click.argument("names", nargs=-1, metavar="[MEASURE]...")
@click.option(
    "--bibtex",
    "as_bibtex",
    is_flag=True,
    help="Print the publications as BibTeX; without MEASUREs also those of tests and corrections.",
)
def measures(names: tuple[str, ...], as_bibtex: bool) -> None:
    """List all measures with parameters, defaults, meaning and what to cite.

    With MEASUREs, print only these, with their formulas and an example.
    """
    if as_bibtex:
        show(citations(read_measures(" ".join(names))) if names else bibtex(publications()))
        return
    if names:
        chosen = {measure.NAME: type(measure)() for measure in read_measures(" ".join(names))}
        _show("\n\n".join("\n".join(_explain(measure)) for measure in chosen.values()))
        return
    _show("\n\n".join("\n".join(_describe(measure)) for measure in listed()))
    _show("\nWrite NAME, NAME@10 or NAME(parameter=value, ...)@10. The measures of ir-measures work, too:")
    _show(", ".join(sorted(CLASSICS, key=str.lower)))


def _show(text: str) -> None:
    """Print a text in lines that fit into the terminal, except for code."""
    lines, code = text.split("\n"), (">>>", "...")
    show("\n".join(line if line.lstrip()[:3] in code else wrapped(line, width()) for line in lines))


def _parameter(name: str, param: ParamInfo, meaning: str, indent: str) -> str:
    """Return the lines on a parameter."""
    first, later = f"{indent}{_with_default(name, param):<18} ", indent + " " * 19
    return textwrap.fill(meaning, int(width()), initial_indent=first, subsequent_indent=later)


def _explain(measure: Measure) -> Iterator[str]:
    """Yield the lines on one measure: formula, advice, parameters, other names, example and source."""
    about = sections(CLASSICS.get(measure.NAME, type(measure)))
    yield f"{_title(measure)}\n\n{about['Summary']}"
    advice = " ".join(about["Use it"].split())
    yield from (f"\n{text}".replace("``", "") for text in (about["Definition"], advice) if text)
    if measure.SUPPORTED_PARAMS:
        yield "\nParameters:"
    for name, param in measure.SUPPORTED_PARAMS.items():
        expected = f": {param.expected}" if isinstance(param, Param) else ""
        yield _parameter(name, param, f"{param.desc}{expected}", " " * 4)
    if "Parameters" in about:
        values = " ".join(about["Parameters"].split()).replace("``", "")
        yield f"    Supported: {values}"
    others = [*_other_names(measure)]
    if others:
        yield "\nOther names:\n" + "\n".join(f"    {name}" for name in others)
    example = str(measure(cutoff=10) if "cutoff" in measure.SUPPORTED_PARAMS else measure)
    for name, param in measure.SUPPORTED_PARAMS.items():
        if param.required and name != "cutoff" and isinstance(param, Param):
            example = param.example(measure)
    if measure.NAME in CLASSICS:
        required = [name for name, param in measure.SUPPORTED_PARAMS.items() if param.required]
        required += CLASSICS[measure.NAME].REQUIRED
        example = str(measure(**{name: EXAMPLES.get(name, 1) for name in required}))
    command = getattr(measure, "COMMAND", "evaluate qrels.txt bm25.run")
    yield f'\nOn the command line:\n    ir_graded {command} -m "{example}"'
    if "Example" in about:
        yield "\nExample:\n" + textwrap.indent(about["Example"], "    ")
    if about["Source"]:
        source = " ".join(with_citations(about["Source"]).split())
        yield "\n" + textwrap.fill(f"Source: {source}", 80, break_on_hyphens=False, break_long_words=False)


def _title(measure: Measure) -> str:
    name, pretty = measure.NAME, getattr(measure, "PRETTY_NAME", measure.NAME)
    return str(name) if pretty == name else f"{name}  {pretty}"


def listed() -> list[GradedMeasure]:
    """Return all measures, each once, by name."""
    plain = {measure.NAME: measure for measure in NAMES.values() if not measure.params}
    return [plain[name] for name in sorted(plain, key=str.lower)]


def _describe(measure: GradedMeasure) -> Iterator[str]:
    yield f"{_title(measure)} ({measure.SOURCE})"
    yield f"    {measure.SHORT_DESC}"
    for name, param in measure.SUPPORTED_PARAMS.items():
        yield _parameter(name, param, f"{param.desc}: {param.expected}", " " * 6)
    for name in _other_names(measure):
        yield f"      also {name}"


def _other_names(measure: Measure) -> Iterator[str]:
    """Yield the other names of a measure of this package; short names with the measure they name."""
    for alias, target in NAMES.items():
        if target.NAME == measure.NAME and alias != measure.NAME:
            yield alias + (f", short for {target!r}" if alias in SHORT_FOR else "")


def _with_default(name: str, param: ParamInfo) -> str:
    if param.required:
        return f"{name} (needed)"
    return name if param.default in (NOT_PROVIDED, None) else f"{name}={format_value(param.default)}"
