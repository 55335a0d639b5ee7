"""Every measure, with random values of the parameters that it declares, equals its plain reference.

A family draws a collection, and returns it with a function that draws a measure: this measure, and its score
of a topic by the reference.
"""

import math
from functools import partial, singledispatch

import numpy as np
import pandas as pd
import pytest
from answers import answer_cases
from classics import classic_cases
from contracts.contract_cases import is_computed
from intents import intent_cases
from intents.test_intent_measures import known_of, rows_of
from measures import measure_cases
from nuggets import nugget_cases
from passages import passage_cases
from sampled import sampled_cases
from ties import tie_scores

import ir_graded
from ir_graded.measures import REGISTRY
from ir_graded.measures.base import ANSWERS
from ir_graded.measures.classic import CLASSICS
from ir_graded.measures.classic.ties import TIED_CLASSICS, takes_ranks, with_ranks, with_ties
from ir_graded.measures.params import Attributes, Choice, Flag, Importance, LevelTable, Number, Param, Whole
from reference import answers, chunks, groups, intents, ranked, rows, sampled, subtopics, ties, unjudged
from reference.tie_cases import rng_of

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

#: Topics of a collection, and measures with other parameters.
TOPICS, DRAWN = 4, 6
#: Measures that lack orders of tied documents, some of them with certain parameters only.
NO_TIES = {"EC", "GF", "GFR", "DIN", "DIN#"}
NO_MEAN = {"IPrec", "INST", "BPM", "NERR8", "NERR9", "NERR10", "NERR11", "Compat", "infAP", "Accuracy"}
SUPPORTED = {name: classic_cases.supported(name) for name in CLASSICS}
#: The same by the parameters that are set and their words, so that none is rare.
KINDS = {name: {} for name in CLASSICS}
for _name, _measures in SUPPORTED.items():
    for _one in _measures:
        _words = {key: one if isinstance(one, (str, bool)) else ... for key, one in _one.params.items()}
        KINDS[_name].setdefault(str(_words), []).append(_one)
OVER_INTENTS = [name for name, kind in CLASSICS.items() if kind.NEEDS]


# --------------------------------------------------------------------------------------------- parameters


@singledispatch
def value(param: Param, rng):
    """Return a value of a parameter. A new kind of parameter needs an entry here."""
    raise NotImplementedError(f"no random values for parameters of type {type(param).__name__}")


value.register(Whole, lambda _, rng: rng.choice([1, 2, 3, 4, 6, 1000]))
value.register(Flag, lambda _, rng: rng.random() < 0.5)
value.register(Choice, lambda param, rng: rng.choice([word for word in param.words if word != "ideal"]))
value.register(Importance, lambda param, rng: rng.choice([*param.WORDS, {2: 0.25, 1: 3}, {1: 1}]))
value.register(Attributes, lambda _, rng: rng.choice(["characters", "tokens"]))


@value.register(Number)
def _(param, rng):
    return rng.choice(measure_cases.numbers_of(param) if param.bounds else [4, 4.5, 20])


@value.register(LevelTable)
def _(_, rng):
    levels = (1, 2, 3, 0.5, 1.5, 2.75, 4, 0, -1)
    return {level: rng.choice(measure_cases.WEIGHTS) for level in levels if rng.random() < 1 / 2}


def parameters(rng, measure, *left):
    """Return random parameters that a measure takes together, without those that are ``left`` out."""
    fixed, params = measure_cases.fixed(measure), {}
    for name, param in measure.SUPPORTED_PARAMS.items():
        # Parameters that leave little of the others are drawn less often.
        share = 1 / 5 if name in {"rel", "judged_only"} else 1 / 2
        if name not in {*fixed, "ties", "ranks", *left} and rng.random() < share:
            params[name] = value(param, rng)
    params = measure_cases.together(measure, params) | fixed
    if "cutoff" not in left and measure_cases.needs_cutoff(measure, params):
        params.setdefault("cutoff", 3)
    return params


