"""``compare`` and ``answers``: find runs that are worse than a baseline, as a gate in scripts."""

from __future__ import annotations

import inspect
import json
import math
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from xml.etree import ElementTree as ET

import click

from ir_graded._utils.text_tables import FORMATS, in_markdown, json_line, places as with_places, wrapped
from ir_graded.errors import CoverageWarning, InputError, printable, short_repr
from ir_graded.evaluation.evaluate import evaluate
from ir_graded.evaluation.run_comparison import (
    MOST_MISSING,
    check_higher_is_better,
    compare_runs,
    named_with_baseline,
)
from ir_graded.evaluation.scores import Scores
from ir_graded.io.run_names import find_run, runs_of_arguments
from ir_graded.io.sources import named_runs
from ir_graded.measures.classic import scorer_of
from ir_graded.meta.differences import (
    FAILING,
    PASSING,
    VERDICTS,
    Differences,
    NothingToLoseWarning,
    differences,
    names_of_side,
    p_text,
)
from ir_graded.meta.intervals import BELOW_MINIMUM, Minima, minima
from ir_graded.meta.replicates import TooFewTopicsWarning
from ir_graded.plots.style import plural

from . import options
from .main import for_shell
from .output import ALL_TOPICS, P_VALUES, frame_text, leaderboard, show, show_note, width, written

if TYPE_CHECKING:
    import pandas as pd

_Found = TypeVar("_Found", "Differences", "Minima")

#: Exit codes if a run is worse, and if none is but one may be.
WORSE, INCONCLUSIVE = 1, 3
_VALUES = ["difference", "low", "high", "p_loss_corrected", "mean", "baseline_mean", "p_loss"]
_DETAILS = ["minimum", "unseen", "minimum_detectable", "judged", "baseline_judged"]
#: Values that comparisons may lack.
_SOMETIMES = {"minimum", "unseen", "judged", "baseline_judged"}
#: Values that comments leave out.
_MINOR = {"p_loss", "minimum_detectable"}
#: Largest size of a comment on GitHub, most rows and slices in one, and characters of a note.
_LARGEST_COMMENT, _MOST_ROWS, _MOST_SLICES, _LONGEST_NOTE = 65_536, 50, 10, 2_000
#: Most decimal places of a mean, which are rounded to 12 before they are compared with a minimum.
_MOST_PLACES = 12
#: What may fail a gate beside verdicts: failures that no topic shows.
_UNSEEN = "unseen"
#: All verdicts in the order of a comment.
_BY_CONCERN = (*FAILING, "inconclusive", "not worse", "equivalent", "better", *VERDICTS[-2:])


def _frame(found: Differences | Minima) -> pd.DataFrame:
    """Return the rows of a result, with p-values named by the side that was tested."""
    frame = found.to_frame()
    if isinstance(found, Minima):
        return frame
    without = [] if found.tolerance else [_UNSEEN]
    return frame.drop(columns=without).rename(columns=names_of_side(found.alternative))


def _fails(found: Differences | Minima, failing: set[str]) -> list[bool]:
    """Return which comparisons fail a gate, by their verdicts or by failures that no topic shows."""
    by_verdict = [verdict in failing for verdict in found.verdict]
    if _UNSEEN not in failing or isinstance(found, Minima):
        return by_verdict
    return [one or other for one, other in zip(by_verdict, found.unseen_exceeds.tolist(), strict=True)]


def _counted(verdicts: Iterable[str]) -> str:
    counts = Counter(verdicts)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])


def _summary(found: Differences | Minima) -> str:
    """Return how many comparisons have each verdict."""
    if isinstance(found, Minima):
        return (
            f"{plural(len(found.verdict), 'mean')} over {found.topics[0]} topics: {_counted(found.verdict)}."
        )
    return (
        f"{plural(len(found.verdict), 'comparison')} with {found.baseline[0]}: {_counted(found.verdict)} "
        f"(tolerance {found.tolerance:g}, alpha {found.alpha:g}, {100 - 200 * found.alpha:g}% intervals)."
    )


