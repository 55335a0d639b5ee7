"""The report as a file: its numbers, its command, reproducible bytes, and atomic writes."""

import html
import json
import os
import re
import shlex
import warnings
import zlib
from base64 import b64decode
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from statistics import stdev

import ir_measures
import numpy as np
import pandas as pd
import pytest
from helpers import covid_sample
from reference import sample_size as plain

pytest.importorskip("jinja2")

from click.testing import CliRunner

import ir_graded
from ir_graded._utils import atomic_files as files
from ir_graded.cli.main import commands
from ir_graded.errors import CoverageWarning, InputError, ParameterError
from ir_graded.evaluation.signature import weights_hash
from ir_graded.meta.differences import p_text
from ir_graded.reporting import contents, page

# The runs lack topics on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")


QRELS = {"1": {"a": 2, "b": 1}, "2": {"c": 1, "d": 0}, "3": {"e": 1, "f": -1}}
RUNS = {
    "one": {"1": {"a": 2.0, "x": 1.0}, "2": {"c": 1.0}, "3": {"e": 1.0}},
    "two": {"1": {"x": 2.0, "b": 1.0}, "2": {"c": 1.0}, "3": {"x": 2.0, "e": 1.0}},
    "three": {"1": {"b": 1.0}},
}
VOID = {"meta", "link", "img", "br"}


