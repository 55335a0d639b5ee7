"""Scores of answers in plain loops over fractions: nuggets as in nuggetizer, citations as in TREC RAG.

An answer is a dict with qid, run_id and nuggets or support_eval, as in the files.
"""

from fractions import Fraction

CREDITS = {"support": Fraction(1), "partial_support": Fraction(1, 2)}
LEVELS = {"vital": 2, "okay": 1}
SUPPORT = {"FS": Fraction(1), "PS": Fraction(1, 2), "NS": Fraction(0), None: Fraction(0)}


def weight(importance, label):
    """Return the weight of a nugget by the label of its importance."""
    level = LEVELS.get(label.strip().casefold())
    if importance == "all":
        return Fraction(1)
    table = (
        {"vital": {2: 1}, "weighted": {2: 1, 1: 0.5}}.get(importance)
        if isinstance(importance, str)
        else importance
    )
    return Fraction(table.get(level, 0))


def nugget_score(listed, assigned, importance="all", strict=False):
    """Return the score of an answer to a topic whose nuggets are ``listed``."""
    left = list(assigned)
    total = supported = Fraction(0)
    for nugget in listed:
        credit = Fraction(0)
        for at, other in enumerate(left):
            if other["text"] == nugget["text"]:
                credit = CREDITS.get(left.pop(at)["assignment"].strip().casefold(), Fraction(0))
                break
        if strict:
            credit = Fraction(credit == 1)
        total += weight(importance, nugget["importance"])
        supported += weight(importance, nugget["importance"]) * credit
    return supported / total if total else Fraction(0)


def nugget_scores(answers, lists=None, **params):
    """Return the scores by (run, topic)."""
    runs = dict.fromkeys(answer["run_id"] for answer in answers)
    topics = dict.fromkeys(one["qid"] for one in (lists or answers))
    scores = {}
    for run in runs:
        for topic in topics:
            own = [one for one in answers if (one["run_id"], one["qid"]) == (run, topic)]
            assigned = own[0]["nuggets"] if own else []
            listed = (
                assigned if lists is None else next(one["nuggets"] for one in lists if one["qid"] == topic)
            )
            scores[run, topic] = nugget_score(listed, assigned, **params)
    return scores


def citation_scores(answer, several="first"):
    """Return precision and recall of the citations of an answer."""
    of_citations, of_sentences = [], []
    for sentence in answer["support_eval"]:
        if not sentence.get("needs_citation", True):
            continue
        weights = [SUPPORT[label] for label in sentence["eval_scores"]]
        if several == "first":
            weights = weights[:1]
        of_citations += weights
        of_sentences.append(sum(weights) / len(weights) if weights else Fraction(0))
    precision = sum(of_citations) / len(of_citations) if of_citations else Fraction(0)
    return precision, sum(of_sentences) / len(of_sentences) if of_sentences else Fraction(0)
