"""``ir_graded meta``: its input, its errors, and its output files."""

import csv
import io
import json
import lzma
from functools import partial

import pandas as pd
import pytest
import zstandard
from helpers import assert_command_fails, run_command
from packed import gzipped

import ir_graded

GOOD = "topic,a,b,c\n1,.1,.2,.4\n2,.3,.1,.5\n3,.2,.25,.1\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(name, text):
        data = text if isinstance(text, bytes) else text.encode()
        (tmp_path / name).write_bytes(data)
        return name

    return call


@pytest.fixture
def meta(capsys):
    return partial(run_command, capsys, "meta", "-B", "20")


def measures_in(text):
    return [line.split(",")[0] for line in text.splitlines()[1:]]


def test_lines_of_json_name_measure_and_statistic(write, meta):
    paths = [write("ap.csv", GOOD), write("rr.csv", GOOD.replace(".4", ".3"))]
    code, out, _ = meta("--matrix", paths[0], "--matrix", paths[1], "-o", "jsonl", "-p", "-1")
    records = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    table = ir_graded.meta.compare_measures(
        {path[:2]: pd.read_csv(path, index_col=0) for path in paths}, n_resamples=20
    ).to_frame()
    assert {(one["measure"], one["statistic"]) for one in records} == {
        (measure, statistic) for measure in table.index for statistic in table
    }
    for one in records:
        expected = table.loc[one["measure"], one["statistic"]]
        assert one["value"] == (None if pd.isna(expected) else expected)


def test_json_has_null_for_the_correlation_of_tied_systems(write, meta):
    _, out, _ = meta("--matrix", write("ap.csv", "topic,a,b\n1,.1,.1\n2,.3,.3\n"), "-o", "jsonl")
    # JSON (RFC 8259) has no NaN.
    records = [json.loads(line, parse_constant=pytest.fail) for line in out.splitlines()]
    values = {one["statistic"]: one["value"] for one in records}
    assert (values["kendall"], values["kendall_variant"]) == (None, "tau_b")


NO_MATRICES = [
    ("topic,a,b\n1,.1,.2,.3\n2,.5,.4,.9\n", ("m.csv, line 2", "expected 3 fields", "found 4")),
    ("topic,a,b\n\n1,.1,.2\n2,.4\n", ("m.csv, line 4", "expected 3 fields", "found 2")),
    ("topic,a,a\n1,.1,.2\n2,.3,.4\n", ("m.csv", "system 'a' appears twice")),
    ("topic,a,a.1,a\n1,.1,.2,.3\n2,.3,.4,.5\n", ("m.csv", "system 'a' appears twice")),
    ("topic,a,\n1,.1,.2\n2,.3,.4\n", ("m.csv", "system 2 of 2 has no name")),
    ("topic,a,b\n1,.1,.2\n,.3,.4\n", ("m.csv", "topic 2 of 2 has no name")),
    ("topic,a,b\n1,.1,.2\n1,.3,.4\n", ("m.csv", "topic '1' appears twice")),
    ("topic,a,b\n1,.1,x\n2,.3,.4\n", ("m.csv", "topic '1'", "system 'b'", "'x'")),
    ("topic,a,b\n1,.1,\n2,.3,.4\n", ("m.csv", "topic '1'", "system 'b'", "''")),
    ("topic,a,b\n1,.1,.2\n2,10%,.4\n", ("m.csv", "topic '2'", "system 'a'", "'10%'")),
    ("topic,a,b\n1,.1,.2\n2,1_0,.4\n", ("m.csv, line 3", "system 'a'", "'1_0'")),
    ("a,b\n.1,.2\n.3,٤\n", ("m.csv, line 3", "system 'b'", "'٤'")),
    ('topic,a,b\n1,"0,1",.2\n2,.3,.4\n', ("m.csv", "topic '1'", "system 'a'", "'0,1'")),
    ("topic,a,b\n1,nan,.2\n2,.3,.4\n", ("m.csv", "topic '1'", "system 'a'", "nan")),
    ("topic;a;b\n1;.1;.2\n2;.3;.4\n", ("m.csv", "no comma", "topic;a;b")),
    ('topic,"a,b\n1,.1,.2\n', ("m.csv, line 2", "CSV")),
    ("topic,a,b\ni,.1,.2\n2,.3,.1\n".replace("i", "é").encode("latin1"), ("m.csv", "UTF-8")),
    ("id,a,b\n301,.1,.2\n302,.3,.4\n", ("m.csv", "'id'", "looks like topics", "--topic-column")),
    ("a,b,id\n.1,1,301\n0,1,302\n", ("m.csv", "'id'", "looks like topics", "--topic-column")),
    ("a,id,b\n.1,3,.2\n.3,1,.4\n.2,2,.1\n", ("m.csv", "'id'", "looks like topics")),
    ("topic,num,a,b\n1,301,.1,.2\n2,302,.3,.4\n", ("m.csv", "'topic' and 'num'", "--topic-column")),
    (",topic,a,b\n0,301,.1,.2\n1,302,.3,.4\n", ("m.csv", "'' and 'topic'", "--topic-column")),
    ("a,query,b\n.1,.5,.2\n.3,.25,.4\n", ("m.csv", "'query'", "holds scores", "--topic-column")),
    ("a,topic,b\n.1,1,1_0\n.3,2,.4\n", ("m.csv, line 2", "system 'b'", "'1_0'")),
    ("topic,a,b\n", ("m.csv", "at least 2 topics")),
    ("\n", ("m.csv", "is empty")),
]


