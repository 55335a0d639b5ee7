"""The program ntcir_eval of NTCIREVAL, compared with the plain references of ``tests/reference``.

The environment variable NTCIR_EVAL names the program. It must print gains and scores with 17 digits; the
distributed version prints four decimals.

For every kind of measure, one subcommand labels the ranking and another computes all measures of the
labelled list. Each kind of list is a function here, such as ``of_global_gains``. It yields the values of
the reference and the printed values.

Two things are left out: topics without a relevant document, for which the program prints nothing, and
measures that it defines differently; see ``of_classes`` and ``cut_and_labelled``.
"""

from __future__ import annotations

import math
import os
import random
import subprocess
import tempfile
from collections.abc import Callable, Hashable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from differential.oracle_cases import Compared, Oracle
from intents.intent_cases import GAINS, IntentTopic, random_distribution, random_topic
from reference import groups, intents, ranked
from reference.intents import Base

PROGRAM = os.environ.get("NTCIR_EVAL", "")
LEVELS = range(1, 5)

Lines = list[list]
Pair = tuple[str, float, float]


# ----------------------------------------------------------------------------------------------- the program


def called(lines: Lines, *command: object) -> Lines:
    """Run a subcommand on lines and return the fields of its output. Floats keep all their digits."""
    done = subprocess.run(  # noqa: S603  # the program that the user named
        [PROGRAM, *(repr(part) if isinstance(part, float) else str(part) for part in command)],
        input=as_text(lines),
        capture_output=True,
        text=True,
        check=True,
    )
    if done.stderr:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr}")
    return [line.split() for line in done.stdout.splitlines()]


def as_text(lines: Lines) -> str:
    """Return lines of fields in the form that the program reads."""
    return "".join(" ".join(map(str, fields)) + "\n" for fields in lines)


def written(folder: Path, name: str, lines: Lines) -> Path:
    """Write a file for the program."""
    path = folder / name
    path.write_text(as_text(lines), encoding="utf-8")
    return path


def printed(lines: Lines) -> dict[str, float]:
    """Return values by the program's names, with cutoffs as in the package: Q@10 for Q@0010."""
    found = {}
    for fields in lines:
        if fields[0].startswith("#"):
            continue
        name, _, cutoff = fields[0].rstrip("=").partition("@")
        found[f"{name}@{int(cutoff)}" if cutoff.isdigit() else f"{name}@{cutoff}".rstrip("@")] = float(
            fields[1]
        )
    return found


def missing() -> str | None:
    """Return the reason why nothing can be compared, or None."""
    if not Path(PROGRAM).is_file():
        return "the variable NTCIR_EVAL names no program"
    with tempfile.TemporaryDirectory() as folder:
        ideal = written(Path(folder), "ideal", [["a", 1 / 3]])
        of_ideal = called([["a"]], "glabel", "-I", ideal)
        of_groups = called([["x"]], "GFlabel", "-gm", ideal, "-ngroups", 3)
        if {float(number) for number in (*of_ideal[0][1:], *of_groups[0][1:])} != {1 / 3}:
            return "the program that NTCIR_EVAL names prints fewer than 17 digits"
    return None


# ------------------------------------------------------------------------------------------------ parameters


@dataclass(frozen=True)
class Settings:
    """Parameters of one call.

    Attributes:
        k: the cutoff.
        beta: beta of the blended ratio.
        gamma: gamma of the rank-biased stop.
        p: p of RBP.
        effort: p of iRBU and of the inverse effort.
        b: base of the logarithm of the original nDCG.
        gains: gain by level, in the form that measures take.
        rel: lowest relevant level.
        condensed: whether unjudged documents are removed.
        truncated: whether the program gets only the first k documents.
    """

    k: int = 10
    beta: float = 1
    gamma: float = 0.95
    p: float = 0.95
    effort: float = 0.99
    b: float = 2
    gains: dict[int, float] | None = None
    rel: int = 1
    condensed: bool = False
    truncated: bool = False

    @classmethod
    def drawn(cls, rng: random.Random) -> Settings:
        """Draw random settings."""
        return cls(
            k=rng.randint(1, 20),
            beta=rng.choice([0, 0.5, 1, 10]),
            gamma=rng.choice([0.5, 0.95, 1]),
            p=rng.choice([0.8, 0.95]),
            effort=rng.choice([0.9, 0.99]),
            b=rng.choice([1.5, 2, 10]),
            gains=rng.choice(GAINS),
            rel=rng.choice([1, 1, 2]),
            condensed=rng.random() < 0.4,
            truncated=rng.random() < 0.5,
        )

    @property
    def options(self) -> list[object]:
        """Return the options of gcompute and compute."""
        own = {"-cutoffs": self.k, "-beta": self.beta, "-gamma": self.gamma, "-rbp": self.p}
        own |= {"-rbup": self.effort, "-logb": self.b}
        return [part for pair in own.items() for part in pair]

    @property
    def judged_only(self) -> dict[str, bool]:
        """Return the parameter of measures."""
        return {"judged_only": self.condensed}

    @property
    def scale(self) -> str:
        """Return the gains of all levels, as compute takes them."""
        return ":".join(repr(float(self.gain(level))) for level in LEVELS)

    def gain(self, level: int) -> float:
        """Return the gain of a level, relevant or not."""
        return (self.gains or {}).get(level, level)

    def label(self, level: float) -> str:
        """Return a level for the program, which supports only rel=1."""
        return f"L{level if level >= self.rel else 0}"

    def base(self, name: str, params: dict) -> Base:
        """Return a base measure with the gains and the relevant levels of these settings."""
        if name == "nDCG":
            of_relevant = {level: self.gain(level) if level >= self.rel else 0 for level in LEVELS}
            return name, {**params, **self.judged_only, "gains": of_relevant}
        return name, {**params, **self.judged_only, "gains": self.gains or {}, "rel": self.rel}


