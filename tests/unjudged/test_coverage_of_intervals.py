"""Validation experiments: judgments are hidden, and intervals should cover the true scores as documented."""

import numpy as np
import pytest
from collections_data import needs_shared_data
from helpers import rows_of_docs

from benchmarks import interval_coverage as coverage


@pytest.mark.release
@needs_shared_data
def test_intervals_cover_the_scores_with_hidden_judgments_of_one_team():
    topics, means, imputed, zero, _ = coverage.summary(coverage.by_team(step=6))[::2]
    assert min(topics[:3]) >= 0.93
    assert np.mean(means) >= 0.8
    assert (np.abs(imputed) < np.abs(zero))[:3].all()


@pytest.mark.release
@pytest.mark.parametrize("design", coverage.DESIGNS)
def test_the_bundled_sample_has_the_coverage_in_the_guide(design):
    qrels, runs = coverage.collection("sample")
    found = coverage.summary(coverage.simulated(qrels, runs, design, repetitions=5))
    for name, (end, _) in coverage.TABLES.items():
        (row,) = [
            row
            for row in rows_of_docs(f"guide/{name}")
            if (row["collection"], row["judgments hidden"]) == (coverage.COLLECTIONS["sample"][0], design)
        ]
        documented = np.array([row[measure].split(" / ") for measure in coverage.MEASURES], dtype=float).T
        first, _, second, _ = range(2 * end - 4, 2 * end)
        for at, values in zip((first, second), documented, strict=True):
            assert (np.abs(found[at] - values) <= 4 * found[at + 1] + 0.02).all(), (name, at)


def test_the_guide_has_the_coverage_of_all_collections():
    for name in coverage.TABLES:
        rows = [(row["collection"], row["judgments hidden"]) for row in rows_of_docs(f"guide/{name}")]
        titles = [title for title, _ in coverage.COLLECTIONS.values()]
        assert rows == [(title, design) for title in titles for design in coverage.DESIGNS][: len(rows)]
        assert len(rows) == 2 * len(titles) - 1
