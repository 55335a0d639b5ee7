"""Agreement of labels: worked examples, a plain reference in exact fractions, and invariants."""

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from reference import agreement as plain

from ir_graded.errors import InputError, ParameterError
from ir_graded.meta import agreement
from ir_graded.meta.options import generator
from ir_graded.meta.replicates import topic_counts

NAN = math.nan
A = [0, 0, 0, 1, 1, 2, 2, 2, 3, 0, 1, 3]
B = [0, 0, 1, 1, 2, 2, 2, 1, 3, 0, 0, 2]
#: Krippendorff's example C: four observers, one row per unit.
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T


def two(a, b, topics=None, **options):
    found = agreement(np.array([a, b]).T, topics=topics or [1] * len(a), **{"n_resamples": 3} | options)
    return found.to_frame().set_index("coefficient")["value"]


def test_worked_pairs_have_their_coefficients():
    found = agreement(np.array([A, B]).T, topics=np.repeat([1, 2, 3], 4).tolist())
    assert found.confusion().to_numpy().tolist() == [[3, 1, 0, 0], [1, 1, 1, 0], [0, 1, 2, 0], [0, 0, 1, 1]]
    expected = {
        "observed": 7 / 12,
        "kappa": 0.4285714286,
        "kappa_linear": 0.6385542169,
        "kappa_quadratic": 0.8076923077,
        "ac1": 0.4503816794,
        "ac2_linear": 0.6811337467,
        "ac2_quadratic": 0.8462852263,
        "alpha": 0.8124901776,
        "overlap": 7 / 9,
    }
    rows = found.to_frame().set_index("coefficient")
    assert rows["value"].to_dict() == pytest.approx(expected, abs=6e-11)
    for name, ends in {
        "kappa_quadratic": (-0.333333, 0.864865),
        "alpha": (-0.277778, 0.812490),
        "ac1": (0.337423, 0.703704),
    }.items():
        assert rows.loc[name, ["low", "high"]].tolist() == pytest.approx(ends, abs=6e-7)
    assert found.few_topics
    by_topic = found.by_topic()
    assert by_topic["kappa_quadratic"].tolist() == pytest.approx([0.5, -1 / 3, 0.862069], abs=6e-7)
    assert by_topic[["a_only", "b_only", "both"]].to_numpy().tolist() == [[0, 0, 4]] * 3
    for measurement, value in (("nominal", 0.4497607656), ("interval", 0.8154093098)):
        assert two(A, B, measurement=measurement)["alpha"] == pytest.approx(value, abs=6e-11)


@pytest.mark.parametrize(
    ("measurement", "value"), [("nominal", 0.743421053), ("ordinal", 0.815387504), ("interval", 0.849107143)]
)
def test_observers_with_missing_labels_have_the_published_alpha(measurement, value):
    found = agreement(OBSERVERS, topics=[1] * 12, measurement=measurement, n_resamples=5)
    last = found.to_frame().iloc[-1]
    assert (last["a"], last["coefficient"]) == ("all sets", "alpha")
    assert last["value"] == pytest.approx(value, abs=6e-10)
    kappa = found.matrix("kappa")
    assert kappa.loc[0, 1] == kappa.loc[1, 0] == pytest.approx(0.844828, abs=6e-7)
    assert kappa.loc[0, "mean"] == pytest.approx(kappa.loc[0, [1, 2, 3]].mean())


@pytest.mark.slow
@pytest.mark.parametrize("levels", [2, 3, 4])
def test_coefficients_equal_the_plain_reference(levels):
    rng = np.random.default_rng(levels)
    names = {"kappa": plain.kappa, "ac": plain.gwet}
    for _ in range(20):
        scale = np.cumsum(rng.integers(1, 4, levels)) - 1.0
        labels = scale[rng.integers(0, levels, (30, 2))]
        labels[rng.random(labels.shape) < 0.1] = NAN
        topics = rng.integers(0, 5, 30).tolist()
        found = agreement(labels, topics=topics, levels=scale.tolist(), n_resamples=20, rng=3, rel=scale[1])
        sets = [
            {
                topic: {row: labels[row, at] for row in range(30) if topics[row] == topic and known[row]}
                for topic in topics
            }
            for at, known in enumerate(~np.isnan(labels).T)
        ]
        matrices = plain.confusions(*sets, scale.tolist())
        counts = plain.total(list(matrices.values()))
        value = found.to_frame().set_index("coefficient")
        assert found.confusion().to_numpy().tolist() == counts
        for kind, suffix in (("identity", ""), ("linear", "_linear"), ("quadratic", "_quadratic")):
            for name, function in names.items():
                full = (
                    f"{name}1" if (name, kind) == ("ac", "identity") else name.replace("ac", "ac2") + suffix
                )
                assert value.loc[full, "value"] == pytest.approx(
                    function(counts, scale.tolist(), kind), nan_ok=True
                )
        assert value.loc["overlap", "value"] == pytest.approx(plain.overlap(counts, scale.tolist(), scale[1]))
        for measurement in ("nominal", "ordinal", "interval"):
            expected = plain.alpha(plain.coincidences_of(counts), scale.tolist(), measurement)
            again = agreement(labels, topics=topics, measurement=measurement, n_resamples=2)
            assert again.values[0, 7] == pytest.approx(expected)
        used = [one for one in matrices.values() if sum(map(sum, one))]
        drawn = topic_counts(generator(3), len(used), 20)
        low, high, undefined = plain.interval(used, drawn, partial(plain.kappa, scale=scale.tolist()))
        assert value.loc["kappa", ["low", "high", "undefined"]].tolist() == pytest.approx(
            [low, high, undefined]
        )


