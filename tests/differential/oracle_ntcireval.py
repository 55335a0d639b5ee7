"""pyNTCIREVAL: all of its measures that the package has, on full and condensed lists, cut and not cut.

Cases listed on the page of disagreements are left out: negative levels, topics without a relevant document,
lists without a document, gains that do not rise with the level (nERR), and stop weights that are all 0.
"""

from __future__ import annotations

from differential.oracle_cases import Collection, Oracle, both, draw
from ir_measures import AP, RR, P, Success, nDCG
from pyNTCIREVAL import Labeler, metrics
from reference import ranked

from ir_graded import BR, NCU, O, P_measure, P_plus, Q, nERR

#: Gains of levels 1, 2 and 3; they are whole numbers because ``gains`` of nDCG must be.
GAINS = ((1, 2, 3), (1, 3, 7), (1, 1, 1), (1, 10, 1000), (3, 5, 5))
STOPS = ((1, 2, 3), (1, 1, 1), (0, 0.5, 3), (2, 1, 0.25))
#: At each rank, pyNTCIREVAL sums again from the top.
DEEPEST = 100


def pairs(k, condensed, gains, stops, beta, gamma):
    """Return measures with functions from the numbers of documents by level to the metric of pyNTCIREVAL."""
    table, weights = (dict(enumerate(values, start=1)) for values in (gains, stops))
    graded = {"gains": table, "judged_only": condensed}
    blended = {**graded, "beta": beta}
    plain = {"judged_only": condensed}
    found = {
        AP(**plain): lambda numbers: metrics.AP(numbers, gains),
        RR(**plain): lambda _: metrics.RR(),
        P(**plain) @ k: lambda _: metrics.Precision(k),
        BR(beta=0, **plain) @ k: lambda _: metrics.Precision(k),
        Success(**plain) @ k: lambda _: metrics.Hit(k),
        nDCG(**graded) @ k: lambda numbers: metrics.MSnDCG(numbers, gains, k),
        Q(**blended): lambda numbers: metrics.QMeasure(numbers, gains, beta),
        Q(norm="cutoff", **blended) @ k: lambda numbers: metrics.QMeasure(numbers, gains, beta, k),
        Q(beta=0, norm="cutoff", **plain) @ k: lambda numbers: metrics.AP(numbers, gains, k),
        NCU(stop="gu", stops=weights, **blended): lambda n: metrics.NCUguBR(n, gains, stops, beta),
        NCU(stop="gu", stops=weights, **graded, beta=0): lambda n: metrics.NCUguP(n, gains, stops),
        NCU(stop="rb", gamma=gamma, **blended): lambda n: metrics.NCUrbBR(n, gains, gamma, beta),
        NCU(stop="rb", gamma=gamma, **graded, beta=0): lambda n: metrics.NCUrbP(n, gains, gamma),
        nERR(max_rel=3, **graded): lambda numbers: metrics.nERR(numbers, gains, None),
        nERR(max_rel=3, **graded) @ k: lambda numbers: metrics.nERR(numbers, gains, k),
    }
    of_one = {O: metrics.OMeasure, P_measure: metrics.PMeasure, P_plus: metrics.PPlusMeasure}
    for measure, metric in of_one.items():
        found[measure(**blended)] = lambda numbers, metric=metric: metric(numbers, gains, beta)
    return found


def cut_pairs(k, condensed, gains, beta):
    """Return measures with a cutoff, and metrics that must be given a truncated list."""
    params = {"gains": dict(enumerate(gains, start=1)), "judged_only": condensed, "beta": beta}
    of_one = {O: metrics.OMeasure, P_measure: metrics.PMeasure, P_plus: metrics.PPlusMeasure}
    return {
        measure(**params) @ k: lambda numbers, metric=metric: metric(numbers, gains, beta)
        for measure, metric in of_one.items()
    }


def compare_on(rng, collection: Collection):
    """Return all pairs with random parameters."""
    k, condensed = int(rng.choice([1, 3, 10, 50])), bool(rng.random() < 0.4)
    gains, stops = GAINS[rng.integers(len(GAINS))], STOPS[rng.integers(len(STOPS))]
    beta, gamma = float(rng.choice([0, 0.1, 1, 10, 100])), float(rng.choice([0.1, 0.5, 0.7, 0.95, 1]))
    whole, cut = pairs(k, condensed, gains, stops, beta, gamma), cut_pairs(k, condensed, gains, beta)
    theirs = {measure: {} for measure in (*whole, *cut)}
    for topic in collection.shared:
        levels = collection.qrels[topic]
        weighed = sum(stops[level - 1] for level in levels.values() if level > 0)
        ranking = ranked.ranking(collection.run[topic])
        labeler = Labeler(levels, is_condensed=condensed)
        labelled = labeler.label(ranking)
        if not labelled or not weighed:
            continue
        numbers = labeler.compute_per_level_doc_num(4)
        shorter = Labeler(levels, truncate=k, is_condensed=condensed).label(ranking)
        for made, documents in ((whole, labelled), (cut, shorter)):
            for measure, metric in made.items():
                theirs[measure][topic] = float(metric(numbers).compute(documents))
    yield from both(collection, theirs)


def compare_on_the_top(rng, collection):
    """Return a metric that scores only the first documents of each list."""
    run = {
        topic: {doc: docs[doc] for doc in ranked.ranking(docs)[:DEEPEST]}
        for topic, docs in collection.run.items()
    }
    yield from compare_on(rng, Collection(collection.qrels, run))


def compare(rng):
    """A random collection."""
    yield from compare_on(rng, draw(rng, scales=((0, 1, 2, 3), (0, 1, 3)), longest=DEEPEST))


ORACLE = Oracle("pyNTCIREVAL", compare, compare_on=compare_on_the_top)
