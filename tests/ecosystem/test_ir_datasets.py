"""Datasets of ir_datasets as qrels and as runs: local ones; nothing is ever downloaded."""

from __future__ import annotations

import re
import socket
import zipfile

import ir_datasets
import ir_measures
import pandas as pd
import pytest
import requests
from helpers import TABLES
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import BaseQrels, TrecQrels, TrecScoredDocs, TsvQueries
from ir_datasets.formats.trec import TrecPrels
from ir_datasets.util import Download, LocalDownload
from ir_measures import AP, nDCG

import ir_graded
from ecosystem import forms
from ir_graded import InputError, SampledJudgmentsWarning, evaluate

QRELS, RUN = forms.dicts("qrels", forms.QRELS), forms.dicts("run", forms.RUN)
MEASURES = ["Q", "P-measure@1000", "nERR@3", AP, nDCG @ 10]
DEFINITIONS = {0: "not relevant", 2: "highly\n      relevant ", 1: "relevant", -1: "spam"}


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Fail if a connection is opened or a download starts."""

    def fail(*args, **_):
        raise AssertionError(f"the network was asked for: {args}")

    monkeypatch.setattr(socket.socket, "connect", fail)
    monkeypatch.setattr(socket, "create_connection", fail)
    monkeypatch.setattr(socket, "getaddrinfo", fail)
    monkeypatch.setattr(Download, "stream", fail)
    monkeypatch.setattr(Download, "path", fail)


@pytest.fixture
def register(monkeypatch):
    """Register a dataset under a name during one test and return the name."""
    monkeypatch.setattr(ir_datasets.registry, "_registered", dict(ir_datasets.registry._registered))

    def call(*parts, name="ir-graded-tests/here"):
        ir_datasets.registry.register(name, Dataset(*parts))
        return name

    return call


@pytest.fixture
def whole(register, tmp_path):
    """Id of a dataset with qrels, their definitions and scoreddocs."""
    qrels, run = forms.path("qrels", forms.QRELS, tmp_path), forms.path("run", forms.RUN, tmp_path)
    return register(TrecQrels(LocalDownload(qrels), DEFINITIONS), TrecScoredDocs(LocalDownload(run)))


@pytest.fixture
def without_qrels(register, tmp_path):
    """Id of a dataset with queries only."""
    queries = tmp_path / "queries.tsv"
    queries.write_text("101\tone\n", encoding="utf-8")
    return register(TsvQueries(LocalDownload(queries)), name="ir-graded-tests/queries-only")


def scored(qrels):
    return evaluate("Q", qrels, RUN)


def results(qrels, run):
    return forms.results(MEASURES, qrels, run)[0]


def test_iterators_of_a_dataset_are_scored(whole):
    dataset = ir_datasets.load(whole)
    assert results(dataset.qrels_iter(), dataset.scoreddocs_iter()) == results(QRELS, RUN)
    assert results(dataset.qrels, dataset.scoreddocs) == results(QRELS, RUN)


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_a_dataset_made_from_files_is_scored(tmp_path):
    made = ir_datasets.create_dataset(qrels_trec=str(forms.path("qrels", forms.QRELS, tmp_path)))
    assert results(made, RUN) == results(QRELS, RUN)
    assert evaluate("Q", made, RUN).query_ids == tuple(QRELS)
    assert ir_graded.level_definitions(made) == {}
    with pytest.raises(InputError, match="no scoreddocs"):
        ir_measures.calc(["Q"], QRELS, made)


# ------------------------------------------------------------------------------ sampled judgments

PRELS = "101 a 2 1 0.25\n101 b 0 0 1.0\n102 c 1 1 0.5\n"
SAMPLED = (
    r"^2 of 3 judgments have an inclusion probability below 1\. .* the sample as if it were complete\. Use"
)
OF_SAMPLE = {"101": {"a": 2.0, "b": 1.0}, "102": {"x": 2.0, "c": 1.0}}


@pytest.fixture
def sample(register, tmp_path):
    """Id of a dataset with sampled judgments."""
    (tmp_path / "prels").write_text(PRELS, encoding="utf-8")
    return register(TrecPrels(LocalDownload(tmp_path / "prels"), {}), name="ir-graded-tests/sample")


def forms_of(sample, folder):
    """Yield sampled judgments in each form that holds inclusion probabilities."""
    yield sample
    yield ir_datasets.load(sample)
    rows = list(ir_datasets.load(sample).qrels_iter())
    yield from (rows, iter(rows))
    yield from (make(pd.DataFrame(rows), folder / name) for name, make in TABLES.items())
    with pytest.warns(SampledJudgmentsWarning, match=SAMPLED):
        kept = ir_graded.read_qrels(sample)
    assert kept["iprob"].tolist() == [0.25, 1.0, 0.5]
    yield kept


@pytest.mark.slow
def test_sampled_judgments_give_one_warning_and_the_values_of_before(sample, tmp_path):
    complete = {"101": {"a": 2, "b": 0}, "102": {"c": 1}}
    expected = evaluate(["Q", AP], complete, OF_SAMPLE).values.tolist()
    for qrels in forms_of(sample, tmp_path):
        with pytest.warns(SampledJudgmentsWarning, match=SAMPLED) as caught:
            found = evaluate(["Q", AP], qrels, OF_SAMPLE)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert found.values.tolist() == expected
        assert len(found.coverage) == 1


def test_every_entry_warns_of_sampled_judgments(sample, tmp_path):
    calls = [
        lambda: ir_measures.calc(["Q", AP], sample, OF_SAMPLE),
        lambda: ir_measures.evaluator(["Q"], ir_datasets.load(sample).qrels_iter()),
        lambda: ir_graded.explain("Q", sample, OF_SAMPLE, "101"),
        lambda: ir_graded.score_bounds("P@2", sample, OF_SAMPLE),
        lambda: ir_graded.report(["Q"], sample, OF_SAMPLE, tmp_path / "r.html"),
        lambda: evaluate(["infAP"], sample, OF_SAMPLE),
    ]
    for call in calls:
        with pytest.warns(SampledJudgmentsWarning, match=SAMPLED) as caught:
            call()
        assert [one.category for one in caught].count(SampledJudgmentsWarning) == 1
    assert issubclass(SampledJudgmentsWarning, ir_graded.CoverageWarning)


@pytest.mark.filterwarnings("error")
def test_judgments_that_were_all_certain_are_complete(sample):
    rows = [row._replace(iprob=1.0) for row in ir_datasets.load(sample).qrels_iter()]
    assert evaluate("Q", rows, OF_SAMPLE).values.shape == (1, 1, 2)


@pytest.mark.parametrize(
    ("iprob", "problem"), [(0, "is 0; it must be above 0 and at most 1"), (1.5, "is 1.5"), (-1, "is -1")]
)
def test_an_impossible_inclusion_probability_is_an_error(sample, iprob, problem):
    rows = list(ir_datasets.load(sample).qrels_iter())
    rows[1] = rows[1]._replace(iprob=iprob)
    message = rf"document 'b' \(item 1\): the inclusion probability \(iprob\) {problem}"
    with pytest.raises(InputError, match=message):
        scored(rows)


def test_level_definitions_are_read_from_a_dataset(whole):
    expected = {2: "highly relevant", 1: "relevant", 0: "not relevant", -1: "spam"}
    for source in (whole, ir_datasets.load(whole)):
        assert ir_graded.level_definitions(source) == expected
        assert list(ir_graded.level_definitions(source)) == [2, 1, 0, -1]


@pytest.mark.parametrize("name", ["msmarco-passage/trec-dl-2019/judged", "cord19/trec-covid", "antique/test"])
def test_level_definitions_of_known_datasets_need_no_download(name, monkeypatch, tmp_path):
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path))
    definitions = ir_graded.level_definitions(name)
    assert len(definitions) >= 3
    assert list(definitions) == sorted(definitions, reverse=True)
    assert all(text == " ".join(text.split()) for text in definitions.values())


def test_rows_unlike_trec_are_read(register):
    """Rows with further fields, and levels that are not ints."""

    class Rows(BaseQrels):
        def qrels_iter(self):
            from typing import NamedTuple

            class Row(NamedTuple):
                query_id: str
                note: str
                doc_id: str
                relevance: float

            for topic, doc, level in forms.QRELS:
                yield Row(topic, "any", doc, float(level))

        def qrels_defs(self):
            return {}

    assert results(register(Rows()), RUN) == results(QRELS, RUN)


UNKNOWN = "no-such-dataset"


#: Functions that read qrels or a run, by what a dataset must have for them.
READERS = {
    "qrels": [
        lambda name: ir_measures.calc(["Q"], name, RUN),
        lambda name: ir_measures.calc(["Q", AP], name, RUN),
        scored,
        ir_graded.level_definitions,
        ir_graded.read_qrels,
    ],
    "scoreddocs": [
        lambda name: ir_measures.calc(["Q"], QRELS, name),
        lambda name: ir_measures.calc(["Q", AP], QRELS, name),
        lambda name: evaluate("Q", QRELS, name),
        lambda name: evaluate("Q", QRELS, {"run": name}),
        ir_graded.read_run,
    ],
}


@pytest.mark.parametrize("call", [*READERS["qrels"], *READERS["scoreddocs"]])
def test_an_unknown_dataset_id_is_rejected(call):
    with pytest.raises(InputError, match=f"{UNKNOWN}.*file"):
        call(UNKNOWN)


def test_an_unknown_id_that_looks_like_a_path_may_be_a_file():
    name = f"{UNKNOWN}/at-all"
    for call in (ir_graded.read_qrels, ir_graded.read_run, lambda name: evaluate("Q", name, RUN)):
        message = "No such file or directory, and no dataset of ir_datasets"
        with pytest.raises(FileNotFoundError, match=message):
            call(name)
    with pytest.raises(InputError, match=name):  # which is called only for datasets
        ir_graded.level_definitions(name)


def test_a_dataset_without_qrels_or_scoreddocs_is_rejected(without_qrels):
    for source in (without_qrels, ir_datasets.load(without_qrels)):
        for missing, calls in READERS.items():
            for call in calls:
                with pytest.raises(InputError, match=rf"ir-graded-tests/queries-only.* no {missing}"):
                    call(source)


def test_a_file_has_priority_over_a_dataset_of_equal_name(register, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = forms.path("qrels", forms.QRELS, tmp_path)
    register(TrecQrels(LocalDownload(forms.path("qrels", [("9", "z", 1)], tmp_path)), {}), name=place.name)
    assert results(place.name, RUN) == results(QRELS, RUN)


@pytest.mark.parametrize("kind", [RuntimeError, requests.exceptions.HTTPError, zipfile.BadZipFile, Exception])
def test_a_failed_download_raises_an_error_of_this_package(kind, monkeypatch, tmp_path):
    """The error of ir_datasets for a wrong checksum derives from Exception alone."""
    name, error = "antique/test", kind("All download sources failed")

    def fail(*_, **__):
        raise error

    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path))
    monkeypatch.setattr(Download, "stream", fail)
    monkeypatch.setattr(Download, "path", fail)
    problem = rf"^dataset '{name}' cannot be downloaded: .*\({type(error).__name__}\)$"
    for call in (ir_graded.read_qrels, scored, lambda source: ir_measures.calc(["Q", AP], source, RUN)):
        with pytest.raises(OSError, match=problem) as caught:
            call(name)
        assert caught.value.__cause__ is error


def test_a_failed_load_raises_an_error_of_this_package(monkeypatch):
    """Some ids must be downloaded before they are known."""

    def fail(name, _):
        raise OSError(f"no network for {name}")

    monkeypatch.setattr(ir_datasets.registry, "_patterns", [(re.compile("^far/(.*)$"), fail)])
    for call in (ir_graded.read_qrels, ir_graded.level_definitions, lambda name: evaluate("Q", name, RUN)):
        message = r"^dataset 'far/away' cannot be downloaded: 'no network for far/away'"
        with pytest.raises(OSError, match=message):
            call("far/away")


def test_errors_in_rows_name_topic_and_document(register, tmp_path):
    rows = [*forms.QRELS, ("101", "9", 1)]
    qrels = register(TrecQrels(LocalDownload(forms.path("qrels", rows, tmp_path)), {}), name="a")
    run = [*forms.RUN, ("101", "9", 1.0)]
    run = register(TrecScoredDocs(LocalDownload(forms.path("run", run, tmp_path))), name="b")
    message = r"topic '101', document '9' has level 3 at item 0 and level 1 at item 12"
    with pytest.raises(InputError, match=message):
        ir_measures.calc(["Q"], qrels, RUN)
    words = r"topic '101', document '9' appears twice, at item 2 and at item 14"
    with pytest.raises(InputError, match=words):
        ir_measures.calc(["Q"], QRELS, run)
