"""``ir_graded judgments``: compare two sets of judgments on the command line."""

import io
import json
from functools import partial

import pandas as pd
import pytest
from helpers import assert_command_fails, run_command

A = "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 d 1\n2 0 e 0\n3 0 f 1\n3 0 g 0\n"
B = "1 0 a 1\n1 0 b 0\n1 0 c 1\n2 0 d 1\n2 0 e 1\n3 0 f 1\n3 0 h 0\n"
X = "1 Q0 a 1 3 x\n2 Q0 e 1 3 x\n2 Q0 d 2 2 x\n3 Q0 f 1 1 x\n"
Y = "1 Q0 b 1 3 y\n1 Q0 a 1 2 y\n2 Q0 d 2 2 y\n3 Q0 g 1 1 y\n3 Q0 f 1 .5 y\n"


@pytest.fixture
def judgments(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"A": A, "B": B, "x": X, "y": Y}.items():
        (tmp_path / name).write_text(text)
    return partial(run_command, capsys, "judgments", "-B", "20")


def test_matrix_coverage_and_coefficients_are_printed(judgments):
    code, out, _ = judgments("A", "B", "-p", "3")
    assert code == 0
    matrix, covered, coefficients = (part.splitlines() for part in out.strip().split("\n\n"))
    assert [line.split() for line in matrix[2:]] == [list("0110"), list("1030"), list("2010")]
    assert [line.split()[-1] for line in covered[2:]] == ["1", "1", "6"]
    by_name = {line.split()[0]: line.split()[1] for line in coefficients[2:]}
    # Seven pairs, without g and h: (2,1) (0,0) (1,1) (1,1) (0,1) (1,1).
    assert (by_name["observed"], by_name["overlap"]) == ("0.667", "0.800")


def test_runs_add_a_column_for_each_measure(judgments):
    code, out, _ = judgments("A", "B", "x", "y", "-m", "AP Q", "-o", "jsonl", "--test", "t")
    assert code == 0
    records = [json.loads(line) for line in out.splitlines()]
    found = {(one["measure"], one["statistic"]): one["value"] for one in records if "measure" in one}
    assert {measure for measure, _ in found} == {"AP", "Q"}
    assert sum(found["AP", name] for name in CLASSES) == 1
    assert isinstance(found["AP", "passive_agreement"], int)


CLASSES = [
    *("active_agreement", "active_disagreement", "passive_agreement", "passive_disagreement"),
    *("mixed_agreement_a", "mixed_disagreement_a", "mixed_agreement_b", "mixed_disagreement_b"),
]


def test_csv_is_one_table_with_a_line_for_each_value(judgments):
    code, out, _ = judgments("A", "B", "x", "y", "-m", "AP Q", "-o", "csv", "--test", "t")
    assert code == 0
    table = pd.read_csv(io.StringIO(out), dtype={"row": str})
    assert list(table) == ["table", "row", "column", "value"]
    assert list(table["table"].unique()) == ["levels", "pairs", "coefficient", "statistic"]
    values = table.set_index(["table", "row", "column"])["value"]
    assert [int(values["pairs", f"{one} only", "number"]) for one in ("first", "second")] == [1, 1]
    assert int(values["pairs", "both", "number"]) == 6 == pd.to_numeric(values["levels"]).sum()
    assert {"AP", "Q"} == set(values["statistic"].index.get_level_values("column"))


def test_conclusions_fit_into_a_terminal(judgments):
    _, out, _ = judgments("A", "B", "x", "y", "-m", "AP Q RR", "--test", "t")
    assert max(map(len, out.splitlines())) <= 80
    assert ["statistic", "AP", "Q", "RR"] in [line.split() for line in out.splitlines()]


def test_few_topics_cause_a_warning(judgments):
    _, _, err = judgments("A", "B")
    assert "fewer than 10 topics have documents that both sets judge" in err
    assert not judgments("A", "B", "--quiet")[2]


