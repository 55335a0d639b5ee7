"""Valid arguments of all commands, words that change their outcome for each option, and the files they name.

It imports the package and no test library, so that the examples also run in a plain installation.
"""

import json
import os
import random
import re
import warnings
from itertools import product

import click

import ir_graded
from ir_graded.cli.main import commands

#: Usual arguments of each command, of parts in braces.
ARGUMENTS = {
    "evaluate": "{source}",
    "verify": "{saved} {qrels} {runs}",
    "answers": "{answers} {against}",
    "compare": "{source} -B 40",
    "ranks": "{source}",
    "across": "x=part0.json y=part1.json z=part2.json --baseline one -B 40",
    "history": "{releases}",
    "rbo": "{runs}",
    "explain": "{measure} {qrels} {run} t1",
    "meta": "{source} -B 40",
    "significance": "{source} -B 40",
    "plan": "{source} --difference .3",
    "judgments": "{qrels} {others} {on_runs} -B 40",
    "statistics": "{qrels} {run}",
    "pool": "{runs} {depth}",
    "measures": "Q",
    "passages check": "spans.run --task focused",
    "demo": "",
    "report": "{source} --html page.html",
    "trec_eval": "{qrels} one.run cut.run",
}
_PARTS = {
    "qrels": "qrels.txt",
    "runs": "one.run two.run three.run",
    "measures": "'Q AP'",
    "source": "{qrels} {runs} -m {measures}",
    "saved": "saved.json",
    "answers": "good.jsonl poor.jsonl fair.jsonl -m all_score",
    "against": "--baseline good -B 40",
    "releases": "releases",
    "others": "others.txt",
    "on_runs": "{runs} best.run worst.run -m Q",
    "depth": "--depth 3",
    "more": "",
}


def _values(text, **parts):
    """Return values by option; ``parts`` of the usual arguments are others for these options."""
    return {flag: (parts, value) for flag, _, value in (one.partition(" ") for one in text.split(" | "))}


