"""On Spark, every measure gives the values of one machine, and errors name the same places."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import uuid
from pathlib import Path

import numpy as np
import pytest
from packed import gzipped

import ir_graded
from ir_graded.errors import InputError, NoSharedTopicsError, ParameterError
from spark.spark_cases import collection, every_measure, expected_table, on_one_machine, same

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.slow]

pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'ir-graded[spark]'")
from ir_graded.spark import evaluate, mean, read_qrels, read_runs  # noqa: E402
from ir_graded.spark.evaluation import Scoring  # noqa: E402

MEASURES = ["P-measure", "Q@10", "nERR@10", "EBR", "AP", "nDCG@5", "NumRet", "NumRel", "Judged@10", "P@3"]


def frames(spark, qrels, rows):
    return (
        spark.createDataFrame(qrels, "query_id string, doc_id string, relevance int"),
        spark.createDataFrame(rows, "run string, query_id string, doc_id string, score double"),
    )


def table(scores):
    return {(row["run"], row["query_id"], row["measure"]): row["value"] for row in scores.collect()}


def test_workers_run_the_python_of_the_tests(spark):
    """This holds in a virtual environment that is not activated, too."""
    running = spark.range(1).rdd.map(lambda _: sys.executable).collect()
    assert running == [sys.executable]


@pytest.mark.parametrize(("broadcast", "longest"), [(True, 1), (False, 1 << 22), (None, 7)])
def test_every_measure_scores_as_on_one_machine(spark, broadcast, longest):
    qrels, rows = collection(1)
    measures = [*every_measure(), *MEASURES]
    found = evaluate(measures, *frames(spark, qrels, rows), broadcast=broadcast, longest_topic=longest)
    assert found.count() == 3 * 23 * len(set(map(str, measures)))
    assert found.columns == ["run", "query_id", "measure", "value"]
    expected = on_one_machine(measures, qrels, rows)
    same(table(found), expected_table(expected))
    means = {(row["run"], row["measure"]): row["value"] for row in mean(found).collect()}
    for r, run in enumerate(expected.runs):
        for m, measure in enumerate(expected.measures):
            assert abs(means[run, str(measure)] - expected.aggregates[r, m]) <= 1e-12


def test_a_run_without_a_name_and_ids_of_other_types_are_scored(spark):
    qrels, rows = collection(2, runs=1)
    number = {f"t{n}": n for n in range(99)}
    judged = spark.createDataFrame(
        [(number[t], int(d[1:]), float(r)) for t, d, r in qrels],
        "query_id long, doc_id int, relevance double",
    )
    run = spark.createDataFrame(
        [(number[t], int(d[1:]), s) for _, t, d, s in rows], "query_id int, doc_id long, score float"
    )
    found = evaluate(["Q", "AP"], judged, run)
    assert dict(found.dtypes)["query_id"] == "bigint"
    single = [("run", str(number[t]), d[1:], float(np.float32(s))) for _, t, d, s in rows]
    expected = on_one_machine(["Q", "AP"], [(str(number[t]), d[1:], r) for t, d, r in qrels], single)
    same({(r, str(q), m): v for (r, q, m), v in table(found).items()}, expected_table(expected))


@pytest.mark.smoke
def test_passages_score_as_on_one_machine(spark):
    rng = np.random.default_rng(3)
    spans = [
        (f"t{t}", f"d{d}", int(rng.integers(0, 2)), int(rng.integers(0, 500)), int(rng.integers(1, 90)))
        for t in range(6)
        for d in rng.integers(0, 12, 20)
    ]
    names = ["query_id", "doc_id", "relevance", "start", "length"]
    ids, span = "query_id string, doc_id string", "start int, length int"
    qrels = spark.createDataFrame(spans, f"{ids}, relevance int, {span}")
    rows = [(*row[:2], float(rng.random()), *row[3:]) for row in spans[::2]]
    run = spark.createDataFrame(rows, f"{ids}, score double, {span}")
    import pandas as pd

    measures = ["MAgP", "gP@3", "Q", "CharR@3", "CharR(budget=150)", "U(L=900,of='characters')", "U(L=900)"]
    measures += ["Q(ranks='rows')", "nDCG(ranks='rows')@3", "Bpref(ranks='rows')"]
    expected = ir_graded.evaluate(
        measures,
        pd.DataFrame(spans, columns=names),
        pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "start", "length"]),
    )
    for broadcast in (True, False):
        found = evaluate(measures, qrels, run, broadcast=broadcast)
        same(table(found), expected_table(expected))


@pytest.mark.smoke
def test_files_score_as_on_one_machine(spark, tmp_path):
    qrels, rows = collection(4)
    text = "".join(f"{t} 0  {d}\t{r}\r\n" for t, d, r in qrels)
    (tmp_path / "qrels.txt").write_text(f"# pool depth 10\r\n{text} #\n")
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in ("run0", "run1", "run2"):
        lines = [f"{t} Q0 {d} 1 {s!r} tag" for run, t, d, s in rows if run == name]
        (folder / f"{name}.txt").write_text("\ufeff# 1\n" + "\n".join(lines))
    expected = on_one_machine(["Q", "AP"], qrels, [(f"{run}.txt", *row) for run, *row in rows])
    found = evaluate(["Q", "AP"], str(tmp_path / "qrels.txt"), str(folder), spark=spark)
    same(table(found), expected_table(expected))
    judged, ranked = frames(spark, qrels, rows)
    judged.write.parquet(str(tmp_path / "qrels.parquet"))
    ranked.write.parquet(str(tmp_path / "runs.parquet"))
    found = evaluate(
        ["Q", "AP"],
        read_qrels(spark, str(tmp_path / "qrels.parquet")),
        read_runs(spark, str(tmp_path / "runs.parquet")),
    )
    same(table(found), expected_table(on_one_machine(["Q", "AP"], qrels, rows)))


def test_runs_are_named_by_their_paths(spark, tmp_path):
    for folder in ("a", "b b"):
        (tmp_path / folder).mkdir()
    (tmp_path / "a" / "one + ü 100%.run").write_text("1 Q0 a 1 2 t\n")
    (tmp_path / "b b" / "two.run.gz").write_bytes(gzipped(b"1 Q0 b 1 2 t\n"))
    (tmp_path / "a" / "two.run").write_text("1 Q0 c 1 2 t\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    found = read_runs(spark, [tmp_path / "a" / "one + ü 100%.run", str(tmp_path / "b b" / "two.run.gz")])
    assert sorted(map(tuple, found.select("run", "doc_id").collect())) == [
        ("one + ü 100%.run", "a"),
        ("two.run", "b"),
    ]
    scores = evaluate("Q", tmp_path / "qrels.txt", [tmp_path / "a" / "two.run"], spark=spark)
    assert table(scores) == {("two.run", "1", "Q"): 0.0}
    with pytest.raises(InputError, match=r"a/two\.run and .*b b/two\.run.* would both be the run 'two\.run'"):
        read_runs(spark, str(tmp_path / "*" / "two.run*"))
    # A folder written by Spark is one run, whatever the names of its parts.
    for name in ("bm25", "other"):
        found.drop("run").repartition(3).write.parquet(str(tmp_path / f"{name}.parquet"))
    both = read_runs(spark, [tmp_path / "bm25.parquet", tmp_path / "other.parquet"])
    assert sorted(row["run"] for row in both.collect()) == ["bm25", "bm25", "other", "other"]


def test_unreadable_and_invalid_paths_are_rejected(spark, tmp_path):
    (tmp_path / "one.run.xz").write_text("")
    with pytest.raises(InputError, match=r"one\.run\.xz: Spark"):
        read_runs(spark, tmp_path / "one.run.xz")
    for path in (7, [], ["a", 7], None):
        with pytest.raises(InputError, match="is neither a path nor a list of paths"):
            read_qrels(spark, path)
    with pytest.raises(InputError, match="expected a Spark session"):
        read_qrels("qrels.txt", spark)


def test_every_file_of_a_folder_is_a_run(spark, tmp_path):
    (tmp_path / "runs").mkdir()
    for name, text in {"a.run": "1 Q0 a 1 2 t\n", "empty.run": "", "blank.run": "\n \n"}.items():
        (tmp_path / "runs" / name).write_text(text)
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    found = table(evaluate("Q", tmp_path / "qrels.txt", tmp_path / "runs", spark=spark))
    assert found == {("a.run", "1", "Q"): 1.0, ("empty.run", "1", "Q"): 0.0, ("blank.run", "1", "Q"): 0.0}


@pytest.fixture
def small_batches(spark):
    """Workers get their rows in batches of five."""
    option = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(option)
    spark.conf.set(option, "5")
    yield
    spark.conf.set(option, before)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("broadcast", [True, False])
@pytest.mark.parametrize(
    "longest", [7, *(pytest.param(size, marks=pytest.mark.release) for size in (1, 1000))]
)
def test_topics_longer_than_the_limit_score_as_on_one_machine(spark, broadcast, longest):
    """Scores tie in nearly all topics: the ranks are those of Spark's sort."""
    qrels, rows = collection(11)
    found = evaluate(MEASURES, *frames(spark, qrels, rows), broadcast=broadcast, longest_topic=longest)
    same(table(found), expected_table(on_one_machine(MEASURES, qrels, rows)))


