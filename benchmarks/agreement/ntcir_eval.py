"""The program ntcir_eval of NTCIREVAL: measures over intents, of one list, over classes and over groups.

The environment variable NTCIR_EVAL names the program. It must print gains and scores with 17 digits; the
distributed version prints four decimals. For every kind of list, one subcommand labels the ranking and
another computes all measures of the labelled list. Topics without a relevant document are left out: the
program prints nothing for them.
"""

from __future__ import annotations

import math
import os
import random
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

import ir_measures
from differential.peer_values import Lists
from intents.intent_cases import random_distribution
from reference import intents

from benchmarks.agreement.lists import intent_topics, ranked_docs, with_columns
from benchmarks.agreement.oracles import oracle
from ir_graded import ParameterError
from ir_graded.measures import REGISTRY
from ir_graded.measures.classic import scorer_of

PROGRAM = os.environ.get("NTCIR_EVAL", "")
LEVELS = range(1, 5)
GAINS = ({}, {2: 3, 3: 7, 4: 15}, {1: 0.5, 2: 0.75})


def text_of(lines) -> str:
    """Return lines of fields as the program reads them; floats keep all their digits."""
    return "".join(" ".join(map(str, fields)) + "\n" for fields in lines)


def called(lines, *command):
    """Run a subcommand on lines and return its fields; an argument may be the lines of a file."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [str(part) for part in command]
        for at, part in enumerate(command):
            if isinstance(part, list):
                arguments[at] = str(Path(folder, str(at)))
                Path(arguments[at]).write_text(text_of(part), encoding="utf-8")
        done = subprocess.run(
            [PROGRAM, *arguments], input=text_of(lines), capture_output=True, text=True, check=False
        )
    if done.returncode or done.stderr:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr}")
    return [line.split() for line in done.stdout.splitlines()]


def printed(lines) -> dict[str, float]:
    """Return values by the program's names, with cutoffs as in the package: Q@10 for Q@0010."""
    found = {}
    for name, value in (fields[:2] for fields in lines if not fields[0].startswith("#")):
        measure, _, cutoff = name.rstrip("=").partition("@")
        found[f"{measure}@{int(cutoff) if cutoff.isdigit() else cutoff}".rstrip("@")] = float(value)
    return found


def missing(*command) -> str | None:
    """Return why the program is not compared, or None; the command labels a document with a third."""
    if not Path(PROGRAM).is_file():
        return "the variable NTCIR_EVAL names no program"
    try:
        gains = {float(number) for line in called([["a"]], *command) for number in line[1:]}
    except RuntimeError:
        return f"the program that NTCIR_EVAL names has no command {command[0]}"
    return None if gains == {1 / 3} else "the program that NTCIR_EVAL names prints fewer than 17 digits"


MISSING = missing("glabel", "-I", [["a", 1 / 3]])


def compared(kind, without=MISSING):
    """Return a decorator for a function of a generator, the settings, and one topic, which yields pairs.

    The function returns the qrels of the topic as columns, its values by measure, and given intents.
    """

    def register(values):
        def case(rng, *, small=False):
            own = random.Random(int(rng.integers(2**32)))
            columns, run, given, theirs = defaultdict(list), {}, {}, defaultdict(dict)
            settings = Settings(own)
            for name, topic in intent_topics(rng, 2 if small else 1, 15 if small else 60).items():
                qrels, found = values(own, settings, topic)
                for column, cells in qrels.items():
                    columns[column] += cells
                columns["query_id"] += [name] * len(cells)
                run[name] = ranked_docs(topic)
                given[name] = {i: [p, "nav" if i in topic.nav else "inf"] for i, p in topic.P.items()}
                for measure, value in found.items():
                    theirs[measure][name] = value
            with_intents = given if "iteration" in columns else None
            return Lists(dict(columns), run, intents=with_intents), dict(theirs)

        oracle(f"ntcir_eval: {kind}", missing=without, version=version(), golden=3)(case)
        return values

    return register


def version() -> str:
    """Return the version from the file README beside the program, or nothing."""
    readme = Path(PROGRAM).parent / "README"
    words = readme.read_text(encoding="utf-8").split() if PROGRAM and readme.is_file() else []
    return words[words.index("version") + 1] if "version" in words else ""


# ---------------------------------------------------------------------------------------- parameters


