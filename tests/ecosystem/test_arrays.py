"""Scores of ``score_arrays`` equal those of ``evaluate``, for arrays of each library."""

import contextlib
import warnings

import ir_measures
import numpy as np
import pytest
from contracts import contract_cases
from measures import measure_cases

import ir_graded
from ir_graded import InputError, ParameterError
from ir_graded.analyses import arrays
from ir_graded.measures.base import Contributions
from ir_graded.measures.classic import scorer_of
from ir_graded.measures.classic.ties import takes_ties

SUBJECTS = [
    *measure_cases.VARIANTS,
    *contract_cases.THEIRS,
    *ir_graded.evaluation.evaluate.read_measures(
        ["Q@3", "nDCG@5", "P-measure(rel=2)", "Q(judged_only=True)", "AP(rel=2)@4", "P(judged_only=True)@5"]
    ),
]
SUBJECTS = [
    m @ 5 if isinstance(m, ir_graded.GradedMeasure) and measure_cases.needs_cutoff(m, m.params) else m
    for m in dict.fromkeys(SUBJECTS)
]
# RBP without rel and ERR without a cutoff are not computed; measures over intents need a further column.
SUBJECTS = [measure for measure in SUBJECTS if (found := scorer_of(measure)) and not found.needs]
SCALES = {name: [level for level in scale if level >= 0] for name, scale in measure_cases.SCALES.items()}
SCORES = np.array(measure_cases.SCORES)


def batch(scale, seed, rows=7, n=9):
    """Return levels (about half zeros), scores with ties, a mask with an empty row, and ideal lists."""
    rng = np.random.default_rng(seed)
    relevance = rng.choice(SCALES[scale], (rows, n)) * (rng.random((rows, n)) < 0.6)
    mask = rng.random((rows, n)) < 0.8
    mask[0] = False
    further = rng.choice(SCALES[scale], (rows, 4))
    ideal = rng.permuted(np.hstack((relevance * mask, further)), axis=1)
    return relevance, rng.choice(SCORES, (rows, n)), mask, ideal, further


