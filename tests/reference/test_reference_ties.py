"""The references for ties: worked examples, identities, and closed forms compared with all orders."""

import math
from fractions import Fraction

import pytest

from reference import classics, passages, ranked, ties, ties_closed
from reference.tie_algorithms import cascade
from reference.tie_cases import IDS, VARIANTS, case, random_case, random_parameters, rng_of

#: Random topics per measure, and the maximal number of orders. Larger values take minutes.
CASES, MOST_ORDERS = 200, 60


def drawn(variant, cases=CASES, most_orders=MOST_ORDERS):
    """Yield random topics with a measure and its parameters, equal in every run."""
    rng = rng_of(variant)
    for _ in range(cases):
        yield random_case(rng, most_orders=most_orders), *random_parameters(rng, variant)


def closed(drawn_case, name, params, number=Fraction):
    return ties_closed.expected(
        name, params, drawn_case.levels, drawn_case.groups, drawn_case.highest, number=number
    )


# --------------------------------------------------------------------------------------- closed forms


@pytest.mark.parametrize("variant", VARIANTS)
def test_closed_form_equals_the_mean_over_all_orders(variant):
    positive = 0
    for topic, name, params in drawn(variant):
        expected = topic.score(name, params, "expected")
        assert closed(topic, name, params) == pytest.approx(expected, rel=0, abs=1e-14), (topic, params)
        assert closed(topic, name, params, float) == pytest.approx(expected, rel=0, abs=1e-14), (
            topic,
            params,
        )
        positive += expected > 0
    assert positive > CASES / 2


@pytest.mark.parametrize("variant", VARIANTS)
def test_one_large_group_of_nine(variant):
    rng = rng_of(variant)
    for levels in ([2, 1, 1, 0, 0, 0, 0, 0, 0], [3, 3, None, None, None, None, None, None, None]):
        topic = case([levels], not_retrieved=[3, 1])
        name, params = random_parameters(rng, variant)
        expected = topic.score(name, {**params, "rel": 1}, "expected")
        assert closed(topic, name, {**params, "rel": 1}) == pytest.approx(expected, rel=0, abs=1e-14)


def test_cascade_keeps_its_digits_in_a_large_group():
    rng = rng_of(0)
    # Sixteenths are exact, so that the test does not measure rounding of the input.
    documents = [(Fraction(rng.randint(1, 15), 16), Fraction(rng.randint(1, 15), 16), 1) for _ in range(40)]
    exact = cascade(120, 120, documents, Fraction(1))
    rounded = cascade(120, 120, [tuple(map(float, one)) for one in documents], 1.0)
    for name in "edkl":
        for want, got in zip(getattr(exact, name), getattr(rounded, name), strict=True):
            assert got == pytest.approx(float(want), rel=2e-15, abs=0)


# ----------------------------------------------------------------------------------- effects of ties


@pytest.mark.parametrize("variant", VARIANTS)
def test_without_ties_all_four_orders_are_equal(variant):
    rng = rng_of(variant)
    for topic, name, params in drawn(variant, 30):
        documents = [doc_id for group in topic.groups for doc_id in group]
        groups = [[doc_id] for doc_id in rng.sample(documents, len(documents))]
        found = {ties.score(name, params, how, topic.levels, groups, topic.highest) for how in ties.TIES}
        assert len(found) == 1
        (score,) = found
        got = ties_closed.expected(name, params, topic.levels, groups, topic.highest)
        assert got == pytest.approx(score, rel=0, abs=1e-15)


@pytest.mark.parametrize("variant", VARIANTS)
def test_expected_is_between_the_extremes(variant):
    for topic, name, params in drawn(variant, 30):
        low, high = topic.extremes(name, params)
        for how in ties.TIES:
            assert low - 1e-15 <= topic.score(name, params, how) <= high + 1e-15


#: Tables of gains that never fall as the level rises.
RISING = ({}, {1: 1, 2: 3, 3: 7, 4: 7}, {1: 0, 2: 0, 3: 5, 4: 5}, {1: 0.5, 2: 0.5})
NOT_EXTREME = ("P-measure", "P+", "NCU preferred", "NCU up_to_preferred", "NCU gu", "NCU err", "EBR")


