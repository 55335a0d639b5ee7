"""Commands that score runs: ``evaluate`` and ``demo``."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import click

import ir_graded  # of which modules of options are imported on use
from ir_graded._utils.text_tables import FORMATS, PAPERS
from ir_graded.analyses.score_intervals import ScoreIntervals, score_intervals
from ir_graded.errors import CoverageWarning
from ir_graded.evaluation.evaluate import ORDERS, evaluate as evaluate_runs
from ir_graded.evaluation.scores import Scores, weighted
from ir_graded.evaluation.tables import Table
from ir_graded.io.run_names import find_run
from ir_graded.meta.topics import weights_of

from . import options
from .output import More, frame_text, leaderboard, show, show_note, written

#: Formats of tables for papers, for messages.
_PAPERS = " or ".join([", ".join([*PAPERS][:-1]), [*PAPERS][-1]])


@click.command()
@options.qrels
@options.runs
@options.measures
@click.option(
    "--unjudged",
    type=click.Choice(["bounds", "intervals", "differences"]),
    help="Show how far unjudged documents could change each score: exact bounds, or intervals from imputed "
    "judgments; or intervals of the differences of all pairs of runs, settled if 0 is outside.",
)
@click.option(
    "--estimates",
    is_flag=True,
    help="Estimate the scores of a completely judged pool from a sample with inclusion probabilities or "
    "strata. The intervals cover the sampling of judgments only, not of topics.",
)
@options.of(score_intervals, "confidence")
@options.of(ScoreIntervals.differences)
@options.scored
@click.option(
    "--baseline",
    metavar="RUN",
    help=f"With -o {_PAPERS}, mark runs that differ from this one; with --unjudged differences, show its "
    "pairs only.",
)
@click.option(
    "--letters", is_flag=True, help=f"With -o {_PAPERS}, mark which runs each run beats, by letters."
)
@options.weights
@options.clusters
@options.save
@click.option(
    "--signature",
    is_flag=True,
    help="Print what the scores were computed from: as a comment (#) above CSV and TSV, below tables, and on "
    "standard error for JSON. LaTeX always has it as a comment.",
)
@options.by_topic
@options.table
def evaluate(  # noqa: PLR0913, PLR0917  # click passes all options
    qrels: str,
    runs: Any,
    measures: tuple[str, ...],
    unjudged: str | None,
    estimates: bool,
    depth: int | None,
    n_samples: int,
    rng: int,
    model: str,
    looks: int,
    intents: str | None,
    nuggets: str | None,
    groups: tuple[str, ...],
    baseline: str | None,
    letters: bool,
    weights: str | None,
    clusters: str | None,
    save: str | None,
    signature: bool,
    by_topic: bool,
    output: str,
    places: int,
    **chosen: Any,
) -> None:
    """Score RUNs against QRELS, best first.

    QRELS and RUNs are files (TREC, NTCIR, CSV, JSON, Parquet and others; text may be compressed by gzip,
    bzip2, zstandard or xz) or ids of ir_datasets, for a RUN of a dataset with scoreddocs. Measures are those
    of this package (see `ir_graded measures`), those of ir-measures, and the names of trec_eval. --depth,
    --model, --n-samples and --seed are options of --unjudged intervals and differences.
    """
    _check_modes()
    read = options.read(measures)
    more: dict[str, More] = {}
    note = ""
    if unjudged == "bounds":
        bounds = ir_graded.score_bounds(read, qrels, runs)
        scores = bounds.scores
        more["upper"] = (bounds.upper, scores.aggregates_of(bounds.upper))
    elif unjudged in {"intervals", "differences"}:
        found = score_intervals(read, qrels, runs, depth=depth, n_samples=n_samples, rng=rng, model=model)
        scores, overall = found.scores, found.overall.swapaxes(1, 2)
        ends = (found.mean_score, found.low, found.high)
        more |= zip(("mean", "low", "high"), zip(ends, overall, strict=True), strict=True)
    elif estimates:
        estimated = ir_graded.score_estimates(read, qrels, runs)
        scores, note = estimated.scores, f"se, low, high (95%): they cover {estimated.covers}."
        ends = (estimated.se, estimated.low, estimated.high)
        overall = estimated.overall[1:].swapaxes(1, 2)
        more |= zip(("se", "low", "high"), zip(ends, overall, strict=True), strict=True)
    else:
        judged = options.judgments(qrels, None, None, groups)
        scores = evaluate_runs(read, judged, runs, intents=intents, nuggets=nuggets, **chosen)
    options.save_scores(scores, save)
    of_topics = None
    if weights is not None:
        of_topics, note = _read_weights(weights, scores, save), f"Means are weighted by {weights}."
        scores = weighted(scores, of_topics)
    if unjudged == "differences":
        labels = ["run_a", "run_b", "measure"]
        frame = found.differences(looks=looks).to_frame()
        if baseline is not None:
            from ir_graded.meta.matrix import number_of

            name = find_run(baseline, dict.fromkeys(scores.runs)) or baseline
            number_of(name, scores.runs, "baseline")
            frame = frame[(frame["run_a"] == name) | (frame["run_b"] == name)]
        frame = frame.set_index(labels)
        text = frame_text(frame, labels, output, places)
    elif baseline is not None or letters or (_is_signed_paper(output) and not (by_topic or more)):
        paper = Table(
            scores,
            baseline=baseline,
            letters=letters,
            digits=places,
            weights=of_topics,
            clusters=clusters,
        )
        text, note = paper.text(output), ""
        if _is_signed_paper(output):
            show(text)
            return
    else:
        text = written(leaderboard(scores, by_topic, more), output, places)
    seed = rng if unjudged in {"intervals", "differences"} else None
    _show_signed(text, scores, seed, output, asked=signature)
    show_note(note, output)


def _is_signed_paper(output: str) -> bool:
    """Return whether a format is one for papers that always holds the signature."""
    return output in PAPERS and PAPERS[output].signed is not None


def _read_weights(path: str, scores: Scores, save: str | None) -> dict[Any, float]:
    """Return the weight of each topic, and warn if the scores were saved."""
    if save is not None:
        text = f"the scores in {save} are without weights; give --weights to commands that read them, too"
        warnings.warn(text, CoverageWarning, stacklevel=1)
    return dict(zip(scores.query_ids, weights_of(scores.query_ids, path).tolist(), strict=True))


_NOT_MEANS = {"-q", "--unjudged", "--estimates"}
_NOT_OF_DOCUMENTS = {"--ranks", "--intents", "--nuggets", "--groups", "--lengths"}
_NOT_OF_DOCUMENTS |= {"--duplicates", "--ignore-identical-ids", "--without-relevant"}
_NOT_OF_DOCUMENTS |= {f"--ties {order}" for order in ORDERS if order != "doc_id"}
_MARKS = (
    f"--baseline and --letters need -o {_PAPERS}, and exclude --by-topic, --unjudged bounds or intervals, "
    "and --estimates; --baseline is also an option of --unjudged differences"
)
#: Options that exclude others (True) or need one of them (False), with the error, in the order of the checks.
_RULES = (
    ("--unjudged", True, {"--estimates"}, "--unjudged and --estimates exclude each other"),
    *(
        (
            *(mode, True, _NOT_OF_DOCUMENTS),
            f"{mode} supports only measures of documents with ties by doc_id: "
            "leave out --ties, --ranks, --intents, --nuggets, --groups, --lengths, "
            "--without-relevant, --ignore-identical-ids and --duplicates",
        )
        for mode in ("--unjudged", "--estimates")
    ),
    ("--beyond raise", False, {"--lengths"}, "--beyond raise needs --lengths"),
    *(
        (
            *(option, False, {"--unjudged intervals", "--unjudged differences"}),
            f"{option} needs --unjudged intervals or differences",
        )
        for option in ("--depth", "--n-samples", "--seed", "--model")
    ),
    ("--looks", False, {"--unjudged differences"}, "--looks needs --unjudged differences"),
    ("--unjudged differences", True, {"-q"}, "--unjudged differences are of means: leave out --by-topic"),
    (
        *("--weights", True, _NOT_MEANS),
        "--weights are of means only: leave out --by-topic, --unjudged and --estimates",
    ),
    (
        *("--clusters", False, {"--baseline", "--letters"}),
        "--clusters are of tests: give --baseline or --letters, or use `ir_graded compare` or `report`",
    ),
    ("--letters", False, {"a table for papers"}, _MARKS),
    ("--baseline", False, {"a table for papers", "--unjudged differences"}, _MARKS),
)


def _check_modes() -> None:
    """Raise UsageError for options of ``evaluate`` that exclude each other, or for a file to write."""
    options.check_written()
    params = click.get_current_context().params
    words = {
        *options.given(*params),
        *(f"--{name} {params[name]}" for name in ("unjudged", "ties", "beyond")),
    }
    if params["output"] in PAPERS and not words & _NOT_MEANS:
        words.add("a table for papers")
    for option, excludes, others, message in _RULES:
        if option in words and bool(words & others) is excludes:
            raise click.UsageError(message)


def _show_signed(text: str, scores: Scores, seed: int | None, output: str, *, asked: bool) -> None:
    """Print a table with the signature of the scores if it is asked for, or if the format always has it."""
    signed = FORMATS[output].signed
    if not asked and not _is_signed_paper(output):
        show(text)
        return
    signature = replace(scores.signature, seed=seed)
    show(signed(text, signature) if signed else text)
    if not signed:
        show_note(str(signature), output, whole=True)


MEASURES = ["P-measure", "Q", "NCU(stop='rb')", "nERR@10", "nDCG@10", "AP"]


@click.command()
def demo() -> None:
    """Evaluate real runs (TREC-COVID round 1) that come with the package, without network access."""
    from ir_graded.data import sample

    covid = sample()
    topics = covid.qrels["query_id"].nunique()
    show(f"TREC-COVID round 1: {len(covid.runs)} runs, {topics} topics, graded qrels\n")
    scores = evaluate_runs(MEASURES, covid.qrels, covid.runs)
    show(written(leaderboard(scores, by_topic=False), "table", 4))
