"""Every option of every command changes the output, the exit code or a written file."""

import json
import os
import random
import shlex
import warnings
from functools import cache, partial

import click
import pytest
from answers.answer_cases import nuggets, supported, topic, written
from helpers import run_command

import ir_graded
from ir_graded.cli.main import commands

TOPICS = [f"t{number}" for number in range(12)]
#: Options that `test_run_names.py` and `test_query_ids.py` test for all commands.
ELSEWHERE = {"--names", "--query-ids"}
#: Options whose words here are an error.
REJECTS = {"--beyond"}
#: Commands that hardly warn.
WITHOUT_WARNINGS = {"across", "explain", "statistics", "pool", "trec_eval"}

SPANS = "spans.csv spans.run -m 'Q CharP@2'"
RUNS = "qrels.txt one.run two.run three.run"
TWO = f"{RUNS} -m 'Q AP'"
JUDGED = "qrels.txt others.txt one.run two.run three.run best.run worst.run -m Q -B 40"
SOME = "qrels.txt one.run two.run -m Q"
INTERVALS = "many.txt many.run -m AP --unjudged intervals --depth 5 --n-samples 20"
MATRICES = "--matrix first.csv --matrix second.csv"
#: A run that lacks topics, so that there is a warning.
WARNED = "qrels.txt one.run cut.run -m 'Q AP'"
PRINTED = {"-o": "-o jsonl", "-p": "-p 2"}
COLUMNS = {
    "--intents": ("intents.txt columns.run -m D-nDCG@2", "--intents probabilities.txt"),
    "--nuggets": ("spans.csv spans.run -m NuggetR@2", "--nuggets nuggets.csv"),
    "--groups": ('qrels.txt one.run -m \'Q GFR(groups={"A":"RNOD"})@5\'', "--groups A=groups.txt"),
}
#: Options that go beside all measures, and those of their order.
SCORED = {
    **COLUMNS,
    "--ties": "--ties expected",
    "--ranks": (SPANS, "--ranks rows"),
    "--lengths": ("qrels.txt one.run -m CharP@2", "--lengths lengths.csv"),
    "--beyond": (f"{SPANS} --lengths short.csv", "--beyond raise"),
}
SOURCE = {
    "-m": (RUNS, "-m Q"),
    "--plot": "--plot figures",
    "--matrix": ("", MATRICES),
    "--topic-column": (MATRICES.replace("first", "named").replace("second", "other"), "--topic-column no"),
    "--scores": ("", "--scores saved.json"),
    "--quiet": (WARNED, "--quiet"),
}
TESTED = {
    "--test": "--test t --correction none",
    "--correction": "--correction bh",
    "--alpha": "--alpha .4",
    "--tolerance": "--tolerance .1",
    "--n-resamples": "-B 60",
    "--seed": "--seed 1",
    "--weights": "--weights weights.txt",
    "--slices": "--slices slices.txt",
}


def with_another_run(given):
    """Return arguments of ``compare``: the run is the baseline, and a copy is compared with it."""
    if isinstance(given, str):
        return given
    arguments, words = given
    qrels, run, *others = arguments.split(" ")
    return " ".join([qrels, run, f"copy_{run}", *others]), words


def with_difference(given):
    """Return arguments of ``plan``, which needs a difference."""
    return given if isinstance(given, str) else (f"{given[0]} --difference .3", given[1])


