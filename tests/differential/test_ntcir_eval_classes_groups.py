"""Compare EC and GF of the package with the program ntcir_eval, on random topics."""

import tempfile
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest
from differential import oracle_ntcir_eval as program
from intents.intent_cases import random_distribution
from reference import intents

import ir_graded
from ir_graded.errors import ParameterError
from ir_graded.measures import REGISTRY
from ir_graded.measures.classic import scorer_of

pytestmark = pytest.mark.skipif(bool(program.ORACLE.missing), reason=program.ORACLE.missing or "")

TOPICS = 500


def drawn(rng):
    """Return a random topic with a document retrieved, settings, and the generator for further draws."""
    while True:
        own, topic, settings = program.drawn(rng)
        if topic.retrieved:
            return own, topic, settings


def qrels_of(topic, **columns):
    """Return qrels with further columns by document."""
    levels = intents.document_levels(topic.levels)
    frame = pd.DataFrame({"query_id": "1", "doc_id": [*levels], "relevance": levels.values()})
    for name, values in columns.items():
        frame[name] = pd.Series([values.get(doc) for doc in levels], dtype=object)
    return frame


def scores(measures, qrels, topic):
    run = {"1": {doc: float(-n) for n, doc in enumerate(topic.retrieved)}}
    found = ir_measures.iter_calc(measures, qrels, run)
    return {metric.measure: metric.value for metric in found}


def over_classes(settings, name, params, cutoff):
    """Return EC of a measure of the program; None if the package does not define it with these parameters."""
    measure = REGISTRY.get(name) or ir_measures.measures.registry.get(name)
    if measure is None:
        return None
    given = {**params, **settings.base(name, params)[1]}
    if "max_rel" in measure.SUPPORTED_PARAMS and (name != "NCU" or params["stop"] == "err"):
        given["max_rel"] = program.LEVELS[-1]
    given = {key: value for key, value in given.items() if key in measure.SUPPORTED_PARAMS or key in params}
    try:
        base = measure(**given)
        at = {} if cutoff is None else {"cutoff": cutoff}
        return ir_graded.EC(measure=base, **at) if scorer_of(base(**at)) is not None else None
    except ParameterError:
        return None


def test_measures_over_classes_equal_the_program():
    rng, largest, compared = np.random.default_rng(3), 0.0, {}
    for _ in range(TOPICS):
        own, topic, settings = drawn(rng)
        docs = intents.documents(topic.levels)
        classes = {doc: own.randint(1, len(docs)) for doc in docs if own.random() < 0.8}
        numbers = {number: number for number in classes.values()}
        with tempfile.TemporaryDirectory() as folder:
            found = list(program.of_classes(Path(folder), settings, topic, classes, numbers))
        if not found:  # nothing is relevant
            continue
        printed = {name.removeprefix("EC "): theirs for name, _, theirs in found}
        ours = {
            name: over_classes(settings, *measure)
            for name, measure in program.measures(settings).items()
            # The program divides NCUrb at a cutoff by the number of documents, regardless of their weights.
            if name in printed and not (name.startswith("NCUrb") and "@" in name)
        }
        ours = {name: measure for name, measure in ours.items() if measure is not None}
        values = scores([*set(ours.values())], qrels_of(topic, equivalence_class=classes), topic)
        for name, measure in ours.items():
            largest = max(largest, abs(values[measure] - printed[name]))
            compared[name.partition("@")[0]] = compared.get(name.partition("@")[0], 0) + 1
    assert largest <= 1e-12
    wanted = "AP Q Q-measure O-measure P-measure P-plus MSnDCG nERR EBR iRBU RBP Prec Hit RR NCUrb,BR"
    assert all(compared[name] > TOPICS / 4 for name in wanted.split())


def test_group_fairness_equals_the_program():
    rng, largest, compared = np.random.default_rng(4), 0.0, 0
    for _ in range(TOPICS):
        own, topic, settings = drawn(rng)
        docs, number = intents.documents(topic.levels), own.randint(2, 8)
        shares = {doc: random_distribution(own, number) for doc in docs if own.random() < 0.9}
        target = random_distribution(own, number)
        with tempfile.TemporaryDirectory() as folder:
            found = list(program.of_groups(Path(folder), settings, topic, shares, target))
        # Each divergence without a cutoff, then each with one.
        printed = [theirs for name, _, theirs in found if name.startswith("GF-")]
        params = {"gains": settings.gains or {}, "rel": settings.rel, "max_rel": program.LEVELS[-1]}
        whole = [
            ir_graded.GF(groups="A", divergence=name, target=target, **params)
            for name in ("JSD", "NMD", "RNOD")
        ]
        measures = [*whole, *(measure @ settings.k for measure in whole)]
        values = scores(measures, qrels_of(topic, A=shares), topic)
        assert len(printed) in {0, len(measures)}
        for theirs, each in zip(printed, measures, strict=False):
            largest, compared = max(largest, abs(values[each] - theirs)), compared + 1
    assert largest <= 1e-12
    assert compared > 5 * TOPICS
