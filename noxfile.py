"""The checks of the project, each in a separate environment.

    nox --list            all sessions; those with a star run by default
    nox -s lint types     some of them
    nox -s tests-3.12 -- tests/measures -x

Sessions for several versions of Python look for them on the PATH. `.ci/run` installs everything once and runs
its sessions in that environment (``nox --no-venv --no-install``).
"""

import shutil
from pathlib import Path

import nox

PROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = nox.project.python_versions(PROJECT)  # from the classifiers
#: Published only as source; everything else is installed from wheels, as users do.
SOURCE_ONLY = ("cbor", "ir-graded", "pyNTCIREVAL", "pyspark", "warc3-wet-clueweb09")
#: lxml is an indirect dependency too, and uv then takes a newer one. pyparsing 3.3 deprecates names that
#: matplotlib 3.8 and 3.9 use, and warnings are errors in tests.
LOWEST = (
    *("--resolution=lowest-direct", "--only-binary=:all:", *(f"--no-binary={name}" for name in SOURCE_ONLY)),
    *("lxml>=5.0", "pyparsing>=3.2,<3.3"),
)

#: Makes uv compile what it installs, as pip does: compiling cwl-eval in a test would raise a warning.
COMPILED = {"UV_COMPILE_BYTECODE": "1"}

#: Extras, of which an installation may have none.
EXTRAS = ("", "meta", "plot", "report", "pyterrier", "xml")
#: Comparisons of values with other programs.
PEERS = (
    ("compare.py", "--cases", "300", "--seed", "7"),
    ("compare.py", "--cases", "300", "--seed", "7", "--data", "sample"),
    ("compare.py", "--cases", "10000", "--seed", "7", "--data", "robust2003", "--oracle", "pytrec_eval"),
    ("disagreements.py",),
)
#: Tests that compare values with other programs, or must pass with and without them.
PEER_TESTS = (
    "tests/classics/test_classics_wiring.py",
    "tests/classics/test_classics_over_intents.py",
    "tests/classics/test_classics_against_upstream.py",
    "tests/docs/test_doc_migration.py",
    "tests/ecosystem/test_calls_of_ir_measures.py",
    "tests/ecosystem/test_evaluate.py",
    "tests/intents/test_intent_input.py",
)

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"


def group(name: str) -> tuple[str, ...]:
    """Return the requirements of a dependency group of pyproject.toml."""
    return nox.project.dependency_groups(PROJECT, name)


