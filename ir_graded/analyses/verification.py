"""``verify``: recompute saved scores and their signature, and say what differs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ir_graded._utils.results import Result
from ir_graded.core.facets import POSITION
from ir_graded.errors import ParameterError
from ir_graded.evaluation.evaluate import OF_ROWS, evaluate
from ir_graded.evaluation.scores import Scores, read_scores, saved_signature
from ir_graded.evaluation.signature import MIXED, Signature

#: Words for the result of a comparison.
AGREES, DIFFERS, NOT_KNOWN, MISSING, OTHER = "agrees", "differs", "not known", "missing", "not saved"


@dataclass(frozen=True, eq=False, repr=False)
class Verification(Result):
    """Result of ``verify``, a row per compared item.

    Attributes:
        item: what was compared: a version, an option, ``topics``, ``seed``, ``qrels``, ``run``, ``score`` ...
        run: the run; empty for items that are not of one run.
        measure: the measure of an item ``score``.
        query_id: the topic with the largest difference of an item ``score``.
        status: 'agrees', 'differs', 'not known' (a hash is not known, or the file lacks the field), 'missing'
            (a saved run was not given) or 'not saved' (a given run).
        saved: the saved value.
        found: the recomputed value.
        note: sentence on the difference, such as the number of topics that differ; may be empty.
    """

    COLUMNS: ClassVar = ("item", "run", "measure", "query_id", "status", "saved", "found", "note")

    item: tuple[str, ...]
    run: tuple[str, ...]
    measure: tuple[str, ...]
    query_id: tuple[str, ...]
    status: tuple[str, ...]
    saved: tuple[Any, ...]
    found: tuple[Any, ...]
    note: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether all items agree."""
        return {*self.status} <= {AGREES}

    def _title(self) -> str:
        return f"{type(self).__name__}(agrees={self.agrees})"


def verify(  # noqa: PLR0913  # options of evaluate
    saved: str | os.PathLike[str] | Scores,
    qrels: Any,
    runs: Any,
    *,
    ties: str | None = None,
    ranks: str | None = None,
    intents: Any = None,
    nuggets: Any = None,
    lengths: Any = None,
    beyond: str | None = None,
) -> Verification:
    """Recompute saved scores and their signature, and compare them with what was saved.

    A changed label changes the hash of the qrels, a changed score of a document that of its run; which row
    changed cannot be known from a hash. Recomputed scores must be equal to the last bit. The signature of a
    file must also agree with the scores in it: with their measures, topics and runs.

    Args:
        saved: scores with a signature: the file of ``ir_graded evaluate --save``, the JSON of
            ``Scores.to_json`` in a file, or ``Scores``.
        qrels: the qrels, in any form of ``evaluate``.
        runs: the runs, in any form of ``evaluate``, with the saved ``duplicates`` and
            ``ignore_identical_ids``. A run with another name but equal rows is the saved run.
        ties: order of documents with equal scores; by default the saved one.
        ranks: ranks of a run with passages; by default the saved ones.
        intents: probabilities and types of the intents, as in ``evaluate``; files are not part of what was
            saved.
        nuggets: lists of nuggets, as in ``evaluate``.
        lengths: lengths of documents, as in ``evaluate``.
        beyond: passages that end behind their document; by default the saved word.

    Returns:
        The result of each comparison; ``agrees`` is true if all agree.

    Raises:
        FileFormatError: the file holds no saved scores, or a run, measure or topic twice.
        ParameterError: the saved scores are estimates from a sample of judgments.
        InputError: the qrels or a run cannot be scored; other errors are as in ``evaluate``.

    Example:
        >>> import ir_graded
        >>> qrels, runs = {"1": {"a": 2, "b": 1}}, {"bm25": {"1": {"b": 2.0, "a": 1.0}}}
        >>> scores = ir_graded.evaluate("Q", qrels, runs)
        >>> ir_graded.verify(scores, qrels, runs).agrees
        True
        >>> found = ir_graded.verify(scores, {"1": {"a": 1, "b": 1}}, runs).to_frame()
        >>> found.query("status != 'agrees'")[["item", "run", "measure", "query_id", "saved", "found"]]
             item   run measure query_id             saved             found
        13  qrels                         9509509e40c943c6  d72b8641ff6c4088
        15  score  bm25       Q        1          0.833333               1.0
    """
    scores = saved if isinstance(saved, Scores) else read_scores(saved)
    was = saved_signature(scores)
    saved_options = was.get("options", {})
    if saved_options.get("estimates"):
        raise ParameterError("verify recomputes scores of evaluate, but the saved scores are estimates")
    given = {"ties": ties, "ranks": ranks, "beyond": beyond}
    given |= dict.fromkeys(OF_ROWS)
    chosen = {name: saved_options.get(name) if one is None else one for name, one in given.items()}
    by_default = {None, "default", POSITION.name, MIXED}
    chosen = {name: one for name, one in chosen.items() if one not in by_default}
    options: dict[str, Any] = {**chosen, "intents": intents, "nuggets": nuggets, "lengths": lengths}
    again = evaluate(scores.measures, qrels, runs, progress=False, **options)
    now = again.signature
    before, precision = saved_options.get("precision"), now.options["precision"]
    note = f"scores of documents were compared and hashed as {before}, now as {precision}"
    note = "" if before in {None, precision} else note
    own = scores.signature
    rows = [*_of_names("version of ", was.get("versions", {}), now.versions)]
    before, found, of_scores = (
        one and " ".join(one) for one in (was.get("measures"), now.measures, own.measures)
    )
    rows.append(_row("measures", before, found, own=of_scores))
    before = f"{was['topics']}:{was['topics_hash']}" if {"topics", "topics_hash"} <= {*was} else None
    found, of_scores = (f"{one.topics}:{one.topics_hash}" for one in (now, own))
    rows.append(_row("topics", before, found, own=of_scores))
    # Scores of topics have neither.
    rows += (_row(name, str(was[name]) if name in was else None, "None") for name in ("seed", "weights"))
    rows += _of_names("", saved_options, now.options, note)
    rows.append(_row("qrels", was.get("qrels"), now.qrels))
    rows += _of_runs(scores, was.get("runs", {}), again, now, note)
    return Verification(*map(tuple, zip(*rows, strict=True)))


