"""Measures of nuggets in the rows of a run (NuggetR), and of the position of what is read (U)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ir_graded.core.derived import exact_sums
from ir_graded.core.facets import IMPORTANCE, INTENT, ROWS, SPAN, Facet
from ir_graded.core.levels import Levels
from ir_graded.core.nuggets import NEVER, NuggetText, NuggetView, Pieces
from ir_graded.core.segments import Floats, Ints
from ir_graded.core.views import Views, highlighted_text
from ir_graded.errors import InputError, ParameterError

from .base import Contributions, register, safe_divide
from .params import (
    BUDGETS,
    CUTOFF,
    GAINS,
    IMPORTANCE as WEIGHTS,
    REL,
    Choice,
    Flag,
    Number,
    importance_weights,
)
from .passages import CharacterMeasure

__all__ = ["NuggetR", "U"]

THRESHOLD = Number("share of a gold row that must be read to cover its nugget", default=0.8, above=0, high=1)
SPANS = Choice(
    "gold rows of a nugget: 'any' of them covers it, or 'all' are its parts", ("any", "all"), default="any"
)


class NuggetMeasure(CharacterMeasure):
    """Base class of measures of nuggets, which are the intents of the qrels."""

    def weights(self, levels: Levels) -> Floats:
        """Return the weight of each nugget."""
        importance, nuggets = levels.by_intent.importance, levels.by_intent.topic.size
        return importance_weights(self["importance"], np.zeros(nuggets) if importance is None else importance)

    def doubt(self, levels: Levels) -> str:
        if "importance" in self.params and levels.by_intent.importance is None:
            return ""  # an error is raised later
        weight, topic = self.weights(levels), levels.by_intent.topic
        without = np.setdiff1d(topic, topic[weight > 0]).size
        if not without:
            return ""
        topics = "1 topic has" if without == 1 else f"{without} topics have"
        return f"{self}: {topics} no nugget with a weight above 0 and thus the score 0"

    def text(self, views: Views) -> NuggetText:
        """Return the text of the nuggets in the rows of a run."""
        if views.levels.highlights is not None and views.hits.rows is None and views.hits.n_retrieved.any():
            raise InputError(SPAN.refusal(self, "run"))
        rel, parts, budget = self["rel"], self["spans"] == "all", self.budget
        return views.kept(
            ("nuggets", rel, parts, budget),
            lambda: NuggetText(views.levels, views.hits, rel, parts=parts, budget=budget),
        )

    def share(self, views: Views) -> Floats:
        """Return the share of each unit that is read, down to the cutoff if the measure has one."""
        text = self.text(views)
        return np.asarray(text.found(self.optional("cutoff")) / text.length)

    def covered(self, views: Views) -> tuple[Ints, Ints]:
        """Return rank and position in the text read at which each unit is covered."""
        text, threshold = self.text(views), Fraction(repr(self["threshold"]))
        # Python integers, since the products may exceed 64 bits.
        needed = -(-text.length.astype(object) * threshold.numerator // threshold.denominator)
        return text.reached(needed.astype(np.int64))

    def of_nuggets(
        self, views: Views, share: Floats, rank: Ints, value: Floats, largest: float, name: str
    ) -> Contributions:
        """Return the weighted mean of the best value of each nugget; arguments are those of its units."""
        text, levels = self.text(views), views.levels
        weight, topic = self.weights(levels), levels.by_intent.topic
        best = np.lexsort((rank, -share, -value, text.nugget))
        found, first = np.unique(text.nugget[best], return_index=True)
        unit = np.full(topic.size, -1, dtype=np.int64)
        unit[found] = best[first]
        view = NuggetView(levels, text, unit, np.append(rank, NEVER)[unit])
        term = (weight * np.append(value, 0.0)[unit])[view.order]
        norm = exact_sums(weight, topic, levels.topics) * largest
        return Contributions(view, term, norm, f"{name} of the listed nuggets; rank 0 is not covered")

    def score(self, views: Views) -> Floats:
        found = self.contributions(views)
        if not isinstance(found.view, NuggetView) or found.term is None or found.norm is None:
            return super().score(views)
        # Exact, so that the names of the nuggets change nothing.
        total = exact_sums(found.term, found.view.topic, views.levels.topics)
        return np.minimum(safe_divide(total, found.norm), 1.0)

    def nugget_columns(self, views: Views, share: Floats) -> dict[str, Floats]:
        """Return weight, best gold row and share of each nugget."""
        view, text = self.contributions(views).view, self.text(views)
        assert isinstance(view, NuggetView)  # noqa: S101  # for the type checker
        gold, level = text.gold, np.append(text.level, 0.0)
        columns = {
            "intent": view.order.astype(np.float64),
            "level": np.nan_to_num(level[view.unit]),
            "weight": self.weights(views.levels)[view.order],
            "share": np.append(share, 0.0)[view.unit],
        }
        if views.levels.highlights is not None and self["spans"] == "any":
            columns["start"] = np.append(gold.start, 0)[view.unit]
            columns["length"] = np.append(text.length, 0)[view.unit]
        return columns


class _NuggetR(NuggetMeasure):
    r"""The share of the listed nuggets that the first rows support.

    ``NuggetR@k = sum over nuggets of w c / sum of w``. A nugget is an intent of the qrels (column iteration);
    it is listed if any row names it, at any level. Its gold rows have a level >= ``rel``. The share of a gold
    row is the number of its characters in the first k rows over its length; c is 1 if the share of one gold
    row is at least ``threshold``, else 0. With ``spans='all'`` the gold rows of a nugget are parts, and their
    union has one share; with ``partial=True`` c is the share. If the qrels have no spans, c is 1 if the
    document of a gold row is among the first k rows. w is 1, or by ``importance`` the weight of the nugget.
    In [0, 1].

    Formula:
        \mathrm{NuggetR@}k = \frac{\sum_{i} w_{i}\, c_{i}(k)}{\sum_{i} w_{i}}

    Use it for the share of the facts of a good answer that the retrieved text supports; with ``budget``
    chunks of different length are compared. Nuggets without gold rows count in the divisor, unlike in I-rec.

    Users read the first k passages or chunks, as a language model does. Binary counterpart: StRecall@k.

    Drawn: NuggetR@2

    Source: [pradeep2025great] define nuggets and their weights for answers. The measure of retrieved text is
    one of this package; over documents it is Coverage@k of FreshStack (2025).

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": "a", "iteration": ["n1", "n2"], "start": [0, 50], "length": 40}
        >>> qrels = pd.DataFrame({"relevance": 1, **gold})
        >>> run = pd.DataFrame({"query_id": ["1"], "doc_id": "a", "score": 1, "start": 0, "length": 80})
        >>> measure = ir_graded.NuggetR @ 1
        >>> ir_measures.calc_aggregate([measure, ir_graded.NuggetR(partial=True)], qrels, run)
        {NuggetR@1: 0.5, NuggetR(partial=True): 0.875}

    Lacks swap:
        >>> gold = {"doc_id": ["a", "b", "b"], "relevance": [2, 1, 1], "iteration": ["n1", "n2", "n3"]}
        >>> qrels = pd.DataFrame({"query_id": "1", **gold, "start": 0, "length": 10})
        >>> two = {"query_id": "1", "doc_id": ["a", "b"]}
        >>> run = pd.DataFrame({**two, "score": [1, 2], "start": [5, 0], "length": [100, 10]})
        >>> changed = run.assign(score=[2, 1])
        >>> measure.calc_aggregate(qrels, changed) < measure.calc_aggregate(qrels, run)
        True
    """

    NAME = "NuggetR"
    PRETTY_NAME = "Nugget Recall"
    NEEDS = (INTENT,)
    USES = (SPAN,)
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "rel": REL,
        "importance": WEIGHTS,
        "threshold": THRESHOLD,
        "spans": SPANS,
        "partial": Flag("count the share of a nugget that is read, instead of 1 from the threshold on"),
        **BUDGETS,
    }

    @property
    def needs(self) -> tuple[Facet, ...]:
        rows = (ROWS,) if "budget" in self.params else ()
        importance = (IMPORTANCE,) if "importance" in self.params else ()
        return (*super().needs, *rows, *importance)

    def check_combination(self, params: Mapping[str, Any]) -> None:
        super().check_combination(params)
        if params.get("partial") and "threshold" in params:
            raise ParameterError(f"{self.NAME}: partial=True takes no threshold")

    def contributions(self, views: Views) -> Contributions:
        share, cutoff = self.share(views), self.optional("cutoff")
        text = self.text(views)
        if self["partial"]:
            rank, _ = text.reached(text.found(cutoff))
            value = share
        else:
            rank, _ = self.covered(views)
            rank = np.where(rank > (cutoff or NEVER), NEVER, rank)
            value = (rank < NEVER).astype(np.float64)
        return self.of_nuggets(views, share, rank, value, 1.0, "the weight")

    def columns(self, views: Views) -> dict[str, Floats]:
        return self.nugget_columns(views, self.share(views))


class _U(NuggetMeasure):
    r"""U-measure: the value of text falls with the number of characters that are read before it.

    The trailtext is the text of all rows in rank order, and ``D(p) = max(0, 1 - p/L)`` the decay after p
    characters of it. With ``of='rows'``, U is the sum over rows of the gain of the row times D(its end); the
    gain is that of the highest level of highlighted text in the row. With ``'characters'`` it is the sum of
    D(p) over the highlighted characters, each where it is first read, divided by their number; with
    ``'nuggets'`` the weighted mean of D(p) of the listed nuggets, p being the number of characters after
    which ``NuggetR`` covers the nugget. These two are the means of CharR and NuggetR over all budgets below
    L. In [0, inf); at most 1 except for ``'rows'``.

    Formula:
        U = \sum_{r} g(r)\, D(\mathrm{end}(r)) \qquad D(p) = \max\left(0,\, 1 - \frac{p}{L}\right)

    Use it to compare runs over all budgets at once, with ``of='characters'`` or ``'nuggets'``; ``'rows'`` is
    the U-measure of the paper. Runs without passages need ``lengths`` of ``evaluate``.

    Users read passages or chunks one after the other, and stop after some amount of text.

    Drawn: U(L=400)

    Source: [sakai2013summaries].

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": "a", "start": 0, "length": 40}
        >>> qrels = pd.DataFrame({"relevance": [1], **gold})
        >>> run = pd.DataFrame({"score": [2, 1], **gold, "start": [40, 20], "length": [30, 20]})
        >>> measure = ir_graded.U(L=100)
        >>> ir_measures.calc_aggregate([measure, ir_graded.U(L=100, of="characters")], qrels, run)
        {U(L=100): 0.5, U(L=100,of='characters'): 0.2975}
    """

    NAME = "U"
    PRETTY_NAME = "U-measure"
    RANGE = (0.0, np.inf)
    SUPPORTED_PARAMS = {
        "of": Choice(
            "what is read: 'rows' with their gain, highlighted 'characters', or 'nuggets'",
            ("rows", "characters", "nuggets"),
            default="rows",
        ),
        "L": Number("number of characters after which text has no value", default=132000, above=0),
        "gains": GAINS,
        "rel": REL,
        "importance": WEIGHTS,
        "threshold": THRESHOLD,
        "spans": SPANS,
    }

    @property
    def needs(self) -> tuple[Facet, ...]:
        if self["of"] != "nuggets":
            return self.NEEDS
        return (*self.NEEDS, INTENT, *((IMPORTANCE,) if "importance" in self.params else ()))

    def check_combination(self, params: Mapping[str, Any]) -> None:
        of = params.get("of", "rows")
        others = {"gains": "rows", "importance": "nuggets", "threshold": "nuggets", "spans": "nuggets"}
        for name, wanted in others.items():
            if name in params and of != wanted:
                raise ParameterError(f"{self.NAME}: {name} needs of={wanted!r}, given of={of!r}")

    def doubt(self, levels: Levels) -> str:
        return super().doubt(levels) if self["of"] == "nuggets" else CharacterMeasure.doubt(self, levels)

    def contributions(self, views: Views) -> Contributions:
        length = float(self["L"])
        if self["of"] == "nuggets":
            rank, position = self.covered(views)
            value = np.where(position < NEVER, np.maximum(length - position, 0.0), 0.0)
            return self.of_nuggets(views, self.share(views), rank, value, length, "the weight times L")
        view = self.passages(views)
        if self["of"] == "rows":
            end = view.all.lengths.down_to(view.n, view.topic)
            norm = np.full(views.levels.topics, length)
            return Contributions(view, self._gains(views) * np.maximum(length - end, 0.0), norm, "L")
        highlighted = highlighted_text(views.levels, self["rel"])
        pieces = Pieces.of(view.all.rows, highlighted, views.levels.topics)
        # The sum of L - p over the characters of each piece down to L.
        size = np.minimum(pieces.size, np.maximum(np.floor(length) - pieces.above, 0.0))
        terms = np.zeros(view.all.rows.rank.size)
        np.add.at(terms, pieces.row, size * (length - pieces.above - (size + 1) / 2))
        norm = view.R.astype(np.float64) * length
        return Contributions(view, terms[view.at], norm, "the highlighted characters times L")

    def _gains(self, views: Views) -> Floats:
        """Return the gain of the highest level of highlighted text in each row."""
        view = self.passages(views)
        gain = np.zeros(view.topic.size)
        values = views.levels.highlighted_levels
        for level in values[values >= self["rel"]].tolist():
            # The rows of this view are among those of the lowest level.
            gain[np.searchsorted(view.at, views.passages(level, None).at)] = self["gains"].get(level, level)
        return gain

    def columns(self, views: Views) -> dict[str, Floats]:
        if self["of"] == "nuggets":
            return self.nugget_columns(views, self.share(views))
        gain = {"gain": self._gains(views)} if self["of"] == "rows" else {}
        return {**super().columns(views), **gain}


NuggetR = register(_NuggetR())
U = register(_U())