def test_soft_labels_have_alpha_and_no_matrix(judgments, tmp_path):
    for name, power in (("soft", 1), ("other", 2)):
        lines = (f"{at % 3} 0 d{at} {(at / 30) ** power:.4f}\n" for at in range(30))
        (tmp_path / name).write_text("".join(lines))
    code, out, _ = judgments("soft", "other", "--measurement", "interval", "--plot", "P", "-o", "jsonl")
    assert code == 0
    rows = map(json.loads, out.splitlines())
    rows = [one for one in rows if "coefficient" in one and one["statistic"] == "value"]
    found = {one["coefficient"]: one["value"] for one in rows}
    assert 0.8 < found["alpha"] < 1
    assert found["kappa"] is None
    assert not list((tmp_path / "P").iterdir())


@pytest.mark.slow
def test_figures_are_written(judgments, tmp_path):
    code, *_ = judgments("A", "B", "x", "y", "-m", "AP", "--plot", "P")
    assert code == 0
    begins = {path.name: path.read_bytes()[:4] for path in sorted((tmp_path / "P").iterdir())}
    pdf, png = b"%PDF", b"\x89PNG"
    assert begins == {"confusion.pdf": pdf, "confusion.png": png, "means.pdf": pdf, "means.png": png}


def test_wrong_use_is_an_error_of_one_line(judgments, tmp_path):
    assert_command_fails(judgments("A", "B", "x"), "RUNs and -m go together")
    assert_command_fails(judgments("A", "B", "-m", "AP"), "RUNs and -m go together")
    assert_command_fails(judgments("A"), "Missing argument 'B'")
    (tmp_path / "C").write_text("9 0 a 1\n")
    assert_command_fails(judgments("A", "C"), "judge no pair", "'C' has topic '9', document 'a'")


def test_passages_add_the_agreement_of_their_characters(judgments, tmp_path):
    names = "query_id,doc_id,relevance,start,length\n"
    (tmp_path / "a.csv").write_text(f"{names}1,a,1,0,40\n1,b,1,10,30\n2,c,1,0,20\n")
    (tmp_path / "b.csv").write_text(f"{names}1,a,1,10,50\n1,d,1,0,10\n2,c,1,5,15\n3,e,1,0,5\n")
    (tmp_path / "lengths.csv").write_text("doc_id,length\na,100\nb,90\nc,30\nd,90\ne,9\n")
    code, out, _ = judgments("a.csv", "b.csv", "--lengths", "lengths.csv", "-o", "csv", "-p", "12")
    assert code == 0
    table = pd.read_csv(io.StringIO(out)).set_index(["table", "row", "column"])["value"]
    assert table["characters", "pooled_IoU", "value"] == 0.375
    assert table["characters", "kappa", "value"] == 0.461538461538
    code, out, _ = judgments("a.csv", "b.csv")
    assert code == 0
    shown = [line.split()[:2] for line in out.strip().split("\n\n")[-1].splitlines()[2:]]
    assert shown == [["F", "0.6593"], ["IoU", "0.5250"], ["pooled_F", "0.5455"], ["pooled_IoU", "0.3750"]]
    assert_command_fails(judgments("A", "B", "--lengths", "lengths.csv"), "the judgments have no passages")


def test_assignments_of_nuggets_are_compared_without_runs(judgments, tmp_path):
    for name, labels in {"one": ("support", "not_support"), "two": ("support", "partial_support")}.items():
        nuggets = [
            {"text": f"n{at}", "importance": "vital", "assignment": one} for at, one in enumerate(labels)
        ]
        turned = [{**one, "assignment": label} for one, label in zip(nuggets, reversed(labels), strict=True)]
        rows = [
            {"qid": topic, "run_id": run, "nuggets": turned if run == topic else nuggets[: int(run)]}
            for run in "12"
            for topic in "123"
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    files = ("one.jsonl", "two.jsonl")
    code, out, _ = judgments(*files, "-o", "csv")
    assert code == 0
    table = pd.read_csv(io.StringIO(out), dtype={"row": str}).set_index(["table", "row", "column"])["value"]
    assert (table["levels", "0", "1"], table["levels", "2", "2"], table["pairs", "both", "number"]) == (
        4,
        6,
        10,
    )
    code, out, _ = judgments(*files, "-m", "all_score", "--test", "t", "-o", "jsonl")
    assert code == 0
    assert {"NuggetScore"} <= {json.loads(line).get("measure") for line in out.splitlines()}
    assert_command_fails(judgments(*files, "x", "-m", "AP"), "both a and b are such input")