class Page(HTMLParser):
    """Collect the tags of a page, which must be balanced, and its text by tag."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.text = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs)
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def data_of(text):
    """Return the data of the views."""
    (packed,) = re.findall(r'id="data">([^<]*)<', text)
    return json.loads(zlib.decompress(b64decode(packed)))


def made(tmp_path, measures=("Q", "AP"), qrels=QRELS, runs=RUNS, **options):
    place = tmp_path / "page.html"
    ir_graded.report(list(measures), qrels, runs, place, **options)
    return place.read_text(encoding="utf-8")


#: By hand: Q and AP of the three topics. In topic 1, "one" finds a, "two" b at rank 2, "three" b, where Q is
#: (1 + 2) / (1 + 2), (1 + 1) / (2 + 3) and (1 + 1) / (1 + 2), halved. In topic 3, "two" finds e at rank 2.
BY_TOPIC = {
    "one": {"Q": (1 / 2, 1, 1), "AP": (1 / 2, 1, 1)},
    "two": {"Q": (1 / 5, 1, 2 / 3), "AP": (1 / 4, 1, 1 / 2)},
    "three": {"Q": (1 / 3, 0, 0), "AP": (1 / 2, 0, 0)},
}
#: Of the 8 ways to change signs of the differences to "three", so many have a mean as far from 0: those with
#: all or no signs changed, and that of topic 1 if this does not bring the mean nearer. By Q, the largest T
#: of both runs reaches that of "one" with two patterns, by AP with four.
P_CORRECTED = {"one": {"Q": 2 / 8, "AP": 4 / 8}, "two": {"Q": 4 / 8, "AP": 4 / 8}}


@cache
def detectable_by_three():
    """Return the difference that three topics detect, in standard deviations of the differences."""
    return plain.detectable(lambda d: plain.power_paired_t(d, 3, alpha=0.025))


@pytest.mark.slow
def test_the_page_contains_the_numbers(tmp_path):
    text = made(tmp_path, baseline="three", rng=4)
    said = " ".join(" ".join(Page(text).text).split())
    board = said[said.index(" Run Q AP ") : said.index("are too few for a significant difference")]
    assert re.findall(r" (one|two|three) ", board) == ["one", "two", "three"]  # best first
    number = "([-+]?[0-9.]+)"
    for run, by_measure in BY_TOPIC.items():
        # The differences of topics to "three" are all distinct, so each has a detectable difference.
        against = rf" {number}, p = {number} detects {number}" if run != "three" else ""
        [found] = re.findall(f"{run}(?: baseline)?" + f" {number} too few topics{against}" * 2, board)
        half = len(found) // 2
        for (measure, scores), cells in zip(by_measure.items(), (found[:half], found[half:]), strict=True):
            expected = [sum(scores) / 3]
            if run != "three":
                expected += [(sum(scores) - sum(BY_TOPIC["three"][measure])) / 3, P_CORRECTED[run][measure]]
                z = [one - other for one, other in zip(scores, BY_TOPIC["three"][measure], strict=True)]
                assert float(cells[-1]) == pytest.approx(detectable_by_three() * stdev(z), abs=5.1e-4)
            printed = [*map(float, cells[: len(expected)])]
            assert printed[:2] == pytest.approx(expected[:2], abs=5.1e-4)
            assert printed[2:] == pytest.approx(expected[2:], abs=0.05)  # out of 4,000 replicates
    data = data_of(text)
    assert (data["runs"], data["measures"], data["topics"]) == ([*RUNS], ["Q", "AP"], ["1", "2", "3"])
    for at, name in enumerate(data["measures"]):
        expected = np.array([BY_TOPIC[run][name] for run in RUNS])
        assert np.array(data["scores"][at]) == pytest.approx(expected, abs=6e-6)
        assert np.array(data["mean"][at]) == pytest.approx(expected.mean(axis=1), abs=6e-7)
        assert data["low"][at] == data["high"][at] == [None] * 3
    assert "Student's interval of the mean over topics, level 95%" in said
    assert "all 8 sign patterns, p =" in said
    assert "for 2 comparisons by each measure" in said
    assert f"ir_graded {ir_graded.__version__}, Python" in said


@pytest.mark.slow
def test_the_p_values_are_those_of_differences_and_of_tables(tmp_path):
    covid = covid_sample()
    baseline = "bm25_baseline"
    text = made(tmp_path, ["nDCG@10"], covid.qrels, covid.runs, baseline=baseline, confidence=0.999)
    assert "100,000 replicates, seed 0, p =" in text
    scores = ir_graded.evaluate(["nDCG@10"], covid.qrels, covid.runs)
    tests = ir_graded.meta.differences(scores, baseline, alpha=0.001)
    printed = [f"p = {p:.3f}" if p >= 0.001 else "p < 0.001" for p in tests.p_corrected]
    assert Counter(re.findall(r"p [=<] [01]\.\d{3}(?=[< ])", html.unescape(text))) == Counter(printed)
    significant = int(tests.significant.sum())
    assert text.count('class="unseen">significantly') == significant > 0
    signs = re.findall("<sup>[†‡]</sup>", scores.to_html(baseline=baseline, alpha=0.001))
    assert len(signs) == significant + 2  # caption


@pytest.mark.slow
def test_a_page_of_too_few_topics_claims_no_significance(tmp_path):
    with pytest.warns(ir_graded.CoverageWarning, match=r"on 3 topics \(p >= 0\.25\)"):
        text = made(tmp_path, ["Q"], baseline="one")
    assert "3 topics are too few for a significant difference from the baseline at 0.05" in text
    assert "significantly better" not in text[: text.index("<script")]
    assert "all 8 sign patterns, p = share" in text
    text = made(tmp_path, ["Q"], baseline="one", confidence=0.4)
    assert "significantly better</span> or" in text


@pytest.mark.slow
def test_a_level_without_any_significant_difference_is_an_error(tmp_path):
    covid = covid_sample()
    with pytest.raises(ParameterError, match=r"n_resamples=100000: with 19 tests .* use n_resamples=1000000"):
        made(tmp_path, ["Q"], covid.qrels, covid.runs, baseline="bm25_baseline", confidence=0.999995)


@pytest.mark.slow
def test_significant_differences_are_marked(tmp_path):
    qrels = {str(topic): {"a": 1} for topic in range(12)}
    good, bad = ({topic: {"a": score, "x": 1.0} for topic in qrels} for score in (2.0, 0.5))
    text = made(tmp_path, ["RR"], qrels, {"good": good, "again": good, "bad": bad}, baseline="bad")
    assert text.count('class="unseen">significantly better') == 2
    assert text.count('class="unseen">significantly worse') == 0
    text = made(tmp_path, ["RR"], qrels, {"good": good, "again": good, "bad": bad}, baseline="good")
    assert text.count('class="unseen">significantly worse') == 1
    assert ">+0.0000, p = 1.000<" in text


@pytest.mark.slow
def test_the_page_is_well_formed_and_makes_no_request(tmp_path):
    found = Page(made(tmp_path, baseline="one"))
    ids = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in found.tags:
        for name in ("aria-labelledby", "aria-describedby"):
            assert attrs.get(name, ids[0]) in ids
        for name in ("src", "href"):
            assert attrs.get(name, "#").startswith(("#", "data:"))
        assert not [name for name in attrs if name.startswith("on")]
    assert [attrs["href"][1:] for attrs in found.all("a") if attrs["href"][1:] not in ids] == []
    assert [attrs.get("type") for attrs in found.all("script")] == ["application/zlib", None]
    assert found.all("img") == []


@pytest.mark.slow
def test_equal_input_gives_equal_bytes(tmp_path):
    (tmp_path / "other").mkdir()
    assert made(tmp_path, baseline="one") == made(tmp_path / "other", baseline="one")
    assert made(tmp_path, rng=1) != made(tmp_path, rng=2)


class Opened(dict):
    """Qrels or a run that count the times they are read."""

    def __init__(self, topics):
        super().__init__(topics)
        self.times = 0

    def items(self):
        self.times += 1
        return super().items()


def test_qrels_are_read_twice_and_runs_three_times(tmp_path):
    qrels, runs = Opened(QRELS), {name: Opened(run) for name, run in RUNS.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir_graded.CoverageWarning)
        made(tmp_path, qrels=qrels, runs=runs)
    # Runs once more for the lists, and all once more for the signature.
    assert [one.times for one in (qrels, *runs.values())] == [2, *[3] * len(runs)]


def test_the_page_names_runs_with_missing_topics(tmp_path):
    with pytest.warns(ir_graded.CoverageWarning) as caught:
        found = Page(made(tmp_path))
    assert [one.filename for one in caught] == [__file__]
    assert found.all("p").count({"class": "caution"}) == 1
    assert str(caught[0].message) in "".join(found.text)
    assert "Run 'three' lacks 2 of the 3 topics of the qrels (the first is '2')" in "".join(found.text)


def test_counts_are_shown_as_means_with_a_note(tmp_path):
    assert "Shown as its mean over the topics" in made(tmp_path, ["Q", "NumRet"])
    assert "Shown as its mean over the topics" not in made(tmp_path, ["Q"])


@pytest.mark.parametrize("first", ["AP", "GMAP"])
@pytest.mark.parametrize("baseline", [None, "two"])
def test_geometric_means_are_shown_with_intervals_and_not_tested(tmp_path, first, baseline):
    text = made(tmp_path, sorted(["AP", "GMAP"], key=first.__ne__), baseline=baseline)
    data = data_of(text)
    at = data["measures"].index("GM(measure='AP')")
    assert data["geometric"] == [number == at for number in (0, 1)]
    assert data["mean"][at] == pytest.approx([0.5 ** (1 / 3), 0.5, (0.5e-10) ** (1 / 3)], abs=5.1e-7)
    # One score of three differs, so that all intervals are wider than half the range.
    assert data["low"][at] == data["high"][at] == [None] * 3
    assert (data["ranks"] is None) == (first == "GMAP")
    said = " ".join(html.unescape(" ".join(Page(text).text)).split())
    assert "Shown as the geometric mean over the topics, which is not tested." in said
    assert ("only arithmetic means over the topics: GM(measure='AP')." in said) == (baseline is not None)
    if baseline is not None:
        assert set(data["p"][at]) == {""}
        assert set(data["difference"][at]) == {None}
        assert "" not in {*data["p"][1 - at][:1], *data["p"][1 - at][2:]}


@pytest.mark.slow
def test_geometric_means_have_intervals_from_unjudged_documents(tmp_path):
    runs = {name: covid_sample().runs[name] for name in [*covid_sample().runs][:2]}
    text = made(tmp_path, ["AP", "GMAP"], covid_sample().qrels, runs, n_samples=20, depth=20)
    found = ir_graded.score_intervals("AP GMAP", covid_sample().qrels, runs, n_samples=20, depth=20)
    for mean, low, high in found.overall.reshape(3, -1).T:
        assert f"{mean:.3f} [{low:.3f}, {high:.3f}]" in text


def test_too_many_documents_are_left_out(tmp_path, monkeypatch):
    listed = sum(len(docs) for run in RUNS.values() for topic, docs in run.items())
    monkeypatch.setattr(contents, "_MOST_LISTED", listed - 1)
    assert data_of(made(tmp_path))["lists"] is None
    monkeypatch.setattr(contents, "_MOST_LISTED", listed)
    assert data_of(made(tmp_path))["lists"] is not None


def test_a_script_as_a_name_stays_text(tmp_path):
    evil = "<script>alert(1)</script>"
    runs = {evil: RUNS["one"], "\" onerror='x'": RUNS["two"]}
    qrels = QRELS | {evil: {"a": 1}}
    found = Page(made(tmp_path, qrels=qrels, runs=runs, baseline=evil))
    assert len(found.all("script")) == 2
    assert found.text.count(evil) >= 3


# --------------------------------------------------------------------------------- wrong options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": "four"}, "baseline='four' must be one of 'one', 'two', 'three'"),
        ({"confidence": 1.5}, "confidence=1.5 must be a number between 0 and 1"),
        ({"rng": -1}, "must be a whole number >= 0"),
        ({"rng": np.random.default_rng(0)}, "rng=.* must be a whole number >= 0, which the page can show"),
        ({"runs": RUNS["one"], "baseline": "run"}, "baseline='run' is the only run"),
    ],
)
def test_wrong_options_write_nothing(tmp_path, options, message):
    with pytest.raises(ParameterError, match=message):
        made(tmp_path, **options)
    assert not any(tmp_path.iterdir())


def test_one_topic_is_rejected(tmp_path):
    with pytest.raises(InputError, match="Q: at least 2 topics are needed, found 1"):
        made(tmp_path, qrels={"1": QRELS["1"]})
    assert not any(tmp_path.iterdir())


# ------------------------------------------------------------------------------------- the file


def test_links_are_followed_and_permissions_are_the_usual_ones(tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link.html"
    link.symlink_to(tmp_path / "folder" / "page.html")
    files.write_whole(files.check_writable(link), b"text")
    assert link.is_symlink()
    assert (tmp_path / "folder" / "page.html").read_bytes() == b"text"
    (tmp_path / "plain").write_bytes(b"")
    assert link.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_unwritable_paths_are_rejected_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "collect", lambda *_, **__: pytest.fail("work was done"))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        ir_graded.report("Q", QRELS, RUNS, tmp_path / "nowhere" / "page.html")
    with pytest.raises(InputError, match="is not a file"):
        ir_graded.report("Q", QRELS, RUNS, tmp_path)
    with pytest.raises(InputError, match="is not a file"):
        ir_graded.report("Q", QRELS, RUNS, os.devnull)


# ------------------------------------------------------------------------------ on the command line


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{topic} 0 {doc} {level}\n" for topic, docs in QRELS.items() for doc, level in docs.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    for name, run in RUNS.items():
        lines = [f"{t} Q0 {doc} 1 {score} x\n" for t, docs in run.items() for doc, score in docs.items()]
        (tmp_path / name).write_text("".join(lines))
    return tmp_path


@pytest.mark.slow
def test_the_command_writes_the_page_which_shows_the_command(folder):
    arguments = ["report", "qrels.txt", *RUNS, "-m", "Q NCU(stop='rb')", "--baseline", "./four"]
    wrong = CliRunner().invoke(commands, [*arguments, "--html", "page.html"])
    assert isinstance(wrong.exception, ParameterError)
    arguments[arguments.index("./four")] = "two"
    done = CliRunner().invoke(commands, [*arguments, "--html", "page.html"], catch_exceptions=False)
    assert done.stdout == "page.html\n"
    assert re.fullmatch(r"ir_graded: wrote 3 runs, 3 topics\n", done.stderr)
    (code,) = re.findall(r"<pre[^>]*><code>(.*?)</code>", (folder / "page.html").read_text())
    program, *again = shlex.split(html.unescape(code))
    assert program == "ir_graded"
    assert again[: len(arguments) - 2] == arguments[:-2]
    assert again[-2:] == ["--html", "page.html"]
    first = (folder / "page.html").read_bytes()
    (folder / "page.html").unlink()
    CliRunner().invoke(commands, again, catch_exceptions=False)
    assert (folder / "page.html").read_bytes() == first


@pytest.mark.slow
def test_a_title_is_the_heading_of_the_page(folder, tmp_path):
    arguments = ["report", "qrels.txt", *RUNS, "-m", "Q", "--html", "page.html"]
    CliRunner().invoke(commands, [*arguments, "--title", "Runs of <May>"], catch_exceptions=False)
    text = (folder / "page.html").read_text()
    assert "<h1>Runs of &lt;May&gt;</h1>" in text
    assert "<title>Runs of &lt;May&gt;</title>" in text
    assert "--title &#39;Runs of &lt;May&gt;&#39;" in text
    text = made(tmp_path, title="Runs")
    assert "<h1>Runs</h1>" in text
    assert "title=&#39;Runs&#39;" in text


def test_unjudged_documents_are_in_the_order_of_the_leaderboard(tmp_path):
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 1, "b": 0}}
    runs = {
        name: {topic: {doc: 2.0, "z": 1.0} for topic in qrels}
        for name, doc in (("A", "y"), ("c", "b"), ("b", "a"))
    }
    text = made(tmp_path, ["RR"], qrels, runs)
    tables = [re.findall(r'<th scope="row"[^>]*><span class="run">(\w+)', p) for p in text.split("<table")]
    assert [table for table in tables if table] == [["b", "A", "c"], ["b", "A", "c"]]


@pytest.mark.slow
@pytest.mark.parametrize("baseline", ["two", "two.txt", "runs/two.txt"])
def test_the_baseline_may_be_named_without_its_ending(folder, baseline):
    (folder / "runs").mkdir()
    (folder / "two").rename(folder / "runs" / "two.txt")
    runs = ["one", "runs/two.txt"]
    place = folder / "page.html"
    ir_graded.report("Q", "qrels.txt", runs, place, baseline=baseline)
    assert '<b class="run">two.txt</b>' in place.read_text()
    with pytest.raises(ParameterError, match=r"baseline='tw' must be one of 'one', 'two\.txt'"):
        ir_graded.report("Q", "qrels.txt", runs, place, baseline="tw")


@pytest.mark.slow
def test_overlap_with_the_baseline_is_a_column(tmp_path):
    """Over the topics of the qrels that both runs have; a wrong score elsewhere has no effect."""
    runs = {**RUNS, "none": {"4": {"a": 1.0}, "1": {}, "2": {"x": 1.0}}, "base": {"1": RUNS["one"]["1"]}}
    runs["two"] = {**runs["two"], "9": {"a": None}}
    text = made(tmp_path, ["Q"], runs=runs, baseline="base")
    board = text[text.index('id="board"') : text.index("</table>")]
    assert re.findall(r'<th scope="col"[^>]*>(.*)</th>', board)[-2:] == ["RBO", "Unjudged@10"]
    found = {
        re.search(r'class="run">(\w+)<', row)[1]: re.findall(r"<td>(.*)</td>", row)[-2]
        for row in re.findall(r"<tr.*?</tr>", board, re.DOTALL)[1:]
    }
    assert found.keys() == runs.keys()
    for name in ("one", "two", "three"):
        (ext,) = ir_graded.rbo({"1": RUNS[name]["1"]}, runs["base"])["ext"]
        assert found[name] == f"{ext:.3f}"
    assert (found["base"], found["none"]) == ("", "no shared topic")


def test_pages_without_a_baseline_have_no_overlap(tmp_path):
    text = made(tmp_path, ["Q"])
    assert "RBO" not in text[: text.index("<script")].replace("RBO:", "")
    assert data_of(text)["rbo"] is None


# ---------------------------------------------------------------------------- data of the views


@pytest.mark.slow
def test_lists_hold_levels_and_contributions(tmp_path):
    covid = covid_sample()
    runs = dict(list(covid.runs.items())[:3])
    lists = data_of(made(tmp_path, ["Q", "AP"], covid.qrels, runs))["lists"]
    topics = [*covid.qrels["query_id"].unique()]
    level_of = {(row.query_id, row.doc_id): row.relevance for row in covid.qrels.itertuples()}
    for at, (name, run) in enumerate(runs.items()):
        for number in (0, 7):
            topic = topics[number]
            rows = run[run["query_id"] == topic].sort_values(["score", "doc_id"], ascending=False)
            expected = rows["doc_id"].tolist()[:20]
            places = lists["rows"][at][number]
            assert [lists["docs"][number][place] for place in places] == expected
            levels = [lists["level"][number][place] for place in places]
            judged = [level_of.get((topic, doc), -1) for doc in expected]
            assert [-1 if one < 0 else lists["levels"][one] for one in levels] == judged
            explained = ir_graded.explain("Q", covid.qrels, runs[name], topic).to_frame()
            adds = dict(zip(explained["doc_id"], explained["contribution"], strict=True))
            assert lists["adds"][at][number] == pytest.approx([adds.get(d, 0) for d in expected], abs=6e-6)
    counts = covid.qrels[covid.qrels["query_id"] == topics[0]]["relevance"].value_counts()
    assert lists["judged"][0] == [[level, counts[level]] for level in (2, 1, 0)]


def test_lists_name_the_best_relevant_documents_that_they_lack(tmp_path):
    names = [f"d{number:02}" for number in range(60)]
    qrels = {"1": {name: 1 + (name > "d39") for name in names}, "2": {"a": 1, "b": 2}, "3": {"a": 0}}
    run = {name: -float(at) for at, name in enumerate(["d41", *(f"x{n}" for n in range(30)), "d45", "d01"])}
    runs = {"one": {"1": run, "2": {"a": 1.0}}, "other": {"1": dict.fromkeys(names, 1.0)}}
    second = (["b", "a"], [0])
    for measure, rel, of_second in (("Q", 1, second), ("AP(rel=2)", 2, (["b"], [0])), ("NumRet", 1, second)):
        lists = data_of(made(tmp_path, [measure], qrels, runs))["lists"]
        assert lists["rel"] == rel
        docs, best = lists["docs"], lists["best"]
        assert [docs[0][place] for place in best[0]] == [*names[40:], *names[: 10 if rel == 1 else 0]]
        assert [lists["levels"][lists["level"][0][place]] for place in best[0]][:20] == [2] * 20
        missed = [docs[0][place] for place in best[0] if place not in lists["rows"][0][0]][:10]
        assert missed == ["d40", *names[42:51]]
        assert lists["ranks"][0][0] == [0, 0, 0, 0, 32, 0, 0, 0, 0, 0]
        assert ([docs[1][place] for place in best[1]], lists["ranks"][0][1]) == of_second
        assert (best[2], lists["ranks"][0][2]) == ([], [])
    # The other run has all 60 with equal scores, so d59 to d40 are its first 20, and d00 is the last.
    assert lists["ranks"][1][0] == [*range(60, 50, -1)]


@pytest.mark.slow
def test_ranks_use_the_test_of_the_report_if_they_can(tmp_path):
    covid = covid_sample()
    runs = dict([*covid.runs.items()][:6])
    baseline = next(iter(runs))
    for test, of_ranks in (("bootstrap", "bootstrap"), ("t", "t"), ("wilcoxon", "randomisation")):
        page = made(tmp_path, ["RR"], covid.qrels, runs, baseline=baseline, test=test)
        scores = ir_graded.evaluate("RR", covid.qrels, runs)
        found = ir_graded.meta.ranks(scores, test=of_ranks, rng=0)
        ends = dict(zip(found.run, found.rank_high.tolist(), strict=True))
        assert data_of(page)["ranks"]["high"] == [ends[run] for run in data_of(page)["runs"]]
        assert f"by the {of_ranks} test, simultaneous" in page


def test_ties_are_the_span_of_the_mean(tmp_path):
    qrels = {"1": {"a": 1}, "2": {"a": 1}}
    run = {"1": {"a": 1.0, "b": 1.0}, "2": {"a": 2.0, "b": 1.0}}
    text = made(tmp_path, ["RR", "NumRet", "GM(measure='RR')"], qrels, {"one": run})
    assert data_of(text)["ties"] == [[0.25], [0], [None]]
    assert '<th scope="col">Ties</th>' in text


def test_ties_that_change_no_mean_have_no_column(tmp_path):
    text = made(tmp_path)
    assert data_of(text)["ties"] is None
    assert '<th scope="col">Ties</th>' not in text
    assert "The order of documents with equal scores changes no mean (Q, AP) by 0.0005 or more." in text


def test_the_head_names_what_differs_from_the_defaults(tmp_path):
    assert "Not the default" not in made(tmp_path, baseline="one", rng=3, title="a title")
    weights = pd.DataFrame({"query_id": ["1", "2", "3"], "weight": [1, 2, 1]})
    options = {"weights": weights, "clusters": {"1": "x", "2": "x", "3": "y"}, "confidence": 0.9}
    text = html.unescape(made(tmp_path, without_relevant="leave out", test="t", baseline="one", **options))
    assert (
        "Not the default: weights, clusters, confidence=0.9, test='t', without_relevant='leave out'." in text
    )
    # The call names data, and does not print it.
    assert "weights=weights, clusters=clusters, without_relevant='leave out'" in text


def test_sign_patterns_are_of_clusters(tmp_path):
    topics = [str(number) for number in range(1, 9)]
    qrels, clusters = {topic: {"a": 1} for topic in topics}, {topic: str(int(topic) // 2) for topic in topics}
    runs = {"one": {topic: {"a": 1.0} for topic in topics}, "two": {topic: {"b": 1.0} for topic in topics}}
    assert "all 256 sign patterns" in made(tmp_path, ["AP"], qrels, runs, baseline="two")
    text = made(tmp_path, ["AP"], qrels, runs, baseline="two", clusters=clusters)
    assert "all 32 sign patterns" in text
    assert "5 clusters are too few" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"queries": pd.DataFrame({"id": ["1"]})},
            "queries: a frame needs the columns query_id or qid and text",
        ),
        ({"documents": 5}, "documents: cannot read 5; give a dict from id to text, a frame, or a dataset"),
        ({"queries": "no-such-dataset"}, "queries: cannot read 'no-such-dataset'"),
        ({"queries": {"1": None}}, "queries: the text of '1' is None; give text"),
        ({"queries": {1: "one", "1": "again"}}, "queries: the id '1' appears twice"),
        ({"queries": b"1 one\n"}, "line 1: expected an id, a tab and a text"),
        ({"queries": b"1\tone\r2\ttwo\n"}, "line 1: a carriage return inside the line"),
    ],
)
def test_wrong_texts_are_rejected(tmp_path, options, words):
    ((name, texts),) = options.items()
    if isinstance(texts, bytes):
        (tmp_path / "texts.tsv").write_bytes(texts)
        texts = tmp_path / "texts.tsv"
    with pytest.raises(InputError, match=re.escape(words)):
        made(tmp_path, **{name: texts})
    assert not (tmp_path / "page.html").exists()


@pytest.mark.slow
def test_texts_of_topics_and_documents_are_shown(tmp_path):
    frame = pd.DataFrame({"query_id": [1, 2], "text": ["first  question", "x" * 400]})
    data = data_of(made(tmp_path, queries=frame, documents={"a": "a text", "nowhere": "another text"}))
    assert data["queries"] == ["first question", "x" * 299 + "…", ""]
    assert data["texts"] == {"a": "a text"}
    assert data_of(made(tmp_path))["queries"] is None
    path = tmp_path / "texts.tsv"
    path.write_bytes("a\tfirst\u2028b\tstolen\nb\tsecond\r\n".encode())
    assert data_of(made(tmp_path, documents=path))["texts"] == {"a": "first b stolen", "b": "second"}
    for of_id, of_text in (("docno", "body"), ("doc_id", "title")):
        documents = pd.DataFrame({of_id: ["a"], of_text: ["a text"]})
        assert data_of(made(tmp_path, documents=documents))["texts"] == {"a": "a text"}


def test_levels_with_fractions_and_texts_in_files_are_shown(tmp_path):
    qrels = {topic: {doc: level / 2 for doc, level in of.items()} for topic, of in QRELS.items()}
    (tmp_path / "queries.tsv").write_text("1\tfirst question\n2\ta\tb\n")
    data = data_of(made(tmp_path, ["Q"], qrels=qrels, queries=tmp_path / "queries.tsv"))
    assert data["lists"]["levels"] == [0, 0.5, 1]
    assert data["queries"] == ["first question", "a b", ""]


@pytest.mark.slow
def test_the_call_on_the_page_names_what_was_given(tmp_path):
    for name, run in RUNS.items():
        rows = (f"{topic} Q0 {doc} 0 {score} t\n" for topic, of in run.items() for doc, score in of.items())
        (tmp_path / f"{name}.run").write_text("".join(rows))
    paths = [str(tmp_path / f"{name}.run") for name in RUNS]
    page = made(tmp_path, runs=paths)
    page = html.unescape(page)
    assert f"ir_graded.report(['Q', 'AP'], qrels, {paths}, 'report.html'" in page
    call = page[page.index("ir_graded.report(") :]
    call = call[: call.index("</code>")]
    assert not re.search("title=|test=|queries=|documents=", call)
    page = html.unescape(made(tmp_path, runs=paths, baseline="two", test="t", title="x", queries={"1": "a"}))
    assert all(word in page for word in ("baseline='two'", "test='t'", "title='x'", "queries="))


def test_texts_of_other_topics_cause_a_warning(tmp_path):
    with pytest.warns(CoverageWarning, match="queries: no id is among those of the report"):
        made(tmp_path, queries={"x": "none"})


def test_pages_of_scores_have_no_lists(tmp_path):
    scores = ir_graded.evaluate(["Q", "AP"], QRELS, RUNS)
    place = tmp_path / "page.html"
    ir_graded.report(scores, path=place)
    for wrong in ({"qrels": QRELS}, {"runs": RUNS}, {"n_samples": 5}, {"depth": 10}, {"queries": {"1": "q"}}):
        with pytest.raises(ParameterError, match=f"takes no {next(iter(wrong))}: give measures instead"):
            ir_graded.report(scores, path=place, **wrong)
    with pytest.raises(ParameterError, match="path is missing"):
        ir_graded.report(scores)
    data = data_of((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert [data[name] for name in ("lists", "ties", "unjudged", "rbo")] == [None] * 4
    assert np.array(data["scores"]) == pytest.approx(scores.values, abs=6e-6)


@pytest.mark.slow
def test_the_script_reads_the_values_that_the_page_has(tmp_path):
    """A value under another name would be missing from a view."""
    script = page._template("page.js")
    data = data_of(made(tmp_path, baseline="three", queries={"1": "first"}, documents={"a": "a text"}))
    assert set(re.findall(r"\bD\.(\w+)", script)) == data.keys()
    for name in ("lists", "ranks"):
        assert set(re.findall(rf"\bD\.{name}\.(\w+)", script)) == data[name].keys()


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_of_the_views_are_those_of_the_functions(tmp_path, weighted):
    covid = covid_sample()
    runs = dict([*covid.runs.items()][:4])
    baseline = [*runs][1]
    topics = covid.qrels["query_id"].unique()
    options = {"weights": {topic: 1 + at for at, topic in enumerate(topics)}} if weighted else {}
    scores = ir_graded.evaluate(["RR", "nDCG@10"], covid.qrels, runs)
    given = {"baseline": baseline, "confidence": 0.9, "rng": 3, **options}
    text = made(tmp_path, ["RR", "nDCG@10"], covid.qrels, runs, **given)
    data = data_of(text)
    places = [scores.runs.index(run) for run in data["runs"]]
    assert (data["level"], data["baseline"]) == ("90 %", data["runs"].index(baseline))
    found = ir_graded.meta.confidence_intervals(scores, confidence=0.9, **options)
    for name in ("mean", "low", "high"):
        np.testing.assert_allclose(data[name], getattr(found, name)[:, places], atol=6e-7)
    tests = ir_graded.meta.differences(scores, baseline, alpha=0.1, rng=3, **options)
    for row in tests.to_frame().itertuples():
        measure, run = data["measures"].index(str(row.measure)), data["runs"].index(row.run)
        assert data["p"][measure][run] == p_text(row.p_corrected)
        assert data["detectable"][measure][run] == pytest.approx(row.minimum_detectable, abs=6e-5)
        assert data["difference"][measure][run] == pytest.approx(row.difference, abs=6e-6)
        assert data["sign"][measure][run] == (np.sign(row.difference) if row.significant else 0)
    assert tests.significant.any()
    assert {of[data["baseline"]] for of in data["difference"]} == {None}
    shares = ir_graded.unjudged(covid.qrels, runs)
    expected = shares.share[places, shares.depths.index(10)]
    np.testing.assert_allclose(data["unjudged"], expected, atol=6e-5)
    tau = ir_graded.meta.kendall_tau_b(*scores.mean(**options).to_numpy().T)
    assert data["tau"][0][1] == data["tau"][1][0] == pytest.approx(tau, abs=6e-5)
    shown = " ".join(text[: text.index("<script")].split())
    assert ("Topics have weights" in shown) == ("30 weighted topics, by RR" in shown) == weighted
    assert ("Weighted mean over 30 topics" in shown) == weighted
    assert ("tied for first" in shown) != weighted
    if weighted:
        assert (data["t"], data["pairWords"][:12]) == (None, "With weights")
        np.testing.assert_allclose(data["weights"], [*options["weights"].values()], atol=6e-7)
        weights_of = re.findall(r"\|weights:(\w+)\|seed:3</code>", text)
        assert [len(one) for one in weights_of] == [8, 16]
        assert weights_of[1] == weights_hash(options["weights"], map(float, options["weights"].values()))
        return
    assert data["pairWords"].startswith("The interval is that of the paired t test")
    ranks = ir_graded.meta.ranks(scores, "RR", alpha=0.1, rng=3)
    ends = zip(*(data["ranks"][name] for name in ("low", "high", "first")), strict=True)
    expected = zip(ranks.rank_low, ranks.rank_high, ranks.tied_first, strict=True)
    assert dict(zip(data["runs"], ends, strict=True)) == dict(zip(ranks.run, expected, strict=True))
    # The interval of a pair is computed on the page.
    alone = ir_graded.meta.differences(scores, baseline, test="t", alpha=0.1, correction="none")
    run = data["runs"].index(alone.run[0])
    z = np.subtract(data["scores"][0][run], data["scores"][0][data["baseline"]])
    half = data["t"] * z.std(ddof=1) / np.sqrt(z.size)
    assert (z.mean() - half, z.mean() + half) == pytest.approx((alone.low[0], alone.high[0]), abs=1e-5)


def test_a_page_of_clusters_has_their_intervals_and_ranks(tmp_path):
    covid = ir_graded.sample()
    runs = {name: covid.runs[name] for name in ("bm25_baseline", "BBGhelani1", "sab20.1.meta.docs")}
    clusters = {topic: int(topic) // 3 for topic in {*covid.qrels["query_id"]}}
    data = data_of(made(tmp_path, ["AP"], covid.qrels, runs, clusters=clusters, baseline="BBGhelani1"))
    scores = ir_graded.evaluate("AP", covid.qrels, runs)
    ends = ir_graded.meta.confidence_intervals(scores, clusters=clusters)
    assert data["low"][0] == pytest.approx(ends.low[0], abs=6e-5)
    ranks = ir_graded.meta.ranks(scores, clusters=clusters)
    low = dict(zip(data["runs"], data["ranks"]["low"], strict=True))
    assert low == dict(zip(ranks.run, ranks.rank_low, strict=True))
    tests = ir_graded.meta.differences(scores, "BBGhelani1", clusters=clusters)
    at = [data["runs"].index(run) for run in tests.run]
    assert [data["p"][0][one] for one in at] == [p_text(p) for p in tests.p_corrected]
    assert data["t"] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("baseline", "pairs"), [(None, ("one", "two")), ("two", ("one", "two")), ("one", ("two", "one"))]
)
def test_the_best_run_is_drawn_against_the_baseline_or_the_second_best(tmp_path, baseline, pairs):
    runs = {name: RUNS[name] for name in ("three", "two", "one")}
    options = {
        "baseline": baseline,
        "confidence": 0.9,
        "n_samples": 0,
        "depth": None,
        "rng": 0,
    }
    options |= {
        "test": "randomisation",
        "correction": None,
        "weights": None,
        "clusters": None,
        "title": "",
        "command": "",
    }
    measures = ir_graded.measures.parsing.read_measures(["Q", "AP"])
    found = page.write_report(measures, QRELS, runs, tmp_path / "page.html", **options)
    assert [found.compared_runs(at) for at in range(2)] == [pairs] * 2
    assert found.best_first == [2, 1, 0]
    alone = page.write_report(
        measures, QRELS, {"one": RUNS["one"]}, tmp_path / "page.html", **options | {"baseline": None}
    )
    assert alone.compared_runs(0) is None


@pytest.mark.slow
def test_each_measure_has_its_meaning_source_and_provider(tmp_path):
    length = ir_measures.define_byquery(lambda _, run: float(len(run)), name="Length")
    said = re.sub(r"\s+", " ", html.unescape(made(tmp_path, ["Q", "AP", "NumRet", length])))
    rows = re.findall(r'<tr><th scope="row"><code>(.*?)</code></th><td>(.*?)</td><td>(.*?)</td></tr>', said)
    assert [(name, provider) for name, _, provider in rows] == [
        ("Q", "ir_graded"), ("AP", "ir_graded"), ("NumRet", "ir_graded"), ("Length", "ir-measures")
    ]  # fmt: skip
    q = ir_graded.Q
    assert rows[0][1] == f"{q.PRETTY_NAME} ({q.SOURCE}). {q.SHORT_DESC}"
    assert ["where ir-measures sums it" in text for _, text, _ in rows] == [False, False, True, False]
    by_all = "relevant from level 1, tied documents by doc id"
    assert f"<dt>Parameters</dt> <dd>Q: beta 1, gains = levels, {by_all}; AP: {by_all}.</dd>" in said
