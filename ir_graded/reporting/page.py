"""``report``: evaluate runs and write one self-contained HTML page."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from importlib.resources import files
from inspect import signature
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_graded._utils.atomic_files import check_writable, write_whole
from ir_graded._utils.later import extra
from ir_graded._utils.publications import short_citations
from ir_graded.analyses.score_intervals import MOST_IMPUTED
from ir_graded.errors import ParameterError
from ir_graded.evaluation.evaluate import OF_ROWS
from ir_graded.evaluation.scores import Scores
from ir_graded.evaluation.tables import TOO_FEW
from ir_graded.measures.descriptions import settings_of
from ir_graded.measures.parsing import read_measures
from ir_graded.meta.differences import p_text
from ir_graded.meta.options import statistic
from ir_graded.meta.paired_tests import CORRECTIONS, TESTS, TESTS_OF_DIFFERENCES

from .contents import UNJUDGED_AT, Contents, collect, note, of_scores, packed, versions


@statistic(test=TESTS_OF_DIFFERENCES, correction=CORRECTIONS)
def report(  # noqa: PLR0913  # what to evaluate, and how
    measures: Iterable[str | Measure] | str | Measure | Scores,
    qrels: Any = None,
    runs: Any = None,
    path: str | os.PathLike[str] = "",
    *,
    baseline: str | None = None,
    confidence: float = 0.95,
    n_samples: int = 0,
    depth: int | None = None,
    rng: int = 0,
    test: str = "randomisation",
    correction: str | None = None,
    duplicates: str = "raise",
    ignore_identical_ids: bool = False,
    without_relevant: str = "zero",
    weights: Any = None,
    clusters: Any = None,
    title: str = "",
    queries: Any = None,
    documents: Any = None,
) -> None:
    """Evaluate runs and write one HTML page: leaderboard, any two runs, topics, measures, ranked lists.

    The page needs no network, and without JavaScript it shows the leaderboard as a table. It has the first 20
    documents of each run and topic, with their levels and what they add to the score by the first measure,
    and the best relevant documents that are not among them.
    Means have Student's intervals over the topics (``ir_graded.meta.confidence_intervals``), or "too few
    topics" where one is wider than half the range of the measure. With a baseline, each run is tested against
    it (``ir_graded.meta.differences``, two-sided), with alpha ``1 - confidence``, and the mean of their
    rank-biased overlap (``ir_graded.rbo``) is shown. The first measure has confidence sets for ranks
    (``ir_graded.meta.ranks``, by ``test`` if it takes that test).
    Warnings of ``evaluate``, for example about missing topics of a run, are issued and shown on the page. The
    same input and options give the same page. The file is written as a whole or not at all.

    Args:
        measures: measure objects and strings, as in ``evaluate``; the first orders the leaderboard. Or
            ``Scores``, with ``path=``: the page then lacks what needs qrels, such as unjudged documents.
        qrels: qrels in any form of ``evaluate``, with at least two topics.
        runs: one or several runs in any form of ``evaluate``.
        path: the HTML file to write; an existing file is replaced.
        baseline: name or path of the run to test the others against; None for no tests.
        confidence: confidence level, between 0 and 1.
        n_samples: number of samples of the judgments for intervals from unjudged documents
            (``ir_graded.score_intervals``), shown beside the intervals over topics; 0 for none.
        depth: rank down to which unjudged documents get levels in these samples; by default the largest
            cutoff of the measures.
        rng: the seed, a whole number >= 0.
        test: the test against the baseline: {test}.
        correction: the correction for the runs of a measure: {correction}. None for that of the test.
        duplicates: which row counts of a document that a run repeats in a topic: 'first', or 'best', the
            first with the highest score; with 'raise', a repetition is an error.
        ignore_identical_ids: leave out the documents of a run whose id is that of their topic, as in
            ``evaluate``.
        without_relevant: topics of the qrels without a document of a level above 0: 'zero' keeps them,
            'leave out' leaves them out of all results, as in ``evaluate``.
        weights: weights of the topics in means, intervals and tests, as for ``meta.differences``.
        clusters: the cluster of each topic in intervals, tests and ranks, as for ``meta.differences``.
        title: heading of the page, by default "Evaluation report".
        queries: texts of the topics: a dict, a frame with query_id and text, or a dataset of ir_datasets or
            its id.
        documents: texts of the documents in the lists, likewise (doc_id and text); they are shortened.

    Raises:
        GradedError: jinja2 is not installed: ``pip install 'ir-graded[report]'``.
        InputError: the qrels, a run or texts cannot be read, or there are fewer than two topics.
        ParameterError: an option is out of range or needs qrels, which scores lack, the baseline is not a
            run, or ``1 - confidence`` is too small for any significant difference.
        OSError: the file cannot be written.

    Warns:
        CoverageWarning: a run does not match the qrels well, or the topics are so few that no difference from
            the baseline can be significant, or no judged document is non-relevant, so that intervals from
            unjudged documents are left out. The page then says so.

    Example:
        >>> import ir_graded, tempfile, pathlib
        >>> covid = ir_graded.sample()
        >>> runs = {name: covid.runs[name] for name in ("bm25_baseline", "sab20.1.meta.docs")}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     place = pathlib.Path(folder, "report.html")
        ...     ir_graded.report(["Q", "AP"], covid.qrels, runs, place, baseline="bm25_baseline")
        ...     print(place.read_text(encoding="utf-8")[:15])
        <!doctype html>
    """
    options: dict[str, Any] = {"baseline": baseline, "confidence": confidence}
    options |= {"n_samples": n_samples, "depth": depth, "rng": rng, "test": test, "correction": correction}
    options |= {"weights": weights, "clusters": clusters, "title": title}
    of_inputs = {"queries": queries, "documents": documents, "duplicates": duplicates}
    of_inputs |= {"ignore_identical_ids": ignore_identical_ids, "without_relevant": without_relevant}
    if not path:
        raise ParameterError("report: path is missing, the HTML file to write")
    if isinstance(measures, Scores):
        of_qrels = {"n_samples": options.pop("n_samples") or None, "depth": options.pop("depth")}
        of_qrels |= {
            name: one for name, one in of_inputs.items() if name not in _LEFT_OUT or one != _DEFAULTS[name]
        }
        of_qrels |= {"qrels": qrels, "runs": runs}
        if given := [name for name, value in of_qrels.items() if value is not None]:
            raise ParameterError(f"report: a page of Scores takes no {given[0]}: give measures instead")
        command = _call(["scores", "path='report.html'"], options)
        _write(path, options, lambda: of_scores(measures, **options, command=command))
        return
    chosen = read_measures(measures)
    options |= of_inputs
    inputs = [str([*map(str, chosen)]), _shown(qrels, "qrels"), _shown(runs, "runs"), "'report.html'"]
    write_report(chosen, qrels, runs, path, **options, command=_call(inputs, options))


_DEFAULTS = {name: one.default for name, one in signature(report).parameters.items()}
#: Options whose defaults the call on the page leaves out, besides None.
_LEFT_OUT = ("test", "title", *OF_ROWS)
#: Options that are data, which the call names, unless it can show a path.
_SOURCES = ("weights", "clusters", "queries", "documents")
#: Options that change no number.
_NO_NUMBERS = ("baseline", "rng", "title", "command")


def _call(inputs: list[str], options: dict[str, Any]) -> str:
    """Return a call of ``report`` as code, without options that have their usual value."""
    shown = {
        name: _shown(value, name) if name in _SOURCES else repr(value)
        for name, value in options.items()
        if value is not None and not (name in _LEFT_OUT and value == _DEFAULTS[name])
    }
    return f"ir_graded.report({', '.join([*inputs, *map('='.join, shown.items())])})"


def _changed(options: Mapping[str, Any]) -> str:
    """Return the options that change numbers and do not have their default, such as ``test='t'``."""
    sources = [name for name in ("weights", "clusters") if options[name] is not None]
    others = {name: one for name, one in options.items() if name not in {*_SOURCES, *_NO_NUMBERS}}
    return ", ".join(
        [*sources, *(f"{name}={one!r}" for name, one in others.items() if one != _DEFAULTS[name])]
    )


def _shown(source: Any, name: str) -> str:
    """Return paths as code, and anything else as the name of its parameter."""
    paths = source if isinstance(source, (list, tuple)) and source else [source]
    if not all(isinstance(one, (str, os.PathLike)) for one in paths):
        return name
    return repr([*map(os.fspath, paths)] if paths is source else os.fspath(source))


def write_report(
    measures: list[Measure], qrels: Any, runs: Any, path: str | os.PathLike[str], *, rng: int, **options: Any
) -> Contents:
    """Write a report as ``report`` does, with the ``command`` that the page shows; return what it shows."""
    options["rng"] = rng
    return _write(path, options, lambda: collect(measures, qrels, runs, **options))


def _write(
    path: str | os.PathLike[str], options: Mapping[str, Any], collected: Callable[[], Contents]
) -> Contents:
    extra("jinja2")
    if isinstance(rng := options["rng"], np.random.Generator):
        raise ParameterError(f"{rng=} must be a whole number >= 0, which the page can show")
    place, changed = check_writable(path), _changed(options)
    contents = replace(collected(), changed=changed)
    write_whole(place, render(contents).encode("utf-8", errors="backslashreplace"))
    return contents


def render(contents: Contents) -> str:
    """Return the HTML page of a report."""
    markup = extra("markupsafe").Markup
    script, depths = _template("page.js"), contents.unjudged.depths if contents.unjudged else ()
    text: str = (
        _environment()
        .get_template("page.html.j2")
        .render(
            contents=contents,
            test=contents.tests and TESTS[contents.tests.test],
            test_source=contents.tests and short_citations(TESTS[contents.tests.test].source),
            correction=contents.tests and CORRECTIONS[contents.tests.correction],
            ranks=of_ranks(contents),
            ranks_test=contents.ranks and TESTS[contents.ranks.test].name,
            board=list(_board(contents)),
            most_imputed=MOST_IMPUTED,
            too_few=TOO_FEW,
            unjudged_at=depths.index(UNJUDGED_AT) if UNJUDGED_AT in depths else None,
            notes=[note(measure) for measure in contents.scores.measures],
            settings=settings_of(
                ((str(measure), measure) for measure in contents.scores.measures),
                ties=contents.scores.signature.options.get("ties"),
            ),
            versions=versions(),
            signature=replace(contents.scores.signature, seed=contents.rng),
            level=f"{100 * contents.intervals.confidence:g}%",
            style=markup(_template("page.css")),
            data=markup(packed(contents)),
            script=markup(script),
            script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        )
    )
    return text


@cache
def _environment() -> Any:
    """Return the environment of the page, which keeps the compiled template."""
    jinja2 = extra("jinja2")
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _template(name: str) -> str:
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Cell:
    """Mean of a run on the leaderboard with its interval in words, and the test against the baseline."""

    mean: float
    ends: str
    difference: float | None = None
    p: str = ""
    #: 'better' or 'worse' if significant.
    verdict: str = ""
    #: NaN if all differences are equal.
    detectable: float | None = None


def _board(contents: Contents) -> Iterator[tuple[str, list[Cell]]]:
    """Yield runs, best first by the first measure, with their cells."""
    found, tests = contents.intervals, contents.tests
    rows = () if tests is None else zip(tests.run, tests.measure, range(len(tests.run)), strict=True)
    tested = {(run, measure): row for run, measure, row in rows}
    detectable = None if tests is None else tests.minimum_detectable
    for number in contents.best_first:
        run = found.runs[number]
        cells = []
        for at, measure in enumerate(found.measures):
            mean, low, high = (float(values[at, number]) for values in (found.mean, found.low, found.high))
            ends = TOO_FEW if found.too_few[at, number] else f"{low:.3f} to {high:.3f}"
            row = tested.get((run, measure))
            if tests is None or detectable is None or row is None:
                cells.append(Cell(mean, ends))
                continue
            difference, p = float(tests.difference[row]), p_text(float(tests.p_corrected[row]))
            verdict = ("better" if tests.gain[row] > 0 else "worse") if tests.significant[row] else ""
            words = f"p < 0{p[1:]}" if p.startswith("<") else f"p = {p}"
            cells.append(Cell(mean, ends, difference, words, verdict, float(detectable[row])))
        yield str(run), cells


def of_ranks(contents: Contents) -> dict[str, tuple[str, bool]]:
    """Return the confidence set for the rank of each run, as text, and whether it is tied for first."""
    found = contents.ranks
    if found is None:
        return {}
    ends = zip(
        found.run, found.rank_low.tolist(), found.rank_high.tolist(), found.tied_first.tolist(), strict=True
    )
    return {
        str(run): (str(low) if low == high else f"{low} to {high}", tied) for run, low, high, tied in ends
    }