@pytest.mark.parametrize(("longest", "piece"), [(7, 7), (1 << 22, 1 << 18)])
def test_a_piece_holds_no_more_rows_than_the_longest_topic(spark, monkeypatch, longest, piece):
    sent = []

    def scoring(**options):
        sent.append((options["longest"], options["piece"]))
        return Scoring(**options)

    monkeypatch.setattr("ir_graded.spark.evaluation.Scoring", scoring)
    evaluate("Q", *frames(spark, [("1", "a", 1)], [("x", "1", "a", 1.0)]), longest_topic=longest)
    assert sent == [(longest, piece)]


@pytest.mark.parametrize("broadcast", [True, False])
def test_every_partition_uses_the_highest_level_of_all_qrels(spark, broadcast):
    qrels = [(f"t{topic}", "a", 1) for topic in range(20)] + [("t20", "a", 4)]
    rows = [("one", topic, "a", 1.0) for topic, _, _ in qrels]
    found = table(evaluate(["EBR", "iRBU"], *frames(spark, qrels, rows), broadcast=broadcast))
    same(found, expected_table(on_one_machine(["EBR", "iRBU"], qrels, rows)))
    assert found["one", "t0", "EBR"] < found["one", "t20", "EBR"]


@pytest.mark.parametrize("broadcast", [True, False])
def test_a_long_topic_missing_from_the_qrels_changes_nothing(spark, broadcast):
    judged, few = frames(spark, [("1", "a", 1), ("2", "c", 1)], [("x", "1", "a", 3.0), ("x", "2", "c", 1.0)])
    other = spark.range(3000).selectExpr(
        "'x'", "'zz'", "concat('k', id)", "if(id = 7, double('NaN'), double(id))"
    )
    measures = ["NumRet", "SetP"]
    found = evaluate(measures, judged, few.union(other), broadcast=broadcast, longest_topic=2)
    assert table(found) == table(evaluate(measures, judged, few))


