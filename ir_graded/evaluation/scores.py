"""``Scores``, of ``evaluate`` and ``score_answers``: matrices, means, selections, frames and JSON."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_graded.errors import (
    FileFormatError,
    GradedError,
    InputError,
    ParameterError,
    UnknownMeasureError,
    check_choice,
    format_ids,
    printable,
    short_repr,
    valid_text,
    warn_caller,
)
from ir_graded.io.experiments import means_of_mteb
from ir_graded.io.run_names import find_run
from ir_graded.io.values import as_text, text_ids
from ir_graded.measures.base import aggregate
from ir_graded.measures.classic.ties import takes_ties, with_ranks, with_ties
from ir_graded.measures.descriptions import citations
from ir_graded.measures.params import TIES
from ir_graded.measures.parsing import parse_measure, read_measure, read_measures
from ir_graded.meta.matrix import FEWEST

from .coverage import Coverage
from .ranges import UNKNOWN, Range, Stated, check_scores, is_lower_better, named, range_of, stated
from .signature import Origin, Signature, joint_origin, order_by_rows, versions, weights_hash
from .tables import DIGITS, LatexTable, Table, with_options_of

if TYPE_CHECKING:
    import pandas as pd


_FORMAT, _VERSION = "ir_graded scores", 1
#: Errors of JSON of another form.
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, NameError, RecursionError, TypeError, ValueError)
#: Statistics of scores besides percentiles, and the names of these.
_STATISTICS: dict[Any, Callable[..., Any]] = {
    "median": np.median,
    "min": np.min,
    "max": np.max,
    "sd": partial(np.std, ddof=1),
}
_PERCENTILE = re.compile(r"p(\d+(?:\.\d+)?)")
#: Most runs in a notebook.
_MOST_RUNS = 20


def read_scores(path: str | os.PathLike[str]) -> Scores:
    """Read the file of ``evaluate --save``, of ``Scores.to_json``, or a CSV file of ``Scores.from_frame``."""
    try:
        if Path(path).suffix != ".csv":
            return Scores.from_json(Path(path).read_bytes())
        import pandas as pd

        return Scores.from_frame(pd.read_csv(path, dtype=str, keep_default_na=False))
    except ValueError as error:
        raise FileFormatError(f"{os.fspath(path)}: {error}") from None


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
    _origin: Origin | None = field(default=None, repr=False)
    #: Ranges stated by the user, by the printed name of the measure.
    _stated: Mapping[str, Stated] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.values.setflags(write=False)
        for name in self.names if self._stated else ():
            if name in self._stated:
                of_measure = self.values[self.names.index(name)]
                check_scores(of_measure, name, self._stated[name], self.runs, self.query_ids)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"_stated": {}} | state)
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

    #: Indexing selects measures, so nothing is iterated.
    __iter__ = None

    def __getitem__(self, measures: Any) -> Scores:
        """Return the scores by a measure, or by several, as ``select(measures=measures)``."""
        return self.select(measures=measures)

    def select(self, *, runs: Any = None, topics: Any = None, measures: Any = None) -> Scores:
        """Return the scores of some runs, on some topics, by some measures, in the given order.

        The coverage of the runs is kept, with the notes for all measures; with ``topics`` it is not known.

        Args:
            runs: name or path of a run, or a list of these; None for all.
            topics: a topic or a list of topics, compared as text; None for all.
            measures: a measure, its name, or a list of these; None for all.

        Raises:
            InputError: a measure was not evaluated.
            ParameterError: a run or a topic does not exist, a list is empty, or it names something twice.

        Example:
            >>> import ir_graded
            >>> qrels, run = {"1": {"a": 2}, "2": {"a": 1}}, {"1": {"x": 2.0, "a": 1.0}, "2": {"a": 1.0}}
            >>> scores = ir_graded.evaluate(["Q", "RR"], qrels, {"first": run, "second": run})
            >>> scores.select(runs="second", topics="1")
            Scores(1 run, 1 topic, measures Q, RR)
            >>> scores["RR"].select(runs=["second", "first"])
            Scores(2 runs, 2 topics, measures RR)
        """
        names = dict.fromkeys(self.runs)
        ids = [*map(str, self.query_ids)]

        def chosen(option: str, given: Any, size: int, find: Callable[[Any], int]) -> list[int]:
            if given is None:
                return [*range(size)]
            single = isinstance(given, (str, Measure, os.PathLike)) or not isinstance(given, Iterable)
            found: list[int] = []
            for one in [given] if single else given:
                if (at := find(one)) in found:
                    raise ParameterError(f"{option}: {short_repr(one)} is selected twice")
                found.append(at)
            if not found:
                raise ParameterError(f"{option} is empty: give at least one, or None for all")
            return found

        from ir_graded.meta.matrix import number_of

        def run_number(run: Any) -> int:
            return number_of(find_run(run, names) or run, self.runs, "runs")

        at_measures = chosen("measures", measures, len(self.measures), self.position)
        at_runs = chosen("runs", runs, len(names), run_number)
        at_topics = chosen("topics", topics, len(ids), lambda topic: number_of(str(topic), ids, "topics"))
        kept, values = (
            tuple(self.runs[at] for at in at_runs),
            self.values[np.ix_(at_measures, at_runs, at_topics)],
        )
        by, on = tuple(self.measures[at] for at in at_measures), tuple(self.query_ids[at] for at in at_topics)
        coverage = self._coverage.select(at_runs) if self._coverage and topics is None else None
        origin = self._origin and replace(self._origin, saved=None)
        given = {name: self._stated[name] for name in map(str, by) if name in self._stated}
        return Scores(kept, by, on, values, coverage, origin, given)

    @classmethod
    def concat(cls, parts: Iterable[Scores]) -> Scores:
        """Join scores of other runs, by other measures, or on other topics, such as those of folds.

        Two parts differ in their runs, in their measures or in their topics, and agree in the others; each
        part is joined to those before it. Runs, measures and topics have the order of their first appearance.
        The coverage is not known. The signature has the versions and options of the parts if all have the
        same, and no hashes: the signature of each part says what it was computed from.
        Measures of other runs that differ in ``ties`` are equal if the runs of a part are known to have no
        documents with equal scores that the measures need; then that part takes the names of the other.

        Args:
            parts: the scores.

        Raises:
            InputError: there are no scores, ``parts`` holds something else, a score appears twice, topics
                overlap but differ, or two parts differ in more than one of runs, measures and topics.

        Example:
            >>> import ir_graded
            >>> qrels, run = {"1": {"a": 2}}, {"1": {"x": 2.0, "a": 1.0}}
            >>> first, second = (ir_graded.evaluate("Q", qrels, {name: run}) for name in ("first", "second"))
            >>> by_q = Scores.concat([first, second])
            >>> Scores.concat([by_q, ir_graded.evaluate("RR", qrels, {"second": run, "first": run})])
            Scores(2 runs, 1 topic, measures Q, RR)
        """
        given: list[Scores] = [*parts] if isinstance(parts, Iterable) else [parts]
        if not all(isinstance(one, cls) for one in given):
            raise InputError(f"concat takes a list of Scores, not {short_repr(parts)}")
        if not given:
            raise InputError("there are no scores to join")
        return reduce(_joined, given)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        run: str | None = None,
        ranges: Mapping[Any, Range | None] | None = None,
        lower_is_better: Iterable[Any] = (),
    ) -> Scores:
        """Create scores from a table with a row per score: run, topic, measure and value.

        Such tables are those of ``to_frame``, of ``pyterrier.Experiment(..., perquery=True)``, and of
        ``ir_measures.iter_calc``. Runs, topics and measures have the order of their first rows; the coverage
        is not known. Measures in ``ranges`` or ``lower_is_better`` may have any name, such as that of a judge
        of answers or of times.

        Args:
            frame: a DataFrame of pandas or Polars with the columns run or name, query_id or qid, measure and
                value.
            run: name of the run, if there is no column with it.
            ranges: the lowest and the highest possible score by measure, such as ``{"judge": (1, 5)}``;
                ends may be infinite, and None means unknown. Other measures have the range that they declare.
            lower_is_better: measures by which lower scores are better, such as ``["latency"]``. They order
                runs and mark the best values of tables; tests and ranks refuse them.

        Raises:
            InputError: a column or a score is missing, a score appears twice, a value is not a number, or it
                is outside of the range in ``ranges``.
            ParameterError: ``run`` is given and there is a column of runs, a measure does not take a
                parameter, a range is not one, or the frame lacks a measure that an option names.
            UnknownMeasureError, MeasureSyntaxError: a measure cannot be read.

        Example:
            >>> import ir_graded, ir_measures, pandas
            >>> qrels, run = {"1": {"a": 2}}, {"1": {"x": 2.0, "a": 1.0}}
            >>> found = ir_measures.iter_calc([ir_measures.RR, ir_measures.AP], qrels, run)
            >>> Scores.from_frame(pandas.DataFrame(found), run="bm25").mean()
                   AP   RR
            run
            bm25  0.5  0.5
            >>> judged = pandas.DataFrame({"qid": [1, 2], "measure": "judge", "value": [5, 2]})
            >>> Scores.from_frame(judged, run="bm25", ranges={"judge": (1, 5)}).ranges
            {'judge': (1.0, 5.0)}
        """
        from ir_graded.meta.matrix import number_of, score_cells, score_rows

        rows = score_rows(frame, run)
        keys = {kind: [*dict.fromkeys(rows[kind])] for kind in ("measure", "run", "query_id")}
        text_ids(keys["query_id"], "query_id", "frame")
        declared = stated(ranges, lower_is_better)
        measures = [_measure_in_frame(one, declared) for one in keys["measure"]]
        runs = text_ids(keys["run"], "run", "frame")
        for name in declared:
            number_of(name, [*map(str, measures)], "ranges or lower_is_better")
        of_kind = {"measure": measures, "run": runs, "query_id": keys["query_id"]}
        names = {kind: dict(zip(keys[kind], found, strict=True)) for kind, found in of_kind.items()}
        distinct, cells = score_cells(rows, names)
        run_names, in_order, topics = (tuple(distinct[kind]) for kind in ("run", "measure", "query_id"))
        return cls(run_names, in_order, topics, cells, _stated=declared)

    @classmethod
    def from_mteb(
        cls,
        folder: str | os.PathLike[str],
        measures: Iterable[str | Measure] | str | Measure = "nDCG@10",
        *,
        split: str = "test",
        tasks: Iterable[str] | None = None,
    ) -> Scores:
        """Read the results of MTEB: models as runs, and *tasks* in the place of topics.

        The files hold means over the topics of a task. Statistics of these scores are therefore about tasks:
        whether models differ on tasks like these. They cannot tell whether models differ on the topics of a
        task, and ``meta.across_collections`` does not take them. Both need the rankings, which
        ``mteb.evaluate(..., prediction_folder=...)`` writes and ``evaluate_collections`` reads.

        Args:
            folder: a folder of results; folders below it are read, too. A model has the name in
                ``model_meta.json``, else that of its folder.
            measures: nDCG, AP, R, P, RR or Success with a cutoff that MTEB wrote, such as nDCG@10.
            split: the split. Subsets, such as languages, of a task are averaged, as in MTEB.
            tasks: names of the tasks to read; None for all that have the split and the measures, such as
                tasks of retrieval but not of classification.

        Raises:
            InputError: there are no results, a task is missing for a model, or the subsets of a task differ
                between models.
            FileFormatError: a file of a named task, or of a task that another model has, lacks the split or a
                measure; a mean is not a number from 0 to 1.
            ParameterError: MTEB does not write this measure.

        Warns:
            CoverageWarning: tasks without the split or a measure are left out.

        Example:
            >>> import json, pathlib, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     for model, mean in (("small", 0.5), ("large", 0.75)):
            ...         file = pathlib.Path(folder, model, "SciFact.json")
            ...         file.parent.mkdir()
            ...         scores = {"test": [{"hf_subset": "default", "ndcg_at_10": mean}]}
            ...         _ = file.write_text(json.dumps({"task_name": "SciFact", "scores": scores}))
            ...     Scores.from_mteb(folder).mean()
                   nDCG@10
            run
            large     0.75
            small     0.50
        """
        import pandas as pd

        rows, note = means_of_mteb(folder, read_measures(measures), split, tasks)
        if note:
            warn_caller(note)
        return cls.from_frame(pd.DataFrame(rows))

    def to_frame(self) -> pd.DataFrame:
        """Return a row per score: columns run, query_id, measure (its printed name), value."""
        return self.frame_of({"value": self.values})

    def frame_of(self, columns: Mapping[str, npt.NDArray[np.float64]]) -> pd.DataFrame:
        """Return arrays with the shape of the scores as columns, with the rows of ``to_frame``."""
        import pandas as pd

        measures, runs, topics = self.values.shape
        labels = {
            "run": np.tile(np.repeat(np.array(self.runs, dtype=object), topics), measures),
            "query_id": list(self.query_ids) * (runs * measures),
            "measure": np.repeat(np.array(self.names, dtype=object), runs * topics),
        }
        with valid_text():
            return pd.DataFrame(labels | {name: values.reshape(-1) for name, values in columns.items()})

    def mean_frame_of(self, columns: Mapping[str, npt.NDArray[np.float64]]) -> pd.DataFrame:
        """Return arrays of shape ``(runs, measures)`` as columns per measure, with the rows of ``mean``."""
        import pandas as pd

        stacked = np.stack([*columns.values()], axis=2)[self.best_first].reshape(len(self.runs), -1)
        with valid_text():
            runs = pd.Index([self.runs[number] for number in self.best_first], name="run")
        return pd.DataFrame(stacked, runs, pd.MultiIndex.from_product([self.names, columns]))

    @property
    def names(self) -> list[str]:
        """Printed names of the measures."""
        return [str(measure) for measure in self.measures]

    @property
    def ranges(self) -> dict[str, Range | None]:
        """Lowest and highest possible score by the printed name of the measure; None if unknown.

        They are those given to ``from_frame``, or else those that the measures declare.

        Example:
            >>> import ir_graded
            >>> ir_graded.evaluate("RR NumRet(rel=1)", {"1": {"a": 2}}, {"1": {"a": 1.0}}).ranges
            {'RR': (0.0, 1.0), 'NumRet(rel=1)': (0.0, inf)}
        """
        found = {}
        for measure, values in zip(self.measures, self.values, strict=True):
            of = self._stated.get(str(measure))
            ends = range_of(measure, values) if of is None else (of.low, of.high)
            found[str(measure)] = None if ends == UNKNOWN else ends
        return found

    @property
    def lower_is_better(self) -> tuple[str, ...]:
        """Printed names of the measures by which lower scores are better.

        They declare it, as FirstRank does, or it was given to ``from_frame``.
        """
        given = map(self._stated.get, self.names)
        lower = map(is_lower_better, self.measures, given)
        return tuple(name for name, one in zip(self.names, lower, strict=True) if one)

    def matrix(self, measure: str | Measure) -> pd.DataFrame:
        """Return the scores by one measure: a row per topic, a column per run."""
        import pandas as pd

        with valid_text():
            topics, runs = pd.Index(self.query_ids, name="query_id"), pd.Index(self.runs, name="run")
        return pd.DataFrame(self.values[self.position(measure)].T.copy(), topics, runs)

    @cached_property
    def aggregates(self) -> npt.NDArray[np.float64]:
        """Return the aggregate of each measure over the topics, shape ``(runs, measures)``."""
        return self.aggregates_of(self.values)

    def aggregates_of(
        self, values: npt.NDArray[np.float64], weights: npt.NDArray[np.float64] | None = None
    ) -> npt.NDArray[np.float64]:
        """Return aggregates of values with the shape of the scores, shape ``(runs, measures)``."""
        runs = range(len(self.runs))
        rows = [[aggregate(m, values[i, j], weights) for i, m in enumerate(self.measures)] for j in runs]
        return np.array(rows, dtype=np.float64).reshape(len(self.runs), len(self.measures))

    @property
    def best_first(self) -> list[int]:
        """Return the numbers of the runs, best first by the first measure; runs without a value last."""
        if not self.measures:
            return [*range(len(self.runs))]
        sign = 1 if self.names[0] in self.lower_is_better else -1
        return [*map(int, np.argsort(sign * self.aggregates[:, 0], kind="stable"))]

    def mean(self, weights: Any = None, *, slices: Any = None) -> pd.DataFrame:
        """Aggregates of each measure over the topics: a row per run, best first by the first measure.

        Args:
            weights: weights of the topics, such as their traffic, as for ``meta.differences``. With weights
                w, GM(measure=M) is ``exp(sum of w ln(M) / sum of w)``.
            slices: slices of the topics, as for ``meta.differences``. The table then has a row per run and
                slice, of which 'all' is all topics. A slice may have one topic.

        Raises:
            InputError: a topic has no weight, or a wrong one; a slice has no topic with a weight above 0.

        Example:
            >>> import ir_graded
            >>> qrels, run = {"1": {"a": 2}, "2": {"a": 1}}, {"1": {"x": 2.0, "a": 1.0}, "2": {"a": 1.0}}
            >>> scores = ir_graded.evaluate(["RR", "R@1"], qrels, {"bm25": run})
            >>> scores.mean(slices={"1": "short", "2": "long"})
                          RR  R@1
            run  slice
            bm25 all    0.75  0.5
                 short  0.50  0.0
                 long   1.00  1.0
        """
        scores = weighted(self, weights)
        if slices is None:
            frame = scores.mean_frame_of({"mean": scores.aggregates})
            frame.columns = self.names
            return frame
        import pandas as pd

        from ir_graded.meta.topics import topics_by_slice, weights_of

        of_topic, means = weights_of(self.query_ids, weights), {}
        for name, part in topics_by_slice(self.query_ids, slices, fewest=1).items():
            if not of_topic[part].any():
                raise InputError(f"slices: no topic of {name!r} has a weight above 0")
            means[name] = self.aggregates_of(self.values[:, :, part], _with_mean_1(of_topic[part]))
        stacked = np.stack([*means.values()], axis=1)[scores.best_first]
        with valid_text():
            index = pd.MultiIndex.from_product(
                [[self.runs[number] for number in scores.best_first], means], names=["run", "slice"]
            )
        return pd.DataFrame(stacked.reshape(len(index), len(self.names)), index, self.names)

    def summary(self, statistics: str | Iterable[str] = "median") -> pd.DataFrame:
        """Medians, percentiles and other statistics of the scores of topics: a row per run, as in ``mean``.

        Args:
            statistics: one of 'median', 'min', 'max', 'sd' (the standard deviation, divided by the number of
                topics minus 1), 'mean' (the aggregate of ``mean``), or a percentile from 'p0' to 'p100', such
                as 'p10', between two topics on the line between their scores; or a list of these, for a
                column per measure and statistic.

        Raises:
            ParameterError: a statistic is not one of these, or the list is empty.

        Example:
            >>> import ir_graded
            >>> qrels = {topic: {"a": 1} for topic in "123"}
            >>> run = {"1": {"a": 1.0}, "2": {"x": 2.0, "a": 1.0}, "3": {"x": 1.0}}
            >>> scores = ir_graded.evaluate(["FirstRank@10", "RR"], qrels, {"bm25": run})
            >>> scores.summary()
                  FirstRank@10   RR
            run
            bm25           2.0  0.5
            >>> scores["RR"].summary(["p90", "sd"]).round(3)
                   RR
                  p90   sd
            run
            bm25  0.9  0.5
        """
        single = isinstance(statistics, str) or not isinstance(statistics, Iterable)
        chosen: Any = [statistics] if single else dict.fromkeys(statistics)
        if not chosen:
            raise ParameterError("statistics is empty: give at least one, such as 'median'")
        frame = self.mean_frame_of({name: self._statistic(name) for name in chosen})
        if single:
            frame.columns = self.names
        return frame

    def _statistic(self, name: Any) -> npt.NDArray[np.float64]:
        """Return a statistic of the scores of the topics, shape ``(runs, measures)``."""
        if name == "mean":
            return self.aggregates
        of, percent = _STATISTICS.get(name), _PERCENTILE.fullmatch(str(name))
        if percent and float(percent[1]) <= 100:  # noqa: PLR2004
            of = partial(np.percentile, q=float(percent[1]))
        if of is None:
            words = ", ".join(map(repr, ("mean", *_STATISTICS)))
            raise ParameterError(
                f"statistics: {short_repr(name)} must be one of {words}, or a percentile from 'p0' to 'p100'"
            )
        if len(self.query_ids) < (FEWEST if name == "sd" else 1):
            return np.full((len(self.runs), len(self.names)), np.nan)
        return np.asarray(of(self.values, axis=2)).T

    @with_options_of(LatexTable)
    def to_latex(self, **options: Any) -> str:  # noqa: D417  # the options of the table
        r"""Return a table of the means for LaTeX: a row per run, best first, best values bold.

        Args:
            baseline: name of a run, or its path, also without the extension; runs that are significantly
                better get a dagger and those that are significantly worse a double dagger, and the caption
                names the test (``meta.differences``).
            letters: whether to name each run by a letter and to mark each value with the letters of the runs
                that are significantly worse, by tests of all pairs. After z follow aa, ab, ...; with more
                than 26 runs, the letters of a value are separated by commas.
            digits: decimal places, -1 for all digits; or a mapping from measures to them, 4 for the others.
            alpha: significance level.
            test: the test, as in ``meta.differences``.
            correction: the correction, as in ``meta.differences``; None for the default of the test.
            rng: a seed or a generator.
            caption: the first sentences of the caption, instead of the number of topics. It is not escaped.
            names: text to show for measures or runs. It is not escaped, so that it may contain markup.
            intervals: whether to show a confidence interval with each mean, or a result of
                ``meta.confidence_intervals`` for these scores. ``True`` takes its default options.
            weights: weights of the topics in means, tests and intervals, as for ``meta.differences``; the
                caption names them.
            clusters: the cluster of each topic in tests and intervals, as for ``meta.differences``; the
                caption names them.
            label: text of ``\label``; empty for none.
            booktabs: whether the rules are those of the package booktabs, or ``\hline``.

        Raises:
            InputError: there is no run, there are fewer than two topics or runs for a test, a topic has no
                weight or a wrong one, or ``intervals`` are of other scores.
            ParameterError: ``baseline`` is not a run, ``names`` has a key that is neither a run nor a
                measure, another option is out of range, or alpha is too small for any significant difference.

        Warns:
            CoverageWarning: the topics are so few that no difference can be significant, from the baseline or
                between any two runs. The table then says nothing about this test.
        """
        layout = {name: options.pop(name) for name in ("label", "booktabs") if name in options}
        return self._table(options).text("latex", **layout)

    @with_options_of(Table)
    def to_markdown(self, **options: Any) -> str:
        """Return the table of ``to_latex`` in Markdown, with the same options."""
        return self._table(options).text("markdown")

    @with_options_of(Table)
    def to_html(self, **options: Any) -> str:
        """Return the table of ``to_latex`` in HTML, with the same options."""
        return self._table(options).text("html")

    def _table(self, options: dict[str, Any]) -> Table:
        return Table(weighted(self, options.get("weights")), **options)

    def to_json(self) -> str:
        """Return all scores as JSON for ``from_json``, with measures, parameters and versions.

        The object has ``format`` ("ir_graded scores"), ``version`` (1), ``written_by`` (versions of ir_graded
        and ir_measures), ``measures`` (strings with all parameters), ``runs``, ``query_ids``, ``values``,
        a nested list over measures, runs and topics with null for a missing score, and ``signature``. Where
        ``from_frame`` was given ranges or directions, it also has ``ranges``, a pair by measure with null for
        an infinite end, and ``lower_is_better``, a list of measures.

        Raises:
            InputError: topics are neither text nor whole numbers.
        """
        ids = [one.item() if isinstance(one, np.integer) else one for one in self.query_ids]
        if not set(map(type, ids)) <= {str, int}:
            raise InputError("to_json needs query_ids that are text or whole numbers: convert them")
        cells = self.values.astype(object)
        cells[np.isnan(self.values)] = None
        content: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "written_by": versions()}
        content |= {"measures": self.names, "runs": list(self.runs), "query_ids": ids}
        content |= {"values": cells.tolist(), "signature": self.signature.to_dict()}
        if given := {name: self._stated[name] for name in self.names if name in self._stated}:
            ends = {
                name: [one if math.isfinite(one) else None for one in of[:2]] for name, of in given.items()
            }
            lower = [name for name, of in given.items() if of.lower_is_better]
            content |= {"ranges": ends, "lower_is_better": lower}
        text = json.dumps(content, ensure_ascii=False)
        try:
            text.encode()
        except UnicodeEncodeError:
            return json.dumps(content)  # with escapes of lone surrogates
        return text

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
            ranges: dict[str, Any] = {
                name: [end if one is None else one for one, end in zip(pair, UNKNOWN, strict=True)]
                for name, pair in content.get("ranges", {}).items()
            }
            given = stated(ranges, content.get("lower_is_better", ()))
            measures = tuple(named(one, given, parse_measure) for one in content["measures"])
            runs, query_ids = tuple(map(str, content["runs"])), tuple(content["query_ids"])
            ids = {"measures": map(str, measures), "runs": runs, "query_ids": map(as_text, query_ids)}
            for name, texts in ((name, [*one]) for name, one in ids.items()):
                if len({*texts}) < len(texts):
                    twice = next(one for one in texts if texts.count(one) > 1)
                    raise ValueError(f"{name}: {short_repr(twice)} appears twice")
            values = np.array(content["values"], dtype=np.float64)
            shape = len(measures), len(runs), len(query_ids)
            if values.shape != shape and values.size:
                raise ValueError(f"values have shape {values.shape}, expected {shape}")
            saved = content.get("signature")
            origin = Origin.of_dict({"versions": content["written_by"]} if saved is None else saved)
            return cls(runs, measures, query_ids, values.reshape(shape), _origin=origin, _stated=given)
        except _UNREADABLE as error:
            why = "the JSON is too deeply nested" if isinstance(error, RecursionError) else error
            raise FileFormatError(
                f"expected JSON of {_FORMAT}, version {_VERSION}, from Scores.to_json: {why}"
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
        - ``unknown_topics``: number of topics of the run that are not in the qrels, or that
          ``without_relevant`` left out;
        - ``judged_at_10``, ``judged_share``: share of documents with a level >= 0 among the first ten, and
          among all retrieved documents; the mean over the topics retrieved, 1 minus the share of
          ``ir_graded.unjudged``.

        Most measures need only the relevant documents. The shares are therefore counted on first access, from
        the given runs as they are then, which are kept until then. They are NaN if a run retrieved nothing or
        can no longer be read, in pickles and copies that were made before, and of answers.

        Raises:
            InputError: these scores were not made by ``evaluate`` or ``score_answers``.

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

    def citations(self, *, test: str | None = None, correction: str | None = None) -> str:
        """Return the publications of the measures, of a test and of a correction as BibTeX.

        A comment names measures without a known publication.

        Args:
            test: test of the differences, one of those of ``meta.differences`` and ``meta.significance``;
                None for none.
            correction: correction of its p-values; None for the default of the test.

        Raises:
            ParameterError: a test or a correction does not exist, or a correction has no test.

        Example:
            >>> import ir_graded
            >>> scores = ir_graded.evaluate("Q", {"1": {"a": 2}}, {"1": {"a": 1.0}})
            >>> print(scores.citations())
            @inproceedings{sakai2004new,
              author = {Sakai, Tetsuya},
              title = {{New Performance Metrics based on Multigrade Relevance}},
              booktitle = {NTCIR-4},
              year = {2004}
            }
        """
        from ir_graded.meta.paired_tests import CORRECTIONS, TESTS

        if test is None:
            if correction is not None:
                raise ParameterError(f"correction={correction!r} needs a test: give test=, too")
            return citations(self.measures)
        check_choice("test", test, TESTS)
        correction = correction or TESTS[test].correction or "none"
        check_choice("correction", correction, CORRECTIONS)
        return citations(self.measures, TESTS[test].source + CORRECTIONS[correction].source)

    @property
    def signature(self) -> Signature:
        """Signature of the scores: versions, measures, options, hashes of the qrels and of each run.

        Equal rows in another order or format have equal hashes. The hashes are computed on first access and
        when scores are written or pickled, from the given qrels and runs as they are then, which are kept
        until then. They are not known of iterators and pipes, which can be read only once, of files that have
        changed, and if the scores were not computed from qrels and runs.

        Example:
            >>> import ir_graded
            >>> scores = ir_graded.evaluate("Q", {"1": {"a": 2}}, {"1": {"a": 1.0}})
            >>> print(scores.signature.short.partition("|")[2])
            Q|qrels:43a80894|runs:f4339aa2|ties:doc_id|topics:1
        """
        return (self._origin or Origin()).signature(self.measures, self.runs, self.query_ids)

    @property
    def coverage_notes(self) -> tuple[str, ...]:
        """Sentences of the CoverageWarning; empty without problems, or if the coverage is not known."""
        return () if self._coverage is None else tuple(self._coverage.notes())

    def __repr__(self) -> str:
        from ir_graded.plots.style import plural

        return (
            f"Scores({plural(len(self.runs), 'run')}, {plural(len(self.query_ids), 'topic')}, "
            f"measures {', '.join(self.names)})"
        )

    def _repr_html_(self) -> str:
        from html import escape

        title = f"<p>{escape(repr(self))}</p>"
        if not self.values.size:
            return title
        means = self.mean().rename(printable)
        if len(means) > _MOST_RUNS:
            title += f"\n<p>The {_MOST_RUNS} best runs by {escape(self.names[0])}.</p>"
        return f"{title}\n{means.head(_MOST_RUNS).to_html(float_format=f'{{:.{DIGITS}f}}'.format)}"


def saved_signature(scores: Scores) -> Mapping[str, Any]:
    """Return the signature of scores, as in their file if they have one, where fields may be missing."""
    origin = scores._origin or Origin(saved={})  # noqa: SLF001  # of this module
    return scores.signature.to_dict() if origin.saved is None else origin.saved


def weighted(scores: Scores, weights: Any) -> Scores:
    """Return scores whose aggregates and signature have weights of the topics, for tables and reports.

    Raises:
        InputError: a topic has no weight, or a wrong one.
    """
    if weights is None:
        return scores
    from ir_graded.meta.topics import weights_of

    of_topic = weights_of(scores.query_ids, weights)
    origin = scores._origin or Origin()  # noqa: SLF001  # of this module
    weights = weights_hash(scores.query_ids, of_topic.tolist())
    found = replace(scores, _origin=replace(origin, weights=weights))
    found.__dict__["aggregates"] = scores.aggregates_of(scores.values, _with_mean_1(of_topic))
    return found


def _with_mean_1(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(weights * len(weights) / weights.sum())


def _measure_in_frame(measure: Any, declared: Mapping[str, Stated]) -> Measure:
    try:
        return named(measure, declared)
    except GradedError as error:
        advice = f" To read scores of your own, give their range: ranges={{{short_repr(measure)}: (0, 1)}}."
        hint = advice if isinstance(error, UnknownMeasureError) else ""
        raise type(error)(f"frame: measure: {error}{hint}") from None


def _expected(measure: Measure) -> Measure:
    """Return a measure with the mean over the orders of tied documents, if it has this mean."""
    try:
        return with_ties(measure, "expected")
    except ParameterError:
        return measure


def _named_like(scores: Scores, other: Scores) -> Scores:
    """Return ``other`` with the measures of ``scores`` where these differ in ``ties``, if it has no ties.

    Its scores are then those of any order.
    """
    coverage = other._coverage  # noqa: SLF001  # of this module
    if coverage is None or coverage.has_ties:
        return other
    measures = {_expected(one): one for one in scores.measures}
    by = tuple(measures.get(_expected(one), one) for one in other.measures)
    return replace(other, measures=by) if {*by} == {*scores.measures} else other


def _order_of_ties(scores: Scores) -> str:
    """Return the order by ids or rows of documents with equal scores; empty if none are known to tie."""
    coverage = scores._coverage  # noqa: SLF001  # of this module
    if coverage is not None and not coverage.depends_on_rows:
        return ""
    return order_by_rows(scores._origin)  # noqa: SLF001  # of this module


def _joined(scores: Scores, other: Scores) -> Scores:
    """Return the scores of both runs, by both measures, or on the topics of both."""
    orders = sorted({order for one in (scores, other) if (order := _order_of_ties(one))})
    if {*scores.runs}.isdisjoint(other.runs):
        other = _named_like(scores, other)
        scores = _named_like(other, scores)
    mine, theirs = ({*map(str, one.query_ids)} for one in (scores, other))
    runs, measures = (
        {*one} & {*two} for one, two in ((scores.runs, other.runs), (scores.names, other.names))
    )
    same_runs, same_measures = {*scores.runs} == {*other.runs}, {*scores.names} == {*other.names}
    folds = same_runs and same_measures and mine.isdisjoint(theirs)
    if mine != theirs and not folds:
        topic = min(mine ^ theirs)
        where = "the first" if topic in mine else "further"
        raise InputError(
            f"topics overlap but differ: {min(mine & theirs)!r} is in both scores, {topic!r} only in {where}"
            if mine & theirs
            else f"topics differ: {topic!r} is only in {where} scores; joining topics needs equal runs and "
            "measures"
        )
    if runs and measures and not folds:
        raise InputError(
            f"run {min(runs)!r} has scores by {min(measures)} twice: select runs or measures that differ"
        )
    one, two = scores._stated, other._stated  # noqa: SLF001  # of this module
    if same_measures and one != two:
        name = min(one.items() ^ two.items())[0]
        raise InputError(f"the ranges of {name} differ: give the same ones to Scores.from_frame")
    if not (same_measures or same_runs):
        differ_in_ties = {*map(_expected, scores.measures)} == {*map(_expected, other.measures)}
        advice = ", evaluated with the same ties, as in evaluate(..., ties='expected')"
        raise InputError(
            f"runs {format_ids(scores.runs)} have scores by {', '.join(scores.names)}, and runs "
            f"{format_ids(other.runs)} by {', '.join(other.names)}: give equal runs or equal "
            f"measures{advice if differ_in_ties else ''}"
        )
    in_order = {
        "runs": scores.runs if same_runs else None,
        "measures": scores.measures if same_measures else None,
        "topics": None if folds else scores.query_ids,
    }
    other = other.select(**{name: of for name, of in in_order.items() if of})
    values = np.concatenate([scores.values, other.values], axis=2 if folds else 1 if same_measures else 0)
    if len(orders) > 1:
        warn_caller(
            f"Documents with equal scores are in different orders (ties: {' and '.join(orders)}), so part of "
            "the differences between runs may be due to this order. Evaluate all with the same ties."
        )
    origin = joint_origin(scores._origin, other._origin, orders)  # noqa: SLF001  # of this module
    return Scores(
        scores.runs if same_runs else scores.runs + other.runs,
        scores.measures if same_measures else scores.measures + other.measures,
        scores.query_ids + other.query_ids if folds else scores.query_ids,
        values,
        _origin=origin,
        _stated={**one, **two},
    )
