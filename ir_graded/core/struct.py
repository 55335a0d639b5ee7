"""Base classes: dataclasses that hold rows as arrays of one length, and objects that keep results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from .segments import Bools, Ints

__all__ = ["Join", "Keeps", "Struct", "light_dataclass"]

Rows = TypeVar("Rows", bound="Struct")
Result = TypeVar("Result")
#: By field, a function that makes one value from those of several parts.
Join = Mapping[str, Callable[[list[Any]], Any]]

if TYPE_CHECKING:
    # The type checker finds assignments to fields, and missing or wrong arguments.
    from dataclasses import dataclass as light_dataclass
else:

    def light_dataclass(*, frozen: bool, eq: bool) -> Callable[[type], type]:  # noqa: ARG001  # see above
        """Return the decorator of a dataclass for internal use, which only the type checker keeps unchanged.

        Without code that forbids assignments and writes out the fields, the modules of the command
        ``evaluate`` are imported in three quarters of the time.
        """
        return dataclass(eq=eq, repr=False)


class Keeps:
    """An object that keeps results that depend on it only."""

    _kept: dict[object, Any]

    def kept(self, key: object, make: Callable[[], Result]) -> Result:
        """Return the result of ``make``, computed once for each key."""
        if key not in self._kept:
            self._kept[key] = make()
        found: Result = self._kept[key]
        return found


class Struct:
    """Rows as columns of one length, the fields of a dataclass.

    A column is an array, another struct, a dict of arrays by name, or None if it is missing.
    """

    #: Fields whose rows are not those of the struct: they are joined, but not cut.
    APART: ClassVar[frozenset[str]] = frozenset()
    #: Fields that are not columns.
    SHARED: ClassVar[Join] = {}

    def __getitem__(self: Rows, rows: Ints | Bools | slice) -> Rows:
        """Return some of the rows, by position, mask or slice, in the given order."""
        names = {each.name for each in fields(self)} - self.APART - self.SHARED.keys()  # type: ignore[arg-type]
        return replace(self, **{name: _some(getattr(self, name), rows) for name in names})  # type: ignore[type-var]

    @classmethod
    def concat(cls: type[Rows], parts: Sequence[Rows]) -> Rows:
        """Return the rows of all parts, at least one, in their order."""
        if len(parts) == 1:
            return parts[0]
        names = [each.name for each in fields(cls)]  # type: ignore[arg-type]
        return cls(
            *(cls.SHARED.get(name, _joined)([getattr(part, name) for part in parts]) for name in names)
        )


def _some(column: Any, rows: Ints | Bools | slice) -> Any:
    if isinstance(column, Mapping):
        return {name: values[rows] for name, values in column.items()}
    return None if column is None else column[rows]


def _joined(columns: list[Any]) -> Any:
    """Return a column of all parts; None if no part has it."""
    given = [column for column in columns if column is not None]
    if not given:
        return None
    if isinstance(given[0], Struct):
        return type(given[0]).concat(given)
    if isinstance(given[0], Mapping):
        return {name: np.concatenate([column[name] for column in given]) for name in given[0]}
    return np.concatenate(given)
