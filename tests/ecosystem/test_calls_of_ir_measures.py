"""After ``import ir_graded``: ir_measures' own calls, command line and registries."""

import copy
import importlib
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import helpers
import ir_measures
import pandas as pd
import pytest
from ir_measures import AP, RR, Judged, NumRel, NumRet, P, infAP, nDCG

import ir_graded
from ecosystem import forms
from ecosystem.processes import python
from ir_graded import P_measure, Q, errors
from ir_graded.evaluation.provider import PROVIDER
from ir_graded.measures import REGISTRY

QRELS = {"1": {"a": 2, "b": 1}, "2": {"c": 1}}
RUN = {"1": {"b": 3.0, "x": 2.0, "a": 1.0}, "3": {"c": 1.0}}
# By hand: Q is ((1 + 1) / (1 + 2) + (2 + 3) / (3 + 3)) / 2 on topic 1, and 0 on topic 2, which the run lacks.
Q_1 = (2 / 3 + 5 / 6) / 2
AP_1 = (1 + 2 / 3) / 2

MIXED = ["P-measure@1000", nDCG @ 10, "Q", "map", Q(beta=0) @ 2, "P_5,10", "NCU(stop='rb', gains={2:5})@10"]
NAMES = [
    "P-measure@1000", "nDCG@10", "Q", "AP", "Q(beta=0)@2", "P@5", "P@10", "NCU(gains={2:5},stop='rb')@10",
]  # fmt: skip
ALL = forms.measures_of_registry()
TABLE_QRELS, TABLE_RUN = forms.dicts("qrels", forms.QRELS), forms.dicts("run", forms.RUN)


def nothing(measure):
    """Score of a topic without a relevant document: 0, or the rank after the cutoff."""
    return measure["cutoff"] + 1 if measure.NAME == "FirstRank" else 0


def names(measures):
    return [str(measure) for measure in measures]


# -------------------------------------------------------------------------------- strings and objects


def test_calc_takes_strings_and_objects_in_the_given_order():
    aggregated, per_topic = ir_measures.calc(MIXED, QRELS, RUN)
    assert names(aggregated) == names(ir_measures.calc_aggregate(MIXED, QRELS, RUN)) == NAMES
    assert aggregated[Q] == pytest.approx(Q_1 / 2, abs=1e-12)
    assert aggregated[AP] == pytest.approx(AP_1 / 2, abs=1e-12)
    assert {(str(m.measure), m.query_id) for m in per_topic} == {(n, topic) for n in NAMES for topic in QRELS}
    assert len(per_topic) == 2 * len(NAMES)


@pytest.mark.parametrize(("name", "expected"), [("SetF(beta=2)", 1.0), ("IPrec@1", 1.0)])
def test_whole_numbers_in_strings_may_stand_for_floats(name, expected):
    given = {"1": {"a": 1}}, {"1": {"a": 1.0}}
    assert list(ir_measures.calc_aggregate([name, "Q"], *given).values()) == [expected, 1.0]
    (found,) = ir_measures.calc_aggregate([name], *given).values()
    assert found == expected


def test_iter_calc_and_evaluator_equal_calc():
    expected = sorted(ir_measures.calc(MIXED, QRELS, RUN).per_query, key=repr)
    assert sorted(ir_measures.iter_calc(MIXED, QRELS, RUN), key=repr) == expected
    evaluator = ir_measures.evaluator(MIXED, QRELS)
    assert names(evaluator.measures) == NAMES
    assert sorted(evaluator.iter_calc(RUN), key=repr) == expected
    assert evaluator.calc_aggregate(RUN) == ir_measures.calc_aggregate(MIXED, QRELS, RUN)
    assert evaluator.calc(RUN).aggregated == ir_measures.calc_aggregate(MIXED, QRELS, RUN)


def test_results_of_this_package_come_measure_by_measure_in_the_given_order():
    asked = ["nERR@3", "Q", "P-measure@1000", "AWP"]
    metrics = list(ir_measures.iter_calc(asked, QRELS, RUN))
    assert names(dict.fromkeys(metric.measure for metric in metrics)) == asked
    assert [metric.query_id for metric in metrics] == ["1", "2"] * 4


def test_a_repeated_measure_is_returned_once():
    aggregated, per_topic = ir_measures.calc(["Q", Q, "Q_measure", Q(beta=1.0), "AP", AP, "map"], QRELS, RUN)
    assert names(aggregated) == ["Q", "AP"]
    assert len(per_topic) == 4


