"""``pool``: beside plain sets on random runs, seeds, errors, and the command."""

import csv
import io
import json
import random
from collections import Counter

import pandas as pd
import pytest
from helpers import assert_command_fails, covid_sample, run_command, trec_lines
from measures import measure_cases as cases
from reference import pools, ranked
from reference.tie_cases import IDS

import ir_graded

STRATA = {2: 1, 5: 0.4, 9: 0.15}


def random_runs(seed, topics=4):
    rng = random.Random(seed)  # noqa: S311
    names = [str(topic) for topic in range(7, 7 + topics)]
    return {
        f"r{number}": {
            t: {d: rng.choice((1.0, 2.0, 3.0, 4.0)) for d in rng.sample(IDS, rng.randint(1, len(IDS)))}
            for t in rng.sample(names, rng.randint(1, topics))
        }
        for number in range(rng.randint(1, 5))
    }


def rankings(runs):
    return [{topic: ranked.ranking(scores) for topic, scores in run.items()} for run in runs.values()]


def documents(table):
    return list(zip(table["query_id"], table["doc_id"], strict=True))


SEEDS = [pytest.param(seed, marks=[pytest.mark.release] if seed >= 60 else []) for seed in range(250)]


@pytest.mark.parametrize("seed", SEEDS)
def test_pools_equal_the_reference(seed):
    rng, runs = random.Random(seed), random_runs(seed)  # noqa: S311
    some = next(iter(runs.values()))
    judged = {t: {d: rng.choice((-1, 0, 2)) for d in rng.sample(IDS, 40)} for t in some}
    depth = rng.randint(1, 12)
    given = {name: cases.run_frame(cases.run_rows(run)) if seed % 2 else run for name, run in runs.items()}
    for known in ({}, judged):
        found = ir_graded.pool(given, depth, judged=known or None, rng=seed)
        assert sorted(documents(found)) == sorted(pools.pool(rankings(runs), depth, known))
        assert (found["iprob"] == 1).all()
        assert (found["stratum"] == 1).all()
    sampled = ir_graded.pool(given, strata=STRATA, rng=seed)
    got = {
        key: (set(of["doc_id"]), int(of["relevance"].isna().sum()))
        for key, of in sampled.groupby(["query_id", "stratum"])
    }
    expected = pools.strata(rankings(runs), STRATA)
    assert got == expected
    for (topic, stratum), of in sampled.groupby(["query_id", "stratum"]):
        docs, number = expected[topic, stratum]
        assert (of["iprob"] == number / len(docs)).all()
    assert set(sampled["relevance"].dropna()) <= {-1}


def test_given_positions_rank_equal_scores():
    hits = [{"_id": doc_id, "_score": 1.5} for doc_id in ("b", "c", "a")]
    run = ir_graded.read_run([{"took": 3, "hits": {"hits": hits}}], query_ids=["1"])
    assert ir_graded.pool(run, 1)["doc_id"].tolist() == ["b"]
    assert ir_graded.pool(run.drop(columns="position"), 1)["doc_id"].tolist() == ["c"]


@pytest.mark.slow
def test_topics_are_together_and_their_order_does_not_show_ranks():
    covid = covid_sample()
    found = ir_graded.pool(covid.runs, 20)
    assert found["query_id"].drop_duplicates().tolist() == [str(topic) for topic in range(1, 31)]
    assert found["query_id"].ne(found["query_id"].shift()).sum() == 30
    top = set(documents(ir_graded.pool(covid.runs, 1)))
    of_topics = [of["doc_id"].tolist() for _, of in found.groupby("query_id")]
    assert all(of != sorted(of) for of in of_topics)
    places = [
        place / len(of) for of, (topic, _) in zip(of_topics, found.groupby("query_id"), strict=True)
        for place, doc_id in enumerate(of) if (topic, doc_id) in top
    ]  # fmt: skip
    assert sum(places) / len(places) == pytest.approx(0.5, abs=0.06)


def test_order_does_not_show_which_documents_are_drawn():
    run = {"1": {f"d{number}": -float(number) for number in range(200)}}
    drawn = ir_graded.pool(run, strata={200: 0.5})["relevance"].isna()
    assert 35 < drawn[:100].sum() < 65


@pytest.mark.slow
def test_each_document_of_a_stratum_is_drawn_as_often_as_its_probability():
    docs = {f"d{number}": -float(number) for number in range(20)}
    # Each topic draws separately, and so does each seed.
    found = ir_graded.pool({str(topic): docs for topic in range(980)}, strata={20: 0.25}, rng=1)
    found = [found] + [ir_graded.pool({"1": docs}, strata={20: 0.25}, rng=seed) for seed in range(20)]
    drawn = Counter(doc_id for one in found for doc_id in one["doc_id"][one["relevance"].isna()])
    assert sum(drawn.values()) == 5000
    assert drawn.keys() == docs.keys()
    assert all(number == pytest.approx(250, abs=60) for number in drawn.values())


