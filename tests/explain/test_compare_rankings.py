"""Two rankings of a topic side by side: columns, text, HTML, errors and the command."""

import json
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from helpers import assert_command_fails, run_command

import ir_graded
from ir_graded import InputError, ParameterError

QRELS = {"1": {"s": 2, "a": 1, "n": 0, "neg": -1}, "2": {"a": 1}}
FIRST = {"1": {"n": 5.0, "s": 4.0, "neg": 3.0}, "2": {"a": 1.0}}
SECOND = {"1": {"s": 3.0, "x": 2.0, "a": 1.0}, "2": {"b": 1.0}}


def compared(measures="Q", first=FIRST, second=SECOND, topic="1", **options):
    return ir_graded.compare_rankings(measures, QRELS, first, second, topic, **options)


def test_rows_are_the_documents_of_both_lists():
    found = compared(["Q", "AP"])
    assert (found.runs, found.query_id, found.depth, found.levels) == (("A", "B"), "1", 20, (0.0, 1.0, 2.0))
    expected = pd.DataFrame(
        {
            "run": ["A", "A", "A", "B", "B", "B"],
            "rank": [1, 2, 3, 1, 2, 3],
            "doc_id": ["n", "s", "neg", "s", "x", "a"],
            "level": [0, 2, np.nan, 2, np.nan, 1],
            "other_rank": pd.array([None, 1, None, 2, None, None], "Int64"),
            "Q": [0, 0.3, 0, 0.5, 0, 5 / 12],
            "AP": [0, 0.25, 0, 0.5, 0, 1 / 3],
        }
    )
    pd.testing.assert_frame_equal(found.to_frame(), expected)
    scores = ir_graded.evaluate(["Q", "AP"], QRELS, {"A": FIRST, "B": SECOND})
    assert found.scores.tolist() == scores.values[:, :, 0].tolist()


def test_scores_are_a_table_without_a_rule():
    lines = str(compared(["Q", "AP"])).splitlines()
    at = next(number for number, line in enumerate(lines) if line.split() == ["score", "A", "B"])
    assert [line.split() for line in lines[at : at + 4]] == [
        ["score", "A", "B"],
        ["Q", "0.3000", "0.9167"],
        ["AP", "0.2500", "0.8333"],
        [],
    ]


def test_the_depth_cuts_lists_and_not_ranks_in_the_other():
    found = compared(depth=1)
    assert found.doc_id == ("n", "s")
    assert found.other_rank.tolist() == [0, 2]
    assert "A 0\nB 2\n" in str(found)  # no star


@pytest.mark.slow
@pytest.mark.parametrize(
    "measure",
    ["Q", "nDCG@3", "P+", "NCU(stop='rb',gamma=0.7)@20", "gRBP(p=0.8)", "ERR@5", "AP(ties='pessimistic')"],
)
def test_contributions_sum_to_the_scores(measure):
    sample = ir_graded.sample()
    runs = [sample.runs[name] for name in ("BBGhelani1", "sab20.1.meta.docs")]
    found = ir_graded.compare_rankings(measure, sample.qrels, *runs, "3", depth=2000)
    for number in (0, 1):
        mine = found.run == number
        assert found.contribution[0, mine].sum() == pytest.approx(found.scores[0, number], abs=1e-12)
        assert mine.sum() == 1000
    rank_of = {
        (run, doc): rank
        for run, doc, rank in zip(found.run.tolist(), found.doc_id, found.rank.tolist(), strict=True)
    }
    expected = [
        rank_of.get((1 - run, doc), 0) for run, doc in zip(found.run.tolist(), found.doc_id, strict=True)
    ]
    assert found.other_rank.tolist() == expected


def test_a_topic_that_a_run_lacks_has_an_empty_list():
    found = compared(second={"2": {"a": 1.0}})
    assert found.run.tolist() == [0, 0, 0]
    assert found.scores[0, 1] == 0
    lines = str(found).splitlines()
    assert "A 0 2 ?" in lines
    assert "B" in lines


def test_two_empty_lists_are_printed():
    empty = {"2": {"a": 1.0}}
    found = compared(first=empty, second=empty)
    assert len(found.to_frame()) == 0
    assert "topic 1" in str(found)
    assert found._repr_html_().count("<tr>") == 2


