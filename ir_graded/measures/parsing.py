"""Measure strings: ``NAME(k=v, ...)@cutoff``.

Names of ir-measures are parsed as in ir-measures. Strings of which it silently drops a part raise a
ValueError: a parameter, cutoff or key that is given twice, and everything after a ``#``. Names of this
package may contain ``-``, ``+`` and ``,``, and values may be negative numbers, ``inf``, lists and dicts, so
that every printed measure can be parsed again.
"""

from __future__ import annotations

import ast
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from difflib import get_close_matches
from functools import wraps
from io import StringIO
from typing import Any

import ir_measures
from ir_measures.measures import Measure

from ir_graded.errors import (
    GradedError,
    MeasureSyntaxError,
    ParameterError,
    UnknownMeasureError,
    cut,
    short_repr,
)
from ir_graded.measures.classic.ties import separate_ties

from .base import NAMES, SHORT_FOR, GradedMeasure
from .params import with_floats

#: Names of trec_eval that ir-measures lacks, with the measure; registered there, they would become members
#: of its families.
TREC_ONLY = {"gm_map": "GM(measure='AP')", "gm_bpref": "GM(measure='Bpref')"}
#: Names by the measure here. ``@k`` is part of names that mean this measure with a cutoff only.
_MEANT = {
    "AP": "average_precision mean_average_precision avgprec map_cut@k AveP NCP_u document_map",
    "AspectAP": "aspect_map",
    "CharF": "char_f1",
    "CharP": "char_prec",
    "CharR": "char_rec",
    "F": "f1@k f1_score@k f_score@k f_measure@k fmeasure@k",
    "CitationR(several='mean')": "citation_recall",
    "GF(groups='G',divergence='JSD')": "GF-JSD",
    "GF(groups='G',divergence='NMD')": "GF-NMD",
    "GF(groups='G',divergence='RNOD')": "GF-RNOD",
    "NCU(stop='gu')": "NCU_gu",
    "NCU(stop='gu',beta=0)": "NCP_gu",
    "NCU(stop='rb')": "NCU_rb",
    "NCU(stop='rb',beta=0)": "NCP_rb",
    "NCU(stop='u')": "NCU_u",
    "NuggetR": "coverage",
    "O-measure": "OMeasure",
    "P": "prec",
    "P+": "PPlusMeasure",
    "P-measure": "PMeasure",
    "Passage2AP": "passage2_map",
    "PassageAP": "passage_map",
    "Q": "QMeasure",
    "Q(norm='cutoff')": "QMeasure@k",
    "RelP": "r_cap relative_p capped_recall recall_cap recall_capped",
    "RR": "reciprocal_rank mean_reciprocal_rank recip_rank NCP_1",
    "Rprec": "r_precision",
    "SetF": "f1 f1_score f_score f_measure fmeasure art_f1",
    "SetP": "art_prec",
    "SetR": "art_rec",
    "Success": "hit hits hit_rate hitrate hr top_k_accuracy accuracy@k",
    "gRBP(norm='ideal')": "nRBP",
    "nDCG": "ndcg_cut@k MSnDCG",
}
_INSTEAD = {
    "AP@k of judged chunks is similar, but divides by all relevant chunks": "context_precision",
    "NuggetR@k is similar: the share of nuggets that the first k chunks hold": "context_recall",
    "Other programs let a language model judge it; CitationP and CitationR score judged citations": (
        "faithfulness groundedness hallucination"
    ),
    "Other programs let a language model judge it; NuggetScore scores judged facts of an answer": (
        "answer_relevancy answer_relevance response_relevancy answer_correctness answer_similarity"
    ),
    "It compares texts; NuggetScore scores judged facts of an answer": (
        "bleu rouge meteor bertscore exact_match"
    ),
    "It scores the position of nuggets in one text, not a ranking of documents": (
        "S-measure T-measure S-flat T-flat F-flat W-recall"
    ),
    "The command ir_graded trec_eval prints it": (
        "11pt_avg binG G ideal_dcg ndcg_rel Rndcg Rprec_mult utility yaap rbp_resid unj relstring runid "
        "num_nonrel_judged_ret"
    ),
    "O-measure was made to replace it": "weighted_reciprocal_rank",
    "ir_graded.passages.precision_omega computes it": "precision_omega",
    "It is NCU with beta=0 and a stop: NCU(stop='gu',beta=0), for example": "NCP",
}
#: Names of other programs, with the measure here.
MEANT = {name: here for here, names in _MEANT.items() for name in names.split()}
#: Names of measures that this package lacks, with the reason or a similar measure.
LACKING = {name: instead for instead, names in _INSTEAD.items() for name in names.split()}
#: Notations of other programs and papers as regular expressions, with the text that replaces them here.
NOTATIONS = {
    # ranx
    r"(.+?)(@[0-9]+)?-l([0-9]+)": r"\1(rel=\3)\2",
    r"(?i:rbp)(\.[0-9]+)(.*)": r"RBP(p=0\1,rel=1)\2",
    r"(?i:grbp)(\.[0-9]+)(.*)": r"gRBP(p=0\1)\2",
    r"(?i:nrbp)(\.[0-9]+)(.*)": r"gRBP(norm='ideal',p=0\1)\2",
    # inex_eval
    r"gP\[([0-9]+)\]": r"gP(beta=0.25)@\1",
    r"(.+)\[([0-9.]+)\]": r"\1@\2",
    # Condensed lists, written with a prime
    r"([\w+-]+)['\u2032](@[0-9]+)?": r"\1(judged_only=True)\2",
    # The geometric means of trec_eval
    r"(?i:gm_)(\w+)": r"GM(measure='\1')",
    # Parameters behind the cutoff
    r"([\w+-]+)(@[0-9]+)(\(.+\))": r"\1\3\2",
    # NTCIREVAL
    r"(.+@)0+([1-9][0-9]*)": r"\1\2",
    # NCU in the paper by Sakai and Robertson
    r"NCU_?\{?(u|rb|gu), ?(?:β|beta)=([0-9.]+|inf)\}?(.*)": r"NCU(stop='\1',beta=\2)\3",
}


