"""``ranks='rows'``: documents count at their first row, and later rows keep their rank."""

import pickle
import random
import re
import warnings
from pathlib import Path

import helpers
import ir_measures
import pandas as pd
import pytest
from classics import classic_cases
from measures import measure_cases
from passages import passage_cases
from reference import rows as reference

import ir_graded
from ir_graded import CoverageWarning, ParameterError, compare_runs
from ir_graded.measures import REGISTRY
from ir_graded.measures.classic import CLASSICS, scorer_of
from ir_graded.measures.classic.ties import takes_ranks, with_ranks
from ir_graded.measures.parsing import read_measure

# ---------------------------------------------------------------------------------------- with the reference

BASES = ("Q", "nDCG", "nERR", "P+", "EBR", "AWP", "gRBP", "nCG")
OVER_INTENTS = ("I-rec", "D", "D#", "IA", "IA#", "DIN", "DIN#", "P+Q", "P+Q#")
OF_INTENTS = [name for name, kind in CLASSICS.items() if kind.NEEDS]
#: Measures whose ranks can count rows.
NAMES = [
    *(str(measure) for measure in measure_cases.VARIANTS if takes_ranks(measure)),
    *(name for name, kind in classic_cases.OF_DOCUMENTS.items() if kind.RANKED),
]
SUPPORTED = {name: classic_cases.supported(name) for name in CLASSICS}


def random_measure(rng, name):
    """Return a measure with random parameters, with its name and parameters for the reference."""
    if name in CLASSICS:
        measure = rng.choice(SUPPORTED[name])
        return with_ranks(measure, "rows"), name, measure.params
    measure = read_measure(name)
    takes, params = measure.SUPPORTED_PARAMS, {}
    if takes.get("judged_only") and rng.random() < 0.5:
        params["judged_only"] = True
    if takes.get("cutoff") and (rng.random() < 0.5 or measure_cases.needs_cutoff(measure, measure.params)):
        params["cutoff"] = rng.randint(1, 8)
    if takes.get("rel") and rng.random() < 0.3:
        params["rel"] = 2
    measure = measure(**params)
    return with_ranks(measure, "rows"), measure.NAME, measure.params


def random_rows(rng):
    """Return rows of a run of two topics: some documents have several rows, and scores tie."""
    return [
        (topic, doc_id, float(rng.randint(0, 12)), place, 3)
        for topic in "12"
        for place, doc_id in enumerate(rng.choices("abcdefghxyz", k=rng.randint(0, 16)))
    ]


