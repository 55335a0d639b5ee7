"""Shared by tests of chunks: measures of rows with parameters, and their scores from rows."""

from passages import passage_cases
from reference import chunks

from ir_graded import AiP, CharF, CharP, CharR, IoU, Passage2AP, PassageAP, iP

SETS = (CharP, CharR, CharF, IoU)
#: Measures that accept overlapping rows of an article.
OVERLAPPING = [
    *(measure(overlap=overlap) for measure in SETS for overlap in ("retrieved", "once")),
    *(measure @ 2 for measure in SETS),
    *(measure(overlap="each") for measure in (CharP, CharR)),
    *(CharR(graded=True), CharR(graded=True, gains={1: 0, 3: 10}) @ 3, CharF(beta=2, rel=2)),
    *(iP(overlap="retrieved") @ x for x in (0, 0.01, 0.29, 0.57, 0.58, 1)),
    AiP(overlap="retrieved"),
    *(PassageAP, PassageAP(rel=2), Passage2AP),
]
VARIANTS = [*OVERLAPPING, iP @ 0.1, AiP, AiP(rel=2)]


def scores(measures, qrels, run):
    """Return scores by measure and topic, from rows."""
    return passage_cases.scores(
        measures, passage_cases.frame("qrels", qrels), passage_cases.frame("run", run)
    )


def near(rows):
    """Return the rows at small positions, because references iterate over single characters."""
    return [(*row[:3], row[3] % 1000, row[4]) for row in rows]


def expected(measure, qrels, run):
    """Return the score by topic of the plain reference, or raise ValueError for forbidden overlaps."""
    params = {name: value for name, value in measure.params.items() if value != "error"}
    return chunks.evaluate(measure.NAME, params, qrels, run)
