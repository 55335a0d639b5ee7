"""``evaluate``, and ``Request``: what it shares with the other functions of measures, qrels and runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import ir_measures
import numpy as np
from ir_measures.measures import Measure

from ir_graded._utils.threads import Result, progress_bar, shows_progress
from ir_graded.core.facets import INTENT, POSITION, SPAN, Facet
from ir_graded.errors import (
    InputError,
    NoSharedTopicsError,
    ParameterError,
    check_choice,
    short_repr,
    warn_caller,
)
from ir_graded.io.experiments import search, topics_frame
from ir_graded.io.paths import collections_in, runs_of_collection
from ir_graded.io.records import ROW_ORDERS
from ir_graded.io.sources import DUPLICATES, Source, named_runs, opened, passage_table
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import MatchedRun, match_runs, naming_run, prepare_qrels
from ir_graded.measures.classic import check_computable
from ir_graded.measures.classic.ties import check_word, with_ranks, with_ties
from ir_graded.measures.params import RANKS, TIES
from ir_graded.measures.parsing import read_measures

from .coverage import Coverage, RunCoverage, notes_without_relevant
from .provider import (
    GradedEvaluator,
    MixedEvaluator,
    check_measures,
    lowest_rel,
    native_scorers,
    needs_passages,
    wanted_columns,
)
from .scores import Scores
from .signature import MIXED, Origin

#: Passages that end behind their documents: they count, or are an error.
BEYOND = ("keep", "raise")
#: Orders of documents with equal scores, by measures or by the rows of runs.
ORDERS = (*TIES.words, *ROW_ORDERS)
#: Values of the options on the rows that count. Signatures have them only if they are not the first.
OF_ROWS: Mapping[str, tuple[Any, ...]] = {
    "duplicates": DUPLICATES,
    "ignore_identical_ids": (False, True),
    "without_relevant": ("zero", "leave out"),
}
#: Largest difference of the shares of a budget that runs fill without a warning.
_UNEQUAL = 0.1
#: Highest level of usual scales.
_HIGHEST_LEVEL = 10
_ON_DROPPED = ", unless rows are too long for it: fit='drop' leaves them out"


def warn_if_swapped(qrels: Any, run: Any) -> None:
    """Issue a CoverageWarning where dicts of qrels and of a run look swapped; other forms name columns."""
    # Scores are seldom small whole numbers, and levels are seldom fractions that all differ.
    levels, scores = _values_of_first_topic(qrels), _values_of_first_topic(run)
    like_scores = all(isinstance(one, (float, np.floating)) and not float(one).is_integer() for one in levels)
    like_levels = all(type(one) is int or isinstance(one, np.integer) for one in scores)
    differ = len(set(levels)) == len(levels) > 1
    if (
        like_scores
        and like_levels
        and differ
        and scores
        and 0 <= min(scores) <= max(scores) <= _HIGHEST_LEVEL
    ):
        warn_caller(
            "These look like a run and qrels: all levels are fractions, and all scores are small whole "
            "numbers. Are the arguments swapped? The qrels come before the run."
        )


def _values_of_first_topic(source: Any) -> list[Any]:
    """Return the first values of the first topic of a dict of dicts; none of any other form."""
    documents = next(iter(source.values()), None) if isinstance(source, dict) else None
    return list(documents.values()) if isinstance(documents, Mapping) else []


def evaluate(  # noqa: PLR0913  # how to score, all by keyword
    measures: Iterable[str | Measure] | str | Measure,
    qrels: Any,
    runs: Any,
    *,
    progress: bool | None = None,
    ties: str = "doc_id",
    ranks: str | None = None,
    intents: Any = None,
    nuggets: Any = None,
    lengths: Any = None,
    beyond: str = "keep",
    duplicates: str = "raise",
    ignore_identical_ids: bool = False,
    without_relevant: str = "zero",
    topics: Any = None,
) -> Scores:
    """Score runs by measures of this package and of ir-measures.

    All measures of ir-measures are computed in the same pass, with the same order of tied documents, and from
    levels that need not be whole numbers. Measures that others define (``ir_measures.define``) are left to
    their providers.

    Args:
        measures: measure objects and strings, mixed: ``["P-measure@1000", nDCG@10, "map"]``.
        qrels: a dict of dicts, a pandas or Polars frame or Arrow table (query_id, doc_id, relevance), an
            iterable of named tuples, a path to a file (TREC or NTCIR, compressed or not), or a dataset of
            ir_datasets or its id.
        runs: one run in any of these forms (score instead of relevance; scoreddocs of a dataset), a list of
            paths, or a mapping from names to runs. A run from a path is named after its file; a folder gives
            one run per file. Pipelines of PyTerrier need ``topics``.
        progress: whether to show a progress bar over several runs; by default on a terminal only.
        ties: order of documents with equal scores: 'doc_id', descending, as in trec_eval, or by position
            in a run that has positions, such as responses of search engines (see ``read_run``); 'expected',
            the mean over all orders; 'optimistic' or 'pessimistic', by level descending or ascending;
            'rank', by the ranks of a TREC file or a column rank; 'given', as the rows of the run are. It
            applies to all measures that depend on the order and do not set ``ties`` themselves. Documents
            with different scores are by score also where ranks contradict them, with a warning.
        ranks: ranks of a run with passages count 'documents', each at its best row, or 'rows', of which the
            first of a document counts and the later ones are not relevant. By default documents, with a
            warning where that changes the rank of a relevant one. It applies to all measures that do not set
            ``ranks`` themselves; ranks of CharR and other measures of rows always count rows.
        intents: probabilities and types of the intents in the qrels, in a form of ``with_intents``.
        nuggets: lists of nuggets with their importance, in a form of ``with_nuggets``.
        lengths: length of each document, for runs with passages, in a form of ``passages.check_submission``.
            If neither the qrels nor any run has passages, each document is a passage of this length.
        beyond: 'keep' keeps passages that end behind their document, which lowers precision or recall;
            'raise' raises InputError for them, in the qrels and in the runs. Only with ``lengths``.
        duplicates: which row counts of a document that a run repeats in a topic: 'first', or 'best', the
            first with the highest score; with 'raise', a repetition is an error. Passages may always repeat
            a document.
        ignore_identical_ids: leave out the documents of a run whose id is that of their topic, as BEIR does
            for all data sets and MTEB for some. Later documents move up. The qrels keep such documents, as
            there, and a warning counts those that are relevant, which no run can then retrieve.
        without_relevant: topics of the qrels without a document of a level above 0: 'zero' keeps them, and
            most measures are 0 there; 'leave out' leaves them out for all measures alike, whatever their
            ``rel``, as gdeval does. A warning counts them.
        topics: topics for the pipelines among the runs: a frame of pandas or Polars with the columns qid and
            query, a dict from ids to queries, or a dataset of PyTerrier. Each pipeline is run once, on all
            topics. On a topic of the qrels that is not among them, a pipeline scores 0.

    Returns:
        The scores of all runs on all topics of the qrels; a topic that a run lacks scores 0.

    Raises:
        NoSharedTopicsError: the qrels are empty, all their topics are left out, or a run and the qrels have
            no topic in common.
        InputError: the qrels or a run cannot be scored, or a pipeline fails; the message gives the place.
        ParameterError: ``ties``, ``ranks``, ``beyond``, ``duplicates``, ``ignore_identical_ids`` or
            ``without_relevant`` is not a valid word, ``ties`` or ``ranks='rows'`` is given for a measure that
            does not take it, both are given, ``beyond`` is given without ``lengths``, or ``topics`` without a
            pipeline.
        ValueError: a measure cannot be read or is not supported.
        NameError: the name of a measure is unknown.

    Warns:
        CoverageWarning: a run lacks topics of the qrels, is empty, has no judged document or gives all
            documents of a topic the same score, nothing in the qrels is relevant, a topic has no highlighted
            text for measures of passages, or ``ranks`` is not set and the rank of a relevant document is not
            that of its first row, only some of the runs with equal scores have positions, or ``duplicates``
            left rows out; once per call. ``Scores.coverage`` has the counts. Also, if ``nuggets`` and the
            qrels have different topics or nuggets, an importance is another word than vital and okay, or no
            nugget of a topic has a weight above 0.
        SampledJudgmentsWarning: judgments have an inclusion probability (column ``iprob``) below 1, or
            documents of strata (column ``stratum``) were not judged, and measures score the sample as if it
            were complete; ``score_estimates`` does not.

    Example:
        >>> import ir_graded
        >>> scores = ir_graded.evaluate(["Q", "AP"], {"1": {"a": 2}}, {"1": {"x": 2.0, "a": 1.0}})
        >>> scores.mean()
                Q   AP
        run
        run  0.75  0.5
    """
    if beyond not in BEYOND:
        raise ParameterError(f"beyond={short_repr(beyond)} must be {' or '.join(map(repr, BEYOND))}")
    if lengths is None and beyond != "keep":
        raise ParameterError(f"beyond={beyond!r} needs lengths")
    given = {"ties": ties, "ranks": ranks, "intents": intents, "nuggets": nuggets, "topics": topics}
    given |= {"lengths": lengths, "beyond": beyond, "duplicates": duplicates}
    given |= {"ignore_identical_ids": ignore_identical_ids, "without_relevant": without_relevant}
    request = Request(read_measures(measures), qrels, runs, **given)
    return request.scores(progress=progress)[0]


def evaluate_collections(
    measures: Iterable[str | Measure] | str | Measure,
    collections: Mapping[str, Any] | str | os.PathLike[str],
    runs: Any = None,
    **options: Any,
) -> dict[str, Scores]:
    """Score runs on several collections, as input of ``meta.across_collections``.

    Args:
        measures: as for ``evaluate``.
        collections: qrels and runs of each collection, ``{"covid": (qrels, runs), ...}``, and the topics as
            third if runs are pipelines; runs of one system have the same name in all. With ``runs``, only the
            qrels, ``{"covid": qrels, ...}``, or a folder of folders of BEIR (``NAME/qrels/test.tsv``).
        runs: a mapping from names of runs to folders with a file per collection, named after it
            (``NAME.run``, ``NAME.run.trec``, ``NAME_predictions.json`` of MTEB, in any case), or to mappings
            from collections to runs; or a folder of such folders. None if ``collections`` has the runs.
        options: options of ``evaluate``, for all collections.

    Returns:
        The scores by the names of the collections.

    Raises:
        InputError: a value is not a pair of qrels and runs, a run has no or several files of a collection,
            or the qrels or a run cannot be scored.

    Example:
        >>> import ir_graded
        >>> qrels, run = {"1": {"a": 2, "b": 1}}, {"1": {"b": 1.0, "a": 0.5}}
        >>> found = ir_graded.evaluate_collections("Q", {"web": (qrels, {"bm25": run})})
        >>> float(found["web"].mean().loc["bm25", "Q"].round(4))
        0.8333
        >>> found = ir_graded.evaluate_collections("Q", {"web": qrels}, {"bm25": {"web": run}})
        >>> found["web"].runs
        ('bm25',)
    """
    given = collections if isinstance(collections, Mapping) else collections_in(collections)
    scores = {}
    for name, one in given.items():
        parts = one if runs is None else (one, runs_of_collection(runs, name))
        if not isinstance(parts, tuple) or len(parts) not in {2, 3}:
            found = short_repr(one)
            raise InputError(f"collection {name!r}: expected (qrels, runs), or runs= for all, found {found}")
        qrels, of_name, *topics = parts
        further = {"topics": topics[0]} if topics else {}
        scores[str(name)] = evaluate(measures, qrels, of_name, **{**options, **further})
    return scores


def order_of_measures(ties: str) -> str:
    """Return the order of tied documents that measures name, which is the default where rows decide."""
    check_choice("ties", ties, ORDERS)
    return str(TIES.default) if ties in ROW_ORDERS else ties


def in_order(measures: list[Measure], ties: str, ranks: str | None = None) -> list[Measure]:
    """Return the measures with tied documents in the given order, and the given meaning of ranks."""
    ranks = RANKS.default if ranks is None else ranks
    check_word("ties", ties)
    check_word("ranks", ranks)
    if (ties, ranks) == (TIES.default, RANKS.default):
        return measures
    given = f"ties={ties!r}" if ties != TIES.default else f"ranks={ranks!r}"
    here = native_scorers(measures)
    _check_here(given, [measure for measure in measures if measure not in here])
    for scorer in here.values():
        scorer.validate_params()  # so that a missing parameter is named before its effect on ties

    def named(measure: Measure) -> Measure:
        if ties != TIES.default and here[measure].ties == TIES.default:
            measure = with_ties(measure, ties)
        return measure if ranks == RANKS.default else with_ranks(measure, ranks)

    return list(dict.fromkeys(map(named, measures)))


def _check_here(given: str, others: Sequence[Measure]) -> None:
    """Raise ParameterError if an option is given for measures that are not computed here."""
    if others:
        check_computable(others[0])
        raise ParameterError(
            f"{given} requires measures that ir_graded computes, and {', '.join(map(str, others))} "
            f"{'is' if len(others) == 1 else 'are'} not among them"
        )


def whole_documents(
    qrels: Source, runs: Mapping[str, Source], lengths: Any
) -> tuple[Source, dict[str, Source]]:
    """Return documents as passages from 0 to their length, if neither the qrels nor any run has passages."""
    from ir_graded.io.lengths import read_lengths, with_lengths

    judged = qrels.table()
    if judged.passage is not None:
        return qrels.read_as(judged), {**runs}
    found = {name: run.table() for name, run in runs.items()}
    if any(run.passage is not None for run in found.values()):
        return qrels.read_as(judged), {name: run.read_as(found[name]) for name, run in runs.items()}
    # As passages, documents may repeat.
    prepare_qrels(judged, (INTENT,))
    for run in found.values():
        run.check_values()
        run.check_repetitions()
    known = read_lengths(lengths)
    passages = {name: run.read_as(with_lengths(found[name], known)) for name, run in runs.items()}
    return qrels.read_as(with_lengths(judged, known)), passages


_LATER = object()


def _searched(runs: Any, topics: Any) -> dict[str, Source]:
    """Return the runs by name, with the results of pipelines if the function takes topics."""
    named = named_runs(runs)
    if topics is _LATER:
        return named
    if topics is not None:  # before pipelines run
        for run in named.values():
            run.check_found()
    return {name: opened("run", run) for name, run in search(named, topics).items()}


def _keeping(runs: Mapping[str, Any], of_rows: Mapping[str, Any]) -> dict[str, Source]:
    return {name: opened("run", run).keeping(**of_rows) for name, run in runs.items()}


def _not_usual(of_rows: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options on the rows that count, without those that have the usual value."""
    for name, one in of_rows.items():
        check_choice(name, one, OF_ROWS[name])
    return {name: one for name, one in of_rows.items() if one != OF_ROWS[name][0]}


