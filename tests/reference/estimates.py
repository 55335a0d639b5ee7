"""Reference for estimates from sampled judgments: plain, from the formulas, one topic and document at a time.

A topic is a dict from documents to ``Judged``. Only documents of a level >= 0 are judged. A ranking is a list
of documents, judged or not.
"""

import math
from collections import defaultdict
from dataclasses import dataclass


@dataclass
class Judged:
    """A document of the pool, with its stratum and inclusion probability where they are known."""

    level: float
    iprob: float | None = None
    stratum: str | None = None
    method: int | None = None


def counts(topic, certain):
    """Return N_h and n_h of each stratum, without documents that were certain."""
    found = defaultdict(lambda: [0, 0])
    for one in topic.values():
        if one.method not in certain:
            found[one.stratum][0] += 1
            found[one.stratum][1] += one.level >= 0
    return found


def weights(topic, certain=(0, 2)):
    """Return the weight of each judged document."""
    found, of = {}, counts(topic, certain)
    for doc, one in topic.items():
        if one.level < 0:
            continue
        if one.method in certain:
            found[doc] = 1.0
        elif one.stratum is not None:
            N, n = of[one.stratum]
            found[doc] = N / n
        else:
            found[doc] = 1 / one.iprob
    return found


def discount(n):
    return 1 / math.log2(n + 1)


def snapped(n):
    """Return a whole number for a sum of weights that differs from it by rounding only."""
    return float(round(n)) if abs(n - round(n)) <= 1e-9 * n else n


class Estimate:
    """Estimate and influences of one measure for one topic.

    ``gain`` is a function of the level; documents of a level >= ``rel`` are relevant.
    """

    def __init__(self, topic, ranking, w, *, rel=1, gain=float, beta=1.0, k=None, p=0.8, gmax=1.0):  # noqa: PLR0913  # parameters of all measures
        self.rank = {doc: n for n, doc in enumerate(ranking, 1)}
        self.w, self.k, self.p, self.beta, self.gmax = w, k, p, beta, gmax
        self.g = {doc: gain(topic[doc].level) for doc in w if topic[doc].level >= rel}
        self.found = sorted(self.rank.keys() & self.g.keys(), key=self.rank.get)
        self.R = math.fsum(w[doc] for doc in self.g)
        levels = sorted({g for g in self.g.values() if g > 0})
        #: For each gain: its difference to the next lower one, and the number of documents of at least it.
        self.steps = {
            v: (v - below, snapped(math.fsum(w[doc] for doc, g in self.g.items() if g >= v)))
            for below, v in zip([0, *levels], levels, strict=False)
        }

    def ideal_gain(self, k):
        return sum(step * min(max(n - k + 1, 0), 1) for step, n in self.steps.values())

    def cg_star(self, k):
        return math.fsum(self.ideal_gain(j) for j in range(1, k + 1))

    def average(self):
        """Return AP and Q; AP has beta 0."""
        if not self.R:
            return 0.0, {}
        w, g, r = self.w, self.g, self.rank
        own = {doc: 1 + self.beta * g[doc] for doc in g}
        S = {d: sum(w[e] * own[e] for e in self.found if r[e] < r[d]) for d in self.found}
        den = {d: r[d] + self.beta * self.cg_star(r[d]) for d in self.found}
        est = sum(w[d] * (own[d] + S[d]) / den[d] for d in self.found) / self.R
        u = {}
        for d in g:
            h = 0.0
            if d in r:
                below = sum(w[e] / den[e] for e in self.found if r[e] > r[d])
                h = (own[d] + S[d]) / den[d] + own[d] * below
            c = sum(
                -self.beta * step * sum(
                    w[e] * (own[e] + S[e]) / den[e] ** 2 for e in self.found if r[e] > n
                )
                for v, (step, n) in self.steps.items() if v <= g[d]
            )  # fmt: skip
            u[d] = (h - est + c) / self.R
        return est, u

    def ndcg(self):
        limit = math.inf if self.k is None else self.k
        last = min(limit, math.ceil(max((n for _, n in self.steps.values()), default=0)))
        ideal = sum(self.ideal_gain(j) * discount(j) for j in range(1, int(last) + 1))
        if not ideal:
            return 0.0, {}
        w, g = self.w, self.g
        own = {
            d: g[d] * discount(self.rank[d]) if d in self.rank and self.rank[d] <= limit else 0.0 for d in g
        }
        est = sum(w[d] * own[d] for d in g) / ideal
        u = {}
        for d in g:
            slope = sum(
                step * discount(math.ceil(n))
                for v, (step, n) in self.steps.items()
                if v <= g[d] and n <= limit
            )
            u[d] = (own[d] - est * slope) / ideal
        return est, u

    def linear(self, weight):
        u = {d: weight(self.rank[d], self.g[d]) for d in self.found}
        return sum(self.w[d] * u[d] for d in self.found), u

    def precision(self):
        return self.linear(lambda r, _: (r <= self.k) / self.k)

    def rbp(self):
        """RBP of cwl_eval: over 1,000 ranks."""
        total = sum(self.p**n for n in range(1000))
        return self.linear(lambda r, _: self.p ** (r - 1) / total if r <= 1000 else 0.0)

    def graded_rbp(self):
        limit = math.inf if self.k is None else self.k
        return self.linear(
            lambda r, g: (1 - self.p) * self.p ** (r - 1) * g / self.gmax if r <= limit else 0.0
        )


def variance(topic, w, u, certain=(0, 2)):
    """Return the squared standard error of the estimate of a topic; NaN where it is not known."""
    if all(one.stratum is None for one in topic.values()):
        return sum(w[d] * (w[d] - 1) * u.get(d, 0.0) ** 2 for d in w)
    total = 0.0
    for stratum, (N, n) in counts(topic, certain).items():
        if n in {0, N}:
            continue
        if n == 1:
            return math.nan
        here = [
            u.get(d, 0.0)
            for d in w
            if topic[d].stratum == stratum and topic[d].method not in certain
        ]  # fmt: skip
        mean = sum(here) / n
        total += N**2 * (1 - n / N) / n * sum((one - mean) ** 2 for one in here) / (n - 1)
    return total
