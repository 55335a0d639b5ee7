"""The lower bounds of pyproject.toml as constraints, for `bounds.py 3.13`: numpy>=2.1 becomes numpy==2.1.*.

For all extras that the extra `test` takes in; of several bounds of one library the highest that holds there.
"""

import sys
from pathlib import Path

import tomli
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

#: Libraries of libraries that the oldest ones are not at ease with; warnings are errors in tests.
BELOW = (
    "pyparsing<3.3",  # deprecates names that matplotlib 3.8 and 3.9 use
)


def constraints(project: dict[str, object], python: str, extra: str) -> dict[str, Version]:
    """The lowest version allowed of each library on one Python."""
    lines, extras, done = list(project["dependencies"]), [extra], set()
    while extras:
        done.add(name := extras.pop())
        lines += project["optional-dependencies"][name]
        own = [Requirement(line) for line in lines if line.startswith(project["name"])]
        extras += {inner for needed in own for inner in needed.extras} - done - set(extras)
    where = {"python_version": python, "python_full_version": f"{python}.0"}
    lowest: dict[str, Version] = {}
    for needed in map(Requirement, lines):
        name = canonicalize_name(needed.name)
        bounds = [Version(bound.version) for bound in needed.specifier if bound.operator == ">="]
        if name == project["name"] or not (needed.marker is None or needed.marker.evaluate(where)):
            continue
        if not bounds:
            raise SystemExit(f"no lower bound: {needed}")
        lowest[name] = max([*bounds, *([lowest[name]] if name in lowest else [])])
    return lowest


if __name__ == "__main__":
    read = tomli.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8"))
    for library, version in sorted(constraints(read["project"], sys.argv[1], "test").items()):
        print(f"{library}=={version}.*")
    print(*BELOW, sep="\n")
