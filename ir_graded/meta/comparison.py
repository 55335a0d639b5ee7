"""Comparison of measures: power, stability, sensitivity and agreement with a reference, in one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ir_graded._utils.short_reprs import ShortRepr

from .correlation import RankCorrelations, rank_correlations
from .discriminative import DiscriminativePower, discriminative_power
from .matrix import matrices_by_measure, reference_name
from .options import check_options
from .resampling import Seed, generator
from .stability import Stability, stability
from .swap import Swap, swap

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ShortRepr):
    """Results of all methods for each measure, over the same replicates.

    Attributes:
        power: discriminative power of each measure, by name.
        stability: stability of each measure.
        swap: swap method of each measure.
        correlations: rank correlations with the reference.
        fuzziness: the fuzziness at which ``to_frame`` reads the stability.
    """

    power: dict[str, DiscriminativePower]
    stability: dict[str, Stability]
    swap: dict[str, Swap]
    correlations: RankCorrelations
    fuzziness: float

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per measure, most discriminative first.

        Columns: power and required_difference of the test; minority_rate and proportion_of_ties at
        ``fuzziness``; sensitivity and swap_difference of the swap method; then the rank correlations.
        """
        import pandas as pd

        rows = {}
        for name, power in self.power.items():
            stable = self.stability[name].to_frame().set_index("fuzziness").loc[self.fuzziness]
            rows[name] = {
                "power": power.power,
                "required_difference": power.required_difference,
                "minority_rate": stable["minority_rate"],
                "proportion_of_ties": stable["proportion_of_ties"],
                "sensitivity": self.swap[name].sensitivity,
                "swap_difference": self.swap[name].required_difference,
            }
        table = pd.DataFrame.from_dict(rows, orient="index").join(self.correlations.to_frame())
        table.index.name = "measure"
        return table.sort_values("power", ascending=False, kind="stable")

    def plot(self) -> Any:
        """Plot ASL curves, stability, swap rates and correlations in one figure (requires matplotlib)."""
        from ir_graded.plots.meta import comparison

        taus, tied = self.correlations.matrix, bool(self.correlations.tied.any())
        return comparison(self.power, self.stability, self.swap, taus, tied=tied)


def compare(  # noqa: PLR0913  # options, all by keyword
    scores: Any,
    *,
    reference: str | None = None,
    alpha: float = 0.05,
    test: str = "bootstrap",
    fuzziness: float = 0.05,
    resample: Literal["bootstrap", "disjoint"] = "bootstrap",
    max_rate: float = 0.05,
    n_resamples: int = 1000,
    rng: Seed = 0,
    memory_mib: float = 64,
) -> Comparison:
    """Compare measures by discriminative power, stability, swap method and rank correlation.

    Args:
        scores: result of ``ir_graded.evaluate``, or a mapping from measures to topics x systems matrices.
        reference: measure whose ranking of systems is correlated with the others; by default the first.
        alpha: significance level of the power.
        test: 'bootstrap', 't', 'randomisation' or 'tukey_hsd'.
        fuzziness: fuzziness at which the table shows minority rate and proportion of ties.
        resample: how the swap method draws topic sets, see ``swap``.
        max_rate: highest tolerated swap rate of the swap method.
        n_resamples: replicates of each method.
        rng: seed or generator; all measures use the same replicates.
        memory_mib: limit of the working memory of a block, in MiB; inf for no limit.

    Raises:
        InputError: topics or systems differ between measures, or the reference does not exist.
        ParameterError: a parameter is out of its range.

    Source: Sakai and Robertson, "Modelling A User Population for Designing Information Retrieval
    Metrics" (EVIA 2008), and the papers named at each method.

    Example:
        >>> import ir_graded
        >>> covid = ir_graded.sample()
        >>> scores = ir_graded.evaluate(["Q", "P-measure"], covid.qrels, covid.runs)
        >>> comparison = ir_graded.meta.compare(scores, n_resamples=200)
        >>> comparison.to_frame()[["power", "sensitivity"]].index.tolist()
        ['Q', 'P-measure']
    """
    check_options(fuzziness=fuzziness)
    matrices = matrices_by_measure(scores)
    reference = reference_name(next(iter(matrices)) if reference is None else reference, matrices)
    for_power, for_stability, for_swap = (int(seed) for seed in generator(rng).integers(0, 2**62, 3))
    steps = sorted({*(round(0.01 * step, 2) for step in range(1, 11)), float(fuzziness)})
    common: dict[str, Any] = {"n_resamples": n_resamples, "memory_mib": memory_mib}
    return Comparison(
        {
            name: discriminative_power(matrix, alpha=alpha, test=test, rng=for_power, **common)
            for name, matrix in matrices.items()
        },
        {
            name: stability(matrix, fuzziness=tuple(steps), rng=for_stability, **common)
            for name, matrix in matrices.items()
        },
        {
            name: swap(matrix, resample=resample, max_rate=max_rate, rng=for_swap, **common)
            for name, matrix in matrices.items()
        },
        rank_correlations(matrices, reference=reference),
        float(fuzziness),
    )
