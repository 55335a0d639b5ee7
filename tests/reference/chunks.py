"""Reference for the measures of ranked passages and chunks: slow, plain, sets of character positions.

Written from the formulas alone, without code of the package, so that the two can be compared.
Everything is exact (``Fraction``) up to the last division; sums over ranks are floats, added with
``math.fsum``.

Rows are tuples: ``(query_id, doc_id, relevance, start, length)`` in the qrels, with the aspects as a sixth
field if a measure needs them, and ``(query_id, doc_id, score, start, length)`` in a run, one for each
passage. The formulas take the rows of one topic without their first field.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from reference.passages import positions
from reference.ranked import as_float32, exact, ranking

DEFAULTS = {
    "cutoff": None,
    "rel": 1,
    "overlap": None,
    "beta": 1,
    "graded": False,
    "gains": {},
    "recall": None,
    "article": "F",
    "irr": 300,
    "distance": 500,
}

#: A passage of a run without its score: (article, start, length).
Passage = tuple[str, int, int]
Characters = dict[str, set[int]]


# --------------------------------------------------------------------------------------- rows and characters


def ranked_passages(rows: Iterable[tuple], float32: bool = True) -> list[Passage]:
    """Return passages of one topic by score descending, doc_id descending, start and length ascending."""

    def score(row: tuple) -> float:
        return as_float32(row[1]) if float32 else float(row[1])

    ordered = sorted(rows, key=lambda row: (row[2], row[3]))
    ordered.sort(key=lambda row: (score(row), row[0]), reverse=True)
    return [(doc_id, start, length) for doc_id, _, start, length in ordered]


def scores_by_rank_column(rows: Iterable[tuple]) -> list[tuple]:
    """Rows ``(doc_id, score, start, length)`` of one topic, from rows ``(doc_id, rank, start, length)``.

    The order is rank, doc_id as text, start and length, all ascending; the score is the negated position.
    """
    ordered = sorted(rows, key=lambda row: (row[1], row[0], row[2], row[3]))
    return [(doc_id, -place, start, length) for place, (doc_id, _, start, length) in enumerate(ordered, 1)]


def gold_characters(gold_rows: Iterable[tuple], rel: float = 1) -> Characters:
    """Return the union of the spans of level >= ``rel`` of each article that has one, for one topic."""
    found: Characters = {}
    for doc_id, relevance, start, length, *_ in gold_rows:
        if relevance >= rel and length > 0:
            found.setdefault(doc_id, set()).update(range(start, start + length))
    return found


def size(characters: Characters) -> int:
    """Return the number of characters over all articles."""
    return sum(map(len, characters.values()))


def union(passages: Iterable[Passage]) -> Characters:
    """Return the characters of each article that are in at least one of the passages."""
    found: Characters = {}
    for doc_id, start, length in passages:
        found.setdefault(doc_id, set()).update(range(start, start + length))
    return found


def common(one: Characters, other: Characters) -> Characters:
    """Return the characters in both."""
    return {doc_id: one[doc_id] & other[doc_id] for doc_id in one.keys() & other.keys()}


def found_in(passage: Passage, gold: Characters) -> int:
    """Number of gold characters in one passage."""
    doc_id, start, length = passage
    return len(gold.get(doc_id, set()).intersection(range(start, start + length)))


def found_once(passages: Sequence[Passage], gold: Characters) -> int:
    """Number of gold characters in at least one of the passages."""
    return size(common(union(passages), gold))


def found_rows(passages: Sequence[Passage], gold: Characters) -> int:
    """Number of gold characters in the passages, each passage counted separately."""
    return sum(found_in(passage, gold) for passage in passages)


def ret_once(passages: Sequence[Passage]) -> int:
    """Number of characters in the union of the passages."""
    return size(union(passages))


def ret_rows(passages: Sequence[Passage]) -> int:
    """Sum of the lengths of the passages."""
    return sum(length for _, _, length in passages)


def ratio(numerator: int | Fraction, denominator: int | Fraction) -> Fraction:
    """Return a ratio, 0 if its denominator is 0."""
    return Fraction(numerator) / denominator if denominator else Fraction(0)


# ------------------------------------------------------------------------------------- the first k passages


def counts(passages: Sequence[Passage], gold: Characters, overlap: str) -> tuple[int, int, int]:
    """Return characters found, characters retrieved, and N, by one way to count repeated text."""
    if overlap == "once":
        return found_once(passages, gold), ret_once(passages), size(gold)
    if overlap == "retrieved":
        return found_once(passages, gold), ret_rows(passages), size(gold)
    if overlap == "each":
        return found_rows(passages, gold), ret_rows(passages), size(gold)
    raise ValueError(f"overlap={overlap!r}")


def char_p(passages: Sequence[Passage], gold: Characters, overlap: str = "retrieved") -> float:
    """CharP: characters found / characters retrieved."""
    found, retrieved, _ = counts(passages, gold, overlap)
    return float(ratio(found, retrieved))


def char_r(passages: Sequence[Passage], gold: Characters, overlap: str = "retrieved") -> float:
    """CharR: characters found / N."""
    found, _, n = counts(passages, gold, overlap)
    return float(ratio(found, n))


def char_f(
    passages: Sequence[Passage], gold: Characters, overlap: str = "retrieved", beta: float = 1
) -> float:
    """CharF = (1 + beta^2) P R / (beta^2 P + R)."""
    if overlap == "each":
        raise ValueError("CharF is not defined for overlap='each'")
    found, retrieved, n = counts(passages, gold, overlap)
    p, r = ratio(found, retrieved), ratio(found, n)
    if beta == math.inf:
        return float(r)
    square = exact(beta) ** 2
    return float(ratio((1 + square) * p * r, square * p + r))


def iou(passages: Sequence[Passage], gold: Characters, overlap: str = "retrieved") -> float:
    """IoU: characters found / (characters retrieved + N - characters found)."""
    if overlap == "each":
        raise ValueError("IoU is not defined for overlap='each'")
    found, retrieved, n = counts(passages, gold, overlap)
    return float(ratio(found, retrieved + n - found))


def gain_of_characters(gold_rows: Iterable[tuple], rel: float, gains: Mapping) -> dict[tuple, Fraction]:
    """gain(c): the highest gain of a span of level >= ``rel`` over character c, by (article, position)."""
    found: dict[tuple, Fraction] = {}
    for doc_id, relevance, start, length, *_ in gold_rows:
        if relevance >= rel:
            gain = exact(gains.get(relevance, relevance))
            for place in range(start, start + length):
                found[doc_id, place] = max(gain, found.get((doc_id, place), gain))
    return found


def char_r_graded(
    passages: Sequence[Passage], gold_rows: Iterable[tuple], rel: float = 1, gains: Mapping | None = None
) -> float:
    """CharR(graded=True): sum of gain(c) over the characters found / sum of gain(c) over all of gold."""
    gain = gain_of_characters(gold_rows, rel, gains or {})
    retrieved = union(passages)
    found = sum(value for (doc_id, place), value in gain.items() if place in retrieved.get(doc_id, ()))
    return float(ratio(found, sum(gain.values())))


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
    passages: Sequence[Passage], gold: Characters, overlap: str | None = None
) -> list[tuple[Fraction, Fraction]]:
    """P[r] and R[r] for r = 1, 2, ...

    Without ``overlap``, passages of one article must not overlap. With ``'retrieved'``, a passage finds only
    characters that no better one found.
    """
    if overlap is None and overlapping_rows(passages):
        raise ValueError("passages of one article overlap")
    if overlap not in {None, "retrieved"}:
        raise ValueError(f"overlap={overlap!r}")
    n, found, retrieved, points = size(gold), 0, 0, []
    seen: Characters = {}
    for doc_id, start, length in passages:
        new = set(range(start, start + length))
        if overlap == "retrieved":
            new -= seen.setdefault(doc_id, set())
            seen[doc_id] |= new
        found += len(new & gold.get(doc_id, set()))
        retrieved += length
        points.append((ratio(found, retrieved), ratio(found, n)))
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
    return aip_of_points(precision_and_recall(passages, gold, overlap))


def aip_of_points(points: Sequence[tuple[Fraction, Fraction]]) -> float:
    """AiP of the pairs P[r], R[r]."""
    return float(sum(interpolated_precision(points, Fraction(i, 100)) for i in range(101)) / 101)


# ----------------------------------------------------------------------------------- other scores of articles


def tolerance_to_irrelevance(
    gold: set[int], spans: Sequence[tuple[int, int]], doc_length: int, irr: int = 300
) -> float:
    """T2I of an article: rel_read / (rel_read + irr_read).

    A reader takes the union of the retrieved spans in the order of position, then the rest of the article
    from its beginning, and stops at the ``irr``-th character that is not in gold, or at the end.
    """
    retrieved = positions(list(spans))
    end = max([doc_length, *(start + length for start, length in spans)])
    rest = (place for place in range(end) if place not in retrieved)
    relevant = irrelevant = 0
    for place in itertools.chain(sorted(retrieved), rest):
        if irrelevant == irr:
            break
        if place in gold:
            relevant += 1
        else:
            irrelevant += 1
    return relevant / (relevant + irrelevant) if relevant else 0.0


def closeness_to_entry(start: int, bep: int, distance: float = 500) -> float:
    """S(a) = max(0, 1 - |x - bep| / n), x the start of the article's first row in rank."""
    return float(max(Fraction(0), 1 - Fraction(abs(start - bep)) / exact(distance)))


