"""Agreement of judges on highlighted text, against example H and sets of characters, and conclusions."""

import random

import numpy as np
import pandas as pd
import polars as pl
import pytest
from reference import spans_of_judges as reference

import ir_graded
from ir_graded import CoverageWarning, InputError, NoSharedTopicsError, ParameterError, meta

NAMES = ["query_id", "doc_id", "relevance", "start", "length"]
A = [("1", "a", 1, 0, 40), ("1", "b", 1, 10, 30), ("2", "c", 1, 0, 20)]
B = [("1", "a", 1, 10, 50), ("1", "d", 1, 0, 10), ("2", "c", 1, 5, 15), ("3", "e", 1, 0, 5)]
LENGTHS = {"a": 100, "b": 90, "c": 30, "d": 90, "e": 9}


def frame(rows):
    return pd.DataFrame(rows, columns=NAMES)


def compare(a, b, *scored, **options):
    return ir_graded.compare_judgments(frame(a), frame(b), *scored, **{"n_resamples": 20} | options)


def values(found):
    return found.spans.to_frame().set_index("coefficient")["value"].to_dict()


# ---------------------------------------------------------------------------------------- agreement


def test_example_h():
    found = compare(A, B, lengths=LENGTHS)
    each = found.spans.by_topic()
    assert each.loc["1"].tolist() == pytest.approx([0.461538461538, 0.3], abs=1e-12)
    assert each.loc["2"].tolist() == pytest.approx([0.857142857143, 0.75], abs=1e-12)
    assert each.loc["3"].isna().all()
    expected = {"F": (6 / 13 + 6 / 7) / 2, "IoU": 0.525, "pooled_F": 6 / 11, "pooled_IoU": 0.375}
    assert values(found) == pytest.approx({**expected, "kappa": 0.461538461538}, abs=1e-12)
    assert values(compare(A, B)) == pytest.approx(expected, abs=1e-15)
    assert found.agreement.to_frame()["value"].eq(1).all()


def gold(drawn):
    """Return random spans; some overlap, are empty or of a level that is not relevant."""
    docs = drawn.sample("abc", drawn.randint(1, 3))
    return [
        (
            drawn.choice("1234"),
            drawn.choice(docs),
            drawn.randint(-1, 2),
            drawn.randint(0, 20),
            drawn.randint(0, 15),
        )
        for _ in range(drawn.randint(1, 8))
    ]


def agree(number):
    """Compare random judgments with the reference."""
    drawn = random.Random(number)  # noqa: S311
    a, b = gold(drawn), gold(drawn)
    rel, lengths = drawn.choice((1, 2)), {doc: drawn.randint(35, 60) for doc in "abc"}
    if not {row[:2] for row in a} & {row[:2] for row in b}:
        with pytest.raises(NoSharedTopicsError):
            compare(a, b)
        return
    found = compare(a, b, rel=rel, lengths=lengths, n_resamples=7, rng=number)
    topics = [*dict.fromkeys(row[0] for row in a + b)]
    expected = reference.coefficients(a, b, rel, lengths, topics)
    assert found.spans.value[0] == pytest.approx(np.array(expected, dtype=float), abs=1e-12, nan_ok=True)
    each = found.spans.by_topic()
    means = reference.by_topic(a, b, rel)
    for topic in topics:
        assert each.loc[topic].tolist() == pytest.approx(
            means.get(topic, (np.nan, np.nan)), abs=1e-12, nan_ok=True
        )
    # Topics that are not in both sets do not change any coefficient and are not drawn.
    counted = [
        t for t in topics if any(v is not None for v in reference.coefficients(a, b, rel, lengths, [t])[:4])
    ]
    shared = {row[:2] for row in a} & {row[:2] for row in b}
    counted = [t for t in topics if t in counted or any(topic == t for topic, _ in shared)]
    samples = np.random.default_rng(number).integers(0, len(counted), size=(7, len(counted)))
    replicates = np.array(
        [reference.coefficients(a, b, rel, lengths, [counted[at] for at in sample]) for sample in samples],
        dtype=float,
    )
    for at, of_one in enumerate(replicates.T):
        assert found.spans.undefined[0, at] == np.isnan(of_one).sum()
        if not np.isnan(of_one).all():
            ends = np.nanquantile(of_one, [0.025, 0.975])
            assert [found.spans.low[0, at], found.spans.high[0, at]] == pytest.approx(ends, abs=1e-12)


@pytest.mark.slow
def test_agreement_equals_the_reference():
    for number in range(60):
        agree(number)


@pytest.mark.release
def test_agreement_equals_the_reference_in_many_cases():
    for number in range(60, 560):
        agree(number)