def drawn(rng, subject, *left):
    """Return a measure with random parameters."""
    if subject.NAME not in CLASSICS:
        return subject(**parameters(rng, subject, *left))
    alike = rng.choice([*KINDS[subject.NAME].values()])
    params = {k: v for k, v in rng.choice(alike).params.items() if k not in left}
    further = {k: value(param, rng) for k, param in CLASSICS[subject.NAME].FURTHER.items() if k not in left}
    of = TIED_CLASSICS[subject.NAME] if further and rng.random() < 0.5 else type(subject)
    return of(**params, **(further if of is not type(subject) else {}))


def with_base(rng, subject, *left, **more):
    """Return a measure with a random base measure, and name and parameters of this for the reference."""
    names = [one for one in subject.SUPPORTED_PARAMS["measure"].names if one in ranked.FORMULAS]
    while True:
        name, outer = rng.choice(names), {**more, **rng.choice([{}, {"cutoff": rng.randint(1, 6)}])}
        bases = [one for one in measure_cases.VARIANTS if name == one.NAME] or [CLASSICS[name].MEASURE]
        base = drawn(rng, rng.choice(bases), "cutoff", "residual", "depth", *left)
        if "gamma" in subject.SUPPORTED_PARAMS and rng.random() < 0.5:
            outer["gamma"] = rng.choice([0, 0.3, 1])
        try:
            measure = subject(measure=base, **outer)
        except ValueError:  # a base measure with these parameters is not taken, or does not read back
            continue
        if is_computed(measure):
            return measure, (name, dict(base.params))


def in_an_order(rng, measure, name):
    """Return the measure with a random order of tied documents, and the order."""
    how = rng.choice([*ties.TIES, "expected"])
    try:
        return with_ties(measure, how), how
    except ir_graded.ParameterError:
        of_intents = name in {"I-rec", "IA", "IA#", "P+Q", "P+Q#", *OVER_INTENTS}
        assert name in NO_TIES | (NO_MEAN if how == "expected" else set()) or of_intents
        return measure, "doc_id"


def further_of(measure):
    """Return the parameters without those that order documents."""
    return {name: one for name, one in measure.params.items() if name not in {"ties", "ranks"}}


# ---------------------------------------------------------------------------------------------- families


def of_lists(rng, subject):
    """Ranked lists of documents."""
    qrels, groups_of = tie_scores.random_collection(rng, TOPICS, most_orders=24)
    levels = {level for of_topic in qrels.values() for level in of_topic.values()}

    def one():
        lowest, name, how = 0, subject.NAME, "doc_id"
        if subject.NAME == "GM":
            lowest, (measure, (name, params)) = 0.00001, with_base(rng, subject)
            params["cutoff"] = measure.params.get("cutoff")
        else:
            measure = drawn(rng, subject)
            params = further_of(measure)
        if not params.get("residual"):
            measure, how = in_an_order(rng, measure, name)
        return measure, lambda topic: max(
            lowest, ties.score(name, params, how, qrels[topic], groups_of[topic], max(levels), levels)
        )

    return one, qrels, tie_scores.run_of(groups_of), {}


def of_rows(rng, subject):
    """Ranked lists with ranks='rows': the first row of a document counts."""
    scale = rng.choice([(0, 1), (-1, 0, 1, 2, 3), (1, 2), (0, 0.5, 1, 2)])
    qrels = {t: {d: rng.choice(scale) for d in rng.sample("abcdefgh", rng.randint(1, 8))} for t in "12"}
    levels = {level for of_topic in qrels.values() for level in of_topic.values()}
    run = [("1", "x", 1.0, 0, 1)]
    for topic in "12":
        docs = enumerate(rng.choices("abcdefghxyz", k=rng.randint(1, 12)))
        run += [(topic, doc, float(rng.randint(0, 12)), place, 3) for place, doc in docs]

    def one():
        measure = drawn(rng, subject, "residual")
        name, params = subject.NAME, further_of(measure)
        return with_ranks(measure, "rows"), lambda topic: rows.score(
            name, params, qrels[topic], rows.listed(row[1:] for row in run if row[0] == topic), levels
        )

    return one, qrels, passage_cases.frame("run", run), {}


