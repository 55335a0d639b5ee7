"""Tables of the means of ``Scores`` for papers, in LaTeX, Markdown and HTML."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from itertools import chain, count, product
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import numpy as np
from ir_measures.measures.base import SumAgg

from ir_graded._utils.text_tables import ALL_DIGITS, BETTER, PAPERS, WORSE, Paper, decimal
from ir_graded.errors import GradedError, InputError, ParameterError, did_you_mean, short_repr
from ir_graded.io.run_names import find_run
from ir_graded.measures.descriptions import settings_of

if TYPE_CHECKING:
    from ir_graded.meta.differences import Differences
    from ir_graded.meta.intervals import ConfidenceIntervals
    from ir_graded.meta.options import Seed

#: Text in the place of an interval wider than half the range.
TOO_FEW = "too few topics"
#: Decimal places by default.
DIGITS = 4

_Options = ParamSpec("_Options")
#: Signs by run and measure.
_Signs = dict[tuple[str, str], list[str]]


def with_options_of(
    table: Callable[Concatenate[Any, _Options], object],
) -> Callable[[Callable[..., str]], Callable[Concatenate[Any, _Options], str]]:
    """Return a decorator that gives a method the options of a table, for type checkers and for help."""

    def typed(method: Callable[..., str]) -> Callable[Concatenate[Any, _Options], str]:
        _, *options = inspect.signature(table).parameters.values()
        own = inspect.signature(method)
        method.__signature__ = own.replace(parameters=[own.parameters["self"], *options])  # type: ignore[attr-defined]
        return method

    return typed


@dataclass(eq=False, repr=False)
class Table:
    """A table of the means of the runs, best first by the first measure.

    The options are those of ``Scores.to_latex``; ``weights`` are those of the scores, from ``weighted``.
    """

    scores: Any
    _: KW_ONLY
    baseline: str | None = None
    letters: bool = False
    digits: int | Mapping[Any, int] = DIGITS
    alpha: float = 0.05
    test: str = "randomisation"
    correction: str | None = None
    rng: Seed = 0
    caption: str | None = None
    names: Mapping[Any, str] | None = None
    intervals: bool | ConfidenceIntervals = False
    weights: Any = None
    clusters: Any = None

    def text(self, style: str, **layout: Any) -> str:
        """Return the table in a format of papers; LaTeX also takes ``label`` and ``booktabs``."""
        scores, paper = self.scores, PAPERS[style]
        places = self._places()
        if not scores.runs or not scores.names:
            raise InputError("a table needs a run and a measure")
        runs, measures = self._names(paper.text)
        caption = (
            f"Mean scores over {len(scores.query_ids)} topics." if self.caption is None else self.caption
        )
        notes = [re.sub(r"(?<=[^.!?}])\Z", ".", caption)]  # other sentences follow
        origin = scores._origin  # noqa: SLF001  # the signature would compute hashes
        options = {} if origin is None else origin.options
        if "without_relevant" in options:
            notes.append("Topics without a relevant document are left out.")
        notes += [*([] if self.weights is None else ["Topics are weighted."]), "Best values in bold."]
        signs: _Signs = {(run, name): [] for name in scores.names for run in runs}
        of_tests = [*self._mark_baseline(signs, runs, paper), *self._mark_letters(signs, runs, paper)]
        cells = self._cells(places, signs, paper)
        if self.intervals is not False:
            within = self._intervals()
            drawn = f"bootstrap of the topics, {within.n_resamples:,} replicates"
            how = drawn if within.method == "bootstrap" else "Student"
            of_tests.append(
                f"Brackets: {100 * within.confidence:g}{paper.text('%')} confidence intervals ({how})."
            )
            of_tests += map(paper.text, within.notes)
            for (column, at), cell in np.ndenumerate(cells.T):
                ends = (decimal(float(one[column, at]), places[column]) for one in (within.low, within.high))
                text = TOO_FEW if within.too_few[column, at] else ", ".join(ends)
                cells[at, column] = f"{cell} [{text}]"
        rows = [[runs[run], *cells[at]] for at, run in zip(scores.best_first, runs, strict=True)]
        named = zip(measures, scores.measures, strict=True)
        settings = settings_of(named, paper.text, options.get("ties"))
        caption = " ".join(dict.fromkeys(filter(None, [*notes, *of_tests, settings])))
        text = paper.render(["run", *measures], rows, caption, **layout)
        seed = self.rng if of_tests and isinstance(self.rng, int) else None
        return paper.signed(text, replace(scores.signature, seed=seed)) if paper.signed else text

    def _places(self) -> list[int]:
        """Return the decimal places of each measure."""
        names, digits = self.scores.names, self.digits
        places = [DIGITS] * len(names)
        given = digits if isinstance(digits, Mapping) else dict.fromkeys(names, digits)
        for measure, number in given.items():
            if isinstance(number, bool) or not isinstance(number, int) or number not in range(ALL_DIGITS, 18):
                raise ParameterError(
                    f"digits={digits!r} must be whole numbers from 0 to 17, or -1 for all digits"
                )
            places[self.scores.position(measure)] = number
        return places

    def _names(self, text: Callable[[str], str]) -> tuple[dict[str, str], list[str]]:
        """Return the texts of the runs by name, best first, and those of the measures."""
        scores = self.scores
        runs = {scores.runs[at]: text(scores.runs[at]) for at in scores.best_first}
        measures = [*map(text, scores.names)]
        for key, name in (self.names or {}).items():
            if key in runs:
                runs[key] = name
                continue
            try:
                measures[scores.position(key)] = name
            except GradedError:
                hint = (meant := did_you_mean(key, [*runs, *scores.names])) and f"; {meant}"
                raise ParameterError(
                    f"names: {short_repr(key)} is neither a run nor a measure of the scores{hint}"
                ) from None
        return runs, measures

    def _compare(self, baseline: str | None) -> Differences:
        from ir_graded.meta.differences import differences

        names = ("test", "correction", "alpha", "rng", "weights", "clusters")
        return differences(self.scores, baseline, **{name: getattr(self, name) for name in names})

    def _mark_baseline(self, signs: _Signs, runs: Mapping[str, str], paper: Paper) -> list[str]:
        """Mark the runs that differ from the baseline, and return notes."""
        if self.baseline is None:
            return []
        baseline = find_run(self.baseline, dict.fromkeys(self.scores.runs)) or self.baseline
        found = self._compare(baseline)
        if not _add_signs(signs, found, lambda _, better: BETTER if better else WORSE):
            return []
        return [
            f"{paper.raised(BETTER, BETTER)}: significantly better, {paper.raised(WORSE, WORSE)}: "
            f"significantly worse than {runs[baseline]} ({_test_of(found)} for the {found.tests[0]} "
            f"run{'s' if found.tests[0] > 1 else ''} of each measure, alpha = {self.alpha:g}).",
            *map(paper.text, _notes_of(found)),
        ]

    def _mark_letters(self, signs: _Signs, runs: dict[str, str], paper: Paper) -> list[str]:
        """Name each run by a letter, mark values with the letters of worse runs, and return notes."""
        texts = chain.from_iterable(product(ascii_lowercase, repeat=size) for size in count(1))
        letters = dict(zip(runs, map("".join, texts), strict=False))
        if not self.letters or not _add_signs(
            signs, found := self._compare(None), lambda run, _: letters[run]
        ):
            return []
        for run, name in runs.items():
            runs[run] = f"({letters[run]}) {name}"
        return [
            f"Raised letters: significantly better than these runs ({_test_of(found)} for the "
            f"{found.tests[0]} pairs of runs of each measure, alpha = {self.alpha:g}).",
            *map(paper.text, _notes_of(found)),
        ]

    def _cells(self, places: list[int], signs: _Signs, paper: Paper) -> Any:
        """Return the texts of the means, an array of shape ``(runs, measures)``."""
        scores = self.scores
        texts = np.array([[*map(decimal, row, places)] for row in scores.aggregates.tolist()], dtype=object)
        # All values that print like the best one are bold.
        lower = [name in scores.lower_is_better for name in scores.names]
        signed = np.nan_to_num(np.where(lower, -1, 1) * scores.aggregates, nan=-np.inf)
        best = texts[np.argmax(signed, axis=0), range(len(places))]
        # Without separators, "aa" would be two letters.
        separator = "," if len(scores.runs) > len(ascii_lowercase) else ""
        for column, name in enumerate(scores.names):
            raised = [
                separator.join(
                    sorted(signs[run, name], key=lambda one: (one not in {BETTER, WORSE}, len(one), one))
                )
                for run in scores.runs
            ]
            longest = max(raised, key=len)
            for at, sign in enumerate(raised):
                text = texts[at, column]
                value = paper.bold.format(text) if text == best[column] else text
                texts[at, column] = value + paper.raised(sign, longest)
        return texts

    def _intervals(self) -> ConfidenceIntervals:
        from ir_graded.meta.intervals import ConfidenceIntervals, confidence_intervals

        scores, found = self.scores, self.intervals
        if found is True:
            found = confidence_intervals(scores, rng=self.rng, weights=self.weights, clusters=self.clusters)
        if not isinstance(found, ConfidenceIntervals):
            raise ParameterError(
                f"intervals={short_repr(found)} must be True, False or a result of meta.confidence_intervals"
            )
        own = (found.runs, found.measures) == (scores.runs, tuple(scores.names))
        # Where the table has sums, the intervals are of means.
        summed = [isinstance(measure.aggregator(), SumAgg) for measure in scores.measures] if own else [False]
        times = np.where(summed, len(scores.query_ids), 1)[:, np.newaxis]
        found = replace(found, mean=found.mean * times, low=found.low * times, high=found.high * times)
        if not own or not np.allclose(found.mean, scores.aggregates.T):
            raise InputError(
                "intervals: their runs, measures or means differ from those of the scores: use "
                "meta.confidence_intervals(scores) with the weights of the table, if any"
            )
        return found


@dataclass(eq=False, repr=False, kw_only=True)
class LatexTable(Table):
    """A table for LaTeX."""

    label: str = ""
    booktabs: bool = True


def _add_signs(signs: _Signs, found: Differences, sign_of: Callable[[str, bool], str]) -> bool:
    """Add the signs of significant differences by run and measure; return whether there can be any.

    ``sign_of`` gets the name of the other run, and whether the run is better.
    """
    from ir_graded.meta.topics import ALL_TOPICS

    if ALL_TOPICS in found.untestable:
        return False
    better = (found.gain > 0).tolist()
    for at in np.flatnonzero(found.significant).tolist():
        signs[str(found.run[at]), found.measure[at]].append(sign_of(str(found.baseline[at]), better[at]))
    return True


def _notes_of(found: Differences) -> list[str]:
    """Return the notes on the test; a table shows no verdicts."""
    return [note for note in found.notes if note not in found.on_verdicts]


def _test_of(found: Differences) -> str:
    """Return words for a caption."""
    from ir_graded.meta.paired_tests import CORRECTIONS, TESTS

    return f"two-sided paired {TESTS[found.test].name} test, {CORRECTIONS[found.correction].name}"
