"""Estimates from sampled judgments: worked examples, the plain reference, derivatives, and simulation."""

import math
import random

import ir_measures
import numpy as np
import pandas as pd
import pytest
from helpers import covid_sample
from reference.estimates import Estimate, Judged, variance, weights
from sampled import sampled_cases as cases

import ir_graded
from ir_graded.analyses import estimates as module
from ir_graded.matching.match import match_run, prepare_qrels
from ir_graded.measures.classic import scorer_of

COLUMNS = ["query_id", "doc_id", "relevance"]
MEASURES = ["AP", "Q", "nDCG", "nDCG@3", "P@3"]


def run_of(*docs):
    return {doc: -float(rank) for rank, doc in enumerate(docs)}


def frame(rows, *further):
    return pd.DataFrame(rows, columns=[*COLUMNS, *further])


STRATA, STRATA_RUN = cases.frame(cases.A), cases.run_of(cases.RANKING_A)
PRELS = frame(
    [("1", *row) for row in (("a", 1, 1, 1), ("b", 2, 1, 0.5), ("c", 0, 1, 0.2), ("d", 1, 1, 0.5))]
    + [("1", "e", 1, 1, 0.2)],
    "method",
    "iprob",
)
PRELS_RUN = {"1": run_of(*"buacd")}


def estimated(measures, qrels, run, **options):
    found = ir_graded.score_estimates(measures, qrels, run, **options)
    return found.estimate[:, 0, 0], found.se[:, 0, 0]


# ---------------------------------------------------------------------------------------- worked examples


@pytest.mark.parametrize(
    ("qrels", "run", "estimates", "errors"),
    [
        (
            STRATA,
            STRATA_RUN,
            [0.758620689655, 0.587251828631, 0.847600798968, 1.032805673508, 1.055555555556],
            [0.347121200603, 0.233317776548, 0.236424501423, 0.342140577110, 0.454741820660],
        ),
        (
            PRELS,
            PRELS_RUN,
            [0.46, 0.466666666667, 0.854112062744, 1.196216921832, 1],
            [0.277596029430, 0.269145882697, 0.332188016420, 0.468140649340, 0.471404520791],
        ),
        # With probabilities of 1, estimates are the measures.
        (
            PRELS.assign(iprob=1),
            PRELS_RUN,
            [0.566666666667, 0.603571428571, 0.810547981622, 0.798484858099, 0.666666666667],
            [0] * 5,
        ),
    ],
)
def test_worked_examples_have_their_estimates_and_standard_errors(qrels, run, estimates, errors):
    estimate, se = estimated(MEASURES, qrels, run)
    np.testing.assert_allclose(estimate, estimates, rtol=0, atol=5e-13)
    np.testing.assert_allclose(se, errors, rtol=0, atol=5e-13)


def test_documents_chosen_by_both_methods_are_certain():
    both = PRELS.assign(method=[1, 1, 1, 2, 1])
    estimate, se = estimated(["AP"], both, PRELS_RUN)
    np.testing.assert_allclose(estimate, [0.422222222222], rtol=0, atol=5e-13)
    assert estimated(["AP"], both, PRELS_RUN, certain=())[0] == pytest.approx(0.46, abs=5e-13)
    weight = {**dict.fromkeys("ad", 1.0), "b": 2.0, "c": 5.0, "e": 5.0}
    topic = {row.doc_id: Judged(row.relevance) for row in PRELS.itertuples()}
    _, u = Estimate(topic, "buacd", weight, beta=0).average()
    assert se**2 == pytest.approx(variance(topic, weight, u), rel=1e-12)


@pytest.mark.parametrize("method", [1, 3, 4])
def test_documents_of_other_methods_are_sampled(method):
    assert estimated(["AP"], PRELS.assign(method=method), PRELS_RUN)[0] == pytest.approx(0.46, abs=5e-13)


ALL = [
    "AP", "AP(rel=2)", "Q", "Q(beta=10)", "Q(beta=0)", "Q(beta=inf)", "Q(rel=2)", "Q(gains={1: 1, 2: 7})",
    "nDCG", "nDCG@10", "nDCG(gains={1: 1, 2: 7})@5", "nDCG(dcg='exp-log2')@10", "P@10", "P(rel=2)@5",
    "RBP(p=0.8,rel=1)", "gRBP(p=0.8)", "gRBP(p=0.5,max_rel=4)@7", "gRBP(gains={1: 3},rel=1)",
]  # fmt: skip


