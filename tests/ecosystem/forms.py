"""Equal qrels and runs in every form that callers may pass: a new form is one entry of ``FORMS``."""

from __future__ import annotations

import io
import json
import lzma
import os
import random
import threading
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import helpers
import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import zstandard
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
ROWS = {"qrels": QRELS, "run": RUN}

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


def text(cell):
    """Return an id, which may be of any type, or another cell as text, numbers to the last digit."""
    if isinstance(cell, (str, bytes)):
        return "".join(cell) if isinstance(cell, str) else cell.decode()
    return str(cell).removesuffix(".0")


def results(measures, qrels, run):
    """Return the result of ir_measures.calc: values by measure name and topic (as text); means by name."""
    aggregated, per_topic = ir_measures.calc(measures, qrels, run)
    values = {(str(metric.measure), text(metric.query_id)): metric.value for metric in per_topic}
    assert len(values) == len(per_topic), "a topic appears twice in the results"
    return values, {str(measure): value for measure, value in aggregated.items()}


class Loud(str):
    """Text with another printed form."""

    __slots__ = ()

    def __str__(self):
        return "LOUD"


def numbered(number, make):
    """A form whose ids are numbers, or other objects with the same digits."""

    def numbered(kind, rows, folder=None):
        convert = number if number in (Loud, np.str_, str.encode) else lambda text: number(int(text))
        return make(kind, [(convert(topic), convert(doc), value) for topic, doc, value in rows], folder)

    return numbered


def everything(kind, rows):  # noqa: ARG001
    """The rows that most forms hold."""
    return rows


def ranking(kind, rows):
    """The rows that a form without scores holds: scores by position, ties as in files of TREC."""
    assert kind == "run"
    ordered = sorted(rows, key=lambda row: (row[2], row[1]), reverse=True)
    seen = [topic for topic, *_ in ordered]
    ranked = [(*row[:2], -float(1 + seen[:at].count(row[0]))) for at, row in enumerate(ordered)]
    return sorted(ranked, key=lambda row: [topic for topic, *_ in rows].index(row[0]))


def whole(kind, rows):  # noqa: ARG001
    """The rows that a form with whole numbers holds: fractions are quarters."""
    fractions = any(value % 1 for *_, value in rows)
    return [(topic, doc, int(value * 4) if fractions else int(value)) for topic, doc, value in rows]


def of_whole_levels(kind, rows):
    """The rows that a form with whole levels holds."""
    return whole(kind, rows) if kind == "qrels" else rows


def whole_and_positive(kind, rows):
    """The rows that a form with levels L0, L1, ... holds."""
    return [row for row in whole(kind, rows) if row[2] >= 0]


class Form(NamedTuple):
    """A way to give qrels or a run.

    Attributes:
        make: returns an object or writes a file, from kind, rows and folder.
        cells: 'any' if a cell may be any object, 'typed' if a column has one type, 'JSON', or 'text'
            if it is read from text; "" for a form that has tests of its own for wrong cells.
        place: how errors name row {0}, which is also row {1} from 1, and {2} from 2; "" if they do not.
        kinds: what it can be.
        holds: returns the rows that it holds of rows.
        unlike: functions whose result is not that for dicts.
    """

    make: Callable[..., Any]
    cells: str = "typed"
    place: str = "row {0}"
    kinds: tuple[str, ...] = ("qrels", "run")
    holds: Callable[..., Any] = everything
    unlike: frozenset[str] = frozenset()


# ----------------------------------------------------------------------------------------- objects


def plain(make):
    """A form that is not a file: the result of ``make`` for the rows."""
    return lambda kind, rows, folder=None: make(kind, rows)  # noqa: ARG005


def pandas(ids=None, values=None):
    """A pandas frame with given dtypes."""

    def make(kind, rows, folder=None):  # noqa: ARG001
        dtypes = {} if ids is None else {"query_id": ids, "doc_id": ids}
        return helpers.frame(kind, rows).astype(dtypes | ({} if values is None else {VALUE[kind]: values}))

    return make


@plain
def pandas_in_disorder(kind, rows):
    """A pandas frame with further columns, its rows shuffled, its index neither sorted nor unique."""
    rows = list(rows)
    random.Random(7).shuffle(rows)  # noqa: S311  (no secret)
    return helpers.frame_in_disorder(helpers.frame(kind, rows))


