"""The end of an output that may have no end."""

from __future__ import annotations

LIMIT = 2**20  # bytes kept: far more than anybody reads, and nothing to a machine


class Tail:
    """The last bytes of what was added.

    Attributes:
        lost: how many bytes came before those that are kept.
    """

    __slots__ = ("_kept", "_limit", "lost")

    def __init__(self, limit: int = LIMIT) -> None:
        self._kept = bytearray()
        self._limit = limit
        self.lost = 0

    def add(self, chunk: bytes) -> None:
        """Add some bytes."""
        self._kept += chunk
        if len(self._kept) > 2 * self._limit:  # now and then: cutting moves all that is kept
            self._cut()

    def read(self) -> bytes:
        """Return what is kept."""
        self._cut()
        return bytes(self._kept)

    def _cut(self) -> None:
        excess = len(self._kept) - self._limit
        if excess > 0:
            del self._kept[:excess]
            self.lost += excess
