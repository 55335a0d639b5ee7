"""Datasets of ir-datasets, pipelines of PyTerrier, and the folders that PyTerrier, BEIR and MTEB write."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from inspect import isfunction
from pathlib import Path
from typing import Any

from ir_graded.core.facets import convention_of
from ir_graded.errors import FileFormatError, InputError, ParameterError, format_ids, short_repr, shortened

from .paths import no_pipe
from .records import read_json
from .values import text_ids

#: Words of pandas where qids of one side are text and those of the other are numbers.
_NUMBERS_AS_QID = re.compile(r"merge on .*\b(u?int|float)\d+\b.*'qid'")
#: Names that MTEB gives to means of measures.
_OF_MTEB = {"nDCG": "ndcg", "AP": "map", "R": "recall", "P": "precision", "RR": "mrr", "Success": "hit_rate"}
_META = "model_meta.json"
#: Largest excess of a mean above 1 that rounding explains.
_ROUNDING = 1e-6


def is_dataset(source: object) -> bool:
    """Return whether ``source`` is a dataset of ir-datasets, without importing it."""
    return hasattr(source, "has_qrels") and hasattr(source, "has_scoreddocs")


def description(dataset: Any) -> str:
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
    """Return the error for a dataset; ir_datasets lets errors of any class pass."""
    reason = short_repr(error.args[0]) if error.args else "no reason is given"
    return OSError(f"{name} cannot be downloaded: {reason} ({type(error).__name__})")


def dataset_named(name: str) -> Any:
    """Return the dataset with an id. Raises an error for other text, which may be meant as a path."""
    dataset = load_dataset(name)
    if dataset is not None:
        return dataset
    if any(sign in name for sign in (os.sep, os.altsep) if sign) or Path(name).suffix:
        problem = f"{os.strerror(errno.ENOENT)}, and no dataset of ir_datasets has this id"
        raise FileNotFoundError(errno.ENOENT, problem, name)
    raise unknown_dataset(name)


def iterate_rows(kind: str, dataset: Any) -> Iterator[Any]:
    """Yield the qrels of a dataset, or its scoreddocs as a run, as named tuples."""
    name = "qrels" if kind == "qrels" else "scoreddocs"
    if not getattr(dataset, f"has_{name}")():
        raise InputError(f"{description(dataset)} has no {name}")
    try:
        yield from getattr(dataset, f"{name}_iter")()
    except Exception as error:
        raise _download_error(description(dataset), error) from error


def is_pipeline(source: object) -> bool:
    """Return whether an object returns results for topics, such as a transformer of PyTerrier."""
    # Frames of pandas and Spark have a method of this name, too.
    other = isinstance(source, type) or hasattr(source, "__array__") or hasattr(source, "toPandas")
    return hasattr(source, "transform") and not (other or is_grouped(source))


def is_grouped(source: object) -> bool:
    """Return whether an object is a frame in groups."""
    return type(source).__name__.endswith("GroupBy")


def without_results(kind: str, pipeline: object, also: str = "") -> InputError:
    """Return the error for a pipeline in place of its results, with a sentence on what else to give."""
    return InputError(
        f"{kind}: a {type(pipeline).__name__} is a pipeline: give its results, "
        f"pipeline.transform(topics){also}"
    )


def search(runs: dict[str, Any], topics: Any) -> dict[str, Any]:
    """Return the runs with the results of pipelines for a frame of topics in place of the pipelines."""
    for name, run in runs.items():
        if isfunction(run.given):
            raise InputError(
                f"run {name!r}: a function is not a pipeline: give pt.apply.generic(function) and topics=, "
                "or the results of the function"
            )
    of_pipelines = [name for name, run in runs.items() if is_pipeline(run.given)]
    if topics is None:
        for name in of_pipelines:
            kind = "run" if len(runs) == 1 else f"run {name!r}"
            also = ", or give its topics: topics=frame with the columns qid and query"
            raise without_results(kind, runs[name].given, also)
        return runs
    if not of_pipelines:
        raise ParameterError("topics= is for pipelines, but no run is a pipeline: leave it out")
    found = {name: _results(name, runs[name].given, topics) for name in of_pipelines}
    return {**runs, **found}


def topics_frame(topics: Any) -> Any:
    """Return a frame of topics with text as qid, from any form of them."""
    import pandas as pd

    if hasattr(topics, "get_topics"):
        topics = topics.get_topics()
    if isinstance(topics, Mapping):
        topics = pd.DataFrame({"qid": [*topics], "query": [*topics.values()]})
    elif not isinstance(topics, pd.DataFrame) and hasattr(topics, "rows"):  # a frame of Polars
        topics = pd.DataFrame(topics.to_dict(as_series=False))
    if not isinstance(topics, pd.DataFrame) or [*topics.columns].count("qid") != 1:
        found = [*topics.columns] if isinstance(topics, pd.DataFrame) else _short(topics)
        raise InputError(
            f"topics: expected a frame of pandas or Polars with the columns qid and query, found {found}"
        )
    ids = text_ids(topics["qid"].tolist(), "qid", "topics")
    if not len(ids):
        raise InputError("topics: the frame has no rows; give at least one topic")
    topics = topics.assign(qid=ids)
    if len(twice := topics.loc[topics["qid"].duplicated(), "qid"]):
        raise InputError(f"topics: qid {twice.iloc[0]!r} appears twice; keep one of the rows")
    return topics


def _short(value: object) -> str:
    """Return a value for a message, or only the type of a table, which takes many lines."""
    return f"a {type(value).__name__}" if hasattr(value, "shape") else short_repr(value)


def _results(name: str, pipeline: Any, topics: Any) -> Any:
    """Return the results of a pipeline; without scores, documents are ordered by their ranks."""
    try:
        found = pipeline.transform(topics.copy())
    except Exception as error:
        problem = f"run {name!r}: the pipeline failed: {type(error).__name__}: {error}"
        if _NUMBERS_AS_QID.search(str(error)):
            problem += (
                "; the qids of the topics are text, and the pipeline has numbers: convert its qids, as in "
                "frame.assign(qid=frame['qid'].astype(str))"
            )
        raise InputError(problem) from error
    columns = [*getattr(found, "columns", ())]
    if convention_of("run", columns) is None and "rank" in columns:
        found, columns = found.assign(score=-found["rank"]), [*columns, "score"]
    if convention_of("run", columns) is None:
        raise InputError(
            f"run {name!r}: expected results with the columns qid, docno and score (or rank), but the "
            f"pipeline returned {columns or _short(found)}; does it end with a retriever or a reranker?"
        )
    return found


def predictions(content: Mapping[str, Any], path: str) -> Any:
    """Return the run in the predictions of MTEB: of one subset, the only split or the split test."""
    subsets = {name: splits for name, splits in content.items() if name != "mteb_model_meta"}
    splits = next(iter(subsets.values())) if len(subsets) == 1 else {}
    split = next(iter(splits)) if len(splits) == 1 else "test"
    if split not in splits:
        names = ", ".join(f"[{name!r}][{split!r}]" for name, of in subsets.items() for split in of) or "none"
        raise FileFormatError(
            f"{path}: expected predictions of MTEB for one subset, and for one split or the split test, "
            f"found {names}; read the file by json.load and give one of them"
        )
    return splits[split]


def means_of_mteb(
    folder: str | os.PathLike[str], measures: Iterable[Any], split: str, tasks: Iterable[str] | None
) -> tuple[list[dict[str, Any]], str]:
    """Return a row per model, task and measure, from the results of MTEB in a folder and those below it.

    The second value is a sentence on tasks that are left out, because their results lack the split or a
    measure; empty without any. Named tasks are not left out.
    """
    keys = {measure: _key_of_mteb(measure) for measure in measures}
    wanted = {tasks} if isinstance(tasks, str) else None if tasks is None else {*tasks}
    rows: list[dict[str, Any]] = []
    of_place: dict[Path, set[str]] = {}
    first: dict[str, tuple[Path, list[Mapping[str, Any]]]] = {}
    left_out: dict[str, FileFormatError] = {}
    for file, content in _results_of_mteb(Path(folder), wanted):
        task, found = content["task_name"], of_place.setdefault(file.parent, set())
        try:
            subsets = _subsets_of_mteb(file, content["scores"], split, keys)
        except _LacksMeasureError as error:
            left_out.setdefault(task, error)
            continue
        found.add(task)
        _check_same_subsets(task, first.setdefault(task, (file, subsets)), (file, subsets))
        for measure, key in keys.items():
            value = sum(_mean_in(file, split, subset, key) for subset in subsets) / len(subsets)
            rows.append({"run": file.parent, "query_id": task, "measure": measure, "value": value})
    every = {*first, *(wanted or ())}
    for task, reason in left_out.items():
        if task in every or not every:
            raise reason
    for place, found in of_place.items():
        if lacking := sorted(every - found):
            raise InputError(
                f"{place}: no result of {format_ids(lacking)}; give tasks= with those that all models have"
            )
    models = _models([*of_place], Path(folder))
    note = (
        f"{len(left_out)} of {len(left_out) + len(first)} tasks are left out, because their results lack the "
        f"split {split!r} or {' or '.join(keys.values())}: {format_ids(sorted(left_out))}"
    )
    return [{**row, "run": models[row["run"]]} for row in rows], note if left_out else ""


class _LacksMeasureError(FileFormatError):
    """Results of MTEB lack a split or a measure, as those of classification lack nDCG."""


def _subsets_of_mteb(file: Path, scores: Any, split: str, keys: Mapping[Any, str]) -> list[Mapping[str, Any]]:
    """Return the subsets of a split. Raises _LacksMeasureError without the split or one of the measures."""
    if not isinstance(scores, Mapping):
        raise _unexpected(file, "scores is", scores, "an object with splits such as 'test'")
    if split not in scores:
        raise _LacksMeasureError(f"{file}: no split {split!r}, only {format_ids([*scores])}")
    subsets = scores[split]
    if not isinstance(subsets, list) or not subsets or not all(isinstance(one, Mapping) for one in subsets):
        wanted = "a list with an object for each subset; evaluate the task again, or leave it out with tasks="
        raise _unexpected(file, f"split {split!r} is", subsets, wanted)
    for measure, key in keys.items():
        if any(key not in subset for subset in subsets):
            raise _LacksMeasureError(f"{file}: no {key} (for {measure}); choose tasks= or other measures")
    return subsets


def _check_same_subsets(task: str, *given: tuple[Path, list[Mapping[str, Any]]]) -> None:
    """Raise InputError if the subsets in two files of a task differ."""
    (one, names), (other, others) = (
        (file, sorted(repr(subset.get("hf_subset")) for subset in subsets)) for file, subsets in given
    )
    if names != others:
        raise InputError(
            f"task {task!r}: {one} has the subsets {', '.join(names)}, and {other} has {', '.join(others)}; "
            "evaluate the same subsets with each model, or leave the task out with tasks="
        )


def _mean_in(file: Path, split: str, subset: Mapping[str, Any], key: str) -> float:
    """Return the mean of a measure in a subset. Raises FileFormatError if it is not a number from 0 to 1."""
    value = subset[key]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1 + _ROUNDING:
        return value
    wanted = "a number from 0 to 1; leave the task out with tasks=, or evaluate it again"
    raise _unexpected(file, f"split {split!r}, subset {subset.get('hf_subset')!r}: {key} is", value, wanted)


def _unexpected(file: Path, what: str, found: Any, wanted: str) -> FileFormatError:
    """Return the error for a value in a file, which is shown as JSON."""
    return FileFormatError(f"{file}: {what} {shortened(json.dumps(found))[1:-1]}; expected {wanted}")


def _results_of_mteb(folder: Path, wanted: Collection[str] | None) -> list[tuple[Path, Mapping[str, Any]]]:
    """Return the files with results of the wanted tasks in a folder and below it, and what they hold.

    Files with the names of other tasks need not be readable.
    """
    if wanted is not None and not wanted:
        raise ParameterError("tasks=[] names no task; leave it out for all tasks")
    found = []
    for file in map(no_pipe, sorted(folder.rglob("*.json"))):
        try:
            found.append((file, _content_of_mteb(file)))
        except FileFormatError:
            if wanted is None or file.stem in wanted:
                raise
    results = [(file, content) for file, content in found if content is not None]
    known = {content["task_name"] for _, content in results}
    if not known:
        raise InputError(f"{folder}: no results of MTEB (JSON with task_name and scores)")
    if unknown := sorted(map(str, {*(wanted or ())} - known)):
        raise InputError(
            f"{folder}: no results of MTEB for tasks={format_ids(unknown)}; there are results of "
            f"{', '.join(map(repr, sorted(known)))}"
        )
    return [one for one in results if wanted is None or one[1]["task_name"] in wanted]


def _content_of_mteb(file: Path) -> Mapping[str, Any] | None:
    """Return what a file of results holds; None for other files."""
    content = read_json(file.read_bytes(), str(file))
    if isinstance(content, Mapping) and "mteb_dataset_name" in content:
        raise FileFormatError(f"{file}: results of MTEB before 1.11; let its TaskResult save them again")
    if not isinstance(content, Mapping) or not {"task_name", "scores"} <= {*content}:
        return None
    if not isinstance(content["task_name"], str):
        raise _unexpected(file, "task_name is", content["task_name"], "a string")
    return content


def _models(places: list[Path], folder: Path) -> dict[Path, str]:
    """Return the name of the model of each folder, or the folder where models have no name or the same."""
    names = [_name_in(place / _META) for place in places]
    return {
        place: str(name)
        if name and names.count(name) == 1
        else (place.relative_to(folder).as_posix() if place != folder else place.resolve().name)
        for place, name in zip(places, names, strict=True)
    }


def _name_in(file: Path) -> Any:
    """Return the name of the model in a file; None without one."""
    if not file.exists():
        return None
    content = read_json(file.read_bytes(), str(file))
    if not isinstance(content, Mapping):
        raise _unexpected(file, "the file holds", content, "an object with the key name")
    return content.get("name")


def _key_of_mteb(measure: Any) -> str:
    """Return the name of a measure in MTEB."""
    name, _, cutoff = str(measure).partition("@")
    if name not in _OF_MTEB or not cutoff.isdigit():
        known = ", ".join(f"{one}@k" for one in _OF_MTEB)
        raise ParameterError(f"{measure} is not a mean in results of MTEB, which have {known}")
    return f"{_OF_MTEB[name]}_at_{cutoff}"
