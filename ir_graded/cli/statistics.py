"""Commands that print statistics of score matrices."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import click

from ir_graded import meta as statistics_of
from ir_graded._utils.atomic_files import check_writable, write_whole
from ir_graded._utils.text_tables import FORMATS, TextTable
from ir_graded.errors import MOST_IDS, CoverageWarning, InputError, format_ids
from ir_graded.evaluation.scores import Scores, read_scores
from ir_graded.io.paths import no_pipe
from ir_graded.meta.matrix import reference_name
from ir_graded.meta.topics import ALL_TOPICS

from . import options, sources
from .output import frame_text, show, show_note, written
from .sources import Source


@click.command()
@sources.source
@click.option(
    "--reference", metavar="MEASURE", help="Measure to correlate the others with; by default the first."
)
@click.option(
    "--one-run-per-team",
    "teams",
    metavar="FILE",
    help="Keep one random run of each team. FILE: a CSV with the columns run (or tag) and team.",
)
@click.option("--top", type=click.IntRange(2), help="Keep this many of the best runs by a measure (--by).")
@click.option("--by", metavar="MEASURE", help="Measure of --top; by default the first.")
@click.option("--drop-identical", is_flag=True, help="Of runs with the same scores, keep one.")
@options.of(statistics_of.compare_measures)
@options.table
def meta(  # noqa: PLR0913, PLR0917  # one parameter an option
    source: Source,
    reference: str | None,
    teams: str | None,
    top: int | None,
    by: str | None,
    drop_identical: bool,
    output: str,
    places: int,
    **chosen: Any,
) -> None:
    """Compare measures: discriminative power, stability, swap method, rank correlation.

    Give either QRELS, RUNs and measures (-m), or score matrices: --matrix FILE for each measure. FILE is a
    CSV named after the measure, with a row per topic and a column per system. Topics are in the
    --topic-column, in a column named topic, topic_id, query, query_id, qid or num (in any case), or in a
    first column without a name. Without such a column they are numbered.
    """
    from ir_graded.plots.meta import asl_curve, stability_curves, swap_curves

    if by is not None and top is None:
        raise click.UsageError("--by goes with --top")
    scores: dict[str, Any] = {**source.scores}
    if drop_identical:
        scores, dropped = statistics_of.drop_identical(scores)
        for run, other in dropped.items():
            warnings.warn(
                f"run {run!r} has the same scores as {other!r} and is left out", CoverageWarning, stacklevel=1
            )
    if top is not None:
        scores = statistics_of.top(scores, top, source.printed_name(by or next(iter(scores))))
    if teams is not None:
        try:
            scores = {**statistics_of.one_per_team(scores, sources.read_teams(teams), chosen["rng"])}
        except InputError as error:
            raise InputError(f"{teams}: {error}") from None
    if reference is not None:
        reference = source.printed_name(reference)
    comparison = statistics_of.compare_measures(scores, reference=reference, **chosen)
    rows = comparison.rows()
    columns = [*next(iter(rows.values()))]
    values = [([name], [*row.values()]) for name, row in rows.items()]
    # Without a frame, so that pandas need not be imported.
    show(written(TextTable(["measure"], columns, values, "statistic"), output, places))
    source.write_figures(
        lambda: {
            "asl_curve": asl_curve(comparison.power),
            "stability": stability_curves(comparison.stability),
            "swap": swap_curves(comparison.swap),
            "tau": comparison.correlations.plot(),
        }
    )


@click.command()
@sources.source
@click.option(
    "--labels-by", metavar="MEASURE", help="Add the ranks of the runs by this measure, one of -m or --matrix."
)
@options.of(statistics_of.significance)
@options.table
def significance(source: Source, labels_by: str | None, output: str, places: int, **chosen: Any) -> None:
    """Test all pairs of runs by the first measure with the paired bootstrap, and print a row per pair.

    The tests are one-tailed by default and not corrected for the number of pairs: with alpha 0.05, about
    one pair in ten without a difference is significant. For corrected conclusions, see `ir_graded ranks`.

    QRELS, RUNs and measures (-m) or matrices are as in `ir_graded meta`.
    """
    scores = source.scores
    if labels_by is not None:
        chosen["labels_by"] = scores[reference_name(source.printed_name(labels_by), scores, "measure")]
    found = statistics_of.significance(next(iter(scores.values())), **chosen)
    pair = ["run_a", "run_b"]
    table = found.to_frame().astype({"significant": int}).set_index(pair)
    show(frame_text(table, pair, output, places))
    source.write_figures(lambda: {"significance": found.plot()})


@click.command()
@sources.source
@options.of(statistics_of.topic_set_size)
@options.of(statistics_of.Design, "variance")
@options.clusters
@options.table
def plan(
    source: Source, difference: float, clusters: str | None, output: str, places: int, **chosen: Any
) -> None:
    """Compute how many topics detect a difference of means, given the variance of some scores.

    QRELS, RUNs and measures (-m) or matrices are as in `ir_graded meta`. Prints a row per measure: the
    variance, the number of topics needed with its power (for an interval, its expected width), and for the
    present number of topics the power and the smallest detectable difference (or the width).
    """
    import pandas as pd

    from ir_graded.plots.meta import topic_set_sizes

    design = statistics_of.Design(**chosen)
    found = {}
    for name, matrix in source.scores.items():
        found[name] = statistics_of.topic_set_size(matrix, difference, design=design, clusters=clusters)
        low, high = matrix.values.min(), matrix.values.max()
        if difference >= high - low:
            warnings.warn(
                f"difference={difference:g} is at least the range of all scores of {name}, {low:g} to "
                f"{high:g}; give it in units of the measure, for example 0.05",
                CoverageWarning,
                stacklevel=1,
            )
    kind = "width" if design.test == "interval" else "power"
    rows = {}
    for name, size in found.items():
        present = int(size.present or 0)
        rows[name] = {
            "variance": size.variance,
            **({} if clusters is None else {"design_effect": size.design_effect}),
            "n_topics": size.n_topics,
            kind: size.value,
            "present": present,
            f"{kind}_at_present": size.design.value_at(present, difference),
            "detectable": size.design.detectable(present),
        }
    show(frame_text(pd.DataFrame([*rows.values()], [*rows]), ["measure"], output, places))
    source.write_figures(lambda: {"topic_set_size": topic_set_sizes(found)})


@click.command()
@sources.source
@click.option("--by", "measure", metavar="MEASURE", help="Measure of the ranks; by default the first.")
@options.of(statistics_of.ranks)
@options.clusters
@options.table
def ranks(source: Source, measure: str | None, output: str, places: int, **chosen: Any) -> None:
    """Print confidence sets for the ranks of RUNs, and which are tied for first.

    QRELS, RUNs and measures (-m) or matrices are as in `ir_graded meta`.
    """
    if measure is not None:
        measure = source.printed_name(measure)
    found = statistics_of.ranks(source.scores, measure, **chosen)
    table = found.to_frame().astype({"tied_first": int})
    show(frame_text(table.set_index("run"), ["run"], output, places))
    show_note(" ".join(found.notes), output)
    source.write_figures(lambda: {"ranks": found.plot()})


@click.command()
@click.argument("collections", nargs=-1, required=True, metavar="NAME=FILE...")
@click.option("--baseline", required=True, metavar="RUN", help="Run that the others are compared with.")
@options.of(statistics_of.across_collections)
@click.option(
    "--clusters",
    multiple=True,
    metavar="NAME=FILE",
    help="Clusters of the topics of collection NAME that belong together. FILE: lines of topic and cluster. "
    "Repeatable.",
)
@options.table
def across(
    collections: tuple[str, ...],
    baseline: str,
    clusters: tuple[str, ...],
    output: str,
    places: int,
    **chosen: Any,
) -> None:
    """Compare runs with a baseline on several collections, and combine the differences.

    FILE holds the scores of the runs on collection NAME, as `ir_graded evaluate --save` writes them. After
    the rows of the collections come their mean and, for collections like them, random effects; then how much
    the collections differ, and the interval for a further one.
    """
    scores = {name: read_scores(file) for name, file in options.named_files(collections).items()}
    of_topics = options.named_files(clusters, "--clusters ") or None
    found = statistics_of.across_collections(scores, baseline, clusters=of_topics, **chosen)
    labels = ["run", "measure", "collection"]
    rows, summary = (table.set_index(labels[:n]) for table, n in ((found.to_frame(), 3), (found.summary, 2)))
    tables = [frame_text(rows, labels, output, places)]
    if FORMATS[output].note:
        tables.append(frame_text(summary, labels[:2], output, places))
    show("\n\n".join(tables))


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@options.optional_measures
@click.option(
    "--by",
    type=click.Choice(["name", "date"]),
    default="name",
    show_default=True,
    help="Order of the files: by name with numbers as numbers, or by the date of their last change.",
)
@options.of(statistics_of.history)
@options.weights
@options.slices
@options.clusters
@click.option("--plot", "figure", metavar="FILE", help="File for a figure: .png, .pdf or .svg.")
@options.table
def history(  # one parameter an option
    folder: str,
    measures: tuple[str, ...],
    by: str,
    figure: str | None,
    output: str,
    places: int,
    **chosen: Any,
) -> None:
    """Follow the means of runs over releases, from files of `evaluate --save` in FOLDER.

    FOLDER has a JSON file for each release, as `ir_graded evaluate --save` writes it. Each release is tested
    against the first one and against the best one before, and compared with the previous one without a test.
    Warnings say which releases differ in topics, qrels, options, measures or runs; means are comparable
    within one part only. The figure shows the first measure.
    """
    sources.check_figure(figure)
    there = sorted(path for path in Path(folder).iterdir() if path.name[0] != ".")
    files = sorted((path for path in there if path.suffix == ".json" and not path.is_dir()), key=_natural)
    if others := [path.name for path in there if path not in files]:
        note = f"{folder}: {format_ids(others)} ({len(others)} in total) are not .json files and are left out"
        warnings.warn(note, CoverageWarning, stacklevel=1)
    if by == "date":
        files.sort(key=lambda path: path.stat().st_mtime_ns)
    scores = {path.stem: read_scores(no_pipe(path)) for path in files}
    if len(scores) < 2:  # noqa: PLR2004
        raise InputError(f"{folder}: expected two or more files from `evaluate --save`, found {len(scores)}")
    if measures:
        scores = _by_measures(scores, [*map(str, options.read(measures))])
    found = statistics_of.history(scores, **chosen)
    frame, labels = found.to_frame(), ["release", "slice", "measure", "run"]
    if chosen["slices"] is None:
        frame = frame.drop(columns=labels.pop(1))
    show(frame_text(frame.set_index(labels), labels, output, places))
    if FORMATS[output].note:
        show_note(_losses(found), output)
    if chosen["weights"] is not None:
        show_note(f"Means and changes are weighted by {chosen['weights']}.", output)
    if figure is not None:
        write_whole(check_writable(figure), sources.figure_bytes(found.plot(), Path(figure).suffix[1:]))


def _losses(found: statistics_of.History) -> str:
    """Return sentences on the tests of a history and on the releases that are worse than an earlier one."""
    several = len({*found.measure}) > 1 or len({*found.run}) > 1
    places = zip(found.release, found.slice, found.measure, found.run, strict=True)
    labels = [
        release
        + (f" ({run} by {measure})" if several else "")
        + ("" if part == ALL_TOPICS else f" on {part}")
        for release, part, measure, run in places
    ]
    worse = [label for label, is_worse in zip(labels, found.worse.tolist(), strict=True) if is_worse]
    more = f" and {len(worse) - MOST_IDS} more" if len(worse) > MOST_IDS else ""
    listed = f"{', '.join(worse[:MOST_IDS])}{more}" if worse else "none"
    slices = ", slices" if len({*found.slice}) > 1 else ""
    return (
        f"Worse than the first release or the best one before: {listed} (two-sided paired t tests, Holm's "
        f"correction over all pairs of releases{slices} and runs of a measure, alpha {found.alpha:g})."
    )


def _natural(path: Path) -> list[str | int]:
    """Return a key that sorts v9 before v10."""
    return [int(part) if at % 2 else part for at, part in enumerate(re.split("([0-9]+)", path.stem))]


def _by_measures(scores: dict[str, Scores], wanted: list[str]) -> dict[str, Scores]:
    """Return the scores by the wanted measures. Raises InputError for one that no file has."""
    there = dict.fromkeys(name for one in scores.values() for name in one.names)
    if unknown := [name for name in wanted if name not in there]:
        raise InputError(f"no file has scores by {unknown[0]}; the measures are {', '.join(there)}")
    chosen = {}
    for release, one in scores.items():
        kept = [name for name in wanted if name in one.names]
        if not kept:
            raise InputError(
                f"{release}.json has no scores by {', '.join(wanted)}, only by {', '.join(one.names)}"
            )
        chosen[release] = one.select(measures=kept)
    return chosen
