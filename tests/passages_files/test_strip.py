import dataclasses
import io
import math
import pickle
import re
import xml.etree.ElementTree as ET
from functools import cache, partial
from itertools import pairwise

import ir_measures
import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st
from matplotlib.figure import Figure
from passages.passage_cases import qrels_of, run_of

import ir_graded
from ir_graded.core.facets import SPAN
from ir_graded.errors import InputError, ParameterError
from ir_graded.passages import Strip, show

mpl.use("Agg")

pytestmark = pytest.mark.filterwarnings("error")

#: The colours of Okabe and Ito (2008).
OKABE_ITO = {"#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"}


QRELS = qrels_of(
    ("1", "a", 1, 0, 30),
    ("1", "a", 1, 100, 50),
    ("1", "b", 2, 10, 10),
    ("1", "b", 1, 15, 10),
    ("1", "c", 0, 0, 0),
    ("1", "d", 1, 5, 0),
    ("2", "a", 1, 0, 7),
    ("3", "a", 1, 0, 7),
    ("4", "a", 1, 0, 7),
)
RUN = run_of(
    ("1", "a", 5.0, 20, 100),
    ("1", "c", 4.0, 0, 8),
    ("1", "z", 4.0, 3, 8),
    ("1", "b", 1.0, 30, 5),
    ("1", "b", 9.0, 20, 10),
    ("2", "a", 1.0, 3, 0),
)


def strip(query_id="1", doc_id="a", **options):
    return show(QRELS, RUN, query_id, doc_id, **options)


# ------------------------------------------------------------------------------------------ numbers


def test_the_worked_example_has_its_numbers():
    found = strip()
    assert (found.P, found.R, found.F) == (0.3, 0.375, 1 / 3)
    assert strip(beta=0.25).F == 0.30357142857142855
    assert strip(beta=math.inf).F == 0.375
    assert strip(beta=0).F == 0.3
    assert found.highlighted == ((0, 30), (100, 150))
    assert found.retrieved == ((20, 120),)
    assert found.overlap == ((20, 30), (100, 120))
    assert found.extent == 150
    assert found.rank == 2
    assert (found.query_id, found.doc_id, found.beta) == ("1", "a", 1)


def test_an_article_uses_all_its_rows():
    found = strip(doc_id="b")
    assert found.highlighted == ((10, 25),)
    assert found.retrieved == ((20, 35),)
    assert found.overlap == ((20, 25),)
    assert found.rank == 1
    assert strip(doc_id="b", rel=2).highlighted == ((10, 20),)
    # Touching spans do not overlap.
    assert strip(doc_id="b", rel=2).overlap == ()
    assert strip(doc_id="b", rel=3).R == 0


@pytest.mark.parametrize(
    ("query_id", "doc_id", "highlighted", "retrieved", "extent", "rank"),
    [
        ("1", "c", (), ((0, 8),), 8, 4),
        ("1", "z", (), ((3, 11),), 11, 3),
        ("1", "d", (), (), 5, None),
        ("2", "a", ((0, 7),), (), 7, 1),
        ("3", "a", ((0, 7),), (), 7, None),
    ],
)
def test_articles_without_overlap_score_0(query_id, doc_id, highlighted, retrieved, extent, rank):
    found = strip(query_id, doc_id)
    assert (found.highlighted, found.retrieved, found.overlap) == (highlighted, retrieved, ())
    assert (found.P, found.R, found.F) == (0, 0, 0)
    assert (found.extent, found.rank) == (extent, rank)


@pytest.mark.parametrize("form", [pl.from_pandas, lambda frame: iter([*frame.itertuples(index=False)])])
def test_forms_of_qrels_and_runs_give_equal_strips(form):
    assert show(form(QRELS), form(RUN), "1", "a") == strip()
    assert show(QRELS.iloc[::-1], RUN.iloc[::-1], "1", "a") == strip()