@pytest.mark.slow
def test_complete_judgments_give_the_measures_on_real_runs():
    covid = covid_sample()
    scores = ir_graded.evaluate(ALL, covid.qrels, covid.runs)
    for further in ({"iprob": 1.0}, {"stratum": "all"}, {"iprob": 1.0, "stratum": "all"}):
        found = ir_graded.score_estimates(ALL, covid.qrels.assign(**further), covid.runs)
        np.testing.assert_allclose(found.estimate, scores.values, rtol=0, atol=1e-12)
        assert (found.se == 0).all()
        assert (found.low == found.high).all()


# ---------------------------------------------------------------------------------------- plain reference

CASES = {
    "AP": lambda e: e.average(),
    "AP(rel=2)": lambda e: e.average(),
    "Q": lambda e: e.average(),
    "Q(beta=3,gains={1:0.5,2:4})": lambda e: e.average(),
    "nDCG": lambda e: e.ndcg(),
    "nDCG@3": lambda e: e.ndcg(),
    "nDCG(gains={1:0,2:5})@4": lambda e: e.ndcg(),
    "P@3": lambda e: e.precision(),
    "RBP(p=0.7,rel=1)": lambda e: e.rbp(),
    "gRBP(p=0.8,max_rel=3)@6": lambda e: e.graded_rbp(),
}
OPTIONS = {
    "AP": {"beta": 0.0},
    "AP(rel=2)": {"beta": 0.0, "rel": 2},
    "Q(beta=3,gains={1:0.5,2:4})": {"beta": 3.0, "gain": lambda level: {1: 0.5, 2: 4}.get(level, level)},
    "nDCG": {"rel": 1e-9},
    "nDCG@3": {"k": 3, "rel": 1e-9},
    "nDCG(gains={1:0,2:5})@4": {"k": 4, "rel": 1.5, "gain": lambda level: {2: 5}.get(level, level)},
    "P@3": {"k": 3},
    "RBP(p=0.7,rel=1)": {"p": 0.7},
    "gRBP(p=0.8,max_rel=3)@6": {"p": 0.8, "gmax": 3, "k": 6},
}
LEVELS = (-1, -1, 0, 0, 0, 1, 1, 2, 3)


def random_topic(rng, kind):
    """Return a topic with strata or inclusion probabilities, and a ranking."""
    docs = [f"d{n}" for n in range(rng.randint(1, 16))]
    topic = {}
    for doc in docs:
        one = topic[doc] = Judged(rng.choice(LEVELS))
        if kind != "strata":
            one.iprob = rng.choice((1.0, 0.5, 0.25, 0.1, 1 / 3, round(rng.uniform(0.05, 1), 3)))
        if kind != "iprob":
            one.stratum = rng.choice("abc")
        if kind == "methods":
            one.method = rng.choice((0, 1, 1, 2, 4))
            one.stratum = None
        if kind == "fractions":
            one.level = rng.choice((-1, 0, 0.5, 1, 1.25, 2, 2.75, 3))
            one.stratum = None
    ranking = rng.sample(docs + [f"x{n}" for n in range(12)], rng.randint(1, len(docs) + 8))
    return topic, ranking


def as_frame(topics):
    rows = [
        (name, doc, one.level, one.iprob, one.stratum, one.method)
        for name, topic in topics.items()
        for doc, one in topic.items()
    ]
    return frame(rows, "iprob", "stratum", "method").dropna(axis="columns", how="all")


FEW_JUDGED = "ignore:(.*strata have|No document was judged):ir_graded.CoverageWarning"


@pytest.mark.filterwarnings(
    FEW_JUDGED,
    "ignore:No document of the qrels:ir_graded.CoverageWarning",
    "ignore:Run:ir_graded.CoverageWarning",
    "ignore:.* of method 0:ir_graded.SampledJudgmentsWarning",
)
@pytest.mark.parametrize("seed", range(100))
def test_estimates_and_standard_errors_equal_the_reference(seed):
    rng = random.Random(seed)  # noqa: S311
    kind = ("strata", "iprob", "methods", "fractions")[seed % 4]
    cases = {str(n): random_topic(rng, kind) for n in range(5)}
    run = {name: run_of(*ranking) for name, (_, ranking) in cases.items()}
    measures = [*CASES]
    if kind == "fractions":
        measures = [name for name in CASES if "gains" not in name]
    topics = {name: topic for name, (topic, _) in cases.items()}
    found = ir_graded.score_estimates(measures, as_frame(topics), run)
    assert list(found.scores.query_ids) == list(cases)
    for at, measure in enumerate(measures):
        for number, (topic, ranking) in enumerate(cases.values()):
            w = weights(topic)
            estimate, u = CASES[measure](Estimate(topic, ranking, w, **OPTIONS.get(measure, {})))
            expected = estimate, math.sqrt(variance(topic, w, u))
            values = found.estimate[at, 0, number], found.se[at, 0, number]
            np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-11, err_msg=measure)


