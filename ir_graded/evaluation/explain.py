"""``explain``: the relevant documents of a topic and the contribution of each to the score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_graded._utils.results import Result, read_only
from ir_graded.core.views import Views
from ir_graded.errors import MOST_IDS, InputError, printable
from ir_graded.io.values import as_text
from ir_graded.matching.judgments import Judgments
from ir_graded.measures.base import Contributions, Scorer, TiedContributions
from ir_graded.measures.params import TIES
from ir_graded.measures.parsing import read_measure

from .evaluate import Request
from .provider import scorers_here
from .rankings import RankingComparison, compare_rankings, topic_number
from .tables import decimal

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Axes, Figure

#: Known columns in display order.
_COLUMNS = (
    *("rank", "last_rank", "rank_in_run", "doc_id", "intent"),
    *("documents", "relevant", "not_relevant", "unjudged", "start", "length", "level", "found"),
    *("P", "R", "probability", "gain", "C", "cg", "cg_star", "BR", "F", "gP"),
    *("others_above", "discount", "weight", "stop", "utility", "contribution"),
)
#: Symbols of columns in tables, where they differ from the name.
_SYMBOLS = {"last_rank": "to rank", "rank_in_run": "rank in run", "not_relevant": "not relevant"}
_SYMBOLS |= {"P": "P[r]", "R": "R[r]", "probability": "P", "cg_star": "cg*", "others_above": "N(n)"}
#: Sums of levels and counts, printed without decimals if all are whole numbers.
_AMOUNTS = {"level", "gain", "cg", "cg_star", "others_above"}
#: Columns that may repeat another column and are then left out of tables.
_TWINS = {"gain": ("level",), "utility": ("BR", "gP")}
_UNNAMED = "run"


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """The score of one topic, document by document: result of ``explain``.

    Attributes:
        run: name of the run.
        measure: the explained measure, as an object with its parameters.
        query_id: id of the topic.
        score: score of the run on this topic, as in ``evaluate``.
        columns: columns by name, with a value for each relevant document retrieved that the measure looks at,
            in ranking order. ``contribution`` sums to the score up to rounding. The other columns depend on
            the measure: see ``explain``.
        relevant: number of relevant documents of the topic, retrieved or not; for measures of rows the number
            of highlighted characters.
        retrieved: number of documents retrieved, relevant or not.
        below: number of relevant documents retrieved below the cutoff.
        notes: further information, in sentences.
    """

    run: str
    measure: Measure
    query_id: Any
    score: float
    columns: Mapping[str, npt.NDArray[Any]]
    relevant: int
    retrieved: int
    below: int
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return a row per relevant document retrieved that the measure looks at."""
        import pandas as pd

        return pd.DataFrame({name: values.copy() for name, values in self.columns.items()})

    def plot(self, ax: Axes | None = None) -> Figure:
        """Plot stop distribution and utility over the ranks into ``ax`` or a new figure."""
        from ir_graded.plots import profile

        return profile(self, ax)

    def cells(self, places: int = 4, *, complete: bool = False) -> tuple[list[str], list[list[str]]]:
        """Return the names of the columns, and a row per document as text; the last row is the score.

        ``places`` -1 gives all digits, and ``complete`` also columns that repeat another.
        """
        names = [name for name in self.columns if complete or not self._repeats(name)]
        texts = [self._texts(name, places) for name in names]
        last = ["score", *[""] * (len(names) - 2), decimal(self.score, places)]
        rows = [*map(list, zip(*texts, strict=True)), last]
        return names if complete else [_SYMBOLS.get(name, name) for name in names], rows

    def _repeats(self, name: str) -> bool:
        twins = (self.columns.get(twin) for twin in _TWINS.get(name, ()))
        return any(twin is not None and np.array_equal(self.columns[name], twin) for twin in twins)

    def _texts(self, name: str, places: int) -> list[str]:
        values = self.columns[name]
        if values.dtype.kind != "f":
            return [str(value) for value in values.tolist()]
        if name in _AMOUNTS and bool((values == np.floor(values)).all()):
            return [f"{value:.0f}" for value in values.tolist()]
        return [decimal(value, places) for value in values.tolist()]

    def text(self, places: int = 4) -> str:
        """Return the explanation as text: notes, a row per document, and the score."""
        return "\n".join([self._title(), *self.notes, "", self._tabulated("simple", places)])

    def _title(self) -> str:
        # A run without a name is called 'run'.
        run = "" if self.run == _UNNAMED else f", run {self.run}"
        return printable(f"{self.measure}, topic {as_text(self.query_id)}{run}")

    def _tabulated(self, form: str, places: int = 4) -> str:
        from tabulate import tabulate

        head, rows = self.cells(places)
        rows = [[*map(printable, row)] for row in rows]
        align = ["left" if name in {"doc_id", "intent", "rank"} else "right" for name in head]
        return str(tabulate(rows, head, tablefmt=form, disable_numparse=True, colalign=align))

    def _repr_html_(self) -> str:
        texts = [f"<p>{escape(text)}</p>" for text in (self._title(), *self.notes)]
        return "\n".join([*texts, self._tabulated("html")])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return (
            f"Explanation({self.measure}, run {self.run!r}, topic {self.query_id!r}, score {self.score:.4f})"
        )


