r"""What the registry does not hold of a measure: its formula in LaTeX, and when to use it.

Everything else on a measure's page comes from its class. A registered measure without an entry here ends the
build and a test.
"""

from __future__ import annotations

from dataclasses import dataclass

_BR = r"\mathrm{BR}(n) = \frac{C(n) + \beta\, \mathrm{cg}(n)}{n + \beta\, \mathrm{cg}^{*}(n)}"
_NCG = r"\frac{\mathrm{cg}(n)}{\mathrm{cg}^{*}(n)}"
_RELEVANT = r"\sum_{n \in \mathcal{N}}"
_SATISFIED = r"s(n) = \frac{g(n)}{g_{\max} + 1}"
_CASCADE = r"\mathrm{dsat}(n) = \prod_{i \le n} \left(1 - s(i)\right)"
_F = r"F(a) = \frac{(1 + \beta^{2})\, P(a)\, R(a)}{\beta^{2} P(a) + R(a)}"

_IP = r"\mathrm{iP@}x = \max \{ P[r] : R[r] \ge x \}"


@dataclass(frozen=True)
class Note:
    """What is said of one measure.

    Attributes:
        latex: the formulas, one a line.
        when: when to use it, and when not, as reStructuredText.
        drawn: the measures that the page draws; by default the measure as it is.
        example: on which example of ``measure_pages.EXAMPLES``.
    """

    latex: tuple[str, ...]
    when: str
    drawn: tuple[str, ...] = ("{name}",)
    example: str = "example"