# --------------------------------------------------------------------------------- influences, simulation


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_influences_are_the_derivatives_by_the_weights(seed):
    rng = random.Random(seed)  # noqa: S311
    topic, ranking = random_topic(rng, "iprob")
    # Derivatives jump where a number of documents is a whole number.
    of_docs = np.array([1 + rng.random() * 6 for _ in topic])
    judgments = prepare_qrels({"1": {doc: one.level for doc, one in topic.items()}})
    of_docs[[one.level < 0 for one in topic.values()]] = 0.0
    judged = match_run(judgments, {"1": run_of(*ranking)})
    for measure in map(ir_measures.parse_measure, CASES):
        scorer = scorer_of(measure)

        def found(w, scorer=scorer, kind=module.KINDS[measure.NAME]):
            estimator = kind(scorer, judgments.levels, w)
            return estimator.of_run(module.Views(judgments.levels, judged))

        _, influence = found(of_docs)
        for at in np.flatnonzero(of_docs):
            step = 1e-6 * (np.arange(of_docs.size) == at)
            slope = (found(of_docs + step)[0][0] - found(of_docs - step)[0][0]) / 2e-6
            assert influence[at] == pytest.approx(slope, abs=1e-8)


@pytest.mark.slow
def test_precision_and_its_standard_error_are_unbiased_over_independent_draws():
    rng = np.random.default_rng(3)
    levels, pi = rng.integers(0, 2, 30), rng.choice([0.2, 0.5, 1.0], 30)
    docs = [f"d{n}" for n in range(30)]
    table = frame([("1", doc, level, p) for doc, level, p in zip(docs, levels, pi, strict=True)], "iprob")
    # Each topic is one draw.
    draws = [table[rng.random(30) < pi].assign(query_id=str(topic)) for topic in range(600)]
    runs = {str(topic): run_of(*docs) for topic in range(600)}
    found = ir_graded.score_estimates(["P@20"], pd.concat(draws), runs)
    estimate, se = found.estimate[0, 0], found.se[0, 0]
    assert len(estimate) == 600
    error = estimate.std(ddof=1) / np.sqrt(600)
    assert abs(estimate.mean() - levels[:20].mean()) < 4 * error
    true = np.sum((levels / pi * (1 - pi))[:20]) / 400
    assert np.mean(se**2) == pytest.approx(true, rel=0.05)


# ------------------------------------------------------------------------------------------------- results


def random_input(seed, topics=4):
    rng = random.Random(seed)  # noqa: S311
    cases = {str(n): random_topic(rng, "iprob")[0] for n in range(topics)}
    runs = {}
    for name in ("one", "two", "three"):
        runs[name] = {t: run_of(*rng.sample([*docs, "x", "y", "z"], len(docs))) for t, docs in cases.items()}
    return cases, runs


def test_difference_is_that_of_the_influences_on_the_same_sample():
    cases, runs = random_input(1)
    found = ir_graded.score_estimates(MEASURES, as_frame(cases), runs, confidence=0.9)
    difference = found.difference("one", "three")
    assert difference.confidence == 0.9
    for at, measure in enumerate(MEASURES):
        total, squares = 0.0, 0.0
        for name, topic in cases.items():
            w, options = weights(topic), OPTIONS.get(measure, {})
            (one, u), (other, v) = (
                CASES[measure](Estimate(topic, sorted(docs, key=docs.get, reverse=True), w, **options))
                for docs in (runs["one"][name], runs["three"][name])
            )
            total += one - other
            squares += variance(topic, w, {doc: u.get(doc, 0) - v.get(doc, 0) for doc in w})
        assert difference.difference[at] == pytest.approx(total / len(cases), abs=1e-12)
        assert difference.se[at] == pytest.approx(math.sqrt(squares) / len(cases), abs=1e-12)
    width = 1.6448536269514722 * difference.se
    np.testing.assert_allclose(difference.high - difference.difference, width, rtol=1e-12)
    np.testing.assert_allclose(difference.difference - difference.low, width, rtol=1e-12)
    table = difference.to_frame()
    assert list(table) == ["run_a", "run_b", "measure", "difference", "se", "low", "high"]
    assert table["measure"].tolist() == MEASURES
    same = found.difference("two", "two")
    assert not same.difference.any()
    assert not same.se.any()


