"""Files that fit two formats are read if the format is certain, and rejected otherwise."""

from contextlib import nullcontext
from functools import partial
from warnings import catch_warnings, simplefilter

import pandas as pd
import pytest
from helpers import error_message
from packed import gzipped

import ir_graded
from ir_graded.errors import CoverageWarning, FileFormatError, InputError

RIGID = [("S", 1), ("A", 1), ("B", 0), ("C", 0)]
RELAXED = [("S", 1), ("A", 1), ("B", 1), ("C", 0)]


def qrels_rows(path, **options):
    return list(ir_graded.read_qrels(path, **options).itertuples(index=False, name=None))


def run_rows(path, **options):
    return list(ir_graded.read_run(path, **options).itertuples(index=False, name=None))


def problem_of(call, path):
    """Return the message of an error, without the place of the file."""
    message = error_message(FileFormatError, call, path)
    assert message.startswith(f"{path}, line ")
    return message.removeprefix(f"{path}, ")


# ------------------------------------------------------------------------------ NTCIR's numbers


@pytest.mark.parametrize("level", ["0.5", "2", "-1", ".25", "1e-3"])
def test_numeric_levels_in_three_fields_are_read_if_the_format_is_named(write, level):
    path = write(f"0001 d1 {level}\n0001 d2 0\n")
    assert qrels_rows(path, format="ntcir-continuous") == [("0001", "d1", float(level)), ("0001", "d2", 0)]


# ------------------------------------------------------------------------------ NTCIR's letters


@pytest.mark.parametrize("lines", [RIGID, RELAXED], ids=["rigid", "relaxed"])
@pytest.mark.parametrize("blank", ["\t", " ", "  "])
@pytest.mark.parametrize("compress", [bytes, gzipped], ids=["plain", "gzip"])
def test_letters_of_ntcir_are_read_as_levels(write, lines, blank, compress):
    text = "\n".join(blank.join(["0001", letter, f"d{letter}", str(mark)]) for letter, mark in lines) + "\n"
    path = write(compress(text.encode()), "qrels.txt")
    rows = [("0001", "dS", 3), ("0001", "dA", 2), ("0001", "dB", 1), ("0001", "dC", 0)]
    assert qrels_rows(path) == rows
    assert qrels_rows(path, format="ntcir-early") == rows
    assert qrels_rows(path, format="trec") == [
        (*row[:2], mark) for row, (_, mark) in zip(rows, lines, strict=True)
    ]


@pytest.mark.parametrize("order", ["SABC", "CBAS", "BSAC", "SAC", "C", "B", "A"])
def test_the_letters_may_have_any_order(write, order):
    for marks in (dict(RIGID), dict(RELAXED)):
        path = write("".join(f"1 {letter} d{letter} {marks[letter]}\n" for letter in order), "qrels.txt")
        assert [row[2] for row in qrels_rows(path)] == ["CBAS".index(letter) for letter in order]


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("1 A e 2", ("1", "e", 2)),
        ("1 7 L3 1", ("1", "L3", 1)),
        ("1 Q0 L3 1", ("1", "L3", 1)),
        ("200\t12642603\t67096\t14274\t", ("200", "67096", 14274)),
    ],
)
def test_lines_that_look_like_another_format_are_read_by_name(write, line, row):
    assert qrels_rows(write(f"\n{line}\n", "qrels.txt"), format="trec") == [row]


def test_a_file_of_intents_has_levels_in_the_fourth_field(write):
    path = write("\n1 2 d L2\n1 3 d L0\n\n1 2 L1 L1\n", "qrels.txt")
    expected = [("1", "d", 2, "2"), ("1", "d", 0, "3"), ("1", "L1", 1, "2")]
    assert qrels_rows(path) == qrels_rows(path, format="ntcir-intents") == expected


def test_a_file_of_classes_has_levels_in_the_third_field(write):
    path = write("1 x L3 1\n1 y L0 A\n", "qrels.txt")
    expected = [("1", "x", 3, "1"), ("1", "y", 0, "A")]
    assert qrels_rows(path) == qrels_rows(path, format="ntcir-classes") == expected
    path = write("1 7 L3 1\n", "qrels.txt")
    assert qrels_rows(path, format="ntcir-classes") == [("1", "7", 3, "1")]


@pytest.mark.parametrize("second", ["0", "Q0", "0.5", "4.5", "1", "s", "SA", "D", "L1"])
def test_trec_qrels_are_still_read(write, second):
    for doc in ("L", "LA0123-1", "x;y;L3;z", "S", "12642603"):
        path = write(f"1 {second} {doc} 2\n1\t{second}\tL2\t0\n", "qrels.txt")
        assert qrels_rows(path) == [("1", doc, 2), ("1", "L2", 0)]