@pytest.mark.parametrize("broadcast", [True, False])
@pytest.mark.parametrize("side", ["qrels", "run"])
def test_passages_on_one_side_only_are_scored(spark, side, broadcast):
    import pandas as pd

    spans = {"start": [0, 100, 0], "length": [30, 50, 9]}
    qrels = pd.DataFrame({"query_id": "1", "doc_id": ["a", "a", "b"], "relevance": [1, 2, 1], **spans})
    run = pd.DataFrame({"query_id": "1", "doc_id": ["a", "a", "b"], "score": [2.0, 1.5, 1.0], **spans})
    if side == "qrels":
        run = run.drop(columns=list(spans)).drop_duplicates("doc_id")
    else:
        qrels = qrels.drop(columns=list(spans)).drop_duplicates("doc_id")
    expected = ir_graded.evaluate(["Q", "NumRet"], qrels, run, ranks="documents")
    given = [spark.createDataFrame(frame) for frame in (qrels, run)]
    same(table(evaluate(["Q", "NumRet"], *given, broadcast=broadcast)), expected_table(expected))


def test_names_that_differ_in_case_only_are_rejected(spark):
    judged, ranked = frames(spark, *collection(5))
    with pytest.raises(InputError, match="run: for Spark, Run is the same as run; keep one, named run"):
        evaluate("Q", judged, ranked.withColumnRenamed("run", "Run"))
    with pytest.raises(InputError, match="run: for Spark, score, Score is the same as score"):
        evaluate("Q", judged, ranked.selectExpr("*", "1 as Score"))