def tied(rng, docs):
    """Return a ranking as groups of tied documents, with few orders."""
    found, most = [], 12
    while docs:
        size = rng.choice([size for size in (1, 1, 2, 3) if math.factorial(size) <= most])
        found, docs, most = [*found, docs[:size]], docs[size:], most // math.factorial(size)
    return found


def intent_topics(rng):
    """Return topics with intents, and their rankings with ties."""
    topics = {}
    while len(topics) < TOPICS:
        topic = intent_cases.random_topic(rng, 10)
        for levels in topic.levels.values():
            levels.update(dict.fromkeys(rng.sample(["x0", "x1", "x2"], rng.randint(0, 2)), -1))
        if all(topic.levels.values()) and sum(topic.P.values()) > 0:
            topics[f"t{len(topics)}"] = topic
    return topics, {name: tied(rng, topic.retrieved[:12]) for name, topic in topics.items()}


def over_intents(rng, subject):
    """Measures over intents, of this package and of pyndeval."""
    topics, groups_of = intent_topics(rng)
    known = known_of(topics) if rng.random() < 0.8 else None
    qrels = rows_of(topics).drop(columns=[] if known else ["probability", "intent_type"])
    every, name = set(qrels["relevance"]), subject.NAME

    def one():
        if "measure" in subject.SUPPORTED_PARAMS:
            measure, base = with_base(rng, subject, *(["stops"] if name[0] == "D" else []))
            params = {**measure.params, "measure": base}
        else:
            measure = drawn(rng, subject)
            params = further_of(measure)
            base = name, params
        measure, how = in_an_order(rng, measure, name)

        def score(topic):
            levels, P, nav = (
                topics[topic].levels,
                *((topics[topic].P, topics[topic].nav) if known else (None, ())),
            )
            if name in OVER_INTENTS:
                return ties.tied_score(
                    how, groups_of[topic], str, partial(subtopics.score, name, params, levels)
                )
            gains = intents.global_gains(base, levels, intents.probabilities(base, levels, P))
            return ties.tied_score(
                how,
                groups_of[topic],
                str if how == "expected" else lambda doc: gains.get(doc, 0),
                lambda order: intents.score(name, params, levels, order, P, nav, every),
            )

        return measure, score

    return one, qrels, tie_scores.run_of(groups_of), {"intents": known} if known else {}


