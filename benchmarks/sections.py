"""The sections of the report: each function measures one subject and writes its tables."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import peers
import stages
import workloads
from ir_measures.providers import registry
from report import Report, milliseconds
from timing import Figure, in_turn, output_of, process
from workloads import Collection, Store, chunks

import ir_graded

Calls = dict[str, Callable[[], object]]

_FOUR_DECIMALS = 5.1e-5
_CLOSE = 1e-9
_ROUNDING = 1e-12
#: torchmetrics computes in float32.
_SINGLE = 1e-5
#: Measures whose extremes come from the optimistic and pessimistic orders; gains are the levels.
_BETWEEN = ["Q", "O-measure", "NCU(stop='u')", "nERR@10", "AP", "nDCG@10", "RR", "P@10"]
_NO_TREC_EVAL = "- trec_eval left out: the environment variable TREC_EVAL names no program."


@dataclass(frozen=True)
class Run:
    """The options of the command line.

    Attributes:
        store: makes and keeps the data.
        report: takes the results.
        repeat: the number of counted repetitions.
        runs: a folder of real runs (or a file of judged documents), with ``qrels``; None for generated ones.
        qrels: the qrels of the real runs.
        large: whether to measure the file of 70 million lines.
    """

    store: Store
    report: Report
    repeat: int
    runs: Path | None
    qrels: Path | None
    large: bool

    def measure(self, calls: Calls) -> dict[str, Figure]:
        """Print the figures of calls in turn, as a table."""
        figures = in_turn(self.repeat, calls)
        self.report.table(figures)
        return figures


def _trec_eval(qrels: Path, runs: list[Path]) -> Calls:
    commands = [peers.trec_eval_command(qrels, run) for run in runs]
    each = "" if len(runs) == 1 else ", a process per run"
    return {f"trec_eval, map and ndcg_cut.10{each}": partial(process, *commands)} if commands[0] else {}


def files(run: Run) -> None:
    """Measure run files, as whole processes and in one process."""
    store, report = run.store, run.report
    qrels, plain = store.files("few", store.few)
    forms = store.forms()
    trec_eval = _trec_eval(qrels, [plain])
    size = f"{store.few.size}, {plain.stat().st_size / 1e6:,.1f} MB, one or two judged a topic"

    report.title(f"Files: {size}; whole processes")
    ours = partial(peers.ir_graded_command, qrels)
    run.measure(
        {
            "ir_graded, 10 measures": lambda: process(ours(plain)),
            "ir_graded, 1 measure": lambda: process(ours(plain, measures=["AP"])),
            "ir_graded, 16 measures": lambda: process(ours(plain, measures=peers.SIXTEEN)),
            **trec_eval,
            "ir_measures, AP and nDCG@10": lambda: process(peers.ir_measures_command(qrels, plain)),
            **{
                f"ir_graded, 10 measures, {name}": partial(process, ours(path))
                for name, path in forms.items()
            },
        }
    )
    if not trec_eval:
        report.write(_NO_TREC_EVAL)
    scores = ir_graded.evaluate(peers.TEN, qrels, plain)
    for name, path in forms.items():
        same = ir_graded.evaluate(peers.TEN, qrels, path).values.tobytes() == scores.values.tobytes()
        report.check(f"all scores from the file with {name} are identical to the last bit", same)
    _check_printed(report, peers.trec_eval_command(qrels, plain), scores, "trec_eval prints")
    _check_printed(report, peers.ir_measures_command(qrels, plain), scores, "ir_measures prints")

    report.title("The same file in process", 3)
    run.measure(
        {
            "ir_graded.evaluate, 10 measures": lambda: ir_graded.evaluate(peers.TEN, qrels, plain),
            "ir_graded.evaluate, 1 measure": lambda: ir_graded.evaluate(["AP"], qrels, plain),
            "Polars reading the three columns": lambda: peers.polars_three_columns(plain),
        }
    )


def _check_printed(report: Report, command: list[str] | None, scores: Any, what: str) -> None:
    """A peer prints two lines, which end in AP and nDCG@10."""
    if command is None:
        return
    printed = [float(line.split()[-1]) for line in output_of(command).splitlines()]
    own = scores.mean()[[*map(str, peers.TWO)]].to_numpy()[0]
    report.check(f"{what} our AP and nDCG@10", bool(np.allclose(printed, own, rtol=0, atol=_FOUR_DECIMALS)))


def frames(run: Run) -> None:
    """Compare DataFrames with ir_measures."""
    few = run.store.few
    qrels, arrow = few.qrels_frame(), few.pandas()
    objects = arrow.astype({"query_id": object, "doc_id": object})
    evaluator = peers.ir_graded_evaluator(qrels)
    run.report.title(f"DataFrames: {few.size}")
    run.measure(
        {
            "ir_graded, 10 measures, pandas with Arrow strings": lambda: evaluator.calc_aggregate(arrow),
            "ir_graded, 10 measures, pandas with object columns": lambda: evaluator.calc_aggregate(objects),
            "ir_graded, 10 measures, Polars": lambda: evaluator.calc_aggregate(few.polars),
            "ir_graded.evaluate, 10 measures, Arrow strings": lambda: ir_graded.evaluate(
                peers.TEN, qrels, arrow
            ),
            "ir_measures.calc_aggregate, AP and nDCG@10, Arrow strings": lambda: ir_measures.calc_aggregate(
                peers.TWO, qrels, arrow
            ),
        }
    )
    found = [evaluator.calc_aggregate(frame) for frame in (arrow, objects, few.polars)]
    run.report.check("the three kinds of frames give the same scores", found[0] == found[1] == found[2])


def dicts(run: Run) -> None:
    """Compare dicts of dicts with pytrec_eval, ranx and pyNTCIREVAL."""
    _dicts(run, "MS MARCO-like, one or two judged a topic", run.store.few, run.repeat, 5)
    _dicts(run, "Robust-like, 1,200 judged a topic", run.store.many, 4 * run.repeat, 2)

    many = run.store.many
    for ties in (0.01, 0.05, 0.1, 0.5, 1.0):
        qrels, scored = many.shuffled(ties)
        ours, pytrec_eval = peers.ir_graded_evaluator(qrels), peers.pytrec_eval_dicts(qrels)
        run.report.title(f"The same in random order, {ties:.0%} of the documents tied", 3)
        calls = {
            "ir_graded, 10 measures": partial(ours.calc_aggregate, scored),
            "pytrec_eval, map and ndcg_cut_10": partial(pytrec_eval, scored),
        }
        run.report.table(in_turn(4 * run.repeat, calls))


def _dicts(run: Run, title: str, collection: Collection, repeat: int, topics: int) -> None:
    report, qrels, scored = run.report, collection.qrels, collection.dicts()
    report.title(f"Dicts of dicts: {collection.size}, {title}")
    ours, pytrec_eval = peers.ir_graded_evaluator(qrels), peers.pytrec_eval_dicts(qrels)
    calls: Calls = {
        "ir_graded, 10 measures": lambda: ours.calc_aggregate(scored),
        "pytrec_eval, map and ndcg_cut_10": lambda: pytrec_eval(scored),
        "ir_graded.evaluate, 10 measures, qrels prepared in each call": lambda: ir_graded.evaluate(
            peers.TEN, qrels, scored
        ),
        "pytrec_eval, qrels prepared in each call": lambda: peers.pytrec_eval_dicts(qrels)(scored),
    }
    by_ranx = peers.ranx(qrels, scored)
    calls |= by_ranx
    by_ntcireval = peers.py_ntcireval(qrels, scored, topics if run.store.scale >= 1 else 1)
    calls |= dict([by_ntcireval] if by_ntcireval else [])
    report.table(in_turn(repeat, calls))
    report.write("- The dicts are built topic by topic, in ranked order, as readers of run files build them.")
    if by_ranx:
        seconds = peers.first_use_of_ranx()
        report.write(f"- ranx: its first use took {seconds:.1f} s (importing, compiling), not counted above.")
    else:
        report.write("- ranx is left out: it is not installed.")
    if not by_ntcireval:
        report.write("- pyNTCIREVAL is left out: it is not installed.")
    own, theirs = ours.calc_aggregate(scored), pytrec_eval(scored)
    means = [own[measure] for measure in peers.TWO]
    holds = bool(np.allclose(means, [theirs["map"], theirs["ndcg_cut_10"]], rtol=0, atol=_CLOSE))
    report.check("pytrec_eval's map and ndcg_cut_10 are our AP and nDCG@10", holds)
    report.title("Where the time goes", 3)
    report.grid(*stages.table({"dict of dicts": (qrels, scored)}, repeat))


def arrays(run: Run) -> None:
    """Compare score_arrays and RankingMetric with torchmetrics."""
    report, rng, shape = run.report, np.random.default_rng(0), (run.store.topics(10_000), 1_000)
    relevance = rng.choice([0] * 9 + [1, 2, 3], size=shape)
    scores = rng.random(shape, dtype=np.float32)
    measures, topic = peers.OF_ARRAYS, np.arange(shape[0])
    report.title(f"Arrays: {shape[0]:,} rows x 1,000 documents; {', '.join(measures)}")

    def metric() -> dict[str, float]:
        found: dict[str, float] = ir_graded.RankingMetric(measures)(scores, relevance, topic)
        return found

    ours = partial(ir_graded.score_arrays, measures, relevance, scores)
    theirs = peers.torchmetrics(relevance, scores)
    run.measure({"score_arrays, these five": ours, "RankingMetric, these five": metric, **theirs})
    means = ours().mean(axis=1)
    report.check(
        "RankingMetric has these values", np.allclose([*metric().values()], means, rtol=0, atol=_CLOSE)
    )
    if not theirs:
        report.write("- torchmetrics is left out: it is not installed.")
    for call in theirs.values():
        found = call()
        same = np.allclose(found, means[: len(found)], rtol=0, atol=_SINGLE)
        report.check(f"torchmetrics has our {', '.join(measures[: len(found)])}", bool(same))


def intents(run: Run) -> None:
    """Compare measures over five intents with nDCG and with alpha_nDCG of pyndeval."""
    report, store, number = run.report, run.store, 5
    some = store.some
    qrels, scored = some.by_intent(number), some.dicts()
    run_path = store.files("some", some)[1]
    frame = pd.DataFrame(qrels)
    report.title(f"Intents: {some.size}, 20 judged a topic, {number} intents")
    plain = frame.groupby(["query_id", "doc_id"], as_index=False, sort=False)["relevance"].max()
    wanted = ["D#-nDCG@10", "IA-nDCG@10", "P+Q@10", "I-rec@10"]
    for form, given in {"file": run_path, "Polars frame": some.polars, "dict of dicts": scored}.items():
        calls: Calls = {
            f"nDCG@10, {form}": partial(_by_highest_level, "nDCG@10", frame, given),
            f"nDCG@10, {form}, qrels without intents": partial(ir_graded.evaluate, "nDCG@10", plain, given),
        }
        calls |= {f"{name}, {form}": partial(ir_graded.evaluate, name, frame, given) for name in wanted}
        calls[f"the four of them, {form}"] = partial(ir_graded.evaluate, wanted, frame, given)
        run.measure(calls)

    report.title("The same with qrels prepared, beside pyndeval", 3)
    ours = peers.ir_graded_evaluator(frame, wanted[:1])
    calls = {"ir_graded, D#-nDCG@10, dict of dicts": partial(ours.calc_aggregate, scored)}
    rows = [(topic, doc, score) for topic, docs in scored.items() for doc, score in docs.items()]
    theirs = peers.pyndeval(qrels, rows, "alpha-nDCG@10")
    recall = peers.pyndeval(qrels, rows, "strec@10")
    if theirs is not None:
        calls["pyndeval, alpha-nDCG@10, list of tuples"] = theirs
    run.measure(calls)
    if recall is None:
        report.write("- pyndeval is left out: it is not installed.")
    else:
        found = ir_graded.evaluate("I-rec@10", frame, scored)
        own = dict(zip(found.query_ids, found.values[0, 0], strict=True))
        same = all(abs(own[topic] - scores["strec@10"]) < _CLOSE for topic, scores in recall().items())
        report.check("pyndeval's strec@10 is our I-rec@10", same)


def _by_highest_level(measures: Any, qrels: Any, given: Any) -> Any:
    """Score qrels with intents, without the warning that the highest level of a document counts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ir_graded.evaluate(measures, qrels, given)


