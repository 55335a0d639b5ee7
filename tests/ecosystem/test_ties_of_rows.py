"""``ties='rank'`` and ``'given'``: documents with equal scores in the order of ranks, or of the rows."""

import json

import helpers
import ir_measures
import numpy as np
import pytest
from helpers import dicts, quietly, run_command

import ir_graded
from ecosystem import forms
from ir_graded import evaluate
from ir_graded.core.facets import POSITION
from ir_graded.errors import CoverageWarning, InputError, ParameterError
from ir_graded.evaluation.signature import MIXED
from ir_graded.io.records import ROW_ORDERS
from ir_graded.measures.params import ROW_ORDERS_IN_WORDS

MEASURES = "Q AP nDCG@2 RR"
QRELS = dicts(forms.QRELS)
#: Ties in an order that is neither that of ids nor the reverse; a topic whose scores are all equal.
ROWS = [
    ("101", "50", 9.5), ("101", "10", 7.25), ("101", "9", 7.25), ("101", "33", 7.25), ("101", "2", 7.25),
    ("102", "9", 2.0), ("102", "10", 2.0), ("102", "8", 2.0), ("103", "7", 1.0), ("104", "2", 0.5),
    ("104", "1", 0.5), ("999", "1", 1.0),
]  # fmt: skip
#: Positions of these rows by another column, which agree with the scores, and begin at 0 as in PyTerrier.
RANKS = [0, 4, 2, 1, 3, 2, 0, 1, 0, 1, 0, 0]
#: The order of such a form is not that of the rows given here.
FORMS = {name: one for name, one in forms.ALL.items() if "run" in one.kinds and name != "pandas in disorder"}


def without_ties(rows, ranks=None):
    """The plain reference: rows ordered by topic, score and rank, with scores that differ."""
    ranks = range(len(rows)) if ranks is None else ranks
    ordered = sorted(zip(rows, ranks, strict=True), key=lambda one: (one[0][0], -one[0][2], one[1]))
    return dicts([(topic, doc, -float(at)) for at, ((topic, doc, _), _) in enumerate(ordered)])


def trec(folder, rows=ROWS, ranks=RANKS):
    """A file of TREC lines with ranks."""
    path = folder / "run.txt"
    lines = (
        f"{topic} Q0 {doc} {rank} {one} tag\n" for (topic, doc, one), rank in zip(rows, ranks, strict=True)
    )
    path.write_text("".join(lines))
    return path


def values(run, ties="doc_id", **options):
    return quietly(evaluate, MEASURES, QRELS, run, ties=ties, **options).values.tolist()


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_every_form_rank_as_given(form, tmp_path):
    held = FORMS[form].holds("run", ROWS)
    expected = values(without_ties(held))
    run, again = (FORMS[form].make("run", held, tmp_path) for _ in range(2))
    assert values(run, "given") == expected
    assert (values(again) == expected) is (FORMS[form].holds is forms.ranking)


@pytest.mark.parametrize("form", [*helpers.TABLES, "trec"])
def test_ranks_of_tables_and_files_rank_equal_scores(form, tmp_path):
    table = helpers.frame("run", ROWS).assign(rank=RANKS)
    run = trec(tmp_path) if form == "trec" else helpers.TABLES[form](table, tmp_path / "run.file")
    assert values(run, "rank") == values(without_ties(ROWS, RANKS))


@pytest.mark.parametrize("seed", range(20))
def test_random_runs_rank_as_by_the_plain_reference(seed):
    random = np.random.default_rng(seed)
    pairs = [(topic, f"{doc}") for topic in ("101", "102", "999", "104") for doc in range(1, 40)]
    rows = [(*pairs[at], float(random.integers(0, 5))) for at in random.permutation(len(pairs))[:100]]
    ranks = random.permutation(len(rows)).tolist()
    table = helpers.frame("run", rows).assign(rank=ranks)
    assert values(table, "given") == values(without_ties(rows))
    assert values(table, "rank") == values(without_ties(rows, ranks))


