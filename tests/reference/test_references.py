"""References that no value by hand of the package covers: closed forms, single steps, distributions."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from reference import chunks, ranked, sample_size as sizes, ties, ties_large, unjudged
from reference.tie_cases import IDS, VARIANTS, case, random_case, random_parameters, rng_of

# --------------------------------------------------------------------------------------------------- ties


@pytest.mark.slow
@pytest.mark.parametrize("variant", ties_large.MEASURES)
def test_closed_form_of_ties_equals_the_mean_over_all_orders(variant):
    rng = rng_of(variant)
    positive = 0
    large = [case([[2, 1, 1, 0, 0, 0, 0, 0, 0]], [3, 1]), case([[3, 3, *[None] * 7]], [3, 1])]
    for topic in [*(random_case(rng) for _ in range(200)), *large]:
        name, params = random_parameters(rng, variant)
        if params.get("beta") == math.inf:
            continue
        expected = topic.score(name, params, "expected")
        scale = {*topic.levels.values(), topic.highest}
        found = ties_large.expected(name, params, topic.levels, topic.groups, topic.highest, scale)
        assert found == pytest.approx(expected, rel=0, abs=1e-14), (topic, params)
        positive += expected > 0
    assert positive > 80


@pytest.mark.parametrize("how", ties.TIES)
def test_scores_without_ties_are_those_of_the_ranking(how):
    rng = rng_of(how)
    for variant in VARIANTS:
        topic, (name, params) = random_case(rng), random_parameters(rng, variant)
        order = [doc_id for group in topic.groups for doc_id in group]
        alone = [[doc_id] for doc_id in order]
        expected = ranked.score(name, params, topic.levels, order, topic.highest)
        assert ties.score(name, params, how, topic.levels, alone, topic.highest) == expected


def test_unknown_ties_are_rejected():
    with pytest.raises(ValueError, match="'best' is none of"):
        case([[1]]).score("Q", {}, "best")


def test_scores_tie_only_if_they_are_equal_as_doubles():
    scores = {"a": 1.0, "b": 1.00000001, "c": 0.0, "d": -0.0, "e": math.inf, "f": math.inf, "g": 1e39}
    assert ties.tie_groups(scores) == [["f", "e"], ["g"], ["b"], ["a"], ["d", "c"]]


@pytest.mark.parametrize(
    ("name", "cutoff", "how", "score"),
    [
        ("MAgP", None, "expected", 0.495370370370),
        ("MAgP", None, "optimistic", 0.611111111111),
        ("MAgP", None, "pessimistic", 0.395833333333),
        ("gP", 2, "expected", 0.458333333333),
        ("gR", 2, "expected", 0.555555555556),
    ],
)
def test_tied_articles_have_the_scores_of_a_worked_example(name, cutoff, how, score):
    """An article with F = 0.5 is above three that tie: F = 1, F = 0.25 and one without relevance."""
    qrels = [("1", doc, 1, 0, length) for doc, length in zip("abc", (50, 100, 25), strict=True)]
    run = [("1", doc, value, 0, 100) for doc, value in zip("abcd", (2.0, 1.0, 1.0, 1.0), strict=True)]
    run += [("1", doc, value - 1, 10, 10) for _, doc, value, *_ in run]
    found = ties.evaluate_passages(name, {"cutoff": cutoff, "beta": 0}, how, qrels, run)
    assert found == {"1": pytest.approx(score, rel=0, abs=1e-12)}


# -------------------------------------------------------------------------------------------- submissions


@pytest.mark.parametrize(
    ("rows", "focused", "in_context", "best"),
    [
        ([("a", 0, 9), ("b", 0, 9)], [], [], []),
        ([("a", 0, 9), ("a", 9, 9)], [], [], ["several rows"]),
        ([("a", 0, 9), ("a", 8, 9)], ["overlap"], ["overlap"], ["several rows"]),
        ([("a", 0, 9), ("a", 4, 0)], ["overlap"], ["overlap"], ["several rows"]),
        ([("a", 0, 9), ("a", 9, 0), ("a", 0, 0)], [], [], ["several rows", "several rows"]),
        ([("a", 0, 9), ("b", 0, 9), ("a", 20, 9)], [], ["interleaved"], ["several rows", "interleaved"]),
    ],
)
def test_problems_of_submissions_are_found(rows, focused, in_context, best):
    for task, expected in zip(chunks.TASKS, (focused, in_context, best), strict=True):
        assert [problem for problem, *_ in chunks.check_submission(rows, task)] == expected
    assert ("beyond", 0, None) in chunks.check_submission(rows, "focused", dict.fromkeys("ab", 8))


# ------------------------------------------------------------------------------------ unjudged documents


def listed(levels, not_retrieved=()):
    """Return qrels of one topic and its ranking, from the levels by rank; None for unjudged documents."""
    return case([[level] for level in levels], not_retrieved).levels, IDS[: len(levels)]


def random_list(rng):
    """Return a list of few unjudged documents, with levels from -1 to 3."""
    found = [rng.choice((-1, 0, 1, 2, 3, None)) for _ in range(rng.randint(0, 6))]
    if sum(level in (-1, None) for level in found) > 4:
        return random_list(rng)
    return listed(found, [rng.choice((0, 1, 2, 3)) for _ in range(rng.randint(0, 2))])


def parameters_of_bounds(rng, name):
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


@pytest.mark.slow
@pytest.mark.parametrize("name", unjudged.WITH_BOUNDS)
def test_bounds_equal_the_extremes_over_all_completions(name):
    rng = rng_of(name)
    wider = 0
    for _ in range(150):
        levels, order = random_list(rng)
        params = parameters_of_bounds(rng, name)
        scale = range(params.get("max_rel", 4) + 1)
        lower, upper = unjudged.bounds(name, params, levels, order, max(scale), set(scale))
        lowest, largest = unjudged.bounds_by_enumeration(name, params, levels, order, scale, set(scale))
        assert lower == pytest.approx(lowest, rel=0, abs=1e-14)
        assert upper - unjudged.tail(name, params, len(order)) == pytest.approx(largest, rel=0, abs=1e-14)
        wider += upper > lower
    assert wider > 25


@pytest.mark.slow
def test_residual_with_a_cutoff_fills_the_ranks_down_to_it():
    rng = rng_of("residual")
    for _ in range(75):
        levels, order = listed([rng.choice((0, 1, 2, 3, None)) for _ in range(rng.randint(0, 4))])
        params = {"p": rng.choice((0.5, 0.8, 0.95)), "cutoff": rng.randint(1, 5), "max_rel": 3}
        longer = [*order, *IDS[50:]][: params["cutoff"]]
        _, largest = unjudged.bounds_by_enumeration("gRBP", params, levels, longer, range(4))
        lower, upper = unjudged.bounds("gRBP", params, levels, order, 3)
        found = upper, lower + unjudged.residual(params, levels, order)
        assert found == pytest.approx((largest, largest), rel=0, abs=1e-14)


#: Two topics: judged documents, unjudged ones, one of level -1, and one that no run retrieved.
QRELS = {"1": {"a": 2, "b": 0, "c": 1, "e": -1, "z": 2}, "2": {"a": 0, "g": 0}}
RUN = {"1": ["a", "b", "c", "d", "e", "f"], "2": ["a", "b", "c", "d", "e", "g"]}


def test_counts_include_only_judged_documents_that_a_run_retrieved():
    c = unjudged.counts(QRELS, [RUN])
    assert c["1"][:2] == [{0: 1, 1: 1, 2: 1}, {0: 0, 1: 0, 2: 0}]
    assert c["2"][:2] == [{0: 1, 1: 0, 2: 0}, {0: 1, 1: 0, 2: 0}]
    assert sum(sum(one.values()) for by_bin in c.values() for one in by_bin) == 5


def test_priors_combine_bins_and_topics():
    c = unjudged.counts(QRELS, [RUN])
    alpha = unjudged.priors(c, fewest=1)
    # All: 3, 1, 1 of 5. Bin 0: 2, 1, 1 of 4, and 5 documents with those shares.
    pi = {0: Fraction(3, 5), 1: Fraction(1, 5), 2: Fraction(1, 5)}
    pi_0 = {level: (count + 5 * pi[level]) / 9 for level, count in {0: 2, 1: 1, 2: 1}.items()}
    pi_1 = {level: (count + 5 * pi[level]) / 6 for level, count in {0: 1, 1: 0, 2: 0}.items()}
    assert alpha["1"][0] == pytest.approx({level: 1 + 5 * float(pi_0[level]) for level in pi})
    assert alpha["2"][0] == pytest.approx({level: (level == 0) + 5 * float(pi_0[level]) for level in pi})
    assert alpha["1"][1] == pytest.approx({level: 5 * float(pi_1[level]) for level in pi})
    assert alpha["1"][2:] == [None] * 6
    assert unjudged.priors(c, fewest=4)["1"][:2] == [alpha["1"][0], None]


def test_unjudged_documents_within_the_depth_of_a_run_get_a_level():
    other = {"1": ["f", "a"], "2": []}
    alpha = unjudged.priors(unjudged.counts(QRELS, [RUN]), fewest=1)
    assert unjudged.to_impute(QRELS, [RUN], 4, alpha) == {"1": {"d": 0}, "2": {"b": 0, "c": 0, "d": 0}}
    alpha = unjudged.priors(unjudged.counts(QRELS, [RUN, other]), fewest=1)
    assert unjudged.to_impute(QRELS, [RUN, other], 1, alpha)["1"].keys() == {"f"}


def test_fused_ranking_sums_reciprocal_ranks():
    # b: 1/62 + 1/61, a: 1/61 + 1/63, c: 1/62, d: 1/63; x and y tie.
    assert unjudged.fused([["a", "b", "d"], ["b", "c", "a"]]) == ["b", "a", "c", "d"]
    assert unjudged.fused([["x", "y"], ["y", "x"]]) == ["y", "x"]


# ---------------------------------------------------------------------------------------- other programs


@pytest.mark.parametrize("f", [1, 2, 7, 49, 3000])
def test_distributions_equal_scipy(f):
    stats = pytest.importorskip("scipy.stats")
    for p in (0.6, 0.95, 0.999):
        # The quantiles of SciPy 1.15 are wrong by 2e-11, its probabilities are not.
        assert stats.t.sf(sizes.t_quantile(p, f), f) == pytest.approx(1 - p, rel=1e-11)
        assert sizes.f_quantile(p, 3, f) == pytest.approx(stats.f.ppf(p, 3, f), rel=1e-10)
    for w, nc in ((2, 0.5), (2, 3), (1.7, -2), (5, 4)):
        assert sizes.noncentral_t_tail(w, f, nc) == pytest.approx(stats.nct.sf(w, f, nc), abs=1e-10)
        found = sizes.noncentral_f_tail(w, 4, f, abs(nc))
        assert found == pytest.approx(stats.ncf.sf(w, 4, f, abs(nc)), abs=1e-10)
    z = [0.1, 0.4, -0.2, 0.3, 0.25]
    assert sizes.paired_t_p_value(z) == pytest.approx(stats.ttest_1samp(z, 0).pvalue, rel=1e-12)


@pytest.mark.slow
def test_power_equals_statsmodels():
    power = pytest.importorskip("statsmodels.stats.power")
    one, two, anova = power.TTestPower(), power.TTestIndPower(), power.FTestAnovaPower()
    for n in (10, 50, 200):
        for d in (0.1, 0.3):  # further out, SciPy's tail away from the difference may be NaN
            assert sizes.power_paired_t(d, n) == pytest.approx(one.power(d, n, 0.05), abs=1e-8)
            greater = one.power(d, n, 0.05, alternative="larger")
            assert sizes.power_paired_t(d, n, alternative="greater") == pytest.approx(greater, abs=1e-8)
            assert sizes.power_unpaired_t(d, n) == pytest.approx(two.power(d, n, 0.05), abs=1e-8)
    for m, n in ((2, 80), (10, 158), (100, 405)):
        # Versions before 0.15 differ in the fifth digit.
        theirs = anova.power(math.sqrt(0.1 / m), n * m, 0.05, m)
        assert sizes.power_anova(0.1, m, n) == pytest.approx(theirs, abs=2e-5)
