"""The data of the benchmarks: the same on every machine, files kept in a folder."""

from __future__ import annotations

import gzip
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

_DOCS = 8_841_823  # MS MARCO has so many passages
_FIRST_DOC = 1_000_000
_FIRST_TOPIC, _LAST_TOPIC = 100_000, 1_185_869
_OPENERS = {".gz": gzip.open, ".xz": lzma.open}
_TABBED, _ALIGNED = "{}\tQ0\t{:08d}\t{}\t{!r}\trun\n", "{:<5} Q0 {:08d} {:>4} {!r:>20} run\n"
# The dtype of text in Arrow's memory: pandas' own from 3 on.
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
        """Between ``judged[0]`` and ``judged[1]`` judged documents a topic, ``relevant`` of levels 1 to 3."""
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
        """Topics and documents, for titles."""
        topics, depth = self.docs.shape
        return f"{topics:,} topics x {depth:,} documents"

    def by_intent(self, intents: int) -> list[ir_measures.Qrel]:
        """The qrels for several intents; a document is relevant to every one up to its level."""
        return [
            ir_measures.Qrel(topic, doc, level if intent <= level else 0, str(intent))
            for topic, docs in self.qrels.items()
            for doc, level in docs.items()
            for intent in range(1, intents + 1)
        ]

    @property
    def rows(self) -> int:
        """Number of lines of the run's file."""
        return self.docs.size

    def dicts(self) -> Dicts:
        """The run as readers of files build it: topic by topic, in ranked order."""
        return {
            str(topic): dict(zip(map(str, docs.tolist()), scores.tolist(), strict=True))
            for topic, docs, scores in zip(self.topics, self.docs, self.scores, strict=True)
        }

    def tied(self, ties: float) -> Collection:
        """The collection with a share of the documents of each topic in groups of ten with one score."""
        rng = np.random.default_rng(4)
        scores = self.scores.copy()
        for of_topic in scores.reshape(len(scores), -1, 10):
            tied = rng.choice(len(of_topic), round(ties * len(of_topic)), replace=False)
            of_topic[tied] = of_topic[tied, :1]
        return replace(self, scores=scores)

    def shuffled(self, ties: float) -> tuple[Qrels, Dicts]:
        """Qrels and run with documents in random order, a share of them in groups of ten with one score.

        All texts and scores are objects of their own, made in that order, as programs make them that collect
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
        """The run as a Polars frame."""
        numbers = pl.DataFrame(
            {
                "query_id": np.repeat(self.topics, self.docs.shape[1]),
                "doc_id": self.docs.ravel(),
                "score": self.scores.ravel(),
            }
        )
        return numbers.cast({"query_id": pl.String, "doc_id": pl.String})

    def pandas(self) -> pd.DataFrame:
        """The run as a DataFrame with Arrow strings."""
        return self.polars.to_pandas().astype({"query_id": ARROW, "doc_id": ARROW})

    def qrels_frame(self) -> pd.DataFrame:
        """The qrels as a DataFrame."""
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
    """Files in a folder, each made once.

    Args:
        folder: where they are kept.
        scale: what the numbers of topics are multiplied with.
    """

    def __init__(self, folder: Path, scale: float) -> None:
        self.folder = folder
        self.scale = scale
        folder.mkdir(parents=True, exist_ok=True)

    def file(self, name: str, make: Callable[[Path], None]) -> Path:
        """The file of that name, made if it is not there."""
        path = self.folder / name
        if not path.exists():
            part = path.with_name(f"part-{name}")
            make(part)
            part.replace(path)
        return path

    def topics(self, number: int) -> int:
        """So many topics, scaled."""
        return max(2, round(number * self.scale))

    @cached_property
    def few(self) -> Collection:
        """MS MARCO-like: one or two judged documents a topic, one of them relevant."""
        return Collection.of(self.topics(6_980), 1_000, (1, 2), 1, seed=1)

    @cached_property
    def some(self) -> Collection:
        """As many topics with 20 judged documents each, ten of them relevant."""
        return Collection.of(self.topics(6_980), 1_000, (20, 20), 10, seed=7)

    @cached_property
    def many(self) -> Collection:
        """Robust-like: 1,200 judged documents a topic."""
        return Collection.of(self.topics(249), 1_000, (1_200, 1_200), 70, seed=2)

    def files(self, name: str, collection: Collection) -> tuple[Path, Path]:
        """Qrels and run of a collection as files; the name must tell all its parameters but the sizes."""
        topics, depth = collection.docs.shape
        stem = f"{name}-{topics}x{depth}"
        qrels = self.file(f"{stem}.qrels", collection.write_qrels)
        return qrels, self.file(f"{stem}.run", collection.write)

    def forms(self) -> dict[str, Path]:
        """The MS MARCO-like run in other spacings and compressions."""
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
        """Qrels and run of 70 million lines, in parts: ten times the MS MARCO-like topics; and the lines."""
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
        """A file without its compression: trec_eval reads no other."""
        if path.suffix not in _OPENERS:
            return path

        def unpack(to: Path) -> None:
            with _OPENERS[path.suffix](path) as packed, to.open("wb") as file:
                shutil.copyfileobj(packed, file)

        return self.file(f"plain-{path.parent.name}-{path.stem}", unpack)

    def submissions(self, number: int, topics: int = 50) -> tuple[Path, list[Path]]:
        """Qrels and made-up runs with the properties of TREC-COVID's: 1,400 judged documents a topic.

        Nearly all lines have tabs and scores of 16 digits. In every second run an eighth of the documents
        have the score of the one before, in every third the lines of a topic are in random order, and one in
        ten has aligned columns.
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
                scores = np.sort(rng.random(1_000))[::-1] * 30
                if at % 2:
                    scores[1::8] = scores[::8]
                order = range(1_000) if at % 3 else rng.permutation(1_000)
                layout = _TABBED if at % 10 else _ALIGNED
                lines += [layout.format(topic, found[i], i + 1, float(scores[i])) for i in order]
            path.write_text("".join(lines), encoding="utf-8")

        runs = [self.file(f"{stem}-{at}.run", partial(run, at=at)) for at in range(number)]
        return self.file(f"{stem}.qrels", qrels), runs

    def real_runs(self, source: Path) -> list[Path]:
        """The run files of a folder; or those made of a file of judged documents (see ``--runs``)."""
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
    """Scores in [0, 1], topics x systems: topics differ more than systems do."""
    rng = np.random.default_rng(1)
    scores = rng.normal(0.4, 0.25, (topics, 1)) + rng.normal(0, 0.1, (topics, systems))
    return np.clip(scores + rng.normal(0, 0.03, systems), 0, 1)


def _runs_of_judged(source: Path, depth: int = 1_000) -> dict[str, list[str]]:
    """Lines of runs from ``topic TAB run TAB rank:doc rank:doc ...``; unjudged documents at other ranks."""
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