def of_groups(rng, subject):
    """Equivalence classes and group fairness."""
    topics, groups_of = intent_topics(rng)
    levels = {name: intents.document_levels(topic.levels) for name, topic in topics.items()}
    every = {level for of_topic in levels.values() for level in of_topic.values()}
    ranking = {t: [doc for group in of for doc in sorted(group, reverse=True)] for t, of in groups_of.items()}
    sizes = {"A": rng.randint(2, 6), "B": rng.randint(2, 6)}
    classes = {t: {doc: rng.randint(1, 5) for doc in of if rng.random() < 0.8} for t, of in levels.items()}
    member = {
        name: {
            topic: {doc: intent_cases.random_distribution(rng, size) for doc in of if rng.random() < 0.9}
            for topic, of in levels.items()
        }
        for name, size in sizes.items()
    }
    qrels = pd.DataFrame(
        [
            (topic, doc, level, classes[topic].get(doc), *(of[topic].get(doc) for of in member.values()))
            for topic, of_topic in levels.items()
            for doc, level in of_topic.items()
        ],
        columns=["query_id", "doc_id", "relevance", "equivalence_class", *sizes],
    ).astype(dict.fromkeys(["equivalence_class", *sizes], object))

    def one():
        if subject.NAME == "EC":
            measure, base = with_base(rng, subject)
            cutoff = measure.params.get("cutoff")
            # If gains fall, the highest level of a class is not the best, and the score is cut off at 1.
            return measure, lambda topic: min(
                1.0, intents.ec(base, levels[topic], classes[topic], ranking[topic], cutoff, every)
            )
        params = parameters(rng, subject, "groups", "target", "targets", "measure", "cutoff")
        name = rng.choice([*sizes])
        target = intent_cases.random_distribution(rng, sizes[name]) if rng.random() < 0.5 else None
        if subject.NAME == "GF":
            cutoff = rng.choice([{}, {"cutoff": rng.randint(1, 6)}])
            given = {**params, **cutoff, **({"target": target} if target else {})}
            return subject(groups=name, **given), lambda topic: groups.gf(
                {"divergence": "JSD", **given},
                *(levels[topic], ranking[topic], member[name][topic], sizes[name], max(every), every),
            )
        chosen = {one: rng.choice([*groups.DIVERGENCES]) for one in {name, rng.choice([*sizes])}}
        given = {**params, "groups": chosen, "targets": {name: target} if target else {}}
        measure, (base, of_base) = with_base(rng, subject, **given)
        takes = (REGISTRY.get(base) or CLASSICS[base].MEASURE).SUPPORTED_PARAMS
        own = {k: v for k, v in ranked.defaults(base).items() if k in groups.DEFAULTS and k not in takes}
        given |= {"measure": (base, {**own, **of_base}), "cutoff": measure.params.get("cutoff")}
        return measure, lambda topic: groups.gfr(
            given,
            *(levels[topic], ranking[topic], {one: member[one][topic] for one in sizes}),
            *(sizes, max(every), every),
        )

    return one, qrels, tie_scores.run_of(groups_of), {}


def of_text(rng, subject):
    """Passages, rows and nuggets."""
    qrels, run = nugget_cases.random_topics(rng.random(), TOPICS)
    qrels["aspects"] = [rng.choice(["A", "B", "A|B", " B |C", None]) for _ in range(len(qrels))]
    of_articles = subject.NAME in passage_cases.MEASURES
    if of_articles:
        run["score"] = [float(rng.randrange(4)) for _ in range(len(run))]
    gold = [
        (*row[:5], row[-1] if isinstance(row[-1], str) else None) for row in qrels.itertuples(index=False)
    ]
    found = [*run.drop(columns="tokens").itertuples(index=False, name=None)]

    def one():
        measure = drawn(rng, subject)
        if measure.params.get("graded"):  # a higher level has no smaller gain
            measure = measure(
                gains=dict(zip((1, 2, 3), sorted(rng.sample(measure_cases.WEIGHTS, 3)), strict=True))
            )
        params = further_of(measure)
        if of_articles:
            measure, how = in_an_order(rng, measure, subject.NAME)
            scores = ties.evaluate_passages(subject.NAME, params, how, [row[:5] for row in gold], found)
            return measure, scores.get
        if subject.NAME in chunks.MEASURES and "budget" not in params:
            return measure, chunks.evaluate(subject.NAME, params, gold, found).get
        rows_of_topic, gold_of_topic = (
            {topic: of.drop(columns="query_id").values.tolist() for topic, of in table.groupby("query_id")}
            for table in (run, qrels.drop(columns="aspects"))
        )
        return measure, lambda t: nugget_cases.expected(measure, gold_of_topic[t], rows_of_topic.get(t, []))

    return one, qrels, run, {}


SAMPLED = {"xinfAP": sampled.xinf_ap, "infQ": sampled.inf_q, "infNDCG": sampled.inf_ndcg}


