"""``read_qrels`` and ``read_run``: read files and datasets as pandas frames with ir-measures' columns."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.core.segments import EXACT_INTEGERS_BELOW
from ir_graded.errors import ParameterError, SampledJudgmentsWarning, short_repr

from .files import read_file
from .sources import table_of
from .table import INCLUSION, NUMBERS, VALUE_COLUMNS, Table

if TYPE_CHECKING:
    import pandas as pd


def read_qrels(source: str | os.PathLike[str] | Any, *, format: str | None = None) -> pd.DataFrame:
    """Read qrels as a frame with the columns query_id, doc_id (text) and relevance.

    Args:
        source: a file (TREC ``topic iteration doc level``, NTCIR ``topic doc L2``, with intents
            ``topic intent doc L2``, with classes ``topic doc L2 class`` or, by letters,
            ``topic S|A|B|C doc 0|1``, INEX FOL
            ``topic Q0 file rel_chars doc_len [bep [start:length ...]]`` or Genomics gold standard
            ``topic pmid start length aspects`` separated by tabs; plain, gzip, zstandard or xz; any
            spacing), or a dataset of ir_datasets or its id.
        format: 'trec', 'ntcir', 'ntcir-intents', 'ntcir-classes', 'ntcir-early', 'inex' or 'genomics'; by
            default detected from the columns. These formats are not detected: 'ntcir-continuous'
            (``topic doc 0.5``), 'legalbench', the benchmark or the results of LegalBench-RAG in JSON, and
            'chroma', the questions of Chroma's chunking evaluation in CSV; query_id of the last two is the
            position of the question, from 0.

    Returns:
        A row per judgment. Levels are int64 if all are whole numbers, else float64. Passages have one row
        each, with the further columns start and length. If a document is judged for several intents, there is
        a column iteration; if there are classes of documents, a column equivalence_class. The columns
        probability and intent_type of intents, and iprob of sampled judgments, are kept.

    Raises:
        FileFormatError: the file or a line of it cannot be read, or it may be of two formats.
        InputError: the dataset does not exist, or it has no qrels.
        OSError: the file cannot be opened, or the dataset cannot be downloaded.

    Warns:
        SampledJudgmentsWarning: some judgments have an inclusion probability (iprob) below 1.
    """
    import pandas as pd

    table = _table("qrels", source, format)
    frame = frame_of(table)
    if "aspects" in table.further:
        frame["aspects"] = pd.Series(table.objects("aspects"), dtype="object")
    further = [name for name in ("equivalence_class", INCLUSION) if name in table.further]
    if "iteration" in table.further:
        of_intents = [name for name in ("probability", "intent_type") if name in table.further]
        if of_intents or table.repeats_documents("iteration"):
            further += ["iteration", *of_intents]
    for name in further:
        if name in NUMBERS:
            frame[name] = table.numbers(name)
        else:
            texts = table.text(name) if name == "iteration" else table.ids(name)
            frame[name] = pd.Series(texts.to_list(), dtype="str")
    if note := table.note_on_sample():
        warnings.warn(note, SampledJudgmentsWarning, stacklevel=2)
    levels = frame["relevance"].to_numpy()
    if (np.abs(levels) < EXACT_INTEGERS_BELOW).all() and (levels == np.floor(levels)).all():
        frame["relevance"] = levels.astype(np.int64)
    return frame


def read_run(
    source: str | os.PathLike[str] | Any, *, format: str | None = None, rank: str = "score"
) -> pd.DataFrame:
    """Read a run as a frame with the columns query_id, doc_id (text) and score.

    Args:
        source: a file (TREC ``topic Q0 doc rank score tag``, INEX FOL ``topic Q0 file rank rsv run_id
            start length`` or Genomics ``topic pmid rank score start length run_id``; plain, gzip,
            zstandard or xz; any spacing), or a dataset of ir_datasets or its id, whose scoreddocs are
            read. In INEX FOL the order of the lines is the ranking, so the score is minus the position
            within the topic.
        format: 'trec', 'inex' or 'genomics'; by default detected by the number of columns. If 'genomics' is
            given, the last field, run_id, may be missing. 'legalbench' reads the results of LegalBench-RAG in
            JSON, ranked in their order.
        rank: 'score', or 'column' to rank a run of format 'genomics' by its rank column, as in the official
            program: by rank, then pmid as text, start and length. The score is then minus the position within
            the topic.

    Returns:
        A row per document. Passages have one row each, with the further columns start and length.

    Raises:
        FileFormatError: the file or a line of it cannot be read, or it may be of two formats.
        InputError: the dataset does not exist, or it has no scoreddocs.
        OSError: the file cannot be opened, or the dataset cannot be downloaded.
    """
    if rank not in {"score", "column"}:
        raise ParameterError(f"rank={short_repr(rank)} must be 'score' or 'column'")
    if rank == "column" and format != "genomics":
        raise ParameterError("rank='column' is for runs of format='genomics'")
    table = _table("run", source, format)
    return frame_of(_by_rank_column(table) if rank == "column" else table)


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
    """Return a copy of qrels of any form as a frame with all further columns."""
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


def _table(kind: str, source: Any, format: str | None) -> Table:
    return table_of(kind, source) if format is None else read_file(kind, source, format)


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