class Settings:
    """Random parameters of one call: the cutoff, those of measures, and how lists are condensed and cut."""

    def __init__(self, rng: random.Random):
        self.k = rng.randint(1, 20)
        self.beta, self.gamma = rng.choice([0, 0.5, 1, 10]), rng.choice([0.5, 0.95, 1])
        self.p, self.effort = rng.choice([0.8, 0.95]), rng.choice([0.9, 0.99])
        self.b, self.gains, self.rel = rng.choice([1.5, 2, 10]), rng.choice(GAINS), rng.choice([1, 1, 2])
        self.condensed, self.truncated = rng.random() < 0.4, rng.random() < 0.5
        #: The cutoff of measures without one: the program may get the first k documents only.
        self.whole = self.k if self.truncated else None

    @property
    def options(self):
        """Return the options of gcompute and compute."""
        return [
            *("-cutoffs", self.k, "-beta", self.beta, "-gamma", self.gamma),
            *("-rbp", self.p, "-rbup", self.effort, "-logb", self.b),
        ]

    @property
    def scale(self):
        """Return the gains of all levels, as compute takes them."""
        return ":".join(str(float(self.gains.get(level, level))) for level in LEVELS)

    def gain(self, level):
        """Return the gain of a level."""
        return float(self.gains.get(level, level)) if level >= self.rel else 0.0

    def label(self, level):
        """Return a level for the program, which supports only rel=1."""
        return f"L{level if level >= self.rel else 0}"

    def measure(self, name, *, scaled=False, **params):
        """Return a measure with the parameters that it takes, or None; if scaled, with the highest level."""
        kind = REGISTRY.get(name) or ir_measures.measures.registry.get(name)
        if kind is None:
            return None
        own = {"judged_only": self.condensed, "gains": self.gains, "rel": self.rel}
        if name == "nDCG":
            own["gains"] = {level: self.gain(level) for level in LEVELS}
            if not all(gain.is_integer() for gain in own["gains"].values()):
                return None
            own["gains"] = {level: int(gain) for level, gain in own["gains"].items()}
        elif scaled and (name != "NCU" or params["stop"] == "err"):
            own["max_rel"] = LEVELS[-1]
        try:
            return kind(
                **{key: value for key, value in own.items() if key in kind.SUPPORTED_PARAMS}, **params
            )
        except ParameterError:
            return None

    def measures(self, **options):
        """Yield the program's name of a measure, the measure without a cutoff, and its cutoff."""
        beta, err = {"beta": self.beta}, {"stop": "err", "utility": "rr"}
        ncu = {
            f"NCUrb,{name}": ("NCU", {"stop": "rb", "gamma": self.gamma, **utility})
            for name, utility in (
                ("P", {"beta": 0}),
                ("BR", beta),
                ("IE", {"utility": "ie", "p": self.effort}),
            )
        }
        either = {
            "RBP": ("gRBP", {"p": self.p}), "ERR": ("NCU", err), "EBR": ("EBR", beta),
            "iRBU": ("iRBU", {"p": self.effort}),
        }  # fmt: skip
        whole = {
            "RR": ("RR", {}), "O-measure": ("O-measure", beta), "P-measure": ("P-measure", beta),
            "P-plus": ("P+", beta), "AP": ("AP", {}), "Q-measure": ("Q", beta), **ncu, **either,
        }  # fmt: skip
        # NCUrb at a cutoff is left out: the program divides by min(k, R), whatever the weights of the ranks.
        at_k = {
            "AP": ("Q", {"beta": 0, "norm": "cutoff"}), "Q": ("Q", {**beta, "norm": "cutoff"}),
            "nDCG": ("nDCG-JK", {"b": self.b}), "MSnDCG": ("nDCG", {}),
            "Prec": ("P", {}), "Hit": ("Success", {}),
            "nRBP": ("gRBP", {"p": self.p, "norm": "ideal"}), "nERR": ("nERR", {}),
            "nEBR": ("EBR", {**beta, "norm": "ideal"}),
            "niRBU": ("iRBU", {"p": self.effort, "norm": "ideal"}), **either,
        }  # fmt: skip
        for suffix, cutoff, named in (("", self.whole, whole), (f"@{self.k}", self.k, at_k)):
            for name, (measure, params) in named.items():
                if (made := self.measure(measure, **options, **params)) is not None:
                    yield name + suffix, made, cutoff


def at(measure, cutoff):
    return measure if cutoff is None else measure @ cutoff


def outer(name, s: Settings, found, **options):
    """Return the values found by measures that have another as a parameter: D, EC and the like."""
    values = {}
    for of_program, base, cutoff in s.measures(**options):
        try:
            measure = at(REGISTRY[name](measure=base), cutoff)
        except ParameterError:  # it does not take this measure
            continue
        if of_program in found and scorer_of(at(base, cutoff)) is not None:
            values[measure] = found[of_program]
    return values


