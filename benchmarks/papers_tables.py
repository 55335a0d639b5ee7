"""Redo the tables of the papers behind the measures on collections with public runs.

    python benchmarks/papers_tables.py FOLDER [--out docs/trust/papers]

FOLDER holds two collections, which may not be redistributed. A part whose folder is missing is left out:

- robust2003: qrels.robust03.txt.gz, and in runs and more-runs the 17 public runs of the TREC 2003 Robust
  track (input.NAME.gz; examples/robust03 of github.com/joaopalotti/trectools has them all).
- trec-covid: qrels/qrels.covid-round5.txt.gz, leaderboards/round5.csv (columns tag and team) and
  round5.judged.tsv.xz, as for meta_trec_covid.py. The archive is NIST's (ir.nist.gov/covidSubmit).

CSV files with the printed and the recomputed values are written to --out.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from meta_trec_covid import runs as covid_runs

import ir_graded
from ir_graded import NCU, meta

GAINS = {"1:2:3": {1: 1, 2: 3}, "1:5:10": {1: 1, 2: 10}}
GAMMAS = (1, 0.9, 0.7, 0.5)
BETAS = (0, 1, 10000)
#: Sakai and Robertson (2008), TREC03, by gains, stop, beta and gamma: pairs of 120 and required difference
#: (Table 6), tau (Table 4), tau_AP (Table 5). AP is rb with beta 0 and gamma 1.
PAPER = {
    ("1:2:3", "rb", 0, 1): (77, 0.07, 1, 1),
    ("1:2:3", "rb", 0, 0.9): (65, 0.11, 0.843, 0.761),
    ("1:2:3", "rb", 0, 0.7): (56, 0.14, 0.707, 0.601),
    ("1:2:3", "rb", 0, 0.5): (50, 0.14, 0.652, 0.535),
    ("1:2:3", "rb", 1, 1): (80, 0.07, 0.936, 0.893),
    ("1:2:3", "rb", 1, 0.9): (75, 0.09, 0.855, 0.776),
    ("1:2:3", "rb", 1, 0.7): (55, 0.11, 0.710, 0.595),
    ("1:2:3", "rb", 1, 0.5): (49, 0.12, 0.639, 0.524),
    ("1:2:3", "rb", 10000, 1): (70, 0.07, 0.857, 0.786),
    ("1:2:3", "rb", 10000, 0.9): (64, 0.08, 0.819, 0.744),
    ("1:2:3", "rb", 10000, 0.7): (52, 0.10, 0.690, 0.569),
    ("1:2:3", "rb", 10000, 0.5): (46, 0.12, 0.624, 0.507),
    ("1:2:3", "gu", 0, None): (77, 0.08, 0.957, 0.925),
    ("1:2:3", "gu", 1, None): (82, 0.08, 0.951, 0.909),
    ("1:2:3", "gu", 10000, None): (72, 0.08, 0.848, 0.766),
    ("1:5:10", "rb", 1, 1): (78, 0.08, 0.890, 0.807),
    ("1:5:10", "rb", 1, 0.9): (68, 0.09, 0.843, 0.749),
    ("1:5:10", "rb", 1, 0.7): (45, 0.10, 0.682, 0.564),
    ("1:5:10", "rb", 1, 0.5): (38, 0.12, 0.609, 0.493),
    ("1:5:10", "rb", 10000, 1): (57, 0.08, 0.818, 0.729),
    ("1:5:10", "rb", 10000, 0.9): (56, 0.08, 0.776, 0.677),
    ("1:5:10", "rb", 10000, 0.7): (40, 0.10, 0.657, 0.536),
    ("1:5:10", "rb", 10000, 0.5): (36, 0.12, 0.592, 0.473),
    ("1:5:10", "gu", 0, None): (72, 0.09, 0.913, 0.865),
    ("1:5:10", "gu", 1, None): (78, 0.08, 0.913, 0.829),
    ("1:5:10", "gu", 10000, None): (68, 0.09, 0.826, 0.735),
}
STATISTICS = ("pairs", "difference", "tau", "tau_ap")
#: The printed collection statistics of TREC03 (Table 3): mean of N and R, and of levels 2 and 1.
PAPER_COLLECTION = {"N": 925.5, "R": 33.2, "level 2": 8.1, "level 1": 25.0}
#: Sakai (2007), Table 1, NTCIR-5 Chinese: sensitivity.
PAPER_SENSITIVITY = {"Q": 0.516, "AP": 0.455, "P-measure": 0.392, "O-measure": 0.342, "RR": 0.287}


def cell(stop: str, beta: float, gamma: float | None, gains: dict[int, int]) -> Any:
    """Return the measure of a cell of the grid."""
    if gamma == 1:
        return NCU(stop="u", beta=beta, gains=gains)
    options = {"gains": gains, "beta": beta}
    return NCU(stop="rb", gamma=gamma, **options) if stop == "rb" else NCU(stop="gu", **options)


def compared(scores: Any) -> pd.DataFrame:
    """Return the significant pairs, the required difference and the correlations with the first measure."""
    correlations = meta.rank_correlations(scores, scores.names[0]).to_frame()
    rows = {}
    for name in scores.names:
        found = meta.discriminative_power(scores.matrix(name), test="bootstrap", rng=0)
        pairs = int((found.asl < found.alpha).sum())
        rows[name] = (pairs, found.required_difference, *correlations.loc[name, ["kendall", "tau_ap"]])
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(STATISTICS))


def robust(folder: Path) -> dict[str, pd.DataFrame]:
    """Redo Tables 3 to 6 of the NCU paper on TREC 2003 Robust, topics 601 to 650, one run per group (16)."""
    qrels = ir_graded.read_qrels(folder / "qrels.robust03.txt.gz")
    qrels = qrels[qrels["query_id"].astype(int).between(601, 650)]
    paths = sorted(
        [*(folder / "runs").glob("*.gz"), *(folder / "more-runs").glob("*.gz")], key=lambda p: p.name
    )
    runs = {path.name.removeprefix("input.").removesuffix(".gz"): path for path in paths}
    del runs["Sel50"]  # from the group that also sent InexpC2
    counts = ir_graded.collection_statistics(qrels).to_frame()
    counts["paper mean"] = pd.Series(PAPER_COLLECTION)
    keys = [*PAPER]
    measures = [cell(stop, beta, gamma, GAINS[gains]) for gains, stop, beta, gamma in keys]
    scores = ir_graded.evaluate(list(dict.fromkeys(measures)), qrels, runs)
    found = compared(scores)
    rows = []
    for key, measure in zip(keys, measures, strict=True):
        row = dict(zip(("gains", "stop", "beta", "gamma"), key, strict=True))
        for name, printed in zip(STATISTICS, PAPER[key], strict=True):
            own = found.loc[str(measure), name]
            row |= {f"{name} paper": printed, name: own, f"{name} deviation": own - printed}
        rows.append(row)
    return {"robust_collection": counts, "robust_grid": pd.DataFrame(rows).set_index("gains")}


def covid(folder: Path) -> dict[str, pd.DataFrame]:
    """Redo the NCU grid and Table 1 of the P-measure paper on TREC-COVID round 5, with gains 1:2 and 1:10."""
    qrels = folder / "qrels" / "qrels.covid-round5.txt.gz"
    runs = covid_runs(folder / "round5.judged.tsv.xz")
    board = pd.read_csv(folder / "leaderboards" / "round5.csv")
    teams = dict(zip(board["tag"], board["team"], strict=True))
    tables = {}
    for gains, levels in {"1:2": {1: 1, 2: 2}, "1:10": {1: 1, 2: 10}}.items():
        cells = [
            ("rb", 0, 1),
            *(("rb", beta, gamma) for beta, gamma in product(BETAS, GAMMAS) if beta or gamma != 1),
        ]
        cells += [("gu", beta, None) for beta in BETAS]
        measures = [cell(*one, levels) for one in cells]
        scores = ir_graded.evaluate(measures, qrels, runs)
        every = meta.rank_correlations(scores, scores.names[0]).to_frame()[["kendall", "tau_ap"]]
        selections = {
            "one run a team": meta.one_per_team(scores, teams, 0),
            "top 50 by AP": meta.top(scores, 50, scores.names[0]),
        }
        table = pd.DataFrame(cells, columns=["stop", "beta", "gamma"], index=scores.names).join(every)
        for name, matrices in selections.items():
            found = {one: meta.discriminative_power(matrix, rng=0) for one, matrix in matrices.items()}
            table[f"power, {name}"] = pd.Series({one: power.power for one, power in found.items()})
            differences = {one: power.required_difference for one, power in found.items()}
            table[f"difference, {name}"] = pd.Series(differences)
        tables[f"covid_grid_{gains.replace(':', '_')}"] = table.rename_axis("measure")
    measures = ["Q", "AP", "nDCG@20", "O-measure", "P-measure", "RR"]
    best = meta.top(ir_graded.evaluate(measures, qrels, runs), 50, "AP")
    rows = {}
    for name in measures:
        found = meta.swap(best[name], rng=0)
        rows[name] = (PAPER_SENSITIVITY.get(name, np.nan), found.sensitivity, found.required_difference)
    columns = ["sensitivity, NTCIR-5 Chinese (paper)", "sensitivity", "difference"]
    tables["covid_swap"] = pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis(
        "measure"
    )
    return tables


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/trust/papers"))
    options = parser.parse_args()
    parts = {"robust2003": robust, "trec-covid": covid}
    tables: dict[str, pd.DataFrame] = {}
    warnings.simplefilter("ignore", ir_graded.CoverageWarning)  # some runs lack topics or only have ties
    for name, part in parts.items():
        if (options.folder / name).is_dir():
            tables |= part(options.folder / name)
        else:
            print(f"{options.folder / name} is missing: see the head of {Path(__file__).name} for its source")
    options.out.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.round(4).to_csv(options.out / f"{name}.csv", lineterminator="\n")
        with pd.option_context("display.width", 250, "display.max_columns", None):
            print(f"\n{name}\n{table.round(3)}")
    if "robust_grid" in tables:
        grid = tables["robust_grid"]
        for name in STATISTICS:
            paper, own = grid[f"{name} paper"], grid[name]
            size, related = (own - paper).abs().max(), np.corrcoef(paper, own)[0, 1]
            print(f"{name}: largest deviation {size:.3f}, correlation {related:.2f}")


if __name__ == "__main__":
    main()
