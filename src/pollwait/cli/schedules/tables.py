"""Figures as text, and tables of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NOISE = 1e-9  # what is less than this is 0, but for rounding


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay out cells: the first column to the left, the others to the right."""
    lines = [tuple(header), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def seconds(value: float) -> str:
    """Return seconds to the millisecond, or to two digits where they are shorter."""
    if value == math.inf:
        return "never"
    if value >= 0.01:
        return f"{value:.3f}"
    if value < _NOISE:
        return "0.000"
    return f"{value:.{1 - math.floor(math.log10(value))}f}"


def percent(share: float) -> str:
    """Return a share as percent; what is not all does not look like all, nor little like none."""
    if 0.0 < share < 1.0:
        share = min(max(share, 0.001), 0.999)
    return f"{share:.1%}"


def plain(value: float | None) -> float | None:
    """Return a number for JSON, without the noise of rounding; None for infinity."""
    return None if value is None or value == math.inf else round(value, 6)
