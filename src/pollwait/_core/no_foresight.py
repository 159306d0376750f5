"""What a group that follows its schedule has in place of foresight.

It is a module of its own, so that a program without latency models loads nothing about them.
"""

from __future__ import annotations

from .duration import INFINITY
from .seat import Seat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .rules import Rng
    from .settings import Settings

# Seconds of waiting that one call is worth, unless it is said: see `bench/group_model.py`.
CALL_COST = 0.96


class NoForesight:
    """What stands in where a group follows its schedule: it expects nothing.

    Attributes:
        moment: when a call should start; infinity if nobody waits, or nothing is known.
    """

    __slots__ = ("moment",)

    def __init__(self) -> None:
        self.moment = INFINITY

    def seat(self, key: Any, settings: Settings, now: float, rng: Rng, owner: object) -> Seat:
        """Make a wait."""
        return Seat(key, settings, now, rng, owner)

    def add(self, seats: Iterable[Seat]) -> None:
        """Take in those of some waits that are not over: a call could carry them."""

    def boarded(self, seats: Iterable[Iterable[Seat]]) -> None:
        """Take in that waits got on a call."""

    def over(self, seats: Iterable[Seat]) -> None:
        """Take in that waits are over."""

    def called(self, duration: float) -> None:
        """Take in how long a call took."""

    def confirm(self) -> None:
        """Find the moment anew if waits have left since."""

    def first_served(self, now: float) -> Iterable[Seat]:
        """Return who goes first of those that are not due, where a call cannot carry them all."""
        return ()
