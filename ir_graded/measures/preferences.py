"""Preferences between judged documents, for incomplete qrels: the variants of bpref and rpref."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ir_graded.core import segments
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.tie_means import TiedDocuments
from ir_graded.core.views import Cut, View, Views
from ir_graded.errors import ParameterError

from .base import ScaledMeasure, StopUtility, add_names, register
from .contributions import TiedContributions
from .minima import minima_in_ties, sum_of_minima
from .params import GAINS, MAX_REL, REL, TIES, Choice
from .stopping import graded_uniform, safe_divide, uniform


def mean_others(above: Ints, here: Ints, R: Ints) -> Floats:
    """Return the mean of min(above + u, R) over u = 0..here.

    Any number u of the ``here`` documents judged not relevant in a tie group is equally likely to be above a
    relevant document of the group.
    """
    fewer = np.clip(R - above, 0, here + 1)
    sums = fewer * above + fewer * (fewer - 1) / 2 + (here + 1 - fewer) * R
    return np.asarray(sums / (here + 1))


class _Preference(StopUtility):
    """Base class: a mean of 1 - penalty over the relevant documents in the condensed list.

    The penalty counts each document above by how much less gain it has. ``as_good`` counts the remainder:
    min(g(m)/g(n), 1) summed over the ranks m < n.
    """

    WHY_NO_IDEAL = "with the relative penalty, the document at rank 1 adds nothing"

    @property
    def cut(self) -> Cut:
        return Cut(self["rel"], judged_only=True)

    @property
    def lacks(self) -> Mapping[str, str]:
        return {**self.LACKS, "ideal": self.WHY_NO_IDEAL} if self["penalty"] == "relative" else self.LACKS

    def others(self, view: View) -> Ints:
        """Return N, the number of documents of each topic that are judged not relevant."""
        return view.levels.ideal(0.0, view.levels.values).R - view.R

    def as_good(self, view: View) -> Floats:
        """Return for each relevant document the sum of min(g(m)/g(n), 1) over the documents above."""
        raise NotImplementedError  # pragma: no cover

    def as_good_in_ties(self, tied: TiedDocuments[View]) -> tuple[Floats, Floats]:
        """Return that sum over all documents in tie groups above, and over all others in its group."""
        raise NotImplementedError  # pragma: no cover

    def most(self, view: View) -> Floats:
        """Return the largest sum of penalties of each topic: the divisor of penalty 'N'."""
        return self.others(view).astype(np.float64)

    def utility(self, view: View) -> Floats:
        penalty, n, as_good = self["penalty"], view.n, self.as_good(view)
        if penalty == "relative":
            return np.asarray(as_good / np.maximum(n - 1, 1))
        if penalty == "relative2":
            return np.asarray((1.0 + as_good) / n)
        if penalty == "N":
            return 1.0 - safe_divide(n - 1 - as_good, self.most(view)[view.topic])
        R = view.R[view.topic]
        return np.asarray(1.0 - np.minimum(n - view.C, R) / R)

    def expected_contributions(self, views: Views) -> TiedContributions:
        tied, penalty = views.tied(self.cut), self["penalty"]
        view, group = tied.view, tied.group
        above, here = self.as_good_in_ties(tied)
        if penalty == "relative":
            mean = tied.spread(above, here, lambda n, _: 1.0 / np.maximum(n - 1, 1))
        elif penalty == "relative2":
            mean = tied.spread(above + 1.0, here, lambda n, _: 1.0 / n)
        elif penalty == "N":
            mean_rank = (tied.t + (tied.n - 1) / 2)[group]
            mean = 1.0 - safe_divide(mean_rank - above - here / 2, self.most(view)[view.topic])
        else:
            R = view.R[tied.topic]
            others_above = tied.t - tied.above(np.ones(group.size)).astype(np.int64)
            mean = (1.0 - mean_others(others_above, tied.n - tied.m, R) / R)[group]
        return TiedContributions(tied, tied.in_groups(self.stop(view) * mean))


class _B_pref(_Preference):
    """Binary preference with a different penalty from ir-measures' Bpref.

    ``B-pref = 1/R * sum over relevant ranks n of 1 - x(n)`` in the condensed list, where n - C(n) documents
    judged not relevant are above. ``penalty`` selects x:

    - 'R': ``min(R, n - C(n)) / R``, bpref_R of Sakai (2007);
    - 'N': ``(n - C(n)) / N``, N the documents judged not relevant (bpref_N);
    - 'relative': ``(n - C(n)) / (n - 1)``; rank 1 adds nothing (bpref_relative).

    In [0, 1]. Sakai (2007) finds that Q, nDCG and AP with ``judged_only=True`` work better.

    Parameters: penalty, rel, ties.

    Source: Sakai, "Alternatives to Bpref" (SIGIR 2007), after Buckley and Voorhees, "Retrieval Evaluation
    with Incomplete Information" (SIGIR 2004).

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels = {"1": {"a": 1, "b": 1, "c": 0, "d": 0, "e": 0}}
        >>> run = {"1": {"a": 4.0, "c": 3.0, "x": 2.0, "b": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.B_pref, ir_graded.B_pref(penalty="N")], qrels, run)
        {B-pref: 0.75, B-pref(penalty='N'): 0.833333...}

    Lacks exchange:
        >>> measure, qrels = ir_graded.B_pref, {"1": {"a": 1, "b": 0.5, "c": 1}}
        >>> run, changed = {"1": {"c": 3.0, "x": 2.0, "a": 1.0}}, {"1": {"c": 3.0, "b": 2.0, "a": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [1.0, 0.75]
    """

    NAME = "B-pref"
    PRETTY_NAME = "Binary Preference by Penalty"
    SHORT_DESC = "How far documents judged relevant are above those judged not relevant, by penalty."
    SOURCE = "Sakai 2007"
    LACKS = {
        "exchange": "a document judged not relevant counts against those below it, an unjudged one does not"
    }
    SUPPORTED_PARAMS = {
        "penalty": Choice("penalty for documents above", ("R", "N", "relative"), default="R"),
        "rel": REL,
        "ties": TIES,
    }

    def stop(self, view: View) -> Floats:
        return uniform(view)

    def as_good(self, view: View) -> Floats:
        return (view.C - 1).astype(np.float64)

    def as_good_in_ties(self, tied: TiedDocuments[View]) -> tuple[Floats, Floats]:
        return tied.above(np.ones(tied.group.size))[tied.group], (tied.m - 1).astype(np.float64)[tied.group]


class _R_pref(_Preference, ScaledMeasure):
    """Binary preference for graded relevance.

    ``R-pref = 1/cg*(R) * sum over relevant ranks n of g(n) (1 - x(n))`` in the condensed list, with
    ``pen(n) = sum over ranks m < n with g(m) < g(n) of (g(n) - g(m)) / g(n)``. ``penalty`` selects x:

    - 'N': ``pen(n) / (R + N - cg*(R)/gmax)``, N the documents judged not relevant (rpref_N);
    - 'relative': ``pen(n) / (n - 1)``; rank 1 adds nothing (rpref_relative);
    - 'relative2': ``pen(n) / n`` (rpref_relative2).

    In [0, 1]. Sakai (2007) finds that Q and nDCG with ``judged_only=True`` work better.

    Parameters: penalty, gains, max_rel (with penalty='N'), rel, ties.

    Source: De Beer and Moens, "Rpref: A Generalization of Bpref towards Graded Relevance Judgments"
    (SIGIR 2006); Sakai, "Alternatives to Bpref" (SIGIR 2007).

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 2, "b": 1}}, {"1": {"b": 2.0, "a": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.R_pref(penalty="relative2")], qrels, run)  # (1 + 3/2) / 3
        {R-pref(penalty='relative2'): 0.833333...}

    Lacks exchange:
        >>> measure, qrels = ir_graded.R_pref, {"1": {"a": 1, "b": 0.5, "c": 1}}
        >>> run, changed = {"1": {"c": 3.0, "x": 2.0, "a": 1.0}}, {"1": {"c": 3.0, "b": 2.0, "a": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [1.0, 0.5]
    """

    NAME = "R-pref"
    PRETTY_NAME = "Graded Preference"
    SHORT_DESC = "How far better documents are above worse ones, among those that are judged."
    SOURCE = "De Beer and Moens 2006; Sakai 2007"
    LACKS = _B_pref.LACKS
    SUPPORTED_PARAMS = {
        "penalty": Choice("penalty for documents above", ("N", "relative", "relative2"), default="N"),
        "gains": GAINS,
        "max_rel": MAX_REL,
        "rel": REL,
        "ties": TIES,
    }

    def check_combination(self, params: Mapping[str, Any]) -> None:
        if "max_rel" in params and (penalty := params.get("penalty", "N")) != "N":
            raise ParameterError(
                f"{self.NAME} with penalty={penalty!r} takes no max_rel "
                f"(given max_rel={params['max_rel']!r}); use it with penalty 'N'"
            )

    @property
    def infers_scale(self) -> bool:
        return super().infers_scale and self["penalty"] == "N"

    def stop(self, view: View) -> Floats:
        return graded_uniform(view, view.levels.table(self.overrides("gains")))

    def as_good(self, view: View) -> Floats:
        gain = self._gain(view)
        return safe_divide(sum_of_minima(gain, view.topic, view.levels.topics) - gain, gain)

    def as_good_in_ties(self, tied: TiedDocuments[View]) -> tuple[Floats, Floats]:
        gain = self._gain(tied.view)
        above, here = minima_in_ties(gain, tied)
        return safe_divide(above, gain), safe_divide(here, gain)

    def most(self, view: View) -> Floats:
        ideal, gmax = self.graded(view).ideal, self.gmax(view.levels)
        worse = 1.0 - safe_divide(ideal.weight, np.full(ideal.weight.shape, gmax))
        return super().most(view) + segments.total(worse, ideal.topic, view.levels.topics)

    def _gain(self, view: View) -> Floats:
        graded = self.graded(view)
        return graded.ideal.in_units(graded.g, view.topic)


B_pref = _B_pref()
register(B_pref, "B_pref", "bpref_R")
R_pref = _R_pref()
register(R_pref, "R_pref", "rpref_N")
for _penalty in ("N", "relative"):
    add_names(B_pref(penalty=_penalty), f"bpref_{_penalty}")
for _penalty in ("relative", "relative2"):
    add_names(R_pref(penalty=_penalty), f"rpref_{_penalty}")
