"""Official results of real tracks are reproduced by every way into the package."""

import pandas as pd
import pytest
from collections_data import ROOT, needs_shared_data, ranked_runs

import ir_graded

pytestmark = [needs_shared_data, pytest.mark.slow]

ROUNDS = {
    "round1": ("round1.ranked1000.tsv.xz", "run", "MAP", 143),
    "round5": ("round5.judged.tsv.xz", "tag", "map", 126),
}


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize("number", ROUNDS)
def test_q_with_beta_0_is_the_official_map_of_every_trec_covid_run(number):
    data, name, measure, runs = ROUNDS[number]
    official = pd.read_csv(ROOT / "trec-covid" / "leaderboards" / f"{number}.csv", dtype={name: str})
    official = official.set_index(name)[measure]
    qrels = ROOT / "trec-covid" / "qrels" / f"qrels.covid-{number}.txt.gz"
    means = ir_graded.evaluate(["Q(beta=0)"], qrels, ranked_runs(data)).mean()["Q(beta=0)"]
    assert len(means) == runs
    assert means.round(4).to_dict() == official[means.index].to_dict()


def test_robust_2003_runs_as_submitted_reproduce_their_official_map():
    official = pd.read_csv(ROOT / "robust2003" / "official_map.tsv", sep="\t", index_col="run")["map_all100"]
    paths = sorted((ROOT / "robust2003" / "runs").glob("input.*.gz"))
    scores = ir_graded.evaluate(["Q(beta=0)", "AP"], ROOT / "robust2003" / "qrels.robust03.txt.gz", paths)
    means = scores.mean()
    assert len(means) == len(paths) == 8
    for name, row in means.iterrows():
        assert f"{row['Q(beta=0)']:.4f}" == f"{official[name.removeprefix('input.')]:.4f}"
    assert abs(scores.matrix("Q(beta=0)") - scores.matrix("AP")).to_numpy().max() < 1e-12
