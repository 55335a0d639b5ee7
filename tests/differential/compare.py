"""Compare the package with all installed programs that compute the same measures, on random and real data.

    python tests/differential/compare.py --cases 10000 --seed 1

prints for each oracle the number of values compared (one measure on one topic is a case), the number of
measures, and the largest difference. It exits with code 1 if a difference is larger than rounding explains.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from differential import (
    oracle_cwl_eval,
    oracle_ir_measures,
    oracle_meta,
    oracle_ntcir_eval,
    oracle_ntcireval,
    oracle_pytrec_eval,
    oracle_ranx,
    oracle_sklearn,
    oracle_trec_eval,
)
from differential.oracle_cases import Compared, Oracle, real

import ir_graded

ORACLES = (
    oracle_pytrec_eval.ORACLE, oracle_trec_eval.ORACLE,
    *oracle_ir_measures.ORACLES, oracle_ntcireval.ORACLE, oracle_ntcir_eval.ORACLE, oracle_ranx.ORACLE,
    oracle_cwl_eval.ORACLE, oracle_sklearn.ORACLE, *oracle_meta.ORACLES,
)  # fmt: skip
DATA = ("random", "sample", "robust2003")


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

    def add(self, compared: Iterable[Compared]) -> None:
        """Add the values of one collection."""
        for measure, ours, theirs in compared:
            self.measures.add(measure)
            for topic in ours.keys() | theirs.keys():
                self.cases += 1
                values = ours.get(topic, math.nan), theirs.get(topic, math.nan)
                difference = abs(values[0] - values[1])
                if not difference <= self.largest:
                    self.largest = math.inf if math.isnan(difference) else difference
                    self.worst = (measure, topic, *values)

    @property
    def kinds(self) -> set[str]:
        """Return the measures without parameters."""
        return {measure.partition("(")[0].partition("@")[0] for measure in self.measures}


def run(oracle: Oracle, cases: int, seed: int, data: str = "random") -> Tally:
    """Compare until there are enough cases, or until the real runs end."""
    tally = Tally()
    rng = np.random.default_rng([seed, crc32(f"{oracle.name} {data}".encode())])
    if data == "random":
        while tally.cases < cases:
            tally.add(oracle.compare(rng))
        return tally
    for collection in real(data):
        if tally.cases >= cases:
            break
        tally.add(oracle.compare_on(rng, collection))
    return tally


def say(line: str) -> None:
    """Print a line and flush."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=2000, help="values to compare with each oracle")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--oracle", action="append", help="only this one; may be repeated")
    parser.add_argument("--data", choices=DATA, default="random")
    options = parser.parse_args()
    # Random runs lack some topics.
    warnings.simplefilter("ignore", ir_graded.CoverageWarning)
    wanted = [oracle for oracle in ORACLES if not options.oracle or oracle.name in options.oracle]
    if options.data != "random":
        wanted = [oracle for oracle in wanted if oracle.compare_on]
    say(f"{'oracle':<24}{'measures':>9}{'variants':>9}{'cases':>10}{'largest difference':>20}")
    wrong = total = 0
    for oracle in wanted:
        if oracle.missing:
            say(f"{oracle.name:<24}{oracle.missing}")
            continue
        tally = run(oracle, options.cases, options.seed, options.data)
        total += tally.cases
        counts = f"{len(tally.kinds):>9,}{len(tally.measures):>9,}{tally.cases:>10,}"
        say(f"{oracle.name:<24}{counts}{tally.largest:>20.1e}")
        if tally.largest > oracle.tolerance:
            wrong += 1
            say(f"    above {oracle.tolerance:g}: {tally.worst}")
    say(f"{'all':<24}{'':>18}{total:>10,}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
