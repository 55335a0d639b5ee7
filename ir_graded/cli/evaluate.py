"""Commands that score runs: ``evaluate`` and ``demo``."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import click

import ir_graded  # of which modules of options are imported on use
from ir_graded.analyses.score_intervals import score_intervals
from ir_graded.errors import CoverageWarning
from ir_graded.evaluation.evaluate import evaluate as evaluate_runs
from ir_graded.evaluation.scores import Scores, weighted
from ir_graded.evaluation.tables import with_comment
from ir_graded.io.run_names import find_run
from ir_graded.meta.options import weights_of

from . import options
from .output import FORMATS, Leaderboard, More, frame_text, show, show_note


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
@options.scored
@click.option(
    "--baseline",
    metavar="RUN",
    help="With -o latex or markdown, mark runs that differ from this one; with --unjudged differences, show "
    "its pairs only.",
)
@click.option(
    "--letters", is_flag=True, help="With -o latex or markdown, mark which runs each run beats, by letters."
)
@options.weights
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
    intents: str | None,
    nuggets: str | None,
    groups: tuple[str, ...],
    baseline: str | None,
    letters: bool,
    weights: str | None,
    save: str | None,
    signature: bool,
    by_topic: bool,
    output: str,
    places: int,
    **chosen: Any,
) -> None:
    """Score RUNs against QRELS, best first.

    QRELS is a file (TREC or NTCIR format) or a dataset id of ir_datasets. A RUN is a TREC run file or the id
    of a dataset with scoreddocs. Files may be compressed (gzip, zstandard, xz). Measures are those of this
    package (see `ir_graded measures`), those of ir-measures, and the names of trec_eval. --depth, --model,
    --n-samples and --seed are options of --unjudged intervals and differences.
    """
    _check_modes(click.get_current_context().params)
    read = options.read(measures)
    more: dict[str, More] = {}
    note, is_signed = "", False
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
        frame = found.differences().to_frame()
        if baseline is not None:
            from ir_graded.meta.matrix import number_of

            name = find_run(baseline, dict.fromkeys(scores.runs)) or baseline
            number_of(name, scores.runs, "baseline")
            frame = frame[(frame["run_a"] == name) | (frame["run_b"] == name)]
        frame = frame.set_index(labels)
        text = frame_text(frame, labels, output, places)
    elif baseline is not None or letters or (output == "latex" and not (by_topic or more)):
        write = scores.to_latex if output == "latex" else scores.to_markdown
        text = write(baseline=baseline, letters=letters, digits=places, weights=of_topics)
        is_signed, note = output == "latex", ""
    else:
        text = FORMATS[output](Leaderboard.of(scores, by_topic, more), places)
    seed = rng if unjudged in {"intervals", "differences"} else None
    if is_signed:
        show(text)
    else:
        _show_signed(text, scores, seed, output, asked=signature)
    show_note(note, output)


def _read_weights(path: str, scores: Scores, save: str | None) -> dict[Any, float]:
    """Return the weight of each topic, and warn if the scores were saved."""
    if save is not None:
        text = f"the scores in {save} are without weights; give --weights to commands that read them, too"
        warnings.warn(text, CoverageWarning, stacklevel=1)
    return dict(zip(scores.query_ids, weights_of(scores.query_ids, path).tolist(), strict=True))


def _check_modes(given: dict[str, Any]) -> None:
    """Raise UsageError for options of ``evaluate`` that exclude each other, or for a file to write."""
    options.check_written()
    unjudged, estimates = given["unjudged"], given["estimates"]
    if unjudged and estimates:
        raise click.UsageError("--unjudged and --estimates exclude each other")
    files = any(given[name] for name in ("intents", "nuggets", "groups", "lengths"))
    if (unjudged or estimates) and (given["ties"] != "doc_id" or given["ranks"] or files):
        option = "--estimates" if estimates else "--unjudged"
        raise click.UsageError(
            f"{option} supports only measures of documents with ties by doc_id: "
            "leave out --ties, --ranks, --intents, --nuggets, --groups and --lengths"
        )
    if given["beyond"] == "raise" and given["lengths"] is None:
        raise click.UsageError("--beyond raise needs --lengths")
    typed = options.given("depth", "n_samples", "rng", "model")
    if typed and unjudged not in {"intervals", "differences"}:
        raise click.UsageError(f"{typed[0]} needs --unjudged intervals or differences")
    if given["by_topic"] and unjudged == "differences":
        raise click.UsageError("--unjudged differences are of means: leave out --by-topic")
    if given["weights"] and (unjudged or estimates or given["by_topic"]):
        raise click.UsageError(
            "--weights are of means only: leave out --by-topic, --unjudged and --estimates"
        )
    other = given["by_topic"] or unjudged or estimates or given["output"] not in {"latex", "markdown"}
    if other and (given["letters"] or (given["baseline"] is not None and unjudged != "differences")):
        raise click.UsageError(
            "--baseline and --letters need -o latex or markdown, and exclude --by-topic, --unjudged bounds "
            "or intervals, and --estimates; --baseline is also an option of --unjudged differences"
        )


def _show_signed(text: str, scores: Scores, seed: int | None, output: str, *, asked: bool) -> None:
    """Print a table with the signature of the scores, in LaTeX always, else if it is asked for."""
    if not asked and output != "latex":
        show(text)
        return
    signature = replace(scores.signature, seed=seed)
    if output == "latex":
        text = with_comment(text, signature)
    elif output in {"csv", "tsv"}:
        text = f"# {signature}\n{text}"
    show(text)
    if output not in {"latex", "csv", "tsv"}:
        show_note(str(signature), output)


MEASURES = ["P-measure", "Q", "NCU(stop='rb')", "nERR@10", "nDCG@10", "AP"]


@click.command()
def demo() -> None:
    """Evaluate real runs (TREC-COVID round 1) that come with the package, without network access."""
    from ir_graded.data.sample import sample

    covid = sample()
    topics = covid.qrels["query_id"].nunique()
    show(f"TREC-COVID round 1: {len(covid.runs)} runs, {topics} topics, graded qrels\n")
    scores = evaluate_runs(MEASURES, covid.qrels, covid.runs)
    show(FORMATS["table"](Leaderboard.of(scores, by_topic=False), 4))
