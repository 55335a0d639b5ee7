"""Data of a report for the script of the page, from which it draws all views."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np

from ir_graded._utils.extras import extra
from ir_graded.core.segments import Floats
from ir_graded.io.values import as_text
from ir_graded.meta.correlation import kendall_tau_b
from ir_graded.meta.differences import p_text
from ir_graded.meta.matrix import is_geometric
from ir_graded.plots.style import plural

from .contents import Contents, Lists

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
        "low": rounded(intervals.low, _MEAN),
        "high": rounded(intervals.high, _MEAN),
        "geometric": [*map(is_geometric, scores.names)],
        "tau": _agreement(intervals.mean),
        "weights": None if contents.weights is None else rounded(contents.weights, _MEAN),
        "t": None,
        "pairWords": "With weights of topics, this view has no intervals: use meta.differences.",
        "corrected": None,
        "unjudged": None,
        "ties": None if contents.ties is None else rounded(contents.ties, _MEAN),
        "rbo": None if contents.overlap is None else rounded(np.array(contents.overlap), _SHARE),
        "ranks": None,
        "lists": None if contents.lists is None else _lists(contents.lists),
        "sign": None,
    }
    if contents.weights is None:
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
    sign[at] = np.where(tests.significant, np.sign(tests.difference), 0)
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
    """Return the first documents: by topic ids and levels, by run and topic positions among these."""
    levels = [float(level) for level in lists.levels]
    return {
        "levels": [int(level) if level.is_integer() else level for level in levels],
        "docs": lists.doc_ids,
        "level": [
            [-1 if np.isnan(level) else levels.index(level) for level in of_topic]
            for of_topic in lists.level_of
        ],
        "rows": lists.rows,
        "adds": _sparse(lists.adds),
        "judged": lists.judged,
    }


def _sparse(adds: Sequence[Sequence[Floats]] | None) -> Any:
    return None if adds is None else [[rounded(of_topic, _SCORE) for of_topic in of_run] for of_run in adds]
