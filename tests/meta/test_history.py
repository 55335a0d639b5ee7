"""``meta.history`` and ``ir_graded history``: means over releases, and what is not comparable."""

import itertools
import json
import math
import os
import re
import statistics
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from helpers import assert_command_fails, run_command
from scipy.stats import t as student

import ir_graded
from ir_graded.errors import CoverageWarning, InputError, ParameterError
from ir_graded.meta import history

TOPICS = [str(topic) for topic in range(6)]
QRELS = {topic: {"a": 2, "b": 1} for topic in TOPICS}
#: Better on more topics with each release.
RUNS = [{topic: {"x": 3.0, "a": 4.0 * (int(topic) < n), "b": 1.0} for topic in TOPICS} for n in (2, 4, 5)]


def scores_of(release, qrels=None, measures="Q RR", name="bm25", **options):
    return ir_graded.evaluate(measures, qrels or QRELS, {name: RUNS[release]}, **options)


def quiet(given, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return history(given, **options)


def noted(given):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = history(given)
    assert [str(one.message) for one in caught] == [*found.notes]
    assert {one.category for one in caught} <= {CoverageWarning}
    return found


@pytest.mark.filterwarnings("ignore:.*it is not known if the qrels differ")
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_each_release_is_tested_against_the_first_and_the_best_one_before(alpha):
    rng = np.random.default_rng(1)
    values = {
        name: rng.normal(0.5 + up, 0.1, (8, 2)) for name, up in zip("abcd", (0, 0.2, 0, 0.1), strict=True)
    }
    found = history({name: {"Q": pd.DataFrame(one)} for name, one in values.items()}, alpha=alpha)
    of_pairs = {}
    for run in range(2):
        for one, other in itertools.combinations("abcd", 2):
            z = (values[other] - values[one])[:, run].tolist()
            mean, se = statistics.fmean(z), statistics.stdev(z) / math.sqrt(len(z))
            half = student.ppf(1 - alpha / 2, len(z) - 1) * se
            of_pairs[run, one, other] = [
                mean,
                mean - half,
                mean + half,
                2 * student.sf(abs(mean / se), len(z) - 1),
            ]
    # Holm's correction.
    largest = 0.0
    for at, pair in enumerate(sorted(of_pairs, key=lambda pair: of_pairs[pair][3])):
        largest = max(largest, (len(of_pairs) - at) * of_pairs[pair][3])
        of_pairs[pair][3] = min(1.0, largest)
    before = {"b": ("a", "a", "a"), "c": ("b", "a", "b"), "d": ("c", "a", "b")}
    worse = []
    for row in found.to_frame().to_dict("records"):
        run, release = row["run"], row["release"]
        assert row["mean"] == pytest.approx(statistics.fmean(values[release][:, run].tolist()), abs=1e-12)
        if release == "a":
            assert row["best"] == ""
            assert np.isnan([row[name] for name in found.COLUMNS if name.endswith(("first", "_best"))]).all()
            worse.append(False)
            continue
        previous, first, best = (of_pairs[run, one, release] for one in before[release])
        tested = [
            row[f"{name}_{end}"] for end in ("first", "best") for name in ("change", "low", "high", "p")
        ]
        assert row["best"] == before[release][2]
        assert [row["change"], *tested] == pytest.approx([previous[0], *first, *best], abs=1e-10)
        worse.append(any(mean < 0 and p < alpha for mean, *_, p in (first, best)))
    assert found.worse.tolist() == worse
    assert any(worse)


@pytest.mark.filterwarnings("ignore:.*it is not known if the qrels differ")
def test_slices_are_followed_and_corrected_with_all_topics():
    rng = np.random.default_rng(2)
    values = [rng.normal(0.5 - 0.05 * at, 0.1, 24) for at in range(3)]
    weights, kinds = dict(enumerate(rng.integers(1, 4, 24).tolist())), ["x", "y", "y"] * 8

    def of_topics(kind):
        chosen = [at for at in range(24) if kind in {kinds[at], "all"}]
        frames = (pd.DataFrame({"run": one[chosen]}, index=chosen) for one in values)
        given = {name: {"Q": frame} for name, frame in zip("abc", frames, strict=True)}
        return given, {at: weights[at] for at in chosen}

    given, of_all = of_topics("all")
    found = history(given, weights=of_all, slices=dict(enumerate(kinds))).to_frame()
    assert [*found["slice"]] == ["all", "x", "y"] * 3
    raw, shared = [], [name for name in found if not name.startswith("p_") and name != "slice"]
    for kind in ("all", "x", "y"):
        given, of_kind = of_topics(kind)
        alone = history(given, weights=of_kind).to_frame()
        same = found[found["slice"] == kind].reset_index(drop=True)
        pd.testing.assert_frame_equal(same[shared], alone[shared])
        for one, other in itertools.combinations("abc", 2):
            pair = {name: given[name] for name in (one, other)}
            raw.append((history(pair, weights=of_kind).p_first[1], kind, one, other))
    corrected, largest = {}, 0.0
    for at, (p, *pair) in enumerate(sorted(raw)):
        largest = max(largest, min(1.0, (len(raw) - at) * p))
        corrected[tuple(pair)] = largest
    for row in found[found["release"] != "a"].to_dict("records"):
        for name, other in (("p_first", "a"), ("p_best", row["best"])):
            assert row[name] == pytest.approx(corrected[row["slice"], other, row["release"]], rel=1e-12)


def test_the_order_of_topics_does_not_matter():
    first = scores_of(0)
    second = scores_of(1, {topic: QRELS[topic] for topic in reversed(TOPICS)})
    assert second.query_ids != first.query_ids
    expected = quiet({"a": first, "b": scores_of(1)}).to_frame()
    assert quiet({"a": first, "b": second}).to_frame().equals(expected)


def test_other_topics_begin_a_part():
    fewer = {topic: QRELS[topic] for topic in TOPICS[1:]} | {"new": {"a": 1}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the run lacks a topic
        given = {"v1": scores_of(0), "v2": scores_of(1, fewer), "v3": scores_of(2, fewer)}
    found = noted(given)
    assert found.part.tolist() == [1, 1, 2, 2, 2, 2]
    assert np.isnan(found.change).tolist() == [True] * 4 + [False] * 2
    assert found.notes[0].startswith(
        "'v1' and 'v2' are not comparable: the topics differ: 1 only in the first ('0'), 1 only in the "
        "second ('new'); the qrels differ, by their hashes "
    )
    assert len(found.notes) == 1


def test_other_levels_of_the_qrels_begin_a_part():
    other = {topic: {"a": 1, "b": 2} for topic in TOPICS}
    found = noted({"v1": scores_of(0), "v2": scores_of(1, other), "v3": scores_of(2)})
    assert found.part.tolist() == [1, 1, 2, 2, 3, 3]
    assert np.isnan(found.change).all()
    hashes = [scores_of(0).signature.qrels, scores_of(0, other).signature.qrels]
    assert found.notes == (
        f"'v1' and 'v2' are not comparable: the qrels differ, by their hashes {hashes[0]} and {hashes[1]}",
        f"'v2' and 'v3' are not comparable: the qrels differ, by their hashes {hashes[1]} and {hashes[0]}",
    )


def test_other_options_begin_a_part():
    found = noted({"v1": scores_of(0), "v2": scores_of(1, ties="pessimistic", measures="P-measure")})
    assert found.part.tolist()[-1] == 2
    assert "the option ties is doc_id and pessimistic" in found.notes[0]
    assert "the measures differ: 2 only in the first ('Q', 'RR')" in found.notes[1]


def test_missing_measures_and_runs_are_noted_and_have_no_change():
    two = {"old": RUNS[0], "new": RUNS[1]}
    given = {
        "v1": ir_graded.evaluate("Q", QRELS, two),
        "v2": ir_graded.evaluate("Q RR", QRELS, {"new": RUNS[2], "newest": RUNS[1]}),
    }
    found = noted(given)
    assert found.notes == (
        "'v1' and 'v2': the measures differ: 1 only in the second ('RR'); the runs differ: 1 only in the "
        "first ('old'), 1 only in the second ('newest')",
    )
    frame = found.to_frame().set_index(["release", "measure", "run"])["change"]
    assert frame.dropna().index.tolist() == [("v2", "Q", "new")]
    change = given["v2"].matrix("Q")["new"].mean() - given["v1"].matrix("Q")["new"].mean()
    assert frame.dropna().tolist() == pytest.approx([change])


def test_the_only_run_of_each_release_is_followed_under_any_name():
    given = {f"v{at}": scores_of(at, name=f"run of v{at}") for at in range(3)}
    same = {f"v{at}": scores_of(at) for at in range(3)}
    found = quiet(given)
    assert found.run == tuple(f"run of v{at}" for at in range(3) for _ in "12")
    assert found.to_frame().drop(columns="run").equals(quiet(same).to_frame().drop(columns="run"))


def test_unknown_qrels_and_other_versions_are_noted():
    saved = json.loads(scores_of(1).to_json())
    saved["written_by"] = saved["signature"]["versions"] = {"ir_graded": "0.0.1", "ir_measures": "0.4"}
    old = ir_graded.Scores.from_json(json.dumps(saved))
    plain = {"Q": scores_of(2).matrix("Q"), "RR": scores_of(2).matrix("RR")}
    found = noted({"v1": scores_of(0), "v2": old, "v3": plain})
    assert found.notes[0].startswith("'v1' and 'v2': they were computed by ir_graded ")
    assert found.notes[0].endswith(" and by ir_graded 0.0.1, ir_measures 0.4")
    assert found.notes[1] == (
        "'v2' and 'v3': it is not known if the qrels differ, because 'v3' has no hash of them"
    )
    assert found.part.tolist() == [1] * 6
    assert not np.isnan(found.change[2:]).any()


def test_wrong_input_is_rejected():
    with pytest.raises(InputError, match="two or more releases to their scores, found 1 releases"):
        history({"v1": scores_of(0)})
    with pytest.raises(InputError, match="found Scores"):
        history(scores_of(0))
    wrong = {"Q": pd.DataFrame({"a": [0.1, math.nan]}, index=["x", "y"])}
    with pytest.raises(InputError, match="release 'v2': Q: topic 'y', system 'a': the score is nan"):
        history({"v1": scores_of(0), "v2": wrong})
    with pytest.raises(ParameterError, match=r"release 'v2': .*geometric mean"):
        history({"v1": scores_of(0), "v2": scores_of(0, measures="GMAP")})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
@pytest.mark.parametrize(("releases", "runs"), [(60, 1), (3, 2), (60, 9)])
def test_figures_have_a_line_for_each_run_that_breaks_between_parts(releases, runs):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    other = {topic: {"a": 1, "b": 2} for topic in TOPICS}
    *repeated, last = (
        ir_graded.evaluate("Q", qrels, {f"r{n}": RUNS[(at + n) % 3] for n in range(runs)})
        for qrels, at in [(QRELS, 0), (QRELS, 1), (QRELS, 2), (other, releases - 1)]
    )
    given = {f"release {at}": repeated[at % 3] for at in range(releases - 1)}
    given[f"release {releases - 1}"] = last
    found = history(given)
    figure = found.plot()
    (axes,) = figure.axes
    labels = axes.get_legend_handles_labels()[1]
    assert labels == [
        *(["mean"] if runs == 1 else [f"r{n}" for n in expected_order(found, runs)]),
        "change from the first: 95% interval",
        "not comparable",
    ]
    lines = [line for line in axes.lines if len(line.get_xdata()) == releases]
    assert len(lines) == 2 * min(runs, 6)
    drawn = sorted(y for line in lines for y in line.get_ydata() if not np.isnan(y))
    wanted = found.to_frame()
    shown = ["mean"] if runs == 1 else labels
    wanted = wanted[wanted["run"].isin(shown)] if runs > 1 else wanted
    assert drawn == sorted(wanted["mean"])
    breaks = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 2]
    assert breaks in ([], [releases - 1.5])
    assert len(axes.get_xticklabels()) <= 24
    assert axes.get_title() == ("the best 6 of 9 runs" if runs == 9 else "")
    drawn = [bars for bars in axes.collections if bars.get_alpha()]
    ends = [bar[:, 1] for bars in drawn for bar in bars.get_segments() if len(bar)]
    rows = wanted.assign(first=wanted["mean"] - wanted["change_first"]).dropna(subset="first")
    expected = rows[["low_first", "high_first"]].add(rows["first"], axis=0)
    assert np.sort(ends, axis=0) == pytest.approx(np.sort(expected, axis=0))
    figure.draw_without_rendering()
    with pytest.raises(InputError, match="measure='RR' must be one of 'Q'"):
        found.plot("RR")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_figures_show_a_slice():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    slices = {topic: "odd" if int(topic) % 2 else "even" for topic in TOPICS}
    found = history({"a": scores_of(0), "b": scores_of(1)}, slices=slices)
    (axes,) = found.plot("RR", "odd").axes
    assert axes.get_ylabel() == "RR on odd"
    rows = found.to_frame().query("measure == 'RR' and slice == 'odd'")
    assert axes.lines[0].get_ydata().tolist() == rows["mean"].tolist()
    with pytest.raises(InputError, match="slice='none' must be one of 'all', 'even', 'odd'"):
        found.plot("RR", "none")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_figures_mark_releases_that_are_worse():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    scores = np.random.default_rng(0).normal(0.5, 0.05, (5, 30, 2)) - [0, 0.1] * np.arange(5).reshape(
        -1, 1, 1
    )
    found = history({f"v{at}": {"Q": pd.DataFrame(of_release)} for at, of_release in enumerate(scores)})
    (axes,) = found.plot().axes
    [crosses] = [line for line in axes.lines if line.get_marker() == "x"]
    assert (
        crosses.get_ydata().tolist() == found.mean[found.worse].tolist() == found.mean[[3, 5, 7, 9]].tolist()
    )
    assert crosses.get_xdata().tolist() == [1, 2, 3, 4]


def expected_order(found, runs):
    last = found.to_frame().tail(runs).sort_values("mean", ascending=False, kind="stable")
    return [int(run[1:]) for run in last["run"]][:6]


# ------------------------------------------------------------------------------------------ the command


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores").mkdir()
    for at, name in enumerate(("v2", "v9", "v10")):
        path = tmp_path / "scores" / f"{name}.json"
        path.write_text(scores_of(at).to_json())
        os.utime(path, (1_000_000 - at, 1_000_000 - at))
    return partial(run_command, capsys, "history")


def releases_of(out):
    return [*dict.fromkeys(line.split(",")[0] for line in out.splitlines()[1:])]


def test_the_command_prints_the_table_of_python(run):
    code, out, err = run("scores", "-o", "csv", "-p", "-1")
    assert (code, err) == (0, "")
    expected = quiet({"v2": scores_of(0), "v9": scores_of(1), "v10": scores_of(2)}).to_frame()
    assert {*expected.pop("slice")} == {"all"}
    rows = [line.split(",") for line in out.splitlines()]
    assert rows[0] == [*expected]
    assert [row[:3] for row in rows[1:]] == expected[["release", "measure", "run"]].to_numpy().tolist()
    best = rows[0].index("best")
    assert [row.pop(best) for row in rows] == ["best", *expected.pop("best")]
    numbers = np.array([row[3:] for row in rows[1:]], dtype=float)
    assert np.array_equal(numbers, expected.iloc[:, 3:].to_numpy(dtype=float), equal_nan=True)


def test_files_are_in_the_order_of_numbers_in_names_or_of_dates(run):
    assert releases_of(run("scores", "-o", "csv")[1]) == ["v2", "v9", "v10"]
    assert releases_of(run("scores", "-o", "csv", "--by", "date")[1]) == ["v10", "v9", "v2"]


@pytest.mark.slow
def test_measures_are_chosen_and_the_figure_shows_the_first(run, tmp_path):
    pytest.importorskip("matplotlib")
    code, out, _ = run("scores", "-m", "recip_rank Q", "-o", "csv", "--plot", "trend.svg")
    assert code == 0
    assert [line.split(",")[1] for line in out.splitlines()[1:3]] == ["RR", "Q"]
    assert "<svg" in (tmp_path / "trend.svg").read_text()
    for ending, start in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        assert run("scores", "--plot", f"trend.{ending}")[0] == 0
        assert (tmp_path / f"trend.{ending}").read_bytes().startswith(start)
    assert_command_fails(run("scores", "--plot", "trend.gif"), "trend.gif must end with .png, .pdf or .svg")
    assert_command_fails(run("scores", "-m", "AP"), "no file has scores by AP; the measures are Q, RR")


def test_what_differs_is_warned_of_and_in_the_table(run, tmp_path):
    other = {topic: {"a": 1, "b": 2} for topic in TOPICS}
    (tmp_path / "scores" / "v11.json").write_text(scores_of(2, other, measures="Q").to_json())
    (tmp_path / "scores" / "notes.txt").write_text("x")
    (tmp_path / "scores" / ".hidden").write_text("x")
    code, out, err = run("scores", "-o", "csv")
    assert code == 0
    assert [line.split(",")[-1] for line in out.splitlines()[1:]] == ["1"] * 6 + ["2"]
    lines = err.splitlines()
    assert lines[0].endswith("scores: 'notes.txt' (1 in total) are not .json files and are left out")
    assert "warning: 'v10' and 'v11' are not comparable: the qrels differ" in lines[1]
    assert "warning: 'v10' and 'v11': the measures differ: 1 only in the first ('RR')" in lines[2]
    assert_command_fails(run("scores", "-m", "RR", "--quiet"), "v11.json has no scores by RR, only by Q")


def test_wrong_folders_are_rejected(run, tmp_path):
    assert_command_fails(run("missing"), "missing")
    (tmp_path / "scores" / "v1.json").write_text("{}")
    assert_command_fails(run("scores"), "v1.json: expected JSON of ir_graded scores")
    (tmp_path / "empty").mkdir()
    assert_command_fails(run("empty"), "empty: expected two or more files from `evaluate --save`, found 0")


@pytest.mark.parametrize(
    ("begin", "wrong", "problem"),
    [
        (r"(?s).*", "[" * 100_000, "the JSON is too deeply nested"),
        (r"\[\[\[[^,]*", f"[[[{'1' * 400}", "int too large to convert"),
    ],
    ids=["deep", "digits"],
)
def test_wrong_json_is_rejected(run, tmp_path, begin, wrong, problem):
    path = tmp_path / "scores" / "v9.json"
    path.write_text(re.sub(begin, wrong, path.read_text(), count=1))
    assert_command_fails(run("scores"), "scores/v9.json: ", problem)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_weights_of_topics_give_weighted_means_and_changes(run, tmp_path):
    given = {"v1": scores_of(0), "v2": scores_of(1)}
    weights = {topic: 1 + 3 * (at % 2) for at, topic in enumerate(TOPICS)}
    found = quiet(given, weights=weights)
    of_topic = np.array([weights[str(topic)] for topic in given["v1"].query_ids])
    expected = [np.average(one.matrix("Q")["bm25"], weights=of_topic) for one in given.values()]
    rows = found.to_frame().query("measure == 'Q' and run == 'bm25'")
    assert rows["mean"].tolist() == pytest.approx(expected)
    assert rows["change"].tolist()[1] == pytest.approx(expected[1] - expected[0])
    tested = ir_graded.meta.differences(
        {"Q": pd.DataFrame({name: one.matrix("Q")["bm25"] for name, one in given.items()})},
        "v1",
        weights=weights,
    )
    for end in ("first", "best"):
        ends = rows[[f"low_{end}", f"high_{end}"]].to_numpy()[1]
        assert ends == pytest.approx([tested.low[0], tested.high[0]])
    assert quiet(given, weights=dict.fromkeys(TOPICS, 2.0)).to_frame().equals(quiet(given).to_frame())
    (tmp_path / "w.csv").write_text("query_id,weight\n" + "".join(f"{t},{w}\n" for t, w in weights.items()))
    code, out, _ = run("scores", "--weights", "w.csv", "-o", "csv", "-p", "-1")
    assert code == 0
    assert f",{rows['mean'].tolist()[0]!r}," in out
    (tmp_path / "w.csv").write_text("query_id,weight\nother,1\n")
    assert_command_fails(run("scores", "--weights", "w.csv"), "release 'v2': ", "topics need a finite number")


def test_folders_are_left_out_with_a_warning(run, tmp_path):
    (tmp_path / "scores" / "x.json").mkdir()
    code, out, err = run("scores", "-o", "csv")
    assert (code, releases_of(out)) == (0, ["v2", "v9", "v10"])
    assert err == "ir_graded: warning: scores: 'x.json' (1 in total) are not .json files and are left out\n"


def test_the_command_follows_slices(run, tmp_path):
    slices = tmp_path / "kinds.txt"
    slices.write_text("".join(f"{topic} {'ab'[int(topic) % 2]}\n" for topic in TOPICS))
    code, out, _ = run("scores", "-m", "Q", "--slices", "kinds.txt", "-o", "csv")
    assert (code, out.splitlines()[0].split(",")[:2]) == (0, ["release", "slice"])
    assert [line.split(",")[1] for line in out.splitlines()[1:4]] == ["all", "a", "b"]
    said = " ".join(run("scores", "-m", "Q", "--slices", "kinds.txt")[1].split())
    assert "Holm's correction over all pairs of releases, slices and runs of a measure" in said
