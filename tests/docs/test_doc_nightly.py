"""The script and the workflow of the page on nightly gates, on a search engine whose product codes broke."""

import shutil
import subprocess

import pytest
import yaml
from doc_blocks import DOCS, blocks, environment
from shop import KINDS, write_shop

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed"),
]
WORKFLOW = yaml.safe_load((DOCS / "files" / "nightly.yml").read_text(encoding="utf-8"))


def run_night(folder, night):
    """Run the steps of the workflow as GitHub does, with stubs of other programs; return their exit codes."""
    stubs = folder / "bin"
    stubs.mkdir(exist_ok=True)
    for name in ("pip", "gh", "git", "date"):
        answer = f"echo {night}" if name == "date" else f'echo "$@" >> {name}.txt; test "$1" != diff'
        (stubs / name).write_text(f"#!/bin/sh\n{answer}\n")
        (stubs / name).chmod(0o755)
    base = environment()
    base |= {"PATH": f"{stubs}:{base['PATH']}"} | WORKFLOW["env"]
    codes = []
    for step in WORKFLOW["jobs"]["watch"]["steps"]:
        wanted = {"failure()": any(codes), "always()": True}.get(step.get("if"), not any(codes))
        if "run" in step and wanted:
            command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
            codes.append(subprocess.run(command, cwd=folder, env=base, check=False).returncode)  # noqa: S603
    return codes


@pytest.mark.parametrize("queries", [80, pytest.param(2000, marks=pytest.mark.nightly)])
@pytest.mark.filterwarnings("ignore::ir_graded.CoverageWarning")
def test_a_broken_kind_of_queries_is_found(tmp_path, monkeypatch, capsys, queries):
    write_shop(tmp_path, queries)
    assert (tmp_path / "engine.json").stat().st_size > 25_000 * queries
    assert run_night(tmp_path, "2026-01-01") == [0, 1, 0, 0]
    verdict = (tmp_path / "verdict.md").read_text()
    assert verdict.startswith("**Worse**: 10 comparisons with release: 2 worse")
    rows = [[cell.strip() for cell in line.split("|")] for line in verdict.splitlines()]
    worse = [cells[3] for cells in rows if "worse" in cells]
    assert worse == ["codes", "codes"]
    assert "Means and tests are weighted by traffic.csv." in verdict
    assert "issue create" in (tmp_path / "gh.txt").read_text()
    assert (tmp_path / "git.txt").read_text().splitlines()[-1] == "push"
    assert (tmp_path / "report.html").stat().st_size
    assert not (tmp_path / "history.txt").read_text()  # of one night
    monkeypatch.chdir(tmp_path)
    (lines,) = (one.text for one in blocks(DOCS / "guide" / "nightly.rst") if ":name: losses" in one.options)
    exec(compile(lines, "nightly.rst", "exec"), {})  # noqa: S102
    losses = dict(line.split()[:2] for line in capsys.readouterr().out.splitlines()[1:6])
    assert {int(query[1:]) % len(KINDS) for query in losses} == {KINDS.index("codes")}
    assert max(map(float, losses.values())) < 0
    broken = (tmp_path / "engine.json").rename(tmp_path / "broken.json")
    shutil.copy(tmp_path / "release.json", tmp_path / "engine.json")
    (tmp_path / "scores" / "2026-01-01.json").unlink()
    assert run_night(tmp_path, "2026-01-02") == [0, 0, 0]
    broken.rename(tmp_path / "engine.json")
    assert run_night(tmp_path, "2026-01-03")[1] == 1
    history = " ".join((tmp_path / "history.txt").read_text().split())
    assert "best one before: 2026-01-03 on codes (two-sided" in history
    assert (tmp_path / "history.svg").stat().st_size


def test_wrong_input_is_no_verdict(tmp_path):
    write_shop(tmp_path, 8)
    (tmp_path / "engine.json").write_text("502 Bad Gateway")
    assert run_night(tmp_path, "2026-01-01")[1] == 2
    assert (tmp_path / "verdict.md").read_text().startswith("The script failed")
    assert "issue create" in (tmp_path / "gh.txt").read_text()