# ------------------------------------------------------------------------------- sampled judgments


def test_passages_of_a_few_characters_can_be_read_by_name(write):
    rows = qrels_rows(write("1 0 d1 1 1\n1 0 d2 1 2\n", "qrels.txt"), format="inex")
    assert [row[1:3] for row in rows] == [("d1", 1), ("d2", 1)]


@pytest.mark.parametrize("blank", [" ", "\t"])
@pytest.mark.parametrize("end", ["", " 100", " 100 0:30"])
@pytest.mark.parametrize("file", ["851", "a"])
def test_articles_are_read_with_any_blank(write, blank, end, file):
    text = f"1 Q0 {file} 30 500{end}\n1 Q0 b 0 500\n"
    length = 30 if ":" in end else 0
    expected = [("1", file, 1, 0, length), ("1", "b", 0, 0, 0)]
    assert qrels_rows(write(text.replace(" ", blank), "qrels.txt")) == expected


@pytest.mark.parametrize("aspects", ["7", "70"])
def test_a_gold_standard_with_a_number_as_aspects_is_read_by_name(write, aspects):
    path = write(f"200\t12642603\t67096\t14274\t{aspects}\n", "qrels.txt")
    assert qrels_rows(path, format="genomics") == [("200", "12642603", 1, 67096, 14274, aspects)]


# -------------------------------------------------------------------- Genomics runs of six fields

GENOMICS = "200 12595615 1 48.63 28426 295 york\n200 15814577 2 43.338 5656 125 york\n"
GENOMICS_ROWS = [("200", "12595615", 48.63, 28426, 295), ("200", "15814577", 43.338, 5656, 125)]


@pytest.mark.parametrize("end", ["", "\t"], ids=["missing", "empty"])
@pytest.mark.parametrize("blank", ["\t", " "])
def test_a_genomics_run_without_its_last_field_is_read_by_name(write, end, blank):
    path = write(GENOMICS.replace(" york", end).replace(" ", blank))
    assert run_rows(path, format="genomics") == GENOMICS_ROWS
    assert run_rows(path, format="trec") == [("200", "1", 28426.0), ("200", "2", 5656.0)]


@pytest.mark.slow
@pytest.mark.parametrize("many", [False, True])  # many are read by Polars
def test_a_run_with_the_rank_in_place_of_the_score_is_rejected(write, many):
    lines = [
        f"{topic} Q0 d{rank} {9.5 - rank} {rank} t"
        for topic in range(30000 if many else 2)
        for rank in (1, 2, 3)
    ]
    path = write("\n".join(lines))
    with pytest.raises(FileFormatError, match=r"the rank is 8\.5 and the score 1: are the columns swapped"):
        ir_graded.evaluate("Q", {"0": {"d1": 1}}, path)
    found = ir_graded.read_run(path, format="trec")
    assert found["score"].tolist()[:3] == [1, 2, 3]


def test_numeric_trec_runs_are_still_read(write):
    for second in ("Q0", "0", "x"):
        assert run_rows(write(f"1 {second} 4711 1 25 7")) == [("1", "4711", 25.0)]
    for doc, score, tag in (("d4711", "25", "7"), ("4711", "25.5", "7"), ("4711", "25", "t7")):
        assert run_rows(write(f"1 1 {doc} 1 {score} {tag}")) == [("1", doc, float(score))]


def test_a_gold_standard_may_have_further_fields(write):
    text = "200\t12642603\t67096\t14274\tIFN-ALPHA|ANTI DNA\tnote\n200\t10662869\t40671\t1038\n"
    aspects = "IFN-ALPHA|ANTI DNA"
    rows = [("200", "12642603", 1, 67096, 14274, aspects), ("200", "10662869", 1, 40671, 1038, None)]
    assert qrels_rows(write(text, "qrels.txt")) == rows


# ------------------------------------------------------------------------------- order of the lines


def test_the_order_of_an_inex_run_counts_within_each_topic(write):
    lines = [f"{topic} Q0 {doc} 1 0.5 me 0 9" for topic, doc in ["1a", "1b", "2a", "1c", "2b"]]
    rows = run_rows(write("\n".join(lines)))
    assert [(topic + doc, rank) for topic, doc, rank, *_ in rows] == [
        ("1a", -1), ("1b", -2), ("2a", -1), ("1c", -3), ("2b", -2)
    ]  # fmt: skip


