"""Compare ``score_arrays`` with torchmetrics: five measures and nDCG alone, 4,096 rows of 1,000 documents.

Run ``python benchmarks/arrays.py`` in an environment with torch and torchmetrics. If JAX is installed, its
values are checked too.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torchmetrics.retrieval import RetrievalNormalizedDCG

import ir_graded

ROWS, DOCUMENTS, ROUNDS = 4096, 1000, 5
FIVE = ["nDCG", "Q", "AP", "RR", "P@10"]


def main() -> None:
    rng = np.random.default_rng(0)
    relevance = rng.choice([0] * 9 + [1, 2, 3], size=(ROWS, DOCUMENTS))
    scores = rng.random((ROWS, DOCUMENTS), dtype=np.float32)
    tensors = torch.from_numpy(relevance), torch.from_numpy(scores)
    row = torch.arange(ROWS)[:, None].expand(-1, DOCUMENTS).reshape(-1)

    def ours() -> Any:
        return ir_graded.score_arrays(FIVE, *tensors)

    def theirs() -> Any:
        return RetrievalNormalizedDCG()(tensors[1].reshape(-1), tensors[0].reshape(-1), indexes=row)

    found = ours()
    of_numpy = ir_graded.score_arrays(FIVE, relevance, scores)
    assert isinstance(found, torch.Tensor)
    assert found.numpy().tobytes() == of_numpy.tobytes()
    tracked = tensors[1].clone().requires_grad_()
    assert torch.equal(ir_graded.score_arrays(FIVE, tensors[0], tracked), found)
    half = tensors[1].to(torch.bfloat16)
    assert torch.equal(
        ir_graded.score_arrays(FIVE, tensors[0], half), ir_graded.score_arrays(FIVE, tensors[0], half.float())
    )
    np.testing.assert_allclose(float(theirs()), float(found[0].mean()), rtol=1e-6)
    if find_spec("jax"):
        import jax.numpy as jnp

        in_jax = ir_graded.score_arrays(FIVE, jnp.asarray(relevance), jnp.asarray(scores))
        assert isinstance(in_jax, jnp.ndarray)
        assert np.array_equal(in_jax, of_numpy.astype(in_jax.dtype))
        print("jax:", in_jax.dtype)
    five, one = zip(*((timed(ours), timed(theirs)) for _ in range(ROUNDS)), strict=True)
    print(f"five measures: {min(five):.2f} s; nDCG of torchmetrics: {min(one):.2f} s; ", end="")
    print(f"ratio {np.median(np.array(one) / np.array(five)):.1f} (median of {ROUNDS} pairs)")


def timed(call: Callable[[], Any]) -> float:
    begin = perf_counter()
    call()
    return perf_counter() - begin


if __name__ == "__main__":
    main()
