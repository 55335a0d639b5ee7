"""The report in a real browser: all views and interactions, also by keyboard, on a phone and on paper."""

import re
import shutil
from contextlib import ExitStack

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("jinja2")
pytest.importorskip("playwright", reason="Playwright is not installed: pip install playwright")

from collections_data import ROOT, needs_shared_data, ranked_runs
from playwright.sync_api import sync_playwright

import ir_graded
from ir_graded.meta.differences import p_text

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
WIDTHS = [360, pytest.param(768, marks=pytest.mark.release), 1280]
MEASURES = ["Q", "P-measure", "NCU(stop='rb')"]
MINUS = "\u2212"
SHOWN = "() => [...document.querySelectorAll('main > section:not([hidden])')].map(e => e.id)"
HEIGHT = "() => document.getElementById('board').getBoundingClientRect().height"
VIEWS = ["runs", "compare", "topics", "measures", "topic", "unjudged", "computed"]
NAMES = "() => [...document.querySelectorAll('#board tbody tr[data-run] .run')].map(e => e.textContent)"
OVERFLOW = """
() => {
  document.querySelectorAll("details").forEach(one => { one.open = true; });
  const inside = e => e.closest(".scroll, .unseen, .skip, pre, [hidden]");
  const wide = [...document.body.querySelectorAll("*")].filter(
    e => !inside(e) && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1.5);
  return [document.documentElement.scrollWidth, wide.map(e => e.outerHTML.slice(0, 120))];
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
    if (["SCRIPT", "NOSCRIPT", "OPTION", "DATALIST"].includes(e.tagName) || !e.offsetParent) continue;
    if (e.closest(".unseen, .skip, svg")) continue;
    if ([...e.childNodes].some(node => node.nodeType === 3 && node.data.trim())) look(e, getComputedStyle(e));
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    covid = ir_graded.sample()
    ir_graded.report(MEASURES, covid.qrels, covid.runs, folder / "covid.html", baseline="base.unipd.it")
    qrels = {topic: {"a": 2, "b": 1} for topic in ("10", "9", EVIL)}
    runs = {
        EVIL: {topic: {"a": 2.0} for topic in qrels},
        OTHER: {"9": {"b": 2.0, "a": 1.0}},
        "nothing": {"9": {}},
        "partly": {"9": {"x": 2.0, "a": 1.0}},
    }
    with pytest.warns(ir_graded.CoverageWarning, match="Run 'partly' lacks 2 of the 3 topics"):
        ir_graded.report(["Q", "AP"], qrels, runs, folder / "evil.html", baseline=OTHER)
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

    def call(path, width=1280, view="", *, dark=False, script=True):
        page = windows.enter_context(
            chromium.new_page(
                viewport={"width": width, "height": 800},
                is_mobile=width < 600,
                color_scheme="dark" if dark else "light",
                java_script_enabled=script,
            )
        )
        page.set_default_timeout(60_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri() + (f"#{view}" if view else ""))
        if script:
            page.wait_for_selector("html.js", state="attached")
        return page

    with ExitStack() as windows:
        yield call


@pytest.fixture(params=["covid", "evil"])
def report(request, pages):
    return pages / f"{request.param}.html"


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("width", WIDTHS)
def test_views_render_without_errors_and_requests(show, report, width, view, complaints, requests):
    page = show(report, width, view)
    page.wait_for_timeout(50)
    assert complaints == []
    assert [one.partition("#")[0] for one in requests] == [report.as_uri()]
    assert page.evaluate(SHOWN) == [view]
    scrolled, wide = page.evaluate(OVERFLOW)
    assert wide == []
    assert scrolled <= width


def test_errors_of_the_page_are_collected(show, pages, tmp_path, complaints):
    wrong = tmp_path / "wrong.html"
    text = (pages / "evil.html").read_text(encoding="utf-8")
    wrong.write_text(text.replace("</main>", "</main><script>window.hacked = 3</script>"), encoding="utf-8")
    page = show(wrong, 800)
    assert "Content Security Policy" in str(complaints)
    assert page.evaluate("() => window.hacked") is None


@pytest.mark.smoke
def test_without_javascript_the_page_is_a_table(show, pages):
    page = show(pages / "covid.html", script=False)
    rows = page.locator("#board tbody tr")
    assert rows.count() == 20
    first = " ".join(rows.first.inner_text().split())
    scores = ir_graded.evaluate("Q", ir_graded.sample().qrels, ir_graded.sample().runs).mean()["Q"]
    assert first.startswith(f"{scores.index[0]} {scores.iloc[0]:.4f} ")
    assert not page.locator("#bar").is_visible()
    assert page.locator("#computed").is_visible()


# ------------------------------------------------------------------------------------ leaderboard


def test_a_run_is_one_line_with_its_full_name(show, pages):
    page = show(pages / "covid.html", 1300)
    heights = page.evaluate(
        "() => [...document.querySelectorAll('#board tbody tr')].map(e => e.getBoundingClientRect().height)"
    )
    assert len(heights) == 20
    assert max(heights) <= 25
    widths = "e => [e.scrollWidth, e.clientWidth]"
    names = [name.evaluate(widths) for name in page.locator("#board .run").all()]
    assert [one for one in names if one[0] > one[1] + 1] == []
    page.click("text=Roomy")
    assert page.locator("#board tbody tr").first.bounding_box()["height"] >= 33


@pytest.mark.smoke
def test_the_leaderboard_sorts_by_click_and_keyboard(show, pages, complaints):
    page = show(pages / "covid.html")
    frame = ir_graded.evaluate(MEASURES, ir_graded.sample().qrels, ir_graded.sample().runs).mean()
    assert page.evaluate(NAMES) == frame.index.tolist()
    page.click("#board thead button:has-text('P-measure')")
    second = frame.iloc[:, 1]
    ordered = page.evaluate(NAMES)
    assert second[ordered].tolist() == sorted(second, reverse=True)
    head = page.locator("#board th[aria-sort]")
    assert (head.count(), head.get_attribute("aria-sort")) == (1, "descending")
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert second[page.evaluate(NAMES)].tolist() == sorted(second)
    assert page.locator("#said").text_content() == "Sorted by P-measure, ascending"
    page.click("#board thead button:has-text('Run')")
    names = page.evaluate(NAMES)
    assert names == sorted(names, key=str.lower)
    assert complaints == []


def test_runs_are_filtered_and_pinned(show, pages):
    page = show(pages / "covid.html")
    page.keyboard.press("/")
    page.keyboard.type("bm25")
    assert page.evaluate(NAMES) == ["BM25R2", "PS-r1-bm25all", "bm25_baseline"]
    assert page.locator("#count").text_content() == "3 of 20 runs"
    page.keyboard.press("Escape")
    page.locator("#board tr[data-run]", has_text="poznan_run1").focus()
    page.keyboard.press("p")
    assert page.evaluate(NAMES)[0] == "poznan_run1"
    page.fill("#filter", "bm25")
    assert page.evaluate(NAMES)[:2] == ["poznan_run1", "BM25R2"]
    page.click("text=Pinned only")
    assert page.evaluate(NAMES) == ["poznan_run1"]
    assert "pin=poznan_run1" in page.url


def test_columns_are_chosen(show, pages):
    page = show(pages / "covid.html")
    heads = "() => [...document.querySelectorAll('#board thead th')].map(e => e.textContent.split(' ')[0])"
    before = page.evaluate(heads)
    page.click("#tools button:has-text('P-measure')")
    after = page.evaluate(heads)
    assert len(after) == len(before) - 1
    page.click("#tools button:has-text('RBO')")
    assert "RBO" in page.evaluate(heads)[-1]


def test_a_row_opens_with_what_was_computed(show, pages):
    page = show(pages / "covid.html")
    row = page.locator("#board tr[data-run]").first
    row.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    opened = page.locator("#board tr.opened")
    name = page.evaluate(NAMES)[1]
    covid = ir_graded.sample()
    scores = ir_graded.evaluate(MEASURES, covid.qrels, covid.runs)
    tests = ir_graded.meta.differences(scores, "base.unipd.it").to_frame()
    expected = tests[tests["run"] == name].iloc[0]
    text = opened.inner_text()
    assert f"{scores.mean().loc[name, 'Q']:.4f}" in text
    assert f"{expected['difference']:+.4f}".replace("-", MINUS) in text
    assert page.locator("#board [aria-expanded=true]").inner_text() == name
    page.keyboard.press("Enter")
    assert opened.count() == 0


# ------------------------------------------------------------------------------------ two runs


@pytest.mark.smoke
def test_two_runs_are_chosen_and_compared(show, pages):
    page = show(pages / "covid.html")
    page.locator("#board tr[data-run]", has_text="BBGhelani1").focus()
    page.keyboard.press("a")
    page.locator("#board tr[data-run]", has_text="poznan_run1").hover()
    page.click("#board button[aria-label='Choose poznan_run1 as B']")
    page.click("#tabs >> text=Compare")
    covid = ir_graded.sample()
    runs = {name: covid.runs[name] for name in ("BBGhelani1", "poznan_run1")}
    scores = ir_graded.evaluate("Q", covid.qrels, runs)
    found = ir_graded.meta.differences(scores, "poznan_run1", test="t")
    numbers = f"{found.difference[0]:+.3f} [{found.low[0]:+.3f}, {found.high[0]:+.3f}]".replace("-", MINUS)
    verdict = page.locator("#compare .verdict").text_content()
    assert verdict == f"BBGhelani1 is better than poznan_run1 by Q: {numbers} uncorrected, this pair alone"
    matrix = scores.matrix("Q")
    expected = (matrix["BBGhelani1"] - matrix["poznan_run1"]).sort_values(ascending=False)
    shown = page.locator("#compare .topic-list .id").all_text_contents()
    assert (shown[0], shown[-1]) == (expected.index[0], expected.index[-1])
    assert len(shown) == 30
    page.click("button[aria-label='Swap A and B']")
    assert "poznan_run1 is worse than BBGhelani1" in page.locator("#compare .verdict").text_content()
    page.fill("input[aria-label='Run B']", "CSIROmed_RF")
    page.keyboard.press("Enter")
    assert "CSIROmed_RF" in page.locator("#compare .verdict").text_content()
    page.fill("input[aria-label='Run B']", "nobody")
    page.keyboard.press("Enter")
    assert page.input_value("input[aria-label='Run B']") == "CSIROmed_RF"


OPEN = "is not shown to differ from"
WORDS = {"better": "is better than", "worse": "is worse than", "inconclusive": OPEN, "not worse": OPEN}


@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_with_the_baseline_have_its_corrected_verdict(show, tmp_path, weighted):
    covid, baseline = ir_graded.sample(), "KU_run1"
    topics = covid.qrels["query_id"].unique()
    options = {"weights": {topic: 1 + at % 3 for at, topic in enumerate(topics)}} if weighted else {}
    place = tmp_path / "page.html"
    ir_graded.report("nDCG@10", covid.qrels, covid.runs, place, baseline=baseline, **options)
    scores = ir_graded.evaluate("nDCG@10", covid.qrels, covid.runs)
    tests = ir_graded.meta.differences(scores, baseline, **options).to_frame()
    assert {"better", "worse", "inconclusive"} <= {*tests["verdict"]}
    alone = ir_graded.meta.differences(scores, baseline, test="t", correction="none", **options).to_frame()
    assert (alone["verdict"] != tests["verdict"]).any()
    page = show(place, view=f"compare?b={baseline}")
    for row in tests.itertuples():
        page.get_by_label("Run A").fill(row.run)
        page.get_by_label("Run A").press("Enter")
        p = p_text(row.p_corrected)
        said = f"p {'= ' * (p[0] != '<')}{p} corrected for 19 runs"
        text = page.locator("#compare .verdict").text_content()
        assert text.startswith(f"{row.run} {WORDS[row.verdict]} {baseline} by nDCG@10: ")
        assert text.endswith(said if weighted else "] uncorrected, this pair alone")
        assert f", {said}" in text
    page.click("button[aria-label='Swap A and B']")
    other = {"better": "worse", "worse": "better"}.get(row.verdict, row.verdict)
    swapped = page.locator("#compare .verdict").text_content()
    assert swapped.startswith(f"{baseline} {WORDS[other]} {row.run} by ")
    assert ("topics, not weighted" in page.locator("#compare dl").text_content()) == weighted


def test_runs_with_more_than_a_tenth_unjudged_are_counted(show, tmp_path):
    qrels = {topic: {f"d{at}": 1 + at % 2 for at in range(10)} for topic in "12"}
    runs = {
        name: {
            topic: {f"{'d' if at >= n else name}{at}": float(9 - at) for at in range(10)}
            for topic, n in lacks
        }
        for name, lacks in {
            "tenth": [("1", 1), ("2", 1)],
            "more": [("1", 1), ("2", 2)],
            "none": [("1", 0), ("2", 0)],
        }.items()
    }
    ir_graded.report("Q", qrels, runs, tmp_path / "page.html")
    text = show(tmp_path / "page.html").locator("#answers").inner_text()
    assert "more 15 %; 1 run above 10 %" in text


def test_two_runs_are_compared_by_a_geometric_mean_without_a_test(show, tmp_path):
    covid = ir_graded.sample()
    runs = {name: covid.runs[name] for name in ("BBGhelani1", "poznan_run1")}
    ir_graded.report(["GMAP", "AP"], covid.qrels, runs, tmp_path / "page.html")
    page = show(tmp_path / "page.html", view="compare")
    means = ir_graded.evaluate("GMAP", covid.qrels, runs).mean()["GM(measure='AP')"]
    difference = f"{means['BBGhelani1'] - means['poznan_run1']:+.3f}"
    verdict = page.locator("#compare .verdict").text_content()
    assert verdict == f"BBGhelani1 against poznan_run1 by GM(measure='AP'): {difference}"
    assert page.locator("#compare > .key").last.text_content() == "A geometric mean is not tested."
    page.select_option("select[aria-label='Measure']", "AP")
    assert "is better than" in page.locator("#compare .verdict").text_content()


def test_a_bar_shows_its_topic_and_opens_it(show, pages):
    page = show(pages / "covid.html", view="compare?a=BBGhelani1&b=poznan_run1&m=Q&t=1")
    bar = page.locator("#compare g[data-topic]").first
    bar.hover()
    tip = page.locator("#tip").inner_text()
    topic = re.match(r"topic (\d+)", tip)[1]
    assert f"A {MINUS} B +" in tip
    bar.click()
    assert page.locator("#topic .verdict .id").text_content() == topic
    assert page.url.endswith(f"t={topic}")


# ------------------------------------------------------------------------------ topics, measures


def test_the_heatmap_names_its_cells(show, pages):
    page = show(pages / "covid.html", view="topics")
    canvas = page.locator("#topics canvas")
    assert canvas.get_attribute("role") == "img"
    matrix = ir_graded.evaluate("Q", ir_graded.sample().qrels, ir_graded.sample().runs).matrix("Q")
    hard, best = matrix.mean(axis=1).idxmin(), matrix.mean().idxmax()
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 3)
    assert page.locator("#tip").inner_text().split("\n")[:2] == [best, f"topic {hard}"]
    assert f"Q {matrix.loc[hard, best]:.4f}" in page.locator("#tip").inner_text()
    canvas.focus()
    page.keyboard.press("ArrowDown")
    said = page.locator("#cell").text_content()
    topic = re.search(r"topic (\d+)", said)[1]
    page.keyboard.press("Enter")
    assert page.locator("#topic .verdict .id").text_content() == topic
    page = show(pages / "covid.html", view="topics")
    page.click("text=By topic id")
    assert page.locator("#topics .heat-topics .id").all_text_contents() == [str(one) for one in range(1, 31)]
    page.click("text=Against the topic")
    assert page.locator("#topics button[aria-pressed=true]").count() == 2


def test_measures_show_agreement_and_moves(show, pages):
    page = show(pages / "covid.html", view="measures")
    means = ir_graded.evaluate(MEASURES, ir_graded.sample().qrels, ir_graded.sample().runs).mean()
    tau = ir_graded.meta.kendall_tau_b(means.iloc[:, 1], means.iloc[:, 2])
    page.click("#measures .tau tbody tr:nth-child(2) td:nth-child(3) button")
    assert page.locator("#measures .tau .here").inner_text() == f"{tau:.2f}"
    assert page.locator("#measures h2").text_content().startswith("Who gains under NCU")
    ranks = means.rank(ascending=False, method="min")
    moved = (ranks.iloc[:, 1] - ranks.iloc[:, 2]).abs().sort_values(ascending=False)
    first = page.locator("#measures .plain tbody tr").first.inner_text().split("\t")
    assert int(first[-1].split()[-1]) == moved.iloc[0]
    page.locator("#measures .plain tbody tr button").first.click()
    assert page.locator("#runs tr.opened").count() == 1


# ------------------------------------------------------------------------------------ one topic


def test_the_lists_of_two_runs_are_side_by_side(show, pages):
    page = show(pages / "covid.html", view="topic?a=BBGhelani1&b=poznan_run1&m=Q&t=3")
    covid = ir_graded.sample()
    page.click("summary")
    cells = [row.split("\t") for row in page.locator("#topic details tbody tr").all_inner_texts()]
    judged = covid.qrels[covid.qrels["relevance"] >= 0].itertuples()
    levels = {(row.query_id, row.doc_id): f"level {row.relevance}" for row in judged}
    for name, column in (("BBGhelani1", 1), ("poznan_run1", 4)):
        run = covid.runs[name]
        run = run[run["query_id"] == "3"].sort_values(["score", "doc_id"], ascending=False)["doc_id"].tolist()
        assert [row[column] for row in cells] == run[:20]
        assert [row[column + 1] for row in cells] == [levels.get(("3", doc), "unjudged") for doc in run[:20]]
        explained = ir_graded.explain("Q", covid.qrels, covid.runs[name], "3").to_frame()
        adds = dict(zip(explained["doc_id"], explained["contribution"], strict=True))
        assert [float(row[column + 2]) for row in cells] == pytest.approx(
            [adds.get(doc, 0) for doc in run[:20]], abs=6e-5
        )
    relevant = covid.qrels[(covid.qrels["query_id"] == "3") & (covid.qrels["relevance"] >= 1)]
    best = sorted(relevant.itertuples(), key=lambda row: (-row.relevance, row.doc_id))
    for name, column, part in (("BBGhelani1", 1, 0), ("poznan_run1", 4, 2)):
        listed = [row[column] for row in cells]
        run = covid.runs[name]
        run = run[run["query_id"] == "3"].sort_values(["score", "doc_id"], ascending=False)["doc_id"].tolist()
        missed = [row.doc_id for row in best if row.doc_id not in listed]
        assert page.locator("#topic .missed p").nth(part).locator("span").all_text_contents() == [
            f"Missed: {len(missed)} of {len(best)} documents of level 1 or higher",
            *(
                f" {doc} {f'rank {run.index(doc) + 1}' if doc in run else 'not retrieved'}"
                for doc in missed[:10]
            ),
            f"and {len(missed) - 10} more",
        ]
    page.locator("#topic svg rect.level").first.hover()
    assert f"{cells[0][1]}, rank 1, {cells[0][2]}" in page.locator("#tip").inner_text()
    page.click("button[aria-label='Next topic']")
    assert page.locator("#topic .verdict .id").text_content() == "4"
    page.reload()
    page.wait_for_selector("html.js", state="attached")
    assert page.locator("#topic .verdict .id").text_content() == "4"


# ---------------------------------------------------------------------------- readers and paper


@pytest.mark.parametrize("view", VIEWS)
def test_controls_tables_and_pictures_have_names(show, report, view):
    page = show(report, 1280, view)
    page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = true; })")
    lacking = page.evaluate(
        """() => {
          const seen = e => !e.closest("[hidden]");
          const name = e => (e.getAttribute("aria-label") ?? e.textContent).trim();
          return [
            ...[...document.querySelectorAll("button, a, summary")].filter(e => !name(e)),
            ...[...document.querySelectorAll("input, select, canvas, section")].filter(
                e => !e.getAttribute("aria-label")),
            ...[...document.querySelectorAll("svg")].filter(
                e => e.getAttribute("role") !== "img" || !name(e)),
            ...[...document.querySelectorAll("table")].filter(
                t => seen(t) && !t.tHead && !t.caption),
            ...[...document.querySelectorAll("thead th")].filter(th => th.scope !== "col"),
          ].map(e => e.outerHTML.slice(0, 120));
        }"""
    )
    assert lacking == []
    ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    assert page.locator("h1").count() == 1
    assert page.locator("html").get_attribute("lang") == "en"


def test_tables_without_a_view_sort_with_missing_values_last(show, pages):
    page = show(pages / "evil.html", view="unjudged")
    for _ in range(2):
        page.click("#unjudged thead th:nth-child(2) button")
        last = page.locator("#unjudged tbody tr").last.inner_text()
        assert last.startswith("nothing")


def test_the_first_tab_stop_is_a_skip_link(show, pages):
    page = show(pages / "covid.html", 360)
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "main"


@pytest.mark.parametrize("view", VIEWS)
def test_names_are_shown_as_text_only(show, pages, view):
    page = show(pages / "evil.html", 1280, view)
    page.mouse.move(400, 300)
    assert page.evaluate("() => window.hacked") is None
    assert page.evaluate("() => document.scripts.length") == 2
    assert sorted(show(pages / "evil.html").evaluate(NAMES)) == sorted([EVIL, OTHER, "nothing", "partly"])


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("view", VIEWS)
def test_text_has_contrast_and_is_large_enough(show, pages, view, dark):
    page = show(pages / "covid.html", 1280, view, dark=dark)
    found = page.evaluate(CONTRASTS)
    assert len(found) > 20
    assert [one for one in found if one[0] < 4.5] == []
    # Marks of significance are triangles.
    assert [one for one in found if one[1] < 10 and "aria-hidden" not in one[2]] == []
    paper = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") != dark


def test_an_open_row_has_a_heading_for_each_cell(show, pages):
    page = show(pages / "covid.html")
    page.locator("#board tbody tr").first.click()
    cells = "e => [...e.querySelectorAll('.opened tr')].map(row => row.cells.length)"
    assert len({*page.locator("#board").evaluate(cells)}) == 1


def test_the_browser_goes_back_to_the_view_before(show, pages):
    page = show(pages / "covid.html")
    page.locator("#tabs a", has_text="Topics").click()
    page.locator(".heat-topics button").first.click()
    assert page.evaluate(SHOWN) == ["topic"]
    page.go_back()
    assert page.evaluate(SHOWN) == ["topics"]
    page.go_back()
    assert page.evaluate(SHOWN) == ["runs"]


def test_confidence_sets_are_shown_beside_ranks_of_their_measure_only(show, pages):
    page = show(pages / "covid.html")
    sets = page.locator("#board tbody .set")
    assert sets.first.inner_text() != ""
    page.get_by_label("Measure", exact=True).select_option("P-measure")
    assert {*sets.all_inner_texts()} == {""}
    assert page.locator("#board tr.first").count() == 0


def test_part_of_a_name_chooses_the_best_run_with_it(show, pages):
    page = show(pages / "covid.html", view="compare")
    page.get_by_label("Run A").fill("bm25")
    page.get_by_label("Run A").press("Enter")
    names = [*ir_graded.evaluate("Q", ir_graded.sample().qrels, ir_graded.sample().runs).mean().index]
    assert page.get_by_label("Run A").input_value() == next(name for name in names if "bm25" in name.lower())


def test_numbers_on_axes_have_no_rounding_errors(show, pages):
    page = show(pages / "covid.html", view="compare")
    for name in ir_graded.sample().runs:
        page.get_by_label("Run B").fill(name)
        page.get_by_label("Run B").press("Enter")
        texts = page.locator("#compare svg text").all_text_contents()
        assert not [text for text in texts if re.search(r"\de", text)]


# ------------------------------------------------------------------------------------ every size

SIZES = "() => [...document.querySelectorAll('svg text')].map(e => e.getBoundingClientRect().height)"


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Return a page of two runs and 400 topics."""
    rng = np.random.default_rng(3)
    rows = [
        {"run": run, "query_id": f"q{topic}", "measure": "grade", "value": round(float(rng.random()), 3)}
        for run in ("one", "two")
        for topic in range(400)
    ]
    place = tmp_path_factory.mktemp("large") / "large.html"
    ir_graded.report(ir_graded.Scores.from_frame(pd.DataFrame(rows), ranges={"grade": (0, 1)}), path=place)
    return place


