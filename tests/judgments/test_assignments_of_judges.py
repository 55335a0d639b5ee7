"""Agreement of two sets of assignments of nuggets to answers, and conclusions about the answers."""

import json
import random

import pandas as pd
import polars as pl
import pytest

import ir_graded
from ir_graded import CoverageWarning, InputError, NoSharedTopicsError, meta

LABELS = ("not_support", "partial_support", "support")
RUNS = ("x", "y", "z")
MEASURES = ["strict_vital_score", "all_score"]


def answers(number, changed=0.0):
    """Return random answers of three runs to four topics; a share of the labels is drawn again."""
    drawn, again = random.Random(1), random.Random(number)  # noqa: S311
    rows = []
    for run in RUNS:
        for topic in range(4):
            nuggets = [
                {
                    "text": f"n{at}",
                    "importance": "vital" if (topic + at) % 2 else "okay",
                    "assignment": drawn.choice(LABELS),
                }
                for at in range(5)
            ]
            for nugget in nuggets:
                if again.random() < changed:
                    nugget["assignment"] = again.choice(LABELS)
            rows.append({"qid": str(topic), "run_id": run, "nuggets": nuggets})
    return rows


def table(rows):
    return pd.DataFrame(
        [
            {"query_id": row["qid"], "run": row["run_id"], "nugget": n["text"]}
            | {name: n[name] for name in ("importance", "assignment")}
            for row in rows
            for n in row["nuggets"]
        ]
    )


def written(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def labels_of(rows):
    return {
        (row["run_id"], row["qid"], nugget["text"]): LABELS.index(nugget["assignment"])
        for row in rows
        for nugget in row["nuggets"]
    }


def test_labels_of_nuggets_agree_as_levels():
    one, two = answers(1), answers(2, changed=0.4)
    found = ir_graded.compare_judgments(one, two, n_resamples=20)
    a, b = labels_of(one), labels_of(two)
    counts = [[sum(a[key] == x and b[key] == y for key in a) for y in range(3)] for x in range(3)]
    assert found.agreement.confusion().to_numpy().tolist() == counts
    frame = pd.DataFrame({"a": a, "b": b})
    topics = [topic for _, topic, _ in frame.index]
    expected = meta.agreement(frame.reset_index(drop=True), topics=topics, reference="a", n_resamples=20)
    drop = ["low", "high"]
    pd.testing.assert_frame_equal(
        found.agreement.to_frame().drop(columns=drop), expected.to_frame().drop(columns=drop)
    )
    assert found.conclusions == {}
    assert found.agreement.sets == ("a", "b")


@pytest.mark.slow
def test_every_form_of_assignments_is_read(tmp_path):
    one, two = answers(1), answers(2, changed=0.4)
    expected = ir_graded.compare_judgments(one, two, n_resamples=5).agreement.to_frame()
    table(two).to_csv(tmp_path / "two.csv", index=False)
    table(two).to_csv(tmp_path / "two.tsv", index=False, sep="\t")
    by_run = {run: [row for row in two if row["run_id"] == run] for run in RUNS}
    files = {run: written(tmp_path / f"{run}.jsonl", rows) for run, rows in by_run.items()}
    forms = [tmp_path / "two.csv", str(tmp_path / "two.tsv"), by_run, files]
    forms += [table(two), pl.DataFrame(table(two)), table(two).to_dict("records"), [*files.values()]]
    for form in forms:
        found = ir_graded.compare_judgments(written(tmp_path / "one.jsonl", one), form, n_resamples=5)
        pd.testing.assert_frame_equal(found.agreement.to_frame(), expected)


def test_conclusions_are_those_of_the_scores_of_answers():
    one, two = answers(1), answers(2, changed=0.6)
    found = ir_graded.compare_judgments(one, two, MEASURES, test="t")
    scores = [ir_graded.score_answers(MEASURES, rows) for rows in (one, two)]
    expected = meta.conclusions(*scores, test="t")
    pd.testing.assert_frame_equal(found.conclusions["b"].to_frame(), expected.to_frame())
    assert found.to_frame().loc["b"].index.tolist() == [str(m) for m in scores[0].measures]
    assert (found.conclusions["b"].means_a != found.conclusions["b"].means_b).any()


def test_shared_nuggets_are_those_of_both_sets():
    one, two = answers(1), answers(1)
    for row in two:
        del row["nuggets"][0]
    found = ir_graded.compare_judgments(one, two, MEASURES, pairs="shared", test="t")
    assert (found.conclusions["b"].means_a == found.conclusions["b"].means_b).all()
    found = ir_graded.compare_judgments(one, two, MEASURES, test="t")
    assert (found.conclusions["b"].means_a != found.conclusions["b"].means_b).any()
    assert found.agreement.covered[0].sum(axis=0).tolist() == [12, 0, 48]


@pytest.mark.parametrize("measures", [None, "all_score"])
def test_other_labels_warn_once(measures):
    rows = answers(1)
    rows[0]["nuggets"][0]["assignment"] = "maybe"
    with pytest.warns(CoverageWarning, match="1 of 60 nuggets have an assignment other than") as caught:
        found = ir_graded.compare_judgments(rows, answers(1), measures, n_resamples=5)
    assert [one.filename for one in caught] == [__file__]
    assert found.agreement.counts.sum() == 60


@pytest.mark.parametrize(
    ("a", "b", "more", "error", "problem"),
    [
        (answers(1), {"1": {"a": 1}}, {}, InputError, "; only a is such input"),
        ({"1": {"a": 1}}, table(answers(1)), {}, InputError, "; only b is such input"),
        (
            answers(1),
            answers(1),
            {"runs": {"x": {"1": {"a": 1.0}}}},
            InputError,
            "; both a and b are such input",
        ),
        (answers(1), answers(1), {"maps": {"b": {0: 0}}}, InputError, "without runs, maps and lengths"),
        (
            answers(1),
            {"judge": [row for row in answers(1) if row["run_id"] == "x"]},
            {},
            NoSharedTopicsError,
            "share no nugget of a run and a topic; the runs of a and b: 'x', 'y', 'z'; 'judge'; a mapping "
            "names runs",
        ),
        (
            answers(1),
            table(answers(1)).assign(assignment=2.0),
            {},
            InputError,
            "the assignment is 2.0; it must be one of support",
        ),
    ],
)
def test_assignments_that_are_wrong(a, b, more, error, problem):
    with pytest.raises(error) as caught:
        ir_graded.compare_judgments(a, b, **more)
    assert problem in str(caught.value)


def test_files_of_qrels_are_no_assignments(tmp_path):
    (tmp_path / "qrels").write_text("nugget 0 assignment 1\nnugget 0 b 0\n")
    (tmp_path / "records.json").write_text('[{"query_id": "nugget", "doc_id": "assignment", "relevance": 1}]')
    for name in ("qrels", "records.json"):
        found = ir_graded.compare_judgments(tmp_path / "qrels", tmp_path / name, n_resamples=2)
        assert found.agreement.counts.sum() >= 1
