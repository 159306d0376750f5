"""How long things take: models from which a seeded generator draws seconds."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from datetime import timedelta
from itertools import pairwise
from random import Random
from typing import Protocol, TypeAlias

from ..._core.duration import seconds as checked_seconds


class Model(Protocol):
    """Anything that draws a number of seconds from a generator."""

    def draw(self, rng: Random, /) -> float:
        """Return seconds, >= 0."""
        ...


Seconds: TypeAlias = "float | timedelta | Callable[[Random], float] | Model"


@dataclass(frozen=True, slots=True)
class Normal:
    """Normally distributed seconds, none below ``minimum``."""

    mean: float
    _: KW_ONLY
    sd: float
    minimum: float = 0.0

    def __post_init__(self) -> None:
        for name in ("mean", "sd", "minimum"):
            checked = checked_seconds(getattr(self, name), name)
            object.__setattr__(self, name, checked)  # a timedelta becomes seconds

    def draw(self, rng: Random, /) -> float:
        """Draw one number of seconds."""
        return max(self.minimum, rng.gauss(self.mean, self.sd))


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Seconds by their quantiles, linear in between.

    Args:
        percent: ascending, from 0 to 100.
        seconds: what that many percent of the draws stay below; as many, never descending.
    """

    percent: tuple[float, ...]
    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.percent) != len(self.seconds):
            raise ValueError(
                f"percent and seconds must have the same length: got {len(self.percent)} and "
                f"{len(self.seconds)}"
            )
        if self.percent[:1] != (0,) or self.percent[-1:] != (100,):
            raise ValueError(f"percent must run from 0 to 100: got percent={self.percent!r}")
        if any(low >= high for low, high in pairwise(self.percent)):
            raise ValueError(f"percent must ascend: got percent={self.percent!r}")
        if self.seconds[0] < 0 or any(low > high for low, high in pairwise(self.seconds)):
            raise ValueError(f"seconds must be >= 0 and ascend: got seconds={self.seconds!r}")

    def at(self, percent: float) -> float:
        """Return the seconds that ``percent`` of the draws stay below."""
        if not 0 <= percent <= 100:
            raise ValueError(f"percent must be from 0 to 100: got percent={percent!r}")
        right = max(1, bisect_left(self.percent, percent))
        low, high = self.percent[right - 1 : right + 1]
        start, end = self.seconds[right - 1 : right + 1]
        return start + (end - start) * (percent - low) / (high - low)

    def draw(self, rng: Random, /) -> float:
        """Draw one number of seconds."""
        return self.at(100 * rng.random())


EBS_READY = Quantiles(
    percent=(0, 10, 50, 90, 95, 98.5, 100),
    seconds=(1.148, 1.445, 1.62, 1.884, 2.231, 4.318, 5.122),
)
"""From the start of a CreateVolume call until the volume is ready.

Fitted to the latencies that a storage driver published for 100 volumes on 30 nodes, under six
polling schedules.
"""

CREATE_CALL = Normal(0.21, sd=0.03)
"""How long a CreateVolume call takes, from the same fit."""

DESCRIBE_CALL = 0.141
"""How long a DescribeVolumes call takes, in seconds, from the same fit."""


def drawer(model: Seconds, what: str) -> Callable[[Random], float]:
    """Return a function that draws seconds from any form of model.

    Args:
        model: seconds or a timedelta, a function of a generator, or an object with a ``draw``
            method.
        what: the argument's name, for the error.

    Raises:
        TypeError: it is none of these.
        ValueError: a number that is NaN, infinite or negative.
    """
    if isinstance(model, (int, float, timedelta)):
        constant = checked_seconds(model, what)
        return lambda _: constant
    draw = model if callable(model) else getattr(model, "draw", None)
    if draw is None:
        raise TypeError(
            f"{what} must be seconds, a function of a generator, or have a draw method: "
            f"got {what}={model!r}"
        )
    return draw
