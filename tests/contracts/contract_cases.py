"""Shared by the contract tests: everything registered, with drawn parameters, and random collections.

Other tests over the registry are in the folder of their subject: pages in docs/test_doc_pages.py, forms of
input in ecosystem/test_forms.py and passages/test_passage_composition.py, scores in
reference/test_every_measure.py.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import pandas as pd
import pytest
from classics import classic_cases
from hypothesis import Phase, settings, strategies as st
from measures import measure_cases
from passages import passage_cases

from ir_graded import (
    DIN,
    EC,
    GF,
    GFR,
    GM,
    IA,
    AspectAP,
    CharF,
    CharP,
    CharR,
    D,
    D_sharp,
    DIN_sharp,
    I_rec,
    IA_sharp,
    IoU,
    NuggetR,
    P_plus_Q,
    P_plus_Q_sharp,
    U,
    iP,
)
from ir_graded.core.facets import SPAN
from ir_graded.evaluation.provider import PROVIDER
from ir_graded.measures import REGISTRY, GradedMeasure
from ir_graded.measures.classic import CLASSICS, scorer_of

PASSAGES = [REGISTRY[name] for name in sorted({m.NAME for m in REGISTRY.values() if SPAN in m.NEEDS})]


#: Measures that take neither passages nor intents, so that they cannot be computed beside those of these.
SAMPLED = [REGISTRY[name] for name in sorted(measure_cases.SAMPLED_MEASURES)]


def is_computed(measure):
    """Return whether the measure has all required parameters."""
    try:
        return PROVIDER.supports(measure)
    except ValueError:
        return False


#: Measures that need further columns of the qrels, each with parameters that make it computable.
WITH_COLUMNS = {
    "EC": [EC(measure=base, **at) for base in ("iRBU", "Q", "AP", "P-measure") for at in ({}, {"cutoff": 3})],
    "GF": [
        GF(groups="SIZE", divergence="NMD"),
        GF(groups="SIZE", rel=2, target=[0.2, 0.8], max_rel=20),
        GF(groups="SIZE", divergence="RNOD", gains={1: 3}) @ 3,
    ],
    "GFR": [
        GFR(groups={"SIZE": "NMD"}),
        GFR(groups={"SIZE": "RNOD"}, targets={"SIZE": [0.9, 0.1]}, measure="Q", rel=2),
        GFR(groups={"SIZE": "JSD"}, measure="EC(measure='P-measure')") @ 3,
    ],
    **{
        measure.NAME: [
            one
            for base in (*measure.SUPPORTED_PARAMS["measure"].names, "R-measure(beta=3,gains={2:0},rel=2)")
            for at in ({}, {"cutoff": 3})
            if is_computed(one := measure(measure=base, **at))
        ]
        for measure in (D, D_sharp, DIN, DIN_sharp, IA, IA_sharp)
    },
    "GM": [GM(measure=base) for base in ("AP", "Q", "RR", "nDCG")],
    "I-rec": [I_rec, I_rec(rel=2), I_rec @ 3, I_rec(judged_only=True) @ 2],
    "NuggetR": [
        *(NuggetR, NuggetR(importance="weighted", rel=2), NuggetR(spans="all", threshold=0.3) @ 3),
        *(NuggetR(budget=90), NuggetR(budget=150, fit="drop", importance="vital"), NuggetR(partial=True) @ 2),
    ],
    **{
        measure.NAME: [measure, measure(beta=3, rel=2), measure(gains={1: 3}) @ 3]
        for measure in (P_plus_Q, P_plus_Q_sharp)
    },
}
#: Measures of rows with parameters that exclude each other, or of which one is required.
_BUDGETS = [{"budget": 150}, {"budget": 70, "fit": "drop", "cutoff": 3}]
OF_ROWS = {
    "CharF": [*(CharF, CharF(beta=2, rel=2) @ 3), *(CharF(**budget) for budget in _BUDGETS)],
    "CharP": [*(CharP, CharP @ 3, CharP(overlap="each")), *(CharP(**budget) for budget in _BUDGETS)],
    "IoU": [*(IoU, IoU(rel=2), IoU(overlap="once") @ 2), *(IoU(**budget) for budget in _BUDGETS)],
    "CharR": [
        *(CharR(overlap="each", **budget) for budget in _BUDGETS),
        *(CharR, CharR(rel=2), CharR @ 3, CharR(overlap="once") @ 2, CharR(overlap="each")),
        *(CharR(graded=True), CharR(graded=True, gains={1: 0.5, 2: 2}) @ 2),
    ],
    "AspectAP": [AspectAP, AspectAP(rel=2)],
    "U": [
        *(U, U(L=150), U(L=300, gains={1: 3}, rel=2), U(L=400, of="characters")),
        *(U(L=300, of="nuggets", threshold=0.2), U(L=500, importance="vital", of="nuggets", spans="all")),
    ],
    "iP": [iP @ 0, iP @ 0.1, iP(rel=2) @ 0.29, iP(overlap="retrieved") @ 1],
}
#: Every measure of this package; measures that take a stop also appear with each other stop.
OWN = [*measure_cases.VARIANTS, *PASSAGES, *SAMPLED, *(some[0] for some in WITH_COLUMNS.values())]
#: Every measure of ir-measures that this package computes.
THEIRS = [classic.MEASURE for classic in CLASSICS.values()]
ALL = OWN + THEIRS

#: Largest effect of rounding on a score.
ROUNDING = 1e-12


def examples(count):
    """Run the same ``count`` examples every time, or as many as tests/conftest.py allows.

    A collection has nothing to shrink.
    """
    return settings(measure_cases.examples(count), phases=[Phase.generate])


def each(subjects):
    """Parametrise a test over measures."""
    return pytest.mark.parametrize("subject", subjects, ids=str)


# ---------------------------------------------------------------------------------------------- drawn


def measures(subject, having=None):
    """Draw a measure with parameters that make it computable; ``having`` is a property that it must have."""
    chosen = WITH_COLUMNS | OF_ROWS
    if subject.NAME in chosen:
        return st.sampled_from([one for one in chosen[subject.NAME] if having not in lacks(one)])
    if isinstance(subject, GradedMeasure):
        return measure_cases.parameters(subject).map(lambda params: subject(**params))
    return st.sampled_from(classic_cases.supported(subject.NAME))


@dataclass(frozen=True)
class Collection:
    """Qrels on one scale, and for each topic a ranking without ties and a run with tied documents."""

    scale: str
    qrels: dict
    rankings: dict
    run: dict


TOPICS = [str(number) for number in range(1, 13)]


def _collection(scale, seed):
    source = random.Random(f"{scale} {seed}")  # noqa: S311
    qrels, rankings = {}, {}
    for topic in TOPICS:
        docs = source.sample(measure_cases.DOC_IDS, len(measure_cases.DOC_IDS))
        judged = docs[: source.choice([1, 3, 6, 10, 14])]
        qrels[topic] = {doc: source.choice(measure_cases.SCALES[scale]) for doc in judged}
        retrieved = [doc for doc in docs if source.random() < source.choice([0.4, 0.8])]
        rankings[topic] = source.sample(retrieved, len(retrieved))
    qrels["3"] = dict.fromkeys(qrels["3"], 0)
    rankings["other"] = rankings.pop(TOPICS[-1])
    rankings["4"] = []
    run = {t: {doc: source.choice(measure_cases.SCORES) for doc in docs} for t, docs in rankings.items()}
    return Collection(scale, qrels, rankings, run)


COLLECTIONS = [_collection(scale, seed) for scale in measure_cases.SCALES for seed in range(6)]
#: gdeval's scale ends at 4.
UP_TO_4 = [one for one in COLLECTIONS if max(measure_cases.SCALES[one.scale]) <= 4]


def collections(subject):
    """Random collections on scales that the measure takes."""
    if declared(subject).NEEDS_WHOLE_LEVELS:
        return st.sampled_from([one for one in COLLECTIONS if one.scale in measure_cases.WHOLE_SCALES])
    return st.sampled_from(COLLECTIONS if subject in OWN else UP_TO_4)


def retrieved(rankings):
    """Return a run with these rankings."""
    return {topic: {doc: -float(n) for n, doc in enumerate(docs)} for topic, docs in rankings.items()}


# --------------------------------------------------------------------------------------------- scores


def scores(measure, qrels, run, *, whole=False):
    """Return the score of each topic, from dicts, or from tables if a measure needs more columns."""
    if needs_tables(measure):
        qrels, run = passage_tables(qrels, run, whole=whole)
    return {metric.query_id: metric.value for metric in PROVIDER.iter_calc([measure], qrels, run)}


def needs_tables(measure):
    """Whether a measure cannot be computed from dicts."""
    return bool(scorer_of(measure).needs)


#: The qrels have spans and intents at once, of which measures over intents ignore the spans.
BOTH_COLUMNS = pytest.mark.filterwarnings("ignore:.* counts documents. it ignores the spans:UserWarning")


#: For each intent the lowest level of its documents, its probability and its type.
INTENTS = {"every": (-math.inf, 0.5, "inf"), "one": (1, 0.2, "nav"), "high": (2, 0.3, "inf")}


def with_columns(qrels):
    """Return qrels with the columns of ``WITH_COLUMNS``, with values that depend on the level alone.

    The higher the level of a document, the more intents it has.
    """
    qrels = pd.concat(
        qrels[qrels["relevance"] >= lowest].assign(iteration=name, probability=share, intent_type=kind)
        for name, (lowest, share, kind) in INTENTS.items()
    )
    level = qrels["relevance"].to_numpy(dtype=float)
    share = 1 / (2 + abs(level))
    return qrels.assign(
        importance=qrels["iteration"].map({"every": "vital", "one": "okay", "high": 2}),
        aspects=qrels["relevance"].astype(str),
        equivalence_class=[None if each < 1 else str(each) for each in level],
        SIZE=[None if each == 0 else [one, 1 - one] for each, one in zip(level, share, strict=True)],
    )


def passage_tables(qrels, run, *, whole=False):
    """Return documents as articles with 100 positions; the higher the level, the more text is retrieved."""
    levels = sorted({level for docs in qrels.values() for level in docs.values()}, reverse=True)
    # Scores fall steeply, as otherwise hardly any exchange would matter.
    share = {level: 100 if whole else max(1, 100 // 4**at) for at, level in enumerate(levels)}
    found = [
        (topic, doc, score, 0, share.get(qrels.get(topic, {}).get(doc), 50))
        for topic, docs in run.items()
        for doc, score in docs.items()
    ]
    return qrels_table(qrels), passage_cases.frame("run", found)


def qrels_table(qrels):
    """Return qrels as a table; those of a collection are made once, as most of the time goes there."""
    known = id(qrels) if any(qrels is one.qrels for one in COLLECTIONS) else None
    if known not in TABLES:
        highlighted = [(t, doc, level, 0, 100) for t, docs in qrels.items() for doc, level in docs.items()]
        table = with_columns(passage_cases.frame("qrels", highlighted))
        if known is None:
            return table
        TABLES[known] = table
    return TABLES[known]


TABLES: dict[int, pd.DataFrame] = {}


# --------------------------------------------------------------------------- documents that a measure counts


def lacks(subject):
    """Return the properties that the measure declares to lack."""
    return scorer_of(subject).lacks if isinstance(subject, GradedMeasure) else CLASSICS[subject.NAME].LACKS


def of_contributions(measure, contributions):
    """Return the score of a topic from the contributions of its documents."""
    total = math.fsum(contributions)
    if measure.NAME == "FirstRank" and not total:
        return measure["cutoff"] + 1
    return max(total, scorer_of(measure).RANGE[0])


def declared(subject):
    """Return the class that holds the measure's declarations."""
    return type(subject) if isinstance(subject, GradedMeasure) else CLASSICS[subject.NAME]


