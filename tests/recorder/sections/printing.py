"""Output for people: the command line, reports and pictures."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ir_graded
from ir_graded import meta, passages

from .. import forms
from ..recorder import Recorder, section
from .scores import sample, sample_runs

_MEASURES = ["Q", "P-measure@10", "NCU(stop='rb',gamma=0.7)", "nERR@10", "nDCG@10", "AP", "NumRet"]
_FORMATS = ("table", "tsv", "jsonl", "csv", "latex", "markdown")
_PICTURE = re.compile(r"data:image/svg\+xml;base64,[A-Za-z0-9+/=]+")
#: Versions of the package and of libraries, as named in a report.
_VERSIONS = re.compile(r"(?:ir_graded|Python|ir-measures|numpy|pandas|polars|matplotlib) [0-9][^,\s<\"]*")


# ------------------------------------------------------------------------------------- command line


@section("command line", "standard output of each command in each format")
def _command_line(out: Recorder) -> None:
    _write_files(out)
    qrels, runs = "qrels.txt", ["ü.txt", "c.zst", "b.gz", "d.xz"]
    evaluate = ["evaluate", qrels, *runs, "-m", " ".join(_MEASURES)]
    explain = ["explain", "NCU(stop='rb')@20", qrels, "ü.txt", "1"]
    statistics = ["meta", qrels, *runs, "-m", "Q P-measure nDCG@10 AP", "-B", "100"]
    for name in _FORMATS:
        _called(out, *evaluate, "-o", name)
        _called(out, *evaluate, "--by-topic", "-o", name, "-p", "-1")
        _called(out, *explain, "-o", name)
        _called(out, *statistics, "-o", name)
    _called(out, "evaluate", qrels, "runs", "-m", "Q", "-m", "map P_10", "-p", "0")
    _called(out, "explain", "AP", qrels, "b.gz", "3", "-o", "csv", "-p", "-1")
    _called(out, *statistics, "--reference", "AP", "--test", "randomisation", "--alpha", "0.4", "--seed", "7")
    _called(out, *statistics, "--one-run-per-team", "teams.csv", "-o", "csv", "-p", "-1")
    matrices = ["--matrix", "one.csv", "--matrix", "two.csv.xz"]
    _called(out, "meta", *matrices, "-B", "100", "-o", "csv", "-p", "-1")
    _called(out, "report", qrels, *runs, "-m", "Q AP", "--baseline", "b", "--html", "page.html")
    _page(out, "report", "command line", (out.folder / "page.html").read_text(encoding="utf-8"))
    _called(out, "demo")
    helps = ([one, "--help"] for one in ("evaluate", "explain", "meta", "report"))
    for words in ([], ["measures"], ["--help"], *helps):
        _called(out, *words, loose=True)
    for words in (
        ["evaluate", qrels, "ü.txt", "-m", "P-mesure"],
        ["evaluate", qrels, "missing.txt", "-m", "Q"],
        ["evaluate", "wrong.txt", "ü.txt", "-m", "Q"],
        ["explain", "Q", qrels, "ü.txt", "999"],
        ["meta", "--matrix", "wrong.txt"],
        ["report", qrels, "ü.txt", "-m", "Q", "--html", "no/such/folder.html"],
        ["nothing"],
    ):
        _called(out, *words)


def _write_files(out: Recorder) -> None:
    """Write files for the commands: twelve topics of the sample, four runs, teams, matrices, a wrong file."""
    topics = list(map(str, range(1, 13)))
    qrels, runs = sample().qrels, sample_runs(4)
    (out.folder / "runs").mkdir()
    made = forms.FILES["file"]("qrels", qrels[qrels["query_id"].isin(topics)], out.folder)
    made.rename(out.folder / "qrels.txt")
    names = {"ü.txt": "file", "b.gz": "gzip", "c.zst": "zstandard", "d.xz": "xz"}
    for (name, form), run in zip(names.items(), runs.values(), strict=True):
        some = run[run["query_id"].isin(topics)]
        forms.FILES[form]("run", some, out.folder).rename(out.folder / name)
        forms.FILES[form]("run", some, out.folder).rename(out.folder / "runs" / name)
    (out.folder / "teams.csv").write_text("run,team\nü.txt, one\nb,one\nc, one \nd,two\n", encoding="utf-8")
    (out.folder / "wrong.txt").write_text("1 0 d1 1\n1 0 d2\n")
    matrix = pd.DataFrame({"topic": ["t1", "t2", "t3"], "x": [0.1, 0.5, 0.25], "y": [0.2, 0.4, 0.75]})
    matrix.to_csv(out.folder / "one.csv", index=False)
    matrix.assign(x=matrix["x"] / 2).to_csv(out.folder / "two.csv.xz", index=False)


def _called(out: Recorder, *words: str, loose: bool = False) -> None:
    """Record the output of a command and its exit code; its standard error may change."""
    # The imported package, which may differ from the installed one.
    variables = {**os.environ, "PYTHONPATH": str(Path(ir_graded.__file__).parents[1]), "COLUMNS": "120"}
    done = subprocess.run(  # noqa: S603  (the arguments are literals of this file)
        [sys.executable, "-W", "ignore", "-m", "ir_graded", *words],
        cwd=out.folder,
        env=variables,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    where = " ".join(words)
    (out.message if loose else out.text)("standard output", where, done.stdout)
    out.message("standard error", where, done.stderr)
    out.values("exit code", where, np.array([done.returncode]))


# ------------------------------------------------------------------------------------------ reports


@section("report", "reports on the sample: pages without versions, pictures as digests")
def _report(out: Recorder) -> None:
    runs = sample_runs(5)
    first, second = [*runs][:2]
    _reported(out, "without a baseline", ["Q", "AP"], runs)
    _reported(out, "with a baseline", _MEASURES, runs, baseline=second, rng=3, confidence=0.9)
    _reported(out, "the best run as baseline", ["Q", "AP"], runs, baseline=first)
    _reported(out, "one run", "P+@10", {first: runs[first]})


def _reported(out: Recorder, where: str, measures: Any, runs: Any, **options: Any) -> None:
    path = out.folder / "page.html"
    ir_graded.report(measures, sample().qrels, runs, path, **options)
    _page(out, "report", where, path.read_text(encoding="utf-8"))


def _page(out: Recorder, what: str, where: str, page: str) -> None:
    """Record a page: images separately, without style, script and versions."""
    pictures = [_digest(picture) for picture in _PICTURE.findall(page)]
    page = _PICTURE.sub("PICTURE", page)
    page = re.sub(r"<style>.*?</style>|<script>.*?</script>|sha256-[^']*", "", page, flags=re.DOTALL)
    out.text(what, where, _VERSIONS.sub("VERSION", page))
    out.values(f"{what}, pictures", where, pictures)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


# ----------------------------------------------------------------------------------------- pictures


@section("plots", "pictures of results, as digests of their SVG")
def _plots(out: Recorder) -> None:
    runs = sample_runs(5)
    scores = ir_graded.evaluate(["Q", "P-measure", "AP", "RR"], sample().qrels, runs)
    first, second = [*runs][:2]
    matrix = scores.matrix("Q")
    options: dict[str, Any] = {"n_resamples": 100, "rng": 0}
    intervals = meta.confidence_intervals(scores, **options)
    comparison = meta.compare_measures(scores, **options)
    pictures: dict[str, Callable[[], Any]] = {
        "intervals": intervals.plot,
        "intervals of AP": lambda: intervals.plot("AP"),
        "differences": lambda: import_module("ir_graded.plots").differences(scores, "Q", first, second),
        "leaderboard": lambda: import_module("ir_graded.plots").leaderboard(intervals, "RR"),
        "unjudged": ir_graded.unjudged(sample().qrels, runs).plot,
        "comparison": comparison.plot,
        "power": meta.discriminative_power(matrix, **options).plot,
        "significance": meta.significance(matrix, **options).plot,
        "stability": meta.stability(matrix, **options).plot,
        "swap": meta.swap(matrix, **options).plot,
        "correlations": meta.rank_correlations(scores, "AP").plot,
    }
    for measure in ("P+@10", "nDCG@10", "NCU(stop='rb')"):
        found = ir_graded.explain(measure, sample().qrels, runs[first], "1")
        pictures[f"profile of {measure}"] = found.plot
    strip = passages.Strip("1", "a", 3, ((0, 30),), ((20, 60),), ((20, 30),), 60, P=0.25, R=1 / 3, F=2 / 7)
    pictures["strip"] = strip.plot
    for name, draw in pictures.items():
        with out.errors("picture", name):
            out.values("picture", name, [_digest(_svg(draw()))])


def _svg(figure: Any) -> str:
    import matplotlib as mpl

    text = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "recorder", "svg.fonttype": "path"}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()