def copies(number):
    """Return two runs on equal topics, of which each draws separately, and the level of each document."""
    rng = random.Random(5)  # noqa: S311
    docs = [f"d{place}" for place in range(40)]
    lists = {
        name: {d: rng.random() + lean * at for at, d in enumerate(docs)}
        for name, lean in (("a", -0.02), ("b", 0))
    }
    runs = {name: {str(topic): scores for topic in range(number)} for name, scores in lists.items()}
    return runs, {d: int(at < 5 or at % 3 == 0) for at, d in enumerate(docs)}


def judged_draws(runs, levels, *limits, judged=None):
    """Return the qrels of draws after each other, with their levels filled in."""
    for limit in limits:
        found = ir_graded.pool(runs, limit=limit, judged=judged)
        assert found["relevance"].isna().sum() == limit
        assert found["iprob"].between(0, 1, inclusive="right").all()
        judged = found.assign(relevance=found["doc_id"].map(levels))
    return judged


@pytest.mark.slow
@pytest.mark.parametrize(
    ("depth", "numbers"), [(0, (8,)), (0, (4, 9)), (0, (3, 6, 12)), (3, (8,)), (2, (4, 4))]
)
def test_estimates_from_draws_are_unbiased_and_their_intervals_cover(depth, numbers):
    topics, group = 900, 30
    runs, levels = copies(topics)
    first = ir_graded.pool(runs, depth).assign(relevance=1) if depth else None
    first = None if first is None else first.assign(relevance=first["doc_id"].map(levels))
    judged = judged_draws(runs, levels, *(number * topics for number in numbers), judged=first)
    assert judged["query_id"].value_counts().nunique() == 1
    # Each document counts once on average, with an error of its weights.
    weights, docs = 1 / judged["iprob"], judged["doc_id"]
    sums = weights.groupby(docs).sum() / topics
    errors = (weights * (weights - 1)).groupby(docs).sum() ** 0.5 / topics
    assert sums.index.sort_values().equals(pd.Index(levels).sort_values())
    assert ((sums - 1).abs() <= 4 * errors + 1e-9).all()
    one = {name: {"1": run["1"]} for name, run in runs.items()}
    truth = ir_graded.evaluate("P@10", {"1": levels}, one).aggregates
    found = ir_graded.score_estimates("P@10", judged, runs)
    off, se = (values[0].reshape(2, -1, group) for values in (found.estimate - truth, found.se))
    means, errors = off.mean(axis=2), (se**2).sum(axis=2) ** 0.5 / group
    assert abs(means.mean(axis=1)).max() <= 4 * errors.mean() / means.shape[1] ** 0.5
    assert (abs(means) <= 1.96 * errors).mean() >= 0.88
    assert 0.7 <= means.std() / errors.mean() <= 1.15


def test_two_uniform_draws_are_one_of_both_sizes():
    docs = [f"d{at}" for at in range(6)]
    runs = {f"r{k}": {"1": {d: -float((at + k) % 6) for at, d in enumerate(docs)}} for k in range(6)}
    judged = judged_draws(runs, dict.fromkeys(docs, 1), 2)
    assert judged["iprob"].tolist() == pytest.approx([2 / 6] * 2)
    both = judged_draws(runs, dict.fromkeys(docs, 1), 3, judged=judged)
    assert both["iprob"].tolist() == pytest.approx([5 / 6] * 5)
    assert judged_draws(runs, dict.fromkeys(docs, 1), 1, judged=both)["iprob"].tolist() == [1] * 6


def test_the_same_seed_draws_other_numbers_once_documents_are_judged():
    runs, levels = copies(300)
    first = judged_draws(runs, levels, 900)
    certain = pd.DataFrame({"query_id": ["0"], "doc_id": ["d39"], "relevance": [0], "iprob": [1.0]})
    again = ir_graded.pool(runs, limit=900, judged=certain)
    assert len({*documents(first)} & {*documents(again)}) < 450


def test_topics_get_documents_in_proportion_to_their_weights():
    runs = {str(topic): {f"d{at}": -float(at) for at in range(30)} for topic in range(4)}
    weights = {"0": 6, "1": 2, "2": 0.01, "3": 0}
    found = ir_graded.pool(runs, limit=18, weights=weights)
    assert found["query_id"].value_counts(sort=False).to_dict() == {"0": 12, "1": 4, "2": 2}
    assert ir_graded.pool(runs, limit=10)["query_id"].value_counts().isin([2, 3]).all()
    assert len(ir_graded.pool(runs, limit=1000)) == 120


