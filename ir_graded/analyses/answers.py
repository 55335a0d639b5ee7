"""``score_answers``: answers by the nuggets that they support, and by their citations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, pairwise
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import InputError, NoSharedTopicsError, ParameterError, did_you_mean, format_ids
from ir_graded.evaluation.coverage import Coverage, RunCoverage, of_runs
from ir_graded.evaluation.scores import Scores
from ir_graded.io.assignments import Nuggets, nugget_assignments, nugget_lists, read_citations
from ir_graded.measures.answers import AnswerMeasure, CitationMeasure, NuggetMeasure
from ir_graded.measures.parsing import read_measures
from ir_graded.plots.style import plural


def score_answers(
    measures: Iterable[str | Measure] | str | Measure,
    assignments: Any = None,
    *,
    nuggets: Any = None,
    citations: Any = None,
) -> Scores:
    """Score answers by nuggets and citations.

    An answer is what a run says on a topic. The result has all that scores of rankings have: confidence
    intervals, tests and other statistics of ``ir_graded.meta``, tables for papers, and ``report``.

    Args:
        measures: ``NuggetScore``, ``CitationP`` and ``CitationR``, as objects or strings, or the original
            names ``strict_vital_score``, ``vital_score``, ``strict_weighted_score``, ``weighted_score``,
            ``strict_all_score`` and ``all_score``.
        assignments: the nuggets of each answer and whether it supports them, for ``NuggetScore``, in a form
            of ``read_assignments``, such as ``{"gpt-4o": "gpt4o.jsonl", "llama": "l31.jsonl"}``.
        nuggets: the nuggets of each topic with their importance, in the same forms without assignments. Their
            topics are scored, and all their nuggets count; one that an answer lacks is not supported. By
            default the topics of all answers, and of each answer its own nuggets.
        citations: a table with the columns query_id, run, sentence, doc_id, support and optionally
            needs_citation, in the order of the citations; a sentence without citation has no doc_id. Support
            is FS, PS or NS, also written Full Support or full_support. Or JSON Lines with topic_id or qid,
            run_id and support_eval, a list of objects with citations and eval_scores. In files, lists and
            mappings as for ``assignments``.

    Returns:
        The scores of all runs on all topics; a run without an answer to a topic scores 0 on it.

    Raises:
        NoSharedTopicsError: a run has no answer to a topic of ``nuggets``.
        InputError: the input cannot be scored: a run has two answers to a topic, a nugget of an answer is not
            in ``nuggets``, a label of support is unknown or a document is cited twice in a sentence. The
            message gives the place.
        FileFormatError: a line of a file cannot be read; the message has file, line and path.
        ParameterError: a measure is not one of answers, or its input is not given.

    Warns:
        CoverageWarning: answers are missing, runs have different nuggets for a topic, a topic has no nugget
            of positive weight, or a label is not known; once per call. ``Scores.coverage`` has the counts.

    Example:
        >>> import ir_graded
        >>> def answer(run, *labels):
        ...     names = ("text", "importance", "assignment")
        ...     return {"qid": "1", "run_id": run, "nuggets": [dict(zip(names, row)) for row in labels]}
        >>> good = answer("good", ("cheap", "vital", "support"), ("quick", "okay", "support"))
        >>> poor = answer("poor", ("cheap", "vital", "partial_support"), ("quick", "okay", "not_support"))
        >>> ir_graded.score_answers(["vital_score", "all_score"], [good, poor]).mean()
              NuggetScore(importance='vital')  NuggetScore
        run
        good                              1.0         1.00
        poor                              0.5         0.25
    """
    needed = {"assignments": assignments is not None, "citations": citations is not None}
    chosen = _answer_measures(measures, needed)
    if nuggets is not None and assignments is None:
        raise ParameterError("score_answers: nuggets are given without assignments")
    found = None if assignments is None else nugget_assignments(assignments)
    listed = None if nuggets is None else nugget_lists(nuggets)
    cited = None if citations is None else read_citations(citations)
    given = {"assignments": found, "citations": cited}
    of_input = {name: one.answers for name, one in given.items() if one is not None}
    runs = _numbered(run for run, _ in chain(*of_input.values()))
    by_topic = of_input if listed is None else of_input | {"assignments": listed.answers}
    topics = _numbered(topic for _, topic in chain(*by_topic.values()))
    notes = [*chain.from_iterable(one.notes for one in (found, listed, cited) if one is not None)]
    values = np.zeros((len(chosen), len(runs), len(topics)))
    if found is not None:
        rows = _rows(found, listed, runs, topics)
        notes += _note_on_lists(found) if listed is None else []
        notes += _notes_on_weights(chosen, rows, [*topics])
    for measure, of_measure in zip(chosen, values, strict=True):
        if isinstance(measure, NuggetMeasure):
            of_measure[:] = measure.of_nuggets(*rows, of_measure.size).reshape(of_measure.shape)
        elif isinstance(measure, CitationMeasure) and cited is not None:
            for (run, topic), sentences in cited.answers.items():
                of_measure[runs[run], topics[topic]] = measure.of_sentences(sentences)
    coverage = _coverage(of_input, runs, topics, notes, is_listed=listed is not None)
    coverage.warn()
    return Scores(tuple(runs), tuple(chosen), tuple(topics), values, coverage)


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: at for at, name in enumerate(dict.fromkeys(names))}


def _answer_measures(
    measures: Iterable[str | Measure] | str | Measure, given: Mapping[str, bool]
) -> list[AnswerMeasure]:
    """Return the measures. Raises ParameterError for another one, and for a missing or unused input."""
    chosen: list[AnswerMeasure] = []
    for measure in read_measures(measures):
        if not isinstance(measure, AnswerMeasure):
            raise ParameterError(
                f"{measure} scores rankings: use evaluate; score_answers takes NuggetScore, CitationP and "
                "CitationR"
            )
        if not given[measure.INPUT]:
            raise ParameterError(f"{measure} needs {measure.INPUT}")
        chosen.append(measure)
    for name, is_given in given.items():
        if is_given and name not in {measure.INPUT for measure in chosen}:
            raise ParameterError(f"score_answers: no measure uses the {name}")
    return chosen


#: Level of importance, credit and number of the answer of each nugget, sorted by answer.
_Rows = tuple[Floats, Floats, Ints]


def _rows(
    found: Nuggets, listed: Nuggets | None, runs: Mapping[str, int], topics: Mapping[str, int]
) -> _Rows:
    """Return the nuggets of each answer as they are in its own list, or the listed ones for each answer.

    Raises an error where listed nuggets do not match the answers.
    """
    if listed is None:
        answers = np.array([runs[run] * len(topics) + topics[topic] for run, topic in found.answers])
        answer = np.repeat(answers, np.diff(found.bounds))
        order = np.argsort(answer, kind="stable")
        return found.importance[order], found.credit[order], answer[order]
    place: dict[str, dict[str, int]] = {topic: {} for _, topic in listed.answers}
    for run in dict.fromkeys(run for run, _ in found.answers):
        if place.keys().isdisjoint(theirs := [topic for one, topic in found.answers if one == run]):
            raise NoSharedTopicsError(
                f"run {run!r} and the nuggets have no topic in common: the run has {format_ids(theirs)}, the "
                f"nuggets have {format_ids([*place])}"
            )
    topic_of = np.array([topics[one] for one in listed.query_id], dtype=np.int64)
    order = np.argsort(topic_of, kind="stable")
    for at, row in enumerate(order.tolist()):
        place[listed.query_id[row]][listed.nugget[row]] = at
    credit = np.zeros((len(runs), len(listed)))
    for (run, topic), (begin, end) in zip(found.answers, pairwise(found.bounds.tolist()), strict=True):
        if (known := place.get(topic)) is None:
            continue
        for row, nugget in enumerate(found.nugget[begin:end], begin):
            if nugget not in known:
                near = did_you_mean(nugget, known)
                raise InputError(f"{found.describe(row)} is not in nuggets{near and f'; {near}'}")
        credit[runs[run], [*map(known.__getitem__, found.nugget[begin:end])]] = found.credit[begin:end]
    answer = np.arange(len(runs))[:, np.newaxis] * len(topics) + topic_of[order]
    return np.tile(listed.importance[order], len(runs)), credit.ravel(), answer.ravel()


def _note_on_lists(found: Nuggets) -> Iterator[str]:
    """Yield a sentence if runs have different nuggets for a topic."""
    first: dict[str, tuple[str, list[tuple[str, float]]]] = {}
    differ: dict[str, str] = {}
    rows = [*zip(found.nugget, np.nan_to_num(found.importance, nan=-np.inf).tolist(), strict=True)]
    for (run, topic), (begin, end) in zip(found.answers, pairwise(found.bounds.tolist()), strict=True):
        nuggets = rows[begin:end]
        other, theirs = first.setdefault(topic, (run, nuggets))
        if theirs != nuggets and sorted(theirs) != sorted(nuggets):
            words = f"{topic!r}: {other!r} has {len(theirs)} nuggets, {run!r} has {len(nuggets)}"
            differ.setdefault(topic, words)
    if differ:
        yield (
            f"Runs have different nuggets for {plural(len(differ), 'topic')}, so their divisors differ (the "
            f"first is {next(iter(differ.values()))}); give the nuggets of each topic with nuggets=."
        )


def _notes_on_weights(measures: Iterable[Measure], rows: _Rows, topics: list[str]) -> Iterator[str]:
    """Yield a sentence for each importance without a nugget of positive weight in a topic."""
    levels, _, answer = rows
    scored = [one for one in measures if isinstance(one, NuggetMeasure)]
    for measure in {str(one["importance"]): one for one in scored}.values():
        weighs = np.zeros(len(topics), dtype=bool)
        weighs[answer[measure.weights(levels) > 0] % len(topics)] = True
        if lacking := [topic for topic, one in zip(topics, weighs.tolist(), strict=True) if not one]:
            yield (
                f"{plural(len(lacking), 'topic')} without a nugget of positive weight score 0 by {measure}: "
                f"{format_ids(lacking)}."
            )


class _AnswerCoverage(Coverage):
    def notes(self) -> Iterator[str]:
        yield from self.notes_on_qrels


def _coverage(
    of_input: Mapping[str, Collection[tuple[str, str]]],
    runs: Iterable[str],
    topics: Collection[str],
    notes: list[str],
    *,
    is_listed: bool,
) -> Coverage:
    """Return the coverage; an answer is missing if an input lacks it."""
    missing: dict[str, set[str]] = {run: set() for run in runs}
    for name, answers in of_input.items():
        lacks = {}
        source = "nuggets" if is_listed and len(of_input) == 1 else name
        for run, of_run in missing.items():
            if lacking := [topic for topic in topics if (run, topic) not in answers]:
                of_run.update(lacking)
                lacks[run] = (
                    f"lacks {len(lacking)} of the {len(topics)} topics in the {source} (the first is "
                    f"{lacking[0]!r}) and scores 0 on them"
                )
        notes += of_runs(lacks, "lacks topics", "lack topics")
    if others := sorted({topic for _, topic in chain(*of_input.values())} - {*topics}):
        number = plural(len(others), "topic")
        notes.append(f"Answers to {number} that the nuggets lack are left out: {format_ids(others)}.")
    unknown = Counter(run for run, topic in {*chain(*of_input.values())} if topic not in topics)
    found = [
        RunCoverage(len(topics) - len(lacking), unknown[run], None, "", False, (), (np.nan, np.nan))
        for run, lacking in missing.items()
    ]
    return _AnswerCoverage(tuple(missing), tuple(found), len(topics), notes_on_qrels=notes)
