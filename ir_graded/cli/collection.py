"""Commands on judgments and on runs without scores: comparisons, statistics and pools."""

from __future__ import annotations

import warnings
from typing import Any

import click

from ir_graded._utils.text_tables import TextTable, csv_lines, json_line
from ir_graded.analyses.judgment_comparison import compare_judgments
from ir_graded.analyses.overlap import rbo as overlap_of, rbo_matrix
from ir_graded.analyses.pools import collection_statistics, pool as pooled
from ir_graded.errors import CoverageWarning, short_repr
from ir_graded.io.assignments import is_assignments
from ir_graded.io.sources import named_runs

from . import options, sources
from .output import ALL_TOPICS, frame_text, show, written

#: Name of the levels of the first set in formats that programs read, with a line per value.
_CORNERS = {"csv": "levels", "tsv": "levels", "jsonl": "first_level"}


@click.command()
@options.qrels
@click.argument("others", metavar="B")
@options.optional_runs
@options.optional_measures
@options.lengths
@options.of(compare_judgments)
@sources.folder
@options.table
def judgments(  # one parameter an option
    qrels: str,
    others: str,
    runs: Any,
    measures: tuple[str, ...],
    folder: str | None,
    output: str,
    places: int,
    **chosen: Any,
) -> None:
    """Compare two sets of judgments: how far assessors agree, and what both say of RUNs.

    Prints the confusion matrix of the topic-document pairs that both sets judge, coverage, and coefficients
    of agreement with intervals over topics; of judgments with passages, also how much highlighted text the
    sets share, with --lengths kappa over characters. QRELS and B may also be assignments of nuggets to
    answers, whose runs measures such as all_score compare. With RUNs and measures (-m) it also prints a
    column per measure: bias, rank correlations, and the pairs of runs that differ significantly with both
    sets. The formats csv and tsv write one table with a line per value.
    """
    import pandas as pd

    sources.prepare_folder(folder)
    if bool(runs) != bool(measures) and (runs or not is_assignments(qrels)):
        raise click.UsageError("RUNs and -m go together: give both, or neither to compute agreement only")
    given = (options.read(measures) if measures else None, runs or None)
    found = compare_judgments(qrels, others, *given, **chosen)

    of = found.agreement
    if of.few_topics:
        warnings.warn(
            "fewer than 10 topics have documents that both sets judge: the intervals are too short",
            CoverageWarning,
            stacklevel=1,
        )
    counts = of.confusion()
    levels = counts.rename(index="{:g}".format, columns="{:g}".format)
    covered = pd.DataFrame({"number": of.covered[0].sum(axis=0)}, ["first only", "second only", "both"])
    spans = []
    if found.spans is not None:
        columns = found.spans.to_frame().set_index("coefficient")[["value", "low", "high"]]
        spans = [("characters", columns, "statistic")]
    corner = _CORNERS.get(output, f"{counts.index.name} \\ {counts.columns.name}")
    tables = [
        *([(corner, levels, "second_level")] if counts.size else []),  # empty for soft labels
        ("pairs", covered, "statistic"),
        ("coefficient", of.to_frame().set_index("coefficient")[["value", "low", "high"]], "statistic"),
        *spans,
        *(("statistic", one.to_frame().T, "measure") for one in found.conclusions.values()),
    ]
    if _CORNERS.get(output) == "levels":
        rows = [
            ([label, str(row), str(column)], [value])
            for label, frame, _ in tables
            for row, *values in frame.astype(object).itertuples()
            for column, value in zip(frame, values, strict=True)
        ]
        show(written(TextTable(["table", "row", "column"], ["value"], rows), output, places))
    else:
        parts = [frame_text(frame, [label], output, places, kind) for label, frame, kind in tables]
        show(("\n" if output in _CORNERS else "\n\n").join(parts))
    if folder is not None:
        figures = {"confusion": of.plot()} if counts.size else {}
        if found.conclusions:
            figures["means"] = found.plot()
        sources.write_figures(figures, folder)


@click.command()
@options.qrels
@options.optional_runs
@options.of(collection_statistics)
@options.narrow_table
def statistics(qrels: str, runs: Any, output: str, places: int, **chosen: Any) -> None:
    """Print how many documents per topic of QRELS are judged and relevant, and the depths of RUNs.

    The row N counts judged documents that are not relevant, R relevant documents; a row per relevant level
    follows. The columns are the mean and range over topics, and the number of topics with such documents.
    """
    table = collection_statistics(qrels, runs or None, **chosen).to_frame()
    show(frame_text(table, ["documents"], output, places))