def evaluated(measures, relevance, scores, mask, further, ties="doc_id"):
    """Evaluate the rows as dicts with ids that rank tied documents by position."""
    n = relevance.shape[1]
    ids = [f"d{n - column:03}" for column in range(n)]
    if scores is None:
        scores = np.tile(np.arange(n, 0, -1.0), (len(relevance), 1))
    shown = [[column for column in range(n) if row[column]] for row in mask.tolist()]
    qrels, run = {}, {}
    for number, columns in enumerate(shown):
        extra = {f"x{at}": level for at, level in enumerate(further[number].tolist()) if level > 0}
        qrels[str(number)] = {ids[at]: relevance[number, at].item() for at in columns} | extra
        run[str(number)] = {ids[at]: scores[number, at].item() for at in columns}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir_graded.CoverageWarning)
        return ir_graded.evaluate(measures, qrels, run, ties=ties).values[:, 0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:No document of relevance:ir_graded.CoverageWarning")
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("seed", range(4))
def test_values_are_those_of_evaluate_to_the_last_bit(scale, seed):
    relevance, scores, mask, ideal, further = batch(scale, seed)
    nothing, every = np.zeros_like(further), np.ones_like(mask)
    for given, shown, beyond in [
        ({"scores": scores, "mask": mask, "ideal": ideal}, mask, further),
        ({"scores": scores}, every, nothing),
        ({"mask": mask}, mask, nothing),
        ({}, every, nothing),
    ]:
        got = arrays.score_arrays(SUBJECTS, relevance, **given, ties="position")
        expected = evaluated(SUBJECTS, relevance, given.get("scores"), shown, beyond)
        wrong = [
            str(m)
            for m, one, two in zip(SUBJECTS, got, expected, strict=True)
            if one.tobytes() != two.tobytes()
        ]
        assert not wrong


@pytest.mark.filterwarnings("ignore:No document of relevance:ir_graded.CoverageWarning")
@pytest.mark.parametrize("ties", [None, "expected", "optimistic", "pessimistic"])
@pytest.mark.parametrize("scale", SCALES)
def test_ties_are_ordered_as_in_evaluate(ties, scale):
    measures = [measure for measure in SUBJECTS if takes_ties(measure)]
    relevance, scores, mask, _, further = batch(scale, 7)
    got = arrays.score_arrays(measures, relevance, scores, mask=mask, ties=ties)
    expected = evaluated(measures, relevance, scores, mask, np.zeros_like(further), ties or "expected")
    assert got.tobytes() == expected.tobytes()
    by_position = arrays.score_arrays(measures, relevance, scores, mask=mask, ties="position")
    assert got.tobytes() != by_position.tobytes()


def test_rows_are_scored_alike_in_blocks(monkeypatch):
    relevance, scores, mask, ideal, _ = batch("graded", 1)
    whole = arrays.score_arrays(SUBJECTS, relevance, scores, mask=mask, ideal=ideal, ties="position")
    monkeypatch.setattr(arrays, "_CELLS", 30)
    parts = arrays.score_arrays(SUBJECTS, relevance, scores, mask=mask, ideal=ideal, ties="position")
    assert parts.tobytes() == whole.tobytes()


def test_there_is_a_row_for_each_measure_in_order():
    found = arrays.score_arrays(["RR", "P@2", ir_measures.AP], [[0, 1, 1]])
    assert found.tolist() == [[0.5], [0.5], [(1 / 2 + 2 / 3) / 2]]


@pytest.mark.parametrize("ties", ["position", "expected"])
@pytest.mark.parametrize(
    ("measures", "rows"),
    [
        (["Q", "Q(beta=1)", "RR"], ["Q", "Q", "RR"]),
        (["Q", "Q"], ["Q", "Q"]),
        (["RR", "nDCG@2", "RR", "ndcg_cut_2"], ["RR", "nDCG@2", "RR", "nDCG@2"]),
        (["P_1,2", "RR", "P@1"], ["P@1", "P@2", "RR", "P@1"]),
        ("Q RR Q", ["Q", "RR", "Q"]),
    ],
)
def test_repeated_measures_keep_their_rows(measures, rows, ties):
    relevance, scores = [[0, 2, 1], [1, 0, 0]], [[3.0, 2.0, 1.0], [1.0, 1.0, 2.0]]
    found = arrays.score_arrays(measures, relevance, scores, ties=ties)
    alone = [arrays.score_arrays(row, relevance, scores, ties=ties)[0].tolist() for row in rows]
    assert found.tolist() == alone


@pytest.mark.parametrize("beside", [[], ["Q"], ["nDCG"]])
def test_rows_without_relevant_documents_are_counted(beside):
    mask = [[True, True], [True, True], [False, True], [False, False]]
    found = arrays.score_arrays(["NumRet", "NumQ", *beside], [[0, 0], [1, 0], [0, 0], [0, 0]], mask=mask)
    assert found[:2].tolist() == [[2, 2, 1, 0], [1, 1, 1, 0]]


def test_an_empty_batch_and_empty_rows():
    assert arrays.score_arrays(["Q", "AP"], np.zeros((0, 5))).shape == (2, 0)
    assert arrays.score_arrays(["Q", "AP"], np.zeros((3, 0))).tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32"])
def test_every_type_of_number_is_taken(dtype):
    relevance = np.array([[0, 1, 0, 1]]).astype(dtype)
    assert arrays.score_arrays("AP", relevance, [[1, 2, 3, 4]]).tolist() == [[(1 + 2 / 3) / 2]]


# ------------------------------------------------------------------------------------ other libraries


class Tensor:
    """An array of another library, whose numbers are only accessible by DLPack."""

    def __init__(self, values, device="cpu:0"):
        self.values, self.device = values, device
        self.dtype = f"library.{values.dtype}"

    def __dlpack__(self, **options):
        if self.device != "cpu:0":
            raise BufferError("it is not on the CPU")
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0) if self.device == "cpu:0" else (2, 0)

    def __array_namespace__(self):
        return Library

    def __array__(self, *_, **__):
        raise TypeError("only DLPack is supported")


class Library:
    @staticmethod
    def asarray(values, device):
        return Tensor(values, device)


class OnGPU(Tensor):
    def cpu(self):
        return self.values