@pytest.mark.parametrize("variant", [variant for variant in VARIANTS if variant not in NOT_EXTREME])
def test_optimistic_and_pessimistic_are_the_extremes(variant):
    rng = rng_of(variant)
    for topic, name, params in drawn(variant, 60):
        if "gains" in params:
            if name == "nDCG" or any(level % 1 for level in topic.levels.values()):
                continue
            params["gains"] = rng.choice(RISING)
        low, high = topic.extremes(name, params)
        assert topic.score(name, params, "optimistic") == pytest.approx(high, rel=0, abs=1e-14)
        assert topic.score(name, params, "pessimistic") == pytest.approx(low, rel=0, abs=1e-14)


@pytest.mark.parametrize(
    ("name", "params", "topic", "optimistic", "pessimistic"),
    [
        ("P-measure", {}, case([[2, 1]], [10]), 0.272727272727, 0.357142857143),
        ("P+", {}, case([[None], [2, 1]], [10]), 0.214285714286, 0.227678571429),
        ("NCU", {}, case([[5, 1]], [100]), 0.003507509982, 0.003713525999),
        ("EBR", {}, case([[5, 1]], [100]), 0.003644502509, 0.003860717339),
        ("Q", {"gains": {1: 3}}, case([[2, 1]]), 0.875, 1),
    ],
)
def test_optimistic_is_not_the_largest_score_of_every_measure(name, params, topic, optimistic, pessimistic):
    assert topic.score(name, params, "optimistic") == pytest.approx(optimistic, rel=0, abs=1e-12)
    assert topic.score(name, params, "pessimistic") == pytest.approx(pessimistic, rel=0, abs=1e-12)


def test_gains_of_ndcg_may_reverse_the_order_of_the_levels():
    topic = case([[2, 1]])
    params = {"gains": {2: 0}, "cutoff": 1}
    assert topic.score("nDCG", params, "optimistic") == 0
    assert topic.score("nDCG", params, "pessimistic") == 1


def test_unknown_ties_are_rejected():
    with pytest.raises(ValueError, match="'best' is none of"):
        case([[1]]).score("Q", {}, "best")


def test_scores_tie_in_the_precision_of_their_comparison():
    scores = {"a": 1.0, "b": 1.00000001, "c": 0.0, "d": -0.0, "e": math.inf, "f": math.inf, "g": 1e39}
    assert ties.tie_groups(scores) == [["g", "f", "e"], ["b", "a"], ["d", "c"]]
    assert ties.tie_groups(scores, float32=False) == [["f", "e"], ["g"], ["b"], ["a"], ["d", "c"]]


# ------------------------------------------------------------------------------------------- identities


@pytest.mark.parametrize("how", ties.TIES)
def test_identities_between_measures(how):
    rng = rng_of(how)
    for _ in range(CASES):
        topic = random_case(rng, most_orders=24)
        beta, cutoff = rng.choice((0, 0.5, 1, math.inf)), rng.choice((None, 1, 2, 3, 5))
        common = {"cutoff": cutoff, "rel": rng.choice((1, 2)), "judged_only": rng.choice((False, True))}

        def score(name, topic=topic, **params):
            return topic.score(name, params, how)

        equal = [
            (score("NCU", **common, stop="u", beta=beta), score("Q", **common, beta=beta)),
            (score("NCU", **common, stop="rb", gamma=1, beta=beta), score("Q", **common, beta=beta)),
            (score("Q", **common, beta=0), score("AP", **common)),
            (score("Q", **common, beta=math.inf), score("AWP", **common)),
            (score("O-measure", **common, beta=0), score("RR", **common)),
            (score("NCU", **common, stop="preferred", beta=beta), score("P-measure", **common, beta=beta)),
            (score("NCU", **common, stop="up_to_preferred", beta=beta), score("P+", **common, beta=beta)),
            (score("NCU", **common, stop="err", beta=beta), score("EBR", **common, beta=beta)),
            (score("R-measure", **common, beta=math.inf), score("R-WP", **common)),
        ]
        if cutoff is not None:
            equal.append((score("BR", **common, beta=0), score("P", **common)))
        if set(topic.levels.values()) <= {-1, 0, 1}:
            binary = {**common, "rel": 1}
            equal.append((score("GAP", **binary), score("AP", **binary)))
        for one, other in equal:
            assert one == pytest.approx(other, rel=0, abs=1e-14)


