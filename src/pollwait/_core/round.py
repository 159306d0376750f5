"""One round of calls for a batch: what to call with, and what each key is answered.

A driver makes the calls and delivers the outcomes::

    while (arguments := round.arguments) is not None:
        call with the arguments
        outcomes = round.answered(answer), or round.failed(error)
        deliver the outcomes: for each key a value, or a BaseException that is its error
"""

from __future__ import annotations

from .answer import read, refuse_awaitable
from .batched import Batched
from .isolation import Isolation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from .batch import Batch
    from .isolation import Isolate


class Round:
    """What the rounds of batchers and coalescers share.

    Args:
        batch: what the round is for. Keys that nobody waits for any more are left out.
        now: when it begins.

    Attributes:
        arguments: those of the next call; None when there is none.
    """

    what: ClassVar[str]
    twin: ClassVar[str]

    def __init__(self, batch: Batch, now: float) -> None:
        self.arguments: tuple[Any, ...] | None = None
        self._batch = batch
        self._began = now
        self._size = 0
        self._calls = 0
        self._outcomes: list[dict[Any, Any]] = []
        self._error: BaseException | None = None

    if TYPE_CHECKING:  # what the classes that derive from it have

        def answered(self, answer: object) -> dict[Any, Any]:
            """Take in what a call returned; tell what that decides."""
            ...

        def failed(self, error: Exception) -> dict[Any, Any]:
            """Take in what a call raised; tell what that decides."""
            ...

    def answered_on_threads(self, answer: object) -> dict[Any, Any]:
        """Take in what a call returned, where nothing can be awaited."""
        try:
            refuse_awaitable(answer, self.what, self.twin)
        except TypeError as error:
            self.answered({})
            return self._fails(error.with_traceback(None))
        return self.answered(answer)

    def broke(self, error: BaseException) -> dict[Any, Any]:
        """Take in what ends a round at once, as it is no ``Exception``; tell what that decides."""
        self.arguments = None
        self._error = self._error or error
        return self._fails(error)

    def event(self, now: float) -> Batched | None:
        """Return the event for a round that is over; None if no call was made."""
        if not self._calls:
            return None
        return Batched(
            self._size,
            self._batch.reason,
            self._began - self._batch.opened,
            now - self._began,
            sum(
                isinstance(outcome, BaseException)
                for outcomes in self._outcomes
                for outcome in outcomes.values()
            ),
            self._calls - 1,
            self._error,
        )

    def _fails(self, error: BaseException) -> dict[Any, Any]:
        """Let all fail who are not answered yet."""
        self.arguments = None
        return self._noted(dict.fromkeys(list(self._batch.callers), error))

    def _noted(self, outcomes: dict[Any, Any]) -> dict[Any, Any]:
        self._outcomes.append(outcomes)
        return outcomes


class FetchRound(Round):
    """A round of a batcher: a call with all keys, and more if a key poisons it.

    Args:
        batch: what the round is for.
        now: when it begins.
        isolate: the user's function that finds the keys which an error names, if there is one.
    """

    what = "fetch"
    twin = "pollwait.aio.Batcher"

    def __init__(self, batch: Batch, now: float, isolate: Isolate | None) -> None:
        super().__init__(batch, now)
        keys = batch.wanted()
        self._size = len(keys)
        self._isolation = Isolation(isolate, keys)
        self._go_on()

    def answered(self, answer: object) -> dict[Any, Any]:
        """Take in what a call returned: something for each of its keys."""
        outcomes = read(answer, self._sent)
        self._isolation.passed()
        self._go_on()
        return self._noted(outcomes)

    def failed(self, error: Exception) -> dict[Any, Any]:
        """Take in what a call raised; tell which keys fail by it, for now."""
        self._error = self._error or error
        outcomes = self._isolation.failed(error)
        self._go_on()
        return self._noted(outcomes)

    def _go_on(self) -> None:
        keys = self._isolation.next(self._batch.wants if self._calls else None)
        self._calls = self._isolation.calls
        self._sent = keys or []
        self.arguments = None if keys is None else ([*keys],)


class ExecuteRound(Round):
    """A round of a coalescer: one call for one key.

    Args:
        batch: what the round is for.
        now: when it begins.
    """

    what = "execute"
    twin = "pollwait.aio.Coalescer"

    def __init__(self, batch: Batch, now: float) -> None:
        super().__init__(batch, now)
        if batch.wanted():
            self.arguments = batch.request
            self._size = self._calls = 1

    def answered(self, answer: object) -> dict[Any, Any]:
        """Take in what the call returned, for all callers of the key."""
        self.arguments = None
        return self._noted({self._batch.request[0]: answer})

    def failed(self, error: Exception) -> dict[Any, Any]:
        """Take in what the call raised, for all callers of the key."""
        self.arguments = None
        self._error = error
        return self._noted({self._batch.request[0]: error})