def _with_relevant(qrels: Source, wanted: list[Facet]) -> tuple[Judgments, tuple[str, ...]]:
    """Prepare the topics of the qrels with a document of a level above 0; return also the others by name."""
    judged = prepare_qrels(qrels, wanted)
    names = judged.with_level_above(0)
    others = tuple(name for name in judged.names if name not in names)
    if others and not names:
        raise NoSharedTopicsError(
            "no document of the qrels has a level above 0, so without_relevant='leave out' leaves no topic"
        )
    return prepare_qrels(qrels.of_topics(names), wanted) if others else judged, others


class Request:
    """Measures, qrels and runs of one call: read, checked and prepared once, in this order.

    ``measures`` is None for functions without measures, which have no ``evaluator``; ``qrels`` may be
    prepared. ``runs`` are not given if ``take`` gets them later, nor ``topics`` by functions without them.
    ``rel`` is the lowest level that is relevant for any of the measures, inf if relevance has no effect; they
    need documents down to ``lowest`` from runs.
    """

    def __init__(  # noqa: PLR0913  # as evaluate
        self,
        measures: Iterable[str | Measure] | str | Measure | None,
        qrels: Any,
        runs: Any = _LATER,
        *,
        ties: str = TIES.default,
        ranks: str | None = None,
        intents: Any = None,
        nuggets: Any = None,
        lengths: Any = None,
        beyond: str = "keep",
        duplicates: str = DUPLICATES[0],
        ignore_identical_ids: bool = False,
        without_relevant: str = "zero",
        topics: Any = _LATER,
    ) -> None:
        read = [] if measures is None else read_measures(measures)
        self.measures = in_order(read, order_of_measures(ties), ranks)
        scorers = native_scorers(self.measures)
        self._others = [] if measures is None else check_measures(self.measures, scorers)
        if not all(map(ir_measures.DefaultPipeline.supports, self._others)):
            ir_measures.evaluator(self._others, {})  # raises the error of ir-measures
        needed = {facet.name for scorer in scorers.values() for facet in scorer.needs}
        words = {"ties": ties, "ranks": ranks or "default", "beyond": beyond, "precision": "float64"}
        files = {"intents": intents, "nuggets": nuggets, "lengths": lengths}
        options = words | {name: one is not None for name, one in files.items()}
        self._of_rows: dict[str, Any] = {
            "duplicates": duplicates,
            "ignore_identical_ids": ignore_identical_ids,
        }
        options |= _not_usual({**self._of_rows, "without_relevant": without_relevant})
        if ties in ROW_ORDERS and lengths is not None:
            raise ParameterError(f"ties={ties!r} is for documents, and with lengths they are passages")
        if ties in ROW_ORDERS:
            _check_here(f"ties={ties!r}", self._others)
            self._of_rows["ties"] = ties
        self.origin = Origin(options, facets=wanted_columns(self.measures))
        if not isinstance(qrels, Judgments):
            qrels = opened("qrels", qrels)
            self.origin.add("qrels", "", qrels)
        given, self._asked = None, None
        if topics is not None and topics is not _LATER:
            topics = topics_frame(topics)
            self._asked = {*topics["qid"]}
        if lengths is not None and runs is not _LATER and SPAN.name in needed:
            given = _keeping(_searched(runs, topics), self._of_rows)
            qrels, runs = whole_documents(qrels, given, lengths)
        self._check_ends: Callable[[Any], None] | None = None
        judged = qrels
        if intents is not None:
            from ir_graded.io.annotations import add_intents

            judged = qrels.read_as(add_intents(qrels.table(), intents))
            self.origin.add("qrels", "", judged)
        self._left_out: tuple[str, ...] = ()
        judged = self._prepared(judged, nuggets, lengths, beyond, without_relevant)
        judged.require_topics("evaluate")
        self._qrels, self.judgments = qrels, judged
        self._rels = {measure: lowest_rel(measure) for measure in self.measures}
        self.lowest = self.rel = min(self._rels.values(), default=np.inf)
        if self.measures:
            graded = GradedEvaluator(scorers, judged, ranks, self._others)
            self.judgments, self.evaluator = graded.judgments, MixedEvaluator(self.measures, graded)
            self.lowest = min(self.rel, graded.lowest)
        self.runs: dict[str, Source] = {}
        if runs is not _LATER:
            self.take(runs if given else _searched(runs, topics), given)

    def _prepared(self, qrels: Any, nuggets: Any, lengths: Any, beyond: str, without: str) -> Judgments:
        """Return the qrels with the nuggets, prepared; ``without`` is ``without_relevant``."""
        judged = qrels
        if nuggets is not None:
            from ir_graded.io.annotations import add_nuggets

            table, note = add_nuggets(judged.table(), nuggets)
            judged = qrels.read_as(table)
            self.origin.add("qrels", "", judged)
            if note:
                warn_caller(note)
        if lengths is not None:
            from ir_graded.io.lengths import end_check

            self._check_ends = end_check(lengths, beyond)
            if beyond == "raise":
                judged = judged.kept(whole=True)
                table = judged.table()
                if table.passage is not None:
                    # Empty spans name no text: a topic without gold has one without a document.
                    self._check_ends(table[np.flatnonzero(table.passage.length)])
        if isinstance(judged, Judgments):
            return judged
        if without == OF_ROWS["without_relevant"][0]:
            return prepare_qrels(judged, wanted_columns(self.measures))
        found, self._left_out = _with_relevant(judged.kept(), wanted_columns(self.measures))
        return found

    def take(self, runs: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> None:
        """Take the runs by name, and warn if the first one and the qrels look swapped.

        ``given`` are the runs of the caller, if ``runs`` are others.
        """
        self.runs = _keeping(runs, self._of_rows)
        qrels = {key: one for key, one in self.origin.sources.items() if key[0] == "qrels"}
        self.origin = replace(self.origin, sources=qrels)
        for name, run in (given or self.runs).items():
            self.origin.add("run", name, run)
        warn_if_swapped(getattr(self._qrels, "given", None), next(iter(self.runs.values())).given)
        self._qrels = None

    def reread(self) -> None:
        """Keep the runs in forms that can be read again."""
        for name, run in self.runs.items():
            with naming_run(name, run, len(self.runs)):
                self.runs[name] = run.kept()
        for name, run in self.runs.items():
            if ("run", name) not in self.origin.sources:
                self.origin.add("run", name, run)

    def match(
        self, work: Callable[[MatchedRun], Result], lowest: float, *, judged_only: bool = False
    ) -> Iterator[Result]:
        """Match the runs with the qrels down to a level, and yield the result of ``work`` for each."""
        # Measures that others define need the rows of the runs.
        forms = {"whole": bool(self._others), "judged_only": judged_only}
        return match_runs(self.judgments, self.runs, lowest, work, **forms)

    def scores(
        self,
        also: Callable[[MatchedRun], Any] | None = None,
        lowest: float = np.inf,
        *,
        rows: bool = True,
        check: Callable[[list[Any]], None] = lambda _: None,
        progress: bool | None = False,
    ) -> tuple[Scores, list[Any]]:
        """Score the runs, and warn if runs and qrels do not match well.

        ``also`` is called with each run, matched down to ``lowest``; its results are returned, too. ``rows``
        says whether it needs more of the run than judged documents. ``check`` gets these results before the
        warning.
        """
        filled: list[dict[Measure, float]] = []

        def score(matched: MatchedRun) -> tuple[dict[Measure, Any], RunCoverage, Any]:
            if self._check_ends is not None:
                self._check_ends(passage_table("a table of lengths", "run", matched.run))
            values = self.evaluator.scores_of(matched.judged, matched.run)
            coverage = RunCoverage.of(self.judgments, matched, self.evaluator.graded.by_default)
            filled.append(self.evaluator.graded.filled(matched.judged))
            return values, coverage, None if also is None else also(matched)

        judged_only = (also is None or not rows) and self._check_ends is None
        scored: Iterable[Any] = self.match(score, min(self.lowest, lowest), judged_only=judged_only)
        if len(self.runs) > 1 and shows_progress(progress):
            options = {"total": len(self.runs), "desc": "evaluating", "unit": "run"}
            scored = progress_bar(scored, **options, progress=progress)
        of_runs, found, results = map(list, zip(*scored, strict=True))
        check(results)
        coverage = self._coverage(found, filled)
        coverage.warn()
        if self.origin.options["ties"] == TIES.default and any(run.by_position for run in found):
            ties = MIXED if coverage.has_mixed_ties else POSITION.name
            self.origin = replace(self.origin, options=self.origin.options | {"ties": ties})
        values = np.array([[of_run[measure] for of_run in of_runs] for measure in self.measures])
        query_ids = tuple(self.judgments.query_ids)
        scores = Scores(tuple(self.runs), tuple(self.measures), query_ids, values, coverage, self.origin)
        return scores, results

    def _coverage(self, found: list[RunCoverage], filled: list[dict[Measure, float]]) -> Coverage:
        """Return the coverage of all runs."""
        levels, graded = self.judgments.levels.values, self.evaluator.graded
        highest = float(levels[-1]) if levels.size else 0.0
        notes = notes_without_relevant(self._rels, highest)
        of_text = min((rel for measure, rel in self._rels.items() if needs_passages(measure)), default=np.inf)
        # If no level is relevant, no topic has relevant text.
        if of_text <= highest and (note := self.judgments.note_on_text(of_text)):
            notes.append(note)
        for measure in dict.fromkeys(measure for one in filled for measure in one):
            with_rows = zip(filled, self.runs, strict=True)
            shares = [(one[measure], run) for one, run in with_rows if measure in one]
            (low, least), (high, most) = min(shares), max(shares)
            if high - low > _UNEQUAL:
                notes.append(
                    f"The runs do not fill the budget of {measure} alike: {least!r} fills {low:.0%} of it on "
                    f"average, {most!r} {high:.0%}; retrieve more rows to compare them at an equal budget"
                    f"{_ON_DROPPED if measure.params.get('fit') == 'drop' else ''}."
                )
                break
        names = self.judgments.names
        if self._asked is not None and (lacking := [name for name in names if name not in self._asked]):
            notes.append(
                f"topics= lacks {len(lacking)} of the {len(names)} topics of the qrels (the first is "
                f"{lacking[0]!r}), on which pipelines score 0: to leave them out of the means, leave them "
                "out of the qrels."
            )
        if self._of_rows["ignore_identical_ids"] and (note := self.judgments.note_on_identical_ids(self.rel)):
            notes.append(note)
        by_id = bool(self._others) or TIES.default in {scorer.ties for scorer in graded.scorers.values()}
        topics, sources = len(names), (self.judgments, [*self.runs.values()])
        of_runs, by_rows = (tuple(self.runs), tuple(found)), "ties" in self._of_rows
        return Coverage(*of_runs, topics, sources, notes, by_id, self._left_out, by_rows)
