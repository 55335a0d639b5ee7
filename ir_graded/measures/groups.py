"""Measures over groups and classes of documents: GF, GFR and EC."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from ir_graded.core.derived import by_class
from ir_graded.core.facets import CLASS, Facet, shares
from ir_graded.core.segments import Floats
from ir_graded.core.views import Cut, View, Views
from ir_graded.errors import ParameterError

from .base import Contributions, ScaledMeasure, Scorer, cascade, register
from .cascade import WHY_NO_IDEAL
from .composed import BASES, SHORT_NAMES, BaseMeasure, ComposedMeasure, add_short_names, at_cutoff, computed
from .params import CUTOFF, GAINS, MAX_REL, REL, Attributes, ByAttributes, Choice, Shares

__all__ = ["EC", "GF", "GFR"]


def jensen_shannon(a: Floats, t: Floats) -> Floats:
    """Return JSD = (KL(a || h) + KL(t || h))/2 with h = (a + t)/2 and log base 2 (Lin 1991)."""
    h = (a + t) / 2.0
    return (_kullback_leibler(a, h) + _kullback_leibler(np.broadcast_to(t, a.shape), h)) / 2.0


def _kullback_leibler(a: Floats, h: Floats) -> Floats:
    """Return KL(a || h) = sum of a_i log2(a_i / h_i), without the terms with a_i = 0."""
    some = a > 0
    ratio = np.divide(a, h, out=np.ones_like(h), where=some)
    return np.asarray((a * np.log2(ratio)).sum(axis=-1))


def normalised_match_distance(a: Floats, t: Floats) -> Floats:
    """Return NMD = sum over i of abs(A_i - T_i) / (groups - 1), with cumulative A and T."""
    distance = np.abs(np.cumsum(a, axis=-1) - np.cumsum(t)).sum(axis=-1)
    return np.asarray(distance / (t.size - 1))


def root_normalised_order_aware(a: Floats, t: Floats) -> Floats:
    """Return RNOD = sqrt(OD / (groups - 1)).

    OD is the mean over the groups i with t_i > 0 of the sum over j of abs(i - j) (a_j - t_j)^2.
    """
    groups = np.arange(t.size)
    weight = np.abs(groups[t > 0][:, None] - groups).mean(axis=0)
    return np.asarray(np.sqrt((a - t) ** 2 @ weight / (t.size - 1)))


#: The divergences of distributions, shape ``(distributions, groups)``, from a target, shape ``(groups,)``.
DIVERGENCES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "JSD": jensen_shannon,
    "NMD": normalised_match_distance,
    "RNOD": root_normalised_order_aware,
}


_SCALE = {"cutoff": CUTOFF, "rel": REL, "gains": GAINS, "max_rel": MAX_REL}
_DIVERGENCE = Choice(
    "distance from the target: JSD for nominal groups, NMD or RNOD for ordinal ones",
    tuple(DIVERGENCES),
    default="JSD",
)
_TARGET = Shares("target distribution; by default equal shares")
_MEASURES = (*BASES, "GAP", "EC", "AP", "P", "R", "RR", "Rprec", "Success", "Bpref", "RBP", "ERR")
_LACKS = {
    "ideal": WHY_NO_IDEAL,
    "swap": "the better document may belong to a group that has more than its share above",
}


class _GF(ScaledMeasure):
    r"""Closeness to a target distribution over groups where a document satisfies.

    ``GF = sum over relevant ranks n of dsat(n-1) g(n)/(gmax+1) * (1 - DIV(a(n), t))``: at the rank where the
    user of ERR stops, the mean ``a(n)`` of the memberships of the documents at ranks 1..n, relevant or not,
    is compared with the target ``t``. The column ``groups`` of the qrels holds the memberships: the shares of
    the groups in each document (see ``with_groups``). Unknown memberships (None or unjudged) count as shared
    equally. In [0, 1), not normalised.

    ``divergence`` names DIV: 'JSD', the Jensen-Shannon divergence (base 2), for nominal groups; 'NMD', the
    normalised match distance, or 'RNOD', the root normalised order-aware divergence, for ordinal groups in
    the order of the shares.

    Formula:
        \mathrm{GF} = \sum_{n \in \mathcal{N}} \mathrm{dsat}(n-1)\, s(n) \left(1 -
            \mathrm{DIV}(a(n), t)\right)
        a(n) = \frac{1}{n} \sum_{i \le n} m(d_{i})

    Use it if several groups should receive exposure at the ranks where users stop; ``GFR`` combines it with
    relevance. Report for how many documents the shares are known.

    Users should see a fair share of each group of authors or providers.

    Drawn: GF(groups='SIZE')

    Source: [sakai2023versatile].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> rows = {"query_id": "1", "doc_id": ["a", "b"], "relevance": [1, 1], "SIZE": [[1, 0], [0, 1]]}
        >>> qrels, run = pd.DataFrame(rows), {"1": {"a": 2.0, "b": 1.0}}  # 1/2 * (1 - 1/2) + 1/4 * 1
        >>> ir_measures.calc_aggregate([ir_graded.GF(groups="SIZE", divergence="NMD")], qrels, run)
        {GF(divergence='NMD',groups='SIZE'): 0.5}

    Lacks ideal:
        >>> measure = ir_graded.GF(groups="SIZE", divergence="NMD")
        >>> measure.calc_aggregate(qrels, run)
        0.5

    Lacks swap:
        >>> measure = ir_graded.GF(groups="SIZE", divergence="NMD")
        >>> qrels = qrels.assign(relevance=[2, 1], SIZE=[[1, 0], [0.5, 0.5]])
        >>> run, changed = {"1": {"b": 2.0, "a": 1.0}}, {"1": {"a": 2.0, "b": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.666666..., 0.416666...]
    """

    NAME = "GF"
    PRETTY_NAME = "Group Fairness"
    LACKS = _LACKS
    lowest_level = -np.inf
    SUPPORTED_PARAMS = {
        "groups": Attributes("the attribute set"),
        "divergence": _DIVERGENCE,
        "target": _TARGET,
        **_SCALE,
    }

    @property
    def needs(self) -> tuple[Facet, ...]:
        return (shares(self["groups"]),) if "groups" in self.params else ()

    def stop(self, view: View) -> Floats:
        return cascade(view, self.overrides("gains"), self.gmax(view.levels))

    def utility(self, view: View) -> Floats:
        achieved = self._achieved(view)
        divergence = DIVERGENCES[self["divergence"]](achieved, self.target(achieved.shape[1]))
        return np.clip(1.0 - divergence, 0.0, 1.0)

    def columns(self, views: Views) -> dict[str, Floats]:
        achieved = self._achieved(views[self.cut])
        each = {f"a_{number}": share for number, share in enumerate(achieved.T, 1)}
        return {**super().columns(views), **each}

    def _achieved(self, view: View) -> Floats:
        found = view.levels.further.get(self["groups"], np.zeros((0, 0)))
        if not found.shape[1]:  # of no document
            found = np.full((len(found), len(self.params.get("target", (0.5, 0.5)))), np.nan)
        return view.mean_shares(found)

    def target(self, groups: int) -> Floats:
        """Return the target distribution. Raises ParameterError if it has another number of groups."""
        target = self.optional("target")
        if target is None:
            return np.full(groups, 1.0 / groups)
        if len(target) != groups:
            raise ParameterError(
                f"{self}: the target has {len(target)} numbers, but {self['groups']} has {groups} groups"
            )
        return np.array(target, dtype=np.float64)


class _GFR(ComposedMeasure):
    r"""The mean of relevance and of closeness to targets over attribute sets.

    ``GFR = (M + sum of GF over the attribute sets) / (1 + their number)``. ``groups`` gives the divergence of
    each attribute set, as in ``{'SIZE': 'RNOD', 'ORIGIN': 'JSD'}``. Gains, rel, max_rel and cutoff apply to
    GF, and to M if it has these parameters and does not set them itself. In [0, 1].

    Formula:
        \mathrm{GFR} = \frac{1}{1 + |\mathcal{G}|} \left(M + \sum_{G \in \mathcal{G}} \mathrm{GF}_{G}\right)

    Use it to combine relevance and fairness over several attribute sets in one number, as in NTCIR's FairWeb
    tasks. Also report its parts, because a run can compensate for one with another.

    Users should see a fair share of each group of authors or providers.

    Drawn: GFR(groups={'SIZE':'JSD'})

    Source: [sakai2023versatile].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> rows = {"query_id": "1", "doc_id": ["a", "b"], "relevance": [1, 1], "SIZE": [[1, 0], [0, 1]]}
        >>> qrels, run = pd.DataFrame(rows), {"1": {"a": 2.0, "b": 1.0}}
        >>> measure = ir_graded.GFR(groups={"SIZE": "NMD"}, measure="P") @ 2  # (1 + 1/2) / 2
        >>> ir_measures.calc_aggregate([measure], qrels, run)
        {GFR(groups={'SIZE':'NMD'},measure='P')@2: 0.75}

    Lacks ideal:
        >>> measure = ir_graded.GFR(groups={"SIZE": "NMD"})
        >>> measure.calc_aggregate(qrels, run)
        0.62...

    Lacks swap:
        >>> measure = ir_graded.GFR(groups={"SIZE": "NMD"})
        >>> qrels = qrels.assign(relevance=[2, 1], SIZE=[[1, 0], [0.5, 0.5]])
        >>> run, changed = {"1": {"b": 2.0, "a": 1.0}}, {"1": {"a": 2.0, "b": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.716..., 0.592...]
    """

    NAME = "GFR"
    PRETTY_NAME = "Group Fairness and Relevance"
    LACKS = _LACKS
    TAKES_TIES = False
    lowest_level = -np.inf
    SUPPORTED_PARAMS = {
        "groups": ByAttributes("divergence of each attribute set", _DIVERGENCE, required=True),
        "targets": ByAttributes("target distribution of each attribute set", _TARGET),
        "measure": BaseMeasure("GFR", _MEASURES, default="iRBU"),
        **_SCALE,
    }

    def check_combination(self, params: Mapping[str, Any]) -> None:
        super().check_combination(params)
        for name in params.get("targets", {}) if "groups" in params else ():
            if name not in params["groups"]:
                raise ParameterError(f"{self.NAME}: targets has the key {name!r}, which groups does not have")

    def fairness(self) -> dict[str, _GF]:
        """Return GF of each attribute set."""
        targets = {name: {"target": target} for name, target in self["targets"].items()}
        return {
            name: _GF(groups=name, divergence=divergence, **targets.get(name, {}), **self._shared(GF))
            for name, divergence in self["groups"].items()
        }

    @property
    def base(self) -> Scorer:
        """Scorer of M with the parameters that it shares with GF."""
        measure = at_cutoff(self["measure"])
        return computed(measure(**self._shared(measure)))

    def _shared(self, measure: Measure) -> dict[str, Any]:
        """Return the shared parameters that a measure has but does not set itself."""
        takes = measure.SUPPORTED_PARAMS.keys() - measure.params.keys()
        return {name: self.params[name] for name in _SCALE if name in self.params and name in takes}

    @property
    def needs(self) -> tuple[Facet, ...]:
        return (*map(shares, self.params.get("groups", ())), *self.base.needs)

    @property
    def cut(self) -> Cut:
        return Cut(self["rel"], cutoff=self.optional("cutoff"))

    @property
    def lowest_rel(self) -> float:
        return min(self.cut.rel, self.base.lowest_rel)

    @property
    def highest_level(self) -> float:
        return min(float(self.params.get("max_rel", np.inf)), self.base.highest_level)

    @property
    def infers_scale(self) -> bool:
        return self.optional("max_rel") is None

    def score(self, views: Views) -> Floats:
        scores = [self.base.score(views), *(gf.score(views) for gf in self.fairness().values())]
        return np.asarray(sum(scores) / len(scores))

    def contributions(self, views: Views) -> Contributions:
        """Return M and GF of each document that counts for either."""
        view, relevance, stop = self._parts(views)
        fair = sum(stop * gf.utility(view) for gf in self.fairness().values())
        return Contributions(view, (relevance + fair) / (1 + len(self["groups"])))

    def columns(self, views: Views) -> dict[str, Floats]:
        view, relevance, stop = self._parts(views)
        similar = {f"similarity_{name}": gf.utility(view) for name, gf in self.fairness().items()}
        return {"relevance": relevance, "stop": stop, **similar}

    def _parts(self, views: Views) -> tuple[View, Floats, Floats]:
        """Return the documents that M or GF counts, the contribution to M, and the stop of ERR at each."""
        own, found = views[self.cut], self.base.contributions(views)
        theirs = found.view.document
        levels = views.levels.values[views.levels.level_index[theirs]]
        same_ranks = found.view.cutoff == own.cutoff and found.view.rank_in_run is None
        view = views[
            Cut(min(levels.min(initial=np.inf), self["rel"]), cutoff=own.cutoff if same_ranks else None)
        ]
        place = np.zeros(views.levels.topic.size, dtype=np.int64)
        place[view.document] = np.arange(view.document.size)
        relevance, stop = np.zeros((2, view.document.size))
        relevance[place[theirs]] = found.value
        stop[place[own.document]] = next(iter(self.fairness().values())).stop(own)
        return view, relevance, stop


GF = register(_GF())
GFR = register(_GFR())


_CLASSICS = ("AP", "P", "RR", "Success")


class _EC(ComposedMeasure):
    r"""A measure that counts each class of equivalent documents once.

    ``EC = M(list of classes)``. In the run, the first relevant document of a class counts with its own level;
    later ones are not relevant but keep their rank. The ideal list has each class once, with its highest
    level, and R is the number of classes with a relevant document. Classes belong to one topic. A document
    without a class is a class by itself. Documents with equal scores are ordered by doc_id. In [0, 1].

    Formula:
        \mathrm{EC}(M) = M(\text{list of classes})

    Use it if near-duplicates, or answers with equal content, should count once. One call of ``evaluate`` can
    have measures with and without classes. Qrels need the column ``equivalence_class``.

    Users gain nothing from a second copy of a document.

    Drawn: EC(measure='Q')

    Source: [sakai2011ntcireval].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> rows = {"query_id": "1", "doc_id": ["a", "b", "c"], "relevance": [3, 1, 2]}
        >>> qrels = pd.DataFrame({**rows, "equivalence_class": ["x", "x", "y"]})
        >>> run = {"1": {"b": 3.0, "a": 2.0, "c": 1.0}}
        >>> ir_measures.calc_aggregate([ir_graded.EC(measure="AP")], qrels, run)  # (1/1 + 2/3) / 2
        {EC(measure='AP'): 0.833333...}

    Lacks ideal:
        >>> measure, qrels = ir_graded.EC(measure="AP"), qrels.assign(relevance=[2, 2, 1])
        >>> run = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}
        >>> measure.calc_aggregate(qrels, run)
        0.833333...

    Lacks swap:
        >>> measure, qrels = ir_graded.EC(measure="AP"), qrels.assign(relevance=[2, 2, 1])
        >>> run, changed = {"1": {"a": 3.0, "c": 2.0, "b": 1.0}}, {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [1.0, 0.833333...]
    """

    NAME = "EC"
    PRETTY_NAME = "Measure over Equivalence Classes"
    LACKS = {
        "ideal": "a list of all relevant documents repeats classes; the ideal list has each class once",
        "swap": "the better document may be of a class that was already counted above",
    }
    SUPPORTED_PARAMS = {
        "measure": BaseMeasure("EC", (*BASES, *_CLASSICS)),
        **ComposedMeasure.SUPPORTED_PARAMS,
    }
    NEEDS = (CLASS,)
    TAKES_TIES = False

    @property
    def infers_scale(self) -> bool:
        return self.base.infers_scale

    def score(self, views: Views) -> Floats:
        scorer, views = self._by_class(views)
        return scorer.score(views)

    def contributions(self, views: Views) -> Contributions:
        scorer, views = self._by_class(views)
        return scorer.contributions(views)

    def columns(self, views: Views) -> dict[str, Floats]:
        scorer, views = self._by_class(views)
        return scorer.columns(views)

    def _by_class(self, views: Views) -> tuple[Scorer, Views]:
        """Return the scorer of the base measure and the views of the list of classes that it scores."""
        scorer, seen = self.base.relabelled(views)
        classes, rel = views.levels.further.get(CLASS.name), scorer.cut.rel
        if classes is None:  # the qrels are empty, or they would have been rejected
            return scorer, seen
        if seen is not views:
            return scorer, by_class(seen, classes, rel)
        return scorer, views.kept(("classes", rel), lambda: by_class(views, classes, rel))


EC = register(_EC())
add_short_names(EC, {**SHORT_NAMES, "Q": "Q", **{name: name for name in _CLASSICS}})
