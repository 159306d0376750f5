"""Who waits for which key, and which calls are out: what the machines of coalescing share.

A caller is what the driver takes for one; here it is only asked whether it is ``done``, that is,
waits no more. If there is room for its key it joins a window. Else it stands in line, and moves to
a window as soon as there is room; ``admitted`` and ``rejected`` tell the driver.
"""

from __future__ import annotations

from collections import deque

from .batch import each, holds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Final, Literal, TypeAlias

    from .batch import Batch
    from .limits import Limits

    Joined: TypeAlias = Literal[0, 1, 2, 3]

# What `join` says: there is nothing else to do, a window has opened, a window is full, or there is
# no room for the key and nothing has changed.
JOINED: Final = 0
OPENED: Final = 1
FILLED: Final = 2
FULL: Final = 3


class Line:
    """The callers that are not answered yet.

    Args:
        limits: the bounds.

    Attributes:
        pending: how many distinct keys are queued; those that stand in line are not counted.
        flying: the batches whose calls are out.
        closing: nobody may join any more, and what is queued is due at once.
        overflow: who stands in line, by key and in the order in which the keys came: (caller,
            request, further keys) each.
        admitted: callers that stood in line and have joined a window; for the driver to empty.
        rejected: callers that stood in line and may not join, (caller, key, error) each; likewise.
    """

    __slots__ = (
        "admitted",
        "closing",
        "flying",
        "idle_delay",
        "max_delay",
        "max_in_flight",
        "max_pending",
        "max_size",
        "overflow",
        "pending",
        "rejected",
    )

    def __init__(self, limits: Limits) -> None:
        self.max_size: int = limits.max_size
        self.max_delay = limits.max_delay
        self.idle_delay = limits.idle_delay
        self.max_in_flight: int = limits.max_in_flight
        self.max_pending: int = limits.max_pending
        self.pending: int = 0
        self.flying: list[Batch] = []
        self.closing = False
        self.overflow: dict[Any, list[tuple[Any, Any, deque[Any]]]] = {}
        self.admitted: list[Any] = []
        self.rejected: list[tuple[Any, Any, Exception]] = []

    if TYPE_CHECKING:  # what the classes that derive from it have

        def join(self, key: Any, caller: Any, now: float, request: Any = None) -> Joined:
            """Let a caller wait for a key, if there is room for the key.

            Raises:
                TypeError: the key is not hashable.
            """
            ...

        def leave(self, key: Any, caller: Any, now: float) -> None:
            """Forget a caller that waits no more; a queued key without any is dropped."""
            ...

        def due(self) -> float | None:
            """Return when the next call is due; None if there is none, or no call may start."""
            ...

        def take(self, now: float) -> Batch | None:
            """Start the next call if one is due; it is out until ``finished``."""
            ...

        def flush(self) -> None:
            """Let what is queued be due at once."""
            ...

        def queued(self) -> Iterator[tuple[Any, Any]]:
            """Yield each queued key with its callers, as they are kept."""
            ...

        def _enter(self, key: Any, caller: Any, now: float, request: Any) -> Joined: ...

        def _forget_queued(self) -> None: ...

    def join_some(self, keys: list[Any], start: int, caller: Any, now: float) -> int:
        """Let one caller wait for many keys, as long as there is room for them.

        Args:
            keys: what the caller wants.
            start: the place of the first one that has not joined.
            caller: who waits for all of them.
            now: the time.

        Returns:
            The place of the first key for which there is no room, or else the number of keys.
        """
        for place in range(start, len(keys)):
            if self.join(keys[place], caller, now) == FULL:
                return place
        return len(keys)

    def has_full(self) -> bool:
        """Tell whether a window is full, and due for no other reason than that."""
        return False

    def stand_in_line(
        self, key: Any, caller: Any, request: Any = None, further: Iterable[Any] = ()
    ) -> None:
        """Let a caller wait until there is room for its key.

        Args:
            key: for which there was no room.
            caller: who asked for it.
            request: what it asked for, to be merged.
            further: keys that the caller asks for when its turn has come: as many as there is room
                for without anybody else in line. For the others it stands in line again.
        """
        self.overflow.setdefault(key, []).append((caller, request, deque(further)))

    def finished(self, batch: Batch) -> None:
        """Take in that a call is over, with all that it took."""
        if batch in self.flying:  # not so in a forked process
            self.flying.remove(batch)

    def is_empty(self) -> bool:
        """Tell whether nobody waits and no call is out."""
        return not (self.pending or self.overflow or self.flying)

    def has_queued(self, caller: object) -> bool:
        """Tell whether a caller waits for a key that is not in a call yet."""
        return bool(self.queued_keys(caller))

    def queued_keys(self, caller: object) -> list[Any]:
        """Return the keys that a caller waits for and that are not in a call yet."""
        keys = [key for key, held in list(self.queued()) if holds(held, caller)]
        for key, entries in list(self.overflow.items()):
            keys += [key for one, *_ in entries if one is caller]
        return keys

    def blockers(self, keys: list[Any]) -> list[Batch] | None:
        """Return the calls of which one must end before a call for these keys may start.

        None if nothing but its time keeps it from starting.
        """
        return None if len(self.flying) < self.max_in_flight else list(self.flying)

    def give_up(self) -> list[tuple[Any, Any]]:
        """Forget everybody, also those whose call is out: each caller with its key."""
        entries = [(one, key) for key, held in self.queued() for one in each(held)]
        for key, waiting in self.overflow.items():
            for caller, _, further in waiting:
                entries += [(caller, key), *((caller, other) for other in further)]
        for batch in self.flying:
            entries += [(one, key) for key, held in batch.callers.items() for one in each(held)]
            batch.callers.clear()
        self.overflow.clear()
        self.pending = 0
        self._forget_queued()
        return entries

    def _leave_overflow(self, key: Any, caller: Any) -> None:
        waiting = self.overflow.get(key)
        if waiting is not None:
            waiting[:] = [entry for entry in waiting if entry[0] is not caller]
            if not waiting:
                del self.overflow[key]

    def _promote(self, now: float) -> None:
        """Move callers from the head of the line into windows while there is room."""
        while self.overflow and self.pending < self.max_pending:
            key = next(iter(self.overflow))
            for caller, request, further in self.overflow.pop(key):
                self._let_in(key, caller, now, request)
                while further:
                    if self.join(further[0], caller, now) == FULL:
                        self.stand_in_line(further.popleft(), caller, None, further)
                        break
                    further.popleft()

    def _let_in(self, key: Any, caller: Any, now: float, request: Any) -> None:
        try:
            self._enter(key, caller, now, request)
        except Exception as error:  # of a merge
            self.rejected.append((caller, key, error))
        else:
            self.admitted.append(caller)