def test_runs_that_change_their_names_are_rejected(spark):
    from pyspark.sql import functions as F  # noqa: N812

    judged, ranked = frames(spark, [("1", "a", 1)], [("x", "1", "a", 1.0)])
    new_name = F.udf(lambda: str(uuid.uuid4())).asNondeterministic()
    changing = ranked.withColumn("run", new_name())
    with pytest.raises(Exception, match="did not exist when the runs were listed"):
        evaluate("Q", judged, changing).collect()


def test_streams_and_invalid_limits_are_rejected(spark):
    judged, _ = frames(spark, *collection(5))
    stream = spark.readStream.format("rate").load()
    with pytest.raises(InputError, match="run: a stream cannot be evaluated"):
        evaluate("Q", judged, stream)
    for longest in (0, -1, 1.5, True, 10**30):
        with pytest.raises(ParameterError, match=r"longest_topic=.* must be a whole number from 1"):
            evaluate("Q", judged, judged, longest_topic=longest)


def test_errors_are_raised_before_the_job(spark):
    qrels, rows = collection(5)
    judged, ranked = frames(spark, qrels, rows)
    with pytest.raises(InputError, match="the DataFrame has no column score; it has run, query_id, doc_id"):
        evaluate("Q", judged, ranked.drop("score"))
    with pytest.raises(InputError, match="expected a Spark DataFrame or a path, found dict"):
        evaluate("Q", {}, ranked)
    with pytest.raises(NoSharedTopicsError, match="run 'run1' and the qrels share no topic"):
        evaluate("Q", judged, ranked.where("run != 'run1' or query_id in ('t24', 't25')"))
    with pytest.raises(NoSharedTopicsError, match="qrels are empty"):
        evaluate("Q", judged.limit(0), ranked)
    with pytest.raises(ParameterError, match="NumRel takes rel"):
        evaluate("NumRel(rel=2)", judged, ranked)
    with pytest.raises(ParameterError, match="PassageAP depends on the order of the rows of the qrels"):
        evaluate("PassageAP", judged, ranked)
    for measure in ("I-rec@5", "alpha_nDCG@5", "AP_IA(ties='expected')"):
        with pytest.raises(InputError, match="needs intents: the DataFrame of the qrels lacks iteration"):
            evaluate(["Q", measure], judged, ranked)
    with pytest.raises(ParameterError, match="longest_topic=0"):
        evaluate("Q", judged, ranked, longest_topic=0)
    with pytest.raises(InputError, match="a row has no query_id"):
        evaluate("Q", judged, ranked.union(ranked.limit(1).selectExpr("run", "null", "doc_id", "score")))
    twice = ranked.union(ranked.where("query_id = 't7' and run = 'run0'").limit(1))
    with pytest.raises(InputError, match=r"run 'run0': topic 't7', document 'd[0-9]+' appears 2 times"):
        evaluate("Q", judged, twice, longest_topic=1)


