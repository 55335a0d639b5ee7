"""PyTerrier experiments with measures of this package. No test here needs Java."""

import json
import pickle
import warnings
from functools import cache
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyterrier as pt
import pytest
from ir_measures import AP, P
from scipy import stats

import ir_graded
from ecosystem.processes import python
from ir_graded import InputError, Q, evaluate, nERR
from ir_graded.io.experiments import is_pipeline
from ir_graded.io.sources import named_runs
from ir_graded.measures import REGISTRY, pyterrier_notes

TOPICS = pd.DataFrame({"qid": ["1", "2", "3", "4"], "query": ["one", "two", "three", "four"]})
QRELS = pd.DataFrame(
    [
        ("1", "a", 2), ("1", "b", 1), ("1", "c", 3), ("2", "c", 1), ("2", "d", 0), ("3", "a", 3),
        ("3", "e", 1), ("4", "f", 1), ("4", "a", 1),
    ],
    columns=["qid", "docno", "label"],
)  # fmt: skip
FIRST = {"1": "xabyc", "2": "dc", "3": "aex", "4": "xyf"}
SECOND = {"1": "cba", "2": "xyc", "3": "xe", "4": "af"}


def ranked(run):
    """Return a frame in PyTerrier's format from a string of documents for each topic."""
    rows = [(t, doc, float(len(docs) - at), at) for t, docs in run.items() for at, doc in enumerate(docs)]
    return pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"])


ASKED = ["P-measure@1000", "map", "P_10", Q @ 10, "NCU(stop='rb')@10", nERR(max_rel=3) @ 10, "nDCG@10"]
COLUMNS = ["P-measure@1000", "map", "P_10", "Q@10", "NCU(stop='rb')@10", "nERR(max_rel=3)@10", "nDCG@10"]
MEASURES = [*ir_graded.measures.parsing.read_measures(["P-measure@1000"]), AP, P @ 10, *ASKED[3:]]


#: A measure that others define.
OTHERS = ir_measures.define_byquery(lambda _, run: float(len(run)), name="Length")


def systems():
    return [pt.Transformer.from_df(ranked(run)) for run in (FIRST, SECOND)]


def experiment(**options):
    given = {"retr_systems": systems(), "eval_metrics": ASKED, "names": ["first", "second"]} | options
    return pt.Experiment(topics=TOPICS, qrels=QRELS, **given)


def values(run):
    """Return the values of ir_measures.calc for a run: (column of the measure, topic) -> value."""
    qrels = QRELS.rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})
    frame = ranked(run).rename(columns={"qid": "query_id", "docno": "doc_id"})
    column = dict(zip(map(str, ir_graded.measures.parsing.read_measures(MEASURES)), COLUMNS, strict=True))
    per_topic = ir_measures.calc(MEASURES, qrels, frame).per_query
    return {(column[str(metric.measure)], metric.query_id): metric.value for metric in per_topic}


@cache
def expected():
    """Return the values. The first test computes them, so that collecting tests starts no threads."""
    return {"first": values(FIRST), "second": values(SECOND)}


def mean(name, column):
    return sum(expected()[name][column, topic] for topic in TOPICS["qid"]) / len(TOPICS)


def assert_means(table, digits=12):
    assert list(table["name"]) == ["first", "second"]
    assert set(table.columns) == {"name", *COLUMNS}
    for _, row in table.iterrows():
        for column in COLUMNS:
            assert row[column] == pytest.approx(mean(row["name"], column), abs=10**-digits), column


def test_the_expected_values_equal_those_by_hand():
    # Topic 4, first run: f at rank 3 of R = 2, both of level 1: (1/2) * (1 + 1) / (3 + 2).
    assert expected()["first"]["Q@10", "4"] == pytest.approx(0.2, abs=1e-12)
    assert expected()["first"]["P-measure@1000", "2"] == pytest.approx(2 / 3, abs=1e-12)
    assert mean("first", "Q@10") != mean("second", "Q@10")


@pytest.mark.slow
def test_importing_pyterrier_alone_is_enough():
    output = python(
        """
        import json, sys
        import pandas as pd
        import pyterrier as pt
        topics, qrels, first, second = (pd.DataFrame(table) for table in json.loads(sys.argv[1]))
        found = pt.Experiment(
            [pt.Transformer.from_df(first), pt.Transformer.from_df(second)],
            topics,
            qrels,
            eval_metrics=["P-measure@1000", "map", "P_10", pt.graded.Q @ 10, "NCU(stop='rb')@10",
                          pt.measures.nERR(max_rel=3) @ 10, "nDCG@10"],
            names=["first", "second"],
            validate="ignore",  # which would load every provider of ir-measures
        )
        print(found.to_json())
        print(pt.graded.__name__, [name for name in dir() if "graded" in name])
        """,
        json.dumps([table.to_dict("list") for table in (TOPICS, QRELS, ranked(FIRST), ranked(SECOND))]),
    )
    table, names = output.splitlines()
    assert names == "ir_graded []"
    table = pd.DataFrame(json.loads(table))
    # pandas writes ten decimals.
    assert_means(table, digits=9)