#: Arguments of each command, and words that change its outcome, by option; some with other arguments.
CASES = {
    "evaluate": (
        TWO,
        {
            **SCORED,
            **PRINTED,
            "-m": "-m nDCG@5",
            "--unjudged": ("qrels.txt one.run -m P@3", "--unjudged bounds"),
            "--estimates": ("sampled.txt one.run two.run -m AP", "--estimates"),
            "--depth": (INTERVALS, "--depth 3"),
            "--n-samples": (INTERVALS, "--n-samples 30"),
            "--seed": (INTERVALS, "--seed 1"),
            "--model": (INTERVALS, "--model runs"),
            "--baseline": (f"{TWO} -o markdown", "--baseline three"),
            "--letters": (f"{TWO} -o markdown", "--letters"),
            "--weights": "--weights weights.txt",
            "--save": "--save new.json",
            "--signature": "--signature",
            "-q": "-q",
            "--quiet": (WARNED, "--quiet"),
        },
    ),
    "verify": (
        "saved.json qrels.txt one.run two.run three.run",
        {
            "--ties": "--ties expected",
            "--ranks": ("spans.json spans.csv spans.run", "--ranks rows"),
            "--beyond": ("spans.json spans.csv spans.run --lengths short.csv", "--beyond raise"),
            "--lengths": ("spans.json spans.csv spans.run", "--lengths lengths.csv"),
            "--intents": ("intents.json intents.txt columns.run", "--intents probabilities.txt"),
            "--nuggets": ("spans.json spans.csv spans.run", "--nuggets nuggets.csv"),
            "--groups": ("groups.json qrels.txt one.run", "--groups A=groups.txt"),
            **PRINTED,
            "-p": ("changed.json qrels.txt one.run two.run three.run", "-p 2"),
            "--quiet": ("cut.json qrels.txt one.run cut.run", "--quiet"),
        },
    ),
    "answers": (
        "good.jsonl poor.jsonl fair.jsonl -m all_score",
        {
            "-m": "-m vital_score",
            "--nuggets": "--nuggets nuggets.jsonl",
            "--citations": ("good.jsonl -m all_score", "-m CitationP --citations support.jsonl"),
            "--save": "--save new.json",
            "-q": "-q",
            "--baseline": "--baseline good -B 40",
            **PRINTED,
            "--quiet": ("good.jsonl short.jsonl -m all_score", "--quiet"),
        },
    ),
    "answers with a baseline": (
        "good.jsonl poor.jsonl fair.jsonl -m all_score --baseline good -B 40",
        {
            **TESTED,
            "--seed": (
                "good.jsonl poor.jsonl fair.jsonl -m all_score --baseline fair -B 40 --test bootstrap -o csv",
                "--seed 1",
            ),
            "--fail-if": "--fail-if worse",
            "--min": "--min all_score=.9",
        },
    ),
    "compare": (
        f"{RUNS} -m Q -B 40",
        {
            **TESTED,
            **{option: with_another_run(given) for option, given in SCORED.items()},
            **PRINTED,
            "-o": "-o json",
            "-m": "-m nDCG@5",
            "--fail-if": ("qrels.txt best.run worst.run -m Q", "--fail-if worse"),
            "--min": "--min Q=.9",
            "--quiet": ("qrels.txt one.run cut.run -m RR", "--quiet"),
        },
    ),
    "ranks": (
        TWO,
        {
            **SOURCE,
            **PRINTED,
            "--by": "--by AP",
            "--simultaneous": (f"{TWO} --alpha .7", "--unsimultaneous"),
            "--test": "--test bootstrap",
            "--alpha": "--alpha .9",
            "--n-resamples": "-B 20",
            "--seed": (f"{TWO} -B 20", "--seed 1"),
        },
    ),
    "across": (
        "x=part0.json y=part1.json z=part2.json --baseline one -B 40",
        {
            "--baseline": "--baseline two",
            "--effect": "--effect gz",
            "--method": "--method dl",
            "--alpha": "--alpha .4",
            "--n-resamples": "-B 60",
            "--seed": "--seed 1",
            **PRINTED,
        },
    ),
    "history": (
        "releases",
        {
            "-m": "-m AP",
            "--by": "--by date",
            "--alpha": "--alpha .4",
            "--weights": "--weights weights.txt",
            "--plot": "--plot figure.svg",
            **PRINTED,
            "--quiet": ("noted", "--quiet"),
        },
    ),
    "rbo": (
        "one.run two.run three.run",
        {
            "--p": "--p .5",
            "--ties": "--ties w",
            "--score": "--score min",
            "--plot": "--plot figures",
            **PRINTED,
            "--quiet": ("one.run cut.run three.run", "--quiet"),
        },
    ),
    "explain": (
        "Q qrels.txt one.run t1",
        {
            **PRINTED,
            "--against": "--against two.run",
            "--ties": "--ties expected",
            "--ranks": ("Q spans.csv spans.run t1", "--ranks rows"),
            "--intents": ("D-nDCG@2 intents.txt columns.run t1", "--intents probabilities.txt"),
            "--nuggets": ("NuggetR@2 spans.csv spans.run t1", "--nuggets nuggets.csv"),
            "--groups": ('\'GFR(groups={"A":"RNOD"})@5\' qrels.txt one.run t1', "--groups A=groups.txt"),
        },
    ),
    "meta": (
        f"{TWO} -B 40",
        {
            **SOURCE,
            **PRINTED,
            "--reference": "--reference AP",
            "--one-run-per-team": "--one-run-per-team teams.csv",
            "--top": "--top 2",
            "--by": (f"{RUNS} worst.run -m 'Q AP NumRet' -B 40 --top 2", "--by NumRet"),
            "--drop-identical": (TWO.replace("three", "again"), "--drop-identical"),
            "--alpha": "--alpha .4",
            "--test": "--test t",
            "--fuzziness": "--fuzziness .3",
            "--resample": (f"{RUNS} -m 'RR P@1' -B 40 --max-rate .2", "--resample disjoint"),
            "--max-rate": (f"{RUNS} -m 'RR P@1' -B 40 --max-rate .2", "--max-rate .01"),
            "--n-resamples": "-B 60",
            "--seed": "--seed 1",
        },
    ),
    "significance": (
        f"{TWO} -B 40",
        {
            **SOURCE,
            **PRINTED,
            "--labels-by": "--labels-by AP",
            "--alternative": "--alternative two-sided",
            "--alpha": "--alpha .9",
            "--n-resamples": "-B 60",
            "--seed": "--seed 1",
        },
    ),
    "plan": (
        f"{TWO} --difference .3",
        {
            **{option: with_difference(given) for option, given in SOURCE.items()},
            **PRINTED,
            "--difference": "--difference .4",
            "--test": "--test interval",
            "--model": "--model one-way",
            "--paired": "--unpaired",
            "--n-runs": (f"{TWO} --difference .1 --test anova", "--n-runs 5"),
            "--alpha": "--alpha .2",
            "--power": "--power .5",
            "--alternative": "--alternative greater",
        },
    ),
    "judgments": (
        JUDGED,
        {
            "-m": "-m AP",
            "--lengths": ("spans.csv spans.csv -B 40", "--lengths lengths.csv"),
            "--pairs": "--pairs shared",
            "--measurement": "--measurement nominal",
            "--rel": "--rel 2",
            "--test": (f"{JUDGED} --alpha .02", "--test t"),
            "--alpha": "--alpha .9",
            "--top-k": "--top-k 2",
            "--confidence": "--confidence .5",
            "--n-resamples": "-B 60",
            "--seed": "--seed 1",
            "--plot": "--plot figures",
            **PRINTED,
            "--quiet": ("few.txt others.txt", "--quiet"),
        },
    ),
    "statistics": ("qrels.txt one.run", {"--rel": "--rel 2", **PRINTED}),
    "pool": (
        "one.run two.run --depth 3",
        {
            "--depth": "--depth 2",
            "--seed": "--seed 1",
            "--judged": "--judged qrels.txt",
            "--strata": ("one.run two.run", "--strata 2:1,5:.5"),
            "--csv": "--csv",
            "--jsonl": "--jsonl",
        },
    ),
    "report": (
        f"{SOME} -B 20 --html page.html",
        {
            **{option: (f"{given[0]} -B 20 --html page.html", given[1]) for option, given in COLUMNS.items()},
            "-m": "-m nDCG@5",
            "--baseline": "--baseline one",
            "--confidence": "--confidence .5",
            "--n-resamples": "-B 30",
            "--n-samples": ("qrels.txt one.run -m P@3 -B 20 --html page.html", "--n-samples 5"),
            "--depth": ("qrels.txt one.run -m P@3 -B 20 --n-samples 5 --html page.html", "--depth 2"),
            "--seed": "--seed 1",
            "--test": (f"{SOME} -B 20 --baseline one --html page.html", "--test t"),
            "--correction": (f"{SOME} -B 20 --baseline one --html page.html", "--correction holm"),
            "--weights": "--weights weights.txt",
            "--title": "--title Heading",
            "--queries": "--queries queries.tsv",
            "--documents": "--documents documents.tsv",
            "--figures": "--figures figures",
            "--html": "--html other.html",
            "--quiet": (f"{WARNED} -B 20 --html page.html", "--quiet"),
        },
    ),
    "trec_eval": (
        "qrels.txt one.run cut.run",
        {
            "-m": "-m ndcg",
            "-q": "-q",
            "-n": "-n",
            "-c": "-c",
            "-l": "-l 2",
            "-J": "-J",
            "-M": "-M 2",
            "-N": ("qrels.txt one.run -m utility.1,-1,0,1", "-N 50"),
        },
    ),
    "passages check": (
        "spans.run --task focused",
        {"--task": "--task best-in-context", "--lengths": "--lengths short.csv"},
    ),
}


