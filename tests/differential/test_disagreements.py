"""Known disagreements: both values equal those on the documentation page, and the page lists every case."""

import math

import pytest
from differential import (
    disagree_intents,
    disagree_levels,
    disagree_measures,
    disagree_ranking,
    disagree_topics,
)
from docs.doc_blocks import DOCS, rows

SUBJECTS = (disagree_ranking, disagree_levels, disagree_measures, disagree_intents, disagree_topics)
CASES = {words: case for subject in SUBJECTS for words, case in subject.case.items()}
PAGE = DOCS / "trust" / "disagreements.rst"
TABLES = ("order", "levels", "formulas", "intents", "topics", "calls")
LISTED = {
    words: (here.strip("`"), there.strip("`"))
    for table in TABLES
    for words, here, there, _ in rows(PAGE, f"disagreements-{table}")
}


def as_printed(value, cell):
    """Return a value with as many decimals as the cell of the page."""
    if isinstance(value, str) or math.isnan(value):
        return str(value)
    return f"{value:.{len(cell.partition('.')[2])}f}"


def test_the_page_lists_every_case_once():
    assert LISTED.keys() == CASES.keys()
    assert len(CASES) == sum(len(subject.case) for subject in SUBJECTS)
    assert len(LISTED) == sum(len(rows(PAGE, f"disagreements-{table}")) for table in TABLES)


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize("words", CASES)
def test_both_values_match_the_page(words):
    values, missing = CASES[words]
    if missing:
        pytest.skip(missing)
    cells = LISTED[words]
    assert tuple(map(as_printed, values(), cells)) == cells
    assert cells[0] != cells[1]
