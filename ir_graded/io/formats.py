"""Line formats of run and qrels files, declared in :data:`FORMATS`, and checks of ambiguous files.

Reading a file in the wrong format could silently give wrong levels or scores. So all formats that a line fits
are collected, and two without a declared order are an error. A format that the caller names is not checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ir_graded.core.facets import (
    CONVENTIONS,
    POSITION,
    RANK,
    SPAN,
    SWAPPED,
    VALUE_COLUMNS,
    convention_of,
    missing,
)
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


#: Column of the field that a review checks.
REVIEWED = "(reviewed)"


@light_dataclass(frozen=True, eq=False)
class Review:
    """Check of all rows.

    Attributes:
        field: position of the field that rows have as :data:`REVIEWED`.
        wrong: marks the rows that do not agree with the format.
        problem: what is wrong, with places for the fields of the first such line.
        of_named: whether the check is also used if the caller names the format.
        note: returns a warning about all rows; empty without any.
    """

    field: int
    wrong: Callable[[pl.DataFrame], pl.Series]
    problem: str
    of_named: bool = False
    note: Callable[[pl.DataFrame], str] = lambda _: ""


def _uncounted(rows: pl.DataFrame, ranks: str = REVIEWED) -> pl.Series:
    """Mark the rows of topics whose ranks do not count from 1, in any order of the lines.

    Marks all rows if no document differs from the second field of TREC lines.
    """
    import polars as pl

    if ranks == REVIEWED and rows["doc_id"].is_in(NO_ITERATION).all():
        return pl.repeat(value=True, n=len(rows), eager=True)
    rank = pl.col(ranks).cast(pl.Float64, strict=False).fill_null(0)
    counts = (rank.sort() == pl.int_range(1, pl.len() + 1)).all().over("query_id")
    return rows.select(~counts).to_series()


def _of_first_ranks(rows: pl.DataFrame) -> str:
    """Return a warning about a run of one document per topic, which may be qrels."""
    is_doubtful = rows["query_id"].n_unique() == len(rows)
    return "each topic has one document, at rank 1; are these qrels (topic doc level)?" * is_doubtful


#: In runs by rank, the third field is the rank.
RANKS = Review(
    2,
    _uncounted,
    "a run of lines topic doc rank [score] has ranks from 1 to the number of documents in each topic, not as "
    f"in topic {{0}}: {SWAPPED} If these are ranks, name the format: format='msmarco' or 'colbert'",
    note=_of_first_ranks,
)


def is_iteration(text: str) -> bool:
    """Return whether a field may be the second one of TREC lines."""
    return INTEGER.fullmatch(text) is not None or text in NO_ITERATION


def _classes(fields: Sequence[str]) -> bool:
    """Return whether the third of four fields is a level and the second is not a TREC iteration."""
    return _LEVEL.fullmatch(fields[2]) is not None and not is_iteration(fields[1])


def _contradictions(rows: pl.DataFrame) -> pl.Series:
    """Mark the rows whose last field does not agree with its letter in a rigid or a relaxed file."""
    marks, levels = rows[REVIEWED], rows["relevance"]
    of_b = marks.filter(levels == LETTERS["B"])
    relaxed = len(of_b) > 0 and of_b[0] == "1"
    relevant = levels >= (LETTERS["B"] if relaxed else LETTERS["A"])
    return ~marks.is_in(["0", "1"]) | ((marks == "1") != relevant)


def _of_moved_fields(rows: pl.DataFrame) -> str:
    """Return a warning about TREC qrels whose documents look like iterations or ranks."""
    second, documents = rows[REVIEWED], rows["doc_id"]
    if not is_iteration(documents[0]) or (len(rows) > 1 and (second == second[0]).all()):
        return ""
    found = []
    if len(rows) > 1 and (documents == documents[0]).all():
        found.append("fields 2 and 3 look swapped (TREC qrels: topic iteration doc level)")
    alone = second[0] not in NO_ITERATION and not rows.select("query_id", REVIEWED).is_duplicated().any()
    if alone and not _uncounted(rows, "doc_id").any():
        found.append("looks like a run (topic doc rank score)")
    advice = "; the third field is read as the document. If that is right, set format='trec'"
    return " or ".join(found) + advice if found else ""


#: In NTCIR qrels by letters, the last field repeats the information of the letter.
MARKS = Review(
    3,
    _contradictions,
    "the last field is {3!r} for the letter {1}; a file must be rigid (1 for S and A, else 0) or relaxed "
    "(1 for S, A and B, else 0) throughout; format='trec' takes the last field as the level",
    of_named=True,
)
#: In TREC qrels, the second field is never an NTCIR letter.
NO_LETTERS = Review(
    1,
    lambda rows: rows[REVIEWED].is_in(list(LETTERS)),
    "looks like an NTCIR file by letters, but the level is {3!r}; name the format (format='trec' takes the "
    "fourth field)",
    note=_of_moved_fields,
)


def _whole(fields: Sequence[str], *positions: int) -> bool:
    """Return whether some fields are whole numbers and the second is not 0 or Q0."""
    return fields[1] not in NO_ITERATION and all(INTEGER.fullmatch(fields[at]) for at in positions)


def _may_be_ranked(fields: Sequence[str]) -> bool:
    """Return whether the third field may be a rank, and what follows a score."""
    return INTEGER.fullmatch(fields[2]) is not None and all(map(NUMBER.fullmatch, fields[3:]))


def _may_be_passages(fields: Sequence[str]) -> bool:
    """Return whether a line may be one of a Genomics run; six fields may also be those of a TREC run."""
    numbers = all(map(INTEGER.fullmatch, (fields[2], *fields[4:6])))
    return numbers and (bool(fields[6:]) or _whole(fields, 1))


def _is_inclusion(text: str) -> bool:
    """Return whether a field looks like an inclusion probability, which may be wrong."""
    return text == NOT_AVAILABLE or NUMBER.fullmatch(text) is not None


_OF_NTCIR_QRELS: tuple[Doubt, ...] = (
    (
        lambda fields, _: fields[1] in NO_ITERATION and not NUMBER.fullmatch(fields[2].lstrip("L")),
        "looks like TREC qrels (topic iteration doc level) without the level",
    ),
    (
        lambda fields, _: NUMBER.fullmatch(fields[2]),
        "level {2!r} is not L0, L1, L2, ...; format='ntcir-continuous' reads three fields with a number as "
        "the level, and read_run lines of a run (topic doc rank)",
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
        lambda fields, _: "." in fields[3] and NUMBER.fullmatch(fields[3]) and fields[4] in {"0", "1"},
        "the rank is {3} and the score {4}: are the columns swapped? A TREC run is topic Q0 doc rank score "
        "tag; if they are right, name the format: format='trec'",
    ),
)


def fol_counts(fields: Sequence[str]) -> str | None:
    """Return what is wrong with rel_chars, doc_len and bep of a line of INEX qrels."""
    counts = fields[3:6]  # the last one is optional
    if len(counts) < 2 or not all(map(INTEGER.fullmatch, counts[:2])):  # noqa: PLR2004  # both
        problem = "rel_chars and doc_len, the fourth and fifth field, must be whole numbers"
    elif not all(map(INTEGER.fullmatch, counts)):
        problem = f"bep, the sixth field, is {counts[2]!r}, but must be a whole number"
    elif 0 <= int(counts[0]) <= int(counts[1]):
        return None
    else:
        problem = f"rel_chars is {counts[0]} and doc_len {counts[1]}, but 0 <= rel_chars <= doc_len"
    advice = "; for sampled judgments, name the format: format='sampleval'"
    return problem + advice * (len(fields) == OF_SAMPLES)


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
    return _of_whole_numbers(first[1], [(int(fields[3]), int(fields[4])) for fields in five])


def _of_whole_numbers(second: str, last: Sequence[tuple[int, int]]) -> str | None:
    """Return as `of_sample`, from the second field of the first line and the last two fields of all."""
    is_small = all(level <= _HIGHEST for _, level in last)
    # Passages have no level of -1; where levels are large, they may be lengths.
    if second in NO_ITERATION[: 1 + is_small] and any(level == -1 for _, level in last):
        return "sampleval"
    if not is_small:
        return None
    if second in NO_ITERATION and any(level < stratum for stratum, level in last):
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
        over: names of formats that the line may fit, too, but is not meant to be of.
    """

    name: str
    kind: Kind
    layout: str
    _: KW_ONLY
    doubts: tuple[Doubt, ...] = ()
    over: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Name of the format in messages, such as ``TREC run``."""
        return f"{self.name.upper()} {self.kind}"


@light_dataclass(frozen=True, eq=False)
class Format(_Lines):
    """A line format of a fixed number of fields, with any white space or with tabs between them.

    Attributes:
        columns: the column of each field, ``-`` for fields that are ignored: query_id, doc_id, the score,
            the rank in its place or the level, spans and position in whole numbers, and further text columns,
            which are read on demand.
        prefix: text in front of a level that is then a whole number, as in ``L2``.
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
        return [(name, at) for name, at in self.places.items() if name in (*SPAN.columns, POSITION.name)]

    @property
    def further(self) -> list[str]:
        """Names of the further columns."""
        used = {"query_id", "doc_id", self.value_name, *dict(self.extra)}
        return [name for name in self.places if name not in used]

    def with_document(self, name: str) -> Format:
        """Return the format with a further column in place of the document."""
        renamed = {"doc_id": "-", name: "doc_id"}
        columns = " ".join(renamed.get(column, column) for column in self.columns.split())
        return replace(self, columns=columns, review=None)

    @property
    def value_name(self) -> str:
        """Name of the column of the value."""
        return next(name for name in (VALUE_COLUMNS[self.kind], "rank") if name in self.places)

    def fits(self, fields: Sequence[str], line: str) -> bool:  # noqa: ARG002  # other formats use it
        """Return whether the first line of a file has this number of fields and meets the conditions."""
        if self.only_named or not 0 <= self.width - len(fields) <= self.may_lack:
            return False
        return self.shows is None or self.shows(fields)

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


