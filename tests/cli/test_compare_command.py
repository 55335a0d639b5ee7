"""Exit codes and formats of ``ir_graded compare``, and ``compare_runs``."""

import csv
import io
import json
import re
import shlex
import subprocess
import sys
from functools import partial
from xml.etree import ElementTree as ET

import pytest
from helpers import assert_command_fails, run_command

import ir_graded
from ir_graded.meta.differences import p_text

TOPICS = 30


def run_lines(hit_rank):
    """Return a run that ranks the relevant document of each topic at the given rank."""
    ranks = (
        f"{topic} Q0 {'hit' if rank == hit_rank(topic) else f'x{rank}'} {rank} {9 - rank} t"
        for topic in range(TOPICS)
        for rank in (1, 2, 3)
    )
    return "\n".join(ranks) + "\n"


def write_topics(path, value):
    """Write a file with a line for each topic."""
    path.write_text("".join(f"{topic} {value(topic)}\n" for topic in range(TOPICS)))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_topics(tmp_path / "qrels.txt", lambda _: "0 hit 1")
    (tmp_path / "old.run").write_text(run_lines(lambda topic: 1 + topic % 2))
    (tmp_path / "same.run").write_text(run_lines(lambda topic: 1 + topic % 2))
    (tmp_path / "worse.run").write_text(run_lines(lambda topic: 2 + topic % 2))
    (tmp_path / "better.run").write_text(run_lines(lambda _: 1))
    # Half the topics better, half worse; and a small loss on some.
    (tmp_path / "near.run").write_text(run_lines(lambda topic: 2 - topic % 2))
    (tmp_path / "slip.run").write_text(run_lines(lambda topic: 1 + topic % 2 + (topic in {2, 12, 22, 8})))
    write_topics(tmp_path / "slices.tsv", lambda topic: "odd" if topic % 2 else "even")
    return tmp_path


@pytest.fixture
def compare(capsys, folder, monkeypatch):  # noqa: ARG001  # the command runs there
    monkeypatch.setenv("COLUMNS", "1000")  # the whole table, and each note in one line
    return partial(run_command, capsys, "compare", "qrels.txt", "old.run")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("same.run better.run -m RR --fail-if worse", 0),
        ("better.run worse.run -m RR --fail-if worse", 1),
        ("worse.run -m RR --fail-if worse --tolerance 0.5", 0),
        ("worse.run -m RR --fail-if worse --tolerance 0.9", 2),
        ("worse.run -m NumRel --fail-if worse", 2),
        ('"$PWD/old.run" -m RR --fail-if worse', 2),
        ("worse.run -m RR", 0),
        ("missing.run -m RR --fail-if worse", 2),
        ("worse.run -m nonsense --fail-if worse", 2),
        ("worse.run -m RR --fail-if worse --alpha 2", 2),
        ("worse.run -m RR --fail-if worse -B 3", 2),
        ("better.run same.run -m RR --fail-if inconclusive --tolerance 0.1", 0),
        ("near.run -m RR --fail-if inconclusive --tolerance 0.1", 3),
        ("near.run -m RR --fail-if worse --tolerance 0.1", 0),
        ("near.run worse.run -m RR --fail-if inconclusive --tolerance 0.1", 1),
        ("near.run -m RR --fail-if inconclusive", 2),
        ("slip.run -m RR --fail-if inconclusive --tolerance 0.2", 0),
        ("worse.run -m RR --fail-if inconclusive --tolerance 0.9", 2),
        ("old.run -m RR --fail-if worse", 2),
        ("-m RR --fail-if worse", 2),
    ],
)
def test_exit_codes(compare, folder, arguments, code):
    found, _, err = compare(*shlex.split(arguments.replace("$PWD", str(folder))))
    assert (found, bool(err)) == (code, code == 2)


def test_inconclusive_needs_a_tolerance(compare):
    code, _, err = compare("near.run", "-m", "RR", "--fail-if", "inconclusive")
    assert (code, "--fail-if inconclusive needs --tolerance above 0" in err) == (2, True)


@pytest.mark.slow
def test_exit_codes_in_a_shell(folder):
    command = f"'{sys.executable}' -m ir_graded compare qrels.txt old.run"
    gate = "-m RR --fail-if worse; echo $?"
    line = "; ".join(f"{command} {run} {gate}" for run in ("worse.run", "none"))
    done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=True)  # noqa: S603, S607
    assert [text for text in done.stdout.splitlines() if len(text) == 1] == ["1", "2"], done.stderr


def test_table_has_a_row_for_each_run_and_measure_and_says_what_was_tested(compare):
    code, out, _ = compare("worse.run", "same.run", "-m", "RR P@1")
    assert code == 0
    lines = out.splitlines()
    assert [line.split()[:3:2] for line in lines[2:6]] == 2 * [
        ["worse.run", "worse"],
        ["same.run", "equivalent"],
    ]
    assert lines[-3].startswith(
        "4 comparisons with old.run: 2 worse, 2 equivalent (tolerance 0, alpha 0.05, 90% intervals). "
        "One-sided randomisation test on 30 topics, correction max-t. A loss of 0."
    )
    assert " on 30 topics is detected with probability .8." in lines[-3]


def test_table_shows_p_values_with_three_decimals(compare):
    _, out, _ = compare("worse.run", "near.run", "-m", "RR")
    rows = [line.split() for line in out.splitlines()[2:4]]
    assert [[row[6], row[9]] for row in rows] == [["<.001", "<.001"], ["0.573", "0.573"]]