def test_ids_may_be_numbers():
    whole = {"query_id": [7], "doc_id": [12], "start": [0], "length": [5]}
    found = show(pd.DataFrame({**whole, "relevance": 1}), pd.DataFrame({**whole, "score": 1.0}), 7, 12)
    assert (found.query_id, found.doc_id, found.F, found.rank) == ("7", "12", 1, 1)


spans = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 15)), min_size=1, max_size=6)


@pytest.mark.slow
@given(spans, spans, st.sampled_from([0, 0.25, 1, 2.5, math.inf]))
def test_strips_agree_with_sets_of_positions_and_with_the_measures(highlights, passages, beta):
    qrels = qrels_of(*[("1", "a", 1, *span) for span in highlights])
    run = run_of(*[("1", "a", 1.0, *span) for span in passages])
    found = show(qrels, run, "1", "a", beta=beta)
    relevant, retrieved = (
        {at for start, length in part for at in range(start, start + length)}
        for part in (highlights, passages)
    )
    both = relevant & retrieved
    for lane, positions in (
        (found.highlighted, relevant),
        (found.retrieved, retrieved),
        (found.overlap, both),
    ):
        assert [at for start, stop in lane for at in range(start, stop)] == sorted(positions)
        edges = [edge for span in lane for edge in span]
        assert all(a < b for a, b in pairwise(edges))
        assert all(type(edge) is int for edge in edges)
    P = len(both) / len(retrieved) if retrieved else 0
    R = len(both) / len(relevant) if relevant else 0
    assert (found.P, found.R) == (P, R)
    assert math.isclose(found.F, f_of(P, R, beta), rel_tol=1e-12)
    assert found.extent == max(start + length for start, length in highlights + passages)
    measure = ir_graded.gP(beta=beta) @ 1
    if relevant:
        assert ir_measures.calc_aggregate([measure], qrels, run) == {measure: found.F}


def f_of(P, R, beta):
    if math.isinf(beta):
        return R
    return (1 + beta**2) * P * R / (beta**2 * P + R) if P + R else 0


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from([1.0, 2.0, 2.00000001, -3.0, math.inf]))))
def test_the_rank_equals_that_of_the_measures(rows):
    rows = [("x", 0.0), *rows]
    run = run_of(*[("1", doc, score, 0, 5) for doc, score in rows])
    for doc in dict(rows):
        qrels = qrels_of(("1", doc, 1, 0, 5))
        rank = show(qrels, run, "1", doc).rank
        assert ir_measures.calc_aggregate([ir_graded.MAgP], qrels, run)[ir_graded.MAgP] == 1 / rank
    assert show(qrels_of(("1", "never", 1, 0, 5)), run, "1", "never").rank is None


def test_a_strip_is_frozen_and_comparable():
    found = strip()
    assert found == strip()
    assert hash(found) == hash(strip())
    assert found != strip(beta=2)
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301  # its own bytes
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.P = 1


def test_the_text_contains_the_numbers():
    assert str(strip()) == (
        "topic 1, article a, rank 2: P 0.3000, R 0.3750, F 0.3333 (highlighted 80, overlap 30, retrieved 100)"
    )
    assert "F(beta=0.25) 0.3036" in str(strip(beta=0.25))
    assert str(strip("3")).startswith("topic 3, article a, not retrieved: P 0.0000, ")


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("kind", ["qrels", "run"])
@pytest.mark.parametrize(
    "bad",
    [
        {"1": {"a": 1}},
        {},
        QRELS.assign(score=1.0).drop(columns="start"),
        QRELS.assign(score=1.0).drop(columns=["start", "length"]),
        [],
    ],
)
def test_the_error_without_passages_names_the_accepted_input(kind, bad):
    value = {"qrels": "relevance", "run": "score"}[kind]
    given_ = {"qrels": QRELS, "run": RUN, kind: bad}
    with pytest.raises(InputError) as caught:
        show(**given_, query_id="1", doc_id="a")
    message = str(caught.value)
    assert message.startswith(f"show needs passages, but {SPAN.lacking(kind).partition(chr(58))[0]}: ")
    assert f"query_id, doc_id, {value}, start, length" in message
    assert "a dict of dicts has no such" in message


