"""Checks for files that fit a format by their number of fields but may be in another format.

Reading such a file could silently give wrong levels or scores, so it raises an error with the reason. A
format that the caller names is not checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

#: Levels of the letters of NTCIR, also in collections without S.
LETTERS = {"S": 3.0, "A": 2.0, "B": 1.0, "C": 0.0}

#: A whole number.
INTEGER = re.compile(r"[+-]?[0-9]+")
#: A finite number.
NUMBER = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?")
_LEVEL = re.compile(r"L[0-9]+")
#: Usual second fields of TREC lines; the second field of a Genomics line is never one of them.
NO_ITERATION = ("0", "Q0")

#: Number of fields of a line of sampled judgments, and the highest usual stratum.
_OF_SAMPLES = 5
_HIGHEST = 9
_NOT_PASSAGES = (
    "; sampled judgments (topic 0 doc stratum level, or topic doc level method iprob) are not passages and "
    "cannot be read"
)

#: Takes the fields of a first line and the whole line; returns why it may be of another format, or None.
FirstLine = Callable[[Sequence[str], str], str | None]


@dataclass(frozen=True)
class Review:
    """Check of one field of all lines, used only if some field of the file is a single letter.

    Attributes:
        field: position of the field.
        first_wrong: takes the texts of the field and the values of all rows; returns the first row that does
            not agree with the format, or None.
        problem: takes the fields of that row's line; returns what is wrong.
        of_named: whether the check is also used if the caller names the format.
    """

    field: int
    first_wrong: Callable[[pl.Series, pl.Series], int | None]
    problem: Callable[[Sequence[str]], str]
    of_named: bool = False


def _first(wrong: pl.Series) -> int | None:
    return int(wrong.arg_true()[0]) if wrong.any() else None


# ---------------------------------------------------------------------------------------------- qrels


def early_ntcir(fields: Sequence[str]) -> bool:
    """Return whether the second of four fields is an NTCIR letter and the last one 0 or 1."""
    return fields[1] in LETTERS and fields[3] in ("0", "1")


def ntcir_intents(fields: Sequence[str]) -> bool:
    """Return whether the last of four fields is a level such as L2."""
    return _LEVEL.fullmatch(fields[3]) is not None


def ntcir_classes(fields: Sequence[str]) -> bool:
    """Return whether the third of four fields is a level and the second is not a TREC iteration."""
    is_iteration = INTEGER.fullmatch(fields[1]) or fields[1] in NO_ITERATION
    return _LEVEL.fullmatch(fields[2]) is not None and not is_iteration


def _first_contradiction(marks: pl.Series, levels: pl.Series) -> int | None:
    """Return the first row whose last field does not agree with its letter in a rigid or a relaxed file."""
    import polars as pl

    of_b = marks.filter(levels == LETTERS["B"])
    relaxed = len(of_b) > 0 and of_b[0] == "1"
    relevant = levels >= (LETTERS["B"] if relaxed else LETTERS["A"])
    return _first(marks != relevant.cast(pl.Int8).cast(pl.String))


def _contradiction(fields: Sequence[str]) -> str:
    return (
        f"the last field is {fields[3]!r} for the letter {fields[1]}; a file must be rigid "
        "(1 for S and A, else 0) or relaxed (1 for S, A and B, else 0) throughout; "
        "format='trec' takes the last field as the level"
    )


def _by_letters(fields: Sequence[str]) -> str:
    return (
        f"looks like an NTCIR file by letters, but the level is {fields[3]!r}; "
        "name the format (format='trec' takes the fourth field)"
    )


#: In NTCIR qrels by letters, the last field repeats the information of the letter.
MARKS = Review(3, _first_contradiction, _contradiction, of_named=True)
#: In TREC qrels, the second field is never an NTCIR letter.
NO_LETTERS = Review(1, lambda texts, _: _first(texts.is_in(list(LETTERS))), _by_letters)


def trec_qrels(fields: Sequence[str], line: str) -> str | None:
    """Return why four fields may be judgments of equivalence classes or of passages."""
    if _LEVEL.fullmatch(fields[2]):
        return (
            "the third field looks like a level: an NTCIR file of equivalence classes (topic doc L<level> "
            "class)? Name the format: format='ntcir-classes', or format='trec' for documents such as L2"
        )
    tabbed = line.rstrip("\r\n").split("\t")
    if len(tabbed) == len(fields) + 1 and not tabbed[-1] and _whole(fields, 1, 2, 3):
        return (
            "four fields of TREC qrels (topic iteration doc level), or a Genomics gold standard without "
            "aspects (topic pmid start length)? Name the format: format='trec' or format='genomics'"
        )
    return None


def ntcir_qrels(fields: Sequence[str], _: str) -> str | None:
    """Return why three fields with a letter or a number as the level are not NTCIR qrels."""
    if NUMBER.fullmatch(fields[2]):
        return (
            f"level {fields[2]!r} is not L0, L1, L2, ...; format='ntcir-continuous' reads three fields with "
            "a number as the level"
        )
    if fields[2] in LETTERS:
        return (
            "letters as levels belong to four fields, topic letter doc 0|1; with three fields the level is "
            "L3, L2, L1 or L0 in place of S, A, B or C"
        )
    return None


def genomics_qrels(fields: Sequence[str], line: str) -> str | None:
    """Return why fields separated by tabs may be sampled judgments: their aspects are a number."""
    aspects = line.split("\t")[4].strip()
    if prel(fields) is None and NUMBER.fullmatch(aspects) is None:
        return None
    return (
        f"the fifth field is {aspects}: passages (topic pmid start length aspects) or sampled judgments "
        "(topic doc level method iprob), which cannot be read? Name the format if they are passages: "
        "format='genomics' or format='inex'"
    )


def prel(fields: Sequence[str]) -> str | None:
    """Return what is wrong with a line of sampled judgments with inclusion probabilities."""
    if len(fields) != _OF_SAMPLES or not all(map(INTEGER.fullmatch, fields[2:4])):
        return None
    if fields[4] != "NA" and not (NUMBER.fullmatch(fields[4]) and 0 < float(fields[4]) <= 1):
        return None
    return (
        "looks like sampled judgments (topic doc level method iprob), which cannot be read from such a file; "
        "give a table or named tuples with the fields query_id, doc_id, relevance, iprob"
    )


def fol_counts(fields: Sequence[str]) -> str | None:
    """Return what is wrong with rel_chars, doc_len and bep of a line of INEX qrels."""
    counts = fields[3:5]
    if len(counts) < 2 or not all(map(INTEGER.fullmatch, counts)):  # noqa: PLR2004  # both
        problem = "rel_chars and doc_len, the fourth and fifth field, must be whole numbers"
    elif not all(map(INTEGER.fullmatch, fields[5:6])):  # optional
        problem = f"bep, the sixth field, is {fields[5]!r}, but must be a whole number"
    elif 0 <= int(counts[0]) <= int(counts[1]):
        return None
    else:
        problem = f"rel_chars is {counts[0]} and doc_len {counts[1]}, but 0 <= rel_chars <= doc_len"
    return problem + (_NOT_PASSAGES if len(fields) == _OF_SAMPLES else "")


def fol_qrels(lines: Iterable[Sequence[str]]) -> str | None:
    """Return why the lines of a whole file may be sampled judgments in place of INEX qrels."""
    if not all(len(fields) == _OF_SAMPLES and int(fields[3]) <= _HIGHEST for fields in lines):
        return None
    return (
        f"all lines have five fields, and no fourth field is above {_HIGHEST}: INEX passages (topic Q0 file "
        "rel_chars doc_len) or sampled judgments (topic 0 doc stratum level), which cannot be read? "
        "Name the format if they are passages: format='inex'"
    )


def ntcir_by_semicolons(line: str) -> str | None:
    """Return what is wrong with a line of NTCIR qrels whose four fields are separated by semicolons."""
    parts = line.strip().split(";")
    if len(parts) == 4 and any(map(_LEVEL.fullmatch, parts[2:])):  # noqa: PLR2004
        return "the fields are separated by semicolons; separate them by blanks or tabs"
    return None


# ----------------------------------------------------------------------------------------------- runs


def trec_run(fields: Sequence[str], _: str) -> str | None:
    """Return why six fields may be a line of a Genomics run without run_id."""
    if _whole(fields, 1, 2, 4, 5):
        return (
            "six fields of a TREC run (topic Q0 doc rank score tag), or of a Genomics run without run_id "
            "(topic pmid rank score start length)? Name the format: format='trec' or format='genomics'"
        )
    return None


def _whole(fields: Sequence[str], *positions: int) -> bool:
    """Return whether the fields at these positions are whole numbers and the second is not 0 or Q0."""
    return fields[1] not in NO_ITERATION and all(INTEGER.fullmatch(fields[at]) for at in positions)