def test_measures_may_come_from_a_generator_or_a_set():
    expected = ir_measures.calc_aggregate(["Q", AP], QRELS, RUN)
    assert ir_measures.calc_aggregate((measure for measure in ("Q", AP)), QRELS, RUN) == expected
    assert ir_measures.calc_aggregate({"Q", AP}, QRELS, RUN) == expected


def test_methods_of_a_measure_score_runs():
    assert Q.calc_aggregate(QRELS, RUN) == pytest.approx(Q_1 / 2, abs=1e-12)
    assert Q.calc(QRELS, RUN).aggregated == Q.calc_aggregate(QRELS, RUN)
    assert [metric.value for metric in Q.iter_calc(QRELS, RUN)] == [pytest.approx(Q_1, abs=1e-12), 0]
    assert Q.evaluator(QRELS).calc_aggregate(RUN) == {Q: Q.calc_aggregate(QRELS, RUN)}


@pytest.mark.slow
def test_names_imported_from_ir_measures_earlier_work_also_after_a_reload():
    output = python(
        """
        from ir_measures import calc, calc_aggregate, evaluator, iter_calc, nDCG, DefaultPipeline
        import ir_graded
        qrels = {"1": {"a": 2, "b": 1}, "2": {"c": 1}}
        run = {"1": {"b": 3.0, "x": 2.0, "a": 1.0}}
        measures = ["Q", nDCG @ 10, "P-measure@1000", "map"]
        for found in (
            calc(measures, qrels, run).aggregated,
            calc_aggregate(measures, qrels, run),
            evaluator(measures, qrels).calc_aggregate(run),
            DefaultPipeline.calc_aggregate(measures, qrels, run),
        ):
            print({str(measure): round(value, 6) for measure, value in found.items()})
        print({str(metric.measure) for metric in iter_calc(measures, qrels, run)} == set(map(str, found)))
        import importlib, ir_measures
        for _ in range(2):
            importlib.reload(ir_graded.measures.parsing)
            importlib.reload(ir_graded.plugin).register()
        print(ir_measures.parse_trec_measure("map"), ir_measures.parse_trec_measure("P+@3"))
        providers = [provider.NAME for provider in ir_measures.DefaultPipeline.providers]
        print(ir_measures.parse_measure("nDCG@10"), providers.count("ir_graded"))
        """
    ).splitlines()
    expected = {"Q": 0.375, "nDCG@10": 0.380094, "P-measure@1000": 0.416667, "AP": 0.416667}
    assert output == [str(expected)] * 4 + ["True", "[AP] [P+@3]", "nDCG@10 1"]


@pytest.mark.parametrize(
    "name", ["NoSuch", "NoSuch@10", "nDCG[10", "1 + 1", "nDCG; AP", "AP(3)", "AP(rel=[1])", ""]
)
def test_parse_measure_keeps_its_errors(name):
    for read in (ir_measures.parse_measure, ir_measures.util.parse_measure):
        with pytest.raises((NameError, ValueError)) as caught:
            read(name)
        if name.startswith("NoSuch"):
            assert (caught.type, str(caught.value)) == (NameError, "measure not found: NoSuch")
        else:
            assert caught.type is ValueError
            assert str(caught.value).startswith("problem parsing measure ")


@pytest.mark.parametrize(
    ("name", "error"),
    [
        *[(name, ir_graded.UnknownMeasureError) for name in ("NoSuch", "NoSuch@10", "nDCG[10", "1 + 1")],
        *[(name, ir_graded.MeasureSyntaxError) for name in ("nDCG, AP", "AP(3)", "AP(rel=[1])")],
    ],
)
def test_measures_that_cannot_be_read_raise_one_error_everywhere(name, error):
    outcomes = set()
    for call in (
        lambda: ir_measures.calc([name], QRELS, RUN),
        lambda: ir_measures.calc_aggregate(["Q", name], QRELS, RUN),
        lambda: ir_measures.evaluator([AP, name], QRELS),
        lambda: ir_graded.evaluate(name, QRELS, RUN),
    ):
        with pytest.raises((NameError, ValueError)) as caught:
            call()
        outcomes.add((caught.type, str(caught.value)))
    assert len(outcomes) == 1
    assert outcomes.pop()[0] is error