def test_tables_and_means():
    cases, runs = random_input(2)
    found = ir_graded.score_estimates(["AP", "nDCG@3"], as_frame(cases), runs)
    table = found.to_frame()
    names = ["run", "query_id", "measure", "estimate", "se", "low", "high", "largest_weight"]
    assert list(table) == names
    assert len(table) == 2 * 3 * 4
    np.testing.assert_allclose(table["high"] - table["low"], 2 * 1.959963984540054 * table["se"], atol=1e-14)
    row = table[(table["run"] == "two") & (table["query_id"] == "1") & (table["measure"] == "AP")].iloc[0]
    w = {doc: weight for doc, weight in weights(cases["1"]).items() if cases["1"][doc].level >= 1}
    assert row["largest_weight"] == pytest.approx(max(w.values()) / sum(w.values()))
    mean = found.mean()
    assert mean.index.tolist() == [found.scores.runs[at] for at in found.scores.best_first]
    assert mean["AP"].columns.tolist() == ["estimate", "se", "low", "high"]
    of_two = table[(table["run"] == "two") & (table["measure"] == "nDCG@3")]
    assert mean["nDCG@3"].loc["two", "estimate"] == pytest.approx(of_two["estimate"].mean())
    se = np.sqrt((of_two["se"] ** 2).sum()) / 4
    assert mean["nDCG@3"].loc["two", "se"] == pytest.approx(se)
    assert mean["nDCG@3"].loc["two", "low"] == pytest.approx(of_two["estimate"].mean() - 1.959964 * se)


def test_every_text_says_what_the_intervals_cover():
    found = ir_graded.score_estimates("AP", PRELS, PRELS_RUN)
    words = "the sampling of judgments only, not of topics"
    texts = [repr(found), str(found), found._repr_html_(), found.covers]
    difference = found.difference("run", "run")
    texts += [repr(difference), str(difference), difference._repr_html_()]
    texts += [" ".join(one.__doc__.split()) for one in (ir_graded.score_estimates, found.mean)]
    assert all(words in text for text in texts)
    assert "sampling of judgments only" in type(found).__doc__


# ---------------------------------------------------------------------------------------------- edge cases


def test_a_topic_without_a_relevant_judged_document_scores_0_and_is_counted():
    qrels = frame([("1", "a", 0, 0.5), ("1", "b", -1, None), ("2", "a", 1, 0.5), ("2", "b", 2, 0.5)], "iprob")
    found = ir_graded.score_estimates(
        [*MEASURES, "AP(rel=2)", "gRBP"], qrels, {"1": run_of(*"ab"), "2": run_of(*"ab")}
    )
    assert found.no_relevant.tolist() == [1] * 7
    assert (found.estimate[:, 0, 0] == 0).all()
    assert (found.se[:, 0, 0] == 0).all()
    assert np.isnan(found.largest_weight[:, 0]).all()
    assert not np.isnan(found.largest_weight[:, 1]).any()


def test_a_topic_that_the_run_lacks_scores_0():
    qrels = frame([("1", "a", 1, 0.5), ("2", "a", 1, 0.5)], "iprob")
    with pytest.warns(ir_graded.CoverageWarning, match="lacks 1 of the 2 topics"):
        found = ir_graded.score_estimates(MEASURES, qrels, {"1": run_of("a")})
    assert (found.estimate[:, 0, 1] == 0).all()
    assert (found.se[:, 0, 1] == 0).all()
    assert found.overall[0, 0, 0] == pytest.approx(0.5)


def test_a_stratum_without_judged_documents_is_named_and_adds_nothing():
    more = pd.concat([STRATA, frame([("1", "e1", -1, "low"), ("1", "e2", -1, "low")], "stratum")])
    with pytest.warns(ir_graded.CoverageWarning, match="No document was judged in topic '1' stratum 'low'"):
        found = estimated(MEASURES, more, STRATA_RUN)
    np.testing.assert_array_equal(found, estimated(MEASURES, STRATA, STRATA_RUN))