#: Number of characters of a name that are compared with names of measures.
_LONGEST_NAME = 60
#: Python reads longer whole numbers in hexadecimal but cannot print them.
_MOST_BITS = 2_000
#: Characters of a string that are searched for commas between measures.
_LONGEST_LIST = 500
#: Lowest similarity of names that is suggested.
_SIMILAR = 0.65
#: The name in a measure string, and the parameters and cutoff after it.
_NAME = re.compile(r"\s*([^@(\[{\s]*)(.*)", re.DOTALL)
#: Text in quotes, which may contain #.
_QUOTED = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
#: A name with the cutoff inside: recall_at_10, ndcg_cut_10, mrr_10.
_NAME_AND_CUTOFF = re.compile(r"(.+?)(?:_at|_cut)?[._]([0-9]+(?:\.[0-9]+)?)", re.DOTALL)


def _parts(text: str) -> tuple[str, str]:
    """Return the name in a measure string, truncated if it is long, and the parameters and cutoff."""
    found = _NAME.match(text)
    name, rest = (found[1][:_LONGEST_NAME], found[2]) if found else (text[:_LONGEST_NAME], "")
    inside = None if rest or _plain(name) in _OTHERS else _NAME_AND_CUTOFF.fullmatch(name)
    return (inside[1], f"@{inside[2]}") if inside else (name, rest)


def _plain(name: str) -> str:
    """Return a name in lower case, without the signs between its words."""
    return re.sub("[-_,]", "", name.casefold())


_LACKING = {_plain(name): instead for name, instead in LACKING.items()}
#: The names of other programs.
_OTHERS = {*_LACKING, *map(_plain, MEANT)}


