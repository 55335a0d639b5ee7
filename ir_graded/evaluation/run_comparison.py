"""``compare_runs``: find runs that are worse than a baseline, to check changes of a system."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_graded.core.segments import Bools, Floats, Ints
from ir_graded.errors import InputError, ParameterError, did_you_mean, format_ids
from ir_graded.io.run_names import find_run
from ir_graded.io.sources import Source, named_runs
from ir_graded.matching.match import MatchedRun
from ir_graded.measures.classic import scorer_of
from ir_graded.measures.parsing import read_measures
from ir_graded.meta.differences import Differences, differences, with_equal_rankings
from ir_graded.meta.matrix import DECIMALS
from ir_graded.meta.options import DEEPEST
from ir_graded.meta.topics import ALL_TOPICS, topics_by_slice

from .coverage import LOWEST_JUDGED, mean_of_known, unjudged_share
from .evaluate import Request, in_order, order_of_measures

#: Largest share of the topics that a baseline may lack.
MOST_MISSING = 0.1
#: Depth of the share of judged documents for measures without a cutoff.
_DEPTH = 10
#: Smallest difference of the shares of judged documents that a note names.
_LEAST_NOTED = 0.01


def compare_runs(  # noqa: PLR0913  # as evaluate
    measures: Iterable[str | Measure] | str | Measure,
    qrels: Any,
    baseline: Any,
    runs: Any,
    *,
    slices: Any = None,
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
    **options: Any,
) -> Differences:
    """Find runs that are worse than a baseline, equivalent or better, as a gate for changes of a system.

    A topic that is missing from a run scores 0. The result is that of ``meta.differences`` with
    ``alternative='less'`` and ``family='all'``, so all tests of a call are corrected together, and all
    intervals have the confidence 1 - 2 alpha, by default 90%. Its ``p`` and ``p_corrected`` are those of a
    loss, also of a run that is better. ``judged`` and ``baseline_judged`` of the result are the mean shares
    of judged documents, as 1 minus the share of ``unjudged``; where they differ by .01 or more, ``notes``
    names measures that leave unjudged documents out. ``unseen`` is NaN where a run ranks the same documents
    as the baseline on all topics of a slice, down to the cutoff of the measure.

    Args:
        measures: as for ``evaluate``; higher scores of each must be better, unlike those of NumRel.
        qrels: as for ``evaluate``.
        baseline: the run to compare with, in any form that ``evaluate`` takes, or the name or path of one of
            the runs, also without its extension.
        runs: the candidates, as for ``evaluate``.
        slices: slices of topics, as for ``meta.differences``. In a file, blanks, tabs or commas separate the
            fields; where topics hold blanks, it must be a tab or a comma. A header that begins with
            ``query_id`` is skipped.
        ties: as for ``evaluate``; also the next nine.
        ranks: see there.
        intents: see there.
        nuggets: see there.
        lengths: see there.
        beyond: see there.
        duplicates: see there.
        ignore_identical_ids: see there.
        without_relevant: see there; the topics left out are in no slice and have no weight.
        topics: see there.
        options: options of ``meta.differences``: test, correction, alpha, tolerance, weights, clusters,
            minimum, n_resamples and rng.

    Returns:
        The comparison. Its ``passed`` is False if any run is worse by any measure on any slice, or if a mean
        is below its ``minimum``.

    Raises:
        InputError: qrels or a run cannot be scored, a run has the name of the baseline, the baseline is the
            only run or lacks more than 10% of the topics of the qrels (it does not lack those with an empty
            dict, an empty list of ids or a response without hits), or a slice has fewer than two topics.
        FileFormatError: a line of the slices cannot be read.
        ParameterError: an option is out of its range, higher scores of a measure are not better, or the
            tolerance is not below the mean of the baseline.

    Warns:
        CoverageWarning: as for ``evaluate`` and ``meta.differences``.

    Example:
        >>> import ir_graded
        >>> covid = ir_graded.sample()
        >>> runs = dict(covid.runs)
        >>> best = runs.pop("sab20.1.meta.docs")
        >>> runs = {name: runs[name] for name in ("BBGhelani1", "bm25_baseline")}
        >>> found = ir_graded.compare_runs(["nDCG@10"], covid.qrels, best, runs, tolerance=0.005)
        >>> found.passed
        False
        >>> found.to_frame()[["run", "difference", "low", "verdict"]].round(3)
                     run  difference    low    verdict
        0     BBGhelani1       0.061 -0.005  not worse
        1  bm25_baseline      -0.185 -0.261      worse
    """
    read = in_order(read_measures(measures), order_of_measures(ties), ranks)
    check_higher_is_better(read)
    name, named = named_with_baseline(baseline, runs)
    given = {"intents": intents, "nuggets": nuggets, "lengths": lengths, "beyond": beyond, "topics": topics}
    given |= {"ignore_identical_ids": ignore_identical_ids, "without_relevant": without_relevant}
    request = Request(read, qrels, named, ties=ties, ranks=ranks, duplicates=duplicates, **given)
    if any(run.is_read_once for run in request.runs.values()):
        request.reread()  # rankings may be compared after they are scored
    depths = np.array([measure.params.get("cutoff") or _DEPTH for measure in read], dtype=np.int64)

    def judged_share(matched: MatchedRun) -> tuple[Floats, Bools]:
        judged = matched.judged.from_level(request.judgments.levels, LOWEST_JUDGED)
        lacks = (matched.judged.n_retrieved == 0) & ~matched.has_no_document(request.judgments.names)
        return 1 - unjudged_share(judged, depths), lacks

    at = [*named].index(name)
    parts = topics_by_slice(tuple(request.judgments.query_ids), slices)

    def check(found: list[tuple[Floats, Bools]]) -> None:
        lacks = found[at][1]
        for part, members in parts.items():
            missing = members[lacks[members]]
            if missing.size > MOST_MISSING * members.size:
                where = "the qrels" if part == ALL_TOPICS else f"slice {part!r}"
                raise InputError(
                    f"the baseline {name!r} lacks {missing.size} of the {members.size} topics of {where} "
                    f"(the first is {request.judgments.names[missing[0]]!r}); no run could be worse on them, "
                    f"so it must have at least {1 - MOST_MISSING:.0%}: add them, or leave them out of the "
                    "qrels"
                )

    scores, of_runs = request.scores(judged_share, LOWEST_JUDGED, rows=False, check=check, progress=None)
    found = differences(scores, name, alternative="less", family="all", slices=slices, **options)
    # Shape (slices, measures, runs), as the rows of the result.
    tested = [number for number, measure in enumerate(read) if str(measure) in found.measure]
    read, depths = [read[number] for number in tested], depths[tested]
    shares = np.array([share[tested] for share, _ in of_runs])
    judged = np.stack([mean_of_known(shares[:, :, topics]).T for topics in parts.values()])
    of_others = np.delete(judged, at, axis=2)
    of_baseline = np.broadcast_to(judged[:, :, [at]], of_others.shape)
    found = replace(found, judged=of_others.reshape(-1), baseline_judged=of_baseline.reshape(-1))
    found = with_equal_rankings(found, _equal_rankings(found, name, request, read, parts))
    return replace(found, notes=(*found.notes, *_notes_on_judged(found, read, depths.tolist())))


def _equal_rankings(
    found: Differences, baseline: str, request: Request, measures: list[Measure], parts: Mapping[str, Ints]
) -> Bools:
    """Return in which comparisons with an unseen loss the run ranks the documents of the baseline."""
    from ir_graded.matching.tables import first_differences, ranked_documents

    cutoff = {str(measure): measure.params.get("cutoff") or DEEPEST for measure in measures}
    equal = np.isnan(found.unseen)
    undecided = np.flatnonzero(~equal).tolist()
    if not undecided:
        return equal
    of_baseline, first = ranked_documents(request.judgments, request.runs[baseline].table()), {}
    for run in dict.fromkeys(found.run[at] for at in undecided):
        of_run = ranked_documents(request.judgments, request.runs[str(run)].table())
        first[run] = first_differences(request.judgments, of_run, of_baseline)
    for at in undecided:
        equal[at] = (first[found.run[at]][parts[found.slice[at]]] > cutoff[found.measure[at]]).all()
    return equal


def check_higher_is_better(measures: list[Measure]) -> None:
    """Raise ParameterError for a measure by which no run can be worse, such as NumRel."""
    for measure in measures:
        scorer = scorer_of(measure)
        if scorer is not None and not (scorer.higher_is_better or scorer.LOWER_IS_BETTER):
            reason = scorer.lacks.get("nothing", "")
            raise ParameterError(
                f"{measure}: no run can be worse by it, because a higher score is not better"
                f"{reason and f' ({reason})'}; use a measure of rankings, such as nDCG@10"
            )


def _notes_on_judged(found: Differences, measures: list[Measure], depths: Sequence[int]) -> Iterable[str]:
    """Yield a sentence if runs and baseline differ in their shares of judged documents."""
    depth_of = dict(zip(map(str, measures), depths, strict=True))
    of_name = {str(one): one for one in measures}

    def is_condensed(measure: Measure) -> bool:
        scorer = scorer_of(measure)
        return bool(measure.params.get("judged_only")) or (scorer is not None and scorer.NEEDS_ROWS)

    # Unjudged documents have no effect on condensed lists.
    # Neither do they on measures of text: what is not highlighted is not relevant.
    condensed = np.array([is_condensed(of_name[name]) for name in found.measure])
    difference = np.nan_to_num((found.judged - found.baseline_judged).round(DECIMALS))
    differs = (np.abs(difference) >= _LEAST_NOTED) & ~condensed
    if not differs.any():
        return
    most = int(np.argmax(np.abs(np.where(differs, difference, 0))))
    where = "" if found.slice[most] == ALL_TOPICS else f" on slice {found.slice[most]!r}"
    affected = [
        of_name[name] for name in dict.fromkeys(found.measure[row] for row in np.flatnonzero(differs))
    ]
    others = [str(one(judged_only=True)) for one in affected if "judged_only" in one.SUPPORTED_PARAMS]
    second = f"; for a second look without them, use {' '.join(others)}" if others else ""
    yield (
        f"The share of judged documents differs in {differs.sum()} of {differs.size} comparisons, most in "
        f"judged@{depth_of[found.measure[most]]} for {found.measure[most]}{where}: "
        f"{found.judged[most]:.4g} of {found.run[most]}, {found.baseline_judged[most]:.4g} of "
        f"{found.baseline[most]}. This affects measures that count unjudged documents as not "
        f"relevant{second}."
    )


def named_with_baseline(baseline: Any, runs: Any) -> tuple[str, dict[str, Source]]:
    """Return the name of the baseline, and all runs with it by name."""
    candidates = named_runs(runs)
    given = named_runs(baseline)
    if len(given) != 1:
        raise InputError(f"baseline: expected one run, found {len(given)}")
    ((name, run),) = given.items()
    has_name = not isinstance(baseline, (str, os.PathLike))
    same = [] if has_name and not run.exists else _same(run, candidates)
    if same and len(same) == len(candidates):
        raise InputError(f"{same[0]} is both the baseline and the only run; give another run to compare")
    if same and not has_name:
        return same[0], {name: run for name, run in candidates.items() if name not in same[1:]}
    if same:
        candidates = {other: run for other, run in candidates.items() if other not in same}
    if not has_name:
        _check_known(run, [*candidates])
        # Names distinguish equal file names, such as main/bm25.run and branch/bm25.run.
        if not isinstance(runs, Mapping) and all(one.path is not None for one in candidates.values()):
            named = named_runs([run.path, *(one.path for one in candidates.values())])
            return next(iter(named)), named
    name = "baseline" if name == "run" else name
    if name in candidates:
        raise InputError(f"the baseline and a run are both named {name!r}: rename one")
    return name, {name: run, **candidates}


def _same(baseline: Source, runs: Mapping[str, Source]) -> list[str]:
    """Return the names of the runs that are the baseline, by its file, or by its name if it is not a file."""
    path = str(baseline.path)
    if not baseline.exists:
        found = find_run(path, runs)
        return [] if found is None else [found]
    return [name for name, run in runs.items() if run.exists and Path(run.given).samefile(path)]


def _check_known(baseline: Source, runs: list[str]) -> None:
    """Raise InputError for a name without a folder that is neither a file, a dataset nor a run."""
    if os.sep in str(baseline.path) or baseline.is_known:
        return
    there = did_you_mean(baseline.path, runs) or f"the runs are {format_ids(runs)}"
    raise InputError(
        f"the baseline {baseline.path!r} is not a file, a dataset id of ir_datasets or the name of a run; "
        f"{there}"
    )
