"""The table in the guide on ties, which is measured on runs that do not ship."""

import csv
from itertools import chain
from pathlib import Path

import pytest
from collections_data import ROOT, needs_shared_data

import ir_graded

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "ties.rst"
MEASURES = ["nDCG@10", "RR"]
COVID = ROOT / "trec-covid"


def table():
    """Return run -> the cells of its row, tied documents first."""
    part = GUIDE.read_text(encoding="utf-8").partition("Example: two systems that swap ranks\n")[2]
    lines = part.partition(".. csv-table::")[2].partition("\n\n")[2].partition("\n\n")[0].splitlines()
    rows = csv.reader((line.replace("**", "").strip() for line in lines), skipinitialspace=True)
    return {name: cells for name, *cells in rows}


def measured():
    """Compute the table again."""
    qrels = COVID / "qrels" / "qrels.covid-round5.txt.gz"
    runs = [COVID / "round5.raw" / f"{name}.xz" for name in table()]
    by_id = ir_graded.evaluate(MEASURES, qrels, runs).mean()
    found = ir_graded.ties(MEASURES, qrels, runs).set_index(["run", "measure"])

    def cells(name, measure):
        row = found.loc[name, measure]
        low, high = (decimal(row[order]) for order in ("pessimistic", "optimistic"))
        span = "none" if low == high else f"{low} to {high}"
        return decimal(by_id.loc[name, measure]), decimal(row["expected"]), span

    shares = {name: f"{found.loc[(name, 'RR'), 'tied_share']:.1%}".replace("0.0%", "0%") for name in table()}
    return {n: [shares[n], *chain.from_iterable(cells(n, measure) for measure in MEASURES)] for n in table()}


def decimal(score):
    return f"{score:.4f}".lstrip("0")


@pytest.mark.slow
@needs_shared_data
def test_the_table_of_the_guide_on_ties_matches_the_measured_values():
    assert measured() == table()


def test_the_guide_names_systems_that_swap_ranks_with_expected_scores():
    columns = {name: [float(cells[at]) for at in (1, 2, 4, 5)] for name, cells in table().items()}
    dora, uab = columns["DoRA_MSMARCO_1k"], columns["uab.base"]
    assert dora[0] < uab[0]
    assert dora[1] > uab[1]
    ucd, csiro = columns["ucd_cs_r1"], columns["CSIROmedFR"]
    assert ucd[2] < csiro[2]
    assert ucd[3] > csiro[3]
