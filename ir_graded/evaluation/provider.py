"""Provider of the measures for ir-measures, and evaluators: qrels are prepared once for several runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import ir_measures
import numpy as np
from ir_measures.measures import Measure
from ir_measures.providers import Evaluator, Provider
from ir_measures.util import CalcResults, Metric

from ir_graded._utils import measure_names
from ir_graded._utils.later import in_place
from ir_graded._utils.threads import processors
from ir_graded.core.facets import INTENT, POSITION, SPAN, STRATUM_OR_ITERATION, VALUE_COLUMNS, Facet
from ir_graded.core.judged_run import JudgedRun
from ir_graded.core.segments import Floats
from ir_graded.core.views import Views
from ir_graded.errors import AS_COMPLETE, InputError, ParameterError, SampledJudgmentsWarning, warn_caller
from ir_graded.io.sources import Source, opened
from ir_graded.io.values import as_text
from ir_graded.matching.judgments import Judgments
from ir_graded.matching.match import MatchedRun, match_run, prepare_qrels
from ir_graded.measures import REGISTRY, GradedMeasure
from ir_graded.measures.base import Scorer, aggregate
from ir_graded.measures.classic import CLASSICS, check_computable, check_rel_of_rbp, scorer_of
from ir_graded.measures.classic.ties import takes_ranks
from ir_graded.measures.intents import IntentMeasure
from ir_graded.measures.params import TIES
from ir_graded.measures.pyterrier_notes import NOTES, calls as pyterrier_calls

from .coverage import ABOVE_0, HAS_LARGE_TIES, note_on_ranks, nothing_judged

if TYPE_CHECKING:
    import pandas as pd


class MetricWithResidual(NamedTuple):
    """A ``Metric`` of ir-measures with the residual of its value.

    Attributes:
        query_id: id of the topic.
        measure: measure as an object with its parameters.
        value: the score, with no gain for unjudged documents.
        residual: how much judging every document could raise the score.
    """

    query_id: Any
    measure: Measure
    value: float
    residual: float


class GradedEvaluator(Evaluator):
    """Evaluator with prepared qrels. It keeps no data of a run and can be pickled."""

    def __init__(
        self,
        scorers: Mapping[Measure, Scorer],
        judgments: Judgments,
        ranks: str | None = None,
        others: Sequence[Measure] = (),
    ) -> None:
        super().__init__(list(scorers), judgments.query_ids)
        NOTES.on_averages((*scorers, *others))
        self.scorers = dict(scorers)
        needs = {facet.name: facet for scorer in scorers.values() for facet in scorer.needs}
        of_run = tuple(facet for facet in needs.values() if "run" in facet.of and facet.kind != "span")
        is_set = any(scorer.ranks_rows for scorer in scorers.values())
        ranks_rows = is_set or any(scorer.NEEDS_ROWS for scorer in scorers.values())
        self.judgments = replace(judgments, ranks_rows=ranks_rows, of_run=of_run)
        for measure, scorer in scorers.items():
            scorer.validate_params()
            levels, highest = judgments.levels.values, scorer.highest_level
            above = f"above {highest:g}, the highest level of the measure"
            judgments.check_levels(measure, levels > highest, above)
            if scorer.NEEDS_WHOLE_LEVELS:
                judgments.check_levels(measure, levels % 1 != 0, "but the measure needs whole numbers")
            if doubt := scorer.doubt(judgments.levels):
                warn_caller(doubt)
            _check_columns(measure, scorer, judgments)
        self._check_strata()
        self._check_intents()
        if judgments.note_on_importance:
            warn_caller(judgments.note_on_importance)
        self._warn_of_sample(others)
        #: The measures, if neither they nor the call set ``ranks``.
        self.by_default = {} if is_set or ranks is not None else self.scorers
        self.lowest = min((scorer.lowest_level for scorer in scorers.values()), default=np.inf)

    def _warn_of_sample(self, others: Sequence[Measure]) -> None:
        """Warn of measures that take a sample for complete judgments, or its strata for one sample."""
        judgments = self.judgments
        whole = [str(m) for m, scorer in self.scorers.items() if scorer.ESTIMATES and not scorer.USES]
        if judgments.several_strata and whole:
            warn_caller(
                f"{', '.join(whole)} takes the judgments for one uniform sample of the pool, but there are "
                "several strata: use xinfAP.",
                SampledJudgmentsWarning,
            )
        # Estimates need documents of the pool that were not judged.
        has_pool = bool((judgments.levels.values < 0).any())
        estimates = {m for m, scorer in self.scorers.items() if scorer.ESTIMATES and has_pool}
        complete = [str(m) for m in (*self.scorers, *others) if m not in estimates]
        if judgments.note_on_sample and complete:
            names = " and ".join(filter(None, (", ".join(complete[:-1]), complete[-1])))
            score = f"{names} score{'' if complete[1:] else 's'} {AS_COMPLETE}"
            warn_caller(f"{judgments.note_on_sample} {score}", SampledJudgmentsWarning)
            # Further evaluators of these judgments need not warn again.
            self.judgments = replace(judgments, note_on_sample="")

    def _check_intents(self) -> None:
        """Raise InputError if a relevant intent has no probability, and warn about doubtful intents."""
        judgments, intents = self.judgments, self.judgments.levels.intents
        # Nuggets are intents, too, but their measures read spans and list nuggets without documents.
        over_intents = [
            m for m, scorer in self.scorers.items() if INTENT in scorer.needs and not scorer.NEEDS_ROWS
        ]
        if intents is None:
            if judgments.note:
                warn_caller(judgments.note, UserWarning)
            return
        if over_intents and judgments.levels.highlights is not None:
            warn_caller(
                f"{over_intents[0]} counts documents: it ignores the spans of the passages, so that any "
                "passage of a document covers all intents of the document, and the run that finds the least "
                "text may score highest; to score the text found for each intent, use NuggetR (guide: "
                "Evaluate chunks)"
            )
        weighted = [measure for measure in over_intents if isinstance(measure, IntentMeasure)]
        if intents.probability is not None:
            # Classics ignore probabilities.
            rels = (self.scorers[measure].lowest_rel for measure in weighted)
            judgments.check_listed(min(rels, default=np.inf))
        elif over_intents and not intents.overlap:
            warn_caller(
                f"{over_intents[0]}: no document of the qrels has two intents, and no probabilities were "
                "given; check that the column iteration holds intents, not for example rounds",
                UserWarning,
            )

    def _check_strata(self) -> None:
        """Raise InputError if the qrels are not those of documents in strata, and warn of strata left out."""
        sampled = [m for m, scorer in self.scorers.items() if STRATUM_OR_ITERATION in scorer.USES]
        if not sampled:
            return
        others = [m for m, scorer in self.scorers.items() if INTENT in scorer.needs]
        if self.judgments.levels.highlights is not None:
            raise InputError(f"{sampled[0]} needs judgments of documents, but the qrels have passages")
        if others:
            raise InputError(f"{others[0]} needs intents, and {sampled[0]} strata: evaluate them separately")
        if note := self.judgments.note_on_strata():
            warn_caller(note)

    def match(self, run: Any, threads: int | None = None) -> JudgedRun:
        """Find the documents that the measures need in a run of any form, by default with all processors."""
        return match_run(self.judgments, run, self.lowest, threads or processors())

    def views(self, judged_run: JudgedRun) -> Views:
        """Return views of a matched run for the measures. Raises InputError if it lacks a column."""
        # An empty run may lack the columns: PyTerrier creates one for topics without a batch.
        for measure, scorer in self.scorers.items() if judged_run.n_retrieved.any() else ():
            for facet in scorer.needs:
                if "run" in facet.of and not judged_run.has(facet):
                    raise InputError(facet.refusal(measure, "run", hint_on(scorer, facet)))
        return Views(self.judgments.levels, judged_run)

    def scores_of(self, judged_run: JudgedRun) -> dict[Measure, Floats]:
        """Return the score of each measure for each topic of the qrels, in order, for a matched run."""
        views = self.views(judged_run)
        return {measure: scorer.score_with_ties(views) for measure, scorer in self.scorers.items()}

    def filled(self, judged_run: JudgedRun) -> dict[Measure, float]:
        """Return the share of its budget that a run fills, for each measure with a budget and no cutoff."""
        rows, found = judged_run.rows, {}
        for measure, scorer in self.scorers.items():
            is_limited = scorer.budget is not None and scorer.cut.cutoff is None
            if is_limited and rows is not None and rows.topics.size:
                found[measure] = rows.filled(scorer.budget)
        return found

    def iter_calc(self, run: Any) -> Iterator[Metric | MetricWithResidual]:
        """Yield the metric of every measure for every topic of the qrels, as in ir-measures."""
        for _, _, metrics in self._metrics(run):
            yield from metrics

    def calc(self, run: Any) -> CalcResults:
        """Return the aggregates of ir-measures, and the metrics of ``iter_calc``."""
        aggregates, found = {}, list[Metric | MetricWithResidual]()
        for measure, values, metrics in self._metrics(run):
            aggregator = measure.aggregator()
            deque(map(aggregator.add, values), maxlen=0)
            aggregates[measure] = aggregator.result()
            found += metrics
        return CalcResults(aggregates, found)

    def _metrics(
        self, run: Any
    ) -> Iterator[tuple[Measure, list[float], Iterator[Metric | MetricWithResidual]]]:
        """Yield each measure with its score for each topic, and these as metrics."""
        views = self.views(self._match_and_warn(run))
        for measure, scorer in self.scorers.items():
            values = scorer.score_with_ties(views).tolist()
            columns = [self.judgments.query_ids, repeat(measure), values]
            kind: type[Any] = Metric
            if (residual := scorer.residual(views)) is not None:
                kind, columns = MetricWithResidual, [*columns, residual.tolist()]
            # Calling the class takes three times as long.
            yield measure, values, map(tuple.__new__, repeat(kind), zip(*columns, strict=False))

    def calc_aggregate(self, run: Any) -> dict[Measure, float]:
        """Return the aggregate of each measure over the topics of the qrels: mean, or sum of counts."""
        scores = self.scores_of(self._match_and_warn(run))
        return {measure: aggregate(measure, of_topics) for measure, of_topics in scores.items()}

    def _match_and_warn(self, run: Any) -> JudgedRun:
        run = opened("run", run)
        run = run.read_as(run.table()) if run.is_read_once else run
        judged_run = self.match(run)
        if not judged_run.topic.size and pyterrier_calls():
            matched = MatchedRun("run", run, judged_run, self.lowest)
            NOTES.on_unjudged(nothing_judged(self.judgments, matched))
        if note := note_on_ranks(self.judgments, judged_run, self.by_default):
            warn_caller("".join(note))
        if judged_run.is_large:
            warn_caller(f"The run {HAS_LARGE_TIES}.")
        # The order of documents does not matter for measures of sets, which have no ranks.
        theirs = (measure for measure in self.scorers if not isinstance(measure, GradedMeasure))
        if classics := [str(one) for one in theirs if judged_run.is_close and takes_ranks(one)]:
            warn_caller(
                "The run has scores that are equal as float32, but not as float64. They do not tie here. "
                f"Without a measure of ir_graded in the call, ir_measures computes {', '.join(classics)} "
                "with other programs: pytrec_eval compares float32 and may give other values. Smaller "
                "numbers avoid this: subtract a constant from the scores, or give negative ranks as scores"
            )
        return judged_run


def _check_columns(measure: Measure, scorer: Scorer, judgments: Judgments) -> None:
    """Raise InputError if the qrels lack a column that the measure needs."""
    for facet in scorer.needs:
        if "qrels" in facet.of and judgments.names and facet.name not in judgments.columns:
            hint = hint_on(scorer, facet)
            raise InputError(facet.refusal(measure, "qrels", (facet is SPAN and judgments.hint) or hint))
    if SPAN in scorer.USES and judgments.hint:
        raise InputError(
            f"{measure} would score whole documents: in the qrels, {judgments.hint}; name both "
            "columns, start and length, or remove the others"
        )


def hint_on(scorer: Scorer, facet: Facet) -> str:
    """Return how a measure of rows is computed without a column; empty where it is not."""
    if not scorer.NEEDS_ROWS:
        return ""
    if facet is INTENT:
        return "without facts, CharR counts the characters of all gold text"
    return "for whole documents, give evaluate their lengths" if facet.kind == "span" else ""


def needs_passages(measure: Measure) -> bool:
    """Return whether a measure needs positions of passages in qrels and run."""
    return isinstance(measure, GradedMeasure) and SPAN in measure.needs


def wanted_columns(measures: Iterable[Measure]) -> list[Facet]:
    """Return the further columns that the measures require, and those that they use if they exist."""
    found = [scorer_of(measure) for measure in measures]
    # A measure that others define may look at the intents.
    return [facet for one in found for facet in ((INTENT,) if one is None else (*one.needs, *one.USES))]


def _inputs(kind: str, measures: Iterable[Measure]) -> list[str]:
    """Return the columns that the measures require in qrels or run."""
    needs = [facet for scorer in native_scorers(measures).values() for facet in scorer.needs]
    names = {facet.name: facet.columns or (facet.name,) for facet in needs if kind in facet.of}
    spans = names.pop(SPAN.name, ())
    return ["query_id", "doc_id", VALUE_COLUMNS[kind], *spans, *sorted(chain.from_iterable(names.values()))]


class GradedProvider(Provider):
    """Provider of ir-measures for the measures of this package and the classics that it computes."""

    NAME = "ir_graded"
    SUPPORTED_MEASURES = [
        *{id(measure): measure for measure in REGISTRY.values()}.values(),
        *(classic.MEASURE for classic in CLASSICS.values()),
    ]

    def supports(self, measure: Measure) -> bool:
        """Return whether ir_graded computes ``measure``. Raises ParameterError for a missing parameter."""
        scorer = scorer_of(measure)
        if scorer is None:
            check_rel_of_rbp(measure)
            return False
        scorer.validate_params()
        return True

    def _evaluator(self, measures: Iterable[Measure], qrels: Any) -> Evaluator:
        measures = list(measures)
        if unknown := [measure for measure in measures if scorer_of(measure) is None]:
            raise ValueError(f"the provider {self.NAME} has no {', '.join(map(str, unknown))}")
        return compose(measures, qrels)

    def run_inputs(self, measures: Iterable[Measure]) -> list[str]:
        """Return the columns that the measures require in a run."""
        # PyTerrier asks before it runs pipelines.
        NOTES.on_averages(measures := [*measures])
        return _inputs("run", measures)

    def qrel_inputs(self, measures: Iterable[Measure]) -> list[str]:
        """Return the columns that the measures require in the qrels."""
        return _inputs("qrels", measures)


def native_scorers(measures: Iterable[Measure]) -> dict[Measure, Scorer]:
    """Return the measures that ir_graded computes, with their scorers."""
    return {measure: scorer for measure in measures if (scorer := scorer_of(measure)) is not None}


PROVIDER = in_place(measure_names.PROVIDER, GradedProvider())


def lowest_rel(measure: Measure) -> float:
    """Return the lowest relevant level of a measure; for one that is not computed here, any above 0."""
    scorer = scorer_of(measure)
    return ABOVE_0 if scorer is None else scorer.lowest_rel


def check_measures(measures: list[Measure], scorers: Mapping[Measure, Scorer]) -> list[Measure]:
    """Return the measures without a scorer. Raises ParameterError for none, or for a wrong parameter."""
    if not measures:
        raise ParameterError("no measure given: for example ['P-measure', 'Q', 'nDCG@10']")
    others = [measure for measure in measures if measure not in scorers]
    for measure in others:
        check_computable(measure)
    for scorer in scorers.values():
        scorer.validate_params()
    return others


def scorers_here(measures: Iterable[Measure], purpose: str, refused: str = "") -> dict[Measure, Scorer]:
    """Return the scorers of measures for a function that takes none that others define.

    ``refused`` is what else it does not take: 'passages', further 'columns', 'strata', 'ties'. Raises
    ParameterError.
    """
    measures = list(measures)
    scorers = native_scorers(measures)
    if others := check_measures(measures, scorers):
        names = ", ".join(map(str, others))
        raise ParameterError(f"{names}: {purpose} needs measures that ir_graded computes itself")
    for measure, scorer in scorers.items():
        of_passages = needs_passages(measure) or scorer.ranks_rows
        needed = ["passages"] if "passages" in refused and of_passages else []
        if "strata" in refused and STRATUM_OR_ITERATION in scorer.USES:
            needed.append("the strata of the pool")
        needed += [f"the column {name}" for name in scorer.further_columns if "columns" in refused]
        if needed:
            # Functions that refuse ties are those of unjudged documents.
            of_text = scorer.NEEDS_ROWS and "ties" in refused
            why = ": text outside the gold text is not relevant, so nothing is unjudged" if of_text else ""
            raise ParameterError(
                f"{measure} needs {' and '.join(needed)}, which {purpose} does not use{why}; "
                "use ir_graded.evaluate"
            )
        if "ties" in refused and scorer.ties != TIES.default:
            raise ParameterError(
                f"{measure}: {purpose} orders documents with equal scores by doc_id; "
                "remove the parameter ties"
            )
    return scorers


class MixedEvaluator(Evaluator):
    """Evaluator of measures of this package and of others. It can be pickled if the measures can."""

    def __init__(self, measures: list[Measure], graded: GradedEvaluator) -> None:
        super().__init__(measures, graded.judgments.query_ids)
        self.graded = graded
        self.others = [measure for measure in measures if measure not in graded.scorers]
        # One evaluator each, so that measures cannot affect each other.
        self.evaluators = [
            ir_measures.DefaultPipeline.evaluator([measure], _qrels_frame(graded.judgments))
            for measure in self.others
        ]

    def __reduce__(self) -> tuple[Any, ...]:
        # The evaluators of other providers cannot be pickled and are created again.
        return type(self), (self.measures, self.graded)

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        run = opened("run", opened("run", run).table(self.graded.judgments.number))
        yield from self.graded.iter_calc(run)
        for number, metric in self._of_others(run):
            yield Metric(self.graded.judgments.query_ids[number], metric.measure, metric.value)

    def _of_others(self, run: Source) -> Iterator[tuple[int, Metric]]:
        """Yield the metrics of the other providers, each with the number of its topic."""
        import pandas as pd

        from ir_graded.matching.articles import one_row_an_article
        from ir_graded.matching.tables import has_ties

        judgments = self.graded.judgments
        table = run.table(judgments.number)
        known = table.query_id.is_in(judgments.names).fill_null(value=False).arg_true().to_numpy()
        table = one_row_an_article(table[known.astype(np.int64)])
        if table.has(POSITION) and has_ties(table.query_id, table.value):
            raise InputError(
                "the run has positions, which rank its documents with equal scores, but measures that others "
                "define rank them by doc_id: leave out these measures, or the column position"
            )
        columns = {"query_id": table.query_id.to_list(), "doc_id": table.doc_id.to_list()}
        rows = pd.DataFrame({**columns, "score": np.asarray(table.value, dtype=np.float64)})
        for evaluator in self.evaluators:
            for metric in evaluator.iter_calc(rows):
                number = judgments.number.get(as_text(metric.query_id))
                # A provider may yield topics that only the run has.
                if number is not None:
                    yield number, metric

    def scores_of(self, judged_run: JudgedRun, run: Source) -> dict[Measure, Floats]:
        """Return the score of each measure for each topic of the qrels, from a match and its run."""
        scores = self.graded.scores_of(judged_run)
        if self.others:
            topics = len(self.graded.judgments.names)
            scores |= {measure: np.full(topics, measure.DEFAULT, dtype=float) for measure in self.others}
            for number, metric in self._of_others(run):
                scores[metric.measure][number] = metric.value
        return scores


def compose(measures: list[Measure], qrels: Any) -> Evaluator:
    """Return an evaluator for measures of this package and others, with results in their order."""
    judgments = prepare_qrels(qrels, wanted_columns(measures))
    scorers = native_scorers(measures)
    others = [measure for measure in measures if measure not in scorers]
    graded = GradedEvaluator(scorers, judgments, others=others)
    NOTES.on_parts(scorers, judgments.names, judgments.levels.values, qrels)
    return MixedEvaluator(measures, graded) if others else graded


def _qrels_frame(judgments: Judgments) -> pd.DataFrame:
    """Return prepared qrels as a frame, with a row for each intent of a document if they have intents.

    Levels that are all whole numbers are integers.
    """
    import pandas as pd

    levels, intents = judgments.levels, judgments.levels.intents
    of_rows = levels if intents is None else intents.levels
    document = np.arange(levels.topic.size) if intents is None else intents.document
    level = of_rows.values[of_rows.level_index]
    whole = bool((level == np.floor(level)).all())
    names, doc_ids = (np.array(ids, dtype=object) for ids in (judgments.names, judgments.doc_ids))
    columns = {"query_id": names[levels.topic[document]], "doc_id": doc_ids[document]}
    columns["relevance"] = level.astype(np.int64) if whole else level
    if intents is not None:
        columns["iteration"] = np.array(judgments.intent_names, dtype=object)[of_rows.topic]
    return pd.DataFrame(columns)