@pytest.mark.parametrize("variant", VARIANTS)
def test_names_of_documents_matter_only_for_doc_id(variant):
    for topic, name, params in drawn(variant, 30):
        other = dict(zip(IDS, reversed(IDS), strict=True))
        levels = {other[doc_id]: level for doc_id, level in topic.levels.items()}
        groups = [[other[doc_id] for doc_id in group] for group in topic.groups]
        for how in ("expected", "optimistic", "pessimistic"):
            got = ties.score(name, params, how, levels, groups, topic.highest)
            assert got == topic.score(name, params, how)


@pytest.mark.parametrize("n", range(1, 30))
def test_one_relevant_document_in_one_group(n):
    topic = case([[1, *[None] * (n - 1)]])
    harmonic = math.fsum(1 / r for r in range(1, n + 1)) / n
    assert topic.score("RR", {}, "expected") == pytest.approx(harmonic, rel=0, abs=1e-15)
    assert closed(topic, "RR", {}) == pytest.approx(harmonic, rel=0, abs=1e-15)
    assert closed(topic, "AP", {}) == pytest.approx(harmonic, rel=0, abs=1e-15)


# --------------------------------------------------------------------------------------- worked examples

EXAMPLE_A = case([[0], [3, 1, 0, None], [2], [1, None]], not_retrieved=[3, 0])
EXAMPLE_B = case([[2, 1, 0, None]])

#: Measure, parameters, and its expected, optimistic and pessimistic score.
OF_EXAMPLE_A = [
    ("Q", {}, 0.390642168289, 0.451002673797, 0.345491452991),
    ("Q", {"cutoff": 4}, 0.112325174825, 0.209090909091, 0.030769230769),
    ("Q", {"judged_only": True, "cutoff": 4}, 0.166083916084, 0.209090909091, 0.128671328671),
    ("Q", {"norm": "cutoff", "cutoff": 2}, 0.09375, 0.25, 0),
    ("AWP", {}, 0.403703703704, 0.46, 0.362222222222),
    ("O-measure", {}, 0.316870629371, 0.5, 0.153846153846),
    ("P-measure", {}, 0.433624708625, 0.5, 0.4),
    ("P-measure", {"cutoff": 3}, 0.303030303030, 0.5, 0),
    ("P+", {}, 0.375247668998, 0.5, 0.276923076923),
    ("P+", {"cutoff": 3}, 0.290719696970, 0.5, 0),
    ("NCU", {"stop": "rb"}, 0.394839865837, 0.459866225245, 0.346003951974),
    ("NCU", {}, 0.338296025870, 0.381751336898, 0.308995726496),
    ("EBR", {}, 0.391305768374, 0.476990725267, 0.330518830128),
    ("nCG", {"cutoff": 3}, 0.25, 0.5, 0),
    ("BR", {"cutoff": 3}, 0.272727272727, 0.545454545455, 0),
    ("iRBU", {}, 0.895981672612, 0.905827733098, 0.884971498351),
    ("nERR", {}, 0.343880185732, 0.483856969276, 0.225774605103),
    ("nERR", {"cutoff": 3}, 0.231707317073, 0.463414634146, 0),
    ("GAP", {}, 0.246300186741, 0.317927170868, 0.195098039216),
    ("AP", {}, 0.383253968254, 0.447619047619, 0.33),
    ("RR", {}, 0.402777777778, 0.5, 0.25),
    ("nDCG", {}, 0.444877920786, 0.512425290049, 0.390311455647),
    ("nDCG", {"cutoff": 3}, 0.191917562895, 0.406053764160, 0),
    ("nDCG", {"cutoff": 3, "dcg": "exp-log2"}, 0.175113851127, 0.380637566309, 0),
    ("P", {"cutoff": 3}, 0.333333333333, 0.666666666667, 0),
    ("R", {"cutoff": 3}, 0.2, 0.4, 0),
    ("Success", {"cutoff": 2}, 0.5, 1, 0),
    ("Bpref", {}, 0.333333333333, 0.4, 0.266666666667),
    ("Judged", {"cutoff": 3}, 0.833333333333, 1, 0.666666666667),
    ("RBP", {"p": 0.8}, 0.34888192, 0.4059648, 0.29179904),
    ("ERR", {"cutoff": 20}, 0.173950537424, 0.250773838588, 0.117483139038),
    ("R-measure", {}, 0.4, 0.4, 0.4),
    ("R-WP", {}, 0.4, 0.4, 0.4),
    ("Rprec", {}, 0.4, 0.4, 0.4),
]
OF_EXAMPLE_B = [
    ("Q", {}, 0.727182539683, 1, 0.523809523810),
    ("P-measure", {}, 0.792460317460, 1, 0.714285714286),
    ("P-measure", {"cutoff": 2}, 0.611111111111, 1, 0),
    ("P+", {}, 0.722619047619, 1, 0.523809523810),
    ("AP", {}, 0.680555555556, 1, 0.416666666667),
    ("RR", {}, 0.722222222222, 1, 0.333333333333),
    ("nDCG", {}, 0.730237943877, 1, 0.517441833747),
    ("NCU", {}, 0.748941798942, 1, 0.587301587302),
    ("EBR", {}, 0.570811287478, 0.777777777778, 0.428571428571),
    ("Bpref", {}, 0.5, 1, 0),
]


