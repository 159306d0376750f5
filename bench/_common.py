"""What the benchmarks share: interleaved rounds, ratios, plain tables.

Absolute times mean little on a machine that others use too. So all candidates run in turn, round
after round (A B C A B C ...), and each is divided by the basis *of the same round*: a slow spell
hits both sides of such a ratio. The result is the median over the rounds; the smallest and the
largest tell how far to trust it.
"""

from __future__ import annotations

import json
import platform
import sys
from dataclasses import asdict, dataclass, is_dataclass
from importlib.metadata import version
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

PEERS = ("tenacity", "stamina", "backoff", "opnieuw", "polling2")


@dataclass(frozen=True)
class Spread:
    """The smallest, the middle and the largest of some figures."""

    min: float
    median: float
    max: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> Spread:
        """Summarise at least one figure."""
        return cls(min(figures), median(figures), max(figures))

    def cells(self, digits: int = 2) -> tuple[str, str, str]:
        """Return the three as text for a table."""
        return (f"{self.min:.{digits}f}", f"{self.median:.{digits}f}", f"{self.max:.{digits}f}")


def interleave(
    candidates: Mapping[str, Callable[[], float]], rounds: int
) -> dict[str, list[float]]:
    """Run every candidate once per round, in turn.

    Args:
        candidates: functions that measure something once, by name.
        rounds: how often to go through them; one more round goes first and is thrown away.

    Returns:
        The figures of each candidate, in the order of the rounds.
    """
    figures: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(rounds + 1):
        for name, measure in candidates.items():
            figure = measure()
            if number:
                figures[name].append(figure)
    return figures


def ratios(figures: Sequence[float], basis: Sequence[float]) -> Spread:
    """Summarise what figures are in terms of a basis, round by round."""
    return Spread.of([figure / base for figure, base in zip(figures, basis, strict=True)])


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay out cells: the first column to the left, the others to the right."""
    lines = [tuple(header), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_line(line, widths) for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)])


def setting() -> dict[str, str]:
    """Return the versions that a figure depends on."""
    versions = {name: version(name) for name in ("pollwait", *PEERS)}
    return {"python": platform.python_version(), "platform": sys.platform, **versions}


def heading() -> str:
    """Return the versions as one line."""
    return ", ".join(f"{name} {value}" for name, value in setting().items())


def as_json(results: Mapping[str, object]) -> str:
    """Return results together with the versions that they depend on, as JSON text."""
    return json.dumps({"setting": setting(), **results}, indent=2, default=_plain)


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"results must be plain data: got {value!r}")
