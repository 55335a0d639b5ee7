"""A report in Markdown: sections, tables, lines and checks, printed as they are produced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from timing import Figure

from ir_graded._utils.atomic_files import check_writable, write_whole


class Report:
    """The printed lines, and whether all checks passed."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.holds = True

    def write(self, *lines: str) -> None:
        """Print lines."""
        for line in lines:
            print(line, flush=True)
            self.lines.append(line)

    def title(self, title: str, level: int = 2) -> None:
        """Begin a section."""
        self.write("", f"{'#' * level} {title}", "")

    def check(self, what: str, holds: bool) -> None:
        """Print whether a condition holds."""
        self.holds &= holds
        self.write(f"- Check: {what}: {'yes' if holds else 'NO'}")

    def table(self, figures: Mapping[str, Figure]) -> None:
        """Print a row per call; ratios compare its times with those of the first call."""
        first = next(iter(figures.values()))
        peaks = any(figure.peak for figure in figures.values())
        header = ["", "time", "ratio", "processors' time", "ratio", *["peak memory"] * peaks]
        rows = []
        for name, figure in figures.items():
            row = [name, _seconds(figure.seconds), f"{figure.seconds / first.seconds:.2f}"]
            row += [_seconds(figure.processors), _ratio(figure.processors, first.processors)]
            rows.append([*row, *[f"{figure.peak or 0:,.0f} MiB"] * peaks])
        self.grid(header, rows)

    def grid(self, header: list[str], rows: Iterable[list[str]]) -> None:
        """Print a table."""
        self.write(_row(header), _row(["---", *["---:"] * (len(header) - 1)]), *map(_row, rows), "")

    def save(self, path: Path) -> None:
        """Write the printed text to a file."""
        write_whole(check_writable(path), ("\n".join(self.lines).lstrip() + "\n").encode())


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _ratio(value: float, first: float) -> str:
    return f"{value / first:.2f}" if first else "-"


def _seconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def milliseconds(figure: Figure) -> str:
    """Return the elapsed time in milliseconds."""
    return f"{figure.seconds * 1000:,.1f}"
