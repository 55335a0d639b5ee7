"""Values of other programs, which benchmarks/agreement/compare.py has written, equal those of the package."""

import json
from pathlib import Path

import pytest
from differential.peer_values import KINDS

pytestmark = pytest.mark.filterwarnings(
    "ignore::ir_graded.CoverageWarning", "ignore:only .* topics have human labels"
)

PROGRAMS = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(Path(__file__).parent.glob("golden/*.json"))
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_equal_those_of_the_program(program):
    tolerance = PROGRAMS[program]["tolerance"]
    for case in PROGRAMS[program]["cases"]:
        found = KINDS[case["kind"]](**case["input"]).scores(case["scores"])
        for measure, theirs in case["scores"].items():
            ours = {topic: found[measure][topic] for topic in theirs}
            assert ours == pytest.approx(theirs, rel=0, abs=tolerance), (case["oracle"], measure)