def having(name):
    """Return the measures that do not declare to lack a property."""
    return [subject for subject in ALL if name not in lacks(subject)]


def tables(measure):
    """Return the measure's parameters that map levels to numbers."""
    return [value for value in measure.params.values() if isinstance(value, dict)]


def gain(measure, level):
    """Return the gain of a level."""
    return (measure.params.get("gains") or {}).get(level, level)


def worth(measure, level):
    """Return the value that orders the ideal list: the gain, or another value if gains do not count."""
    stop = measure["stop"] if measure.params.get("utility") else None
    if stop in {"preferred", "up_to_preferred"}:
        return level
    return measure["stops"].get(level, gain(measure, level)) if stop == "gu" else gain(measure, level)


def is_relevant(measure, level):
    """Return whether documents of a level may add to the score."""
    if not isinstance(measure, GradedMeasure):
        # In classics, gains replace levels.
        level = max(level, gain(measure, level))
    return level > 0 and level >= scorer_of(measure).cut.rel


def is_seen(measure, level):
    """Return whether a document of a level (None: unjudged) keeps a rank in the evaluated list."""
    if not measure.params.get("judged_only"):
        return True
    if level is None:
        return False
    return (level if isinstance(measure, GradedMeasure) else gain(measure, level)) >= 0


def without(measure, *names):
    """Return the measure without some of its parameters."""
    return type(measure)(**{name: value for name, value in measure.params.items() if name not in names})


def ideal_rankings(measure, qrels):
    """Return a ranking of all relevant documents by gain, and nothing else."""
    rankings = {}
    for topic, levels in qrels.items():
        relevant = [doc for doc in levels if is_relevant(measure, levels[doc])]
        order = sorted(relevant, key=lambda doc: (worth(measure, levels[doc]), levels[doc]), reverse=True)
        rankings[topic] = order
    return rankings


def is_better(measure, better, worse):
    """Return whether one level is better than another (None: unjudged) in every respect."""
    if better is None or better <= max(worse or 0, 0):
        return False
    found = [(table.get(better, better), table.get(worse, max(worse or 0, 0))) for table in tables(measure)]
    if "stops" in measure.params:  # a level without a stop weight has its gain
        stops = measure.params["stops"]
        found.append((stops.get(better, gain(measure, better)), stops.get(worse, gain(measure, worse or 0))))
    return all(high >= (0 if worse is None else low) for high, low in found)
