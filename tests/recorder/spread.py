"""The recorded measures: every registered one with a spread of parameters, and the classics.

A measure that is registered later adds names to the spread and changes no others: the draws for a measure
depend only on its name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from typing import Any

import ir_measures

import ir_graded
from ir_graded import GradedMeasure
from ir_graded.measures.classic import CLASSICS as REGISTERED

#: Values of parameters, by name. A parameter without an entry is recorded with its default.
VALUES: dict[str, tuple[Any, ...]] = {
    "beta": (0, 0.25, 0.5, 10, math.inf),
    "cutoff": (1, 3, 10, 1000),
    "gains": ({1: 1, 2: 5}, {1: 0}, {0.5: 3, 1: 1e-9, 2: 1e9}, {1: 1e100, 2: 1e-100}),
    "gamma": (0.5, 1),
    "judged_only": (True,),
    "max_rel": (4, 1000),
    "norm": ("cutoff",),
    "p": (0.5, 1),
    "rel": (0.5, 2),
    "stop": ("u", "rb", "first", "preferred", "up_to_preferred", "err"),
    "stops": ({1: 0, 2: 3}, {1: 1e-6}),
    "weights": ({1: 0, 2: 1}, {1: 100, 3: 1e-3}),
}
#: Cutoff of variants of measures that cannot be computed without one.
_CUTOFF = 10
#: Number of drawn combinations of several parameters per measure; each parameter is in this share of them.
_COMBINATIONS = 40
_SHARE = 0.4

#: The classics, with the parameters that `evaluate` computes itself.
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
NERR11(max_rel=3) NERR11(T=2.0,max_rel=4,min_rel=1)
"""

#: The highest level that a classic is defined for; all others have no limit.
_HIGHEST = {"ERR": 4, "nDCG(dcg='exp-log2')": 1000}


def unit(text: str) -> float:
    """Return a number in [0, 1) drawn for a text, equal in every process."""
    return int(sha256(text.encode()).hexdigest()[:13], 16) / 16**13


@cache
def registered(*, passages: bool = False) -> tuple[GradedMeasure, ...]:
    """Return the package's measures without parameters, by name: over documents, or over passages."""
    registry = ir_measures.measures.registry
    return tuple(
        measure
        for name, measure in sorted(registry.items())
        if isinstance(measure, GradedMeasure)
        and name == measure.NAME
        and passages == any(facet.kind == "span" for facet in measure.NEEDS)
    )


def plain() -> tuple[ir_measures.measures.Measure, ...]:
    """Return each measure over documents without parameters, NCU with each stop, and one of each classic."""
    one_of_each = {measure.NAME: measure for measure in reversed(classics())}
    return (*_computable(_bases(passages=False)), *one_of_each.values())


@cache
def single(*, passages: bool = False) -> tuple[GradedMeasure, ...]:
    """Yield each measure without parameters, with each value of one parameter, and some with a cutoff."""
    return _computable(
        (measure, base | params)
        for measure, base in _bases(passages=passages)
        for params in _single(measure)
        if params.keys().isdisjoint(base)
    )


def _single(measure: GradedMeasure) -> Iterator[dict[str, Any]]:
    yield {}
    for name in _varied(measure):
        yield from ({name: value} for value in VALUES[name])
    yield {"cutoff": _CUTOFF, "judged_only": True}
    yield {"cutoff": _CUTOFF, "norm": "cutoff"}
    yield {"cutoff": _CUTOFF, "rel": 2}


@cache
def combined(*, passages: bool = False) -> tuple[GradedMeasure, ...]:
    """Yield each measure with several parameters at a time, drawn by its name."""
    return _computable(
        (measure, _drawn(measure, f"{base} {number}") | base)
        for measure, base in _bases(passages=passages)
        for number in range(_COMBINATIONS)
    )


def _drawn(measure: GradedMeasure, seed: str) -> dict[str, Any]:
    params = {}
    for name in _varied(measure):
        place = unit(f"{measure.NAME} {seed} {name}") / _SHARE
        if place < 1:
            params[name] = VALUES[name][int(place * len(VALUES[name]))]
    return params


def _bases(*, passages: bool) -> Iterator[tuple[GradedMeasure, dict[str, Any]]]:
    """Yield each measure; after one that takes a stop, that measure with each other stop."""
    for measure in registered(passages=passages):
        yield measure, {}
        if "stop" in measure.SUPPORTED_PARAMS:
            yield from ((measure, {"stop": stop}) for stop in VALUES["stop"])


def _varied(measure: GradedMeasure) -> list[str]:
    """Return the parameters to vary."""
    return [name for name in sorted(measure.SUPPORTED_PARAMS) if name in VALUES and name != "stop"]


def _computable(variants: Iterator[tuple[GradedMeasure, dict[str, Any]]]) -> tuple[GradedMeasure, ...]:
    """Return the computable measures without duplicates; a cutoff is added if needed."""
    found = {}
    for measure, given in variants:
        params = dict(given)
        cutoff = measure.SUPPORTED_PARAMS.get("cutoff")
        if cutoff is not None and (cutoff.required or params.get("norm") == "cutoff"):
            params.setdefault("cutoff", _CUTOFF)
        try:
            made = measure(**params)
            made.validate_params()
        except ir_graded.ParameterError:
            continue
        found[str(made)] = made
    return tuple(found.values())


@cache
def classics() -> tuple[ir_measures.measures.Measure, ...]:
    """Return the classics with parameters, and those that are not in the list above with required ones."""
    # Negative gains cannot be written in a string.
    listed = (*map(ir_measures.parse_measure, CLASSICS.split()), ir_measures.nDCG(gains={0: 1, 1: -1}))
    names = {"infAP", *(measure.NAME for measure in listed)}  # infAP is among the measures of other providers
    others = (kind.MEASURE for n, kind in sorted(REGISTERED.items()) if n not in names and not kind.NEEDS)
    return (*listed, *(_with_required(measure) for measure in others))


def _with_required(measure: ir_measures.measures.Measure) -> ir_measures.measures.Measure:
    required = {name for name, param in measure.SUPPORTED_PARAMS.items() if param.required}
    return measure(**dict.fromkeys(required, _CUTOFF))


def fits(measure: ir_measures.measures.Measure, highest: float) -> bool:
    """Return whether a measure is defined for levels up to ``highest``."""
    limits = [limit for name, limit in _HIGHEST.items() if str(measure).startswith((f"{name}@", f"{name}("))]
    limits += [measure.params["max_rel"]] if "max_rel" in measure.params else []
    limits += [1000] if measure.NAME in {"EBR", "iRBU", "nERR"} or measure.params.get("stop") == "err" else []
    return highest <= min([*limits, math.inf])


def some(measures: tuple[Any, ...], share: float, seed: str) -> list[Any]:
    """Return a share of the measures, drawn by their names."""
    return [measure for measure in measures if unit(f"{seed} {measure}") < share]
