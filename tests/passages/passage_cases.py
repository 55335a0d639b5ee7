"""Shared by the tests of passage measures: tables with spans, drawn and random, and their scores."""

import math
from functools import partial

import helpers
import ir_measures
import numpy as np
import pandas as pd
import pytest
from helpers import VALUE
from hypothesis import strategies as st
from measures import measure_cases
from reference import passages

import ir_graded

#: Mark of tests in which ``ranks`` is not set, and documents are at other ranks than their first rows.
by_document = pytest.mark.filterwarnings("ignore:.* documents, but in :ir_graded.CoverageWarning")

MEASURES = {"MAgP": ir_graded.MAgP, "gP": ir_graded.gP, "gR": ir_graded.gR}


# ---------------------------------------------------------------------------------------------- tables


#: Names of the columns, in the order of the rows' values.
names = partial(helpers.names, spans=True)


def frame(kind, rows):
    """Return rows ``(query_id, doc_id, relevance or score, start, length)`` as a table."""
    return pd.DataFrame(rows, columns=names(kind))


def qrels_of(*rows):
    return frame("qrels", rows)


def run_of(*rows):
    return frame("run", rows)


def one_topic(articles):
    """Return rows of topic 1, from ``(doc_id, value, 'start:length start:length ...')``."""
    return [
        ("1", doc_id, value, *map(int, span.split(":")))
        for doc_id, value, spans in articles
        for span in spans.split()
    ]


def one_row_an_article(kind, rows):
    """Return the table of documents: the largest value of each article, no spans."""
    columns = ["query_id", "doc_id"]
    return frame(kind, rows).groupby(columns, sort=False, as_index=False)[VALUE[kind]].max()


# ---------------------------------------------------------------------------------------------- scores


def scores(measures, qrels, run):
    """Return the score by measure and topic from ir_measures."""
    found = {}
    for metric in ir_measures.iter_calc(list(measures), qrels, run):
        by_topic = found.setdefault(str(metric.measure), {})
        assert metric.query_id not in by_topic
        by_topic[metric.query_id] = metric.value
    return found


def score(measure, qrels, run):
    """Return the score of topic 1 alone, from rows instead of tables."""
    (by_topic,) = scores([measure], frame("qrels", qrels), frame("run", run)).values()
    assert by_topic.keys() == {"1"}
    return by_topic["1"]


def assert_equal_the_reference(chosen, qrels, run):
    """Compare all measures with parameters, in one call, with the plain reference."""
    measures = {MEASURES[name](**params): (name, params) for name, params in chosen}
    found = scores(measures, frame("qrels", qrels), frame("run", run))
    for measure, (name, params) in measures.items():
        expected = passages.evaluate(name, params, qrels, run)
        measure_cases.assert_same_scores(found.get(str(measure), {}), expected)


# ------------------------------------------------------------------------------------------------ drawn

ARTICLES = ("d1", "d2", "d3", "d10", "D1", "d", "é", "𝄞")
TOPICS = {"qrels": ("1", "1", "1", "10", "2"), "run": ("1", "1", "1", "10", "other")}
LEVELS = (-1, 0, 0.5, 1, 1, 1, 2, 2, 3)
SCORES = measure_cases.SCORES
BETAS = (0, 0.25, 0.5, 1, 4, 1e-100, 1e100, math.inf)
#: Text is found at small positions, where spans overlap, and sometimes far out.
STARTS = (*range(25), 2**31 - 3, 2**48 - 20)


def rows(kind, min_size=0, max_size=24, topics=None, levels=LEVELS, min_length=0):
    """Draw rows of a table in any order: spans that overlap, touch, contain others or are empty."""
    return st.lists(
        st.tuples(
            st.sampled_from(topics or TOPICS[kind]),
            st.sampled_from(ARTICLES),
            st.sampled_from(levels if kind == "qrels" else SCORES),
            st.sampled_from(STARTS),
            st.integers(min_length, 9),
        ),
        min_size=min_size,
        max_size=max_size,
    )


def qrels(min_size=1, **options):
    return rows("qrels", min_size, **options)


def runs(**options):
    return rows("run", **options)


def parameters():
    """Draw a measure's name, and parameters that it takes."""
    drawn = st.tuples(
        st.sampled_from(tuple(MEASURES)),
        st.fixed_dictionaries(
            {},
            optional={
                "beta": st.one_of(st.sampled_from(BETAS), st.floats(0, 1e6)),
                "rel": st.sampled_from((0.5, 1, 1.5, 2, 3)),
            },
        ),
        st.sampled_from((None, 1, 2, 3, 5, 8, 1000)),
    )
    return drawn.map(_with_cutoff)


def _with_cutoff(drawn):
    name, params, cutoff = drawn
    if cutoff is None:
        return "MAgP", params
    return name, {**params, "cutoff": cutoff}


# ---------------------------------------------------------------------------------------------- random


def random_rows(seed, topics=40, articles=200, passages_each=4, judged=80):
    """Return qrels and a run of many topics in random order, with one-sided articles and topics, and ties."""
    random = np.random.default_rng(seed)
    qrels, run = [], []
    for topic in range(topics + 2):
        names = [f"d{n}" for n in random.permutation(2 * articles)]
        retrieved, known = names[:articles], random.choice(names, judged, replace=False)
        scores = np.round(random.normal(size=articles), 1 if topic % 2 else 6)
        if topic > 0:
            for doc_id, score in zip(retrieved, scores.tolist(), strict=True):
                spans = _random_spans(random, passages_each)
                # Only the best passage has the score of the article.
                run += [(str(topic), doc_id, score - abs(at), *span) for at, span in enumerate(spans)]
        if topic <= topics:
            for doc_id in known.tolist():
                level = int(random.integers(-1, 4))
                spans = _random_spans(random, int(random.integers(1, 2 * passages_each)))
                qrels += [(str(topic), doc_id, max(level - at % 2, -1), *s) for at, s in enumerate(spans)]
    return [[rows[at] for at in random.permutation(len(rows))] for rows in (qrels, run)]


def _random_spans(random, many):
    lengths = random.integers(0, 60, many) * (random.random(many) > 0.1)
    return list(zip(random.integers(0, 200, many).tolist(), lengths.tolist(), strict=True))
