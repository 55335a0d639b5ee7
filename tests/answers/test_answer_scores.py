"""Values of score_answers: published ones, worked examples, traps of other programs, and random answers."""

import json
import lzma
import warnings

import pytest
from answers.answer_cases import (
    DATA,
    EXAMPLE_A,
    EXAMPLE_E,
    RUNS,
    SIX,
    answer,
    random_answers,
    random_support,
    supported,
    topic,
)
from collections_data import needs_shared_data
from reference import answers as reference

import ir_graded
from ir_graded import CoverageWarning, score_answers


def means(measures, *given, **options):
    """Return the means of the first run by measure, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoverageWarning)
        scores = score_answers(measures, *given, **options)
    return scores.aggregates[0].tolist()


@pytest.fixture(scope="module")
def published():
    files = {run: DATA / f"assignments-{run}.jsonl.xz" for run in RUNS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoverageWarning)
        return score_answers(SIX, files), score_answers(SIX, files, nuggets=DATA / "nuggets.jsonl.xz")


@pytest.mark.slow
@needs_shared_data
def test_every_published_score_is_reproduced(published):
    scores, _ = published
    values = 0
    for number, run in enumerate(RUNS):
        for line in lzma.decompress((DATA / f"metrics-{run}.jsonl.xz").read_bytes()).splitlines():
            record = json.loads(line)
            for at, name in enumerate(SIX):
                if record["qid"] == "all":
                    assert abs(scores.aggregates[number, at] - record[name]) < 1e-15
                else:
                    values += 1
                    assert scores.values[at, number, scores.query_ids.index(record["qid"])] == record[name]
    assert values == 5418


@needs_shared_data
def test_the_expected_means(published):
    expected = dict(
        line.rsplit("\t", 1) for line in (DATA / "expected.tsv").read_text(encoding="utf-8").splitlines()
    )
    for scores, words in zip(published, ("", " with nuggets=nuggets.jsonl"), strict=True):
        for number, run in enumerate(RUNS):
            for at, name in enumerate(SIX):
                assert f"{scores.aggregates[number, at]:.12f}" == expected[f"{run}\t{name}{words}"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (EXAMPLE_A, [1 / 3, 0.5, 1 / 3, 0.5, 3 / 7, 4 / 7]),
        ("a okay support", [0, 0, 1, 1, 1, 1]),
        ("a vital support", [1] * 6),  # open-rag-eval: .667 weighted
        ("a vital partial_support, b okay partial_support", [0, 0.5] * 3),  # pyterrier-nuggetizer: 0
        ("a vital support, b vital support, c okay support", [1] * 6),  # its WeightedScore: 1/3
    ],
)
def test_worked_example_a_and_the_traps_of_other_programs(text, expected):
    assert means(SIX, [answer(text)]) == expected


def test_a_missing_answer_scores_0_where_nuggetizer_leaves_it_out():
    answers = [answer("a vital support", "1", "x"), answer("a vital support", "2", "y")]
    with pytest.warns(CoverageWarning, match="Run 'x' lacks 1 of the 2 topics in the assignments"):
        scores = score_answers("NuggetScore", answers)
    assert scores.values.tolist() == [[[1, 0], [0, 1]]]


def test_weights_by_level():
    text = "a vital support, b okay partial_support, c okay not_support, d other support"
    measures = ["NuggetScore(importance={2: 1, 1: 0.25})", "NuggetScore(importance={2:0.1,1:0.2,3:5})"]
    assert means(measures, [answer(text)]) == pytest.approx([1.125 / 1.5, 0.4], abs=1e-15)


def test_lists_of_nuggets_are_the_divisor():
    given = [answer("a vital support, b vital not_support")]
    listed = [topic("a vital, b vital, c vital, d okay"), topic("z vital", "2")]
    with pytest.warns(CoverageWarning, match="lacks 1 of the 2 topics in the nuggets"):
        scores = score_answers(["vital_score", "all_score"], given, nuggets=listed)
    assert scores.query_ids == ("1", "2")
    assert scores.values[:, 0].tolist() == [[1 / 3, 0], [0.25, 0]]


def test_repeated_texts_match_in_their_order():
    listed = [topic("a vital, a okay, b vital")]
    given = [answer("a vital not_support, b vital support, a okay support")]
    assert means(["NuggetScore(importance={2:1,1:10})"], given, nuggets=listed) == [11 / 12]


def test_an_empty_answer_and_topics_without_weight():
    given = [answer("a okay support"), {"qid": "2", "run_id": "x", "nuggets": []}]
    with pytest.warns(CoverageWarning) as found:
        scores = score_answers(["vital_score", "all_score"], given)
    assert scores.values[:, 0].tolist() == [[0, 0], [1, 0]]
    assert str(found[0].message) == (
        "2 topics without a nugget of positive weight score 0 by NuggetScore(importance='vital'): '1', '2'. "
        "1 topic without a nugget of positive weight score 0 by NuggetScore: '2'."
    )


@pytest.mark.parametrize(("several", "expected"), [("first", (0.625, 0.5)), ("mean", (0.583333333333, 0.5))])
def test_worked_example_e(several, expected):
    measures = [f"CitationP(several='{several}')", f"CitationR(several='{several}')"]
    assert means(measures, citations=[supported(EXAMPLE_E)]) == pytest.approx(expected, abs=5e-13)
    assert means(measures, citations=[supported("| | ")]) == [0, 0]
    assert means(measures, citations=[{"topic_id": "1", "support_eval": []}]) == [0, 0]


def test_sentences_that_need_no_citation_do_not_count():
    one = supported("a FS | b NS | ")
    one["support_eval"][1]["needs_citation"] = one["support_eval"][2]["needs_citation"] = False
    assert means(["CitationP", "CitationR"], citations=[one]) == [1, 1]


def test_topics_of_nuggets_and_citations_are_united():
    with pytest.warns(CoverageWarning) as found:
        scores = score_answers(
            ["NuggetScore", "CitationP"],
            [answer("a vital support")],
            citations=[supported("a PS", qid="2"), supported("a FS", qid="1", run="y")],
        )
    assert scores.runs == ("x", "y")
    assert scores.query_ids == ("1", "2")
    assert scores.values.tolist() == [[[1, 0], [0, 0]], [[0, 0.5], [1, 0]]]
    for words in ("'x' lacks 1 of the 2 topics in the assignments", "'y' lacks 2 of", "in the citations"):
        assert words in str(found[0].message)
    assert scores.coverage["topics_missing"].tolist() == [2, 2]
    assert scores.coverage[["judged_at_10", "judged_share"]].isna().all(axis=None)


PARAMS = [
    *(
        {"importance": word, "strict": strict}
        for word in ("all", "vital", "weighted")
        for strict in (False, True)
    ),
    {"importance": {2: 1, 1: 0.3}, "strict": False},
]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(60, 2000), marks=pytest.mark.release)])
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_random_answers_equal_the_reference(seeds):
    for seed in seeds:
        answers, lists = random_answers(seed)
        for given in (None, lists):
            measures = [ir_graded.NuggetScore(**params) for params in PARAMS]
            scores = score_answers(measures, answers, nuggets=given)
            for at, params in enumerate(PARAMS):
                expected = reference.nugget_scores(answers, given, **params)
                for (run, name), value in expected.items():
                    found = scores.values[at, scores.runs.index(run), scores.query_ids.index(name)]
                    limit = 0 if isinstance(params["importance"], str) else 1e-15
                    assert abs(found - float(value)) <= limit, (seed, params, run, name)


@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(60, 2000), marks=pytest.mark.release)])
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_random_citations_equal_the_reference(seeds):
    for seed in seeds:
        answers = random_support(seed)
        for several in ("first", "mean"):
            measures = [ir_graded.CitationP(several=several), ir_graded.CitationR(several=several)]
            scores = score_answers(measures, citations=answers)
            for one in answers:
                at = scores.runs.index(one["run_id"]), scores.query_ids.index(one["topic_id"])
                expected = [*map(float, reference.citation_scores(one, several))]
                assert scores.values[(slice(None), *at)] == pytest.approx(expected, abs=1e-15), seed
