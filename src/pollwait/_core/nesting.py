"""Calls that wait for calls: is there any left that does not, in the end, wait for itself?

The function of a batcher may use a batcher, the same one or another. Where no more calls may start
there, it waits until one ends; and if each of those waits in its turn, nothing ever ends. Whoever
begins to wait last can see that, and gets an error instead.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, TypeAlias

    from .batch import Batch
    from .line import Line

    Waits: TypeAlias = dict[Batch, tuple[tuple[Line, Any], ...]]

    class Waiter(Protocol):
        """Who waits, as far as this matters here."""

        def done(self) -> bool:
            """Tell whether it waits no more."""
            ...

    class Asked(Protocol):
        """Whom it waits for: a batcher, on threads or on an event loop."""

        def place_of(self, caller: Any) -> tuple[Line, Any]:
            """Return what a call that waits for a caller has in its ``waits``."""
            ...

        def refuse_circle(self, caller: Any) -> None:
            """Raise if a caller, in a call, would wait for ever."""
            ...


def waits_for_itself(line: Line, caller: Any) -> bool:
    """Tell whether a caller that has just joined from within a call would wait for ever.

    It looks at other lines without their locks. So it looks twice: calls and callers come and go
    but never come back, so what is found twice held all the time in between.
    """
    seen = _out_of_reach(line, caller)
    return seen is not None and seen == _out_of_reach(line, caller)


def _out_of_reach(line: Line, caller: Any) -> Waits | None:
    """Return the calls that a caller waits for and their waits, if none of them can ever end."""
    blockers = line.blockers(line.queued_keys(caller))
    if blockers is None or not all(batch.waits for batch in blockers):
        return None
    waits = _reachable(line)
    ending = {batch for batch, its_waits in waits.items() if not its_waits}
    while more := {
        batch
        for batch in waits.keys() - ending
        if all(_ends(line, caller, ending) for line, caller in waits[batch])
    }:
        ending |= more
    return None if _ends(line, caller, ending) else waits


def _reachable(line: Line) -> Waits:
    waits: Waits = {}
    lines = [line]
    while lines:
        for batch in list(lines.pop().flying):
            if batch not in waits:
                waits[batch] = tuple(batch.waits)
                lines += [other for other, _ in waits[batch]]
    return waits


def _ends(line: Line, caller: Any, ending: set[Batch]) -> bool:
    """Tell whether a wait ends once those calls have ended."""
    if not all(batch in ending for batch in list(line.flying) if batch.carries(caller)):
        return False
    keys = line.queued_keys(caller)
    blockers = line.blockers(keys) if keys else None
    return blockers is None or any(batch in ending for batch in blockers)


class Waiting:
    """A context in which a caller waits: where it is in a call, that call waits, too.

    Args:
        asked: whom the caller waits for.
        caller: who waits.
        batch: of the call in which it does; None if it is in none.

    Raises:
        RuntimeError: (on entering) it would wait for ever.
    """

    __slots__ = ("_asked", "_batch", "_caller", "_entry")

    def __init__(self, asked: Asked, caller: Waiter, batch: Batch | None) -> None:
        self._asked = asked
        self._caller = caller
        self._batch = batch
        self._entry: tuple[Line, Any] | None = None

    def __enter__(self) -> None:
        if self._batch is None or self._caller.done():
            return
        self._entry = self._asked.place_of(self._caller)
        self._batch.waits.append(self._entry)
        try:
            self._asked.refuse_circle(self._caller)
        except RuntimeError:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        if self._batch is not None and self._entry is not None:
            self._batch.waits.remove(self._entry)
