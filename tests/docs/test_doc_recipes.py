"""The recipes of the guide run with the libraries that they are for, where these are installed."""

import warnings
from functools import partial

import numpy as np
import pytest
from doc_blocks import DOCS, blocks

import ir_graded

RECIPES = {
    option.removeprefix(":name: "): block.text
    for page in ("recipes.rst", "training.rst", "batches.rst", "arrays.rst")
    for block in blocks(DOCS / "guide" / page)
    for option in block.options
}
WORDS = ["the", "red", "car", "blue", "sky", "green", "tree"]
QUERIES = {"q1": "red car", "q2": "blue sky"}
CORPUS = {"d1": "the blue sky", "d2": "the car", "d3": "the red car", "d4": "green tree", "d5": "blue car"}
QRELS = {"q1": {"d2": 1, "d3": 2}, "q2": {"d1": 2, "d5": 1}}

# Warnings of the libraries are theirs.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def library(module, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(module, reason=f"{name} is not installed")


def counts(text):
    return [float(text.split().count(word)) for word in WORDS]


def run_recipe(name, tmp_path, monkeypatch, **names):
    """The names that a recipe leaves."""
    monkeypatch.chdir(tmp_path)
    exec(compile(RECIPES[name], f"recipe {name}", "exec"), names)  # noqa: S102
    return names


def assert_ranked(scores):
    """The scores are those of the documents that share words with the query; d5 is before d2 by its id."""
    ranked = {"q1": {"d3": 3.0, "d5": 2.0, "d2": 1.0}, "q2": {"d1": 2.0, "d5": 1.0}}
    assert scores.values.tolist() == ir_graded.evaluate(["nDCG@10", "Q"], QRELS, ranked).values.tolist()


def saved_bert(kind, folder, **options):
    """Save a transformer with random weights, and return its folder."""
    import torch
    import transformers

    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    config = transformers.BertConfig(vocab_size=len(names), **sizes, **options)
    torch.manual_seed(0)
    getattr(transformers, kind)(config).save_pretrained(folder)
    vocabulary = {name: at for at, name in enumerate(names)}
    transformers.BertTokenizerFast(vocab=vocabulary).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    library("sentence_transformers", "sentence-transformers")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    folder = saved_bert("BertModel", tmp_path_factory.mktemp("model"))
    return SentenceTransformer(modules=[Transformer(folder), Pooling(8)], device="cpu")


#: Options of the trainers that do not change what a recipe does.
QUIET = {"report_to": [], "use_cpu": True, "disable_tqdm": True}


def assert_best_is_loaded(found, column):
    """The trainer loaded the checkpoint with the highest score."""
    state = found["trainer"].state
    history = [line[f"eval_{column}"] for line in state.log_history if f"eval_{column}" in line]
    assert min(history) < max(history), history
    assert state.best_metric == max(history)
    assert found["metrics"][column] == pytest.approx(max(history))


def test_recipe_for_sentence_transformers(model, tmp_path, monkeypatch):
    from datasets import Dataset
    from sentence_transformers.sentence_transformer import losses, trainer, training_args

    options = {"num_train_epochs": 4, "learning_rate": 0.05, **QUIET}
    pairs = Dataset.from_dict(
        {"anchor": ["red car", "blue sky"], "positive": ["the red car", "the blue sky"]}
    )
    found = run_recipe(
        "sentence-transformers",
        tmp_path,
        monkeypatch,
        SentenceTransformerTrainer=trainer.SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments=partial(
            training_args.SentenceTransformerTrainingArguments, **options
        ),
        loss=losses.MultipleNegativesRankingLoss(model),
        queries=QUERIES,
        corpus=CORPUS,
        qrels=QRELS,
        pairs=pairs,
        model=model,
    )
    assert list(found["metrics"]) == ["dev_nDCG@10", "dev_Q"]
    assert any("eval_dev_Q" in line for line in found["trainer"].state.log_history)
    assert_best_is_loaded(found, "dev_nDCG@10")
    assert len([*(tmp_path / "results").glob("*_dev_results.csv")]) == 1


def test_recipe_for_cross_encoders(tmp_path, monkeypatch):
    library("sentence_transformers", "sentence-transformers")
    from datasets import Dataset
    from sentence_transformers import CrossEncoder
    from sentence_transformers.cross_encoder import losses, trainer, training_args

    folder = saved_bert("BertForSequenceClassification", tmp_path / "model", num_labels=1)
    cross_encoder = CrossEncoder(folder, num_labels=1, device="cpu")
    options = {"num_train_epochs": 4, "learning_rate": 0.05, **QUIET}
    columns = {"query": ["red car", "blue sky"], "text": ["the red car", "green tree"], "label": [1.0, 0.0]}
    found = run_recipe(
        "cross-encoder",
        tmp_path,
        monkeypatch,
        ir_graded=ir_graded,
        CrossEncoderTrainer=trainer.CrossEncoderTrainer,
        CrossEncoderTrainingArguments=partial(training_args.CrossEncoderTrainingArguments, **options),
        loss=losses.BinaryCrossEntropyLoss(cross_encoder),
        queries=QUERIES,
        corpus=CORPUS,
        qrels=QRELS,
        run={topic: dict.fromkeys(CORPUS, 1.0) for topic in QUERIES},
        pairs=Dataset.from_dict(columns),
        model=cross_encoder,
    )
    assert list(found["metrics"]) == ["dev_nERR(max_rel=2)@10", "dev_Q"]
    assert_best_is_loaded(found, "dev_nERR(max_rel=2)@10")