def test_results_come_back_in_the_library_of_the_caller():
    relevance, scores, mask, ideal, _ = batch("graded", 2)
    expected = arrays.score_arrays(["Q", "nDCG"], relevance, scores, mask=mask, ideal=ideal)
    found = arrays.score_arrays(
        ["Q", "nDCG"], Tensor(relevance), Tensor(scores), mask=Tensor(mask), ideal=Tensor(ideal)
    )
    assert type(found) is Tensor
    assert found.values.tobytes() == expected.tobytes()


def test_results_come_back_on_the_device_of_the_caller():
    found = arrays.score_arrays("RR", OnGPU(np.array([[0, 1]]), "gpu:1"))
    assert (found.device, found.values.tolist()) == ("gpu:1", [[0.5]])


def of_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return torch.from_numpy, lambda array: array.to(torch.bfloat16), contextlib.nullcontext()


def of_jax():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    return jax.numpy.asarray, lambda array: array.astype("bfloat16"), jax.enable_x64(True)


@pytest.mark.filterwarnings("ignore:No document of relevance:ir_graded.CoverageWarning")
@pytest.mark.parametrize("library", [of_torch, of_jax])
@pytest.mark.parametrize("scale", SCALES)
def test_every_measure_has_the_same_bits_from_other_libraries(library, scale):
    made, rounded, context = library()
    relevance, scores, mask, ideal, _ = batch(scale, 3)
    with context:
        given = made(relevance), made(scores)
        found = arrays.score_arrays(SUBJECTS, *given, mask=made(mask), ideal=made(ideal), ties="position")
        expected = arrays.score_arrays(SUBJECTS, relevance, scores, mask=mask, ideal=ideal, ties="position")
        assert type(found) is type(given[0])
        assert np.asarray(found).tobytes() == expected.tobytes()
        eighths = np.round(scores * 8) / 8  # bfloat16 holds them
        assert np.asarray(arrays.score_arrays("Q", given[0], rounded(made(eighths)))).tolist() == (
            arrays.score_arrays("Q", relevance, eighths).tolist()
        )
        frozen = [array.copy() for array in (relevance, scores)]
        for array in frozen:
            array.setflags(write=False)
        reversed_twice = (array[:, ::-1].copy()[:, ::-1] for array in frozen)
        assert (
            arrays.score_arrays("Q", *frozen).tolist() == arrays.score_arrays("Q", *reversed_twice).tolist()
        )


def test_tensors_that_track_gradients_are_taken():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    scores = torch.tensor([[1.0, 2.0]], requires_grad=True)
    found = arrays.score_arrays("RR", torch.tensor([[1, 0]]), scores)
    assert (found.tolist(), found.requires_grad) == ([[0.5]], False)
    with pytest.raises(InputError, match=r"^scores cannot be read as an array of numbers"):
        arrays.score_arrays("RR", torch.tensor([[1, 0]]), scores.to("meta"))


def test_arrays_that_a_compiler_traces_are_errors():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    with pytest.raises(InputError, match=r"^relevance cannot be read as an array of numbers"):
        jax.jit(lambda relevance: arrays.score_arrays("RR", relevance))(jax.numpy.zeros((2, 3)))


# ---------------------------------------------------------------------------------------- bad input

