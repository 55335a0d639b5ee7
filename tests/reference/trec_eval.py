"""The output of trec_eval 10 in plain loops over the documents of each topic, from the text of the files."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, floor, log, log2

CUTOFFS = [5, 10, 15, 20, 30, 100, 200, 500, 1000]
TENTHS = [tenth / 10 for tenth in range(11)]
#: Default parameters by name, in the order of the output; None for measures without parameters.
DEFAULTS = {
    **dict.fromkeys(
        ["runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref"]
    ),
    "recip_rank": None,
    "iprec_at_recall": TENTHS,
    "P": CUTOFFS,
    "relstring": [10.0],
    "recall": CUTOFFS,
    "infAP": None,
    "gm_bpref": None,
    "Rprec_mult": [0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0],
    "utility": [1.0, -1.0, 0.0, 0.0],
    "11pt_avg": TENTHS,
    "binG": None,
    **{name: {} for name in ("G", "dcg", "ideal_dcg", "ndcg", "ndcg_rel", "Rndcg")},
    "ndcg_cut": CUTOFFS,
    "map_cut": CUTOFFS,
    "relative_P": CUTOFFS,
    "success": [1, 5, 10],
    **dict.fromkeys(["set_P", "set_relative_P", "set_recall", "set_map"]),
    "set_F": [1.0],
    **dict.fromkeys(["num_nonrel_judged_ret", "yaap"]),
    "rbp": {},
    "rbp_resid": {},
    "unj": [5, 10, 20],
}
RANKS = {"P", "recall", "ndcg_cut", "map_cut", "relative_P", "success", "unj"}
SHARES = {"iprec_at_recall", "Rprec_mult"}
WHOLE = {"num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"}
ORDER = list(DEFAULTS)
SETS = {
    "official": ORDER[:12],
    "all_trec": [name for name in ORDER if name not in {"dcg", "ideal_dcg", "yaap"}],
    "set": [
        *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility"),
        *("set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    ],
}


@dataclass
class Topic:
    """One topic: levels of the ranked documents (None: not in the qrels) and of all judged documents."""

    ranked: list[int | None]
    judged: list[int]
    rel: int
    documents: int
    hits: list[int] = field(init=False)

    def __post_init__(self):
        self.hits = [rank for rank, level in enumerate(self.ranked, 1) if self.is_relevant(level)]

    def is_relevant(self, level):
        return level is not None and level >= max(self.rel, 0)

    @property
    def ret(self):
        return len(self.ranked)

    @property
    def R(self):
        return sum(map(self.is_relevant, self.judged))

    def found(self, rank):
        return sum(hit <= rank for hit in self.hits)

    def nonrelevant(self, levels):
        return sum(level is not None and 0 <= level < self.rel for level in levels)

    def gain(self, level, gains):
        return 0.0 if level is None or level < 0 else gains.get(level, float(level))

    def ideal(self, gains):
        every = [self.gain(level, gains) for level in self.judged]
        return sorted((gain for gain in every if gain > 0), reverse=True)

    def dcg(self, gains, rank=None):
        total = 0.0
        for n, level in enumerate(self.ranked[:rank], 1):
            total += self.gain(level, gains) / log2(n + 1)
        return total

    def idcg(self, gains, rank=None):
        total = 0.0
        for n, gain in enumerate(self.ideal(gains)[:rank], 1):
            total += gain / log2(n + 1)
        return total


def ratio(part, whole):
    return part / whole if whole else 0.0


def added(values):
    total = 0.0
    for value in values:  # sum() rounds differently from Python 3.12 on
        total += value
    return total


def precisions(topic, rank=None):
    total = 0.0
    for number, hit in enumerate(topic.hits, 1):
        if rank is None or hit <= rank:
            total += number / hit
    return total


def bpref(topic):
    total = 0.0
    for hit in topic.hits:
        above = min(topic.nonrelevant(topic.ranked[: hit - 1]), topic.R)
        total += 1.0 - ratio(above, min(topic.nonrelevant(topic.judged), topic.R))
    return ratio(total, topic.R)


def inf_ap(topic):
    total = 0.0
    for r, hit in enumerate(topic.hits):
        above = topic.ranked[: hit - 1]
        s, u = topic.nonrelevant(above), sum(level is not None and level < 0 for level in above)
        if hit == 1:
            total += 1.0
        else:
            share = (r + 0.00001) / (r + s + 2 * 0.00001)
            total += 1 / hit + (hit - 1) / hit * ((r + s + u) / (hit - 1)) * share
    return ratio(total, topic.R)


def interpolated(topic, recall):
    least = max(1, floor(recall * topic.R + 0.5))
    return max((n / hit for n, hit in enumerate(topic.hits, 1) if n >= least), default=0.0)


def mean_interpolated(topic, recalls):
    total = 0.0
    for recall in reversed(recalls):
        total += interpolated(topic, recall)
    return total / len(recalls)


def relevance_string(topic, numbers):
    def sign(level):
        return "-" if level is None else "." if level < 0 else ">" if level > 9 else str(level)

    return "'" + "".join(map(sign, topic.ranked[: int(numbers[0])])) + "'"


def bin_g(topic):
    total = 0.0
    for number, hit in enumerate(topic.hits, 1):
        total += 1 / log2(2 + hit - number)
    return ratio(total, topic.R)


def g(topic, gains):
    ideal, total, cost, result = topic.ideal(gains), 0.0, 0.0, 0.0
    for n, level in enumerate(topic.ranked):
        gain = topic.gain(level, gains)
        result += gain
        cost += max(ideal[n], 1.0) if n < len(ideal) else 1.0
        if gain:
            total += gain / log2(2 + cost - result)
    return ratio(total, added(ideal))


def ndcg_rel(topic, gains):
    ideal, total, found = topic.ideal(gains), 0.0, 0
    for n, level in enumerate(topic.ranked, 1):
        if topic.gain(level, gains) > 0:
            total += topic.dcg(gains, n) / topic.idcg(gains, n)
            found += 1
    total += ratio((len(ideal) - found) * topic.dcg(gains), topic.idcg(gains))
    return ratio(max(total, 0.0), len(ideal))


def r_ndcg(topic, gains):
    ideal = topic.ideal(gains)
    last = [n for n, gain in enumerate(ideal, 1) if n == len(ideal) or ideal[n] != gain]
    points = [topic.dcg(gains, n) / topic.idcg(gains, n) for n in last]
    if ideal and topic.ret > len(ideal) + 1:
        points.append(topic.dcg(gains) / topic.idcg(gains))
    return ratio(added(points), len(points)) if topic.R else 0.0


def rbp(topic, gains):
    named = {level: gain for level, gain in gains.items() if level != "p"}
    p = gains.get("p", 0.9)
    scale = [named.get(level, float(level)) for level in range(max([-1, *topic.judged]) + 1)]
    low, high = min([0.0, *scale, *named.values()]), max([0.0, *scale, *named.values()])
    total, power = 0.0, 1.0
    for level in topic.ranked:
        gain = topic.gain(level, named)
        if level is not None and level >= 0 and (low < 0 or high > 1):
            gain = (gain - low) / (high - low)
        total += gain * power
        power *= p
    return (1 - p) * total


def rbp_residual(topic, gains):
    p = gains.get("p", 0.9)
    total, power, unjudged = 0.0, 1.0, 0
    for level in topic.ranked:
        if level is None or level < 0:
            total += power
            unjudged += 1
        power *= p
    return power + (1 - p) * total if unjudged else 0.0


def utility(topic, numbers):
    a, b, c, d = numbers
    found, ret, R = len(topic.hits), topic.ret, topic.R
    return a * found + b * (ret - found) + c * (R - found) + d * (topic.documents + found - ret - R)


def unjudged(topic, rank):
    return sum(level is None or level < 0 for level in topic.ranked[:rank]) / rank


def set_f(topic, x):
    precision, recall = ratio(len(topic.hits), topic.ret), ratio(len(topic.hits), topic.R)
    return ratio((x + 1) * precision * recall, x * precision + recall)


def r_precision(topic, multiple):
    rank = floor(multiple * topic.R + 0.9)
    return ratio(topic.found(rank), rank)


#: Value of a topic; the second argument is one cutoff, or the parameters.
VALUES = {
    "num_q": lambda _topic, _: 1,
    "num_ret": lambda topic, _: topic.ret,
    "num_rel": lambda topic, _: topic.R,
    "num_rel_ret": lambda topic, _: len(topic.hits),
    "map": lambda topic, _: ratio(precisions(topic), topic.R),
    "gm_map": lambda topic, _: log(max(ratio(precisions(topic), topic.R), 0.00001)),
    "Rprec": lambda topic, _: ratio(topic.found(topic.R), topic.R),
    "bpref": lambda topic, _: bpref(topic),
    "recip_rank": lambda topic, _: 1 / topic.hits[0] if topic.hits else 0.0,
    "iprec_at_recall": interpolated,
    "P": lambda topic, k: topic.found(k) / k,
    "relstring": relevance_string,
    "recall": lambda topic, k: ratio(topic.found(k), topic.R),
    "infAP": lambda topic, _: inf_ap(topic),
    "gm_bpref": lambda topic, _: log(max(bpref(topic), 0.00001)),
    "Rprec_mult": r_precision,
    "utility": utility,
    "11pt_avg": mean_interpolated,
    "binG": lambda topic, _: bin_g(topic),
    "G": g,
    "dcg": lambda topic, gains: topic.dcg(gains),
    "ideal_dcg": lambda topic, gains: topic.idcg(gains),
    "ndcg": lambda topic, gains: ratio(topic.dcg(gains), topic.idcg(gains)),
    "ndcg_rel": ndcg_rel,
    "Rndcg": r_ndcg,
    "ndcg_cut": lambda topic, k: ratio(topic.dcg({}, k), topic.idcg({}, k)),
    "map_cut": lambda topic, k: ratio(precisions(topic, k), topic.R),
    "relative_P": lambda topic, k: ratio(topic.found(k), min(k, topic.R)),
    "success": lambda topic, k: float(topic.found(k) > 0),
    "set_P": lambda topic, _: ratio(len(topic.hits), topic.ret),
    "set_relative_P": lambda topic, _: ratio(len(topic.hits), min(topic.ret, topic.R)),
    "set_recall": lambda topic, _: ratio(len(topic.hits), topic.R),
    "set_map": lambda topic, _: ratio(len(topic.hits) ** 2, topic.ret * topic.R),
    "set_F": lambda topic, numbers: set_f(topic, numbers[0]),
    "num_nonrel_judged_ret": lambda topic, _: topic.nonrelevant(topic.ranked),
    "yaap": lambda topic, _: log((1 + precisions(topic)) / (1 + topic.R - precisions(topic))),
    "rbp": rbp,
    "rbp_resid": rbp_residual,
    "unj": unjudged,
}


def parsed(text):
    """Return the fields of the lines that are neither blank nor comments."""
    return [line.split() for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]


def chosen(names):
    """Return name, printed name and parameter of each value, in the order of the output."""
    typed = {}
    for text in names or ["official"]:
        name, _, given = text.partition(".")
        for one in SETS.get(name, [name]):
            typed[one] = typed.get(one) or given
    for name in (one for one in ORDER if one in typed):
        given, default = typed[name], DEFAULTS[name]
        parts = given.split(",") if given else []
        if name in RANKS or name in SHARES:
            number = (lambda part: int(float(part))) if name in RANKS else float
            cutoffs = sorted(map(number, parts)) or default
            yield from ((name, f"{name}_{k}" if name in RANKS else f"{name}_{k:.2f}", k) for k in cutoffs)
        elif isinstance(default, list):
            yield name, f"{name}_{given}" if given else name, [*map(float, parts)] or default
        elif isinstance(default, dict):
            pairs = [part.split("=") for part in parts]
            gains = {key if key == "p" else int(key): float(value) for key, value in pairs}
            yield name, f"{name}_{given}" if given else name, gains
        else:
            yield name, name, None


def read(qrels, run):
    """Return levels and scores by topic and document, and the tag of the last line."""
    judged, scored, last = {}, {}, ""
    for topic, _, doc, level in parsed(qrels):
        judged.setdefault(topic, {})[doc] = int(level)
    for topic, _, doc, _, score, tag, *_ in parsed(run):
        scored.setdefault(topic, {})[doc] = float(score)
        last = tag
    return judged, scored, last


def ranked(scores, levels):
    """Return the levels of the documents by score, then by id, both descending."""
    by_id = sorted(scores, key=str.encode, reverse=True)
    return [levels.get(doc) for doc in sorted(by_id, key=lambda doc: -scores[doc])]


def value_of(family, shown, topic, parameter, is_absent):
    """Return the value of a topic; for one that the run lacks, some values are not those of the formula."""
    if is_absent and (family == "unj" or shown in {"num_ret", "utility", "rbp_resid"}):
        return 0
    if is_absent and shown == "relstring":
        return "''"
    return VALUES[family](topic, parameter)


def mean(family, values):
    """Return the value over all topics, of which there is a sum for some measures."""
    if family in WHOLE:
        return sum(values)
    average = added(values) / len(values)
    return exp(average) if family.startswith("gm_") else average


def lines(qrels, run, names=(), *, q=False, c=False, l=1, J=False, M=None, n=False, N=0):  # noqa: PLR0913
    """Return the lines that the command prints; the options are those of trec_eval."""
    judged, scored, tag = read(qrels, run)
    topics = {}
    for name in sorted(judged if c else set(judged) & set(scored), key=str.encode):
        levels = ranked(scored.get(name, {"no document": 1.0}), judged[name])[:M]
        kept = [level for level in levels if not J or (level is not None and level >= 0)]
        topics[name] = Topic(kept, [*judged[name].values()], l, N)
    by_topic, overall = {name: [] for name in topics}, []
    for family, shown, parameter in chosen(names):
        start = f"{shown:<22}\t"
        if family == "runid":
            overall.append(f"{start}all\t{tag}")
            continue
        values = {
            name: value_of(family, shown, topic, parameter, name not in scored)
            for name, topic in topics.items()
        }
        if family not in {"num_q", "gm_map", "gm_bpref"}:
            for name, value in values.items():
                by_topic[name].append(f"{start}{name}\t{written(family, value)}")
        if family == "num_rel" and c:
            values = {name: sum(level > 0 for level in levels.values()) for name, levels in judged.items()}
        if family != "relstring":
            overall.append(f"{start}all\t{written(family, mean(family, [*values.values()]))}")
    return [line for part in by_topic.values() for line in part if q] + ([] if n else overall)


def written(family, value):
    """Return a value as the command prints it."""
    return value if family == "relstring" else f"{value:.0f}" if family in WHOLE else f"{value:6.4f}"