#: Measures of ir-measures by the provider that it asks for them.
_BY_PROVIDER = {
    "pyndeval": [
        *("alpha_DCG@20", "alpha_nDCG@20", "ERR_IA@20", "nERR_IA@20", "NRBP", "nNRBP", "AP_IA", "StRecall@20")
    ],
    "cwl_eval": [
        *("SDCG(max_rel=3)@1000", "INSQ(max_rel=3)", "INST(max_rel=3)", "BPM(max_rel=3)@1000"),
        *("NERR8(max_rel=3)@1000", "NERR9(max_rel=3)@1000", "NERR10(max_rel=3)", "NERR11(max_rel=3)"),
    ],
    "compat": ["Compat"],
}


def classics(run: Run) -> None:
    """Compare measures of ir-measures with the providers that it asks for them, and rank-biased overlap."""
    report, collection = run.report, Collection.of(50, 1_000, (300, 300), 70, seed=3)
    scored, intents = collection.dicts(), collection.by_intent(4)
    report.title(f"Measures of other providers: {collection.size}; qrels prepared in each call")
    for name, wanted in _BY_PROVIDER.items():
        provider, qrels = registry[name], intents if name == "pyndeval" else collection.qrels
        if not provider.is_available():
            report.write(f"- {name} is left out: it is not installed.")
            continue
        measures = [*map(ir_measures.parse_measure, wanted)]
        calls: Calls = {
            f"ir_graded, {len(wanted)} of {name}": partial(_calculated, "ir_graded", measures, qrels, scored),
            f"ir_measures by {name}": partial(_calculated, name, measures, qrels, scored),
        }
        run.measure(calls)
    one, other = ({"1": {f"d{n}": float(n * step % 1009) for n in range(1_000)}} for step in (17, 23))
    matrix = {str(ties): collection.shuffled(ties)[1] for ties in (0.0, 0.05, 0.1, 0.2, 0.5, 1.0)}
    report.title("Rank-biased overlap", 3)
    run.measure({"two lists of 1,000": lambda: ir_graded.rbo(one, other)})
    run.measure({"six runs, 50 topics of 1,000": lambda: ir_graded.rbo_matrix(matrix)})