def evaluated(measures, qrels, run, **options):
    """Return the score by measure and topic, without warnings about what is missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        scores = ir_graded.evaluate([*measures], qrels, passage_cases.frame("run", run), **options)
    return {
        measure: dict(zip(scores.query_ids, of.tolist(), strict=True))
        for measure, of in zip(scores.measures, scores.values[:, 0], strict=True)
    }


def compare_with_the_reference(seed):
    rng = random.Random(seed)  # noqa: S311
    scale = rng.choice([(0, 1), (-1, 0, 1, 2, 3), (1, 2), (0, 0.5, 1, 2)])
    qrels = {t: {d: rng.choice(scale) for d in rng.sample("abcdefgh", rng.randint(1, 8))} for t in "12"}
    run = random_rows(rng)
    all_levels = {level for levels in qrels.values() for level in levels.values()}
    measures = {}
    for one in rng.sample(NAMES, 12):
        measure, *named = random_measure(rng, one)
        measures[measure] = named
    found = evaluated(measures, qrels, run or [("1", "x", 1.0, 0, 1)])
    for measure, (name, params) in measures.items():
        for topic, levels in qrels.items():
            rows = reference.listed(row[1:] for row in run if row[0] == topic)
            expected = reference.score(name, params, levels, rows, all_levels)
            assert found[measure][topic] == pytest.approx(expected, abs=1e-12), (seed, measure, topic)
            low, high = scorer_of(measure).RANGE
            assert low <= found[measure][topic] <= high, (seed, measure)


def compare_over_intents_with_the_reference(seed):
    rng = random.Random(seed)  # noqa: S311
    judged = {(d, i): rng.randint(0, 2) for d in "abcdefgh" for i in "uvw" if rng.random() < 0.4}
    judged["a", "u"] = 1
    levels = {i: {d: level for (d, of), level in judged.items() if of == i} for i in "uvw"}
    levels = {intent: of_intent for intent, of_intent in levels.items() if of_intent}
    nav = {intent for intent in levels if rng.random() < 0.5}
    qrels = pd.DataFrame(
        [
            ("1", d, level, i, 1 / len(levels), "nav" if i in nav else "inf")
            for (d, i), level in judged.items()
        ],
        columns=["query_id", "doc_id", "relevance", "iteration", "probability", "intent_type"],
    )
    run = [row for row in random_rows(rng) if row[0] == "1"] or [("1", "x", 1.0, 0, 1)]
    rows = reference.listed(row[1:] for row in run)
    chosen = {}
    for name in rng.sample(OVER_INTENTS, 4):
        params = {"cutoff": rng.randint(1, 8)}
        if "measure" in REGISTRY[name].SUPPORTED_PARAMS:
            base = rng.choice(BASES), {"judged_only": True} if rng.random() < 0.5 else {}
            measure = REGISTRY[name](measure=read_measure(base[0])(**base[1]), **params)
            params["measure"] = base
        else:
            params |= {"judged_only": True} if rng.random() < 0.5 else {}
            measure = REGISTRY[name](**params)
        chosen[with_ranks(measure, "rows")] = (
            name,
            params,
            {"P": dict.fromkeys(levels, 1 / len(levels)), "nav": nav},
        )
    for name in rng.sample(OF_INTENTS, 3):
        measure = rng.choice([one for one in SUPPORTED[name] if one["rel"] >= 1])
        chosen[with_ranks(measure, "rows")] = name, measure.params, {}
    found = evaluated(chosen, qrels, run)
    for measure, (name, params, further) in chosen.items():
        expected = reference.score_over_intents(name, params, levels, rows, **further)
        assert found[measure]["1"] == pytest.approx(expected, abs=1e-12), (seed, measure)


@pytest.mark.parametrize("compare", [compare_with_the_reference, compare_over_intents_with_the_reference])
@pytest.mark.parametrize(
    "seeds",
    [
        *(pytest.param(range(first, first + 6), marks=pytest.mark.slow) for first in range(0, 60, 6)),
        pytest.param(range(100, 600), marks=pytest.mark.release),
    ],
)
def test_every_measure_equals_the_reference(compare, seeds):
    for seed in seeds:
        compare(seed)


# ------------------------------------------------------------------------------------------- worked examples

#: Rows a a a b b c.
RUN_F = passage_cases.frame("run", [("1", d, -float(at), 10 * at, 10) for at, d in enumerate("aaabbc")])
QRELS_F = {"1": {"b": 2, "c": 1}}
DOCUMENTS_AND_ROWS = {
    "nDCG@10": (0.669671816494, 0.462787081868),
    "RR": (0.5, 0.25),
    "P@5": (0.4, 0.2),
    "AP": (0.583333333333, 0.291666666667),
}


def mean(measure, qrels, run, **options):
    return float(ir_graded.evaluate(measure, qrels, run, **options).mean().iloc[0, 0])


@pytest.mark.parametrize("name", DOCUMENTS_AND_ROWS)
def test_the_worked_example(name):
    found = [mean(name, QRELS_F, RUN_F, ranks=ranks) for ranks in ("documents", "rows")]
    assert found == pytest.approx(DOCUMENTS_AND_ROWS[name], abs=1e-12)
    assert mean(with_ranks(read_measure(name), "rows"), QRELS_F, RUN_F) == found[1]


def test_a_document_below_three_rows_of_another_is_at_rank_4():
    qrels, run = {"1": {"b": 1}}, RUN_F.iloc[:4]
    assert mean("nDCG@3", qrels, run, ranks="documents") == pytest.approx(0.630929753571, abs=1e-12)
    assert mean("nDCG@3", qrels, run, ranks="rows") == 0


def test_later_rows_are_judged_if_their_document_is():
    # x is not judged, and n is judged not relevant, so the condensed list is n n b.
    run = passage_cases.frame("run", [("1", doc_id, -float(at), at, 1) for at, doc_id in enumerate("xnxnb")])
    qrels = {"1": {"n": 0, "b": 1, "u": -1}}
    assert mean("RR(judged_only=True)", qrels, run, ranks="rows") == 1 / 3
    assert mean("RR", qrels, run, ranks="rows") == 1 / 5
    unjudged = run.replace({"doc_id": {"n": "u"}})
    assert mean("RR(judged_only=True)", qrels, unjudged, ranks="rows") == 1


def test_ranks_have_no_effect_on_runs_without_passages():
    run = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}
    names = ["nDCG@3", "RR", "Q", "Bpref", "AP(judged_only=True)"]
    scores = [ir_graded.evaluate(names, QRELS_F, run, ranks=ranks).values for ranks in ("documents", "rows")]
    assert (scores[0] == scores[1]).all()


def test_measures_of_rows_and_of_sets_stay_as_they_are():
    gold = passage_cases.frame("qrels", [("1", "b", 1, 30, 10)])
    found = ir_graded.evaluate(["CharR@4", "SetP", "nDCG@4"], gold, RUN_F, ranks="rows")
    assert [*map(str, found.measures)] == ["CharR@4", "SetP", "nDCG(ranks='rows')@4"]
    assert found.position("nDCG@4") == found.position("nDCG(ranks='rows')@4") == 2


# ------------------------------------------------------------------------------------------------ parameters


@pytest.mark.parametrize(
    "name",
    [
        *("nDCG(ranks='rows')@10", "RR(ranks='rows')", "Q(ranks='rows')@10", "Compat(depth=5,ranks='rows')"),
        *("alpha_nDCG(ranks='rows')@5", "I-rec(ranks='rows')@5", "D(measure=\"Q(ranks='rows')\")@5"),
    ],
)
def test_names_are_read_and_printed_and_pickled(name):
    measure = read_measure(name)
    assert str(measure) == name
    assert scorer_of(measure).ranks_rows
    assert pickle.loads(pickle.dumps(measure)) == measure  # noqa: S301


def test_the_default_written_out_equals_the_measure_without_it():
    for name in ("Q(ranks='documents')@10", "nDCG(ranks='documents')@10"):
        assert read_measure(name) == read_measure(name.replace("(ranks='documents')", ""))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Q(ranks='rows',ties='expected')", "ranks='rows' needs ties='doc_id', not 'expected'"),
        ("nDCG(ranks='rows',ties='optimistic')@3", "ranks='rows' needs ties='doc_id', not 'optimistic'"),
        ("gRBP(ranks='rows',residual=True)", "residual=True needs ranks='documents'"),
        ("gP(ranks='rows')@3", "gP takes no parameter 'ranks'"),
        ("CharR(ranks='rows')@3", "CharR takes no parameter 'ranks'"),
        ("EC(measure=\"Q(ranks='rows')\")", "must not have ranks"),
        ("RR(ranks='row')", "ranks='row' must be one of 'documents', 'rows'"),
    ],
)
def test_wrong_parameters_are_rejected(name, words):
    with pytest.raises(ParameterError, match=re.escape(words)):
        read_measure(name)


def test_levels_below_0_with_a_gain_are_rejected():
    with pytest.raises(ParameterError, match="min_rel < 0 gives each judged row a gain"):
        with_ranks(ir_measures.INST(T=1, max_rel=2, min_rel=-1), "rows")


@pytest.mark.parametrize(
    ("measures", "options", "words"),
    [
        ("MAgP", {"ranks": "rows"}, "MAgP takes no ranks"),
        ("RR", {"ranks": "row"}, "ranks='row' must be one of 'documents', 'rows'"),
        ("RR", {"ranks": "rows", "ties": "expected"}, "ranks='rows' needs ties='doc_id'"),
        ("RR(ties='expected')", {"ranks": "rows"}, "ranks='rows' needs ties='doc_id'"),
    ],
)
def test_wrong_options_are_rejected(measures, options, words):
    with pytest.raises(ParameterError, match=re.escape(words)):
        ir_graded.evaluate(measures, QRELS_F, RUN_F, **options)


@pytest.mark.parametrize("function", [ir_graded.score_bounds, ir_graded.score_intervals])
def test_functions_without_passages_reject_ranks_of_rows(function):
    with pytest.raises(ParameterError, match=r"RR\(ranks='rows'\) needs passages, which .* does not use"):
        function("RR(ranks='rows')", QRELS_F, RUN_F)
    reason = "text outside the gold text is not relevant, so nothing is unjudged; use ir_graded.evaluate$"
    with pytest.raises(ParameterError, match=f"^CharR needs passages, which .* does not use: {reason}"):
        function("CharR", QRELS_F, RUN_F)


# ----------------------------------------------------------------------------------------------- the warning

NOTE = "rank documents, but in {}topic '1', rank 2 is row 4; set ranks='rows' or ranks='documents'."


def test_a_document_at_another_rank_than_its_first_row_warns_once():
    single = RUN_F.drop_duplicates("doc_id")
    runs = {"single": single, "x": RUN_F, "again": RUN_F}
    with pytest.warns(CoverageWarning) as caught:
        ir_graded.evaluate(["nDCG@3", "RR(ties='expected')", "P@1", "SetP"], QRELS_F, runs)
    words = "nDCG@3, RR(ties='expected') " + NOTE.format("run 'x', ")
    assert [str(one.message) for one in caught] == [words]
    assert caught[0].filename == __file__


def test_ranks_that_are_set_or_equal_do_not_warn():
    names = ["nDCG@3", "RR"]
    for ranks in ("documents", "rows"):
        ir_graded.evaluate(names, QRELS_F, RUN_F, ranks=ranks)
    ir_graded.evaluate([*names, "AP(ranks='rows')"], QRELS_F, RUN_F)
    ir_graded.evaluate(names, QRELS_F, RUN_F.drop_duplicates("doc_id"))
    # The relevant document is above all repeated ones.
    ir_graded.evaluate(names, {"1": {"a": 1}}, RUN_F)


def test_ir_measures_warns_too():
    for function in (ir_measures.calc_aggregate, ir_measures.calc):
        with pytest.warns(CoverageWarning) as caught:
            function([read_measure("nDCG@3"), read_measure("Q")], QRELS_F, RUN_F)
        assert [str(one.message) for one in caught] == [f"nDCG@3, Q {NOTE.format('')}"]
        function([with_ranks(read_measure("nDCG@3"), "rows")], QRELS_F, RUN_F)


# ---------------------------------------------------------------------------------------------- further ways


def test_explain_shows_the_rank_of_rows():
    found = ir_graded.explain("Q(ranks='rows')@10", QRELS_F, RUN_F, "1")
    frame = found.to_frame()[["rank", "doc_id", "level"]]
    assert frame[3:].to_numpy().tolist() == [[4, "b", 2], [6, "c", 1]]
    assert frame[:3]["rank"].tolist() == [1, 2, 3]
    assert frame[:3]["level"].isna().all()
    assert found.score == pytest.approx(0.492063492063, abs=1e-12)
    assert "2 of 2, in a ranking of 6" in found.notes[0]


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Q(ranks='rows')@5",
            "nDCG(ranks='rows')@5",
            "AP(judged_only=True,ranks='rows')",
            "Bpref(ranks='rows')",
        ),
        *(
            "alpha_nDCG(ranks='rows')@5",
            "D#(measure=\"Q(ranks='rows')\")@5",
            "IA(measure=\"Q(ranks='rows')\")",
        ),
    ],
)
def test_contributions_sum_to_the_score(name):
    rows = [("1", "b", 2, "x"), ("1", "b", 2, "y"), ("1", "c", 1, "y"), ("1", "a", 0, "x")]
    qrels = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "iteration"])
    found = ir_graded.explain(name, qrels, RUN_F, "1")
    assert found.columns["contribution"].sum() == pytest.approx(found.score, abs=1e-12)
    assert found.retrieved == 6


def test_ir_measures_computes_measures_with_ranks_of_rows():
    measures = [ir_measures.parse_measure(f"{name}(ranks='rows')") for name in ("RR", "AP")]
    found = ir_measures.calc_aggregate(measures, QRELS_F, RUN_F)
    assert [*found.values()] == pytest.approx([0.25, 0.291666666667], abs=1e-12)


def test_compare_runs_takes_ranks():
    qrels = pd.concat([pd.DataFrame({"query_id": t, "doc_id": ["b"], "relevance": 1}) for t in "12345678"])
    run = pd.concat([RUN_F.assign(query_id=t) for t in "12345678"])
    found = compare_runs("RR", qrels, run, {"x": run.drop_duplicates(["query_id", "doc_id"])}, ranks="rows")
    assert found.difference.tolist() == [0.25]
    assert str(found.measure[0]) == "RR(ranks='rows')"


def test_the_command_line_takes_ranks(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("1 0 b 2\n1 0 c 1\n")
    RUN_F.to_parquet("run.parquet")
    call = ["evaluate", "qrels.txt", "run.parquet", "-m", "RR", "-o", "csv"]
    code, out, err = helpers.run_command(capsys, *call, "--ranks", "rows")
    assert (code, err) == (0, "")
    assert out.splitlines() == ["run,RR(ranks='rows')", "run.parquet,0.2500"]
    _, out, err = helpers.run_command(capsys, *call)
    assert out.splitlines()[1] == "run.parquet,0.5000"
    assert err.endswith("rank 2 is row 4; set --ranks rows or --ranks documents.\n")
    assert helpers.run_command(capsys, *call, "--ranks", "documents")[1:] == (out, "")
    given = ("RR", *call[1:3], "1", "--ranks", "rows", "-o", "csv")
    explained = helpers.run_command(capsys, "explain", *given)[1]
    assert explained.splitlines()[4].startswith("4,b")
    refused = helpers.run_command(capsys, *call, "--ranks", "rows", "--unjudged", "bounds")
    helpers.assert_command_fails(refused, "leave out --ties, --ranks")
