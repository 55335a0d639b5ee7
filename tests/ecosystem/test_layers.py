"""Who imports whom in the package: floors that never import upwards, and edges that stay at the edge."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import ir_graded

ROOT = Path(ir_graded.__file__).parent
PACKAGE = "ir_graded"

#: What stands above the measures, up to where calls come in.
CALLS = (
    "provider plugin composition other_providers pipeline evaluation explanation judgedness reading scores "
    "bundled reporting cli"
)
#: Modules (a package stands for all in it) and what they never import, at the top or later.
NEVER = {
    "segments hits views ranking measures.stopping measures.contributions": "ir_measures pandas polars "
    "pyarrow ir_datasets click",
    "errors parallel progress whole_files guarded_pytrec_eval": "numpy ir_measures pandas polars ir_datasets "
    "click",
    "inputs.process": "numpy ir_measures pandas ir_datasets click",
    "measures": f"classics inputs pandas polars {CALLS}",
    "classics": f"inputs grammar pandas polars {CALLS}",
    "inputs": f"measures classics grammar {CALLS}",
    "grammar": "inputs classics provider plugin composition evaluation scores cli pandas polars",
    "provider": "plugin composition evaluation reading scores bundled cli grammar",
    "pipeline": f"measures classics inputs grammar pandas polars {CALLS.replace('pipeline', '')}",
    "composition": "plugin evaluation reading scores bundled cli",
    "plugin": "evaluation reading scores bundled cli inputs",
    "coverage": f"inputs measures classics grammar polars {CALLS}",
    "scores": "inputs classics provider plugin composition evaluation reading bundled cli polars ir_datasets",
    "other_providers": "measures classics grammar provider plugin evaluation explanation judgedness cli",
    "evaluation": "explanation judgedness reporting plugin cli meta plots",
    "judgedness": "evaluation reporting plugin composition explanation cli meta",
    "reporting": "plugin bundled reading explanation cli",
    "explanation": "evaluation plugin composition cli meta",
    "meta": "measures classics inputs grammar provider plugin composition evaluation explanation judgedness "
    "reading bundled reporting cli ir_measures",
    "plots": "meta measures classics inputs grammar provider plugin composition evaluation explanation "
    "judgedness reading bundled reporting cli",
}
#: The numeric floor may stand on nothing else of the package, whoever stands between.
FLOOR = {"segments", "spans", "hits", "views", "article_view", "ranking", "guarded_pytrec_eval", "errors"}


def modules():
    """Every module of the package by its dotted name below the package ('' is the package itself)."""
    found = {}
    for place in sorted(ROOT.rglob("*.py")):
        parts = list(place.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = place
    return found


MODULES = modules()


def inside(module, layer):
    return module == layer or module.startswith(f"{layer}.")


@cache
def tree(module):
    """What a module runs: what stands under TYPE_CHECKING only names types."""
    parsed = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    for node in ast.walk(parsed):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    return parsed


@cache
def imports(module):
    """What a module imports anywhere: names of the package without its own name in front, and of others."""
    is_package = MODULES[module].name == "__init__.py"
    found = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            found |= {own(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = module.split(".") if module else []
                above = above[: len(above) - node.level + is_package]
                base = ".".join([PACKAGE, *above, *([node.module] if node.module else [])])
            # ``from . import x`` may name a module or something in the package's own __init__.
            for alias in node.names:
                name = own(f"{base}.{alias.name}")
                found.add(name if name in MODULES else own(base))
    return frozenset(found - {module})


def own(name):
    if name == PACKAGE:
        return ""
    return name.removeprefix(f"{PACKAGE}.")


def members(layers):
    for layer in layers.split():
        found = [module for module in MODULES if inside(module, layer)]
        assert found, f"there is no module {layer}"
        yield from found


def test_the_reader_of_imports_sees_them():
    assert "plugin" in imports("")
    assert {"errors", "hits", "ir_measures.measures", "measures.params"} <= imports("measures.base")
    assert "polars" in imports("inputs.judgments")
    assert "polars" not in imports("inputs.ids")
    assert "segments" in imports("inputs.judgments")
    assert "inputs.files" in imports("inputs.file_tables")
    assert "measures" in imports("plugin")
    assert {"classics.gain", "measures"} <= imports("classics")


@pytest.mark.parametrize("layers", NEVER)
def test_no_layer_imports_what_it_must_not(layers):
    forbidden = NEVER[layers].split()
    for module in members(layers):
        wrong = [name for name in imports(module) for layer in forbidden if inside(name, layer)]
        assert not wrong, f"{module} imports {', '.join(sorted(wrong))}"


def test_the_rules_name_what_exists():
    known = {module.split(".")[0] for module in MODULES}
    libraries = {name.split(".")[0] for module in MODULES for name in imports(module)} - known
    for layers in NEVER.values():
        for layer in layers.split():
            assert layer.split(".")[0] in known | libraries | {"pyarrow"}, layer


def reached(module):
    """All modules of the package that importing one needs, the package's own __init__ apart."""
    found, waiting = set(), [module]
    while waiting:
        for name in imports(waiting.pop()) & set(MODULES) - found - {""}:
            found.add(name)
            waiting.append(name)
    return found