def test_alpha_of_several_sets_equals_the_plain_reference():
    rng = np.random.default_rng(5)
    for sets in (3, 5):
        labels = rng.integers(0, 3, (25, sets)).astype(float)
        labels[rng.random(labels.shape) < 0.3] = NAN
        dicts = [
            {row: labels[row, at] for row in range(25) if not math.isnan(labels[row, at])}
            for at in range(sets)
        ]
        for measurement in ("nominal", "ordinal", "interval"):
            expected = plain.alpha(plain.coincidences(dicts, [0, 1, 2]), [0, 1, 2], measurement)
            found = agreement(labels, topics=[1] * 25, measurement=measurement, n_resamples=2)
            assert found.to_frame()["value"].iloc[-1] == pytest.approx(expected)


@pytest.mark.slow
def test_soft_labels_have_only_interval_alpha():
    rng = np.random.default_rng(6)
    labels = rng.random((40, 3)).round(3) + 1000
    labels[rng.random(labels.shape) < 0.2] = NAN
    found = agreement(labels, topics=[1, 2] * 20, measurement="interval", n_resamples=5)
    dicts = [
        {row: labels[row, at] for row in range(40) if not math.isnan(labels[row, at])} for at in range(3)
    ]
    scale = plain.scale_of(*({"1": one} for one in dicts))
    values = found.to_frame().set_index(["a", "b", "coefficient"])["value"]
    assert values["all sets", "all sets", "alpha"] == pytest.approx(
        plain.alpha(plain.coincidences(dicts, scale), scale, "interval")
    )
    assert values.drop(("all sets", "all sets", "alpha")).notna().sum() == 3
    assert agreement(labels, topics=[1, 2] * 20, n_resamples=5).to_frame()["value"].isna().all()
    assert found.confusion().empty


def test_topics_without_two_soft_labels_change_nothing():
    """The last topic and one in the middle have labels of one set only."""
    labels = np.random.default_rng(2).random((30, 2))
    labels[[14, 28, 29], 1] = NAN
    topics = np.array([1] * 14 + [2] + [3] * 13 + [4] * 2)
    kept = ~np.isnan(labels[:, 1])
    options = {"measurement": "interval", "n_resamples": 5}
    found, expected = (
        agreement(labels, topics=topics, **options),
        agreement(labels[kept], topics=topics[kept], **options),
    )
    values = [one.to_frame().set_index("coefficient").loc["alpha", "value"] for one in (found, expected)]
    assert values[0] == pytest.approx(values[1], abs=1e-12)
    assert found.topics == (1, 2, 3, 4)
    assert found.covered[0].tolist() == [[0, 0, 14], [1, 0, 0], [0, 0, 13], [2, 0, 0]]


def test_edge_cases_have_defined_values():
    constant = two([0] * 8, [0] * 5 + [1] * 3)
    assert constant["kappa"] == 0
    assert constant[["alpha", "ac1"]].tolist() == pytest.approx([-0.153846, 0.460674], abs=6e-7)
    one_class = two([1, 1, 1], [1, 1, 1])
    assert (one_class == 1).all()
    declared = two([1, 1, 1], [1, 1, 1], levels=[0, 1])
    assert declared[["kappa", "alpha"]].isna().all()
    assert declared["ac1"] == 1
    skewed = two([0] * 94 + [1] * 6, [0] * 90 + [1] * 4 + [0] * 4 + [1] * 2)
    expected = {"observed": 0.92, "kappa": 0.290780, "alpha": 0.294326, "ac1": 0.909829}
    assert skewed[list(expected)].to_dict() == pytest.approx(expected, abs=6e-7)