@pytest.mark.parametrize("output", ["table", "csv", "markdown", "json", "junit"])
@pytest.mark.parametrize("command", ["compare", "answers"])
def test_p_values_beside_a_gain_are_named_as_those_of_a_loss(capsys, folder, command, output):
    given = ("qrels.txt", "old.run", "better.run", "-m", "RR")
    if command == "answers":
        labels = {"good": lambda topic: topic > 0, "poor": lambda topic: topic % 4 == 0}
        lines = [
            {
                "qid": str(topic),
                "run_id": run,
                "nuggets": [{"text": "a", "importance": "vital", "assignment": one}],
            }
            for run, is_supported in labels.items()
            for topic in range(TOPICS)
            for one in ["support" if is_supported(topic) else "not_support"]
        ]
        (folder / "answers.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        given = ("answers.jsonl", "--baseline", "poor", "-m", "vital_score")
    text = run_command(capsys, command, *given, "-o", output)[1].replace("\\", "")
    assert "better" in text
    assert "p_loss_corrected" in text
    assert not re.search(r"\bp\b|\bp_corrected\b|\bsignificant\b", text)


def test_an_undefined_minimum_detectable_is_explained(compare):
    _, out, _ = compare("same.run", "-m", "RR")
    assert out.splitlines()[-1].endswith(
        "correction max-t. minimum_detectable is not defined (nan) where all topics have the same difference."
    )


@pytest.fixture
def few(folder):
    """Four topics, on all of which worse.run is worse."""
    (folder / "qrels.txt").write_text("".join(f"{topic} 0 hit 1\n" for topic in range(4)))


@pytest.mark.usefixtures("few")
def test_a_gate_that_could_never_fail_is_an_error(compare):
    failed = compare("worse.run", "-m", "RR", "--fail-if", "worse")
    assert_command_fails(
        failed,
        "--fail-if worse: a comparison could never fail: the randomisation test cannot find a difference",
        "on 4 topics (p >= 0.0625)",
        "not below --alpha 0.05; use more topics or --test t",
    )
    assert compare("worse.run", "-m", "RR", "--fail-if", "worse", "--test", "t")[0] == 1


@pytest.mark.usefixtures("few")
def test_without_a_gate_a_test_that_finds_nothing_is_warned_of(compare):
    code, out, err = compare("worse.run", "-m", "RR")
    assert (code, err.count("\n")) == (0, 1)
    assert err.startswith("ir_graded: warning: the randomisation test cannot find a difference on 4 topics")
    assert err.endswith("use more topics or --test t\n")
    assert "on 4 topics, correction max-t." in out.splitlines()[-1]


def test_a_gate_on_a_slice_of_three_topics_is_an_error(compare, folder):
    (folder / "slices.tsv").write_text("1 hard\n2 hard\n3 hard\n")
    failed = compare("same.run", "-m", "RR", "--slices", "slices.tsv", "--fail-if", "worse")
    assert_command_fails(failed, "3 topics of the slice 'hard' (p >= 0.125)")


@pytest.mark.parametrize("tolerance", ["0.75", "5"])
def test_a_tolerance_above_any_loss_is_an_error(compare, tolerance):
    failed = compare("worse.run", "-m", "RR", "--tolerance", tolerance)
    assert_command_fails(failed, f"--tolerance {tolerance} must be below the mean of 'old.run', 0.75 by RR")


@pytest.mark.parametrize("measure", ["NumRel", "NumQ", "NumRet"])
def test_a_measure_by_which_no_run_can_be_worse_is_an_error(compare, measure):
    failed = compare("worse.run", "-m", f"RR {measure}")
    assert_command_fails(failed, f"{measure}: no run can be worse by it", "a higher score is not better")
    assert compare("worse.run", "-m", "NumRet(rel=1) Judged@10")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "level"), [("Q(rel=5)", 1), ("AP", 0.3)], ids=["no such level", "labels below 1"]
)
def test_a_gate_on_a_baseline_that_scores_0_is_an_error(compare, folder, measure, level):
    rows = "".join(f"{topic},hit,{level}\n" for topic in range(TOPICS))
    (folder / "qrels.txt").write_text("query_id,doc_id,relevance\n" + rows)
    found = compare("worse.run", "-m", measure, "--fail-if", "worse", "--quiet")
    assert_command_fails(
        found,
        "--fail-if worse: a comparison could never fail: "
        f"'old.run' scores 0 on all 30 topics by {measure}, so no",
        "do the ids of run and qrels match, and are levels of the qrels relevant to the measure?",
    )
    code, _, err = compare("worse.run", "-m", measure)
    assert (code, "'old.run' scores 0 on all 30 topics" in err) == (0, True)


@pytest.mark.parametrize("kept", [0, 6, 26])
def test_a_baseline_without_more_than_a_tenth_of_the_topics_is_an_error(compare, folder, kept):
    lines = (folder / "old.run").read_text().splitlines(keepends=True)
    (folder / "old.run").write_text("".join(lines[: 3 * kept]))
    assert_command_fails(
        compare("same.run", "-m", "RR"),
        f"the baseline 'old.run' lacks {30 - kept} of the 30 topics of the qrels (the first is '{kept}')",
        "must have at least 90%",
    )


@pytest.mark.slow
def test_a_baseline_may_lack_a_tenth_of_the_topics_and_a_run_any(compare, folder):
    lines = (folder / "old.run").read_text().splitlines(keepends=True)
    (folder / "old.run").write_text("".join(lines[:81]))
    (folder / "part.run").write_text("".join(lines[:18]))
    assert compare("same.run", "-m", "RR", "--fail-if", "worse")[0] == 0
    code, _, err = compare("part.run", "-m", "RR", "--fail-if", "worse")
    assert (code, "lacks 24 of the 30 topics" in err) == (1, True)


def test_one_file_as_baseline_and_run_is_an_error_under_any_path(compare, folder):
    (folder / "link.run").symlink_to("old.run")
    for paths in (["./old.run"], [str(folder / "old.run")], ["link.run"], ["./old.run", "link.run"]):
        assert_command_fails(compare(*paths, "-m", "RR"), "is both the baseline and the only run")
    code, out, _ = compare("link.run", str(folder / "old.run"), "worse.run", "-m", "RR", "-o", "json")
    assert (code, [row["run"] for row in json.loads(out)["comparisons"]]) == (0, ["worse.run"])


def test_a_baseline_that_lacks_topics_of_a_slice_is_rejected(compare, folder):
    lines = (folder / "old.run").read_text().splitlines(keepends=True)
    (folder / "old.run").write_text("".join(line for line in lines if line.split()[0] not in {"0", "1"}))
    write_topics(folder / "slices.txt", lambda topic: "hard" if topic < 8 else "easy")
    assert compare("worse.run", "-m", "RR", "--fail-if", "worse", "--quiet")[0] == 1  # 2 of 30 may be missing
    found = compare("worse.run", "-m", "RR", "--fail-if", "worse", "--slices", "slices.txt")
    assert_command_fails(found, "lacks 2 of the 8 topics of slice 'hard' (the first is '0')")