def test_an_unsupported_measure_keeps_its_error_in_a_mixed_call(monkeypatch):
    monkeypatch.setattr(ir_measures.ranx, "_is_available", False)
    unsupported = ir_measures.NumRel(rel=2)
    with pytest.raises(ValueError, match="Unsupported measures"):
        ir_measures.calc([unsupported], QRELS, RUN)
    with pytest.raises(ValueError, match="Unsupported measures"):
        ir_measures.calc(["Q", unsupported], QRELS, RUN)


def test_a_measure_without_its_cutoff_is_rejected():
    for measures in (["nCG"], ["nCG", AP], [ir_graded.BR]):
        with pytest.raises(errors.ParameterError, match="cutoff"):
            ir_measures.calc(measures, QRELS, RUN)


def test_an_object_that_is_not_a_measure_is_rejected():
    for wrong in (3, None, ("Q",)):
        with pytest.raises(ValueError, match="neither a measure nor a string"):
            ir_measures.calc(["Q", wrong], QRELS, RUN)


# --------------------------------------------------------------------------- registries, inputs, provider


def test_run_inputs_and_qrel_inputs_name_three_columns():
    for measures in ([Q], [Q, AP], ALL, [*ALL, nDCG @ 10]):
        assert set(ir_measures.run_inputs(measures)) == {"query_id", "doc_id", "score"}
        assert set(ir_measures.qrel_inputs(measures)) == {"query_id", "doc_id", "relevance"}


def test_the_registry_holds_every_name():
    assert REGISTRY
    for name, measure in REGISTRY.items():
        assert ir_measures.measures.registry[name] is measure
        if "cutoff" in measure.SUPPORTED_PARAMS:
            name, measure = f"{name}@10", measure @ 10  # noqa: PLW2901  # with its cutoff
        assert ir_measures.parse_measure(name) == measure
        assert ir_measures.parse_trec_measure(name) == [measure]


@pytest.mark.parametrize("parse", [lambda: ir_measures.parse_measure, lambda: ir_measures.util.parse_measure])
def test_parse_measure_reads_the_names_of_all_measures(parse):
    assert parse()("P+(beta=inf)@10") == ir_graded.P_plus(beta=float("inf")) @ 10
    assert parse()("nDCG(dcg='exp-log2')@10") == nDCG(dcg="exp-log2") @ 10
    assert parse()(AP) is AP
    assert parse()("map") == AP


@pytest.mark.parametrize(
    "parse", [lambda: ir_measures.parse_trec_measure, lambda: ir_measures.util.parse_trec_measure]
)
def test_parse_trec_measure_reads_the_names_of_all_measures(parse):
    assert parse()("ndcg_cut_10,20") == [nDCG @ 10, nDCG @ 20]
    assert parse()("P-measure@10") == [P_measure @ 10]
    assert parse()("nDCG@10") == [nDCG @ 10]
    with pytest.raises(ValueError, match="NoSuch"):
        parse()("NoSuch")


def test_the_provider_is_registered_once_and_scores():
    assert ir_measures.providers.registry["ir_graded"] is PROVIDER
    assert [provider.NAME for provider in ir_measures.DefaultPipeline.providers].count("ir_graded") == 1
    assert PROVIDER.is_available()
    assert PROVIDER.calc_aggregate([Q], QRELS, RUN) == ir_measures.calc_aggregate([Q], QRELS, RUN)
    assert PROVIDER.supports(Q @ 3)
    assert PROVIDER.supports(AP)
    assert not PROVIDER.supports(NumRel(rel=2))
    assert ir_measures.DefaultPipeline.supports(Q @ 3)
    with pytest.raises(ValueError, match="NumRel"):
        PROVIDER.evaluator([Q, NumRel(rel=2)], QRELS)


def state():
    """Return the parts of ir_measures that the package changes."""
    pipeline = ir_measures.DefaultPipeline
    return (
        list(ir_measures.measures.registry.items()),
        list(ir_measures.providers.registry.items()),
        list(pipeline.providers),
        [one.__qualname__ for one in type(pipeline).__mro__],
        vars(pipeline).keys(),
        [
            (module.parse_measure.__wrapped__, module.parse_trec_measure.__wrapped__, sorted(vars(module)))
            for module in (ir_measures, ir_measures.util)
        ],
    )


