"""What a wait remembers of its checks: the first few, the last few, and how many there were.

Remembered errors have lost their tracebacks: those hold the frames of the check, and through them
everything that its locals refer to, for as long as the wait lasts. What a reader needs of them, the
place where the error was raised, is kept as text.
"""

from __future__ import annotations

import sys

from .._errors import packed
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

FIRST = 3
LAST = 5


class Record(Value):
    """One check as it is remembered.

    Attributes:
        attempt: its number, from 1.
        elapsed: seconds from the start of the wait to the end of the check.
        value: what it returned; None if it raised.
        error: what it, or a predicate after it, raised, without its traceback; None if neither did.
        where: ``file:line in function`` where the error was raised; None if it returned, or if no
            Python code raised it.
    """

    __slots__ = ("attempt", "elapsed", "value", "error", "where")
    attempt: int
    elapsed: float
    value: Any
    error: Exception | None
    where: str | None

    def __init__(
        self,
        attempt: int,
        elapsed: float,
        value: object,
        error: Exception | None = None,
        where: str | None = None,
    ) -> None:
        self._fill(attempt, elapsed, value, error, where)

    def __reduce__(self) -> tuple[Any, ...]:
        return Record, tuple(packed(field) for field in self._fields())


class History(Value):
    """The checks of one wait, of which the middle ones may have been forgotten.

    Iteration gives the records that were kept, in order.

    Attributes:
        first: the first records, at most three.
        last: the last records that are not among the first, at most five.
        total: how many checks were made.
    """

    __slots__ = ("first", "last", "total")
    first: tuple[Record, ...]
    last: tuple[Record, ...]
    total: int

    def __init__(
        self, first: tuple[Record, ...] = (), last: tuple[Record, ...] = (), total: int = 0
    ) -> None:
        self._fill(first, last, total)

    def __iter__(self) -> Iterator[Record]:
        yield from self.first
        yield from self.last

    @property
    def forgotten(self) -> int:
        """How many checks between the first and the last were not kept."""
        return self.total - len(self.first) - len(self.last)


def origin(error: BaseException) -> str | None:
    """Return where below the driver's own frame an error was raised, as text."""
    traceback = error.__traceback__ and error.__traceback__.tb_next
    if traceback is None:  # raised by a check that is written in C
        return None
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    code = traceback.tb_frame.f_code
    return f"{code.co_filename}:{traceback.tb_lineno} in {code.co_name}"


def forget_frames(error: BaseException, spared: BaseException | None) -> None:
    """Drop the tracebacks of an error and of all that it is chained to.

    Args:
        error: the error.
        spared: an error that the wait's caller is handling, to which Python chains every error
            that is raised meanwhile; it is not ours, and its traceback stays.
    """
    if error is spared:
        return
    error.with_traceback(None)
    linked = _linked(error, spared)
    if not linked:
        return
    seen = {id(error)}
    while linked:
        link = linked.pop()
        if id(link) not in seen:
            seen.add(id(link))
            link.with_traceback(None)
            linked += _linked(link, spared)


def _linked(error: BaseException, spared: BaseException | None) -> list[BaseException]:
    cause, context, group = error.__cause__, error.__context__, _members(error)
    if cause is None and (context is None or context is spared) and not group:
        return []  # by far the most errors are linked to nothing
    return [link for link in (cause, context, *group) if link is not None and link is not spared]


def _members(error: BaseException) -> tuple[BaseException, ...]:
    if sys.version_info >= (3, 11):
        if isinstance(error, BaseExceptionGroup):  # noqa: F821 - it is there from Python 3.11 on
            return error.exceptions
    return ()
