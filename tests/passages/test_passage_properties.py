"""Properties of MAgP, gP and gR on any tables."""

import ir_measures
import pytest
from hypothesis import given, strategies as st
from ir_measures import AP, P, R
from measures import measure_cases
from passages import passage_cases as cases

import ir_graded
from ir_graded import MAgP, gP, gR

examples, shuffled = measure_cases.examples, measure_cases.shuffled

ORDERS = measure_cases.ORDERS
CHOSEN = st.lists(cases.parameters(), min_size=1, max_size=6)


def scores(chosen, *tables):
    """Return the scores of several pairs of qrels and run, whose rows form one table of separate topics."""
    measures = [cases.MEASURES[name](**params) for name, params in chosen]
    rows = [
        [(f"{topic}/{number}", *row) for number, pair in enumerate(tables) for topic, *row in pair[side]]
        for side in (0, 1)
    ]
    found = cases.scores(measures, cases.frame("qrels", rows[0]), cases.frame("run", rows[1]))
    split = [{str(measure): {} for measure in measures} for _ in tables]
    for measure, by_topic in found.items():
        for name, value in by_topic.items():
            topic, number = name.split("/")
            split[int(number)][measure][topic] = value
    return split


def assert_the_same(chosen, qrels, run, *others):
    expected, *found = scores(chosen, (qrels, run), *others)
    assert all(by_topic.keys() == {row[0] for row in qrels} for by_topic in expected.values())
    for scored in found:
        assert scored == expected


@examples(60)
@given(cases.qrels(), cases.runs(), CHOSEN)
def test_every_score_is_between_0_and_1(qrels, run, chosen):
    (found,) = scores(chosen, (qrels, run))
    for by_topic in found.values():
        assert all(0 <= value <= 1 for value in by_topic.values())


@examples(60)
@given(cases.qrels(), cases.runs(), CHOSEN, ORDERS, ORDERS)
def test_the_order_of_rows_does_not_matter(qrels, run, chosen, of_qrels, of_run):
    other_qrels, other_run = shuffled(qrels, of_qrels), shuffled(run, of_run)
    assert_the_same(chosen, qrels, run, (other_qrels, run), (qrels, other_run), (other_qrels, other_run))


def split(rows, cuts, order):
    """Return each passage as two adjacent ones, split at the cuts, in another order."""
    pieces = []
    for (topic, doc_id, value, start, length), cut in zip(rows, cuts, strict=False):
        first = cut % (length + 1)
        pieces += [
            (topic, doc_id, value, start, first),
            (topic, doc_id, value, start + first, length - first),
        ]
    return shuffled(pieces + rows[len(cuts) :], order)


CUTS = st.lists(st.integers(0, 9), max_size=24)


@examples(60)
@given(cases.qrels(), cases.runs(), CHOSEN, CUTS, CUTS, ORDERS)
def test_splitting_passages_changes_nothing(qrels, run, chosen, of_qrels, of_run, order):
    assert_the_same(chosen, qrels, run, (split(qrels, of_qrels, order), split(run, of_run, order)))


@examples(60)
@given(cases.qrels(), cases.runs(), CHOSEN, ORDERS)
def test_rows_without_text_change_nothing(qrels, run, chosen, order):
    """Zero-length passages of retrieved articles, and rows below any rel, change no score."""
    empty_run = [(topic, doc_id, score, start + 5, 0) for topic, doc_id, score, start, _ in run]
    empty_qrels = [(topic, doc_id, level, start + 5, 0) for topic, doc_id, level, start, _ in qrels]
    unread = [(topic, doc_id, -1, start, 9) for topic, doc_id, _, start, _ in qrels]
    more = shuffled(qrels + empty_qrels + unread, order)
    assert_the_same(chosen, qrels, run, (more, shuffled(run + empty_run, order)))