# ---------------------------------------------------------------------------------------------- lists


def labelled(s: Settings, topic, *command):
    """Return the ranking as a subcommand labels it, condensed and cut.

    The list is cut here, because the program cuts before it removes unjudged documents.
    """
    lines = called([[doc] for doc in topic.retrieved], *command, *["-j"] * s.condensed)
    return lines[: s.k] if s.truncated else lines


def ideal_list(gains):
    """Return documents by gain in descending order, those judged not relevant last."""
    return sorted(([doc, float(gain)] for doc, gain in gains.items()), key=lambda line: -line[1])


def columns_of(topic, column="iteration"):
    columns = with_columns({"": topic}, column)
    del columns["query_id"]
    return columns


@compared("D, DIN, IA, P+Q, I-rec")
def _(_, s: Settings, topic):
    base, qrels = ("Q", {"rel": s.rel, "gains": s.gains, "judged_only": s.condensed}), columns_of(topic)
    relevant = intents.relevant_intents(base, topic.levels)
    global_gains = intents.global_gains(base, topic.levels, topic.P)
    if not any(global_gains.values()):
        return qrels, {}
    ideal = ideal_list(global_gains)
    of_d = printed(called(labelled(s, topic, "glabel", "-I", ideal), "gcompute", "-I", ideal, *s.options))
    # Gains of types are rounded as in the package, so that ranks agree.
    lines = labelled(s, topic, "dinlabel", "-din", din_rows(s, topic, global_gains))
    rounded = [[doc, *(intents.twelve_digits(float(gain)) for gain in gains)] for doc, *gains in lines]
    of_din = printed(called(rounded, "gcompute", "-I", ideal, *s.options))
    theirs = outer("D", s, of_d) | outer("DIN", s, of_din)

    recall = intent_recall(s, topic, base)
    own = {"rel": s.rel, "judged_only": s.condensed}
    I_rec = REGISTRY["I-rec"](**own)
    theirs |= {I_rec @ s.k: recall[f"I-rec@{s.k}"], I_rec @ len(relevant): recall["I-rec@n"]}
    for name, found in (("D#", of_d), ("DIN#", of_din)):  # gamma is .5, as in the scripts of NTCIREVAL
        for of_program, measure in (
            ("Q", s.measure("Q", beta=s.beta, norm="cutoff")),
            ("MSnDCG", s.measure("nDCG")),
        ):
            if measure is not None:
                value = (recall[f"I-rec@{s.k}"] + found[f"{of_program}@{s.k}"]) / 2
                theirs[REGISTRY[name](measure=measure) @ s.k] = value

    by_intent = {}
    for intent in relevant:
        gains = dict.fromkeys(intents.documents(topic.levels), 0.0)
        ideal = ideal_list(gains | {doc: s.gain(level) for doc, level in topic.levels[intent].items()})
        lines = labelled(s, topic, "glabel", "-I", ideal)
        by_intent[intent] = printed(called(lines, "gcompute", "-I", ideal, *s.options))
    summed = {name: math.fsum(topic.P[i] * found[name] for i, found in by_intent.items()) for name in of_d}
    theirs |= outer("IA", s, summed)
    if s.truncated:
        names = {i: "P-plus" if i in topic.nav else f"Q@{s.k}" for i in by_intent}
        value = math.fsum(topic.P[i] * found[names[i]] for i, found in by_intent.items())
        theirs[s.measure("P+Q", beta=s.beta) @ s.k] = value
    return qrels, theirs


def din_rows(s: Settings, topic, global_gains):
    """Return the rows that dinlabel reads: number and type of an intent, document, gain."""
    numbers = {intent: number for number, intent in enumerate(topic.levels, start=1)}
    rows = [
        [numbers[i], "nav" if i in topic.nav else "inf", doc, topic.P[i] * s.gain(level)]
        for i, docs in topic.levels.items()
        for doc, level in docs.items()
        if level >= s.rel
    ]
    # Documents relevant to no intent are judged too; the program takes only those in its file as judged.
    return rows + [[len(numbers) + 1, "inf", doc, 0.0] for doc in global_gains]


def intent_recall(s: Settings, topic, base):
    """Return the values that irec prints."""
    ranking = [[doc] for doc in intents.looked_at(base, topic.levels, topic.retrieved)]
    files = [
        [[doc] for doc, level in topic.levels[intent].items() if level >= s.rel]
        for intent in intents.relevant_intents(base, topic.levels)
    ]
    return printed(called([], "irec", "-cutoffs", s.k, ranking, *files))


