"""Intervals by imputed judgments: each step compared with the plain reference, and whole results."""

import random

import ir_measures
import numpy as np
import pandas as pd
import pytest
from helpers import covid_sample, dicts, frame, rows_of, trec_lines
from measures import measure_cases as cases
from reference import agreement, ranked, unjudged
from reference.tie_cases import IDS

import ir_graded
from ir_graded.analyses import score_intervals
from ir_graded.analyses.score_intervals import imputation
from ir_graded.analyses.score_intervals.imputation import Imputation, ReciprocalRankFusion, topic_draws
from ir_graded.io.sources import opened
from ir_graded.matching.match import MatchedRun, match_run, prepare_qrels

pytestmark = pytest.mark.filterwarnings("ignore:The samples add:ir_graded.CoverageWarning")

MEASURES = [
    "nDCG@3", "Q", "AP", "P@3", "nERR@10", "P-measure", "Q(judged_only=True)", "RBP(p=0.8,rel=1)", "Bpref",
    "nDCG(gains={1:3,2:1})",
]  # fmt: skip


@pytest.fixture
def any_bin(monkeypatch):
    """Make one judged document enough for a bin."""
    monkeypatch.setattr(imputation, "FEWEST", 1)


def random_input(seed, topics=3, documents=20):
    rng = random.Random(seed)  # noqa: S311
    names = [str(topic) for topic in range(topics)]
    ids = IDS[:documents]
    qrels = {t: {d: rng.choice((-1, 0, 0, 1, 2)) for d in rng.sample(ids, documents // 2)} for t in names}
    runs = {
        name: {
            t: {d: rng.choice((1.0, 2.0, 3.0, 4.0, 5.0)) for d in rng.sample(ids, rng.randint(4, 18))}
            for t in names
        }
        for name in ("one", "two", "three")
    }
    return qrels, runs


def rankings(run):
    return {topic: ranked.ranking(scores) for topic, scores in run.items()}


def fusion_of(judgments, runs):
    fusion = ReciprocalRankFusion(judgments)
    for run in runs:
        fusion.add(MatchedRun("", opened("run", run), match_run(judgments, run), -np.inf))
    return fusion


def imputation_of(qrels, runs, depth, **options):
    judgments = prepare_qrels(qrels)
    return Imputation.of(judgments, fusion_of(judgments, runs), depth, **options)


# ---------------------------------------------------------------------------- documents that get a level


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("as_frame", [False, True])
def test_documents_that_get_levels_and_their_parameters_equal_the_reference(seed, as_frame, monkeypatch):
    fewest, depth = 1 + seed % 12, 2 + seed % 9
    monkeypatch.setattr(imputation, "FEWEST", fewest)
    qrels, runs = random_input(seed)
    given = [cases.run_frame(cases.run_rows(run)) if as_frame else run for run in runs.values()]
    found = imputation_of(qrels, given, depth)
    plain = [rankings(run) for run in runs.values()]
    alpha = unjudged.priors(unjudged.counts(qrels, plain), fewest=fewest)
    expected = unjudged.to_impute(qrels, plain, depth, alpha)
    levels, names = found.judgments.levels, list(qrels)
    documents = np.flatnonzero(found.imputed)
    got = {topic: {} for topic in qrels}
    for at, bin_of in zip(documents.tolist(), found.bin[documents].tolist(), strict=True):
        got[names[levels.topic[at]]][found.judgments.doc_ids[at]] = bin_of
    assert got == expected
    for topic, by_bin in expected.items():
        for bin_of in by_bin.values():
            shares = list(alpha[topic][bin_of].values())
            assert found.alpha[names.index(topic), bin_of].tolist() == pytest.approx(shares, rel=1e-14)


def test_bins_end_at_the_ranks_of_the_reference():
    assert [*imputation.BIN_ENDS.tolist(), np.inf] == list(unjudged.BIN_ENDS)
    assert (imputation.POOLED, imputation.FEWEST, imputation.SHIFT_DEVIATION) == (
        unjudged.POOLED, unjudged.FEWEST, unjudged.SPREAD,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_fused_ranking_of_many_documents_equals_the_reference(seed):
    rng = random.Random(seed)  # noqa: S311
    ids = [f"x{n}" for n in range(900)]
    runs = [{"1": {d: rng.random() for d in rng.sample(ids, rng.randint(1, 700))}} for _ in range(5)]
    judgments = prepare_qrels({"1": {"x0": 1}})
    got = fusion_of(judgments, runs).pool()
    assert got["doc_id"].to_list() == unjudged.fused([rankings(run)["1"] for run in runs])
    assert got["place"].to_list() == list(range(1, len(got) + 1))


def test_equal_sums_of_different_ranks_tie():
    # 1/66 + 1/132 = 1/88 + 1/88, but the sums are rounded differently.
    ranks = {"a": (6, 72), "b": (28, 28)}
    order = [{rank: d for d, both in ranks.items() for rank in both[at : at + 1]} for at in (0, 1)]
    runs = [{"1": {one.get(r, f"r{at}x{r}"): -r for r in range(1, 80)}} for at, one in enumerate(order)]
    for swapped in (runs, runs[::-1]):
        pool = fusion_of(prepare_qrels({"1": {"a": 1}}), swapped).pool()
        got = [doc_id for doc_id in pool["doc_id"].to_list() if doc_id in ranks]
        assert got == ["b", "a"]
        assert pool["doc_id"].to_list() == unjudged.fused([rankings(run)["1"] for run in swapped])


# ---------------------------------------------------------------------------------------- drawn levels


def drawn(alpha, bin_of, samples, shift=0.0, seed=3):
    draws = topic_draws(np.array(alpha), np.array(bin_of), np.array([False, True, True]), seed)
    return draws(np.full(samples, shift))


def test_levels_have_the_shares_of_the_dirichlet_distribution(monkeypatch):
    monkeypatch.setattr(imputation, "SHIFT_DEVIATION", 0.0)
    found = drawn([[3.0, 1.0, 0.0], [1.0, 1.0, 2.0]], [0, 1, 1], 20_000)
    shares = np.stack([(found == level).mean(axis=0) for level in range(3)], axis=1)
    assert shares == pytest.approx(
        np.array([[0.75, 0.25, 0], [0.25, 0.25, 0.5], [0.25, 0.25, 0.5]]), abs=0.015
    )
    # Documents of one bin share a draw, so the variance of a share is m (1 - m) / (total + 1).
    both = ((found[:, 1] == 2) & (found[:, 2] == 2)).mean()
    assert both == pytest.approx(0.25 + 0.25 / 5, abs=0.015)


def test_shift_multiplies_the_odds_of_levels_above_0(monkeypatch):
    monkeypatch.setattr(imputation, "SHIFT_DEVIATION", 0.0)
    found = drawn([[5e8, 3e8, 2e8]], [0], 20_000, shift=np.log(3))
    shares = [(found == level).mean() for level in range(3)]
    assert shares == pytest.approx([0.25, 0.45, 0.3], abs=0.015)


def test_levels_drawn_in_parts_equal_those_drawn_at_once():
    alpha, bin_of, above_0 = (
        np.array([[3.0, 1.0, 0.5]]),
        np.zeros(4, dtype=np.int64),
        np.array([False, True, True]),
    )
    shift = np.linspace(-1, 1, 10)
    draws = topic_draws(alpha, bin_of, above_0, 5)
    parts = np.concatenate([draws(shift[:3]), draws(shift[3:])])
    assert np.array_equal(parts, topic_draws(alpha, bin_of, above_0, 5)(shift))


# ---------------------------------------------------------------------------------------- whole results


@pytest.mark.slow
@pytest.mark.usefixtures("any_bin")
@pytest.mark.parametrize("seed", range(6))
def test_intervals_are_quantiles_of_the_scores_by_completed_qrels(seed, monkeypatch):
    qrels, runs = random_input(seed)
    samples, original = {}, Imputation.draws

    def draws(self, topic, seed):
        drawn = original(self, topic, seed)
        return lambda shift: samples.setdefault(topic, drawn(shift))

    monkeypatch.setattr(Imputation, "draws", draws)
    got = ir_graded.score_intervals(MEASURES, qrels, runs, depth=6, n_samples=9, confidence=0.5)
    found = imputation_of(qrels, runs.values(), 6)
    scale = unjudged.scale_of(qrels)
    completed = [{topic: dict(levels) for topic, levels in qrels.items()} for _ in range(9)]
    for number, topic in enumerate(qrels):
        of_topic = np.flatnonzero(found.imputed & (found.judgments.levels.topic == number))
        ids = [found.judgments.doc_ids[at] for at in of_topic.tolist()]
        for sample, row in enumerate(samples[number].tolist()):
            completed[sample][topic] |= {d: scale[label] for d, label in zip(ids, row, strict=True)}
    assert completed[0] != qrels
    scores = np.array([ir_graded.evaluate(MEASURES, one, runs).values for one in completed])
    for low, quantile in ((got.low, 0.25), (got.high, 0.75)):
        expected = np.apply_along_axis(agreement.quantile, 0, scores, quantile)
        assert low == pytest.approx(expected, rel=0, abs=1e-13)
    assert got.mean_score == pytest.approx(scores.mean(axis=0), rel=0, abs=1e-13)
    means = scores.mean(axis=3)
    for at, one in enumerate((means.mean(axis=0), *np.quantile(means, [0.25, 0.75], axis=0))):
        assert got.overall[at] == pytest.approx(one, rel=0, abs=1e-13)
    assert np.array_equal(got.zero, ir_graded.evaluate(MEASURES, qrels, runs).values)
    for run, share in zip(runs.values(), got.imputed, strict=True):
        assert share == unjudged.imputed(qrels, rankings(run), 6, completed[0])


OF_EXAMPLE_E = {
    "nDCG@3": (0.595469436567, 0.525004989385),
    "Q": (0.531560268435, 0.435185185185),
    "AP": (0.677430555556, 0.555555555556),
    "P@3": (0.833333333333, 0.666666666667),
    "nERR(max_rel=3)": (0.714943335912, 0.658227848101),
}


@pytest.mark.usefixtures("any_bin")
def test_worked_example_has_its_intervals(monkeypatch):
    rng = np.random.default_rng(7)
    # Level 0 occurs in a topic that scores 0.
    qrels = {"1": {"a": 2, "b": 1, "c": 3}, "2": {"z": 0}}
    run = {"1": {"a": 4.0, "x": 3.0, "b": 2.0, "y": 1.0}, "2": {"z": 1.0}}
    samples, original = [], score_intervals.Samples.scored

    def scored(self):
        for topics, values in original(self):
            samples.append(values)
            yield topics, values

    monkeypatch.setattr(score_intervals.Samples, "scored", scored)

    def draws(_, topic, __):
        documents = 0 if topic else 2
        return lambda shift: rng.choice(3, (shift.size, documents), p=[0.5, 0.25, 0.25])

    monkeypatch.setattr(Imputation, "draws", draws)
    found = ir_graded.score_intervals(list(OF_EXAMPLE_E), qrels, run, depth=4, n_samples=3000)
    values = np.concatenate(samples, axis=2)[:, 0, 0]
    for at, (mean, zero) in enumerate(OF_EXAMPLE_E.values()):
        assert found.zero[at, 0, 0] == pytest.approx(zero, rel=0, abs=1e-12)
        assert abs(found.mean_score[at, 0, 0] - mean) < 4 * values[at].std() / np.sqrt(3000)
    assert (values[0].min(), values[0].max()) == pytest.approx((0.475117208395, 0.714929674963), abs=1e-12)


def arrays(found):
    return [found.zero, found.mean_score, found.low, found.high, found.overall, found.imputed]


def assert_same(found, other):
    assert all(np.array_equal(one, a) for one, a in zip(arrays(found), arrays(other), strict=True))


@pytest.mark.slow
@pytest.mark.usefixtures("any_bin")
def test_result_depends_only_on_the_seed(monkeypatch):
    qrels, runs = random_input(3, topics=5)
    ask = lambda **more: ir_graded.score_intervals(MEASURES, qrels, runs, depth=8, n_samples=30, **more)  # noqa: E731
    expected = ask(rng=4)
    assert not np.array_equal(ask(rng=5).overall, expected.overall)
    assert_same(ask(rng=np.random.default_rng(4)), expected)
    assert_same(ask(), ask(rng=0))
    for memory, threads in ((1 << 10, 3), (1 << 14, 1), (1 << 18, 3)):
        monkeypatch.setattr(score_intervals, "_MEMORY", memory)
        monkeypatch.setattr(score_intervals, "processors", lambda threads=threads: threads)
        assert_same(ask(rng=4), expected)


@pytest.mark.slow
@pytest.mark.usefixtures("any_bin")
@pytest.mark.parametrize("form", ["dict", "frame", "file", "once"])
@pytest.mark.parametrize("seed", range(3))
def test_form_and_order_of_rows_topics_and_runs_make_no_difference(form, seed, tmp_path):
    qrels, runs = random_input(seed, topics=25)
    names = map(str, range(100))

    def file(kind, rows):
        path = tmp_path / next(names)
        path.write_text(trec_lines(kind, rows))
        return path

    def once(kind, rows):
        return frame(kind, rows) if kind == "qrels" else frame(kind, rows).itertuples()

    def shuffled(rows, order):
        return random.Random(order).sample(rows, len(rows))  # noqa: S311

    write = {"dict": lambda _, rows: dicts(rows), "frame": frame, "file": file, "once": once}[form]
    measures = ["nDCG@5", "Q", "AP@9", "P@5", "NumRet(rel=1)"]

    def ask(qrels, runs):
        return ir_graded.score_intervals(measures, qrels, runs, depth=9, n_samples=40, rng=seed)

    expected = ask(qrels, runs)
    for order in range(3):
        given = {n: write("run", shuffled(rows_of(runs[n]), order)) for n in shuffled(list(runs), order)}
        found = ask(write("qrels", shuffled(rows_of(qrels), order)), given)
        assert found.scores.query_ids != expected.scores.query_ids
        topics = [found.scores.query_ids.index(topic) for topic in expected.scores.query_ids]
        at = [found.scores.runs.index(name) for name in runs]
        for attribute in ("zero", "mean_score", "low", "high"):
            values = getattr(found, attribute)[:, at][:, :, topics]
            assert np.array_equal(values, getattr(expected, attribute)), attribute
        assert np.array_equal(found.overall[:, :, at], expected.overall)
        assert np.array_equal(found.imputed[at], expected.imputed)


@pytest.mark.usefixtures("any_bin")
def test_a_run_that_is_read_once_has_the_signature_of_its_rows():
    qrels, runs = random_input(3)
    rows = [ir_measures.ScoredDoc(*row) for row in cases.run_rows(runs["one"])]
    once, again = (
        ir_graded.score_intervals("P@3", qrels, {"one": run}, n_samples=2).scores.signature
        for run in (iter(rows), rows)
    )
    assert once == again
    assert "runs:unknown" not in str(once)


@pytest.mark.usefixtures("any_bin")
def test_run_without_unjudged_documents_has_intervals_of_one_point():
    qrels = {"10": {"a": 2, "b": 0, "c": 1}, "2": {"a": 0, "g": 1}, "3": {"a": 1}}
    run = {"10": {"b": 3.0, "a": 2.0, "c": 1.0}, "2": {"g": 2.0, "a": 1.0}, "3": {"a": 1.0}}
    found = ir_graded.score_intervals([*MEASURES, "NumRet(rel=1)", "SetP"], qrels, run, depth=5, n_samples=30)
    for ends in (found.mean_score, found.low, found.high):
        assert np.array_equal(ends, found.zero)
    assert np.array_equal(found.overall, np.broadcast_to(found.scores.aggregates.T, found.overall.shape))
    assert found.imputed.tolist() == [0]


def test_the_document_at_the_cutoff_counts():
    qrels, run = {"1": {"a": 0, "b": 0, "c": 1}}, {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}
    found = ir_graded.score_intervals("P@3", qrels, {"run": run}, n_samples=20)
    assert (found.low.item(), found.high.item()) == pytest.approx((1 / 3, 1 / 3))


def test_bins_with_few_judged_documents_get_no_levels():
    qrels, runs = random_input(3)
    with pytest.warns(ir_graded.CoverageWarning, match=r"None of the \d+ unjudged documents down to rank 5"):
        found = ir_graded.score_intervals("Q", qrels, runs, depth=5, n_samples=30)
    assert np.array_equal(found.low, found.zero)
    assert np.array_equal(found.high, found.zero)


@pytest.mark.usefixtures("any_bin")
@pytest.mark.filterwarnings("default")
def test_samples_that_add_many_relevant_documents_cause_a_warning():
    qrels, runs = random_input(3)
    with pytest.warns(ir_graded.CoverageWarning, match=r"The samples add \d+% to the known") as caught:
        ir_graded.score_intervals("Q@9", qrels, runs, n_samples=20)
    assert [one.filename for one in caught] == [__file__]


@pytest.mark.slow
def test_depth_is_the_largest_cutoff_by_default():
    covid = covid_sample()
    some = dict(list(covid.runs.items())[:2])
    found = ir_graded.score_intervals(["P@5", "nDCG@20"], covid.qrels, some, n_samples=5)
    assert found.depth == 20
    assert_same(
        ir_graded.score_intervals(["P@5", "nDCG@20"], covid.qrels, some, n_samples=5, depth=20), found
    )


def test_a_measure_without_a_cutoff_needs_a_depth():
    qrels, runs = random_input(1)
    with pytest.raises(ir_graded.ParameterError, match="Q: a measure without a cutoff needs a depth"):
        ir_graded.score_intervals(["Q", "P@5"], qrels, runs)
    with pytest.raises(ir_graded.ParameterError, match="depth=<int of too many digits> must be"):
        ir_graded.score_intervals("Q", qrels, runs, depth=10**5000)


@pytest.mark.slow
def test_frames_and_plot_show_the_intervals():
    covid = covid_sample()
    some = dict(list(covid.runs.items())[:3])
    found = ir_graded.score_intervals(["nDCG@10", "NumRet(rel=1)"], covid.qrels, some, depth=10, n_samples=20)
    assert found.to_frame().columns.tolist() == ["run", "query_id", "measure", "zero", "mean", "low", "high"]
    mean = found.mean()
    assert isinstance(mean, pd.DataFrame)
    assert mean.columns.tolist() == [
        (name, end) for name in ("nDCG@10", "NumRet(rel=1)") for end in ("zero", "mean", "low", "high")
    ]
    expected = ir_graded.evaluate(["nDCG@10", "NumRet(rel=1)"], covid.qrels, some).mean()
    assert np.array_equal(mean.xs("zero", axis=1, level=1).to_numpy(), expected.to_numpy())
    pytest.importorskip("matplotlib")
    assert "95% interval" in found.plot("nDCG@10").axes[0].get_xlabel()


# ---------------------------------------------------------------------- nothing judged non-relevant


def few_relevant(levels, topics=30):
    """Return qrels and a run with unjudged documents, the judged ones at the first ranks."""
    names = [str(topic) for topic in range(topics)]
    qrels = {t: {f"d{at}": level for at, level in enumerate(levels)} for t in names}
    run = {t: {doc_id: -float(at) for at, doc_id in enumerate(["d0", "x", "d1", "y", "z"])} for t in names}
    return qrels, run


ONLY_RELEVANT = (
    r"the qrels have no judged non-relevant document \(level 0\), so the share of relevant documents .*"
    "score_bounds"
)


@pytest.mark.parametrize("topics", [2, 30])
@pytest.mark.parametrize("levels", [(1, 1), (1, 2), (1, 1, -1)])
def test_qrels_without_non_relevant_documents_are_rejected(levels, topics):
    qrels, run = few_relevant(levels, topics)
    with pytest.raises(ir_graded.InputError, match=ONLY_RELEVANT):
        ir_graded.score_intervals(["P@3", "Q@3"], qrels, run, n_samples=5)
    assert ir_graded.unjudged(qrels, run, depths=[3]).share.tolist() == [[pytest.approx(1 / 3)]]
    assert ir_graded.score_bounds("P@3", qrels, run).upper.max() == 1


def test_levels_below_the_measures_rel_are_non_relevant():
    qrels, run = few_relevant((2, 1))
    found = ir_graded.score_intervals("P(rel=2)@3", qrels, run, n_samples=50)
    assert (found.low < found.high).any()
    with pytest.raises(ir_graded.InputError, match=r"\(a level >= 0 and < 2\), so the share of relevant"):
        ir_graded.score_intervals("P(rel=2)@3", few_relevant((2, 3))[0], run, n_samples=5)
    with pytest.raises(ir_graded.InputError, match=r"no judged non-relevant document \(level 0\)"):
        ir_graded.score_intervals(["P(rel=2)@3", "P@3"], qrels, run, n_samples=5)


def test_level_0_is_non_relevant_although_it_has_a_gain():
    qrels, run = few_relevant((0, 1))
    found = ir_graded.score_intervals("nDCG(gains={0: 1, 1: 3})@3", qrels, run, n_samples=20)
    assert (found.low < found.high).any()


def test_non_relevant_documents_that_no_run_retrieved_do_not_help():
    qrels, run = few_relevant((1, 1, 0))
    with pytest.raises(ir_graded.InputError, match="the runs retrieved no judged non-relevant document"):
        ir_graded.score_intervals("P@3", qrels, run, n_samples=5)


def test_qrels_without_non_relevant_documents_suffice_where_all_is_judged():
    qrels, run = few_relevant((1, 1))
    found = ir_graded.score_intervals("P@1", qrels, run, n_samples=5)
    assert np.array_equal(found.low, found.high)


def test_ranks_without_judged_non_relevant_documents_cause_a_warning():
    qrels, run = few_relevant((1, 1, 0))
    for documents in run.values():
        documents |= {"w": -6.0, "d2": -7.0}
    with pytest.warns(ir_graded.CoverageWarning, match=r"judged documents at fused ranks 1-5 are relevant"):
        ir_graded.score_intervals("P@5", qrels, run, n_samples=5)
    qrels, _ = few_relevant((1, 1, 0), topics=90)
    ranked = {doc: -float(at) for at, doc in enumerate(["d2", "d0", "v", "w", "x", "d1", "y", "z"])}
    with pytest.warns(ir_graded.CoverageWarning, match=r"judged documents at fused ranks 6-10 are relevant"):
        ir_graded.score_intervals("P@8", qrels, dict.fromkeys(qrels, ranked), n_samples=5)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("measures", "words"),
    [
        (["P@3", "Q@3", "AP@3"], "documents: too few are judged for intervals of Q@3, AP@3, which"),
        ("P@3", "documents: most relevant documents retrieved may be unjudged"),
    ],
)
def test_warning_of_growth_names_the_requested_measures(measures, words):
    qrels, run = few_relevant((1, 0))
    with pytest.warns(ir_graded.CoverageWarning, match=words):
        ir_graded.score_intervals(measures, qrels, run, n_samples=20)
