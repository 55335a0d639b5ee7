"""One topic: ``explain``, what each document adds to a score, and ``compare_rankings`` of two runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_graded._utils.results import Result, read_only
from ir_graded._utils.text_tables import decimal
from ir_graded.core.facets import CLASS
from ir_graded.core.judged_run import CountedDocuments
from ir_graded.core.levels import Levels
from ir_graded.core.segments import Bools, Floats, Ints, ordinals, pair_key
from ir_graded.core.struct import light_dataclass
from ir_graded.core.texts import Names
from ir_graded.core.views import ArticleView, Views
from ir_graded.errors import MOST_IDS, InputError, ParameterError, did_you_mean, format_ids, printable
from ir_graded.evaluation.coverage import LOWEST_JUDGED
from ir_graded.evaluation.evaluate import Request
from ir_graded.evaluation.provider import scorers_here
from ir_graded.io.sources import Source, named_runs
from ir_graded.io.values import as_text
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import MatchedRun
from ir_graded.measures.base import Contributions, Scorer, TiedContributions
from ir_graded.measures.params import TIES
from ir_graded.measures.parsing import read_measure, read_measures
from ir_graded.meta.options import statistic

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from ir_graded.io.table import Table
    from ir_graded.plots.style import Axes, Figure


#: Columns of the terminal that a printed comparison uses.
_WIDTH = 100
#: Red of colours on which text is white.
_DARK = 0x30


@light_dataclass(frozen=True, eq=False)
class FirstDocuments:
    """The first documents of a run on each topic, by topic and rank.

    Attributes:
        topic: number of the topic of each document in the qrels, shape ``(documents,)``.
        rank: its rank, from 1; documents with equal scores are by doc_id descending, or by position if the
            run has positions. Of passages, each document has the rank of its best row.
        doc_id: id of each document.
        level: their levels; NaN for unjudged documents and for levels below 0.
        contribution: what each document adds to the score of its topic, shape ``(measures, documents)``. 0
            for documents that the measure does not count. NaN where the score is not a sum over documents:
            for such a measure, and with ``ties='expected'`` in topics with ties.
    """

    topic: Ints
    rank: Ints
    doc_id: pl.Series
    level: Floats
    contribution: Floats


def first_documents(
    request: Request,
    matched: MatchedRun,
    scorers: Sequence[Scorer | None],
    depth: int,
    topic: int | None = None,
) -> FirstDocuments:
    """Return the documents of a run down to a depth, with levels and contributions by each measure.

    Args:
        request: the request that matched the run.
        matched: the run, matched down to level 0 or lower.
        scorers: scorers of the measures; None for a measure that others define.
        depth: the last rank.
        topic: number of the only topic wanted; None for all topics of the qrels.
    """
    from ir_graded.io.table import at_rows
    from ir_graded.matching.tables import rank_rows

    judgments = request.judgments
    levels = judgments.levels
    rows = _candidates(judgments, matched.run, depth, topic)
    number, doc_id, rank = rank_rows(judgments, rows)
    wanted = np.flatnonzero(rank <= depth)
    wanted = wanted[np.lexsort((rank[wanted], number[wanted]))]
    number, rank = number[wanted], rank[wanted]
    # Judged documents are found by their ranks, which is faster than by their ids.
    judged = matched.judged.from_level(levels, LOWEST_JUDGED)
    here = np.full(judged.topic.size, -1, dtype=np.int64)
    place = np.searchsorted(pair_key(number, rank), pair_key(judged.topic, judged.rank))
    seen = (judged.rank <= depth) & np.isin(judged.topic, number)
    here[seen] = place[seen]
    level = np.full(number.size, np.nan)
    level[here[seen]] = levels.values[judged.level_index[seen]]
    at = np.full(levels.topic.size + 1, -1, dtype=np.int64)
    at[judged.document[seen]] = here[seen]
    views = request.evaluator.graded.views(matched.judged)
    contribution = np.array([_contributions(scorer, views, at, number) for scorer in scorers])
    return FirstDocuments(number, rank, at_rows(doc_id, wanted), level, contribution)


def _contributions(scorer: Scorer | None, views: Views, at: Ints, topic: Ints) -> Floats:
    """Return what each document adds; ``at`` has the place of each document of the qrels, or -1."""
    unknown = np.full(topic.size, np.nan)
    if scorer is None:
        return unknown
    try:
        found = scorer.contributions(scorer.in_order(views))
    except ParameterError:  # the score is not a sum
        return unknown
    place = at[found.view.document]
    seen = place >= 0
    # Measures of rows and of intents count a document several times.
    added = np.zeros(topic.size)
    np.add.at(added, place[seen], found.value[seen])
    return np.where(views.tied_topics[topic], np.nan, added) if scorer.ties == "expected" else added


def _candidates(judgments: Judgments, run: Source, depth: int, topic: int | None) -> Table:
    """Return a table with at least the first documents of a run."""
    name = None if topic is None else judgments.names[topic]
    table = run.table(judgments.number.keys() if name is None else {name}, depth)
    if name is None:
        return table
    return table[(table.query_id == name).arg_true().to_numpy().astype(np.int64)]


@dataclass(frozen=True, eq=False, repr=False)
class RankingComparison(Result):
    """The rankings of two runs for a topic, side by side: result of ``compare_rankings``.

    The attributes from ``run`` on have a value for each document of the first list, by rank, followed by
    those of the second list.

    Attributes:
        runs: names of the two runs; A and B for runs without a name.
        query_id: id of the topic.
        measures: measures as objects, in the given order.
        depth: last rank of the lists.
        levels: the levels in the qrels, ascending, without those below 0.
        scores: scores of the topic as in ``evaluate``, shape ``(measures, 2)``.
        run: the list that the document is in, 0 or 1.
        rank: its rank there, from 1.
        doc_id: id of the document.
        level: its level; NaN for unjudged documents and for levels below 0.
        other_rank: its rank in the other run, also below the depth; 0 if that did not retrieve it.
        contribution: what it adds to the scores, as in ``explain``, shape ``(measures, documents)``; NaN
            where a score is not a sum over documents.
    """

    runs: tuple[str, str]
    query_id: Any
    measures: tuple[Measure, ...]
    depth: int
    levels: tuple[float, ...]
    scores: Floats
    run: Ints
    rank: Ints
    doc_id: tuple[str, ...]
    level: Floats
    other_rank: Ints
    contribution: Floats

    def to_frame(self) -> pd.DataFrame:
        """Return a row per document: run, rank, doc_id, level, other_rank, and a column per measure.

        ``level`` and ``other_rank`` are missing for unjudged documents and for those of one run only. The
        columns of the measures have the contributions.
        """
        import pandas as pd

        names = [self.runs[number] for number in self.run.tolist()]
        other = pd.Series(self.other_rank, dtype="Int64")
        columns = {"run": names, "rank": self.rank, "doc_id": self.doc_id, "level": self.level}
        added = {str(measure): one for measure, one in zip(self.measures, self.contribution, strict=True)}
        return pd.DataFrame({**columns, "other_rank": other.mask(other == 0), **added})

    def plot(self, ax: Axes | None = None, *, measure: int = 0) -> Figure:
        """Draw the lists, with the contributions to the score by one of the measures, given by position."""
        from ir_graded.plots.topics import rankings

        return rankings(self, measure, ax)

    def __str__(self) -> str:
        from tabulate import tabulate

        names = [printable(str(measure), 60) for measure in self.measures]
        a, b = (printable(run, 40) for run in self.runs)
        scores = tabulate(
            [[name, *pair] for name, pair in zip(names, self.scores.tolist(), strict=True)],
            ["score", "A", "B"],
            tablefmt="plain",
            floatfmt=".4f",
        )
        head = ["rank", *("A", "level", "in B", "adds"), *("B", "level", "in A", "adds")]
        rows = [[*map(printable, row)] for row in self._rows(self.contribution[:1])]

        def table(longest: int) -> str:
            cut = [[printable(cell, longest) for cell in row] for row in rows]
            # Without rows, tabulate 0.9.0 has no columns to align.
            align = ("right", *("left", "right", "right", "right") * 2) if rows else None
            return str(tabulate(cut, head, tablefmt="simple", disable_numparse=True, colalign=align))

        shown, longest = table(_WIDTH), [max((len(row[at]) for row in rows), default=0) for at in (1, 5)]
        if (over := shown.find("\n") - _WIDTH) > 0:
            shown = table((sum(longest) - over) // 2)
        title = printable(f"topic {as_text(self.query_id)}", _WIDTH)
        key = f"levels by rank (? unjudged, * among the first {self.depth} of both):"
        parts = [f"A = {a}, B = {b}"] * (self.runs != ("A", "B"))
        return "\n".join(
            [
                title,
                *parts,
                "",
                scores,
                "",
                key,
                *self._strip(),
                "",
                shown,
                f"adds: contribution to {names[0]}",
            ]
        )

    def _texts(self) -> list[str]:
        return ["?" if np.isnan(level) else f"{level:g}" for level in self.level.tolist()]

    def _strip(self) -> Iterator[str]:
        """Yield lines with the levels of both lists, as many ranks as fit into a line."""
        shared = (self.other_rank > 0) & (self.other_rank <= self.depth)
        cells = [text + "*" * mark for text, mark in zip(self._texts(), shared.tolist(), strict=True)]
        width = max(map(len, cells), default=1) + 1
        fits = (_WIDTH - 2) // width
        lists = [[cells[row] for row in np.flatnonzero(self.run == number).tolist()] for number in (0, 1)]
        for begin in range(0, max(map(len, lists)), fits):
            for name, one in zip("AB", lists, strict=True):
                yield f"{name} {''.join(cell.ljust(width) for cell in one[begin : begin + fits])}".rstrip()

    def _rows(self, contribution: Floats) -> list[list[str]]:
        """Return rows of text: the rank, and per list the document, level, other rank and contributions."""
        texts, cells = self._texts(), dict[tuple[int, int], list[str]]()
        for row, (number, rank) in enumerate(zip(self.run.tolist(), self.rank.tolist(), strict=True)):
            added = ["" if np.isnan(one) else f"{one:.4f}" for one in contribution[:, row].tolist()]
            cells[number, rank] = [self.doc_id[row], texts[row], str(self.other_rank[row] or "-"), *added]
        empty = [""] * (3 + len(contribution))
        ranks = range(1, int(self.rank.max(initial=0)) + 1)
        return [[str(rank), *cells.get((0, rank), empty), *cells.get((1, rank), empty)] for rank in ranks]

    def _repr_html_(self) -> str:
        from ir_graded.plots.topics import level_colours

        colours = {f"{level:g}": colour for level, colour in level_colours(self.levels).items()}
        width = 3 + len(self.measures)

        def tag(name: str, text: str, more: str = "") -> str:
            return f"<{name}{more}>{escape(printable(text))}</{name}>"

        def cell(at: int, text: str) -> str:
            side = "left" if at % width == 0 else "right"
            if at % width != 1 or not text:
                return tag("td", text, f' style="text-align:{side}"')
            colour = colours.get(text, "#ffffff")
            ink = "#fff" if int(colour[1:3], 16) < _DARK else "#000"
            look = f"text-align:center;border:1px solid #999;background:{colour};color:{ink}"
            return tag("td", text, f' style="{look}"')

        names = [str(measure) for measure in self.measures]
        runs = [
            f"{run} ({', '.join(f'{name} {score:.4f}' for name, score in zip(names, scores, strict=True))})"
            for run, scores in zip(self.runs, self.scores.T.tolist(), strict=True)
        ]
        head = ["document", "level", "rank in the other", *names] * 2
        caption = f"Topic {as_text(self.query_id)}: levels (? unjudged) and contributions by rank"
        rows = [
            tag("th", rank, ' scope="row"') + "".join(map(cell, range(2 * width), cells))
            for rank, *cells in self._rows(self.contribution)
        ]
        groups = "".join(tag("th", run, f' scope="colgroup" colspan="{width}"') for run in runs)
        columns = "".join(tag("th", name, ' scope="col"') for name in head)
        return (
            f"<table>{tag('caption', caption)}<thead>"
            f'<tr><th scope="col" rowspan="2">rank</th>{groups}</tr>'
            f"<tr>{columns}</tr></thead>"
            f"<tbody>{''.join(f'<tr>{row}</tr>' for row in rows)}</tbody></table>"
        )


@statistic()
def compare_rankings(
    measures: Iterable[str | Measure] | str | Measure,
    qrels: Any,
    run_a: Any,
    run_b: Any,
    topic: Any,
    depth: int = 20,
) -> RankingComparison:
    """Compare the rankings of two runs for a topic, document by document.

    Documents are by score descending, those with equal scores by doc_id descending, or by position if the run
    has positions; of passages, each document has the rank of its best row. Contributions are those of
    ``explain``: they sum to the score up to rounding if the depth reaches all documents that the measure
    counts. They are missing (NaN) for measures whose score is not a sum over documents, such as NumQ, and for
    ``ties='expected'`` in a topic with ties.

    Args:
        measures: measure objects and strings of this package and of ir-measures.
        qrels: qrels in any form of ``evaluate``.
        run_a: the first run in any form of ``evaluate``; ``{"name": run}`` gives it a name.
        run_b: the run to compare it with, in the same forms.
        topic: the topic; ids are compared as text.
        depth: last rank of the lists.

    Returns:
        The comparison: ``print`` it, or see ``.to_frame()`` and ``.plot()``.

    Raises:
        InputError: the topic is not in the qrels, ``run_a`` or ``run_b`` is several runs, or the input cannot
            be scored.
        NoSharedTopicsError: the qrels are empty, or a run and the qrels have no topic in common.
        ParameterError: the depth is not a whole number >= 1, or others define a measure.
        ValueError: a measure cannot be read.
        NameError: the name of a measure is unknown.

    Example:
        >>> import ir_graded
        >>> qrels = {"1": {"s": 2, "a": 1, "n": 0}}
        >>> first, second = {"1": {"n": 3.0, "s": 2.0}}, {"1": {"s": 3.0, "x": 2.0, "a": 1.0}}
        >>> print(ir_graded.compare_rankings(["Q", "AP"], qrels, first, second, "1"))
        topic 1
        <BLANKLINE>
        score         A       B
        Q        0.3000  0.9167
        AP       0.2500  0.8333
        <BLANKLINE>
        levels by rank (? unjudged, * among the first 20 of both):
        A 0  2*
        B 2* ?  1
        <BLANKLINE>
          rank  A      level    in B    adds  B      level    in A    adds
        ------  ---  -------  ------  ------  ---  -------  ------  ------
             1  n          0       -  0.0000  s          2       2  0.5000
             2  s          2       1  0.3000  x          ?       -  0.0000
             3                                a          1       -  0.4167
        adds: contribution to Q
    """
    scorers = scorers_here(read_measures(measures), "compare_rankings")
    if depth is None:
        raise ParameterError("depth=None must be a whole number >= 1")
    request = Request([*scorers], qrels, _two_runs(run_a, run_b))
    number = topic_number(request.judgments, topic)

    def ranked(matched: MatchedRun) -> tuple[FirstDocuments, list[float]]:
        whole = int(matched.judged.n_retrieved[number])
        values = request.evaluator.scores_of(matched.judged, matched.run)
        listed = first_documents(request, matched, [*scorers.values()], max(whole, 1), number)
        return listed, [float(values[measure][number]) for measure in scorers]

    lists, scores = zip(*request.match(ranked, min(request.lowest, LOWEST_JUDGED)), strict=True)
    ids = [one.doc_id.to_list() for one in lists]
    ranks = [
        dict(zip(of_list, one.rank.tolist(), strict=True)) for of_list, one in zip(ids, lists, strict=True)
    ]
    shown = [min(depth, len(of_list)) for of_list in ids]
    doc_ids = [of_list[:end] for of_list, end in zip(ids, shown, strict=True)]
    other = [ranks[1 - at].get(doc_id, 0) for at, of_list in enumerate(doc_ids) for doc_id in of_list]
    levels = request.judgments.levels.values
    name_a, name_b = request.runs
    return RankingComparison(
        (name_a, name_b),
        request.judgments.query_ids[number],
        tuple(scorers),
        depth,
        tuple(levels[levels >= LOWEST_JUDGED].tolist()),
        np.array(scores).T,
        np.repeat(np.arange(2), shown),
        np.concatenate([one.rank[:end] for one, end in zip(lists, shown, strict=True)]),
        tuple(doc_id for of_list in doc_ids for doc_id in of_list),
        np.concatenate([one.level[:end] for one, end in zip(lists, shown, strict=True)]),
        np.array(other, dtype=np.int64),
        np.concatenate([one.contribution[:, :end] for one, end in zip(lists, shown, strict=True)], axis=1),
    )


def _two_runs(*given: Any) -> dict[str, Source]:
    """Return two runs by name. Raises InputError if one of them is several runs."""
    named = []
    for letter, one in zip("AB", given, strict=True):
        runs = named_runs(one)
        if len(runs) != 1:
            raise InputError(
                f"run_{letter.lower()} must be one run, found {len(runs)}: {format_ids([*runs])}"
            )
        ((name, run),) = runs.items()
        named.append((letter if name == _UNNAMED else name, run))
    (a, run_a), (b, run_b) = named
    return {a: run_a, b: run_b} if a != b else {f"{a} (A)": run_a, f"{b} (B)": run_b}


def topic_number(judgments: Judgments, query_id: Any) -> int:
    """Return the number of a topic. Raises InputError with similar topics if it is not in the qrels."""
    name = as_text(query_id)
    if name not in judgments.number:
        # Another number is not a misspelled one.
        there = "" if name.isdigit() else did_you_mean(name, judgments.names)
        raise InputError(
            f"the qrels have no topic {name!r}; {there or f'they have {format_ids(judgments.names)}'}"
        )
    return judgments.number[name]


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
#: Most documents that an explanation lists above the first one that counts, and most missed ones.
MOST_OTHERS = 10
_COUNTED, _NOT_RELEVANT, _UNJUDGED, _MISSED = "counted", "not relevant", "unjudged", "missed"


class OtherDocument(NamedTuple):
    """A document that adds nothing to a score.

    Attributes:
        rank: its rank in the list that the measure looks at; None if the run lacks it.
        rank_in_run: its rank in the run, also where that list is condensed.
        doc_id: its id.
        level: its level; NaN if it is unjudged.
        state: 'not relevant' or 'unjudged' above the first document that counts, or 'missed'.
    """

    rank: int | None
    rank_in_run: int | None
    doc_id: str
    level: float
    state: str


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
        others: the first documents above the first one that counts, and the best that are missed, 10 of each.
        relevant: number of relevant documents of the topic, retrieved or not; for measures of rows the number
            of highlighted characters.
        retrieved: number of documents retrieved, relevant or not.
        below: number of relevant documents retrieved below the cutoff.
        above: number of documents above the first one that counts; of all down to the cutoff if none counts.
        missed: number of documents that would count, but are below the cutoff or not in the run.
        notes: further information, in sentences.
    """

    run: str
    measure: Measure
    query_id: Any
    score: float
    columns: Mapping[str, npt.NDArray[Any]]
    others: tuple[OtherDocument, ...]
    relevant: int
    retrieved: int
    below: int
    above: int
    missed: int
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return a row per document: those above the first that counts, those that count, those missed.

        The column ``state`` tells which: 'not relevant' or 'unjudged', 'counted', 'missed'. At most 10 are
        above, and 10 missed. They add 0, and have no value in the columns of the measure.
        """
        import pandas as pd

        others = pd.DataFrame(self.others, columns=OtherDocument._fields).assign(contribution=0.0)
        others = others.astype({"level": float, "contribution": float})  # also of no rows
        missed = others["state"] == _MISSED
        parts = [others[~missed], pd.DataFrame({**self.columns, "state": _COUNTED}), others[missed]]
        names, label = [*self.columns], [*self.columns].index("doc_id") + 1
        names[label:label] = ["state", *["level"] * ("level" not in names)]
        whole = {name: "Int64" for name, values in self.columns.items() if values.dtype.kind in "iu"}
        return pd.concat(parts, ignore_index=True)[names].astype(whole)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Plot stop distribution and utility over the ranks into ``ax`` or a new figure."""
        from ir_graded.plots import profile

        return profile(self, ax)

    def cells(self, places: int = 4, *, complete: bool = False) -> tuple[list[str], list[list[str]]]:
        """Return the names of the columns, and a row per document as text; the last row is the score.

        ``places`` -1 gives all digits, and ``complete`` also columns that repeat another. Without it, the
        state of a document that does not count takes the place of its contribution.
        """
        frame = self.to_frame()
        names = [*map(str, frame)]
        if not complete:
            names = [name for name in names if name != "state" and not self._repeats(name)]
        texts = [_texts(frame[name], places, "" if complete else "-") for name in names]
        if not complete:
            states = zip(frame["state"], texts[-1], strict=True)
            texts[-1] = [text if state == _COUNTED else state for state, text in states]
        last = ["score", *[""] * (len(names) - 2), decimal(self.score, places)]
        rows = [*map(list, zip(*texts, strict=True)), last]
        return names if complete else [_SYMBOLS.get(name, name) for name in names], rows

    def _repeats(self, name: str) -> bool:
        twins = (self.columns.get(twin) for twin in _TWINS.get(name, ()))
        return any(twin is not None and np.array_equal(self.columns[name], twin) for twin in twins)

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


