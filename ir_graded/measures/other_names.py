"""Names of measures in other programs: errors suggest what to write here, and a page lists them."""

from __future__ import annotations

#: Names of trec_eval that ir-measures lacks, with the measure; registered there, they would become members
#: of its families.
TREC_ONLY = {"gm_map": "GM(measure='AP')", "gm_bpref": "GM(measure='Bpref')"}
_MEANT = {
    "AP": "average_precision mean_average_precision avgprec map_cut",
    "nDCG": "ndcg_cut",
    "RelP": "r_cap relative_p capped_recall recall_cap recall_capped",
    "RR": "reciprocal_rank mean_reciprocal_rank recip_rank",
    "Rprec": "r_precision r-precision",
    "SetF": "f1 f1_score f_score f_measure fmeasure f-measure",
    "Success": "hit hits hit_rate hitrate hr top_k_accuracy",
}
_LACKING = {
    "nDCG@k is similar: it divides DCG by that of the ideal list": "dcg",
    "AP@k of judged chunks is similar, but divides by all relevant chunks": "context_precision",
    "NuggetR@k is similar: the share of nuggets that the first k chunks hold": "context_recall",
    "Other programs let a language model judge it; CitationP and CitationR score judged citations": (
        "faithfulness groundedness hallucination"
    ),
    "Other programs let a language model judge it; NuggetScore scores judged facts of an answer": (
        "answer_relevancy answer_relevance response_relevancy answer_correctness answer_similarity"
    ),
    "It compares texts; NuggetScore scores judged facts of an answer": (
        "bleu rouge meteor bertscore exact_match"
    ),
}
#: Names of other programs in lower case, with the measure here.
MEANT = {name: here for here, names in _MEANT.items() for name in names.split()}
#: Names of measures that this package lacks in lower case, with the reason or a similar measure.
LACKING = {name: instead for instead, names in _LACKING.items() for name in names.split()}