def test_orders_differ(tmp_path):
    found = [values(trec(tmp_path), ties) for ties in ("doc_id", "rank", "given")]
    assert all(found.count(one) == 1 for one in found)


@pytest.mark.parametrize("ties", ["rank", "given"])
def test_rows_are_in_order_before_some_are_left_out(ties, tmp_path):
    own = [("101", "101", 7.25), *ROWS]
    run = trec(tmp_path, own, [9, *RANKS])
    expected = values(without_ties(ROWS, RANKS if ties == "rank" else None))
    assert values(run, ties, ignore_identical_ids=True) == expected
    twice = trec(tmp_path, [*ROWS, ("101", "10", 7.25)], [*RANKS, 11])
    assert values(twice, ties, duplicates="first") == expected


def test_ranks_count_only_where_scores_tie_and_a_contradiction_is_told(tmp_path):
    ranks = [5, *RANKS[1:]]
    with pytest.warns(CoverageWarning) as told:
        found = evaluate(MEASURES, QRELS, trec(tmp_path, ROWS, ranks), ties="rank").values.tolist()
    assert found == values(without_ties(ROWS, ranks)) == values(without_ties(ROWS, RANKS))
    (message,) = (str(one.message) for one in told if "contradicts" in str(one.message))
    assert "in 1 topic (" in message
    assert "run.txt, line 1)" in message


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (dicts(ROWS), "run: ties='rank' needs ranks, in a column rank or a TREC file"),
        (helpers.frame("run", ROWS), "run: ties='rank' needs ranks, in a column rank or a TREC file"),
        (
            helpers.frame("run", ROWS).assign(rank=RANKS, start=0, length=9),
            "run: ties='rank' is for documents",
        ),
        (helpers.frame("run", ROWS).assign(rank=[0, 1, *RANKS[2:4], 1, *RANKS[5:]]), "has the same rank, 1;"),
        (helpers.frame("run", ROWS).assign(rank=[-1, *RANKS[1:]]), "row 0.: the rank is -1; it must be"),
        (helpers.frame("run", ROWS).assign(rank=["one", *RANKS[1:]]), "row 0.: the rank 'one' is not a"),
    ],
)
def test_a_run_without_usable_ranks_is_refused(run, expected):
    with pytest.raises(InputError, match=expected):
        values(run, "rank")


def test_ranks_come_before_positions_and_are_not_needed_without_rows():
    table = helpers.frame("run", ROWS).assign(rank=RANKS, position=range(len(ROWS)))
    assert values(table, "rank") == values(without_ties(ROWS, RANKS))
    assert values(table.drop(columns="rank"), "rank") == values(without_ties(ROWS))
    assert values(table[:0], "rank") == values(table[:0])


