"""Qrels and run in every form that the package reads."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_datasets
import ir_measures
import pandas as pd
import polars as pl
import pyarrow as pa
import zstandard
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import GenericScoredDoc, TrecQrel, TrecQrels, TrecScoredDocs
from ir_datasets.util import LocalDownload
from packed import gzipped

from .draws import Draw

#: A function that makes a form from 'qrels' or 'run', a pandas frame with ir_measures' columns, and a folder.
Maker = Callable[[str, pd.DataFrame, Path], Any]

VALUE = {"qrels": "relevance", "run": "score"}
IDS = ["query_id", "doc_id"]


def frame(kind: str, nested: dict[str, dict[str, float]]) -> pd.DataFrame:
    """Return a dict of dicts as a frame."""
    rows = [(topic, doc, value) for topic, docs in nested.items() for doc, value in docs.items()]
    return pd.DataFrame(rows, columns=[*IDS, VALUE[kind]])


def dicts(kind: str, data: pd.DataFrame, folder: Path) -> dict[str, dict[str, float]]:  # noqa: ARG001
    """A dict of dicts."""
    nested: dict[str, dict[str, float]] = {}
    for topic, doc, value in zip(*(data[name].tolist() for name in [*IDS, VALUE[kind]]), strict=True):
        nested.setdefault(topic, {})[doc] = value
    return nested


def _pandas(ids: Any = None, values: Any = None) -> Maker:
    def make(kind: str, data: pd.DataFrame, folder: Path) -> pd.DataFrame:  # noqa: ARG001
        types = {} if ids is None else dict.fromkeys(IDS, ids)
        return data.astype(types | ({} if values is None else {VALUE[kind]: values}))

    return make


def _in_disorder(kind: str, data: pd.DataFrame, folder: Path) -> pd.DataFrame:  # noqa: ARG001
    """Shuffle the rows, and add further columns and an index that is not unique."""
    shuffled = data.iloc[Draw(7).shuffled(range(len(data)))]
    shuffled = shuffled[[VALUE[kind], "doc_id", "query_id"]].assign(rank=-1, text="any")
    return shuffled.set_axis(pd.Index([5, 5, 3] * len(data))[: len(data)])


def _polars(**types: Any) -> Maker:
    return lambda kind, data, folder: pl.from_pandas(data).cast(types)  # noqa: ARG005


def _arrow(kind: str, data: pd.DataFrame, folder: Path) -> pa.Table:  # noqa: ARG001
    return pa.Table.from_pandas(data, preserve_index=False)


def _arrow_in_chunks(kind: str, data: pd.DataFrame, folder: Path) -> pa.Table:
    table = _arrow(kind, data, folder)
    parts = [table.slice(start, 1000) for start in range(0, len(table), 1000)]
    joined = pa.concat_tables(parts)
    for at, name in enumerate(IDS):
        joined = joined.set_column(at, name, joined[name].dictionary_encode())
    return joined


def _arrow_reader(kind: str, data: pd.DataFrame, folder: Path) -> pa.RecordBatchReader:
    return _arrow(kind, data, folder).to_reader(max_chunksize=1000)


def _tuples(kind: str, data: pd.DataFrame, folder: Path) -> list[Any]:  # noqa: ARG001
    of = {"qrels": ir_measures.Qrel, "run": ir_measures.ScoredDoc}[kind]
    return [of(*row) for row in data.itertuples(index=False)]


def _tuples_of_datasets(kind: str, data: pd.DataFrame, folder: Path) -> list[Any]:  # noqa: ARG001
    rows = data.itertuples(index=False)
    return [GenericScoredDoc(*row) if kind == "run" else TrecQrel(*row, "0") for row in rows]


def _generator(kind: str, data: pd.DataFrame, folder: Path) -> Any:
    return (row for row in _tuples(kind, data, folder))


def _itertuples(kind: str, data: pd.DataFrame, folder: Path) -> Any:  # noqa: ARG001
    return data.itertuples()


def lines(kind: str, data: pd.DataFrame, separator: str = " ") -> str:
    """Return the text of qrels or of a run in TREC format."""
    rows = data.itertuples(index=False)
    if kind == "qrels":
        fields = ((topic, "0", doc, f"{level}") for topic, doc, level in rows)
    else:
        fields = ((topic, "Q0", doc, "0", repr(float(score)), "tag") for topic, doc, score in rows)
    return "".join(separator.join(line) + "\n" for line in fields)


def _aligned(text: str) -> str:
    """Return fields in aligned columns, with leading blanks and blank last lines."""
    fields = map(str.split, text.splitlines())
    return "".join(f"  {''.join(f'{field:<22}' for field in line)}\n" for line in fields) + "\n\n"


def _file(name: str, change: Callable[[str], str | bytes]) -> Maker:
    def make(kind: str, data: pd.DataFrame, folder: Path) -> Path:
        content = change(lines(kind, data))
        place = folder / f"{kind}.{name}"
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        return place

    return make


def _name_of_file(kind: str, data: pd.DataFrame, folder: Path) -> str:
    return str(_file("named", str)(kind, data, folder))


def _ntcir(kind: str, data: pd.DataFrame, folder: Path) -> Path:
    """Return the text of qrels in NTCIR format; runs are in TREC format."""
    if kind == "run":
        return _file("ntcir", str)(kind, data, folder)
    place = folder / "qrels.ntcir"
    rows = data.itertuples(index=False)
    place.write_text("".join(f"{topic} {doc} L{level}\n" for topic, doc, level in rows))
    return place


def _parquet(kind: str, data: pd.DataFrame, folder: Path) -> Path:
    place = folder / f"{kind}.parquet"
    pl.from_pandas(data).write_parquet(place)
    return place


def _dataset(kind: str, data: pd.DataFrame, folder: Path) -> Any:
    place = LocalDownload(_file("dataset", str)(kind, data, folder))
    if kind == "run":
        return Dataset(TrecScoredDocs(place))
    return Dataset(TrecQrels(place, {0: "not", 1: "partly", 2: "fully"}))


def _dataset_id(kind: str, data: pd.DataFrame, folder: Path) -> str:
    name = f"ir-graded-recorder/{folder.name}-{kind}"
    if name not in ir_datasets.registry:
        ir_datasets.registry.register(name, _dataset(kind, data, folder))
    return name


def _tabs(text: str) -> str:
    return text.replace(" ", "\t")


#: Files. All levels and scores in TREC format are read back unchanged.
FILES: dict[str, Maker] = {
    "file": _file("txt", str),
    "name of a file": _name_of_file,
    "file with tabs": _file("tabs", _tabs),
    "file with CRLF": _file("crlf", lambda text: text.replace("\n", "\r\n")),
    "file in columns": _file("aligned", _aligned),
    "file with a byte order mark": _file("bom", lambda text: "\ufeff" + text),
    "gzip": _file("gz", lambda text: gzipped(text.encode(), 1)),
    "gzip with tabs": _file("tabs.gz", lambda text: gzipped(_tabs(text).encode(), 1)),
    "zstandard": _file("zst", lambda text: zstandard.compress(text.encode())),
    "xz": _file("xz", lambda text: lzma.compress(text.encode(), preset=0)),
    "NTCIR": _ntcir,
    "Parquet": _parquet,
}

#: Forms that ir_measures reads too.
COMMON: dict[str, Maker] = {
    "dicts": dicts,
    "named tuples": _tuples,
    "named tuples of ir_datasets": _tuples_of_datasets,
    "generator": _generator,
    "itertuples": _itertuples,
    "pandas": _pandas(),
    "pandas in disorder": _in_disorder,
    "pandas object": _pandas("object"),
    "pandas str": _pandas("str"),
    "pandas string[python]": _pandas("string[python]"),
    "pandas string[pyarrow]": _pandas("string[pyarrow]"),
    "pandas Arrow string": _pandas(pd.ArrowDtype(pa.string())),
    "pandas Arrow large_string": _pandas(pd.ArrowDtype(pa.large_string())),
    "pandas category": _pandas("category"),
    "pandas float32 values": _pandas(values="float32"),
    "pandas Float64 values": _pandas(values="Float64"),
    "pandas Arrow values": _pandas(values=pd.ArrowDtype(pa.float64())),
    "pandas object values": _pandas(values="object"),
}

#: Every form.
ALL: dict[str, Maker] = {
    **COMMON,
    "polars": _polars(),
    "polars categorical": _polars(query_id=pl.Categorical, doc_id=pl.Categorical),
    "Arrow": _arrow,
    "Arrow in chunks": _arrow_in_chunks,
    "Arrow reader": _arrow_reader,
    **FILES,
    "dataset": _dataset,
    "dataset id": _dataset_id,
}

#: Forms with integer ids; the frame holds them as ints.
WHOLE: dict[str, Maker] = {
    "dicts": dicts,
    "named tuples": _tuples,
    "pandas int64": _pandas("int64"),
    "pandas int32": _pandas("int32"),
    "pandas Int64": _pandas("Int64"),
    "pandas Arrow int64": _pandas(pd.ArrowDtype(pa.int64())),
    "pandas object": _pandas("object"),
    "pandas category": _pandas("category"),
    "polars": _polars(),
    "polars UInt16": _polars(query_id=pl.UInt16, doc_id=pl.UInt16),
    "Arrow": _arrow,
}