def agp(scores: Sequence[float], relevant: Sequence[bool], numrel: int) -> float:
    """AgP of articles in ranked order: sum of gP(r) over the ranks of articles with relevance / Numrel."""
    gp = [math.fsum(scores[:r]) / r for r in range(1, len(scores) + 1)]
    return math.fsum(value for value, flag in zip(gp, relevant, strict=True) if flag) / numrel


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
    num = den = rows = 0
    precisions = []
    never = {(row[0], row[2], row[3]) for row in gold_rows}
    for passage in passages:
        row, shared = first_gold_row(passage, gold_rows)
        num += shared
        den += passage[2]
        if row is not None:
            rows += 1
            precisions.append(num / den)
            never.discard((row[0], row[2], row[3]))
    divisor = rows + len(never)
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
    n = d = 0
    seen: set[tuple[str, int]] = set()
    precisions = []
    for doc_id, start, length in passages:
        relevant = gold.get(doc_id, set())
        if not relevant:
            d += length
            continue
        for place in range(start, start + length):
            if place not in relevant:
                d += 1
            elif (doc_id, place) not in seen:
                seen.add((doc_id, place))
                n += 1
                d += 1
                precisions.append(n / d)
    total = size(gold)
    return math.fsum(precisions) / total if total else 0.0


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
    if not chosen:
        return 0.0
    gold, retrieved = gold_characters(gold_rows, rel), union(chosen)
    both = size(common(gold, retrieved))
    return float(ratio(both, size(gold) + size(retrieved) - both))


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
    for query_id in [*gold, *(one for one in cited if one not in gold)]:
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


