"""Clusters of topics: a plain reference, what must not change, and the rate of false differences."""

import numpy as np
import pandas as pd
import pytest
from helpers import quietly, run_command
from reference import differences as plain
from scipy.stats import t as student

import ir_graded
from ir_graded.errors import CoverageWarning, InputError, ParameterError
from ir_graded.meta import (
    across_collections,
    confidence_intervals,
    differences,
    history,
    minimum_detectable_difference,
    power,
    ranks,
    score_variance,
    topic_set_size,
)

RUNS = ["base", "one", "two"]


def scores_of(rng, cluster, effect=0.3):
    """Scores of three runs, whose topics have something in common in a cluster."""
    common = rng.normal(0, effect, (max(cluster) + 1, len(RUNS)))[cluster]
    values = rng.random((len(cluster), len(RUNS))) + common
    return pd.DataFrame(values.round(2), [f"t{at:03}" for at in range(len(cluster))], RUNS)


@pytest.mark.parametrize("seed", range(300))
def test_clusters_agree_with_a_plain_reference(seed):
    rng = np.random.default_rng(seed)
    topics, k = int(rng.integers(6, 15)), int(rng.integers(3, 8))
    cluster = np.concatenate([np.arange(k), rng.integers(0, k, topics)])
    scores = scores_of(rng, cluster)
    weights = rng.integers(0, 4, len(cluster)) if seed % 2 else np.ones(len(cluster), dtype=int)
    weights[:3] = 1  # three clusters have a weight
    slices = np.array(["x", "y"])[rng.integers(0, 2, len(cluster))]
    slices[:2], slices[k : k + 2] = "x", "y"
    slices = slices if seed % 3 == 0 and len({*cluster[(slices == "y") & (weights > 0)]}) > 1 else None
    given = [dict(zip(scores.index, one, strict=True)) for one in (weights, cluster)]
    options = {"slices": None if slices is None else dict(zip(scores.index, slices, strict=True))}
    alternative = ("two-sided", "less", "greater")[seed % 3]
    found = quietly(
        differences,
        {"Q": scores},
        "base",
        weights=given[0],
        clusters=given[1],
        alternative=alternative,
        **options,
    )
    rows = {}
    for name in dict.fromkeys(found.slice):
        kept = (weights > 0) & ((name == "all") | (slices == name))
        for run in RUNS[1:]:
            z = (scores[run] - scores["base"]).round(12).to_numpy()[kept]
            rows[name, run] = plain.of_clusters(z.tolist(), weights[kept].tolist(), cluster[kept].tolist())
    together = sorted({one for sums, _, _ in rows.values() for one in sums})
    terms = [[sums.get(one, 0.0) for one in together] for sums, _, _ in rows.values()]
    ones = [1.0] * len(together)
    expected = {
        "difference": [sum(sums.values()) for sums, _, _ in rows.values()],
        "se": [se for _, se, _ in rows.values()],
        "effective_topics": [n for _, _, n in rows.values()],
        "p": [plain.single_p(one, ones, alternative) for one in terms],
        "p_corrected": plain.max_t(terms, ones, alternative),
        "topics": [int(((weights > 0) & ((name == "all") | (slices == name))).sum()) for name in found.slice],
    }
    for column, values in expected.items():
        np.testing.assert_allclose(getattr(found, column), values, atol=1e-11, err_msg=column)
    tail = 0.025 if alternative == "two-sided" else 0.05
    width = [-student.ppf(tail, n - 1) * se for _, se, n in rows.values()]
    np.testing.assert_allclose(found.high - found.difference, width, atol=1e-9)


