"""Datasets of ir-datasets as qrels and runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ir_graded.errors import InputError, short_repr


def is_dataset(source: object) -> bool:
    """Return whether ``source`` is a dataset of ir-datasets, without importing it."""
    return hasattr(source, "has_qrels") and hasattr(source, "has_scoreddocs")


def _description(dataset: Any) -> str:
    """Return a description of a dataset, which may have no id."""
    return f"dataset {dataset.dataset_id()!r}" if hasattr(dataset, "dataset_id") else "the dataset"


def load_dataset(dataset_id: str) -> Any | None:
    """Return the dataset with an id, else None. Raises OSError if it cannot be loaded."""
    import ir_datasets

    try:
        return ir_datasets.load(dataset_id)
    except KeyError:
        return None
    except Exception as error:
        raise _download_error(f"dataset {dataset_id!r}", error) from error


def unknown_dataset(name: str) -> InputError:
    """Return the error for a name that is neither a dataset nor a file."""
    return InputError(
        f"{name!r} is neither a file nor a dataset id of ir_datasets "
        "(such as 'msmarco-passage/trec-dl-2019/judged')"
    )


def _download_error(name: str, error: Exception) -> OSError:
    """Return the error for a dataset that ir_datasets cannot provide.

    ir_datasets does not catch the errors of downloads, archives and parsers, which may be of any class.
    """
    reason = short_repr(error.args[0]) if error.args else "no reason is given"
    return OSError(f"{name} cannot be downloaded: {reason} ({type(error).__name__})")


def iterate_rows(kind: str, dataset: Any) -> Any:
    """Return the qrels of a dataset, or its scoreddocs as a run, as an iterator of named tuples.

    Raises:
        InputError: the dataset has none.
        OSError: the download fails, raised during iteration.
    """
    if kind == "qrels":
        if not dataset.has_qrels():
            raise InputError(f"{_description(dataset)} has no qrels")
        return _downloaded(dataset, dataset.qrels_iter)
    if not dataset.has_scoreddocs():
        raise InputError(f"{_description(dataset)} has no scoreddocs, so it gives no run")
    return _downloaded(dataset, dataset.scoreddocs_iter)


def _downloaded(dataset: Any, rows_of: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    try:
        yield from rows_of()
    except Exception as error:
        raise _download_error(_description(dataset), error) from error


def level_definitions(source: Any) -> dict[int, str]:
    """Return the definitions of the levels of a dataset, as text from the dataset.

    Args:
        source: a dataset of ir-datasets or its id.

    Returns:
        Level to text, by level descending, useful for choosing ``gains`` and ``rel``. The qrels may have
        other levels.

    Raises:
        InputError: the id is unknown or the dataset has no qrels.
    """
    dataset = source if is_dataset(source) else load_dataset(str(source))
    if dataset is None:
        raise unknown_dataset(str(source))
    if not dataset.has_qrels():
        raise InputError(f"{_description(dataset)} has no qrels")
    definitions = dataset.qrels_defs() or {}
    return {level: " ".join(definitions[level].split()) for level in sorted(definitions, reverse=True)}
