"""Rankings in arrays of NumPy, PyTorch, JAX or CuPy: ``score_arrays``, and batches for ``RankingMetric``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from ir_graded.core.judged_run import JudgedRun, TieGroups
from ir_graded.core.levels import Levels
from ir_graded.core.ranking import descending_codes
from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.core.views import Views
from ir_graded.errors import InputError, ParameterError, warn_caller
from ir_graded.evaluation.coverage import notes_without_relevant
from ir_graded.evaluation.evaluate import Request, in_order
from ir_graded.evaluation.provider import lowest_rel, native_scorers, scorers_here
from ir_graded.evaluation.scores import Scores
from ir_graded.measures.base import Scorer
from ir_graded.measures.classic import scorer_of
from ir_graded.measures.classic.ties import with_ties
from ir_graded.measures.params import TIES
from ir_graded.measures.parsing import read_measures

#: Order of documents with equal scores: by position in the row, since rows have no doc_ids.
BY_POSITION = "position"
#: Largest number up to which doubles represent every whole number.
LARGEST_WHOLE = 2**53
#: Whole levels below this are counted instead of sorted.
_FEW_LEVELS = 1024
#: Number of documents that are scored at a time.
_CELLS = 2**18
_CPU = 1
#: A key holds the code of the score in the high half and the position in the low one.
_HALF, _POSITION = np.uint64(32), np.uint64(2**32 - 1)


class DefaultTies:
    """``ties=None``: the mean over the orders of tied documents for measures that have it, else one order."""

    def __init__(self, measures: Iterable[Measure]) -> None:
        #: In the given order, with ``ties='expected'`` where they have this mean and no ``ties``.
        self.measures: list[Measure] = []
        # Lowest relevant level of each measure without a mean.
        self._without: dict[Measure, float] = {}
        for measure in measures:
            scorer = scorer_of(measure)
            is_set = scorer is not None and scorer.ties != TIES.default
            try:
                self.measures.append(measure if is_set else with_ties(measure, "expected"))
            except ParameterError:
                self.measures.append(measure)
                self._without[measure] = lowest_rel(measure)

    def topics(self, judged_run: JudgedRun, values: Floats) -> Ints:
        """Return topics in which a tied document is relevant for a measure without a mean."""
        if judged_run.ties is None or not self._without:
            return np.zeros(0, dtype=np.int64)
        relevant = values[judged_run.level_index] >= min(self._without.values())
        return np.unique(judged_run.topic[relevant & (judged_run.ties.tied > 1)])

    def warn(self, topics: int, order: str, ties: str) -> None:
        """Issue a CoverageWarning if there are such topics; the order is named for them and as ``ties``."""
        if topics:
            have = "topic has" if topics == 1 else "topics have"
            names = ", ".join(map(str, self._without))
            warn_caller(
                f"{topics} {have} relevant documents with tied scores. "
                f"{names}: no expected score over their orders is defined, so they are ranked by {order}. "
                f"Set ties={ties!r} to accept this order"
            )


def score_arrays(
    measures: Iterable[str | Measure] | str | Measure,
    relevance: Any,
    scores: Any = None,
    *,
    mask: Any = None,
    ideal: Any = None,
    ties: str | None = None,
) -> Any:
    """Score rankings that are rows of arrays.

    The scores equal those of ``evaluate(ties='expected')``, up to rounding.

    Each row is a topic and holds the levels of its documents, in ranked order or with scores. Arrays may be
    NumPy arrays, nested lists, or arrays of PyTorch, JAX, CuPy and other libraries that support DLPack. The
    measures are computed in NumPy.

    Args:
        measures: measure objects and strings, such as ``["Q", "nDCG@10", "RR"]``. Supported are measures of
            this package and classic measures, except those that need passages, intents, classes or groups.
        relevance: the level of each document, >= 0, shape ``(batch, n)``. All documents are judged.
        scores: the score of each document, same shape; the highest is ranked first. None if ``relevance`` is
            in ranked order.
        mask: True for documents and False for padding, same shape; None if there is no padding.
        ideal: the levels of all relevant documents of each row, whether in the row or not, shape
            ``(batch, m)``, in any order and padded with 0; None if each row contains all of them.
        ties: order of documents with equal scores: 'expected', the mean over all orders; 'position', by
            position in the row; 'optimistic' or 'pessimistic', by level descending or ascending. By default
            'expected', and 'position' for measures that do not define this mean.

    Returns:
        float64 scores of shape ``(measures, batch)``, with a row per measure in the given order, also for
        repeated measures; a name of trec_eval may give several rows. The array has the library and the device
        of ``relevance``; it is a NumPy array if that is a list.

    Measures that compare gains with the highest level of the scale, such as nERR, EBR and R-pref, use the
    highest level of all rows if ``max_rel`` is not set, so a score depends on the other rows. Set ``max_rel``
    in training loops: ``"nERR(max_rel=3)"``.

    Raises:
        ParameterError: a measure needs more than levels and scores, ``ties`` is not one of these words, or
            it is 'expected' and a measure does not define this mean.
        InputError: an array has the wrong shape, or contains NaN, a negative or infinite level, or a level
            above 2**53; or ``ideal`` lacks a relevant document of the row.

    Warns:
        CoverageWarning: there are levels above 0, but nothing is relevant for a measure, as with soft labels
            below 1; once per call. Or relevant documents of a row have equal scores, and by default a
            measure ranks them by position.

    Example:
        >>> import ir_graded, numpy as np
        >>> relevance = np.array([[2, 0, 1], [0, 1, 0]])
        >>> scores = np.array([[0.3, 0.2, 0.9], [0.8, 0.7, 0.1]])
        >>> ir_graded.score_arrays(["nDCG", "Q", "RR"], relevance, scores).round(4)
        array([[0.8597, 0.6309],
               [0.8333, 0.6667],
               [1.    , 0.5   ]])
    """
    read = _measures(measures, ties)
    default = DefaultTies(read if ties is None and scores is not None else [])
    wanted = default.measures or read
    scorers = native_scorers(wanted)
    level = numbers_of("relevance", relevance)
    if level.ndim != 2:  # noqa: PLR2004
        raise InputError(f"relevance has shape {level.shape}; it must be [batch, n]")
    shown = np.ones(level.shape, dtype=np.bool_) if mask is None else flags_of("mask", mask, level.shape)
    check_levels("relevance", level, shown)
    ranked_by = None if scores is None else scores_of("scores", scores, shown)
    every, present = (level, shown) if ideal is None else _with_ideal(level, shown, ideal)
    named = native_scorers(read)  # so that messages have the names that the caller gave
    _check_highest(named.values(), level, shown)
    # Documents below this level do not affect scores, so most of a row can be skipped.
    lowest = min(scorer.lowest_level for scorer in scorers.values())
    used = present & (every >= lowest)
    # Measures such as NumQ depend on whether a row has documents.
    others = np.flatnonzero(present.any(axis=1) & ~used.any(axis=1))
    if others.size:
        used[others, present[others].argmax(axis=1)] = True
    values = _values(every[used])
    found_any = values.size and values[-1] >= lowest
    highest = values[-1] if found_any else every.max(where=present, initial=0)
    lowest_rels = {measure: scorer.lowest_rel for measure, scorer in named.items()}
    if highest > 0 and (notes := notes_without_relevant(lowest_rels, highest, "relevance")):
        warn_caller(" ".join(notes))
    tied = bool(default.measures) or any(scorer.ties != TIES.default for scorer in scorers.values())
    by_position = 0
    found = np.empty((len(wanted), len(level)))
    # Blocks of this size fit into the cache of the processor.
    size = max(1, _CELLS // max(1, every.shape[1]))
    for begin in range(0, len(level), size):
        rows = slice(begin, begin + size)
        topic, _ = np.nonzero(used[rows])
        index = np.searchsorted(values, every[rows][used[rows]].astype(np.float64))
        levels = Levels(len(used[rows]), topic, index, values)
        codes = None if ranked_by is None else _codes(ranked_by[rows], shown[rows])
        run = _run(levels, used[rows], shown[rows], codes, tied=tied)
        by_position += default.topics(run, values).size
        views = Views(levels, run)
        for number, measure in enumerate(wanted):
            found[number, rows] = scorers[measure].score_with_ties(views)
    default.warn(by_position, "position", BY_POSITION)
    return _like(relevance, found)


def _measures(measures: Any, ties: str | None) -> list[Measure]:
    """Return the measures with repeats. Raises ParameterError for one that needs more than the arrays."""
    check_order(ties)
    read = read_measures(measures, repeats=True)
    scorers_here(read, "score_arrays", "passages columns")
    if ties is None or ties == BY_POSITION:
        return read
    return [in_order([measure], ties)[0] for measure in read]


def check_order(ties: str | None) -> None:
    """Raise ParameterError for an order that does not exist without doc_ids."""
    if ties is not None and ties != BY_POSITION and (ties == TIES.default or not TIES.validate(ties)):
        words = ", ".join(map(repr, [BY_POSITION, *(word for word in TIES.words if word != TIES.default)]))
        raise ParameterError(f"ties={ties!r} must be one of {words}: rows have no doc_ids")


def numbers_of(name: str, array: Any) -> npt.NDArray[Any]:
    """Convert an array of any library to NumPy numbers. Raises InputError if it holds other values."""
    values = _on_host(name, array)
    if values.dtype == np.bool_:
        return values.astype(np.int64)
    if values.dtype.kind not in "iuf":
        raise InputError(f"{name} holds {values.dtype}; it must hold numbers that fit into 64 bits")
    # NumPy cannot compare float16 with numbers outside its range.
    return values.astype(np.float32) if values.dtype == np.float16 else values


def _on_host(name: str, array: Any) -> npt.NDArray[Any]:
    """Convert an array of any library to NumPy, copying only from other devices."""
    if isinstance(array, np.ma.MaskedArray):
        raise InputError(f"{name} is a masked array: pass its data, and mask=~relevance.mask")
    try:
        if not hasattr(array, "__dlpack__") or isinstance(array, np.ndarray):
            return np.asarray(array)
        # PyTorch does not export tensors that track gradients, and NumPy lacks bfloat16.
        array = array.detach() if hasattr(array, "detach") else array
        if str(array.dtype).endswith("bfloat16"):
            array = array.float() if hasattr(array, "float") else array.astype("float32")
        if array.__dlpack_device__()[0] != _CPU:
            move = getattr(array, "cpu", None) or getattr(array, "get", None)
            return np.asarray(move() if move else array)
        return np.from_dlpack(array)
    # Arrays traced by a compiler lack the attributes for their numbers.
    except (ArithmeticError, AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise InputError(f"{name} cannot be read as an array of numbers: {error}") from error


def same_shape(
    name: str, values: npt.NDArray[Any], shape: tuple[int, ...], of: str = "relevance"
) -> npt.NDArray[Any]:
    """Return values. Raises InputError if they do not have the shape of the argument ``of``."""
    if values.shape != shape:
        raise InputError(f"{name} has shape {values.shape}; it must have the shape of {of}, {shape}")
    return values


def flags_of(name: str, flags: Any, shape: tuple[int, ...], of: str = "relevance") -> Bools:
    """Convert True and False, or 1 and 0, of any library. Raises InputError for other values."""
    values = same_shape(name, _on_host(name, flags), shape, of)
    if values.dtype.kind not in "biu" or (values.dtype != np.bool_ and ((values != 0) & (values != 1)).any()):
        raise InputError(f"{name} holds {values.dtype}; it must hold True and False, or 1 and 0")
    return values.astype(np.bool_)


def check_levels(name: str, level: npt.NDArray[Any], present: Bools, lowest: float = 0) -> None:
    """Raise InputError if a level is too low, not finite, or a whole number that doubles cannot hold."""
    if not level.size or (level.min() >= max(lowest, -LARGEST_WHOLE) and level.max() <= LARGEST_WHOLE):
        return  # not reached with NaN
    with np.errstate(invalid="ignore"):
        beyond = level > LARGEST_WHOLE if level.dtype.kind in "iu" else np.isinf(level)
        wrong = present & (~(level >= lowest) | beyond)
    if wrong.any():
        at, limit = np.argwhere(wrong)[0].tolist(), " >= 0" if lowest == 0 else ""
        raise InputError(
            f"{name}{at} is {level[tuple(at)]}; a level must be a finite number{limit}, and a whole number "
            "at most 2**53. Give an unjudged document the level 0; mask removes it from the ranking"
        )


def scores_of(name: str, scores: Any, shown: Bools, of: str = "relevance") -> npt.NDArray[Any]:
    """Return scores as floats. Raises InputError for NaN, and warns if whole numbers become equal."""
    given = same_shape(name, numbers_of(name, scores), shown.shape, of)
    values = given if given.dtype == np.float32 else given.astype(np.float64)
    is_large = given.dtype.kind in "iu" and (np.abs(values) > LARGEST_WHOLE).any(where=shown)
    if is_large and np.unique(given[shown]).size > np.unique(values[shown]).size:
        warn_caller(
            f"{name} holds whole numbers above 2**53 that become equal as doubles, and then tie: subtract a "
            "constant from all of them"
        )
    missing = np.isnan(values) & shown
    if missing.any():
        raise InputError(f"{name}{np.argwhere(missing)[0].tolist()} is not a number (NaN)")
    return values


def _check_highest(scorers: Iterable[Scorer], level: npt.NDArray[Any], shown: Bools) -> None:
    # Not in the type of the levels, which may be too small for the limit.
    highest = float(level.max(where=shown, initial=0))
    for scorer in scorers:
        if scorer.NEEDS_WHOLE_LEVELS and (found := np.argwhere(shown & (level % 1 != 0)).tolist()):
            row, column = found[0]
            raise InputError(
                f"{scorer}: relevance[{row}, {column}] is {level[row, column]}; levels must be whole numbers"
            )
        if highest > scorer.highest_level:
            above = shown & (level > level.dtype.type(scorer.highest_level))
            row, column = np.argwhere(above)[0].tolist()
            raise InputError(
                f"{scorer}: relevance[{row}, {column}] is {level[row, column]}, above "
                f"{scorer.highest_level:g}, the highest level of this measure"
            )


def _codes(scores: npt.NDArray[Any], shown: Bools) -> npt.NDArray[np.uint64]:
    """Return keys that sort each row by score descending, then position, with padding last."""
    codes = descending_codes(scores.reshape(-1)).reshape(scores.shape).astype(np.uint64)
    codes[~shown] = _POSITION
    return codes << _HALF | np.arange(scores.shape[1], dtype=np.uint64)


def _with_ideal(level: npt.NDArray[Any], shown: Bools, ideal: Any) -> tuple[npt.NDArray[Any], Bools]:
    """Return the levels of the rows and of the ideal lists, and which of them are different documents."""
    further = numbers_of("ideal", ideal)
    if further.ndim != 2 or len(further) != len(level):  # noqa: PLR2004
        raise InputError(f"ideal has shape {further.shape}; it must be [{len(level)}, m]: one row per topic")
    check_levels("ideal", further, np.ones(further.shape, dtype=np.bool_))
    # Documents of the ideal lists and of the rows are matched one to one by level.
    rows, ideal_rows = np.nonzero(shown & (level > 0))[0], np.nonzero(further > 0)[0]
    both = np.concatenate((level[shown & (level > 0)], further[further > 0])).astype(np.float64)
    values, index = np.unique(both, return_inverse=True)
    keys = np.concatenate((rows, ideal_rows)) * values.size + index
    here, order = np.sort(keys[: rows.size]), np.argsort(keys[rows.size :], kind="stable")
    there = keys[rows.size :][order]
    excess = np.arange(here.size) - np.searchsorted(here, here) >= _times(there, here)
    if excess.any():
        row, value = divmod(int(here[excess][0]), values.size)
        raise InputError(
            f"ideal: row {row} lacks a document of level {values[value]:g} that relevance has; ideal must "
            "hold the levels of all relevant documents, including those in the row"
        )
    left = np.arange(there.size) - np.searchsorted(there, there) >= _times(here, there)
    found = further > 0
    found[found] = left[np.argsort(order)]
    return np.hstack((level, further)), np.hstack((shown, found))


def _times(among: Ints, key: Ints) -> Ints:
    """Return how often each key occurs among sorted ones."""
    return np.searchsorted(among, key, side="right") - np.searchsorted(among, key)


def _values(level: npt.NDArray[Any]) -> Floats:
    """Return the distinct levels, ascending."""
    small = level.astype(np.int16) if level.size and level.max() < _FEW_LEVELS else None
    if small is not None and (small == level).all():
        return np.flatnonzero(np.bincount(small)).astype(np.float64)
    return np.unique(level.astype(np.float64))


def _run(
    levels: Levels, present: Bools, shown: Bools, codes: npt.NDArray[np.uint64] | None, *, tied: bool
) -> JudgedRun:
    """Return the run with the documents that are present and shown, ranked by codes or by position."""
    ties = None
    wanted = shown & present[:, : shown.shape[1]]
    rank: Ints
    if codes is None:
        topic, column = np.nonzero(wanted)
        rank = np.cumsum(shown, axis=1, dtype=np.int64)[topic, column]
    else:
        ranked = np.sort(codes, axis=1)
        order = (ranked & _POSITION).view(np.int64)
        topic, place = np.nonzero(np.take_along_axis(wanted, order, axis=1))
        column, rank = order[topic, place], place + 1
        if tied:
            code, begins = ranked >> _HALF, np.ones(ranked.shape, dtype=np.bool_)
            begins[:, 1:] = code[:, 1:] != code[:, :-1]
            begin = np.flatnonzero(begins)
            group = (np.cumsum(begins) - 1).reshape(ranked.shape)[topic, place]
            size = np.diff(begin, append=ranked.size)[group]
            ties = TieGroups(begin[group] % ranked.shape[1] + 1, size) if (size > 1).any() else None
    document = np.cumsum(present, dtype=np.int64).reshape(present.shape)[topic, column] - 1
    retrieved = np.count_nonzero(shown, axis=1)
    return JudgedRun(topic, rank, levels.level_index[document], document, retrieved, ties=ties)


def _like(array: Any, values: Floats) -> Any:
    """Convert values to the library and the device of an array."""
    if not hasattr(array, "__dlpack__") or isinstance(array, np.ndarray):
        return values
    library = sys.modules[type(array).__module__.partition(".")[0]]
    space = array.__array_namespace__() if hasattr(array, "__array_namespace__") else library
    try:
        return space.asarray(values, device=array.device)
    except TypeError:  # CuPy has one device at a time
        return space.asarray(values)


#: Documents of some batches: scores, levels, topics, and whether the ranking has them.
Part = tuple[npt.NDArray[np.floating], Floats, Ints, Bools]
#: The id of the first document; the others are lower and have as many digits, so they sort as numbers.
_FIRST_ID = 2 * 10**15


class RankingMetric:
    """Score rankings that arrive in batches: ``update`` for each batch, then ``compute``, then ``reset``.

    The values are those of ``evaluate`` with ``ties``, to the last bit, whatever the batches are: a topic
    whose documents come in several batches, or in several processes (``merge_state``), is one ranking.
    ``update`` takes what the retrieval metrics of torchmetrics take, and copies it once to NumPy arrays; the
    measures are computed in NumPy. ``ir_graded.torchmetrics.GradedRankingMetric`` does the same in Lightning
    and ``MetricCollection``.

    Documents have no ids here, so a document that is given twice counts twice.

    Args:
        measures: the measures, as for ``evaluate``. A single one makes ``compute`` return a number, and a
            list of measures makes it return a dict.
        ties: order of documents with equal scores: 'expected', the mean over all orders; 'position', the
            order in which they are given; 'optimistic' or 'pessimistic', by level descending or ascending.
            By default 'expected', and 'position' for measures that do not define this mean.

    Raises:
        ParameterError: ``ties`` is not one of these words, or it is 'expected' and a measure does not define
            this mean.
        NameError: the name of a measure is unknown.

    Example:
        >>> import ir_graded
        >>> metric = ir_graded.RankingMetric(["nDCG@10", "RR"])
        >>> metric.update([0.3, 0.2, 0.9], [2, 0, 1], indexes=[7, 7, 7])
        >>> metric.update([[0.8, 0.7]], [[0, 1]], indexes=[8])
        >>> {name: round(value, 4) for name, value in metric.compute().items()}
        {'nDCG@10': 0.7453, 'RR': 0.75}
    """

    def __init__(self, measures: Iterable[str | Measure] | str | Measure, *, ties: str | None = None) -> None:
        check_order(ties)
        given = read_measures(measures)
        if ties is not None and ties != BY_POSITION:
            given = in_order(given, ties)
        self._ties = DefaultTies(given if ties is None else [])
        #: The measures by the names of the metrics.
        self.measures = dict(zip(map(str, given), self._ties.measures or given, strict=True))
        self._single = isinstance(measures, (str, Measure)) and len(given) == 1
        self.reset()

    def update(
        self, preds: Any, target: Any, indexes: Any, *, mask: Any = None, retrieved: Any = None
    ) -> None:
        """Add the documents of a batch.

        Args:
            preds: the score of each document, an array of any shape and library; the highest is ranked first.
            target: the level of each document, same shape. A document with a level below 0 is unjudged, as
                in qrels: it has a rank, and measures with ``judged_only`` remove it. A topic without a judged
                document is left out.
            indexes: the number of the topic of each document, same shape; or of each row, which then is a
                topic or a part of one.
            mask: True for documents and False for padding, same shape; None if there is no padding.
            retrieved: False for judged documents that the ranking lacks, same shape. They count in the ideal
                list, and their scores are ignored. None if the ranking has all.

        Raises:
            InputError: shapes differ, an array holds other values than numbers, a score or a level is NaN, a
                level is infinite, or ``indexes`` holds fractions.
        """
        self.parts.append(_part(preds, target, indexes, mask, retrieved))

    def compute(self) -> Any:
        """Return the mean of each measure over the topics: a dict by name, or the number of a single measure.

        A topic without relevant documents scores 0.

        Raises:
            InputError: there is no judged document, or the levels do not fit a measure.

        Warns:
            CoverageWarning: as ``evaluate``; or relevant documents of a topic have equal scores, and by
                default a measure ranks them by position.
        """
        means = dict(zip(self.measures, self.scores().aggregates[0].tolist(), strict=True))
        return next(iter(means.values())) if self._single else means

    def scores(self, name: str = "run") -> Scores:
        """Return the scores of all topics, for intervals, significance tests and tables.

        The names of measures show ``ties='expected'``. ``Scores.concat`` joins them with scores of
        ``evaluate(..., ties='expected')``, and with others if no documents tie.

        Args:
            name: the name of the run.

        Raises, Warns: as ``compute``.
        """
        import polars as pl

        preds, level, topic, retrieved = map(np.concatenate, zip(*self.parts, strict=True))
        # Documents with equal scores are ranked by id descending.
        doc_id = pl.Series(_FIRST_ID - np.arange(topic.size)).cast(pl.String)
        rows = pl.DataFrame({"query_id": topic, "doc_id": doc_id, "relevance": level, "score": preds})
        rows = rows.with_columns(retrieved=retrieved).sort("query_id", maintain_order=True)
        rows = rows.filter((pl.col("relevance") >= 0).any().over("query_id"))
        if not rows.height:
            raise InputError("there is no judged document: call update with levels >= 0 before compute")
        request = Request([*self.measures.values()], rows.select("query_id", "doc_id", "relevance"))
        request.take({name: rows.filter("retrieved").select("query_id", "doc_id", "score")})
        values = request.judgments.levels.values
        scores, (tied,) = request.scores(lambda matched: self._ties.topics(matched.judged, values))
        self._ties.warn(tied.size, BY_POSITION, BY_POSITION)
        return scores

    def reset(self) -> None:
        """Forget all documents."""
        #: The documents of the batches.
        self.parts: list[Part] = [_part([], [], np.zeros(0, dtype=np.int64), None, None)]

    def merge_state(self, others: RankingMetric | Iterable[RankingMetric]) -> RankingMetric:
        """Add the documents of other metrics, for example of other processes, and return this metric.

        Metrics can be pickled, so ``torch.distributed.all_gather_object`` and ``multiprocessing`` send them.

        Raises:
            InputError: the others have other measures or another ``ties``.
        """
        merged = [others] if isinstance(others, RankingMetric) else [*others]
        for other in merged:
            if other.measures != self.measures:
                raise InputError(
                    f"the metrics to merge compute {', '.join(map(str, self.measures.values()))} and "
                    f"{', '.join(map(str, other.measures.values()))}; give them the same measures and ties"
                )
        self.parts = [part for one in (self, *merged) for part in one.parts]
        return self

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Add a batch, as ``update``, and return the values of this batch alone."""
        batch = copy(self)
        batch.reset()
        batch.update(*args, **options)
        self.parts += batch.parts
        return batch.compute()


def _part(preds: Any, target: Any, indexes: Any, mask: Any, retrieved: Any) -> Part:
    """Return the documents of a batch, flat, checked, and copied."""
    level, topic = numbers_of("target", target), numbers_of("indexes", indexes)
    if topic.shape != level.shape and topic.shape == level.shape[:-1]:
        topic = np.broadcast_to(topic[..., np.newaxis], level.shape)
    same_shape("indexes", topic, level.shape, "target")
    if topic.dtype.kind == "f" and topic.size:  # an empty list has the type of numbers with fractions
        raise InputError(f"indexes holds {topic.dtype}; it must hold whole numbers, one for each topic")
    every = np.ones(level.shape, dtype=np.bool_)
    shown = every if mask is None else flags_of("mask", mask, level.shape, "target")
    found = every if retrieved is None else flags_of("retrieved", retrieved, level.shape, "target")
    check_levels("target", level, shown, -np.inf)
    score = scores_of("preds", preds, shown & found, "target")
    # Indexing copies, so that callers may reuse their arrays.
    return score[shown], level[shown].astype(np.float64), topic[shown].astype(np.int64), found[shown]
