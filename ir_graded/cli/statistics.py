"""``ir_graded statistics``: numbers of judged and relevant documents."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import click

from ir_graded.errors import CoverageWarning, InputError

from . import options, sources
from .output import FORMATS, Leaderboard, frame_text, show


@click.command()
@sources.source
@click.option(
    "--reference", metavar="MEASURE", help="Measure to correlate the others with; by default the first."
)
@sources.test
@sources.alpha
@options.resamples()
@click.option(
    "--one-run-per-team",
    "teams",
    metavar="FILE",
    help="Keep one random run of each team. FILE: a CSV with the columns run (or tag) and team.",
)
@click.option("--top", type=click.IntRange(2), help="Keep this many of the best runs by a measure (--by).")
@click.option("--by", metavar="MEASURE", help="Measure of --top; by default the first.")
@click.option("--drop-identical", is_flag=True, help="Of runs with the same scores, keep one.")
@click.option(
    "--fuzziness",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.05,
    show_default=True,
    help="Fuzziness of the minority rate and the proportion of ties.",
)
@click.option(
    "--resample",
    type=click.Choice(["bootstrap", "disjoint"]),
    default="bootstrap",
    show_default=True,
    help="How the swap method draws topic sets.",
)
@click.option(
    "--max-rate", type=click.FloatRange(0, 1), default=0.05, show_default=True, help="Tolerated swap rate."
)
@sources.folder
@sources.seed
@options.output
@options.places
@options.quiet
def meta(  # noqa: PLR0913, PLR0917  # one parameter an option
    reference: str | None,
    test: str,
    alpha: float,
    n_resamples: int,
    teams: str | None,
    folder: str | None,
    seed: int,
    top: int | None,
    by: str | None,
    drop_identical: bool,
    fuzziness: float,
    resample: Literal["bootstrap", "disjoint"],
    max_rate: float,
    output: str,
    places: int,
    **source: Any,
) -> None:
    """Compare measures: discriminative power, stability, swap method, rank correlation.

    Give either QRELS, RUNs and measures (-m), or score matrices: --matrix FILE for each measure. FILE is a
    CSV named after the measure, with a row per topic and a column per system. Topics are in the
    --topic-column, in a column named topic, topic_id, query, query_id, qid or num (in any case), or in a
    first column without a name. Without such a column they are numbered.
    """
    from ir_graded import meta as statistics
    from ir_graded.plots.meta import asl_curve, stability_curves, swap_curves

    from .sources import read_teams

    sources.prepare_folder(folder)
    if by is not None and top is None:
        raise click.UsageError("--by goes with --top")
    scores: dict[str, Any] = {**sources.score_matrices(**source)}
    if drop_identical:
        scores, dropped = statistics.drop_identical(scores)
        for run, other in dropped.items():
            warnings.warn(
                f"run {run!r} has the same scores as {other!r} and is left out", CoverageWarning, stacklevel=1
            )
    if top is not None:
        measure = next(iter(scores)) if by is None else by
        scores = statistics.top(scores, top, sources.printed_name(measure, scores, bool(source["matrices"])))
    if teams is not None:
        try:
            scores = dict(statistics.one_per_team(scores, read_teams(teams), seed))
        except InputError as error:
            raise InputError(f"{teams}: {error}") from None
    if reference is not None:
        reference = sources.printed_name(reference, scores, bool(source["matrices"]))
    comparison = statistics.compare_measures(
        scores,
        reference=reference,
        test=test,
        alpha=alpha,
        fuzziness=fuzziness,
        resample=resample,
        max_rate=max_rate,
        n_resamples=n_resamples,
        rng=seed,
    )
    table = comparison.to_frame()
    show(frame_text(table, ["measure"], output, places))
    if folder is not None:
        figures = {
            "asl_curve": asl_curve(comparison.power),
            "stability": stability_curves(comparison.stability),
            "swap": swap_curves(comparison.swap),
            "tau": comparison.correlations.plot(),
        }
        sources.write_figures(figures, folder)


@click.command()
@sources.source
@click.option(
    "--alternative",
    type=click.Choice(["greater", "two-sided"]),
    default="greater",
    show_default=True,
    help="Test whether the better run is better, or whether the two differ.",
)
@click.option(
    "--labels-by", metavar="MEASURE", help="Add the ranks of the runs by this measure, one of -m or --matrix."
)
@sources.alpha
@options.resamples()
@sources.seed
@sources.folder
@options.output
@options.places
@options.quiet
def significance(  # noqa: PLR0913, PLR0917  # one parameter an option
    alternative: str,
    labels_by: str | None,
    alpha: float,
    n_resamples: int,
    seed: int,
    folder: str | None,
    output: str,
    places: int,
    **source: Any,
) -> None:
    """Test all pairs of runs by the first measure with the paired bootstrap, and print a row per pair.

    QRELS, RUNs and measures (-m) or matrices are as in `ir_graded meta`.
    """
    from ir_graded.meta import significance as test
    from ir_graded.meta.matrix import reference_name

    sources.prepare_folder(folder)
    scores = sources.score_matrices(**source)
    reference = None
    if labels_by is not None:
        name = sources.printed_name(labels_by, scores, bool(source["matrices"]))
        reference = scores[reference_name(name, scores, "measure")]
    found = test(
        next(iter(scores.values())),
        labels_by=reference,
        alternative=alternative,
        alpha=alpha,
        n_resamples=n_resamples,
        rng=seed,
    )
    table = found.to_frame().astype({"significant": int})
    pair = ["run_a", "run_b"]
    show(frame_text(table.set_index(pair), pair, output, places))
    if folder is not None:
        sources.write_figures({"significance": found.plot()}, folder)


@click.command()
@options.qrels
@click.argument("runs", nargs=-1, metavar="[RUN...]")
@click.option("--rel", type=float, default=1, show_default=True, help="Lowest relevant level.")
@options.output
@options.places
def statistics(qrels: str, runs: tuple[str, ...], rel: float, output: str, places: int) -> None:
    """Print how many documents per topic of QRELS are judged and relevant, and the depths of RUNs.

    The row N counts judged documents that are not relevant, R relevant documents; a row per relevant level
    follows. The columns are the mean and range over topics, and the number of topics with such documents.
    """
    from ir_graded.evaluation.collection_statistics import collection_statistics

    table = collection_statistics(qrels, list(runs) or None, rel=rel).to_frame()
    show(frame_text(table, ["documents"], output, places))


_COLUMNS = ["variance", "n_topics", "power", "present", "power_at_present", "detectable"]


@click.command()
@sources.source
@click.option(
    "--difference",
    type=options.InUnits(0, min_open=True),
    required=True,
    help="Difference of means to detect; for an interval, its largest width.",
)
@click.option(
    "--test", type=click.Choice(["t", "anova", "interval"]), default="t", show_default=True, help="Test."
)
@click.option("--model", type=click.Choice(["two-way", "one-way"]), help="Model of the variance.")
@click.option("--unpaired", is_flag=True, help="With --test t: each system has different topics.")
@click.option(
    "--n-runs", type=click.IntRange(2), default=2, show_default=True, help="Number of systems of an anova."
)
@sources.alpha
@click.option(
    "--power",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Probability of detecting the difference.",
)
@sources.folder
@options.output
@options.places
@options.quiet
def plan(  # one parameter an option
    difference: float,
    test: str,
    unpaired: bool,
    folder: str | None,
    output: str,
    places: int,
    **given: Any,
) -> None:
    """Compute how many topics detect a difference of means, given the variance of some scores.

    QRELS, RUNs and measures (-m) or matrices are as in `ir_graded meta`. Prints a row per measure: the
    variance, the number of topics needed with its power (for an interval, its expected width), and for the
    present number of topics the power and the smallest detectable difference (or the width).
    """
    from ir_graded.meta import topic_set_size
    from ir_graded.plots.meta import topic_set_sizes

    sources.prepare_folder(folder)
    options_of_design = {name: given.pop(name) for name in ("model", "n_runs", "alpha", "power")}
    options_of_design |= {"test": test, "paired": not unpaired}
    matrices = sources.score_matrices(**given)
    found = {
        name: topic_set_size(matrix, difference, **options_of_design) for name, matrix in matrices.items()
    }
    for name, matrix in matrices.items():
        low, high = matrix.values.min(), matrix.values.max()
        if difference >= high - low:
            warnings.warn(
                f"difference={difference:g} is at least the range of all scores of {name}, {low:g} to "
                f"{high:g}; give it in units of the measure, for example 0.05",
                CoverageWarning,
                stacklevel=1,
            )
    rows: list[tuple[list[str], list[Any]]] = []
    for name, size in found.items():
        design, present = size.design, int(size.present or 0)
        now = [present, design.value_at(present, difference), design.detectable(present)]
        rows.append(([name], [design.variance, size.n_topics, size.value, *now]))
    columns = [column.replace("power", "width" if test == "interval" else "power") for column in _COLUMNS]
    show(FORMATS[output](Leaderboard(["measure"], columns, rows, "statistic"), places))
    if folder is not None:
        sources.write_figures({"topic_set_size": topic_set_sizes(found)}, folder)
