"""Equal qrels and runs in every form that callers may pass, for the tests of this folder."""

import random
from functools import partial
from itertools import count
from pathlib import Path

import helpers
import ir_measures
import pandas as pd
import polars as pl
import pyarrow as pa
from helpers import VALUE, trec_lines
from measures import measure_cases
from packed import gzipped

from ir_graded.measures import REGISTRY

# Document ids are numerals, so that they can be ints too; as text, "9" sorts after "10".
QRELS = [
    ("101", "9", 3), ("101", "10", 1), ("101", "11", 0), ("101", "2", 2), ("101", "33", -1), ("102", "10", 2),
    ("102", "9", 2), ("102", "4", 1), ("103", "7", 0), ("104", "1", 3), ("104", "2", 1), ("105", "5", 1),
]  # fmt: skip
# Topic 103 has no relevant document, 105 is missing from the run, 999 from the qrels. Some scores tie.
RUN = [
    ("101", "50", 9.5), ("101", "10", 7.25), ("101", "9", 7.25), ("101", "33", 7.25), ("101", "11", 3.0),
    ("101", "2", 1.5), ("102", "4", 2.0), ("102", "8", 1.0), ("102", "9", 0.5), ("102", "10", -1.0),
    ("103", "7", 1.0), ("104", "2", 5.0), ("104", "1", 4.0), ("999", "1", 4.0),
]  # fmt: skip

_numbers = count()


def measures_of_registry():
    """Every measure of documents: with defaults, with a cutoff, condensed, and with rel=2."""
    made = []
    for measure in dict.fromkeys(
        measure
        for measure in REGISTRY.values()
        if measure.NAME in measure_cases.MEASURES and "cutoff" in measure.SUPPORTED_PARAMS
    ):
        params = measure.SUPPORTED_PARAMS
        made += [measure] if "cutoff" not in params or not params["cutoff"].required else []
        variants = ({"cutoff": 3}, {"cutoff": 4, "judged_only": True}, {"cutoff": 5, "rel": 2})
        made += [measure(**given) for given in variants if given.keys() <= params.keys()]
    return made


def with_int_ids(rows):
    """Return the rows with ids as ints."""
    return [(int(topic), int(doc), value) for topic, doc, value in rows]


def plain(make):
    """A form that is not a file: the result of ``make`` for the rows."""
    return lambda kind, rows, folder=None: make(kind, rows)  # noqa: ARG005


def pandas(ids=None, values=None):
    """A pandas frame with given dtypes."""

    def make(kind, rows, folder=None):  # noqa: ARG001
        dtypes = {} if ids is None else {"query_id": ids, "doc_id": ids}
        return helpers.frame(kind, rows).astype(dtypes | ({} if values is None else {VALUE[kind]: values}))

    return make


def pandas_in_disorder(kind, rows, folder=None):  # noqa: ARG001
    """A pandas frame with further columns, its rows shuffled, its index neither sorted nor unique."""
    rows = list(rows)
    random.Random(7).shuffle(rows)  # noqa: S311  (no secret)
    return helpers.frame_in_disorder(helpers.frame(kind, rows))


def polars(**dtypes):
    """A Polars frame."""
    return plain(lambda kind, rows: pl.DataFrame(helpers.columns(kind, rows)).cast(dtypes))


def arrow_with_views(kind, rows, folder=None):  # noqa: ARG001
    """An Arrow table whose ids are views, as Polars exports them; pyarrow 15 has no such type."""
    table = pa.table(helpers.columns(kind, rows))
    ids = [pa.field(name, getattr(pa, "string_view", pa.string)()) for name in ("query_id", "doc_id")]
    return table.cast(pa.schema([*ids, *list(table.schema)[2:]]))


def arrow_in_chunks(kind, rows, folder=None):  # noqa: ARG001
    """An Arrow table in several chunks, text as dictionaries."""
    table = helpers.arrow_in_chunks(kind, rows)
    for at, name in enumerate(("query_id", "doc_id")):
        if not pa.types.is_string(table[name].type):
            continue
        table = table.set_column(at, name, table[name].dictionary_encode())
    return table


dicts = plain(lambda _, rows: helpers.dicts(rows))
arrow = plain(helpers.arrow)
pandas_of_objects = plain(partial(helpers.frame, dtype=object))
polars_of_objects = plain(helpers.polars_of_objects)


def tuples(kind, rows, folder=None):  # noqa: ARG001
    """A list of ir_measures' named tuples."""
    return [{"qrels": ir_measures.Qrel, "run": ir_measures.ScoredDoc}[kind](*row) for row in rows]


def generator(kind, rows, folder=None):
    """A generator of ir_measures' named tuples."""
    return (row for row in tuples(kind, rows, folder))


def datasets_tuples(kind, rows, folder=None):  # noqa: ARG001
    """A list of ir_datasets' named tuples."""
    from ir_datasets.formats import GenericScoredDoc, TrecQrel

    if kind == "run":
        return [GenericScoredDoc(*row) for row in rows]
    return [TrecQrel(*row, "Q0") for row in rows]


def itertuples(kind, rows, folder=None):
    """The iterator of named tuples that pandas' itertuples returns."""
    return pandas()(kind, rows, folder).itertuples()


