"""The data of the benchmarks: equal on every machine, with files kept in a folder."""

from __future__ import annotations

import gzip
import json
import lzma
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import zstandard

#: Articles of a topic of passages, passages of each, and judged articles.
ARTICLES, PASSAGES, JUDGED = 1_500, 5, 100

Dicts = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]

_DOCS = 8_841_823  # the number of passages in MS MARCO
_FIRST_DOC = 1_000_000
_FIRST_TOPIC, _LAST_TOPIC = 100_000, 1_185_869
_OPENERS = {".gz": gzip.open, ".xz": lzma.open}
_TABBED, _ALIGNED = "{}\tQ0\t{:08d}\t{}\t{!r}\trun\n", "{:<5} Q0 {:08d} {:>4} {!r:>20} run\n"
# The dtype of text in Arrow memory, the default of pandas 3.
ARROW = "str" if int(pd.__version__.partition(".")[0]) >= 3 else "string[pyarrow]"  # noqa: PLR2004


@dataclass(frozen=True)
class Collection:
    """A run, topic by topic in ranked order, and its qrels.

    Attributes:
        topics: names of 6 or 7 digits, shape ``(topics,)``.
        docs: documents of the run, numbers of 7 digits, shape ``(topics, depth)``.
        scores: their scores descending, with four decimals.
        qrels: some documents of each topic with levels 0 to 3, two thirds of them in the run.
    """

    topics: np.ndarray
    docs: np.ndarray
    scores: np.ndarray
    qrels: Qrels

    @classmethod
    def of(cls, topics: int, depth: int, judged: tuple[int, int], relevant: int, seed: int) -> Collection:
        """Make ``judged[0]`` to ``judged[1]`` judged documents per topic, ``relevant`` with levels 1 to 3."""
        rng = np.random.default_rng(seed)
        names = _FIRST_TOPIC + rng.choice(_LAST_TOPIC - _FIRST_TOPIC, topics, replace=False)
        docs = np.empty((topics, depth), dtype=np.int64)
        qrels: Qrels = {}
        for number, name in enumerate(names.tolist()):
            count = int(rng.integers(judged[0], judged[1] + 1))
            pool = _FIRST_DOC + rng.choice(_DOCS - _FIRST_DOC, depth + count, replace=False)
            docs[number] = pool[:depth]
            inside = min(depth, int(rng.binomial(count, 2 / 3)))
            known = np.concatenate((rng.choice(pool[:depth], inside, replace=False), pool[depth:]))[:count]
            some = min(relevant, count)
            levels = rng.permutation(np.append(rng.integers(1, 4, some), np.zeros(count - some, dtype=int)))
            qrels[str(name)] = dict(zip(map(str, known.tolist()), levels.tolist(), strict=True))
        scores = np.sort(rng.random((topics, depth)) * 50)[:, ::-1].round(4)
        return cls(names, docs, scores, qrels)

    @property
    def size(self) -> str:
        """Return the numbers of topics and documents, for titles."""
        topics, depth = self.docs.shape
        return f"{topics:,} topics x {depth:,} documents"

    def by_intent(self, intents: int) -> list[ir_measures.Qrel]:
        """Return the qrels for several intents; a document is relevant to every one up to its level."""
        return [
            ir_measures.Qrel(topic, doc, level if intent <= level else 0, str(intent))
            for topic, docs in self.qrels.items()
            for doc, level in docs.items()
            for intent in range(1, intents + 1)
        ]

    @property
    def rows(self) -> int:
        """Return the number of lines of the run file."""
        return self.docs.size

    def dicts(self) -> Dicts:
        """Return the run as readers of files build it: topic by topic, in ranked order."""
        return {
            str(topic): dict(zip(map(str, docs.tolist()), scores.tolist(), strict=True))
            for topic, docs, scores in zip(self.topics, self.docs, self.scores, strict=True)
        }

    def tied(self, ties: float) -> Collection:
        """Return the collection with a share of each topic's documents in groups of ten with one score."""
        rng = np.random.default_rng(4)
        scores = self.scores.copy()
        for of_topic in scores.reshape(len(scores), -1, 10):
            tied = rng.choice(len(of_topic), round(ties * len(of_topic)), replace=False)
            of_topic[tied] = of_topic[tied, :1]
        return replace(self, scores=scores)

    def shuffled(self, ties: float) -> tuple[Qrels, Dicts]:
        """Return qrels and run in random order, a share of the documents in groups of ten with one score.

        All texts and scores are separate objects, made in that order, like those of programs that collect
        results from several places.
        """
        rng = np.random.default_rng(5)
        rows = []
        for topic, docs, scores in zip(self.topics, self.docs, self.tied(ties).scores, strict=True):
            rows += [(str(topic), doc, score) for doc, score in zip(docs.tolist(), scores, strict=True)]
        run: Dicts = defaultdict(dict)
        for at in rng.permutation(len(rows)).tolist():
            topic, doc, score = rows[at]
            run[topic][str(doc)] = float(score)
        levels = [(topic, *item) for topic, docs in self.qrels.items() for item in docs.items()]
        qrels: Qrels = defaultdict(dict)
        for at in rng.permutation(len(levels)).tolist():
            topic, name, level = levels[at]
            qrels[topic]["".join(name)] = level
        return dict(qrels), dict(run)

    @cached_property
    def polars(self) -> pl.DataFrame:
        """Return the run as a Polars frame."""
        numbers = pl.DataFrame(
            {
                "query_id": np.repeat(self.topics, self.docs.shape[1]),
                "doc_id": self.docs.ravel(),
                "score": self.scores.ravel(),
            }
        )
        return numbers.cast({"query_id": pl.String, "doc_id": pl.String})

    def pandas(self) -> pd.DataFrame:
        """Return the run as a DataFrame with Arrow strings."""
        return self.polars.to_pandas().astype({"query_id": ARROW, "doc_id": ARROW})

    def qrels_frame(self) -> pd.DataFrame:
        """Return the qrels as a DataFrame."""
        rows = [(topic, doc, level) for topic, docs in self.qrels.items() for doc, level in docs.items()]
        return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])

    def write_qrels(self, path: Path) -> None:
        """Write the qrels in trec_eval's format."""
        lines = [f"{t} 0 {doc} {level}\n" for t, docs in self.qrels.items() for doc, level in docs.items()]
        path.write_text("".join(lines), encoding="utf-8")

    def write(self, path: Path, separator: str = " ", newline: str = "\n") -> None:
        """Write the run in trec_eval's format."""
        _write_run(self.polars, self.docs.shape[1], path, separator, newline)

    def write_aligned(self, path: Path) -> None:
        """Write the run in columns of a fixed width."""
        rank = pl.int_range(pl.len()) % self.docs.shape[1] + 1
        line = pl.format(
            "{} Q0 {} {} {} a",
            pl.col("query_id").str.pad_end(8),
            pl.col("doc_id").str.pad_end(9),
            rank.cast(pl.String).str.pad_start(4),
            pl.col("score").round(4).cast(pl.String).str.pad_start(9),
        )
        self.polars.select(line).write_csv(path, include_header=False, quote_style="never")


