"""Every measure compared with decimals of 60 digits: ordinary numbers, and extreme parameters and levels."""

from __future__ import annotations

import math
from pathlib import Path

import classics_precision
import exactness
import high_precision
import number_cases as cases
import passage_precision
import pytest
from measures import measure_cases
from reference import ranked

from ir_graded import InputError
from ir_graded.measures.classic import CLASSICS

pytestmark = pytest.mark.slow

#: The documented errors by measure, from more data than these tests use.
PAGE = Path(__file__).parents[2] / "docs" / "trust"
WRITTEN = exactness.written(PAGE)
#: The largest of them, rounded up to whole ulps.
MOST_ULPS = math.ceil(max(error for *errors, _ in WRITTEN.values() for error in errors))

each_variant = pytest.mark.parametrize("measure", cases.VARIANTS.values(), ids=cases.VARIANTS)
each_classic = pytest.mark.parametrize("name", CLASSICS)


def check(errors, fewest):
    found = list(errors)
    assert len(found) >= fewest
    worst = cases.largest(found)
    assert worst[0] <= MOST_ULPS, worst


def test_every_measure_has_a_reference():
    assert set(measure_cases.MEASURES) == {*high_precision.GRADED, *ranked.WHOLE_TOPIC}
    assert set(passage_precision.MEASURES) == {"MAgP", "gP", "gR"}
    assert set(CLASSICS) == set(classics_precision.CLASSIC)


@each_variant
def test_ordinary_numbers_are_within_the_error(measure):
    qrels, rankings = cases.ORDINARY
    check(cases.errors_of_graded(measure, list(cases.parameters(measure, 3)), qrels, rankings), 16 * 9)


@each_variant
def test_parameters_at_the_limits_of_their_ranges_are_within_the_error(measure):
    qrels, rankings = cases.ENDS
    chosen = list(cases.parameters(measure, 3, ends=True))
    check(cases.errors_of_graded(measure, chosen, qrels, rankings), 5 * 10)


@each_variant
def test_smallest_and_largest_levels_are_within_the_error(measure):
    qrels, rankings = cases.LEVELS_AT_ENDS
    chosen = list(cases.parameters(measure, cases.LARGEST_LEVEL))
    check(cases.errors_of_graded(measure, chosen, qrels, rankings), 10 * 9)


@each_variant
def test_long_rankings_are_within_the_error(measure):
    qrels, rankings = cases.LONG
    check(cases.errors_of_graded(measure, cases.of_long_rankings(measure), qrels, rankings), 2)


@each_classic
def test_classics_are_within_the_documented_error(name):
    for qrels, rankings in (cases.ORDINARY, cases.LONG):
        check(cases.errors_of_classic(cases.CLASSIC_VARIANTS[name], qrels, rankings), 2)


@each_classic
def test_classics_with_smallest_and_largest_levels_are_within_the_error(name):
    """Gains of 2^level are rejected if they would not be finite."""
    for measure in cases.CLASSIC_VARIANTS[name]:
        if str(measure).startswith(("nDCG(dcg='exp-log2')", "ERR")):
            with pytest.raises(InputError, match="level"):
                list(cases.errors_of_classic([measure], *cases.LEVELS_AT_ENDS))
        else:
            check(cases.errors_of_classic([measure], *cases.LEVELS_AT_ENDS), 10)


@pytest.mark.parametrize("scale", [(1e-10, 3e-10, 1e-300), (0.1, 1e-16, 0.49, 0.5), (3.9, 1e-5, 4)], ids=str)
def test_exponential_gains_of_small_levels_are_within_the_error(scale):
    qrels, rankings = cases.collection([scale], topics=3, retrieved=30, judged=30)
    for name in ("nDCG", "ERR"):
        check(cases.errors_of_classic(cases.CLASSIC_VARIANTS[name], qrels, rankings), 6)


@pytest.mark.parametrize("largest", [60, 2**31, 2**48])
@pytest.mark.parametrize("measure", passage_precision.MEASURES.values(), ids=str)
def test_measures_of_passages_are_within_the_documented_error(measure, largest):
    check(passage_precision.errors(measure, largest), 4 * 15)


def test_the_command_prints_every_measure(capsys, monkeypatch):
    monkeypatch.setattr(cases, "VARIANTS", {name: cases.VARIANTS[name] for name in ("P+", "R-WP")})
    assert 0 < exactness.main(["--topics", "1", "--documents", "300"]) <= MOST_ULPS
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == ["P+", "R-WP", *passage_precision.MEASURES, *CLASSICS]
    assert lines[-1].split()[2:4] == ["compared,", "the"]


def test_the_page_equals_the_output_of_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(cases, "VARIANTS", {name: cases.VARIANTS[name] for name in ("P+", "R-WP")})
    worst = exactness.main(["--topics", "1", "--documents", "300", "--page", str(tmp_path)])
    found = exactness.written(tmp_path)
    assert [*found] == ["P+", "R-WP", *passage_precision.MEASURES, *CLASSICS]
    assert max(error for *errors, _ in found.values() for error in errors) == pytest.approx(worst, abs=0.005)
    for folder, table in ((tmp_path, found), (PAGE, WRITTEN)):
        largest = max(error for *errors, _ in table.values() for error in errors)
        total = sum(count for *_, count in table.values())
        assert (folder / exactness.TEXT).read_text(encoding="utf-8") == (
            f".. |exactness scores| replace:: {total:,.0f}\n.. |exactness worst| replace:: {largest:.2f}\n"
        )


def test_the_page_has_every_measure():
    assert [*WRITTEN] == [*cases.VARIANTS, *passage_precision.MEASURES, *CLASSICS]


def test_ulps_are_counted_in_the_last_digit():
    with high_precision.localcontext(high_precision.CONTEXT):
        third = high_precision.decimal(1) / 3
        assert cases.ulps(1 / 3, third) <= 0.5
        assert cases.ulps(math.nextafter(1 / 3, 0), third) == pytest.approx(4 / 3)
    assert cases.ulps(float("nan"), third) == cases.ulps(float("inf"), third) == float("inf")