@pytest.mark.smoke
def test_many_topics_are_binned_and_searched(show, large, complaints):
    page = show(large, 1300, "compare")
    topics = page.locator("#compare .topic-list .id")
    assert topics.count() == 40
    squares = page.locator("#compare svg").last.locator("rect")
    assert 100 < squares.count() < 400
    assert page.locator("#compare svg").last.locator("circle").count() == 0
    # Names of topics in the picture of the differences do not hide one another.
    names = page.locator("#compare svg").nth(1).locator("text", has_text="q").all()
    assert len(names) == 2
    page.get_by_label("Find a topic").fill("q39")
    assert {*topics.all_text_contents()} == {"q39", *(f"q{topic}" for topic in range(390, 400))}
    page.get_by_label("Find a topic").fill("nothing")
    assert topics.count() == 0
    page.click("#tabs >> text=Topics")
    assert page.locator(".heat-topics li").count() == 300
    assert complaints == []


def test_the_interval_of_a_difference_is_visible(show, large):
    page = show(large, 1300, "compare")
    ends = re.search(r"\[(.*), (.*)\]", page.locator("#compare .verdict").text_content()).groups()
    strip = page.locator("#compare svg").first
    assert strip.get_attribute("aria-label").endswith(f"interval from {ends[0]} to {ends[1]}")
    assert strip.locator(".span").bounding_box()["width"] > 100


