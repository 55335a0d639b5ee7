"""Pipelines of PyTerrier, and the folders that experiments write."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ir_graded.core.facets import convention_of
from ir_graded.errors import InputError, ParameterError, short_repr

from .values import text_ids

#: Tables of scores that ``pyterrier.Experiment`` writes into ``save_dir``, and the JSON of means of BEIR.
_OF_PYTERRIER = ("aggregated.csv", "perquery.csv")
_OF_BEIR = re.compile(rb'\s*\{\s*"ndcg"\s*:\s*\{\s*"NDCG@')


def is_pipeline(source: object) -> bool:
    """Return whether an object returns results for topics, such as a transformer of PyTerrier."""
    # Frames and series have a method of this name, too.
    return not isinstance(source, type) and hasattr(source, "transform") and not hasattr(source, "__array__")


def without_results(kind: str, pipeline: object) -> InputError:
    """Return the error for a pipeline in place of its results."""
    return InputError(
        f"{kind}: a {type(pipeline).__name__} is a pipeline: give evaluate its topics, "
        "topics=frame with the columns qid and query, or give its results, pipeline.transform(topics)"
    )


def search(runs: dict[str, Any], topics: Any) -> dict[str, Any]:
    """Return the runs with the results of pipelines for the topics in place of the pipelines."""
    if topics is None:
        return runs
    if not any(map(is_pipeline, runs.values())):
        raise ParameterError("topics= is for pipelines, but no run is a pipeline: leave it out")
    table = _topics(topics)
    return {name: _results(name, run, table) if is_pipeline(run) else run for name, run in runs.items()}


def _topics(topics: Any) -> Any:
    """Return a frame of topics with text as qid."""
    import pandas as pd

    if hasattr(topics, "get_topics"):
        topics = topics.get_topics()
    if isinstance(topics, Mapping):
        topics = pd.DataFrame({"qid": [*topics], "query": [*topics.values()]})
    if not isinstance(topics, pd.DataFrame) or "qid" not in topics.columns:
        found = [*topics.columns] if isinstance(topics, pd.DataFrame) else short_repr(topics)
        raise InputError(f"topics: expected a pandas frame with the columns qid and query, found {found}")
    return topics.assign(qid=text_ids(topics["qid"].tolist(), "qid", "topics"))


def _results(name: str, pipeline: Any, topics: Any) -> Any:
    """Return the results of a pipeline; without scores, documents are ordered by their ranks."""
    found = pipeline.transform(topics.copy())
    columns = [*getattr(found, "columns", ())]
    if convention_of("run", columns) is None and "rank" in columns:
        found, columns = found.assign(score=-found["rank"]), [*columns, "score"]
    if convention_of("run", columns) is None:
        raise InputError(
            f"run {name!r}: expected results with the columns qid, docno and score (or rank), but the "
            f"pipeline returned {columns or short_repr(found)}; does it end with a retriever or a reranker?"
        )
    return found


def run_files(folder: str | os.PathLike[str]) -> list[Path]:
    """Return the files of a folder, sorted, without hidden files and without tables of scores."""
    files = [file for file in sorted(Path(folder).iterdir()) if not file.is_dir() and file.name[0] != "."]
    return [file for file in files if not _holds_scores(file)]


def _holds_scores(file: Path) -> bool:
    if file.name in _OF_PYTERRIER:
        return file.read_bytes()[:5] == b"name,"
    if file.suffix != ".json":
        return False
    with file.open("rb") as opened:
        return _OF_BEIR.match(opened.read(200)) is not None
