"""Rules on the source that the linters do not have."""

import ast
from pathlib import Path

import ir_graded

PACKAGE = Path(ir_graded.__file__).parent


def test_no_text_is_split_by_splitlines():
    """It also splits at characters that ids and texts may hold, such as U+2028: split at line ends only."""
    found = [
        f"{path.relative_to(PACKAGE)}, line {node.lineno}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "splitlines"
    ]
    assert found == []
