"""Metric for torchmetrics and Lightning with graded levels and any measures."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from .analyses.arrays import LARGEST_WHOLE, RankingMetric, numbers_of
from .errors import GradedError, InputError

try:
    import torch
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
        InputError: by ``update``, if shapes differ, a type is wrong, or flags are not True and False or 1 and
            0; by ``compute``, in the other cases of ``RankingMetric``.
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
        """Add a batch: tensors, arrays or lists. The arguments are those of ``RankingMetric.update``."""
        given = {"preds": preds, "target": target, "indexes": indexes, "retrieved": retrieved, "mask": mask}
        values = {name: self._tensor(name, one) for name, one in given.items() if one is not None}
        shape = values["target"].shape
        if values["indexes"].shape != shape and values["indexes"].shape == shape[:-1]:
            values["indexes"] = values["indexes"][..., None].expand(shape)
        for name, one in values.items():
            if one.shape != shape:
                raise InputError(
                    f"{name} has shape {tuple(one.shape)}; it must have the shape of target, {tuple(shape)}"
                )
        if retrieved is None:
            values["retrieved"] = torch.ones_like(values["target"], dtype=torch.bool)
        shown = values.pop("mask", None)
        for name in _STATES:
            one = values[name]
            # Indexing copies, so that callers may reuse their tensors.
            getattr(self, name).append(one.flatten() if shown is None else one[shown.to(one.device)])

    def sync(self, *args: Any, **options: Any) -> None:
        """Exchange the tensors of all processes, as ``torchmetrics.Metric.sync``."""
        for name, dtype in self._dtypes().items():
            # torchmetrics sends float32 for a process without batches, and all must send one type.
            if isinstance(getattr(self, name), list) and not getattr(self, name):
                getattr(self, name).append(torch.empty(0, dtype=dtype, device=self.device))
        super().sync(*args, **options)

    def _dtypes(self) -> dict[str, Any]:
        """Return the types of the states, the same in all processes, and of the mask."""
        return {
            "preds": self._precision(),
            "target": self._precision(),
            "indexes": torch.int64,
            "retrieved": torch.bool,
        }

    def _precision(self) -> Any:
        return torch.float32 if self.device.type == "mps" else torch.float64  # MPS has no float64

    def _tensor(self, name: str, given: Any) -> Any:
        """Return a copy of an argument as a tensor of its type. Raises InputError for other values."""
        here = isinstance(given, torch.Tensor)
        values = given.detach() if here else torch.from_numpy(np.array(numbers_of(name, given)))
        if values.is_complex() or values.layout != torch.strided:
            raise InputError(
                f"{name} holds {values.dtype}, {values.layout}; it must be a dense tensor of numbers"
            )
        dtype = self._dtypes().get(name, torch.bool)
        if name == "indexes" and values.is_floating_point() and values.numel():
            raise InputError(f"indexes holds {values.dtype}; it must hold whole numbers, one for each topic")
        flags = dtype == torch.bool
        if flags and values.dtype != torch.bool and ((values != 0) & (values != 1)).any():
            raise InputError(f"{name} holds other values than True and False, or 1 and 0")
        found = values.to(dtype, copy=True)
        if name == "target" and values.dtype == torch.int64:
            # compute rejects infinite levels; a check here would wait for the device.
            found.masked_fill_(values > LARGEST_WHOLE, torch.inf)
        return found if here else found.to(self.device)

    def compute(self) -> Any:
        """Return the mean of each measure over the topics, as float64 tensors on the device of the metric."""
        ranking = copy(self._ranking)
        ranking.reset()
        kept = [getattr(self, name) for name in _STATES]
        if len(kept[0]):
            # Processes exchange lists of batches as one tensor.
            flat = [torch.cat(one) if isinstance(one, list) else one for one in kept]
            ranking.update(*flat[:3], retrieved=flat[3])
        found = ranking.compute()
        options = {"dtype": self._precision(), "device": self.device}
        if isinstance(found, dict):
            return {name: torch.tensor(value, **options) for name, value in found.items()}
        return torch.tensor(found, **options)
