"""The workflow in ``docs/files/compare.yml``: its YAML, and its shell steps with stubs of pip and gh."""

import re
import shutil
import subprocess

import pytest
import yaml
from doc_blocks import DOCS, environment

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
WORKFLOW = yaml.safe_load((DOCS / "files" / "compare.yml").read_text(encoding="utf-8"))
STEPS = WORKFLOW["jobs"]["compare"]["steps"]
VALUES = {"github.token": "secret", "github.event.number": "7"}
TOPICS = 12


def run_of(hit_rank):
    docs = ["x", "y", "z"]
    lines = []
    for topic in range(TOPICS):
        ranked = [*docs[: hit_rank(topic) - 1], "hit", *docs[hit_rank(topic) - 1 :]]
        lines += [f"{topic} Q0 {doc} {rank} {-rank} tag\n" for rank, doc in enumerate(ranked)]
    return "".join(lines)


RUNS = {
    "equal": run_of(lambda topic: 1 + topic % 2),
    "better": run_of(lambda _: 1),
    "worse": run_of(lambda topic: 2 + topic % 2),
    "empty": "",
    "broken": "1 Q0 hit\n",
}


@pytest.fixture
def folder(tmp_path):
    """A repository with the files of the workflow, and a folder with stubs that record their arguments."""
    (tmp_path / "qrels.txt").write_text("".join(f"{topic} 0 hit 1\n" for topic in range(TOPICS)))
    (tmp_path / "release.run").write_text(RUNS["equal"])
    (tmp_path / "bin").mkdir()
    for name in ("pip", "gh"):
        stub = tmp_path / "bin" / name
        stub.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "$@" >> {name}.txt\ncp comparison.md posted.md 2>&-\ntrue\n'
        )
        stub.chmod(0o755)
    return tmp_path


def filled(text):
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: VALUES[found[1]], text)


def run_steps(folder, candidate):
    """Run the steps as GitHub does; return the exit code of each that ran, by its first word."""
    (folder / "retrieve.sh").write_text(f"#!/bin/sh\ncat <<'E'\n{RUNS[candidate]}E\n")
    (folder / "retrieve.sh").chmod(0o755)
    base = environment()
    base |= {"PATH": f"{folder / 'bin'}:{base['PATH']}"} | WORKFLOW["env"]
    codes, failed = {}, False
    for step in STEPS:
        if "run" not in step or (failed and step.get("if") != "always()"):
            continue
        own = {name: filled(value) for name, value in step.get("env", {}).items()}
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", filled(step["run"])]
        done = subprocess.run(command, cwd=folder, env=base | own, check=False)  # noqa: S603
        codes[step["run"].split()[0]] = done.returncode
        failed |= done.returncode != 0
    return codes


@pytest.mark.parametrize(
    ("candidate", "code", "headline"),
    [
        ("equal", 0, "**Equivalent**: 2 comparisons with release: 2 equivalent "),
        ("better", 0, "**Better**: 2 comparisons with release: 2 better "),
        ("worse", 1, "**Worse**: 2 comparisons with release: 2 worse "),
        (
            "empty",
            1,
            "**Worse and below minimum**: 2 comparisons with release: 1 worse and below minimum, 1 worse ",
        ),
        ("broken", 2, ""),
    ],
)
def test_the_workflow_fails_and_comments_by_the_verdict(folder, candidate, code, headline):
    codes = run_steps(folder, candidate)
    assert codes == {"pip": 0, "./retrieve.sh": 0, "ir_graded": code, "test": 0}
    posted = folder / "posted.md"
    assert posted.exists() == bool(headline)
    if headline:
        assert posted.read_text().startswith(headline)
        assert (folder / "gh.txt").read_text().split("\n")[:3] == ["pr", "comment", "7"]


def test_one_constant_says_what_is_installed(folder):
    run_steps(folder, "equal")
    (constant,) = WORKFLOW["env"].values()
    assert (folder / "pip.txt").read_text() == f"install\n{constant}[meta]\n"
    steps = [step["run"] for step in STEPS if "run" in step and "pip" in step["run"]]
    assert steps == ['pip install "$IR_GRADED[meta]"']
