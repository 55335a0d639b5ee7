"""Signatures of scores: versions, measures, options, and hashes of the qrels and of each run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
from ir_measures.measures import Measure

from ir_graded._utils.threads import in_threads, processors
from ir_graded._utils.version import __version__
from ir_graded.core.facets import IMPORTANCE, INTENT, INTENT_TYPE, POSITION, PROBABILITY, Facet
from ir_graded.core.segments import Floats
from ir_graded.errors import GradedError, short_repr, warn_caller
from ir_graded.io.sources import Source, opened
from ir_graded.io.values import as_text, rows_of_dicts
from ir_graded.measures.params import ROW_ORDERS_IN_WORDS, TIES

if TYPE_CHECKING:
    from ir_graded.io.table import Table

#: Hexadecimal digits of hashes, and of those in footnotes.
_FULL, _SHORT = 16, 8
#: Defaults of options other than ``ties``, which the short form does not show.
_USUAL = (False, "default", "keep", "float64")
_UNKNOWN = "unknown"
#: Option ``ties`` of scores with ties by id and by position, in different runs.
MIXED = "mixed"
_NONE = type(None)
#: Types of the fields of a signature in JSON, and of the values in objects and lists.
_FIELDS: Mapping[str, tuple[tuple[type, ...], tuple[type, ...]]] = {
    "versions": ((dict,), (str,)),
    "measures": ((list,), (str,)),
    "qrels": ((_NONE, str), ()),
    "runs": ((dict,), (_NONE, str)),
    "topics": ((int,), ()),
    "topics_hash": ((str,), ()),
    "options": ((dict,), (str, bool)),
    "seed": ((_NONE, int), ()),
    "weights": ((_NONE, str), ()),
}
#: Number of ids that are joined at a time.
_PIECE = 1 << 18


@dataclass(frozen=True)
class Signature:
    """Everything that scores were computed from. ``str`` gives one line, ``short`` a form for footnotes.

    Attributes:
        versions: versions of ir_graded and ir_measures.
        measures: printed names of the measures, with their parameters.
        qrels: hash of the rows of the qrels; None if they can no longer be read.
        runs: hash of the rows of each run by name, None as for the qrels.
        topics: number of topics.
        topics_hash: hash of the sorted ids of the topics, in hexadecimal digits.
        options: ``ties``, ``ranks``, ``beyond``, the ``precision`` in which scores of documents are compared,
            whether ``intents``, ``nuggets`` and ``lengths`` were given, and ``duplicates``,
            ``ignore_identical_ids`` and ``without_relevant`` unless they have their defaults; empty if they
            are not known, or differ between parts of joined scores. ``ties`` is the option of the call, but
            for 'doc_id' 'position' if positions rank documents with equal scores; 'mixed' if runs differ in
            whether ids, positions, ranks or rows do.
        seed: seed of random numbers, if any were used.
        weights: hash of the weights of the topics, if means are weighted.

    Example:
        >>> import ir_graded
        >>> qrels, run = {"1": {"a": 2, "b": 1}}, {"1": {"b": 2.0, "a": 1.0}}
        >>> signature = ir_graded.evaluate(["Q", "AP"], qrels, run).signature
        >>> print(signature.short.partition("|")[2])
        Q,AP|qrels:9509509e|runs:5ed99187|ties:doc_id|topics:1
        >>> rows = [{"query_id": 1, "doc_id": doc, "relevance": level} for doc, level in (("b", 1), ("a", 2))]
        >>> ir_graded.evaluate("Q", rows, run).signature.qrels == signature.qrels
        True
    """

    versions: Mapping[str, str]
    measures: tuple[str, ...]
    qrels: str | None
    runs: Mapping[str, str | None]
    topics: int
    topics_hash: str
    options: Mapping[str, str | bool] = field(default_factory=dict)
    seed: int | None = None
    weights: str | None = None

    @property
    def all_runs(self) -> str | None:
        """Hash of the hashes of all runs, without their names and order; None if one is not known."""
        known = sorted(one for one in self.runs.values() if one is not None)
        return hash_of(known) if len(known) == len(self.runs) else None

    @property
    def short(self) -> str:
        """Short form: short hashes, and only options that are not the default."""
        head = [f"ir_graded {self.versions.get('ir_graded', _UNKNOWN)}", ",".join(self.measures)]
        others = {name: one for name, one in self.options.items() if one not in _USUAL}
        return self._line(head, _SHORT, {"ties": _UNKNOWN} | others, self.topics)

    def __str__(self) -> str:
        head = [f"{program} {number}" for program, number in self.versions.items()]
        head += [f"measures:{','.join(self.measures)}", f"number of runs:{len(self.runs)}"]
        return self._line(head, _FULL, self.options, f"{self.topics}:{self.topics_hash}")

    def _line(self, head: list[str], digits: int, options: Mapping[str, Any], topics: object) -> str:
        parts: dict[str, Any] = {"qrels": self.qrels, "runs": self.all_runs}
        parts = {name: (one or _UNKNOWN)[:digits] for name, one in parts.items()}
        parts |= {name: ("no", "yes")[one] if isinstance(one, bool) else one for name, one in options.items()}
        used = {"weights": self.weights and self.weights[:digits], "seed": self.seed}
        parts |= {"topics": topics} | {name: one for name, one in used.items() if one is not None}
        return "|".join([*head, *(f"{name}:{one}" for name, one in parts.items())])

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes, as in the JSON of ``Scores.to_json``."""
        return {**asdict(self), "measures": [*self.measures]}


