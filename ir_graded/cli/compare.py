"""``compare`` and ``answers``: find runs that are worse than a baseline, as a gate in scripts."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any
from xml.etree import ElementTree as ET

import click

from ir_graded.errors import CoverageWarning, InputError, printable
from ir_graded.evaluation.answers import score_answers
from ir_graded.evaluation.run_comparison import MOST_MISSING
from ir_graded.io.sources import find_run
from ir_graded.meta.differences import VERDICTS, Differences, NothingToLoseWarning, differences, p_text
from ir_graded.meta.samples import TooFewTopicsWarning
from ir_graded.plots.style import plural

from . import options
from .output import FORMATS, P_VALUES, Leaderboard, frame_text, json_line, places as with_places, show

#: Exit codes if a run is worse, and if none is but one may be.
WORSE, INCONCLUSIVE = 1, 3
_VALUES = ["baseline_mean", "mean", "difference", "low", "high", "p", "p_corrected"]
_DETAILS = ["minimum_detectable", "judged", "baseline_judged"]


def _sentences(found: Differences, digits: int) -> str:
    """Return the verdicts, how they were tested and the smallest loss that the tests detect."""
    import numpy as np

    counts = Counter(found.verdict)
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    topics = dict(zip(found.slice, found.topics.tolist(), strict=True))
    scopes = {
        name: f"{size} topics" if at == 0 else f"the {size} of slice {name}"
        for at, (name, size) in enumerate(topics.items())
    }
    said = (
        f"{plural(len(found.verdict), 'comparison')} with {found.baseline[0]}: {said} "
        f"(tolerance {found.tolerance:g}, alpha {found.alpha:g}, {100 - 200 * found.alpha:g}% intervals). "
        f"One-sided {found.test} test on {', on '.join(scopes.values())}, correction {found.correction}."
    )
    detectable = np.array(found.minimum_detectable)
    losses = []
    for name, scope in scopes.items():
        of_slice = detectable[[part == name for part in found.slice]]
        if not np.isnan(of_slice).all():
            losses.append(f"{with_places(float(np.nanmax(of_slice)), digits)} on {scope}")
    if losses:
        said += f" A loss of {', of '.join(losses)} is detected with probability .8."
    if np.isnan(detectable).any():
        said += " minimum_detectable is not defined (nan) where all topics have the same difference."
    return said


def _table(style: str) -> Callable[[Differences, int, set[str]], str]:
    def write(found: Differences, digits: int, _failing: set[str]) -> str:
        labels = ["run", "measure", *(["slice"] if len({*found.slice}) > 1 else [])]
        frame = found.to_frame().set_index(labels)
        details = [name for name in _DETAILS if frame[name].notna().any() or "judged" not in name]
        frame = frame[[*_VALUES, *details, "verdict"]]
        table = frame_text(frame, labels, style, digits)
        return "\n\n".join([table, *map(printable, (_sentences(found, digits), *found.notes))])

    return write


def _json(found: Differences, digits: int, _failing: set[str]) -> str:
    rows = [
        json.loads(json_line({str(name): _plain(value, digits) for name, value in row.items()}))
        for row in found.to_frame().to_dict("records")
    ]
    names = ["alternative", "test", "correction", "family", "alpha", "tolerance", "n_resamples"]
    names += ["passed", "notes"]
    return json.dumps({**{name: getattr(found, name) for name in names}, "comparisons": rows}, indent=2)


def _plain(value: Any, digits: int) -> Any:
    """Return a value of a frame as a Python object, rounded if it is a float."""
    value = value.item() if hasattr(value, "item") else value
    return round(value, digits) if isinstance(value, float) and digits >= 0 else value


def _junit(found: Differences, digits: int, failing: set[str]) -> str:
    """Return JUnit XML with a test case per comparison, which fails by its verdict."""
    suite = ET.Element("testsuite", name="ir_graded compare", tests=str(len(found.verdict)), errors="0")
    suite.set("failures", str(sum(verdict in failing for verdict in found.verdict)))
    for row in found.to_frame().to_dict("records"):
        name = printable(f"{row['measure']} on {row['slice']}")
        case = ET.SubElement(suite, "testcase", classname=printable(str(row["run"])), name=name, time="0")
        values = {
            name: p_text(row[name]) if name in P_VALUES else with_places(float(row[name]), digits)
            for name in _VALUES + _DETAILS
        }
        said = ", ".join(f"{name} {value}" for name, value in {"verdict": row["verdict"], **values}.items())
        if row["verdict"] in failing:
            message = f"{values['difference']} against {row['baseline']}, p {p_text(row['p_corrected'])}"
            ET.SubElement(case, "failure", message=printable(message), type=row["verdict"]).text = said
        else:
            ET.SubElement(case, "system-out").text = said
    if found.notes:
        ET.SubElement(suite, "system-out").text = printable(" ".join(found.notes))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode")


_OUTPUTS: dict[str, Callable[[Differences, int, set[str]], str]] = {
    "table": _table("table"),
    "markdown": _table("markdown"),
    "json": _json,
    "junit": _junit,
}


_FAIL_IF = click.option(
    "--fail-if",
    type=click.Choice(["worse", "inconclusive"]),
    help="Exit with 1 if a RUN is worse; with inconclusive also with 3 if none is, but one may be.",
)
#: Options of the test, and of what it weighs.
_TESTED = options.stacked(
    options.of(differences, "alternative", "family"),
    click.option(
        "--weights",
        metavar="FILE",
        help="Weights of topics, such as their traffic. FILE: lines of topic and weight.",
    ),
    click.option(
        "--slices",
        metavar="FILE",
        help="Also test each slice of topics separately. FILE: lines of topic and slice, separated by "
        "blanks, or by tabs or commas if topics hold blanks.",
    ),
)


@click.command()
@options.qrels
@click.argument("baseline", callback=options.one_run)
@options.runs
@options.measures
@_FAIL_IF
@_TESTED
@options.ties
@click.option(
    "-o",
    "--output",
    type=click.Choice(list(_OUTPUTS)),
    default="table",
    show_default=True,
    help="Output format.",
)
@options.places
@options.quiet
def compare(  # one parameter an option
    qrels: str,
    baseline: Any,
    runs: Any,
    measures: tuple[str, ...],
    output: str,
    places: int,
    **chosen: Any,
) -> int:
    """Find RUNs that are worse than BASELINE.

    A RUN is worse by a measure if its mean is lower by more than the tolerance and the difference is
    significant. With --fail-if worse the exit code is 1 if a RUN is worse by any measure on any slice, and 0
    if none is. With --fail-if inconclusive, which needs a tolerance, the exit code is 0 only if each RUN is
    shown to be better, equivalent or not worse, 1 if one is worse, and 3 otherwise. It is 2 if something
    could not be read or computed, or if none is worse and a test can never fail: it has too few topics, or
    BASELINE scores 0.
    """
    from ir_graded.evaluation.run_comparison import compare_runs

    read = options.read(measures)
    compared = partial(compare_runs, read, qrels, baseline, runs)
    return _gate(compared, output, places, **chosen)


@click.command()
@click.argument("assignments", nargs=-1, metavar="[ASSIGNMENTS]...")
@options.measures
@click.option("--nuggets", metavar="FILE", help="Nuggets of each topic: all count, also those not assigned.")
@click.option("--citations", metavar="FILE", help="Support of the citations, for CitationP and CitationR.")
@options.save
@options.by_topic
@click.option("--baseline", metavar="RUN", help="Test the other runs against this one, as in `compare`.")
@_FAIL_IF
@_TESTED
@click.option(
    "-o",
    "--output",
    type=click.Choice([*FORMATS, "junit", "json"]),
    default="table",
    show_default=True,
    help="Output format; junit and json with --baseline.",
)
@options.places
@options.quiet
def answers(
    assignments: tuple[str, ...],
    measures: tuple[str, ...],
    save: str | None,
    by_topic: bool,
    baseline: str | None,
    output: str,
    places: int,
    **chosen: Any,
) -> int:
    """Score answers by the nuggets that they support, and by their citations, best first.

    ASSIGNMENTS are files of nuggetizer: JSON Lines with an answer a line; runs are named by their run_id.
    Measures are NuggetScore, also by the original names such as strict_vital_score, CitationP and CitationR.
    With a --baseline the output, --fail-if and exit codes are those of `ir_graded compare`.
    """
    inputs = {name: chosen.pop(name) for name in ("nuggets", "citations")}
    formats = FORMATS if baseline is None else _OUTPUTS
    if baseline is None and (given := options.given(*chosen)):
        raise click.UsageError(f"{given[0]} needs --baseline")
    if output not in formats:
        raise click.UsageError(f"-o {output} is not a format here; choose from {', '.join(formats)}")
    if baseline is not None and by_topic:
        raise click.UsageError("--by-topic does not go with --baseline")
    scores = score_answers(options.read(measures), [*assignments] or None, **inputs)
    options.save_scores(scores, save)
    if baseline is None:
        show(FORMATS[output](Leaderboard.of(scores, by_topic), places))
        return 0
    against = find_run(baseline, dict.fromkeys(scores.runs)) or baseline
    topics, missing = len(scores.query_ids), scores.coverage.set_index("run")["topics_missing"]
    if (lacking := missing.get(against, 0)) > MOST_MISSING * topics:
        raise InputError(
            f"the baseline {against!r} lacks answers to {lacking} of the {topics} topics; no run could be "
            f"worse on them, so it must have at least {1 - MOST_MISSING:.0%}: add them or drop the topics"
        )
    compared = partial(differences, scores, against, alternative="less", family="all")
    return _gate(compared, output, places, **chosen)


def _gate(
    compared: Callable[..., Differences], output: str, places: int, *, fail_if: str | None, **chosen: Any
) -> int:
    """Print a comparison, and return the exit code."""
    if fail_if == "inconclusive" and not chosen["tolerance"]:
        raise click.UsageError("--fail-if inconclusive needs --tolerance above 0")
    never_worse = (TooFewTopicsWarning, NothingToLoseWarning)
    impossible: list[str] = []
    show_warning = warnings.showwarning

    def collect(message: Warning | str, category: type[Warning], *place: Any, **source: Any) -> None:
        if issubclass(category, never_worse):
            impossible.append(str(message))
        else:
            show_warning(message, category, *place, **source)

    with warnings.catch_warnings():
        if fail_if:
            for category in never_worse:
                warnings.simplefilter("always", category)
            warnings.showwarning = collect
        found = compared(**chosen)
    if impossible and found.passed:
        raise InputError(f"--fail-if {fail_if}: a comparison could never fail: {'; '.join(impossible)}")
    for message in impossible:
        warnings.warn(message, CoverageWarning, stacklevel=1)
    show(_OUTPUTS[output](found, places, {"worse", fail_if or "worse"}))
    if fail_if and not found.passed:
        return WORSE
    return INCONCLUSIVE if fail_if == "inconclusive" and "inconclusive" in found.verdict else 0