def _write_run(
    frame: pl.DataFrame, depth: int, path: Path, separator: str = " ", newline: str = "\n"
) -> None:
    rank = (pl.int_range(pl.len()) % depth + 1).alias("rank")
    columns = "query_id", pl.lit("Q0").alias("Q0"), "doc_id", rank, "score", pl.lit("a").alias("tag")
    frame.select(*columns).write_csv(
        path, include_header=False, separator=separator, line_terminator=newline, float_precision=4
    )


class Store:
    """Files in a folder, each created once.

    Args:
        folder: the folder that holds them.
        scale: factor of the numbers of topics.
    """

    def __init__(self, folder: Path, scale: float) -> None:
        self.folder = folder
        self.scale = scale
        folder.mkdir(parents=True, exist_ok=True)

    def file(self, name: str, make: Callable[[Path], None]) -> Path:
        """Return the file of that name; create it if it does not exist."""
        path = self.folder / name
        if not path.exists():
            part = path.with_name(f"part-{name}")
            make(part)
            part.replace(path)
        return path

    def topics(self, number: int) -> int:
        """Return the scaled number of topics."""
        return max(2, round(number * self.scale))

    @cached_property
    def few(self) -> Collection:
        """Return a collection like MS MARCO: one or two judged documents per topic, one of them relevant."""
        return Collection.of(self.topics(6_980), 1_000, (1, 2), 1, seed=1)

    @cached_property
    def some(self) -> Collection:
        """Return as many topics with 20 judged documents each, ten of them relevant."""
        return Collection.of(self.topics(6_980), 1_000, (20, 20), 10, seed=7)

    @cached_property
    def many(self) -> Collection:
        """Return a collection like Robust: 1,200 judged documents per topic."""
        return Collection.of(self.topics(249), 1_000, (1_200, 1_200), 70, seed=2)

    def files(self, name: str, collection: Collection) -> tuple[Path, Path]:
        """Return qrels and run of a collection as files; the name must hold all parameters but sizes."""
        topics, depth = collection.docs.shape
        stem = f"{name}-{topics}x{depth}"
        qrels = self.file(f"{stem}.qrels", collection.write_qrels)
        return qrels, self.file(f"{stem}.run", collection.write)

    def forms(self) -> dict[str, Path]:
        """Return the MS MARCO-like run in other spacings and compressions."""
        few = self.few
        plain = self.files("few", few)[1]
        name = plain.stem
        return {
            "tabs": self.file(f"{name}-tabs.run", lambda path: few.write(path, separator="\t")),
            "CRLF": self.file(f"{name}-crlf.run", lambda path: few.write(path, newline="\r\n")),
            "aligned columns": self.file(f"{name}-aligned.run", few.write_aligned),
            "gzip": self.file(f"{name}.run.gz", lambda path: _gzip(plain, path)),
            "zstandard": self.file(f"{name}.run.zst", lambda path: _zstandard(plain, path)),
        }

    def large(self) -> tuple[Path, Path, int]:
        """Return qrels, a run of 70 million lines (ten times the MS MARCO-like topics) and the line count."""
        few = self.few
        topics, depth = few.docs.shape
        name = f"large-{10 * topics}x{depth}"

        def run(path: Path) -> None:
            with path.open("wb") as file:
                for part in range(10):
                    topic = pl.concat_str(pl.col("query_id"), pl.lit(part))
                    _write_run(few.polars.with_columns(query_id=topic), depth, file)

        def qrels(path: Path) -> None:
            tenfold = {f"{topic}{part}": few.qrels[topic] for part in range(10) for topic in few.qrels}
            Collection(few.topics, few.docs, few.scores, tenfold).write_qrels(path)

        return self.file(f"{name}.qrels", qrels), self.file(f"{name}.run", run), 10 * few.rows

    def plain(self, path: Path) -> Path:
        """Return a file without its compression, because trec_eval reads only plain files."""
        if path.suffix not in _OPENERS:
            return path

        def unpack(to: Path) -> None:
            with _OPENERS[path.suffix](path) as packed, to.open("wb") as file:
                shutil.copyfileobj(packed, file)

        return self.file(f"plain-{path.parent.name}-{path.stem}", unpack)

    def submissions(self, number: int, topics: int = 50) -> tuple[Path, list[Path]]:
        """Return qrels and generated runs that resemble TREC-COVID: 1,400 judged documents per topic.

        Nearly all lines have tabs and scores of 16 digits. In every second run, an eighth of the documents
        have the score of the one before. In every third run, the lines of a topic are in random order. One
        run in ten has aligned columns.
        """
        pool = np.random.default_rng(6)
        of_topic = {str(topic): pool.choice(_DOCS, 3_000, replace=False) for topic in range(1, topics + 1)}
        stem = f"submissions-{number}x{topics}"

        def qrels(path: Path) -> None:
            lines = [f"{t} 0 {doc:08d} {doc % 3}\n" for t, docs in of_topic.items() for doc in docs[:1_400]]
            path.write_text("".join(lines), encoding="utf-8")

        def run(path: Path, at: int) -> None:
            rng, lines = np.random.default_rng((6, at)), []
            for topic, docs in of_topic.items():
                found = rng.choice(docs, 1_000, replace=False).tolist()
                scores = np.sort(rng.random(1_000).astype(np.float32))[::-1] * 30  # as trec_eval keeps them
                if at % 2:
                    scores[1::8] = scores[::8]
                order = range(1_000) if at % 3 else rng.permutation(1_000)
                layout = _TABBED if at % 10 else _ALIGNED
                lines += [layout.format(topic, found[i], i + 1, float(scores[i])) for i in order]
            path.write_text("".join(lines), encoding="utf-8")

        runs = [self.file(f"{stem}-{at}.run", partial(run, at=at)) for at in range(number)]
        return self.file(f"{stem}.qrels", qrels), runs

    def real_runs(self, source: Path) -> list[Path]:
        """Return the run files of a folder, or those made of a file of judged documents (see ``--runs``)."""
        if source.is_dir():
            runs = [path for path in sorted(source.iterdir()) if path.is_file() and path.name[0] != "."]
            return [self.plain(path) for path in runs]
        folder = self.folder / f"runs-{source.name}"
        if not folder.exists():
            part = folder.with_name(f"part-{folder.name}")
            part.mkdir(exist_ok=True)
            for name, lines in _runs_of_judged(source).items():
                (part / name).write_text("".join(lines), encoding="utf-8")
            part.replace(folder)
        return sorted(folder.iterdir())


