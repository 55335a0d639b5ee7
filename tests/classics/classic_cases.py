"""Shared by the tests of the classics: a grid over all parameters, ir-measures without us, collections."""

import math
import shutil
from itertools import product

import ir_measures
import numpy as np
import pandas as pd
import pytest
from helpers import rows_of

from ir_graded import ParameterError
from ir_graded.measures.classic import CLASSICS, scorer_of
from ir_graded.measures.params import NOT_PROVIDED

needs_perl = pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval runs perl")

#: The classics that need no further columns; test_classics_over_intents.py has the others.
OF_DOCUMENTS = {name: kind for name, kind in CLASSICS.items() if not kind.NEEDS}

#: Values of parameters of classics; ``...`` leaves one unset.
VALUES = {
    "cutoff": [..., 1, 2, 5, 30],
    "rel": [..., 1, 2, 4],
    "judged_only": [..., False, True],
    "dcg": [..., "log2", "exp-log2"],
    "gains": [..., {}, {0: 3}, {1: -1, 2: 0, 3: 1}, {-1: 2, -2: 1}, {0: -1, 2: 7}, {5: 1, 4: 100}, {9: 9}],
    "alpha": [..., 0.0, 0.3, 1.0],
    "p": [..., 0.0, 0.5, 0.95, 0.9999, 1.0],
    "beta": [..., 0.0, 0.0001, 0.5, 1.0, 3.0, 1e6],
    "relative": [..., True],
    "T": [..., 0.5, 2.0],
    "min_rel": [..., 1],
    "max_rel": [2, 5],
    "recall": [0.0, 0.12, 0.5, 1.0],
    "normalize": [..., False],
}
#: Values of parameters of single measures that differ from these.
OWN_VALUES = {
    ("Compat", "p"): [..., 0.5, 0.99],
    ("BPM", "max_rel"): [2],  # ten times a gain of 0.1 is below 1 in cwl_eval
}

#: ir-measures' providers without this package's.
UPSTREAM = ir_measures.providers.FallbackProvider(
    [provider for provider in ir_measures.DefaultPipeline.providers if provider.NAME != "ir_graded"]
)
#: Measures of cwl_eval, which looks at 1,000 ranks at most.
CWL = ("SDCG", "INSQ", "INST", "BPM", "NERR8", "NERR9", "NERR10", "NERR11")
BY_GDEVAL = ("nDCG(dcg='exp-log2')", "ERR")


def variants(name):
    """Every combination of the values of a classic's parameters, supported or not."""
    measure = CLASSICS[name].MEASURE
    names = measure.SUPPORTED_PARAMS
    made = {}
    tried = {param: VALUES.get(param, [..., *_near(info)]) for param, info in names.items()}
    tried |= {param: values for (of, param), values in OWN_VALUES.items() if of == name}
    for values in product(*tried.values()):
        params = {param: value for param, value in zip(names, values, strict=True) if value is not ...}
        # Measures that print alike compare equal in ir-measures, but all of them must be tried.
        made.setdefault(str(params), type(measure)(**params))
    return list(made.values())


def _near(param):
    """Values of a parameter that is not listed above: its default, or 2 without one, and the next number."""
    default = 2 if param.default is NOT_PROVIDED else param.default
    return [default, *([param.dtype(default + 1)] if param.dtype in {int, float} else [])]


def supported(name):
    """The classics of the grid that this package computes."""
    return [measure for measure in variants(name) if is_computed(measure)]


def is_computed(measure):
    """Whether this package computes a measure with its parameters."""
    scorer = scorer_of(measure)
    try:
        return scorer is not None and scorer.validate_params() is None
    except ParameterError:
        return False


def is_by_gdeval(measure):
    return str(measure).startswith(BY_GDEVAL)


def ties_otherwise(measure):
    """Whether the provider of ir-measures, other than trec_eval and gdeval, has another order of ties."""
    asked = (one.NAME for one in UPSTREAM.providers if one.is_available() and one.supports(measure))
    # The steps of cwl_eval above rank RBP as trec_eval does.
    return measure.NAME != "RBP" and next(asked, "") not in {"pytrec_eval", "gdeval"}


def upstream(measure, qrels, run):
    """Values by topic of one measure alone from ir-measures, whose measures affect each other in one call."""
    if measure.NAME == "RBP":
        return {topic: cwl_rbp(measure, qrels[topic], run.get(topic, {})) for topic in qrels}
    if measure.NAME in CWL:
        if not ir_measures.cwl_eval.is_available():
            pytest.skip("cwl-eval is not installed")
        qrels = {topic: levels for topic, levels in qrels.items() if levels}
    if measure.NAME == "Compat":  # documents that were not retrieved have the score 0
        run = {topic: {doc: score + 1 for doc, score in docs.items()} for topic, docs in run.items()}
    if measure.NAME == "Accuracy":
        return {topic: accuracy(measure, qrels[topic], run.get(topic, {})) for topic in qrels}
    found = {metric.query_id: metric.value for metric in UPSTREAM.iter_calc([measure], qrels, run)}
    if measure.NAME == "IPrec":  # NaN if no judged document was retrieved
        found = {topic: 0.0 if math.isnan(value) else value for topic, value in found.items()}
    return found


def accuracy(measure, levels, scores):
    """Accuracy by ir-measures, which leaves topics out, and fails if all documents seen are relevant."""
    try:
        found = list(UPSTREAM.iter_calc([measure], {"1": levels}, {"1": scores}))
    except ZeroDivisionError:
        return 1.0
    return found[0].value if found else 0.0


def cwl_rbp(measure, levels, scores):
    """RBP in the steps of cwl_eval 1.0.12, which is not installed here: continuation, weights, gains."""
    gains = np.zeros(1000)
    ranking = sorted(sorted(scores, reverse=True), key=scores.get, reverse=True)[:1000]
    for at, doc in enumerate(ranking):
        gains[at] = doc in levels and max(levels[doc], 0) >= measure["rel"]
    reached = np.append(1.0, np.cumprod(np.ones(999) * measure["p"]))
    return float(np.dot(reached / reached.sum(), gains))


# -------------------------------------------------------------------------------- random collections


def collection(seed, levels, *, ties):
    """Random qrels and a run; topics may be empty, short, long, missing, or without relevant documents."""
    rng = np.random.default_rng(seed)
    levels = np.array(levels)
    qrels, run = {}, {}
    for topic in map(str, range(1, 13)):
        docs = [f"d{doc}" for doc in rng.permutation(40).tolist()]
        judged = int(rng.choice([1, 3, 12, 30]))
        qrels[topic] = dict(zip(docs, rng.choice(levels, judged).tolist(), strict=False))
        qrels[topic][docs[0]] = int(rng.choice(levels[levels >= -1]))  # pytrec_eval 0.5.11 may crash else
        retrieved = rng.permutation(docs)[: int(rng.choice([1, 4, 15, 40]))].tolist()
        scores = rng.integers(0, 8, 40) / 7.0 if ties else rng.permutation(40) / 7.0
        run[topic] = dict(zip(retrieved, scores.tolist(), strict=False))
    qrels["2"] = dict.fromkeys(qrels["2"], 0)
    qrels["3"] = dict.fromkeys(qrels["3"], -1)
    qrels["13"] = {"a": 1, "b": 0}  # not in the run
    qrels["14"] = {}
    run["14"] = {"a": 1.0}
    run["99"] = {"a": 1.0}  # not in the qrels
    return qrels, run


def frame(nested, value):
    return pd.DataFrame(rows_of(nested), columns=["query_id", "doc_id", value])
