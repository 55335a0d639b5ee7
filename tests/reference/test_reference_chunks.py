"""The reference for passages and chunks: worked values, real collections and derived properties."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from collections_data import ROOT, needs_shared_data
from hypothesis import given, settings, strategies as st

from reference import chunks
from reference.passages import evaluate as evaluate_f

examples = settings(max_examples=60, deadline=None)


# ---------------------------------------------------------------------------------------------- worked values

A_QRELS = [("1", "a", 1, 0, 30), ("1", "a", 1, 100, 50), ("1", "b", 1, 10, 20), ("1", "c", 0, 0, 0)]
A_RUN = [("1", "a", 4, 20, 100), ("1", "c", 3, 0, 40), ("1", "b", 2, 0, 30), ("1", "a", 1, 120, 60)]
A_LENGTHS = {"a": 300, "b": 60, "c": 90}
A_ENTRIES = {("1", "a"): 10, ("1", "b"): 5}


@pytest.mark.parametrize(
    ("name", "params", "value"),
    [
        *(
            ("CharP", {"cutoff": k}, value)
            for k, value in [(1, 0.3), (2, 0.214285714286), (3, 0.294117647059), (None, 0.347826086957)]
        ),
        *(("CharR", {"cutoff": k}, value) for k, value in [(1, 0.3), (2, 0.3), (3, 0.5), (None, 0.8)]),
        ("CharF", {}, 0.484848484848),
        ("IoU", {}, 0.32),
        *(("iP", {"recall": i / 100}, 0.347826086957 if i <= 80 else 0) for i in range(101)),
        ("AiP", {}, 0.278949634094),
        ("MAgP", {"article": "t2i"}, 0.233333333333),
        ("MAgP", {"article": "t2i", "irr": 50}, 0.166666666667),
        ("MAgP", {"article": "t2i", "irr": 20}, 0.305555555556),
    ],
)
def test_worked_example_of_three_articles(name, params, value):
    found = chunks.evaluate(name, params, A_QRELS, A_RUN, A_LENGTHS, A_ENTRIES)
    assert found == {"1": pytest.approx(value, abs=6e-13)}


@pytest.mark.parametrize(("params", "value"), [({}, 0.818333333333), ({"distance": 20}, 0.458333333333)])
def test_worked_example_of_best_entry_points(params, value):
    found = chunks.evaluate("MAgP", {"article": "bep", **params}, A_QRELS, A_RUN[:3], A_LENGTHS, A_ENTRIES)
    assert found == {"1": pytest.approx(value, abs=6e-13)}


def test_worked_example_scored_by_f():
    assert evaluate_f("MAgP", {}, A_QRELS, A_RUN) == {"1": pytest.approx(0.466666666667, abs=6e-13)}


@pytest.mark.parametrize(
    ("overlap", "precision", "recall", "iou"),
    [
        ("retrieved", 0.571428571429, 1, 0.571428571429),
        ("once", 0.666666666667, 1, 0.666666666667),
        ("each", 0.714285714286, 1.25, None),
    ],
)
def test_worked_example_of_repeated_text(overlap, precision, recall, iou):
    gold, run = {"x": set(range(40))}, [("x", 0, 30), ("x", 20, 40)]
    assert chunks.char_p(run, gold, overlap) == pytest.approx(precision, abs=6e-13)
    assert chunks.char_r(run, gold, overlap) == recall
    if iou is None:
        with pytest.raises(ValueError, match="IoU"):
            chunks.iou(run, gold, overlap)
        with pytest.raises(ValueError, match="CharF"):
            chunks.char_f(run, gold, overlap)
    else:
        assert chunks.iou(run, gold, overlap) == pytest.approx(iou, abs=6e-13)


def test_worked_example_of_another_document():
    gold, run = {"x": set(range(40))}, [("x", 0, 30), ("y", 0, 30)]
    assert (chunks.char_p(run, gold), chunks.char_r(run, gold)) == (0.5, 0.75)
    assert chunks.iou(run, gold) == pytest.approx(0.428571428571, abs=6e-13)


def test_worked_example_of_precision_omega():
    gold = [("x", 1, 0, 40)]
    cut = [("x", 0, 30), ("x", 20, 40), ("x", 40, 50), ("x", 95, 4)]
    assert chunks.precision_omega(cut, gold) == pytest.approx(0.666666666667, abs=6e-13)
    assert chunks.precision_omega(cut, gold, touching=True) == pytest.approx(0.444444444444, abs=6e-13)
    assert len(chunks.chunks_of_gold(cut, gold, touching=True)) == 3
    assert chunks.precision_omega([("y", 0, 9)], gold) == 0


@pytest.mark.parametrize(("irr", "value"), [(300, 0.210526315789), (30, 0), (60, 1 / 3)])
def test_worked_example_of_tolerance_to_irrelevance(irr, value):
    gold = {*range(30), *range(100, 150)}
    found = chunks.tolerance_to_irrelevance(gold, [(400, 50)], 300, irr)
    assert found == pytest.approx(value, abs=6e-13)


@pytest.mark.parametrize(("start", "value"), [(500, 0), (999, 0.998), (1000, 1), (1250, 0.5), (1499, 0.002)])
def test_worked_example_of_one_entry_point(start, value):
    assert chunks.closeness_to_entry(start, 1000) == pytest.approx(value, abs=1e-15)


GENOMICS_GOLD = [
    ("200", "1", 1, 0, 30, "A|B"),
    ("200", "1", 1, 20, 40, "B|C"),
    ("200", "2", 1, 100, 50, "D"),
]
GENOMICS_RANKED = [("1", 1, 10, 40), ("3", 2, 0, 50), ("1", 3, 40, 40), ("2", 4, 90, 20), ("2", 5, 100, 10)]


@pytest.mark.parametrize(
    ("name", "value"),
    [("PassageAP", 0.379006410256), ("AspectAP", 0.854166666667), ("Passage2AP", 0.444117637904)],
)
def test_worked_example_of_genomics(name, value):
    run = [("200", *row) for row in chunks.scores_by_rank_column(GENOMICS_RANKED)]
    assert chunks.evaluate(name, {}, GENOMICS_GOLD, run) == {"200": pytest.approx(value, abs=6e-13)}


def test_a_row_with_only_old_aspects_does_not_change_aspect_precision():
    gold = [("1", 1, 0, 9, "A"), ("1", 1, 20, 9, "A"), ("2", 1, 0, 9, "B")]
    assert chunks.aspect_ap([("1", 0, 9), ("1", 20, 9), ("3", 0, 9), ("2", 0, 9)], gold) == (1 + 2 / 3) / 2


def test_rows_rank_by_score_then_id_descending_then_position_ascending():
    rows = [("a", 1, 0, 9), ("b", 1, 5, 2), ("b", 1, 5, 1), ("b", 1, 0, 3), ("c", 0.5, 0, 1), ("a", 2, 7, 7)]
    expected = [("a", 7, 7), ("b", 0, 3), ("b", 5, 1), ("b", 5, 2), ("a", 0, 9), ("c", 0, 1)]
    assert chunks.ranked_passages(rows) == chunks.ranked_passages(rows[::-1]) == expected
    nearly_equal = [("a", 1 + 1e-12, 0, 1), ("b", 1, 0, 1)]
    assert [row[0] for row in chunks.ranked_passages(nearly_equal)] == ["b", "a"]
    assert [row[0] for row in chunks.ranked_passages(nearly_equal, float32=False)] == ["a", "b"]


def test_rows_rank_by_the_rank_column_then_id_as_text_ascending():
    rows = [("9", 2, 0, 1), ("10", 2, 5, 1), ("10", 2, 0, 1), ("7", 1, 3, 3)]
    expected = [("7", -1, 3, 3), ("10", -2, 0, 1), ("10", -3, 5, 1), ("9", -4, 0, 1)]
    assert chunks.scores_by_rank_column(rows) == expected


def test_a_gold_row_without_aspects_does_not_count_in_genomics_measures():
    run = [("200", *row) for row in chunks.scores_by_rank_column(GENOMICS_RANKED)]
    more = [*GENOMICS_GOLD, ("200", "3", 1, 0, 50, None)]
    for name in ("PassageAP", "AspectAP", "Passage2AP"):
        assert chunks.evaluate(name, {}, more, run) == chunks.evaluate(name, {}, GENOMICS_GOLD, run)


def test_citations_are_averaged_over_the_sentences_that_have_them():
    qrels = [("q#1", "x", 1, 0, 40), ("q#2", "x", 1, 0, 10), ("q#3", "x", 0, 0, 0), ("a#b#1", "y", 1, 0, 4)]
    run = [("q#1", "x", 1, 0, 20), ("q#1", "x", 1, 10, 20), ("q#3", "x", 1, 5, 5), ("a#b#1", "y", 1, 0, 8)]
    found = chunks.citations(qrels, run)
    assert found == {"q": ((1 + 0) / 2, (0.75 + 0) / 2, 2, 2), "a#b": (0.5, 1, 1, 1)}


def test_byte_spans_are_converted_to_characters():
    text = "für Elise".encode()
    assert chunks.to_characters(0, 4, text) == (0, 3)
    assert chunks.to_characters(5, 5, text) == (4, 5)
    with pytest.raises(UnicodeDecodeError):
        chunks.to_characters(2, 3, text)


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
def test_problems_of_submissions(rows, focused, in_context, best):
    for task, expected in {
        "focused": focused,
        "relevant-in-context": in_context,
        "best-in-context": best,
    }.items():
        assert [problem for problem, *_ in chunks.check_submission(rows, task)] == expected
    lengths = dict.fromkeys("ab", 8)
    assert ("beyond", 0, None) in chunks.check_submission(rows, "focused", lengths)


# ------------------------------------------------------------------------------------------- real collections


@pytest.fixture(scope="module")
def focused_figures():
    """Return the values of the official tool for 120 topics; None for the two topics missing from the run."""
    gold, rows, lengths, entries = {}, {}, {}, {}
    for line in (ROOT / "inex" / "INEX_Qrels.txt").read_text().splitlines():
        topic, _, doc_id, characters, length, *rest = line.split()
        lengths[doc_id] = int(length)
        spans = [(0, 0)]
        if int(characters):
            entries.setdefault(topic, {})[doc_id] = int(rest[0])
            spans = [tuple(map(int, span.split(":"))) for span in rest[1:]]
        gold.setdefault(topic, []).extend((doc_id, int(characters) > 0, *span) for span in spans)
    for place, line in enumerate((ROOT / "inex" / "ric.run").read_text().splitlines()):
        topic, _, doc_id, *_, start, length = line.split()
        rows.setdefault(topic, []).append((doc_id, -place, int(start), int(length)))
    return {
        topic: figures_of_topic(judgments, rows.get(topic, []), lengths, entries[topic])
        for topic, judgments in gold.items()
    }


def figures_of_topic(gold, rows, lengths, entries):
    topic = chunks.Topic({}, gold, rows, lengths, entries, float32=False)
    points = chunks.precision_and_recall(topic.passages, topic.gold)
    both, retrieved, relevant = chunks.counts(topic.passages, topic.gold, "retrieved")
    found = {"CharP": chunks.ratio(both, retrieved), "CharR": chunks.ratio(both, relevant)}
    found["CharF"] = chunks.ratio(2 * both, retrieved + relevant)
    for x in ("0.00", "0.01", "0.05", "0.10"):
        found[f"iP@{x}"] = chunks.interpolated_precision(points, Fraction(x))
    found["AiP"] = chunks.aip_of_points(points)
    for irr in (300, 1000):
        topic.params |= {"article": "t2i", "irr": irr}
        found[f"t2i {irr}"] = chunks.magp(topic)
    first = {}
    for row in rows:
        first.setdefault(row[0], row)
    topic.rows = list(first.values())
    for distance in (500, 1000):
        topic.params |= {"article": "bep", "distance": distance}
        found[f"bep {distance}"] = chunks.magp(topic)
    return found if rows else dict.fromkeys(found)


@needs_shared_data
def test_official_figures_of_the_focused_task(focused_figures):
    expected = {
        "CharP": 0.154945477194,
        "CharR": 0.334850911882,
        "CharF": 0.145551648545,
        "iP@0.00": 0.520936072738,
        "iP@0.01": 0.495900018812,
        "iP@0.05": 0.390566461139,
        "iP@0.10": 0.304838703089,
        "AiP": 0.102062506215,
    }
    for name, value in expected.items():
        values = [float(found[name]) for found in focused_figures.values() if found[name] is not None]
        assert math.fsum(values) / 118 == pytest.approx(value, abs=6e-13)
        assert len(values) == 118


@needs_shared_data
def test_official_figures_of_all_topics(focused_figures):
    expected = {
        "iP@0.01": 0.487635018498,
        "AiP": 0.100361464445,
        "t2i 300": 0.107327872631,
        "t2i 1000": 0.113418102449,
        "bep 500": 0.072537860231,
        "bep 1000": 0.081605092760,
    }
    for name, value in expected.items():
        values = [float(found[name] or 0) for found in focused_figures.values()]
        assert math.fsum(values) / 120 == pytest.approx(value, abs=6e-13)


@needs_shared_data
def test_official_figures_of_genomics():
    qrels = []
    gold = (ROOT / "genomics" / "gold07.txt").read_text(encoding="utf-8", errors="surrogateescape")
    for line in gold.split("\n")[:-1]:
        topic, pmid, start, length, aspects = (field.strip() for field in line.split("\t"))
        qrels.append((topic, pmid, 1, int(start), int(length), aspects))
    ranked = {}
    for line in (ROOT / "genomics" / "york01.txt").read_text().splitlines():
        topic, pmid, rank, _, start, length, *_ = line.split()
        ranked.setdefault(topic, []).append((pmid, int(rank), int(start), int(length)))
    run = [(topic, *row) for topic, rows in ranked.items() for row in chunks.scores_by_rank_column(rows)]
    expected = {"PassageAP": 0.016963069846, "AspectAP": 0.024391272703, "Passage2AP": 0.009413572619}
    for name, value in expected.items():
        found = chunks.evaluate(name, {}, qrels, run)
        assert len(found) == 36
        assert math.fsum(found.values()) / 36 == pytest.approx(value, abs=6e-13)


# ------------------------------------------------------------------------------------------------- properties

ids = st.sampled_from("abc")
spans = st.tuples(ids, st.integers(0, 40), st.integers(0, 15))
runs = st.lists(spans, max_size=8)
highlights = st.tuples(ids, st.sampled_from([1, 1, 2]), st.integers(0, 40), st.integers(1, 15))
golds = st.lists(highlights, max_size=6)


def disjoint(passages):
    """Return the passages that overlap no earlier one, without empty ones."""
    kept = []
    for passage in passages:
        if passage[2] and not chunks.overlapping_rows([passage, *kept]):
            kept.append(passage)
    return kept


def set_measures(passages, gold, overlap="retrieved"):
    return (
        chunks.char_p(passages, gold, overlap),
        chunks.char_r(passages, gold, overlap),
        chunks.iou(passages, gold, overlap),
    )


@examples
@given(gold=golds, run=runs)
def test_once_is_at_least_retrieved_and_equal_for_disjoint_rows(gold, run):
    gold = chunks.gold_characters(gold)
    once, retrieved = set_measures(run, gold, "once"), set_measures(run, gold)
    assert all(one >= other for one, other in zip(once, retrieved, strict=True))
    run = disjoint(run)
    assert set_measures(run, gold, "once") == set_measures(run, gold)
    assert chunks.counts(run, gold, "each") == chunks.counts(run, gold, "once")


@examples
@given(gold=golds, run=runs)
def test_f_of_no_and_of_all_weight_is_precision_and_recall(gold, run):
    gold = chunks.gold_characters(gold)
    precision, recall, _ = set_measures(run, gold)
    assert chunks.char_f(run, gold, beta=0) == precision
    assert chunks.char_f(run, gold, beta=math.inf) == recall
    found, retrieved, n = chunks.counts(run, gold, "retrieved")
    assert chunks.char_f(run, gold, beta=2) == float(chunks.ratio(5 * found, 4 * n + retrieved))


@examples
@given(gold=golds.filter(bool))
def test_retrieving_the_gold_characters_once_scores_1(gold):
    characters = chunks.gold_characters(gold)
    run = [(doc_id, place, 1) for doc_id, places in characters.items() for place in sorted(places)]
    assert set_measures(run, characters) == (1, 1, 1)
    assert chunks.aip(run, characters) == 1
    assert chunks.passage2_ap(run, characters) == 1
    assert chunks.char_r_graded(run, gold) == 1


@examples
@given(gold=golds, run=runs, data=st.data())
def test_splitting_a_retrieved_row_changes_no_character_measure(gold, run, data):
    characters = chunks.gold_characters(gold)
    whole = [passage for passage in run if passage[2]]
    split = []
    for doc_id, start, length in whole:
        at = data.draw(st.integers(0, length))
        split += [(doc_id, start, at), (doc_id, start + at, length - at)]
    assert set_measures(split, characters) == set_measures(whole, characters)
    assert chunks.counts(split, characters, "each") == chunks.counts(whole, characters, "each")
    assert chunks.passage2_ap(split, characters) == chunks.passage2_ap(whole, characters)


@examples
@given(gold=golds, run=runs, at=st.integers(1, 14))
def test_splitting_a_gold_span_changes_all_but_passage_ap_not_at_all(gold, run, at):
    with_aspects = [(*row, "AB"[row[2] % 2] + "|C") for row in gold]
    split = []
    for doc_id, level, start, length, aspects in with_aspects:
        first = min(at, length - 1)
        parts = [(start, first), (start + first, length - first)]
        split += [(doc_id, level, *part, aspects) for part in parts if part[1]]
    one, other = chunks.gold_characters(with_aspects), chunks.gold_characters(split)
    assert one == other
    assert chunks.aspect_ap(run, with_aspects) == chunks.aspect_ap(run, split)
    assert chunks.char_r_graded(run, with_aspects) == chunks.char_r_graded(run, split)


@examples
@given(gold=golds, run=runs, shift=st.integers(1, 50))
def test_moving_or_stretching_text_and_gold_together_changes_nothing(gold, run, shift):
    base, run = chunks.gold_characters(gold), disjoint(run)
    moved = chunks.gold_characters([(d, level, start + shift, n) for d, level, start, n in gold])
    doubled = chunks.gold_characters([(d, level, 2 * start, 2 * n) for d, level, start, n in gold])
    run_moved = [(d, start + shift, n) for d, start, n in run]
    run_doubled = [(d, 2 * start, 2 * n) for d, start, n in run]
    for measure in (set_measures, chunks.aip, lambda rows, gold: chunks.ip(rows, gold, 0.3)):
        assert measure(run, base) == measure(run_moved, moved) == measure(run_doubled, doubled)


@examples
@given(gold=golds, run=runs)
def test_interpolated_precision_falls_and_recall_rises(gold, run):
    characters = chunks.gold_characters(gold)
    points = chunks.precision_and_recall(run, characters, "retrieved")
    values = [chunks.interpolated_precision(points, Fraction(i, 100)) for i in range(101)]
    assert values == sorted(values, reverse=True)
    assert chunks.aip(run, characters, "retrieved") <= float(values[0])
    recalls = [chunks.char_r(run[:k], characters) for k in range(len(run) + 1)]
    assert recalls == sorted(recalls)


@pytest.mark.parametrize("found", [29, 57, 58])
def test_a_point_of_recall_is_reached_exactly(found):
    """100.0 * 0.29 is less than 29 in doubles; in integer arithmetic, the point counts."""
    gold, run = {"a": set(range(100))}, [("a", 0, found)]
    assert chunks.ip(run, gold, found / 100) == 1
    assert chunks.ip(run, gold, found / 100 + 0.001) == 0
    assert chunks.aip(run, gold) == pytest.approx((found + 1) / 101)


@examples
@given(gold=golds, run=runs)
def test_overlapping_rows_have_interpolated_precision_only_on_request(gold, run):
    characters = chunks.gold_characters(gold)
    if chunks.overlapping_rows(run):
        with pytest.raises(ValueError, match="overlap"):
            chunks.aip(run, characters)
    else:
        assert chunks.aip(run, characters) == chunks.aip(run, characters, "retrieved")


@examples
@given(gold=golds, run=runs, gains=st.lists(st.integers(0, 9), min_size=2, max_size=2))
def test_graded_recall_by_levels_and_by_characters(gold, run, gains):
    low, high = sorted(gains)
    retrieved = chunks.union(run)
    found = whole = 0
    for level, step in ((1, low), (2, high - low)):
        characters = chunks.gold_characters(gold, level)
        found += step * chunks.size(chunks.common(characters, retrieved))
        whole += step * chunks.size(characters)
    value = chunks.char_r_graded(run, gold, 1, {1: low, 2: high})
    assert value == float(chunks.ratio(found, whole))
    equal = chunks.char_r_graded(run, gold, 1, {1: 3, 2: 3})
    assert equal == chunks.char_r(run, chunks.gold_characters(gold))


@examples
@given(run=runs, gold=golds, order=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(run, gold, order):
    rows = [("1", doc_id, start % 3, start, length) for doc_id, start, length in run]
    qrels = [("1", *row) for row in gold]
    shuffled, shuffled_qrels = rows[:], qrels[:]
    order.shuffle(shuffled)
    order.shuffle(shuffled_qrels)
    for name in ("CharP", "CharR", "IoU", "AiP", "Passage2AP"):
        params = {"cutoff": None if name in {"AiP", "Passage2AP"} else 3, "overlap": "retrieved"}
        value = chunks.evaluate(name, params, qrels, rows)
        assert chunks.evaluate(name, params, shuffled_qrels, shuffled) == value


@examples
@given(relevant=st.sets(st.integers(0, 9)), k=st.integers(1, 10))
def test_precision_of_whole_articles_of_one_length_is_precision(relevant, k):
    qrels = [("1", str(number), 1, 0, 20) for number in relevant]
    run = [("1", str(number), -number, 0, 20) for number in range(10)]
    found = chunks.evaluate("CharP", {"cutoff": k}, [*qrels, ("1", "x", 0, 0, 0)], run)
    assert found == {"1": len([number for number in relevant if number < k]) / k}


@examples
@given(spans=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=4), irr=st.integers(1, 80))
def test_tolerance_to_irrelevance(spans, irr):
    gold = chunks.positions([(5, 20), (40, 9)])
    inside = [(start, min(length, max(0, 50 - start))) for start, length in spans if start < 50]
    assert chunks.tolerance_to_irrelevance(set(range(50)), inside, 50, irr) == 1
    doubled_gold = chunks.positions([(10, 40), (80, 18)])
    doubled = [(2 * start, 2 * length) for start, length in spans]
    value = chunks.tolerance_to_irrelevance(gold, spans, 50, irr)
    assert chunks.tolerance_to_irrelevance(doubled_gold, doubled, 100, 2 * irr) == value


@examples
@given(gold=golds, run=runs)
def test_passage2_ap_in_steps_of_whole_pieces(gold, run):
    """The sum of (n+i)/(d+i) over a piece of new gold characters, as in a faster program."""
    characters = chunks.gold_characters(gold)
    n = d = 0
    seen = {doc_id: set() for doc_id in "abc"}
    total = 0.0
    for doc_id, start, length in run:
        gold_of = characters.get(doc_id, set())
        place = start
        while place < start + length:
            kind = (place in gold_of, place in seen[doc_id])
            end = place
            while end < start + length and (end in gold_of, end in seen[doc_id]) == kind:
                end += 1
            if kind == (True, False):
                total += sum((n + i) / (d + i) for i in range(1, end - place + 1))
                n, d = n + end - place, d + end - place
                seen[doc_id].update(range(place, end))
            elif not kind[0]:
                d += end - place
            place = end
    many = chunks.size(characters)
    expected = total / many if many else 0
    assert chunks.passage2_ap(run, characters) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", sorted(chunks.MEASURES.keys() - {"iP", "MAgP", "gP"}))
def test_nothing_retrieved_and_nothing_relevant_score_0(name):
    row = ("1", "a", 1, 0, 5, "A")
    assert chunks.evaluate(name, {}, [row], []) == {"1": 0}
    assert chunks.evaluate(name, {}, [("1", "a", 0, 0, 5, "A")], [("1", "a", 1, 0, 5)]) == {"1": 0}
    assert chunks.evaluate(name, {}, [row], [("1", "a", 1, 3, 0)]) == {"1": 0}
