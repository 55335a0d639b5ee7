"""Passage measures combined with measures of documents, over tables of every form that can hold passages."""

from collections import namedtuple

import helpers
import ir_datasets
import ir_measures
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from ir_datasets.datasets.base import Dataset
from ir_datasets.datasets.highwire import HighwireQrel, HighwireQrels
from ir_datasets.util import LocalDownload
from ir_measures import AP, RR, Judged, P, nDCG
from measures import measure_cases
from passages import passage_cases as cases
from reference import passages, ranked

import ir_graded
from ir_graded import GAP, AiP, MAgP, Passage2AP, Q, gP, gR, iP, nERR
from ir_graded.core.facets import SPAN
from ir_graded.measures import REGISTRY

# The best row of an article is first, last or between, and so is its level; rows of articles interleave.
QRELS = [
    ("101", "9", 1, 0, 30), ("101", "10", 2, 5, 10), ("101", "9", 3, 100, 50), ("101", "11", 0, 0, 0),
    ("101", "10", 1, 50, 5), ("102", "4", 2, 7, 7), ("101", "9", 2, 20, 20), ("101", "33", -1, 0, 50),
    ("102", "10", 1, 0, 1), ("103", "7", 0, 0, 0), ("104", "1", 2, 0, 10),
]  # fmt: skip
RUN = [
    ("101", "10", 3.0, 0, 20), ("101", "9", 1.0, 20, 100), ("101", "50", 2.0, 0, 10),
    ("101", "10", 7.25, 52, 10), ("102", "8", 4.0, 0, 10), ("101", "50", 9.5, 10, 0),
    ("101", "9", 7.25, 5, 5), ("102", "10", 0.25, 0, 4), ("101", "10", -4.0, 30, 3),
    ("101", "9", -5.0, 6, 20), ("102", "10", 8.0, 9, 2), ("102", "4", 1.5, 0, 9), ("102", "8", 0.5, 0, 2),
    ("103", "7", 1.0, 0, 5), ("999", "1", 4.0, 0, 9),
]  # fmt: skip
ROWS = {"qrels": QRELS, "run": RUN}

OURS = [MAgP, MAgP(beta=0.25) @ 2, gP @ 10, gR(rel=2) @ 2]
# Several providers of ir-measures, with measures of documents of this package.
DOCUMENTS = [Q, Q(beta=0), nERR @ 3, GAP, AP, nDCG @ 10, P @ 2, RR @ 10, Judged @ 3]
ALL = [*OURS, *DOCUMENTS]
OF_PASSAGES = [measure for measure in dict.fromkeys(REGISTRY.values()) if SPAN in measure.NEEDS]
#: Rows of the run overlap; PassageAP depends on the order of the qrels.
REGISTERED = [
    *(measure @ 3 for measure in OF_PASSAGES if "cutoff" in measure.SUPPORTED_PARAMS),
    *(iP(overlap="retrieved") @ 0.2, AiP(overlap="retrieved"), Passage2AP),
]


@pytest.fixture(scope="module")
def expected():
    """Return reference scores of passage measures, and document scores from tables of one row per article."""
    found = {str(m): passages.evaluate(m.NAME, dict(m.params), QRELS, RUN) for m in OURS}
    articles = [cases.one_row_an_article(kind, ROWS[kind]) for kind in ROWS]
    return found | cases.scores(DOCUMENTS, *articles)


def agrees(found, expected):
    assert found.keys() <= expected.keys()
    for measure, by_topic in found.items():
        measure_cases.assert_same_scores(by_topic, expected[measure])


def frames():
    return [cases.frame(kind, ROWS[kind]) for kind in ROWS]


# -------------------------------------------------------------------------------------- in one call


def test_the_expected_values_equal_those_by_hand(expected):
    """Compare topic 101 with the values by hand: articles 50, 9, 10 by their best rows (9 and 10 tie)."""
    assert ranked.ranking({"10": 7.25, "50": 9.5, "9": 7.25}) == ["50", "9", "10"]
    assert expected["AP"]["101"] == pytest.approx((1 / 2 + 2 / 3) / 2, abs=1e-12)
    assert expected["gR(rel=2)@2"]["101"] == 0.5
    # Article 9: [5, 120) of [0, 40) and [100, 150); 10: [0, 20), [30, 33), [52, 62) of [5, 15) and [50, 55).
    f9, f10 = 2 * 55 / (90 + 115), 2 * 13 / (15 + 33)
    assert expected["MAgP"]["101"] == pytest.approx((f9 / 2 + (f9 + f10) / 3) / 2, abs=1e-12)
    # 102: articles 10, 8, 4, which the first rows and the last rows would rank differently.
    assert expected["AP"]["102"] == pytest.approx((1 + 2 / 3) / 2, abs=1e-12)
    # Q(beta=0) equals AP; all others differ.
    assert len({tuple(by_topic.items()) for by_topic in expected.values()}) == len(expected) - 1