def test_runs_have_names(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.run").write_text("1 Q0 s 1 1 t\n")
    first, second = (tmp_path / folder / "one.run" for folder in ("x", "y"))
    assert compared(first=first, second={"bm25": SECOND}).runs == ("one.run", "bm25")
    assert compared(first=first, second=second).runs == ("one.run (A)", "one.run (B)")


def test_text_fits_a_terminal_and_is_printable():
    long = {"1": {f"{'document' * 12}-{number}": 30.0 - number for number in range(30)}}
    other = {"1": {"s": 99.0, "red\x1b[31m": 98.0} | {f"{'other' * 9}{number}": 1.0 for number in range(90)}}
    found = compared("nDCG@10", {"a" * 120: long}, {"b\n" * 99: other}, depth=100)
    lines = str(found).splitlines()
    assert max(map(len, lines)) <= 100
    assert all(line.isprintable() for line in lines)
    assert lines.count("B") == 0
    strip = [line for line in lines if line.startswith(("A ?", "B "))]
    assert sum(line.count("?") for line in strip) == 30 + 91
    assert len({line.split()[1] for line in lines if "…" in line and line.split()[0].isdigit()}) > 9


class Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.found = [], []

    def handle_starttag(self, tag, _):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.found.append((self.open[-1], data))


def test_html_is_whole_and_escaped():
    wild = {"1": {"<b>&": 9.0, "s": 8.0}}
    text = compared(["Q", "AP"], {"<i>": wild})._repr_html_()
    parser = Cells()
    parser.feed(text)
    assert not parser.open
    assert "<b>" not in text
    assert "<i>" not in text
    cells = [data for tag, data in parser.found if tag == "td"]
    assert cells[:10] == ["<b>&", "?", "-", "0.0000", "0.0000", "s", "2", "2", "0.5000", "0.5000"]
    assert "#06453f;color:#fff" in text


def test_scores_without_a_sum_have_no_contributions():
    found = compared(["NumQ", "Q(ties='expected')"], first={"1": {"s": 1.0, "n": 1.0}})
    assert np.isnan(found.contribution[0]).all()
    assert np.isnan(found.contribution[1, found.run == 0]).all()
    assert found.contribution[1, found.run == 1].tolist() == pytest.approx([0.5, 0, 5 / 12])
    assert "0.0000" not in str(found).split("adds")[1]


def test_explain_takes_another_run():
    found = ir_graded.explain("Q", QRELS, FIRST, "1", against=SECOND)
    assert str(found) == str(compared())
    with pytest.raises(InputError, match="against="):
        ir_graded.explain("Q", QRELS, {"a": FIRST, "b": SECOND}, "1")


@pytest.mark.parametrize(
    ("error", "parts", "options"),
    [
        (InputError, "no topic '9'", {"topic": "9"}),
        (InputError, "run_b must be one run, found 2", {"second": {"x": FIRST, "y": SECOND}}),
        (ParameterError, "depth=0", {"depth": 0}),
        (ParameterError, "depth=None", {"depth": None}),
        (InputError, "run 'B'", {"second": {"1": {"s": "high"}}}),
        (NameError, "Nope", {"measures": "Nope"}),
    ],
)
def test_wrong_arguments_are_rejected(error, parts, options):
    with pytest.raises(error, match=parts):
        compared(**options)


@pytest.mark.slow
def test_the_command_compares_two_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("1 0 s 2\n1 0 a 1\n1 0 n 0\n")
    (tmp_path / "x.run").write_text("1 Q0 n 1 9 t\n1 Q0 s 2 8 t\n")
    (tmp_path / "y.run").write_text("1 Q0 s 1 9 t\n1 Q0 x 2 8 t\n")
    given = ["explain", "Q", "qrels.txt", "x.run", "1", "--against", "y.run"]
    expected = ir_graded.compare_rankings("Q", "qrels.txt", "x.run", "y.run", "1")
    code, out, _ = run_command(capsys, *given)
    assert (code, out) == (0, f"{expected}\n")
    _, out, _ = run_command(capsys, *given, "-o", "csv")
    assert out.splitlines() == [
        "run,rank,doc_id,level,other_rank,Q",
        "x.run,1,n,0,,0.0000",
        "x.run,2,s,2,1,0.3000",
        "y.run,1,s,2,2,0.5000",
        "y.run,2,x,,,0.0000",
    ]
    _, out, _ = run_command(capsys, *given, "-o", "jsonl")
    last = {"run": "y.run", "rank": 2, "doc_id": "x", "level": None, "other_rank": None, "Q": 0.0}
    assert json.loads(out.splitlines()[-1]) == last
    error = assert_command_fails(run_command(capsys, *given[:-1], "nowhere.run"))
    assert "nowhere.run" in error