def measures(s: Settings) -> dict[str, tuple[str, dict, int | None]]:
    """Return name, parameters and cutoff of the reference's measure, by the program's name."""
    rb = {"stop": "rb", "gamma": s.gamma}
    utilities = {"P": {"beta": 0}, "BR": {"beta": s.beta}, "IE": {"utility": "ie", "p": s.effort}}
    err = {"stop": "err", "utility": "rr"}
    whole = {
        "RR": ("RR", {}),
        "O-measure": ("O-measure", {"beta": s.beta}),
        "P-measure": ("P-measure", {"beta": s.beta}),
        "P-plus": ("P+", {"beta": s.beta}),
        "AP": ("AP", {}),
        "Q-measure": ("Q", {"beta": s.beta}),
        **{f"NCUrb,{name}": ("NCU", {**rb, **utility}) for name, utility in utilities.items()},
    }
    either = {
        "RBP": ("gRBP", {"p": s.p}),
        "ERR": ("NCU", err),
        "EBR": ("EBR", {"beta": s.beta}),
        "iRBU": ("iRBU", {"p": s.effort}),
    }
    at_k = {
        "AP": ("Q", {"beta": 0, "norm": "cutoff"}),
        "Q": ("Q", {"beta": s.beta, "norm": "cutoff"}),
        **{
            f"NCUrb,{name}": ("NCU", {**rb, **utility, "norm": "cutoff"})
            for name, utility in utilities.items()
        },
        "nDCG": ("nDCG-JK", {"b": s.b}),
        "MSnDCG": ("nDCG", {}),
        "Prec": ("P", {}),
        "nRBP": ("gRBP", {"p": s.p, "norm": "ideal"}),
        "nERR": ("nERR", {}),
        "nEBR": ("EBR", {"beta": s.beta, "norm": "ideal"}),
        "niRBU": ("iRBU", {"p": s.effort, "norm": "ideal"}),
        "Hit": ("Success", {}),
    }
    of_whole = s.k if s.truncated else None
    return {
        **{name: (*measure, of_whole) for name, measure in (whole | either).items()},
        **{f"{name}@{s.k}": (*measure, s.k) for name, measure in (at_k | either).items()},
    }


def on_a_list(
    kind: str, s: Settings, found: dict[str, float], make: Callable[[Base, int | None], ranked.Topic]
) -> Iterator[Pair]:
    """Yield all measures of one list: the reference's values beside the printed values.

    Args:
        kind: the kind of list, used in names.
        s: the settings.
        found: the program's output.
        make: the reference's list for a base measure and a cutoff.
    """
    lists: dict[tuple[bool, int | None], ranked.Topic] = {}
    for name, (measure, params, cutoff) in measures(s).items():
        # All measures have the same list but nDCG, whose gains and relevance are of another kind.
        key = (measure == "nDCG", cutoff)
        if key not in lists:
            lists[key] = make(s.base(measure, {}), cutoff)
        topic = copy(lists[key])
        topic.params = {**topic.params, **ranked.defaults(measure), **params, **kept(topic)}
        yield f"{kind} {name}", value(name, measure, topic), found[name]


def kept(topic: ranked.Topic) -> dict:
    """Return the parameters that belong to a list rather than to a measure."""
    return {name: topic.params[name] for name in ("gains", "cutoff")}


