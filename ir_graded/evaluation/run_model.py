"""Levels of unjudged documents given their ranks in all runs, by logistic regressions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ir_graded.core.segments import Bools, Floats, Ints, exact_sum
from ir_graded.core.struct import light_dataclass
from ir_graded.errors import InputError

from .coverage import LOWEST_JUDGED, warn_caller
from .imputation import FUSION, SHIFT_DEVIATION, Imputation, Retrieved

#: Fewest labels of a fit, and fewest runs without a warning.
FEWEST_LABELS, FEWEST_RUNS = 200, 10
#: Ridge penalty of the coefficients of topics and runs.
PENALTY = 1.0
#: Penalty of 1, z and z^2: of no effect, unless all labels of a step are equal.
WEAK_PENALTY = 0.01
_LARGEST_STEP, _MOST_STEPS = 1e-9, 100


def sigmoid(values: Floats) -> Floats:
    """Return 1 / (1 + exp(-x)), without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * values))


@light_dataclass(frozen=True, eq=False)
class Regression:
    """A logistic regression with a coefficient per topic, and the Hessian of its penalised likelihood.

    The Hessian of the coefficients of topics is a diagonal matrix, so it is never built as a whole.
    """

    beta: Floats
    of_topic: Floats
    #: The Hessian of ``beta`` after the coefficients of topics are eliminated (Schur complement).
    reduced: Floats
    #: The part of topics and ``beta``, shape ``(topics, beta)``, and the diagonal of topics.
    cross: Floats
    diagonal: Floats

    @classmethod
    def fit(cls, x: Floats, topic: Ints, topics: int, y: Bools) -> Regression:
        """Fit by Newton's method; rows are sorted by topic, and 1, z, z^2 are the first columns."""
        penalty = np.full(x.shape[1], PENALTY)
        penalty[:3] = WEAK_PENALTY
        present, first = np.unique(topic, return_index=True)
        beta, of_topic = np.zeros(x.shape[1]), np.zeros(topics)

        def likelihood(beta: Floats, of_topic: Floats) -> float:
            odds = x @ beta + of_topic[topic]
            penalties = (penalty * beta**2).sum() + PENALTY * (of_topic**2).sum()
            return float((y * odds - np.logaddexp(0, odds)).sum() - penalties / 2)

        for _ in range(_MOST_STEPS):
            p = sigmoid(x @ beta + of_topic[topic])
            weighted = (p * (1 - p))[:, np.newaxis] * x
            # The first column is 1.
            cross = np.zeros((topics, x.shape[1]))
            cross[present] = np.add.reduceat(weighted, first, axis=0)
            diagonal = cross[:, 0] + PENALTY
            reduced = x.T @ weighted + np.diag(penalty) - cross.T @ (cross / diagonal[:, np.newaxis])
            slope = x.T @ (y - p) - penalty * beta
            slope_of_topic = np.bincount(topic, y - p, topics) - PENALTY * of_topic
            step = np.linalg.solve(reduced, slope - cross.T @ (slope_of_topic / diagonal))
            step_of_topic = (slope_of_topic - cross @ step) / diagonal
            if max(np.abs(step).max(), np.abs(step_of_topic).max()) < _LARGEST_STEP:
                break
            now, share = likelihood(beta, of_topic), 1.0
            while likelihood(beta + share * step, of_topic + share * step_of_topic) < now - 1e-9 * abs(now):
                share /= 2
            beta, of_topic = beta + share * step, of_topic + share * step_of_topic
        return cls(beta, of_topic, reduced, cross, diagonal)

    def draw(self, n_samples: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw coefficients from the normal approximation, a row per sample."""
        normal = rng.standard_normal((n_samples, self.beta.size))
        beta = np.linalg.solve(np.linalg.cholesky(self.reduced).T, normal.T).T
        normal = rng.standard_normal((n_samples, self.of_topic.size))
        of_topic = normal / np.sqrt(self.diagonal) - beta @ self.cross.T / self.diagonal
        return self.beta + beta, self.of_topic + of_topic


class RunModel:
    """Distribution of the levels of unjudged documents, by a regression per step of the scale.

    The order of the runs must not depend on that of the caller. Raises InputError for too few labels, and
    warns of few runs.
    """

    def __init__(
        self, imputation: Imputation, runs: Sequence[Retrieved], n_samples: int, rng: np.random.Generator
    ) -> None:
        levels, self._imputation, self._runs = imputation.judgments.levels, imputation, runs
        fused = np.zeros(levels.topic.size)
        for run in runs:
            fused[run.document] += 1 / (FUSION + run.rank)
        used = (imputation.imputed | (levels.values >= LOWEST_JUDGED)[levels.level_index]) & (fused > 0)
        labelled = used & ~imputation.imputed
        if (labels := np.count_nonzero(labelled)) < FEWEST_LABELS:
            raise InputError(
                f"model='runs' needs {FEWEST_LABELS} judged documents that the runs retrieved, and there are "
                f"{labels}; judge a deeper pool, or use model='bins'"
            )
        if len(runs) < FEWEST_RUNS:
            warn_caller(
                f"model='runs' has {len(runs)} runs: with fewer than {FEWEST_RUNS}, levels of documents that "
                "only some of them retrieved are hardly known, and differences may have the wrong sign."
            )
        log = np.log(fused[used])
        mean = exact_sum(log) / log.size
        deviation = np.sqrt(exact_sum((log - mean) ** 2) / log.size) or 1.0
        self._z = np.zeros(fused.size)
        self._z[used] = (log - mean) / deviation
        x = np.concatenate([self.features(labelled, topic) for topic in range(levels.topics)])
        topic, level = levels.topic[labelled], levels.level_index[labelled] - imputation.scale[0]
        #: Coefficients of each step: of the features and of the topics, a row per sample.
        self.steps: list[tuple[Floats, Floats]] = []
        for step in range(1, imputation.scale.size):
            rows = level >= step - 1
            fitted = Regression.fit(x[rows], topic[rows], levels.topics, level[rows] >= step)
            self.steps.append(fitted.draw(n_samples, rng))
        above_0 = levels.values[imputation.scale] > 0
        #: Whether each step is that to the lowest level above 0.
        self.shifted = above_0[1:] & ~above_0[:-1]

    def features(self, wanted: Bools, topic: int) -> Floats:
        """Return 1, z, z^2 and 60 / (60 + rank) in each run, 0 without rank, of some documents of a topic."""
        begin, stop = np.searchsorted(self._imputation.judgments.levels.topic, [topic, topic + 1])
        wanted, z = wanted[begin:stop], self._z[begin:stop]
        found = np.zeros((wanted.size, 3 + len(self._runs)))
        found[:, :3] = np.stack([np.ones_like(z), z, z**2], axis=1)
        for column, run in enumerate(self._runs, start=3):
            hits = slice(int(run.start[topic]), int(run.start[topic + 1]))
            found[run.document[hits] - begin, column] = FUSION / (FUSION + run.rank[hits])
        return found[wanted]

    def draws(self, topic: int, seed: int) -> RunDraws:
        """Return the random numbers of one topic."""
        return RunDraws(self, topic, self.features(self._imputation.imputed, topic), seed)


class RunDraws:
    """Random levels of the documents of one topic."""

    def __init__(self, model: RunModel, topic: int, x: Floats, seed: int) -> None:
        self._model, self._topic, self._x, self._drawn = model, topic, x, 0
        self._shifts, self._uniform = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(2))

    def levels(self, shift: Floats) -> Ints:
        """Draw levels as positions on the scale, for a shift per sample; shape ``(samples, documents)``."""
        samples = slice(self._drawn, self._drawn + shift.size)
        self._drawn += shift.size
        shift = shift + self._shifts.normal(0.0, SHIFT_DEVIATION, shift.size)
        uniform = self._uniform.random((shift.size, len(self._x)))
        drawn = np.zeros(uniform.shape, dtype=np.int64)
        reached = np.ones_like(uniform)
        for (beta, of_topic), is_shifted in zip(self._model.steps, self._model.shifted, strict=True):
            base = of_topic[samples, self._topic] + (shift if is_shifted else 0)
            reached *= sigmoid(beta[samples] @ self._x.T + base[:, np.newaxis])
            drawn += uniform < reached
        return drawn