def hash_of(texts: Iterable[str]) -> str:
    """Return the hash of some texts, in their order."""
    from hashlib import sha256

    digest = sha256()
    for text in map(_encoded, texts):
        digest.update(len(text).to_bytes(8, "little") + text)
    return digest.hexdigest()[:_FULL]


def weights_hash(query_ids: Iterable[Any], weights: Iterable[float]) -> str:
    """Return the hash of the weights of topics, whatever their order."""
    return hash_of(chain.from_iterable(sorted(zip(map(as_text, query_ids), map(repr, weights), strict=True))))


def _encoded(text: str) -> bytes:
    """Return an id as bytes, also one with a lone surrogate."""
    return text.encode(errors="surrogatepass")


def _values_of(table: Table, facet: Facet) -> dict[str, Any]:
    """Return the columns of a further column as text or numbers."""
    if facet.kind in {"id", "word", "words"}:
        return {facet.name: table.ids(table.name_of(facet)).fill_null("")}
    if facet is IMPORTANCE:
        from ir_graded.io.annotations import importance_of

        return {facet.name: importance_of(table)[0]}
    values = table.values(facet) if facet.kind == "shares" else table.numbers(facet)
    return {f"{facet.name} {at}": one for at, one in enumerate(np.atleast_2d(values.T))}


def rows_hash(kind: str, source: Any, facets: Sequence[Facet] = ()) -> str:
    """Return the hash of the rows of qrels or a run of any form, whatever their order.

    Rows are topic, document, level or score, position of the passage, and the given further columns.
    """
    found = opened(kind, source)
    try:
        table = found.table()
    except GradedError:
        if found.content != "dicts":
            raise
        return _hash_of_dicts(kind, found.given)
    return _hash_of_table(kind, table, facets)


def _hash_of_table(kind: str, table: Table, facets: Sequence[Facet]) -> str:
    from hashlib import sha256

    import polars as pl

    columns: dict[str, Any] = {"query_id": table.query_id, "doc_id": table.doc_id, "value": table.value}
    if kind == "run" and table.has(POSITION):
        columns[POSITION.name] = table.numbers(POSITION)
    if table.passage is not None:
        columns |= {"start": table.passage.start, "length": table.passage.length}
    used = [one for one in facets if kind in one.of and one.kind != "span" and table.has(one)]
    if any(one.name == INTENT.name for one in used):
        used += [one for one in (PROBABILITY, INTENT_TYPE) if table.has(one) and one not in used]
        # One name for all rows, as in files without intents, says nothing.
        if len(used) == 1 and table.ids(table.name_of(INTENT)).n_unique() <= 1:
            used = []
    for facet in used:
        columns |= _values_of(table, facet)
    rows = pl.DataFrame(columns)
    digest = sha256(str(len(rows)).encode())
    for column in rows.sort(rows.columns):
        digest.update(column.name.encode())
        if column.dtype == pl.String:
            digest.update(column.str.len_bytes().to_numpy().astype("<i8").tobytes())
            for begin in range(0, len(rows), _PIECE):  # little text at a time
                digest.update(column[begin : begin + _PIECE].str.join("").item().encode())
        else:
            digest.update(_bytes_of_numbers(column.to_numpy()))
    return digest.hexdigest()[:_FULL]


def _bytes_of_numbers(numbers: Floats) -> bytes:
    values = numbers.astype("<f8") + 0.0  # without negative zeros
    return np.where(np.isnan(values), np.nan, values).astype("<f8").tobytes()


def _hash_of_dicts(kind: str, source: Mapping[Any, Any]) -> str:
    """Return the hash of a dict of dicts without Polars, which a fork and lone surrogates rule out."""
    from hashlib import sha256

    _, names, topic, doc_ids, values = rows_of_dicts(kind, source)
    rows = sorted(zip([names[at] for at in topic.tolist()], doc_ids, values.tolist(), strict=True))
    digest = sha256(str(len(rows)).encode())
    for at, name in enumerate(("query_id", "doc_id")):
        texts = [_encoded(row[at]) for row in rows]
        lengths = np.array([*map(len, texts)], dtype="<i8")
        digest.update(name.encode() + lengths.tobytes() + b"".join(texts))
    digest.update(b"value" + _bytes_of_numbers(np.array([row[2] for row in rows])))
    return digest.hexdigest()[:_FULL]


#: Time of the last change and size of a file.
_Stamp = tuple[int, int]