@pytest.mark.slow
def test_importing_this_package_after_pyterrier_adds_the_names():
    """If PyTerrier does not load the package, the names are added to pt.measures later."""
    output = python(
        """
        import importlib.metadata
        found = importlib.metadata.entry_points
        def without(*args, **kwargs):
            return [entry for entry in found(*args, **kwargs) if entry.value != "ir_graded"]
        importlib.metadata.entry_points = without
        import pyterrier as pt
        print(hasattr(pt, "graded"), hasattr(pt.measures, "P_measure"))
        import pandas as pd
        import ir_graded
        from pyterrier.measures import P_measure, AP
        print(all(getattr(pt.measures, name) is one for name, one in ir_graded.measures.REGISTRY.items()))
        table = pd.DataFrame({"qid": ["1"], "query": "a", "docno": "b", "label": 1, "score": 2.0, "rank": 0})
        measures = ["P+@10", P_measure @ 5, AP, "map_cut_10"]
        systems = [pt.Transformer.from_df(table[["qid", "docno", "score", "rank"]])]
        found = pt.Experiment(systems, table[["qid", "query"]], table[["qid", "docno", "label"]], measures)
        print(sorted(found.columns[1:]))
        """
    )
    assert output.splitlines() == ["False False", "True", "['AP', 'P+@10', 'P-measure@5', 'map_cut_10']"]


def test_pt_measures_and_pt_graded_have_the_measures():
    assert pt.graded is ir_graded
    assert "graded" in pt.__all__
    for name, measure in REGISTRY.items():
        assert getattr(pt.measures, name) is measure
    # PyTerrier sets attributes on the measures it receives; they must stay equal.
    for measure in (Q, Q(beta=2) @ 10):
        copy = pickle.loads(pickle.dumps(measure))  # noqa: S301  (made here)
        assert (copy, copy.params) == (measure, measure.params)


def test_an_experiment_gives_the_means_of_pipelines_and_frames():
    assert_means(experiment())
    assert_means(experiment(retr_systems=[ranked(FIRST), ranked(SECOND)]))


def per_topic(table):
    return {(row.name, row.measure, row.qid): row.value for row in table.itertuples(index=False)}


def expected_per_topic():
    return {
        (name, column, topic): value
        for name, found in expected().items()
        for (column, topic), value in found.items()
    }


@pytest.mark.slow
def test_an_experiment_gives_topics_and_means():
    means, table = experiment(perquery="both")
    assert per_topic(table) == expected_per_topic()
    assert_means(means)


def test_a_baseline_adds_wins_and_p_values():
    found = experiment(baseline=0)
    assert_means(found[["name", *COLUMNS]])
    for column in ("P-measure@1000", "Q@10", "map"):
        first, second = ([expected()[name][column, topic] for topic in TOPICS["qid"]] for name in expected())
        assert found[f"{column} +"][1] == sum(b > a for a, b in zip(first, second, strict=True))
        p = stats.ttest_rel(second, first).pvalue
        assert found[f"{column} p-value"][1] == pytest.approx(p, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3])
def test_batches_of_topics_change_no_score(size):
    assert_means(experiment(batch_size=size))
    assert per_topic(experiment(batch_size=size, perquery=True)) == expected_per_topic()


#: Measures whose scale is the highest level of the qrels; only topics 1 and 3 have level 3.
SCALED = ["gRBP", "nERR@10", "EBR", "GAP", "R-pref(penalty='relative')", "gRBP(norm='ideal')"]
PARTS = (
    "^gRBP, nERR@10, EBR: the highest level of the qrels, to which gains are relative, is 1 in one and 3 in "
    "another of two successive calls with other topics, .* for example gRBP\\(max_rel=3\\)$"
)


@pytest.fixture
def no_earlier_call(monkeypatch):
    """Forget the preceding call of ir-measures."""
    monkeypatch.setattr(pyterrier_notes.NOTES, "preceding", None)


@pytest.mark.slow
@pytest.mark.usefixtures("no_earlier_call")
@pytest.mark.parametrize("size", [1, 3])
def test_batches_with_other_highest_levels_warn(size, monkeypatch):
    """The same topics got other scores: gRBP .061 in batches of one topic, .046 together."""
    with pytest.warns(ir_graded.CoverageWarning, match=PARTS):
        found = per_topic(experiment(eval_metrics=SCALED, batch_size=size, perquery=True))
    # The warning changes no score: each is that of its batch alone.
    for batch in (TOPICS[at : at + size] for at in range(0, len(TOPICS), size)):
        monkeypatch.setattr(pyterrier_notes.NOTES, "preceding", None)
        part = {"topics": batch, "qrels": QRELS[QRELS["qid"].isin(batch["qid"])]}
        alone = pt.Experiment(systems(), eval_metrics=SCALED, names=[*expected()], perquery=True, **part)
        assert per_topic(alone).items() <= found.items()