@click.command()
@options.runs
@options.of(rbo_matrix)
@sources.folder
@options.table
def rbo(runs: Any, score: str, folder: str | None, output: str, places: int, **chosen: Any) -> None:
    """Compare RUNs by rank-biased overlap (RBO). No judgments are needed.

    For two RUNs it prints each topic with a lower bound (min), an upper bound (max), their difference (res)
    and an extrapolated value (ext), then the means as topic 'all'; with --score only that value. For more
    RUNs it prints the mean of --score for each pair.
    """
    import pandas as pd

    named = named_runs(runs)
    if len(named) == 2:  # noqa: PLR2004  # topic by topic
        if folder is not None:
            raise click.UsageError("--plot needs at least three RUNs")
        one, other = named.values()
        topics = overlap_of(one, other, **chosen).set_index("query_id")
        topics = topics[[score]] if options.given("score") else topics
        means = topics.to_numpy().mean(axis=0)
        table = pd.concat([topics, pd.DataFrame([means], [ALL_TOPICS], topics.columns)])
        show(frame_text(table, ["query_id"], output, places))
        return
    sources.prepare_folder(folder)
    found = rbo_matrix(named, score=score, **chosen)
    show(frame_text(found.to_frame(), ["run"], output, places, "other"))
    if folder is not None:
        sources.write_figures({"rbo": found.plot()}, folder)


def _fields(row: dict[Any, Any]) -> list[str]:
    """Return the fields of a document to judge: of prel with --limit, of sampleval with --strata."""
    topic, doc_id, level = str(row["query_id"]), row["doc_id"], row.get("relevance")
    if level is not None and level % 1:
        raise click.UsageError(f"the level {level:g} is not a whole number: use --csv or --jsonl")
    said = "?" if level is None else f"{level:.0f}"
    if "stratum" not in row:
        return [topic, doc_id, said, "1", repr(row["iprob"])]
    return [topic, "0", doc_id, *([str(row["stratum"])] if "relevance" in row else []), said]


@click.command()
@options.runs
@options.of(pooled)
@click.option(
    "--judged", metavar="QRELS", help="Leave out the documents that QRELS judge. --limit needs their iprob."
)
@click.option(
    "--strata",
    metavar="K:SHARE,...",
    help="Instead of --depth: draw this share of the documents whose best rank is at most K and above the K "
    "before, for example 5:1,20:.2,100:.05.",
)
@options.weights
@click.option("--csv", is_flag=True, help="Write CSV with a header.")
@click.option("--jsonl", is_flag=True, help="Write JSON Lines.")
@options.quiet
def pool(runs: Any, strata: str | None, csv: bool, jsonl: bool, **chosen: Any) -> None:
    """List the documents of RUNs to judge: the pool to a depth, a stratified sample, or N at random.

    Documents are shuffled within a topic. A line is TOPIC 0 DOCUMENT ?: with levels in place of the question
    marks, these are qrels. With --strata it is TOPIC 0 DOCUMENT STRATUM LEVEL (sampleval) for each document
    of the pool, where the level is -1 for documents outside the sample and ? for those to judge, at least two
    of each stratum. CSV and JSON Lines have the fields query_id, doc_id, stratum and iprob (inclusion
    probability), with --strata also relevance (-1 or nothing).

    With --limit, a line is TOPIC DOCUMENT LEVEL 1 IPROB (prel) for each document to judge (LEVEL is ?), drawn
    from all that RUNs retrieved. At least two are drawn of each topic, and in proportion to --weights. The
    documents of --judged, which needs iprob, follow with the probabilities of both draws together. CSV and
    JSON Lines have query_id, doc_id, iprob and relevance (nothing where it is to be judged).
    """
    if csv and jsonl:
        raise click.UsageError("--csv and --jsonl exclude each other")
    shares: dict[Any, float] | None = None
    if strata is not None:
        pairs = [part.partition(":") for part in strata.split(",")]
        try:
            shares = {int(end): float(share) for end, _, share in pairs}
        except ValueError:
            shares = {}
        if len(shares) < len(pairs):
            raise click.BadParameter(
                f"{short_repr(strata)} must be ranks, each once, with shares: for example 5:1,20:.2,100:.05",
                param_hint="--strata",
            )
    table = pooled(runs, strata=shares, **chosen)
    rows: list[dict[Any, Any]] = table.astype(object).where(table.notna(), None).to_dict("records")
    if csv:
        lines = csv_lines([[*table], *([*row.values()] for row in rows)])
    elif jsonl:
        lines = [*map(json_line, rows)]
    else:
        ids = (str(row[name]) for row in rows for name in ("query_id", "doc_id"))
        if (broken := next((one for one in ids if len(one.split()) != 1), None)) is not None:
            raise click.UsageError(f"the id {broken!r} has blanks: use --csv or --jsonl")
        lines = [" ".join(_fields(row)) for row in rows]
    if lines:
        show("\n".join(lines))
