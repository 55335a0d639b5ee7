"""Answers of the worked examples, files of them, and random ones."""

import json
import lzma
import random

import packed
from collections_data import ROOT

DATA = ROOT / "answers"
RUNS = ("command-r-plus", "gpt-4o", "llama-3.1-70b")
#: The original names.
SIX = [f"{strict}{name}_score" for name in ("vital", "weighted", "all") for strict in ("strict_", "")]


def nuggets(text, *, assigned=True):
    """Return nuggets from a text such as ``a vital support, b okay not_support``."""
    keys = ("text", "importance", *(["assignment"] if assigned else []))
    return [dict(zip(keys, one.split(), strict=False)) for one in text.split(",")]


def answer(text, qid="1", run="x"):
    return {"qid": qid, "run_id": run, "nuggets": nuggets(text)}


def topic(text, qid="1"):
    return {"qid": qid, "nuggets": nuggets(text, assigned=False)}


def supported(text, qid="1", run="x"):
    """Return an answer with citations from a text such as ``a FS b NS | a PS |``, a sentence between bars."""
    sentences = []
    for sentence in text.split("|"):
        words = sentence.split()
        labels = [None if word == "-" else word for word in words[1::2]]
        sentences.append(
            {"answer": "?", "citations": words[::2], "eval_scores": labels, "count": len(labels)}
        )
    return {"topic_id": qid, "run_id": run, "support_eval": sentences}


EXAMPLE_A = (
    "a vital support, b vital partial_support, c vital not_support, d okay support, e okay partial_support, "
    "f failed support, g okay maybe"
)
EXAMPLE_E = "a FS b NS | a PS | | c NS a FS | b FS"


def written(path, objects):
    """Write JSON Lines, compressed by the suffix of the path."""
    text = "".join(json.dumps(one) + "\n" for one in objects).encode()
    write = {".gz": packed.gzipped, ".xz": lzma.compress}.get(path.suffix, bytes)
    path.write_bytes(write(text))
    return path


def random_answers(seed):
    """Return answers of several runs, and lists that have all their nuggets."""
    rng = random.Random(seed)  # noqa: S311  # not for cryptography
    texts = ["one", "two", "three", "four", "five #2", "ünï"]
    importances = ["vital", "okay", " Vital", "failed"]
    assignments = ["support", "partial_support", "not_support", "Support ", "maybe"]
    lists, answers = [], []
    for number in range(rng.randint(1, 4)):
        listed = [
            {"text": rng.choice(texts), "importance": rng.choice(importances)}
            for _ in range(rng.randint(0, 7))
        ]
        lists.append({"qid": f"t{number}", "nuggets": listed})
        for run in ("x", "y", "z"):
            # The first run has all answers, so that each run shares a topic with the lists.
            if run == "x" or rng.random() < 0.7 or number == 0:
                # Of repeated nuggets the first ones are kept, as an answer has no gaps among them.
                kept = [nugget for nugget in listed if rng.random() < 0.8 or repeats(listed, nugget)]
                of_run = [{**nugget, "assignment": rng.choice(assignments)} for nugget in kept]
                answers.append({"qid": f"t{number}", "run_id": run, "nuggets": of_run})
    rng.shuffle(answers)
    return answers, lists


def repeats(listed, nugget):
    return sum(one["text"] == nugget["text"] for one in listed) > 1


def random_support(seed):
    """Return answers with citations."""
    rng = random.Random(seed)  # noqa: S311  # not for cryptography
    answers = []
    for run in ("x", "y"):
        for number in range(rng.randint(1, 3)):
            sentences = []
            for _ in range(rng.randint(0, 5)):
                documents = rng.sample(range(20), rng.choice([0, 1, 1, 2, 3]))
                labels = [rng.choice(["FS", "PS", "NS", None]) for _ in documents]
                sentence = {"answer": "?", "citations": documents, "eval_scores": labels}
                if rng.random() < 0.2:
                    sentence["needs_citation"] = rng.random() < 0.5
                sentences.append(sentence)
            answers.append({"topic_id": f"t{number}", "run_id": run, "support_eval": sentences})
    return answers