def versions() -> dict[str, str]:
    """Return the versions of the programs that compute scores."""
    return {"ir_graded": __version__, "ir_measures": ir_measures.__version__}


@dataclass(eq=False)
class Origin:
    """Origin of scores: the qrels and runs until they have been hashed, then the hashes.

    Hashes are computed when they are first needed, from the sources as they are then. A source has no hash
    if it can be read only once, if its file has changed since, or, with a warning, if it cannot be read as in
    a forked process. Pickles have the hashes.
    """

    options: dict[str, str | bool] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=versions)
    facets: Sequence[Facet] = ()
    #: Hashes by kind and name.
    known: dict[tuple[str, str], str | None] = field(default_factory=dict)
    #: Sources and their stamps, until they have been hashed.
    sources: dict[tuple[str, str], tuple[Source, _Stamp | None]] = field(default_factory=dict)
    #: Seed of random numbers and hash of the weights of topics in means; None without them.
    seed: int | None = None
    weights: str | None = None
    #: The signature as it was saved; None if the scores were not read from a file.
    saved: Mapping[str, Any] | None = None

    def add(self, kind: str, name: str, source: Any) -> None:
        """Keep a source until it is hashed."""
        found = opened(kind, source)
        if not found.is_read_once:
            self.sources[kind, name] = found, found.stamp

    def add_rows(self, kind: str, name: str, rows: Table) -> None:
        """Hash the rows of a source now, while they are in memory."""
        if (kind, name) in self.sources:
            del self.sources[kind, name]
            self.known[kind, name] = rows_hash(kind, rows, self.facets)

    def hashes(self) -> dict[tuple[str, str], str | None]:
        """Return the hashes of the sources."""
        if self.sources:
            found = [*in_threads(self._hash, self.sources.items(), processors())]
            self.known = self.known | {
                one: None if isinstance(known, Exception) else known
                for one, known in zip(self.sources, found, strict=True)
            }
            self.sources = {}
            if error := next((one for one in found if isinstance(one, Exception)), None):
                warn_caller(f"The signature of scores lacks the hashes of some inputs: {error}.")
        return self.known

    def _hash(self, of: tuple[tuple[str, str], tuple[Source, _Stamp | None]]) -> str | Exception | None:
        (kind, _), (source, stamp) = of
        try:
            return rows_hash(kind, source, self.facets) if source.stamp == stamp else None
        except (GradedError, OSError) as error:
            return error

    def __getstate__(self) -> dict[str, Any]:
        self.hashes()
        return self.__dict__ | {"facets": ()}

    def signature(
        self, measures: Iterable[Measure], runs: Iterable[str], query_ids: Iterable[Any]
    ) -> Signature:
        """Return the signature of scores of these measures, runs and topics."""
        topics, hashes = sorted(map(as_text, query_ids)), self.hashes()
        names, qrels = tuple(map(str, measures)), hashes.get(("qrels", ""))
        of_runs, further = {run: hashes.get(("run", run)) for run in runs}, (self.seed, self.weights)
        size, of_topics = len(topics), hash_of(topics)
        return Signature(self.versions, names, qrels, of_runs, size, of_topics, self.options, *further)

    @classmethod
    def of_dict(cls, saved: Mapping[str, Any]) -> Origin:
        """Return the origin from a signature in JSON, whose fields may be missing.

        Raises:
            ValueError: a field has another type.
        """
        for name, (kind, inner) in _FIELDS.items():
            value = saved.get(name, kind[0]())
            items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            if not isinstance(value, kind) or not all(isinstance(one, inner) for one in items):
                raise ValueError(f"the field {name} of the signature is {short_repr(value)}")
        known = {("run", name): one for name, one in saved.get("runs", {}).items()}
        qrels, of_means = {("qrels", ""): saved.get("qrels")}, (saved.get("seed"), saved.get("weights"))
        options, versions = (saved.get(name, {}) for name in ("options", "versions"))
        return cls(options, versions, (), qrels | known, {}, *of_means, saved)


def order_by_rows(origin: Origin | None) -> str:
    """Return the order of documents with equal scores where ids or rows decide; empty if it is another."""
    ties = "" if origin is None else str(origin.options.get("ties", ""))
    return ties if ties == TIES.default or ties in ROW_ORDERS_IN_WORDS else ""


def joint_origin(one: Origin | None, other: Origin | None, ties: Collection[str] = ()) -> Origin:
    """Return the origin of joined scores: versions and options if both have the same, and no hashes.

    ``ties`` are the orders by rows in which documents with equal scores are, if any are.
    """
    first, second = one or Origin(), other or Origin()
    if ties and {*map(order_by_rows, (first, second))}.isdisjoint({""}):
        joint: dict[str, str | bool] = {"ties": MIXED if len(ties) > 1 else next(iter(ties))}
        first, second = (replace(each, options=each.options | joint) for each in (first, second))
    return Origin(
        first.options if first.options == second.options else {},
        first.versions if first.versions == second.versions else {},
    )
