"""Rank-biased overlap: values, bounds, every form of run, errors, the matrix of runs and the command."""

import csv
import json
import lzma
import re

import numpy as np
import pandas as pd
import pytest
from collections_data import ROOT, needs_shared_data
from helpers import assert_command_fails, covid_sample, dicts, error_message, run_command
from hypothesis import given, strategies as st
from reference import overlap as plain

import ir_graded
from ecosystem import forms
from ir_graded.core import overlap as core
from ir_graded.errors import CoverageWarning, InputError, NoSharedTopicsError, ParameterError

TIES = ("w", "a", "b")
RUN = [(topic, doc, score) for topic, doc, score in forms.RUN if topic != "999"]
OTHER = [("101", "9", 3.0), ("101", "2", 3.0), ("101", "77", 2.0), ("102", "8", 2.0), ("102", "4", 2.0),
         ("103", "5", 1.0), ("104", "1", 2.0), ("104", "2", 1.0)]  # fmt: skip


def scored(groups):
    """Return the scores of the items of tie groups, best first."""
    return {item: -float(at) for at, group in enumerate(groups) for item in group}


def values(one, other, p=0.9, ties="a"):
    """Return min, max and ext of two lists of tie groups."""
    found = ir_graded.rbo({"1": scored(one)}, {"1": scored(other)}, p, ties)
    assert [*found] == ["query_id", "min", "max", "res", "ext"]
    (row,) = found.to_dict("records")
    assert row["res"] == row["max"] - row["min"]
    return row["min"], row["max"], row["ext"]


def groups_of(text):
    """Return the tie groups of text such as ``(a b) c d``."""
    return [group.strip("()").split() for group in re.findall(r"\([^)]*\)|\S+", text)]


@pytest.mark.parametrize(
    ("one", "other", "ties", "expected"),
    [
        ("(a b) c d", "b a e", "w", (0.538052289550, 0.865066666667, 0.72)),
        ("(a b) c d", "b a e", "a", (0.504718956217, 0.831733333333, 0.686666666667)),
        ("(a b) c d", "b a e", "b", (0.546140312454, 0.873154689571, 0.728088022904)),
        ("a (b c d)", "(c a) x y z", "w", (0.472528480027, 0.730252190476, 0.569142857143)),
        ("a (b c d)", "(c a) x y z", "a", (0.437163400661, 0.694887111111, 0.533777777778)),
        ("a (b c d)", "(c a) x y z", "b", (0.512078852978, 0.769802563428, 0.608693230094)),
    ],
)
def test_worked_examples(one, other, ties, expected):
    for pair in ((one, other), (other, one)):
        assert values(*map(groups_of, pair), 0.8, ties) == pytest.approx(expected, rel=0, abs=1e-11)


