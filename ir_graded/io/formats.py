"""Line formats of run and qrels files, declared in :data:`FORMATS`, and checks of ambiguous files.

Reading a file in the wrong format could silently give wrong levels or scores, so a file that may be in
another format is an error. A format that the caller names is not checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ir_graded.core.facets import CONVENTIONS, SPAN, SWAPPED, VALUE_COLUMNS, convention_of, missing
from ir_graded.core.struct import light_dataclass
from ir_graded.errors import FileFormatError, shortened

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["run", "qrels"]

#: Levels of the letters of NTCIR, also in collections without S.
LETTERS = {"S": 3.0, "A": 2.0, "B": 1.0, "C": 0.0}

#: A whole number.
INTEGER = re.compile(r"[+-]?[0-9]+")
#: A finite number.
NUMBER = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?")
_LEVEL = re.compile(r"L[0-9]+")
#: Usual second fields of TREC lines; the second field of a Genomics line is never one of them.
NO_ITERATION = ("0", "Q0")

#: Number of fields of a line of sampled judgments, and the highest usual level.
OF_SAMPLES = 5
_HIGHEST = 9
#: Inclusion probability of documents that were not judged.
NOT_AVAILABLE = "NA"
#: Level of documents that are still to be judged, in lines that `pool` writes.
TO_JUDGE = "?"

#: Why a file whose first line fits a format may be of another one: a condition on its fields and on the whole
#: line, and the problem, with places for the fields.
Doubt = tuple[Callable[[Sequence[str], str], object], str]


@light_dataclass(frozen=True, eq=False)
class Review:
    """Check of one field of all lines.

    Attributes:
        field: position of the field.
        first_wrong: takes the texts of the field and the values of all rows; returns the first row that does
            not agree with the format, or None.
        problem: what is wrong, with places for the fields of that row's line.
        of_named: whether the check is also used if the caller names the format.
    """

    field: int
    first_wrong: Callable[[pl.Series, pl.Series], int | None]
    problem: str
    of_named: bool = False


def _first(wrong: pl.Series) -> int | None:
    return int(wrong.arg_true()[0]) if wrong.any() else None


def _classes(fields: Sequence[str]) -> bool:
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


#: In NTCIR qrels by letters, the last field repeats the information of the letter.
MARKS = Review(
    3,
    _first_contradiction,
    "the last field is {3!r} for the letter {1}; a file must be rigid (1 for S and A, else 0) or relaxed "
    "(1 for S, A and B, else 0) throughout; format='trec' takes the last field as the level",
    of_named=True,
)
#: In TREC qrels, the second field is never an NTCIR letter.
NO_LETTERS = Review(
    1,
    lambda texts, _: _first(texts.is_in(list(LETTERS))),
    "looks like an NTCIR file by letters, but the level is {3!r}; name the format (format='trec' takes the "
    "fourth field)",
)


def _whole(fields: Sequence[str], *positions: int) -> bool:
    """Return whether some fields are whole numbers and the second is not 0 or Q0."""
    return fields[1] not in NO_ITERATION and all(INTEGER.fullmatch(fields[at]) for at in positions)


def _lacks_aspects(fields: Sequence[str], line: str) -> bool:
    """Return whether a line with four whole numbers ends in a tab."""
    tabbed = line.rstrip("\r\n").split("\t")
    return len(tabbed) == len(fields) + 1 and not tabbed[-1] and _whole(fields, 1, 2, 3)


def _is_inclusion(text: str) -> bool:
    """Return whether a field looks like an inclusion probability, which may be wrong."""
    return text == NOT_AVAILABLE or NUMBER.fullmatch(text) is not None


def _by_semicolons(_: Sequence[str], line: str) -> bool:
    """Return whether a line is one of NTCIR qrels whose fields are separated by semicolons."""
    parts = line.strip().split(";")
    return len(parts) == 4 and any(map(_LEVEL.fullmatch, parts[2:]))  # noqa: PLR2004


_OF_TREC_QRELS: tuple[Doubt, ...] = (
    (
        lambda fields, _: _LEVEL.fullmatch(fields[2]),
        "the third field looks like a level: an NTCIR file of equivalence classes (topic doc L<level> "
        "class)? Name the format: format='ntcir-classes', or format='trec' for documents such as L2",
    ),
    (
        _lacks_aspects,
        "four fields of TREC qrels (topic iteration doc level), or a Genomics gold standard without aspects "
        "(topic pmid start length)? Name the format: format='trec' or format='genomics'",
    ),
)
_OF_NTCIR_QRELS: tuple[Doubt, ...] = (
    (
        lambda fields, _: NUMBER.fullmatch(fields[2]),
        "level {2!r} is not L0, L1, L2, ...; format='ntcir-continuous' reads three fields with a number as "
        "the level",
    ),
    (
        lambda fields, _: fields[2] in LETTERS,
        "letters as levels belong to four fields, topic letter doc 0|1; with three fields the level is L3, "
        "L2, L1 or L0 in place of S, A, B or C",
    ),
)
_OF_GENOMICS_QRELS: tuple[Doubt, ...] = (
    (
        lambda fields, _: NUMBER.fullmatch(" ".join(fields[4:])),
        "the fifth field is {4}: passages (topic pmid start length aspects) or sampled judgments (topic "
        "doc level method iprob)? Name the format: format='genomics', 'inex' or 'prel'",
    ),
)
_OF_TREC_RUNS: tuple[Doubt, ...] = (
    (
        lambda fields, _: _whole(fields, 1, 2, 4, 5),
        "six fields of a TREC run (topic Q0 doc rank score tag), or of a Genomics run without run_id (topic "
        "pmid rank score start length)? Name the format: format='trec' or format='genomics'",
    ),
    (
        lambda fields, _: "." in fields[3] and NUMBER.fullmatch(fields[3]) and fields[4] in {"0", "1"},
        "the rank is {3} and the score {4}: are the columns swapped? A TREC run is topic Q0 doc rank score "
        "tag; if they are right, name the format: format='trec'",
    ),
)
#: Of lines that fit no format.
_OF_OTHERS: tuple[Doubt, ...] = (
    (_by_semicolons, "the fields are separated by semicolons; separate them by blanks or tabs"),
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
    is_doubtful = len(fields) == OF_SAMPLES
    return problem + ("; for sampled judgments, name the format: format='sampleval'" if is_doubtful else "")


def of_sample(lines: Sequence[Sequence[str]]) -> str | None:
    """Return the name of the format of sampled judgments that the lines of a file have; None for others.

    Raises ValueError if they may also be passages.
    """
    first, five = lines[0], [fields for fields in lines if len(fields) == OF_SAMPLES]
    if len(first) != OF_SAMPLES or any(len(fields) > OF_SAMPLES for fields in lines):
        return None
    last = [fields[4] for fields in five]
    may_be_prel = _whole(first, 2, 3) and _is_inclusion(first[4])
    if may_be_prel and any(_is_inclusion(text) and not INTEGER.fullmatch(text) for text in last):
        return "prel"
    if not all(INTEGER.fullmatch(text) for fields in five for text in fields[3:]):
        # The error of this format names the line.
        return "sampleval" if first[1] in NO_ITERATION and TO_JUDGE in last else None
    levels, is_small = [int(text) for text in last], all(int(text) <= _HIGHEST for text in last)
    # Passages have no level of -1; where levels are large, they may be lengths.
    if first[1] in NO_ITERATION[: 1 + is_small] and -1 in levels:
        return "sampleval"
    if not is_small:
        return None
    if first[1] in NO_ITERATION and any(int(fields[4]) < int(fields[3]) for fields in five):
        return "sampleval"
    raise ValueError(
        f"all lines have five fields, and no fifth field is above {_HIGHEST}: may be sampled judgments "
        "(topic 0 doc stratum level, or topic doc level method iprob) or INEX passages (topic Q0 file "
        "rel_chars doc_len); name the format (read_qrels with format='sampleval', 'prel' or 'inex'), or give "
        "a CSV file with the columns query_id, doc_id, relevance and stratum or iprob"
    )


@light_dataclass(frozen=True, eq=False)
class _Lines:
    """What all formats declare.

    Attributes:
        name: value of ``format=``.
        kind: whether its lines are those of a run or of qrels.
        layout: the line in words, for messages.
        doubts: why a file whose first line fits may be of another format.
    """

    name: str
    kind: Kind
    layout: str
    _: KW_ONLY
    doubts: tuple[Doubt, ...] = ()

    @property
    def title(self) -> str:
        """Name of the format in messages, such as ``TREC run``."""
        return f"{self.name.upper()} {self.kind}"


@light_dataclass(frozen=True, eq=False)
class Format(_Lines):
    """A line format of a fixed number of fields, with any white space or with tabs between them.

    Attributes:
        columns: the column of each field, ``-`` for fields that are ignored: query_id, doc_id, the score or
            the level, spans in whole numbers, and further text columns, which are read on demand.
        prefix: text in front of a level that is then a whole number, as in ``L2``.
        whole: positions of further fields that must be whole numbers for a line to be of this format.
        by_order: whether the order of the lines is the ranking, so that the field of the value is ignored.
        letters: whether a level is one of :data:`LETTERS`.
        may_lack: number of fields that may be missing at the end of all lines if the caller names the format.
        only_named: whether the first line does not show this format: the caller names it, or see `of_sample`.
        shows: a further condition on the fields of the first line for a file to be of this format.
        review: check of all lines for another format.
        by_tabs: whether the fields may be those between tabs.
    """

    columns: str
    _: KW_ONLY
    prefix: str = ""
    by_order: bool = False
    whole: tuple[int, ...] = ()
    letters: bool = False
    may_lack: int = 0
    only_named: bool = False
    shows: Callable[[Sequence[str]], bool] | None = None
    review: Review | None = None
    by_tabs: bool = True

    @cached_property
    def places(self) -> dict[str, int]:
        """Position of the field of each column, from 0."""
        return {name: at for at, name in enumerate(self.columns.split()) if name != "-"}

    @property
    def width(self) -> int:
        """Number of fields of a line."""
        return len(self.columns.split())

    @property
    def value(self) -> int:
        """Position of the score or the level."""
        return self.places[self.value_name]

    @property
    def extra(self) -> list[tuple[str, int]]:
        """Names and positions of the columns of whole numbers."""
        return [(name, at) for name, at in self.places.items() if name in SPAN.columns]

    @property
    def further(self) -> list[str]:
        """Names of the further columns."""
        used = {"query_id", "doc_id", self.value_name, *SPAN.columns}
        return [name for name in self.places if name not in used]

    def with_document(self, name: str) -> Format:
        """Return the format with a further column in place of the document."""
        renamed = {"doc_id": "-", name: "doc_id"}
        columns = " ".join(renamed.get(column, column) for column in self.columns.split())
        return replace(self, columns=columns, review=None)

    @property
    def value_name(self) -> str:
        """Name of the column of the value."""
        return VALUE_COLUMNS[self.kind]

    def fits(self, fields: Sequence[str], line: str) -> bool:  # noqa: ARG002  # other formats use it
        """Return whether the first line of a file has this number of fields and meets the conditions."""
        if self.only_named or len(fields) != self.width:
            return False
        if self.shows is not None and not self.shows(fields):
            return False
        return all(INTEGER.fullmatch(fields[position]) for position in self.whole)

    def named(self, first_line_fields: int) -> Format:
        """Return the format for a file whose format the caller named; it is not checked for other formats."""
        fields = self.columns.split()
        if 0 <= self.width - first_line_fields <= self.may_lack:
            fields = fields[:first_line_fields]
        review = self.review if self.review is not None and self.review.of_named else None
        return replace(self, columns=" ".join(fields), review=review)

    @property
    def expected(self) -> str:
        """Description of a valid line, for messages."""
        return f"{self.width} fields ({self.title}: {self.layout})"


#: Topic, document, value, start and length, and further columns.
PassageRow = tuple[Any, ...]


@light_dataclass(frozen=True, eq=False)
class VaryingFormat(_Lines):
    """A format whose lines have any number of passages.

    Attributes:
        fits: returns whether the first line of a file, given as fields and as a whole, is of this format.
        rows: returns the rows (query_id, doc_id, value, start, length) of a line, given as fields and as a
            whole; raises ValueError with the problem.
        further: names of further text columns, whose values follow in the rows.
    """

    fits: Callable[[Sequence[str], str], bool]
    rows: Callable[[Sequence[str], str], list[PassageRow]]
    _: KW_ONLY
    further: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """Description of a valid line, for messages."""
        return f"{self.layout} ({self.title})"


def _start_length(start: str, length: str) -> tuple[int, int]:
    """Return a passage from its two texts; the table rejects negative values."""
    if not (INTEGER.fullmatch(start) and INTEGER.fullmatch(length)):
        raise ValueError(f"passage {start}:{length} is not start:length in whole numbers")
    return int(start), int(length)


def _fol_rows(fields: Sequence[str], line: str) -> list[PassageRow]:  # noqa: ARG001  # as _fol_fits
    """Parse ``topic Q0 file rel_chars doc_len [bep [start:length ...]]``, with a row per passage or one."""
    if problem := fol_counts(fields):
        raise ValueError(problem)
    topic, file, relevant = fields[0], fields[2], int(fields[3]) > 0
    if not relevant or len(fields) <= _FOL_FIRST_PASSAGE:
        return [(topic, file, float(relevant), 0, 0)]
    passages = (text.partition(":") for text in " ".join(fields[_FOL_FIRST_PASSAGE:]).split())
    return [(topic, file, 1.0, *_start_length(start, length)) for start, _, length in passages]


def _fol_fits(fields: Sequence[str], line: str) -> bool:  # noqa: ARG001  # other formats use it
    numbers = fields[3:_FOL_FIRST_PASSAGE]  # a run with whole scores has text as its sixth field
    return len(numbers) >= 2 and all(map(INTEGER.fullmatch, numbers))  # noqa: PLR2004


def _gold_rows(_: Sequence[str], line: str) -> list[PassageRow]:
    """Parse ``topic pmid start length aspects``, separated by tabs: a relevant passage."""
    fields = line.rstrip("\r\n").split("\t")
    if len(fields) < _GOLD_WIDTH - 1:
        raise ValueError("expected topic, pmid, start and length separated by tabs")
    span = _start_length(*map(str.strip, fields[2:4]))
    aspects = fields[4] if len(fields) >= _GOLD_WIDTH else None
    return [(fields[0].strip(), fields[1].strip(), 1.0, *span, aspects)]


def _gold_fits(_: Sequence[str], line: str) -> bool:
    fields = [*map(str.strip, line.split("\t"))]
    has_span = len(fields) >= _GOLD_WIDTH and all(map(INTEGER.fullmatch, fields[2:4]))
    return has_span and fields[1] not in NO_ITERATION


_FOL_FIRST_PASSAGE = 6
_GOLD_WIDTH = 5

#: All formats, from the first that a line fits to the last.
FORMATS: tuple[Format | VaryingFormat, ...] = (
    Format(
        *("trec", "run", "topic Q0 doc rank score tag", "query_id - doc_id - score -"),
        doubts=_OF_TREC_RUNS,
    ),
    Format(
        *("inex", "run", "topic Q0 file rank rsv run_id start length"),
        "query_id - doc_id - score - start length",
        by_order=True,
    ),
    Format(
        *("genomics", "run", "topic pmid rank score start length run_id"),
        "query_id doc_id rank score start length -",
        whole=(2, 4, 5),
        may_lack=1,
    ),
    Format(
        *("ntcir-early", "qrels", "topic S|A|B|C doc 0|1", "query_id relevance doc_id -"),
        letters=True,
        shows=lambda fields: fields[1] in LETTERS and fields[3] in ("0", "1"),
        review=MARKS,
    ),
    Format(
        *("ntcir-intents", "qrels", "topic intent doc L<level>", "query_id iteration doc_id relevance"),
        prefix="L",
        shows=lambda fields: _LEVEL.fullmatch(fields[3]) is not None,
    ),
    Format(
        *("ntcir-classes", "qrels", "topic doc L<level> class"),
        "query_id doc_id relevance equivalence_class",
        prefix="L",
        shows=_classes,
    ),
    Format(
        *("trec", "qrels", "topic iteration doc level", "query_id iteration doc_id relevance"),
        doubts=_OF_TREC_QRELS,
        review=NO_LETTERS,
    ),
    Format(
        *("ntcir", "qrels", "topic doc L<level>", "query_id doc_id relevance"),
        prefix="L",
        doubts=_OF_NTCIR_QRELS,
    ),
    Format(
        *("ntcir-continuous", "qrels", "topic doc <level>", "query_id doc_id relevance"),
        only_named=True,
    ),
    Format(
        *("prel", "qrels", "topic doc level method iprob", "query_id doc_id relevance method iprob"),
        only_named=True,
    ),
    Format(
        *("sampleval", "qrels", "topic 0 doc stratum level", "query_id - doc_id stratum relevance"),
        only_named=True,
    ),
    VaryingFormat(
        *("genomics", "qrels", "topic pmid start length aspects, separated by tabs", _gold_fits, _gold_rows),
        further=("aspects",),
        doubts=_OF_GENOMICS_QRELS,
    ),
    VaryingFormat(
        *("inex", "qrels", "topic Q0 file rel_chars doc_len [bep [start:length ...]]", _fol_fits, _fol_rows)
    ),
)


def recognise(
    kind: Kind, first_line_fields: Sequence[str], path: str, line: int = 1, whole: str = ""
) -> Format | VaryingFormat:
    """Return the first format that the first line of a file fits, given as fields and as a ``whole``.

    Raises:
        FileFormatError: the line fits no format, or may be of another format than the one it fits.
    """
    fitting = _fitting(kind, first_line_fields, whole)
    doubts = _OF_OTHERS if fitting is None else fitting.doubts
    found = (problem for applies, problem in doubts if applies(first_line_fields, whole))
    problem = next(found, "").format(*first_line_fields) or None
    names = [name.strip() for name in re.split(r"[\t,;]", whole)]
    if convention_of(kind, names):
        problem = "a header must be the first line; remove the lines before it"
    if fitting is not None and problem is None:
        return fitting
    swapped = _fitting("run" if kind == "qrels" else "qrels", first_line_fields, whole)
    if problem is None and swapped is not None and _has_value(swapped, first_line_fields, whole):
        problem = f"expected a {kind} line, found one of {swapped.expected}: {SWAPPED}"
    if problem is None and any(not known.isdisjoint(names) for known in map(set, CONVENTIONS[kind])):
        problem = f"if this is a header, {missing(kind, names)}"
    if problem is None:
        told = (one for one in formats_of(kind) if not (isinstance(one, Format) and one.only_named))
        expected = " or ".join(one.expected for one in told)
        problem = f"expected a {kind} line of {expected}, found {len(first_line_fields)}"
    by_tabs = any(" " in field for field in first_line_fields)
    problem += "; the fields are those between tabs" * by_tabs
    shown = shortened(("\t" if by_tabs else " ").join(first_line_fields))
    raise FileFormatError(f"{path}, line {line}: {problem}: {shown}")


def _fitting(kind: Kind, fields: Sequence[str], whole: str) -> Format | VaryingFormat | None:
    """Return the first format of a kind that a first line fits."""
    return next((one for one in formats_of(kind) if one.fits(fields, whole)), None)


def _has_value(format: Format | VaryingFormat, fields: Sequence[str], whole: str) -> bool:
    """Return whether the level or score of a line looks like one, or its passages like passages."""
    if not isinstance(format, Format):
        try:
            return bool(format.rows(fields, whole))
        except ValueError:
            return False
    text = fields[format.value].removeprefix(format.prefix)
    return text in LETTERS if format.letters else NUMBER.fullmatch(text) is not None


def formats_of(kind: Kind) -> list[Format | VaryingFormat]:
    """Return the formats of a kind."""
    return [one for one in FORMATS if one.kind == kind]