def test_declared_columns_are_checked_before_the_job(spark):
    judged, ranked = frames(spark, [("1", "a", 1)], [("x", "1", "a", 1.0), ("x", "1", "b", 1.0)])
    spans = "0 as start", "9 as length"
    given = judged.selectExpr("*", *spans), ranked.selectExpr("*", *spans)
    message = r"needs the costs of the rows .*the DataFrame of the run lacks tokens"
    with pytest.raises(InputError, match=message):
        evaluate("CharP(budget=9,unit='tokens')", *given)
    with pytest.raises(InputError, match="run: the column tokens is of type string: numbers are needed"):
        evaluate("CharP(budget=9,unit='tokens')", given[0], given[1].selectExpr("*", "'3' as tokens"))
    with pytest.raises(InputError, match="Iteration is the same as iteration; keep one, named iteration"):
        evaluate("I-rec@5", judged.selectExpr("*", "'1' as Iteration"), ranked)
    with pytest.raises(InputError, match="run 'x': topic '1': the position 3 appears 2 times"):
        evaluate("Q", judged, ranked.selectExpr("*", "3 as position"), longest_topic=1)
    with pytest.raises(Exception, match="both have the position 3"):
        evaluate("Q", judged, ranked.selectExpr("*", "3 as position")).collect()


def test_options_and_measures_are_checked_before_the_job(spark):
    qrels, rows = collection(5)
    judged, ranked = frames(spark, qrels, rows)
    with pytest.raises(ParameterError, match="broadcast='yes' must be True, False or None"):
        evaluate("Q", judged, ranked, broadcast="yes")
    for measure in ("MAgP", "gP@3"):
        with pytest.raises(InputError, match=f"{measure} needs passages.*lacks .*start and length"):
            evaluate(["Q", measure], judged, ranked)
    with pytest.raises(InputError, match="expected the Spark DataFrame from evaluate"):
        mean(judged)


@pytest.mark.parametrize(
    ("kind", "column", "kind_of_column", "found"),
    [
        ("run", "score", "'3'", "string"),
        ("run", "score", "current_timestamp()", "timestamp"),
        ("qrels", "relevance", "'high'", "string"),
        ("run", "doc_id", "array(doc_id)", "array<string>"),
        ("qrels", "query_id", "binary(query_id)", "binary"),
        ("run", "query_id", "true", "boolean"),
    ],
)
def test_a_column_of_another_type_is_rejected_before_the_job(spark, kind, column, kind_of_column, found):
    given = dict(zip(("qrels", "run"), frames(spark, *collection(5)), strict=True))
    given[kind] = given[kind].selectExpr(
        *(name for name in given[kind].columns if name != column), f"{kind_of_column} as {column}"
    )
    with pytest.raises(InputError, match=rf"{kind}: .* {column} is .*{re.escape(found)}: .*are needed"):
        evaluate("Q", given["qrels"], given["run"])


def test_ids_that_are_whole_floats_are_integers(spark):
    qrels = spark.createDataFrame([(1, 11, 1), (1, 12, 2)], "query_id int, doc_id long, relevance int")
    for names in ("query_id double, doc_id float", "query_id float, doc_id double"):
        run = spark.createDataFrame([(1.0, 11.0, 2.0), (1.0, 12.0, 1.0)], f"{names}, score double")
        expected = ir_graded.evaluate("Q", {1: {"11": 1, "12": 2}}, {"1": {"11": 2.0, "12": 1.0}})
        assert table(evaluate("Q", qrels, run)) == expected_table(expected)
        for wrong in (1.5, float("inf"), 2.0**53):
            rows = [(1.0, 11.0, 2.0), (1.0, wrong, 1.0)]
            with pytest.raises(Exception, match=r"doc_id: an id is text or a whole number"):
                evaluate("Q", qrels, spark.createDataFrame(rows, f"{names}, score double")).collect()


