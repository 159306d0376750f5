"""How chance enters a simulation: what callers may say of seconds, arrivals and limits."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from .._core.distribution import Distribution
from .._core.duration import INFINITY, real
from .._core.duration import seconds as in_seconds
from .._core.latency import LatencyModel, observed
from .._core.value import Value

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from .._core.duration import Duration
    from .._core.samples import Sample


@runtime_checkable
class Draws(Protocol):
    """Anything that draws a number of seconds from a generator."""

    def draw(self, rng: Random, /) -> float:
        """Return seconds, >= 0."""
        ...


if TYPE_CHECKING:
    Drawn: TypeAlias = Duration | Distribution | LatencyModel | Draws | Callable[[Random], float]
    Latency: TypeAlias = Drawn | Iterable[Sample]
    Arrivals: TypeAlias = "Duration | Poisson | Iterable[float]"
    Draw: TypeAlias = Callable[[Random], float]


class Poisson(Value):
    """Requests that know nothing of each other: so many a second on average, at random.

    Args:
        rate: requests a second, > 0.
    """

    __slots__ = ("rate",)
    rate: float

    def __init__(self, rate: float) -> None:
        number = real(rate, "rate", "a number of requests a second")
        if not 0 < number < INFINITY:
            raise ValueError(f"rate must be > 0 and finite: got rate={rate!r}")
        self._fill(number)


class Bucket(Value):
    """A token bucket: full at first, one token a call, refilled steadily.

    A call that finds no token is throttled: it takes as long as any other, answers nothing and
    raises an error. What comes of that is the strategy's: a single or a batched wait checks again
    after its schedule's next delay, a group slows down.

    Args:
        capacity: the most tokens that it holds, and so the largest burst; >= 1.
        refill: tokens a second; >= 0.
    """

    __slots__ = ("capacity", "refill")
    capacity: float
    refill: float

    def __init__(self, capacity: float, *, refill: float) -> None:
        size = real(capacity, "capacity", "a number")
        if not size >= 1:
            raise ValueError(f"capacity must be >= 1: got capacity={capacity!r}")
        rate = real(refill, "refill", "a number of tokens a second")
        if not rate >= 0:
            raise ValueError(f"refill must be >= 0: got refill={refill!r}")
        self._fill(size, rate)


class Level:
    """The tokens of a bucket as time goes by; without a bucket everything is admitted."""

    def __init__(self, bucket: Bucket | None) -> None:
        self._bucket = bucket
        self._tokens = 0.0 if bucket is None else bucket.capacity
        self._at = 0.0

    def admits(self, now: float) -> bool:
        """Take a token if there is one, and tell so."""
        if self._bucket is None:
            return True
        gained = self._bucket.refill * (now - self._at)
        self._tokens = min(self._bucket.capacity, self._tokens + gained)
        self._at = now
        admitted = self._tokens >= 1
        self._tokens -= admitted
        return admitted


def drawer(model: Latency, what: str) -> Draw:
    """Return a function that draws seconds from any form of model.

    Args:
        model: seconds or a timedelta, a function of a generator, an object with a ``draw`` method,
            a ``Distribution``, a ``LatencyModel``, or samples as ``evaluate`` takes them.
        what: the argument's name, for errors.

    Raises:
        TypeError: it is none of these.
        ValueError: a number or sample that is NaN, infinite or negative, or no samples at all.
    """
    if isinstance(model, (int, float, timedelta)):
        constant = in_seconds(model, what)
        return lambda _: constant
    if isinstance(model, (Distribution, LatencyModel)):
        return _quantiles(model)
    if isinstance(model, Draws):
        return _checked(model.draw, what)
    if callable(model):
        return _checked(model, what)
    return _quantiles(_samples(model, what))


def arrival_times(arrivals: Arrivals) -> tuple[float, ...] | None:
    """Return the arrivals that were listed, in order; None where they are drawn.

    Raises:
        TypeError: they are neither listed nor seconds nor ``Poisson``.
        ValueError: a time that is NaN, infinite or negative, or an empty list.
    """
    if isinstance(arrivals, Poisson):
        return None
    if isinstance(arrivals, (int, float, timedelta)):
        in_seconds(arrivals, "arrivals")
        return None
    if not _lists(arrivals):
        raise TypeError(
            "arrivals must be seconds, Poisson(rate) or a collection of times:"
            f" got arrivals={arrivals!r}"
        )
    times = sorted(in_seconds(time, "arrival") for time in arrivals)
    if not times:
        raise ValueError("arrivals must list at least one time: got none")
    return tuple(times)


def draw_arrivals(arrivals: Duration | Poisson, waits: int, rng: Random) -> list[float]:
    """Draw when so many requests arrive, in order."""
    if isinstance(arrivals, Poisson):
        return list(accumulate(rng.expovariate(arrivals.rate) for _ in range(waits)))
    over = in_seconds(arrivals, "arrivals")
    return sorted(rng.uniform(0.0, over) for _ in range(waits))


def _quantiles(latency: Distribution | LatencyModel | list[Sample]) -> Draw:
    distribution = observed(latency)
    return lambda rng: distribution.quantile(rng.random())


def _checked(draw: Draw, what: str) -> Draw:
    return lambda rng: in_seconds(draw(rng), f"drawn_{what}")


def _samples(model: Iterable[Sample], what: str) -> list[Sample]:
    if not _lists(model):
        raise TypeError(
            f"{what} must be seconds, samples, a distribution, a model or a function of a"
            f" generator: got {what}={model!r}"
        )
    samples = list(model)
    if not samples:
        raise ValueError(f"{what} must have at least one sample: got none")
    return samples


def _lists(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes))
