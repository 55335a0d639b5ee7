"""Measures of ranked passages by characters: CharP, CharR, CharF and IoU at k rows, iP and AiP."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ir_graded.core.article_view import f_weights
from ir_graded.core.passage_view import PassageView
from ir_graded.core.segments import Floats, Ints, maximum_from
from ir_graded.core.views import Views
from ir_graded.errors import InputError, ParameterError

from .base import GradedMeasure, register
from .contributions import Contributions
from .params import CUTOFF, GAINS, REL, Choice, Flag, Number
from .relevant_in_context import F_BETA

OVERLAP_ONCE = Choice(
    "text in several rows: 'retrieved' counts its length in each and finds it once, 'once' counts it once",
    ("retrieved", "once"),
    default="retrieved",
)
OVERLAP = Choice(
    "text in several rows: 'retrieved' counts its length in each and finds it once, 'once' counts it once, "
    "'each' counts and finds it in each",
    ("retrieved", "once", "each"),
    default="retrieved",
)
OVERLAP_OR_ERROR = Choice(
    "overlapping rows of an article: 'error' rejects them, 'retrieved' finds text in the best row that holds "
    "it",
    ("error", "retrieved"),
    default="error",
)
RECALL = Number("the point of recall at which precision is taken", low=0, high=1, required=True)
GRADED = Flag("weight each character by the gain of the highest level that highlights it")

_CHUNKS = "Smith and Troynikov 2024"


class CharacterMeasure(GradedMeasure):
    """A measure of rows of a run that are passages; it needs the columns start and length."""

    NEEDS_PASSAGES = True
    NEEDS_ROWS = True
    LACKS = {"swap": "a row of a higher level may hold less highlighted text or more other text"}

    def passages(self, views: Views) -> PassageView:
        """Return the view of the rows with highlighted text."""
        return views.passages(self["rel"], self.optional("cutoff"))

    def columns(self, views: Views) -> dict[str, Floats]:
        view = self.passages(views)
        spans = view.rows.spans
        columns = {
            "start": spans.start,
            "length": spans.stop - spans.start,
            "found": view.found,
            "P": view.precision,
            "R": view.found_down_to / view.R[view.topic],
        }
        return {name: np.asarray(values) for name, values in columns.items()}


class SetMeasure(CharacterMeasure):
    """A measure of the characters in the first rows, whose order does not matter."""

    SUPPORTED_PARAMS = {"cutoff": CUTOFF, "rel": REL, "overlap": OVERLAP_ONCE}
    #: The divisor in words.
    NORM: ClassVar[str]

    def norm(self, view: PassageView) -> Floats:
        """Return the divisor of the number of characters found, shape ``(topics,)``."""
        raise NotImplementedError  # pragma: no cover

    def contributions(self, views: Views) -> Contributions:
        view = self.passages(views)
        found = view.each if self["overlap"] == "each" else view.found
        return Contributions(view, found.astype(np.float64), self.norm(view), self.NORM)

    def retrieved(self, view: PassageView) -> Ints:
        """Return the number of characters retrieved, as ``overlap`` counts them."""
        return view.retrieved_characters(once=self["overlap"] == "once")


class _CharP(SetMeasure):
    """Precision of the characters in the first rows.

    ``CharP@k = highlighted characters found in the first k rows / characters in these rows``. All rows count,
    including those of unjudged articles. With ``overlap='retrieved'`` text in several rows counts in the
    length of each row and is found once, so that repeating text does not raise the score. With ``'once'`` it
    counts once in numerator and denominator. With ``'each'`` each row is counted separately. In [0, 1].

    Parameters: cutoff (in rows), rel, overlap.

    Source: Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (Chroma, 2024); Pehcevski and
    Thom, "HiXEval: Highlighting XML Retrieval Evaluation" (INEX 2005).

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": "a", "start": 0, "length": 40}
        >>> qrels = pd.DataFrame({"relevance": [1], **gold})
        >>> run = pd.DataFrame({"score": [2, 1], **gold, "start": [0, 20], "length": [30, 40]})
        >>> ir_measures.calc_aggregate([ir_graded.CharP], qrels, run)
        {CharP: 0.571428...}

    Lacks swap:
        >>> measure, two = ir_graded.CharP @ 1, {"query_id": "1", "doc_id": ["a", "b"]}
        >>> qrels = pd.DataFrame({**two, "relevance": [2, 1], "start": 0, "length": 10})
        >>> run = pd.DataFrame({**two, "score": [1, 2], "start": [5, 0], "length": [100, 10]})
        >>> changed = run.assign(score=[2, 1])
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [1.0, 0.05]
    """

    NAME = "CharP"
    PRETTY_NAME = "Character Precision"
    SHORT_DESC = "The share of characters in the first rows that are highlighted."
    SOURCE = _CHUNKS
    SUPPORTED_PARAMS = {**SetMeasure.SUPPORTED_PARAMS, "overlap": OVERLAP}
    NORM = "the characters retrieved"

    def norm(self, view: PassageView) -> Floats:
        return self.retrieved(view).astype(np.float64)


class _CharR(SetMeasure):
    """Recall of the highlighted characters in the first rows.

    ``CharR@k = highlighted characters found in the first k rows / highlighted characters of the topic``.
    With ``graded=True`` each character is weighted by the gain of the highest level that highlights it:
    ``sum of gain over the characters found / sum of gain over all highlighted characters``. With
    ``overlap='each'`` each row is counted separately. Text in several rows is then found several times, and
    recall **may exceed 1**, as in LegalBench-RAG. In [0, inf); without ``'each'`` at most 1.

    Parameters: cutoff (in rows), rel, overlap, graded, gains (only with graded).

    Source: Pipitone and Alami, "LegalBench-RAG: A Benchmark for Retrieval-Augmented Generation in the Legal
    Domain" (arXiv, 2024).

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": "a", "start": 0, "length": 40}
        >>> qrels = pd.DataFrame({"relevance": [1], **gold})
        >>> run = pd.DataFrame({"score": [2, 1], **gold, "start": [0, 20], "length": [30, 40]})
        >>> ir_measures.calc_aggregate([ir_graded.CharR @ 1, ir_graded.CharR(overlap="each")], qrels, run)
        {CharR@1: 0.75, CharR(overlap='each'): 1.25}

    Lacks swap:
        >>> measure, two = ir_graded.CharR @ 1, {"query_id": "1", "doc_id": ["a", "b"]}
        >>> qrels = pd.DataFrame({**two, "relevance": [2, 1], "start": 0, "length": 10})
        >>> run = pd.DataFrame({**two, "score": [1, 2], "start": [5, 0], "length": [100, 10]})
        >>> changed = run.assign(score=[2, 1])
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.5, 0.25]
    """

    NAME = "CharR"
    PRETTY_NAME = "Character Recall"
    SHORT_DESC = "The share of the highlighted characters that the first rows hold."
    SOURCE = "Pipitone and Alami 2024"
    SUPPORTED_PARAMS = {**SetMeasure.SUPPORTED_PARAMS, "overlap": OVERLAP, "graded": GRADED, "gains": GAINS}
    NORM = "the highlighted characters"
    RANGE = (0.0, np.inf)

    def check_combination(self, params: Mapping[str, Any]) -> None:
        if params.get("graded") and params.get("overlap") == "each":
            raise ParameterError("CharR: graded=True needs overlap='retrieved' or 'once'")
        if params.get("gains") and not params.get("graded"):
            raise ParameterError("CharR: gains need graded=True")

    def norm(self, view: PassageView) -> Floats:
        return view.R.astype(np.float64)

    def contributions(self, views: Views) -> Contributions:
        if not self["graded"]:
            return super().contributions(views)
        view = self.passages(views)
        term, norm = np.zeros(view.topic.size), np.zeros(views.levels.topics)
        for level, weight in self._steps(views).items():
            # The rows of this view are among those of the lowest level.
            higher = views.passages(level, self.optional("cutoff"))
            key, own = (one.topic << 32 | one.n for one in (view, higher))
            term[np.searchsorted(key, own)] += weight * higher.found
            norm += weight * higher.R
        return Contributions(view, term, norm, "the gain of all highlighted characters")

    def _steps(self, views: Views) -> dict[float, float]:
        """Return the gain of each level minus that of the next lower level."""
        values = views.levels.highlighted_levels
        levels = values[values >= self["rel"]]
        gains = [self["gains"].get(level, level) for level in levels.tolist()]
        steps = np.diff(gains, prepend=0)
        if (steps < 0).any():
            raise ParameterError(f"{self}: gains must not fall from a level to a higher one, found {gains}")
        return dict(zip(levels.tolist(), steps.tolist(), strict=True))

    def score(self, views: Views) -> Floats:
        score = super().score(views)
        # Only characters that count in each row that holds them can add up to more than 1.
        return score if self["overlap"] == "each" else np.minimum(score, 1.0)


class _CharF(SetMeasure):
    """F-score of the characters in the first rows.

    ``CharF@k = (1 + beta^2) P R / (beta^2 P + R)`` with P = CharP@k and R = CharR@k. In [0, 1].

    Parameters: cutoff (in rows), rel, overlap, beta.

    Source: Pehcevski and Thom, "HiXEval: Highlighting XML Retrieval Evaluation" (INEX 2005).

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": "a", "start": 0, "length": 40}
        >>> qrels = pd.DataFrame({"relevance": [1], **gold})
        >>> run = pd.DataFrame({"score": [2, 1], **gold, "start": [0, 20], "length": [30, 40]})
        >>> ir_measures.calc_aggregate([ir_graded.CharF], qrels, run)
        {CharF: 0.727272...}

    Lacks swap:
        >>> measure, two = ir_graded.CharF @ 1, {"query_id": "1", "doc_id": ["a", "b"]}
        >>> qrels = pd.DataFrame({**two, "relevance": [2, 1], "start": 0, "length": 10})
        >>> run = pd.DataFrame({**two, "score": [1, 2], "start": [5, 0], "length": [100, 10]})
        >>> changed = run.assign(score=[2, 1])
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.666666..., 0.083333...]
    """

    NAME = "CharF"
    PRETTY_NAME = "Character F-score"
    SHORT_DESC = "The weighted harmonic mean of precision and recall of characters."
    SOURCE = "Pehcevski and Thom 2005"
    SUPPORTED_PARAMS = {**SetMeasure.SUPPORTED_PARAMS, "beta": F_BETA}
    NORM = "the weighted mean of characters retrieved and highlighted"

    def norm(self, view: PassageView) -> Floats:
        of_highlighted, of_retrieved = f_weights(self["beta"])
        weighted = of_highlighted * view.R + of_retrieved * self.retrieved(view)
        return np.asarray(weighted / (of_highlighted + of_retrieved))


class _IoU(SetMeasure):
    """Intersection over union of the characters in the first rows and the highlighted ones.

    ``IoU@k = found / (characters in the first k rows + highlighted characters - found)``. Chunking
    experiments call it the Jaccard index of tokens, although they count characters. In [0, 1].

    Parameters: cutoff (in rows), rel, overlap.

    Source: Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (Chroma, 2024).

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": "a", "start": 0, "length": 40}
        >>> qrels = pd.DataFrame({"relevance": [1], **gold})
        >>> run = pd.DataFrame({"score": [2, 1], **gold, "start": [0, 20], "length": [30, 40]})
        >>> ir_measures.calc_aggregate([ir_graded.IoU(overlap="once")], qrels, run)
        {IoU(overlap='once'): 0.666666...}

    Lacks swap:
        >>> measure, two = ir_graded.IoU @ 1, {"query_id": "1", "doc_id": ["a", "b"]}
        >>> qrels = pd.DataFrame({**two, "relevance": [2, 1], "start": 0, "length": 10})
        >>> run = pd.DataFrame({**two, "score": [1, 2], "start": [5, 0], "length": [100, 10]})
        >>> changed = run.assign(score=[2, 1])
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.5, 0.043478...]
    """

    NAME = "IoU"
    PRETTY_NAME = "Intersection over Union"
    SHORT_DESC = "Characters both retrieved and highlighted, divided by those that are either."
    SOURCE = _CHUNKS
    NORM = "the characters retrieved or highlighted"

    def norm(self, view: PassageView) -> Floats:
        return (self.retrieved(view) + view.R - view.total_found).astype(np.float64)


class InterpolatedPrecision(CharacterMeasure):
    """A measure of the precision at points of recall, over rows that do not overlap."""

    SUPPORTED_PARAMS = {"rel": REL, "overlap": OVERLAP_OR_ERROR}

    def passages(self, views: Views) -> PassageView:
        rows = views.hits.rows
        if rows is not None and rows.overlap and self["overlap"] == "error":
            raise InputError(
                f"{self} needs passages that do not overlap, but two do: {rows.overlap}; remove one, or set "
                "overlap='retrieved' to count text in the best row that holds it"
            )
        return super().passages(views)

    def best_precision(self, view: PassageView) -> Floats:
        """Return the largest precision at each row and all later ones."""
        return maximum_from(view.precision, view.topic)


class _iP(InterpolatedPrecision):
    """Interpolated precision at a point of recall.

    ``iP@x = the largest P[r] over the ranks r with R[r] >= x``, or 0 without such a rank. P[r] and R[r] are
    precision and recall of the characters in the first r rows. R[r] and x are compared exactly. In [0, 1].

    Parameters: recall (needed, the x of iP@x), rel, overlap.

    Source: Kamps, Pehcevski, Kazai, Lalmas and Robertson, "INEX 2007 Evaluation Measures" (INEX, 2008).

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": "a", "start": 0, "length": 40}
        >>> qrels = pd.DataFrame({"relevance": [1], **gold})
        >>> run = pd.DataFrame({"score": [2, 1], **gold, "start": [0, 30], "length": [30, 40]})
        >>> ir_measures.calc_aggregate([ir_graded.iP @ 0.01, ir_graded.iP @ 0.9], qrels, run)
        {iP@0.01: 1.0, iP@0.9: 0.571428...}

    Lacks swap:
        >>> measure, two = ir_graded.iP @ 0.5, {"query_id": "1", "doc_id": ["a", "b"]}
        >>> qrels = pd.DataFrame({**two, "relevance": [2, 1], "start": 0, "length": 10})
        >>> run = pd.DataFrame({**two, "score": [1, 2], "start": [5, 0], "length": [100, 10]})
        >>> changed = run.assign(score=[2, 1])
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [1.0, 0.136363...]
    """

    NAME = "iP"
    PRETTY_NAME = "Interpolated Precision"
    SHORT_DESC = "The largest precision of characters at or after a point of recall."
    SOURCE = "Kamps et al. 2008"
    SUPPORTED_PARAMS = {"recall": RECALL, **InterpolatedPrecision.SUPPORTED_PARAMS}
    AT_PARAM = "recall"

    def contributions(self, views: Views) -> Contributions:
        view = self.passages(views)
        x = Fraction(repr(self["recall"]))
        # Python integers, since the products may exceed 64 bits.
        needed = -(-view.R.astype(object) * x.numerator // x.denominator)
        threshold = needed.astype(np.int64)[view.topic]
        found = view.found_down_to
        first = (found >= threshold) & ((found - view.found < threshold) | (view.C == 1))
        return Contributions(view, np.where(first, self.best_precision(view), 0.0))


class _AiP(InterpolatedPrecision):
    """Average interpolated precision; its mean over topics is called MAiP.

    ``AiP = 1/101 * sum over i = 0 .. 100 of iP@(i/100)``. It is the official measure of the focused task of
    INEX. In [0, 1].

    Parameters: rel, overlap.

    Source: Kamps, Pehcevski, Kazai, Lalmas and Robertson, "INEX 2007 Evaluation Measures" (INEX, 2008).

    Example:
        >>> import ir_graded, ir_measures, pandas as pd
        >>> gold = {"query_id": "1", "doc_id": "a", "start": 0, "length": 40}
        >>> qrels = pd.DataFrame({"relevance": [1], **gold})
        >>> run = pd.DataFrame({"score": [2, 1], **gold, "start": [0, 30], "length": [30, 40]})
        >>> ir_measures.calc_aggregate([ir_graded.AiP], qrels, run)
        {AiP: 0.893917...}

    Lacks swap:
        >>> measure, two = ir_graded.AiP, {"query_id": "1", "doc_id": ["a", "b"]}
        >>> qrels = pd.DataFrame({**two, "relevance": [2, 1], "start": 0, "length": 10})
        >>> run = pd.DataFrame({**two, "score": [1, 2], "start": [5, 0], "length": [100, 10]})
        >>> changed = run.assign(score=[2, 1])
        >>> [measure.calc_aggregate(qrels, each) for each in (run, changed)]
        [0.538703..., 0.102610...]
    """

    NAME = "AiP"
    PRETTY_NAME = "Average Interpolated Precision"
    SHORT_DESC = "The mean of the interpolated precision of characters at 101 points of recall."
    SOURCE = "Kamps et al. 2008"

    def contributions(self, views: Views) -> Contributions:
        view = self.passages(views)
        found = view.found_down_to
        total = view.R[view.topic]
        # The points of recall that each row is the first to reach; the first one also reaches 0.
        reached = found * 100 // total
        before = np.where(view.C == 1, -1, (found - view.found) * 100 // total)
        points = np.full(view.levels.topics, 101.0)
        return Contributions(view, (reached - before) * self.best_precision(view), points, "points of recall")


CharP = _CharP()
register(CharP)
CharR = _CharR()
register(CharR)
CharF = _CharF()
register(CharF)
IoU = _IoU()
register(IoU)
iP = _iP()
register(iP)
AiP = _AiP()
register(AiP, "MAiP")