def test_recipe_for_lightning(tmp_path, monkeypatch):
    lightning = library("lightning", "lightning")
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    features, levels, topics = (
        torch.rand(6, 5, 3),
        torch.randint(0, 3, (6, 5)),
        torch.tensor([1, 2, 3, 1, 2, 3]),
    )
    ranker = run_recipe("lightning", tmp_path, monkeypatch)["Ranker"]
    scorer = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten(-2))
    options = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(accelerator="cpu", devices=1, **options)
    loader = DataLoader(TensorDataset(features, levels, topics), batch_size=2)
    (found,) = trainer.validate(ranker(scorer), loader, verbose=False)
    metric = ir_graded.RankingMetric("nDCG@10")
    metric.update(scorer(features), levels, topics)
    assert found["val_ndcg"] == pytest.approx(metric.compute())
    assert 0 < found["val_ndcg"] < 1


def test_recipe_for_processes(tmp_path, monkeypatch):
    torch = library("torch", "torch")

    def gathered(found, one):
        found[:] = [one, one]

    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    monkeypatch.setattr(torch.distributed, "all_gather_object", gathered)
    metric = ir_graded.RankingMetric("nDCG@10")
    metric.update([3.0, 2.0], [0, 1], [1, 1])
    found = run_recipe("processes", tmp_path, monkeypatch, torch=torch, ir_graded=ir_graded, metric=metric)
    metric.update([3.0, 2.0], [0, 1], [1, 1])
    assert found["value"] == metric.compute()


def test_recipe_for_torch(tmp_path, monkeypatch):
    torch = library("torch", "torch")
    rng = np.random.default_rng(0)
    batches = [(rng.random((3, 4)), rng.random((3, 6, 4)), rng.integers(0, 3, (3, 6))) for _ in range(2)]
    tensors = [[torch.from_numpy(array) for array in batch] for batch in batches]
    tensors[0][0].requires_grad_()
    found = run_recipe("torch", tmp_path, monkeypatch, batches=tensors)
    scores = [
        ir_graded.score_arrays(["nDCG@10", "RR"], levels, np.einsum("bd,bnd->bn", queries, documents))
        for queries, documents, levels in batches
    ]
    expected = np.hstack(scores).mean(axis=1)
    assert [float(found["ndcg"]), float(found["rr"])] == pytest.approx(expected.tolist())


def test_recipe_for_mteb(model, tmp_path, monkeypatch):
    mteb = library("mteb", "mteb")
    from mteb.mocks.mock_tasks.retrieval import MockRetrievalTask

    options = {"cache": None, "co2_tracker": False, "show_progress_bar": False}
    results = []

    def evaluate(*args, **further):
        results.append(evaluated(*args, **further, **options))

    evaluated = mteb.evaluate
    monkeypatch.setattr(mteb, "evaluate", evaluate)
    scores = run_recipe("mteb", tmp_path, monkeypatch, model=model, task=MockRetrievalTask())["scores"]
    of_mteb = results[0].task_results[0].scores["test"][0]["ndcg_at_10"]
    assert scores.mean()["nDCG@10"].item() == pytest.approx(of_mteb, abs=1e-5)
    (tmp_path / "model").mkdir()
    results[0].task_results[0].to_disk(tmp_path / "model" / "MockRetrievalTask.json")
    by_task = ir_graded.Scores.from_mteb(tmp_path, ["nDCG@10", "AP@5", "R@3", "P@3", "RR@10", "Success@1"])
    assert (by_task.runs, by_task.query_ids) == (("model",), ("MockRetrievalTask",))
    run = tmp_path / "predictions" / "MockRetrievalTask_predictions.json"
    qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0, "d2": 1}}
    same = ir_graded.evaluate(by_task.measures, qrels, [run])
    assert by_task.values.ravel() == pytest.approx(same.aggregates.ravel(), abs=1e-5)


def test_recipe_for_haystack(tmp_path, monkeypatch):
    haystack = library("haystack", "haystack")
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore()
    store.write_documents([haystack.Document(id=doc, content=text) for doc, text in CORPUS.items()])
    names = {"retriever": InMemoryBM25Retriever(store), "queries": QUERIES, "qrels": QRELS}
    found = run_recipe("haystack", tmp_path, monkeypatch, **names)
    assert_ranked(found["scores"])


def test_recipe_for_llama_index(tmp_path, monkeypatch):
    library("llama_index.core", "llama-index")
    from llama_index.core import Document, VectorStoreIndex
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.node_parser import SentenceSplitter

    class Words(BaseEmbedding):
        def _get_text_embedding(self, text):
            return counts(text)

        def _get_query_embedding(self, query):
            return counts(query)

        async def _aget_query_embedding(self, query):
            return counts(query)

    documents = [Document(doc_id=doc, text=text) for doc, text in CORPUS.items()]
    parts = [SentenceSplitter(chunk_size=50, chunk_overlap=0)]
    index = VectorStoreIndex.from_documents(documents, embed_model=Words(), transformations=parts)
    names = {"retriever": index.as_retriever(similarity_top_k=5), "queries": QUERIES, "qrels": QRELS}
    found = run_recipe("llama-index", tmp_path, monkeypatch, **names)
    assert_ranked(found["scores"])
