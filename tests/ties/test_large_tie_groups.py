"""Large tie groups: scores equal those of the slow reference, also where a quadratic method would not end."""

import numpy as np
import pytest
from reference import ties_large
from ties.tie_scores import measure_of, run_of, scores

import ir_graded
from ir_graded.core import tie_means

#: Levels of a group, and how many of its documents are not judged.
FEW_STOP = ([3] * 20 + [2] * 60 + [1] * 120, 400)
MOST_STOP = ([4] * 260 + [1] * 10 + [0] * 5, 30)
ONE_IS_BEST = ([1] * 150 + [2], 149)
ALL_ALIKE = ([2] * 300, 0)


def collection(*parts, above=(2, 0, 1)):
    """Return the qrels and the tie groups of one topic: one document each, then the large groups."""
    judged = [[level] for level in above] + [levels for levels, _ in parts]
    unjudged = [0] * len(above) + [others for _, others in parts]
    groups = [
        [f"g{at}d{n}" for n in range(len(levels) + others)]
        for at, (levels, others) in enumerate(zip(judged, unjudged, strict=True))
    ]
    qrels = {
        doc_id: level
        for group, levels in zip(groups, judged, strict=True)
        for doc_id, level in zip(group, levels, strict=False)
    }
    return qrels, groups


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts",
    [(FEW_STOP,), (MOST_STOP, FEW_STOP), (ONE_IS_BEST, MOST_STOP), (ALL_ALIKE,)],
    ids=["few stop", "most stop", "one is best", "all alike"],
)
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("EBR", {}), ("EBR", {"beta": 10.0, "cutoff": 200}), ("nERR", {}), ("iRBU", {"p": 0.9}),
        ("NCU", {"stop": "rb"}), ("NCU", {"stop": "rb", "gamma": 0.5, "cutoff": 150}),
        ("NCU", {"stop": "rb", "gamma": 1.0}), ("P+", {}), ("P+", {"beta": 0.0}), ("P+", {"cutoff": 40}),
    ],
    ids=str,
)  # fmt: skip
def test_large_groups_have_the_scores_of_the_reference(monkeypatch, name, params, parts):
    monkeypatch.setattr(tie_means, "_CHUNK", 1000)  # also the smallest group that is large for rank bias
    qrels, groups = collection(*parts)
    measure = measure_of(name, params, "expected")
    found = scores([measure], {"1": qrels}, run_of({"1": groups}))[measure]["1"]
    highest = max(qrels.values())
    wanted = ties_large.expected(name, params, qrels, groups, highest, set(qrels.values()))
    assert found == pytest.approx(wanted, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n", [400, 1000])
def test_a_step_for_each_place_gives_the_means_of_a_step_for_each_document(monkeypatch, n):
    levels = np.random.default_rng(n).choice([1, 5, 9], n - 10, p=[0.1, 0.1, 0.8]).tolist()
    qrels, groups = collection((levels, 10), (levels, 10))
    measures = [measure_of(name, {}, "expected") for name in ("EBR", "nERR")]
    by_place, found = [], []
    for cost in (0.0, np.inf):
        monkeypatch.setattr(tie_means, "_STEP", cost)
        with monkeypatch.context() as patch:
            patch.setattr(tie_means, "_Classes", _spy(by_place, tie_means._Classes))
            of_measure = scores(measures, {"1": qrels}, run_of({"1": groups}))
        found.append([of_measure[measure]["1"] for measure in measures])
    assert by_place == [2, 2]  # both groups by both measures, the first time
    assert found[0] == pytest.approx(found[1], rel=1e-13)


def _spy(sizes, of):
    def counted(tied, groups, *given):
        sizes.append(groups.size)
        return of(tied, groups, *given)

    return counted


@pytest.mark.parametrize(
    "measure",
    ["EBR", "nERR", "iRBU", "NCU(stop='rb')", "NCU(stop='rb',gamma=1)", "P+", "P-measure", "Q", "GAP"],
)
@pytest.mark.parametrize("share", [0.005, 0.5])
def test_a_group_of_40000_documents_has_a_score(measure, share):
    n = 40_000  # a step for each pair of document and place would take minutes
    rng = np.random.default_rng(0)
    level = np.where(rng.random((1, n)) < share, rng.integers(1, 4, (1, n)), 0)
    (score,) = ir_graded.score_arrays(measure, level, np.zeros((1, n)), ties="expected")[0]
    assert 0 < score < 1
