"""The evaluators for sentence-transformers: with a model in plain Python, and with the library itself."""

import csv
import warnings

import ir_measures
import numpy as np
import polars as pl
import pytest

import ir_graded
from ir_graded import InputError, ParameterError, sentence_transformers as adapter
from ir_graded.sentence_transformers import GradedRerankingEvaluator, GradedRetrievalEvaluator

TEXT = "the a quick brown fox jumps over lazy dog cat mat sat on red blue car"
WORDS = TEXT.split()
QUERIES = {"q1": "quick fox", "open": "blue car", "q2": "lazy dog"}
CORPUS = {f"d{at:02}": " ".join(WORDS[at : at + 3]) for at in range(14)}
QRELS = {"q1": {"d02": 2, "d00": 1, "gone": 1}, "q2": {"d06": 2, "d05": 1, "d01": 0}}
MEASURES = ["nDCG@10", "Q", "nDCG(ties='expected')@3"]


class Model:
    """A bag of words, which counts what it encodes."""

    def __init__(self):
        self.encoded = []

    def encode(self, texts, *, convert_to_tensor, **options):
        assert convert_to_tensor
        self.encoded.append((len(texts), options))
        return np.array([[text.split().count(word) for word in WORDS] for text in texts], dtype=np.float32)

    def similarity(self, queries, documents):
        return queries @ documents.T + np.linspace(0, 0.1, len(documents), dtype=np.float32)


def similarities(model=None):
    model = model or Model()
    encoded = [model.encode(list(texts.values()), convert_to_tensor=True) for texts in (QUERIES, CORPUS)]
    return model.similarity(*encoded)


def evaluated(values, measures=MEASURES):
    run = {
        topic: dict(zip(CORPUS, row, strict=True))
        for topic, row in zip(QUERIES, np.asarray(values).tolist(), strict=True)
        if topic in QRELS
    }
    return dict(zip(measures, ir_graded.evaluate(measures, QRELS, run).aggregates[0].tolist(), strict=True))


def frame_of_run(run):
    rows = [(topic, doc_id, score) for topic, docs in run.items() for doc_id, score in docs.items()]
    return pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")


def test_metrics_of_a_model_and_of_similarities_are_those_of_evaluate():
    evaluator = GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS, MEASURES)
    expected = evaluated(similarities())
    assert evaluator(Model()) == evaluator(similarities()) == evaluator(similarities().tolist()) == expected
    assert 0 < expected["Q"] < 1


def test_only_judged_queries_and_the_corpus_are_encoded_once():
    model = Model()
    GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS, batch_size=7)(model)
    assert model.encoded == [(14, {"batch_size": 7}), (2, {"batch_size": 7})]


def test_queries_are_compared_in_blocks(monkeypatch):
    whole = GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS)(Model())
    monkeypatch.setattr(adapter, "_CELLS", 1)
    model = Model()
    assert GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS)(model) == whole
    assert [texts for texts, _ in model.encoded] == [14, 1, 1]


def test_queries_and_documents_have_encoders_of_their_own_where_the_model_has_them():
    class Asymmetric(Model):
        def encode_query(self, texts, **options):
            return self.encode(texts, prompt="query", **options)

        def encode_document(self, texts, **options):
            return self.encode(texts, prompt="document", **options)

    model = Asymmetric()
    GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS)(model)
    assert model.encoded == [(14, {"prompt": "document"}), (2, {"prompt": "query"})]


def test_names_of_metrics_begin_with_that_of_the_evaluator():
    evaluator = GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS, ["RR", "Q"], name="dev")
    assert (evaluator.primary_metric, evaluator.greater_is_better) == ("dev_RR", True)
    assert list(evaluator(Model())) == ["dev_RR", "dev_Q"]
    assert not GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS, ["FirstRank@9", "RR"]).greater_is_better


def test_depth_cuts_rankings_and_keeps_ties_of_the_last():
    values = np.array([[3, 2, 2, 1]] * 2)
    corpus = dict.fromkeys("abcd", "")
    evaluator = GradedRetrievalEvaluator(
        {"q": "", "r": ""}, corpus, {"q": {"b": 1}, "r": {"d": 1}}, ["NumRet", "RR"], depth=2, ties="doc_id"
    )
    assert evaluator(values[:, [0, 3, 3, 3]]) == {"NumRet": 8, "RR": (1 / 4 + 1 / 2) / 2}
    assert evaluator(values) == {"NumRet": 6, "RR": 1 / 6}