@pytest.mark.release
@needs_shared_data
def test_values_of_the_authors():
    """Corsi and Urbano publish 10,000 pairs, each with 12 values."""
    with lzma.open(ROOT / "rbo" / "rbo-ties.csv.xz", "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 10_000
    largest = 0.0
    for row in rows:
        number = {}
        lists = []
        for name in "xy":
            groups = groups_of(row[name])
            items = [(number.setdefault(i, len(number)), -at) for at, of in enumerate(groups) for i in of]
            document, score = np.array(items).T
            lists.append(core.RankedLists.of(1, np.zeros(score.size, dtype=np.int64), score, document))
        for ties in TIES:
            (found,) = core.Overlaps(lists, len(number), float(row["p"]), ties).with_others(0, [1])
            expected = [float(row[f"{ties}.{value}"]) for value in core.VALUES]
            largest = max(largest, np.abs(found[:, 0] - expected).max())
    assert largest < 1e-12


@st.composite
def rankings(draw, longest=9):
    items = draw(st.lists(st.integers(0, 11), unique=True, min_size=1, max_size=longest))
    ends = draw(st.lists(st.booleans(), min_size=len(items), max_size=len(items)))
    groups = [[]]
    for item, ends_group in zip(items, ends, strict=True):
        groups[-1].append(str(item))
        if ends_group:
            groups.append([])
    return [group for group in groups if group]


LISTS = st.lists(st.tuples(rankings(), rankings()), min_size=1, max_size=4)
PERSISTENCE = st.sampled_from([1e-12, 0.1, 0.5, 0.8, 0.9, 0.99])


@given(LISTS, PERSISTENCE, st.sampled_from(TIES))
def test_values_of_several_topics_equal_the_definition(pairs, p, ties):
    one, other = ({str(at): scored(pair[side]) for at, pair in enumerate(pairs)} for side in (0, 1))
    found = ir_graded.rbo(one, other, p, ties)
    expected = [plain.rbo(*pair, p, ties) for pair in pairs]
    np.testing.assert_allclose(found[["min", "max", "ext"]], expected, rtol=0, atol=2e-13)


@pytest.mark.slow
@given(LISTS, st.sampled_from(TIES))
def test_blocks_of_topics_do_not_change_values(pairs, ties):
    one, other = ({str(at): scored(pair[side]) for at, pair in enumerate(pairs)} for side in (0, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core, "_DEPTHS", 3)
        in_blocks = ir_graded.rbo(one, other, ties=ties)
    pd.testing.assert_frame_equal(in_blocks, ir_graded.rbo(one, other, ties=ties), rtol=0, atol=1e-15)


@given(rankings(5), rankings(5))
def test_a_is_the_mean_over_all_orders(one, other):
    found, expected = values(one, other, 0.8), plain.mean_over_orders(one, other, 0.8)
    assert found[0] == pytest.approx(expected[0], rel=0, abs=1e-14)
    if len(scored(one)) == len(
        scored(other)
    ):  # else the two other values are estimates below the shorter list
        assert found == pytest.approx(expected, rel=0, abs=1e-14)


@pytest.mark.slow
@given(rankings(), rankings())
def test_without_ties_all_treatments_agree(one, other):
    one, other = ([[item] for group in groups for item in group] for groups in (one, other))
    assert values(one, other) == pytest.approx(values(one, other, ties="w"), abs=1e-15)
    assert values(one, other) == pytest.approx(values(one, other, ties="b"), abs=1e-15)


@pytest.mark.slow
@given(rankings(), rankings(), st.sampled_from(TIES))
def test_bounds_contain_the_estimate_and_the_order_of_runs_has_no_effect(one, other, ties):
    low, high, ext = values(one, other, ties=ties)
    assert -1e-15 <= low <= ext + 1e-15
    assert ext <= high + 1e-15
    assert values(other, one, ties=ties) == pytest.approx((low, high, ext), abs=1e-15)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("length", [1, 2, 1000])
def test_equal_and_disjoint_lists(ties, length):
    one = [[str(at)] for at in range(length)]
    low, high, ext = values(one, one, ties=ties)
    assert (high, ext) == pytest.approx((1, 1), abs=1e-13)
    assert low == pytest.approx(1 - 0.9**length + length * 0.1 / 0.9 * plain.tail(0.9, length), abs=1e-13)
    low, high, ext = values(one, [[f"x{at}"] for at in range(length)], ties=ties)
    assert (low, ext) == (0, 0)
    assert 0 <= high < 1


@pytest.mark.parametrize(("ties", "own"), [("w", 1), ("b", 1), ("a", None)])
def test_a_list_with_one_score_is_equal_to_itself_unless_its_order_is_unknown(ties, own):
    tied = [[*"abcdefgh"]]
    ext = values(tied, tied, ties=ties)[2]
    assert ext == pytest.approx(plain.rbo(tied, tied, 0.9, ties)[2], abs=1e-15)
    assert ext == pytest.approx(own, abs=1e-14) if own else ext < 1


@pytest.mark.parametrize("p", [1e-300, 1e-20, 1e-9, 1 - 1e-4, 1 - 1e-6, 1 - 1e-12])
def test_extreme_persistence(p):
    """For small p the first rank decides; for p near 1 nothing is known of lists that end."""
    one, other = [["a"], ["b"], ["c"]], [["a"], ["c"], ["d"]]
    low, high, ext = values(one, other, p)
    if p < 0.5:
        assert (low, high, ext) == pytest.approx((1, 1, 1), abs=2 * p + 1e-15)
    else:
        assert ext == pytest.approx(2 / 3, abs=3 * (1 - p))
        assert high == pytest.approx(1, abs=4 * (1 - p))
        assert 0 < low < -4 * (1 - p) * np.log(1 - p)


def test_the_tail_of_long_lists_keeps_its_digits():
    """A difference of the whole sum and its beginning would leave only rounding errors."""
    for p, depth in ((0.9, 300), (0.5, 60), (1e-3, 4)):
        found = core.Weights.of(p, depth).tail[depth]
        assert found == pytest.approx((1 - p) / p * plain.tail(p, depth), rel=1e-12)
    p, depth = 1 - 1e-6, 1000  # with the rest in closed form
    sums = np.log1p(-p) + (p ** np.arange(1, depth + 1) / np.arange(1, depth + 1)).sum()
    assert core.Weights.of(p, depth).tail[depth] == pytest.approx(-(1 - p) / p * sums, rel=1e-10)


# ------------------------------------------------------------------------------------------------ runs


@pytest.fixture(scope="module")
def expected():
    return ir_graded.rbo(dicts(RUN), dicts(OTHER))


def test_scores_that_are_equal_only_in_single_precision_do_not_tie(expected):
    assert [*expected["query_id"]] == ["101", "102", "103", "104"]
    close, apart = (
        [(topic, doc, score + step * at) for at, (topic, doc, score) in enumerate(OTHER)]
        for step in (1e-9, 1e-3)
    )
    found = ir_graded.rbo(dicts(RUN), dicts(close))
    pd.testing.assert_frame_equal(found, ir_graded.rbo(dicts(RUN), dicts(apart)))
    assert not found.equals(expected)


@pytest.mark.parametrize("form", ["dicts", "pandas", "polars"])
def test_ids_may_be_whole_numbers(form, expected):
    found = ir_graded.rbo(forms.numbered(int, forms.FORMS[form].make)("run", RUN), dicts(OTHER))
    assert [*found["query_id"]] == [101, 102, 103, 104]
    np.testing.assert_array_equal(found.drop(columns="query_id"), expected.drop(columns="query_id"))


def test_passages_count_as_their_article():
    rows = [("1", "a", 3.0, 0, 5), ("1", "b", 2.0, 0, 5), ("1", "a", 1.0, 9, 5)]
    run = pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "start", "length"])
    assert ir_graded.rbo(run, {"1": {"a": 2.0, "b": 1.0}})["ext"][0] == pytest.approx(1)


