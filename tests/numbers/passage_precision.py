"""MAgP, gP and gR in decimals, of articles with one span each, anywhere in 2^48 positions."""

from __future__ import annotations

import math
import random
from collections import namedtuple
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate

import number_cases
from high_precision import CONTEXT, decimal

from ir_graded.core.facets import SPAN
from ir_graded.evaluation.provider import PROVIDER
from ir_graded.measures import REGISTRY

#: tests/chunks compares measures of rows with exact fractions.
MEASURES = {
    measure.NAME: measure for measure in REGISTRY.values() if SPAN in measure.NEEDS and not measure.NEEDS_ROWS
}
_BETAS = (0, 5e-324, 1e-308, 1e-16, 0.3, 1 - 2**-53, 1, 1 + 2**-52, 7, 1e12, 1e300, 1.7e308, math.inf)
_RELS = (5e-324, 1, 1.5)
Judged = namedtuple("Judged", "query_id doc_id relevance start length")
Found = namedtuple("Found", "query_id doc_id score start length")


def variants(measure):
    """Return a measure with each value of its parameters."""
    rank = {"cutoff": 10} if measure.SUPPORTED_PARAMS["cutoff"].required else {}
    chosen = [{"beta": beta} for beta in _BETAS] + [{"rel": rel} for rel in _RELS]
    chosen += [{"cutoff": cutoff} for cutoff in (3, 2**53 - 1)]
    return [measure(**{**rank, **params}) for params in chosen]


def collection(seed, largest, articles=40):
    """Return judged (level, start, length) and ranked (start, length) spans of the articles of a topic."""
    rng = random.Random(seed)  # noqa: S311
    docs = [f"d{n}" for n in range(articles)]

    def span():
        return rng.choice([0, rng.randrange(largest), largest]), rng.choice(
            [1, 1 + rng.randrange(largest), largest]
        )

    judged = {doc: (rng.choice([1, 2]), *span()) for doc in rng.sample(docs, articles * 3 // 4)}
    return judged, {doc: span() for doc in rng.sample(docs, articles * 3 // 4)}


def f_of_article(judged, retrieved, beta):
    (_, start, length), (found, size) = judged, retrieved
    overlap = max(0, min(start + length, found + size) - max(start, found))
    if beta == math.inf:
        return decimal(Fraction(overlap, length))
    beta = Fraction(beta) ** 2
    return decimal((1 + beta) * overlap / (beta * length + size))


def expected(measure, judged, retrieved):
    with localcontext(CONTEXT):
        relevant = {doc for doc, row in judged.items() if row[0] >= measure["rel"]}
        ranks = [n for n, doc in enumerate(retrieved, 1) if doc in relevant]
        cutoff = measure.params.get("cutoff")
        ranks = [n for n in ranks if cutoff is None or n <= cutoff]
        if not relevant:
            return Decimal(0)
        if measure.NAME == "gR":
            return decimal(len(ranks)) / len(relevant)
        docs = list(retrieved)
        F = [f_of_article(judged[docs[n - 1]], retrieved[docs[n - 1]], measure["beta"]) for n in ranks]
        if measure.NAME == "gP":
            return sum(F, Decimal(0)) / cutoff
        gP = [total / n for n, total in zip(ranks, accumulate(F), strict=True)]
        return sum(gP, Decimal(0)) / len(relevant)


def errors(measure, largest, seeds=range(4), articles=40):
    """Return the error of each score, as in ``number_cases``."""
    qrels, run, spans = [], [], {}
    for seed in seeds:
        judged, retrieved = spans[str(seed)] = collection(seed, largest, articles)
        qrels += [Judged(str(seed), doc, *row) for doc, row in judged.items()]
        run += [Found(str(seed), doc, -float(n), *row) for n, (doc, row) in enumerate(retrieved.items())]
    for metric in PROVIDER.evaluator(variants(measure), qrels).iter_calc(run):
        exact = expected(metric.measure, *spans[metric.query_id])
        error = number_cases.ulps(metric.value, exact)
        yield error, str(metric.measure), metric.query_id, metric.value, float(exact)