def test_unused_level_changes_only_coefficients_that_count_levels():
    a, b = [0, 0, 2, 2, 0], [0, 2, 2, 2, 0]
    for levels, ac1 in ((None, 0.6), ([0, 1, 2], 0.733333)):
        found = two(a, b, levels=levels)
        assert found["ac1"] == pytest.approx(ac1, abs=6e-7)
        assert found[["kappa_linear", "alpha"]].tolist() == pytest.approx([0.615385, 0.64], abs=6e-7)


def test_reference_limits_the_comparisons_and_names_come_from_the_table():
    index = pd.MultiIndex.from_product([["t1", "t2", "t3"], list("abcd")], names=["query_id", "doc_id"])
    table = pd.DataFrame({"x": A, "y": B, "z": A[::-1]}, index=index)
    table.loc["t3", "y"] = NAN
    found = agreement(table, reference="y", n_resamples=9)
    rows = found.to_frame()
    pairs = rows[["a", "b"]].drop_duplicates().to_numpy().tolist()
    assert pairs == [["y", "x"], ["y", "z"], ["all sets"] * 2]
    assert found.topics == ("t1", "t2", "t3")
    by_topic = found.by_topic()
    assert by_topic.loc["t3", ["a_only", "b_only", "both"]].tolist() == [0, 4, 0]
    assert by_topic.loc["t3"].drop(["a_only", "b_only", "both"]).isna().all()
    assert found.matrix("kappa").loc["x", "z"] is not None
    assert math.isnan(found.matrix("kappa").loc["x", "z"])


@pytest.mark.parametrize(
    ("labels", "options", "error", "words"),
    [
        (
            [[0, NAN], [NAN, 1]],
            {},
            InputError,
            "no pair of a topic and a document has labels in two of the sets",
        ),
        ([[0], [1]], {}, InputError, "at least 2 sets are needed, found 1"),
        ([0, 1], {}, InputError, "a row per topic and document and a column per set"),
        ([[0, math.inf], [1, 1]], {}, InputError, "row 0, set 1: the label is inf"),
        ([["0", "x"], ["1", "1"]], {}, InputError, "row 0, set 1: the label is 'x'"),
        (pd.DataFrame([[0, 1], [1, 1]], columns=["a", "a"]), {}, InputError, "set 'a' appears twice"),
        ([[0, 1], [1, 1]], {"topics": None}, ParameterError, "topics is required"),
        ([[0, 1], [1, 1]], {"topics": [1]}, ParameterError, "topics has 1 values for 2 rows"),
        ([[0, 1], [1, 1]], {"reference": "x"}, ParameterError, "reference='x' must be one of 0, 1"),
        ([[0, 1], [1, 1]], {"levels": [0, NAN]}, InputError, "levels: number 2 is nan"),
        ([[0, 1], [1, 1]], {"levels": [0, math.inf]}, InputError, "levels: number 2 is inf"),
        ([[0, 1], [1, 1]], {"levels": ["low", "high"]}, InputError, "levels: number 1 is 'low'"),
        ([[0, 1], [1, 1]], {"levels": [[0, 1]]}, InputError, "levels: expected a list of numbers"),
    ],
)
def test_errors_say_what_is_wrong(labels, options, error, words):
    with pytest.raises(error, match=words):
        agreement(labels, **{"topics": [1, 2]} | options)


@pytest.mark.parametrize("kind", [np.array, pd.Series, tuple, iter])
def test_topics_may_be_given_in_any_sequence(kind):
    labels = [[0, 1], [1, 1], [0, 0], [2, 1]]
    expected = agreement(labels, topics=[1, 1, 2, 2], n_resamples=9).to_frame()
    found = agreement(labels, topics=kind([1, 1, 2, 2]), n_resamples=9).to_frame()
    pd.testing.assert_frame_equal(found, expected)


def test_missing_values_in_integer_columns_are_not_labels():
    labels = [[0, 1], [None, 1], [0, 0], [2, None], [2, 2]]
    expected = agreement(np.array(labels, dtype=float), topics=[1, 1, 2, 2, 2], n_resamples=9)
    found = agreement(pd.DataFrame(labels, dtype="Int64"), topics=[1, 1, 2, 2, 2], n_resamples=9)
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())


def test_soft_labels_have_no_confusion_matrix_to_draw():
    soft = np.arange(50).reshape(25, 2) / 50
    with pytest.raises(InputError, match="50 levels, too many for a confusion matrix"):
        agreement(soft, topics=[1] * 25, n_resamples=2).plot()


def test_unknown_coefficient_is_rejected():
    with pytest.raises(ParameterError, match="coefficient='pi' must be one of 'observed'"):
        agreement(OBSERVERS, topics=[1] * 12, n_resamples=2).matrix("pi")
