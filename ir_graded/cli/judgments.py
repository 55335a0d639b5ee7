"""``ir_graded judgments``: how far two sets of judgments agree, and which conclusions survive."""

from __future__ import annotations

from typing import Any

import click

from . import options, score_sources
from .output import FORMATS, Leaderboard, show


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
    coefficients of agreement with 95% intervals over topics, and with RUNs and measures (-m) a row per
    measure: bias, rank correlations and the pairs of runs whose significance survives.
    """
    from ir_graded.evaluation.judgment_comparison import compare_judgments

    score_sources.prepare_folder(folder)
    if bool(runs) != bool(measures):
        raise click.UsageError("RUNs and -m go together: give both, or neither for agreement alone")
    given = (list(runs), options.read(measures)) if runs else (None, None)
    found = compare_judgments(qrels, others, *given, n_resamples=resamples, rng=seed, **chosen)

    def table(labels: list[str], columns: list[str], rows: list[Any], kind: str) -> str:
        return FORMATS[output](Leaderboard(labels, columns, rows, kind), places)

    of = found.agreement
    counts = of.confusion()
    covered = of.covered[0].sum(axis=0).tolist()
    coefficients = of.to_frame().set_index("coefficient")[["value", "low", "high"]]
    parts = [
        table(
            [f"{counts.index.name} \\ {counts.columns.name}"],
            [f"{level:g}" for level in counts.columns],
            [
                ([f"{level:g}"], row)
                for level, row in zip(counts.index, counts.to_numpy().tolist(), strict=True)
            ],
            "level",
        ),
        table(
            ["pairs"],
            ["number"],
            [([name], [n]) for name, n in zip(_COVERED, covered, strict=True)],
            "statistic",
        ),
        table(
            ["coefficient"],
            coefficients.columns.tolist(),
            [([str(name)], row.tolist()) for name, row in coefficients.iterrows()],
            "statistic",
        ),
    ]
    for concluded in found.conclusions.values():
        frame = concluded.to_frame()
        rows = [([str(name)], row.tolist()) for name, row in frame.iterrows()]
        parts.append(table(["measure"], frame.columns.tolist(), rows, "statistic"))
    show("\n\n".join(parts) if output != "jsonl" else "\n".join(parts))
    if folder is not None:
        figures = {"confusion": of.plot()}
        if found.conclusions:
            figures["means"] = found.plot()
        score_sources.write_figures(figures, folder)


_COVERED = ("first only", "second only", "both")
