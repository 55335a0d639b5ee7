"""Every result that draws fills the given axes and no others, and rejects other objects."""

import ast
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import covid_sample

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib.figure import Figure  # noqa: E402

import ir_graded  # noqa: E402
from ir_graded import meta, plots  # noqa: E402
from ir_graded.errors import ParameterError  # noqa: E402
from ir_graded.passages import Strip  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")]

QRELS = {str(topic): {"a": 2, "b": 1, "c": 0} for topic in range(6)}
RUNS = {
    name: {topic: {doc: float(ord(doc) * at * int(topic) % 7) for doc in "abcx"} for topic in QRELS}
    for at, name in enumerate(("first", "second", "third"), 1)
}
#: Scores of five topics by three systems.
SCORES = {
    name: pd.DataFrame(np.random.default_rng(seed).random((5, 3)), columns=[*"abc"])
    for seed, name in enumerate(("Q", "AP"))
}
INTENTS = pd.DataFrame({"query_id": "1", "doc_id": [*"aab"], "relevance": 1, "iteration": [*"xyx"]})
GROUPS = pd.DataFrame({"query_id": "1", "doc_id": [*"ab"], "relevance": 1, "SIZE": [(1.0, 0.0), (0.0, 1.0)]})


def evaluated():
    return ir_graded.evaluate(["Q@1", "Q@2"], QRELS, RUNS)


def explained(measure, qrels):
    return ir_graded.explain(measure, qrels, {"run": {"1": {"a": 2.0, "b": 1.0}}}, "1")


#: One result of each class.
RESULTS = {
    "AcrossCollections": lambda: meta.across_collections({"one": SCORES, "two": SCORES}, "a"),
    "Agreement": lambda: meta.agreement([[1, 2], [2, 2], [1, 1]], topics=[1, 2, 3], n_resamples=9),
    "ConfidenceIntervals": lambda: meta.confidence_intervals(SCORES, n_resamples=20),
    "Differences": lambda: meta.differences(SCORES, "a", tolerance=0.1),
    "DiscriminativePower": lambda: meta.discriminative_power(SCORES["Q"], n_resamples=20),
    "Explanation": lambda: ir_graded.explain("Q", QRELS, RUNS["first"], "1"),
    "History": lambda: meta.history({"1.0": evaluated(), "1.1": evaluated()}),
    "RankCorrelations": lambda: meta.rank_correlations(SCORES, reference="Q"),
    "RankingComparison": lambda: ir_graded.compare_rankings("Q", QRELS, RUNS["first"], RUNS["third"], "1"),
    "Ranks": lambda: meta.ranks(SCORES, "Q", n_resamples=20),
    "RunOverlaps": lambda: ir_graded.rbo_matrix(RUNS),
    "ScoreIntervals": lambda: ir_graded.score_intervals(
        "Q", covid_sample().qrels, dict([*covid_sample().runs.items()][:2]), n_samples=20, depth=10
    ),
    "SignificanceMatrix": lambda: meta.significance(SCORES["Q"], n_resamples=20),
    "Stability": lambda: meta.stability(SCORES["Q"], n_resamples=20),
    "Strip": lambda: Strip("1", "a", 1, ((0, 3),), ((2, 3),), ((2, 3),), 3, 1, 1 / 3, 0.5),
    "Swap": lambda: meta.swap(SCORES["Q"], n_resamples=20),
    "TopicSetSize": lambda: meta.topic_set_size(SCORES["Q"], 0.1),
    "Unjudged": lambda: ir_graded.unjudged(QRELS, RUNS),
}
#: Drawings without a method, and the objects that they draw.
FUNCTIONS = {
    "coverage": lambda ax=None: plots.coverage([explained("I-rec", INTENTS)] * 2, ax=ax),
    "cutoffs": lambda ax=None: plots.cutoffs(evaluated(), ax=ax),
    "differences": lambda ax=None: plots.differences(evaluated(), "Q@1", "first", "second", ax=ax),
    "groups": lambda ax=None: plots.groups([explained("GF(groups='SIZE')", GROUPS)] * 2, ax=ax),
}


def test_every_result_with_a_plot_is_drawn_here():
    found = {
        one.name
        for path in Path(ir_graded.__file__).parent.rglob("*.py")
        for one in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(one, ast.ClassDef)
        for method in one.body
        if isinstance(method, ast.FunctionDef) and method.name == "plot" and "ax" in ast.unparse(method.args)
    }
    assert found == {*RESULTS}


@pytest.mark.parametrize("name", [*RESULTS, *FUNCTIONS])
def test_drawings_use_the_given_axes_and_reject_other_objects(name):
    draw = FUNCTIONS[name] if name in FUNCTIONS else RESULTS[name]().plot
    figure = Figure(figsize=(12, 3), layout="constrained")
    given, other = figure.subplots(1, 2)
    assert draw(ax=given) is figure
    assert given.has_data()
    assert not other.has_data()
    assert isinstance(draw(), Figure)
    for ax in (3, 10**5000, "x", Figure()):
        with pytest.raises(ParameterError, match=r"^ax=.* must be a matplotlib Axes"):
            draw(ax=ax)