def _hint(text: str) -> str:
    """Return a hint on the measure that a string may mean, with a blank; empty without one."""
    for notation, here in NOTATIONS.items():
        text = re.sub(f"^{notation}$", here, text)
    name, rest = _parts(text)
    if instead := _LACKING.get(_plain(name)):
        return f"{instead}. "
    known, at = _known_names(), "@k" * rest.startswith("@")
    # The exact name comes first: nRBP is not NRBP, and bpref is not B-pref.
    keys = [key + end for key in (name, name.casefold(), _plain(name)) for end in (at, "")]
    near = next((key for key in keys if key in known), None)
    ends = re.fullmatch(r"(.*[A-Za-z])([0-9]+)", name)
    if near is None and ends and ends[1].casefold() in known:  # MRR10
        return _hint(f"{ends[1]}@{ends[2]}{rest}")
    if near is None:
        outer, _, base = name.partition("-")
        measure = known.get(outer.casefold())
        composed = [one for one in NAMES if one.startswith(f"{measure}-") and "measure" in NAMES[one].params]
        if base.casefold() in known and composed:
            return f"{measure} has short names for these: {', '.join(composed)}. "
        near = next(iter(get_close_matches(name.casefold(), known, 1, _SIMILAR)), None)
        if near is None:
            return ""
    meant = known.get(near + at, known[near])
    together = f"{meant[:-1]},{rest[1:]}" if meant.endswith(")") and rest.startswith("(") else meant + rest
    if _can_be_read(together):
        return f"Did you mean {short_repr(together)}? "
    return f"Did you mean {short_repr(meant)}? It does not take {short_repr(rest)}. "


def _known_names() -> dict[str, str]:
    """Return the canonical name of each measure by its names in lower case, also those of other programs."""
    measures: dict[str, Measure] = {**ir_measures.measures.registry, **NAMES}
    here = {name: name if measure.params else measure.NAME for name, measure in measures.items()}
    names = {**MEANT, **here}
    plain = {_plain(name): meant for name, meant in names.items()}
    return {**plain, **{name.casefold(): meant for name, meant in names.items()}, **MEANT}


class _UnreadableError(ValueError):
    """A string that cannot be read: the reason in the words of ir-measures, and in plainer ones."""

    def __init__(self, reason: str, plain: str | None = None) -> None:
        super().__init__(reason)
        self.plain = plain or reason


def parse(text: str) -> Measure:
    """Return the measure that ``text`` names, with the errors of ir-measures for its own measures."""
    try:
        return _parse(text)
    except _UnreadableError as error:
        raise ValueError(
            f"problem parsing measure {error}; must be in format Measure(k1=v1, k2=v2)@c"
        ) from None


def _parse(text: str) -> Measure:
    """Return the measure that ``text`` names, as :func:`parse`, which words some errors otherwise."""
    name = _graded_name(text)
    if name is None:
        name, args, at = _split_call(text, _upstream_value)
        if name not in ir_measures.measures.registry:
            raise NameError(f"measure not found: {cut(name)}")
        measure = ir_measures.measures.registry[name]
        return separate_ties(measure(**_parameters(measure, args, at)))
    measure = NAMES[name]
    try:
        _, args, at = _split_call(f"_{text.strip()[len(name) :]}", _graded_value)
        if any(key is None for key, _ in args):
            raise _UnreadableError("args must be named")
        params = _parameters(measure, args, at)
    except _UnreadableError as error:
        raise _cannot_read(text, name, error) from None
    made = measure(**params)
    for key, value in SHORT_FOR.get(name, {}).items():
        if made.params.get(key) != measure.params.get(key):
            raise ParameterError(f"{name} has {key}={value!r}, not {short_repr(params[key])}: write {made!r}")
    return made


def _cannot_read(text: str, name: str, error: Exception) -> MeasureSyntaxError:
    return MeasureSyntaxError(
        f"cannot read {short_repr(text)}: {getattr(error, 'plain', error)}; "
        f"write {name}, {name}@10 or {name}(name=value, ...)@10"
    )


def _graded_name(text: str) -> str | None:
    """Return the longest name of this package that ``text`` begins with, else None."""
    text = text.strip()
    for name in sorted(NAMES, key=len, reverse=True):
        if text.startswith(name) and text[len(name) :].lstrip()[:1] in ("", "(", "@"):
            return name
    return None


