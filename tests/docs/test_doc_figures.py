"""Figures that the pages of docs/trust name are those that there are."""

from __future__ import annotations

import re

from doc_blocks import DOCS

TRUST = DOCS / "trust"


def page(name):
    return (TRUST / f"{name}.rst").read_text(encoding="utf-8")


def rows_of(name):
    """The rows of the first list-table of a page, by their first cell."""
    found = {}
    for row in re.findall(r"   \* - (.*)\n((?:     - .*\n)*)", page(name)):
        found[row[0]] = re.findall(r"- (.*)\n", row[1])
    return found


def test_the_figures_of_mutants_are_one():
    mutants, table = page("mutants"), rows_of("mutants")
    total, killed, timeouts, survived = (int(cell.replace(",", "")) for cell in table["**All**"][:4])
    modules = [
        [int(cell.replace(",", "")) for cell in row[:4]] for name, row in table.items() if name[0] == "`"
    ]
    assert [sum(column) for column in zip(*modules, strict=True)] == [total, killed, timeouts, survived]
    noticed = killed + timeouts
    assert f"{noticed:,} of all {total:,} mutants" in mutants
    assert f"{noticed:,} of {total:,} were noticed, {noticed / total:.1%}" in " ".join(page("index").split())
    assert sum(map(int, re.findall(r"^\*\*.*\*\* \((\d+)\)\.", mutants, flags=re.MULTILINE))) == survived
