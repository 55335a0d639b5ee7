import math
import re
import xml.etree.ElementTree as ET

import ir_measures
import pytest
from hypothesis import given, strategies as st
from passages.passage_cases import qrels_of, run_of

import ir_graded
from ir_graded.errors import InputError, ParameterError
from ir_graded.passages import show

pytestmark = pytest.mark.filterwarnings("error")


#: The worked example A of the specification.
QRELS = qrels_of(("1", "a", 1, 0, 30), ("1", "a", 1, 100, 50), ("1", "b", 1, 10, 20), ("1", "c", 0, 0, 0))
RUN = run_of(
    ("1", "b", 2.0, 0, 30), ("1", "a", 1.0, 120, 60), ("1", "a", 4.0, 20, 100), ("1", "c", 3.0, 0, 40)
)
TEXTS = {"a": "0123456789" * 20, "b": "<b>&" * 10, "c": "all of c  \n" * 20}


def test_each_span_has_what_was_found_of_it_at_which_rank():
    found = show(QRELS, RUN, "1")
    assert [(span.doc_id, span.start, span.stop, span.found, span.pieces) for span in found.highlighted] == [
        ("a", 0, 30, ((20, 30),), ((1, 20, 30),)),
        ("a", 100, 150, ((100, 150),), ((1, 100, 120), (4, 120, 150))),
        ("b", 10, 30, ((10, 30),), ((3, 10, 30),)),
    ]
    assert found.in_vain == ((2, "c", 0, 40, None),)
    assert (found.query_id, found.rows, found.found) == ("1", 4, 80)
    scores = (found.P, found.R, found.F)
    assert scores == pytest.approx((0.347826086957, 0.8, 0.484848484848), abs=1e-12)


def test_the_cutoff_counts_rows():
    found = show(QRELS, RUN, "1", cutoff=2)
    assert found.rows == 2
    assert [span.pieces for span in found.highlighted] == [((1, 20, 30),), ((1, 100, 120),), ()]
    assert [row.rank for row in found.in_vain] == [2]
    assert (found.P, found.R) == (30 / 140, 0.3)


def test_spans_below_the_relevant_level_and_empty_ones_are_not_wanted():
    qrels = qrels_of(("1", "a", 1, 0, 30), ("1", "a", 2, 100, 50), ("1", "a", 2, 7, 0))
    found = show(qrels, RUN, "1", rel=2)
    assert [(span.start, span.stop) for span in found.highlighted] == [(100, 150)]
    assert [row.doc_id for row in found.in_vain] == ["c", "b"]


def test_spans_that_overlap_are_shown_each_and_one_given_twice_once():
    qrels = qrels_of(("1", "b", 1, 10, 10), ("1", "b", 2, 15, 10), ("1", "b", 3, 10, 10))
    found = show(qrels, RUN, "1", cutoff=3)
    assert [(span.start, span.stop) for span in found.highlighted] == [(10, 20), (15, 25)]
    assert (found.found, found.R) == (15, 1)


def test_text_retrieved_twice_is_found_once_and_named_at_both_ranks():
    found = show(qrels_of(("1", "x", 1, 0, 40)), run_of(("1", "x", 2, 0, 30), ("1", "x", 1, 20, 40)), "1")
    assert found.highlighted[0].found == ((0, 40),)
    assert found.highlighted[0].pieces == ((1, 0, 30), (2, 20, 40))
    assert found.P == 4 / 7


def test_pieces_of_a_span_are_in_the_order_of_their_ranks():
    found = show(qrels_of(("1", "x", 1, 0, 40)), run_of(("1", "x", 1, 0, 9), ("1", "x", 2, 30, 9)), "1")
    assert found.highlighted[0].pieces == ((1, 30, 39), (2, 0, 9))


@pytest.mark.parametrize(
    ("qrels", "run"),
    [(QRELS, run_of(("2", "a", 1.0, 0, 5))), (qrels_of(("1", "a", 0, 0, 0)), RUN)],
    ids=["topic not in the run", "nothing highlighted"],
)
def test_without_text_in_common_all_is_0(qrels, run):
    found = show(qrels, run, "1")
    assert (found.P, found.R, found.F, found.found) == (0, 0, 0, 0)
    assert len(found.in_vain) == found.rows
    assert found._repr_html_()


places = st.tuples(st.sampled_from("abc"), st.integers(0, 30), st.integers(0, 12))


