r"""Parts of a measure's page that its class does not have: the formula in LaTeX, when to use it, and DOIs.

Everything else on the page comes from the class. The build and a test fail if a registered measure has no
entry here.
"""

from __future__ import annotations

from dataclasses import dataclass

_BR = r"\mathrm{BR}(n) = \frac{C(n) + \beta\, \mathrm{cg}(n)}{n + \beta\, \mathrm{cg}^{*}(n)}"
_NCG = r"\frac{\mathrm{cg}(n)}{\mathrm{cg}^{*}(n)}"
_RELEVANT = r"\sum_{n \in \mathcal{N}}"
_SATISFIED = r"s(n) = \frac{g(n)}{g_{\max} + 1}"
_CASCADE = r"\mathrm{dsat}(n) = \prod_{i \le n} \left(1 - s(i)\right)"
_F = r"F(a) = \frac{(1 + \beta^{2})\, P(a)\, R(a)}{\beta^{2} P(a) + R(a)}"
_GLOBAL_GAIN = r"\mathrm{GG}(d) = \sum_{i} P(i)\, g_{i}(d)"
_I_REC = r"\text{I-rec@}k = \frac{|\bigcup_{n \le k} I(d_{n})|}{|I|}"
_ONCE = (
    r"\mathrm{gain}(n) = \sum_{i\, \mathrm{inf}} P(i)\, g_{i}(d_{n}) "
    r"+ \sum_{i\, \mathrm{nav},\, \text{new at } n} P(i)\, g_{i}(d_{n})"
)
_EXPECTED = r"\mathrm{IA}(M) = \sum_{i \in I} P(i)\, M_{i}"
_P_PLUS_Q = (
    r"\text{P+Q} = \sum_{i\, \mathrm{inf}} P(i)\, \mathrm{Q}_{i} "
    r"+ \sum_{i\, \mathrm{nav}} P(i)\, \text{P+}_{i}"
)


def _sharp(name: str) -> str:
    return rf"\text{{{name}\#}} = \gamma\, \text{{I-rec}} + (1 - \gamma)\, \text{{{name}}}"


_IP = r"\mathrm{iP@}x = \max \{ P[r] : R[r] \ge x \}"


@dataclass(frozen=True)
class Note:
    """The hand-written parts of one measure's page.

    Attributes:
        latex: the formulas, one per line.
        when: when to use it, and when not, as reStructuredText.
        drawn: the measures that the page draws; by default the measure with its default parameters.
        example: the key of the example in ``measure_pages.EXAMPLES``.
    """

    latex: tuple[str, ...]
    when: str
    drawn: tuple[str, ...] = ("{name}",)
    example: str = "example"


#: DOIs of papers, by the title in the docstrings. Only DOIs that were looked up belong here.
DOIS = {
    "Alternatives to Bpref": "10.1145/1277741.1277756",
    "Cumulated Gain-Based Evaluation of IR Techniques": "10.1145/582415.582418",
    "Diversifying Search Results": "10.1145/1498759.1498766",
    "Evaluating Diversified Search Results Using Per-intent Graded Relevance": "10.1145/2009916.2010055",
    "Expected Reciprocal Rank for Graded Relevance": "10.1145/1645953.1646033",
    "Extending Average Precision to Graded Relevance Judgments": "10.1145/1835449.1835550",
    "LegalBench-RAG: A Benchmark for Retrieval-Augmented Generation in the Legal Domain": (
        "10.48550/arXiv.2408.10343"
    ),
    "Rank-Biased Precision for Measurement of Retrieval Effectiveness": "10.1145/1416950.1416952",
    "Retrieval Evaluation with Incomplete Information": "10.1145/1008992.1009000",
    "Rpref: A Generalization of Bpref towards Graded Relevance Judgments": "10.1145/1148170.1148293",
    "Which Diversity Evaluation Measures Are Good?": "10.1145/3331184.3331215",
}

