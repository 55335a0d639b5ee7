"""Near-twins of runs do not hide differences of other pairs; the bootstrap's max-t leaves them out."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from collections_data import ROOT, needs_shared_data

import ir_graded
from ir_graded import meta
from ir_graded.meta import max_t
from ir_graded.meta.paired_tests import CORRECTIONS, TESTS_OF_DIFFERENCES
from tests.helpers import run_command
from tests.reference import bootstrap as reference

REPLICATES = 60


def random_scores(rng, topics):
    """Return scores of five runs, of which the last is a near-twin of the first."""
    scores = rng.normal(0, 1, (topics, 5)).round(2) + 0.5 * np.arange(5)
    scores[:, 4] = scores[:, 0]
    scores[: rng.integers(1, topics), 4] += 0.01
    scores[: rng.integers(1, 4), 4] += rng.choice([0.01, 0.02, 3.0])
    return scores


def drawn_topics(seed, sizes):
    """Return the topics of each replicate, of slices of some sizes."""
    return [
        rng.integers(0, size, (REPLICATES, size)).tolist()
        for rng, size in zip(np.random.default_rng(seed).spawn(len(sizes)), sizes, strict=True)
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_trimmed_max_t_equals_plain_loops():
    rng, trimmed_ones, kept_ones = np.random.default_rng(1), 0, 0
    for seed in range(25):
        topics = int(rng.integers(9, 24))
        scores, weighted, sliced = random_scores(rng, topics), rng.random() < 0.5, rng.random() < 0.5
        weights = rng.integers(1, 5, topics).astype(float) if weighted else np.ones(topics)
        late = (np.arange(topics) % 3 > 0).astype(int)
        parts = [[*range(topics)], *([[*np.flatnonzero(late == one)] for one in (0, 1)] if sliced else [])]
        alternative = [*max_t.TAILS][rng.integers(3)]
        baseline = 0 if rng.random() < 0.5 else None
        found = meta.differences(
            {"Q": scores},
            baseline,
            alternative=alternative,
            test="bootstrap",
            n_resamples=REPLICATES,
            rng=seed,
            weights=dict(enumerate(weights)) if weighted else None,
            slices=dict(enumerate(np.where(late, "late", "early"))) if sliced else None,
            tolerance=rng.choice([0, 0.1]),
        )
        draws = drawn_topics(seed, [*map(len, parts)])
        pairs = len(found.run) // len(parts)
        family = [
            (
                (scores[part, run] - scores[part, against]).round(12).tolist(),
                weights[part].tolist(),
                draws[at // pairs],
            )
            for at, (run, against) in enumerate(zip(found.run, found.baseline, strict=True))
            for part in [parts[at // pairs]]
        ]
        alone, corrected, trimmed = reference.max_t(family, alternative)
        np.testing.assert_allclose(found.p, alone, rtol=1e-12)
        np.testing.assert_allclose(found.p_corrected, corrected, rtol=1e-12)
        assert (f"leaves {sum(trimmed)} of {len(trimmed)} pairs" in " ".join(found.notes)) == any(trimmed)
        trimmed_ones += sum(trimmed)
        kept_ones += len(trimmed) - sum(trimmed)
    assert trimmed_ones > 40 < kept_ones


@pytest.mark.parametrize("simultaneous", [True, False])
def test_trimmed_ranks_equal_plain_loops(simultaneous):
    rng = np.random.default_rng(2)
    for seed in range(10):
        scores = random_scores(rng, 15)[:, : rng.integers(2, 6)]
        runs = scores.shape[1]
        options = {"n_resamples": REPLICATES, "rng": seed}
        found = meta.ranks({"Q": scores}, test="bootstrap", simultaneous=simultaneous, **options)
        found = found.to_frame().set_index("run").loc[range(runs)]
        (draws,) = drawn_topics(seed, [15])
        columns = scores.T.tolist()
        assert found["p_first"].tolist() == pytest.approx(
            [reference.p_first(columns, run, draws) for run in range(runs)]
        )
        pairs = [(i, j) for i in range(runs) for j in range(i + 1, runs)]
        for run in range(runs):
            of_family = [pair for pair in pairs if simultaneous or run in pair]
            z = [(scores[:, i] - scores[:, j]).round(12).tolist() for i, j in of_family]
            _, p, _ = reference.max_t([(one, [1.0] * 15, draws) for one in z], "two-sided")
            ahead = [(i, j)[sum(one) < 0] for (i, j), one in zip(of_family, z, strict=True)]
            hits = [
                first == run
                for pair, q, first in zip(of_family, p, ahead, strict=True)
                if run in pair and q < 0.05
            ]
            low_high = 1 + hits.count(False), runs - hits.count(True)
            assert (found.loc[run, "rank_low"], found.loc[run, "rank_high"]) == low_high


def test_a_pair_alone_is_never_trimmed():
    scores = pd.DataFrame({"a": np.linspace(0.4, 0.9, 12), "b": np.linspace(0.4, 0.9, 12) - 0.01})
    scores.loc[0, "b"] -= 0.3
    alone = meta.differences({"Q": scores}, "a", test="bootstrap")
    assert (alone.notes, alone.p_corrected.tolist()) == ((), alone.p.tolist())
    other = meta.differences({"Q": scores.assign(c=scores["a"] ** 2)}, "a", test="bootstrap")
    assert other.notes == (
        "The bootstrap leaves 1 of 2 pairs undecided (p_corrected = 1), because their differences depend on "
        "few topics: 'b' and 'a'.",
    )
    assert other.p[0] == alone.p[0] < other.p_corrected[0] == 1
    assert other.p_corrected[1] == other.p[1] < 0.05


def test_notes_name_measures_and_slices_of_three_trimmed_pairs():
    base = np.linspace(0.4, 0.9, 30)
    scores = pd.DataFrame({"a": base, "b": base - 0.2 * (np.arange(30) == 0), "c": base**2})
    slices = {topic: "late" if topic > 8 else "early" for topic in range(30)}
    found = meta.differences({"Q": scores, "AP": scores / 2}, "a", test="bootstrap", slices=slices)
    assert found.notes[0].endswith(
        "few topics: 'b' and 'a' by Q, 'b' and 'a' by AP, 'b' and 'a' by Q on 'early' and 5 more."
    )
    assert meta.ranks({"Q": scores}, test="bootstrap").notes[0].endswith("few topics: 'a' and 'b'.")


def test_the_command_prints_undecided_pairs_beside_ranks(tmp_path, capsys):
    base = np.linspace(0.4, 0.9, 12)
    scores = pd.DataFrame({"a": base, "b": base - 0.3 * (base == 0.4), "c": base**2})
    scores.to_csv(tmp_path / "Q.csv")
    arguments = "ranks", "--matrix", tmp_path / "Q.csv", "--test", "bootstrap"
    _, table, _ = run_command(capsys, *arguments)
    assert "The bootstrap leaves 2 of 3 pairs undecided" in table
    _, table, errors = run_command(capsys, *arguments, "-o", "csv")
    assert ("undecided" in table, errors.count("undecided")) == (False, 1)


@pytest.mark.parametrize("alternative", max_t.TAILS)
def test_the_tolerance_does_not_change_what_is_trimmed(alternative):
    scores = random_scores(np.random.default_rng(4), 20)
    # The last run equals the first one less the tolerance, but for few topics.
    scores[:, 4] = scores[:, 0] - 0.05 * (np.arange(20) > 0)
    notes, corrected = set(), set()
    for tolerance in (0, 0.05, 0.2):
        options = {"test": "bootstrap", "tolerance": tolerance, "alternative": alternative}
        found = meta.differences({"Q": scores + 9}, 0, **options)
        notes.add(found.notes)
        corrected.add(tuple(found.p_corrected))
    assert len(notes) == len(corrected) == 1
    assert "leaves 1 of 4" in notes.pop()[0]


@pytest.mark.parametrize("measure", ["AP", "nDCG@10"])
def test_ranks_by_student_are_its_tests_of_all_pairs(measure):
    matrix = {measure: matrix_of(measure).iloc[:, :8]}
    found, tests = meta.ranks(matrix, test="t"), meta.differences(matrix, test="t")
    pairs = tests.to_frame()[tests.significant]
    loser = np.where(pairs["difference"] > 0, pairs["baseline"], pairs["run"]).tolist()
    assert found.rank_low.tolist() == [1 + loser.count(run) for run in found.run]
    assert 3 < len(pairs) < 28
    for run, p_first in zip(found.run, found.p_first, strict=True):
        smallest = meta.differences(matrix, run, test="t", alternative="greater").p.min()
        assert p_first == pytest.approx(min(1, 7 * smallest))
    assert found.n_resamples == 0
    assert not any("undecided" in note for note in found.notes)


def test_a_run_is_tied_for_first_only_where_no_run_is_better():
    rng, cases = np.random.default_rng(0), 0
    for seed in range(60):
        scores = rng.normal(0, 0.1, (20, 5)) - np.array([0, 0.06, 0.4, 0.8, 1.2])
        found = meta.ranks({"Q": scores}, n_resamples=999, rng=seed)
        assert found.tied_first.tolist() == ((found.p_first >= 0.05) & (found.rank_low == 1)).tolist()
        cases += ((found.p_first >= 0.05) & (found.rank_low > 1)).any()
    assert cases


def matrix_of(measure):
    """Return the scores of the sample, topics x runs."""
    sample = ir_graded.sample()
    return ir_graded.evaluate(measure, sample.qrels, sample.runs).matrix(measure)


def rare(run):
    run[:7] -= 0.01
    run[7] -= 0.3


def one_topic(run):
    run[0] -= 0.3


def constant(run):
    run -= 0.001


def constant_but_one(run):
    run -= 0.001
    run[3] += 0.2


def noise(run):
    run += np.random.default_rng(0).normal(0, 0.001, len(run))


def noise_and_two(run):
    noise(run)
    run[[4, 9]] += 0.2


def identical(run):
    pass


TWINS = (rare, one_topic, constant, constant_but_one, noise, noise_and_two, identical)


def findings(scores, runs, **options):
    """Return how many pairs of the first runs differ."""
    found = meta.differences({"Q": scores}, **options)
    old = [runs not in pair for pair in zip(found.run, found.baseline, strict=True)]
    return np.count_nonzero(found.significant[old])


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["AP", "nDCG@10"])
@pytest.mark.parametrize(
    ("test", "correction"),  # t has no replicates for max-t
    [one for one in product(TESTS_OF_DIFFERENCES, CORRECTIONS) if one != ("t", "max-t")],
)
def test_a_near_twin_takes_away_no_findings_of_other_pairs(test, correction, measure):
    matrix = matrix_of(measure)
    scores, original = matrix.to_numpy(), matrix.columns.get_loc("BBGhelani1")
    options = {"test": test, "correction": correction}
    before = findings(scores, scores.shape[1], **options)
    # A larger family costs findings, if only by pairs that are clearly equal.
    least = before - 1
    if correct := CORRECTIONS[correction].of:
        p = meta.differences({"Q": scores}, **options).p
        least = np.count_nonzero(correct(np.append(p, np.ones(scores.shape[1]))) < 0.05)
    assert least > 60
    for twin in TWINS:
        more = np.column_stack([scores, scores[:, original]])
        twin(more[:, -1])
        assert findings(more, scores.shape[1], **options) >= least, twin.__name__


def plain(monkeypatch):
    """Trim as before: only pairs in which fewer than 8 topics differ."""
    monkeypatch.setattr(max_t, "_HEAVY_SHARE", 1)


def test_plain_max_t_loses_all_findings_to_a_near_twin(monkeypatch):
    matrix = matrix_of("AP")
    more = matrix.assign(twin=matrix["BBGhelani1"]).to_numpy()
    rare(more[:, -1])
    for seed in range(3):
        assert 99 <= findings(more, 20, test="bootstrap", rng=seed) <= 108
    plain(monkeypatch)
    assert findings(matrix.to_numpy(), 20, test="bootstrap") in (94, 95)
    assert findings(more, 20, test="bootstrap") == 0


@needs_shared_data
@pytest.mark.slow
def test_near_twins_of_web_2011_do_not_hide_the_other_pairs(monkeypatch):
    scores = np.loadtxt(ROOT / "urbano" / "web2011_ap.csv", delimiter=",", skiprows=1)
    for seed in range(3):
        assert findings(scores, 62, test="bootstrap", n_resamples=3000, rng=seed) >= 250
    plain(monkeypatch)
    assert findings(scores, 62, test="bootstrap", n_resamples=3000) <= 5