@pytest.mark.slow
@given(
    st.lists(places, min_size=1, max_size=6),
    st.lists(st.tuples(places, st.integers(0, 3)), min_size=1, max_size=8),
    st.integers(1, 9),
    st.sampled_from([0.5, 1, math.inf]),
)
def test_findings_agree_with_sets_of_positions_and_with_the_measures(highlights, rows, cutoff, beta):
    qrels = qrels_of(*[("1", doc, 1, start, length) for doc, start, length in highlights])
    run = run_of(*[("1", doc, float(score), start, length) for (doc, start, length), score in rows])
    found = show(qrels, run, "1", cutoff=cutoff, beta=beta)
    measures = {
        ir_graded.CharP @ cutoff: found.P,
        ir_graded.CharR @ cutoff: found.R,
        ir_graded.CharF(beta=beta) @ cutoff: found.F,
    }
    assert ir_measures.calc_aggregate(list(measures), qrels, run) == pytest.approx(measures, abs=1e-12)
    wanted = {(doc, at) for doc, start, length in highlights for at in range(start, start + length)}
    held = {(span.doc_id, at) for span in found.highlighted for part in span.found for at in range(*part)}
    assert len(held) == found.found
    assert held <= wanted
    by_piece = {
        (span.doc_id, at)
        for span in found.highlighted
        for piece in span.pieces
        for at in range(piece.start, piece.stop)
    }
    assert by_piece == held
    useful = {piece.rank for span in found.highlighted for piece in span.pieces}
    assert useful | {row.rank for row in found.in_vain} == set(range(1, found.rows + 1))
    assert not useful & {row.rank for row in found.in_vain}
    for row in found.in_vain:
        assert not wanted & {(row.doc_id, at) for at in range(row.start, row.stop)}


def test_as_text_it_says_the_numbers():
    assert str(show(QRELS, RUN, "1", cutoff=2, beta=2)).splitlines() == [
        "topic 1, 2 rows: CharP 0.2143, CharR 0.3000, CharF(beta=2) 0.2778", "",
        "a, 0 to 30: 10 of 30 characters found", "  rank 1: 20 to 30", "",
        "a, 100 to 150: 20 of 50 characters found", "  rank 1: 100 to 120", "",
        "b, 10 to 30: 0 of 20 characters found", "", "retrieved in vain: 1 of 2 rows", "  rank 2: c, 0 to 40",
    ]  # fmt: skip


def test_a_console_shows_the_text():
    found = show(QRELS, RUN, "1", texts=TEXTS)
    assert repr(found) == str(found)


def test_of_many_rows_in_vain_twenty_are_shown():
    run = run_of(*[("1", "z", -float(at), at, 1) for at in range(1_500)])
    found = show(QRELS, run, "1")
    assert len(found.in_vain) == 1_500
    lines = str(found).splitlines()
    assert lines[-22:-20] == ["retrieved in vain: 1,500 of 1,500 rows", "  rank 1: z, 0 to 1"]
    assert lines[-1] == "  and 1,480 more"
    assert found._repr_html_().count("<li>") == 21
    for rows, last in ((20, "  rank 20: z, 19 to 20"), (21, "  and 1 more")):
        assert str(show(QRELS, run[:rows], "1")).splitlines()[-1] == last


# -------------------------------------------------------------------------------------------- texts


@pytest.mark.parametrize("texts", [TEXTS, TEXTS.__getitem__], ids=["mapping", "function"])
def test_texts_are_cut_by_characters(texts):
    found = show(QRELS, RUN, "1", texts=texts)
    assert [span.text for span in found.highlighted] == [
        TEXTS["a"][:30],
        TEXTS["a"][100:150],
        TEXTS["b"][10:30],
    ]
    assert [row.text for row in found.in_vain] == [TEXTS["c"][:40]]


def test_a_text_that_is_missing_or_bytes_or_ends_before_its_span_is_rejected():
    def wrong(_):
        raise TypeError("this function is wrong")

    with pytest.raises(InputError, match=r"^texts lack document 'b'$"):
        show(QRELS, RUN, "1", texts={name: TEXTS[name] for name in "ac"})
    with pytest.raises(InputError, match=r"^texts are \[1\]; they must be a mapping from doc_id to text"):
        show(QRELS, RUN, "1", texts=[1])
    with pytest.raises(TypeError, match=r"^this function is wrong$"):
        show(QRELS, RUN, "1", texts=wrong)
    with pytest.raises(InputError, match=r"^texts: document 'a' is b'x'; it must be a str$"):
        show(QRELS, RUN, "1", texts={**TEXTS, "a": b"x"})
    message = r"^document 'b': the span 10:20 ends after the text of 29 characters$"
    with pytest.raises(InputError, match=message):
        show(QRELS, RUN, "1", texts={**TEXTS, "b": "x" * 29})