def test_topics_of_one_run_are_left_out_with_a_warning():
    one, other = {"1": {"a": 1.0}, "2": {"a": 1.0}, "3": {}}, {"2": {"a": 1.0}, "3": {"a": 1.0}}
    with pytest.warns(CoverageWarning, match=r"2 topics are not in all runs \('1', '3'\)"):
        found = ir_graded.rbo(one, other)
    assert [*found["query_id"]] == ["2"]


@pytest.mark.parametrize(
    ("one", "other", "error", "part"),
    [
        ({"1": {"a": 1.0}}, {"2": {"a": 1.0}}, NoSharedTopicsError, "'run' has '1', 'other' has '2'"),
        ({"1": {"a": 1.0}}, {"1": {}}, NoSharedTopicsError, "'other' has none"),
        ({"1": {"a": 1.0}}, {"1": {"a": None}}, InputError, "run 'other': topic '1', document 'a'"),
        ({"1": {"a": "x"}}, {"1": {"a": 1.0}}, InputError, "run 'run': topic"),
        ({"1": {"a": 1.0}, "2": 3}, {"1": {"a": 1.0}}, InputError, "expected a dict from doc_id to score"),
        ({"x": {"1": {"a": 1.0}}, "y": {"1": {"a": 1.0}}}, {}, InputError, "run: expected one run, found 2"),
    ],
)
def test_runs_that_cannot_be_compared_are_rejected(one, other, error, part):
    assert part in error_message(error, ir_graded.rbo, one, other)


def test_a_document_that_appears_twice_is_rejected():
    rows = pd.DataFrame([("1", "a", 2.0), ("1", "a", 1.0)], columns=["query_id", "doc_id", "score"])
    message = error_message(InputError, ir_graded.rbo, {"1": {"a": 1.0}}, rows)
    assert "run 'other': topic '1', document 'a' appears twice" in message


@pytest.mark.parametrize("p", [0, 1, -0.1, 1.5, np.nan, "0.9", None, True])
def test_persistence_out_of_range_is_rejected(p):
    for call in (ir_graded.rbo, lambda one, other, p: ir_graded.rbo_matrix({"x": one, "y": other}, p)):
        assert error_message(ParameterError, call, {"1": {"a": 1.0}}, {"1": {"a": 1.0}}, p).startswith("p=")


def test_unknown_words_are_rejected():
    one = {"1": {"a": 1.0}}
    assert "'w', 'a', 'b'" in error_message(ParameterError, ir_graded.rbo, one, one, ties="doc_id")
    assert "'ext'" in error_message(ParameterError, ir_graded.rbo_matrix, {"x": one, "y": one}, score="mean")


# ---------------------------------------------------------------------------------------------- matrix


@pytest.fixture(scope="module")
def sample_runs():
    names = ("BM25R2", "UIowaS_Run3", "sab20.1.meta.docs", "azimiv_wk1")
    return {name: covid_sample().runs[name] for name in names}


