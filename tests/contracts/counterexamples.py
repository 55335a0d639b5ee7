"""The counterexamples in the docstrings as objects: check that each shows the declared lack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
from contracts import contract_cases as cases

from ir_graded.evaluation.provider import PROVIDER
from ir_graded.measures.classic import scorer_of

#: A score must differ by more than this, so that the difference is not rounding.
CLEARLY = 1e-9


@dataclass(frozen=True)
class Counterexample:
    """A property that a measure lacks: qrels of one topic, and one run, or two that differ by one change."""

    lacks: str
    measure: Any
    qrels: Any
    run: Any
    changed: Any = None

    def is_violated_by(self, measure):
        """Return whether the property fails for ``measure`` on this example."""
        score = mean(measure, self.qrels, self.run)
        if self.lacks == "nothing":
            return score != 0
        if self.lacks == "ideal":
            return score < scorer_of(measure).RANGE[1] - CLEARLY
        if self.lacks == "truncation":
            uncut = mean(cases.without(measure, "cutoff"), self.qrels, self.changed)
            return abs(score - uncut) > CLEARLY
        return mean(measure, self.qrels, self.changed) < score - CLEARLY

    def assert_shows_what_it_says(self):
        """Check that the run, and the change if there is one, are of the kind that the property describes."""
        levels, before, after = levels_of(self.qrels), ranking_of(self.run), ranking_of(self.changed)
        if self.lacks == "nothing":
            assert before
            assert not any(levels.get(doc, 0) > 0 for doc in before)
        elif self.lacks == "ideal":
            assert before
            assert [before] == list(cases.ideal_rankings(self.measure, {"1": levels}).values())
        elif self.lacks == "truncation":
            assert after == before[: self.measure["cutoff"]] != before
        else:
            moved = [n for n, pair in enumerate(zip(before, after, strict=True)) if len(set(pair)) > 1]
            high, low = moved if len(moved) == 2 else [*moved, len(before)]
            better, worse = after[high], before[high]
            assert cases.is_better(self.measure, levels.get(better), levels.get(worse))
            assert after[:low] == [*before[:high], better, *before[high + 1 : low]]
            assert after[low:] == ([worse, *before[low + 1 :]] if low < len(before) else [])
            assert self.lacks == "exchange" or low == high + 1 < len(before)
            assert passages_of(self.run) == passages_of(self.changed)


def recorded(declared):
    """Return the counterexamples in the docstring of a class, by property."""
    found = {}
    for lacks, code in cases.blocks(declared).items():
        names = cases.run_examples(code)
        found[lacks] = Counterexample(
            lacks, names["measure"], names["qrels"], names["run"], names.get("changed")
        )
    return found


def mean(measure, qrels, run):
    """Return the measure's aggregate, which is the score of the only topic."""
    return PROVIDER.calc_aggregate([measure], qrels, run)[measure]


def levels_of(qrels):
    """Return the level of each document of the topic; an article has its highest level."""
    if isinstance(qrels, pd.DataFrame):
        return qrels.groupby("doc_id")["relevance"].max().to_dict()
    return qrels["1"]


def ranking_of(run):
    """Return documents by score; articles by their best passage."""
    if run is None:
        return []
    by_doc = run.groupby("doc_id")["score"].max() if isinstance(run, pd.DataFrame) else pd.Series(run["1"])
    assert by_doc.is_unique
    return by_doc.sort_values(ascending=False).index.tolist()


def passages_of(run):
    """Return the passages that a run retrieved, without their scores."""
    if not isinstance(run, pd.DataFrame):
        return None
    return sorted(run[["doc_id", "start", "length"]].itertuples(index=False, name=None))