_SPANS = {"qrels": "spans.csv", "runs": "spans.run other_spans.run", "saved": "spans.json"}
_INTENTS = {"qrels": "intents.txt", "runs": "columns.run other_columns.run", "saved": "intents.json"}
_GROUPS = '\'GFR(groups={"A":"RNOD"})@5\''
#: Values of options that change the outcome of the usual arguments, or of those with other parts.
_VALUES = {
    **_values(
        "-m nDCG@5 | -o jsonl | -p 2 | -q | --alpha .4 | --n-resamples 60 | --seed 1 | --test t | --rel 2"
    ),
    **_values("--correction bh | --tolerance .1 | --weights weights.txt | --slices slices.txt | --min Q=.9"),
    **_values("--save new.json | --plot figures | --confidence .5 | --fail-if worse | --ties expected"),
    **_values("--clusters clusters.txt"),
    **_values("--wide", measures="'Q AP RR nERR@2 nERR@3 P@1 P@2 P@3 nDCG@1 nDCG@2 nDCG@3'"),
    **_values(
        "--unseen ignore",
        runs="best.run worst.run",
        measures="R@20",
        more="--fail-if inconclusive --tolerance .01",
    ),
    **_values("--quiet", runs="one.run cut.run"),
    **_values("--matrix first.csv --matrix second.csv | --scores saved.json", source=""),
    **_values("--topic-column no", source="--matrix named.csv --matrix other.csv"),
    **_values("--intents probabilities.txt", **_INTENTS, measures="D-nDCG@2"),
    **_values("--nuggets nuggets.csv", **_SPANS, measures="NuggetR@2"),
    **_values("--groups A=groups.txt", measures=_GROUPS, saved="groups.json"),
    **_values("--ranks rows", **_SPANS, measures="Q"),
    **_values("--lengths lengths.csv", measures="CharP@2"),
    **_values("--duplicates first", runs="one.run twice.run"),
    **_values("--ignore-identical-ids", runs="one.run own.run"),
    **_values("--without-relevant 'leave out'", qrels="without.txt"),
    **_values("--beyond raise", **_SPANS, measures="Q", more="--lengths short.csv"),
}
_INTERVALS = "many.txt many.run -m AP --unjudged intervals --depth 5 --n-samples 20"
#: Values that differ for a command, and those of its own options.
_OF_COMMAND = {
    "measures": _values("--bibtex"),
    "evaluate": {
        **_values("--unjudged bounds", runs="one.run", measures="P@3"),
        **_values("--estimates", qrels="sampled.txt", measures="AP"),
        **_values("--depth 3 | --n-samples 30 | --seed 1 | --model runs", source=_INTERVALS),
        **_values(
            "--looks 9",
            source="{qrels} one.run best.run -m AP --unjudged differences --depth 5 --n-samples 20",
        ),
        **_values("--baseline three | --letters", more="-o markdown"),
        **_values("--clusters clusters.txt", more="-o markdown --letters"),
        **_values("--signature"),
    },
    "verify": {
        **_values("-p 2", saved="changed.json"),
        **_values("--lengths lengths.csv", **_SPANS),
        **_values("--quiet", saved="cut.json", runs="one.run cut.run"),
    },
    "answers": {
        **_values(
            "-m vital_score | --nuggets nuggets.jsonl | --min all_score=.9 | --test t --correction none"
        ),
        **_values("-q | -o jsonl | -p 2 | --baseline good -B 40", against=""),
        **_values("--citations support.jsonl -m CitationP", answers="good.jsonl -m all_score", against=""),
        **_values("--seed 1", against="--baseline fair -B 40 --test bootstrap -o csv"),
        **_values("--quiet", answers="good.jsonl short.jsonl -m all_score", against=""),
        **_values(
            "--unseen ignore",
            answers="a=good.jsonl b=good.jsonl -m all_score",
            against="--baseline a",
            more="--fail-if inconclusive --tolerance .01",
        ),
    },
    "compare": {
        **_values("-o json | --test t --correction none"),
        **_values("--fail-if worse", runs="best.run worst.run", measures="Q"),
        **_values("--quiet", runs="one.run cut.run", measures="RR"),
    },
    "ranks": {
        **_values("--by AP | --test bootstrap | --alpha .9 | --n-resamples 20"),
        **_values("-m Q", source="{qrels} {runs}"),
        **_values("--simultaneous off", more="--alpha .5"),
        **_values("--seed 1", more="-B 20"),
    },
    "across": _values("--baseline two | --effect gz | --method dl | --clusters x=clusters.txt"),
    "history": {**_values("-m AP | --by date | --plot figure.svg"), **_values("--quiet", releases="noted")},
    "rbo": {
        **_values("--p .5 | --ties w | --score min"),
        **_values("--quiet", runs="one.run cut.run three.run"),
        **_values("--wide", runs=f"{'one' * 9}=one.run two=two.run {'three' * 5}=three.run"),
    },
    "explain": _values("--against two.run"),
    "meta": {
        **_values("--reference P@3", measures="'Q P@3'"),
        **_values("--one-run-per-team teams.csv | --top 2 | --fuzziness .3"),
        **_values(
            "--by NumRet",
            runs="one.run two.run three.run worst.run",
            measures="'Q AP NumRet'",
            more="--top 2",
        ),
        **_values("--drop-identical", runs="one.run two.run again.run"),
        **_values("--resample disjoint | --max-rate .01", measures="'RR P@1'", more="--max-rate .2"),
    },
    "significance": {
        **_values("--labels-by AP | --alternative two-sided | --alpha .9"),
        **_values("--wide", runs=f"{'one' * 9}=one.run two=two.run {'three' * 5}=three.run"),
        **_values("-m Q", source="{qrels} {runs}"),
    },
    "plan": {
        **_values(
            "--difference .4 | --test interval | --model one-way | --paired off | --alpha .2 | --power .5"
        ),
        **_values("--alternative greater"),
        **_values("--n-runs 5", more="--difference .1 --test anova"),
    },
    "judgments": {
        **_values("-m AP | --pairs shared | --measurement nominal | --alpha .9 | --top-k 2"),
        **_values("--lengths lengths.csv", qrels="spans.csv", others="spans.csv", on_runs=""),
        **_values("--test t", more="--alpha .1"),
        **_values("--quiet", qrels="few.txt", on_runs=""),
        **_values("--wide", qrels="fine.txt", others="fine.txt", on_runs=""),
    },
    "pool": {
        **_values("--depth 2 | --judged qrels.txt | --csv | --jsonl"),
        **_values("--strata 2:1,5:.5 | --limit 30", depth=""),
        **_values("--weights weights.txt", depth="--limit 40"),
    },
    "report": {
        **_values("--baseline one | --title Heading | --queries queries.tsv"),
        **_values("--documents documents.tsv | --figures figures | --html other.html"),
        **_values("--n-samples 5", runs="one.run", measures="P@3"),
        **_values("--depth 2", runs="one.run", measures="P@3", more="--n-samples 5"),
        **_values("--test t | --correction holm", more="--baseline one"),
    },
    "trec_eval": {
        **_values("-m ndcg | -n | -c | -l 2 | -J | -M 2"),
        **_values("-N 50", more="-m utility.1,-1,0,1"),
    },
    "passages check": _values("--task best-in-context | --lengths short.csv"),
}
#: Commands that hardly warn, so that --quiet has no effect.
_WITHOUT_WARNINGS = {"across", "explain", "statistics", "pool", "trec_eval"}


def command_of(name):
    """Return the command of click; that of a group has its name after the group."""
    group, _, member = name.partition(" ")
    return commands.commands[group].commands[member] if member else commands.commands[group]


