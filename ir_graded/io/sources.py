"""Qrels and runs of any form except a dict of dicts as tables; the functions that read them for users."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.core.facets import FACETS, INTENT, POSITION, SPAN, VALUE_COLUMNS
from ir_graded.core.segments import EXACT_INTEGERS_BELOW
from ir_graded.errors import AS_COMPLETE, InputError, ParameterError, SampledJudgmentsWarning, short_repr

from .experiments import is_pipeline, qrels_file, without_results
from .responses import is_ranked, ranked_table
from .text import check_path

if TYPE_CHECKING:
    import pandas as pd

    from .table import Table


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
    """Return the error for a dataset; ir_datasets lets errors of any class pass."""
    reason = short_repr(error.args[0]) if error.args else "no reason is given"
    return OSError(f"{name} cannot be downloaded: {reason} ({type(error).__name__})")


def iterate_rows(kind: str, dataset: Any) -> Any:
    """Return the qrels of a dataset, or its scoreddocs as a run, as an iterator of named tuples."""
    name = "qrels" if kind == "qrels" else "scoreddocs"
    if not getattr(dataset, f"has_{name}")():
        raise InputError(f"{_description(dataset)} has no {name}")
    return _downloaded(dataset, getattr(dataset, f"{name}_iter"))


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


def table_of(kind: str, source: Any, query_ids: Sequence[Any] | None = None) -> Table:
    """Return qrels or a run of any form except a dict of dicts as a table.

    ``query_ids`` are the topics of responses of search engines that are not by topic.
    """
    # These need Polars, which dicts do not.
    from .table import Table, from_object

    if isinstance(source, Table):
        return source
    if is_path_or_dataset_id(source):
        if is_file(source):
            from .files import read_file

            return read_file(kind, qrels_file(source) if kind == "qrels" else source, query_ids=query_ids)
        source = _dataset(os.fspath(source))
    if is_pipeline(source):
        raise without_results(kind, source)
    if query_ids is not None or is_ranked(source):
        return ranked_table(kind, source, query_ids)
    if is_dataset(source):
        source = iterate_rows(kind, source)
    return from_object(kind, source)


def _read(
    kind: str, path: str | os.PathLike[str], format: str | None, query_ids: Sequence[Any] | None = None
) -> Table:
    """Read a source whose format the user may have named."""
    if format is None:
        return table_of(kind, path, query_ids)
    if query_ids is not None:
        raise ParameterError(f"query_ids is for responses of search engines; leave out format={format!r}")
    from .files import read_file

    check_path(path)
    return read_file(kind, path, format)


def _dataset(name: str) -> Any:
    """Return the dataset with an id. Raises an error for other text, which may be meant as a path."""
    dataset = load_dataset(name)
    if dataset is not None:
        return dataset
    if any(sign in name for sign in (os.sep, os.altsep) if sign) or Path(name).suffix:
        problem = f"{os.strerror(errno.ENOENT)}, and no dataset of ir_datasets has this id"
        raise FileNotFoundError(errno.ENOENT, problem, name)
    raise unknown_dataset(name)


def passage_table(purpose: str, kind: str, source: Any) -> Table:
    """Qrels or a run as a table. Raises InputError where they hold no passages."""
    table = None if isinstance(source, Mapping) else table_of(kind, source)
    if table is None or table.passage is None:
        raise InputError(SPAN.refusal(purpose, kind, table.hint(SPAN) if table else ""))
    return table


def is_path_or_dataset_id(source: object) -> bool:
    """Return whether ``source`` is a path or a dataset id."""
    return isinstance(source, (str, os.PathLike))


def is_file(source: object) -> bool:
    """Return whether ``source`` is the path of a file; other text is treated as a dataset id."""
    if isinstance(source, os.PathLike):
        check_path(source)
        return True
    if not isinstance(source, str) or not source:
        return False
    try:
        return Path(source).exists() or Path(source).is_symlink()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise


def check_found(runs: Mapping[str, Any]) -> None:
    """Raise the error of a path or a dataset id that does not exist."""
    for run in runs.values():
        if is_path_or_dataset_id(run) and not (is_file(run) and Path(run).exists()):
            _dataset(os.fspath(run))


def is_regular_file(source: object) -> bool:
    """Return whether ``source`` is the path of a file that can be read again (not a pipe)."""
    return is_file(source) and Path(source).is_file()  # type: ignore[arg-type]  # it is a path


def is_read_once(source: object) -> bool:
    """Return whether ``source`` can be read only once: an iterator, a reader of Arrow batches, a pipe."""
    if is_path_or_dataset_id(source):
        return is_file(source) and not is_regular_file(source)
    return isinstance(source, Iterator) or hasattr(source, "read_all")


def ensure_rereadable(kind: str, source: Any) -> Any:
    """Return a source that can be read repeatedly: a dict or a regular file unchanged, else a table."""
    if isinstance(source, Mapping) or is_regular_file(source):
        return source
    table = table_of(kind, source)
    if isinstance(source, Iterator) and not len(table):
        raise InputError(
            f"{kind}: the {type(source).__name__} has no rows; was it read before? An iterator can be read "
            f"only once; give a list of its rows (an empty list for an empty {kind})"
        )
    return table


def read_qrels(source: str | os.PathLike[str] | Any, *, format: str | None = None) -> pd.DataFrame:
    """Read qrels as a frame with the columns query_id, doc_id (text) and relevance.

    Args:
        source: a file (TREC ``topic iteration doc level``, NTCIR ``topic doc L2``, with intents
            ``topic intent doc L2``, with classes ``topic doc L2 class`` or, by letters,
            ``topic S|A|B|C doc 0|1``, INEX FOL
            ``topic Q0 file rel_chars doc_len [bep [start:length ...]]``, Genomics gold standard
            ``topic pmid start length aspects`` separated by tabs, or sampled judgments
            ``topic doc level method iprob`` or ``topic 0 doc stratum level``; plain, gzip, zstandard or xz;
            any spacing), or a dataset of ir_datasets or its id.
        format: 'trec', 'ntcir', 'ntcir-intents', 'ntcir-classes', 'ntcir-early', 'inex', 'genomics', 'prel'
            or 'sampleval'; by default detected from the columns, those of five fields from all lines. These
            formats are not detected: 'ntcir-continuous'
            (``topic doc 0.5``), 'legalbench', the benchmark or the results of LegalBench-RAG in JSON, and
            'chroma', the questions of Chroma's chunking evaluation in CSV; query_id of the last two is the
            position of the question, from 0. 'nuggetizer' is its output for retrieval, in JSON Lines with a
            document a line: iteration is the text of a nugget, relevance 2, 1 or 0 its support. The ratings
            of a response of ``_rank_eval`` are detected.

    Returns:
        A row per judgment. Levels are int64 if all are whole numbers, else float64. Passages have one row
        each, with the further columns start and length. If a document is judged for several intents, there is
        a column iteration; if there are classes of documents, a column equivalence_class. The columns
        probability, intent_type and importance of intents, and method, iprob and stratum of sampled
        judgments, are kept. Rows of prels without a judgment (iprob NA or level -999) are dropped.

    Raises:
        FileFormatError: the file or a line of it cannot be read, or it may be of two formats.
        InputError: the dataset does not exist, or it has no qrels.
        OSError: the file cannot be opened, or the dataset cannot be downloaded.

    Warns:
        SampledJudgmentsWarning: some judgments have an inclusion probability (iprob) below 1, documents of
            strata were not judged, or rows of prels were dropped.
        CoverageWarning: an assignment of nuggetizer is another word than those for 2, 1 and 0, or a response
            of ``_rank_eval`` holds ratings of retrieved documents only.
    """
    import pandas as pd

    table = _read("qrels", source, format).judgments()
    frame = frame_of(table)
    by_intent = table.has(INTENT) and (
        any(table.has(facet) for facet in FACETS if facet.per == "intent")
        or table.repeats_documents(INTENT.name)
    )
    for facet in FACETS:
        name = facet.name
        if name not in table.further or not (by_intent or (facet is not INTENT and facet.per != "intent")):
            continue
        if facet.kind == "number":
            frame[name] = table.numbers(facet)
        elif facet.kind == "words":
            frame[name] = pd.Series(table.objects(name), dtype="object")
        else:
            texts = table.text(name) if facet is INTENT else table.ids(name)
            frame[name] = pd.Series(texts.to_list(), dtype="str")
    if note := table.note_on_sample():
        warnings.warn(f"{note} Most measures score {AS_COMPLETE}", SampledJudgmentsWarning, stacklevel=2)
    levels = frame["relevance"].to_numpy()
    if (np.abs(levels) < EXACT_INTEGERS_BELOW).all() and (levels == np.floor(levels)).all():
        frame["relevance"] = levels.astype(np.int64)
    return frame


def read_run(
    source: str | os.PathLike[str] | Any,
    *,
    format: str | None = None,
    rank: str = "score",
    query_ids: Sequence[Any] | None = None,
) -> pd.DataFrame:
    """Read a run as a frame with the columns query_id, doc_id (text) and score.

    Responses of search engines, lists of ids and records with a rank in place of a score are ranked as given:
    the column position, from 1, ranks documents with equal scores, here and in ``evaluate``.

    Args:
        source: a file (TREC ``topic Q0 doc rank score tag``, INEX FOL ``topic Q0 file rank rsv run_id
            start length`` or Genomics ``topic pmid rank score start length run_id``; plain, gzip,
            zstandard or xz; any spacing), or a dataset of ir_datasets or its id, whose scoreddocs are
            read. In INEX FOL the order of the lines is the ranking, so the score is minus the position
            within the topic. Also responses of ``_search``, ``_msearch`` and ``_rank_eval`` of Elasticsearch
            and OpenSearch, ``{query_id: response}`` or in a list, and ``{query_id: [doc_id, ...]}``, as
            objects or in a JSON file.
        format: 'trec', 'inex' or 'genomics'; by default detected by the number of columns. If 'genomics' is
            given, the last field, run_id, may be missing. 'legalbench' reads the results of LegalBench-RAG in
            JSON, ranked in their order.
        rank: 'score', or 'column' to rank a run of format 'genomics' by its rank column, as in the official
            program: by rank, then pmid as text, start and length. The score is then minus the position within
            the topic.
        query_ids: the topics of responses or lists of ids that are in a list, in this order.

    Returns:
        A row per document. Passages have one row each, with the further columns start and length. Where the
        order given ranks equal scores, there is a column position.

    Raises:
        FileFormatError: the file or a line of it cannot be read, or it may be of two formats.
        InputError: the dataset does not exist, or it has no scoreddocs; a response is an error, a hit has no
            id, or there are not as many responses as ``query_ids``.
        ParameterError: ``rank`` is not a valid word, or ``query_ids`` is given for another form.
        OSError: the file cannot be opened, or the dataset cannot be downloaded.

    Warns:
        CoverageWarning: a response timed out or lacks shards, or its scores are not in descending order, so
            the positions are the ranking.

    Example:
        >>> import ir_graded
        >>> hits = [{"_id": "d2", "_score": 1.5}, {"_id": "d9", "_score": 1.5}]
        >>> ir_graded.read_run([{"took": 3, "hits": {"hits": hits}}], query_ids=["shoes"])
          query_id doc_id  score  position
        0    shoes     d2    1.5         1
        1    shoes     d9    1.5         2
    """
    if rank not in {"score", "column"}:
        raise ParameterError(f"rank={short_repr(rank)} must be 'score' or 'column'")
    if rank == "column" and format != "genomics":
        raise ParameterError("rank='column' is for runs of format='genomics'")
    table = _read("run", source, format, query_ids)
    frame = frame_of(_by_rank_column(table) if rank == "column" else table)
    if table.has(POSITION):
        frame[POSITION.name] = table.numbers(POSITION).astype(np.int64)
    return frame


def _by_rank_column(table: Table) -> Table:
    """Return a run with scores that rank it by its column rank."""
    import polars as pl

    assert table.passage is not None  # noqa: S101  # runs of this format hold passages
    columns = {
        "topic": table.query_id,
        "rank": table.text("rank").cast(pl.Int64),
        "doc_id": table.doc_id,
        "start": table.passage.start,
        "length": table.passage.length,
    }
    order = pl.DataFrame(columns).with_row_index("row").sort(*columns)
    score = np.empty(len(table))
    within = order.select(position=pl.int_range(1, pl.len() + 1).over("topic"))["position"]
    score[order["row"].to_numpy()] = -within.to_numpy()
    return replace(table, value=score)


def qrels_frame(qrels: Any) -> pd.DataFrame:
    """Return a copy of qrels of any form, or of a table of a run, as a frame with all further columns."""
    import pandas as pd

    if isinstance(qrels, Mapping):
        rows = [(topic, doc, level) for topic, docs in qrels.items() for doc, level in docs.items()]
        return pd.DataFrame(rows, columns=["query_id", "doc_id", VALUE_COLUMNS["qrels"]])
    if isinstance(qrels, pd.DataFrame):
        return qrels.copy()
    table = table_of("qrels", qrels)
    frame = frame_of(table)
    for name in table.further:
        if name not in frame:
            frame[name] = pd.Series(table.objects(name))
    return frame


def frame_of(table: Table) -> pd.DataFrame:
    """Return a table as a frame, without further columns."""
    import pandas as pd

    columns: dict[str, Any] = {
        "query_id": pd.Series(table.query_id.to_list(), dtype="str"),
        "doc_id": pd.Series(table.doc_id.to_list(), dtype="str"),
        VALUE_COLUMNS[table.kind]: table.value.copy(),
    }
    if table.passage is not None:
        columns["start"] = table.passage.start.astype(np.int64)
        columns["length"] = table.passage.length.astype(np.int64)
    return pd.DataFrame(columns)
