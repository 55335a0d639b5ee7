"""``compare_runs``: find runs that are worse than a baseline, to check changes of a system."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ir_measures.measures import Measure

from ir_graded.errors import InputError
from ir_graded.io.file_text import read_text
from ir_graded.io.lines import fields_of, line_error
from ir_graded.io.named_runs import named_runs
from ir_graded.io.sources import is_path_or_dataset_id
from ir_graded.meta.regressions import Regressions, regressions

from .evaluate import evaluate

#: Number of fields in a line of a file of groups.
_FIELDS = 2


def compare_runs(
    measures: Iterable[str | Measure] | str | Measure,
    qrels: Any,
    baseline: Any,
    runs: Any,
    *,
    groups: Any = None,
    ties: str = "doc_id",
    **options: Any,
) -> Regressions:
    """Find runs that are significantly worse than a baseline, by more than a tolerance.

    A topic that is missing from a run scores 0. See ``meta.regressions`` for the tests.

    Args:
        measures: as for ``evaluate``; higher scores of each must be better.
        qrels: as for ``evaluate``.
        baseline: the run to compare with, in any form that ``evaluate`` takes.
        runs: the candidates, as for ``evaluate``.
        groups: groups of topics, each tested separately in addition to all topics: a file of lines
            ``topic group``, or a mapping from topics to groups.
        ties: as for ``evaluate``.
        options: options of ``meta.regressions``: alpha, tolerance, test, correction, n_resamples and rng.

    Returns:
        The comparison. Its ``passed`` is False if any run is worse by any measure on any group.

    Raises:
        InputError: qrels or a run cannot be scored, a run has the name of the baseline, or a group has fewer
            than two topics.
        FileFormatError: a line of the groups cannot be read.
        ParameterError: an option is out of its range.

    Example:
        >>> import ir_graded
        >>> covid = ir_graded.sample()
        >>> runs = dict(covid.runs)
        >>> best = runs.pop("sab20.1.meta.docs")
        >>> runs = {name: runs[name] for name in ("BBGhelani1", "bm25_baseline")}
        >>> found = ir_graded.compare_runs(["nDCG@10"], covid.qrels, best, runs, tolerance=0.005)
        >>> found.passed
        False
        >>> found.to_frame()[["run", "difference", "p_corrected", "worse"]].round(3)
                     run  difference  p_corrected  worse
        0     BBGhelani1       0.061        0.936  False
        1  bm25_baseline      -0.185        0.001   True
    """
    given = named_runs(baseline)
    if len(given) != 1:
        raise InputError(f"baseline: expected one run, found {len(given)}")
    ((name, run),) = given.items()
    paths = [runs] if is_path_or_dataset_id(runs) else runs
    if is_path_or_dataset_id(run) and isinstance(paths, (list, tuple)):
        # Names distinguish equal file names, such as main/bm25.run and branch/bm25.run.
        named = named_runs([run, *paths])
        name = next(iter(named))
    else:
        name, candidates = "baseline" if name == "run" else name, named_runs(runs)
        if name in candidates:
            raise InputError(f"the baseline and a run are both named {name!r}: rename one")
        named = {name: run, **candidates}
    scores = evaluate(measures, qrels, named, ties=ties)
    return regressions(scores, name, groups=_groups(groups), **options)


def _groups(groups: Any) -> Mapping[Any, Any]:
    """Return the group of each topic, from a mapping or a file of lines ``topic group``."""
    if groups is None or isinstance(groups, Mapping):
        return groups or {}
    path, found = os.fspath(groups), dict[str, str]()
    for line, raw in enumerate(io.BytesIO(read_text(path)), 1):
        fields = fields_of(raw, line, path)
        if not fields:
            continue
        if len(fields) != _FIELDS or fields[0] in found:
            raise line_error(path, line, "expected a topic that has no group yet, and its group", raw)
        found[fields[0]] = fields[1]
    return found