def path(kind, rows, folder):
    """A path to a file."""
    place = Path(folder) / f"{kind}-{next(_numbers)}.txt"
    place.write_text(trec_lines(kind, rows), encoding="utf-8")
    return place


def name_of_file(kind, rows, folder):
    """A path as a string."""
    return str(path(kind, rows, folder))


def compressed(kind, rows, folder):
    """A path to a compressed file."""
    place = Path(folder) / f"{kind}-{next(_numbers)}.gz"
    place.write_bytes(gzipped(trec_lines(kind, rows).encode()))
    return place


def dataset(kind, rows, folder):
    """A dataset of ir_datasets that has an id."""
    import ir_datasets

    return ir_datasets.load(dataset_id(kind, rows, folder))


def dataset_id(kind, rows, folder):
    """The id of a dataset of ir_datasets."""
    import ir_datasets
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import TrecQrels, TrecScoredDocs
    from ir_datasets.util import LocalDownload

    place = LocalDownload(path(kind, rows, folder))
    made = Dataset(TrecQrels(place, {}) if kind == "qrels" else TrecScoredDocs(place))
    name = f"ir-graded-tests/{next(_numbers)}"
    ir_datasets.registry.register(name, made)
    return name


def of_tool(names, write):
    """A frame with the column names of another tool, as returned by ``write``."""

    def make(kind, rows, folder="."):
        value = {"qrels": "label", "run": "score"}[kind]
        frame = pandas()(kind, rows).set_axis([*names, value] if len(names) < 3 else names, axis=1)
        place = Path(folder) / f"{kind}-{next(_numbers)}"
        return write(frame, place)

    return make


def separated(separator):
    """Text with a header."""

    def write(frame, place):
        frame.to_csv(place, sep=separator, index=False)
        return place

    return write


def json_file(frame, place):
    """A file of JSON."""
    place.write_text(frame.to_json(orient="records"), encoding="utf-8")
    return place


_PYTERRIER, _BEIR = ("qid", "docno"), ("query-id", "corpus-id", "score")

#: Forms with ids as text that ir_measures reads itself.
UPSTREAM = {
    "dicts": dicts,
    "tuples": tuples,
    "generator": generator,
    "tuples of ir_datasets": datasets_tuples,
    "itertuples": itertuples,
    "pandas": pandas(),
    "pandas in disorder": pandas_in_disorder,
    "pandas object ids": pandas(ids="object"),
    "pandas str ids": pandas(ids="str"),
    "pandas string[python] ids": pandas(ids="string[python]"),
    "pandas string[pyarrow] ids": pandas(ids="string[pyarrow]"),
    "pandas Arrow string ids": pandas(ids=pd.ArrowDtype(pa.string())),
    "pandas Arrow large_string ids": pandas(ids=pd.ArrowDtype(pa.large_string())),
    "pandas categorical ids": pandas(ids="category"),
    "pandas float64 values": pandas(values="float64"),
    "pandas float32 values": pandas(values="float32"),
    "pandas object values": pandas(values="object"),
    "pandas Float64 values": pandas(values="Float64"),
    "pandas Arrow double values": pandas(values=pd.ArrowDtype(pa.float64())),
    "pandas categorical values": pandas(values="category"),
}

#: Forms with ids as text that only this package reads.
OURS = {
    "polars": polars(),
    "polars categorical ids": polars(query_id=pl.Categorical, doc_id=pl.Categorical),
    "polars objects": polars_of_objects,
    "arrow": arrow,
    "arrow string_view ids": arrow_with_views,
    "arrow in chunks": arrow_in_chunks,
    "path": path,
    "name of a file": name_of_file,
    "compressed file": compressed,
    "dataset": dataset,
    "dataset id": dataset_id,
    "frame of PyTerrier": of_tool(_PYTERRIER, lambda frame, _: frame),
    "records": of_tool(_PYTERRIER, lambda frame, _: frame.to_dict("records")),
    "CSV": of_tool(_PYTERRIER, separated(",")),
    "TSV of BEIR": of_tool(_BEIR, separated("\t")),
    "JSON": of_tool(_PYTERRIER, json_file),
}

#: Forms with ids as ints that ir_measures reads itself.
UPSTREAM_INTS = {
    "dicts": dicts,
    "tuples": tuples,
    "generator": generator,
    "pandas int64": pandas(ids="int64"),
    "pandas int32": pandas(ids="int32"),
    "pandas Int64": pandas(ids="Int64"),
    "pandas Arrow int64": pandas(ids=pd.ArrowDtype(pa.int64())),
    "pandas objects": pandas(ids="object"),
    "pandas categorical ints": pandas(ids="category"),
}

#: Forms with ids as ints that only this package reads.
OUR_INTS = {
    "polars": polars(),
    "polars UInt16": polars(query_id=pl.UInt16, doc_id=pl.UInt16),
    "arrow": arrow,
    "arrow in chunks": arrow_in_chunks,
}


def results(measures, qrels, run):
    """Return the result of ir_measures.calc: values by measure name and topic (as text); means by name."""
    aggregated, per_topic = ir_measures.calc(measures, qrels, run)
    values = {(str(metric.measure), str(metric.query_id)): metric.value for metric in per_topic}
    assert len(values) == len(per_topic), "a topic appears twice in the results"
    return values, {str(measure): value for measure, value in aggregated.items()}