@nox.session(python=PYTHONS, default=False)
def tests(session: nox.Session) -> None:
    """Run the tests with the newest dependencies."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session(python=PYTHONS, venv_backend="uv", default=False)
def lowest(session: nox.Session) -> None:
    """Run the tests with the lowest versions that pyproject.toml allows and that have wheels."""
    session.install("-e", ".[test]", *LOWEST)
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, format and the contracts on imports."""
    session.install(*group("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("lint-imports")


@nox.session
def types(session: nox.Session) -> None:
    """Check the types with mypy."""
    session.install("-e", ".[test]")
    session.run("mypy")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation with warnings as errors, and run all Python examples in it."""
    session.install("-e", ".[docs]")
    for builder in ("html", "doctest"):
        session.run("python", "-m", "sphinx", "-W", "-b", builder, "docs", f"docs/_build/{builder}")


@nox.session(venv_backend="none", default=False)
def generate(session: nox.Session) -> None:
    """Write what follows from the code, in the current environment: lists, public names, recorded values."""
    session.run("python", "docs/_ext/lists.py")
    session.run("python", "tests/project/public_api.py")
    session.run("python", "tests/recorded/recorded_results.py")


@nox.session(default=False)
@nox.parametrize("extra", EXTRAS)
def plain(session: nox.Session, extra: str) -> None:
    """Run all commands and pages, each in a new process, after an installation without or with one extra."""
    session.install(f".[{extra}]" if extra else ".")
    session.run("python", "tests/docs/sweep.py")


@nox.session(default=False)
def notebooks(session: nox.Session) -> None:
    """Execute the notebooks and compare their outputs with the stored ones."""
    session.install("-e", ".[notebooks]")
    session.run("python", "notebooks/execute.py", "--check")


@nox.session(default=False)
def spark(session: nox.Session) -> None:
    """Run the tests on Spark; needs Java."""
    session.install("-e", ".[spark,test]", *group("spark"))
    session.run("python", "-c", "import grpc, pyspark")  # without them, the tests would be skipped
    session.run("python", "-m", "pytest", "tests/spark", *session.posargs)


@nox.session(default=False)
def speed(session: nox.Session) -> None:
    """Compare the processor time with that of peers: ratios are stable on a busy machine. Needs Java."""
    session.install("-e", ".[spark,test]", *group("spark"))
    session.run("python", "-c", "import grpc, pyspark")  # without them, Spark would be skipped
    session.run("python", "benchmarks/guard.py", *session.posargs)


@nox.session(default=False)
def peers(session: nox.Session) -> None:
    """Compare values with other programs, and run the tests that must pass with and without them."""
    session.install("-e", ".[test]", *group("peers"), env=COMPILED)
    session.run("python", "-c", "import cwl, krippendorff, pyndeval, ranx, sklearn, trectools")
    for command, *options in PEERS:
        session.run("python", f"benchmarks/agreement/{command}", *options)
    session.run("python", "-m", "pytest", "-n", "2", "--dist", "worksteal", *PEER_TESTS, *session.posargs)


@nox.session(default=False)
def nightly(session: nox.Session) -> None:
    """Run further cases, faults, random input, Spark, the browser, peers and the speed guard; needs Java."""
    session.install("-e", ".[spark,test]", *group("spark"))
    session.run("python", "-c", "import grpc, pyspark")  # without them, Spark would be skipped
    session.run(
        "python", "benchmarks/guard.py"
    )  # before peers are installed: with cwl-eval, ir_measures starts later
    session.install(*group("peers"), env=COMPILED)
    several = ("-n", "2", "--dist", "worksteal")
    run_tests = ("python", "-m", "pytest")
    session.run(*run_tests, *several, "-m", "nightly and not release", "--ignore=tests/spark")
    session.run(*run_tests, "-m", "not release", "tests/spark", "--ignore=tests/spark/test_connect.py")
    session.run(*run_tests, "tests/spark/test_connect.py")
    session.run(
        *run_tests, *several, "-m", "hypothesis and not (release or nightly or fuzz)", "--examples=100"
    )
    for command, *options in PEERS:
        session.run("python", f"benchmarks/agreement/{command}", *options)
    session.run(*run_tests, *several, "-m", "not (nightly or release)", *PEER_TESTS)


@nox.session(default=False)
def matrix(session: nox.Session) -> None:
    """Run the tests on each Python, with the lowest dependencies, and without extras or with one."""
    for name in ("tests", "lowest"):
        for python in PYTHONS:
            session.notify(f"{name}-{python}", ["-m", "not (slow or fuzz or project)"])
    for extra in EXTRAS:
        session.notify(f"plain(extra={extra!r})")


@nox.session(default=False)
def release(session: nox.Session) -> None:
    """Run the longest tests: simulations, all real runs, many random cases, exactness; needs Java."""
    session.install("-e", ".[spark,test]", *group("spark"), *group("peers"), env=COMPILED)
    session.run("python", "-c", "import cwl, grpc, pyndeval, pyspark")  # without them, some would be skipped
    tests = ("-m", "release or hypothesis", *session.posargs)
    session.run("python", "-m", "pytest", "-n", "2", "--dist", "worksteal", *tests)
    session.run("python", "tests/numbers/exactness.py")


@nox.session(default=False)
def adapters(session: nox.Session) -> None:
    """Run what takes arrays and models of other libraries, and the recipes, with these; needs 8 GB."""
    session.install("-e", ".[test]", *group("adapters"))
    libraries = "haystack, jax, lightning, llama_index.core, mteb, sentence_transformers, torchmetrics"
    session.run("python", "-c", f"import {libraries}")
    tests = ("tests/ecosystem/test_arrays.py", "tests/ecosystem/test_sentence_transformers.py")
    tests += ("tests/ecosystem/test_metric.py", "tests/docs/test_doc_recipes.py")
    session.run("python", "-m", "pytest", *tests)


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """Build distributions into dist/ twice: both builds must have equal bytes, be complete, and work."""
    session.install(*group("build"))
    dist, again = Path("dist").resolve(), Path(session.create_tmp(), "again").resolve()
    epoch = session.run("git", "log", "-1", "--format=%ct", external=True, silent=True)
    for folder, zone in ((dist, "UTC"), (again, "Asia/Tokyo")):
        shutil.rmtree(folder, ignore_errors=True)
        environment = {"SOURCE_DATE_EPOCH": str(epoch).strip(), "TZ": zone, "PYTHONHASHSEED": str(len(zone))}
        session.run("python", "-m", "build", "--outdir", str(folder), env=environment)
    built = sorted(dist.iterdir())
    if differing := [path.name for path in built if path.read_bytes() != (again / path.name).read_bytes()]:
        session.error(f"two builds differ: {', '.join(differing)}")
    session.run("twine", "check", "--strict", *map(str, built))
    wheel = next(str(path) for path in built if path.suffix == ".whl")
    session.run("check-wheel-contents", wheel)
    # A user's installation: no checkout in the working directory, and the types of the installed package.
    session.install(wheel, "mypy", "pandas-stubs")
    shutil.copy("tests/project/consumer.py", again)
    session.chdir(again)
    session.run("ir_graded", "demo")
    session.run("mypy", "--strict", "--config-file=", "consumer.py")  # not the configuration of the checkout


@nox.session(default=False)
def audit(session: nox.Session) -> None:
    """Look up known vulnerabilities of all dependencies at PyPI; `nox -s audit -- osv` asks osv.dev."""
    session.install("pip", "-e", ".[all,docs,notebooks,spark,test]", *group("audit"))
    frozen = session.run("python", "-m", "pip", "freeze", "--all", "--exclude", "ir-graded", silent=True)
    installed = Path(session.create_tmp(), "installed.txt")
    installed.write_text(str(frozen), encoding="utf-8")
    # Without --strict, a library that is not in the database would pass.
    options = ("--strict", "--disable-pip", "--no-deps", "--desc=off", f"--requirement={installed}")
    session.run("pip-audit", *options, "--vulnerability-service", *(session.posargs or ["pypi"]))


@nox.session(default=False)
def mutants(session: nox.Session) -> None:
    """Test the tests with mutants (hours); build/mutation/survivors.csv lists the undetected mutants."""
    session.install("-e", ".[test]", *group("mutants"))
    session.run("python", ".ci/mutate", *session.posargs)
    session.run("python", ".ci/mutate", "--table")
