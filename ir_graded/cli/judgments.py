"""``ir_graded judgments``: agreement of two sets of judgments, and of the conclusions on runs."""

from __future__ import annotations

import warnings
from typing import Any

import click

from ir_graded.errors import CoverageWarning

from . import options, score_sources
from .output import FORMATS, Leaderboard, frame_text, show

#: Name of the levels of the first set in formats that programs read, with a line per value.
_CORNERS = {"csv": "levels", "tsv": "levels", "jsonl": "first_level"}


@click.command()
@options.qrels
@click.argument("others", metavar="B")
@click.argument("runs", nargs=-1, metavar="[RUN...]")
@options.optional_measures
@click.option(
    "--pairs",
    type=click.Choice(["all", "shared"]),
    default="all",
    show_default=True,
    help="Score runs on all judgments of each set, or only on pairs that both sets judge.",
)
@click.option(
    "--measurement",
    type=click.Choice(["nominal", "ordinal", "interval"]),
    default="ordinal",
    show_default=True,
    help="Level of measurement for Krippendorff's alpha.",
)
@click.option("--rel", type=float, default=1, show_default=True, help="Lowest relevant level.")
@score_sources.test
@score_sources.alpha
@click.option(
    "--top",
    "top_k",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Number of best runs to compare.",
)
@options.resamples()
@score_sources.seed
@score_sources.folder
@options.output
@options.places
@options.quiet
def judgments(  # noqa: PLR0913, PLR0917  # one parameter an option
    qrels: str,
    others: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    resamples: int,
    seed: int,
    folder: str | None,
    output: str,
    places: int,
    **chosen: Any,
) -> None:
    """Compare the judgments of QRELS with those of B, and the conclusions on RUNs from both.

    Prints the confusion matrix of the topic-document pairs that both sets judge, coverage, and coefficients
    of agreement with 95% intervals over topics. With RUNs and measures (-m) it also prints a column per
    measure: bias, rank correlations, and the pairs of runs that differ significantly with both sets. The
    formats csv and tsv write one table with a line per value.
    """
    import pandas as pd

    from ir_graded.evaluation.judgment_comparison import compare_judgments

    score_sources.prepare_folder(folder)
    if bool(runs) != bool(measures):
        raise click.UsageError("RUNs and -m go together: give both, or neither to compute agreement only")
    given = (list(runs), options.read(measures)) if runs else (None, None)
    found = compare_judgments(qrels, others, *given, n_resamples=resamples, rng=seed, **chosen)

    of = found.agreement
    if of.few_topics:
        warnings.warn(
            "fewer than 10 topics have documents that both sets judge: the intervals are too short",
            CoverageWarning,
            stacklevel=1,
        )
    counts = of.confusion()
    levels = counts.set_axis([f"{level:g}" for level in counts.index], axis=0)
    levels = levels.set_axis([f"{level:g}" for level in counts], axis=1)
    covered = pd.DataFrame({"number": of.covered[0].sum(axis=0)}, ["first only", "second only", "both"])
    corner = _CORNERS.get(output, f"{counts.index.name} \\ {counts.columns.name}")
    tables = [
        *([(corner, levels, "second_level")] if counts.size else []),  # empty for soft labels
        ("pairs", covered, "statistic"),
        ("coefficient", of.to_frame().set_index("coefficient")[["value", "low", "high"]], "statistic"),
        *(("statistic", one.to_frame().T, "measure") for one in found.conclusions.values()),
    ]
    if _CORNERS.get(output) == "levels":
        rows = [
            ([label, str(row), str(column)], [value])
            for label, frame, _ in tables
            for row, *values in frame.astype(object).itertuples()
            for column, value in zip(frame, values, strict=True)
        ]
        show(FORMATS[output](Leaderboard(["table", "row", "column"], ["value"], rows), places))
    else:
        parts = [frame_text(frame, [label], output, places, kind) for label, frame, kind in tables]
        show(("\n" if output in _CORNERS else "\n\n").join(parts))
    if folder is not None:
        figures = {"confusion": of.plot()} if counts.size else {}
        if found.conclusions:
            figures["means"] = found.plot()
        score_sources.write_figures(figures, folder)
