"""Results that a change must keep. ``python tests/recorded/recorded_results.py`` writes expected.jsonl.

Each line has the sums of the numbers of one result, such as all scores by one measure, with which
test_recorded_results.py compares. Machines round last digits differently, so the numbers themselves cannot
be compared bit by bit; the sums show whether any of them changed.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import ir_measures
import numpy as np
import pandas as pd
from classics import classic_cases
from contracts import contract_cases
from ecosystem import forms
from helpers import covid_sample
from measures import measure_cases
from nuggets import nugget_cases

import ir_graded
from ir_graded import meta

EXPECTED = Path(__file__).with_name("expected.jsonl")
#: Largest difference of sums, relative to the sum of absolute values.
TOLERANCE = 1e-13

#: Values of parameters. Each measure is recorded without parameters, and with each value of each of these.
VALUES = {
    "beta": (0, 0.25, 0.5, 10, math.inf),
    "cutoff": (1, 3, 10, 1000),
    "gains": ({1: 1, 2: 5}, {1: 0}, {0.5: 3, 1: 1e-9, 2: 1e9}, {1: 1e100, 2: 1e-100}),
    "gamma": (0.5, 1),
    "judged_only": (True,),
    "max_rel": (4, 1000),
    "norm": ("cutoff",),
    "p": (0.5, 1),
    "rel": (0.5, 2),
    "stops": ({1: 0, 2: 3}, {1: 1e-6}),
    "ties": ("expected",),
    "weights": ({1: 0, 2: 1}, {1: 100, 3: 1e-3}),
}
TOGETHER = ({"judged_only": True}, {"norm": "cutoff"}, {"rel": 2})
STOPS = ("rb", "u", "first", "preferred", "up_to_preferred", "err")
CLASSICS = """
AP AP@1 AP@10 AP(rel=2) AP(rel=2)@5 AP(judged_only=True) AP(judged_only=True,rel=2)@30 RR RR@10
RR(rel=2) RR(judged_only=True) P@1 P@10 P(rel=2)@10 P(judged_only=True)@5 R@10 R@1000 R(rel=2)@100
R(judged_only=True)@10 Rprec Rprec(rel=2) Rprec(judged_only=True) Success@1 Success@10
Success(rel=2)@5 Success(judged_only=True)@3 Bpref Bpref(rel=2) nDCG nDCG@1 nDCG@10
nDCG(judged_only=True)@10 nDCG(dcg='exp-log2')@10 nDCG(dcg='exp-log2')@1000
nDCG(gains={1:3,2:10})@10 ERR@1 ERR@10 ERR@1000 RBP(rel=1) RBP(p=0.5,rel=1) RBP(p=0.95,rel=2)
RBP(p=1.0,rel=1) RBP(p=0.0,rel=1) Judged Judged@10 NumRet NumRet(rel=1) NumRet(rel=2) NumRel NumQ
SetP SetP(rel=2) SetP(relative=True) SetP(judged_only=True) SetR SetR(rel=2) SetF SetF(beta=0.0)
SetF(beta=0.5,rel=2) SetF(beta=3.0) SetF(judged_only=True) SetAP SetAP(rel=2) SetAP(judged_only=True)
IPrec@0.0 IPrec@0.125 IPrec(rel=2)@0.5 IPrec(judged_only=True)@1.0 Accuracy Accuracy@10 Accuracy(rel=2)
Compat Compat(p=0.8) Compat(normalize=False,p=0.5) SDCG(max_rel=3)@10 SDCG(max_rel=4,min_rel=1)@1000
INSQ(max_rel=3) INSQ(T=2.0,max_rel=4,min_rel=1) INST(max_rel=3) INST(T=2.0,max_rel=4,min_rel=1)
BPM(max_rel=3)@10 BPM(T=0.5,max_rel=4,min_rel=1)@100 NERR8(max_rel=3)@10 NERR8(max_rel=4,min_rel=1)@100
NERR9(max_rel=3)@10 NERR9(max_rel=4,min_rel=1)@1000 NERR10(max_rel=3) NERR10(max_rel=4,min_rel=1,p=0.5)
NERR11(max_rel=3) NERR11(T=2.0,max_rel=4,min_rel=1) infAP
"""
URBANO = Path(__file__).resolve().parents[2] / "notebooks" / "data" / "urbano"


def own(subjects):
    """Return each measure with each value of each parameter, and some with a cutoff too."""
    tables = [{name: value} for name, values in VALUES.items() for value in values]
    found = {}
    for subject in subjects:
        stops = [{"stop": stop} for stop in STOPS if "stop" in subject.SUPPORTED_PARAMS]
        for base in [{}, *stops]:
            for given in [{}, *tables, *({"cutoff": 10, **more} for more in TOGETHER)]:
                params = measure_cases.together(subject, base | given)
                if params == base | given:
                    if measure_cases.needs_cutoff(subject, params):
                        params.setdefault("cutoff", 10)
                    measure = subject(**params)
                    found[str(measure)] = measure
    return [*found.values()]


def classics():
    """Return the classics above with their parameters, and those that are not among them, if any."""
    listed = [*map(ir_measures.parse_measure, CLASSICS.split()), ir_measures.nDCG(gains={0: 1, 1: -1})]
    others = classic_cases.OF_DOCUMENTS.keys() - {measure.NAME for measure in listed}
    return [*listed, *(classic_cases.supported(name)[0] for name in sorted(others))]


# ------------------------------------------------------------------------------------------------- results
# Each function yields names of results, inputs, and the results.

OF_DOCUMENTS = [*measure_cases.MEASURES.values(), *contract_cases.SAMPLED]
OF_COLUMNS = [one for some in contract_cases.WITH_COLUMNS.values() for one in some]
OF_PASSAGES = [
    *own(one for one in contract_cases.PASSAGES if one.NAME not in contract_cases.OF_ROWS),
    *(one for some in contract_cases.OF_ROWS.values() for one in some),
]


def scored(where, measures, qrels, runs):
    """Yield the scores of topics by each measure, and their means."""
    scores = ir_graded.evaluate(measures, qrels, runs)
    labels = [f"{run}, {topic}" for run in scores.runs for topic in scores.query_ids]
    labels += [f"{run}, mean" for run in scores.runs]
    means = scores.mean().loc[[*scores.runs]].to_numpy()
    for at, (name, values) in enumerate(zip(scores.names, scores.values, strict=True)):
        yield name, where, pd.Series(np.append(values, means[:, at]), labels)


def sample_runs(count):
    return dict([*covid_sample().runs.items()][:count])


def sample():
    """Three runs of the sample by every measure of documents with its parameters."""
    yield from scored("all runs", [*own(OF_DOCUMENTS), *classics()], covid_sample().qrels, sample_runs(3))


def collections():
    """Random collections by measures of documents, of passages, and of further columns."""
    for at, one in enumerate(contract_cases.UP_TO_4[::3]):
        measures = [*own(OF_DOCUMENTS), *classics()]
        if one.scale not in measure_cases.WHOLE_SCALES:
            measures = [each for each in measures if not contract_cases.declared(each).NEEDS_WHOLE_LEVELS]
        yield from scored(f"{at}", measures, one.qrels, one.run)
        tables = contract_cases.passage_tables(one.qrels, one.run)
        yield from scored(f"{at} with columns", [*OF_PASSAGES, *OF_COLUMNS], *tables)
    gold, run = nugget_cases.random_topics(0, 40)
    gold, run = gold.assign(aspects=gold["iteration"]), run.drop_duplicates(["query_id", "doc_id"])
    yield from scored("nuggets", OF_PASSAGES, gold, run)


def of_topics(table):
    """Return the first rows of three topics."""
    return table[table["query_id"].isin(["1", "3", "17"])].groupby("query_id", sort=False).head(300)


def reading():
    """Qrels and runs in every form, read as tables."""
    run = of_topics(sample_runs(1).popitem()[1])
    tables = {"qrels": of_topics(covid_sample().qrels), "run": run.assign(score=run["score"] / 7)}
    for name, form in forms.FORMS.items():
        for kind in form.kinds:
            read, rows = f"read_{kind}", [*tables[kind].itertuples(index=False, name=None)]
            if read in form.unlike:  # it is not read as a table
                continue
            with tempfile.TemporaryDirectory() as folder:
                found = getattr(ir_graded, read)(form.make(kind, form.holds(kind, rows), folder))
                yield f"{kind}: {name}", "", found.set_index(["query_id", "doc_id"]).iloc[:, 0]


def explain():
    """The documents of a topic that count, by each measure."""
    name, run = sample_runs(1).popitem()
    where = f"{name}, topic 1"
    stops = [ir_graded.NCU(stop=stop) for stop in STOPS]
    first = {each.NAME: each for each in reversed(classics())}
    for subject in [*OF_DOCUMENTS, *stops, *first.values()]:
        is_cut = "cutoff" in subject.params or not measure_cases.needs_cutoff(subject, {})
        measure = subject if is_cut else subject @ 10
        with suppress(ir_graded.GradedError):
            found = ir_graded.explain(measure, of_topics(covid_sample().qrels), of_topics(run), "1")
            for column, values in found.columns.items():
                yield f"{measure}, column {column}", where, values
            yield f"{measure}, score", where, found.score
            counts = {"relevant": found.relevant, "retrieved": found.retrieved, "below": found.below}
            yield f"{measure}, counts", where, counts


def statistics():
    """Every statistic of the meta-evaluation, of matrices of TREC Web 2010 and of drawn scores."""
    yield from of_matrices()
    yield from of_ties()
    draw = np.random.default_rng(1).random
    parts = {f"{topics} topics": {"Q": draw((topics, 4))} for topics in (8, 10, 12, 20, 40)}
    for effect in meta.across_collections.choices["effect"]:
        for method in meta.across_collections.choices["method"]:
            found = meta.across_collections(parts, 0, effect=effect, method=method, rng=4)
            yield "across_collections", f"{effect}, {method}", found


def of_matrices():
    read = {path.stem: pd.read_csv(path) for path in sorted(URBANO.glob("web2010_*.csv"))}
    (name, matrix), *_ = read.items()
    matrix, options = matrix.iloc[:, :10], {"n_resamples": 100, "rng": 0}
    for test in meta.discriminative_power.choices["test"]:
        for alpha in (0.05, 0.01):
            found = meta.discriminative_power(matrix, test=test, alpha=alpha, **options)
            yield f"discriminative_power {test}", f"{name}, alpha {alpha}", found
            yield f"discriminative_power {test}.curve", f"{name}, alpha {alpha}", found.curve
    for alternative in ("greater", "two-sided"):
        found = meta.significance(matrix, alternative=alternative, **options)
        yield f"significance {alternative}", name, found
        yield f"significance {alternative}.count", name, found.count
    yield "stability", name, meta.stability(matrix, **options)
    for resample in ("bootstrap", "disjoint"):
        yield f"swap {resample}", name, meta.swap(matrix, resample=resample, **options)

    scores = {stem.removeprefix("web2010_"): of.iloc[:, :12] for stem, of in read.items()}
    for one in scores:
        yield "rank_correlations", f"web2010, {one}", meta.rank_correlations(scores, one)
    for level in (0.95, 0.5):
        found = meta.confidence_intervals(scores, confidence=level, n_resamples=50, rng=1)
        yield "confidence_intervals", f"web2010, level {level}", found
    for baseline in (matrix.columns[0], scores["ap"].columns[-1]):
        yield "differences", f"web2010, {baseline}", meta.differences(scores, baseline, rng=2)
    yield "differences", "web2010, all pairs", meta.differences(scores, rng=2)
    yield "ranks", "web2010", meta.ranks(scores, rng=2)
    options = {"reference": "rr", "n_resamples": 50, "rng": 3, "fuzziness": 0.03}
    yield "compare bootstrap", "web2010", meta.compare_measures(scores, test="bootstrap", **options)


def of_ties():
    draw = np.random.default_rng(0).random
    for number in range(20):
        length = 2 + int(draw() * 40)
        plain = draw(length), draw(length)
        tied = [np.floor(one * 6) for one in plain]
        for one in ("kendall_tau", "tau_ap"):
            yield one, f"{number}", getattr(meta, one)(*plain)
        for one in ("kendall_tau", "kendall_tau_b", "tau_ap_b"):
            yield one, f"{number}, tied", getattr(meta, one)(*tied)
        yield "tau_ap_a", f"{number}, tied", meta.tau_ap_a(plain[0], tied[1])
        # Means of tenths that differ only by rounding.
        tenths = {one: np.floor(draw((3, 8)) * 6) / 10 for one in ("one", "other")}
        where = f"{number}, tenths"
        yield "rank_correlations", where, meta.rank_correlations(tenths, "one")
        yield "differences", where, meta.differences(tenths, 0, n_resamples=200, rng=number)
        yield "swap", where, meta.swap(tenths["one"], n_resamples=50, rng=number)


def unjudged():
    """Shares of unjudged documents."""
    found = ir_graded.unjudged(covid_sample().qrels, sample_runs(20))
    yield "unjudged", "sample", found
    yield "unjudged.rank_frame()", "sample", found.rank_frame().to_numpy()


SECTIONS = {one.__name__: one for one in (sample, collections, reading, explain, statistics, unjudged)}

# ------------------------------------------------------------------------------------------------- their sums


def parts(value, name):
    """Yield the arrays and texts of a result: name, values, and a label for each value."""
    if is_dataclass(value):
        kept = [one for one, of in vars(type(value)).items() if isinstance(of, cached_property)]
        for attribute in [*(field.name for field in fields(value)), *kept]:
            if not attribute.startswith("_"):
                yield from parts(getattr(value, attribute), f"{name}.{attribute}")
        if hasattr(value, "to_frame"):
            yield from parts(value.to_frame(), f"{name}.to_frame()")
    elif isinstance(value, pd.DataFrame):
        yield f"{name} columns", np.array([*map(text, value.columns)]), ()
        for column in value.columns:
            yield from parts(value[column], f"{name}[{text(column)}]")
    elif isinstance(value, Mapping) and not all(map(np.isscalar, value.values())):
        for key, one in value.items():
            yield from parts(one, f"{name}[{text(key)}]")
    elif isinstance(value, (Mapping, pd.Series)):
        one = pd.Series(value)
        labels = () if isinstance(one.index, pd.RangeIndex) else tuple(map(text, one.index))
        yield name, one.to_numpy(), labels
    else:
        yield name, np.ravel(value), ()


def text(value):
    """Return text unchanged, anything else with its type: 1 is not '1'."""
    if isinstance(value, tuple):
        return ", ".join(map(text, value))
    is_name = isinstance(value, (str, ir_measures.measures.Measure))
    return str(value) if is_name else f"{type(value).__name__} {value}"


def recorded(section):
    """Return the lines of a section now, by section and result.

    A line has the number of values; the sum of the absolute values of numbers; their sum with the weight
    1/2 + frac(i * golden ratio) at position i; and a digest of labels, texts and numbers that are not finite.
    """
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for what, where, result in SECTIONS[section]():
            for name, values, labels in parts(result, what):
                found.setdefault(name, {})[where] = values, labels
    lines = {}
    for name, by_place in sorted(found.items()):
        count, finite, others = 0, [], sha256()
        for where, (values, labels) in sorted(by_place.items()):
            count += len(values)
            others.update(repr((where, labels)).encode())
            if values.dtype.kind in "biuf":
                numbers = values.astype(np.float64)
                finite += numbers[np.isfinite(numbers)].tolist()
                others.update(repr(numbers[~np.isfinite(numbers)].tolist()).encode())
            else:
                others.update(repr([*map(text, values)]).encode())
        mixed = math.fsum(one * (0.5 + at * (5**0.5 - 1) / 2 % 1) for at, one in enumerate(finite, 1))
        lines[section, name] = [count, math.fsum(map(abs, finite)), mixed, others.hexdigest()[:12]]
    return lines


def expected():
    """Return the stored lines, by section and result."""
    lines = map(json.loads, EXPECTED.read_text(encoding="utf-8").splitlines())
    return {(section, what): line for section, what, *line in lines}


def equal(one, other):
    """Return whether two lines are equal up to rounding."""
    most = TOLERANCE * other[1]
    return one[::3] == other[::3] and all(abs(one[at] - other[at]) <= most for at in (1, 2))


def write():
    """Store the lines of now; those that are equal up to rounding keep their last digits."""
    before = expected()
    with EXPECTED.open("w", encoding="utf-8") as file:
        for section in SECTIONS:
            for key, line in recorded(section).items():
                old = before.get(key)
                stored = old if old and equal(line, old) else line
                file.write(json.dumps([*key, *stored], ensure_ascii=False) + "\n")


if __name__ == "__main__":
    write()