def _texts(column: pd.Series, places: int, absent: str) -> list[str]:
    """Return the values of a column as text; ``absent`` is the rank of documents that the run lacks."""
    values = column.dropna().tolist()
    texts: Iterator[str]
    if column.dtype.kind != "f":
        texts = map(str, values)
    elif column.name in _AMOUNTS and all(value.is_integer() for value in values):
        texts = map("{:.0f}".format, values)
    else:
        texts = (decimal(value, places) for value in values)
    missing = absent if column.name in {"rank", "rank_in_run"} else ""
    return [next(texts) if known else missing for known in column.notna()]


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

    Two kinds of documents are listed beside those that count, up to 10 of each, with the contribution 0:

    - those above the first one that counts, or down to the cutoff if none does; their ``state`` is 'not
      relevant' (judged, with a level that does not count) or 'unjudged';
    - the best of those that would count, but are below the cutoff or not in the run: 'missed', by level and
      ``doc_id``, with the ``rank`` if the run has them. Of a class of documents (EC), all are missed or none.

    ``above`` and ``missed`` are the numbers of all of them. NuggetR lists nuggets, and no other documents. Of
    measures of rows, ranks are those of rows, and a document is missed if none of its rows counts.

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
        Missed: 1, in the last rows, with a rank if the run has them.
        <BLANKLINE>
        rank    doc_id      level    C    cg    cg*      BR    stop    contribution
        ------  --------  -------  ---  ----  -----  ------  ------  --------------
        1       b               1    1     1      3  0.5000  0.5000          0.2500
        2       s               3    2     4      5  0.8571  0.5000          0.4286
        -       a               2                                            missed
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
    lowest = -np.inf if expected else min(request.lowest, LOWEST_JUDGED)
    (matched,) = request.match(lambda matched: matched, lowest)
    judged_run = matched.judged
    views = scorer.in_order(request.evaluator.graded.views(judged_run))
    found = scorer.contributions(views)
    mine = np.flatnonzero(found.view.topic == topic)
    seen, counted, first = mine.size, found.view.document[mine], found.view.n[mine][:1]
    listed = found.view.hits if scorer.NEEDS_ROWS else views.hits
    retrieved = int(listed.n_retrieved[topic])
    groups = scorer.expected_contributions(views) if expected else None
    if groups is not None and groups.tied.topics[topic]:
        at = np.flatnonzero(groups.tied.topic == topic)
        counted, first = groups.tied.view.document[groups.tied.view.topic == topic], groups.tied.t[at][:1] + 1
        seen = int(groups.tied.m[at].sum())
        columns = _group_columns(judgments, groups, topic)
    else:
        columns = _columns(judgments, scorer, views, found, mine)
    score, relevant = float(scorer.score_with_ties(views)[topic]), int(found.view.R[topic])
    notes = _notes(found, topic, seen, retrieved, score)
    above, missed, others = 0, 0, list[OtherDocument]()
    if found.view.counting is not None:
        above = int(first[0]) - 1 if first.size else min(retrieved, found.view.cutoff or retrieved)
        ranked = _ranked(scorer, views, found.view, topic)
        if scorer.cut.judged_only:
            above = min(above, len(ranked))
        missing = _missing(judgments.levels, scorer, found.view.counting, counted, topic)
        missed = missing.size
        by_rank, by_document = ({place[key]: place for place in ranked[::-1]} for key in (1, 0))
        # However ties are broken, unjudged documents take the other ranks in their order.
        unjudged = _unjudged(judgments, matched, scorer, ranked, topic)
        others = [
            _other(judgments, by_rank[n], _NOT_RELEVANT)
            if n in by_rank
            else OtherDocument(n, n, next(unjudged), np.nan, _UNJUDGED)
            for n in range(1, min(above, MOST_OTHERS) + 1)
        ]
        others += [
            _other(judgments, by_document.get(at, (at, 0, 0)), _MISSED)
            for at in best_documents(judgments, missing, MOST_OTHERS).tolist()
        ]
        notes += _notes_on_others(sum(n <= above for _, n, _ in ranked), above, missed)
    tied = judged_run.ties is not None and judged_run.ties.tied[judged_run.topic == topic] > 1
    if judged_run.by_position and scorer.ties == TIES.default and np.any(tied):
        notes.append("Documents with equal scores are in the order of their given positions.")
    if "documents" in columns:
        notes.append("Documents with equal scores are one row; it adds the mean over all their orders.")
    (run_name,), query_id = request.runs, judgments.query_ids[topic]
    below = int(found.view.retrieved[topic]) - seen
    counts = relevant, retrieved, below, above, missed
    return Explanation(run_name, wanted, query_id, score, columns, tuple(others), *counts, tuple(notes))


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


