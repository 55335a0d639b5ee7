"""Large JSON on one line, as programs write it: runs, predictions of MTEB, responses of search engines."""

import json

import pytest
from helpers import run_command

DEPTH = 1000

pytestmark = pytest.mark.slow


def by_topic(topics):
    return {
        f"query-{topic}": {f"doc-{topic}-{at:>06}-of-the-collection": -float(at) for at in range(DEPTH)}
        for topic in range(topics)
    }


def predictions(run):
    return {"mteb_model_meta": {"model_name": "a"}, "default": {"test": run}}


def responses(run):
    hits = ([{"_id": doc, "_score": score} for doc, score in docs.items()] for docs in run.values())
    return {"took": 9, "responses": [{"took": 9, "hits": {"hits": [*one]}} for one in hits]}


@pytest.mark.parametrize(("form", "topics"), [(dict, 1200), (predictions, 1200), (responses, 820)])
def test_json_of_50_mb_on_one_line_is_scored(tmp_path, capsys, form, topics):
    run = by_topic(topics)
    path, qrels, ids = (tmp_path / name for name in ("run.json", "qrels.txt", "topics.txt"))
    with path.open("w") as file:
        json.dump(form(run), file)
    assert path.stat().st_size > 50e6
    qrels.write_text("".join(f"{topic} 0 {[*docs][3]} 1\n" for topic, docs in run.items()))
    ids.write_text("\n".join(run))
    given = ["--query-ids", ids] if form is responses else []
    _, out, _ = run_command(capsys, "evaluate", qrels, path, "-m", "RR", *given)
    assert out.split()[-2:] == ["run.json", "0.2500"]
