"""``combine_judgments``: one set of qrels from those of several judges."""

from collections import defaultdict
from statistics import mean, median, median_high, median_low

import ir_measures
import numpy as np
import polars as pl
import pytest

import ir_graded
from ir_graded import InputError, ParameterError, combine_judgments

JUDGES = {
    "a": {"10": {"x": 2, "y": 0, "w": 3}, "2": {"x": 1}},
    "b": {"10": {"x": 0, "y": 1, "w": 3}, "2": {"x": -1}},
    "c": {"10": {"x": 2, "y": 3, "z": 1}},
    "d": {"10": {"x": 0, "y": 3, "w": 0}},
}


def levels(found):
    return {(row.query_id, row.doc_id): row.relevance for row in found.itertuples()}


def random_judges(seed, judges=5):
    rng = np.random.default_rng(seed)
    return {
        f"j{judge}": {
            f"t{topic}": {f"d{doc}": int(rng.integers(-1, 4)) for doc in range(12) if rng.random() < 0.6}
            for topic in range(4)
        }
        for judge in range(judges)
    }


def votes_of(judges):
    """Return the levels of each pair, in plain loops."""
    votes = defaultdict(list)
    for qrels in judges.values():
        for topic, docs in qrels.items():
            for doc_id, level in docs.items():
                if level >= 0:
                    votes[topic, doc_id].append(level)
    return votes


def most_frequent(given):
    return [level for level in {*given} if given.count(level) == max(map(given.count, given))]