def test_a_line_for_each_call_is_added_to_the_file(tmp_path):
    evaluator = GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS, MEASURES, name="dev")
    found = [evaluator(Model(), str(tmp_path / "new"), epoch, 10 * epoch) for epoch in (1, 2)]
    with (tmp_path / "new" / "Graded-Retrieval_evaluation_dev_results.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [{name: float(value) for name, value in line.items()} for line in lines] == [
        {"epoch": epoch, "steps": 10 * epoch, **metrics} for epoch, metrics in enumerate(found, 1)
    ]


def test_another_evaluator_does_not_write_into_a_file_with_other_columns(tmp_path):
    GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS, ["nDCG@10", "Q"])(Model(), str(tmp_path))
    (file,) = tmp_path.iterdir()
    before, model = file.read_bytes(), Model()
    other = GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS, ["RR", "AP"])
    message = (
        r"results\.csv has the columns epoch, steps, nDCG@10, Q, but this evaluator writes epoch, steps, RR"
    )
    with pytest.raises(InputError, match=message):
        other(model, str(tmp_path))
    assert file.read_bytes() == before
    assert model.encoded == []
    GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS, ["RR", "AP"], name="b")(model, str(tmp_path))
    assert len([*tmp_path.iterdir()]) == 2


@pytest.mark.parametrize("name", ["../../x", "a/b", "..\\x", "/x"])
def test_the_file_of_any_name_is_in_the_folder(tmp_path, name):
    folder = tmp_path / "a" / "b"
    for _ in range(2):
        GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS, name=name)(Model(), str(folder))
    assert [path.parent for path in tmp_path.rglob("*.csv")] == [folder]


def test_equal_similarities_give_the_mean_over_orders_by_default():
    given, similar = ({"q": ""}, dict.fromkeys("abcd", ""), {"q": {"d": 1}}), [[1.0, 0.0, 0.0, 0.0]]
    mean = pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 3)
    assert GradedRetrievalEvaluator(*given, ["RR"])(similar) == {"RR": mean}
    named = ["RR", "RR(ties='expected')", "RR(ties='pessimistic')"]
    found = GradedRetrievalEvaluator(*given, named)(similar)
    assert found == dict(zip(named, [mean, mean, 1 / 4], strict=True))
    assert GradedRetrievalEvaluator(*given, ["RR"], ties="doc_id")(similar) == {"RR": 1 / 2}
    pessimistic = GradedRetrievalEvaluator(*given, ["RR", "NumRet"], ties="pessimistic")
    assert pessimistic(similar) == {"RR(ties='pessimistic')": 1 / 4, "NumRet": 4}


def test_a_measure_without_a_mean_over_orders_is_ranked_by_id_with_a_warning():
    qrels = [ir_measures.Qrel("q", "a", 1, "i"), ir_measures.Qrel("q", "b", 1, "j")]
    judged = ir_graded.with_intents(qrels, {"q": {"i": 0.75, "j": 0.25}})
    evaluator = GradedRetrievalEvaluator({"q": ""}, dict.fromkeys("abc", ""), judged, ["DIN-nDCG@1", "RR"])
    message = (
        r"^1 topic has relevant documents with tied scores\. DIN\(measure='nDCG'\)@1: no expected score over "
        r"their orders is defined, so they are ranked by doc_id\. Set ties='doc_id' to accept this order$"
    )
    with pytest.warns(ir_graded.CoverageWarning, match=message):
        found = evaluator([[1.0, 1.0, 0.0]])
    assert found == {"DIN(measure='nDCG')@1": pytest.approx(1 / 3), "RR": 1}


