"""Qrels and run in every form that the package reads, as the tests of all forms make them."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import helpers
import pandas as pd
import polars as pl
import pyarrow as pa
import zstandard
from ecosystem import forms
from packed import gzipped

#: A function that makes a form from 'qrels' or 'run', a pandas frame with ir_measures' columns, and a folder.
Maker = Callable[[str, pd.DataFrame, Path], Any]


def frame(kind: str, nested: dict[str, dict[str, float]]) -> pd.DataFrame:
    """Return a dict of dicts as a frame."""
    return helpers.frame(kind, helpers.rows_of(nested))


def _of(make: Callable[..., Any]) -> Maker:
    """Make a form from a frame in place of rows."""
    return lambda kind, data, folder: make(kind, [*data.itertuples(index=False, name=None)], folder)


def _file(pack: Callable[[bytes], bytes]) -> Maker:
    """A file in TREC format, of which all levels and scores are read back unchanged."""
    return _of(forms.written(lambda kind, rows: pack(helpers.trec_lines(kind, rows).encode()), "{}.txt"))


def _aligned(text: bytes) -> bytes:
    """Return fields in aligned columns, with leading blanks and blank last lines."""
    fields = map(bytes.split, text.splitlines())
    return b"".join(b"  %s\n" % b"".join(b"%-22s" % field for field in line) for line in fields) + b"\n\n"


def _tabs(text: bytes) -> bytes:
    return text.replace(b" ", b"\t")


def _ntcir(kind: str, rows: list[Any], folder: Path) -> Path:
    """Qrels in NTCIR format; runs are in TREC format."""
    return (forms.path if kind == "run" else forms.lines("{} {} L{}"))(kind, rows, folder)


dicts = _of(forms.dicts)

FILES: dict[str, Maker] = {
    "file": _file(bytes),
    "name of a file": _of(forms.FORMS["name of a file"].make),
    "file with tabs": _file(_tabs),
    "file with CRLF": _file(lambda text: text.replace(b"\n", b"\r\n")),
    "file in columns": _file(_aligned),
    "file with a byte order mark": _file(b"\xef\xbb\xbf".__add__),
    "gzip": _file(gzipped),
    "gzip with tabs": _file(lambda text: gzipped(_tabs(text))),
    "zstandard": _file(zstandard.compress),
    "xz": _file(lzma.compress),
    "NTCIR": _of(_ntcir),
    "Parquet": _of(forms.FORMS["Parquet"].make),
}

_WHOLE = ("int64", "int32", "Int64", "object", "category")
_TEXTS = ("object", "str", "string[python]", "string[pyarrow]", "category")
_VALUES = {
    "float32": "float32",
    "Float64": "Float64",
    "Arrow": pd.ArrowDtype(pa.float64()),
    "object": "object",
}

#: Forms that ir_measures reads too.
COMMON: dict[str, Maker] = {
    "dicts": dicts,
    "named tuples": _of(forms.tuples),
    "named tuples of ir_datasets": _of(forms.datasets_tuples),
    "generator": _of(forms.generator),
    "itertuples": _of(lambda *given: forms.pandas()(*given).itertuples()),
    "pandas": _of(forms.pandas()),
    "pandas in disorder": _of(forms.pandas_in_disorder),
    **{f"pandas {name}": _of(forms.pandas(name)) for name in _TEXTS},
    "pandas Arrow string": _of(forms.pandas(pd.ArrowDtype(pa.string()))),
    "pandas Arrow large_string": _of(forms.pandas(pd.ArrowDtype(pa.large_string()))),
    **{f"pandas {name} values": _of(forms.pandas(values=dtype)) for name, dtype in _VALUES.items()},
}

#: Every form.
ALL: dict[str, Maker] = {
    **COMMON,
    "polars": _of(forms.polars()),
    "polars categorical": _of(forms.polars(query_id=pl.Categorical, doc_id=pl.Categorical)),
    "Arrow": _of(forms.arrow),
    "Arrow in chunks": _of(forms.arrow_in_chunks),
    "Arrow reader": _of(forms.FORMS["arrow reader"].make),
    **FILES,
    "dataset": _of(forms.dataset),
    "dataset id": _of(forms.dataset_id),
}

#: Forms with integer ids; the frame holds them as ints.
WHOLE: dict[str, Maker] = {
    "dicts": dicts,
    "named tuples": _of(forms.tuples),
    **{
        f"pandas {name}": _of(forms.pandas(name))
        for name in ("int64", "int32", "Int64", "object", "category")
    },
    "pandas Arrow int64": _of(forms.pandas(pd.ArrowDtype(pa.int64()))),
    "polars": _of(forms.polars()),
    "polars UInt16": _of(forms.polars(query_id=pl.UInt16, doc_id=pl.UInt16)),
    "Arrow": _of(forms.arrow),
}
