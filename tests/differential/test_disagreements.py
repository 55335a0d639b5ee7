"""The page of disagreements lists every case once, with our value; ``nox -s peers`` computes the others."""

import math

import pytest
from differential.disagreements import CASES
from docs.doc_blocks import DOCS, rows

PAGE = DOCS / "trust" / "disagreements.rst"
#: Our value and that of the other program, by the words on the page and by table.
TABLES = {
    name: {
        words: (here.strip("`"), there.strip("`"))
        for words, here, there, _ in rows(PAGE, f"disagreements-{name}")
    }
    for name in ("order", "levels", "formulas", "intents", "topics", "calls")
}


def as_printed(value, cell):
    """Return a value with as many decimals as the cell of the page."""
    if isinstance(value, str) or math.isnan(value):
        return str(value)
    return f"{value:.{len(cell.partition('.')[2])}f}"


def test_the_page_lists_every_case_once_in_order():
    assert [words for listed in TABLES.values() for words in listed] == [*CASES]
    assert sum(len(rows(PAGE, f"disagreements-{name}")) for name in TABLES) == len(CASES)


@pytest.mark.parametrize("name", TABLES)
def test_our_values_match_the_page(name):
    for words, (here, there) in TABLES[name].items():
        assert as_printed(CASES[words](), here) == here != there, words