@pytest.mark.parametrize("module", sorted(FLOOR))
def test_the_numeric_floor_stands_on_itself(module):
    assert reached(module) <= FLOOR


def test_errors_import_nothing():
    assert imports("errors") <= {"__future__"}


def test_no_module_below_imports_the_package_itself():
    """The package's __init__ registers everything: what it imports must not import it in turn."""
    for module in reached(""):
        assert "" not in imports(module), module


def test_no_circles():
    for module in MODULES:
        if module:
            assert module not in reached(module), module


def test_only_the_command_line_imports_click():
    for module in MODULES:
        if not inside(module, "cli") and module != "__main__":
            assert not [name for name in imports(module) if inside(name, "click")], module
    assert any(
        inside(name, "click") for module in MODULES if inside(module, "cli") for name in imports(module)
    )


# ------------------------------------------------------------------------------- changes of ir_measures

CHANGING = {
    "add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "register", "remove",
    "reverse", "setdefault", "sort", "update",
}  # fmt: skip


def root(node):
    """The name at which a chain of attributes, items and calls begins."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def foreign_names(module):
    """Names that stand for ir_measures, a part of it, or something that was taken from it."""
    names = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            names |= {
                alias.asname or alias.name.split(".")[0]
                for alias in node.names
                if inside(alias.name, "ir_measures")
            }
        elif isinstance(node, ast.ImportFrom) and not node.level and inside(node.module or "", "ir_measures"):
            names |= {alias.asname or alias.name for alias in node.names}
    while True:
        more = set()
        for node in ast.walk(tree(module)):
            if (
                isinstance(node, ast.Assign)
                and not isinstance(node.value, ast.Call)
                and root(node.value) in names
            ):
                more |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Name):
                listed = node.iter.elts if isinstance(node.iter, (ast.Tuple, ast.List)) else [node.iter]
                more |= {node.target.id} if any(root(item) in names for item in listed) else set()
        if more <= names:
            return names
        names |= more


def changes(module):
    """Lines on which something of ir_measures is changed."""
    names = foreign_names(module)
    for node in ast.walk(tree(module)):
        targets = []
        if isinstance(node, (ast.Assign, ast.Delete)):
            targets = node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            targets = [node.target]
        for target in targets:
            if isinstance(target, (ast.Attribute, ast.Subscript)) and root(target) in names:
                yield node.lineno
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name) and function.id in ("setattr", "delattr"):
                if root(node.args[0]) in names:
                    yield node.lineno
            elif (
                isinstance(function, ast.Attribute) and function.attr in CHANGING and root(function) in names
            ):
                yield node.lineno


def test_only_the_plugin_changes_ir_measures():
    changing = {module: sorted(changes(module)) for module in MODULES if any(changes(module))}
    assert set(changing) == {"plugin"}
    # Names, providers, the pipeline's list and its evaluator, two parsers: all of them are seen.
    assert len(changing["plugin"]) >= 5


# ---------------------------------------------------------------------------------------- pytrec_eval


def test_only_the_guard_imports_pytrec_eval():
    importing = {module for module in MODULES if any(inside(name, "pytrec_eval") for name in imports(module))}
    assert importing == {"guarded_pytrec_eval"}


def test_only_the_pipeline_asks_ir_measures_to_evaluate():
    """Any other call could enter pytrec_eval past its guard."""
    entries = {"calc", "calc_aggregate", "iter_calc", "evaluator", "DefaultPipeline"}
    asking = {
        module
        for module in MODULES
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Attribute) and node.attr in entries and root(node) == "ir_measures"
    }
    assert asking == {"pipeline", "plugin"}  # the plugin extends the pipeline