def test_lines_of_another_format_are_rejected(spark, tmp_path):
    cases = {
        "0001 A d1 1": (read_qrels, "looks like an NTCIR file by letters"),
        "200 12595615 1 48.63 28426 295": (read_runs, "may be a Genomics run without run_id"),
    }
    for line, (read, problem) in cases.items():
        (tmp_path / "file.txt").write_text(f"{line}\n")
        with pytest.raises(Exception, match=problem):
            read(spark, tmp_path / "file.txt").collect()
    for line in ("google maps\t3665\t1", "a b\t0\td\te\t1"):
        (tmp_path / "file.txt").write_text(f"{line}\n")
        with pytest.raises(Exception, match="expected 4 fields"):
            read_qrels(spark, tmp_path / "file.txt").collect()
    (tmp_path / "file.txt").write_text("google maps\t\t0 \t d 1\t1\t\r\n1 0\t d 1\n")
    rows = read_qrels(spark, tmp_path / "file.txt").collect()
    assert [(row["query_id"], row["doc_id"]) for row in rows] == [("google maps", "d 1"), ("1", "d")]
    (tmp_path / "run.txt").write_text("200 Q0 1 48 28426 295\n200 1 d1 48 28425 295\n200 1 1 48 0.5 295\n")
    assert [row["doc_id"] for row in read_runs(spark, tmp_path / "run.txt").collect()] == ["1", "d1", "1"]


def test_runs_without_shared_topics_show_topics_of_both_sides(spark):
    judged, ranked = frames(spark, [("1.0", "a", 1)], [("one", "1", "a", 1.0)])
    with pytest.raises(NoSharedTopicsError, match=r"the run has '1', the qrels have '1\.0'"):
        evaluate("Q", judged, ranked)


def test_no_rows_are_one_empty_run_or_rejected_if_rows_name_their_run(spark):
    judged, ranked = frames(spark, *collection(9, topics=2, runs=1))
    found = table(evaluate("Q", judged, ranked.limit(0).drop("run")))
    assert found == {("run", "t0", "Q"): 0.0, ("run", "t1", "Q"): 0.0}
    with pytest.raises(NoSharedTopicsError, match="the runs are empty"):
        evaluate("Q", judged, ranked.limit(0))


@pytest.mark.parametrize("broadcast", [pytest.param(True, marks=pytest.mark.release), False])
def test_duplicates_are_reported_once(spark, broadcast):
    judged, ranked = frames(spark, [("1", "a", 1), ("1", "b", 0)], [("one", "1", "a", 1.0)])
    cases = {
        r"document 'a' appears twice, in run 'one';": (judged, ranked.union(ranked)),
        r"appears twice, in the only run, as the DataFrame has no column run;": (
            judged,
            ranked.union(ranked).drop("run"),
        ),
        r"qrels: topic '1', document 'a' has level [13] and level [13];": (
            judged.union(judged.where("doc_id = 'a'").selectExpr("query_id", "doc_id", "3")),
            ranked,
        ),
        r"qrels: a row has no doc_id": (judged.union(judged.selectExpr("query_id", "null", "1")), ranked),
    }
    for message, given in cases.items():
        with pytest.raises(Exception, match=message):
            evaluate("Q", *given, broadcast=broadcast).collect()


@pytest.mark.parametrize("broadcast", [pytest.param(True, marks=pytest.mark.release), False])
def test_errors_of_a_row_stop_the_job(spark, broadcast):
    qrels, rows = collection(6)
    judged, ranked = frames(spark, qrels, rows)
    one = ranked.where("query_id = 't7' and run = 'run0'").limit(1)
    cases = {
        "topic 't7', document 'd[0-9]+' appears twice": ranked.union(one),
        "topic 't7', document 'd[0-9]+' .*the score is missing": ranked.union(
            one.selectExpr("run", "query_id", "'d999'", "double('NaN')")
        ),
        "has no doc_id": ranked.union(one.selectExpr("run", "query_id", "null", "score")),
    }
    for message, wrong in cases.items():
        with pytest.raises(Exception, match=message):
            evaluate("Q", judged, wrong, broadcast=broadcast).collect()


