"""GM: the geometric mean of a measure over the topics."""

from __future__ import annotations

import numpy as np

from ir_graded.core.facets import Facet
from ir_graded.core.segments import Floats
from ir_graded.core.views import Views

from .base import Contributions, GeometricMean, TiedContributions, add_short_name, register
from .composed import BASES, BaseMeasure, ComposedMeasure, of_base

__all__ = ["GM"]

#: Classics whose scores are in [0, 1] and that rank documents.
_CLASSICS = ("AP", "Bpref", "infAP", "RR", "P", "R", "Rprec", "Success", "ERR", "RBP", "RelP", "GAP")


class _GM(ComposedMeasure):
    r"""The geometric mean over the topics of a base measure, with scores below 0.00001 raised to that.

    ``GM(M) = exp(mean over the topics of ln(max(M, 0.00001)))``. The score of a topic is max(M, 0.00001). In
    [0.00001, 1]. ``GMAP`` is the short name of GM(measure='AP').

    Formula:
        \mathrm{GM}(M) = \exp\Bigl(\frac{1}{T} \sum_{t = 1}^{T} \ln \max(M_{t}, 0.00001)\Bigr)

    Use it if improving a hard topic from 0.01 to 0.02 should count as much as improving an easy one from 0.4
    to 0.8. It depends heavily on the topics with scores near 0, so it needs many topics. Tests and ranks are
    of arithmetic means, so they leave it out with a note: give them the logarithms,
    ``{"log AP": np.log(scores.matrix("AP").clip(0.00001))}``. ``pyterrier.Experiment``, which averages scores
    itself, raises an error: use ``perquery=True`` and ``Scores.from_frame``.

    Drawn: GM(measure='AP')

    Source: [robertson2006gmap], with the limit of trec_eval's gm_map and gm_bpref.

    Example:
        >>> import ir_graded, ir_measures
        >>> qrels, run = {"1": {"a": 1}, "2": {"b": 1}}, {"1": {"a": 1.0}, "2": {"x": 2.0, "b": 1.0}}
        >>> ir_measures.calc_aggregate(["GMAP", "AP"], qrels, run)  # sqrt(1 * 0.5)
        {GM(measure='AP'): 0.707106..., AP: 0.75}

    Lacks nothing:
        >>> measure, qrels, run = ir_graded.GM(measure="AP"), {"1": {"a": 1}}, {"1": {"x": 1.0}}
        >>> measure.calc_aggregate(qrels, run)
        1e-05
    """

    NAME = "GM"
    PRETTY_NAME = "Geometric Mean"
    LACKS = {"nothing": "scores below 0.00001 count as 0.00001"}
    SUPPORTED_PARAMS = {
        "measure": BaseMeasure("GM", (*BASES, *_CLASSICS), example="AP"),
        **ComposedMeasure.SUPPORTED_PARAMS,
    }
    RANGE = (0.00001, 1.0)
    AGGREGATE = "geometric mean"

    @property
    def needs(self) -> tuple[Facet, ...]:
        return self.base.needs if "measure" in self.params else ()

    infers_scale, has_expected_score = of_base("infers_scale"), of_base("has_expected_score")

    def aggregator(self) -> GeometricMean:
        """Return the aggregator over topics."""
        return GeometricMean()

    def score(self, views: Views) -> Floats:
        return np.maximum(self.base.score(views), self.RANGE[0])

    def expected_score(self, views: Views) -> Floats:
        return np.maximum(self.base.expected_score(views), self.RANGE[0])

    def contributions(self, views: Views) -> Contributions:
        return self.base.contributions(views)

    def expected_contributions(self, views: Views) -> TiedContributions:
        return self.base.expected_contributions(views)

    def columns(self, views: Views) -> dict[str, Floats]:
        return dict(self.base.columns(views))


GM = register(_GM())
add_short_name(GM, "GMAP", measure="AP")