def _calculated(provider: str, measures: list[Any], qrels: Any, scored: Any) -> dict[Any, float]:
    found: dict[Any, float] = registry[provider].evaluator(measures, qrels).calc_aggregate(scored)
    return found


def runs(run: Run) -> None:
    """Score many runs of one collection, as submitted to a track."""
    report = run.report
    report.title("Many runs")
    qrels, paths = _submitted(run, 100)
    if not peers.trec_eval_command(qrels, paths[0]):
        report.write(_NO_TREC_EVAL)
    for count in sorted({min(count, len(paths)) for count in (1, 10, 100)}):
        some = paths[:count]
        size = sum(path.stat().st_size for path in some)
        report.title(f"{count} of {len(paths)} runs, {size / 1e6:,.1f} MB", 3)
        run.measure(
            {
                "ir_graded, 10 measures, whole process": partial(
                    process, peers.ir_graded_command(qrels, *some)
                ),
                **_trec_eval(qrels, some),
            }
        )
        run.measure(
            {
                "ir_graded.evaluate, 10 measures, in process": partial(
                    ir_graded.evaluate, peers.TEN, qrels, [*some], progress=False
                ),
                "pytrec_eval, map and ndcg_cut_10, in process": peers.pytrec_eval_files(qrels, some),
                "ir_measures, AP and nDCG@10, in process": peers.ir_measures_files(qrels, some),
            }
        )
    own = ir_graded.evaluate(peers.TWO, qrels, [*some], progress=False).values.mean(axis=2).T
    theirs = peers.ir_measures_files(qrels, some)()
    wanted = [[scores[measure] for measure in peers.TWO] for scores in theirs]
    report.check(
        "ir_measures' scores of these runs are ours", bool(np.allclose(own, wanted, rtol=0, atol=_CLOSE))
    )