def test_cells_of_few_runs_are_narrow_and_named(show, large):
    page = show(large, 1300, "topics")
    assert page.locator("canvas").bounding_box()["width"] == pytest.approx(112, abs=1)
    marks = [page.locator(f".marks .of-{side}").bounding_box() for side in "ab"]
    assert marks[0]["x"] + marks[0]["width"] < marks[1]["x"]


@pytest.mark.parametrize("width", [390, 1300])
@pytest.mark.parametrize("view", ["compare", "measures", "topic"])
def test_letters_in_pictures_are_large_enough(show, pages, width, view):
    sizes = show(pages / "covid.html", width, view).evaluate(SIZES)
    assert len(sizes) > 10
    assert min(sizes) >= 10


def test_axes_of_the_leaderboard_have_a_scale(show, pages):
    page = show(pages / "covid.html", 1300)
    counts = "() => [...document.querySelectorAll('.scale')].map(e => e.children.length)"
    assert {*page.evaluate(counts)} <= {2, 3}


def test_a_phone_shows_rank_sets_intervals_and_contributions(show, pages):
    page = show(pages / "covid.html", 390)
    assert re.fullmatch(r"rank \d+\u2013\d+", page.locator("#board small.set").first.inner_text())
    assert page.locator("#board tbody .axis").first.bounding_box()["width"] >= 60
    page.click("#tabs >> text=One topic")
    assert page.locator("#topic .adds-a").count() > 0


