"""What a paper says of measures: the values of their parameters in a sentence, and their publications."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any

from ir_measures.measures import Measure

from ir_graded._utils.publications import bibtex, cited_keys
from ir_graded.errors import ParameterError

from .base import COMMON, GradedMeasure, sections
from .classic import Classic, scorer_of
from .classic.ties import TIED_CLASSICS, TiedClassic
from .composed import BaseMeasure, at_cutoff
from .params import (
    NOT_PROVIDED,
    ROW_ORDERS_IN_WORDS,
    TIES,
    TIES_IN_WORDS,
    canonical_number,
    format_value,
)


def _changed(gains: dict[Any, Any]) -> str:
    return "gains = levels" + (f" except {format_value(gains)}" if gains else "")


#: Words for values of the parameters that many measures have; others are worded "name value".
_WORDS: dict[str, Callable[[Any], str]] = {
    "rel": lambda level: f"relevant from level {format_value(canonical_number(level))}",
    "gains": _changed,
    "dcg": {"log2": _changed({}), "exp-log2": "gains = 2^level - 1"}.__getitem__,
}


def settings_of(
    measures: Iterable[tuple[str, Measure]], text: Callable[[str], str] = str, ties: object = None
) -> str:
    """Return a sentence with the values of all parameters of measures, also those at their defaults.

    Values that all measures share are named once. Flags and words at their defaults are left out.

    Args:
        measures: the measures, each with the text that names it.
        text: escapes the values.
        ties: the option ``ties`` of the signature of their scores, which the rows of a run may decide.

    Example:
        >>> import ir_graded
        >>> settings_of([("Q", ir_graded.Q)])
        'Q: beta 1, gains = levels, relevant from level 1, tied documents by doc id.'
        >>> settings_of([("Q", ir_graded.Q), ("nCG", ir_graded.nCG @ 10)]).rpartition("; ")[2]
        'all measures: gains = levels, relevant from level 1, tied documents by doc id.'
    """
    of_rows = {TIES.default: ROW_ORDERS_IN_WORDS[ties]} if ties in ROW_ORDERS_IN_WORDS else {}
    words = _WORDS | {"ties": (TIES_IN_WORDS | of_rows).__getitem__}
    found = [(name, [*_values(measure, words).values()]) for name, measure in measures]
    first, *others = (values for _, values in found)
    shared = [value for value in first if others and all(value in values for values in others)]
    parts = [(name, [value for value in values if value not in shared]) for name, values in found]
    parts.append(("all measures", shared))
    sentence = "; ".join(f"{name}: {', '.join(map(text, values))}" for name, values in parts if values)
    return sentence and f"{sentence}."


def _values(measure: Measure, words: Mapping[str, Callable[[Any], str]]) -> dict[str, str]:
    """Return the values of the parameters in words, by parameter; those that most measures have last."""
    scorer, params = scorer_of(measure), measure.SUPPORTED_PARAMS
    if isinstance(scorer, Classic) and scorer.RANKED:
        params = TIED_CLASSICS[measure.NAME].SUPPORTED_PARAMS
    found: dict[str, str] = {}
    for name in sorted(params, key=[*COMMON].__contains__):
        default = params[name].default
        value = measure.params.get(name, default)
        if value is NOT_PROVIDED or value is None or not _applies(measure, name, value):
            continue
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if isinstance(params[name], BaseMeasure):
            found |= _values(at_cutoff(value), words)
        elif name in words:
            found["gains" if name == "dcg" else name] = words[name](value)
        elif is_number:
            found[name] = f"{name} {format_value(canonical_number(value))}"
        elif value != default:
            found[name] = f"{name}={format_value(value)}"
    if scorer is not None and scorer.infers_scale:
        found["max_rel"] = "highest level from the qrels"
    return found


def _applies(measure: Measure, name: str, value: Any) -> bool:
    """Return whether a parameter has an effect together with the others."""
    if not isinstance(measure, GradedMeasure):
        return True
    try:
        measure.check_combination({**measure.params, name: value})
    except ParameterError:
        return False
    return name != "ties" or not measure.ranks_rows


def citations(measures: Iterable[Measure], further: str = "") -> str:
    """Return the publications of measures, and those that a further text cites, as BibTeX.

    A comment names measures without a known publication.
    """
    cited = {measure: _cited(measure) for measure in measures}
    # BibTeX ignores text between entries, which must not contain its sign for an entry.
    lacking = [str(measure).replace("@", " at ") for measure, keys in cited.items() if not keys]
    entries = bibtex(chain(*cited.values(), cited_keys(further)))
    return "\n\n".join(filter(None, [entries, *(f"% No known publication: {name}" for name in lacking)]))


def _cited(measure: Measure) -> list[str]:
    """Return the keys that the docstrings of a measure, and of its base measure, cite."""
    scorer = scorer_of(measure)
    kinds = [type(measure) if scorer is None else type(scorer)]
    kinds += [measure.CLASSIC] if isinstance(measure, TiedClassic) else []
    keys = [key for kind in kinds for key in cited_keys(sections(kind)["Source"])]
    for name, param in measure.SUPPORTED_PARAMS.items():
        keys += _cited(at_cutoff(measure[name])) if isinstance(param, BaseMeasure) else []
    return keys
