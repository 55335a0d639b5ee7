"""Evaluator for sentence-transformers with graded qrels and any measures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from ir_measures.measures import Measure

from .errors import InputError
from .evaluation.arrays import numbers_of
from .evaluation.evaluate import Evaluation
from .io.ids import as_text
from .measures.parsing import read_measures

try:
    from sentence_transformers.base.evaluation import BaseEvaluator
except ImportError:  # not needed to evaluate similarities
    BaseEvaluator = object

__all__ = ["GradedRetrievalEvaluator"]

_CELLS = 2**24  # number of similarities computed at a time


class GradedRetrievalEvaluator(BaseEvaluator):
    """Evaluate how a model ranks a corpus, in ``SentenceTransformerTrainer(evaluator=...)`` or directly.

    Called with a model, it encodes the judged queries and the corpus, and ranks by ``model.similarity``.
    Called with similarities, an array of shape ``(queries, documents)``, it ranks by these. It returns the
    metrics by name. If ``output_path`` is given, it appends a line to a CSV file in this folder.

    Args:
        queries: texts by query_id.
        corpus: texts by doc_id.
        qrels: the judgments, in any form that ``evaluate`` takes.
        measures: the measures, as for ``evaluate``; the first one is the ``primary_metric``.
        name: prefix of the names of the metrics, such as ``dev_nDCG@10``.
        depth: number of documents to keep per query, plus any that are as similar as the last; at least 1.
        encode: options of ``model.encode``, such as ``batch_size``.

    Raises:
        InputError: no query is judged, the qrels cannot be scored, or similarities have a wrong shape or
            contain NaN.

    Example:
        >>> queries, corpus = {"q1": "red car"}, {"d1": "blue sky", "d2": "a car", "d3": "a red car"}
        >>> evaluator = GradedRetrievalEvaluator(queries, corpus, {"q1": {"d2": 1, "d3": 2}})
        >>> {name: round(value, 4) for name, value in evaluator([[0.1, 0.9, 0.7]]).items()}
        {'nDCG@10': 0.8597, 'Q': 0.8333}
    """

    def __init__(
        self,
        queries: Mapping[str, Any],
        corpus: Mapping[str, Any],
        qrels: Any,
        measures: Iterable[str | Measure] | str | Measure = ("nDCG@10", "Q"),
        *,
        name: str = "",
        depth: int = 1000,
        **encode: Any,
    ) -> None:
        super().__init__()
        self._evaluation = Evaluation(read_measures(measures), qrels)
        self._metrics = [f"{name}{name and '_'}{measure}" for measure in self._evaluation.measures]
        self._depth, self._encode = depth, encode
        self.name, self.primary_metric, self.greater_is_better = name, self._metrics[0], True
        self._query_ids, self._queries = pl.Series([*map(as_text, queries)]), [*queries.values()]
        self._doc_ids, self._documents = pl.Series([*map(as_text, corpus)]), [*corpus.values()]
        topics = set(self._evaluation.judgments.names)
        self._judged = [at for at, query_id in enumerate(self._query_ids) if query_id in topics]
        if not self._judged or not self._documents or depth < 1:
            raise InputError("GradedRetrievalEvaluator needs a judged query, a document and depth >= 1")

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        blocks = self._of_model(model) if hasattr(model, "encode") else self._of_array(model)
        run = {"run": pl.concat([self._first(*block) for block in blocks])}
        scored = self._evaluation.match(run, self._evaluation.lowest, self._evaluation.score)
        means: list[float] = self._evaluation.scores(run, scored).aggregates[0].tolist()
        metrics = dict(zip(self._metrics, means, strict=True))
        if hasattr(model, "model_card_data"):
            self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        if output_path is not None:
            path = Path(output_path, f"Graded-Retrieval_evaluation{self.name and '_'}{self.name}_results.csv")
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                line = pl.DataFrame({"epoch": epoch, "steps": steps, **metrics})
                line.write_csv(file, include_header=not file.tell())
        return metrics

    def _of_array(self, similarities: Any) -> Iterator[tuple[list[int], Any]]:
        values, shape = numbers_of("similarities", similarities), (len(self._queries), len(self._documents))
        if values.shape != shape:
            raise InputError(f"similarities has shape {values.shape}; expected [queries, documents], {shape}")
        yield self._judged, values[self._judged]

    def _of_model(self, model: Any) -> Iterator[tuple[list[int], Any]]:
        options = {"convert_to_tensor": True, **self._encode}
        documents = getattr(model, "encode_document", model.encode)(self._documents, **options)
        encode_query = getattr(model, "encode_query", model.encode)
        size = max(1, _CELLS // len(self._documents))
        for begin in range(0, len(self._judged), size):
            block = self._judged[begin : begin + size]
            queries = encode_query([self._queries[at] for at in block], **options)
            yield block, numbers_of("similarities", model.similarity(queries, documents))

    def _first(self, block: list[int], similarities: Any) -> pl.DataFrame:
        """Return the first documents of some queries; includes NaN, which raises an error later."""
        last = max(0, similarities.shape[1] - self._depth)
        row, column = np.nonzero(~(similarities < np.partition(similarities, last, axis=1)[:, [last]]))
        ids = {"query_id": self._query_ids[np.array(block)[row]], "doc_id": self._doc_ids[column]}
        return pl.DataFrame({**ids, "score": similarities[row, column]})