@pytest.mark.slow
def test_a_slice_that_cannot_be_worse_hides_no_loss(compare, folder):
    """The slice none has no relevant document that old.run retrieved; both runs are tested on all topics."""
    write_topics(folder / "qrels.txt", lambda topic: f"0 {'hit' if topic < 24 else 'unseen'} 1")
    write_topics(folder / "slices.txt", lambda topic: "some" if topic < 24 else "none")
    gate = ("-m", "RR", "--fail-if", "worse", "--slices", "slices.txt")
    code, out, err = compare("worse.run", *gate)
    assert (code, "3 comparisons with old.run: 2 worse, 1 inconclusive" in out) == (1, True)
    assert "warning: 'old.run' scores 0 on the 6 of slice 'none' by RR" in err
    failed = compare("better.run", *gate)
    assert_command_fails(failed, "a comparison could never fail: 'old.run' scores 0 on the 6 of slice 'none'")


def test_each_slice_has_its_own_detectable_loss(compare, folder):
    write_topics(folder / "slices.txt", lambda topic: "hard" if topic < 8 else "easy")
    _, out, _ = compare("worse.run", "-m", "RR", "--slices", "slices.txt")
    losses = [line.split()[11] for line in out.splitlines()[2:5]]
    assert len(set(losses)) == 3
    said = out.splitlines()[-1]
    assert "test on 30 topics, on the 8 of slice hard, on the 22 of slice easy, correction" in said
    assert (
        f"A loss of {losses[0]} on 30 topics, of {losses[1]} on the 8 of slice hard, "
        f"of {losses[2]} on the 22 of slice easy is detected with probability .8." in said
    )


@pytest.fixture
def unjudged(folder):
    """All ten documents of old.run are judged, and seven of new.run, above which three are not."""
    judged = [f"d{rank}" for rank in range(10)]
    runs = {"old": judged, "new": ["n0", "n1", "n2", *judged[:7]]}
    (folder / "qrels.txt").write_text(
        "".join(f"{topic} 0 {doc} {int(doc < 'd5')}\n" for topic in range(TOPICS) for doc in judged)
    )
    for name, docs in runs.items():
        lines = (f"{topic} Q0 {doc} 0 {-at} t\n" for topic in range(TOPICS) for at, doc in enumerate(docs))
        (folder / f"{name}.run").write_text("".join(lines))


NOTE = (
    "The share of judged documents differs in 2 of 2 comparisons, most in judged@3 for P@3: 0 of new.run, 1 "
    "of old.run. This affects measures that count unjudged documents as not relevant; for a second look "
    "without them, use "
    "nDCG(judged_only=True) P(judged_only=True)@3."
)


@pytest.mark.slow
@pytest.mark.usefixtures("unjudged")
def test_every_output_has_the_shares_of_judged_documents_and_a_note(compare):
    given = ("new.run", "-m", "nDCG P@3", "-o")
    for style, start in (("table", 0), ("markdown", 2)):
        _, out, _ = compare(*given, style)
        out = re.sub(r"\\(.)|<!-- -->", r"\1", out)
        rows = [line.replace("|", " ").split() for line in out.splitlines()[start : start + 4]]
        assert [*rows[0][-2:], rows[0][2]] == ["judged", "baseline_judged", "verdict"]
        shown = [[*row[-2:], row[2]] for row in rows[2:]]
        assert shown == [[share, "1.0000", "worse"] for share in ("0.7000", "0.0000")]
        assert out.splitlines()[-1] == NOTE
    found = json.loads(compare(*given, "json")[1])
    assert [(row["judged"], row["baseline_judged"]) for row in found["comparisons"]] == [(0.7, 1), (0, 1)]
    assert found["notes"] == [NOTE]
    suite = ET.fromstring(compare(*given, "junit")[1])  # noqa: S314  # the text of the command
    assert suite[0].find("failure").text.endswith(", judged 0.7000, baseline_judged 1.0000")
    assert suite.find("system-out").text == NOTE
    assert compare("new.run", "-m", "nDCG(judged_only=True)", "--fail-if", "worse")[0] == 0


@pytest.mark.slow
@pytest.mark.usefixtures("unjudged")
def test_there_is_no_note_where_unjudged_documents_make_no_difference(compare, folder):
    (folder / "same.run").write_text((folder / "old.run").read_text())
    for given in (("same.run", "-m", "nDCG"), ("new.run", "-m", "nDCG(judged_only=True)")):
        _, out, _ = compare(*given, "-o", "json")
        assert json.loads(out)["notes"] == []


