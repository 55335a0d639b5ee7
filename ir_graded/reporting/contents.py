"""Contents of a report: finished results, how they were computed, and both as data for the page."""

from __future__ import annotations

import io
import json
import os
import platform
import warnings
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from ir_measures.measures import Measure
from ir_measures.measures.base import SumAgg

from ir_graded._utils.later import extra
from ir_graded._utils.version import __version__
from ir_graded.analyses.explain import MOST_OTHERS, FirstDocuments, best_documents, first_documents
from ir_graded.analyses.overlap import OverlapWith
from ir_graded.analyses.score_intervals import OnlyRelevantError, ScoreIntervals, interval_depth, intervals_of
from ir_graded.analyses.score_intervals.imputation import ReciprocalRankFusion
from ir_graded.analyses.unjudged import (
    DEPTHS,
    RunShares,
    Unjudged,
    collect as unjudged_of,
    ranges,
    unjudged_shares,
)
from ir_graded.core.segments import Floats, Ints
from ir_graded.errors import InputError, ParameterError, short_repr, warn_caller
from ir_graded.evaluation.coverage import LOWEST_JUDGED
from ir_graded.evaluation.evaluate import OF_ROWS, Request
from ir_graded.evaluation.provider import GradedEvaluator, native_scorers
from ir_graded.evaluation.scores import Scores, weighted
from ir_graded.io.experiments import load_dataset
from ir_graded.io.run_names import find_run
from ir_graded.io.slices import read_clusters
from ir_graded.io.sources import named_runs
from ir_graded.io.table import column_names
from ir_graded.io.text import line_text, read_text
from ir_graded.io.values import as_text
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import MatchedRun
from ir_graded.measures.classic import scorer_of
from ir_graded.measures.classic.ties import takes_ties, with_ties
from ir_graded.meta import ConfidenceIntervals, Differences, Ranks, confidence_intervals, differences, ranks
from ir_graded.meta.correlation import kendall_tau_b
from ir_graded.meta.differences import p_text
from ir_graded.meta.matrix import is_geometric, number_of
from ir_graded.meta.ranks import TESTS as TESTS_OF_RANKS
from ir_graded.meta.replicates import TooFewTopicsWarning
from ir_graded.meta.topics import Sample, weights_of
from ir_graded.plots.style import plural

