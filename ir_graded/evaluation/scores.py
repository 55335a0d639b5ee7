"""``Scores``, the result of ``evaluate``: tables by topic and of means, also for papers, and JSON."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from html import escape
from importlib import import_module
from importlib.metadata import version
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_graded._version import __version__
from ir_graded.errors import FileFormatError, InputError, ParameterError, printable
from ir_graded.io.sources import find_run
from ir_graded.measures.base import aggregate
from ir_graded.measures.classic.ties import takes_ties, with_ranks, with_ties
from ir_graded.measures.params import TIES
from ir_graded.measures.parsing import parse_measure, read_measure
from ir_graded.plots.style import plural

from .coverage import Coverage

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.meta.differences import Differences
    from ir_graded.meta.options import Seed


_FORMAT, _VERSION = "ir_graded scores", 1
#: Sign of a significant difference from the baseline.
DAGGER = "†"


_LATEX = {character: f"\\{character}" for character in "&%$#_{}"}
_LATEX |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX |= {"|": r"\textbar{}", "<": r"\textless{}", ">": r"\textgreater{}", "": "{}"}
#: Special characters, and places for an empty group: before a "[" or "*" that a row separator would take as
#: its argument, and between characters that form a ligature, such as "--" and "?`".
_SPECIAL_IN_LATEX = re.compile(r"[&%$#_{}~^\\|<>]|\A(?=[\[*])|(?<=([-`',]))(?=\1)|(?<=[?!])(?=`)")
#: Special characters, and ampersands that begin an entity.
_SPECIAL_IN_MARKDOWN = re.compile(r"[\\|*_`<>\[\]~$]|&(?=#?\w+;)")


def in_latex(text: str) -> str:
    """Escape a name for LaTeX, on one line; control characters are written as Python escapes."""
    return _SPECIAL_IN_LATEX.sub(lambda found: _LATEX[found[0]], printable(text))


def in_markdown(text: str) -> str:
    """Escape a name for a cell of Markdown, on one line."""
    return _SPECIAL_IN_MARKDOWN.sub(r"\\\g<0>", printable(text))


def _latex(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    lines = [
        *(r"\begin{table}", r"\centering", rf"\caption{{{caption}}}"),
        *(rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\toprule"),
        *(" & ".join(head) + r" \\", r"\midrule"),
        *(" & ".join(row) + r" \\" for row in rows),
        *(r"\bottomrule", r"\end{tabular}", r"\end{table}"),
    ]
    return "\n".join(lines)


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    rule = [":--", *["--:"] * (len(head) - 1)]
    return "\n".join([*(f"| {' | '.join(row)} |" for row in (head, rule, *rows)), "", caption])


def _html(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    lines = [f"<tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr>"]
    lines += [f"<tr><th>{name}</th>{''.join(f'<td>{v}</td>' for v in values)}</tr>" for name, *values in rows]
    return "\n".join(["<table>", f"<caption>{caption}</caption>", *lines, "</table>"])


def _raised(signs: str, longest: str) -> str:
    """Return signs in LaTeX, padded to the longest of their column so that digits are aligned."""
    hidden = rf"\phantom{{{longest[len(signs) :]}}}" if len(longest) > len(signs) else ""
    return f"$^{{{signs}{hidden}}}$".replace(DAGGER, r"{\dagger}") if longest else ""


def _raised_in_html(signs: str, _longest: str) -> str:
    return signs and f"<sup>{signs}</sup>"


@dataclass(frozen=True)
class Style:
    """Format of a table."""

    #: Escapes a name.
    text: Callable[[str], str]
    #: Template for best values.
    bold: str
    #: Writes the signs of a value, given the longest signs of its column.
    raised: Callable[[str, str], str]
    #: Writes head, rows and caption.
    render: Callable[[Sequence[str], Sequence[Sequence[str]], str], str]


STYLES = {
    "latex": Style(in_latex, r"\textbf{{{}}}", _raised, _latex),
    "markdown": Style(in_markdown, "**{}**", _raised_in_html, _markdown),
    "html": Style(lambda text: escape(printable(text)), "<strong>{}</strong>", _raised_in_html, _html),
}


def _add_signs(signs: dict[tuple[str, str], str], found: Differences, sign_of: Callable[[str], str]) -> bool:
    """Add the signs of significant differences by run and measure; return whether there can be any."""
    from ir_graded.meta.differences import ALL_TOPICS

    if ALL_TOPICS in found.untestable:
        return False
    rows = zip(found.run, found.measure, found.baseline, found.significant.tolist(), strict=True)
    for run, name, other, significant in rows:
        if significant:
            signs[str(run), name] += sign_of(str(other))
    return True


def _test_of(found: Differences) -> str:
    """Return words for a caption."""
    from ir_graded.meta.paired_tests import CORRECTIONS, TESTS

    return f"two-sided paired {TESTS[found.test].name} test, {CORRECTIONS[found.correction].name}"


def table(  # noqa: PLR0913  # options of to_latex
    scores: Scores,
    style: str,
    *,
    baseline: str | None,
    letters: bool,
    digits: int,
    alpha: float,
    test: str,
    correction: str | None,
    rng: Seed,
) -> str:
    """Return a table of the means of the runs, best first by the first measure."""
    from ir_graded.meta.differences import differences

    if isinstance(digits, bool) or not isinstance(digits, int) or digits not in range(18):
        raise ParameterError(f"digits={digits!r} must be a whole number from 0 to 17")
    if not scores.runs or not scores.names:
        raise InputError("a table needs a run and a measure")
    if letters and len(scores.runs) > len(ascii_lowercase):
        raise InputError(f"letters=True allows at most {len(ascii_lowercase)} runs, found {len(scores.runs)}")
    write = STYLES[style]
    texts = np.array([[f"{value:.{digits}f}" for value in row] for row in scores.aggregates])
    # All values that print like the best one are bold.
    first = np.argmax(np.nan_to_num(scores.aggregates, nan=-np.inf), axis=0)
    best = texts == texts[first, range(len(scores.names))]
    names = {scores.runs[run]: write.text(scores.runs[run]) for run in scores.best_first}
    signs = {(run, name): "" for name in scores.names for run in names}
    caption = f"Mean scores over {len(scores.query_ids)} topics. Best values in bold."
    compare = partial(differences, scores, test=test, correction=correction, alpha=alpha, rng=rng)
    if baseline is not None:
        baseline = find_run(baseline, dict.fromkeys(scores.runs)) or baseline
        if _add_signs(signs, found := compare(baseline), lambda _: DAGGER):
            caption += (
                f" {write.raised(DAGGER, DAGGER)}: differs significantly from {write.text(baseline)} "
                f"({_test_of(found)} for the {found.tests[0]} runs of each measure, alpha = {alpha:g})."
            )
    of_run = dict(zip(names, ascii_lowercase, strict=False))
    if letters and _add_signs(signs, found := compare(None), of_run.__getitem__):
        names = {run: f"({of_run[run]}) {name}" for run, name in names.items()}
        caption += (
            f" Raised letters: significantly better than these runs ({_test_of(found)} for the "
            f"{found.tests[0]} pairs of runs of each measure, alpha = {alpha:g})."
        )
    signs = {
        cell: "".join(sorted(text, key=lambda sign: (sign != DAGGER, sign))) for cell, text in signs.items()
    }
    longest = [max((signs[run, name] for run in names), key=len) for name in scores.names]
    cells = []
    for at, run in zip(scores.best_first, names, strict=True):
        values = [
            write.bold.format(text) if bold else text for text, bold in zip(texts[at], best[at], strict=True)
        ]
        raised = [
            write.raised(signs[run, name], most) for name, most in zip(scores.names, longest, strict=True)
        ]
        cells.append([names[run], *(value + sign for value, sign in zip(values, raised, strict=True))])
    return write.render(["run", *map(write.text, scores.names)], cells, caption)


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of runs by measures on the topics of the qrels.

    Attributes:
        runs: names of the runs, in the given order.
        measures: the measures, in the given order.
        query_ids: the topics, in the order of the qrels.
        values: the scores, shape ``(measures, runs, topics)``.

    Example:
        >>> import ir_graded
        >>> qrels = {"1": {"a": 2, "b": 1}}
        >>> runs = {"good": {"1": {"a": 2.0, "b": 1.0}}, "poor": {"1": {"x": 2.0, "b": 1.0}}}
        >>> scores = ir_graded.evaluate(["Q", "RR"], qrels, runs)
        >>> scores.mean().round(4)
              Q   RR
        run
        good  1.0  1.0
        poor  0.2  0.5
        >>> scores.matrix("RR")
        run  good  poor
        query_id
        1     1.0   0.5
    """

    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    query_ids: tuple[Any, ...]
    values: npt.NDArray[np.float64]
    _coverage: Coverage | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.values.setflags(write=False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.values.setflags(write=False)

    def position(self, measure: str | Measure) -> int:
        """Return the position of a measure or its name. Raises InputError if it was not evaluated.

        After ``evaluate(..., ties=...)`` or ``evaluate(..., ranks=...)`` the name may omit this parameter.
        """
        if str(measure) in self.names:
            return self.names.index(str(measure))
        wanted = read_measure(measure)
        if wanted in self.measures:
            return self.measures.index(wanted)
        orders = TIES.words if takes_ties(wanted) and "ties" not in wanted.params else ()
        others = {with_ties(wanted, ties) for ties in orders}
        with suppress(ParameterError):
            others.add(with_ranks(wanted, "rows"))
        others &= {*self.measures}
        if len(others) != 1:
            raise InputError(f"{wanted} was not evaluated; use one of {', '.join(map(str, self.measures))}")
        return self.measures.index(others.pop())

    def to_frame(self) -> pd.DataFrame:
        """Return a row per score: columns run, query_id, measure (its printed name), value."""
        return self.frame_of({"value": self.values})

    def frame_of(self, columns: Mapping[str, npt.NDArray[np.float64]]) -> pd.DataFrame:
        """Return arrays with the shape of the scores as columns, with the rows of ``to_frame``."""
        import pandas as pd

        measures, runs, topics = self.values.shape
        return pd.DataFrame(
            {
                "run": np.tile(np.repeat(np.array(self.runs, dtype=object), topics), measures),
                "query_id": list(self.query_ids) * (runs * measures),
                "measure": np.repeat(np.array(self.names, dtype=object), runs * topics),
                **{name: values.reshape(-1) for name, values in columns.items()},
            }
        )

    def mean_frame_of(self, columns: Mapping[str, npt.NDArray[np.float64]]) -> pd.DataFrame:
        """Return arrays of shape ``(runs, measures)`` as columns per measure, with the rows of ``mean``."""
        import pandas as pd

        stacked = np.stack([*columns.values()], axis=2)[self.best_first].reshape(len(self.runs), -1)
        runs = pd.Index([self.runs[number] for number in self.best_first], name="run")
        return pd.DataFrame(stacked, runs, pd.MultiIndex.from_product([self.names, columns]))

    @property
    def names(self) -> list[str]:
        """Printed names of the measures."""
        return [str(measure) for measure in self.measures]

    def matrix(self, measure: str | Measure) -> pd.DataFrame:
        """Return the scores by one measure: a row per topic, a column per run."""
        import pandas as pd

        topics, runs = pd.Index(self.query_ids, name="query_id"), pd.Index(self.runs, name="run")
        return pd.DataFrame(self.values[self.position(measure)].T.copy(), topics, runs)

    @cached_property
    def aggregates(self) -> npt.NDArray[np.float64]:
        """Return the aggregate of each measure over the topics, shape ``(runs, measures)``."""
        return self.aggregates_of(self.values)

    def aggregates_of(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return aggregates of values with the shape of the scores, shape ``(runs, measures)``."""
        runs = range(len(self.runs))
        rows = [[aggregate(m, values[i, j]) for i, m in enumerate(self.measures)] for j in runs]
        return np.array(rows, dtype=np.float64).reshape(len(self.runs), len(self.measures))

    @property
    def best_first(self) -> list[int]:
        """Return the numbers of the runs, best first by the first measure; runs without a value last."""
        if not self.measures:
            return [*range(len(self.runs))]
        return [*map(int, np.argsort(-self.aggregates[:, 0], kind="stable"))]

    def mean(self, weights: Any = None) -> pd.DataFrame:
        """Aggregates of each measure over the topics: a row per run, best first by the first measure.

        Args:
            weights: weights of the topics, such as their traffic, as for ``meta.differences``.

        Raises:
            InputError: a topic has no weight, or a wrong one.
        """
        frame = self.mean_frame_of({"mean": self.aggregates})
        frame.columns = self.names
        if weights is None:
            return frame
        from ir_graded.meta.differences import weights_of
        from ir_graded.meta.matrix import check_arithmetic

        check_arithmetic(self.measures)
        of_topic = weights_of(self.query_ids, weights)
        means = self.aggregates_of(self.values * (of_topic * len(of_topic) / of_topic.sum()))
        frame[:] = means[self.best_first]
        return frame.sort_values(self.names[:1], ascending=False, kind="stable")

    def to_latex(
        self,
        *,
        baseline: str | None = None,
        letters: bool = False,
        digits: int = 4,
        alpha: float = 0.05,
        test: str = "randomisation",
        correction: str | None = None,
        rng: Seed = 0,
    ) -> str:
        """Return a table of the means for LaTeX with booktabs: a row per run, best first, best values bold.

        Args:
            baseline: name of a run, or its path, also without the extension; runs that differ from it
                significantly get a dagger, and the caption names the test (``meta.differences``).
            letters: whether to name each run by a letter and to mark each value with the letters of the runs
                that are significantly worse, by tests of all pairs.
            digits: decimal places.
            alpha: significance level.
            test: the test, as in ``meta.differences``.
            correction: the correction, as in ``meta.differences``; None for the default of the test.
            rng: a seed or a generator.

        Raises:
            InputError: there is no run, there are fewer than two topics or runs for a test, or more runs than
                letters.
            ParameterError: ``baseline`` is not a run, another option is out of range, or alpha is too small
                for any significant difference.

        Warns:
            CoverageWarning: the topics are so few that no difference can be significant, from the baseline or
                between any two runs. The table then says nothing about this test.
        """
        return table(
            self,
            "latex",
            baseline=baseline,
            letters=letters,
            digits=digits,
            alpha=alpha,
            test=test,
            correction=correction,
            rng=rng,
        )

    def to_markdown(
        self,
        *,
        baseline: str | None = None,
        letters: bool = False,
        digits: int = 4,
        alpha: float = 0.05,
        test: str = "randomisation",
        correction: str | None = None,
        rng: Seed = 0,
    ) -> str:
        """Return the table of ``to_latex`` in Markdown, with the same options."""
        return table(
            self,
            "markdown",
            baseline=baseline,
            letters=letters,
            digits=digits,
            alpha=alpha,
            test=test,
            correction=correction,
            rng=rng,
        )

    def to_html(
        self,
        *,
        baseline: str | None = None,
        letters: bool = False,
        digits: int = 4,
        alpha: float = 0.05,
        test: str = "randomisation",
        correction: str | None = None,
        rng: Seed = 0,
    ) -> str:
        """Return the table of ``to_latex`` in HTML, with the same options."""
        return table(
            self,
            "html",
            baseline=baseline,
            letters=letters,
            digits=digits,
            alpha=alpha,
            test=test,
            correction=correction,
            rng=rng,
        )

    def report(  # noqa: PLR0913  # those of report, all by keyword
        self,
        path: str | os.PathLike[str],
        *,
        baseline: str | None = None,
        confidence: float = 0.95,
        n_resamples: int = 1000,
        rng: int = 0,
        test: str = "randomisation",
        correction: str | None = None,
        weights: Any = None,
        title: str = "",
    ) -> None:
        """Write the page of ``ir_graded.report`` without what needs qrels: ties, overlap, unjudged documents.

        The options, errors and warnings are those of ``ir_graded.report``.

        Example:
            >>> import ir_graded, tempfile, pathlib
            >>> qrels, run = {"1": {"a": 2}, "2": {"a": 1}}, {"1": {"x": 2.0, "a": 1.0}, "2": {"a": 1.0}}
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     place = pathlib.Path(folder, "report.html")
            ...     ir_graded.evaluate("Q", qrels, run).report(place)
            ...     print(place.read_text(encoding="utf-8")[:15])
            <!doctype html>
        """
        options = {name: value for name, value in locals().items() if name not in {"self", "path"}}
        import_module("ir_graded.reporting").report_scores(self, path, **options)  # it uses this module

    def to_json(self) -> str:
        """Return all scores as JSON for ``from_json``, with measures, parameters and versions.

        The object has ``format`` ("ir_graded scores"), ``version`` (1), ``written_by`` (versions of ir_graded
        and ir_measures), ``measures`` (strings with all parameters), ``runs``, ``query_ids`` and ``values``,
        a nested list over measures, runs and topics with null for a missing score.

        Raises:
            InputError: topics are neither text nor whole numbers.
        """
        ids = [one.item() if isinstance(one, np.integer) else one for one in self.query_ids]
        if not set(map(type, ids)) <= {str, int}:
            raise InputError("to_json needs query_ids that are text or whole numbers: convert them")
        cells = self.values.astype(object)
        cells[np.isnan(self.values)] = None
        programs = {"ir_graded": __version__, "ir_measures": version("ir-measures")}
        content: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "written_by": programs}
        content |= {"measures": self.names, "runs": list(self.runs), "query_ids": ids}
        return json.dumps({**content, "values": cells.tolist()}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Scores:
        """Read scores from the JSON of ``to_json``, equal to the last bit; their coverage is not known.

        Raises:
            FileFormatError: the text is anything else.
        """
        try:
            content = json.loads(text)
            if content["format"] != _FORMAT or content["version"] != _VERSION:
                raise ValueError(f"format {content['format']!r}, version {content['version']!r}")
            measures = tuple(map(parse_measure, content["measures"]))
            runs, query_ids = tuple(map(str, content["runs"])), tuple(content["query_ids"])
            values = np.array(content["values"], dtype=np.float64)
            shape = len(measures), len(runs), len(query_ids)
            if values.shape != shape and values.size:
                raise ValueError(f"values have shape {values.shape}, expected {shape}")
            return cls(runs, measures, query_ids, values.reshape(shape))
        except (KeyError, TypeError, ValueError, NameError) as error:
            raise FileFormatError(
                f"expected JSON of {_FORMAT}, version {_VERSION}, from Scores.to_json: {error}"
            ) from None

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the table of ``to_frame`` to a Parquet file."""
        import polars as pl

        columns = self.to_frame().astype({"query_id": str}).to_dict("list")
        pl.DataFrame({str(name): column for name, column in columns.items()}).write_parquet(os.fspath(path))

    @property
    def coverage(self) -> pd.DataFrame:
        """Coverage of each run by the qrels: a row per run, in the given order.

        Columns:

        - ``run``: name of the run;
        - ``topics_retrieved``, ``topics_missing``: number of topics of the qrels with and without retrieved
          documents; the latter score 0;
        - ``unknown_topics``: number of topics of the run that are not in the qrels and are left out;
        - ``judged_at_10``, ``judged_share``: share of documents with a level >= 0 among the first ten, and
          among all retrieved documents; the mean over the topics retrieved, 1 minus the share of
          ``ir_graded.unjudged``.

        Most measures need only the relevant documents. The shares are therefore counted on first access, from
        the given runs as they are then, which are kept until then. They are NaN if a run retrieved nothing or
        can no longer be read, and in pickles and copies that were made before.

        Raises:
            InputError: these scores were not made by ``evaluate``.

        Example:
            >>> import ir_graded, warnings
            >>> qrels = {"1": {"a": 2, "b": 0}, "2": {"c": 1}}
            >>> with warnings.catch_warnings():
            ...     warnings.simplefilter("ignore", ir_graded.CoverageWarning)
            ...     scores = ir_graded.evaluate("Q", qrels, {"1": {"b": 2.0, "x": 1.0}, "9": {"a": 1.0}})
            >>> scores.coverage.T
                                0
            run               run
            topics_retrieved    1
            topics_missing      1
            unknown_topics      1
            judged_at_10      0.5
            judged_share      0.5
        """
        if self._coverage is None:
            raise InputError("the coverage is not known, because these scores were not computed by evaluate")
        return self._coverage.to_frame()

    @property
    def coverage_notes(self) -> tuple[str, ...]:
        """Sentences of the CoverageWarning; empty without problems, or if the coverage is not known."""
        return () if self._coverage is None else tuple(self._coverage.notes())

    def __repr__(self) -> str:
        return (
            f"Scores({plural(len(self.runs), 'run')}, {plural(len(self.query_ids), 'topic')}, "
            f"measures {', '.join(self.names)})"
        )
