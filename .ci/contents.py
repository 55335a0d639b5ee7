"""Whether a wheel and a source distribution hold what they should; standard input has the commit's files."""

import sys
import tarfile
import zipfile
from pathlib import Path

#: What a source distribution has of the commit; hatchling adds PKG-INFO and .gitignore.
FOLDERS = ("docs/", "ir_graded/", "notebooks/", "tests/")
FILES = {".gitignore", "CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md", "pyproject.toml"}
#: What nobody could do without.
NEEDED = {"ir_graded/py.typed", "ir_graded/data/SOURCE.txt", "ir_graded/data/trec-covid-round1-qrels.txt.xz"}


def in_wheel(path: Path) -> set[str]:
    """The files of the wheel, its metadata without their folder."""
    with zipfile.ZipFile(path) as wheel:
        names = [name for name in wheel.namelist() if not name.endswith("/")]
    metadata = path.name.rpartition("-py3-none-any.whl")[0] + ".dist-info/"
    return {name.removeprefix(metadata) for name in names}


def in_source(path: Path) -> set[str]:
    """The files of the source distribution without its folder."""
    with tarfile.open(path) as archive:
        names = [member.name for member in archive if member.isfile()]
    return {name.removeprefix(path.name.removesuffix(".tar.gz") + "/") for name in names}


def compare(path: Path, found: set[str], wanted: set[str]) -> bool:
    """Whether the files are those wanted; says which are not."""
    print(f"{path.name}: {len(found)} files, {path.stat().st_size:,} bytes")
    for text, names in (("missing", wanted - found), ("should not be there", found - wanted)):
        print(*(f"  {text}: {name}" for name in sorted(names)), sep="\n", end="\n" * bool(names))
    return found == wanted


def main() -> None:
    commit = set(sys.stdin.read().split("\n")) - {""}
    package = {name for name in commit if name.startswith("ir_graded/")}
    if not package >= NEEDED:
        raise SystemExit(f"the commit lacks {', '.join(sorted(NEEDED - package))}")
    right = True
    for path in map(Path, sys.argv[1:]):
        if path.suffix == ".whl":
            metadata = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
            right &= compare(path, in_wheel(path), package | metadata)
        else:
            wanted = {name for name in commit if name.startswith(FOLDERS)} | (FILES & commit) | {"PKG-INFO"}
            right &= compare(path, in_source(path), wanted)
    if not right:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