#: Topic, document, value, perhaps start and length, and further columns.
PassageRow = tuple[Any, ...]


@light_dataclass(frozen=True, eq=False)
class VaryingFormat(_Lines):
    """A format whose lines have any number of passages or of fields.

    Attributes:
        fits: returns whether the first line of a file, given as fields and as a whole, is of this format.
        rows: returns the rows (query_id, doc_id, value, start, length) of a line, given as fields and as a
            whole; raises ValueError with the problem.
        spans: names of start and length, if rows have them.
        further: names of further text columns, whose values follow in the rows.
    """

    fits: Callable[[Sequence[str], str], bool]
    rows: Callable[[Sequence[str], str], list[PassageRow]]
    _: KW_ONLY
    spans: tuple[str, ...] = SPAN.columns
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


def _gold_fits(fields: Sequence[str], line: str) -> bool:
    tabbed = [*map(str.strip, line.split("\t"))]
    if len(tabbed) < _GOLD_WIDTH or not all(map(INTEGER.fullmatch, tabbed[2:4])):
        return False
    if len(fields) < _GOLD_WIDTH:  # without aspects, the line ends in a tab
        return len(tabbed) == _GOLD_WIDTH and line.rstrip("\r\n").endswith("\t") and _whole(tabbed, 1)
    return tabbed[1] not in NO_ITERATION


