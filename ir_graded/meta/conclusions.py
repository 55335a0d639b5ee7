"""Conclusions about the same systems under two sets of judgments."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_graded._utils.results import Result
from ir_graded.core.segments import Floats
from ir_graded.errors import InputError
from ir_graded.meta.significance import significant_pairs

from .correlation import fitting_tau_ap, kendall_tau, kendall_tau_b
from .matrix import FEWEST, ScoreMatrix, best_first, matrices_by_measure, means_of, ranks_of
from .options import Seed, statistic
from .paired_tests import TESTS_OF_PAIRS as TESTS
from .replicates import Pairs

if TYPE_CHECKING:
    import pandas as pd

    from ir_graded.plots.style import Figure

#: Classes of pairs of systems, in the order of their codes.
_CLASSES = (
    *("passive_agreement", "passive_disagreement"),
    *("mixed_agreement_a", "mixed_disagreement_a", "mixed_agreement_b", "mixed_disagreement_b"),
    *("active_agreement", "active_disagreement"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Conclusions(Result):
    """Conclusions about the same systems under two sets of judgments, a and b.

    Attributes:
        measures: printed names of the measures.
        runs: names of the systems.
        means_a: mean of each system under a, shape ``(measures, runs)``.
        means_b: mean of each system under b.
        table: the table of ``to_frame``, in the order of the measures.
        topics: number of topics in both.
        dropped_a: topics in a only.
        dropped_b: topics in b only.
        alpha: significance level.
        test: name of the test.
    """

    measures: tuple[str, ...]
    runs: tuple[Hashable, ...]
    means_a: Floats
    means_b: Floats
    table: pd.DataFrame
    topics: int
    dropped_a: tuple[Hashable, ...]
    dropped_b: tuple[Hashable, ...]
    alpha: float
    test: str

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per measure, highest recall first.

        Columns: the mean of all systems (``mean_a``, ``mean_b``) and ``bias``, b - a; ``largest_fall`` of a
        system in ranks; ``tau`` (without correction for ties), ``tau_b``, ``tau_ap`` with a as the reference
        and ``tau_ap_reverse`` with b, each with its variant for ties; ``top_overlap``, the share of the best
        systems that are the same in both; the number of pairs of systems in each class. The class depends on
        the number of sets in which a pair is significant (active: both, mixed: only the named one, passive:
        neither) and on whether the signs of its differences agree. ``precision`` is active agreement /
        significant under b, and ``recall`` is active agreement / significant under a.
        """
        return self.table.sort_values("recall", ascending=False, kind="stable")

    def plot(self) -> Figure:
        """Plot means under a against means under b, one panel per measure, labelling the largest moves."""
        from ir_graded.plots.meta import means_scatter

        return means_scatter(
            self.measures, self.runs, self.means_a, self.means_b, self.table["tau_b"].tolist()
        )


@statistic(test=TESTS)
def conclusions(
    scores_a: Any,
    scores_b: Any,
    *,
    test: str = "bootstrap",
    alpha: float = 0.05,
    top_k: int = 10,
    n_resamples: int = 1000,
    rng: Seed = 0,
) -> Conclusions:
    """Compare scores of the same systems under two sets of judgments, the first as the reference.

    Only topics in both sets count. Every pair of systems is tested under each set, with the same replicates.

    Args:
        scores_a: result of ``ir_graded.evaluate``, or a mapping from measures to score matrices.
        scores_b: scores of the same systems by the same measures.
        test: a test of ``discriminative_power``.
        alpha: significance level.
        top_k: number of best systems whose overlap is computed; ties at the border are ordered by name.
        n_resamples: number of replicates of the test.
        rng: a seed; with a generator, the two sets use different replicates.

    Raises:
        InputError: fewer than two topics are in both, or systems or measures differ.
        ParameterError: an option is out of its range.

    Source:
        Moffat, Scholer and Thomas, "Models and metrics" (ADCS 2012), for the names of the classes.

    Example:
        >>> a = [[0.9, 0.2, 0.3], [0.8, 0.1, 0.1], [0.7, 0.4, 0.5], [0.9, 0.3, 0.2]]
        >>> b = [[0.5, 0.2, 0.3], [0.6, 0.1, 0.1], [0.4, 0.4, 0.1], [0.7, 0.3, 0.2]]
        >>> conclusions({"Q": a}, {"Q": b}, test="t").to_frame()[["tau", "recall"]].round(3)
                   tau  recall
        measure
        Q        0.333     0.5
    """
    of_a, of_b = matrices_by_measure(scores_a), matrices_by_measure(scores_b)
    if set(of_a) != set(of_b):
        raise InputError(f"measures differ: {', '.join(of_a)} under a, {', '.join(of_b)} under b")
    options = {"test": test, "alpha": alpha, "n_resamples": n_resamples, "rng": rng}
    return conclude(of_a, of_b, top_k, {}, options)


