"""The classics in decimal arithmetic of 60 digits, like the other measures in ``high_precision``."""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import cache

from high_precision import CONTEXT, cascade, decimal, relevant_ranks
from reference.ranked import Topic, exact

_LOWEST = 5e-324  # the lowest level with a gain in nDCG and ERR


def ap(topic, _):
    return sum((decimal(topic.count(n)) / n for n in relevant_ranks(topic)), Decimal(0)) / topic.R


def rr(topic, _):
    return sum((1 / decimal(n) for n in relevant_ranks(topic)[:1]), Decimal(0))


def bpref(topic, levels):
    judged = [level for level in levels.values() if 0 <= level < topic.params["rel"]]
    most = min(len(judged), topic.R)
    total, above = Decimal(0), 0
    for n, doc in enumerate(topic.retrieved, 1):
        if topic.is_relevant(n):
            total += 1 - decimal(min(above, topic.R)) / most if above else 1
        elif doc in levels and 0 <= levels[doc] < topic.params["rel"]:
            above += 1
    return total / topic.R


def inf_ap(topic, levels):
    e, total = decimal(0.00001), Decimal(0)
    for n in relevant_ranks(topic):
        above = [levels[doc] for doc in topic.retrieved[: n - 1] if doc in levels]
        r, judged = topic.count(n) - 1, sum(level >= 0 for level in above)
        total += 1 / decimal(n) + decimal(len(above)) / n * (r + e) / (judged + 2 * e)
    return total / topic.R


@cache
def discount(n):
    return decimal(2).ln() / decimal(n + 1).ln()


def exp_gain(level):
    return decimal(2) ** decimal(exact(level)) - 1


def ndcg(topic, levels):
    params = topic.params
    gain = exp_gain if params["dcg"] == "exp-log2" else lambda level: decimal(exact(level))
    gain_of = {level: gain(level) for level in set(levels.values()) if level > 0}
    ideal = sorted((gain_of[level] for level in levels.values() if level > 0), reverse=True)
    total = sum(value * discount(n) for n, value in enumerate(ideal[: params["cutoff"]], 1))
    return sum(gain_of[topic.level[n]] * discount(n) for n in relevant_ranks(topic)) / total


def classic_err(topic, _):
    gains = {n: exp_gain(topic.level[n]) for n in relevant_ranks(topic)}
    return sum(p / n for n, p in cascade(gains, Decimal(15)).items())


def rbp(topic, _):
    p = decimal(topic.params["p"])
    weight = [p**n if n else Decimal(1) for n in range(1000)]  # 0^0 is 1
    return sum((weight[n - 1] for n in relevant_ranks(topic) if n <= 1000), Decimal(0)) / sum(weight)


def found(topic):
    return decimal(len(relevant_ranks(topic)))


def size(topic, levels):
    if not topic.params["judged_only"]:
        return len(topic.retrieved)
    return sum(levels.get(doc, -1) >= 0 for doc in topic.retrieved)


def set_p(topic, levels):
    most = size(topic, levels)
    return found(topic) / (min(most, topic.R) if topic.params["relative"] else most)


def set_f(topic, levels):
    beta = decimal(topic.params["beta"])
    return (beta + 1) * found(topic) / (beta * topic.R + size(topic, levels))


def judged(topic, levels):
    looked_at = topic.retrieved[: topic.params["cutoff"]]
    return decimal(sum(doc in levels for doc in looked_at)) / len(looked_at)


def num_ret(topic, _):
    return found(topic) if topic.params["rel"] is not None else decimal(len(topic.retrieved))


CLASSIC = {
    "AP": ap,
    "RR": rr,
    "P": lambda topic, _: found(topic) / topic.params["cutoff"],
    "R": lambda topic, _: found(topic) / topic.R,
    "Rprec": lambda topic, _: decimal(topic.count(topic.R)) / topic.R,
    "Success": lambda topic, _: decimal(found(topic) > 0),
    "Bpref": bpref,
    "infAP": inf_ap,
    "nDCG": ndcg,
    "ERR": classic_err,
    "RBP": rbp,
    "Judged": judged,
    "NumRet": num_ret,
    "NumRel": lambda topic, _: decimal(topic.R),
    "NumQ": lambda *_: Decimal(1),
    "SetP": set_p,
    "SetR": lambda topic, _: found(topic) / topic.R,
    "SetF": set_f,
}
_COUNTS = {"Judged", "NumRet", "NumRel", "NumQ"}


def classic(measure, levels, retrieved):
    """Return the score of a topic in the run by a classic, as a decimal, without ``gains`` of nDCG."""
    params = {name: measure[name] for name in measure.SUPPORTED_PARAMS if name != "gains"}
    params = {name: value for name, value in params.items() if type(value) in (int, float, bool, str)}
    params = {"dcg": "log2", "relative": False, "rel": None} | params
    with localcontext(CONTEXT):
        rel = _LOWEST if measure.NAME in ("nDCG", "ERR") else params["rel"] or 1
        topic = Topic({**params, "rel": rel}, levels, retrieved, max(levels.values()), set(levels.values()))
        topic.params |= {"rel": params["rel"]} if measure.NAME == "NumRet" else {}
        topic.retrieved = retrieved
        if topic.R == 0 and measure.NAME not in _COUNTS:
            return Decimal(0)
        return CLASSIC[measure.NAME](topic, levels)