def test_one_call_scores_passages_and_documents(expected):
    asked = ["MAgP", "gP@10", "Q", nDCG @ 10, AP]
    found = cases.scores(asked, *frames())
    assert list(found) == ["MAgP", "gP@10", "Q", "nDCG@10", "AP"]
    agrees(found, expected)
    agrees(cases.scores(ALL, *frames()), expected)
    agrees(cases.scores(reversed(ALL), *frames()), expected)


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_evaluate_gives_the_scores_of_ir_measures(expected):
    qrels, run = frames()
    scored = ir_graded.evaluate([*map(str, OURS), *DOCUMENTS], qrels, {"one": run, "none": run[:0]})
    for name, by_topic in expected.items():
        matrix = scored.matrix(name)
        measure_cases.assert_same_scores(matrix["one"].to_dict(), by_topic)
        assert not matrix["none"].any()


@pytest.mark.slow
@cases.by_document
@pytest.mark.filterwarnings(measure_cases.CLOSE_SCORES)
@measure_cases.examples(40)
@given(qrels=cases.qrels(levels=(-1, 0, 1, 2, 3)), run=cases.runs())
def test_measures_of_documents_get_one_row_per_article(qrels, run):
    """The row has the largest score and the largest level, for this package and for others, in any tables."""
    articles = [cases.one_row_an_article("qrels", qrels), cases.one_row_an_article("run", run)]
    measures = [Q, nERR @ 3, AP, nDCG @ 10]
    expected = cases.scores(measures, *articles)
    tables = cases.frame("qrels", qrels), cases.frame("run", run)
    found = cases.scores([MAgP, *measures], *tables)
    assert found.pop("MAgP").keys() == expected["AP"].keys()
    assert found == expected


def test_measures_of_documents_take_passages_on_one_side(expected):
    """A dict of dicts, which cannot hold passages, can be combined with a table that does."""
    qrels, run = frames()
    dicts = {kind: {} for kind in ROWS}
    for kind, rows in ROWS.items():
        for topic, doc_id, value in cases.one_row_an_article(kind, rows).itertuples(index=False):
            dicts[kind].setdefault(topic, {})[doc_id] = value
    agrees(cases.scores(DOCUMENTS, dicts["qrels"], run), expected)
    agrees(cases.scores(DOCUMENTS, qrels, dicts["run"]), expected)
    documents = cases.one_row_an_article("run", RUN)
    agrees(cases.scores(DOCUMENTS, qrels, documents), expected)


# -------------------------------------------------------------------------------------- needed columns


@pytest.mark.parametrize("measure", [MAgP, MAgP(beta=2), gP @ 10, gR @ 5], ids=str)
def test_passage_measures_require_start_and_length(measure):
    for measures in ([measure], [Q, measure], [measure, AP], [nDCG @ 10, measure, Judged @ 10]):
        assert set(ir_measures.run_inputs(measures)) == {"query_id", "doc_id", "score", "start", "length"}
        assert set(ir_measures.qrel_inputs(measures)) == {
            "query_id", "doc_id", "relevance", "start", "length",
        }  # fmt: skip


@pytest.mark.parametrize("measures", [[Q], [AP], [Q, AP], DOCUMENTS], ids=str)
def test_other_measures_do_not_require_start_and_length(measures):
    assert set(ir_measures.run_inputs(measures)) == {"query_id", "doc_id", "score"}
    assert set(ir_measures.qrel_inputs(measures)) == {"query_id", "doc_id", "relevance"}


# -------------------------------------------------------------------------------------------- the forms

Row = {
    "qrels": namedtuple("PassageQrel", cases.names("qrels")),
    "run": namedtuple("Passage", cases.names("run")),
}
MoreFields = namedtuple("MoreFields", "rank length text doc_id score query_id start")


def tuples(kind, rows):
    return [Row[kind](*row) for row in rows]


def generator(kind, rows):
    return (Row[kind](*row) for row in rows)


def more_fields(kind, rows):
    if kind == "qrels":
        return [HighwireQrel(topic, doc, start, length, value) for topic, doc, value, start, length in rows]
    return [MoreFields(0, length, "text", doc, value, t, start) for t, doc, value, start, length in rows]


def pandas(**dtypes):
    return lambda kind, rows: cases.frame(kind, rows).astype(dtypes)


def pandas_in_disorder(kind, rows):
    return helpers.frame_in_disorder(cases.frame(kind, measure_cases.shuffled(rows, 3)))


