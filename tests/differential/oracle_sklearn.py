"""scikit-learn ranks only given documents, so every judged document is retrieved here."""

from __future__ import annotations

from differential.oracle_cases import Collection, Oracle, both, draw, not_installed
from ir_measures import AP, nDCG

from ir_graded import GAP, Q
from ir_graded.measures.classic.ties import with_ties


def completed(collection: Collection) -> Collection:
    """Return the collection with the judged documents that were not retrieved ranked below all others."""
    run = {}
    for topic in collection.shared:
        docs, below = collection.run[topic], min(collection.run[topic].values())
        missing = [doc for doc in collection.qrels[topic] if doc not in docs]
        run[topic] = docs | {doc: below - at for at, doc in enumerate(missing, start=1)}
    return Collection(collection.qrels, run, collection.as_tables)


def compare(rng):
    """Yield collections for lists without ties, and for the mean over all orders of tied documents."""
    yield from _without_ties(rng)
    yield from _with_ties(rng)


def _without_ties(rng):
    """Compare AP, and nDCG with both kinds of gain, of lists without ties."""
    from sklearn.metrics import average_precision_score, label_ranking_average_precision_score, ndcg_score

    collection = completed(draw(rng, scales=((0, 1), (0, 1, 2, 3)), ties=False))
    rel, k = int(rng.choice([1, 2])), int(rng.choice([1, 5, 20]))
    theirs = {
        measure: {} for measure in (AP(rel=rel), Q(rel=rel, beta=0), nDCG @ k, nDCG(dcg="exp-log2") @ k)
    }
    if collection.levels <= {0, 1}:
        theirs |= {GAP: {}}
    for topic, docs in collection.run.items():
        levels = [collection.qrels[topic].get(doc, 0) for doc in docs]
        relevant, scores = [level >= rel for level in levels], list(docs.values())
        if not any(relevant) or len(docs) < 2:
            continue
        theirs[AP(rel=rel)][topic] = float(average_precision_score(relevant, scores))
        theirs[Q(rel=rel, beta=0)][topic] = float(label_ranking_average_precision_score([relevant], [scores]))
        if GAP in theirs and rel == 1:
            theirs[GAP][topic] = theirs[AP(rel=rel)][topic]
        for measure, gains in (
            (nDCG @ k, levels),
            (nDCG(dcg="exp-log2") @ k, [2.0**level - 1 for level in levels]),
        ):
            theirs[measure][topic] = float(ndcg_score([gains], [scores], k=k, ignore_ties=True))
    yield from both(collection, theirs)


def _with_ties(rng):
    """Compare nDCG averaged over the orders of tied documents, scikit-learn's default."""
    from sklearn.metrics import ndcg_score

    collection, k = (
        completed(draw(rng, scales=((0, 1), (0, 1, 2, 3)), ties=True)),
        int(rng.choice([1, 5, 20])),
    )
    measure = with_ties(nDCG @ k, "expected")
    scores = {}
    for topic, docs in collection.run.items():
        levels = [collection.qrels[topic].get(doc, 0) for doc in docs]
        if any(levels) and len(docs) > 1:
            scores[topic] = float(ndcg_score([levels], [list(docs.values())], k=k))
    yield from both(collection, {measure: scores})


ORACLE = Oracle("scikit-learn", compare, missing=not_installed("sklearn", "scikit-learn"))