def test_registering_again_changes_nothing():
    before = state()
    ir_graded.plugin.register()
    reloaded = importlib.reload(ir_graded.plugin)
    reloaded.register()
    importlib.reload(ir_graded)
    importlib.import_module("ir_graded")
    assert state() == before
    assert pickle.loads(pickle.dumps(ir_measures.parse_measure)) is reloaded.parse_measure  # noqa: S301
    assert ir_measures.calc_aggregate(["Q", AP, "map"], QRELS, RUN)[Q] == pytest.approx(Q_1 / 2, abs=1e-12)


@pytest.mark.slow
def test_a_name_taken_by_another_package_is_rejected():
    output = python(
        """
        import ir_measures
        ir_measures.measures.registry["Q"] = ir_measures.AP
        try:
            import ir_graded
        except ValueError as error:
            print(error)
        """
    )
    assert "'Q'" in output


# Output of ir-measures alone for its measures, printed to the last digit.
UPSTREAM_ONLY = """
import re, sys
if sys.argv[1] == "with":
    import ir_graded
import ir_measures, pandas as pd
from ir_measures import *

qrels = {"1": {"a": 2, "b": 1, "d": 0}, "2": {"c": 1}, "4": {"e": 3}}
run = {"1": {"b": 3.0, "x": 2.0, "a": 1.0}, "3": {"c": 1.0}, "4": {"x": 1.0, "e": 1.0, "f": 0.5}}
def tuples(table, make):
    return (make(topic, doc, value) for topic, docs in table.items() for doc, value in docs.items())
def frame(table, make):
    return pd.DataFrame(list(tuples(table, make)))
def show(label, call):
    try:
        found = call()
    except Exception as error:
        found = type(error).__name__, str(error)
    print(label, re.sub("0x[0-9a-f]+", "0x", repr(found)))

twice = define_byquery(lambda qrels, run: float(len(run)), name="Twice")
measures = [
    AP, AP(rel=2), AP @ 2, nDCG @ 10, nDCG(dcg="exp-log2") @ 3, P @ 5, P(judged_only=True) @ 2, R @ 5, RR,
    RR @ 10, Judged @ 10, Rprec, Bpref, NumRet, NumQ, NumRel, NumRelRet, SetF, SetP(relative=True),
    Success @ 1, IPrec @ 0.5, infAP, Accuracy @ 3, twice,
]
for one in measures:
    show(one, lambda: sorted(map(repr, one.iter_calc(qrels, run))))
    show(one, lambda: one.calc_aggregate(qrels, run))
for given in ([AP], [AP, nDCG @ 10, P @ 5], measures[:-1], {AP, RR @ 10}, (m for m in (AP, NumRet)), []):
    for form in (lambda table, make: table, tuples, frame):
        q, r = form(qrels, Qrel), form(run, ScoredDoc)
        show("calc", lambda: calc(list(given), q, r))
show("order", lambda: list(iter_calc(measures[:-1], qrels, run)))
for bad in (
    lambda: calc([AP(nosuch=1)], qrels, run),
    lambda: calc([AP], {1: {"a": 1}}, run),
    lambda: calc([AP], {"1": {"a": 0.5}}, run), lambda: calc([AP], frame(run, ScoredDoc), run),
    lambda: calc([AP], qrels, 3), lambda: calc([AP], None, run), lambda: calc([AP], qrels, [("1", "a", 1.0)]),
    lambda: calc([AP], {}, run), lambda: calc([AP], qrels, {}), lambda: calc([AP], qrels, []),
):
    show("edge", bad)
for given in ([AP], [AP, RR @ 10]):
    show("evaluator", lambda: type(evaluator(given, qrels)).__name__)
    show("inputs", lambda: (sorted(run_inputs(given)), sorted(qrel_inputs(given))))
for text in (
    "AP", "nDCG@10", "P(rel=2)@5", "nDCG(dcg='exp-log2')@20", "ERR@20", "IPrec@0.1", "RBP(p=0.8)",
    "Judged@10", "nDCG(gains={1:5, 2:10})@10", " AP", "AP@-1", "AP@", "AP AP", "AP()()", "AP(rel=f(1))",
    "AP(1)", "3", "", "x = 1", "MAP", "SetF(beta=0.5)", "\u03b1_nDCG@10", "AP@None", "AP(rel=True)", "AP@'x'",
    "not AP", "AP.x", "NoSuch", "NoSuch@3",
):
    show(text, lambda: (parse_measure(text), parse_measure(text).params))
for text in (
    "map", "P_10", "P.5,10", "P", "ndcg_cut_10", "ndcg_cut", "recip_rank", "official", "set_F_0.5", "infAP",
    "iprec_at_recall", "success_1", "num_ret", "map_10", "gm_map", "nosuch", "", "Rprec", "recall_1000",
    "set",
):
    show(text, lambda: parse_trec_measure(text))
"""


