"""Samples: what was seen of completion times, checked once, and rounded where they are many."""

from __future__ import annotations

from math import ceil, floor, frexp, ldexp

from .duration import INFINITY, seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from .duration import Duration

    # A time; from when to when it became ready; or until when it was not, and None.
    Sample: TypeAlias = Duration | tuple[Duration, Duration | None]

    # Not ready at the first, ready at the second, which is infinite if nobody saw that.
    Span: TypeAlias = tuple[float, float]

    # Those of exact times, and of intervals; None for all.
    Digits: TypeAlias = tuple[int | None, int | None]

# To how many binary digits after the first they are rounded at first, and within which bounds: a
# microsecond, and some 34 years. So with no digits left there are fewer kinds than may be kept.
_DIGITS = 20
_SMALLEST, _LARGEST = 2.0**-20, 2.0**30


def span(sample: Sample) -> Span:
    """Return between which times something became ready; the two are equal if it is known exactly.

    Args:
        sample: seconds (or a timedelta); ``(not_ready_at, ready_at)``; or ``(not_ready_at, None)``
            if it was never seen ready.

    Raises:
        TypeError: it is none of these.
        ValueError: a time is NaN, infinite or negative, or the two are in the wrong order.
    """
    if not isinstance(sample, (tuple, list)):
        time = seconds(sample, "sample")
        return time, time
    if len(sample) != 2:
        raise ValueError(
            f"sample must be a time or a pair (not_ready_at, ready_at): got sample={sample!r}"
        )
    low = seconds(sample[0], "not_ready_at")
    high = INFINITY if sample[1] is None else seconds(sample[1], "ready_at")
    if low > high:
        raise ValueError(f"ready_at must be >= not_ready_at: got sample={sample!r}")
    return low, high


def iterable(samples: Iterable[Sample]) -> Iterable[Sample]:
    """Return samples, unless they are none.

    Raises:
        TypeError: it is no iterable, or a text or a mapping, over which it makes no sense to go.
    """
    if hasattr(samples, "__iter__") and not isinstance(samples, (str, bytes, dict)):
        return samples
    raise TypeError(
        "samples must be an iterable of times or pairs (not_ready_at, ready_at), a LatencyModel or"
        f" a Distribution: got samples={samples!r}"
    )


def checked_digits(digits: object) -> int | None:
    """Return a number of digits that was written down."""
    if digits is None or (type(digits) is int and 0 <= digits <= _DIGITS):
        return digits
    raise ValueError(f"digits must be None or from 0 to {_DIGITS}: got digits={digits!r}")


def coarsest(digits: Iterable[int | None]) -> int | None:
    """Return the least of some numbers of digits."""
    return min([number for number in digits if number is not None], default=None)


def fewer(digits: Digits, which: int) -> Digits:
    """Return digits of which one number, or the other if that is 0 already, is a step lower."""
    exact, spans = digits
    if spans == 0 or (which == 0 and exact != 0):
        return _DIGITS if exact is None else exact - 1, spans
    return exact, _DIGITS if spans is None else spans - 1


def rounded(seen: Span, exact: int | None, spans: int | None) -> Span:
    """Round an exact time to its digits, and the ends of an interval outwards to theirs."""
    low, high = seen
    if low == high:
        low = high = low if exact is None else _on_grid(low, exact, round)
    elif spans is not None:
        low, high = _on_grid(low, spans, floor), _on_grid(high, spans, ceil)
    return low, high


def _on_grid(time: float, digits: int, rounding: Callable[[float], int]) -> float:
    """Round to so many binary digits after the first."""
    if time == INFINITY:
        return time
    if time < _SMALLEST:
        return _SMALLEST * rounding(time / _SMALLEST)
    mantissa, exponent = frexp(min(time, _LARGEST))
    scale = 2 ** (digits + 1)
    return ldexp(rounding(mantissa * scale) / scale, exponent)
