"""The iterator over the results of many waits in a poll group on an event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from .callers import Caller
    from .runner import Runner

K = TypeVar("K")
V = TypeVar("V")


class Completions(Generic[K, V]):
    """An asynchronous iterator over results in the order of completion.

    It ends when every wait is over. ``aclose`` gives up the waits that are left; so does dropping
    it.
    """

    __slots__ = ("_runner", "_caller")

    def __init__(self, runner: Runner, caller: Caller) -> None:
        self._runner = runner
        self._caller = caller

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> tuple[K, V | Exception]:
        caller = self._caller
        if not caller.left:
            raise StopAsyncIteration
        if not caller.done:
            await self._runner.attend(caller)
        return caller.take()

    async def aclose(self) -> None:
        """Give up the waits that are left; the iterator is then at its end."""
        self._caller.left = 0
        self._runner.leave(self._caller)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        if self._caller.left:
            self._runner.abandon(self._caller)