def documents_of(topic, **columns):
    """Return the highest level of each document, and the columns of such qrels; columns are by document."""
    levels = intents.document_levels(topic.levels)
    qrels = {"doc_id": [*levels], "relevance": [*levels.values()]}
    return levels, qrels | {name: [values.get(doc) for doc in levels] for name, values in columns.items()}


@compared("one list")
def _(_, s: Settings, topic):
    levels, qrels = documents_of(topic)
    nonrelevant = sum(level < s.rel for level in levels.values())
    if len(levels) == nonrelevant:
        return qrels, {}
    judged = [[doc, s.label(level)] for doc, level in levels.items()]
    preferences = s.condensed and not s.truncated and nonrelevant > 0
    command = ["-r", judged, "-g", s.scale, "-gap", *s.options, *["-j"] * preferences]
    found = printed(called(labelled(s, topic, "label", "-r", judged), "compute", *command))
    measures = {name: at(measure, cutoff) for name, measure, cutoff in s.measures(scaled=True)}
    if s.rel == 1:
        # GAP of the program weighs threshold j by j, whatever the gains; our GAP supports only rel=1.
        gap = REGISTRY["GAP"](judged_only=s.condensed)
        measures |= {"GAP": at(gap, s.whole), f"GAP@{s.k}": gap(norm="cutoff") @ s.k}
    if preferences:
        measures["bpref"] = ir_measures.Bpref(rel=s.rel)
        for name in ("bpref_R", "bpref_N", "bpref_relative", "rpref_N", "rpref_relative", "rpref_relative2"):
            kind, penalty = name.split("_")
            scaled = {"bpref": {}, "rpref": {"gains": s.gains, **({"max_rel": 4} if penalty == "N" else {})}}[
                kind
            ]
            measure = REGISTRY["B-pref" if kind == "bpref" else "R-pref"]
            measures[name] = measure(penalty=penalty, rel=s.rel, **scaled)
    return qrels, {
        measure: found[name] for name, measure in measures.items() if name in found and scorer_of(measure)
    }


@compared("EC")
def _(rng, s: Settings, topic):
    docs = intents.documents(topic.levels)
    classes = {doc: rng.randint(1, len(docs)) for doc in docs if rng.random() < 0.8}
    levels, qrels = documents_of(topic, equivalence_class=classes)
    if max(levels.values()) < s.rel:
        return qrels, {}
    # In the program, any judged document uses up its class; by the definition, only a relevant one does. So
    # each document that is not relevant gets a separate class. compute prints nothing with both -ec and -j.
    alone = max(classes.values(), default=0) + 1
    judged = [
        [doc, s.label(level), classes[doc] if doc in classes and level >= s.rel else alone + number]
        for number, (doc, level) in enumerate(levels.items())
    ]
    lines = labelled(s, topic, "label", "-ec", "-r", judged)
    found = printed(called(lines, "compute", "-ec", "-r", judged, "-g", s.scale, *s.options))
    return qrels, outer("EC", s, found, scaled=True)


@compared("GF", MISSING or missing("GFlabel", "-gm", [["a", 1 / 3, 1 / 3, 1 / 3]], "-ngroups", 3))
def _(rng, s: Settings, topic):
    number = 4  # of all topics, because a measure has one target
    docs = intents.documents(topic.levels)
    shares = {doc: random_distribution(rng, number) for doc in docs if rng.random() < 0.9}
    levels, qrels = documents_of(topic, A=shares)
    if max(levels.values()) < s.rel:
        return qrels, {}
    target = [0.4, 0.3, 0.2, 0.1]
    judged = [[doc, s.label(level)] for doc, level in levels.items()]
    members = [[doc, *map(float, vector)] for doc, vector in shares.items()]
    lines = called([[doc] for doc in topic.retrieved], "GFlabel", "-gm", members, "-ngroups", number)
    command = ["-r", judged, "-g", s.scale, "-gdistr", [[share] for share in target], "-ngroups", number]
    found = printed(called(lines, "GFRcompute", *command, "-cutoffs", s.k, "-rbup", s.effort))
    theirs, given = {}, {"gains": s.gains, "rel": s.rel, "max_rel": LEVELS[-1]}
    for suffix, cutoff in (("", None), (f"@{s.k}", s.k)):
        for name in ("JSD", "NMD", "RNOD"):
            measure = REGISTRY["GF"](groups="A", divergence=name, target=target, **given)
            theirs[at(measure, cutoff)] = found[f"GF-{name}{suffix}"]
        iRBU = REGISTRY["iRBU"](p=s.effort, **given)
        theirs[at(iRBU, cutoff)] = found[f"iRBU{suffix}"]
    return qrels, theirs