def score_matrix(topics: int, systems: int) -> np.ndarray:
    """Return scores in [0, 1], topics x systems; topics differ more than systems do."""
    rng = np.random.default_rng(1)
    scores = rng.normal(0.4, 0.25, (topics, 1)) + rng.normal(0, 0.1, (topics, systems))
    return np.clip(scores + rng.normal(0, 0.03, systems), 0, 1)


def _runs_of_judged(source: Path, depth: int = 1_000) -> dict[str, list[str]]:
    """Return the lines of runs made of ``topic TAB run TAB rank:doc ...``, unjudged at other ranks."""
    runs: dict[str, list[str]] = defaultdict(list)
    for topic, run, docs in _lines(source):
        judged = {int(rank): doc for rank, _, doc in (entry.partition(":") for entry in docs.split(" "))}
        runs[run] += [
            f"{topic} Q0 {judged.get(rank, f'u{rank:07d}')} {rank} {(depth - rank) / 8:.4f} {run}\n"
            for rank in range(1, max(depth, *judged) + 1)
        ]
    return runs


def _lines(source: Path) -> Iterator[list[str]]:
    with _OPENERS.get(source.suffix, open)(source, "rt", encoding="utf-8") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if fields[2]:
                yield fields


def _gzip(source: Path, path: Path) -> None:
    with source.open("rb") as plain, gzip.open(path, "wb", compresslevel=6) as packed:
        shutil.copyfileobj(plain, packed)


