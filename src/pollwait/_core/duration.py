"""Durations: what callers may write, checked once and turned into seconds."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import timedelta
    from typing import TypeAlias

    from typing_extensions import TypeIs

    Duration: TypeAlias = float | timedelta

INFINITY = float("inf")

# A delay that falls short of what is left by less than this share of itself was meant to use it up:
# ten times 0.1 s is 1 s to whoever wrote it, though not in binary floating point.
ROUNDING = 1.0 + 1e-9


def seconds(value: Duration, what: str) -> float:
    """Return a duration in seconds.

    Args:
        value: seconds as a number, or a ``timedelta``; finite and >= 0.
        what: the argument's name, for the error.

    Raises:
        TypeError: the value is neither (a ``bool`` is no number).
        ValueError: the value is NaN, infinite or negative.
    """
    if _is_timedelta(value):
        length = value.total_seconds()
    else:
        length = real(value, what, "seconds (a number) or a timedelta")
    if 0.0 <= length < INFINITY:
        return length or 0.0  # not -0.0, which would show
    raise ValueError(f"{what} must be finite and >= 0 seconds: got {what}={value!r}")


def real(value: object, what: str, allowed: str) -> float:
    """Return a real number as a float; infinite where it is beyond the largest one.

    Raises:
        TypeError: the value is no real number (``bool`` included); ``allowed`` says what may stand
            there.
    """
    if type(value) is float:
        return value
    if type(value) is bool or not (isinstance(value, (int, float)) or _is_other_real(value)):
        raise TypeError(f"{what} must be {allowed}: got {what}={value!r}")
    try:
        return float(value)
    except OverflowError:  # an int beyond the largest float
        return INFINITY


def at_least_one(value: object, what: str) -> int:
    """Return a count, which must be an int from 1 up (no ``bool``).

    Raises:
        TypeError: the value is no int.
        ValueError: the value is below 1.
    """
    if type(value) is bool or not isinstance(value, int):
        raise TypeError(f"{what} must be an int: got {what}={value!r}")
    if value < 1:
        raise ValueError(f"{what} must be >= 1: got {what}={value!r}")
    return value


def _is_timedelta(value: object) -> TypeIs[timedelta]:
    """Recognise a timedelta by its method: no program but one that has one need load datetime."""
    return hasattr(value, "total_seconds") and not isinstance(value, type)


def _is_other_real(value: object) -> TypeIs[float]:
    """Recognise the numbers of numpy, and fractions; no program but one that has them gets here."""
    from numbers import Real

    return isinstance(value, Real)
