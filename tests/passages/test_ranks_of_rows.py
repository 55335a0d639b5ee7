"""``ranks='rows'``: documents count at their first row, and later rows keep their rank."""

import csv
import pickle
import random
import warnings
from pathlib import Path

import helpers
import ir_measures
import pandas as pd
import pytest
from classics import classic_cases
from measures import measure_cases
from passages import passage_cases
from reference import rows as reference

import ir_graded
from ir_graded import CoverageWarning, ParameterError
from ir_graded.measures import REGISTRY
from ir_graded.measures.classic import CLASSICS, scorer_of
from ir_graded.measures.classic.ties import takes_ranks, with_ranks
from ir_graded.measures.parsing import read_measure

# ------------------------------------------------------------------------------------------- with the reference

BASES = ("Q", "nDCG", "nERR", "P+", "EBR", "AWP", "gRBP", "nCG")
OVER_INTENTS = ("I-rec", "D", "D#", "IA", "IA#", "DIN", "DIN#", "P+Q", "P+Q#")
OF_INTENTS = [name for name, kind in CLASSICS.items() if kind.NEEDS]
#: Measures whose ranks can count rows.
NAMES = [
    *(str(measure) for measure in measure_cases.VARIANTS if takes_ranks(measure)),
    *(name for name, kind in classic_cases.OF_DOCUMENTS.items() if kind.RANKED),
]
SUPPORTED = {name: classic_cases.supported(name) for name in CLASSICS}


def random_measure(rng, name):
    """Return a measure with random parameters, with its name and parameters for the reference."""
    if name in CLASSICS:
        measure = rng.choice(SUPPORTED[name])
        return with_ranks(measure, "rows"), name, measure.params
    measure = read_measure(name)
    takes, params = measure.SUPPORTED_PARAMS, {}
    if takes.get("judged_only") and rng.random() < 0.5:
        params["judged_only"] = True
    if takes.get("cutoff") and (rng.random() < 0.5 or measure_cases.needs_cutoff(measure, measure.params)):
        params["cutoff"] = rng.randint(1, 8)
    if takes.get("rel") and rng.random() < 0.3:
        params["rel"] = 2
    measure = measure(**params)
    return with_ranks(measure, "rows"), measure.NAME, measure.params


def random_rows(rng):
    """Return rows of a run of two topics: some documents have several rows, and scores tie."""
    return [
        (topic, doc_id, float(rng.randint(0, 12)), place, 3)
        for topic in "12"
        for place, doc_id in enumerate(rng.choices("abcdefghxyz", k=rng.randint(0, 16)))
    ]


def evaluated(measures, qrels, run, **options):
    """Return the score by measure and topic, without warnings about what is missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        scores = ir_graded.evaluate([*measures], qrels, passage_cases.frame("run", run), **options)
    return {
        measure: dict(zip(scores.query_ids, of.tolist(), strict=True))
        for measure, of in zip(scores.measures, scores.values[:, 0], strict=True)
    }


def compare_with_the_reference(seed):
    rng = random.Random(seed)
    scale = rng.choice([(0, 1), (-1, 0, 1, 2, 3), (1, 2), (0, 0.5, 1, 2)])
    qrels = {t: {d: rng.choice(scale) for d in rng.sample("abcdefgh", rng.randint(1, 8))} for t in "12"}
    run = random_rows(rng)
    all_levels = {level for levels in qrels.values() for level in levels.values()}
    measures = {}
    for name in rng.sample(NAMES, 12):
        measure, name, params = random_measure(rng, name)
        measures[measure] = name, params
    found = evaluated(measures, qrels, run or [("1", "x", 1.0, 0, 1)])
    for measure, (name, params) in measures.items():
        for topic, levels in qrels.items():
            rows = reference.listed(row[1:] for row in run if row[0] == topic)
            expected = reference.score(name, params, levels, rows, all_levels)
            assert found[measure][topic] == pytest.approx(expected, abs=1e-12), (seed, measure, topic)


@pytest.mark.parametrize("first", range(0, 60, 6))
def test_every_measure_equals_the_reference(first):
    for seed in range(first, first + 6):
        compare_with_the_reference(seed)


@pytest.mark.slow
def test_every_measure_equals_the_reference_in_2000_cases():
    for seed in range(100, 2100):
        compare_with_the_reference(seed)


def compare_over_intents_with_the_reference(seed):
    rng = random.Random(seed)
    judged = {(d, i): rng.randint(0, 2) for d in "abcdefgh" for i in "uvw" if rng.random() < 0.4}
    judged["a", "u"] = 1
    levels = {i: {d: level for (d, of), level in judged.items() if of == i} for i in "uvw"}
    levels = {intent: of_intent for intent, of_intent in levels.items() if of_intent}
    nav = {intent for intent in levels if rng.random() < 0.5}
    qrels = pd.DataFrame(
        [("1", d, level, i, 1 / len(levels), "nav" if i in nav else "inf") for (d, i), level in judged.items()],
        columns=["query_id", "doc_id", "relevance", "iteration", "probability", "intent_type"],
    )
    run = [row for row in random_rows(rng) if row[0] == "1"] or [("1", "x", 1.0, 0, 1)]
    rows = reference.listed(row[1:] for row in run)
    chosen = {}
    for name in rng.sample(OVER_INTENTS, 4):
        params = {"cutoff": rng.randint(1, 8)}
        if "measure" in REGISTRY[name].SUPPORTED_PARAMS:
            base = rng.choice(BASES), {"judged_only": True} if rng.random() < 0.5 else {}
            measure = REGISTRY[name](measure=read_measure(base[0])(**base[1]), **params)
            params["measure"] = base
        else:
            params |= {"judged_only": True} if rng.random() < 0.5 else {}
            measure = REGISTRY[name](**params)
        chosen[with_ranks(measure, "rows")] = name, params, {"P": dict.fromkeys(levels, 1 / len(levels)), "nav": nav}
    for name in rng.sample(OF_INTENTS, 3):
        measure = rng.choice([one for one in SUPPORTED[name] if one["rel"] >= 1])
        chosen[with_ranks(measure, "rows")] = name, measure.params, {}
    found = evaluated(chosen, qrels, run)
    for measure, (name, params, further) in chosen.items():
        expected = reference.score_over_intents(name, params, levels, rows, **further)
        assert found[measure]["1"] == pytest.approx(expected, abs=1e-12), (seed, measure)


@pytest.mark.parametrize("first", range(0, 60, 6))
def test_every_measure_over_intents_equals_the_reference(first):
    for seed in range(first, first + 6):
        compare_over_intents_with_the_reference(seed)


@pytest.mark.slow
def test_every_measure_over_intents_equals_the_reference_in_2000_cases():
    for seed in range(100, 2100):
        compare_over_intents_with_the_reference(seed)
