"""Arrays and metrics on a CUDA device give the values of NumPy, on the device of the caller."""

import numpy as np
import pytest

from ecosystem.test_metric import MEASURES, documents
from ir_graded import RankingMetric, score_arrays
from ir_graded.torchmetrics import GradedRankingMetric

torch = pytest.importorskip("torch", reason="torch is not installed")
if not torch.cuda.is_available():
    pytest.skip("torch has no CUDA device", allow_module_level=True)

NAMES = ["Q", "nDCG@10", "P-measure", "RR", "nERR(max_rel=3)@10"]


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return (
        rng.integers(0, 4, (50, 40)),
        rng.choice([0.25, 0.5, 1.0, 3.0], (50, 40)),
        rng.random((50, 40)) < 0.8,
    )


def on_cuda(values, dtype=None):
    return torch.as_tensor(values, dtype=dtype).to("cuda")


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_tensors_give_the_values_of_numpy_on_their_device(rows, dtype):
    relevance, scores, mask = rows
    expected = score_arrays(NAMES, relevance, scores, mask=mask)
    tensors = on_cuda(relevance), on_cuda(scores, dtype).requires_grad_()
    found = score_arrays(NAMES, *tensors, mask=on_cuda(mask))
    assert (found.device.type, found.dtype, found.requires_grad) == ("cuda", torch.float64, False)
    assert np.array_equal(found.cpu().numpy(), expected)


def test_arrays_of_cupy_and_jax_give_the_values_of_numpy(rows):
    cupy, jax = pytest.importorskip("cupy"), pytest.importorskip("jax")
    relevance, scores, mask = rows
    expected = score_arrays(NAMES, relevance, scores, mask=mask)
    found = score_arrays(NAMES, *map(cupy.asarray, (relevance, scores)), mask=cupy.asarray(mask))
    assert isinstance(found, cupy.ndarray)
    assert np.array_equal(found.get(), expected)
    device = jax.devices("gpu")[0]
    relevance, scores, mask = (jax.device_put(values, device) for values in rows)
    found = score_arrays(NAMES, relevance, scores, mask=mask)
    assert found.devices() == {device}
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6)


@pytest.mark.parametrize("made", [RankingMetric, GradedRankingMetric])
def test_metrics_take_tensors_of_the_device(made):
    if made is GradedRankingMetric:
        pytest.importorskip("torchmetrics", reason="torchmetrics is not installed")
    given = documents(0)
    host, device = made(MEASURES), made(MEASURES)
    if made is GradedRankingMetric:
        device = device.to("cuda")
        host.update(*map(torch.as_tensor, given[:3]), retrieved=torch.as_tensor(given[3]))
    else:
        host.update(*given[:3], retrieved=given[3])
    device.update(*map(on_cuda, given[:3]), retrieved=on_cuda(given[3]))
    expected, found = host.compute(), device.compute()
    assert {name: float(value) for name, value in found.items()} == {
        name: float(value) for name, value in expected.items()
    }
    if made is GradedRankingMetric:
        assert {value.device.type for value in found.values()} == {"cuda"}