def test_files_that_are_not_a_matrix_are_rejected(write, meta):
    for text, parts in NO_MATRICES:
        assert_command_fails(meta("--matrix", write("m.csv", text)), *parts)


NAMES = ["topic", "Topic", "TOPIC", "qid", "Query_ID", "query", "topic_id", "num", "topic no", "query-number"]


def moved(text, place):
    """Return the CSV text with its first column moved to another position."""
    rows = [line.split(",") for line in text.splitlines()]
    return "".join(",".join([*row[1 : place + 1], row[0], *row[place + 1 :]]) + "\n" for row in rows)


@pytest.mark.parametrize(("name", "place"), [*((name, at) for name in NAMES for at in (0, 1, 3)), ("", 0)])
def test_a_topic_column_is_recognised_by_its_name(write, meta, name, place):
    # If aligned by topic, the two matrices agree; with a topic column read as a system, they would not.
    one = write("one.csv", moved(GOOD.replace("topic", name), place))
    other = write("other.csv", "topic,c,b,a\n3,.1,.25,.2\n1,.4,.2,.1\n2,.5,.1,.3\n")
    code, out, _ = meta("--matrix", one, "--matrix", other, "-o", "csv")
    assert code == 0
    first, second = (line.split(",", 1)[1] for line in out.splitlines()[1:])
    assert first == second
    assert first.split(",")[-4] == second.split(",")[-4] == "1.0000"


@pytest.mark.parametrize("place", [0, 2, 3])
def test_the_topic_column_may_be_named(write, meta, place):
    expected = meta("--matrix", write("m.csv", GOOD), "-o", "csv")
    for name in ("id", "x", "rank", "a b", "Unnamed: 0"):
        text = moved(GOOD.replace("topic", name), place)
        assert meta("--matrix", write("m.csv", text), "--topic-column", name, "-o", "csv") == expected


def test_a_missing_topic_column_is_rejected(write, meta):
    path = write("m.csv", GOOD)
    assert_command_fails(meta("--matrix", path, "--topic-column", "nr"), "m.csv", "'nr'", "'topic', 'a', 'b'")
    assert_command_fails(meta("--matrix", path, "--topic-column", "topic", "-m", "Q"), "-m")
    failed = meta("q.txt", "a.run", "-m", "Q", "--topic-column", "topic")
    assert_command_fails(failed, "--topic-column needs --matrix")
    with_ids = write("m.csv", "topic,num,a,b\n1,301,.1,.2\n2,302,.3,.4\n")
    assert_command_fails(meta("--matrix", with_ids, "--topic-column", "topic"), "'num'", "looks like topics")


@pytest.mark.parametrize(
    "text",
    ["a,b\n3,7\n2,9\n4,8\n", "a,b\n1,0\n0,1\n1,1\n", "a,b\n2,1.5\n2,.5\n7,.25\n", "a,b\n1,.5\n0,.25\n"],
)
def test_whole_numbers_may_be_scores(write, meta, text):
    """All columns may hold counts. Only an id column has each value once, and values beyond 0 and 1."""
    assert meta("--matrix", write("m.csv", text))[0] == 0


