"""What the demo found: as figures, as a sentence, and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import fmean, quantiles
from typing import TYPE_CHECKING

from .race import BOTOCORE, NAIVE, POLLWAIT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .race import Way

PERCENTILES = (10, 50, 90, 99)


@dataclass(frozen=True)
class Figures:
    """How one way did; all but the calls in seconds."""

    way: str
    p10: float
    p50: float
    p90: float
    p99: float
    mean_overshoot: float
    describe_calls: int


def figures(way: Way) -> Figures:
    """Return the figures of a way that has noticed every volume."""
    p10, p50, p90, p99 = percentiles([noticed.latency for noticed in way.noticed])
    overshoot = fmean(noticed.overshoot for noticed in way.noticed)
    return Figures(way.name, p10, p50, p90, p99, overshoot, way.calls)


def percentiles(values: Sequence[float]) -> list[float]:
    """Return the four percentiles of the report, interpolated between the values."""
    if len(values) == 1:
        return [values[0]] * len(PERCENTILES)
    hundredths = quantiles(values, n=100, method="inclusive")
    return [hundredths[percent - 1] for percent in PERCENTILES]


def sentence(found: Sequence[Figures]) -> str:
    """Say what the figures mean, in one sentence."""
    ways = {each.way: each for each in found}
    botocore, own, naive = ways[BOTOCORE], ways[POLLWAIT], ways[NAIVE]
    return (
        f"On average pollwait noticed a volume {own.mean_overshoot:.2f} s after it was ready,"
        f" botocore's waiter {botocore.mean_overshoot:.1f} s"
        f" ({botocore.mean_overshoot / own.mean_overshoot:.0f} times as long) and the 1 s loop"
        f" {naive.mean_overshoot:.2f} s; pollwait made"
        f" {_compared(own.describe_calls, naive.describe_calls)} that loop."
    )


def _compared(calls: int, others: int) -> str:
    """Say how many DescribeVolumes calls were made; within 5 % they are as many."""
    share = calls / others - 1
    if abs(share) < 0.05:
        return "as many DescribeVolumes calls as"
    return f"{abs(share):.0%} {'more' if share > 0 else 'fewer'} DescribeVolumes calls than"


def as_json(found: Sequence[Figures], volumes: int, seed: int) -> dict[str, Any]:
    """Return everything in a form for ``json.dumps``."""
    ways = [
        {
            name: round(value, 3) if isinstance(value, float) else value
            for name, value in asdict(each).items()
        }
        for each in found
    ]
    return {"volumes": volumes, "seed": seed, "ways": ways, "meaning": sentence(found)}