def test_a_single_judged_document_of_a_stratum_gives_no_standard_error():
    more = pd.concat([STRATA, frame([("1", "e1", 0, "low"), ("1", "e2", -1, "low")], "stratum")])
    message = (
        "^1 of 3 strata have a single judged document of several, so standard errors are not known: the "
        r"first is stratum 'low' of topic '1'\. Judge another document of it, at random, or join strata\.$"
    )
    with pytest.warns(ir_graded.CoverageWarning, match=message):
        estimate, se = estimated(MEASURES, more, STRATA_RUN)
    assert np.isnan(se).all()
    np.testing.assert_array_equal(estimate, estimated(MEASURES, STRATA, STRATA_RUN)[0])
    alone = pd.concat([STRATA, frame([("1", "e1", 0, "low")], "stratum")])
    np.testing.assert_array_equal(
        estimated(MEASURES, alone, STRATA_RUN), estimated(MEASURES, STRATA, STRATA_RUN)
    )


def test_certain_documents_are_in_no_stratum():
    sure = frame([("1", "s1", 1, "2")], "stratum").assign(method=0)
    both = pd.concat([STRATA.assign(method=1), sure])
    run = {"1": run_of("s1", *STRATA_RUN["1"])}
    topic = {row.doc_id: Judged(row.relevance, None, row.stratum, row.method) for row in both.itertuples()}
    w = weights(topic)
    assert (w["s1"], w["d4"]) == (1, 5 / 3)
    expected, u = Estimate(topic, [*run["1"]], w, beta=0).average()
    estimate, se = estimated(["AP"], both, run)
    assert estimate[0] == pytest.approx(expected)
    assert se[0] == pytest.approx(math.sqrt(variance(topic, w, u)))


def test_probabilities_and_strata_together_equal_strata_alone():
    shares = STRATA["stratum"].map({"1": 2 / 3, "2": 3 / 5})
    both = estimated(MEASURES, STRATA.assign(iprob=shares + 5e-7), STRATA_RUN)
    np.testing.assert_array_equal(both, estimated(MEASURES, STRATA, STRATA_RUN))


def test_estimates_do_not_depend_on_the_order_of_the_rows():
    cases, runs = random_input(5)
    table = as_frame(cases)
    found, shuffled = (
        ir_graded.score_estimates(MEASURES, qrels, runs)
        .to_frame()
        .sort_values(["run", "query_id", "measure"])
        for qrels in (table, table.sample(frac=1, random_state=1))
    )
    pd.testing.assert_frame_equal(found.reset_index(drop=True), shuffled.reset_index(drop=True), rtol=1e-12)


def test_many_estimated_documents_need_little_memory():
    qrels = frame([("1", "a", 1, 1e-9), ("1", "b", 2, 1e-7)], "iprob")
    found = ir_graded.score_estimates(["nDCG", "nDCG@3", "Q"], qrels, {"1": run_of("a", "b")})
    assert np.isfinite(found.estimate).all()
    n_1, n_2 = 1e9 + 1e7, 1e7
    ideal = sum(  # the sum of 1/log2(j+1) by Euler and Maclaurin, to about eight digits
        _integral(n) for n in (n_1, n_2)
    )
    expected = (1e9 * 1 / math.log2(2) + 1e7 * 2 / math.log2(3)) / ideal
    assert found.estimate[0, 0, 0] == pytest.approx(expected, rel=1e-6)


def _integral(n):
    first = 1 / np.log2(np.arange(2, 10_001.0 + 1))  # ranks 1 to 10,000
    x = np.geomspace(10_001.5, n + 1.5, 200_001)
    y = 1 / np.log2(x)
    return first.sum() + ((y[1:] + y[:-1]) / 2 * np.diff(x)).sum()


def test_results_can_be_pickled():
    import pickle

    found = ir_graded.score_estimates("AP", PRELS, PRELS_RUN)
    again = pickle.loads(pickle.dumps(found))  # noqa: S301
    pd.testing.assert_frame_equal(found.to_frame(), again.to_frame())
    pd.testing.assert_frame_equal(
        found.difference("run", "run").to_frame(), again.difference("run", "run").to_frame()
    )