def to_characters(start: int, length: int, text: bytes) -> tuple[int, int]:
    """Return a span of bytes of a UTF-8 text as a span of code points."""
    before = text[:start].decode("utf-8")
    return len(before), len(text[start : start + length].decode("utf-8"))


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
        rows: the rows of the run.
        passages: its ranked passages, cut at the cutoff if a measure has one.
        lengths: length of articles, if known.
        entries: best entry point of articles, if known.
        float32: whether scores are compared in single precision.
    """

    def __init__(
        self,
        params: dict,
        gold_rows: Iterable[tuple],
        rows: Iterable[tuple],
        lengths: Mapping[str, int],
        entries: Mapping[str, int],
        float32: bool = True,
    ) -> None:
        """Prepare one topic; the arguments are those of ``evaluate``, without the query."""
        self.params = {**DEFAULTS, **params}
        self.gold_rows = [row for row in gold_rows if row[1] >= self.params["rel"]]
        self.gold = gold_characters(self.gold_rows, self.params["rel"])
        self.rows = list(rows)
        self.float32 = float32
        self.passages = ranked_passages(self.rows, float32)[: self.params["cutoff"]]
        self.lengths = lengths
        self.entries = entries

    @property
    def official_rows(self) -> list[tuple]:
        """Return the gold rows of TREC Genomics' measures, without rows whose aspects are missing (None)."""
        return [row for row in self.gold_rows if len(row) < 5 or row[4] is not None]

    @property
    def overlap(self) -> str:
        """Return the way in which measures at a rank count repeated text."""
        return self.params["overlap"] or "retrieved"

    def articles(self) -> list[str]:
        """Return the articles by their best row."""
        best: dict[str, float] = {}
        for doc_id, score, _, _ in self.rows:
            best[doc_id] = max(score, best.get(doc_id, -math.inf))
        return ranking(best, self.float32)

    def score_of_article(self, doc_id: str) -> float:
        """Return S(a) of a retrieved article with gold by ``article='t2i'`` or ``'bep'``."""
        passages = ranked_passages(self.rows, self.float32)
        spans = [(start, length) for one, start, length in passages if one == doc_id]
        if self.params["article"] == "t2i":
            return tolerance_to_irrelevance(
                self.gold[doc_id], spans, self.lengths[doc_id], self.params["irr"]
            )
        return closeness_to_entry(spans[0][0], self.entries[doc_id], self.params["distance"])