@overload
def explain(measure: str | Measure, qrels: Any, run: Any, query_id: Any) -> Explanation: ...


@overload
def explain(
    measure: str | Measure, qrels: Any, run: Any, query_id: Any, *, against: Any
) -> RankingComparison: ...


def explain(
    measure: str | Measure, qrels: Any, run: Any, query_id: Any, *, against: Any = None
) -> Explanation | RankingComparison:
    """Explain the score of a topic: the ranks of its relevant documents, and the contribution of each.

    ``score = sum over documents of contribution``. For measures of the family of Sakai and Robertson (2008),
    ``contribution = stop * utility``. Columns of the result:

    - ``rank``: in the list that the measure looks at; ``rank_in_run`` if that is a condensed list;
    - ``doc_id``, ``level``, and ``C``, the number of relevant documents so far;
    - ``gain``, ``cg``, ``cg_star``, ``BR``: gain, cumulative gain, that of the ideal list, and the blended
      ratio with the beta of the measure (inf for AWP, R-WP and nCG), if the measure uses them;
    - ``stop``: probability that the user stops at this rank; ``utility``: utility of the list down to this
      rank. AP stops at each relevant document with 1/R, RR at the first, ERR in a cascade. If the sum is
      divided once more (nERR, nDCG, P), the notes give the divisor;
    - ``F``, ``gP`` of MAgP, gP and gR, whose documents are articles; ``discount`` of nDCG, ``weight`` of RBP,
      SDCG, INSQ, INST, BPM and NERR, and of xinfAP, infQ and infNDCG (N/n of the stratum), ``ideal_rank`` of
      Compat, ``others_above`` of Bpref (number of documents above that are judged not relevant) and of
      Accuracy (number that are not relevant);
    - ``start``, ``length`` and ``found`` of CharP, CharR, CharF, IoU, iP and AiP, whose documents are rows
      with highlighted text; ``found`` counts characters that no row above has found; ``P``, ``R``: precision
      and recall of the characters down to this row, each counted once;
    - ``contribution``: for R-measure, R-WP, BR and nCG the share of the document in the numerator.

    With ``ties='optimistic'`` or ``'pessimistic'``, documents are in that order. With ``ties='expected'``, a
    topic with ties has a row per tie group with a relevant document: ``rank`` and ``last_rank``, the relevant
    documents as ``doc_id``, the numbers of ``documents``, ``relevant``, ``not_relevant`` (judged) and
    ``unjudged`` ones, and as ``contribution`` the mean over all orders.

    Success counts the first relevant document, IPrec the first with the highest precision, Judged all judged
    documents. NumQ, NumRel, and NumRet without rel have no contributions of judged documents and raise an
    error.

    Args:
        measure: a measure object or string of this package or of ir-measures.
        qrels: qrels in any form of ``evaluate``.
        run: one run in any form of ``evaluate``.
        query_id: the topic; ids are compared as text.
        against: another run, whose ranking is shown beside that of ``run``.

    Returns:
        The explanation: ``print`` it, or see ``.to_frame()``, ``.score`` and ``.plot()``. With ``against``
        the result of ``compare_rankings``.

    Raises:
        InputError: the topic is not in the qrels, several runs are given, or the input cannot be scored.
        NoSharedTopicsError: the qrels are empty, or the run and the qrels have no topic in common.
        ParameterError: several measures are given, or the measure has no contributions of documents.
        ValueError: the measure cannot be read.
        NameError: the name of the measure is unknown.

    Source:
        Sakai and Robertson, "Modelling A User Population for Designing Information Retrieval Metrics" (EVIA
        2008).

    Example:
        >>> import ir_graded
        >>> qrels = {"1": {"s": 3, "a": 2, "b": 1}}
        >>> run = {"1": {"b": 9.0, "s": 8.0, "x": 7.0}}
        >>> print(ir_graded.explain("P+", qrels, run, "1"))
        P+, topic 1
        Relevant documents retrieved: 2 of 3, in a ranking of 3.
        <BLANKLINE>
        rank    doc_id      level    C    cg    cg*      BR    stop    contribution
        ------  --------  -------  ---  ----  -----  ------  ------  --------------
        1       b               1    1     1      3  0.5000  0.5000          0.2500
        2       s               3    2     4      5  0.8571  0.5000          0.4286
        score                                                                0.6786
    """
    ((wanted, scorer),) = scorers_here([read_measure(measure)], "explain").items()
    if against is not None:
        return compare_rankings([wanted], qrels, run, against, query_id)
    request = Request([wanted], qrels, run)
    judgments = request.judgments
    topic = topic_number(judgments, query_id)
    if len(request.runs) != 1:
        names = ", ".join(request.runs)
        raise InputError(
            f"one run can be explained at a time, given {len(request.runs)}: {names}; "
            "to compare two, give the other one as against="
        )
    expected = scorer.ties == "expected"
    # All judged documents of tie groups are needed.
    lowest = -np.inf if expected else request.lowest
    (judged_run,) = request.match(lambda matched: matched.judged, lowest)
    views = scorer.in_order(request.evaluator.graded.views(judged_run))
    found = scorer.contributions(views)
    mine = np.flatnonzero(found.view.topic == topic)
    seen = mine.size
    listed = found.view.hits if scorer.NEEDS_ROWS else views.hits
    retrieved = int(listed.n_retrieved[topic])
    groups = scorer.expected_contributions(views) if expected else None
    if groups is not None and groups.tied.topics[topic]:
        seen = int(groups.tied.m[groups.tied.topic == topic].sum())
        columns = _group_columns(judgments, groups, topic)
    else:
        columns = _columns(judgments, scorer, views, found, mine)
    score, relevant = float(scorer.score_with_ties(views)[topic]), int(found.view.R[topic])
    notes = _notes(found, topic, seen, retrieved, score)
    tied = judged_run.ties is not None and judged_run.ties.tied[judged_run.topic == topic] > 1
    if judged_run.by_position and scorer.ties == TIES.default and np.any(tied):
        notes.append("Documents with equal scores are in the order of their given positions.")
    if "documents" in columns:
        notes.append("Documents with equal scores are one row; it adds the mean over all their orders.")
    (run_name,), query_id = request.runs, judgments.query_ids[topic]
    below = int(found.view.retrieved[topic]) - seen
    counts = relevant, retrieved, below
    return Explanation(run_name, wanted, query_id, score, columns, *counts, tuple(notes))


