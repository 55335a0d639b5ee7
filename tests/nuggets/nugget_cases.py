"""Shared by tests of nuggets: the worked example, random topics, and the values of the reference."""

from __future__ import annotations

import random
from fractions import Fraction

import pandas as pd
from reference import chunks, nuggets

import ir_graded

GOLD = ["query_id", "doc_id", "relevance", "start", "length", "iteration", "importance"]
RUN = ["query_id", "doc_id", "score", "start", "length", "tokens"]

#: n1 and n2 are vital; n3 c has level 0, n4 is listed only.
EXAMPLE = pd.DataFrame(
    [
        ("1", "a", 1, 0, 40, "n1", "vital"),
        ("1", "b", 1, 10, 30, "n1", "vital"),
        ("1", "a", 2, 100, 50, "n2", "vital"),
        ("1", "b", 1, 60, 20, "n3", "okay"),
        ("1", "c", 0, 0, 10, "n3", "okay"),
        ("1", "c", 0, 0, 0, "n4", "okay"),
    ],
    columns=GOLD,
)
EXAMPLE_RUN = pd.DataFrame(
    [
        ("1", "a", 5, 20, 100, 25),
        ("1", "b", 4, 0, 35, 9),
        ("1", "b", 3, 35, 50, 12),
        ("1", "d", 2, 0, 200, 50),
        ("1", "a", 1, 120, 60, 15),
    ],
    columns=RUN,
)
#: The same as documents.
DOCUMENTS = EXAMPLE.drop(columns=["start", "length"])
WEIGHTS = {"all": {}, "vital": {"okay": 0, "failed": 0}, "weighted": {"okay": Fraction(1, 2), "failed": 0}}


def mean(measure, qrels=EXAMPLE, run=EXAMPLE_RUN, **options):
    """Return the mean score of a run."""
    return float(ir_graded.evaluate(measure, qrels, run, **options).mean().iloc[0, 0])


def random_topics(seed, topics):
    """Return qrels and a run with small random topics."""
    source = random.Random(seed)  # noqa: S311
    gold, run = [], []
    for number in range(topics):
        topic, docs = str(number), "abcd"[: source.randint(1, 4)]
        for nugget in range(source.randint(1, 5)):
            importance = source.choice(["vital", "vital", "okay", "okay", " Vital "])
            for _ in range(source.randint(1, 3)):
                start, length = source.randint(0, 30), source.choice([0, 1, 3, 5, 10, 10, 25])
                level = source.choice([-1, 0, 1, 1, 2, 2, 3])
                gold.append((topic, source.choice(docs), level, start, length, f"n{nugget}", importance))
        for rank in range(source.randint(0, 8)):
            length = source.choice([0, 1, 4, 10, 10, 20, 40])
            tokens = source.choice([0, 1, length // 4, 7])
            start = source.randint(0, 40)
            run.append((topic, source.choice(f"{docs}xy"), 100 - rank, start, length, tokens))
    run.append(("none", "a", 1, 0, 5, 1))
    return pd.DataFrame(gold, columns=GOLD), pd.DataFrame(run, columns=RUN)


def expected(measure, gold, run):
    """Return the value of the reference for one topic, from rows of the tables without the topic."""
    params = dict(measure.params)
    ranked = sorted(run, key=lambda row: -row[1])
    rows = [(doc_id, start, length) for doc_id, _, start, length, _ in ranked]
    unit = params.pop("unit", "characters")
    costs = [row[4] if unit == "tokens" else row[3] for row in ranked]
    rows = nuggets.kept(
        rows, costs, params.pop("cutoff", None), params.pop("budget", None), params.pop("fit", "cut")
    )
    importance = params.pop("importance", "all")
    if isinstance(importance, str):
        weight = WEIGHTS[importance]
    else:
        weight = {word: Fraction(importance.get(level, 0)) for word, level in (("vital", 2), ("okay", 1))}
    weights = {row[4]: Fraction(weight.get(row[5].strip().lower(), 1)) for row in gold}
    spans = [row[:5] for row in gold]
    if measure.NAME == "NuggetR":
        return nuggets.nugget_r(spans, weights, rows, **params)
    if measure.NAME == "U":
        of, length = params.pop("of", "rows"), params.pop("L")
        if of == "rows":
            return nuggets.u_rows(spans, rows, length, params.pop("gains", {}), **params)
        if of == "characters":
            return nuggets.u_characters(spans, rows, length, **params)
        return nuggets.u_nuggets(spans, weights, rows, length, **params)
    judged, found = (
        [("1", *row[:4]) for row in spans],
        [("1", doc_id, -rank, start, length) for rank, (doc_id, start, length) in enumerate(rows)],
    )
    return chunks.evaluate(measure.NAME, params, judged, found)["1"]
