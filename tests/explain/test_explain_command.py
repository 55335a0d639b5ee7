"""``ir_graded explain`` from outside."""

import csv
import io
import json

import pytest
from click.testing import CliRunner
from helpers import assert_command_fails, run_command

import ir_graded
from ir_graded.cli.main import commands

QRELS = "1 0 S|_ 3\n1 0 A 2\n1 0 B 1\n2 0 A 1\n"
RUN = "1 Q0 B 1 9 t\n1 Q0 S|_ 2 8 t\n1 Q0 x 3 7 t\n1 Q0 A 4 6 t\n"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "x.run").write_text(RUN)


def call(*arguments):
    result = CliRunner().invoke(commands, ["explain", *arguments])
    assert result.exception is None, result.exception
    return result.output


def error_of(capsys, *arguments):
    return assert_command_fails(run_command(capsys, "explain", *arguments))


def test_the_table_ends_in_the_score():
    assert call("P-measure@3", "qrels.txt", "x.run", "1") == (
        "P-measure@3, topic 1, run x.run\n"
        "Relevant documents retrieved: 3 of 3, in a ranking of 4.\n"
        "Below rank 3, where they do not count: 1.\n"
        "Missed: 1, in the last rows, with a rank if the run has them.\n"
        "\n"
        "rank    doc_id      level    C    cg    cg*      BR    stop    contribution\n"
        "------  --------  -------  ---  ----  -----  ------  ------  --------------\n"
        "1       B               1    1     1      3  0.5000  0.0000          0.0000\n"
        "2       S|_             3    2     4      5  0.8571  1.0000          0.8571\n"
        "4       A               2                                            missed\n"
        "score                                                                0.8571\n"
    )


def test_the_number_of_decimal_places_can_be_chosen():
    out = call("Q", "qrels.txt", "x.run", "1", "--places", "2")
    assert out.split()[-1] == f"{explained('Q').score:.2f}"
    assert call("Q", "qrels.txt", "x.run", "1", "-p", "-1").split()[-1] == repr(explained("Q").score)


def explained(measure):
    return ir_graded.explain(measure, "qrels.txt", "x.run", "1")


@pytest.mark.parametrize(("output", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_separated_values_hold_all_columns(output, delimiter):
    out = call("Q@3", "qrels.txt", "x.run", "1", "-o", output, "-p", "-1")
    *rows, last = csv.DictReader(io.StringIO(out), delimiter=delimiter)
    found = explained("Q@3")
    assert list(rows[0]) == list(found.to_frame())
    for name, values in found.columns.items():
        if name != "doc_id":
            assert [float(row[name]) for row in rows[:2]] == values.tolist()
    assert [row["doc_id"] for row in rows] == ["B", "S|_", "A"]
    assert [row["state"] for row in rows] == ["counted", "counted", "missed"]
    assert (rows[2]["rank"], rows[2]["level"], rows[2]["stop"]) == ("4", "2", "")
    assert (last["rank"], float(last["contribution"])) == ("score", found.score)


def test_jsonl_has_an_object_per_line():
    *rows, last = map(
        json.loads, call("Q@1", "qrels.txt", "x.run", "1", "-o", "jsonl", "-p", "-1").splitlines()
    )
    found = explained("Q@1")
    assert rows[:1] == found.to_frame()[:1].to_dict("records")
    missed = {"doc_id": "S|_", "state": "missed", "rank": 2, "level": 3.0, "C": None, "contribution": 0.0}
    assert rows[1].items() >= missed.items()
    notes = (
        "Relevant documents retrieved: 3 of 3, in a ranking of 4. Below rank 1, where they do not count: 2. "
        "Missed: 2, in the last rows, with a rank if the run has them."
    )
    assert last == {"measure": "Q@1", "run": "x.run", "query_id": "1", "score": found.score, "notes": notes}


def test_markdown_and_latex_are_written():
    lines = call("nDCG@2", "qrels.txt", "x.run", "1", "-o", "markdown").splitlines()
    assert lines[3].startswith(r"| 2      | S\|\_")
    assert lines[4].endswith("missed |")
    assert lines[-1].startswith("| score ")
    latex = call("nDCG@2", "qrels.txt", "x.run", "1", "-o", "latex")
    assert r"S\textbar{}\_" in latex
    assert "score" in latex


def test_a_topic_missing_from_the_run_is_explained():
    out = call("Q", "qrels.txt", "x.run", "2")
    assert "The run has no document for the topic: it scores 0." in out
    assert out.split()[-2:] == ["score", "0.0000"]


@pytest.mark.slow
def test_ties_are_as_in_evaluate(tmp_path):
    (tmp_path / "tied.run").write_text("1 Q0 a 1 1 t\n1 Q0 b 2 1 t\n1 Q0 zz 3 1 t\n")
    tied = str(tmp_path / "tied.run")
    for ties in ("expected", "optimistic", "pessimistic"):
        by_option = call("AP", "qrels.txt", tied, "1", "--ties", ties)
        assert by_option == call(f"AP(ties='{ties}')", "qrels.txt", tied, "1")
    assert call("AP", "qrels.txt", tied, "1", "--ties", "doc_id") == call("AP", "qrels.txt", tied, "1")


def test_wrong_arguments_fail_with_a_message(capsys):
    assert "they have '1', '2'" in error_of(capsys, "Q", "qrels.txt", "x.run", "3")
    assert "Did you mean 'Q'?" in error_of(capsys, "Qx", "qrels.txt", "x.run", "1")
    assert "names 2 measures" in error_of(capsys, "Q AP", "qrels.txt", "x.run", "1")
    assert "no measure given" in error_of(capsys, " ", "qrels.txt", "x.run", "1")
    assert "takes no parameter 'bta'" in error_of(capsys, "Q(bta=1)", "qrels.txt", "x.run", "1")
    assert "counts topics" in error_of(capsys, "NumQ", "qrels.txt", "x.run", "1")
    assert "absent.run" in error_of(capsys, "Q", "qrels.txt", "absent.run", "1")
