"""Collections derived from judgments: by equivalence class, by global gain, and one list per intent.

Each consists of levels and a run, so measures score it like any other collection.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from . import segments
from .judged_run import CountedDocuments, JudgedRun, Matched
from .levels import Intents, Levels
from .segments import Bools, Floats, Ints, pair_key
from .struct import light_dataclass
from .texts import Names
from .views import Views

#: Significant digits of a sum of gains: .2 + .1 must equal .3.
_DIGITS = 12
#: Powers of ten up to this one are exact doubles.
_EXACT_POWER = 22
_NEAR_HALF = 1e-3


@light_dataclass(frozen=True, eq=False)
class Grades:
    """Gain (0 where not relevant) and relevance that a measure assigns to each level in ``Levels.values``.

    ``judged`` tells whether documents of each level are in a condensed list; ``gmax`` is the largest gain on
    the scale, where the measure sets the highest level.
    """

    gain: Floats
    relevant: Bools
    judged: Bools
    gmax: float | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Key for caches; equal for equal grades."""
        return self.gain.tobytes(), self.relevant.tobytes(), self.judged.tobytes(), self.gmax


def exact_sums(values: Floats, segment: Ints, count: int) -> Floats:
    """Return the sum of the values of each segment, rounded once; segments may be in any order."""
    order = np.argsort(segment, kind="stable")
    ordered = segment[order]
    rank = segments.ordinals(np.searchsorted(ordered, ordered))
    total, rest = np.zeros(count), np.zeros(count)
    by_rank = np.argsort(rank, kind="stable")
    bounds = np.cumsum(np.bincount(rank))
    for begin, end in pairwise(bounds.tolist()):
        rows = order[by_rank[begin:end]]
        at, value = segment[rows], values[rows]
        # Rounding error of the sum (Knuth's two-sum).
        summed = total[at] + value
        other = summed - total[at]
        rest[at] += (total[at] - (summed - other)) + (value - other)
        total[at] = summed
    return np.asarray(total + rest)


def rounded(values: Floats) -> Floats:
    """Return numbers >= 0 with 12 significant digits, each the double that is nearest to the decimal."""
    distinct, place = np.unique(values, return_inverse=True)
    with np.errstate(divide="ignore"):
        power = _DIGITS - 1 - np.floor(np.log10(distinct))
    usual = (power >= 0) & (power <= _EXACT_POWER)
    scale = 10.0 ** np.where(usual, power, 0.0)
    scaled = distinct * scale
    result = np.rint(scaled) / scale
    # Use decimal formatting near a half, and where powers of ten are not exact.
    doubtful = ~usual | (np.abs(scaled - np.floor(scaled) - 0.5) < _NEAR_HALF)
    result[doubtful] = [float(f"{value:.{_DIGITS - 1}e}") for value in distinct[doubtful].tolist()]
    return np.asarray(result[place])


def relevant_intents(intents: Intents, grades: Grades) -> Bools:
    """Return whether each intent has a relevant document in the qrels."""
    relevant = grades.relevant[intents.levels.level_index]
    return segments.count(intents.levels.topic[relevant], intents.levels.topics) > 0


def probabilities(intents: Intents, grades: Grades) -> Floats:
    """Return the probability of each intent: as given, or uniform over those with a relevant document."""
    if intents.probability is not None:
        return np.nan_to_num(intents.probability, nan=0.0)
    return uniform(intents, grades)


def uniform(intents: Intents, grades: Grades) -> Floats:
    """Return 1 over the number of intents with a relevant document, for these; 0 for others."""
    counts = relevant_intents(intents, grades)
    number = np.bincount(intents.topic[counts], minlength=1)
    return np.where(counts, 1.0 / np.maximum(number, 1)[np.minimum(intents.topic, number.size - 1)], 0.0)


def by_global_gain(views: Views, grades: Grades, *, once: bool = False) -> Views:
    """Return the run with the global gain of each document as its level.

    ``GG(d) = sum over intents i of P(i) g_i(d)``; -1 where no intent judges the document. With ``once``, a
    navigational intent counts for its first relevant document only. The ideal list does not change.
    """
    key = ("global gain", once, *grades.key)
    return views.kept(key, lambda: _by_global_gain(views, grades, once=once))


