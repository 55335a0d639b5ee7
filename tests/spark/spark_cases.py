"""Which measures the tests of Spark compare."""

from ir_graded.classics import CLASSICS, scorer_of
from ir_graded.measures import REGISTRY


def every_measure(*, passages=False):
    """All measures of this package, those for passages too if asked for."""
    ours = {id(one): one for one in REGISTRY.values() if passages or not one.NEEDS_PASSAGES}.values()
    return [one @ 10 if one.SUPPORTED_PARAMS["cutoff"].required else one for one in ours]


def every_classic():
    """All classics, with as few parameters as they need."""
    return [_complete(kind.MEASURE) for kind in CLASSICS.values()]


def _complete(measure):
    kind = type(measure)
    some = ({}, {"cutoff": 10}, {"rel": 1}, {"rel": 1, "cutoff": 10})
    takes = [params for params in some if params.keys() <= measure.SUPPORTED_PARAMS.keys()]
    return next(one for params in takes if scorer_of(one := kind(**params)) is not None)