def value(name: str, measure: str, topic: ranked.Topic) -> float:
    """Return the reference's value for one name of the program."""
    found = intents.score_list((measure, {}), topic)
    if name.startswith("NCUrb") and "@" in name:
        # The program divides by min(k, R), whatever the weights of the ranks.
        gamma = topic.params["gamma"]
        found *= math.fsum(gamma**i for i in range(topic.best())) / topic.best()
    return found


# --------------------------------------------------------------------------------------------- kinds of lists


def cut_and_labelled(s: Settings, topic: IntentTopic, *command: object) -> Lines:
    """Return the ranking as a subcommand labels it, condensed and cut according to the settings.

    The list is cut here, because the program cuts before it removes unjudged documents.
    """
    lines = called([[doc_id] for doc_id in topic.retrieved], *command, *["-j"] * s.condensed)
    return lines[: s.k] if s.truncated else lines


def ideal_file(folder: Path, name: str, gains: dict[str, float]) -> Path:
    """Return an ideal list: documents by gain in descending order, those judged not relevant last."""
    return written(folder, name, sorted(([d, float(g)] for d, g in gains.items()), key=lambda line: -line[1]))


def of_global_gains(folder: Path, s: Settings, topic: IntentTopic) -> Iterator[Pair]:
    """Compare D and D#: glabel, gcompute."""
    GG = intents.global_gains(s.base("Q", {}), topic.levels, topic.P)
    if not any(GG.values()):
        return
    ideal = ideal_file(folder, "global", GG)
    labelled = cut_and_labelled(s, topic, "glabel", "-I", ideal)
    found = printed(called(labelled, "gcompute", "-I", ideal, *s.options))

    def made(base: Base, cutoff: int | None) -> ranked.Topic:
        return intents.d_list(base, topic.levels, topic.retrieved, topic.P, cutoff, ())

    yield from on_a_list("D", s, found, made)
    yield from sharpened("D#", s, topic, found)


def of_types(folder: Path, s: Settings, topic: IntentTopic) -> Iterator[Pair]:
    """Compare DIN and DIN#: dinlabel, gcompute. Gains are rounded as in the reference, so ranks agree."""
    base = s.base("Q", {})
    GG = intents.global_gains(base, topic.levels, topic.P)
    if not any(GG.values()):
        return
    ideal = ideal_file(folder, "global", GG)
    numbers = {intent: number for number, intent in enumerate(topic.levels, start=1)}
    rows = [
        [numbers[i], "nav" if i in topic.nav else "inf", doc, topic.P[i] * float(intents.gain(base, level))]
        for i, docs in topic.levels.items()
        for doc, level in docs.items()
        if intents.is_relevant(base, level)
    ]
    # Documents relevant to no intent are judged too; the program takes only those in its file as judged.
    rows += [[len(numbers) + 1, "inf", doc, 0.0] for doc in GG]
    labelled = cut_and_labelled(s, topic, "dinlabel", "-din", written(folder, "din", rows))
    rounded = [[doc, *(intents.twelve_digits(float(g)) for g in gains)] for doc, *gains in labelled]
    found = printed(called(rounded, "gcompute", "-I", ideal, *s.options))

    def made(base: Base, cutoff: int | None) -> ranked.Topic:
        return intents.din_list(base, topic.levels, topic.retrieved, topic.P, topic.nav, cutoff, ())

    yield from on_a_list("DIN", s, found, made)
    yield from sharpened("DIN#", s, topic, found)


def of_each_intent(folder: Path, s: Settings, topic: IntentTopic) -> Iterator[Pair]:
    """Compare IA and P+Q: glabel and gcompute for each intent that has a relevant document, summed with P."""
    base = s.base("Q", {})
    every = intents.documents(topic.levels)
    by_intent = {}
    for at, intent in enumerate(intents.relevant_intents(base, topic.levels)):
        gains = dict.fromkeys(every, 0.0)
        gains |= {doc: float(intents.gain(base, level)) for doc, level in topic.levels[intent].items()}
        ideal = ideal_file(folder, f"intent{at}", gains)
        labelled = cut_and_labelled(s, topic, "glabel", "-I", ideal)
        by_intent[intent] = printed(called(labelled, "gcompute", "-I", ideal, *s.options))
    for name, (measure, params, cutoff) in measures(s).items():
        if measure in intents.BASES and not (name.startswith("NCUrb") and "@" in name):
            theirs = math.fsum(topic.P[intent] * found[name] for intent, found in by_intent.items())
            yield f"IA {name}", scored(topic, "IA", cutoff, measure=s.base(measure, params)), theirs
    if s.truncated:
        names = {i: "P-plus" if i in topic.nav else f"Q@{s.k}" for i in by_intent}
        theirs = math.fsum(topic.P[i] * found[names[i]] for i, found in by_intent.items())
        own = {"beta": s.beta, "gains": s.gains or {}, "rel": s.rel, **s.judged_only}
        yield "P+Q", scored(topic, "P+Q", s.k, **own), theirs