#: Values of a row of ``Verification``.
_Row = tuple[str, str, str, str, str, Any, Any, str]


def _row(item: str, saved: Any, found: Any, run: str = "", note: str = "", own: Any = None) -> _Row:
    """Return a row. ``own`` is the value of the saved scores, if it is not only in their signature."""
    saved = saved if own in {None, found} else own
    known = saved is not None and found is not None
    status = NOT_KNOWN if not known else AGREES if saved == found else DIFFERS
    return item, run, "", "", status, saved, found, note


def _of_names(
    prefix: str,
    saved: Mapping[str, Any],
    found: Mapping[str, Any],
    on_precision: str = "",
) -> Iterator[_Row]:
    for name in {**found, **saved}:
        note = on_precision if name == "precision" else ""
        yield _row(f"{prefix}{name}", saved.get(name), found.get(name), note=note)


def _of_runs(
    scores: Scores, was: Mapping[str, str | None], again: Scores, now: Signature, on_precision: str
) -> Iterator[_Row]:
    """Yield rows on each run, and on each measure with another score."""
    left = [run for run in again.runs if run not in scores.runs]
    topics = {str(one): at for at, one in enumerate(again.query_ids)}
    shared = [(at, topics[str(one)]) for at, one in enumerate(scores.query_ids) if str(one) in topics]
    at_saved, at_found = np.array(shared, dtype=np.int64).reshape(-1, 2).T
    for number, run in enumerate(scores.runs):
        name, rows = run, was.get(run)
        if name not in now.runs:
            same = [one for one in left if rows is not None and now.runs[one] == rows]
            if not same:
                yield "run", run, "", "", MISSING, rows, None, "the run was not given"
                continue
            left.remove(name := same[0])
        note = f"given as {name}" if name != run else on_precision if rows != now.runs[name] else ""
        yield _row("run", rows, now.runs[name], run, note)
        for measure, saved, found in zip(
            scores.names,
            scores.values[:, number, at_saved],
            again.values[:, again.runs.index(name), at_found],
            strict=True,
        ):
            apart = np.abs(saved - found)
            apart[np.isnan(saved) != np.isnan(found)] = np.inf
            if not (differing := np.count_nonzero(apart > 0)):
                continue
            at = int(np.nanargmax(apart))
            note = f"largest difference {apart[at]:g} (topics that differ: {differing})"
            topic = str(scores.query_ids[int(at_saved[at])])
            yield "score", run, measure, topic, DIFFERS, float(saved[at]), float(found[at]), note
    for run in (one for one in was if one not in scores.runs):
        yield "run", run, "", "", DIFFERS, was[run], None, "only the signature has this run"
    for run in left:
        yield "run", run, "", "", OTHER, None, now.runs[run], "the saved scores have no such run"