# ------------------------------------------------------------------------------- ranks, and features


@pytest.mark.parametrize(
    ("lines", "rows", "warned"),
    [
        (["1 70 2", "2 9 1", "1 71 1"], [-2, -1, -1], None),
        (["1 70 1 25.1", "1 71 2 20", "1 9 3 2e1"], [25.1, 20, 20], "documents with equal scores"),
        (["1 70 1 20", "1 71 2 25.1", "2 70 1 3"], [-1, -2, 3], "scores of topics '1' do not descend with"),
        (["1 70 1", "2 70 1"], [-1, -1], "each topic has one document, at rank 1; are these qrels"),
        (["1 70 1 2"], [2], "each topic has one document, at rank 1; are these qrels"),
        (["1 0 1 9.5", "1 70 2 8"], [9.5, 8], None),  # 0 is a document here
    ],
)
def test_ranks_that_count_from_1_in_each_topic_are_a_run(write, monkeypatch, lines, rows, warned):
    path = write("\n".join(lines))
    monkeypatch.setattr("ir_graded.matching.tables._PIECE", 1)  # all pieces are needed
    ranked = {line.split()[0]: {} for line in lines}
    for topic, doc, rank, *_ in map(str.split, lines):
        ranked[topic][doc] = -int(rank)
    qrels = {topic: {"70": 1, "71": 2} for topic in ranked}
    with catch_warnings(record=True) as caught:
        simplefilter("always")
        found = ir_graded.read_run(path)
    assert len(caught) == (warned is not None and "equal" not in warned)
    assert found["score"].tolist() == rows
    assert found["position"].tolist() == [int(line.split()[2]) for line in lines]
    with pytest.warns(CoverageWarning, match=warned) if warned else nullcontext():
        scores = ir_graded.evaluate("Q", qrels, path)
    assert scores.values.tolist() == ir_graded.evaluate("Q", qrels, ranked).values.tolist()


@pytest.mark.parametrize(
    ("lines", "format"), [(["1 70 0", "1 71 1"], "msmarco"), (["1 70 1 2", "1 71 3 1"], "colbert")]
)
def test_other_ranks_are_a_run_only_if_the_format_is_named(write, lines, format):
    path = write("\n".join(["3 70 1" + lines[0][6:], *lines]))
    assert problem_of(ir_graded.read_run, path).startswith(
        "line 2: a run of lines topic doc rank [score] has ranks from 1 to the number of documents in each "
        "topic, not as in topic 1: are the qrels and the run swapped?"
    )
    assert [row[1] for row in run_rows(path, format=format)] == ["70", "70", "71"]


@pytest.mark.parametrize("second", ["0", "Q0"])
def test_qrels_whose_documents_count_from_1_are_not_a_run(write, second):
    path = write(f"1 {second} 1 2\n1 {second} 2 0\n2 {second} 1 1")
    assert "are the qrels and the run swapped?" in problem_of(ir_graded.read_run, path)


SWAPPED_FIELDS, OF_RUN = "fields 2 and 3 look swapped", r"looks like a run \(topic doc rank score\)"


@pytest.mark.parametrize(
    ("lines", "warned"),
    [
        (["01 1410  0 0", "01 1572  0 0"], f": {SWAPPED_FIELDS}"),
        (["1 a Q0 2", "2 a Q0 1", "2 b Q0 0"], f": {SWAPPED_FIELDS}"),
        (["1 7067032 1 25.1"], f": {OF_RUN}"),
        (["1 7 2 3.5", "2 7 1 1", "1 8 1 4"], f": {OF_RUN}"),
        (["1 7 1 3.5", "2 8 1 1"], f"{SWAPPED_FIELDS} .* or {OF_RUN}"),
        (["1 0 1 2", "1 0 2 1", "2 0 1 1"], None),
        (["1 1 1 2", "1 1 2 1"], None),
        (["1 1 1 2", "1 2 2 1", "1 1 2 0"], None),
        (["1 a d 2", "1 b d 1"], None),
        (["1 0 1 2"], None),
    ],
)
def test_qrels_that_look_like_other_lines_are_read_with_a_warning(write, lines, warned):
    path = write("\n".join(lines), "qrels.txt")
    rows = [(line.split()[0], line.split()[2], float(line.split()[3])) for line in lines]
    with pytest.warns(CoverageWarning, match=warned) if warned else nullcontext():
        assert [row[:3] for row in qrels_rows(path)] == rows
    assert [row[:3] for row in qrels_rows(path, format="trec")] == rows