#: Position of a judged document in the qrels, its rank in the list of the measure, and that in the run.
_Place: TypeAlias = tuple[int, int, int]


def _ranked(scorer: Scorer, views: Views, view: CountedDocuments, topic: int) -> list[_Place]:
    """Return the judged documents of a topic by rank; a document with several rows appears for each."""
    hits = view.hits if isinstance(view, ArticleView) else views.hits  # articles have an order of their own
    if scorer.NEEDS_ROWS:
        hits = hits.by_row(views.levels.topic.size)
    # Judged counts lower levels, too; they are unjudged otherwise.
    lowest = LOWEST_JUDGED if scorer.cut.judged_only else min(LOWEST_JUDGED, scorer.cut.rel)
    hits = hits[(hits.topic == topic) & (views.levels.values >= lowest)[hits.level_index]]
    n = range(1, hits.rank.size + 1) if scorer.cut.judged_only else hits.rank.tolist()
    return [*zip(hits.document.tolist(), n, hits.rank.tolist(), strict=True)]


def _unjudged(
    judgments: Judgments, matched: MatchedRun, scorer: Scorer, ranked: list[_Place], topic: int
) -> Iterator[str]:
    """Yield the unjudged documents of a topic by rank; the run is read for the first one."""
    from ir_graded.io.table import at_rows
    from ir_graded.matching.tables import rank_rows

    judged = {judgments.doc_ids[at] for at, *_ in ranked}
    rows = _candidates(judgments, matched.run, int(matched.judged.n_retrieved[topic]), topic)
    _, doc_id, rank = rank_rows(judgments, rows, apart=scorer.NEEDS_ROWS or scorer.ranks_rows)
    yield from (one for one in at_rows(doc_id, np.argsort(rank)) if one not in judged)