def of_intents(folder: Path, s: Settings, topic: IntentTopic) -> Iterator[Pair]:
    """Compare I-rec: irec, at k and at as many ranks as there are intents."""
    base = s.base("Q", {})
    params = {"rel": s.rel, **s.judged_only}
    number = len(intents.relevant_intents(base, topic.levels))
    if number:
        found = intent_recall(folder, s, topic)
        yield "I-rec@k", scored(topic, "I-rec", s.k, **params), found[f"I-rec@{s.k}"]
        yield "I-rec@n", scored(topic, "I-rec", number, **params), found["I-rec@n"]


def intent_recall(folder: Path, s: Settings, topic: IntentTopic) -> dict[str, float]:
    """Return the values that irec prints."""
    base = s.base("Q", {})
    ranking = intents.looked_at(base, topic.levels, topic.retrieved)
    run = written(folder, "run", [[doc_id] for doc_id in ranking])
    files = [
        written(
            folder,
            f"recall{at}",
            [[doc] for doc, level in topic.levels[intent].items() if intents.is_relevant(base, level)],
        )
        for at, intent in enumerate(intents.relevant_intents(base, topic.levels))
    ]
    return printed(called([], "irec", "-cutoffs", s.k, run, *files))


def sharpened(name: str, s: Settings, topic: IntentTopic, found: dict[str, float]) -> Iterator[Pair]:
    """Return D# or DIN# of Q and nDCG from the program's D or DIN, with gamma = .5 as in its scripts."""
    with tempfile.TemporaryDirectory() as folder:
        recall = intent_recall(Path(folder), s, topic)[f"I-rec@{s.k}"]
    for theirs, base in (("Q", ("Q", {"beta": s.beta, "norm": "cutoff"})), ("MSnDCG", ("nDCG", {}))):
        ours = scored(topic, name, s.k, measure=s.base(*base))
        yield f"{name} {theirs}@{s.k}", ours, 0.5 * recall + 0.5 * found[f"{theirs}@{s.k}"]


def scored(topic: IntentTopic, name: str, cutoff: int | None, **params: object) -> float:
    """Return the reference's score by a measure over intents."""
    params["cutoff"] = cutoff
    return intents.score(name, params, topic.levels, topic.retrieved, topic.P, topic.nav)


def of_levels(folder: Path, s: Settings, topic: IntentTopic) -> Iterator[Pair]:
    """Compare plain lists by the highest level over the intents: label, compute; GAP and preferences too."""
    levels = intents.document_levels(topic.levels)
    N = sum(level < s.rel for level in levels.values())
    if len(levels) == N:
        return
    judged = written(folder, "levels", [[doc, s.label(level)] for doc, level in levels.items()])
    labelled = cut_and_labelled(s, topic, "label", "-r", judged)
    preferences = s.condensed and not s.truncated and N > 0
    command = ["-r", judged, "-g", s.scale, "-gap", *s.options, *["-j"] * preferences]
    found = printed(called(labelled, "compute", *command))

    def made(base: Base, cutoff: int | None) -> ranked.Topic:
        return whole_scale(intents.class_list, base, levels, {}, topic.retrieved, cutoff)

    yield from on_a_list("plain:", s, found, made)
    cutoff = s.k if s.truncated else None

    def ours(name: str, params: dict, cutoff: int | None) -> float:
        _, own = s.base(name, params)
        return ranked.score(name, {**own, "cutoff": cutoff}, levels, topic.retrieved, 4)

    if s.rel == 1:
        # GAP of the program weighs threshold j by j, whatever the gains; our GAP supports only rel=1.
        yield "plain: GAP", ours("GAP", {}, cutoff), found["GAP"]
        yield "plain: GAP@k", ours("GAP", {"norm": "cutoff"}, s.k), found[f"GAP@{s.k}"]
    if preferences:
        for name in ranked.PREFERENCES:
            yield f"plain: {name}", ours(name, {"max_rel": 4}, None), found[name]


