"""Evaluators for sentence-transformers with graded qrels and any measures."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from ir_measures.measures import Measure

from .analyses.arrays import DefaultTies, numbers_of
from .errors import InputError, ParameterError, short_repr
from .evaluation.evaluate import Request, in_order
from .evaluation.ranges import is_lower_better
from .io.sources import opened
from .io.values import as_text, describe_document
from .measures.params import TIES
from .measures.parsing import read_measures

try:
    from sentence_transformers.base.evaluation import BaseEvaluator
except ImportError:  # not needed to evaluate similarities
    BaseEvaluator = object

__all__ = ["GradedRerankingEvaluator", "GradedRetrievalEvaluator"]

_CELLS = 2**24  # number of similarities computed at a time


class _GradedEvaluator(BaseEvaluator):
    """Evaluator whose subclasses turn a model into a run."""

    #: Begins the name of the CSV file.
    _TASK = ""

    def __init__(
        self,
        queries: Mapping[str, Any],
        qrels: Any,
        measures: Iterable[str | Measure] | str | Measure,
        name: str,
        depth: int,
        ties: str | None,
    ) -> None:
        super().__init__()
        if not isinstance(depth, (int, np.integer)) or isinstance(depth, bool) or depth < 1:
            raise ParameterError(f"depth={short_repr(depth)} must be a whole number >= 1")
        given = read_measures(measures)
        if ties is not None:
            given = in_order(given, ties)
        self._ties = DefaultTies(given if ties is None else [])
        self._scored = self._ties.measures or given
        self._request = Request(self._scored, qrels)
        self._metrics = [f"{name}{name and '_'}{measure}" for measure in given]
        self.name, self.primary_metric = name, self._metrics[0]
        self.greater_is_better = not is_lower_better(given[0])
        self._query_ids, self._queries = pl.Series([*map(as_text, queries)]), [*queries.values()]
        topics = set(self._request.judgments.names)
        self._judged = [at for at, query_id in enumerate(self._query_ids) if query_id in topics]

    def _run(self, model: Any) -> pl.DataFrame:
        raise NotImplementedError

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        path = None if output_path is None else self._file(output_path)
        run = {"run": self._run(model)}
        request, values = copy(self._request), self._request.judgments.levels.values
        request.take(run)
        # The topics in which scores depend on the ids of tied documents.
        scores, (tied,) = request.scores(lambda matched: self._ties.topics(matched.judged, values))
        self._ties.warn(tied.size, "doc_id", TIES.default)
        of_measure = dict(zip(scores.measures, scores.aggregates[0].tolist(), strict=True))
        metrics = {
            name: of_measure[measure] for name, measure in zip(self._metrics, self._scored, strict=True)
        }
        if hasattr(model, "model_card_data"):
            self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                line = pl.DataFrame({"epoch": epoch, "steps": steps, **metrics})
                line.write_csv(file, include_header=not file.tell())
        return metrics

    def _file(self, folder: str) -> Path:
        """Return the path of the CSV file. Raises InputError if it exists with other columns."""
        name = re.sub(r"[/\\:\0]", "_", self.name)  # so that it stays inside the folder
        path = Path(folder, f"{self._TASK}_evaluation{name and '_'}{name}_results.csv")
        columns = ["epoch", "steps", *self._metrics]
        if path.exists() and path.stat().st_size:
            with path.open(newline="", encoding="utf-8") as file:
                found = next(csv.reader(file))
            if found != columns:
                raise InputError(
                    f"{path} has the columns {', '.join(found)}, but this evaluator writes "
                    f"{', '.join(columns)}: give the evaluator another name, or use another output_path"
                )
        return path


class GradedRetrievalEvaluator(_GradedEvaluator):
    """Evaluate how a model ranks a corpus, in ``SentenceTransformerTrainer(evaluator=...)`` or directly.

    Called with a model, it encodes the judged queries and the corpus, and ranks by ``model.similarity``.
    Called with similarities, an array of shape ``(queries, documents)``, it ranks by these. It returns the
    metrics by name. If ``output_path`` is given, it appends a line to the CSV file of its ``name`` in this
    folder. A file with other columns raises an error before anything is encoded.

    Args:
        queries: texts by query_id.
        corpus: texts by doc_id.
        qrels: the judgments, in any form that ``evaluate`` takes.
        measures: the measures, as for ``evaluate``; the first one is the ``primary_metric``.
        name: prefix of the names of the metrics, such as ``dev_nDCG@10``.
        depth: number of documents to keep per query, plus any that are as similar as the last; at least 1.
        ties: order of documents with equal similarities, one of the words of ``evaluate``. By default
            'expected', the mean over all orders, and 'doc_id' for measures that do not define this mean.
            Names of metrics show ``ties`` only if it is given.
        encode: options of ``model.encode``, such as ``batch_size``.

    Raises:
        InputError: no query is judged, the qrels cannot be scored, similarities have a wrong shape or contain
            NaN, the model is a CrossEncoder, or the CSV file has other columns.
        ParameterError: ``depth`` is not a whole number >= 1, ``ties`` is not a valid word, or it is
            'expected' and a measure does not define this mean.

    Warns:
        CoverageWarning: relevant documents of a query are equally similar, and by default a measure ranks
            them by id; or for another reason that ``evaluate`` lists.

    Example:
        >>> queries, corpus = {"q1": "red car"}, {"d1": "blue sky", "d2": "a car", "d3": "a red car"}
        >>> evaluator = GradedRetrievalEvaluator(queries, corpus, {"q1": {"d2": 1, "d3": 2}})
        >>> {name: round(value, 4) for name, value in evaluator([[0.1, 0.9, 0.7]]).items()}
        {'nDCG@10': 0.8597, 'Q': 0.8333}
    """

    _TASK = "Graded-Retrieval"

    def __init__(
        self,
        queries: Mapping[str, Any],
        corpus: Mapping[str, Any],
        qrels: Any,
        measures: Iterable[str | Measure] | str | Measure = ("nDCG@10", "Q"),
        *,
        name: str = "",
        depth: int = 1000,
        ties: str | None = None,
        **encode: Any,
    ) -> None:
        super().__init__(queries, qrels, measures, name, depth, ties)
        self._depth, self._encode = depth, encode
        self._doc_ids, self._documents = pl.Series([*map(as_text, corpus)]), [*corpus.values()]
        if not self._judged or not self._documents:
            raise InputError("GradedRetrievalEvaluator needs a judged query and a document")

    def _run(self, model: Any) -> pl.DataFrame:
        if hasattr(model, "encode"):
            return pl.concat([self._first(*block) for block in self._blocks(model)])
        if hasattr(model, "predict"):
            raise InputError(
                f"{type(model).__name__} scores pairs of texts and encodes no queries or documents: use "
                "GradedRerankingEvaluator, or score all pairs with predict, and call the evaluator with an "
                "array [queries, documents]"
            )
        values, shape = numbers_of("similarities", model), (len(self._queries), len(self._documents))
        if values.shape != shape:
            raise InputError(f"similarities has shape {values.shape}; expected [queries, documents], {shape}")
        return self._first(self._judged, values[self._judged])

    def _blocks(self, model: Any) -> Iterator[tuple[list[int], Any]]:
        """Yield some queries, and the similarities of all documents to them."""
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


class GradedRerankingEvaluator(_GradedEvaluator):
    """Evaluate how a cross-encoder reranks documents, in ``CrossEncoderTrainer(evaluator=...)`` or directly.

    Called with a model, it scores all pairs of a query and a candidate with ``model.predict``, and ranks the
    candidates of each query by these scores. It returns the metrics by name, and writes the CSV file of its
    ``name``, as ``GradedRetrievalEvaluator`` does.

    Args:
        queries: texts by query_id.
        corpus: texts by doc_id; at least of the candidates.
        qrels: the judgments, in any form that ``evaluate`` takes. A relevant document that is not a candidate
            counts as not retrieved.
        candidates: the run to rerank, in any form that ``evaluate`` takes; only topics of the qrels are
            reranked. None for all judged documents of each query.
        measures: the measures, as for ``evaluate``; the first one is the ``primary_metric``.
        name: prefix of the names of the metrics, such as ``dev_nERR@10``.
        depth: number of candidates to rerank per query of a run, the best first, plus any with the score of
            the last; at least 1. The others are left out of the ranking.
        ties: order of documents with equal scores, as for ``GradedRetrievalEvaluator``. Ties are frequent if
            a sigmoid rounds scores to 1.
        predict: options of ``model.predict``, such as ``batch_size``.

    Raises:
        InputError: no query has a candidate, a candidate has no query or text, the qrels or the run cannot be
            scored, the model scores no pairs or gives several numbers per pair, a score is NaN, or the CSV
            file has other columns.
        ParameterError: ``depth`` or ``ties`` is wrong, as for ``GradedRetrievalEvaluator``.

    Warns:
        CoverageWarning: as ``GradedRetrievalEvaluator``.

    Example:
        >>> class Overlap:
        ...     def predict(self, pairs):
        ...         return [len({*query.split()} & {*text.split()}) for query, text in pairs]
        >>> queries, corpus = {"q1": "red car"}, {"d1": "blue sky", "d2": "a car", "d3": "a red car"}
        >>> qrels, run = {"q1": {"d2": 1, "d3": 2}}, {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}
        >>> evaluator = GradedRerankingEvaluator(queries, corpus, qrels, run, ["nERR@10", "RR"], name="dev")
        >>> evaluator(Overlap())
        {'dev_nERR@10': 1.0, 'dev_RR': 1.0}
    """

    _TASK = "Graded-Reranking"

    def __init__(  # noqa: PLR0913  # what to score, and how
        self,
        queries: Mapping[str, Any],
        corpus: Mapping[str, Any],
        qrels: Any,
        candidates: Any = None,
        measures: Iterable[str | Measure] | str | Measure = ("nDCG@10", "Q"),
        *,
        name: str = "",
        depth: int = 100,
        ties: str | None = None,
        **predict: Any,
    ) -> None:
        super().__init__(queries, qrels, measures, name, depth, ties)
        self._predict, judgments = predict, self._request.judgments
        query_of = {self._query_ids[at]: self._queries[at] for at in self._judged}
        if candidates is None:
            levels = judgments.levels
            names = pl.Series(judgments.names, dtype=pl.String)[levels.topic]
            rows = pl.DataFrame({"query_id": names, "doc_id": judgments.doc_ids})
            judged = pl.Series(levels.values[levels.level_index] >= 0)
            rows = rows.filter(pl.col("query_id").is_in([*query_of]) & judged)
        else:
            run = opened("run", candidates).table()
            run.check_values()
            rows = pl.DataFrame({"query_id": run.query_id, "doc_id": run.doc_id, "score": -run.value})
            rows = rows.filter(pl.col("query_id").is_in(judgments.names))
            rows = rows.filter(pl.col("score").rank("min").over("query_id") <= depth)
        # Rows of a run with passages may repeat a document, which is one candidate.
        self._rows = rows.select("query_id", "doc_id").unique(maintain_order=True)
        text_of = dict(zip(map(as_text, corpus), corpus.values(), strict=True))
        for query_id, doc_id in self._rows.iter_rows():
            for given, one, texts in (("queries", query_id, query_of), ("corpus", doc_id, text_of)):
                if one not in texts:
                    where = describe_document(query_id, doc_id)
                    raise InputError(f"candidates: {where}: {given} has no text for {one!r}")
        if not self._rows.height:
            raise InputError("GradedRerankingEvaluator needs a judged query with a candidate")
        self._pairs = [(query_of[query_id], text_of[doc_id]) for query_id, doc_id in self._rows.iter_rows()]

    def _run(self, model: Any) -> pl.DataFrame:
        if not hasattr(model, "predict"):
            raise InputError(
                f"{type(model).__name__} has no method predict to score pairs of texts; for a model that "
                "encodes texts, use GradedRetrievalEvaluator"
            )
        scores = numbers_of("scores", model.predict(self._pairs, **self._predict))
        if scores.shape not in {(len(self._pairs),), (len(self._pairs), 1)}:
            raise InputError(
                f"model.predict returned scores of shape {scores.shape} for {len(self._pairs)} pairs; "
                "expected a number per pair, as of a CrossEncoder with num_labels=1"
            )
        return self._rows.with_columns(pl.Series("score", scores.reshape(-1)))
