"""Folders of BEIR, and predictions and results of MTEB.

The files have the shapes that beir 2.2 and mteb 2.26 write. ``tests/docs/test_doc_recipes.py`` runs mteb
itself, where it is installed.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from ir_graded import InputError, Scores, evaluate, evaluate_collections, meta
from ir_graded.cli.main import main
from ir_graded.errors import CoverageWarning, FileFormatError, ParameterError

FILES = Path(__file__).parents[2] / "docs" / "files"
BEIR, MTEB = FILES / "beir", FILES / "mteb"
#: By hand from the files: q1 of news has d2 (level 1) before d1 (2) in the run small.
NDCG = {
    ("news", "small"): ((1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3)) + 1 / np.log2(3) + 1) / 3,
    ("news", "large"): 1.0,
    ("web", "small"): (1 + (1 / np.log2(3)) / (2 + 1 / np.log2(3)) + 1 / np.log2(3)) / 3,
    ("web", "large"): (1 / np.log2(3) + 1 + 1) / 3,
}


def means(found):
    return {(name, run): one.mean().loc[run].item() for name, one in found.items() for run in one.runs}


def run_of(model, name):
    return json.loads((MTEB / model / f"{name}_predictions.json").read_text())["default"]["test"]


@pytest.mark.parametrize(
    "given",
    [
        (BEIR, MTEB),
        (str(BEIR), {model: MTEB / model for model in ("large", "small")}),
        ({name: BEIR / name for name in ("news", "web")}, MTEB),
        (
            BEIR,
            {model: {name: run_of(model, name) for name in ("news", "web")} for model in ("large", "small")},
        ),
        (
            {
                name: (BEIR / name, {model: run_of(model, name) for model in ("large", "small")})
                for name in ("news", "web")
            },
        ),
    ],
    ids=["folders", "names of runs", "names of collections", "dicts of runs", "pairs"],
)
def test_folders_give_qrels_and_runs(given):
    found = evaluate_collections("nDCG@10", *given)
    assert [*found] == ["news", "web"]
    assert means(found) == pytest.approx(NDCG)
    assert found["web"].signature.qrels is not None
    with pytest.warns(CoverageWarning, match="2 collections are too few"):
        across = meta.across_collections(found, "small", n_resamples=100, alpha=0.5)
    assert list(across.to_frame()["difference"][:2]) == pytest.approx(
        [NDCG[name, "large"] - NDCG[name, "small"] for name in ("news", "web")]
    )


def beir(folder, name="scifact", files=("test.tsv",), text="query-id\tcorpus-id\tscore\n1\ta\t2\n"):
    (folder / name / "qrels").mkdir(parents=True)
    for file in files:
        (folder / name / "qrels" / file).write_text(text)
    return folder / name


QRELS, RUN = {"1": {"a": 1}}, {"1": {"x": 2.0, "a": 1.0}}


def test_the_test_split_of_a_folder_is_read(tmp_path):
    folder = beir(tmp_path, files=("train.tsv", "test.tsv"))
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\n7\ta\t2\n")
    for qrels in (folder, str(folder)):
        assert evaluate("RR", qrels, RUN).mean().to_numpy().item() == 0.5
    scores = evaluate("RR", folder, RUN)
    assert scores.signature.qrels == evaluate("RR", folder / "qrels" / "test.tsv", RUN).signature.qrels
    scores = evaluate("RR", folder, RUN)
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\t1\n")
    assert scores.signature.qrels is None  # the file has changed


def test_a_folder_without_the_test_split_is_rejected(tmp_path):
    folder = beir(tmp_path, files=("dev.tsv", "train.tsv"))
    message = r"without qrels/test.tsv, .* \(this one has qrels/dev.tsv, qrels/train.tsv\)"
    with pytest.raises(InputError, match=message):
        evaluate("RR", folder, RUN)
    with pytest.raises(InputError, match=r"scifact is a folder without qrels/test.tsv"):
        evaluate_collections("RR", tmp_path, {"a": {"scifact": RUN}})
    with pytest.raises(InputError, match=r"which folders of BEIR have; give the path"):
        evaluate("RR", tmp_path, RUN)
    with pytest.raises(InputError, match=r"no folders of BEIR \(NAME/qrels/test.tsv\); give a dict"):
        evaluate_collections("RR", folder, {"a": {"scifact": RUN}})


def test_nested_and_linked_folders_are_found(tmp_path):
    beir(tmp_path / "in", "cqadupstack/android")
    beir(tmp_path / "elsewhere")
    (tmp_path / "in" / "scifact").symlink_to(tmp_path / "elsewhere" / "scifact", target_is_directory=True)
    runs = tmp_path / "runs"
    (runs / "cqadupstack").mkdir(parents=True)
    for file in ("cqadupstack/android.run", "scifact.run.trec"):
        (runs / file).write_text("1 Q0 a 0 1.5 beir\n")
    (runs / "scifact.json").write_text(json.dumps({"ndcg": {"NDCG@1": 0.5}, "map": {"MAP@1": 0.5}}, indent=4))
    found = evaluate_collections("RR", tmp_path / "in", {"bm25": runs})
    assert [*found] == ["cqadupstack/android", "scifact"]
    assert evaluate("RR", QRELS, runs).runs == ("scifact.run.trec",)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            [],
            r"expected one file of collection 'scifact' in .*, such as scifact.run or .*, found no such file",
        ),
        (
            ["scifact.run", "SciFact_predictions.json"],
            "expected .* found SciFact_predictions.json, scifact.run",
        ),
        (["scifact.2.run", "scifact-dev.run"], "expected .* found no such file"),
    ],
)
def test_each_collection_has_one_file_of_a_run(files, message, tmp_path):
    beir(tmp_path / "beir")
    runs = tmp_path / "runs"
    runs.mkdir()
    for file in files:
        (runs / file).write_text("1 Q0 a 0 1.5 beir\n")
    with pytest.raises(InputError, match=f"^run 'bm25': {message}$"):
        evaluate_collections("RR", tmp_path / "beir", {"bm25": runs})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"a": QRELS}, {"bm25": {"b": RUN}}), "^run 'bm25': no run of collection 'a', only of 'b'$"),
        (({"a": QRELS}, {"bm25": 3}), "^run 'bm25': expected a folder or a dict of collections, found 3"),
        (({"a": QRELS}, {}), "^runs: expected a dict from names of runs to folders"),
        (({"a": QRELS},), r"^collection 'a': expected \(qrels, runs\), or runs= for all, found"),
        ((BEIR,), r"^collection 'news': expected \(qrels, runs\), or runs= for all, found"),
    ],
)
def test_wrong_collections_are_rejected(arguments, message):
    with pytest.raises(InputError, match=message):
        evaluate_collections("RR", *arguments)


def written(folder, name, content):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content))
    return file


META = {"mteb_model_meta": {"model_name": "org/model", "revision": "1"}}


def test_predictions_of_mteb_are_runs(tmp_path):
    other = {"1": {"a": 9.0}}
    for number, splits in enumerate([{"test": RUN}, {"dev": RUN}, {"val": other, "test": RUN}]):
        file = written(tmp_path, f"{number}_predictions.json", META | {"default": splits})
        assert evaluate("RR", QRELS, [file]).values.tolist() == [[[0.5]]]
    # mteb 1 wrote the rankings alone.
    file = written(tmp_path, "SciFact_default_predictions.json", RUN)
    found = evaluate_collections("RR", {"SciFact": QRELS}, {"model": tmp_path})
    assert found["SciFact"].values.tolist() == [[[0.5]]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (META | {"en": {"test": RUN}, "fr": {"test": RUN}}, r"found \['en'\]\['test'\], \['fr'\]\['test'\];"),
        (META | {"default": {"dev": RUN, "val": RUN}}, r"found \['default'\]\['dev'\], \['default'\]\['v"),
        (META, "found none; read the file by json.load"),
        (META | {"default": {"test": [1, 0]}}, "is JSON, an array; give"),
        (
            {"task_name": "SciFact", "mteb_version": "2", "scores": {"test": [{"ndcg_at_10": 0.5}]}},
            r"these are means of MTEB, read them with Scores.from_mteb; scores of topics need rankings",
        ),
    ],
)
def test_other_files_of_mteb_are_rejected(content, message, tmp_path):
    file = written(tmp_path, "file.json", content)
    with pytest.raises(FileFormatError, match=message):
        evaluate("RR", QRELS, [file])


def test_predictions_are_not_qrels(tmp_path):
    file = written(tmp_path, "file.json", META | {"default": {"test": RUN}})
    with pytest.raises(InputError):
        evaluate("RR", file, RUN)


def result(folder, task, subsets, split="test"):
    content = {"task_name": task, "mteb_version": "2", "scores": {split: subsets}}
    return written(folder, f"{task}.json", content)


def means_of(ndcg, **others):
    return {
        "hf_subset": "default",
        "languages": ["eng-Latn"],
        "ndcg_at_10": ndcg,
        "main_score": ndcg,
        **others,
    }


@pytest.fixture
def results(tmp_path):
    """Results of two models on three tasks, one of them with two subsets."""
    for model, shift in (("small", 0.0), ("large", 0.1)):
        folder = tmp_path / f"org__{model}" / "abc"
        written(folder, "model_meta.json", {"name": f"org/{model}", "revision": "abc"})
        result(folder, "SciFact", [means_of(0.5 + shift, map_at_10=0.25, nauc_ndcg_at_10_max=float("nan"))])
        result(folder, "NFCorpus", [means_of(0.25 + shift, map_at_10=0.5)])
        languages = [means_of(0.25, map_at_10=0.0), means_of(0.75 + 2 * shift, map_at_10=1.0)]
        result(folder, "XPQA", languages)
    return tmp_path


def test_results_of_mteb_are_scores_of_tasks(results):
    found = Scores.from_mteb(results, ["nDCG@10", "AP@10"])
    assert found.names == ["nDCG@10", "AP@10"]
    assert (found.runs, found.query_ids) == (("org/large", "org/small"), ("NFCorpus", "SciFact", "XPQA"))
    assert found.values[0] == pytest.approx(np.array([[0.35, 0.6, 0.6], [0.25, 0.5, 0.5]]))
    assert found.values[1].tolist() == [[0.5, 0.25, 0.5]] * 2
    one = Scores.from_mteb(results, tasks="SciFact")
    assert one.query_ids == ("SciFact",)
    assert one.values[0].ravel().tolist() == pytest.approx([0.6, 0.5])


def test_measures_have_their_names_in_mteb(tmp_path):
    keys = ("ndcg", "map", "recall", "precision", "mrr", "hit_rate")
    result(tmp_path / "model", "SciFact", [{f"{key}_at_5": at / 8 for at, key in enumerate(keys)}])
    found = Scores.from_mteb(tmp_path, ["nDCG@5", "AP@5", "R@5", "P@5", "RR@5", "Success@5"])
    assert (8 * found.values).ravel().tolist() == [0, 1, 2, 3, 4, 5]


def test_tasks_are_the_topics_of_statistics(results):
    for number in range(10):
        for model, shift in (("small", 0.0), ("large", 0.1)):
            result(results / f"org__{model}" / "abc", f"Task{number}", [means_of(number / 20 + shift)])
    found = meta.differences(Scores.from_mteb(results), "org/small").to_frame()
    assert found["difference"].tolist() == pytest.approx([0.1])
    assert found["topics"].tolist() == [13]
    assert found["verdict"].tolist() == ["better"]


def test_models_without_a_name_are_named_after_their_folder(results):
    (results / "org__small" / "abc" / "model_meta.json").unlink()
    written(results / "org__large" / "xyz", "model_meta.json", {"name": "org/large", "revision": "xyz"})
    result(results / "org__large" / "xyz", "SciFact", [means_of(0.1)])
    assert Scores.from_mteb(results, tasks=["SciFact"]).runs == (
        "org__large/abc", "org__large/xyz", "org__small/abc",
    )  # fmt: skip
    (results / "org__large" / "xyz" / "model_meta.json").unlink()
    assert Scores.from_mteb(results / "org__large" / "xyz").runs == ("xyz",)


def test_wrong_results_of_mteb_are_rejected(results):
    folder = results / "org__large" / "abc"
    with pytest.raises(ParameterError, match=r"^Q@10 is not a mean in results of MTEB, which have nDCG@k"):
        Scores.from_mteb(results, "Q@10")
    with pytest.raises(ParameterError, match=r"^nDCG is not a mean"):
        Scores.from_mteb(results, "nDCG")
    with pytest.raises(FileFormatError, match=r"NFCorpus.json: no recall_at_5 \(for R@5\)"):
        Scores.from_mteb(results, "R@5")
    with pytest.raises(FileFormatError, match=r"NFCorpus.json: no split 'dev', only 'test'$"):
        Scores.from_mteb(results, split="dev")
    for tasks in (["SciFact", "Quora"], "Quora"):
        message = r"for tasks='Quora'; there are results of 'NFCorpus', 'SciFact', 'XPQA'$"
        with pytest.raises(InputError, match=message):
            Scores.from_mteb(results, tasks=tasks)
    with pytest.raises(ParameterError, match=r"^tasks=\[\] names no task; leave it out"):
        Scores.from_mteb(results, tasks=[])
    result(folder, "Extra", [means_of(0.5)])
    with pytest.raises(InputError, match=r"org__small.abc: no result of 'Extra'; give tasks="):
        Scores.from_mteb(results)
    written(folder, "Old.json", {"mteb_dataset_name": "Old", "test": {"ndcg_at_10": 0.5}})
    with pytest.raises(FileFormatError, match=r"Old.json: results of MTEB before 1.11"):
        Scores.from_mteb(results)
    (folder / "Broken.json").write_text("{")
    with pytest.raises(FileFormatError, match=r"Broken.json: looks like JSON but cannot be read"):
        Scores.from_mteb(results)


def test_tasks_without_the_measure_or_the_split_are_left_out_with_a_warning(results):
    for model in ("small", "large"):
        folder = results / f"org__{model}" / "abc"
        result(folder, "Banking77", [{"hf_subset": "default", "accuracy": 0.7, "main_score": 0.7}])
        result(folder, "Rerank", [means_of(0.5), {"hf_subset": "de", "main_score": 0.7}])
        result(folder, "MSMARCO", [means_of(0.5)], split="dev")
    # The subsets of a task that is left out may differ between models.
    result(results / "org__large" / "abc", "Banking77", [{"hf_subset": "en", "accuracy": 0.7}])
    message = (
        "^3 of 6 tasks are left out, because their results lack the split 'test' or ndcg_at_10: 'Banking77', "
        "'MSMARCO', 'Rerank'$"
    )
    with pytest.warns(CoverageWarning, match=message) as warned:
        found = Scores.from_mteb(results)
    assert warned[0].filename == __file__
    assert found.query_ids == ("NFCorpus", "SciFact", "XPQA")
    with pytest.warns(CoverageWarning, match=r"^5 of 6 tasks .* lack the split 'dev'"):
        assert Scores.from_mteb(results, split="dev").query_ids == ("MSMARCO",)
    with pytest.raises(FileFormatError, match=r"large.abc.Banking77.json: no ndcg_at_10 \(for nDCG@10\)"):
        Scores.from_mteb(results, tasks=["SciFact", "Banking77"])


def test_a_task_without_the_measure_for_some_models_is_rejected(results):
    result(results / "new", "Banking77", [{"hf_subset": "default", "main_score": 0.7}])
    with pytest.raises(InputError, match=r"new: no result of 'NFCorpus', 'SciFact', 'XPQA'; give tasks="):
        Scores.from_mteb(results)
    result(results / "org__small" / "abc", "SciFact", [{"hf_subset": "default", "main_score": 0.7}])
    with pytest.raises(FileFormatError, match=r"small.abc.SciFact.json: no ndcg_at_10 \(for nDCG@10\)"):
        Scores.from_mteb(results)


@pytest.mark.parametrize(
    "content", ["{", '{"mteb_dataset_name": "Old"}', '{"task_name": 1, "scores": {}}', "\u00e9"]
)
def test_files_of_other_tasks_need_not_be_readable(results, content):
    (results / "org__large" / "abc" / "Other.json").write_text(content, encoding="latin-1")
    assert Scores.from_mteb(results, tasks=["SciFact"]).query_ids == ("SciFact",)
    for tasks in (None, ["Other"]):
        with pytest.raises(FileFormatError, match=r"Other.json: "):
            Scores.from_mteb(results, tasks=tasks)


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (None, "null"),
        ("0.5", '"0.5"'),
        (True, "true"),
        ([1], r"\[1\]"),
        (float("nan"), "NaN"),
        (55.3, "55.3"),
        (-0.1, "-0.1"),
    ],
)
def test_a_mean_of_mteb_that_is_not_a_share_is_rejected(results, value, printed):
    result(results / "org__large" / "abc", "SciFact", [means_of(value)])
    message = (
        rf"SciFact.json: split 'test', subset 'default': ndcg_at_10 is {printed}; expected a number "
        "from 0 to 1; leave the task out with tasks=, or evaluate it again$"
    )
    with pytest.raises(FileFormatError, match=message):
        Scores.from_mteb(results)
    assert Scores.from_mteb(results, tasks=["NFCorpus"]).runs == ("org/large", "org/small")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"scores": None}, "SciFact.json: scores is null; expected an object with splits"),
        ({"scores": [{"ndcg_at_10": 0.5}]}, r"scores is \[\{.*\}\]; expected an object with splits"),
        ({"scores": {"test": []}}, r"split 'test' is \[\]; expected a list with an object for each subset"),
        ({"scores": {"test": None}}, "split 'test' is null; expected a list"),
        ({"scores": {"test": [None]}}, r"split 'test' is \[null\]; expected a list"),
        ({"scores": {"test": {"default": 0.5}}}, r"split 'test' is \{.*\}; expected a list"),
        ({"task_name": None, "scores": {}}, "SciFact.json: task_name is null; expected a string"),
    ],
)
def test_results_of_mteb_of_another_shape_are_rejected(results, content, message):
    written(results / "org__large" / "abc", "SciFact.json", {"task_name": "SciFact", **content})
    with pytest.raises(FileFormatError, match=message):
        Scores.from_mteb(results)


def test_models_with_other_subsets_of_a_task_are_rejected(results):
    for model, languages in (("large", ["en"]), ("small", ["en", "de"])):
        subsets = [means_of(0.5, hf_subset=one) for one in languages]
        result(results / f"org__{model}" / "abc", "XPQA", subsets)
    message = (
        r"^task 'XPQA': .*org__large.abc.XPQA.json has the subsets 'en', and .*org__small.abc.XPQA.json has "
        "'de', 'en'; evaluate the same subsets"
    )
    with pytest.raises(InputError, match=message):
        Scores.from_mteb(results)
    result(results / "org__large" / "abc", "XPQA", subsets[::-1])
    assert Scores.from_mteb(results, tasks="XPQA").values.tolist() == [[[0.5], [0.5]]]


def test_a_file_of_a_model_of_another_shape_is_rejected(results):
    written(results / "org__small" / "abc", "model_meta.json", None)
    with pytest.raises(FileFormatError, match=r"model_meta.json: the file holds null; expected an object"):
        Scores.from_mteb(results)
    (results / "org__small" / "abc" / "model_meta.json").write_text("{")
    for tasks in (None, ["SciFact"]):
        with pytest.raises(FileFormatError, match=r"model_meta.json: looks like JSON but cannot be read"):
            Scores.from_mteb(results, tasks=tasks)


def test_the_command_line_reads_folders_and_predictions(capsys):
    with pytest.raises(SystemExit) as exited:
        main(["evaluate", str(BEIR / "news"), str(MTEB / "small" / "news_predictions.json"), "-m", "nDCG@10"])
    printed = capsys.readouterr()
    assert exited.value.code == 0, printed.err
    assert f"{NDCG['news', 'small']:.4f}" in printed.out