def _zstandard(source: Path, path: Path) -> None:
    with source.open("rb") as plain, path.open("wb") as packed:
        zstandard.ZstdCompressor().copy_stream(plain, packed)


def quotes(scale: float) -> tuple[dict[str, str], pd.DataFrame]:
    """Texts of 1.44 million characters, and 790 quotes from them with doc_id and start."""
    rng = np.random.default_rng(1)
    letters = np.array([*"abcdefghijklmnopqrstuvwxyz"])
    words = np.array(["".join(rng.choice(letters, size)) for size in rng.integers(2, 10, 3_000)])
    ends = np.array(["", ",", ".", "\n", " \u2014", "\u2019s"])
    texts, rows = {}, []
    for number in range(5):
        size = max(400, round(43_000 * scale))
        end = rng.choice(ends, size, p=[0.85, 0.05, 0.05, 0.02, 0.02, 0.01])
        text = texts[f"text{number}"] = " ".join(np.strings.add(rng.choice(words, size), end))
        for near in rng.integers(0, len(text) - 300, 158):
            start = text.index(" ", near) + 1
            quote = text[start : start + rng.integers(60, 240)].rstrip()
            rows.append((str(len(rows)), f"text{number}", quote, start))
    return texts, pd.DataFrame(rows, columns=["query_id", "doc_id", "quote", "at"])