def test_an_unreadable_line_is_rejected(spark, tmp_path):
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    for line, problem in (("1 Q0 a 1 2", "expected 6 fields"), ("1 Q0 a 1 x t", "the score is not a number")):
        (tmp_path / "run.txt").write_text(f"1 Q0 b 1 2.5 t\n{line}\n")
        with pytest.raises(Exception, match=rf"run\.txt: {problem}.*{line}"):
            evaluate("Q", str(tmp_path / "qrels.txt"), str(tmp_path / "run.txt"), spark=spark).collect()


def test_a_killed_worker_changes_nothing(spark, tmp_path, monkeypatch):
    flag = tmp_path / "killed"

    def dying(**options):
        scoring = Scoring(**options)

        def score(batches):
            for batch in scoring(batches):
                yield batch
                if not flag.exists():
                    flag.touch()
                    os.kill(os.getpid(), signal.SIGKILL)

        return score

    monkeypatch.setattr("ir_graded.spark.evaluation.Scoring", dying)
    qrels, rows = collection(8)
    found = table(evaluate(MEASURES, *frames(spark, qrels, rows)))
    assert flag.exists()
    same(found, expected_table(on_one_machine(MEASURES, qrels, rows)))


def example(number):
    """Return a Python block of the page about Spark, counted from 0."""
    page = Path(__file__).parents[2] / "docs" / "spark.rst"
    block = page.read_text(encoding="utf-8").split(".. code-block:: python\n\n")[number + 1]
    return textwrap.dedent(re.match(r"(   .*\n|\n)+", block)[0])


def test_the_example_in_the_documentation_runs(spark, tmp_path, capsys):
    qrels, rows = collection(9, runs=2)
    judged, ranked = frames(spark, qrels, rows)
    judged.write.parquet(str(tmp_path / "qrels.parquet"))
    ranked.write.parquet(str(tmp_path / "runs.parquet"))
    code = example(0).replace('.parquet("', f'.parquet("{tmp_path}/')
    exec(compile(code, "spark.rst", "exec"), {"spark": spark})  # noqa: S102  # the project's own page
    assert "nDCG@10" in capsys.readouterr().out


def test_the_choice_of_python_in_the_documentation_works(monkeypatch):
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        monkeypatch.setenv(name, "another")
    exec(compile(example(2), "spark.rst", "exec"), {})  # noqa: S102  # the project's own page
    assert os.environ["PYSPARK_PYTHON"] == os.environ["PYSPARK_DRIVER_PYTHON"] == sys.executable


@pytest.mark.release
def test_the_script_in_the_documentation_can_be_submitted(spark, tmp_path):
    qrels, rows = collection(10, runs=2)
    judged, ranked = frames(spark, qrels, rows)
    judged.write.parquet(str(tmp_path / "qrels.parquet"))
    ranked.write.parquet(str(tmp_path / "runs.parquet"))
    (tmp_path / "evaluate.py").write_text(example(1), encoding="utf-8")
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    local = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    subprocess.run(  # noqa: S603  # Spark's own script
        [submit, "--master", "local[1]", "--conf", "spark.ui.enabled=false", "evaluate.py"],
        cwd=tmp_path,
        env=os.environ | local,
        check=True,
        capture_output=True,
        timeout=300,
    )
    found = spark.read.csv(str(tmp_path / "means.csv"), header=True, inferSchema=True)
    expected = on_one_machine(["P-measure", "Q", "nDCG@10"], qrels, rows)
    means = {(row["run"], row["measure"]): row["value"] for row in found.collect()}
    for r, run in enumerate(expected.runs):
        for m, measure in enumerate(expected.measures):
            assert abs(means[run, str(measure)] - expected.aggregates[r, m]) <= 1e-12