def _split_call(  # noqa: C901  # each check has its own message
    text: str, value: Callable[[ast.expr], Any]
) -> tuple[str, list[tuple[Any, Any]], Any]:
    """Split a measure string into name, arguments and cutoff. Raises _UnreadableError."""
    if "#" in _QUOTED.sub("", text):
        # Python would drop the rest of the line as a comment.
        raise _UnreadableError("'#' is not part of a measure's name, and in a value it must be in quotes")
    try:
        statements = ast.parse(text).body
        if len(statements) != 1:
            raise _UnreadableError("multiple expressions")
        if not isinstance(statements[0], ast.Expr):
            raise _UnreadableError("not an expression")
        node, at, args = statements[0].value, None, []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            at, node = value(node.right), node.left
        if isinstance(node, ast.Call):
            if node.args:
                raise _UnreadableError("args must be named")
            args = [(keyword.arg, value(keyword.value)) for keyword in node.keywords]
            node = node.func
        if not isinstance(node, ast.Name):
            raise _UnreadableError("unexpected expression")
    except _UnreadableError:
        raise
    except (SyntaxError, ValueError) as error:
        # A ValueError is on characters that Python cannot read, such as half a surrogate pair.
        raise _UnreadableError(str(error), getattr(error, "msg", None)) from None
    except (RecursionError, MemoryError):
        raise _UnreadableError("too deeply nested") from None
    return node.id, args, at


def _upstream_value(node: ast.expr) -> Any:
    """Return a value as ir-measures reads it: a number, text, True, False, None, or a dict of these."""
    if isinstance(node, ast.Constant) and not isinstance(node.value, (bytes, type(...))):
        return node.value
    if isinstance(node, ast.Dict):
        return _read_dict(node, _upstream_value)
    raise _UnreadableError("values must be str, float, int, bool, etc.", _PLAIN_REASONS.get(type(node)))


#: Why a value cannot be read, by what it is in Python.
_PLAIN_REASONS: dict[type[ast.expr], str] = {
    ast.Name: "values must be numbers, or text in quotes",
    ast.UnaryOp: "values must not be negative",
}


