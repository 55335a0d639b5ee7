"""Metric for torchmetrics and Lightning with graded levels and any measures."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any

from ir_measures.measures import Measure

from .errors import GradedError, InputError
from .evaluation.metric import RankingMetric

try:
    from torchmetrics import Metric
except ImportError:  # the documentation needs the class only
    Metric = object

__all__ = ["GradedRankingMetric"]

_STATES = ("preds", "target", "indexes", "retrieved")


class GradedRankingMetric(Metric):
    """``RankingMetric`` as a ``torchmetrics.Metric``, for ``MetricCollection`` and ``LightningModule.log``.

    It keeps tensors on their device, and processes exchange them before ``compute``, as all metrics of
    torchmetrics do. ``compute`` copies them once to the host, checks them and computes the measures in NumPy.
    It takes the place of ``RetrievalNormalizedDCG`` and others; a topic without relevant documents scores 0,
    as with ``empty_target_action='neg'``.

    Args:
        measures: the measures, as for ``RankingMetric``. A single one makes ``compute`` return a tensor, as
            ``LightningModule.log`` needs it; a list makes it return a dict of tensors by name.
        ties: order of documents with equal scores, as for ``RankingMetric``.
        options: options of ``torchmetrics.Metric``, such as ``dist_sync_on_step``.

    Raises:
        GradedError: torchmetrics is not installed.
        InputError: by ``update``, if shapes differ; by ``compute``, in the other cases of ``RankingMetric``.
        ParameterError: ``ties`` is wrong for ``RankingMetric``.

    Example:
        A loop that sets ``metric = GradedRankingMetric("nDCG@10")`` calls ``metric.update(preds, target,
        indexes=indexes)`` for each batch, then ``metric.compute()`` and ``metric.reset()``.
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False

    def __init__(
        self, measures: Iterable[str | Measure] | str | Measure, *, ties: str | None = None, **options: Any
    ) -> None:
        if Metric is object:
            raise GradedError("GradedRankingMetric requires torchmetrics: pip install torchmetrics")
        super().__init__(**options)
        self._ranking = RankingMetric(measures, ties=ties)
        for name in _STATES:
            self.add_state(name, default=[], dist_reduce_fx="cat")

    def update(
        self, preds: Any, target: Any, indexes: Any, *, mask: Any = None, retrieved: Any = None
    ) -> None:
        """Add the tensors of a batch; the arguments are those of ``RankingMetric.update``."""
        import torch

        if indexes.shape != target.shape and indexes.shape == target.shape[:-1]:
            indexes = indexes[..., None].expand(target.shape)
        retrieved = torch.ones_like(target, dtype=torch.bool) if retrieved is None else retrieved
        given = {"preds": preds, "target": target, "indexes": indexes, "retrieved": retrieved, "mask": mask}
        for name, values in given.items():
            if values is not None and values.shape != target.shape:
                shapes = f"{tuple(values.shape)}; it must have the shape of target, {tuple(target.shape)}"
                raise InputError(f"{name} has shape {shapes}")
        for name in _STATES:
            values = given[name].detach()
            getattr(self, name).append(values.flatten() if mask is None else values[mask.bool()])

    def compute(self) -> Any:
        """Return the mean of each measure over the topics, as float64 tensors on the device of the metric."""
        import torch

        ranking = copy(self._ranking)
        ranking.reset()
        kept = [getattr(self, name) for name in _STATES]
        if len(kept[0]):
            # Processes exchange lists of batches as one tensor.
            flat = [torch.cat(one) if isinstance(one, list) else one for one in kept]
            ranking.update(*flat[:3], retrieved=flat[3])
        found = ranking.compute()
        precision = torch.float32 if self.device.type == "mps" else torch.float64  # MPS has no float64
        options = {"dtype": precision, "device": self.device}
        if isinstance(found, dict):
            return {name: torch.tensor(value, **options) for name, value in found.items()}
        return torch.tensor(found, **options)
