"""The report in a real browser: it renders, sorts by mouse and keyboard, and is legible on a phone."""

import io
import shutil
from contextlib import ExitStack
from itertools import pairwise

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
pytest.importorskip("playwright", reason="Playwright is not installed: pip install playwright")

from matplotlib.image import imread
from playwright.sync_api import sync_playwright

import ir_graded

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed: apt-get install chromium"),
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:the randomisation test:ir_graded.CoverageWarning"),  # few topics
]

#: The browser makes no network request, and needs neither a sandbox nor a graphics card.
FLAGS = [
    "--no-sandbox", "--no-first-run", "--disable-gpu", "--disable-quic", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip

EVIL = "<script>window.hacked = 1</script>"
OTHER = "\"><img src=x onerror='window.hacked = 2'>"
WIDTHS = [360, 768, 1280]
BOARD = "table.board"

VALUES = """
([table, column]) => [...document.querySelector(table).tBodies[0].rows].map(
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
#: Contrast by WCAG 2 of every piece of text against the first background behind it.
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
def chromium():
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser,
    ):
        yield browser


@pytest.fixture
def complaints():
    """Collect messages of the console, errors of scripts and violations of the security policy."""
    return []


@pytest.fixture
def requests():
    """Collect the addresses that the page requests, except data in the page itself."""
    return []


@pytest.fixture
def show(chromium, complaints, requests):
    """Open a file in a new window of this width in CSS pixels; below 600, the window is that of a phone."""

    def call(path, width, *, dark=False):
        page = windows.enter_context(
            chromium.new_page(
                viewport={"width": width, "height": 800},
                is_mobile=width < 600,
                color_scheme="dark" if dark else "light",
            )
        )
        page.set_default_timeout(60_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        return page

    with ExitStack() as windows:
        yield call


@pytest.fixture(params=["covid", "evil"])
def report(request, pages):
    return pages / f"{request.param}.html"


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_renders_without_errors_and_requests(show, report, width, complaints, requests):
    page = show(report, width)
    assert page.evaluate("() => document.readyState") == "complete"
    assert complaints == []
    assert requests == [report.as_uri()]
    assert page.evaluate("() => document.querySelectorAll('th button').length") > 10


def test_errors_of_the_page_are_collected(show, pages, tmp_path, complaints):
    wrong = tmp_path / "wrong.html"
    text = (pages / "evil.html").read_text(encoding="utf-8")
    wrong.write_text(text.replace("</main>", "</main><script>window.hacked = 3</script>"), encoding="utf-8")
    page = show(wrong, 800)
    assert "Content Security Policy" in str(complaints)
    assert page.evaluate("() => window.hacked") is None


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_is_no_wider_than_the_window(show, report, width):
    page = show(report, width)
    scrolled, inner, wide = page.evaluate(OVERFLOW)
    assert wide == []
    assert scrolled <= width
    assert inner == width


def test_wide_tables_scroll_inside_their_box_by_keyboard(show, pages):
    page = show(pages / "covid.html", 360)
    box = page.evaluate(
        "t => { const e = document.querySelector(t).closest('.scroll'); e.focus();"
        " return [e.scrollWidth > e.clientWidth, document.activeElement === e, e.getAttribute('role'),"
        " document.getElementById(e.getAttribute('aria-labelledby')).textContent]; }",
        BOARD,
    )
    assert box[:3] == [True, True, "region"]
    assert box[3].startswith("Mean over 30 topics")
    page.keyboard.press("ArrowRight")
    moved = """t => new Promise(done => setTimeout(
      () => done(document.querySelector(t).closest(".scroll").scrollLeft), 400))"""
    assert page.evaluate(moved, BOARD) > 0


def numbers(page, column, table=BOARD):
    return [float(value) for value in page.evaluate(VALUES, [table, column])]


def test_tables_sort_by_click(show, pages, complaints):
    page = show(pages / "covid.html", 1280)
    assert page.evaluate(SORTED, BOARD) == [None, "descending", None, None, None, None, None]
    assert numbers(page, 1) == sorted(numbers(page, 1), reverse=True)
    page.click(f"{BOARD} thead th:nth-child(3) button")
    assert page.evaluate(SORTED, BOARD) == [None, None, "descending", None, None, None, None]
    assert numbers(page, 2) == sorted(numbers(page, 2), reverse=True)
    assert numbers(page, 1) != sorted(numbers(page, 1), reverse=True)
    page.click(f"{BOARD} thead th:nth-child(3) button")
    assert page.evaluate(SORTED, BOARD) == [None, None, "ascending", None, None, None, None]
    assert numbers(page, 2) == sorted(numbers(page, 2))
    assert page.evaluate("() => document.querySelector('[role=status]').textContent") == (
        "Sorted by P-measure, ascending"
    )
    page.click(f"{BOARD} thead th:nth-child(2) button")
    page.click(f"{BOARD} thead th:nth-child(1) button")
    names = page.evaluate(VALUES, [BOARD, 0])
    assert names == sorted(names, key=str.lower)
    assert len(names) == 20
    assert complaints == []


@pytest.mark.parametrize("key", ["Enter", " "])
def test_tables_sort_by_keyboard(show, pages, key):
    page = show(pages / "covid.html", 1280)
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.textContent") == "NCU(stop='rb')":
            break
    else:
        pytest.fail("no button of this measure is reached")
    outlined = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    assert outlined == "solid"
    page.keyboard.press(key)
    assert page.evaluate(SORTED, BOARD) == [None, None, None, "descending", None, None, None]
    assert numbers(page, 3) == sorted(numbers(page, 3), reverse=True)
    assert page.evaluate("() => document.activeElement.textContent") == "NCU(stop='rb')"


def test_topics_sort_as_numbers_and_their_mean_stays_last(show, pages):
    page = show(pages / "covid.html", 1280)
    page.evaluate("() => { document.querySelector('details').open = true; }")
    first = "table.topics thead th:nth-child(1) button"
    page.click("table.topics thead th:nth-child(4) button")
    assert numbers(page, 3, "table.topics") == sorted(numbers(page, 3, "table.topics"), reverse=True)
    page.click(first)
    assert page.evaluate(VALUES, ["table.topics", 0]) == [str(topic) for topic in range(1, 31)]
    assert page.evaluate("() => document.querySelector('table.topics tfoot th').textContent") == "mean"


@pytest.mark.parametrize("clicks", [1, 2])
def test_missing_values_are_last_in_both_directions(show, pages, clicks):
    page = show(pages / "evil.html", 1280)
    table = "section[aria-labelledby=unjudged] table"
    for _ in range(clicks):
        page.click(f"{table} thead th:nth-child(2) button")
    assert page.evaluate(VALUES, [table, 1])[-1] == ""
    assert page.evaluate(VALUES, [table, 0])[-1] == "nothing"


def test_tables_and_images_have_accessible_names(show, report):
    page = show(report, 1280)
    page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = true; })")
    lacking = page.evaluate(
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
    assert page.evaluate("() => [document.documentElement.lang, document.querySelectorAll('h1').length]") == [
        "en",
        1,
    ]
    levels = page.evaluate("() => [...document.querySelectorAll('h1,h2,h3')].map(h => Number(h.tagName[1]))")
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_the_first_tab_stop_is_a_skip_link(show, pages):
    page = show(pages / "covid.html", 360)
    page.keyboard.press("Tab")
    text, top = page.evaluate(
        "() => [document.activeElement.textContent, document.activeElement.getBoundingClientRect().top]"
    )
    assert text == "Skip to the leaderboard"
    assert top >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("() => [location.hash, document.activeElement.id]") == [
        "#leaderboard",
        "leaderboard",
    ]


def test_names_are_shown_as_text_only(show, pages):
    page = show(pages / "evil.html", 1280)
    assert page.evaluate("() => window.hacked") is None
    assert page.evaluate("() => document.scripts.length") == 1
    names = page.evaluate("() => [...document.querySelectorAll('.board tbody .run')].map(e => e.textContent)")
    assert sorted(names) == sorted([EVIL, OTHER, "nothing", "partly"])
    assert EVIL in page.evaluate(VALUES, ["table.topics", 0])
    page.click(f"{BOARD} thead th:nth-child(1) button")
    assert page.evaluate("() => window.hacked") is None


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 1280])
def test_text_has_contrast_and_is_large_enough(show, pages, width, dark):
    page = show(pages / "covid.html", width, dark=dark)
    found = page.evaluate(CONTRASTS)
    assert len(found) > 100
    assert [one for one in found if one[0] < 4.5] == []
    assert [one for one in found if one[1] < 12] == []
    paper = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") != dark


@pytest.mark.parametrize("dark", [False, True])
def test_pictures_have_the_background_of_the_page(show, pages, dark):
    page = show(pages / "covid.html", 1280, dark=dark)
    picture = page.locator("figure img").first
    pixels = imread(io.BytesIO(picture.screenshot()))[:, :, :3]
    assert (pixels[:4, :4] < 0.15).all() if dark else (pixels[:4, :4] > 0.95).all()
    assert (pixels.max() > 0.7) if dark else (pixels.min() < 0.3)  # letters stand out


#: How closed sections, heads of tables and headings are laid out.
PRINTED = """
() => [
  [...document.querySelectorAll("details:not([open]) table")].map(e => e.getBoundingClientRect().height),
  [...document.querySelectorAll("thead th")].map(e => getComputedStyle(e).position),
  [...document.querySelectorAll("th button")].map(e => getComputedStyle(e).display),
  getComputedStyle(document.body).backgroundColor,
  [...document.querySelectorAll("h2, h3, summary, caption")].map(e => getComputedStyle(e).breakAfter),
  [...document.querySelectorAll(".topics")].map(e => e.scrollWidth),
]
"""


def test_print_shows_closed_sections_and_keeps_headings_with_what_follows(show, pages):
    # As wide as a landscape page of 267 mm.
    page = show(pages / "covid.html", 1009, dark=True)
    page.emulate_media(media="print")
    heights, positions, buttons, paper, breaks, widths = page.evaluate(PRINTED)
    assert len(heights) == 3
    assert min(heights) > 200
    assert set(positions) == {"static"}
    assert set(buttons) == {"contents"}
    assert paper == "rgb(255, 255, 255)"
    assert set(breaks) == {"avoid"}
    assert max(widths) <= 1009


def test_print_opens_sections_by_script_and_closes_them_again(show, pages):
    page = show(pages / "covid.html", 768)
    states = "() => [...document.querySelectorAll('details')].map(e => e.open)"
    before = page.evaluate(states)
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert all(page.evaluate(states))
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(states) == before
    assert not all(before)