GOOD = {"relevance": [[1, 0], [0, 2]], "scores": [[1.0, 2.0], [3.0, 4.0]]}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"relevance": [1, 0]}, r"relevance has shape \(2,\); it must be \[batch, n\]"),
        ({"relevance": [[1], [0, 2]]}, "relevance cannot be read as an array of numbers"),
        ({"relevance": [["1", "0"]]}, "relevance holds <U1"),
        ({"relevance": [[10**30, 0]]}, "relevance holds object; it must hold numbers that fit into 64 bits"),
        ({"relevance": [[2**53 + 1, 0]]}, r"relevance\[0, 0\] is 9007199254740993; .*at most 2\*\*53"),
        ({"relevance": [[1, 0], [0, -1]]}, r"relevance\[1, 1\] is -1; a level must be a finite number >= 0"),
        ({"relevance": [[1, np.nan], [0, 1]]}, r"relevance\[0, 1\] is nan"),
        ({"relevance": [[1, np.inf], [0, 1]]}, r"relevance\[0, 1\] is inf"),
        ({"scores": [[1.0, 2.0]]}, r"scores has shape \(1, 2\); it must have the shape of relevance"),
        ({"scores": [[1.0, 2.0], [np.nan, 0]]}, r"scores\[1, 0\] is not a number"),
        ({"scores": [[1.0, 2.0], [1j, 0]]}, "scores holds complex128"),
        ({"relevance": np.ma.array([[1, 0], [0, 2]], mask=[[0, 1], [0, 0]])}, "relevance is a masked array"),
        ({"mask": [True, False]}, r"mask has shape \(2,\); it must have the shape of relevance"),
        ({"mask": [[1, 0], [2, 0]]}, "mask holds int64; it must hold True and False"),
        ({"mask": [[0.5, 1], [1, 1]]}, "mask holds float64"),
        ({"ideal": [[1, 2]]}, r"ideal has shape \(1, 2\); it must be \[2, m\]"),
        ({"ideal": [[1], [-2]]}, r"ideal\[1, 0\] is -2"),
        ({"ideal": [[1, 0], [1, 1]]}, "ideal: row 1 lacks a document of level 2 that relevance has"),
        ({"relevance": [[1, 1], [0, 2]], "ideal": [[1], [2]]}, "ideal: row 0 lacks a document of level 1"),
    ],
)
def test_bad_arrays_are_errors_that_name_the_argument(changed, message):
    with pytest.raises(InputError, match=f"^{message}"):
        arrays.score_arrays(["Q", "AP"], **{**GOOD, **changed})


def test_levels_of_padding_are_not_looked_at():
    relevance = np.array([[1, 0, np.nan], [0, 2, -1]])
    scores = np.array([[1.0, 2.0, np.nan], [3.0, 4.0, np.inf]])
    mask = np.array([[1, 1, 0], [1, 1, 0]])
    assert arrays.score_arrays("Q", relevance, scores, mask=mask).tolist() == [[2 / 3, 1.0]]


@pytest.mark.parametrize(
    ("measure", "needed"),
    [
        ("MAgP", "needs passages, which score_arrays does not use"),
        ("I-rec", "needs the column iteration"),
        ("D-nDCG@10", "needs the column iteration"),
        ("EC(measure='Q')", "needs the column equivalence_class"),
        ("NumRel(rel=2)", "NumRel takes rel; ir-measures supports rel=1 only"),
        ("alpha_nDCG@5", "needs the column iteration"),
    ],
)
def test_measures_that_need_more_are_errors(measure, needed):
    with pytest.raises(ParameterError, match=f"^.+ {needed}"):
        arrays.score_arrays(["Q", measure], [[1, 0]])


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("RBP(p=0.8)", r"RBP has no rel.*gRBP\(p=0.8\).*RBP\(p=0.8,rel=1\)"),
        ("BPM(T=10)", r"needs a cutoff and a max_rel: for example BPM\(T=10.0,max_rel=2\)@10$"),
        ("INST(T=1)", r"needs a max_rel: for example INST\(max_rel=2\)$"),
        ("SDCG@10", r"needs a max_rel: for example SDCG\(max_rel=2\)@10$"),
    ],
)
def test_missing_parameters_are_named_first(measure, message):
    with pytest.raises(ParameterError, match=message):
        arrays.score_arrays(measure, [[1, 0]])


def test_soft_labels_below_the_relevant_level_are_warned_of_once():
    measures, soft = ["Q", "nDCG", "AP(rel=2)", "Q", "RR"], [[0.9, 0.0], [0.4, 0.1]]
    message = (
        r"^No document of relevance has a level of 1 or more, so nothing is relevant for Q, RR\. "
        r"No document of relevance has a level of 2 or more, so nothing is relevant for AP\(rel=2\)\. "
        r"The highest level is 0\.9: set rel to at most this, as in rel=0\.9\.$"
    )
    with pytest.warns(ir_graded.CoverageWarning, match=message) as found:
        scores = arrays.score_arrays(measures, soft)
    assert len(found) == 1
    assert found[0].filename == __file__
    assert scores[[0, 2, 3, 4]].any(axis=1).tolist() == [False] * 4
    assert scores[1].tolist() == [1.0, 1.0]


