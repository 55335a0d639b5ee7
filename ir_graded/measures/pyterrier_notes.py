"""Notes for PyTerrier, which calls ir-measures for each run and batch, and averages scores itself.

Nothing that it passes links the calls of an experiment, so ``NOTES`` remembers the preceding one: its scale,
which parts of one collection must share, and its qrels, because a note is due once. No score depends on it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from weakref import ref

from ir_measures.measures import Measure
from ir_measures.measures.base import SumAgg

from ir_graded.core.segments import Floats
from ir_graded.errors import MOST_IDS, ParameterError, caller, warn_caller

from .base import MEANS, Scorer
from .parsing import parse_trec_measure

#: Names of columns that PyTerrier sums over the topics; it shows the mean of all others.
_SUMMED = {"num_q", "num_rel", "num_ret", "num_rel_ret", "NumQ", "NumRel", "NumRet", "NumRelRet"}


def calls() -> bool:
    """Return whether PyTerrier calls the package, by ir-measures or itself."""
    return caller("ir_measures")[0] == "pyterrier"


def _experiment() -> Mapping[str, Any]:
    """Return the arguments of the ``pyterrier.Experiment`` that calls; empty if none does."""
    frame = inspect.currentframe()
    while frame is not None:
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if (package, frame.f_code.co_name) == ("pyterrier", "Experiment"):
            return frame.f_locals
        frame = frame.f_back
    return {}


class Notes:
    """Warnings for PyTerrier, with what they need to know of its preceding call."""

    def __init__(self) -> None:
        #: Measures, highest level, end topics and first row of the preceding call.
        self.preceding: tuple[frozenset[Measure], float, set[str], Any] | None = None
        #: The qrels of the last experiment that was warned, by the reason.
        self._warned: dict[str, ref[Any]] = {}

    def _is_first(self, reason: str, options: Mapping[str, Any]) -> bool:
        """Return whether an experiment has not been warned for this reason."""
        before, self._warned[reason] = self._warned.get(reason), ref(options["qrels"])
        return before is None or before() is not options["qrels"]

    def on_parts(
        self, scorers: Mapping[Measure, Scorer], topics: Sequence[str], levels: Floats, qrels: Any
    ) -> None:
        """Warn if measures take another scale from these qrels than from other topics in the preceding call.

        PyTerrier passes pandas frames, whose labels show that they may be parts of one.
        """
        measures = [measure for measure, scorer in scorers.items() if scorer.infers_scale]
        # Without a level above 0, all scores are 0 on any scale.
        has_scale = measures and hasattr(qrels, "iloc") and levels.size and levels[-1] > 0
        if not has_scale or not calls():
            return
        here, ends, row = frozenset(measures), {topics[0], topics[-1]}, qrels.index[0]
        preceding, self.preceding = self.preceding, (here, float(levels[-1]), ends, row)
        if preceding is None:
            return
        before, highest, other_ends, other_row = preceding
        # Parts of one collection have other topics, and rows of one frame have different labels.
        if before != here or highest == levels[-1] or ends & other_ends or row == other_row:
            return
        low, high = sorted((highest, float(levels[-1])))
        names = ", ".join(map(str, measures[:MOST_IDS])) + (" ..." if len(measures) > MOST_IDS else "")
        takers = [measure for measure in measures if "max_rel" in measure.SUPPORTED_PARAMS]
        example = f": for example {takers[0](max_rel=high)}" if takers else " of the base measure"
        warn_caller(
            f"{names}: the highest level of the qrels, to which gains are relative, is {low:g} in one and "
            f"{high:g} in another of two successive calls with other topics, so their scores are on "
            "different scales. If the topics are of one collection (PyTerrier's batch_size evaluates it in "
            f"parts), set the highest level of its scale with max_rel{example}"
        )

    def on_averages(self, measures: Iterable[Measure]) -> None:
        """Warn of sums, and raise ParameterError for other aggregates, that would be replaced by means.

        ``pyterrier.Experiment`` averages the scores of topics itself; its other functions ask the measure.
        """
        aggregators = {measure: measure.aggregator() for measure in measures}
        others = {one: found for one, found in aggregators.items() if type(found) not in MEANS}
        options = _experiment() if others and calls() else {}
        if not options or (options["perquery"] is True and options["save_dir"] is None):
            return
        summed = [one for one in options["eval_metrics"] if isinstance(one, str) and one in _SUMMED]
        named = {parse_trec_measure(one)[0] for one in summed}
        replaced = [one for one in others if one not in named and str(one) not in _SUMMED]
        way_out = "use perquery=True without save_dir, and ir_graded.Scores.from_frame(...).mean()"
        for measure in replaced:
            if not isinstance(others[measure], SumAgg):
                raise ParameterError(
                    f"{measure} is not the arithmetic mean of the topics, which pyterrier.Experiment would "
                    f"show: {way_out}, or ir_graded.evaluate, with topics= for pipelines"
                )
        if replaced and self._is_first("sums", options):
            warn_caller(
                f"{', '.join(map(str, replaced))}: a sum over the topics, but pyterrier.Experiment shows the "
                f"mean; for the sum, {way_out}"
            )

    def on_unjudged(self, clause: str) -> None:
        """Warn of a run without judged documents; ``clause`` has its documents."""
        options = _experiment()
        in_batches = options.get("batch_size") is not None
        if clause and (not in_batches or self._is_first("nothing is judged", options)):
            where = "on the topics of a batch" if in_batches else f"({clause})"
            warn_caller(f"The run has no judged document {where}.")


NOTES = Notes()
