"""The evaluator for sentence-transformers: with a model in plain Python, and with the library itself."""

import csv
import warnings

import numpy as np
import pytest

import ir_graded
from ecosystem.processes import python
from ir_graded import InputError, sentence_transformers as adapter
from ir_graded.sentence_transformers import GradedRetrievalEvaluator

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


def test_depth_cuts_rankings_and_keeps_ties_of_the_last():
    values = np.array([[3, 2, 2, 1]] * 2)
    corpus = dict.fromkeys("abcd", "")
    evaluator = GradedRetrievalEvaluator(
        {"q": "", "r": ""}, corpus, {"q": {"b": 1}, "r": {"d": 1}}, ["NumRet", "RR"], depth=2
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


def test_ids_are_compared_as_text():
    evaluator = GradedRetrievalEvaluator({1: "", "2": ""}, {10: "", "11": ""}, {"1": {"10": 1}, 2: {11: 2}})
    assert evaluator([[0.9, 0.1], [0.2, 0.8]]) == {"nDCG@10": 1, "Q": 1}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"queries": {"q9": "t"}}, "needs a judged query, a document and depth >= 1"),
        ({"corpus": {}}, "needs a judged query, a document"),
        ({"depth": 0}, "depth >= 1"),
        ({"corpus": {1.5: "t"}}, "an id is text or a whole number"),
        ({"qrels": {"q1": {"d01": float("nan")}}}, "missing or NaN"),
        ({"measures": "nonsense"}, "nonsense"),
    ],
)
def test_wrong_arguments_are_errors_before_training(changed, message):
    with pytest.raises((InputError, NameError), match=message):
        GradedRetrievalEvaluator(**{"queries": QUERIES, "corpus": CORPUS, "qrels": QRELS, **changed})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            np.zeros((2, 14)),
            r"similarities has shape \(2, 14\); expected \[queries, documents\], \(3, 14\)",
        ),
        (np.full((3, 14), np.nan), "NaN|not a number"),
        (np.full((3, 14), "x"), "similarities holds <U1"),
    ],
)
def test_wrong_similarities_are_errors(values, message):
    with pytest.raises(InputError, match=message):
        GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS)(values)


def test_the_library_is_not_imported_with_the_package():
    assert python("import sys, ir_graded; print('sentence_transformers' in sys.modules)") == "False\n"


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