def test_features_are_qrels_if_they_name_the_document(write):
    lines = ["2 qid:10 1:.03 2:0 #docid = G10 inc = 1", "0 qid:10 1:1 # docid=G11", "1 qid:9 #docid=a"]
    expected = [("10", "G10", 2), ("10", "G11", 0), ("9", "a", 1)]
    for text in ("\n".join(lines), "\n".join(lines).replace(" ", "\t")):
        path = write(text, "qrels.txt")
        assert qrels_rows(path) == qrels_rows(path, format="svmrank") == expected
    # With three or four fields, too.
    for line, row in zip(lines, expected, strict=True):
        assert qrels_rows(write(line.replace("# ", "#"), "qrels.txt")) == [row]
    for line, problem in (
        ("2 qid:10 1:.03 # 1A", "no '#docid = ...' at the end names the document"),
        ("2 qid:10 1:.03 b #docid = c", "a field is not of this form"),
    ):
        message = problem_of(ir_graded.read_qrels, write(f"{lines[0]}\n{line}\n", "qrels.txt"))
        assert message.startswith("line 2: expected level qid:topic feature:value ... #docid = doc (SVMRANK")
        assert problem in message
    assert qrels_rows(write("2 qid:10 1:.5 3\n", "qrels.txt")) == [("2", "1:.5", 3)]


# ------------------------------------------------------------------------------ byte-order marks

BOM = "\ufeff"
PROBLEM = "a byte-order mark inside the file"


@pytest.mark.parametrize("begin", ["", BOM])
@pytest.mark.parametrize("compress", [bytes, gzipped], ids=["plain", "gzip"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_joined_files_with_byte_order_marks_are_rejected(write, begin, compress, end):
    qrels = f"1 0 a 1{end}2 0 b 1{end}"
    run = f"1 Q0 a 1 2.0 t{end}2 Q0 b 1 1.0 t{end}"
    line = 1 + (begin + qrels).count("\n")
    for call, text in (
        (ir_graded.read_qrels, qrels),
        (lambda path: ir_graded.evaluate("Q", path, {"1": {"a": 1.0}, "2": {"b": 1.0}}), qrels),
        (ir_graded.read_run, run),
        (lambda path: ir_graded.evaluate("Q", {"1": {"a": 1}}, path), run),
    ):
        path = write(compress((begin + text + BOM + text).encode()))
        assert problem_of(call, path).startswith(f"line {line}: {PROBLEM}")
        path.write_bytes(compress((begin + text).encode()))
        call(path)


def test_a_byte_order_mark_is_reported_with_its_line_in_any_piece(write, monkeypatch):
    monkeypatch.setattr("ir_graded.matching.tables._PIECE", 40)
    lines = [f"{number} Q0 d 1 1 t" for number in range(50)]
    lines[30] = BOM + lines[30]
    qrels = {str(number): {"d": 1} for number in range(50)}
    for compress in (bytes, gzipped):
        path = write(compress("\n".join(lines).encode()))
        assert problem_of(partial(ir_graded.evaluate, "Q", qrels), path).startswith("line 31: ")


# ------------------------------------------------------------------------------------- PAR1


@pytest.mark.parametrize("topic", ["PAR1", "PAR1x"])
@pytest.mark.parametrize("tag", ["tag", "PAR1"])
def test_a_topic_that_begins_like_parquet_is_text(write, topic, tag):
    text = f"{topic} Q0 a 1 2.0 t\n{topic} Q0 b 2 1.0 {tag}"
    assert run_rows(write(text)) == [(topic, "a", 2.0), (topic, "b", 1.0)]
    assert ir_graded.evaluate("RR", {topic: {"b": 1}}, write(text)).values.tolist() == [[[0.5]]]
    assert qrels_rows(write(f"{topic} 0 a 1\n", "qrels.txt")) == [(topic, "a", 1)]


@pytest.mark.slow
def test_parquet_of_any_size_is_parquet(write, tmp_path):
    frame = pd.DataFrame({"query_id": ["PAR1"] * 3, "doc_id": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]})
    for rows in (0, 1, 3):
        path = tmp_path / "run"
        frame.head(rows).to_parquet(path)
        assert run_rows(path) == list(frame.head(rows).itertuples(index=False, name=None))
        for size in range(5, path.stat().st_size, 97):
            with pytest.raises(InputError, match="cannot be read as Parquet"):
                ir_graded.read_run(write(path.read_bytes()[:size], "cut"))
