"""How long something may be missing before that counts."""

from __future__ import annotations


class Grace:
    """A grace period that begins with an absence and is whole again after a presence.

    What was just created may be unknown to the next machine that is asked, and may be known at one
    moment and unknown at the next.

    Args:
        length: seconds. With 0 the first absence counts.

    Attributes:
        since: when the present absence was first seen; None while there is none.
    """

    __slots__ = ("length", "since")
    length: float
    since: float | None

    def __init__(self, length: float) -> None:
        self.length = length
        self.since = None

    def present(self) -> None:
        """Note that an answer showed it."""
        self.since = None

    def absent(self, now: float) -> bool:
        """Note that an answer did not show it, and tell whether that is still excused."""
        if self.since is None:
            self.since = now
        return now - self.since < self.length