def _other(judgments: Judgments, place: _Place, state: str) -> OtherDocument:
    at, n, of_run = place
    level = float(judgments.levels.values[judgments.levels.level_index[at]])
    return OtherDocument(n or None, of_run or None, judgments.doc_ids[at], level, state)


def _missing(levels: Levels, scorer: Scorer, counting: Bools, counted: Ints, topic: int) -> Ints:
    """Return the documents of a topic that would count, without those that do."""
    missing = np.setdiff1d(np.flatnonzero(counting & (levels.topic == topic)), counted)
    if CLASS in scorer.needs:  # a class counts once
        classes = levels.further[CLASS.name]
        missing = missing[~np.isin(classes[missing], classes[counted])]
    return missing


def best_documents(judgments: Judgments, documents: Ints, most: int) -> Ints:
    """Return the best of some judged documents: by topic, level descending and id, ``most`` of each topic."""
    levels = judgments.levels
    number = Names.of([judgments.doc_ids[at] for at in documents.tolist()]).order_numbers()
    order = np.lexsort((number, -levels.level_index[documents], levels.topic[documents]))
    topic = levels.topic[documents[order]]
    return documents[order[ordinals(np.searchsorted(topic, topic)) <= most]]


def _notes_on_others(judged: int, above: int, missed: int) -> Iterator[str]:
    if above:
        yield f"Down to rank {above}, none counts: {judged} not relevant, {above - judged} unjudged."
    if above > MOST_OTHERS:
        yield f"The first {MOST_OTHERS} of these are listed."
    if missed:
        best = f"the best {MOST_OTHERS} " if missed > MOST_OTHERS else ""
        yield f"Missed: {missed}, {best}in the last rows, with a rank if the run has them."


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
