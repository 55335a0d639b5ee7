"""Importing the package is quick and silent, and provides all public names."""

from __future__ import annotations

import importlib.metadata
import json
import types
from pathlib import Path

import pytest

import ir_graded
from ecosystem.processes import python

HEAVY = [
    "click",
    "ir_datasets",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "pytrec_eval",
    "pyterrier",
    "scipy",
    "tqdm",
]


def test_importing_prints_nothing_and_does_not_warn():
    # ``python`` itself fails if stderr is not empty; warnings are errors there.
    assert python("import ir_graded") == ""
    assert python("from ir_graded import *") == ""


def test_importing_loads_no_heavy_library():
    output = python(
        f"""
        import json, sys
        import ir_graded
        print(json.dumps([name for name in {HEAVY} if name in sys.modules]))
        """
    )
    assert json.loads(output) == []


def test_making_and_parsing_measures_loads_no_heavy_library():
    output = python(
        f"""
        import sys
        import ir_graded, ir_measures
        dir(ir_graded), repr(ir_graded.Q(beta=2) @ 10), ir_measures.parse_measure("NCU(gains={{1:5}})@3")
        print([name for name in {HEAVY} if name in sys.modules])
        """
    )
    assert output == "[]\n"


def test_scoring_dicts_loads_no_pandas():
    output = python(
        """
        import sys
        import ir_graded, ir_measures
        found = ir_measures.calc_aggregate(["Q"], {"1": {"a": 2}}, {"1": {"x": 2.0, "a": 1.0}})
        print(found, [name for name in ("pandas", "ir_datasets", "tqdm") if name in sys.modules])
        """
    )
    assert output == "{Q: 0.75} []\n"


def test_importing_changes_nothing_outside_ir_measures():
    """No warning filter, handler, locale, numpy setting or environment variable is touched."""
    output = python(
        """
        import logging, os, random, signal, sys, warnings
        import numpy, ir_measures
        def state():
            return [
                list(warnings.filters), logging.getLogger().handlers[:], logging.getLogger().level,
                dict(os.environ), os.getcwd(), sys.path[:], sys.getrecursionlimit(), sys.excepthook,
                numpy.geterr(), numpy.get_printoptions(), random.getstate(), signal.getsignal(signal.SIGINT),
            ]
        before = state()
        import ir_graded
        print([a == b for a, b in zip(before, state())].count(False))
        """
    )
    assert output == "0\n"


def comes_from_here(value):
    # PyTerrier sets the __module__ of measures to its own name, so their class is compared.
    modules = {type(value).__module__, getattr(value, "__module__", None) or ""}
    return any(module.partition(".")[0] == "ir_graded" for module in modules)


def test_all_matches_the_module():
    offered = ir_graded.__all__
    assert len(offered) == len(set(offered))
    for name in offered:
        assert getattr(ir_graded, name) is not None
        assert name in dir(ir_graded)
    own = {
        name
        for name, value in vars(ir_graded).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType) and comes_from_here(value)
    }
    assert {"Q", "P_measure", "GradedError", "GradedMeasure"} <= own
    assert own <= set(offered)
    assert set(ir_graded._LAZY) <= set(offered)


def test_all_holds_the_measures_the_errors_and_the_functions():
    measures = {str(value) for value in ir_graded.measures.REGISTRY.values() if not value.params}
    offered = [getattr(ir_graded, name) for name in ir_graded.__all__]
    assert measures <= {str(value) for value in offered if isinstance(value, ir_graded.GradedMeasure)}
    errors = {
        value
        for value in vars(ir_graded.errors).values()
        if isinstance(value, type) and issubclass(value, ir_graded.GradedError)
    }
    assert errors <= {value for value in offered if isinstance(value, type)}
    assert issubclass(ir_graded.GradedError, ValueError)
    assert {"evaluate", "Scores", "read_qrels", "read_run", "level_definitions"} <= set(ir_graded.__all__)


def test_a_star_import_gives_the_names_in_all():
    output = python(
        """
        before = set(globals()) | {"before"}
        from ir_graded import *
        import ir_graded
        print(sorted(set(globals()) - before - {"ir_graded"}) == sorted(ir_graded.__all__))
        """
    )
    assert output == "True\n"


@pytest.mark.parametrize("name", ["nosuch", "NoSuch", "evaluation_", "__nosuch__"])
def test_an_unknown_name_raises_attribute_error(name):
    with pytest.raises(AttributeError, match=name):
        getattr(ir_graded, name)
    with pytest.raises(ImportError):
        exec(f"from ir_graded import {name}", {})  # noqa: S102  (how users write it)


def test_lazily_loaded_names_are_loaded_once():
    from ir_graded.evaluation.evaluate import evaluate
    from ir_graded.evaluation.scores import Scores

    assert ir_graded.evaluate is evaluate is ir_graded.evaluate
    assert ir_graded.Scores is Scores


@pytest.mark.slow
def test_every_name_works_as_the_first_access():
    for name in sorted(ir_graded._LAZY):
        origin = f"getattr({name}, '__module__', {name}.__name__)"
        assert python(f"from ir_graded import {name}; print({origin})").startswith("ir_graded.")


def test_version_and_entry_points_are_consistent():
    distribution = importlib.metadata.distribution("ir-graded")
    assert distribution.version == ir_graded.__version__
    found = {(entry.group, entry.name): entry.value for entry in distribution.entry_points}
    assert found["pyterrier.modules", "graded"] == "ir_graded"
    script = next(entry for entry in distribution.entry_points if entry.group == "console_scripts")
    assert script.name == "ir_graded"
    assert callable(script.load())


def test_the_package_ships_py_typed():
    assert (Path(ir_graded.__file__).parent / "py.typed").exists()


def test_no_module_shadows_a_public_name():
    code = """
        import importlib, pkgutil, types
        import ir_graded

        for module in pkgutil.walk_packages(ir_graded.__path__, "ir_graded."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
        names = {name for name in ir_graded.__all__ if isinstance(getattr(ir_graded, name), types.ModuleType)}
        print(sorted(names), [n for n in ir_graded.meta.__all__ if not callable(getattr(ir_graded.meta, n))])
    """
    assert python(code).strip() == "['meta', 'passages'] []"