@pytest.mark.slow
def test_calls_with_measures_of_ir_measures_only_keep_their_exact_output():
    # Newer Python versions warn of calls inside ir-measures.
    before, after = (python(UPSTREAM_ONLY, which, options=("-W", "ignore")) for which in ("without", "with"))
    assert len(before.splitlines()) > 120
    assert after.splitlines() == before.splitlines()


# -------------------------------------------------------------------------------- ir_measures' command line


@pytest.fixture
def command_line(monkeypatch, capsys, tmp_path):
    """Call ``ir_measures qrels run ...`` and return its output."""
    from ir_measures.__main__ import main_cli

    places = [str(forms.path(kind, rows, tmp_path)) for kind, rows in forms.ROWS.items()]

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["ir_measures", *places, *arguments])
        main_cli()
        return capsys.readouterr().out.splitlines()

    return call


def expected_lines(asked):
    found = ir_measures.calc_aggregate(asked, TABLE_QRELS, TABLE_RUN)
    return [f"{measure}\t{value:.4f}" for measure, value in found.items()]


def test_command_line_of_ir_measures_reads_the_names(command_line):
    asked = ["P-measure@1000", "nDCG@10", "Q", "P+@10", "NCU(stop='rb',gamma=0.5)@10", "AP"]
    assert command_line(*asked) == expected_lines(asked)
    assert command_line("P-measure@1000 nDCG@10", "Q") == expected_lines(["P-measure@1000", "nDCG@10", "Q"])


def test_command_line_of_ir_measures_takes_the_provider(command_line):
    asked = ["Q", "GAP@3", "AP", "nDCG@10", "NumRet"]
    assert command_line("--provider", "ir_graded", *asked) == expected_lines(asked)
    with pytest.raises(ValueError, match=r"NumRel\(rel=2\)"):
        command_line("--provider", "ir_graded", "Q", "NumRel(rel=2)")


def test_command_line_of_ir_measures_prints_topics(command_line):
    lines = [line.split("\t") for line in command_line("-q", "P-measure@3", "AP")]
    values, means = forms.results(["P-measure@3", "AP"], TABLE_QRELS, TABLE_RUN)
    assert {(name, topic): value for topic, name, value in lines if topic != "all"} == {
        place: f"{value:.4f}" for place, value in values.items()
    }
    assert lines[-2:] == [["all", name, f"{means[name]:.4f}"] for name in ("P-measure@3", "AP")]


def test_command_line_of_ir_measures_rejects_unknown_names(command_line, capsys):
    with pytest.raises(SystemExit):
        command_line("Q", "NoSuch", "P-measure@@")
    assert capsys.readouterr().err.splitlines() == [
        "error parsing measures",
        "unknown measure: NoSuch",
        "syntax error: P-measure@@",
    ]


# ------------------------------------------------------------------------------------------ evaluators

OTHER_RUN = {"101": {"2": 9.0, "9": 1.0}, "105": {"5": 2.0, "x": 3.0}, "7": {"z": 1.0}}


def as_text(results):
    """Return results in a form that can be compared even if they hold NaN."""
    return repr(results.aggregated), sorted(map(repr, results.per_query))


@pytest.mark.slow
@pytest.mark.parametrize("measures", [ALL, [*ALL, AP, nDCG @ 10, RR @ 10]], ids=["ours", "mixed"])
def test_an_evaluator_keeps_no_state_of_a_run(measures):
    qrels = TABLE_QRELS
    evaluator = ir_measures.evaluator(measures, qrels)
    runs = [
        TABLE_RUN,
        OTHER_RUN,
        {},
        forms.arrow("run", forms.RUN),
        forms.tuples("run", helpers.rows_of(OTHER_RUN)),
    ]
    first = [as_text(evaluator.calc(run)) for run in runs]
    assert first[0] == first[3] != first[1] == first[4]
    assert [as_text(evaluator.calc(run)) for run in reversed(runs)] == first[::-1]
    assert [as_text(ir_measures.calc(measures, qrels, run)) for run in runs] == first