def polars(**dtypes):
    """A Polars frame."""
    return plain(lambda kind, rows: pl.DataFrame(helpers.columns(kind, rows)).cast(dtypes))


@plain
def arrow_with_views(kind, rows):
    """An Arrow table whose ids are views, as Polars exports them; pyarrow 15 has no such type."""
    table = pa.table(helpers.columns(kind, rows))
    ids = [pa.field(name, getattr(pa, "string_view", pa.string)()) for name in ("query_id", "doc_id")]
    return table.cast(pa.schema([*ids, *list(table.schema)[2:]]))


@plain
def arrow_in_chunks(kind, rows):
    """An Arrow table in several chunks, text as dictionaries."""
    table = helpers.arrow_in_chunks(kind, rows)
    for at, name in enumerate(("query_id", "doc_id")):
        if pa.types.is_string(table[name].type):
            table = table.set_column(at, name, table[name].dictionary_encode())
    return table


@plain
def tuples(kind, rows):
    """A list of ir_measures' named tuples."""
    return [{"qrels": ir_measures.Qrel, "run": ir_measures.ScoredDoc}[kind](*row) for row in rows]


@plain
def datasets_tuples(kind, rows):
    """A list of ir_datasets' named tuples."""
    from ir_datasets.formats import GenericScoredDoc, TrecQrel

    return [GenericScoredDoc(*row) if kind == "run" else TrecQrel(*row, "Q0") for row in rows]


class OfRanx:
    """Replacement for Qrels and Run of ranx, which cannot be iterated."""

    def __init__(self, given):
        self.given = given

    def to_dict(self):
        return self.given


OfRanx.__module__ = "ranx.data_structures"

dicts = plain(lambda _, rows: helpers.dicts(rows))
arrow = plain(helpers.arrow)
pandas_of_objects = plain(partial(helpers.frame, dtype=object))
polars_of_objects = plain(helpers.polars_of_objects)
generator = plain(lambda kind, rows: (row for row in tuples(kind, rows)))


def lists_of_ids(rows):
    """Ids by topic, in the order of the rows."""
    found = {}
    for topic, doc, _ in rows:
        found.setdefault(topic, []).append(doc)
    return found


def responses(rows):
    """Responses of a search engine by topic."""
    hits = {topic: [{"_id": doc, "_score": score} for doc, score in docs.items()]
            for topic, docs in helpers.dicts(rows).items()}  # fmt: skip
    return {topic: {"took": 1, "hits": {"hits": found}} for topic, found in hits.items()}


def frame_of(names, kind, rows):
    """A pandas frame with the column names of another tool, whose value is label or score."""
    return helpers.frame(kind, rows).set_axis([*names, {"qrels": "label", "run": "score"}[kind]][:3], axis=1)


def records(kind, rows):
    """A list of dicts."""
    names = (*_PYTERRIER, {"qrels": "label", "run": "score"}[kind])
    return [dict(zip(names, row, strict=True)) for row in rows]


def ranks(_, rows):
    """A pandas frame with ranks in place of scores."""
    frame = frame_of(("qid", "docno", "rank"), "run", rows)
    return frame.assign(rank=-frame["rank"].astype(int))


# ------------------------------------------------------------------------------------------- files


def written(content, name="{}-{}.txt"):
    """A path to a file with the text or bytes that ``content`` returns for the rows."""

    def make(kind, rows, folder):
        place = Path(folder) / name.format(kind, next(_numbers))
        found = content(kind, rows)
        place.write_bytes(found.encode() if isinstance(found, str) else found)
        return place

    return make


def trec(pack):
    """A path to a file of TREC lines, compressed."""
    return written(lambda kind, rows: pack(trec_lines(kind, rows).encode()), "{}-{}.run")


def lines(layout):
    """A path to a file with a line for each row."""
    return written(lambda _, rows: "".join(layout.format(*row) + "\n" for row in rows))


def csv(names, separator=","):
    """A path to a text with a header."""
    return written(lambda kind, rows: frame_of(names, kind, rows).to_csv(sep=separator, index=False))


def json_of(content):
    """A path to a file of JSON, of what ``content`` returns for the rows."""
    return written(lambda kind, rows: json.dumps(content(kind, rows)))