@pytest.mark.parametrize(
    ("topic", "name", "params", "expected", "optimistic", "pessimistic"),
    [(EXAMPLE_A, *row) for row in OF_EXAMPLE_A] + [(EXAMPLE_B, *row) for row in OF_EXAMPLE_B],
)
def test_worked_examples(topic, name, params, expected, optimistic, pessimistic):
    # The examples have twelve digits.
    assert topic.score(name, params, "expected") == pytest.approx(expected, rel=0, abs=1e-12)
    assert closed(topic, name, params) == pytest.approx(expected, rel=0, abs=1e-12)
    assert topic.score(name, params, "optimistic") == pytest.approx(optimistic, rel=0, abs=1e-12)
    assert topic.score(name, params, "pessimistic") == pytest.approx(pessimistic, rel=0, abs=1e-12)


@pytest.mark.parametrize(
    ("topic", "name", "params", "low", "high"),
    [
        (EXAMPLE_A, "P-measure", {}, 0.307692307692, 0.545454545455),
        (EXAMPLE_A, "P-measure", {"cutoff": 3}, 0, 0.545454545455),
        (EXAMPLE_A, "NCU", {}, 0.305918803419, 0.381751336898),
        (EXAMPLE_A, "EBR", {}, 0.322826522436, 0.476990725267),
        (EXAMPLE_B, "P-measure", {}, 0.5, 1),
        (EXAMPLE_B, "P+", {}, 0.5, 1),
        (EXAMPLE_B, "NCU", {}, 0.571428571429, 1),
        (EXAMPLE_B, "EBR", {}, 0.412698412698, 0.777777777778),
    ],
)
def test_extremes_of_the_worked_examples(topic, name, params, low, high):
    assert topic.extremes(name, params) == pytest.approx((low, high), rel=0, abs=1e-12)


# --------------------------------------------------------------------------------------------- passages


def articles(groups, numrel):
    """Return spans of articles with given F: retrieved whole, highlighted in part (beta = 0).

    An article with F = 0 has relevance if ``groups`` says 0, and none if it says None.
    """
    names, highlighted, retrieved, named = iter(IDS), {}, {}, []
    for group in groups:
        named.append([next(names) for _ in group])
        for article, F in zip(named[-1], group, strict=True):
            retrieved[article] = [(0, 100)]
            if F is not None:
                highlighted[article] = [(0, round(100 * F))] if F else [(100, 5)]
    highlighted |= {next(names): [(0, 10)] for _ in range(numrel - len(highlighted))}
    return highlighted, retrieved, named