#: A line of features, whose comment may name the document.
_FEATURES = re.compile(
    rf"(?P<level>{NUMBER.pattern}) qid:(?P<topic>\S+)(?: [0-9]+:\S+)*(?: ?#(?: ?docid ?= ?(?P<doc>\S+))?.*)?"
)


def _features_fit(fields: Sequence[str], line: str) -> bool:  # noqa: ARG001  # other formats use it
    return _FEATURES.fullmatch(" ".join(fields)) is not None


def _features_rows(fields: Sequence[str], line: str) -> list[PassageRow]:  # noqa: ARG001  # as the others
    """Parse ``level qid:topic feature:value ... #docid = doc``."""
    found = _FEATURES.fullmatch(" ".join(fields))
    if found is None:
        raise ValueError("a field is not of this form")
    if found["doc"] is None:
        raise ValueError("no '#docid = ...' at the end names the document")
    return [(found["topic"], found["doc"], float(found["level"]))]


_FOL_FIRST_PASSAGE = 6
_GOLD_WIDTH = 5

#: Columns of words in layouts; other words are ignored.
_COLUMNS = {word: word for word in ("score", "start", "length", "iteration", "method", "iprob", "stratum")}
_COLUMNS |= dict.fromkeys(("doc", "file", "pmid"), "doc_id") | {"topic": "query_id", "rsv": "score"}
_COLUMNS |= dict.fromkeys(("level", "L<level>", "<level>", "S|A|B|C"), "relevance")
_COLUMNS |= {"intent": "iteration", "class": "equivalence_class"}


def _format(name: str, kind: Kind, layout: str, rank: str = "-", **options: Any) -> Format:
    """Return a format whose layout shows its columns, apart from that of the rank."""
    columns = " ".join((_COLUMNS | {"rank": rank}).get(word, "-") for word in layout.split())
    return Format(name, kind, layout, columns, **options)


