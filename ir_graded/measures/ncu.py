"""Normalised cumulative utility (NCU): combines any stop distribution with any utility."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ir_graded.core.levels import Levels
from ir_graded.core.segments import Floats
from ir_graded.core.tie_means import TiedDocuments, Utility
from ir_graded.core.views import View, Views
from ir_graded.errors import ParameterError

from .base import COMMON, BlendedUtility, StopUtility, add_short_name, geometric_sum, graded_uniform, register
from .cascade import EBR, CascadeMeasure, RankUtility
from .one_list import O, P_measure, P_plus, Q
from .params import BETA, GAINS, GAMMA, MAX_REL, NORM, PERSISTENCE, STOPS, Choice

__all__ = ["NCU"]


#: Reason why a utility that falls with the rank lacks the property 'ideal'.
WHY_NO_IDEAL_RANK = "such a utility reaches 1 only at rank 1, where not all relevant documents can be"
#: Stops that use the preferred rank.
_PREFERRED = ("preferred", "up_to_preferred")
#: Parameters that need a stop or a utility: which of the two, and the words for it.
_TAKERS = {
    "gamma": ("stop", ("rb",)),
    "stops": ("stop", ("gu",)),
    "max_rel": ("stop", ("err",)),
    "norm": ("stop", ("u", "rb", "gu")),
    "beta": ("utility", ("br",)),
    "p": ("utility", ("ie",)),
}


class _RankBiased(StopUtility):
    """Stop rb: ``gamma^(C(n)-1) / sum_{i=1..R} gamma^(i-1)`` (Sakai and Robertson 2008)."""

    LACKS = Q.LACKS

    def stop(self, view: View) -> Floats:
        series = geometric_sum(view, self["gamma"], self["norm"])
        return np.asarray(self["gamma"] ** (view.C - 1.0) / series)

    def mean_stop(self, tied: TiedDocuments[View], utility: Utility) -> Floats:
        series = geometric_sum(tied.view, self["gamma"], self["norm"])
        return tied.rank_biased(1.0 / series, self["gamma"], utility)


class _GradedUniform(StopUtility):
    """Stop gu: each relevant document weighs its entry in ``stops``, else its gain."""

    LACKS = {"swap": "the better document moves its weight to a rank that may have a lower blended ratio"}

    def stop_weights(self, levels: Levels) -> Floats:
        """Return the stop weight of each level."""
        return levels.table(self.overrides("stops"), levels.table(self.overrides("gains")))

    def stop(self, view: View) -> Floats:
        return graded_uniform(view, self.stop_weights(view.levels), self["norm"])

    def mean_stop(self, tied: TiedDocuments[View], utility: Utility) -> Floats:
        return tied.weighted(self.stop(tied.view), utility)


class _NCU(BlendedUtility, RankUtility, CascadeMeasure, _GradedUniform):
    r"""The expected blended ratio at the rank where a user stops, over a population of users.

    ``NCU = sum over ranks n of p_s(n) * NU(n)``. ``stop`` selects p_s:

    - 'u' uniform, 1/R (beta=1: Q, beta=0: AP);
    - 'rb' rank-biased, ``gamma^(C(n)-1) / sum_{i=1..R} gamma^(i-1)``;
    - 'gu' graded-uniform, ``stop(level) / sum over relevant documents of stop(level)``;
    - 'first' (O-measure), 'preferred' (P-measure), 'up_to_preferred' (P+), 'err' (EBR).

    ``utility`` selects NU: 'br', the blended ratio; 'rr', 1/n (ERR with stop 'err'); 'ie', inverse effort p^n
    (iRBU with stop 'err'). ``norm='ideal'``, with 'rr', 'ie' or stop 'err', divides by the score of the ideal
    list at the same cutoff. If only stop weights or levels matter, the ideal list is sorted by these. In
    [0, 1]; stop and utility decide which properties it lacks.

    ``beta`` needs br; ``p`` ie; norm='cutoff' u, rb or gu; ``gamma`` rb; ``stops`` gu; ``max_rel`` err.

    Formula:
        \mathrm{NCU} = \sum_{n \in \mathcal{N}} p_{s}(n)\, \mathrm{NU}(n)
        \mathrm{NU}(n) = \mathrm{BR}(n),\ \frac{1}{n} \text{ or } p^{n}
        p_{u}(n) = \frac{1}{R}
        p_{rb}(n) = \frac{\gamma^{C(n)-1}}{\sum_{i=1}^{R} \gamma^{i-1}}
        p_{gu}(n) = \frac{\mathrm{stop}(\mathrm{level}(n))}{\sum_{l} R(l)\, \mathrm{stop}(l)}

    Use it if you know where your users stop, or want to compare several assumptions. ``stop='rb'`` favours
    the top of the ranking, more so for smaller ``gamma``, and tells fewer pairs of systems apart
    (docs/guide/which_measure.rst).

    Users stop at relevant documents, with probabilities that you choose.

    Drawn: NCU NCU(stop='rb',gamma=0.7)

    Source: [sakai2008modelling].

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 3, "b": 1}}, {"1": {"a": 2.0, "x": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.NCU(stop="gu")], qrels, run)
        {NCU: 0.75}

    Lacks swap:
        >>> measure, qrels = ir_graded.NCU(stop="preferred", utility="rr") @ 2, {"1": {"a": 1, "b": 2}}
        >>> run, changed = {"1": {"a": 3.0, "x": 2.0, "b": 1.0}}, {"1": {"a": 3.0, "b": 2.0, "x": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [1.0, 0.5]
    """

    NAME = "NCU"
    PRETTY_NAME = "Normalised Cumulative Utility"
    LACKS = _GradedUniform.LACKS

    #: The measure that has each stop.
    DISTRIBUTIONS: ClassVar[Mapping[str, type[StopUtility]]] = {
        "u": type(Q),
        "rb": _RankBiased,
        "gu": _GradedUniform,
        "first": type(O),
        "preferred": type(P_measure),
        "up_to_preferred": type(P_plus),
        "err": type(EBR),
    }
    SUPPORTED_PARAMS = {
        **COMMON,
        "stop": Choice("the stop distribution", tuple(DISTRIBUTIONS), default="gu"),
        "utility": Choice(
            "blended ratio, reciprocal rank or inverse effort", ("br", "rr", "ie"), default="br"
        ),
        "beta": BETA,
        "p": PERSISTENCE,
        "gains": GAINS,
        "norm": Choice(f"{NORM.desc}, or by the ideal list", (*NORM.words, "ideal"), default=NORM.default),
        "gamma": GAMMA,
        "stops": STOPS,
        "max_rel": MAX_REL,
    }

    @property
    def utility_name(self) -> str:
        return str(self["utility"])

    @property
    def _stop(self) -> type[StopUtility]:
        return self.DISTRIBUTIONS[self["stop"]]

    @property
    def _utility(self) -> type[BlendedUtility | RankUtility]:
        return BlendedUtility if self.utility_name == "br" else RankUtility

    @property
    def lacks(self) -> Mapping[str, str]:
        stop, lacks = self["stop"], self._stop.LACKS
        if self._utility is BlendedUtility:
            return self.lacks_with_norm(lacks)
        if stop not in {"first", *_PREFERRED}:
            return self.lacks_with_norm({"ideal": WHY_NO_IDEAL_RANK})
        # Their ideal list has the utility of rank 1 at every cutoff.
        best_is_1 = self.over_ideal or self.utility_name == "rr"
        return {
            **({} if best_is_1 else {"ideal": WHY_NO_IDEAL_RANK}),
            **(lacks if stop in _PREFERRED else {}),
        }

    @property
    def infers_scale(self) -> bool:
        return super().infers_scale and self["stop"] == "err"

    @property
    def is_monotone(self) -> bool:
        is_cascade = self["stop"] == "err" and self._utility is RankUtility
        return is_cascade and not self.over_ideal and not self.cut.judged_only

    def check_combination(self, params: Mapping[str, Any]) -> None:
        chosen = {name: params.get(name, self.SUPPORTED_PARAMS[name].default) for name in ("stop", "utility")}
        stop, over_ideal = chosen["stop"], params.get("norm") == "ideal"
        if over_ideal and chosen["utility"] == "br" and stop != "err":
            at_cutoff = ", at a cutoff with norm='cutoff'" if stop in _TAKERS["norm"][1] else ""
            raise ParameterError(
                f"{self.NAME} with stop={stop!r} and utility='br' takes no norm='ideal': its ideal list "
                f"scores 1{at_cutoff}"
            )
        for name, (by, words) in _TAKERS.items():
            if name in params and chosen[by] not in words and not (name == "norm" and over_ideal):
                raise ParameterError(
                    f"{self.NAME} with {by}={chosen[by]!r} takes no {name} (given {name}={params[name]!r}); "
                    f"use it with {by} {', '.join(map(repr, words))}"
                )

    def stop(self, view: View) -> Floats:
        return self._stop.stop(self, view)

    def mean_stop(self, tied: TiedDocuments[View], utility: Utility) -> Floats:
        return self._stop.mean_stop(self, tied, utility)

    def utility(self, view: View) -> Floats:
        return self._utility.utility(self, view)

    def mean_utility(self, view: View) -> Utility:
        return self._utility.mean_utility(self, view)

    def columns(self, views: Views) -> dict[str, Floats]:
        return self._utility.columns(self, views)

    def ideal_order(self, levels: Levels) -> Floats:
        if self._utility is RankUtility and self["stop"] in _PREFERRED:
            return levels.values
        return self.stop_weights(levels) if self["stop"] == "gu" else super().ideal_order(levels)


NCU = register(_NCU())
# The names in NTCIREVAL.
add_short_name(NCU, "NCUgu,P", stop="gu", beta=0)
add_short_name(NCU, "NCUgu,BR", stop="gu")
add_short_name(NCU, "NCUrb,P", stop="rb", beta=0)
add_short_name(NCU, "NCUrb,BR", stop="rb")
add_short_name(NCU, "NCUgu,IE", stop="gu", utility="ie")
add_short_name(NCU, "NCUrb,IE", stop="rb", utility="ie")
