"""The forms of qrels and runs as objects and as JSON, each declared once in :data:`FORMS`.

All forms that an object has are collected. One of them may be declared to go before others; without such an
order, the object is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from ir_graded.core.facets import VALUE_COLUMNS, is_record
from ir_graded.core.struct import light_dataclass
from ir_graded.errors import InputError, cut, short_repr

from .experiments import is_dataset, is_grouped, is_pipeline, iterate_rows, predictions, without_results
from .records import DOCUMENTS, Options
from .responses import (
    first_of,
    is_candidates,
    is_judgments,
    is_lists,
    is_lists_in_order,
    is_relevant,
    is_response,
    is_scored_lists,
    judgments_table,
    ranked_table,
    relevant_table,
)

if TYPE_CHECKING:
    from .table import Table

#: What a source is for those who match it: a dict of dicts, a file, which is read in pieces, or a table.
Content = Literal["dicts", "file", "table"]


@light_dataclass(frozen=True, eq=False)
class Form:
    """A form of qrels or runs.

    Attributes:
        name: the form in words.
        holds: returns whether an object has the form, from its beginning.
        read: returns the table of an object, or raises InputError that says what to give in its place.
        kinds: 'qrels', 'run' or both.
        over: names of forms that the object may have, too, but is not meant to have.
        last: whether all other forms go before this one.
        content: what a source of this form is.
    """

    name: str
    holds: Callable[[Any], object]
    read: Callable[[str, Any, Options], Table]
    kinds: tuple[str, ...] = ("qrels", "run")
    over: tuple[str, ...] = ()
    last: bool = False
    content: Content = "table"


def recognise(kind: str, source: Any) -> Form:
    """Return the form of an object, which may be UNKNOWN. Raises InputError if it may be two."""
    found = [form for form in FORMS if kind in form.kinds and form.holds(source)]
    if len(found) > 1:
        found = [form for form in found if not form.last] or found
        beaten = {name for form in found for name in form.over}
        found = [form for form in found if form.name not in beaten]
    if len(found) > 1:
        names = " or ".join(form.name for form in found)
        raise InputError(f"{kind}: {short_repr(source)} may be {names}; give a frame or a dict of dicts")
    return found[0] if found else UNKNOWN


def read_object(kind: str, source: Any, options: Options) -> Table:
    """Return the table of an object or of JSON. Raises InputError if it has no form of qrels or runs."""
    if options.query_ids is not None:
        return ranked_table(kind, source, options)
    form, first = recognise(kind, source), first_of(source)
    if options.path and form is DICTS and recognise(kind, [source]) is not RECORDS:
        return read_object(kind, [source], options)  # JSON Lines with one line
    is_foreign = (
        form is TUPLES  # JSON has none
        or (form is RECORDS and not is_record(first))
        or (form is DICTS and source and not isinstance(first, Mapping))
    )
    return (UNKNOWN if options.path and is_foreign else form).read(kind, source, options)


def _in_json(found: Any) -> str:
    """Describe an object that was read from JSON."""
    first = found if isinstance(found, Mapping) else first_of(found)
    keys = f" with {cut(', '.join(map(str, first)))}" if isinstance(first, Mapping) else ""
    return f"is JSON, an {'object' if first is found else 'array of objects' if keys else 'array'}{keys}"


def _refuse_unknown(kind: str, source: Any, options: Options) -> Table:
    """Raise InputError that says which forms there are."""
    value = VALUE_COLUMNS[kind]
    found, frame = f"cannot read {type(source).__name__}", "a DataFrame or "
    if options.path:
        found, frame = _in_json(source), ""
    columns = f"query_id, doc_id and {value}"
    raise options.error(
        kind,
        f"{found}; give a dict of dicts (query_id -> doc_id -> {value}), {frame}a list of dicts with "
        f"{columns}, or the path of a file; the pages 'Qrels and runs' and 'File formats' list all forms",
    )


def is_frame(source: object) -> bool:
    """Return whether an object has named columns: a pandas or Polars frame or an Arrow table."""
    return hasattr(source, "columns") or hasattr(source, "column_names")


def _tables() -> ModuleType:
    """Return the module of tables, which needs Polars; dicts do not."""
    from . import table

    return table


def _is_lazy(source: object) -> bool:
    return hasattr(source, "collect_schema") and not hasattr(source, "to_arrow")


def _is_series(source: object) -> bool:
    return type(source).__name__ == "Series" and hasattr(source, "reset_index")


def _is_rows_in_frame(source: object) -> bool:
    # A lazy frame computes its columns; a dict may have a method of this name.
    return not (_is_lazy(source) or is_grouped(source) or isinstance(source, Mapping)) and is_frame(source)


def _is_columns(found: Any) -> bool:
    """Return whether an object is a dict from the names of columns to lists."""
    return is_record(found) and all(isinstance(column, (list, tuple)) for column in found.values())


def is_row(found: Any) -> bool:
    """Return whether an object is a row of qrels or of a run: a named tuple or a record."""
    return hasattr(found, "_fields") or (is_record(found) and not _is_columns(found))


def _read_columns(kind: str, found: Mapping[str, Any], options: Options) -> Table:
    lengths = {name: len(column) for name, column in found.items()}
    if len({*lengths.values()}) > 1:
        shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise options.error(kind, f"the columns are not of one length: {shown}")
    table: Table = _tables().from_named(kind, [*found], found.__getitem__, options.item)
    return table


def _read_dicts(kind: str, found: Mapping[Any, Any], options: Options) -> Table:
    table: Table = _tables().from_nested(kind, found, options)
    return table


def _formats(found: Any) -> list[str]:
    """Return the names of the formats of documents that JSON may have and that users must name."""
    first = found if isinstance(found, Mapping) else first_of(found)
    if not isinstance(first, Mapping):
        return []
    return [one.name for one in DOCUMENTS for key in one.keys if isinstance(first.get(key), (list, str))]


def _refusal(advice: str) -> Callable[[str, Any, Options], Table]:
    """Return a reader that raises InputError with the advice, in which {} is the type of the object."""

    def read(kind: str, source: Any, options: Options) -> Table:
        raise options.error(kind, advice.format(type(source).__name__))

    return read


def _refuse_pipeline(kind: str, source: Any, _: Options) -> Table:
    raise without_results(kind, source)


def _refuse_document(kind: str, source: Any, options: Options) -> Table:
    name = _formats(source)[0]
    raise options.error(kind, f"{_in_json(source)}; read the file with format={name!r}")


_LISTS, _RECORDS, _RESPONSES = "lists of ids by query", "a list of dicts", "responses of a search engine"
_IN_DICTS = "a frame in dicts"
DICTS = Form("a dict of dicts", lambda one: isinstance(one, Mapping), _read_dicts, last=True, content="dicts")
TABLE = Form("a table that was read before", lambda one: hasattr(one, "place_of"), lambda _, one, __: one)
_FRAME = "a DataFrame of pandas or Polars, or an Arrow table"
RECORDS = Form(
    _RECORDS,
    lambda one: isinstance(one, (list, tuple)) and isinstance(first_of(one), Mapping),
    lambda kind, one, options: _tables().from_records(kind, one, options.item),
)
TUPLES = Form(
    "an iterable of named tuples",
    # NumPy scalars claim to be iterable.
    lambda one: not isinstance(one, Mapping) and isinstance(one, Iterable) and getattr(one, "ndim", 1) != 0,
    lambda kind, one, _: _tables().from_tuples(kind, one),
    last=True,
)
#: Of objects without any form of :data:`FORMS`.
UNKNOWN = Form("another object", lambda _: True, _refuse_unknown)
FORMS = (
    TABLE,
    DICTS,
    RECORDS,
    TUPLES,
    Form("columns by name", _is_columns, _read_columns, over=(_LISTS, _IN_DICTS)),
    Form(_LISTS, is_lists, ranked_table, ("run",)),
    Form(
        "lists or sets of relevant documents by query",
        lambda one: is_lists(one, (list, tuple, set, frozenset)) or is_relevant(one),
        relevant_table,
        ("qrels",),
        (_RECORDS,),
    ),
    Form(
        "a data set with its relevant documents",
        lambda one: isinstance(one, Mapping) and isinstance(one.get("relevant_docs"), Mapping),
        lambda kind, one, options: read_object(kind, one["relevant_docs"], options),
        ("qrels",),
    ),
    Form("lists of documents and scores by query", is_scored_lists, ranked_table, ("run",)),
    Form("lists without their queries", is_lists_in_order, ranked_table, ("run",)),
    Form("queries with candidates", is_candidates, ranked_table, ("run",), (_RECORDS,)),
    Form(_RESPONSES, is_response, ranked_table, over=(_RECORDS,)),
    Form(
        *("judgments of a search engine", is_judgments, judgments_table, ("qrels",)),
        over=(_RECORDS, _RESPONSES),
    ),
    Form(
        "predictions of MTEB",
        lambda one: isinstance(one, Mapping) and "mteb_model_meta" in one,
        lambda kind, one, options: read_object(kind, predictions(one, options.path or kind), options),
        ("run",),
    ),
    Form(
        "Qrels or a Run of ranx",
        lambda one: type(one).__module__.partition(".")[0] == "ranx" and hasattr(one, "to_dict"),
        lambda kind, one, options: _read_dicts(kind, one.to_dict(), options),
    ),
    Form(
        _FRAME,
        _is_rows_in_frame,
        lambda kind, one, _: _tables().from_frame(kind, one),
    ),
    Form(
        "a reader of Arrow batches",
        lambda one: hasattr(one, "read_all"),
        lambda kind, one, _: _tables().from_frame(kind, one.read_all()),
    ),
    Form(
        "a dataset of ir_datasets",
        is_dataset,
        lambda kind, one, _: _tables().from_tuples(kind, iterate_rows(kind, one)),
    ),
    # The others are refused, and the error says what to give in their place.
    Form("a pipeline", is_pipeline, _refuse_pipeline, over=(_FRAME,)),
    Form("JSON of a format that must be named", _formats, _refuse_document, over=(_RECORDS,)),
    Form(
        _IN_DICTS,
        lambda one: isinstance(one, Mapping) and (is_record(one) or is_row(first_of(one))),
        _refusal(
            "a dict of the columns or rows of a frame; give the frame itself or a list of records, as "
            "written by to_dict('records') or to_json(orient='records')"
        ),
    ),
    Form(
        "means of MTEB",
        lambda one: isinstance(one, Mapping) and "task_name" in one and "scores" in one,
        _refusal(
            "these are means of MTEB, read them with Scores.from_mteb; scores of topics need rankings, which "
            "mteb.evaluate(..., prediction_folder=...) writes"
        ),
    ),
    Form("a lazy frame", _is_lazy, _refusal("a {} has no rows yet; collect() it first")),
    Form("groups", is_grouped, _refusal("a {} has groups, not rows; give the frame")),
    Form(
        "a Series",
        _is_series,
        _refusal("a {} has no named columns; give a frame, as from reset_index(name='score')"),
    ),
)