def rated(listed, topic, doc, level, number=float):
    """JSON of judgments as search engines have them: by names."""

    def content(_, rows):
        found = []
        for name, docs in helpers.dicts(rows).items():
            ratings = [{"_index": "i", doc: one, level: number(value)} for one, value in docs.items()]
            found.append({topic: name, "ratings": ratings})
        return {"name": "n", listed: found, "metric": {"dcg": {}}} if listed else found

    return content


def of_quepid(_, rows):
    """JSON of judgments of Quepid, by document."""
    return {"queries": [{"query": one, "ratings": docs} for one, docs in helpers.dicts(rows).items()]}


def json_lines(kind, rows):
    """Text of JSON Lines."""
    return "\n".join(map(json.dumps, records(kind, rows)))


def parquet(kind, rows):
    """Bytes of a Parquet file."""
    file = io.BytesIO()
    helpers.frame(kind, rows).to_parquet(file, index=False)
    return file.getvalue()


def pipe(kind, rows, folder):
    """A path to a pipe, which can be read once."""
    place = Path(folder) / f"{kind}-{next(_numbers)}.pipe"
    os.mkfifo(place)
    threading.Thread(target=place.write_text, args=(trec_lines(kind, rows),), daemon=True).start()
    return place


path = trec(bytes)


def dataset_id(kind, rows, folder):
    """The id of a dataset of ir_datasets."""
    import ir_datasets
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import TrecQrels, TrecScoredDocs
    from ir_datasets.util import LocalDownload

    place = LocalDownload(path(kind, rows, folder))
    levels = {0: "not", 1: "partly", 2: "fully"}
    made = Dataset(TrecQrels(place, levels) if kind == "qrels" else TrecScoredDocs(place))
    name = f"ir-graded-tests/{next(_numbers)}"
    ir_datasets.registry.register(name, made)
    return name


def dataset(kind, rows, folder):
    """A dataset of ir_datasets that has an id."""
    import ir_datasets

    return ir_datasets.load(dataset_id(kind, rows, folder))


# ----------------------------------------------------------------------------------------- the table

_PYTERRIER, _BEIR = ("qid", "docno"), ("query-id", "corpus-id", "score")
_ONCE = frozenset({"signature", "verify"})
_RANKED = {"cells": "", "kinds": ("run",), "holds": ranking, "unlike": _ONCE | {"read_run"}}
_any = partial(Form, cells="any")
_tuples = partial(_any, place="item {0}")
_lines = partial(Form, cells="text", place=", line {1}")
_header = partial(Form, cells="text", place=", line {2}")
_json = partial(Form, cells="JSON", place=", item {0}")
_judgments = partial(Form, cells="JSON", place="ratings[{0}]", kinds=("qrels",))