def _tested(found: Differences | Minima, digits: int, most: int | None = None) -> str:
    """Return how the verdicts were tested and the smallest losses that are detected, on so many slices."""
    import numpy as np

    if isinstance(found, Minima):
        return ""
    topics = dict(zip(found.slice, found.topics.tolist(), strict=True))
    effective = dict(zip(found.slice, found.effective_topics.tolist(), strict=True))
    worth = {
        name: "" if math.isclose(effective[name], size) else f" (effective: {effective[name]:.1f})"
        for name, size in topics.items()
    }
    scopes = {
        name: f"{size} topics{worth[name]}" if at == 0 else f"the {size} of slice {name}{worth[name]}"
        for at, (name, size) in enumerate(topics.items())
    }
    kept = dict([*scopes.items()][:most])
    left = f" and on {plural(len(scopes) - len(kept), 'more slice')}" if len(kept) < len(scopes) else ""
    said = (
        f"One-sided {found.test} test on {', on '.join(kept.values())}{left}, correction {found.correction}."
    )
    detectable = np.array(found.minimum_detectable)
    losses, several = [], len({*found.measure}) > 1
    for name, scope in kept.items():
        of_slice = np.where([part == name for part in found.slice], detectable, np.nan)
        if not np.isnan(of_slice).all():
            at = int(np.nanargmax(of_slice))
            by = f" by {found.measure[at]}" if several else ""
            losses.append(f"{with_places(float(of_slice[at]), digits)}{by} on {scope}")
    if losses:
        said += f" A loss of {', of '.join(losses)} is detected with probability .8."
    if np.isnan(detectable).any():
        said += " minimum_detectable is not defined (nan) where all topics have the same difference."
    return said


