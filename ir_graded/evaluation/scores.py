"""Scores of several runs by several measures on the same topics: result of ``evaluate``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_graded.errors import InputError
from ir_graded.measures.aggregation import aggregate
from ir_graded.measures.classic.ties import takes_ties, with_ties
from ir_graded.measures.params import TIES
from ir_graded.measures.parsing import read_measure

from . import score_files
from .coverage import Coverage
from .score_tables import table

if TYPE_CHECKING:
    import pandas as pd


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

        After ``evaluate(..., ties=...)`` the name may omit the order of tied documents.
        """
        wanted = read_measure(measure)
        if wanted in self.measures:
            return self.measures.index(wanted)
        orders = TIES.words if takes_ties(wanted) and "ties" not in wanted.params else ()
        others = {with_ties(wanted, ties) for ties in orders}.intersection(self.measures)
        if len(others) != 1:
            raise InputError(f"{wanted} was not evaluated; use one of {', '.join(map(str, self.measures))}")
        return self.measures.index(others.pop())

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Frame with a row per score: columns run, query_id, measure (its printed name), value."""
        return self.frame_of({"value": self.values})

    def frame_of(self, columns: Mapping[str, npt.NDArray[np.float64]]) -> pd.DataFrame:
        """Return arrays with the shape of the scores as columns, with the rows of ``frame``."""
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

        stacked = np.stack([*columns.values()], axis=2)[self.best_first]
        return pd.DataFrame(
            stacked.reshape(len(self.runs), -1),
            index=pd.Index([self.runs[number] for number in self.best_first], name="run"),
            columns=pd.MultiIndex.from_product([self.names, columns]),
        )

    @property
    def names(self) -> list[str]:
        """Printed names of the measures."""
        return [str(measure) for measure in self.measures]

    def matrix(self, measure: str | Measure) -> pd.DataFrame:
        """Return the scores by one measure: a row per topic, a column per run."""
        import pandas as pd

        return pd.DataFrame(
            self.values[self.position(measure)].T.copy(),
            index=pd.Index(self.query_ids, name="query_id"),
            columns=pd.Index(self.runs, name="run"),
        )

    @cached_property
    def aggregates(self) -> npt.NDArray[np.float64]:
        """Return the aggregate of each measure over the topics, shape ``(runs, measures)``."""
        return self.aggregates_of(self.values)

    def aggregates_of(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return aggregates of values with the shape of the scores, shape ``(runs, measures)``."""
        rows = [[aggregate(m, values[i, j]) for i, m in enumerate(self.measures)] for j in self._numbers]
        return np.array(rows, dtype=np.float64).reshape(len(self.runs), len(self.measures))

    @property
    def _numbers(self) -> range:
        return range(len(self.runs))

    @property
    def best_first(self) -> list[int]:
        """Return the numbers of the runs, best first by the first measure; runs without a value last."""
        if not self.measures:
            return [*self._numbers]
        order: list[int] = np.argsort(-self.aggregates[:, 0], kind="stable").tolist()
        return order

    def mean(self) -> pd.DataFrame:
        """Aggregates of each measure over the topics: a row per run, best first by the first measure."""
        import pandas as pd

        order = self.best_first
        return pd.DataFrame(
            self.aggregates[order],
            index=pd.Index([self.runs[number] for number in order], name="run"),
            columns=self.names,
        )

    def to_latex(
        self, *, baseline: str | None = None, letters: bool = False, digits: int = 4, alpha: float = 0.05
    ) -> str:
        """Return a table of the means for LaTeX with booktabs: a row per run, best first, best values bold.

        Args:
            baseline: name of a run, or its path, also without the extension; runs that differ from it
                significantly get a dagger, and the caption names the test of ``meta.against_baseline``.
            letters: whether to name each run by a letter and to mark each value with the letters of the runs
                that are significantly worse, by the randomised Tukey HSD test of
                ``meta.discriminative_power``.
            digits: decimal places.
            alpha: significance level.

        Raises:
            InputError: there is no run, there are fewer than two topics or runs for a test, or more runs than
                letters.
            ParameterError: ``baseline`` is not a run, another option is out of range, or alpha is too small
                for any significant difference.

        Warns:
            CoverageWarning: the topics are so few that no difference can be significant, from the baseline or
                between any two runs. The table then says nothing about this test.
        """
        return table(self, "latex", baseline=baseline, letters=letters, digits=digits, alpha=alpha)

    def to_markdown(
        self, *, baseline: str | None = None, letters: bool = False, digits: int = 4, alpha: float = 0.05
    ) -> str:
        """Return the table of ``to_latex`` in Markdown."""
        return table(self, "markdown", baseline=baseline, letters=letters, digits=digits, alpha=alpha)

    def to_html(
        self, *, baseline: str | None = None, letters: bool = False, digits: int = 4, alpha: float = 0.05
    ) -> str:
        """Return the table of ``to_latex`` in HTML."""
        return table(self, "html", baseline=baseline, letters=letters, digits=digits, alpha=alpha)

    def to_json(self) -> str:
        """Return all scores as JSON for ``from_json``, with measures, parameters and versions."""
        return score_files.to_json(self.runs, self.names, self.query_ids, self.values)

    @classmethod
    def from_json(cls, text: str | bytes) -> Scores:
        """Read scores from the JSON of ``to_json``, equal to the last bit; their coverage is not known.

        Raises:
            FileFormatError: the text is anything else.
        """
        return cls(*score_files.from_json(text))

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write ``frame`` to a Parquet file."""
        import polars as pl

        columns = self.frame.astype({"query_id": str}).to_dict("list")
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
        the given qrels and runs, which are kept until then. They are NaN if a run retrieved nothing, if qrels
        or run have changed or been deleted since, and in pickles and copies that were made before.

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
            f"Scores({_counted(self.runs, 'run')}, {_counted(self.query_ids, 'topic')}, "
            f"measures {', '.join(self.names)})"
        )


def _counted(things: Sequence[Any], name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"
