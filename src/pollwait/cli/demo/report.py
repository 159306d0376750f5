"""What the demo found: as figures, as a sentence, and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import fmean, quantiles
from typing import TYPE_CHECKING

from .race import BOTOCORE, FITTED, INFORMED, MEANINGS, NAIVE, SHARED

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


def legend(found: Sequence[Figures]) -> str:
    """Say what each way is, one a line."""
    return "\n".join(f"{each.way}: {MEANINGS[each.way]}" for each in found)


def sentence(found: Sequence[Figures]) -> str:
    """Say what the figures mean, in two sentences."""
    ways = {each.way: each for each in found}
    botocore, naive = ways[BOTOCORE], ways[NAIVE]
    fitted, shared, informed = ways[FITTED], ways[SHARED], ways[INFORMED]
    return (
        f"On average botocore's waiter noticed a volume {botocore.mean_overshoot:.1f} s after it"
        f" was ready ({botocore.describe_calls} DescribeVolumes calls) and the 1 s loop"
        f" {naive.mean_overshoot:.2f} s ({naive.describe_calls} calls). With pollwait it was"
        f" {fitted.mean_overshoot:.2f} s on a fitted schedule ({fitted.describe_calls} calls),"
        f" {shared.mean_overshoot:.2f} s where the waits share calls ({shared.describe_calls}), and"
        f" {informed.mean_overshoot:.2f} s where a latency model says when to call"
        f" ({informed.describe_calls})."
    )


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
