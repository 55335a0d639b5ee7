"""Membership in groups added to qrels: ``with_groups`` in all forms, and bad input."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import TABLES
from intents.intent_cases import GROUP_LEVELS, GROUP_RUN, HINDEX
from packed import gzipped

import ir_graded
from ir_graded import GF
from ir_graded.errors import FileFormatError, InputError, ParameterError

MEASURE = GF(groups="HINDEX", divergence="RNOD", gains={2: 3}) @ 20
EXPECTED = 0.356074829085
RUN = {"1": {doc: float(-n) for n, doc in enumerate(GROUP_RUN)}}
QRELS = {"1": GROUP_LEVELS}
ROWS = [("1", doc, level) for doc, level in GROUP_LEVELS.items()]
FRAME = pd.DataFrame(ROWS, columns=["query_id", "doc_id", "relevance"])
LINES = "".join(f"1 {doc} {' '.join(map(str, shares))}\n" for doc, shares in HINDEX.items())


def score(qrels):
    return ir_graded.evaluate([MEASURE], qrels, RUN).values.item()


def written(tmp_path, text, name="hindex.txt"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_forms_of_membership_give_equal_scores(tmp_path):
    packed = tmp_path / "hindex.gz"
    packed.write_bytes(gzipped(LINES.encode()))
    wide = pd.DataFrame([("1", doc, *shares) for doc, shares in HINDEX.items()]).rename(
        columns={0: "query_id", 1: "doc_id"}
    )
    wide.columns = wide.columns.astype(str)
    for membership in (
        {"1": HINDEX},
        {1: {doc: np.array(shares) for doc, shares in HINDEX.items()}},
        written(tmp_path, LINES),
        str(written(tmp_path, LINES.replace(" ", "\t  ") + "\n")),
        packed,
        wide,
        pl.from_dict(wide.to_dict("list")),
        pl.from_dict(wide.to_dict("list")).to_arrow(),
    ):
        found = ir_graded.with_groups(QRELS, {"HINDEX": membership})
        assert score(found) == pytest.approx(EXPECTED, abs=1e-11)


@pytest.mark.parametrize("form", ["dict", "file", *TABLES])
def test_forms_of_qrels_give_equal_scores(form, tmp_path):
    file = written(tmp_path, "".join(f"1 0 {doc} {level}\n" for _, doc, level in ROWS), "qrels.txt")
    others = {"dict": {1: GROUP_LEVELS}, "file": file}
    qrels = others[form] if form in others else TABLES[form](FRAME, tmp_path / "qrels")
    found = ir_graded.with_groups(qrels, {"HINDEX": {"1": HINDEX}})
    assert score(found) == pytest.approx(EXPECTED, abs=1e-11)


VECTORS = [HINDEX[doc] for _, doc, _ in ROWS]
OF_FLOATS = FRAME.assign(HINDEX=[[*map(float, vector)] for vector in VECTORS])


@pytest.mark.parametrize("form", sorted(TABLES.keys() - {"csv", "tsv"}))
def test_columns_of_vectors_give_equal_scores(form, tmp_path):
    assert score(TABLES[form](OF_FLOATS, tmp_path / "qrels")) == pytest.approx(EXPECTED, abs=1e-11)


def test_vectors_of_any_type_give_equal_scores():
    in_arrays = pl.from_pandas(OF_FLOATS).with_columns(pl.col("HINDEX").cast(pl.Array(pl.Float64, 4)))
    others = [FRAME.assign(HINDEX=[*map(kind, VECTORS)]) for kind in (list, tuple, np.array)]
    for qrels in (in_arrays, *others):
        assert score(qrels) == pytest.approx(EXPECTED, abs=1e-11)


def test_several_attribute_sets_are_added_in_one_call():
    found = ir_graded.with_groups(QRELS, {"A": {"1": {"a": [1, 0]}}, "B": {"1": {"b": [0, 1]}}})
    assert found["A"].tolist() == [[1, 0], None, None, None]
    assert found["B"].tolist() == [None, [0, 1], None, None]


@pytest.mark.parametrize(
    ("membership", "message"),
    [
        ({"1": {"z": [1, 0]}}, "A: topic '1', document 'z' is not in the qrels"),
        ({"2": {"a": [1, 0]}}, "A: topic '2', document 'a' is not in the qrels"),
        ({"1": {"a": [1]}}, "document 'a': .* is not a sequence of 2 shares"),
        ({"1": {"a": [0.5, 0.4]}}, r"document 'a': the shares \[0.5, 0.4\] must be"),
        ({"1": {"a": [1, 0], "b": [1, 0, 0]}}, "'b': .* is not a sequence of 2 shares as for .*document 'a'"),
        ({"1": {"a": [math.nan, 1]}}, "document 'a'"),
        ({"1": {"a": 1}}, "document 'a': 1 is not a sequence"),
        (7, "A: cannot read 7; give a dict of dicts by topic and document"),
        ({"1": {"a": {0: 1, 1: 0}}}, "document 'a': {0: 1, 1: 0} is not a sequence"),
        ({"1": {"a": {0, 1}}}, "document 'a': {0, 1} is not a sequence"),
        (
            pd.DataFrame({"query_id": ["1", None], "doc_id": ["a", "b"], "p": 1, "q": 0}),
            "A: row 1 has no query_id",
        ),
        (
            pd.DataFrame([["1", "a", 1, 0]], columns=["query_id", "doc_id", "p", "p"]),
            "A: the table has several columns named p;",
        ),
        ({"1": [1, 0]}, "A: topic '1'.* dict"),
        (pd.DataFrame({"query_id": ["1"], "p": [1]}), "A: the table has no column doc_id"),
        (
            pd.DataFrame({"query_id": ["1"] * 2, "doc_id": ["a"] * 2, "p": [1, 0], "q": [0, 1]}),
            r"row 1\) is .*, but .* at row 0",
        ),
    ],
)
def test_wrong_membership_is_rejected(membership, message):
    with pytest.raises(InputError, match=message):
        ir_graded.with_groups(QRELS, {"A": membership})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 a 1 0\n1 b 1 x\n", "line 2: expected a line topic doc p1 ... pn"),
        ("1\n", "line 1: expected a line topic doc"),
    ],
)
def test_an_unreadable_line_is_named(tmp_path, text, message):
    with pytest.raises(FileFormatError, match=message):
        ir_graded.with_groups(QRELS, {"A": written(tmp_path, text)})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 a 1 0\n1 b 1 1\n", r"document 'b' \(.*hindex.txt, line 2\): the shares"),
        ("1 a 1 0\n\n1 z 1 0\n", r"document 'z' \(.*, line 3\) is not in the qrels"),
        (
            "1 a 1 0\n1 a 0 1\n",
            r"document 'a' \(.*, line 2\) is \[0.0, 1.0\], but \[1.0, 0.0\] at .*, line 1",
        ),
        ("1 a\n", r"document 'a' \(.*, line 1\): .* is not a sequence of 2 shares"),
    ],
)
def test_wrong_membership_in_a_file_is_named_by_line(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        ir_graded.with_groups(QRELS, {"A": written(tmp_path, text)})


def test_groups_that_are_not_a_dict_are_rejected():
    with pytest.raises(ParameterError, match=r"^groups='hindex.txt' must be a dict"):
        ir_graded.with_groups(QRELS, "hindex.txt")


@pytest.mark.parametrize("name", ["relevance", ""])
def test_a_reserved_name_is_rejected(name):
    with pytest.raises(ParameterError, match=f"groups.*{name!r}"):
        ir_graded.with_groups(QRELS, {name: {"1": HINDEX}})


def test_the_error_of_shares_names_their_sum():
    with pytest.raises(ir_graded.ParameterError, match=r"sum to 1 \(up to 0.001\); these sum to 1.1$"):
        ir_graded.GF(groups="G", target=[0.5, 0.6])
    with pytest.raises(ir_graded.ParameterError, match=r"these sum to 1.1$"):
        ir_graded.GFR(groups={"G": "JSD"}, targets={"G": [0.5, 0.6]})
    with pytest.raises(ir_graded.ParameterError, match=r"\(up to 0.001\)$"):
        ir_graded.GF(groups="G", target="x")
