"""Error for an unknown measure, with a suggestion of the intended one."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches

import ir_measures
from ir_measures.measures import Measure

from ir_graded.errors import UnknownMeasureError, short_repr

from .base import REGISTRY

#: Number of characters of a name that are compared with names of measures.
_LONGEST_NAME = 60
#: Lowest similarity of names that is suggested.
_SIMILAR = 0.65
#: The name in a measure string, and the parameters and cutoff after it.
_NAME = re.compile(r"\s*([^@(\[{\s]*)(.*)", re.DOTALL)
#: A name with the cutoff inside: recall_at_10, ndcg_cut_10, mrr_10.
_NAME_AND_CUTOFF = re.compile(r"(.+?)(?:_at|_cut)?[._]([1-9][0-9]*)", re.DOTALL)
#: Names of other programs in lower case, with the measure here.
_ELSEWHERE = {
    **dict.fromkeys(("hit", "hits", "hit_rate", "hitrate", "hr", "top_k_accuracy"), "Success"),
    **dict.fromkeys(("f1", "f1_score", "f_score", "f_measure", "fmeasure", "f-measure"), "SetF"),
    **dict.fromkeys(("average_precision", "mean_average_precision", "avgprec", "map_cut"), "AP"),
    **dict.fromkeys(("reciprocal_rank", "mean_reciprocal_rank", "recip_rank"), "RR"),
    **dict.fromkeys(("r_precision", "r-precision"), "Rprec"),
    **dict.fromkeys(("dcg", "ndcg_cut"), "nDCG"),
    # Nothing here is the share of the relevant documents that k ranks can hold.
    **dict.fromkeys(("r_cap", "relative_p"), ""),
}
#: Names of geometric means over topics in lower case, with the measure whose arithmetic mean is available.
_GEOMETRIC = {"gm_map": "AP", "gmap": "AP", "gm_bpref": "Bpref"}


def unknown_measure(text: str, can_be_read: Callable[[str], bool]) -> UnknownMeasureError:
    """Return the error for a string that does not name a measure.

    Args:
        text: the string.
        can_be_read: tells whether a string names a measure.
    """
    return UnknownMeasureError(
        f"Unknown measure {short_repr(text)}. {_hint(*_parts(text), can_be_read)}"
        "Run `ir_graded measures` for the full list."
    )


def is_nearly_known(text: str) -> bool:
    """Tell whether a measure string begins with the name of a measure, in any case."""
    return _parts(text)[0].casefold() in _known_names()


def _parts(text: str) -> tuple[str, str]:
    """Return the name in a measure string, truncated if it is long, and the parameters and cutoff."""
    found = _NAME.match(text)
    name, rest = (found[1][:_LONGEST_NAME], found[2]) if found else (text[:_LONGEST_NAME], "")
    inside = None if rest else _NAME_AND_CUTOFF.fullmatch(name)
    return (inside[1], f"@{inside[2]}") if inside else (name, rest)


def _hint(name: str, rest: str, can_be_read: Callable[[str], bool]) -> str:
    if (arithmetic := _GEOMETRIC.get(name.casefold())) is not None:
        return f"The geometric mean over topics is not available; {arithmetic} has the arithmetic mean. "
    known = _known_names()
    outer, _, base = name.partition("-")
    measure = known.get(outer.casefold())
    composed = [other for other in REGISTRY if other.startswith(f"{measure}-")]
    if base.casefold() in known and composed and name.casefold() not in known:
        return f"{measure} has short names for these: {', '.join(composed)}. "
    near = get_close_matches(name.casefold(), known, 1, _SIMILAR)
    meant = known[near[0]] if near else ""
    if not meant:
        return ""
    return f"Did you mean {short_repr(meant + rest if can_be_read(meant + rest) else meant)}? "


def _known_names() -> dict[str, str]:
    """Return the canonical name of each measure by its names in lower case, also those of other programs."""
    measures: dict[str, Measure] = {**ir_measures.measures.registry, **REGISTRY}
    here = {name.casefold(): name if measure.params else measure.NAME for name, measure in measures.items()}
    return {**_ELSEWHERE, **here}
