"""Ids, levels and scores of the caller as text and numbers, also those of dicts, without Polars."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set, Sized
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from ir_graded.core.facets import SWAPPED
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.errors import InputError, short_repr

#: Largest difference between the sum of shares and 1; files may have rounded shares.
_ROUNDED = 0.001
_FEWEST_SHARES = 2
#: Name of the value in messages.
VALUE_NAMES = {"qrels": "level", "run": "score", "chunks": "score", "quotes": "level"}


def describe_document(query_id: object, doc_id: object, place: str = "") -> str:
    """Describe a document of a topic and its place."""
    ids = f"topic {short_repr(query_id)}, document {short_repr(doc_id)}"
    return f"{ids} ({place})" if place else ids


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas' NA."""
    try:
        # NaN and NaT differ from themselves; comparing NA gives NA.
        return value is None or bool(value != value)  # noqa: PLR0124
    except (TypeError, ArithmeticError):
        # A signalling NaN of decimal cannot be compared either.
        return True
    except ValueError:
        # An array is compared elementwise.
        return False


def as_text(value: Any) -> str:
    """Return an id as text, by one rule for all forms of qrels and runs. Raises InputError for others.

    A string counts by its characters, even if its class defines another ``__str__``; bytes are decoded as
    UTF-8; a whole number, even if it is a float, becomes its digits.
    """
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        try:
            return str(int(value))
        except ValueError:
            # Python cannot print an int with thousands of digits.
            raise InputError(f"{short_repr(value)} is not an id; write it as text") from None
    if isinstance(value, (float, np.floating)):
        # Larger floats may represent several whole numbers.
        limit = 2.0 ** (np.finfo(type(value)).nmant + 1)
        if not (float(value).is_integer() and abs(float(value)) < limit):
            raise _invalid_id(value)
        return str(int(value))
    if isinstance(value, (bytes, bytearray, memoryview)):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            raise InputError(f"the id {short_repr(bytes(value))} is not valid UTF-8") from None
    raise _invalid_id(value)


