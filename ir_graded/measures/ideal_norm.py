"""Measures with norm='ideal', which divides by the score of the ideal list at the same cutoff."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.levels import Levels
from ir_graded.core.segments import Floats
from ir_graded.core.views import View, Views

from .base import StopUtility
from .contributions import Contributions, TiedContributions

#: Reason why a measure divided by the score of the ideal list lacks the property 'truncation'.
WHY_NO_TRUNCATION = "the ideal list is also cut at rank k"


class IdealNorm(StopUtility):
    """A measure of the family ``sum over ranks n of stop(n) * utility(n)`` that takes norm='ideal'."""

    @property
    def over_ideal(self) -> bool:
        """Whether the sum is divided by that of the ideal list."""
        return bool(self["norm"] == "ideal")

    @property
    def lacks(self) -> Mapping[str, str]:
        return self.lacks_with_norm(super().lacks)

    def lacks_with_norm(self, lacks: Mapping[str, str]) -> Mapping[str, str]:
        """Return the properties that the measure lacks, given those that it lacks with norm='all'."""
        if not self.over_ideal:
            return lacks
        others = {name: reason for name, reason in lacks.items() if name != "ideal"}
        return {**others, "truncation": WHY_NO_TRUNCATION}

    @property
    def is_monotone(self) -> bool:
        return super().is_monotone and not self.over_ideal

    def ideal_order(self, levels: Levels) -> Floats:
        """Return the value of each level by which the ideal list is sorted: its gain."""
        return levels.table(self.overrides("gains"))

    def ideal_terms(self, view: View) -> Floats:
        """Return the summand of each document of the ideal list."""
        return self.stop(view) * self.utility(view)

    def ideal_score(self, levels: Levels) -> Floats | None:
        """Return the score of the ideal list of each topic at the cutoff; None without norm='ideal'."""
        if not self.over_ideal:
            return None
        return levels.kept(("ideal score", self), lambda: self._ideal_score(levels))

    def _ideal_score(self, levels: Levels) -> Floats:
        order, cut = self.ideal_order(levels), replace(self.cut, cutoff=None)
        view = levels.kept(
            ("ideal view", cut, order.tobytes()),
            lambda: View(levels, JudgedRun.of_ideal(levels, cut.rel, order), cut),
        )
        terms = self.ideal_terms(view)
        if self.cut.cutoff is not None:
            terms[view.n > self.cut.cutoff] = 0.0
        return view.sum_by_topic(terms)

    def contributions(self, views: Views) -> Contributions:
        found = super().contributions(views)
        name = f"{self.NAME.removeprefix('n')} of the ideal list" if self.over_ideal else ""
        return replace(found, norm=self.ideal_score(views.levels), norm_name=name)

    def expected_contributions(self, views: Views) -> TiedContributions:
        found = super().expected_contributions(views)
        return replace(found, norm=self.ideal_score(views.levels))