def test_legends_are_those_of_the_columns(show, pages):
    page = show(pages / "covid.html")
    legend = page.locator("[data-column=rbo]")
    assert not legend.is_visible()
    page.click("#tools button:has-text('RBO')")
    assert legend.is_visible()


def test_the_command_is_whole_and_can_be_copied(show, pages):
    page = show(pages / "covid.html", 390, "computed")
    command = page.locator("#command")
    assert command.evaluate("e => e.scrollWidth <= e.clientWidth")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("text=Copy")
    page.wait_for_function("() => document.getElementById('said').textContent")
    assert page.locator("#said").text_content() == "Copied"
    assert page.evaluate("() => navigator.clipboard.readText()") == command.text_content()


def pages_of(pdf):
    return len(re.findall(rb"/Type\s*/Page[^s]", pdf))


def test_print_has_all_views_on_few_pages(show, pages):
    page = show(pages / "covid.html")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert page.locator("main > section:not([hidden])").count() == len(VIEWS)
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.locator("main > section:not([hidden])").count() == 1
    assert pages_of(page.pdf(prefer_css_page_size=True)) <= 9


def test_print_shows_intervals_and_all_columns(show, pages):
    page = show(pages / "covid.html", 720)  # about the width of A4
    page.emulate_media(media="print")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    # Browsers leave out backgrounds otherwise, of which intervals and bars consist.
    exact = "e => getComputedStyle(e).printColorAdjust || getComputedStyle(e).webkitPrintColorAdjust"
    assert page.locator("#board .axis .bar").first.evaluate(exact) == "exact"
    assert page.evaluate("() => board.offsetWidth <= board.parentElement.clientWidth + 1")


@pytest.mark.release
@needs_shared_data
@pytest.mark.filterwarnings("ignore:Run 'uab.idf' lacks:ir_graded.CoverageWarning")
def test_a_hundred_runs_are_small_quick_and_print_on_twelve_pages(show, tmp_path, complaints):
    qrels = ir_graded.read_qrels(ROOT / "trec-covid/qrels/qrels.covid-round5.txt.gz")
    runs = ranked_runs("round5.judged.tsv.xz")
    place = tmp_path / "page.html"
    measures = ["Q", "P+", "NCU", "nDCG@10", "AP", "RR", "P@10"]
    ir_graded.report(measures, qrels, runs, place, baseline="BRPHJ_BM25")
    assert place.stat().st_size < 3_000_000
    page = show(place, 1300)
    rows = page.locator("#board tbody tr")
    assert rows.count() == len(runs) == 126
    assert page.evaluate(HEIGHT) < 126 * 25 + 60
    for view in VIEWS:
        page.click(f"#tabs a[href='#{view}']")
    assert complaints == []
    assert pages_of(page.pdf(prefer_css_page_size=True)) <= 12