def test_ids_are_compared_as_text():
    evaluator = GradedRetrievalEvaluator({1: "", "2": ""}, {10: "", "11": ""}, {"1": {"10": 1}, 2: {11: 2}})
    assert evaluator([[0.9, 0.1], [0.2, 0.8]]) == {"nDCG@10": 1, "Q": 1}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"queries": {"q9": "t"}}, "needs a judged query and a document"),
        ({"corpus": {}}, "needs a judged query and a document"),
        ({"depth": 0}, "depth=0 must be a whole number >= 1"),
        ({"depth": 1.5}, "depth=1.5 must be a whole number >= 1"),
        ({"depth": "10"}, "depth='10' must be a whole number >= 1"),
        ({"depth": True}, "depth=True must be a whole number >= 1"),
        ({"ties": "position"}, "ties='position' must be"),
        (
            {"measures": "infAP", "ties": "expected"},
            "infAP has no exact mean over the orders of tied documents",
        ),
        ({"corpus": {1.5: "t"}}, "an id is text or a whole number"),
        ({"qrels": {"q1": {"d01": float("nan")}}}, "missing or NaN"),
        ({"measures": "nonsense"}, "nonsense"),
    ],
)
def test_wrong_arguments_are_errors_before_training(changed, message):
    with pytest.raises((InputError, ParameterError, NameError), match=message):
        GradedRetrievalEvaluator(**{"queries": QUERIES, "corpus": CORPUS, "qrels": QRELS, **changed})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((2, 14)), r"similarities has shape \(2, 14\); expected \[queries, documents\], \(3, 14\)"),
        (np.full((3, 14), np.nan), "NaN|not a number"),
        (np.full((3, 14), "x"), "similarities holds <U1"),
    ],
)
def test_wrong_similarities_are_errors(values, message):
    with pytest.raises(InputError, match=message):
        GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS)(values)


def test_a_model_that_scores_pairs_is_an_error():
    class CrossEncoder:
        def predict(self, pairs):
            return np.zeros(len(pairs))

    with pytest.raises(InputError, match=r"^CrossEncoder scores pairs .* use GradedRerankingEvaluator"):
        GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS)(CrossEncoder())


# --------------------------------------------------------------------------------------- reranking

CANDIDATES = {
    "q1": {"d00": 5.0, "d02": 4.0, "d05": 3.0, "d09": 2.0, "d03": 1.0},
    "q2": {"d06": 3.0, "d01": 2.0, "d02": 2.0, "d05": 1.0},
    "open": {"nowhere": 1.0},  # not a topic of the qrels
}


class PairModel:
    """Counts the words that a query and a document share, and remembers what it scored."""

    def __init__(self, shape=(-1,)):
        self.pairs, self.shape = [], shape

    def predict(self, pairs, **options):
        self.pairs.append((pairs, options))
        return np.array([self.score(*pair) for pair in pairs], dtype=np.float32).reshape(self.shape)

    @staticmethod
    def score(query, text):
        return len({*query.split()} & {*text.split()}) + len(text) / 100


def reranked(candidates):
    run = {
        topic: {doc_id: PairModel.score(QUERIES[topic], CORPUS[doc_id]) for doc_id in doc_ids}
        for topic, doc_ids in candidates.items()
    }
    found = ir_graded.evaluate(MEASURES, QRELS, run, ties="expected").aggregates[0].tolist()
    return dict(zip(MEASURES, found, strict=True))


@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
@pytest.mark.parametrize("form", [lambda run: run, frame_of_run])
def test_candidates_are_reranked_by_the_scores_of_pairs(form, shape):
    model = PairModel(shape)
    evaluator = GradedRerankingEvaluator(
        QUERIES, CORPUS, QRELS, form(CANDIDATES), MEASURES, name="dev", batch_size=3
    )
    wanted = reranked({topic: CANDIDATES[topic] for topic in QRELS})
    assert evaluator(model) == {f"dev_{name}": value for name, value in wanted.items()}
    assert 0 < wanted["Q"] < 1
    ((pairs, options),) = model.pairs
    assert sorted(pairs) == sorted((QUERIES[t], CORPUS[doc_id]) for t in QRELS for doc_id in CANDIDATES[t])
    assert options == {"batch_size": 3}
    assert (evaluator.primary_metric, evaluator.greater_is_better) == ("dev_nDCG@10", True)


def test_depth_limits_candidates_and_keeps_ties_of_the_last():
    kept = {"q1": ["d00", "d02"], "q2": ["d06", "d01", "d02"]}
    model = PairModel()
    evaluator = GradedRerankingEvaluator(QUERIES, CORPUS, QRELS, CANDIDATES, MEASURES, depth=2)
    assert evaluator(model) == reranked(kept)
    assert len(model.pairs[0][0]) == 5


