"""Responses of search engines, lists of ids and ranks as runs, whose positions rank equal scores."""

import json
import pickle
import warnings
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import assert_command_fails, run_command

import ir_graded
from ir_graded import FileFormatError, InputError, ParameterError

FILES = Path(__file__).parents[2] / "docs" / "files"
IDS = ["red shoes", "oak table"]
QRELS = FILES / "shop-qrels.csv"
#: Documents by position.
RANKED = {"red shoes": ["p7", "p1", "p9", "p3"], "oak table": ["p5", "p2"]}
#: The same ranking by scores.
PLAIN = {topic: {doc: -float(at) for at, doc in enumerate(docs)} for topic, docs in RANKED.items()}
FORMS = ["responses.json", "rank-eval.json", "ranked-lists.json", "ranks.csv"]
FORMS += ["quepid-snapshot.csv", "quepid-detailed.csv"]
MEASURES = ["Q", "nDCG@2", "RR", "P-measure"]
RULE = "are ranked by their given positions, not by id"

pytestmark = pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")


def search(*hits, **further):
    """Return the response to a query with hits (id, score)."""
    listed = [{"_index": "shop", "_id": doc, "_score": score} for doc, score in hits]
    shards = {"total": 2, "successful": 2, "skipped": 0, "failed": 0}
    return {"took": 3, "timed_out": False, "_shards": shards, "hits": {"hits": listed}, **further}


def content(name):
    return json.loads((FILES / name).read_text())


def values(run, **options):
    return ir_graded.evaluate(MEASURES, QRELS, run, **options).values