def test_a_failed_run_leaves_an_evaluator_unchanged():
    evaluator = ir_measures.evaluator(["Q", AP], QRELS)
    before = as_text(evaluator.calc(RUN))
    for wrong in ({"1": {"a": float("nan")}}, 3, forms.tuples("run", [("1", "a", 1.0), ("1", "a", 2.0)])):
        with pytest.raises(errors.InputError):
            evaluator.calc(wrong)
    assert as_text(evaluator.calc(RUN)) == before


def test_later_changes_of_the_qrels_do_not_reach_an_evaluator():
    qrels = {topic: dict(docs) for topic, docs in QRELS.items()}
    evaluator = ir_measures.evaluator(["Q", AP], qrels)
    before = as_text(evaluator.calc(RUN))
    qrels["1"]["x"] = 3
    qrels["9"] = {"a": 1}
    assert as_text(evaluator.calc(RUN)) == before


@pytest.mark.parametrize("used", [False, True])
def test_mixed_evaluators_pickle(used):
    measures = ["Q", nDCG, AP @ 3, Judged @ 10, infAP]
    for qrels in (TABLE_QRELS, forms.numbered(int, forms.pandas())("qrels", forms.QRELS)):
        evaluator = ir_measures.evaluator(measures, qrels)
        expected = as_text(evaluator.calc(TABLE_RUN)) if used else None
        for made in (pickle.loads(pickle.dumps(evaluator)), copy.deepcopy(evaluator)):  # noqa: S301  (made here)
            assert made.measures == evaluator.measures
            assert list(made.qrel_qids) == list(evaluator.qrel_qids)
            assert as_text(made.calc(TABLE_RUN)) == (expected or as_text(evaluator.calc(TABLE_RUN)))


@pytest.mark.slow
def test_an_evaluator_pickles_into_another_process(tmp_path):
    """The other process hashes strings differently, in Python and in Polars."""
    evaluator = ir_measures.evaluator([*ALL, nDCG], TABLE_QRELS)
    runs = [TABLE_RUN, forms.tuples("run", forms.RUN)]
    for run in runs:
        evaluator.calc(run)
    place = tmp_path / "evaluator.pickle"
    place.write_bytes(pickle.dumps((evaluator, runs)))
    output = python(
        """
        import pickle, polars, sys
        usual = polars.Series.hash
        polars.Series.hash = lambda series: usual(series, seed=77)
        evaluator, runs = pickle.loads(open(sys.argv[1], "rb").read())
        for run in runs:
            print(evaluator.calc_aggregate(run))
        """,
        place,
        options=("-W", "error", "-W", "ignore::ResourceWarning"),
        PYTHONHASHSEED="77",
    )
    assert output.splitlines() == [str(evaluator.calc_aggregate(run)) for run in runs]


@pytest.mark.slow
@pytest.mark.parametrize("measures", [ALL, ["Q", AP, nDCG @ 10, RR @ 10]], ids=["ours", "mixed"])
def test_an_evaluator_can_be_shared_by_threads(measures):
    qrels = {str(topic): {f"d{doc}": (doc * topic) % 4 for doc in range(20)} for topic in range(30)}
    runs = [
        {topic: {f"d{doc}": (doc * seed) % 17 / 4 for doc in range(30)} for topic in qrels}
        for seed in range(1, 17)
    ]
    # Half of the runs are tables, whose judged documents are found in another way.
    given = [run if at % 2 else helpers.frame("run", helpers.rows_of(run)) for at, run in enumerate(runs)]
    expected = [as_text(ir_measures.calc(measures, qrels, run)) for run in runs]
    assert len({text for text, _ in expected}) > len(runs) / 2
    evaluator = ir_measures.evaluator(measures, qrels)
    together = threading.Barrier(8)

    def score(at):
        if at < 8:
            together.wait()
        return as_text(evaluator.calc(given[at]))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(score, range(len(given)))) == expected


# ---------------------------------------------------------------------------------------------- topics


