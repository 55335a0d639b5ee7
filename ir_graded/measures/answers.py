"""Measures of answers: nuggets that an answer supports, and citations that support its sentences.

``ir_graded.score_answers`` computes them; they have no qrels and no ranks.
"""

from __future__ import annotations

from collections.abc import Sequence

from ir_graded.core.segments import Floats, Ints, Totals
from ir_graded.errors import ParameterError

from .base import ANSWERS, GradedMeasure, add_short_name, register, safe_divide
from .params import IMPORTANCE, Choice, Flag, importance_weights

__all__ = ["CitationP", "CitationR", "NuggetScore"]


class AnswerMeasure(GradedMeasure):
    """A measure of answers, which no function of qrels and runs computes."""

    NAMES = ANSWERS
    #: The input of ``score_answers`` that the measure scores.
    INPUT: str
    #: Command with an example of this input.
    COMMAND: str

    def validate_params(self) -> None:
        raise ParameterError(
            f"{self} scores answers, not rankings: use ir_graded.score_answers or `ir_graded answers`"
        )


class NuggetMeasure(AnswerMeasure):
    r"""The share of the nuggets of a topic that an answer supports, weighted by their importance.

    ``NuggetScore = sum of w c over the nuggets / sum of w``. The credit ``c`` of a nugget is 1 if the answer
    supports it, 0.5 if it supports it partially, else 0; with ``strict=True`` partial support counts 0. The
    weight ``w`` is 1 by default; with ``importance='vital'`` 1 for vital nuggets and else 0, with
    ``'weighted'`` 1 for vital and 0.5 for okay nuggets, and with a dict the weight of the level (vital 2,
    okay 1). A topic without weight, and one without an answer, scores 0. In [0, 1].

    Formula:
        \mathrm{NuggetScore} = \frac{\sum_{i} w_{i}\, c_{i}}{\sum_{i} w_{i}}

    Use it to compare answers of retrieval-augmented generation by the facts that they hold;
    ``NuggetScore(importance='vital',strict=True)`` is the main score of TREC 2024 RAG.

    Source: [pradeep2024initial].

    Example:
        >>> import ir_graded
        >>> rows = [("founded in 2004", "vital", "support"), ("non-profit", "vital", "partial_support")]
        >>> nuggets = [dict(zip(("text", "importance", "assignment"), row)) for row in rows]
        >>> scores = ir_graded.score_answers(
        ...     ["NuggetScore", "strict_vital_score"], [{"qid": "1", "run_id": "llama", "nuggets": nuggets}]
        ... )
        >>> scores.mean()
               NuggetScore  NuggetScore(importance='vital',strict=True)
        run
        llama         0.75                                          0.5
    """

    NAME = "NuggetScore"
    PRETTY_NAME = "Nugget Score"
    SUPPORTED_PARAMS = {
        "importance": IMPORTANCE,
        "strict": Flag("only full support counts; else partial support counts half"),
    }
    INPUT, COMMAND = "assignments", "answers assignments.jsonl"

    def weights(self, levels: Floats) -> Floats:
        """Return the weight of each nugget by its level of importance."""
        return importance_weights(self["importance"], levels)

    def of_nuggets(self, levels: Floats, credit: Floats, answer: Ints, answers: int) -> Floats:
        """Return the scores of answers; nuggets are sorted by the number of their answer."""
        weight = self.weights(levels)
        gained = weight * (credit == 1 if self["strict"] else credit)
        total = Totals(answer, answers).of
        return safe_divide(total(gained), total(weight))


class CitationMeasure(AnswerMeasure):
    """A measure of the sentences of an answer and their citations."""

    SUPPORTED_PARAMS = {
        "several": Choice(
            "citations of a sentence that count: the first, or the mean over all",
            ("first", "mean"),
            default="first",
        )
    }
    INPUT, COMMAND = "citations", "answers --citations citations.jsonl"

    def of_sentences(self, sentences: Sequence[Sequence[float]]) -> float:
        """Return the score of an answer from the weights of the citations of each sentence."""
        first = self["several"] == "first"
        total, count = self.ratio([weights[:1] if first else weights for weights in sentences])
        return total / count if count else 0.0

    def ratio(self, sentences: Sequence[Sequence[float]]) -> tuple[float, int]:
        """Return the divided and the divisor."""
        raise NotImplementedError  # pragma: no cover


class _CitationP(CitationMeasure):
    r"""The mean support of the citations of an answer.

    A citation weighs 1 if the cited document supports the sentence fully (FS), 0.5 if partially (PS), and 0
    if not (NS). ``CitationP = sum of weights / number of sentences with a citation`` takes the first citation
    of each sentence; with ``several='mean'`` it is the mean over all citations. An answer without citations
    scores 0. In [0, 1].

    Formula:
        \mathrm{CitationP} = \frac{1}{|C|} \sum_{j \in C} w_{j}

    Use it to see how far the citations of an answer can be trusted, beside ``CitationR``.

    Source: [thakur2025support].

    Example:
        >>> import ir_graded, pandas as pd
        >>> cited = [("1", "a", "FS"), ("1", "b", "NS"), ("2", "a", "PS"), ("3", None, None)]
        >>> table = pd.DataFrame(cited, columns=["sentence", "doc_id", "support"])
        >>> measures = ["CitationP", "CitationP(several='mean')", "CitationR"]
        >>> scores = ir_graded.score_answers(measures, citations=table.assign(query_id="1", run="llama"))
        >>> scores.mean()
               CitationP  CitationP(several='mean')  CitationR
        run
        llama       0.75                        0.5        0.5
    """

    NAME = "CitationP"
    PRETTY_NAME = "Citation Precision"

    def ratio(self, sentences: Sequence[Sequence[float]]) -> tuple[float, int]:
        return sum(map(sum, sentences)), sum(map(len, sentences))


class _CitationR(CitationMeasure):
    r"""The mean support of the sentences of an answer by their citations.

    ``CitationR = sum of weights / number of sentences``: the weight of a sentence is that of its first
    citation, with ``several='mean'`` the mean over its citations: 1 for full support (FS), 0.5 for partial
    support (PS), 0 for none (NS) and without a citation. Sentences that need no citation do not count. In
    [0, 1].

    Formula:
        \mathrm{CitationR} = \frac{1}{n} \sum_{j \in C} w_{j}

    Use it to see how much of an answer its citations support, beside ``CitationP``.

    Source: [thakur2025support].

    Example:
        >>> import ir_graded
        >>> sentences = [
        ...     {"answer": "It was founded in 2004.", "citations": [0, 3], "eval_scores": ["FS", "NS"]},
        ...     {"answer": "It pays no taxes.", "citations": [], "eval_scores": []},
        ... ]
        >>> answer = {"run_id": "llama", "topic_id": "1", "support_eval": sentences}
        >>> ir_graded.score_answers(["CitationR", "CitationR(several='mean')"], citations=[answer]).mean()
               CitationR  CitationR(several='mean')
        run
        llama        0.5                       0.25
    """

    NAME = "CitationR"
    PRETTY_NAME = "Citation Recall"

    def ratio(self, sentences: Sequence[Sequence[float]]) -> tuple[float, int]:
        return sum(sum(one) / len(one) for one in sentences if one), len(sentences)


NuggetScore = register(NuggetMeasure())
CitationP = register(_CitationP())
CitationR = register(_CitationR())
for _importance in ("all", "vital", "weighted"):
    add_short_name(NuggetScore, f"{_importance}_score", importance=_importance)
    add_short_name(NuggetScore, f"strict_{_importance}_score", importance=_importance, strict=True)