def _invalid_id(value: Any) -> InputError:
    """Return the error for a value that cannot be an id."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return InputError(
            f"the float {short_repr(value)} may represent several whole numbers; give ids as text or integers"
        )
    return InputError(
        f"an id is text or a whole number, not a {type(value).__name__} such as {short_repr(value)}"
    )


def text_ids(ids: list[Any], name: str, where: str) -> list[str]:
    """Return the keys of a dict as text. Raises InputError if one is missing, or two differ only in type."""
    if set(map(type, ids)) <= {str}:
        return ids
    where = f"{where}: {name}"
    if any(map(is_missing, ids)):
        raise InputError(f"{where}: an id is missing (None or NaN)")
    try:
        return texts_of(ids, distinct=True)  # type: ignore[return-value]  # none is missing
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def texts_of(values: Sequence[Any], *, distinct: bool) -> list[str | None]:
    """Return ids as text, None if missing; an error if ``distinct`` ids differ only in type, as 1 and '1'."""
    texts = [None if is_missing(value) else as_text(value) for value in values]
    first: dict[str | None, Any] = {None: None}
    for text, given in zip(texts, values, strict=True) if distinct else ():
        other = first.setdefault(text, given)
        if text is not None and _type_of_id(other) is not _type_of_id(given):
            raise InputError(f"{short_repr(other)} and {short_repr(given)} are the same as text")
    return texts


def _type_of_id(value: Any) -> type:
    """Return the Python type for subclasses and NumPy scalars, which are equal to values of that type."""
    for kind, subclasses in ((str, str), (int, (int, np.integer)), (float, (float, np.floating))):
        if isinstance(value, subclasses):
            return kind
    return type(value)


def whole_numbers(values: Floats) -> tuple[Ints, Bools]:
    """Return ids that are floats as whole numbers, and which are missing. Raises InputError for others."""
    missing = np.isnan(values)
    # Larger floats may represent several whole numbers.
    limit = 2.0 ** min(np.finfo(values.dtype).nmant + 1, 63)
    wrong = ~(missing | ((values == np.floor(values)) & (np.abs(values) < limit)))
    if wrong.any():
        raise _invalid_id(values[wrong][0].item())
    return np.where(missing, 0, values).astype(np.int64), missing


def floats_of(values: list[Any], describe: Callable[[int], str]) -> Floats:
    """Return levels or scores as float64, NaN where missing. Raises InputError with a described row."""
    if set(map(type, values)) <= {int, float}:
        try:
            return np.array(values, dtype=np.float64)
        except OverflowError:
            pass
    return np.array([_as_float(value, row, describe) for row, value in enumerate(values)], dtype=np.float64)


def _as_float(value: Any, row: int, describe: Callable[[int], str]) -> float:
    if is_missing(value):
        return np.nan
    try:
        # NumPy before 2.4 converts an array with one element to a number.
        if not isinstance(value, (str, bytes)) and not getattr(value, "ndim", 0):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    problem = "is not a number"
    if isinstance(value, str):
        with suppress(ValueError):
            float(value)
            problem = "is a string; convert the column to numbers"
        if problem.endswith("number") and re.search(r"[^\W\d_]", value) and not re.search(r"\d", value):
            problem += "; replace words by numbers, for example vital by 2 and okay by 1"
    raise InputError(f"{describe(row)} {short_repr(value)} {problem}")


def number_or_text(cell: Any) -> Any:
    """Return a text as a number if it is one."""
    try:
        return cell if cell is None else float(cell)
    except ValueError:
        return cell


def check_values(kind: str, value: Floats, describe: Callable[[int], str]) -> None:
    """Raise InputError if a level or score is missing, or a level is infinite."""
    wrong = np.isnan(value) if kind == "run" else ~np.isfinite(value)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        what = "missing or NaN" if np.isnan(value[row]) else "infinite"
        raise InputError(f"{kind}: {describe(row)}: the {VALUE_NAMES[kind]} is {what}")


def as_word_sets(values: Sequence[Any], describe: Callable[[int], str]) -> list[set[str] | None]:
    """Return texts such as ``a|b`` as sets of words; None if a text is missing."""
    found = [None if is_missing(value) else value for value in values]
    for row, text in enumerate(found):
        if not (text is None or isinstance(text, str)):
            raise InputError(f"{describe(row)} {short_repr(text)} are not text")
    return [None if text is None else {part.strip() for part in text.split("|")} for text in found]


def as_shares(values: Sequence[Any], describe: Callable[[int], str]) -> Floats:
    """Return vectors of shares as an array, shape ``(rows, groups)``; NaN if a vector is None or NaN.

    If all are missing, the number of groups is unknown and 0 is used.

    Raises:
        InputError: a vector has fewer than two numbers or another number of them than the first, one of them
            is negative, or they do not sum to 1.
    """
    known = [row for row, value in enumerate(values) if hasattr(value, "__len__") or not is_missing(value)]
    vectors = _as_array([values[row] for row in known], lambda at: describe(known[at]))
    found = np.full((len(values), vectors.shape[1]), np.nan)
    found[known] = vectors
    wrong = ~((np.abs(vectors.sum(axis=1) - 1.0) <= _ROUNDED) & (vectors >= 0).all(axis=1))
    if wrong.any():
        row = known[int(np.flatnonzero(wrong)[0])]
        raise InputError(
            f"{describe(row)}: the shares {short_repr(found[row].tolist())} must be numbers >= 0 "
            "that sum to 1"
        )
    return found


def _as_array(vectors: list[Any], describe: Callable[[int], str]) -> Floats:
    """Return vectors of one length >= 2 as rows of an array."""
    if not vectors:
        return np.zeros((0, 0))
    with suppress(ValueError):  # of several lengths
        found = np.array(vectors)
        if found.dtype.kind in "iuf" and found.ndim == 2 and found.shape[1] >= _FEWEST_SHARES:  # noqa: PLR2004
            return found.astype(np.float64)
    width = max(len(vectors[0]) if hasattr(vectors[0], "__len__") else 0, _FEWEST_SHARES)
    for row, vector in enumerate(vectors):
        is_sequence = hasattr(vector, "__len__") and not isinstance(vector, (str, bytes, Mapping, Set))
        if not is_sequence or len(vector) != width:
            raise InputError(
                f"{describe(row)}: {short_repr(vector)} is not a sequence of {width} shares"
                f"{f' as for {describe(0)}' if row else ''}"
            )
    shares = [share for vector in vectors for share in vector]
    return floats_of(shares, lambda at: f"{describe(at // width)}: the share").reshape(-1, width)


@contextmanager
def unchanged(kind: str, names: Sequence[str], topics: Sequence[Sized]) -> Iterator[None]:
    """Raise InputError if another thread changes the size of the dict of a topic inside this context."""
    sizes = [*map(len, topics)]
    try:
        yield
    finally:  # the change may be the reason of another error
        for name, topic, size in zip(names, topics, sizes, strict=True):
            if len(topic) != size:
                raise InputError(
                    f"{kind}: topic {name!r} was changed while it was scored; "
                    "pass a copy that no other thread changes"
                )


def numbers_of(kind: str, name: str, docs: Mapping[Any, Any]) -> Floats:
    """Return the levels or scores of a topic. Raises InputError if one is missing or not a number."""
    doc_ids = list(docs)

    def describe(row: int) -> str:
        return describe_document(name, doc_ids[row])

    values = floats_of(list(docs.values()), lambda row: f"{kind}: {describe(row)}: the {VALUE_NAMES[kind]}")
    check_values(kind, values, describe)
    return values


def not_documents(kind: str, topic: Any, found: Any) -> str:
    """Return the problem of a topic without a dict of documents."""
    hint = f": {SWAPPED}" if kind == "qrels" and isinstance(found, (str, os.PathLike)) else ""
    expected = f"expected a dict from doc_id to {VALUE_NAMES[kind]}"
    return f"topic {topic!r}: {expected}, found {short_repr(found)}{hint}"


def rows_of_dicts(
    kind: str, topics_of: Mapping[Any, Any]
) -> tuple[list[Any], list[str], Ints, list[str], Floats]:
    """Return query_ids and their text, and topic, doc_id and value of each row of a dict of dicts."""
    items = list(topics_of.items())  # one snapshot, in case another thread adds topics
    query_ids, topics = [query_id for query_id, _ in items], [docs for _, docs in items]
    names = text_ids(query_ids, "query_id", kind)
    for name, docs in zip(names, topics, strict=True):
        if not isinstance(docs, Mapping):
            raise InputError(f"{kind}: {not_documents(kind, name, docs)}")
    doc_ids: list[str] = []
    values: list[Floats] = []
    with unchanged(kind, names, topics):
        for name, docs in zip(names, topics, strict=True):
            doc_ids += text_ids(list(docs), "doc_id", f"{kind}: topic {name!r}")
            values.append(numbers_of(kind, name, docs))
    counts = np.array([value.size for value in values], dtype=np.int64)
    topic = np.repeat(np.arange(len(names), dtype=np.int64), counts)
    return query_ids, names, topic, doc_ids, np.concatenate(values) if values else np.zeros(0)