def _submitted(run: Run, number: int) -> tuple[Path, list[Path]]:
    """Return the qrels and the runs that the command line names, or as many generated ones."""
    if run.runs is None or run.qrels is None:
        run.report.write(
            "- Made up, with the properties of submitted runs; --runs FOLDER --qrels FILE measures others."
        )
        return run.store.submissions(number, run.store.topics(50))
    paths = run.store.real_runs(run.runs)
    if not run.runs.is_dir():
        run.report.write(
            "- Made from judged documents and their ranks; generated documents fill the other ranks to 1,000."
        )
    return run.store.plain(run.qrels), paths[: max(3, round(len(paths) * min(1, run.store.scale)))]


def ties(run: Run) -> None:
    """Compare means over the orders of tied documents with the order by id."""
    share = 0.05
    for name, collection in (("few", run.store.few), ("many", run.store.many)):
        tied = collection.tied(share)
        qrels, path = run.store.files(f"{name}-tied", tied)
        run.report.title(f"Ties: {tied.size}, {name} judged, {share:.0%} of the documents tied")
        dicts = tied.dicts()
        forms: dict[str, Any] = {"file": path, "dict of dicts": dicts}
        for form, given in forms.items():
            run.measure(
                {
                    f"ir_graded.evaluate, 10 measures, {form}, by id": partial(
                        ir_graded.evaluate, peers.TEN, qrels, given
                    ),
                    **{
                        f"the same, {order}": partial(ir_graded.evaluate, peers.TEN, qrels, given, ties=order)
                        for order in ("expected", "optimistic", "pessimistic")
                    },
                }
            )
        low, mean, high = (
            ir_graded.evaluate(_BETWEEN, qrels, dicts, ties=order).values
            for order in ("pessimistic", "expected", "optimistic")
        )
        between = (low <= mean + _ROUNDING) & (mean <= high + _ROUNDING)
        run.report.check("expected scores lie between pessimistic and optimistic ones", bool(between.all()))