def test_levels_without_effect_cause_no_warning():
    soft, mask = [[0.5, 0.0, 3.0]], [[True, True, False]]
    with pytest.warns(ir_graded.CoverageWarning, match="nothing is relevant for Q"):
        arrays.score_arrays("Q", soft, mask=mask)
    assert arrays.score_arrays("Q", soft, mask=mask, ideal=[[0.5, 1.0]]).tolist() == [[0.0]]
    assert arrays.score_arrays(["Q", "AP"], [[0, 0]]).tolist() == [[0.0], [0.0]]
    assert arrays.score_arrays(["NumRet", "nDCG"], [[0.5, 0]]).tolist() == [[2.0], [1.0]]


def test_whole_numbers_that_become_equal_cause_a_warning():
    message = (
        r"^scores holds whole numbers above 2\*\*53 that become equal as doubles, and then tie: subtract a "
        "constant from all of them$"
    )
    with pytest.warns(ir_graded.CoverageWarning, match=message):
        assert arrays.score_arrays("RR", [[0, 1]], [[2**60 + 1, 2**60]]).tolist() == [[0.75]]
    assert arrays.score_arrays("RR", [[0, 1]], [[2**61, 2**60]]).tolist() == [[0.5]]


def test_equal_scores_are_not_ordered_by_position_by_default():
    zeros = np.zeros((1, 4))
    found = arrays.score_arrays(["RR", "nDCG@1"], [[1, 0, 0, 0]], zeros)
    assert found.tolist() == [[(1 + 1 / 2 + 1 / 3 + 1 / 4) / 4], [1 / 4]]
    found = arrays.score_arrays(["RR", "nDCG@1"], [[1, 0, 0, 0]], zeros, ties="position")
    assert found.tolist() == [[1], [1]]
    assert arrays.score_arrays("RR(ties='pessimistic')", [[1, 0, 0, 0]], zeros).tolist() == [[1 / 4]]
    assert arrays.score_arrays("RR", [[1, 0, 0, 0]]).tolist() == [[1]]


class FirstLevel(ir_graded.GradedMeasure):
    """The level of the first document over 4, whose mean over orders of ties nobody defined. In [0, 1]."""

    NAME, PRETTY_NAME, SHORT_DESC, SOURCE = ("FirstLevel",) * 4

    def contributions(self, views):
        view = views[self.cut]
        return Contributions(view, np.where(view.n == 1, view.level / 4, 0.0))


def test_a_measure_without_a_mean_over_orders_is_ranked_by_position_with_a_warning():
    relevance, tied = [[0, 4, 1], [2, 0, 0], [2, 0, 1]], [[1.0, 1.0, 0.0], [2.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    message = (
        r"^2 topics have relevant documents with tied scores\. FirstLevel: no expected score over their "
        r"orders is defined, so they are ranked by position\. Set ties='position' to accept this order$"
    )
    with pytest.warns(ir_graded.CoverageWarning, match=message) as found:
        scores = arrays.score_arrays([FirstLevel(), "P@1"], relevance, tied)
    assert (len(found), found[0].filename) == (1, __file__)
    assert scores.tolist() == [[0, 0.5, 0.5], [0.5, 1, 2 / 3]]
    assert arrays.score_arrays(FirstLevel(), relevance, tied, ties="position").tolist() == [[0, 0.5, 0.5]]
    assert arrays.score_arrays(FirstLevel(), relevance).tolist() == [[0, 0.5, 0.5]]
    assert arrays.score_arrays(FirstLevel(rel=2), [[2, 1, 1]], [[1.0, 0.0, 0.0]]).tolist() == [[0.5]]
    with pytest.raises(ParameterError, match=r"^FirstLevel has no expected score over the orders"):
        arrays.score_arrays(FirstLevel(), relevance, ties="expected")


@pytest.mark.parametrize("ties", ["doc_id", "random", ["expected"], 1])
def test_ties_must_be_one_of_their_words(ties):
    with pytest.raises(ParameterError, match=r"ties=.* must be one of 'position', 'expected'"):
        arrays.score_arrays("Q", [[1, 0]], ties=ties)


def test_a_measure_is_needed():
    with pytest.raises(ParameterError, match="no measure given"):
        arrays.score_arrays([], [[1, 0]])