#: Rank down to which a page lists documents, and the largest number of documents in all lists.
LIST_DEPTH, _MOST_LISTED = 20, 400_000
#: Characters of a text that a page shows.
_TEXT = 300
#: The least change of a mean that the leaderboard shows.
_LEAST_SHOWN = 0.0005
#: Libraries whose version may change a figure.
_LIBRARIES = ("ir-measures", "numpy", "pandas", "polars", "matplotlib")
_DEPTHS = np.array(DEPTHS, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Lists:
    """The first documents of all runs on all topics.

    Attributes:
        levels: the levels >= 0 that occur, ascending.
        doc_ids: the documents in some list and the best ones, by topic.
        level_of: their levels, by topic; NaN if unjudged.
        rows: positions of the first documents among these, by run and topic, best first.
        adds: contribution of each to the score by the first measure; None if it is not a sum.
        judged: numbers of judged documents by level, highest first, by topic.
        rel: lowest level of the relevant documents.
        best: positions of the best relevant documents, by topic: all that a list can miss first.
        ranks: ranks of the best ones that are not in the list, 0 if not retrieved, by run and topic.
    """

    levels: tuple[float, ...]
    doc_ids: list[list[str]]
    level_of: list[list[float]]
    rows: list[list[list[int]]]
    adds: list[list[Floats]] | None
    judged: list[list[tuple[float, int]]]
    rel: float
    best: list[list[int]]
    ranks: list[list[list[int]]]

    @classmethod
    def of(
        cls,
        judgments: Judgments,
        listed: Sequence[FirstDocuments],
        best: Ints,
        ranks: Sequence[Ints],
        rel: float,
    ) -> Lists | None:
        """Return the lists of runs; None if they are too many for a page.

        ``best`` are the best relevant documents, and ``ranks`` their ranks in each run.
        """
        if sum(one.topic.size for one in listed) > _MOST_LISTED:
            return None
        topics = len(judgments.names)
        number: list[dict[str, int]] = [{} for _ in range(topics)]
        level_of: list[list[float]] = [[] for _ in range(topics)]

        def places(topic: Ints, doc_id: Iterable[str], level: Floats) -> list[list[int]]:
            found: list[list[int]] = [[] for _ in range(topics)]
            for of, doc, one in zip(topic.tolist(), doc_id, level.tolist(), strict=True):
                place = number[of].setdefault(doc, len(number[of]))
                if place == len(level_of[of]):
                    level_of[of].append(one)
                found[of].append(place)
            return found

        ends = np.arange(1, topics)
        rows = [places(one.topic, one.doc_id, one.level) for one in listed]
        adds = [np.split(one.contribution[0], np.searchsorted(one.topic, ends)) for one in listed]
        values, topic = judgments.levels.values, judgments.levels.topic[best]
        ids = [judgments.doc_ids[at] for at in best.tolist()]
        of_best = places(topic, ids, values[judgments.levels.level_index[best]])
        outside = [(rank == 0) | (rank > LIST_DEPTH) for rank in ranks]
        missed = [
            [part[:MOST_OTHERS].tolist() for part in np.split(rank[out], np.searchsorted(topic[out], ends))]
            for rank, out in zip(ranks, outside, strict=True)
        ]
        counts = np.zeros((topics, values.size), dtype=np.int64)
        np.add.at(counts, (judgments.levels.topic, judgments.levels.level_index), 1)
        levels = values[::-1].tolist()
        judged = [
            [(level, number) for level, number in zip(levels, of_topic, strict=True) if level >= 0 < number]
            for of_topic in counts[:, ::-1].tolist()
        ]
        return cls(
            tuple(values[values >= 0].tolist()),
            [[*one] for one in number],
            level_of,
            rows,
            None if all(np.isnan(one.contribution).all() for one in listed) else adds,
            judged,
            rel,
            of_best,
            missed,
        )


@dataclass(frozen=True, eq=False)
class Contents:
    """All results that a report shows."""

    #: With the weights of topics, if any, in their signature.
    scores: Scores
    intervals: ConfidenceIntervals
    baseline: str | None
    tests: Differences | None
    #: Confidence sets for ranks by the first measure; None for one run, and with weights.
    ranks: Ranks | None
    #: Weight of each topic; None without weights.
    weights: Floats | None
    #: The topics with a weight above 0, and their clusters.
    sample: Sample
    rng: int
    command: str
    title: str = ""
    #: The options that do not have their default.
    changed: str = ""
    #: None without qrels.
    unjudged: Unjudged | None = None
    #: None without samples or non-relevant documents.
    imputed: ScoreIntervals | None = None
    #: Why there are samples but no imputed scores; '' without a reason.
    not_imputed: str = ""
    #: By how much the order of tied documents can change the mean, shape ``(measures, runs)``: NaN for
    #: measures without such a range; None without qrels.
    ties: Floats | None = None
    #: Mean rank-biased overlap of each run with the baseline; None without a baseline.
    overlap: list[float] | None = None
    #: The first documents of the runs; None without qrels, and where they are too many for a page.
    lists: Lists | None = None
    #: Text of each topic, and of documents in the lists by id; None if not given.
    queries: list[str] | None = None
    texts: dict[str, str] | None = None

    @property
    def best_first(self) -> list[int]:
        """Numbers of the runs in the order of the leaderboard, by the first measure."""
        return self.intervals.best_first()

    @property
    def shown_ties(self) -> Floats | None:
        """``ties``, if the order of tied documents changes some mean in the digits of the leaderboard."""
        return self.ties if self.ties is not None and (self.ties >= _LEAST_SHOWN).any() else None

    @property
    def steady(self) -> list[str]:
        """The measures whose means the order of tied documents is known not to change."""
        ties = np.empty((0, 0)) if self.ties is None else self.ties
        return [
            name
            for name, of_runs in zip(self.scores.names, ties, strict=False)
            if (of_runs < _LEAST_SHOWN).all()
        ]

    @property
    def imputed_means(self) -> Floats | None:
        """Imputed means with their intervals, of shape (runs, measures, 3); sums over topics become means."""
        if self.imputed is None:
            return None
        numbers = np.where([*map(is_summed, self.scores.measures)], len(self.scores.query_ids), 1)
        return self.imputed.overall.T / numbers[:, np.newaxis]

    def compared_runs(self, measure: int) -> tuple[str, str] | None:
        """Return the best run by a measure, and the baseline or the second best; None if there is one run."""
        means = self.intervals.mean[measure]
        order = [self.scores.runs[number] for number in (-means).argsort(kind="stable")]
        if self.baseline is not None:
            return next(run for run in order if run != self.baseline), self.baseline
        return (order[0], order[1]) if len(order) > 1 else None


def of_scores(
    scores: Scores,
    *,
    baseline: str | None,
    confidence: float,
    command: str,
    title: str,
    **options: Any,
) -> Contents:
    """Compute the results that follow from scores; arguments and errors are those of ``report``."""
    weights, clusters, rng = options["weights"], options["clusters"], options["rng"]
    baseline = _baseline(baseline, dict.fromkeys(scores.runs))
    of_topics = None
    if weights is not None:
        of_topics = weights_of(scores.query_ids, weights)
        # Their source may be a pipe, which is read once.
        options["weights"] = weights = dict(zip(scores.query_ids, of_topics.tolist(), strict=True))
    if clusters is not None:
        options["clusters"] = clusters = read_clusters(clusters)
    intervals = confidence_intervals(scores, confidence=confidence, weights=weights, clusters=clusters)
    alpha = round(1 - confidence, 12)
    tests = None if baseline is None else differences(scores, baseline, alpha=alpha, **options)
    of_ranks = None
    if len(scores.runs) > 1 and weights is None and not is_geometric(scores.names[0]):
        with warnings.catch_warnings():
            # With too few topics, all ranks are possible, which the page shows.
            warnings.simplefilter("ignore", TooFewTopicsWarning)
            test = {"test": options["test"]} if options["test"] in TESTS_OF_RANKS else {}
            of_ranks = ranks(scores[scores.names[0]], alpha=alpha, clusters=clusters, rng=rng, **test)
    scores = weighted(scores, weights)
    sample = Sample.of(scores.query_ids, weights, clusters=clusters)
    return Contents(scores, intervals, baseline, tests, of_ranks, of_topics, sample, rng, command, title)


def collect(  # noqa: PLR0913  # the options of report
    measures: list[Measure],
    qrels: Any,
    runs: Any,
    *,
    baseline: str | None,
    n_samples: int,
    depth: int | None,
    queries: Any = None,
    documents: Any = None,
    **options: Any,
) -> Contents:
    """Compute all results of a report; arguments and errors are those of ``report``."""
    confidence, rng = options["confidence"], options["rng"]
    named = {_writable(name): run for name, run in named_runs(runs).items()}
    baseline = _baseline(baseline, named)
    if depth is not None and not n_samples:
        raise ParameterError(f"{depth=} needs n_samples >= 1")
    last = interval_depth(measures, depth, n_samples, confidence, rng) if n_samples else 0
    request = Request(
        measures, qrels, **{name: options.pop(name, one) for name, (one, *_) in OF_ROWS.items()}
    )
    request.take(named)
    request.reread()
    # The range of a geometric mean is not the mean of the ranges of the topics.
    here = [one for one in native_scorers(measures) if takes_ties(one) and not is_geometric(one)]
    in_orders = [with_ties(measure, order) for measure in here for order in ("optimistic", "pessimistic")]
    evaluator = GradedEvaluator(native_scorers(in_orders), request.judgments)
    first = [scorer_of(measures[0])]
    levels, rel = request.judgments.levels, first[0].lowest_rel if first[0] else 1.0
    rel = rel if 0 < rel < np.inf else 1.0
    relevant = np.flatnonzero((levels.values >= rel)[levels.level_index])
    best = best_documents(request.judgments, relevant, LIST_DEPTH + MOST_OTHERS)
    with_baseline = None if baseline is None else OverlapWith(request.runs[baseline], request.judgments)
    fusion = ReciprocalRankFusion(request.judgments) if n_samples else None

    def others(run: MatchedRun) -> tuple[RunShares, Floats, FirstDocuments, Ints, float]:
        if run.run.content == "table":
            request.origin.add_rows("run", run.name, run.run.table())
        if fusion is not None:
            fusion.add(run)
        spans = dict(zip(here, ranges(here, evaluator.scores_of(run.judged)), strict=True))
        ties = np.array([spans[one].mean() if one in spans else np.nan for one in measures])
        shares = unjudged_shares(request, run, _DEPTHS)
        overlap = np.nan if with_baseline is None else with_baseline.mean(run.run)
        rank = np.zeros(levels.topic.size, dtype=np.int64)
        rank[run.judged.document] = run.judged.rank
        return shares, ties, first_documents(request, run, first, LIST_DEPTH), rank[best], overlap

    scores, found = request.scores(others, LOWEST_JUDGED, progress=None)
    shares, ties, listed, best_ranks, overlap = zip(*found, strict=True)
    contents = of_scores(scores, baseline=baseline, **options)
    lists = Lists.of(request.judgments, listed, best, best_ranks, rel)
    imputed, not_imputed = None, ""
    if fusion is not None:
        try:
            imputed = intervals_of(request, scores, fusion, last, n_samples, confidence, rng)
        except OnlyRelevantError as error:
            not_imputed = str(error)
            warn_caller(not_imputed)
    return replace(
        contents,
        unjudged=unjudged_of(request, _DEPTHS, shares),
        imputed=imputed,
        not_imputed=not_imputed,
        ties=np.array(ties).T,
        overlap=None if baseline is None else [*overlap],
        lists=lists,
        queries=None if queries is None else query_texts(queries, scores.query_ids),
        texts=None if documents is None or lists is None else document_texts(documents, lists),
    )


def query_texts(source: Any, query_ids: Iterable[Any]) -> list[str]:
    """Return the text of each topic, '' without one."""
    columns = ("query_id", "qid"), ("text", "query", "title")
    texts = _texts("queries", source, *columns, lambda dataset: dataset.queries_iter())
    found = [_shortened(texts.get(as_text(query_id), "")) for query_id in query_ids]
    _warn_of_none("queries", found)
    return found


def document_texts(source: Any, lists: Lists) -> dict[str, str]:
    """Return the beginning of the text of each document in the lists that has one."""
    wanted = {doc_id for of_topic in lists.doc_ids for doc_id in of_topic}
    columns = ("doc_id", "docno"), ("text", "body", "title")
    texts = _texts("documents", source, *columns, lambda dataset: dataset.docs_store().get_many_iter(wanted))
    found = {doc_id: _shortened(texts[doc_id]) for doc_id in sorted(wanted & texts.keys())}
    _warn_of_none("documents", found.values())
    return found


def _texts(
    name: str,
    source: Any,
    ids: Sequence[str],
    columns: Sequence[str],
    read: Callable[[Any], Iterable[Any]],
) -> dict[str, str]:
    """Return texts by id from a dict, a frame with some of these columns, a file of lines, or a dataset."""
    if isinstance(source, Mapping):
        return _checked(name, source.items())
    if present := column_names(source):
        of_id, of_text = (next((one for one in names if one in present), None) for names in (ids, columns))
        if of_id is None or of_text is None:
            raise InputError(
                f"{name}: a frame needs the columns {' or '.join(ids)} and {' or '.join(columns)}; it has "
                f"{', '.join(map(str, present))}"
            )
        return _checked(name, zip(list(source[of_id]), list(source[of_text]), strict=True))
    if isinstance(source, (str, os.PathLike)) and Path(source).exists():
        where = os.fspath(source)
        numbered = enumerate(io.BytesIO(read_text(where)), 1)
        lines = ((number, line_text(raw, number, where, "replace")) for number, raw in numbered)
        pairs = [(number, line.split("\t", 1)) for number, line in lines if line.strip()]
        if (wrong := next((number for number, pair in pairs if len(pair) == 1), None)) is not None:
            raise InputError(f"{name}: {source}, line {wrong}: expected an id, a tab and a text")
        return _checked(name, (pair for _, pair in pairs))
    try:
        dataset = load_dataset(source) if isinstance(source, str) else source
        return {str(one[0]): one.default_text() for one in read(dataset)}
    except AttributeError:
        raise InputError(
            f"{name}: cannot read {short_repr(source)}; give a dict from id to text, a frame, or a dataset "
            f"of ir_datasets that has {name}, or its id"
        ) from None


def _checked(name: str, pairs: Iterable[Iterable[Any]]) -> dict[str, str]:
    """Return texts by id. Raises InputError if an id appears twice, or a text is not text."""
    found: dict[str, str] = {}
    for one, text in pairs:
        key = as_text(one)
        if key in found:
            raise InputError(f"{name}: the id {short_repr(one)} appears twice")
        if not isinstance(text, str):
            raise InputError(f"{name}: the text of {short_repr(one)} is {short_repr(text)}; give text")
        found[key] = text
    return found


def _warn_of_none(name: str, found: Iterable[str]) -> None:
    if not any(found):
        warn_caller(f"{name}: no id is among those of the report, so it shows no texts of {name}.")


def _shortened(text: str) -> str:
    """Return the beginning of a text, on one line."""
    words = " ".join(text.split())
    return words if len(words) <= _TEXT else words[: _TEXT - 1] + "…"


def _writable(name: str) -> str:
    """Return a name that can be encoded in UTF-8: file names may contain lone surrogates."""
    return name.encode(errors="backslashreplace").decode()


def _baseline(baseline: str | None, runs: Mapping[str, Any]) -> str | None:
    """Return the name of the baseline, given as a name, a path or either without its extension."""
    if baseline is None:
        return None
    found = find_run(_writable(str(baseline)), runs) or [*runs][number_of(baseline, [*runs], "baseline")]
    if len(runs) == 1:
        raise ParameterError(f"baseline={baseline!r} is the only run; add a run to compare with it")
    return found


def versions() -> list[tuple[str, str]]:
    """Return names and versions of the package, of Python and of the libraries that affect numbers."""
    of_libraries = [(name, version(name)) for name in _LIBRARIES]
    return [("ir_graded", __version__), ("Python", platform.python_version()), *of_libraries]


def is_summed(measure: Measure) -> bool:
    """Return whether ir-measures sums a measure over topics, while a report shows means."""
    return isinstance(measure.aggregator(), SumAgg)


def note(measure: Measure) -> dict[str, Any]:
    """Return the description of a measure, and how it was computed."""
    return {
        "name": str(measure),
        "title": str(getattr(measure, "PRETTY_NAME", None) or measure.NAME),
        "meaning": " ".join(str(getattr(measure, "SHORT_DESC", None) or "").split()),
        "source": str(getattr(measure, "SOURCE", None) or ""),
        "provider": "ir-measures" if scorer_of(measure) is None else "ir_graded",
        "summed": is_summed(measure),
        "geometric": is_geometric(measure),
    }


#: Digits of scores of topics and of what documents add to them, of means, and of shares.
_SCORE, _MEAN, _SHARE = 5, 6, 4
#: Rank down to which unjudged documents are counted.
UNJUDGED_AT = 10


def packed(contents: Contents) -> str:
    """Return the data as JSON, compressed and in base64; equal contents give equal text."""
    text = json.dumps(page_data(contents), separators=(",", ":"), allow_nan=False)
    return b64encode(zlib.compress(text.encode("utf-8", errors="backslashreplace"), 9)).decode()


def page_data(contents: Contents) -> dict[str, Any]:
    """Return the data of the page. Arrays are by measure, run and topic, in the order of the scores."""
    scores, intervals, tests = contents.scores, contents.intervals, contents.tests
    topics = len(scores.query_ids)
    alpha = 1 - intervals.confidence
    low, high = (np.where(intervals.too_few, np.nan, ends) for ends in (intervals.low, intervals.high))
    found: dict[str, Any] = {
        "runs": scores.runs,
        "measures": scores.names,
        "topics": [*map(as_text, scores.query_ids)],
        "queries": contents.queries,
        "texts": contents.texts,
        "level": f"{100 * intervals.confidence:g} %",
        "baseline": None if contents.baseline is None else scores.runs.index(contents.baseline),
        "scores": rounded(scores.values, _SCORE),
        "mean": rounded(intervals.mean, _MEAN),
        "low": rounded(low, _MEAN),
        "high": rounded(high, _MEAN),
        "geometric": [*map(is_geometric, scores.names)],
        "tau": _agreement(intervals.mean),
        "weights": None if contents.weights is None else rounded(contents.weights, _MEAN),
        "t": None,
        "pairWords": "With weights or clusters of topics, this view has no intervals: use meta.differences.",
        "corrected": None,
        "unjudged": None,
        "ties": None if (ties := contents.shown_ties) is None else rounded(ties, _MEAN),
        "rbo": None if contents.overlap is None else rounded(np.array(contents.overlap), _SHARE),
        "ranks": None,
        "lists": None if contents.lists is None else _lists(contents.lists),
        "sign": None,
    }
    if contents.weights is None and contents.sample.cluster is None:
        found["t"] = -float(extra("scipy.special").stdtrit(topics - 1, alpha / 2))
        found["pairWords"] = (
            "The interval is that of the paired t test for this pair and measure, without correction. Of "
            "many pairs, some seem to differ by chance: the leaderboard and meta.differences correct for it."
        )
    if tests is not None:
        found["pairWords"] += " Verdict and p of a run and the baseline are those of the leaderboard."
    if contents.unjudged is not None and UNJUDGED_AT in contents.unjudged.depths:
        at = contents.unjudged.depths.index(UNJUDGED_AT)
        found["unjudged"] = rounded(contents.unjudged.share[:, at], _SHARE)
    if contents.ranks is not None:
        of, place = contents.ranks, {run: at for at, run in enumerate(contents.ranks.run)}
        order = [place[run] for run in scores.runs]
        ends = {"low": of.rank_low, "high": of.rank_high, "first": of.tied_first}
        found["ranks"] = {name: np.asarray(values)[order].tolist() for name, values in ends.items()}
    if tests is not None:
        found |= _tests(contents)
    return found


def rounded(values: Floats, digits: int) -> Any:
    """Return rounded values as nested lists, None for NaN."""
    cells = np.round(values, digits).astype(object)
    cells[~np.isfinite(values)] = None
    return cells.tolist()


def _agreement(mean: Floats) -> list[list[float | None]]:
    """Return Kendall's tau-b of the means of the runs by each pair of measures; None where not defined."""
    numbers = range(len(mean))
    several = mean.shape[1] > 1
    tau = np.array(
        [[kendall_tau_b(mean[a], mean[b]) if a < b and several else np.nan for b in numbers] for a in numbers]
    )
    both: list[list[float | None]] = rounded(np.fmax(tau, tau.T), _SHARE)
    return both


def _tests(contents: Contents) -> dict[str, Any]:
    """Return differences from the baseline, p-values as text, and signs of significant differences."""
    scores, tests = contents.scores, contents.tests
    assert tests is not None  # noqa: S101  # for the type checker
    shape = len(scores.names), len(scores.runs)
    difference, detectable = np.full(shape, np.nan), np.full(shape, np.nan)
    sign, p = np.zeros(shape, dtype=np.int64), np.full(shape, "", dtype=object)
    at = (
        [scores.names.index(name) for name in tests.measure],
        [scores.runs.index(str(run)) for run in tests.run],
    )
    difference[at], p[at] = tests.difference, [*map(p_text, tests.p_corrected.tolist())]
    sign[at] = np.where(tests.significant, np.sign(tests.gain), 0)
    if tests.minimum_detectable is not None:
        detectable[at] = tests.minimum_detectable
    number = plural(int(tests.tests[0]), "run")
    return {
        "corrected": "uncorrected" if tests.correction == "none" else f"corrected for {number}",
        "difference": rounded(difference, _MEAN),
        "p": p.tolist(),
        "sign": sign.tolist(),
        "detectable": rounded(detectable, _SHARE),
    }


def _lists(lists: Lists) -> dict[str, Any]:
    """Return first and best documents: by topic ids and levels, by run and topic positions among these."""
    levels = [float(level) for level in lists.levels]
    return {
        "levels": [int(level) if level.is_integer() else level for level in levels],
        "docs": lists.doc_ids,
        "level": [
            [-1 if np.isnan(level) else levels.index(level) for level in of_topic]
            for of_topic in lists.level_of
        ],
        "rows": lists.rows,
        "adds": lists.adds and [[rounded(of_topic, _SCORE) for of_topic in of_run] for of_run in lists.adds],
        "judged": lists.judged,
        "depth": LIST_DEPTH,
        "rel": lists.rel,
        "best": lists.best,
        "ranks": lists.ranks,
    }