NOTES: dict[str, Note] = {
    "AiP": Note(
        (r"\mathrm{AiP} = \frac{1}{101} \sum_{i=0}^{100} \mathrm{iP@}\tfrac{i}{100}", _IP),
        "Use it for runs that rank passages which do not overlap, to average precision over all points of "
        "recall. It is the official measure of INEX's focused task, where its mean is called MAiP.",
        example="passage-example",
    ),
    "AspectAP": Note(
        (r"\mathrm{AspectAP} = \frac{1}{A} \sum_{r} \mathrm{new}(r)\, \frac{n(r)}{d(r)}",),
        "Use it to compare with TREC Genomics, where it is called ASPECT MAP. Read the run with "
        "``rank='column'`` to rank as the official tool does.",
        example="passage-example",
    ),
    "CharF": Note(
        (r"F = \frac{(1 + \beta^{2})\, P\, R}{\beta^{2} P + R}",),
        "Use it to combine precision and recall of the characters in the first rows; see "
        ":doc:`/guide/chunks`.",
        ("{name}@3",),
        example="passage-example",
    ),
    "CharP": Note(
        (r"\mathrm{CharP@}k = \frac{\mathrm{found}(k)}{\mathrm{retrieved}(k)}",),
        "Use it to measure the share of relevant text in the text that a retriever returns; see "
        ":doc:`/guide/chunks`.",
        ("{name}@3",),
        example="passage-example",
    ),
    "CharR": Note(
        (r"\mathrm{CharR@}k = \frac{\mathrm{found}(k)}{N}",),
        "Use it to measure the share of the relevant text that a retriever returns; see "
        ":doc:`/guide/chunks`.",
        ("{name}@3",),
        example="passage-example",
    ),
    "IoU": Note(
        (r"\mathrm{IoU@}k = \frac{\mathrm{found}(k)}{\mathrm{retrieved}(k) + N - \mathrm{found}(k)}",),
        "Use it for one number that penalises both irrelevant text and missing text; see "
        ":doc:`/guide/chunks`.",
        ("{name}@3",),
        example="passage-example",
    ),
    "Passage2AP": Note(
        (r"\mathrm{Passage2AP} = \frac{1}{N} \sum_{c} \frac{n(c)}{d(c)}",),
        "Average precision with each character as a document. Use it for passages; it is PASSAGE2 MAP of "
        "TREC Genomics 2007.",
        example="passage-example",
    ),
    "PassageAP": Note(
        (
            r"\mathrm{PassageAP} = \frac{1}{\mathrm{rows} + \mathrm{never}} "
            r"\sum_{r} \frac{\mathrm{num}(r)}{\mathrm{den}(r)}",
        ),
        "Use it to compare with TREC Genomics, where it is called PASSAGE MAP. Its value changes if a "
        "highlighted span is split in two, so use :ref:`Passage2AP <measure-passage2ap>` for other "
        "purposes.",
        example="passage-example",
    ),
    "iP": Note(
        (_IP,),
        "Use it to measure precision early in a ranking of passages that do not overlap. ``iP@0.01`` was "
        "the official measure of INEX's focused task in 2008.",
        ("{name}@0.1",),
        example="passage-example",
    ),
    "AWP": Note(
        (rf"\mathrm{{AWP}} = \frac{{1}}{{R}} {_RELEVANT} {_NCG}",),
        "Use it to compare with results of early NTCIR workshops. Below rank R the denominator no longer "
        "grows, so a relevant document at rank R + 1 adds as much as one at rank 1,000. Use :ref:`Q "
        "<measure-q>` otherwise, which does not have this weakness.",
    ),
    "BR": Note(
        (r"\mathrm{BR@}k = \mathrm{BR}(k)", _BR),
        "Use it for one page of k results if both the number of relevant documents and their levels matter. "
        "It is the utility in :ref:`Q <measure-q>`, :ref:`P-measure <measure-p-measure>` and :ref:`NCU "
        "<measure-ncu>`.",
        ("{name}@5",),
    ),
    "EBR": Note(
        (
            rf"\mathrm{{EBR}} = {_RELEVANT} \mathrm{{dsat}}(n-1)\, s(n)\, \mathrm{{BR}}(n)",
            _SATISFIED,
            _CASCADE,
        ),
        "Use it if users read down the list until a document satisfies them, and highly relevant documents "
        "are more likely to do so. It suits the same users as :ref:`nERR <measure-nerr>`, but rewards the "
        "whole list down to the last document read rather than its rank. An ideal list scores below 1 "
        "unless ``norm='ideal'``: compare runs on one set of qrels only, and set ``max_rel`` if qrels come "
        "in batches.",
    ),
    "EC": Note(
        (r"\mathrm{EC}(M) = M(\text{list of classes})",),
        "Use it if near-duplicates, or answers with equal content, should count once: a run gains nothing "
        "from the second document of a class. ``EC`` is a measure rather than an option of ``evaluate``, so "
        "one call can have measures with and without classes. Qrels need the column ``equivalence_class``.",
        ("EC(measure='Q')",),
        "column-example",
    ),
    "GF": Note(
        (
            rf"\mathrm{{GF}} = {_RELEVANT} \mathrm{{dsat}}(n-1)\, s(n) "
            r"\left(1 - \mathrm{DIV}(a(n), t)\right)",
            r"a(n) = \frac{1}{n} \sum_{i \le n} m(d_{i})",
            _SATISFIED,
            _CASCADE,
        ),
        "Use it if several groups should receive exposure at the ranks where users stop. "
        "``divergence='JSD'`` is for nominal groups, ``'NMD'`` and ``'RNOD'`` are for ordinal groups. "
        ":ref:`GFR <measure-gfr>` combines it with relevance. Documents with unknown shares count as shared "
        "equally, so report for how many documents the shares are known.",
        ("GF(groups='SIZE')",),
        "column-example",
    ),
    "GFR": Note(
        (
            r"\mathrm{GFR} = \frac{1}{1 + |\mathcal{G}|} "
            r"\left(M + \sum_{G \in \mathcal{G}} \mathrm{GF}_{G}\right)",
        ),
        "Use it to combine relevance and fairness over several attribute sets in one number, as in NTCIR's "
        "FairWeb tasks. Also report its parts, because a run can compensate for one with another.",
        ("GFR(groups={'SIZE':'JSD'})",),
        "column-example",
    ),
    "D": Note(
        (r"\mathrm{D}(M) = M(\text{list by } \mathrm{GG})", _GLOBAL_GAIN),
        "Use it if documents that serve many or likely intents should be near the top. One ideal list "
        "serves all intents, so a perfect run scores 1. A run that leaves out an unlikely intent loses "
        "little: also report :ref:`I-rec <measure-i-rec>`, or use :ref:`D# <measure-d-sharp>`. "
        ":doc:`/guide/intents` shows how to judge by intent.",
        ("D-nDCG@10",),
        "intent-example",
    ),
    "D#": Note(
        (_sharp("D"), _I_REC),
        "Use it for coverage and ranking in one number: ``D#-nDCG@10`` and ``D#-Q@10`` are the main "
        "measures of NTCIR's INTENT and IMine tasks. ``gamma`` is the weight of I-rec. Also report "
        ":ref:`I-rec <measure-i-rec>` and :ref:`D <measure-d>`, because runs trade one for the other.",
        ("D#-nDCG@10",),
        "intent-example",
    ),
    "DIN": Note(
        (r"\mathrm{DIN}(M) = M(\text{list by gain})", _ONCE),
        "Use it if some intents are navigational: users need one document, and a second one adds nothing. "
        "Without types of intents it equals :ref:`D <measure-d>`.",
        ("DIN-nDCG@10",),
        "intent-example",
    ),
    "DIN#": Note(
        (_sharp("DIN"), _ONCE),
        "Use it like :ref:`D# <measure-d-sharp>` if some intents are navigational.",
        ("DIN#-nDCG@10",),
        "intent-example",
    ),
    "I-rec": Note(
        (_I_REC,),
        "Use it if the first page should cover each intent. I is the set of intents that have a relevant "
        "document in the qrels: an intent without one is left out of the denominator. Do not use it to score "
        "answers by nuggets, since a nugget that no answer supports must lower the score. It ignores levels "
        "above ``rel`` and the order of the first k documents, so it does not replace a measure of the "
        "ranking. :ref:`D# <measure-d-sharp>` combines both.",
        ("I-rec@3",),
        "intent-example",
    ),
    "IA": Note(
        (_EXPECTED,),
        "Use it if each user has one intent and the mean over the users matters. A run that serves only the "
        "likeliest intent may score high. A run is seldom ideal for all intents, so the highest possible "
        "score is below 1: compare runs on one set of qrels only. ERR_IA of ir-measures has other gains and "
        "another scale than ``IA-ERR``.",
        ("IA-nDCG@10",),
        "intent-example",
    ),
    "IA#": Note(
        (r"\text{IA\#} = \gamma\, \text{I-rec} + (1 - \gamma)\, \mathrm{IA}(M)", _EXPECTED),
        "Use it like :ref:`IA <measure-ia>` if coverage of every intent should also count.",
        ("IA#-nDCG@10",),
        "intent-example",
    ),
    "P+Q": Note(
        (_P_PLUS_Q,),
        "Use it if users with an informational intent read on, as in :ref:`Q <measure-q>`, and users with a "
        "navigational intent stop at the best document, as in :ref:`P+ <measure-p-plus>`. Qrels need types "
        "of intents. If all intents are informational, it equals IA-Q.",
        ("P+Q@10",),
        "intent-example",
    ),
    "P+Q#": Note(
        (_sharp("P+Q"), _P_PLUS_Q),
        "Use it like :ref:`P+Q <measure-p-plus-q>` if coverage of every intent should also count.",
        ("P+Q#@10",),
        "intent-example",
    ),
    "GAP": Note(
        (r"\mathrm{GAP} = \frac{\sum_{j} w_{j}\, R_{\ge j}\, \mathrm{AP}_{j}}{\sum_{j} w_{j}\, R_{\ge j}}",),
        "Use it if users disagree about the level from which a document counts as relevant. The weights are "
        "the shares of users who choose each level as the threshold: ``weights={1: 0, 2: 1}`` with two "
        "levels is AP with ``rel=2``. Use :ref:`Q <measure-q>` if one user gains more from a better "
        "document.",
    ),
    "MAgP": Note(
        (
            r"\mathrm{AgP} = \frac{1}{\mathrm{Numrel}} \sum_{r} \mathrm{gP}(r)",
            r"\mathrm{gP}(r) = \frac{1}{r} \sum_{i \le r} F(a_{i})",
            _F,
        ),
        "Use it for runs that point into documents if both the ranking of the articles and the text chosen "
        "in each should count. INEX 2009 and 2010 used ``beta=0.25``, the paper ``beta=1`` (the default). "
        "Qrels and run need the columns ``start`` and ``length``.",
        example="passage-example",
    ),
    "NCU": Note(
        (
            rf"\mathrm{{NCU}} = {_RELEVANT} p_{{s}}(n)\, \mathrm{{NU}}(n)",
            r"\mathrm{NU}(n) = \mathrm{BR}(n),\ \frac{1}{n} \text{ or } p^{n}",
            _BR,
            r"p_{u}(n) = \frac{1}{R}",
            r"p_{rb}(n) = \frac{\gamma^{C(n)-1}}{\sum_{i=1}^{R} \gamma^{i-1}}",
            r"p_{gu}(n) = \frac{\mathrm{stop}(\mathrm{level}(n))}{\sum_{l} R(l)\, \mathrm{stop}(l)}",
        ),
        "Use it if you know where your users stop, or want to compare several assumptions. ``stop='gu'`` "
        "weighs each relevant document by its level. ``stop='rb'`` favours the top of the ranking, more so "
        "for smaller ``gamma``, and tells fewer pairs of systems apart (:doc:`/guide/choosing`).",
        ("{name}", "{name}(stop='rb',gamma=0.7)"),
    ),
    "O-measure": Note(
        (r"\text{O-measure} = \mathrm{BR}(n_{1})", _BR),
        "Use it if the user stops at the first relevant document of any level and gains more from a better "
        "one, as in known-item search and question answering. It ignores everything below that rank; "
        ":ref:`P-measure <measure-p-measure>` waits for the best document retrieved.",
        example="second-run",
    ),
    "P+": Note(
        (
            r"\text{P+} = \frac{1}{C(r_{p})} \sum_{n \in \mathcal{N},\, n \le r_{p}} \mathrm{BR}(n)",
            _BR,
        ),
        "Use it like :ref:`P-measure <measure-p-measure>` if the relevant documents above the best one "
        "should also count.",
        example="second-run",
    ),
    "P-measure": Note(
        (r"\text{P-measure} = \mathrm{BR}(r_{p})", _BR),
        "Use it if one highly relevant document is enough and the user reads on until it is found. The "
        "preferred rank is that of the first document of the highest level *retrieved*: for a run without "
        "documents of the best level, it is the rank of the best document in the run. The measure depends "
        "on one rank per topic and therefore tells fewer pairs of systems apart than :ref:`Q <measure-q>` "
        "(:doc:`/guide/choosing`): plan for more topics.",
        example="second-run",
    ),
    "Q": Note(
        (rf"Q = \frac{{1}}{{R}} {_RELEVANT} \mathrm{{BR}}(n)", _BR),
        "Use it if all relevant documents matter and better ones matter more. It is the first choice if you "
        "would use AP and have levels: with ``beta=0`` it is AP, and it told more pairs of systems apart "
        "than AP in our measurements (:doc:`/guide/choosing`). ``norm='cutoff'`` gives the Q@k of "
        "NTCIREVAL.",
    ),
    "R-WP": Note(
        (r"\text{R-WP} = \frac{\mathrm{cg}(R)}{\mathrm{cg}^{*}(R)}",),
        "Use it to treat topics of any size fairly. It depends only on the sum of gains down to rank R, the "
        "number of relevant documents, and ignores the order above it and everything below.",
    ),
    "R-measure": Note(
        (r"\text{R-measure} = \mathrm{BR}(R)", _BR),
        "Use it as R-precision with levels, to treat topics of any size fairly. It ignores the order down "
        "to rank R and everything below.",
    ),
    "gP": Note(
        (r"\mathrm{gP@}k = \frac{1}{k} \sum_{i \le k} F(a_{i})", _F),
        "Use it as the precision of the first k articles of a run with passages. It divides by k even if "
        "the run has fewer articles, as P@k does; the INEX tool then returns the value at the last rank.",
        ("{name}@3",),
        example="passage-example",
    ),
    "gR": Note(
        (
            r"\mathrm{gR@}k = \frac{1}{\mathrm{Numrel}} \,"
            r"\left|\{ i \le k : a_{i} \text{ has highlighted text} \}\right|",
        ),
        "Use it as the recall of articles in the first k articles of a run with passages, whatever text was "
        "found in them.",
        ("{name}@3",),
        example="passage-example",
    ),
    "gRBP": Note(
        (
            rf"\mathrm{{gRBP}} = (1 - p) {_RELEVANT} p^{{n-1}} \frac{{g(n)}}{{g_{{\max}}}}",
            r"\text{residual} = (1 - p) \sum_{n \text{ unjudged}} p^{n-1} + p^{d} - p^{k}",
        ),
        "Use it for scores that need neither the number of relevant documents nor an ideal list. Unjudged "
        "documents can only raise such a score: ``residual=True`` shows by how much, see :ref:`unjudged`. "
        "Topics with few relevant documents have low scores for all runs; to compare topics, use :ref:`nERR "
        "<measure-nerr>` or :ref:`Q <measure-q>`.",
    ),
    "iRBU": Note(
        (
            rf"\mathrm{{iRBU}} = {_RELEVANT} p^{{n}}\, \mathrm{{dsat}}(n-1)\, s(n)",
            _SATISFIED,
            _CASCADE,
        ),
        "Use it for the cascade of ERR with a user who gives up at each rank with probability 1 - p. With p "
        "near 1 it measures whether the user is satisfied rather than how soon. It is the utility of the "
        "RBU family for one intent. An ideal list scores below 1 unless ``norm='ideal'``.",
    ),
    "nCG": Note(
        (r"\mathrm{nCG@}k = \frac{\mathrm{cg}(k)}{\mathrm{cg}^{*}(k)}",),
        "Use it for the sum of gains in the first k ranks, as a share of the largest possible sum. The "
        "order within these ranks does not matter. If it should, use nDCG@k of ir-measures or :ref:`Q "
        "<measure-q>`.",
        ("{name}@5",),
    ),
    "nERR": Note(
        (
            r"\mathrm{nERR@}k = \frac{\mathrm{ERR@}k}{\mathrm{ERR@}k \text{ of the ideal list}}",
            rf"\mathrm{{ERR}} = {_RELEVANT} \frac{{1}}{{n}}\, \mathrm{{dsat}}(n-1)\, s(n)",
            _SATISFIED,
            _CASCADE,
        ),
        "Use it if one document may satisfy the user: documents below a satisfying document hardly count. "
        "Gains are the levels. For the gains of gdeval, 2^level - 1, write for example ``gains={2: 3, 3: 7, "
        "4: 15}``. Set ``max_rel`` if qrels come in batches.",
    ),
    "B-pref": Note(
        (
            rf"\text{{B-pref}} = \frac{{1}}{{R}} {_RELEVANT} 1 - x(n)",
            r"x_{R}(n) = \frac{\min(R,\, n - C(n))}{R}",
            r"x_{N}(n) = \frac{n - C(n)}{N}",
            r"x_{\mathrm{relative}}(n) = \frac{n - C(n)}{n - 1}",
        ),
        "Use it to compare with studies of bpref. Ranks are those of the condensed list; N is the number of "
        "documents judged not relevant. Sakai (2007), who defines these variants, prefers "
        "``judged_only=True`` with :ref:`Q <measure-q>`, nDCG or AP. ``Bpref`` of ir-measures is "
        "trec_eval's.",
        ("{name}", "{name}(penalty='relative')"),
    ),
    "R-pref": Note(
        (
            rf"\text{{R-pref}} = \frac{{1}}{{\mathrm{{cg}}^{{*}}(R)}} {_RELEVANT} g(n) \left(1 - x(n)\right)",
            r"\mathrm{pen}(n) = \sum_{m < n,\, g(m) < g(n)} \frac{g(n) - g(m)}{g(n)}",
            r"x_{N}(n) = \frac{\mathrm{pen}(n)}{R + N - \mathrm{cg}^{*}(R) / g_{\max}}",
            r"x_{\mathrm{relative}}(n) = \frac{\mathrm{pen}(n)}{n - 1}",
            r"x_{\mathrm{relative2}}(n) = \frac{\mathrm{pen}(n)}{n}",
        ),
        "Use it as :ref:`B-pref <measure-b-pref>` for graded relevance: a document counts against a better "
        "one below it by the difference of their gains. Sakai (2007) prefers ``judged_only=True`` with "
        ":ref:`Q <measure-q>` or nDCG.",
        ("{name}", "{name}(penalty='relative')"),
    ),
    "nDCG-JK": Note(
        (
            rf"\text{{nDCG-JK}} = \frac{{{_RELEVANT} g(n) / D(n)}}{{\text{{the same of the ideal list}}}}",
            r"D(n) = \max(1, \log_{b} n)",
        ),
        "Use it to compare with results from before nDCG with log2(n + 1) became common. Down to rank b, "
        "the order makes no difference. Use nDCG of ir-measures otherwise.",
        ("{name}", "{name}(b=10)"),
    ),
}
