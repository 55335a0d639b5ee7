"""Reference for the measures of ranked passages and chunks: slow, plain, sets of character positions.

Written from the formulas alone, without code of the package, so that the two can be compared.
Everything is exact (``Fraction``) up to the last division.

Rows are tuples: ``(query_id, doc_id, relevance, start, length)`` in the qrels, with the aspects as a sixth
field if a measure needs them, and ``(query_id, doc_id, score, start, length)`` in a run, one for each
passage. The formulas take the rows of one topic without their first field.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from reference.passages import by_topic

DEFAULTS = {
    "cutoff": None,
    "rel": 1,
    "overlap": None,
    "beta": 1,
    "graded": False,
    "gains": {},
    "recall": None,
}

#: A passage of a run without its score: (article, start, length).
Passage = tuple[str, int, int]
#: Characters as pairs of article and position.
Characters = set[tuple[str, int]]


# --------------------------------------------------------------------------------------- rows and characters


def ranked_passages(rows: Iterable[tuple]) -> list[Passage]:
    """Return passages of one topic by score descending, doc_id descending, start and length ascending."""

    def score(row: tuple) -> float:
        return float(row[1])

    ordered = sorted(rows, key=lambda row: (row[2], row[3]))
    ordered.sort(key=lambda row: (score(row), row[0]), reverse=True)
    return [(doc_id, start, length) for doc_id, _, start, length in ordered]


def union(passages: Iterable[Passage]) -> Characters:
    """Return the characters that are in at least one of the passages."""
    return {(doc_id, place) for doc_id, start, length in passages for place in range(start, start + length)}


def gold_characters(gold_rows: Iterable[tuple], rel: float = 1) -> Characters:
    """Return the union of the spans of level >= ``rel``, for one topic."""
    return union((doc_id, start, length) for doc_id, level, start, length, *_ in gold_rows if level >= rel)


def ratio(numerator: int | Fraction, denominator: int | Fraction) -> Fraction:
    """Return a ratio, 0 if its denominator is 0."""
    return Fraction(numerator) / denominator if denominator else Fraction(0)


# ------------------------------------------------------------------------------------- the first k passages


def counts(passages: Sequence[Passage], gold: Characters, overlap: str) -> tuple[int, int, int]:
    """Return characters found, characters retrieved, and N, by one way to count repeated text."""
    retrieved = sum(length for *_, length in passages)
    if overlap == "each":
        return sum(len(gold & union([one])) for one in passages), retrieved, len(gold)
    every = union(passages)
    return len(gold & every), len(every) if overlap == "once" else retrieved, len(gold)


def char_p(passages: Sequence[Passage], gold: Characters, overlap: str = "retrieved") -> float:
    """CharP: characters found / characters retrieved."""
    found, retrieved, _ = counts(passages, gold, overlap)
    return float(ratio(found, retrieved))


def char_r(passages: Sequence[Passage], gold: Characters, overlap: str = "retrieved") -> float:
    """CharR: characters found / N."""
    found, _, n = counts(passages, gold, overlap)
    return float(ratio(found, n))


def char_f(passages: Sequence[Passage], gold: Characters, overlap: str, beta: float) -> float:
    """CharF = (1 + beta^2) P R / (beta^2 P + R)."""
    found, retrieved, n = counts(passages, gold, overlap)
    p, r = ratio(found, retrieved), ratio(found, n)
    if beta == math.inf:
        return float(r)
    square = Fraction(beta) ** 2
    return float(ratio((1 + square) * p * r, square * p + r))


def iou(passages: Sequence[Passage], gold: Characters, overlap: str) -> float:
    """IoU: characters found / (characters retrieved + N - characters found)."""
    found, retrieved, n = counts(passages, gold, overlap)
    return float(ratio(found, retrieved + n - found))


def char_r_graded(
    passages: Sequence[Passage], gold_rows: Iterable[tuple], rel: float, gains: Mapping
) -> float:
    """CharR(graded=True): sum of gain(c) over the characters found / sum of gain(c) over all of gold.

    gain(c) is the highest gain of a span of level >= ``rel`` over character c.
    """
    gain: dict[tuple, Fraction] = {}
    for doc_id, relevance, start, length, *_ in gold_rows:
        for character in union([(doc_id, start, length)]) if relevance >= rel else ():
            of_span = Fraction(gains.get(relevance, relevance))
            gain[character] = max(of_span, gain.get(character, of_span))
    return float(ratio(sum(gain[one] for one in gain.keys() & union(passages)), sum(gain.values())))


# ------------------------------------------------------------------------------ precision at points of recall


def overlapping_rows(passages: Sequence[Passage]) -> list[tuple[int, int]]:
    """Return pairs of positions of overlapping passages of one article.

    ``(s, l)`` and ``(x, y)`` overlap if ``s < x + y and x < s + l``.
    """
    pairs = []
    for later, (doc_id, start, length) in enumerate(passages):
        for earlier, (other_id, other_start, other_length) in enumerate(passages[:later]):
            same = doc_id == other_id
            if same and start < other_start + other_length and other_start < start + length:
                pairs.append((earlier, later))
    return pairs


def precision_and_recall(
    passages: Sequence[Passage], gold: Characters, overlap: str | None
) -> list[tuple[Fraction, Fraction]]:
    """P[r] and R[r] for r = 1, 2, ...

    Without ``overlap``, passages of one article must not overlap. With ``'retrieved'``, a passage finds only
    characters that no better one found.
    """
    if overlap is None and overlapping_rows(passages):
        raise ValueError("passages of one article overlap")
    found, retrieved, points = set(), 0, []
    for passage in passages:
        found |= gold & union([passage])
        retrieved += passage[2]
        points.append((ratio(len(found), retrieved), ratio(len(found), len(gold))))
    return points


def interpolated_precision(points: Iterable[tuple[Fraction, Fraction]], recall: Fraction) -> Fraction:
    """iP@x: the largest P[r] over the ranks r with R[r] >= x, 0 if there is none."""
    return max((p for p, r in points if r >= recall), default=Fraction(0))


def ip(passages: Sequence[Passage], gold: Characters, recall: float, overlap: str | None = None) -> float:
    """iP@x, with x as the fraction of its shortest decimal form."""
    x = Fraction(repr(float(recall)))
    return float(interpolated_precision(precision_and_recall(passages, gold, overlap), x))


def aip(passages: Sequence[Passage], gold: Characters, overlap: str | None = None) -> float:
    """AiP = 1/101 * sum of iP@(i/100) for i = 0 .. 100."""
    points = precision_and_recall(passages, gold, overlap)
    return float(sum(interpolated_precision(points, Fraction(i, 100)) for i in range(101)) / 101)


# --------------------------------------------------------------------------------------------- TREC Genomics


def first_gold_row(passage: Passage, gold_rows: Sequence[tuple]) -> tuple[tuple | None, int]:
    """Return the first gold row of the article that shares a character with the passage, and the number."""
    doc_id, start, length = passage
    for row in gold_rows:
        other_id, _, other_start, other_length, *_ = row
        if other_id == doc_id:
            shared = min(start + length, other_start + other_length) - max(start, other_start)
            if shared > 0:
                return row, shared
    return None, 0


def passage_ap(passages: Sequence[Passage], gold_rows: Sequence[tuple]) -> float:
    """PassageAP: num/den at each row with x > 0, over (such rows + gold rows never chosen)."""
    num = den = 0
    precisions = []
    never = {(row[0], row[2], row[3]) for row in gold_rows}
    for passage in passages:
        row, shared = first_gold_row(passage, gold_rows)
        num += shared
        den += passage[2]
        if row is not None:
            precisions.append(num / den)
            never.discard((row[0], row[2], row[3]))
    divisor = len(precisions) + len(never)
    return math.fsum(precisions) / divisor if divisor else 0.0


def aspects_of(gold_row: tuple) -> set[str]:
    """The aspects of a gold row, written with ``|`` between them."""
    return {aspect.strip() for aspect in gold_row[4].split("|")}


def aspect_ap(passages: Sequence[Passage], gold_rows: Sequence[tuple]) -> float:
    """AspectAP: new * n/d at each row with new aspects, over the number of distinct aspects."""
    n = d = 0
    seen: set[str] = set()
    terms = []
    for passage in passages:
        row, _ = first_gold_row(passage, gold_rows)
        if row is None:
            d += 1
            continue
        new = aspects_of(row) - seen
        if new:
            n += 1
            d += 1
            terms.append(len(new) * n / d)
            seen |= new
    every = set().union(*map(aspects_of, gold_rows))
    return math.fsum(terms) / len(every) if every else 0.0


def passage2_ap(passages: Sequence[Passage], gold: Characters) -> float:
    """Passage2AP: average precision over characters; a repeated gold character is skipped."""
    with_gold = {doc_id for doc_id, _ in gold}
    n = d = 0
    seen: Characters = set()
    precisions = []
    for doc_id, start, length in passages:
        if doc_id not in with_gold:
            d += length
            continue
        for character in ((doc_id, place) for place in range(start, start + length)):
            if character not in gold:
                d += 1
            elif character not in seen:
                seen.add(character)
                n += 1
                d += 1
                precisions.append(n / d)
    return math.fsum(precisions) / len(gold) if gold else 0.0


# ------------------------------------------------------------------------------------ chunkings and citations


def chunks_of_gold(
    chunks: Iterable[Passage], gold_rows: Iterable[tuple], rel: float = 1, touching: bool = False
) -> list[Passage]:
    """T: the chunks that share a character with gold; with ``touching``, also those next to a gold span."""
    spans = [row for row in gold_rows if row[1] >= rel and (touching or row[3] > 0)]
    gap = 0 if touching else 1
    found = []
    for doc_id, start, length in chunks:
        for other_id, _, other_start, other_length, *_ in spans:
            shared = min(start + length, other_start + other_length) - max(start, other_start)
            if doc_id == other_id and shared >= gap:
                found.append((doc_id, start, length))
                break
    return found


def precision_omega(
    chunks: Iterable[Passage], gold_rows: Sequence[tuple], rel: float = 1, touching: bool = False
) -> float:
    """|T and gold| / |T or gold|, 0 without T: the best IoU that a chunking allows."""
    chosen = chunks_of_gold(chunks, gold_rows, rel, touching)
    return iou(chosen, gold_characters(gold_rows, rel), "once") if chosen else 0.0


def citations(
    qrels_rows: Iterable[tuple], run_rows: Iterable[tuple], separator: str = "#"
) -> dict[str, tuple[float, float, int, int]]:
    """Precision and recall of each answer, and the numbers of sentences in these means.

    A topic is a sentence, ``answer#sentence``. Precision is the mean of CharP(overlap='once') over sentences
    with a citation, recall the mean of CharR over sentences with gold; 0 without such sentences.
    """
    gold, cited = by_topic(qrels_rows), by_topic(run_rows)
    precision: dict[str, list[float]] = {}
    recall: dict[str, list[float]] = {}
    for query_id in gold | cited:
        answer, found, _ = query_id.rpartition(separator)
        if not found:
            raise ValueError(f"{query_id!r} has no {separator!r}")
        characters = gold_characters(gold.get(query_id, []))
        passages = [(doc_id, start, length) for doc_id, _, start, length in cited.get(query_id, [])]
        for means in (precision, recall):
            means.setdefault(answer, [])
        if passages:
            precision[answer].append(char_p(passages, characters, "once"))
        if characters:
            recall[answer].append(char_r(passages, characters, "once"))
    return {
        answer: (mean(precision[answer]), mean(recall[answer]), len(precision[answer]), len(recall[answer]))
        for answer in precision
    }


def mean(values: Sequence[float]) -> float:
    """Return the mean, 0 of no values."""
    return math.fsum(values) / len(values) if values else 0.0


# ------------------------------------------------------------------------------------------------ submissions

TASKS = {
    "focused": {"overlap"},
    "relevant-in-context": {"overlap", "interleaved"},
    "best-in-context": {"interleaved", "several rows"},
}


def check_submission(
    passages: Sequence[Passage], task: str, lengths: Mapping[str, int] | None = None
) -> list[tuple[str, int, int | None]]:
    """Return the problems of the ranked passages of a topic: (problem, position, other position), from 0."""
    found: list[tuple[str, int, int | None]] = []
    last: dict[str, int] = {}
    for place, (doc_id, start, length) in enumerate(passages):
        before = last.get(doc_id)
        if before is not None:
            found.append(("several rows", place, before))
            if before != place - 1:
                found.append(("interleaved", place, before))
        last[doc_id] = place
        if lengths is not None and start + length > lengths[doc_id]:
            found.append(("beyond", place, None))
    found += [("overlap", later, earlier) for earlier, later in overlapping_rows(passages)]
    return [one for one in found if one[0] in TASKS[task] | {"beyond"}]


# ------------------------------------------------------------------------------------------------- evaluation


class Topic:
    """One topic and its ranking, with every parameter.

    Attributes:
        params: every parameter, including defaults.
        gold_rows: the rows of the qrels of level >= ``rel``, in their order.
        gold: the union of their spans.
        passages: the ranked passages of the run, cut at the cutoff if a measure has one.
    """

    def __init__(self, params: dict, gold_rows: Iterable[tuple], rows: Iterable[tuple]) -> None:
        """Prepare one topic from its rows without their first field."""
        self.params = {**DEFAULTS, **params}
        self.gold_rows = [row for row in gold_rows if row[1] >= self.params["rel"]]
        self.gold = gold_characters(self.gold_rows, self.params["rel"])
        self.passages = ranked_passages(rows)[: self.params["cutoff"]]

    @property
    def official_rows(self) -> list[tuple]:
        """Return the gold rows of TREC Genomics' measures, without rows whose aspects are missing (None)."""
        return [row for row in self.gold_rows if len(row) < 5 or row[4] is not None]

    @property
    def overlap(self) -> str:
        """Return the way in which measures at a rank count repeated text."""
        return self.params["overlap"] or "retrieved"


