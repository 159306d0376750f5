"""Those who wait for an answer, as the batchers on an event loop see them.

Each can be told its outcome, once; what comes later is ignored.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeAlias

from .._core.answer import private

if TYPE_CHECKING:
    from collections.abc import Generator

    from .crew import Crew


class Answer(asyncio.Future[Any]):
    """The answer for one key, to come.

    Attributes:
        crew: who answers it.
        key: what for.
    """

    __slots__ = ("crew", "key")
    crew: Crew
    key: Any

    def cancel(self, msg: Any | None = None) -> bool:
        """Cancel it, unless it is answered; tell whether it is cancelled now."""
        if not (super().cancel() if msg is None else super().cancel(msg)):
            return False
        self.crew.forget(self, self.key)
        return True


class NestedAnswer(Answer):
    """An answer that was asked for in a call, which waits for itself if it must not be awaited."""

    __slots__ = ()

    def __await__(self) -> Generator[Any, None, Any]:
        with self.crew.waiting(self):
            return (yield from super().__await__())


class Many:
    """A task that waits for many keys.

    Args:
        size: how many.
        loop: the loop that it runs on.

    Attributes:
        outcomes: what the keys were answered so far.
        complete: has a result when that is all of them.
        left: the task waits no more.
    """

    __slots__ = ("_size", "complete", "left", "outcomes")

    def __init__(self, size: int, loop: asyncio.AbstractEventLoop) -> None:
        self.outcomes: dict[Any, Any] = {}
        self.complete: asyncio.Future[bool] = loop.create_future()
        self.left = False
        self._size = size

    def done(self) -> bool:
        """Tell whether it waits no more."""
        return self.left

    def deliver(self, key: Any, outcome: Any) -> None:
        """Note an outcome, and wake the task if it is the last one."""
        self.outcomes[key] = outcome
        if len(self.outcomes) == self._size:
            ring(self.complete, True)


class OneTurn:
    """What can be awaited, and need not be: it lets others run once."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        yield


Caller: TypeAlias = "asyncio.Future[Any] | Many"


def deliver(caller: Caller, key: Any, outcome: Any) -> None:
    """Tell a caller what its key is answered: a value, or a ``BaseException``."""
    if isinstance(caller, Many):
        caller.deliver(key, outcome)
    elif not caller.done():
        if isinstance(outcome, BaseException):
            caller.set_exception(private(outcome))
        else:
            caller.set_result(outcome)


def ring(future: asyncio.Future[bool], answer: bool) -> None:
    """Give a future a result, unless it has one or nobody waits for it any more."""
    if not future.done():
        future.set_result(answer)
