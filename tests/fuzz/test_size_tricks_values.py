"""Huge numbers in measures and qrels, and huge measure strings, cost little, or are rejected."""

import tracemalloc

import numpy as np
import pytest
from measures import measure_cases

import ir_graded
from ir_graded.measures.params import LevelTable
from ir_graded.measures.parsing import _split, parse_measure, read_measures

RUN = {"1": {"a": 1.0, "x": 0.5, "b": 0.2}, "2": {"z": 1.0}}
#: Sizes in bytes.
MEMORY = 64 << 20
NAMES = sorted(measure_cases.MEASURES)
#: Classics computed here, like this package's own measures.
CLASSICS = ["AP", "RR", "nDCG", "P", "R", "Success", "ERR", "Judged", "SetP", "SetR", "SetF"]


@pytest.fixture
def little_memory():
    tracemalloc.start()
    yield
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < MEMORY


def score(text, level):
    qrels = {"1": {"a": level, "b": 1, "c": 0}, "2": {"a": 1}}
    scores = ir_graded.evaluate([text], qrels, RUN)
    assert np.isfinite(scores.values).all()
    return scores.values.tolist()


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("name", [*NAMES, *CLASSICS])
def test_a_cutoff_of_a_billion_is_computed(name):
    score(f"{name}@1000000000", 2) if "cutoff" in parse_measure(name).SUPPORTED_PARAMS else None


def gains(keys):
    return "Q(gains={" + ",".join(f"{key}:{key + 1}" for key in range(keys)) + "})"


def test_gains_with_a_hundred_thousand_keys_are_read():
    assert score(gains(100_000), 2) == score(gains(3), 2)


def test_gains_with_many_keys_print_and_read_back():
    measure = parse_measure(gains(1000))
    assert str(measure) == gains(1000)
    assert parse_measure(str(measure)) == measure
    assert read_measures([f"{gains(1000)} AP"]) == [measure, parse_measure("AP")]


def test_long_and_deep_strings_are_rejected_with_a_short_message():
    deep = 100_000
    deeply_nested = [
        "[" * deep + "]" * deep,
        "(" * deep + "1" + ")" * deep,
        "-" * 1500 + "1",
        "-" * deep + "1",
    ]
    for value in (
        *deeply_nested,
        "{1:" * deep + "1" + "}" * deep,
        f"'{'x' * deep}'",
        "9" * deep,
        "[0]," * 100,
    ):
        with pytest.raises(ir_graded.GradedError) as rejected:
            parse_measure(f"Q(beta={value})")
        assert len(str(rejected.value)) < 1_000


@pytest.mark.parametrize("separator", [" ", "\n", "(", ")"])
def test_a_million_characters_on_the_command_line_are_rejected(separator):
    text = separator.join(["Q"] * 500_000)
    if separator.isspace():
        assert _split(text) == ["Q"] * 500_000
    else:
        assert _split(text) == [text]


def test_a_table_of_levels_rejects_numbers_that_python_cannot_print():
    with pytest.raises(ir_graded.ParameterError, match="gains=<dict of too many digits> must be"):
        parse_measure("Q")(gains={1: 10**5000})
    assert not LevelTable("").validate({1: 10**5000})