def test_several_sets_are_compared_with_the_reference():
    found = ir_graded.compare_judgments(frame(A), {"x": frame(B), "y": pl.DataFrame(frame(A))}, n_resamples=5)
    table = found.spans.to_frame()
    assert table["judgments"].tolist() == ["x"] * 4 + ["y"] * 4
    assert (table[table["judgments"] == "y"][["value", "low", "high"]] == 1).all(axis=None)
    assert table["value"][:4].tolist() == [*values(compare(A, B)).values()]
    assert found.spans.by_topic(1).loc["1"].tolist() == [1, 1]
    assert "SpanAgreement(confidence=0.95)" in str(found.spans)
    assert "pooled_IoU" in str(found)
    assert compare(A, B).agreement.sets == ("a", "b")


def test_levels_of_spans_are_mapped():
    doubled = [(*row[:2], 2 * row[2], *row[3:]) for row in B]
    assert values(compare(A, B)) == values(compare(A, doubled, maps={"b": {2: 1}}))
    mixed = [("1", "a", 1, 0, 40), ("1", "a", 2, 30, 20)]
    swapped = compare(mixed, mixed, maps={"b": {1: 2, 2: 0}}, rel=2)
    assert values(swapped) == pytest.approx({"F": 1 / 3, "IoU": 0.2, "pooled_F": 1 / 3, "pooled_IoU": 0.2})
    with pytest.raises(InputError, match="maps: 'b' has the level 2, which is missing in its map"):
        compare(A, doubled, maps={"b": {1: 1}})


# -------------------------------------------------------------------------------------- conclusions

MEASURES = ["CharP@2", "CharR", "IoU", "nDCG@3"]


def runs_of(number):
    drawn = random.Random(number)  # noqa: S311
    return {
        name: pd.DataFrame(
            [
                (topic, doc, drawn.random(), drawn.randint(0, 30), drawn.randint(1, 30))
                for topic in "123"
                for doc in "abcde"
            ],
            columns=["query_id", "doc_id", "score", "start", "length"],
        )
        for name in ("x", "y", "z")
    }


@pytest.mark.slow
@pytest.mark.parametrize("pairs", ["all", "shared"])
def test_scores_equal_evaluate_with_each_set(pairs):
    b = [*B, ("2", "b", 1, 0, 9), ("3", "a", 0, 0, 0)]
    runs = runs_of(1)
    found = compare(A, b, MEASURES, runs, pairs=pairs, test="t")
    one, two = frame(A), frame(b)
    if pairs == "shared":
        keys = ["query_id", "doc_id"]
        one, two = one.merge(two[keys].drop_duplicates()), two.merge(one[keys].drop_duplicates())
        assert len(one) == len(two) == 2
    expected = meta.conclusions(*(ir_graded.evaluate(MEASURES, each, runs) for each in (one, two)), test="t")
    pd.testing.assert_frame_equal(found.conclusions["b"].to_frame(), expected.to_frame())
    assert (found.conclusions["b"].means_b == expected.means_b).all()
    assert values(found) == values(compare(A, b))


def test_missing_topics_of_runs_warn():
    runs = {name: run[run["query_id"] != "3"] for name, run in runs_of(2).items()}
    with pytest.warns(CoverageWarning, match="Run 'x' lacks 1 of the 3 topics"):
        compare(A, B, "CharR", runs, test="t")


@pytest.mark.parametrize(
    ("b", "options", "error", "problem"),
    [
        (
            {"1": {"a": 1}},
            {},
            InputError,
            "'a' has passages, but 'b' has none; give start and length in all sets of judgments, or in none",
        ),
        (
            frame(B),
            {"lengths": {"a": 100}},
            InputError,
            "no length is given for 2 documents of the qrels: 'b', 'c'",
        ),
        (
            frame(B),
            {"lengths": LENGTHS | {"a": 50}},
            InputError,
            "(row 0): the passage 10:50 ends behind its doc",
        ),
        (
            frame([("1", "z", 1, 0, 5)]),
            {},
            NoSharedTopicsError,
            "judge no pair of a topic and a document in common",
        ),
        (frame(B), {"measures": "CharR", "runs": {"x": {"1": {"a": 1}}}}, InputError, "CharR needs passages"),
    ],
)
def test_judgments_that_are_wrong(b, options, error, problem):
    with pytest.raises(error) as caught:
        ir_graded.compare_judgments(frame(A), b, **options)
    assert problem in str(caught.value)


def test_options_that_need_passages():
    plain = {"1": {"a": 1, "b": 0}}
    with pytest.raises(ParameterError, match="lengths are given, but the judgments have no passages"):
        ir_graded.compare_judgments(plain, plain, lengths=LENGTHS)
    with pytest.raises(ParameterError, match="CharR needs passages, which compare_judgments does not use"):
        ir_graded.compare_judgments(plain, plain, "CharR", {"x": {"1": {"a": 1.0}}})
    assert ir_graded.compare_judgments(plain, plain, n_resamples=2).spans is None