def char_r_of(topic: Topic) -> float:
    """CharR, graded or not."""
    if topic.params["graded"]:
        return char_r_graded(topic.passages, topic.gold_rows, topic.params["rel"], topic.params["gains"])
    return char_r(topic.passages, topic.gold, topic.overlap)


MEASURES: dict[str, Callable[[Topic], float]] = {
    "CharP": lambda topic: char_p(topic.passages, topic.gold, topic.overlap),
    "CharR": char_r_of,
    "CharF": lambda topic: char_f(topic.passages, topic.gold, topic.overlap, topic.params["beta"]),
    "IoU": lambda topic: iou(topic.passages, topic.gold, topic.overlap),
    "iP": lambda topic: ip(topic.passages, topic.gold, topic.params["recall"], topic.params["overlap"]),
    "AiP": lambda topic: aip(topic.passages, topic.gold, topic.params["overlap"]),
    "PassageAP": lambda topic: passage_ap(topic.passages, topic.official_rows),
    "AspectAP": lambda topic: aspect_ap(topic.passages, topic.official_rows),
    "Passage2AP": lambda topic: passage2_ap(topic.passages, gold_characters(topic.official_rows)),
}


def evaluate(
    name: str, params: dict, qrels_rows: Iterable[tuple], run_rows: Iterable[tuple]
) -> dict[str, float]:
    """Score every topic of the qrels.

    Args:
        name: printed name of the measure.
        params: the parameters given; the others have their default.
        qrels_rows: ``(query_id, doc_id, relevance, start, length[, aspects])``; aspects None where missing.
        run_rows: ``(query_id, doc_id, score, start, length)``.

    Returns:
        The score of each topic of the qrels; 0.0 for one without gold or missing from the run.
    """
    rows = by_topic(run_rows)
    return {
        query_id: MEASURES[name](Topic(params, judgments, rows.get(query_id, [])))
        for query_id, judgments in by_topic(qrels_rows).items()
    }
