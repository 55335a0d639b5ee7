"""Names of columns, and the further columns of qrels and runs that measures can need, each declared once.

A measure names columns in ``NEEDS`` or ``USES``. Reading, checks, refusals and the arrays of a view follow
from the declaration. A column that is not declared is ignored, unless a measure names it as shares of groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from ir_graded.errors import InputError, cut

from .segments import Bools, Floats
from .struct import light_dataclass

#: Name of the column of the value.
VALUE_COLUMNS = {"qrels": "relevance", "run": "score"}
#: Asked where qrels look like a run, or a run like qrels.
SWAPPED = "are the qrels and the run swapped?"
#: Positions above this are not plausible; below it, sums are exact.
LONGEST = 2**48

QUEPID = ("query", "docid", "rating")
#: Columns of Quepid's detailed export, which also has documents without a rating.
QUEPID_DETAILED = ("Query Text", "Doc ID", "Rating")
#: Names of topic, document and value by kind: of ir-measures, PyTerrier, BEIR and MTEB, Quepid, ranx, and
#: recommenders. Some of runs have a rank in place of a score.
CONVENTIONS = {
    "qrels": (
        ("query_id", "doc_id", "relevance"),
        ("qid", "docno", "label"),
        ("query-id", "corpus-id", "score"),
        QUEPID,
        QUEPID_DETAILED,
        ("q_id", "doc_id", "score"),
        ("user_id", "item_id", "rating"),
        ("query_id", "doc_id", "grade"),
    ),
    "run": (
        ("query_id", "doc_id", "score"),
        ("qid", "docno", "score"),
        ("query-id", "corpus-id", "score"),
        ("query_id", "doc_id", "rank"),
        ("qid", "docno", "rank"),
        ("Query Text", "Doc ID", "Doc Position"),
        ("q_id", "doc_id", "score"),
        ("user_id", "item_id", "score"),
    ),
}
#: Names of the value that are a rank.
RANK_COLUMNS = frozenset({"rank", "Doc Position"})


#: Names that count in a mixture only without another one: the text of a query, and a rank beside a score; in
#: runs also PyTerrier's number of a document.
_WEAK = {"qrels": {QUEPID[0], QUEPID_DETAILED[0], *RANK_COLUMNS}}
_WEAK["run"] = _WEAK["qrels"] | {QUEPID[1]}
_KNOWN = {name for named in CONVENTIONS.values() for known in named for name in known}


def roles_of(kind: str, names: Iterable[object]) -> list[list[str]]:
    """Return the names of topic, of document and of value that exist, of any tool."""
    present, roles = [name for name in dict.fromkeys(names) if name in _KNOWN], []
    # Runs may have the topic and the document of Quepid's qrels.
    for known in zip(*CONVENTIONS[kind], (*QUEPID[:2], ""), strict=True):
        # The score of qrels is one of a run, unless all names are those of one tool and no other is a level.
        found = [name for name in present if name in known and (kind, name) != ("qrels", "score")]
        roles.append([name for name in found if name not in _WEAK[kind]] or found)
    return roles


def convention_of(kind: str, names: Iterable[object]) -> tuple[str, str, str] | None:
    """Return the names of topic, document and value: all of one tool, else the only ones there are."""
    present = set(names)
    mixed = roles_of(kind, present)
    of_tools = (
        found
        for found in CONVENTIONS[kind]
        if present.issuperset(found) and not (kind == "qrels" and found[2] == "score" and mixed[2])
    )
    only = (mixed[0][0], mixed[1][0], mixed[2][0]) if [*map(len, mixed)] == [1, 1, 1] else None
    return next(of_tools, only)


def is_header(names: Iterable[object]) -> bool:
    """Return whether names include some of topic, document and value."""
    present = [*names]
    return any(all(roles_of(kind, present)) for kind in CONVENTIONS)


def is_record(item: object) -> bool:
    """Return whether an object is a dict with the fields of a row of qrels or of a run."""
    if not isinstance(item, Mapping):
        return False
    # It may have very many keys, as the documents of a topic.
    names = [name for name in _KNOWN if name in item]
    return bool(names) and is_header(names)


def missing(kind: str, names: Iterable[object]) -> str:
    """Return a message with the missing or repeated columns, and with the likely kind of table."""
    present = [*names]
    roles = roles_of(kind, present)
    # Names of several tools may be mixed, so these are always right.
    wanted = (*CONVENTIONS[kind][0][:2], "relevance" if kind == "qrels" else "score or rank")
    other = "run" if kind == "qrels" else "qrels"
    found = convention_of(other, present)
    hint = ""
    if found:
        hint = f"; it looks like {'a run' if other == 'run' else other} ({', '.join(found)}): {SWAPPED}"
    lacking = ", ".join(name for name, there in zip(wanted, roles, strict=True) if not there)
    if not lacking:
        several = next(there for there in roles if len(there) > 1)
        return f"the table has {' and '.join(several)}, which mean the same; keep one of them{hint}"
    return f"the table has no column {lacking}; it has {cut(', '.join(map(str, present)))}{hint}"


@light_dataclass(frozen=True, eq=False)
class Facet:
    """A further column of qrels or of a run.

    Attributes:
        name: name of the column.
        per: what has one value: each row, or equal in all rows of a document, an intent or a topic.
        kind: "id" (equal ids mean the same class), "number", "shares" (a vector), "word" (one of ``words``),
            "words" (several, separated by ``|``), "span" (two columns), "cost" (a number that adds up over
            rows) or "grade" (importance as word or number).
        contents, source, title: in words, what it holds, where else it can come from, and one value.
        of: whether it is a column of the qrels, of the run or of both.
        columns: names of the columns, if not the name itself.
        other_names: names that are read like the name.
        like, advice: names, in lower case, that are not read, and what to do about them.
        is_valid, valid: whether numbers are valid (NaN is not), and which values are, in words.
        may_lack: whether numbers or ids may be missing.
    """

    name: str
    per: Literal["row", "document", "intent", "topic"]
    kind: Literal["id", "number", "shares", "word", "words", "span", "cost", "grade"]
    contents: str
    source: str = ""
    of: tuple[str, ...] = ("qrels",)
    columns: tuple[str, ...] = ()
    other_names: tuple[str, ...] = ()
    like: frozenset[str] = frozenset()
    advice: str = ""
    title: str = ""
    is_valid: Callable[[Floats], Bools] = np.isfinite
    valid: str = "a finite number"
    may_lack: bool = False
    words: tuple[str, ...] = ()

    def check(self, values: Floats, describe: Callable[[int], str], *, may_lack: bool = False) -> None:
        """Raise InputError if a number is not valid; ``describe`` locates a row."""
        right = self.is_valid(values)
        wrong = np.flatnonzero(~(right | np.isnan(values) if may_lack else right))
        if wrong.size:
            row = int(wrong[0])
            # All digits of a position just beyond the longest.
            digits = 15 if LONGEST < values[row] <= 2 * LONGEST else 6
            value = "missing" if np.isnan(values[row]) else f"{values[row]:.{digits}g}"
            title = self.title or f"the {self.name}"
            raise InputError(f"{describe(row)}: {title} is {value}; it must be {self.valid}")

    def refusal(self, purpose: object, kind: str, hint: str = "") -> str:
        """Return the message that qrels or a run lack the column, which a measure or a function needs."""
        return f"{purpose} needs {self.contents}, but {self.lacking(kind, hint)}"

    def lacking(self, kind: str, hint: str = "") -> str:
        """Return the message that qrels or a run lack the column, and which forms have it."""
        names = self.columns or (self.name,)
        fields = ", ".join(("query_id", "doc_id", VALUE_COLUMNS[kind], *names))
        have, noun = "have" if kind == "qrels" else "has", "columns" if len(names) > 1 else "column"
        return (
            f"the {kind} {have} no {noun} {' and '.join(names)}: {hint and f'{hint}; '}give a table or named "
            f"tuples with the fields {fields}{self.source and f', or {self.source}'}; a dict of dicts has no "
            f"such {noun}"
        )

    def hint(self, names: list[str]) -> str:
        """Return a hint on columns of a table that mean the like but are not read; empty without any."""
        lacking = [name for name in self.columns or (self.name,) if name not in names]
        found = [name for name in names if name.lower() in self.like]
        if not lacking or not found:
            return ""
        return f"the table has {', '.join(found)} but not {' and '.join(lacking)} ({self.advice})"


SPAN = Facet(
    name="passages",
    per="row",
    kind="span",
    contents="passages",
    source="a file that has them",
    of=("qrels", "run"),
    columns=("start", "length"),
    like=frozenset({"start", "length", "end", "stop", "offset", "start_index", "end_index"}),
    advice="length = end - start",
    is_valid=lambda values: (values >= 0) & (values <= LONGEST) & (values == np.floor(values)),
    valid=f"a whole number from 0 to {LONGEST}",
)
INTENT = Facet(
    name="iteration",
    per="row",
    kind="id",
    contents="intents",
    source="a file of TREC or NTCIR whose second field is the intent",
    other_names=("subtopic_id",),
    like=frozenset({"intent", "intent_id", "subtopic"}),
    advice="rename it if it holds intents",
)
PROBABILITY = Facet(
    name="probability",
    per="intent",
    kind="number",
    contents="probabilities of intents",
    is_valid=lambda values: (values >= 0) & (values < np.inf),
    valid="a finite number >= 0",
    may_lack=True,
)
INTENT_TYPE = Facet(
    name="intent_type",
    per="intent",
    kind="word",
    contents="types of intents",
    words=("inf", "nav"),
    valid="'inf' (informational) or 'nav' (navigational)",
)
#: Passages of runs, for measures that also take qrels without passages.
ROWS = replace(SPAN, of=("run",))
IMPORTANCE = Facet(
    name="importance",
    per="intent",
    kind="grade",
    contents="the importance of nuggets",
    source="what ir_graded.with_nuggets returns",
)
ASPECTS = Facet(
    name="aspects", per="row", kind="words", contents="aspects", source="a gold standard of TREC Genomics"
)
CLASS = Facet(
    name="equivalence_class",
    per="document",
    kind="id",
    contents="equivalence classes",
    source="a file of lines 'topic doc L<level> class'",
    may_lack=True,
)
#: Smaller inclusion probabilities would be weights whose sums are not exact.
_SMALLEST = 1e-15
INCLUSION = Facet(
    name="iprob",
    per="document",
    kind="number",
    contents="inclusion probabilities",
    source="a file of lines 'topic doc level method iprob'",
    title="the inclusion probability (iprob)",
    is_valid=lambda values: (values >= _SMALLEST) & (values <= 1),
    valid=f"above 0 and at most 1 (1 if the document was certain to be judged), and at least {_SMALLEST:g}",
    may_lack=True,  # documents that were not judged need none
)
STRATUM = Facet(
    name="stratum",
    per="document",
    kind="id",
    contents="strata",
    source="a file of lines 'topic 0 doc stratum level'",
)
#: Strata as measures read them: ir-measures has no column of strata.
STRATUM_OR_ITERATION = replace(STRATUM, other_names=(INTENT.name,))
#: How documents were chosen for judging, in files with inclusion probabilities.
METHOD = Facet(name="method", per="document", kind="number", contents="methods", may_lack=True)

#: Position of each row of a run within its topic, which ranks documents with equal scores.
POSITION = Facet(
    name="position",
    per="row",
    kind="number",
    contents="positions",
    of=("run",),
    is_valid=lambda values: (values >= 0) & (values <= LONGEST) & (values == np.floor(values)),
    valid=f"a whole number from 0 to {LONGEST}",
)

#: Rank of each row of a run beside its score, which ranks documents with equal scores if the caller wants it.
RANK = replace(POSITION, name="rank", contents="ranks", source="the fourth field of a TREC run")

#: All declared columns, in the order in which frames have them.
FACETS = (ASPECTS, CLASS, METHOD, INCLUSION, STRATUM, INTENT, PROBABILITY, INTENT_TYPE, IMPORTANCE, SPAN)


def shares(name: str) -> Facet:
    """Return the column of the shares of groups in each document, which has the name that the user gives."""
    return Facet(name, "document", "shares", "groups", "what ir_graded.with_groups returns")


def costs(name: str, measure: object) -> Facet:
    """Return the column of the costs of the rows of a run, which has the name that the user gives."""
    hint = "; the unit of characters is 'characters'" if name.casefold().startswith("char") else ""
    return Facet(
        *(name, "row", "cost", f"the costs of the rows ({name!r}{hint})"),
        of=("run",),
        title=f"the column {name!r}, the unit of {measure},",
        is_valid=lambda values: (values >= 0) & (values <= LONGEST) & (values == np.floor(values)),
        valid=f"a whole number from 0 to {LONGEST}",
    )