#: All formats of runs, then of qrels, the most frequent ones first.
FORMATS: tuple[Format | VaryingFormat, ...] = (
    _format("trec", "run", "topic Q0 doc rank score tag", RANK.name, doubts=_OF_TREC_RUNS),
    _format("msmarco", "run", "topic doc rank", "rank", shows=_may_be_ranked, review=RANKS),
    _format("colbert", "run", "topic doc rank score", "position", shows=_may_be_ranked, review=RANKS),
    _format("inex", "run", "topic Q0 file rank rsv run_id start length", by_order=True),
    _format(
        *("genomics", "run", "topic pmid rank score start length [run_id]", "rank"),
        shows=_may_be_passages,
        may_lack=1,
    ),
    _format(
        *("trec", "qrels", "topic iteration doc level"),
        shows=lambda fields: not _classes(fields),
        review=NO_LETTERS,
    ),
    _format("ntcir", "qrels", "topic doc L<level>", prefix="L", doubts=_OF_NTCIR_QRELS),
    _format(
        *("ntcir-early", "qrels", "topic S|A|B|C doc 0|1"),
        letters=True,
        shows=lambda fields: fields[1] in LETTERS and fields[3] in ("0", "1"),
        review=MARKS,
        over=("trec", "ntcir-classes"),
    ),
    _format(
        *("ntcir-intents", "qrels", "topic intent doc L<level>"),
        prefix="L",
        shows=lambda fields: _LEVEL.fullmatch(fields[3]) is not None,
        over=("trec", "ntcir-classes"),
    ),
    _format(
        *("ntcir-classes", "qrels", "topic doc L<level> class"),
        prefix="L",
        shows=lambda fields: _LEVEL.fullmatch(fields[2]) is not None,
    ),
    _format("ntcir-continuous", "qrels", "topic doc <level>", only_named=True),
    _format("prel", "qrels", "topic doc level method iprob", only_named=True),
    _format("sampleval", "qrels", "topic 0 doc stratum level", only_named=True),
    VaryingFormat(
        *("genomics", "qrels", "topic pmid start length aspects, separated by tabs", _gold_fits, _gold_rows),
        further=("aspects",),
        doubts=_OF_GENOMICS_QRELS,
        over=("inex",),
    ),
    VaryingFormat(
        *("inex", "qrels", "topic Q0 file rel_chars doc_len [bep [start:length ...]]", _fol_fits, _fol_rows)
    ),
    VaryingFormat(
        *("svmrank", "qrels", "level qid:topic feature:value ... #docid = doc", _features_fit),
        _features_rows,
        spans=(),
        over=("trec", "ntcir"),
    ),
)


def recognise(
    kind: Kind, first_line_fields: Sequence[str], path: str, line: int = 1, whole: str = ""
) -> Format | VaryingFormat:
    """Return the format that the first line of a file fits, given as fields and as a ``whole``.

    Raises:
        FileFormatError: the line fits no format or several, or may be of another format than the one it fits.
    """
    fitting = _fitting(kind, first_line_fields, whole)
    if convention_of(kind, _names(whole)):
        problem = "a header must be the first line; remove the lines before it"
    else:
        problem = (_doubt if fitting else _misfit)(kind, first_line_fields, whole)
    if not problem:
        return fitting[0]
    by_tabs = any(" " in field for field in first_line_fields)
    problem += "; the fields are those between tabs" * by_tabs
    shown = shortened(("\t" if by_tabs else " ").join(first_line_fields))
    raise FileFormatError(f"{path}, line {line}: {problem}: {shown}")


def _fitting(kind: Kind, fields: Sequence[str], whole: str) -> list[Format | VaryingFormat]:
    """Return the formats of a kind that a first line fits, without those that another goes before."""
    found = [one for one in formats_of(kind) if one.fits(fields, whole)]
    beaten = {name for one in found for name in one.over}
    return [one for one in found if one.name not in beaten]


def _doubt(kind: Kind, fields: Sequence[str], whole: str) -> str:
    """Return why a line may be of another format than the first one it fits; empty without a doubt."""
    fitting = _fitting(kind, fields, whole)
    if len(fitting) > 1:
        layouts = " or ".join(f"{one.title} ({one.layout})" for one in fitting)
        names = " or ".join(f"format={one.name!r}" for one in fitting)
        return f"may be {layouts}; name the format: {names}"
    found = (problem for applies, problem in fitting[0].doubts if applies(fields, whole))
    return next(found, "").format(*fields)


def _misfit(kind: Kind, fields: Sequence[str], whole: str) -> str:
    """Return the problem of a line that fits no format: the most frequent mistake that explains it."""
    for one in _fitting("run" if kind == "qrels" else "qrels", fields, whole):
        if _has_value(one, fields, whole):
            return f"expected a {kind} line, found one of {one.expected}: {SWAPPED}"
    names = _names(whole)
    if any(not {*known}.isdisjoint(names) for known in CONVENTIONS[kind]):
        return f"if this is a header, {missing(kind, names)}"
    for mark, name in {",": "commas", ";": "semicolons"}.items():
        parts = whole.strip().split(mark)
        if len(parts) > 1 and _fitting(kind, parts, " ".join(parts)):
            return f"the fields are separated by {name}; separate them by blanks or tabs, or add a header"
    expected = " or ".join(one.expected for one in formats_of(kind)[:2])
    return f"expected a {kind} line of {expected}, found {len(fields)}; the page 'File formats' lists all"


def _names(line: str) -> list[str]:
    """Return the names in a line if it is a header."""
    return [name.strip() for name in re.split(r"[\t,;]", line)]


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