def of_classes(
    folder: Path, s: Settings, topic: IntentTopic, classes: dict[str, Hashable], numbers: dict[Hashable, int]
) -> Iterator[Pair]:
    """Compare EC: label -ec, compute -ec.

    In the program, any judged document uses up its class; by the definition, only a relevant one does. So
    each document that is not relevant gets a separate class. compute prints nothing with both -ec and -j.
    """
    levels = intents.document_levels(topic.levels)
    if not any(level >= s.rel for level in levels.values()):
        return
    alone = max(numbers.values(), default=0) + 1
    rows = [
        [doc, s.label(level), numbers[classes[doc]] if doc in classes and level >= s.rel else alone + at]
        for at, (doc, level) in enumerate(levels.items())
    ]
    judged = written(folder, "classes", rows)
    labelled = cut_and_labelled(s, topic, "label", "-ec", "-r", judged)
    command = ["compute", "-ec", "-r", judged, "-g", s.scale, *s.options]
    found = printed(called(labelled, *command))

    def made(base: Base, cutoff: int | None) -> ranked.Topic:
        return whole_scale(intents.class_list, base, levels, classes, topic.retrieved, cutoff)

    yield from on_a_list("EC", s, found, made)


def whole_scale(make: Callable, base: Base, *arguments: object) -> ranked.Topic:
    """Compare a list whose largest gain is that of level 4, the highest of the program's scale."""
    name, params = base
    scale = {} if name == "nDCG" else {"max_rel": LEVELS[-1]}
    return make((name, {**params, **scale}), *arguments, ())


def of_groups(
    folder: Path, s: Settings, topic: IntentTopic, membership: dict[str, list[float]], target: list[float]
) -> Iterator[Pair]:
    """Compare GF, and ERR and iRBU beside it: GFlabel, GFRcompute."""
    levels = intents.document_levels(topic.levels)
    if not any(level >= s.rel for level in levels.values()):
        return
    judged = written(folder, "levels", [[doc, s.label(level)] for doc, level in levels.items()])
    vectors = written(folder, "members", [[doc, *map(float, vector)] for doc, vector in membership.items()])
    distribution = written(folder, "target", [[float(share)] for share in target])
    labelled = called(
        [[doc_id] for doc_id in topic.retrieved], "GFlabel", "-gm", vectors, "-ngroups", len(target)
    )
    command = ["-r", judged, "-g", s.scale, "-gdistr", distribution, "-ngroups", len(target)]
    found = printed(called(labelled, "GFRcompute", *command, "-cutoffs", s.k, "-rbup", s.effort))
    for cutoff in (None, s.k):
        own = {"gains": s.gains or {}, "rel": s.rel, "max_rel": LEVELS[-1], "cutoff": cutoff}
        at = f"@{cutoff}" if cutoff else ""
        for divergence in groups.DIVERGENCES:
            params = {**own, "divergence": divergence, "target": target}
            ours = groups.gf(params, levels, topic.retrieved, membership, len(target), LEVELS[-1])
            yield f"GF-{divergence}", ours, found[f"GF-{divergence}{at}"]
        for name, base in (("ERR", ("NCU", {"stop": "err", "utility": "rr"})), ("iRBU", ("iRBU", {}))):
            effort = {"p": s.effort} if name == "iRBU" else {}
            ours = ranked.score(base[0], {**base[1], **effort, **own}, levels, topic.retrieved, LEVELS[-1])
            yield f"GFR {name}", ours, found[f"{name}{at}"]


# ------------------------------------------------------------------------------------------------- the oracle


def of_topic(rng: random.Random, topic: IntentTopic, s: Settings) -> Iterator[Pair]:
    """Yield all kinds of lists of one topic, with random classes, membership and targets."""
    docs = intents.documents(topic.levels)
    classes = {doc: rng.randint(1, len(docs)) for doc in docs if rng.random() < 0.8}
    number = rng.randint(2, 8)
    membership = {doc: random_distribution(rng, number) for doc in docs if rng.random() < 0.9}
    target = random_distribution(rng, number)
    kinds = (
        of_global_gains,
        of_types,
        of_each_intent,
        of_intents,
        of_levels,
        partial(of_classes, classes=classes, numbers={of_class: of_class for of_class in classes.values()}),
        partial(of_groups, membership=membership, target=target),
    )
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            yield from kind(Path(folder), s, topic)


def drawn(rng: np.random.Generator) -> tuple[random.Random, IntentTopic, Settings]:
    """Return a random topic, random settings, and the generator for further draws."""
    own = random.Random(int(rng.integers(2**32)))  # noqa: S311  # not for security
    return own, random_topic(own), Settings.drawn(own)


def compare(rng: np.random.Generator) -> Iterator[Compared]:
    """Compare a random topic. The reference takes the role that the package has in other oracles."""
    for name, ours, theirs in of_topic(*drawn(rng)):
        yield Compared(name.partition("@")[0], {"1": ours}, {"1": theirs})


ORACLE = Oracle("ntcir_eval: references", compare, missing=missing())
