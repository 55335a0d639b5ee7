"""Replicates in blocks of bounded memory, and the progress bar over them."""

from __future__ import annotations

from collections.abc import Iterator

from ir_graded._utils.progress import hidden

#: Arrays of one value per system (or topic) and replicate that are alive at the same time, at most.
_COPIES = 8
#: Values of one array that the processor's cache holds beside the others.
_IN_CACHE = 2**16
_SECONDS_BEFORE_BAR = 1.0


def replicate_blocks(n_resamples: int, rows: int, memory_mib: float = 64) -> Iterator[int]:
    """Numbers of replicates to draw at a time, so that arrays of ``rows`` values each stay small."""
    size = max(1, int(min(_IN_CACHE, memory_mib * 2**20 / (8 * _COPIES)) / rows))
    for start in range(0, n_resamples, size):
        yield min(size, n_resamples - start)


class Progress:
    """A progress bar over comparisons of systems: on a terminal only, and only when it takes a while."""

    def __init__(self, n_resamples: int, systems: int) -> None:
        from tqdm import tqdm

        self._bar = tqdm(
            total=int(n_resamples) * (systems - 1),
            disable=hidden(None),
            leave=False,
            delay=_SECONDS_BEFORE_BAR,
            unit="replicate",
            unit_scale=True,
        )

    def advance(self, replicates: int) -> None:
        """One system was compared with the later ones over this many replicates."""
        self._bar.update(replicates)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()