def _by_global_gain(views: Views, grades: Grades, *, once: bool) -> Views:
    hits = views.hits
    levels = views.levels.kept(("global gain", *grades.key), lambda: _global_levels(views.levels, grades))
    if once:
        gain = _gain_once(views, grades, levels)
        of_documents = levels.values[levels.level_index]
        scaled = Levels.of(levels.topics, levels.topic, of_documents, scale=gain.tolist())
        levels = replace(scaled, gmax=levels.gmax)
        level_index = np.searchsorted(levels.values, gain).astype(np.int64)
    else:
        level_index = levels.level_index[hits.document]
    return Views.of_rows(levels, replace(hits, level_index=level_index))


def _weights(intents: Intents, grades: Grades) -> Floats:
    """Return P(i) g_i(d) of each judgment."""
    weight = probabilities(intents, grades)[intents.levels.topic]
    return np.asarray(weight * grades.gain[intents.levels.level_index])


def _judged(levels: Levels, grades: Grades) -> Bools:
    """Return whether each document has a judgment that counts in a condensed list."""
    intents, judged = levels.by_intent, np.zeros(levels.topic.size, dtype=np.bool_)
    judged[intents.document[grades.judged[intents.levels.level_index]]] = True
    return judged


def _global_levels(levels: Levels, grades: Grades) -> Levels:
    intents = levels.by_intent
    weight = _weights(intents, grades)
    some = np.flatnonzero(weight)
    gain = rounded(exact_sums(weight[some], intents.document[some], levels.topic.size))
    found = Levels.of(levels.topics, levels.topic, np.where(_judged(levels, grades), gain, -1.0))
    largest = np.zeros(levels.topics)
    np.maximum.at(largest, levels.topic, gain)
    return replace(found, gmax=largest if grades.gmax is None else np.full(levels.topics, grades.gmax))


def _gain_once(views: Views, grades: Grades, levels: Levels) -> Floats:
    """Return the gain of each hit with navigational intents counted once; -1 for unjudged hits."""
    intents, hits = views.levels.by_intent, views.hits
    judgment, owner = intents.judgments_of(hits.document)
    relevant = grades.relevant[intents.levels.level_index[judgment]]
    judgment, owner = judgment[relevant], owner[relevant]
    intent = intents.levels.topic[judgment]
    # Hits are in rank order, so the first judgment of an intent is at its first relevant document.
    counts = ~intents.is_nav[intent]
    counts[np.unique(intent, return_index=True)[1]] = True
    weight = _weights(intents, grades)[judgment[counts]]
    gain = rounded(exact_sums(weight, owner[counts], hits.document.size))
    unjudged = levels.values[levels.level_index[hits.document]] < 0
    return np.where(unjudged, -1.0, gain)


def by_intent(views: Views, grades: Grades, *, judged_only: bool) -> Views:
    """Return one list per intent, as if the intent were a topic and its judgments the documents.

    The run holds relevant documents only, at their ranks in the list of the topic. With ``judged_only`` that
    list is condensed first.
    """
    key = ("by intent", judged_only, *grades.key)
    return views.kept(key, lambda: _by_intent(views, grades, judged_only=judged_only))


def _by_intent(views: Views, grades: Grades, *, judged_only: bool) -> Views:
    intents, hits = views.levels.by_intent, views.hits
    levels = views.levels.kept(("by intent", *grades.key), lambda: _intent_levels(intents, grades))
    if judged_only:
        hits = hits.condensed(_judged(views.levels, grades)[hits.document], views.levels.topics)
    if hits.again is not None:
        hits = hits[~hits.again]  # later rows of a document serve no intent again
    judgment, owner = intents.judgments_of(hits.document)
    wanted = np.flatnonzero(grades.relevant[levels.level_index[judgment]])
    wanted = wanted[np.argsort(levels.topic[judgment[wanted]], kind="stable")]
    judgment, owner = judgment[wanted], owner[wanted]
    run = JudgedRun(
        levels.topic[judgment],
        hits.rank[owner],
        levels.level_index[judgment],
        judgment,
        hits.n_retrieved[intents.topic],
        ties=hits.ties and hits.ties[owner],
    )
    return Views(levels, run)