def test_without_a_run_the_judged_documents_are_ranked():
    qrels = {"q1": {"d02": 2, "d00": 1, "d09": 0, "d04": -1}, "no text": {"d01": 1}}
    model = PairModel()
    with pytest.warns(ir_graded.CoverageWarning, match="no text"):
        found = GradedRerankingEvaluator({"q1": "quick fox"}, CORPUS, qrels, measures="NumRet")(model)
    assert found == {"NumRet": 3}
    assert sorted(t for _, t in model.pairs[0][0]) == sorted(CORPUS[one] for one in ("d02", "d00", "d09"))


def test_scores_that_a_sigmoid_rounds_to_one_tie():
    class Saturated:
        def predict(self, pairs):
            return np.ones(len(pairs))

    run = {"q": dict.fromkeys("abcd", 0.0)}
    given = ({"q": ""}, dict.fromkeys("abcd", ""), {"q": {"d": 1}}, run, ["RR"])
    with pytest.warns(ir_graded.CoverageWarning, match="score"):
        assert GradedRerankingEvaluator(*given)(Saturated()) == {
            "RR": pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)
        }


def test_reranking_writes_a_file_of_its_own(tmp_path):
    evaluator = GradedRerankingEvaluator(QUERIES, CORPUS, QRELS, CANDIDATES, MEASURES, name="dev")
    found = [evaluator(PairModel(), str(tmp_path), epoch, epoch) for epoch in (1, 2)]
    with (tmp_path / "Graded-Reranking_evaluation_dev_results.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [float(line["dev_Q"]) for line in lines] == [metrics["dev_Q"] for metrics in found]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"queries": {"q1": "t"}}, "candidates: topic 'q2', document 'd06': queries has no text for 'q2'"),
        ({"candidates": {"q1": {"x": 1.0}}}, "topic 'q1', document 'x': corpus has no text for 'x'"),
        ({"candidates": None}, "topic 'q1', document 'gone': corpus has no text for 'gone'"),
        ({"candidates": {"other": {"d01": 1.0}}}, "needs a judged query with a candidate"),
        ({"candidates": {"q1": {"d01": float("nan")}}}, "document 'd01': .*NaN"),
        ({"candidates": frame_of_run({"q1": {"d01": float("nan")}})}, "NaN|not a number"),
        ({"candidates": {"q1": "d01"}}, "topic 'q1': expected a dict from doc_id to score"),
        ({"depth": 0}, "depth=0 must be a whole number >= 1"),
    ],
)
def test_wrong_candidates_are_errors_before_training(changed, message):
    given = {"queries": QUERIES, "corpus": CORPUS, "qrels": QRELS, "candidates": CANDIDATES, **changed}
    with pytest.raises((InputError, ParameterError), match=message):
        GradedRerankingEvaluator(**given)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Model(), "^Model has no method predict .* use GradedRetrievalEvaluator"),
        (PairModel((-1, 3)), r"returned scores of shape \(3, 3\) for 9 pairs; .* num_labels=1"),
    ],
)
def test_models_that_give_no_score_per_pair_are_errors(model, message):
    with pytest.raises(InputError, match=message):
        GradedRerankingEvaluator(QUERIES, CORPUS, QRELS, CANDIDATES)(model)