def test_a_matrix_without_a_topic_column_has_only_systems(write, meta):
    text = "".join(line.split(",", 1)[1] for line in GOOD.splitlines(keepends=True))
    assert meta("--matrix", write("m.csv", text), "-o", "csv") == meta(
        "--matrix", write("m.csv", GOOD), "-o", "csv"
    )


def test_topics_keep_their_spelling(write, meta):
    leading = write("leading.csv", GOOD.replace("2,.3", "01,.3"))
    assert meta("--matrix", leading)[0] == 0
    assert_command_fails(meta("--matrix", leading, "--matrix", write("plain.csv", GOOD)), "plain", "'01'")


@pytest.mark.parametrize(
    ("ending", "compress"),
    [("gz", gzipped), ("xz", lzma.compress), ("zst", zstandard.ZstdCompressor().compress)],
)
def test_a_compressed_matrix_is_named_without_its_endings(write, meta, ending, compress):
    path = write(f"ap.csv.{ending}", compress(b"\xef\xbb\xbf" + GOOD.encode()))
    code, out, _ = meta("--matrix", path, "-o", "csv")
    assert (code, measures_in(out)) == (0, ["ap"])


@pytest.mark.parametrize("reference", ["third", "nDCG", "nDCG@x"])
def test_an_unknown_reference_lists_the_matrices(write, meta, reference):
    paths = ("--matrix", write("ap.csv", GOOD), "--matrix", write("rr.csv", GOOD))
    assert_command_fails(meta(*paths, "--reference", reference), reference, "ap, rr")


@pytest.mark.parametrize(
    ("teams", "parts"),
    [
        ("run,team\na,A\nb,\nc,C\n", ("teams.csv, line 3", "'b' has no team")),
        ("tag,team\na,\nb,\nc,\n", ("teams.csv, line 2", "'a' has no team")),
        ("run,team\n,A\n", ("teams.csv, line 2", "'A' has no run")),
        ("run,team\na,A\nb,B\nc,C\na,B\n", ("teams.csv, line 5", "'a'", "'A'", "'B'")),
        ("run,team\na,A\nb, A\nc,A \n", ("teams.csv", "at least 2 systems", "found 1")),
        ("run,team\na,A\nb,B\n", ("teams.csv", "run 'c' has no team")),
        ("run,side\na,A\n", ("teams.csv", "run (or tag) and team")),
        ("run,team\na\n", ("teams.csv, line 2", "found 1")),
    ],
)
def test_wrong_team_tables_are_rejected(write, meta, teams, parts):
    matrix = write("m.csv", GOOD)
    assert_command_fails(meta("--matrix", matrix, "--one-run-per-team", write("teams.csv", teams)), *parts)


@pytest.mark.parametrize("seed", range(8))
def test_the_order_of_systems_does_not_change_the_drawn_runs(write, meta, seed):
    teams = write("teams.csv", "run,team\na,A\nb,A\nc,B\n")
    one, other = (
        meta("--matrix", write("m.csv", text), "--one-run-per-team", teams, "--seed", str(seed), "-o", "csv")
        for text in (GOOD, "topic,c,b,a\n1,.4,.2,.1\n2,.5,.1,.3\n3,.1,.25,.2\n")
    )
    assert one[0] == 0
    assert one == other


@pytest.mark.parametrize("folder", ["", "file", "file/below"])
def test_a_bad_figures_folder_is_rejected_before_any_work(write, meta, monkeypatch, folder):
    write("file", "")

    def work(*_, **__):
        raise AssertionError("worked first")

    monkeypatch.setattr("ir_graded.meta.compare_measures", work)
    assert_command_fails(meta("--matrix", write("m.csv", GOOD), "--plot", folder), "--plot", folder or "''")


@pytest.mark.slow
def test_the_table_is_printed_if_figures_fail(write, meta, tmp_path):
    (tmp_path / "figures" / "swap.png").mkdir(parents=True)
    code, out, err = meta("--matrix", write("m.csv", GOOD), "--plot", "figures", "-o", "csv")
    assert code == 2
    assert measures_in(out) == ["m"]
    assert "swap.png" in err


MANY = "topic,a,b,c,d\n1,.1,.2,.4,.1\n2,.3,.1,.5,.3\n3,.2,.25,.1,.2\n"


def statistic(out, name):
    return [line[name] for line in csv.DictReader(out.splitlines())]