def _intent_levels(intents: Intents, grades: Grades) -> Levels:
    """Return the levels of the judgments, with the largest gain of each intent."""
    levels = intents.levels
    largest = np.full(levels.topics, 0.0 if grades.gmax is None else grades.gmax)
    if grades.gmax is None:
        np.maximum.at(largest, levels.topic, grades.gain[levels.level_index])
    return Levels(levels.topics, levels.topic, levels.level_index, levels.values, gmax=largest)


class IntentView(CountedDocuments):
    """The relevant judgments of the documents that a run retrieved, by topic, rank and intent.

    Attributes:
        order: row of each judgment in the view of the lists by intent.
        intent: intent of each judgment.
        C: number of relevant documents for that intent down to each judgment.
    """

    kind = "relevant judgments by intent"

    def __init__(self, views: Views, of_intents: Views, grades: Grades, cutoff: int | None) -> None:
        intents, run = views.levels.by_intent, of_intents.hits
        topic = intents.topic[run.topic]
        order = np.lexsort((run.topic, run.rank, topic))
        document = intents.document[run.document[order]]
        level_index = views.levels.level_index[document]
        found = JudgedRun(topic[order], run.rank[order], level_index, document, views.hits.n_retrieved)
        everything = np.ones(order.size, dtype=np.bool_)
        super().__init__(views.levels, found, everything, found.rank, cutoff)
        row = order[self._rows]
        looked_at = run.rank <= (np.inf if cutoff is None else cutoff)
        self.order: Ints = (np.cumsum(looked_at) - 1)[row]
        self.intent: Ints = run.topic[row]
        self.C = segments.ordinals(np.searchsorted(run.topic, run.topic))[row]
        self._level = intents.levels.values[run.level_index[row]]
        relevant = grades.relevant[intents.levels.level_index]
        self.R = segments.count(intents.topic[intents.levels.topic[relevant]], self.levels.topics)
        documents = np.unique(intents.document[relevant])
        #: Number of documents of each topic that are relevant to at least one intent.
        self.documents: Ints = segments.count(self.levels.topic[documents], self.levels.topics)
        self.counting = np.zeros(self.levels.topic.size, dtype=np.bool_)
        self.counting[documents] = True

    @property
    def columns(self) -> dict[str, Floats]:
        """Intent of each judgment, as a number, and its level for that intent."""
        return {"intent": self.intent.astype(np.float64), "level": self._level}


def by_class(views: Views, classes: Ints, rel: float) -> Views:
    """Return views of a run in which each class counts once: its first relevant document, at its level.

    Later documents of the class get level 0 and keep their rank, also in a condensed list. In the ideal list
    the class has its highest level. The documents of a class are of one topic.
    """
    levels = views.levels.kept("one of each class", lambda: _best_of_each(views.levels, classes))
    level_index = np.searchsorted(levels.values, views.levels.values)[views.hits.level_index].astype(np.int64)
    relevant = np.flatnonzero(levels.values[level_index] >= rel)
    _, first = np.unique(classes[views.hits.document[relevant]], return_index=True)
    level_index[np.delete(relevant, first)] = np.searchsorted(levels.values, 0.0)
    return Views(levels, replace(views.hits, level_index=level_index))


def _best_of_each(levels: Levels, classes: Ints) -> Levels:
    """Return levels in which the best document of each class keeps its level; the others have at most 0."""
    levels = levels.with_zero()
    values, level_index = levels.values, levels.level_index.copy()
    order = np.lexsort((-level_index, classes))
    _, best = np.unique(classes[order], return_index=True)
    others = np.ones(order.size, dtype=np.bool_)
    others[order[best]] = False
    zero = np.searchsorted(values, 0.0)
    np.minimum(level_index, zero, out=level_index, where=others)
    return Levels(levels.topics, levels.topic, level_index, values)


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
        number[some] = base + np.unique(pair_key(number[some], intent[pairs]), return_inverse=True)[1]
    return number
