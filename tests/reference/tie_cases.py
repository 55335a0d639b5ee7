"""Topics with ties, and parameters of measures, drawn at random."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from reference import ties

#: Names of documents, enough for any topic.
IDS = [f"d{n}" for n in range(100)]

LEVELS = ((-1, 0, 1, 2, 3, None), (0, 1, None), (0, 0.5, 1, 1.5, 2.75, None), (0, 2, 4, None))
#: Tables of gains; in the last two, the gain falls as the level rises.
GAINS = ({}, {}, {1: 1, 2: 3, 3: 7}, {1: 0}, {1: 0, 2: 0, 3: 0, 0.5: 0, 1.5: 0}, {1: 5, 2: 1}, {3: 0.25})
#: Values of each parameter; None leaves it unset.
VALUES = {
    "cutoff": (None, None, *range(1, 10)),
    "rel": (None, None, None, 0.5, 1, 2),
    "judged_only": (None, None, True),
    "beta": (None, 0, 0.5, 1, 10, math.inf),
    "gains": GAINS,
    "stops": ({}, {1: 1, 2: 1, 3: 1}, {1: 3, 2: 0, 3: 1}),
    "weights": ({}, {1: 1, 2: 0.5}, {2: 0}),
    "norm": (None, "cutoff"),
    "gamma": (None, 0.5, 1),
    "max_rel": (None, None, 4),
    "p": (0.8, 0.5, 0.99),
    "dcg": (None, "exp-log2"),
}
_COMMON = ("cutoff", "rel", "judged_only")

#: Measures whose mean over orders has a closed form in these references: printed name, fixed parameters, and
#: the parameters that it takes.
VARIANTS = {
    "Q": ("Q", {}, (*_COMMON, "beta", "gains", "norm")),
    "AWP": ("AWP", {}, (*_COMMON, "gains", "norm")),
    "O-measure": ("O-measure", {}, (*_COMMON, "beta", "gains")),
    "P-measure": ("P-measure", {}, (*_COMMON, "beta", "gains")),
    "P+": ("P+", {}, (*_COMMON, "beta", "gains")),
    "NCU u": ("NCU", {"stop": "u"}, (*_COMMON, "beta", "gains", "norm")),
    "NCU rb": ("NCU", {"stop": "rb"}, (*_COMMON, "beta", "gains", "norm", "gamma")),
    "NCU gu": ("NCU", {"stop": "gu"}, (*_COMMON, "beta", "gains", "norm", "stops")),
    "NCU first": ("NCU", {"stop": "first"}, (*_COMMON, "beta", "gains")),
    "NCU preferred": ("NCU", {"stop": "preferred"}, (*_COMMON, "beta", "gains")),
    "NCU up_to_preferred": ("NCU", {"stop": "up_to_preferred"}, (*_COMMON, "beta", "gains")),
    "NCU err": ("NCU", {"stop": "err"}, (*_COMMON, "beta", "gains", "max_rel")),
    "R-measure": ("R-measure", {}, (*_COMMON, "beta", "gains")),
    "R-WP": ("R-WP", {}, (*_COMMON, "gains")),
    "nCG": ("nCG", {"cutoff": 5}, (*_COMMON, "gains")),
    "BR": ("BR", {"cutoff": 5}, (*_COMMON, "beta", "gains")),
    "EBR": ("EBR", {}, (*_COMMON, "beta", "gains", "max_rel")),
    "iRBU": ("iRBU", {}, (*_COMMON, "gains", "max_rel", "p")),
    "nERR": ("nERR", {}, (*_COMMON, "gains", "max_rel")),
    "gRBP": ("gRBP", {}, (*_COMMON, "gains", "max_rel", "p")),
    "GAP": ("GAP", {}, ("cutoff", "judged_only", "weights", "norm")),
    "AP": ("AP", {}, _COMMON),
    "RR": ("RR", {}, _COMMON),
    "P": ("P", {"cutoff": 5}, _COMMON),
    "R": ("R", {"cutoff": 5}, _COMMON),
    "Rprec": ("Rprec", {}, ("rel", "judged_only")),
    "Success": ("Success", {"cutoff": 5}, _COMMON),
    "Bpref": ("Bpref", {}, ("rel",)),
    "nDCG": ("nDCG", {}, ("cutoff", "judged_only", "gains")),
    "nDCG exp-log2": ("nDCG", {"cutoff": 5, "dcg": "exp-log2"}, ("cutoff",)),
    "ERR": ("ERR", {"cutoff": 20}, ("cutoff",)),
    "RBP": ("RBP", {"p": 0.8}, ("rel", "p")),
    "Judged": ("Judged", {}, ("cutoff",)),
}


def rng_of(seed):
    """Return a generator of random topics, equal in every run of a test."""
    return random.Random(seed)  # noqa: S311


@dataclass(frozen=True)
class Case:
    """A topic with its tie groups.

    Attributes:
        levels: level of each judged document.
        groups: the retrieved documents as tie groups.
        highest: highest level of the scale.
    """

    levels: dict[str, float]
    groups: list[list[str]]
    highest: float

    def score(self, name, params, how):
        """Return the score with the given ties."""
        return ties.score(name, params, how, self.levels, self.groups, self.highest)


def case(groups, not_retrieved=(), highest=None):
    """Return a topic from the levels of its tie groups, None for unjudged documents."""
    names, levels, named = iter(IDS), {}, []
    for group in groups:
        documents = [(next(names), level) for level in group]
        levels |= {doc_id: level for doc_id, level in documents if level is not None}
        named.append([doc_id for doc_id, _ in documents])
    levels |= {next(names): level for level in not_retrieved}
    return Case(levels, named, max(levels.values(), default=0) if highest is None else highest)


def random_case(rng, largest=7, most_orders=60):
    """Return a topic of up to ``largest`` documents, whose ties allow at most so many distinct orders."""
    while True:
        scale = rng.choice(LEVELS)
        levels = [rng.choice(scale) for _ in range(rng.randint(1, largest))]
        groups = []
        while levels:
            size = min(len(levels), rng.choice((1, 1, 2, 3, 4, 5, 6)))
            groups.append([levels.pop() for _ in range(size)])
        judged = [level for level in scale if level is not None]
        missing = [rng.choice(judged) for _ in range(rng.randint(0, 3))]
        drawn = case(groups, missing, highest=max(judged))
        kind = ties.level_or_below(drawn.levels)
        if drawn.levels and ties.number_of_orders(drawn.groups, kind) <= most_orders:
            return drawn


def random_parameters(rng, variant):
    """Return name and parameters of a variant."""
    name, fixed, takes = VARIANTS[variant]
    params = {}
    for one in takes:
        value = rng.choice(VALUES[one])
        if value is not None and value != {}:
            params[one] = value
    if params.get("norm") == "cutoff":
        params.setdefault("cutoff", 3)
    if name == "nDCG" and "gains" in params:
        params["gains"] = rng.choice(({1: 3}, {0: 1, 1: -1}, {2: 0, 3: 9}))
    return name, {**fixed, **params}