NOTES: dict[str, Note] = {
    "AiP": Note(
        (r"\mathrm{AiP} = \frac{1}{101} \sum_{i=0}^{100} \mathrm{iP@}\tfrac{i}{100}", _IP),
        "Runs rank passages that do not overlap, and precision should count at all points of recall: the "
        "official measure of INEX's focused task, whose mean is called MAiP.",
        example="passage-example",
    ),
    "AspectAP": Note(
        (r"\mathrm{AspectAP} = \frac{1}{A} \sum_{r} \mathrm{new}(r)\, \frac{n(r)}{d(r)}",),
        "To compare with TREC Genomics, where it is ASPECT MAP. Read the run with ``rank='column'``.",
        example="passage-example",
    ),
    "CharF": Note(
        (r"F = \frac{(1 + \beta^{2})\, P\, R}{\beta^{2} P + R}",),
        "One number for precision and recall of the characters in the first rows; see :doc:`/guide/chunks`.",
        ("{name}@3",),
        example="passage-example",
    ),
    "CharP": Note(
        (r"\mathrm{CharP@}k = \frac{\mathrm{found}(k)}{\mathrm{retrieved}(k)}",),
        "How much of the text that a retriever hands on is wanted; see :doc:`/guide/chunks`.",
        ("{name}@3",),
        example="passage-example",
    ),
    "CharR": Note(
        (r"\mathrm{CharR@}k = \frac{\mathrm{found}(k)}{N}",),
        "How much of the wanted text a retriever hands on; see :doc:`/guide/chunks`.",
        ("{name}@3",),
        example="passage-example",
    ),
    "IoU": Note(
        (r"\mathrm{IoU@}k = \frac{\mathrm{found}(k)}{\mathrm{retrieved}(k) + N - \mathrm{found}(k)}",),
        "One number for what was retrieved in vain and what was missed; see :doc:`/guide/chunks`.",
        ("{name}@3",),
        example="passage-example",
    ),
    "Passage2AP": Note(
        (r"\mathrm{Passage2AP} = \frac{1}{N} \sum_{c} \frac{n(c)}{d(c)}",),
        "Average precision in which each character is a document: PASSAGE2 MAP of TREC Genomics 2007.",
        example="passage-example",
    ),
    "PassageAP": Note(
        (
            r"\mathrm{PassageAP} = \frac{1}{\mathrm{rows} + \mathrm{never}} "
            r"\sum_{r} \frac{\mathrm{num}(r)}{\mathrm{den}(r)}",
        ),
        "To compare with TREC Genomics, where it is PASSAGE MAP. It changes if a highlighted span is split "
        "in two, so use :ref:`Passage2AP <measure-passage2ap>` for anything else.",
        example="passage-example",
    ),
    "iP": Note(
        (_IP,),
        "Precision early in a ranking of passages that do not overlap: ``iP@0.01`` was the official measure "
        "of INEX's focused task in 2008.",
        ("{name}@0.1",),
        example="passage-example",
    ),
    "AWP": Note(
        (rf"\mathrm{{AWP}} = \frac{{1}}{{R}} {_RELEVANT} {_NCG}",),
        "To compare with results of early NTCIR workshops that report it. Below rank R the denominator no "
        "longer grows, so a relevant document at rank R + 1 and one at rank 1,000 add the same. Use :ref:`Q "
        "<measure-q>` otherwise, which has no such blind spot.",
    ),
    "BR": Note(
        (r"\mathrm{BR@}k = \mathrm{BR}(k)", _BR),
        "For one page of k results, where both the number of relevant documents and their levels matter. It "
        "is the utility inside :ref:`Q <measure-q>`, :ref:`P-measure <measure-p-measure>` and :ref:`NCU "
        "<measure-ncu>`: plot it over k to see what these measures see.",
        ("{name}@5",),
    ),
    "EBR": Note(
        (
            rf"\mathrm{{EBR}} = {_RELEVANT} \mathrm{{dsat}}(n-1)\, s(n)\, \mathrm{{BR}}(n)",
            _SATISFIED,
            _CASCADE,
        ),
        "The user goes down the list until a document satisfies, and highly relevant documents satisfy more "
        "likely. Use it where :ref:`nERR <measure-nerr>` suits, but the list down to the last document read "
        "should count, and not its rank alone. An ideal list scores below 1: compare runs on the same qrels "
        "only, and name ``max_rel`` where qrels come in batches.",
    ),
    "GAP": Note(
        (r"\mathrm{GAP} = \frac{\sum_{j} w_{j}\, R_{\ge j}\, \mathrm{AP}_{j}}{\sum_{j} w_{j}\, R_{\ge j}}",),
        "Users disagree about the level from which a document counts as relevant. The weights say how many "
        "users draw the line at each level: ``weights={1: 0, 2: 1}`` with two levels is AP with ``rel=2``. "
        "Use :ref:`Q <measure-q>` where one user gains more from a better document.",
    ),
    "MAgP": Note(
        (
            r"\mathrm{AgP} = \frac{1}{\mathrm{Numrel}} \sum_{r} \mathrm{gP}(r)",
            r"\mathrm{gP}(r) = \frac{1}{r} \sum_{i \le r} F(a_{i})",
            _F,
        ),
        "Runs point into documents, and both the ranking of the articles and the text chosen in each should "
        "count. ``beta=0.25`` stands for INEX 2009 and 2010, ``beta=1`` (the default) for the paper. Qrels "
        "and run need the columns ``start`` and ``length``.",
        example="passage-example",
    ),
    "NCU": Note(
        (
            rf"\mathrm{{NCU}} = {_RELEVANT} p_{{s}}(n)\, \mathrm{{BR}}(n)",
            _BR,
            r"p_{u}(n) = \frac{1}{R}",
            r"p_{rb}(n) = \frac{\gamma^{C(n)-1}}{\sum_{i=1}^{R} \gamma^{i-1}}",
            r"p_{gu}(n) = \frac{\mathrm{stop}(\mathrm{level}(n))}{\sum_{l} R(l)\, \mathrm{stop}(l)}",
        ),
        "You have an idea of where users stop, or want to compare several. ``stop='gu'`` weighs each "
        "relevant document by its level; ``stop='rb'`` favours the top, the more the smaller ``gamma`` is, "
        "and tells fewer pairs of systems apart (:doc:`/guide/choosing`).",
        ("{name}", "{name}(stop='rb',gamma=0.7)"),
    ),
    "O-measure": Note(
        (r"\text{O-measure} = \mathrm{BR}(n_{1})", _BR),
        "The user stops at the first relevant document of any level, and a better one is worth more: known "
        "items, question answering. It sees nothing below that rank; :ref:`P-measure <measure-p-measure>` "
        "waits for the best document retrieved.",
        example="second-run",
    ),
    "P+": Note(
        (
            r"\text{P+} = \frac{1}{C(r_{p})} \sum_{n \in \mathcal{N},\, n \le r_{p}} \mathrm{BR}(n)",
            _BR,
        ),
        "As :ref:`P-measure <measure-p-measure>`, but the relevant documents met on the way to the best one "
        "count, too.",
        example="second-run",
    ),
    "P-measure": Note(
        (r"\text{P-measure} = \mathrm{BR}(r_{p})", _BR),
        "One highly relevant document is enough, and the user goes on until it is found. The preferred rank "
        "is that of the first document of the highest level *retrieved*: a run without any document of the "
        "best level is looked at where its best document stands. It rests on one rank a topic and therefore "
        "tells fewer pairs of systems apart than :ref:`Q <measure-q>` (:doc:`/guide/choosing`): plan for "
        "more topics.",
        example="second-run",
    ),
    "Q": Note(
        (rf"Q = \frac{{1}}{{R}} {_RELEVANT} \mathrm{{BR}}(n)", _BR),
        "All relevant documents matter, better ones more. The first choice where you would use AP and have "
        "levels: with ``beta=0`` it is AP, and it told more pairs of systems apart than AP where we measured "
        "(:doc:`/guide/choosing`). "
        "``norm='cutoff'`` gives the Q@k of NTCIREVAL.",
    ),
    "R-WP": Note(
        (r"\text{R-WP} = \frac{\mathrm{cg}(R)}{\mathrm{cg}^{*}(R)}",),
        "One rank a topic, as deep as the topic has relevant documents, and only the sum of gains down to "
        "it: fair to topics of any size, blind to the order down to rank R and to all below.",
    ),
    "R-measure": Note(
        (r"\text{R-measure} = \mathrm{BR}(R)", _BR),
        "R-precision with levels: one rank a topic, fair to topics of any size. It does not see the order "
        "down to rank R, nor anything below.",
    ),
    "gP": Note(
        (r"\mathrm{gP@}k = \frac{1}{k} \sum_{i \le k} F(a_{i})", _F),
        "Precision of the first k articles of a run with passages. It divides by k also where the run holds "
        "fewer articles, as P@k does; the INEX tool gives the value at the last rank there.",
        ("{name}@3",),
        example="passage-example",
    ),
    "gR": Note(
        (
            r"\mathrm{gR@}k = \frac{1}{\mathrm{Numrel}} \,"
            r"\left|\{ i \le k : a_{i} \text{ has highlighted text} \}\right|",
        ),
        "Recall of articles by the first k articles of a run with passages, whatever text was found in them.",
        ("{name}@3",),
        example="passage-example",
    ),
    "gRBP": Note(
        (
            rf"\mathrm{{gRBP}} = (1 - p) {_RELEVANT} p^{{n-1}} \frac{{g(n)}}{{g_{{\max}}}}",
            r"\text{residual} = (1 - p) \sum_{n \text{ unjudged}} p^{n-1} + p^{d} - p^{k}",
        ),
        "A score per rank that needs neither the number of relevant documents nor an ideal list, so unjudged "
        "documents can only raise it: ``residual=True`` says by how much, see :ref:`unjudged`. Scores of "
        "topics with few relevant documents are low for all runs; to compare over topics, use "
        ":ref:`nERR <measure-nerr>` or :ref:`Q <measure-q>`.",
    ),
    "iRBU": Note(
        (
            rf"\mathrm{{iRBU}} = {_RELEVANT} p^{{n}}\, \mathrm{{dsat}}(n-1)\, s(n)",
            _SATISFIED,
            _CASCADE,
        ),
        "The cascade of ERR, with a user who gives up at each rank with probability 1 - p. With p near 1 it "
        "asks whether the user is satisfied at all rather than how soon. It is the utility of the RBU family "
        "for one intent. An ideal list scores below 1.",
    ),
    "nCG": Note(
        (r"\mathrm{nCG@}k = \frac{\mathrm{cg}(k)}{\mathrm{cg}^{*}(k)}",),
        "The sum of gains on the first k ranks over what they could hold at best. The order within them does "
        "not matter; where it should, use nDCG@k (of ir-measures) or :ref:`Q <measure-q>`.",
        ("{name}@5",),
    ),
    "nERR": Note(
        (
            r"\mathrm{nERR@}k = \frac{\mathrm{ERR@}k}{\mathrm{ERR@}k \text{ of the ideal list}}",
            rf"\mathrm{{ERR}} = {_RELEVANT} \frac{{1}}{{n}}\, \mathrm{{dsat}}(n-1)\, s(n)",
            _SATISFIED,
            _CASCADE,
        ),
        "The user is satisfied by one document or goes on: what stands below a satisfying document hardly "
        "counts. Gains are the levels; for the gains of gdeval, 2^level - 1, write for instance "
        "``gains={2: 3, 3: 7, 4: 15}``. Name ``max_rel`` where qrels come in batches.",
    ),
}
