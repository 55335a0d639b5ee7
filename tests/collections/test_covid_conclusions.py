"""Conclusions about the runs of TREC-COVID: significant differences and systems tied for first."""

import pytest
from collections_data import covid_qrels, covid_round_5, needs_shared_data

import ir_graded
from ir_graded import meta


@pytest.mark.slow
def test_all_runs_of_the_sample_differ_from_the_weakest():
    covid = ir_graded.sample()
    scores = ir_graded.evaluate("Q", covid.qrels, covid.runs)
    assert meta.differences(scores, "tm_lda400", alpha=0.001).significant.sum() == 19


@pytest.mark.release
@pytest.mark.filterwarnings("ignore:Run .* lacks 1 of the 50 topics")
@needs_shared_data
def test_round_5_has_the_significant_runs_and_ties_of_the_specification():
    scores = ir_graded.evaluate("Q P+ nDCG@10 AP RR", covid_qrels(5), covid_round_5())
    [baseline] = [run for run in scores.runs if "BRPHJ_bert" in run]
    found = meta.differences(scores, baseline, alpha=0.01, n_resamples=10_000).to_frame()
    count = found.groupby("measure", sort=False)["significant"].sum()
    for measure, expected in {"Q": 88, "P+": 16, "nDCG@10": 56, "AP": 87}.items():
        assert abs(count[measure] - expected) <= 3
    tied = {name: int(meta.ranks(scores, name).tied_first.sum()) for name in ("nDCG@10", "AP", "RR")}
    assert tied["nDCG@10"] == 6
    assert tied["AP"] == 2
    assert tied["RR"] in {76, 77}