def polars(**dtypes):
    return lambda kind, rows: pl.DataFrame(helpers.columns(kind, rows)).cast(dtypes)


FORMS = {
    "pandas": pandas(),
    "pandas in disorder": pandas_in_disorder,
    "pandas int16 spans": pandas(start="int16", length="int16"),
    "pandas uint8 spans": pandas(start="uint8", length="uint8"),
    "pandas Int64 spans": pandas(start="Int64", length="Int64"),
    "pandas float spans": pandas(start="float64", length="float32"),
    "pandas object spans": pandas(start="object", length="object"),
    "pandas Arrow spans": pandas(start=pd.ArrowDtype(pa.int32()), length=pd.ArrowDtype(pa.int64())),
    "pandas categorical ids": pandas(query_id="category", doc_id="category"),
    "pandas object ids": pandas(query_id="object", doc_id="object"),
    "polars": polars(),
    "polars UInt16 spans": polars(start=pl.UInt16, length=pl.UInt16),
    "polars categorical ids": polars(query_id=pl.Categorical, doc_id=pl.Categorical),
    "polars objects": helpers.polars_of_objects,
    "arrow": helpers.arrow,
    "arrow in chunks": helpers.arrow_in_chunks,
    "tuples": tuples,
    "generator": generator,
    "tuples with more fields": more_fields,
    "itertuples": lambda kind, rows: cases.frame(kind, rows).itertuples(),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_equal_scores(form, expected):
    """One form for both sides, and each side with pandas; with and without measures of other providers."""
    make = FORMS[form]
    pandas_qrels, pandas_run = frames()
    for measures in (OURS, ALL):
        agrees(cases.scores(measures, make("qrels", QRELS), make("run", RUN)), expected)
        agrees(cases.scores(measures, make("qrels", QRELS), pandas_run), expected)
        agrees(cases.scores(measures, pandas_qrels, make("run", RUN)), expected)
    # This is independent of other registered measures.
    registered = cases.scores(REGISTERED, pandas_qrels, pandas_run)
    assert cases.scores(REGISTERED, make("qrels", QRELS), make("run", RUN)) == registered


# ---------------------------------------------------------------------------------- qrels of ir_datasets

LEVELS = {0: "NOT", 1: "POSSIBLY", 2: "DEFINITELY"}


@pytest.fixture
def highwire(tmp_path):
    """Qrels in the format of TREC Genomics 2006, as read by ir_datasets."""
    rows = [row for row in QRELS if row[2] in LEVELS]
    place = tmp_path / "qrels.tsv"
    lines = [f"{topic}\t{doc}\t{start}\t{n}\t{LEVELS[level]}\n" for topic, doc, level, start, n in rows]
    place.write_text("# topic pmid start length judgment\n" + "".join(lines), encoding="utf-8")
    return HighwireQrels(LocalDownload(place), LEVELS), rows


def test_qrels_of_highwire_are_scored(highwire):
    qrels, rows = highwire
    of_passages = {
        str(m): passages.evaluate(m.NAME, dict(m.params), rows, RUN) for m in (MAgP, MAgP(beta=0.25) @ 2)
    }
    assert of_passages["MAgP"]["101"] > 0
    run = cases.frame("run", RUN)
    listed = list(qrels.qrels_iter())
    assert set(map(type, listed)) == {HighwireQrel}
    for given_qrels in (listed, qrels.qrels_iter(), Dataset(qrels)):
        found = cases.scores([MAgP, MAgP(beta=0.25) @ 2, Q], given_qrels, run)
        found.pop("Q")
        agrees(found, of_passages)
    reduced = [cases.one_row_an_article(kind, of) for kind, of in (("qrels", rows), ("run", RUN))]
    documents = cases.scores([Q, AP, nDCG @ 10], *reduced)
    agrees(cases.scores([Q, AP, nDCG @ 10, MAgP], qrels.qrels_iter(), run), documents | of_passages)


def test_a_dataset_with_passages_is_read_by_its_id(highwire):
    qrels, rows = highwire
    name = f"ir-graded-tests/passages-{id(qrels)}"
    ir_datasets.registry.register(name, Dataset(qrels))
    run = cases.frame("run", RUN)
    expected = cases.scores([MAgP, Q], cases.frame("qrels", rows), run)
    assert cases.scores([MAgP, Q], name, run) == expected
    assert cases.scores([MAgP, Q], ir_datasets.load(name), run) == expected
    table = ir_graded.read_qrels(name)
    assert table[cases.names("qrels")].values.tolist() == [list(row) for row in rows]


# ---------------------------------------------------------------------------------------- evaluators