def _graded_value(node: ast.expr) -> Any:
    """Return a value of a measure of this package, which may also be a signed number, inf or a list."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        number = _graded_value(node.operand)
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            return -number if isinstance(node.op, ast.USub) else number
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        if node.value.bit_length() > _MOST_BITS:
            raise _UnreadableError("a whole number has too many digits")
        return node.value
    if isinstance(node, ast.Name) and node.id == "inf":
        return math.inf
    if isinstance(node, ast.Dict):
        if any(isinstance(key, (ast.Dict, ast.List, ast.Tuple)) for key in node.keys):
            raise _UnreadableError("keys must be numbers or text")
        return _read_dict(node, _graded_value)
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_graded_value(element) for element in node.elts]
    return _upstream_value(node)


def _parameters(measure: Measure, args: list[tuple[Any, Any]], at: Any) -> dict[Any, Any]:
    """Return the parameters of a measure by name, including the value after the @."""
    return _unique_dict(args if at is None else [*args, (measure.AT_PARAM, at)])


def _unique_dict(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """Return a dict of names and values. Raises _UnreadableError if a name appears twice."""
    values = dict(pairs)
    if len(values) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise _UnreadableError(f"{short_repr(twice)} is given twice")
    return values


def _read_dict(node: ast.Dict, value: Callable[[ast.expr], Any]) -> dict[Any, Any]:
    """Return a dict. Raises _UnreadableError for ``**other``, which has no key."""
    keys = [key for key in node.keys if key is not None]
    if len(keys) < len(node.keys):
        raise _UnreadableError("values must be str, float, int, bool, etc.")
    return _unique_dict([*zip(map(value, keys), map(value, node.values), strict=True)])


#: A complete name of trec_eval, with or without arguments; ir-measures reads ``P_5x`` as P@5.
_TREC_NAME = re.compile(
    r"[A-Za-z0-9]+(?:_[A-Za-z]+)*(?:[._]([0-9]+(?:\.[0-9]+)?(?:,[0-9]+(?:\.[0-9]+)?)*))?", re.ASCII
)

# Keep the original, which the plugin replaces.
_original_parse_trec: Callable[[str], list[Measure]] = getattr(
    ir_measures.util.parse_trec_measure, "__wrapped__", ir_measures.util.parse_trec_measure
)


def parse_measure(measure: str | Measure) -> Measure:
    """Parse a name of ir-measures, this package or trec_eval, as ``ir_measures.parse_measure``.

    Raises:
        NameError: the name is unknown.
        ValueError: the string cannot be read, or it names several measures of trec_eval.
    """
    found = _named(measure, parse)
    if len(found) > 1:
        names = cut(", ".join(map(str, found)))
        raise ValueError(
            f"{short_repr(measure)} names {len(found)} measures ({names}); use parse_trec_measure instead"
        )
    return found[0]


@wraps(_original_parse_trec)
def parse_trec_measure(measure: str) -> list[Measure]:
    """Parse a name of trec_eval, or else a measure string, as ``ir_measures.parse_trec_measure``."""
    try:
        return _original_parse_trec(measure)
    except ValueError as error:
        try:
            return [parse(measure)]
        except GradedError:
            raise
        except (NameError, ValueError):
            unknown = str(error).startswith("unkonwn")  # sic
            hint = _hint(measure).rstrip(". ") if unknown else ""
            raise ValueError(cut(str(error)) + (hint and f". {hint}")) from None


def read_measures(
    measures: Iterable[str | Measure] | str | Measure, *, repeats: bool = False, as_given: bool = False
) -> list[Measure]:
    """Return measure objects for objects and strings, in order.

    A string may name several measures, separated by blanks, and a name of trec_eval may give several.

    Args:
        measures: measure objects and strings, mixed.
        repeats: whether to keep equal measures; by default each is returned once.
        as_given: whether to keep whole numbers of measure objects where ir-measures accepts only floats; by
            default, and always in strings, ``SetF(beta=2)`` becomes ``SetF(beta=2.0)``.

    Raises:
        UnknownMeasureError: a name is unknown.
        MeasureSyntaxError: a string cannot be read.
        ParameterError: an item is not a measure, or a measure does not take a parameter or its value.
    """
    given = [measures] if isinstance(measures, (str, Measure)) else measures
    if not isinstance(given, Iterable):
        raise ParameterError(
            f"measures={short_repr(measures)} must be a measure, its name, or a list of these: "
            "for example ['P-measure', 'nDCG@10']"
        )
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        raise ParameterError(
            f"measures is a {type(given).__name__}, not a list of measures; measures come first: "
            "evaluate(measures, qrels, runs)"
        )
    found: list[Measure] = []
    for item in given:
        named = _measures_in(item) if isinstance(item, str) else _named(item, parse)
        if isinstance(item, str) or not as_given:
            named = [one if isinstance(one, GradedMeasure) else with_floats(one) for one in named]
        found += named
    try:
        distinct = list(dict.fromkeys(found))
    except ValueError as error:
        # ir-measures compares measures by their text, and Python cannot print an int of thousands of digits.
        raise ParameterError(
            f"a measure of ir-measures has a parameter that cannot be printed: {error}"
        ) from None
    return found if repeats else distinct


def read_measure(measure: str | Measure) -> Measure:
    """Return the measure that an object or string names, with the errors of :func:`read_measures`."""
    found = read_measures(measure)
    if len(found) != 1:
        names = cut(", ".join(map(str, found)))
        raise ParameterError(f"{short_repr(measure)} names {len(found)} measures ({names}): give one")
    return found[0]


def _measures_in(text: str) -> list[Measure]:
    """Return the measures in a string: one, those of a family of trec_eval, or several between blanks."""
    try:
        return _read_here(text)
    except (NameError, ValueError):
        pieces = _split(text)
        if not pieces:
            raise ParameterError(
                f"no measure given in {short_repr(text)}: write for example 'P-measure nDCG@10'"
            ) from None
        if len(pieces) == 1:
            raise
        try:
            return [measure for piece in pieces for measure in _read_here(piece)]
        except UnknownMeasureError:
            together = "_".join(pieces)  # a name of several words, such as context precision
            if _plain(_parts(together)[0]) in _OTHERS:
                raise _explained(together, NameError()) from None
            raise


def _read_here(text: str) -> list[Measure]:
    """Return the measures that a string without blanks names, with the errors of :func:`read_measures`."""
    try:
        found = _named(text, _parse)
    except ParameterError:
        raise
    except (MeasureSyntaxError, NameError, _UnreadableError, TypeError) as error:
        raise _explained(text, error) from None
    # ir-measures takes any parameter when it makes a measure.
    for measure in found:
        if unknown := measure.params.keys() - measure.SUPPORTED_PARAMS.keys():
            takes = ", ".join(measure.SUPPORTED_PARAMS)
            raise ParameterError(
                f"{measure.NAME} takes no parameter {short_repr(min(unknown))}; it takes {takes}"
            )
    return found


def _explained(text: str, error: Exception) -> GradedError:
    """Return the error for a string that cannot be read."""
    known, name = _known_names(), _parts(text)[0].casefold()
    is_one = "," in name and name in known  # NCUgu,P
    pieces = [text] if is_one else _split(text[:_LONGEST_LIST], ",;")
    # A number after a comma belongs to a name of trec_eval: P_5,10.
    named = pieces not in ([], [text]) and not any(piece[0].isdigit() for piece in pieces)
    if named and (_can_be_read(pieces[0]) or all(_parts(piece)[0].casefold() in known for piece in pieces)):
        return MeasureSyntaxError(
            f"cannot read {short_repr(text)}: separate measures by blanks, for example 'Q nDCG@10'"
        )
    if isinstance(error, GradedError):
        return error
    name = re.split(r"[@(]", text, maxsplit=1)[0].strip()
    if isinstance(error, NameError) or name not in ir_measures.measures.registry:
        return UnknownMeasureError(
            f"Unknown measure {short_repr(text)}. {_hint(text)}Run `ir_graded measures` for the full list."
        )
    return _cannot_read(text, name, error)


def _can_be_read(text: str) -> bool:
    """Tell whether a string of one measure can be read, without a suggestion where it cannot."""
    try:
        return all(
            measure.params.keys() <= measure.SUPPORTED_PARAMS.keys() for measure in _named(text, _parse)
        )
    except (NameError, ValueError, TypeError):
        return False


def _split(text: str, separators: str | None = None) -> list[str]:
    """Return the pieces of a text between separators outside brackets; by default between blanks."""
    pieces, begin, depth = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth <= 0 and (character.isspace() if separators is None else character in separators):
            pieces.append(text[begin:at])
            begin = at + 1
    return [piece for piece in [*pieces, text[begin:]] if piece]


def _named(item: str | Measure, read: Callable[[str], Measure]) -> list[Measure]:
    """Return the measures that an object or a string names, several for a family of trec_eval."""
    if isinstance(item, Measure):
        return [separate_ties(item)]
    if not isinstance(item, str):
        raise ParameterError(f"{short_repr(item)} is neither a measure nor a string that names one")
    try:
        return [read(TREC_ONLY.get(item, item))]
    except GradedError:
        # The name is one of this package, so no other grammar applies.
        raise
    except (NameError, ValueError):
        if (name := _TREC_NAME.fullmatch(item)) is None:
            raise
        try:
            return _family(item)
        except ValueError:
            if "." in (name[1] or "") and _plain(_parts(item)[0]) not in _LACKING:
                raise MeasureSyntaxError(
                    f"cannot read {short_repr(item)}: {cut(name[1])} are not whole numbers; "
                    "write P_10 or P_5,10"
                ) from None
        raise


def _family(name: str) -> list[Measure]:
    """Return the measures that a name of trec_eval gives, with those of this package in a family."""
    # ir-measures prints the members of a family that it skips.
    with redirect_stdout(StringIO()) as printed:
        found = _original_parse_trec(name)
    skipped = re.findall(r"'(\w+)'", printed.getvalue())
    if without := [one for one in skipped if one not in TREC_ONLY]:
        sys.stderr.write(f"skipped {without}: measures not yet supported\n")
    return found + [parse(TREC_ONLY[one]) for one in skipped if one in TREC_ONLY]