def of_samples(rng, subject):
    """Judgments of samples by strata."""
    source = np.random.default_rng(rng.randrange(10**6))
    topics = {str(topic): sampled_cases.collection(source) for topic in range(TOPICS)}
    qrels = pd.concat([sampled_cases.frame(of, topic=topic) for topic, (of, _) in topics.items()])
    run = {topic: sampled_cases.run_of(docs, topic)[topic] for topic, (_, docs) in topics.items()}

    def one():
        measure = drawn(rng, subject)

        def score(topic):
            of, docs = topics[topic]
            levels, strata = {doc: level for doc, _, level in of}, {doc: stratum for doc, stratum, _ in of}
            return SAMPLED[subject.NAME](levels, strata, docs, **measure.params)

        return measure, score

    return one, qrels, run, {}


FAMILIES = {
    of_lists: [
        *measure_cases.VARIANTS,
        *(CLASSICS[one].MEASURE for one in CLASSICS if one not in OVER_INTENTS),
        ir_graded.GM,
    ],
    over_intents: [
        *(REGISTRY[one] for one in ("I-rec", "D", "D#", "DIN", "DIN#", "IA", "IA#", "P+Q", "P+Q#")),
        *(CLASSICS[one].MEASURE for one in OVER_INTENTS),
    ],
    of_groups: [ir_graded.EC, ir_graded.GF, ir_graded.GFR],
    of_text: [
        *(ir_graded.MAgP, ir_graded.gP @ 2, ir_graded.gR @ 3, ir_graded.PassageAP, ir_graded.Passage2AP),
        *(ir_graded.CharP, ir_graded.CharR, ir_graded.CharF, ir_graded.IoU, ir_graded.AspectAP),
        *(ir_graded.U(L=L, of=of) for L in (20, 110) for of in ("rows", "characters", "nuggets")),
        *(ir_graded.iP(overlap="retrieved") @ 0.3, ir_graded.AiP(overlap="retrieved"), ir_graded.NuggetR),
    ],
    of_samples: [REGISTRY[one] for one in SAMPLED],
}
CASES = [(family, subject) for family, subjects in FAMILIES.items() for subject in subjects]
#: Also with ranks of rows.
CASES += [(of_rows, one) for one in FAMILIES[of_lists] if takes_ranks(one)]


def name_of(one):
    """Return the name of a family or a measure."""
    return getattr(one, "__qualname__", str(one))


def assert_equal_the_reference(rng, family, subject):
    one, qrels, run, options = family(rng, subject)
    chosen = dict(one() for _ in range(DRAWN))
    found = ir_graded.evaluate([*chosen], qrels, run, **options)
    for (measure, score), values in zip(chosen.items(), found.values[:, 0].tolist(), strict=True):
        assert values == pytest.approx([score(topic) for topic in found.query_ids], abs=1e-12), measure


@pytest.mark.every
@pytest.mark.parametrize(("family", "subject"), CASES, ids=name_of)
def test_measures_equal_the_reference(family, subject):
    rng = rng_of(f"{family.__name__} {subject}")
    for _ in range(3 if len(subject.SUPPORTED_PARAMS) > 2 else 8):
        assert_equal_the_reference(rng, family, subject)


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["graded", "soft"])
def test_long_lists_in_tables_equal_the_reference(scale):
    """Some scores are equal only as float32."""
    rng, docs, levels = rng_of(scale), [f"d{n}" for n in range(300)], measure_cases.SCALES[scale]
    qrels = {topic: {doc: rng.choice(levels) for doc in rng.sample(docs, 100)} for topic in "123"}
    run = {topic: {doc: 1 + rng.randrange(90) / 1e9 for doc in rng.sample(docs, 200)} for topic in "123"}
    chosen = {drawn(rng, one): one.NAME for one in FAMILIES[of_lists] if one.NAME != "GM"}
    rows_of_run = measure_cases.run_rows(run)
    rng.shuffle(rows_of_run)
    found = ir_graded.evaluate([*chosen], qrels, measure_cases.run_frame(rows_of_run))
    for (measure, name), values in zip(chosen.items(), found.values[:, 0].tolist(), strict=True):
        wanted = ranked.evaluate(name, measure.params, qrels, run)
        assert values == pytest.approx([*wanted.values()], abs=1e-12), measure