@pytest.mark.slow
@pytest.mark.parametrize("score", core.VALUES)
@pytest.mark.parametrize("ties", TIES)
def test_matrix_has_the_mean_of_each_pair(sample_runs, score, ties):
    runs = {name: run.assign(score=run["score"] // 3) for name, run in sample_runs.items()}
    found = ir_graded.rbo_matrix(runs, 0.8, ties, score)
    frame = found.to_frame()
    assert [*frame.index] == [*frame] == [*runs]
    np.testing.assert_array_equal(frame, frame.T)
    assert (found.topics == 30).all()
    for one, other in (("BM25R2", "azimiv_wk1"), ("sab20.1.meta.docs", "UIowaS_Run3"), ("BM25R2", "BM25R2")):
        alone = ir_graded.rbo(runs[one], runs[other], 0.8, ties)[score].mean()
        assert frame.loc[one, other] == pytest.approx(alone, abs=1e-14)


def test_pairs_of_the_matrix_use_the_topics_that_both_have():
    one = {"1": {"a": 1.0}, "2": {"b": 1.0}}
    runs = {"x": one, "y": {"1": {"a": 1.0}}, "z": {**one, "3": {"c": 1.0}}}
    with pytest.warns(CoverageWarning, match="2 topics are not in all runs"):
        found = ir_graded.rbo_matrix(runs)
    assert found.topics.tolist() == [[2, 1, 2], [1, 1, 1], [2, 1, 3]]
    np.testing.assert_allclose(found.overlap, 1)
    assert str(found).startswith("RunOverlaps(p=0.9, ties='a', score='ext')")
    with pytest.raises(ValueError, match="read-only"):
        found.overlap[0] = 0


def test_pairs_without_a_common_topic_and_single_runs_are_rejected():
    runs = {"x": {"1": {"a": 1.0}}, "y": {"1": {"a": 1.0}}, "z": {"2": {"a": 1.0}}}
    assert "runs 'x' and 'z' share no topic" in error_message(NoSharedTopicsError, ir_graded.rbo_matrix, runs)
    assert "at least two runs" in error_message(InputError, ir_graded.rbo_matrix, {"x": runs["x"]})


# --------------------------------------------------------------------------------------------- command


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, order in {"x": "abcd", "y": "bace", "z": "dcba"}.items():
        docs = ((1, order), (2, order[::-1]))
        lines = [f"{topic} Q0 {doc} 0 {-at} t\n" for topic, listed in docs for at, doc in enumerate(listed)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


def test_command_prints_topics_and_means_of_two_runs(files, capsys):
    code, out, err = run_command(capsys, "rbo", "x.run", "y.run", "--p", "0.8", "-o", "csv", "-p", "-1")
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(out.splitlines()))
    assert [row["query_id"] for row in rows] == ["1", "2", "all"]
    expected = ir_graded.rbo(files / "x.run", files / "y.run", p=0.8)
    for name in core.VALUES:
        assert float(rows[0][name]) == expected[name][0]
        assert float(rows[2][name]) == pytest.approx(expected[name].mean(), abs=1e-15)


def test_command_prints_the_value_that_is_asked_for(files, capsys):
    assert files
    _, out, _ = run_command(capsys, "rbo", "x.run", "y.run", "--score", "min", "--ties", "w", "-o", "csv")
    assert out.splitlines()[0] == "query_id,min"


@pytest.mark.slow
def test_command_prints_all_pairs_of_several_runs(files, capsys):
    _, out, _ = run_command(
        capsys, "rbo", "x.run", "y.run", "z.run", "-o", "jsonl", "--score", "min", "--plot", "figures"
    )
    rows = [json.loads(line) for line in out.splitlines()]
    found = {(row["run"], row["other"]): row["value"] for row in rows}
    expected = ir_graded.rbo_matrix([*map(str, sorted(files.glob("*.run")))], score="min").to_frame()
    assert len(found) == 9
    for (one, other), value in found.items():
        assert value == pytest.approx(expected.loc[one, other], abs=5e-5)
    assert {path.name for path in (files / "figures").iterdir()} == {"rbo.png", "rbo.pdf"}


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["x.run"], "at least two runs"),
        (["x.run", "y.run", "--p", "1"], "--p"),
        (["x.run", "y.run", "--plot", "f"], "--plot needs at least three RUNs"),
        (["x.run", "absent.run"], "absent.run"),
    ],
)
def test_command_rejects_wrong_calls(files, capsys, arguments, part):
    assert files
    assert_command_fails(run_command(capsys, "rbo", *arguments), part)