@pytest.mark.parametrize(("name", "value", "words"), [
    ("iprob", None, "judged with limit needs inclusion probabilities"),
    ("doc_id", "other", "'other' of topic '1' has iprob 0.[0-9]*, but no run retrieved it"),
])  # fmt: skip
def test_judgments_of_another_draw_are_rejected(name, value, words):
    run = {"1": {f"d{at}": -float(at) for at in range(9)}}
    judged = ir_graded.pool(run, limit=4).assign(relevance=0)
    judged = judged[judged["iprob"] < 1].head(1).assign(**{name: value})
    with pytest.raises(ir_graded.InputError, match=words):
        ir_graded.pool(run, limit=2, judged=judged.dropna(axis="columns"))
    strata = ir_graded.pool(run, strata={9: 0.4}).fillna({"relevance": 1})
    with pytest.raises(ir_graded.InputError, match="a sample of strata ends at the last rank"):
        ir_graded.pool(run, limit=2, judged=strata)


@pytest.mark.parametrize("options", [{"depth": 5}, {"strata": STRATA}, {"limit": 60}])
def test_result_depends_only_on_the_seed(options):
    runs = random_runs(12)
    expected = ir_graded.pool(runs, rng=3, **options)
    backwards = {
        name: {t: dict(reversed(docs.items())) for t, docs in reversed(run.items())}
        for name, run in reversed(runs.items())
    }
    assert ir_graded.pool(backwards, rng=3, **options).equals(expected)
    assert not ir_graded.pool(runs, rng=4, **options).equals(expected)


@pytest.mark.slow
def test_the_pool_is_qrels_once_levels_are_filled_in():
    covid = covid_sample()
    found = ir_graded.pool(covid.runs, strata={5: 1, 20: 0.4})
    levels = covid.qrels.set_index(["query_id", "doc_id"])["relevance"]
    wanted = pd.Series(levels.reindex(documents(found)).fillna(0).to_numpy(), found.index).astype("Int64")
    qrels = found.assign(relevance=found["relevance"].fillna(wanted))[["query_id", "doc_id", "relevance"]]
    assert (ir_graded.evaluate("P@5", qrels, covid.runs).values > 0).any()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "give one of depth, for example depth=100, strata and limit, and no other"),
        ({"depth": 5, "strata": {5: 1}}, "no other"),
        ({"depth": 5, "limit": 5}, "no other"),
        ({"depth": 5, "weights": {"1": 1}}, "weights are shares of a limit"),
        ({"limit": 0}, "limit=0 must be None or a whole number >= 1"),
        ({"strata": {5: 1}, "judged": {}}, "judged and strata exclude each other"),
        *(({"strata": one}, "must map the last rank of each stratum") for one in (
            {}, 5, {0: 1}, {2.5: 1}, {"5": 1}, {5: 0}, {5: 1.5}, {5: float("nan")}, {5: True}, {True: 0.5},
        )),
    ],
)  # fmt: skip
def test_wrong_options_are_rejected(options, words):
    with pytest.raises(ir_graded.ParameterError, match=words):
        ir_graded.pool({"1": {"a": 1.0}}, **options)


def test_runs_and_judgments_that_cannot_be_used_are_rejected():
    run = {"1": {"a": 1.0}}
    with pytest.raises(ir_graded.NoSharedTopicsError, match="judged has '9', the runs have '1'"):
        ir_graded.pool(run, 5, judged={"9": {"a": 1}})
    with pytest.raises(ir_graded.InputError, match="run 'bad'"):
        ir_graded.pool({"good": run, "bad": {"1": {"a": float("nan")}}}, 5)
    assert ir_graded.pool(run, 5, judged={"1": {"a": 0}}).empty
    assert len(ir_graded.pool(run, 5, judged={})) == 1


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, run in random_runs(12).items():
        (tmp_path / f"{name}.run").write_text(trec_lines("run", cases.run_rows(run)))
    (tmp_path / "qrels.txt").write_text("".join(f"{t} 0 {d} 0\n" for t in (7, 8, 9, 10) for d in IDS[:50]))
    names = sorted(path.name for path in tmp_path.glob("*.run"))

    def printed(*options):
        return run_command(capsys, "pool", *names, *options)

    return printed


