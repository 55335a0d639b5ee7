"""Every measure compared with decimals of 60 digits: ordinary numbers, and extreme parameters and levels."""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path

import exactness
import number_cases as cases
import passage_precision
import pytest
from classics.classic_cases import OF_DOCUMENTS as CLASSICS
from reference import passages, ranked

from ir_graded import InputError
from ir_graded.core.facets import SPAN
from ir_graded.measures import REGISTRY

pytestmark = pytest.mark.slow

#: The documented errors by measure, from more data than these tests use.
PAGE = Path(__file__).parents[2] / "docs" / "trust"
WRITTEN = exactness.written(PAGE)
#: The largest of them, rounded up to whole ulps.
MOST_ULPS = math.ceil(max(error for *errors, _ in WRITTEN.values() for error in errors))
CHOSEN = {
    "ordinary": (lambda measure: cases.parameters(measure, 3), cases.ORDINARY, 16 * 9),
    "ends": (lambda measure: cases.parameters(measure, 3, ends=True), cases.ENDS, 5 * 10),
    "levels": (lambda measure: cases.parameters(measure, cases.LARGEST_LEVEL), cases.LEVELS_AT_ENDS, 10 * 9),
    "long": (cases.of_long_rankings, cases.LONG, 2),
}
each_classic = pytest.mark.parametrize("name", CLASSICS)


def check(errors, fewest):
    found = list(errors)
    assert len(found) >= fewest
    worst = cases.largest(found)
    assert worst[0] <= MOST_ULPS, worst


def test_every_measure_has_a_reference():
    assert set(cases.measure_cases.MEASURES) == set(ranked.MEASURES)
    assert set(CLASSICS) == set(ranked.CLASSICS)
    of_articles = [one for one in REGISTRY.values() if SPAN in one.NEEDS and not one.NEEDS_ROWS]
    assert {measure.NAME for measure in of_articles} == set(passages.MEASURES)


@pytest.mark.parametrize("kind", CHOSEN)
@pytest.mark.parametrize("measure", cases.VARIANTS.values(), ids=cases.VARIANTS)
def test_scores_are_within_the_documented_error(measure, kind):
    measures, collection, fewest = CHOSEN[kind]
    check(cases.errors(measures(measure), *collection), fewest)


@each_classic
def test_classics_are_within_the_documented_error(name):
    for collection in (cases.ORDINARY, cases.LONG):
        check(cases.errors(cases.CLASSIC_VARIANTS[name], *collection), 2)


@each_classic
def test_classics_with_smallest_and_largest_levels_are_within_the_error(name):
    """Gains of 2^level are rejected if they would not be finite."""
    for measure in cases.CLASSIC_VARIANTS[name]:
        if str(measure).startswith(("nDCG(dcg='exp-log2')", "ERR")):
            with pytest.raises(InputError, match="level"):
                list(cases.errors([measure], *cases.LEVELS_AT_ENDS))
        else:
            check(cases.errors([measure], *cases.LEVELS_AT_ENDS), 10)


@pytest.mark.parametrize("scale", [(1e-10, 3e-10, 1e-300), (0.1, 1e-16, 0.49, 0.5), (3.9, 1e-5, 4)], ids=str)
def test_exponential_gains_of_small_levels_are_within_the_error(scale):
    collection = cases.collection([scale], topics=3, retrieved=30, judged=30)
    for name in ("nDCG", "ERR"):
        check(cases.errors(cases.CLASSIC_VARIANTS[name], *collection), 6)


@pytest.mark.parametrize("largest", [60, 2**31, 2**48])
@pytest.mark.parametrize("measure", passage_precision.MEASURES.values(), ids=str)
def test_measures_of_passages_are_within_the_documented_error(measure, largest):
    check(passage_precision.errors(measure, largest), 4 * 15)


def test_the_command_prints_and_writes_every_measure(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(cases, "VARIANTS", {name: cases.VARIANTS[name] for name in ("P+", "R-WP")})
    worst = exactness.main(["--topics", "1", "--documents", "300", "--page", str(tmp_path)])
    assert 0 < worst <= MOST_ULPS
    lines = capsys.readouterr().out.splitlines()
    found = exactness.written(tmp_path)
    assert [*found] == [line.split()[0] for line in lines[1:-1]]
    assert [*found] == ["P+", "R-WP", *passage_precision.MEASURES, *CLASSICS]
    assert lines[-1].split()[2:4] == ["compared,", "the"]
    assert max(error for *errors, _ in found.values() for error in errors) == pytest.approx(worst, abs=0.005)
    for folder, table in ((tmp_path, found), (PAGE, WRITTEN)):
        largest = max(error for *errors, _ in table.values() for error in errors)
        total = sum(count for *_, count in table.values())
        assert (folder / exactness.TEXT).read_text(encoding="utf-8") == (
            f".. |exactness scores| replace:: {total:,.0f}\n.. |exactness worst| replace:: {largest:.2f}\n"
        )


def test_the_page_has_every_measure():
    assert sorted(WRITTEN) == sorted([*cases.VARIANTS, *passage_precision.MEASURES, *CLASSICS])


def test_ulps_are_counted_in_the_last_digit():
    third = ranked.DIGITS.divide(1, 3)
    assert cases.ulps(1 / 3, third) <= 0.5
    assert cases.ulps(math.nextafter(1 / 3, 0), third) == pytest.approx(4 / 3)
    assert cases.ulps(float("nan"), third) == cases.ulps(float("inf"), Decimal(1)) == float("inf")