def _columns(
    frame: pd.DataFrame, digits: int, leave_out: Collection[str] = ()
) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of comparisons without columns that say nothing, and the names of their labels."""
    labels = ["run", "measure", *(["slice"] if "slice" in frame and frame["slice"].nunique() > 1 else [])]
    names = [name for name in (*_VALUES, *_DETAILS) if name in frame and name not in leave_out]
    kept = [name for name in names if name not in _SOMETIMES or frame[name].notna().any()]
    if "minimum" in kept:
        frame = frame.astype({"mean": object, "minimum": object})
        for row in frame.index:
            more = _apart(frame.loc[row].to_dict(), digits)
            if more != digits:
                frame.loc[row, ["mean", "minimum"]] = [
                    with_places(frame.loc[row, name], more) for name in ("mean", "minimum")
                ]
    for name in {"minimum", _UNSEEN} & {*kept}:
        frame[name] = frame[name].astype(object).where(frame[name].notna(), "")
    return frame.set_index(labels)[["verdict", *kept]], labels


def _apart(row: Mapping[Any, Any], digits: int) -> int:
    """Return how many decimal places show that a mean is below its minimum, at least ``digits``."""
    if row["verdict"] not in BELOW_MINIMUM or digits < 0:
        return digits
    places = range(digits, _MOST_PLACES)
    apart = (one for one in places if round(row["mean"], one) != round(row["minimum"], one))
    return next(apart, max(digits, _MOST_PLACES))


def _table(found: Differences | Minima, digits: int, _failing: set[str]) -> str:
    frame, labels = _columns(_frame(found), digits)
    said = " ".join(filter(None, [_summary(found), _tested(found, digits)]))
    table = frame_text(frame, labels, "table", digits)
    return "\n\n".join([table, *(wrapped(printable(text), width()) for text in (said, *found.notes))])


def _csv(found: Differences | Minima, digits: int, _failing: set[str]) -> str:
    """Return the rows of the table; p-values are not rounded, as no p-value is 0."""
    frame, labels = _columns(_frame(found), digits)
    exact = {name: frame[name].map(lambda p: repr(float(p))) for name in P_VALUES if name in frame}
    return frame_text(frame.assign(**exact), labels, "csv", digits)


def _markdown(found: Differences | Minima, digits: int, failing: set[str]) -> str:
    """Return a comment for a pull request: the worst verdict, the table by concern, and how it was tested."""
    frame, labels = _columns(_frame(found), digits, _MINOR)
    frame = frame.sort_values("verdict", key=lambda names: names.map(_BY_CONCERN.index), kind="stable")
    worst = frame["verdict"].iloc[0]
    if worst in PASSING and any(_fails(found, failing)):
        worst = "inconclusive, as failures may be unseen"
    head = f"**{worst.capitalize()}**: {in_markdown(_summary(found))}"
    said = [_tested(found, digits, 1 + _MOST_SLICES), *found.notes]
    said = [
        note if len(note) <= _LONGEST_NOTE else f"{note[:_LONGEST_NOTE]} ... (cut)" for note in said if note
    ]
    rows = _MOST_ROWS
    while True:
        parts = [head, frame_text(frame[:rows], labels, "markdown", digits)] if rows else [head]
        if len(frame) > rows:
            left = frame["verdict"].iloc[rows:]
            parts.append(f"And {len(left)} more: {_counted(left)}. `-o table` and `-o json` show all.")
        text = "\n\n".join([*parts, *map(in_markdown, said)])
        if len(text) < _LARGEST_COMMENT:
            return text
        if not rows:
            return f"{text[: _LARGEST_COMMENT - 20]} ... (cut)"
        rows //= 2


def _json(found: Differences | Minima, digits: int, _failing: set[str]) -> str:
    rows = []
    for row in _frame(found).to_dict("records"):
        # No p-value is 0, so it is not rounded.
        places = dict.fromkeys(("mean", "minimum"), _apart(row, digits)) | dict.fromkeys(P_VALUES, -1)
        plain = {str(name): _plain(value, places.get(str(name), digits)) for name, value in row.items()}
        rows.append(json.loads(json_line(plain)))
    names = ["alternative", "test", "correction", "family", "alpha", "tolerance", "n_resamples"]
    names += ["passed", "notes"]
    given = {name: getattr(found, name) for name in names if hasattr(found, name)}
    return json.dumps({**given, "comparisons": rows}, indent=2)


def _plain(value: Any, digits: int) -> Any:
    """Return a value of a frame as a Python object, rounded if it is a float."""
    value = value.item() if hasattr(value, "item") else value
    return round(value, digits) if isinstance(value, float) and digits >= 0 else value


def _junit(found: Differences | Minima, digits: int, failing: set[str]) -> str:
    """Return JUnit XML with a test case per comparison, which fails by its verdict."""
    suite = ET.Element("testsuite", name="ir_graded compare", tests=str(len(found.verdict)), errors="0")
    fails = _fails(found, failing)
    suite.set("failures", str(sum(fails)))
    for row, failed in zip(_frame(found).to_dict("records"), fails, strict=True):
        name = printable(f"{row['measure']} on {row.get('slice', ALL_TOPICS)}")
        case = ET.SubElement(suite, "testcase", classname=printable(str(row["run"])), name=name, time="0")
        more = {name: _apart(row, digits) for name in ("mean", "minimum")}
        values = {
            name: p_text(row[name])
            if name in P_VALUES
            else with_places(float(row[name]), more.get(str(name), digits))
            for name in _VALUES + _DETAILS
            if name in row and not (name in {"minimum", _UNSEEN} and math.isnan(row[name]))
        }
        said = ", ".join(f"{name} {value}" for name, value in {"verdict": row["verdict"], **values}.items())
        if failed:
            messages = []
            if row["verdict"] in BELOW_MINIMUM:
                messages.append(f"mean {row['mean']:.10g} below minimum {row['minimum']:.10g}")
            if row["verdict"] in PASSING:
                messages.append(f"failures that no topic shows may cost {row[_UNSEEN]:.4g}")
            elif row["verdict"] != BELOW_MINIMUM[1]:
                against = f"{values['difference']} against {row['baseline']}"
                messages.append(f"{against}, corrected p {p_text(row['p_loss_corrected'])}")
            message = "; ".join(messages)
            kind = _UNSEEN if row["verdict"] in PASSING else row["verdict"]
            ET.SubElement(case, "failure", message=printable(message), type=kind).text = said
        else:
            ET.SubElement(case, "system-out").text = said
    if found.notes:
        ET.SubElement(suite, "system-out").text = printable(" ".join(found.notes))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode")


_OUTPUTS: dict[str, Callable[[Any, int, set[str]], str]] = {
    "table": _table,
    "csv": _csv,
    "markdown": _markdown,
    "json": _json,
    "junit": _junit,
}


def _read_minima(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> Any:
    """Return the lowest mean of each measure, None without any."""
    found: dict[Any, float] = {}
    for text in given:
        name, _, number = text.rpartition("=")
        try:
            lowest = float(number)
        except ValueError:
            lowest = math.nan
        measures = options.read([name]) if math.isfinite(lowest) else []
        if len(measures) != 1:
            raise click.BadParameter(f"{short_repr(text)} must be MEASURE=MEAN, such as nDCG@10=.65")
        if measures[0] in found:
            raise click.BadParameter(f"{measures[0]} has two minima, {found[measures[0]]:g} and {lowest:g}")
        scorer = scorer_of(measures[0])
        ends = (-math.inf, math.inf) if scorer is None else scorer.RANGE
        if not ends[0] < lowest <= ends[1]:
            side, end, other = (
                ("below", lowest, "higher") if lowest <= ends[0] else ("above", ends[1], "lower")
            )
            raise click.BadParameter(
                f"no mean of {measures[0]} is {side} {end:g}, and the minimum is {lowest:g}; "
                f"give a {other} one"
            )
        found[measures[0]] = lowest
    return found or None


_FAIL_IF = options.stacked(
    click.option(
        "--fail-if",
        type=click.Choice(["worse", "inconclusive"]),
        help="Exit with 1 if a RUN is worse; with inconclusive also with 3 if none is, but one may be.",
    ),
    click.option(
        "--unseen",
        type=click.Choice(["fail", "ignore"]),
        default="fail",
        show_default=True,
        help="With --fail-if inconclusive: whether to exit with 3 where fewer than 8 topics differ, and "
        "failures too rare to be among the topics could exceed the tolerance.",
    ),
)
#: Options of the test, and of what it weighs.
_TESTED = options.stacked(
    options.of(differences, "alternative", "family"),
    options.weights,
    options.clusters,
    options.slices,
    click.option(
        "--min",
        "minimum",
        multiple=True,
        metavar="MEASURE=MEAN",
        callback=_read_minima,
        help="Exit with 1 if the mean of a RUN over all topics is below this number; needs no test. "
        "Repeatable.",
    ),
)


@click.command()
@options.qrels
@click.argument("baseline", callback=options.one_path)
@options.optional_paths
@options.measures
@_FAIL_IF
@_TESTED
@options.scored
@options.output(_OUTPUTS)
@options.places
@options.wide
@options.quiet
def compare(  # one parameter an option
    qrels: str,
    baseline: Any,
    runs: Any,
    measures: tuple[str, ...],
    output: str,
    places: int,
    groups: tuple[str, ...],
    **chosen: Any,
) -> int:
    """Find RUNs that are worse than BASELINE, with an exit code for builds.

    A RUN is worse by a measure if its mean is lower by more than the tolerance and the difference is
    significant. With --fail-if worse the exit code is 1 if a RUN is worse by any measure on any slice, and 0
    if none is. With --fail-if inconclusive, which needs a tolerance, the exit code is 0 only if each RUN is
    shown to be better, equivalent or not worse, 1 if one is worse, and 3 otherwise. It is 2 if something
    could not be read or computed, or if none is worse and a test can never fail: it has too few topics, or
    BASELINE scores 0.

    With --min the exit code is 1 if the mean of a RUN is below this number. With --min alone, without any
    RUN, it checks BASELINE.
    """
    read = options.read(measures)
    judged = options.judgments(qrels, None, None, groups)
    if not runs:
        return _check_alone(read, judged, baseline, output, places, **chosen)

    def compared(**chosen: Any) -> Differences:
        against, others = baseline, runs
        name, named = named_with_baseline(baseline, runs)
        given = next(iter(named_runs(baseline).values()))
        if given.exists and len(named) <= len(named_runs(runs)):
            text = f"the baseline {name!r} is also among the runs, and is not compared with itself"
            warnings.warn(text, CoverageWarning, stacklevel=1)
        if options.has_query_ids():
            others = options.with_query_ids(named)
            against = {name: others.pop(name)}
        return compare_runs(read, judged, against, others, **chosen)

    return _gate(compared, output, places, **chosen)


def _check_alone(  # one parameter an option
    measures: list[Any], judged: Any, run: Any, output: str, places: int, **chosen: Any
) -> int:
    """Print the means of a run with their minima, and return the exit code."""
    if chosen["minimum"] is None:
        raise click.UsageError("give RUNs to compare with BASELINE, or --min to check BASELINE alone")
    scoring = {*inspect.signature(evaluate).parameters} & {*chosen}
    of_tests = options.given(*({*chosen} - scoring - {"minimum", "weights"}))
    if of_tests:
        raise click.UsageError(
            f"{of_tests[0]} needs RUNs to compare with BASELINE; --min alone tests nothing"
        )
    check_higher_is_better(measures)

    def checked() -> Minima:
        runs = options.with_query_ids(run)
        scores = evaluate(measures, judged, runs, **{name: chosen[name] for name in scoring})
        return minima(scores, chosen["minimum"], weights=chosen["weights"])

    found, said = _with_warnings(checked)
    _issue(said)
    found = _noted(found, "Means are", chosen["weights"], said, output)
    show(_OUTPUTS[output](found, places, {*FAILING}))
    return 0 if found.passed else WORSE


@click.command()
@click.argument(
    "assignments",
    nargs=-1,
    metavar="[ASSIGNMENTS]...",
    callback=lambda _context, _argument, given: runs_of_arguments(given),
)
@options.measures
@click.option("--nuggets", metavar="FILE", help="Nuggets of each topic: all count, also those not assigned.")
@click.option("--citations", metavar="FILE", help="Support of the citations, for CitationP and CitationR.")
@options.save
@options.by_topic
@click.option("--baseline", metavar="RUN", help="Test the other runs against this one, as in `compare`.")
@_FAIL_IF
@_TESTED
@options.output([*FORMATS, "junit", "json"], "Output format; junit and json with --baseline.")
@options.places
@options.wide
@options.quiet
def answers(
    assignments: list[str] | dict[str, str],
    measures: tuple[str, ...],
    save: str | None,
    by_topic: bool,
    baseline: str | None,
    output: str,
    places: int,
    **chosen: Any,
) -> int:
    """Score answers by the nuggets that they support, and by their citations, best first.

    ASSIGNMENTS are files of nuggetizer: JSON Lines with an answer a line. Runs are named by their run_id; if
    one is given as NAME=FILE, the others by their files.
    Measures are NuggetScore, also by the original names such as strict_vital_score, CitationP and CitationR.
    With a --baseline the output, --fail-if and exit codes are those of `ir_graded compare`.
    """
    from ir_graded.analyses.answers import score_answers  # imports Polars, which ``compare`` may not need

    inputs = {name: chosen.pop(name) for name in ("nuggets", "citations")}
    formats = FORMATS if baseline is None else _OUTPUTS
    if baseline is None and (given := options.given(*chosen)):
        raise click.UsageError(f"{given[0]} needs --baseline")
    if output not in formats:
        raise click.UsageError(f"-o {output} is not a format here; choose from {', '.join(formats)}")
    if baseline is not None and by_topic:
        raise click.UsageError("--by-topic does not go with --baseline")

    options.check_written()

    def scored() -> Scores:
        found = score_answers(options.read(measures), assignments or None, **inputs)
        options.save_scores(found, save)
        return found

    if baseline is None:
        show(written(leaderboard(scored(), by_topic), output, places))
        return 0

    def compared(**chosen: Any) -> Differences:
        scores = scored()
        against = find_run(baseline, dict.fromkeys(scores.runs)) or baseline
        topics, missing = len(scores.query_ids), scores.coverage.set_index("run")["topics_missing"]
        if (lacking := missing.get(against, 0)) > MOST_MISSING * topics:
            raise InputError(
                f"the baseline {against!r} lacks answers to {lacking} of the {topics} topics; no run could "
                f"be worse on them, so it must have at least {1 - MOST_MISSING:.0%}: add them or drop the "
                "topics"
            )
        return differences(scores, against, alternative="less", family="all", **chosen)

    return _gate(compared, output, places, **chosen)


def _gate(
    compared: Callable[..., Differences],
    output: str,
    places: int,
    *,
    fail_if: str | None,
    unseen: str,
    **chosen: Any,
) -> int:
    """Print a comparison, and return the exit code."""
    if fail_if != "inconclusive" and options.given("unseen"):
        raise click.UsageError("--unseen needs --fail-if inconclusive")
    if fail_if == "inconclusive" and not chosen["tolerance"]:
        raise click.UsageError("--fail-if inconclusive needs --tolerance above 0")
    found, said = _with_warnings(partial(compared, **chosen))
    never_worse = [
        one for one in said if issubclass(one.category, (TooFewTopicsWarning, NothingToLoseWarning))
    ]
    if fail_if and never_worse and found.passed:
        _issue([one for one in said if one not in never_worse])
        reasons = "; ".join(str(one.message) for one in never_worse)
        raise InputError(f"--fail-if {fail_if}: a comparison could never fail: {reasons}")
    _issue(said)
    found = _noted(found, "Means and tests are", chosen["weights"], said, output)
    failing = {*FAILING, fail_if or "worse"}
    if fail_if == "inconclusive" and unseen == "fail":
        failing.add(_UNSEEN)
    show(_OUTPUTS[output](found, places, failing))
    if {*found.verdict} & {*(FAILING if fail_if else BELOW_MINIMUM)}:
        return WORSE
    doubtful = "inconclusive" in found.verdict or (_UNSEEN in failing and found.unseen_exceeds.any())
    return INCONCLUSIVE if fail_if == "inconclusive" and doubtful else 0


def _with_warnings(compute: Callable[[], _Found]) -> tuple[_Found, list[warnings.WarningMessage]]:
    """Return a result and its warnings, also with ``--quiet``; after an error the warnings are issued."""
    said: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", CoverageWarning)
            found = compute()
    except Exception:
        _issue(said)
        raise
    return found, said


def _issue(said: Iterable[warnings.WarningMessage]) -> None:
    for one in said:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def _noted(
    found: _Found,
    weighted: str,
    weights: str | None,
    said: Iterable[warnings.WarningMessage],
    output: str,
) -> _Found:
    """Return a result with notes on weights and, in outputs that programs and comments show, on warnings."""
    notes = [*found.notes]
    if weights is not None:
        notes.append(note := f"{weighted} weighted by {weights}.")
        if output == "csv":
            show_note(note, output)
    known = {note.casefold().rstrip(".") for note in notes}
    for one in said if output != "table" else ():
        text = for_shell(str(one.message), click.get_current_context().command)
        if issubclass(one.category, CoverageWarning) and text.casefold().rstrip(".") not in known:
            # The first word may be the name of a file.
            text = f"{text[:1].upper()}{text[1:]}" if text.partition(" ")[0].isalpha() else text
            notes.append(f"{text.rstrip('.')}.")
    return replace(found, notes=tuple(notes))