def arguments(name, **parts):
    """Return the usual arguments of a command, of which some parts may be others."""
    parts = {**_PARTS, "measure": parts.get("measures", "Q"), **parts}
    text = f"{ARGUMENTS[name]} {parts['more']}"
    parts["run"] = parts["runs"].partition(" ")[0]
    while found := re.search(r"{(\w+)}", text):
        text = text.replace(found[0], parts[found[1]])
    return text.strip()


def options(name):
    """Yield each option of a command, with arguments and words that change their outcome."""
    quiet = {"quiet"} if name in _WITHOUT_WARNINGS else set()
    for option in command_of(name).params:
        if isinstance(option, click.Option) and option.name not in {"names", "query_ids"} | quiet:
            flag = next(one for one in option.opts if one != "-B")
            parts, value = {**_VALUES, **_OF_COMMAND.get(name, {})}[flag]
            words = option.secondary_opts[0] if value == "off" else f"{flag} {value}"
            yield flag, arguments(name, **parts), words


# ----------------------------------------------------------------------------------------------- files

TOPICS = [f"t{number}" for number in range(12)]


def _lines(rows, separator=" ", head=None):
    rows = [*([head.split(",")] if head else []), *rows]
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def _csv(head, rows):
    return _lines(rows, ",", head)


def _run(name, rows):
    return _lines((topic, "Q0", doc, 0, score, f"tag_{name}") for topic, doc, score in rows)


def _json_lines(objects):
    return "".join(json.dumps(one) + "\n" for one in objects)