@pytest.mark.slow
@pytest.mark.usefixtures("no_earlier_call")
def test_batches_with_max_rel_or_one_highest_level_do_not_warn():
    named = ["gRBP(max_rel=3)", "nERR(max_rel=3)@10", *SCALED[3:]]
    in_batches = experiment(eval_metrics=named, batch_size=1)
    pd.testing.assert_frame_equal(in_batches, experiment(eval_metrics=named))
    # Each batch of two topics has a document of level 3.
    in_batches = experiment(eval_metrics=SCALED, batch_size=2)
    pd.testing.assert_frame_equal(in_batches, experiment(eval_metrics=SCALED))


@pytest.mark.slow
@pytest.mark.usefixtures("no_earlier_call")
def test_two_collections_do_not_warn():
    """Rows of one frame have different labels, but both frames begin with row 0."""
    topics, qrels, run = (table.assign(qid="x" + table["qid"]) for table in (TOPICS, QRELS, ranked(FIRST)))
    qrels["label"] = qrels["label"].clip(upper=1)
    for _ in range(2):
        experiment(eval_metrics=SCALED)
        pt.Experiment([pt.Transformer.from_df(run)], topics, qrels, eval_metrics=SCALED)


@pytest.mark.usefixtures("no_earlier_call")
def test_calls_outside_pyterrier_do_not_warn():
    for topic, level in (("1", 3), ("2", 1)):
        qrels = pd.DataFrame(
            {"query_id": topic, "doc_id": ["a", "b"], "relevance": [level, 0]}, [topic, "last"]
        )
        ir_measures.calc_aggregate(["nERR"], qrels, {topic: {"a": 1.0}})


@pytest.mark.usefixtures("no_earlier_call")
def test_only_successive_calls_with_other_topics_and_levels_warn(monkeypatch):
    monkeypatch.setattr(pyterrier_notes, "caller", lambda *_: ("pyterrier", 1))

    def score(measures, topic, level, row=None):
        rows = {"query_id": topic, "doc_id": ["a", "b"], "relevance": [level, 0], "equivalence_class": "i"}
        qrels = pd.DataFrame(rows, [row or topic, "last"])
        return ir_measures.calc_aggregate(measures, qrels, {topic: {"a": 1.0}})

    score(["nERR"], "1", 3)
    score(["nERR"], "2", 3)
    score(["nERR"], "2", 1)  # other judgments of the same topic
    score(["nERR"], "3", 0)  # scores 0 on any scale
    score(["nERR", "gRBP"], "4", 3)  # another call of other measures
    score(["Q"], "5", 2)
    score(["nERR", "gRBP"], "6", 1, row="4")  # rows of one frame have different labels
    score(["nERR", "gRBP"], "4", 3)
    for call in (ir_measures.calc_aggregate, evaluate):
        call(["nERR", "gRBP"], {"6": {"a": 1}}, {"6": {"a": 1.0}})
    with pytest.warns(ir_graded.CoverageWarning, match=r"nERR, gRBP: .* is 1 in one and 3 in") as caught:
        score(["nERR", "gRBP"], "7", 1)
    assert [warning.filename for warning in caught] == [ir_measures.providers.base.__file__]
    many = ["EC(measure='iRBU')", "EC(measure='nERR')", "EC(measure='EBR')", "EC(measure='niRBU')"]
    score(many, "1", 2.5)
    message = r"^EC.*, EC.*, EC.* \.\.\.: .* is 2 in one and 2.5 in another .* max_rel of the base measure$"
    with pytest.warns(ir_graded.CoverageWarning, match=message):
        score(many, "2", 2)