def test_an_unknown_topic_lists_three_known_ones():
    with pytest.raises(InputError, match=r"^the qrels have no topic '9'; they have '1', '2', '3' \.\.\.$"):
        strip("9")
    with pytest.raises(InputError, match=r"no topic '9'; they have '4'$"):
        show(QRELS.tail(1), RUN, 9, "a")
    with pytest.raises(InputError, match="an id is text or a whole number, not a NoneType"):
        strip(None)


def test_an_unknown_article_lists_three_known_ones():
    with pytest.raises(InputError, match=r"^topic '1' has no article 'q'; .* have 'a', 'b', 'c' \.\.\.$"):
        strip(doc_id="q")
    with pytest.raises(InputError, match=r"^topic '3' has no article 'b'; .* have 'a'$"):
        strip("3", "b")
    with pytest.raises(InputError, match=r"^topic '4' has no article 'b'; .* have 'a', 'y'$"):
        show(QRELS, run_of(("4", "y", 1.0, 0, 5)), "4", "b")


def test_a_bad_rel_or_beta_is_rejected():
    for rel in (0, "1", None, math.nan, True):
        with pytest.raises(ParameterError, match=r"^show: rel=.* must be a finite number > 0$"):
            strip(rel=rel)
    for beta in (-1, "1", None, math.nan):
        with pytest.raises(ParameterError, match=r"^show: beta=.* must be a number >= 0 or inf$"):
            strip(beta=beta)


@pytest.mark.parametrize(
    ("kind", "bad", "message"),
    [
        ("run", RUN.assign(score=math.nan), r"run: topic '1', document 'a' \(row 0\): the score is missing"),
        ("qrels", QRELS.assign(relevance=math.inf), r"qrels: topic '1', document 'a' \(row 0\): .* infinite"),
        ("run", RUN.assign(start=-1), r"run: topic '1', document 'a' \(row 0\): start is -1"),
        ("qrels", QRELS.assign(length=0.5), r"qrels: topic '1', document 'a' \(row 0\): length is 0.5"),
        ("run", RUN.assign(doc_id=None), r"run: row 0 has no doc_id"),
        ("qrels", QRELS.assign(query_id=None), r"qrels: row 0 has no query_id"),
        ("run", RUN.drop(columns="score"), r"run: the table has no column score"),
        ("qrels", 12, r"qrels: cannot read int"),
        ("run", "no-such-dataset", r"'no-such-dataset' is neither a file nor a dataset"),
    ],
)
def test_unreadable_input_is_named(kind, bad, message):
    with pytest.raises(InputError, match=message):
        show(**{"qrels": QRELS, "run": RUN, kind: bad}, query_id="1", doc_id="a")


# ------------------------------------------------------------------------------------------ pictures