def _texts():  # noqa: PLR0915  # one file after the other
    """Yield the names and texts of files; the runs have ties, unjudged documents, and one lacks a topic."""
    rng = random.Random(4)  # noqa: S311
    levels = {(topic, doc): rng.choice([0, 0, 1, 2, 3]) for topic in TOPICS for doc in "abcdefgh"}
    judged = [(topic, doc, level) for (topic, doc), level in levels.items()]
    yield "qrels.txt", _lines((t, 0, d, level) for t, d, level in judged)
    yield "others.txt", _lines((t, 0, d, rng.choice([level, 1, 2])) for t, d, level in judged if d != "h")
    yield "fine.txt", _lines((t, 0, d, at % 20) for at, (t, d, _) in enumerate(judged))
    yield "without.txt", _lines((t, 0, d, level * (t != TOPICS[0])) for t, d, level in judged)
    yield "few.txt", _lines((t, 0, d, level) for t, d, level in judged[:24])
    sampled = ((t, 0, d, 1 + (d > "d"), -1 if d in "eg" else level) for t, d, level in judged)
    yield "sampled.txt", _lines(sampled)
    for name, skill in (("one", 1), ("two", 2), ("three", 3)):
        ranked = [
            (t, d, skill * levels.get((t, d), 0) // 3) for t in TOPICS for d in rng.sample("abcdefghxyz", 7)
        ]
        ranked = [(topic, doc, score + rng.randrange(6)) for topic, doc, score in ranked]
        yield f"{name}.run", _run(name, ranked)
        others = {"one": {"again": ranked}, "two": {"cut": ranked[7:], "twice": [*ranked, ranked[0]]}}
        others["three"] = {"own": [*ranked, *((topic, topic, 9) for topic in TOPICS)]}
        yield from ((f"{file}.run", _run(name, rows)) for file, rows in others.get(name, {}).items())
    many = [f"t{at}" for at in range(40)]
    yield "many.txt", _lines((t, 0, d, rng.choice([0, 1, 2])) for t in many for d in "abcdefgh")
    yield "many.run", _run("many", ((t, d, rng.random()) for t in many for d in "abcdefghxyz"))
    for name, sign in (("best", 1), ("worst", -1)):
        yield f"{name}.run", _run(name, ((t, d, sign * level) for t, d, level in judged))
    of_topics = {"weights": lambda at: 1 + at, "clusters": lambda at: at // 2}
    of_topics["slices"] = lambda at: ("even", "odd")[at % 2]
    for name, of in of_topics.items():
        yield f"{name}.txt", _lines((topic, of(at)) for at, topic in enumerate(TOPICS))
    yield "groups.txt", _lines((t, d, at % 2, 1 - at % 2) for t in TOPICS for at, d in enumerate("abcdefgh"))
    yield "lengths.csv", _csv("doc_id,length", ((doc, 40 + 9 * at) for at, doc in enumerate("abcdefghxyz")))
    yield "short.csv", _csv("doc_id,length", ((doc, 15) for doc in "abcdefghxyz"))
    yield "teams.csv", _csv("run,team", zip(("one.run", "two.run", "three.run"), "AAB", strict=True))
    yield "queries.tsv", _lines(((topic, f"query on {topic}") for topic in TOPICS), "\t")
    yield "documents.tsv", _lines(((doc, f"text of {doc}") for doc in "abcdefghxyz"), "\t")
    spans = [(t, d, 1, 10 * at, 12, "xyz"[at]) for t in TOPICS for d in "ab" for at in range(2)]
    head = "query_id,doc_id,relevance,start,length,iteration"
    yield "spans.csv", _csv(head, [*spans, (TOPICS[0], "c", 0, 0, 5, "z")])
    for name, docs, order in (("", "baaxb", "bcda"), ("other_", "xaabb", "adbc")):
        rows = [(t, "Q0", d, 0, 9 - at, "tag_spans", 5 * at, 10) for t in TOPICS for at, d in enumerate(docs)]
        yield f"{name}spans.run", _lines(rows)
        yield (
            f"{name}columns.run",
            _run("columns", ((t, d, -at) for t in TOPICS for at, d in enumerate(order))),
        )
    weighted = product(TOPICS, (("x", "okay"), ("y", "vital"), ("z", "okay")))
    yield "nuggets.csv", _csv("query_id,nugget,importance", ((t, *row) for t, row in weighted))
    yield "intents.txt", _lines((t, *pair, 1) for t in TOPICS for pair in ("xa", "xc", "yb", "yc"))
    yield "probabilities.txt", _lines((t, *row, "inf") for t in TOPICS for row in (("x", 0.9), ("y", 0.1)))
    for name, shift in (("first", 0), ("second", 0.3), ("named", 0), ("other", 0.3)):
        rows = [(t, *(round(rng.random() + shift * at, 3) for at in range(3))) for t in TOPICS]
        yield f"{name}.csv", _csv(f"{'no' if name in {'named', 'other'} else 'topic'},one,two,three", rows)
    labels = ("support", "partial_support", "not_support")
    for name, low, size in (("good", 0, 12), ("poor", 2, 12), ("fair", 1, 12), ("short", 1, 11)):
        answers = []
        for topic in TOPICS[:size]:
            drawn = zip("ab", ("vital", "okay"), (rng.choice([0, low]), rng.choice([low, 2])), strict=True)
            nuggets = [{"text": a, "importance": word, "assignment": labels[at]} for a, word, at in drawn]
            answers.append({"qid": topic, "run_id": name, "nuggets": nuggets})
        yield f"{name}.jsonl", _json_lines(answers)
    nuggets = [{"text": one, "importance": "okay" if one > "a" else "vital"} for one in "abc"]
    yield "nuggets.jsonl", _json_lines({"qid": t, "nuggets": nuggets} for t in TOPICS)
    cited = [
        {"answer": "?", "citations": [one[0]], "eval_scores": [one[1:]], "count": 1} for one in ("aFS", "bNS")
    ]
    yield (
        "support.jsonl",
        _json_lines({"topic_id": t, "run_id": "good", "support_eval": cited} for t in TOPICS),
    )


def write_files(folder):
    """Write all files that the arguments name."""
    for name, text in _texts():
        (folder / name).write_text(text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _save_scores(folder)


def _save_scores(folder):
    def write(name, measures, qrels, runs):
        scores = ir_graded.evaluate(measures, qrels, [folder / f"{run}.run" for run in runs.split()])
        (folder / f"{name}.json").write_text(scores.to_json(), encoding="utf-8")
        return json.loads(scores.to_json())

    saved = write("saved", "Q AP", folder / "qrels.txt", "one two three")
    write("cut", "Q AP", folder / "qrels.txt", "one cut")
    write("spans", "Q NuggetR@2", folder / "spans.csv", "spans other_spans")
    write("intents", "D-nDCG@2", folder / "intents.txt", "columns other_columns")
    groups = ir_graded.with_groups(folder / "qrels.txt", {"A": folder / "groups.txt"})
    write("groups", "GFR(groups={'A':'RNOD'})@5", groups, "one two three")

    def write_shifted(name, shift, noise, **more):
        """Write the scores with shifted values."""
        rng = random.Random(noise)  # noqa: S311
        values = [
            [[value * (1 - shift * at) + shift * rng.random() for value in run] for at, run in enumerate(one)]
            for one in saved["values"]
        ]
        content = {**saved, "runs": ["one", "two", "three"], "values": values, **more}
        (folder / name).write_text(json.dumps(content), encoding="utf-8")

    write_shifted("changed.json", 1e-3, 0, runs=saved["runs"])
    for place in ("releases", "noted"):
        (folder / place).mkdir()
    for number, (place, start) in product(range(3), (("", "part"), ("releases/", "v"), ("noted/", "v"))):
        write_shifted(f"{place}{start}{number}.json", 0.1 * number, number)
        os.utime(folder / f"{place}{start}{number}.json", (9 - number, 9 - number))
    (folder / "noted" / "readme.txt").write_text("")
