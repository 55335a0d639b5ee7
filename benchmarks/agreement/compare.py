"""Compare the package with all installed programs that compute the same measures, on random and real data.

    python benchmarks/agreement/compare.py --cases 10000 --seed 1
    python benchmarks/agreement/compare.py --golden tests/differential/golden --oracle ranx

The first prints for each program the number of values compared (one measure on one topic is a case), the
number of measures, and the largest difference. It exits with code 1 if a difference is larger than rounding
explains. The second writes the golden file of a program: small random data and the program's values, with
which the tests compare those of the package.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import math
import sys
import warnings
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

import numpy as np

if __name__ == "__main__":
    ROOT = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import ir_graded
from benchmarks.agreement import lists, ntcir_eval, others  # noqa: F401  # they register their programs
from benchmarks.agreement.oracles import ORACLES, Oracle, real

DATA = ("random", "sample", "robust2003")
#: The share of scores of 0 and 1 from which on a random case is not kept in a golden file.
TRIVIAL = 0.6


@dataclass
class Tally:
    """Counts of the values compared so far.

    Attributes:
        cases: number of values compared.
        largest: largest difference; infinite where a side has a value that the other lacks.
        measures: printed names of the measures, parameters included.
        worst: where the largest difference occurred: measure, topic, our value, the other value.
    """

    cases: int = 0
    largest: float = 0.0
    measures: set[str] = field(default_factory=set)
    worst: tuple | None = None

    def add(self, ours: dict, theirs: dict) -> None:
        """Add the values of one input, by measure and topic."""
        for measure, values in theirs.items():
            self.measures.add(str(measure))
            for topic, value in values.items():
                self.cases += 1
                here = ours[measure].get(topic, math.nan)
                difference = abs(here - value)
                if not difference <= self.largest:
                    self.largest = math.inf if math.isnan(difference) else difference
                    self.worst = (str(measure), topic, here, value)

    @property
    def kinds(self) -> set[str]:
        """Return the measures without parameters."""
        return {measure.partition("(")[0].partition("@")[0] for measure in self.measures}


def generator(oracle: Oracle, seed: int, data: str) -> np.random.Generator:
    return np.random.default_rng([seed, crc32(f"{oracle.name} {data}".encode())])


def run(oracle: Oracle, cases: int, seed: int, data: str = "random") -> Tally:
    """Compare until there are enough cases, or until the real runs end."""
    tally, rng = Tally(), generator(oracle, seed, data)
    drawn = (
        (oracle.on(rng, given) for given in real(data))
        if data != "random"
        else iter(lambda: oracle.case(rng), None)
    )
    for given, theirs in drawn:
        if theirs:
            tally.add(given.scores(theirs), theirs)
        if tally.cases >= cases:
            break
    return tally


def golden(oracles: list[Oracle], seed: int) -> dict:
    """Return the content of the golden file of a program."""
    cases = []
    for oracle in oracles:
        rng, wanted = generator(oracle, seed, "golden"), len(cases) + oracle.golden
        while len(cases) < wanted:
            given, theirs = oracle.case(rng, small=True)
            scores = {str(measure): values for measure, values in theirs.items() if values}
            # Most random lists have many scores of 0 and 1, which say little.
            values = np.array([value for of_measure in scores.values() for value in of_measure.values()])
            if values.size and np.isin(values, (0, 1)).mean() < TRIVIAL:
                fields = dataclasses.asdict(given).items()
                kept = {name: value for name, value in fields if value not in (None, False)}
                kind = type(given).__name__
                cases.append({"oracle": oracle.name, "kind": kind, "input": kept, "scores": scores})
    name = oracles[0].name.partition(":")[0]
    return {
        "program": f"{name} {oracles[0].version}",
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "command": f"python benchmarks/agreement/compare.py --golden FOLDER --oracle '{name}' --seed {seed}",
        "tolerance": oracles[0].tolerance,
        "cases": cases,
    }


def laid_out(value) -> str:
    """Return JSON with one line for each list and dict of numbers and texts."""
    parts = (
        list(value.values() if isinstance(value, dict) else value) if isinstance(value, (dict, list)) else []
    )
    if not any(isinstance(part, (dict, list)) for part in parts):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    if isinstance(value, list):
        return "[\n" + ",\n".join(map(laid_out, value)) + "\n]"
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {laid_out(part)}" for key, part in value.items()) + "\n}"


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=2000, help="values to compare with each program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--oracle", action="append", help="only this program; may be repeated")
    parser.add_argument("--data", choices=DATA, default="random")
    parser.add_argument("--golden", type=Path, metavar="FOLDER", help="write golden files into this folder")
    options = parser.parse_args()
    # Random runs lack some topics.
    warnings.simplefilter("ignore", ir_graded.CoverageWarning)
    programs = defaultdict(list)
    for oracle in ORACLES.values():
        program = oracle.name.partition(":")[0]
        if not options.oracle or {program, oracle.name} & {*options.oracle}:
            programs[program].append(oracle)
    if options.golden:
        for name, oracles in programs.items():
            if written := [oracle for oracle in oracles if oracle.golden and not oracle.missing]:
                path = options.golden / f"{name.replace(' ', '_')}.json"
                path.write_text(
                    laid_out(golden(written, options.seed)) + "\n", encoding="utf-8", newline="\n"
                )
                print(path)
        return 0
    print(f"{'program':<36}{'measures':>9}{'variants':>9}{'cases':>10}{'largest difference':>20}")
    wrong = total = 0
    for oracle in (oracle for oracles in programs.values() for oracle in oracles):
        if options.data != "random" and not oracle.on:
            continue
        if oracle.missing:
            print(f"{oracle.name:<36}{oracle.missing}")
            continue
        tally = run(oracle, options.cases, options.seed, options.data)
        total += tally.cases
        counts = f"{len(tally.kinds):>9,}{len(tally.measures):>9,}{tally.cases:>10,}"
        print(f"{oracle.name:<36}{counts}{tally.largest:>20.1e}", flush=True)
        if not tally.largest <= oracle.tolerance:
            wrong += 1
            print(f"    above {oracle.tolerance:g}: {tally.worst}")
    print(f"{'all':<36}{'':>18}{total:>10,}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