def warned(call):
    """Return the text of all warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return " ".join(str(one.message) for one in caught)


class Body:
    """Response as an object of a client, which has a dict as its body."""

    def __init__(self, body):
        self.body = body

    def __iter__(self):
        return iter(self.body)


@pytest.mark.parametrize("name", FORMS)
def test_documented_files_are_ranked_by_position(name, capsys):
    assert np.array_equal(values(FILES / name), values(PLAIN))
    frame = ir_graded.read_run(FILES / name)
    assert frame.groupby("query_id", sort=False)["doc_id"].agg(list).to_dict() == RANKED
    assert frame["position"].tolist() == [1, 2, 3, 4, 1, 2]
    assert np.array_equal(values(frame), values(PLAIN))
    code, out, _ = run_command(capsys, "evaluate", QRELS, FILES / name, "-m", "Q nDCG@10", "-o", "csv")
    assert (code, out.splitlines()[1]) == (0, f"{name},0.5778,0.6978")


@pytest.mark.parametrize("name", [one for one in FORMS if one.endswith("json")])
def test_documented_objects_are_runs_alone_and_by_name(name):
    given = content(name)
    kept = json.dumps(given)
    assert np.array_equal(values(given), values(PLAIN))
    named = ir_graded.evaluate(MEASURES, QRELS, {"a": given, "b": PLAIN})
    assert named.runs == ("a", "b")
    assert np.array_equal(named.values[:, :1], named.values[:, 1:])
    assert json.dumps(given) == kept


def test_lists_of_responses_get_their_topics(capsys, tmp_path):
    expected = ir_graded.read_run(FILES / "responses.json")
    whole = content("msearch.json")
    lines = tmp_path / "lines.jsonl"
    lines.write_text("".join(json.dumps(one) + "\n" for one in whole["responses"]))
    wrapped = [Body(one) for one in whole["responses"]]
    for given in (FILES / "msearch.json", whole, Body(whole), whole["responses"], wrapped, lines):
        assert ir_graded.read_run(given, query_ids=IDS).equals(expected)
    first = ir_graded.read_run(whole["responses"][0], query_ids=IDS[:1])
    assert first.equals(expected.iloc[:4])
    lists = ir_graded.read_run([*RANKED.values()], query_ids=IDS)
    assert lists.equals(ir_graded.read_run(RANKED))
    ids = FILES / "msearch-ids.txt"
    run = (QRELS, FILES / "msearch.json")
    code, out, _ = run_command(capsys, "evaluate", *run, "--query-ids", ids, "-m", "Q", "-o", "csv")
    assert (code, out) == (0, "run,Q\nmsearch.json,0.5778\n")
    one = run_command(capsys, "explain", "Q", *run, "red shoes", "--query-ids", ids)[1]
    other = ir_graded.explain("Q", QRELS, {"msearch.json": content("responses.json")}, "red shoes")
    assert one.rstrip() == str(other)


def test_ratings_of_rank_eval_and_of_quepid_are_qrels():
    expected = [
        ("red shoes", "p7", 3),
        ("red shoes", "p9", 1),
        ("red shoes", "p3", 2),
        ("oak table", "p2", 2),
    ]
    for name in ("rank-eval.json", "quepid-detailed.csv"):
        assert [*ir_graded.read_qrels(FILES / name).itertuples(index=False, name=None)] == expected
    given = content("rank-eval.json")
    assert [*ir_graded.read_qrels(given).itertuples(index=False, name=None)] == expected
    assert ir_graded.evaluate("Q", given, PLAIN).values.tolist() == [
        ir_graded.evaluate("Q", FILES / "quepid-detailed.csv", PLAIN).values[0].tolist()
    ]
    given["details"]["oak table"]["hits"][1]["rating"] = None
    text = warned(lambda: ir_graded.read_qrels(given))
    assert "lack the rated documents that were not retrieved" in text
    assert "Left out, since no hit has a rating: 'oak table'." in text


def test_unrated_documents_of_a_quepid_export_are_not_judged(write):
    path = write("query,docid,rating\r\nshoes,a,2\r\nshoes,b,\r\nlamp\r\n", "basic.csv")
    assert ir_graded.read_qrels(path)["doc_id"].tolist() == ["a"]


@pytest.mark.slow
def test_positions_rank_equal_scores_everywhere():
    tied = {"1": search(("b", 2.0), ("a", 2.0), ("c", 2.0), ("d", 1.0))}
    qrels = {"1": {"a": 2, "c": 1, "x": 1}}
    by_id = {"1": {"b": 2.0, "a": 2.0, "c": 2.0, "d": 1.0}}
    plain = {"1": {"b": 4.0, "a": 3.0, "c": 2.0, "d": 1.0}}
    frame = ir_graded.read_run(tied)
    for run in (tied, frame, frame.iloc[::-1], pl.from_pandas(frame), frame.to_dict("records")):
        found = ir_graded.evaluate(MEASURES, qrels, run)
        assert np.array_equal(found.values, ir_graded.evaluate(MEASURES, qrels, plain).values)
        assert not np.array_equal(found.values, ir_graded.evaluate(MEASURES, qrels, by_id).values)
        explained = pd.DataFrame(ir_graded.explain("Q", qrels, run, "1").columns)
        assert explained[["rank", "doc_id"]].to_numpy().tolist() == [[2, "a"], [3, "c"]]
        compared = ir_graded.compare_rankings("Q", qrels, run, plain, "1")
        assert compared.doc_id == ("b", "a", "c", "d") * 2
        assert compared.scores[0, 0] == compared.scores[0, 1]
        assert ir_graded.pool(run, 2)["doc_id"].tolist() in (["a", "b"], ["b", "a"])
        bounds = ir_graded.score_bounds("gRBP(p=0.8)", qrels, run)
        assert np.array_equal(bounds.upper, ir_graded.score_bounds("gRBP(p=0.8)", qrels, plain).upper)
    measures = [*map(ir_measures.parse_measure, ("Q", "AP", "RR"))]
    found, expected = (ir_measures.calc_aggregate(measures, qrels, run) for run in (frame, plain))
    assert found == expected


@pytest.mark.slow
def test_expected_scores_and_ties_see_the_scores():
    by_id = {topic: {} for topic in IDS}
    frame = ir_graded.read_run(FILES / "responses.json")
    for row in frame.itertuples():
        by_id[row.query_id][row.doc_id] = row.score
    for order in ("expected", "optimistic", "pessimistic"):
        assert np.array_equal(values(frame, ties=order), values(by_id, ties=order))
    assert ir_graded.ties("Q", QRELS, frame).equals(ir_graded.ties("Q", QRELS, by_id))
    assert not np.array_equal(values(frame), values(by_id))


@pytest.mark.slow
def test_scores_say_that_positions_rank_them():
    path = FILES / "responses.json"
    assert f"Run 'responses.json' has documents with equal scores, which {RULE}." in warned(
        lambda: values([path])
    )
    scores = ir_graded.evaluate("Q", QRELS, path)
    assert scores.signature.options["ties"] == "position"
    assert ir_graded.verify(pickle.loads(pickle.dumps(scores)), QRELS, path).agrees  # noqa: S301
    frame = ir_graded.read_run(path)
    frame.loc[:2, "position"] = [3, 2, 1]
    other = ir_graded.evaluate("Q", QRELS, frame).signature
    assert other.runs["run"] != ir_graded.evaluate("Q", QRELS, {"run": path}).signature.runs["run"]
    flat = {"red shoes": search(("p7", 1.0), ("p1", 1.0)), "oak table": search(("p5", 2.0))}
    assert "so only their given positions determine the ranks." in warned(lambda: values(flat))
    explained = str(ir_graded.explain("Q", QRELS, path, "red shoes"))
    assert "Documents with equal scores are in the order of their given positions." in explained
    # Nothing is said where positions have no effect.
    apart = {"red shoes": search(("p7", 2.0), ("p1", 1.0)), "oak table": search(("p5", 2.0))}
    assert RULE not in warned(lambda: values(apart))
    assert ir_graded.evaluate("Q", QRELS, apart).signature.options["ties"] == "doc_id"
    assert RULE not in warned(lambda: values(path, ties="expected"))


@pytest.mark.parametrize("scores", [(None, None, None), (1.0, 2.0, 0.5), (2.0, None, 1.0)])
def test_hits_without_descending_scores_are_ranked_by_position(scores):
    given = {"oak table": search(*zip(("p2", "p9", "p5"), scores, strict=True))}
    frame = ir_graded.read_run(given)
    assert frame["score"].tolist() == [-1.0, -2.0, -3.0]
    has_note = "the scores of queries 'oak table' do not descend or are partly missing" in warned(
        lambda: ir_graded.read_run(given)
    )
    assert has_note == (scores != (None, None, None))


@pytest.mark.parametrize(
    ("response", "partial"),
    [
        ({"timed_out": True}, True),
        ({"_shards": {"total": 5, "successful": 3, "failed": 0}}, True),
        ({"_shards": {"total": 5, "successful": 5, "skipped": 2, "failed": 0}}, False),
        ({"_shards": {"total": 5}}, False),
        ({"_shards": {"total": 5, "successful": 5, "failed": 1}}, True),
    ],
)
def test_incomplete_responses_are_warned_of(response, partial):
    given = {"a": search(("p2", 1.0), **response), "b": search(("p2", 1.0), **response)}
    text = warned(lambda: ir_graded.read_run(given | {"c": search(("p2", 1.0))}))
    assert ("the responses to queries 'a', 'b' timed out or lack shards that failed" in text) == partial


PARSE = {"error": {"type": "parse"}, "status": 400}
FAILED = {"metric_score": 0.1, "details": {}, "failures": {"a": {"error": "e"}}}
HITS = "query 'a': response.hits"
MALFORMED = [
    ({"a": search(("p", 1.0)), "b": PARSE}, "query 'b': response is an error: {'type': 'parse'}"),
    ({"a": {"took": 1, "hits": {}}}, f"{HITS} has no 'hits'"),
    ({"a": {"took": 1, "hits": {"hits": [{"_score": 1.0}]}}}, f"{HITS}.hits[0] has no '_id'"),
    ({"a": search(("p", "1"))}, f"{HITS}.hits[0]._score is '1'; expected a number or null"),
    ({"a": search(("p", 1.0), (None, 0.5))}, "response.hits.hits[1] has no doc_id"),
    *(({"a": search(("p", 1.0), (doc, 0.5))}, f"{HITS}.hits[1]._id is empty") for doc in ("", "  ")),
    (FAILED, "query 'a' failed: {'error': 'e'}"),
    ({"metric_score": 0.1, "details": {"a": {}}}, "details.a has no 'hits'"),
    ([search(("p", 1.0))], "responses do not name their queries: give a dict {query_id: response}"),
    ({"took": 1, "responses": [search(("p", 1.0))]}, "responses do not name their queries"),
]


@pytest.mark.parametrize(("given", "message"), MALFORMED)
def test_malformed_responses_are_errors_with_file_query_and_position(given, message, write, capsys):
    path = write(json.dumps(given), "r.json")
    with pytest.raises(InputError) as found:
        ir_graded.read_run(given)
    assert message in str(found.value)
    with pytest.raises(InputError) as found:
        ir_graded.read_run(path)
    assert message in str(found.value)
    assert str(path) in str(found.value)
    assert_command_fails(run_command(capsys, "evaluate", QRELS, path, "-m", "Q"), str(path), message)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["a"], "found 2 responses, but 1 query_ids"),
        (["a", "b", "c"], "found 2 responses, but 3 query_ids"),
        (["1", 1], "query_ids"),
        (["a", "a"], "query_ids has 'a' twice"),
    ],
)
def test_query_ids_must_match_the_responses(ids, message):
    with pytest.raises(FileFormatError, match=message) as found:
        ir_graded.read_run(FILES / "msearch.json", query_ids=ids)
    assert str(FILES / "msearch.json") in str(found.value)


def test_query_ids_are_for_responses_in_a_list_only():
    with pytest.raises(InputError, match="query_ids is for responses in a list, and these are by query"):
        ir_graded.read_run(FILES / "responses.json", query_ids=IDS)
    with pytest.raises(ParameterError, match="leave out format='trec'"):
        ir_graded.read_run(FILES / "first.run", format="trec", query_ids=IDS)
    with pytest.raises(FileFormatError):
        ir_graded.read_run(FILES / "first.run", query_ids=IDS)


def test_documents_given_twice_are_errors_with_both_places(write):
    given = {"red shoes": search(("p7", 2.0), ("p1", 1.5), ("p7", 1.0))}
    places = r"at .*r\.json, response\.hits\.hits\[0\] and at .*r\.json, response\.hits\.hits\[2\]"
    with pytest.raises(InputError, match=f"topic 'red shoes', document 'p7' appears twice, {places}"):
        ir_graded.evaluate("Q", QRELS, write(json.dumps(given), "r.json"))


def test_a_score_beside_a_rank_is_not_ignored():
    """Frames of PyTerrier have both."""
    frame = pd.read_csv(FILES / "ranks.csv")
    scored = frame.assign(score=[1.0, 2.0, 3.0, 4.0, 1.0, 2.0])
    assert ir_graded.evaluate("RR", QRELS, scored).values.tolist() != values(PLAIN)[2:3].tolist()
    assert "position" not in ir_graded.read_run(scored)


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ([1, 2, 2], r"topic 'q': documents 'b' and 'c' both have the position 2; number the rows"),
        ([1, 2, None], r"topic 'q', document 'c' .*: the rank is missing"),
        ([1, 2, 2.5], r"topic 'q', document 'c' .*: the rank is 2\.5; it must be a whole number"),
    ],
)
def test_wrong_ranks_are_errors(ranks, message):
    run = pd.DataFrame({"query_id": "q", "doc_id": [*"abc"], "rank": ranks})
    with pytest.raises(InputError, match=message):
        ir_graded.evaluate("Q", {"q": {"a": 1}}, run)
    with pytest.raises(InputError, match=message):
        ir_graded.pool(run, 2)


def test_several_snapshots_in_a_file_are_an_error(write):
    text = (FILES / "quepid-snapshot.csv").read_text()
    path = write(text + text.partition("\n")[2].replace("Baseline", "Later"), "two.csv")
    message = r"two\.csv: has several snapshots of Quepid, 'Baseline', 'Later'"
    with pytest.raises(FileFormatError, match=message):
        ir_graded.read_run(path)


def test_positions_that_cannot_rank_are_refused():
    frame = ir_graded.read_run(FILES / "responses.json")
    qrels = ir_graded.read_qrels(QRELS)
    with pytest.raises(InputError, match="a run with passages cannot have the column position"):
        ir_graded.evaluate("Q", qrels, frame.assign(start=0, length=10))
    first = ir_measures.define_byquery(lambda _, run: float(run.iloc[0]["score"]), name="First")
    with pytest.raises(InputError, match="measures that others define rank them by doc_id"):
        ir_graded.evaluate(["Q", first], qrels, frame)
    apart = frame.assign(score=-frame["position"].astype(float))
    assert ir_graded.evaluate(["Q", first], qrels, apart).runs == ("run",)


def test_runs_that_look_like_responses_are_runs():
    qrels = {"hits": {"hits": 1}, "details": {"a": 1}, "error": {"status": 1}}
    run = {topic: dict.fromkeys(docs, 1.0) for topic, docs in qrels.items()}
    assert ir_graded.evaluate("Q", qrels, run).mean().loc["run", "Q"] == 1
    assert ir_graded.evaluate("Q", qrels, {"bm25": run, "details": run}).runs == ("bm25", "details")
    assert ir_graded.evaluate("Q", {"a": {"d": 1}}, {"x": {"a": {"d": 1.0}}, "y": []}).runs == ("x", "y")


def test_levels_of_clicks_below_rel_are_warned_of(capsys):
    err = run_command(capsys, "evaluate", FILES / "clicks.csv", FILES / "ranks.csv", "-m", "Q")[2]
    assert "The highest level is 0.44: set rel to at most this, as in rel=0.44." in err
    named = ir_graded.evaluate("Q(rel=0.44)", FILES / "clicks.csv", FILES / "ranks.csv")
    assert named.values.max() > 0


@pytest.mark.slow
def test_runs_with_and_without_positions_are_warned_of_if_both_have_ties():
    tied = {topic: dict.fromkeys(docs, 1.0) | {docs[0]: 2.0} for topic, docs in RANKED.items()}
    mixed = "Runs differ in the order of documents with equal scores: 'a' has them by position, 'b' by id"
    responses = content("responses.json")

    def said(other, **options):
        given = {"a": responses, "b": other}
        return warned(lambda: ir_graded.evaluate(MEASURES, QRELS, given, **options))

    def ties(*runs):
        given = dict(zip("abc", runs, strict=False))
        return ir_graded.evaluate(MEASURES, QRELS, given).signature.options["ties"]

    assert mixed in said({topic: dict.fromkeys(docs, 1.0) for topic, docs in RANKED.items()})
    oak = {"red shoes": PLAIN["red shoes"], "oak table": dict.fromkeys(RANKED["oak table"], 1.0)}
    assert mixed in said(oak)
    assert "set ties='expected'" in said(oak)
    assert mixed not in said(PLAIN)
    assert mixed not in said(ir_graded.read_run(FILES / "responses.json"))
    assert mixed not in said(oak, ties="expected")
    assert [ties(responses, other) for other in (oak, tied, PLAIN)] == ["mixed", "mixed", "position"]
    assert (ties(oak), ties(PLAIN, oak), ties(oak, PLAIN, responses)) == ("doc_id", "doc_id", "mixed")
    assert mixed in warned(lambda: ir_graded.compare_runs("Q", QRELS, {"b": oak}, {"a": responses}))
    scores = ir_graded.evaluate(MEASURES, QRELS, given := {"a": responses, "b": oak})
    assert ir_graded.verify(scores, QRELS, given).agrees


def test_lines_of_responses_of_several_queries_are_read_in_order(tmp_path):
    responses = [*content("responses.json").values()]
    batches = [{"took": 1, "responses": responses[:1]}, {"took": 1, "responses": responses[1:]}]
    (tmp_path / "batches.jsonl").write_text("\n".join(map(json.dumps, batches)))
    expected = ir_graded.read_run(FILES / "responses.json")
    for source in (tmp_path / "batches.jsonl", batches):
        assert ir_graded.read_run(source, query_ids=IDS).equals(expected)
        with pytest.raises(InputError, match="responses do not name their queries"):
            ir_graded.read_run(source)


@pytest.mark.parametrize("before", [" ", "\n\n", "\t\r\n", " " * 255])
def test_json_may_begin_with_blanks(write, before):
    content = json.dumps({"1": {"a": 2.0, "b": 1.0}})
    assert ir_graded.read_run(write(before + content, "a.run"))["doc_id"].tolist() == ["a", "b"]


def test_a_broken_line_of_json_is_named(tmp_path):
    line = json.dumps(search(("p7", 1.0)))
    (tmp_path / "cut.jsonl").write_text(f"{line}\n\n{line[:40]}\n")
    with pytest.raises(FileFormatError, match=r"cut\.jsonl: looks like JSON .*: line 3, column \d+: "):
        ir_graded.read_run(tmp_path / "cut.jsonl", query_ids=IDS)
    (tmp_path / "twice.jsonl").write_text(f'{line}\n{{"a": 1, "a": 2}}\n')
    with pytest.raises(FileFormatError, match="line 2: the key 'a' appears twice"):
        ir_graded.read_run(tmp_path / "twice.jsonl", query_ids=IDS)


@pytest.mark.parametrize(("scores", "tied"), [((0.0, -0.0), True), ((1.0, 1.0), True), ((2.0, 1.0), False)])
def test_positions_of_equal_scores_need_measures_of_this_package(scores, tied):
    """Equal scores in different topics are not ties."""
    rows = [("1", "a", scores[0], 1), ("1", "b", scores[1], 2), ("2", "a", scores[1], 1)]
    run = pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "position"])
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 1}}
    measures = ["Q", ir_measures.define_byquery(lambda _, run: float(len(run)), name="Length")]
    if tied:
        message = "the run has positions, which rank its documents with equal scores"
        with pytest.raises(InputError, match=message):
            ir_graded.evaluate(measures, qrels, run)
    else:
        assert ir_graded.evaluate(measures, qrels, run).values.shape == (2, 1, 2)


@pytest.mark.parametrize(
    ("kind", "content", "problem"),
    [
        (
            "run",
            {"1": {"took": 1, "hits": {"hits": [{"_id": "a", "_score": 0}]}}},
            "_score is 1111.* too large",
        ),
        (
            "qrels",
            {"judgmentRatings": [{"query": "1", "ratings": [{"docId": "a", "rating": 0}]}]},
            "infinite",
        ),
        ("qrels", {"queries": [{"query": "1", "ratings": {"a": 0}}]}, "document 'a' .*the level is infinite"),
    ],
)
def test_a_number_of_400_digits_is_rejected(tmp_path, kind, content, problem):
    path = tmp_path / "large.json"
    path.write_text(json.dumps(content).replace(": 0", f": {'1' * 400}"))
    with pytest.raises(InputError, match=problem):
        getattr(ir_graded, f"read_{kind}")(path)
