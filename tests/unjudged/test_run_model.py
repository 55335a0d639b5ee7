"""Levels by the ranks in all runs: beside a dense reference, and differences of runs on the same samples."""

import io
import random
import warnings
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import assert_command_fails, covid_sample, error_message, rows_of, run_command, trec_lines
from measures import measure_cases as cases
from reference import ranked, run_model as plain

import ir_graded
from benchmarks import interval_coverage as coverage
from ir_graded.analyses.score_intervals import imputation as module
from ir_graded.analyses.score_intervals.imputation import (
    Imputation,
    ReciprocalRankFusion,
    Regression,
    Retrieved,
    RunModel,
)
from ir_graded.io.sources import opened
from ir_graded.matching.match import MatchedRun, match_run, prepare_qrels

pytestmark = pytest.mark.filterwarnings(
    "ignore:The samples add:ir_graded.CoverageWarning",
    "ignore:model='runs' has:ir_graded.CoverageWarning",
    "ignore:Differences of model='bins':ir_graded.CoverageWarning",
)

MEASURES = ["nDCG@5", "AP", "Q"]


def random_input(seed, topics=5, documents=30, runs=4, levels=(-1, 0, 0, 1, 2)):
    rng = random.Random(seed)  # noqa: S311
    names, ids = [str(8 + topic) for topic in range(topics)], [f"d{number}" for number in range(documents)]
    qrels = {t: {d: rng.choice(levels) for d in rng.sample(ids, documents // 2)} for t in names}
    found = {
        f"r{number}": {
            t: {d: rng.choice((1.0, 2.0, 3.0, 4.0, 5.0)) for d in rng.sample(ids, rng.randint(5, documents))}
            for t in names
        }
        for number in range(runs)
    }
    return qrels, found


def rankings(runs):
    return {name: {t: ranked.ranking(docs) for t, docs in run.items()} for name, run in runs.items()}


@pytest.fixture
def few_labels(monkeypatch):
    """Make one label enough."""
    monkeypatch.setattr(module, "FEWEST_LABELS", 1)


def model_of(qrels, runs, depth, n_samples=3, rng=0):
    judgments = prepare_qrels(qrels)
    fusion = ReciprocalRankFusion(judgments)
    for name in sorted(runs):
        fusion.add(MatchedRun(name, opened("run", runs[name]), match_run(judgments, runs[name]), -np.inf))
    imputation = Imputation.of(judgments, fusion, depth, all_bins=True)
    retrieved = [Retrieved.of(run, imputation, 0, np.inf) for run in fusion.runs]
    return imputation, RunModel(imputation, retrieved, n_samples, np.random.default_rng(rng))


SEEDS = [pytest.param(seed, marks=[pytest.mark.slow] if seed >= 60 else []) for seed in range(120)]


@pytest.mark.usefixtures("few_labels")
@pytest.mark.parametrize("seed", SEEDS)
def test_features_and_fits_equal_the_reference(seed, monkeypatch):
    fits, original = [], Regression.fit

    def fit(x, topic, topics, y):
        fits.append((x, topic, y, original(x, topic, topics, y)))
        return fits[-1][3]

    monkeypatch.setattr(Regression, "fit", fit)
    qrels, runs = random_input(seed, topics=2 + seed % 4)
    depth = 2 + seed % 9
    imputation, model = model_of(qrels, runs, depth)
    names = [imputation.judgments.names[t] for t in imputation.judgments.levels.topic]
    keys = list(zip(names, imputation.judgments.doc_ids, strict=True))
    wanted = {keys[at] for at in np.flatnonzero(imputation.imputed).tolist()}
    within = {
        (t, d) for run in rankings(runs).values() for t, docs in run.items() for d in docs[:depth]
        if qrels[t].get(d, -1) < 0
    }  # fmt: skip
    assert wanted == within
    expected = plain.features(qrels, rankings(runs), wanted)
    topics = len(qrels)
    for at in np.flatnonzero(imputation.imputed).tolist():
        topic = int(imputation.judgments.levels.topic[at])
        got = model.features(np.arange(imputation.imputed.size) == at, topic)[0]
        one = expected[keys[at]]
        assert got == pytest.approx([*one[:3], *one[3 + topics :]], rel=1e-10, abs=1e-12)
    labelled = [key for key in keys if key in expected and key not in wanted]
    levels = [qrels[t][d] for t, d in labelled]
    for step, (_, _, y, found) in enumerate(fits, start=1):
        rows = [at for at, level in enumerate(levels) if level >= step - 1]
        assert y.tolist() == [levels[at] >= step for at in rows]
        coefficients, covariance = plain.fit([expected[labelled[at]] for at in rows], y.tolist())
        of_runs = [*range(3), *range(3 + topics, len(coefficients))]
        assert found.beta == pytest.approx(coefficients[of_runs], abs=1e-7)
        assert found.of_topic == pytest.approx(coefficients[3 : 3 + topics], abs=1e-7)
        # Its inverse is the covariance of these coefficients.
        assert np.linalg.inv(found.reduced) == pytest.approx(
            covariance[np.ix_(of_runs, of_runs)], rel=1e-5, abs=1e-7
        )
    assert len(fits) == len({level for of in qrels.values() for level in of.values() if level > 0})


def test_a_fit_by_hand():
    # One topic; 1, z = 0, z^2 = 0 and no run: the intercept b and the topic t share the log odds.
    x = np.array([[1.0, 0.0, 0.0]] * 4)
    found = Regression.fit(x, np.zeros(4, dtype=np.int64), 1, np.array([True, True, True, False]))
    b, t = found.beta[0], found.of_topic[0]
    slope = 3 - 4 / (1 + np.exp(-(b + t)))
    assert (slope, slope) == pytest.approx((0.01 * b, t), abs=1e-9)
    assert found.beta[1:].tolist() == [0, 0]


def test_equal_labels_have_finite_coefficients():
    x = np.array([[1.0, z, z * z, r] for z in (-1.0, 0.0, 1.0) for r in (0.2, 0.9)])
    found = Regression.fit(x, np.arange(6) // 2, 3, np.zeros(6, dtype=bool))
    assert -20 < found.beta[0] < 0
    assert np.isfinite(found.draw(10, np.random.default_rng(1))[0]).all()


def test_draws_have_the_moments_of_the_normal_approximation():
    rng = np.random.default_rng(5)
    topic = np.sort(rng.integers(4, size=80))
    z = rng.standard_normal(80)
    x = np.stack([np.ones(80), z, z * z, rng.random(80)], axis=1)
    y = rng.random(80) < 0.4
    found = Regression.fit(x, topic, 4, y)
    beta, of_topic = found.draw(200_000, np.random.default_rng(2))
    dense = [
        [*row[:3], *(float(t == one) for one in range(4)), row[3]] for row, t in zip(x, topic, strict=True)
    ]
    coefficients, covariance = plain.fit(dense, y.tolist())
    drawn = np.concatenate([beta[:, :3], of_topic, beta[:, 3:]], axis=1)
    assert drawn.mean(axis=0) == pytest.approx(coefficients, abs=0.02)
    assert np.cov(drawn.T) == pytest.approx(covariance, abs=0.03)


@pytest.mark.usefixtures("few_labels")
def test_levels_have_the_shares_of_the_regressions(monkeypatch):
    monkeypatch.setattr(module, "SHIFT_DEVIATION", 0.0)
    monkeypatch.setattr(
        Regression, "draw", lambda self, n, _: (np.tile(self.beta, (n, 1)), np.tile(self.of_topic, (n, 1)))
    )
    qrels, runs = random_input(4, levels=(0, 0, 1, 2))
    samples, shift = 20_000, 0.6
    imputation, model = model_of(qrels, runs, 10, samples)
    documents = np.flatnonzero(imputation.imputed & (imputation.judgments.levels.topic == 1))
    names = [imputation.judgments.doc_ids[at] for at in documents.tolist()]
    draws = model.draws(1, 7)
    parts = [draws(np.full(size, shift)) for size in (5000, 15_000)]
    got = np.concatenate(parts)
    assert np.array_equal(got, model.draws(1, 7)(np.full(samples, shift)))
    every = {
        (imputation.judgments.names[imputation.judgments.levels.topic[at]], imputation.judgments.doc_ids[at])
        for at in np.flatnonzero(imputation.imputed).tolist()
    }
    x = plain.features(qrels, rankings(runs), every)
    topic = imputation.judgments.names[1]
    labelled = [key for key in x if key not in every]
    steps = []
    for step in (1, 2):
        rows = [key for key in labelled if qrels[key[0]][key[1]] >= step - 1]
        steps.append(plain.fit([x[key] for key in rows], [qrels[t][d] >= step for t, d in rows])[0])
    for column, name in enumerate(names):
        expected = plain.shares(x[topic, name], steps, shift)
        assert [(got[:, column] == level).mean() for level in range(3)] == pytest.approx(expected, abs=0.015)


def test_each_sample_has_its_coefficients(monkeypatch):
    qrels, runs = random_input(4, topics=30, levels=(0, 1))
    _, model = model_of(qrels, runs, 10, 50)
    intercepts = np.zeros((50, 7))
    intercepts[:, 0] = np.where(np.arange(50) % 3, -60.0, 60.0)
    monkeypatch.setattr(model, "steps", [(intercepts, np.zeros((50, 30)))])
    draws = model.draws(0, 3)
    drawn = np.concatenate([draws(np.zeros(20)), draws(np.zeros(30))])
    assert (drawn == (np.arange(50) % 3 == 0)[:, np.newaxis]).all()


def test_shifts_are_of_samples_and_of_topics(monkeypatch):
    qrels, runs = random_input(4, topics=30, levels=(0, 1))
    _, model = model_of(qrels, runs, 10, 4000)
    monkeypatch.setattr(model, "steps", [(np.zeros((4000, 7)), np.zeros((4000, 30)))])
    draws = model.draws(0, 3)
    share = draws(np.zeros(4000))
    # Documents of a topic share a shift, so they are drawn together more often than alone.
    both = np.mean([(share[:, a] & share[:, b]).mean() for a, b in combinations(range(share.shape[1]), 2)])
    normal = np.random.default_rng(1).normal(0, 0.7, 200_000)
    assert both == pytest.approx((1 / (1 + np.exp(-normal)) ** 2).mean(), abs=0.01)


# ---------------------------------------------------------------------------------------- whole results


def hidden(share=0.5, runs=20):
    """Return the bundled sample without a share of the judgments."""
    rng = random.Random(3)  # noqa: S311
    qrels = sample_qrels()
    known = {t: {d: level for d, level in docs.items() if rng.random() > share} for t, docs in qrels.items()}
    return known, {name: condensed_run(name) for name in [*covid_sample().runs][:runs]}


@cache
def sample_qrels():
    """Return the judgments of the bundled sample as dicts; tests must not change them."""
    return coverage.qrels_of(covid_sample().qrels)


@cache
def condensed_run(name):
    """Return a run of the bundled sample with judged documents only; tests must not change it."""
    return coverage.condensed(covid_sample().runs[name], sample_qrels())


@pytest.mark.slow
def test_each_topic_has_a_seed(monkeypatch):
    seeds, original = {}, RunModel.draws

    def draws(self, topic, seed):
        seeds[topic] = seed
        return original(self, topic, seed)

    monkeypatch.setattr(RunModel, "draws", draws)
    qrels, runs = hidden(runs=10)
    ir_graded.score_intervals("P@5", qrels, runs, n_samples=3, model="runs")
    assert len(seeds) == len(set(seeds.values())) == 30


@pytest.mark.slow
def test_result_depends_only_on_the_seed():
    qrels, runs = hidden(runs=10)
    backwards = {name: dict(reversed(run.items())) for name, run in reversed(runs.items())}
    others = {t: dict(reversed(docs.items())) for t, docs in reversed(qrels.items())}

    def ask(qrels, runs, rng):
        return ir_graded.score_intervals(
            ["nDCG@10"], qrels, runs, depth=20, n_samples=20, rng=rng, model="runs"
        )

    expected, found = ask(qrels, runs, 4), ask(others, backwards, 4)
    assert np.array_equal(found.samples[:, ::-1], expected.samples)
    assert np.array_equal(found.low[:, ::-1, ::-1], expected.low)
    frames = {name: cases.run_frame(cases.run_rows(run)) for name, run in runs.items()}
    assert np.array_equal(ask(qrels, frames, 4).samples, expected.samples)
    assert not np.array_equal(ask(qrels, runs, 5).samples, expected.samples)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["bins", "runs"])
def test_differences_are_those_of_the_samples(model):
    qrels, runs = hidden(runs=11)
    found = ir_graded.score_intervals(MEASURES, qrels, runs, depth=50, n_samples=30, model=model)
    assert found.overall[0] == pytest.approx(found.samples.mean(axis=2), abs=1e-12)
    assert found.overall[1:] == pytest.approx(np.quantile(found.samples, [0.025, 0.975], axis=2), abs=1e-12)
    got = found.differences()
    table = got.to_frame()
    assert table.columns.tolist() == ["run_a", "run_b", "measure", "difference", "low", "high", "settled"]
    assert len(table) == 3 * 55
    rows = iter(table.itertuples(index=False))
    for at, name in enumerate(MEASURES):
        for a, b in combinations(range(11), 2):
            row = next(rows)
            values = [float(x - y) for x, y in zip(found.samples[at, a], found.samples[at, b], strict=True)]
            mean = sum(values) / 30
            width = 1.959963984540054 * (sum((value - mean) ** 2 for value in values) / 29) ** 0.5
            assert (row.run_a, row.run_b, row.measure) == (*(list(runs)[i] for i in (a, b)), name)
            assert (row.difference, row.low, row.high) == pytest.approx((mean, mean - width, mean + width))
            assert row.settled == (abs(mean) > width)
    assert 0 < table["settled"].mean() < 1
    assert str(got).startswith("IntervalDifferences(confidence=0.95, n_samples=30, looks=1)\n")
    several, one = (
        chosen.to_frame()
        for chosen in (found.differences(looks=10), found.difference(*list(runs)[:2], looks=10))
    )
    assert several["low"].to_numpy() == pytest.approx(
        got.difference - (got.difference - got.low) * 2.807033768343811 / 1.959963984540054
    )  # the quantiles at 1 - .05 / 20 and 1 - .05 / 2
    assert one.equals(several[::55].reset_index(drop=True))


@pytest.mark.slow
def test_equal_runs_are_not_settled():
    qrels, runs = hidden(runs=10)
    runs["copy"] = next(iter(runs.values()))
    found = ir_graded.score_intervals("nDCG@10", qrels, runs, n_samples=10, model="runs").differences()
    (row,) = [
        row for row in found.to_frame().itertuples() if (row.run_a, row.run_b) == (next(iter(runs)), "copy")
    ]
    assert (row.difference, row.low, row.high, row.settled) == (0, 0, 0, False)


@pytest.mark.slow
def test_differences_need_two_samples_and_a_number_of_looks():
    qrels, runs = hidden(runs=10)
    found = ir_graded.score_intervals("nDCG@10", qrels, runs, n_samples=1, model="runs")
    assert "n_samples=1" in error_message(ir_graded.ParameterError, found.differences)
    for wrong in (0, 2.0, 10**400):
        assert "must be a whole number from 1 to" in error_message(
            ir_graded.ParameterError, found.differences, looks=wrong
        )


@pytest.mark.filterwarnings("default")
def test_differences_of_bins_cause_a_warning():
    qrels, runs = hidden(runs=3)
    found = ir_graded.score_intervals("P@5", qrels, runs, n_samples=5)
    with pytest.warns(ir_graded.CoverageWarning, match="wrong sign.*Use model='runs'") as caught:
        found.differences()
    assert [one.filename for one in caught] == [__file__]


def test_one_run_has_no_differences():
    qrels, runs = hidden(runs=1)
    found = ir_graded.score_intervals("nDCG@10", qrels, runs, n_samples=5)
    assert error_message(ir_graded.InputError, found.differences) == "differences need two runs, found 1"


@pytest.mark.slow
def test_few_labels_are_rejected():
    qrels, runs = hidden(runs=10)
    few = {t: dict(list(docs.items())[:3]) for t, docs in qrels.items()}
    with pytest.raises(ir_graded.InputError, match=r"needs 200 judged documents .*, and there are \d\d;"):
        ir_graded.score_intervals("P@5", few, runs, model="runs")
    only = {t: dict.fromkeys(docs, 1) for t, docs in qrels.items()}
    with pytest.raises(ir_graded.InputError, match="no judged non-relevant document"):
        ir_graded.score_intervals("P@5", only, runs, model="runs")


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_fewer_than_ten_runs_cause_a_warning():
    qrels, runs = hidden(runs=9)
    message = "model='runs' has 9 runs: with fewer than 10"
    with pytest.warns(ir_graded.CoverageWarning, match=message) as caught:
        ir_graded.score_intervals("P@5", qrels, runs, n_samples=5, model="runs")
    assert [one.filename for one in caught] == [__file__]


@pytest.mark.slow
def test_few_judgments_cause_a_warning_for_bins_only():
    qrels, runs = hidden(share=0.8, runs=10)
    for model, number in (("runs", 0), ("bins", 1)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ir_graded.score_intervals("P@10", qrels, runs, depth=1000, n_samples=5, model=model)
        assert sum("The samples add" in str(one.message) for one in caught) == number


def test_runs_without_unjudged_documents_need_no_labels():
    qrels = {"1": {"a": 2, "b": 0, "c": 1}}
    found = ir_graded.score_intervals("P@2", qrels, {"1": {"a": 2.0, "b": 1.0}}, n_samples=5, model="runs")
    assert np.array_equal(found.low, found.zero)


def files_of(folder, qrels, runs):
    """Write qrels and runs to files, and return their paths."""
    (folder / "qrels.txt").write_text(trec_lines("qrels", rows_of(qrels)))
    for name, run in runs.items():
        (folder / name).write_text(trec_lines("run", rows_of(run)))
    return [folder / name for name in ("qrels.txt", *runs)]


@pytest.mark.slow
def test_the_command_takes_the_model(capsys, tmp_path):
    qrels, runs = hidden(runs=10)
    judged, *files = files_of(tmp_path, qrels, runs)
    options = ["-m", "P@5", "--n-samples", "9", "--seed", "2", "-o", "csv", "-p", "-1", "--unjudged"]
    code, out, _ = run_command(capsys, "evaluate", judged, *files, *options, "intervals", "--model", "runs")
    assert code == 0
    expected = ir_graded.score_intervals("P@5", judged, files, n_samples=9, rng=2, model="runs").mean()
    first = out.splitlines()[1].split(",")
    assert first[0] == expected.index[0]
    assert [float(value) for value in first[1:]] == expected.to_numpy()[0].tolist()
    failed = run_command(capsys, "evaluate", judged, *files, "-m", "P@5", "--model", "runs")
    assert_command_fails(failed, "--model needs --unjudged intervals or differences")


@pytest.mark.slow
def test_the_command_prints_differences(capsys, tmp_path):
    qrels, runs = hidden(runs=10)
    files = files_of(tmp_path, qrels, runs)
    options = ["-m", "P@5", "--n-samples", "9", "-o", "csv", "-p", "-1", "--model", "runs"]
    code, out, _ = run_command(capsys, "evaluate", *files, *options, "--unjudged", "differences")
    assert code == 0
    found = ir_graded.score_intervals("P@5", files[0], files[1:], n_samples=9, model="runs")
    got = pl.read_csv(io.StringIO(out)).to_pandas()  # pandas 2 reads numbers only nearly
    pd.testing.assert_frame_equal(got, found.differences().to_frame(), check_exact=True, check_dtype=False)
    chosen = ("--unjudged", "differences", "--baseline", files[2])
    code, out, _ = run_command(capsys, "evaluate", *files, *options, *chosen)
    pairs, name = pd.read_csv(io.StringIO(out)), found.scores.runs[1]
    assert len(pairs) == 9
    assert ((pairs["run_a"] == name) | (pairs["run_b"] == name)).all()
    code, out, _ = run_command(capsys, "evaluate", *files, *options, *chosen[:2], "--looks", 7)
    assert pd.read_csv(io.StringIO(out))["low"].tolist() == found.differences(looks=7).low.tolist()
    failed = run_command(capsys, "evaluate", *files, *options, "--unjudged", "intervals", "--looks", 7)
    assert_command_fails(failed, "--looks needs --unjudged differences")
    failed = run_command(capsys, "evaluate", *files, *options, "--unjudged", "differences", "--by-topic")
    assert_command_fails(failed, "leave out --by-topic")


@pytest.mark.slow
def test_the_difference_of_a_pair_has_the_sign_of_the_order():
    qrels, runs = hidden(runs=11)
    found = ir_graded.score_intervals(MEASURES, qrels, runs, depth=20, n_samples=20, model="runs")
    a, b = list(runs)[1:3]
    every = found.differences().to_frame()
    expected = every[(every["run_a"] == a) & (every["run_b"] == b)].reset_index(drop=True)
    assert found.difference(a, b).to_frame().equals(expected)
    turned = found.difference(b, a)
    assert (turned.difference == -expected["difference"]).all()
    assert (turned.low == -expected["high"]).all()
    assert "run_a='x'" in error_message(ir_graded.ParameterError, found.difference, "x", a)