@pytest.mark.parametrize("test", ["randomisation", "bootstrap", "t"])
def test_clusters_of_equal_size_are_as_their_means(test):
    cluster = np.repeat(np.arange(25), 4)
    scores = scores_of(np.random.default_rng(1), cluster)
    means = scores.groupby(cluster).mean()
    means.index = [f"c{at:02}" for at in means.index]
    clusters = dict(zip(scores.index, cluster, strict=True))
    options = {"test": test, "tolerance": 0.01, "n_resamples": 999}
    found = differences({"Q": scores}, "base", clusters=clusters, **options).to_frame()
    expected = differences({"Q": means}, "base", **options).to_frame()
    of_topics = ["topics", "wins", "ties", "losses"]
    pd.testing.assert_frame_equal(
        found.drop(columns=of_topics), expected.drop(columns=of_topics), rtol=1e-12, atol=1e-11
    )
    ends = confidence_intervals({"Q": scores}, clusters=clusters)
    np.testing.assert_allclose(ends.low, confidence_intervals({"Q": means}).low, atol=1e-11)
    sets = ranks({"Q": scores}, clusters=clusters, test=test, n_resamples=999)
    pd.testing.assert_frame_equal(sets.to_frame(), ranks({"Q": means}, test=test, n_resamples=999).to_frame())


def of_collections(scores, clusters):
    given = None if clusters is None else {"a": clusters, "b": clusters}
    found = quietly(across_collections, {"a": scores, "b": scores}, "base", clusters=given, n_resamples=999)
    return found.to_frame().select_dtypes("number")


def of_releases(scores, clusters):
    after = {name: (one + 0.1 * one**2).round(9) for name, one in scores.items()}
    found = quietly(history, {"v1": scores, "v2": after}, clusters=clusters)
    return found.to_frame().select_dtypes("number")


STATISTICS = {
    "differences": lambda scores, clusters: differences(scores, "base", clusters=clusters).to_frame(),
    "bootstrap": lambda scores, clusters: differences(
        scores, "base", clusters=clusters, test="bootstrap", n_resamples=500
    ).to_frame(),
    "ranks": lambda scores, clusters: ranks(scores, clusters=clusters, n_resamples=999).to_frame(),
    "intervals": lambda scores, clusters: confidence_intervals(scores, clusters=clusters).to_frame(),
    "percentiles": lambda scores, clusters: confidence_intervals(
        scores, clusters=clusters, method="bootstrap"
    ).to_frame(),
    "collections": of_collections,
    "history": of_releases,
}


@pytest.mark.parametrize("name", STATISTICS)
def test_clusters_of_one_topic_change_nothing(name):
    scores = scores_of(np.random.default_rng(2), np.arange(30))
    alone = {topic: topic for topic in scores.index}
    of = STATISTICS[name]
    pd.testing.assert_frame_equal(of({"Q": scores}, alone), of({"Q": scores}, None))


@pytest.mark.parametrize("name", STATISTICS)
def test_clusters_of_equal_topics_count_once(name):
    scores = scores_of(np.random.default_rng(3), np.arange(24))
    five_times = pd.concat([scores.set_axis([f"{topic}x{at}" for topic in scores.index]) for at in range(5)])
    clusters = {topic: topic.partition("x")[0] for topic in five_times.index}
    of = STATISTICS[name]
    found, once = of({"Q": five_times}, clusters), of({"Q": scores}, None)
    counts = [one for one in ("topics", "wins", "losses", "ties") if one in found]
    pd.testing.assert_frame_equal(found.drop(columns=counts), once.drop(columns=counts), atol=1e-10)


