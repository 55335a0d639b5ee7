"""Names of measures in other programs: errors suggest what to write here, and a page lists them."""

from __future__ import annotations

#: Names of trec_eval that ir-measures lacks, with the measure; registered there, they would become members
#: of its families.
TREC_ONLY = {"gm_map": "GM(measure='AP')", "gm_bpref": "GM(measure='Bpref')"}
#: Names by the measure here. ``@k`` is part of names that mean this measure with a cutoff only.
_MEANT = {
    "AP": "average_precision mean_average_precision avgprec map_cut@k AveP NCP_u document_map",
    "AspectAP": "aspect_map",
    "CharF": "char_f1",
    "CharP": "char_prec",
    "CharR": "char_rec",
    "CitationR(several='mean')": "citation_recall",
    "GF(groups='G',divergence='JSD')": "GF-JSD",
    "GF(groups='G',divergence='NMD')": "GF-NMD",
    "GF(groups='G',divergence='RNOD')": "GF-RNOD",
    "NCU(stop='gu')": "NCU_gu",
    "NCU(stop='gu',beta=0)": "NCP_gu",
    "NCU(stop='rb')": "NCU_rb",
    "NCU(stop='rb',beta=0)": "NCP_rb",
    "NCU(stop='u')": "NCU_u",
    "NuggetR": "coverage",
    "O-measure": "OMeasure",
    "P": "prec",
    "P+": "PPlusMeasure",
    "P-measure": "PMeasure",
    "Passage2AP": "passage2_map",
    "PassageAP": "passage_map",
    "Q": "QMeasure",
    "Q(norm='cutoff')": "QMeasure@k",
    "RelP": "r_cap relative_p capped_recall recall_cap recall_capped",
    "RR": "reciprocal_rank mean_reciprocal_rank recip_rank NCP_1",
    "Rprec": "r_precision",
    "SetF": "F f1 f1_score f_score f_measure fmeasure art_f1",
    "SetP": "art_prec",
    "SetR": "art_rec",
    "Success": "hit hits hit_rate hitrate hr top_k_accuracy accuracy@k",
    "gRBP(norm='ideal')": "nRBP",
    "nDCG": "ndcg_cut@k MSnDCG",
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
    "It scores the position of nuggets in one text, not a ranking of documents": (
        "S-measure T-measure S-flat T-flat F-flat W-recall"
    ),
    "The command ir_graded trec_eval prints it": (
        "11pt_avg binG G ideal_dcg ndcg_rel Rndcg Rprec_mult utility yaap rbp_resid unj relstring runid "
        "num_nonrel_judged_ret"
    ),
    "O-measure was made to replace it": "weighted_reciprocal_rank",
    "ir_graded.passages.precision_omega computes it": "precision_omega",
    "It is NCU with beta=0 and a stop: NCU(stop='gu',beta=0), for example": "NCP",
}
#: Names of other programs, with the measure here.
MEANT = {name: here for here, names in _MEANT.items() for name in names.split()}
#: Names of measures that this package lacks, with the reason or a similar measure.
LACKING = {name: instead for instead, names in _LACKING.items() for name in names.split()}
#: Notations of other programs and papers as regular expressions, with the text that replaces them here.
NOTATIONS = {
    # ranx
    r"(.+?)(@[0-9]+)?-l([0-9]+)": r"\1(rel=\3)\2",
    r"(?i:rbp)(\.[0-9]+)(.*)": r"RBP(p=0\1,rel=1)\2",
    r"(?i:grbp)(\.[0-9]+)(.*)": r"gRBP(p=0\1)\2",
    r"(?i:nrbp)(\.[0-9]+)(.*)": r"gRBP(norm='ideal',p=0\1)\2",
    # inex_eval
    r"gP\[([0-9]+)\]": r"gP(beta=0.25)@\1",
    r"(.+)\[([0-9.]+)\]": r"\1@\2",
    # Condensed lists, written with a prime
    r"([\w+-]+)['\u2032](@[0-9]+)?": r"\1(judged_only=True)\2",
    # The geometric means of trec_eval
    r"(?i:gm_)(\w+)": r"GM(measure='\1')",
    # Parameters behind the cutoff
    r"([\w+-]+)(@[0-9]+)(\(.+\))": r"\1\3\2",
    # NTCIREVAL
    r"(.+@)0+([1-9][0-9]*)": r"\1\2",
    # NCU in the paper by Sakai and Robertson
    r"NCU_?\{?(u|rb|gu), ?(?:β|beta)=([0-9.]+|inf)\}?(.*)": r"NCU(stop='\1',beta=\2)\3",
}