def compared(text, **options):
    table = pd.read_csv(io.StringIO(text), index_col=0)
    return ir_graded.meta.compare_measures({"m": table}, n_resamples=20, **options).to_frame().loc["m"]


@pytest.mark.parametrize(
    ("options", "by_hand", "column"),
    [
        (("--alpha", "0.6"), {"alpha": 0.6}, "power"),
        (("--fuzziness", "0.3"), {"fuzziness": 0.3}, "proportion_of_ties"),
        (("--resample", "disjoint"), {"resample": "disjoint"}, "swap_difference"),
        (("--max-rate", "0.4"), {"max_rate": 0.4}, "swap_difference"),
    ],
)
def test_options_reach_each_statistic(write, meta, options, by_hand, column):
    _, out, _ = meta("--matrix", write("m.csv", MANY), *options, "-o", "csv", "-p", "-1")
    expected = compared(MANY, **by_hand)[column]
    assert expected != compared(MANY)[column] or column == "swap_difference"
    assert statistic(out, column) == [repr(float(expected))]


def test_identical_runs_are_dropped_and_top_runs_selected(write, meta):
    matrix = write("m.csv", MANY)
    code, out, err = meta("--matrix", matrix, "--drop-identical", "-o", "csv", "-p", "-1")
    assert (code, "run 'd' has the same scores as 'a' and is left out" in err) == (0, True)
    kept = (
        MANY.replace(",d\n", "\n").replace("4,.1\n", "4\n").replace("5,.3\n", "5\n").replace("1,.2\n", "1\n")
    )
    assert statistic(out, "power") == [repr(float(compared(kept)["power"]))]
    _, out, _ = meta("--matrix", matrix, "--top", "2", "-o", "csv", "-p", "-1")
    table = pd.read_csv(io.StringIO(MANY), index_col=0)[["c", "a"]]
    compared_best = ir_graded.meta.compare_measures({"m": table}, n_resamples=20).to_frame()
    expected = compared_best["required_difference"].iloc[0]
    assert statistic(out, "required_difference") == [repr(float(expected))]
    assert_command_fails(meta("--matrix", matrix, "--by", "m"), "--by goes with --top")
    assert_command_fails(meta("--matrix", matrix, "--top", "2", "--by", "x"), "measure x is not among")


@pytest.mark.slow
def test_significance_prints_pairs_ranked_by_another_measure(write, capsys, tmp_path):
    ap, rr = write("ap.csv", GOOD), write("rr.csv", GOOD.replace(".4", ".9").replace(".3", ".8"))
    options = ("--matrix", ap, "--matrix", rr, "-B", "50", "-o", "csv")
    code, out, _ = run_command(capsys, "significance", *options, "--labels-by", "rr", "--plot", "P")
    assert code == 0
    rows = [*csv.DictReader(out.splitlines())]
    found = ir_graded.meta.significance(
        pd.read_csv(ap, index_col=0), labels_by=pd.read_csv(rr, index_col=0), n_resamples=50
    ).to_frame()
    pairs = [(row["run_a"], row["run_b"]) for row in rows]
    assert pairs == [*zip(found["run_a"], found["run_b"], strict=True)]
    assert [int(row["rank_a"]) for row in rows] == found["rank_a"].tolist()
    assert sorted(p.name for p in (tmp_path / "P").iterdir()) == ["significance.pdf", "significance.png"]
    _, out, _ = run_command(capsys, "significance", *options, "--alternative", "two-sided")
    assert "rank_a" not in out
    result = run_command(capsys, "significance", *options, "--labels-by", "x")
    assert_command_fails(result, "measure x is not among the measures ap, rr")


def test_statistics_prints_documents_per_topic(write, capsys):
    qrels, run = write("q", "1 0 a 1\n1 0 b 0\n2 0 c 2\n"), write("r", "1 Q0 a 1 3 x\n")
    code, out, _ = run_command(capsys, "statistics", qrels, run, "-o", "csv", "-p", "1")
    assert (code, out.split()) == (
        0,
        [
            "documents,mean,min,max,topics", "N,0.5,0,1,1", "R,1.0,1,1,2", *("level", "2,0.5,0,1,1"),
            *("level", "1,0.5,0,1,1"), *("depth", "of", "1", "run,0.5,0,1,1"),
        ],
    )  # fmt: skip
