"""The references for unjudged documents: worked examples, bounds over all completions, imputation by hand."""

import math
from fractions import Fraction

import pytest

from reference import ranked, ties, unjudged
from reference.tie_cases import IDS, rng_of

#: Random lists for each measure.
CASES = 300


def listed(levels, not_retrieved=()):
    """Return qrels of one topic and its ranking, from the levels by rank; None for unjudged documents."""
    order = IDS[: len(levels)]
    judged = {doc_id: level for doc_id, level in zip(order, levels, strict=True) if level is not None}
    missing = dict(zip(IDS[len(levels) :], not_retrieved, strict=False))
    return {**judged, **missing}, order


# ------------------------------------------------------------------------------- graded RBP and bounds

EXAMPLE_D = listed([1, None, 2, None])
NTCIREVAL = listed([0, 3, None, 2])


@pytest.mark.parametrize(
    ("topic", "p", "base", "residual"),
    [(EXAMPLE_D, 0.8, 0.152, 0.672), (NTCIREVAL, 0.95, 0.076079166667, 0.859631250000)],
)
def test_worked_examples_of_graded_rbp(topic, p, base, residual):
    levels, order = topic
    params = {"p": p, "max_rel": 3}
    assert unjudged.graded_rbp(params, levels, order, 3) == pytest.approx(base, rel=0, abs=1e-12)
    assert unjudged.residual(params, levels, order) == pytest.approx(residual, rel=0, abs=1e-12)
    bounds = unjudged.bounds("gRBP", params, levels, order, 3)
    assert bounds == pytest.approx((base, base + residual), rel=0, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "params", "lower", "upper"),
    [
        ("iRBU", {"max_rel": 3}, 0.611362125000, 0.957313688203),
        ("P", {"cutoff": 3}, 2 / 3, 1),
        ("ERR", {"cutoff": 20}, 0.121093750000, 0.516773223877),
        ("RR", {}, 1, 1),
        ("Success", {"cutoff": 2, "rel": 2}, 0, 1),
        ("NumRet", {"rel": 2}, 1, 3),
        ("SetP", {"rel": 2}, 0.25, 0.75),
    ],
)
def test_worked_examples_of_bounds(name, params, lower, upper):
    assert unjudged.bounds(name, params, *EXAMPLE_D, 3) == pytest.approx((lower, upper), rel=0, abs=1e-12)


def test_graded_rbp_of_binary_levels_equals_rbp():
    # RBP divides by the weight of 1,000 ranks.
    rng = rng_of("binary")
    for _ in range(50):
        levels, order = listed([rng.choice((0, 1, None)) for _ in range(6)], not_retrieved=[1])
        rbp = ties.score_of_order("RBP", {"p": 0.8}, levels, order, 1)
        base = unjudged.graded_rbp({"p": 0.8}, levels, order, 1)
        assert rbp * (1 - 0.8**1000) == pytest.approx(base, rel=0, abs=1e-15)


def random_list(rng):
    """Return a list of few unjudged documents, with levels from -1 to 3."""
    found = [rng.choice((-1, 0, 1, 2, 3, None)) for _ in range(rng.randint(0, 6))]
    if sum(level in (-1, None) for level in found) > 4:
        return random_list(rng)
    return listed(found, [rng.choice((0, 1, 2, 3)) for _ in range(rng.randint(0, 2))])


def random_parameters(rng, name):
    params = {}
    if name in ("gRBP", "iRBU"):
        params["gains"] = rng.choice(({}, {1: 1, 2: 3, 3: 7}, {1: 5, 3: 2}, {2: 0}))
        params["max_rel"] = rng.choice((3, 4))
    if name in ("gRBP", "iRBU", "RBP"):
        params["p"] = rng.choice((0.5, 0.8, 0.99))
    if name != "ERR":
        params["rel"] = rng.choice((1, 1, 2))
    if name in ("P", "Success", "ERR"):
        params["cutoff"] = rng.randint(1, 8)
    if name in ("gRBP", "iRBU", "RR"):
        params["cutoff"] = rng.choice((None, 1, 2, 3, 5, 8))
    return params