def passages(topics: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Qrels and a run of passages, which do not overlap in the run."""
    rng = np.random.default_rng(1)
    names = np.array([f"article{number:07d}" for number in range(100_000)])
    query_id = np.repeat([str(2_009_000 + topic) for topic in range(topics)], ARTICLES * PASSAGES)
    articles = np.concatenate([rng.choice(names.size, ARTICLES, replace=False) for _ in range(topics)])
    place = np.tile(np.arange(PASSAGES) * 10_000, articles.size)
    run = pd.DataFrame(
        {
            "query_id": query_id,
            "doc_id": np.repeat(names[articles], PASSAGES),
            "score": np.repeat(np.tile(np.arange(ARTICLES, 0, -1.0), topics), PASSAGES),
            "start": place + rng.integers(0, 8_000, query_id.size),
            "length": rng.integers(1, 2_000, query_id.size),
        }
    )
    judged = run[np.arange(len(run)) % (ARTICLES * PASSAGES) < JUDGED * PASSAGES].drop(columns="score")
    qrels = judged.assign(
        relevance=rng.integers(0, 2, len(judged)), start=rng.integers(0, 50_000, len(judged))
    )
    return qrels, run


def chunks(topics: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return nuggets and a run of chunks: five documents cut every 400 characters, twenty rows a topic."""
    rng = np.random.default_rng(11)
    docs, size, rows = 5, 400, 20
    names = np.array([f"document {number}" for number in range(docs)])
    numbers = np.array([rng.choice(docs * 750, rows, replace=False) for _ in range(topics)]).ravel()
    run = pd.DataFrame(
        {
            "query_id": np.repeat(np.arange(topics).astype(str), rows),
            "doc_id": names[numbers % docs],
            "score": -np.tile(np.arange(rows), topics).astype(float),
            "start": numbers // docs * size,
            "length": size,
            "tokens": rng.integers(60, 120, topics * rows),
        }
    )
    gold = run[np.arange(len(run)) % 10 == 0]
    gold = gold.assign(
        start=gold["start"] + rng.integers(0, size, len(gold)),
        length=rng.integers(40, 250, len(gold)),
        relevance=1,
        iteration=np.arange(len(gold)).astype(str),
    )
    return gold.drop(columns=["score", "tokens"]), run


def assignments(folder: Path, topics: int) -> tuple[list[Path], Path]:
    """Write the assignments of three runs, and the lists of nuggets, as nuggetizer does."""
    rng = np.random.default_rng(5)
    words = np.array(["".join(rng.choice([*"abcdefghij"], size)) for size in rng.integers(3, 10, 2_000)])
    lists = [
        [
            {"text": " ".join(rng.choice(words, 5)), "importance": ("vital", "okay")[number % 2]}
            for number in range(20)
        ]
        for _ in range(topics)
    ]
    labels = np.array(["support", "partial_support", "not_support"])
    files = {folder / f"answers {run}.jsonl": run for run in "abc"}
    for file, run in files.items():
        with file.open("w", encoding="utf-8") as out:
            for topic, listed in enumerate(lists):
                found = zip(listed, rng.choice(labels, len(listed)).tolist(), strict=True)
                nuggets = [{**one, "assignment": label} for one, label in found]
                out.write(json.dumps({"qid": str(topic), "run_id": run, "nuggets": nuggets}) + "\n")
    place = folder / "nuggets.jsonl"
    lines = [json.dumps({"qid": str(topic), "nuggets": listed}) for topic, listed in enumerate(lists)]
    place.write_text("\n".join(lines), encoding="utf-8")
    return [*files], place