FORMS = {
    "dicts": _any(dicts, place="", unlike=frozenset({"read_qrels", "read_run"})),
    "tuples": _tuples(tuples),
    "generator": _tuples(generator, unlike=_ONCE),
    "tuples of ir_datasets": _tuples(datasets_tuples),
    "itertuples": _tuples(plain(lambda *given: pandas_of_objects(*given).itertuples()), unlike=_ONCE),
    "records": _tuples(plain(records)),
    "ranx": _any(plain(lambda _, rows: OfRanx(helpers.dicts(rows))), place=""),
    "pandas": Form(pandas()),
    "pandas in disorder": Form(
        pandas_in_disorder, place="", unlike=frozenset({"report", "compare_judgments", "order"})
    ),
    "pandas objects": _any(pandas_of_objects),
    "frame of PyTerrier": Form(plain(partial(frame_of, _PYTERRIER))),
    "polars": Form(polars()),
    "polars objects": _any(polars_of_objects),
    "arrow": Form(arrow),
    "arrow in chunks": Form(arrow_in_chunks),
    "arrow reader": Form(plain(lambda *given: helpers.arrow(*given).to_reader()), unlike=_ONCE),
    "lists of ids": Form(plain(lambda _, rows: lists_of_ids(rows)), place="", **_RANKED),
    "ranks": Form(plain(ranks), **_RANKED),
    "ranks in Polars": Form(plain(lambda *given: pl.from_pandas(ranks(*given))), **_RANKED),
    "records with ranks": Form(plain(lambda *given: ranks(*given).to_dict("records")), **_RANKED),
    "Parquet of ranks": Form(written(lambda *given: ranks(*given).to_parquet(index=False)), **_RANKED),
    "responses": Form(plain(lambda _, rows: responses(rows)), place="hits[{0}]", **_RANKED),
    "path": _lines(path),
    "name of a file": _lines(lambda *given: str(path(*given))),
    "gzip": _lines(trec(gzipped)),
    "xz": _lines(trec(lzma.compress)),
    "zstandard": _lines(trec(zstandard.ZstdCompressor().compress)),
    "pipe": _lines(pipe, unlike=_ONCE),
    "lines of NTCIR": _lines(lines("{} {} L{}"), kinds=("qrels",), holds=whole_and_positive),
    "dataset": Form(dataset, "", holds=of_whole_levels),
    "dataset id": Form(dataset_id, "", holds=of_whole_levels),
    "CSV": _header(csv(_PYTERRIER)),
    "CSV with semicolons": _header(csv(_PYTERRIER, ";")),
    "TSV of BEIR": _header(csv(_BEIR, "\t")),
    "Parquet": Form(written(parquet, "{}-{}.parquet"), place=", row {0}"),
    "JSON": _json(json_of(records)),
    "JSON Lines": _json(written(json_lines)),
    "JSON of dicts": _json(json_of(lambda _, rows: helpers.dicts(rows))),
    "JSON of OpenSearch": _judgments(
        json_of(rated("judgmentRatings", "query", "docId", "rating", "{:.3f}".format))
    ),
    "JSON list of OpenSearch": _judgments(json_of(rated("", "query", "docId", "rating"))),
    "JSON of a _rank_eval request": _judgments(json_of(rated("requests", "id", "_id", "rating"))),
    "JSON of Quepid": _judgments(json_of(rated("queries", "query_text", "doc_id", "rating"))),
    "JSON of Quepid by document": _judgments(json_of(of_quepid), place=", queries[0].ratings."),
    "JSON of ids": _json(json_of(lambda _, rows: lists_of_ids(rows)), **_RANKED),
    "JSON of responses": _json(
        json_of(lambda _, rows: responses(rows)), place=", response.hits.hits[{0}]", **_RANKED
    ),
    "CSV of ranks": _header(written(lambda *given: ranks(*given).to_csv(index=False)), **_RANKED),
}

#: Forms by topic and document, which cannot repeat one.
NESTED = {"dicts", "ranx", *(name for name in FORMS if name.startswith("JSON of") or "OpenSearch" in name)}

_IDS = ["object", "str", "string[python]", "string[pyarrow]", "category"]
_IDS += [pd.ArrowDtype(pa.string()), pd.ArrowDtype(pa.large_string())]
_INTS = ["int64", "int32", "Int64", "Int16", "float64", "float32", "float16", "Float64", "Float32"]
_INTS += [pd.ArrowDtype(pa.int64()), pd.ArrowDtype(pa.float64())]
_VALUES = ["float64", "float32", "object", "Float64", "category", pd.ArrowDtype(pa.float64())]
_WHOLE = ["int64", "int8", "Int64", pd.ArrowDtype(pa.int64())]

#: Frames with columns of other types, and whole numbers as ids.
TYPES = {
    **{f"pandas {ids} ids": Form(pandas(ids=ids)) for ids in _IDS},
    **{f"pandas {values} values": Form(pandas(values=values)) for values in _VALUES},
    **{f"pandas {values} values": Form(pandas(values=values), holds=whole) for values in _WHOLE},
    "polars categorical ids": Form(polars(query_id=pl.Categorical, doc_id=pl.Categorical)),
    "arrow string_view ids": Form(arrow_with_views),
    **{f"pandas {ids} numbers": Form(numbered(int, pandas(ids=ids))) for ids in _INTS},
    "pandas categorical numbers": Form(numbered(int, pandas(ids="category"))),
    **{
        f"polars {ids} numbers": Form(numbered(int, polars(query_id=ids, doc_id=ids)))
        for ids in (pl.UInt16, pl.Int16, pl.Float32, pl.Float64)
    },
    **{
        f"{form} of {number.__name__}": Form(numbered(number, FORMS[form].make))
        for form in ("polars", "arrow", "arrow in chunks")
        for number in (int, float)
    },
}
#: Forms of which each id may be any object, and what may be given in place of its text.
OBJECTS = ["dicts", "tuples", "generator", "pandas", "pandas objects", "polars objects"]
IDS = [int, float, np.int16, np.uint32, np.int64, np.float32, np.float64, Loud, np.str_, str.encode]
ALL = FORMS | TYPES