def trec(rows):
    return "".join(f"{topic} Q0 {doc} 0 {score} tag\n" for topic, doc, score in rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):  # noqa: PLR0915  # one file after the other
    """Write all files; the runs have ties, unjudged documents, and one of them lacks a topic."""
    folder = tmp_path_factory.mktemp("options")
    rng = random.Random(4)  # noqa: S311
    files = {}

    def lines(name, rows, separator=" "):
        files[name] = "".join(separator.join(map(str, row)) + "\n" for row in rows)

    levels = {(topic, doc): rng.choice([0, 0, 1, 2, 3]) for topic in TOPICS for doc in "abcdefgh"}
    lines("qrels.txt", [(topic, 0, doc, level) for (topic, doc), level in levels.items()])
    lines(
        "others.txt", [(t, 0, d, rng.choice([level, 1, 2])) for (t, d), level in levels.items() if d != "h"]
    )
    lines("few.txt", [(t, 0, d, level) for (t, d), level in levels.items() if t in TOPICS[:3]])
    strata = {doc: 1 if doc in "abcd" else 2 for doc in "abcdefgh"}
    lines(
        "sampled.txt", [(t, 0, d, strata[d], -1 if d in "eg" else level) for (t, d), level in levels.items()]
    )
    for name, skill in (("one", 0), ("two", 1), ("three", 2)):
        rows = [
            (topic, doc, rng.randrange(6) + (skill + 1) * levels.get((topic, doc), 0) // 3)
            for topic in TOPICS
            for doc in rng.sample("abcdefghxyz", 7)
        ]
        files[f"{name}.run"] = trec(rows)
    many = {(f"t{at}", doc): rng.choice([0, 1, 2]) for at in range(40) for doc in "abcdefgh"}
    lines("many.txt", [(t, 0, d, level) for (t, d), level in many.items()])
    files["many.run"] = trec((f"t{at}", d, rng.random()) for at in range(40) for d in "abcdefghxyz")
    files["again.run"] = files["one.run"]
    files["cut.run"] = "".join(files["two.run"].splitlines(keepends=True)[7:])
    for name, sign in (("best", 1), ("worst", -1)):
        files[f"{name}.run"] = trec((t, d, sign * level) for (t, d), level in levels.items())
    lines("weights.txt", [(topic, 1 + at) for at, topic in enumerate(TOPICS)])
    lines("slices.txt", [(topic, "odd" if at % 2 else "even") for at, topic in enumerate(TOPICS)])
    lines("groups.txt", [(t, d, at % 2, 1 - at % 2) for t in TOPICS for at, d in enumerate("abcdefgh")])
    lines(
        "lengths.csv",
        [("doc_id", "length"), *((doc, 40 + 9 * at) for at, doc in enumerate("abcdefghxyz"))],
        ",",
    )
    lines("short.csv", [("doc_id", "length"), *((doc, 15) for doc in "abcdefghxyz")], ",")
    lines("teams.csv", [("run", "team"), ("one.run", "A"), ("two.run", "A"), ("three.run", "B")], ",")
    lines("queries.tsv", [(topic, f"query on {topic}") for topic in TOPICS], "\t")
    lines("documents.tsv", [(doc, f"text of {doc}") for doc in "abcdefghxyz"], "\t")
    spans = [(t, d, 1, 10 * at, 12, "xyz"[at]) for t in TOPICS for d in "ab" for at in range(2)]
    spans.append((TOPICS[0], "c", 0, 0, 5, "z"))
    lines("spans.csv", [("query_id", "doc_id", "relevance", "start", "length", "iteration"), *spans], ",")
    rows = [(t, d, 9 - at) for t in TOPICS for at, d in enumerate("baaxb")]
    files["spans.run"] = "".join(f"{t} Q0 {d} 0 {score} tag {5 * (9 - score)} 10\n" for t, d, score in rows)
    nugget_rows = [
        (t, name, word) for t in TOPICS for name, word in zip("xyz", ("okay", "vital", "okay"), strict=True)
    ]
    lines("nuggets.csv", [("query_id", "nugget", "importance"), *nugget_rows], ",")
    lines(
        "intents.txt",
        [
            (t, intent, doc, 1)
            for t in TOPICS
            for intent, doc in (("x", "a"), ("x", "c"), ("y", "b"), ("y", "c"))
        ],
    )
    lines("probabilities.txt", [(t, *row, "inf") for t in TOPICS for row in (("x", 0.9), ("y", 0.1))])
    files["columns.run"] = trec((t, d, 9 - at) for t in TOPICS for at, d in enumerate("bcda"))
    for name, shift in (("first", 0), ("second", 0.3), ("named", 0), ("other", 0.3)):
        rows = [(t, *(round(rng.random() + shift * at, 3) for at in range(3))) for t in TOPICS]
        lines(
            f"{name}.csv",
            [("topic" if name in {"first", "second"} else "no", "one", "two", "three"), *rows],
            ",",
        )
    files |= {f"copy_{name}": files[name] for name in ("one.run", "spans.run", "columns.run")}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    labels = ("support", "partial_support", "not_support")
    for name, low, size in (("good", 0, 12), ("poor", 2, 12), ("fair", 1, 12), ("short", 1, 11)):
        found = [
            {
                "qid": t,
                "run_id": name,
                "nuggets": nuggets(
                    f"a vital {labels[rng.choice([0, low])]}, b okay {labels[rng.choice([low, 2])]}"
                ),
            }
            for t in TOPICS[:size]
        ]
        written(folder / f"{name}.jsonl", found)
    written(folder / "nuggets.jsonl", [topic("a vital, b okay, c okay", t) for t in TOPICS])
    written(folder / "support.jsonl", [supported("a FS | b NS", t, "good") for t in TOPICS])
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.chdir(folder)
        warnings.simplefilter("ignore")
        save_scores(folder)
    return folder


def save_scores(folder):
    """Write the files of scores that commands read."""
    measures, runs = ["Q", "AP"], ["one.run", "two.run", "three.run"]
    saved = json.loads(ir_graded.evaluate(measures, "qrels.txt", runs).to_json())
    names = ["one", "two", "three"]

    def write(name, content):
        (folder / name).write_text(json.dumps(content), encoding="utf-8")

    def shifted(shift, noise):
        rng = random.Random(noise)  # noqa: S311
        values = [
            [[value * (1 - shift * at) + shift * rng.random() for value in run] for at, run in enumerate(one)]
            for one in saved["values"]
        ]
        return {**saved, "runs": names, "values": values}

    write("saved.json", saved)
    write("changed.json", shifted(1e-3, 0) | {"runs": runs})
    write("cut.json", json.loads(ir_graded.evaluate(measures, "qrels.txt", ["one.run", "cut.run"]).to_json()))
    write(
        "spans.json", json.loads(ir_graded.evaluate(["Q", "NuggetR@2"], "spans.csv", "spans.run").to_json())
    )
    groups = ir_graded.with_groups("qrels.txt", {"A": "groups.txt"})
    write(
        "groups.json",
        json.loads(ir_graded.evaluate("GFR(groups={'A':'RNOD'})@5", groups, "one.run").to_json()),
    )
    write("intents.json", json.loads(ir_graded.evaluate("D-nDCG@2", "intents.txt", "columns.run").to_json()))
    for number in range(3):
        write(f"part{number}.json", shifted(0.1 * number, number))
    for name in ("releases", "noted"):
        (folder / name).mkdir()
        for number in range(3):
            write(f"{name}/v{number}.json", shifted(0.1 * number, number))
            os.utime(folder / name / f"v{number}.json", (9 - number, 9 - number))
    (folder / "noted" / "readme.txt").write_text("")


def drawn(_figure, file, **more):
    file.write("<svg></svg>" if more["format"] == "svg" else b"figure")


@pytest.fixture
def outcome(capsys, folder, monkeypatch):
    monkeypatch.chdir(folder)
    # Figures are tested elsewhere, and rendering takes long.
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", drawn)
    # Each option would change the command that a report shows.
    monkeypatch.setattr(shlex, "join", lambda _: "")

    def run(command, text):
        """Return exit code, output and all files that a command writes."""
        before = {*folder.rglob("*")}
        result = run_command(capsys, *command.split(" with ")[0].split(), *shlex.split(text))
        new = sorted({*folder.rglob("*")} - before, reverse=True)
        written = {path.name: path.read_bytes() for path in new if path.is_file()}
        for path in new:
            path.unlink() if path.is_file() else path.rmdir()
        return *result, written

    return run


def test_every_option_is_tested_here():
    for name, command in commands.commands.items():
        for part, one in getattr(command, "commands", {"": command}).items():
            path = f"{name} {part}".rstrip()
            tested = {option for key in CASES if key.split(" with ")[0] == path for option in CASES[key][1]}
            options = {
                param.opts[0] if param.opts[0] != "-B" else "--n-resamples"
                for param in one.params
                if isinstance(param, click.Option)
            }
            assert options - ELSEWHERE - tested <= ({"--quiet"} if path in WITHOUT_WARNINGS else set()), path


def check(outcome, command):
    usual, options = CASES[command]
    usual_outcome = cache(partial(outcome, command))
    assert usual_outcome(usual)[0] in {0, 1, 3}, usual_outcome(usual)[2]
    for option, given in options.items():
        base, words = (usual, given) if isinstance(given, str) else given
        before = usual_outcome(base)
        after = outcome(command, f"{base} {words}")
        assert before != after, (option, after[:3])
        assert (after[0] in {0, 1, 3}) == (option not in REJECTS), (option, after[2])
        assert "Traceback" not in after[2]


# Two tests, because a mutant meets only some cases of a test that has many.
@pytest.mark.slow
@pytest.mark.parametrize("command", [*CASES][:12])
def test_every_option_changes_the_outcome(outcome, command):
    check(outcome, command)


@pytest.mark.slow
@pytest.mark.parametrize("command", [*CASES][12:])
def test_every_option_of_further_commands_changes_the_outcome(outcome, command):
    check(outcome, command)