def many(count, extent, doc_id="clueweb09-en0000-23-12345", seed=0):
    """A strip of many tiny passages."""
    rng = np.random.default_rng(seed)
    rows = [
        [("2009115", doc_id, 1, int(start), int(length)) for start, length in zip(*columns, strict=True)]
        for columns in (
            (rng.integers(0, extent, count), rng.integers(1, max(extent // count, 2), count))
            for _ in range(2)
        )
    ]
    return show(qrels_of(*rows[0]), run_of(*rows[1]), "2009115", doc_id, beta=0.25)


HUGE = Strip("1", "a", 1, ((0, 2**48),), ((5, 2**40),), ((5, 2**40),), 2**48, 1, 0, 0)
#: Drawn strips by their special feature, as functions: some processes are forked after
#: collection, and Polars' threads do not survive a fork.
PICTURES = {
    "plain": strip,
    "tiny": partial(many, 300, 400_000),
    "three characters": lambda: Strip("1", "a", 1, ((0, 3),), ((2, 3),), ((2, 3),), 3, 1, 1 / 3, 0.5),
    "empty": partial(strip, "1", "d"),
    "not retrieved": partial(strip, "3"),
    "huge": lambda: HUGE,
    "long ids": lambda: dataclasses.replace(strip(), query_id="q" * 60, doc_id="a-long-id/" * 60),
}


@cache
def picture_of(name):
    return PICTURES[name]()


def drawn(picture, width):

    figure = Figure(figsize=(width, 1.7), layout="constrained")
    assert picture.plot(figure.subplots()) is figure
    figure.draw_without_rendering()
    return figure


def lanes(ax):
    """Return the label of each lane and the spans drawn in it, from top to bottom."""
    found = []
    labels = [label.get_text() for label in ax.get_yticklabels()]
    bars = [part for part in ax.collections if part.get_clip_on() is False]
    for y, (label, bar) in enumerate(zip(labels, bars, strict=True)):
        boxes = [path.get_extents() for path in bar.get_paths()]
        assert all(round((box.y0 + box.y1) / 2, 6) == y for box in boxes)
        found.append((label, tuple((round(box.x0), round(box.x1)) for box in boxes), bar))
    return found


@pytest.mark.parametrize("name", PICTURES)
def test_the_lanes_show_the_spans(name):
    picture = picture_of(name)
    figure = picture.plot()
    [ax] = figure.axes
    assert [(label, spans) for label, spans, _ in lanes(ax)] == [
        ("highlighted", picture.highlighted),
        ("overlap", picture.overlap),
        ("retrieved", picture.retrieved),
    ]
    assert ax.get_xlim() == (0, max(picture.extent, 1))
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert ax.get_xlabel() == "position in the article"


def test_the_title_has_names_and_scores():
    title = strip(beta=0.25).plot().axes[0].get_title()
    assert title == "topic 1, article a, rank 2\nP 0.300, R 0.375, F(beta=0.25) 0.304"


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"


def titled(doc_id):
    strip = Strip("7", doc_id, 3, ((0, 9),), ((5, 9),), ((5, 9),), 9, P=1.0, R=4 / 9, F=8 / 13)
    title = strip.plot().axes[0].get_title()
    first, second = re.findall("<text[^>]*>([^<]*)</text>", strip._repr_html_())[:2]
    assert title == f"{first}\n{second}"
    assert str(strip).startswith(f"topic 7, article {doc_id}, rank 3: P 1.0000")
    return title


@pytest.mark.parametrize("length", [1, 31, 32])
def test_an_id_of_up_to_32_characters_is_whole_in_the_title(length):
    expected = f"topic 7, article {LETTERS[:length]}, rank 3\nP 1.000, R 0.444, F 0.615"
    assert titled(LETTERS[:length]) == expected


def test_a_longer_id_is_shortened_in_the_middle():
    assert titled(LETTERS).startswith("topic 7, article abcdefghijklmno…uvwxyzABCDEFGHIJ, rank 3\n")


@pytest.mark.slow
@pytest.mark.parametrize("width", [3.3, 7])
@pytest.mark.parametrize("name", PICTURES)
def test_all_text_is_visible_and_separate_at_the_widths_of_a_paper(name, width):
    figure = drawn(picture_of(name), width)
    [ax] = figure.axes
    ticks = [label for label in ax.get_xticklabels() if label.get_text()]
    visible = [label for label in ticks if 0 <= label.get_position()[0] <= picture_of(name).extent + 1]
    assert visible
    boxes = [text.get_window_extent() for text in visible]
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
    texts = [ax.title, ax.xaxis.label, *ax.get_yticklabels()]
    if name != "long ids":
        for text in texts:
            box = text.get_window_extent()
            assert figure.bbox.x0 <= box.x0, text
            assert box.x1 <= figure.bbox.x1, text
            assert figure.bbox.y0 <= box.y0, text
            assert box.y1 <= figure.bbox.y1 + 1, text


def test_lanes_differ_without_colour_and_for_the_colour_blind():
    bars = [bar for _, _, bar in lanes(strip().plot().axes[0])]
    from matplotlib.colors import to_hex

    colours = [to_hex(bar.get_facecolor()[0]).upper() for bar in bars]
    assert len(set(colours)) == 3
    assert set(colours) <= OKABE_ITO
    looks = {(round(grey(bar.get_facecolor()[0]), 1), bar.get_hatch()) for bar in bars}
    assert len(looks) == 3
    assert bars[2].get_hatch()


def grey(colour):
    return np.dot(colour[:3], [0.299, 0.587, 0.114])


@pytest.mark.slow
@pytest.mark.parametrize("width", [3.3, 7])
def test_the_smallest_span_of_the_longest_article_is_visible(width):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    at = 500_000
    picture = Strip("1", "a", 1, ((at, at + 1),), ((at, at + 1),), ((at, at + 1),), 10**6, 1, 1, 1)
    figure = drawn(picture, width)
    figure.dpi = 200
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[:, :, :3].astype(int)
    ax = figure.axes[0]
    for y in range(3):
        row = pixels.shape[0] - round(ax.transData.transform((0, y))[1])
        left, right = (round(x) for x in ax.transData.transform([(1000, y), (999_000, y)])[:, 0])
        line = pixels[row, left:right]
        assert np.abs(line - line[0]).sum(axis=1).max() > 60


@pytest.mark.slow
@pytest.mark.parametrize("format", ["png", "pdf", "svg"])
def test_a_strip_is_saved_without_a_warning(format):
    for name in PICTURES:
        target = io.BytesIO()
        picture_of(name).plot().savefig(target, format=format)
        assert target.tell() > 1000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["$\\frac{$", "a\nb", "<script>x</script>", "\"'&", "{0}%s", "ü" * 500, ""])
def test_unusual_ids_are_shown_unchanged(name):
    whole = {"query_id": [name], "doc_id": [name], "start": [0], "length": [5]}
    picture = show(pd.DataFrame({**whole, "relevance": 1}), pd.DataFrame({**whole, "score": 1.0}), name, name)
    figure = picture.plot()
    figure.draw_without_rendering()
    shown = repr(name)[1:-1] if not name.isprintable() else name
    if len(shown) <= 32:
        title = figure.axes[0].get_title().replace(r"\$", "$")
        assert title.startswith(f"topic {shown}, article {shown}, rank 1\nP 1.000")
    assert f"topic {shown}, article {shown}, rank 1: " in str(picture)
    assert str(picture).count("\n") == 0
    root = ET.fromstring(picture._repr_html_())  # noqa: S314  # what was written above
    assert root.get("aria-label") == str(picture)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "text", "rect", "path", "title"}


# ---------------------------------------------------------------------------------------- notebooks


SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", PICTURES)
def test_the_html_is_one_self_contained_image(name):
    html = picture_of(name)._repr_html_()
    root = ET.fromstring(html)  # noqa: S314  # what was written above
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label") == str(picture_of(name))
    without_namespace = html.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"http|href|src=|url\(|<script|<style|\bon\w+=", without_namespace)


@pytest.mark.parametrize("name", PICTURES)
def test_the_html_shows_every_span_in_its_lane(name):
    picture = picture_of(name)
    root = ET.fromstring(picture._repr_html_())  # noqa: S314  # what was written above
    rectangles = [rectangle for rectangle in root.iter(f"{SVG}rect") if len(rectangle)]
    heights = [
        float(text.get("y")) - 13 for text in root.iter(f"{SVG}text") if text.get("text-anchor") == "end"
    ]
    assert heights == sorted(heights)
    for y, spans in zip(heights, (picture.highlighted, picture.overlap, picture.retrieved), strict=True):
        lane = [rectangle for rectangle in rectangles if float(rectangle.get("y")) == y]
        assert [rectangle.find(f"{SVG}title").text for rectangle in lane] == [
            f"{start:,} to {stop:,}" for start, stop in spans
        ]
        for rectangle, (start, stop) in zip(lane, spans, strict=True):
            x, width = float(rectangle.get("x")), float(rectangle.get("width"))
            assert x == pytest.approx(90 + 600 * start / picture.extent, abs=0.01)
            assert width == pytest.approx(max(600 * (stop - start) / picture.extent, 1), abs=0.01)
            assert rectangle.get("fill") in OKABE_ITO