def unjudged(run: Run) -> None:
    """Measure intervals over the levels of unjudged documents, of many runs, as whole processes."""
    run.report.title("Unjudged documents")
    qrels, paths = _submitted(run, 126)
    for count in sorted({min(count, len(paths)) for count in (1, 10, len(paths))}):
        some = paths[:count]
        run.report.title(f"{count} of {len(paths)} runs, {', '.join(peers.UNJUDGED)}", 3)
        plain = [*peers.ir_graded_command(qrels, *some, measures=peers.UNJUDGED), "--quiet"]
        samples = ["--unjudged", "intervals", "--n-samples", str(peers.SAMPLES)]
        run.measure(
            {
                "ir_graded evaluate": partial(process, plain),
                f"with intervals of {peers.SAMPLES} samples": partial(process, [*plain, *samples]),
            }
        )
    found = [
        ir_graded.score_intervals(peers.UNJUDGED, qrels, given, n_samples=10)
        for given in (paths[:3], dict(zip(map(str, range(3)), paths[:3], strict=True)))
    ]
    same = all(np.array_equal(getattr(found[0], end), getattr(found[1], end)) for end in ("low", "high"))
    run.report.check("intervals do not depend on the names of the runs", same)

    # As from files of Million Query tracks: every fifth judgment, whatever its level.
    sample = ir_graded.read_qrels(qrels)[::5].assign(iprob=0.2)
    run.report.title(f"{len(paths)} runs, a fifth of the judgments, in process", 3)
    read = {path.name: ir_graded.read_run(path) for path in paths}
    figures = run.measure(
        {
            "ir_graded.evaluate": partial(_as_complete, sample, read),
            "ir_graded.score_estimates": partial(ir_graded.score_estimates, peers.SAMPLED, sample, read),
        }
    )
    plain_seconds, ours = (one.seconds for one in figures.values())
    run.report.write(
        f"- score_estimates takes {ours / plain_seconds:.1f} times as long as evaluate; wanted: at most 3."
    )


