"""The report in a real browser: it renders, sorts by mouse and keyboard, and is legible on a phone."""

import os
import shutil
from itertools import pairwise

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

import ir_graded

if os.name != "posix":
    pytest.skip("the browser is driven over a pipe of POSIX", allow_module_level=True)

from browser import Browser

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed: apt-get install chromium")

EVIL = "<script>window.hacked = 1</script>"
OTHER = "\"><img src=x onerror='window.hacked = 2'>"
WIDTHS = [360, 768, 1280]
BOARD = "table.board"

VALUES = """
(table, column) => [...document.querySelector(table).tBodies[0].rows].map(
  row => row.cells[column].dataset.value ?? row.cells[column].textContent.trim())
"""
SORTED = """
table => [...document.querySelector(table).tHead.rows[0].cells].map(head => head.getAttribute("aria-sort"))
"""
OVERFLOW = """
() => {
  document.querySelectorAll("details").forEach(one => { one.open = true; });
  const inside = e => e.closest(".scroll, .unseen, .skip");
  const wide = [...document.body.querySelectorAll("*")].filter(
    e => !inside(e) && e.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5);
  return [document.documentElement.scrollWidth, window.innerWidth, wide.map(e => e.outerHTML.slice(0, 80))];
}
"""
#: Contrast as WCAG 2 computes it, of every piece of text against the first background behind it.
CONTRASTS = """
() => {
  document.querySelectorAll("details").forEach(one => { one.open = true; });
  const parts = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(
    c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  ).reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const colour = parts(getComputedStyle(e).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
      if (colour[3] !== 0) throw new Error("half a background");
    }
    throw new Error("no background");
  };
  const found = [];
  const look = (e, style) => {
    const [one, two] = [light(parts(style.color)), light(behind(e))].sort((a, b) => b - a);
    found.push([(one + 0.05) / (two + 0.05), parseFloat(style.fontSize), e.outerHTML.slice(0, 90)]);
  };
  for (const e of document.body.querySelectorAll("*")) {
    if (["SCRIPT", "IMG"].includes(e.tagName)) continue;
    if ([...e.childNodes].some(node => node.nodeType === 3 && node.data.trim())) look(e, getComputedStyle(e));
    if (e.tagName === "BUTTON") look(e, getComputedStyle(e, "::after"));
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    covid = ir_graded.sample()
    ir_graded.report(
        ["Q", "P-measure", "NCU(stop='rb')"],
        covid.qrels,
        covid.runs,
        folder / "covid.html",
        baseline="base.unipd.it",
        n_resamples=200,
    )
    qrels = {topic: {"a": 2, "b": 1} for topic in ("10", "9", EVIL)}
    runs = {
        EVIL: {topic: {"a": 2.0} for topic in qrels},
        OTHER: {"9": {"b": 2.0, "a": 1.0}},
        "nothing": {"9": {}},
        "partly": {"9": {"x": 2.0, "a": 1.0}},
    }
    with pytest.warns(ir_graded.CoverageWarning, match="Run 'partly' lacks 2 of the 3 topics"):
        ir_graded.report(["Q", "AP"], qrels, runs, folder / "evil.html", baseline=OTHER, n_resamples=50)
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = Browser(CHROMIUM, tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.fixture(params=["covid", "evil"])
def page(request, pages):
    return pages / f"{request.param}.html"


@pytest.mark.parametrize("width", WIDTHS)
def test_renders_without_a_complaint_and_without_a_request(browser, page, width):
    browser.open(page, width)
    assert browser.run("() => document.readyState") == "complete"
    assert browser.complaints == []
    assert browser.requests == [page.as_uri()]
    assert browser.run("() => document.querySelectorAll('th button').length") > 10


def test_complaints_are_heard(browser, pages, tmp_path):
    wrong = tmp_path / "wrong.html"
    text = (pages / "evil.html").read_text(encoding="utf-8")
    wrong.write_text(text.replace("</main>", "</main><script>window.hacked = 3</script>"), encoding="utf-8")
    browser.open(wrong, 800)
    assert "Content Security Policy" in str(browser.complaints)
    assert browser.run("() => window.hacked") is None


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_is_no_wider_than_the_window(browser, page, width):
    browser.open(page, width)
    scrolled, inner, wide = browser.run(OVERFLOW)
    assert wide == []
    assert scrolled <= width
    assert inner == width


def test_wide_tables_scroll_in_their_own_box_by_keyboard(browser, pages):
    browser.open(pages / "covid.html", 360)
    box = browser.run(
        "t => { const e = document.querySelector(t).closest('.scroll'); e.focus();"
        " return [e.scrollWidth > e.clientWidth, document.activeElement === e, e.getAttribute('role'),"
        " document.getElementById(e.getAttribute('aria-labelledby')).textContent]; }",
        BOARD,
    )
    assert box[:3] == [True, True, "region"]
    assert box[3].startswith("Mean over 30 topics")
    browser.press("ArrowRight")
    moved = """t => new Promise(done => setTimeout(
      () => done(document.querySelector(t).closest(".scroll").scrollLeft), 400))"""
    assert browser.run(moved, BOARD) > 0


def numbers(browser, column, table=BOARD):
    return [float(value) for value in browser.run(VALUES, table, column)]


def test_sorts_by_click(browser, pages):
    browser.open(pages / "covid.html", 1280)
    assert browser.run(SORTED, BOARD) == [None, "descending", None, None]
    assert numbers(browser, 1) == sorted(numbers(browser, 1), reverse=True)
    browser.click(f"{BOARD} thead th:nth-child(3) button")
    assert browser.run(SORTED, BOARD) == [None, None, "descending", None]
    assert numbers(browser, 2) == sorted(numbers(browser, 2), reverse=True)
    assert numbers(browser, 1) != sorted(numbers(browser, 1), reverse=True)
    browser.click(f"{BOARD} thead th:nth-child(3) button")
    assert browser.run(SORTED, BOARD) == [None, None, "ascending", None]
    assert numbers(browser, 2) == sorted(numbers(browser, 2))
    assert browser.run("() => document.querySelector('[role=status]').textContent") == (
        "Sorted by P-measure, ascending"
    )
    browser.click(f"{BOARD} thead th:nth-child(2) button")
    browser.click(f"{BOARD} thead th:nth-child(1) button")
    names = browser.run(VALUES, BOARD, 0)
    assert names == sorted(names, key=str.lower)
    assert len(names) == 20
    assert browser.complaints == []


@pytest.mark.parametrize("key", ["Enter", " "])
def test_sorts_by_keyboard(browser, pages, key):
    browser.open(pages / "covid.html", 1280)
    for _ in range(30):
        browser.press("Tab")
        if browser.run("() => document.activeElement.textContent") == "NCU(stop='rb')":
            break
    else:
        pytest.fail("no button of this measure is reached")
    outlined = browser.run("() => getComputedStyle(document.activeElement).outlineStyle")
    assert outlined == "solid"
    browser.press(key)
    assert browser.run(SORTED, BOARD) == [None, None, None, "descending"]
    assert numbers(browser, 3) == sorted(numbers(browser, 3), reverse=True)
    assert browser.run("() => document.activeElement.textContent") == "NCU(stop='rb')"


def test_topics_sort_as_numbers_and_their_mean_stays_below(browser, pages):
    browser.open(pages / "covid.html", 1280)
    browser.run("() => { document.querySelector('details').open = true; }")
    first = "table.topics thead th:nth-child(1) button"
    browser.click("table.topics thead th:nth-child(4) button")
    assert numbers(browser, 3, "table.topics") == sorted(numbers(browser, 3, "table.topics"), reverse=True)
    browser.click(first)
    assert browser.run(VALUES, "table.topics", 0) == [str(topic) for topic in range(1, 31)]
    assert browser.run("() => document.querySelector('table.topics tfoot th').textContent") == "mean"


@pytest.mark.parametrize("clicks", [1, 2])
def test_what_is_missing_comes_last_whichever_way(browser, pages, clicks):
    browser.open(pages / "evil.html", 1280)
    table = "section[aria-labelledby=unjudged] table"
    for _ in range(clicks):
        browser.click(f"{table} thead th:nth-child(2) button")
    assert browser.run(VALUES, table, 1)[-1] == ""
    assert browser.run(VALUES, table, 0)[-1] == "nothing"


def test_tables_and_pictures_say_what_they_are(browser, page):
    browser.open(page, 1280)
    browser.run("() => document.querySelectorAll('details').forEach(one => { one.open = true; })")
    lacking = browser.run(
        """() => [
          ...[...document.querySelectorAll("table")].filter(
              t => !t.caption?.textContent.trim() || !t.caption.offsetHeight || !t.tHead),
          ...[...document.querySelectorAll("th")].filter(th => !["row", "col"].includes(th.scope)),
          ...[...document.querySelectorAll("tbody tr")].filter(tr => tr.cells[0].scope !== "row"),
          ...[...document.images].filter(i => !i.alt || !i.naturalWidth),
          ...[...document.querySelectorAll("section")].filter(
              s => !document.getElementById(s.getAttribute("aria-labelledby"))),
        ].map(e => e.outerHTML.slice(0, 100))"""
    )
    assert lacking == []
    assert browser.run("() => [document.documentElement.lang, document.querySelectorAll('h1').length]") == [
        "en",
        1,
    ]
    levels = browser.run("() => [...document.querySelectorAll('h1,h2,h3')].map(h => Number(h.tagName[1]))")
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_the_first_tab_offers_to_skip(browser, pages):
    browser.open(pages / "covid.html", 360)
    browser.press("Tab")
    text, top = browser.run(
        "() => [document.activeElement.textContent, document.activeElement.getBoundingClientRect().top]"
    )
    assert text == "Skip to the leaderboard"
    assert top >= 0
    browser.press("Enter")
    assert browser.run("() => [location.hash, document.activeElement.id]") == ["#leaderboard", "leaderboard"]


def test_names_are_text_and_nothing_else(browser, pages):
    browser.open(pages / "evil.html", 1280)
    assert browser.run("() => window.hacked") is None
    assert browser.run("() => document.scripts.length") == 1
    names = browser.run("() => [...document.querySelectorAll('.board tbody .run')].map(e => e.textContent)")
    assert sorted(names) == sorted([EVIL, OTHER, "nothing", "partly"])
    assert EVIL in browser.run(VALUES, "table.topics", 0)
    browser.click(f"{BOARD} thead th:nth-child(1) button")
    assert browser.run("() => window.hacked") is None


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 1280])
def test_text_stands_out_and_is_large_enough(browser, pages, width, dark):
    browser.open(pages / "covid.html", width, dark=dark)
    found = browser.run(CONTRASTS)
    assert len(found) > 100
    assert [one for one in found if one[0] < 4.5] == []
    assert [one for one in found if one[1] < 12] == []
    paper = browser.run("() => getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") != dark
