"""The door: qrels and runs of any form as sources, and the functions that read them for users."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import isfunction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded.core.facets import FACETS, INTENT, POSITION, SPAN, VALUE_COLUMNS
from ir_graded.core.segments import EXACT_INTEGERS_BELOW
from ir_graded.core.struct import light_dataclass
from ir_graded.errors import (
    AS_COMPLETE,
    FileFormatError,
    InputError,
    ParameterError,
    SampledJudgmentsWarning,
    check_choice,
    short_repr,
    warn_caller,
)

from .experiments import dataset_named, description, is_dataset, load_dataset, unknown_dataset
from .forms import DICTS, RECORDS, TABLE, TUPLES, UNKNOWN, Content, Form, is_row, recognise
from .paths import by_path, check_path, is_file, qrels_file, run_name
from .records import Options
from .responses import first_of, ranked_table
from .text import is_json, read_text
from .values import as_text

if TYPE_CHECKING:
    import pandas as pd

    from .table import Table


def _read_file(kind: str, path: Any, options: Options) -> Table:
    from .files import read_file  # needs Polars

    return read_file(kind, path, options)


def _read_dataset_id(kind: str, name: Any, options: Options) -> Table:
    return opened(kind, dataset_named(os.fspath(name)), options).table()


#: Which row counts of a document that a run repeats in a topic; with 'raise', that is an error.
DUPLICATES = ("raise", "first", "best")
#: Forms that the type of an object does not show.
FILE = Form("a file", is_file, _read_file, content="file")
DATASET_ID = Form("the id of a dataset", lambda name: load_dataset(name) is not None, _read_dataset_id)
_LISTS_IN_ORDER = Form("lists in the order of query_ids", bool, ranked_table)


@light_dataclass(frozen=True, eq=False)
class Source:
    """Qrels or a run whose form is known, and which is not read yet.

    Attributes:
        kind: 'qrels' or 'run'.
        given: the object or path of the caller.
        form: its form.
        options: how it is read.
    """

    kind: str
    given: Any
    form: Form
    options: Options = Options()

    @property
    def content(self) -> Content:
        """What this source is for those who match it; a table where rows are left out or all are needed."""
        of_rows = self.options.ignore_identical_ids or self.options.ties
        needed = of_rows or (self.form is FILE and self.options != Options())
        return "table" if needed else self.form.content

    @property
    def path(self) -> str | None:
        """Path of the file, or id of the dataset; None of an object."""
        return os.fspath(self.given) if self.form in (FILE, DATASET_ID) else None

    @property
    def exists(self) -> bool:
        """Whether this is a file that exists."""
        return self.form is FILE and Path(self.given).exists()

    @property
    def is_known(self) -> bool:
        """Whether this is an object, a file, or the id of a dataset that exists."""
        return self.form is not DATASET_ID or load_dataset(self.given) is not None

    @property
    def is_regular_file(self) -> bool:
        """Whether this is a file that can be read again (not a pipe)."""
        return self.form is FILE and Path(self.given).is_file()

    @property
    def is_read_once(self) -> bool:
        """Whether this can be read only once: an iterator, a reader of Arrow batches, a pipe."""
        if self.form is FILE:
            return not self.is_regular_file
        return isinstance(self.given, Iterator) or hasattr(self.given, "read_all")

    @property
    def stamp(self) -> tuple[int, int] | None:
        """Time of the last change and size of a file."""
        if not self.is_regular_file:
            return None
        found = os.stat(self.given)  # noqa: PTH116  # any path
        return found.st_mtime_ns, found.st_size

    @property
    def without_rows(self) -> Collection[str]:
        """Topics that are known to have no document."""
        if self.content == "dicts":
            found = ((topic, self.given[topic]) for topic in list(self.given))
            # Of a topic that is not in the qrels, the value may be any.
            return {as_text(topic) for topic, docs in found if isinstance(docs, Mapping) and not docs}
        return self.given.without_rows if self.form is TABLE else ()

    @property
    def repeated(self) -> str:
        """Clause on the rows of a table that were left out because they repeat a document."""
        return self.given.repeated if self.form is TABLE else ""

    def topics(self) -> list[str]:
        """Return the topics."""
        if self.content == "dicts":
            return [as_text(topic) for topic in list(self.given)]
        found: list[str] = self.table().query_id.unique().drop_nulls().to_list()
        return found

    def table(self, wanted: Collection[str] | None = None, depth: int | None = None) -> Table:
        """Return the rows; of dicts, only topics that are wanted, and at least their first documents."""
        if self.content != "dicts":
            found = self.form.read(self.kind, self.given, self.options)
            found = found.in_order(ties, self.path or self.kind) if (ties := self.options.ties) else found
            found = found.without_identical_ids() if self.options.ignore_identical_ids else found
            return found if self.kind == "qrels" else found.without_repetitions(self.options.duplicates)
        from .table import from_nested

        return from_nested(self.kind, self.given, self.options, wanted, depth)

    def kept(self, *, whole: bool = False) -> Source:
        """Return a source that can be read repeatedly: dicts unchanged, else its table.

        A regular file is unchanged, too, unless it is needed as a ``whole``.
        """
        if (self.is_regular_file and not whole) or self.content == "dicts" or self.form is TABLE:
            return self
        table = self.table()
        if isinstance(self.given, Iterator) and not len(table):
            raise InputError(
                f"{self.kind}: the {type(self.given).__name__} has no rows; was it read before? An iterator "
                f"can be read only once; give a list of its rows (an empty list for an empty {self.kind})"
            )
        return self.read_as(table)

    def keeping(self, **options: Any) -> Source:
        """Return the run with other ``Options`` on which of its rows count."""
        return replace(self, options=self.options._replace(**options))

    def of_topics(self, names: Collection[str]) -> Source:
        """Return the qrels of some topics."""
        if self.content == "dicts":
            return replace(
                self, given={one: docs for one, docs in self.given.items() if as_text(one) in names}
            )
        table = self.table()
        rows = np.flatnonzero(table.query_id.is_in([*names]).to_numpy())
        return self.read_as(replace(table[rows], without_rows=table.without_rows.intersection(names)))

    def read_as(self, table: Table) -> Source:
        """Return the source as a table that was read from it."""
        return Source(self.kind, table, TABLE)

    def check_found(self) -> None:
        """Raise the error of a path or a dataset id that does not exist."""
        if self.path is not None and not self.exists:
            dataset_named(self.path)


def opened(kind: str, source: Any, options: Options = Options()) -> Source:  # noqa: B008  # a tuple
    """Return qrels or a run of any form as a source, without reading it."""
    if isinstance(source, Source):
        return source
    if options.format is not None:
        check_path(source)
        return Source(kind, source, FILE, options)
    if isinstance(source, (str, os.PathLike)):
        source = qrels_file(source) if kind == "qrels" else source
        return Source(kind, source, FILE if is_file(source) else DATASET_ID, options)
    form = _LISTS_IN_ORDER if options.query_ids is not None else recognise(kind, source)
    return Source(kind, source, form, options)


def named_runs(runs: Any, kind: str = "run", options: Options = Options()) -> dict[str, Source]:  # noqa: B008
    """Return runs by name, from one run, a path, a list of paths or runs, or a mapping from names.

    With another ``kind``, the runs are sets of qrels.
    """
    return {name: opened(kind, run, options) for name, run in _named(runs, kind).items()}


def _named(runs: Any, kind: str) -> Mapping[str, Any]:
    if isinstance(runs, (str, os.PathLike)):
        return by_path([runs])
    if isinstance(runs, Source):
        return {"run" if runs.path is None else run_name(runs.path): runs}
    form = recognise(kind, runs)
    if form is DICTS:
        if not runs:
            raise InputError(
                "the dict of the runs is empty; give a run (topic -> doc_id -> score), or a dict from names "
                "to runs"
            )
        # Else topic -> doc_id -> score.
        return _by_name(runs) if any(_is_run(kind, run) for run in list(runs.values())) else {"run": runs}
    is_list = isinstance(runs, (list, tuple)) and not hasattr(runs, "_fields")
    if form in (TUPLES, RECORDS) and is_list and runs:
        if all(isinstance(run, (str, os.PathLike)) for run in runs):
            return by_path(runs)
        if not any(map(is_row, runs)):
            return {f"run {number}": run for number, run in enumerate(runs, start=1)}
    return {"run": runs}


def _is_run(kind: str, value: Any) -> bool:
    """Return whether a value can only be a run, not the dict of a topic or a number in its place."""
    if isinstance(value, Mapping) and not isinstance(first := first_of(value), Mapping):
        if first is None or isinstance(first, (int, float)):
            return False
        return recognise(kind, value) is not DICTS
    return (
        isinstance(value, (str, os.PathLike, Source))
        or isfunction(value)  # which is rejected as a run
        or recognise(kind, value) is not UNKNOWN
    )


def _by_name(runs: Mapping[Any, Any]) -> dict[str, Any]:
    try:
        named = {str(name): run for name, run in runs.items()}
    except ValueError:
        raise InputError("the name of a run is an int with too many digits; give the name as text") from None
    if len(named) < len(runs):
        names = list(map(str, runs))
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two runs have the same name as text: {twice!r}")
    return named


def with_query_ids(runs: Mapping[str, Source], ids: Sequence[Any]) -> dict[str, Source]:
    """Return runs, of which those in files of JSON are responses to queries in this order.

    A pipe must be one of them, since its text cannot be read before.
    """

    def is_in_list(run: Source) -> bool:
        return run.exists and (run.is_read_once or is_json(read_text(str(run.path))))

    return {
        name: replace(run, options=run.options._replace(query_ids=ids)) if is_in_list(run) else run
        for name, run in runs.items()
    }


def passage_table(purpose: str, kind: str, source: Any) -> Table:
    """Qrels or a run as a table. Raises InputError where they hold no passages."""
    table = opened(kind, source).table()
    if table.passage is None:
        raise InputError(SPAN.refusal(purpose, kind, table.hint(SPAN)))
    return table


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
        raise InputError(f"{description(dataset)} has no qrels")
    definitions = dataset.qrels_defs() or {}
    return {level: " ".join(definitions[level].split()) for level in sorted(definitions, reverse=True)}


def read_qrels(source: str | os.PathLike[str] | Any, *, format: str | None = None) -> pd.DataFrame:
    """Read qrels as a frame with the columns query_id, doc_id (text) and relevance.

    Args:
        source: a file (TREC ``topic iteration doc level``, NTCIR ``topic doc L2``, with intents
            ``topic intent doc L2``, with classes ``topic doc L2 class`` or, by letters,
            ``topic S|A|B|C doc 0|1``, INEX FOL
            ``topic Q0 file rel_chars doc_len [bep [start:length ...]]``, Genomics gold standard
            ``topic pmid start length aspects`` separated by tabs, sampled judgments
            ``topic doc level method iprob`` or ``topic 0 doc stratum level``, or SVMrank with ``#docid``;
            plain, gzip, bzip2, zstandard or xz; any spacing), or a dataset of ir_datasets or its id.
        format: 'trec', 'ntcir', 'ntcir-intents', 'ntcir-classes', 'ntcir-early', 'inex', 'genomics', 'prel',
            'sampleval' or 'svmrank'; by default detected from the columns, those of five fields from all
            lines. These formats are not detected: 'ntcir-continuous'
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
        CoverageWarning: an assignment of nuggetizer is another word than those for 2, 1 and 0, a response
            of ``_rank_eval`` holds ratings of retrieved documents only, or in TREC lines the fields 2 and 3
            look swapped or the third looks like a rank.
    """
    import pandas as pd

    table = opened("qrels", source, Options(format=format)).table().judgments()
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
    duplicates: str | None = None,
) -> pd.DataFrame:
    """Read a run as a frame with the columns query_id, doc_id (text) and score.

    Responses of search engines, lists of ids and records with a rank in place of a score are ranked as given:
    the column position, from 1, ranks documents with equal scores, here and in ``evaluate``.

    Args:
        source: a file (TREC ``topic Q0 doc rank score tag``, INEX FOL ``topic Q0 file rank rsv run_id
            start length``, Genomics ``topic pmid rank score start length run_id``, or ``topic doc rank`` or
            ``topic doc rank score`` with ranks from 1; plain, gzip, bzip2, zstandard or xz; any spacing), or
            a dataset of ir_datasets or its id, whose scoreddocs are read. In INEX FOL the order of the lines
            is the ranking, so the score is minus the position
            within the topic. Also responses of ``_search``, ``_msearch`` and ``_rank_eval`` of Elasticsearch
            and OpenSearch, of Solr and of Vespa, ``{query_id: response}`` or in a list,
            ``{query_id: [doc_id, ...]}`` and ``{query_id: [(doc_id, score), ...]}``, as objects or in a JSON
            file; and every other form of ``evaluate``.
        format: 'trec', 'inex', 'genomics', or 'msmarco' or 'colbert' for ``topic doc rank`` without or with a
            score; by default detected by the number of columns. If 'genomics' is given, the last field,
            run_id, may be missing; 'msmarco' and 'colbert' take any ranks. 'legalbench' reads the results of
            LegalBench-RAG in JSON, ranked in their order.
        rank: 'score', or 'column' to rank a run of format 'genomics' by its rank column, as in the official
            program: by rank, then pmid as text, start and length. The score is then minus the position within
            the topic.
        query_ids: the topics of responses or lists of ids that are in a list, in this order.
        duplicates: which row is kept of a document that a topic repeats: 'first', or 'best', the first with
            the highest score. None keeps all rows, which ``evaluate`` rejects.

    Returns:
        A row per document. Passages have one row each, with the further columns start and length. Where the
        order given ranks equal scores, there is a column position.

    Raises:
        FileFormatError: the file or a line of it cannot be read, or it may be of two formats.
        InputError: the dataset does not exist, or it has no scoreddocs; a response is an error, a hit has no
            id, or there are not as many responses as ``query_ids``.
        ParameterError: ``rank`` or ``duplicates`` is not a valid word, or ``query_ids`` is given for another
            form.
        OSError: the file cannot be opened, or the dataset cannot be downloaded.

    Warns:
        CoverageWarning: a response timed out or lacks shards, or scores do not descend with the positions or
            ranks, which then are the ranking; or all ranks are 1, as in qrels. ``duplicates`` left rows out.

    Example:
        >>> import warnings
        >>> import ir_graded
        >>> hits = [{"_id": "d2", "_score": 1.5}, {"_id": "d9", "_score": 1.5}]
        >>> ir_graded.read_run([{"took": 3, "hits": {"hits": hits}}], query_ids=["shoes"])
          query_id doc_id  score  position
        0    shoes     d2    1.5         1
        1    shoes     d9    1.5         2
        >>> rows = [{"query_id": 1, "doc_id": doc, "score": score} for doc, score in (("a", 2), ("a", 3))]
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", ir_graded.CoverageWarning)  # which counts the rows left out
        ...     ir_graded.read_run(rows, duplicates="best")
          query_id doc_id  score
        0        1      a    3.0
    """
    if rank not in {"score", "column"}:
        raise ParameterError(f"rank={short_repr(rank)} must be 'score' or 'column'")
    if rank == "column" and format != "genomics":
        raise ParameterError("rank='column' is for runs of format='genomics'")
    if format is not None and query_ids is not None:
        raise ParameterError(f"query_ids is for responses of search engines; leave out format={format!r}")
    check_choice("duplicates", duplicates, (None, *DUPLICATES[1:]))
    table = opened("run", source, Options("", format, query_ids, duplicates or DUPLICATES[0])).table()
    if table.repeated:
        warn_caller(f"The run {table.repeated}.")
    frame = frame_of(_by_rank_column(table) if rank == "column" else table)
    if table.has(POSITION):
        frame[POSITION.name] = table.numbers(POSITION).astype(np.int64)
    return frame


def _by_rank_column(table: Table) -> Table:
    """Return a run with scores that rank it by its column rank."""
    import polars as pl

    assert table.passage is not None  # noqa: S101  # runs of this format hold passages
    rank = table.text("rank").cast(pl.Int64, strict=False)
    if rank.null_count():
        row = int(rank.is_null().arg_true()[0])
        found = short_repr(table.text("rank")[row])
        raise FileFormatError(f"{table.in_kind(row)}: the rank {found} is not a whole number")
    columns = {
        "topic": table.query_id,
        "rank": rank,
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

    if isinstance(qrels, pd.DataFrame):
        return qrels.copy()
    source = opened("qrels", qrels)
    if source.content == "dicts":  # ids as they were given
        rows = [(topic, doc, level) for topic, docs in qrels.items() for doc, level in docs.items()]
        return pd.DataFrame(rows, columns=["query_id", "doc_id", VALUE_COLUMNS["qrels"]])
    table = source.table()
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