@pytest.mark.parametrize("name", unjudged.WITH_BOUNDS)
def test_bounds_equal_the_reference(name):
    rng, subject, wider = rng_of(f"bounds {name}"), REGISTRY.get(name) or CLASSICS[name].MEASURE, 0
    for _ in range(8):
        qrels, groups_of = tie_scores.random_collection(rng, TOPICS)
        levels = {level for of_topic in qrels.values() for level in of_topic.values()}
        measure = drawn(rng, subject, "judged_only", "relative", "residual", "norm")
        measure = measure if name != "NumRet" else measure(rel=rng.choice([1, 2]))
        found = ir_graded.score_bounds(measure, qrels, tie_scores.run_of(groups_of))
        for at, topic in enumerate(qrels):
            order = [doc for group in groups_of[topic] for doc in sorted(group, reverse=True)]
            highest = measure.params.get("max_rel", max(levels))
            params = {"p": ranked.defaults(name)["p"], **measure.params}
            wanted = unjudged.bounds(name, params, qrels[topic], order, highest, levels)
            got = found.lower[0, 0, at], found.upper[0, 0, at]
            assert got == pytest.approx(wanted, abs=1e-12), measure
            wider += got[1] > got[0]
    assert wider > 5


def test_the_residual_of_grbp_equals_the_reference():
    rng = rng_of("residual")
    for _ in range(8):
        qrels, groups_of = tie_scores.random_collection(rng, TOPICS)
        measure = drawn(rng, ir_graded.gRBP, "norm", "residual")(residual=True)
        for metric in measure.iter_calc(qrels, tie_scores.run_of(groups_of)):
            order = [doc for group in groups_of[metric.query_id] for doc in sorted(group, reverse=True)]
            wanted = unjudged.residual(measure.params, qrels[metric.query_id], order)
            assert metric.residual == pytest.approx(wanted, abs=1e-15), measure


@pytest.mark.parametrize("lists", [False, True])
def test_scores_of_nuggets_in_answers_equal_the_reference(lists):
    for seed in range(10):
        given, listed = answer_cases.random_answers(seed)
        chosen = [*dict.fromkeys(drawn(rng_of(f"{seed} {at}"), ir_graded.NuggetScore) for at in range(4))]
        found = ir_graded.score_answers(chosen, given, nuggets=listed if lists else None)
        for measure, values in zip(chosen, found.values, strict=True):
            wanted = answers.nugget_scores(given, listed if lists else None, **measure.params)
            for (run, topic), score in wanted.items():
                got = values[found.runs.index(run), found.query_ids.index(topic)]
                assert got == pytest.approx(float(score), abs=1e-15), measure


def test_scores_of_citations_in_answers_equal_the_reference():
    for seed in range(20):
        given, several = answer_cases.random_support(seed), ("first", "mean")[seed % 2]
        chosen = [ir_graded.CitationP(several=several), ir_graded.CitationR(several=several)]
        found = ir_graded.score_answers(chosen, citations=given)
        for one in given:
            at = found.runs.index(one["run_id"]), found.query_ids.index(one["topic_id"])
            wanted = answers.citation_scores(one, several)
            assert found.values[(slice(None), *at)] == pytest.approx([*map(float, wanted)], abs=1e-15)


def test_every_measure_has_a_reference():
    named = {subject.NAME for _, subject in CASES}
    assert named == {measure.NAME for measure in REGISTRY.values()} | {*CLASSICS}
    assert {measure.NAME for measure in ANSWERS.values()} == {"NuggetScore", "CitationP", "CitationR"}