FORMS = {
    "mapping": lambda of_topic, _: of_topic,
    "Series": lambda of_topic, _: pd.Series(of_topic),
    "frame": lambda of_topic, _: pd.DataFrame({"cluster": of_topic}),
    "lines": lambda of_topic, path: path.write_text("".join(f"{t} {c}\n" for t, c in of_topic.items())),
    "CSV": lambda of_topic, path: path.write_text(
        "query_id,user\n" + "".join(f"{t},{c}\n" for t, c in of_topic.items())
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_clusters_have_the_forms_of_slices(tmp_path, form):
    scores = scores_of(np.random.default_rng(4), np.repeat(np.arange(8), 2))
    of_topic = {topic: f"c{at // 2}" for at, topic in enumerate(scores.index)}
    given = FORMS[form](of_topic, path := tmp_path / "clusters")
    found = differences({"Q": scores}, "base", clusters=path if isinstance(given, int) else given)
    assert found.notes == ("Tests and intervals take the 16 topics as 8 independent clusters.",)
    assert found.effective_topics.tolist() == [8, 8]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda c: {**c, "t001": None, "t002": float("nan")},
            r"clusters: 't001', 't002' \(2 of the 12 scored",
        ),
        (lambda c: dict([*c.items()][5:]), r"clusters: 't000', 't001', 't002'.* \(5 of the 12 scored"),
        (lambda c: dict.fromkeys(c, "one"), "clusters: all topics are in one cluster; a test needs 2"),
        (lambda c: pd.DataFrame({"a": c, "b": c}), "in a column cluster; found the columns 'a', 'b'"),
        (lambda _: 3, "clusters: expected a mapping"),
    ],
)
def test_wrong_clusters_are_named(change, words):
    scores = scores_of(np.random.default_rng(5), np.repeat(np.arange(6), 2))
    clusters = change({topic: at // 2 for at, topic in enumerate(scores.index)})
    for function in (differences, ranks, confidence_intervals):
        with pytest.raises(InputError, match=words):
            function({"Q": scores}, clusters=clusters)


def test_a_slice_within_one_cluster_is_named():
    scores = scores_of(np.random.default_rng(6), np.repeat(np.arange(6), 2))
    clusters = {topic: at // 2 for at, topic in enumerate(scores.index)}
    slices = {topic: "first" if at < 2 else "rest" for at, topic in enumerate(scores.index)}
    with pytest.raises(InputError, match="the topics of slice 'first' are in one cluster"):
        differences({"Q": scores}, "base", clusters=clusters, slices=slices)


def test_clusters_cannot_be_ranked():
    scores = scores_of(np.random.default_rng(7), np.repeat(np.arange(6), 2))
    clusters = {topic: at // 2 for at, topic in enumerate(scores.index)}
    with pytest.raises(ParameterError, match="test='wilcoxon' has no clusters"):
        differences({"Q": scores}, "base", clusters=clusters, test="wilcoxon")


def test_few_clusters_are_warned_of_as_few_topics():
    scores = scores_of(np.random.default_rng(8), np.repeat(np.arange(4), 5))
    clusters = {topic: at // 5 for at, topic in enumerate(scores.index)}
    with pytest.warns(CoverageWarning, match=r"4 clusters \(p >= 0.125\).*use more clusters or test='t'"):
        found = differences({"Q": scores}, "base", clusters=clusters)
    assert found.untestable == ("all",)


@pytest.mark.parametrize(
    ("ids", "noted"),
    [
        ([f"{at // 2}_{at % 2}" for at in range(20)], True),
        ([f"user7{at // 3}.{at % 3}" for at in range(30)], True),
        ([f"{at // 2}_{at % 2}" for at in range(14)], False),  # seven prefixes
        ([f"PLAIN-{at}" for at in range(30)], False),
        ([f"DL-2019-{at}" for at in range(30)], False),
        ([f"2024-{at}" for at in range(30)], False),
        ([f"{at}_1" for at in range(30)], False),
        ([str(at) for at in range(30)], False),
    ],
)
def test_ids_that_look_clustered_are_noted(ids, noted):
    scores = scores_of(np.random.default_rng(9), np.arange(len(ids))).set_axis(ids)
    for found in (differences({"Q": scores}), ranks({"Q": scores}), confidence_intervals({"Q": scores})):
        assert any("give their clusters" in note for note in found.notes) == noted
    clusters = {one: one.rpartition("_")[0] or one for one in ids}
    assert not any(
        "give their clusters" in note for note in differences({"Q": scores}, clusters=clusters).notes
    )


def test_collections_take_clusters_by_name():
    scores = {"Q": scores_of(np.random.default_rng(10), np.repeat(np.arange(12), 2))}
    clusters = {topic: at // 2 for at, topic in enumerate(scores["Q"].index)}
    given = {"a": scores, "b": scores}
    found = quietly(across_collections, given, "base", clusters={"a": clusters}, n_resamples=999).to_frame()
    alone = differences(scores, "base", clusters=clusters)
    np.testing.assert_allclose(found[found["collection"] == "a"]["se"], alone.se, rtol=1e-9)
    with pytest.raises(InputError, match="the collections are 'a', 'b'"):
        across_collections(given, "base", clusters=clusters)
    with pytest.raises(InputError, match="collection 'b': clusters: 't000'"):
        quietly(across_collections, given, "base", clusters={"b": {"t1": 1}})


def test_sample_sizes_take_the_design_effect_of_pilot_scores():
    scores = scores_of(np.random.default_rng(12), np.arange(20))
    twice = pd.concat([scores, scores.set_axis([f"{topic}x" for topic in scores.index])])
    clusters = {topic: topic.rstrip("x") for topic in twice.index}
    alone = topic_set_size(scores, 0.2)
    found = topic_set_size(twice, 0.2, clusters=clusters)
    assert found.n_topics in {2 * alone.n_topics - 1, 2 * alone.n_topics}
    assert found.design_effect == pytest.approx(39 / 19)
    assert score_variance(twice, clusters=clusters).variance == pytest.approx(score_variance(scores).variance)
    assert power(twice, 0.2, clusters=clusters) == pytest.approx(power(scores, 0.2))
    detectable = minimum_detectable_difference(twice, clusters=clusters)
    assert detectable == pytest.approx(minimum_detectable_difference(scores))
    own = {topic: topic for topic in scores.index}
    pd.testing.assert_frame_equal(topic_set_size(scores, 0.2, clusters=own).to_frame(), alone.to_frame())


@pytest.mark.parametrize("model", ["two-way", "one-way"])
def test_the_variance_of_cluster_means_is_that_of_their_differences(model):
    cluster = np.random.default_rng(13).integers(0, 6, 30)
    scores = scores_of(np.random.default_rng(14), cluster)
    found = score_variance(scores, model=model, clusters=dict(zip(scores.index, cluster, strict=True)))
    share = np.bincount(cluster) / 30
    pairs = [scores[a] - scores[b] for a, b in (("base", "one"), ("base", "two"), ("one", "two"))]
    rows = pairs if model == "two-way" else [scores[run] for run in RUNS]
    errors = [plain.of_clusters(row.tolist(), [1.0] * 30, cluster.tolist())[1] ** 2 for row in rows]
    factor = 0.5 if model == "two-way" else 1
    assert found.variance == pytest.approx(factor * np.mean(errors) / (share**2).sum())


def test_designs_without_pilot_scores_have_no_clusters():
    with pytest.raises(ParameterError, match="clusters need scores"):
        topic_set_size(None, 0.1, variance=0.02, clusters={"1": 1})
    scores = scores_of(np.random.default_rng(15), np.arange(20))
    with pytest.raises(ParameterError, match="clusters are of the topics of one matrix"):
        topic_set_size([scores, scores], 0.1, clusters=dict.fromkeys(scores.index, "x"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of the bundled sample, whose topics are taken as three of a cluster."""
    place = tmp_path_factory.mktemp("clusters")
    covid = ir_graded.sample()
    covid.qrels.assign(zero=0)[["query_id", "zero", "doc_id", "relevance"]].to_csv(
        place / "qrels.txt", sep=" ", header=False, index=False
    )
    runs = {name: covid.runs[name] for name in ("bm25_baseline", "BBGhelani1", "sab20.1.meta.docs")}
    topics = sorted({*covid.qrels["query_id"]})
    (place / "clusters").write_text("".join(f"{topic} c{at // 3}\n" for at, topic in enumerate(topics)))
    scores = ir_graded.evaluate(["nDCG@10", "AP"], covid.qrels, runs)
    (place / "scores").mkdir()
    for name in ("v1", "v2"):
        (place / "scores" / f"{name}.json").write_text(scores.to_json())
    for name, run in runs.items():
        lines = (f"{row.query_id} Q0 {row.doc_id} 1 {row.score} t\n" for row in run.itertuples())
        (place / f"{name}.run").write_text("".join(lines))
    return place


RUN_FILES = ("bm25_baseline.run", "BBGhelani1.run", "sab20.1.meta.docs.run")
MEASURED = ("qrels.txt", *RUN_FILES, "-m", "nDCG@10")
SAID = "Tests and intervals take the 30 topics as 10 independent clusters."
COMMANDS = {
    "compare": ("compare", *MEASURED, "--clusters", "clusters"),
    "compare as JSON": ("compare", *MEASURED, "--clusters", "clusters", "-o", "json"),
    "ranks": ("ranks", *MEASURED, "--clusters", "clusters"),
    "letters": ("evaluate", *MEASURED, "--letters", "-o", "markdown", "--clusters", "clusters"),
    "baseline": (
        *("evaluate", *MEASURED, "--baseline", "BBGhelani1.run"),
        "-o",
        "html",
        "--clusters",
        "clusters",
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_say_that_topics_are_clustered(capsys, monkeypatch, folder, name):
    monkeypatch.chdir(folder)
    status, out, _ = run_command(capsys, *COMMANDS[name])
    assert status == 0
    assert SAID in out


def test_further_commands_take_clusters(capsys, monkeypatch, folder):
    monkeypatch.chdir(folder)
    given = ("plan", *MEASURED, "--difference", ".1", "-o", "csv")
    assert "design_effect" in run_command(capsys, *given, "--clusters", "clusters")[1]
    assert "design_effect" not in run_command(capsys, *given)[1]
    given = ("history", "scores", "-m", "AP", "-o", "csv")
    assert run_command(capsys, *given, "--clusters", "clusters")[0] == 0
    files = ("a=scores/v1.json", "b=scores/v2.json", "--baseline", "bm25_baseline", "-o", "csv")
    alone = run_command(capsys, "across", *files)[1]
    assert run_command(capsys, "across", *files, "--clusters", "a=clusters")[1] != alone
    assert run_command(capsys, "across", *files, "--clusters", "c=clusters")[0] == 2
    said = run_command(capsys, "evaluate", *MEASURED, "--clusters", "clusters")[2]
    assert "--clusters are of tests" in said
    run_command(capsys, "report", *MEASURED, "--clusters", "clusters", "--html", "page.html")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert page.count(SAID) == 2  # of the ranks, and in the description of the method


def test_tables_and_the_gate_take_clusters(folder):
    covid = ir_graded.sample()
    runs = [covid.runs[name] for name in ("BBGhelani1", "sab20.1.meta.docs")]
    path = folder / "clusters"
    found = ir_graded.compare_runs("AP", covid.qrels, runs[0], runs[1], clusters=path)
    scores = ir_graded.evaluate("AP", covid.qrels, dict(zip("ab", runs, strict=True)))
    expected = differences(scores, "a", clusters=path, alternative="less", family="all")
    assert found.p.tolist() == expected.p.tolist() != differences(scores, "a", alternative="less").p.tolist()
    for options in ({"intervals": True}, {"letters": True}, {"baseline": "a"}):
        assert SAID in scores.to_markdown(clusters=path, **options)
        assert SAID not in scores.to_markdown(**options)


@pytest.mark.slow
def test_clusters_keep_the_rate_of_false_differences():
    rng = np.random.default_rng(11)
    sizes = np.minimum(rng.pareto(1.5, 25).astype(int) + 1, 40)
    cluster = np.repeat(np.arange(25), sizes)
    clusters = {str(at): int(one) for at, one in enumerate(cluster)}
    index, false = [*clusters], np.zeros(2)
    for _ in range(400):
        z = rng.normal(0, 0.55, 25)[cluster] + rng.normal(0, 0.84, len(cluster))
        scores = {"Q": pd.DataFrame({"a": 0.0 * z, "b": z}, index)}
        for at, given in enumerate((None, clusters)):
            found = differences(scores, "a", clusters=given, n_resamples=999)
            false[at] += found.significant[0]
    assert false[0] > 60  # 15%: the topics are not independent
    assert false[1] <= 32  # 5%, and three standard errors
