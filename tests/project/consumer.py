"""A user's program with types, which mypy --strict must accept; nothing here is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ir_graded
from ir_graded import NCU, GradedMeasure, P_measure, Q, Scores, meta, passages, plots

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import assert_type


def scores_of(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> Scores:
    measures: list[GradedMeasure] = [Q, P_measure, NCU(stop="rb", gamma=0.9)]
    return ir_graded.evaluate([*measures, "nDCG@10", Q @ 10], qrels, {"mine": run}, progress=False)


def best(scores: Scores) -> tuple[str, float]:
    mean: pd.DataFrame = scores.mean()
    name: str = scores.runs[scores.best_first[0]]
    return name, float(mean["Q"].iloc[0])


def closer(scores: Scores, path: str) -> None:
    sample = ir_graded.sample()
    explanation = ir_graded.explain("Q", sample.qrels, sample.runs["BBGhelani1"], "1")
    latex = scores.to_latex(baseline="first", digits={"Q": 3}, label="tab:runs")
    power = meta.discriminative_power(scores.matrix("Q"), n_resamples=100)
    interval = meta.confidence_intervals(scores, confidence=0.9)
    shares = ir_graded.unjudged(sample.qrels, sample.runs, depths=[10])
    plots.leaderboard(interval).savefig(path)
    ir_graded.report(["Q"], sample.qrels, sample.runs, path, baseline="BBGhelani1")
    if TYPE_CHECKING:
        assert_type(explanation.score, float)
        assert_type(explanation.to_frame(), pd.DataFrame)
        assert_type(power.power, float)
        assert_type(latex + scores.to_markdown(letters=True), str)
        assert_type(shares.to_frame(), pd.DataFrame)
        assert_type(meta.kendall_tau([1, 2], [2, 1]), float)
        assert_type(passages.show(sample.qrels, sample.runs, "1", "d").F, float)
        assert_type(ir_graded.level_definitions("vaswani"), dict[int, str])
        assert_type(ir_graded.read_run(path, format="trec"), pd.DataFrame)


def wrong(scores: Scores) -> None:
    # Each line is a type error; otherwise mypy reports an unneeded comment.
    scores.to_latex(digit=3)  # type: ignore[call-arg]
    scores.to_markdown(label="tab:runs")  # type: ignore[call-arg]
    ir_graded.evaluate(["Q"], {}, {}, ties=1)  # type: ignore[arg-type]
    ir_graded.explain(3, {}, {}, "1")  # type: ignore[call-overload]
    ir_graded.report(["Q"], {}, {}, "page.html", levels=0.9)  # type: ignore[call-arg]
    meta.swap([], resample="jackknife")  # type: ignore[arg-type]
    ir_graded.sample().qrel  # type: ignore[attr-defined]  # noqa: B018


def handled() -> str:
    try:
        ir_graded.read_qrels("qrels.txt")
    except ir_graded.FileFormatError as error:
        return str(error)
    except ir_graded.GradedError:
        return ""
    return "fine"