# --------------------------------------------------------------------------------------------- page


def page(found):
    html = found._repr_html_()
    assert not re.search(r"http|href|src=|url\(|<script|<style|\bon\w+=", html.replace("<script>x", ""))
    return ET.fromstring(html)  # noqa: S314  # what was written above


def words(element):
    return " ".join("".join(element.itertext()).split())


def test_the_page_marks_the_text_found_and_sets_no_colour_of_letters():
    root = page(show(QRELS, RUN, "1", texts=TEXTS))
    a, b = TEXTS["a"], TEXTS["b"]
    assert [mark.text for mark in root.iter("mark")] == [a[20:30], a[100:150], b[10:30]]
    for mark in root.iter("mark"):
        assert "underline" in mark.get("style")  # not by colour alone
        assert "color:inherit" in mark.get("style")
    styles = ";".join(element.get("style", "") for element in root.iter())
    assert set(re.findall(r"(?<!-)\bcolor:(\w+)", styles)) == {"inherit"}
    assert [words(i) for i in root.iter("li")] == ["rank 2: c, 0 to 40: all of c all of c all of c all of"]


def test_the_page_draws_where_each_piece_lies_in_its_span():
    root = page(show(QRELS, RUN, "1"))
    bars = [element.get("style") for element in root.iter() if "#0072B2" in element.get("style", "")]
    places = [re.search(r"margin-left:min\((.*?)%.*;width:(.*?)%;", bar).groups() for bar in bars]
    assert places == [("66.67", "33.33"), ("0.00", "40.00"), ("40.00", "60.00"), ("0.00", "100.00")]
    text = words(root)
    assert "b, 10 to 30: 20 of 20 characters found" in text
    assert "rank 3" in text


@pytest.mark.parametrize("name", ["<script>x", "a\nb", "\"'&", "ü" * 300, ""])
def test_strange_ids_and_texts_are_shown_as_they_are(name):
    qrels, run = qrels_of((name, name, 1, 0, 5)), run_of((name, name, 1.0, 0, 5), (name, name, 0.5, 5, 5))
    found = show(qrels, run, name, texts={name: "<i>&amp;'\"\U0001f600"})
    assert [mark.text for mark in page(found).iter("mark")] == ["<i>&a"]
    shown = name if name.isprintable() else repr(name)[1:-1]
    assert f"{shown}, 0 to 5" in "".join(page(found).itertext())


@pytest.mark.parametrize(("size", "shown"), [(119, 119), (120, 120), (121, 120)])
def test_only_texts_of_more_than_120_characters_are_cut(size, shown):
    text = "x" * size
    found = show(QRELS, run_of(("1", "d", 1.0, 0, size)), "1", texts=TEXTS | {"d": text})
    [item] = page(found).iter("li")
    assert words(item).endswith("x" * shown + " …" * (size > shown))
    assert words(item).count("x") == shown


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("options", [{"cutoff": 3}, {"texts": TEXTS}, {"texts": {}}])
def test_options_of_a_topic_do_not_go_with_an_article(options):
    message = r"^show: cutoff and texts apply to a whole topic; leave out either doc_id"
    with pytest.raises(ParameterError, match=message):
        show(QRELS, RUN, "1", "a", **options)


@pytest.mark.parametrize("cutoff", [0, -1, 1.5, "3", True])
def test_a_bad_cutoff(cutoff):
    with pytest.raises(ParameterError, match=r"^show: cutoff=.* must be a whole number"):
        show(QRELS, RUN, "1", cutoff=cutoff)


def test_a_bad_row_of_the_topic_is_named():
    with pytest.raises(InputError, match=r"run: topic '1', document 'b' \(row 0\): the score is missing"):
        show(QRELS, RUN.assign(score=[math.nan, 1, 1, 1]), "1")
    with pytest.raises(InputError, match="the qrels have no topic '9'"):
        show(QRELS, RUN, "9")
