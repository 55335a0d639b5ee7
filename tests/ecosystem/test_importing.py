"""Importing the package is quick and silent, and provides all public names."""

import importlib.metadata
from functools import cache
from pathlib import Path

import pytest
from faults.fault_cases import needs_posix

import ir_graded
from ecosystem.processes import python

HEAVY = "click ir_datasets matplotlib pandas polars pyarrow pytrec_eval pyterrier scipy tqdm"
HEAVY += " sentence_transformers torch torchmetrics"


def test_importing_and_parsing_print_nothing_and_load_no_heavy_library():
    # ``python`` itself fails if stderr is not empty; warnings are errors there.
    output = python(
        f"""
        import sys
        import ir_graded, ir_measures
        print([name for name in "numpy {HEAVY}".split() if name in sys.modules], "Q" in dir(ir_graded))
        print([name for name in sys.modules if name.startswith("ir_graded.measures")])
        repr(ir_graded.Q(beta=2) @ 10), ir_measures.parse_measure("NCU(gains={{1:5}})@3")
        print([name for name in "{HEAVY}".split() if name in sys.modules])
        before = {{*globals(), "before"}}
        from ir_graded import *
        print(sorted(set(globals()) - before) == sorted({{*ir_graded.__all__}} - before))
        """
    )
    assert output == "[] True\n[]\n[]\nTrue\n"


#: Uses of the object that the registry of ir_measures has under a name before its module is imported.
USES = {
    "repr": ("nEBR", "repr(measure)"),
    "str": ("Q-measure", "str(measure)"),
    "equality": ("Q", "measure == ir_graded.Q, measure == ir_measures.AP"),
    "hash": ("Q", "{measure: 1}[ir_graded.Q]"),
    "call": ("NCUgu,BR", "measure(cutoff=3)"),
    "cutoff": ("D-Q", "measure @ 5"),
    "parameter": ("NCUgu,BR", "measure['stop']"),
    "isinstance": ("Q", "isinstance(measure, ir_graded.GradedMeasure)"),
    "pickle": ("nEBR", "pickle.loads(pickle.dumps(measure))"),
    "copy": ("nEBR", "copy.copy(measure), copy.deepcopy(measure)"),
    "dict": ("nEBR", "vars(measure)"),
    "a wrong cutoff": ("Q", "measure @ 0"),
}


def output_of_uses(*uses, first=""):
    """Return what the uses print in one process, after a first line of code."""
    return python(
        f"""
        import copy, pickle
        import ir_graded, ir_measures
        {first}
        for name, code in {[USES[use] for use in uses]!r}:
            measure = ir_measures.measures.registry[name]
            try:
                print(eval(code))
            except ValueError as error:
                print(error)
            names = ir_graded.measures.NAMES
            print([name for name in names if ir_measures.measures.registry[name] is not names[name]])
        """
    )


@cache
def outputs_with_the_module():
    """Return what each use prints after the module was imported."""
    printed = output_of_uses(*USES, first="import ir_graded.measures").splitlines(keepends=True)
    return {use: "".join(printed[2 * at : 2 * at + 2]) for at, use in enumerate(USES)}


@pytest.mark.slow
@pytest.mark.parametrize("use", USES)
def test_a_measure_in_the_registry_works_as_if_its_module_were_imported(use):
    output = output_of_uses(use)  # a process for each, since the first use imports the module
    assert output == outputs_with_the_module()[use]
    assert output.endswith("\n[]\n")


@pytest.mark.slow
def test_threads_that_use_measures_first_see_whole_measures():
    output = python(
        """
        import sys
        from concurrent.futures import ThreadPoolExecutor
        sys.setswitchinterval(1e-6)
        import ir_graded, ir_measures
        names = [name for name in ir_measures.measures.registry if name.startswith("IA#-")]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda name: repr(ir_measures.measures.registry[name] @ 3), names))
        print(found == [repr(ir_measures.measures.registry[name] @ 3) for name in names])
        """
    )
    assert output == "True\n"


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


@pytest.mark.slow
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


def test_all_matches_the_module():
    offered = ir_graded.__all__
    assert len(offered) == len(set(offered))
    for name in offered:
        assert getattr(ir_graded, name) is not None
        assert name in dir(ir_graded)
    assert set(ir_graded._LAZY) <= {*offered, "measures"}


@pytest.mark.parametrize("module", [ir_graded, ir_graded.meta], ids=lambda module: module.__name__)
def test_a_package_lists_its_public_names_only(module):
    ir_graded.evaluate, ir_graded.meta.differences  # noqa: B018  # imports further modules
    listed = [name for name in dir(module) if not name.startswith("__")]
    assert listed == sorted(module.__all__)


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


@pytest.mark.parametrize("name", ["nosuch", "NoSuch", "evaluation_", "__nosuch__"])
def test_an_unknown_name_raises_attribute_error(name):
    with pytest.raises(AttributeError, match=name):
        getattr(ir_graded, name)
    with pytest.raises(ImportError):
        exec(f"from ir_graded import {name}", {})  # noqa: S102  (how users write it)


@needs_posix
@pytest.mark.slow
def test_every_name_works_as_the_first_access():
    # Each name in a fork, so that libraries are loaded once. Nothing uses threads of Polars.
    code = """
        import os, warnings
        import numpy, pandas, polars
        import ir_graded
        warnings.filterwarnings("ignore", "This process", DeprecationWarning)
        for name in sorted(ir_graded._LAZY):
            child = os.fork()
            if not child:
                value = getattr(ir_graded, name)
                of = getattr(value, "__module__", value.__name__)
                os._exit(not of.startswith("ir_graded."))
            if os.waitpid(child, 0)[1]:
                print(name)
    """
    assert python(code) == ""


@pytest.mark.slow
def test_functions_are_not_hidden_by_modules_of_their_names():
    code = """
        import ir_graded.meta.differences
        from ir_graded.meta.ranks import Ranks
        from ir_graded.meta import agreement
        names = [name for name in ir_graded.meta.__all__ if not callable(getattr(ir_graded.meta, name))]
        print(names, agreement.__name__, Ranks is ir_graded.meta.Ranks)
    """
    assert python(code) == "[] agreement True\n"


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
    assert python(code).strip() == "['meta', 'passages', 'plots'] []"