# ------------------------------------------------------------------------------- the library itself


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A transformer with random weights."""
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
        from transformers import BertConfig, BertModel, BertTokenizerFast

        folder = str(tmp_path_factory.mktemp("model"))
        names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
        sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
        torch.manual_seed(0)
        BertModel(BertConfig(vocab_size=len(names), **sizes)).save_pretrained(folder)
        BertTokenizerFast(vocab={name: at for at, name in enumerate(names)}).save_pretrained(folder)
        return SentenceTransformer(modules=[Transformer(folder), Pooling(16)], device="cpu")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # those of the library
def test_a_model_of_sentence_transformers_is_evaluated(model, tmp_path):
    evaluator = GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS, MEASURES, name="dev", batch_size=4)
    texts = [model.encode(list(texts.values()), convert_to_tensor=True) for texts in (QUERIES, CORPUS)]
    values = model.similarity(*texts)
    assert len(values.unique()) > 20  # else ids alone would decide
    expected = {f"dev_{name}": value for name, value in evaluated(values).items()}
    assert evaluator(values) == expected
    assert evaluator(model) == pytest.approx(expected)
    assert model.evaluate(evaluator, str(tmp_path)) == pytest.approx(expected)
    assert len(list(tmp_path.glob("*.csv"))) == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # those of the library
def test_a_trainer_of_sentence_transformers_chooses_the_best_model(model, tmp_path):
    from datasets import Dataset
    from sentence_transformers.sentence_transformer import losses, trainer, training_args

    evaluator = GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS, MEASURES, name="dev")
    pairs = {"anchor": ["quick fox", "lazy dog"] * 4, "positive": ["quick brown fox", "over lazy dog"] * 4}
    arguments = training_args.SentenceTransformerTrainingArguments(
        str(tmp_path),
        num_train_epochs=3,
        learning_rate=0.05,
        eval_strategy="epoch",
        save_strategy="epoch",
        load_best_model_at_end=True,
        metric_for_best_model=f"eval_{evaluator.primary_metric}",
        report_to=[],
        use_cpu=True,
    )
    training = trainer.SentenceTransformerTrainer(
        model,
        arguments,
        train_dataset=Dataset.from_dict(pairs),
        loss=losses.MultipleNegativesRankingLoss(model),
        evaluator=evaluator,
    )
    training.train()
    history = [line["eval_dev_nDCG@10"] for line in training.state.log_history if "eval_dev_nDCG@10" in line]
    assert len(history) == 3
    assert len(set(history)) > 1
    assert training.state.best_metric == max(history)
    assert evaluator(training.model)["dev_nDCG@10"] == pytest.approx(max(history))
    training.model.save(str(tmp_path / "best"))
    assert "| **nDCG@10**" in (tmp_path / "best" / "README.md").read_text()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # those of the library
def test_a_trainer_of_cross_encoders_chooses_the_best_model(tmp_path):
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    import torch
    from datasets import Dataset
    from sentence_transformers import CrossEncoder
    from sentence_transformers.cross_encoder import losses, trainer, training_args
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    names, folder = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS], str(tmp_path / "model")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    torch.manual_seed(0)
    network = BertForSequenceClassification(BertConfig(vocab_size=len(names), num_labels=1, **sizes))
    network.save_pretrained(folder)
    BertTokenizerFast(vocab={name: at for at, name in enumerate(names)}).save_pretrained(folder)
    model = CrossEncoder(folder, num_labels=1, device="cpu")

    evaluator = GradedRerankingEvaluator(
        QUERIES, CORPUS, QRELS, CANDIDATES, ["nERR@10", "nDCG@10"], name="dev", batch_size=4
    )
    pairs = {
        "query": ["quick fox", "quick fox", "lazy dog", "lazy dog"] * 4,
        "text": ["quick brown fox", "cat mat sat", "over lazy dog", "on red blue"] * 4,
        "label": [1.0, 0.0] * 8,
    }
    arguments = training_args.CrossEncoderTrainingArguments(
        str(tmp_path / "training"),
        num_train_epochs=2,
        learning_rate=0.05,
        eval_strategy="epoch",
        save_strategy="epoch",
        load_best_model_at_end=True,
        metric_for_best_model=f"eval_{evaluator.primary_metric}",
        report_to=[],
        use_cpu=True,
    )
    training = trainer.CrossEncoderTrainer(
        model,
        arguments,
        train_dataset=Dataset.from_dict(pairs),
        loss=losses.BinaryCrossEntropyLoss(model),
        evaluator=evaluator,
    )
    before = evaluator(model)
    training.train()
    history = [line["eval_dev_nERR@10"] for line in training.state.log_history if "eval_dev_nERR@10" in line]
    assert len(history) == 2
    assert len({before["dev_nERR@10"], *history}) > 1
    assert training.state.best_metric == max(history)
    assert evaluator(training.model)["dev_nERR@10"] == pytest.approx(max(history))
    training.model.save_pretrained(str(tmp_path / "best"))
    assert "nERR@10" in (tmp_path / "best" / "README.md").read_text()