def conclude(
    of_a: dict[str, ScoreMatrix],
    of_b: dict[str, ScoreMatrix],
    top_k: int,
    known: dict[Any, Any],
    options: dict[str, Any],
) -> Conclusions:
    """Return the conclusions from matrices; ``known`` caches the tests of a for further sets."""
    first, second = next(iter(of_a.values())), next(iter(of_b.values()))
    topics = tuple(topic for topic in first.topics if topic in set(second.topics))
    if len(topics) < FEWEST:
        raise InputError(f"at least {FEWEST} topics must be in both sets of judgments, found {len(topics)}")
    rows, means_a, means_b = [], [], []
    for name, matrix in of_a.items():
        a = _of_topics(matrix, topics)
        b = _of_topics(of_b[name], topics).aligned(a, f"{name} under b")
        if (name, topics) not in known:
            known[name, topics] = significant_pairs(a, **options)
        in_b = significant_pairs(b, **options)
        means_a.append(means_of(a))
        means_b.append(means_of(b))
        rows.append(_row(means_a[-1], means_b[-1], (known[name, topics], in_b), a.runs, top_k))
    import pandas as pd

    return Conclusions(
        measures=tuple(of_a),
        runs=first.runs,
        means_a=np.stack(means_a),
        means_b=np.stack(means_b),
        table=pd.DataFrame(rows, index=pd.Index(list(of_a), name="measure")),
        topics=len(topics),
        dropped_a=tuple(topic for topic in first.topics if topic not in topics),
        dropped_b=tuple(topic for topic in second.topics if topic not in topics),
        alpha=float(options["alpha"]),
        test=options["test"],
    )


def _of_topics(matrix: ScoreMatrix, topics: tuple[Hashable, ...]) -> ScoreMatrix:
    """Return the matrix of some of the topics."""
    place = {topic: at for at, topic in enumerate(matrix.topics)}
    return ScoreMatrix(matrix.values[[place[topic] for topic in topics]], topics, matrix.runs)


def _row(
    a: Floats, b: Floats, significant: tuple[Any, Any], systems: tuple[Hashable, ...], top_k: int
) -> dict[str, Any]:
    """Return the table row of one measure, from means under both sets and significant pairs."""
    pairs = Pairs.of(len(a))
    opposite = (a[pairs.first] - a[pairs.second]) * (b[pairs.first] - b[pairs.second]) < 0
    in_a, in_b = significant
    code = 2 * (in_a.astype(np.int64) + 2 * in_b) + opposite
    counts = np.bincount(code, minlength=len(_CLASSES))
    agreeing = counts[_CLASSES.index("active_agreement")]
    found_a, found_b = np.count_nonzero(in_a), np.count_nonzero(in_b)
    size = min(top_k, len(a))
    (tau_ap, variant), (reverse, of_reverse) = fitting_tau_ap(a, b), fitting_tau_ap(b, a)
    return {
        "mean_a": a.mean(),
        "mean_b": b.mean(),
        "bias": b.mean() - a.mean(),
        "largest_fall": int((ranks_of(b) - ranks_of(a)).max()),
        "tau": kendall_tau(a, b),
        "tau_b": kendall_tau_b(a, b),
        "tau_ap": tau_ap,
        "tau_ap_variant": variant,
        "tau_ap_reverse": reverse,
        "tau_ap_reverse_variant": of_reverse,
        "top_overlap": len(set(best_first(a, systems)[:size]) & set(best_first(b, systems)[:size])) / size,
        **dict(zip(_CLASSES, counts.tolist(), strict=True)),
        "precision": agreeing / found_b if found_b else float("nan"),
        "recall": agreeing / found_a if found_a else float("nan"),
    }