RULES = {
    ("majority", "lower"): lambda given: min(most_frequent(given)),
    ("majority", "higher"): lambda given: max(most_frequent(given)),
    ("majority", "mean"): lambda given: mean(most_frequent(given)),
    ("median", "lower"): median_low,
    ("median", "higher"): median_high,
    ("median", "mean"): median,
    ("mean", "lower"): mean,
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("min_judges", [1, 3])
def test_levels_are_those_of_plain_loops(rule, min_judges):
    for seed in range(5):
        judges = random_judges(seed)
        votes = {pair: given for pair, given in votes_of(judges).items() if len(given) >= min_judges}
        found = levels(combine_judgments(judges, rule[0], ties=rule[1], min_judges=min_judges))
        assert found == pytest.approx({pair: RULES[rule](given) for pair, given in votes.items()})
        assert [*found] == sorted(found)


def test_a_judge_without_a_level_has_no_vote():
    found = combine_judgments(JUDGES)
    assert levels(found) == {
        ("10", "w"): 3, ("10", "x"): 0, ("10", "y"): 3, ("10", "z"): 1, ("2", "x"): 1,
    }  # fmt: skip
    assert found["relevance"].dtype == np.int64
    assert levels(combine_judgments(JUDGES, ties="higher"))["10", "x"] == 2
    assert {*levels(combine_judgments(JUDGES, min_judges=2))} == {("10", "w"), ("10", "x"), ("10", "y")}


def test_fractional_levels_are_gains_and_relevant_from_rel_on():
    found = combine_judgments(JUDGES, "mean")
    assert levels(found)["10", "y"] == 7 / 4
    assert levels(found)["10", "x"] == 1
    run = {"10": {"y": 2.0, "x": 1.0}, "2": {"x": 1.0}}
    p, ndcg = ir_graded.evaluate(["P(rel=2)@1", "nDCG@1"], found, run).values[:, 0, 0]
    assert (p, ndcg) == (0, (7 / 4) / 2)


@pytest.mark.slow
def test_a_sample_draws_each_judge_of_a_document_equally_often():
    topics = [str(number) for number in range(1000)]  # each draws separately
    judges = {name: dict.fromkeys(topics, qrels["10"]) for name, qrels in JUDGES.items()}
    drawn = levels(combine_judgments(judges, "sample", rng=3))
    assert {drawn[topic, "z"] for topic in topics} == {1}
    shares = {level: np.mean([drawn[topic, "y"] == level for topic in topics]) for level in (0, 1, 2, 3)}
    assert shares == pytest.approx({0: 0.25, 1: 0.25, 2: 0, 3: 0.5}, abs=0.05)
    assert len({levels(combine_judgments(JUDGES, "sample", rng=seed))["10", "y"] for seed in range(20)}) == 3
    first = combine_judgments(random_judges(1), "sample", rng=5)
    backwards = {
        name: {topic: dict(reversed(docs.items())) for topic, docs in reversed(qrels.items())}
        for name, qrels in reversed(random_judges(1).items())
    }
    assert first.equals(combine_judgments(backwards, "sample", rng=5))
    assert not first.equals(combine_judgments(random_judges(1), "sample", rng=6))


def test_judgments_of_all_forms_are_combined(tmp_path):
    for name in "ab":
        lines = [f"{t} 0 {d} {level}\n" for t, docs in JUDGES[name].items() for d, level in docs.items()]
        (tmp_path / f"{name}.qrels").write_text("".join(lines))
    frame = pl.DataFrame({"query_id": [10, 10], "doc_id": ["x", "w"], "relevance": [2, 1]})
    paths = [tmp_path / "a.qrels", tmp_path / "b.qrels"]
    two = {name: JUDGES[name] for name in "ab"}
    assert combine_judgments(paths).equals(combine_judgments(two))
    three = {"a": paths[0], "b": JUDGES["b"], "c": frame}
    same = {**two, "c": {"10": {"x": 2, "w": 1}}}
    assert combine_judgments(three, "mean").equals(combine_judgments(same, "mean"))


SPANS = pl.DataFrame({"query_id": ["1"], "doc_id": ["a"], "relevance": [1], "start": [0], "length": [5]})
INTENTS = [ir_measures.Qrel("1", "a", 1, "i"), ir_measures.Qrel("1", "a", 2, "j")]
SAMPLED = pl.DataFrame({"query_id": ["1"], "doc_id": ["a"], "relevance": [1], "iprob": [0.5]})
NUGGETS = pl.DataFrame({"run": ["r"], "query_id": ["1"], "nugget": ["n"], "assignment": ["support"]})


@pytest.mark.parametrize(
    ("judgments", "message"),
    [
        ({"1": {"a": 1}}, "expected several sets of judgments"),
        ({"one": {"1": {"a": 1}}}, "expected several sets of judgments"),
        ({"one": {"1": {"a": -1}}, "two": {"1": {"a": -1}}}, "no pair .* has min_judges=1 judges"),
        (
            {"one": {"1": {"a": 1}}, "two": {"1": {"a": None}}},
            "^judge 'two': topic '1', document 'a': the level",
        ),
        ({"one": {"1": {"a": 1}}, "two": None}, "^judge 'two': cannot read NoneType"),
        ([{"1": {"a": 1}}, {"1": {"a": float("nan")}}], "^judge 'run 2': topic '1', document 'a': the level"),
        ({"one": {"1": {"a": 1}}, "two": SPANS}, "^judge 'two' has passages"),
        ({"one": {"1": {"a": 1}}, "two": INTENTS}, "'two' has several levels for a document"),
        ({"one": {"1": {"a": 1}}, "two": SAMPLED}, "'two' has a sample"),
        ({"one": {"1": {"a": 1}}, "two": NUGGETS}, "'two' holds assignments of nuggets"),
        ({"one": {"1": {"a": 1}}, "two": {"1": {"a": "x"}}}, "'x'"),
    ],
)
def test_judgments_that_cannot_be_combined_are_errors(judgments, message):
    with pytest.raises(InputError, match=message):
        combine_judgments(judgments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"how": "mode"}, "how='mode' must be one of 'majority', 'mean'"),
        ({"ties": "random"}, "ties='random' must be one of 'lower', 'higher', 'mean'"),
        ({"min_judges": 0}, "min_judges=0 must be a whole number >= 1"),
        ({"min_judges": True}, "min_judges=True must be"),
    ],
)
def test_wrong_options_are_errors(options, message):
    with pytest.raises(ParameterError, match=message):
        combine_judgments(JUDGES, **options)