def rows_of_markdown(out):
    """Cells of the table in a comment, without its head."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in out.splitlines() if line[:1] == "|"
    ][2:]


@pytest.mark.slow
def test_a_comment_begins_with_the_worst_verdict_and_its_comparisons(compare):
    given = ("better.run", "near.run", "worse.run", "same.run", "-m", "RR", "--tolerance", "0.01")
    _, out, _ = compare(*given, "-o", "markdown")
    assert out.splitlines()[0] == (
        "**Worse**: 4 comparisons with old.run: 1 worse, 1 better, 1 equivalent, 1 inconclusive "
        "(tolerance 0.01, alpha 0.05, 90% intervals)."
    )
    assert [(row[0], row[2]) for row in rows_of_markdown(out)] == [
        ("worse.run", "worse"),
        ("near.run", "inconclusive"),
        ("same.run", "equivalent"),
        ("better.run", "better"),
    ]
    assert "One-sided randomisation test on 30 topics, correction max-t." in out
    assert out.count("\n") < 15
    _, out, _ = compare("better.run", "-m", "RR", "-o", "markdown")
    assert out.startswith("**Better**: 1 comparison with old.run: 1 better ")


@pytest.mark.slow
def test_a_comment_on_hundreds_of_comparisons_fits_and_counts_what_it_leaves_out(compare, folder):
    """Measures with long names on hundreds of slices; the worse ones come first."""
    write_topics(folder / "slices.txt", lambda topic: f"{'s' * 40}{topic % 15}")
    measures = "nDCG@10 nDCG@5 RR P@1"
    given = ("worse.run", "near.run", "-m", measures, "--quiet", "--slices", "slices.txt", "-o")
    code, out, err = compare(*given, "markdown")
    assert code == 0, err
    assert 5_000 < len(out) <= 65_536
    shown = rows_of_markdown(out)
    verdicts = [row["verdict"] for row in json.loads(compare(*given, "json")[1])["comparisons"]]
    assert 0 < len(shown) < len(verdicts) == 128
    assert [row[3] for row in shown][:2] == ["worse", "worse"]
    left = [*verdicts]
    for row in shown:
        left.remove(row[3])
    (more,) = [line for line in out.splitlines() if line.startswith("And ")]
    assert more.startswith(f"And {len(left)} more: ")
    assert sum(int(p.split()[0]) for p in more.partition(": ")[2].partition(".")[0].split(", ")) == len(left)
    assert f"**Worse**: 128 comparisons with old.run: {verdicts.count('worse')} worse" in out
    assert "and on 5 more slices" in out


@pytest.mark.slow
def test_a_comment_with_names_of_any_length_fits(compare, folder):
    names = ["a" * 200 + str(number) for number in range(60)]
    for name in names:
        (folder / name).write_text((folder / "worse.run").read_text())
    _, out, _ = compare(*names, "-m", "RR", "-o", "markdown")
    assert len(out) <= 65_536
    assert "And 10 more: 10 worse. " in out
    write_topics(folder / "slices.txt", lambda topic: f"{'long' * 9000}{topic % 3}")
    _, out, _ = compare("worse.run", "-m", "RR", "--slices", "slices.txt", "-o", "markdown")
    assert out.startswith("**Worse**: 4 comparisons with old.run: 4 worse ")
    assert [row[:2] for row in rows_of_markdown(out)] == [["worse.run", "RR"]]
    assert "And 3 more: 3 worse. " in out
    assert len(out) <= 65_536


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "verdict"),
    [
        ("same.run -m RR --min RR=.75", 0, "equivalent"),
        ("same.run -m RR --min RR=.7500001", 1, "below minimum"),
        ("better.run -m RR --min RR=1", 0, "better"),
        ("worse.run -m RR --min RR=.3", 0, "worse"),
        ("worse.run -m RR --min RR=.3 --fail-if worse", 1, "worse"),
        ("worse.run -m RR --min RR=.5", 1, "worse and below minimum"),
        ("near.run -m RR --min RR=.8 --fail-if inconclusive --tolerance .1", 1, "below minimum"),
        ("near.run -m RR --min RR=.7 --fail-if inconclusive --tolerance .1", 3, "inconclusive"),
    ],
)
def test_a_mean_below_its_minimum_fails_in_every_output(compare, arguments, code, verdict):
    given = arguments.split()
    found, out, _ = compare(*given, "-o", "json")
    report = json.loads(out)
    (row,) = report["comparisons"]
    assert (found, row["verdict"]) == (code, verdict)
    assert report["passed"] == ("worse" not in verdict.split()[0] and "below" not in verdict)
    lowest = float(given[given.index("--min") + 1].partition("=")[2])
    assert row["minimum"] == pytest.approx(lowest, abs=1e-4)
    for style in ("table", "markdown", "junit"):
        found, out, _ = compare(*given, "-o", style)
        assert (found, verdict in out, "minimum" in out) == (code, True, True)
        # Further decimal places show that a mean is below its minimum, and only that.
        assert style == "junit" or "below" in verdict or not re.search(r"\.\d{5}", out)
    suite = ET.fromstring(out)  # noqa: S314  # the text of the command
    failure = suite[0].find("failure")
    assert (failure is not None) == ("worse" in verdict or "below" in verdict or code == 3)
    if "below" in verdict:
        message = failure.get("message")
        assert float(message.split()[4].rstrip(";")) == lowest
        assert float(message.split()[1]) == pytest.approx(row["mean"], abs=1e-4)
        assert ("against old.run" in message) == ("worse" in verdict)


@pytest.mark.slow
def test_a_minimum_is_of_all_topics_and_of_its_measure_and_of_runs_only(compare):
    given = ("better.run", "-m", "RR P@1", "--slices", "slices.tsv", "-o", "json", "--min", "RR=.99")
    code, out, _ = compare(*given)
    rows = json.loads(out)["comparisons"]
    assert code == 0  # old.run, with .75, is not checked
    assert [row["minimum"] for row in rows if row["measure"] == "RR"] == [0.99, None, None]
    assert {row["minimum"] for row in rows if row["measure"] == "P@1"} == {None}
    assert "minimum " not in compare("worse.run", "-m", "RR")[1].replace("minimum_detectable ", "")


@pytest.mark.parametrize(
    ("minimum", "parts"),
    [
        ("Q=.5", ["the minimum of Q needs scores by Q; the measures are RR"]),
        ("Qq=.5", ["Unknown measure 'Qq'. Did you mean 'Q'?"]),
        ("RR", ["'RR' must be MEASURE=MEAN, such as nDCG@10=.65"]),
        ("RR=", ["'RR=' must be MEASURE=MEAN"]),
        ("RR=65%", ["'RR=65%' must be"]),
        ("RR=nan", ["'RR=nan' must be"]),
        ("RR P@1=.5", ["'RR P@1=.5' must be"]),
        ("nDCG(rel=2)", ["--min"]),
    ],
)
@pytest.mark.parametrize("runs", [["same.run"], []])
def test_a_wrong_minimum_is_an_error(compare, minimum, parts, runs):
    assert_command_fails(compare(*runs, "-m", "RR", "--min", minimum), *parts)


def test_a_measure_has_one_minimum(compare):
    given = ("same.run", "-m", "RR", "--min", "RR=.5", "--min", "recip_rank=.6")
    assert_command_fails(compare(*given), "RR has two minima, 0.5 and 0.6")


@pytest.mark.parametrize(("lowest", "code"), [(".75", 0), (".76", 1)])
def test_a_run_alone_is_checked_against_minima(capsys, folder, lowest, code):  # noqa: ARG001
    given = ("compare", "qrels.txt", "old.run", "-m", "RR P@1", "--min", f"RR={lowest}", "-o")
    verdict = ("not below minimum", "below minimum")[code]
    found, out, _ = run_command(capsys, *given, "json")
    assert (found, json.loads(out)) == (
        code,
        {
            "passed": not code,
            "notes": [],
            "comparisons": [
                {"run": "old.run", "measure": "RR", "topics": 30, "mean": 0.75, "minimum": float(lowest)}
                | {"verdict": verdict},
                {"run": "old.run", "measure": "P@1", "topics": 30, "mean": 0.5, "minimum": None}
                | {"verdict": "no minimum"},
            ],
        },
    )
    said = f"2 means over 30 topics: 1 {verdict}, 1 no minimum."
    found, out, _ = run_command(capsys, *given, "table")
    assert (found, out.splitlines()[-1]) == (code, said)
    found, out, _ = run_command(capsys, *given, "markdown")
    assert (found, out.splitlines()[0]) == (code, f"**{verdict.capitalize()}**: {said}")
    found, out, _ = run_command(capsys, *given, "junit")
    suite = ET.fromstring(out)  # noqa: S314  # the text of the command
    assert (found, suite.get("failures"), suite.get("tests")) == (code, str(code), "2")
    assert [case.get("name") for case in suite] == ["RR on all", "P@1 on all"]


def test_a_run_alone_needs_a_minimum_and_no_options_of_tests(compare):
    assert_command_fails(compare("-m", "RR"), "give RUNs to compare with BASELINE, or --min to check")
    for option in (
        ["--fail-if", "worse"],
        ["--tolerance", ".1"],
        ["--slices", "slices.tsv"],
        ["--n-resamples", "9"],
    ):
        failed = compare("-m", "RR", "--min", "RR=.1", *option)
        assert_command_fails(failed, f"{option[0]} needs RUNs to compare with BASELINE")
    assert_command_fails(compare("-m", "NumRel", "--min", "NumRel=1"), "no run can be worse by it")
    assert_command_fails(compare("-m", "GMAP", "--min", "GMAP=.1"), "geometric mean")


@pytest.mark.slow
def test_minima_follow_weights_and_the_order_of_ties(capsys, folder):
    write_topics(folder / "traffic.txt", lambda t: 1 if t % 2 else 3)
    given = ("compare", "qrels.txt", "old.run", "-m", "RR", "-o", "json", "--weights", "traffic.txt")
    assert run_command(capsys, *given, "--min", "RR=.875")[0] == 0  # (3 * 1 + 1 * .5) / 4
    assert run_command(capsys, *given, "--min", "RR=.8751")[0] == 1
    assert run_command(capsys, *given, "--min", "RR=.875", "--ties", "pessimistic")[0] == 0
    assert run_command(capsys, *given, "same.run", "--min", "RR=.875", "--ties", "expected")[0] == 0
    assert run_command(capsys, *given, "same.run", "--min", "RR=.8751", "--ties", "expected")[0] == 1


def test_markdown_is_a_table_with_slices(compare):
    code, out, _ = compare("worse.run", "-m", "RR", "-o", "markdown", "--slices", "slices.tsv")
    assert code == 0
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in out.splitlines() if line[:1] == "|"]
    assert rows[0][:5] == ["run", "measure", "slice", "verdict", "difference"]
    assert not {"p\\_loss", "minimum\\_detectable"} & {*rows[0]}
    assert [(row[2], row[3]) for row in rows[2:]] == [("all", "worse"), ("even", "worse"), ("odd", "worse")]


def test_json_holds_options_and_comparisons(compare):
    tested = ("--test", "t", "--correction", "bh", "--tolerance", "0.01")
    _, out, _ = compare("worse.run", "-m", "RR", "-o", "json", "-p", "-1", *tested)
    found = json.loads(out)
    options = {
        "alternative": "less",
        "family": "all",
        "test": "t",
        "correction": "bh",
        "tolerance": 0.01,
        "passed": False,
    }
    assert found.items() >= options.items()
    (row,) = found["comparisons"]
    expected = {"run": "worse.run", "measure": "RR", "slice": "all", "topics": TOPICS, "verdict": "worse"}
    assert row.items() >= expected.items()
    assert row["difference"] == pytest.approx((0.5 - 1 + 1 / 3 - 0.5) / 2)


@pytest.mark.slow
def test_csv_has_the_rows_of_the_table_and_exact_p_values(compare):
    given = ("worse.run", "better.run", "-m", "RR AP", "--min", "RR=0.1")
    header, *rows = csv.reader(io.StringIO(compare(*given, "-o", "csv")[1]))
    head, _, *lines = compare(*given)[1].splitlines()[: 2 + len(rows)]
    assert header == head.split()
    of_json = json.loads(compare(*given, "-o", "json")[1])["comparisons"]
    assert len(rows) == len(of_json) == 4
    for row, line, found in zip(rows, lines, of_json, strict=True):
        named = dict(zip(header, row, strict=True))
        assert [named[name] for name in ("run", "measure", "verdict")] == line.split()[:3]
        assert (float(named["p_loss"]), named["verdict"]) == (found["p_loss"], found["verdict"])


def test_junit_has_a_failure_for_each_worse_run(compare):
    _, out, _ = compare("worse.run", "better.run", "-m", "RR", "-o", "junit")
    suite = ET.fromstring(out)  # noqa: S314  # the text of the command
    assert (suite.tag, suite.get("tests"), suite.get("failures")) == ("testsuite", "2", "1")
    assert [(case.get("classname"), case.find("failure") is not None) for case in suite] == [
        ("worse.run", True),
        ("better.run", False),
    ]
    assert suite[0].find("failure").get("message").startswith("-0.3333 against old.run, corrected p ")
    assert "better" in suite[1].find("system-out").text


def test_runs_of_one_file_name_are_told_apart_by_their_folders(compare, folder):
    (folder / "branch").mkdir()
    (folder / "branch" / "old.run").write_text((folder / "worse.run").read_text())
    code, out, _ = compare("branch/old.run", "-m", "RR", "--fail-if", "worse")
    assert code == 1
    assert out.splitlines()[2].startswith("branch/old.run")


@pytest.mark.parametrize("tolerance", ["5%", "-0.1"])
def test_a_wrong_tolerance_names_its_units(compare, tolerance):
    failed = compare("same.run", "-m", "RR", "--tolerance", tolerance)
    assert_command_fails(failed, "--tolerance", tolerance, "units of the measure, for example 0.005")


@pytest.mark.parametrize(
    ("mark", "header"),
    [("\t", ""), ("\t\t", ""), (",", ""), (", ", ""), ("\t", "qid\tkind\n"), (",", "query_id,kind\n")],
)
def test_topics_of_slices_may_hold_blanks(capsys, folder, mark, header):
    topics = [f"what is {topic}" for topic in range(TOPICS)]
    (folder / "qrels.csv").write_text("query_id,doc_id,relevance\n" + "".join(f"{t},hit,1\n" for t in topics))
    for name, first in (("old", "hit"), ("new", "x")):
        rows = "".join(f"{t},hit,1\n{t},{first},2\n" if first == "x" else f"{t},hit,1\n" for t in topics)
        (folder / f"{name}.csv").write_text("query_id,doc_id,score\n" + rows)
    slices = "".join(f"{t}{mark}{'early' if at < 10 else 'late on'}\n\n" for at, t in enumerate(topics))
    (folder / "slices").write_text(header + slices)
    given = ("qrels.csv", "old.csv", "new.csv", "-m", "RR", "--slices", "slices", "-o", "json")
    code, out, _ = run_command(capsys, "compare", *given)
    rows = json.loads(out)["comparisons"]
    assert (code, [(row["slice"], row["topics"]) for row in rows]) == (
        0,
        [("all", 30), ("early", 10), ("late on", 20)],
    )


def test_wrong_slices_name_the_separators(compare, folder):
    (folder / "wrong.txt").write_text("what is 1 even\n")
    failed = compare("same.run", "-m", "RR", "--slices", "wrong.txt")
    assert_command_fails(
        failed, "wrong.txt, line 1: expected a topic and its slice, found 4 fields", "by a tab or a comma"
    )
    for text in ("1,even\n2,\n", "1\teven\n2\n", "1,even\n1,odd\n"):
        (folder / "wrong.txt").write_text(text)
        assert_command_fails(compare("same.run", "-m", "RR", "--slices", "wrong.txt"), "wrong.txt, line 2: ")


# ------------------------------------------------------------------------------------------ compare_runs

QRELS = {str(topic): {"hit": 1} for topic in range(12)}
OLD = {str(topic): {"hit": 2.0, "x": 1.0} for topic in range(12)}
NEW = {str(topic): {"hit": 1.0, "x": 2.0} for topic in range(12)}


@pytest.mark.parametrize(("runs", "names"), [(NEW, ("run",)), ({"a": NEW, "b": OLD}, ("a", "b"))])
def test_runs_come_in_any_form(runs, names):
    found = ir_graded.compare_runs("RR", QRELS, OLD, runs)
    assert ({*found.baseline}, found.run, found.passed) == ({"baseline"}, names, False)


def test_a_baseline_may_have_a_name():
    assert ir_graded.compare_runs("RR", QRELS, {"main": OLD}, {"new": NEW}).baseline == ("main",)
    with pytest.raises(ir_graded.InputError, match="the baseline and a run are both named 'main'"):
        ir_graded.compare_runs("RR", QRELS, {"main": OLD}, {"main": NEW})


@pytest.mark.parametrize("baseline", ["old.run", "old", "./old", "old.run.gz"])
def test_the_baseline_may_be_one_of_the_runs(folder, baseline):
    runs = [str(folder / "worse.run"), "old.run"]
    assert_old_is_the_baseline(ir_graded.compare_runs("RR", "qrels.txt", baseline, runs))


@pytest.mark.parametrize("baseline", ["old.run", "old", "runs/old", "runs/old.run"])
def test_the_baseline_may_be_a_file_of_the_folder_of_runs(folder, baseline):
    (folder / "runs").mkdir()
    for name in ("old.run", "worse.run"):
        (folder / name).rename(folder / "runs" / name)
    assert_old_is_the_baseline(ir_graded.compare_runs("RR", "qrels.txt", baseline, "runs"))


def assert_old_is_the_baseline(found):
    assert (found.baseline, found.run, found.passed) == (("old.run",), ("worse.run",), False)


def test_a_missing_baseline_is_no_run_of_another_folder(capsys, folder):
    (folder / "runs").mkdir()
    (folder / "same.run").rename(folder / "runs" / "same.run")
    failed = run_command(
        capsys, "compare", "qrels.txt", "main/same.run", "runs/same.run", "old.run", "-m", "RR"
    )
    assert_command_fails(failed, "main/same.run")


def test_several_baselines_are_an_error():
    with pytest.raises(ir_graded.InputError, match="baseline: expected one run, found 2"):
        ir_graded.compare_runs("RR", QRELS, {"a": OLD, "b": OLD}, NEW)


def test_slices_of_a_mapping_and_ties_are_passed_on():
    tied = {str(topic): {"hit": 1.0, "x": 1.0, "y": 0.0} for topic in range(12)}
    slices = {topic: "low" if int(topic) < 6 else "high" for topic in QRELS}
    found = ir_graded.compare_runs("RR", QRELS, OLD, tied, slices=slices, ties="pessimistic", test="t")
    assert found.slice == ("all", "low", "high")
    assert found.difference.tolist() == [-0.5, -0.5, -0.5]
    lucky = ir_graded.compare_runs("RR", QRELS, OLD, tied, ties="optimistic")
    assert lucky.difference.tolist() == [0]


def test_judged_is_one_minus_the_unjudged_share_of_the_topics_retrieved():
    """A negative level counts as unjudged, and a topic without documents is left out."""
    qrels = {topic: {"hit": 1, "x": -1} for topic in QRELS}
    new = {topic: {"hit": 3.0, "x": 2.0, "y": 1.0} for topic in list(QRELS)[:9]}
    slices = {topic: "low" if int(topic) < 6 else "high" for topic in QRELS}
    with pytest.warns(ir_graded.CoverageWarning, match="lacks 3 of the 12 topics"):
        found = ir_graded.compare_runs(["RR", "P@1"], qrels, OLD, {"new": new}, slices=slices, test="t")
    assert found.judged.tolist() == [pytest.approx(1 / 3), 1] * 3
    assert found.baseline_judged.tolist() == [0.5, 1] * 3
    frame = found.to_frame()
    assert frame.columns[1:4].tolist() == ["topics", "judged", "baseline_judged"]
    assert frame["baseline_judged"].tolist() == [0.5, 1] * 3
    share = 1 - ir_graded.unjudged(qrels, {"new": new}, depths=[10]).share[0, 0]
    assert found.judged[0] == pytest.approx(share)


def test_a_baseline_that_scores_0_is_warned_of():
    with pytest.warns(ir_graded.CoverageWarning) as caught:
        found = ir_graded.compare_runs("RR", QRELS, {"b": {t: {"D-1": 1.0, "D-2": 0.5} for t in QRELS}}, OLD)
    assert found.passed
    assert [str(one.message) for one in caught] == [
        "Run 'b' has no judged document (for topic '0' it retrieved 'D-1', 'D-2', and the qrels have 'hit').",
        "'b' scores 0 on all 12 topics by RR, so no run can be worse there; do the ids of run and qrels "
        "match, and are levels of the qrels relevant to the measure?",
    ]


def test_the_text_that_names_no_baseline_gets_suggestions():
    runs = {f"run{number}": OLD for number in range(100)} | {"bm25-base": OLD}
    with pytest.raises(ir_graded.InputError) as caught:
        ir_graded.compare_runs("RR", QRELS, "bm25_base", runs)
    assert str(caught.value) == (
        "the baseline 'bm25_base' is not a file, a dataset id of ir_datasets or the name of a run; did you "
        "mean 'bm25-base'?"
    )
    with pytest.raises(ir_graded.InputError, match=r"the runs are 'run0', 'run1', 'run2' \.\.\.$"):
        ir_graded.compare_runs("RR", QRELS, "monot5", runs)


def test_a_name_of_two_runs_names_no_baseline():
    runs = {"bm25.run": OLD, "bm25.txt": NEW}
    with pytest.raises(ir_graded.InputError, match=r"did you mean 'bm25\.(run|txt)' or 'bm25\.(run|txt)'\?"):
        ir_graded.compare_runs("RR", QRELS, "bm25", runs)


@pytest.mark.slow
def test_gate_and_all_its_outputs_equal_differences(compare):
    scores = ir_graded.evaluate("RR P@1", "qrels.txt", ["old.run", "worse.run", "near.run"])
    options = {"alternative": "less", "family": "all", "tolerance": 0.01}
    expected = ir_graded.meta.differences(scores, "old.run", **options).to_frame()
    same = [name for name in expected if "judged" not in name]
    found = ir_graded.compare_runs(
        "RR P@1", "qrels.txt", "old.run", ["worse.run", "near.run"], tolerance=0.01
    ).to_frame()
    assert found[same].equals(expected[same])
    given = ("worse.run", "near.run", "-m", "RR P@1", "--tolerance", "0.01", "-p", "-1", "-o")
    rows = json.loads(compare(*given, "json")[1])["comparisons"]
    assert [row["p_loss_corrected"] for row in rows] == expected["p_corrected"].tolist()
    assert [row["verdict"] for row in rows] == expected["verdict"].tolist()
    suite = ET.fromstring(compare(*given, "junit")[1])  # noqa: S314  # the text of the command
    texts = [case[0].text for case in suite.findall("testcase")]
    for row, text in zip(expected.to_dict("records"), texts, strict=True):
        assert f"verdict {row['verdict']}, " in text
        assert f"p_loss_corrected {p_text(row['p_corrected'])}, " in text
    cells = [line.split() for line in compare(*given, "table")[1].splitlines()[2:6]]
    assert [row[2] for row in cells] == [*expected["verdict"]]
    rows = [[cell.strip() for cell in row] for row in rows_of_markdown(compare(*given, "markdown")[1])]
    named = expected.set_index(["run", "measure"])["verdict"]
    assert {(row[0], row[1]): row[2] for row in rows} == named.to_dict()


@pytest.mark.slow
def test_weights_of_topics_decide(compare, folder):
    """near.run is better on even topics, which have nearly all the traffic."""
    write_topics(folder / "traffic.txt", lambda t: 1000 if t % 2 == 0 else 1)
    _, out, _ = compare("near.run", "-m", "RR", "--weights", "traffic.txt", "-o", "json")
    (row,) = json.loads(out)["comparisons"]
    assert row["difference"] < -0.49
    assert row["verdict"] == "worse"
    write_topics(folder / "traffic.txt", lambda t: 10_000 if t == 2 else 1)
    found = json.loads(
        compare("near.run", "-m", "RR", "--weights", "traffic.txt", "-o", "json", "--quiet")[1]
    )
    assert found["notes"][0].startswith("Weights: the effective number of topics is 1.0 (all topics)")
    assert found["comparisons"][0]["minimum_detectable"] is None
    (folder / "traffic.txt").write_text("0 5\n1 -3\n")
    failed = compare("near.run", "-m", "RR", "--weights", "traffic.txt")
    assert_command_fails(failed, "traffic.txt, line 2: the weight must be a finite number >= 0: '1 -3'")
    (folder / "traffic.txt").write_text("0 5\n1 3\n")
    failed = compare("near.run", "-m", "RR", "--weights", "traffic.txt")
    assert_command_fails(failed, "traffic.txt: weights: topics need", "'2', '3', '4' (28 in total) have none")


def notes_of(compare, *given):
    """Return the notes in JSON, Markdown and JUnit."""
    (code, out, _), *others = (compare(*given, "-o", style) for style in ("json", "markdown", "junit"))
    suite = ET.fromstring(others[1][1])  # noqa: S314  # the text of the command
    found = suite.find("system-out")
    assert {code, *(one[0] for one in others)} == {code}
    comment = others[0][1].replace("\\_", "_")
    return " ".join(json.loads(out)["notes"]), comment, "" if found is None else found.text


@pytest.mark.slow
@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("more", [[], ["--quiet"]])
def test_warnings_are_notes_of_outputs_without_standard_error(compare, folder, more, alone):
    lines = (folder / "old.run").read_text().splitlines(keepends=True)
    (folder / "part.run").write_text("".join(lines[:18]))
    (folder / "old.run").write_text("".join(lines[:-3]))
    given = ("-m", "RR", "--min", "RR=.1", *([] if alone else ["part.run"]), *more)
    said = ["Run 'old.run' lacks 1 of the 30 topics of the qrels (the first is '29') and scores 0 on them."]
    said += [] if alone else ["Run 'part.run' lacks 24 of the 30 topics"]
    for text in notes_of(compare, *given):
        assert all(part in text for part in said), text
    code, out, err = compare(*given)
    assert (code, said[0] in out) == (0, False)
    assert all(part in err for part in said) != ("--quiet" in more)


@pytest.mark.slow
def test_warnings_of_tests_are_notes(compare, folder):
    (folder / "qrels.txt").write_text("".join(f"{topic} 0 hit 1\n" for topic in range(4)))
    for text in notes_of(compare, "worse.run", "-m", "RR"):
        assert "The randomisation test cannot find a difference on 4 topics (p " in text
        assert "use more topics or --test t." in text


@pytest.mark.slow
def test_outputs_name_the_file_of_weights(compare, folder):
    write_topics(folder / "traffic.txt", lambda t: 1 if t % 2 else 3)
    given = ("-m", "RR", "--weights", "traffic.txt", "--min", "RR=.1")
    for more, said in (([], "Means are"), (["worse.run"], "Means and tests are")):
        for text in (*notes_of(compare, *more, *given), compare(*more, *given)[1]):
            assert text.count(f"{said} weighted by traffic.txt.") == 1
        assert compare(*more, *given, "-o", "csv")[2] == f"{said} weighted by traffic.txt.\n"
    write_topics(folder / "traffic.txt", lambda t: 10_000 if t == 2 else 1)
    for text in notes_of(compare, "near.run", *given):
        assert text.count("effective number of topics") == 1


@pytest.mark.slow
@pytest.mark.parametrize("runs", [[], ["same.run"]])
def test_a_mean_below_its_minimum_is_not_printed_as_equal_to_it(compare, runs):
    given = (*runs, "-m", "RR P@1", "--min", "RR=.750002")
    _, out, _ = compare(*given, "-o", "json")
    row = json.loads(out)["comparisons"][0]
    assert (row["mean"], row["minimum"]) == (0.75, 0.750002)
    for style in ("table", "markdown"):
        text = compare(*given, "-o", style)[1]
        assert re.search(r"0\.750000\b", text)
        assert re.search(r"0\.750002\b", text)
        assert runs or "nan" not in text
    assert ", minimum 0.750002" in compare(*given, "-o", "junit")[1]
    assert re.search(rf"0\.750002{'0' * 9}\b", compare(*given, "-o", "table", "-p", "15")[1])
    assert "0.7500 " in compare(*runs, "-m", "RR", "--min", "RR=.7", "-o", "table")[1]


@pytest.mark.parametrize("minimum", ["RR=0", "RR=-1", "P@1=0", "Q=-.5"])
@pytest.mark.parametrize("runs", [[], ["same.run"]])
def test_a_minimum_that_every_mean_reaches_is_an_error(compare, minimum, runs):
    failed = compare(*runs, "-m", "RR P@1 Q", "--min", minimum)
    name, _, lowest = minimum.partition("=")
    assert_command_fails(failed, f"no mean of {name} is below {float(lowest):g}, and the minimum is")


def test_a_minimum_that_no_mean_reaches_is_rejected(compare):
    failed = compare("same.run", "-m", "RR", "--min", "RR=50")
    assert_command_fails(failed, "no mean of RR is above 1, and the minimum is 50; give a lower one")
    assert compare("same.run", "-m", "RR", "--min", "RR=1")[0] == 1


@pytest.mark.slow
def test_a_baseline_among_the_runs_is_warned_of(compare, folder):
    (folder / "link.run").symlink_to("old.run")
    for repeated, name in (("old.run", "old.run"), ("link.run", "link.run"), ("new=old.run", "new")):
        code, out, err = compare(repeated, "worse.run", "-m", "RR")
        said = f"the baseline '{name}' is also among the runs, and is not compared with itself"
        assert (code, err) == (0, f"ir_graded: warning: {said}\n")
        assert f"1 comparison with {name}" in out
    assert compare("worse.run", "same.run", "-m", "RR")[2] == ""


def test_a_baseline_by_the_name_of_a_run_is_not_warned_of(capsys, folder):  # noqa: ARG001
    given = ("compare", "qrels.txt", "base", "base=old.run", "worse.run", "-m", "RR")
    code, out, err = run_command(capsys, *given)
    assert (code, err, "1 comparison with base" in out) == (0, "", True)


def test_json_rounds_no_p_value(compare):
    _, out, _ = compare("worse.run", "-m", "RR", "-o", "json", "-p", "2")
    (row,) = json.loads(out)["comparisons"]
    assert 0 < row["p_loss"] < 1e-4
    assert row["mean"] == round(row["mean"], 2)


def test_a_small_difference_of_judged_shares_has_no_note(folder):
    """Three of 300 documents are a difference of .01."""
    docs = [f"d{at}" for at in range(10)]
    (folder / "qrels.txt").write_text("".join(f"{t} 0 {doc} 1\n" for t in range(TOPICS) for doc in docs))
    for unjudged, noted in ((2, False), (3, True)):
        new = {str(topic): {doc: -at for at, doc in enumerate(docs)} for topic in range(TOPICS)}
        for topic in range(unjudged):
            new[str(topic)]["x"] = new[str(topic)].pop("d9")
        old = {str(topic): {doc: -at for at, doc in enumerate(docs)} for topic in range(TOPICS)}
        found = ir_graded.compare_runs("P@10", "qrels.txt", {"old": old}, {"new": new})
        assert found.judged[0] == pytest.approx(1 - unjudged / 300)
        assert any("share of judged documents" in note for note in found.notes) == noted
