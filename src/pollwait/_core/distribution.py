"""What completion times look like: a distribution that is computed with, and never drawn from."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise
from math import exp, expm1, log

from .duration import INFINITY, real, seconds
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .duration import Duration


class _Summed(Value):
    """The area under the shares up to each knot (no field: it follows from the knots)."""

    __slots__ = ("_areas",)
    _areas: tuple[float, ...]


class Distribution(_Summed):
    """How long it takes from the start of a wait until what is waited for is ready.

    The share of waits that are ready by a time grows linearly from knot to knot, and beyond the
    last knot what is left decays exponentially. Two knots at one time are a step.

    Args:
        times: the times of the knots, in seconds (or timedeltas), in order; at least one.
        shares: the share of all waits that are ready by each of these times, in order, from 0 to 1.
            The share is 0 before the first time; if it does not start at 0, it starts with a step.
        tail: the mean number of seconds beyond the last time of those that are not ready by then.
            It must be above 0 unless the last share is 1.

    Raises:
        TypeError: something is no number.
        ValueError: something is out of range or out of order; the message names it.

    Example:
        >>> half_a_second_around_two = Distribution((1.75, 2.25), (0.0, 1.0))
        >>> half_a_second_around_two.ready(2.0)
        0.5
    """

    __slots__ = ("times", "shares", "tail")
    times: tuple[float, ...]
    shares: tuple[float, ...]
    tail: float

    def __init__(
        self, times: Iterable[Duration], shares: Iterable[float], tail: Duration = 0.0
    ) -> None:
        knots = tuple([seconds(time, "time") for time in times])
        heights = tuple([_share(share) for share in shares])
        mean = seconds(tail, "tail")
        if not knots or len(knots) != len(heights):
            raise ValueError(
                "times and shares must be equally many, at least one:"
                f" got {len(knots)} times, {len(heights)} shares"
            )
        _refuse_disorder(knots, "times")
        _refuse_disorder(heights, "shares")
        if heights[-1] < 1.0 and not mean:
            raise ValueError(
                f"tail must be > 0 where the last share is below 1: got tail={tail!r},"
                f" last share {heights[-1]!r}"
            )
        self._fill(knots, heights, mean if heights[-1] < 1.0 else 0.0)
        object.__setattr__(self, "_areas", _areas(knots, heights))

    def ready(self, t: float) -> float:
        """Return the share of all waits that are ready by a time in seconds."""
        times = self.times
        after = bisect_right(times, t)
        if after == 0:
            return 0.0
        start, share = times[after - 1], self.shares[after - 1]
        if after < len(times):
            growth = self.shares[after] - share
            return share + growth * ((t - start) / (times[after] - start))
        if share == 1.0:
            return 1.0
        return 1.0 - (1.0 - share) * exp((start - t) / self.tail)

    def lost(self, t: float) -> float:
        """Return how long a wait has been ready at a time, on average over all waits, in seconds.

        A wait that is not ready by then counts as 0. Looked at for the first time at ``t``, this
        is the mean time that goes by unnoticed.
        """
        times = self.times
        after = bisect_right(times, t)
        if after == 0:
            return 0.0
        since, share = t - times[after - 1], self.shares[after - 1]
        if after < len(times):
            part = since / (times[after] - times[after - 1])
            grown = (self.shares[after] - share) * part
            return self._areas[after - 1] + since * (share + 0.5 * grown)
        if share == 1.0:
            return self._areas[-1] + since
        unready = (1.0 - share) * self.tail * -expm1(-since / self.tail)
        return self._areas[-1] + since - unready

    def quantile(self, share: float) -> float:
        """Return the time in seconds by which a share of all waits is ready.

        It is the earliest such time; infinity for a share of 1 if the tail never ends.

        Args:
            share: from 0 to 1.
        """
        share = _share(share)
        times, shares = self.times, self.shares
        at = bisect_left(shares, share)
        if at == 0:
            return times[0]
        if at < len(shares):
            part = (share - shares[at - 1]) / (shares[at] - shares[at - 1])
            return times[at - 1] + part * (times[at] - times[at - 1])
        if share == 1.0:
            return INFINITY
        return times[-1] - self.tail * log((1.0 - share) / (1.0 - shares[-1]))

    @property
    def mean(self) -> float:
        """The mean number of seconds until ready."""
        return self.times[-1] - self._areas[-1] + (1.0 - self.shares[-1]) * self.tail

    def __reduce__(self) -> tuple[object, ...]:
        return Distribution, self._fields()


def empirical(times: Sequence[float]) -> Distribution:
    """Return the distribution of given times, each as likely as any other and nothing else."""
    knots: list[float] = []
    shares: list[float] = []
    for count, time in enumerate(sorted(times)):
        knots += (time, time)
        shares += (count / len(times), (count + 1) / len(times))
    return Distribution(knots, shares)


def _share(value: float) -> float:
    share = real(value, "share", "a number from 0 to 1")
    if 0.0 <= share <= 1.0:
        return share
    raise ValueError(f"share must be from 0 to 1: got share={value!r}")


def _refuse_disorder(numbers: tuple[float, ...], what: str) -> None:
    for before, after in pairwise(numbers):
        if after < before:
            raise ValueError(f"{what} must not fall: got {after!r} after {before!r}")


def _areas(times: tuple[float, ...], shares: tuple[float, ...]) -> tuple[float, ...]:
    area, areas = 0.0, [0.0]
    for at in range(1, len(times)):
        area += 0.5 * (shares[at - 1] + shares[at]) * (times[at] - times[at - 1])
        areas.append(area)
    return tuple(areas)
