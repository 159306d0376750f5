"""What is sent together, and the callers of a key: one as it is, and more than one in a list."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Literal, TypeAlias

    from .line import Line

    Reason: TypeAlias = Literal["size", "delay", "idle", "flush", "close"]


class Several(list["Any"]):
    """The callers of a key that has more than one."""


class Batch:
    """What one round of calls is for.

    Args:
        callers: who waits for each key, as windows keep it.
        opened: when the first key was asked for.
        reason: why the window closed.
        request: the key and the merged request of a coalescer; None in a batcher.

    Attributes:
        size: how many keys there were at first.
        waits: what the call itself waits for, where its function uses a batcher: a line and a
            caller in it, for each.
    """

    __slots__ = ("callers", "opened", "reason", "request", "size", "waits")

    def __init__(
        self, callers: dict[Any, Any], opened: float, reason: Reason, request: Any = None
    ) -> None:
        self.callers = callers
        self.opened = opened
        self.reason: Reason = reason
        self.request = request
        self.size = len(callers)
        self.waits: list[tuple[Line, Any]] = []

    def settle(self, outcomes: dict[Any, Any]) -> list[tuple[Any, Any, Any]]:
        """Take the callers of some keys off: each caller with its key and the key's outcome."""
        found: list[tuple[Any, Any, Any]] = []
        take = self.callers.pop
        for key, outcome in outcomes.items():
            held = take(key, None)
            if type(held) is Several:
                found += [(caller, key, outcome) for caller in held]
            elif held is not None:
                found.append((held, key, outcome))
        return found

    def wants(self, key: Any) -> bool:
        """Tell whether anybody still waits for a key."""
        return not all(caller.done() for caller in each(self.callers.get(key)))

    def wanted(self) -> list[Any]:
        """Return the keys that somebody still waits for."""
        return [
            key
            for key, held in list(self.callers.items())  # others may take some off meanwhile
            if (self.wants(key) if type(held) is Several else not held.done())
        ]

    def carries(self, caller: object) -> bool:
        """Tell whether a caller waits for any key."""
        return any(holds(held, caller) for held in list(self.callers.values()))


def each(held: Any) -> Iterable[Any]:
    """Return the callers of a key, of which windows keep one as it is and more in a list."""
    if type(held) is Several:
        return held
    return () if held is None else (held,)


def holds(held: Any, caller: object) -> bool:
    """Tell whether a caller is among the callers of a key."""
    return any(one is caller for one in each(held))


def with_caller(held: Any, caller: Any) -> Any:
    """Return the callers of a key and one more."""
    if type(held) is Several:
        held.append(caller)
        return held
    return Several((held, caller))


def without_caller(held: Any, caller: Any) -> Any:
    """Return the callers of a key but for one; None if nobody is left."""
    left = Several(one for one in each(held) if one is not caller)
    return left if len(left) > 1 else left[0] if left else None