def _as_complete(sample: pd.DataFrame, read: Any) -> Any:
    """Score a sample of the judgments, without the warning that it is one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir_graded.SampledJudgmentsWarning)
        return ir_graded.evaluate(peers.SAMPLED, sample, read, progress=False)


def large(run: Run) -> None:
    """Measure a file that is larger than the caches, and possibly larger than the memory."""
    run.report.title("One large file")
    if not run.large:
        run.report.write("- Left out: give --large.")
        return
    qrels, path, lines = run.store.large()
    run.report.write(f"{lines:,} lines, {path.stat().st_size / 1e9:,.2f} GB; whole processes", "")
    ours = partial(peers.ir_graded_command, qrels, path)
    run.measure(
        {
            "ir_graded, 10 measures": lambda: process(ours()),
            "ir_graded, 1 measure": lambda: process(ours(measures=["AP"])),
        }
    )


def assignments(run: Run) -> None:
    """Compare score_answers with json.loads of the lines of its files."""
    topics = run.store.topics(301)
    files, listed = workloads.assignments(run.store.folder, topics)
    lines = [line for file in files for line in file.read_bytes().splitlines()]
    score = partial(ir_graded.score_answers, ["vital_score", "all_score"], files)
    run.report.title(f"Answers: 3 runs x {topics} topics, 20 nuggets an answer")
    figures = run.measure(
        {
            "json.loads of the lines": lambda: [*map(json.loads, lines)],
            "score_answers": score,
            "score_answers, lists of nuggets": partial(score, nuggets=listed),
        }
    )
    least, ours = (one.seconds for one in [*figures.values()][:2])
    run.report.write(
        f"- score_answers takes {ours / least:.1f} times as long as json.loads; wanted: at most 3."
    )
    same = (score().values == score(nuggets=listed).values).all()
    run.report.check("all nuggets are assigned, so lists of them change no score", bool(same))


def growth(run: Run) -> None:
    """Measure time against sizes and the number of measures, and the time of each stage."""
    report, store = run.report, run.store
    topics = store.topics(1_000)
    base = {"topics": topics, "depth": 1_000, "judged": 20}
    varied = {
        "topics": sorted({max(2, topics // 4), topics, 4 * topics}),
        "depth": [100, 1_000, 4_000],
        "judged": [2, 20, 200, 2_000],
    }
    report.title(f"Growth: {topics:,} topics x 1,000 documents x 20 judged, 10 measures, or as it says")
    points = [
        (f"{name}: {value:,}", peers.TEN, base | {name: value}) for name in varied for value in varied[name]
    ]
    points += [(f"measures: {count}", peers.SIXTEEN[:count], base) for count in (1, 2, 4, 8, 16)]
    rows = [_growing(run, name, measures, **sizes) for name, measures, sizes in points]
    report.grid(["", "file, ms", "Polars frame, ms", "dict of dicts, ms"], rows)

    report.title("Where the time goes: one thread, milliseconds", 3)
    few, many = store.few, store.many
    qrels, path = store.files("few", few)
    robust_qrels, robust = store.files("many", many)
    forms = {
        "MS MARCO-like, file": (qrels, path),
        "MS MARCO-like, Polars frame": (few.qrels_frame(), few.polars),
        "MS MARCO-like, dict of dicts": (few.qrels, few.dicts()),
        "Robust-like, file": (robust_qrels, robust),
        "Robust-like, dict of dicts": (many.qrels, many.dicts()),
    }
    report.grid(*stages.table(forms, run.repeat))


def _growing(run: Run, name: str, measures: list[str], topics: int, depth: int, judged: int) -> list[str]:
    collection = Collection.of(topics, depth, (judged, judged), max(1, judged // 2), seed=3)
    _, path = run.store.files(f"growth-{judged}", collection)
    evaluator = peers.ir_graded_evaluator(collection.qrels, measures)
    forms: list[Any] = [path, collection.polars, collection.dicts()]
    calls: Calls = {str(number): partial(evaluator.calc_aggregate, form) for number, form in enumerate(forms)}
    return [name, *map(milliseconds, in_turn(run.repeat, calls).values())]


def start(run: Run) -> None:
    """Measure the cost of importing."""
    imports = {
        "import ir_measures": "import ir_measures",
        "import ir_measures, ir_graded": "import ir_measures, ir_graded",
        "import pandas": "import pandas",
    }
    run.report.title("Start: whole processes")
    calls: Calls = {name: partial(process, [sys.executable, "-c", code]) for name, code in imports.items()}
    figures = list(in_turn(2 * run.repeat, calls).items())
    run.report.table(dict(figures))
    added = figures[1][1].seconds - figures[0][1].seconds
    run.report.write(f"- import ir_graded adds {added:.3f} s to import ir_measures.")


def answers(run: Run) -> None:
    """Compare quotes, nuggets and budgets with the least that they can take."""
    texts, quotes = workloads.quotes(run.store.scale)
    size = sum(map(len, texts.values()))
    run.report.title(f"Quotes: {len(quotes)} in {size:,} characters")
    changed = quotes.assign(quote=quotes["quote"].str.replace(r"\s", " \n", regex=True))
    pairs = [*zip(quotes["doc_id"], quotes["quote"], strict=True)]
    find = partial(ir_graded.passages.find_quotes, texts)
    run.measure(
        {
            "str.find": lambda: [texts[doc_id].find(quote) for doc_id, quote in pairs],
            "find_quotes, every blank changed": partial(find, changed),
            "find_quotes, all differences ignored": partial(
                find, changed, ignore=("whitespace", "punctuation", "case")
            ),
            "find_quotes in all texts": partial(find, changed.drop(columns="doc_id")),
        }
    )
    same = (find(changed).qrels[["start", "at"]].nunique(axis=1) == 1).all()
    run.report.check("all quotes are found at their places", bool(same))

    topics = run.store.topics(472)
    run.report.title(f"Nuggets and budgets: {topics} topics x 20 chunks")
    qrels, ranked = chunks(topics)
    names = ["CharR@5", "NuggetR@5", "U(of='characters')", "U(of='nuggets')"]
    names += ["CharR(budget=2000)", "CharR(budget=400,unit='tokens')", "NuggetR(budget=2000)"]
    run.measure({name: partial(ir_graded.evaluate, name, qrels, ranked) for name in names})
    run.report.write("- Wanted: NuggetR@5 and U(of='characters') at most 2, a budget of CharR at most 1.3.")
    one = ["NuggetR(partial=True,spans='all')@5", "CharR@5"]
    parts, characters = ir_graded.evaluate(one, qrels.assign(iteration="n"), ranked).values
    run.report.check("NuggetR of one nugget in parts is CharR", bool((parts == characters).all()))


#: The values of ``--only``, in the order in which the sections are measured.
SECTIONS: dict[str, Callable[[Run], None]] = {
    section.__name__: section
    for section in (
        start,
        files,
        frames,
        dicts,
        arrays,
        ties,
        intents,
        answers,
        assignments,
        classics,
        runs,
        unjudged,
        large,
        growth,
    )
}