@pytest.mark.parametrize("name", unjudged.WITH_BOUNDS)
def test_bounds_equal_the_extremes_over_all_completions(name):
    rng = rng_of(name)
    wider = 0
    for _ in range(CASES):
        levels, order = random_list(rng)
        params = random_parameters(rng, name)
        highest = params.get("max_rel", 4)
        scale = range(highest + 1)
        lower, upper = unjudged.bounds(name, params, levels, order, highest, set(scale))
        lowest, largest = unjudged.bounds_by_enumeration(name, params, levels, order, scale, set(scale))
        assert lower == pytest.approx(lowest, rel=0, abs=1e-14)
        assert upper - unjudged.tail(name, params, len(order)) == pytest.approx(largest, rel=0, abs=1e-14)
        today = unjudged.score_of_order(name, params, levels, order, highest, set(scale))
        assert lower == today
        wider += upper > lower
    assert wider > CASES / 6


def test_residual_with_a_cutoff_fills_the_ranks_down_to_it():
    rng = rng_of("residual")
    for _ in range(CASES // 4):
        found = [rng.choice((0, 1, 2, 3, None)) for _ in range(rng.randint(0, 4))]
        levels, order = listed(found)
        cutoff = rng.randint(1, 5)
        params = {"p": rng.choice((0.5, 0.8, 0.95)), "cutoff": cutoff, "max_rel": 3}
        longer = order + [f"more{n}" for n in range(cutoff - len(order))]
        _, largest = unjudged.bounds_by_enumeration("gRBP", params, levels, longer[:cutoff], (0, 1, 2, 3))
        base = unjudged.graded_rbp(params, levels, order, 3)
        assert base + unjudged.residual(params, levels, order) == pytest.approx(largest, rel=0, abs=1e-14)
        assert unjudged.bounds("gRBP", params, levels, order, 3)[1] == pytest.approx(
            largest, rel=0, abs=1e-14
        )


def test_residual_of_a_condensed_list_is_below_its_end():
    levels, order = EXAMPLE_D
    params = {"p": 0.8, "judged_only": True, "max_rel": 3}
    assert unjudged.residual(params, levels, order) == pytest.approx(0.8**2, rel=1e-15)
    assert unjudged.graded_rbp(params, levels, order, 3) == pytest.approx(
        0.2 * (1 / 3 + 0.8 * 2 / 3), rel=1e-15
    )


@pytest.mark.parametrize(
    ("name", "params"), [("nDCG", {}), ("Q", {}), ("R", {"cutoff": 5}), ("SetP", {"relative": True})]
)
def test_measure_that_uses_an_ideal_list_or_R_has_no_bounds(name, params):
    with pytest.raises(ValueError, match="has no exact bounds"):
        unjudged.bounds(name, params, *EXAMPLE_D, 3)


def test_condensed_list_has_no_bounds():
    # A relevant document is at rank 2 below an unjudged one, which takes rank 1 if judged not relevant.
    levels, order = listed([None, 1])
    params = {"cutoff": 1, "judged_only": True}
    today = ties.score_of_order("P", params, levels, order, 1)
    assert unjudged.bounds_by_enumeration("P", params, levels, order, (0, 1)) == (0, 1)
    assert today == 1
    with pytest.raises(ValueError, match="judged_only"):
        unjudged.bounds("P", params, levels, order, 1)


# ------------------------------------------------------------------------------------- worked example E

EXAMPLE_E = listed([2, None, 1, None], not_retrieved=[3])
SHARES = {0: 0.5, 1: 0.25, 2: 0.25}
OF_EXAMPLE_E = [
    ("nDCG", {"cutoff": 3}, 0.595469436567, 0.525004989385),
    ("Q", {}, 0.531560268435, 0.435185185185),
    ("AP", {}, 0.677430555556, 0.555555555556),
    ("P", {"cutoff": 3}, 0.833333333333, 0.666666666667),
    ("nERR", {"max_rel": 3}, 0.714943335912, 0.658227848101),
]


@pytest.mark.parametrize(("name", "params", "mean", "today"), OF_EXAMPLE_E)
def test_worked_example_of_imputation(name, params, mean, today):
    levels, order = EXAMPLE_E
    terms = [
        math.prod(SHARES[level] for level in given.values())
        * ties.score_of_order(name, params, completed, order, 3)
        for given, completed in unjudged.completions(levels, [order[1], order[3]], SHARES)
    ]
    assert len(terms) == 9
    assert math.fsum(terms) == pytest.approx(mean, rel=0, abs=1e-12)
    assert ties.score_of_order(name, params, levels, order, 3) == pytest.approx(today, rel=0, abs=1e-12)


def test_extremes_of_the_worked_example():
    levels, order = EXAMPLE_E
    scores = [
        ties.score_of_order("nDCG", {"cutoff": 3}, completed, order, 3)
        for _, completed in unjudged.completions(levels, [order[1], order[3]], SHARES)
    ]
    assert (min(scores), max(scores)) == pytest.approx((0.475117208395, 0.714929674963), rel=0, abs=1e-12)


@pytest.mark.parametrize(("name", "params", "mean", "today"), OF_EXAMPLE_E)
def test_mean_of_samples_is_close_to_the_exact_mean(name, params, mean, today):
    levels, order = EXAMPLE_E
    alpha, documents = [SHARES], {order[1]: 0, order[3]: 0}
    draws = FixedDraws(7, SHARES)
    scores = []
    for sample in range(500):
        completed = {**levels, **unjudged.given_levels(alpha, documents, sample, "1", draws)}
        scores.append(ties.score_of_order(name, params, completed, order, 3))
    interval = unjudged.Interval.of(scores, 0.95)
    error = math.sqrt(sum((score - interval.mean) ** 2 for score in scores)) / len(scores)
    assert abs(interval.mean - mean) < 4 * error
    assert interval.mean != today
    assert interval.low <= interval.mean <= interval.high


class FixedDraws(unjudged.Draws):
    """Fixed shares and no shift; only the levels of documents are random."""

    def __init__(self, seed, shares):
        super().__init__(seed, spread=0)
        self.fixed = shares

    def shares(self, *_):
        return self.fixed


# ------------------------------------------------------------------------------------ steps of imputation


def test_fused_ranking_of_one_run_is_its_ranking():
    ranking = [f"x{n}" for n in range(30)]
    assert unjudged.fused([ranking]) == ranking


def test_fused_ranking_sums_reciprocal_ranks():
    # b: 1/62 + 1/61, a: 1/61 + 1/63, c: 1/62, d: 1/63; x and y tie.
    assert unjudged.fused([["a", "b", "d"], ["b", "c", "a"]]) == ["b", "a", "c", "d"]
    assert unjudged.fused([["x", "y"], ["y", "x"]]) == ["y", "x"]


def test_bins_end_at_the_specified_ranks():
    ranking = [f"x{n}" for n in range(1, 602)]
    bins = unjudged.bins([ranking])
    first = {1: 0, 5: 0, 6: 1, 10: 1, 11: 2, 20: 2, 21: 3, 50: 3, 51: 4, 100: 4, 101: 5, 200: 5, 201: 6}
    for place, b in {**first, 500: 6, 501: 7, 601: 7}.items():
        assert bins[f"x{place}"] == b


#: Two topics: judged documents, unjudged ones, one of level -1, and one that no run retrieved.
QRELS = {"1": {"a": 2, "b": 0, "c": 1, "e": -1, "z": 2}, "2": {"a": 0, "g": 0}}
RUN = {"1": ["a", "b", "c", "d", "e", "f"], "2": ["a", "b", "c", "d", "e", "g"]}


def test_counts_include_only_judged_documents_that_a_run_retrieved():
    c = unjudged.counts(QRELS, [RUN])
    assert c["1"][:2] == [{0: 1, 1: 1, 2: 1}, {0: 0, 1: 0, 2: 0}]
    assert c["2"][:2] == [{0: 1, 1: 0, 2: 0}, {0: 1, 1: 0, 2: 0}]
    assert sum(sum(one.values()) for by_bin in c.values() for one in by_bin) == 5


def test_priors_combine_bins_and_topics():
    alpha = unjudged.priors(unjudged.counts(QRELS, [RUN]), fewest=1)
    # All: 3, 1, 1 of 5. Bin 0: 2, 1, 1 of 4, and 5 documents with those shares.
    pi = {0: Fraction(3, 5), 1: Fraction(1, 5), 2: Fraction(1, 5)}
    pi_0 = {level: (count + 5 * pi[level]) / 9 for level, count in {0: 2, 1: 1, 2: 1}.items()}
    pi_1 = {level: (count + 5 * pi[level]) / 6 for level, count in {0: 1, 1: 0, 2: 0}.items()}
    assert alpha["1"][0] == pytest.approx({level: 1 + 5 * float(pi_0[level]) for level in pi})
    assert alpha["2"][0] == pytest.approx({level: (level == 0) + 5 * float(pi_0[level]) for level in pi})
    assert alpha["1"][1] == pytest.approx({level: 5 * float(pi_1[level]) for level in pi})
    assert alpha["1"][2:] == [None] * 6


def test_bin_with_few_judged_documents_gets_no_levels():
    c = unjudged.counts(QRELS, [RUN])
    assert unjudged.priors(c, fewest=4)["1"][:2] == [unjudged.priors(c, fewest=1)["1"][0], None]
    assert unjudged.priors(c)["1"] == [None] * 8
    assert unjudged.completed_qrels(QRELS, [RUN], 10, 3, unjudged.Draws(1)) == [QRELS] * 3


def test_retrieved_unjudged_documents_get_a_level():
    alpha = unjudged.priors(unjudged.counts(QRELS, [RUN]), fewest=1)
    assert unjudged.to_impute(QRELS, [RUN], 6, alpha) == {
        "1": {"d": 0, "e": 0, "f": 1},
        "2": {"b": 0, "c": 0, "d": 0, "e": 0},
    }
    assert unjudged.to_impute(QRELS, [RUN], 4, alpha) == {"1": {"d": 0}, "2": {"b": 0, "c": 0, "d": 0}}


def test_document_within_depth_of_one_of_the_runs_gets_a_level():
    other = {"1": ["f", "a"], "2": []}
    alpha = unjudged.priors(unjudged.counts(QRELS, [RUN, other]), fewest=1)
    assert unjudged.to_impute(QRELS, [RUN, other], 1, alpha)["1"].keys() == {"f"}


def test_shift_multiplies_the_odds_of_each_level_above_0():
    shares = {0: 0.5, 1: 0.3, 2: 0.2}
    shifted = unjudged.shifted(shares, math.log(3))
    assert math.fsum(shifted.values()) == pytest.approx(1, rel=1e-15)
    for level in (1, 2):
        odds = shares[level] / shares[0]
        assert shifted[level] / shifted[0] == pytest.approx(3 * odds, rel=1e-14)
    assert unjudged.shifted(shares, 0) == pytest.approx(shares, rel=1e-15)


@pytest.mark.parametrize(
    ("number", "level"), [(0.0, 0), (0.49, 0), (0.5, 2), (0.74, 2), (0.75, 3), (1 - 2**-53, 3)]
)
def test_label_is_the_level_at_which_the_cumulative_share_passes_the_number(number, level):
    assert unjudged.label({3: 0.25, 0: 0.5, 2: 0.25, 1: 0.0}, number) == level


def test_shares_have_the_mean_of_the_dirichlet_distribution():
    alpha = {0: 3.0, 1: 1.0, 2: 0.0}
    drawn = [unjudged.Draws(3).shares(sample, "1", 0, alpha) for sample in range(2000)]
    assert all(one[2] == 0 for one in drawn)
    # Variance of a share is m (1 - m) / (total + 1).
    error = math.sqrt(0.75 * 0.25 / 5 / len(drawn))
    assert abs(math.fsum(one[0] for one in drawn) / len(drawn) - 0.75) < 4 * error


# ----------------------------------------------------------------------------------------- whole intervals


def ndcg(levels, order):
    return ties.score_of_order("nDCG", {"cutoff": 3}, levels, order, 2)


def q(levels, order):
    return ranked.score("Q", {}, levels, order, 2)


def test_samples_do_not_depend_on_other_draws():
    samples = unjudged.completed_qrels(QRELS, [RUN], 6, 5, unjudged.Draws(1), fewest=1)
    assert unjudged.completed_qrels(QRELS, [RUN], 6, 2, unjudged.Draws(1), fewest=1) == samples[:2]
    assert unjudged.completed_qrels(QRELS, [RUN], 6, 5, unjudged.Draws(2), fewest=1) != samples
    reordered = dict(reversed(QRELS.items()))
    assert unjudged.completed_qrels(reordered, [RUN], 6, 5, unjudged.Draws(1), fewest=1) == samples
    for sample in samples:
        assert sample["1"].keys() == {"a", "b", "c", "d", "e", "f", "z"}
        assert {doc_id: sample["1"][doc_id] for doc_id in "abcz"} == {"a": 2, "b": 0, "c": 1, "z": 2}
        assert set(sample["1"].values()) <= {0, 1, 2}


@pytest.mark.parametrize("score_of", [ndcg, q])
def test_run_without_unjudged_documents_has_intervals_of_one_point(score_of):
    run = {"1": ["b", "a", "z", "c"], "2": ["g", "a"]}
    qrels = {"1": {"a": 2, "b": 0, "c": 1, "z": 2}, "2": {"a": 0, "g": 1}}
    samples = unjudged.completed_qrels(qrels, [run], 6, 10, unjudged.Draws(1), fewest=1)
    found = unjudged.score_intervals(qrels, run, samples, score_of)
    for topic, interval in found.topics.items():
        assert {interval.low, interval.high} == {found.zero[topic]}
        assert interval.mean == pytest.approx(found.zero[topic], rel=1e-15)
    assert unjudged.imputed(qrels, run, 6, samples[0]) == 0
    assert unjudged.growth_of_R(qrels, samples) == 0


def test_intervals_are_quantiles_of_the_samples():
    samples = unjudged.completed_qrels(QRELS, [RUN], 6, 9, unjudged.Draws(1), fewest=1)
    found = unjudged.score_intervals(QRELS, RUN, samples, q, confidence=0.5)
    scores = [sorted(q(sample[topic], RUN[topic]) for sample in samples) for topic in ("1", "2")]
    for topic, ordered in zip(("1", "2"), scores, strict=True):
        assert (found.topics[topic].low, found.topics[topic].high) == (ordered[2], ordered[6])
    means = sorted((q(one["1"], RUN["1"]) + q(one["2"], RUN["2"])) / 2 for one in samples)
    assert (found.over_topics.low, found.over_topics.high) == pytest.approx((means[2], means[6]), rel=1e-15)
    assert found.zero == {topic: q(QRELS[topic], RUN[topic]) for topic in QRELS}
    assert unjudged.imputed(QRELS, RUN, 6, samples[0]) == 7 / 12
    assert unjudged.imputed(QRELS, RUN, 2, samples[0]) == 1 / 4


def test_relevant_documents_that_are_added_are_counted():
    sample = {"1": {**QRELS["1"], "d": 2, "e": 1, "f": 0}, "2": {**QRELS["2"], "b": 2}}
    assert unjudged.growth_of_R(QRELS, [QRELS, sample]) == 0.5
    assert unjudged.growth_of_R(QRELS, [QRELS, sample], rel=2) == 0.5


@pytest.mark.parametrize(("q_", "value"), [(0, 1), (0.25, 1.75), (0.5, 2.5), (1, 4)])
def test_quantile_is_interpolated(q_, value):
    assert unjudged.quantile([4, 2, 1, 3], q_) == value
