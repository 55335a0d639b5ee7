"""Reference for levels by the ranks in all runs: features, fit and draws with one dense matrix and loops."""

from __future__ import annotations

import math

import numpy as np

from reference.unjudged import Qrels, Rankings, is_judged

#: Penalties of 1, z and z^2, and of topics and runs.
WEAK, PENALTY = 0.01, 1.0


def features(
    qrels: Qrels, runs: dict[str, Rankings], imputed: set[tuple[str, str]]
) -> dict[tuple[str, str], list[float]]:
    """Return 1, z, z^2, then 1 for the own topic, then 60 / (60 + rank) in each run, topics and runs by name.

    z is the logarithm of the sum of 1 / (60 + rank), standardised over the documents that are judged or get a
    level.
    """
    ranks: dict[tuple[str, str], dict[str, int]] = {}
    for name in sorted(runs):
        for topic, ranking in runs[name].items():
            for rank, doc_id in enumerate(ranking, start=1):
                if topic in qrels and (is_judged(qrels[topic], doc_id) or (topic, doc_id) in imputed):
                    ranks.setdefault((topic, doc_id), {})[name] = rank
    fused = {one: math.log(sum(1 / (60 + rank) for rank in of.values())) for one, of in ranks.items()}
    mean = sum(fused.values()) / len(fused)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in fused.values()) / len(fused)) or 1.0
    found = {}
    for (topic, doc_id), of_runs in ranks.items():
        z = (fused[topic, doc_id] - mean) / deviation
        topics = [float(topic == other) for other in sorted(qrels, key=lambda name: (len(name), name))]
        of_runs_60 = [60 / (60 + of_runs[name]) if name in of_runs else 0.0 for name in sorted(runs)]
        found[topic, doc_id] = [1.0, z, z * z, *topics, *of_runs_60]
    return found


def fit(x: list[list[float]], y: list[bool]) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients of the ridge logistic regression, and the inverse of the Hessian."""
    rows, labels = np.array(x), np.array(y, dtype=float)
    penalty = np.diag([WEAK] * 3 + [PENALTY] * (rows.shape[1] - 3))
    coefficients = np.zeros(rows.shape[1])
    for _ in range(2000):
        p = np.array([1 / (1 + math.exp(-float(odds))) for odds in rows @ coefficients])
        hessian = rows.T @ np.diag(p * (1 - p)) @ rows + penalty
        slope = rows.T @ (labels - p) - penalty @ coefficients
        # Short steps always climb.
        coefficients = coefficients + 0.5 * np.linalg.solve(hessian, slope)
        if np.abs(slope).max() < 1e-12:
            break
    return coefficients, np.linalg.inv(hessian)


def shares(x: list[float], steps: list[np.ndarray], shift: float) -> list[float]:
    """Return the probability of each level of the scale 0, 1, 2, ...; the shift is in the first log odds."""
    at_least = [1.0]
    for number, coefficients in enumerate(steps):
        odds = sum(a * b for a, b in zip(x, coefficients, strict=True)) + (shift if number == 0 else 0.0)
        at_least.append(at_least[-1] / (1 + math.exp(-odds)))
    return [one - other for one, other in zip(at_least, [*at_least[1:], 0.0], strict=True)]