@pytest.mark.slow
def test_formats_hold_the_pool(call):
    runs = random_runs(12)
    expected = ir_graded.pool(runs, 4, rng=2)
    for options in ((), ("--csv",), ("--jsonl",)):
        code, out, err = call("--depth", "4", "--seed", "2", *options)
        assert (code, err) == (0, "")
        if options == ("--csv",):
            got = pd.read_csv(io.StringIO(out), dtype={"query_id": str})
        elif options == ("--jsonl",):
            got = pd.DataFrame(map(json.loads, out.splitlines()))
        else:
            assert [tuple(line.split()) for line in out.splitlines()] == [
                (t, "0", d, "?") for t, d in documents(expected)
            ]
            continue
        pd.testing.assert_frame_equal(got, expected, check_dtype=False)


def test_sample_is_written_as_lines_with_strata(call):
    expected = ir_graded.pool(random_runs(12), strata=STRATA)
    code, out, err = call("--strata", "2:1,5:.4,9:.15")
    assert (code, err) == (0, "")
    assert "?" in expected["relevance"].astype(object).where(expected["relevance"].notna(), "?").tolist()
    assert out.splitlines() == [
        f"{row.query_id} 0 {row.doc_id} {row.stratum} {'?' if pd.isna(row.relevance) else -1}"
        for row in expected.itertuples()
    ]


def test_draws_are_written_as_lines_with_probabilities(call, tmp_path):
    def filled(*options):
        code, out, err = call("--limit", "20", *options)
        assert (code, err) == (0, "")
        assert out.count(" ? ") == 20
        (tmp_path / "prel.txt").write_text(out.replace(" ? ", " 1 "))
        with pytest.warns(ir_graded.SampledJudgmentsWarning):
            return ir_graded.read_qrels("prel.txt")

    found, runs = filled(), random_runs(12)
    assert documents(found) == documents(expected := ir_graded.pool(runs, limit=20))
    assert found["iprob"].tolist() == expected["iprob"].tolist()
    both = filled("--judged", "prel.txt")
    expected = ir_graded.pool(runs, limit=20, judged=found)
    assert both["iprob"].tolist() == expected["iprob"].tolist()
    assert set(documents(found)) < set(documents(both))


def test_levels_between_whole_numbers_need_another_format(call):
    qrels = pd.DataFrame({"query_id": "7", "doc_id": IDS[:2], "relevance": [0.5, 1], "iprob": 1})
    qrels.to_csv("soft.csv", index=False)
    assert_command_fails(
        call("--limit", "20", "--judged", "soft.csv"), "0.5 is not a whole number: use --csv"
    )


def test_ids_with_blanks_need_another_format(tmp_path, capsys):
    path = tmp_path / "run.csv"
    path.write_text("query_id,doc_id,score\n1,my doc,2\n")
    found = run_command(capsys, "pool", path, "--depth", "1")
    assert_command_fails(found, "'my doc' has blanks: use --csv or --jsonl")
    assert run_command(capsys, "pool", path, "--depth", "1", "--csv")[1].splitlines()[1] == "1,my doc,1,1.0"


def test_csv_keeps_ids_with_line_breaks(tmp_path, capsys):
    documents = ["a\u2028b", "c\rd", "e\x0cf", "g\nh"]
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"1": dict.fromkeys(documents, 1.0)}))
    _, out, _ = run_command(capsys, "pool", path, "--depth", "9", "--csv")
    assert sorted(row["doc_id"] for row in csv.DictReader(io.StringIO(out, newline=""))) == documents


def test_shares_are_rounded_as_decimal_numbers():
    run = {"1": {f"d{number}": float(number) for number in range(50)}}
    assert ir_graded.pool(run, strata={50: 0.29})["relevance"].isna().sum() == 15


def test_judged_documents_are_left_out(call):
    _, every, _ = call("--depth", "30")
    _, rest, _ = call("--depth", "30", "--judged", "qrels.txt")
    judged = {f"{topic} 0 {doc_id} ?" for topic in (7, 8, 9, 10) for doc_id in IDS[:50]}
    assert judged & set(every.splitlines())
    assert set(rest.splitlines()) == set(every.splitlines()) - judged


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "give one of depth, for example --depth 100, strata and limit"),
        (("--limit", "7"), "--limit 7 must be at least 8: 2 documents of each topic"),
        (("--strata", "5:1", "--judged", "qrels.txt"), "exclude each other"),
        (("--strata", "5:1,5:.5"), "must be ranks, each once, with shares"),
        (("--strata", "5"), "must be ranks, each once, with shares"),
        (("--strata", "5:2"), "must map the last rank"),
        (("--depth", "5", "--csv", "--jsonl"), "--csv and --jsonl exclude each other"),
    ],
)
def test_wrong_calls_are_errors_of_one_line(call, options, words):
    assert_command_fails(call(*options), words)
