"""``ir_graded judgments``: how far two sets of judgments agree, and which conclusions survive."""

from __future__ import annotations

import warnings
from typing import Any

import click

from ir_graded.errors import CoverageWarning

from . import options, score_sources
from .output import FORMATS, Leaderboard, frame_text, show

#: How the formats that programs read, with a line for each value, name the levels of the first set.
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
    help="Score runs on all judgments of each set, or on the pairs that both judge.",
)
@click.option(
    "--measurement",
    type=click.Choice(["nominal", "ordinal", "interval"]),
    default="ordinal",
    show_default=True,
    help="Distance of the levels of Krippendorff's alpha.",
)
@click.option("--rel", type=float, default=1, show_default=True, help="Smallest relevant level.")
@score_sources.test
@score_sources.alpha
@click.option(
    "--top", "top_k", type=click.IntRange(1), default=10, show_default=True, help="Best runs compared."
)
@options.resamples
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
    """Compare the judgments of QRELS with those of B, and what both conclude of RUNs.

    Prints the confusion matrix of the pairs of a topic and a document that both judge, coverage and
    coefficients of agreement with 95% intervals over topics, and with RUNs and measures (-m) a column per
    measure: bias, rank correlations and the pairs of runs whose significance survives. csv and tsv are one
    table with a line for each value.
    """
    import pandas as pd

    from ir_graded.evaluation.judgment_comparison import compare_judgments

    score_sources.prepare_folder(folder)
    if bool(runs) != bool(measures):
        raise click.UsageError("RUNs and -m go together: give both, or neither for agreement alone")
    given = (list(runs), options.read(measures)) if runs else (None, None)
    found = compare_judgments(qrels, others, *given, n_resamples=resamples, rng=seed, **chosen)

    of = found.agreement
    if of.few_topics:
        warnings.warn(
            "fewer than 10 topics have documents that both judge: their intervals are too short",
            CoverageWarning,
            stacklevel=1,
        )
    counts = of.confusion()
    levels = counts.set_axis([f"{level:g}" for level in counts.index], axis=0)
    levels = levels.set_axis([f"{level:g}" for level in counts], axis=1)
    covered = pd.DataFrame({"number": of.covered[0].sum(axis=0)}, ["first only", "second only", "both"])
    corner = _CORNERS.get(output, f"{counts.index.name} \\ {counts.columns.name}")
    tables = [
        *([(corner, levels, "second_level")] if counts.size else []),  # soft labels have none
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
