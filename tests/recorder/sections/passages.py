"""Passages: scores over spans, strips of articles, and submissions in XML."""

from __future__ import annotations

from typing import Any

import ir_measures
import pandas as pd
import polars as pl

import ir_graded
from tests.collections_data import ROOT

from .. import draws, spread
from ..recorder import Recorder, section

#: Measures over documents, which get one row per article.
_DOCUMENTS = ("Q", "P-measure", "nERR@5", "AP", "nDCG@10", "NumRet")

_SUBMISSION = """<inex-submission participant-id="1" run-id="r" task="RelevantInContext">
<topic topic-id="289">
<result><file>12</file><path>/article[1]/body[1]/p[1]</path></result>
<result><file>12</file><path>/article[1]/body[1]/p[3]/text()[1]</path></result>
<result><file>7</file><path>/article[1]</path></result>
</topic>
<topic topic-id="290"><result><file>7</file><path>/article/name[1]</path></result></topic>
</inex-submission>"""
_ARTICLES = {
    "12": "<article><name>Über</name><!-- no text --><body>one <p>a<b>b&amp;b</b>c</p><p/><p>d é</p></body>"
    "</article>",
    "7": "<article><name>Seven</name><body>eight<?page 3?> nine</body></article>",
}


def _measures() -> list[Any]:
    return list(dict.fromkeys([*spread.single(passages=True), *spread.combined(passages=True), *_DOCUMENTS]))


def passage_frame(kind: str, rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    """Return rows of passages as a frame."""
    value = {"qrels": "relevance", "run": "score"}[kind]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", value, "start", "length"])


@section("passages", "random collections of passages, and strips of their articles", quick=True)
def _passages(out: Recorder) -> None:
    for number in range(40 if out.quick else 400):
        name, *rows = draws.passages(number)
        qrels, run = (passage_frame(kind, of) for kind, of in zip(("qrels", "run"), rows, strict=True))
        forms = {
            0: (qrels, run),
            1: (pl.from_pandas(qrels), pl.from_pandas(run)),
            2: (list(qrels.itertuples()), list(run.itertuples())),
        }
        out.evaluate(name, _measures(), *forms[number % 3])
        if number % 4 == 0:
            _strips(out, name, qrels, run)
        if set(qrels["relevance"]) == {0, 1} and number % 5 == 0:  # levels that pytrec_eval can read
            out.metrics(f"ir_measures, {name}", ir_measures.iter_calc(["MAgP", "gP@3", "Q", "AP"], *forms[0]))


def _strips(out: Recorder, name: str, qrels: pd.DataFrame, run: pd.DataFrame) -> None:
    topic = qrels["query_id"].iloc[0]
    both = pd.concat([qrels, run])
    for article in sorted({*both.loc[both["query_id"] == topic, "doc_id"]}):
        for params in ({}, {"rel": 2, "beta": 0.5}):
            strip = ir_graded.passages.show(qrels, run, topic, article, **params)
            out.result("show", f"{name}, {article}, {params}", strip)
            out.text("print of show", f"{name}, {article}, {params}", str(strip))
            out.text("picture of show", f"{name}, {article}, {params}", strip._repr_html_())


@section("submissions", "INEX submissions in XML as frames")
def _submissions(out: Recorder) -> None:
    with out.errors("read_submission", "lxml"):
        path, folder = out.folder / "run.xml", out.folder / "articles"
        path.write_text(_SUBMISSION, encoding="utf-8")
        folder.mkdir()
        for name, text in _ARTICLES.items():
            (folder / f"{name}.xml").write_text(text, encoding="utf-8")
        out.result("read_submission", "a folder", ir_graded.passages.read_submission(path, folder))
        of_name = {name: text.encode() for name, text in _ARTICLES.items()}.__getitem__
        out.result("read_submission", "a function", ir_graded.passages.read_submission(path, of_name))


@section("inex", "INEX 2009 and 2010: qrels and a run in FOL", needs="inex")
def _inex(out: Recorder) -> None:
    folder = ROOT / "inex"
    _evaluated_and_read(out, "FOL", folder / "INEX_Qrels.txt", folder / "ric.run")


@section("genomics", "TREC Genomics 2007: gold standard and a run, as published and in FOL", needs="genomics")
def _genomics(out: Recorder) -> None:
    folder = ROOT / "genomics"
    _evaluated_and_read(out, "as published", folder / "gold07.txt", folder / "york01.txt")
    _evaluated_and_read(out, "FOL", folder / "gold07.fol", folder / "york01.fol")


def _evaluated_and_read(out: Recorder, name: str, qrels: Any, run: Any) -> None:
    out.evaluate(name, _measures(), qrels, run)
    judged, ranked = ir_graded.read_qrels(qrels), ir_graded.read_run(run)
    out.result("read_qrels", name, judged)
    out.result("read_run", name, ranked)
    of_qrels, of_run = (frame[["query_id", "doc_id"]].drop_duplicates() for frame in (judged, ranked))
    for topic, article in of_qrels.merge(of_run).iloc[::100].itertuples(index=False):
        strip = ir_graded.passages.show(judged, ranked, topic, article)
        out.result("show", f"{name}, {topic}, {article}", strip)
