"""The ideal list over intents: at each rank the document that adds the most to the documents above it."""

from __future__ import annotations

import numpy as np

from . import segments
from .derived import rounded
from .judged_run import JudgedRun, Matched
from .levels import Levels
from .segments import Bools, Ints
from .texts import Names

#: Numbers below this share of another one differ from it in 12 digits.
_CLOSE = 1 - 1e-10


def greedy_list(levels: Levels, relevant: Bools, a: float, depth: float) -> JudgedRun:
    """Return the run that the greedy algorithm finds for each topic, down to rank ``depth``.

    A document adds ``a`` to the power of the relevant documents above it, summed over the intents to which it
    is relevant. Of documents that add equal numbers, with 12 digits, the one with the largest id is taken.
    The list ends where no document adds anything. Documents with equal intents add equal numbers, so each
    step compares one document for each set of intents.

    Args:
        levels: the judgments, with intents.
        relevant: whether each level of ``levels.by_intent.levels.values`` is relevant.
        a: factor for each document above that is relevant to the intent, from 0 to 1.
        depth: the last rank; inf for all relevant documents.
    """
    intents = levels.by_intent
    row = np.flatnonzero(relevant[intents.levels.level_index])
    row = row[np.argsort(intents.document[row], kind="stable")]
    document, owner = np.unique(intents.document[row], return_inverse=True)
    intent = intents.levels.topic[row]
    kind = _sets(owner, intent, document.size)
    number = Names.of([intents.doc_ids[at] for at in document.tolist()]).order_numbers()
    order = np.lexsort((-number, kind, levels.topic[document]))
    # The documents of each set, and the next one to take; sets are in order of topic.
    begin = np.flatnonzero(np.diff(kind[order], prepend=-1))
    following, end = begin.copy(), np.append(begin[1:], order.size)
    place = np.full(document.size, -1)
    place[order[begin]] = np.arange(begin.size)
    of_set, intent = place[owner][place[owner] >= 0], intent[place[owner] >= 0]
    topic = levels.topic[document[order[begin]]]
    taken = np.zeros(intents.topic.size, dtype=np.int64)
    chosen: list[Ints] = []
    while begin.size and len(chosen) < depth:
        # Added in order of counts, sums do not depend on the order of the intents.
        by_count = np.argsort(taken[intent], kind="stable")
        terms = a ** taken[intent[by_count]]
        adds = np.where(following < end, np.bincount(of_set[by_count], terms, begin.size), 0.0)
        best = np.zeros(levels.topics)
        np.maximum.at(best, topic, adds)
        close = np.flatnonzero((adds >= best[topic] * _CLOSE) & (adds > 0))
        if not close.size:
            break
        value = adds[close]
        if (value != best[topic[close]]).any():
            value = rounded(value)
        close = close[np.lexsort((number[order[following[close]]], value, topic[close]))]
        takes = close[np.append(topic[close[1:]] != topic[close[:-1]], True)]
        chosen.append(document[order[following[takes]]])
        following[takes] += 1
        is_taken = np.zeros(begin.size, dtype=np.bool_)
        is_taken[takes] = True
        taken[intent[is_taken[of_set]]] += 1
    found = np.concatenate([np.zeros(0, dtype=np.int64), *chosen])
    rank = np.repeat(np.arange(1, len(chosen) + 1), [step.size for step in chosen])
    retrieved = segments.count(levels.topic[found], levels.topics)
    every = np.arange(levels.topics, dtype=np.int64)
    return JudgedRun.of(
        levels, [Matched(found, rank, None, is_close=False, is_large=False, topic=every, length=retrieved)]
    )


def _sets(owner: Ints, intent: Ints, documents: int) -> Ints:
    """Return a number of the set of intents of each document; pairs are in order of document and intent."""
    number = np.zeros(documents, dtype=np.int64)
    ordinal = segments.ordinals(segments.starts(owner, documents)[owner])
    for at in range(1, int(ordinal.max(initial=0)) + 1):
        pairs = np.flatnonzero(ordinal == at)
        some = owner[pairs]
        # Larger than all numbers of smaller sets.
        base = int(number.max()) + 1
        number[some] = base + np.unique(number[some] << 32 | intent[pairs], return_inverse=True)[1]
    return number