@pytest.mark.parametrize("measures", [["Q", "nERR@3"], ["Q", AP, RR @ 10]], ids=["ours", "mixed"])
@pytest.mark.parametrize("ids", [[1, 2, 5], [1.0, 2.0, 5.0], ["1", "2", "5"]])
def test_metrics_carry_the_ids_of_a_frame(measures, ids):
    qrels = pd.DataFrame({"query_id": ids, "doc_id": ["a", "b", "c"], "relevance": [1, 2, 1]})
    for run in (
        pd.DataFrame({"query_id": ids[:2], "doc_id": ["a", "b"], "score": [1.0, 2.0]}),
        {"1": {"a": 1.0}, "2": {"b": 2.0}},
    ):
        metrics = ir_measures.calc(measures, qrels, run).per_query
        assert sorted((str(metric.measure), metric.query_id) for metric in metrics) == sorted(
            (str(measure), topic) for measure in measures for topic in ids
        )
        assert {type(metric.query_id) for metric in metrics} == {type(ids[0])}
        for metric in metrics:
            assert metric.value == (0 if metric.query_id == ids[2] else 1)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["dicts", "pandas", "polars", "path"])
@pytest.mark.parametrize("measures", [ALL, ["Q", AP, NumRet, RR @ 10]], ids=["ours", "mixed"])
def test_topics_on_one_side_only_score_zero_or_are_left_out(form, measures, tmp_path):
    make = forms.FORMS[form].make
    run = make("run", [*forms.RUN, ("1000", "9", 1.0)], tmp_path)
    aggregated, per_topic = ir_measures.calc(measures, make("qrels", forms.QRELS, tmp_path), run)
    topics = {"101", "102", "103", "104", "105"}
    for measure in aggregated:
        values = {metric.query_id: metric.value for metric in per_topic if metric.measure == measure}
        assert values.keys() == topics
        assert values["105"] == nothing(measure)
        if measure != NumRet:
            assert aggregated[measure] == pytest.approx(sum(values.values()) / 5, abs=1e-12)
            assert aggregated[measure] > 0


@pytest.mark.parametrize(
    "run", [{}, iter([]), pd.DataFrame(columns=["query_id", "doc_id", "score"]), {"1": {}}, {"9": {"a": 1.0}}]
)
def test_runs_without_shared_topics_score_zero(run):
    for measures in (ALL, ["Q", AP, RR @ 10, P @ 5], [AP]):
        aggregated, per_topic = ir_measures.calc(measures, QRELS, run)
        assert all(value == nothing(measure) for measure, value in aggregated.items())
        assert all(metric.value == nothing(metric.measure) for metric in per_topic)
        assert sorted({metric.query_id for metric in per_topic}) == ["1", "2"]
        assert len(per_topic) == 2 * len(aggregated)


@pytest.mark.parametrize("qrels", [{}, [], pd.DataFrame(columns=["query_id", "doc_id", "relevance"])])
@pytest.mark.parametrize("run", [RUN, {}], ids=["run", "empty run"])
def test_empty_qrels_give_no_topics_and_the_mean_of_ir_measures(qrels, run):
    usual = ir_measures.calc([AP], {}, run)
    assert usual.per_query == []
    for measures in (ALL, ["Q", AP, RR @ 10]):
        aggregated, per_topic = ir_measures.calc(measures, qrels, run)
        assert per_topic == []
        assert {repr(value) for value in aggregated.values()} == {repr(usual.aggregated[AP])}


@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_values_of_other_providers_for_unjudged_topics_are_dropped():
    leaking = ir_measures.define_byquery(lambda _, run: float(len(run)), name="Length")
    alone = list(ir_measures.iter_calc([leaking], QRELS, RUN))
    assert "3" in {metric.query_id for metric in alone}
    aggregated, per_topic = ir_measures.calc(["Q", leaking], QRELS, RUN)
    lengths = {metric.query_id: metric.value for metric in per_topic if metric.measure == leaking}
    assert lengths == {"1": 3, "2": 0}
    assert aggregated[leaking] == 1.5
    scores = ir_graded.evaluate(["Q", leaking], QRELS, RUN)
    assert scores.values[1].tolist() == [[3, 0]]


def test_topics_without_judged_or_relevant_documents_score_zero():
    qrels = {"1": {"a": 1}, "2": {}, "3": {"a": 0, "b": -1}}
    run = {"1": {"a": 1.0}, "2": {"a": 1.0}, "3": {"b": 2.0, "a": 1.0}}
    for metric in ir_measures.iter_calc([*ALL, "AP"], qrels, run):
        assert metric.value == nothing(metric.measure) or metric.query_id == "1"
    assert ir_measures.calc_aggregate(["Q"], qrels, run) == {Q: pytest.approx(1 / 3, abs=1e-12)}
