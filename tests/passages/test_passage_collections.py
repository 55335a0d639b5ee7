"""Real collections with passages: INEX 2009 and 2010, TREC Genomics 2007, and the values of other tools."""

from functools import cache

import ir_measures
import pytest
from collections_data import ROOT, needs_shared_data
from ir_measures import AP
from passages.passage_cases import MEASURES, frame

import ir_graded
from ir_graded import MAgP

pytestmark = needs_shared_data

INEX = ROOT / "inex" / "INEX_Qrels.txt", ROOT / "inex" / "ric.run"
GENOMICS_FOL = ROOT / "genomics" / "gold07.fol", ROOT / "genomics" / "york01.fol"
GENOMICS = ROOT / "genomics" / "gold07.txt", ROOT / "genomics" / "york01.txt"

BETA_OF_INEX = {"beta": 0.25}


def lines(path):
    return path.read_text(encoding="latin-1").splitlines()


@cache
def fol_qrels(path):
    rows = []
    for line in lines(path):
        topic, _, article, relevant, *rest = line.split()
        spans = [tuple(map(int, span.split(":"))) for span in rest[2:]] if relevant != "0" else []
        rows += [(topic, article, 1, *span) for span in spans] or [(topic, article, 0, 0, 0)]
    return rows


@cache
def fol_run(path):
    """Return the ranking in the order of the lines."""
    rows, seen = [], {}
    for line in lines(path):
        topic, _, article, _, _, _, start, length = line.split()
        seen[topic] = seen.get(topic, 0) + 1
        rows.append((topic, article, -float(seen[topic]), int(start), int(length)))
    return rows


@cache
def genomics_qrels(path):
    fields = [line.split("\t") for line in lines(path)]
    return [(topic, article, 1, int(start), int(length)) for topic, article, start, length, *_ in fields]


@cache
def genomics_run(path):
    fields = map(str.split, lines(path))
    return [
        (topic, article, float(score), int(start), int(length))
        for topic, article, _, score, start, length, _ in fields
    ]


def parsed(collection):
    """Return qrels and run as read by the few lines above."""
    of_qrels, of_run = (genomics_qrels, genomics_run) if collection is GENOMICS else (fol_qrels, fol_run)
    return frame("qrels", of_qrels(collection[0])), frame("run", of_run(collection[1]))


def read(collection):
    """Return qrels and run as read by the package."""
    return ir_graded.read_qrels(collection[0]), ir_graded.read_run(collection[1])


WAYS = pytest.mark.parametrize("way", [parsed, read], ids=["parsed here", "read_qrels and read_run"])

#: Means over all topics of the qrels.
MEANS = {
    "INEX": (INEX, MAgP(beta=0.25), 0.11151170677283521, 120),
    "Genomics as FOL": (GENOMICS_FOL, MAgP(beta=0.25), 0.01989859470155593, 36),
    "Genomics as FOL, beta 1": (GENOMICS_FOL, MAgP, 0.023615217104129123, 36),
    "Genomics as published": (GENOMICS, MAgP(beta=0.25), 0.019757612349875508, 36),
}
COLLECTIONS = pytest.mark.parametrize("name", MEANS)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@COLLECTIONS
def test_mean_over_all_topics_matches(name):
    paths, measure, mean, topics = MEANS[name]
    expected = pytest.approx(mean, abs=1e-12)
    for qrels, run in (parsed(paths), read(paths), paths, map(str, paths)):
        assert ir_measures.calc_aggregate([measure], qrels, run)[measure] == expected
    evaluated = ir_graded.evaluate([measure, AP], *paths)
    assert len(evaluated.matrix(str(measure))) == topics
    assert evaluated.mean()[str(measure)].to_list() == [expected]


def tool_output():
    """Return the output of the official INEX evaluator: name of a measure -> mean over the run's topics."""
    found = {}
    for line in lines(ROOT / "inex" / "ric.inex_eval.out"):
        name, *rest = line.split()
        if name.startswith(("MAgP", "gP[", "gR[")):
            found[name] = float(rest[1])
    return found


def as_measure(name):
    measure, _, cutoff = name.rstrip("]").partition("[")
    made = MEASURES[measure](**BETA_OF_INEX)
    return made @ int(cutoff) if cutoff else made


@pytest.mark.slow
@WAYS
def test_scores_equal_the_official_inex_evaluator(way):
    qrels, run = way(INEX)
    qrels = qrels[qrels["query_id"].isin(run["query_id"])]
    official = tool_output()
    assert official["MAgP"] == 0.11340173570118835
    assert official["gP[10]"] == 0.27143605581067415
    assert len(official) == 15
    measures = {as_measure(name): value for name, value in official.items()}
    assert run.groupby("query_id")["doc_id"].nunique().min() >= 50  # the tool divides by their number
    found = ir_measures.calc_aggregate(list(measures), qrels, run)
    for measure, value in measures.items():
        assert found[measure] == pytest.approx(value, abs=1e-12), measure


@pytest.mark.slow
@pytest.mark.parametrize("collection", [INEX, GENOMICS_FOL, GENOMICS], ids=["INEX", "FOL", "Genomics"])
def test_readers_return_the_rows_of_the_files(collection):
    for kind, ours, theirs in zip(("qrels", "run"), read(collection), parsed(collection), strict=True):
        assert {"start", "length"} <= set(ours.columns)
        columns = ["query_id", "doc_id", "start", "length"]
        assert ours[columns].values.tolist() == theirs[columns].values.tolist()
        value = {"qrels": "relevance", "run": "score"}[kind]
        if kind == "qrels" or collection is GENOMICS:
            assert ours[value].tolist() == theirs[value].tolist()