def char_r_of(topic: Topic) -> float:
    """CharR, graded or not."""
    if topic.params["graded"]:
        return char_r_graded(topic.passages, topic.gold_rows, topic.params["rel"], topic.params["gains"])
    return char_r(topic.passages, topic.gold, topic.overlap)


def scored_articles(topic: Topic) -> tuple[list[float], list[bool]]:
    """Return S of each article in ranked order, down to the cutoff in articles, and whether it has gold."""
    ranked = topic.articles()[: topic.params["cutoff"]]
    relevant = [doc_id in topic.gold for doc_id in ranked]
    scores = [
        topic.score_of_article(doc_id) if flag else 0.0 for doc_id, flag in zip(ranked, relevant, strict=True)
    ]
    return scores, relevant


def magp(topic: Topic) -> float:
    """MAgP with ``article='t2i'`` or ``'bep'``."""
    return agp(*scored_articles(topic), len(topic.gold)) if topic.gold else 0.0


def gp(topic: Topic) -> float:
    """gP@k with ``article='t2i'`` or ``'bep'``."""
    return math.fsum(scored_articles(topic)[0]) / topic.params["cutoff"]


MEASURES: dict[str, Callable[[Topic], float]] = {
    "CharP": lambda topic: char_p(topic.passages, topic.gold, topic.overlap),
    "CharR": char_r_of,
    "CharF": lambda topic: char_f(topic.passages, topic.gold, topic.overlap, topic.params["beta"]),
    "IoU": lambda topic: iou(topic.passages, topic.gold, topic.overlap),
    "iP": lambda topic: ip(topic.passages, topic.gold, topic.params["recall"], topic.params["overlap"]),
    "AiP": lambda topic: aip(topic.passages, topic.gold, topic.params["overlap"]),
    "MAgP": magp,
    "gP": gp,
    "PassageAP": lambda topic: passage_ap(topic.passages, topic.official_rows),
    "AspectAP": lambda topic: aspect_ap(topic.passages, topic.official_rows),
    "Passage2AP": lambda topic: passage2_ap(topic.passages, gold_characters(topic.official_rows)),
}


def evaluate(
    name: str,
    params: dict,
    qrels_rows: Iterable[tuple],
    run_rows: Iterable[tuple],
    lengths: Mapping[str, int] | None = None,
    entries: Mapping[tuple[str, str], int] | None = None,
    float32: bool = True,
) -> dict[str, float]:
    """Score every topic of the qrels.

    Args:
        name: printed name of the measure.
        params: the parameters given; the others have their default.
        qrels_rows: ``(query_id, doc_id, relevance, start, length[, aspects])``; aspects None where missing.
        run_rows: ``(query_id, doc_id, score, start, length)``.
        lengths: length of each article, by doc_id.
        entries: best entry point by (query_id, doc_id).
        float32: whether scores are compared in single precision.

    Returns:
        The score of each topic of the qrels; 0.0 for one without gold or missing from the run.
    """
    gold, rows, found = by_topic(qrels_rows), by_topic(run_rows), {}
    for query_id, judgments in gold.items():
        of_topic = {doc_id: bep for (query, doc_id), bep in (entries or {}).items() if query == query_id}
        topic = Topic(params, judgments, rows.get(query_id, []), lengths or {}, of_topic, float32)
        found[query_id] = MEASURES[name](topic)
    return found


def by_topic(rows: Iterable[tuple]) -> dict[str, list[tuple]]:
    """Return the rows of each topic without their first field."""
    found: dict[str, list[tuple]] = {}
    for query_id, *row in rows:
        found.setdefault(query_id, []).append(tuple(row))
    return found