@examples(50)
@given(
    qrels=cases.qrels(),
    run=cases.runs(),
    beta=st.sampled_from(cases.BETAS),
    rel=st.sampled_from((0.5, 1, 2)),
    order=ORDERS,
)
def test_retrieving_the_highlighted_text_first_scores_1(qrels, run, beta, rel, order):
    highlighted = {(row[0], row[1]): [] for row in qrels if row[2] >= rel and row[4] > 0}
    for topic, doc_id, level, *span in qrels:
        if level >= rel and (topic, doc_id) in highlighted:
            highlighted[topic, doc_id].append(span)
    ranked = shuffled(list(highlighted), order)
    ideal = [
        (topic, doc_id, float(at), *span)
        for at, (topic, doc_id) in enumerate(ranked, start=1)
        for span in highlighted[topic, doc_id]
    ]
    others = [(topic, f"{doc_id} of no relevance", -1.0, 0, 9) for topic, doc_id, *_ in run]
    numrel = {row[0]: sum(topic == row[0] for topic, _ in highlighted) for row in qrels}
    measures = [measure(beta=beta, rel=rel) for measure in (MAgP, gP @ 2, gR @ 8)]
    tables = cases.frame("qrels", qrels), cases.frame("run", ideal + others)
    magp, gp_at_2, gr_at_8 = cases.scores(measures, *tables).values()
    assert magp == {topic: pytest.approx(min(n, 1), abs=1e-12) for topic, n in numrel.items()}
    assert gp_at_2 == {topic: pytest.approx(min(n, 2) / 2, abs=1e-12) for topic, n in numrel.items()}
    assert gr_at_8 == {topic: min(n, 1) for topic, n in numrel.items()}


# -------------------------------------------------------- every article retrieved and highlighted whole


def whole(kind, dicts, pieces):
    """Return the documents of a dict of dicts as whole articles, in one row or in several pieces."""
    rows = []
    for topic, docs in dicts.items():
        for doc_id, value in docs.items():
            size = 5 + sum(map(ord, doc_id)) % 40
            cut = pieces % size
            spans = [(0, size)] if not cut else [(cut, size - cut), (0, cut)]
            rows += [(topic, doc_id, value, *span) for span in spans]
    return cases.frame(kind, rows)


@examples(50)
@given(
    qrels=measure_cases.qrels_for_pytrec_eval(),
    run=measure_cases.runs_for_pytrec_eval(),
    rel=st.integers(1, 3),
    cutoff=st.integers(1, 16),
    beta=st.sampled_from(cases.BETAS),
    pieces=st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
def test_whole_articles_give_ap_precision_and_recall(qrels, run, rel, cutoff, beta, pieces):
    pairs = {
        MAgP(rel=rel, beta=beta): AP(rel=rel),
        MAgP(rel=rel, beta=beta) @ cutoff: AP(rel=rel) @ cutoff,
        gP(rel=rel, beta=beta) @ cutoff: P(rel=rel) @ cutoff,
        gR(rel=rel, beta=beta) @ cutoff: R(rel=rel) @ cutoff,
    }
    found = cases.scores(pairs, whole("qrels", qrels, pieces[0]), whole("run", run, pieces[1]))
    expected = cases.scores(pairs.values(), qrels, run)
    for measure, theirs in pairs.items():
        measure_cases.assert_same_scores(found[str(measure)], expected[str(theirs)])


@examples(30)
@given(qrels=measure_cases.qrels_for_pytrec_eval(), run=measure_cases.runs_for_pytrec_eval())
def test_the_mean_over_whole_articles_equals_map(qrels, run):
    means = ir_measures.calc_aggregate([MAgP], whole("qrels", qrels, 0), whole("run", run, 3))
    assert means[MAgP] == pytest.approx(ir_measures.calc_aggregate([AP], qrels, run)[AP], abs=1e-12)
    assert ir_graded.Q(beta=0).calc_aggregate(qrels, run) == pytest.approx(means[MAgP], abs=1e-12)
