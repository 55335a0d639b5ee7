"""Errors of MAgP, gP and gR, of articles with one span each, anywhere in 2^48 positions."""

from __future__ import annotations

import math
import random
from collections import namedtuple
from decimal import Decimal

import number_cases
from reference import passages

from ir_graded.evaluation.provider import PROVIDER
from ir_graded.measures import REGISTRY

MEASURES = {name: REGISTRY[name] for name in passages.MEASURES}
_BETAS = (0, 5e-324, 1e-308, 1e-16, 0.3, 1 - 2**-53, 1, 1 + 2**-52, 7, 1e12, 1e100, math.inf)
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


def errors(measure, largest, seeds=range(4), articles=40):
    """Return the error of each score, as in ``number_cases``."""
    qrels, run = [], []
    for seed in seeds:
        judged, retrieved = collection(seed, largest, articles)
        qrels += [Judged(str(seed), doc, *row) for doc, row in judged.items()]
        run += [Found(str(seed), doc, -float(n), *row) for n, (doc, row) in enumerate(retrieved.items())]
    measures = variants(measure)
    expected = {one: passages.evaluate(one.NAME, one.params, qrels, run, number=Decimal) for one in measures}
    for metric in PROVIDER.evaluator(measures, qrels).iter_calc(run):
        exact = expected[metric.measure][metric.query_id]
        error = number_cases.ulps(metric.value, exact)
        yield error, str(metric.measure), metric.query_id, metric.value, float(exact)
