"""Levels of unjudged documents: which documents get one, and their distribution by bins of fused rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ir_graded.core.levels import Levels
from ir_graded.core.segments import Bools, Floats, Ints, pair_key
from ir_graded.core.struct import light_dataclass
from ir_graded.errors import InputError, warn_caller
from ir_graded.evaluation.coverage import LOWEST_JUDGED
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.lookup import DocumentNumbers
from ir_graded.matching.match import MatchedRun

if TYPE_CHECKING:
    import polars as pl


#: Last fused rank of each bin except the last bin.
BIN_ENDS = np.array([5, 10, 20, 50, 100, 200, 500], dtype=np.int64)
_BINS = BIN_ENDS.size + 1
#: Weight of the pooled shares, in documents.
POOLED = 5.0
#: Smallest number of judged documents of a bin whose unjudged documents get levels.
FEWEST = 50
#: Standard deviation of both shifts of the log odds, as between teams of TREC-COVID round 1.
SHIFT_DEVIATION = 0.7
#: Constant that is added to ranks before fusion.
FUSION = 60
#: Unit of the sums of 1/(60 + rank), so that the order of the runs makes no difference.
_UNIT = 2.0**52
#: Larger than any rank.
_NEVER = np.iinfo(np.int64).max


class PooledRun(NamedTuple):
    """The documents of a run of any form, by their numbers in the fusion."""

    number: Ints
    rank: Ints
    #: Number of documents retrieved, shape ``(topics,)``.
    n_retrieved: Ints


class ReciprocalRankFusion:
    """The documents of all runs, ranked by the sum of 1 / (60 + rank) over the runs, in units of 2^-52.

    Source: Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
    learning methods" (SIGIR 2009).
    """

    def __init__(self, judgments: Judgments) -> None:
        self._judgments = judgments
        #: The numbers of the documents: those of the qrels have their positions there, others follow.
        self.numbers = DocumentNumbers(judgments.lookup(-np.inf))
        self._nearest = self._weight = np.zeros(0, dtype=np.int64)
        self.runs: list[PooledRun] = []

    def add(self, run: MatchedRun) -> None:
        """Add a run that has been matched with the qrels."""
        from ir_graded.matching.tables import rank_rows

        topic, doc_id, rank = rank_rows(self._judgments, run.run.table(self._judgments.number))
        number = self.numbers.of(topic, doc_id)
        new = self.numbers.size - self._weight.size
        self._nearest = np.append(self._nearest, np.full(new, _NEVER))
        self._weight = np.append(self._weight, np.zeros(new, dtype=np.int64))
        self._nearest[number] = np.minimum(self._nearest[number], rank)
        self._weight[number] += np.rint(_UNIT / (FUSION + rank)).astype(np.int64)
        self.runs.append(PooledRun(number.astype(np.int32), rank.astype(np.int32), run.judged.n_retrieved))

    def pool(self) -> pl.DataFrame:
        """Return the documents by topic and place (fused rank), ties by doc_id descending.

        The other columns are number, topic, doc_id, nearest (rank in any run) and weight.
        """
        import polars as pl

        known = self.numbers.to_frame()
        number = known["number"].to_numpy()
        known = known.with_columns(nearest=self._nearest[number], weight=self._weight[number])
        # Equal sums of different ranks may differ by the rounding of each summand.
        lower = pl.col("weight").shift(1) - pl.col("weight") > len(self.runs)
        is_new = (lower | (pl.col("topic") != pl.col("topic").shift(1))).fill_null(value=True)
        pool = known.filter(pl.col("weight") > 0).sort("topic", "weight", descending=[False, True])
        place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("topic")
        ordered = pool.with_columns(tie=is_new.cum_sum()).sort("tie", "doc_id", descending=[False, True])
        return ordered.with_columns(place=place)


@light_dataclass(frozen=True, eq=False)
class Imputation:
    """The documents that get levels, and the distribution of levels."""

    #: The qrels including these documents, whose level there has no meaning. Topics are sorted by length and
    #: name, so that random numbers do not depend on the order of the qrels.
    judgments: Judgments
    #: Position of each of these topics in the given qrels.
    topics: Ints
    #: Bin of each document of these qrels that gets a level, -1 for others.
    bin: Ints
    #: Position in these qrels of each document of the fusion, -1 for others.
    position: Ints
    #: Positions in ``Levels.values`` of the levels >= 0.
    scale: Ints
    #: Number of judged documents that the runs retrieved, shape ``(bins, levels)``.
    judged: Floats
    #: Parameters of the shares of the levels, shape ``(topics, bins, levels)``.
    alpha: Floats
    #: Number of unjudged documents down to the depth in bins with too few judged documents.
    left_out: int

    @classmethod
    def of(
        cls, judgments: Judgments, fusion: ReciprocalRankFusion, depth: int, *, all_bins: bool = False
    ) -> Imputation:
        """Find the unjudged documents within ``depth`` of any run in bins with enough judged documents."""
        names = judgments.names
        by_name = sorted(range(len(names)), key=lambda at: (len(names[at]), names[at]))  # 9 before 10
        number = np.argsort(by_name)
        levels = judgments.levels
        pool = fusion.pool()
        topic, place = number[pool["topic"].to_numpy()], pool["place"].to_numpy()
        # The first numbers are those of the qrels.
        document = np.array(pool["number"])
        document[document >= levels.topic.size] = -1
        bin_of = np.searchsorted(BIN_ENDS, place)
        judged = document >= 0
        judged[judged] = levels.values[levels.level_index[document[judged]]] >= LOWEST_JUDGED
        scale = np.flatnonzero(levels.values >= LOWEST_JUDGED)
        index = levels.level_index[document[judged]] - (scale[0] if scale.size else 0)
        counts = np.zeros((levels.topics, _BINS, scale.size))
        np.add.at(counts, (topic[judged], bin_of[judged], index), 1.0)
        alpha, enough = _parameters(counts)
        unjudged = ~judged & (pool["nearest"].to_numpy() <= depth)
        wanted = unjudged & (enough[bin_of] | all_bins)
        new = np.flatnonzero(wanted & (document < 0))
        document[new] = levels.topic.size + np.arange(new.size)
        topics = np.concatenate((number[levels.topic], topic[new]))
        of_bin, of_place = np.full(topics.size, -1), np.zeros(topics.size, dtype=np.int64)
        of_bin[document[wanted]] = bin_of[wanted]
        of_place[document[document >= 0]] = place[document >= 0]
        # Documents are in fused order, independent of the form of the qrels and the order of runs.
        order = np.lexsort((of_place, topics))
        doc_ids = [*judgments.doc_ids, *pool["doc_id"].gather(new).to_list()]
        level_index = np.concatenate((levels.level_index, np.zeros(new.size, dtype=np.int64)))
        position = np.full(fusion.numbers.size, -1, dtype=np.int64)
        position[np.append(np.arange(levels.topic.size), pool["number"].to_numpy()[new])] = np.argsort(order)
        extended = Judgments(
            [judgments.query_ids[at] for at in by_name],
            [names[at] for at in by_name],
            Levels(levels.topics, topics[order], level_index[order], levels.values),
            [doc_ids[at] for at in order.tolist()],
        )
        topics_by_name, left_out = np.array(by_name, dtype=np.int64), int((unjudged & ~wanted).sum())
        return cls(
            extended, topics_by_name, of_bin[order], position, scale, counts.sum(axis=0), alpha, left_out
        )

    @cached_property
    def imputed(self) -> Bools:
        """Whether each document of the qrels gets a level."""
        return self.bin >= 0

    def draws(self, topic: int, seed: int) -> Draws:
        """Return the draws of one topic."""
        levels = self.judgments.levels
        begin, end = np.searchsorted(levels.topic, [topic, topic + 1])
        of_topic = self.bin[begin:end]
        bins, bin_of = np.unique(of_topic[of_topic >= 0], return_inverse=True)
        return topic_draws(self.alpha[topic, bins], bin_of, levels.values[self.scale] > 0, seed)


@light_dataclass(frozen=True, eq=False)
class Retrieved:
    """The documents of a run that are judged or get levels, by topic and rank."""

    #: Their positions in the qrels of the imputation.
    document: Ints
    rank: Ints
    #: Position of the first document of each topic, and one past the last.
    start: Ints
    #: Number of documents retrieved, judged or not, shape ``(topics,)``.
    n_retrieved: Ints

    @classmethod
    def of(cls, run: PooledRun, imputation: Imputation, lowest: float, deepest: float) -> Retrieved:
        """Return the documents that affect scores by measures with a lowest level and a deepest rank."""
        levels = imputation.judgments.levels
        counts = (levels.values >= lowest)[levels.level_index] | imputation.imputed
        kept = np.flatnonzero(
            np.append(counts, False)[imputation.position][run.number] & (run.rank <= deepest)
        )
        document, rank = imputation.position[run.number[kept]], run.rank[kept].astype(np.int64)
        order = np.argsort(pair_key(levels.topic[document], rank))
        document, rank = document[order], rank[order]
        start = np.searchsorted(levels.topic[document], np.arange(levels.topics + 1))
        return cls(document, rank, start, run.n_retrieved[imputation.topics])


def _parameters(counts: Floats) -> tuple[Floats, Bools]:
    """Return parameters of the shares of levels, and which bins have enough judged documents."""
    # The overall shares smooth those of a bin, which smooth those of the bin of a topic.
    of_bin = counts.sum(axis=0)
    judged = of_bin.sum(axis=1, keepdims=True)
    shares = of_bin.sum(axis=0) / max(float(judged.sum()), 1.0)
    of_bin = (of_bin + POOLED * shares) / (judged + POOLED)
    return counts + POOLED * of_bin, judged[:, 0] >= FEWEST


#: Draws random levels of the documents of one topic as positions on the scale, for a shift per sample; the
#: shape is ``(samples, documents)``. It is called with the samples in their order, in parts or at once.
Draws = Callable[[Floats], Ints]


def topic_draws(alpha: Floats, bin_of: Ints, above_0: Bools, seed: int) -> Draws:
    """Return the draws of one topic from the shares of its bins."""
    # One stream per kind of numbers, since gamma variables use varying numbers of draws.
    shifts, shares, uniforms = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(3))

    def levels(shift: Floats) -> Ints:
        shift = shift + shifts.normal(0.0, SHIFT_DEVIATION, shift.size)
        weights = shares.standard_gamma(alpha, (shift.size, *alpha.shape))
        weights[..., above_0] *= np.exp(shift)[:, np.newaxis, np.newaxis]
        cumulative = np.cumsum(weights, axis=2)
        cumulative /= cumulative[:, :, -1:]
        uniform = uniforms.random((shift.size, bin_of.size))
        drawn = np.zeros(uniform.shape, dtype=np.int64)
        for level in range(above_0.size - 1):
            drawn += uniform >= cumulative[:, bin_of, level]
        return drawn

    return levels


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
        self._z = np.zeros(fused.size)
        self._z[used] = (log - log.mean()) / (log.std() or 1.0)
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

    def draws(self, topic: int, seed: int) -> Draws:
        """Return the draws of one topic."""
        x, drawn_before = self.features(self._imputation.imputed, topic), 0
        shifts, uniforms = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(2))

        def levels(shift: Floats) -> Ints:
            nonlocal drawn_before
            samples = slice(drawn_before, drawn_before + shift.size)
            drawn_before += shift.size
            shift = shift + shifts.normal(0.0, SHIFT_DEVIATION, shift.size)
            uniform = uniforms.random((shift.size, len(x)))
            drawn = np.zeros(uniform.shape, dtype=np.int64)
            reached = np.ones_like(uniform)
            for (beta, of_topic), is_shifted in zip(self.steps, self.shifted, strict=True):
                base = of_topic[samples, topic] + (shift if is_shifted else 0)
                reached *= sigmoid(beta[samples] @ x.T + base[:, np.newaxis])
                drawn += uniform < reached
            return drawn

        return levels