def test_errors_name_the_file_and_the_line(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("query_id,doc_id,score,rank\n101,9,1,0\n101,10,1,\n")
    with pytest.raises(InputError, match=r"run.csv, line 3.*the rank is missing"):
        values(path, "rank")
    path.write_text("query_id,doc_id,score\n101,9,1\n")
    with pytest.raises(InputError, match=r"run.csv: ties='rank' needs ranks"):
        values(path, "rank")


def test_infinite_scores_do_not_contradict_ranks():
    table = helpers.frame("run", ROWS).assign(score=float("inf"), rank=RANKS)
    with pytest.warns(CoverageWarning) as told:
        evaluate("RR", QRELS, table, ties="rank")
    assert not [one for one in told if "contradicts" in str(one.message)]
    with pytest.raises(ParameterError, match="ties='given' is for documents, and with lengths"):
        evaluate("CharR", QRELS, table, ties="given", lengths={"9": 1})


def test_joins_of_orders_are_told_unless_nothing_ties(tmp_path):
    one = quietly(evaluate, "RR", QRELS, {"a": trec(tmp_path)}, ties="rank")
    other = quietly(evaluate, "RR", QRELS, {"b": dicts(ROWS)})
    with pytest.warns(CoverageWarning, match=r"different orders \(ties: doc_id and rank\)"):
        joined = ir_graded.Scores.concat([one, other])
    assert joined.signature.options["ties"] == "mixed"
    assert "tied documents in orders that differ between runs." in joined.to_latex()
    untied = quietly(evaluate, "RR", QRELS, {"b": without_ties(ROWS)})
    assert ir_graded.Scores.concat([one, untied]).signature.options["ties"] == "rank"
    expected = quietly(evaluate, "RR(ties='expected')", QRELS, {"a": dicts(ROWS)})
    assert ir_graded.Scores.concat([one, expected]).signature.options["ties"] == "rank"


def test_measures_of_others_cannot_take_the_order():
    mine = ir_measures.define(lambda *_: 0.0, name="Mine")
    with pytest.raises(ParameterError, match="ties='given' requires measures that ir_graded computes"):
        evaluate(["Q", mine], QRELS, dicts(ROWS), ties="given")


def test_every_order_of_rows_has_words():
    assert ROW_ORDERS_IN_WORDS.keys() == {*ROW_ORDERS, POSITION.name, MIXED}


def test_another_order_is_refused():
    with pytest.raises(ParameterError, match=r"ties='by hand' must be one of 'doc_id', .*'rank', 'given'"):
        values(dicts(ROWS), "by hand")
    with pytest.raises(ParameterError, match="ties='given'"):
        ir_graded.Q(ties="given")


def test_the_order_is_named_where_scores_are_printed(tmp_path):
    run = trec(tmp_path)
    scores = quietly(evaluate, "Q", QRELS, run, ties="rank")
    assert scores.signature.options["ties"] == "rank"
    assert "tied documents by rank." in scores.to_latex()
    path = tmp_path / "scores.json"
    path.write_text(scores.to_json())
    assert quietly(ir_graded.verify, path, QRELS, run).agrees
    assert not quietly(ir_graded.verify, path, QRELS, run, ties="given").agrees
    with pytest.warns(CoverageWarning) as told:
        evaluate("Q", QRELS, run, ties="rank")
    assert not [one for one in told if "position" in str(one.message)]


def test_responses_are_named_by_position():
    assert "tied documents by position." in quietly(evaluate, "Q", QRELS, forms.responses(ROWS)).to_latex()


def test_commands_and_comparisons_take_the_order(capsys, tmp_path):
    run, qrels = str(trec(tmp_path)), str(forms.FORMS["path"].make("qrels", forms.QRELS, tmp_path))
    judged = {topic: docs for topic, docs in QRELS.items() if topic in dicts(ROWS)}
    runs = dicts(ROWS[::-1]), {"ours": dicts(ROWS)}
    frame = quietly(ir_graded.compare_runs, "AP", judged, *runs, ties="given").to_frame()
    found = frame["mean"].item(), frame["baseline_mean"].item()
    expected = (
        quietly(evaluate, "AP", judged, without_ties(rows)).mean().squeeze() for rows in (ROWS, ROWS[::-1])
    )
    assert found == pytest.approx([*expected], rel=1e-15)
    assert found[0] != found[1]
    added = []
    for ties in ("doc_id", "rank"):
        given = ("explain", "Q", qrels, run, "101", "--ties", ties)
        rows = [*map(json.loads, run_command(capsys, *given, "-o", "jsonl")[1].splitlines())]
        added.append([row["doc_id"] for row in rows if row.get("rank")])
        assert run_command(capsys, *given, "--against", run)[0] == 0
        assert run_command(capsys, "evaluate", "-m", "Q", qrels, run, "--ties", ties)[0] == 0
    by_id, by_rank = added
    assert by_id.index("9") < by_id.index("10")
    assert by_rank.index("9") < by_rank.index("2") < by_rank.index("10")
