"""Base of all results: frozen dataclasses whose attributes are the columns of a table."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from ir_graded.errors import valid_text

if TYPE_CHECKING:
    import pandas as pd

Array = TypeVar("Array", bound=np.ndarray[Any, Any])


def read_only(values: Array) -> Array:
    """Make an array read-only and return it."""
    values.setflags(write=False)
    return values


#: Longest text of a value, and most numbers of an array, that are printed whole.
_LONGEST, _MOST_NUMBERS = 60, 6
#: Size of printed tables.
_SHOWN: dict[str, Any] = {"max_rows": 10, "max_cols": 16, "float_format": "{:.4f}".format}
_WIDTH = 110


class Result:
    """Base of results, which are dataclasses made with ``frozen=True, eq=False, repr=False``.

    Arrays are read-only. ``repr`` is one line, ``print`` shows the first and last rows of ``to_frame``.
    """

    #: Columns that label the rows, by the attributes with their values, in the order of the dimensions of the
    #: arrays. Without any, arrays have one dimension.
    ROWS: ClassVar[dict[str, str]] = {}
    #: Attributes that are the other columns; those of fewer dimensions are repeated.
    COLUMNS: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]  # classes derived from this are dataclasses
            if isinstance(value := getattr(self, field.name), np.ndarray):
                read_only(value)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each of ``ROWS``, or of the arrays, and the columns ``COLUMNS``."""
        import pandas as pd

        labels = [getattr(self, name) for name in self.ROWS.values()]
        values = {name: getattr(self, name) for name in self.COLUMNS}
        sizes = tuple(map(len, labels)) or (max(np.size(one) for one in values.values()),)
        at = np.indices(sizes).reshape(len(sizes), -1)
        columns: dict[str, Any] = dict(zip(self.ROWS, map(_taken, labels, at), strict=True))
        for name, one in values.items():
            columns[name] = one[tuple(at[: one.ndim])] if isinstance(one, np.ndarray) else _taken(one, at[0])
        with valid_text():
            return pd.DataFrame(columns)

    def _printed(self) -> pd.DataFrame:
        return self.to_frame()

    def __repr__(self) -> str:
        shown = [
            f"{field.name}={short(getattr(self, field.name))}"
            for field in fields(self)  # type: ignore[arg-type]
            if field.repr and not field.name.startswith("_")
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def _title(self) -> str:
        """Return the attributes that are single values, which no column shows."""
        values = (
            (field.name, getattr(self, field.name))
            for field in fields(self)  # type: ignore[arg-type]
            if field.repr
        )
        single = [
            f"{name}={f'{value:.6g}' if isinstance(value, float) else repr(value)}"
            for name, value in values
            if isinstance(value, (str, int, float))
        ]
        return f"{type(self).__name__}({', '.join(single)})"

    def __str__(self) -> str:
        return f"{self._title()}\n{self._printed().to_string(line_width=_WIDTH, **_SHOWN)}"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(self._title())}</p>\n{self._printed().to_html(**_SHOWN)}"


def _taken(values: Any, at: np.ndarray[Any, Any]) -> list[Any]:
    """Return the values of a tuple at some positions; a single value is repeated, None is NaN."""
    if isinstance(values, tuple):
        return [values[number] for number in at]
    return [np.nan if values is None else values] * len(at)


def short(value: Any) -> str:
    """Return the repr of a value, or its type and size where the repr is long."""
    if isinstance(value, np.ndarray):
        text = str(value.tolist()) if value.size <= _MOST_NUMBERS else ""
        return text if 0 < len(text) <= _LONGEST else f"<array {' x '.join(map(str, value.shape))}>"
    text = repr(value)
    if len(text) <= _LONGEST and "\n" not in text:
        return text
    size = f" of {len(value)}" if isinstance(value, Sized) else ""
    return f"<{type(value).__name__}{size}>"
