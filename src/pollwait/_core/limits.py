"""The bounds of a batcher, and what else is checked when one is made."""

from __future__ import annotations

from .duration import at_least_one, seconds
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias, TypeVar

    from .duration import Duration

    WhenFull: TypeAlias = Literal["block", "raise"]
    F = TypeVar("F")


class Limits(Value):
    """The bounds of a batcher, checked.

    Raises:
        TypeError, ValueError: one is not as the batchers' documentation says.
    """

    __slots__ = (
        "max_size",
        "max_delay",
        "idle_delay",
        "max_in_flight",
        "max_pending",
        "when_full",
    )
    max_size: int
    max_delay: float
    idle_delay: float | None
    max_in_flight: int
    max_pending: int
    when_full: WhenFull

    def __init__(
        self,
        max_size: int,
        max_delay: Duration,
        idle_delay: Duration | None,
        max_in_flight: int,
        max_pending: int,
        when_full: WhenFull,
    ) -> None:
        if when_full not in ("block", "raise"):
            raise ValueError(f"when_full must be 'block' or 'raise': got when_full={when_full!r}")
        self._fill(
            at_least_one(max_size, "max_size"),
            seconds(max_delay, "max_delay"),
            None if idle_delay is None else seconds(idle_delay, "idle_delay"),
            at_least_one(max_in_flight, "max_in_flight"),
            at_least_one(max_pending, "max_pending"),
            when_full,
        )


def callable_or_none(value: F, what: str) -> F:
    """Return an optional function of the user.

    Raises:
        TypeError: it cannot be called.
    """
    if value is not None and not callable(value):
        raise TypeError(f"{what} must be callable: got {what}={value!r}")
    return value