def passage_scores(name, cutoff, topic, how, numrel):
    params = {"cutoff": cutoff, "beta": 0}
    highlighted, retrieved, groups = topic
    scores = [ties.passage_score(name, params, how, highlighted, retrieved, groups)]
    if how == "expected":
        kinds = ties.article_kinds(params, highlighted, retrieved)
        scores += [
            ties_closed.expected_of_passages(name, cutoff, kinds, groups, numrel, number)
            for number in (Fraction, float)
        ]
    return scores


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
def test_worked_example_of_passages(name, cutoff, how, score):
    topic = articles([[0.5], [1.0, 0.25, None]], numrel=3)
    for got in passage_scores(name, cutoff, topic, how, 3):
        assert got == pytest.approx(score, rel=0, abs=1e-12)


def random_articles(rng):
    sizes = rng.choice(((1, 2), (3,), (2, 2), (4,), (1, 3, 1), (5,)))
    groups = [[rng.choice((None, 0, 0.25, 0.5, 1.0)) for _ in range(size)] for size in sizes]
    numrel = sum(F is not None for group in groups for F in group) + rng.randint(0, 2)
    return articles(groups, numrel), numrel


@pytest.mark.parametrize("name", passages.MEASURES)
def test_closed_form_of_passages_equals_the_mean_over_all_orders(name):
    rng = rng_of(name)
    for _ in range(CASES):
        topic, numrel = random_articles(rng)
        cutoff = rng.choice((1, 2, 3, 5) if name != "MAgP" else (None, 1, 2, 3))
        by_orders, *in_closed_form = passage_scores(name, cutoff, topic, "expected", numrel)
        assert in_closed_form == pytest.approx([by_orders] * 2, rel=0, abs=1e-14)
        highlighted, retrieved, groups = topic
        kinds = ties.article_kinds({"beta": 0}, highlighted, retrieved)
        scores = [
            ties.passage_score(
                name,
                {"cutoff": cutoff, "beta": 0},
                "doc_id",
                highlighted,
                retrieved,
                [[one] for one in order],
            )
            for order in ties.orders(groups, kinds.__getitem__)
        ]
        for how, extreme in (("optimistic", max(scores)), ("pessimistic", min(scores))):
            assert passage_scores(name, cutoff, topic, how, numrel) == pytest.approx(
                [extreme], rel=0, abs=1e-14
            )


def test_magp_of_whole_articles_equals_ap():
    rng = rng_of("whole")
    for _ in range(50):
        levels = [[rng.choice((1, None)) for _ in range(size)] for size in (1, 3, 2)]
        missing = rng.randint(0, 1)
        numrel = sum(level == 1 for group in levels for level in group) + missing
        if not numrel:
            continue
        whole = articles([[level and 1.0 for level in group] for group in levels], numrel)
        for how in ties.TIES:
            ap = case(levels, [1] * missing).score("AP", {}, how)
            for got in passage_scores("MAgP", None, whole, how, numrel):
                assert got == pytest.approx(ap, rel=0, abs=1e-14)


def test_rows_of_passages_tie_by_the_largest_score_of_the_article():
    qrels = [("1", "a", 1, 0, 10), ("1", "b", 1, 0, 10), ("1", "c", 0, 0, 10)]
    run = [("1", "a", 1.0, 0, 10), ("1", "a", 2.0, 5, 5), ("1", "c", 2.0, 0, 10)]
    expected = {"doc_id": 1 / 4, "expected": 3 / 8, "optimistic": 1 / 2, "pessimistic": 1 / 4}
    for how, score in expected.items():
        assert ties.evaluate_passages("MAgP", {}, how, qrels, run) == {"1": score}


# ------------------------------------------------------------------------------------------ whole runs


def test_whole_runs_by_doc_id_are_scored_as_before():
    qrels = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 1}, "3": {"a": 0}}
    run = {"1": {"a": 1.0, "b": 1.0, "c": 1.0, "x": 2.0}, "3": {"a": 1.0}}
    for name in ranked.MEASURES:
        params = {"cutoff": 2}
        expected = ranked.evaluate(name, params, qrels, run)
        assert ties.evaluate(name, params, "doc_id", qrels, run) == expected
    assert ties.evaluate("AP", {}, "doc_id", qrels, run)["1"] == (1 / 2 + 2 / 4) / 2
    assert set(classics.MEASURES).isdisjoint(ranked.WHOLE_TOPIC)
