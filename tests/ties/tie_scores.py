"""Shared by the tests of ties: random collections with ties, scored by the package and by the reference."""

import ir_measures
from reference import tie_cases

from ir_graded.evaluation.provider import GradedEvaluator, native_scorers
from ir_graded.matching.match import prepare_qrels
from ir_graded.measures import REGISTRY
from ir_graded.measures.classic.ties import with_ties

HOW = ("expected", "optimistic", "pessimistic")


def measure_of(name, params, how="doc_id"):
    """Return the measure of the package with a name and parameters of the reference."""
    params = dict(params)
    if name in REGISTRY:
        return REGISTRY[name](**params, **({} if how == "doc_id" else {"ties": how}))
    if name == "RBP":
        params.setdefault("rel", 1)
    return with_ties(getattr(ir_measures, name)(**params), how)


def supported_parameters(rng, variant):
    """Return name and parameters of a supported variant: classics take the parameters of ir-measures."""
    while True:
        name, params = tie_cases.random_parameters(rng, variant)
        both = name == "RR" and "cutoff" in params and "judged_only" in params
        if name in REGISTRY or not (both or params.get("rel") == 0.5):
            return name, params


def random_collection(rng, topics, most_orders=60):
    """Return qrels with levels of one scale, a run, and the tie groups of each topic."""
    scale = {level for level in rng.choice(tie_cases.LEVELS) if level is not None}
    qrels, groups = {}, {}
    while len(qrels) < topics:
        drawn = tie_cases.random_case(rng, most_orders=most_orders)
        if set(drawn.levels.values()) <= scale:
            qrels[str(len(qrels))], groups[str(len(groups))] = drawn.levels, drawn.groups
    return qrels, groups


def run_of(groups):
    """Return a run that gives each group one score."""
    return {
        topic: {doc_id: -float(at) for at, group in enumerate(found) for doc_id in group}
        for topic, found in groups.items()
    }


def scores(measures, qrels, run):
    """Return scores of each measure by topic, by the package."""
    evaluator = GradedEvaluator(native_scorers(measures), prepare_qrels(qrels))
    return {
        measure: dict(zip(qrels, values.tolist(), strict=True))
        for measure, values in evaluator.scores_of(evaluator.match(run)).items()
    }