def warnings_of(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        call()
    return [str(warning.message) for warning in caught if warning.category is ir_graded.CoverageWarning]


@pytest.mark.parametrize("measures", [["Q@10"], ["Q@10", "map", OTHERS]])
def test_a_run_without_a_judged_document_warns_as_evaluate_does(measures):
    cut = ranked(FIRST).assign(docno=lambda table: table["docno"] + ".txt")
    (expected,) = warnings_of(lambda: evaluate("Q@10", QRELS, {"x": cut}))
    clause = "has no judged document (for topic '1' it retrieved 'x.txt', 'a.txt', 'b.txt' ..., and the qrels"
    assert expected.startswith(f"Run 'x' {clause}")
    asked = {"eval_metrics": measures, "names": ["x"], "validate": "ignore"}
    for system in (cut, pt.Transformer.from_df(cut)):
        (found,) = warnings_of(lambda: experiment(retr_systems=[system], **asked))  # noqa: B023
        assert found.removeprefix("The run") == expected.removeprefix("Run 'x'")
    assert warnings_of(lambda: pt.Evaluate(cut, QRELS, metrics=measures)) == [found]
    assert warnings_of(lambda: experiment(eval_metrics=measures, validate="ignore")) == []


def test_an_experiment_in_batches_without_a_judged_document_warns_once():
    cut = [pt.Transformer.from_df(ranked(dict.fromkeys(FIRST, "xy")))]
    for _ in range(2):
        found = warnings_of(
            lambda: experiment(retr_systems=cut, names=["x"], eval_metrics=["Q"], batch_size=1)
        )
        assert found == ["The run has no judged document on the topics of a batch."]


@pytest.mark.filterwarnings("ignore:.*not found in qrels:UserWarning")  # PyTerrier warns of topic 9
@pytest.mark.parametrize("size", [None, 1, 2])
def test_topics_on_one_side_only_do_not_raise(size):
    """Batches may have no qrels, and topics of the qrels may have no results; they score zero."""
    topics = pd.concat([TOPICS, pd.DataFrame({"qid": ["9"], "query": ["nine"]})])
    qrels = pd.concat([QRELS, pd.DataFrame({"qid": ["7"], "docno": ["a"], "label": [2]})])
    run = pd.concat([ranked(FIRST), ranked({"9": "ab"})], ignore_index=True)
    options = {"filter_by_qrels": False, "filter_by_topics": False, "batch_size": size}
    names = {"eval_metrics": ["Q@10", "P-measure", "map"], "names": ["one"], **options}
    table = pt.Experiment([pt.Transformer.from_df(run)], topics, qrels, perquery=True, **names)
    found = {(row.measure, row.qid): row.value for row in table.itertuples(index=False)}
    for topic in TOPICS["qid"]:
        assert found["Q@10", topic] == expected()["first"]["Q@10", topic]
        assert found["map", topic] == expected()["first"]["map", topic]
    for measure in ("Q@10", "P-measure", "map"):
        assert found[measure, "7"] == 0
        assert pd.isna(found[measure, "9"])


NOT_A_MEAN = (
    r"^GM\(measure='AP'\) is not the arithmetic mean of the topics, which pyterrier.Experiment would show: "
    r"use perquery=True without save_dir, and ir_graded.Scores.from_frame\(...\).mean\(\), or ir_graded.eval"
)


@pytest.mark.parametrize(
    "options",
    [
        {}, {"perquery": "both"}, {"baseline": 0}, {"batch_size": 1}, {"batch_size": 3, "dataframe": False},
        {"plan": "tree", "verbose": False}, {"perquery": True, "save_dir": "folder"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("measures", [["GMAP"], ["map", ir_graded.GM(measure="AP"), "Q"]])
def test_experiments_do_not_show_the_arithmetic_mean_as_a_geometric_one(
    options, measures, tmp_path, monkeypatch
):
    """PyTerrier averages the scores of topics itself."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    transformed = []
    pipeline = pt.apply.generic(lambda topics: transformed.append(topics) or ranked(FIRST))
    for validate in ("warn", "ignore"):
        asked = {"retr_systems": [pipeline], "names": ["x"], "eval_metrics": measures, "validate": validate}
        with pytest.raises(ir_graded.ParameterError, match=NOT_A_MEAN):
            experiment(**asked, **options)
        # The checks that PyTerrier makes by default find the measure before any pipeline runs.
        assert len(transformed) == (validate == "ignore")


def test_geometric_means_are_right_in_other_functions_of_pyterrier():
    (by_ap,) = (expected()["first"]["map", topic] for topic in ["1"])
    scores = [max(expected()["first"]["map", topic], 0.00001) for topic in TOPICS["qid"]]
    assert by_ap == scores[0]
    geometric = pytest.approx(np.prod(scores) ** (1 / 4), rel=1e-12)
    assert pt.Evaluate(ranked(FIRST), QRELS, metrics=["GMAP"]) == {"GMAP": geometric}
    by_topic = experiment(eval_metrics=["GMAP", "num_rel_ret"], perquery=True)
    read = ir_graded.Scores.from_frame(by_topic)
    assert read.matrix("GMAP")["first"].tolist() == pytest.approx(scores, abs=1e-12)
    assert read.mean().loc["first", "GM(measure='AP')"] == geometric
    assert read.mean().loc["first", "NumRet(rel=1)"] == read.matrix("NumRet(rel=1)")["first"].sum() == 7


@pytest.mark.parametrize(
    ("measures", "replaced"),
    [
        (["Q", ir_measures.NumRelRet], "NumRet(rel=1)"),
        (["Q", "NumRet(rel=2)", "NumRet", "official"], "NumRet(rel=2), NumRet(rel=1)"),
        (["Q", "num_rel_ret", ir_measures.NumRelRet, ir_measures.NumRel, "NumQ"], ""),
        (["Q", "NumRelRet"], ""),
    ],
)
def test_experiments_that_show_means_of_sums_warn_once(measures, replaced):
    """PyTerrier sums the counts that it knows by their names."""
    found = warnings_of(lambda: experiment(eval_metrics=measures, batch_size=2))
    named = [
        one.partition(": a sum over the topics, but pyterrier.Experiment shows the mean;") for one in found
    ]
    assert [sorted(name.split(", ")) for name, there, _ in named if there] == (
        [sorted(replaced.split(", "))] if replaced else []
    )
    assert warnings_of(lambda: experiment(eval_metrics=measures, perquery=True)) == []


@pytest.mark.filterwarnings("ignore:.*a sum over the topics:ir_graded.CoverageWarning")
def test_families_of_trec_names_still_work():
    found = experiment(eval_metrics=["P", "official", "Q"])
    assert {"P@5", "P@1000", "AP", "Rprec", "Q"} <= set(found.columns)
    assert found["P@10"][0] == pytest.approx(mean("first", "P_10"), abs=1e-12)


def test_errors_of_measures_and_input_are_those_of_the_package():
    for name, message in [("NoSuch", "NoSuch"), ("P-measure@@", "P-measure@@"), ("Q(nosuch=1)", "nosuch")]:
        with pytest.raises(ValueError, match=message):
            experiment(eval_metrics=[name])
    twice = pd.concat([ranked(FIRST), ranked({"1": "a"})], ignore_index=True)
    with pytest.raises(InputError, match=r"topic '1', document 'a' appears twice"):
        experiment(retr_systems=[twice], names=["twice"])


def test_evaluate_of_pyterrier_scores_runs():
    assert pt.Evaluate(ranked(FIRST), QRELS, metrics=["Q@10", "map"]) == {
        column: pytest.approx(mean("first", column), abs=1e-12) for column in ("Q@10", "map")
    }


def test_the_input_frames_are_not_modified():
    run, qrels = ranked(FIRST), QRELS.copy()
    before = run.copy(deep=True)
    pt.Experiment([run], TOPICS, qrels, eval_metrics=ASKED)
    pd.testing.assert_frame_equal(run, before)
    pd.testing.assert_frame_equal(qrels, QRELS)


# In topic 1, a (level 2) ties with x (unjudged): rank 1 or 2, and rank 2 by id. Topic 2 has no ties.
TIED = pd.DataFrame(
    [("1", "a", 1.0, 0), ("1", "x", 1.0, 1), ("2", "c", 1.0, 0)], columns=["qid", "docno", "score", "rank"]
)
TIED_QRELS = pd.DataFrame([("1", "a", 2), ("2", "c", 1)], columns=["qid", "docno", "label"])
TIED_VALUES = {
    "Q@10": 3 / 4,  # (1 + 2) / (2 + 2)
    "Q(ties='expected')@10": (1 + 3 / 4) / 2,
    "Q(ties='optimistic')@10": 1.0,
    "nDCG(ties='expected')@10": (1 + 1 / np.log2(3)) / 2,
    "nDCG@10": 1 / np.log2(3),
    "RR(ties='pessimistic')": 1 / 2,
}


@pytest.mark.parametrize("size", [None, 1])
@pytest.mark.parametrize("perquery", [False, True])
def test_measures_with_ties_have_their_own_columns(size, perquery):
    given = {name: name for name in TIED_VALUES} | {"Q(ties='expected')@10": Q(ties="expected") @ 10}
    topics = TOPICS[:2]
    for asked in (list(given), list(given.values())):
        found = pt.Experiment(
            [pt.Transformer.from_df(TIED)], topics, TIED_QRELS, asked, batch_size=size, perquery=perquery
        )
        if perquery:
            values = {(row.measure, row.qid): row.value for row in found.itertuples()}
            assert {column for column, _ in values} == set(TIED_VALUES)
            for column, value in TIED_VALUES.items():
                assert values[column, "1"] == pytest.approx(value, abs=1e-12)
                assert values[column, "2"] == 1
        else:
            assert set(found.columns) == {"name", *TIED_VALUES}
            for column, value in TIED_VALUES.items():
                assert found[column][0] == pytest.approx((value + 1) / 2, abs=1e-12)


def pipelines():
    return dict(zip(("first", "second"), systems(), strict=True))


def frame(run):
    return ranked(run).drop(columns="rank")


def test_pipelines_are_run_on_topics():
    found = evaluate(MEASURES, QRELS, pipelines(), topics=TOPICS)
    assert found.runs == ("first", "second")
    for run, of_run in expected().items():
        for (column, topic), value in of_run.items():
            at = COLUMNS.index(column)
            assert found.matrix(found.names[at]).loc[topic, run] == pytest.approx(value, abs=1e-12)
    assert found.signature.runs["first"] == evaluate("Q", QRELS, ranked(FIRST)).signature.runs["run"]


def test_pipelines_may_be_combined_or_beside_results():
    both = systems()[0] % 2
    found = evaluate("Q", QRELS, {"cut": both, "frame": frame(SECOND)}, topics=TOPICS)
    cut = {topic: docs[:2] for topic, docs in FIRST.items()}
    expected = evaluate("Q", QRELS, {"cut": frame(cut), "frame": frame(SECOND)})
    assert found.values.tolist() == expected.values.tolist()
    assert evaluate("Q", QRELS, both, topics=TOPICS).values.tolist() == [[expected.values[0, 0].tolist()]]
    listed = evaluate("Q", QRELS, systems(), topics=TOPICS)
    assert listed.runs == ("run 1", "run 2")


class Recorder(pt.Transformer):
    """Records its topics, and returns results with the columns that are asked for."""

    def __init__(self, columns=("qid", "docno", "score", "rank")):
        self.columns, self.seen = [*columns], []

    def transform(self, topics):
        self.seen.append(topics.copy())
        topics["query"] = "changed"
        return ranked(FIRST)[self.columns]


class Topics(pt.datasets.Dataset):
    def get_topics(self, variant=None):  # noqa: ARG002  # of PyTerrier
        return TOPICS


def test_topics_of_every_form_are_text_and_stay_unchanged():
    numbered = TOPICS.assign(qid=TOPICS["qid"].astype(int))
    before, pipeline = numbered.copy(deep=True), Recorder()
    expected = evaluate("Q", QRELS, ranked(FIRST)).values[0, 0].tolist()
    as_dict = dict(zip(numbered["qid"], numbered["query"], strict=True))
    forms = [numbered, as_dict, Topics(), pl.DataFrame(TOPICS.to_dict("list")), TOPICS.assign(rows=1)]
    for topics in forms:
        found = evaluate("Q", QRELS, {"a": pipeline, "b": pipeline}, topics=topics)
        assert found.values[0].tolist() == [expected] * 2
    pd.testing.assert_frame_equal(numbered, before)
    assert len(pipeline.seen) == 2 * len(forms)
    for seen in pipeline.seen:
        pd.testing.assert_frame_equal(seen[["qid", "query"]], TOPICS)


def test_topics_that_the_qrels_have_in_addition_are_named_as_the_cause():
    words = r"topics= lacks 3 of the 4 topics of the qrels \(the first is '2'\).*leave them out of the qrels"
    with pytest.warns(ir_graded.CoverageWarning, match=words):
        evaluate("Q", QRELS, pipelines(), topics=TOPICS[:1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of_one = QRELS[QRELS["qid"] == "1"]
        found = evaluate("Q", of_one, pipelines(), topics=TOPICS[:1])
    assert found.query_ids == ("1",)


def test_results_without_scores_are_ordered_by_rank():
    found = evaluate("Q", QRELS, {"p": Recorder(("qid", "docno", "rank"))}, topics=TOPICS)
    assert found.values.tolist() == evaluate("Q", QRELS, ranked(FIRST)).values.tolist()


def test_the_measures_and_qrels_are_checked_before_a_pipeline_runs():
    pipeline = Recorder()
    with pytest.raises(NameError, match="P-mesure"):
        evaluate("P-mesure", QRELS, {"p": pipeline}, topics=TOPICS)
    with pytest.raises(InputError, match="no column"):
        evaluate("Q", QRELS[["qid"]], {"p": pipeline}, topics=TOPICS)
    with pytest.raises(FileNotFoundError, match=r"missing\.run"):
        evaluate("Q", QRELS, {"p": pipeline, "file": "missing.run"}, topics=TOPICS)
    with pytest.raises(FileNotFoundError, match=r"missing\.run"):
        evaluate("Q", QRELS, {"p": pipeline, "file": Path("missing.run")}, topics=TOPICS)
    assert not pipeline.seen


FRAME_EXPECTED = r"^topics: expected a frame of pandas or Polars .* found "


@pytest.mark.parametrize(
    ("topics", "message"),
    [
        (TOPICS.iloc[[0, 1, 0]], r"^topics: qid '1' appears twice; keep one of the rows$"),
        (TOPICS[:0], r"^topics: the frame has no rows"),
        ({}, r"^topics: the frame has no rows"),
        (TOPICS[["qid", "qid", "query"]], rf"{FRAME_EXPECTED}\['qid', 'qid', 'query'\]$"),
        (TOPICS[["query"]], rf"{FRAME_EXPECTED}\['query'\]$"),
        (TOPICS["qid"], f"{FRAME_EXPECTED}a Series$"),
        (["1"], rf"{FRAME_EXPECTED}\['1'\]$"),
        (TOPICS.assign(qid=[1, "1", "2", "3"]), "^topics: qid: 1 and '1' are the same as text"),
    ],
)
def test_wrong_topics_are_rejected_before_a_pipeline_runs(topics, message):
    pipeline = Recorder()
    with pytest.raises(InputError, match=message):
        evaluate("Q", QRELS, {"p": pipeline}, topics=topics)
    assert not pipeline.seen


def test_an_error_of_a_pipeline_names_the_run():
    class Broken(pt.Transformer):
        def transform(self, topics):
            return topics[["docno"]]

    with pytest.raises(InputError, match=r"^run 'broken': the pipeline failed: KeyError: ") as caught:
        evaluate("Q", QRELS, {**pipelines(), "broken": Broken()}, topics=TOPICS)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("topics", [None, TOPICS])
def test_functions_in_place_of_pipelines_are_named(topics):
    def search(topics):
        return ranked(FIRST)[ranked(FIRST)["qid"].isin(topics["qid"])]

    for runs in (search, [search], {"p": search}, {"p": search, "frame": frame(SECOND)}):
        with pytest.raises(InputError, match=r"a function is not a pipeline: give pt.apply.generic"):
            evaluate("Q", QRELS, runs, topics=topics)
    found = evaluate("Q", QRELS, pt.apply.generic(search), topics=TOPICS)
    assert found.values.tolist() == evaluate("Q", QRELS, ranked(FIRST)).values.tolist()


def test_an_error_of_one_of_several_runs_names_it_once():
    twice = pd.concat([frame(FIRST)] * 2)
    with pytest.raises(InputError, match=r"^run 'twice': topic '1', document '.' appears twice"):
        evaluate("Q", QRELS, {"first": frame(FIRST), "twice": twice})
    with pytest.raises(InputError, match=r"^run 'other' and the qrels share no topic"):
        evaluate("Q", QRELS, {"first": frame(FIRST), "other": {"x": {"a": 1.0}}})


def test_pipelines_may_repeat_documents_with_duplicates():
    twice = pd.concat([ranked(FIRST), ranked(FIRST).assign(score=0.0)])
    with pytest.warns(ir_graded.CoverageWarning, match=rf"rows left out: {len(ranked(FIRST))}\)"):
        found = evaluate("Q", QRELS, pt.Transformer.from_df(twice), topics=TOPICS, duplicates="first")
    assert found.values.tolist() == evaluate("Q", QRELS, ranked(FIRST)).values.tolist()


def test_pipelines_with_passages_and_lengths():
    rows = [("1", "a", 2.0, 0, 10), ("1", "a", 1.0, 20, 5)]
    run = pd.DataFrame(rows, columns=["qid", "docno", "score", "start", "length"])
    qrels = pd.DataFrame([("1", "a", 1, 5, 10)], columns=["qid", "docno", "label", "start", "length"])
    options = {"lengths": {"a": 100}, "beyond": "raise"}
    found = evaluate("MAgP", qrels, {"p": pt.Transformer.from_df(run)}, topics=TOPICS[:1], **options)
    assert found.values.tolist() == evaluate("MAgP", qrels, {"p": run}, **options).values.tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda runs: evaluate("Q", QRELS, runs),
        lambda runs: ir_graded.compare_runs("Q", QRELS, runs, ranked(FIRST)),
        lambda runs: ir_graded.unjudged(QRELS, runs),
        lambda runs: ir_graded.explain("Q", QRELS, runs["p"], "1"),
        lambda runs: ir_graded.report("Q", QRELS, runs, "unused.html"),
        lambda runs: ir_graded.rbo(runs["p"], ranked(FIRST)),
        lambda runs: ir_graded.pool(runs, depth=2),
    ],
    ids=["evaluate", "compare_runs", "unjudged", "explain", "report", "rbo", "pool"],
)
def test_pipelines_without_topics_are_rejected(call, request):
    message = r"is a pipeline: give its results, pipeline.transform\(topics\)"
    with pytest.raises(InputError, match=message) as caught:
        call({"p": systems()[0]})
    # Other functions do not take topics.
    takes = request.node.callspec.id in {"evaluate", "compare_runs"}
    also = ", or give its topics: topics=frame with the columns qid and query"
    assert str(caught.value).endswith("pipeline.transform(topics)" + also * takes)


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")  # too few topics for a test
def test_pipelines_are_compared():
    first, second = systems()
    given = {"baseline": {"first": first}, "runs": {"second": second}, "topics": TOPICS}
    found = ir_graded.compare_runs("Q", QRELS, **given)
    scores = evaluate("Q", QRELS, {"first": first, "second": second}, topics=TOPICS).mean()["Q"]
    assert (found.run, found.baseline) == (("second",), ("first",))
    assert (found.mean[0], found.baseline_mean[0]) == (scores["second"], scores["first"])


NUMBERED = pt.Transformer.from_df(ranked(FIRST).astype({"qid": int}))


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (frame(FIRST), "^topics= is for pipelines, but no run is a pipeline"),
        (NUMBERED, "topics are text, and the pipeline has numbers: convert"),
        (Recorder(("qid", "docno")), r"^run 'p': expected results with .* returned \['qid', 'docno'\]; "),
    ],
)
def test_wrong_results_are_rejected(run, message):
    with pytest.raises(ir_graded.GradedError, match=message):
        evaluate("Q", QRELS, {"p": run}, topics=TOPICS)


def test_pipelines_on_several_collections():
    found = ir_graded.evaluate_collections(
        "Q", {"a": (QRELS, pipelines(), TOPICS), "b": (QRELS, {"first": ranked(FIRST)})}
    )
    assert found["a"].values[0, 0].tolist() == found["b"].values[0, 0].tolist()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize("perquery", [True, "both"])
def test_statistics_take_the_frames_of_experiments(perquery):
    from ir_graded import meta

    given = experiment(perquery=perquery)
    read = ir_graded.Scores.from_frame(given)
    assert len(read.query_ids) == 4
    by_name = {column: read.matrix(column) for column in COLUMNS}
    for statistic in (meta.differences, meta.confidence_intervals, meta.ranks):
        pd.testing.assert_frame_equal(statistic(given).to_frame(), statistic(by_name).to_frame())
    across = meta.across_collections({"a": given, "b": experiment(perquery=True, batch_size=2)}, "first")
    table = across.to_frame().set_index(["measure", "collection"])
    for column in COLUMNS:
        difference = mean("second", column) - mean("first", column)
        assert table.loc[(column, "b"), "difference"] == pytest.approx(difference, abs=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_frames_of_one_measure_are_a_matrix():
    from ir_graded import meta

    given = experiment(perquery=True, eval_metrics=["map"])
    matrix = ir_graded.Scores.from_frame(given).matrix("AP")
    assert meta.discriminative_power(given).power == meta.discriminative_power(matrix).power
    with pytest.raises(InputError, match=r"^scores: .* of one|by one measure, found those by P-measu"):
        meta.discriminative_power(experiment(perquery=True))


def test_statistics_take_arrow_and_polars_tables_of_scores():
    from ir_graded import meta

    given = experiment(perquery=True, eval_metrics=["map", "Q"])
    expected = meta.confidence_intervals(given).to_frame()
    columns = given.to_dict("list")
    for table in (pl.DataFrame(columns), pytest.importorskip("pyarrow").table(columns)):
        pd.testing.assert_frame_equal(meta.confidence_intervals(table).to_frame(), expected)


def test_frames_and_classes_are_not_pipelines():
    class OfSpark:
        transform = toPandas = print  # its name

    for other in (ranked(FIRST), ranked(FIRST)["score"], OfSpark(), Recorder):
        assert not is_pipeline(other)
    assert is_pipeline(Recorder())


@pytest.mark.slow
def test_frames_of_means_are_rejected_by_statistics():
    from ir_graded import meta

    with pytest.raises(InputError, match=r"pyterrier.Experiment\(..., perquery=True\)$"):
        meta.differences(experiment())
    missing = experiment(perquery=True)
    for wrong, message in (
        (missing[1:], "run 'first', topic '1', measure P-measure@1000: the score is missing"),
        (missing.assign(qid=None), "frame: query_id: an id is missing"),
        (missing.assign(value=np.nan), "measure P-measure@1000: the score is nan, expected a finite number"),
    ):
        with pytest.raises(InputError, match=message):
            meta.differences(wrong)


@pytest.mark.slow
def test_the_folder_of_an_experiment_holds_runs(tmp_path):
    experiment(save_dir=str(tmp_path))
    assert {"aggregated.csv", "perquery.csv"} < {file.name for file in tmp_path.iterdir()}
    found = evaluate(MEASURES, QRELS, tmp_path)
    assert found.runs == ("first.res", "second.res")
    assert found.mean().loc["first.res", "Q@10"] == pytest.approx(mean("first", "Q@10"), abs=1e-12)
    read = ir_graded.evaluation.scores.read_scores(tmp_path / "perquery.csv")
    assert read.query_ids == ("1", "2", "3", "4")
    assert read.values == pytest.approx(found.values, abs=1e-12)
    # Files with these names that do not begin like those of PyTerrier are runs.
    (tmp_path / "aggregated.csv").write_text("qid,docno,score\n1,a,1\n")
    assert "aggregated.csv" in named_runs(tmp_path)
    for file in tmp_path.glob("*.res.gz"):
        file.unlink()
    (tmp_path / "aggregated.csv").unlink()
    with pytest.raises(InputError, match=r"has no files of runs$"):
        evaluate("Q", QRELS, tmp_path)
