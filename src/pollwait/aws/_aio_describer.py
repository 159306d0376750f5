"""The public face of describing on an event loop: ``describer``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._aio.backend import refuse_blocking
from .._core.settings import Settings
from ._aio_batches import batched
from ._questions import questions

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from typing_extensions import Self

    from .._clock import AsyncClock
    from .._core.batched import BatchHook
    from .._core.duration import Duration
    from ._aio_batches import BatchedItems, BatchedResponses


def describer(
    client: Any,
    operation: str,
    /,
    *,
    by: str | None = None,
    max_delay: Duration = 0.05,
    max_size: int | None = None,
    clock: AsyncClock | None = None,
    on_event: BatchHook | None = None,
    **params: Any,
) -> Describer:
    """Return a ``Describer``, through which many tasks share the calls of one operation.

    It is ``pollwait.aws.describer`` for asyncio.

    Args:
        client: of aiobotocore, used as it is; it must be open while anybody asks.
        operation: as in ``pollwait.aws.describer``.
        by: as there.
        max_delay: as there.
        max_size: as there.
        clock: tells the time; by default that of the running loop.
        on_event: as there; a plain function.
        params: as there.

    Returns:
        A describer, for any number of tasks of one event loop. Those who ask the same one share
        calls.

    Raises:
        TypeError: the client has no service model or is none for asyncio, or the operation does not
            take such parameters.
        ValueError: as there.

    Example:
        >>> async def described(ec2, ids):  # ec2 is a client of aiobotocore
        ...     async with describer(ec2, "describe_instances") as instances:
        ...         return await instances.get_many(ids)
    """
    refuse_blocking(clock)
    asked = questions(client, operation, by, max_size, params)
    asked.bound.refuse_synchronous()
    Settings(clock=clock, on_event=on_event)  # refuses what is none of these
    options: Any = {"max_delay": max_delay, "clock": clock, "on_event": on_event}
    return Describer(batched(asked, **options))


class Describer:
    """Describes things for many tasks in few calls; made by ``aws.aio.describer``.

    It is ``pollwait.aws.Describer``, awaited. Use it in an ``async with`` statement, or ``close``
    it.

    Timing:
        Any number of tasks may share it, on the event loop that uses it first. A task that is
        cancelled leaves at once, and an id that nobody waits for is not asked for.
    """

    __slots__ = ("_asked",)

    def __init__(self, asked: BatchedItems | BatchedResponses) -> None:
        self._asked = asked

    async def get(
        self, id_: str | None = None, /, *, timeout: Duration | None = None, **params: Any
    ) -> dict[str, Any]:
        """Describe one thing.

        Args:
            id_: as in ``pollwait.aws.Describer.get``.
            timeout: as there.
            params: as there.

        Returns:
            The item as the service describes it; without an id, the whole response.

        Raises:
            Exception: as ``pollwait.aws.Describer.get`` does.
            RuntimeError: another event loop used the describer first.
        """
        return await self._asked.get(id_, params, timeout)

    async def get_many(
        self, ids: Iterable[str], *, timeout: Duration | None = None
    ) -> dict[str, dict[str, Any] | Exception]:
        """Describe many things, in as few calls as the operation allows.

        Args:
            ids: what to describe, in any number.
            timeout: the most seconds to wait for all of them.

        Returns:
            For each id its item or its error, as ``get`` returns or raises them, in the order of
            the ids. Nothing is called for no ids.

        Raises:
            TypeError, ValueError, BatcherClosed: as ``pollwait.aws.Describer.get_many`` does.
            RuntimeError: another event loop used the describer first.
        """
        return await self._asked.get_many(ids, timeout)

    async def close(self, drain: bool = True, timeout: Duration | None = None) -> None:
        """Refuse new questions, and answer those that there are; as ``aio.Batcher.close`` does."""
        await self._asked.calls.close(drain, timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close(drain=kind is None)

    def __repr__(self) -> str:
        return f"<Describer: {self._asked}>"