def _columns(
    judgments: Judgments, scorer: Scorer, views: Views, found: Contributions, mine: npt.NDArray[np.int64]
) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of an explanation in order, for the documents of the topic."""
    view, levels = found.view, judgments.levels
    documents = view.document[mine]
    columns: dict[str, npt.NDArray[Any]] = {
        "rank": view.n[mine],
        "doc_id": np.array(
            [judgments.doc_ids[at] if at >= 0 else "" for at in documents.tolist()], dtype=object
        ),
        "level": levels.values[levels.level_index[documents]],
        "C": view.C[mine],
        **{name: np.asarray(values)[mine] for name, values in scorer.columns(views).items()},
        "contribution": found.value[mine],
    }
    if view.rank_in_run is not None:
        columns["rank_in_run"] = view.rank_in_run[mine]
    if "intent" in columns:
        names = [judgments.intent_names[at] for at in columns["intent"].astype(int).tolist()]
        columns["intent"] = np.array(names, dtype=object)
    # Columns of measures defined elsewhere are put before the contribution.
    order = [*_COLUMNS[:-1], *(name for name in columns if name not in _COLUMNS), _COLUMNS[-1]]
    return {name: read_only(columns[name]) for name in order if name in columns}


def _group_columns(judgments: Judgments, found: TiedContributions, topic: int) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of an explanation of the mean over orders: a row per tie group of the topic."""
    tied = found.tied
    mine = np.flatnonzero(tied.topic == topic)
    document = tied.view.document
    names = [
        [judgments.doc_ids[at] for at in document[begin : begin + size].tolist()]
        for begin, size in zip(tied.begin[mine].tolist(), tied.m[mine].tolist(), strict=True)
    ]
    shown = [", ".join(ids[:MOST_IDS] + ["..."] * (len(ids) > MOST_IDS)) for ids in names]
    judged = tied.judged()[mine]
    columns = {
        "rank": tied.t[mine] + 1,
        "last_rank": tied.t[mine] + tied.n[mine],
        "doc_id": np.array(shown, dtype=object),
        "documents": tied.n[mine],
        "relevant": tied.m[mine],
        "not_relevant": np.maximum(judged - tied.m[mine], 0),
        "unjudged": tied.n[mine] - np.maximum(judged, tied.m[mine]),
        "contribution": found.value[mine],
    }
    return {name: read_only(values) for name, values in columns.items()}


def _notes(found: Contributions, topic: int, seen: int, retrieved: int, score: float) -> list[str]:
    """Return notes about the topic, in sentences."""
    relevant, below = int(found.view.R[topic]), int(found.view.retrieved[topic]) - seen
    there = found.view.kind.capitalize()
    if not relevant:
        return [f"The qrels have no {found.view.kind} for the topic: it scores {score:g}."]
    if not retrieved:
        known = f" {there}: {relevant}." if found.view.countable else ""
        return [f"The run has no document for the topic: it scores {score:g}.{known}"]
    of = f" of {relevant}" if found.view.countable else ""
    notes = [f"{there}{found.view.verb}: {seen + below}{of}, in a ranking of {retrieved}."]
    if below:
        notes.append(f"Below rank {found.view.cutoff}, where they do not count: {below}.")
    if not seen:
        return [*notes, f"Without any to count, the topic scores {score:g}."]
    if found.view.rank_in_run is not None:
        notes.append("Ranks are those of the condensed list, from which unjudged documents are removed.")
    if found.norm is not None and found.norm_name:
        norm = found.norm[topic]
        so = "." if norm > 0 else f": it scores {score:g}."
        notes.append(f"The sum is divided by {norm:g}, {found.norm_name}{so}")
    return notes
