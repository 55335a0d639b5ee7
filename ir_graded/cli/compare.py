"""``ir_graded compare``: find runs that are worse than a baseline, in scripts and continuous integration."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import click

from ir_graded.errors import CoverageWarning, InputError, printable
from ir_graded.meta.baseline import NothingToLoseWarning, Regressions, regressions
from ir_graded.meta.samples import TooFewTopicsWarning

from . import options
from .output import FORMATS, Leaderboard, json_line, places as with_places, show

#: Exit code if a run is worse.
WORSE = 1
_VALUES = ["baseline", "mean", "difference", "p", "p_corrected", "minimum_detectable"]
_JUDGED = ["judged", "baseline_judged"]


def _sentences(found: Regressions, digits: int) -> str:
    """Return how many comparisons failed, how they were tested and the smallest loss that they detect."""
    import numpy as np

    tests, worse = found.p.size, int(found.worse.sum())
    scopes = [f"{found.topics[0]} topics"] + [
        f"the {topics} of slice {name}"
        for name, topics in zip(found.slices[1:], found.topics[1:], strict=True)
    ]
    said = (
        f"{worse} of {tests} comparisons with {found.baseline} worse (loss above {found.tolerance:g}, "
        f"corrected p below {found.alpha:g}). One-sided {found.test} test on {', on '.join(scopes)}, "
        f"correction {found.correction}."
    )
    losses, undefined = [], False
    rows = zip(scopes, found.minimum_detectable, found.smallest_p_corrected, strict=True)
    for scope, detectable, least in rows:
        if (least >= found.alpha).any():
            continue  # the test used can find no loss
        undefined |= bool(np.isnan(detectable).any())
        if not np.isnan(detectable).all():
            losses.append(f"{with_places(float(np.nanmax(detectable)), digits)} on {scope}")
    if losses:
        beyond = " and this tolerance" if found.tolerance else ""
        said += (
            f" A one-sided paired t test at alpha={found.alpha_of_each:.3g}{beyond} detects a loss of "
            f"{', of '.join(losses)} with probability .8."
        )
    if undefined:
        said += " minimum_detectable is not defined (nan) where all topics have the same difference."
    return said


def _table(style: str) -> Callable[[Regressions, int], str]:
    def write(found: Regressions, digits: int) -> str:
        frame = found.to_frame()
        labels = ["run", "measure", *(["slice"] if len(found.slices) > 1 else [])]
        verdict = ["worse" if worse else "ok" for worse in frame["worse"]]
        cells = frame[_VALUES + _JUDGED].to_numpy().tolist()
        rows = [
            ([str(label) for label in of_row], [*values, said])
            for of_row, values, said in zip(frame[labels].to_numpy().tolist(), cells, verdict, strict=True)
        ]
        table = FORMATS[style](
            Leaderboard(labels, [*_VALUES, *_JUDGED, "verdict"], rows, "statistic"), digits
        )
        return "\n\n".join([table, *map(printable, (_sentences(found, digits), *found.notes))])

    return write


def _json(found: Regressions, digits: int) -> str:
    rows = [
        json.loads(json_line({str(name): _plain(value, digits) for name, value in row.items()}))
        for row in found.to_frame().to_dict("records")
    ]
    names = ("baseline", "alpha", "tolerance", "test", "correction", "n_resamples", "passed", "notes")
    return json.dumps({**{name: getattr(found, name) for name in names}, "comparisons": rows}, indent=2)


def _plain(value: Any, digits: int) -> Any:
    """Return a value of a frame as a Python object, rounded if it is a float."""
    value = value.item() if hasattr(value, "item") else value
    return round(value, digits) if isinstance(value, float) and digits >= 0 else value


def _junit(found: Regressions, digits: int) -> str:
    """Return JUnit XML with a test case per comparison, which fails if the run is worse."""
    suite = ET.Element("testsuite", name="ir_graded compare", tests=str(found.p.size), errors="0")
    suite.set("failures", str(int(found.worse.sum())))
    for row in found.to_frame().to_dict("records"):
        name = printable(f"{row['measure']} on {row['slice']}")
        case = ET.SubElement(suite, "testcase", classname=printable(str(row["run"])), name=name, time="0")
        values = {name: with_places(float(row[name]), digits) for name in _VALUES + _JUDGED}
        said = ", ".join(f"{name} {value}" for name, value in values.items())
        if row["worse"]:
            message = f"{values['difference']} against {found.baseline}, p {values['p_corrected']}"
            ET.SubElement(case, "failure", message=printable(message), type="worse").text = said
        else:
            ET.SubElement(case, "system-out").text = said
    if found.notes:
        ET.SubElement(suite, "system-out").text = printable(" ".join(found.notes))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode")


_OUTPUTS: dict[str, Callable[[Regressions, int], str]] = {
    "table": _table("table"),
    "markdown": _table("markdown"),
    "json": _json,
    "junit": _junit,
}


@click.command()
@options.qrels
@click.argument("baseline")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@options.measures
@click.option(
    "--fail-if", type=click.Choice(["worse"]), help="Exit with 1 if a RUN is worse, otherwise with 0."
)
@options.of(regressions)
@click.option(
    "--slices",
    metavar="FILE",
    help="Also test each slice of topics separately. FILE: lines of topic and slice, separated by blanks, or "
    "by tabs or commas if topics hold blanks.",
)
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
    baseline: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    fail_if: str | None,
    output: str,
    places: int,
    **chosen: Any,
) -> int:
    """Find RUNs that are worse than BASELINE.

    A RUN is worse by a measure if its mean is lower by more than the tolerance and the difference is
    significant. With --fail-if worse the exit code is 1 if a RUN is worse by any measure on any slice, 0 if
    none is, and 2 if something could not be read or computed, or if none is and a test can never fail: it has
    too few topics, or BASELINE scores 0.
    """
    from ir_graded.evaluation.run_comparison import compare_runs

    never_worse = (TooFewTopicsWarning, NothingToLoseWarning)
    impossible: list[str] = []
    show_warning = warnings.showwarning

    def collect(message: Warning | str, category: type[Warning], *place: Any, **source: Any) -> None:
        if issubclass(category, never_worse):
            impossible.append(str(message))
        else:
            show_warning(message, category, *place, **source)

    read = options.read(measures)
    with warnings.catch_warnings():
        if fail_if:
            for category in never_worse:
                warnings.simplefilter("always", category)
            warnings.showwarning = collect
        found = compare_runs(read, qrels, baseline, list(runs), **chosen)
    if impossible and found.passed:
        raise InputError(f"--fail-if {fail_if}: a comparison could never fail: {'; '.join(impossible)}")
    for message in impossible:
        warnings.warn(message, CoverageWarning, stacklevel=1)
    show(_OUTPUTS[output](found, places))
    return WORSE if fail_if and not found.passed else 0
